/* What both libraries answer where an argument is at its limit or wrong: each mask of fields, ranges that begin in an
 * allocation and end behind it, in the next one or nowhere, no bytes, freed memory, types and devices that are not there.
 * Prints it, on this library and on upstream's; the argument names the part. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

#include <pthread.h>
#include <uct/api/uct.h>

enum { SIZE = 16384 };

static const char *text(ucs_status_t status)
{
    return ucs_status_string(status);
}

/* ---- ranges ---- */

typedef struct {
    char name[100];
    char *at;
    size_t length;
} range_t;

static range_t ranges[200];
static int range_count;
static char host[SIZE];

static void add(const char *what, char *at, size_t length)
{
    range_t *range = &ranges[range_count++];

    CHECK(range_count <= (int)(sizeof(ranges) / sizeof(*ranges)));
    snprintf(range->name, sizeof(range->name), "%s", what);
    range->at = at;
    range->length = length;
}

/* Parts of an allocation, and what is not all in it. */
static void add_parts(const char *what, char *base, int goes_beyond)
{
    static const struct {
        size_t from, length;
    } parts[] = {{0, SIZE},    {0, 1},     {0, 0},           {100, 100},       {SIZE - 1, 1},
                 {SIZE - 1, 0}, {0, SIZE + 1}, {SIZE / 2, SIZE}, {SIZE - 1, 2}};
    char name[100];
    size_t i;

    for (i = 0; i < sizeof(parts) / sizeof(*parts); ++i) {
        if (parts[i].from + parts[i].length <= SIZE || goes_beyond) {
            snprintf(name, sizeof(name), "%s, %zu bytes at %zu", what, parts[i].length, parts[i].from);
            add(name, base + parts[i].from, parts[i].length);
        }
    }
}

/* The last bytes of one allocation, behind which another one follows. */
static char *neighbours(void)
{
    return at(memory_in_steps(2, HANDLE_NONE) + STEP - SIZE);
}

static void find_ranges(int goes_beyond)
{
    CUdeviceptr pooled, freed = device_memory(SIZE);
    void *pinned;

    CHECK_EQ(cuMemAllocAsync(&pooled, SIZE, NULL), 0);
    CHECK_EQ(cuMemHostAlloc(&pinned, SIZE, 0), 0);
    add_parts("device memory", at(device_memory(SIZE)), goes_beyond);
    add_parts("managed memory", at(managed_memory(SIZE)), goes_beyond);
    add_parts("memory of a pool", at(pooled), goes_beyond);
    add_parts("memory in steps", at(memory_in_steps(2, HANDLE_NONE)), 0);
    add_parts("host memory", host, 0);
    add_parts("pinned memory", pinned, 0);
    if (goes_beyond) {
        CHECK_EQ(cuMemFree_v2(freed), 0);
        add("freed memory", at(freed), 100);
        add("no memory", NULL, 0);
        add("bytes at no address", NULL, 100);
        add("the first page", (char*)8, 8);
    }
}

/* ---- the domain ---- */

static uct_component_h component;
static uct_md_h md;

static void open_domain(const char *name)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *all;
    uct_md_config_t *config;
    unsigned count, i;

    CHECK_OK(uct_query_components(&all, &count));
    for (i = 0; i < count; ++i) {
        CHECK_OK(uct_component_query(all[i], &attr));
        if (!strcmp(attr.name, name)) {
            component = all[i];
        }
    }
    uct_release_component_list(all);
    CHECK(component != NULL);
    CHECK_OK(uct_md_config_read(component, NULL, NULL, &config));
    CHECK_OK(uct_md_open(component, name, config, &md));
    uct_config_release(config);
}

/* What upstream's tools ask: no header declares it. */
typedef struct {
    uint64_t field_mask, max_alloc, max_reg, flags, reg_mem_types, reg_nonblock_mem_types, cache_mem_types, gva_mem_types,
        detect_mem_types, alloc_mem_types, access_mem_types, dmabuf_mem_types;
    ucs_linear_func_t reg_cost;
    char component_name[16];
    size_t rkey_packed_size;
    ucs_cpu_set_t local_cpus;
    size_t exported_mkey_packed_size;
    char global_id[256];
    size_t reg_alignment;
    uint8_t reg_mem_flags;
} attr_v2_t;

ucs_status_t uct_md_query_v2(uct_md_h of, attr_v2_t *attr);

