/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCT_API_TL_H
#define FERRUCX_UCT_API_TL_H

#ifndef FERRUCX_UCT_API_UCT_H
#  error "uct/api/tl.h is a part of uct/api/uct.h: include that one"
#endif

#include <ucs/config/types.h>
#include <ucs/datastruct/callbackq.h>
#include <ucs/type/status.h>
#include <uct/api/uct_def.h>
#include <stddef.h>
#include <sys/types.h>

BEGIN_C_DECLS

typedef struct uct_iface_ops uct_iface_ops_t;
typedef struct uct_worker uct_worker_t;
typedef struct uct_iface uct_iface_t;
typedef struct uct_ep uct_ep_t;
typedef struct uct_listener uct_listener_t;
typedef struct uct_recv_desc uct_recv_desc_t;

/**
 * Writes a few bytes into memory of the peer. The buffer may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] buffer Data.
 * @param[in] length Bytes, at most `cap.put.max_short`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_put_short_func_t)(uct_ep_h ep,
                                                const void *buffer,
                                                unsigned int length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey);

/**
 * Writes what a callback puts into a buffer of the transport.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] pack_cb Called during the call; writes at most `cap.put.max_bcopy` bytes.
 * @param[in] arg Its argument.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return Bytes that were sent, or a negative status: see @ref uct_ep.
 */
typedef ssize_t (*uct_ep_put_bcopy_func_t)(uct_ep_h ep,
                                           uct_pack_callback_t pack_cb,
                                           void *arg,
                                           uint64_t remote_addr,
                                           uct_rkey_t rkey);

/**
 * Writes from registered memory, which is in use until the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_put_zcopy_func_t)(uct_ep_h ep,
                                                const uct_iov_t *iov,
                                                size_t iovcnt,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey,
                                                uct_completion_t *comp);

/**
 * Reads a few bytes of memory of the peer, at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[out] buffer Gets the data.
 * @param[in] length Bytes, at most `cap.get.max_short`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_get_short_func_t)(uct_ep_h ep,
                                                void *buffer,
                                                unsigned int length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey);

/**
 * Reads memory of the peer and hands it to a callback.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] unpack_cb Called with the data, during the call or in progress before `comp` is
 *   counted down.
 * @param[in] arg Its first argument.
 * @param[in] length Bytes, at most `cap.get.max_bcopy`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_get_bcopy_func_t)(uct_ep_h ep,
                                                uct_unpack_callback_t unpack_cb,
                                                void *arg,
                                                size_t length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey,
                                                uct_completion_t *comp);

/**
 * Reads into registered memory. The data is there when the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_get_zcopy_func_t)(uct_ep_h ep,
                                                const uct_iov_t *iov,
                                                size_t iovcnt,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey,
                                                uct_completion_t *comp);

/**
 * Sends an active message of 8 bytes of header and a payload, which may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] header First 8 bytes of the message.
 * @param[in] payload The rest.
 * @param[in] length Bytes of the rest; at most `cap.am.max_short` together with the header.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_am_short_func_t)(uct_ep_h ep,
                                               uint8_t id,
                                               uint64_t header,
                                               const void *payload,
                                               unsigned int length);

/**
 * Sends an active message gathered from pieces, which may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] iov Pieces, at most `cap.am.max_short` bytes together; their handles are not used.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_am_short_iov_func_t)(uct_ep_h ep,
                                                   uint8_t id,
                                                   const uct_iov_t *iov,
                                                   size_t iovcnt);

/**
 * Sends as an active message what a callback puts into a buffer of the transport.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] pack_cb Called during the call; writes at most `cap.am.max_bcopy` bytes.
 * @param[in] arg Its argument.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @return Bytes that were sent, or a negative status: see @ref uct_ep.
 */
typedef ssize_t (*uct_ep_am_bcopy_func_t)(uct_ep_h ep,
                                          uint8_t id,
                                          uct_pack_callback_t pack_cb,
                                          void *arg,
                                          unsigned int flags);

