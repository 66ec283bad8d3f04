/* Waiting for the descriptor instead of progressing: no message is missed, the descriptor is quiet when nothing happens,
 * and a sender that the kernel holds up is woken when it can go on. */
/* headers: ours 1.22.0 */
/* timeout: 60 */
#include <uct/api/uct.h>

#include <poll.h>

#include "transport.h"

enum { ID = 6, MESSAGES = 300, BIG = 60000, BULK = 400 };

static uint64_t next;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    uint64_t sequence;

    memcpy(&sequence, data, sizeof(sequence));
    CHECK_EQ(sequence, next);
    next++;
    return UCS_OK;
}

/* Progresses, or sleeps until there is something to progress. */
static void wait_event(transport_t *t)
{
    struct pollfd fd = {.events = POLLIN};
    ucs_status_t status;

    if (uct_worker_progress(t->worker)) {
        return;
    }
    status = uct_iface_event_arm(t->iface, UCT_EVENT_SEND_COMP | UCT_EVENT_RECV);
    if (status == UCS_ERR_BUSY) {
        return;
    }
    CHECK_OK(status);
    CHECK_OK(uct_iface_event_fd_get(t->iface, &fd.fd));
    CHECK(poll(&fd, 1, 30000) == 1);
}

static void on_sent(uct_completion_t *self)
{
}

int main(void)
{
    static char payload[BIG];
    pair_t pair = pair_start();
    uct_completion_t comp = {.func = on_sent, .count = 1 << 30};
    struct pollfd fd = {.events = POLLIN};
    int child = pair_is_child(&pair);
    ucs_status_t status;
    transport_t t;
    uct_iov_t iov;
    uct_ep_h ep;
    uint64_t i;

    transport_open(&t, "tcp", "lo", 0);
    CHECK(t.attr.cap.event_flags & UCT_IFACE_FLAG_EVENT_FD);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, NULL, 0));
    ep = transport_connect(&t, &pair);

    /* In turn: each message is an event for the other side. */
    for (i = 0; i < MESSAGES; ++i) {
        if (i % 2 == (uint64_t)child) {
            ucs_status_t status;

            /* Until the connection is there, nothing is taken: its coming is an event too. */
            while ((status = uct_ep_am_short(ep, ID, next, NULL, 0)) == UCS_ERR_NO_RESOURCE) {
                wait_event(&t);
            }
            CHECK_OK(status);
            next++;
        } else {
            uint64_t until = next + 1;
            while (next < until) {
                wait_event(&t);
            }
        }
    }
    CHECK_EQ(next, MESSAGES);
    while (uct_ep_flush(ep, UCT_FLUSH_FLAG_REMOTE, NULL) != UCS_OK) {
        wait_event(&t);
    }

    /* Much more than the kernel holds, one side to the other, both asleep between. */
    memset(&iov, 0, sizeof(iov));
    iov.buffer = payload;
    iov.length = BIG - sizeof(next);
    iov.count = 1;
    if (child) {
        for (i = 0; i < BULK; ++i) {
            while ((status = uct_ep_am_zcopy(ep, ID, &next, sizeof(next), &iov, 1, 0, &comp)) == UCS_ERR_NO_RESOURCE) {
                wait_event(&t);
            }
            CHECK(status == UCS_OK || status == UCS_INPROGRESS);
            next++;
        }
        while (uct_ep_flush(ep, UCT_FLUSH_FLAG_REMOTE, NULL) != UCS_OK) {
            wait_event(&t);
        }
        pair_barrier(&pair);
    } else {
        while (next < MESSAGES + BULK) {
            wait_event(&t);
        }
        /* The child's flush waits for our answer, which arming sends. */
        while (!pair_ready(&pair)) {
            uct_worker_progress(t.worker);
        }
        pair_barrier(&pair);
        while (uct_worker_progress(t.worker)) {
        }
        while (uct_iface_event_arm(t.iface, UCT_EVENT_RECV) == UCS_ERR_BUSY) {
            uct_worker_progress(t.worker);
        }
        CHECK_OK(uct_iface_event_fd_get(t.iface, &fd.fd));
        CHECK_EQ(poll(&fd, 1, 0), 0);
    }
    pair_barrier(&pair);
    uct_ep_destroy(ep);
    transport_close(&t);
    pair_finish(&pair);
    OK("events: none missed, quiet otherwise");
    return 0;
}
