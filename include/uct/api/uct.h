/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCT_API_UCT_H
#define FERRUCX_UCT_API_UCT_H

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

/* How to print a resource: transport and device. */
#define UCT_TL_RESOURCE_DESC_FMT            "%s/%s"
#define UCT_TL_RESOURCE_DESC_ARG(_resource) (_resource)->tl_name, (_resource)->dev_name

#define UCT_IFACE_FLAG_AM_SHORT UCS_BIT(0)
#define UCT_IFACE_FLAG_AM_BCOPY UCS_BIT(1)
#define UCT_IFACE_FLAG_AM_ZCOPY UCS_BIT(2)
#define UCT_IFACE_FLAG_PENDING UCS_BIT(3)
#define UCT_IFACE_FLAG_PUT_SHORT UCS_BIT(4)
#define UCT_IFACE_FLAG_PUT_BCOPY UCS_BIT(5)
#define UCT_IFACE_FLAG_PUT_ZCOPY UCS_BIT(6)
#define UCT_IFACE_FLAG_GET_SHORT UCS_BIT(8)
#define UCT_IFACE_FLAG_GET_BCOPY UCS_BIT(9)
#define UCT_IFACE_FLAG_GET_ZCOPY UCS_BIT(10)
#define UCT_IFACE_FLAG_ATOMIC_CPU UCS_BIT(30)
#define UCT_IFACE_FLAG_ATOMIC_DEVICE UCS_BIT(31)
#define UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF UCS_BIT(32)
#define UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF UCS_BIT(33)
#define UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF UCS_BIT(34)
#define UCT_IFACE_FLAG_ERRHANDLE_AM_ID UCS_BIT(35)
#define UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM UCS_BIT(36)
#define UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN UCS_BIT(37)
#define UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE UCS_BIT(38)
#define UCT_IFACE_FLAG_EP_CHECK UCS_BIT(39)
#define UCT_IFACE_FLAG_CONNECT_TO_IFACE UCS_BIT(40)
#define UCT_IFACE_FLAG_CONNECT_TO_EP UCS_BIT(41)
#define UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR UCS_BIT(42)
#define UCT_IFACE_FLAG_AM_DUP UCS_BIT(43)
#define UCT_IFACE_FLAG_CB_SYNC UCS_BIT(44)
#define UCT_IFACE_FLAG_CB_ASYNC UCS_BIT(45)
#define UCT_IFACE_FLAG_EP_KEEPALIVE UCS_BIT(46)
#define UCT_IFACE_FLAG_PUT_AM_ORDER UCS_BIT(47)
#define UCT_IFACE_FLAG_TAG_EAGER_SHORT UCS_BIT(50)
#define UCT_IFACE_FLAG_TAG_EAGER_BCOPY UCS_BIT(51)
#define UCT_IFACE_FLAG_TAG_EAGER_ZCOPY UCS_BIT(52)
#define UCT_IFACE_FLAG_TAG_RNDV_ZCOPY UCS_BIT(53)
#define UCT_IFACE_FLAG_INTER_NODE UCS_BIT(54)
#define UCT_IFACE_FLAG_DEVICE_EP UCS_BIT(55)
#define UCT_IFACE_FLAG_DEVICE_LKEY UCS_BIT(56)
#define UCT_IFACE_FLAG_EVENT_SEND_COMP UCS_BIT(0)
#define UCT_IFACE_FLAG_EVENT_RECV UCS_BIT(1)
#define UCT_IFACE_FLAG_EVENT_RECV_SIG UCS_BIT(2)
#define UCT_IFACE_FLAG_EVENT_FD UCS_BIT(3)
#define UCT_IFACE_FLAG_EVENT_ASYNC_CB UCS_BIT(4)

enum uct_device_type_t {
    UCT_DEVICE_TYPE_NET = 0,
    UCT_DEVICE_TYPE_SHM = 1,
    UCT_DEVICE_TYPE_ACC = 2,
    UCT_DEVICE_TYPE_SELF = 3,
    UCT_DEVICE_TYPE_LAST = 4,
};

typedef enum uct_device_type_t uct_device_type_t;

enum uct_alloc_method_t {
    UCT_ALLOC_METHOD_THP = 0,
    UCT_ALLOC_METHOD_MD = 1,
    UCT_ALLOC_METHOD_HEAP = 2,
    UCT_ALLOC_METHOD_MMAP = 3,
    UCT_ALLOC_METHOD_HUGE = 4,
    UCT_ALLOC_METHOD_LAST = 5,
    UCT_ALLOC_METHOD_DEFAULT = 5,
};

typedef enum uct_alloc_method_t uct_alloc_method_t;

enum uct_mem_advice_t {
    UCT_MADV_NORMAL = 0,
    UCT_MADV_WILLNEED = 1,
};

typedef enum uct_mem_advice_t uct_mem_advice_t;

enum uct_sockaddr_accessibility_t {
    UCT_SOCKADDR_ACC_LOCAL = 0,
    UCT_SOCKADDR_ACC_REMOTE = 1,
};

typedef enum uct_sockaddr_accessibility_t uct_sockaddr_accessibility_t;

enum uct_component_attr_field {
    UCT_COMPONENT_ATTR_FIELD_NAME = UCS_BIT(0),
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT = UCS_BIT(1),
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES = UCS_BIT(2),
    UCT_COMPONENT_ATTR_FIELD_FLAGS = UCS_BIT(3),
};

enum uct_atomic_op {
    UCT_ATOMIC_OP_ADD = 0,
    UCT_ATOMIC_OP_AND = 1,
    UCT_ATOMIC_OP_OR = 2,
    UCT_ATOMIC_OP_XOR = 3,
    UCT_ATOMIC_OP_SWAP = 4,
    UCT_ATOMIC_OP_CSWAP = 5,
    UCT_ATOMIC_OP_LAST = 6,
};

typedef enum uct_atomic_op uct_atomic_op_t;

