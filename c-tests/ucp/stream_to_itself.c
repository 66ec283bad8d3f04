/* A worker sends itself bytes on a stream: before the receive and after it, into one receive or several, and in the callback
 * of a receive. */
/* oracle: 1.22.0 */
/* env: UCX_TLS=self UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include "peers.h"

enum { LENGTH = 20000, REPLY = 300 };

static const ucp_request_param_t plain;
static const ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
static const size_t lengths[] = {1, 16, 17, 112, 113, 256, 257, 1000, 2048, 5000, 8176, 8177, LENGTH};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };
static side_t side;
static ucp_ep_h ep;
static char source[LENGTH], target[LENGTH];

static ucs_status_t finish(ucs_status_ptr_t request)
{
    return side_wait(&side, &side, request);
}

static void *receive_all(char *at, size_t length)
{
    static size_t got;

    return ucp_stream_recv_nbx(ep, at, length, &got, &whole);
}

static void renew(uint64_t seed)
{
    fill(source, LENGTH, seed);
    memset(target, 0, LENGTH);
}

static void each_length(void)
{
    void *send, *receive;
    unsigned i;
    int posted;

    for (i = 0; i < LENGTHS; ++i) {
        for (posted = 0; posted < 2; ++posted) {
            renew(i);
            receive = posted ? receive_all(target, lengths[i]) : NULL;
            send = ucp_stream_send_nbx(ep, source, lengths[i], &plain);
            if (!posted) {
                receive = receive_all(target, lengths[i]);
            }
            CHECK_OK(finish(receive));
            CHECK_OK(finish(send));
            CHECK(!memcmp(source, target, lengths[i]));
        }
    }
    OK("each length, before the receive and after it");
}

/* What is sent at once is received in two parts, the first of which was posted before, or neither. */
static void in_parts(void)
{
    void *send, *receive;
    unsigned i;
    int posted;

    for (i = 1; i < LENGTHS; ++i) {
        for (posted = 0; posted < 2; ++posted) {
            size_t part = lengths[i] / 3;

            renew(i + 100);
            receive = posted ? receive_all(target, part) : NULL;
            send = ucp_stream_send_nbx(ep, source, lengths[i], &plain);
            if (!posted) {
                receive = receive_all(target, part);
            }
            CHECK_OK(finish(receive));
            CHECK_OK(finish(receive_all(target + part, lengths[i] - part)));
            CHECK_OK(finish(send));
            CHECK(!memcmp(source, target, lengths[i]));
        }
    }
    OK("in two parts");
}

/* All of them wait, and one receive takes them. */
static void together(void)
{
    void *sends[LENGTHS], *receive;
    size_t all = 0;
    unsigned i;

    renew(7);
    for (i = 0; all + lengths[i] <= LENGTH; ++i) {
        sends[i] = ucp_stream_send_nbx(ep, source + all, lengths[i], &plain);
        all += lengths[i];
    }
    receive = receive_all(target, all);
    CHECK_OK(finish(receive));
    while (i-- > 0) {
        CHECK_OK(finish(sends[i]));
    }
    CHECK(!memcmp(source, target, all));
    OK("several in one receive");
}

static void *reply;
static unsigned replies;

static void on_received(void *request, ucs_status_t status, size_t length, void *arg)
{
    CHECK_OK(status);
    ++replies;
    reply = ucp_stream_send_nbx(ep, source + LENGTH - REPLY, REPLY, &plain);
}

static void in_callback(void)
{
    ucp_request_param_t param = whole;
    void *send, *receive;
    size_t got;
    unsigned i;

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK;
    param.cb.recv_stream = on_received;
    for (i = 0; i < LENGTHS; ++i) {
        renew(i + 200);
        receive = ucp_stream_recv_nbx(ep, target, lengths[i], &got, &param);
        send = ucp_stream_send_nbx(ep, source, lengths[i], &plain);
        CHECK_OK(finish(receive));
        CHECK_OK(finish(send));
        CHECK_EQ(replies, i + 1);
        CHECK(!memcmp(source, target, lengths[i]));
        CHECK_OK(finish(receive_all(target, REPLY)));
        CHECK_OK(finish(reply));
        CHECK(!memcmp(source + LENGTH - REPLY, target, REPLY));
    }
    OK("a send in the callback of a receive");
}

int main(void)
{
    side_open(&side, UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    each_length();
    in_parts();
    together();
    in_callback();
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    return 0;
}
