/* Streams out of memory of ucp_mem_map, which a receiver on this host may copy from by itself: bytes come in order
 * and whole, whatever they are received by; a send ends without a receive, and when its receiver closes; one that
 * is killed leaves no receive behind. */
/* timeout: 120 */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { TOTAL = 24 << 20, MOST = 1 << 20, UNDER_WAY = 8, UNRECEIVED = 200000 };

static side_t side;
static pair_t pair;
static ucp_ep_h ep;
static ucp_mem_h handle;
static unsigned char *bytes;

static unsigned char byte_at(size_t at)
{
    return (unsigned char)(at * 7 + (at >> 9) * 5 + (at >> 17));
}

static void on_error(void *arg, ucp_ep_h failed, ucs_status_t status)
{
    CHECK(status < 0);
}

static void open_pair(const char *tls, int mode)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = TOTAL,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = mode,
                              .err_handler = {.cb = on_error}};
    char theirs[ADDRESS_ROOM];
    size_t i;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    side_open(&side, UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_mem_map(side.context, &map, &handle));
    CHECK_OK(ucp_mem_query(handle, &attr));
    bytes = attr.address;
    for (i = 0; i < TOTAL; ++i) {
        bytes[i] = pair_is_child(&pair) ? byte_at(i) : 0;
    }
    side_swap_addresses(&side, &pair, theirs);
    params.address = (const ucp_address_t *)theirs;
    CHECK_OK(ucp_ep_create(side.worker, &params, &ep));
}

/* Waits while the other side goes on. */
static ucs_status_t wait_for(void *request)
{
    return side_wait(&side, &side, request);
}

static void close_ep(unsigned flags)
{
    ucs_status_t status = side_disconnect(&side, &side, ep, flags);

    CHECK((status == UCS_OK) || (status == UCS_ERR_CONNECTION_RESET));
}

static void close_pair(void)
{
    CHECK_OK(ucp_mem_unmap(side.context, handle));
    side_close(&side);
    pair_finish(&pair);
}

static size_t some_size(size_t most)
{
    static const size_t about[] = {8, 3000, 9000, 70000, MOST};
    size_t size = 1 + number() % about[number() % 5];

    return size < most ? size : most;
}

/* From the mapped memory or from a copy of it, with several under way. */
static void send_all(void)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    void *requests[UNDER_WAY] = {NULL};
    unsigned char *copies[UNDER_WAY] = {NULL};
    size_t from = 0, length;
    unsigned i;

    for (i = 0; from < TOTAL; i = (i + 1) % UNDER_WAY) {
        CHECK_OK(wait_for(requests[i]));
        free(copies[i]);
        copies[i] = NULL;
        length = some_size(TOTAL - from);
        if (number() % 4 == 0) {
            copies[i] = malloc(length);
            memcpy(copies[i], bytes + from, length);
        }
        requests[i] = ucp_stream_send_nbx(ep, copies[i] ? copies[i] : bytes + from, length, &param);
        CHECK(UCS_PTR_IS_PTR(requests[i]));
        from += length;
    }
    for (i = 0; i < UNDER_WAY; ++i) {
        CHECK_OK(wait_for(requests[i]));
        free(copies[i]);
    }
}

static void check(const unsigned char *got, size_t from, size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        if (got[i] != byte_at(from + i)) {
            FAIL("byte %zu is %u and not %u", from + i, got[i], byte_at(from + i));
        }
    }
}

/* Into a buffer, whole elements of it, a list, or where the library has them. */
static size_t receive_some(unsigned char *to, size_t from)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS,
                                 .datatype = ucp_dt_make_contig(1)};
    size_t room = some_size(TOTAL - from), length = 0, tested;
    ucp_dt_iov_t parts[2] = {{to, room / 2}, {to + room / 2, room - room / 2}};
    unsigned unit = 1;
    ucs_status_t status;
    void *request;

    switch (number() % 5) {
    case 0:
        while ((request = ucp_stream_recv_data_nb(ep, &length)) == NULL) {
            ucp_worker_progress(side.worker);
        }
        CHECK(!UCS_PTR_IS_ERR(request));
        check(request, from, length);
        ucp_stream_data_release(ep, request);
        return length;
    case 1:
        param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
        request = ucp_stream_recv_nbx(ep, to, room, &length, &param);
        break;
    case 2:
        param.datatype = UCP_DATATYPE_IOV;
        request = ucp_stream_recv_nbx(ep, parts, 2, &length, &param);
        break;
    case 3:
        /* The last bytes may be no whole element. */
        unit = (TOTAL - from >= 24) ? 24 : 1;
        param.datatype = ucp_dt_make_contig(unit);
        request = ucp_stream_recv_nbx(ep, to, (room + unit - 1) / unit, &length, &param);
        break;
    default:
        request = ucp_stream_recv_nbx(ep, to, room, &length, &param);
        break;
    }
    CHECK(!UCS_PTR_IS_ERR(request));
    if (request != NULL) {
        while ((status = ucp_stream_recv_request_test(request, &tested)) == UCS_INPROGRESS) {
            ucp_worker_progress(side.worker);
        }
        CHECK_OK(status);
        length = tested;
        ucp_request_free(request);
    }
    CHECK(length > 0);
    CHECK_EQ(length % unit, 0);
    if (param.flags) {
        CHECK_EQ(length, room);
    }
    check(to, from, length);
    return length;
}

