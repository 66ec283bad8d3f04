/* A worker sends itself long messages before it receives them: they wait at their send. Receives of every kind, probes,
 * sends that the caller wants to cancel, sends in the worker's own callbacks. And short synchronous ones, which are copied. */
/* oracle: 1.22.0 */
/* env: UCX_TLS=self UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include "peers.h"

enum { LENGTH = 100000, PARTS = 4, MANY = 300, TAG = 7 };

static const ucp_request_param_t plain;
static const ucp_datatype_t list = UCP_DATATYPE_IOV;
static side_t side;
static char source[LENGTH], target[LENGTH];

static ucs_status_t finish(ucs_status_ptr_t request)
{
    return side_wait(&side, &side, request);
}

static void renew(uint64_t seed)
{
    fill(source, LENGTH, seed);
    memset(target, 0, LENGTH);
}

static void *post(ucp_ep_h ep, int sync)
{
    void *send = sync ? ucp_tag_send_sync_nbx(ep, source, LENGTH, TAG, &plain) :
                        ucp_tag_send_nbx(ep, source, LENGTH, TAG, &plain);

    CHECK(UCS_PTR_IS_PTR(send));
    CHECK_EQ(ucp_request_check_status(send), UCS_INPROGRESS);
    return send;
}

static void parts_of(ucp_dt_iov_t *iov, char *buffer)
{
    unsigned i;

    for (i = 0; i < PARTS; ++i) {
        iov[i].buffer = buffer + i * LENGTH / PARTS;
        iov[i].length = LENGTH / PARTS;
    }
}

static void receives(ucp_ep_h ep)
{
    ucp_request_param_t as_list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = list};
    ucp_dt_iov_t from[PARTS], to[PARTS];
    void *send, *receive;
    int sync, scattered;

    for (sync = 0; sync < 2; ++sync) {
        for (scattered = 0; scattered < 4; ++scattered) {
            renew(sync * 4 + scattered);
            parts_of(from, source);
            parts_of(to, target);
            if (scattered & 1) {
                send = sync ? ucp_tag_send_sync_nbx(ep, from, PARTS, TAG, &as_list) :
                              ucp_tag_send_nbx(ep, from, PARTS, TAG, &as_list);
            } else {
                send = post(ep, sync);
            }
            receive = scattered & 2 ? ucp_tag_recv_nbx(side.worker, to, PARTS, TAG, -1, &as_list) :
                                      ucp_tag_recv_nbx(side.worker, target, LENGTH, TAG, -1, &plain);
            CHECK_OK(finish(receive));
            CHECK_OK(finish(send));
            CHECK(!memcmp(source, target, LENGTH));
        }
    }
    OK("contiguous and lists, synchronous or not");
}

static void truncated(ucp_ep_h ep)
{
    void *send = post(ep, 0), *receive;

    target[LENGTH - 1] = 'x';
    receive = ucp_tag_recv_nbx(side.worker, target, LENGTH - 1, TAG, -1, &plain);
    CHECK_EQ(finish(receive), UCS_ERR_MESSAGE_TRUNCATED);
    CHECK_OK(finish(send));
    CHECK_EQ(target[LENGTH - 1], 'x');
    OK("a receive that is too short");
}

static void in_order(ucp_ep_h ep)
{
    static char small[MANY];
    void *sends[MANY], *receive;
    unsigned i;

    renew(1);
    for (i = 0; i < MANY; ++i) {
        source[i] = (char)i;
        /* Every third is a short one. */
        sends[i] = i % 3 ? ucp_tag_send_nbx(ep, source + i, LENGTH - MANY, TAG, &plain) :
                           ucp_tag_send_nbx(ep, source + i, 1, TAG, &plain);
    }
    for (i = 0; i < MANY; ++i) {
        receive = i % 3 ? ucp_tag_recv_nbx(side.worker, target, LENGTH - MANY, TAG, -1, &plain) :
                          ucp_tag_recv_nbx(side.worker, small, 1, TAG, -1, &plain);
        CHECK_OK(finish(receive));
        CHECK_OK(finish(sends[i]));
        CHECK_EQ(i % 3 ? target[0] : small[0], (char)i);
    }
    OK("%u messages keep their order", (unsigned)MANY);
}

static void probed(ucp_ep_h ep)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    void *send;

    renew(2);
    send = post(ep, 0);
    CHECK(ucp_tag_probe_nb(side.worker, TAG, -1, 0, &info) != NULL);
    CHECK_EQ(info.length, LENGTH);
    CHECK_EQ(info.sender_tag, TAG);
    message = ucp_tag_probe_nb(side.worker, TAG, -1, 1, &info);
    CHECK(message != NULL);
    CHECK(ucp_tag_probe_nb(side.worker, TAG, -1, 0, &info) == NULL);
    CHECK_OK(finish(ucp_tag_msg_recv_nbx(side.worker, target, LENGTH, message, &plain)));
    CHECK_OK(finish(send));
    CHECK(!memcmp(source, target, LENGTH));
    OK("a probe, and one that takes the message");
}

static unsigned replies;
static void *reply;

static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    CHECK_OK(status);
    CHECK_EQ(info->length, LENGTH);
    reply = post(arg, 0);
    ++replies;
}

