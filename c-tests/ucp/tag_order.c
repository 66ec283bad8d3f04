/* Receives and messages of every kind in any order, against a model that searches a list: each message goes to the
 * oldest receive that matches, each receive takes the oldest message. Receives are into contiguous memory or a list,
 * with and without a callback, which sometimes posts another one; some are canceled. Some sends are synchronous, and end when
 * their message is received. With one tag, hundreds wait in order. */
/* oracle: 1.22.0 */
/* timeout: 60 */
#include "peers.h"

enum { ROUNDS = 10000, MOST = 400 };

typedef struct {
    int live, iov;
    uint64_t tag, mask, got;
    uint64_t wants; /* the message that the model gives it; 0 for none yet */
    ucp_dt_iov_t list[2];
    ucs_status_ptr_t request;
} receive_t;

static const ucp_request_param_t plain;
static const uint64_t masks[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, 1};
static side_t a, b, *to;
static ucp_ep_h ep;
static receive_t receives[MOST];
static int order[MOST], posted; /* of those that no message has matched, the oldest first */
static uint64_t waiting[ROUNDS * 2][2]; /* tags and numbers of messages that no receive has matched */
static int messages;
static uint64_t sent, tags;
static ucs_status_ptr_t synchronous[ROUNDS * 2]; /* by the number of the message; NULL for another or one that is over */
static unsigned called;
static int nested;

static void post(void);

static void on_receive(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    receive_t *r = arg;

    ++called;
    if (status == UCS_OK) {
        CHECK_EQ(info->length, sizeof(r->got));
        if (nested < 3 && number() % 4 == 0) {
            ++nested;
            post();
            --nested;
        }
    }
}

static void forget(int *list, int *count, int at)
{
    memmove(&list[at], &list[at + 1], (--*count - at) * sizeof(*list));
}

/* The model of a receive: the oldest message that it matches, or its place behind the others. */
static void expect_message(receive_t *r)
{
    int i;

    for (i = 0; i < messages; ++i) {
        if (!((waiting[i][0] ^ r->tag) & r->mask)) {
            r->wants = waiting[i][1];
            memmove(waiting[i], waiting[i + 1], (--messages - i) * sizeof(*waiting));
            return;
        }
    }
    order[posted++] = (int)(r - receives);
}

static void post(void)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    receive_t *r = receives;
    void *buffer;
    size_t count = sizeof(r->got);

    while (r < receives + MOST && r->live) {
        ++r;
    }
    if (r == receives + MOST) {
        return;
    }
    memset(r, 0, sizeof(*r));
    r->live = 1;
    r->tag = number() % tags;
    r->mask = masks[number() % 5];
    r->iov = number() % 8 == 0;
    buffer = &r->got;
    if (r->iov) {
        r->list[0] = (ucp_dt_iov_t){&r->got, 3};
        r->list[1] = (ucp_dt_iov_t){(char *)&r->got + 3, 5};
        param = (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_iov()};
        buffer = r->list;
        count = 2;
    }
    if (number() % 2 == 0) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.recv = on_receive;
        param.user_data = r;
    }
    expect_message(r);
    r->request = ucp_tag_recv_nbx(to->worker, buffer, count, r->tag, r->mask, &param);
    CHECK(!UCS_PTR_IS_ERR(r->request));
}

static void send_one(void)
{
    static uint64_t words[ROUNDS * 2];
    uint64_t tag = number() % tags, word = ++sent;
    int i;

    for (i = 0; i < posted; ++i) {
        receive_t *r = &receives[order[i]];

        if (!((tag ^ r->tag) & r->mask)) {
            break;
        }
    }
    /* It is noted before it is sent: a callback posts receives while it comes. */
    if (i < posted) {
        receives[order[i]].wants = word;
        forget(order, &posted, i);
    } else {
        waiting[messages][0] = tag;
        waiting[messages++][1] = word;
    }
    words[word] = word;
    if (number() % 4 == 0) {
        synchronous[word] = ucp_tag_send_sync_nbx(ep, &words[word], sizeof(word), tag, &plain);
        CHECK(!UCS_PTR_IS_ERR(synchronous[word]));
    } else {
        CHECK_OK(side_wait(&a, &b, ucp_tag_send_nbx(ep, &word, sizeof(word), tag, &plain)));
    }
    for (i = 0; i < 4; ++i) {
        ucp_worker_progress(to->worker);
    }
}

/* Takes a receive back that waits. */
static void cancel_one(void)
{
    int at = posted ? (int)(number() % posted) : 0;
    receive_t *r = &receives[order[at]];

    if (!posted) {
        return;
    }
    forget(order, &posted, at);
    ucp_request_cancel(to->worker, r->request);
    while (ucp_request_check_status(r->request) == UCS_INPROGRESS) {
        ucp_worker_progress(to->worker);
    }
    CHECK_EQ(ucp_request_check_status(r->request), UCS_ERR_CANCELED);
    ucp_request_free(r->request);
    r->live = 0;
}

/* Every receive that has its message by the model has it, and no other. */
static void compare(void)
{
    receive_t *r;

    for (r = receives; r < receives + MOST; ++r) {
        if (!r->live) {
            continue;
        }
        if (r->wants == 0) {
            CHECK(UCS_PTR_IS_PTR(r->request) && ucp_request_check_status(r->request) == UCS_INPROGRESS);
            continue;
        }
        if (r->request != NULL) {
            DRIVE_UNTIL(&a, &b, ucp_request_check_status(r->request) != UCS_INPROGRESS);
            CHECK_EQ(ucp_request_check_status(r->request), UCS_OK);
            ucp_request_free(r->request);
        }
        CHECK_EQ(r->got, r->wants);
        r->live = 0;
        if (synchronous[r->wants] != NULL) {
            CHECK_OK(side_wait(&a, &b, synchronous[r->wants]));
            synchronous[r->wants] = NULL;
        }
    }
    if (messages > 0 && synchronous[waiting[0][1]] != NULL) {
        CHECK_EQ(ucp_request_check_status(synchronous[waiting[0][1]]), UCS_INPROGRESS);
    }
}

static void check_transport(const char *transport, unsigned different)
{
    int self = !strcmp(transport, "self"), i;
    /* Of sixteen operations so many are receives, in the phases by turns. */
    uint64_t few = different > 1 ? 5 : 3, many = different > 1 ? 9 : 12;

    tags = different;
    sent = 0;
    CHECK_EQ(setenv("UCX_TLS", transport, 1), 0);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    to = self ? &a : &b;
    ep = side_connect(&a, to->address);
    for (i = 0; i < ROUNDS; ++i) {
        /* Phases in which receives are ahead, and messages. */
        uint64_t what = number() % 16, ahead = i / (different > 1 ? 200 : 1000) % 2 ? many : few;

        if (what < ahead) {
            post();
        } else if (what < 15) {
            send_one();
        } else {
            cancel_one();
        }
        compare();
    }
    while (posted) {
        cancel_one();
    }
    while (messages) {
        post();
        compare();
        while (posted) {
            cancel_one();
        }
    }
    CHECK(called > 0);
    CHECK_OK(side_disconnect(&a, &b, ep, 0));
    side_close(&a);
    side_close(&b);
    OK("%s, %u tags", transport, different);
}

int main(void)
{
    unsigned different;

    for (different = 1; different <= 3; different += 2) {
        check_transport("self", different);
        check_transport("posix", different);
    }
    return 0;
}
