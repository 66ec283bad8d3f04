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

/** Operation behind `uct_ep_put_short`. */
typedef ucs_status_t (*uct_ep_put_short_func_t)(uct_ep_h ep,
                                                const void *buffer,
                                                unsigned int length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey);

/** Operation behind `uct_ep_put_bcopy`. */
typedef ssize_t (*uct_ep_put_bcopy_func_t)(uct_ep_h ep,
                                           uct_pack_callback_t pack_cb,
                                           void *arg,
                                           uint64_t remote_addr,
                                           uct_rkey_t rkey);

/** Operation behind `uct_ep_put_zcopy`. */
typedef ucs_status_t (*uct_ep_put_zcopy_func_t)(uct_ep_h ep,
                                                const uct_iov_t *iov,
                                                size_t iovcnt,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey,
                                                uct_completion_t *comp);

/** Operation behind `uct_ep_get_short`. */
typedef ucs_status_t (*uct_ep_get_short_func_t)(uct_ep_h ep,
                                                void *buffer,
                                                unsigned int length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey);

/** Operation behind `uct_ep_get_bcopy`. */
typedef ucs_status_t (*uct_ep_get_bcopy_func_t)(uct_ep_h ep,
                                                uct_unpack_callback_t unpack_cb,
                                                void *arg,
                                                size_t length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey,
                                                uct_completion_t *comp);

/** Operation behind `uct_ep_get_zcopy`. */
typedef ucs_status_t (*uct_ep_get_zcopy_func_t)(uct_ep_h ep,
                                                const uct_iov_t *iov,
                                                size_t iovcnt,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey,
                                                uct_completion_t *comp);

/** Operation behind `uct_ep_am_short`. */
typedef ucs_status_t (*uct_ep_am_short_func_t)(uct_ep_h ep,
                                               uint8_t id,
                                               uint64_t header,
                                               const void *payload,
                                               unsigned int length);

/** Operation behind `uct_ep_am_short_iov`. */
typedef ucs_status_t (*uct_ep_am_short_iov_func_t)(uct_ep_h ep,
                                                   uint8_t id,
                                                   const uct_iov_t *iov,
                                                   size_t iovcnt);

/** Operation behind `uct_ep_am_bcopy`. */
typedef ssize_t (*uct_ep_am_bcopy_func_t)(uct_ep_h ep,
                                          uint8_t id,
                                          uct_pack_callback_t pack_cb,
                                          void *arg,
                                          unsigned int flags);

/** Operation behind `uct_ep_am_zcopy`. */
typedef ucs_status_t (*uct_ep_am_zcopy_func_t)(uct_ep_h ep,
                                               uint8_t id,
                                               const void *header,
                                               unsigned int header_length,
                                               const uct_iov_t *iov,
                                               size_t iovcnt,
                                               unsigned int flags,
                                               uct_completion_t *comp);

/** Operation behind `uct_ep_atomic_cswap64`. */
typedef ucs_status_t (*uct_ep_atomic_cswap64_func_t)(uct_ep_h ep,
                                                     uint64_t compare,
                                                     uint64_t swap,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uint64_t *result,
                                                     uct_completion_t *comp);

/** Operation behind `uct_ep_atomic_cswap32`. */
typedef ucs_status_t (*uct_ep_atomic_cswap32_func_t)(uct_ep_h ep,
                                                     uint32_t compare,
                                                     uint32_t swap,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uint32_t *result,
                                                     uct_completion_t *comp);

/** Operation behind `uct_ep_atomic32_post`. */
typedef ucs_status_t (*uct_ep_atomic32_post_func_t)(uct_ep_h ep,
                                                    unsigned int opcode,
                                                    uint32_t value,
                                                    uint64_t remote_addr,
                                                    uct_rkey_t rkey);

/** Operation behind `uct_ep_atomic64_post`. */
typedef ucs_status_t (*uct_ep_atomic64_post_func_t)(uct_ep_h ep,
                                                    unsigned int opcode,
                                                    uint64_t value,
                                                    uint64_t remote_addr,
                                                    uct_rkey_t rkey);

