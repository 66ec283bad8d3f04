//! `Core`: the part of a worker that every floor sees: identity, interfaces, buffers, accounting, callback queue and
//! wake-up.
//!
//! The state of a higher floor (endpoints, protocols, tags and so on) stands beside the core in `Worker`. Its type is a
//! `FloorState`, and `FloorState::of` finds it from the core, so a floor names the core and its own state, not the
//! worker. What the core asks of the floors above are `Hooks`.

use super::after_fork;
use super::buffers::Buffers;
use super::config::{TABLE, extra_op_flags, has_strong_fences};
use super::context::{Context, unique_id};
use super::counters::Counters;
use super::feature::Feature;
use super::idle;
use super::protocol_info::ProtocolInfo;
use super::spin::Spin;
use super::unexpected::Unexpected;
use super::wakeup::{self, Wakeup};
use crate::c::*;
use crate::sys::cpu;
use crate::ucs::callbackq::{Callback, CallbackId, CallbackQueue, Repeat};
use crate::ucs::config::var;
use crate::ucs::fork;
use crate::ucs::nonces::Nonces;
use crate::ucs::sync::biased_lock::BiasedLock;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::Device;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::InternalRef;
use crate::wire::address::{Address, AddressEntry};
use crate::wire::upstream::address::Offer;
use core::cell::{Cell, RefCell};
use core::ffi::{c_uint, c_void};
use core::ops::Deref;
use core::ptr::NonNull;
use std::collections::BTreeMap;

/// The parameters of `ucp_worker_create`.
pub struct WorkerParams {
    pub thread_mode: ucs_thread_mode_t,
    /// Processors that the worker's memory should be near to.
    pub cpu_mask: Option<cpu::Mask>,
    /// `UCP_WAKEUP_*` that the application waits for.
    pub events: u32,
    pub user_data: *mut c_void,
    pub event_fd: Option<i32>,
    pub flags: u64,
    pub name: String,
    pub am_alignment: usize,
    pub client_id: u64,
}

/// An open interface.
pub struct OpenIface {
    pub handle: uct_iface_h,
    /// Index into the context's resources.
    pub resource: usize,
    /// The transport's number in addresses.
    pub number: u8,
    pub attr: uct_iface_attr,
    /// Its domain reaches registered memory only, at either end.
    pub needs_registration: bool,
    /// Its domain reaches memory of devices and none of the host.
    pub reaches_devices_only: bool,
    pub device_address: Vec<u8>,
    pub address: Vec<u8>,
    /// Whether each progress polls it, see `idle`.
    pub polled: Cell<bool>,
    /// Whether its descriptor is among those that the program waits for.
    pub is_watched: Cell<bool>,
    /// Something may have come for it, which is not polled.
    pub has_event: Cell<bool>,
}

/// Bytes a second of an interface that so many processes share, at least 1.
pub fn bandwidth(attr: &uct_iface_attr, processes: usize) -> f64 {
    let bandwidth = attr.bandwidth.dedicated + attr.bandwidth.shared / processes as f64;
    bandwidth.max(1.0)
}

impl OpenIface {
    /// Closes the interface.
    ///
    /// # Safety
    /// It has no endpoints, and is not used any more.
    pub unsafe fn close(&self) {
        // SAFETY: open until now, by the caller's promise.
        let close = unsafe { (*self.handle).ops.iface_close };
        if let Some(close) = close {
            // SAFETY: by the caller's promise.
            unsafe { close(self.handle) };
        }
    }

    /// Its operations.
    #[inline]
    pub fn internal(&self) -> InternalRef<'_> {
        // SAFETY: open until the worker closes it, which drops this.
        unsafe { InternalRef::of(self.handle) }
    }
}

/// Bytes of a message that stays in the memory of the interface it came by.
pub struct InPlace {
    /// Address of the message.
    message: usize,
    data: *const u8,
    len: usize,
    /// Index of the interface.
    iface: usize,
}

impl InPlace {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: readable until the message is released.
        unsafe { core::slice::from_raw_parts(self.data, self.len) }
    }
}

/// What the core asks of the floors above it and tells them.
pub struct Hooks {
    /// Whether the application may be waiting for a message that unexpected ones precede.
    pub awaits_messages: fn(&Core) -> bool,
    /// A receive pause begins or ends.
    pub on_pause: fn(&Core, bool),
    /// A progress that operations wait for.
    pub progress_postponed: fn(&Core) -> u32,
    /// Whether the next progress has something to do that no event announces.
    pub wants_progress: fn(&Core) -> bool,
    /// The process is a child of the worker's: its requests end.
    pub disown_requests: fn(&Core),
}

