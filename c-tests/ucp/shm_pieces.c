/* Long messages in pieces over shared memory, from more senders than a receiver has wide lanes for: posted receives get them, and
 * unexpected ones are kept whole, of several lengths in turn, as their buffers are used again. */
/* env: UCX_RNDV_THRESH=inf */
#include "peers.h"

enum { SENDERS = 10, LONGEST = 600000 };

static side_t to, from[SENDERS];
static ucp_ep_h ep[SENDERS];
static char *sent[SENDERS], *got[SENDERS];
static const ucp_request_param_t plain;

static void until_done(void **requests)
{
    double end = now() + 60;
    int i, left;

    do {
        left = 0;
        ucp_worker_progress(to.worker);
        for (i = 0; i < SENDERS; ++i) {
            ucp_worker_progress(from[i].worker);
            if (UCS_PTR_IS_PTR(requests[i])) {
                if (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
                    ++left;
                    continue;
                }
                CHECK_OK(ucp_request_check_status(requests[i]));
                ucp_request_free(requests[i]);
                requests[i] = NULL;
            }
            CHECK(requests[i] == NULL);
        }
        CHECK(now() < end);
    } while (left > 0);
}

static void receive_all(void **receives, size_t length)
{
    int i;

    for (i = 0; i < SENDERS; ++i) {
        memset(got[i], 0, length);
        receives[i] = ucp_tag_recv_nbx(to.worker, got[i], length, i, -1, &plain);
    }
}

static void exchange(size_t length, int is_expected)
{
    void *sends[SENDERS], *receives[SENDERS];
    ucp_tag_recv_info_t info;
    int i;

    if (is_expected) {
        receive_all(receives, length);
    }
    for (i = 0; i < SENDERS; ++i) {
        fill(sent[i], length, (int)(length % 97) + i);
        sends[i] = ucp_tag_send_nbx(ep[i], sent[i], length, i, &plain);
    }
    if (!is_expected) {
        until_done(sends);
        for (i = 0; i < SENDERS; ++i) {
            DRIVE_UNTIL(&to, &from[i], ucp_tag_probe_nb(to.worker, i, -1, 0, &info) != NULL);
            CHECK_EQ(info.length, length);
        }
        receive_all(receives, length);
    } else {
        until_done(sends);
    }
    until_done(receives);
    for (i = 0; i < SENDERS; ++i) {
        CHECK(memcmp(sent[i], got[i], length) == 0);
    }
}

int main(void)
{
    static const size_t lengths[] = {8000, 8300, 33000, 33100, 100000, 20000, LONGEST, 300000, 70000};
    const char *transports[] = {"posix", "sysv"};
    size_t n;
    int i, t;

    for (i = 0; i < SENDERS; ++i) {
        sent[i] = malloc(LONGEST);
        got[i] = malloc(LONGEST);
        CHECK(sent[i] != NULL && got[i] != NULL);
    }
    for (t = 0; t < 2; ++t) {
        setenv("UCX_TLS", transports[t], 1);
        side_open(&to, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
        for (i = 0; i < SENDERS; ++i) {
            side_open(&from[i], UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
            ep[i] = side_connect(&from[i], to.address);
        }
        for (n = 0; n < sizeof(lengths) / sizeof(lengths[0]); ++n) {
            exchange(lengths[n], 0);
            exchange(lengths[n], 1);
        }
        for (i = 0; i < SENDERS; ++i) {
            CHECK_OK(side_disconnect(&from[i], &to, ep[i], 0));
            side_close(&from[i]);
        }
        side_close(&to);
    }
    for (i = 0; i < SENDERS; ++i) {
        free(sent[i]);
        free(got[i]);
    }
    OK("shm_pieces");
    return 0;
}
