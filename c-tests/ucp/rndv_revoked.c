/* After a close by force the application owns the buffers of its requests at once. A sender's buffer is not copied
 * into a receive that then succeeds, and a receiver's is not written to. Every step of the other side is held back
 * until the buffer has been reused, so the result does not depend on time. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_RNDV_THRESH=1k */
#include <ucp/api/ucp.h>

#include "failure.h"
#include "peers.h"

enum { LENGTH = 1 << 20, STAYS = 1, GOES = 2, UNUSED = 9 };

typedef struct {
    const char *tls, *scheme, *segment;
    int mapped; /* the memory is taken from the library */
} variant_t;

static const ucp_request_param_t plain;
static pair_t pair;
static side_t side;
static char theirs[ADDRESS_ROOM];

/* Memory for a message, by the library or not. */
typedef struct {
    ucp_mem_h memh;
    char *at;
} memory_t;

static memory_t memory_take(int mapped)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = LENGTH,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    memory_t memory = {NULL, NULL};

    if (mapped) {
        CHECK_OK(ucp_mem_map(side.context, &map, &memory.memh));
        CHECK_OK(ucp_mem_query(memory.memh, &attr));
        memory.at = attr.address;
    } else {
        memory.at = malloc(LENGTH);
        CHECK(memory.at != NULL);
    }
    return memory;
}

static void memory_give(memory_t memory)
{
    if (memory.memh != NULL) {
        CHECK_OK(ucp_mem_unmap(side.context, memory.memh));
    } else {
        free(memory.at);
    }
}

static void begin(const variant_t *how)
{
    setenv("UCX_TLS", how->tls, 1);
    setenv("UCX_RNDV_SCHEME", how->scheme, 1);
    setenv("UCX_CMA_SEG_SIZE", how->segment, 1);
    pair = pair_start();
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
}

/* The other side goes on until it has something to say; then it and this side go on together. */
static void progress_until_ready(void)
{
    while (!pair_ready(&pair)) {
        ucp_worker_progress(side.worker);
    }
    pair_barrier(&pair);
}

static void await_rts(ucp_tag_t tag)
{
    ucp_tag_recv_info_t info;

    DRIVE_UNTIL(&side, &side, ucp_tag_probe_nb(side.worker, tag, -1, 0, &info) != NULL);
}

static void use_anew(char *buffer)
{
    fill(buffer, LENGTH, UNUSED);
}

/* Two messages by two endpoints, of which one is closed before anybody receives. */
static void send_two(const variant_t *how)
{
    memory_t memory[3];
    ucs_status_ptr_t sent[3];
    failure_t failure[3];
    ucp_ep_h ep[3];
    int tag;

    for (tag = STAYS; tag <= GOES; ++tag) {
        ep[tag] = connect_watched(&side, theirs, &failure[tag]);
        memory[tag] = memory_take(how->mapped);
        fill(memory[tag].at, LENGTH, tag);
        sent[tag] = ucp_tag_send_nbx(ep[tag], memory[tag].at, LENGTH, tag, &plain);
        CHECK(UCS_PTR_IS_PTR(sent[tag]));
    }
    progress_until_ready();
    CHECK_OK(side_disconnect(&side, &side, ep[GOES], UCP_EP_CLOSE_FLAG_FORCE));
    CHECK(has_ended(sent[GOES]));
    use_anew(memory[GOES].at);
    pair_barrier(&pair);
    DRIVE_UNTIL(&side, &side, has_ended(sent[STAYS]));
    CHECK_STR(outcome(sent[STAYS]), "Success");
    pair_barrier(&pair);
    for (tag = STAYS; tag <= GOES; ++tag) {
        drop(sent[tag]);
        memory_give(memory[tag]);
    }
    CHECK_OK(side_disconnect(&side, &side, ep[STAYS], UCP_EP_CLOSE_FLAG_FORCE));
}

