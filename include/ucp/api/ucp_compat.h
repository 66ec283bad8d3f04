/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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
 * Old form of `ucp_request_check_status`.
 *
 * @param[in] request Request that an operation returned, not freed yet; not NULL and not an error.
 * @return Nonzero when the request is at its end, 0 while it goes on.
 *
 * @ingroup ucp_request
 */
int ucp_request_is_completed(void *request);

/**
 * Gives a request back as `ucp_request_free` does; before its end, its callback is still called.
 *
 * @param[in] request Request that an operation returned; not to be used afterwards.
 *
 * @ingroup ucp_request
 */
void ucp_request_release(void *request);

/**
 * Flushes and closes an endpoint, and waits. It makes progress, so callbacks are called meanwhile.
 *
 * @param[in] h Endpoint; not to be used afterwards.
 *
 * @ingroup ucp_ep
 */
void ucp_ep_destroy(ucp_ep_h h);

/**
 * Old form of `ucp_ep_close_nbx`: flushes and closes.
 *
 * @param[in] ep Endpoint; not to be used afterwards, also while a request goes on.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_ep
 */
ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep);

/**
 * Allocates a request for operations that take one of the caller, such as `ucp_tag_send_nbr`.
 * `ucp_request_free` frees it.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @return The request, or NULL when there is no memory or in a child of fork().
 *
 * @ingroup ucp_request
 */
void *ucp_request_alloc(ucp_worker_h worker);

/**
 * Old form of `ucp_request_check_status`, with the result of a tagged receive.
 *
 * @param[in] request Request that an operation returned, not freed yet; not NULL and not an error.
 * @param[out] info Tag and bytes of a tagged receive at its end; may be NULL.
 * @return UCS_INPROGRESS while the request goes on, then its result.
 *
 * @ingroup ucp_request
 */
ucs_status_t ucp_request_test(void *request,
                              ucp_tag_recv_info_t *info);

/**
 * Packs access to mapped memory, to be sent as `size_p` bytes to peers, which turn it into a key
 * by `ucp_ep_rkey_unpack`. `ucp_rkey_buffer_release` frees the buffer.
 *
 * @param[in] context_h Context of `ucp_init`, not cleaned up yet.
 * @param[in] memh Handle of `ucp_mem_map`, not unmapped yet; it has to stay as long as peers use
 *   the key.
 * @param[out] rkey_buffer_p The packed key.
 * @param[out] size_p Its bytes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED in a
 *   child of fork().
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_rkey_pack(ucp_context_h context_h,
                           ucp_mem_h memh,
                           void **rkey_buffer_p,
                           size_t *size_p);

/**
 * Frees a buffer of `ucp_rkey_pack`.
 *
 * @param[in] rkey_buffer Buffer of `ucp_rkey_pack`, once.
 *
 * @ingroup ucp_mem
 */
void ucp_rkey_buffer_release(void *rkey_buffer);

/**
 * Waits until all operations on an endpoint are complete at the peer. It makes progress, so
 * callbacks are called meanwhile.
 *
 * @param[in] h Endpoint of `ucp_ep_create`, not closed yet.
 * @return UCS_OK, or the error of the endpoint.
 *
 * @ingroup ucp_ep
 */
ucs_status_t ucp_ep_flush(ucp_ep_h h);

/**
 * Waits until all operations of a worker are complete at the peers. It makes progress, so
 * callbacks are called meanwhile.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @return UCS_OK, or the first error.
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_flush(ucp_worker_h worker);

/**
 * Writes to memory of the peer, and waits until the caller's memory is free. The peer sees it
 * after a flush.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data.
 * @param[in] length Bytes.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_rma
 */
ucs_status_t ucp_put(ucp_ep_h ep,
                     const void *buffer,
                     size_t length,
                     uint64_t remote_addr,
                     ucp_rkey_h rkey);

