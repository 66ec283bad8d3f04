/* Endpoints with error handling, which record the calls of their error handler. */
#ifndef FERRUCX_FAILURE_H
#define FERRUCX_FAILURE_H

#include "peers.h"

typedef struct {
    unsigned calls;
    ucs_status_t status;
    ucp_ep_h ep;
} failure_t;

static inline void failure_note(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    failure_t *failure = arg;

    failure->calls++;
    failure->status = status;
    failure->ep = ep;
}

/* Makes an endpoint to the owner of `address` that tells `failure` of its end. */
static inline ucs_status_t connect_in_mode(side_t *from, const void *address, ucp_err_handling_mode_t mode,
                                           failure_t *failure, ucp_ep_h *ep)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = address,
                              .err_mode = mode,
                              .err_handler = {.cb = failure_note, .arg = failure}};

    memset(failure, 0, sizeof(*failure));
    return ucp_ep_create(from->worker, &params, ep);
}

static inline ucp_ep_h connect_watched(side_t *from, const void *address, failure_t *failure)
{
    ucp_ep_h ep;

    CHECK_OK(connect_in_mode(from, address, UCP_ERR_HANDLING_MODE_PEER, failure, &ep));
    return ep;
}

/* The status of what a call answered, which must have ended. */
static inline const char *outcome(ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_IS_PTR(request) ? ucp_request_check_status(request) : UCS_PTR_STATUS(request);

    return ucs_status_string(status);
}

static inline void drop(ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

static inline int has_ended(ucs_status_ptr_t request)
{
    return !UCS_PTR_IS_PTR(request) || (ucp_request_check_status(request) != UCS_INPROGRESS);
}

#endif
