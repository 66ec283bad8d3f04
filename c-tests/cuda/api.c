/* Where a memory type matters in ucp.h: what each function answers for memory of each place. Prints it, on this library
 * and on upstream's; the argument names the part. What is known to differ is not tried here: docs/COMPATIBILITY.md has it.
 * Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

enum { SIZE = 200000 };

enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
                UCP_FEATURE_AMO64 | UCP_FEATURE_EXPORTED_MEMH };

/* ---- places ---- */

typedef enum { HOST, PINNED, DEVICE, MANAGED, POOLED, PLACES } place_t;

static const char *place_names[] = {"host", "pinned", "device", "managed", "pool"};
static const ucs_memory_type_t place_types[] = {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA,
                                                UCS_MEMORY_TYPE_CUDA_MANAGED, UCS_MEMORY_TYPE_CUDA_MANAGED};

static side_t side;
static ucp_ep_h ep;
static char sent[SIZE], got[SIZE];

static char *allocate(place_t place, size_t size)
{
    CUdeviceptr address = 0;
    void *host = NULL;

    switch (place) {
    case HOST: host = calloc(1, size); CHECK(host != NULL); return host;
    case PINNED: CHECK_EQ(cuMemHostAlloc(&host, size, 0), 0); return host;
    case DEVICE: return at(device_memory(size));
    case MANAGED: return at(managed_memory(size));
    default: CHECK_EQ(cuMemAllocAsync(&address, size, NULL), 0); return at(address);
    }
}

static void release(place_t place, void *memory)
{
    switch (place) {
    case HOST: free(memory); return;
    case PINNED: CHECK_EQ(cuMemFreeHost(memory), 0); return;
    default: CHECK_EQ(cuMemFree_v2((uintptr_t)memory), 0);
    }
}

static void store(place_t place, void *memory, const void *bytes, size_t size)
{
    if (place == HOST) {
        memcpy(memory, bytes, size);
    } else {
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)memory, bytes, size), 0);
    }
}

static void load(place_t place, const void *memory, void *bytes, size_t size)
{
    if (place == HOST) {
        memcpy(bytes, memory, size);
    } else {
        CHECK_EQ(cuMemcpyDtoH_v2(bytes, (uintptr_t)memory, size), 0);
    }
}

/* Whether processors do not reach it. */
static int is_far(place_t place)
{
    return place == DEVICE || place == POOLED;
}

static const char *text(ucs_status_t status)
{
    return ucs_status_string(status);
}

static ucs_status_t ended(ucs_status_ptr_t request)
{
    return request_wait(side.worker, side.worker, request);
}

/* ---- attributes ---- */

static void attributes(void)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES | UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE};
    int i;

    CHECK_OK(ucp_context_query(side.context, &attr));
    printf("memory types %#lx, counters of %zu\n", (unsigned long)attr.memory_types, attr.device_counter_size);
    for (i = 0; ucs_memory_type_names[i] != NULL; ++i) {
        printf("type %d: %s\n", i, ucs_memory_type_names[i]);
    }
}

/* ---- memory handles ---- */

