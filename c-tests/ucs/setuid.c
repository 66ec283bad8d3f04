/* A program that runs with more rights than its user reads no configuration that its user can name, and writes no log
 * there. The test runs a copy of itself that belongs to root and has the set-user-id bit, as another user. */
/* headers: ours */
/* cflags: -Wl,-rpath,{lib} */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "check.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NOBODY = 65534 };

static char folder[] = "/tmp/ferrucx-secure-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[2][64];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

/* What the copy does: tells what it has read, and logs a line. Its first call reads the file: before the log has said
 * anything, which once hung. */
static int inside(void)
{
    ucp_params_t params;
    ucp_config_t *config;
    ucp_context_h context;

    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    ucp_config_print(config, stdout, NULL, UCS_CONFIG_PRINT_CONFIG);
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    CHECK_OK(ucp_init(&params, config, &context));
    ucp_cleanup(context);
    ucp_config_release(config);
    printf("secure %lu\n", getauxval(AT_SECURE));
    return 0;
}

static void copy_program(const char *to)
{
    int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0700);
    char bytes[4096];
    ssize_t n;

    CHECK(in >= 0 && out >= 0);
    while ((n = read(in, bytes, sizeof(bytes))) > 0) {
        CHECK_EQ(write(out, bytes, n), n);
    }
    close(in);
    close(out);
}

/* Runs the copy as another user; gives what it said. */
static const char *run(const char *program)
{
    static char said[1 << 20];
    char config[96], log[96], home[96];
    char *environment[] = {config, log, home, "UCX_LOG_LEVEL=debug", NULL}, *words[] = {"secure", "inside", NULL};
    size_t got = 0;
    int out[2], status;
    ssize_t n;
    pid_t pid;

    snprintf(config, sizeof(config), "UCX_CONFIG_DIR=%s", folder);
    snprintf(log, sizeof(log), "UCX_LOG_FILE=%s", in_folder("log"));
    snprintf(home, sizeof(home), "HOME=%s", folder);
    CHECK_EQ(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        dup2(out[1], 1);
        close(out[0]);
        CHECK_EQ(setgroups(0, NULL), 0);
        CHECK_EQ(setresgid(NOBODY, NOBODY, NOBODY), 0);
        CHECK_EQ(setresuid(NOBODY, NOBODY, NOBODY), 0);
        execve(program, words, environment);
        FAIL("%s cannot be run", program);
    }
    close(out[1]);
    while ((n = read(out[0], said + got, sizeof(said) - 1 - got)) > 0) {
        got += n;
    }
    close(out[0]);
    said[got] = 0;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    return said;
}

int main(int argc, char **argv)
{
    const char *said;
    FILE *conf;

    if (argc > 1) {
        return inside();
    }
    if (geteuid() != 0) {
        SKIP("only root can make a program that runs with more rights than its user");
    }
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(chmod(folder, 0777), 0);
    CHECK_EQ(chdir(folder), 0);
    conf = fopen("ucx.conf", "w");
    fputs("UCX_MAX_WORKER_ADDRESS_NAME=64\n", conf);
    fclose(conf);
    copy_program("program");

    CHECK_EQ(chmod("program", 0755), 0);
    said = run(in_folder("program"));
    CHECK(strstr(said, "secure 0\n") != NULL);
    CHECK(strstr(said, "UCX_MAX_WORKER_ADDRESS_NAME=64\n") != NULL);
    CHECK_EQ(access("log", F_OK), 0);
    CHECK_EQ(unlink("log"), 0);
    OK("an ordinary program reads the file and writes the log");

    CHECK_EQ(chmod("program", 04755), 0);
    said = run(in_folder("program"));
    if (strstr(said, "secure 1\n") == NULL) {
        SKIP("%s is mounted without set-user-id programs", folder);
    }
    CHECK(strstr(said, "UCX_MAX_WORKER_ADDRESS_NAME=32\n") != NULL);
    CHECK_EQ(access("log", F_OK), -1);
    OK("one with more rights than its user does neither");

    unlink("program");
    unlink("ucx.conf");
    CHECK_EQ(rmdir(folder), 0);
    return 0;
}
