/* A receive whose message stops in the middle because the sender was killed completes with an error, also where the
 * receiver has no endpoint to the sender and no error handling: the end of the connection is enough. */
/* env: UCX_LOG_LEVEL=fatal UCX_RNDV_THRESH=inf */
#include <ucp/api/ucp.h>

#include "peers.h"

/* More than the sockets hold. */
enum { LENGTH = 64 << 20, TAG = 1, ROUNDS = 4 };

static void send_for_ever(side_t *side, const char *address, char *bytes)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_ep_h ep = side_connect(side, (const ucp_address_t *)address);

    memset(bytes, 1, LENGTH);
    CHECK(UCS_PTR_IS_PTR(ucp_tag_send_nbx(ep, bytes, LENGTH, TAG, &plain)));
    for (;;) {
        ucp_worker_progress(side->worker);
    }
}

static void stops(const char *tls)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char theirs[ADDRESS_ROOM];
    ucs_status_ptr_t receive;
    ucs_status_t status;
    pair_t pair;
    side_t side;
    char *bytes;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    CHECK((bytes = calloc(1, LENGTH)) != NULL);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    if (pair_is_child(&pair)) {
        send_for_ever(&side, theirs, bytes);
    }
    receive = ucp_tag_recv_nbx(side.worker, bytes, LENGTH, TAG, UINT64_MAX, &plain);
    CHECK(UCS_PTR_IS_PTR(receive));
    while (*(volatile char *)bytes == 0) {
        ucp_worker_progress(side.worker);
    }
    CHECK_EQ(kill(pair.child, SIGKILL), 0);
    CHECK(waitpid(pair.child, NULL, 0) == pair.child);
    while ((status = ucp_request_check_status(receive)) == UCS_INPROGRESS) {
        ucp_worker_progress(side.worker);
    }
    CHECK(status < 0);
    ucp_request_free(receive);
    side_close(&side);
    free(bytes);
    close(pair.fd);
}

int main(void)
{
    int round;

    for (round = 0; round < ROUNDS; ++round) {
        stops("tcp");
    }
    OK("tcp");
    return 0;
}
