/* UCP workers for a test: context, worker and endpoints, driven by hand. Two workers of one process
 * talk like two processes of a host, but every step is in the test's hands. */
#ifndef FERRUCX_WORKER_H
#define FERRUCX_WORKER_H

#include <ucp/api/ucp.h>

#include "bytes.h"
#include "check.h"

#include <time.h>

typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_length;
} side_t;

/* Every feature whose data path the tests use. */
enum { ALL_FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 };

static inline void side_open(side_t *side, uint64_t features, ucs_thread_mode_t mode)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = mode};

    CHECK_OK(ucp_init(&params, NULL, &side->context));
    CHECK_OK(ucp_worker_create(side->context, &worker_params, &side->worker));
    CHECK_OK(ucp_worker_get_address(side->worker, &side->address, &side->address_length));
}

static inline void side_close(side_t *side)
{
    ucp_worker_release_address(side->worker, side->address);
    ucp_worker_destroy(side->worker);
    ucp_cleanup(side->context);
}

static inline ucp_ep_h side_connect(side_t *from, const void *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    ucp_ep_h ep;

    CHECK_OK(ucp_ep_create(from->worker, &params, &ep));
    return ep;
}

static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Progresses both sides until the condition holds; one side may be given twice. */
#define DRIVE_UNTIL(a, b, condition) \
    do { \
        double drive_start = now(); \
        while (!(condition)) { \
            ucp_worker_progress((a)->worker); \
            ucp_worker_progress((b)->worker); \
            if (now() - drive_start > 30) { \
                FAIL("no end: %s", #condition); \
            } \
        } \
    } while (0)

/* Waits for what a call answered; gives its status and frees the request. */
static inline ucs_status_t side_wait(side_t *a, side_t *b, ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    DRIVE_UNTIL(a, b, ucp_request_check_status(request) != UCS_INPROGRESS);
    status = ucp_request_check_status(request);
    ucp_request_free(request);
    return status;
}

static inline ucs_status_t side_disconnect(side_t *a, side_t *b, ucp_ep_h ep, unsigned flags)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};

    return side_wait(a, b, ucp_ep_close_nbx(ep, &param));
}

#endif
