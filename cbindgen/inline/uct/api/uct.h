#include <ucs/async/async_fwd.h>
#include <ucs/datastruct/callbackq.h>
#include <ucs/datastruct/callbackq_compat.h>
#include <ucs/datastruct/linear_func.h>
#include <ucs/memory/memory_type.h>
#include <ucs/stats/stats_fwd.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/topo/base/topo.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/status.h>
#include <ucs/type/thread_mode.h>
#include <uct/api/uct_def.h>
#include <uct/api/tl.h>
#include <uct/api/version.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>

BEGIN_C_DECLS

/**
 * @defgroup uct_md Components and memory domains
 * A component is a family of transports; a memory domain of it is what memory is registered with. A function that
 * returns a status and gets NULL where it needs something returns UCS_ERR_INVALID_PARAM.
 */
/** @defgroup uct_config Options */
/**
 * @defgroup uct_worker Workers
 * A worker drives the interfaces that are opened on it. A worker, its interfaces and their endpoints are used by one
 * thread at a time; only the functions that say so may be called by any thread.
 *
 * Handlers and completion callbacks are called by `uct_worker_progress` and `uct_iface_progress`, and on some transports
 * by the call that sends. They may send and create endpoints, but may not close the interface.
 */
/** @defgroup uct_iface Interfaces */
/**
 * @defgroup uct_ep Endpoints
 * What an operation returns:
 * - UCS_OK, or bytes: the buffer may be reused. It does not tell that the peer has the data: flush for that. The
 *   completion is not touched.
 * - UCS_INPROGRESS: the buffer is in use. At the end the completion's count is decremented, and its function is called
 *   when the count gets to 0.
 * - UCS_ERR_NO_RESOURCE: nothing was sent. Make progress and try again, or queue a request by `uct_ep_pending_add`.
 * - UCS_ERR_UNSUPPORTED: the transport has no such operation; the `cap.flags` of its interface tell which it has.
 * - UCS_ERR_INVALID_PARAM: the arguments do not fit the limits in the interface's `cap`.
 * - UCS_ERR_CONNECTION_RESET, UCS_ERR_ENDPOINT_TIMEOUT and others: the endpoint failed.
 */
/**
 * @defgroup uct_cm Connection managers
 * A connection manager connects by socket addresses. Its callbacks are called by the async context of its worker, which
 * may be another thread; they may answer requests, but may not close the manager.
 */

/* How to print a resource: transport and device. */
#define UCT_TL_RESOURCE_DESC_FMT            "%s/%s"
#define UCT_TL_RESOURCE_DESC_ARG(_resource) (_resource)->tl_name, (_resource)->dev_name

@ITEMS@

/** Names of the ways to allocate, by `uct_alloc_method_t`. */
extern const char *uct_alloc_method_names[];
/** Names of the kinds of devices, by `uct_device_type_t`. */
extern const char *uct_device_type_names[];

/* The data path calls through the table that the interface begins with: no function of the library stands
 * between. */

/**
 * Lets the interfaces of a worker move on, and calls back.
 *
 * @param[in] worker Worker of `uct_worker_create`, not destroyed yet.
 * @return How much was done; 0 for nothing.
 *
 * @ingroup uct_worker
 */
UCT_INLINE_API unsigned uct_worker_progress(uct_worker_h worker)
{
    return ucs_callbackq_dispatch(&worker->progress_q);
}

