/* Two workers of one process with an endpoint each way, and what every test of messages needs: progress
 * until something is true, and requests waited for. */
#ifndef FERRUCX_TWO_WORKERS_H
#define FERRUCX_TWO_WORKERS_H

#include <ucp/api/ucp.h>

#include "check.h"

#include <time.h>

typedef struct {
    ucp_context_h context;
    ucp_worker_h worker[2];
    ucp_ep_h ep[2]; /* ep[i] is of worker[i], to the other */
} two_t;

static inline ucp_ep_h two_connect_flags(two_t *two, int from, int to, unsigned flags)
{
    ucp_ep_params_t params;
    ucp_address_t *address;
    size_t length;
    ucp_ep_h ep;

    CHECK_OK(ucp_worker_get_address(two->worker[to], &address, &length));
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_FLAGS;
    params.address = address;
    params.flags = flags;
    CHECK_OK(ucp_ep_create(two->worker[from], &params, &ep));
    ucp_worker_release_address(two->worker[to], address);
    return ep;
}

static inline ucp_ep_h two_connect(two_t *two, int from, int to)
{
    return two_connect_flags(two, from, to, 0);
}

static inline void two_open_workers(two_t *two, uint64_t features, size_t alignment)
{
    ucp_params_t params;
    ucp_worker_params_t worker_params;
    int i;

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = features;
    CHECK_OK(ucp_init(&params, NULL, &two->context));
    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    worker_params.thread_mode = UCS_THREAD_MODE_SINGLE;
    worker_params.am_alignment = alignment;
    for (i = 0; i < 2; ++i) {
        CHECK_OK(ucp_worker_create(two->context, &worker_params, &two->worker[i]));
    }
}

static inline void two_open(two_t *two, uint64_t features, size_t alignment)
{
    int i;

    two_open_workers(two, features, alignment);
    for (i = 0; i < 2; ++i) {
        two->ep[i] = two_connect(two, i, !i);
    }
}

static inline void two_progress(two_t *two)
{
    ucp_worker_progress(two->worker[0]);
    ucp_worker_progress(two->worker[1]);
}

/* Progresses until `condition`; fails after a minute, longer than anything takes. */
#define TWO_UNTIL(two, condition) \
    do { \
        time_t two_end = time(NULL) + 60; \
        while (!(condition)) { \
            two_progress(two); \
            if (time(NULL) > two_end) { \
                FAIL("never true: %s", #condition); \
            } \
        } \
    } while (0)

/* Waits for what a call returned, frees it, and gives its status. */
static inline ucs_status_t two_wait(two_t *two, void *request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    TWO_UNTIL(two, ucp_request_check_status(request) != UCS_INPROGRESS);
    status = ucp_request_check_status(request);
    ucp_request_free(request);
    return status;
}

static inline void two_close_ep(two_t *two, ucp_ep_h ep)
{
    CHECK_OK(two_wait(two, ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH)));
}

static inline void two_close_workers(two_t *two)
{
    ucp_worker_destroy(two->worker[0]);
    ucp_worker_destroy(two->worker[1]);
    ucp_cleanup(two->context);
}

static inline void two_close(two_t *two)
{
    void *requests[2];
    int i;

    for (i = 0; i < 2; ++i) {
        requests[i] = ucp_ep_close_nb(two->ep[i], UCP_EP_CLOSE_MODE_FLUSH);
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(two_wait(two, requests[i]));
    }
    two_close_workers(two);
}

#endif
