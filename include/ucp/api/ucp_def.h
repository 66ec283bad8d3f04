/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCP_API_UCP_DEF_H
#define FERRUCX_UCP_API_UCP_DEF_H

#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** No remote address. */
#define UCP_REMOTE_ADDR_INVALID UINT64_MAX
/** No remote key. */
#define UCP_RKEY_INVALID NULL

/** Bytes of a name of a context, a worker or an endpoint, with its NUL. */
#define UCP_ENTITY_NAME_MAX 32

/** What an endpoint promises when its peer fails. */
enum ucp_err_handling_mode_t {
    /** Nothing: operations may hang. */
    UCP_ERR_HANDLING_MODE_NONE = 0,
    /** Operations fail, and the error handler is called. */
    UCP_ERR_HANDLING_MODE_PEER = 1,
    /** The same, after other paths to the peer were tried. */
    UCP_ERR_HANDLING_MODE_FAILOVER = 2,
};

typedef enum ucp_err_handling_mode_t ucp_err_handling_mode_t;

/** Members of `ucp_mem_attr`. */
enum ucp_mem_attr_field {
    /** `address` is wanted. */
    UCP_MEM_ATTR_FIELD_ADDRESS = UCS_BIT(0),
    /** `length` is wanted. */
    UCP_MEM_ATTR_FIELD_LENGTH = UCS_BIT(1),
    /** `mem_type` is wanted. */
    UCP_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(2),
};

/** Events that a worker's descriptor reports. */
enum ucp_wakeup_event_types {
    /** Remote memory access. */
    UCP_WAKEUP_RMA = UCS_BIT(0),
    /** Atomics. */
    UCP_WAKEUP_AMO = UCS_BIT(1),
    /** Tagged sends that end. */
    UCP_WAKEUP_TAG_SEND = UCS_BIT(2),
    /** Tagged receives that end. */
    UCP_WAKEUP_TAG_RECV = UCS_BIT(3),
    /** Anything that is sent. */
    UCP_WAKEUP_TX = UCS_BIT(10),
    /** Anything that arrives. */
    UCP_WAKEUP_RX = UCS_BIT(11),
    /** Report an event once, not for as long as it is unread. */
    UCP_WAKEUP_EDGE = UCS_BIT(16),
};

typedef enum ucp_wakeup_event_types ucp_wakeup_event_t;

/** An address of a worker, in a format of the library. It holds its own length. */
struct ucp_address;

/** Options read by `ucp_config_read`. */
struct ucp_config;

/** A client that waits for a server's answer. */
struct ucp_conn_request;

/** The library as one application uses it. */
struct ucp_context;

/** Memory of this process for device code. */
struct ucp_device_local_mem_list;

/** Memory of peers for device code. */
struct ucp_device_remote_mem_list;

/** A connection to one remote worker. */
struct ucp_ep;

/** A socket that accepts clients. */
struct ucp_listener;

/** Memory known to the library. */
struct ucp_mem;

/** A message that arrived and waits for its receive. */
struct ucp_recv_desc;

/** Access to memory of a peer. */
struct ucp_rkey;

/** An engine that moves messages, with its own set of connections. */
struct ucp_worker;

typedef struct ucp_tag_recv_info ucp_tag_recv_info_t;
typedef struct ucp_am_recv_param ucp_am_recv_param_t;

/** A context; `ucp_init` makes it, `ucp_cleanup` frees it. */
typedef struct ucp_context *ucp_context_h;

typedef struct ucp_config ucp_config_t;

/** An endpoint; it belongs to the worker that made it. */
typedef struct ucp_ep *ucp_ep_h;

/**
 * A connection request: to be accepted by `ucp_ep_create` or refused by `ucp_listener_reject`,
 * once.
 */
typedef struct ucp_conn_request *ucp_conn_request_h;

typedef struct ucp_address ucp_address_t;

/** A remote key; `ucp_rkey_destroy` frees it. */
typedef struct ucp_rkey *ucp_rkey_h;

/** A memory handle of `ucp_mem_map`; `ucp_mem_unmap` frees it. */
typedef struct ucp_mem *ucp_mem_h;

/** A listener; `ucp_listener_destroy` frees it. */
typedef struct ucp_listener *ucp_listener_h;

typedef struct ucp_mem_attr ucp_mem_attr_t;

/** A worker; `ucp_worker_destroy` frees it. */
typedef struct ucp_worker *ucp_worker_h;

/** A message taken by a probe; `ucp_tag_msg_recv_nbx` receives it. */
typedef struct ucp_recv_desc *ucp_tag_message_h;

