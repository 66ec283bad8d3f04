/* A program says "unknown memory type" with the value its own headers have: 5 up to 1.15, 6 in 1.16, 9 up to
 * 1.20, 10 since. The API minor given to ucp_init_version tells which one is meant: mapping and sending host
 * memory with that value works for each minor, and the library finds out that it is host memory. */
#include <ucp/api/ucp.h>

#include "peers.h"

static unsigned unknown_of(unsigned minor)
{
    return (minor <= 15) ? 5 : (minor == 16) ? 6 : (minor <= 20) ? 9 : 10;
}

static void map(ucp_context_h context, unsigned value)
{
    static char buffer[8192];
    ucp_mem_map_params_t params;
    ucp_mem_attr_t attr;
    ucp_mem_h memh;

    memset(&params, 0, sizeof(params));
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.address = buffer;
    params.length = sizeof(buffer);
    params.memory_type = (ucs_memory_type_t)value;
    CHECK_OK(ucp_mem_map(context, &params, &memh));
    attr.field_mask = UCP_MEM_ATTR_FIELD_MEM_TYPE;
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK_EQ(attr.mem_type, UCS_MEMORY_TYPE_HOST);
    CHECK_OK(ucp_mem_unmap(context, memh));
}

static void transfer(ucp_worker_h worker, ucp_ep_h ep, unsigned value)
{
    static const size_t lengths[] = {8, 4096, 1 << 20};
    static unsigned char out[1 << 20], in[1 << 20];
    ucp_request_param_t param;
    ucs_status_ptr_t recv;
    unsigned i;

    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        memset(out, 3 + i, lengths[i]);
        memset(in, 0, lengths[i]);
        memset(&param, 0, sizeof(param));
        param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        param.memory_type = (ucs_memory_type_t)value;
        recv = ucp_tag_recv_nbx(worker, in, lengths[i], 1, -1, &param);
        request_finish(worker, ucp_tag_send_nbx(ep, out, lengths[i], 1, &param));
        request_finish(worker, recv);
        CHECK(!memcmp(out, in, lengths[i]));
    }
}

int main(void)
{
    ucp_worker_params_t worker_params;
    ucp_request_param_t close_param;
    ucp_ep_params_t ep_params;
    ucp_address_t *address;
    ucp_context_h context;
    ucp_params_t params;
    ucp_worker_h worker;
    ucs_status_t status;
    size_t length;
    unsigned minor;
    ucp_ep_h ep;

    for (minor = 11; minor <= 22; ++minor) {
        memset(&params, 0, sizeof(params));
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA;
        status = ucp_init_version(1, minor, &params, NULL, &context);
        if (status == UCS_ERR_NOT_IMPLEMENTED) {
            SKIP("ucp_init_version is not implemented");
        }
        CHECK_OK(status);
        memset(&worker_params, 0, sizeof(worker_params));
        CHECK_OK(ucp_worker_create(context, &worker_params, &worker));
        CHECK_OK(ucp_worker_get_address(worker, &address, &length));
        memset(&ep_params, 0, sizeof(ep_params));
        ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        ep_params.address = address;
        CHECK_OK(ucp_ep_create(worker, &ep_params, &ep));
        map(context, unknown_of(minor));
        transfer(worker, ep, unknown_of(minor));
        memset(&close_param, 0, sizeof(close_param));
        request_finish(worker, ucp_ep_close_nbx(ep, &close_param));
        ucp_worker_release_address(worker, address);
        ucp_worker_destroy(worker);
        ucp_cleanup(context);
        OK("1.%u: %u is unknown", minor, unknown_of(minor));
    }
    return 0;
}