enum uct_iface_event_types {
    UCT_EVENT_SEND_COMP = UCS_BIT(0),
    UCT_EVENT_RECV = UCS_BIT(1),
    UCT_EVENT_RECV_SIG = UCS_BIT(2),
    UCT_EVENT_SPEED_CHANGE = UCS_BIT(3),
};

enum uct_flush_flags {
    UCT_FLUSH_FLAG_LOCAL = 0,
    UCT_FLUSH_FLAG_CANCEL = UCS_BIT(0),
    UCT_FLUSH_FLAG_REMOTE = UCS_BIT(1),
};

enum uct_progress_types {
    UCT_PROGRESS_SEND = UCS_BIT(0),
    UCT_PROGRESS_RECV = UCS_BIT(1),
    UCT_PROGRESS_THREAD_SAFE = UCS_BIT(7),
};

enum uct_msg_flags {
    UCT_SEND_FLAG_SIGNALED = UCS_BIT(0),
    UCT_SEND_FLAG_PEER_CHECK = UCS_BIT(1),
};

enum uct_cb_flags {
    UCT_CB_FLAG_RESERVED = UCS_BIT(1),
    UCT_CB_FLAG_ASYNC = UCS_BIT(2),
};

enum uct_iface_open_mode {
    UCT_IFACE_OPEN_MODE_DEVICE = UCS_BIT(0),
    UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER = UCS_BIT(1),
    UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT = UCS_BIT(2),
    UCT_IFACE_OPEN_MODE_STUB = UCS_BIT(3),
};

enum uct_iface_params_field {
    UCT_IFACE_PARAM_FIELD_CPU_MASK = UCS_BIT(0),
    UCT_IFACE_PARAM_FIELD_OPEN_MODE = UCS_BIT(1),
    UCT_IFACE_PARAM_FIELD_DEVICE = UCS_BIT(2),
    UCT_IFACE_PARAM_FIELD_SOCKADDR = UCS_BIT(3),
    UCT_IFACE_PARAM_FIELD_STATS_ROOT = UCS_BIT(4),
    UCT_IFACE_PARAM_FIELD_RX_HEADROOM = UCS_BIT(5),
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG = UCS_BIT(6),
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER = UCS_BIT(7),
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS = UCS_BIT(8),
    UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG = UCS_BIT(9),
    UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB = UCS_BIT(10),
    UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG = UCS_BIT(11),
    UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB = UCS_BIT(12),
    UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG = UCS_BIT(13),
    UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB = UCS_BIT(14),
    UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL = UCS_BIT(15),
    UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT = UCS_BIT(16),
    UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET = UCS_BIT(17),
    UCT_IFACE_PARAM_FIELD_FEATURES = UCS_BIT(18),
};

enum uct_md_mem_flags {
    UCT_MD_MEM_FLAG_NONBLOCK = UCS_BIT(0),
    UCT_MD_MEM_FLAG_FIXED = UCS_BIT(1),
    UCT_MD_MEM_FLAG_LOCK = UCS_BIT(2),
    UCT_MD_MEM_FLAG_HIDE_ERRORS = UCS_BIT(3),
    UCT_MD_MEM_ACCESS_REMOTE_PUT = UCS_BIT(5),
    UCT_MD_MEM_ACCESS_REMOTE_GET = UCS_BIT(6),
    UCT_MD_MEM_ACCESS_REMOTE_ATOMIC = UCS_BIT(7),
    UCT_MD_MEM_ACCESS_LOCAL_READ = UCS_BIT(8),
    UCT_MD_MEM_ACCESS_LOCAL_WRITE = UCS_BIT(9),
    UCT_MD_MEM_SYMMETRIC_RKEY = UCS_BIT(10),
    UCT_MD_MEM_GVA = UCS_BIT(11),
    UCT_MD_MEM_ACCESS_ALL = 992,
    UCT_MD_MEM_ACCESS_RMA = 864,
};

enum uct_cm_attr_field {
    UCT_CM_ATTR_FIELD_MAX_CONN_PRIV = UCS_BIT(0),
};

enum uct_listener_attr_field {
    UCT_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0),
};

enum uct_listener_params_field {
    UCT_LISTENER_PARAM_FIELD_BACKLOG = UCS_BIT(0),
    UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB = UCS_BIT(1),
    UCT_LISTENER_PARAM_FIELD_USER_DATA = UCS_BIT(2),
};

enum uct_ep_params_field {
    UCT_EP_PARAM_FIELD_IFACE = UCS_BIT(0),
    UCT_EP_PARAM_FIELD_USER_DATA = UCS_BIT(1),
    UCT_EP_PARAM_FIELD_DEV_ADDR = UCS_BIT(2),
    UCT_EP_PARAM_FIELD_IFACE_ADDR = UCS_BIT(3),
    UCT_EP_PARAM_FIELD_SOCKADDR = UCS_BIT(4),
    UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS = UCS_BIT(5),
    UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB = UCS_BIT(6),
    UCT_EP_PARAM_FIELD_CM = UCS_BIT(7),
    UCT_EP_PARAM_FIELD_CONN_REQUEST = UCS_BIT(8),
    UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT = UCS_BIT(9),
    UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER = UCS_BIT(10),
    UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB = UCS_BIT(11),
    UCT_EP_PARAM_FIELD_PATH_INDEX = UCS_BIT(12),
    UCT_EP_PARAM_FIELD_CM_RESOLVE_CB = UCS_BIT(13),
    UCT_EP_PARAM_FIELD_PRIV_DATA = UCS_BIT(14),
    UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH = UCS_BIT(15),
    UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR = UCS_BIT(16),
    UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH = UCS_BIT(17),
    UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH = UCS_BIT(18),
};

enum uct_ep_connect_params_field {
    UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA = UCS_BIT(0),
    UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH = UCS_BIT(1),
};

enum uct_iface_feature {
    UCT_IFACE_FEATURE_AM = UCS_BIT(0),
    UCT_IFACE_FEATURE_PUT = UCS_BIT(1),
    UCT_IFACE_FEATURE_GET = UCS_BIT(2),
    UCT_IFACE_FEATURE_AMO32 = UCS_BIT(3),
    UCT_IFACE_FEATURE_AMO64 = UCS_BIT(4),
    UCT_IFACE_FEATURE_TAG = UCS_BIT(5),
    UCT_IFACE_FEATURE_FLUSH_REMOTE = UCS_BIT(6),
    UCT_IFACE_FEATURE_LAST = UCS_BIT(7),
};

