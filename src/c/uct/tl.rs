//! `uct/api/tl.h`: types and constants.

use crate::c::prelude::*;

/// Operation behind `uct_ep_put_short`.
pub type uct_ep_put_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        buffer: *const c_void,
        length: c_uint,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_put_bcopy`.
pub type uct_ep_put_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        pack_cb: uct_pack_callback_t,
        arg: *mut c_void,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> isize,
>;

/// Operation behind `uct_ep_put_zcopy`.
pub type uct_ep_put_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        iov: *const uct_iov_t,
        iovcnt: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_get_short`.
pub type uct_ep_get_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        buffer: *mut c_void,
        length: c_uint,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_get_bcopy`.
pub type uct_ep_get_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        unpack_cb: uct_unpack_callback_t,
        arg: *mut c_void,
        length: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_get_zcopy`.
pub type uct_ep_get_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        iov: *const uct_iov_t,
        iovcnt: usize,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_am_short`.
pub type uct_ep_am_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        header: u64,
        payload: *const c_void,
        length: c_uint,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_am_short_iov`.
pub type uct_ep_am_short_iov_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        iov: *const uct_iov_t,
        iovcnt: usize,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_am_bcopy`.
pub type uct_ep_am_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        pack_cb: uct_pack_callback_t,
        arg: *mut c_void,
        flags: c_uint,
    ) -> isize,
>;

/// Operation behind `uct_ep_am_zcopy`.
pub type uct_ep_am_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        id: u8,
        header: *const c_void,
        header_length: c_uint,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic_cswap64`.
pub type uct_ep_atomic_cswap64_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        compare: u64,
        swap: u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
        result: *mut u64,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic_cswap32`.
pub type uct_ep_atomic_cswap32_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        compare: u32,
        swap: u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
        result: *mut u32,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic32_post`.
pub type uct_ep_atomic32_post_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic64_post`.
pub type uct_ep_atomic64_post_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic32_fetch`.
pub type uct_ep_atomic32_fetch_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u32,
        result: *mut u32,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_atomic64_fetch`.
pub type uct_ep_atomic64_fetch_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        opcode: c_uint,
        value: u64,
        result: *mut u64,
        remote_addr: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_tag_eager_short`.
pub type uct_ep_tag_eager_short_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        data: *const c_void,
        length: usize,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_tag_eager_bcopy`.
pub type uct_ep_tag_eager_bcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        imm: u64,
        pack_cb: uct_pack_callback_t,
        arg: *mut c_void,
        flags: c_uint,
    ) -> isize,
>;

/// Operation behind `uct_ep_tag_eager_zcopy`.
pub type uct_ep_tag_eager_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        imm: u64,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_tag_rndv_zcopy`.
pub type uct_ep_tag_rndv_zcopy_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        header: *const c_void,
        header_length: c_uint,
        iov: *const uct_iov_t,
        iovcnt: usize,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_ptr_t,
>;

/// Operation behind `uct_ep_tag_rndv_cancel`.
pub type uct_ep_tag_rndv_cancel_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, op: *mut c_void) -> ucs_status_t>;

/// Operation behind `uct_ep_tag_rndv_request`.
pub type uct_ep_tag_rndv_request_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        tag: uct_tag_t,
        header: *const c_void,
        header_length: c_uint,
        flags: c_uint,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_iface_tag_recv_zcopy`.
pub type uct_iface_tag_recv_zcopy_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        tag: uct_tag_t,
        tag_mask: uct_tag_t,
        iov: *const uct_iov_t,
        iovcnt: usize,
        ctx: *mut uct_tag_context_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_iface_tag_recv_cancel`.
