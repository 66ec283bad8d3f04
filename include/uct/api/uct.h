/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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

/** `uct_ep_am_short` and `uct_ep_am_short_iov` work. */
#define UCT_IFACE_FLAG_AM_SHORT UCS_BIT(0)

/** `uct_ep_am_bcopy` works. */
#define UCT_IFACE_FLAG_AM_BCOPY UCS_BIT(1)

/** `uct_ep_am_zcopy` works. */
#define UCT_IFACE_FLAG_AM_ZCOPY UCS_BIT(2)

/** Requests can be queued: `uct_ep_pending_add`. */
#define UCT_IFACE_FLAG_PENDING UCS_BIT(3)

/** `uct_ep_put_short` works. */
#define UCT_IFACE_FLAG_PUT_SHORT UCS_BIT(4)

/** `uct_ep_put_bcopy` works. */
#define UCT_IFACE_FLAG_PUT_BCOPY UCS_BIT(5)

/** `uct_ep_put_zcopy` works. */
#define UCT_IFACE_FLAG_PUT_ZCOPY UCS_BIT(6)

/** `uct_ep_get_short` works. */
#define UCT_IFACE_FLAG_GET_SHORT UCS_BIT(8)

/** `uct_ep_get_bcopy` works. */
#define UCT_IFACE_FLAG_GET_BCOPY UCS_BIT(9)

/** `uct_ep_get_zcopy` works. */
#define UCT_IFACE_FLAG_GET_ZCOPY UCS_BIT(10)

/** Atomics agree with those of the processor. */
#define UCT_IFACE_FLAG_ATOMIC_CPU UCS_BIT(30)

/** Atomics agree with each other only. */
#define UCT_IFACE_FLAG_ATOMIC_DEVICE UCS_BIT(31)

/** An invalid buffer of a short operation is reported. */
#define UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF UCS_BIT(32)

/** An invalid buffer of a bcopy operation is reported. */
#define UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF UCS_BIT(33)

/** An invalid buffer of a zcopy operation is reported. */
#define UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF UCS_BIT(34)

/** An invalid id of an active message is reported. */
#define UCT_IFACE_FLAG_ERRHANDLE_AM_ID UCS_BIT(35)

/** An invalid remote address is reported. */
#define UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM UCS_BIT(36)

/** A too long bcopy operation is reported. */
#define UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN UCS_BIT(37)

/** The failure of a peer is reported. */
#define UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE UCS_BIT(38)

/** `uct_ep_check` works. */
#define UCT_IFACE_FLAG_EP_CHECK UCS_BIT(39)

/** Endpoints connect to an interface. */
#define UCT_IFACE_FLAG_CONNECT_TO_IFACE UCS_BIT(40)

/** Endpoints connect to each other. */
#define UCT_IFACE_FLAG_CONNECT_TO_EP UCS_BIT(41)

/** Endpoints connect to a socket. */
#define UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR UCS_BIT(42)

/** Active messages may arrive twice. */
#define UCT_IFACE_FLAG_AM_DUP UCS_BIT(43)

/** Callbacks come from the worker's progress. */
#define UCT_IFACE_FLAG_CB_SYNC UCS_BIT(44)

/** Callbacks may come from another thread: UCT_CB_FLAG_ASYNC works. */
#define UCT_IFACE_FLAG_CB_ASYNC UCS_BIT(45)

/** Endpoints watch their peers by themselves. */
#define UCT_IFACE_FLAG_EP_KEEPALIVE UCS_BIT(46)

/** An active message arrives after the puts before it. */
#define UCT_IFACE_FLAG_PUT_AM_ORDER UCS_BIT(47)

/** `uct_ep_tag_eager_short` works. */
#define UCT_IFACE_FLAG_TAG_EAGER_SHORT UCS_BIT(50)

/** `uct_ep_tag_eager_bcopy` works. */
#define UCT_IFACE_FLAG_TAG_EAGER_BCOPY UCS_BIT(51)

/** `uct_ep_tag_eager_zcopy` works. */
#define UCT_IFACE_FLAG_TAG_EAGER_ZCOPY UCS_BIT(52)

/** `uct_ep_tag_rndv_zcopy` works. */
#define UCT_IFACE_FLAG_TAG_RNDV_ZCOPY UCS_BIT(53)

/** Reaches other machines. */
#define UCT_IFACE_FLAG_INTER_NODE UCS_BIT(54)

/** Has endpoints for device code. */
#define UCT_IFACE_FLAG_DEVICE_EP UCS_BIT(55)

/** Device code needs local keys. */
#define UCT_IFACE_FLAG_DEVICE_LKEY UCS_BIT(56)

/** A send that ends wakes up. */
#define UCT_IFACE_FLAG_EVENT_SEND_COMP UCS_BIT(0)

/** An arrival wakes up. */
#define UCT_IFACE_FLAG_EVENT_RECV UCS_BIT(1)

/** A signalled arrival wakes up. */
#define UCT_IFACE_FLAG_EVENT_RECV_SIG UCS_BIT(2)

/** There is a descriptor to wait on: `uct_iface_event_fd_get`. */
#define UCT_IFACE_FLAG_EVENT_FD UCS_BIT(3)

/** There is a callback: `async_event_cb`. */
#define UCT_IFACE_FLAG_EVENT_ASYNC_CB UCS_BIT(4)

/** What a device connects. */
enum uct_device_type_t {
    /** Machines. */
    UCT_DEVICE_TYPE_NET = 0,
    /** Processes of one machine. */
    UCT_DEVICE_TYPE_SHM = 1,
    /** Accelerators. */
    UCT_DEVICE_TYPE_ACC = 2,
    /** A process with itself. */
    UCT_DEVICE_TYPE_SELF = 3,
    /** Number of kinds. */
    UCT_DEVICE_TYPE_LAST = 4,
};

typedef enum uct_device_type_t uct_device_type_t;

/** Where memory comes from. */
enum uct_alloc_method_t {
    /** Huge pages where the system gives them by itself. */
    UCT_ALLOC_METHOD_THP = 0,
    /** The memory domain. */
    UCT_ALLOC_METHOD_MD = 1,
    /** malloc(). */
    UCT_ALLOC_METHOD_HEAP = 2,
    /** mmap(). */
    UCT_ALLOC_METHOD_MMAP = 3,
    /** Reserved huge pages. */
    UCT_ALLOC_METHOD_HUGE = 4,
    /** Number of methods. */
    UCT_ALLOC_METHOD_LAST = 5,
    /** Let the interface choose. */
    UCT_ALLOC_METHOD_DEFAULT = 5,
};

typedef enum uct_alloc_method_t uct_alloc_method_t;

/** How memory will be used. */
enum uct_mem_advice_t {
    /** No advice. */
    UCT_MADV_NORMAL = 0,
    /** It will be accessed soon. */
    UCT_MADV_WILLNEED = 1,
};

typedef enum uct_mem_advice_t uct_mem_advice_t;

/** How a socket address is reached. */
enum uct_sockaddr_accessibility_t {
    /** Bound to. */
    UCT_SOCKADDR_ACC_LOCAL = 0,
    /** Connected to. */
    UCT_SOCKADDR_ACC_REMOTE = 1,
};

typedef enum uct_sockaddr_accessibility_t uct_sockaddr_accessibility_t;

/** How an interface is opened. */
enum uct_iface_open_mode {
    /** On a device. */
    UCT_IFACE_OPEN_MODE_DEVICE = UCS_BIT(0),
    /** As a server on a socket. */
    UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER = UCS_BIT(1),
    /** As a client of sockets. */
    UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT = UCS_BIT(2),
    /** Not at all: every operation answers with a status. */
    UCT_IFACE_OPEN_MODE_STUB = UCS_BIT(3),
};