/**
 * Reads memory of the peer, and waits for it.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[out] buffer Gets the data.
 * @param[in] length Bytes.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_rma
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
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] add What to add.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_add32(ucp_ep_h ep,
                              uint32_t add,
                              uint64_t remote_addr,
                              ucp_rkey_h rkey);

/**
 * Adds to 8 bytes of the peer. May return before it happens there; the peer sees it after a
 * flush.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] add What to add.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_add64(ucp_ep_h ep,
                              uint64_t add,
                              uint64_t remote_addr,
                              ucp_rkey_h rkey);

/**
 * Adds to 4 bytes of the peer and waits for what was there.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] add What to add.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[out] result Gets the word that was there.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep,
                               uint32_t add,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result);

/**
 * Adds to 8 bytes of the peer and waits for what was there.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] add What to add.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[out] result Gets the word that was there.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep,
                               uint64_t add,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result);

/**
 * Exchanges 4 bytes of the peer and waits for what was there.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[out] result Gets the word that was there.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_swap32(ucp_ep_h ep,
                               uint32_t swap,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result);

/**
 * Exchanges 8 bytes of the peer and waits for what was there.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[out] result Gets the word that was there.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_swap64(ucp_ep_h ep,
                               uint64_t swap,
                               uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result);

/**
 * Exchanges 4 bytes of the peer if they equal `compare`, and waits for what was there.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] compare Word that has to be there.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[out] result Gets the word that was there: `compare` if the exchange took place.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
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
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] compare Word that has to be there.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[out] result Gets the word that was there: `compare` if the exchange took place.
 * @return UCS_OK, or an error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep,
                                uint64_t compare,
                                uint64_t swap,
                                uint64_t remote_addr,
                                ucp_rkey_h rkey,
                                uint64_t *result);

/**
 * Changes an endpoint's error handler and user data.
 *
 * @param[in] h Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] params The members to change; the error handling mode has to stay. Read during the
 *   call only.
 * @return NULL, or UCS_ERR_INVALID_PARAM or UCS_ERR_UNSUPPORTED (in a child of fork()) as a
 *   pointer.
 *
 * @ingroup ucp_ep
 */
ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h h,
                                  const ucp_ep_params_t *params);

/**
 * Gives the worker's address for peers. To be sent as `address_length_p` bytes to a peer, which
 * connects with `ucp_ep_create`. `ucp_worker_release_address` frees it.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] address_p The address.
 * @param[out] address_length_p Its bytes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED in a
 *   child of fork().
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_get_address(ucp_worker_h worker,
                                    ucp_address_t **address_p,
                                    size_t *address_length_p);

/**
 * Old form of `ucp_ep_close_nbx`.
 *
 * @param[in] ep Endpoint; not to be used afterwards, also while a request goes on.
 * @param[in] mode UCP_EP_CLOSE_MODE_FORCE or UCP_EP_CLOSE_MODE_FLUSH.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_ep
 */
ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned int mode);

/**
 * Old form of `ucp_ep_flush_nbx`.
 *
 * @param[in] h Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] flags 0.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_ep
 */
ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h h,
                                 unsigned int flags,
                                 ucp_send_callback_t cb);

/**
 * Registers an old-style handler of active messages, or removes one.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] id Number of the message, as the sender gives it.
 * @param[in] cb Handler, called in progress for each message; NULL removes it.
 * @param[in] arg First argument of the handler.
 * @param[in] flags Bits of `ucp_am_cb_flags`.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when `worker` is NULL; UCS_ERR_UNSUPPORTED in a child
 *   of fork().
 *
 * @ingroup ucp_am
 */
ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker,
                                       uint16_t id,
                                       ucp_am_callback_t cb,
                                       void *arg,
                                       uint32_t flags);

/**
 * Old form of `ucp_am_send_nbx`, without a header.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] id Number of the handler at the peer.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @param[in] flags Bits of `ucp_send_am_flags`; the data is always sent with the message.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_am
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
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @param[in] flags 0.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_stream
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
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[out] buffer Gets the bytes; belongs to the library until the operation ends.
 * @param[in] count Elements that fit.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @param[out] length Bytes received, when the operation is done at once.
 * @param[in] flags Bits of `ucp_stream_recv_flags_t`.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_stream
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
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_tag
 */
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep,
                                 const void *buffer,
                                 size_t count,
                                 ucp_datatype_t datatype,
                                 ucp_tag_t tag,
                                 ucp_send_callback_t cb);

/**
 * Sends a tagged message with a request of the caller.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] req Request, with the context's `request_size` bytes before it; belongs to the library
 *   until the operation ends.
 * @return UCS_OK: done. UCS_INPROGRESS: `ucp_request_check_status` tells. Or an error.
 *
 * @ingroup ucp_tag
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
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_tag
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
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] buffer Gets the message; belongs to the library until the operation ends.
 * @param[in] count Elements that fit.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] tag Wanted tag.
 * @param[in] tag_mask Bits of the tag that have to be equal.
 * @param[in] cb Called at the end, in progress; may be NULL.
 * @return A request, or an error.
 *
 * @ingroup ucp_tag
 */
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker,
                                 void *buffer,
                                 size_t count,
                                 ucp_datatype_t datatype,
                                 ucp_tag_t tag,
                                 ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb);

