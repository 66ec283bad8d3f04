/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCP_API_UCP_H
#define FERRUCX_UCP_API_UCP_H

#include <ucp/api/ucp_compat.h>
#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_version.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/thread_mode.h>
#include <stdio.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** Datatype of contiguous elements of `_elem_size` bytes. */
#define ucp_dt_make_contig(_elem_size) \
    ((((ucp_datatype_t)(_elem_size)) << UCP_DATATYPE_SHIFT) | UCP_DATATYPE_CONTIG)
/** Datatype of an array of `ucp_dt_iov_t`. */
#define ucp_dt_make_iov() ((ucp_datatype_t)UCP_DATATYPE_IOV)
/** Datatype of a scatter-gather list: see `ucp_dt_local_sgl_t`. */
#define ucp_dt_make_sgl() ((ucp_datatype_t)UCP_DATATYPE_SGL)

/** How memory will be used. */
enum ucp_mem_advice {
    /** No advice. */
    UCP_MADV_NORMAL = 0,
    /** It will be accessed soon. */
    UCP_MADV_WILLNEED = 1,
};

typedef enum ucp_mem_advice ucp_mem_advice_t;

/** Operations of `ucp_atomic_op_nbx`. */
enum ucp_atomic_op_t {
    /** Add. */
    UCP_ATOMIC_OP_ADD = 0,
    /** Exchange. */
    UCP_ATOMIC_OP_SWAP = 1,
    /** Exchange, if the value there is the one expected. */
    UCP_ATOMIC_OP_CSWAP = 2,
    /** Bitwise and. */
    UCP_ATOMIC_OP_AND = 3,
    /** Bitwise or. */
    UCP_ATOMIC_OP_OR = 4,
    /** Bitwise exclusive or. */
    UCP_ATOMIC_OP_XOR = 5,
    /** Number of operations. */
    UCP_ATOMIC_OP_LAST = 6,
};

typedef enum ucp_atomic_op_t ucp_atomic_op_t;

/** Members of `ucp_params`. */
enum ucp_params_field {
    UCP_PARAM_FIELD_FEATURES = UCS_BIT(0),
    UCP_PARAM_FIELD_REQUEST_SIZE = UCS_BIT(1),
    UCP_PARAM_FIELD_REQUEST_INIT = UCS_BIT(2),
    UCP_PARAM_FIELD_REQUEST_CLEANUP = UCS_BIT(3),
    UCP_PARAM_FIELD_TAG_SENDER_MASK = UCS_BIT(4),
    UCP_PARAM_FIELD_MT_WORKERS_SHARED = UCS_BIT(5),
    UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = UCS_BIT(6),
    UCP_PARAM_FIELD_ESTIMATED_NUM_PPN = UCS_BIT(7),
    UCP_PARAM_FIELD_NAME = UCS_BIT(8),
    UCP_PARAM_FIELD_NODE_LOCAL_ID = UCS_BIT(9),
};

/** What a context is for; a worker refuses operations that were not asked for. */
enum ucp_feature {
    /** Tagged messages. */
    UCP_FEATURE_TAG = UCS_BIT(0),
    /** Access to remote memory. */
    UCP_FEATURE_RMA = UCS_BIT(1),
    /** Atomics of 4 bytes. */
    UCP_FEATURE_AMO32 = UCS_BIT(2),
    /** Atomics of 8 bytes. */
    UCP_FEATURE_AMO64 = UCS_BIT(3),
    /** Waiting without polling. */
    UCP_FEATURE_WAKEUP = UCS_BIT(4),
    /** Byte streams. */
    UCP_FEATURE_STREAM = UCS_BIT(5),
    /** Active messages. */
    UCP_FEATURE_AM = UCS_BIT(6),
    /** Memory handles that another process uses. */
    UCP_FEATURE_EXPORTED_MEMH = UCS_BIT(7),
    /** Calls from device code. */
    UCP_FEATURE_DEVICE = UCS_BIT(8),
};

/** Members of `ucp_lib_attr`. */
enum ucp_lib_attr_field {
    UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = UCS_BIT(0),
};

/** Members of `ucp_context_attr`. */
enum ucp_context_attr_field {
    UCP_ATTR_FIELD_REQUEST_SIZE = UCS_BIT(0),
    UCP_ATTR_FIELD_THREAD_MODE = UCS_BIT(1),
    UCP_ATTR_FIELD_MEMORY_TYPES = UCS_BIT(2),
    UCP_ATTR_FIELD_NAME = UCS_BIT(3),
    UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = UCS_BIT(4),
};

/** Members of `ucp_worker_params`. */
enum ucp_worker_params_field {
    UCP_WORKER_PARAM_FIELD_THREAD_MODE = UCS_BIT(0),
    UCP_WORKER_PARAM_FIELD_CPU_MASK = UCS_BIT(1),
    UCP_WORKER_PARAM_FIELD_EVENTS = UCS_BIT(2),
    UCP_WORKER_PARAM_FIELD_USER_DATA = UCS_BIT(3),
    UCP_WORKER_PARAM_FIELD_EVENT_FD = UCS_BIT(4),
    UCP_WORKER_PARAM_FIELD_FLAGS = UCS_BIT(5),
    UCP_WORKER_PARAM_FIELD_NAME = UCS_BIT(6),
    UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT = UCS_BIT(7),
    UCP_WORKER_PARAM_FIELD_CLIENT_ID = UCS_BIT(8),
};

/** Flags of a worker. */
enum ucp_worker_flags_t {
    /** Do not complain of requests that were never freed. */
    UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK = UCS_BIT(0),
};

typedef enum ucp_worker_flags_t ucp_worker_flags_t;

/** What an address of a worker shall hold. */
enum ucp_worker_address_flags_t {
    /** Only transports that reach other machines. */
    UCP_WORKER_ADDRESS_FLAG_NET_ONLY = UCS_BIT(0),
};

typedef enum ucp_worker_address_flags_t ucp_worker_address_flags_t;

/** Members of `ucp_worker_attr`. */
enum ucp_worker_attr_field {
    UCP_WORKER_ATTR_FIELD_THREAD_MODE = UCS_BIT(0),
    UCP_WORKER_ATTR_FIELD_ADDRESS = UCS_BIT(1),
    UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS = UCS_BIT(2),
    UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER = UCS_BIT(3),
    UCP_WORKER_ATTR_FIELD_NAME = UCS_BIT(4),
    UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = UCS_BIT(5),
};

/** Members of `ucp_worker_address_attr`. */
enum ucp_worker_address_attr_field {
    UCP_WORKER_ADDRESS_ATTR_FIELD_UID = UCS_BIT(0),
};

