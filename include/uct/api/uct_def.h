/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCT_API_UCT_DEF_H
#define FERRUCX_UCT_API_UCT_DEF_H

#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** Number of active message ids. */
#define UCT_AM_ID_MAX UCS_BIT(UCT_AM_ID_BITS)
/** No memory handle. */
#define UCT_MEM_HANDLE_NULL NULL
/** No remote key. */
#define UCT_INVALID_RKEY UINTPTR_MAX
/** How the inline functions of this interface are declared. */
#define UCT_INLINE_API static UCS_F_ALWAYS_INLINE

/** Bytes of a component's name, with its NUL. */
#define UCT_COMPONENT_NAME_MAX 16

/** Bytes of a memory domain's global id. */
#define UCT_MD_GLOBAL_ID_MAX 256

/** Bytes of a transport's name, with its NUL. */
#define UCT_TL_NAME_MAX 10

/** Bytes of a memory domain's name, with its NUL. */
#define UCT_MD_NAME_MAX 16

/** Bytes of a device's name, with its NUL. */
#define UCT_DEVICE_NAME_MAX 32

/** Bytes of a pending request that belong to the transport. */
#define UCT_PENDING_REQ_PRIV_LEN 40

/** Bytes of a tag context that belong to the transport. */
#define UCT_TAG_PRIV_LEN 32

/** Bits of an active message's id. */
#define UCT_AM_ID_BITS 5

/** No dmabuf descriptor. */
#define UCT_DMABUF_FD_INVALID -1

/** What a tracer of active messages sees. */
enum uct_am_trace_type {
    /** A message that is sent. */
    UCT_AM_TRACE_TYPE_SEND = 0,
    /** A message that arrived. */
    UCT_AM_TRACE_TYPE_RECV = 1,
    /** A message that was thrown away before it was sent. */
    UCT_AM_TRACE_TYPE_SEND_DROP = 2,
    /** A message that was thrown away when it arrived. */
    UCT_AM_TRACE_TYPE_RECV_DROP = 3,
    /** Number of kinds. */
    UCT_AM_TRACE_TYPE_LAST = 4,
};

typedef enum uct_am_trace_type uct_am_trace_type_t;

/** Flags of an active message or a tagged fragment that arrived. */
enum uct_cb_param_flags {
    /**
     * The data may be kept: return UCS_INPROGRESS, and release it with
     * `uct_iface_release_desc`.
     */
    UCT_CB_PARAM_FLAG_DESC = UCS_BIT(0),
    /** First fragment of a tagged message. */
    UCT_CB_PARAM_FLAG_FIRST = UCS_BIT(1),
    /** Not the last fragment of a tagged message. */
    UCT_CB_PARAM_FLAG_MORE = UCS_BIT(2),
};

/** Members of `uct_cm_ep_priv_data_pack_args`. */
enum uct_cm_ep_priv_data_pack_args_field {
    /** `dev_name` is set. */
    UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME = UCS_BIT(0),
};

/** Members of `uct_cm_ep_resolve_args`. */
enum uct_cm_ep_resolve_args_field {
    /** `dev_name` is set. */
    UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME = UCS_BIT(0),
    /** `status` is set. */
    UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS = UCS_BIT(1),
};

/** Members of `uct_cm_remote_data`. */
enum uct_cm_remote_data_field {
    /** `dev_addr` is set. */
    UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR = UCS_BIT(0),
    /** `dev_addr_length` is set. */
    UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH = UCS_BIT(1),
    /** `conn_priv_data` is set. */
    UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA = UCS_BIT(2),
    /** `conn_priv_data_length` is set. */
    UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH = UCS_BIT(3),
};

/** Members of `uct_cm_listener_conn_request_args`. */
enum uct_cm_listener_conn_request_args_field {
    /** `dev_name` is set. */
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME = UCS_BIT(0),
    /** `conn_request` is set. */
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST = UCS_BIT(1),
    /** `remote_data` is set. */
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA = UCS_BIT(2),
    /** `client_address` is set. */
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR = UCS_BIT(3),
};

