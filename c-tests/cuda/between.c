/* Device memory between two processes by UCP. With the transport cuda_ipc among those of the environment, the bytes go by
 * one copy of one of the two processes, wherever both ends are memory that has a handle; all else is staged. Arguments:
 *
 *   ipc      expects that
 *   staged   expects bytes only: the driver maps nothing, or the transport is not there
 *   death    the sender of a message is killed before it is received
 *
 * "kinds" behind "ipc" or "staged": memory that is mapped in steps, and of pools, with and without handles. "files" instead:
 * without fabric handles, which few machines give out.
 *
 * Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

enum { MOST = 1 << 20, SPACE = MOST + 4096, NONE = 0, ONE = 1 };

typedef enum {
    HOST,
    DEVICE,
    MANAGED,
    POOLED,
    USUAL,
    STEP_BY_FILE = USUAL,
    STEP_BY_BYTES,
    STEP_ALONE,
    TWO_STEPS,
    POOL_BY_FILE,
    POOL_BY_BYTES,
    PLACES
} place_t;

static const char *names[PLACES] = {"host",       "device",     "managed",   "pool",         "one step, by file",
                                    "one step, by bytes", "one step", "two steps", "pool by file", "pool by bytes"};
static const int handles[PLACES] = {[STEP_BY_FILE] = HANDLE_FILE, [STEP_BY_BYTES] = HANDLE_FABRIC,
                                    [TWO_STEPS] = HANDLE_FILE, [POOL_BY_FILE] = HANDLE_FILE,
                                    [POOL_BY_BYTES] = HANDLE_FABRIC};

static pair_t pair;
static side_t side;
static ucp_ep_h ep;
static int direct, reads, writes, handles_errors, failed, epoch_on_device;
static char *memory[PLACES], bytes[SPACE], expected[SPACE];
static CUmemoryPool pools[PLACES];
/* Those that messages go between. */
static int used[PLACES] = {1, 1, 1, 1}, kinds;

/* ---- memory ---- */

static void allocate(void)
{
    CUdeviceptr pooled;
    int place;

    memory[HOST] = malloc(SPACE);
    CHECK(memory[HOST] != NULL);
    memory[DEVICE] = at(device_memory(SPACE));
    memory[MANAGED] = at(managed_memory(SPACE));
    CHECK_EQ(cuMemAllocAsync(&pooled, SPACE, NULL), 0);
    memory[POOLED] = at(pooled);
    if (!kinds) {
        return;
    }
    for (place = STEP_BY_FILE; place < TWO_STEPS; ++place) {
        if (used[place]) {
            memory[place] = at(memory_in_steps(1, handles[place]));
        }
    }
    /* Half of it in each. */
    memory[TWO_STEPS] = at(memory_in_steps(2, handles[TWO_STEPS]) + STEP - SPACE / 2);
    for (place = POOL_BY_FILE; place < PLACES; ++place) {
        if (used[place]) {
            pools[place] = pool_with(handles[place]);
            memory[place] = at(memory_of_pool(pools[place], SPACE));
        }
    }
}

static void release(void)
{
    int place;

    free(memory[HOST]);
    if (kinds) {
        for (place = STEP_BY_FILE; place < TWO_STEPS; ++place) {
            if (used[place]) {
                free_steps((uintptr_t)memory[place], 1);
                memory[place] = NULL;
            }
        }
        free_steps((uintptr_t)memory[TWO_STEPS] + SPACE / 2 - STEP, 2);
        memory[TWO_STEPS] = NULL;
    }
    for (place = DEVICE; place < PLACES; ++place) {
        CHECK(memory[place] == NULL || cuMemFree_v2((uintptr_t)memory[place]) == 0);
        CHECK(pools[place] == NULL || cuMemPoolDestroy(pools[place]) == 0);
    }
}

static void store(place_t place, size_t offset, const void *from, size_t length)
{
    if (place == HOST) {
        memcpy(memory[HOST] + offset, from, length);
    } else {
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)memory[place] + offset, from, length), 0);
    }
}

static void load(place_t place, size_t offset, void *to, size_t length)
{
    if (place == HOST) {
        memcpy(to, memory[HOST] + offset, length);
    } else {
        CHECK_EQ(cuMemcpyDtoH_v2(to, (uintptr_t)memory[place] + offset, length), 0);
    }
}

