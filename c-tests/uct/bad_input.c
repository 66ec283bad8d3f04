/* Bad input over the whole of UCT: NULLs, ids, sizes, list lengths and flags out of range, on every transport.
 * Every call answers a status, nothing is sent, nothing is written. */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include <uct/api/uct.h>

#include "transport.h"

#define BAD UCS_ERR_INVALID_PARAM

static unsigned received;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    ++received;
    return UCS_OK;
}

static size_t pack_nothing(void *dest, void *arg)
{
    return 0;
}

static void unpack_nothing(void *arg, const void *data, size_t length)
{
}

static void components(void)
{
    uct_component_h *list;
    uct_component_attr_t attr;
    uct_md_config_t *config;
    unsigned count;
    uct_md_h md;

    CHECK_STATUS(uct_query_components(NULL, &count), BAD);
    CHECK_STATUS(uct_query_components(&list, NULL), BAD);
    CHECK_OK(uct_query_components(&list, &count));
    CHECK(count >= 1);
    CHECK_STATUS(uct_component_query(list[0], NULL), BAD);
    attr.field_mask = 0;
    CHECK_OK(uct_component_query(list[0], &attr));
    CHECK_STATUS(uct_md_config_read(NULL, NULL, NULL, &config), BAD);
    CHECK_STATUS(uct_md_config_read(list[0], NULL, NULL, NULL), BAD);
    CHECK_OK(uct_md_config_read(list[0], NULL, NULL, &config));
    CHECK_STATUS(uct_md_open(list[0], NULL, config, &md), BAD);
    CHECK_STATUS(uct_md_open(list[0], "no such domain", config, &md), UCS_ERR_NO_DEVICE);
    CHECK_STATUS(uct_config_modify(config, "NO_SUCH_VARIABLE", "1"), UCS_ERR_NO_ELEM);
    CHECK_STATUS(uct_config_modify(config, NULL, "1"), BAD);
    CHECK_STATUS(uct_config_modify(config, "NUM_DEVICES", NULL), BAD);
    uct_config_release(config);
    uct_config_release(NULL);
    uct_release_component_list(list);
    uct_release_component_list(NULL);
    uct_md_close(NULL);
    uct_worker_destroy(NULL);
    uct_iface_close(NULL);
    uct_ep_destroy(NULL);
}

static void interfaces(transport_t *t, const char *name)
{
    uct_iface_config_t *config;
    uct_iface_params_t params;
    uct_md_attr_t md_attr;
    uct_iface_h iface;
    unsigned count;
    int fd;

    CHECK_STATUS(uct_md_query(t->md, NULL), BAD);
    CHECK_STATUS(uct_md_query(NULL, &md_attr), BAD);
    CHECK_STATUS(uct_md_query_tl_resources(t->md, NULL, &count), BAD);
    CHECK_STATUS(uct_worker_create(NULL, UCS_THREAD_MODE_SINGLE, &t->worker), BAD);
    CHECK_STATUS(uct_worker_create(t->async, UCS_THREAD_MODE_SINGLE, NULL), BAD);
    CHECK_STATUS(uct_md_iface_config_read(t->md, "no such transport", NULL, NULL, &config), UCS_ERR_NO_DEVICE);
    CHECK_STATUS(uct_md_iface_config_read(t->md, name, NULL, NULL, NULL), BAD);
    CHECK_OK(uct_md_iface_config_read(t->md, name, NULL, NULL, &config));
    memset(&params, 0, sizeof(params));
    CHECK_STATUS(uct_iface_open(t->md, t->worker, &params, config, &iface), BAD);
    params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
    params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
    CHECK_STATUS(uct_iface_open(t->md, t->worker, &params, config, &iface), BAD);
    params.mode.device.tl_name = name;
    params.mode.device.dev_name = "no such device";
    CHECK_STATUS(uct_iface_open(t->md, t->worker, &params, config, &iface), UCS_ERR_NO_DEVICE);
    params.mode.device.dev_name = t->device;
    CHECK_STATUS(uct_iface_open(t->md, t->worker, &params, NULL, &iface), BAD);
    CHECK_STATUS(uct_iface_open(t->md, t->worker, NULL, config, &iface), BAD);
    CHECK_STATUS(uct_iface_open(t->md, NULL, &params, config, &iface), BAD);
    CHECK_STATUS(uct_iface_open(t->md, t->worker, &params, config, NULL), BAD);
    uct_config_release(config);

    CHECK_STATUS(uct_iface_query(t->iface, NULL), BAD);
    CHECK_STATUS(uct_iface_get_address(t->iface, NULL), BAD);
    if (t->attr.device_addr_len > 0) {
        CHECK_STATUS(uct_iface_get_device_address(t->iface, NULL), BAD);
    }
    CHECK_EQ(uct_iface_is_reachable(t->iface, NULL, NULL), 0);
    CHECK_STATUS(uct_iface_set_am_handler(t->iface, UCT_AM_ID_MAX, on_message, NULL, 0), BAD);
    CHECK_STATUS(uct_iface_set_am_handler(t->iface, 255, on_message, NULL, 0), BAD);
    CHECK_STATUS(uct_iface_set_am_handler(NULL, 0, on_message, NULL, 0), BAD);
    CHECK_STATUS(uct_iface_event_fd_get(NULL, &fd), BAD);
    if (t->attr.cap.event_flags & UCT_IFACE_FLAG_EVENT_FD) {
        CHECK_STATUS(uct_iface_event_fd_get(t->iface, NULL), BAD);
    } else {
        CHECK_STATUS(uct_iface_event_fd_get(t->iface, &fd), UCS_ERR_UNSUPPORTED);
    }
}