static void everything_comes(const char *tls, int mode)
{
    size_t from = 0;

    open_pair(tls, mode);
    if (pair_is_child(&pair)) {
        send_all();
    } else {
        unsigned char *to = malloc(MOST + 24);

        while (from < TOTAL) {
            from += receive_some(to, from);
        }
        CHECK_EQ(from, TOTAL);
        free(to);
    }
    side_meet(&side, &pair);
    close_ep(0);
    side_meet(&side, &pair);
    close_pair();
}

/* A sender is done without a receive; the bytes come afterwards, or nobody wants them. */
static void ends_without_a_receive(const char *tls, int mode, int wanted)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    unsigned char *to = malloc(2 * UNRECEIVED);
    size_t length;

    open_pair(tls, mode);
    if (pair_is_child(&pair)) {
        ucp_request_param_t plain = {.op_attr_mask = 0};

        CHECK_OK(wait_for(ucp_stream_send_nbx(ep, bytes, UNRECEIVED, &plain)));
        memset(bytes, 0, UNRECEIVED);
        CHECK_OK(wait_for(ucp_stream_send_nbx(ep, bytes + UNRECEIVED, UNRECEIVED, &plain)));
        memset(bytes + UNRECEIVED, 0, UNRECEIVED);
    }
    side_meet(&side, &pair);
    if (!pair_is_child(&pair) && wanted) {
        CHECK_OK(wait_for(ucp_stream_recv_nbx(ep, to, 2 * UNRECEIVED, &length, &param)));
        check(to, 0, 2 * UNRECEIVED);
    }
    side_meet(&side, &pair);
    close_ep(0);
    side_meet(&side, &pair);
    close_pair();
    free(to);
}

/* The receiver closes before it has seen what comes. */
static void the_receiver_closes(const char *tls)
{
    open_pair(tls, UCP_ERR_HANDLING_MODE_PEER);
    if (pair_is_child(&pair)) {
        ucp_request_param_t plain = {.op_attr_mask = 0};
        ucs_status_t status;
        int i;

        for (i = 0; i < 4; ++i) {
            status = wait_for(ucp_stream_send_nbx(ep, bytes, UNRECEIVED, &plain));
            CHECK((status == UCS_OK) || (status == UCS_ERR_CONNECTION_RESET));
        }
    } else {
        ucp_worker_progress(side.worker);
        close_ep(UCP_EP_CLOSE_FLAG_FORCE);
    }
    side_meet(&side, &pair);
    if (pair_is_child(&pair)) {
        close_ep(UCP_EP_CLOSE_FLAG_FORCE);
    }
    side_meet(&side, &pair);
    close_pair();
}

/* A killed sender: the receive ends with what there was, the next one with an error. */
static void the_sender_dies(const char *tls)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    unsigned char *to = malloc(MOST);
    size_t length;
    void *request;

    open_pair(tls, UCP_ERR_HANDLING_MODE_PEER);
    if (pair_is_child(&pair)) {
        for (;;) {
            wait_for(ucp_stream_send_nbx(ep, bytes, MOST, &plain));
        }
    }
    CHECK_OK(wait_for(ucp_stream_recv_nbx(ep, to, MOST, &length, &plain)));
    CHECK_EQ(kill(pair.child, SIGKILL), 0);
    CHECK(waitpid(pair.child, NULL, 0) == pair.child);
    do {
        request = ucp_stream_recv_nbx(ep, to, MOST, &length, &plain);
    } while (wait_for(request) == UCS_OK);
    close_ep(UCP_EP_CLOSE_FLAG_FORCE);
    CHECK_OK(ucp_mem_unmap(side.context, handle));
    side_close(&side);
    close(pair.fd);
    free(to);
}

int main(void)
{
    static const char *tls[] = {"posix", "sysv", "posix,cma", "tcp"};
    size_t i;
    int mode;

    for (i = 0; i < sizeof(tls) / sizeof(*tls); ++i) {
        for (mode = UCP_ERR_HANDLING_MODE_NONE; mode <= UCP_ERR_HANDLING_MODE_PEER; ++mode) {
            everything_comes(tls[i], mode);
            ends_without_a_receive(tls[i], mode, 1);
        }
        ends_without_a_receive(tls[i], UCP_ERR_HANDLING_MODE_NONE, 0);
        the_receiver_closes(tls[i]);
        the_sender_dies(tls[i]);
        OK("%s", tls[i]);
    }
    return 0;
}
