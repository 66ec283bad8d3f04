//! `rdma/rdma_cma.h`: the connection manager of RDMA devices.

use super::device::{ibv_context, ibv_gid};
use core::ffi::{c_int, c_uint, c_void};
use libc::sockaddr_storage;

layouts! { CM_LAYOUTS:
    prefix struct rdma_event_channel {
        fd: c_int,
    }

    whole struct rdma_ib_addr {
        sgid: ibv_gid,
        dgid: ibv_gid,
        pkey: u16,
    }

    whole struct rdma_addr {
        src_storage in src_addr_union: sockaddr_storage,
        dst_storage in dst_addr_union: sockaddr_storage,
        addr: rdma_ib_addr,
    }

    /// A path through the network, in its byte order.
    prefix struct ibv_sa_path_rec {
        dgid: ibv_gid,
        sgid: ibv_gid,
        dlid: u16,
    }

    whole struct rdma_route {
        addr: rdma_addr,
        path_rec: *mut ibv_sa_path_rec,
        num_paths: c_int,
    }

    /// A connection or a listener.
    prefix struct rdma_cm_id {
        verbs: *mut ibv_context,
        channel: *mut rdma_event_channel,
        context: *mut c_void,
        qp: *mut c_void,
        route: rdma_route,
        ps: c_uint,
        port_num: u8,
    }

    whole struct rdma_conn_param {
        private_data: *const c_void,
        private_data_len: u8,
        responder_resources: u8,
        initiator_depth: u8,
        flow_control: u8,
        retry_count: u8,
        rnr_retry_count: u8,
        srq: u8,
        qp_num: u32,
    }

    prefix struct rdma_cm_event {
        id: *mut rdma_cm_id,
        listen_id: *mut rdma_cm_id,
        event: c_uint,
        status: c_int,
        /// Of connections; the union has another member for datagrams.
        param: rdma_conn_param,
    }
}

constants! { CM_CONSTANTS:
    RDMA_PS_TCP: c_uint = 0x106,
    RDMA_OPTION_ID: c_int = 0,
    RDMA_OPTION_ID_REUSEADDR: c_int = 1,
    RDMA_CM_EVENT_ADDR_RESOLVED: c_uint = 0,
    RDMA_CM_EVENT_ADDR_ERROR: c_uint = 1,
    RDMA_CM_EVENT_ROUTE_RESOLVED: c_uint = 2,
    RDMA_CM_EVENT_ROUTE_ERROR: c_uint = 3,
    RDMA_CM_EVENT_CONNECT_REQUEST: c_uint = 4,
    RDMA_CM_EVENT_CONNECT_RESPONSE: c_uint = 5,
    RDMA_CM_EVENT_CONNECT_ERROR: c_uint = 6,
    RDMA_CM_EVENT_UNREACHABLE: c_uint = 7,
    RDMA_CM_EVENT_REJECTED: c_uint = 8,
    RDMA_CM_EVENT_ESTABLISHED: c_uint = 9,
    RDMA_CM_EVENT_DISCONNECTED: c_uint = 10,
    RDMA_CM_EVENT_DEVICE_REMOVAL: c_uint = 11,
    RDMA_CM_EVENT_ADDR_CHANGE: c_uint = 14,
    RDMA_CM_EVENT_TIMEWAIT_EXIT: c_uint = 15,
}