static void handle(ucp_mem_h memh, const void *given, size_t length, int is_told)
{
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH |
                                         UCP_MEM_ATTR_FIELD_MEM_TYPE};
    ucp_mem_advise_params_t advise = {.field_mask = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS |
                                                    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                                                    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE,
                                      .advice = UCP_MADV_NORMAL};
    ucp_memh_pack_params_t pack = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS, .flags = UCP_MEMH_PACK_FLAG_EXPORT};
    ucs_status_t status;
    void *packed, *pointer;
    ucp_rkey_h rkey;
    size_t size;

    CHECK_OK(ucp_mem_query(memh, &attr));
    printf("    type %d", attr.mem_type);
    if (length == 0) {
        CHECK_EQ(attr.length, 0);
        putchar('\n');
        return;
    }
    CHECK(attr.length >= length);
    printf(", %s", given && attr.address != given ? "elsewhere" : "there");
    advise.address = attr.address;
    advise.length = attr.length;
    printf("; advise: %s", text(ucp_mem_advise(side.context, memh, &advise)));
    advise.advice = UCP_MADV_WILLNEED;
    printf(", %s", text(ucp_mem_advise(side.context, memh, &advise)));
    status = ucp_rkey_pack(side.context, memh, &packed, &size);
    printf("; key: %s", text(status));
    if (status == UCS_OK) {
        status = ucp_ep_rkey_unpack(ep, packed, &rkey);
        printf(", %s", text(status));
        /* To upstream, memory whose type is told is the processor's too. */
        if (status == UCS_OK && (!is_told || attr.mem_type == UCS_MEMORY_TYPE_HOST)) {
            status = ucp_rkey_ptr(rkey, (uintptr_t)attr.address, &pointer);
            printf(", pointer: %s", text(status));
            printf(status == UCS_OK && pointer != attr.address ? " elsewhere" : "");
        }
        ucp_rkey_destroy(rkey);
        ucp_rkey_buffer_release(packed);
    }
    status = ucp_memh_pack(memh, &pack, &packed, &size);
    printf("; pack: %s", text(status));
    if (status == UCS_OK) {
        ucp_memh_buffer_release(packed, NULL);
    }
    putchar('\n');
}

static void map(const char *what, ucp_mem_map_params_t *params)
{
    ucp_mem_h memh = NULL;
    ucs_status_t status = ucp_mem_map(side.context, params, &memh);

    printf("%s: %s\n", what, text(status));
    if (status == UCS_OK) {
        handle(memh, params->field_mask & UCP_MEM_MAP_PARAM_FIELD_ADDRESS ? params->address : NULL, params->length,
               params->field_mask & UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE && !(params->flags & UCP_MEM_MAP_ALLOCATE));
        printf("    unmap: %s\n", text(ucp_mem_unmap(side.context, memh)));
    }
    fflush(stdout);
}

/* Numbers that were "unknown" in releases before 1.22 are so for this library. */
static const ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED,
                                          UCS_MEMORY_TYPE_UNKNOWN};

static void mapping(void)
{
    enum { LENGTH = 10000 };
    ucp_mem_map_params_t params;
    char name[100], *memory;
    place_t place;
    size_t i;

    for (place = HOST; place < PLACES; ++place) {
        memory = allocate(place, LENGTH);
        params = (ucp_mem_map_params_t){.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                        .address = memory, .length = LENGTH};
        snprintf(name, sizeof(name), "%s memory", place_names[place]);
        map(name, &params);
        params.address = memory + 4;
        params.length = 100;
        snprintf(name, sizeof(name), "a part of %s memory", place_names[place]);
        map(name, &params);
        params.length = 0;
        snprintf(name, sizeof(name), "no byte of %s memory", place_names[place]);
        map(name, &params);
        params.length = 100;
        params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_FLAGS;
        params.flags = UCP_MEM_MAP_NONBLOCK;
        snprintf(name, sizeof(name), "%s memory, nonblock", place_names[place]);
        map(name, &params);
        params.field_mask &= ~UCP_MEM_MAP_PARAM_FIELD_FLAGS;
        params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
        for (i = 0; i < sizeof(types) / sizeof(*types); ++i) {
            params.memory_type = types[i];
            snprintf(name, sizeof(name), "%s memory as type %d", place_names[place], types[i]);
            map(name, &params);
        }
        release(place, memory);
    }
}

/* Whether memory is pinned while it is mapped, so that devices copy it without a detour. */
static void pinning(void)
{
    static const unsigned flags[] = {0, UCP_MEM_MAP_NONBLOCK};
    ucp_mem_map_params_t params;
    ucp_mem_h memh;
    place_t place;
    long before;
    size_t f;

    for (place = HOST; place < PLACES; ++place) {
        for (f = 0; f < 2; ++f) {
            params = (ucp_mem_map_params_t){.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                          UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                            .address = allocate(place, 1 << 20), .length = 1 << 20, .flags = flags[f]};
            /* What is pinned is unpinned. */
            before = fake_cuda_calls("cuMemHostUnregister");
            CHECK_OK(ucp_mem_map(side.context, &params, &memh));
            CHECK_OK(ucp_mem_unmap(side.context, memh));
            printf("%s memory, flags %#x: pinned %ld times\n", place_names[place], flags[f],
                   fake_cuda_calls("cuMemHostUnregister") - before);
            release(place, params.address);
        }
    }
}

