/* Messages and remote memory in device memory, which the processor cannot access: tags, active messages, streams, puts and
 * gets, between all places, in all layouts. Transports and thresholds are those of the environment; with the argument
 * "self" the peer is the worker itself. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
                UCP_FEATURE_EXPORTED_MEMH };

static side_t one, two, *from = &one, *to = &two;
static ucp_ep_h ep, back;
static CUcontext context;

/* ---- buffers ---- */

typedef enum { HOST, DEVICE, MANAGED, POOLED, PLACES } place_t;
typedef enum { CONTIG, IOV, GENERIC, LAYOUTS } layout_t;

static const char *place_names[] = {"host", "device", "managed", "pool"};
static const char *layout_names[] = {"contig", "iov", "generic"};

enum { ENTRIES = 5 };

typedef struct {
    place_t place;
    layout_t layout;
    size_t length;
    char *at; /* `length` bytes */
    ucp_dt_iov_t iov[ENTRIES];
    char *spare; /* of the host: the middle entry of a list */
} buffer_t;

static char *allocate(place_t place, size_t size)
{
    CUdeviceptr address = 0;
    char *host;

    size = size ? size : 1;
    switch (place) {
    case DEVICE: return at(device_memory(size));
    case MANAGED: return at(managed_memory(size));
    case POOLED: CHECK_EQ(cuMemAllocAsync(&address, size, NULL), 0); return at(address);
    default: host = malloc(size); CHECK(host != NULL); return host;
    }
}

static void release(place_t place, char *memory)
{
    if (place == HOST) {
        free(memory);
    } else {
        CHECK_EQ(cuMemFree_v2((uintptr_t)memory), 0);
    }
}

static void store(place_t place, char *memory, const char *bytes, size_t size)
{
    if (place == HOST) {
        memcpy(memory, bytes, size);
    } else if (size > 0) {
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)memory, bytes, size), 0);
    }
}

static void load(place_t place, const char *memory, char *bytes, size_t size)
{
    if (place == HOST) {
        memcpy(bytes, memory, size);
    } else if (size > 0) {
        CHECK_EQ(cuMemcpyDtoH_v2(bytes, (uintptr_t)memory, size), 0);
    }
}

static void open_buffer(buffer_t *b, place_t place, layout_t layout, size_t length)
{
    size_t cuts[ENTRIES + 1] = {0, length / 7, length / 7, length / 2, length - length / 5, length};
    int i;

    *b = (buffer_t){.place = place, .layout = layout, .length = length};
    b->at = allocate(place, length);
    for (i = 0; i < ENTRIES; ++i) {
        b->iov[i].buffer = b->at + cuts[i];
        b->iov[i].length = cuts[i + 1] - cuts[i];
    }
    if (layout == IOV) {
        /* One entry is the host's in any case. */
        b->spare = allocate(HOST, b->iov[3].length);
        b->iov[3].buffer = b->spare;
    }
}

static void close_buffer(buffer_t *b)
{
    release(b->place, b->at);
    free(b->spare);
}

/* The bytes as they stand in a message. */
static void set(buffer_t *b, const char *bytes)
{
    store(b->place, b->at, bytes, b->length);
    if (b->spare) {
        memcpy(b->spare, bytes + ((char*)b->iov[4].buffer - b->at) - b->iov[3].length, b->iov[3].length);
    }
}

static void bytes_of(const buffer_t *b, char *bytes)
{
    load(b->place, b->at, bytes, b->length);
    if (b->spare) {
        memcpy(bytes + ((char*)b->iov[4].buffer - b->at) - b->iov[3].length, b->spare, b->iov[3].length);
    }
}

/* A generic datatype whose functions know where the bytes are. */
static void *start_pack(void *arg, const void *buffer, size_t count)
{
    return (void*)buffer;
}

static void *start_unpack(void *arg, void *buffer, size_t count)
{
    return buffer;
}

static size_t packed_size(void *state)
{
    return ((buffer_t*)state)->length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t room)
{
    buffer_t *b = state;
    size_t n = b->length - offset < room ? b->length - offset : room;

    load(b->place, b->at + offset, dest, n);
    return n;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src, size_t length)
{
    buffer_t *b = state;

    if (length > b->length - offset) {
        return UCS_ERR_MESSAGE_TRUNCATED;
    }
    store(b->place, b->at + offset, src, length);
    return UCS_OK;
}

