/* Where a memory type matters in uct.h: what each function answers, for both components of NVIDIA's devices. Prints it, on
 * this library and on upstream's; the argument names the component. What is known to differ (docs/COMPATIBILITY.md) and what
 * upstream crashes at on the stand-in, zero copies, is not tried here: memory_domain.c and ipc.c do. Run by tests/cuda. */
#include "../cuda_driver.h"

#include <uct/api/uct.h>

enum { SIZE = 100000 };

static uct_component_h component;
static uct_component_attr_t component_attr;
static uct_md_h md;
static uct_md_attr_t md_attr;
static uct_worker_h worker;
static uct_iface_h iface;
static uct_iface_attr_t attr;
static char host[SIZE], back[SIZE];

static const char *text(ucs_status_t status)
{
    return ucs_status_string(status);
}

/* ---- the domain ---- */

static void open_domain(const char *name)
{
    uct_component_h *all;
    unsigned count, i;
    uct_md_config_t *config;

    CHECK_OK(uct_query_components(&all, &count));
    for (i = 0; i < count; ++i) {
        component_attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT |
                                    UCT_COMPONENT_ATTR_FIELD_FLAGS;
        CHECK_OK(uct_component_query(all[i], &component_attr));
        if (!strcmp(component_attr.name, name)) {
            component = all[i];
            break;
        }
    }
    uct_release_component_list(all);
    CHECK(component != NULL);
    printf("component: %u domains, flags %#lx\n", component_attr.md_resource_count, (unsigned long)component_attr.flags);
    CHECK_OK(uct_md_config_read(component, NULL, NULL, &config));
    CHECK_OK(uct_md_open(component, name, config, &md));
    uct_config_release(config);
    CHECK_OK(uct_md_query(md, &md_attr));
    printf("domain: allocates %#lx, registers %#lx bytes; access %#lx, register %#lx, detect %#lx, allocate %#lx; cost %g + %g\n",
           (unsigned long)md_attr.cap.max_alloc, (unsigned long)md_attr.cap.max_reg,
           (unsigned long)md_attr.cap.access_mem_types, (unsigned long)md_attr.cap.reg_mem_types,
           (unsigned long)md_attr.cap.detect_mem_types, (unsigned long)md_attr.cap.alloc_mem_types,
           md_attr.reg_cost.c, md_attr.reg_cost.m);
}

static void detection(void)
{
    ucs_memory_type_t type = 77;

    printf("detection of a device's: %s\n", text(uct_md_detect_memory_type(md, at(device_memory(100)), 100, &type)));
    printf("of no memory: %s\n", text(uct_md_detect_memory_type(md, NULL, 0, &type)));
    printf("of the host's: %s\n", text(uct_md_detect_memory_type(md, host, 8, &type)));
}

static void allocation(void)
{
    uct_alloc_method_t methods[] = {UCT_ALLOC_METHOD_MD};
    ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED,
                                 UCS_MEMORY_TYPE_ROCM, UCS_MEMORY_TYPE_ROCM_MANAGED};
    unsigned flags[] = {UCT_MD_MEM_ACCESS_ALL, UCT_MD_MEM_ACCESS_ALL | UCT_MD_MEM_FLAG_NONBLOCK,
                        UCT_MD_MEM_ACCESS_ALL | UCT_MD_MEM_FLAG_LOCK};
    size_t lengths[] = {1, 5000}, t, f, l;
    uct_allocated_memory_t memory;
    ucs_status_t status;

    for (t = 0; t < sizeof(types) / sizeof(*types); ++t) {
        for (f = 0; f < sizeof(flags) / sizeof(*flags); ++f) {
            for (l = 0; l < sizeof(lengths) / sizeof(*lengths); ++l) {
                uct_mem_alloc_params_t params = {
                    .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE | UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                                  UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE,
                    .flags = flags[f], .mem_type = types[t], .mds = {.mds = &md, .count = 1},
                    .sys_device = UCS_SYS_DEVICE_ID_UNKNOWN};

                status = uct_mem_alloc(lengths[l], methods, 1, &params, &memory);
                printf("%zu bytes of type %d, flags %#x: %s\n", lengths[l], types[t], flags[f], text(status));
                if (status == UCS_OK) {
                    printf("    %zu bytes, method %d, type %d, device %d, %s\n", memory.length, memory.method,
                           memory.mem_type, memory.sys_device, memory.memh == UCT_MEM_HANDLE_NULL ? "no handle" : "handle");
                    printf("    freed: %s\n", text(uct_mem_free(&memory)));
                }
            }
        }
    }
}

