/* A peer that writes into the shared memory of another while both run: facts, bells and the table of lanes, slots,
 * arenas, also whole laps of headers that are due next, by a second thread, so that a word changes between two looks.
 * Nobody crashes or hangs, nothing around what was exported or posted changes, and closing ends. The peer uses the
 * library too, on what it damages; both keep messages where they stand. The layout is that of version 3. */
/* cflags: -pthread */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include "canary.h"
#include "failure.h"
#include "peers.h"
#include "torture.h"

#include <pthread.h>
#include <sched.h>

enum {
    EPOCH = 1000, SEGMENTS = 64, PAGE = CANARY, ROOM = 65536, WINDOW = 8, LARGE = 100000, AM = 3, HEAD = 1024,
    CONTROL = 256, FEATURES = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM
};

typedef struct {
    char address[2][512], rkey[512];
    uint64_t remote;
    volatile int there[2], done;
    volatile uint64_t beats[2], written, received;
} shared_t;

typedef struct {
    unsigned char *base;
    size_t length;
} segment_t;

static shared_t *shared;
static segment_t segments[SEGMENTS];
static unsigned segment_count;

/* Keeps one message at a time, for as long as the next few last. */
static ucs_status_t keep_for_a_while(ucp_worker_h worker, void *data)
{
    static void *kept;
    static unsigned turn;

    if (kept == NULL) {
        kept = data;
        return UCS_INPROGRESS;
    }
    if (++turn % 4 == 0) {
        ucp_am_data_release(worker, kept);
        kept = NULL;
    }
    return UCS_OK;
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    volatile unsigned char sum = 0;
    size_t i;

    for (i = 0; i < header_length; ++i) {
        sum += ((const unsigned char *)header)[i];
    }
    for (i = 0; !(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) && (i < length); ++i) {
        sum += ((const unsigned char *)data)[i];
    }
    shared->received++;
    return param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA ? keep_for_a_while(*(ucp_worker_h *)arg, data) : UCS_OK;
}

/* What the two do alike: an endpoint to the other, receives, and messages of all kinds. */
typedef struct {
    side_t side;
    ucp_ep_h ep;
    failure_t failure;
    ucp_rkey_h rkey;
    ucs_status_ptr_t window[WINDOW];
    ucs_status_ptr_t receives[WINDOW];
    unsigned char *room[WINDOW];
    char *data[WINDOW];
    unsigned turn;
} party_t;

static void party_open(party_t *party, int me)
{
    unsigned i;

    memset(party, 0, sizeof(*party));
    side_open(&party->side, FEATURES, UCS_THREAD_MODE_SINGLE);
    CHECK(party->side.address_length <= sizeof(shared->address[me]));
    memcpy(shared->address[me], party->side.address, party->side.address_length);
    for (i = 0; i < 32; ++i) {
        ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                        .id = i,
                                        .cb = on_message,
                                        .arg = &party->side.worker};
        CHECK_OK(ucp_worker_set_am_recv_handler(party->side.worker, &param));
    }
    for (i = 0; i < WINDOW; ++i) {
        party->room[i] = with_canaries(ROOM);
        party->data[i] = calloc(1, LARGE);
    }
}

static void party_meet(party_t *party, int me)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = (const ucp_address_t *)shared->address[!me],
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = failure_note, .arg = &party->failure}};

    shared->there[me] = 1;
    while (!shared->there[!me]) {
        shared->beats[me]++;
        ucp_worker_progress(party->side.worker);
        sched_yield();
    }
    /* The other one may have damaged what this needs. */
    if (ucp_ep_create(party->side.worker, &params, &party->ep) != UCS_OK) {
        party->ep = NULL;
    }
}

/* One thing of each kind in turn, where the last one of its place has ended. */
static void party_turn(party_t *party, int me)
{
    static const ucp_request_param_t plain;
    unsigned at = party->turn++ % WINDOW;
    ucs_status_ptr_t *request = &party->window[at];

    shared->beats[me]++;
    ucp_worker_progress(party->side.worker);
    if (has_ended(party->receives[at])) {
        drop(party->receives[at]);
        party->receives[at] = ucp_tag_recv_nbx(party->side.worker, party->room[at] + PAGE, ROOM, 0, 0, &plain);
    }
    if (!has_ended(*request) || !party->ep || party->failure.calls) {
        return;
    }
    drop(*request);
    switch (rand() % 7) {
    case 0:
        *request = ucp_tag_send_nbx(party->ep, party->data[at], rand() % 200, 1, &plain);
        break;
    case 1:
        *request = ucp_tag_send_nbx(party->ep, party->data[at], rand() % LARGE, 1, &plain);
        break;
    case 2:
        *request = ucp_am_send_nbx(party->ep, AM, party->data[at], 8, party->data[at], rand() % 9000, &plain);
        break;
    case 3:
        *request = ucp_stream_send_nbx(party->ep, party->data[at], 1 + rand() % 3000, &plain);
        break;
    case 4:
        *request = ucp_tag_send_sync_nbx(party->ep, party->data[at], rand() % 3000, 1, &plain);
        break;
    case 5:
        *request = ucp_ep_flush_nbx(party->ep, &plain);
        break;
    default:
        *request = party->rkey ? ucp_put_nbx(party->ep, party->data[at], 1 + rand() % PAGE, shared->remote, party->rkey,
                                             &plain) : NULL;
        break;
    }
}

