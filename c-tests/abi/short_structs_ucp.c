/* Structures of the UCP API grew at their end, behind bits of a mask. A program compiled against 1.11 gives
 * the short ones, often on its stack: what a mask bit does not name must be neither read nor written. */
/* oracle: 1.13.1 1.22.0 */
#include <ucp/api/ucp.h>

#include "peers.h"
#include "guard.h"

/* Sizes of 1.11, the oldest that programs were compiled with. */
enum {
    PARAMS = 80,
    WORKER_PARAMS = 184,
    EP_PARAMS = 88,
    MEM_MAP_PARAMS = 40,
    REQUEST_PARAM = 64,
    CONTEXT_ATTR = 64,
    WORKER_ATTR = 80,
    EP_ATTR = 40,
    MEM_ATTR = 32,
    LIB_ATTR = 16,
    REQUEST_ATTR = 32,
    TAG_RECV_INFO = 16
};

static unsigned callbacks;

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    CHECK_OK(status);
    CHECK(user_data == &callbacks);
    ++callbacks;
}

static void on_recv(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *user_data)
{
    CHECK_OK(status);
    CHECK(user_data == &callbacks);
    CHECK_EQ(info->length, 8);
    ++callbacks;
}

static ucp_context_h open_context(void)
{
    ucp_params_t *params = guard_alloc("ucp_params_t", PARAMS, 0xff);
    ucp_context_attr_t *attr = guard_alloc("ucp_context_attr_t", CONTEXT_ATTR, 0xff);
    ucp_lib_attr_t *lib = guard_alloc("ucp_lib_attr_t", LIB_ATTR, 0xff);
    ucp_context_h context;
    ucs_status_t status;

    lib->field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
    guard_step = "ucp_params_t";
    params->field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE;
    params->features = UCP_FEATURE_TAG | UCP_FEATURE_RMA;
    params->request_size = 32;
    status = ucp_init_version(1, 11, params, NULL, &context);
    if (status == UCS_ERR_NOT_IMPLEMENTED) {
        SKIP("ucp_init_version is not implemented");
    }
    CHECK_OK(status);
    guard_watch();
    guard_step = "ucp_lib_attr_t";
    CHECK_OK(ucp_lib_query(lib));
    guard_step = "ucp_context_attr_t";
    attr->field_mask = UCP_ATTR_FIELD_REQUEST_SIZE | UCP_ATTR_FIELD_THREAD_MODE;
    CHECK_OK(ucp_context_query(context, attr));
    CHECK(attr->request_size > 0);
    OK("library and context");
    return context;
}

static ucp_worker_h open_worker(ucp_context_h context, ucp_address_t **address)
{
    ucp_worker_params_t *params = guard_alloc("ucp_worker_params_t", WORKER_PARAMS, 0xff);
    ucp_worker_attr_t *attr = guard_alloc("ucp_worker_attr_t", WORKER_ATTR, 0xff);
    ucp_worker_h worker;

    guard_step = "ucp_worker_params_t";
    params->field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params->thread_mode = UCS_THREAD_MODE_SINGLE;
    CHECK_OK(ucp_worker_create(context, params, &worker));
    guard_step = "ucp_worker_attr_t";
    attr->field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    CHECK_OK(ucp_worker_query(worker, attr));
    *address = attr->address;
    OK("worker");
    return worker;
}

static ucp_ep_h open_ep(ucp_worker_h worker, const ucp_address_t *address)
{
    ucp_ep_params_t *params = guard_alloc("ucp_ep_params_t", EP_PARAMS, 0xff);
    ucp_ep_attr_t *attr = guard_alloc("ucp_ep_attr_t", EP_ATTR, 0xff);
    ucp_ep_h ep;

    guard_step = "ucp_ep_params_t";
    params->field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params->address = address;
    CHECK_OK(ucp_ep_create(worker, params, &ep));
    guard_step = "ucp_ep_attr_t";
    attr->field_mask = UCP_EP_ATTR_FIELD_NAME;
    CHECK_OK(ucp_ep_query(ep, attr));
    CHECK(attr->name[0] != '\0');
    OK("endpoint");
    return ep;
}

