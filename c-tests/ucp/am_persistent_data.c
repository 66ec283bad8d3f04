/* Data of active messages that a handler keeps: released later, received later or within the handler, refused,
 * dropped, too long for the buffer. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=error */
#include "peers.h"

enum { ID = 1, KEEP = 2, LENGTH = 100000, KEPT = 20 };

static two_t two;
static char source[LENGTH], target[LENGTH + 50000];
static void *kept[KEPT];
static unsigned calls;
static ucs_status_t answer;
static int receive_inside, insist_inside;
static size_t inside_length;
static void *inside;
static unsigned told;

/* The end of a receive whose caller has insisted on being told: it has the request before that. */
static void on_received(void *request, ucs_status_t status, size_t length, void *arg)
{
    CHECK_OK(status);
    CHECK(request == inside);
    CHECK_EQ(length, LENGTH);
    CHECK(arg == &told);
    ++told;
}

static void *receive_insisting(void *data)
{
    ucp_request_param_t param;
    void *request;

    told = 0;
    memset(target, 0, sizeof(target));
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.cb.recv_am = on_received;
    param.user_data = &told;
    request = ucp_am_recv_data_nbx(two.worker[1], data, target, LENGTH, &param);
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_EQ(told, 0);
    CHECK_EQ(ucp_request_check_status(request), UCS_INPROGRESS);
    return request;
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ucp_request_param_t fetch;

    CHECK(param->recv_attr & (UCP_AM_RECV_ATTR_FLAG_DATA | UCP_AM_RECV_ATTR_FLAG_RNDV));
    kept[calls++ % KEPT] = data;
    if (insist_inside) {
        inside = receive_insisting(data);
    } else if (receive_inside) {
        fetch.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO;
        fetch.recv_info.length = &inside_length;
        inside = ucp_am_recv_data_nbx(two.worker[1], data, target, length, &fetch);
        /* Announced data are never done within the call: MPICH frees the request that it did not get. */
        CHECK_EQ(UCS_PTR_IS_PTR(inside), !!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV));
    }
    return answer;
}

static void *post(unsigned id, size_t length, unsigned flags)
{
    ucp_request_param_t param;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    return ucp_am_send_nbx(two.ep[0], id, NULL, 0, source, length, &param);
}

static void *receive(void *data, size_t length)
{
    ucp_request_param_t param;

    memset(target, 0, sizeof(target));
    param.op_attr_mask = 0;
    return ucp_am_recv_data_nbx(two.worker[1], data, target, length, &param);
}

static void until_called(unsigned times)
{
    TWO_UNTIL(&two, calls == times);
}

static void set_handler(unsigned id, unsigned flags, ucp_am_recv_callback_t cb)
{
    ucp_am_handler_param_t param;

    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB;
    param.id = id;
    param.flags = flags;
    param.cb = cb;
    CHECK_OK(ucp_worker_set_am_recv_handler(two.worker[1], &param));
}

