//! Requests.
//!
//! The user's pointer points to the end of `Request`, where the user's `request_size` bytes follow. A request comes
//! from the worker's pool, or is placed in memory of the user (`Request::SIZE` bytes before its pointer). It completes
//! once: first its state is set, then, last, the callback is called, which may free it.

pub mod pool;

use super::unexpected;
use super::worker_core::{Core, WorkerRef};
use crate::c::*;
use crate::ucp::context::Context;
use crate::ucp::dt::{self, Data, Side};
use crate::ucp::feature::Feature;
use crate::ucp::mem::Region;
use crate::ucp::op::Op;
use crate::ucp::plan::RndvPolicy;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status, tracepoint};
use crate::wire::id::RequestId;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::mem::offset_of;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicI8, Ordering};

/// The completion callback of an operation.
#[derive(Clone, Copy)]
pub enum Callback {
    None,
    Send(
        unsafe extern "C" fn(*mut c_void, ucs_status_t, *mut c_void),
        *mut c_void,
    ),
    TagRecv(
        unsafe extern "C" fn(*mut c_void, ucs_status_t, *const ucp_tag_recv_info_t, *mut c_void),
        *mut c_void,
    ),
    /// Streams and active-message data: a length.
    Recv(
        unsafe extern "C" fn(*mut c_void, ucs_status_t, usize, *mut c_void),
        *mut c_void,
    ),
    /// A part of the request that is given, which lives until its last part has completed.
    Part(fn(&Request, ucs_status_t, Req), Req),
    /// Nobody is told: of a request in the user's memory whose end is noted.
    Noted,
    OldSend(unsafe extern "C" fn(*mut c_void, ucs_status_t)),
    OldTagRecv(unsafe extern "C" fn(*mut c_void, ucs_status_t, *mut ucp_tag_recv_info_t)),
    OldStream(unsafe extern "C" fn(*mut c_void, ucs_status_t, usize)),
}

/// The parts of `ucp_request_param_t` that every operation shares.
#[derive(Clone, Copy)]
pub struct Param {
    /// `UCP_OP_ATTR_*` as given.
    pub mask: u32,
    /// The operation's own flags, 0 when not given.
    pub flags: u32,
    pub callback: Callback,
    pub datatype: ucp_datatype_t,
    /// The user's memory for the request: the pointer after `Request::SIZE` bytes.
    pub request: Option<NonNull<c_void>>,
    /// The memory type of the buffer, valid if `mask` has it.
    pub memory_type: ucs_memory_type_t,
    /// The handle of the buffer's memory; null when not given.
    pub memh: *const Region,
}

impl Param {
    /// The parameters of a call without attributes.
    pub const PLAIN: Param = Param {
        mask: 0,
        flags: 0,
        callback: Callback::None,
        datatype: 1 << UCP_DATATYPE_SHIFT,
        request: None,
        memory_type: UCS_MEMORY_TYPE_HOST,
        memh: core::ptr::null(),
    };

    /// Describes the buffer of an operation of a feature in `data`, which is empty. Where operations are examined, these get the configuration's flags, and
    /// `count_operation` is called.
    ///
    /// # Safety
    /// The buffer must be what the datatype says, until the operation completes, and the memory
    /// handle alive.
    #[inline]
    pub unsafe fn data(
        &mut self,
        worker: &Core,
        buffer: *mut c_void,
        count: usize,
        (side, feature): (Side, Feature),
        data: &mut Data,
        count_operation: impl FnOnce(&Param, &Data),
    ) -> Result<()> {
        let is_plain = self.memh.is_null()
            && self.mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE == 0
            && !worker.examines(feature);
        // SAFETY: by the caller's promise.
        unsafe {
            if is_plain {
                return data.describe(buffer, count, self.datatype, side);
            }
            worker.require(feature)?;
            self.mask |= worker.extra_flags;
            *data = self.described(worker, buffer, count, side)?;
            count_operation(self, data);
            Ok(())
        }
    }

