/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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

/**
 * @defgroup ucp_context Contexts
 * A context is the library as one application uses it. A function that returns a status and gets NULL where it needs
 * something returns UCS_ERR_INVALID_PARAM and logs the argument; a function that returns nothing only logs it.
 *
 * Structures grow from release to release. Of a structure with a `field_mask` only those members are read or written
 * whose bits are set, so a program may pass the shorter structure of an older release.
 *
 * Any thread may use a context, its memory handles and remote keys, as long as none of them frees the object. Options of
 * `ucp_config_read` are used by one thread at a time.
 *
 * A child of fork() cannot use what its parent made: the calls return UCS_ERR_UNSUPPORTED, and freeing does nothing.
 */
/** @defgroup ucp_config Options */
/**
 * @defgroup ucp_worker Workers
 * A worker moves messages when `ucp_worker_progress` is called, or a function that waits. A worker in
 * UCS_THREAD_MODE_SINGLE or UCS_THREAD_MODE_SERIALIZED is used by one thread at a time, with its endpoints, listeners
 * and requests; in UCS_THREAD_MODE_MULTI any thread may use them at any time.
 *
 * Callbacks are called by the thread that makes progress. They may call every function of this library for the same
 * worker, and make progress, but may not destroy the worker. A callback that takes long keeps the peers waiting.
 */
/** @defgroup ucp_listener Listeners */
/** @defgroup ucp_ep Endpoints */
/** @defgroup ucp_mem Memory and remote keys */
/** @defgroup ucp_am Active messages */
/** @defgroup ucp_stream Streams */
/** @defgroup ucp_tag Tagged messages */
/** @defgroup ucp_rma Remote memory access */
/** @defgroup ucp_amo Atomics */
/** @defgroup ucp_dt Datatypes */
/** @defgroup ucp_device Device code */
/**
 * @defgroup ucp_request Requests
 * An operation returns a pointer, `ucs_status_ptr_t`, of one of three kinds:
 * - NULL: it is done, with UCS_OK. No callback is called, and there is nothing to free.
 * - `UCS_PTR_IS_ERR` is true: it failed, and `UCS_PTR_STATUS` gives the error. No callback is called.
 * - else it is a request: the operation goes on. Its callback is called once at its end, `ucp_request_check_status`
 *   tells its result, and `ucp_request_free` gives it back, which must happen once.
 *
 * UCP_OP_ATTR_FLAG_NO_IMM_CMPL demands a request, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL refuses one: what cannot be done at
 * once fails with UCS_ERR_NO_RESOURCE.
 *
 * Errors of any operation: UCS_ERR_INVALID_PARAM for arguments that do not fit; UCS_ERR_NO_MEMORY; UCS_ERR_UNSUPPORTED
 * for memory of a device and in a child of fork(); UCS_ERR_CANCELED when it was cancelled or its endpoint was closed by
 * force; and the error by which its endpoint failed, such as UCS_ERR_CONNECTION_RESET or UCS_ERR_ENDPOINT_TIMEOUT.
 */

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
    /** `features` is set. */
    UCP_PARAM_FIELD_FEATURES = UCS_BIT(0),
    /** `request_size` is set. */
    UCP_PARAM_FIELD_REQUEST_SIZE = UCS_BIT(1),
    /** `request_init` is set. */
    UCP_PARAM_FIELD_REQUEST_INIT = UCS_BIT(2),
    /** `request_cleanup` is set. */
    UCP_PARAM_FIELD_REQUEST_CLEANUP = UCS_BIT(3),
    /** `tag_sender_mask` is set. */
    UCP_PARAM_FIELD_TAG_SENDER_MASK = UCS_BIT(4),
    /** `mt_workers_shared` is set. */
    UCP_PARAM_FIELD_MT_WORKERS_SHARED = UCS_BIT(5),
    /** `estimated_num_eps` is set. */
    UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = UCS_BIT(6),
    /** `estimated_num_ppn` is set. */
    UCP_PARAM_FIELD_ESTIMATED_NUM_PPN = UCS_BIT(7),
    /** `name` is set. */
    UCP_PARAM_FIELD_NAME = UCS_BIT(8),
    /** `node_local_id` is set. */
    UCP_PARAM_FIELD_NODE_LOCAL_ID = UCS_BIT(9),
};

/**
 * What a context is for. Ask for all that is used: it decides about transports and descriptors, and calls that need another
 * feature are refused with UCS_ERR_INVALID_PARAM.
 */
enum ucp_feature {
    /** Tagged messages. */
    UCP_FEATURE_TAG = UCS_BIT(0),
    /** Access to remote memory. */
    UCP_FEATURE_RMA = UCS_BIT(1),
    /** Atomics of 4 bytes. */
    UCP_FEATURE_AMO32 = UCS_BIT(2),
    /** Atomics of 8 bytes. */
    UCP_FEATURE_AMO64 = UCS_BIT(3),
    /** Waiting without polling; `ucp_worker_wait` and its companions fail without. */
    UCP_FEATURE_WAKEUP = UCS_BIT(4),
    /** Byte streams. */
    UCP_FEATURE_STREAM = UCS_BIT(5),
    /** Active messages. */
    UCP_FEATURE_AM = UCS_BIT(6),
    /** Memory handles that another process uses; `ucp_memh_pack` does not export without. */
    UCP_FEATURE_EXPORTED_MEMH = UCS_BIT(7),
    /** Calls from device code. */
    UCP_FEATURE_DEVICE = UCS_BIT(8),
};

/** Members of `ucp_lib_attr`. */
enum ucp_lib_attr_field {
    /** `max_thread_level` is wanted. */
    UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = UCS_BIT(0),
};

/** Members of `ucp_context_attr`. */
enum ucp_context_attr_field {
    /** `request_size` is wanted. */
    UCP_ATTR_FIELD_REQUEST_SIZE = UCS_BIT(0),
    /** `thread_mode` is wanted. */
    UCP_ATTR_FIELD_THREAD_MODE = UCS_BIT(1),
    /** `memory_types` is wanted. */
    UCP_ATTR_FIELD_MEMORY_TYPES = UCS_BIT(2),
    /** `name` is wanted. */
    UCP_ATTR_FIELD_NAME = UCS_BIT(3),
    /** `device_counter_size` is wanted. */
    UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = UCS_BIT(4),
};

