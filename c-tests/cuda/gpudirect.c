/* Device memory that RDMA devices read and write: two contexts of one process, which the stand-in for libibverbs connects, on
 * the stand-in for NVIDIA's driver. Arguments:
 *
 *   direct   expects that no byte is copied by a GPU, but for streams and short messages
 *   staged   expects bytes only: some memory cannot be registered, or messages go other ways
 *   off      expects that none is registered: no device can, or none shall
 *
 * The counts of both stand-ins tell. Run by tests/cuda with UCX_TLS=rc_verbs,cuda_copy. */
#define _GNU_SOURCE
#include "../cuda_driver.h"
#include "../failure.h"
#include "../verbs/stand_in.h"

#include <fcntl.h>
#include <sys/syscall.h>

enum { MOST = 3 << 20, SPACE = MOST + 4096, FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA |
                                                      UCP_FEATURE_AMO64 };

typedef enum { HOST, DEVICE, OTHER, PLACES } place_t;

static const char *names[] = {"host", "device", "other device"};
static const ucp_request_param_t plain;

static side_t origin, owner;
static ucp_ep_h ep, back;
static char *memory[2][PLACES], *bytes;
static int devices, direct, kept, revocable, rails;
static uint64_t seed;

/* ---- memory ---- */

static void store(char *at_device, place_t place, size_t length)
{
    fill(bytes, length, ++seed);
    if (place == HOST) {
        memcpy(at_device, bytes, length);
    } else {
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)at_device, bytes, length), 0);
    }
}

static void clear(char *at_device, place_t place, size_t length)
{
    memset(bytes, 0, length);
    if (place == HOST) {
        memset(at_device, 0, length);
    } else {
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)at_device, bytes, length), 0);
    }
}

static void holds(const char *at_device, place_t place, size_t length, const char *what)
{
    if (place == HOST) {
        memcpy(bytes, at_device, length);
    } else {
        CHECK_EQ(cuMemcpyDtoH_v2(bytes, (uintptr_t)at_device, length), 0);
    }
    if (wrong_at(bytes, length, seed) != length) {
        FAIL("%s: byte %zu of %zu is another one in %s memory", what, wrong_at(bytes, length, seed), length, names[place]);
    }
}

static char *allocate(place_t place, size_t length)
{
    char *made;

    if (place == HOST) {
        made = malloc(length);
        CHECK(made != NULL);
        return made;
    }
    use_device(place == OTHER);
    made = at(device_memory(length));
    use_device(0);
    return made;
}

/* ---- counts ---- */

typedef struct {
    long copies, reads, writes, registrations;
} counts_t;

static counts_t counts(void)
{
    return (counts_t){fake_cuda_calls("cuMemcpyAsync") + fake_cuda_calls("cuMemcpy"), *setting("reads"), *setting("writes"),
                      *setting("reg")};
}

static counts_t since(counts_t before)
{
    counts_t after = counts();

    return (counts_t){after.copies - before.copies, after.reads - before.reads, after.writes - before.writes,
                      after.registrations - before.registrations};
}

/* ---- messages ---- */

static int reads_allowed, writes_allowed;

static void done(ucs_status_ptr_t request)
{
    CHECK_OK(side_wait(&origin, &owner, request));
}

typedef enum { TAG, AM, STREAM, WAYS } way_t;

static const char *way_names[] = {"message", "active message", "stream"};
static void *arrived;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    arrived = data;
    return UCS_INPROGRESS;
}