/**
 * Sends a header, which is copied, and registered memory as one active message. The memory is in
 * use until the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] header Header; may be reused at once.
 * @param[in] header_length Its bytes, at most `cap.am.max_hdr`.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_am_zcopy_func_t)(uct_ep_h ep,
                                               uint8_t id,
                                               const void *header,
                                               unsigned int header_length,
                                               const uct_iov_t *iov,
                                               size_t iovcnt,
                                               unsigned int flags,
                                               uct_completion_t *comp);

/**
 * Operation behind `uct_ep_atomic_cswap64`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] compare Word that has to be there.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_atomic_cswap64_func_t)(uct_ep_h ep,
                                                     uint64_t compare,
                                                     uint64_t swap,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uint64_t *result,
                                                     uct_completion_t *comp);

/**
 * Operation behind `uct_ep_atomic_cswap32`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] compare Word that has to be there.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_atomic_cswap32_func_t)(uct_ep_h ep,
                                                     uint32_t compare,
                                                     uint32_t swap,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uint32_t *result,
                                                     uct_completion_t *comp);

/**
 * Operation behind `uct_ep_atomic32_post`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_atomic32_post_func_t)(uct_ep_h ep,
                                                    unsigned int opcode,
                                                    uint32_t value,
                                                    uint64_t remote_addr,
                                                    uct_rkey_t rkey);

/**
 * Operation behind `uct_ep_atomic64_post`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_atomic64_post_func_t)(uct_ep_h ep,
                                                    unsigned int opcode,
                                                    uint64_t value,
                                                    uint64_t remote_addr,
                                                    uct_rkey_t rkey);

/**
 * Operation behind `uct_ep_atomic32_fetch`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_atomic32_fetch_func_t)(uct_ep_h ep,
                                                     unsigned int opcode,
                                                     uint32_t value,
                                                     uint32_t *result,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uct_completion_t *comp);

/**
 * Operation behind `uct_ep_atomic64_fetch`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_atomic64_fetch_func_t)(uct_ep_h ep,
                                                     unsigned int opcode,
                                                     uint64_t value,
                                                     uint64_t *result,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uct_completion_t *comp);

/**
 * Sends a short tagged message. The data may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] data The message.
 * @param[in] length Bytes, at most `cap.tag.eager.max_short`.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_tag_eager_short_func_t)(uct_ep_h ep,
                                                      uct_tag_t tag,
                                                      const void *data,
                                                      size_t length);

/**
 * Sends as a tagged message what a callback puts into a buffer of the transport.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] imm Number that goes along.
 * @param[in] pack_cb Called during the call; writes at most `cap.tag.eager.max_bcopy` bytes.
 * @param[in] arg Its argument.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @return Bytes that were sent, or a negative status: see @ref uct_ep.
 */
typedef ssize_t (*uct_ep_tag_eager_bcopy_func_t)(uct_ep_h ep,
                                                 uct_tag_t tag,
                                                 uint64_t imm,
                                                 uct_pack_callback_t pack_cb,
                                                 void *arg,
                                                 unsigned int flags);

/**
 * Sends a tagged message from registered memory, which is in use until the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] imm Number that goes along.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_tag_eager_zcopy_func_t)(uct_ep_h ep,
                                                      uct_tag_t tag,
                                                      uint64_t imm,
                                                      const uct_iov_t *iov,
                                                      size_t iovcnt,
                                                      unsigned int flags,
                                                      uct_completion_t *comp);

/**
 * Offers a tagged message from registered memory; the peer fetches it when a receive matches.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] header Header that a handler of unexpected offers gets; copied.
 * @param[in] header_length Its bytes.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return The operation, which can be cancelled, or an error as a pointer.
 */
typedef ucs_status_ptr_t (*uct_ep_tag_rndv_zcopy_func_t)(uct_ep_h ep,
                                                         uct_tag_t tag,
                                                         const void *header,
                                                         unsigned int header_length,
                                                         const uct_iov_t *iov,
                                                         size_t iovcnt,
                                                         unsigned int flags,
                                                         uct_completion_t *comp);

/**
 * Operation behind `uct_ep_tag_rndv_cancel`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] op Operation of `uct_ep_tag_rndv_zcopy`, once.
 * @return UCS_OK or an error.
 */
typedef ucs_status_t (*uct_ep_tag_rndv_cancel_func_t)(uct_ep_h ep, void *op);