/** Operation behind `uct_ep_atomic32_fetch`. */
typedef ucs_status_t (*uct_ep_atomic32_fetch_func_t)(uct_ep_h ep,
                                                     unsigned int opcode,
                                                     uint32_t value,
                                                     uint32_t *result,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uct_completion_t *comp);

/** Operation behind `uct_ep_atomic64_fetch`. */
typedef ucs_status_t (*uct_ep_atomic64_fetch_func_t)(uct_ep_h ep,
                                                     unsigned int opcode,
                                                     uint64_t value,
                                                     uint64_t *result,
                                                     uint64_t remote_addr,
                                                     uct_rkey_t rkey,
                                                     uct_completion_t *comp);

/** Operation behind `uct_ep_tag_eager_short`. */
typedef ucs_status_t (*uct_ep_tag_eager_short_func_t)(uct_ep_h ep,
                                                      uct_tag_t tag,
                                                      const void *data,
                                                      size_t length);

/** Operation behind `uct_ep_tag_eager_bcopy`. */
typedef ssize_t (*uct_ep_tag_eager_bcopy_func_t)(uct_ep_h ep,
                                                 uct_tag_t tag,
                                                 uint64_t imm,
                                                 uct_pack_callback_t pack_cb,
                                                 void *arg,
                                                 unsigned int flags);

/** Operation behind `uct_ep_tag_eager_zcopy`. */
typedef ucs_status_t (*uct_ep_tag_eager_zcopy_func_t)(uct_ep_h ep,
                                                      uct_tag_t tag,
                                                      uint64_t imm,
                                                      const uct_iov_t *iov,
                                                      size_t iovcnt,
                                                      unsigned int flags,
                                                      uct_completion_t *comp);

/** Operation behind `uct_ep_tag_rndv_zcopy`. */
typedef ucs_status_ptr_t (*uct_ep_tag_rndv_zcopy_func_t)(uct_ep_h ep,
                                                         uct_tag_t tag,
                                                         const void *header,
                                                         unsigned int header_length,
                                                         const uct_iov_t *iov,
                                                         size_t iovcnt,
                                                         unsigned int flags,
                                                         uct_completion_t *comp);

/** Operation behind `uct_ep_tag_rndv_cancel`. */
typedef ucs_status_t (*uct_ep_tag_rndv_cancel_func_t)(uct_ep_h ep, void *op);

/** Operation behind `uct_ep_tag_rndv_request`. */
typedef ucs_status_t (*uct_ep_tag_rndv_request_func_t)(uct_ep_h ep,
                                                       uct_tag_t tag,
                                                       const void *header,
                                                       unsigned int header_length,
                                                       unsigned int flags);

/** Operation behind `uct_iface_tag_recv_zcopy`. */
typedef ucs_status_t (*uct_iface_tag_recv_zcopy_func_t)(uct_iface_h iface,
                                                        uct_tag_t tag,
                                                        uct_tag_t tag_mask,
                                                        const uct_iov_t *iov,
                                                        size_t iovcnt,
                                                        uct_tag_context_t *ctx);

/** Operation behind `uct_iface_tag_recv_cancel`. */
typedef ucs_status_t (*uct_iface_tag_recv_cancel_func_t)(uct_iface_h iface,
                                                         uct_tag_context_t *ctx,
                                                         int force);

/** Operation behind `uct_ep_pending_add`. */
typedef ucs_status_t (*uct_ep_pending_add_func_t)(uct_ep_h ep,
                                                  uct_pending_req_t *n,
                                                  unsigned int flags);

/** Operation behind `uct_ep_pending_purge`. */
typedef void (*uct_ep_pending_purge_func_t)(uct_ep_h ep,
                                            uct_pending_purge_callback_t cb,
                                            void *arg);