static void finish(void *state)
{
}

static ucp_datatype_t generic;

static void *argument(buffer_t *b)
{
    return b->layout == CONTIG ? (void*)b->at : b->layout == IOV ? (void*)b->iov : (void*)b;
}

static size_t count_of(const buffer_t *b)
{
    return b->layout == CONTIG ? b->length : b->layout == IOV ? ENTRIES : 1;
}

/* With a hint only where the whole buffer is of its type. */
static ucp_request_param_t param_of(const buffer_t *b, int hint)
{
    static const ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED,
                                              UCS_MEMORY_TYPE_CUDA_MANAGED};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};

    param.datatype = b->layout == CONTIG ? ucp_dt_make_contig(1) : b->layout == IOV ? ucp_dt_make_iov() : generic;
    if (hint && (b->layout != IOV || b->place != HOST)) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        param.memory_type = b->layout == GENERIC ? UCS_MEMORY_TYPE_HOST : types[b->place];
    }
    return param;
}

/* ---- waiting ---- */

static void contexts_are_as_before(void)
{
    CUcontext current;

    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
}

static void done(ucs_status_ptr_t request)
{
    CHECK_OK(side_wait(from, to, request));
    contexts_are_as_before();
}

static char *sent, *got;

static void draw(size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        sent[i] = (char)(number() >> 32);
    }
    memset(got, 0, length);
}

static void same(const buffer_t *b, const char *what)
{
    bytes_of(b, got);
    if (memcmp(sent, got, b->length)) {
        FAIL("%s of %zu bytes into %s memory, %s: other bytes came", what, b->length, place_names[b->place],
             layout_names[b->layout]);
    }
}

/* ---- tags ---- */

enum { EXPECTED, UNEXPECTED, SYNC, PROBED, ORDERS };

static void tag(buffer_t *a, buffer_t *b, int order, int hint)
{
    ucp_request_param_t send = param_of(a, hint), receive = param_of(b, hint);
    ucs_status_ptr_t s, r = NULL;
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;
    ucp_request_attr_t attr = {.field_mask = UCP_REQUEST_ATTR_FIELD_MEM_TYPE};

    draw(a->length);
    set(a, sent);
    if (order == EXPECTED || order == SYNC) {
        r = ucp_tag_recv_nbx(to->worker, argument(b), count_of(b), 7, -1, &receive);
        if (UCS_PTR_IS_PTR(r) && b->layout == CONTIG) {
            CHECK_OK(ucp_request_query(r, &attr));
            CHECK_EQ(attr.mem_type, b->place == HOST   ? UCS_MEMORY_TYPE_HOST :
                                    b->place == DEVICE ? UCS_MEMORY_TYPE_CUDA :
                                                         UCS_MEMORY_TYPE_CUDA_MANAGED);
        }
    }
    if (order == SYNC) {
        s = ucp_tag_send_sync_nbx(ep, argument(a), count_of(a), 7, &send);
    } else {
        s = ucp_tag_send_nbx(ep, argument(a), count_of(a), 7, &send);
    }
    CHECK(!UCS_PTR_IS_ERR(s));
    if (order == UNEXPECTED) {
        DRIVE_UNTIL(from, to, ucp_tag_probe_nb(to->worker, 7, -1, 0, &info) != NULL);
        r = ucp_tag_recv_nbx(to->worker, argument(b), count_of(b), 7, -1, &receive);
    } else if (order == PROBED) {
        DRIVE_UNTIL(from, to, (message = ucp_tag_probe_nb(to->worker, 7, -1, 1, &info)) != NULL);
        r = ucp_tag_msg_recv_nbx(to->worker, argument(b), count_of(b), message, &receive);
    }
    done(r);
    done(s);
    same(b, "a tagged message");
}

/* Tries something between memory of two places: the layout of one side, a length, and which of the lengths it is. */
typedef void (*trial_t)(place_t p, place_t q, int layout, size_t length, size_t i);

static void try_all(const size_t *lengths, size_t count, trial_t trial)
{
    size_t i;
    int p, q, layout;

    for (i = 0; i < count; ++i) {
        for (p = 0; p < PLACES; ++p) {
            for (q = 0; q < PLACES; ++q) {
                for (layout = 0; layout < LAYOUTS; ++layout) {
                    trial(p, q, layout, lengths[i], i);
                }
            }
        }
    }
}

