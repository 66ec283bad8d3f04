/* Tagged messages between two workers of a process: every call form, sizes to 8 MiB on both sides of each
 * protocol's threshold, masks, order, truncation, probes, cancel, synchronous sends, datatypes, requests of
 * the caller, immediate completion flags, callbacks that send, receive and free. Upstream 1.13.1 leaves tag_info
 * unwritten when a receive ends at once, so only 1.22.0 is the oracle. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#include <ucp/api/ucp.h>

#include "peers.h"

static const size_t sizes[] = {0,    1,     7,     8,     9,     63,     92,     93,      100,     1000,   4096,
                               8191, 8192,  8200,  8256,  8300,  16384,  65535,  65536,   65537,   262143, 1000003,
                               1048576, 8388608};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static side_t a, b;
static ucp_ep_h ab;

static ucs_status_t wait_for(ucs_status_ptr_t request)
{
    return side_wait(&a, &b, request);
}

static void drive(unsigned rounds)
{
    while (rounds--) {
        ucp_worker_progress(a.worker);
        ucp_worker_progress(b.worker);
    }
}

/* A message is there: probed without being removed. */
static void arrive(ucp_tag_t tag)
{
    ucp_tag_recv_info_t info;

    DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(b.worker, tag, -1, 0, &info) != NULL);
}

typedef struct {
    unsigned calls;
    ucs_status_t status;
    size_t length;
    ucp_tag_t tag;
    void *request;
    void *user_data;
} told_t;

static told_t told_send, told_recv;

static void sent(void *request, ucs_status_t status, void *user_data)
{
    told_t *told = user_data;

    told->calls++;
    told->status = status;
    told->request = request;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *user_data)
{
    told_t *told = user_data;

    told->calls++;
    told->status = status;
    told->request = request;
    told->length = info->length;
    told->tag = info->sender_tag;
}

static void old_sent(void *request, ucs_status_t status)
{
    sent(request, status, &told_send);
}

static void old_received(void *request, ucs_status_t status, ucp_tag_recv_info_t *info)
{
    received(request, status, info, &told_recv);
}

