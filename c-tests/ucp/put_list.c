/* Puts of a list of buffers to a list of places, each with a key of its own, in one call: with and without memory
 * handles and repeating patterns, over every kind of transport; nothing is written when an element is wrong. Upstream
 * has this on InfiniBand only. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "window.h"

enum { SIZE = 300000, COUNT = 5 };

static window_t window;
static char *local, *remote; /* what is sent from, and a copy of the window */
static unsigned calls;

static void ended(void *request, ucs_status_t status, void *user_data)
{
    ++calls;
    CHECK_STATUS(status, UCS_OK);
    CHECK(user_data == &calls);
}

typedef struct {
    void *buffers[COUNT];
    size_t lengths[COUNT];
    ucp_mem_h memhs[COUNT];
    size_t counts[COUNT], strides[COUNT];
    uint64_t addresses[COUNT];
    size_t remote_lengths[COUNT];
    ucp_rkey_h rkeys[COUNT];
    ucp_dt_local_sgl_t from;
    ucp_dt_remote_sgl_t to;
    ucp_request_param_t param;
} list_t;

static void list_make(list_t *list)
{
    static const size_t lengths[COUNT] = {0, 7, 1000, 100000, 8};
    size_t i, at = 0;

    memset(list, 0, sizeof(*list));
    for (i = 0; i < COUNT; ++i) {
        list->buffers[i] = local + at + i;
        list->lengths[i] = lengths[i];
        list->counts[i] = 1;
        list->addresses[i] = window.address + SIZE / 2 - at;
        list->remote_lengths[i] = lengths[i];
        list->rkeys[i] = window.rkey;
        at += lengths[i] + 10;
    }
    list->from.field_mask = UCP_DT_LOCAL_SGL_FIELD_BUFFERS | UCP_DT_LOCAL_SGL_FIELD_LENGTHS;
    list->from.buffers = list->buffers;
    list->from.lengths = list->lengths;
    list->from.memhs = list->memhs;
    list->from.counts = list->counts;
    list->from.strides = list->strides;
    list->to.field_mask = UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS | UCP_DT_REMOTE_SGL_FIELD_LENGTHS |
                          UCP_DT_REMOTE_SGL_FIELD_RKEYS;
    list->to.remote_addrs = list->addresses;
    list->to.lengths = list->remote_lengths;
    list->to.rkeys = list->rkeys;
    list->param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REMOTE_DATATYPE |
                               UCP_OP_ATTR_FIELD_REMOTE | UCP_OP_ATTR_FIELD_REMOTE_COUNT |
                               UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    list->param.datatype = ucp_dt_make_sgl();
    list->param.remote_datatype = ucp_dt_make_sgl();
    list->param.remote = &list->to;
    list->param.remote_count = COUNT;
    list->param.cb.send = ended;
    list->param.user_data = &calls;
}

static ucs_status_ptr_t put(list_t *list)
{
    return ucp_put_nbx(window.ep, &list->from, COUNT, UCP_REMOTE_ADDR_INVALID, UCP_RKEY_INVALID, &list->param);
}

/* The window holds what `remote` says. */
static void landed(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char *got = malloc(SIZE);

    CHECK_OK(window_wait(&window, ucp_ep_flush_nbx(window.ep, &plain)));
    CHECK_OK(window_wait(&window, ucp_get_nbx(window.ep, got, SIZE, window.address, window.rkey, &plain)));
    CHECK(!memcmp(got, remote, SIZE));
    free(got);
}

static void list_check(list_t *list)
{
    ucs_status_ptr_t request;
    size_t i, j;
    int pending;

    calls = 0;
    request = put(list);
    pending = UCS_PTR_IS_PTR(request);
    CHECK_OK(window_wait(&window, request));
    CHECK_EQ(calls, pending);
    for (i = 0; i < COUNT; ++i) {
        char *to = remote + (list->addresses[i] - window.address);

        for (j = 0; j < list->counts[i]; ++j) {
            memcpy(to + j * list->lengths[i], (char *)list->buffers[i] + j * list->strides[i], list->lengths[i]);
        }
    }
    landed();
}