static void attributes(void)
{
    attr_v2_t attr;
    int bit;

    for (bit = 0; bit < 19; ++bit) {
        memset(&attr, 0x55, sizeof(attr));
        attr.field_mask = 1ul << bit;
        printf("member %d: %s", bit, text(uct_md_query_v2(md, &attr)));
        switch (bit) {
        case 0: printf(", %#lx", attr.max_alloc); break;
        case 1: printf(", %#lx", attr.max_reg); break;
        /* What is known to differ is compared by uct_api.c. */
        case 2: break;
        case 3: printf(", %#lx", attr.reg_mem_types); break;
        case 4: printf(", %#lx", attr.reg_nonblock_mem_types); break;
        case 5: printf(", %#lx", attr.cache_mem_types); break;
        case 6: printf(", %#lx", attr.detect_mem_types); break;
        case 7: printf(", %#lx", attr.alloc_mem_types); break;
        case 8: printf(", %#lx", attr.access_mem_types); break;
        case 9: printf(", %#lx", attr.dmabuf_mem_types); break;
        case 10: printf(", %g + %g", attr.reg_cost.c, attr.reg_cost.m); break;
        case 11: printf(", %s", attr.component_name); break;
        case 14: printf(", %zu", attr.exported_mkey_packed_size); break;
        case 16: printf(", %zu", attr.reg_alignment); break;
        case 17: printf(", %#lx", attr.gva_mem_types); break;
        case 18: printf(", %#x", attr.reg_mem_flags); break;
        default: break;
        }
        putchar('\n');
    }
}

/* Which members were written, and what to. */
static void query(const range_t *range, uint64_t mask)
{
    uct_md_mem_attr_t attr;
    ucs_status_t status;

    memset(&attr, 0x55, sizeof(attr));
    attr.field_mask = mask;
    status = uct_md_mem_query(md, range->at, range->length, &attr);
    printf("    mask %#lx: %s", (unsigned long)mask, text(status));
    if (attr.mem_type != 0x55555555) {
        printf(", type %d", (int)attr.mem_type);
    }
    if (attr.sys_dev != 0x55) {
        printf(", device %d", (int)attr.sys_dev);
    }
    if ((uintptr_t)attr.base_address != 0x5555555555555555ull) {
        printf(", base %+td", (char*)attr.base_address - range->at);
    }
    if (attr.alloc_length != 0x5555555555555555ull) {
        printf(", length %zu", attr.alloc_length);
    }
    if (attr.dmabuf_fd != 0x55555555) {
        printf(", %s", attr.dmabuf_fd < 0 ? "no dmabuf" : "dmabuf");
        if (attr.dmabuf_fd >= 0) {
            close(attr.dmabuf_fd);
        }
    }
    if (attr.dmabuf_offset != 0x5555555555555555ull) {
        printf(", offset %zu", attr.dmabuf_offset);
    }
    putchar('\n');
    fflush(stdout);
}

static void memory(void)
{
    ucs_memory_type_t type;
    ucs_status_t status;
    int i, bit;

    for (i = 0; i < range_count; ++i) {
        type = 77;
        status = uct_md_detect_memory_type(md, ranges[i].at, ranges[i].length, &type);
        printf("%s: %s, type %d\n", ranges[i].name, text(status), (int)type);
        for (bit = 0; bit < 6; ++bit) {
            query(&ranges[i], 1ul << bit);
        }
        query(&ranges[i], 0);
        query(&ranges[i], 0x3f);
        query(&ranges[i], 0x7);
        query(&ranges[i], 1ul << 20 | 1);
    }
}

static void registration(void)
{
    static const unsigned flags[] = {UCT_MD_MEM_ACCESS_ALL, UCT_MD_MEM_ACCESS_ALL | UCT_MD_MEM_FLAG_HIDE_ERRORS,
                                     UCT_MD_MEM_ACCESS_LOCAL_READ, UCT_MD_MEM_ACCESS_RMA,
                                     UCT_MD_MEM_ACCESS_ALL | UCT_MD_MEM_FLAG_LOCK};
    ucs_status_t status;
    uct_mem_h memh;
    int i, f;

    for (i = 0; i < range_count; ++i) {
        for (f = 0; f < (int)(sizeof(flags) / sizeof(*flags)); ++f) {
            memh = NULL;
            status = uct_md_mem_reg(md, ranges[i].at, ranges[i].length, flags[f], &memh);
            printf("%s, flags %#x: %s", ranges[i].name, flags[f], text(status));
            if (status == UCS_OK) {
                printf(", ended %s", text(uct_md_mem_dereg(md, memh)));
            }
            putchar('\n');
            fflush(stdout);
        }
    }
}

