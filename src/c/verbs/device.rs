//! `infiniband/verbs.h`: devices, ports, addresses, memory regions and asynchronous events.

use super::queue::{ibv_cq, ibv_qp, ibv_recv_wr, ibv_send_wr, ibv_sge, ibv_srq, ibv_wc};
use core::ffi::{c_char, c_int, c_uint, c_void};
use libc::pthread_mutex_t;

opaque! {
    /// A protection domain.
    pub struct ibv_pd
}
opaque! {
    /// An address handle.
    pub struct ibv_ah
}
opaque! {
    /// As much of `ibv_port_attr` as the oldest releases had.
    pub struct _compat_ibv_port_attr
}

/// A function of the context's table that this library does not call.
type Unused = *const c_void;

layouts! { DEVICE_LAYOUTS:
    prefix struct ibv_device {
        _ops: [Unused; 2],
        node_type: c_int,
        transport_type: c_int,
        name: [c_char; 64],
        dev_name: [c_char; 64],
    }

    /// The functions of the device's driver.
    whole struct ibv_context_ops {
        _compat_query_device: Unused,
        _compat_query_port: Unused,
        _compat_alloc_pd: Unused,
        _compat_dealloc_pd: Unused,
        _compat_reg_mr: Unused,
        _compat_rereg_mr: Unused,
        _compat_dereg_mr: Unused,
        alloc_mw: Unused,
        bind_mw: Unused,
        dealloc_mw: Unused,
        _compat_create_cq: Unused,
        poll_cq: Option<unsafe extern "C" fn(*mut ibv_cq, c_int, *mut ibv_wc) -> c_int>,
        req_notify_cq: Option<unsafe extern "C" fn(*mut ibv_cq, c_int) -> c_int>,
        _compat_cq_event: Unused,
        _compat_resize_cq: Unused,
        _compat_destroy_cq: Unused,
        _compat_create_srq: Unused,
        _compat_modify_srq: Unused,
        _compat_query_srq: Unused,
        _compat_destroy_srq: Unused,
        post_srq_recv:
            Option<unsafe extern "C" fn(*mut ibv_srq, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int>,
        _compat_create_qp: Unused,
        _compat_query_qp: Unused,
        _compat_modify_qp: Unused,
        _compat_destroy_qp: Unused,
        post_send:
            Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_send_wr, *mut *mut ibv_send_wr) -> c_int>,
        post_recv:
            Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int>,
        _compat_create_ah: Unused,
        _compat_destroy_ah: Unused,
        _compat_attach_mcast: Unused,
        _compat_detach_mcast: Unused,
        _compat_async_event: Unused,
    }

    /// An open device.
    whole struct ibv_context {
        device: *mut ibv_device,
        ops: ibv_context_ops,
        cmd_fd: c_int,
        async_fd: c_int,
        num_comp_vectors: c_int,
        mutex: pthread_mutex_t,
        /// All ones: a `verbs_context` ends with it.
        abi_compat: *mut c_void,
    }

    whole struct ibv_device_attr {
        fw_ver: [c_char; 64],
        node_guid: u64,
        sys_image_guid: u64,
        max_mr_size: u64,
        page_size_cap: u64,
        vendor_id: u32,
        vendor_part_id: u32,
        hw_ver: u32,
        max_qp: c_int,
        max_qp_wr: c_int,
        device_cap_flags: c_uint,
        max_sge: c_int,
        max_sge_rd: c_int,
        max_cq: c_int,
        max_cqe: c_int,
        max_mr: c_int,
        max_pd: c_int,
        max_qp_rd_atom: c_int,
        max_ee_rd_atom: c_int,
        max_res_rd_atom: c_int,
        max_qp_init_rd_atom: c_int,
        max_ee_init_rd_atom: c_int,
        atomic_cap: c_uint,
        max_ee: c_int,
        max_rdd: c_int,
        max_mw: c_int,
        max_raw_ipv6_qp: c_int,
        max_raw_ethy_qp: c_int,
        max_mcast_grp: c_int,
        max_mcast_qp_attach: c_int,
        max_total_mcast_qp_attach: c_int,
        max_ah: c_int,
        max_fmr: c_int,
        max_map_per_fmr: c_int,
        max_srq: c_int,
        max_srq_wr: c_int,
        max_srq_sge: c_int,
        max_pkeys: u16,
        local_ca_ack_delay: u8,
        phys_port_cnt: u8,
    }

    /// What can be done with memory that is not pinned.
    whole struct ibv_odp_caps {
        general_caps: u64,
        /// By connected queue pairs, unreliable ones and datagrams.
        per_transport_caps: [u32; 3],
    }

    /// The library is told how much of it there is.
    prefix struct ibv_device_attr_ex {
        orig_attr: ibv_device_attr,
        comp_mask: u32,
        odp_caps: ibv_odp_caps,
    }

    /// The library fills what its release knows; `PortRoom` has room for more.
    prefix struct ibv_port_attr {
        state: c_uint,
        max_mtu: c_uint,
        active_mtu: c_uint,
        gid_tbl_len: c_int,
        port_cap_flags: u32,
        max_msg_sz: u32,
        bad_pkey_cntr: u32,
        qkey_viol_cntr: u32,
        pkey_tbl_len: u16,
        lid: u16,
        sm_lid: u16,
        lmc: u8,
        max_vl_num: u8,
        sm_sl: u8,
        subnet_timeout: u8,
        init_type_reply: u8,
        active_width: u8,
        active_speed: u8,
        phys_state: u8,
        link_layer: u8,
        flags: u8,
        port_cap_flags2: u16,
    }

    prefix struct ibv_mr {
        context: *mut ibv_context,
        pd: *mut ibv_pd,
        addr: *mut c_void,
        length: usize,
        handle: u32,
        lkey: u32,
        rkey: u32,
    }

    whole struct ibv_global_route {
        dgid: ibv_gid,
        flow_label: u32,
        sgid_index: u8,
        hop_limit: u8,
        traffic_class: u8,
    }

    whole struct ibv_ah_attr {
        grh: ibv_global_route,
        dlid: u16,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port_num: u8,
    }

    whole struct ibv_async_event {
        /// A queue pair, a queue or a port, by the kind of the event.
        element: *mut c_void,
        event_type: c_uint,
    }
}

