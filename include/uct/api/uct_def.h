/* Written from the Rust sources by `make headers`: change those, not this file. */
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

#define UCT_COMPONENT_NAME_MAX 16
#define UCT_MD_GLOBAL_ID_MAX 256
#define UCT_TL_NAME_MAX 10
#define UCT_MD_NAME_MAX 16
#define UCT_DEVICE_NAME_MAX 32
#define UCT_PENDING_REQ_PRIV_LEN 40
#define UCT_TAG_PRIV_LEN 32
#define UCT_AM_ID_BITS 5
#define UCT_DMABUF_FD_INVALID -1

enum uct_am_trace_type {
    UCT_AM_TRACE_TYPE_SEND = 0,
    UCT_AM_TRACE_TYPE_RECV = 1,
    UCT_AM_TRACE_TYPE_SEND_DROP = 2,
    UCT_AM_TRACE_TYPE_RECV_DROP = 3,
    UCT_AM_TRACE_TYPE_LAST = 4,
};

typedef enum uct_am_trace_type uct_am_trace_type_t;

enum uct_cb_param_flags {
    UCT_CB_PARAM_FLAG_DESC = UCS_BIT(0),
    UCT_CB_PARAM_FLAG_FIRST = UCS_BIT(1),
    UCT_CB_PARAM_FLAG_MORE = UCS_BIT(2),
};

enum uct_cm_ep_priv_data_pack_args_field {
    UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME = UCS_BIT(0),
};

enum uct_cm_ep_resolve_args_field {
    UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME = UCS_BIT(0),
    UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS = UCS_BIT(1),
};

enum uct_cm_remote_data_field {
    UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR = UCS_BIT(0),
    UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH = UCS_BIT(1),
    UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA = UCS_BIT(2),
    UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH = UCS_BIT(3),
};

enum uct_cm_listener_conn_request_args_field {
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME = UCS_BIT(0),
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST = UCS_BIT(1),
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA = UCS_BIT(2),
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR = UCS_BIT(3),
};

enum uct_cm_ep_client_connect_args_field {
    UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA = UCS_BIT(0),
    UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS = UCS_BIT(1),
};

enum uct_cm_ep_server_conn_notify_args_field {
    UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS = UCS_BIT(0),
};

struct uct_cm;
struct uct_cm_config;
struct uct_component;
struct uct_device_addr;
struct uct_ep_addr;
struct uct_ep_attr;
struct uct_iface_addr;
struct uct_iface_config;
struct uct_md;
struct uct_md_config;
struct uct_md_ops;

typedef struct uct_component *uct_component_h;
typedef struct uct_iface *uct_iface_h;
typedef struct uct_iface_config uct_iface_config_t;
typedef struct uct_md_config uct_md_config_t;
typedef struct uct_cm_config uct_cm_config_t;
typedef struct uct_ep *uct_ep_h;
typedef struct uct_md *uct_md_h;
typedef struct uct_md_ops uct_md_ops_t;
typedef struct uct_iface_attr uct_iface_attr_t;
typedef struct uct_iface_params uct_iface_params_t;
typedef struct uct_ep_attr uct_ep_attr_t;
typedef struct uct_md_attr uct_md_attr_t;
typedef struct uct_completion uct_completion_t;
typedef struct uct_pending_req uct_pending_req_t;
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
typedef struct uct_listener *uct_listener_h;
typedef struct uct_listener_params uct_listener_params_t;
typedef struct uct_tag_context uct_tag_context_t;
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

typedef void *uct_mem_h;

typedef size_t uct_rkey_t;

typedef void *uct_rkey_ctx_h;

typedef uct_cm_t *uct_cm_h;

typedef uint64_t uct_tag_t;

typedef int uct_worker_cb_id_t;

typedef void *uct_conn_request_h;

struct uct_iov {
    void *buffer;
    size_t length;
    uct_mem_h memh;
    size_t stride;
    unsigned int count;
};

