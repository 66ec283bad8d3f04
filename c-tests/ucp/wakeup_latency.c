/* A process that sleeps on the event descriptor is at most 50 ms slower than one that polls: each kind of operation,
 * each transport, each size from 0 to 16 MiB, with either side or both asleep. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* timeout: 300 */
/* valgrind: no, it is about time */
#include <ucp/api/ucp.h>

#include "operations.h"

enum { MOST = 16 << 20, TRIES = 30, DONE_TAG = 2, ANSWER_TAG = 3 };
enum { INITIATOR = 1, TARGET = 2 };
static const double bound = 0.050;
static const size_t sizes[] = {0, 1, 8192, 65536, 1 << 20, MOST};

/* One operation, and a message each way behind it; how long that takes. */
static double run_once(kind_t kind, size_t size, int child, const pair_t *pair)
{
    static uint64_t word;
    double begun;

    side_meet(&side, pair);
    begun = now();
    if (child) {
        finish_target(kind, size, take_part(kind, size));
        finish(ucp_tag_recv_nbx(side.worker, &word, 8, DONE_TAG, UINT64_MAX, &plain));
        finish(ucp_tag_send_nbx(ep, &word, 8, ANSWER_TAG, &plain));
    } else {
        finish_initiator(kind, initiate(kind, size));
        finish(ucp_tag_send_nbx(ep, &word, 8, DONE_TAG, &plain));
        finish(ucp_tag_recv_nbx(side.worker, &word, 8, ANSWER_TAG, UINT64_MAX, &plain));
    }
    return now() - begun;
}

static void run_kind(kind_t kind, size_t size, int child, const pair_t *pair, const char *tls)
{
    int i, sleepers;

    snprintf(doing, sizeof(doing), "%s: %s of %zu bytes", tls, kind_names[kind], size);
    run_once(kind, size, child, pair);
    for (sleepers = INITIATOR; sleepers <= (INITIATOR | TARGET); ++sleepers) {
        double least = 1e9;
        char go_on = 1;

        /* Other programs of the machine hold some tries up, but not all: what they do to one that polls is measured
         * right before. */
        for (i = 0; go_on; ++i) {
            double polling = run_once(kind, size, child, pair), took;

            waiting = (sleepers & (child ? TARGET : INITIATOR)) ? BY_ARM : BY_PROGRESS;
            took = run_once(kind, size, child, pair);
            waiting = BY_PROGRESS;
            least = (took - polling < least) ? took - polling : least;
            go_on = (least > bound) && (i + 1 < TRIES);
            if (child) {
                pair_recv(pair, &go_on, 1);
            } else {
                pair_send(pair, &go_on, 1);
            }
        }
        if (!child && (least > bound)) {
            FAIL("%s, %d asleep: %.3f s slower than polling", doing, sleepers, least);
        }
    }
}

static void run(const char *tls)
{
    pair_t pair;
    unsigned kind, at;
    int child;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    child = pair_is_child(&pair);
    operations_open(MOST);
    operations_connect(&pair);
    for (kind = 0; kind < WORKER_FLUSH; ++kind) {
        for (at = 0; at < sizeof(sizes) / sizeof(sizes[0]); ++at) {
            /* An atomic has one size. */
            if ((kind != FETCH_ADD) || (at == 1)) {
                run_kind(kind, sizes[at], child, &pair, tls);
            }
        }
    }
    side_meet(&side, &pair);
    ucp_rkey_destroy(exported.key);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_meet(&side, &pair);
    operations_close();
    if (!child) {
        OK("%s", tls);
    }
    pair_finish(&pair);
}

int main(void)
{
    run("posix");
    run("sysv");
    run("posix,cma");
    run("tcp");
    run("all");
    return 0;
}