static void forms(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_datatype_t byte = ucp_dt_make_contig(1);
    ucp_tag_recv_info_t info;
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t with_info = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO, .recv_info.tag_info = &info};
    char *send_memory, *recv_memory, *out = malloc(8 << 20), *in = malloc(8 << 20);
    ucs_status_ptr_t s, r;
    ucs_status_t status;
    unsigned i;

    CHECK_OK(ucp_context_query(a.context, &attr));
    send_memory = malloc(attr.request_size + 64);
    recv_memory = malloc(attr.request_size + 64);
    for (i = 0; i < SIZES; ++i) {
        size_t n = sizes[i];

        fill(out, n, i);
        /* nbx, receive posted first */
        memset(in, 0, n);
        r = ucp_tag_recv_nbx(b.worker, in, n, 10, -1, &plain);
        CHECK(UCS_PTR_IS_PTR(r));
        s = ucp_tag_send_nbx(ab, out, n, 10, &plain);
        CHECK_OK(wait_for(s));
        DRIVE_UNTIL(&a, &b, ucp_tag_recv_request_test(r, &info) != UCS_INPROGRESS);
        CHECK_OK(ucp_tag_recv_request_test(r, &info));
        CHECK_EQ(info.length, n);
        CHECK_EQ(info.sender_tag, 10);
        ucp_request_free(r);
        CHECK_PATTERN(in, n, i);

        /* nbx, message first */
        memset(in, 0, n);
        s = ucp_tag_send_nbx(ab, out, n, 11, &plain);
        arrive(11);
        memset(&info, 0, sizeof(info));
        r = ucp_tag_recv_nbx(b.worker, in, n, 11, -1, &with_info);
        if (r == NULL) {
            CHECK_EQ(info.length, n);
            CHECK_EQ(info.sender_tag, 11);
        }
        CHECK_OK(wait_for(r));
        CHECK_OK(wait_for(s));
        CHECK_PATTERN(in, n, i);

        /* nb: a receive always calls back */
        memset(in, 0, n);
        memset(&told_recv, 0, sizeof(told_recv));
        memset(&told_send, 0, sizeof(told_send));
        s = ucp_tag_send_nb(ab, out, n, byte, 12, old_sent);
        arrive(12);
        r = ucp_tag_recv_nb(b.worker, in, n, byte, 12, -1, old_received);
        CHECK(UCS_PTR_IS_PTR(r));
        DRIVE_UNTIL(&a, &b, told_recv.calls);
        CHECK_EQ(told_recv.length, n);
        CHECK_EQ(told_recv.tag, 12);
        CHECK_OK(told_recv.status);
        ucp_request_release(r);
        if (UCS_PTR_IS_PTR(s)) {
            DRIVE_UNTIL(&a, &b, told_send.calls);
            CHECK_OK(told_send.status);
            ucp_request_release(s);
        } else {
            CHECK_OK(UCS_PTR_STATUS(s));
            CHECK_EQ(told_send.calls, 0);
        }
        CHECK_PATTERN(in, n, i);

        /* nbr: the caller's memory, the pointer behind request_size bytes */
        memset(in, 0, n);
        memset(send_memory, 0xa5, attr.request_size + 64);
        memset(recv_memory, 0xa5, attr.request_size + 64);
        status = ucp_tag_recv_nbr(b.worker, in, n, byte, 13, -1, recv_memory + attr.request_size);
        CHECK(!UCS_STATUS_IS_ERR(status));
        CHECK_STATUS(ucp_request_check_status(recv_memory + attr.request_size), UCS_INPROGRESS);
        status = ucp_tag_send_nbr(ab, out, n, byte, 13, send_memory + attr.request_size);
        if (status != UCS_OK) {
            CHECK_STATUS(status, UCS_INPROGRESS);
            DRIVE_UNTIL(&a, &b, ucp_request_check_status(send_memory + attr.request_size) != UCS_INPROGRESS);
            CHECK_OK(ucp_request_check_status(send_memory + attr.request_size));
        }
        DRIVE_UNTIL(&a, &b, ucp_request_test(recv_memory + attr.request_size, &info) != UCS_INPROGRESS);
        CHECK_OK(ucp_request_test(recv_memory + attr.request_size, &info));
        CHECK_EQ(info.length, n);
        CHECK_PATTERN(in, n, i);
        CHECK_EQ((unsigned char)recv_memory[attr.request_size], 0xa5);
        CHECK_EQ((unsigned char)send_memory[attr.request_size], 0xa5);

        /* synchronous: done only when matched */
        memset(in, 0, n);
        s = ucp_tag_send_sync_nbx(ab, out, n, 14, &plain);
        CHECK(UCS_PTR_IS_PTR(s));
        arrive(14);
        drive(50);
        CHECK_STATUS(ucp_request_check_status(s), UCS_INPROGRESS);
        r = ucp_tag_recv_nbx(b.worker, in, n, 14, -1, &plain);
        CHECK_OK(wait_for(r));
        CHECK_OK(wait_for(s));
        CHECK_PATTERN(in, n, i);
        r = ucp_tag_recv_nb(b.worker, in, n, byte, 15, -1, old_received);
        s = ucp_tag_send_sync_nb(ab, out, n, byte, 15, old_sent);
        CHECK_OK(wait_for(s));
        CHECK_OK(wait_for(r));

        /* probe and remove, then receive it */
        memset(in, 0, n);
        s = ucp_tag_send_nbx(ab, out, n, 16, &plain);
        arrive(16);
        {
            ucp_tag_message_h message = ucp_tag_probe_nb(b.worker, 16, -1, 1, &info);
            CHECK(message != NULL);
            CHECK_EQ(info.length, n);
            CHECK_EQ(info.sender_tag, 16);
            CHECK(ucp_tag_probe_nb(b.worker, 16, -1, 1, &info) == NULL);
            if (i % 2) {
                memset(&told_recv, 0, sizeof(told_recv));
                r = ucp_tag_msg_recv_nb(b.worker, in, n, byte, message, old_received);
                CHECK(UCS_PTR_IS_PTR(r));
            } else {
                r = ucp_tag_msg_recv_nbx(b.worker, in, n, message, &plain);
            }
            CHECK_OK(wait_for(r));
            CHECK_OK(wait_for(s));
        }
        CHECK_PATTERN(in, n, i);
    }
    free(out);
    free(in);
    free(send_memory);
    free(recv_memory);
}

