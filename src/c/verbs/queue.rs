//! `infiniband/verbs.h`: queues, work requests and completions.

use super::device::{ibv_ah, ibv_ah_attr, ibv_context, ibv_pd};
use core::ffi::{c_int, c_uint, c_void};

layouts! { QUEUE_LAYOUTS:
    prefix struct ibv_comp_channel {
        context: *mut ibv_context,
        fd: c_int,
    }

    prefix struct ibv_cq {
        context: *mut ibv_context,
        channel: *mut ibv_comp_channel,
        cq_context: *mut c_void,
        handle: u32,
        cqe: c_int,
    }

    prefix struct ibv_srq {
        context: *mut ibv_context,
        srq_context: *mut c_void,
        pd: *mut ibv_pd,
        handle: u32,
    }

    prefix struct ibv_qp {
        context: *mut ibv_context,
        qp_context: *mut c_void,
        pd: *mut ibv_pd,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        handle: u32,
        qp_num: u32,
        state: c_uint,
        qp_type: c_uint,
    }

    whole struct ibv_srq_attr {
        max_wr: u32,
        max_sge: u32,
        srq_limit: u32,
    }

    whole struct ibv_srq_init_attr {
        srq_context: *mut c_void,
        attr: ibv_srq_attr,
    }

    whole struct ibv_qp_cap {
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
    }

    whole struct ibv_qp_init_attr {
        qp_context: *mut c_void,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        cap: ibv_qp_cap,
        qp_type: c_uint,
        sq_sig_all: c_int,
    }

    whole struct ibv_qp_attr {
        qp_state: c_uint,
        cur_qp_state: c_uint,
        path_mtu: c_uint,
        path_mig_state: c_uint,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qp_num: u32,
        qp_access_flags: c_uint,
        cap: ibv_qp_cap,
        ah_attr: ibv_ah_attr,
        alt_ah_attr: ibv_ah_attr,
        pkey_index: u16,
        alt_pkey_index: u16,
        en_sqd_async_notify: u8,
        sq_draining: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port_num: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port_num: u8,
        alt_timeout: u8,
        rate_limit: u32,
    }

    whole struct ibv_sge {
        addr: u64,
        length: u32,
        lkey: u32,
    }

    whole struct ibv_recv_wr {
        wr_id: u64,
        next: *mut ibv_recv_wr,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
    }

    whole struct ibv_send_wr {
        wr_id: u64,
        next: *mut ibv_send_wr,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
        opcode: c_uint,
        send_flags: c_uint,
        imm_data in imm_data_invalidated_rkey_union: u32,
        wr: ibv_send_wr_to,
        qp_type: u32,
        /// Memory windows and segmentation, which this library does not use.
        bind_mw in bind_mw_tso_union: [u64; 6],
    }

    whole struct ibv_wc {
        wr_id: u64,
        status: c_uint,
        opcode: c_uint,
        vendor_err: u32,
        byte_len: u32,
        imm_data in imm_data_invalidated_rkey_union: u32,
        qp_num: u32,
        src_qp: u32,
        wc_flags: c_uint,
        pkey_index: u16,
        slid: u16,
        sl: u8,
        dlid_path_bits: u8,
    }
}

/// Where a work request goes: the member `wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_send_wr_to {
    pub rdma: ibv_send_wr_rdma,
    pub atomic: ibv_send_wr_atomic,
    pub ud: ibv_send_wr_ud,
}

/// The member `wr.rdma`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_rdma {
    pub remote_addr: u64,
    pub rkey: u32,
}

/// The member `wr.atomic`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_atomic {
    pub remote_addr: u64,
    pub compare_add: u64,
    pub swap: u64,
    pub rkey: u32,
}

/// The member `wr.ud`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_send_wr_ud {
    pub ah: *mut ibv_ah,
    pub remote_qpn: u32,
    pub remote_qkey: u32,
}

constants! { QUEUE_CONSTANTS:
    IBV_QPT_RC: c_uint = 2,
    IBV_QPT_UD: c_uint = 4,
    IBV_QPS_RESET: c_uint = 0,
    IBV_QPS_INIT: c_uint = 1,
    IBV_QPS_RTR: c_uint = 2,
    IBV_QPS_RTS: c_uint = 3,
    IBV_QPS_ERR: c_uint = 6,
    IBV_QP_STATE: c_int = 1,
    IBV_QP_ACCESS_FLAGS: c_int = 1 << 3,
    IBV_QP_PKEY_INDEX: c_int = 1 << 4,
    IBV_QP_PORT: c_int = 1 << 5,
    IBV_QP_QKEY: c_int = 1 << 6,
    IBV_QP_AV: c_int = 1 << 7,
    IBV_QP_PATH_MTU: c_int = 1 << 8,
    IBV_QP_TIMEOUT: c_int = 1 << 9,
    IBV_QP_RETRY_CNT: c_int = 1 << 10,
    IBV_QP_RNR_RETRY: c_int = 1 << 11,
    IBV_QP_RQ_PSN: c_int = 1 << 12,
    IBV_QP_MAX_QP_RD_ATOMIC: c_int = 1 << 13,
    IBV_QP_MIN_RNR_TIMER: c_int = 1 << 15,
    IBV_QP_SQ_PSN: c_int = 1 << 16,
    IBV_QP_MAX_DEST_RD_ATOMIC: c_int = 1 << 17,
    IBV_QP_DEST_QPN: c_int = 1 << 20,
    IBV_WR_RDMA_WRITE: c_uint = 0,
    IBV_WR_SEND: c_uint = 2,
    IBV_WR_RDMA_READ: c_uint = 4,
    IBV_WR_ATOMIC_CMP_AND_SWP: c_uint = 5,
    IBV_WR_ATOMIC_FETCH_AND_ADD: c_uint = 6,
    IBV_SEND_FENCE: c_uint = 1,
    IBV_SEND_SIGNALED: c_uint = 2,
    IBV_SEND_SOLICITED: c_uint = 4,
    IBV_SEND_INLINE: c_uint = 8,
    IBV_WC_SUCCESS: c_uint = 0,
    IBV_WC_WR_FLUSH_ERR: c_uint = 5,
    IBV_WC_REM_INV_REQ_ERR: c_uint = 9,
    IBV_WC_REM_ACCESS_ERR: c_uint = 10,
    IBV_WC_REM_OP_ERR: c_uint = 11,
    IBV_WC_RETRY_EXC_ERR: c_uint = 12,
    IBV_WC_RNR_RETRY_EXC_ERR: c_uint = 13,
    IBV_WC_REM_ABORT_ERR: c_uint = 16,
    IBV_WC_RECV: c_uint = 1 << 7,
    IBV_WC_GRH: c_uint = 1,
}
