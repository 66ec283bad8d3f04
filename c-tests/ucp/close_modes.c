/* Both sides of a pair of endpoints when one is closed, by force or after a flush, while messages wait for a match:
 * the statuses of every request, of the error handler and of later calls. They are those of upstream 1.22.0 over tcp;
 * upstream is no oracle here, since it does not always notify the other side. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "failure.h"

enum { LARGE = 1 << 20 };

static const ucp_request_param_t plain;
static side_t side[2];
static failure_t failure[2];
static ucp_ep_h ep[2];
static char *out, *in;

static void open_pair(void)
{
    int i;

    for (i = 0; i < 2; ++i) {
        side_open(&side[i], ALL_FEATURES | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    }
    for (i = 0; i < 2; ++i) {
        ep[i] = connect_watched(&side[i], side[!i].address, &failure[i]);
    }
}

/* Both sides know each other once a message went each way. */
static void greet(void)
{
    char byte = 0, got[2];
    int i;

    for (i = 0; i < 2; ++i) {
        ucs_status_ptr_t sent = ucp_tag_send_sync_nbx(ep[i], &byte, 1, 99, &plain);

        CHECK_OK(side_wait(&side[0], &side[1], ucp_tag_recv_nbx(side[!i].worker, &got[i], 1, 99, -1, &plain)));
        CHECK_OK(side_wait(&side[0], &side[1], sent));
    }
}

static void close_pair(void)
{
    side_close(&side[0]);
    side_close(&side[1]);
}

static void show(const char *what, ucs_status_ptr_t request)
{
    DRIVE_UNTIL(&side[0], &side[1], has_ended(request));
    printf("  %s: %s\n", what, outcome(request));
    drop(request);
}

static void show_handler(const failure_t *f)
{
    printf("  handler: %u, %s\n", f->calls, f->calls ? ucs_status_string(f->status) : "-");
}

static void arrived(side_t *at, ucp_tag_t tag)
{
    ucp_tag_recv_info_t info;

    DRIVE_UNTIL(&side[0], &side[1], ucp_tag_probe_nb(at->worker, tag, -1, 0, &info) != NULL);
}

/* The sender of a rendezvous message closes by force before its receiver asked for the data. */
static void sender_closes(void)
{
    ucs_status_ptr_t send;

    printf("the sender closes by force\n");
    open_pair();
    greet();
    send = ucp_tag_send_nbx(ep[0], out, LARGE, 5, &plain);
    arrived(&side[1], 5);
    CHECK_OK(side_disconnect(&side[0], &side[1], ep[0], UCP_EP_CLOSE_FLAG_FORCE));
    show("send", send);
    DRIVE_UNTIL(&side[0], &side[1], failure[1].calls > 0);
    CHECK(failure[1].ep == ep[1]);
    show("late receive", ucp_tag_recv_nbx(side[1].worker, in, LARGE, 5, -1, &plain));
    show_handler(&failure[0]);
    show_handler(&failure[1]);
    show("force", (void *)(intptr_t)side_disconnect(&side[1], &side[0], ep[1], UCP_EP_CLOSE_FLAG_FORCE));
    close_pair();
}

/* The receiver closes by force while the other side's operations wait for it. */
static void receiver_closes(void)
{
    ucs_status_ptr_t r[3];
    size_t length;

    printf("the receiver closes by force\n");
    open_pair();
    greet();
    r[0] = ucp_tag_send_nbx(ep[0], out, LARGE, 5, &plain);
    r[1] = ucp_tag_send_sync_nbx(ep[0], out, 8, 6, &plain);
    r[2] = ucp_stream_recv_nbx(ep[0], in, 8, &length, &plain);
    arrived(&side[1], 6);
    CHECK_OK(side_disconnect(&side[1], &side[0], ep[1], UCP_EP_CLOSE_FLAG_FORCE));
    DRIVE_UNTIL(&side[0], &side[1], failure[0].calls > 0);
    show("rendezvous", r[0]);
    show("synchronous", r[1]);
    show("stream", r[2]);
    show("send after", ucp_tag_send_nbx(ep[0], out, 8, 5, &plain));
    show("rendezvous after", ucp_tag_send_nbx(ep[0], out, LARGE, 5, &plain));
    show("stream send after", ucp_stream_send_nbx(ep[0], out, 8, &plain));
    show("flush after", ucp_ep_flush_nbx(ep[0], &plain));
    show("close with flush", ucp_ep_close_nbx(ep[0], &plain));
    show_handler(&failure[0]);
    show_handler(&failure[1]);
    close_pair();
}

/* A close with flush does not wait for messages that nobody has matched; they are received later. */
static void sender_flushes(void)
{
    ucs_status_ptr_t r[2];

    printf("the sender closes with flush\n");
    open_pair();
    greet();
    r[0] = ucp_tag_send_nbx(ep[0], out, LARGE, 5, &plain);
    r[1] = ucp_tag_send_sync_nbx(ep[0], out, 8, 6, &plain);
    show("close", ucp_ep_close_nbx(ep[0], &plain));
    CHECK(!has_ended(r[0]) && !has_ended(r[1]));
    show("receive", ucp_tag_recv_nbx(side[1].worker, in, LARGE, 5, -1, &plain));
    CHECK_PATTERN(in, LARGE, 1);
    show("receive", ucp_tag_recv_nbx(side[1].worker, in, LARGE, 6, -1, &plain));
    show("rendezvous", r[0]);
    show("synchronous", r[1]);
    show_handler(&failure[0]);
    show_handler(&failure[1]);
    show("close", ucp_ep_close_nbx(ep[1], &plain));
    close_pair();
}

/* Without error handling there is no close by force. */
static void no_force(void)
{
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucp_ep_h plain_ep;

    printf("without error handling\n");
    open_pair();
    plain_ep = side_connect(&side[0], side[1].address);
    show("force", ucp_ep_close_nbx(plain_ep, &force));
    show("old force", ucp_ep_close_nb(plain_ep, UCP_EP_CLOSE_MODE_FORCE));
    show("flush", ucp_ep_close_nb(plain_ep, UCP_EP_CLOSE_MODE_FLUSH));
    show("peer", ucp_ep_close_nbx(ep[0], &plain));
    show("peer", ucp_ep_close_nbx(ep[1], &plain));
    close_pair();
}

int main(void)
{
    static const char *const transports[] = {"tcp", "sysv,self", "posix,cma,self"};
    size_t i;

    out = malloc(LARGE);
    in = malloc(LARGE);
    fill(out, LARGE, 1);
    for (i = 0; i < 3; ++i) {
        setenv("UCX_TLS", transports[i], 1);
        printf("%s\n", transports[i]);
        sender_closes();
        receiver_closes();
        sender_flushes();
        no_force();
        OK("%s", transports[i]);
    }
    free(out);
    free(in);
    return 0;
}
