/* Receives of eager messages are canceled: before a message, after it, within its callbacks and between its fragments.
 * No message is lost: it goes to the next receive or to the callback for unexpected ones. An interface opened without
 * those callbacks has no tag matching. */
/* timeout: 60 */
#include "tag.h"

enum { TAG = 9 };

static void cancel_forced(receive_t *receive)
{
    CHECK_OK(uct_iface_tag_recv_cancel(receive->side->t.iface, &receive->ctx, 1));
}

static void cancel_asked(receive_t *receive)
{
    CHECK_OK(uct_iface_tag_recv_cancel(receive->side->t.iface, &receive->ctx, 0));
}

static void before_message(tag_side_t *side)
{
    char one[16], two[16];
    receive_t forced, asked;

    if (side->receives) {
        post(side, &forced, TAG, UINT64_MAX, one, sizeof(one));
        post(side, &asked, TAG, UINT64_MAX, two, sizeof(two));
        cancel_forced(&forced);
        cancel_asked(&asked);
        UNTIL(side, asked.completed);
        CHECK_EQ(asked.status, UCS_ERR_CANCELED);
        CHECK_EQ(asked.consumed, 0);
        CHECK_EQ(forced.completed, 0);
        CHECK_STATUS(uct_iface_tag_recv_cancel(side->t.iface, &forced.ctx, 0), UCS_ERR_INVALID_PARAM);
        /* Asked first, forced before the answer: no callback any more. */
        post(side, &asked, TAG, UINT64_MAX, two, sizeof(two));
        cancel_asked(&asked);
        cancel_forced(&asked);
    }
    meet(side);
    if (side->sends) {
        send_short(side, TAG, "message", 8);
    }
    if (side->receives) {
        UNTIL(side, side->num_messages == 1);
        CHECK_STR((char *)side->messages[0].data, "message");
        CHECK_EQ(asked.completed, 0);
        CHECK_EQ(forced.completed, 0);
        forget_messages(side);
    }
    meet(side);
}

static void within_callback(tag_side_t *side)
{
    char buffer[16];
    receive_t receive;
    int forced;

    for (forced = 0; forced < 2; ++forced) {
        if (side->receives) {
            post(side, &receive, TAG, UINT64_MAX, buffer, sizeof(buffer));
            receive.on_consumed = forced ? cancel_forced : cancel_asked;
        }
        meet(side);
        if (side->sends) {
            send_short(side, TAG, "message", 8);
        }
        if (side->receives) {
            UNTIL(side, receive.consumed);
            CHECK_STR(buffer, "message");
            /* Too late to be asked: the message is here. */
            CHECK_EQ(receive.completed, !forced);
            CHECK_EQ(receive.status, UCS_OK);
        }
        meet(side);
    }
    CHECK_EQ(side->num_messages, 0);
    meet(side);
}

/* `next`: another receive waits behind the one that is taken back. */
static void while_landing(tag_side_t *side, int forced, int next)
{
    size_t length = side->t.attr.cap.tag.eager.max_zcopy;
    char *data = room(length), *first = room(length), *second = room(length);
    receive_t one, two;

    if (side->receives) {
        post(side, &one, TAG, UINT64_MAX, first, length);
        if (next) {
            post(side, &two, TAG, UINT64_MAX, second, length);
        }
        one.on_consumed = forced ? cancel_forced : cancel_asked;
    }
    meet(side);
    if (side->sends) {
        fill(data, length, 6);
        send_zcopy(side, TAG, 77, data, length);
        send_short(side, TAG + 1, "behind", 7);
    }
    if (side->receives) {
        UNTIL(side, one.consumed);
        if (next) {
            UNTIL(side, two.completed);
            CHECK_EQ(two.status, UCS_OK);
            CHECK_EQ(two.length, length);
            CHECK_EQ(two.imm, 77);
            CHECK_PATTERN(second, length, 6);
            UNTIL(side, side->num_messages == 1);
        } else {
            UNTIL(side, (side->num_messages == 2) && side->messages[0].whole && side->messages[1].whole);
            message_t *message = &side->messages[side->messages[0].tag != TAG];
            CHECK_EQ(message->tag, TAG);
            CHECK_EQ(message->imm, 77);
            CHECK_EQ(message->length, length);
            CHECK_PATTERN(message->data, length, 6);
        }
        CHECK_EQ(one.completed, !forced);
        CHECK_EQ(one.status, forced ? UCS_OK : UCS_ERR_CANCELED);
        forget_messages(side);
    }
    meet(side);
    free(data);
    free(first);
    free(second);
}

/* The cancel and the message at the same time, many times: either the message or the cancel, never both,
 * never neither. */
static void at_once(tag_side_t *side)
{
    enum { ROUNDS = 200 };
    char buffer[64], data[64];
    receive_t receive;
    int i, j;

    for (i = 0; i < ROUNDS; ++i) {
        if (side->receives) {
            post(side, &receive, TAG, UINT64_MAX, buffer, sizeof(buffer));
        }
        meet(side);
        if (side->sends) {
            fill(data, sizeof(data), i);
            send_bcopy(side, TAG, i, data, sizeof(data));
        }
        if (side->receives) {
            for (j = 0; j < i % 8; ++j) {
                uct_worker_progress(side->t.worker);
            }
            if (!receive.completed) {
                cancel_asked(&receive);
            }
            UNTIL(side, receive.completed && ((receive.status == UCS_OK) || side->num_messages));
            if (receive.status == UCS_OK) {
                CHECK_PATTERN(buffer, sizeof(buffer), i);
                CHECK_EQ(side->num_messages, 0);
            } else {
                CHECK_EQ(receive.status, UCS_ERR_CANCELED);
                CHECK_EQ(side->num_messages, 1);
                CHECK_PATTERN(side->messages[0].data, sizeof(data), i);
            }
            forget_messages(side);
        }
        meet(side);
    }
}

static void test(tag_side_t *side)
{
    int i;

    before_message(side);
    within_callback(side);
    if (side->t.attr.cap.tag.eager.max_zcopy > side->t.attr.cap.am.max_zcopy) {
        for (i = 0; i < 4; ++i) {
            while_landing(side, i & 1, i >> 1);
        }
    }
    at_once(side);
}

static void without(const char *name, const char *device)
{
    uct_iov_t iov = iov_of(NULL, 0);
    uct_tag_context_t ctx;
    done_t done;
    transport_t t;
    uct_ep_h ep;

    done_init(&done);
    transport_open(&t, name, device, 0);
    ep = transport_connect(&t, NULL);
    CHECK_STATUS(uct_ep_tag_eager_short(ep, 1, "x", 1), UCS_ERR_UNSUPPORTED);
    CHECK_EQ(uct_ep_tag_eager_bcopy(ep, 1, 0, pack, NULL, 0), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_ep_tag_eager_zcopy(ep, 1, 0, &iov, 1, 0, &done.comp), UCS_ERR_UNSUPPORTED);
    CHECK_EQ(UCS_PTR_RAW_STATUS(uct_ep_tag_rndv_zcopy(ep, 1, NULL, 0, &iov, 1, 0, &done.comp)),
             UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_ep_tag_rndv_request(ep, 1, NULL, 0, 0), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_iface_tag_recv_zcopy(t.iface, 1, 1, &iov, 1, &ctx), UCS_ERR_UNSUPPORTED);
    uct_ep_destroy(ep);
    transport_close(&t);
    OK("%s: off without the callbacks", name);
}

int main(void)
{
    tag_run_all(test);
    without("self", NULL);
    without("posix", NULL);
    without("sysv", NULL);
    without("tcp", "lo");
    return 0;
}