static void memory(transport_t *t)
{
    uct_alloc_method_t unknown = UCT_ALLOC_METHOD_LAST, heap = UCT_ALLOC_METHOD_HEAP;
    uct_mem_alloc_params_t params;
    uct_allocated_memory_t mem;
    uct_rkey_bundle_t bundle;
    char buffer[64];
    uct_mem_h memh;
    void *address;

    memset(&params, 0, sizeof(params));
    CHECK_STATUS(uct_mem_alloc(0, &heap, 1, &params, &mem), BAD);
    CHECK_STATUS(uct_mem_alloc(64, NULL, 1, &params, &mem), BAD);
    CHECK_STATUS(uct_mem_alloc(64, &heap, 1, NULL, &mem), BAD);
    CHECK_STATUS(uct_mem_alloc(64, &heap, 1, &params, NULL), BAD);
    CHECK_STATUS(uct_mem_alloc(64, &unknown, 1, &params, &mem), BAD);
    CHECK_STATUS(uct_mem_alloc(SIZE_MAX, &heap, 1, &params, &mem), UCS_ERR_NO_MEMORY);
    params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS;
    params.flags = UCT_MD_MEM_FLAG_FIXED | UCT_MD_MEM_ACCESS_ALL;
    params.address = (void *)1;
    CHECK_STATUS(uct_mem_alloc(64, &heap, 1, &params, &mem), BAD);
    CHECK_STATUS(uct_mem_free(NULL), BAD);
    CHECK_STATUS(uct_iface_mem_alloc(t->iface, 0, UCT_MD_MEM_ACCESS_ALL, "x", &mem), BAD);
    CHECK_STATUS(uct_iface_mem_alloc(t->iface, 64, UCT_MD_MEM_ACCESS_ALL, "x", NULL), BAD);
    uct_iface_mem_free(NULL);

    CHECK_STATUS(uct_md_mem_reg(t->md, NULL, 64, UCT_MD_MEM_ACCESS_ALL, &memh), BAD);
    CHECK_STATUS(uct_md_mem_reg(t->md, buffer, 0, UCT_MD_MEM_ACCESS_ALL, &memh), BAD);
    CHECK_STATUS(uct_md_mem_reg(t->md, buffer, 64, 0, &memh), BAD);
    CHECK_STATUS(uct_md_mem_reg(t->md, buffer, 64, UCT_MD_MEM_ACCESS_ALL, NULL), BAD);
    CHECK_STATUS(uct_md_mem_dereg(t->md, NULL), BAD);
    CHECK_STATUS(uct_md_mem_advise(t->md, NULL, NULL, 64, UCT_MADV_NORMAL), BAD);
    CHECK_STATUS(uct_md_mkey_pack(t->md, NULL, NULL), BAD);
    CHECK_STATUS(uct_rkey_unpack(t->component, NULL, &bundle), BAD);
    CHECK_STATUS(uct_rkey_unpack(t->component, buffer, NULL), BAD);
    CHECK_STATUS(uct_rkey_ptr(t->component, NULL, 0, &address), BAD);
    CHECK_STATUS(uct_rkey_release(t->component, NULL), BAD);
}

