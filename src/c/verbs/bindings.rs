//! With the feature `rdma-sys`: constants and types are compared with those of the package, which makes its own from the
//! system's headers. Structs are compared by `layouts!`, functions where their tables stand.
#![forbid(unsafe_code)]

use super::*;
use core::ffi::{c_char, c_int, c_void};
use core::mem::offset_of;
use libc::sockaddr;

/// The package's type for one of ours.
pub trait Counterpart {
    type Theirs;
}

macro_rules! counterparts {
    ($($ours:ty = $theirs:ty,)*) => {
        $(impl Counterpart for $ours {
            type Theirs = $theirs;
        })*
    };
}

counterparts! {
    () = (),
    u8 = u8,
    u16 = u16,
    u32 = u32,
    u64 = u64,
    c_int = c_int,
    c_char = c_char,
    usize = usize,
    c_void = c_void,
    sockaddr = sockaddr,
    ibv_pd = rdma_sys::ibv_pd,
    ibv_ah = rdma_sys::ibv_ah,
    ibv_gid = rdma_sys::ibv_gid,
    ibv_event_type = rdma_sys::ibv_event_type,
    _compat_ibv_port_attr = rdma_sys::_compat_ibv_port_attr,
}

impl<T: Counterpart> Counterpart for *mut T {
    type Theirs = *mut T::Theirs;
}

impl<T: Counterpart> Counterpart for *const T {
    type Theirs = *const T::Theirs;
}

macro_rules! functions_of {
    ($($($arg:ident)*;)*) => {
        $(impl<R: Counterpart, $($arg: Counterpart),*> Counterpart for unsafe extern "C" fn($($arg),*) -> R {
            type Theirs = unsafe extern "C" fn($($arg::Theirs),*) -> R::Theirs;
        })*
    };
}

functions_of! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}

const _: () = {
    assert!(size_of::<ibv_gid>() == size_of::<rdma_sys::ibv_gid>());
    assert!(align_of::<ibv_gid>() == align_of::<rdma_sys::ibv_gid>());
    assert!(size_of::<ibv_event_type>() == size_of::<rdma_sys::ibv_event_type>());
    assert!(size_of::<PortRoom>() >= size_of::<rdma_sys::ibv_port_attr>());
    assert!(size_of::<ibv_send_wr_to>() == size_of::<rdma_sys::wr_t>());
    let context = offset_of!(rdma_sys::verbs_context, context);
    let before = size_of::<verbs_context_end>();
    assert!(context - offset_of!(rdma_sys::verbs_context, advise_mr) == before);
    let query = before - offset_of!(verbs_context_end, query_device_ex);
    assert!(context - offset_of!(rdma_sys::verbs_context, query_device_ex) == query);
    let size = before - offset_of!(verbs_context_end, sz);
    assert!(context - offset_of!(rdma_sys::verbs_context, sz) == size);
};

/// Members of the structs that a union has.
macro_rules! members {
    ($($ours:ident = $theirs:ident: $($field:ident)*;)*) => {
        const _: () = {
            $(
                assert!(size_of::<$ours>() == size_of::<rdma_sys::$theirs>());
                $(assert!(offset_of!($ours, $field) == offset_of!(rdma_sys::$theirs, $field));)*
            )*
        };
    };
}

members! {
    ibv_send_wr_rdma = rdma_t: remote_addr rkey;
    ibv_send_wr_atomic = atomic_t: remote_addr compare_add swap rkey;
    ibv_send_wr_ud = ud_t: ah remote_qpn remote_qkey;
}

/// Constants by their C enum, which the package has as a module or an enum, or as a struct of a number.
macro_rules! compare {
    (numbers { $($of:ident: $($name:ident)*;)* } flags { $($set:ident: $($flag:ident)*;)* } alone { $($plain:ident)* }
        unknown { $($unknown:ident)* }) => {
        const _: () = {
            $($(assert!($name as u64 == rdma_sys::$of::$name as u64);)*)*
            $($(assert!($flag as u64 == rdma_sys::$set::$flag.0 as u64);)*)*
            $(assert!($plain as u64 == rdma_sys::$plain as u64);)*
            let listed = [$($($name as u64,)*)* $($($flag as u64,)*)* $($plain as u64,)* $($unknown as u64,)*];
            let [device, queue, cm] = ALL_CONSTANTS;
            assert!(listed.len() == device.len() + queue.len() + cm.len());
        };
    };
}

