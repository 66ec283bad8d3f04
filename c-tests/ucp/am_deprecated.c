/* The old calls for active messages: handlers without headers, with reply endpoints, that keep data. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=error */
#include "peers.h"

enum { ID = 0, KEEP = 700, ANSWER = 9, MAX = 100000 };

static two_t two;
static char source[MAX];
static unsigned calls, sent, answers;
static size_t expected;
static void *kept;

static ucs_status_t on_message(void *arg, void *data, size_t length, ucp_ep_h reply_ep, unsigned flags)
{
    CHECK_EQ(length, expected);
    CHECK(!memcmp(data, source, length));
    CHECK(reply_ep == NULL);
    CHECK(arg == source);
    calls++;
    return UCS_OK;
}

static ucs_status_t on_keep(void *arg, void *data, size_t length, ucp_ep_h reply_ep, unsigned flags)
{
    void *request;

    CHECK_EQ(length, expected);
    CHECK(flags & UCP_CB_PARAM_FLAG_DATA);
    CHECK(reply_ep != NULL);
    kept = data;
    request = ucp_am_send_nb(reply_ep, ANSWER, source, 5, ucp_dt_make_contig(1), NULL, 0);
    CHECK(!UCS_PTR_IS_ERR(request));
    if (request != NULL) {
        ucp_request_free(request);
    }
    calls++;
    return UCS_INPROGRESS;
}

static ucs_status_t on_answer(void *arg, void *data, size_t length, ucp_ep_h reply_ep, unsigned flags)
{
    CHECK_EQ(length, 5);
    answers++;
    return UCS_OK;
}

static void on_sent(void *request, ucs_status_t status)
{
    CHECK_OK(status);
    sent++;
}

static void send_one(uint16_t id, size_t length, unsigned flags)
{
    unsigned before = sent;
    void *request = ucp_am_send_nb(two.ep[0], id, source, length, ucp_dt_make_contig(1), on_sent, flags);
    int pending = request != NULL;

    CHECK_OK(two_wait(&two, request));
    CHECK_EQ(sent - before, pending);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 8, 300, 8192, 9000, MAX};
    unsigned i;

    for (i = 0; i < MAX; ++i) {
        source[i] = (char)(i * 5 + i / 256);
    }
    two_open(&two, UCP_FEATURE_AM, 1);
    CHECK_OK(ucp_worker_set_am_handler(two.worker[1], ID, on_message, source, 0));
    CHECK_OK(ucp_worker_set_am_handler(two.worker[1], KEEP, on_keep, NULL,
                                       UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA));
    CHECK_OK(ucp_worker_set_am_handler(two.worker[0], ANSWER, on_answer, NULL, 0));
    for (i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
        expected = sizes[i];
        calls = 0;
        send_one(ID, sizes[i], 0);
        TWO_UNTIL(&two, calls == 1);
    }
    OK("messages");
    for (i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
        expected = sizes[i];
        calls = answers = 0;
        send_one(KEEP, sizes[i], UCP_AM_SEND_FLAG_REPLY);
        TWO_UNTIL(&two, (calls == 1) && (answers == 1));
        CHECK(!memcmp(kept, source, sizes[i]));
        ucp_am_data_release(two.worker[1], kept);
    }
    OK("kept and answered");
    expected = 8;
    calls = 0;
    CHECK_OK(ucp_worker_set_am_handler(two.worker[1], ID, NULL, NULL, 0));
    send_one(ID, 8, 0);
    CHECK_OK(ucp_worker_set_am_handler(two.worker[1], KEEP, on_message, source, 0));
    send_one(KEEP, 8, 0);
    TWO_UNTIL(&two, calls == 1);
    OK("removed and replaced");
    two_close(&two);
    OK("closed");
    return 0;
}
