/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCP_API_UCP_COMPAT_H
#define FERRUCX_UCP_API_UCP_COMPAT_H

#include <ucs/sys/compiler_def.h>
#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

/** Operations of `ucp_atomic_post`. */
enum ucp_atomic_post_op_t {
    /** Add. */
    UCP_ATOMIC_POST_OP_ADD = 0,
    /** Bitwise and. */
    UCP_ATOMIC_POST_OP_AND = 1,
    /** Bitwise or. */
    UCP_ATOMIC_POST_OP_OR = 2,
    /** Bitwise exclusive or. */
    UCP_ATOMIC_POST_OP_XOR = 3,
    /** Number of operations. */
    UCP_ATOMIC_POST_OP_LAST = 4,
};

typedef enum ucp_atomic_post_op_t ucp_atomic_post_op_t;

/** Operations of `ucp_atomic_fetch_nb`. */
enum ucp_atomic_fetch_op_t {
    /** Add. */
    UCP_ATOMIC_FETCH_OP_FADD = 0,
    /** Exchange. */
    UCP_ATOMIC_FETCH_OP_SWAP = 1,
    /** Exchange, if the value there is the one expected. */
    UCP_ATOMIC_FETCH_OP_CSWAP = 2,
    /** Bitwise and. */
    UCP_ATOMIC_FETCH_OP_FAND = 3,
    /** Bitwise or. */
    UCP_ATOMIC_FETCH_OP_FOR = 4,
    /** Bitwise exclusive or. */
    UCP_ATOMIC_FETCH_OP_FXOR = 5,
    /** Number of operations. */
    UCP_ATOMIC_FETCH_OP_LAST = 6,
};

typedef enum ucp_atomic_fetch_op_t ucp_atomic_fetch_op_t;

/** Modes of `ucp_ep_close_nb`. */
enum ucp_ep_close_mode {
    /** Do not flush: operations under way end with an error. */
    UCP_EP_CLOSE_MODE_FORCE = 0,
    /** Flush first. */
    UCP_EP_CLOSE_MODE_FLUSH = 1,
};

typedef struct ucp_listener_accept_handler ucp_listener_accept_handler_t;

/** An old-style handler of clients and its argument. */
struct ucp_listener_accept_handler {
    /** The handler. */
    ucp_listener_accept_callback_t cb;
    /** Its last argument. */
    void *arg;
};

/**
 * Nonzero when a request is at its end. See `ucp_request_check_status`.
 *
 * `ucp/api/ucp_compat.h`, group `request`.
 */
int ucp_request_is_completed(void *request);

/**
 * Old name of `ucp_request_free`.
 *
 * `ucp/api/ucp_compat.h`, group `request`.
 */
void ucp_request_release(void *request);

/**
 * Flushes and closes an endpoint, and waits.
 *
 * `ucp/api/ucp_compat.h`, group `ep`.
 */
void ucp_ep_destroy(ucp_ep_h h);

/**
 * Old form of `ucp_ep_close_nbx`: flushes and closes.
 *
 * `ucp/api/ucp_compat.h`, group `ep`.
 */
ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep);

/**
 * Allocates a request for operations that take one of the caller.
 *
 * `ucp/api/ucp_compat.h`, group `request`.
 */
void *ucp_request_alloc(ucp_worker_h worker);

/**
 * Old form of `ucp_request_check_status`, with the result of a tagged receive.
 *
 * `ucp/api/ucp_compat.h`, group `request`.
 */
ucs_status_t ucp_request_test(void *request, ucp_tag_recv_info_t *info);

/**
 * Packs access to mapped memory for peers; the buffer is freed by `ucp_rkey_buffer_release`.
 *
 * `ucp/api/ucp_compat.h`, group `mem`.
 */
ucs_status_t ucp_rkey_pack(ucp_context_h context_h,
                           ucp_mem_h memh,
                           void **rkey_buffer_p,
                           size_t *size_p);

/**
 * Frees a buffer of `ucp_rkey_pack`.
 *
 * `ucp/api/ucp_compat.h`, group `mem`.
 */
void ucp_rkey_buffer_release(void *rkey_buffer);

/**
 * Waits until all operations on an endpoint are complete at the peer.
 *
 * `ucp/api/ucp_compat.h`, group `ep`.
 */
ucs_status_t ucp_ep_flush(ucp_ep_h h);