static void in_callback(ucp_ep_h ep)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.recv = on_received,
                                 .user_data = ep};
    void *send;

    renew(3);
    send = post(ep, 0);
    CHECK_OK(finish(ucp_tag_recv_nbx(side.worker, target, LENGTH, TAG, -1, &param)));
    CHECK_OK(finish(send));
    CHECK_EQ(replies, 1);
    memset(target, 0, LENGTH);
    CHECK_OK(finish(ucp_tag_recv_nbx(side.worker, target, LENGTH, TAG, -1, &plain)));
    CHECK_OK(finish(reply));
    CHECK(!memcmp(source, target, LENGTH));
    OK("a send in the callback of a receive");
}

static void canceled(ucp_ep_h ep)
{
    void *send = post(ep, 0), *receive;

    ucp_request_cancel(side.worker, send);
    receive = ucp_tag_recv_nbx(side.worker, target, LENGTH, TAG, -1, &plain);
    CHECK_OK(finish(receive));
    CHECK_OK(finish(send));
    OK("a send that cannot be taken back");
}

static void short_synchronous(ucp_ep_h ep)
{
    static const size_t lengths[] = {0, 1, 16, 17, 41, 100, 1000, 5000};
    void *send, *receive = NULL, *sends[MANY];
    unsigned i;
    int posted;

    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        for (posted = 0; posted < 2; ++posted) {
            renew(i);
            if (posted) {
                receive = ucp_tag_recv_nbx(side.worker, target, LENGTH, TAG, -1, &plain);
            }
            send = ucp_tag_send_sync_nbx(ep, source, lengths[i], TAG, &plain);
            if (!posted) {
                CHECK(UCS_PTR_IS_PTR(send));
                CHECK_EQ(ucp_request_check_status(send), UCS_INPROGRESS);
                receive = ucp_tag_recv_nbx(side.worker, target, LENGTH, TAG, -1, &plain);
            }
            CHECK_OK(finish(receive));
            CHECK_OK(finish(send));
            CHECK(!memcmp(source, target, lengths[i]) && !target[lengths[i]]);
        }
    }
    renew(4);
    for (i = 0; i < MANY; ++i) {
        sends[i] = ucp_tag_send_sync_nbx(ep, source + i, i, TAG + i, &plain);
    }
    for (i = MANY; i-- > 0;) {
        CHECK_EQ(ucp_request_check_status(sends[i]), UCS_INPROGRESS);
        CHECK_OK(finish(ucp_tag_recv_nbx(side.worker, target, i, TAG + i, -1, &plain)));
        CHECK_OK(finish(sends[i]));
        CHECK(!memcmp(source + i, target, i));
    }
    OK("short synchronous messages");
}

/* `length` bytes of a buffer in entries of which the second is empty. */
static void entries_of(ucp_dt_iov_t *iov, char *buffer, size_t length)
{
    size_t first = length / 3, third = length / 2 - first;

    iov[0] = (ucp_dt_iov_t){buffer, first};
    iov[1] = (ucp_dt_iov_t){NULL, 0};
    iov[2] = (ucp_dt_iov_t){buffer + first, third};
    iov[3] = (ucp_dt_iov_t){buffer + first + third, length - first - third};
}

static void lists(ucp_ep_h ep)
{
    enum { NOBODYS = 1000, AWAITED = 1, AMONG_OTHERS = 2, TRUNCATED = 4, INTO_ONE = 8, ALL = 16 };
    static const size_t lengths[] = {0, 1, 7, 32, 33, 5000, 8192, 16384, 70000, LENGTH - 1};
    const ucp_request_param_t as_list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = list};
    ucp_dt_iov_t from[PARTS], to[PARTS];
    unsigned i, how;

    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        for (how = 0; how < ALL; ++how) {
            size_t length = lengths[i], room = length - ((how & TRUNCATED) && length);
            int into_one = !!(how & INTO_ONE);
            void *at = into_one ? (void *)target : to;
            size_t count = into_one ? room : PARTS;
            const ucp_request_param_t *as = into_one ? &plain : &as_list;
            void *other = NULL, *send, *next, *receive = NULL;
            char last;

            renew(i * ALL + how);
            entries_of(from, source, length);
            entries_of(to, target, room);
            if (how & AMONG_OTHERS) {
                other = ucp_tag_recv_nbx(side.worker, NULL, 0, NOBODYS, -1, &plain);
            }
            if (how & AWAITED) {
                receive = ucp_tag_recv_nbx(side.worker, at, count, TAG, -1, as);
            }
            send = ucp_tag_send_nbx(ep, from, PARTS, TAG, &as_list);
            next = ucp_tag_send_nbx(ep, source, 1, TAG, &plain);
            if (!(how & AWAITED)) {
                receive = ucp_tag_recv_nbx(side.worker, at, count, TAG, -1, as);
            }
            CHECK_EQ(finish(receive), room < length ? UCS_ERR_MESSAGE_TRUNCATED : UCS_OK);
            CHECK_OK(finish(send));
            CHECK_OK(finish(ucp_tag_recv_nbx(side.worker, &last, 1, TAG, -1, &plain)));
            CHECK_OK(finish(next));
            CHECK((room < length) || !memcmp(source, target, length));
            CHECK(!target[length] && (last == source[0]));
            if (other != NULL) {
                ucp_request_cancel(side.worker, other);
                CHECK_EQ(finish(other), UCS_ERR_CANCELED);
            }
        }
    }
    OK("lists of any length, awaited or not, before other messages of the tag");
}

int main(void)
{
    ucp_ep_h ep;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    receives(ep);
    truncated(ep);
    in_order(ep);
    probed(ep);
    in_callback(ep);
    canceled(ep);
    short_synchronous(ep);
    lists(ep);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    return 0;
}
