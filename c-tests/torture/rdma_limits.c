/* Registrations that are refused for their length or for the bytes of all, by limits that are others at any moment: messages,
 * streams, puts and gets arrive whole, by the device or copied, and when the limit is gone the device reads user memory
 * again. Two contexts of one process, which the stand-in for libibverbs connects. */
/* env: UCX_TLS=rc_verbs UCX_RCACHE_MAX_SIZE=4m UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
#include "peers.h"
#include "torture.h"
#include "verbs/stand_in.h"

enum { LONGEST = 1 << 20, COPIED = 4000, AT_ONCE = 8, FEATURES = ALL_FEATURES | UCP_FEATURE_STREAM };

static const ucp_request_param_t none;
static side_t sides[2];
static ucp_ep_h eps[2]; /* eps[i] is of sides[i], to the other */
static unsigned char *from[AT_ONCE], *to[AT_ONCE], *memory;

static ucs_status_t wait_for(ucs_status_ptr_t request)
{
    return side_wait(&sides[0], &sides[1], request);
}

/* The library's own buffers are registered in shorter pieces. At times there are no more than it has, or a few. */
static void limit(void)
{
    static const long most[] = {270000, 400000, 700000, 0};

    *setting("max_reg") = most[number() % 4];
    *setting("max_pinned") = number() % 2 ? *setting("pinned") + (long)(number() % 4) * 200000 : 0;
}

static size_t any_length(void)
{
    return number() % 3 == 0 ? number() % 9000 : number() % LONGEST;
}

static void messages(unsigned n, int limited)
{
    ucs_status_ptr_t sent[AT_ONCE], received[AT_ONCE];
    size_t lengths[AT_ONCE];
    unsigned i, way[AT_ONCE];

    for (i = 0; i < n; ++i) {
        if (limited && (number() % 2)) {
            limit();
        }
        lengths[i] = limited ? any_length() : COPIED;
        way[i] = number() % 2;
        fill(from[i], lengths[i], i + 1);
        memset(to[i], 0, lengths[i]);
        sent[i] = ucp_tag_send_nbx(eps[way[i]], from[i], lengths[i], i, &none);
        received[i] = ucp_tag_recv_nbx(sides[!way[i]].worker, to[i], lengths[i], i, -1, &none);
    }
    for (i = 0; i < n; ++i) {
        CHECK_OK(wait_for(sent[i]));
        CHECK_OK(wait_for(received[i]));
        CHECK_EQ(wrong_at(to[i], lengths[i], i + 1), lengths[i]);
    }
}

static void stream(void)
{
    ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    unsigned way = number() % 2;
    size_t length = 1 + any_length(), came;
    ucs_status_ptr_t sent, received;

    fill(from[0], length, 9);
    memset(to[0], 0, length);
    sent = ucp_stream_send_nbx(eps[way], from[0], length, &none);
    received = ucp_stream_recv_nbx(eps[!way], to[0], length, &came, &whole);
    CHECK_OK(wait_for(sent));
    CHECK_OK(wait_for(received));
    CHECK_EQ(wrong_at(to[0], length, 9), length);
}

/* The region may have no registration. */
static void accesses(void)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = memory, .length = LONGEST};
    unsigned way = number() % 2, i;
    size_t size;
    void *blob;
    ucp_mem_h memh;
    ucp_rkey_h rkey;

    CHECK_OK(ucp_mem_map(sides[!way].context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(sides[!way].context, memh, &blob, &size));
    CHECK_OK(ucp_ep_rkey_unpack(eps[way], blob, &rkey));
    ucp_rkey_buffer_release(blob);
    for (i = 0; i < 3; ++i) {
        size_t length = any_length(), at = number() % (LONGEST - length);

        limit();
        fill(from[0], length, i + 20);
        memset(to[0], 0, length);
        CHECK_OK(wait_for(ucp_put_nbx(eps[way], from[0], length, (uintptr_t)memory + at, rkey, &none)));
        CHECK_OK(wait_for(ucp_ep_flush_nbx(eps[way], &none)));
        CHECK_EQ(wrong_at(memory + at, length, i + 20), length);
        CHECK_OK(wait_for(ucp_get_nbx(eps[way], to[0], length, (uintptr_t)memory + at, rkey, &none)));
        CHECK_EQ(wrong_at(to[0], length, i + 20), length);
    }
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(sides[!way].context, memh));
}

int main(void)
{
    uint64_t count = torture_count(500), round;
    long reads, made;
    int i;

    torture_seed(1);
    memory = malloc(LONGEST);
    for (i = 0; i < AT_ONCE; ++i) {
        from[i] = malloc(LONGEST);
        to[i] = malloc(LONGEST);
    }
    for (i = 0; i < 2; ++i) {
        side_open(&sides[i], FEATURES, UCS_THREAD_MODE_SINGLE);
    }
    for (i = 0; i < 2; ++i) {
        eps[i] = side_connect(&sides[i], sides[!i].address);
    }
    /* Both have some buffers to receive into and to copy from. */
    for (i = 0; i < 100; ++i) {
        messages(1, 0);
    }
    for (round = 0; round < count; ++round) {
        limit();
        switch (number() % 4) {
        case 0:
            accesses();
            break;
        case 1:
            stream();
            break;
        default:
            messages(1 + number() % AT_ONCE, 1);
        }
    }
    *setting("max_reg") = *setting("max_pinned") = 0;
    reads = *setting("reads");
    CHECK_OK(wait_for(ucp_tag_send_nbx(eps[0], from[0], 8, 1, &none)));
    CHECK_OK(wait_for(ucp_tag_recv_nbx(sides[1].worker, to[0], 8, 1, -1, &none)));
    {
        ucs_status_ptr_t sent = ucp_tag_send_nbx(eps[0], from[0], LONGEST, 1, &none);
        ucs_status_ptr_t received = ucp_tag_recv_nbx(sides[1].worker, to[0], LONGEST, 1, -1, &none);

        CHECK_OK(wait_for(sent));
        CHECK_OK(wait_for(received));
    }
    CHECK_EQ(*setting("reads") - reads, 1);
    made = *setting("reg");
    CHECK((count < 100) || (*setting("refused") > (long)count / 10));
    CHECK((count < 100) || (reads > (long)count / 10));
    for (i = 0; i < 2; ++i) {
        CHECK_OK(side_disconnect(&sides[0], &sides[1], eps[i], 0));
    }
    for (i = 0; i < 2; ++i) {
        side_close(&sides[i]);
    }
    CHECK_EQ(*setting("live"), 0);
    CHECK_EQ(*setting("pinned"), 0);
    FIGURE("%" PRIu64 " rounds of messages, streams, puts and gets, %ld of %ld registrations refused, all arrived; then by the device again",
           count, *setting("refused"), made);
    return 0;
}
