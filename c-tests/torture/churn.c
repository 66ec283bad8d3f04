/* Endpoints made, used and closed, again and again, to a worker that lives: in order, by force, and by peers that end
 * without a word. Neither side grows. Over tcp, shared memory, and by a listener. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
#define _GNU_SOURCE
#include "listener.h"
#include "torture.h"

#include <malloc.h>

enum { GROWTH_KB = 1024, ROUND = 50 };

static const ucp_request_param_t plain;
static ucp_conn_request_h asked;

static void on_request(ucp_conn_request_h request, void *arg)
{
    asked = request;
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void say(side_t *from, side_t *to, ucp_ep_h ep, unsigned i)
{
    uint64_t word = i, got = 0;
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(to->worker, &got, sizeof(got), 1, -1, &plain);

    CHECK_OK(side_wait(from, to, ucp_tag_send_nbx(ep, &word, sizeof(word), 1, &plain)));
    CHECK_OK(side_wait(from, to, receive));
    CHECK_EQ(got, i);
}

/* One worker of many: made anew for each block, so that the other sees new peers too. */
static void block(side_t *server, const struct sockaddr_storage *at, uint64_t from)
{
    failure_t failures[2];
    ucp_ep_h ep, back;
    side_t client;
    unsigned i;

    side_open(&client, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    for (i = 0; i < ROUND; ++i) {
        unsigned way = (from + i) % 4, force = way == 1 ? UCP_EP_CLOSE_FLAG_FORCE : 0;

        if (way < 3) {
            ep = connect_watched(&client, server->address, &failures[0]);
            say(&client, server, ep, i);
            if (way == 2) {
                back = connect_watched(server, client.address, &failures[1]);
                say(server, &client, back, i);
                side_disconnect(server, &client, back, 0);
            }
            side_disconnect(&client, server, ep, force);
        } else {
            ep = connect_client(&client, at, 0, &failures[0]);
            DRIVE_UNTIL(&client, server, asked != NULL);
            back = accept_client(server, asked, &failures[1]);
            asked = NULL;
            say(&client, server, ep, i);
            side_disconnect(&client, server, ep, 0);
            side_disconnect(server, &client, back, UCP_EP_CLOSE_FLAG_FORCE);
        }
    }
    if ((from / ROUND) % 2) {
        /* Gone with the worker, not closed. */
        ep = connect_watched(&client, server->address, &failures[0]);
        say(&client, server, ep, i);
    }
    side_close(&client);
    for (i = 0; i < 50; ++i) {
        ucp_worker_progress(server->worker);
    }
}

/* What peers left behind is not always gone after a few calls: connections that nobody uses are looked at now and then. */
static void settle(side_t *server)
{
    double start = now();

    while (now() - start < 0.2) {
        ucp_worker_progress(server->worker);
    }
}

int main(void)
{
    static const char *ways[] = {"tcp", "posix,tcp", "posix,cma,tcp"};
    uint64_t count = torture_count(3000), i, each = count / 3;
    size_t way;

    torture_seed(1);
    for (way = 0; way < 3; ++way) {
        struct sockaddr_storage at;
        size_t before = 0, after;
        ucp_listener_h listener;
        int descriptors = 0;
        side_t server;

        setenv("UCX_TLS", ways[way], 1);
        side_open(&server, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
        listener = listen_at(&server, AF_INET, on_request, &at);
        for (i = 0; i < each; i += ROUND) {
            if (i / ROUND == 4) {
                settle(&server);
                before = allocated();
                descriptors = open_descriptors();
            }
            block(&server, &at, i);
        }
        settle(&server);
        after = allocated();
        if (before) {
            if (after > before + (GROWTH_KB << 10)) {
                FAIL("%s: %zu KB in use, after the first endpoints %zu", ways[way], after >> 10, before >> 10);
            }
            CHECK_EQ(open_descriptors(), descriptors);
        }
        ucp_listener_destroy(listener);
        side_close(&server);
        FIGURE("%s: %" PRIu64 " endpoints, %+ld bytes", ways[way], each, (long)after - (long)before);
    }
    return 0;
}