/** Operation behind `uct_ep_flush`. */
typedef ucs_status_t (*uct_ep_flush_func_t)(uct_ep_h ep,
                                            unsigned int flags,
                                            uct_completion_t *comp);

/** Operation behind `uct_ep_fence`. */
typedef ucs_status_t (*uct_ep_fence_func_t)(uct_ep_h ep, unsigned int flags);

/** Operation behind `uct_ep_check`. */
typedef ucs_status_t (*uct_ep_check_func_t)(uct_ep_h ep,
                                            unsigned int flags,
                                            uct_completion_t *comp);

/** Operation behind `uct_ep_create`. */
typedef ucs_status_t (*uct_ep_create_func_t)(const uct_ep_params_t *params, uct_ep_h *ep_p);

/** Operation behind `uct_ep_connect`. */
typedef ucs_status_t (*uct_ep_connect_func_t)(uct_ep_h ep,
                                              const uct_ep_connect_params_t *params);

/** Operation behind `uct_ep_disconnect`. */
typedef ucs_status_t (*uct_ep_disconnect_func_t)(uct_ep_h ep, unsigned int flags);

/** Operation behind `uct_cm_client_ep_conn_notify`. */
typedef ucs_status_t (*uct_cm_ep_conn_notify_func_t)(uct_ep_h ep);

/** Operation behind `uct_ep_destroy`. */
typedef void (*uct_ep_destroy_func_t)(uct_ep_h ep);

/** Operation behind `uct_ep_get_address`. */
typedef ucs_status_t (*uct_ep_get_address_func_t)(uct_ep_h ep, uct_ep_addr_t *addr);

/** Operation behind `uct_ep_connect_to_ep`. */
typedef ucs_status_t (*uct_ep_connect_to_ep_func_t)(uct_ep_h ep,
                                                    const uct_device_addr_t *dev_addr,
                                                    const uct_ep_addr_t *ep_addr);

/** Operation behind `uct_iface_accept`. */
typedef ucs_status_t (*uct_iface_accept_func_t)(uct_iface_h iface,
                                                uct_conn_request_h conn_request);

/** Operation behind `uct_iface_reject`. */
typedef ucs_status_t (*uct_iface_reject_func_t)(uct_iface_h iface,
                                                uct_conn_request_h conn_request);

/** Operation behind `uct_iface_flush`. */
typedef ucs_status_t (*uct_iface_flush_func_t)(uct_iface_h iface,
                                               unsigned int flags,
                                               uct_completion_t *comp);

/** Operation behind `uct_iface_fence`. */
typedef ucs_status_t (*uct_iface_fence_func_t)(uct_iface_h iface, unsigned int flags);

/** Operation behind `uct_iface_progress_enable`. */
typedef void (*uct_iface_progress_enable_func_t)(uct_iface_h iface, unsigned int flags);

/** Operation behind `uct_iface_progress_disable`. */
typedef void (*uct_iface_progress_disable_func_t)(uct_iface_h iface, unsigned int flags);

/** Operation behind `uct_iface_progress`. */
typedef unsigned int (*uct_iface_progress_func_t)(uct_iface_h iface);

/** Operation behind `uct_iface_event_fd_get`. */
typedef ucs_status_t (*uct_iface_event_fd_get_func_t)(uct_iface_h iface, int *fd_p);

/** Operation behind `uct_iface_event_arm`. */
typedef ucs_status_t (*uct_iface_event_arm_func_t)(uct_iface_h iface, unsigned int events);

/** Operation behind `uct_iface_close`. */
typedef void (*uct_iface_close_func_t)(uct_iface_h iface);

/** Operation behind `uct_iface_query`. */
typedef ucs_status_t (*uct_iface_query_func_t)(uct_iface_h iface,
                                               uct_iface_attr_t *iface_attr);

/** Operation behind `uct_iface_get_device_address`. */
typedef ucs_status_t (*uct_iface_get_device_address_func_t)(uct_iface_h iface,
                                                            uct_device_addr_t *addr);