/* Memory of pools counts as managed, unless it is told otherwise. */
static int is_of_device(place_t place)
{
    const char *pools = getenv("UCX_CUDA_COPY_ASYNC_MEM_TYPE");

    switch (place) {
    case HOST:
    case MANAGED:
        return 0;
    case POOLED:
    case POOL_BY_FILE:
    case POOL_BY_BYTES:
        return pools != NULL && strcmp(pools, "cuda") == 0;
    default:
        return 1;
    }
}

/* Whether the other process opens bytes of it. */
static int is_given(place_t place, size_t offset, size_t length)
{
    size_t step = SPACE / 2;

    switch (place) {
    case DEVICE:
        return 1;
    case TWO_STEPS:
        return length > 0 && offset / step == (offset + length - 1) / step;
    default:
        return handles[place] && is_of_device(place);
    }
}

/* Whether a message is copied to memory of the device that the other process opens, and from there: where that opens neither end,
 * or is not given its own to be written. */
static int goes_by_parts(place_t from, place_t to, size_t offset, size_t length)
{
    int is_put = writes && !handles_errors && is_of_device(to);

    return reads && from != HOST && to != HOST && length >= 16384 && !is_given(from, offset, length) && !is_put;
}

/* Both processes draw the same. */
static void draw(char *into, size_t length, unsigned seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        into[i] = (char)(i * 7 + i / 256 + seed * 31);
    }
}

static void holds(place_t place, size_t offset, const char *from, size_t length, const char *what)
{
    load(place, 0, bytes, SPACE);
    if (memcmp(bytes + offset, from, length)) {
        FAIL("%s of %zu bytes at %zu of %s memory: other bytes came", what, length, offset, names[place]);
    }
}

/* ---- two processes ---- */

static ucs_status_t ended(ucs_status_ptr_t request)
{
    return request_wait(side.worker, side.worker, request);
}

static void meet(void)
{
    side_meet(&side, &pair);
}

static long copies(void)
{
    return fake_cuda_calls("cuMemcpyAsync");
}

/* How many copies both processes have made since `before`. */
static void made(long before, int mine, int theirs, const char *what)
{
    long here = copies() - before, there;

    pair_exchange(&pair, &here, &there, sizeof(here));
    if (direct && (here != mine || there != theirs)) {
        FAIL("%s: %ld copies here and %ld there, not %d and %d", what, here, there, mine, theirs);
    }
}

/* How a message goes. */
typedef enum { TAG, AM, STREAM, WAYS } way_t;

static const char *way_names[] = {"message", "active message", "stream"};

static struct {
    void *description;
    size_t length;
} arrived;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    arrived.description = data;
    arrived.length = length;
    return UCS_INPROGRESS;
}

static void receive(way_t way, char *into, size_t length)
{
    static const ucp_request_param_t plain;
    ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    size_t received = 0;

    switch (way) {
    case TAG:
        CHECK_OK(ended(ucp_tag_recv_nbx(side.worker, into, length, 1, -1, &plain)));
        return;
    case AM:
        while (arrived.description == NULL) {
            ucp_worker_progress(side.worker);
        }
        CHECK_EQ(arrived.length, length);
        CHECK_OK(ended(ucp_am_recv_data_nbx(side.worker, arrived.description, into, length, &plain)));
        arrived.description = NULL;
        return;
    default:
        CHECK_OK(ended(ucp_stream_recv_nbx(ep, into, length, &received, &whole)));
    }
}

static void transmit(way_t way, char *from, size_t length)
{
    static const ucp_request_param_t plain;
    ucp_request_param_t rndv = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_RNDV};

    switch (way) {
    case TAG:
        CHECK_OK(ended(ucp_tag_send_nbx(ep, from, length, 1, &plain)));
        return;
    case AM:
        CHECK_OK(ended(ucp_am_send_nbx(ep, 1, NULL, 0, from, length, &rndv)));
        return;
    default:
        CHECK_OK(ended(ucp_stream_send_nbx(ep, from, length, &plain)));
    }
}

