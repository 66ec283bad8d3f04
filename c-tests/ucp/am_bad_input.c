/* Active-message calls with invalid arguments: each returns an error status and has no other effect. */
/* env: UCX_LOG_LEVEL=fatal */
#include "peers.h"

static two_t two;
static unsigned calls;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    calls++;
    return UCS_OK;
}

int main(void)
{
    ucp_am_handler_param_t handler;
    ucp_worker_params_t worker_params;
    ucp_worker_attr_t attr;
    ucp_request_param_t param;
    ucp_worker_h worker;
    static char header[1 << 16];
    char data[8] = "1234567";
    void *request;

    two_open(&two, UCP_FEATURE_AM, 1);
    memset(&handler, 0, sizeof(handler));
    handler.cb = on_message;
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_CB;
    CHECK_STATUS(ucp_worker_set_am_recv_handler(two.worker[1], &handler), UCS_ERR_INVALID_PARAM);
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID;
    CHECK_STATUS(ucp_worker_set_am_recv_handler(two.worker[1], &handler), UCS_ERR_INVALID_PARAM);
    handler.field_mask |= UCP_AM_HANDLER_PARAM_FIELD_CB;
    handler.id = 1 << 16;
    CHECK_STATUS(ucp_worker_set_am_recv_handler(two.worker[1], &handler), UCS_ERR_INVALID_PARAM);
    handler.id = 65535;
    CHECK_OK(ucp_worker_set_am_recv_handler(two.worker[1], &handler));
    OK("handlers");

    attr.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    CHECK_OK(ucp_worker_query(two.worker[0], &attr));
    CHECK(attr.max_am_header >= 1024);
    CHECK(attr.max_am_header < sizeof(header));
    param.op_attr_mask = 0;
    CHECK_OK(two_wait(&two, ucp_am_send_nbx(two.ep[0], 65535, header, attr.max_am_header, data, 8, &param)));
    TWO_UNTIL(&two, calls == 1);
    request = ucp_am_send_nbx(two.ep[0], 65535, header, sizeof(header), data, 8, &param);
    CHECK_EQ(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    request = ucp_am_send_nbx(two.ep[0], 65535, NULL, 8, data, 8, &param);
    CHECK_EQ(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    request = ucp_am_send_nbx(two.ep[0], 65536, NULL, 0, data, 8, &param);
    CHECK_EQ(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    request = ucp_am_send_nbx(two.ep[0], 65535, NULL, 0, NULL, 8, &param);
    CHECK_EQ(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    OK("sends");

    ucp_am_data_release(two.worker[1], data);
    request = ucp_am_recv_data_nbx(two.worker[1], data, header, 8, &param);
    CHECK_EQ(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    OK("data that is not kept");

    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    worker_params.am_alignment = 24;
    CHECK_STATUS(ucp_worker_create(two.context, &worker_params, &worker), UCS_ERR_INVALID_PARAM);
    worker_params.am_alignment = 0;
    CHECK_OK(ucp_worker_create(two.context, &worker_params, &worker));
    ucp_worker_destroy(worker);
    OK("alignment");

    two_close(&two);
    return 0;
}
