/* What plain active messages cost, for callgrind: `am_cost TRANSPORT DEVICE short|bcopy|receive N`.
 *
 * The process sends N messages of eight bytes to its own interface, one at a time. Only the function of the wanted
 * step is to be counted (--toggle-collect=measured): `short` and `bcopy` are one call of the send function, `receive` is
 * the progress that hands the message over. The interface is opened without callbacks for tagged messages. */
#include "transport.h"

enum { AM_ID = 3 };

static unsigned long received;
static ucs_status_t result;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    received++;
    return UCS_OK;
}

static size_t pack(void *dest, void *arg)
{
    memcpy(dest, arg, sizeof(uint64_t));
    return sizeof(uint64_t);
}

static void send_short(transport_t *t, uct_ep_h ep)
{
    result = uct_ep_am_short(ep, AM_ID, 1, NULL, 0);
}

static void send_bcopy(transport_t *t, uct_ep_h ep)
{
    uint64_t word = 1;
    ssize_t length = uct_ep_am_bcopy(ep, AM_ID, pack, &word, 0);
    result = (length < 0) ? (ucs_status_t)length : UCS_OK;
}

static void receive(transport_t *t, uct_ep_h ep)
{
    uct_worker_progress(t->worker);
}

typedef void (*step_t)(transport_t *t, uct_ep_h ep);

__attribute__((noinline)) void measured(step_t step, transport_t *t, uct_ep_h ep)
{
    step(t, ep);
    __asm__ volatile("" ::: "memory");
}

static void plain(step_t step, transport_t *t, uct_ep_h ep)
{
    step(t, ep);
}

int main(int argc, char **argv)
{
    unsigned long i, count;
    transport_t t;
    uct_ep_h ep;
    int receives;
    step_t send;

    CHECK_EQ(argc, 5);
    receives = !strcmp(argv[3], "receive");
    send = strcmp(argv[3], "bcopy") ? send_short : send_bcopy;
    count = strtoul(argv[4], NULL, 0);
    transport_open(&t, argv[1], argv[2], 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, AM_ID, on_message, NULL, 0));
    ep = transport_connect(&t, NULL);
    for (i = 0; i < count; ++i) {
        do {
            (receives ? plain : measured)(send, &t, ep);
            if (result == UCS_ERR_NO_RESOURCE) {
                uct_worker_progress(t.worker);
            }
        } while (result == UCS_ERR_NO_RESOURCE);
        CHECK_OK(result);
        while (received <= i) {
            (receives ? measured : plain)(receive, &t, ep);
        }
    }
    uct_ep_destroy(ep);
    transport_close(&t);
    return 0;
}
