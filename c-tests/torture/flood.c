/* What nobody receives: a byte that waits for its receive costs little memory, with tags of one kind and of many.
 * (ucp/unexpected_limit.c has the sender that is stopped and goes on.) */
/* env: UCX_TLS=posix UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_UNEXPECTED_MAX_SIZE=inf */
#include "torture.h"
#include "peers.h"

#include <malloc.h>

enum { MOST = 128 };

static const ucp_request_param_t plain;

int main(void)
{
    uint64_t count = torture_count(200000), i, got;
    size_t before, each;
    side_t a, b;
    ucp_ep_h ep;
    int many;

    torture_seed(1);
    for (many = 0; many < 2; ++many) {
        char byte = 0;

        side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
        side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
        ep = side_connect(&a, b.address);
        CHECK_OK(side_wait(&a, &b, ucp_tag_send_nbx(ep, &byte, 1, 0, &plain)));
        CHECK_OK(side_wait(&a, &b, ucp_tag_recv_nbx(b.worker, &byte, 1, 0, 0, &plain)));
        before = mallinfo2().uordblks + mallinfo2().hblkhd;
        for (i = 0; i < count; ++i) {
            byte = (char)i;
            CHECK_OK(side_wait(&a, &b, ucp_tag_send_nbx(ep, &byte, 1, many ? i : 1, &plain)));
            if (i % 32 == 0) {
                ucp_worker_progress(b.worker);
            }
        }
        for (i = 0; i < 1000; ++i) {
            ucp_worker_progress(b.worker);
        }
        each = (mallinfo2().uordblks + mallinfo2().hblkhd - before) / count;
        if (each > MOST && !on_upstream()) {
            FAIL("%zu bytes for each message of one byte, %s", each, many ? "many tags" : "one tag");
        }
        for (got = 0; got < count; ++got) {
            CHECK_OK(side_wait(&a, &b, ucp_tag_recv_nbx(b.worker, &byte, 1, many ? got : 1, -1, &plain)));
            CHECK_EQ(byte, (char)got);
        }
        FIGURE("%zu bytes for each of %" PRIu64 " unexpected messages of one byte, %s", each, count,
               many ? "many tags" : "one tag");
        CHECK_OK(side_disconnect(&a, &b, ep, 0));
        side_close(&a);
        side_close(&b);
    }
    return 0;
}
