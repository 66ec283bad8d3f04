/* After silence, one progress takes the first message of one sender: a program that counts messages and looks after
 * each progress sees every count. MPICH does so with the messages of MPI_Win_post, and compares for equality. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_TLS=posix,self */
#include "peers.h"

enum { ID = 1, SENDERS = 3, ROUNDS = 5 };

static unsigned calls;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ++calls;
    return UCS_OK;
}

int main(void)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = ID,
                                      .cb = on_message};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    side_t sender[SENDERS], receiver;
    ucp_ep_h ep[SENDERS];
    uint64_t data = 1;
    unsigned i, n, round;

    side_open(&receiver, UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(receiver.worker, &handler));
    for (i = 0; i < SENDERS; ++i) {
        side_open(&sender[i], UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
        ep[i] = side_connect(&sender[i], receiver.address);
    }
    for (round = 0; round < ROUNDS; ++round) {
        calls = 0;
        for (i = 0; i < SENDERS; ++i) {
            CHECK_OK(side_wait(&sender[i], &sender[i], ucp_am_send_nbx(ep[i], ID, NULL, 0, &data, 8, &plain)));
        }
        if (round == 0) {
            /* connecting takes messages of its own */
            DRIVE_UNTIL(&sender[0], &receiver, calls == SENDERS);
            CHECK_OK(side_wait(&sender[0], &receiver, ucp_ep_flush_nbx(ep[0], &plain)));
        } else {
            for (n = 1; n <= 2; ++n) {
                /* 1.13.1 takes nothing now and then */
                while (calls < n) {
                    ucp_worker_progress(receiver.worker);
                }
                CHECK_EQ(calls, n);
            }
            DRIVE_UNTIL(&receiver, &receiver, calls == SENDERS);
        }
        for (n = 0; n < 100; ++n) {
            ucp_worker_progress(receiver.worker);
        }
        CHECK_EQ(calls, SENDERS);
    }
    for (i = 0; i < SENDERS; ++i) {
        CHECK_OK(side_disconnect(&sender[i], &receiver, ep[i], 0));
        side_close(&sender[i]);
    }
    side_close(&receiver);
    OK("progress_after_silence");
    return 0;
}
