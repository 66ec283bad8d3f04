/* The memory domain cuda_cpy: what it can, how it tells memory apart, what it allocates and registers. Prints what UCX
 * prints too, and the transport's attributes; with an argument it also copies, which upstream cannot on the stand-in. Run
 * by tests/cuda on this library and on upstream's. */
#include "../cuda_driver.h"

#include <poll.h>

#include <uct/api/uct.h>

#include <sys/mman.h>

/* No release installs a header for it. */
typedef struct {
    uint64_t field_mask, others[10], dmabuf_mem_types;
} domain_attr_t;

enum { DMABUF_TYPES = 1 << 9 };

ucs_status_t uct_md_query_v2(uct_md_h md, domain_attr_t *attr);

static uct_component_h component;
static uct_md_h md;

static void open_domain(void)
{
    uct_component_h *all;
    unsigned count, i;
    uct_component_attr_t attr;
    uct_md_config_t *config;
    uct_md_attr_t caps;
    domain_attr_t newer = {.field_mask = DMABUF_TYPES};

    CHECK_OK(uct_query_components(&all, &count));
    for (i = 0; i < count; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT |
                          UCT_COMPONENT_ATTR_FIELD_FLAGS;
        CHECK_OK(uct_component_query(all[i], &attr));
        if (!strcmp(attr.name, "cuda_cpy")) {
            component = all[i];
            printf("component: %u domains, flags %#lx\n", attr.md_resource_count, (unsigned long)attr.flags);
        }
    }
    uct_release_component_list(all);
    CHECK(component != NULL);
    CHECK_OK(uct_md_config_read(component, NULL, NULL, &config));
    CHECK_OK(uct_md_open(component, "cuda_cpy", config, &md));
    uct_config_release(config);
    CHECK_OK(uct_md_query(md, &caps));
    printf("domain: flags %#lx, allocates %#lx, registers %#lx bytes; access %#lx, register %#lx, detect %#lx, "
           "allocate %#lx; key %zu bytes, cost %g + %g\n",
           (unsigned long)caps.cap.flags, (unsigned long)caps.cap.max_alloc, (unsigned long)caps.cap.max_reg,
           (unsigned long)caps.cap.access_mem_types, (unsigned long)caps.cap.reg_mem_types,
           (unsigned long)caps.cap.detect_mem_types, (unsigned long)caps.cap.alloc_mem_types, caps.rkey_packed_size,
           caps.reg_cost.c, caps.reg_cost.m);
    CHECK_OK(uct_md_query_v2(md, &newer));
    printf("dmabufs: types %#lx\n", (unsigned long)newer.dmabuf_mem_types);
}

/* What both functions tell of memory. */
static void tell(const char *name, const void *address, size_t length)
{
    ucs_memory_type_t type = 77;
    ucs_status_t status = uct_md_detect_memory_type(md, address, length, &type);
    uct_md_mem_attr_t attr;
    ucs_status_t other;

    printf("%s: %s", name, ucs_status_string(status));
    memset(&attr, 0x55, sizeof(attr));
    attr.field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE | UCT_MD_MEM_ATTR_FIELD_SYS_DEV |
                      UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS | UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH;
    other = uct_md_mem_query(md, address, length, &attr);
    CHECK_EQ(other, status);
    if (status == UCS_OK) {
        CHECK_EQ(attr.mem_type, type);
        printf(", type %d, device %d, allocation of %zu bytes at %+td", (int)type, (int)attr.sys_dev,
               attr.alloc_length, (char*)attr.base_address - (char*)address);
    } else {
        CHECK_EQ(type, 77);
        CHECK_EQ(attr.mem_type, 0x55555555);
    }
    memset(&attr, 0x55, sizeof(attr));
    attr.field_mask = UCT_MD_MEM_ATTR_FIELD_DMABUF_FD | UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET;
    CHECK_EQ(uct_md_mem_query(md, address, length, &attr), status);
    CHECK_EQ(attr.mem_type, 0x55555555);
    if (status == UCS_OK) {
        printf(attr.dmabuf_fd == -1 ? ", no dmabuf" : ", dmabuf + %zu", attr.dmabuf_offset);
        CHECK((attr.dmabuf_fd == -1) || (close(attr.dmabuf_fd) == 0));
    }
    putchar('\n');
}

/* Memory of one type after memory of another at the same address: what was remembered is of the past. */
static void same_address(void)
{
    enum { LENGTH = 1 << 20, ROUNDS = 8 };
    CUdeviceptr device;
    char *host;
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        device = device_memory(LENGTH);
        tell("device memory", at(device), 10);
        CHECK_EQ(cuMemFree_v2(device), 0);
        /* NVIDIA's driver keeps its addresses. */
        host = mmap(at(device), LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (host != MAP_FAILED) {
            CHECK(host == at(device));
            tell("host memory in its place", host, 10);
            munmap(host, LENGTH);
        }
        device = managed_memory(LENGTH);
        tell("managed memory", at(device), 10);
        CHECK_EQ(cuMemFree_v2(device), 0);
    }
}