static void tag_between(place_t p, place_t q, int layout, size_t length, size_t i)
{
    buffer_t a, b;

    /* Long ones take a while. */
    if (length > 100000 && (p + q + layout) % 4 != 1) {
        return;
    }
    open_buffer(&a, p, layout, length);
    open_buffer(&b, q, (layout + i) % LAYOUTS, length);
    tag(&a, &b, (p + q + i) % ORDERS, layout == 0);
    tag(&a, &b, (p + q + i + 1) % ORDERS, 0);
    close_buffer(&a);
    close_buffer(&b);
}

static void tags(void)
{
    static const size_t lengths[] = {0, 1, 8, 100, 5000, 70000, 1000003, 3 << 20};

    try_all(lengths, sizeof(lengths) / sizeof(*lengths), tag_between);
    OK("tagged messages");
}

/* A message that is longer than the receive. */
static void truncation(void)
{
    static const size_t lengths[] = {100, 20000, 1 << 20};
    ucp_request_param_t param = {0};
    ucs_status_ptr_t s, r;
    buffer_t a, b;
    size_t i;

    for (i = 0; i < 3; ++i) {
        open_buffer(&a, DEVICE, CONTIG, lengths[i]);
        open_buffer(&b, DEVICE, CONTIG, lengths[i] / 2);
        r = ucp_tag_recv_nbx(to->worker, b.at, b.length, 7, -1, &param);
        s = ucp_tag_send_nbx(ep, a.at, a.length, 7, &param);
        CHECK_EQ(side_wait(from, to, r), UCS_ERR_MESSAGE_TRUNCATED);
        done(s);
        close_buffer(&a);
        close_buffer(&b);
    }
    OK("truncation");
}

/* ---- active messages ---- */

static buffer_t *am_target;
static int am_hint;
static ucs_status_ptr_t am_request;
static volatile int am_came;
static void *am_kept;

static ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    ucp_request_param_t receive = param_of(am_target, am_hint);

    CHECK_EQ(header_length, 3);
    CHECK(!memcmp(header, "abc", 3));
    CHECK_EQ(length, am_target->length);
    am_came = 1;
    if (!(param->recv_attr & (UCP_AM_RECV_ATTR_FLAG_RNDV | UCP_AM_RECV_ATTR_FLAG_DATA))) {
        /* Data that may not be kept are copied by the user. */
        set(am_target, data);
        am_request = NULL;
        return UCS_OK;
    }
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) {
        am_kept = data;
        return UCS_INPROGRESS;
    }
    am_request = ucp_am_recv_data_nbx(to->worker, data, argument(am_target), count_of(am_target), &receive);
    return UCS_PTR_IS_PTR(am_request) ? UCS_INPROGRESS : UCS_OK;
}

static void am(buffer_t *a, buffer_t *b, unsigned flags, int hint)
{
    ucp_request_param_t send = param_of(a, hint), receive = param_of(b, hint);
    ucs_status_ptr_t s;

    draw(a->length);
    set(a, sent);
    am_target = b;
    am_hint = hint;
    am_came = 0;
    am_kept = NULL;
    send.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    send.flags = flags;
    s = ucp_am_send_nbx(ep, 3, "abc", 3, argument(a), count_of(a), &send);
    CHECK(!UCS_PTR_IS_ERR(s));
    DRIVE_UNTIL(from, to, am_came);
    if (am_kept) {
        am_request = ucp_am_recv_data_nbx(to->worker, am_kept, argument(b), count_of(b), &receive);
    }
    done(am_request);
    done(s);
    same(b, "an active message");
}

static void am_between(place_t p, place_t q, int layout, size_t length, size_t i)
{
    buffer_t a, b;

    open_buffer(&a, p, layout, length);
    open_buffer(&b, q, (layout + 1) % LAYOUTS, length);
    am(&a, &b, UCP_AM_SEND_FLAG_EAGER, layout == 0);
    am(&a, &b, UCP_AM_SEND_FLAG_RNDV, 0);
    am(&a, &b, 0, layout == 0);
    close_buffer(&a);
    close_buffer(&b);
}