/** Members of `ucp_worker_params`. */
enum ucp_worker_params_field {
    /** `thread_mode` is set. */
    UCP_WORKER_PARAM_FIELD_THREAD_MODE = UCS_BIT(0),
    /** `cpu_mask` is set. */
    UCP_WORKER_PARAM_FIELD_CPU_MASK = UCS_BIT(1),
    /** `events` is set. */
    UCP_WORKER_PARAM_FIELD_EVENTS = UCS_BIT(2),
    /** `user_data` is set. */
    UCP_WORKER_PARAM_FIELD_USER_DATA = UCS_BIT(3),
    /** `event_fd` is set. */
    UCP_WORKER_PARAM_FIELD_EVENT_FD = UCS_BIT(4),
    /** `flags` is set. */
    UCP_WORKER_PARAM_FIELD_FLAGS = UCS_BIT(5),
    /** `name` is set. */
    UCP_WORKER_PARAM_FIELD_NAME = UCS_BIT(6),
    /** `am_alignment` is set. */
    UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT = UCS_BIT(7),
    /** `client_id` is set. */
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
    /** `thread_mode` is wanted. */
    UCP_WORKER_ATTR_FIELD_THREAD_MODE = UCS_BIT(0),
    /** `address` is wanted. */
    UCP_WORKER_ATTR_FIELD_ADDRESS = UCS_BIT(1),
    /** `address_flags` is wanted. */
    UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS = UCS_BIT(2),
    /** `max_am_header` is wanted. */
    UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER = UCS_BIT(3),
    /** `name` is wanted. */
    UCP_WORKER_ATTR_FIELD_NAME = UCS_BIT(4),
    /** `max_debug_string` is wanted. */
    UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = UCS_BIT(5),
};

/** Members of `ucp_worker_address_attr`. */
enum ucp_worker_address_attr_field {
    /** `worker_uid` is wanted. */
    UCP_WORKER_ADDRESS_ATTR_FIELD_UID = UCS_BIT(0),
};

/** Members of `ucp_listener_params`. */
enum ucp_listener_params_field {
    /** `sockaddr` is set. */
    UCP_LISTENER_PARAM_FIELD_SOCK_ADDR = UCS_BIT(0),
    /** `accept_handler` is set. */
    UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = UCS_BIT(1),
    /** `conn_handler` is set. */
    UCP_LISTENER_PARAM_FIELD_CONN_HANDLER = UCS_BIT(2),
};

/** Members of `ucp_ep_params`. */
enum ucp_ep_params_field {
    /** `address` is set. */
    UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = UCS_BIT(0),
    /** `err_mode` is set. */
    UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = UCS_BIT(1),
    /** `err_handler` is set. */
    UCP_EP_PARAM_FIELD_ERR_HANDLER = UCS_BIT(2),
    /** `user_data` is set. */
    UCP_EP_PARAM_FIELD_USER_DATA = UCS_BIT(3),
    /** `sockaddr` is set. */
    UCP_EP_PARAM_FIELD_SOCK_ADDR = UCS_BIT(4),
    /** `flags` is set. */
    UCP_EP_PARAM_FIELD_FLAGS = UCS_BIT(5),
    /** `conn_request` is set. */
    UCP_EP_PARAM_FIELD_CONN_REQUEST = UCS_BIT(6),
    /** `name` is set. */
    UCP_EP_PARAM_FIELD_NAME = UCS_BIT(7),
    /** `local_sockaddr` is set. */
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
    /** `message_size` is set. */
    UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = UCS_BIT(0),
};

typedef enum ucp_ep_perf_param_field ucp_ep_perf_param_field_t;

/** Members of `ucp_ep_evaluate_perf_attr_t`. */
enum ucp_ep_perf_attr_field {
    /** `estimated_time` is wanted. */
    UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = UCS_BIT(0),
};

typedef enum ucp_ep_perf_attr_field ucp_ep_perf_attr_field_t;

/** Members of `ucp_listener_attr`. */
enum ucp_listener_attr_field {
    /** `sockaddr` is wanted. */
    UCP_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0),
};

/** Members of `ucp_conn_request_attr`. */
enum ucp_conn_request_attr_field {
    /** `client_address` is wanted. */
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = UCS_BIT(0),
    /** `client_id` is wanted. */
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID = UCS_BIT(1),
};

/** Members of `ucp_ep_attr`. */
enum ucp_ep_attr_field {
    /** `name` is wanted. */
    UCP_EP_ATTR_FIELD_NAME = UCS_BIT(0),
    /** `local_sockaddr` is wanted. */
    UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR = UCS_BIT(1),
    /** `remote_sockaddr` is wanted. */
    UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = UCS_BIT(2),
    /** `transports` is wanted. */
    UCP_EP_ATTR_FIELD_TRANSPORTS = UCS_BIT(3),
    /** `user_data` is wanted. */
    UCP_EP_ATTR_FIELD_USER_DATA = UCS_BIT(4),
};

/** Members of `ucp_mem_map_params`. */
enum ucp_mem_map_params_field {
    /** `address` is set. */
    UCP_MEM_MAP_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    /** `length` is set. */
    UCP_MEM_MAP_PARAM_FIELD_LENGTH = UCS_BIT(1),
    /** `flags` is set. */
    UCP_MEM_MAP_PARAM_FIELD_FLAGS = UCS_BIT(2),
    /** `prot` is set. */
    UCP_MEM_MAP_PARAM_FIELD_PROT = UCS_BIT(3),
    /** `memory_type` is set. */
    UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE = UCS_BIT(4),
    /** `exported_memh_buffer` is set. */
    UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = UCS_BIT(5),
};

/** Members of `ucp_mem_advise_params`. */
enum ucp_mem_advise_params_field {
    /** `address` is set. */
    UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    /** `length` is set. */
    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH = UCS_BIT(1),
    /** `advice` is set. */
    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE = UCS_BIT(2),
};

/** Members of `ucp_memh_pack_params`. */
enum ucp_memh_pack_params_field {
    /** `flags` is set. */
    UCP_MEMH_PACK_PARAM_FIELD_FLAGS = UCS_BIT(0),
};