/**
 * Operation behind `uct_ep_tag_rndv_request`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] header Header that the peer's handler gets; copied.
 * @param[in] header_length Its bytes.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @return UCS_OK or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_tag_rndv_request_func_t)(uct_ep_h ep,
                                                       uct_tag_t tag,
                                                       const void *header,
                                                       unsigned int header_length,
                                                       unsigned int flags);

/**
 * Posts a receive of a tagged message into registered memory.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] tag Wanted tag.
 * @param[in] tag_mask Bits of the tag that have to be equal.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] ctx Belongs to the transport until its last callback ran or the receive was cancelled.
 * @return UCS_OK; UCS_ERR_EXCEEDS_LIMIT when too many are posted; another error.
 */
typedef ucs_status_t (*uct_iface_tag_recv_zcopy_func_t)(uct_iface_h iface,
                                                        uct_tag_t tag,
                                                        uct_tag_t tag_mask,
                                                        const uct_iov_t *iov,
                                                        size_t iovcnt,
                                                        uct_tag_context_t *ctx);

/**
 * Takes a posted receive back.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] ctx Context of the receive.
 * @param[in] force Nonzero: no callback follows. 0: the completion callback follows with
 *   UCS_ERR_CANCELED.
 * @return UCS_OK or an error.
 */
typedef ucs_status_t (*uct_iface_tag_recv_cancel_func_t)(uct_iface_h iface,
                                                         uct_tag_context_t *ctx,
                                                         int force);

/**
 * Queues a request that is tried again when the endpoint can send. The request lives until its
 * function has returned UCS_OK or it was purged.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] req The request, whose `func` is set; belongs to the transport while it is queued.
 * @param[in] flags Bits of `uct_cb_flags`, 0 for none.
 * @return UCS_OK: queued. UCS_ERR_BUSY: the endpoint can send now, try again.
 */
typedef ucs_status_t (*uct_ep_pending_add_func_t)(uct_ep_h ep,
                                                  uct_pending_req_t *req,
                                                  unsigned int flags);

/**
 * Takes all queued requests off an endpoint.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] cb Gets each request; NULL drops them.
 * @param[in] arg Its last argument.
 */
typedef void (*uct_ep_pending_purge_func_t)(uct_ep_h ep,
                                            uct_pending_purge_callback_t cb,
                                            void *arg);

/**
 * Asks whether all operations of an endpoint are complete.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags Bits of `uct_flush_flags`.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not
 *   to be told. Alive until then.
 * @return UCS_OK: complete. UCS_INPROGRESS: `comp` is counted down when they are. Or an error:
 *   see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_flush_func_t)(uct_ep_h ep,
                                            unsigned int flags,
                                            uct_completion_t *comp);

/**
 * Operation behind `uct_ep_fence`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags 0.
 * @return UCS_OK or an error.
 */
typedef ucs_status_t (*uct_ep_fence_func_t)(uct_ep_h ep, unsigned int flags);

/**
 * Checks that the peer is alive. If it is not, the error handler is called.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags 0.
 * @param[in] comp NULL.
 * @return UCS_OK or UCS_INPROGRESS when the check was begun, or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_ep_check_func_t)(uct_ep_h ep,
                                            unsigned int flags,
                                            uct_completion_t *comp);

/**
 * Creates an endpoint: of an interface (with addresses: connected to that interface; without: to
 * be connected by `uct_ep_connect_to_ep`), or of a connection manager (as a client by `sockaddr`,
 * as a server by `conn_request`). `uct_ep_destroy` ends it.
 *
 * @param[in] params The interface or connection manager, and the peer; read during the call only.
 * @param[out] ep_p The endpoint; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM without an interface or connection manager. Or the
 *   error of the transport, such as UCS_ERR_UNREACHABLE.
 */
typedef ucs_status_t (*uct_ep_create_func_t)(const uct_ep_params_t *params, uct_ep_h *ep_p);

/**
 * Goes on with the connection of a client's endpoint of a connection manager, after its address
 * was resolved.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] params Private data for the server; copied.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED on other
 *   endpoints.
 */
typedef ucs_status_t (*uct_ep_connect_func_t)(uct_ep_h ep,
                                              const uct_ep_connect_params_t *params);

/**
 * Begins to disconnect an endpoint of a connection manager. The disconnect callback follows.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags 0.
 * @return UCS_OK or UCS_INPROGRESS; UCS_ERR_UNSUPPORTED on other endpoints; the error when it
 *   is not connected.
 */