struct uct_cm_ep_priv_data_pack_args {
    uint64_t field_mask;
    char dev_name[32];
};

struct uct_cm_ep_resolve_args {
    uint64_t field_mask;
    char dev_name[32];
    ucs_status_t status;
};

struct uct_cm_remote_data {
    uint64_t field_mask;
    const uct_device_addr_t *dev_addr;
    size_t dev_addr_length;
    const void *conn_priv_data;
    size_t conn_priv_data_length;
};

struct uct_cm_listener_conn_request_args {
    uint64_t field_mask;
    char dev_name[32];
    uct_conn_request_h conn_request;
    const uct_cm_remote_data_t *remote_data;
    ucs_sock_addr_t client_address;
};

struct uct_cm_ep_client_connect_args {
    uint64_t field_mask;
    const uct_cm_remote_data_t *remote_data;
    ucs_status_t status;
};

struct uct_cm_ep_server_conn_notify_args {
    uint64_t field_mask;
    ucs_status_t status;
};

typedef ucs_status_t (*uct_am_callback_t)(void *arg,
                                          void *data,
                                          size_t length,
                                          unsigned int flags);

typedef void (*uct_am_tracer_t)(void *arg,
                                uct_am_trace_type_t type,
                                uint8_t id,
                                const void *data,
                                size_t length,
                                char *buffer,
                                size_t max);

typedef void (*uct_completion_callback_t)(uct_completion_t *self);

typedef ucs_status_t (*uct_pending_callback_t)(uct_pending_req_t *self);

typedef ucs_status_t (*uct_error_handler_t)(void *arg, uct_ep_h ep, ucs_status_t status);

typedef void (*uct_pending_purge_callback_t)(uct_pending_req_t *self, void *arg);

typedef size_t (*uct_pack_callback_t)(void *dest, void *arg);

typedef void (*uct_unpack_callback_t)(void *arg, const void *data, size_t length);

typedef void (*uct_sockaddr_conn_request_callback_t)(uct_iface_h iface,
                                                     void *arg,
                                                     uct_conn_request_h conn_request,
                                                     const void *conn_priv_data,
                                                     size_t length);

typedef void (*uct_cm_listener_conn_request_callback_t)(uct_listener_h listener,
                                                        void *arg,
                                                        const uct_cm_listener_conn_request_args_t *conn_req_args);

typedef void (*uct_cm_ep_server_conn_notify_callback_t)(uct_ep_h ep,
                                                        void *arg,
                                                        const uct_cm_ep_server_conn_notify_args_t *connect_args);

typedef void (*uct_cm_ep_client_connect_callback_t)(uct_ep_h ep,
                                                    void *arg,
                                                    const uct_cm_ep_client_connect_args_t *connect_args);

typedef void (*uct_ep_disconnect_cb_t)(uct_ep_h ep, void *arg);

typedef ssize_t (*uct_cm_ep_priv_data_pack_callback_t)(void *arg,
                                                         const uct_cm_ep_priv_data_pack_args_t *pack_args,
                                                         void *priv_data);

typedef ucs_status_t (*uct_cm_ep_resolve_callback_t)(void *user_data,
                                                     const uct_cm_ep_resolve_args_t *resolve_args);

typedef ucs_status_t (*uct_tag_unexp_eager_cb_t)(void *arg,
                                                 void *data,
                                                 size_t length,
                                                 unsigned int flags,
                                                 uct_tag_t stag,
                                                 uint64_t imm,
                                                 void **context);

typedef ucs_status_t (*uct_tag_unexp_rndv_cb_t)(void *arg,
                                                unsigned int flags,
                                                uint64_t stag,
                                                const void *header,
                                                unsigned int header_length,
                                                uint64_t remote_addr,
                                                size_t length,
                                                const void *rkey_buf);

typedef void (*uct_async_event_cb_t)(void *arg, unsigned int flags);

END_C_DECLS

#endif