/** Flags of `ucp_memh_pack`. */
enum ucp_memh_pack_flags {
    /** For use as `exported_memh_buffer` by another process; else a remote key. */
    UCP_MEMH_PACK_FLAG_EXPORT = UCS_BIT(0),
};

/** Flags of `ucp_mem_map`. */
enum ucp_mem_map_bits {
    /** The mapping may be finished at the first use; no effect here. Not with UCP_MEM_MAP_LOCK. */
    UCP_MEM_MAP_NONBLOCK = UCS_BIT(0),
    /** Allocate the memory, where other processes of the machine can map it if possible. */
    UCP_MEM_MAP_ALLOCATE = UCS_BIT(1),
    /** Allocate at the given address, which must be aligned to pages. */
    UCP_MEM_MAP_FIXED = UCS_BIT(2),
    /** Remote keys may be the same in all processes; no effect here. */
    UCP_MEM_MAP_SYMMETRIC_RKEY = UCS_BIT(3),
    /** Lock the pages. */
    UCP_MEM_MAP_LOCK = UCS_BIT(4),
};

/** Accesses that a mapping allows. */
enum ucp_mem_map_prot_bits {
    /** Read by this process. */
    UCP_MEM_MAP_PROT_LOCAL_READ = UCS_BIT(0),
    /** Write by this process. */
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
    /** `packed_size` is wanted. */
    UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = UCS_BIT(0),
    /** `buffer` is wanted. */
    UCP_DATATYPE_ATTR_FIELD_BUFFER = UCS_BIT(1),
    /** `count` is wanted. */
    UCP_DATATYPE_ATTR_FIELD_COUNT = UCS_BIT(2),
};

/** Members of `ucp_dt_local_sgl_t`. */
enum ucp_dt_local_sgl_field {
    /** `buffers` is set. */
    UCP_DT_LOCAL_SGL_FIELD_BUFFERS = UCS_BIT(0),
    /** `lengths` is set. */
    UCP_DT_LOCAL_SGL_FIELD_LENGTHS = UCS_BIT(1),
    /** `memhs` is set. */
    UCP_DT_LOCAL_SGL_FIELD_MEMHS = UCS_BIT(2),
    /** `counts` is set. */
    UCP_DT_LOCAL_SGL_FIELD_COUNTS = UCS_BIT(3),
    /** `strides` is set. */
    UCP_DT_LOCAL_SGL_FIELD_STRIDES = UCS_BIT(4),
};

/** Members of `ucp_dt_remote_sgl_t`. */
enum ucp_dt_remote_sgl_field {
    /** `remote_addrs` is set. */
    UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS = UCS_BIT(0),
    /** `lengths` is set. */
    UCP_DT_REMOTE_SGL_FIELD_LENGTHS = UCS_BIT(1),
    /** `rkeys` is set. */
    UCP_DT_REMOTE_SGL_FIELD_RKEYS = UCS_BIT(2),
};

/** Flags of an active message's handler. */
enum ucp_am_cb_flags {
    /** Call it with whole messages only; that is always so here. */
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
    /** `request` is set. */
    UCP_OP_ATTR_FIELD_REQUEST = UCS_BIT(0),
    /** `cb` is set. */
    UCP_OP_ATTR_FIELD_CALLBACK = UCS_BIT(1),
    /** `user_data` is set. */
    UCP_OP_ATTR_FIELD_USER_DATA = UCS_BIT(2),
    /** `datatype` is set. */
    UCP_OP_ATTR_FIELD_DATATYPE = UCS_BIT(3),
    /** `flags` is set. */
    UCP_OP_ATTR_FIELD_FLAGS = UCS_BIT(4),
    /** `reply_buffer` is set. */
    UCP_OP_ATTR_FIELD_REPLY_BUFFER = UCS_BIT(5),
    /** `memory_type` is set. */
    UCP_OP_ATTR_FIELD_MEMORY_TYPE = UCS_BIT(6),
    /** `recv_info` is set. */
    UCP_OP_ATTR_FIELD_RECV_INFO = UCS_BIT(7),
    /** `memh` is set. */
    UCP_OP_ATTR_FIELD_MEMH = UCS_BIT(8),
    /** `remote_datatype` is set. */
    UCP_OP_ATTR_FIELD_REMOTE_DATATYPE = UCS_BIT(9),
    /** `remote` is set. */
    UCP_OP_ATTR_FIELD_REMOTE = UCS_BIT(10),
    /** `remote_count` is set. */
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
    /** `debug_string` is set: a text is wanted there. */
    UCP_REQUEST_ATTR_FIELD_INFO_STRING = UCS_BIT(0),
    /** `debug_string_size` is set. */
    UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = UCS_BIT(1),
    /** `status` is wanted. */
    UCP_REQUEST_ATTR_FIELD_STATUS = UCS_BIT(2),
    /** `mem_type` is wanted. */
    UCP_REQUEST_ATTR_FIELD_MEM_TYPE = UCS_BIT(3),
};

typedef enum ucp_req_attr_field ucp_req_attr_field;

/** Members and flags of `ucp_am_recv_param`. */
enum ucp_am_recv_attr_t {
    /** `reply_ep` is set. */
    UCP_AM_RECV_ATTR_FIELD_REPLY_EP = UCS_BIT(0),
    /** The data is here and may be kept. */
    UCP_AM_RECV_ATTR_FLAG_DATA = UCS_BIT(16),
    /** The data is at the sender: fetch it with `ucp_am_recv_data_nbx`. */
    UCP_AM_RECV_ATTR_FLAG_RNDV = UCS_BIT(17),
};

typedef enum ucp_am_recv_attr_t ucp_am_recv_attr_t;