static void message(way_t way, place_t from, place_t to, size_t offset, size_t length, unsigned seed)
{
    /* The bytes of a stream are fetched before their place is known. */
    int getting = reads && way != STREAM && is_given(from, offset, length);
    int parts = way != STREAM && goes_by_parts(from, to, offset, length);
    /* The word that is read behind what may be taken back. */
    int word = getting && handles_errors && epoch_on_device;
    /* What may be taken back is not written by a peer. */
    int putting = !getting && writes && way != STREAM && !handles_errors && is_given(to, offset, length) &&
                  (is_of_device(from) || way == AM || length >= MOST - 1);
    long before;
    char what[100];

    snprintf(what, sizeof(what), "a %s of %zu bytes, %s to %s", way_names[way], length, names[from], names[to]);
    draw(expected, length, seed);
    if (pair_is_child(&pair)) {
        memset(bytes, 0x55, SPACE);
        store(to, 0, bytes, SPACE);
        before = copies();
        meet();
        receive(way, memory[to] + offset, length);
        meet();
        if (getting || putting || parts) {
            made(before, getting + word + parts, putting + parts, what);
        }
        holds(to, offset, expected, length, what);
    } else {
        store(from, offset, expected, length);
        before = copies();
        meet();
        transmit(way, memory[from] + offset, length);
        meet();
        if (getting || putting || parts) {
            made(before, putting + parts, getting + word + parts, what);
        }
    }
}

static void messages(ucp_ep_h by)
{
    static const size_t lengths[] = {1, 5000, 70000, MOST - 1, MOST};
    unsigned i, seed = 0;
    int way, from, to, counted = direct;

    ep = by;
    if (handles_errors && epoch_on_device) {
        /* The word that says whether something was taken back is written to a device once. */
        direct = 0;
        message(TAG, DEVICE, HOST, 0, MOST, 99);
        direct = counted;
    }
    for (way = TAG; way < (kinds ? AM : WAYS); ++way) {
        for (i = kinds ? 2 : 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
            for (from = HOST; from < PLACES; ++from) {
                for (to = HOST; to < PLACES; ++to) {
                    if (used[from] && used[to] && (lengths[i] > 1 || !direct)) {
                        message(way, from, to, i % 2 ? 17 : 0, lengths[i], ++seed);
                    }
                }
            }
        }
    }
    if (!pair_is_child(&pair)) {
        OK("messages%s", handles_errors ? " with error handling" : "");
    }
}

/* Many messages before any receive: their keys are kept, so that all are copied by a device. */
static void many_unexpected(void)
{
    enum { COUNT = 100, LENGTH = MOST / COUNT };
    int each = 1 + (handles_errors && epoch_on_device);
    static const ucp_request_param_t plain;
    ucs_status_ptr_t sends[COUNT];
    ucp_tag_recv_info_t info;
    long asked, before;
    int i;

    draw(expected, COUNT * LENGTH, 5);
    before = copies();
    meet();
    if (pair_is_child(&pair)) {
        while (!ucp_tag_probe_nb(side.worker, COUNT - 1, -1, 0, &info)) {
            ucp_worker_progress(side.worker);
        }
        for (i = COUNT - 1; i >= 0; --i) {
            CHECK_OK(ended(ucp_tag_recv_nbx(side.worker, memory[DEVICE] + i * LENGTH, LENGTH, i, -1, &plain)));
        }
        meet();
        if (reads) {
            made(before, COUNT * each, 0, "unexpected messages");
        }
        holds(DEVICE, 0, expected, COUNT * LENGTH, "unexpected messages");
        meet();
        return;
    }
    store(DEVICE, 0, expected, COUNT * LENGTH);
    before = copies();
    asked = fake_cuda_calls("cuIpcGetMemHandle");
    for (i = 0; i < COUNT; ++i) {
        sends[i] = ucp_tag_send_nbx(ep, memory[DEVICE] + i * LENGTH, LENGTH, i, &plain);
    }
    for (i = 0; i < COUNT; ++i) {
        CHECK_OK(ended(sends[i]));
    }
    /* The driver has told the allocation's handle before. */
    CHECK(!direct || fake_cuda_calls("cuIpcGetMemHandle") == asked);
    meet();
    if (reads) {
        made(before, 0, COUNT * each, "unexpected messages");
    }
    meet();
    OK("unexpected messages");
}

/* ---- remote memory ---- */

typedef struct {
    uint64_t address;
    size_t length;
    char key[512];
} told_t;

static ucp_mem_h map(place_t place)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory[place],
                                   .length = SPACE};
    ucp_mem_h memh;

    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    return memh;
}

static told_t tell(ucp_mem_h memh, place_t place)
{
    told_t told = {.address = (uintptr_t)memory[place]};
    void *packed;

    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &told.length));
    CHECK(told.length <= sizeof(told.key));
    memcpy(told.key, packed, told.length);
    ucp_rkey_buffer_release(packed);
    return told;
}