/** Members of `ucp_listener_params`. */
enum ucp_listener_params_field {
    UCP_LISTENER_PARAM_FIELD_SOCK_ADDR = UCS_BIT(0),
    UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = UCS_BIT(1),
    UCP_LISTENER_PARAM_FIELD_CONN_HANDLER = UCS_BIT(2),
};

/** Members of `ucp_ep_params`. */
enum ucp_ep_params_field {
    UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = UCS_BIT(0),
    UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = UCS_BIT(1),
    UCP_EP_PARAM_FIELD_ERR_HANDLER = UCS_BIT(2),
    UCP_EP_PARAM_FIELD_USER_DATA = UCS_BIT(3),
    UCP_EP_PARAM_FIELD_SOCK_ADDR = UCS_BIT(4),
    UCP_EP_PARAM_FIELD_FLAGS = UCS_BIT(5),
    UCP_EP_PARAM_FIELD_CONN_REQUEST = UCS_BIT(6),
    UCP_EP_PARAM_FIELD_NAME = UCS_BIT(7),
    UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR = UCS_BIT(8),
};

/** Flags of an endpoint's creation. */
enum ucp_ep_params_flags_field {
    /** Connect to a listener's socket. */
    UCP_EP_PARAMS_FLAGS_CLIENT_SERVER = UCS_BIT(0),
    /** Do not pair an endpoint to its own worker with itself. */
    UCP_EP_PARAMS_FLAGS_NO_LOOPBACK = UCS_BIT(1),
    /** Send the worker's `client_id` to the server. */
    UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = UCS_BIT(2),
};

/** Flags of `ucp_ep_close_nbx`. */
enum ucp_ep_close_flags_t {
    /**
     * Do not flush: operations under way end with an error. Needs error handling mode PEER on
     * both sides.
     */
    UCP_EP_CLOSE_FLAG_FORCE = UCS_BIT(0),
};

typedef enum ucp_ep_close_flags_t ucp_ep_close_flags_t;

/** Members of `ucp_ep_evaluate_perf_param_t`. */
enum ucp_ep_perf_param_field {
    UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = UCS_BIT(0),
};

typedef enum ucp_ep_perf_param_field ucp_ep_perf_param_field_t;

/** Members of `ucp_ep_evaluate_perf_attr_t`. */
enum ucp_ep_perf_attr_field {
    UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = UCS_BIT(0),
};

typedef enum ucp_ep_perf_attr_field ucp_ep_perf_attr_field_t;

/** Members of `ucp_listener_attr`. */
enum ucp_listener_attr_field {
    UCP_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0),
};

/** Members of `ucp_conn_request_attr`. */
enum ucp_conn_request_attr_field {
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = UCS_BIT(0),
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID = UCS_BIT(1),
};

/** Members of `ucp_ep_attr`. */
enum ucp_ep_attr_field {
    UCP_EP_ATTR_FIELD_NAME = UCS_BIT(0),
    UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR = UCS_BIT(1),
    UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = UCS_BIT(2),
    UCP_EP_ATTR_FIELD_TRANSPORTS = UCS_BIT(3),
    UCP_EP_ATTR_FIELD_USER_DATA = UCS_BIT(4),
};

/** Members of `ucp_mem_map_params`. */
enum ucp_mem_map_params_field {
    UCP_MEM_MAP_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    UCP_MEM_MAP_PARAM_FIELD_LENGTH = UCS_BIT(1),
    UCP_MEM_MAP_PARAM_FIELD_FLAGS = UCS_BIT(2),
    UCP_MEM_MAP_PARAM_FIELD_PROT = UCS_BIT(3),
    UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE = UCS_BIT(4),
    UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = UCS_BIT(5),
};

/** Members of `ucp_mem_advise_params`. */
enum ucp_mem_advise_params_field {
    UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH = UCS_BIT(1),
    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE = UCS_BIT(2),
};

/** Members of `ucp_memh_pack_params`. */
enum ucp_memh_pack_params_field {
    UCP_MEMH_PACK_PARAM_FIELD_FLAGS = UCS_BIT(0),
};

/** Flags of `ucp_memh_pack`. */
enum ucp_memh_pack_flags {
    /** For use as `exported_memh_buffer` by another process; else a remote key. */
    UCP_MEMH_PACK_FLAG_EXPORT = UCS_BIT(0),
};

/** Flags of `ucp_mem_map`. */
enum ucp_mem_map_bits {
    /** May finish the mapping later, at the first use. */
    UCP_MEM_MAP_NONBLOCK = UCS_BIT(0),
    /** Allocate the memory. */
    UCP_MEM_MAP_ALLOCATE = UCS_BIT(1),
    /** Allocate at the given address, which must be aligned to pages. */
    UCP_MEM_MAP_FIXED = UCS_BIT(2),
    /** Try for remote keys that are the same in all processes. */
    UCP_MEM_MAP_SYMMETRIC_RKEY = UCS_BIT(3),
    /** Lock the pages. */
    UCP_MEM_MAP_LOCK = UCS_BIT(4),
};

/** Accesses that a mapping allows. */
enum ucp_mem_map_prot_bits {
    /** Read here. */
    UCP_MEM_MAP_PROT_LOCAL_READ = UCS_BIT(0),
    /** Write here. */
    UCP_MEM_MAP_PROT_LOCAL_WRITE = UCS_BIT(1),
    /** Read by peers. */
    UCP_MEM_MAP_PROT_REMOTE_READ = UCS_BIT(8),
    /** Write by peers. */
    UCP_MEM_MAP_PROT_REMOTE_WRITE = UCS_BIT(9),
};

/** Classes of datatypes, the low bits of a `ucp_datatype_t`. */
enum ucp_dt_type {
    /** One piece; the other bits are the size of an element. */
    UCP_DATATYPE_CONTIG = 0,
    /** Reserved. */
    UCP_DATATYPE_STRIDED = 1,
    /** A `ucp_dt_iov_t` array. */
    UCP_DATATYPE_IOV = 2,
    /** Lists of addresses: `ucp_dt_local_sgl_t`, and `ucp_dt_remote_sgl_t` for the other side. */
    UCP_DATATYPE_SGL = 4,
    /** Packed and unpacked by the caller's functions. */
    UCP_DATATYPE_GENERIC = 7,
    /** Bits of the class. */
    UCP_DATATYPE_SHIFT = 3,
    /** Mask of the class. */
    UCP_DATATYPE_CLASS_MASK = 7,
};

/** Members of `ucp_datatype_attr`. */
enum ucp_datatype_attr_field {
    UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = UCS_BIT(0),
    UCP_DATATYPE_ATTR_FIELD_BUFFER = UCS_BIT(1),
    UCP_DATATYPE_ATTR_FIELD_COUNT = UCS_BIT(2),
};