/** Members of `ucp_am_handler_param`. */
enum ucp_am_handler_param_field {
    /** `id` is set. */
    UCP_AM_HANDLER_PARAM_FIELD_ID = UCS_BIT(0),
    /** `flags` is set. */
    UCP_AM_HANDLER_PARAM_FIELD_FLAGS = UCS_BIT(1),
    /** `cb` is set. */
    UCP_AM_HANDLER_PARAM_FIELD_CB = UCS_BIT(2),
    /** `arg` is set. */
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
    /** Bytes of the caller in each request, at the address that the caller gets. */
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
    /** Kind of the buffer's memory; when not set, or another than the host's, it is found out. */
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
    /** Bytes; must be set, unless memory is attached to. */
    size_t length;
    /** `UCP_MEM_MAP_*`. */
    unsigned int flags;
    /** `UCP_MEM_MAP_PROT_*`; everything when not set. */
    unsigned int prot;
    /** Kind of the memory; when not set, new memory is the host's, and what there is is found out. */
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
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when `attr` is NULL.
 *
 * @ingroup ucp_context
 */
ucs_status_t ucp_lib_query(ucp_lib_attr_t *attr);

/**
 * Reads the options from ucx.conf and the environment: `UCX_*`, and before it `PREFIX_UCX_*` if a
 * prefix is given. The result is freed by `ucp_config_release`.
 *
 * @param[in] env_prefix Prefix, NUL-terminated; NULL for none.
 * @param[in] filename Not used: NULL. The library finds ucx.conf by itself.
 * @param[out] config_p The options; written on success only.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when `config_p` is NULL; the error of an option that
 *   cannot be read.
 *
 * @ingroup ucp_config
 */
ucs_status_t ucp_config_read(const char *env_prefix,
                             const char *filename,
                             ucp_config_t **config_p);

/**
 * Frees what `ucp_config_read` made. Contexts that were created with it keep their own copy.
 *
 * @param[in] config Options of `ucp_config_read`; NULL does nothing.
 *
 * @ingroup ucp_config
 */
void ucp_config_release(ucp_config_t *config);

/**
 * Sets an option by name: one of contexts, or a global one, which changes at once for the whole
 * process, or one of a component, which is read where a context with this configuration opens it.
 * Contexts that exist do not change.
 *
 * @param[in] config Options of `ucp_config_read`, used by one thread at a time.
 * @param[in] name Name without the prefix `UCX_`, NUL-terminated; copied.
 * @param[in] value New value as text, NUL-terminated; copied.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM: no such option that may change now, or the value does
 *   not fit.
 *
 * @ingroup ucp_config
 */
ucs_status_t ucp_config_modify(ucp_config_t *config,
                               const char *name,
                               const char *value);

/**
 * Prints options as text that ucx.conf or a shell can read back.
 *
 * @param[in] config Options of `ucp_config_read`.
 * @param[in] stream Open for writing.
 * @param[in] title Line before the options, NUL-terminated; NULL for none.
 * @param[in] print_flags What to print, bits of `ucs_config_print_flags_t`.
 *
 * @ingroup ucp_config
 */
void ucp_config_print(const ucp_config_t *config,
                      FILE *stream,
                      const char *title,
                      ucs_config_print_flags_t print_flags);

/**
 * Tells the version: 1, 22, 0.
 *
 * @param[out] major_version Major version.
 * @param[out] minor_version Minor version.
 * @param[out] release_number Release of this version.
 *
 * @ingroup ucp_context
 */
void ucp_get_version(unsigned int *major_version,
                     unsigned int *minor_version,
                     unsigned int *release_number);

/**
 * The version as text; static.
 *
 * @return Text that lives as long as the library and is not freed.
 *
 * @ingroup ucp_context
 */
const char *ucp_get_version_string(void);

/**
 * Creates a context, for a program that was compiled with the given version of this interface;
 * `ucp_init` passes it. `ucp_cleanup` frees the context. A program that is newer than the library
 * gets a warning in the log, and may ask for what is not there.
 *
 * @param[in] api_major_version UCP_API_MAJOR of the program.
 * @param[in] api_minor_version UCP_API_MINOR of the program.
 * @param[in] params What the context is for; `features` must be set. Read during the call only.
 * @param[in] config Options of `ucp_config_read`, which stay the caller's; NULL for those of the
 *   environment.
 * @param[out] context_p The context; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM without features, with unknown ones, or when an option
 *   does not fit. UCS_ERR_NO_DEVICE when no transport is left.
 *
 * @ingroup ucp_context
 */
ucs_status_t ucp_init_version(unsigned int api_major_version,
                              unsigned int api_minor_version,
                              const ucp_params_t *params,
                              const ucp_config_t *config,
                              ucp_context_h *context_p);

/**
 * Frees a context. Destroy its workers and unmap its memory first. In a child of fork() it does
 * nothing.
 *
 * @param[in] context_p Context of `ucp_init`; not to be used afterwards.
 *
 * @ingroup ucp_context
 */
void ucp_cleanup(ucp_context_h context_p);

/**
 * Tells about a context.
 *
 * @param[in] context_p Context of `ucp_init`, not cleaned up yet.
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup ucp_context
 */
ucs_status_t ucp_context_query(ucp_context_h context_p, ucp_context_attr_t *attr);

/**
 * Orders two remote keys. Equal keys can stand for each other.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] rkey1 Key of `ucp_ep_rkey_unpack`, not destroyed yet.
 * @param[in] rkey2 Another one.
 * @param[in] params Its `field_mask` must be 0.
 * @param[out] result Negative, 0 or positive.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or the mask is not 0.
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_rkey_compare(ucp_worker_h worker,
                              ucp_rkey_h rkey1,
                              ucp_rkey_h rkey2,
                              const ucp_rkey_compare_params_t *params,
                              int *result);

/**
 * Prints what a context found: one line for each resource.
 *
 * @param[in] context Context of `ucp_init`, not cleaned up yet.
 * @param[in] stream Open for writing.
 *
 * @ingroup ucp_context
 */
void ucp_context_print_info(ucp_context_h context, FILE *stream);

/**
 * Creates a worker. It may get a lesser thread mode than it was asked for: see `ucp_worker_query`.
 * `ucp_worker_destroy` frees it.
 *
 * @param[in] context Context of `ucp_init`, not cleaned up yet.
 * @param[in] params How the worker works; not NULL, read during the call only.
 * @param[out] worker_p The worker; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM for a value that is unknown. UCS_ERR_UNSUPPORTED in a
 *   child of fork(). Or the error of a transport that cannot be opened, such as UCS_ERR_NO_MEMORY.
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_create(ucp_context_h context,
                               const ucp_worker_params_t *params,
                               ucp_worker_h *worker_p);

/**
 * Frees a worker with its endpoints. Destroy its listeners first. No other thread may use them
 * meanwhile, and it must not be called in a callback. What is under way ends with an error. In a
 * child of fork() it does nothing.
 *
 * @param[in] worker Worker of `ucp_worker_create`; not to be used afterwards.
 *
 * @ingroup ucp_worker
 */
void ucp_worker_destroy(ucp_worker_h worker);

/**
 * Tells about a worker. An address that it gives is freed by `ucp_worker_release_address`.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED in a
 *   child of fork().
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_query(ucp_worker_h worker,
                              ucp_worker_attr_t *attr);

/**
 * Prints the address and the transports of a worker.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] stream Open for writing.
 *
 * @ingroup ucp_worker
 */
void ucp_worker_print_info(ucp_worker_h worker, FILE *stream);

/**
 * Frees an address of the worker.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] address Address that this library gave out, once; NULL does nothing.
 *
 * @ingroup ucp_worker
 */
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address);