int main(void)
{
    ucp_request_param_t param;
    ucp_dt_iov_t parts[2];
    void *request;
    unsigned i;

    for (i = 0; i < LENGTH; ++i) {
        source[i] = (char)(i * 3 + i / 256);
    }
    two_open(&two, UCP_FEATURE_AM, 1);
    set_handler(ID, 0, on_message);
    set_handler(KEEP, UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA, on_message);

    answer = UCS_INPROGRESS;
    calls = 0;
    for (i = 0; i < KEPT; ++i) {
        CHECK_OK(two_wait(&two, post(KEEP, 50 * i + 1, UCP_AM_SEND_FLAG_EAGER)));
    }
    until_called(KEPT);
    for (i = 0; i < KEPT; ++i) {
        CHECK(!memcmp(kept[i], source, 50 * i + 1));
        ucp_am_data_release(two.worker[1], kept[i]);
    }
    OK("kept and given back");

    calls = 0;
    CHECK_OK(two_wait(&two, post(KEEP, 1000, UCP_AM_SEND_FLAG_EAGER)));
    until_called(1);
    parts[0] = (ucp_dt_iov_t){target, 300};
    parts[1] = (ucp_dt_iov_t){target + 500, 800};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = UCP_DATATYPE_IOV;
    CHECK_OK(two_wait(&two, ucp_am_recv_data_nbx(two.worker[1], kept[0], parts, 2, &param)));
    CHECK(!memcmp(target, source, 300));
    CHECK(!memcmp(target + 500, source + 300, 700));
    CHECK_OK(two_wait(&two, post(KEEP, 1000, UCP_AM_SEND_FLAG_EAGER)));
    until_called(2);
    CHECK_STATUS(two_wait(&two, receive(kept[1], 999)), UCS_ERR_MESSAGE_TRUNCATED);
    OK("kept and received");

    calls = 0;
    request = post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV);
    until_called(1);
    CHECK_EQ(ucp_request_check_status(request), UCS_INPROGRESS);
    inside = receive(kept[0], LENGTH + 50000);
    CHECK(UCS_PTR_IS_PTR(inside));
    CHECK_OK(two_wait(&two, inside));
    CHECK(!memcmp(target, source, LENGTH));
    CHECK_OK(two_wait(&two, request));
    OK("rendezvous, received later");

    calls = 0;
    request = post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV);
    until_called(1);
    parts[1] = (ucp_dt_iov_t){target + 500, LENGTH - 300};
    CHECK_OK(two_wait(&two, ucp_am_recv_data_nbx(two.worker[1], kept[0], parts, 2, &param)));
    CHECK(!memcmp(target, source, 300));
    CHECK(!memcmp(target + 500, source + 300, LENGTH - 300));
    CHECK_OK(two_wait(&two, request));
    OK("rendezvous, received in parts");

    calls = 0;
    request = post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV);
    until_called(1);
    CHECK_STATUS(two_wait(&two, receive(kept[0], LENGTH / 2)), UCS_ERR_MESSAGE_TRUNCATED);
    CHECK_OK(two_wait(&two, request));
    OK("rendezvous, too long for the buffer");

    calls = 0;
    request = post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV);
    until_called(1);
    ucp_am_data_release(two.worker[1], kept[0]);
    CHECK_OK(two_wait(&two, request));
    answer = UCS_OK;
    CHECK_OK(two_wait(&two, post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV)));
    OK("rendezvous, dropped");

    answer = UCS_ERR_REJECTED;
    CHECK_STATUS(two_wait(&two, post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV)), UCS_ERR_REJECTED);
    OK("rendezvous, refused");

    set_handler(ID, 0, NULL);
    CHECK_STATUS(two_wait(&two, post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV)), UCS_ERR_INVALID_PARAM);
    set_handler(ID, 0, on_message);
    OK("rendezvous, no handler");

    receive_inside = 1;
    for (i = 0; i < 2; ++i) {
        answer = i ? UCS_OK : UCS_INPROGRESS;
        calls = 0;
        memset(target, 0, sizeof(target));
        request = post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV);
        until_called(1);
        CHECK_OK(two_wait(&two, inside));
        CHECK_OK(two_wait(&two, request));
        CHECK(!memcmp(target, source, LENGTH));
    }
    calls = 0;
    answer = UCS_OK;
    memset(target, 0, sizeof(target));
    CHECK_OK(two_wait(&two, post(KEEP, 5000, UCP_AM_SEND_FLAG_EAGER)));
    until_called(1);
    CHECK(inside == NULL);
    CHECK_EQ(inside_length, 5000);
    CHECK(!memcmp(target, source, 5000));
    OK("received inside the handler");

    answer = UCS_INPROGRESS;
    for (insist_inside = 1, receive_inside = 0; insist_inside >= 0; --insist_inside) {
        calls = 0;
        request = post(ID, LENGTH, UCP_AM_SEND_FLAG_RNDV);
        until_called(1);
        if (!insist_inside) {
            inside = receive_insisting(kept[0]);
        }
        TWO_UNTIL(&two, told == 1);
        CHECK_OK(two_wait(&two, inside));
        CHECK_OK(two_wait(&two, request));
        CHECK(!memcmp(target, source, LENGTH));
    }
    OK("rendezvous, received by callback in any case");

    two_close(&two);
    OK("closed");
    return 0;
}