static void party_close(party_t *party, int me)
{
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t request = party->ep ? ucp_ep_close_nbx(party->ep, &force) : NULL;
    double from = seconds();
    unsigned i;

    while (!has_ended(request)) {
        shared->beats[me]++;
        ucp_worker_progress(party->side.worker);
        CHECK(seconds() - from < 30);
    }
    drop(request);
    if (party->rkey) {
        ucp_rkey_destroy(party->rkey);
    }
    for (i = 0; i < WINDOW; ++i) {
        if (!has_ended(party->receives[i])) {
            ucp_request_cancel(party->side.worker, party->receives[i]);
        }
        drop(party->receives[i]);
        drop(party->window[i]);
    }
    side_close(&party->side);
    for (i = 0; i < WINDOW; ++i) {
        canaries_free(party->room[i], ROOM);
        free(party->data[i]);
    }
}

static void victim(void)
{
    unsigned char *exported = with_canaries(PAGE);
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = exported + PAGE,
                                .length = PAGE};
    party_t party;
    ucp_mem_h memh;
    size_t length;
    void *key;

    party_open(&party, 0);
    CHECK_OK(ucp_mem_map(party.side.context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(party.side.context, memh, &key, &length));
    CHECK(length <= sizeof(shared->rkey));
    memcpy(shared->rkey, key, length);
    shared->remote = (uintptr_t)exported + PAGE;
    ucp_rkey_buffer_release(key);
    party_meet(&party, 0);
    while (!shared->done) {
        party_turn(&party, 0);
    }
    CHECK_OK(ucp_mem_unmap(party.side.context, memh));
    party_close(&party, 0);
    canaries_free(exported, PAGE);
    exit(0);
}

/* ---- The one who scribbles ---- */

static void find_segments(void)
{
    unsigned long from, to;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");

    CHECK(maps != NULL);
    segment_count = 0;
    while (fgets(line, sizeof(line), maps) && (segment_count < SEGMENTS)) {
        if (strstr(line, "rw-s") && (strstr(line, "memfd:ucx") || strstr(line, "SYSV") || strstr(line, "ucx_shm"))) {
            CHECK(sscanf(line, "%lx-%lx", &from, &to) == 2);
            segments[segment_count++] = (segment_t){(unsigned char *)from, to - from};
        }
    }
    fclose(maps);
    CHECK(segment_count > 0);
}

static volatile uint64_t *word(const segment_t *segment, size_t at)
{
    return (volatile uint64_t *)(segment->base + (at % (segment->length - 8) & ~7ul));
}

/* All headers of the next lap of a lane, with any kind and length. */
static void forge(const segment_t *segment)
{
    const uint32_t *facts = (const uint32_t *)segment->base;
    uint32_t slots = facts[10] & 0xffff, slot = facts[11] & 0xfff, cells = facts[13] & 0xff, lanes = facts[8] & 0xfff;
    size_t stride = ((facts[12] & 0xfffff) + 63) & ~63ul, bytes = (CONTROL + slots * slot + stride * cells + 4095) & ~4095ul;
    size_t base = ((HEAD + lanes * 8 + 4095) & ~4095ul) + (number() % 3) * bytes, i;
    int slight = number() % 2;

    for (i = 0; i < slots; ++i) {
        volatile uint64_t *head = word(segment, base + CONTROL + i * slot);
        uint64_t old = *head, due = (uint32_t)(old + (number() % 4 ? slots : 0));
        uint64_t length = number() % 4 ? number() % 9000 : number();
        *head = slight ? due | (old & ~0xffffffffull) : due | ((length & 0xffffff) << 32) | (number() % 256) << 56;
        if (number() % 2) {
            *word(segment, base + CONTROL + i * slot + 8 + number() % 4 * 8) = number() % 3 ? number() : number() % 9;
        } else if (number() % 2) {
            /* A place in the arena. */
            *word(segment, base + CONTROL + i * slot + 8) = number() % (stride * cells / 64 + 2) * 64;
        }
    }
    *word(segment, 256) += 1; /* the doorbell */
}

