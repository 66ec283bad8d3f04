//! The private contract between UCP and a transport: what C's op table lacks.
//!
//! - `InternalIface` is the trait: a short send inside the library, a put with notification, a guarded get, the
//!   identities of peers, and flow control of replies. `ops`: its table. `InternalRef`: an interface, by that.
//! - `device_mapping`: memory of a peer that code on a device reaches. `upstream`: connections with upstream UCX.
//! - `Internal` is state that both sides set: the receive pause, the cork, the notice of a new peer.
//! - `MEM_ONE_TRANSFER` asks for a registration whose key is valid for one transfer.
//! - `Placing`, `ShortHandler` and `KeepHandler` are further kinds of handlers for active messages (`base::am`).
//!
//! Everything else between UCP and a transport uses C's table.

mod device_mapping;
mod ops;
mod upstream;

pub use device_mapping::{DeviceBytes, DeviceMapping};
pub use ops::{InternalOps, Short};
pub use upstream::{UpstreamEvent, UpstreamLanes, UpstreamMessage, UpstreamWay};

use crate::c::*;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Iface, Pack, Posted, Remote};
pub use crate::uct::base::am::{Keep, Placing, ShortHandler};
use crate::uct::base::copy::Payload;
use crate::uct::base::iface::{EpBox, IfaceBox};
pub use crate::uct::base::iface::{IfaceBase, base_of};
use crate::uct::base::iov::Iov;
use crate::wire::upstream::address::{Entry, Offer};
use core::cell::{Cell, OnceCell};
use core::ffi::{c_int, c_void};
use std::os::fd::RawFd;

/// An addition to C's registration flags: the registration is for one transfer, which the owner may revoke. A peer that
/// writes afterwards is not at fault, and its data are dropped.
pub const MEM_ONE_TRANSFER: u32 = 1 << 31;

/// The revocation epoch of a peer: `at` is the address of the word, eight bytes and aligned; `value` is the epoch of
/// which the peer's memory is valid. The word is read after the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochGuard {
    pub at: u64,
    pub value: u64,
    /// The key of the word, for a transport that needs one; else 0.
    pub rkey: uct_rkey_t,
}

/// What UCP asks of a transport beyond C's operations. Each method has a default for a transport that lacks it.
#[allow(unused_variables)]
pub trait InternalIface: Iface {
    /// As `am_short`, for UCP, which respects the limits; returns C's code. A transport that delivers messages within
    /// the call may pass the payload to the handler in place.
    #[inline(always)]
    fn am_short_inside(
        ep: &EpBox<Self>,
        id: u8,
        header: u64,
        payload: Payload<'_>,
    ) -> ucs_status_t {
        code_of(&Self::am_short(ep, id, header, payload))
    }

    /// A put into memory that its owner registered for one transfer, followed by the active message `id` with the
    /// bytes `notification`. The peer does not acknowledge it: `comp` completes when the source is free again.
    fn put_notify(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        id: u8,
        told: &[u8],
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }

    /// How code on a device reaches memory of a peer, `length` bytes of it. The code runs in the context that the device memory at `near` belongs to.
    fn device_access(
        ep: &EpBox<Self>,
        remote: Remote,
        length: usize,
        near: usize,
    ) -> Result<DeviceMapping> {
        Err(Status::UNSUPPORTED)
    }

    /// The identity in the addresses of a device and an interface, which its owner proves when it connects. `None` if the
    /// transport has no identities, or an address is malformed.
    fn peer_identity(face: &IfaceBox<Self>, device: &[u8], iface: &[u8]) -> Option<u64> {
        None
    }

    /// The identity of the peer whose message is being handled. `None` if no handler of this interface runs, or the
    /// transport has no identities.
    fn sender_identity(face: &IfaceBox<Self>) -> Option<u64> {
        None
    }

    /// Whether there is a connection to the peer with this identity.
    fn is_connected(face: &IfaceBox<Self>, identity: u64) -> bool {
        false
    }