static void flush(void)
{
    static const ucp_request_param_t plain;

    CHECK_OK(ended(ucp_ep_flush_nbx(ep, &plain)));
}

static void access_of(place_t local, place_t remote, size_t length, unsigned seed)
{
    static const ucp_request_param_t plain;
    int one = is_given(remote, 0, SPACE);
    /* A few bytes of the host go by a message. */
    int one_put = one && (local != HOST || length >= 8192);
    size_t offset = seed % 100;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    told_t told;
    long before;
    char what[100];

    snprintf(what, sizeof(what), "%zu bytes, %s here and %s there", length, names[local], names[remote]);
    draw(expected, length, seed);
    if (pair_is_child(&pair)) {
        memset(bytes, 0x55, SPACE);
        store(remote, 0, bytes, SPACE);
        memh = map(remote);
        told = tell(memh, remote);
        before = copies();
        pair_send(&pair, &told, sizeof(told));
        meet();
        if (one_put) {
            made(before, NONE, ONE, what);
        }
        holds(remote, offset, expected, length, "a put");
        draw(expected, length, seed + 1);
        store(remote, offset, expected, length);
        before = copies();
        meet();
        meet();
        if (one) {
            made(before, NONE, ONE, what);
        }
        CHECK_OK(ucp_mem_unmap(side.context, memh));
        return;
    }
    store(local, offset, expected, length);
    pair_recv(&pair, &told, sizeof(told));
    CHECK_OK(ucp_ep_rkey_unpack(ep, told.key, &rkey));
    before = copies();
    CHECK_OK(ended(ucp_put_nbx(ep, memory[local] + offset, length, told.address + offset, rkey, &plain)));
    flush();
    meet();
    if (one_put) {
        made(before, ONE, NONE, what);
    }
    draw(expected, length, seed + 1);
    memset(bytes, 0, SPACE);
    store(local, 0, bytes, SPACE);
    meet();
    before = copies();
    CHECK_OK(ended(ucp_get_nbx(ep, memory[local] + offset, length, told.address + offset, rkey, &plain)));
    meet();
    if (one) {
        made(before, ONE, NONE, what);
    }
    holds(local, offset, expected, length, "a get");
    ucp_rkey_destroy(rkey);
}

/* The later of two puts to one place, with a fence between, stays. */
static void fences(void)
{
    static const ucp_request_param_t plain;
    ucs_status_ptr_t puts[2];
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    told_t told;
    int round, i;

    for (round = 0; round < 10; ++round) {
        draw(expected, 70000, round + 1);
        if (pair_is_child(&pair)) {
            memh = map(DEVICE);
            told = tell(memh, DEVICE);
            pair_send(&pair, &told, sizeof(told));
            meet();
            holds(DEVICE, 0, expected, 70000, "a put behind a fence");
            CHECK_OK(ucp_mem_unmap(side.context, memh));
            meet();
            continue;
        }
        pair_recv(&pair, &told, sizeof(told));
        CHECK_OK(ucp_ep_rkey_unpack(ep, told.key, &rkey));
        draw(bytes, MOST, 99 + round);
        store(DEVICE, 0, bytes, MOST);
        puts[0] = ucp_put_nbx(ep, memory[DEVICE], MOST, told.address, rkey, &plain);
        CHECK_OK(ucp_worker_fence(side.worker));
        /* Of the host: by messages. */
        memcpy(memory[HOST], expected, 70000);
        puts[1] = ucp_put_nbx(ep, memory[HOST], 70000, told.address, rkey, &plain);
        for (i = 0; i < 2; ++i) {
            CHECK_OK(ended(puts[i]));
        }
        flush();
        meet();
        ucp_rkey_destroy(rkey);
        meet();
    }
}