static void allocation(int device_is_seen)
{
    static const uct_alloc_method_t methods[] = {UCT_ALLOC_METHOD_MD};
    static const ucs_sys_device_t devices[] = {0, 1, UCS_SYS_DEVICE_ID_UNKNOWN};
    static const ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED};
    static const size_t lengths[] = {0, 1, 4097, 1ul << 50};
    uct_allocated_memory_t allocated;
    ucs_status_t status;
    size_t t, l, d;
    int with_domain;
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_SYS_DEV};

    /* To upstream, devices have numbers once they were seen. */
    if (!device_is_seen) {
        CHECK_OK(uct_md_mem_query(md, at(device_memory(SIZE)), SIZE, &attr));
    }
    for (t = 0; t < sizeof(types) / sizeof(*types); ++t) {
        for (l = 0; l < sizeof(lengths) / sizeof(*lengths); ++l) {
            for (d = 0; d < sizeof(devices) / sizeof(*devices); ++d) {
                for (with_domain = 0; with_domain < 2; ++with_domain) {
                    uct_mem_alloc_params_t params = {
                        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE | UCT_MEM_ALLOC_PARAM_FIELD_FLAGS |
                                      UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE |
                                      (with_domain ? UCT_MEM_ALLOC_PARAM_FIELD_MDS : 0),
                        .flags = UCT_MD_MEM_ACCESS_ALL | UCT_MD_MEM_FLAG_HIDE_ERRORS,
                        .mem_type = types[t],
                        .mds = {.mds = &md, .count = with_domain},
                        .sys_device = devices[d]};

                    /* What cannot be had has a status of its own here: docs/COMPATIBILITY.md. */
                    if (types[t] == UCS_MEMORY_TYPE_CUDA_MANAGED && lengths[l] == 1ul << 50) {
                        continue;
                    }
                    status = uct_mem_alloc(lengths[l], methods, 1, &params, &allocated);
                    printf("%zu bytes of type %d, device %d, %s: %s", lengths[l], types[t], devices[d],
                           with_domain ? "domain" : "no domain", text(status));
                    if (status == UCS_OK) {
                        printf(", %zu bytes, type %d, device %d, freed %s", allocated.length, allocated.mem_type,
                               allocated.sys_device, text(uct_mem_free(&allocated)));
                    }
                    putchar('\n');
                    fflush(stdout);
                }
            }
        }
    }
}

/* No context is current on this thread. */
static void *without_context(void *arg)
{
    memory();
    allocation(1);
    return NULL;
}

/* ---- UCP ---- */

static side_t side;
static ucp_ep_h ep;

static ucs_status_t ended(ucs_status_ptr_t request)
{
    return request_wait(side.worker, side.worker, request);
}

static void handle(ucp_mem_h memh, const range_t *range)
{
    ucp_mem_attr_t attr;
    ucs_status_t status;
    int bit;

    for (bit = 0; bit < 4; ++bit) {
        memset(&attr, 0x55, sizeof(attr));
        attr.field_mask = bit < 3 ? 1ul << bit : 0;
        status = ucp_mem_query(memh, &attr);
        printf(" %s", text(status));
        if (attr.mem_type != 0x55555555) {
            printf(" type %d", (int)attr.mem_type);
        }
        /* A handle may hold more than was asked for: whole pages, or what was mapped before. */
        if ((uintptr_t)attr.address != 0x5555555555555555ull) {
            printf(" %s", (char*)attr.address <= range->at ? "begins" : "begins later");
        }
        if (attr.length != 0x5555555555555555ull) {
            printf(" %s", attr.length >= range->length ? "long" : "short");
        }
    }
}

static void mapping(void)
{
    static const ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_UNKNOWN, UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED};
    ucp_mem_map_params_t params;
    ucs_status_t status;
    ucp_mem_h memh;
    int i, t;

    for (i = 0; i < range_count; ++i) {
        for (t = 0; t < 4; ++t) {
            params = (ucp_mem_map_params_t){.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                          UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                          (t ? UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE : 0),
                                            .address = ranges[i].at,
                                            .length = ranges[i].length,
                                            .memory_type = t ? types[t - 1] : UCS_MEMORY_TYPE_HOST};
            printf("%s", ranges[i].name);
            if (t) {
                printf(" as type %d", types[t - 1]);
            }
            status = ucp_mem_map(side.context, &params, &memh);
            printf(": %s", text(status));
            if (status == UCS_OK) {
                if (ranges[i].length > 0) {
                    handle(memh, &ranges[i]);
                }
                printf(", ended %s", text(ucp_mem_unmap(side.context, memh)));
            }
            putchar('\n');
            fflush(stdout);
        }
    }
}