/** Members of `uct_iface_params`. */
enum uct_iface_params_field {
    /** `cpu_mask` is set. */
    UCT_IFACE_PARAM_FIELD_CPU_MASK = UCS_BIT(0),
    /** `open_mode` is set. */
    UCT_IFACE_PARAM_FIELD_OPEN_MODE = UCS_BIT(1),
    /** `mode.device` is set. */
    UCT_IFACE_PARAM_FIELD_DEVICE = UCS_BIT(2),
    /** `mode.sockaddr` is set. */
    UCT_IFACE_PARAM_FIELD_SOCKADDR = UCS_BIT(3),
    /** `stats_root` is set. */
    UCT_IFACE_PARAM_FIELD_STATS_ROOT = UCS_BIT(4),
    /** `rx_headroom` is set. */
    UCT_IFACE_PARAM_FIELD_RX_HEADROOM = UCS_BIT(5),
    /** `err_handler_arg` is set. */
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG = UCS_BIT(6),
    /** `err_handler` is set. */
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER = UCS_BIT(7),
    /** `err_handler_flags` is set. */
    UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS = UCS_BIT(8),
    /** `eager_arg` is set. */
    UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG = UCS_BIT(9),
    /** `eager_cb` is set. */
    UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB = UCS_BIT(10),
    /** `rndv_arg` is set. */
    UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG = UCS_BIT(11),
    /** `rndv_cb` is set. */
    UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB = UCS_BIT(12),
    /** `async_event_arg` is set. */
    UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG = UCS_BIT(13),
    /** `async_event_cb` is set. */
    UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB = UCS_BIT(14),
    /** `keepalive_interval` is set. */
    UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL = UCS_BIT(15),
    /** `am_alignment` is set. */
    UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT = UCS_BIT(16),
    /** `am_align_offset` is set. */
    UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET = UCS_BIT(17),
    /** `features` is set. */
    UCT_IFACE_PARAM_FIELD_FEATURES = UCS_BIT(18),
};

/** What an interface will be used for. */
enum uct_iface_feature {
    /** Active messages. */
    UCT_IFACE_FEATURE_AM = UCS_BIT(0),
    /** Writes to remote memory. */
    UCT_IFACE_FEATURE_PUT = UCS_BIT(1),
    /** Reads of remote memory. */
    UCT_IFACE_FEATURE_GET = UCS_BIT(2),
    /** Atomics of 4 bytes. */
    UCT_IFACE_FEATURE_AMO32 = UCS_BIT(3),
    /** Atomics of 8 bytes. */
    UCT_IFACE_FEATURE_AMO64 = UCS_BIT(4),
    /** Tagged messages. */
    UCT_IFACE_FEATURE_TAG = UCS_BIT(5),
    /** UCT_FLUSH_FLAG_REMOTE. */
    UCT_IFACE_FEATURE_FLUSH_REMOTE = UCS_BIT(6),
    /** One behind the last feature. */
    UCT_IFACE_FEATURE_LAST = UCS_BIT(7),
};

/** Atomic operations; UCS_BIT() of them in `op_flags` and `fop_flags`. */
enum uct_atomic_op {
    /** Add. */
    UCT_ATOMIC_OP_ADD = 0,
    /** Bitwise and. */
    UCT_ATOMIC_OP_AND = 1,
    /** Bitwise or. */
    UCT_ATOMIC_OP_OR = 2,
    /** Bitwise exclusive or. */
    UCT_ATOMIC_OP_XOR = 3,
    /** Exchange. */
    UCT_ATOMIC_OP_SWAP = 4,
    /** Exchange, if the value there is the one expected. */
    UCT_ATOMIC_OP_CSWAP = 5,
    /** Number of operations. */
    UCT_ATOMIC_OP_LAST = 6,
};

typedef enum uct_atomic_op uct_atomic_op_t;

/** Events of an interface. */
enum uct_iface_event_types {
    /** A send ended. */
    UCT_EVENT_SEND_COMP = UCS_BIT(0),
    /** Something arrived. */
    UCT_EVENT_RECV = UCS_BIT(1),
    /** Something arrived that was sent with UCT_SEND_FLAG_SIGNALED. */
    UCT_EVENT_RECV_SIG = UCS_BIT(2),
    /** The device got faster or slower. */
    UCT_EVENT_SPEED_CHANGE = UCS_BIT(3),
};

/** Flags of a flush. */
enum uct_flush_flags {
    /** Until the caller's memory is free. */
    UCT_FLUSH_FLAG_LOCAL = 0,
    /** Give up what is under way; the endpoint can only be destroyed then. */
    UCT_FLUSH_FLAG_CANCEL = UCS_BIT(0),
    /** Until the peer's memory has the data. */
    UCT_FLUSH_FLAG_REMOTE = UCS_BIT(1),
};

/** What an interface progresses. */
enum uct_progress_types {
    /** Sends. */
    UCT_PROGRESS_SEND = UCS_BIT(0),
    /** Arrivals. */
    UCT_PROGRESS_RECV = UCS_BIT(1),
    /** This may be turned on and off by another thread. */
    UCT_PROGRESS_THREAD_SAFE = UCS_BIT(7),
};

/** Flags of a send. */
enum uct_msg_flags {
    /** Raise UCT_EVENT_RECV_SIG at the receiver. */
    UCT_SEND_FLAG_SIGNALED = UCS_BIT(0),
    /** Only find out whether the peer lives. */
    UCT_SEND_FLAG_PEER_CHECK = UCS_BIT(1),
};

/** Flags of a callback. */
enum uct_cb_flags {
    /** Not used. */
    UCT_CB_FLAG_RESERVED = UCS_BIT(1),
    /** It may be called from another thread. */
    UCT_CB_FLAG_ASYNC = UCS_BIT(2),
};

/** Flags of the end of a tagged receive. */
enum uct_tag_recv_cb_inline_data_bits {
    /** The data is in the completion, not in the buffer. */
    UCT_TAG_RECV_CB_INLINE_DATA = UCS_BIT(0),
};

/** Members of `uct_component_attr`. */
enum uct_component_attr_field {
    /** `name` is wanted. */
    UCT_COMPONENT_ATTR_FIELD_NAME = UCS_BIT(0),
    /** `md_resource_count` is wanted. */
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT = UCS_BIT(1),
    /** `md_resources` is wanted. */
    UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES = UCS_BIT(2),
    /** `flags` is wanted. */
    UCT_COMPONENT_ATTR_FIELD_FLAGS = UCS_BIT(3),
};

/** Flags of a component. */
enum uct_component_flag_bits {
    /** Has a connection manager. */
    UCT_COMPONENT_FLAG_CM = UCS_BIT(0),
    /** Remote memory can be reached by a pointer: `uct_rkey_ptr`. */
    UCT_COMPONENT_FLAG_RKEY_PTR = UCS_BIT(1),
};

/** Flags of allocation and registration. */
enum uct_md_mem_flags {
    /** May finish later, at the first use. */
    UCT_MD_MEM_FLAG_NONBLOCK = UCS_BIT(0),
    /** At the given address or not at all. */
    UCT_MD_MEM_FLAG_FIXED = UCS_BIT(1),
    /** Lock the pages. */
    UCT_MD_MEM_FLAG_LOCK = UCS_BIT(2),
    /** Fail without a message. */
    UCT_MD_MEM_FLAG_HIDE_ERRORS = UCS_BIT(3),
    /** Peers write. */
    UCT_MD_MEM_ACCESS_REMOTE_PUT = UCS_BIT(5),
    /** Peers read. */
    UCT_MD_MEM_ACCESS_REMOTE_GET = UCS_BIT(6),
    /** Peers use atomics. */
    UCT_MD_MEM_ACCESS_REMOTE_ATOMIC = UCS_BIT(7),
    /** Read here. */
    UCT_MD_MEM_ACCESS_LOCAL_READ = UCS_BIT(8),
    /** Write here. */
    UCT_MD_MEM_ACCESS_LOCAL_WRITE = UCS_BIT(9),
    /** Try for keys that are the same in all processes. */
    UCT_MD_MEM_SYMMETRIC_RKEY = UCS_BIT(10),
    /** One key for the whole address space. */
    UCT_MD_MEM_GVA = UCS_BIT(11),
    /** All accesses. */
    UCT_MD_MEM_ACCESS_ALL = 992,
    /** All but atomics. */
    UCT_MD_MEM_ACCESS_RMA = 864,
};