/* A message longer than the buffer: what fits is there or not, but the status is TRUNCATED and the sender is done. */
static void truncation(void)
{
    static const size_t lengths[] = {1, 100, 5000, 20000, 300000, 2000000};
    char *out = malloc(2000000), *in = malloc(2000000);
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t s, r;
    unsigned i, posted;

    fill(out, 2000000, 1);
    for (i = 0; i < 6; ++i) {
        for (posted = 0; posted < 2; ++posted) {
            size_t room = lengths[i] / 2;

            memset(in, 0x77, 2000000);
            if (posted) {
                r = ucp_tag_recv_nbx(b.worker, in, room, 20, -1, &plain);
                s = ucp_tag_send_nbx(ab, out, lengths[i], 20, &plain);
            } else {
                s = ucp_tag_send_nbx(ab, out, lengths[i], 20, &plain);
                arrive(20);
                r = ucp_tag_recv_nbx(b.worker, in, room, 20, -1, &plain);
            }
            CHECK_STATUS(wait_for(r), UCS_ERR_MESSAGE_TRUNCATED);
            CHECK_OK(wait_for(s));
            CHECK_EQ((unsigned char)in[room], 0x77);
            CHECK_EQ((unsigned char)in[1999999], 0x77);
            memset(&told_recv, 0, sizeof(told_recv));
            s = ucp_tag_send_nbx(ab, out, lengths[i], 21, &plain);
            if (!posted) {
                arrive(21);
            }
            r = ucp_tag_recv_nb(b.worker, in, room, ucp_dt_make_contig(1), 21, -1, old_received);
            CHECK(UCS_PTR_IS_PTR(r));
            CHECK_STATUS(wait_for(r), UCS_ERR_MESSAGE_TRUNCATED);
            CHECK_OK(wait_for(s));
        }
    }
    free(out);
    free(in);
}

static void matching(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t s[300], r[300];
    unsigned values[300], in[300], i;

    /* order among equal tags, receives first and messages first */
    for (i = 0; i < 300; ++i) {
        in[i] = -1;
        r[i] = ucp_tag_recv_nbx(b.worker, &in[i], 4, 30, -1, &plain);
    }
    for (i = 0; i < 300; ++i) {
        values[i] = i;
        s[i] = ucp_tag_send_nbx(ab, &values[i], 4, 30, &plain);
    }
    for (i = 0; i < 300; ++i) {
        CHECK_OK(wait_for(s[i]));
        CHECK_OK(wait_for(r[i]));
        CHECK_EQ(in[i], i);
    }
    for (i = 0; i < 300; ++i) {
        s[i] = ucp_tag_send_nbx(ab, &values[i], 4, 31 + i % 3, &plain);
    }
    for (i = 0; i < 300; ++i) {
        CHECK_OK(wait_for(s[i]));
    }
    arrive(33);
    drive(100);
    /* a wildcard takes the oldest of all */
    for (i = 0; i < 300; ++i) {
        unsigned got = -1;

        CHECK_OK(wait_for(ucp_tag_recv_nbx(b.worker, &got, 4, 0, 0, &plain)));
        CHECK_EQ(got, i);
    }
    CHECK(ucp_tag_probe_nb(b.worker, 0, 0, 0, &info) == NULL);

    /* masks: high and low bits, a posted wildcard behind a posted exact one */
    r[0] = ucp_tag_recv_nbx(b.worker, &in[0], 4, 0xab00000000000000ull, 0xff00000000000000ull, &plain);
    r[1] = ucp_tag_recv_nbx(b.worker, &in[1], 4, 0xab00000000000001ull, -1, &plain);
    r[2] = ucp_tag_recv_nbx(b.worker, &in[2], 4, 0, 0, &plain);
    CHECK_OK(wait_for(ucp_tag_send_nbx(ab, &values[7], 4, 5, &plain)));
    CHECK_OK(wait_for(ucp_tag_send_nbx(ab, &values[8], 4, 0xab00000000000001ull, &plain)));
    CHECK_OK(wait_for(ucp_tag_send_nbx(ab, &values[9], 4, 0xab00000000000001ull, &plain)));
    for (i = 0; i < 3; ++i) {
        CHECK_OK(wait_for(r[i]));
    }
    CHECK_EQ(in[2], 7);
    CHECK_EQ(in[0], 8);
    CHECK_EQ(in[1], 9);

    /* cancel: a posted receive ends, the message then goes to the next; a matched one is not touched */
    r[0] = ucp_tag_recv_nbx(b.worker, &in[0], 4, 40, -1, &plain);
    r[1] = ucp_tag_recv_nbx(b.worker, &in[1], 4, 40, -1, &plain);
    in[0] = 99;
    ucp_request_cancel(b.worker, r[0]);
    CHECK_STATUS(wait_for(r[0]), UCS_ERR_CANCELED);
    CHECK_OK(wait_for(ucp_tag_send_nbx(ab, &values[3], 4, 40, &plain)));
    CHECK_OK(wait_for(r[1]));
    CHECK_EQ(in[1], 3);
    CHECK_EQ(in[0], 99);
    r[0] = ucp_tag_recv_nb(b.worker, &in[0], 4, ucp_dt_make_contig(4), 41, -1, old_received);
    memset(&told_recv, 0, sizeof(told_recv));
    ucp_request_cancel(b.worker, r[0]);
    DRIVE_UNTIL(&a, &b, told_recv.calls);
    CHECK_STATUS(told_recv.status, UCS_ERR_CANCELED);
    ucp_request_cancel(b.worker, r[0]);
    ucp_request_free(r[0]);
}

