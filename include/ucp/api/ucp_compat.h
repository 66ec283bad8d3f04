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

/** `ucp/api/ucp_compat.h`, group `request`: not implemented yet. */
int ucp_request_is_completed(void *request);

/** `ucp/api/ucp_compat.h`, group `request`: not implemented yet. */
void ucp_request_release(void *request);

/** `ucp/api/ucp_compat.h`, group `ep`: not implemented yet. */
void ucp_ep_destroy(ucp_ep_h ep);

/** `ucp/api/ucp_compat.h`, group `ep`: not implemented yet. */
ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep);

/** `ucp/api/ucp_compat.h`, group `request`: not implemented yet. */
void *ucp_request_alloc(ucp_worker_h worker);

/** `ucp/api/ucp_compat.h`, group `request`: not implemented yet. */
ucs_status_t ucp_request_test(void *request, ucp_tag_recv_info_t *info);

/** `ucp/api/ucp_compat.h`, group `mem`: not implemented yet. */
ucs_status_t ucp_rkey_pack(ucp_context_h context,
                           ucp_mem_h memh,
                           void **rkey_buffer_p,
                           size_t *size_p);

/** `ucp/api/ucp_compat.h`, group `mem`: not implemented yet. */
void ucp_rkey_buffer_release(void *rkey_buffer);

/** `ucp/api/ucp_compat.h`, group `ep`: not implemented yet. */
ucs_status_t ucp_ep_flush(ucp_ep_h ep);

/** `ucp/api/ucp_compat.h`, group `worker`: not implemented yet. */
ucs_status_t ucp_worker_flush(ucp_worker_h worker);

/** `ucp/api/ucp_compat.h`, group `rma`: not implemented yet. */
ucs_status_t ucp_put(ucp_ep_h ep,
                     const void *buffer,
                     size_t length,
                     uint64_t remote_addr,
                     ucp_rkey_h rkey);

/** `ucp/api/ucp_compat.h`, group `rma`: not implemented yet. */
ucs_status_t ucp_get(ucp_ep_h ep,
                     void *buffer,
                     size_t length,
                     uint64_t remote_addr,
                     ucp_rkey_h rkey);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_add32(ucp_ep_h ep,
                              uint32_t add,
                              uint64_t remote_addr,
                              ucp_rkey_h rkey);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_add64(ucp_ep_h ep,
                              uint64_t add,
                              uint64_t remote_addr,
                              ucp_rkey_h rkey);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep,
                               uint32_t add,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep,
                               uint64_t add,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_swap32(ucp_ep_h ep,
                               uint32_t swap,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_swap64(ucp_ep_h ep,
                               uint64_t swap,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep,
                                uint32_t compare,
                                uint32_t swap,
                                uint64_t remote_addr,
                                ucp_rkey_h rkey,
                                uint32_t *result);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep,
                                uint64_t compare,
                                uint64_t swap,
                                uint64_t remote_addr,
                                ucp_rkey_h rkey,
                                uint64_t *result);

/** `ucp/api/ucp_compat.h`, group `ep`: not implemented yet. */
ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h ep, const ucp_ep_params_t *params);

/** `ucp/api/ucp_compat.h`, group `worker`: not implemented yet. */
ucs_status_t ucp_worker_get_address(ucp_worker_h worker,
                                    ucp_address_t **address_p,
                                    size_t *address_length_p);

/** `ucp/api/ucp_compat.h`, group `ep`: not implemented yet. */
ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned int mode);

/** `ucp/api/ucp_compat.h`, group `ep`: not implemented yet. */
ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned int flags, ucp_send_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `am`: not implemented yet. */
ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker,
                                       uint16_t id,
                                       ucp_am_callback_t cb,
                                       void *arg,
                                       uint32_t flags);

/** `ucp/api/ucp_compat.h`, group `am`: not implemented yet. */
ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep,
                                uint16_t id,
                                const void *buffer,
                                size_t count,
                                ucp_datatype_t datatype,
                                ucp_send_callback_t cb,
                                unsigned int flags);

/** `ucp/api/ucp_compat.h`, group `stream`: not implemented yet. */
ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep,
                                    const void *buffer,
                                    size_t count,
                                    ucp_datatype_t datatype,
                                    ucp_send_callback_t cb,
                                    unsigned int flags);

/** `ucp/api/ucp_compat.h`, group `stream`: not implemented yet. */
ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep,
                                    void *buffer,
                                    size_t count,
                                    ucp_datatype_t datatype,
                                    ucp_stream_recv_callback_t cb,
                                    size_t *length,
                                    unsigned int flags);

/** `ucp/api/ucp_compat.h`, group `tag`: not implemented yet. */
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep,
                                 const void *buffer,
                                 size_t count,
                                 ucp_datatype_t datatype,
                                 ucp_tag_t tag,
                                 ucp_send_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `tag`: not implemented yet. */
ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep,
                              const void *buffer,
                              size_t count,
                              ucp_datatype_t datatype,
                              ucp_tag_t tag,
                              void *req);

/** `ucp/api/ucp_compat.h`, group `tag`: not implemented yet. */
ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep,
                                      const void *buffer,
                                      size_t count,
                                      ucp_datatype_t datatype,
                                      ucp_tag_t tag,
                                      ucp_send_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `tag`: not implemented yet. */
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker,
                                 void *buffer,
                                 size_t count,
                                 ucp_datatype_t datatype,
                                 ucp_tag_t tag,
                                 ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `tag`: not implemented yet. */
ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker,
                              void *buffer,
                              size_t count,
                              ucp_datatype_t datatype,
                              ucp_tag_t tag,
                              ucp_tag_t tag_mask,
                              void *req);

/** `ucp/api/ucp_compat.h`, group `tag`: not implemented yet. */
ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker,
                                     void *buffer,
                                     size_t count,
                                     ucp_datatype_t datatype,
                                     ucp_tag_message_h message,
                                     ucp_tag_recv_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `rma`: not implemented yet. */
ucs_status_t ucp_put_nbi(ucp_ep_h ep,
                         const void *buffer,
                         size_t length,
                         uint64_t remote_addr,
                         ucp_rkey_h rkey);

/** `ucp/api/ucp_compat.h`, group `rma`: not implemented yet. */
ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep,
                            const void *buffer,
                            size_t length,
                            uint64_t remote_addr,
                            ucp_rkey_h rkey,
                            ucp_send_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `rma`: not implemented yet. */
ucs_status_t ucp_get_nbi(ucp_ep_h ep,
                         void *buffer,
                         size_t length,
                         uint64_t remote_addr,
                         ucp_rkey_h rkey);

/** `ucp/api/ucp_compat.h`, group `rma`: not implemented yet. */
ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep,
                            void *buffer,
                            size_t length,
                            uint64_t remote_addr,
                            ucp_rkey_h rkey,
                            ucp_send_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_t ucp_atomic_post(ucp_ep_h ep,
                             ucp_atomic_post_op_t opcode,
                             uint64_t value,
                             size_t op_size,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey);

/** `ucp/api/ucp_compat.h`, group `amo`: not implemented yet. */
ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep,
                                     ucp_atomic_fetch_op_t opcode,
                                     uint64_t value,
                                     void *result,
                                     size_t op_size,
                                     uint64_t remote_addr,
                                     ucp_rkey_h rkey,
                                     ucp_send_callback_t cb);

/** `ucp/api/ucp_compat.h`, group `worker`: not implemented yet. */
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker,
                                     unsigned int flags,
                                     ucp_send_callback_t cb);

END_C_DECLS

#endif
