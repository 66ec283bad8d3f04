/* Requests that the library makes for the caller to pass to calls: used once, several times or not at all, freed at
 * once or while something goes on, they come back. Upstream's function answers NULL in every release. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>

#include "two_workers.h"

static two_t two;

/* Requests for the caller's use, used several times and given back: as many as there are must not grow memory. */
static void lent(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_datatype_t bytes = ucp_dt_make_contig(1);
    char byte = 'b', got;
    unsigned i, j;
    void *request[10];

    for (i = 0; i < 200; ++i) {
        for (j = 0; j < 10; ++j) {
            request[j] = ucp_request_alloc(two.worker[1]);
            CHECK(request[j] != NULL);
            if (i % 3 == 0) {
                continue; /* given back unused */
            }
            CHECK_OK(ucp_tag_recv_nbr(two.worker[1], &got, 1, bytes, 3, -1, request[j]));
            if (i % 3 == 1) {
                ucp_request_cancel(two.worker[1], request[j]);
                TWO_UNTIL(&two, ucp_request_is_completed(request[j]));
                CHECK_STATUS(ucp_request_check_status(request[j]), UCS_ERR_CANCELED);
                CHECK_OK(ucp_tag_recv_nbr(two.worker[1], &got, 1, bytes, 3, -1, request[j]));
            }
            got = 0;
            CHECK_OK(two_wait(&two, ucp_tag_send_nbx(two.ep[0], &byte, 1, 3, &plain)));
            TWO_UNTIL(&two, ucp_request_check_status(request[j]) != UCS_INPROGRESS);
            CHECK_OK(ucp_request_check_status(request[j]));
            CHECK_EQ(got, 'b');
        }
        for (j = 0; j < 10; ++j) {
            ucp_request_release(request[j]);
        }
    }
}

int main(void)
{
    two_open(&two, UCP_FEATURE_TAG, 1);
    lent();
    two_close(&two);
    return 0;
}
