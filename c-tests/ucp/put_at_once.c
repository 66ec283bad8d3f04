/* Over tcp a put that fits one message is complete when it was posted: its buffer may be changed at once, and what was
 * in it arrives, in order with larger puts. Upstream's puts wait for the peer there. Clients that do not wait for a put
 * (Sandia OpenSHMEM's blocking puts) depend on it. */
/* env: UCX_TLS=tcp UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "window.h"

enum { WINDOW = 1 << 20, ROUNDS = 50 };

int main(void)
{
    static const size_t small[] = {1, 8, 500, 4096};
    static const ucp_request_param_t none;
    window_t window;
    char *buffer = malloc(WINDOW), *back = malloc(WINDOW), *expected = calloc(1, WINDOW);
    size_t i, at, length;
    int round;

    window_open(&window, UCP_FEATURE_RMA, WINDOW, 0);
    /* A put waits for the connection. */
    CHECK_OK(window_wait(&window, ucp_put_nbx(window.ep, expected, 1, window.address, window.rkey, &none)));
    CHECK_OK(window_wait(&window, ucp_ep_flush_nbx(window.ep, &none)));
    for (round = 1; round <= ROUNDS; ++round) {
        for (at = 0, i = 0; i < sizeof(small) / sizeof(small[0]); ++i) {
            length = small[i];
            memset(buffer, round + (int)i, length);
            memset(expected + at, round + (int)i, length);
            CHECK(ucp_put_nbx(window.ep, buffer, length, window.address + at, window.rkey, &none) == NULL);
            memset(buffer, 0xff, length);
            at += length;
        }
        if (round % 10 == 0) {
            void *request;

            /* A large one over the same bytes, and a small one over it. */
            memset(back, round, WINDOW);
            memset(expected, round, WINDOW);
            request = ucp_put_nbx(window.ep, back, WINDOW, window.address, window.rkey, &none);
            CHECK_OK(window_wait(&window, request));
            CHECK_OK(window_wait(&window, ucp_ep_flush_nbx(window.ep, &none)));
            memset(expected, 77, 8);
            memset(buffer, 77, 8);
            CHECK(ucp_put_nbx(window.ep, buffer, 8, window.address, window.rkey, &none) == NULL);
        }
        CHECK_OK(window_wait(&window, ucp_ep_flush_nbx(window.ep, &none)));
        CHECK_OK(window_wait(&window, ucp_get_nbx(window.ep, back, WINDOW, window.address, window.rkey, &none)));
        CHECK(memcmp(back, expected, WINDOW) == 0);
    }
    window_close(&window);
    free(buffer);
    free(back);
    free(expected);
    printf("ok small puts over tcp are complete when they were posted\n");
    return 0;
}
