/* A program that runs with more rights than its user reads no configuration that its user can name, and writes no file
 * there. The test runs a copy of itself that belongs to root and has the set-user-id bit, as another user. */
/* headers: ours */
/* cflags: -Wl,-rpath,{lib} */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>
#include <ucs/profile/profile_on.h>

#include "peers.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NOBODY = 65534, FILES = 3 };

static char folder[] = "/tmp/ferrucx-secure-XXXXXX";

static const char *in_folder(const char *name)
{
    enum { KEPT = 5 };
    static char path[KEPT][64];
    static int turn;

    turn = (turn + 1) % KEPT;
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
    side_t side;

    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    ucp_config_print(config, stdout, NULL, UCS_CONFIG_PRINT_CONFIG);
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG;
    CHECK_OK(ucp_init(&params, config, &context));
    ucp_cleanup(context);
    ucp_config_release(config);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_connect(&side, side.address);
    side_close(&side);
    UCS_PROFILE_SAMPLE("here");
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
    char config[96], log[96], home[96], counters[96], tables[96], profile[96];
    char *environment[] = {config, log, home, counters, tables, profile, "UCX_LOG_LEVEL=debug", "UCX_PROTO_INFO=y",
                           "UCX_PROFILE_MODE=accum", NULL}, *words[] = {"secure", "inside", NULL};
    size_t got = 0;
    int out[2], status;
    ssize_t n;
    pid_t pid;

    snprintf(config, sizeof(config), "UCX_CONFIG_DIR=%s", folder);
    snprintf(log, sizeof(log), "UCX_LOG_FILE=%s", in_folder("log"));
    snprintf(home, sizeof(home), "HOME=%s", folder);
    snprintf(counters, sizeof(counters), "UCX_STATS_DEST=file:%s", in_folder("counters"));
    snprintf(tables, sizeof(tables), "UCX_PROTO_INFO_DIR=%s", in_folder("tables"));
    snprintf(profile, sizeof(profile), "UCX_PROFILE_FILE=%s", in_folder("profile"));
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

/* Removes the files of UCX_PROTO_INFO_DIR; whether there were some. */
static int remove_tables(void)
{
    DIR *tables = opendir("tables");
    struct dirent *entry;
    int any = 0;

    while ((entry = readdir(tables)) != NULL) {
        if (entry->d_name[0] != '.') {
            CHECK_EQ(unlinkat(dirfd(tables), entry->d_name, 0), 0);
            any = 1;
        }
    }
    closedir(tables);
    return any;
}

int main(int argc, char **argv)
{
    static const char *const files[FILES] = {"log", "counters", "profile"};
    const char *said;
    FILE *conf;
    int i;

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
    CHECK_EQ(mkdir("tables", 0777), 0);
    CHECK_EQ(chmod("tables", 0777), 0);
    copy_program("program");

    CHECK_EQ(chmod("program", 0755), 0);
    said = run(in_folder("program"));
    CHECK(strstr(said, "secure 0\n") != NULL);
    CHECK(strstr(said, "UCX_MAX_WORKER_ADDRESS_NAME=64\n") != NULL);
    for (i = 0; i < FILES; ++i) {
        if (access(files[i], F_OK) != 0) {
            FAIL("no file %s: %s", files[i], said);
        }
        CHECK_EQ(unlink(files[i]), 0);
    }
    CHECK_EQ(remove_tables(), 1);
    OK("an ordinary program reads the file, and writes what the variables name");

    CHECK_EQ(chmod("program", 04755), 0);
    said = run(in_folder("program"));
    if (strstr(said, "secure 1\n") == NULL) {
        SKIP("%s is mounted without set-user-id programs", folder);
    }
    CHECK(strstr(said, "UCX_MAX_WORKER_ADDRESS_NAME=32\n") != NULL);
    for (i = 0; i < FILES; ++i) {
        CHECK_EQ(access(files[i], F_OK), -1);
    }
    CHECK_EQ(remove_tables(), 0);
    OK("one with more rights than its user does neither");

    unlink("program");
    unlink("ucx.conf");
    CHECK_EQ(rmdir("tables"), 0);
    CHECK_EQ(rmdir(folder), 0);
    return 0;
}