typedef ucs_status_t (*uct_ep_disconnect_func_t)(uct_ep_h ep, unsigned int flags);

/**
 * Operation behind `uct_cm_client_ep_conn_notify`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @return UCS_OK or an error.
 */
typedef ucs_status_t (*uct_cm_ep_conn_notify_func_t)(uct_ep_h ep);

/**
 * Operation behind `uct_ep_destroy`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 */
typedef void (*uct_ep_destroy_func_t)(uct_ep_h ep);

/**
 * Writes the endpoint's address, for `uct_ep_connect_to_ep` at the peer.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[out] addr Room for `ep_addr_len` bytes of the interface's attributes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
 *   transport that connects to interfaces only.
 */
typedef ucs_status_t (*uct_ep_get_address_func_t)(uct_ep_h ep, uct_ep_addr_t *addr);

/**
 * Connects the endpoint to a peer's endpoint.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] dev_addr Device address of the peer's interface.
 * @param[in] ep_addr Address of the peer's endpoint.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
 *   transport that connects to interfaces only; UCS_ERR_UNREACHABLE.
 */
typedef ucs_status_t (*uct_ep_connect_to_ep_func_t)(uct_ep_h ep,
                                                    const uct_device_addr_t *dev_addr,
                                                    const uct_ep_addr_t *ep_addr);

/**
 * Accepts a request on an interface by socket address, of which there are none.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] conn_request Not read.
 * @return UCS_ERR_UNSUPPORTED.
 */
typedef ucs_status_t (*uct_iface_accept_func_t)(uct_iface_h iface,
                                                uct_conn_request_h conn_request);

/**
 * Rejects a request on an interface by socket address, of which there are none.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] conn_request Not read.
 * @return UCS_ERR_UNSUPPORTED.
 */
typedef ucs_status_t (*uct_iface_reject_func_t)(uct_iface_h iface,
                                                uct_conn_request_h conn_request);

/**
 * Asks whether all operations of all endpoints of an interface are complete.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags Bits of `uct_flush_flags`.
 * @param[in] comp NULL, or counted down at the end where the transport supports that.
 * @return UCS_OK: complete. UCS_INPROGRESS: not yet, ask again. Or an error: see @ref uct_ep.
 */
typedef ucs_status_t (*uct_iface_flush_func_t)(uct_iface_h iface,
                                               unsigned int flags,
                                               uct_completion_t *comp);

/**
 * Operation behind `uct_iface_fence`.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags 0.
 * @return UCS_OK or an error.
 */
typedef ucs_status_t (*uct_iface_fence_func_t)(uct_iface_h iface, unsigned int flags);

/**
 * Lets `uct_worker_progress` drive an interface.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags Bits of `uct_progress_types`.
 */
typedef void (*uct_iface_progress_enable_func_t)(uct_iface_h iface, unsigned int flags);

/**
 * Operation behind `uct_iface_progress_disable`.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags Bits of `uct_progress_types`.
 */
typedef void (*uct_iface_progress_disable_func_t)(uct_iface_h iface, unsigned int flags);

/**
 * Drives one interface.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @return How much was done; 0 for nothing.
 */
typedef unsigned int (*uct_iface_progress_func_t)(uct_iface_h iface);

/**
 * Gives the descriptor that becomes readable on events: for poll(), never to be read or closed.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] fd_p The descriptor; it belongs to the interface.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
 *   transport without one.
 */
typedef ucs_status_t (*uct_iface_event_fd_get_func_t)(uct_iface_h iface, int *fd_p);

/**
 * Makes the descriptor report the next event.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] events Bits of `uct_iface_event_types`.
 * @return UCS_OK: the next event makes the descriptor readable. UCS_ERR_BUSY: there is
 *   something to progress first. UCS_ERR_UNSUPPORTED for a transport without a descriptor.
 */
typedef ucs_status_t (*uct_iface_event_arm_func_t)(uct_iface_h iface, unsigned int events);

/**
 * Operation behind `uct_iface_close`.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 */
typedef void (*uct_iface_close_func_t)(uct_iface_h iface);

/**
 * Operation behind `uct_iface_query`.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] iface_attr The attributes, all members.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 */