static void message(way_t way, place_t from, place_t to, size_t offset, size_t length)
{
    ucp_request_param_t rndv = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_RNDV};
    ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    char *source = memory[0][from] + offset, *target = memory[1][to] + offset, what[100];
    ucs_status_ptr_t sent, received;
    size_t got;
    counts_t before, took;
    int gets;

    snprintf(what, sizeof(what), "a %s of %zu bytes, %s to %s", way_names[way], length, names[from], names[to]);
    store(source, from, length);
    clear(target, to, length);
    before = counts();
    switch (way) {
    case TAG:
        sent = ucp_tag_send_nbx(ep, source, length, 1, &plain);
        received = ucp_tag_recv_nbx(owner.worker, target, length, 1, -1, &plain);
        break;
    case AM:
        arrived = NULL;
        sent = ucp_am_send_nbx(ep, 1, NULL, 0, source, length, &rndv);
        DRIVE_UNTIL(&origin, &owner, arrived != NULL);
        received = ucp_am_recv_data_nbx(owner.worker, arrived, target, length, &plain);
        break;
    default:
        sent = ucp_stream_send_nbx(ep, source, length, &plain);
        received = ucp_stream_recv_nbx(back, target, length, &got, &whole);
    }
    done(sent);
    done(received);
    took = since(before);
    holds(target, to, length, what);
    /* A sender of the host's memory does not know where the bytes go, and sends shorter ones at once. */
    if (!direct || way == STREAM || (from == HOST && to == HOST) || length < (from == HOST && way == TAG ? 300000 : 65536)) {
        return;
    }
    /* What may be taken back is read only if its registration outlives that, with a look behind it. */
    gets = reads_allowed && (kept || !revocable);
    if (rails) {
        took.reads = took.reads > 0 ? 1 + revocable : 0;
        took.writes = took.writes > 0;
    }
    if (took.copies != 0 || took.reads != (gets ? 1 + revocable : 0) || took.writes != (gets ? 0 : 1)) {
        FAIL("%s took %ld copies, %ld reads and %ld writes", what, took.copies, took.reads, took.writes);
    }
}

static void messages(const char *kind)
{
    static const size_t lengths[] = {1, 5000, 70000, MOST - 1, MOST};
    unsigned i;
    int way, from, to;

    for (way = TAG; way < WAYS; ++way) {
        for (i = 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
            for (from = HOST; from < HOST + 1 + devices; ++from) {
                for (to = HOST; to < HOST + 1 + devices; ++to) {
                    message(way, from, to, i % 2 ? 17 : 0, lengths[i]);
                }
            }
        }
    }
    OK("messages%s", kind);
}

/* More than are kept at the receiver's, before it asks for them. */
static void many_unexpected(void)
{
    enum { COUNT = 100, LENGTH = 20000 };
    ucs_status_ptr_t sends[COUNT];
    counts_t before, took;
    int i;

    store(memory[0][DEVICE], DEVICE, COUNT * LENGTH);
    clear(memory[1][DEVICE], DEVICE, COUNT * LENGTH);
    before = counts();
    for (i = 0; i < COUNT; ++i) {
        sends[i] = ucp_tag_send_nbx(ep, memory[0][DEVICE] + i * LENGTH, LENGTH, i, &plain);
    }
    DRIVE_UNTIL(&origin, &owner, ucp_tag_probe_nb(owner.worker, COUNT - 1, -1, 0, &(ucp_tag_recv_info_t){0}) != NULL);
    for (i = 0; i < COUNT; ++i) {
        done(ucp_tag_recv_nbx(owner.worker, memory[1][DEVICE] + i * LENGTH, LENGTH, i, -1, &plain));
    }
    for (i = 0; i < COUNT; ++i) {
        done(sends[i]);
    }
    took = since(before);
    holds(memory[1][DEVICE], DEVICE, COUNT * LENGTH, "unexpected messages");
    if (direct) {
        CHECK_EQ(took.copies, 0);
        CHECK_EQ(reads_allowed ? took.reads : took.writes, COUNT);
    }
    OK("unexpected messages");
}

/* ---- remote memory ---- */

static ucp_mem_h map(side_t *side, char *address, size_t length)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = address, .length = length};
    ucp_mem_h mapped;

    CHECK_OK(ucp_mem_map(side->context, &params, &mapped));
    return mapped;
}

static ucp_rkey_h key_of(ucp_mem_h mapped)
{
    ucp_rkey_h key;
    void *blob;
    size_t size;

    CHECK_OK(ucp_rkey_pack(owner.context, mapped, &blob, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &key));
    ucp_rkey_buffer_release(blob);
    return key;
}

/* Where all is direct the owner makes no progress: its processor takes no part. */
static void access_ended(ucs_status_ptr_t request)
{
    CHECK_OK(side_wait(&origin, direct ? &origin : &owner, request));
}