/** Members of `ucp_dt_local_sgl_t`. */
enum ucp_dt_local_sgl_field {
    UCP_DT_LOCAL_SGL_FIELD_BUFFERS = UCS_BIT(0),
    UCP_DT_LOCAL_SGL_FIELD_LENGTHS = UCS_BIT(1),
    UCP_DT_LOCAL_SGL_FIELD_MEMHS = UCS_BIT(2),
    UCP_DT_LOCAL_SGL_FIELD_COUNTS = UCS_BIT(3),
    UCP_DT_LOCAL_SGL_FIELD_STRIDES = UCS_BIT(4),
};

/** Members of `ucp_dt_remote_sgl_t`. */
enum ucp_dt_remote_sgl_field {
    UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS = UCS_BIT(0),
    UCP_DT_REMOTE_SGL_FIELD_LENGTHS = UCS_BIT(1),
    UCP_DT_REMOTE_SGL_FIELD_RKEYS = UCS_BIT(2),
};

/** Flags of an active message's handler. */
enum ucp_am_cb_flags {
    /** Call it with whole messages only. */
    UCP_AM_FLAG_WHOLE_MSG = UCS_BIT(0),
    /** It wants to keep the data: the library hands it over where it can. */
    UCP_AM_FLAG_PERSISTENT_DATA = UCS_BIT(1),
};

/** Flags of an active message's send. */
enum ucp_send_am_flags {
    /** Let the handler reply: it gets an endpoint. */
    UCP_AM_SEND_FLAG_REPLY = UCS_BIT(0),
    /** Send the data with the message, whatever its size. */
    UCP_AM_SEND_FLAG_EAGER = UCS_BIT(1),
    /** Announce the data; the peer fetches it. */
    UCP_AM_SEND_FLAG_RNDV = UCS_BIT(2),
    /** Copy the header, so that the caller's memory is free at once. */
    UCP_AM_SEND_FLAG_COPY_HEADER = UCS_BIT(3),
    /** Old name of UCP_AM_SEND_FLAG_REPLY. */
    UCP_AM_SEND_REPLY = 1,
};

/** Flags that an old-style handler gets. */
enum ucp_cb_param_flags {
    /** The data may be kept. */
    UCP_CB_PARAM_FLAG_DATA = UCS_BIT(0),
};

/** Flags of a stream receive. */
enum ucp_stream_recv_flags_t {
    /** Wait until the buffer is full. */
    UCP_STREAM_RECV_FLAG_WAITALL = UCS_BIT(0),
};

typedef enum ucp_stream_recv_flags_t ucp_stream_recv_flags_t;

/** Members of `ucp_request_param_t`, and flags of an operation. */
enum ucp_op_attr_t {
    UCP_OP_ATTR_FIELD_REQUEST = UCS_BIT(0),
    UCP_OP_ATTR_FIELD_CALLBACK = UCS_BIT(1),
    UCP_OP_ATTR_FIELD_USER_DATA = UCS_BIT(2),
    UCP_OP_ATTR_FIELD_DATATYPE = UCS_BIT(3),
    UCP_OP_ATTR_FIELD_FLAGS = UCS_BIT(4),
    UCP_OP_ATTR_FIELD_REPLY_BUFFER = UCS_BIT(5),
    UCP_OP_ATTR_FIELD_MEMORY_TYPE = UCS_BIT(6),
    UCP_OP_ATTR_FIELD_RECV_INFO = UCS_BIT(7),
    UCP_OP_ATTR_FIELD_MEMH = UCS_BIT(8),
    UCP_OP_ATTR_FIELD_REMOTE_DATATYPE = UCS_BIT(9),
    UCP_OP_ATTR_FIELD_REMOTE = UCS_BIT(10),
    UCP_OP_ATTR_FIELD_REMOTE_COUNT = UCS_BIT(11),
    /** Never finish at once: always give a request and call back. */
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL = UCS_BIT(16),
    /** Finish early rather than move data fast. */
    UCP_OP_ATTR_FLAG_FAST_CMPL = UCS_BIT(17),
    /** Finish at once or fail with UCS_ERR_NO_RESOURCE: never give a request. */
    UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = UCS_BIT(18),
    /** More operations follow: throughput before latency. */
    UCP_OP_ATTR_FLAG_MULTI_SEND = UCS_BIT(19),
};

typedef enum ucp_op_attr_t ucp_op_attr_t;

/** Members of `ucp_request_attr_t`. */
enum ucp_req_attr_field {
    UCP_REQUEST_ATTR_FIELD_INFO_STRING = UCS_BIT(0),
    UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = UCS_BIT(1),
    UCP_REQUEST_ATTR_FIELD_STATUS = UCS_BIT(2),
    UCP_REQUEST_ATTR_FIELD_MEM_TYPE = UCS_BIT(3),
};

typedef enum ucp_req_attr_field ucp_req_attr_field;

/** Members and flags of `ucp_am_recv_param`. */
enum ucp_am_recv_attr_t {
    UCP_AM_RECV_ATTR_FIELD_REPLY_EP = UCS_BIT(0),
    /** The data is here and may be kept. */
    UCP_AM_RECV_ATTR_FLAG_DATA = UCS_BIT(16),
    /** The data is at the sender: fetch it with `ucp_am_recv_data_nbx`. */
    UCP_AM_RECV_ATTR_FLAG_RNDV = UCS_BIT(17),
};

typedef enum ucp_am_recv_attr_t ucp_am_recv_attr_t;

/** Members of `ucp_am_handler_param`. */
enum ucp_am_handler_param_field {
    UCP_AM_HANDLER_PARAM_FIELD_ID = UCS_BIT(0),
    UCP_AM_HANDLER_PARAM_FIELD_FLAGS = UCS_BIT(1),
    UCP_AM_HANDLER_PARAM_FIELD_CB = UCS_BIT(2),
    UCP_AM_HANDLER_PARAM_FIELD_ARG = UCS_BIT(3),
};