/** Members of `uct_cm_ep_client_connect_args`. */
enum uct_cm_ep_client_connect_args_field {
    /** `remote_data` is set. */
    UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA = UCS_BIT(0),
    /** `status` is set. */
    UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS = UCS_BIT(1),
};

/** Members of `uct_cm_ep_server_conn_notify_args`. */
enum uct_cm_ep_server_conn_notify_args_field {
    /** `status` is set. */
    UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS = UCS_BIT(0),
};

/** A connection manager. */
struct uct_cm;

/** Options of a connection manager. */
struct uct_cm_config;

/** A family of transports that share memory registration. */
struct uct_component;

/** Address of a device; `device_addr_len` bytes. */
struct uct_device_addr;

/** Address of an endpoint; `ep_addr_len` bytes. */
struct uct_ep_addr;

/** What is known of an endpoint. */
struct uct_ep_attr;

/** Address of an interface; `iface_addr_len` bytes. */
struct uct_iface_addr;

/** Options of an interface. */
struct uct_iface_config;

/** A memory domain. */
struct uct_md;

/** Options of a memory domain. */
struct uct_md_config;

/** Operations of a memory domain. */
struct uct_md_ops;

/** A component, from `uct_query_components`. */
typedef struct uct_component *uct_component_h;

/** An interface: one opened transport on one device. */
typedef struct uct_iface *uct_iface_h;

typedef struct uct_iface_config uct_iface_config_t;
typedef struct uct_md_config uct_md_config_t;
typedef struct uct_cm_config uct_cm_config_t;

/** An endpoint: a way to one remote interface. */
typedef struct uct_ep *uct_ep_h;

/** A memory domain: what memory is registered with. */
typedef struct uct_md *uct_md_h;

typedef struct uct_md_ops uct_md_ops_t;
typedef struct uct_iface_attr uct_iface_attr_t;
typedef struct uct_iface_params uct_iface_params_t;
typedef struct uct_ep_attr uct_ep_attr_t;
typedef struct uct_md_attr uct_md_attr_t;
typedef struct uct_completion uct_completion_t;
typedef struct uct_pending_req uct_pending_req_t;

/** A worker: what drives interfaces. */
typedef struct uct_worker *uct_worker_h;

typedef struct uct_md uct_md_t;
typedef struct uct_device_addr uct_device_addr_t;
typedef struct uct_iface_addr uct_iface_addr_t;
typedef struct uct_ep_addr uct_ep_addr_t;
typedef struct uct_ep_params uct_ep_params_t;
typedef struct uct_ep_connect_params uct_ep_connect_params_t;
typedef struct uct_cm_attr uct_cm_attr_t;
typedef struct uct_cm uct_cm_t;
typedef struct uct_listener_attr uct_listener_attr_t;

/** A socket that accepts clients. */
typedef struct uct_listener *uct_listener_h;

typedef struct uct_listener_params uct_listener_params_t;
typedef struct uct_tag_context uct_tag_context_t;

/** An endpoint for device code. */
typedef struct uct_device_ep *uct_device_ep_h;

typedef union uct_device_mem_elem uct_device_mem_elem_t;

typedef struct uct_device_local_mem_elem uct_device_local_mem_elem_t;
typedef struct uct_device_remote_tl_elem uct_device_remote_tl_elem_t;
typedef struct uct_device_remote_mem_elem uct_device_remote_mem_elem_t;
typedef struct uct_iov uct_iov_t;
typedef struct uct_cm_ep_priv_data_pack_args uct_cm_ep_priv_data_pack_args_t;
typedef struct uct_cm_ep_resolve_args uct_cm_ep_resolve_args_t;
typedef struct uct_cm_remote_data uct_cm_remote_data_t;
typedef struct uct_cm_listener_conn_request_args uct_cm_listener_conn_request_args_t;
typedef struct uct_cm_ep_client_connect_args uct_cm_ep_client_connect_args_t;
typedef struct uct_cm_ep_server_conn_notify_args uct_cm_ep_server_conn_notify_args_t;