    /// The same, where the memory's type or handle matters.
    ///
    /// # Safety
    /// As `data`.
    #[cold]
    unsafe fn described(
        &self,
        worker: &Core,
        buffer: *mut c_void,
        count: usize,
        side: Side,
    ) -> Result<Data> {
        let context = worker.context();
        let mut kind = match self.mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE {
            0 => None,
            // As upstream's, a hint says that it is the host's or that it is to be found out.
            _ => context
                .memory_type_of(self.memory_type)?
                .filter(|&kind| kind == UCS_MEMORY_TYPE_HOST),
        };
        let mut at = buffer;
        // SAFETY: null or alive, by the caller's promise.
        if let Some(region) = unsafe { self.memh.as_ref() } {
            match dt::contiguous_bytes(self.datatype, count) {
                Some(bytes) => {
                    let bytes = bytes?;
                    at = region.locate(buffer, bytes)?;
                    if region.contains(buffer as u64, bytes) {
                        kind = Some(region.kind);
                    }
                }
                // The entries of a list may be in different memory: the handle does not apply to them.
                None if !region.is_imported() => {}
                None => {
                    crate::ucs_error!("a buffer in imported memory has to be contiguous");
                    return Err(Status::INVALID_PARAM);
                }
            }
        }
        let mut data = Data::empty();
        // SAFETY: by the caller's promise.
        unsafe { data.describe(at, count, self.datatype, side) }?;
        let kind = match kind {
            Some(kind) => kind,
            None => memory_type(context, &data)?,
        };
        Ok(reached(context, data, kind))
    }
}

/// For operations that are not counted.
pub fn not_counted(_: &Param, _: &Data) {}

/// A buffer in memory of a type, so that its bytes are reached.
pub fn reached(context: &Context, data: Data, kind: ucs_memory_type_t) -> Data {
    match context.device_memory.copier(kind) {
        Some(copier) => data.staged(copier, kind),
        None => data,
    }
}

/// Bytes of the user's, whose memory's type is found out.
pub fn bytes(worker: &Core, at: *mut u8, length: usize) -> Result<Data> {
    let data = Data::contig(at, length);
    let kind = memory_type(worker.context(), &data)?;
    Ok(reached(worker.context(), data, kind))
}

/// The type of the memory of a few bytes of the caller's, which no hint tells.
pub fn type_of(worker: &Core, at: *const c_void) -> Result<ucs_memory_type_t> {
    if !worker.tells_memory() || at.is_null() {
        return Ok(UCS_MEMORY_TYPE_HOST);
    }
    worker.context().memory_type(at, 1)
}

/// The first type of a buffer's memory that is not the host's.
fn memory_type(context: &Context, data: &Data) -> Result<ucs_memory_type_t> {
    if !context.device_memory.is_there() {
        return Ok(UCS_MEMORY_TYPE_HOST);
    }
    let found = data.find_block(|at, length| match context.memory_type(at.cast(), length) {
        Ok(UCS_MEMORY_TYPE_HOST) => None,
        other => Some(other),
    });
    found.unwrap_or(Ok(UCS_MEMORY_TYPE_HOST))
}

impl Param {
    /// The handle by which a domain knows the buffer, if the call has one of its memory.
    pub fn memory_handle(
        &self,
        domain: usize,
        (buffer, bytes): (*mut u8, usize),
    ) -> Option<uct_mem_h> {
        self.memory()?.handle(domain, buffer, bytes)
    }

    /// The memory whose handle the call has.
    fn memory(&self) -> Option<&Region> {
        // SAFETY: null, or alive until the operation completes, as the caller of the C function promises.
        unsafe { self.memh.as_ref() }
    }

    /// The node of the buffer's memory, if the call has a handle of it that knows.
    pub fn memory_node(&self, (buffer, bytes): (*mut u8, usize)) -> Option<u32> {
        self.memory()?.node(buffer, bytes)
    }