pub type uct_iface_tag_recv_cancel_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        ctx: *mut uct_tag_context_t,
        force: c_int,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_ep_pending_add`.
pub type uct_ep_pending_add_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, n: *mut uct_pending_req_t, flags: c_uint) -> ucs_status_t,
>;

/// Operation behind `uct_ep_pending_purge`.
pub type uct_ep_pending_purge_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, cb: uct_pending_purge_callback_t, arg: *mut c_void)>;

/// Operation behind `uct_ep_flush`.
pub type uct_ep_flush_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t,
>;

/// Operation behind `uct_ep_fence`.
pub type uct_ep_fence_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint) -> ucs_status_t>;

/// Operation behind `uct_ep_check`.
pub type uct_ep_check_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t,
>;

/// Operation behind `uct_ep_create`.
pub type uct_ep_create_func_t = Option<
    unsafe extern "C" fn(params: *const uct_ep_params_t, ep_p: *mut uct_ep_h) -> ucs_status_t,
>;

/// Operation behind `uct_ep_connect`.
pub type uct_ep_connect_func_t = Option<
    unsafe extern "C" fn(ep: uct_ep_h, params: *const uct_ep_connect_params_t) -> ucs_status_t,
>;

/// Operation behind `uct_ep_disconnect`.
pub type uct_ep_disconnect_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, flags: c_uint) -> ucs_status_t>;

/// Operation behind `uct_cm_client_ep_conn_notify`.
pub type uct_cm_ep_conn_notify_func_t = Option<unsafe extern "C" fn(ep: uct_ep_h) -> ucs_status_t>;

/// Operation behind `uct_ep_destroy`.
pub type uct_ep_destroy_func_t = Option<unsafe extern "C" fn(ep: uct_ep_h)>;

/// Operation behind `uct_ep_get_address`.
pub type uct_ep_get_address_func_t =
    Option<unsafe extern "C" fn(ep: uct_ep_h, addr: *mut uct_ep_addr_t) -> ucs_status_t>;

/// Operation behind `uct_ep_connect_to_ep`.
pub type uct_ep_connect_to_ep_func_t = Option<
    unsafe extern "C" fn(
        ep: uct_ep_h,
        dev_addr: *const uct_device_addr_t,
        ep_addr: *const uct_ep_addr_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_iface_accept`.
pub type uct_iface_accept_func_t = Option<
    unsafe extern "C" fn(iface: uct_iface_h, conn_request: uct_conn_request_h) -> ucs_status_t,
>;

/// Operation behind `uct_iface_reject`.
pub type uct_iface_reject_func_t = Option<
    unsafe extern "C" fn(iface: uct_iface_h, conn_request: uct_conn_request_h) -> ucs_status_t,
>;

/// Operation behind `uct_iface_flush`.
pub type uct_iface_flush_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        flags: c_uint,
        comp: *mut uct_completion_t,
    ) -> ucs_status_t,
>;

/// Operation behind `uct_iface_fence`.
pub type uct_iface_fence_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, flags: c_uint) -> ucs_status_t>;

/// Operation behind `uct_iface_progress_enable`.
pub type uct_iface_progress_enable_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, flags: c_uint)>;

/// Operation behind `uct_iface_progress_disable`.
pub type uct_iface_progress_disable_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, flags: c_uint)>;

/// Operation behind `uct_iface_progress`.
pub type uct_iface_progress_func_t = Option<unsafe extern "C" fn(iface: uct_iface_h) -> c_uint>;

/// Operation behind `uct_iface_event_fd_get`.
pub type uct_iface_event_fd_get_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, fd_p: *mut c_int) -> ucs_status_t>;

/// Operation behind `uct_iface_event_arm`.
pub type uct_iface_event_arm_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, events: c_uint) -> ucs_status_t>;

/// Operation behind `uct_iface_close`.
pub type uct_iface_close_func_t = Option<unsafe extern "C" fn(iface: uct_iface_h)>;

/// Operation behind `uct_iface_query`.
pub type uct_iface_query_func_t = Option<
    unsafe extern "C" fn(iface: uct_iface_h, iface_attr: *mut uct_iface_attr_t) -> ucs_status_t,
>;

/// Operation behind `uct_iface_get_device_address`.
pub type uct_iface_get_device_address_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_device_addr_t) -> ucs_status_t>;

/// Operation behind `uct_iface_get_address`.
pub type uct_iface_get_address_func_t =
    Option<unsafe extern "C" fn(iface: uct_iface_h, addr: *mut uct_iface_addr_t) -> ucs_status_t>;

/// Operation behind `uct_iface_is_reachable`.
pub type uct_iface_is_reachable_func_t = Option<
    unsafe extern "C" fn(
        iface: uct_iface_h,
        dev_addr: *const uct_device_addr_t,
        iface_addr: *const uct_iface_addr_t,
    ) -> c_int,
>;