/* Keys that are not what they should be. */
static void refusals(void)
{
    static const ucp_request_param_t plain;
    ucp_request_param_t amo = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    ucs_status_t status;
    ucp_mem_h memh;
    ucp_rkey_h rkey, wrong;
    told_t told, mine;
    size_t i;

    if (pair_is_child(&pair)) {
        memh = map(DEVICE);
        told = tell(memh, DEVICE);
        pair_send(&pair, &told, sizeof(told));
        meet();
        CHECK_OK(ucp_mem_unmap(side.context, memh));
        meet();
        return;
    }
    pair_recv(&pair, &told, sizeof(told));
    CHECK_OK(ucp_ep_rkey_unpack(ep, told.key, &rkey));
    CHECK_EQ(ended(ucp_put_nbx(ep, memory[DEVICE], 2, told.address + SPACE - 1, rkey, &plain)), UCS_ERR_INVALID_PARAM);
    CHECK_EQ(ended(ucp_get_nbx(ep, memory[DEVICE], 2, told.address - 1, rkey, &plain)), UCS_ERR_INVALID_PARAM);
    CHECK_EQ(ended(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, memory[HOST], 1, told.address, rkey, &amo)),
             UCS_ERR_UNSUPPORTED);
    for (i = 0; i < told.length; ++i) {
        told.key[i] ^= 1 << i % 8;
        if (ucp_ep_rkey_unpack(ep, told.key, &wrong) == UCS_OK) {
            FAIL("a key with another byte %zu was taken", i);
        }
        told.key[i] ^= 1 << i % 8;
    }
    /* Of this process, for the other one. */
    memh = map(DEVICE);
    mine = tell(memh, DEVICE);
    CHECK_OK(ucp_ep_rkey_unpack(ep, mine.key, &wrong));
    status = ended(ucp_get_nbx(ep, memory[DEVICE], 100, mine.address, wrong, &plain));
    CHECK(status != UCS_OK);
    ucp_rkey_destroy(wrong);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    meet();
    meet();
    ucp_rkey_destroy(rkey);
    OK("refusals");
}

static void remote_memory(void)
{
    static const size_t lengths[] = {1, 5000, MOST};
    int local, remote;
    unsigned i, seed = 0;

    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
        for (local = HOST; local < PLACES; ++local) {
            for (remote = DEVICE; remote < PLACES; ++remote) {
                if (used[local] && used[remote]) {
                    access_of(local, remote, lengths[i], seed += 2);
                }
            }
        }
    }
    fences();
    if (!pair_is_child(&pair)) {
        OK("remote memory");
    }
    /* They are told. */
    if (!kinds) {
        refusals();
    }
}

/* ---- memory that is taken back ---- */

static void on_error(void *arg, ucp_ep_h failed_ep, ucs_status_t status)
{
    ++failed;
}

static ucp_ep_h connect_watched(const char *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .address = (const ucp_address_t*)address,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler.cb = on_error};
    ucp_ep_h watched;

    CHECK_OK(ucp_ep_create(side.worker, &params, &watched));
    return watched;
}

static void close_ep(ucp_ep_h closing, unsigned flags)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};

    ended(ucp_ep_close_nbx(closing, &param));
}

/* The sender closes its endpoint by force while the receiver copies, and writes other bytes: the receive fails, or has
 * the bytes of before. */
static void revoked(const char *address)
{
    static const ucp_request_param_t plain;
    int round, failures = 0;
    ucs_status_t status;
    ucs_status_ptr_t request;
    ucp_ep_h watched;
    long before;

    for (round = 0; round < 20; ++round) {
        draw(expected, MOST, round);
        watched = connect_watched(address);
        if (pair_is_child(&pair)) {
            meet();
            before = copies();
            request = ucp_tag_recv_nbx(side.worker, memory[DEVICE], MOST, 3, -1, &plain);
            CHECK(UCS_PTR_IS_PTR(request));
            while (direct && reads && copies() == before) {
                ucp_worker_progress(side.worker);
            }
            pair_barrier(&pair);
            pair_barrier(&pair);
            if (!direct || !reads) {
                ucp_request_cancel(side.worker, request);
            }
            status = ended(request);
            if (status == UCS_OK) {
                holds(DEVICE, 0, expected, MOST, "a message that was taken back");
            } else {
                ++failures;
            }
            meet();
            close_ep(watched, UCP_EP_CLOSE_FLAG_FORCE);
        } else {
            store(DEVICE, 0, expected, MOST);
            request = ucp_tag_send_nbx(watched, memory[DEVICE], MOST, 3, &plain);
            CHECK(!UCS_PTR_IS_ERR(request));
            meet();
            pair_barrier(&pair);
            close_ep(watched, UCP_EP_CLOSE_FLAG_FORCE);
            ended(request);
            memset(bytes, 0x77, MOST);
            store(DEVICE, 0, bytes, MOST);
            pair_barrier(&pair);
            meet();
        }
    }
    /* Copies that end at once cannot be caught in between. */
    if (direct && reads && pair_is_child(&pair)) {
        CHECK(failures > 0 || (getenv("FAKE_CUDA") && strstr(getenv("FAKE_CUDA"), "late=0")));
    }
    if (!pair_is_child(&pair)) {
        OK("memory that is taken back");
    }
}

