/* Lists in memory of ucp_mem_map, which a receiver on this host may copy from by itself: entries that follow each other, with
 * gaps between them, in any order, empty, more than one announcement names, some of them elsewhere; received into
 * a buffer or into a list of another shape. */
/* timeout: 120 */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { ROOM = 1 << 20, MOST = 40, NAMED = 16, ROUNDS = 300, PIECE = 1024 };
enum { TAGGED, UNEXPECTED, SYNCHRONOUS, ACTIVE, STREAM, KINDS };

typedef struct {
    ucp_dt_iov_t entries[MOST];
    size_t count, length;
} list_t;

static side_t a, b;
static ucp_ep_h ep, back;
static ucp_mem_h handle;
static unsigned char *mapped, *plain, *in, *expected;
static const ucp_request_param_t by_list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = UCP_DATATYPE_IOV};

static void add(list_t *list, unsigned char *at, size_t length)
{
    CHECK(list->count < MOST);
    list->entries[list->count++] = (ucp_dt_iov_t){at, length};
    list->length += length;
}

/* Some entries in so many bytes, none of which overlap. */
static void draw(list_t *list, unsigned char *base, size_t room)
{
    size_t count = 1 + number() % (number() % 2 ? 4 : MOST - 2), slot = room / count, at = 0, length, i;
    size_t most = number() % 2 ? slot : slot < 600 ? slot : 600;
    int joined = number() % 3, backwards = number() % 2;

    list->count = list->length = 0;
    for (i = 0; i < count; ++i) {
        length = number() % 5 ? number() % (most + 1) : 0;
        if (joined != 0) {
            at = (backwards ? count - 1 - i : i) * slot + number() % (slot - length + 1);
        }
        add(list, base + at, length);
        at += length;
    }
}

/* One that has at least so many bytes, of memory that has twice as many and more. */
static void draw_room(list_t *list, size_t length)
{
    draw(list, in, ROOM);
    if (list->length < length) {
        add(list, in + ROOM, length - list->length);
    }
}

/* The bytes of a message where a list has them. */
static void scatter(const unsigned char *from, size_t length, const list_t *list)
{
    size_t i, part;

    for (i = 0; i < list->count; ++i, length -= part, from += part) {
        part = list->entries[i].length < length ? list->entries[i].length : length;
        if (part > 0) {
            memcpy(list->entries[i].buffer, from, part);
        }
    }
}

static void gather(unsigned char *to, const list_t *list)
{
    size_t i;

    for (i = 0; i < list->count; to += list->entries[i++].length) {
        if (list->entries[i].length > 0) {
            memcpy(to, list->entries[i].buffer, list->entries[i].length);
        }
    }
}

typedef struct {
    const list_t *into;
    size_t length;
    void *receive;
    unsigned arrived;
} am_t;

static ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    am_t *am = arg;

    CHECK_EQ(length, am->length);
    ++am->arrived;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        am->receive = ucp_am_recv_data_nbx(b.worker, data, (void *)am->into->entries, am->into->count, &by_list);
        return UCS_INPROGRESS;
    }
    scatter(data, length, am->into);
    return UCS_OK;
}

static void *send_tagged(const list_t *out)
{
    return ucp_tag_send_nbx(ep, out->entries, out->count, 5, &by_list);
}

static void *receive_tagged(const list_t *into)
{
    return ucp_tag_recv_nbx(b.worker, (void *)into->entries, into->count, 5, UINT64_MAX, &by_list);
}

static void transfer(int kind, const list_t *out, const list_t *into)
{
    am_t am = {.into = into, .length = out->length};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id = 3,
                                      .cb = on_am,
                                      .arg = &am};
    ucp_request_param_t waits = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    void *send, *receive = NULL;
    ucp_tag_recv_info_t info;
    size_t length;

    switch (kind) {
    case TAGGED:
        receive = receive_tagged(into);
        send = send_tagged(out);
        break;
    case UNEXPECTED:
        send = send_tagged(out);
        DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(b.worker, 5, UINT64_MAX, 0, &info));
        CHECK_EQ(info.length, out->length);
        receive = receive_tagged(into);
        break;
    case SYNCHRONOUS:
        send = ucp_tag_send_sync_nbx(ep, out->entries, out->count, 5, &by_list);
        receive = receive_tagged(into);
        break;
    case ACTIVE:
        CHECK_OK(ucp_worker_set_am_recv_handler(b.worker, &handler));
        send = ucp_am_send_nbx(ep, 3, "head", 4, out->entries, out->count, &by_list);
        DRIVE_UNTIL(&a, &b, am.arrived);
        receive = am.receive;
        break;
    default:
        send = ucp_stream_send_nbx(ep, out->entries, out->count, &by_list);
        /* In two parts, wherever entries end. */
        if (out->length > 0) {
            unsigned char *whole = malloc(out->length);
            size_t first = number() % out->length + 1, rest = out->length - first;

            receive = ucp_stream_recv_nbx(back, whole, first, &length, &waits);
            CHECK_OK(side_wait(&a, &b, receive));
            if (rest > 0) {
                receive = ucp_stream_recv_nbx(back, whole + first, rest, &length, &waits);
                CHECK_OK(side_wait(&a, &b, receive));
            }
            scatter(whole, out->length, into);
            free(whole);
            receive = NULL;
        }
        break;
    }
    CHECK_OK(side_wait(&a, &b, receive));
    CHECK_OK(side_wait(&a, &b, send));
}

