/* Log lines at start: at INFO the line with version and path, once, from ucp_init on; and one warning about variables
 * that no release knows, for a process and its children. The test executes itself with an environment and reads the
 * log of that process. */
/* headers: ours */
#define _GNU_SOURCE
#include "check.h"

#include <ucp/api/ucp.h>

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/wait.h>

static const char *self;
static char said[64 * 1024];
static const char last_words[] = "all is well\n";

static void open_and_close(int with_worker)
{
    ucp_params_t params;
    ucp_worker_params_t worker_params;
    ucp_context_h context;
    ucp_worker_h worker;

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    CHECK_OK(ucp_init(&params, NULL, &context));
    if (with_worker) {
        worker_params.field_mask = 0;
        CHECK_OK(ucp_worker_create(context, &worker_params, &worker));
        ucp_worker_destroy(worker);
    }
    ucp_cleanup(context);
}

/* Starts this program as `mode` with more variables, "NAME=value" up to a null; `said` is what it and its children log.
 * It is nobody's child: those of a process that has the library, as this one, say nothing. */
static void listen_to(const char *mode, const char **variables)
{
    size_t length = 0;
    ssize_t count;
    int pipes[2], status;
    pid_t between, child;
    char *end;

    CHECK_EQ(pipe(pipes), 0);
    between = fork();
    CHECK(between >= 0);
    if (between == 0) {
        between = getpid();
        child = fork();
        if (child != 0) {
            _exit(child < 0);
        }
        while (getppid() == between) {
            sched_yield();
        }
        for (; *variables != NULL; ++variables) {
            putenv((char *)*variables);
        }
        setenv("UCX_LOG_FILE", "stderr", 1);
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execl(self, self, mode, NULL);
        _exit(127);
    }
    close(pipes[1]);
    while ((count = read(pipes[0], said + length, sizeof(said) - 1 - length)) > 0) {
        length += count;
    }
    said[length] = '\0';
    close(pipes[0]);
    CHECK_EQ(waitpid(between, &status, 0), between);
    CHECK_EQ(status, 0);
    end = strstr(said, last_words);
    if (end == NULL) {
        FAIL("%s did not end well and said\n%s", mode, said);
    }
    *end = '\0';
}

static int times(const char *words)
{
    const char *at = said;
    int count = 0;

    while ((at = strstr(at, words)) != NULL) {
        ++count;
        at += strlen(words);
    }
    return count;
}

static void expect(const char *words, int count)
{
    if (times(words) != count) {
        FAIL("\"%s\" comes %d times, not %d, in\n%s", words, times(words), count, said);
    }
}

/* The path in the line is a file that this process has mapped as well. */
static void expect_own_path(void)
{
    static const char before[] = "(loaded from ";
    char line[PATH_MAX + 256], path[PATH_MAX], *real, *end, *start = strstr(said, before);
    int mapped = 0;
    FILE *maps;

    CHECK(start != NULL);
    start += strlen(before);
    end = strchr(start, ')');
    CHECK((end != NULL) && (end - start < PATH_MAX));
    memcpy(path, start, end - start);
    path[end - start] = '\0';
    CHECK_EQ(path[0], '/');
    real = realpath(path, NULL);
    CHECK(real != NULL);
    maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        mapped |= strstr(line, real) != NULL;
    }
    fclose(maps);
    CHECK(mapped);
    free(real);
}

/* What a started process does: an endpoint of the library, twice, and for "parent" once more in a program it starts. */
static int started(const char *mode)
{
    int with_worker = strcmp(mode, "context") != 0, status = 0;
    pid_t child;

    open_and_close(with_worker);
    open_and_close(with_worker);
    if (!strcmp(mode, "parent")) {
        child = fork();
        if (child == 0) {
            execl(self, self, "child", NULL);
            _exit(127);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
    }
    return status;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1) {
        if (started(argv[1])) {
            return 1;
        }
        if (strcmp(argv[1], "child")) {
            fputs(last_words, stderr);
        }
        return 0;
    }
    /* What the test's own environment has. */
    unsetenv("UCX_LOG_LEVEL");

    listen_to("context", (const char *[]){NULL});
    CHECK_STR(said, "");
    listen_to("context", (const char *[]){"UCX_LOG_LEVEL=info", NULL});
    expect("UCX  INFO  Version 1.22.", 1);
    expect_own_path();
    puts("ok version and path");

    listen_to("parent", (const char *[]){"UCX_TSL=tcp", "UCX_IB_GID_INDEX=3", NULL});
    expect("UCX  WARN  unused environment variable: UCX_TSL (maybe: UCX_TLS?)", 1);
    expect("UCX_TSL", 1);
    expect("UCX_IB_GID_INDEX", 0);
    listen_to("worker", (const char *[]){"UCX_TSL=tcp", "UCX_FOO_BAR=1", NULL});
    expect("UCX  WARN  unused environment variables: UCX_FOO_BAR; UCX_TSL (maybe: UCX_TLS?)", 1);
    listen_to("worker", (const char *[]){"UCX_TSL=tcp", "UCX_WARN_UNUSED_ENV_VARS=n", NULL});
    CHECK_STR(said, "");
    puts("ok unknown variables");
    return 0;
}