enum uct_md_mem_attr_field {
    UCT_MD_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(0),
    UCT_MD_MEM_ATTR_FIELD_SYS_DEV = UCS_BIT(1),
    UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS = UCS_BIT(2),
    UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH = UCS_BIT(3),
    UCT_MD_MEM_ATTR_FIELD_DMABUF_FD = UCS_BIT(4),
    UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET = UCS_BIT(5),
};

typedef enum uct_md_mem_attr_field uct_md_mem_attr_field_t;

enum uct_mem_alloc_params_field_t {
    UCT_MEM_ALLOC_PARAM_FIELD_FLAGS = UCS_BIT(0),
    UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS = UCS_BIT(1),
    UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE = UCS_BIT(2),
    UCT_MEM_ALLOC_PARAM_FIELD_MDS = UCS_BIT(3),
    UCT_MEM_ALLOC_PARAM_FIELD_NAME = UCS_BIT(4),
    UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE = UCS_BIT(5),
};

typedef enum uct_mem_alloc_params_field_t uct_mem_alloc_params_field_t;

enum uct_component_flag_bits {
    UCT_COMPONENT_FLAG_CM = UCS_BIT(0),
    UCT_COMPONENT_FLAG_RKEY_PTR = UCS_BIT(1),
};

enum uct_md_flag_bits {
    UCT_MD_FLAG_ALLOC = UCS_BIT(0),
    UCT_MD_FLAG_REG = UCS_BIT(1),
    UCT_MD_FLAG_NEED_MEMH = UCS_BIT(2),
    UCT_MD_FLAG_NEED_RKEY = UCS_BIT(3),
    UCT_MD_FLAG_ADVISE = UCS_BIT(4),
    UCT_MD_FLAG_FIXED = UCS_BIT(5),
    UCT_MD_FLAG_RKEY_PTR = UCS_BIT(6),
    UCT_MD_FLAG_SOCKADDR = UCS_BIT(7),
    UCT_MD_FLAG_INVALIDATE = UCS_BIT(8),
    UCT_MD_FLAG_EXPORTED_MKEY = UCS_BIT(9),
    UCT_MD_FLAG_REG_DMABUF = UCS_BIT(10),
    UCT_MD_FLAG_LAST = UCS_BIT(11),
};

enum uct_tag_recv_cb_inline_data_bits {
    UCT_TAG_RECV_CB_INLINE_DATA = UCS_BIT(0),
};

typedef struct uct_md_mem_attr uct_md_mem_attr_t;
typedef struct uct_md_resource_desc uct_md_resource_desc_t;
typedef struct uct_component_attr uct_component_attr_t;
typedef struct uct_tl_resource_desc uct_tl_resource_desc_t;
typedef struct uct_allocated_memory uct_allocated_memory_t;
typedef struct uct_mem_alloc_params_t uct_mem_alloc_params_t;
typedef struct uct_rkey_bundle uct_rkey_bundle_t;
typedef struct uct_ppn_bandwidth uct_ppn_bandwidth_t;

struct uct_md_mem_attr {
    uint64_t field_mask;
    ucs_memory_type_t mem_type;
    ucs_sys_device_t sys_dev;
    void *base_address;
    size_t alloc_length;
    int dmabuf_fd;
    size_t dmabuf_offset;
};

struct uct_md_resource_desc {
    char md_name[16];
};

struct uct_component_attr {
    uint64_t field_mask;
    char name[16];
    unsigned int md_resource_count;
    uct_md_resource_desc_t *md_resources;
    uint64_t flags;
};

struct uct_tl_resource_desc {
    char tl_name[10];
    char dev_name[32];
    uct_device_type_t dev_type;
    ucs_sys_device_t sys_device;
};

struct uct_allocated_memory {
    void *address;
    size_t length;
    uct_alloc_method_t method;
    ucs_memory_type_t mem_type;
    uct_md_h md;
    uct_mem_h memh;
    ucs_sys_device_t sys_device;
};

struct uct_mem_alloc_params_t_mds {
    const uct_md_h *mds;
    unsigned int count;
};

struct uct_mem_alloc_params_t {
    uint64_t field_mask;
    unsigned int flags;
    void *address;
    ucs_memory_type_t mem_type;
    struct uct_mem_alloc_params_t_mds mds;
    const char *name;
    ucs_sys_device_t sys_device;
};

struct uct_rkey_bundle {
    uct_rkey_t rkey;
    void *handle;
    void *type;
};

struct uct_ppn_bandwidth {
    double dedicated;
    double shared;
};

struct uct_iface_attr_cap_put {
    size_t max_short;
    size_t max_bcopy;
    size_t min_zcopy;
    size_t max_zcopy;
    size_t opt_zcopy_align;
    size_t align_mtu;
    size_t max_iov;
};

struct uct_iface_attr_cap_get {
    size_t max_short;
    size_t max_bcopy;
    size_t min_zcopy;
    size_t max_zcopy;
    size_t opt_zcopy_align;
    size_t align_mtu;
    size_t max_iov;
};

struct uct_iface_attr_cap_am {
    size_t max_short;
    size_t max_bcopy;
    size_t min_zcopy;
    size_t max_zcopy;
    size_t opt_zcopy_align;
    size_t align_mtu;
    size_t max_hdr;
    size_t max_iov;
};

struct uct_iface_attr_cap_tag_recv {
    size_t min_recv;
    size_t max_zcopy;
    size_t max_iov;
    size_t max_outstanding;
};

struct uct_iface_attr_cap_tag_eager {
    size_t max_short;
    size_t max_bcopy;
    size_t max_zcopy;
    size_t max_iov;
};

struct uct_iface_attr_cap_tag_rndv {
    size_t max_zcopy;
    size_t max_hdr;
    size_t max_iov;
};