typedef ucs_status_t (*uct_iface_query_func_t)(uct_iface_h iface,
                                               uct_iface_attr_t *iface_attr);

/**
 * Writes the device's address, for peers.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] addr Room for `device_addr_len` bytes of the attributes; may be NULL when that is 0.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
 */
typedef ucs_status_t (*uct_iface_get_device_address_func_t)(uct_iface_h iface,
                                                            uct_device_addr_t *addr);

/**
 * Writes the interface's address, for peers.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] addr Room for `iface_addr_len` bytes of the attributes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
 */
typedef ucs_status_t (*uct_iface_get_address_func_t)(uct_iface_h iface,
                                                     uct_iface_addr_t *addr);

/**
 * Tells whether an interface of a peer can be reached. Its addresses are checked for what they
 * hold.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] dev_addr Device address of the peer, as its `uct_iface_get_device_address` wrote it.
 * @param[in] iface_addr Interface address of the peer; NULL asks for the device alone.
 * @return 1 or 0.
 */
typedef int (*uct_iface_is_reachable_func_t)(uct_iface_h iface,
                                             const uct_device_addr_t *dev_addr,
                                             const uct_iface_addr_t *iface_addr);

/**
 * The operations of an interface. None is NULL: what a transport lacks answers
 * UCS_ERR_UNSUPPORTED.
 */