/**
 * Receives a tagged message with a request of the caller.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] buffer Gets the message; belongs to the library until the operation ends.
 * @param[in] count Elements that fit.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] tag Wanted tag.
 * @param[in] tag_mask Bits of the tag that have to be equal.
 * @param[in] req Request, with the context's `request_size` bytes before it; belongs to the library
 *   until the operation ends.
 * @return UCS_OK: taken up; only `ucp_request_check_status` tells whether it is done. Or an
 *   error.
 *
 * @ingroup ucp_tag
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
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] buffer Gets the message; belongs to the library until the operation ends.
 * @param[in] count Elements that fit.
 * @param[in] datatype Layout of the buffer, for instance `ucp_dt_make_contig(1)`.
 * @param[in] message Message that `ucp_tag_probe_nb` took, once.
 * @param[in] cb Called at the end, in progress; may be NULL.
 * @return A request, or an error.
 *
 * @ingroup ucp_tag
 */
ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker,
                                     void *buffer,
                                     size_t count,
                                     ucp_datatype_t datatype,
                                     ucp_tag_message_h message,
                                     ucp_tag_recv_callback_t cb);

/**
 * Writes to memory of the peer, without a request.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the call returns UCS_OK or a later flush
 *   ends.
 * @param[in] length Bytes.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive as long as the buffer.
 * @return UCS_OK: the caller's memory is free. UCS_INPROGRESS: it is after a flush. Or an
 *   error.
 *
 * @ingroup ucp_rma
 */
ucs_status_t ucp_put_nbi(ucp_ep_h ep,
                         const void *buffer,
                         size_t length,
                         uint64_t remote_addr,
                         ucp_rkey_h rkey);

/**
 * Old form of `ucp_put_nbx`.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] length Bytes.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_rma
 */
ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep,
                            const void *buffer,
                            size_t length,
                            uint64_t remote_addr,
                            ucp_rkey_h rkey,
                            ucp_send_callback_t cb);

/**
 * Reads memory of the peer, without a request.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[out] buffer Gets the data; belongs to the library until the call returns UCS_OK or a later
 *   flush ends.
 * @param[in] length Bytes.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive as long as the buffer.
 * @return UCS_OK: the data is there. UCS_INPROGRESS: it is after a flush. Or an error.
 *
 * @ingroup ucp_rma
 */
ucs_status_t ucp_get_nbi(ucp_ep_h ep,
                         void *buffer,
                         size_t length,
                         uint64_t remote_addr,
                         ucp_rkey_h rkey);

/**
 * Old form of `ucp_get_nbx`.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[out] buffer Gets the data; belongs to the library until the operation ends.
 * @param[in] length Bytes.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_rma
 */
ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep,
                            void *buffer,
                            size_t length,
                            uint64_t remote_addr,
                            ucp_rkey_h rkey,
                            ucp_send_callback_t cb);

/**
 * Changes a word of the peer without an answer; a flush completes it.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[in] op_size Bytes of the word: 4 or 8.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until a flush has ended.
 * @return UCS_OK: posted. UCS_ERR_INVALID_PARAM for another size or operation, or another
 *   error.
 *
 * @ingroup ucp_amo
 */
ucs_status_t ucp_atomic_post(ucp_ep_h ep,
                             ucp_atomic_post_op_t opcode,
                             uint64_t value,
                             size_t op_size,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey);

/**
 * Changes a word of the peer and tells what was there.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand; of a compare and swap the word that has to be there.
 * @param[in,out] result Gets the word that was there; belongs to the library until the operation
 *   ends. Of a compare and swap it holds the new word before.
 * @param[in] op_size Bytes of the word: 4 or 8.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_amo
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
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] flags 0.
 * @param[in] cb Called at the end of a request, in progress; may be NULL. It is not called when the
 *   operation is done at once.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_worker
 */
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker,
                                     unsigned int flags,
                                     ucp_send_callback_t cb);

END_C_DECLS

#endif