struct uct_iface_attr_cap_tag {
    struct uct_iface_attr_cap_tag_recv recv;
    struct uct_iface_attr_cap_tag_eager eager;
    struct uct_iface_attr_cap_tag_rndv rndv;
};

struct uct_iface_attr_cap_atomic {
    uint64_t op_flags;
    uint64_t fop_flags;
};

struct uct_iface_attr_cap {
    struct uct_iface_attr_cap_put put;
    struct uct_iface_attr_cap_get get;
    struct uct_iface_attr_cap_am am;
    struct uct_iface_attr_cap_tag tag;
    struct uct_iface_attr_cap_atomic atomic32;
    struct uct_iface_attr_cap_atomic atomic64;
    uint64_t flags;
    uint64_t event_flags;
};

struct uct_iface_attr {
    struct uct_iface_attr_cap cap;
    size_t device_addr_len;
    size_t iface_addr_len;
    size_t ep_addr_len;
    size_t max_conn_priv;
    struct sockaddr_storage listen_sockaddr;
    double overhead;
    uct_ppn_bandwidth_t bandwidth;
    ucs_linear_func_t latency;
    uint8_t priority;
    size_t max_num_eps;
    unsigned int dev_num_paths;
    ucs_sys_device_t ctl_device;
};

struct uct_iface_params_mode_device {
    const char *tl_name;
    const char *dev_name;
};

struct uct_iface_params_mode_sockaddr {
    ucs_sock_addr_t listen_sockaddr;
    void *conn_request_arg;
    uct_sockaddr_conn_request_callback_t conn_request_cb;
    uint32_t cb_flags;
};

struct uct_iface_params_mode_stub {
    ucs_status_t status;
};

union uct_iface_params_mode {
    struct uct_iface_params_mode_device device;
    struct uct_iface_params_mode_sockaddr sockaddr;
    struct uct_iface_params_mode_stub stub;
};

struct uct_iface_params {
    uint64_t field_mask;
    ucs_cpu_set_t cpu_mask;
    uint64_t open_mode;
    union uct_iface_params_mode mode;
    ucs_stats_node_t *stats_root;
    size_t rx_headroom;
    void *err_handler_arg;
    uct_error_handler_t err_handler;
    uint32_t err_handler_flags;
    void *eager_arg;
    uct_tag_unexp_eager_cb_t eager_cb;
    void *rndv_arg;
    uct_tag_unexp_rndv_cb_t rndv_cb;
    void *async_event_arg;
    uct_async_event_cb_t async_event_cb;
    ucs_time_t keepalive_interval;
    size_t am_alignment;
    size_t am_align_offset;
    uint64_t features;
};

struct uct_ep_params {
    uint64_t field_mask;
    uct_iface_h iface;
    void *user_data;
    const uct_device_addr_t *dev_addr;
    const uct_iface_addr_t *iface_addr;
    const ucs_sock_addr_t *sockaddr;
    uint32_t sockaddr_cb_flags;
    uct_cm_ep_priv_data_pack_callback_t sockaddr_pack_cb;
    uct_cm_h cm;
    uct_conn_request_h conn_request;
    uct_cm_ep_client_connect_callback_t sockaddr_cb_client;
    uct_cm_ep_server_conn_notify_callback_t sockaddr_cb_server;
    uct_ep_disconnect_cb_t disconnect_cb;
    unsigned int path_index;
    uct_cm_ep_resolve_callback_t cm_resolve_cb;
    const void *private_data;
    size_t private_data_length;
    const ucs_sock_addr_t *local_sockaddr;
    size_t dev_addr_length;
    size_t iface_addr_length;
};

struct uct_ep_connect_params {
    uint64_t field_mask;
    const void *private_data;
    size_t private_data_length;
};

struct uct_cm_attr {
    uint64_t field_mask;
    size_t max_conn_priv;
};

struct uct_listener_attr {
    uint64_t field_mask;
    struct sockaddr_storage sockaddr;
};

struct uct_listener_params {
    uint64_t field_mask;
    int backlog;
    uct_cm_listener_conn_request_callback_t conn_request_cb;
    void *user_data;
};

struct uct_md_attr_cap {
    uint64_t max_alloc;
    size_t max_reg;
    uint64_t flags;
    uint64_t reg_mem_types;
    uint64_t detect_mem_types;
    uint64_t alloc_mem_types;
    uint64_t access_mem_types;
};

struct uct_md_attr {
    struct uct_md_attr_cap cap;
    ucs_linear_func_t reg_cost;
    char component_name[16];
    size_t rkey_packed_size;
    ucs_cpu_set_t local_cpus;
};

struct uct_completion {
    uct_completion_callback_t func;
    int count;
    ucs_status_t status;
};

struct uct_pending_req {
    uct_pending_callback_t func;
    char priv[40];
};

struct uct_tag_context {
    void (*tag_consumed_cb)(uct_tag_context_t*);
    void (*completed_cb)(uct_tag_context_t*,
                         uct_tag_t,
                         uint64_t,
                         size_t,
                         void*,
                         ucs_status_t);
    void (*rndv_cb)(uct_tag_context_t*,
                    uct_tag_t,
                    const void*,
                    unsigned int,
                    ucs_status_t,
                    unsigned int);
    char priv[32];
};

/**
 * Answers the masked properties of a memory range. All memory we can reach is the host's.
 */
ucs_status_t uct_md_mem_query(uct_md_h md,
                              const void *address,
                              size_t length,
                              uct_md_mem_attr_t *mem_attr);

/**
 * Lists the components. `*components_p` is freed by `uct_release_component_list`.
 */
ucs_status_t uct_query_components(uct_component_h **components_p,
                                  unsigned int *num_components_p);

/**
 * Frees the list of `uct_query_components`.
 */
void uct_release_component_list(uct_component_h *components);

/**
 * Answers the fields named by `field_mask`. The array of memory domains is the caller's: it asks
 * for the count first, then for the names.
 */
ucs_status_t uct_component_query(uct_component_h component,
                                 uct_component_attr_t *component_attr);