    /// Whether an endpoint to an interface is connected; `None` where it sends by connections of its interface, which
    /// `is_connected` tells.
    fn is_ep_connected(ep: &EpBox<Self>) -> Option<bool> {
        None
    }

    /// The longest short message that it takes from UCP, its eight bytes of header included: more than the interface tells every
    /// user. `None` if it is not more.
    fn longest_short(face: &IfaceBox<Self>) -> Option<usize> {
        None
    }

    /// The longest message that an endpoint takes by `am_bcopy` from UCP, which sends long ones in pieces: more than the
    /// interface tells every user. `None` if it is not more.
    fn longest_piece(ep: &EpBox<Self>) -> Option<usize> {
        None
    }

    /// Closes the connection of the peer whose message is being handled, if there is one: the peer exceeds its limit.
    fn reject_sender(face: &IfaceBox<Self>) -> bool {
        false
    }

    /// Messages that are not handed over as a word and a rest come in descriptors. Handlers keep one by their answer; `keep` and
    /// `release` know it by the address of the message.
    const IN_DESCRIPTORS: bool = false;

    /// Handlers that `AmTable::set_keeping` sets get messages that they may keep in place.
    const KEEPS_IN_PLACE: bool = false;

    /// The message of `len` bytes at an address, whose handler is called with `Keep::InPlace` or in a descriptor, stays there
    /// until it is released or the interface is closed. Returns whether the message is one of this interface and does.
    fn keep(face: &IfaceBox<Self>, address: usize, len: usize) -> bool {
        false
    }

    /// A message that `keep` took is not needed any more.
    fn release(face: &IfaceBox<Self>, address: usize) {}

    /// Whether a message waits, where the memory tells that without a call of the kernel; `None` where it does not, or nobody can
    /// send.
    fn has_message(face: &IfaceBox<Self>) -> Option<bool> {
        None
    }

    /// Its event descriptor is readable, or may be: progress finds out why, and the descriptor is readable no longer where progress
    /// does not see to that.
    fn event_came(face: &IfaceBox<Self>) {}

    /// As `event_arm`, of an interface whose descriptor stands in a set that was asked what came before (`event_came`), and which
    /// tells what comes: the kernel need not be asked for that.
    fn arm_watched(face: &IfaceBox<Self>, events: c_int) -> Result<()> {
        Self::event_arm(face, events)
    }

    /// The number of queued replies to the peer has changed. A transport that supports it stops receiving from a peer
    /// that requests replies and does not read them. Returns whether none are to be added for requests that come by other
    /// connections, as upstream's may.
    fn replies_queued(ep: &EpBox<Self>, change: isize) -> bool {
        false
    }

    /// What worker addresses tell upstream UCX of this interface, if it accepts connections of it.
    fn upstream_offer(face: &IfaceBox<Self>) -> Option<Offer> {
        None
    }

    /// How good the way is to a transport in an address of upstream's, the smaller the better; `None` if there is none.
    fn upstream_reach(face: &IfaceBox<Self>, entry: &Entry<'_>) -> Option<UpstreamWay> {
        None
    }

    /// Ends a connection of upstream's that messages came by (`UpstreamMessage::connection`), if it is one of this interface:
    /// the peer waits for what it cannot be told of otherwise.
    fn upstream_reject(face: &IfaceBox<Self>, connection: u64) {}

    /// The program closes endpoints, and may make no more progress: flushes of upstream's processes are acknowledged without
    /// it from now on.
    fn upstream_acknowledge_flushes(face: &IfaceBox<Self>) {}

    /// An endpoint that sends to an interface of upstream's, by `upstream_send` only.
    fn upstream_connect(face: &IfaceBox<Self>, entry: &Entry<'_>) -> Result<uct_ep_h> {
        Err(Status::UNSUPPORTED)
    }