/** Members of `uct_md_mem_attr`. */
enum uct_md_mem_attr_field {
    /** `mem_type` is wanted. */
    UCT_MD_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(0),
    /** `sys_dev` is wanted. */
    UCT_MD_MEM_ATTR_FIELD_SYS_DEV = UCS_BIT(1),
    /** `base_address` is wanted. */
    UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS = UCS_BIT(2),
    /** `alloc_length` is wanted. */
    UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH = UCS_BIT(3),
    /** `dmabuf_fd` is wanted. */
    UCT_MD_MEM_ATTR_FIELD_DMABUF_FD = UCS_BIT(4),
    /** `dmabuf_offset` is wanted. */
    UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET = UCS_BIT(5),
};

typedef enum uct_md_mem_attr_field uct_md_mem_attr_field_t;

/** Members of `uct_mem_alloc_params_t`. */
enum uct_mem_alloc_params_field_t {
    /** `flags` is set. */
    UCT_MEM_ALLOC_PARAM_FIELD_FLAGS = UCS_BIT(0),
    /** `address` is set. */
    UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS = UCS_BIT(1),
    /** `mem_type` is set. */
    UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE = UCS_BIT(2),
    /** `mds` is set. */
    UCT_MEM_ALLOC_PARAM_FIELD_MDS = UCS_BIT(3),
    /** `name` is set. */
    UCT_MEM_ALLOC_PARAM_FIELD_NAME = UCS_BIT(4),
    /** `sys_device` is set. */
    UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE = UCS_BIT(5),
};

typedef enum uct_mem_alloc_params_field_t uct_mem_alloc_params_field_t;

/** Flags of a memory domain. */
enum uct_md_flag_bits {
    /** It allocates. */
    UCT_MD_FLAG_ALLOC = UCS_BIT(0),
    /** It registers. */
    UCT_MD_FLAG_REG = UCS_BIT(1),
    /** Local memory of zero-copy operations must be registered. */
    UCT_MD_FLAG_NEED_MEMH = UCS_BIT(2),
    /** Remote memory needs a key. */
    UCT_MD_FLAG_NEED_RKEY = UCS_BIT(3),
    /** It takes advice. */
    UCT_MD_FLAG_ADVISE = UCS_BIT(4),
    /** It allocates at fixed addresses. */
    UCT_MD_FLAG_FIXED = UCS_BIT(5),
    /** Remote memory can be reached by a pointer: `uct_rkey_ptr`. */
    UCT_MD_FLAG_RKEY_PTR = UCS_BIT(6),
    /** It connects by socket addresses. */
    UCT_MD_FLAG_SOCKADDR = UCS_BIT(7),
    /** It revokes keys. */
    UCT_MD_FLAG_INVALIDATE = UCS_BIT(8),
    /** It exports registrations to other processes. */
    UCT_MD_FLAG_EXPORTED_MKEY = UCS_BIT(9),
    /** It registers dmabufs. */
    UCT_MD_FLAG_REG_DMABUF = UCS_BIT(10),
    /** One behind the last flag. */
    UCT_MD_FLAG_LAST = UCS_BIT(11),
};

/** Members of `uct_cm_attr`. */
enum uct_cm_attr_field {
    /** `max_conn_priv` is wanted. */
    UCT_CM_ATTR_FIELD_MAX_CONN_PRIV = UCS_BIT(0),
};

/** Members of `uct_listener_attr`. */
enum uct_listener_attr_field {
    /** `sockaddr` is wanted. */
    UCT_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0),
};

/** Members of `uct_listener_params`. */
enum uct_listener_params_field {
    /** `backlog` is set. */
    UCT_LISTENER_PARAM_FIELD_BACKLOG = UCS_BIT(0),
    /** `conn_request_cb` is set. */
    UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB = UCS_BIT(1),
    /** `user_data` is set. */
    UCT_LISTENER_PARAM_FIELD_USER_DATA = UCS_BIT(2),
};

/** Members of `uct_ep_params`. */
enum uct_ep_params_field {
    /** `iface` is set. */
    UCT_EP_PARAM_FIELD_IFACE = UCS_BIT(0),
    /** `user_data` is set. */
    UCT_EP_PARAM_FIELD_USER_DATA = UCS_BIT(1),
    /** `dev_addr` is set. */
    UCT_EP_PARAM_FIELD_DEV_ADDR = UCS_BIT(2),
    /** `iface_addr` is set. */
    UCT_EP_PARAM_FIELD_IFACE_ADDR = UCS_BIT(3),
    /** `sockaddr` is set. */
    UCT_EP_PARAM_FIELD_SOCKADDR = UCS_BIT(4),
    /** `sockaddr_cb_flags` is set. */
    UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS = UCS_BIT(5),
    /** `sockaddr_pack_cb` is set. */
    UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB = UCS_BIT(6),
    /** `cm` is set. */
    UCT_EP_PARAM_FIELD_CM = UCS_BIT(7),
    /** `conn_request` is set. */
    UCT_EP_PARAM_FIELD_CONN_REQUEST = UCS_BIT(8),
    /** `sockaddr_cb_client` is set. */
    UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT = UCS_BIT(9),
    /** `sockaddr_cb_server` is set. */
    UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER = UCS_BIT(10),
    /** `disconnect_cb` is set. */
    UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB = UCS_BIT(11),
    /** `path_index` is set. */
    UCT_EP_PARAM_FIELD_PATH_INDEX = UCS_BIT(12),
    /** `cm_resolve_cb` is set. */
    UCT_EP_PARAM_FIELD_CM_RESOLVE_CB = UCS_BIT(13),
    /** `private_data` is set. */
    UCT_EP_PARAM_FIELD_PRIV_DATA = UCS_BIT(14),
    /** `private_data_length` is set. */
    UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH = UCS_BIT(15),
    /** `local_sockaddr` is set. */
    UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR = UCS_BIT(16),
    /** `dev_addr_length` is set. */
    UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH = UCS_BIT(17),
    /** `iface_addr_length` is set. */
    UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH = UCS_BIT(18),
};

/** Members of `uct_ep_connect_params`. */
enum uct_ep_connect_params_field {
    /** `private_data` is set. */
    UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA = UCS_BIT(0),
    /** `private_data_length` is set. */
    UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH = UCS_BIT(1),
};

typedef struct uct_md_mem_attr uct_md_mem_attr_t;
typedef struct uct_md_resource_desc uct_md_resource_desc_t;
typedef struct uct_component_attr uct_component_attr_t;
typedef struct uct_tl_resource_desc uct_tl_resource_desc_t;
typedef struct uct_allocated_memory uct_allocated_memory_t;
typedef struct uct_mem_alloc_params_t uct_mem_alloc_params_t;
typedef struct uct_rkey_bundle uct_rkey_bundle_t;
typedef struct uct_ppn_bandwidth uct_ppn_bandwidth_t;

/** What `uct_md_mem_query` tells of memory. */
struct uct_md_mem_attr {
    /** In: members to fill, bits of `uct_md_mem_attr_field`. */
    uint64_t field_mask;
    /** Kind of the memory. */
    ucs_memory_type_t mem_type;
    /** Device that it is on. */
    ucs_sys_device_t sys_dev;
    /** Start of the allocation that it is in. */
    void *base_address;
    /** Bytes of that allocation. */
    size_t alloc_length;
    /** A dmabuf descriptor for it, which the caller closes. */
    int dmabuf_fd;
    /** Where it starts in the dmabuf, bytes. */
    size_t dmabuf_offset;
};

/** A memory domain of a component. */
struct uct_md_resource_desc {
    /** Its name, for `uct_md_open`. */
    char md_name[UCT_MD_NAME_MAX];
};

/** What `uct_component_query` tells. */
struct uct_component_attr {
    /** In: members to fill, bits of `uct_component_attr_field`. */
    uint64_t field_mask;
    /** Name of the component, NUL-terminated. */
    char name[UCT_COMPONENT_NAME_MAX];
    /** Number of its memory domains. */
    unsigned int md_resource_count;
    /** In: array of the caller for as many; out: the domains. */
    uct_md_resource_desc_t *md_resources;
    /** `UCT_COMPONENT_FLAG_*`. */
    uint64_t flags;
};

/** A transport on a device. */
struct uct_tl_resource_desc {
    /** Name of the transport. */
    char tl_name[UCT_TL_NAME_MAX];
    /** Name of the device. */
    char dev_name[UCT_DEVICE_NAME_MAX];
    /** What it connects. */
    uct_device_type_t dev_type;
    /** Its place in the machine. */
    ucs_sys_device_t sys_device;
};

