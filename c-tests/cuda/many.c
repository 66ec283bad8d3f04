/* What ucx_perftest and io_demo do with device memory: two processes that both send and receive, many messages at a time, of
 * any length, between any two places, receives posted before or behind, tags and active messages, then puts and gets into
 * memory of the other one. Each message comes whole, at its place, and nothing beside it is written. Transports are those of
 * the environment; the argument is a seed. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

/* Built for longer messages, too. */
#ifndef LONGEST_BYTES
#define LONGEST_BYTES (1 << 20)
#define MESSAGES 48
#else
#define MESSAGES 12
#endif
enum { COUNT = MESSAGES, SLOT = LONGEST_BYTES + 4096, ALL = COUNT * SLOT, ROUNDS = 4 };
typedef enum { HOST, DEVICE, MANAGED, PLACES } place_t;

typedef struct {
    place_t from, to;
    size_t length;
    unsigned seed;
} message_t;

static pair_t pair;
static side_t side;
static ucp_ep_h ep;
static CUcontext context;
/* Of each place, what is sent and what is received. */
static char *out[PLACES], *in[PLACES], *bytes;
/* What this process sends, and what the other one does. */
static message_t mine[COUNT], theirs[COUNT];

static char *allocate(place_t place)
{
    char *memory = place == HOST ? malloc(ALL) : at(place == DEVICE ? device_memory(ALL) : managed_memory(ALL));

    CHECK(memory != NULL);
    return memory;
}

static void store(place_t place, char *to, const char *from, size_t length)
{
    if (place == HOST) {
        memcpy(to, from, length);
    } else {
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)to, from, length), 0);
    }
}

static void load(place_t place, char *to, const char *from, size_t length)
{
    if (place == HOST) {
        memcpy(to, from, length);
    } else {
        CHECK_EQ(cuMemcpyDtoH_v2(to, (uintptr_t)from, length), 0);
    }
}

static char byte_of(const message_t *m, size_t i)
{
    return (char)(i * 7 + i / 251 + m->seed * 31);
}

/* The messages of a process and a round. */
static void plan(message_t *messages, unsigned seed)
{
    static const size_t lengths[] = {1, 100, 5000, 16384, 40000, 65536, LONGEST_BYTES / 3, LONGEST_BYTES};
    unsigned i, k = seed * 2654435761u + 12345;

    for (i = 0; i < COUNT; ++i) {
        k = k * 1103515245u + 12345u;
        messages[i].from = (k >> 16) % PLACES;
        messages[i].to = (k >> 20) % PLACES;
        messages[i].length = lengths[(k >> 24) % 8] - (i % 3 == 2 && (k >> 24) % 8 ? (k >> 8) % 64 : 0);
        messages[i].seed = seed * COUNT + i;
    }
}

static void write_messages(void)
{
    size_t i, k;

    for (i = 0; i < COUNT; ++i) {
        for (k = 0; k < mine[i].length; ++k) {
            bytes[k] = byte_of(&mine[i], k);
        }
        store(mine[i].from, out[mine[i].from] + i * SLOT, bytes, mine[i].length);
    }
}

static void clear(char *memory[PLACES])
{
    int place;

    memset(bytes, 0x55, ALL);
    for (place = HOST; place < PLACES; ++place) {
        store(place, memory[place], bytes, ALL);
    }
}

/* All messages are where they belong, and all other bytes as they were. */
static void came(const char *what)
{
    size_t i, k;
    int place;

    for (place = HOST; place < PLACES; ++place) {
        load(place, bytes, in[place], ALL);
        for (i = 0; i < COUNT; ++i) {
            size_t length = theirs[i].to == place ? theirs[i].length : 0;

            for (k = 0; k < SLOT; ++k) {
                if (bytes[i * SLOT + k] != (k < length ? byte_of(&theirs[i], k) : 0x55)) {
                    FAIL("%s: byte %zu of message %zu, %zu bytes of place %d to %d", what, k, i, theirs[i].length,
                         theirs[i].from, theirs[i].to);
                }
            }
        }
    }
}

static void finish(ucs_status_ptr_t *requests, size_t count)
{
    CUcontext current;
    size_t i;

    for (i = 0; i < count; ++i) {
        CHECK_OK(request_wait(side.worker, side.worker, requests[i]));
        requests[i] = NULL;
    }
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
}

static void meet(void)
{
    side_meet(&side, &pair);
}

/* ---- tags ---- */

static void tags(int late)
{
    static const ucp_request_param_t none;
    static ucs_status_ptr_t sends[COUNT], receives[COUNT];
    size_t i;

    for (i = 0; i < COUNT && !late; ++i) {
        receives[i] = ucp_tag_recv_nbx(side.worker, in[theirs[i].to] + i * SLOT, theirs[i].length, i, -1, &none);
    }
    meet();
    for (i = 0; i < COUNT; ++i) {
        sends[i] = ucp_tag_send_nbx(ep, out[mine[i].from] + i * SLOT, mine[i].length, i, &none);
    }
    if (late) {
        meet();
        for (i = COUNT; i-- > 0;) {
            receives[i] = ucp_tag_recv_nbx(side.worker, in[theirs[i].to] + i * SLOT, theirs[i].length, i, -1, &none);
        }
    }
    finish(sends, COUNT);
    finish(receives, COUNT);
    meet();
    came("tags");
}

