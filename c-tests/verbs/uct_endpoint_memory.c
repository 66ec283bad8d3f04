/* What an interface of an RDMA transport and each of its endpoints take, in bytes: memory of the library, and memory that
 * is registered with the device. The argument is the transport. Both sides are in this process, so an endpoint that is connected to
 * an interface is counted with the passive connection that its peer has for it; those that are connected to each other are
 * counted alone. What the stand-in keeps for its queue pairs is not counted. */
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

/* Two endpoints that are connected to each other: a message has arrived by each and was acknowledged. */
static void connect_two(transport_t *t, uct_ep_h *eps)
{
    char device[128], addresses[2][128];
    uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE, .iface = t->iface};
    unsigned before = arrived;
    int i;

    CHECK_OK(uct_iface_get_device_address(t->iface, (uct_device_addr_t *)device));
    for (i = 0; i < 2; ++i) {
        CHECK_OK(uct_ep_create(&params, &eps[i]));
        CHECK_OK(uct_ep_get_address(eps[i], (uct_ep_addr_t *)addresses[i]));
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(uct_ep_connect_to_ep(eps[i], (uct_device_addr_t *)device, (uct_ep_addr_t *)addresses[1 - i]));
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(transport_send(t, eps[i], 1, 0));
    }
    PROGRESS_UNTIL(t, (arrived == before + 2) && (uct_ep_flush(eps[0], 0, NULL) == UCS_OK) &&
                      (uct_ep_flush(eps[1], 0, NULL) == UCS_OK));
}

int main(int argc, char **argv)
{
    static uct_ep_h eps[WARM + ENDPOINTS], others[2 * ENDPOINTS];
    transport_t t, u;
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
    printf("pair=%zu pinned=%ld", (taken() - before) / ENDPOINTS, pinned);
    transport_open(&u, argv[argc - 1], NULL, 0);
    CHECK_OK(uct_iface_set_am_handler(u.iface, 1, on_message, NULL, 0));
    /* The first ones find an interface that still makes its buffers. */
    for (i = 0; i < ENDPOINTS; i += 2) {
        connect_two(&u, others + i);
    }
    before = taken();
    for (; i < 2 * ENDPOINTS; i += 2) {
        connect_two(&u, others + i);
    }
    printf(" endpoint=%zu\n", (taken() - before) / ENDPOINTS);
    while (i > 0) {
        uct_ep_destroy(others[--i]);
    }
    for (i = 0; i < WARM + ENDPOINTS; ++i) {
        uct_ep_destroy(eps[i]);
    }
    transport_close(&u);
    transport_close(&t);
    return 0;
}