/**
 * Tells about a worker's address, one's own or a peer's.
 *
 * @param[in] address Address as `ucp_worker_get_address` gave it, here or at the peer.
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_INVALID_ADDR for
 *   bytes that are no address.
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_address_query(ucp_address_t *address,
                                      ucp_worker_address_attr_t *attr);

/**
 * Moves messages and calls back. Never waits. Nothing moves by itself: call it as long as anything
 * is outstanding.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @return How much was done; 0 when there was nothing to do.
 *
 * @ingroup ucp_worker
 */
unsigned int ucp_worker_progress(ucp_worker_h worker);

/**
 * Lists endpoints with stream data that was not received. An endpoint is listed once for what has
 * come.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] poll_eps Gets the endpoints, with their user data.
 * @param[in] max_eps Entries that fit.
 * @param[in] flags 0.
 * @return Number of endpoints that were written, or a negative status.
 *
 * @ingroup ucp_stream
 */
ssize_t ucp_stream_worker_poll(ucp_worker_h worker,
                               ucp_stream_poll_ep_t *poll_eps,
                               size_t max_eps,
                               unsigned int flags);

/**
 * Gives a descriptor that becomes readable on events: for poll(), never to be read or closed. Call
 * `ucp_worker_arm` before each wait.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] fd The descriptor; it belongs to the worker.
 * @return UCS_OK. UCS_ERR_UNSUPPORTED without UCP_FEATURE_WAKEUP, or when the worker was
 *   created with an `event_fd`.
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker,
                                int *fd);

/**
 * Sleeps until there are events. Call `ucp_worker_progress` until it returns 0 before and after.
 * Another thread may use the worker meanwhile if its thread mode allows that.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @return UCS_OK: there are events, or `ucp_worker_signal` was called. UCS_ERR_UNSUPPORTED
 *   without UCP_FEATURE_WAKEUP.
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_wait(ucp_worker_h worker);

/**
 * Waits until memory at `address` changes, or for a while; the caller checks.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] address At least one readable byte, which another process or a device writes.
 *
 * @ingroup ucp_worker
 */
void ucp_worker_wait_mem(ucp_worker_h worker,
                         void *address);

/**
 * Makes the descriptor report the next event.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @return UCS_OK: the next event makes the descriptor readable, so waiting is safe.
 *   UCS_ERR_BUSY: there are events now; call `ucp_worker_progress` until it returns 0 and arm
 *   again. UCS_ERR_UNSUPPORTED without UCP_FEATURE_WAKEUP.
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_arm(ucp_worker_h worker);

/**
 * Wakes a wait. May be called by any thread, whatever the worker's thread mode.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when `worker` is NULL; UCS_ERR_UNSUPPORTED in a child
 *   of fork().
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_signal(ucp_worker_h worker);

/**
 * Binds a socket and accepts clients while the worker progresses. `ucp_listener_destroy` frees it.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] params Socket address and one handler; read during the call only.
 * @param[out] listener_p The listener; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM without an address or not exactly one handler.
 *   UCS_ERR_BUSY: the address is in use. UCS_ERR_UNSUPPORTED in a child of fork().
 *
 * @ingroup ucp_listener
 */
ucs_status_t ucp_listener_create(ucp_worker_h worker,
                                 const ucp_listener_params_t *params,
                                 ucp_listener_h *listener_p);

/**
 * Closes a listener. Endpoints made through it stay. In a child of fork() it does nothing.
 *
 * @param[in] listener Listener of `ucp_listener_create`; not to be used afterwards.
 *
 * @ingroup ucp_listener
 */
void ucp_listener_destroy(ucp_listener_h listener);

/**
 * Tells about a listener.
 *
 * @param[in] listener Listener of `ucp_listener_create`, not destroyed yet.
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup ucp_listener
 */
ucs_status_t ucp_listener_query(ucp_listener_h listener, ucp_listener_attr_t *attr);

/**
 * Tells about a waiting client.
 *
 * @param[in] conn_request Request that the listener's handler got, not answered yet.
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup ucp_listener
 */
ucs_status_t ucp_conn_request_query(ucp_conn_request_h conn_request,
                                    ucp_conn_request_attr_t *attr);

/**
 * Tells about a request.
 *
 * @param[in] request Request that an operation returned, not freed yet; not NULL and not an error.
 * @param[in,out] attr `field_mask` says which members are read and written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for no request, or a text that is wanted without a
 *   buffer and its size.
 *
 * @ingroup ucp_request
 */
ucs_status_t ucp_request_query(void *request,
                               ucp_request_attr_t *attr);

/**
 * Connects to a worker, to a server, or to a waiting client. Returns before the connection stands:
 * operations wait for it. `ucp_ep_close_nbx` ends it.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] params To whom and how; read during the call only. A `conn_request` in it is used up,
 *   also on an error.
 * @param[out] ep_p The endpoint; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM without a peer. UCS_ERR_INVALID_ADDR for an address
 *   that is none. UCS_ERR_UNREACHABLE when no transport reaches it. UCS_ERR_UNSUPPORTED in a child
 *   of fork(). That the peer does not answer is told later, to the error handler.
 *
 * @ingroup ucp_ep
 */
ucs_status_t ucp_ep_create(ucp_worker_h worker,
                           const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p);