    /// When a message of this call is sent by rendezvous, unless something else decides.
    pub fn rndv_policy(&self) -> RndvPolicy {
        if self.mask & UCP_OP_ATTR_FLAG_FAST_CMPL != 0 {
            RndvPolicy::LongOnly
        } else {
            RndvPolicy::ByLength
        }
    }
}

/// How an operation was taken up.
pub enum Posted {
    /// Done at once; no callback.
    Done,
    Request(Req),
}

/// The result of a receive besides its status.
#[derive(Clone, Copy, Default)]
pub struct Info {
    pub tag: u64,
    pub length: usize,
}

/// The handle of a request. The request stays where it is, and is alive until it has completed and its callback has
/// returned. Whoever completes it has taken it off all lists that have its handle (of the endpoint, the worker, the
/// transport), and uses the handle no more; only the call that made the request looks at it once more (`settle`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Req(NonNull<Request>);

impl Req {
    /// # Safety
    /// The request must be alive, and the holders of the handle and of its copies do as described above.
    #[inline(always)]
    pub unsafe fn new(request: NonNull<Request>) -> Req {
        Req(request)
    }

    /// The request of a user's pointer.
    ///
    /// # Safety
    /// As `new`; `user` must be the user's pointer of a request.
    #[inline(always)]
    pub unsafe fn from_user(user: *mut c_void) -> Req {
        let at = user.cast::<Request>().wrapping_sub(1);
        // SAFETY: behind a request there is no null.
        Req(unsafe { NonNull::new_unchecked(at) })
    }

    /// The request whose completion this is.
    ///
    /// # Safety
    /// As `new`; `comp` must be of `completion` of a request.
    pub unsafe fn of_completion(comp: *mut uct_completion_t) -> Req {
        let at = comp.wrapping_byte_sub(offset_of!(Request, completion));
        // SAFETY: it stands in a request.
        Req(unsafe { NonNull::new_unchecked(at.cast()) })
    }

    /// The user's pointer to it.
    #[inline(always)]
    pub fn user(self) -> *mut c_void {
        Request::user(self.0)
    }
}

impl Deref for Req {
    type Target = Request;

    #[inline(always)]
    fn deref(&self) -> &Request {
        // SAFETY: alive, see `Req`; no one has a mutable borrow of a request.
        unsafe { self.0.as_ref() }
    }
}

#[repr(C, align(16))]
pub struct Request {
    worker: WorkerRef,
    /// The next of the pool's free requests, while it is one of them.
    next: Cell<Option<Req>>,
    pub(crate) op: UnsafeCell<Op>,
    #[cfg(debug_assertions)]
    op_lent: Lent,
    callback: Cell<Callback>,
    info: Cell<Info>,
    /// The id that peers have of it.
    id: Cell<RequestId>,
    /// `UCS_INPROGRESS` until completed. The only member that is read without the worker's lock.
    status: AtomicI8,
    /// The memory is the user's, or lent to it.
    foreign: Cell<bool>,
    /// The user gave it back.
    released: Cell<bool>,
    /// A transport has the completion and will call it.
    with_transport: Cell<TransportHold>,
    /// Its index in `Outstanding`.
    pub(super) outstanding_index: Cell<u32>,
    completion: UnsafeCell<uct_completion_t>,
}

/// Whether the state of an operation is lent.
#[cfg(debug_assertions)]
#[derive(Default)]
struct Lent(Cell<bool>);

#[cfg(debug_assertions)]
impl Lent {
    /// Until the answer is dropped.
    #[track_caller]
    fn lend(&self) -> impl Drop {
        struct Back<'a>(&'a Cell<bool>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        assert!(!self.0.replace(true), "the state of an operation is lent");
        Back(&self.0)
    }
}