static void access_of(place_t local, place_t remote, size_t length, int with_handle)
{
    ucp_request_param_t param = {.op_attr_mask = with_handle ? UCP_OP_ATTR_FIELD_MEMH : 0};
    char *here = memory[0][local] + 5, *there = memory[1][remote] + 9, what[100];
    ucp_mem_h mapped = map(&owner, memory[1][remote], SPACE), own = map(&origin, memory[0][local], SPACE);
    ucp_rkey_h key = key_of(mapped);
    counts_t before, took;

    snprintf(what, sizeof(what), "%zu bytes, %s here and %s there", length, names[local], names[remote]);
    param.memh = own;
    store(here, local, length);
    clear(there, remote, length);
    before = counts();
    access_ended(ucp_put_nbx(ep, here, length, (uintptr_t)there, key, &param));
    access_ended(ucp_ep_flush_nbx(ep, &plain));
    took = since(before);
    holds(there, remote, length, what);
    /* The flush may take one of no bytes. */
    if (direct && (took.copies != 0 || took.writes < 1 || took.writes > 2 || (with_handle && took.registrations != 0))) {
        FAIL("a put of %s took %ld copies, %ld writes and %ld registrations", what, took.copies, took.writes, took.registrations);
    }
    store(there, remote, length);
    before = counts();
    access_ended(ucp_get_nbx(ep, here, length, (uintptr_t)there, key, &param));
    took = since(before);
    holds(here, local, length, what);
    if (direct && (took.copies != 0 || took.reads != 1 || (with_handle && took.registrations != 0))) {
        FAIL("a get of %s took %ld copies, %ld reads and %ld registrations", what, took.copies, took.reads, took.registrations);
    }
    ucp_rkey_destroy(key);
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
    CHECK_OK(ucp_mem_unmap(origin.context, own));
}

/* The later of two puts to one place, with a fence between, stays; and no key gives more than its range. */
static void fences_and_refusals(void)
{
    ucp_request_param_t word = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    char *there = memory[1][DEVICE];
    ucp_mem_h mapped = map(&owner, there, SPACE);
    ucp_rkey_h key = key_of(mapped), wrong;
    ucs_status_ptr_t first;
    unsigned char *blob;
    size_t size, i;

    for (i = 0; i < 10; ++i) {
        store(memory[0][DEVICE], DEVICE, MOST);
        first = ucp_put_nbx(ep, memory[0][DEVICE], MOST, (uintptr_t)there, key, &plain);
        CHECK_OK(ucp_worker_fence(origin.worker));
        store(memory[0][HOST], HOST, 70000);
        done(ucp_put_nbx(ep, memory[0][HOST], 70000, (uintptr_t)there, key, &plain));
        done(first);
        done(ucp_ep_flush_nbx(ep, &plain));
        holds(there, DEVICE, 70000, "a put behind a fence");
    }
    CHECK_STATUS(side_wait(&origin, &owner, ucp_put_nbx(ep, memory[0][DEVICE], 2, (uintptr_t)there + SPACE - 1, key, &plain)),
                 UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(side_wait(&origin, &owner, ucp_get_nbx(ep, memory[0][DEVICE], 2, (uintptr_t)there - 1, key, &plain)),
                 UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(UCS_PTR_STATUS(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, memory[0][HOST], 1, (uintptr_t)there, key, &word)),
                 UCS_ERR_UNSUPPORTED);
    CHECK_OK(ucp_rkey_pack(owner.context, mapped, (void**)&blob, &size));
    for (i = 0; i < size; ++i) {
        blob[i] ^= 1 << i % 8;
        CHECK(ucp_ep_rkey_unpack(ep, blob, &wrong) != UCS_OK);
        blob[i] ^= 1 << i % 8;
    }
    ucp_rkey_buffer_release(blob);
    ucp_rkey_destroy(key);
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
    OK("fences and refusals");
}

static void remote_memory(void)
{
    static const size_t lengths[] = {1, 5000, 300000, MOST};
    unsigned i;
    int local, remote;

    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
        for (local = HOST; local < HOST + 1 + devices; ++local) {
            for (remote = HOST; remote < HOST + 1 + devices; ++remote) {
                if (local != HOST || remote != HOST) {
                    access_of(local, remote, lengths[i], 0);
                    access_of(local, remote, lengths[i], 1);
                }
            }
        }
    }
    OK("remote memory");
    fences_and_refusals();
}

/* ---- kept registrations ---- */