/**
 * Closes an endpoint, after a flush or, with UCP_EP_CLOSE_FLAG_FORCE, at once. Its error handler
 * is not called any more.
 *
 * @param[in] ep Endpoint; not to be used afterwards, also while a request goes on.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_ep
 */
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep,
                                  const ucp_request_param_t *param);

/**
 * Refuses a waiting client, who gets UCS_ERR_REJECTED.
 *
 * @param[in] listener Listener whose handler got the request.
 * @param[in] conn_request The request; used up by the call.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; the error when the client is
 *   gone.
 *
 * @ingroup ucp_listener
 */
ucs_status_t ucp_listener_reject(ucp_listener_h listener,
                                 ucp_conn_request_h conn_request);

/**
 * Prints the transports of an endpoint.
 *
 * @param[in] h Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] stream Open for writing.
 *
 * @ingroup ucp_ep
 */
void ucp_ep_print_info(ucp_ep_h h, FILE *stream);

/**
 * Completes all operations on an endpoint that were posted before, at the peer too.
 *
 * @param[in] h Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_ep
 */
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h h, const ucp_request_param_t *param);

/**
 * Estimates how long a message takes.
 *
 * @param[in] h Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] param Bytes of the message; the bit must be set.
 * @param[in,out] attr `field_mask` must ask for the estimate; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or a bit is missing;
 *   UCS_ERR_UNSUPPORTED in a child of fork().
 *
 * @ingroup ucp_ep
 */
ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h h,
                                  const ucp_ep_evaluate_perf_param_t *param,
                                  ucp_ep_evaluate_perf_attr_t *attr);

/**
 * Makes memory known to the library, allocates it, or attaches to memory that another process
 * exported. `ucp_mem_unmap` frees the handle, and the memory if it was allocated.
 *
 * @param[in] context_h Context of `ucp_init`, not cleaned up yet.
 * @param[in] params Which memory; read during the call only.
 * @param[out] memh_p The memory handle; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM without memory or for flags that exclude each other.
 *   UCS_ERR_NO_MEMORY, also where nothing allocates memory of the type. UCS_ERR_UNSUPPORTED for existing memory of
 *   a device that is not here, or in a child of fork().
 *   UCS_ERR_UNREACHABLE for exported memory that cannot be attached to.
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_mem_map(ucp_context_h context_h,
                         const ucp_mem_map_params_t *params,
                         ucp_mem_h *memh_p);

/**
 * Frees a memory handle, and the memory if `ucp_mem_map` allocated it. No operation may use it any
 * more, here or at a peer.
 *
 * @param[in] context_h Context of `ucp_init`, not cleaned up yet.
 * @param[in] memh Handle of `ucp_mem_map`; not to be used afterwards.
 * @return UCS_OK, or the error of giving the memory back; UCS_ERR_UNSUPPORTED in a child of
 *   fork().
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_mem_unmap(ucp_context_h context_h,
                           ucp_mem_h memh);

/**
 * Tells about mapped memory.
 *
 * @param[in] memh Handle of `ucp_mem_map`, not unmapped yet.
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_mem_query(ucp_mem_h memh, ucp_mem_attr_t *attr);

/**
 * Maps memory for a moment and prints how.
 *
 * @param[in] mem_spec Bytes to map as text, such as "64k"; NUL-terminated.
 * @param[in] context_h Context of `ucp_init`, not cleaned up yet.
 * @param[in] stream Open for writing.
 *
 * @ingroup ucp_mem
 */
void ucp_mem_print_info(const char *mem_spec, ucp_context_h context_h, FILE *stream);

/**
 * Tells how mapped memory will be used.
 *
 * @param[in] context_h Context of `ucp_init`, not cleaned up yet.
 * @param[in] memh Handle of `ucp_mem_map`, not unmapped yet.
 * @param[in] params Address, bytes and advice; all must be set. Read during the call only.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for memory outside the handle or an unknown advice; the
 *   error of the system.
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_mem_advise(ucp_context_h context_h,
                            ucp_mem_h memh,
                            ucp_mem_advise_params_t *params);

/**
 * Packs a memory handle: a remote key for peers, or with UCP_MEMH_PACK_FLAG_EXPORT a handle that
 * another process of this machine maps. `ucp_memh_buffer_release` frees the buffer.
 *
 * @param[in] memh Handle of `ucp_mem_map`, not unmapped yet; it has to stay as long as others use
 *   what is packed.
 * @param[in] params How to pack; not NULL, read during the call only.
 * @param[out] buffer_p The packed bytes; written on success only.
 * @param[out] buffer_size_p Their number.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM for unknown flags. UCS_ERR_UNSUPPORTED for memory that
 *   other processes cannot map, without UCP_FEATURE_EXPORTED_MEMH, or in a child of fork().
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_memh_pack(ucp_mem_h memh,
                           const ucp_memh_pack_params_t *params,
                           void **buffer_p,
                           size_t *buffer_size_p);

/**
 * Frees a buffer of `ucp_memh_pack`.
 *
 * @param[in] buffer Buffer of `ucp_memh_pack`, once.
 * @param[in] params Not used; may be NULL.
 *
 * @ingroup ucp_mem
 */
void ucp_memh_buffer_release(void *buffer,
                             const ucp_memh_buffer_release_params_t *params);

/**
 * Turns a packed key of the endpoint's peer into access. The packed bytes are not needed
 * afterwards. `ucp_rkey_destroy` frees the key.
 *
 * @param[in] h Endpoint to the memory's owner, not closed yet.
 * @param[in] rkey_buffer Bytes of `ucp_rkey_pack` or `ucp_memh_pack` at the peer.
 * @param[out] rkey_p The key; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM for bytes that are no key. UCS_ERR_UNREACHABLE for a
 *   key of another library. UCS_ERR_UNSUPPORTED in a child of fork().
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h h,
                                const void *rkey_buffer,
                                ucp_rkey_h *rkey_p);

/**
 * Gives a pointer to the peer's memory where it is mapped in this process. It is valid as long as
 * the key.
 *
 * @param[in] rkey Key of `ucp_ep_rkey_unpack`, not destroyed yet.
 * @param[in] raddr Address in the peer's memory, as the peer sees it.
 * @param[out] addr_p The pointer; written on success only.
 * @return UCS_OK. UCS_ERR_UNREACHABLE when the memory is not mapped here. UCS_ERR_INVALID_PARAM
 *   for an address outside the key.
 *
 * @ingroup ucp_mem
 */
ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey,
                          uint64_t raddr,
                          void **addr_p);