/// Whether a transport works for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TransportHold {
    No,
    /// With a copy by the kernel. It takes no help of the peer: fences wait for it.
    ByKernel,
    /// With a copy by a device, of which the same is true.
    ByDevice,
    ByTransport,
}

impl TransportHold {
    /// Whether it is a copy that takes no help of the peer.
    fn is_unaided(self) -> bool {
        matches!(self, TransportHold::ByKernel | TransportHold::ByDevice)
    }
}

/// Memory for a request that is not made yet.
pub struct RequestSlot {
    at: Req,
    foreign: bool,
}

impl RequestSlot {
    /// A place in the pool.
    #[inline(always)]
    pub fn warm(worker: &Core) -> Option<RequestSlot> {
        let at = worker.requests().take()?;
        Some(RequestSlot { at, foreign: false })
    }

    /// As `warm`, and new memory where the pool has none.
    #[inline(always)]
    pub fn pooled(worker: &Core) -> Result<RequestSlot> {
        let at = worker.take_request()?;
        Ok(RequestSlot { at, foreign: false })
    }

    /// Its operation begins.
    #[inline(always)]
    pub fn begin(&self, worker: &Core) {
        if unexpected::begin_op(worker) {
            worker.requests().note_time(self.at, self.foreign);
        }
    }

    /// As `fill`, of an operation that cannot complete before its call returns.
    #[inline(always)]
    pub fn fill_waiting(self, worker: &Core, op: Op, param: &Param) -> Req {
        let callback = callback_of(worker, param, self.foreign);
        self.fill(worker, op, callback)
    }

    /// Makes the request of an operation. Every field is written in place: a request built elsewhere would be copied.
    #[inline(always)]
    pub fn fill(self, worker: &Core, op: Op, callback: Callback) -> Req {
        let at = self.at.as_ptr().as_ptr();
        // SAFETY: the pool's memory is free; the user's has room, in front of its pointer. The
        // completion is written when it is used.
        unsafe {
            (&raw mut (*at).worker).write(worker.to_ref());
            (&raw mut (*at).op).write(UnsafeCell::new(op));
            #[cfg(debug_assertions)]
            (&raw mut (*at).op_lent).write(Lent::default());
            (&raw mut (*at).callback).write(Cell::new(callback));
            (&raw mut (*at).info).write(Cell::new(Info::default()));
            (&raw mut (*at).id).write(Cell::new(RequestId::NONE));
            (&raw mut (*at).status).write(AtomicI8::new(UCS_INPROGRESS));
            (&raw mut (*at).foreign).write(Cell::new(self.foreign));
            (&raw mut (*at).released).write(Cell::new(false));
            (&raw mut (*at).with_transport).write(Cell::new(TransportHold::No));
        }
        self.at
    }

    /// As `fill`, for a receive in a slot of the pool, which already has the worker and no id.
    #[inline(always)]
    pub fn fill_posted(self, op: Op) -> Req {
        let at = self.at.as_ptr().as_ptr();
        // SAFETY: as in `fill`.
        unsafe {
            debug_assert!((*at).id.get() == RequestId::NONE && !self.foreign);
            (&raw mut (*at).op).write(UnsafeCell::new(op));
            #[cfg(debug_assertions)]
            (&raw mut (*at).op_lent).write(Lent::default());
            (&raw mut (*at).callback).write(Cell::new(Callback::None));
            (&raw mut (*at).status).write(AtomicI8::new(UCS_INPROGRESS));
            (&raw mut (*at).foreign).write(Cell::new(false));
            (&raw mut (*at).released).write(Cell::new(false));
            (&raw mut (*at).with_transport).write(Cell::new(TransportHold::No));
        }
        self.at
    }
}

impl Request {
    /// Bytes of a request before the user's pointer.
    pub const SIZE: usize = size_of::<Request>();

