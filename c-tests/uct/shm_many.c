/* Many processes send to one over shared memory, and some are killed: the messages of each arrive whole and in order,
 * all messages of those that exit normally arrive, and the rings are reused. */
/* env: UCX_LOG_LEVEL=error */
/* timeout: 120 */
/* valgrind: no, twelve processes that spin take turns on valgrind's one thread for minutes */
#include <uct/api/uct.h>

#include "transport.h"

#include <sched.h>
#include <signal.h>

enum { ID = 3, SENDERS = 12, COUNT = 3000, WAVES = 3, DOOMED = 3 };

typedef struct {
    uint16_t wave, sender;
    uint32_t number;
    unsigned char bytes[700];
} message_t;

static struct {
    unsigned wave, next[SENDERS];
} state;

static size_t length_of(uint32_t number)
{
    return 8 + (number * 37) % 690;
}

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    message_t message;
    size_t i;

    CHECK(length >= 8);
    CHECK(length <= sizeof(message));
    memcpy(&message, data, length);
    if (message.wave != state.wave) {
        /* The last one of a sender that was killed before it could say that there is one. */
        CHECK((message.wave < state.wave) && (message.sender < DOOMED));
        return UCS_OK;
    }
    CHECK(message.sender < SENDERS);
    CHECK_EQ(message.number, state.next[message.sender]);
    CHECK_EQ(length, length_of(message.number));
    for (i = 8; i < length; ++i) {
        CHECK_EQ(message.bytes[i - 8], (unsigned char)(message.number + i));
    }
    state.next[message.sender]++;
    return UCS_OK;
}

static size_t pack(void *dest, void *arg)
{
    const message_t *message = arg;
    unsigned char *bytes = dest;
    size_t i, length = length_of(message->number);

    memcpy(dest, message, 8);
    for (i = 8; i < length; ++i) {
        bytes[i] = (unsigned char)(message->number + i);
    }
    return length;
}

static void sender(const char *name, const pair_t *pair, unsigned number, int for_ever)
{
    message_t message = {.wave = state.wave, .sender = number};
    transport_t t;
    uct_ep_h ep;

    transport_open(&t, name, NULL, 0);
    ep = transport_connect(&t, pair);
    for (; for_ever || (message.number < COUNT); ++message.number) {
        while (uct_ep_am_bcopy(ep, ID, pack, &message, 0) < 0) {
            uct_worker_progress(t.worker);
            sched_yield();
        }
    }
    CHECK_OK(uct_ep_flush(ep, 0, NULL));
    uct_ep_destroy(ep);
    pair_barrier(pair);
    transport_close(&t);
    pair_finish(pair);
}

static int all_done(unsigned first)
{
    unsigned i;

    for (i = first; i < SENDERS; ++i) {
        if (state.next[i] < COUNT) {
            return 0;
        }
    }
    return 1;
}

static void wave(transport_t *t, const char *name, unsigned number, unsigned doomed)
{
    pair_t pairs[SENDERS];
    uct_ep_h eps[SENDERS];
    unsigned i;
    int status;

    memset(&state, 0, sizeof(state));
    state.wave = number;
    for (i = 0; i < SENDERS; ++i) {
        pairs[i] = pair_start();
        if (pair_is_child(&pairs[i])) {
            sender(name, &pairs[i], i, i < doomed);
        }
    }
    for (i = 0; i < SENDERS; ++i) {
        eps[i] = transport_connect(t, &pairs[i]);
    }
    for (i = 0; i < doomed; ++i) {
        PROGRESS_UNTIL(t, state.next[i] > 50 * i);
        CHECK(kill(pairs[i].child, SIGKILL) == 0);
        CHECK(waitpid(pairs[i].child, &status, 0) == pairs[i].child);
    }
    PROGRESS_UNTIL(t, all_done(doomed));
    for (i = 0; i < SENDERS; ++i) {
        uct_ep_destroy(eps[i]);
        if (i >= doomed) {
            pair_barrier(&pairs[i]);
            pair_finish(&pairs[i]);
        }
    }
}

static void run(const char *name)
{
    transport_t t;
    unsigned i;

    transport_open(&t, name, NULL, 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, NULL, 0));
    for (i = 0; i < WAVES; ++i) {
        wave(&t, name, i, DOOMED);
    }
    transport_close(&t);
    OK("%s: %d waves of %d senders", name, WAVES, SENDERS);
}

int main(void)
{
    run("posix");
    run("sysv");
    return 0;
}