/// A function that progress calls with the worker. Returns how much it did.
pub type InProgress = extern "C" fn(&Core) -> c_uint;

/// The form in which callback queues call it: with a pointer to the worker.
pub fn as_callback(call: InProgress) -> Callback {
    // SAFETY: references are passed as pointers are; who calls it vouches for the pointer.
    unsafe { core::mem::transmute::<InProgress, Callback>(call) }
}

/// A call that each progress of a worker makes, while there is something for it to do.
#[derive(Default)]
pub struct RepeatedCall(Cell<Option<CallbackId>>);

impl RepeatedCall {
    /// There is something to do, perhaps as before.
    pub fn start(&self, worker: &Core, call: InProgress) {
        if self.0.get().is_none() {
            let id = worker.call_in_progress(call, Repeat::Always);
            self.0.set(id.ok());
        }
    }

    /// There is nothing left.
    pub fn stop(&self, worker: &Core) {
        if let Some(id) = self.0.take() {
            // SAFETY: on the worker's thread.
            let _ = unsafe { worker.queue().remove(id) };
        }
    }
}

pub struct Core {
    context: *const Context,
    hooks: &'static Hooks,
    pub params: WorkerParams,
    pub uuid: u64,
    /// This process is a forked child of the worker's process, and has logged it.
    pub inherited: Cell<bool>,
    refused_process: Cell<bool>,
    uct: uct_worker_h,
    pub ifaces: Vec<OpenIface>,
    /// The context's resources on which none could be opened, and why.
    pub unopened: Vec<(usize, String)>,
    /// Looks at those that are not polled.
    pub rounds: idle::Rounds,
    /// State of callers that spin on progress.
    pub spin: Spin,
    /// The lock of MULTI mode; recursive.
    pub lock: BiasedLock,
    tells_memory: bool,
    /// Why operations take no shortcut: bits of `EXAMINED` and so on, and of `ucp_feature` those that the context lacks.
    general: u32,
    general_atomics: bool,
    /// `UCX_INFO_SOCKET`: other processes may ask for its state.
    pub is_inspected: bool,
    /// `UCX_EXTRA_OP_ATTR_FLAGS`, as `UCP_OP_ATTR_FLAG_*`.
    pub extra_flags: u32,
    /// `UCX_FENCE_MODE=strong`.
    pub strong_fences: bool,
    pub buffers: Buffers,
    pub unexpected: Unexpected,
    pub wakeup: Wakeup,
    messages: RefCell<MessageNumbers>,
    pub counters: Counters,
    /// Number of copies in flight that take no help of a peer.
    pub unaided_copies: Cell<usize>,
}

/// The state of a floor in a worker.
///
/// # Safety
/// Every `Core` that is shared stands at the start of a block of memory, exposed, with a value of this type at `OFFSET`
/// that lives as long as the core.
pub unsafe trait FloorState: Sized {
    const OFFSET: usize;

    /// The state that stands beside this core.
    #[inline(always)]
    fn of(core: &Core) -> &Self {
        let at = core::ptr::from_ref(core).addr() + Self::OFFSET;
        // SAFETY: by the promise of the trait's implementation.
        unsafe { &*core::ptr::with_exposed_provenance::<Self>(at) }
    }
}

/// Each operation is looked at before it starts.
const EXAMINED: u32 = 1 << 29;
/// Several threads use the worker.
const SHARED: u32 = 1 << 30;
/// The time of receives is noted.
const TIMED: u32 = 1 << 31;

/// Bytes of all headers of ours that can stand in front of a user's.
pub const MAX_HEADERS: usize = 128;

