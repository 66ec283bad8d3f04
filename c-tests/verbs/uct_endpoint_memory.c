/* What an interface of an RDMA transport and each of its endpoints take, in bytes: memory of the library, and memory that
 * is registered with the device. The argument is the transport. Both sides are in this process, so an endpoint is counted
 * with the passive connection that its peer has for it. What the stand-in keeps for its queue pairs is not counted. */
#include "transport.h"
#include "stand_in.h"

#include <malloc.h>

enum { WARM = 20, ENDPOINTS = 1000 };

static unsigned arrived;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    ++arrived;
    return UCS_OK;
}

static size_t taken(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd - *setting("heap");
}

/* An endpoint that is connected: a message has arrived by it and was acknowledged. */
static uct_ep_h connected(transport_t *t)
{
    uct_ep_h ep = transport_connect(t, NULL);
    unsigned before = arrived;

    CHECK_OK(transport_send(t, ep, 1, 0));
    PROGRESS_UNTIL(t, (arrived > before) && (uct_ep_flush(ep, 0, NULL) == UCS_OK));
    return ep;
}

int main(int argc, char **argv)
{
    static uct_ep_h eps[WARM + ENDPOINTS];
    transport_t t;
    size_t before;
    long pinned;
    int i;

    transport_open(&t, argv[argc - 1], NULL, 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, 1, on_message, NULL, 0));
    eps[0] = connected(&t);
    pinned = *setting("pinned");
    for (i = 1; i < WARM; ++i) {
        eps[i] = connected(&t);
    }
    before = taken();
    for (; i < WARM + ENDPOINTS; ++i) {
        eps[i] = connected(&t);
    }
    printf("pair=%zu pinned=%ld\n", (taken() - before) / ENDPOINTS, pinned);
    while (i > 0) {
        uct_ep_destroy(eps[--i]);
    }
    transport_close(&t);
    return 0;
}