typedef struct ucp_lib_attr ucp_lib_attr_t;
typedef struct ucp_params ucp_params_t;
typedef struct ucp_context_attr ucp_context_attr_t;
typedef struct ucp_rkey_compare_params ucp_rkey_compare_params_t;
typedef struct ucp_worker_params ucp_worker_params_t;
typedef struct ucp_worker_attr ucp_worker_attr_t;
typedef struct ucp_worker_address_attr ucp_worker_address_attr_t;
typedef struct ucp_stream_poll_ep ucp_stream_poll_ep_t;
typedef struct ucp_listener_params ucp_listener_params_t;
typedef struct ucp_listener_attr ucp_listener_attr_t;
typedef struct ucp_conn_request_attr ucp_conn_request_attr_t;
typedef struct ucp_request_attr_t ucp_request_attr_t;
typedef struct ucp_request_param_t ucp_request_param_t;
typedef struct ucp_ep_evaluate_perf_param_t ucp_ep_evaluate_perf_param_t;
typedef struct ucp_ep_evaluate_perf_attr_t ucp_ep_evaluate_perf_attr_t;
typedef struct ucp_mem_map_params ucp_mem_map_params_t;
typedef struct ucp_mem_advise_params ucp_mem_advise_params_t;
typedef struct ucp_memh_pack_params ucp_memh_pack_params_t;
typedef struct ucp_memh_buffer_release_params ucp_memh_buffer_release_params_t;
typedef struct ucp_am_handler_param ucp_am_handler_param_t;
typedef struct ucp_generic_dt_ops ucp_generic_dt_ops_t;
typedef struct ucp_datatype_attr ucp_datatype_attr_t;
typedef struct ucp_ep_attr ucp_ep_attr_t;
typedef struct ucp_dt_iov ucp_dt_iov_t;
typedef struct ucp_dt_local_sgl_t ucp_dt_local_sgl_t;
typedef struct ucp_dt_remote_sgl_t ucp_dt_remote_sgl_t;

/** What `ucp_lib_query` tells. */
struct ucp_lib_attr {
    /** In: members to fill, bits of `ucp_lib_attr_field`. */
    uint64_t field_mask;
    /** Best thread mode that a worker can have. */
    ucs_thread_mode_t max_thread_level;
};

/** How an application uses the library. */
struct ucp_params {
    /** Members that are set, bits of `ucp_params_field`. */
    uint64_t field_mask;
    /** Bits of `ucp_feature`; must be set. */
    uint64_t features;
    /** Bytes of the caller in each request, before the address that the caller gets. */
    size_t request_size;
    /** Prepares these bytes. */
    ucp_request_init_callback_t request_init;
    /** Undoes that. */
    ucp_request_cleanup_callback_t request_cleanup;
    /** Bits of a tag that name the sender; all receives of one sender share them. */
    uint64_t tag_sender_mask;
    /** Nonzero: workers of this context are used from different threads. */
    int mt_workers_shared;
    /** Endpoints to expect; steers the choice of transports. */
    size_t estimated_num_eps;
    /** Processes to expect on one machine. */
    size_t estimated_num_ppn;
    /** Name for messages; NUL-terminated, copied. */
    const char *name;
    /** Number of this process on its machine. */
    size_t node_local_id;
};

/** What `ucp_context_query` tells. */
struct ucp_context_attr {
    /** In: members to fill, bits of `ucp_context_attr_field`. */
    uint64_t field_mask;
    /** Bytes of the library that stand before a request which the caller allocates. */
    size_t request_size;
    /** Thread mode of the context itself. */
    ucs_thread_mode_t thread_mode;
    /** Bitmap of the `ucs_memory_type_t` that can be sent and received. */
    uint64_t memory_types;
    /** Name of the context, NUL-terminated. */
    char name[UCP_ENTITY_NAME_MAX];
    /** Bytes of a device counter; 0: no device is supported. */
    size_t device_counter_size;
};

/** How `ucp_rkey_compare` works; nothing to choose yet. */
struct ucp_rkey_compare_params {
    /** 0. */
    uint64_t field_mask;
};

/** How a worker works. */
struct ucp_worker_params {
    /** Members that are set, bits of `ucp_worker_params_field`. */
    uint64_t field_mask;
    /** Which threads use it; UCS_THREAD_MODE_SINGLE when not set. */
    ucs_thread_mode_t thread_mode;
    /** Processors that it runs on, for the choice of near devices. */
    ucs_cpu_set_t cpu_mask;
    /** Events that wake up, bits of `ucp_wakeup_event_types`. */
    unsigned int events;
    /** Comes back in events on `event_fd`. */
    void *user_data;
    /** An epoll descriptor of the caller that the worker adds its own to. */
    int event_fd;
    /** Bits of `ucp_worker_flags_t`. */
    uint64_t flags;
    /** Name for messages; NUL-terminated, copied. */
    const char *name;
    /** Alignment of the data of arriving active messages, a power of two. */
    size_t am_alignment;
    /** Number that tells a server who this client is. */
    uint64_t client_id;
};

/** What `ucp_worker_query` tells. */
struct ucp_worker_attr {
    /** In: members to fill, bits of `ucp_worker_attr_field`. */
    uint64_t field_mask;
    /** Thread mode that the worker has, which may be less than was asked for. */
    ucs_thread_mode_t thread_mode;
    /** In: bits of `ucp_worker_address_flags_t`. */
    uint32_t address_flags;
    /** Address; `ucp_worker_release_address` frees it. */
    ucp_address_t *address;
    /** Bytes of the address. */
    size_t address_length;
    /** Longest header of an active message, bytes. */
    size_t max_am_header;
    /** Name of the worker, NUL-terminated. */
    char name[UCP_ENTITY_NAME_MAX];
    /** Bytes that hold any text of `ucp_request_query`. */
    size_t max_debug_string;
};

/** What an address tells: `ucp_worker_address_query`. */
struct ucp_worker_address_attr {
    /** In: members to fill, bits of `ucp_worker_address_attr_field`. */
    uint64_t field_mask;
    /** Number of the worker, unique among all peers. */
    uint64_t worker_uid;
};

/** An endpoint with stream data: `ucp_stream_worker_poll`. */
struct ucp_stream_poll_ep {
    /** The endpoint. */
    ucp_ep_h ep;
    /** As given when it was created. */
    void *user_data;
    /** 0. */
    unsigned int flags;
    /** For later. */
    uint8_t reserved[16];
};

/** How a listener accepts clients: one of the two handlers. */
struct ucp_listener_params {
    /** Members that are set, bits of `ucp_listener_params_field`. */
    uint64_t field_mask;
    /** Socket to bind; must be set. Port 0 takes any free one. */
    ucs_sock_addr_t sockaddr;
    /** Gets endpoints, each for a client. */
    ucp_listener_accept_handler_t accept_handler;
    /** Gets requests, and decides. */
    ucp_listener_conn_handler_t conn_handler;
};

/** What `ucp_listener_query` tells. */
struct ucp_listener_attr {
    /** In: members to fill, bits of `ucp_listener_attr_field`. */
    uint64_t field_mask;
    /** Socket that it is bound to, with the port that it got. */
    struct sockaddr_storage sockaddr;
};

/** What `ucp_conn_request_query` tells. */
struct ucp_conn_request_attr {
    /** In: members to fill, bits of `ucp_conn_request_attr_field`. */
    uint64_t field_mask;
    /** Socket of the client. */
    struct sockaddr_storage client_address;
    /** Number that the client sent. */
    uint64_t client_id;
};

