/* ucs_status_t has one byte: in the completion's member, as a return value of the library, and as the
 * return value of a callback, whose other register bytes are whatever the compiler left there. */
/* oracle: 1.13.1 1.22.0 */
#include <uct/api/uct.h>

#include "transport.h"

_Static_assert(sizeof(ucs_status_t) == 1, "one byte");
_Static_assert(offsetof(uct_completion_t, status) == 12, "behind count");

static int calls;

/* The real type returns ucs_status_t; this one fills the whole register, and only the low byte counts. */
static uint64_t dirty_ok(void *arg, void *data, size_t length, unsigned flags)
{
    ++calls;
    return 0x5aa5c33c12345600ull; /* UCS_OK */
}

static void nothing(uct_completion_t *self)
{
}

int main(void)
{
    const uint64_t header = 1;
    uct_completion_t completion;
    transport_t t;
    uct_ep_h ep;
    int i;

    memset(&completion, 0xa5, sizeof(completion));
    completion.func = nothing;
    completion.count = 1;
    completion.status = UCS_OK;
    uct_completion_update_status(&completion, UCS_ERR_CANCELED);
    CHECK_EQ(completion.status, UCS_ERR_CANCELED);
    for (i = 13; i < (int)sizeof(completion); ++i) {
        CHECK_EQ(((unsigned char *)&completion)[i], 0xa5);
    }

    transport_open(&t, "self", NULL, 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, 3, (uct_am_callback_t)(void *)dirty_ok, NULL, 0));
    ep = transport_connect(&t, NULL);
    for (i = 0; i < 1000; ++i) {
        CHECK_OK(uct_ep_am_short(ep, 3, header, NULL, 0));
    }
    PROGRESS_UNTIL(&t, calls == 1000);
    OK("callback's upper bytes are ignored");
    CHECK_OK(uct_ep_flush(ep, 0, NULL));
    uct_ep_destroy(ep);
    transport_close(&t);
    OK("status is one byte");
    return 0;
}