static void reg(const char *what, void *address, size_t length, unsigned flags)
{
    char key[16];
    uct_rkey_bundle_t rkey;
    void *local;
    uct_mem_h memh;
    ucs_status_t status = uct_md_mem_reg(md, address, length, flags, &memh);

    printf("registration of %s, flags %#x: %s", what, flags, text(status));
    if (status == UCS_OK) {
        CHECK(md_attr.rkey_packed_size <= sizeof(key));
        printf(", key of %zu bytes: %s", md_attr.rkey_packed_size, text(uct_md_mkey_pack(md, memh, key)));
        CHECK_OK(uct_rkey_unpack(component, key, &rkey));
        printf(", pointer: %s", text(uct_rkey_ptr(component, &rkey, (uintptr_t)address, &local)));
        CHECK_OK(uct_rkey_release(component, &rkey));
        printf(", advice: %s", text(uct_md_mem_advise(md, memh, address, length, UCT_MADV_WILLNEED)));
        printf(", ended: %s", text(uct_md_mem_dereg(md, memh)));
    }
    putchar('\n');
    fflush(stdout);
}

static void registration(void)
{
    unsigned flags[] = {UCT_MD_MEM_ACCESS_ALL, UCT_MD_MEM_ACCESS_ALL | UCT_MD_MEM_FLAG_NONBLOCK,
                        UCT_MD_MEM_ACCESS_ALL | UCT_MD_MEM_FLAG_HIDE_ERRORS, UCT_MD_MEM_ACCESS_LOCAL_READ,
                        UCT_MD_MEM_ACCESS_REMOTE_GET};
    CUdeviceptr device = device_memory(SIZE), managed = managed_memory(SIZE), pooled;
    void *pinned;
    size_t f;

    CHECK_EQ(cuMemAllocAsync(&pooled, SIZE, NULL), 0);
    CHECK_EQ(cuMemHostAlloc(&pinned, SIZE, 0), 0);
    for (f = 0; f < sizeof(flags) / sizeof(*flags); ++f) {
        reg("device memory", at(device), SIZE, flags[f]);
        reg("a part of it", at(device + 100), 100, flags[f]);
        reg("host memory", host, SIZE, flags[f]);
        reg("managed memory", at(managed), SIZE, flags[f]);
        reg("memory of a pool", at(pooled), SIZE, flags[f]);
        reg("pinned memory", pinned, SIZE, flags[f]);
    }
}

/* ---- the transport ---- */

static void open_transport(void)
{
    uct_tl_resource_desc_t *resources;
    unsigned count, i;
    uct_iface_config_t *config;
    uct_iface_params_t params = {.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
                                 .open_mode = UCT_IFACE_OPEN_MODE_DEVICE};

    CHECK_OK(uct_md_query_tl_resources(md, &resources, &count));
    CHECK(count > 0);
    for (i = 0; i < count; ++i) {
        printf("resource: %s, %s, type %d\n", resources[i].tl_name, resources[i].dev_name, resources[i].dev_type);
    }
    params.mode.device.tl_name = resources[0].tl_name;
    params.mode.device.dev_name = resources[0].dev_name;
    CHECK_OK(uct_md_iface_config_read(md, resources[0].tl_name, NULL, NULL, &config));
    CHECK_OK(uct_iface_open(md, worker, &params, config, &iface));
    uct_config_release(config);
    uct_release_tl_resource_list(resources);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    CHECK_OK(uct_iface_query(iface, &attr));
    /* Ends of peers, and whether there are gets, are known differences of cuda_ipc. */
    attr.cap.flags &= ~(UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE | UCT_IFACE_FLAG_GET_ZCOPY);
    if (md_attr.cap.flags & UCT_MD_FLAG_NEED_RKEY) {
        attr.cap.get.max_zcopy = 0;
    }
    printf("transport: flags %#lx, events %#lx, device address %zu, endpoint address %zu\n",
           (unsigned long)(attr.cap.flags & (UCS_BIT(52) - 1)), (unsigned long)attr.cap.event_flags, attr.device_addr_len,
           attr.ep_addr_len);
    printf("put: short %zu, bcopy %zu, zcopy %zu to %zu, alignment %zu, %zu, entries %zu\n", attr.cap.put.max_short,
           attr.cap.put.max_bcopy, attr.cap.put.min_zcopy, attr.cap.put.max_zcopy, attr.cap.put.opt_zcopy_align,
           attr.cap.put.align_mtu, attr.cap.put.max_iov);
    printf("get: short %zu, bcopy %zu, zcopy %zu to %zu, alignment %zu, %zu, entries %zu\n", attr.cap.get.max_short,
           attr.cap.get.max_bcopy, attr.cap.get.min_zcopy, attr.cap.get.max_zcopy, attr.cap.get.opt_zcopy_align,
           attr.cap.get.align_mtu, attr.cap.get.max_iov);
    printf("messages: %zu %zu %zu, header %zu, entries %zu; atomics %#lx %#lx %#lx %#lx\n", attr.cap.am.max_short,
           attr.cap.am.max_bcopy, attr.cap.am.max_zcopy, attr.cap.am.max_hdr, attr.cap.am.max_iov,
           (unsigned long)attr.cap.atomic32.op_flags, (unsigned long)attr.cap.atomic64.op_flags,
           (unsigned long)attr.cap.atomic32.fop_flags, (unsigned long)attr.cap.atomic64.fop_flags);
    printf("overhead %g, latency %g + %g, bandwidth %g + %g, priority %d, paths %u, endpoints %zu\n", attr.overhead,
           attr.latency.c, attr.latency.m, attr.bandwidth.shared, attr.bandwidth.dedicated, attr.priority, attr.dev_num_paths,
           attr.max_num_eps);
}