/// The operations of an interface. None is NULL: what a transport lacks answers
/// UCS_ERR_UNSUPPORTED.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_ops {
    pub ep_put_short: uct_ep_put_short_func_t,
    pub ep_put_bcopy: uct_ep_put_bcopy_func_t,
    pub ep_put_zcopy: uct_ep_put_zcopy_func_t,
    pub ep_get_short: uct_ep_get_short_func_t,
    pub ep_get_bcopy: uct_ep_get_bcopy_func_t,
    pub ep_get_zcopy: uct_ep_get_zcopy_func_t,
    pub ep_am_short: uct_ep_am_short_func_t,
    pub ep_am_short_iov: uct_ep_am_short_iov_func_t,
    pub ep_am_bcopy: uct_ep_am_bcopy_func_t,
    pub ep_am_zcopy: uct_ep_am_zcopy_func_t,
    pub ep_atomic_cswap64: uct_ep_atomic_cswap64_func_t,
    pub ep_atomic_cswap32: uct_ep_atomic_cswap32_func_t,
    pub ep_atomic32_post: uct_ep_atomic32_post_func_t,
    pub ep_atomic64_post: uct_ep_atomic64_post_func_t,
    pub ep_atomic32_fetch: uct_ep_atomic32_fetch_func_t,
    pub ep_atomic64_fetch: uct_ep_atomic64_fetch_func_t,
    pub ep_tag_eager_short: uct_ep_tag_eager_short_func_t,
    pub ep_tag_eager_bcopy: uct_ep_tag_eager_bcopy_func_t,
    pub ep_tag_eager_zcopy: uct_ep_tag_eager_zcopy_func_t,
    pub ep_tag_rndv_zcopy: uct_ep_tag_rndv_zcopy_func_t,
    pub ep_tag_rndv_cancel: uct_ep_tag_rndv_cancel_func_t,
    pub ep_tag_rndv_request: uct_ep_tag_rndv_request_func_t,
    pub iface_tag_recv_zcopy: uct_iface_tag_recv_zcopy_func_t,
    pub iface_tag_recv_cancel: uct_iface_tag_recv_cancel_func_t,
    pub ep_pending_add: uct_ep_pending_add_func_t,
    pub ep_pending_purge: uct_ep_pending_purge_func_t,
    pub ep_flush: uct_ep_flush_func_t,
    pub ep_fence: uct_ep_fence_func_t,
    pub ep_check: uct_ep_check_func_t,
    pub ep_create: uct_ep_create_func_t,
    pub ep_connect: uct_ep_connect_func_t,
    pub ep_disconnect: uct_ep_disconnect_func_t,
    pub cm_ep_conn_notify: uct_cm_ep_conn_notify_func_t,
    pub ep_destroy: uct_ep_destroy_func_t,
    pub ep_get_address: uct_ep_get_address_func_t,
    pub ep_connect_to_ep: uct_ep_connect_to_ep_func_t,
    pub iface_accept: uct_iface_accept_func_t,
    pub iface_reject: uct_iface_reject_func_t,
    pub iface_flush: uct_iface_flush_func_t,
    pub iface_fence: uct_iface_fence_func_t,
    pub iface_progress_enable: uct_iface_progress_enable_func_t,
    pub iface_progress_disable: uct_iface_progress_disable_func_t,
    pub iface_progress: uct_iface_progress_func_t,
    pub iface_event_fd_get: uct_iface_event_fd_get_func_t,
    pub iface_event_arm: uct_iface_event_arm_func_t,
    pub iface_close: uct_iface_close_func_t,
    pub iface_query: uct_iface_query_func_t,
    pub iface_get_device_address: uct_iface_get_device_address_func_t,
    pub iface_get_address: uct_iface_get_address_func_t,
    pub iface_is_reachable: uct_iface_is_reachable_func_t,
}
const _: () = {
    assert!(size_of::<uct_iface_ops>() == 400);
    assert!(offset_of!(uct_iface_ops, ep_put_short) == 0);
    assert!(offset_of!(uct_iface_ops, ep_put_bcopy) == 8);
    assert!(offset_of!(uct_iface_ops, ep_put_zcopy) == 16);
    assert!(offset_of!(uct_iface_ops, ep_get_short) == 24);
    assert!(offset_of!(uct_iface_ops, ep_get_bcopy) == 32);
    assert!(offset_of!(uct_iface_ops, ep_get_zcopy) == 40);
    assert!(offset_of!(uct_iface_ops, ep_am_short) == 48);
    assert!(offset_of!(uct_iface_ops, ep_am_short_iov) == 56);
    assert!(offset_of!(uct_iface_ops, ep_am_bcopy) == 64);
    assert!(offset_of!(uct_iface_ops, ep_am_zcopy) == 72);
    assert!(offset_of!(uct_iface_ops, ep_atomic_cswap64) == 80);
    assert!(offset_of!(uct_iface_ops, ep_atomic_cswap32) == 88);
    assert!(offset_of!(uct_iface_ops, ep_atomic32_post) == 96);
    assert!(offset_of!(uct_iface_ops, ep_atomic64_post) == 104);
    assert!(offset_of!(uct_iface_ops, ep_atomic32_fetch) == 112);
    assert!(offset_of!(uct_iface_ops, ep_atomic64_fetch) == 120);
    assert!(offset_of!(uct_iface_ops, ep_tag_eager_short) == 128);
    assert!(offset_of!(uct_iface_ops, ep_tag_eager_bcopy) == 136);
    assert!(offset_of!(uct_iface_ops, ep_tag_eager_zcopy) == 144);
    assert!(offset_of!(uct_iface_ops, ep_tag_rndv_zcopy) == 152);
    assert!(offset_of!(uct_iface_ops, ep_tag_rndv_cancel) == 160);
    assert!(offset_of!(uct_iface_ops, ep_tag_rndv_request) == 168);
    assert!(offset_of!(uct_iface_ops, iface_tag_recv_zcopy) == 176);
    assert!(offset_of!(uct_iface_ops, iface_tag_recv_cancel) == 184);
    assert!(offset_of!(uct_iface_ops, ep_pending_add) == 192);
    assert!(offset_of!(uct_iface_ops, ep_pending_purge) == 200);
    assert!(offset_of!(uct_iface_ops, ep_flush) == 208);
    assert!(offset_of!(uct_iface_ops, ep_fence) == 216);
    assert!(offset_of!(uct_iface_ops, ep_check) == 224);
    assert!(offset_of!(uct_iface_ops, ep_create) == 232);
    assert!(offset_of!(uct_iface_ops, ep_connect) == 240);
    assert!(offset_of!(uct_iface_ops, ep_disconnect) == 248);
    assert!(offset_of!(uct_iface_ops, cm_ep_conn_notify) == 256);
    assert!(offset_of!(uct_iface_ops, ep_destroy) == 264);
    assert!(offset_of!(uct_iface_ops, ep_get_address) == 272);
    assert!(offset_of!(uct_iface_ops, ep_connect_to_ep) == 280);
    assert!(offset_of!(uct_iface_ops, iface_accept) == 288);
    assert!(offset_of!(uct_iface_ops, iface_reject) == 296);
    assert!(offset_of!(uct_iface_ops, iface_flush) == 304);
    assert!(offset_of!(uct_iface_ops, iface_fence) == 312);
    assert!(offset_of!(uct_iface_ops, iface_progress_enable) == 320);
    assert!(offset_of!(uct_iface_ops, iface_progress_disable) == 328);
    assert!(offset_of!(uct_iface_ops, iface_progress) == 336);
    assert!(offset_of!(uct_iface_ops, iface_event_fd_get) == 344);
    assert!(offset_of!(uct_iface_ops, iface_event_arm) == 352);
    assert!(offset_of!(uct_iface_ops, iface_close) == 360);
    assert!(offset_of!(uct_iface_ops, iface_query) == 368);
    assert!(offset_of!(uct_iface_ops, iface_get_device_address) == 376);
    assert!(offset_of!(uct_iface_ops, iface_get_address) == 384);
    assert!(offset_of!(uct_iface_ops, iface_is_reachable) == 392);
};