static void writes(void)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = local,
                                .length = SIZE};
    ucs_status_ptr_t request;
    list_t list;
    size_t i;
    ucp_mem_h memh;

    CHECK_OK(ucp_mem_map(window.side.context, &map, &memh));
    list_make(&list);
    fill(local, SIZE, 1);
    list_check(&list);
    /* with handles, one of which is missing */
    fill(local, SIZE, 2);
    list.from.field_mask |= UCP_DT_LOCAL_SGL_FIELD_MEMHS;
    for (i = 1; i < COUNT; ++i) {
        list.memhs[i] = memh;
    }
    list_check(&list);
    /* patterns */
    fill(local, SIZE, 3);
    list.from.field_mask |= UCP_DT_LOCAL_SGL_FIELD_COUNTS | UCP_DT_LOCAL_SGL_FIELD_STRIDES;
    list.counts[1] = 9;
    list.strides[1] = 11;
    list.remote_lengths[1] = 9 * list.lengths[1];
    list.counts[4] = 0;
    list.remote_lengths[4] = 0;
    list_check(&list);
    /* a request in any case, freed before its end */
    fill(local, SIZE, 4);
    list.param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    calls = 0;
    request = put(&list);
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_OK(window_wait(&window, request));
    CHECK_EQ(calls, 1);
    list.param.op_attr_mask &= ~UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    list_check(&list);
    /* nothing to write */
    list.param.remote_count = 0;
    CHECK(ucp_put_nbx(window.ep, &list.from, 0, UCP_REMOTE_ADDR_INVALID, UCP_RKEY_INVALID, &list.param) == NULL);
    CHECK_OK(ucp_mem_unmap(window.side.context, memh));
}

static void refused(list_t *list)
{
    CHECK_STATUS(UCS_PTR_STATUS(put(list)), UCS_ERR_INVALID_PARAM);
    list_make(list);
}

static void wrong_lists(void)
{
    list_t list;

    fill(local, SIZE, 5);
    list_make(&list);
    list.param.remote_count = COUNT - 1;
    refused(&list);
    list.param.op_attr_mask &= ~UCP_OP_ATTR_FIELD_REMOTE_DATATYPE;
    refused(&list);
    list.param.remote_datatype = ucp_dt_make_contig(1);
    refused(&list);
    list.param.op_attr_mask &= ~UCP_OP_ATTR_FIELD_REMOTE;
    refused(&list);
    list.from.field_mask = UCP_DT_LOCAL_SGL_FIELD_BUFFERS;
    refused(&list);
    list.from.field_mask = UCP_DT_LOCAL_SGL_FIELD_LENGTHS;
    refused(&list);
    list.from.field_mask |= UCP_DT_LOCAL_SGL_FIELD_COUNTS;
    refused(&list);
    list.to.field_mask &= ~UCP_DT_REMOTE_SGL_FIELD_RKEYS;
    refused(&list);
    list.to.remote_addrs = NULL;
    refused(&list);
    list.rkeys[4] = NULL;
    refused(&list);
    list.buffers[3] = NULL;
    refused(&list);
    list.remote_lengths[3] += 1;
    refused(&list);
    list.addresses[4] = window.address + SIZE - 1;
    refused(&list);
    list.from.field_mask |= UCP_DT_LOCAL_SGL_FIELD_COUNTS | UCP_DT_LOCAL_SGL_FIELD_STRIDES;
    list.counts[3] = SIZE_MAX / 2;
    refused(&list);
    /* lists elsewhere than in puts */
    CHECK(UCS_PTR_IS_ERR(ucp_get_nbx(window.ep, &list.from, COUNT, window.address, window.rkey, &list.param)));
    CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(window.ep, &list.from, COUNT, 1, &list.param)));
    landed(); /* and nothing was written */
}

static void run(const char *tls, int allocate)
{
    setenv("UCX_TLS", tls, 1);
    window_open(&window, ALL_FEATURES, SIZE, allocate);
    memset(remote, 0, SIZE);
    writes();
    wrong_lists();
    window_close(&window);
    OK("%s, %s memory", tls, allocate ? "the library's" : "the caller's");
}

int main(void)
{
    local = malloc(SIZE);
    remote = malloc(SIZE);
    CHECK((local != NULL) && (remote != NULL));
    run("posix", 1);
    run("posix", 0);
    run("posix,cma", 0);
    run("tcp", 0);
    free(local);
    free(remote);
    return 0;
}