/**
 * Waits until all operations of a worker are complete at the peers.
 *
 * `ucp/api/ucp_compat.h`, group `worker`.
 */
ucs_status_t ucp_worker_flush(ucp_worker_h worker);

/**
 * Writes to memory of the peer, and waits until the caller's memory is free.
 *
 * `ucp/api/ucp_compat.h`, group `rma`.
 */
ucs_status_t ucp_put(ucp_ep_h ep,
                     const void *buffer,
                     size_t length,
                     uint64_t remote_addr,
                     ucp_rkey_h rkey);

/**
 * Reads memory of the peer, and waits.
 *
 * `ucp/api/ucp_compat.h`, group `rma`.
 */
ucs_status_t ucp_get(ucp_ep_h ep,
                     void *buffer,
                     size_t length,
                     uint64_t remote_addr,
                     ucp_rkey_h rkey);

/**
 * Adds to 4 bytes of the peer. May return before it happens there; the peer sees it after a
 * flush.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_add32(ucp_ep_h ep,
                              uint32_t add,
                              uint64_t remote_addr,
                              ucp_rkey_h rkey);

/**
 * Adds to 8 bytes of the peer. May return before it happens there; the peer sees it after a
 * flush.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_add64(ucp_ep_h ep,
                              uint64_t add,
                              uint64_t remote_addr,
                              ucp_rkey_h rkey);

/**
 * Adds to 4 bytes of the peer and waits for what was there.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep,
                               uint32_t add,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result);

/**
 * Adds to 8 bytes of the peer and waits for what was there.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep,
                               uint64_t add,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result);

/**
 * Exchanges 4 bytes of the peer and waits for what was there.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_swap32(ucp_ep_h ep,
                               uint32_t swap,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result);

/**
 * Exchanges 8 bytes of the peer and waits for what was there.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_swap64(ucp_ep_h ep,
                               uint64_t swap,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result);

/**
 * Exchanges 4 bytes of the peer if they equal `compare`, and waits for what was there.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep,
                                uint32_t compare,
                                uint32_t swap,
                                uint64_t remote_addr,
                                ucp_rkey_h rkey,
                                uint32_t *result);

/**
 * Exchanges 8 bytes of the peer if they equal `compare`, and waits for what was there.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep,
                                uint64_t compare,
                                uint64_t swap,
                                uint64_t remote_addr,
                                ucp_rkey_h rkey,
                                uint64_t *result);

/**
 * Changes an endpoint's parameters.
 *
 * `ucp/api/ucp_compat.h`, group `ep`.
 */
ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h h, const ucp_ep_params_t *params);

/**
 * Gives the worker's address for peers; `ucp_worker_release_address` frees it.
 *
 * `ucp/api/ucp_compat.h`, group `worker`.
 */
ucs_status_t ucp_worker_get_address(ucp_worker_h worker,
                                    ucp_address_t **address_p,
                                    size_t *address_length_p);

/**
 * Old form of `ucp_ep_close_nbx`, with a mode.
 *
 * `ucp/api/ucp_compat.h`, group `ep`.
 */
ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned int mode);

/**
 * Old form of `ucp_ep_flush_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `ep`.
 */
ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h h, unsigned int flags, ucp_send_callback_t cb);

/**
 * Registers an old-style handler of active messages with this `id`; NULL removes it.
 *
 * `ucp/api/ucp_compat.h`, group `am`.
 */
ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker,
                                       uint16_t id,
                                       ucp_am_callback_t cb,
                                       void *arg,
                                       uint32_t flags);

/**
 * Old form of `ucp_am_send_nbx`, without a header.
 *
 * `ucp/api/ucp_compat.h`, group `am`.
 */
ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep,
                                uint16_t id,
                                const void *buffer,
                                size_t count,
                                ucp_datatype_t datatype,
                                ucp_send_callback_t cb,
                                unsigned int flags);

/**
 * Old form of `ucp_stream_send_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `stream`.
 */
ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep,
                                    const void *buffer,
                                    size_t count,
                                    ucp_datatype_t datatype,
                                    ucp_send_callback_t cb,
                                    unsigned int flags);

/**
 * Old form of `ucp_stream_recv_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `stream`.
 */
ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep,
                                    void *buffer,
                                    size_t count,
                                    ucp_datatype_t datatype,
                                    ucp_stream_recv_callback_t cb,
                                    size_t *length,
                                    unsigned int flags);