/* Both sleep while there is nothing to do. */
static void asleep(void)
{
    static const ucp_request_param_t plain;
    ucs_status_ptr_t request;
    int round;

    for (round = 0; round < 10; ++round) {
        draw(expected, MOST, round);
        meet();
        if (pair_is_child(&pair)) {
            request = ucp_tag_recv_nbx(side.worker, memory[DEVICE], MOST, 4, -1, &plain);
        } else {
            store(DEVICE, 0, expected, MOST);
            request = ucp_tag_send_nbx(ep, memory[DEVICE], MOST, 4, &plain);
        }
        while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
            CHECK_OK(ucp_worker_wait(side.worker));
            while (ucp_worker_progress(side.worker)) {
            }
        }
        CHECK_OK(ended(request));
        meet();
        if (pair_is_child(&pair)) {
            holds(DEVICE, 0, expected, MOST, "a message to a program that sleeps");
        }
    }
    if (!pair_is_child(&pair)) {
        OK("programs that sleep");
    }
}

/* The parent has the message, and finds out that the sender is gone while it reads, or before. */
static void death(const char *address)
{
    static const ucp_request_param_t plain;
    ucp_ep_h watched = connect_watched(address);
    ucs_status_ptr_t request;
    ucp_tag_recv_info_t info;
    int status;

    draw(expected, MOST, 1);
    if (pair_is_child(&pair)) {
        store(DEVICE, 0, expected, MOST);
        request = ucp_tag_send_nbx(watched, memory[DEVICE], MOST, 5, &plain);
        CHECK(UCS_PTR_IS_PTR(request));
        for (;;) {
            ucp_worker_progress(side.worker);
        }
    }
    /* So that its own end of the peer's endpoint is watched. */
    CHECK_OK(ended(ucp_ep_flush_nbx(watched, &plain)));
    while (!ucp_tag_probe_nb(side.worker, 5, -1, 0, &info)) {
        ucp_worker_progress(side.worker);
    }
    kill(pair.child, SIGKILL);
    CHECK_EQ(waitpid(pair.child, &status, 0), pair.child);
    if (ended(ucp_tag_recv_nbx(side.worker, memory[DEVICE], MOST, 5, -1, &plain)) == UCS_OK) {
        holds(DEVICE, 0, expected, MOST, "a message of a process that has ended");
    }
    close_ep(watched, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&side);
    release();
    puts("ok between");
    exit(0);
}

int main(int argc, char **argv)
{
    enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP };
    char theirs[ADDRESS_ROOM];
    const char *scheme = getenv("UCX_RNDV_SCHEME");
    CUcontext context, current;
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                      .id = 1, .cb = on_message, .flags = UCP_AM_FLAG_PERSISTENT_DATA};
    ucp_ep_h plain, watched;
    int place;

    alarm(100);
    reads = !scheme || strcmp(scheme, "put_zcopy");
    /* Where processes share no memory, a device reads whether a message was taken back. */
    epoch_on_device = getenv("UCX_TLS") && strstr(getenv("UCX_TLS"), "tcp");
    writes = !scheme || !strcmp(scheme, "auto") || !reads;
    direct = argc > 1 && !strcmp(argv[1], "ipc");
    kinds = argc > 2;
    CHECK(!kinds || !strcmp(argv[2], "kinds") || !strcmp(argv[2], "files"));
    if (kinds) {
        used[MANAGED] = used[POOLED] = 0;
        for (place = USUAL; place < PLACES; ++place) {
            used[place] = handles[place] != HANDLE_FABRIC || !strcmp(argv[2], "kinds");
        }
    }
    pair = pair_start();
    context = use_device(0);
    allocate();
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
    side_swap_addresses(&side, &pair, theirs);
    if (argc > 1 && !strcmp(argv[1], "death")) {
        death(theirs);
    }
    watched = connect_watched(theirs);
    messages(side_connect(&side, theirs));
    if (!kinds) {
        many_unexpected();
    }
    remote_memory();
    if (!kinds) {
        asleep();
    }
    plain = ep;
    handles_errors = 1;
    messages(watched);
    if (!kinds) {
        revoked(theirs);
    }
    meet();
    close_ep(watched, 0);
    close_ep(plain, 0);
    meet();
    side_close(&side);
    release();
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
    pair_finish(&pair);
    puts("ok between");
    return 0;
}