struct uct_iface_ops {
    /** What `uct_ep_put_short` calls. */
    uct_ep_put_short_func_t ep_put_short;
    /** What `uct_ep_put_bcopy` calls. */
    uct_ep_put_bcopy_func_t ep_put_bcopy;
    /** What `uct_ep_put_zcopy` calls. */
    uct_ep_put_zcopy_func_t ep_put_zcopy;
    /** What `uct_ep_get_short` calls. */
    uct_ep_get_short_func_t ep_get_short;
    /** What `uct_ep_get_bcopy` calls. */
    uct_ep_get_bcopy_func_t ep_get_bcopy;
    /** What `uct_ep_get_zcopy` calls. */
    uct_ep_get_zcopy_func_t ep_get_zcopy;
    /** What `uct_ep_am_short` calls. */
    uct_ep_am_short_func_t ep_am_short;
    /** What `uct_ep_am_short_iov` calls. */
    uct_ep_am_short_iov_func_t ep_am_short_iov;
    /** What `uct_ep_am_bcopy` calls. */
    uct_ep_am_bcopy_func_t ep_am_bcopy;
    /** What `uct_ep_am_zcopy` calls. */
    uct_ep_am_zcopy_func_t ep_am_zcopy;
    /** What `uct_ep_atomic_cswap64` calls. */
    uct_ep_atomic_cswap64_func_t ep_atomic_cswap64;
    /** What `uct_ep_atomic_cswap32` calls. */
    uct_ep_atomic_cswap32_func_t ep_atomic_cswap32;
    /** What `uct_ep_atomic32_post` calls. */
    uct_ep_atomic32_post_func_t ep_atomic32_post;
    /** What `uct_ep_atomic64_post` calls. */
    uct_ep_atomic64_post_func_t ep_atomic64_post;
    /** What `uct_ep_atomic32_fetch` calls. */
    uct_ep_atomic32_fetch_func_t ep_atomic32_fetch;
    /** What `uct_ep_atomic64_fetch` calls. */
    uct_ep_atomic64_fetch_func_t ep_atomic64_fetch;
    /** What `uct_ep_tag_eager_short` calls. */
    uct_ep_tag_eager_short_func_t ep_tag_eager_short;
    /** What `uct_ep_tag_eager_bcopy` calls. */
    uct_ep_tag_eager_bcopy_func_t ep_tag_eager_bcopy;
    /** What `uct_ep_tag_eager_zcopy` calls. */
    uct_ep_tag_eager_zcopy_func_t ep_tag_eager_zcopy;
    /** What `uct_ep_tag_rndv_zcopy` calls. */
    uct_ep_tag_rndv_zcopy_func_t ep_tag_rndv_zcopy;
    /** What `uct_ep_tag_rndv_cancel` calls. */
    uct_ep_tag_rndv_cancel_func_t ep_tag_rndv_cancel;
    /** What `uct_ep_tag_rndv_request` calls. */
    uct_ep_tag_rndv_request_func_t ep_tag_rndv_request;
    /** What `uct_iface_tag_recv_zcopy` calls. */
    uct_iface_tag_recv_zcopy_func_t iface_tag_recv_zcopy;
    /** What `uct_iface_tag_recv_cancel` calls. */
    uct_iface_tag_recv_cancel_func_t iface_tag_recv_cancel;
    /** What `uct_ep_pending_add` calls. */
    uct_ep_pending_add_func_t ep_pending_add;
    /** What `uct_ep_pending_purge` calls. */
    uct_ep_pending_purge_func_t ep_pending_purge;
    /** What `uct_ep_flush` calls. */
    uct_ep_flush_func_t ep_flush;
    /** What `uct_ep_fence` calls. */
    uct_ep_fence_func_t ep_fence;
    /** What `uct_ep_check` calls. */
    uct_ep_check_func_t ep_check;
    /** What `uct_ep_create` calls. */
    uct_ep_create_func_t ep_create;
    /** What `uct_ep_connect` calls. */
    uct_ep_connect_func_t ep_connect;
    /** What `uct_ep_disconnect` calls. */
    uct_ep_disconnect_func_t ep_disconnect;
    /** What `uct_cm_client_ep_conn_notify` calls. */
    uct_cm_ep_conn_notify_func_t cm_ep_conn_notify;
    /** What `uct_ep_destroy` calls. */
    uct_ep_destroy_func_t ep_destroy;
    /** What `uct_ep_get_address` calls. */
    uct_ep_get_address_func_t ep_get_address;
    /** What `uct_ep_connect_to_ep` calls. */
    uct_ep_connect_to_ep_func_t ep_connect_to_ep;
    /** What `uct_iface_accept` calls. */
    uct_iface_accept_func_t iface_accept;
    /** What `uct_iface_reject` calls. */
    uct_iface_reject_func_t iface_reject;
    /** What `uct_iface_flush` calls. */
    uct_iface_flush_func_t iface_flush;
    /** What `uct_iface_fence` calls. */
    uct_iface_fence_func_t iface_fence;
    /** What `uct_iface_progress_enable` calls. */
    uct_iface_progress_enable_func_t iface_progress_enable;
    /** What `uct_iface_progress_disable` calls. */
    uct_iface_progress_disable_func_t iface_progress_disable;
    /** What `uct_iface_progress` calls. */
    uct_iface_progress_func_t iface_progress;
    /** What `uct_iface_event_fd_get` calls. */
    uct_iface_event_fd_get_func_t iface_event_fd_get;
    /** What `uct_iface_event_arm` calls. */
    uct_iface_event_arm_func_t iface_event_arm;
    /** What `uct_iface_close` calls. */
    uct_iface_close_func_t iface_close;
    /** What `uct_iface_query` calls. */
    uct_iface_query_func_t iface_query;
    /** What `uct_iface_get_device_address` calls. */
    uct_iface_get_device_address_func_t iface_get_device_address;
    /** What `uct_iface_get_address` calls. */
    uct_iface_get_address_func_t iface_get_address;
    /** What `uct_iface_is_reachable` calls. */
    uct_iface_is_reachable_func_t iface_is_reachable;
};

/** A worker, as inline functions see it. */
struct uct_worker {
    /** What `uct_worker_progress` calls. */
    ucs_callbackq_t progress_q;
};

/** An interface, as inline functions see it. */
struct uct_iface {
    /** Its operations. */
    uct_iface_ops_t ops;
};

/** An endpoint, as inline functions see it. */
struct uct_ep {
    /** Its interface. */
    uct_iface_h iface;
};

/** A listener, as inline functions see it. */
struct uct_listener {
    /** Its connection manager. */
    uct_cm_h cm;
};

/**
 * Releases the data at `desc`.
 *
 * @param[in] self What stands before the data.
 * @param[in] desc The data.
 */
typedef void (*uct_desc_release_callback_t)(uct_recv_desc_t *self, void *desc);

/** What releases data that an active message handler kept; a pointer to it stands before the data. */
struct uct_recv_desc {
    /** Releases the data. */
    uct_desc_release_callback_t cb;
};

/** What releases a receive descriptor: a pointer to it stands just before the data. */
#define uct_recv_desc(_desc) (((uct_recv_desc_t**)(_desc))[-1])

END_C_DECLS

#endif