static void active_messages(void)
{
    static const size_t lengths[] = {1, 100, 5000, 300000};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                      .id = 3,
                                      .flags = UCP_AM_FLAG_PERSISTENT_DATA,
                                      .cb = on_am};
    ucp_request_param_t plain = {0};
    ucp_request_param_t host = {0};
    ucs_status_ptr_t s;
    buffer_t a, b;
    int i;

    CHECK_OK(ucp_worker_set_am_recv_handler(to->worker, &handler));
    try_all(lengths, sizeof(lengths) / sizeof(*lengths), am_between);
    /* A header of the device's is copied: it can be changed when the call has returned. */
    for (i = 0; i < 2; ++i) {
        open_buffer(&a, DEVICE, CONTIG, 3);
        open_buffer(&b, HOST, CONTIG, 5000);
        draw(5000);
        set(&a, "abc");
        am_target = &b;
        am_came = 0;
        am_kept = NULL;
        plain.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        plain.flags = i ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER;
        s = ucp_am_send_nbx(ep, 3, a.at, 3, sent, 5000, &plain);
        CHECK(!UCS_PTR_IS_ERR(s));
        set(&a, "???");
        DRIVE_UNTIL(from, to, am_came);
        if (am_kept) {
            am_request = ucp_am_recv_data_nbx(to->worker, am_kept, b.at, 5000, &host);
        }
        done(am_request);
        done(s);
        same(&b, "an active message with a header of the device's");
        close_buffer(&a);
        close_buffer(&b);
    }
    CHECK_EQ(UCS_PTR_STATUS(ucp_am_send_nbx(ep, 3, a.at, SIZE_MAX, NULL, 0, &plain)), UCS_ERR_INVALID_PARAM);
    OK("active messages");
}

/* ---- streams ---- */

static void stream(buffer_t *a, buffer_t *b, int early)
{
    ucp_request_param_t send = param_of(a, 0), receive = param_of(b, 0);
    ucs_status_ptr_t s, r = NULL;
    size_t length = 0;

    draw(a->length);
    set(a, sent);
    receive.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    receive.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    if (early) {
        r = ucp_stream_recv_nbx(back, argument(b), count_of(b), &length, &receive);
    }
    s = ucp_stream_send_nbx(ep, argument(a), count_of(a), &send);
    if (!early) {
        r = ucp_stream_recv_nbx(back, argument(b), count_of(b), &length, &receive);
    }
    done(r);
    done(s);
    same(b, "a stream");
}

static void stream_between(place_t p, place_t q, int layout, size_t length, size_t i)
{
    buffer_t a, b;

    open_buffer(&a, p, layout, length);
    open_buffer(&b, q, (layout + i) % LAYOUTS, length);
    stream(&a, &b, 1);
    stream(&a, &b, 0);
    close_buffer(&a);
    close_buffer(&b);
}

static void streams(void)
{
    static const size_t lengths[] = {1, 8, 100, 5000, 300000};

    try_all(lengths, sizeof(lengths) / sizeof(*lengths), stream_between);
    OK("streams");
}

/* ---- remote memory ---- */