compare! {
    numbers {
        ibv_node_type: IBV_NODE_CA;
        ibv_transport_type: IBV_TRANSPORT_IB;
        ibv_port_state: IBV_PORT_ACTIVE;
        ibv_mtu: IBV_MTU_256 IBV_MTU_512 IBV_MTU_1024 IBV_MTU_2048 IBV_MTU_4096;
        ibv_event_type: IBV_EVENT_CQ_ERR IBV_EVENT_QP_FATAL IBV_EVENT_QP_REQ_ERR IBV_EVENT_QP_ACCESS_ERR IBV_EVENT_COMM_EST
            IBV_EVENT_SQ_DRAINED IBV_EVENT_PATH_MIG IBV_EVENT_PATH_MIG_ERR IBV_EVENT_DEVICE_FATAL IBV_EVENT_PORT_ACTIVE
            IBV_EVENT_PORT_ERR IBV_EVENT_LID_CHANGE IBV_EVENT_PKEY_CHANGE IBV_EVENT_SM_CHANGE IBV_EVENT_SRQ_ERR
            IBV_EVENT_SRQ_LIMIT_REACHED IBV_EVENT_QP_LAST_WQE_REACHED IBV_EVENT_CLIENT_REREGISTER IBV_EVENT_GID_CHANGE;
        ibv_atomic_cap: IBV_ATOMIC_NONE IBV_ATOMIC_HCA IBV_ATOMIC_GLOB;
        ibv_qp_type: IBV_QPT_RC IBV_QPT_UD;
        ibv_qp_state: IBV_QPS_RESET IBV_QPS_INIT IBV_QPS_RTR IBV_QPS_RTS IBV_QPS_ERR;
        ibv_wr_opcode: IBV_WR_RDMA_WRITE IBV_WR_SEND IBV_WR_RDMA_READ IBV_WR_ATOMIC_CMP_AND_SWP IBV_WR_ATOMIC_FETCH_AND_ADD;
        ibv_wc_status: IBV_WC_SUCCESS IBV_WC_WR_FLUSH_ERR IBV_WC_REM_INV_REQ_ERR IBV_WC_REM_ACCESS_ERR IBV_WC_REM_OP_ERR
            IBV_WC_RETRY_EXC_ERR IBV_WC_RNR_RETRY_EXC_ERR IBV_WC_REM_ABORT_ERR;
        ibv_wc_opcode: IBV_WC_RECV;
        rdma_port_space: RDMA_PS_TCP;
        rdma_cm_event_type: RDMA_CM_EVENT_ADDR_RESOLVED RDMA_CM_EVENT_ADDR_ERROR RDMA_CM_EVENT_ROUTE_RESOLVED
            RDMA_CM_EVENT_ROUTE_ERROR RDMA_CM_EVENT_CONNECT_REQUEST RDMA_CM_EVENT_CONNECT_RESPONSE RDMA_CM_EVENT_CONNECT_ERROR
            RDMA_CM_EVENT_UNREACHABLE RDMA_CM_EVENT_REJECTED RDMA_CM_EVENT_ESTABLISHED RDMA_CM_EVENT_DISCONNECTED
            RDMA_CM_EVENT_DEVICE_REMOVAL RDMA_CM_EVENT_ADDR_CHANGE RDMA_CM_EVENT_TIMEWAIT_EXIT;
    }
    flags {
        ibv_access_flags: IBV_ACCESS_LOCAL_WRITE IBV_ACCESS_REMOTE_WRITE IBV_ACCESS_REMOTE_READ IBV_ACCESS_REMOTE_ATOMIC
            IBV_ACCESS_ON_DEMAND;
        ibv_odp_general_caps: IBV_ODP_SUPPORT;
        ibv_odp_transport_cap_bits: IBV_ODP_SUPPORT_SEND IBV_ODP_SUPPORT_WRITE IBV_ODP_SUPPORT_READ;
        ibv_qp_attr_mask: IBV_QP_STATE IBV_QP_ACCESS_FLAGS IBV_QP_PKEY_INDEX IBV_QP_PORT IBV_QP_QKEY IBV_QP_AV IBV_QP_PATH_MTU
            IBV_QP_TIMEOUT IBV_QP_RETRY_CNT IBV_QP_RNR_RETRY IBV_QP_RQ_PSN IBV_QP_MAX_QP_RD_ATOMIC IBV_QP_MIN_RNR_TIMER
            IBV_QP_SQ_PSN IBV_QP_MAX_DEST_RD_ATOMIC IBV_QP_DEST_QPN;
        ibv_send_flags: IBV_SEND_FENCE IBV_SEND_SIGNALED IBV_SEND_SOLICITED IBV_SEND_INLINE;
        ibv_wc_flags: IBV_WC_GRH;
    }
    alone { IBV_FORK_UNNEEDED }
    // Macros, and values of enums without a name, which the package leaves out.
    unknown { IBV_LINK_LAYER_UNSPECIFIED IBV_LINK_LAYER_INFINIBAND IBV_LINK_LAYER_ETHERNET RDMA_OPTION_ID
        RDMA_OPTION_ID_REUSEADDR
        IBV_ADVISE_MR_ADVICE_PREFETCH IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE }
}