/**
 * Opens memory domain `md_name` of `component`. `NO_DEVICE` when it has none of that name.
 */
ucs_status_t uct_md_open(uct_component_h component,
                         const char *md_name,
                         const uct_md_config_t *config,
                         uct_md_h *md_p);

/**
 * Closes a memory domain on which no interface is open.
 */
void uct_md_close(uct_md_h md);

/**
 * Lists transports and devices of `md`; freed by `uct_release_tl_resource_list`.
 */
ucs_status_t uct_md_query_tl_resources(uct_md_h md,
                                       uct_tl_resource_desc_t **resources_p,
                                       unsigned int *num_resources_p);

/**
 * Frees the list of `uct_md_query_tl_resources`.
 */
void uct_release_tl_resource_list(uct_tl_resource_desc_t *resources);

/**
 * Creates a worker. `thread_mode` is MULTI at most by the user's own locks: a worker and all that
 * is opened on it are used by one thread at a time.
 */
ucs_status_t uct_worker_create(ucs_async_context_t *async,
                               ucs_thread_mode_t thread_mode,
                               uct_worker_h *worker_p);

/**
 * Destroys a worker on which nothing is open.
 */
void uct_worker_destroy(uct_worker_h worker);

/**
 * Adds `func(arg)` to what the worker's progress calls, from any thread. `*id_p` stays as it is
 * unless it is `UCS_CALLBACKQ_ID_NULL`: a callback is registered once.
 */
void uct_worker_progress_register_safe(uct_worker_h worker,
                                       ucs_callback_t func,
                                       void *arg,
                                       unsigned int flags,
                                       uct_worker_cb_id_t *id_p);

/**
 * Takes back `uct_worker_progress_register_safe`, from any thread; `*id_p` becomes
 * `UCS_CALLBACKQ_ID_NULL`.
 */
void uct_worker_progress_unregister_safe(uct_worker_h worker, uct_worker_cb_id_t *id_p);

/**
 * Reads the configuration of interfaces of transport `tl_name` on `md`. Released by
 * `uct_config_release`. `NO_DEVICE` when the domain has no such transport.
 */
ucs_status_t uct_md_iface_config_read(uct_md_h md,
                                      const char *tl_name,
                                      const char *env_prefix,
                                      const char *filename,
                                      uct_iface_config_t **config_p);

/**
 * Frees a configuration of any of the three kinds.
 */
void uct_config_release(void *config);

/**
 * Writes the text of variable `name` (without `UCX_` and without the table's prefix) to `value`,
 * cut to `max` bytes. `NO_ELEM` when there is no such variable.
 */
ucs_status_t uct_config_get(void *config,
                            const char *name,
                            char *value,
                            size_t max);

/**
 * Sets variable `name` to `value`. `NO_ELEM` when there is no such variable, `INVALID_PARAM` when
 * the text cannot be parsed.
 */
ucs_status_t uct_config_modify(void *config,
                               const char *name,
                               const char *value);

/**
 * Opens an interface of the transport and device named in `params`. Progress is off until
 * `uct_iface_progress_enable`. `NO_DEVICE` when the domain has no such transport or device,
 * `UNSUPPORTED` for the deprecated socket-address modes.
 */
ucs_status_t uct_iface_open(uct_md_h md,
                            uct_worker_h worker,
                            const uct_iface_params_t *params,
                            const uct_iface_config_t *config,
                            uct_iface_h *iface_p);

/**
 * Closes an interface without endpoints.
 */
void uct_iface_close(uct_iface_h iface);

/**
 * Fills the attributes of an interface, all of the struct.
 */
ucs_status_t uct_iface_query(uct_iface_h iface, uct_iface_attr_t *iface_attr);

/**
 * Writes the device's address: `device_addr_len` bytes.
 */
ucs_status_t uct_iface_get_device_address(uct_iface_h iface, uct_device_addr_t *addr);

/**
 * Writes the interface's address: `iface_addr_len` bytes.
 */
ucs_status_t uct_iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr);

/**
 * Whether the interface behind these addresses can be reached: 1 or 0.
 */
int uct_iface_is_reachable(uct_iface_h iface,
                           const uct_device_addr_t *dev_addr,
                           const uct_iface_addr_t *iface_addr);

/**
 * Checks that the peer is alive; if not, the error handler is called. OK or INPROGRESS when the
 * check was begun.
 */
ucs_status_t uct_ep_check(uct_ep_h ep,
                          unsigned int flags,
                          uct_completion_t *comp);

/**
 * The descriptor that becomes readable on events, for `poll`; it belongs to the interface.
 */
ucs_status_t uct_iface_event_fd_get(uct_iface_h iface,
                                    int *fd_p);

/**
 * Arms the descriptor for `events` (`UCT_EVENT_*`). `BUSY` when there is something to progress
 * first.
 */
ucs_status_t uct_iface_event_arm(uct_iface_h iface,
                                 unsigned int events);

/**
 * Allocates by the methods of `UCX_*_ALLOC` of the interface and registers the memory with its
 * domain where that is needed.
 */
ucs_status_t uct_iface_mem_alloc(uct_iface_h iface,
                                 size_t length,
                                 unsigned int flags,
                                 const char *name,
                                 uct_allocated_memory_t *mem);

/**
 * Releases what `uct_iface_mem_alloc` gave.
 */
void uct_iface_mem_free(const uct_allocated_memory_t *mem);

/**
 * Sets the handler of active messages `id`; NULL takes it off. Every interface of ours calls
 * handlers from progress only, so `UCT_CB_FLAG_ASYNC` is a permission that is not used.
 */
ucs_status_t uct_iface_set_am_handler(uct_iface_h iface,
                                      uint8_t id,
                                      uct_am_callback_t cb,
                                      void *arg,
                                      uint32_t flags);

/**
 * Sets the function that describes active messages in the log; NULL takes it off.
 */
ucs_status_t uct_iface_set_am_tracer(uct_iface_h iface,
                                     uct_am_tracer_t tracer,
                                     void *arg);

