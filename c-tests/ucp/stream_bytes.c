/* Streams carry bytes in order, whatever sizes they are sent and received in: by elements, whole buffers,
 * lists of buffers, and without a copy. */
/* oracle: 1.22.0 */
/* timeout: 60 */
#include "peers.h"

enum { MAX = 1 << 20, TOTAL = 12 << 20 };

static two_t two;
static unsigned char *source, *target;

static uint64_t rnd(uint64_t below)
{
    return number() % below;
}

static unsigned char byte_at(size_t at)
{
    return (unsigned char)(at * 11 + (at >> 8) * 3 + (at >> 16));
}

static void fill_stream(size_t from, size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        source[i] = byte_at(from + i);
    }
}

static void check(const unsigned char *bytes, size_t from, size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        if (bytes[i] != byte_at(from + i)) {
            FAIL("byte %zu is %u", from + i, bytes[i]);
        }
    }
}

static size_t some_size(void)
{
    static const size_t about[] = {4, 64, 5000, 20000, 200000, MAX - 8};
    return 1 + rnd(about[rnd(6)]);
}

/* Sends `length` bytes from the place `from` of the endless sequence. */
static void send_some(int way, size_t from, size_t length)
{
    ucp_request_param_t param;
    ucp_dt_iov_t parts[2];

    fill_stream(from, length);
    parts[0] = (ucp_dt_iov_t){source, length / 2};
    parts[1] = (ucp_dt_iov_t){source + length / 2, length - length / 2};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    if (rnd(3) == 0) {
        param.datatype = UCP_DATATYPE_IOV;
        CHECK_OK(two_wait(&two, ucp_stream_send_nbx(two.ep[way], parts, 2, &param)));
    } else if (rnd(2) == 0) {
        CHECK_OK(two_wait(&two, ucp_stream_send_nb(two.ep[way], source, length, ucp_dt_make_contig(1), NULL, 0)));
    } else {
        param.datatype = ucp_dt_make_contig(1);
        CHECK_OK(two_wait(&two, ucp_stream_send_nbx(two.ep[way], source, length, &param)));
    }
}

static unsigned called;
static size_t called_length;

static void on_received(void *request, ucs_status_t status, size_t length, void *user_data)
{
    CHECK_OK(status);
    CHECK(user_data == &two);
    called++;
    called_length = length;
}

/* Receives at most `room` bytes from the place `from`; gives how many. */
static size_t receive_some(int way, size_t from, size_t room, size_t known)
{
    ucp_ep_h ep = two.ep[!way];
    ucp_request_param_t param;
    ucp_dt_iov_t parts[2];
    size_t length = 0, tested;
    unsigned before = called, unit;
    void *request;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                         UCP_OP_ATTR_FIELD_FLAGS;
    param.cb.recv_stream = on_received;
    param.user_data = &two;
    param.flags = 0;
    param.datatype = ucp_dt_make_contig(1);
    switch (rnd(4)) {
    case 0:
        do {
            request = ucp_stream_recv_data_nb(ep, &length);
            CHECK(!UCS_PTR_IS_ERR(request));
            two_progress(&two);
        } while (request == NULL);
        check(request, from, length);
        ucp_stream_data_release(ep, request);
        return length;
    case 1:
        /* Everything that is on its way, or a part of it. */
        length = 1 + rnd(known);
        param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
        unit = (length % 8 == 0) ? 8 : 1;
        param.datatype = ucp_dt_make_contig(unit);
        room = length;
        request = ucp_stream_recv_nbx(ep, target, room / unit, &length, &param);
        break;
    case 2:
        parts[0] = (ucp_dt_iov_t){target, room / 3};
        parts[1] = (ucp_dt_iov_t){target + room / 3, room - room / 3};
        param.datatype = UCP_DATATYPE_IOV;
        request = ucp_stream_recv_nbx(ep, parts, 2, &length, &param);
        break;
    default:
        request = ucp_stream_recv_nbx(ep, target, room, &length, &param);
        break;
    }
    CHECK(!UCS_PTR_IS_ERR(request));
    if (request != NULL) {
        TWO_UNTIL(&two, called == before + 1);
        CHECK_OK(ucp_stream_recv_request_test(request, &tested));
        CHECK_EQ(tested, called_length);
        length = called_length;
        ucp_request_free(request);
    } else {
        CHECK_EQ(called, before);
    }
    CHECK(length > 0);
    CHECK(length <= room);
    if (param.flags) {
        CHECK_EQ(length, room);
    }
    check(target, from, length);
    return length;
}

static void run(int way)
{
    size_t sent = 0, received = 0;

    while (received < TOTAL) {
        if ((sent - received < MAX) && (sent < TOTAL) && ((sent == received) || rnd(2))) {
            size_t length = some_size();
            send_some(way, sent, length);
            sent += length;
        } else if (sent > received) {
            received += receive_some(way, received, some_size(), sent - received < MAX ? sent - received : MAX);
        }
    }
    while (received < sent) {
        received += receive_some(way, received, some_size(), 1);
    }
}

/* Receives wait before anything is sent, and get the bytes in the order of their posting. */
static void run_posted(void)
{
    enum { COUNT = 30 };
    ucp_request_param_t param;
    void *requests[COUNT];
    size_t length, from = 0;
    int i;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS;
    param.datatype = ucp_dt_make_contig(4);
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    memset(target, 0, MAX);
    for (i = 0; i < COUNT; ++i) {
        requests[i] = ucp_stream_recv_nbx(two.ep[1], target + i * 4000, 1000, &length, &param);
        CHECK(UCS_PTR_IS_PTR(requests[i]));
    }
    while (from < COUNT * 4000) {
        length = 1 + rnd(9000);
        if (length > COUNT * 4000 - from) {
            length = COUNT * 4000 - from;
        }
        send_some(0, from, length);
        from += length;
    }
    for (i = 0; i < COUNT; ++i) {
        CHECK_OK(two_wait(&two, requests[i]));
    }
    check(target, 0, from);
}

int main(void)
{
    ucp_request_param_t param;
    size_t length = 5;

    source = malloc(MAX);
    target = malloc(MAX);
    two_open(&two, UCP_FEATURE_STREAM, 1);
    run(0);
    OK("one way");
    run(1);
    OK("the other way");
    run_posted();
    OK("posted first");

    param.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    CHECK_EQ(UCS_PTR_RAW_STATUS(ucp_stream_recv_nbx(two.ep[1], target, 8, &length, &param)), UCS_ERR_NO_RESOURCE);
    param.op_attr_mask = 0;
    CHECK(ucp_stream_recv_nbx(two.ep[1], target, 0, &length, &param) == NULL);
    CHECK_EQ(length, 0);
    CHECK(ucp_stream_recv_data_nb(two.ep[1], &length) == NULL);
    OK("nothing there");

    two_close(&two);
    free(source);
    free(target);
    return 0;
}