static void allocation(void)
{
    enum { LENGTH = 10000 };
    unsigned flags[] = {UCP_MEM_MAP_ALLOCATE, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK,
                        UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, 0};
    ucp_mem_map_params_t params;
    char name[100];
    size_t i, f;

    for (f = 0; f < sizeof(flags) / sizeof(*flags); ++f) {
        for (i = 0; i < sizeof(types) / sizeof(*types); ++i) {
            params = (ucp_mem_map_params_t){.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                                                          UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
                                            .length = LENGTH, .flags = flags[f], .memory_type = types[i]};
            if (flags[f] & UCP_MEM_MAP_FIXED) {
                params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
                params.address = at(0x3300000000ull);
            }
            snprintf(name, sizeof(name), "new memory of type %d, flags %#x", types[i], flags[f]);
            map(name, &params);
        }
    }
    params.flags = UCP_MEM_MAP_ALLOCATE;
    for (i = UCS_MEMORY_TYPE_ROCM; i <= UCS_MEMORY_TYPE_ROCM_MANAGED; ++i) {
        params.memory_type = i;
        map("memory of a device that is not here", &params);
    }
    params.memory_type = UCS_MEMORY_TYPE_CUDA;
    params.length = 0;
    map("no new byte", &params);
    params.length = 1ul << 40;
    map("more than there is", &params);
    params.memory_type = UCS_MEMORY_TYPE_CUDA_MANAGED;
    params.length = 100;
    params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_PROT;
    params.prot = UCP_MEM_MAP_PROT_LOCAL_READ;
    map("read alone", &params);
}

/* ---- requests ---- */

static void draw(size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        sent[i] = (char)(number() >> 32);
    }
}

static const size_t sizes[] = {0, 8, 3000, SIZE};

/* What a request says of its buffer while it is under way. */
static void query(const char *what, ucs_status_ptr_t request)
{
    ucp_request_attr_t attr = {.field_mask = UCP_REQUEST_ATTR_FIELD_MEM_TYPE};

    if (UCS_PTR_IS_PTR(request)) {
        CHECK_OK(ucp_request_query(request, &attr));
        printf(" %s: type %d;", what, attr.mem_type);
    }
}

static void tag_between(place_t a, place_t b, size_t length, ucp_request_param_t *ap, ucp_request_param_t *bp, int late)
{
    char *from = allocate(a, SIZE), *to = allocate(b, SIZE);
    ucs_status_ptr_t s = NULL, r;
    ucs_status_t status;

    draw(length);
    store(a, from, sent, length);
    if (late) {
        s = ucp_tag_send_nbx(ep, from, length, 7, ap);
        ucp_worker_progress(side.worker);
        ucp_worker_progress(side.worker);
    }
    r = ucp_tag_recv_nbx(side.worker, to, length, 7, -1, bp);
    if (!late) {
        query("receive", r);
        s = ucp_tag_send_nbx(ep, from, length, 7, ap);
    }
    status = ended(s);
    printf(" %s,", text(status));
    if (status != UCS_OK && UCS_PTR_IS_PTR(r)) {
        ucp_request_cancel(side.worker, r);
    }
    status = ended(r);
    printf(" %s", text(status));
    if (status == UCS_OK && length > 0) {
        load(b, to, got, length);
        printf("%s", memcmp(sent, got, length) ? ", other bytes" : "");
    }
    putchar('\n');
    fflush(stdout);
    release(a, from);
    release(b, to);
}

static ucp_request_param_t hint(ucs_memory_type_t type)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE, .memory_type = type};
}

