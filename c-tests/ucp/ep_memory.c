/* An endpoint is cheap: those to one peer share its segment or connection, so that each costs about as much
 * memory as its own state, and no descriptor, also when messages went over all of them. */
/* timeout: 60 */
/* valgrind: no, its heap is not the C library's */
#include "peers.h"

#include <malloc.h>

enum { EPS = 500, MAX_BYTES = 4096, TAG = 1 };

static side_t a, b;

static void exchange(ucp_ep_h ep)
{
    static const ucp_request_param_t plain;
    uint64_t out = (uintptr_t)ep, in = 0;
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(b.worker, &in, sizeof(in), TAG, UINT64_MAX, &plain);

    CHECK_OK(side_wait(&a, &b, ucp_tag_send_nbx(ep, &out, sizeof(out), TAG, &plain)));
    CHECK_OK(side_wait(&a, &b, receive));
    CHECK(in == out);
}

static void many(const char *transport)
{
    static ucp_ep_h eps[EPS];
    struct mallinfo2 before, after;
    ucp_ep_h first;
    int i, fds;
    size_t each;

    CHECK_EQ(setenv("UCX_TLS", transport, 1), 0);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    first = side_connect(&a, b.address);
    exchange(first);
    before = mallinfo2();
    fds = open_descriptors();
    for (i = 0; i < EPS; ++i) {
        eps[i] = side_connect(&a, b.address);
    }
    for (i = 0; i < EPS; ++i) {
        exchange(eps[i]);
    }
    after = mallinfo2();
    CHECK_EQ(open_descriptors(), fds);
    each = (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / EPS;
    if (each > MAX_BYTES) {
        FAIL("%s: an endpoint takes %zu bytes", transport, each);
    }
    for (i = 0; i < EPS; ++i) {
        CHECK_OK(side_disconnect(&a, &b, eps[i], 0));
    }
    CHECK_OK(side_disconnect(&a, &b, first, 0));
    side_close(&b);
    side_close(&a);
    OK("%s", transport);
}

int main(void)
{
    many("posix");
    many("sysv");
    many("tcp");
    many("all");
    return 0;
}
