//! The functions of a transport that UCP uses beyond C's op table.
//!
//! `InternalOps` is a second op table: one function pointer for each operation, filled from the transport's `Iface`.
//! Everything else between UCP and a transport uses C's table.

use crate::c::*;
use crate::ucs::Result;
use crate::uct::api::{Completion, EpochGuard, Iface, Posted};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use core::marker::PhantomData;

/// `Iface::am_short_inside` by C's handle: endpoint, id, header, payload, its length.
pub type Short = unsafe fn(uct_ep_h, u8, u64, *const u8, usize) -> ucs_status_t;

type PutNotify =
    unsafe fn(uct_ep_h, Iov<'_>, u64, uct_rkey_t, u8, &[u8], Completion) -> Result<Posted>;

/// Each function needs a live endpoint or interface of the transport, and live keys.
pub struct InternalOps {
    pub am_short: Short,
    /// `Iface::get_guarded`.
    pub get_guarded:
        unsafe fn(uct_ep_h, Iov<'_>, u64, uct_rkey_t, EpochGuard, Completion) -> Result<Posted>,
    /// `Iface::put_notify`.
    pub put_notify: PutNotify,
    /// `Iface::peer_identity`.
    pub peer_identity: unsafe fn(uct_iface_h, &[u8]) -> Option<u64>,
    /// `Iface::sender_identity`.
    pub sender_identity: unsafe fn(uct_iface_h) -> Option<u64>,
    /// `Iface::is_connected`.
    pub is_connected: unsafe fn(uct_iface_h, u64) -> bool,
    /// `Iface::reject_sender`.
    pub reject_sender: unsafe fn(uct_iface_h) -> bool,
    /// `Iface::replies_queued`.
    pub replies_queued: unsafe fn(uct_ep_h, isize),
}

/// The table of transport `I`.
pub struct Table<I>(PhantomData<I>);

impl<I: Iface> Table<I> {
    pub const OPS: InternalOps = InternalOps {
        am_short: am_short::<I>,
        get_guarded: get_guarded::<I>,
        put_notify: put_notify::<I>,
        peer_identity: peer_identity::<I>,
        sender_identity: sender_identity::<I>,
        is_connected: is_connected::<I>,
        reject_sender: reject_sender::<I>,
        replies_queued: replies_queued::<I>,
    };
}

unsafe fn am_short<I: Iface>(
    ep: uct_ep_h,
    id: u8,
    header: u64,
    payload: *const u8,
    len: usize,
) -> ucs_status_t {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    // SAFETY: as above.
    unsafe { I::am_short_inside(ep, id, header, payload, len) }
}

unsafe fn get_guarded<I: Iface>(
    ep: uct_ep_h,
    iov: Iov<'_>,
    remote: u64,
    rkey: uct_rkey_t,
    guard: EpochGuard,
    comp: Completion,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    // SAFETY: as above.
    unsafe { I::get_guarded(ep, iov, remote, rkey, guard, comp) }
}

unsafe fn put_notify<I: Iface>(
    ep: uct_ep_h,
    iov: Iov<'_>,
    remote: u64,
    rkey: uct_rkey_t,
    id: u8,
    told: &[u8],
    comp: Completion,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { EpBox::<I>::from_c(ep) };
    // SAFETY: as above.
    unsafe { I::put_notify(ep, iov, remote, rkey, id, told, comp) }
}

unsafe fn peer_identity<I: Iface>(iface: uct_iface_h, address: &[u8]) -> Option<u64> {
    // SAFETY: by the caller's promise.
    I::peer_identity(unsafe { IfaceBox::<I>::from_c(iface) }, address)
}

unsafe fn sender_identity<I: Iface>(iface: uct_iface_h) -> Option<u64> {
    // SAFETY: by the caller's promise.
    I::sender_identity(unsafe { IfaceBox::<I>::from_c(iface) })
}

unsafe fn is_connected<I: Iface>(iface: uct_iface_h, identity: u64) -> bool {
    // SAFETY: by the caller's promise.
    I::is_connected(unsafe { IfaceBox::<I>::from_c(iface) }, identity)
}

unsafe fn reject_sender<I: Iface>(iface: uct_iface_h) -> bool {
    // SAFETY: by the caller's promise.
    I::reject_sender(unsafe { IfaceBox::<I>::from_c(iface) })
}

unsafe fn replies_queued<I: Iface>(ep: uct_ep_h, change: isize) {
    // SAFETY: by the caller's promise.
    I::replies_queued(unsafe { EpBox::<I>::from_c(ep) }, change);
}