/** Operation behind `uct_iface_get_address`. */
typedef ucs_status_t (*uct_iface_get_address_func_t)(uct_iface_h iface,
                                                     uct_iface_addr_t *addr);

/** Operation behind `uct_iface_is_reachable`. */
typedef int (*uct_iface_is_reachable_func_t)(uct_iface_h iface,
                                             const uct_device_addr_t *dev_addr,
                                             const uct_iface_addr_t *iface_addr);

/**
 * The operations of an interface. None is NULL: what a transport lacks answers
 * UCS_ERR_UNSUPPORTED.
 */
struct uct_iface_ops {
    uct_ep_put_short_func_t ep_put_short;
    uct_ep_put_bcopy_func_t ep_put_bcopy;
    uct_ep_put_zcopy_func_t ep_put_zcopy;
    uct_ep_get_short_func_t ep_get_short;
    uct_ep_get_bcopy_func_t ep_get_bcopy;
    uct_ep_get_zcopy_func_t ep_get_zcopy;
    uct_ep_am_short_func_t ep_am_short;
    uct_ep_am_short_iov_func_t ep_am_short_iov;
    uct_ep_am_bcopy_func_t ep_am_bcopy;
    uct_ep_am_zcopy_func_t ep_am_zcopy;
    uct_ep_atomic_cswap64_func_t ep_atomic_cswap64;
    uct_ep_atomic_cswap32_func_t ep_atomic_cswap32;
    uct_ep_atomic32_post_func_t ep_atomic32_post;
    uct_ep_atomic64_post_func_t ep_atomic64_post;
    uct_ep_atomic32_fetch_func_t ep_atomic32_fetch;
    uct_ep_atomic64_fetch_func_t ep_atomic64_fetch;
    uct_ep_tag_eager_short_func_t ep_tag_eager_short;
    uct_ep_tag_eager_bcopy_func_t ep_tag_eager_bcopy;
    uct_ep_tag_eager_zcopy_func_t ep_tag_eager_zcopy;
    uct_ep_tag_rndv_zcopy_func_t ep_tag_rndv_zcopy;
    uct_ep_tag_rndv_cancel_func_t ep_tag_rndv_cancel;
    uct_ep_tag_rndv_request_func_t ep_tag_rndv_request;
    uct_iface_tag_recv_zcopy_func_t iface_tag_recv_zcopy;
    uct_iface_tag_recv_cancel_func_t iface_tag_recv_cancel;
    uct_ep_pending_add_func_t ep_pending_add;
    uct_ep_pending_purge_func_t ep_pending_purge;
    uct_ep_flush_func_t ep_flush;
    uct_ep_fence_func_t ep_fence;
    uct_ep_check_func_t ep_check;
    uct_ep_create_func_t ep_create;
    uct_ep_connect_func_t ep_connect;
    uct_ep_disconnect_func_t ep_disconnect;
    uct_cm_ep_conn_notify_func_t cm_ep_conn_notify;
    uct_ep_destroy_func_t ep_destroy;
    uct_ep_get_address_func_t ep_get_address;
    uct_ep_connect_to_ep_func_t ep_connect_to_ep;
    uct_iface_accept_func_t iface_accept;
    uct_iface_reject_func_t iface_reject;
    uct_iface_flush_func_t iface_flush;
    uct_iface_fence_func_t iface_fence;
    uct_iface_progress_enable_func_t iface_progress_enable;
    uct_iface_progress_disable_func_t iface_progress_disable;
    uct_iface_progress_func_t iface_progress;
    uct_iface_event_fd_get_func_t iface_event_fd_get;
    uct_iface_event_arm_func_t iface_event_arm;
    uct_iface_close_func_t iface_close;
    uct_iface_query_func_t iface_query;
    uct_iface_get_device_address_func_t iface_get_device_address;
    uct_iface_get_address_func_t iface_get_address;
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

/** Releases the data at `desc`. */
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