pub type uct_iface_ops_t = uct_iface_ops;

/// A worker, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_worker {
    /// What `uct_worker_progress` calls.
    pub progress_q: ucs_callbackq_t,
}
const _: () = {
    assert!(size_of::<uct_worker>() == 136);
    assert!(offset_of!(uct_worker, progress_q) == 0);
};

pub type uct_worker_t = uct_worker;

/// An interface, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface {
    /// Its operations.
    pub ops: uct_iface_ops_t,
}
const _: () = {
    assert!(size_of::<uct_iface>() == 400);
    assert!(offset_of!(uct_iface, ops) == 0);
};

pub type uct_iface_t = uct_iface;

/// An endpoint, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_ep {
    /// Its interface.
    pub iface: uct_iface_h,
}
const _: () = {
    assert!(size_of::<uct_ep>() == 8);
    assert!(offset_of!(uct_ep, iface) == 0);
};

pub type uct_ep_t = uct_ep;

/// A listener, as inline functions see it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_listener {
    /// Its connection manager.
    pub cm: uct_cm_h,
}
const _: () = {
    assert!(size_of::<uct_listener>() == 8);
    assert!(offset_of!(uct_listener, cm) == 0);
};

pub type uct_listener_t = uct_listener;

pub type uct_recv_desc_t = uct_recv_desc;

/// Releases the data at `desc`.
pub type uct_desc_release_callback_t =
    Option<unsafe extern "C" fn(self_: *mut uct_recv_desc_t, desc: *mut c_void)>;

/// What releases data that an active message handler kept; a pointer to it stands before the data.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_recv_desc {
    /// Releases the data.
    pub cb: uct_desc_release_callback_t,
}
const _: () = {
    assert!(size_of::<uct_recv_desc>() == 8);
    assert!(offset_of!(uct_recv_desc, cb) == 0);
};