/**
 * Frees a remote key.
 *
 * @param[in] rkey Key of `ucp_ep_rkey_unpack`, once; no operation may use it any more.
 *
 * @ingroup ucp_mem
 */
void ucp_rkey_destroy(ucp_rkey_h rkey);

/**
 * Registers a handler of active messages, or removes one. Messages without a handler are dropped.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] param Number and handler, both must be set; read during the call only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM when one is missing or the number is over 65535.
 *   UCS_ERR_UNSUPPORTED in a child of fork().
 *
 * @ingroup ucp_am
 */
ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t *param);

/**
 * Sends an active message to a handler of the peer.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] id Number of the handler, at most 65535.
 * @param[in] header Header; belongs to the library until the operation ends, or until the call
 *   returns with UCP_AM_SEND_FLAG_COPY_HEADER. NULL when there is none.
 * @param[in] header_length Bytes of the header, at most the worker's `max_am_header`.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype; bytes when none is set.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_am
 */
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep,
                                 unsigned int id,
                                 const void *header,
                                 size_t header_length,
                                 const void *buffer,
                                 size_t count,
                                 const ucp_request_param_t *param);

/**
 * Fetches the data of an active message that the handler got as a descriptor, or copies data that
 * it kept. The descriptor is used up, also on an error.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] data_desc `data` of the handler, called with UCP_AM_RECV_ATTR_FLAG_RNDV or kept by it.
 * @param[out] buffer Gets the data; belongs to the library until the operation ends.
 * @param[in] count Elements that fit; bytes when no datatype is set.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_am
 */
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker,
                                      void *data_desc,
                                      void *buffer,
                                      size_t count,
                                      const ucp_request_param_t *param);

/**
 * Gives back data that a handler kept by returning UCS_INPROGRESS. For the sender of a descriptor
 * that is given back the message is delivered.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] data `data` of the handler, once.
 *
 * @ingroup ucp_am
 */
void ucp_am_data_release(ucp_worker_h worker,
                         void *data);

/**
 * Sends elements on the byte stream of an endpoint. What is sent in several calls arrives in the
 * order of the calls.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype; bytes when none is set.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_stream
 */
ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep,
                                     const void *buffer,
                                     size_t count,
                                     const ucp_request_param_t *param);

/**
 * Sends a message with a tag. Done when the caller's memory is free, which does not tell that the
 * peer has it.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype; bytes when none is set.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_tag
 */
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep,
                                  const void *buffer,
                                  size_t count,
                                  ucp_tag_t tag,
                                  const ucp_request_param_t *param);

/**
 * Sends a message with a tag. Done when the receiver has matched it.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype; bytes when none is set.
 * @param[in] tag Tag that the receiver compares.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_tag
 */
ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep,
                                       const void *buffer,
                                       size_t count,
                                       ucp_tag_t tag,
                                       const ucp_request_param_t *param);

/**
 * Receives from the byte stream of an endpoint: what is there, at least one element, or with
 * UCP_STREAM_RECV_FLAG_WAITALL all.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[out] buffer Gets the bytes; belongs to the library until the operation ends.
 * @param[in] count Elements that fit; bytes when no datatype is set.
 * @param[out] length Bytes received, when the operation is done at once.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_stream
 */
ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep,
                                     void *buffer,
                                     size_t count,
                                     size_t *length,
                                     const ucp_request_param_t *param);

/**
 * Takes what has arrived on a stream without a copy. `ucp_stream_data_release` gives it back.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[out] length Bytes that are there.
 * @return Start of the bytes; NULL for nothing; or an error.
 *
 * @ingroup ucp_stream
 */
ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep,
                                         size_t *length);

/**
 * Receives the first message whose tag equals `tag` in the bits of `tag_mask`, now or when it
 * comes. A message that is longer than the buffer ends with UCS_ERR_MESSAGE_TRUNCATED.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] buffer Gets the message; belongs to the library until the operation ends.
 * @param[in] count Elements that fit; bytes when no datatype is set.
 * @param[in] tag Wanted tag.
 * @param[in] tag_mask Bits of the tag that have to be equal; 0 takes any message.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_tag
 */
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker,
                                  void *buffer,
                                  size_t count,
                                  ucp_tag_t tag,
                                  ucp_tag_t tag_mask,
                                  const ucp_request_param_t *param);

/**
 * Looks for a message that arrived. It makes no progress.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] tag Wanted tag.
 * @param[in] tag_mask Bits of the tag that have to be equal; 0 finds any message.
 * @param[in] remove Nonzero takes the message: `ucp_tag_msg_recv_nbx` must receive it.
 * @param[out] info Tag and bytes of the message; written when there is one.
 * @return NULL for none. With `remove` the message; else any pointer that is not NULL and means
 *   nothing.
 *
 * @ingroup ucp_tag
 */
ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker,
                                   ucp_tag_t tag,
                                   ucp_tag_t tag_mask,
                                   int remove,
                                   ucp_tag_recv_info_t *info);

/**
 * Receives a message that a probe took.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[out] buffer Gets the message; belongs to the library until the operation ends.
 * @param[in] count Elements that fit; bytes when no datatype is set.
 * @param[in] message Message that `ucp_tag_probe_nb` took, once.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_tag
 */
ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker,
                                      void *buffer,
                                      size_t count,
                                      ucp_tag_message_h message,
                                      const ucp_request_param_t *param);