/**
 * Accepts a request on a socket-address interface: deprecated, `UNSUPPORTED`.
 */
ucs_status_t uct_iface_accept(uct_iface_h iface, uct_conn_request_h conn_request);

/**
 * Rejects a request on a socket-address interface: deprecated, `UNSUPPORTED`.
 */
ucs_status_t uct_iface_reject(uct_iface_h iface, uct_conn_request_h conn_request);

/**
 * Creates an endpoint: of an interface (with addresses: connected to that interface; without: to
 * be connected by `uct_ep_connect_to_ep`), or of a connection manager (as a client by `sockaddr`,
 * as a server by `conn_request`).
 */
ucs_status_t uct_ep_create(const uct_ep_params_t *params,
                           uct_ep_h *ep_p);

/**
 * Continues the connection of a client endpoint of a connection manager. `UNSUPPORTED` on others.
 */
ucs_status_t uct_ep_connect(uct_ep_h ep,
                            const uct_ep_connect_params_t *params);

/**
 * Begins the disconnection of an endpoint of a connection manager. `UNSUPPORTED` on others.
 */
ucs_status_t uct_ep_disconnect(uct_ep_h ep,
                               unsigned int flags);

/**
 * Destroys an endpoint. Operations under way are not completed: flush first.
 */
void uct_ep_destroy(uct_ep_h ep);

/**
 * Writes the endpoint's address, `ep_addr_len` bytes: for `uct_ep_connect_to_ep` at the peer.
 */
ucs_status_t uct_ep_get_address(uct_ep_h ep,
                                uct_ep_addr_t *addr);

/**
 * Connects the endpoint to a peer's endpoint.
 */
ucs_status_t uct_ep_connect_to_ep(uct_ep_h ep,
                                  const uct_device_addr_t *dev_addr,
                                  const uct_ep_addr_t *ep_addr);

/**
 * Fills the attributes of a memory domain, all of the struct.
 */
ucs_status_t uct_md_query(uct_md_h md, uct_md_attr_t *md_attr);

/**
 * Passes an advice on registered or allocated memory.
 */
ucs_status_t uct_md_mem_advise(uct_md_h md,
                               uct_mem_h memh,
                               void *addr,
                               size_t length,
                               uct_mem_advice_t advice);

/**
 * Registers `length` bytes at `address`; `flags` are `UCT_MD_MEM_*` with at least one access bit.
 */
ucs_status_t uct_md_mem_reg(uct_md_h md,
                            void *address,
                            size_t length,
                            unsigned int flags,
                            uct_mem_h *memh_p);

/**
 * Releases a registration.
 */
ucs_status_t uct_md_mem_dereg(uct_md_h md, uct_mem_h memh);

/**
 * Tells the type of the memory at `addr`. `UNSUPPORTED` for domains that do not tell memory types
 * apart, which is every domain of ours: host memory is the default.
 */
ucs_status_t uct_md_detect_memory_type(uct_md_h md,
                                       const void *addr,
                                       size_t length,
                                       ucs_memory_type_t *mem_type_p);

/**
 * Allocates at least `length` bytes of host memory by the first of `methods` that works. Of
 * `params` are read: flags, address, memory type, memory domains, name. `NO_MEMORY` when every
 * method failed, `UNSUPPORTED` for memory that is not the host's.
 */
ucs_status_t uct_mem_alloc(size_t length,
                           const uct_alloc_method_t *methods,
                           unsigned int num_methods,
                           const uct_mem_alloc_params_t *params,
                           uct_allocated_memory_t *mem);

/**
 * Frees what `uct_mem_alloc` gave.
 */
ucs_status_t uct_mem_free(const uct_allocated_memory_t *mem);

/**
 * Reads the configuration of a memory domain of `component`. `env_prefix` (may be NULL) is tried
 * before the plain names; `filename` is ignored, as upstream does. Released by
 * `uct_config_release`.
 */
ucs_status_t uct_md_config_read(uct_component_h component,
                                const char *env_prefix,
                                const char *filename,
                                uct_md_config_t **config_p);

/**
 * Whether `sockaddr` can be listened on or reached by the deprecated socket-address interfaces:
 * never, as upstream's tcp; use a connection manager.
 */
int uct_md_is_sockaddr_accessible(uct_md_h md,
                                  const ucs_sock_addr_t *sockaddr,
                                  uct_sockaddr_accessibility_t mode);

/**
 * Writes the remote key of `memh`: `rkey_packed_size` bytes of the domain's attributes.
 */
ucs_status_t uct_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *rkey_buffer);

/**
 * Reads a packed remote key into `rkey_ob`; released by `uct_rkey_release`.
 */
ucs_status_t uct_rkey_unpack(uct_component_h component,
                             const void *rkey_buffer,
                             uct_rkey_bundle_t *rkey_ob);

/**
 * The local address at which `remote_addr` is mapped. `UNSUPPORTED` when it is not.
 */
ucs_status_t uct_rkey_ptr(uct_component_h component,
                          uct_rkey_bundle_t *rkey_ob,
                          uint64_t remote_addr,
                          void **addr_p);

/**
 * Releases a remote key.
 */
ucs_status_t uct_rkey_release(uct_component_h component,
                              const uct_rkey_bundle_t *rkey_ob);

/**
 * Not implemented yet.
 */
ucs_status_t uct_cm_open(uct_component_h component,
                         uct_worker_h worker,
                         const uct_cm_config_t *config,
                         uct_cm_h *cm_p);

/**
 * Not implemented yet.
 */
void uct_cm_close(uct_cm_h cm);

/**
 * Not implemented yet.
 */
ucs_status_t uct_cm_query(uct_cm_h cm, uct_cm_attr_t *cm_attr);

/**
 * Reads the configuration of a connection manager of `component`. Released by
 * `uct_config_release`. `UNSUPPORTED` when the component has none.
 */
ucs_status_t uct_cm_config_read(uct_component_h component,
                                const char *env_prefix,
                                const char *filename,
                                uct_cm_config_t **config_p);