    /// Its lanes to endpoints of upstream's, if it can have some.
    fn upstream_lanes(face: &IfaceBox<Self>) -> Option<&dyn UpstreamLanes> {
        None
    }

    /// As `am_bcopy`, on an endpoint of `upstream_connect`.
    fn upstream_send(ep: &EpBox<Self>, id: u8, pack: Pack) -> Result<usize> {
        Err(Status::UNSUPPORTED)
    }

    /// As `get_zcopy`, of memory that its owner may take back meanwhile: `CANCELED` when it has.
    fn get_guarded(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        guard: EpochGuard,
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }
}

/// The state of an interface that UCP and the transport share.
pub struct Internal {
    pub ops: &'static InternalOps,
    /// Called when a peer has connected and proven its identity.
    pub on_peer: OnceCell<OnPeer>,
    /// Called with what comes of upstream UCX; without it no connection of upstream's is accepted.
    pub on_upstream: Cell<Option<OnUpstream>>,
    /// Whether the interface has to be polled.
    pub polls: bool,
    /// Receive pause: a handler asks the interface to keep further messages until the next progress.
    pub recv_paused: Cell<bool>,
    /// A handler expects another message of the same sender soon, of about this length, and nothing is sent to it before.
    pub more_expected: Cell<Option<usize>>,
    /// Cork: a caller posts several messages, which may be sent together; cleared before the last.
    pub corked: Cell<bool>,
}

/// A function that gets the identity of a peer (`InternalIface::peer_identity`).
pub type OnPeer = Box<dyn Fn(u64)>;

/// A function and its argument that gets what comes of upstream UCX.
pub type OnUpstream = (
    unsafe fn(*mut c_void, &UpstreamEvent<'_>) -> Result<()>,
    *mut c_void,
);

impl Internal {
    /// The state of a new interface of transport `I`.
    pub fn new<I: InternalIface>() -> Internal {
        Internal {
            ops: &ops::Table::<I>::OPS,
            on_peer: OnceCell::new(),
            on_upstream: Cell::new(None),
            polls: I::POLLS,
            recv_paused: Cell::new(false),
            more_expected: Cell::new(None),
            corked: Cell::new(false),
        }
    }

    /// Something has come of upstream UCX: calls `on_upstream`. An error ends the connection, but for `NO_RESOURCE`: the
    /// message is to come again with the next progress.
    pub fn upstream(&self, event: &UpstreamEvent<'_>) -> Result<()> {
        match self.on_upstream.get() {
            // SAFETY: set together with its argument, which outlives the interface.
            Some((call, arg)) => unsafe { call(arg, event) },
            None => Ok(()),
        }
    }

    /// A peer has connected and proven its identity: calls `on_peer`.
    pub fn peer_connected(&self, identity: u64) {
        if let Some(call) = self.on_peer.get() {
            call(identity);
        }
    }
}

/// An open interface of this library, whatever its transport: its operations without unsafe code at each call.
#[derive(Clone, Copy)]
pub struct InternalRef<'a> {
    /// Open for `'a`, as `of` demands; `base` is its part.
    handle: uct_iface_h,
    pub base: &'a IfaceBase,
}