/** A registration of memory, in a memory domain. */
typedef void *uct_mem_h;

/** Access to memory of a peer. */
typedef size_t uct_rkey_t;

/** What belongs to an unpacked remote key. */
typedef void *uct_rkey_ctx_h;

/** A connection manager: what connects by socket addresses. */
typedef uct_cm_t *uct_cm_h;

/** A tag: 64 bits that sender and receiver compare. */
typedef uint64_t uct_tag_t;

/** A callback that a worker calls; UCS_CALLBACKQ_ID_NULL for none. */
typedef int uct_worker_cb_id_t;

/** A client that waits for a server's answer. */
typedef void *uct_conn_request_h;

/** One piece of a zero-copy operation. */
struct uct_iov {
    /** Start. */
    void *buffer;
    /** Bytes. */
    size_t length;
    /** Registration of the memory; UCT_MEM_HANDLE_NULL where the domain needs none. */
    uct_mem_h memh;
    /** Bytes from one repetition to the next; 0 for one piece. */
    size_t stride;
    /** Repetitions. */
    unsigned int count;
};

/** What a callback that packs private data is told. */
struct uct_cm_ep_priv_data_pack_args {
    /** Members that are set, bits of `uct_cm_ep_priv_data_pack_args_field`. */
    uint64_t field_mask;
    /** Device that will be used. */
    char dev_name[UCT_DEVICE_NAME_MAX];
};

/** What a callback learns when a server's address was resolved. */
struct uct_cm_ep_resolve_args {
    /** Members that are set, bits of `uct_cm_ep_resolve_args_field`. */
    uint64_t field_mask;
    /** Device that will be used. */
    char dev_name[UCT_DEVICE_NAME_MAX];
    /** Whether it was resolved. */
    ucs_status_t status;
};

/** What the other side of a connection sent. Lives for the call of a callback. */
struct uct_cm_remote_data {
    /** Members that are set, bits of `uct_cm_remote_data_field`. */
    uint64_t field_mask;
    /** Address of its device. */
    const uct_device_addr_t *dev_addr;
    /** Bytes of that. */
    size_t dev_addr_length;
    /** Private data. */
    const void *conn_priv_data;
    /** Bytes of that. */
    size_t conn_priv_data_length;
};

/** What a listener's callback is told of a client. */
struct uct_cm_listener_conn_request_args {
    /** Members that are set, bits of `uct_cm_listener_conn_request_args_field`. */
    uint64_t field_mask;
    /** Local device. */
    char dev_name[UCT_DEVICE_NAME_MAX];
    /** The request: for `uct_ep_create` or `uct_listener_reject`. */
    uct_conn_request_h conn_request;
    /** What the client sent. */
    const uct_cm_remote_data_t *remote_data;
    /** Its socket. */
    ucs_sock_addr_t client_address;
};

/** What a client learns of the server's answer. */
struct uct_cm_ep_client_connect_args {
    /** Members that are set, bits of `uct_cm_ep_client_connect_args_field`. */
    uint64_t field_mask;
    /** What the server sent. */
    const uct_cm_remote_data_t *remote_data;
    /** UCS_ERR_REJECTED: refused; UCS_ERR_UNREACHABLE, UCS_ERR_NOT_CONNECTED: nobody there. */
    ucs_status_t status;
};

/** What a server learns of the client's last step. */
struct uct_cm_ep_server_conn_notify_args {
    /** Members that are set, bits of `uct_cm_ep_server_conn_notify_args_field`. */
    uint64_t field_mask;
    /** Whether the connection stands. */
    ucs_status_t status;
};

/**
 * Gets an active message.
 *
 * @param[in] arg As it was given with the handler.
 * @param[in] data The message; valid during the call unless it is kept.
 * @param[in] length Its bytes.
 * @param[in] flags Bits of `uct_cb_param_flags`.
 * @return UCS_OK: done with `data`. UCS_INPROGRESS: kept until `uct_iface_release_desc`;
 *   allowed with UCT_CB_PARAM_FLAG_DESC only.
 */
