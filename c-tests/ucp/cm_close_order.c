/* Between client and server a close with flush ends when the other side has disconnected as well: its error handler was
 * called by then, or it has closed too. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include <ucp/api/ucp.h>

#include "listener.h"

enum { CLIENT, SERVER };

static const ucp_request_param_t plain;
static side_t side[2];
static failure_t failure[2];
static ucp_ep_h ep[2];
static ucp_conn_request_h asked;

static void on_asked(ucp_conn_request_h request, void *arg)
{
    asked = request;
}

/* A client and a server that have exchanged a message each way, so that both are connected. */
static void open_pair(ucp_listener_h *listener)
{
    struct sockaddr_storage at;
    int i;

    for (i = 0; i < 2; ++i) {
        side_open(&side[i], UCP_FEATURE_TAG | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    }
    asked = NULL;
    *listener = listen_at(&side[SERVER], AF_INET, on_asked, &at);
    ep[CLIENT] = connect_client(&side[CLIENT], &at, 0, &failure[CLIENT]);
    DRIVE_UNTIL(&side[0], &side[1], asked != NULL);
    ep[SERVER] = accept_client(&side[SERVER], asked, &failure[SERVER]);
    for (i = 0; i < 2; ++i) {
        char byte = i, got;
        size_t length;
        ucs_status_ptr_t sent = ucp_stream_send_nbx(ep[i], &byte, 1, &plain);

        CHECK_OK(side_wait(&side[0], &side[1], ucp_stream_recv_nbx(ep[!i], &got, 1, &length, &plain)));
        CHECK_OK(side_wait(&side[0], &side[1], sent));
        CHECK_EQ(got, i);
    }
}

static void close_pair(ucp_listener_h listener)
{
    ucp_listener_destroy(listener);
    side_close(&side[CLIENT]);
    side_close(&side[SERVER]);
}

/* `first` closes; then the other one's handler was called, once, and its own close tells why. */
static void one_after_the_other(int first)
{
    ucp_listener_h listener;

    open_pair(&listener);
    CHECK_OK(side_wait(&side[0], &side[1], ucp_ep_close_nbx(ep[first], &plain)));
    CHECK_EQ(failure[first].calls, 0);
    CHECK_EQ(failure[!first].calls, 1);
    CHECK_EQ(failure[!first].status, UCS_ERR_CONNECTION_RESET);
    CHECK(failure[!first].ep == ep[!first]);
    CHECK_OK(side_disconnect(&side[!first], &side[first], ep[!first], UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_EQ(failure[!first].calls, 1);
    close_pair(listener);
}

/* Both close before either knows of the other: no handler is called. */
static void both_at_once(void)
{
    ucp_listener_h listener;
    ucs_status_ptr_t closes[2];
    int i;

    open_pair(&listener);
    for (i = 0; i < 2; ++i) {
        closes[i] = ucp_ep_close_nbx(ep[i], &plain);
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(side_wait(&side[0], &side[1], closes[i]));
    }
    CHECK_EQ(failure[CLIENT].calls + failure[SERVER].calls, 0);
    close_pair(listener);
}

int main(void)
{
    one_after_the_other(CLIENT);
    one_after_the_other(SERVER);
    both_at_once();
    OK("cm_close_order");
    return 0;
}
