/* What ucx_perftest itself takes for a read: put before a library, its call does nothing. */
#include <ucp/api/ucp.h>

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param)
{
    return NULL;
}
