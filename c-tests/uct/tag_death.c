/* A peer is killed in the middle of a rendezvous, as sender and as receiver: before the match, while data arrive, and
 * while it fetches. The survivor's operation completes with an error, nothing behind the buffer is written, and the
 * interface continues. With and without copies by the kernel. */
/* timeout: 90 */
#include "tag.h"

#include <signal.h>

enum { LENGTH = 8 << 20, TAG = 5 };

static void kill_child(tag_side_t *side, pid_t child)
{
    int status;

    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
}

/* Tagged messages of the interface to itself. */
static void goes_on(tag_side_t *side)
{
    uct_ep_h ep = side->ep;
    receive_t receive;
    char buffer[8];

    side->ep = transport_connect(&side->t, NULL);
    post(side, &receive, 77, UINT64_MAX, buffer, sizeof(buffer));
    send_short(side, 77, "alive", 6);
    UNTIL(side, receive.completed);
    CHECK_EQ(receive.status, UCS_OK);
    CHECK_STR(buffer, "alive");
    uct_ep_destroy(side->ep);
    side->ep = ep;
}

static void end(tag_side_t *side, pair_t *pair)
{
    goes_on(side);
    release_kept(side);
    forget_messages(side);
    uct_ep_destroy(side->ep);
    transport_close(&side->t);
    close(pair->fd);
}

/* In the child: until it is killed, with or without work at what is under way. */
static void live_on(tag_side_t *side, int works)
{
    for (;;) {
        if (works) {
            uct_worker_progress(side->t.worker);
        } else {
            pause();
        }
    }
}

/* In the child: everything stops here, in the middle of whatever called. */
static void stop_here(receive_t *receive)
{
    char byte = 0;

    pair_send(receive->side->pair, &byte, 1);
    live_on(receive->side, 0);
}

/* The sender dies. `when`: 0 before its offer is looked at, 1 with an offer that nobody waits for, 2 while data come. */
static void sender_dies(const char *name, const char *device, int when)
{
    static tag_side_t side;
    pair_t pair = pair_start();
    char byte = 0, *data = room(LENGTH);
    uct_iov_t iov = iov_of(data, LENGTH);
    receive_t receive;
    done_t done;

    side_open_as(&side, name, device, &pair, 1);
    if (pair_is_child(&pair)) {
        /* Where connecting takes messages, it is done when this one has left. */
        send_short(&side, TAG + 1, NULL, 0);
        side_flush(&side);
        transport_meet(&side.t, &pair);
        pair_recv(&pair, &byte, 1);
        fill(data, LENGTH, 3);
        start_rndv(&side, TAG, "h", 1, &iov, &done);
        side_flush(&side);
        pair_send(&pair, &byte, 1);
        live_on(&side, when == 2);
    }
    if (when != 1) {
        post(&side, &receive, TAG, UINT64_MAX, data, LENGTH);
    }
    transport_meet(&side.t, &pair);
    /* From here on nothing is looked at: before, the offer might have been. */
    pair_send(&pair, &byte, 1);
    pair_recv(&pair, &byte, 1);
    if (when == 2) {
        UNTIL(&side, receive.consumed);
    } else if (when == 1) {
        UNTIL(&side, side.num_rndv == 1);
    }
    kill_child(&side, pair.child);
    if (when == 1) {
        /* The offer is the user's; its sender is gone, and the next message finds the receive. */
        post(&side, &receive, TAG, UINT64_MAX, data, LENGTH);
        CHECK_OK(uct_iface_tag_recv_cancel(side.t.iface, &receive.ctx, 0));
        UNTIL(&side, receive.completed);
        CHECK_EQ(receive.status, UCS_ERR_CANCELED);
    } else {
        UNTIL(&side, receive.completed);
        /* With the data under way it may have been fetched whole within one progress. */
        CHECK((receive.status != UCS_OK) || ((when == 2) && (receive.length == LENGTH)));
        if (receive.status == UCS_OK) {
            CHECK_PATTERN(data, LENGTH, 3);
        }
    }
    CHECK_EQ((unsigned char)data[LENGTH], 0xee);
    UNTIL(&side, side.failures);
    end(&side, &pair);
    free(data);
}

/* The receiver dies. `when`: 0 before it looks, 1 when it has matched and no byte is there, 2 with the first bytes. */
static void receiver_dies(const char *name, const char *device, int when)
{
    static tag_side_t side;
    pair_t pair = pair_start();
    char byte = 0, *data = room(LENGTH);
    uct_iov_t iov = iov_of(data, LENGTH);
    receive_t receive;
    done_t done;

    side_open_as(&side, name, device, &pair, 1);
    if (pair_is_child(&pair)) {
        post(&side, &receive, TAG, UINT64_MAX, data, LENGTH);
        receive.on_consumed = stop_here;
        transport_meet(&side.t, &pair);
        live_on(&side, when == 2);
    }
    fill(data, LENGTH, 4);
    send_short(&side, TAG + 1, NULL, 0); /* as above */
    transport_meet(&side.t, &pair);
    start_rndv(&side, TAG, NULL, 0, &iov, &done);
    if (when == 2) {
        UNTIL(&side, pair_ready(&pair) || done.done);
        if (!done.done) {
            pair_recv(&pair, &byte, 1);
        }
    } else if (when == 1) {
        uct_worker_progress(side.t.worker);
    }
    kill_child(&side, pair.child);
    UNTIL(&side, done.done && side.failures);
    CHECK_EQ(done.done, 1);
    if (when != 2) {
        CHECK(done.comp.status != UCS_OK);
    }
    CHECK_EQ(side.failures, 1);
    end(&side, &pair);
    free(data);
}

int main(void)
{
    static const char *names[][2] = {{"posix", NULL}, {"sysv", NULL}, {"tcp", "lo"}};
    int denied, i, when;

    for (denied = 0; denied < 2; ++denied) {
        for (i = 0; i < 3; ++i) {
            for (when = 0; when < 3; ++when) {
                sender_dies(names[i][0], names[i][1], when);
                receiver_dies(names[i][0], names[i][1], when);
            }
            OK("%s: a peer that dies ends what was under way (%s)", names[i][0],
               denied ? "no copies by the kernel" : "copies by the kernel");
        }
        if (!denied) {
            deny_kernel();
        }
    }
    return 0;
}