/// What stands right before an `ibv_context`, as far as it is known here: `verbs_context` grows at its begin.
#[repr(C)]
pub struct verbs_context_end {
    pub advise_mr:
        Option<unsafe extern "C" fn(*mut ibv_pd, c_uint, u32, *mut ibv_sge, u32) -> c_int>,
    _from_alloc_null_mr: [Unused; 25],
    pub query_device_ex: Option<
        unsafe extern "C" fn(
            *mut ibv_context,
            *const c_void,
            *mut ibv_device_attr_ex,
            usize,
        ) -> c_int,
    >,
    _from_destroy_flow: [Unused; 11],
    /// Bytes of the whole `verbs_context`.
    pub sz: usize,
}

/// A global address of a port. Aligned as C's union, which has 64-bit members.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ibv_gid {
    pub raw: [u8; 16],
}

/// `ibv_port_attr` with room for what newer releases may add.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PortRoom {
    pub attr: ibv_port_attr,
    pub more: [u64; 16],
}

/// `enum ibv_event_type`, of which releases know more or fewer values.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct ibv_event_type(pub c_uint);

constants! { DEVICE_CONSTANTS:
    IBV_NODE_CA: c_int = 1,
    IBV_TRANSPORT_IB: c_int = 0,
    IBV_PORT_ACTIVE: c_uint = 4,
    IBV_LINK_LAYER_UNSPECIFIED: u8 = 0,
    IBV_LINK_LAYER_INFINIBAND: u8 = 1,
    IBV_LINK_LAYER_ETHERNET: u8 = 2,
    IBV_MTU_256: c_uint = 1,
    IBV_MTU_512: c_uint = 2,
    IBV_MTU_1024: c_uint = 3,
    IBV_MTU_2048: c_uint = 4,
    IBV_MTU_4096: c_uint = 5,
    IBV_ATOMIC_NONE: c_uint = 0,
    IBV_ATOMIC_HCA: c_uint = 1,
    IBV_ATOMIC_GLOB: c_uint = 2,
    IBV_ACCESS_LOCAL_WRITE: c_int = 1,
    IBV_ACCESS_REMOTE_WRITE: c_int = 2,
    IBV_ACCESS_REMOTE_READ: c_int = 4,
    IBV_ACCESS_REMOTE_ATOMIC: c_int = 8,
    IBV_ACCESS_ON_DEMAND: c_int = 64,
    IBV_ODP_SUPPORT: u64 = 1,
    IBV_ODP_SUPPORT_SEND: u32 = 1,
    IBV_ODP_SUPPORT_WRITE: u32 = 4,
    IBV_ODP_SUPPORT_READ: u32 = 8,
    IBV_ADVISE_MR_ADVICE_PREFETCH: c_uint = 0,
    IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE: c_uint = 1,
    IBV_EVENT_CQ_ERR: c_uint = 0,
    IBV_EVENT_QP_FATAL: c_uint = 1,
    IBV_EVENT_QP_REQ_ERR: c_uint = 2,
    IBV_EVENT_QP_ACCESS_ERR: c_uint = 3,
    IBV_EVENT_COMM_EST: c_uint = 4,
    IBV_EVENT_SQ_DRAINED: c_uint = 5,
    IBV_EVENT_PATH_MIG: c_uint = 6,
    IBV_EVENT_PATH_MIG_ERR: c_uint = 7,
    IBV_EVENT_DEVICE_FATAL: c_uint = 8,
    IBV_EVENT_PORT_ACTIVE: c_uint = 9,
    IBV_EVENT_PORT_ERR: c_uint = 10,
    IBV_EVENT_LID_CHANGE: c_uint = 11,
    IBV_EVENT_PKEY_CHANGE: c_uint = 12,
    IBV_EVENT_SM_CHANGE: c_uint = 13,
    IBV_EVENT_SRQ_ERR: c_uint = 14,
    IBV_EVENT_SRQ_LIMIT_REACHED: c_uint = 15,
    IBV_EVENT_QP_LAST_WQE_REACHED: c_uint = 16,
    IBV_EVENT_CLIENT_REREGISTER: c_uint = 17,
    IBV_EVENT_GID_CHANGE: c_uint = 18,
    IBV_FORK_UNNEEDED: c_uint = 2,
}