/** Memory of `uct_mem_alloc` or `uct_iface_mem_alloc`. */
struct uct_allocated_memory {
    /** Start. */
    void *address;
    /** Bytes, which may be more than were asked for. */
    size_t length;
    /** Where it comes from. */
    uct_alloc_method_t method;
    /** Kind of the memory. */
    ucs_memory_type_t mem_type;
    /** Domain that it is registered with, or NULL. */
    uct_md_h md;
    /** Its registration. */
    uct_mem_h memh;
    /** Device that it is on. Since 1.19: filled only for callers that can know. */
    ucs_sys_device_t sys_device;
};

/** Memory domains to try. */
struct uct_mem_alloc_params_t_mds {
    /** The domains. */
    const uct_md_h *mds;
    /** Number of them. */
    unsigned int count;
};

/** How `uct_mem_alloc` allocates. */
struct uct_mem_alloc_params_t {
    /** Members that are set, bits of `uct_mem_alloc_params_field_t`. */
    uint64_t field_mask;
    /** Bits of `uct_md_mem_flags`. */
    unsigned int flags;
    /** Where, as of mmap(). */
    void *address;
    /** Kind of the memory; host when not set. */
    ucs_memory_type_t mem_type;
    /** Domains for UCT_ALLOC_METHOD_MD. */
    struct uct_mem_alloc_params_t_mds mds;
    /** Name for messages. */
    const char *name;
    /** Device to allocate on. */
    ucs_sys_device_t sys_device;
};

/** An unpacked remote key. */
struct uct_rkey_bundle {
    /** The key, for operations. */
    uct_rkey_t rkey;
    /** What belongs to it, for its release. */
    void *handle;
    /** The component. */
    void *type;
};

/** Bandwidth of a device that processes of one machine share: `dedicated + shared / processes`. */
struct uct_ppn_bandwidth {
    /** Bytes a second that each process has for itself. */
    double dedicated;
    /** Bytes a second that all share. */
    double shared;
};

/** Limits of writes to remote memory. */
struct uct_iface_attr_cap_put {
    /** Longest short operation, bytes; of an active message with its header of 8 bytes. */
    size_t max_short;
    /** Longest bcopy operation, bytes. */
    size_t max_bcopy;
    /** Shortest zcopy operation, bytes. */
    size_t min_zcopy;
    /** Longest zcopy operation, bytes. */
    size_t max_zcopy;
    /** Alignment at which zcopy is fastest, bytes. */
    size_t opt_zcopy_align;
    /** Distance of the places where a transfer is cut, bytes. */
    size_t align_mtu;
    /** Most pieces of a zcopy operation. */
    size_t max_iov;
};

/** Limits of reads of remote memory. */
struct uct_iface_attr_cap_get {
    /** Longest short operation, bytes; of an active message with its header of 8 bytes. */
    size_t max_short;
    /** Longest bcopy operation, bytes. */
    size_t max_bcopy;
    /** Shortest zcopy operation, bytes. */
    size_t min_zcopy;
    /** Longest zcopy operation, bytes. */
    size_t max_zcopy;
    /** Alignment at which zcopy is fastest, bytes. */
    size_t opt_zcopy_align;
    /** Distance of the places where a transfer is cut, bytes. */
    size_t align_mtu;
    /** Most pieces of a zcopy operation. */
    size_t max_iov;
};

/** Limits of active messages. */
struct uct_iface_attr_cap_am {
    /** Longest short operation, bytes; of an active message with its header of 8 bytes. */
    size_t max_short;
    /** Longest bcopy operation, bytes. */
    size_t max_bcopy;
    /** Shortest zcopy operation, bytes. */
    size_t min_zcopy;
    /** Longest zcopy operation, bytes. */
    size_t max_zcopy;
    /** Alignment at which zcopy is fastest, bytes. */
    size_t opt_zcopy_align;
    /** Distance of the places where a transfer is cut, bytes. */
    size_t align_mtu;
    /** Longest header of a zcopy operation, bytes. */
    size_t max_hdr;
    /** Most pieces of a zcopy operation. */
    size_t max_iov;
};

/** Limits of receives of tagged messages. */
struct uct_iface_attr_cap_tag_recv {
    /** Shortest receive that can be posted, bytes. */
    size_t min_recv;
    /** Longest zcopy operation, bytes. */
    size_t max_zcopy;
    /** Most pieces of a zcopy operation. */
    size_t max_iov;
    /** Most receives at a time. */
    size_t max_outstanding;
};

/** Limits of tagged messages that are sent at once. */
struct uct_iface_attr_cap_tag_eager {
    /** Longest short operation, bytes; of an active message with its header of 8 bytes. */
    size_t max_short;
    /** Longest bcopy operation, bytes. */
    size_t max_bcopy;
    /** Longest zcopy operation, bytes. */
    size_t max_zcopy;
    /** Most pieces of a zcopy operation. */
    size_t max_iov;
};

/** Limits of tagged messages that are offered. */
struct uct_iface_attr_cap_tag_rndv {
    /** Longest zcopy operation, bytes. */
    size_t max_zcopy;
    /** Longest header of a zcopy operation, bytes. */
    size_t max_hdr;
    /** Most pieces of a zcopy operation. */
    size_t max_iov;
};

/** Limits of tagged messages. */
struct uct_iface_attr_cap_tag {
    /** Of receives. */
    struct uct_iface_attr_cap_tag_recv recv;
    /** Of messages that are sent at once. */
    struct uct_iface_attr_cap_tag_eager eager;
    /** Of messages that are offered. */
    struct uct_iface_attr_cap_tag_rndv rndv;
};

/** Atomics of one width: bitmaps over `uct_atomic_op`. */
struct uct_iface_attr_cap_atomic {
    /** Those that return nothing. */
    uint64_t op_flags;
    /** Those that return the old value. */
    uint64_t fop_flags;
};

/** What an interface can do. */
struct uct_iface_attr_cap {
    /** Writes to remote memory. */
    struct uct_iface_attr_cap_put put;
    /** Reads of remote memory. */
    struct uct_iface_attr_cap_get get;
    /** Active messages. */
    struct uct_iface_attr_cap_am am;
    /** Tagged messages. */
    struct uct_iface_attr_cap_tag tag;
    /** Atomics of 4 bytes. */
    struct uct_iface_attr_cap_atomic atomic32;
    /** Atomics of 8 bytes. */
    struct uct_iface_attr_cap_atomic atomic64;
    /** `UCT_IFACE_FLAG_*`. */
    uint64_t flags;
    /** `UCT_IFACE_FLAG_EVENT_*`. */
    uint64_t event_flags;
};

/** What `uct_iface_query` tells. */
struct uct_iface_attr {
    /** What the interface can do. */
    struct uct_iface_attr_cap cap;
    /** Bytes of a device address. */
    size_t device_addr_len;
    /** Bytes of an interface address; 0 when endpoints connect to endpoints. */
    size_t iface_addr_len;
    /** Bytes of an endpoint address; 0 when endpoints connect to interfaces. */
    size_t ep_addr_len;
    /** Most private data when connecting, bytes. */
    size_t max_conn_priv;
    /** Socket of a server interface. */
    struct sockaddr_storage listen_sockaddr;
    /** Seconds that a message costs the processor. */
    double overhead;
    /** Bytes a second. */
    uct_ppn_bandwidth_t bandwidth;
    /** Seconds, as a function of the number of endpoints. */
    ucs_linear_func_t latency;
    /** Chosen before interfaces with a lower one. */
    uint8_t priority;
    /** Most endpoints. */
    size_t max_num_eps;
    /** Paths of the device: `path_index` is below. */
    unsigned int dev_num_paths;
    /** Device that controls the interface, where it is another. */
    ucs_sys_device_t ctl_device;
};

/** What to open: a resource of `uct_md_query_tl_resources`. */
struct uct_iface_params_mode_device {
    /** Name of the transport. */
    const char *tl_name;
    /** Name of the device. */
    const char *dev_name;
};

