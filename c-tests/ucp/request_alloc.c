/* Requests from ucp_request_alloc, passed to calls: used once, several times or never, freed at once or during an
 * operation; their memory is reused. Upstream's function returns NULL in every release. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { AT_A_TIME = 10 };

static two_t two;
static unsigned inits;

static void init_request(void *request)
{
    ++inits;
}

/* Requests for the caller's use, used several times and given back: as many as there are must not grow memory. */
static void lent(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_datatype_t bytes = ucp_dt_make_contig(1);
    char byte = 'b', got;
    unsigned i, j;
    void *request[AT_A_TIME];

    for (i = 0; i < 200; ++i) {
        for (j = 0; j < AT_A_TIME; ++j) {
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
        for (j = 0; j < AT_A_TIME; ++j) {
            ucp_request_release(request[j]);
        }
    }
}

int main(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                                         UCP_PARAM_FIELD_REQUEST_INIT,
                           .features = UCP_FEATURE_TAG,
                           .request_size = 16,
                           .request_init = init_request};
    ucp_worker_params_t worker_params = {.field_mask = 0};

    CHECK_OK(ucp_init(&params, NULL, &two.context));
    CHECK_OK(ucp_worker_create(two.context, &worker_params, &two.worker[0]));
    CHECK_OK(ucp_worker_create(two.context, &worker_params, &two.worker[1]));
    two.ep[0] = two_connect(&two, 0, 1);
    lent();
    CHECK(inits < 20 * AT_A_TIME); /* of the 2000 that were asked for */
    two_close_ep(&two, two.ep[0]);
    two_close_workers(&two);
    OK("requests come back");
    return 0;
}