/** What `ucp_request_query` tells. */
struct ucp_request_attr_t {
    /** Members that are set or wanted, bits of `ucp_req_attr_field`. */
    uint64_t field_mask;
    /** In: buffer of the caller for a text on the request. */
    char *debug_string;
    /** In: bytes of that buffer. */
    size_t debug_string_size;
    /** Status of the request. */
    ucs_status_t status;
    /** Kind of the memory that it uses. */
    ucs_memory_type_t mem_type;
};

/** The callback of an operation, by its kind. */
union ucp_request_param_t_cb {
    /** Of sends, remote memory access, atomics, flush and close. */
    ucp_send_nbx_callback_t send;
    /** Of tagged receives. */
    ucp_tag_recv_nbx_callback_t recv;
    /** Of stream receives. */
    ucp_stream_recv_nbx_callback_t recv_stream;
    /** Of fetches of active message data. */
    ucp_am_recv_data_nbx_callback_t recv_am;
};

/** Where a receive that ends at once writes its result. */
union ucp_request_param_t_recv_info {
    /** Bytes received, of streams and active messages. */
    size_t *length;
    /** Tag and bytes, of tagged receives. */
    ucp_tag_recv_info_t *tag_info;
};

/**
 * Optional parameters of an operation. Only members whose bit is set are read, so that callers may
 * pass the shorter structure of an older release.
 */
struct ucp_request_param_t {
    /** Members that are set and flags, bits of `ucp_op_attr_t`. */
    uint32_t op_attr_mask;
    /** Flags of the operation. */
    uint32_t flags;
    /**
     * Request in memory of the caller, with the context's `request_size` bytes before it. It is
     * not freed by `ucp_request_free`.
     */
    void *request;
    /** Called at the end, unless the operation ends at once. */
    union ucp_request_param_t_cb cb;
    /** Layout of the buffer; bytes when not set. */
    ucp_datatype_t datatype;
    /** Passed to the callback. */
    void *user_data;
    /** Where an atomic puts the value that was there. */
    void *reply_buffer;
    /** Kind of the buffer's memory; found out when not set. */
    ucs_memory_type_t memory_type;
    /** Where a receive that ends at once writes its result. */
    union ucp_request_param_t_recv_info recv_info;
    /** Handle of the buffer's memory. */
    ucp_mem_h memh;
    /** Layout of the remote buffer. */
    ucp_datatype_t remote_datatype;
    /** A `ucp_dt_remote_sgl_t` when the remote side is a list. */
    const void *remote;
    /** Elements of the remote side. */
    size_t remote_count;
};

/** What `ucp_ep_evaluate_perf` shall estimate. */
struct ucp_ep_evaluate_perf_param_t {
    /** Members that are set, bits of `ucp_ep_perf_param_field`. */
    uint64_t field_mask;
    /** Bytes of a message. */
    size_t message_size;
};

/** The estimate. */
struct ucp_ep_evaluate_perf_attr_t {
    /** In: members to fill, bits of `ucp_ep_perf_attr_field`. */
    uint64_t field_mask;
    /** Seconds until the peer has the message. */
    double estimated_time;
};

/** What `ucp_mem_map` makes known, or allocates. */
struct ucp_mem_map_params {
    /** Members that are set, bits of `ucp_mem_map_params_field`. */
    uint64_t field_mask;
    /** Start; may be NULL with UCP_MEM_MAP_ALLOCATE. */
    void *address;
    /** Bytes; must be set. */
    size_t length;
    /** `UCP_MEM_MAP_*`. */
    unsigned int flags;
    /** `UCP_MEM_MAP_PROT_*`; everything when not set. */
    unsigned int prot;
    /** Kind of the memory; found out when not set. */
    ucs_memory_type_t memory_type;
    /** A handle that another process packed for export: attach to its memory. */
    const void *exported_memh_buffer;
};

/** Advice on a part of mapped memory. */
struct ucp_mem_advise_params {
    /** Members that are set, bits of `ucp_mem_advise_params_field`; all must be. */
    uint64_t field_mask;
    /** Start. */
    void *address;
    /** Bytes. */
    size_t length;
    /** The advice. */
    ucp_mem_advice_t advice;
};

/** How `ucp_memh_pack` packs a handle. */
struct ucp_memh_pack_params {
    /** Members that are set, bits of `ucp_memh_pack_params_field`. */
    uint64_t field_mask;
    /** Bits of `ucp_memh_pack_flags`. */
    uint64_t flags;
};

/** How `ucp_memh_buffer_release` works; nothing to choose yet. */
struct ucp_memh_buffer_release_params {
    /** 0. */
    uint64_t field_mask;
};

/** A handler of active messages. */
struct ucp_am_handler_param {
    /** Members that are set, bits of `ucp_am_handler_param_field`. */
    uint64_t field_mask;
    /** Number of the message; must be set. */
    unsigned int id;
    /** Bits of `ucp_am_cb_flags`. */
    uint32_t flags;
    /** The handler; NULL removes it. */
    ucp_am_recv_callback_t cb;
    /** Its first argument. */
    void *arg;
};

/**
 * A datatype that the caller packs. Each function gets the context of `ucp_dt_create_generic`
 * first, or the state that a start function returned.
 */
struct ucp_generic_dt_ops {
    /** Begins to pack `count` items of a buffer; returns a state. */
    void *(*start_pack)(void*, const void*, size_t);
    /** Begins to unpack into a buffer; returns a state. */
    void *(*start_unpack)(void*, void*, size_t);
    /** Bytes of the packed form. */
    size_t (*packed_size)(void*);
    /** Packs from an offset into at most so many bytes; returns the bytes. */
    size_t (*pack)(void*, size_t, void*, size_t);
    /** Unpacks bytes at an offset. */
    ucs_status_t (*unpack)(void*, size_t, const void*, size_t);
    /** Ends a state. */
    void (*finish)(void*);
};

/** What `ucp_dt_query` tells. */
struct ucp_datatype_attr {
    /** Members that are set or wanted, bits of `ucp_datatype_attr_field`. */
    uint64_t field_mask;
    /** Out: bytes of the packed form. */
    size_t packed_size;
    /** In: the buffer, where the size depends on it. */
    const void *buffer;
    /** In: number of elements; 1 when not set. */
    size_t count;
};