static void immediate(void)
{
    told_t ts = {0}, tr = {0};
    ucp_request_param_t no_imm = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_CALLBACK |
                                                  UCP_OP_ATTR_FIELD_USER_DATA,
                                  .cb.send = sent,
                                  .user_data = &ts};
    ucp_request_param_t no_imm_recv = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_CALLBACK |
                                                       UCP_OP_ATTR_FIELD_USER_DATA,
                                       .cb.recv = received,
                                       .user_data = &tr};
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char out[8] = "1234567", in[8], *large = calloc(1, 4 << 20), *taken = calloc(1, 4 << 20);
    ucs_status_ptr_t s, r;

    s = ucp_tag_send_nbx(ab, out, 8, 50, &no_imm);
    CHECK(UCS_PTR_IS_PTR(s));
    arrive(50);
    DRIVE_UNTIL(&a, &b, ts.calls);
    CHECK_EQ(ts.calls, 1);
    CHECK(ts.request == s);
    r = ucp_tag_recv_nbx(b.worker, in, 8, 50, -1, &no_imm_recv);
    CHECK(UCS_PTR_IS_PTR(r));
    DRIVE_UNTIL(&a, &b, tr.calls);
    CHECK_EQ(tr.calls, 1);
    CHECK_EQ(tr.length, 8);
    CHECK_EQ(tr.tag, 50);
    ucp_request_free(s);
    ucp_request_free(r);

    /* a receive that cannot end at once is not posted */
    r = ucp_tag_recv_nbx(b.worker, in, 8, 51, -1, &force);
    printf("receive that must end at once: %s\n", ucs_status_string(UCS_PTR_STATUS(r)));
    s = ucp_tag_send_nbx(ab, out, 8, 51, &plain);
    CHECK_OK(wait_for(s));
    arrive(51);
    r = ucp_tag_recv_nbx(b.worker, in, 8, 51, -1, &force);
    CHECK(r == NULL);
    s = ucp_tag_send_nbx(ab, large, 4 << 20, 52, &force);
    printf("large send that must end at once: %s\n", ucs_status_string(UCS_PTR_STATUS(s)));
    s = ucp_tag_send_nbx(ab, large, 4 << 20, 53, &plain);
    arrive(53);
    r = ucp_tag_recv_nbx(b.worker, taken, 4 << 20, 53, -1, &plain);
    CHECK_OK(wait_for(r));
    CHECK_OK(wait_for(s));
    free(large);
    free(taken);
}

/* A message without bytes needs no address, on either side, received early or late. */
static void nothing(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t s, r;

    r = ucp_tag_recv_nbx(b.worker, NULL, 0, 61, -1, &plain);
    CHECK_OK(wait_for(ucp_tag_send_nbx(ab, NULL, 0, 61, &plain)));
    CHECK_OK(wait_for(r));
    s = ucp_tag_send_nbx(ab, NULL, 0, 62, &plain);
    arrive(62);
    CHECK_OK(wait_for(ucp_tag_recv_nbx(b.worker, NULL, 0, 62, -1, &plain)));
    CHECK_OK(wait_for(s));
    s = ucp_tag_send_sync_nbx(ab, NULL, 0, 63, &plain);
    arrive(63);
    CHECK_OK(wait_for(ucp_tag_recv_nbx(b.worker, NULL, 0, 63, -1, &plain)));
    CHECK_OK(wait_for(s));
}

/* Memory of the caller for the request of a receive: it tells how the receive ended also when the call returned no
 * request because the message was there. Open MPI looks nowhere else. */
