/* Processes send to a worker, ask for a reply, and are killed, one after the other. The worker, whose application has
 * no endpoint to them, frees everything that belonged to them. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* timeout: 60 */
/* valgrind: no, its heap is not the C library's, and the children are killed */
#include "peers.h"

#include <malloc.h>
#include <signal.h>

/* Each used to cost more than 500 bytes. */
enum { PEERS = 90, WARM = 30, MOST = 8192 };

static const ucp_request_param_t plain;

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void peer(const pair_t *pair, const void *address)
{
    uint64_t word = 1;
    side_t side;
    ucp_ep_h ep;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, address);
    CHECK_OK(side_wait(&side, &side, ucp_tag_send_sync_nbx(ep, &word, sizeof(word), 1, &plain)));
    pair_send(pair, "d", 1);
    for (;;) {
        ucp_worker_progress(side.worker);
    }
}

static void come_and_die(const char *tls)
{
    uint64_t word, i;
    size_t before = 0;
    int status, descriptors = 0;
    side_t side;

    setenv("UCX_TLS", tls, 1);
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    for (i = 0; i < PEERS; ++i) {
        ucs_status_ptr_t receive = ucp_tag_recv_nbx(side.worker, &word, sizeof(word), 1, -1, &plain);
        pair_t pair = pair_start();
        unsigned rounds;

        if (pair_is_child(&pair)) {
            peer(&pair, side.address);
        }
        CHECK_OK(side_wait(&side, &side, receive));
        while (!pair_ready(&pair)) {
            ucp_worker_progress(side.worker);
        }
        CHECK(kill(pair.child, SIGKILL) == 0);
        CHECK(waitpid(pair.child, &status, 0) == pair.child);
        close(pair.fd);
        for (rounds = 0; rounds < 300; ++rounds) {
            ucp_worker_progress(side.worker);
        }
        if (i == WARM) {
            before = allocated();
            descriptors = open_descriptors();
        }
    }
    if (allocated() > before + MOST) {
        FAIL("%s: %d peers that died left %zu bytes", tls, PEERS - WARM, allocated() - before);
    }
    CHECK(open_descriptors() <= descriptors + 1); /* of the last one, which may not be noticed yet */
    side_close(&side);
    OK("%s", tls);
}

int main(void)
{
    come_and_die("tcp");
    return 0;
}