static ucp_mem_h map(side_t *side, char *memory, size_t length, int hint, place_t place)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                 (hint ? UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE : 0),
                                   .address = memory,
                                   .length = length,
                                   .memory_type = place == HOST     ? UCS_MEMORY_TYPE_HOST :
                                                  place == DEVICE ? UCS_MEMORY_TYPE_CUDA :
                                                                    UCS_MEMORY_TYPE_CUDA_MANAGED};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_MEM_TYPE | UCP_MEM_ATTR_FIELD_ADDRESS |
                                         UCP_MEM_ATTR_FIELD_LENGTH};
    ucp_mem_h memh;

    CHECK_OK(ucp_mem_map(side->context, &params, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK_EQ(attr.mem_type, params.memory_type);
    CHECK(attr.address == memory);
    CHECK_EQ(attr.length, length);
    return memh;
}

static ucp_rkey_h key_of(ucp_mem_h memh)
{
    ucp_rkey_h rkey;
    void *packed;
    size_t size;

    CHECK_OK(ucp_rkey_pack(to->context, memh, &packed, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    return rkey;
}

static void flush(void)
{
    ucp_request_param_t param = {0};

    done(ucp_ep_flush_nbx(ep, &param));
}

static void access_memory(place_t p, place_t q, int layout, size_t length, size_t i)
{
    buffer_t a, b;
    ucp_request_param_t param;
    ucp_mem_h memh, local = NULL;
    ucp_rkey_h rkey;
    void *pointer;

    open_buffer(&a, p, layout, length);
    open_buffer(&b, q, CONTIG, length);
    memh = map(to, b.at, length, layout == CONTIG, q);
    rkey = key_of(memh);
    if (q != HOST) {
        CHECK_EQ(ucp_rkey_ptr(rkey, (uintptr_t)b.at, &pointer), UCS_ERR_UNREACHABLE);
    }
    param = param_of(&a, layout == CONTIG);
    if (layout == CONTIG) {
        local = map(from, a.at, length, 0, p);
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
        param.memh = local;
    }
    draw(length);
    set(&a, sent);
    done(ucp_put_nbx(ep, argument(&a), count_of(&a), (uintptr_t)b.at, rkey, &param));
    flush();
    same(&b, "a put");
    draw(length);
    set(&b, sent);
    done(ucp_get_nbx(ep, argument(&a), count_of(&a), (uintptr_t)b.at, rkey, &param));
    same(&a, "a get");
    if (layout == CONTIG) {
        CHECK_OK(ucp_mem_unmap(from->context, local));
        /* Found out by address. */
        param = (ucp_request_param_t){0};
        draw(length);
        set(&a, sent);
        done(ucp_put_nbx(ep, a.at, length, (uintptr_t)b.at, rkey, &param));
        flush();
        same(&b, "a put");
    }
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(to->context, memh));
    close_buffer(&a);
    close_buffer(&b);
}

static void remote_memory(void)
{
    static const size_t lengths[] = {1, 8, 100, 5000, 300000};

    try_all(lengths, sizeof(lengths) / sizeof(*lengths), access_memory);
    OK("puts and gets");
}

/* Atomics need memory of the host at each of their places. */
static void atomics(void)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    ucp_request_param_t fetching = param;
    uint64_t host[2] = {5, 0}, reply;
    buffer_t device;
    ucp_mem_h here, there;
    ucp_rkey_h key_here, key_there;

    open_buffer(&device, DEVICE, CONTIG, 64);
    here = map(to, (char*)host, sizeof(host), 0, HOST);
    there = map(to, device.at, 64, 0, DEVICE);
    key_here = key_of(here);
    key_there = key_of(there);
    fetching.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
#define REFUSED(call) CHECK_EQ(UCS_PTR_STATUS(call), UCS_ERR_UNSUPPORTED)
    REFUSED(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &host[1], 1, (uintptr_t)device.at, key_there, &param));
    host[1] = 37;
    fetching.reply_buffer = &reply;
    done(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &host[1], 1, (uintptr_t)host, key_here, &fetching));
    CHECK_EQ(reply, 5);
    CHECK_EQ(host[0], 42);
    /* The old word goes to the device, and what takes its place comes from there. */
    fetching.reply_buffer = device.at;
    reply = 77;
    store(DEVICE, device.at, (char*)&reply, 8);
    done(ucp_atomic_fetch_nb(ep, UCP_ATOMIC_FETCH_OP_CSWAP, 42, device.at, 8, (uintptr_t)host, key_here, NULL));
    load(DEVICE, device.at, (char*)&reply, 8);
    CHECK_EQ(reply, 42);
    CHECK_EQ(host[0], 77);
    /* One word of the device's is operand and reply. */
    done(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, device.at, 1, (uintptr_t)host, key_here, &fetching));
    load(DEVICE, device.at, (char*)&reply, 8);
    CHECK_EQ(reply, 77);
    CHECK_EQ(host[0], 119);
    ucp_rkey_destroy(key_here);
    ucp_rkey_destroy(key_there);
    CHECK_OK(ucp_mem_unmap(to->context, here));
    CHECK_OK(ucp_mem_unmap(to->context, there));
    close_buffer(&device);
    OK("atomics");
}