/** What `ucp_ep_query` tells. */
struct ucp_ep_attr {
    /** In: members to fill, bits of `ucp_ep_attr_field`. */
    uint64_t field_mask;
    /** Name of the endpoint, NUL-terminated. */
    char name[UCP_ENTITY_NAME_MAX];
    /** Own socket, of endpoints between client and server. */
    struct sockaddr_storage local_sockaddr;
    /** The peer's socket, of endpoints between client and server. */
    struct sockaddr_storage remote_sockaddr;
    /** Transports in use. */
    ucp_transports_t transports;
    /** As given when it was created. */
    void *user_data;
};

/** One piece of a scattered buffer. */
struct ucp_dt_iov {
    /** Start. */
    void *buffer;
    /** Bytes. */
    size_t length;
};

/** A local scatter-gather list: arrays of one length, the count of the operation. */
struct ucp_dt_local_sgl_t {
    /** Members that are set, bits of `ucp_dt_local_sgl_field`. */
    uint64_t field_mask;
    /** Starts of the pieces. */
    void *const *buffers;
    /** Their bytes. */
    const size_t *lengths;
    /** Their memory handles. */
    const ucp_mem_h *memhs;
    /** How often each is repeated. */
    const size_t *counts;
    /** Bytes from one repetition to the next. */
    const size_t *strides;
};

/** The other side of a scatter-gather list. */
struct ucp_dt_remote_sgl_t {
    /** Members that are set, bits of `ucp_dt_remote_sgl_field`. */
    uint64_t field_mask;
    /** Addresses in the peer's memory. */
    const uint64_t *remote_addrs;
    /** Bytes at each. */
    const size_t *lengths;
    /** Keys to each. */
    const ucp_rkey_h *rkeys;
};

/** What arrived. */
struct ucp_tag_recv_info {
    /** Tag of the sender. */
    ucp_tag_t sender_tag;
    /** Bytes. */
    size_t length;
};

/** What a handler is told besides the message. */
struct ucp_am_recv_param {
    /** Members that are set and flags, bits of `ucp_am_recv_attr_t`. */
    uint64_t recv_attr;
    /** Endpoint to the sender. */
    ucp_ep_h reply_ep;
};

/**
 * Tells what the library can do, before any context.
 *
 * `ucp/api/ucp.h`, group `context`.
 */
ucs_status_t ucp_lib_query(ucp_lib_attr_t *attr);

/**
 * Reads the options from the environment: `UCX_*`, and before it `PREFIX_UCX_*` if a prefix is
 * given. `filename` is reserved: NULL. The result is freed by `ucp_config_release`.
 *
 * `ucp/api/ucp.h`, group `config`.
 */
ucs_status_t ucp_config_read(const char *env_prefix,
                             const char *filename,
                             ucp_config_t **config_p);

/**
 * Frees what `ucp_config_read` made.
 *
 * `ucp/api/ucp.h`, group `config`.
 */
void ucp_config_release(ucp_config_t *config);

/**
 * Sets an option by name, without the prefix `UCX_`: one of contexts, or a global one, which changes at once for the
 * whole process, or one of a component, which is read where a context with this configuration opens it.
 * UCS_ERR_INVALID_PARAM: no such option that may change now, or the value does not fit.
 *
 * `ucp/api/ucp.h`, group `config`.
 */
ucs_status_t ucp_config_modify(ucp_config_t *config,
                               const char *name,
                               const char *value);

/**
 * Prints options to `stream`, under a title, as `print_flags` say.
 *
 * `ucp/api/ucp.h`, group `config`.
 */
void ucp_config_print(const ucp_config_t *config,
                      FILE *stream,
                      const char *title,
                      ucs_config_print_flags_t print_flags);

/**
 * Tells the version: 1, 22, 0.
 *
 * `ucp/api/ucp.h`, group `context`.
 */
void ucp_get_version(unsigned int *major_version,
                     unsigned int *minor_version,
                     unsigned int *release_number);

/**
 * The version as text; static.
 *
 * `ucp/api/ucp.h`, group `context`.
 */
const char *ucp_get_version_string(void);

/**
 * Creates a context, for a program that was compiled against a version of this interface.
 * `config` may be NULL. `ucp_cleanup` frees it. UCS_ERR_INVALID_PARAM without features;
 * UCS_ERR_NO_DEVICE when no transport is left.
 *
 * `ucp/api/ucp.h`, group `context`.
 */
ucs_status_t ucp_init_version(unsigned int api_major_version,
                              unsigned int api_minor_version,
                              const ucp_params_t *params,
                              const ucp_config_t *config,
                              ucp_context_h *context_p);

/**
 * Frees a context, all of whose workers and memory must be gone.
 *
 * `ucp/api/ucp.h`, group `context`.
 */
void ucp_cleanup(ucp_context_h context_p);

/**
 * Tells about a context.
 *
 * `ucp/api/ucp.h`, group `context`.
 */
ucs_status_t ucp_context_query(ucp_context_h context_p, ucp_context_attr_t *attr);

/**
 * Orders two remote keys: `*result` is negative, 0 or positive. Equal keys can stand for each
 * other.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_rkey_compare(ucp_worker_h worker,
                              ucp_rkey_h rkey1,
                              ucp_rkey_h rkey2,
                              const ucp_rkey_compare_params_t *params,
                              int *result);

/**
 * Prints what a context found: one line for each resource.
 *
 * `ucp/api/ucp.h`, group `context`.
 */
void ucp_context_print_info(ucp_context_h context, FILE *stream);

/**
 * Creates a worker. It may get a lesser thread mode than it was asked for: see
 * `ucp_worker_query`. `ucp_worker_destroy` frees it.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_create(ucp_context_h context,
                               const ucp_worker_params_t *params,
                               ucp_worker_h *worker_p);

/**
 * Frees a worker with its endpoints. Nobody may use them at that time.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
void ucp_worker_destroy(ucp_worker_h worker);

/**
 * Tells about a worker. An address that it gives is freed by `ucp_worker_release_address`.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_query(ucp_worker_h worker,
                              ucp_worker_attr_t *attr);

/**
 * Prints the address and the transports of a worker.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
void ucp_worker_print_info(ucp_worker_h worker, FILE *stream);

/**
 * Frees an address of the worker.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address);

/**
 * Tells about an address.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_address_query(ucp_address_t *address,
                                      ucp_worker_address_attr_t *attr);

/**
 * Moves messages and calls back. Never waits. Returns how much was done: 0 for nothing.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
unsigned int ucp_worker_progress(ucp_worker_h worker);

/**
 * Lists endpoints with stream data that was not received: at most `max_eps`. Returns their
 * number, or an error.
 *
 * `ucp/api/ucp.h`, group `stream`.
 */
ssize_t ucp_stream_worker_poll(ucp_worker_h worker,
                               ucp_stream_poll_ep_t *poll_eps,
                               size_t max_eps,
                               unsigned int flags);

