/* UCX_STATS_DEST: the counters of workers are written at exit, on a signal or by a timer, all or those that the filter
 * selects. Releases of upstream have no counters. */
/* headers: ours */
/* timeout: 60 */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "peers.h"

#include <signal.h>
#include <sys/wait.h>

enum { MESSAGES = 5, ROOM = 1 << 16 };

static const ucp_request_param_t plain;
static char folder[] = "/tmp/statistics.XXXXXX", path[64], text[ROOM];

static size_t read_file(void)
{
    FILE *file = fopen(path, "r");
    size_t length = 0;

    if (file != NULL) {
        length = fread(text, 1, ROOM - 1, file);
        fclose(file);
    }
    text[length] = '\0';
    return length;
}

static void expect(const char *words, int is_there)
{
    if ((strstr(text, words) != NULL) != is_there) {
        fprintf(stderr, "%s: %s\n%s\n", is_there ? "missing" : "unexpected", words, text);
        exit(1);
    }
}

static void send_some(side_t *side)
{
    ucp_ep_h ep = side_connect(side, side->address);
    char out = 0, in;
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        request_finish(side->worker, ucp_tag_send_nbx(ep, &out, 1, 1, &plain));
        request_finish(side->worker, ucp_tag_recv_nbx(side->worker, &in, 1, 1, -1, &plain));
    }
}

/* One worker is destroyed; one is not, unless told so. */
static void in_child(const char *trigger, const char *format, const char *filter, const char *log)
{
    side_t first, second;

    setenv("UCX_STATS_DEST", path[0] == '/' ? (sprintf(text, "file:%s", path), text) : path, 1);
    setenv("UCX_STATS_TRIGGER", trigger, 1);
    setenv("UCX_STATS_FORMAT", format, 1);
    setenv("UCX_STATS_FILTER", filter, 1);
    if (log != NULL) {
        setenv("UCX_LOG_FILE", log, 1);
    }
    side_open(&first, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    send_some(&first);
    side_open(&second, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    send_some(&second);
    side_close(&second);
    if (strncmp(trigger, "signal", 6) == 0) {
        CHECK_EQ(read_file(), 0);
        raise(SIGUSR2);
    }
    if (strcmp(trigger, "exit") != 0 && strcmp(trigger, "") != 0 && log == NULL) {
        while (read_file() == 0) {
            ucp_worker_progress(first.worker);
        }
        /* Ends without the functions of exit. */
        _exit(0);
    }
    exit(0);
}

static void run(const char *trigger, const char *format, const char *filter, const char *log)
{
    int status;
    pid_t child;

    unlink(path);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        in_child(trigger, format, filter, log);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    read_file();
}

int main(void)
{
    char log[64];

    CHECK(mkdtemp(folder) != NULL);
    sprintf(path, "%s/counters", folder);
    sprintf(log, "%s/log", folder);

    run("exit", "full", "*", NULL);
    expect("\"workers\":[{\"name\":", 1);
    expect("\"destroyed_workers\":1,", 1);
    expect("\"sent_short\":5", 1);
    expect("\"sent_rendezvous\":0", 1);
    expect("}}\n", 1);
    OK("at exit, each worker");

    run("exit", "agg", "sent_*", NULL);
    expect("\"counters\":{\"sent_atomic\":0,", 1);
    expect("\"sent_short\":10", 1);
    expect("unexpected", 0);
    OK("at exit, the sum of what the filter selects");

    run("exit", "summary", "sent_*,wake_ups", NULL);
    expect(" sent_short:10\n", 1);
    OK("at exit, the sum as text");

    run("timer:1ms", "agg", "sent_short", NULL);
    expect("\"counters\":{\"sent_short\":", 1);
    OK("by a timer");

    run("signal:SIGUSR2", "agg", "sent_short", NULL);
    expect("\"counters\":{\"sent_short\":10}}\n", 1);
    OK("on a signal");

    run("", "full", "*", NULL);
    CHECK_EQ(read_file(), 0);
    OK("without a trigger, nothing");

    /* What cannot be done is said. */
    run("never", "full", "*", log);
    CHECK_EQ(read_file(), 0);
    strcpy(path, log);
    CHECK(read_file() > 0);
    expect("UCX_STATS_TRIGGER=never: use exit", 1);
    unlink(log);
    strcpy(path, "udp:127.0.0.1:37873");
    run("exit", "full", "*", log);
    strcpy(path, log);
    CHECK(read_file() > 0);
    expect("UCX_STATS_DEST=udp:127.0.0.1:37873: use stdout", 1);
    OK("mistakes are logged");

    unlink(log);
    sprintf(path, "%s/counters", folder);
    unlink(path);
    CHECK_EQ(rmdir(folder), 0);
    return 0;
}