/* ---- active messages ---- */

static ucs_status_ptr_t fetches[COUNT];
static void *described[COUNT];
static size_t arrived;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    uint64_t i;

    CHECK_EQ(header_length, sizeof(i));
    memcpy(&i, header, sizeof(i));
    CHECK(i < COUNT && length == theirs[i].length);
    ++arrived;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        described[i] = data;
        return UCS_INPROGRESS;
    }
    store(theirs[i].to, in[theirs[i].to] + i * SLOT, data, length);
    return UCS_OK;
}

static void active_messages(void)
{
    static const ucp_request_param_t none;
    static ucs_status_ptr_t sends[COUNT];
    static uint64_t headers[COUNT];
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS};
    size_t i;

    arrived = 0;
    meet();
    for (i = 0; i < COUNT; ++i) {
        headers[i] = i;
        param.flags = i % 4 == 1 ? UCP_AM_SEND_FLAG_EAGER : i % 4 == 2 ? UCP_AM_SEND_FLAG_RNDV : 0;
        sends[i] = ucp_am_send_nbx(ep, 1, &headers[i], sizeof(headers[i]), out[mine[i].from] + i * SLOT, mine[i].length,
                                   &param);
    }
    WORKERS_UNTIL(side.worker, side.worker, arrived == COUNT);
    for (i = 0; i < COUNT; ++i) {
        fetches[i] = described[i] ? ucp_am_recv_data_nbx(side.worker, described[i], in[theirs[i].to] + i * SLOT,
                                                         theirs[i].length, &none) :
                                    NULL;
        described[i] = NULL;
    }
    finish(sends, COUNT);
    finish(fetches, COUNT);
    meet();
    came("active messages");
}

/* ---- memory of the other one ---- */

typedef struct {
    uint64_t address;
    size_t length;
    char key[512];
} told_t;

static ucp_mem_h memhs[PLACES];
static ucp_rkey_h rkeys[PLACES];
static uint64_t addresses[PLACES];

static void exchange_keys(char *memory[PLACES])
{
    int place;

    for (place = HOST; place < PLACES; ++place) {
        ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                       .address = memory[place],
                                       .length = ALL};
        told_t here = {.address = (uintptr_t)memory[place]}, there;
        void *packed;

        CHECK_OK(ucp_mem_map(side.context, &params, &memhs[place]));
        CHECK_OK(ucp_rkey_pack(side.context, memhs[place], &packed, &here.length));
        CHECK(here.length <= sizeof(here.key));
        memcpy(here.key, packed, here.length);
        ucp_rkey_buffer_release(packed);
        pair_exchange(&pair, &here, &there, sizeof(here));
        CHECK_OK(ucp_ep_rkey_unpack(ep, there.key, &rkeys[place]));
        addresses[place] = there.address;
    }
}

static void forget_keys(void)
{
    int place;

    meet();
    for (place = HOST; place < PLACES; ++place) {
        ucp_rkey_destroy(rkeys[place]);
        CHECK_OK(ucp_mem_unmap(side.context, memhs[place]));
    }
}

static void remote_memory(void)
{
    static const ucp_request_param_t none;
    static ucs_status_ptr_t requests[COUNT + 1];
    size_t i;

    exchange_keys(in);
    for (i = 0; i < COUNT; ++i) {
        requests[i] = ucp_put_nbx(ep, out[mine[i].from] + i * SLOT, mine[i].length, addresses[mine[i].to] + i * SLOT,
                                  rkeys[mine[i].to], &none);
    }
    requests[COUNT] = ucp_ep_flush_nbx(ep, &none);
    finish(requests, COUNT + 1);
    forget_keys();
    meet();
    came("puts");
    clear(in);
    exchange_keys(out);
    for (i = 0; i < COUNT; ++i) {
        requests[i] = ucp_get_nbx(ep, in[theirs[i].to] + i * SLOT, theirs[i].length, addresses[theirs[i].from] + i * SLOT,
                                  rkeys[theirs[i].from], &none);
    }
    finish(requests, COUNT);
    forget_keys();
    came("gets");
}

int main(int argc, char **argv)
{
    enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA };
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                      .id = 1,
                                      .cb = on_message,
                                      .flags = UCP_AM_FLAG_PERSISTENT_DATA};
    char address[ADDRESS_ROOM];
    unsigned round, seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int place;

    alarm(110);
    pair = pair_start();
    context = use_device(0);
    bytes = malloc(ALL);
    CHECK(bytes != NULL);
    for (place = HOST; place < PLACES; ++place) {
        out[place] = allocate(place);
        in[place] = allocate(place);
    }
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
    side_swap_addresses(&side, &pair, address);
    ep = side_connect(&side, address);
    for (round = 0; round < ROUNDS; ++round) {
        plan(pair_is_child(&pair) ? mine : theirs, seed * 100 + 2 * round);
        plan(pair_is_child(&pair) ? theirs : mine, seed * 100 + 2 * round + 1);
        clear(out);
        write_messages();
        clear(in);
        switch (round % 4) {
        case 0: tags(0); break;
        case 1: tags(1); break;
        case 2: active_messages(); break;
        default: remote_memory();
        }
    }
    meet();
    ucp_ep_destroy(ep);
    side_close(&side);
    pair_finish(&pair);
    puts("ok many");
    return 0;
}
