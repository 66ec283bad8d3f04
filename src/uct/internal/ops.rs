//! `InternalOps`: the table of `InternalIface`, a function pointer for each method, by C's handles.

use super::device_mapping::DeviceMapping;
use super::upstream::{UpstreamLanes, UpstreamWay};
use super::{EpochGuard, InternalIface};
use crate::c::*;
use crate::ucs::Result;
use crate::uct::api::{Completion, Posted, Remote, length};
use crate::uct::base::copy::Payload;
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::table;
use crate::wire::upstream::address::{Entry, Offer};
use core::ffi::{c_int, c_uint, c_void};
use core::marker::PhantomData;

/// `InternalIface::am_short_inside` by C's handle: endpoint, id, header, payload, its length.
pub type Short = unsafe fn(uct_ep_h, u8, u64, *const u8, usize) -> ucs_status_t;

type PutNotify = unsafe fn(uct_ep_h, Iov<'_>, Remote, u8, &[u8], Completion) -> Result<Posted>;

/// Each function needs a live endpoint or interface of the transport.
pub struct InternalOps {
    pub am_short: Short,
    /// `InternalIface::get_guarded`.
    pub get_guarded: unsafe fn(uct_ep_h, Iov<'_>, Remote, EpochGuard, Completion) -> Result<Posted>,
    /// `InternalIface::put_notify`.
    pub put_notify: PutNotify,
    /// `InternalIface::device_access`.
    pub device_access: unsafe fn(uct_ep_h, Remote, usize, usize) -> Result<DeviceMapping>,
    /// `InternalIface::peer_identity`.
    pub peer_identity: unsafe fn(uct_iface_h, &[u8], &[u8]) -> Option<u64>,
    /// `InternalIface::sender_identity`.
    pub sender_identity: unsafe fn(uct_iface_h) -> Option<u64>,
    /// `InternalIface::is_connected`.
    pub is_connected: unsafe fn(uct_iface_h, u64) -> bool,
    /// `InternalIface::is_ep_connected`.
    pub is_ep_connected: unsafe fn(uct_ep_h) -> Option<bool>,
    /// `InternalIface::longest_short`.
    pub longest_short: unsafe fn(uct_iface_h) -> Option<usize>,
    /// `InternalIface::longest_piece`.
    pub longest_piece: unsafe fn(uct_ep_h) -> Option<usize>,
    /// `InternalIface::reject_sender`.
    pub reject_sender: unsafe fn(uct_iface_h) -> bool,
    /// `InternalIface::keep`.
    pub keep: unsafe fn(uct_iface_h, usize, usize) -> bool,
    /// `InternalIface::release`.
    pub release: unsafe fn(uct_iface_h, usize),
    /// `InternalIface::IN_DESCRIPTORS`.
    pub in_descriptors: bool,
    /// `InternalIface::KEEPS_IN_PLACE`.
    pub keeps_in_place: bool,
    /// `InternalIface::has_message`.
    pub has_message: unsafe fn(uct_iface_h) -> Option<bool>,
    /// `InternalIface::event_came`.
    pub event_came: unsafe fn(uct_iface_h),
    /// `InternalIface::arm_watched`.
    pub arm_watched: unsafe fn(uct_iface_h, c_int) -> Result<()>,
    /// `InternalIface::replies_queued`.
    pub replies_queued: unsafe fn(uct_ep_h, isize) -> bool,
    /// `InternalIface::upstream_offer`.
    pub upstream_offer: unsafe fn(uct_iface_h) -> Option<Offer>,
    /// `InternalIface::upstream_reach`.
    pub upstream_reach: unsafe fn(uct_iface_h, &Entry<'_>) -> Option<UpstreamWay>,
    /// `InternalIface::upstream_reject`.
    pub upstream_reject: unsafe fn(uct_iface_h, u64),
    /// `InternalIface::upstream_acknowledge_flushes`.
    pub upstream_acknowledge_flushes: unsafe fn(uct_iface_h),
    /// `InternalIface::upstream_connect`.
    pub upstream_connect: unsafe fn(uct_iface_h, &Entry<'_>) -> Result<uct_ep_h>,
    /// `InternalIface::upstream_lanes`.
    pub upstream_lanes: unsafe fn(uct_iface_h) -> Option<*const dyn UpstreamLanes>,
    /// `InternalIface::upstream_send`, as C's `am_bcopy`.
    pub upstream_send: uct_ep_am_bcopy_func_t,
}

/// The table of transport `I`.
pub struct Table<I>(PhantomData<I>);

impl<I: InternalIface> Table<I> {
    pub const OPS: InternalOps = InternalOps {
        am_short: am_short::<I>,
        get_guarded: get_guarded::<I>,
        put_notify: put_notify::<I>,
        device_access: device_access::<I>,
        peer_identity: peer_identity::<I>,
        sender_identity: sender_identity::<I>,
        is_connected: is_connected::<I>,
        is_ep_connected: is_ep_connected::<I>,
        longest_short: longest_short::<I>,
        longest_piece: longest_piece::<I>,
        reject_sender: reject_sender::<I>,
        keep: keep::<I>,
        release: release::<I>,
        in_descriptors: I::IN_DESCRIPTORS,
        keeps_in_place: I::KEEPS_IN_PLACE,
        has_message: has_message::<I>,
        event_came: event_came::<I>,
        arm_watched: arm_watched::<I>,
        replies_queued: replies_queued::<I>,
        upstream_offer: upstream_offer::<I>,
        upstream_reach: upstream_reach::<I>,
        upstream_reject: upstream_reject::<I>,
        upstream_acknowledge_flushes: upstream_acknowledge_flushes::<I>,
        upstream_connect: upstream_connect::<I>,
        upstream_lanes: upstream_lanes::<I>,
        upstream_send: Some(upstream_send::<I>),
    };
}

unsafe fn am_short<I: InternalIface>(
    ep: uct_ep_h,
    id: u8,
    header: u64,
    payload: *const u8,
    len: usize,
) -> ucs_status_t {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    // SAFETY: as above.
    I::am_short_inside(ep, id, header, unsafe { Payload::new(payload, len) })
}

unsafe fn get_guarded<I: InternalIface>(
    ep: uct_ep_h,
    iov: Iov<'_>,
    remote: Remote,
    guard: EpochGuard,
    comp: Completion,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    I::get_guarded(ep, iov, remote, guard, comp)
}

unsafe fn put_notify<I: InternalIface>(
    ep: uct_ep_h,
    iov: Iov<'_>,
    remote: Remote,
    id: u8,
    told: &[u8],
    comp: Completion,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    I::put_notify(ep, iov, remote, id, told, comp)
}

unsafe fn device_access<I: InternalIface>(
    ep: uct_ep_h,
    remote: Remote,
    length: usize,
    near: usize,
) -> Result<DeviceMapping> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    I::device_access(ep, remote, length, near)
}

unsafe fn peer_identity<I: InternalIface>(
    face: uct_iface_h,
    device: &[u8],
    iface: &[u8],
) -> Option<u64> {
    // SAFETY: by the caller's promise.
    I::peer_identity(unsafe { IfaceBox::<I>::from_c(face) }, device, iface)
}

unsafe fn sender_identity<I: InternalIface>(iface: uct_iface_h) -> Option<u64> {
    // SAFETY: by the caller's promise.
    I::sender_identity(unsafe { IfaceBox::<I>::from_c(iface) })
}

unsafe fn is_connected<I: InternalIface>(iface: uct_iface_h, identity: u64) -> bool {
    // SAFETY: by the caller's promise.
    I::is_connected(unsafe { IfaceBox::<I>::from_c(iface) }, identity)
}

unsafe fn is_ep_connected<I: InternalIface>(ep: uct_ep_h) -> Option<bool> {
    // SAFETY: by the caller's promise.
    I::is_ep_connected(unsafe { EpBox::<I>::from_c(ep) })
}

unsafe fn longest_short<I: InternalIface>(iface: uct_iface_h) -> Option<usize> {
    // SAFETY: by the caller's promise.
    I::longest_short(unsafe { IfaceBox::<I>::from_c(iface) })
}

unsafe fn longest_piece<I: InternalIface>(ep: uct_ep_h) -> Option<usize> {
    // SAFETY: by the caller's promise.
    I::longest_piece(unsafe { EpBox::<I>::from_c(ep) })
}

unsafe fn reject_sender<I: InternalIface>(iface: uct_iface_h) -> bool {
    // SAFETY: by the caller's promise.
    I::reject_sender(unsafe { IfaceBox::<I>::from_c(iface) })
}

unsafe fn keep<I: InternalIface>(iface: uct_iface_h, address: usize, len: usize) -> bool {
    // SAFETY: by the caller's promise.
    I::keep(unsafe { IfaceBox::<I>::from_c(iface) }, address, len)
}

unsafe fn release<I: InternalIface>(iface: uct_iface_h, address: usize) {
    // SAFETY: by the caller's promise.
    I::release(unsafe { IfaceBox::<I>::from_c(iface) }, address);
}

unsafe fn has_message<I: InternalIface>(iface: uct_iface_h) -> Option<bool> {
    // SAFETY: by the caller's promise.
    I::has_message(unsafe { IfaceBox::<I>::from_c(iface) })
}

unsafe fn event_came<I: InternalIface>(iface: uct_iface_h) {
    // SAFETY: by the caller's promise.
    I::event_came(unsafe { IfaceBox::<I>::from_c(iface) });
}

unsafe fn arm_watched<I: InternalIface>(iface: uct_iface_h, events: c_int) -> Result<()> {
    // SAFETY: by the caller's promise.
    I::arm_watched(unsafe { IfaceBox::<I>::from_c(iface) }, events)
}

unsafe fn upstream_offer<I: InternalIface>(iface: uct_iface_h) -> Option<Offer> {
    // SAFETY: by the caller's promise.
    I::upstream_offer(unsafe { IfaceBox::<I>::from_c(iface) })
}

unsafe fn upstream_reach<I: InternalIface>(
    iface: uct_iface_h,
    entry: &Entry<'_>,
) -> Option<UpstreamWay> {
    // SAFETY: by the caller's promise.
    I::upstream_reach(unsafe { IfaceBox::<I>::from_c(iface) }, entry)
}

unsafe fn upstream_reject<I: InternalIface>(iface: uct_iface_h, connection: u64) {
    // SAFETY: by the caller's promise.
    I::upstream_reject(unsafe { IfaceBox::<I>::from_c(iface) }, connection);
}

unsafe fn upstream_acknowledge_flushes<I: InternalIface>(iface: uct_iface_h) {
    // SAFETY: by the caller's promise.
    I::upstream_acknowledge_flushes(unsafe { IfaceBox::<I>::from_c(iface) });
}

unsafe fn upstream_connect<I: InternalIface>(
    iface: uct_iface_h,
    entry: &Entry<'_>,
) -> Result<uct_ep_h> {
    // SAFETY: by the caller's promise.
    I::upstream_connect(unsafe { IfaceBox::<I>::from_c(iface) }, entry)
}

unsafe fn upstream_lanes<I: InternalIface>(iface: uct_iface_h) -> Option<*const dyn UpstreamLanes> {
    // SAFETY: by the caller's promise.
    let lanes = I::upstream_lanes(unsafe { IfaceBox::<I>::from_c(iface) })?;
    Some(core::ptr::from_ref(lanes))
}

unsafe extern "C" fn upstream_send<I: InternalIface>(
    ep: uct_ep_h,
    id: u8,
    cb: uct_pack_callback_t,
    arg: *mut c_void,
    _flags: c_uint,
) -> isize {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    length(table::pack(cb, arg).and_then(|pack| I::upstream_send(ep, id, pack)))
}

unsafe fn replies_queued<I: InternalIface>(ep: uct_ep_h, change: isize) -> bool {
    // SAFETY: by the caller's promise.
    I::replies_queued(unsafe { EpBox::<I>::from_c(ep) }, change)
}
