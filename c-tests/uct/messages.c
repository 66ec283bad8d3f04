/* Active messages between two processes over every transport that has them: short, iov-short and bcopy,
 * of every length around the limits, arrive once, whole and in order, in both directions. */
/* oracle: 1.13.1 1.22.0 */
/* timeout: 60 */
#include <uct/api/uct.h>

#include "transport.h"

enum { ID = 7, ROUNDS = 3 };

typedef struct {
    unsigned received;
    uint64_t next;   /* sequence number of the message expected next */
    size_t capacity; /* no message may be longer */
} state_t;

typedef struct {
    uint64_t sequence;
    size_t length;
} message_t;

/* A message is its sequence number followed by bytes that follow from it. */
static unsigned char byte_at(uint64_t sequence, size_t at)
{
    return (unsigned char)(sequence * 31 + at * 7 + (at >> 8));
}

static void fill_bytes(unsigned char *buffer, const message_t *message)
{
    size_t at;

    memcpy(buffer, &message->sequence, sizeof(message->sequence));
    for (at = sizeof(message->sequence); at < message->length; ++at) {
        buffer[at] = byte_at(message->sequence, at);
    }
}

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    state_t *state = arg;
    uint64_t sequence;
    size_t at;

    CHECK(length >= sizeof(sequence));
    CHECK(length <= state->capacity);
    memcpy(&sequence, data, sizeof(sequence));
    CHECK_EQ(sequence, state->next);
    for (at = sizeof(sequence); at < length; ++at) {
        if (((unsigned char *)data)[at] != byte_at(sequence, at)) {
            FAIL("message %" PRIu64 " of %zu bytes differs at %zu", sequence, length, at);
        }
    }
    state->next++;
    state->received++;
    return UCS_OK;
}

static size_t pack(void *dest, void *arg)
{
    const message_t *message = arg;
    fill_bytes(dest, message);
    return message->length;
}

typedef enum { SHORT, SHORT_IOV, BCOPY, KINDS } kind_t;

static void send_one(transport_t *t, uct_ep_h ep, kind_t kind, const message_t *message, unsigned char *buffer)
{
    uct_iov_t iov[2];
    ssize_t result;
    uint64_t header;

    for (;;) {
        if (kind == BCOPY) {
            result = uct_ep_am_bcopy(ep, ID, pack, (void *)message, 0);
            if (result >= 0) {
                CHECK_EQ(result, message->length);
                return;
            }
        } else {
            fill_bytes(buffer, message);
            if (kind == SHORT) {
                memcpy(&header, buffer, sizeof(header));
                result = uct_ep_am_short(ep, ID, header, buffer + sizeof(header), message->length - sizeof(header));
            } else {
                memset(iov, 0, sizeof(iov));
                iov[0].buffer = buffer;
                iov[0].length = message->length / 2;
                iov[0].count = 1;
                iov[1].buffer = buffer + iov[0].length;
                iov[1].length = message->length - iov[0].length;
                iov[1].count = 1;
                result = uct_ep_am_short_iov(ep, ID, iov, 2);
            }
            if (result == UCS_OK) {
                return;
            }
        }
        CHECK_EQ(result, UCS_ERR_NO_RESOURCE);
        uct_worker_progress(t->worker);
    }
}

static void run(const char *name, const char *device)
{
    static const size_t below[] = {1000000, 4096, 1000, 256, 100, 64, 17, 9, 8, 1, 0};
    pair_t pair = pair_start();
    unsigned char *buffer;
    unsigned round, i;
    message_t message;
    uint64_t sent = 0, theirs;
    state_t state = {0};
    transport_t t;
    uct_ep_h ep;
    int kind;

    transport_open(&t, name, device, 0);
    state.capacity = t.attr.cap.am.max_bcopy > t.attr.cap.am.max_short ? t.attr.cap.am.max_bcopy :
                                                                         t.attr.cap.am.max_short;
    buffer = malloc(state.capacity);
    CHECK(buffer != NULL);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, &state, 0));
    pair_barrier(&pair);
    ep = transport_connect(&t, &pair);

    for (round = 0; round < ROUNDS; ++round) {
        for (kind = 0; kind < KINDS; ++kind) {
            size_t limit = kind == BCOPY ? t.attr.cap.am.max_bcopy : t.attr.cap.am.max_short;
            uint64_t flag = kind == BCOPY ? UCT_IFACE_FLAG_AM_BCOPY : UCT_IFACE_FLAG_AM_SHORT;
            if (!(t.attr.cap.flags & flag)) {
                continue;
            }
            for (i = 0; i < sizeof(below) / sizeof(below[0]); ++i) {
                if (below[i] + sizeof(uint64_t) > limit) {
                    continue;
                }
                message.length = limit - below[i];
                if (message.length > 100000) {
                    message.length = 100000 - below[i] % 5000;
                }
                message.sequence = sent++;
                send_one(&t, ep, kind, &message, buffer);
                uct_worker_progress(t.worker);
            }
        }
    }

    /* Everything that the other side says it has sent has to arrive. */
    pair_send(&pair, &sent, sizeof(sent));
    while (!pair_ready(&pair)) {
        uct_worker_progress(t.worker);
    }
    pair_recv(&pair, &theirs, sizeof(theirs));
    PROGRESS_UNTIL(&t, state.next == theirs);
    while (uct_iface_flush(t.iface, 0, NULL) != UCS_OK) {
        uct_worker_progress(t.worker);
    }
    pair_send(&pair, "", 1);
    while (!pair_ready(&pair)) {
        uct_worker_progress(t.worker);
    }
    uct_ep_destroy(ep);
    transport_close(&t);
    free(buffer);
    pair_finish(&pair);
    OK("%s: every message once, whole, in order", name);
}

int main(void)
{
    run("posix", NULL);
    run("sysv", NULL);
    run("tcp", "lo");
    return 0;
}