typedef ucs_status_t (*uct_am_callback_t)(void *arg,
                                          void *data,
                                          size_t length,
                                          unsigned int flags);

/**
 * Writes a line on an active message.
 *
 * @param[in] arg As it was given with the tracer.
 * @param[in] type What happened to the message.
 * @param[in] id Its number.
 * @param[in] data Its bytes; valid during the call.
 * @param[in] length Their number.
 * @param[out] buffer Gets the line with its NUL.
 * @param[in] max Bytes of `buffer`.
 */
typedef void (*uct_am_tracer_t)(void *arg,
                                uct_am_trace_type_t type,
                                uint8_t id,
                                const void *data,
                                size_t length,
                                char *buffer,
                                size_t max);

/**
 * Called when the count of a completion reaches 0.
 *
 * @param[in] self The completion, which may be freed here.
 */
typedef void (*uct_completion_callback_t)(uct_completion_t *self);

/**
 * Tries a queued request again.
 *
 * @param[in] self The request.
 * @return UCS_OK: done, it leaves the queue. Anything else: it stays.
 */
typedef ucs_status_t (*uct_pending_callback_t)(uct_pending_req_t *self);

/**
 * Tells that an endpoint failed. It is to be destroyed, which may happen here.
 *
 * @param[in] arg As it was given with the interface.
 * @param[in] ep The endpoint.
 * @param[in] status The reason.
 * @return UCS_OK; the answer is not used here.
 */
typedef ucs_status_t (*uct_error_handler_t)(void *arg, uct_ep_h ep, ucs_status_t status);

/**
 * Gets each request that is taken off a queue.
 *
 * @param[in] self The request, the caller's again.
 * @param[in] arg As it was given to `uct_ep_pending_purge`.
 */
typedef void (*uct_pending_purge_callback_t)(uct_pending_req_t *self, void *arg);

/**
 * Writes the data of a message.
 *
 * @param[out] dest Buffer of the transport, as large as the operation allows.
 * @param[in] arg As it was given to the operation.
 * @return Bytes that were written.
 */
typedef size_t (*uct_pack_callback_t)(void *dest, void *arg);

/**
 * Reads data that arrived; it is gone afterwards.
 *
 * @param[in] arg As it was given to the operation.
 * @param[in] data The bytes; valid during the call.
 * @param[in] length Their number.
 */
typedef void (*uct_unpack_callback_t)(void *arg, const void *data, size_t length);

/**
 * Hands over the request of a client, old style.
 *
 * @param[in] iface The interface.
 * @param[in] arg As it was given with the interface.
 * @param[in] conn_request The request.
 * @param[in] conn_priv_data Data of the client; valid during the call.
 * @param[in] length Its bytes.
 */
typedef void (*uct_sockaddr_conn_request_callback_t)(uct_iface_h iface,
                                                     void *arg,
                                                     uct_conn_request_h conn_request,
                                                     const void *conn_priv_data,
                                                     size_t length);

/**
 * Hands over the request of a client, which the callee has to answer.
 *
 * @param[in] listener The listener.
 * @param[in] arg As it was given with the listener.
 * @param[in] conn_req_args The request and what the client sent; valid during the call.
 */
typedef void (*uct_cm_listener_conn_request_callback_t)(uct_listener_h listener,
                                                        void *arg,
                                                        const uct_cm_listener_conn_request_args_t *conn_req_args);

/**
 * Tells a server that the client finished connecting.
 *
 * @param[in] ep The server's endpoint.
 * @param[in] arg As it was given with the endpoint.
 * @param[in] connect_args Whether the connection stands; valid during the call.
 */
typedef void (*uct_cm_ep_server_conn_notify_callback_t)(uct_ep_h ep,
                                                        void *arg,
                                                        const uct_cm_ep_server_conn_notify_args_t *connect_args);