/* A message from memory that may be another one than before; gives the number of registrations. */
static long registrations_of(char *source, char *target)
{
    counts_t before;
    ucs_status_ptr_t sent;

    store(source, DEVICE, MOST);
    before = counts();
    sent = ucp_tag_send_nbx(ep, source, MOST, 1, &plain);
    done(ucp_tag_recv_nbx(owner.worker, target, MOST, 1, -1, &plain));
    done(sent);
    holds(target, DEVICE, MOST, "a message from other memory");
    return since(before).registrations;
}

static void memory_that_is_freed(void)
{
    enum { ROUNDS = 12 };
    char *target = memory[1][DEVICE], *source = at(device_memory(MOST)), *all[ROUNDS], *again;
    long live;
    int i, same = 0;

    registrations_of(source, target);
    CHECK_EQ(registrations_of(source, target), kept ? 0 : 2);
    /* Other memory at the same address is registered anew: else the bytes of before would come. */
    for (i = 0; i < ROUNDS; ++i) {
        CHECK_EQ(cuMemFree_v2((uintptr_t)source), 0);
        again = at(device_memory(MOST));
        same += again == source;
        source = again;
        CHECK(registrations_of(source, target) >= 1);
    }
    CHECK(same > 0);
    /* What was freed does not stay registered while others are. */
    live = *setting("live");
    for (i = 0; i < ROUNDS; ++i) {
        all[i] = at(device_memory(MOST));
        registrations_of(all[i], target);
    }
    CHECK_EQ(*setting("live") - live, kept ? ROUNDS : 0);
    for (i = 0; i < ROUNDS; ++i) {
        CHECK_EQ(cuMemFree_v2((uintptr_t)all[i]), 0);
    }
    for (i = 0; i < 40 * ROUNDS && *setting("live") > live; ++i) {
        registrations_of(source, target);
    }
    CHECK_EQ(*setting("live"), live);
    CHECK_EQ(cuMemFree_v2((uintptr_t)source), 0);
    OK("memory that is freed");
}

/* What can no longer be registered is staged; when it can again, after a while or for a handle, it is direct again. */
static void registrations_that_fail(void)
{
    char *source = at(device_memory(MOST)), *target = at(device_memory(MOST));
    ucs_status_ptr_t sent;
    int i;

    *setting("max_reg") = 65536;
    for (i = 0; i < 5; ++i) {
        store(source, DEVICE, MOST);
        sent = ucp_tag_send_nbx(ep, source, MOST, 1, &plain);
        done(ucp_tag_recv_nbx(owner.worker, target, MOST, 1, -1, &plain));
        done(sent);
        holds(target, DEVICE, MOST, "a message that cannot be registered");
    }
    *setting("max_reg") = 0;
    CHECK_OK(ucp_mem_unmap(origin.context, map(&origin, source, MOST)));
    CHECK_OK(ucp_mem_unmap(owner.context, map(&owner, target, MOST)));
    message(TAG, DEVICE, DEVICE, 0, MOST);
    CHECK_EQ(cuMemFree_v2((uintptr_t)source), 0);
    CHECK_EQ(cuMemFree_v2((uintptr_t)target), 0);
    OK("registrations that fail");
}

/* Memory that is mapped in steps has a dmabuf for each of them here. */
static void steps(void)
{
    enum { LENGTH = 1 << 20 };
    CUdeviceptr one = memory_in_steps(1, HANDLE_NONE), two = memory_in_steps(2, HANDLE_NONE);
    char *sources[] = {at(one), at(two + STEP - LENGTH / 2)};
    ucs_status_ptr_t sent;
    counts_t before, took;
    int i;

    for (i = 0; i < 2; ++i) {
        store(sources[i], DEVICE, LENGTH);
        clear(memory[1][DEVICE], DEVICE, LENGTH);
        before = counts();
        sent = ucp_tag_send_nbx(ep, sources[i], LENGTH, 1, &plain);
        done(ucp_tag_recv_nbx(owner.worker, memory[1][DEVICE], LENGTH, 1, -1, &plain));
        done(sent);
        took = since(before);
        holds(memory[1][DEVICE], DEVICE, LENGTH, "a message from memory in steps");
        CHECK(i == 0 ? took.copies == 0 : took.copies > 0);
    }
    free_steps(one, 1);
    free_steps(two, 2);
    OK("memory in steps");
}

/* ---- memory that is taken back ---- */

static failure_t failure;

/* The sender closes by force while the receiver's device reads, and frees the memory: the receive does not succeed with bytes of
 * later, and nobody else's messages are harmed. */