static void endpoints(transport_t *t)
{
    uct_ep_params_t params;
    uct_ep_h ep;

    memset(&params, 0, sizeof(params));
    CHECK_STATUS(uct_ep_create(&params, &ep), BAD);
    CHECK_STATUS(uct_ep_create(NULL, &ep), BAD);
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE;
    params.iface = t->iface;
    CHECK_STATUS(uct_ep_create(&params, NULL), BAD);
    if (!(t->attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP)) {
        CHECK_STATUS(uct_ep_create(&params, &ep), BAD);
    }
    params.field_mask |= UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface_addr = NULL;
    if (!(t->attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP)) {
        CHECK_STATUS(uct_ep_create(&params, &ep), BAD);
    }
    CHECK_STATUS(uct_ep_check(NULL, 0, NULL), BAD);
    CHECK_STATUS(uct_ep_get_address(NULL, NULL), BAD);
    CHECK_STATUS(uct_ep_connect_to_ep(NULL, NULL, NULL), BAD);
    CHECK_STATUS(uct_ep_disconnect(NULL, 0), BAD);
    CHECK_STATUS(uct_cm_client_ep_conn_notify(NULL), BAD);
}

static void messages(transport_t *t, uct_ep_h ep)
{
    uint64_t flags = t->attr.cap.flags;
    size_t max_short = t->attr.cap.am.max_short;
    char *big = calloc(1, max_short + 8);
    uct_iov_t iov[64];
    int i;

    for (i = 0; i < 64; ++i) {
        iov[i] = (uct_iov_t){.buffer = big, .length = 1, .memh = NULL, .stride = 0, .count = 1};
    }
    if (flags & UCT_IFACE_FLAG_AM_SHORT) {
        CHECK_STATUS(uct_ep_am_short(ep, UCT_AM_ID_MAX, 0, big, 0), BAD);
        CHECK_STATUS(uct_ep_am_short(ep, 255, 0, big, 0), BAD);
        CHECK_STATUS(uct_ep_am_short(ep, 0, 0, big, max_short - 7), BAD);
        CHECK_STATUS(uct_ep_am_short(ep, 0, 0, big, UINT_MAX), BAD);
        CHECK_STATUS(uct_ep_am_short(ep, 0, 0, NULL, 8), BAD);
        CHECK_STATUS(uct_ep_am_short_iov(ep, UCT_AM_ID_MAX, iov, 1), BAD);
        CHECK_STATUS(uct_ep_am_short_iov(ep, 0, NULL, 1), BAD);
        iov[0].length = max_short + 1;
        CHECK_STATUS(uct_ep_am_short_iov(ep, 0, iov, 1), BAD);
        iov[0].length = SIZE_MAX;
        CHECK_STATUS(uct_ep_am_short_iov(ep, 0, iov, 2), BAD);
        iov[0].length = 1;
        iov[0].buffer = NULL;
        CHECK_STATUS(uct_ep_am_short_iov(ep, 0, iov, 1), BAD);
        iov[0].buffer = big;
    } else {
        CHECK_STATUS(uct_ep_am_short(ep, 0, 0, NULL, 0), UCS_ERR_UNSUPPORTED);
    }
    if (flags & UCT_IFACE_FLAG_AM_BCOPY) {
        CHECK_EQ(uct_ep_am_bcopy(ep, UCT_AM_ID_MAX, pack_nothing, NULL, 0), BAD);
        CHECK_EQ(uct_ep_am_bcopy(ep, 0, NULL, NULL, 0), BAD);
    } else {
        CHECK_EQ(uct_ep_am_bcopy(ep, 0, pack_nothing, NULL, 0), UCS_ERR_UNSUPPORTED);
    }
    if (flags & UCT_IFACE_FLAG_AM_ZCOPY) {
        CHECK(t->attr.cap.am.max_iov < 64);
        CHECK_STATUS(uct_ep_am_zcopy(ep, UCT_AM_ID_MAX, NULL, 0, iov, 1, 0, NULL), BAD);
        CHECK_STATUS(uct_ep_am_zcopy(ep, 0, NULL, 8, iov, 1, 0, NULL), BAD);
        CHECK_STATUS(uct_ep_am_zcopy(ep, 0, NULL, 0, NULL, 1, 0, NULL), BAD);
        CHECK_STATUS(uct_ep_am_zcopy(ep, 0, NULL, 0, iov, t->attr.cap.am.max_iov + 1, 0, NULL), BAD);
        iov[0].length = t->attr.cap.am.max_zcopy + 1;
        CHECK_STATUS(uct_ep_am_zcopy(ep, 0, NULL, 0, iov, 1, 0, NULL), BAD);
    } else {
        CHECK_STATUS(uct_ep_am_zcopy(ep, 0, NULL, 0, iov, 1, 0, NULL), UCS_ERR_UNSUPPORTED);
    }
    free(big);
}