typedef struct ucp_err_handler ucp_err_handler_t;
typedef struct ucp_listener_conn_handler ucp_listener_conn_handler_t;
typedef struct ucp_ep_params ucp_ep_params_t;
typedef struct ucp_transport_entry_t ucp_transport_entry_t;
typedef struct ucp_transports_t ucp_transports_t;

/** A list of local memory. */
typedef struct ucp_device_local_mem_list *ucp_device_local_mem_list_h;

/** A list of remote memory. */
typedef struct ucp_device_remote_mem_list *ucp_device_remote_mem_list_h;

/** What `ucp_mem_query` tells. */
struct ucp_mem_attr {
    /** In: members to fill, bits of `ucp_mem_attr_field`. */
    uint64_t field_mask;
    /** Start of the memory. */
    void *address;
    /** Bytes. */
    size_t length;
    /** Kind of the memory. */
    ucs_memory_type_t mem_type;
};

/** A tag: 64 bits that sender and receiver compare. */
typedef uint64_t ucp_tag_t;

/**
 * How a buffer is laid out: one of `ucp_dt_make_contig`, `ucp_dt_make_iov`, `ucp_dt_make_sgl`, or
 * a result of `ucp_dt_create_generic`. The three low bits are the class.
 */
typedef uint64_t ucp_datatype_t;

/**
 * Prepares the caller's part of a new request; once in the life of its memory, not for each
 * operation.
 *
 * @param[in] request The caller's `request_size` bytes of the request.
 */
typedef void (*ucp_request_init_callback_t)(void *request);

/**
 * Undoes what the init callback did, before the memory goes.
 *
 * @param[in] request The caller's `request_size` bytes of the request.
 */
typedef void (*ucp_request_cleanup_callback_t)(void *request);

/**
 * Tells the end of an old-style send.
 *
 * @param[in] request The request; `ucp_request_free` may be called here.
 * @param[in] status UCS_OK or an error.
 */
typedef void (*ucp_send_callback_t)(void *request, ucs_status_t status);

/**
 * Tells the end of a send or of another operation without result.
 *
 * @param[in] request The request; `ucp_request_free` may be called here.
 * @param[in] status UCS_OK or an error.
 * @param[in] user_data As it was given in the parameters.
 */
typedef void (*ucp_send_nbx_callback_t)(void *request,
                                        ucs_status_t status,
                                        void *user_data);

/**
 * Tells that the peer of an endpoint failed. The endpoint is to be closed, which may happen here.
 *
 * @param[in] arg As it was given with the handler, or the endpoint's user data.
 * @param[in] ep The endpoint, already failed.
 * @param[in] status The reason, such as UCS_ERR_CONNECTION_RESET or UCS_ERR_ENDPOINT_TIMEOUT.
 */
typedef void (*ucp_err_handler_cb_t)(void *arg, ucp_ep_h ep, ucs_status_t status);

/** An error handler and its argument. */
struct ucp_err_handler {
    /** The handler. */
    ucp_err_handler_cb_t cb;
    /** Its first argument; the endpoint's `user_data` where that is given. */
    void *arg;
};

/**
 * Hands over the endpoint of a new client.
 *
 * @param[in] ep Endpoint to the client; the callee's to close.
 * @param[in] arg As it was given with the handler.
 */
typedef void (*ucp_listener_accept_callback_t)(ucp_ep_h ep, void *arg);

/**
 * Hands over the request of a new client, which the callee has to answer.
 *
 * @param[in] conn_request To be passed to `ucp_ep_create` or `ucp_listener_reject`, here or later.
 * @param[in] arg As it was given with the handler.
 */
typedef void (*ucp_listener_conn_callback_t)(ucp_conn_request_h conn_request, void *arg);

/** A handler of new clients and its argument. */
struct ucp_listener_conn_handler {
    /** The handler. */
    ucp_listener_conn_callback_t cb;
    /** Its last argument. */
    void *arg;
};

/**
 * Tells the end of an old-style stream receive, with the bytes received.
 *
 * @param[in] request The request; `ucp_request_free` may be called here.
 * @param[in] status UCS_OK or an error.
 * @param[in] length Bytes received.
 */
typedef void (*ucp_stream_recv_callback_t)(void *request,
                                           ucs_status_t status,
                                           size_t length);

/**
 * Tells the end of a stream receive, with the bytes received.
 *
 * @param[in] request The request; `ucp_request_free` may be called here.
 * @param[in] status UCS_OK or an error.
 * @param[in] length Bytes received.
 * @param[in] user_data As it was given in the parameters.
 */
typedef void (*ucp_stream_recv_nbx_callback_t)(void *request,
                                               ucs_status_t status,
                                               size_t length,
                                               void *user_data);

/**
 * Tells the end of an old-style tagged receive. `info` lives for the call.
 *
 * @param[in] request The request; `ucp_request_free` may be called here.
 * @param[in] status UCS_OK or an error.
 * @param[in] info Tag and bytes of the message; valid during the call.
 */