/* The structure that is on a stack in every real program: 96 bytes now, 64 then. */
static void messages(ucp_worker_h worker, ucp_ep_h ep)
{
    ucp_request_param_t *param = guard_alloc("ucp_request_param_t", REQUEST_PARAM, 0xff);
    ucp_request_attr_t *attr = guard_alloc("ucp_request_attr_t", REQUEST_ATTR, 0xff);
    ucp_tag_recv_info_t *info = guard_alloc("ucp_tag_recv_info_t", TAG_RECV_INFO, 0xff);
    ucs_status_ptr_t send, recv;
    uint64_t out = 0x0123456789abcdefull, in = 0;

    guard_step = "ucp_request_param_t";
    param->op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                          UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_DATATYPE;
    param->datatype = ucp_dt_make_contig(1);
    param->user_data = &callbacks;
    param->cb.recv = on_recv;
    recv = ucp_tag_recv_nbx(worker, &in, sizeof(in), 5, -1, param);
    CHECK(UCS_PTR_IS_PTR(recv));
    guard_step = "ucp_request_attr_t";
    attr->field_mask = UCP_REQUEST_ATTR_FIELD_STATUS | UCP_REQUEST_ATTR_FIELD_MEM_TYPE;
    CHECK_OK(ucp_request_query(recv, attr));
    CHECK_EQ(attr->status, UCS_INPROGRESS);
    guard_step = "ucp_request_param_t";
    param->cb.send = on_send;
    send = ucp_tag_send_nbx(ep, &out, sizeof(out), 5, param);
    CHECK(UCS_PTR_IS_PTR(send));
    request_finish(worker, send);
    request_finish(worker, recv);
    CHECK_EQ(callbacks, 2);
    CHECK(in == out);

    /* The information about a message that is already there goes into the caller's 16 bytes. */
    param->op_attr_mask = 0;
    request_finish(worker, ucp_tag_send_nbx(ep, &out, sizeof(out), 6, param));
    while (ucp_tag_probe_nb(worker, 6, -1, 0, info) == NULL) {
        guard_step = "ucp_tag_recv_info_t";
        ucp_worker_progress(worker);
    }
    CHECK_EQ(info->length, sizeof(out));
    in = 0;
    param->op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO;
    param->recv_info.tag_info = info;
    request_finish(worker, ucp_tag_recv_nbx(worker, &in, sizeof(in), 6, -1, param));
    CHECK(in == out);
    param->op_attr_mask = 0;
    request_finish(worker, ucp_ep_flush_nbx(ep, param));
    OK("messages");
}

static void memory(ucp_context_h context)
{
    ucp_mem_map_params_t *params = guard_alloc("ucp_mem_map_params_t", MEM_MAP_PARAMS, 0xff);
    ucp_mem_attr_t *attr = guard_alloc("ucp_mem_attr_t", MEM_ATTR, 0xff);
    static char buffer[8192];
    ucp_mem_h memh;

    guard_step = "ucp_mem_map_params_t";
    params->field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    params->address = buffer;
    params->length = sizeof(buffer);
    CHECK_OK(ucp_mem_map(context, params, &memh));
    guard_step = "ucp_mem_attr_t";
    attr->field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH | UCP_MEM_ATTR_FIELD_MEM_TYPE;
    CHECK_OK(ucp_mem_query(memh, attr));
    CHECK(attr->address <= (void *)buffer);
    CHECK_EQ(attr->mem_type, UCS_MEMORY_TYPE_HOST);
    CHECK_OK(ucp_mem_unmap(context, memh));
    OK("memory");
}

static void close_ep(ucp_worker_h worker, ucp_ep_h ep)
{
    ucp_request_param_t *param = guard_alloc("ucp_request_param_t of close", REQUEST_PARAM, 0xff);

    param->op_attr_mask = 0;
    request_finish(worker, ucp_ep_close_nbx(ep, param));
    OK("close");
}

int main(void)
{
    ucp_address_t *address;
    ucp_context_h context = open_context();
    ucp_worker_h worker = open_worker(context, &address);
    ucp_ep_h ep = open_ep(worker, address);

    messages(worker, ep);
    memory(context);
    close_ep(worker, ep);
    ucp_worker_release_address(worker, address);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return 0;
}