impl Core {
    /// Without interfaces.
    pub fn new(context: &Context, mut params: WorkerParams, hooks: &'static Hooks) -> Result<Core> {
        let progress_thread = context.config.bool(var!(TABLE, "PROGRESS_THREAD"));
        if progress_thread {
            // One more thread uses the worker.
            params.thread_mode = UCS_THREAD_MODE_MULTI;
        }
        let tells_memory = context.device_memory.is_there();
        let extra_flags = extra_op_flags(&context.config);
        let examined = tells_memory
            || extra_flags != 0
            || ProtocolInfo::of(&context.config) == ProtocolInfo::Used;
        let is_inspected = context.config.bool(var!(TABLE, "INFO_SOCKET"));
        let reasons = [
            (EXAMINED, examined),
            (SHARED, params.thread_mode == UCS_THREAD_MODE_MULTI),
            (TIMED, is_inspected),
        ];
        let lacking = Feature::ALL.map(|feature| (feature.bit(), !context.has_feature(feature)));
        let given = reasons.into_iter().chain(lacking).filter(|(_, is)| *is);
        let general = given.fold(0, |all, (bit, _)| all | bit);
        let unexpected = Unexpected::new(&context.config);
        if is_inspected {
            unexpected.set_timed();
        }
        Ok(Core {
            context,
            hooks,
            tells_memory,
            general,
            general_atomics: general & (EXAMINED | SHARED) != 0,
            is_inspected,
            extra_flags,
            strong_fences: has_strong_fences(&context.config),
            uuid: unique_id(),
            inherited: Cell::new(false),
            refused_process: Cell::new(false),
            buffers: Buffers::new(&context.config.sizes(var!(TABLE, "RX_MPOOL_SIZES"))),
            unexpected,
            wakeup: Wakeup::new(context.params.features, progress_thread)?,
            uct: WorkerHandle::create(core::ptr::null_mut()),
            ifaces: Vec::new(),
            unopened: Vec::new(),
            rounds: idle::Rounds::default(),
            spin: Spin::default(),
            lock: BiasedLock::default(),
            messages: RefCell::new(MessageNumbers::default()),
            counters: Counters::default(),
            unaided_copies: Cell::new(0),
            params,
        })
    }

    #[inline]
    pub fn context(&self) -> &Context {
        // SAFETY: a context outlives its workers (C contract of ucp_cleanup).
        unsafe { &*self.context }
    }

    /// The memory domain of one of the interfaces.
    pub fn domain_of(&self, iface: usize) -> usize {
        self.context().resources[self.ifaces[iface].resource].md
    }

    pub fn hooks(&self) -> &Hooks {
        self.hooks
    }

    pub fn uct(&self) -> &WorkerHandle {
        // SAFETY: made in `new`, destroyed with this.
        unsafe { &*self.uct.cast::<WorkerHandle>() }
    }