    /// Makes a request in the worker's pool or in the user's memory. `settle` sets its callback: an operation that
    /// completes before the call returns is reported by the return value.
    #[inline(always)]
    pub fn create(worker: &Core, param: &Param, op: Op) -> Result<Req> {
        Ok(Request::begin(worker, param)?.fill(worker, op, Callback::None))
    }

    /// The memory of a request whose operation begins. On paths that matter the operation is made behind this, and built where it
    /// stays: one that is there before has to be dropped where there is no memory, and is copied. To read what was just
    /// written in other pieces takes longer than all the rest.
    #[inline(always)]
    pub fn begin(worker: &Core, param: &Param) -> Result<RequestSlot> {
        let slot = Request::allocate(worker, param)?;
        slot.begin(worker);
        Ok(slot)
    }

    /// Allocates the memory of a request.
    #[inline(always)]
    fn allocate(worker: &Core, param: &Param) -> Result<RequestSlot> {
        match param.request {
            Some(user) => {
                let at = user.as_ptr().cast::<u8>().wrapping_sub(Self::SIZE);
                // SAFETY: the user's pointer has room for a request in front of it.
                let at: NonNull<Request> = unsafe { NonNull::new_unchecked(at.cast()) };
                // `fill` leaves out what is zero in the pool.
                // SAFETY: as above.
                unsafe { (&raw mut (*at.as_ptr()).outstanding_index).write(Cell::new(0)) };
                Ok(RequestSlot {
                    at: Req(at),
                    foreign: true,
                })
            }
            None => RequestSlot::pooled(worker),
        }
    }

    /// Initializes new memory of the pool: the worker, else zeros.
    ///
    /// # Safety
    /// `at` must be zeroed memory for a request.
    pub unsafe fn prepare(at: NonNull<Request>, worker: &Core) {
        // SAFETY: by the caller's promise.
        unsafe { (&raw mut (*at.as_ptr()).worker).write(worker.to_ref()) };
    }

    /// Makes a request that no operation uses yet, for the user to pass to calls that take one.
    pub fn spare(worker: &Core) -> Result<Req> {
        let req = Request::create(worker, &Param::PLAIN, Op::None)?;
        // It completes here.
        req.complete_plain(Info::default());
        // Freeing it searches the requests that were lent.
        req.foreign.set(true);
        worker.requests().lend(req);
        Ok(req)
    }

    /// The user's pointer to a request.
    pub fn user(this: NonNull<Request>) -> *mut c_void {
        this.as_ptr().wrapping_add(1).cast()
    }

    pub fn worker(&self) -> &Core {
        &self.worker
    }

    /// Whether it is a request of this worker.
    #[inline]
    pub fn is_of(&self, worker: &Core) -> bool {
        core::ptr::eq(self.worker.as_ptr(), worker)
    }

    pub fn as_ptr(&self) -> NonNull<Request> {
        NonNull::from(self)
    }

    fn to_req(&self) -> Req {
        Req(self.as_ptr())
    }

    /// Lends the operation's state to `f`, which neither completes the request nor calls the user back, but for a generic
    /// datatype, which must not use the request. Debug builds check that it is lent once at a time.
    #[inline(always)]
    pub fn with_op<R>(&self, f: impl FnOnce(&mut Op) -> R) -> R {
        #[cfg(debug_assertions)]
        let _lent = self.op_lent.lend();
        // SAFETY: by the rule above nobody else has it; requests are used on their worker's thread only.
        f(unsafe { &mut *self.op.get() })
    }

