/* Rounds of keepalive over tcp, seen by the bytes that sockets send: every endpoint with error handling is checked in
 * turn, at most UCX_KEEPALIVE_NUM_EPS in a round, also for a worker that sleeps; none without error handling, and none
 * with UCX_KEEPALIVE_INTERVAL=inf. */
/* env: UCX_TLS=tcp UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
/* valgrind: no, it does not know what the kernel writes of a socket's facts */
#include "failure.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

enum { PEERS = 3, TURNS = 3, MAX_FD = 256 };

static const ucp_request_param_t plain;
static side_t watcher, peers[PEERS];
static ucp_ep_h eps[PEERS];

/* Bytes that the socket has sent; 0 for what is no connection. */
static uint64_t sent_by(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);

    memset(&info, 0, sizeof(info));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return 0;
    }
    return info.tcpi_bytes_sent;
}

static void progress_all(void)
{
    int i;

    ucp_worker_progress(watcher.worker);
    for (i = 0; i < PEERS; ++i) {
        ucp_worker_progress(peers[i].worker);
    }
}

static void wait_for(ucs_status_ptr_t request)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    while (!has_ended(request)) {
        progress_all();
    }
    drop(request);
}

/* A worker with an endpoint to each peer, all connected and quiet. */
static void connect_all(const char *interval, const char *number_of_eps, int handle_errors, failure_t *failures)
{
    char byte = 1, got;
    ucs_status_ptr_t receive;
    int i;

    CHECK(setenv("UCX_KEEPALIVE_INTERVAL", interval, 1) == 0);
    CHECK(setenv("UCX_KEEPALIVE_NUM_EPS", number_of_eps, 1) == 0);
    side_open(&watcher, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    for (i = 0; i < PEERS; ++i) {
        side_open(&peers[i], UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    }
    for (i = 0; i < PEERS; ++i) {
        eps[i] = handle_errors ? connect_watched(&watcher, peers[i].address, &failures[i]) :
                                 side_connect(&watcher, peers[i].address);
        receive = ucp_tag_recv_nbx(peers[i].worker, &got, 1, 1, UINT64_MAX, &plain);
        wait_for(ucp_tag_send_nbx(eps[i], &byte, 1, 1, &plain));
        wait_for(receive);
        wait_for(ucp_ep_flush_nbx(eps[i], &plain));
    }
    for (i = 0; i < 1000; ++i) {
        progress_all();
    }
}

static void close_all(void)
{
    int i;

    for (i = 0; i < PEERS; ++i) {
        wait_for(ucp_ep_close_nb(eps[i], UCP_EP_CLOSE_MODE_FLUSH));
    }
    side_close(&watcher);
    for (i = 0; i < PEERS; ++i) {
        side_close(&peers[i]);
    }
}

/* Sleeps until something happens or `milliseconds` have passed, then handles it; how many sockets have sent. */
static int sleep_once(uint64_t *sent, unsigned *turns, int milliseconds)
{
    struct pollfd event = {.events = POLLIN};
    int grew = 0, fd;

    CHECK_OK(ucp_worker_get_efd(watcher.worker, &event.fd));
    if (ucp_worker_arm(watcher.worker) == UCS_OK) {
        poll(&event, 1, milliseconds);
    }
    ucp_worker_progress(watcher.worker);
    /* What the round left to gather goes with the next one. */
    ucp_worker_progress(watcher.worker);
    for (fd = 0; fd < MAX_FD; ++fd) {
        uint64_t now_sent = sent_by(fd);
        if (now_sent != sent[fd]) {
            sent[fd] = now_sent;
            turns[fd]++;
            grew++;
        }
    }
    return grew;
}

/* Whether so many sockets have sent so often. */
static int all_had(const unsigned *turns, unsigned times, int sockets)
{
    int fd;

    for (fd = 0; fd < MAX_FD; ++fd) {
        sockets -= turns[fd] >= times;
    }
    return sockets <= 0;
}

static void count_from_here(uint64_t *sent, unsigned *turns)
{
    int fd;

    for (fd = 0; fd < MAX_FD; ++fd) {
        sent[fd] = sent_by(fd);
        turns[fd] = 0;
    }
}

int main(void)
{
    static uint64_t sent[MAX_FD];
    static unsigned turns[MAX_FD];
    failure_t failures[PEERS];
    double start;
    int i, checks = 0;

    connect_all("30ms", "1", 1, failures);
    count_from_here(sent, turns);
    start = now();
    while (!all_had(turns, TURNS, PEERS)) {
        checks += sleep_once(sent, turns, 10000);
    }
    /* Not more than rounds: those of this time, and one that was late. */
    CHECK(checks <= (now() - start) / 0.030 + 2);
    close_all();
    OK("one endpoint a round, in turn");

    connect_all("30ms", "128", 1, failures);
    count_from_here(sent, turns);
    while (!all_had(turns, TURNS, PEERS)) {
        sleep_once(sent, turns, 10000);
    }
    for (i = 0; i < PEERS; ++i) {
        CHECK_EQ(failures[i].calls, 0);
    }
    close_all();
    OK("all endpoints in a round");

    connect_all("inf", "128", 1, failures);
    count_from_here(sent, turns);
    for (i = 0; i < 5; ++i) {
        CHECK_EQ(sleep_once(sent, turns, 50), 0);
    }
    close_all();
    connect_all("30ms", "0", 1, failures);
    count_from_here(sent, turns);
    for (i = 0; i < 5; ++i) {
        CHECK_EQ(sleep_once(sent, turns, 50), 0);
    }
    close_all();
    OK("no rounds when they are switched off");

    connect_all("30ms", "128", 0, failures);
    count_from_here(sent, turns);
    for (i = 0; i < 5; ++i) {
        CHECK_EQ(sleep_once(sent, turns, 50), 0);
    }
    close_all();
    OK("none without error handling");
    return 0;
}
