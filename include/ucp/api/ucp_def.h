/* Written from the Rust sources by `make headers`: change those, not this file. */
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

#define UCP_ENTITY_NAME_MAX 32

enum ucp_err_handling_mode_t {
    UCP_ERR_HANDLING_MODE_NONE = 0,
    UCP_ERR_HANDLING_MODE_PEER = 1,
    UCP_ERR_HANDLING_MODE_FAILOVER = 2,
};

typedef enum ucp_err_handling_mode_t ucp_err_handling_mode_t;

enum ucp_mem_attr_field {
    UCP_MEM_ATTR_FIELD_ADDRESS = UCS_BIT(0),
    UCP_MEM_ATTR_FIELD_LENGTH = UCS_BIT(1),
    UCP_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(2),
};

enum ucp_wakeup_event_types {
    UCP_WAKEUP_RMA = UCS_BIT(0),
    UCP_WAKEUP_AMO = UCS_BIT(1),
    UCP_WAKEUP_TAG_SEND = UCS_BIT(2),
    UCP_WAKEUP_TAG_RECV = UCS_BIT(3),
    UCP_WAKEUP_TX = UCS_BIT(10),
    UCP_WAKEUP_RX = UCS_BIT(11),
    UCP_WAKEUP_EDGE = UCS_BIT(16),
};

typedef enum ucp_wakeup_event_types ucp_wakeup_event_t;

struct ucp_address;
struct ucp_config;
struct ucp_conn_request;
struct ucp_context;
struct ucp_device_local_mem_list;
struct ucp_device_remote_mem_list;
struct ucp_ep;
struct ucp_listener;
struct ucp_mem;
struct ucp_recv_desc;
struct ucp_rkey;
struct ucp_worker;

typedef struct ucp_tag_recv_info ucp_tag_recv_info_t;
typedef struct ucp_am_recv_param ucp_am_recv_param_t;
typedef struct ucp_context *ucp_context_h;
typedef struct ucp_config ucp_config_t;
typedef struct ucp_ep *ucp_ep_h;
typedef struct ucp_conn_request *ucp_conn_request_h;
typedef struct ucp_address ucp_address_t;
typedef struct ucp_rkey *ucp_rkey_h;
typedef struct ucp_mem *ucp_mem_h;
typedef struct ucp_listener *ucp_listener_h;
typedef struct ucp_mem_attr ucp_mem_attr_t;
typedef struct ucp_worker *ucp_worker_h;
typedef struct ucp_recv_desc *ucp_tag_message_h;
typedef struct ucp_err_handler ucp_err_handler_t;
typedef struct ucp_listener_conn_handler ucp_listener_conn_handler_t;
typedef struct ucp_ep_params ucp_ep_params_t;
typedef struct ucp_transport_entry_t ucp_transport_entry_t;
typedef struct ucp_transports_t ucp_transports_t;
typedef struct ucp_device_local_mem_list *ucp_device_local_mem_list_h;
typedef struct ucp_device_remote_mem_list *ucp_device_remote_mem_list_h;

struct ucp_mem_attr {
    uint64_t field_mask;
    void *address;
    size_t length;
    ucs_memory_type_t mem_type;
};

typedef uint64_t ucp_tag_t;

typedef uint64_t ucp_datatype_t;

typedef void (*ucp_request_init_callback_t)(void *request);

typedef void (*ucp_request_cleanup_callback_t)(void *request);

typedef void (*ucp_send_callback_t)(void *request, ucs_status_t status);

typedef void (*ucp_send_nbx_callback_t)(void *request,
                                        ucs_status_t status,
                                        void *user_data);

typedef void (*ucp_err_handler_cb_t)(void *arg, ucp_ep_h ep, ucs_status_t status);

struct ucp_err_handler {
    ucp_err_handler_cb_t cb;
    void *arg;
};

typedef void (*ucp_listener_accept_callback_t)(ucp_ep_h ep, void *arg);

typedef void (*ucp_listener_conn_callback_t)(ucp_conn_request_h conn_request, void *arg);

struct ucp_listener_conn_handler {
    ucp_listener_conn_callback_t cb;
    void *arg;
};

typedef void (*ucp_stream_recv_callback_t)(void *request,
                                           ucs_status_t status,
                                           size_t length);

typedef void (*ucp_stream_recv_nbx_callback_t)(void *request,
                                               ucs_status_t status,
                                               size_t length,
                                               void *user_data);

typedef void (*ucp_tag_recv_callback_t)(void *request,
                                        ucs_status_t status,
                                        ucp_tag_recv_info_t *info);

typedef void (*ucp_tag_recv_nbx_callback_t)(void *request,
                                            ucs_status_t status,
                                            const ucp_tag_recv_info_t *tag_info,
                                            void *user_data);

typedef void (*ucp_am_recv_data_nbx_callback_t)(void *request,
                                                ucs_status_t status,
                                                size_t length,
                                                void *user_data);

typedef ucs_status_t (*ucp_am_callback_t)(void *arg,
                                          void *data,
                                          size_t length,
                                          ucp_ep_h reply_ep,
                                          unsigned int flags);

typedef ucs_status_t (*ucp_am_recv_callback_t)(void *arg,
                                               const void *header,
                                               size_t header_length,
                                               void *data,
                                               size_t length,
                                               const ucp_am_recv_param_t *param);

struct ucp_ep_params {
    uint64_t field_mask;
    const ucp_address_t *address;
    ucp_err_handling_mode_t err_mode;
    ucp_err_handler_t err_handler;
    void *user_data;
    unsigned int flags;
    ucs_sock_addr_t sockaddr;
    ucp_conn_request_h conn_request;
    const char *name;
    ucs_sock_addr_t local_sockaddr;
};

struct ucp_transport_entry_t {
    const char *transport_name;
    const char *device_name;
};

struct ucp_transports_t {
    ucp_transport_entry_t *entries;
    unsigned int num_entries;
    size_t entry_size;
};

END_C_DECLS

#endif