    /// As `with_op`, for a state that is used in several steps.
    ///
    /// # Safety
    /// No other borrow of it may be alive.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn op(&self) -> &mut Op {
        #[cfg(debug_assertions)]
        drop(self.op_lent.lend());
        // SAFETY: by the caller's promise; requests are used on their worker's thread only.
        unsafe { &mut *self.op.get() }
    }

    /// The completion for transports; `of_completion` returns the request.
    pub fn completion(&self) -> *mut uct_completion_t {
        self.completion.get()
    }

    /// Lends the completion to `f`, which calls no transport.
    pub fn with_completion<R>(&self, f: impl FnOnce(&mut uct_completion_t) -> R) -> R {
        // SAFETY: transports use it in their calls and in progress only, on this thread; any bytes are a completion.
        f(unsafe { &mut *self.completion.get() })
    }

    /// From now on a transport ends it, however the endpoint fares.
    pub fn give_to_transport(&self, how: TransportHold) {
        self.with_transport.set(how);
        if how.is_unaided() {
            let copies = &self.worker().unaided_copies;
            copies.set(copies.get() + 1);
        }
        if how == TransportHold::ByKernel {
            self.worker().counters.kernel_copies.add(1);
        }
    }

    pub fn take_from_transport(&self) {
        if self.with_transport.replace(TransportHold::No).is_unaided() {
            let copies = &self.worker().unaided_copies;
            copies.set(copies.get() - 1);
        }
    }

    pub fn is_with_transport(&self) -> bool {
        self.with_transport.get() != TransportHold::No
    }

    /// `UCS_INPROGRESS`, or how it ended.
    pub fn status(&self) -> ucs_status_t {
        // Acquire: pairs with the Release in `complete`.
        self.status.load(Ordering::Acquire)
    }

    /// Ends a request whose worker a child of fork() cannot use, without a callback.
    pub fn disown(&self) {
        if !self.is_done() {
            self.status
                .store(Status::UNSUPPORTED.code(), Ordering::Relaxed);
        }
    }

    pub fn is_done(&self) -> bool {
        self.status() != UCS_INPROGRESS
    }

    /// Sets the callback of a request that the user does not have yet.
    #[inline(always)]
    pub fn set_callback(&self, callback: Callback) {
        self.callback.set(callback);
    }

    pub fn info(&self) -> Info {
        self.info.get()
    }

    pub fn set_info(&self, info: Info) {
        self.info.set(info);
    }

    /// The id for peers, allocated at first use.
    pub fn id(&self) -> RequestId {
        if self.id.get() == RequestId::NONE {
            self.id.set(self.worker().requests().name(self.to_req()));
        }
        self.id.get()
    }

    /// Ends the operation: once, and nothing of the request is touched after the callback.
    #[inline]
    pub fn complete(&self, result: Result<()>) {
        if self.is_done() {
            return;
        }
        unexpected::end_op(self.worker());
        if self.id.get() != RequestId::NONE {
            self.worker().requests().forget(self.id.get());
            self.id.set(RequestId::NONE);
        }
        let holds = self.with_op(|op| {
            if result.is_err() && op.has_sent_rts() {
                self.worker().proto().revocation.advance();
            }
            let holds = !op.holds_nothing();
            if !holds {
                forget(op);
            }
            holds
        });
        if holds {
            self.end_op();
        }
        self.tell(code_of(&result), self.info());
    }

    /// Ends an operation that holds something: finishes datatypes. Apart, since that moves the whole of it.
    #[inline(never)]
    fn end_op(&self) {
        drop(self.with_op(core::mem::take));
    }

    /// Completes an operation with success that has no id for peers and owns nothing: the part of `complete` that is
    /// needed then.
    #[inline(always)]
    pub fn complete_plain(&self, info: Info) {
        debug_assert!(!self.is_done() && self.id.get() == RequestId::NONE);
        unexpected::end_op(self.worker());
        self.with_op(forget);
        self.set_info(info);
        // SAFETY: looked at where it stands, all of it would be loaded otherwise; nobody changes it meanwhile.
        let silent = matches!(unsafe { &*self.callback.as_ptr() }, Callback::None);
        if !silent || self.released.get() {
            self.tell(UCS_OK, info);
            return;
        }
        tracepoint::complete(core::ptr::from_ref(self).cast(), UCS_OK, info.length);
        // Release: as in `tell`.
        self.status.store(UCS_OK, Ordering::Release);
    }

    /// The last steps of a completion. `info` is the request's, which is not read again: as a pair it would wait for the
    /// words that were just written.
    #[inline(never)]
    fn tell(&self, status: ucs_status_t, info: Info) {
        tracepoint::complete(core::ptr::from_ref(self).cast(), status, info.length);
        let callback = self.callback.get();
        let marked = self.is_foreign_or_released();
        let released = marked && self.end_foreign_or_released();
        // Release: a thread that sees the status sees `info` and the data. From here on, the user's own memory may be
        // gone: another thread may have seen it.
        self.status.store(status, Ordering::Release);
        callback.call(self, status, info);
        // The callback gets the user's pointer, which stays valid until it returns.
        if released {
            self.give_back();
        }
    }

    /// Whether it is in the memory of the user, or was released: no branch between the two.
    #[inline(always)]
    fn is_foreign_or_released(&self) -> bool {
        self.foreign.get() | self.released.get()
    }

    /// Before such a request completes. Returns whether the user has released it.
    #[cold]
    fn end_foreign_or_released(&self) -> bool {
        self.end_foreign();
        self.released.get()
    }

    /// The operation ends: what is in the user's memory is not in progress any more.
    fn end_foreign(&self) {
        if self.foreign.get() {
            self.worker().requests().end_foreign(self.to_req());
        }
    }

    /// Frees a request whose operation was not started. The user has not seen it.
    pub fn abolish(&self) {
        debug_assert!(self.id.get() == RequestId::NONE);
        unexpected::end_op(self.worker());
        drop(self.with_op(core::mem::take));
        self.recycle();
    }

    /// The user frees it: as `release`, and its callback is called no more, unless the operation has ended and only the
    /// call is still to come: upstream makes it before the user has the request.
    #[inline]
    pub fn free(&self) {
        if self.is_settled() {
            self.released.set(true);
            self.worker().requests().give(self.to_req());
        } else {
            self.free_early();
        }
    }

    #[inline(never)]
    fn free_early(&self) {
        let goes_on = !self.is_done() && self.with_op(|op| !matches!(op, Op::None));
        if goes_on {
            self.callback.set(Callback::None);
        }
        self.release();
    }

    /// The user gives it back: at once when complete, else at completion. MPICH 5.0.2 frees some twice; the second call has
    /// no effect unless the request was reused.
    pub fn release(&self) {
        if self.released.replace(true) {
            self.report_double_free();
        } else if self.is_done() {
            self.give_back();
        }
    }

    /// Once: some programs do it all the time, and it does no harm here.
    #[cold]
    fn report_double_free(&self) {
        static TOLD: AtomicBool = AtomicBool::new(false);
        // Relaxed: it guards nothing else.
        if !TOLD.swap(true, Ordering::Relaxed) {
            crate::ucs_warn!(
                "request {:p} was freed twice: ucp_request_free() is called once for a request (not logged again)",
                Request::user(self.as_ptr())
            );
        }
    }

    /// Whether it completed with success, is in the pool's memory, and was not freed: one load of adjacent members.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        const AT: usize = offset_of!(Request, status);
        const _: () = assert!(
            AT.is_multiple_of(4)
                && offset_of!(Request, foreign) == AT + 1
                && offset_of!(Request, released) == AT + 2
                && offset_of!(Request, with_transport) == AT + 3
                && UCS_OK == 0
                && TransportHold::No as u8 == 0
        );
        // SAFETY: four bytes that were written, aligned, as was just asserted; on the worker's thread or under its lock.
        unsafe { (&raw const self.status).cast::<u32>().read() == 0 }
    }

    /// Returns a request to the pool, unless it is in the user's memory.
    #[inline(always)]
    fn give_back(&self) {
        if self.foreign.get() {
            self.give_back_lent();
        } else {
            self.worker().requests().give(self.to_req());
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back_lent(&self) {
        self.worker().requests().give_lent(self.to_req());
    }

    /// Returns a request that the user never held.
    fn recycle(&self) {
        if self.foreign.get() {
            self.worker().requests().end_foreign(self.to_req());
        } else {
            self.worker().requests().give(self.to_req());
        }
    }
}

impl Callback {
    /// Tells the user.
    #[inline]
    fn call(self, req: &Request, status: ucs_status_t, info: Info) {
        let user = Request::user(req.as_ptr());
        let mut c_info = ucp_tag_recv_info_t {
            sender_tag: info.tag,
            length: info.length,
        };
        // SAFETY: the user's function, with what its type is documented to get.
        unsafe {
            match self {
                Callback::None | Callback::Noted => {}
                Callback::Send(f, arg) => f(user, status, arg),
                Callback::TagRecv(f, arg) => f(user, status, &c_info, arg),
                Callback::Recv(f, arg) => f(user, status, info.length, arg),
                Callback::Part(f, whole) => f(req, status, whole),
                Callback::OldSend(f) => f(user, status),
                Callback::OldTagRecv(f) => f(user, status, &mut c_info),
                Callback::OldStream(f) => f(user, status, info.length),
            }
        }
    }
}

/// Ends the state of an operation of which nothing has to be dropped.
#[inline(always)]
fn forget(op: &mut Op) {
    debug_assert!(op.holds_nothing());
    // SAFETY: a place for it.
    unsafe { core::ptr::write(op, Op::None) };
}

/// The callback of a request, `foreign` or not, that is in progress when the user gets it.
#[inline(always)]
fn callback_of(worker: &Core, param: &Param, foreign: bool) -> Callback {
    let silent = matches!(param.callback, Callback::None);
    if foreign && silent && worker.unexpected.notes_times() {
        Callback::Noted
    } else {
        param.callback
    }
}

/// The return value of a call after its operation was started: complete, or the request, which reports its completion
/// by the callback from now on.
#[inline]
pub fn settle(req: Req, param: &Param) -> Result<Posted> {
    // Not given to the user yet, so alive even when complete.
    if !req.is_done() {
        let callback = callback_of(req.worker(), param, req.foreign.get());
        req.callback.set(callback);
        return Ok(Posted::Request(req));
    }
    let status = req.status();
    if param.mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL != 0 {
        req.end_foreign();
        param.callback.call(&req, status, req.info());
        return Ok(Posted::Request(req));
    }
    req.recycle();
    match Status::from_code(status) {
        None => Ok(Posted::Done),
        Some(e) => Err(e),
    }
}

/// Ends an operation that completed without a request. A request is made only if the user demands one; one in the
/// user's memory is also set to complete (Open MPI tests it, whatever the call returned).
#[inline]
pub fn immediate(worker: &Core, param: &Param, info: Info) -> Result<Posted> {
    ended(worker, param, info, Ok(()))
}

/// As `immediate`, with a result: a demanded request carries the error.
#[inline]
pub fn ended(worker: &Core, param: &Param, info: Info, result: Result<()>) -> Result<Posted> {
    let insists = param.mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL != 0;
    if !insists && param.request.is_none() {
        return result.map(|()| Posted::Done);
    }
    let req = Request::create(worker, param, Op::None)?;
    req.set_info(info);
    req.complete(result);
    settle(req, param)
}

/// `NO_RESOURCE` if the user allows no request: then an operation that cannot complete at once is not started.
pub fn must_be_immediate(param: &Param) -> Result<()> {
    if param.mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL != 0 {
        Err(Status::NO_RESOURCE)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_lent_again_after_it_was_given_back() {
        let lent = Lent::default();
        drop(lent.lend());
        drop(lent.lend());
    }

    #[test]
    #[should_panic(expected = "is lent")]
    fn a_state_is_not_lent_twice() {
        let lent = Lent::default();
        let _first = lent.lend();
        drop(lent.lend());
    }
}