/** What to serve. */
struct uct_iface_params_mode_sockaddr {
    /** Socket to bind. */
    ucs_sock_addr_t listen_sockaddr;
    /** Passed to the callback. */
    void *conn_request_arg;
    /** Gets clients. */
    uct_sockaddr_conn_request_callback_t conn_request_cb;
    /** Bits of `uct_cb_flags`. */
    uint32_t cb_flags;
};

/** An interface that does nothing. */
struct uct_iface_params_mode_stub {
    /** What its operations answer. */
    ucs_status_t status;
};

/** What to open, by the open mode. */
union uct_iface_params_mode {
    /** With UCT_IFACE_OPEN_MODE_DEVICE. */
    struct uct_iface_params_mode_device device;
    /** With UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER. */
    struct uct_iface_params_mode_sockaddr sockaddr;
    /** With UCT_IFACE_OPEN_MODE_STUB. */
    struct uct_iface_params_mode_stub stub;
};

/** How `uct_iface_open` opens. */
struct uct_iface_params {
    /** Members that are set, bits of `uct_iface_params_field`. */
    uint64_t field_mask;
    /** Processors that the interface is used from. */
    ucs_cpu_set_t cpu_mask;
    /** One of `uct_iface_open_mode`; must be set. */
    uint64_t open_mode;
    /** What to open. */
    union uct_iface_params_mode mode;
    /** Where statistics go; not supported. */
    ucs_stats_node_t *stats_root;
    /** Bytes to leave free before arriving data that the caller may keep. */
    size_t rx_headroom;
    /** Passed to the error handler. */
    void *err_handler_arg;
    /** Called when an endpoint fails. */
    uct_error_handler_t err_handler;
    /** Bits of `uct_cb_flags`. */
    uint32_t err_handler_flags;
    /** Passed to `eager_cb`. */
    void *eager_arg;
    /** Gets tagged messages that no receive waits for. */
    uct_tag_unexp_eager_cb_t eager_cb;
    /** Passed to `rndv_cb`. */
    void *rndv_arg;
    /** Gets offers that no receive waits for. */
    uct_tag_unexp_rndv_cb_t rndv_cb;
    /** Passed to `async_event_cb`. */
    void *async_event_arg;
    /** Called on events that were armed. */
    uct_async_event_cb_t async_event_cb;
    /** Time between signs of life, in units of `ucs_time_t`. */
    ucs_time_t keepalive_interval;
    /** Alignment of arriving data, a power of two. */
    size_t am_alignment;
    /** Where in the data that alignment counts from, bytes. */
    size_t am_align_offset;
    /** Bits of `uct_iface_feature`. */
    uint64_t features;
};

/**
 * Counts operations and calls back at the end. Memory of the caller, who sets it before the first
 * operation.
 */
struct uct_completion {
    /** Called when `count` reaches 0. */
    uct_completion_callback_t func;
    /** Operations still under way. */
    int count;
    /** UCS_OK at first, then the first failure. */
    ucs_status_t status;
};

/** A request in a queue. Memory of the caller. */
struct uct_pending_req {
    /** Tries it. */
    uct_pending_callback_t func;
    /** Of the transport, while it is queued. */
    char priv[UCT_PENDING_REQ_PRIV_LEN];
};

/** A posted receive of a tagged message. Memory of the caller. */
struct uct_tag_context {
    /** Called when a message matched: the receive cannot be cancelled any more. */
    void (*tag_consumed_cb)(uct_tag_context_t*);
    /** Called with tag, immediate, bytes, inlined data and status at the end. */
    void (*completed_cb)(uct_tag_context_t*,
                         uct_tag_t,
                         uint64_t,
                         size_t,
                         void*,
                         ucs_status_t);
    /** Called when an offer matched that software has to fetch. */
    void (*rndv_cb)(uct_tag_context_t*,
                    uct_tag_t,
                    const void*,
                    unsigned int,
                    ucs_status_t,
                    unsigned int);
    /** Of the transport, while it is posted. */
    char priv[UCT_TAG_PRIV_LEN];
};

/** What a memory domain can do; each `*_mem_types` is a bitmap over `ucs_memory_type_t`. */
struct uct_md_attr_cap {
    /** Largest allocation, bytes. */
    uint64_t max_alloc;
    /** Largest registration, bytes. */
    size_t max_reg;
    /** `UCT_MD_FLAG_*`. */
    uint64_t flags;
    /** Types that can be registered. */
    uint64_t reg_mem_types;
    /** Types that can be told from an address. */
    uint64_t detect_mem_types;
    /** Types that can be allocated. */
    uint64_t alloc_mem_types;
    /** Types that can be reached. */
    uint64_t access_mem_types;
};

/** What `uct_md_query` tells. */
struct uct_md_attr {
    /** What the domain can do. */
    struct uct_md_attr_cap cap;
    /** Seconds that a registration takes, as a function of its bytes. */
    ucs_linear_func_t reg_cost;
    /** Name of the component. */
    char component_name[UCT_COMPONENT_NAME_MAX];
    /** Bytes of a packed remote key. */
    size_t rkey_packed_size;
    /** Processors near the device. */
    ucs_cpu_set_t local_cpus;
};

/** How `uct_ep_create` connects. */
struct uct_ep_params {
    /** Members that are set, bits of `uct_ep_params_field`. */
    uint64_t field_mask;
    /** Interface that gets the endpoint; this or `cm`. */
    uct_iface_h iface;
    /** Passed to callbacks. */
    void *user_data;
    /** Address of the peer's device. */
    const uct_device_addr_t *dev_addr;
    /** Address of the peer's interface. */
    const uct_iface_addr_t *iface_addr;
    /** Socket of the server. */
    const ucs_sock_addr_t *sockaddr;
    /** Bits of `uct_cb_flags`. */
    uint32_t sockaddr_cb_flags;
    /** Writes private data for the other side. */
    uct_cm_ep_priv_data_pack_callback_t sockaddr_pack_cb;
    /** Connection manager that gets the endpoint. */
    uct_cm_h cm;
    /** A client to accept. */
    uct_conn_request_h conn_request;
    /** Called with the server's answer. */
    uct_cm_ep_client_connect_callback_t sockaddr_cb_client;
    /** Called when the client finished connecting. */
    uct_cm_ep_server_conn_notify_callback_t sockaddr_cb_server;
    /** Called when the other side disconnects. */
    uct_ep_disconnect_cb_t disconnect_cb;
    /** Which path of the device, below `dev_num_paths`. */
    unsigned int path_index;
    /** Called when the server's address is resolved. */
    uct_cm_ep_resolve_callback_t cm_resolve_cb;
    /** Private data for the other side. */
    const void *private_data;
    /** Bytes of that. */
    size_t private_data_length;
    /** Socket to bind before connecting. */
    const ucs_sock_addr_t *local_sockaddr;
    /** Bytes of `dev_addr`. */
    size_t dev_addr_length;
    /** Bytes of `iface_addr`. */
    size_t iface_addr_length;
};

/** What `uct_ep_connect` sends along. */
struct uct_ep_connect_params {
    /** Members that are set, bits of `uct_ep_connect_params_field`. */
    uint64_t field_mask;
    /** Private data for the server. */
    const void *private_data;
    /** Bytes of that. */
    size_t private_data_length;
};

/** What `uct_cm_query` tells. */
struct uct_cm_attr {
    /** In: members to fill, bits of `uct_cm_attr_field`. */
    uint64_t field_mask;
    /** Most private data when connecting, bytes. */
    size_t max_conn_priv;
};

/** What `uct_listener_query` tells. */
struct uct_listener_attr {
    /** In: members to fill, bits of `uct_listener_attr_field`. */
    uint64_t field_mask;
    /** Socket that it is bound to, with the port that it got. */
    struct sockaddr_storage sockaddr;
};

/** How a listener accepts clients. */
struct uct_listener_params {
    /** Members that are set, bits of `uct_listener_params_field`. */
    uint64_t field_mask;
    /** Clients that may wait, as of listen(). */
    int backlog;
    /** Gets clients; must be set. */
    uct_cm_listener_conn_request_callback_t conn_request_cb;
    /** Passed to it. */
    void *user_data;
};