    /// Whether several threads use it, which take its lock.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        self.params.thread_mode == UCS_THREAD_MODE_MULTI
    }

    /// Whether the type of a buffer's memory has to be found out.
    #[inline(always)]
    pub fn tells_memory(&self) -> bool {
        self.tells_memory
    }

    /// Whether each operation is looked at before it starts: for the type of its memory, for flags that the configuration
    /// adds, or to count it.
    #[inline(always)]
    pub fn examines_operations(&self) -> bool {
        self.general & EXAMINED != 0
    }

    /// The same of the operations of a feature, which are refused if the context lacks it: `require` tells.
    #[inline(always)]
    pub fn examines(&self, feature: Feature) -> bool {
        self.general & (EXAMINED | feature.bit()) != 0
    }

    /// Whether the operations of a feature take no shortcut: a lock has to be taken, or each operation is examined.
    #[inline(always)]
    pub fn takes_general_paths(&self, feature: Feature) -> bool {
        self.general & (EXAMINED | SHARED | feature.bit()) != 0
    }

    /// As `takes_general_paths`, of atomics of a size that the context has: `Fenced::holds` tells.
    #[inline(always)]
    pub fn atomics_take_general_paths(&self) -> bool {
        self.general_atomics
    }

    /// Whether its receives take no shortcut: the same, or the time of each is noted.
    #[inline(always)]
    pub fn receives_by_general_paths(&self, feature: Feature) -> bool {
        self.general & (EXAMINED | SHARED | TIMED | feature.bit()) != 0
    }

    /// `INVALID_PARAM` for a feature that the context lacks.
    #[inline]
    pub fn require(&self, feature: Feature) -> Result<()> {
        match self.lacks(feature) {
            false => Ok(()),
            true => Err(self.context().refuse(feature)),
        }
    }

    #[inline]
    pub fn lacks(&self, feature: Feature) -> bool {
        self.general & feature.bit() != 0
    }

    /// The callbacks of progress.
    pub fn queue(&self) -> &CallbackQueue {
        self.uct().queue()
    }

    /// Has progress call `call`, from the next one on.
    pub fn call_in_progress(&self, call: InProgress, repeat: Repeat) -> Result<CallbackId> {
        let arg = core::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: on the worker's thread; the queue goes with the worker, before which it calls nothing.
        unsafe { self.queue().add(as_callback(call), arg, repeat) }
    }

    /// Polls everything once.
    #[inline]
    pub fn progress(&self) -> u32 {
        if self.rounds.are_due() {
            return self.progress_more();
        }
        self.uct().progress()
    }

    /// The same where operations wait for it, or with the interfaces that are idle.
    #[inline(never)]
    fn progress_more(&self) -> u32 {
        if self.rounds.take_waiting() {
            return (self.hooks.progress_postponed)(self);
        }
        let mut of_idle = 0;
        if self.wakeup.is_back() {
            of_idle += wakeup::come_back(self);
        }
        if self.rounds.is_time() {
            of_idle += idle::round(self);
        }
        of_idle + self.uct().progress()
    }

    /// This worker's address; `net_only` leaves out transports that reach this host only.
    pub fn address(&self, net_only: bool) -> Address {
        self.address_by(|device| !net_only || device.kind == UCT_DEVICE_TYPE_NET)
    }

    /// The addresses of its interfaces on devices that `is_told` takes.
    pub fn address_by(&self, is_told: impl Fn(&Device) -> bool) -> Address {
        let resources = &self.context().resources;
        Address {
            uuid: self.uuid,
            entries: self
                .ifaces_for_peers()
                .into_iter()
                .filter(|i| is_told(&resources[i.resource].device))
                .filter(|i| i.device_address.len() < 256 && i.address.len() < 256)
                .filter_map(|i| {
                    Some(AddressEntry {
                        transport: i.number,
                        domain: u8::try_from(resources[i.resource].md).ok()?,
                        device: i.device_address.clone(),
                        iface: i.address.clone(),
                    })
                })
                .collect(),
        }
    }

    /// The interfaces in the order of the worker's address: of an RDMA transport those of the fastest devices first, which
    /// peers take first.
    pub fn ifaces_for_peers(&self) -> Vec<&OpenIface> {
        let processes = self.context().processes_here;
        let place = |iface: &OpenIface| {
            let of_transport = |other: &OpenIface| other.number == iface.number;
            self.ifaces.iter().position(of_transport)
        };
        let speed = |iface: &OpenIface| match iface.needs_registration {
            true => bandwidth(&iface.attr, processes),
            false => 0.0,
        };
        let mut all: Vec<&OpenIface> = self.ifaces.iter().collect();
        all.sort_by(|a, b| {
            let by_transport = place(a).cmp(&place(b));
            by_transport.then_with(|| speed(b).total_cmp(&speed(a)))
        });
        all
    }

    /// `message`, which is being handled, stays where its interface has it, for `bytes` of it, until it is released. `None` if the
    /// interface does not keep it.
    #[cold]
    pub fn keep_message(&self, message: &[u8], bytes: &[u8]) -> Option<InPlace> {
        let (address, len) = (message.as_ptr().addr(), message.len());
        let keeps = |iface: &OpenIface| iface.internal().keep(address, len);
        Some(InPlace {
            message: address,
            data: bytes.as_ptr(),
            len: bytes.len(),
            iface: self.ifaces.iter().position(keeps)?,
        })
    }

    /// A message that an interface keeps is not needed any more.
    #[cold]
    pub fn release_message(&self, kept: &InPlace) {
        if let Some(iface) = self.ifaces.get(kept.iface) {
            iface.internal().release(kept.message);
        }
    }

    /// This worker's address for applications.
    pub fn packed_address(&self, net_only: bool) -> Vec<u8> {
        self.address(net_only).to_envelope(&self.upstream_offers())
    }

    /// What upstream UCX can use of the interfaces. It is the same each time.
    pub fn upstream_offers(&self) -> Vec<Offer> {
        let offers = self.ifaces.iter();
        offers
            .filter_map(|iface| iface.internal().upstream_offer())
            .collect()
    }

    /// Most bytes of a user's header in an active message.
    pub fn max_am_header(&self) -> usize {
        let least = self
            .ifaces
            .iter()
            .filter(|i| i.attr.cap.flags & UCT_IFACE_FLAG_AM_BCOPY != 0)
            .map(|i| i.attr.cap.am.max_bcopy)
            .min()
            .unwrap_or(0);
        // A first fragment has all headers in front of the user's.
        least.saturating_sub(MAX_HEADERS)
    }

    /// Its counters, with the sums of its endpoints, on any thread.
    pub fn counters_json(&self) -> String {
        let sent = after_fork::sent_by(self);
        self.counters.to_json(&sent, &self.wakeup.wake_ups)
    }

    /// The same by name.
    pub fn counter_totals(&self) -> BTreeMap<String, u64> {
        let sent = after_fork::sent_by(self);
        self.counters.totals(&sent, &self.wakeup.wake_ups)
    }

    /// An unused number for a fragmented message. Only its receiver learns it, so nobody else can add fragments.
    pub fn next_message(&self) -> u64 {
        self.messages.borrow_mut().next()
    }

    /// `UNSUPPORTED` in a child of the process that made the worker; logged once.
    #[inline]
    pub fn check_process(&self) -> Result<()> {
        match self.inherited.get() {
            false => Ok(()),
            true => self.refuse_process(),
        }
    }

    #[cold]
    fn refuse_process(&self) -> Result<()> {
        if !self.refused_process.replace(true) {
            fork::refuse(&format!("worker '{}'", self.params.name));
            // Another thread may have been changing the pool of a worker that several use.
            if !self.is_shared() {
                (self.hooks.disown_requests)(self);
            }
        }
        Err(Status::UNSUPPORTED)
    }

    /// Closes the interfaces, which have no endpoints any more. Last of all, as the callback queue goes too.
    pub fn close(&self) {
        for iface in &self.ifaces {
            // SAFETY: an open interface without endpoints, closed once.
            unsafe { iface.close() };
        }
        // SAFETY: nothing is open on it any more.
        unsafe { WorkerHandle::destroy(self.uct) };
    }
}