/**
 * Tells the server that the client's endpoint is connected. `UNSUPPORTED` on endpoints that are
 * not of a connection manager.
 */
ucs_status_t uct_cm_client_ep_conn_notify(uct_ep_h ep);

/**
 * Not implemented yet.
 */
ucs_status_t uct_listener_create(uct_cm_h cm,
                                 const struct sockaddr *saddr,
                                 socklen_t socklen,
                                 const uct_listener_params_t *params,
                                 uct_listener_h *listener_p);

/**
 * Not implemented yet.
 */
void uct_listener_destroy(uct_listener_h listener);

/**
 * Not implemented yet.
 */
ucs_status_t uct_listener_reject(uct_listener_h listener,
                                 uct_conn_request_h conn_request);

/**
 * Not implemented yet.
 */
ucs_status_t uct_listener_query(uct_listener_h listener,
                                uct_listener_attr_t *listener_attr);

/** Names of the ways to allocate, by `uct_alloc_method_t`. */
extern const char *uct_alloc_method_names[];
/** Names of the kinds of devices, by `uct_device_type_t`. */
extern const char *uct_device_type_names[];

/* The data path calls through the table that the interface begins with: no function of the library stands
 * between. */

/**
 * Lets the interfaces of a worker move on, and calls back. Returns how much was done: 0 for nothing.
 */
UCT_INLINE_API unsigned uct_worker_progress(uct_worker_h worker)
{
    return ucs_callbackq_dispatch(&worker->progress_q);
}

/**
 * Asks whether all operations of all endpoints of an interface are complete. UCS_INPROGRESS: not yet;
 * `comp`, where the transport supports one, is counted down then.
 */
UCT_INLINE_API ucs_status_t uct_iface_flush(uct_iface_h iface, unsigned flags,
                                            uct_completion_t *comp)
{
    return iface->ops.iface_flush(iface, flags, comp);
}

/**
 * Orders the operations of an interface: those after the call take effect after those before it.
 */
UCT_INLINE_API ucs_status_t uct_iface_fence(uct_iface_h iface, unsigned flags)
{
    return iface->ops.iface_fence(iface, flags);
}

/**
 * Gives back the data that an active message handler kept by returning UCS_INPROGRESS. `desc` is the `data`
 * that it got.
 */
UCT_INLINE_API void uct_iface_release_desc(void *desc)
{
    uct_recv_desc_t *release = uct_recv_desc(desc);
    release->cb(release, desc);
}

/**
 * Writes up to `cap.put.max_short` bytes into memory of the peer; the buffer may be reused at once.
 * UCS_ERR_NO_RESOURCE: later, see `uct_ep_pending_add`.
 */
UCT_INLINE_API ucs_status_t uct_ep_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                                             uint64_t remote_addr, uct_rkey_t rkey)
{
    return ep->iface->ops.ep_put_short(ep, buffer, length, remote_addr, rkey);
}

/**
 * Writes what `pack_cb` puts into a buffer of the transport, up to `cap.put.max_bcopy` bytes. Returns the bytes
 * or a negative status.
 */
UCT_INLINE_API ssize_t uct_ep_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                                        uint64_t remote_addr, uct_rkey_t rkey)
{
    return ep->iface->ops.ep_put_bcopy(ep, pack_cb, arg, remote_addr, rkey);
}

/**
 * Writes from registered memory. UCS_INPROGRESS: the memory is in use until `comp` is counted down.
 */
UCT_INLINE_API ucs_status_t uct_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                                             uint64_t remote_addr, uct_rkey_t rkey,
                                             uct_completion_t *comp)
{
    return ep->iface->ops.ep_put_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

/**
 * Reads up to `cap.get.max_short` bytes of memory of the peer into `buffer`, at once.
 */
UCT_INLINE_API ucs_status_t uct_ep_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                             uint64_t remote_addr, uct_rkey_t rkey)
{
    return ep->iface->ops.ep_get_short(ep, buffer, length, remote_addr, rkey);
}

/**
 * Reads up to `cap.get.max_bcopy` bytes and hands them to `unpack_cb`. UCS_INPROGRESS: `comp` is counted down
 * after it.
 */
UCT_INLINE_API ucs_status_t uct_ep_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                                             void *arg, size_t length, uint64_t remote_addr,
                                             uct_rkey_t rkey, uct_completion_t *comp)
{
    return ep->iface->ops.ep_get_bcopy(ep, unpack_cb, arg, length, remote_addr, rkey, comp);
}

/**
 * Reads into registered memory. UCS_INPROGRESS: the data is there when `comp` is counted down.
 */
UCT_INLINE_API ucs_status_t uct_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                                             uint64_t remote_addr, uct_rkey_t rkey,
                                             uct_completion_t *comp)
{
    return ep->iface->ops.ep_get_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

/**
 * Sends an active message of 8 bytes of header and a payload; both together at most `cap.am.max_short` bytes.
 */
UCT_INLINE_API ucs_status_t uct_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                                            const void *payload, unsigned length)
{
    return ep->iface->ops.ep_am_short(ep, id, header, payload, length);
}

/**
 * Sends an active message gathered from `iovcnt` pieces, at most `cap.am.max_short` bytes together.
 */
UCT_INLINE_API ucs_status_t uct_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                                size_t iovcnt)
{
    return ep->iface->ops.ep_am_short_iov(ep, id, iov, iovcnt);
}

/**
 * Sends as an active message what `pack_cb` puts into a buffer of the transport, up to `cap.am.max_bcopy`
 * bytes. `flags`: `uct_msg_flags`. Returns the bytes or a negative status.
 */
UCT_INLINE_API ssize_t uct_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                                       void *arg, unsigned flags)
{
    return ep->iface->ops.ep_am_bcopy(ep, id, pack_cb, arg, flags);
}