static ucs_status_t allocate(ucs_memory_type_t type, uct_allocated_memory_t *memory)
{
    uct_alloc_method_t methods[] = {UCT_ALLOC_METHOD_THP, UCT_ALLOC_METHOD_HEAP, UCT_ALLOC_METHOD_MD};
    uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE | UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                      UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_NAME,
        .flags = UCT_MD_MEM_ACCESS_ALL, .mem_type = type, .mds = {.mds = &md, .count = 1}, .name = "test"};

    return uct_mem_alloc(5000, methods, 3, &params, memory);
}

static void allocation(void)
{
    ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED};
    uct_allocated_memory_t memory;
    int i;

    for (i = 0; i < 2; ++i) {
        CHECK_OK(allocate(types[i], &memory));
        printf("allocated: %zu bytes, method %d, type %d\n", memory.length, memory.method, memory.mem_type);
        tell("allocated memory", memory.address, 8);
        CHECK_OK(uct_mem_free(&memory));
        tell("freed memory", memory.address, 8);
    }
}

static void registration(void)
{
    static char host[100000];
    CUdeviceptr device = device_memory(1000);
    uct_mem_h handle;

    CHECK_OK(uct_md_mem_reg(md, at(device), 1000, UCT_MD_MEM_ACCESS_ALL, &handle));
    CHECK_OK(uct_md_mem_dereg(md, handle));
    CHECK_OK(uct_md_mem_reg(md, host, sizeof(host), UCT_MD_MEM_ACCESS_ALL, &handle));
    /* Pinned memory is the host's. */
    tell("pinned host memory", host, 100);
    CHECK_OK(uct_md_mem_dereg(md, handle));
    CHECK_EQ(cuMemFree_v2(device), 0);
}

/* Who sleeps is woken by the ends of copies, whether they were started before the event was armed or after. */
static void woken(uct_iface_h iface, uct_worker_h worker, uct_ep_h ep, uct_iov_t *iov, CUdeviceptr device)
{
    enum { ROUNDS = 200 };
    struct pollfd poll_fd = {.events = POLLIN};
    uct_completion_t completion;
    ucs_status_t status;
    unsigned round, slept = 0;
    int early;

    CHECK_OK(uct_iface_event_fd_get(iface, &poll_fd.fd));
    CHECK_OK(uct_iface_event_arm(iface, UCT_EVENT_SEND_COMP));
    CHECK_EQ(poll(&poll_fd, 1, 0), 0);
    uct_worker_progress(worker);
    for (round = 0; round < ROUNDS; ++round) {
        early = round % 2;
        completion = (uct_completion_t){.count = 1};
        if (early) {
            CHECK_OK(uct_iface_event_arm(iface, UCT_EVENT_SEND_COMP));
        }
        CHECK_EQ(uct_ep_put_zcopy(ep, iov, 1, device, 0, &completion), UCS_INPROGRESS);
        while (completion.count > 0) {
            status = early ? UCS_OK : uct_iface_event_arm(iface, UCT_EVENT_SEND_COMP);
            early = 0;
            if (status == UCS_OK) {
                if (poll(&poll_fd, 1, 5000) != 1) {
                    FAIL("round %u: nobody woke the sleeper", round);
                }
                ++slept;
            } else {
                CHECK_EQ(status, UCS_ERR_BUSY);
            }
            uct_worker_progress(worker);
        }
        CHECK_OK(completion.status);
    }
    CHECK(slept >= ROUNDS / 2);
}

static void copies(uct_iface_h iface, uct_worker_h worker)
{
    char address[8];
    uct_ep_params_t ep_params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                                               UCT_EP_PARAM_FIELD_IFACE_ADDR};
    uct_ep_h ep;
    char bytes[100] = "bytes that go to a device and come back", back[100] = "";
    CUdeviceptr device = device_memory(sizeof(bytes));
    uct_completion_t completion = {.count = 1};
    uct_iov_t iov = {.buffer = bytes, .length = sizeof(bytes), .count = 1};
    ucs_status_t status;

    CHECK_OK(uct_iface_get_address(iface, (void*)address));
    CHECK(uct_iface_is_reachable(iface, (void*)address, (void*)address));
    ep_params.iface = iface;
    ep_params.dev_addr = (void*)address;
    ep_params.iface_addr = (void*)address;
    CHECK_OK(uct_ep_create(&ep_params, &ep));
    CHECK_OK(uct_ep_put_short(ep, bytes, 50, device, 0));
    CHECK_OK(uct_ep_get_short(ep, back, 50, device, 0));
    CHECK(!memcmp(bytes, back, 50));
    status = uct_ep_put_zcopy(ep, &iov, 1, device, 0, &completion);
    CHECK_EQ(status, UCS_INPROGRESS);
    while (completion.count > 0) {
        uct_worker_progress(worker);
    }
    CHECK_OK(completion.status);
    woken(iface, worker, ep, &iov, device);
    CHECK_OK(uct_ep_flush(ep, 0, NULL));
    CHECK_EQ(cuMemcpyDtoH_v2(back, device, sizeof(back)), 0);
    CHECK(!memcmp(bytes, back, sizeof(back)));
    CHECK_EQ(uct_ep_am_short(ep, 0, 0, bytes, 8), UCS_ERR_UNSUPPORTED);
    uct_ep_destroy(ep);
    CHECK_EQ(cuMemFree_v2(device), 0);
}