static void scribble(void)
{
    static const uint64_t words[] = {0, 1, 2, 3, -1ull, 1ull << 63, 0x7fffffff, 0xffffffff, 0x100000000ull, 4096, 64};
    const segment_t *segment = &segments[number() % segment_count];
    size_t at;
    uint64_t old;

    switch (number() % 8) {
    case 0: case 1:
        at = number() % 1024;
        break;
    case 2:
        at = HEAD + number() % 64;
        break;
    case 3:
        at = number() % 8192;
        break;
    case 4: case 5: case 6:
        at = 4096 + number() % (400 << 10);
        break;
    default:
        at = number() % (number() % 8 ? 1 << 21 : segment->length);
        break;
    }
    old = *word(segment, at);
    switch (number() % 6) {
    case 0:
        *word(segment, at) = old ^ (1ull << (number() % 64));
        break;
    case 1:
        *word(segment, at) = old + (1ull << (number() % 64));
        break;
    case 2:
        *word(segment, at) = words[number() % (sizeof(words) / sizeof(words[0]))];
        break;
    case 3:
        *word(segment, at) = *word(segment, number());
        break;
    case 4:
        *word(segment, at) = number();
        break;
    default:
        /* A lane's state: any phase, a generation, a process. */
        *word(segment, HEAD + number() % 16 * 8) = number() % 5 | (number() % 4) << 8 | (uint64_t)getpid() << 32;
        *word(segment, 256) += 1;
        break;
    }
}

static void *scribbler(void *arg)
{
    unsigned i;

    for (i = 0; i < EPOCH; ++i) {
        if (number() % 16) {
            scribble();
        } else {
            forge(&segments[number() % segment_count]);
        }
        shared->written++;
        if (number() % 8 == 0) {
            sched_yield();
        }
    }
    *(volatile int *)arg = 1;
    return NULL;
}

static void attacker(void)
{
    volatile int over = 0;
    pthread_t thread;
    party_t party;
    unsigned i;

    party_open(&party, 1);
    party_meet(&party, 1);
    if (!party.ep || (ucp_ep_rkey_unpack(party.ep, shared->rkey, &party.rkey) != UCS_OK)) {
        party.rkey = NULL;
    }
    for (i = 0; i < 200; ++i) {
        party_turn(&party, 1);
    }
    find_segments();
    CHECK(pthread_create(&thread, NULL, scribbler, (void *)&over) == 0);
    while (!over) {
        party_turn(&party, 1);
    }
    pthread_join(thread, NULL);
    for (i = 0; i < 200; ++i) {
        party_turn(&party, 1);
    }
    shared->done = 1;
    party_close(&party, 1);
    exit(0);
}

static void supervise(pid_t *pids, uint64_t epoch, const char *tls)
{
    static const char *names[] = {"victim", "attacker"};
    double at[2] = {seconds(), seconds()};
    uint64_t beats[2] = {0, 0};
    int i, status, left = 2;

    while (left > 0) {
        for (i = 0; i < 2; ++i) {
            if (pids[i] && (waitpid(pids[i], &status, WNOHANG) == pids[i])) {
                if (status) {
                    FAIL("epoch %" PRIu64 " over %s: the %s ended with wait status 0x%x", epoch, tls, names[i], status);
                }
                pids[i] = 0;
                --left;
            }
            if (shared->beats[i] != beats[i]) {
                beats[i] = shared->beats[i];
                at[i] = seconds();
            } else if (pids[i] && (seconds() - at[i] > 40)) {
                kill(pids[i], SIGABRT);
                FAIL("epoch %" PRIu64 " over %s: the %s hangs", epoch, tls, names[i]);
            }
        }
        usleep(500); /* only how often it is looked */
    }
}

int main(void)
{
    static const char *ways[] = {"posix", "sysv", "posix,cma"};
    uint64_t count = torture_count(3000), seed = torture_seed(1), first = torture_word("TORTURE_EPOCH", 0), epoch;
    uint64_t written = 0, received = 0;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    for (epoch = first; (epoch - first) * EPOCH < count; ++epoch) {
        const char *tls = ways[epoch % 3];
        pid_t pids[2];

        memset(shared, 0, sizeof(*shared));
        setenv("UCX_TLS", tls, 1);
        number_state = (seed + 1) * 0x9e3779b97f4a7c15ull + epoch * 0xbf58476d1ce4e5b9ull + 1;
        srand(seed * 1000 + epoch);
        pids[0] = role_start(victim);
        pids[1] = role_start(attacker);
        supervise(pids, epoch, tls);
        written += shared->written;
        received += shared->received;
    }
    FIGURE("%" PRIu64 " corruptions, nobody crashed or hung, nothing else written, %" PRIu64 " messages handled",
           written, received);
    return 0;
}