/**
 * Old form of `ucp_tag_send_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep,
                                 const void *buffer,
                                 size_t count,
                                 ucp_datatype_t datatype,
                                 ucp_tag_t tag,
                                 ucp_send_callback_t cb);

/**
 * Sends a tagged message with a request of the caller. UCS_OK: done, and no callback;
 * UCS_INPROGRESS: `ucp_request_check_status` tells.
 *
 * `ucp/api/ucp_compat.h`, group `tag`.
 */
ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep,
                              const void *buffer,
                              size_t count,
                              ucp_datatype_t datatype,
                              ucp_tag_t tag,
                              void *req);

/**
 * Old form of `ucp_tag_send_sync_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep,
                                      const void *buffer,
                                      size_t count,
                                      ucp_datatype_t datatype,
                                      ucp_tag_t tag,
                                      ucp_send_callback_t cb);

/**
 * Old form of `ucp_tag_recv_nbx`. Always gives a request and calls back.
 *
 * `ucp/api/ucp_compat.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker,
                                 void *buffer,
                                 size_t count,
                                 ucp_datatype_t datatype,
                                 ucp_tag_t tag,
                                 ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb);

/**
 * Receives a tagged message with a request of the caller. UCS_OK: taken up; only
 * `ucp_request_check_status` tells whether it is done.
 *
 * `ucp/api/ucp_compat.h`, group `tag`.
 */
ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker,
                              void *buffer,
                              size_t count,
                              ucp_datatype_t datatype,
                              ucp_tag_t tag,
                              ucp_tag_t tag_mask,
                              void *req);

/**
 * Old form of `ucp_tag_msg_recv_nbx`. Always gives a request and calls back.
 *
 * `ucp/api/ucp_compat.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker,
                                     void *buffer,
                                     size_t count,
                                     ucp_datatype_t datatype,
                                     ucp_tag_message_h message,
                                     ucp_tag_recv_callback_t cb);

/**
 * Writes to memory of the peer. UCS_OK: the caller's memory is free; UCS_INPROGRESS: after a
 * flush.
 *
 * `ucp/api/ucp_compat.h`, group `rma`.
 */
ucs_status_t ucp_put_nbi(ucp_ep_h ep,
                         const void *buffer,
                         size_t length,
                         uint64_t remote_addr,
                         ucp_rkey_h rkey);

/**
 * Old form of `ucp_put_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `rma`.
 */
ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep,
                            const void *buffer,
                            size_t length,
                            uint64_t remote_addr,
                            ucp_rkey_h rkey,
                            ucp_send_callback_t cb);

/**
 * Reads memory of the peer. UCS_INPROGRESS: the data is there after a flush.
 *
 * `ucp/api/ucp_compat.h`, group `rma`.
 */
ucs_status_t ucp_get_nbi(ucp_ep_h ep,
                         void *buffer,
                         size_t length,
                         uint64_t remote_addr,
                         ucp_rkey_h rkey);

/**
 * Old form of `ucp_get_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `rma`.
 */
ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep,
                            void *buffer,
                            size_t length,
                            uint64_t remote_addr,
                            ucp_rkey_h rkey,
                            ucp_send_callback_t cb);

/**
 * Changes `op_size` (4 or 8) bytes of the peer without an answer; a flush completes it.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_t ucp_atomic_post(ucp_ep_h ep,
                             ucp_atomic_post_op_t opcode,
                             uint64_t value,
                             size_t op_size,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey);

/**
 * Changes `op_size` (4 or 8) bytes of the peer; what was there goes to `result`. Returns NULL
 * when done, a request, or an error.
 *
 * `ucp/api/ucp_compat.h`, group `amo`.
 */
ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep,
                                     ucp_atomic_fetch_op_t opcode,
                                     uint64_t value,
                                     void *result,
                                     size_t op_size,
                                     uint64_t remote_addr,
                                     ucp_rkey_h rkey,
                                     ucp_send_callback_t cb);

/**
 * Old form of `ucp_worker_flush_nbx`.
 *
 * `ucp/api/ucp_compat.h`, group `worker`.
 */
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker,
                                     unsigned int flags,
                                     ucp_send_callback_t cb);

END_C_DECLS

#endif
