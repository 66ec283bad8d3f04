/* Waits for a UCP request on one worker, checks that it went well, and gives it back. */
#ifndef FERRUCX_FINISH_H
#define FERRUCX_FINISH_H

#include <ucp/api/ucp.h>

#include "check.h"

static inline void finish(ucp_worker_h worker, ucs_status_ptr_t request)
{
    if (request == NULL) {
        return;
    }
    CHECK(!UCS_PTR_IS_ERR(request));
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

#endif
