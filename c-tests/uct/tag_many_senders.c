/* Several processes send long eager messages, in fragments, to one interface at the same time: the fragments of different
 * senders come mixed, and each message is whole, in the receive that waits for it or in the unexpected callback. */
/* timeout: 90 */
#include "tag.h"

enum { SENDERS = 4, COUNT = 10 };

static receive_t receives[SENDERS][COUNT];
static char *buffers[SENDERS][COUNT];

static uct_tag_t tag_of(unsigned sender, unsigned at)
{
    return ((uct_tag_t)sender << 32) | at;
}

/* Some tens of fragments. */
static size_t length_of(const tag_side_t *side, unsigned sender, unsigned at)
{
    size_t length = 20 * side->t.attr.cap.am.max_bcopy + sender * 1013 + at * 4099;
    CHECK(length <= side->t.attr.cap.tag.eager.max_zcopy);
    return length;
}

static void send_all(const char *name, const char *device, unsigned sender, pair_t *pair)
{
    static tag_side_t side;
    unsigned at;

    tag_side_open(&side, name, device, pair);
    meet(&side);
    for (at = 0; at < COUNT; ++at) {
        size_t length = length_of(&side, sender, at);
        char *data = room(length);

        fill(data, length, tag_of(sender, at));
        send_zcopy(&side, tag_of(sender, at), at, data, length);
        free(data);
    }
    tag_side_close(&side);
    pair_finish(pair);
}

/* How many messages are there; how many have begun and not ended goes to `open`. */
static unsigned num_whole(const tag_side_t *side, unsigned *open)
{
    unsigned whole = 0, sender, at, i;

    *open = 0;
    for (sender = 0; sender < SENDERS; ++sender) {
        for (at = 0; at < COUNT; at += 2) {
            const receive_t *receive = &receives[sender][at];
            whole += receive->completed;
            *open += receive->consumed && !receive->completed;
        }
    }
    for (i = 0; i < side->num_messages; ++i) {
        whole += side->messages[i].whole;
        *open += !side->messages[i].whole;
    }
    return whole;
}

static void check_all(const tag_side_t *side)
{
    unsigned sender, at, i;

    for (sender = 0; sender < SENDERS; ++sender) {
        for (at = 0; at < COUNT; at += 2) {
            const receive_t *receive = &receives[sender][at];
            CHECK_EQ(receive->status, UCS_OK);
            CHECK_EQ(receive->stag, tag_of(sender, at));
            CHECK_EQ(receive->imm, at);
            CHECK_EQ(receive->length, length_of(side, sender, at));
            CHECK_PATTERN(buffers[sender][at], receive->length, receive->stag);
            free(buffers[sender][at]);
        }
    }
    CHECK_EQ(side->num_messages, SENDERS * (COUNT / 2));
    for (i = 0; i < side->num_messages; ++i) {
        const message_t *message = &side->messages[i];
        at = (unsigned)message->tag;
        CHECK(at % 2);
        CHECK_EQ(message->imm, at);
        CHECK_EQ(message->length, length_of(side, message->tag >> 32, at));
        CHECK_PATTERN(message->data, message->length, message->tag);
    }
}

/* Returns how many messages were in the middle at the same time, at most. */
static unsigned run(const char *name, const char *device)
{
    static tag_side_t side;
    pair_t pairs[SENDERS];
    uct_ep_h eps[SENDERS];
    unsigned sender, at, open, most_open = 0;

    for (sender = 0; sender < SENDERS; ++sender) {
        pairs[sender] = pair_start();
        if (pair_is_child(&pairs[sender])) {
            send_all(name, device, sender, &pairs[sender]);
        }
    }
    memset(&side, 0, sizeof(side));
    transport_open_prepared(&side.t, name, device, HEADROOM, tag_prepare, &side);
    for (sender = 0; sender < SENDERS; ++sender) {
        eps[sender] = transport_connect(&side.t, &pairs[sender]);
        transport_meet(&side.t, &pairs[sender]);
        for (at = 0; at < COUNT; at += 2) {
            size_t length = length_of(&side, sender, at);
            buffers[sender][at] = room(length);
            post(&side, &receives[sender][at], tag_of(sender, at), UINT64_MAX, buffers[sender][at], length);
        }
    }
    for (sender = 0; sender < SENDERS; ++sender) {
        transport_meet(&side.t, &pairs[sender]);
    }
    while (num_whole(&side, &open) < SENDERS * COUNT) {
        most_open = (open > most_open) ? open : most_open;
        uct_worker_progress(side.t.worker);
    }
    check_all(&side);
    forget_messages(&side);
    for (sender = 0; sender < SENDERS; ++sender) {
        transport_meet(&side.t, &pairs[sender]);
        uct_ep_destroy(eps[sender]);
    }
    transport_close(&side.t);
    for (sender = 0; sender < SENDERS; ++sender) {
        pair_finish(&pairs[sender]);
    }
    return most_open;
}

/* On a busy machine the senders may run one after the other. */
static void run_until_mixed(const char *name, const char *device)
{
    while (run(name, device) < 2) {
    }
    OK("%s: %u senders at once", name, SENDERS);
}

int main(void)
{
    run_until_mixed("posix", NULL);
    run_until_mixed("sysv", NULL);
    run_until_mixed("tcp", "lo");
    return 0;
}