static void taken_back(void)
{
    ucp_ep_h other = ep, first = connect_watched(&origin, owner.address, &failure);
    char *source = at(device_memory(MOST));
    ucs_status_ptr_t sent, received;
    ucs_status_t status;

    ep = first;
    message(TAG, DEVICE, DEVICE, 0, MOST);
    store(source, DEVICE, MOST);
    *setting("stall") = 1;
    sent = ucp_tag_send_nbx(first, source, MOST, 2, &plain);
    received = ucp_tag_recv_nbx(owner.worker, memory[1][DEVICE], MOST, 2, -1, &plain);
    DRIVE_UNTIL(&origin, &owner, *setting("waiting") > 0);
    CHECK_OK(side_disconnect(&origin, &owner, first, UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_STATUS(side_wait(&origin, &owner, sent), UCS_ERR_CANCELED);
    memset(bytes, 0xee, MOST);
    CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)source, bytes, MOST), 0);
    CHECK_EQ(cuMemFree_v2((uintptr_t)source), 0);
    *setting("stall") = 0;
    ep = other;
    message(TAG, HOST, HOST, 0, 100);
    status = side_wait(&origin, &owner, received);
    CHECK(status != UCS_OK);
    message(TAG, DEVICE, DEVICE, 0, MOST);
    OK("memory that is taken back");
}

int main(int argc, char **argv)
{
    const char *scheme = getenv("UCX_RNDV_SCHEME"), *cache = getenv("UCX_RCACHE_ENABLE"), *cuda = getenv("FAKE_CUDA"),
               *verbs = getenv("FAKE_VERBS");
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                      .id = 1, .cb = on_message, .flags = UCP_AM_FLAG_PERSISTENT_DATA};
    int side, place, open_before, watch = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);
    ucp_ep_h watched;

    alarm(100);
    CHECK(argc == 2);
    direct = !strcmp(argv[1], "direct");
    CHECK(direct || !strcmp(argv[1], "staged") || !strcmp(argv[1], "off"));
    kept = cache == NULL || cache[0] != 'n';
    reads_allowed = scheme == NULL || strcmp(scheme, "put_zcopy");
    writes_allowed = scheme == NULL || strcmp(scheme, "get_zcopy");
    devices = cuda && strstr(cuda, "devices=2") ? 2 : 1;
    rails = verbs && strstr(verbs, "devices=2");
    bytes = malloc(SPACE);
    CHECK(bytes != NULL);
    use_device(0);
    for (side = 0; side < 2; ++side) {
        for (place = HOST; place < HOST + 1 + devices; ++place) {
            memory[side][place] = allocate(place, SPACE);
        }
    }
    open_before = open_descriptors();
    side_open(&origin, FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, FEATURES, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(owner.worker, &handler));
    ep = side_connect(&origin, owner.address);
    back = side_connect(&owner, origin.address);
    messages("");
    many_unexpected();
    remote_memory();
    if (rails) {
        CHECK(*setting("data1") > MOST);
    }
    if (direct && reads_allowed && writes_allowed && !rails) {
        memory_that_is_freed();
        registrations_that_fail();
        steps();
    }
    watched = connect_watched(&origin, owner.address, &failure);
    back = connect_watched(&owner, origin.address, &failure);
    /* Without userfaultfd nothing of the host is kept, and not read where it may be taken back. */
    if (watch >= 0 && kept && writes_allowed) {
        revocable = 1;
        ep = watched;
        messages(" with error handling");
        if (direct && reads_allowed) {
            taken_back();
        }
    }
    side_disconnect(&origin, &owner, watched, 0);
    side_close(&origin);
    side_close(&owner);
    CHECK_EQ(*setting("live"), 0);
    CHECK(strcmp(argv[1], "off") || *setting("dmabufs") == 0);
    /* One by which the library watches the host's memory stays. */
    CHECK(open_descriptors() <= open_before + 1);
    for (side = 0; side < 2; ++side) {
        for (place = HOST; place < HOST + 1 + devices; ++place) {
            if (place == HOST) {
                free(memory[side][place]);
            } else {
                CHECK_EQ(cuMemFree_v2((uintptr_t)memory[side][place]), 0);
            }
        }
    }
    puts("ok gpudirect");
    return 0;
}