/**
 * Gives a descriptor that becomes readable on events; for poll(), never to be read. Needs
 * UCP_FEATURE_WAKEUP.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd);

/**
 * Waits for events. Needs UCP_FEATURE_WAKEUP. Call `ucp_worker_progress` until it returns 0
 * before and after.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_wait(ucp_worker_h worker);

/**
 * Waits until memory at `address` changes, or for a while; the caller checks.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
void ucp_worker_wait_mem(ucp_worker_h worker, void *address);

/**
 * Makes the descriptor report the next event. UCS_ERR_BUSY: there are events now, progress first.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_arm(ucp_worker_h worker);

/**
 * Wakes a wait from another thread.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_signal(ucp_worker_h worker);

/**
 * Binds a socket and accepts clients while the worker progresses. UCS_ERR_BUSY: the address is in
 * use.
 *
 * `ucp/api/ucp.h`, group `listener`.
 */
ucs_status_t ucp_listener_create(ucp_worker_h worker,
                                 const ucp_listener_params_t *params,
                                 ucp_listener_h *listener_p);

/**
 * Closes a listener. Endpoints made through it stay.
 *
 * `ucp/api/ucp.h`, group `listener`.
 */
void ucp_listener_destroy(ucp_listener_h listener);

/**
 * Tells about a listener.
 *
 * `ucp/api/ucp.h`, group `listener`.
 */
ucs_status_t ucp_listener_query(ucp_listener_h listener, ucp_listener_attr_t *attr);

/**
 * Tells about a waiting client.
 *
 * `ucp/api/ucp.h`, group `listener`.
 */
ucs_status_t ucp_conn_request_query(ucp_conn_request_h conn_request,
                                    ucp_conn_request_attr_t *attr);

/**
 * Tells about a request.
 *
 * `ucp/api/ucp.h`, group `request`.
 */
ucs_status_t ucp_request_query(void *request, ucp_request_attr_t *attr);

/**
 * Connects to a worker, to a server, or to a waiting client. Returns before the connection
 * stands: operations wait for it. UCS_ERR_INVALID_PARAM without a peer; UCS_ERR_UNREACHABLE when
 * no transport reaches it.
 *
 * `ucp/api/ucp.h`, group `ep`.
 */
ucs_status_t ucp_ep_create(ucp_worker_h worker,
                           const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p);

/**
 * Closes an endpoint, after a flush or with force. The endpoint must not be used any more.
 * Returns NULL when done, a request, or an error.
 *
 * `ucp/api/ucp.h`, group `ep`.
 */
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep,
                                  const ucp_request_param_t *param);

/**
 * Refuses a waiting client, who gets UCS_ERR_REJECTED.
 *
 * `ucp/api/ucp.h`, group `listener`.
 */
ucs_status_t ucp_listener_reject(ucp_listener_h listener,
                                 ucp_conn_request_h conn_request);

/**
 * Prints the transports of an endpoint.
 *
 * `ucp/api/ucp.h`, group `ep`.
 */
void ucp_ep_print_info(ucp_ep_h h, FILE *stream);

/**
 * Completes all operations on an endpoint, at the peer too. Returns NULL when done, a request, or
 * an error.
 *
 * `ucp/api/ucp.h`, group `ep`.
 */
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h h,
                                  const ucp_request_param_t *param);

/**
 * Estimates how long a message takes.
 *
 * `ucp/api/ucp.h`, group `ep`.
 */
ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h h,
                                  const ucp_ep_evaluate_perf_param_t *param,
                                  ucp_ep_evaluate_perf_attr_t *attr);

/**
 * Makes memory known to the library, or allocates it. `ucp_mem_unmap` frees the handle, and the
 * memory if it was allocated.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_mem_map(ucp_context_h context_h,
                         const ucp_mem_map_params_t *params,
                         ucp_mem_h *memh_p);

/**
 * Frees a memory handle.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_mem_unmap(ucp_context_h context_h, ucp_mem_h memh);

/**
 * Tells about mapped memory.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_mem_query(ucp_mem_h memh, ucp_mem_attr_t *attr);

/**
 * Maps `mem_size` of memory and prints how.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
void ucp_mem_print_info(const char *mem_spec, ucp_context_h context_h, FILE *stream);

/**
 * Tells how mapped memory will be used.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_mem_advise(ucp_context_h context_h,
                            ucp_mem_h memh,
                            ucp_mem_advise_params_t *params);

/**
 * Packs a memory handle for peers or for other processes of this machine; the buffer is freed by
 * `ucp_memh_buffer_release`.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_memh_pack(ucp_mem_h memh,
                           const ucp_memh_pack_params_t *params,
                           void **buffer_p,
                           size_t *buffer_size_p);

/**
 * Frees a buffer of `ucp_memh_pack`.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
void ucp_memh_buffer_release(void *buffer,
                             const ucp_memh_buffer_release_params_t *params);

/**
 * Turns a packed key of the endpoint's peer into access. `ucp_rkey_destroy` frees it.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h h, const void *rkey_buffer, ucp_rkey_h *rkey_p);

/**
 * Gives a pointer to the peer's memory where it can be reached directly, else UCS_ERR_UNREACHABLE
 * or UCS_ERR_UNSUPPORTED.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey,
                          uint64_t raddr,
                          void **addr_p);

/**
 * Frees a remote key.
 *
 * `ucp/api/ucp.h`, group `mem`.
 */
void ucp_rkey_destroy(ucp_rkey_h rkey);

/**
 * Registers a handler of active messages, or removes one. UCS_ERR_INVALID_PARAM when the id is
 * not set.
 *
 * `ucp/api/ucp.h`, group `am`.
 */
ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t *param);

/**
 * Sends an active message to the handler `id` of the peer: `header_length` bytes of header, at
 * most the worker's `max_am_header`, and `count` elements at `buffer`. The header may be reused
 * at the end, or at once with UCP_AM_SEND_FLAG_COPY_HEADER. Returns NULL when done, a request, or
 * an error.
 *
 * `ucp/api/ucp.h`, group `am`.
 */
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep,
                                 unsigned int id,
                                 const void *header,
                                 size_t header_length,
                                 const void *buffer,
                                 size_t count,
                                 const ucp_request_param_t *param);

/**
 * Fetches the data of an active message that the handler got as a descriptor, into `buffer`.
 * Returns NULL when done, a request, or an error.
 *
 * `ucp/api/ucp.h`, group `am`.
 */
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker,
                                      void *data_desc,
                                      void *buffer,
                                      size_t count,
                                      const ucp_request_param_t *param);

/**
 * Gives back data that a handler kept by returning UCS_INPROGRESS.
 *
 * `ucp/api/ucp.h`, group `am`.
 */
void ucp_am_data_release(ucp_worker_h worker, void *data);