static void transport(int with_copies)
{
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_iface_config_t *config;
    uct_iface_params_t params = {.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
                                 .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
                                 .mode.device = {.tl_name = "cuda_copy", .dev_name = "cuda"}};
    uct_iface_h iface;
    uct_iface_attr_t attr;

    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async));
    CHECK_OK(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    CHECK_OK(uct_md_iface_config_read(md, "cuda_copy", NULL, NULL, &config));
    CHECK_OK(uct_iface_open(md, worker, &params, config, &iface));
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    CHECK_OK(uct_iface_query(iface, &attr));
    printf("transport: flags %#lx events %#lx, put %zu %zu, get %zu %zu, latency %g, bandwidth %g + %g, addresses %zu %zu\n",
           (unsigned long)attr.cap.flags, (unsigned long)attr.cap.event_flags, attr.cap.put.max_short, attr.cap.put.max_zcopy, attr.cap.get.max_short,
           attr.cap.get.max_zcopy, attr.latency.c, attr.bandwidth.shared, attr.bandwidth.dedicated, attr.device_addr_len,
           attr.iface_addr_len);
    if (with_copies) {
        copies(iface, worker);
    }
    uct_iface_close(iface);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
}

/* Memory that is mapped in steps, and of pools: by whatever handle others open it. */
static void other_kinds(void)
{
    static const int handles[] = {HANDLE_NONE, HANDLE_FILE, HANDLE_FABRIC, HANDLE_FILE | HANDLE_FABRIC};
    CUmemoryPool pool;
    CUdeviceptr memory;
    unsigned flags;
    int i;

    for (i = 0; i < 4; ++i) {
        /* By bytes only where the driver has a fabric. */
        if ((handles[i] & HANDLE_FABRIC) && !getenv("FABRIC")) {
            continue;
        }
        memory = memory_in_steps(2, handles[i]);
        printf("handles %d\n", handles[i]);
        tell("memory in steps", at(memory), 100);
        tell("in its second step", at(memory + STEP + 100), 100);
        tell("a whole step", at(memory), STEP);
        /* Its copies wait for their end, as those of other memory. */
        CHECK_EQ(cuCtxGetFlags(&flags), 0);
        CHECK(flags & CU_CTX_SYNC_MEMOPS);
        free_steps(memory, 2);
        tell("that was freed", at(memory), 100);
        pool = pool_with(handles[i]);
        memory = memory_of_pool(pool, 10000);
        tell("memory of a pool", at(memory + 8), 100);
        CHECK_EQ(cuMemFree_v2(memory), 0);
        CHECK_EQ(cuMemPoolDestroy(pool), 0);
    }
}

int main(int argc, char **argv)
{
    CUdeviceptr device, managed, pooled, large;
    unsigned synchronous = 0, flags;
    CUcontext context, current;
    void *pinned;
    char local;

    open_domain();
    tell("host memory", &local, 1);
    tell("nothing", NULL, 0);
    context = use_device(0);
    tell("host memory", &local, 1);
    device = device_memory(10000);
    managed = managed_memory(10000);
    large = device_memory(200 << 20);
    CHECK_EQ(cuMemAllocAsync(&pooled, 10000, NULL), 0);
    CHECK_EQ(cuMemHostAlloc(&pinned, 10000, 0), 0);
    tell("device memory", at(device), 100);
    CHECK_EQ(cuPointerGetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device), 0);
    CHECK_EQ(cuCtxGetFlags(&flags), 0);
    CHECK(synchronous == 1 || (flags & CU_CTX_SYNC_MEMOPS));
    tell("in it", at(device + 100), 100);
    tell("beyond it", at(device + 100), 100000);
    tell("no byte of it", at(device), 0);
    tell("a large allocation", at(large + 4096), 100);
    tell("managed memory", at(managed + 8), 100);
    tell("memory of a pool", at(pooled + 8), 100);
    tell("pinned memory", pinned, 100);
    other_kinds();
    same_address();
    allocation();
    registration();
    transport(argc > 1);
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
    uct_md_close(md);
    CHECK_EQ(cuMemFree_v2(device), 0);
    CHECK_EQ(cuMemFree_v2(managed), 0);
    CHECK_EQ(cuMemFree_v2(large), 0);
    CHECK_EQ(cuMemFree_v2(pooled), 0);
    CHECK_EQ(cuMemFreeHost(pinned), 0);
    puts("ok memory_domain");
    return 0;
}