impl<'a> InternalRef<'a> {
    /// # Safety
    /// `handle` must be an interface of this library that stays open for `'a`.
    #[inline]
    pub unsafe fn of(handle: uct_iface_h) -> InternalRef<'a> {
        InternalRef {
            handle,
            // SAFETY: by the caller's promise.
            base: unsafe { base_of(handle) },
        }
    }

    fn ops(self) -> &'static InternalOps {
        self.base.internal.ops
    }

    /// Its op table.
    pub fn table(self) -> &'a uct_iface_ops {
        // SAFETY: an open interface.
        unsafe { &(*self.handle).ops }
    }

    /// Whether it reaches a peer's device, and that interface on it if one is given. The addresses are of this transport's
    /// format.
    pub fn reaches(self, device: &[u8], address: Option<&[u8]>) -> bool {
        let address = address.map_or(core::ptr::null(), <[u8]>::as_ptr);
        self.table().iface_is_reachable.is_some_and(|reaches| {
            // SAFETY: an open interface; addresses have the lengths of its format.
            unsafe { reaches(self.handle, device.as_ptr().cast(), address.cast()) != 0 }
        })
    }

    /// An endpoint to a peer's interface, whose addresses are of this transport's format.
    pub fn connect(self, device: &[u8], address: &[u8]) -> Result<uct_ep_h> {
        let params = uct_ep_params {
            field_mask: u64::from(
                UCT_EP_PARAM_FIELD_IFACE
                    | UCT_EP_PARAM_FIELD_DEV_ADDR
                    | UCT_EP_PARAM_FIELD_IFACE_ADDR
                    | UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH
                    | UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH,
            ),
            iface: self.handle,
            dev_addr: device.as_ptr().cast(),
            iface_addr: address.as_ptr().cast(),
            dev_addr_length: device.len(),
            iface_addr_length: address.len(),
            // SAFETY: pointers and integers: zero is a value of each.
            ..unsafe { core::mem::zeroed() }
        };
        let mut ep = core::ptr::null_mut();
        // SAFETY: an open interface; the parameters are valid as masked.
        let code = unsafe {
            match (*self.handle).ops.ep_create {
                Some(create) => create(&params, &mut ep),
                None => UCS_ERR_UNSUPPORTED,
            }
        };
        Status::from_code(code).map_or(Ok(ep), Err)
    }

    /// `InternalIface::longest_short`.
    pub fn longest_short(self) -> Option<usize> {
        // SAFETY: an open interface.
        unsafe { (self.ops().longest_short)(self.handle) }
    }

    /// The same for messages, with `InternalIface::longest_piece` of the endpoint.
    pub fn connect_for_messages(
        self,
        device: &[u8],
        address: &[u8],
    ) -> Result<(uct_ep_h, Option<usize>)> {
        let ep = self.connect(device, address)?;
        // SAFETY: an endpoint of this interface, just made.
        let longest = unsafe { (self.ops().longest_piece)(ep) };
        Ok((ep, longest))
    }

    /// Has progress of the transport's worker poll it for `flags`: `UCT_PROGRESS_*`.
    pub fn enable_progress(self, flags: u32) {
        // SAFETY: an open interface, on its worker's thread; so below.
        unsafe {
            if let Some(enable) = (*self.handle).ops.iface_progress_enable {
                enable(self.handle, flags);
            }
        }
    }

    pub fn disable_progress(self, flags: u32) {
        // SAFETY: as above.
        unsafe {
            if let Some(disable) = (*self.handle).ops.iface_progress_disable {
                disable(self.handle, flags);
            }
        }
    }

    /// Polls it; returns how many things happened.
    pub fn progress(self) -> u32 {
        // SAFETY: as above.
        unsafe {
            (*self.handle)
                .ops
                .iface_progress
                .map_or(0, |progress| progress(self.handle))
        }
    }

    /// Orders what was posted before what follows.
    pub fn fence(self) -> Result<()> {
        // SAFETY: as above.
        let code = unsafe {
            (*self.handle)
                .ops
                .iface_fence
                .map_or(UCS_OK, |fence| fence(self.handle, 0))
        };
        Status::from_code(code).map_or(Ok(()), Err)
    }

    /// Makes its event descriptor readable at the next of `events`. `UNSUPPORTED` without one.
    pub fn arm(self, events: u32) -> Result<()> {
        // SAFETY: as above.
        let code = unsafe {
            match (*self.handle).ops.iface_event_arm {
                Some(arm) => arm(self.handle, events),
                None => UCS_ERR_UNSUPPORTED,
            }
        };
        Status::from_code(code).map_or(Ok(()), Err)
    }

    /// `InternalIface::has_message`.
    pub fn has_message(self) -> Option<bool> {
        // SAFETY: an open interface, whose own table this is.
        unsafe { (self.ops().has_message)(self.handle) }
    }

    /// `InternalIface::event_came`.
    pub fn event_came(self) {
        // SAFETY: an open interface, whose own table this is.
        unsafe { (self.ops().event_came)(self.handle) }
    }

    /// `InternalIface::arm_watched`.
    pub fn arm_watched(self, events: u32) -> Result<()> {
        // SAFETY: as above.
        unsafe { (self.ops().arm_watched)(self.handle, events as c_int) }
    }

    /// Its event descriptor, if it has one.
    pub fn event_fd(self) -> Result<Option<RawFd>> {
        let mut fd = -1;
        // SAFETY: as above, and an out parameter of ours.
        let code = unsafe {
            match (*self.handle).ops.iface_event_fd_get {
                Some(get) => get(self.handle, &mut fd),
                None => UCS_ERR_UNSUPPORTED,
            }
        };
        match Status::from_code(code) {
            None => Ok((fd >= 0).then_some(fd)),
            Some(Status::UNSUPPORTED) => Ok(None),
            Some(e) => Err(e),
        }
    }

    /// `InternalIface::peer_identity`.
    pub fn peer_identity(self, device: &[u8], iface: &[u8]) -> Option<u64> {
        // SAFETY: an open interface, whose own table this is.
        unsafe { (self.ops().peer_identity)(self.handle, device, iface) }
    }

    /// `InternalIface::sender_identity`.
    pub fn sender_identity(self) -> Option<u64> {
        // SAFETY: as above.
        unsafe { (self.ops().sender_identity)(self.handle) }
    }

    /// `InternalIface::is_connected`.
    pub fn is_connected(self, identity: u64) -> bool {
        // SAFETY: as above.
        unsafe { (self.ops().is_connected)(self.handle, identity) }
    }

    /// `InternalIface::upstream_offer`.
    pub fn upstream_offer(self) -> Option<Offer> {
        // SAFETY: as above.
        unsafe { (self.ops().upstream_offer)(self.handle) }
    }

    /// `InternalIface::upstream_reach`.
    pub fn upstream_reach(self, entry: &Entry<'_>) -> Option<UpstreamWay> {
        // SAFETY: as above.
        unsafe { (self.ops().upstream_reach)(self.handle, entry) }
    }

    /// `InternalIface::upstream_connect`.
    pub fn upstream_connect(self, entry: &Entry<'_>) -> Result<uct_ep_h> {
        // SAFETY: as above.
        unsafe { (self.ops().upstream_connect)(self.handle, entry) }
    }

    /// `InternalIface::upstream_lanes`.
    pub fn upstream_lanes(self) -> Option<&'a dyn UpstreamLanes> {
        // SAFETY: as above; the result is a part of the interface, which stays open for `'a`.
        unsafe { (self.ops().upstream_lanes)(self.handle).map(|lanes| &*lanes) }
    }

    /// `InternalIface::upstream_reject`.
    pub fn upstream_reject(self, connection: u64) {
        // SAFETY: as above.
        unsafe { (self.ops().upstream_reject)(self.handle, connection) }
    }

    /// `InternalIface::upstream_acknowledge_flushes`.
    pub fn upstream_acknowledge_flushes(self) {
        // SAFETY: as above.
        unsafe { (self.ops().upstream_acknowledge_flushes)(self.handle) }
    }

    /// `InternalIface::reject_sender`.
    pub fn reject_sender(self) -> bool {
        // SAFETY: as above.
        unsafe { (self.ops().reject_sender)(self.handle) }
    }

    /// `InternalIface::keep`.
    pub fn keep(self, address: usize, len: usize) -> bool {
        // SAFETY: as above.
        unsafe { (self.ops().keep)(self.handle, address, len) }
    }

    /// `InternalIface::release`.
    pub fn release(self, address: usize) {
        // SAFETY: as above.
        unsafe { (self.ops().release)(self.handle, address) }
    }
}
