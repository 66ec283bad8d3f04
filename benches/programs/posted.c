/* What a message of a worker to itself takes whose receive was posted before, in microseconds: a line "BYTES FIGURE" for each
 * length. */
#define _GNU_SOURCE
#include "clock.h"

#include <ucp/api/ucp.h>

enum { LONGEST = 1 << 20, BATCHES = 9, BYTES = 1 << 28 };

static const ucp_request_param_t plain;
static ucp_worker_h worker;

static void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static void finish(ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_RAW_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ucp_request_free(request);
    }
    must(status, "message");
}

static double one_us(ucp_ep_h ep, const char *out, char *in, size_t length)
{
    double each[BATCHES];
    int messages = BYTES / BATCHES / (length + 4096);
    int i, k;

    for (k = 0; k < BATCHES; ++k) {
        double begin = now_us();

        for (i = 0; i < messages; ++i) {
            ucs_status_ptr_t receive = ucp_tag_recv_nbx(worker, in, length, 1, UINT64_MAX, &plain);

            finish(ucp_tag_send_nbx(ep, out, length, 1, &plain));
            finish(receive);
        }
        each[k] = (now_us() - begin) / messages;
    }
    return median(each, BATCHES);
}

int main(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    char *out = malloc(LONGEST), *in = malloc(LONGEST);
    ucp_context_h context;
    ucp_address_t *address;
    size_t length;
    ucp_ep_h ep;

    memset(out, 1, LONGEST);
    memset(in, 2, LONGEST);
    must(ucp_init(&params, NULL, &context), "ucp_init");
    must(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
    must(ucp_worker_get_address(worker, &address, &length), "ucp_worker_get_address");
    ep_params.address = address;
    must(ucp_ep_create(worker, &ep_params, &ep), "ucp_ep_create");
    for (length = 1024; length <= LONGEST; length *= 2) {
        printf("%zu %.4f\n", length, one_us(ep, out, in, length));
    }
    return memcmp(out, in, LONGEST) != 0;
}