static void remote_memory(transport_t *t, uct_ep_h ep)
{
    uint64_t flags = t->attr.cap.flags, word = 0;
    uct_iov_t iov[64];
    int i;

    for (i = 0; i < 64; ++i) {
        iov[i] = (uct_iov_t){.buffer = &word, .length = 1, .memh = NULL, .stride = 0, .count = 1};
    }
    if (flags & UCT_IFACE_FLAG_PUT_ZCOPY) {
        CHECK(t->attr.cap.put.max_iov < 64);
        CHECK_STATUS(uct_ep_put_zcopy(ep, NULL, 1, (uintptr_t)&word, 0, NULL), BAD);
        CHECK_STATUS(uct_ep_put_zcopy(ep, iov, t->attr.cap.put.max_iov + 1, (uintptr_t)&word, 0, NULL), BAD);
        iov[0].buffer = NULL;
        CHECK_STATUS(uct_ep_put_zcopy(ep, iov, 1, (uintptr_t)&word, 0, NULL), BAD);
        iov[0].buffer = &word;
    } else {
        CHECK_STATUS(uct_ep_put_zcopy(ep, iov, 1, (uintptr_t)&word, 0, NULL), UCS_ERR_UNSUPPORTED);
    }
    if (flags & UCT_IFACE_FLAG_GET_ZCOPY) {
        CHECK_STATUS(uct_ep_get_zcopy(ep, NULL, 1, (uintptr_t)&word, 0, NULL), BAD);
        CHECK_STATUS(uct_ep_get_zcopy(ep, iov, t->attr.cap.get.max_iov + 1, (uintptr_t)&word, 0, NULL), BAD);
    } else {
        CHECK_STATUS(uct_ep_get_zcopy(ep, iov, 1, (uintptr_t)&word, 0, NULL), UCS_ERR_UNSUPPORTED);
    }
    if (flags & UCT_IFACE_FLAG_PUT_SHORT) {
        CHECK_STATUS(uct_ep_put_short(ep, NULL, 8, (uintptr_t)&word, 0), BAD);
    } else {
        CHECK_STATUS(uct_ep_put_short(ep, &word, 8, (uintptr_t)&word, 0), UCS_ERR_UNSUPPORTED);
    }
    if (flags & UCT_IFACE_FLAG_GET_BCOPY) {
        CHECK_STATUS(uct_ep_get_bcopy(ep, NULL, NULL, 8, (uintptr_t)&word, 0, NULL), BAD);
    } else {
        CHECK_STATUS(uct_ep_get_bcopy(ep, unpack_nothing, NULL, 8, (uintptr_t)&word, 0, NULL),
                     UCS_ERR_UNSUPPORTED);
    }
    CHECK_STATUS(uct_ep_get_short(ep, &word, 8, (uintptr_t)&word, 0), UCS_ERR_UNSUPPORTED);
    if (t->attr.cap.atomic64.fop_flags) {
        CHECK_STATUS(uct_ep_atomic64_fetch(ep, UCT_ATOMIC_OP_ADD, 1, NULL, (uintptr_t)&word, 0, NULL), BAD);
        CHECK_STATUS(uct_ep_atomic_cswap64(ep, 0, 1, (uintptr_t)&word, 0, NULL, NULL), BAD);
    }
    CHECK_STATUS(uct_ep_atomic64_post(ep, UCT_ATOMIC_OP_LAST, 1, (uintptr_t)&word, 0), UCS_ERR_UNSUPPORTED);
    CHECK_EQ(word, 0);
}

static void run(const char *name, const char *device)
{
    transport_t t;
    uct_ep_h ep;
    int i;

    transport_open(&t, name, device, 0);
    interfaces(&t, name);
    memory(&t);
    endpoints(&t);
    for (i = 0; i < UCT_AM_ID_MAX; ++i) {
        uct_iface_set_am_handler(t.iface, i, on_message, NULL, 0);
    }
    ep = transport_connect(&t, NULL);
    /* Where connecting takes messages, let them pass: operations answer for themselves afterwards. */
    while (uct_ep_flush(ep, UCT_FLUSH_FLAG_LOCAL, NULL) != UCS_OK) {
        uct_worker_progress(t.worker);
    }
    messages(&t, ep);
    remote_memory(&t, ep);
    CHECK_STATUS(uct_ep_pending_add(ep, NULL, 0), BAD);
    uct_ep_pending_purge(ep, NULL, NULL);
    CHECK_STATUS(uct_iface_accept(t.iface, (uct_conn_request_h)&t), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_iface_reject(t.iface, (uct_conn_request_h)&t), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_ep_disconnect(ep, 0), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_ep_connect(ep, NULL), BAD);
    for (i = 0; i < 1000; ++i) {
        uct_worker_progress(t.worker);
    }
    CHECK_EQ(received, 0);
    uct_ep_destroy(ep);
    transport_close(&t);
    OK("%s", name);
}

int main(void)
{
    components();
    run("self", NULL);
    run("posix", NULL);
    run("sysv", NULL);
    run("cma", NULL);
    run("tcp", "lo");
    return 0;
}
