/* A receiver may keep the memory of an active message: UCT_CB_PARAM_FLAG_DESC says so, the user's headroom
 * lies before the payload, and the program's inline uct_iface_release_desc() calls what stands in the 8 bytes
 * before that. */
/* oracle: 1.13.1 1.22.0 */
#include <uct/api/uct.h>

#include "transport.h"

enum { HEADROOM = 48, MESSAGES = 300, LENGTH = 200, KEPT = 20 };

typedef struct {
    unsigned received, kept;
    void *descriptors[KEPT];
    unsigned char seen[MESSAGES];
} state_t;

static void fill_bytes(unsigned char *data, unsigned index)
{
    unsigned i;
    for (i = 0; i < LENGTH; ++i) {
        data[i] = (unsigned char)(index * 7 + i);
    }
}

static void check_payload(const unsigned char *data, unsigned index)
{
    unsigned char expected[LENGTH];
    fill_bytes(expected, index);
    CHECK(!memcmp(data, expected, LENGTH));
}

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    state_t *state = arg;
    unsigned index = state->received++;

    CHECK_EQ(length, LENGTH);
    check_payload(data, index);
    if (!(flags & UCT_CB_PARAM_FLAG_DESC) || (state->kept == KEPT)) {
        return UCS_OK;
    }
    /* The headroom is the user's from here on; what lies behind must survive our writing to it. */
    memset((char *)data - HEADROOM, 0x5a, HEADROOM);
    memcpy((char *)data - HEADROOM, &index, sizeof(index));
    state->descriptors[state->kept++] = (char *)data - HEADROOM;
    return UCS_INPROGRESS;
}

static void release_all(state_t *state)
{
    unsigned i, index;

    for (i = 0; i < state->kept; ++i) {
        memcpy(&index, state->descriptors[i], sizeof(index));
        check_payload((unsigned char *)state->descriptors[i] + HEADROOM, index);
        uct_iface_release_desc(state->descriptors[i]);
    }
    state->kept = 0;
}

static size_t pack(void *dest, void *arg)
{
    fill_bytes(dest, *(unsigned *)arg);
    return LENGTH;
}

int main(void)
{
    static state_t state;
    unsigned index;
    transport_t t;
    uct_ep_h ep;

    transport_open(&t, "self", NULL, HEADROOM);
    CHECK_OK(uct_iface_set_am_handler(t.iface, 5, on_message, &state, 0));
    ep = transport_connect(&t, NULL);
    for (index = 0; index < MESSAGES; ++index) {
        ssize_t packed;
        while ((packed = uct_ep_am_bcopy(ep, 5, pack, &index, 0)) == UCS_ERR_NO_RESOURCE) {
            uct_worker_progress(t.worker);
        }
        CHECK_EQ(packed, LENGTH);
        PROGRESS_UNTIL(&t, state.received == index + 1);
        if (state.kept == KEPT) {
            release_all(&state);
        }
    }
    release_all(&state);
    OK("%d messages, descriptors kept and released", MESSAGES);
    uct_ep_destroy(ep);
    transport_close(&t);
    return 0;
}
