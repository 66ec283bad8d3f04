/* UCX_EXTRA_OP_ATTR_FLAGS: operations on a buffer behave as if the program had given the flags. With no_imm_cmpl, those
 * that would be done at once give a request; with force_imm_cmpl, those that would give one fail. Upstream 1.22.0 takes
 * the flags into account where it selects a protocol, and nowhere else. */
/* headers: ours */
/* env: UCX_TLS=self */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "peers.h"

static const ucp_request_param_t plain;
static side_t side;

/* Completes an operation that has to give a request or not. */
static void finish(ucs_status_ptr_t request, int gives_request)
{
    CHECK_EQ(UCS_PTR_IS_PTR(request), gives_request);
    request_finish(side.worker, request);
}

static ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    ++*(int *)arg;
    return UCS_OK;
}

static void small_operations(const char *flags, int asynchronous)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH};
    ucp_request_param_t word = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG};
    uint64_t memory = 0, out = 7, in;
    void *key_buffer;
    ucp_rkey_h key;
    ucp_mem_h memh;
    size_t length;
    int handled = 0;
    ucp_ep_h ep;

    setenv("UCX_EXTRA_OP_ATTR_FLAGS", flags, 1);
    side_open(&side, ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    map.address = &memory;
    map.length = sizeof(memory);
    CHECK_OK(ucp_mem_map(side.context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &key_buffer, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, key_buffer, &key));
    ucp_rkey_buffer_release(key_buffer);
    handler.id = 1;
    handler.cb = on_am;
    handler.arg = &handled;
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));

    finish(ucp_tag_send_nbx(ep, &out, sizeof(out), 1, &plain), asynchronous);
    WORKERS_UNTIL(side.worker, side.worker,
                  ucp_tag_probe_nb(side.worker, 1, -1, 0, &(ucp_tag_recv_info_t){0}) != NULL);
    in = 0;
    finish(ucp_tag_recv_nbx(side.worker, &in, sizeof(in), 1, -1, &plain), asynchronous);
    CHECK_EQ(in, out);
    finish(ucp_am_send_nbx(ep, 1, NULL, 0, &out, sizeof(out), &plain), asynchronous);
    WORKERS_UNTIL(side.worker, side.worker, handled == 1);
    finish(ucp_put_nbx(ep, &out, sizeof(out), (uintptr_t)&memory, key, &plain), asynchronous);
    finish(ucp_get_nbx(ep, &in, sizeof(in), (uintptr_t)&memory, key, &plain), asynchronous);
    finish(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &out, 1, (uintptr_t)&memory, key, &word), asynchronous);
    request_finish(side.worker, ucp_worker_flush_nbx(side.worker, &plain));
    CHECK_EQ(memory, 2 * out);
    ucp_rkey_destroy(key);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    request_finish(side.worker, ucp_ep_close_nbx(ep, &plain));
    side_close(&side);
}

/* A synchronous send waits for its receive, which a message that has to be done at once cannot. */
static void forced(void)
{
    ucp_ep_h ep;
    char byte;

    setenv("UCX_EXTRA_OP_ATTR_FLAGS", "force_imm_cmpl", 1);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    CHECK_EQ(UCS_PTR_STATUS(ucp_tag_send_sync_nbx(ep, &byte, 1, 1, &plain)), UCS_ERR_NO_RESOURCE);
    CHECK_EQ(UCS_PTR_STATUS(ucp_tag_recv_nbx(side.worker, &byte, 1, 1, -1, &plain)), UCS_ERR_NO_RESOURCE);
    request_finish(side.worker, ucp_ep_close_nbx(ep, &plain));
    side_close(&side);
}

int main(void)
{
    small_operations("", 0);
    small_operations("fast_cmpl,multi_send", 0);
    small_operations("no_imm_cmpl", 1);
    forced();
    OK("extra_op_attr_flags");
    return 0;
}
