/* Handlers that keep data of eager messages over shared memory and RDMA, without asking for it: 10 000 at a time, whole while
 * traffic goes on, given back or received in any order; received inside the handler, as Java's bindings do; handlers of
 * the old kind. */
/* oracle: 1.22.0 */
/* env: UCX_TLS=posix */
/* timeout: 60 */
#include "peers.h"

enum { ID = 1, RECEIVED = 2, OLD = 3, MANY = 10000, MOST = 4000 };

static two_t two;
static unsigned char source[8256], target[MOST];
static struct {
    void *data;
    size_t length;
    unsigned first;
} kept[MANY];
static unsigned calls, count;
static int keep;
static uint64_t last_attr;

static size_t length_of(unsigned number)
{
    return 101 + (number * 2654435761u) % (MOST - 101);
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    last_attr = param->recv_attr;
    if (keep) {
        CHECK(last_attr & UCP_AM_RECV_ATTR_FLAG_DATA);
        kept[count].data = data;
        kept[count].length = length;
        kept[count].first = *(unsigned char *)data;
        ++count;
    }
    ++calls;
    return keep ? UCS_INPROGRESS : UCS_OK;
}

static ucs_status_t on_received(void *arg, const void *header, size_t header_length, void *data, size_t length,
                                const ucp_am_recv_param_t *param)
{
    ucp_request_param_t plain;

    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA);
    plain.op_attr_mask = 0;
    CHECK(ucp_am_recv_data_nbx(two.worker[1], data, target, length, &plain) == NULL);
    ++calls;
    return UCS_INPROGRESS;
}

static ucs_status_t on_old(void *arg, void *data, size_t length, ucp_ep_h reply_ep, unsigned flags)
{
    CHECK(flags & UCP_CB_PARAM_FLAG_DATA);
    kept[count].data = data;
    kept[count].length = length;
    kept[count].first = *(unsigned char *)data;
    ++count;
    ++calls;
    return UCS_INPROGRESS;
}

static void send_to(unsigned id, unsigned first, size_t length)
{
    ucp_request_param_t param;
    unsigned before = calls;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    CHECK_OK(two_wait(&two, ucp_am_send_nbx(two.ep[0], id, NULL, 0, source + first % 256, length, &param)));
    TWO_UNTIL(&two, calls == before + 1);
}

static void send_one(unsigned first, size_t length)
{
    send_to(ID, first, length);
}

static void keep_many(unsigned many)
{
    unsigned i;

    keep = 1;
    for (count = 0, i = 0; i < many; ++i) {
        send_one(i, length_of(i));
    }
    keep = 0;
}

static void check_kept(unsigned i)
{
    CHECK(!memcmp(kept[i].data, source + kept[i].first, kept[i].length));
}

int main(void)
{
    ucp_am_handler_param_t handler;
    ucp_request_param_t param;
    unsigned i, at;

    for (i = 0; i < sizeof(source); ++i) {
        source[i] = (unsigned char)i;
    }
    two_open(&two, UCP_FEATURE_AM, 1);
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    handler.id = ID;
    handler.cb = on_message;
    CHECK_OK(ucp_worker_set_am_recv_handler(two.worker[1], &handler));

    send_one(0, 92);
    /* Shared memory sends it short; tests/verbs runs this, too. */
    CHECK(!(last_attr & UCP_AM_RECV_ATTR_FLAG_DATA) || (strcmp(getenv("UCX_TLS"), "posix") != 0));
    for (i = 93; i < 8000; i += 13) {
        send_one(0, i);
        CHECK(last_attr & UCP_AM_RECV_ATTR_FLAG_DATA);
    }
    OK("which can be kept");

    keep_many(MANY);
    for (i = 0; i < 2000; ++i) {
        send_one(i, length_of(i));
    }
    param.op_attr_mask = 0;
    for (i = 0; i < MANY; ++i) {
        at = (i * 7919) % MANY;
        check_kept(at);
        if (i % 2) {
            ucp_am_data_release(two.worker[1], kept[at].data);
        } else {
            CHECK(ucp_am_recv_data_nbx(two.worker[1], kept[at].data, target, MOST, &param) == NULL);
            CHECK(!memcmp(target, source + kept[at].first, kept[at].length));
        }
    }
    OK("many kept, given back in any order");

    for (i = 0; i < 1000; ++i) {
        keep_many(3);
        for (at = 0; at < 3; ++at) {
            check_kept(at);
            ucp_am_data_release(two.worker[1], kept[at].data);
        }
    }
    OK("kept and given back in turn");

    handler.id = RECEIVED;
    handler.cb = on_received;
    CHECK_OK(ucp_worker_set_am_recv_handler(two.worker[1], &handler));
    for (i = 0; i < 1000; ++i) {
        send_to(RECEIVED, i, length_of(i));
        CHECK(!memcmp(target, source + i % 256, length_of(i)));
    }
    OK("received inside the handler");

    CHECK_OK(ucp_worker_set_am_handler(two.worker[1], OLD, on_old, NULL, UCP_AM_FLAG_WHOLE_MSG));
    for (count = 0, i = 0; i < 100; ++i) {
        send_to(OLD, i, length_of(i));
    }
    for (i = 0; i < 100; ++i) {
        check_kept(i);
        ucp_am_data_release(two.worker[1], kept[i].data);
    }
    OK("handlers of the old kind");
    two_close(&two);
    OK("closed");
    return 0;
}