/**
 * Writes to the peer's memory. Done when the caller's memory is free; the peer sees it after a
 * flush.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] buffer Data; belongs to the library until the operation ends. With `ucp_dt_make_sgl` a
 *   `ucp_dt_local_sgl_t`, read during the call.
 * @param[in] count Elements of the datatype; bytes when none is set, entries of a list.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers. Not used for a list.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 *   Not used for a list, whose keys stand in the parameters' remote list.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_rma
 */
ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep,
                             const void *buffer,
                             size_t count,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/**
 * Reads the peer's memory. Done when the data is there.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[out] buffer Gets the data; belongs to the library until the operation ends.
 * @param[in] count Elements of the datatype; bytes when none is set.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it, inside what `rkey`
 *   covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_rma
 */
ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep,
                             void *buffer,
                             size_t count,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/**
 * Changes a word of the peer. With a `reply_buffer` in the parameters, which swaps need, what was
 * there comes back.
 *
 * @param[in] ep Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in] opcode Operation.
 * @param[in] buffer Operand; of a compare and swap the word that has to be there, and
 *   `reply_buffer` holds the new one. Read during the call.
 * @param[in] count 1; the datatype must be `ucp_dt_make_contig` of 4 or 8.
 * @param[in] remote_addr Address of the word in the peer's memory, aligned to its size, inside what
 *   `rkey` covers.
 * @param[in] rkey Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_amo
 */
ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep,
                                   ucp_atomic_op_t opcode,
                                   const void *buffer,
                                   size_t count,
                                   uint64_t remote_addr,
                                   ucp_rkey_h rkey,
                                   const ucp_request_param_t *param);

/**
 * Tells whether a request is at its end. It makes no progress.
 *
 * @param[in] request Request that an operation returned, not freed yet; not NULL and not an error.
 * @return UCS_INPROGRESS while the request goes on, then its result; UCS_ERR_INVALID_PARAM for
 *   no request.
 *
 * @ingroup ucp_request
 */
ucs_status_t ucp_request_check_status(void *request);

/**
 * Checks a tagged receive, and tells tag and bytes.
 *
 * @param[in] request Request that an operation returned, not freed yet; not NULL and not an error.
 * @param[out] info Tag and bytes, at the end; may be NULL.
 * @return UCS_INPROGRESS while the request goes on, then its result.
 *
 * @ingroup ucp_tag
 */
ucs_status_t ucp_tag_recv_request_test(void *request,
                                       ucp_tag_recv_info_t *info);

/**
 * Checks a stream receive, and tells its bytes.
 *
 * @param[in] request Request that an operation returned, not freed yet; not NULL and not an error.
 * @param[out] length_p Bytes received, at the end; may be NULL.
 * @return UCS_INPROGRESS while the request goes on, then its result.
 *
 * @ingroup ucp_stream
 */
ucs_status_t ucp_stream_recv_request_test(void *request,
                                          size_t *length_p);

/**
 * Asks to give a request up. Only receives can be, a tagged one until a message has matched it;
 * the request still has to come to its end, with UCS_ERR_CANCELED or as usual, and its callback is
 * called, perhaps in this call.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] request Request of an operation of this worker, not freed yet.
 *
 * @ingroup ucp_request
 */
void ucp_request_cancel(ucp_worker_h worker,
                        void *request);

/**
 * Gives back data of `ucp_stream_recv_data_nb`.
 *
 * @param[in] ep Endpoint that the data came from.
 * @param[in] data Start of the bytes that `ucp_stream_recv_data_nb` gave, once.
 *
 * @ingroup ucp_stream
 */
void ucp_stream_data_release(ucp_ep_h ep, void *data);

/**
 * Gives a request back, before its end too: then the operation goes on, and its callback is called no more.
 * A request in memory of the caller is not freed, it may be used again after its end.
 *
 * @param[in] request Request that an operation returned; not to be used afterwards.
 *
 * @ingroup ucp_request
 */
void ucp_request_free(void *request);

/**
 * Makes a datatype of the caller's functions. `ucp_dt_destroy` frees it.
 *
 * @param[in] ops The six functions, all needed; copied.
 * @param[in] context First argument of the start functions.
 * @param[out] datatype_p The datatype; written on success only.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument or a function is NULL.
 *
 * @ingroup ucp_dt
 */
ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context,
                                   ucp_datatype_t *datatype_p);

/**
 * Frees a datatype of `ucp_dt_create_generic`; nothing happens for others.
 *
 * @param[in] datatype Datatype that no operation uses any more.
 *
 * @ingroup ucp_dt
 */
void ucp_dt_destroy(ucp_datatype_t datatype);

/**
 * Tells the packed size of a buffer.
 *
 * @param[in] datatype Datatype of this library.
 * @param[in,out] attr `field_mask` says which members are read and written; not NULL. A `buffer` is
 *   needed unless the datatype is contiguous.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when the buffer is missing or does not fit the
 *   datatype.
 *
 * @ingroup ucp_dt
 */
ucs_status_t ucp_dt_query(ucp_datatype_t datatype,
                          ucp_datatype_attr_t *attr);

/**
 * Orders operations: those after the call take effect after those before it, on each endpoint; on all of them with
 * UCX_FENCE_MODE=strong, with which it waits and callbacks are called meanwhile.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @return UCS_OK, or the error of a transport.
 *
 * @ingroup ucp_worker
 */
ucs_status_t ucp_worker_fence(ucp_worker_h worker);

/**
 * Completes all operations of a worker that were posted before, at the peers too.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] param Optional parameters, not NULL; read during the call only.
 * @return NULL when done, a request, or an error: see @ref ucp_request.
 *
 * @ingroup ucp_worker
 */
ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker,
                                      const ucp_request_param_t *param);

/**
 * Tells about an endpoint.
 *
 * @param[in] h Endpoint of `ucp_ep_create`, not closed yet.
 * @param[in,out] attr `field_mask` says which members are written; not NULL.
 * @return UCS_OK. UCS_ERR_NOT_CONNECTED when a socket address is asked for and the endpoint has
 *   none. UCS_ERR_UNSUPPORTED in a child of fork().
 *
 * @ingroup ucp_ep
 */
ucs_status_t ucp_ep_query(ucp_ep_h h,
                          ucp_ep_attr_t *attr);

/**
 * Creates a context: the library as one application uses it. `config` may be NULL for the defaults of the
 * environment. Passes on the version this program was compiled with; see `ucp_init_version`.
 *
 * @param[in] params What the context is for; `features` must be set. Read during the call only.
 * @param[in] config Options of `ucp_config_read`, which stay the caller's; NULL for those of the environment.
 * @param[out] context_p The context; written on success only.
 * @return As `ucp_init_version`.
 */
static inline ucs_status_t
ucp_init(const ucp_params_t *params, const ucp_config_t *config, ucp_context_h *context_p)
{
    return ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, params, config, context_p);
}

END_C_DECLS

#endif