/**
 * Asks whether all operations of all endpoints of an interface are complete.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags Bits of `uct_flush_flags`.
 * @param[in] comp NULL, or counted down at the end where the transport supports that.
 * @return UCS_OK: complete. UCS_INPROGRESS: not yet, ask again. Or an error: see @ref uct_ep.
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API ucs_status_t uct_iface_flush(uct_iface_h iface, unsigned flags,
                                            uct_completion_t *comp)
{
    return iface->ops.iface_flush(iface, flags, comp);
}

/**
 * Orders the operations of an interface: those after the call take effect after those before it.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags 0.
 * @return UCS_OK or an error.
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API ucs_status_t uct_iface_fence(uct_iface_h iface, unsigned flags)
{
    return iface->ops.iface_fence(iface, flags);
}

/**
 * Gives back the data that an active message handler kept by returning UCS_INPROGRESS.
 *
 * @param[in] desc The `data` that the handler got, once.
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API void uct_iface_release_desc(void *desc)
{
    uct_recv_desc_t *release = uct_recv_desc(desc);
    release->cb(release, desc);
}

/**
 * Writes a few bytes into memory of the peer. The buffer may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] buffer Data.
 * @param[in] length Bytes, at most `cap.put.max_short`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                                             uint64_t remote_addr, uct_rkey_t rkey)
{
    return ep->iface->ops.ep_put_short(ep, buffer, length, remote_addr, rkey);
}

/**
 * Writes what a callback puts into a buffer of the transport.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] pack_cb Called during the call; writes at most `cap.put.max_bcopy` bytes.
 * @param[in] arg Its argument.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return Bytes that were sent, or a negative status: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ssize_t uct_ep_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                                        uint64_t remote_addr, uct_rkey_t rkey)
{
    return ep->iface->ops.ep_put_bcopy(ep, pack_cb, arg, remote_addr, rkey);
}

/**
 * Writes from registered memory, which is in use until the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                                             uint64_t remote_addr, uct_rkey_t rkey,
                                             uct_completion_t *comp)
{
    return ep->iface->ops.ep_put_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

/**
 * Reads a few bytes of memory of the peer, at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[out] buffer Gets the data.
 * @param[in] length Bytes, at most `cap.get.max_short`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                             uint64_t remote_addr, uct_rkey_t rkey)
{
    return ep->iface->ops.ep_get_short(ep, buffer, length, remote_addr, rkey);
}

/**
 * Reads memory of the peer and hands it to a callback.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] unpack_cb Called with the data, during the call or in progress before `comp` is counted down.
 * @param[in] arg Its first argument.
 * @param[in] length Bytes, at most `cap.get.max_bcopy`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                                             void *arg, size_t length, uint64_t remote_addr,
                                             uct_rkey_t rkey, uct_completion_t *comp)
{
    return ep->iface->ops.ep_get_bcopy(ep, unpack_cb, arg, length, remote_addr, rkey, comp);
}

/**
 * Reads into registered memory. The data is there when the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                                             uint64_t remote_addr, uct_rkey_t rkey,
                                             uct_completion_t *comp)
{
    return ep->iface->ops.ep_get_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

/**
 * Sends an active message of 8 bytes of header and a payload, which may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] header First 8 bytes of the message.
 * @param[in] payload The rest.
 * @param[in] length Bytes of the rest; at most `cap.am.max_short` together with the header.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                                            const void *payload, unsigned length)
{
    return ep->iface->ops.ep_am_short(ep, id, header, payload, length);
}

/**
 * Sends an active message gathered from pieces, which may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] iov Pieces, at most `cap.am.max_short` bytes together; their handles are not used.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                                size_t iovcnt)
{
    return ep->iface->ops.ep_am_short_iov(ep, id, iov, iovcnt);
}

/**
 * Sends as an active message what a callback puts into a buffer of the transport.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] pack_cb Called during the call; writes at most `cap.am.max_bcopy` bytes.
 * @param[in] arg Its argument.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @return Bytes that were sent, or a negative status: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ssize_t uct_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                                       void *arg, unsigned flags)
{
    return ep->iface->ops.ep_am_bcopy(ep, id, pack_cb, arg, flags);
}

/**
 * Sends a header, which is copied, and registered memory as one active message. The memory is in use until
 * the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] id Number of the handler at the peer, below UCT_AM_ID_MAX.
 * @param[in] header Header; may be reused at once.
 * @param[in] header_length Its bytes, at most `cap.am.max_hdr`.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                                            unsigned header_length, const uct_iov_t *iov,
                                            size_t iovcnt, unsigned flags, uct_completion_t *comp)
{
    return ep->iface->ops.ep_am_zcopy(ep, id, header, header_length, iov, iovcnt, flags, comp);
}

/**
 * Replaces 8 bytes of the peer by `swap` if they equal `compare`; what was there goes to `result`.
 * UCS_INPROGRESS: when `comp` is counted down.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] compare Word that has to be there.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uint64_t *result, uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic_cswap64(ep, compare, swap, remote_addr, rkey, result, comp);
}

/**
 * Replaces 4 bytes of the peer by `swap` if they equal `compare`; what was there goes to `result`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] compare Word that has to be there.
 * @param[in] swap New word.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uint32_t *result, uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic_cswap32(ep, compare, swap, remote_addr, rkey, result, comp);
}

/**
 * Changes 4 bytes of the peer by an operation that returns nothing. Bits of `cap.atomic32.op_flags` tell
 * which a transport has.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic32_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                                 uint32_t value, uint64_t remote_addr,
                                                 uct_rkey_t rkey)
{
    return ep->iface->ops.ep_atomic32_post(ep, opcode, value, remote_addr, rkey);
}

/**
 * Changes 8 bytes of the peer by an operation that returns nothing. Bits of `cap.atomic64.op_flags` tell which a
 * transport has.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                                 uint64_t value, uint64_t remote_addr,
                                                 uct_rkey_t rkey)
{
    return ep->iface->ops.ep_atomic64_post(ep, opcode, value, remote_addr, rkey);
}

/**
 * Changes 4 bytes of the peer; what was there goes to `result`. UCS_INPROGRESS: when `comp` is counted down.
 * *
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                                  uint32_t value, uint32_t *result,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic32_fetch(ep, opcode, value, result, remote_addr, rkey, comp);
}

/**
 * Changes 8 bytes of the peer; what was there goes to `result`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] opcode Operation.
 * @param[in] value Operand.
 * @param[out] result Gets the word that was there, when the operation ends.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size.
 * @param[in] rkey Key of `uct_rkey_unpack` that covers the address.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                                  uint64_t value, uint64_t *result,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic64_fetch(ep, opcode, value, result, remote_addr, rkey, comp);
}

/**
 * Queues a request that is tried again when the endpoint can send. The request lives until its function has
 * returned UCS_OK or it was purged.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] req The request, whose `func` is set; belongs to the transport while it is queued.
 * @param[in] flags Bits of `uct_cb_flags`, 0 for none.
 * @return UCS_OK: queued. UCS_ERR_BUSY: the endpoint can send now, try again.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req, unsigned flags)
{
    return ep->iface->ops.ep_pending_add(ep, req, flags);
}

/**
 * Takes all queued requests off an endpoint.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] cb Gets each request; NULL drops them.
 * @param[in] arg Its last argument.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API void uct_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb, void *arg)
{
    ep->iface->ops.ep_pending_purge(ep, cb, arg);
}

/**
 * Asks whether all operations of an endpoint are complete.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags Bits of `uct_flush_flags`.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK: complete. UCS_INPROGRESS: `comp` is counted down when they are. Or an error: see @ref
 *   uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    return ep->iface->ops.ep_flush(ep, flags, comp);
}

/**
 * Orders the operations of an endpoint: those after the call take effect after those before it.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags 0.
 * @return UCS_OK or an error.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_fence(uct_ep_h ep, unsigned flags)
{
    return ep->iface->ops.ep_fence(ep, flags);
}

/**
 * Sends a short tagged message. The data may be reused at once.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] data The message.
 * @param[in] length Bytes, at most `cap.tag.eager.max_short`.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_eager_short(uct_ep_h ep, uct_tag_t tag, const void *data,
                                                   size_t length)
{
    return ep->iface->ops.ep_tag_eager_short(ep, tag, data, length);
}

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
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ssize_t uct_ep_tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                              uct_pack_callback_t pack_cb, void *arg,
                                              unsigned flags)
{
    return ep->iface->ops.ep_tag_eager_bcopy(ep, tag, imm, pack_cb, arg, flags);
}

/**
 * Sends a tagged message from registered memory, which is in use until the operation ends.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] imm Number that goes along.
 * @param[in] iov Pieces of registered memory; the array is read during the call only.
 * @param[in] iovcnt Number of pieces, at most the interface's `max_iov`.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return UCS_OK, UCS_INPROGRESS or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                                   const uct_iov_t *iov, size_t iovcnt,
                                                   unsigned flags, uct_completion_t *comp)
{
    return ep->iface->ops.ep_tag_eager_zcopy(ep, tag, imm, iov, iovcnt, flags, comp);
}

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
 * @param[in] comp Counted down when the operation ends after UCS_INPROGRESS; NULL when that is not to be
 *   told. Alive until then.
 * @return The operation, which can be cancelled, or an error as a pointer.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_ptr_t uct_ep_tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag,
                                                      const void *header, unsigned header_length,
                                                      const uct_iov_t *iov, size_t iovcnt,
                                                      unsigned flags, uct_completion_t *comp)
{
    return ep->iface->ops.ep_tag_rndv_zcopy(ep, tag, header, header_length, iov, iovcnt, flags,
                                            comp);
}

/**
 * Gives up an offered message; its completion is not called.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] op Operation of `uct_ep_tag_rndv_zcopy`, once.
 * @return UCS_OK or an error.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_rndv_cancel(uct_ep_h ep, void *op)
{
    return ep->iface->ops.ep_tag_rndv_cancel(ep, op);
}

/**
 * Offers a tagged message that only software can move: the peer's handler gets `header`.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] header Header that the peer's handler gets; copied.
 * @param[in] header_length Its bytes.
 * @param[in] flags Bits of `uct_msg_flags`.
 * @return UCS_OK or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_rndv_request(uct_ep_h ep, uct_tag_t tag, const void *header,
                                                    unsigned header_length, unsigned flags)
{
    return ep->iface->ops.ep_tag_rndv_request(ep, tag, header, header_length, flags);
}

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
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API ucs_status_t uct_iface_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                                     uct_tag_t tag_mask, const uct_iov_t *iov,
                                                     size_t iovcnt, uct_tag_context_t *ctx)
{
    return iface->ops.iface_tag_recv_zcopy(iface, tag, tag_mask, iov, iovcnt, ctx);
}

/**
 * Takes a posted receive back.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] ctx Context of the receive.
 * @param[in] force Nonzero: no callback follows. 0: the completion callback follows with UCS_ERR_CANCELED.
 * @return UCS_OK or an error.
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API ucs_status_t uct_iface_tag_recv_cancel(uct_iface_h iface, uct_tag_context_t *ctx,
                                                      int force)
{
    return iface->ops.iface_tag_recv_cancel(iface, ctx, force);
}

/**
 * Lets `uct_worker_progress` drive an interface.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags Bits of `uct_progress_types`.
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API void uct_iface_progress_enable(uct_iface_h iface, unsigned flags)
{
    iface->ops.iface_progress_enable(iface, flags);
}

/**
 * Stops `uct_worker_progress` from driving an interface.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] flags Bits of `uct_progress_types`.
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API void uct_iface_progress_disable(uct_iface_h iface, unsigned flags)
{
    iface->ops.iface_progress_disable(iface, flags);
}

/**
 * Drives one interface.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @return How much was done; 0 for nothing.
 *
 * @ingroup uct_iface
 */
UCT_INLINE_API unsigned uct_iface_progress(uct_iface_h iface)
{
    return iface->ops.iface_progress(iface);
}

/**
 * Records the status of one operation in a completion: the first failure stays.
 *
 * @param[in,out] comp The completion.
 * @param[in] status Status of one operation.
 *
 * @ingroup uct_ep
 */
UCT_INLINE_API void uct_completion_update_status(uct_completion_t *comp, ucs_status_t status)
{
    if (comp->status == UCS_OK) {
        comp->status = status;
    }
}

END_C_DECLS