typedef void (*ucp_tag_recv_callback_t)(void *request,
                                        ucs_status_t status,
                                        ucp_tag_recv_info_t *info);

/**
 * Tells the end of a tagged receive. `tag_info` lives for the call.
 *
 * @param[in] request The request; `ucp_request_free` may be called here.
 * @param[in] status UCS_OK or an error.
 * @param[in] tag_info Tag and bytes of the message; valid during the call.
 * @param[in] user_data As it was given in the parameters.
 */
typedef void (*ucp_tag_recv_nbx_callback_t)(void *request,
                                            ucs_status_t status,
                                            const ucp_tag_recv_info_t *tag_info,
                                            void *user_data);

/**
 * Tells the end of the fetch of an active message's data, with the bytes received.
 *
 * @param[in] request The request; `ucp_request_free` may be called here.
 * @param[in] status UCS_OK or an error.
 * @param[in] length Bytes received.
 * @param[in] user_data As it was given in the parameters.
 */
typedef void (*ucp_am_recv_data_nbx_callback_t)(void *request,
                                                ucs_status_t status,
                                                size_t length,
                                                void *user_data);

/**
 * Gets an old-style active message.
 *
 * @param[in] arg As it was given with the handler.
 * @param[in] data The message; valid during the call unless it is kept.
 * @param[in] length Its bytes.
 * @param[in] reply_ep Endpoint to the sender; NULL if the sender did not ask for it.
 * @param[in] flags Bits of `ucp_cb_param_flags`.
 * @return UCS_OK: done with `data`. UCS_INPROGRESS: kept until `ucp_am_data_release`; allowed
 *   with UCP_CB_PARAM_FLAG_DATA only.
 */
typedef ucs_status_t (*ucp_am_callback_t)(void *arg,
                                          void *data,
                                          size_t length,
                                          ucp_ep_h reply_ep,
                                          unsigned int flags);

/**
 * Gets an active message.
 *
 * @param[in] arg As it was given with the handler.
 * @param[in] header Header of the sender; valid during the call.
 * @param[in] header_length Its bytes.
 * @param[in] data The message, or with UCP_AM_RECV_ATTR_FLAG_RNDV a descriptor that
 *   `ucp_am_recv_data_nbx` fetches it with; valid during the call unless it is kept.
 * @param[in] length Bytes of the message.
 * @param[in] param Which of the two, and the endpoint to the sender; valid during the call.
 * @return UCS_OK: done. UCS_INPROGRESS: `data` is kept until `ucp_am_recv_data_nbx` or
 *   `ucp_am_data_release`; allowed with UCP_AM_RECV_ATTR_FLAG_DATA or _RNDV only.
 */
typedef ucs_status_t (*ucp_am_recv_callback_t)(void *arg,
                                               const void *header,
                                               size_t header_length,
                                               void *data,
                                               size_t length,
                                               const ucp_am_recv_param_t *param);

/**
 * How `ucp_ep_create` connects: to a worker's address, to a server's socket, or to a waiting
 * client.
 */
struct ucp_ep_params {
    /** Members that are set, bits of `ucp_ep_params_field`. */
    uint64_t field_mask;
    /** Address of the remote worker. */
    const ucp_address_t *address;
    /** What happens when the peer fails; UCP_ERR_HANDLING_MODE_NONE when not set. */
    ucp_err_handling_mode_t err_mode;
    /** Called when the peer failed. */
    ucp_err_handler_t err_handler;
    /** Passed to the error handler. */
    void *user_data;
    /** Bits of `ucp_ep_params_flags_field`. */
    unsigned int flags;
    /** Socket of a server; needs UCP_EP_PARAMS_FLAGS_CLIENT_SERVER. */
    ucs_sock_addr_t sockaddr;
    /** A waiting client, from a listener of the same worker. */
    ucp_conn_request_h conn_request;
    /** Name for messages; NUL-terminated, copied. */
    const char *name;
    /** Socket to bind before connecting. */
    ucs_sock_addr_t local_sockaddr;
};

/** One transport of an endpoint. */
struct ucp_transport_entry_t {
    /** Name of the transport; lives as long as the endpoint. */
    const char *transport_name;
    /** Name of its device; lives as long as the endpoint. */
    const char *device_name;
};

/** A list, in memory of the caller, that `ucp_ep_query` fills. */
struct ucp_transports_t {
    /** The entries. */
    ucp_transport_entry_t *entries;
    /** In: entries that fit; out: entries that were filled. */
    unsigned int num_entries;
    /** In: bytes of one entry, as the caller was compiled with. */
    size_t entry_size;
};

END_C_DECLS

#endif