static void in_own_memory(void)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t plain = {.op_attr_mask = 0}, own = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST};
    static const size_t lengths[] = {0, 4, 200, 5000, 100000};
    char *out = malloc(100000), *in = malloc(100000), *memory;
    unsigned i, shorter;

    CHECK_OK(ucp_context_query(a.context, &attr));
    memory = malloc(attr.request_size);
    for (i = 0; i < 10; ++i) {
        size_t n = lengths[i / 2], room = i % 2 ? n / 2 : n;
        ucp_tag_recv_info_t info;
        ucs_status_ptr_t s, r;

        shorter = room < n;
        fill(out, n, i);
        s = ucp_tag_send_nbx(ab, out, n, 60, &plain);
        arrive(60);
        memset(memory, 0x5a, attr.request_size);
        own.request = memory + attr.request_size;
        r = ucp_tag_recv_nbx(b.worker, in, room, 60, -1, &own);
        CHECK(!UCS_PTR_IS_PTR(r) || (r == own.request));
        DRIVE_UNTIL(&a, &b, ucp_request_check_status(own.request) != UCS_INPROGRESS);
        CHECK_STATUS(ucp_tag_recv_request_test(own.request, &info), shorter ? UCS_ERR_MESSAGE_TRUNCATED : UCS_OK);
        CHECK_EQ(info.length, n);
        CHECK_EQ(info.sender_tag, 60);
        CHECK_OK(wait_for(s));
        if (!shorter) {
            CHECK_PATTERN(in, n, i);
        }
    }
    free(memory);
    free(in);
    free(out);
}

/* Callbacks that post, cancel and free: the library is consistent when it calls. */
typedef struct {
    unsigned left;
    unsigned done;
    char buffer[64];
} chain_t;

static void chain_sent(void *request, ucs_status_t status, void *arg)
{
    CHECK_OK(status);
    ucp_request_free(request);
}

static void chain_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    chain_t *chain = arg;
    ucp_request_param_t send = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = chain_sent};
    ucp_request_param_t recv = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                .cb.recv = chain_received,
                                .user_data = chain};
    ucs_status_ptr_t r, s;

    CHECK_OK(status);
    chain->done++;
    if (chain->left-- > 0) {
        r = ucp_tag_recv_nbx(b.worker, chain->buffer, 64, 60, -1, &recv);
        CHECK(UCS_PTR_IS_PTR(r));
        s = ucp_tag_send_nbx(ab, chain->buffer, 32, 60, &send);
        CHECK(!UCS_PTR_IS_ERR(s));
    }
    ucp_request_free(request);
}

static void reentry(void)
{
    chain_t chain = {.left = 200};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t recv = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                .cb.recv = chain_received,
                                .user_data = &chain};

    CHECK(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(b.worker, chain.buffer, 64, 60, -1, &recv)));
    CHECK_OK(wait_for(ucp_tag_send_nbx(ab, chain.buffer, 32, 60, &plain)));
    DRIVE_UNTIL(&a, &b, chain.done == 201);
}

/* A generic datatype: every second byte of a buffer. Unpacks at any offset. */
typedef struct {
    char *buffer;
    size_t count;
} every_second_t;

static unsigned finished, started;

static void *start(void *context, void *buffer, size_t count)
{
    every_second_t *state = malloc(sizeof(*state));

    CHECK_STR(context, "context");
    state->buffer = buffer;
    state->count = count;
    ++started;
    return state;
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return start(context, (void *)buffer, count);
}

static size_t packed_size(void *state)
{
    return ((every_second_t *)state)->count;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    every_second_t *s = state;
    size_t i, n = (s->count - offset < max) ? s->count - offset : max;

    for (i = 0; i < n; ++i) {
        ((char *)dest)[i] = s->buffer[2 * (offset + i)];
    }
    return n;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src, size_t length)
{
    every_second_t *s = state;
    size_t i;

    if (offset + length > s->count) {
        return UCS_ERR_MESSAGE_TRUNCATED;
    }
    for (i = 0; i < length; ++i) {
        s->buffer[2 * (offset + i)] = ((const char *)src)[i];
    }
    return UCS_OK;
}

static void finish(void *state)
{
    ++finished;
    free(state);
}