/* Parts of two allocations that lie side by side are two blocks for the device, and one for the program. */
static void across(void)
{
    static const ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_UNKNOWN, UCS_MEMORY_TYPE_CUDA};
    static char sent[2 * SIZE], got[2 * SIZE];
    char *lower = neighbours();
    size_t i, k, t;
    static const struct {
        size_t from, length;
    } parts[] = {{0, SIZE}, {SIZE, SIZE}, {SIZE - 1, 1}, {100, 0}, {17, 5000}};

    for (i = 0; i < sizeof(parts) / sizeof(*parts); ++i) {
        for (t = 0; t < 2; ++t) {
            ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE, .memory_type = types[t]},
                                of_host = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                           .memory_type = UCS_MEMORY_TYPE_HOST};
            ucp_request_attr_t attr = {.field_mask = UCP_REQUEST_ATTR_FIELD_MEM_TYPE};
            ucs_status_ptr_t s, r;

            for (k = 0; k < parts[i].length; ++k) {
                sent[k] = (char)number();
            }
            memset(got, 0, sizeof(got));
            if (parts[i].length > 0) {
                CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)lower + parts[i].from, sent, parts[i].length), 0);
            }
            r = ucp_tag_recv_nbx(side.worker, got, parts[i].length, i, -1, &of_host);
            printf("%zu bytes at %zu as type %d", parts[i].length, parts[i].from, types[t]);
            if (UCS_PTR_IS_PTR(r)) {
                CHECK_OK(ucp_request_query(r, &attr));
                printf(", into type %d", attr.mem_type);
            }
            s = ucp_tag_send_nbx(ep, lower + parts[i].from, parts[i].length, i, &param);
            printf(": %s", text(ended(s)));
            printf(", %s, %s\n", text(ended(r)), memcmp(sent, got, parts[i].length) ? "other bytes" : "the same");
            fflush(stdout);
        }
    }
}

/* What memory of the host costs where there is a device: nothing where the hint says so, and else one question for each
 * buffer. Of this library alone. */
static void looks(void)
{
    static const ucp_request_param_t none;
    static const ucp_request_param_t hint = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                             .memory_type = UCS_MEMORY_TYPE_HOST};
    static const size_t lengths[] = {0, 8, 5000, 1 << 20};
    static char from[1 << 20], to[1 << 20];
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = to, .length = sizeof(to)};
    const ucp_request_param_t *param;
    ucs_status_ptr_t r, s;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *packed;
    long before, after;
    size_t i, size;
    int given, way;

    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    for (given = 0; given < 2; ++given) {
        param = given ? &hint : &none;
        for (i = 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
            for (way = 0; way < 3; ++way) {
                before = fake_cuda_calls(NULL);
                if (way == 0) {
                    r = ucp_tag_recv_nbx(side.worker, to, lengths[i], 3, -1, param);
                    s = ucp_tag_send_nbx(ep, from, lengths[i], 3, param);
                    CHECK_OK(ended(s));
                    CHECK_OK(ended(r));
                } else if (way == 1) {
                    CHECK_OK(ended(ucp_put_nbx(ep, from, lengths[i], (uintptr_t)to, rkey, param)));
                } else {
                    CHECK_OK(ended(ucp_get_nbx(ep, from, lengths[i], (uintptr_t)to, rkey, param)));
                }
                after = fake_cuda_calls(NULL);
                CHECK(after - before <= (given ? 0 : way == 0 ? 2 : 1));
            }
        }
    }
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    OK("looks");
}

int main(int argc, char **argv)
{
    static const ucp_request_param_t none;
    CUcontext context, current;

    CHECK(argc == 3);
    alarm(100);
    context = use_device(0);
    if (strcmp(argv[1], "any")) {
        open_domain(argv[1]);
    } else {
        side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
        ep = side_connect(&side, side.address);
    }
    if (!strcmp(argv[2], "memory")) {
        find_ranges(1);
        memory();
    } else if (!strcmp(argv[2], "registration")) {
        find_ranges(0);
        registration();
    } else if (!strcmp(argv[2], "thread")) {
        pthread_t thread;

        find_ranges(1);
        CHECK_EQ(pthread_create(&thread, NULL, without_context, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
    } else if (!strcmp(argv[2], "attributes")) {
        attributes();
    } else if (!strcmp(argv[2], "allocation")) {
        allocation(0);
    } else if (!strcmp(argv[2], "looks")) {
        looks();
    } else {
        find_ranges(0);
        mapping();
        across();
    }
    if (md) {
        uct_md_close(md);
    } else {
        CHECK_OK(ended(ucp_ep_close_nbx(ep, &none)));
        side_close(&side);
    }
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
    return 0;
}
