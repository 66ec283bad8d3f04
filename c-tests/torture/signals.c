/* A storm of signals, to every thread that takes them, while messages of all sizes go both ways and threads sleep for
 * them: nothing is lost, nothing answers an error, nobody sleeps on. */
/* cflags: -pthread -lrt */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
#define _GNU_SOURCE
#include "peers.h"
#include "torture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

enum { LARGE = 300000, HERTZ = 10000 };

static const ucp_request_param_t plain;
static volatile uint64_t signals;

static void on_signal(int number)
{
    __sync_fetch_and_add(&signals, 1);
}

/* SIGALRM to the process and SIGPROF as it works; children that end add SIGCHLD. */
static void storm(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART: calls are interrupted */
    struct itimerspec every = {.it_interval.tv_nsec = 1000000000 / HERTZ, .it_value.tv_nsec = 1000000000 / HERTZ};
    struct itimerval work = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;

    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(sigaction(SIGPROF, &action, NULL) == 0);
    CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    CHECK(setitimer(ITIMER_PROF, &work, NULL) == 0);
}

/* Sleeps until something happens, as a program with an event loop does. */
static void wait_for(side_t *side, ucs_status_ptr_t request)
{
    if (request == NULL) {
        return;
    }
    CHECK(!UCS_PTR_IS_ERR(request));
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        if (ucp_worker_progress(side->worker) == 0) {
            ucs_status_t status = ucp_worker_wait(side->worker);
            CHECK((status == UCS_OK) || (status == UCS_ERR_IO_ERROR && errno == EINTR));
        }
    }
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

static void play(const char *tls, uint64_t count)
{
    char theirs[ADDRESS_ROOM];
    char *in = malloc(LARGE), *out = malloc(LARGE);
    double from, took, longest = 0, begun;
    pair_t pair;
    side_t side;
    ucp_ep_h ep;
    uint64_t i;
    int me;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    me = pair_is_child(&pair);
    side_open(&side, ALL_FEATURES | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    storm();
    begun = seconds();
    for (i = 0; i < count; ++i) {
        size_t length = i % 50 == 0 ? LARGE : (i * 7919) % 9000;
        ucs_status_ptr_t receive = ucp_tag_recv_nbx(side.worker, in, LARGE, i, -1, &plain);

        from = seconds();
        fill(out, length, i);
        if (me == i % 2) {
            wait_for(&side, ucp_tag_send_nbx(ep, out, length, i, &plain));
        }
        wait_for(&side, me == i % 2 ? NULL : receive);
        if (me == i % 2) {
            ucp_request_cancel(side.worker, receive);
            while (ucp_request_check_status(receive) == UCS_INPROGRESS) {
                ucp_worker_progress(side.worker);
            }
            ucp_request_free(receive);
        } else {
            CHECK_PATTERN(in, length, i);
        }
        took = seconds() - from;
        longest = took > longest ? took : longest;
    }
    begun = seconds() - begun;
    side_wait(&side, &side, ucp_ep_flush_nbx(ep, &plain));
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    {
        struct itimerval none = {{0, 0}, {0, 0}};
        setitimer(ITIMER_PROF, &none, NULL);
        signal(SIGALRM, SIG_IGN);
        signal(SIGCHLD, SIG_DFL);
    }
    pair_send(&pair, "d", 1);
    while (!pair_ready(&pair)) {
        ucp_worker_progress(side.worker);
    }
    side_close(&side);
    if (!me) {
        FIGURE("%s: %" PRIu64 " messages, %" PRIu64 " signals in %.1f s, longest wait %.0f ms", tls, count, signals, begun,
               longest * 1e3);
    }
    free(in);
    free(out);
    pair_finish(&pair);
}

int main(void)
{
    uint64_t count = torture_count(4000);

    torture_seed(1);
    play("tcp", count / 2);
    signals = 0;
    play("posix", count / 2);
    return 0;
}