/**
 * Sends a header, which is copied, and registered memory as one active message. UCS_INPROGRESS: the memory is
 * in use until `comp` is counted down.
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
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uint64_t *result, uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic_cswap64(ep, compare, swap, remote_addr, rkey, result, comp);
}

/**
 * The same for 4 bytes.
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uint32_t *result, uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic_cswap32(ep, compare, swap, remote_addr, rkey, result, comp);
}

/**
 * Changes 4 bytes of the peer by an operation that returns nothing. Bits of `cap.atomic32.op_flags` tell which
 * a transport has.
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic32_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                                 uint32_t value, uint64_t remote_addr,
                                                 uct_rkey_t rkey)
{
    return ep->iface->ops.ep_atomic32_post(ep, opcode, value, remote_addr, rkey);
}

/**
 * The same for 8 bytes.
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                                 uint64_t value, uint64_t remote_addr,
                                                 uct_rkey_t rkey)
{
    return ep->iface->ops.ep_atomic64_post(ep, opcode, value, remote_addr, rkey);
}

/**
 * Changes 4 bytes of the peer; what was there goes to `result`. UCS_INPROGRESS: when `comp` is counted down.
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                                  uint32_t value, uint32_t *result,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic32_fetch(ep, opcode, value, result, remote_addr, rkey, comp);
}

/**
 * The same for 8 bytes.
 */
UCT_INLINE_API ucs_status_t uct_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                                  uint64_t value, uint64_t *result,
                                                  uint64_t remote_addr, uct_rkey_t rkey,
                                                  uct_completion_t *comp)
{
    return ep->iface->ops.ep_atomic64_fetch(ep, opcode, value, result, remote_addr, rkey, comp);
}

/**
 * Queues a request whose `func` is called when the endpoint can send again. UCS_ERR_BUSY: it can now, try the
 * send again. The request is the caller's and lives until it was called or purged.
 */
UCT_INLINE_API ucs_status_t uct_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req, unsigned flags)
{
    return ep->iface->ops.ep_pending_add(ep, req, flags);
}

/**
 * Takes all queued requests off an endpoint and passes each to `cb`.
 */
UCT_INLINE_API void uct_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb, void *arg)
{
    ep->iface->ops.ep_pending_purge(ep, cb, arg);
}

/**
 * Asks whether all operations of an endpoint are complete. `flags`: `uct_flush_flags`. UCS_INPROGRESS: `comp`
 * is counted down when they are.
 */
UCT_INLINE_API ucs_status_t uct_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    return ep->iface->ops.ep_flush(ep, flags, comp);
}

/**
 * Orders the operations of an endpoint: those after the call take effect after those before it.
 */
UCT_INLINE_API ucs_status_t uct_ep_fence(uct_ep_h ep, unsigned flags)
{
    return ep->iface->ops.ep_fence(ep, flags);
}

/**
 * Sends a tagged message of up to `cap.tag.eager.max_short` bytes.
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_eager_short(uct_ep_h ep, uct_tag_t tag, const void *data,
                                                   size_t length)
{
    return ep->iface->ops.ep_tag_eager_short(ep, tag, data, length);
}

/**
 * Sends as a tagged message what `pack_cb` puts into a buffer of the transport; `imm` goes along. Returns the
 * bytes or a negative status.
 */
UCT_INLINE_API ssize_t uct_ep_tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                              uct_pack_callback_t pack_cb, void *arg,
                                              unsigned flags)
{
    return ep->iface->ops.ep_tag_eager_bcopy(ep, tag, imm, pack_cb, arg, flags);
}

/**
 * Sends a tagged message from registered memory; `imm` goes along.
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                                   const uct_iov_t *iov, size_t iovcnt,
                                                   unsigned flags, uct_completion_t *comp)
{
    return ep->iface->ops.ep_tag_eager_zcopy(ep, tag, imm, iov, iovcnt, flags, comp);
}

/**
 * Offers a tagged message from registered memory; the peer fetches it when a receive matches. Returns an
 * operation that can be cancelled, or a status as a pointer.
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
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_rndv_cancel(uct_ep_h ep, void *op)
{
    return ep->iface->ops.ep_tag_rndv_cancel(ep, op);
}

/**
 * Offers a tagged message that only software can move: the peer's handler gets `header`.
 */
UCT_INLINE_API ucs_status_t uct_ep_tag_rndv_request(uct_ep_h ep, uct_tag_t tag, const void *header,
                                                    unsigned header_length, unsigned flags)
{
    return ep->iface->ops.ep_tag_rndv_request(ep, tag, header, header_length, flags);
}

/**
 * Posts a receive of a tagged message into registered memory. `ctx` belongs to the transport until one of its
 * callbacks ran.
 */
UCT_INLINE_API ucs_status_t uct_iface_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                                     uct_tag_t tag_mask, const uct_iov_t *iov,
                                                     size_t iovcnt, uct_tag_context_t *ctx)
{
    return iface->ops.iface_tag_recv_zcopy(iface, tag, tag_mask, iov, iovcnt, ctx);
}

/**
 * Takes a posted receive back. With `force` no callback follows.
 */
UCT_INLINE_API ucs_status_t uct_iface_tag_recv_cancel(uct_iface_h iface, uct_tag_context_t *ctx,
                                                      int force)
{
    return iface->ops.iface_tag_recv_cancel(iface, ctx, force);
}

/**
 * Lets `uct_worker_progress` drive an interface. `flags`: `uct_progress_types`.
 */
UCT_INLINE_API void uct_iface_progress_enable(uct_iface_h iface, unsigned flags)
{
    iface->ops.iface_progress_enable(iface, flags);
}

/**
 * Stops `uct_worker_progress` from driving an interface.
 */
UCT_INLINE_API void uct_iface_progress_disable(uct_iface_h iface, unsigned flags)
{
    iface->ops.iface_progress_disable(iface, flags);
}

/**
 * Drives one interface. Returns how much was done.
 */
UCT_INLINE_API unsigned uct_iface_progress(uct_iface_h iface)
{
    return iface->ops.iface_progress(iface);
}

/**
 * Records the status of one operation in a completion: the first failure stays.
 */
UCT_INLINE_API void uct_completion_update_status(uct_completion_t *comp, ucs_status_t status)
{
    if (comp->status == UCS_OK) {
        comp->status = status;
    }
}

END_C_DECLS

#endif