/**
 * Tells a client that the server answered.
 *
 * @param[in] ep The client's endpoint.
 * @param[in] arg As it was given with the endpoint.
 * @param[in] connect_args The answer; valid during the call.
 */
typedef void (*uct_cm_ep_client_connect_callback_t)(uct_ep_h ep,
                                                    void *arg,
                                                    const uct_cm_ep_client_connect_args_t *connect_args);

/**
 * Tells that the other side disconnected.
 *
 * @param[in] ep The endpoint.
 * @param[in] arg As it was given with the endpoint.
 */
typedef void (*uct_ep_disconnect_cb_t)(uct_ep_h ep, void *arg);

/**
 * Writes private data for the other side.
 *
 * @param[in] arg As it was given with the endpoint.
 * @param[in] pack_args The device; valid during the call.
 * @param[out] priv_data Room for `max_conn_priv` bytes of the connection manager's attributes.
 * @return Bytes that were written, or a negative status, which ends the connection.
 */
typedef ssize_t (*uct_cm_ep_priv_data_pack_callback_t)(void *arg,
                                                       const uct_cm_ep_priv_data_pack_args_t *pack_args,
                                                       void *priv_data);

/**
 * Tells that a server's address was resolved.
 *
 * @param[in] user_data As it was given with the endpoint.
 * @param[in] resolve_args Device and status; valid during the call.
 * @return UCS_OK, or an error, which ends the connection.
 */
typedef ucs_status_t (*uct_cm_ep_resolve_callback_t)(void *user_data,
                                                     const uct_cm_ep_resolve_args_t *resolve_args);

/**
 * Gets a tagged message, or a fragment of one, that no receive waits for.
 *
 * @param[in] arg As it was given with the interface.
 * @param[in] data The bytes; valid during the call unless they are kept.
 * @param[in] length Their number.
 * @param[in] flags Bits of `uct_cb_param_flags`.
 * @param[in] stag Tag of the sender.
 * @param[in] imm Number that the sender gave.
 * @param[in,out] context A word for the fragments of one message, the same for each.
 * @return UCS_OK: done with `data`. UCS_INPROGRESS: kept until `uct_iface_release_desc`;
 *   allowed with UCT_CB_PARAM_FLAG_DESC only.
 */
typedef ucs_status_t (*uct_tag_unexp_eager_cb_t)(void *arg,
                                                 void *data,
                                                 size_t length,
                                                 unsigned int flags,
                                                 uct_tag_t stag,
                                                 uint64_t imm,
                                                 void **context);

/**
 * Gets the offer of a tagged message that no receive waits for.
 *
 * @param[in] arg As it was given with the interface.
 * @param[in] flags Bits of `uct_cb_param_flags`.
 * @param[in] stag Tag of the sender.
 * @param[in] header Header of the sender; valid during the call unless it is kept.
 * @param[in] header_length Its bytes.
 * @param[in] remote_addr Address of the message in the sender's memory; 0 when only software can
 *   move it.
 * @param[in] length Bytes of the message.
 * @param[in] rkey_buf Packed key to it; NULL when there is none.
 * @return UCS_OK: done with `header`. UCS_INPROGRESS: kept until `uct_iface_release_desc`;
 *   allowed with UCT_CB_PARAM_FLAG_DESC only.
 */
typedef ucs_status_t (*uct_tag_unexp_rndv_cb_t)(void *arg,
                                                unsigned int flags,
                                                uint64_t stag,
                                                const void *header,
                                                unsigned int header_length,
                                                uint64_t remote_addr,
                                                size_t length,
                                                const void *rkey_buf);

/**
 * Tells of events without a call of the worker. Called by another thread.
 *
 * @param[in] arg As it was given with the interface.
 * @param[in] flags Bits of `uct_iface_event_types`.
 */
typedef void (*uct_async_event_cb_t)(void *arg, unsigned int flags);

END_C_DECLS

#endif