static void tags(void)
{
    static ucp_request_param_t none;
    place_t a, b;
    size_t i;
    int late;

    for (a = HOST; a < PLACES; ++a) {
        for (b = HOST; b < PLACES; ++b) {
            for (i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
                for (late = 0; late < 2; ++late) {
                    printf("tag %s to %s, %zu bytes%s:", place_names[a], place_names[b], sizes[i], late ? ", late" : "");
                    tag_between(a, b, sizes[i], &none, &none, late);
                }
            }
        }
    }
}

/* Hints, right and wrong. Those that have a processor access device memory are none that a program may give. */
static void hints(void)
{
    ucp_request_param_t none = {}, param;
    place_t place;
    size_t i, t;

    for (place = HOST; place < PLACES; ++place) {
        for (t = 0; t < sizeof(types) / sizeof(*types); ++t) {
            if (types[t] == UCS_MEMORY_TYPE_HOST && is_far(place)) {
                continue;
            }
            param = hint(types[t]);
            for (i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
                printf("%s as type %d, %zu bytes, sent:", place_names[place], types[t], sizes[i]);
                fflush(stdout);
                tag_between(place, HOST, sizes[i], &param, &none, 0);
                printf("%s as type %d, %zu bytes, received:", place_names[place], types[t], sizes[i]);
                fflush(stdout);
                tag_between(HOST, place, sizes[i], &none, &param, 0);
            }
        }
    }
}

/* ---- streams ---- */

static void streams(void)
{
    static ucp_request_param_t none;
    ucp_request_param_t all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    ucs_status_ptr_t s, r;
    ucs_status_t status;
    place_t a, b;
    size_t i, length;
    char *from, *to;

    for (a = HOST; a < PLACES; ++a) {
        for (b = HOST; b < PLACES; ++b) {
            for (i = 1; i < sizeof(sizes) / sizeof(*sizes); ++i) {
                from = allocate(a, SIZE);
                to = allocate(b, SIZE);
                draw(sizes[i]);
                store(a, from, sent, sizes[i]);
                printf("stream %s to %s, %zu bytes:", place_names[a], place_names[b], sizes[i]);
                r = ucp_stream_recv_nbx(ep, to, sizes[i], &length, &all);
                s = ucp_stream_send_nbx(ep, from, sizes[i], &none);
                status = ended(s);
                printf(" %s,", text(status));
                status = ended(r);
                load(b, to, got, sizes[i]);
                printf(" %s%s\n", text(status), memcmp(sent, got, sizes[i]) ? ", other bytes" : "");
                fflush(stdout);
                release(a, from);
                release(b, to);
            }
        }
    }
}

/* ---- active messages ---- */

static place_t am_place;
static char *am_to;
static int am_rndv, am_done;
static size_t am_length, am_header;
static ucs_status_t am_status;

static void am_received(void *request, ucs_status_t status, size_t length, void *arg)
{
    am_status = status;
    am_done = 1;
    ucp_request_free(request);
}

static ucs_status_t am_handler(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ucp_request_param_t receive = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.recv_am = am_received};
    ucs_status_ptr_t request;

    am_rndv = !!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    am_length = length;
    am_header = header_length;
    if (am_rndv) {
        request = ucp_am_recv_data_nbx(side.worker, data, am_to, length, &receive);
        if (!UCS_PTR_IS_PTR(request)) {
            am_status = UCS_PTR_STATUS(request);
            am_done = 1;
            return UCS_OK;
        }
        return UCS_INPROGRESS;
    }
    if (length > 0) {
        store(am_place, am_to, data, length);
    }
    am_status = UCS_OK;
    am_done = 1;
    return UCS_OK;
}