/* `early`: the receive that is in for a surprise is posted before the close, and goes on after it. */
static void receive_two(const variant_t *how, int early)
{
    char *buffer[3] = {NULL, malloc(LENGTH), malloc(LENGTH)};
    ucs_status_ptr_t got[3] = {NULL, NULL, NULL};

    await_rts(STAYS);
    await_rts(GOES);
    if (early) {
        got[GOES] = ucp_tag_recv_nbx(side.worker, buffer[GOES], LENGTH, GOES, -1, &plain);
        /* the copy begins */
        ucp_worker_progress(side.worker);
    }
    pair_barrier(&pair);
    pair_barrier(&pair);
    if (!early) {
        got[GOES] = ucp_tag_recv_nbx(side.worker, buffer[GOES], LENGTH, GOES, -1, &plain);
    }
    got[STAYS] = ucp_tag_recv_nbx(side.worker, buffer[STAYS], LENGTH, STAYS, -1, &plain);
    DRIVE_UNTIL(&side, &side, has_ended(got[STAYS]) && has_ended(got[GOES]));
    CHECK_STR(outcome(got[STAYS]), "Success");
    CHECK_PATTERN(buffer[STAYS], LENGTH, STAYS);
    printf("%s%s, receive posted %s the close: %s\n", how->tls, how->mapped ? " mapped" : "",
           early ? "before" : "after", outcome(got[GOES]));
    progress_until_ready();
    drop(got[STAYS]);
    drop(got[GOES]);
    free(buffer[STAYS]);
    free(buffer[GOES]);
}

static void sender_takes_back(const variant_t *how, int early)
{
    begin(how);
    if (pair_is_child(&pair)) {
        send_two(how);
    } else {
        receive_two(how, early);
    }
    side_close(&side);
    pair_finish(&pair);
}

/* The receiver has asked for the data, and closes before the sender hears of that. Other endpoints of the two are none
 * the worse for it. */
static void receiver_takes_back(const variant_t *how)
{
    failure_t failure, other_failure;
    ucs_status_ptr_t request;
    uint64_t word = 0;
    memory_t memory;
    ucp_ep_h ep, other;

    begin(how);
    ep = connect_watched(&side, theirs, &failure);
    other = connect_watched(&side, theirs, &other_failure);
    if (pair_is_child(&pair)) {
        memory = memory_take(0);
        fill(memory.at, LENGTH, GOES);
        request = ucp_tag_send_nbx(ep, memory.at, LENGTH, GOES, &plain);
        progress_until_ready();
        pair_barrier(&pair);
        DRIVE_UNTIL(&side, &side, has_ended(request));
        drop(request);
        word = UNUSED;
        request = ucp_tag_send_sync_nbx(other, &word, sizeof(word), STAYS, &plain);
        DRIVE_UNTIL(&side, &side, has_ended(request));
        CHECK_STR(outcome(request), "Success");
        pair_barrier(&pair);
        CHECK_OK(side_disconnect(&side, &side, ep, UCP_EP_CLOSE_FLAG_FORCE));
    } else {
        memory = memory_take(how->mapped);
        await_rts(GOES);
        pair_barrier(&pair);
        request = ucp_tag_recv_nbx(side.worker, memory.at, LENGTH, GOES, -1, &plain);
        CHECK(!has_ended(request));
        CHECK_OK(side_disconnect(&side, &side, ep, UCP_EP_CLOSE_FLAG_FORCE));
        CHECK(has_ended(request));
        printf("%s%s, the receiver closes: %s\n", how->tls, how->mapped ? " mapped" : "", outcome(request));
        drop(request);
        use_anew(memory.at);
        pair_barrier(&pair);
        request = ucp_tag_recv_nbx(side.worker, &word, sizeof(word), STAYS, -1, &plain);
        progress_until_ready();
        CHECK_STR(outcome(request), "Success");
        CHECK_EQ(word, UNUSED);
        CHECK_PATTERN(memory.at, LENGTH, UNUSED);
    }
    drop(request);
    CHECK_EQ(other_failure.calls, 0);
    CHECK_OK(side_disconnect(&side, &side, other, UCP_EP_CLOSE_FLAG_FORCE));
    memory_give(memory);
    side_close(&side);
    pair_finish(&pair);
}

int main(void)
{
    static const variant_t sends[] = {
        {"posix,cma", "auto", "2m", 0}, {"posix,cma", "auto", "2m", 1}, {"tcp,cma", "auto", "2m", 0},
        {"posix", "auto", "2m", 1},     {"sysv", "auto", "2m", 1},      {"tcp", "auto", "2m", 0},
    };
    static const variant_t fragments = {"posix,cma", "auto", "4k", 0};
    static const variant_t receives[] = {
        {"posix,cma", "put_zcopy", "2m", 0}, {"posix", "put_zcopy", "2m", 1}, {"tcp", "put_zcopy", "2m", 0}};
    size_t i;

    for (i = 0; i < sizeof(sends) / sizeof(sends[0]); ++i) {
        sender_takes_back(&sends[i], 0);
    }
    sender_takes_back(&fragments, 1);
    for (i = 0; i < sizeof(receives) / sizeof(receives[0]); ++i) {
        receiver_takes_back(&receives[i]);
    }
    return 0;
}