static void copies(void)
{
    static const size_t lengths[] = {0, 1, 8, 1000, SIZE};
    uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                                            UCT_EP_PARAM_FIELD_IFACE_ADDR};
    char device_address[64] = "", address[64] = "", other[64] = "";
    CUdeviceptr places[2] = {device_memory(SIZE), managed_memory(SIZE)};
    uct_ep_h ep;
    size_t p, l;

    CHECK(attr.device_addr_len <= sizeof(device_address) && attr.iface_addr_len <= sizeof(address));
    CHECK_OK(uct_iface_get_device_address(iface, (void*)device_address));
    CHECK_OK(uct_iface_get_address(iface, (void*)address));
    printf("reachable: %d, others: %d\n", uct_iface_is_reachable(iface, (void*)device_address, (void*)address),
           uct_iface_is_reachable(iface, (void*)other, (void*)other));
    params.iface = iface;
    params.dev_addr = (void*)device_address;
    params.iface_addr = (void*)address;
    CHECK_OK(uct_ep_create(&params, &ep));
    for (p = 0; p < 2; ++p) {
        for (l = 0; l < sizeof(lengths) / sizeof(*lengths); ++l) {
            memset(host, (int)(l + 3), SIZE);
            memset(back, 0, SIZE);
            printf("place %zu, %zu bytes: put short %s", p, lengths[l],
                   text(uct_ep_put_short(ep, host, lengths[l], places[p], 0)));
            printf(", get short %s", text(uct_ep_get_short(ep, back, lengths[l], places[p], 0)));
            printf("%s\n", memcmp(host, back, lengths[l]) ? ", other bytes" : "");
        }
    }
    printf("flush %s, fence %s", text(uct_ep_flush(ep, 0, NULL)), text(uct_ep_fence(ep, 0)));
    printf(", of all %s, %s\n", text(uct_iface_flush(iface, 0, NULL)), text(uct_iface_fence(iface, 0)));
    uct_ep_destroy(ep);
}

int main(int argc, char **argv)
{
    ucs_async_context_t *async;
    CUcontext context, current;

    CHECK(argc == 2);
    alarm(100);
    context = use_device(0);
    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async));
    CHECK_OK(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    open_domain(argv[1]);
    if (md_attr.cap.detect_mem_types) {
        detection();
    }
    if (md_attr.cap.alloc_mem_types) {
        allocation();
    }
    /* Upstream's cuda_ipc registers anything, and finds out when the key is packed. */
    if (!(md_attr.cap.flags & UCT_MD_FLAG_NEED_RKEY)) {
        registration();
    }
    open_transport();
    if (attr.cap.flags & UCT_IFACE_FLAG_PUT_SHORT) {
        copies();
    }
    uct_iface_close(iface);
    uct_md_close(md);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
    return 0;
}
