/* Several endpoints between the same two workers, and of a worker to itself: each stream has its own other
 * end, and the poll names it once for what came. */
/* oracle: 1.13.1 1.22.0 */
#include "peers.h"

enum { COUNT = 8 };

static two_t two;

static void send_text(ucp_ep_h ep, const char *text)
{
    ucp_request_param_t param;

    param.op_attr_mask = 0;
    CHECK_OK(two_wait(&two, ucp_stream_send_nbx(ep, text, strlen(text) + 1, &param)));
}

static void expect_text(ucp_ep_h ep, const char *text)
{
    ucp_request_param_t param;
    char got[64] = "";
    size_t length;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    CHECK_OK(two_wait(&two, ucp_stream_recv_nbx(ep, got, strlen(text) + 1, &length, &param)));
    CHECK_STR(got, text);
}

int main(void)
{
    ucp_ep_h eps[2][COUNT], polled[COUNT], self, first, second;
    ucp_stream_poll_ep_t ready[COUNT];
    char text[32];
    ssize_t found, count = 0;
    int i, j;

    two_open_workers(&two, UCP_FEATURE_STREAM, 1);
    for (i = 0; i < COUNT; ++i) {
        eps[0][i] = two_connect(&two, 0, 1);
        eps[1][i] = two_connect(&two, 1, 0);
    }
    /* The first word on each comes from changing sides, and not in the order of creation. */
    for (i = 0; i < COUNT; ++i) {
        j = (i * 5 + 3) % COUNT;
        snprintf(text, sizeof(text), "number %d", j);
        send_text(eps[i % 2][j], text);
        expect_text(eps[!(i % 2)][j], text);
        send_text(eps[!(i % 2)][j], text);
        expect_text(eps[i % 2][j], text);
    }
    OK("paired in the order of creation");

    CHECK_EQ(ucp_stream_worker_poll(two.worker[1], ready, COUNT, 0), 0);
    for (i = 0; i < COUNT; i += 2) {
        send_text(eps[0][i], "x");
        send_text(eps[0][i], "y");
    }
    while (count < COUNT / 2) {
        two_progress(&two);
        found = ucp_stream_worker_poll(two.worker[1], ready, 3, 0);
        CHECK(found >= 0);
        CHECK(found <= 3);
        for (i = 0; i < found; ++i) {
            /* Named again when more came after the poll. */
            for (j = 0; (j < count) && (polled[j] != ready[i].ep); ++j) {
            }
            if (j == count) {
                polled[count++] = ready[i].ep;
            }
        }
    }
    for (i = 0; i < COUNT; i += 2) {
        for (j = 0; (j < count) && (polled[j] != eps[1][i]); ++j) {
        }
        CHECK(j < count);
        expect_text(eps[1][i], "x");
        expect_text(eps[1][i], "y");
    }
    CHECK_EQ(ucp_stream_worker_poll(two.worker[1], ready, COUNT, 0), 0);
    OK("polled");

    self = two_connect(&two, 0, 0);
    send_text(self, "to myself");
    expect_text(self, "to myself");
    OK("an endpoint to itself");

    first = two_connect_flags(&two, 1, 1, UCP_EP_PARAMS_FLAGS_NO_LOOPBACK);
    second = two_connect_flags(&two, 1, 1, UCP_EP_PARAMS_FLAGS_NO_LOOPBACK);
    send_text(first, "to the second");
    send_text(second, "to the first");
    expect_text(first, "to the first");
    expect_text(second, "to the second");
    OK("two endpoints of one worker");

    two_close_workers(&two);
    OK("closed");
    return 0;
}