static void am(void)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = 3, .cb = am_handler};
    unsigned flags[] = {0, UCP_AM_SEND_FLAG_EAGER, UCP_AM_SEND_FLAG_RNDV};
    ucp_request_param_t param;
    ucs_status_t status;
    place_t a, b, h;
    size_t i, f;
    char *from, *header;

    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
    for (a = HOST; a < PLACES; ++a) {
        for (b = HOST; b < PLACES; ++b) {
            for (i = 1; i < sizeof(sizes) / sizeof(*sizes); ++i) {
                for (f = 0; f < 3; ++f) {
                    from = allocate(a, SIZE);
                    am_place = b;
                    am_to = allocate(b, SIZE);
                    am_done = 0;
                    draw(sizes[i]);
                    store(a, from, sent, sizes[i]);
                    param = (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags[f]};
                    printf("active message %s to %s, %zu bytes, flags %u:", place_names[a], place_names[b], sizes[i],
                           flags[f]);
                    status = ended(ucp_am_send_nbx(ep, 3, "head", 4, from, sizes[i], &param));
                    printf(" %s", text(status));
                    if (status == UCS_OK) {
                        WORKERS_UNTIL(side.worker, side.worker, am_done);
                        load(b, am_to, got, sizes[i]);
                        printf(", %s, %zu + %zu%s", text(am_status), am_header, am_length,
                               memcmp(sent, got, sizes[i]) ? ", other bytes" : "");
                    }
                    putchar('\n');
                    fflush(stdout);
                    release(a, from);
                    release(b, am_to);
                }
            }
        }
    }
    am_place = HOST;
    am_to = allocate(HOST, SIZE);
    /* In device memory upstream crashes at it. */
    for (h = HOST; h < PLACES; ++h) {
        if (is_far(h)) {
            continue;
        }
        header = allocate(h, 100);
        store(h, header, "header", 6);
        for (f = 0; f < 3; ++f) {
            param = (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags[f]};
            am_done = 0;
            printf("header of an active message in %s, flags %u:", place_names[h], flags[f]);
            fflush(stdout);
            status = ended(ucp_am_send_nbx(ep, 3, header, 6, sent, 8, &param));
            printf(" %s", text(status));
            if (status == UCS_OK) {
                WORKERS_UNTIL(side.worker, side.worker, am_done);
                printf(", %zu", am_header);
            }
            putchar('\n');
        }
        release(h, header);
    }
    release(HOST, am_to);
}

/* ---- remote memory ---- */

typedef struct {
    place_t place;
    char *memory;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
} region_t;

static region_t open_region(place_t place)
{
    region_t region = {.place = place, .memory = allocate(place, SIZE)};
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = region.memory, .length = SIZE};
    void *packed;
    size_t size;

    CHECK_OK(ucp_mem_map(side.context, &params, &region.memh));
    CHECK_OK(ucp_rkey_pack(side.context, region.memh, &packed, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &region.rkey));
    ucp_rkey_buffer_release(packed);
    return region;
}

static void close_region(region_t *region)
{
    ucp_rkey_destroy(region->rkey);
    CHECK_OK(ucp_mem_unmap(side.context, region->memh));
    release(region->place, region->memory);
}

static ucs_status_t flush(void)
{
    static ucp_request_param_t none;

    return ended(ucp_ep_flush_nbx(ep, &none));
}

static void rma(void)
{
    ucp_request_param_t param;
    ucs_status_t status;
    region_t region;
    place_t a, b;
    size_t i;
    char *local;
    int h;

    for (b = HOST; b < PLACES; ++b) {
        region = open_region(b);
        for (a = HOST; a < PLACES; ++a) {
            for (i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
                for (h = 0; h < 2; ++h) {
                    local = allocate(a, SIZE);
                    draw(sizes[i]);
                    store(a, local, sent, sizes[i]);
                    param = h ? hint(place_types[a]) : (ucp_request_param_t){};
                    printf("put from %s to %s, %zu bytes%s:", place_names[a], place_names[b], sizes[i], h ? ", hint" : "");
                    status = ended(ucp_put_nbx(ep, local, sizes[i], (uintptr_t)region.memory, region.rkey, &param));
                    printf(" %s,", text(status));
                    printf(" %s", text(flush()));
                    if (sizes[i] > 0) {
                        load(b, region.memory, got, sizes[i]);
                        printf("%s", memcmp(sent, got, sizes[i]) ? ", other bytes" : "");
                    }
                    putchar('\n');
                    draw(sizes[i]);
                    store(b, region.memory, sent, sizes[i]);
                    printf("get from %s to %s, %zu bytes%s:", place_names[b], place_names[a], sizes[i], h ? ", hint" : "");
                    status = ended(ucp_get_nbx(ep, local, sizes[i], (uintptr_t)region.memory, region.rkey, &param));
                    printf(" %s", text(status));
                    if (sizes[i] > 0) {
                        load(a, local, got, sizes[i]);
                        printf("%s", memcmp(sent, got, sizes[i]) ? ", other bytes" : "");
                    }
                    putchar('\n');
                    fflush(stdout);
                    release(a, local);
                }
            }
        }
        close_region(&region);
    }
}