/**
 * Sends `count` elements on the byte stream of an endpoint. Returns NULL when done, a request, or
 * an error.
 *
 * `ucp/api/ucp.h`, group `stream`.
 */
ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep,
                                     const void *buffer,
                                     size_t count,
                                     const ucp_request_param_t *param);

/**
 * Sends `count` elements with a tag. Done when the caller's memory is free. Returns NULL when
 * done, a request, or an error.
 *
 * `ucp/api/ucp.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep,
                                  const void *buffer,
                                  size_t count,
                                  ucp_tag_t tag,
                                  const ucp_request_param_t *param);

/**
 * The same, but done only when the receiver has matched it.
 *
 * `ucp/api/ucp.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep,
                                       const void *buffer,
                                       size_t count,
                                       ucp_tag_t tag,
                                       const ucp_request_param_t *param);

/**
 * Receives up to `count` elements from the byte stream of an endpoint. NULL: done, `*length`
 * bytes.
 *
 * `ucp/api/ucp.h`, group `stream`.
 */
ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep,
                                     void *buffer,
                                     size_t count,
                                     size_t *length,
                                     const ucp_request_param_t *param);

/**
 * Takes what has arrived on a stream without a copy: its start, with the bytes in `*length`; NULL
 * for nothing. `ucp_stream_data_release` gives it back.
 *
 * `ucp/api/ucp.h`, group `stream`.
 */
ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep,
                                         size_t *length);

/**
 * Receives the first message whose tag equals `tag` in the bits of `tag_mask`, now or when it
 * comes. Returns NULL when done, a request, or an error. A message that is longer than the buffer
 * ends with UCS_ERR_MESSAGE_TRUNCATED.
 *
 * `ucp/api/ucp.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker,
                                  void *buffer,
                                  size_t count,
                                  ucp_tag_t tag,
                                  ucp_tag_t tag_mask,
                                  const ucp_request_param_t *param);

/**
 * Looks for a message that arrived, and tells its tag and bytes. With `remove` it is taken:
 * `ucp_tag_msg_recv_nbx` must receive it. NULL for none.
 *
 * `ucp/api/ucp.h`, group `tag`.
 */
ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker,
                                   ucp_tag_t tag,
                                   ucp_tag_t tag_mask,
                                   int remove,
                                   ucp_tag_recv_info_t *info);

/**
 * Receives a message that a probe took.
 *
 * `ucp/api/ucp.h`, group `tag`.
 */
ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker,
                                      void *buffer,
                                      size_t count,
                                      ucp_tag_message_h message,
                                      const ucp_request_param_t *param);

/**
 * Writes `count` elements to the peer's memory at `remote_addr`, or, of a list, to the places that
 * the parameters' remote list names. Done when the caller's memory is free; the peer sees it after
 * a flush. Returns NULL when done, a request, or an error.
 *
 * `ucp/api/ucp.h`, group `rma`.
 */
ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep,
                             const void *buffer,
                             size_t count,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/**
 * Reads `count` elements of the peer's memory at `remote_addr`. Returns NULL when done, a
 * request, or an error.
 *
 * `ucp/api/ucp.h`, group `rma`.
 */
ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep,
                             void *buffer,
                             size_t count,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/**
 * Changes `count` elements, of 4 or 8 bytes by the datatype, of the peer's memory at
 * `remote_addr`. `buffer` is the operand (of CSWAP: what is expected); with `reply_buffer` what
 * was there comes back (of CSWAP it is also the new value). Returns NULL when done, a request, or
 * an error.
 *
 * `ucp/api/ucp.h`, group `amo`.
 */
ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep,
                                   ucp_atomic_op_t opcode,
                                   const void *buffer,
                                   size_t count,
                                   uint64_t remote_addr,
                                   ucp_rkey_h rkey,
                                   const ucp_request_param_t *param);

/**
 * UCS_INPROGRESS while a request goes on, then its result.
 *
 * `ucp/api/ucp.h`, group `request`.
 */
ucs_status_t ucp_request_check_status(void *request);

/**
 * Checks a tagged receive, and tells tag and bytes.
 *
 * `ucp/api/ucp.h`, group `tag`.
 */
ucs_status_t ucp_tag_recv_request_test(void *request, ucp_tag_recv_info_t *info);

/**
 * Checks a stream receive, and tells its bytes.
 *
 * `ucp/api/ucp.h`, group `stream`.
 */
ucs_status_t ucp_stream_recv_request_test(void *request, size_t *length_p);

/**
 * Asks to give a request up. It still has to come to its end, with UCS_ERR_CANCELED or as usual.
 *
 * `ucp/api/ucp.h`, group `request`.
 */
void ucp_request_cancel(ucp_worker_h worker,
                        void *request);

/**
 * Gives back data of `ucp_stream_recv_data_nb`.
 *
 * `ucp/api/ucp.h`, group `stream`.
 */
void ucp_stream_data_release(ucp_ep_h ep, void *data);

/**
 * Frees a request, before its end too: then it goes on and no callback is lost.
 *
 * `ucp/api/ucp.h`, group `request`.
 */
void ucp_request_free(void *request);

/**
 * Makes a datatype of the caller's functions; `context` is passed to them. `ucp_dt_destroy` frees
 * it.
 *
 * `ucp/api/ucp.h`, group `dt`.
 */
ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context,
                                   ucp_datatype_t *datatype_p);

/**
 * Frees a datatype of `ucp_dt_create_generic`; nothing happens for others.
 *
 * `ucp/api/ucp.h`, group `dt`.
 */
void ucp_dt_destroy(ucp_datatype_t datatype);

/**
 * Tells about a datatype.
 *
 * `ucp/api/ucp.h`, group `dt`.
 */
ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t *attr);

/**
 * Orders operations: those after the call take effect after those before it, on each endpoint.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_t ucp_worker_fence(ucp_worker_h worker);

/**
 * Completes all operations of a worker, at the peers too. Returns NULL when done, a request, or
 * an error.
 *
 * `ucp/api/ucp.h`, group `worker`.
 */
ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker,
                                      const ucp_request_param_t *param);

/**
 * Tells about an endpoint.
 *
 * `ucp/api/ucp.h`, group `ep`.
 */
ucs_status_t ucp_ep_query(ucp_ep_h h, ucp_ep_attr_t *attr);

/**
 * Creates a context: the library as one application uses it. `config` may be NULL for the defaults of the
 * environment. Passes on the version this program was compiled with; see `ucp_init_version`.
 */
static inline ucs_status_t
ucp_init(const ucp_params_t *params, const ucp_config_t *config, ucp_context_h *context_p)
{
    return ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, params, config, context_p);
}

END_C_DECLS

#endif