/**
 * Tells about memory that a device may have.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] address Start of the memory; not accessed.
 * @param[in] length Bytes.
 * @param[in,out] mem_attr `field_mask` says which members are written; on success only.
 * @return UCS_OK. UCS_ERR_UNSUPPORTED when the domain does not tell memory types apart.
 *   UCS_ERR_INVALID_ADDR for memory of another type than the domain's `detect_mem_types`.
 *   UCS_ERR_INVALID_PARAM when `md` or `mem_attr` is NULL.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_mem_query(uct_md_h md,
                              const void *address,
                              size_t length,
                              uct_md_mem_attr_t *mem_attr);

/**
 * Lists the components. `*components_p` is freed by `uct_release_component_list`.
 *
 * @param[out] components_p Array of components.
 * @param[out] num_components_p Their number.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_query_components(uct_component_h **components_p,
                                  unsigned int *num_components_p);

/**
 * Frees the list of `uct_query_components`.
 *
 * @param[in] components Array of `uct_query_components`, once; NULL does nothing. The components
 *   stay valid.
 *
 * @ingroup uct_md
 */
void uct_release_component_list(uct_component_h *components);

/**
 * Tells about a component. The array of memory domains is the caller's: ask for the count first,
 * then for the names.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in,out] component_attr `field_mask` says which members are written; `md_resources` points
 *   to room for as many as the count said.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_component_query(uct_component_h component,
                                 uct_component_attr_t *component_attr);

/**
 * Opens a memory domain. `uct_md_close` closes it.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in] md_name Name as `uct_component_query` gave it, NUL-terminated.
 * @param[in] config Configuration of `uct_md_config_read`; stays the caller's.
 * @param[out] md_p The memory domain; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM when an argument is NULL. UCS_ERR_NO_DEVICE when the
 *   component has none of that name. Or the error of the domain.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_open(uct_component_h component,
                         const char *md_name,
                         const uct_md_config_t *config,
                         uct_md_h *md_p);

/**
 * Closes a memory domain on which no interface is open.
 *
 * @param[in] md Memory domain of `uct_md_open` without interfaces and registrations; not to be used
 *   afterwards. NULL does nothing.
 *
 * @ingroup uct_md
 */
void uct_md_close(uct_md_h md);

/**
 * Lists transports and devices of a memory domain. `uct_release_tl_resource_list` frees the list.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[out] resources_p Array with an entry for each transport on each device.
 * @param[out] num_resources_p Number of entries.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_query_tl_resources(uct_md_h md,
                                       uct_tl_resource_desc_t **resources_p,
                                       unsigned int *num_resources_p);

/**
 * Frees the list of `uct_md_query_tl_resources`.
 *
 * @param[in] resources Array of `uct_md_query_tl_resources`, once; NULL does nothing.
 *
 * @ingroup uct_md
 */
void uct_release_tl_resource_list(uct_tl_resource_desc_t *resources);

/**
 * Creates a worker. It and all that is opened on it are used by one thread at a time, whatever the
 * mode.
 *
 * @param[in] async Context whose thread or signal calls asynchronous events; alive until the worker
 *   is destroyed.
 * @param[in] thread_mode Which threads use the worker.
 * @param[out] worker_p The worker; written on success only.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or the mode is unknown.
 *
 * @ingroup uct_worker
 */
ucs_status_t uct_worker_create(ucs_async_context_t *async,
                               ucs_thread_mode_t thread_mode,
                               uct_worker_h *worker_p);

/**
 * Destroys a worker on which nothing is open.
 *
 * @param[in] worker Worker without interfaces and connection managers; not to be used afterwards.
 *   NULL does nothing.
 *
 * @ingroup uct_worker
 */
void uct_worker_destroy(uct_worker_h worker);

/**
 * Adds a callback to what the worker's progress calls. May be called by any thread.
 *
 * @param[in] worker Worker of `uct_worker_create`, not destroyed yet.
 * @param[in] func Called in each `uct_worker_progress`; returns how much it did.
 * @param[in] arg Its argument.
 * @param[in] flags UCS_CALLBACKQ_FLAG_ONESHOT calls it once; else 0.
 * @param[in,out] id_p The callback's number. Nothing is done unless it is UCS_CALLBACKQ_ID_NULL, so
 *   that a callback is registered once.
 *
 * @ingroup uct_worker
 */
void uct_worker_progress_register_safe(uct_worker_h worker,
                                       ucs_callback_t func,
                                       void *arg,
                                       unsigned int flags,
                                       uct_worker_cb_id_t *id_p);

/**
 * Takes back `uct_worker_progress_register_safe`. May be called by any thread.
 *
 * @param[in] worker Worker of `uct_worker_create`, not destroyed yet.
 * @param[in,out] id_p The callback's number, which becomes UCS_CALLBACKQ_ID_NULL; nothing is done
 *   if it is that already.
 *
 * @ingroup uct_worker
 */
void uct_worker_progress_unregister_safe(uct_worker_h worker,
                                         uct_worker_cb_id_t *id_p);

/**
 * Reads the options of interfaces from ucx.conf and the environment. `uct_config_release` frees
 * them.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] tl_name Name of a transport of the domain, NUL-terminated.
 * @param[in] env_prefix Prefix tried before the plain names, NUL-terminated; NULL for none.
 * @param[in] filename Not used.
 * @param[out] config_p The options; written on success only.
 * @return UCS_OK. UCS_ERR_NO_DEVICE when the domain has no such transport.
 *   UCS_ERR_INVALID_PARAM when an argument is NULL or an option cannot be read.
 *
 * @ingroup uct_config
 */
ucs_status_t uct_md_iface_config_read(uct_md_h md,
                                      const char *tl_name,
                                      const char *env_prefix,
                                      const char *filename,
                                      uct_iface_config_t **config_p);

/**
 * Frees a configuration of any of the three kinds.
 *
 * @param[in] config Configuration, once; NULL does nothing. What was opened with it stays.
 *
 * @ingroup uct_config
 */
void uct_config_release(void *config);

/**
 * Writes an option as text.
 *
 * @param[in] config Configuration of `uct_md_config_read`, `uct_md_iface_config_read` or
 *   `uct_cm_config_read`; used by one thread at a time.
 * @param[in] name Name without `UCX_` and without the prefix of its kind, NUL-terminated.
 * @param[out] value Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `value`.
 * @return UCS_OK. UCS_ERR_NO_ELEM when there is no such option. UCS_ERR_INVALID_PARAM when an
 *   argument is NULL or `max` is 0.
 *
 * @ingroup uct_config
 */
ucs_status_t uct_config_get(void *config,
                            const char *name,
                            char *value,
                            size_t max);

/**
 * Sets an option. What was opened before does not change.
 *
 * @param[in] config Configuration of `uct_md_config_read`, `uct_md_iface_config_read` or
 *   `uct_cm_config_read`; used by one thread at a time.
 * @param[in] name Name without `UCX_` and without the prefix of its kind, NUL-terminated.
 * @param[in] value New value as text, NUL-terminated; copied.
 * @return UCS_OK. UCS_ERR_NO_ELEM when there is no such option. UCS_ERR_INVALID_PARAM when an
 *   argument is NULL or the text does not fit.
 *
 * @ingroup uct_config
 */
ucs_status_t uct_config_modify(void *config,
                               const char *name,
                               const char *value);

/**
 * Opens an interface of the transport and device that are named. Progress is off until
 * `uct_iface_progress_enable`. `uct_iface_close` closes it.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] worker Worker of `uct_worker_create`, not destroyed yet.
 * @param[in] params Transport, device and handlers; read during the call only.
 * @param[in] config Configuration of `uct_md_iface_config_read` for the same transport; stays the
 *   caller's.
 * @param[out] iface_p The interface; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM when an argument is NULL or the configuration is of
 *   another transport. UCS_ERR_NO_DEVICE when the domain has no such transport or device, and for
 *   the old modes by socket address. Or the error of the transport.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_open(uct_md_h md,
                            uct_worker_h worker,
                            const uct_iface_params_t *params,
                            const uct_iface_config_t *config,
                            uct_iface_h *iface_p);

/**
 * Closes an interface without endpoints.
 *
 * @param[in] iface Interface without endpoints; not to be used afterwards. NULL does nothing.
 *
 * @ingroup uct_iface
 */
void uct_iface_close(uct_iface_h iface);