/* ---- atomics ---- */

static void atomics(void)
{
    static const char *names[] = {"add", "and", "or", "xor", "swap", "cswap"};
    ucp_atomic_op_t ops[] = {UCP_ATOMIC_OP_ADD, UCP_ATOMIC_OP_AND, UCP_ATOMIC_OP_OR, UCP_ATOMIC_OP_XOR,
                             UCP_ATOMIC_OP_SWAP, UCP_ATOMIC_OP_CSWAP};
    uint64_t operand = 5, before = 100, after, old;
    ucp_request_param_t param;
    ucs_status_t status;
    region_t region;
    place_t a, b, c;
    char *local, *reply;
    size_t o;
    int size, fetch;

    /* At memory of a device upstream crashes. */
    for (b = HOST; b < PLACES; ++b) {
        if (is_far(b)) {
            continue;
        }
        region = open_region(b);
        for (a = HOST; a < PLACES; ++a) {
            for (c = HOST; c < PLACES; ++c) {
                for (o = 0; o < sizeof(ops) / sizeof(*ops); ++o) {
                    for (size = 4; size <= 8; size += 4) {
                        for (fetch = 0; fetch < 2; ++fetch) {
                            if ((!fetch && (c != HOST || o >= 4)) || (size == 4 && (o != 0 && o != 5))) {
                                continue;
                            }
                            local = allocate(a, 64);
                            reply = allocate(c, 64);
                            store(a, local, &operand, 8);
                            store(c, reply, &before, 8);
                            store(b, region.memory, &before, 8);
                            param = (ucp_request_param_t){
                                .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | (fetch ? UCP_OP_ATTR_FIELD_REPLY_BUFFER : 0),
                                .datatype = ucp_dt_make_contig(size), .reply_buffer = reply};
                            printf("%s of %d at %s, operand in %s", names[o], size, place_names[b], place_names[a]);
                            if (fetch) {
                                printf(", reply in %s", place_names[c]);
                            }
                            fflush(stdout);
                            status = ended(ucp_atomic_op_nbx(ep, ops[o], local, 1, (uintptr_t)region.memory, region.rkey,
                                                            &param));
                            printf(": %s", text(status));
                            if (status == UCS_OK) {
                                printf(", %s", text(flush()));
                                load(b, region.memory, &after, 8);
                                load(c, reply, &old, 8);
                                printf(", %llu, %llu", (unsigned long long)after, (unsigned long long)old);
                            }
                            putchar('\n');
                            fflush(stdout);
                            release(a, local);
                            release(c, reply);
                        }
                    }
                }
            }
        }
        close_region(&region);
    }
}

/* ---- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"attributes", attributes}, {"mapping", mapping}, {"pinning", pinning}, {"allocation", allocation}, {"tags", tags},
                 {"hints", hints}, {"streams", streams}, {"am", am}, {"rma", rma}, {"atomics", atomics}};
    static const ucp_request_param_t none;
    CUcontext context, current;
    size_t i;

    alarm(100);
    CHECK(argc == 2);
    context = use_device(0);
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    for (i = 0; i < sizeof(parts) / sizeof(*parts) && strcmp(argv[1], parts[i].name); ++i) {
    }
    CHECK(i < sizeof(parts) / sizeof(*parts));
    parts[i].run();
    CHECK_OK(ended(ucp_ep_close_nbx(ep, &none)));
    side_close(&side);
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
    return 0;
}
