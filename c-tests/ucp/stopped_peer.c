/* A process that is stopped right after its wire-up message, as by a debugger, cannot prove that it is of this host.
 * It gets its reply when it continues; nothing fails or hangs. */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 90 */
#include <ucp/api/ucp.h>

#include "peers.h"
#include "failure.h"
#include "listener.h"
#include "window.h"

#include <signal.h>
#include <sys/wait.h>

enum { TAG = 7 };

static const ucp_request_param_t plain;
static ucp_conn_request_h asking;

static void asked(ucp_conn_request_h request, void *arg)
{
    asking = request;
}

static ucs_status_ptr_t receive(side_t *side, char *byte)
{
    ucs_status_ptr_t request = ucp_tag_recv_nbx(side->worker, byte, 1, TAG, UINT64_MAX, &plain);

    CHECK(!UCS_PTR_IS_ERR(request));
    return request;
}

static void wait_until_stopped(const pair_t *pair)
{
    int status;

    CHECK(waitpid(pair->child, &status, WUNTRACED) == pair->child);
    CHECK(WIFSTOPPED(status));
}

/* The child goes on, and is done. */
static void go_on(side_t *side, const pair_t *pair)
{
    CHECK(kill(pair->child, SIGCONT) == 0);
    while (!pair_ready(pair)) {
        ucp_worker_progress(side->worker);
    }
}

/* The child's message has to be answered by a worker that has no endpoint to it. */
static void by_address(const char *tls)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    char theirs[ADDRESS_ROOM], byte = 0;
    ucs_status_ptr_t request;
    pair_t pair;
    side_t side;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    if (pair_is_child(&pair)) {
        ucp_ep_h ep;

        params.address = (const ucp_address_t *)theirs;
        CHECK_OK(ucp_ep_create(side.worker, &params, &ep));
        request = ucp_tag_send_sync_nbx(ep, "x", 1, TAG, &plain);
        CHECK(UCS_PTR_IS_PTR(request));
        raise(SIGSTOP);
        CHECK_OK(side_wait(&side, &side, request));
        pair_send(&pair, &byte, 1);
        pair_barrier(&pair);
        _exit(0);
    }
    wait_until_stopped(&pair);
    CHECK_OK(side_wait(&side, &side, receive(&side, &byte)));
    CHECK(byte == 'x');
    go_on(&side, &pair);
    pair_recv(&pair, &byte, 1);
    pair_barrier(&pair);
    CHECK(waitpid(pair.child, NULL, 0) == pair.child);
    close(pair.fd);
    side_close(&side);
    OK("%s: by address", tls);
}

/* The child is a client that knows its server, and stops; the server has a message for it. */
static void by_listener(const char *tls)
{
    struct sockaddr_storage at;
    ucs_status_ptr_t request;
    failure_t failure;
    char byte = 0;
    pair_t pair;
    side_t side;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    if (pair_is_child(&pair)) {
        ucp_ep_h ep;

        pair_recv(&pair, &at, sizeof(at));
        ep = connect_client(&side, &at, 0, &failure);
        CHECK_OK(side_wait(&side, &side, ucp_tag_send_nbx(ep, "x", 1, TAG, &plain)));
        raise(SIGSTOP);
        CHECK_OK(side_wait(&side, &side, receive(&side, &byte)));
        CHECK((byte == 'y') && !failure.calls);
        pair_send(&pair, &byte, 1);
        pair_barrier(&pair);
        _exit(0);
    }
    ucp_listener_h listener = listen_at(&side, AF_INET, asked, &at);
    pair_send(&pair, &at, sizeof(at));
    asking = NULL;
    DRIVE_UNTIL(&side, &side, asking != NULL);
    ucp_ep_h ep = accept_client(&side, asking, &failure);
    wait_until_stopped(&pair);
    request = ucp_tag_send_nbx(ep, "y", 1, TAG, &plain);
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_OK(side_wait(&side, &side, receive(&side, &byte)));
    CHECK(byte == 'x');
    go_on(&side, &pair);
    CHECK_OK(side_wait(&side, &side, request));
    CHECK(!failure.calls);
    pair_recv(&pair, &byte, 1);
    pair_barrier(&pair);
    CHECK(waitpid(pair.child, NULL, 0) == pair.child);
    close(pair.fd);
    ucp_listener_destroy(listener);
    side_close(&side);
    OK("%s: by listener", tls);
}

int main(void)
{
    by_address("posix");
    by_address("all");
    by_listener("posix");
    by_listener("all");
    return 0;
}