/**
 * Fills the attributes of an interface, all of the struct.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] iface_attr The attributes, all members.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_query(uct_iface_h iface, uct_iface_attr_t *iface_attr);

/**
 * Writes the device's address, for peers.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] addr Room for `device_addr_len` bytes of the attributes; may be NULL when that is 0.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr);

/**
 * Writes the interface's address, for peers.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] addr Room for `iface_addr_len` bytes of the attributes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr);

/**
 * Tells whether an interface of a peer can be reached. Its addresses are checked for what they
 * hold.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] dev_addr Device address of the peer, as its `uct_iface_get_device_address` wrote it.
 * @param[in] iface_addr Interface address of the peer; NULL asks for the device alone.
 * @return 1 or 0.
 *
 * @ingroup uct_iface
 */
int uct_iface_is_reachable(uct_iface_h iface,
                           const uct_device_addr_t *dev_addr,
                           const uct_iface_addr_t *iface_addr);

/**
 * Checks that the peer is alive. If it is not, the error handler is called.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags 0.
 * @param[in] comp NULL.
 * @return UCS_OK or UCS_INPROGRESS when the check was begun, or an error: see @ref uct_ep.
 *
 * @ingroup uct_ep
 */
ucs_status_t uct_ep_check(uct_ep_h ep,
                          unsigned int flags,
                          uct_completion_t *comp);

/**
 * Gives the descriptor that becomes readable on events: for poll(), never to be read or closed.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[out] fd_p The descriptor; it belongs to the interface.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
 *   transport without one.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_event_fd_get(uct_iface_h iface,
                                    int *fd_p);

/**
 * Makes the descriptor report the next event.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] events Bits of `uct_iface_event_types`.
 * @return UCS_OK: the next event makes the descriptor readable. UCS_ERR_BUSY: there is
 *   something to progress first. UCS_ERR_UNSUPPORTED for a transport without a descriptor.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_event_arm(uct_iface_h iface,
                                 unsigned int events);

/**
 * Allocates memory by the methods of the interface's option ALLOC, and registers it with the
 * domain where that is needed. `uct_iface_mem_free` frees it.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] length Bytes wanted.
 * @param[in] flags Bits of `uct_md_mem_flags`.
 * @param[in] name Name for messages, NUL-terminated; may be NULL.
 * @param[out] mem Address, length and handle; written on success only.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY; the error
 *   of the registration.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_mem_alloc(uct_iface_h iface,
                                 size_t length,
                                 unsigned int flags,
                                 const char *name,
                                 uct_allocated_memory_t *mem);

/**
 * Releases what `uct_iface_mem_alloc` gave.
 *
 * @param[in] mem What `uct_iface_mem_alloc` wrote, once.
 *
 * @ingroup uct_iface
 */
void uct_iface_mem_free(const uct_allocated_memory_t *mem);

/**
 * Sets the handler of active messages, or removes it. It is called in progress only.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] id Number of the message, below UCT_AM_ID_MAX.
 * @param[in] cb The handler; NULL removes it.
 * @param[in] arg Its first argument.
 * @param[in] flags 0 or UCT_CB_FLAG_ASYNC, a permission that is not used.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another number or flag, or an interface without
 *   active messages.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_set_am_handler(uct_iface_h iface,
                                      uint8_t id,
                                      uct_am_callback_t cb,
                                      void *arg,
                                      uint32_t flags);

/**
 * Sets the function that describes active messages in the log, or removes it.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] tracer The function; NULL removes it.
 * @param[in] arg Its first argument.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when `iface` is NULL.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_set_am_tracer(uct_iface_h iface,
                                     uct_am_tracer_t tracer,
                                     void *arg);

/**
 * Accepts a request on an interface by socket address, of which there are none.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] conn_request Not read.
 * @return UCS_ERR_UNSUPPORTED.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_accept(uct_iface_h iface, uct_conn_request_h conn_request);

/**
 * Rejects a request on an interface by socket address, of which there are none.
 *
 * @param[in] iface Interface of `uct_iface_open`, not closed yet.
 * @param[in] conn_request Not read.
 * @return UCS_ERR_UNSUPPORTED.
 *
 * @ingroup uct_iface
 */
ucs_status_t uct_iface_reject(uct_iface_h iface, uct_conn_request_h conn_request);

/**
 * Creates an endpoint: of an interface (with addresses: connected to that interface; without: to
 * be connected by `uct_ep_connect_to_ep`), or of a connection manager (as a client by `sockaddr`,
 * as a server by `conn_request`). `uct_ep_destroy` ends it.
 *
 * @param[in] params The interface or connection manager, and the peer; read during the call only.
 * @param[out] ep_p The endpoint; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM without an interface or connection manager. Or the
 *   error of the transport, such as UCS_ERR_UNREACHABLE.
 *
 * @ingroup uct_ep
 */
ucs_status_t uct_ep_create(const uct_ep_params_t *params,
                           uct_ep_h *ep_p);

/**
 * Goes on with the connection of a client's endpoint of a connection manager, after its address
 * was resolved.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] params Private data for the server; copied.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED on other
 *   endpoints.
 *
 * @ingroup uct_cm
 */
ucs_status_t uct_ep_connect(uct_ep_h ep,
                            const uct_ep_connect_params_t *params);

/**
 * Begins to disconnect an endpoint of a connection manager. The disconnect callback follows.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] flags 0.
 * @return UCS_OK or UCS_INPROGRESS; UCS_ERR_UNSUPPORTED on other endpoints; the error when it
 *   is not connected.
 *
 * @ingroup uct_cm
 */
ucs_status_t uct_ep_disconnect(uct_ep_h ep,
                               unsigned int flags);

/**
 * Destroys an endpoint. Operations under way are not completed: flush first.
 *
 * @param[in] ep Endpoint; not to be used afterwards. NULL does nothing.
 *
 * @ingroup uct_ep
 */
void uct_ep_destroy(uct_ep_h ep);

/**
 * Writes the endpoint's address, for `uct_ep_connect_to_ep` at the peer.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[out] addr Room for `ep_addr_len` bytes of the interface's attributes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
 *   transport that connects to interfaces only.
 *
 * @ingroup uct_ep
 */
ucs_status_t uct_ep_get_address(uct_ep_h ep,
                                uct_ep_addr_t *addr);

/**
 * Connects the endpoint to a peer's endpoint.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @param[in] dev_addr Device address of the peer's interface.
 * @param[in] ep_addr Address of the peer's endpoint.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
 *   transport that connects to interfaces only; UCS_ERR_UNREACHABLE.
 *
 * @ingroup uct_ep
 */
ucs_status_t uct_ep_connect_to_ep(uct_ep_h ep,
                                  const uct_device_addr_t *dev_addr,
                                  const uct_ep_addr_t *ep_addr);