/// The worker of an endpoint, a request, a listener and so on: all of them end before it does (C contract of
/// `ucp_worker_destroy`), and it stays where it is.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct WorkerRef(NonNull<Core>);

impl Deref for WorkerRef {
    type Target = Core;

    #[inline(always)]
    fn deref(&self) -> &Core {
        // SAFETY: alive, see above; no one has a mutable borrow of a worker that is open.
        unsafe { self.0.as_ref() }
    }
}

impl WorkerRef {
    pub fn as_ptr(self) -> *const Core {
        self.0.as_ptr()
    }
}

impl Core {
    #[inline(always)]
    pub fn to_ref(&self) -> WorkerRef {
        WorkerRef(NonNull::from(self))
    }

    /// For the worker's own parts that run on other threads, which it ends before it goes.
    pub fn remote(&self) -> Remote {
        Remote(self.to_ref())
    }
}

/// A worker as other threads know it: they read what never changes and the counters, and have its progress make a call.
#[derive(Clone)]
pub struct Remote(WorkerRef);

// SAFETY: the functions of `Remote` touch what any thread may: the callback queue's calls for other threads, the wake-up's
// descriptors, counters, and members that are written once, before there is a `Remote`.
unsafe impl Send for Remote {}
// SAFETY: as above.
unsafe impl Sync for Remote {}

impl Remote {
    pub fn name(&self) -> &str {
        &self.0.params.name
    }

    pub fn uuid(&self) -> u64 {
        self.0.uuid
    }

    pub fn counters(&self) -> String {
        self.0.counters_json()
    }

    /// Its counters by name, as they are now.
    pub fn totals(&self) -> BTreeMap<String, u64> {
        self.0.counter_totals()
    }

    /// The worker's next progress calls `call`; a program that sleeps until something comes is woken.
    pub fn call_in_progress(&self, call: InProgress) {
        let worker = &*self.0;
        let arg = self.0.0.as_ptr().cast();
        // SAFETY: the worker does not move; the queue goes with it, before which it calls nothing.
        let added = unsafe {
            worker
                .queue()
                .add_safe(as_callback(call), arg, Repeat::Once)
        };
        match added {
            Ok(_) => worker.wakeup.poke(),
            Err(e) => ucs_error!("a worker cannot be called from another thread: {e}"),
        }
    }
}

/// Numbers of fragmented messages: a count, and a nonce.
#[derive(Default)]
struct MessageNumbers {
    count: u32,
    nonces: Nonces,
}

impl MessageNumbers {
    fn next(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        u64::from(self.nonces.draw()) << 32 | u64::from(self.count)
    }
}