static void datatypes(void)
{
    ucp_generic_dt_ops_t ops = {start_pack, start, packed_size, pack, unpack, finish};
    static char context[] = "context";
    ucp_datatype_t every_second;
    char *out = malloc(4 << 20), *in = malloc(4 << 20);
    unsigned i, way;

    CHECK_OK(ucp_dt_create_generic(&ops, context, &every_second));
    for (i = 0; i < SIZES; ++i) {
        for (way = 0; way < 6; ++way) {
            size_t n = sizes[i], k;
            size_t gap = (i % 3) * 20;
            char *out2 = out + n / 3 + gap, *in2 = in + n / 7 + gap;
            ucp_dt_iov_t send_iov[4] = {{out, n / 3}, {out2, 0}, {out2, 1 * (n > 2)},
                                        {out2 + (n > 2), n - n / 3 - (n > 2)}};
            ucp_dt_iov_t recv_iov[3] = {{in, n / 7}, {in2, n / 2 - n / 7}, {in + n / 2 + gap, n - n / 2}};
            ucp_request_param_t sp = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
            ucp_request_param_t rp = sp;
            int sg = way == 0 || way == 1, rg = way == 0 || way == 2;
            ucs_status_ptr_t s, r;

            if (n > (2 << 20)) {
                continue;
            }
            memset(in, 0, 4 << 20);
            if (sg) {
                for (k = 0; k < n; ++k) {
                    out[2 * k] = pattern(k, i);
                }
            } else {
                fill(out, n, i);
            }
            if (way == 3 || way == 5) {
                memmove(out2, out + n / 3, n - n / 3);
            }
            sp.datatype = sg ? every_second : (way == 3 || way == 5) ? UCP_DATATYPE_IOV : ucp_dt_make_contig(1);
            rp.datatype = rg ? every_second : (way == 4 || way == 5) ? UCP_DATATYPE_IOV : ucp_dt_make_contig(1);
            s = NULL;
            if (i % 2) {
                s = ucp_tag_send_nbx(ab, (sp.datatype == UCP_DATATYPE_IOV) ? (void *)send_iov : out,
                                     (sp.datatype == UCP_DATATYPE_IOV) ? 4 : n, 70, &sp);
                arrive(70);
            }
            r = ucp_tag_recv_nbx(b.worker, (rp.datatype == UCP_DATATYPE_IOV) ? (void *)recv_iov : in,
                                 (rp.datatype == UCP_DATATYPE_IOV) ? 3 : n, 70, -1, &rp);
            if (!(i % 2)) {
                s = ucp_tag_send_nbx(ab, (sp.datatype == UCP_DATATYPE_IOV) ? (void *)send_iov : out,
                                     (sp.datatype == UCP_DATATYPE_IOV) ? 4 : n, 70, &sp);
            }
            CHECK_OK(wait_for(r));
            CHECK_OK(wait_for(s));
            if (way == 4 || way == 5) {
                memmove(in + n / 7, in2, n - n / 7);
            }
            if (rg) {
                for (k = 0; k < n; ++k) {
                    CHECK_EQ((unsigned char)in[2 * k], pattern(k, i));
                }
            } else {
                CHECK_PATTERN(in, n, i);
            }
        }
    }
    CHECK_EQ(started, finished);
    /* truncation is told by unpack; the state is finished all the same */
    for (i = 0; i < 3; ++i) {
        size_t n = (size_t[]){50, 20000, 500000}[i];
        ucp_request_param_t plain = {.op_attr_mask = 0};
        ucp_request_param_t rp = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = every_second};
        ucs_status_ptr_t r = ucp_tag_recv_nbx(b.worker, in, n / 2, 71, -1, &rp);
        ucs_status_ptr_t s = ucp_tag_send_nbx(ab, out, n, 71, &plain);

        CHECK_STATUS(wait_for(r), UCS_ERR_MESSAGE_TRUNCATED);
        CHECK_OK(wait_for(s));
        CHECK_EQ(started, finished);
    }
    ucp_dt_destroy(every_second);
    free(out);
    free(in);
}

static void run(const char *tls, int itself)
{
    setenv("UCX_TLS", tls, 1);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    if (itself) {
        b = a;
    } else {
        side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    }
    ab = side_connect(&a, b.address);
    forms();
    truncation();
    matching();
    immediate();
    nothing();
    in_own_memory();
    reentry();
    datatypes();
    CHECK_OK(side_disconnect(&a, &b, ab, 0));
    if (!itself) {
        side_close(&b);
    }
    side_close(&a);
    OK("%s%s", tls, itself ? ", to itself" : "");
}

int main(void)
{
    run("self", 1);
    run("posix", 0);
    run("posix", 1);
    run("sysv", 0);
    run("tcp", 0);
    run("posix,cma", 0);
    run("all", 0);
    return 0;
}