/**
 * Fills the attributes of a memory domain, all of the struct.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[out] md_attr The attributes, all members.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_query(uct_md_h md, uct_md_attr_t *md_attr);

/**
 * Passes an advice on registered or allocated memory.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] memh Handle of the memory.
 * @param[in] addr Start, inside that memory.
 * @param[in] length Bytes; not 0.
 * @param[in] advice The advice.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or 0; UCS_ERR_UNSUPPORTED.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_mem_advise(uct_md_h md,
                               uct_mem_h memh,
                               void *addr,
                               size_t length,
                               uct_mem_advice_t advice);

/**
 * Registers memory. `uct_md_mem_dereg` takes that back.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] address Start of the memory.
 * @param[in] length Bytes; not 0.
 * @param[in] flags Bits of `uct_md_mem_flags`, at least one access.
 * @param[out] memh_p The handle; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM for no memory or no access. UCS_ERR_UNSUPPORTED for a
 *   domain that registers nothing. Or the error of the device.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_mem_reg(uct_md_h md,
                            void *address,
                            size_t length,
                            unsigned int flags,
                            uct_mem_h *memh_p);

/**
 * Releases a registration. No operation may use it any more.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] memh Handle of `uct_md_mem_reg`, once.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; the error of the device.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_mem_dereg(uct_md_h md,
                              uct_mem_h memh);

/**
 * Tells the type of memory.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] addr Start of the memory; not accessed.
 * @param[in] length Bytes.
 * @param[out] mem_type_p The type; written on success only.
 * @return As `uct_md_mem_query`.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_detect_memory_type(uct_md_h md,
                                       const void *addr,
                                       size_t length,
                                       ucs_memory_type_t *mem_type_p);

/**
 * Allocates memory by the first method that works; memory of devices is allocated by memory domains alone. `uct_mem_free` frees it.
 *
 * @param[in] length Bytes wanted.
 * @param[in] methods Methods in the order in which they are tried.
 * @param[in] num_methods Their number.
 * @param[in] params Flags, address, memory type, device, memory domains and name; read during the
 *   call only.
 * @param[out] mem Address, length and method; written on success only.
 * @return UCS_OK. UCS_ERR_NO_MEMORY when every method failed. UCS_ERR_UNSUPPORTED for memory
 *   that none of the memory domains allocates. UCS_ERR_NO_DEVICE when memory of a device is wanted
 *   and the device is not there or not in use. UCS_ERR_INVALID_PARAM when an argument is NULL, or
 *   no bytes are wanted.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_mem_alloc(size_t length,
                           const uct_alloc_method_t *methods,
                           unsigned int num_methods,
                           const uct_mem_alloc_params_t *params,
                           uct_allocated_memory_t *mem);

/**
 * Frees what `uct_mem_alloc` gave.
 *
 * @param[in] mem What `uct_mem_alloc` wrote, once.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when `mem` is NULL; the error of giving the memory
 *   back.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_mem_free(const uct_allocated_memory_t *mem);

/**
 * Reads the options of memory domains of a component from ucx.conf and the environment.
 * `uct_config_release` frees them.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in] env_prefix Prefix tried before the plain names, NUL-terminated; NULL for none.
 * @param[in] filename Not used.
 * @param[out] config_p The options; written on success only.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or an option cannot be read.
 *
 * @ingroup uct_config
 */
ucs_status_t uct_md_config_read(uct_component_h component,
                                const char *env_prefix,
                                const char *filename,
                                uct_md_config_t **config_p);

/**
 * Tells whether an address can be listened on or reached by interfaces by socket address, of which
 * there are none; see `uct_cm_open`.
 *
 * @param[in] md Not read.
 * @param[in] sockaddr Not read.
 * @param[in] mode Not read.
 * @return 0.
 *
 * @ingroup uct_md
 */
int uct_md_is_sockaddr_accessible(uct_md_h md,
                                  const ucs_sock_addr_t *sockaddr,
                                  uct_sockaddr_accessibility_t mode);

/**
 * Packs the remote key of registered memory, for peers.
 *
 * @param[in] md Memory domain of `uct_md_open`, not closed yet.
 * @param[in] memh Handle of `uct_md_mem_reg` or `uct_mem_alloc`; has to stay as long as peers use
 *   the key.
 * @param[out] rkey_buffer Room for `rkey_packed_size` bytes of the domain's attributes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
 *   domain without keys.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_md_mkey_pack(uct_md_h md,
                              uct_mem_h memh,
                              void *rkey_buffer);

/**
 * Turns a packed remote key into access. `uct_rkey_release` frees it.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in] rkey_buffer Bytes of `uct_md_mkey_pack` at the peer.
 * @param[out] rkey_ob The key; written on success only.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNREACHABLE or
 *   another error for a key that is of no use here.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_rkey_unpack(uct_component_h component,
                             const void *rkey_buffer,
                             uct_rkey_bundle_t *rkey_ob);

/**
 * Gives the local address at which memory of a peer is mapped. It is valid as long as the key.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in] rkey_ob Key of `uct_rkey_unpack`.
 * @param[in] remote_addr Address in the peer's memory, as the peer sees it.
 * @param[out] addr_p The local address; written on success only.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED when the memory is not mapped; UCS_ERR_INVALID_PARAM when
 *   an argument is NULL.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_rkey_ptr(uct_component_h component,
                          uct_rkey_bundle_t *rkey_ob,
                          uint64_t remote_addr,
                          void **addr_p);

/**
 * Releases a remote key.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in] rkey_ob Key of `uct_rkey_unpack`, once; no operation may use it any more.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup uct_md
 */
ucs_status_t uct_rkey_release(uct_component_h component,
                              const uct_rkey_bundle_t *rkey_ob);

/**
 * Opens a connection manager. Its callbacks are called by the async context of the worker, perhaps
 * in another thread. `uct_cm_close` closes it.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in] worker Worker of `uct_worker_create`, not destroyed yet.
 * @param[in] config Configuration of `uct_cm_config_read`; stays the caller's.
 * @param[out] cm_p The connection manager; written on success only.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED when the component has none; UCS_ERR_INVALID_PARAM when
 *   an argument is NULL.
 *
 * @ingroup uct_cm
 */
ucs_status_t uct_cm_open(uct_component_h component,
                         uct_worker_h worker,
                         const uct_cm_config_t *config,
                         uct_cm_h *cm_p);

/**
 * Closes a connection manager. Clients that still wait for an answer lose their connection.
 *
 * @param[in] cm Connection manager without listeners and endpoints; not to be used afterwards. NULL
 *   does nothing.
 *
 * @ingroup uct_cm
 */
void uct_cm_close(uct_cm_h cm);

/**
 * Tells about a connection manager.
 *
 * @param[in] cm Connection manager of `uct_cm_open`, not closed yet.
 * @param[in,out] cm_attr `field_mask` says which members are written.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup uct_cm
 */
ucs_status_t uct_cm_query(uct_cm_h cm, uct_cm_attr_t *cm_attr);

/**
 * Reads the options of a component's connection manager from ucx.conf and the environment.
 * `uct_config_release` frees them.
 *
 * @param[in] component Component of `uct_query_components`.
 * @param[in] env_prefix Prefix tried before the plain names, NUL-terminated; NULL for none.
 * @param[in] filename Not used.
 * @param[out] config_p The options; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM when the component has no connection manager, an
 *   argument is NULL or an option cannot be read.
 *
 * @ingroup uct_config
 */
ucs_status_t uct_cm_config_read(uct_component_h component,
                                const char *env_prefix,
                                const char *filename,
                                uct_cm_config_t **config_p);

/**
 * Tells the server that the client's endpoint is connected.
 *
 * @param[in] ep Endpoint of `uct_ep_create`, not destroyed yet.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED on endpoints that are not of a connection manager.
 *
 * @ingroup uct_cm
 */
ucs_status_t uct_cm_client_ep_conn_notify(uct_ep_h ep);

/**
 * Listens at an address. Port 0 lets the kernel choose; `uct_listener_query` tells which.
 *
 * @param[in] cm Connection manager of `uct_cm_open`, not closed yet.
 * @param[in] saddr Address, IPv4 or IPv6.
 * @param[in] socklen Bytes of the address.
 * @param[in] params Callback for clients, and backlog; read during the call only.
 * @param[out] listener_p The listener; written on success only.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM without a callback. UCS_ERR_BUSY when the address is
 *   taken. UCS_ERR_IO_ERROR when it cannot be had.
 *
 * @ingroup uct_cm
 */
ucs_status_t uct_listener_create(uct_cm_h cm,
                                 const struct sockaddr *saddr,
                                 socklen_t socklen,
                                 const uct_listener_params_t *params,
                                 uct_listener_h *listener_p);

/**
 * Stops listening. Requests that were shown can still be answered.
 *
 * @param[in] listener Listener; not to be used afterwards. NULL does nothing.
 *
 * @ingroup uct_cm
 */
void uct_listener_destroy(uct_listener_h listener);

/**
 * Turns a client down, who is told UCS_ERR_REJECTED.
 *
 * @param[in] listener Listener of `uct_listener_create`, not destroyed yet.
 * @param[in] conn_request Request that the listener's callback got, not answered yet.
 * @return UCS_OK. UCS_ERR_NOT_CONNECTED when the client went before. UCS_ERR_INVALID_PARAM when
 *   there is no such request any more.
 *
 * @ingroup uct_cm
 */
ucs_status_t uct_listener_reject(uct_listener_h listener,
                                 uct_conn_request_h conn_request);

/**
 * Tells about a listener.
 *
 * @param[in] listener Listener of `uct_listener_create`, not destroyed yet.
 * @param[in,out] listener_attr `field_mask` says which members are written.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
 *
 * @ingroup uct_cm
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

#endif