/* Memory that the library allocates. */
static void allocation(void)
{
    ucs_memory_type_t types[] = {UCS_MEMORY_TYPE_CUDA, UCS_MEMORY_TYPE_CUDA_MANAGED};
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                                                 UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
                                   .length = 10000,
                                   .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_memh_pack_params_t export = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS,
                                     .flags = UCP_MEMH_PACK_FLAG_EXPORT};
    ucp_mem_attr_t memory = {.field_mask = UCP_MEM_ATTR_FIELD_MEM_TYPE | UCP_MEM_ATTR_FIELD_ADDRESS |
                                           UCP_MEM_ATTR_FIELD_LENGTH};
    ucp_request_param_t param = {0};
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *packed;
    size_t size;
    int i;

    CHECK_OK(ucp_context_query(from->context, &attr));
    CHECK_EQ(attr.memory_types,
             UCS_BIT(UCS_MEMORY_TYPE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_CUDA) | UCS_BIT(UCS_MEMORY_TYPE_CUDA_MANAGED));
    for (i = 0; i < 2; ++i) {
        params.memory_type = types[i];
        CHECK_OK(ucp_mem_map(to->context, &params, &memh));
        CHECK_OK(ucp_mem_query(memh, &memory));
        CHECK_EQ(memory.mem_type, types[i]);
        CHECK(memory.length >= 10000);
        CHECK_EQ(ucp_memh_pack(memh, &export, &packed, &size), UCS_ERR_UNSUPPORTED);
        rkey = key_of(memh);
        draw(10000);
        done(ucp_put_nbx(ep, sent, 10000, (uintptr_t)memory.address, rkey, &param));
        flush();
        done(ucp_get_nbx(ep, got, 10000, (uintptr_t)memory.address, rkey, &param));
        CHECK(!memcmp(sent, got, 10000));
        ucp_rkey_destroy(rkey);
        CHECK_OK(ucp_mem_unmap(to->context, memh));
    }
    /* More than the device has. */
    params.memory_type = UCS_MEMORY_TYPE_CUDA;
    params.length = (size_t)1 << 40;
    CHECK_EQ(ucp_mem_map(to->context, &params, &memh), UCS_ERR_NO_MEMORY);
    contexts_are_as_before();
    OK("allocation");
}

/* ---- memory of the host that messages take ---- */

static long anonymous_memory(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    long kilobytes = 0;

    CHECK(status != NULL);
    while (fgets(line, sizeof(line), status)) {
        sscanf(line, "RssAnon: %ld", &kilobytes);
    }
    fclose(status);
    return kilobytes;
}

static void large_messages(void)
{
    enum { LENGTH = 64 << 20, BOUND = 16 << 10 };
    ucp_request_param_t param = {0};
    ucs_status_ptr_t s, r;
    long before, most = 0, now_used;
    buffer_t a, b;
    unsigned round = 0;

    open_buffer(&a, DEVICE, CONTIG, LENGTH);
    open_buffer(&b, DEVICE, CONTIG, LENGTH);
    before = anonymous_memory();
    r = ucp_tag_recv_nbx(to->worker, b.at, LENGTH, 7, -1, &param);
    s = ucp_tag_send_nbx(ep, a.at, LENGTH, 7, &param);
    CHECK(UCS_PTR_IS_PTR(r));
    while (ucp_request_check_status(r) == UCS_INPROGRESS) {
        ucp_worker_progress(to->worker);
        ucp_worker_progress(from->worker);
        if (round++ % 64 == 0) {
            now_used = anonymous_memory();
            most = now_used > most ? now_used : most;
        }
    }
    done(r);
    done(s);
    if (most - before > BOUND) {
        FAIL("a message of %d MiB took %ld KiB of the host's memory", LENGTH >> 20, most - before);
    }
    close_buffer(&a);
    close_buffer(&b);
    OK("large messages");
}

int main(int argc, char **argv)
{
    ucp_generic_dt_ops_t ops = {.start_pack = start_pack,
                                .start_unpack = start_unpack,
                                .packed_size = packed_size,
                                .pack = pack,
                                .unpack = unpack,
                                .finish = finish};
    ucs_thread_mode_t mode = getenv("THREADS") ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SINGLE;

    context = use_device(0);
    CHECK_OK(ucp_dt_create_generic(&ops, NULL, &generic));
    sent = malloc(4 << 20);
    got = malloc(4 << 20);
    CHECK(sent && got);
    side_open(&one, FEATURES, mode);
    if (argc > 1 && !strcmp(argv[1], "self")) {
        to = from;
    } else {
        side_open(&two, FEATURES, mode);
    }
    ep = side_connect(from, to->address);
    back = to == from ? ep : side_connect(to, from->address);
    tags();
    truncation();
    active_messages();
    streams();
    remote_memory();
    atomics();
    allocation();
    large_messages();
    CHECK_OK(side_disconnect(from, to, ep, 0));
    if (to != from) {
        CHECK_OK(side_disconnect(from, to, back, 0));
        side_close(to);
    }
    side_close(from);
    ucp_dt_destroy(generic);
    free(sent);
    free(got);
    contexts_are_as_before();
    puts("ok messages");
    return 0;
}