static void one(int kind, const list_t *out)
{
    unsigned char *message = malloc(out->length + 1);
    list_t into;

    draw_room(&into, out->length);
    gather(message, out);
    memset(in, 0xee, 3 * ROOM);
    scatter(message, out->length, &into);
    memcpy(expected, in, 3 * ROOM);
    memset(in, 0xee, 3 * ROOM);
    transfer(kind, out, &into);
    CHECK(!memcmp(in, expected, 3 * ROOM));
    free(message);
}

/* Whether the message waits at its sender. */
static int waits(const list_t *out)
{
    void *send = send_tagged(out);
    ucp_tag_recv_info_t info;
    list_t into;
    int i, waited;

    DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(b.worker, 5, UINT64_MAX, 0, &info));
    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(a.worker);
        ucp_worker_progress(b.worker);
    }
    waited = UCS_PTR_IS_PTR(send) && ucp_request_check_status(send) == UCS_INPROGRESS;
    draw_room(&into, out->length);
    CHECK_OK(side_wait(&a, &b, receive_tagged(&into)));
    CHECK_OK(side_wait(&a, &b, send));
    return waited;
}

/* What has too many extents, or others than the memory has, is copied when it is sent. */
static void which_wait(void)
{
    list_t list;
    size_t i;

    list.count = list.length = 0;
    for (i = 0; i < MOST; ++i) {
        add(&list, mapped + i * PIECE, PIECE);
    }
    CHECK(waits(&list));
    list.count = list.length = 0;
    for (i = 0; i < NAMED; ++i) {
        add(&list, mapped + 2 * i * PIECE, PIECE);
        add(&list, NULL, 0);
    }
    CHECK(waits(&list));
    add(&list, mapped + 2 * i * PIECE, PIECE);
    CHECK(!waits(&list));
    list.count = list.length = 0;
    add(&list, mapped, PIECE);
    add(&list, plain, 4 * PIECE);
    CHECK(!waits(&list));
}

static void everything_comes(const char *tls, int mode, const char *scheme)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = ROOM,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .err_mode = mode};
    uint64_t features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM;
    ucp_request_param_t by_default = {.op_attr_mask = 0};
    unsigned round;
    void *closing;

    setenv("UCX_TLS", tls, 1);
    setenv("UCX_RNDV_SCHEME", "auto", 1);
    side_open(&a, features, UCS_THREAD_MODE_SINGLE);
    setenv("UCX_RNDV_SCHEME", scheme, 1);
    side_open(&b, features, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_mem_map(a.context, &map, &handle));
    CHECK_OK(ucp_mem_query(handle, &attr));
    mapped = attr.address;
    fill((char *)mapped, ROOM, 1);
    params.address = b.address;
    CHECK_OK(ucp_ep_create(a.worker, &params, &ep));
    params.address = a.address;
    CHECK_OK(ucp_ep_create(b.worker, &params, &back));
    CHECK_OK(side_wait(&a, &b, ucp_ep_flush_nbx(ep, &by_default)));
    for (round = 0; round < ROUNDS; ++round) {
        list_t out;

        draw(&out, round % 8 ? mapped : plain, number() % 2 ? ROOM : 1 << 14);
        if (round % 8 == 7) {
            add(&out, plain, 3000);
        }
        one(round % KINDS, &out);
    }
    if (!strcmp(tls, "posix") && !strcmp(scheme, "auto")) {
        which_wait();
    }
    closing = ucp_ep_close_nbx(back, &by_default);
    CHECK_OK(side_disconnect(&a, &b, ep, 0));
    side_wait(&a, &b, closing);
    CHECK_OK(ucp_mem_unmap(a.context, handle));
    side_close(&a);
    side_close(&b);
}

int main(void)
{
    static const char *tls[] = {"posix", "sysv", "posix,cma", "tcp"};
    size_t i;

    plain = malloc(ROOM);
    fill((char *)plain, ROOM, 2);
    in = malloc(3 * ROOM);
    expected = malloc(3 * ROOM);
    for (i = 0; i < sizeof(tls) / sizeof(*tls); ++i) {
        everything_comes(tls[i], UCP_ERR_HANDLING_MODE_NONE, "auto");
        everything_comes(tls[i], UCP_ERR_HANDLING_MODE_PEER, "auto");
        everything_comes(tls[i], UCP_ERR_HANDLING_MODE_NONE, "am");
        OK("%s", tls[i]);
    }
    free(plain);
    free(in);
    free(expected);
    return 0;
}
