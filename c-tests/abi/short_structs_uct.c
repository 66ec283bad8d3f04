/* Structures of the UCT API grew at their end, behind bits of a mask. A program compiled against 1.11 gives
 * the short ones: what a mask bit does not name must be neither read nor written. Structures without a mask
 * have one size in all releases, and that is all the library may touch. (Upstream 1.22.0 itself writes byte 40
 * of uct_allocated_memory_t, so only 1.13.1 is compared with.) */
/* oracle: 1.13.1 */
#include <uct/api/uct.h>

#include "guard.h"
#include "transport.h"

/* Sizes of 1.11, the oldest that programs were compiled with. */
enum {
    IFACE_PARAMS = 296,
    EP_PARAMS = 136,
    ALLOC_PARAMS = 56,
    ALLOCATED = 40,
    IFACE_ATTR = 536,
    MD_ATTR = 224,
    COMPONENT_ATTR = 48,
    RKEY_BUNDLE = 24,
    COMPLETION = 16
};

static unsigned received;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    ++received;
    return UCS_OK;
}

static void done(uct_completion_t *self)
{
}

/* Opens a second interface of the same device with a short parameter structure. */
static uct_iface_h open_iface(transport_t *t, const char *name)
{
    uct_iface_params_t *params = guard_alloc("uct_iface_params_t", IFACE_PARAMS, 0xff);
    uct_iface_config_t *config;
    uct_iface_h iface;

    params->field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
    params->open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
    params->mode.device.tl_name = name;
    params->mode.device.dev_name = t->device;
    CHECK_OK(uct_md_iface_config_read(t->md, name, NULL, NULL, &config));
    CHECK_OK(uct_iface_open(t->md, t->worker, params, config, &iface));
    uct_config_release(config);
    return iface;
}

static uct_ep_h connect_self(transport_t *t, uct_iface_h iface)
{
    uct_ep_params_t *params = guard_alloc("uct_ep_params_t", EP_PARAMS, 0xff);
    uct_iface_attr_t *attr = guard_alloc("uct_iface_attr_t", IFACE_ATTR, 0xff);
    char device[256], address[256];
    uct_ep_h ep;

    guard_step = "uct_iface_attr_t";
    CHECK_OK(uct_iface_query(iface, attr));
    CHECK(attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE);
    CHECK((attr->device_addr_len <= sizeof(device)) && (attr->iface_addr_len <= sizeof(address)));
    CHECK_OK(uct_iface_get_device_address(iface, (uct_device_addr_t *)device));
    CHECK_OK(uct_iface_get_address(iface, (uct_iface_addr_t *)address));
    guard_step = "uct_ep_params_t";
    params->field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                         UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params->iface = iface;
    params->dev_addr = (uct_device_addr_t *)device;
    params->iface_addr = (uct_iface_addr_t *)address;
    CHECK_OK(uct_ep_create(params, &ep));
    return ep;
}

static void messages(transport_t *t, const char *name)
{
    uct_iface_h iface = open_iface(t, name);
    uct_ep_h ep = connect_self(t, iface);
    uct_completion_t *completion = guard_alloc("uct_completion_t", COMPLETION, 0);
    ucs_status_t status;

    received = 0;
    CHECK_OK(uct_iface_set_am_handler(iface, 1, on_message, NULL, 0));
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    while ((status = uct_ep_am_short(ep, 1, 7, NULL, 0)) == UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(t->worker); /* tcp connects first */
    }
    CHECK_OK(status);
    PROGRESS_UNTIL(t, received == 1);
    completion->func = done;
    completion->count = 2;
    status = uct_ep_flush(ep, 0, completion);
    CHECK((status == UCS_OK) || (status == UCS_INPROGRESS));
    PROGRESS_UNTIL(t, (status == UCS_OK) || (completion->count == 1));
    uct_ep_destroy(ep);
    uct_iface_close(iface);
    OK("%s: interface, endpoint, message", name);
}

static void memory(transport_t *t)
{
    uct_mem_alloc_params_t *params = guard_alloc("uct_mem_alloc_params_t", ALLOC_PARAMS, 0xff);
    uct_allocated_memory_t *mem = guard_alloc("uct_allocated_memory_t", ALLOCATED, 0xff);
    uct_md_attr_t *attr = guard_alloc("uct_md_attr_t", MD_ATTR, 0xff);
    uct_rkey_bundle_t *bundle = guard_alloc("uct_rkey_bundle_t", RKEY_BUNDLE, 0xff);
    uct_alloc_method_t methods[] = {UCT_ALLOC_METHOD_MD, UCT_ALLOC_METHOD_MMAP, UCT_ALLOC_METHOD_HEAP};
    char rkey[256];
    unsigned i;

    guard_step = "uct_md_attr_t";
    CHECK_OK(uct_md_query(t->md, attr));
    for (i = 0; i < sizeof(methods) / sizeof(methods[0]); ++i) {
        guard_step = "uct_mem_alloc_params_t or uct_allocated_memory_t";
        params->field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS |
                             UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE | UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                             UCT_MEM_ALLOC_PARAM_FIELD_NAME;
        params->flags = UCT_MD_MEM_ACCESS_ALL;
        params->address = NULL;
        params->mem_type = UCS_MEMORY_TYPE_HOST;
        params->mds.mds = &t->md;
        params->mds.count = 1;
        params->name = "short";
        CHECK_OK(uct_mem_alloc(8192, &methods[i], 1, params, mem));
        CHECK(mem->length >= 8192);
        memset(mem->address, 1, 8192);
        if (methods[i] == UCT_ALLOC_METHOD_MD) {
            guard_step = "uct_rkey_bundle_t";
            CHECK(attr->rkey_packed_size <= sizeof(rkey));
            CHECK_OK(uct_md_mkey_pack(t->md, mem->memh, rkey));
            CHECK_OK(uct_rkey_unpack(t->component, rkey, bundle));
            CHECK_OK(uct_rkey_release(t->component, bundle));
        }
        guard_step = "uct_allocated_memory_t";
        CHECK_OK(uct_mem_free(mem));
    }
    OK("memory domain, allocation, remote key");
}

static void component(transport_t *t)
{
    uct_component_attr_t *attr = guard_alloc("uct_component_attr_t", COMPONENT_ATTR, 0xff);

    attr->field_mask = UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
    CHECK_OK(uct_component_query(t->component, attr));
    CHECK(attr->md_resource_count >= 1);
    OK("component");
}

int main(void)
{
    static const char *const names[] = {"self", "posix", "sysv", "tcp"};
    transport_t t;
    unsigned i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        transport_open(&t, names[i], strcmp(names[i], "tcp") ? NULL : "lo", 0);
        guard_watch();
        component(&t);
        messages(&t, names[i]);
        if (t.md_attr.cap.flags & UCT_MD_FLAG_ALLOC) {
            memory(&t);
        }
        transport_close(&t);
    }
    return 0;
}
