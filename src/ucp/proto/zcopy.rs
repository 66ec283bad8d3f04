//! Zero-copy transfers between a user's buffer and a peer's memory that a transport performs (cma, puts of tcp). The
//! completion stands in the request. While a transport holds it, only the transport may end the request
//! (`Request::is_with_transport`). When a transport accepts only the first part of a transfer, the rest is stalled:
//! the worker keeps it, and progress posts it later.

use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::ep::{DevicePart, Ep, Lane, Part};
use crate::ucp::op::Op;
use crate::ucp::reg::LocalMemory;
use crate::ucp::request::{Req, TransportHold};
use crate::ucp::rkey::{Access, RemoteKey};
use crate::ucp::worker_core::{Core, RepeatedCall};
use crate::ucs::{Result, Status, tracepoint};
use crate::uct::api::{Completion, Posted, Remote};
use crate::uct::base::copy::copy;
use crate::uct::base::iov::Iov;
use crate::uct::internal::{DeviceMapping, EpochGuard, base_of};
use crate::wire::Writer;
use crate::wire::header::AmId;
use core::cell::RefCell;
use core::ffi::{c_int, c_uint, c_void};
use core::ops::Range;
use std::collections::VecDeque;

/// The direction of the bytes: into the peer's memory or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Put,
    Get,
}

/// A transfer of `len` bytes between `local` and `remote`, which `rkey` gives access to. A get with a guard fails
/// with `CANCELED` when the peer's revocation epoch has advanced.
#[derive(Clone, Copy)]
pub struct Transfer {
    pub local: *mut u8,
    pub memory: LocalMemory,
    pub len: usize,
    pub remote: u64,
    pub rkey: uct_rkey_t,
    pub guard: Option<EpochGuard>,
}

impl Transfer {
    /// The part of the transfer that `range` gives.
    pub fn part(self, range: Range<usize>) -> Transfer {
        Transfer {
            local: self.local.wrapping_add(range.start),
            len: range.len(),
            remote: self.remote.wrapping_add(range.start as u64),
            ..self
        }
    }
}

/// A message that follows a put on its lane: its id, and its body in the peer's format.
#[derive(Clone, Copy)]
pub struct Notification {
    id: u8,
    body: [u8; NOTIFICATION_MAX],
    len: usize,
}

/// The longest body of a notification.
const NOTIFICATION_MAX: usize = 17;

impl Notification {
    pub fn new(id: u8, len: usize, write: impl FnOnce(&mut Writer<'_>)) -> Notification {
        let mut body = [0; NOTIFICATION_MAX];
        write(&mut Writer::new(&mut body[..len]));
        Notification { id, body, len }
    }
}

/// A posted transfer, or the stalled rest of one.
#[derive(Clone, Copy)]
struct ActiveTransfer {
    req: Req,
    lane: Lane,
    direction: Direction,
    transfer: Transfer,
    step: usize,
    /// Of a put that is not divided.
    notification: Option<Notification>,
}

/// The stalled transfers of a worker, and the progress callback that retries them.
#[derive(Default)]
pub struct StalledTransfers {
    transfers: RefCell<VecDeque<ActiveTransfer>>,
    retry: RepeatedCall,
}

impl StalledTransfers {
    pub fn is_empty(&self) -> bool {
        self.transfers.borrow().is_empty()
    }
}

/// Begins a transfer, in parts of at most `step` bytes. Its completion is reported to the operation of the request,
/// possibly within this call. On an error nothing was posted; after `NO_RESOURCE` the caller may try again.
pub fn begin(
    req: Req,
    lane: Lane,
    direction: Direction,
    transfer: Transfer,
    step: usize,
) -> Result<()> {
    let active = ActiveTransfer {
        req,
        lane,
        direction,
        transfer,
        step,
        notification: None,
    };
    begin_all(req, &[active], false)
}

/// As `begin`, of a get. Without room it waits.
pub fn get(req: Req, lane: Lane, transfer: Transfer) -> Result<()> {
    let active = ActiveTransfer {
        req,
        lane,
        direction: Direction::Get,
        transfer,
        step: usize::MAX,
        notification: None,
    };
    begin_all(req, &[active], true)
}

/// As `get`, of a put.
pub fn put(req: Req, lane: Lane, transfer: Transfer) -> Result<()> {
    let range = 0..transfer.len;
    put_parts(req, transfer, &[Part { lane, range }])
}

/// As `begin`, of parts that several RDMA devices move. Without room for the first, the transfer `waits`, or does not begin.
pub fn begin_parts(
    req: Req,
    direction: Direction,
    transfer: Transfer,
    parts: &[DevicePart],
    waits: bool,
) -> Result<()> {
    let active = |of: &DevicePart| {
        let seen = Transfer {
            memory: of.memory,
            rkey: of.rkey,
            guard: of.guard,
            ..transfer
        };
        ActiveTransfer {
            req,
            lane: of.part.lane,
            direction,
            transfer: seen.part(of.part.range.clone()),
            step: usize::MAX,
            notification: None,
        }
    };
    let parts: Vec<ActiveTransfer> = parts.iter().map(active).collect();
    begin_all(req, &parts, waits)
}

/// As `begin`, of a put whose parts go by several lanes. Without room they wait.
pub fn put_parts(req: Req, transfer: Transfer, parts: &[Part]) -> Result<()> {
    let active = |part: &Part| ActiveTransfer {
        req,
        lane: part.lane,
        direction: Direction::Put,
        transfer: transfer.part(part.range.clone()),
        step: usize::MAX,
        notification: None,
    };
    let parts: Vec<ActiveTransfer> = parts.iter().map(active).collect();
    begin_all(req, &parts, true)
}

fn begin_all(req: Req, parts: &[ActiveTransfer], waits: bool) -> Result<()> {
    start(req, parts, waits)?;
    // Without a key, the kernel copies.
    let held = match parts.first().map(|part| part.transfer) {
        None => TransportHold::ByKernel,
        Some(of) => match of.memory {
            LocalMemory::Plain if of.rkey == 0 => TransportHold::ByKernel,
            LocalMemory::Device => TransportHold::ByDevice,
            _ => TransportHold::ByTransport,
        },
    };
    all_posted(req, held);
    Ok(())
}

/// A device copies for a request, without a transport.
pub fn begin_device_copy(req: Req) {
    init_completion(req);
    req.give_to_transport(TransportHold::ByDevice);
}

/// That copy has ended, which is reported to the operation of the request.
pub fn end_device_copy(req: Req, end: Result<()>) {
    end_posting(req, end);
}

/// A put by one lane, and the message that tells the receiver of it.
pub struct NotifiedPut {
    pub lane: Lane,
    pub transfer: Transfer,
    pub notification: Notification,
}

/// Puts a message into the receiver's memory, each part followed by its notification. Completion and errors are those of
/// `begin`.
pub fn put_notify(req: Req, puts: impl Iterator<Item = NotifiedPut>) -> Result<()> {
    let active = |put: NotifiedPut| ActiveTransfer {
        req,
        lane: put.lane,
        direction: Direction::Put,
        transfer: put.transfer,
        step: usize::MAX,
        notification: Some(put.notification),
    };
    let parts: Vec<ActiveTransfer> = puts.map(active).collect();
    start(req, &parts, false)?;
    all_posted(req, TransportHold::ByTransport);
    Ok(())
}

/// Posts the parts of a transfer, and stalls what has no room; if nothing has, only if the transfer `waits`. On an error
/// nothing was posted. The caller calls `all_posted`.
fn start(req: Req, parts: &[ActiveTransfer], waits: bool) -> Result<()> {
    init_completion(req);
    let mut begun = false;
    for part in parts {
        let (done, end) = part.post();
        if done == 0 && !begun && !(waits && end == Err(Status::NO_RESOURCE)) {
            end?;
        }
        begun = true;
        if end == Err(Status::NO_RESOURCE) {
            // Pending until the rest is posted.
            add_pending(req, 1);
            stall(req.worker(), part.remainder(done));
        } else {
            record_error(req, end);
        }
    }
    Ok(())
}

impl ActiveTransfer {
    /// Posts as much as the transport accepts. Returns the number of bytes, and why not more.
    fn post(&self) -> (usize, Result<()>) {
        if let Some(notification) = &self.notification {
            let end = post_notified(self.req, self.lane, self.transfer, notification);
            return (if end.is_ok() { self.transfer.len } else { 0 }, end);
        }
        let attr = &self.req.worker().ifaces[self.lane.iface].attr;
        let limit = most_at_once(attr, self.direction, self.transfer.memory);
        if limit == 0 {
            return (0, Err(Status::UNSUPPORTED));
        }
        let len = self.transfer.len;
        let mut done = 0;
        while done < len {
            let length = (len - done).min(limit).min(self.step);
            add_pending(self.req, 1);
            let code = self.post_block(self.transfer.part(done..done + length));
            if code != UCS_INPROGRESS {
                add_pending(self.req, -1);
            }
            if let Some(e) = Status::from_code(code) {
                return (done, Err(e));
            }
            done += length;
        }
        (done, Ok(()))
    }

    /// Posts a block that the transport takes at once; returns its status.
    fn post_block(&self, block_of: Transfer) -> ucs_status_t {
        let Transfer {
            local,
            memory,
            len,
            remote,
            rkey,
            guard,
        } = block_of;
        let (ep, comp) = (self.lane.ep, self.req.completion());
        let ops = ops_of(self.lane);
        let memh = match memory {
            LocalMemory::Plain | LocalMemory::Device => core::ptr::null_mut(),
            LocalMemory::Registered(memh) => memh,
            LocalMemory::Copied => return self.post_copied(ops, block_of),
        };
        let iov = block(local, len, memh);
        let op = match self.direction {
            Direction::Put => ops.ep_put_zcopy,
            Direction::Get => ops.ep_get_zcopy,
        };
        // SAFETY: a live transport endpoint; the user's buffer and the request's completion stay until
        // `on_completion`.
        unsafe {
            match (guard, op) {
                (Some(guard), _) => get_guarded(ep, &iov, remote, rkey, guard, comp),
                (None, Some(op)) => op(ep, &iov, 1, remote, rkey, comp),
                (None, None) => UCS_ERR_UNSUPPORTED,
            }
        }
    }

    /// As `post_block`, through a buffer of the transport. A put is out of the user's memory when this returns.
    fn post_copied(&self, ops: &uct_iface_ops, block: Transfer) -> ucs_status_t {
        let (ep, local) = (self.lane.ep, block.local.cast());
        match self.direction {
            Direction::Put => match put_at_once(self.lane, &block) {
                Ok(()) => UCS_OK,
                Err(e) => e.code(),
            },
            Direction::Get => {
                let Some(get) = ops.ep_get_bcopy else {
                    return UCS_ERR_UNSUPPORTED;
                };
                let (len, comp) = (block.len, self.req.completion());
                // SAFETY: as for a block that is read in place.
                unsafe {
                    get(
                        ep,
                        Some(unpack_to),
                        local,
                        len,
                        block.remote,
                        block.rkey,
                        comp,
                    )
                }
            }
        }
    }

    fn remainder(self, done: usize) -> ActiveTransfer {
        ActiveTransfer {
            transfer: self.transfer.part(done..self.transfer.len),
            ..self
        }
    }
}

/// Keeps the rest of a transfer until the transport has room.
fn stall(worker: &Core, rest: ActiveTransfer) {
    let stalled = &worker.proto().stalled_transfers;
    stalled.transfers.borrow_mut().push_back(rest);
    stalled.retry.start(worker, retry_stalled);
}

/// Whether a part that is to go by this lane is stalled.
pub fn is_stalled(worker: &Core, lane: Lane) -> bool {
    let stalled = worker.proto().stalled_transfers.transfers.borrow();
    stalled.iter().any(|active| active.lane == lane)
}

/// Removes the progress callback when nothing is stalled.
fn stop_retry_if_empty(worker: &Core) {
    let stalled = &worker.proto().stalled_transfers;
    if stalled.is_empty() {
        stalled.retry.stop(worker);
    }
}

/// Progress: posts more of the stalled transfers.
extern "C" fn retry_stalled(worker: &Core) -> c_uint {
    let mut posted = 0;
    // Each transfer once. A completion may remove others.
    let waiting = worker.proto().stalled_transfers.transfers.borrow().len();
    for _ in 0..waiting {
        let Some(active) = worker
            .proto()
            .stalled_transfers
            .transfers
            .borrow_mut()
            .pop_front()
        else {
            break;
        };
        let (done, end) = active.post();
        posted += u32::from(done > 0);
        if end == Err(Status::NO_RESOURCE) {
            let rest = active.remainder(done);
            worker
                .proto()
                .stalled_transfers
                .transfers
                .borrow_mut()
                .push_back(rest);
        } else {
            end_posting(active.req, end);
        }
    }
    stop_retry_if_empty(worker);
    posted
}

/// Ends the stalled transfers of an endpoint with `status`.
pub fn abort_stalled(ep: &Ep, status: Status) {
    let worker = ep.worker();
    // Who took the last one has stopped the calls.
    if worker.proto().stalled_transfers.is_empty() {
        return;
    }
    loop {
        let mut all = worker.proto().stalled_transfers.transfers.borrow_mut();
        let Some(at) = all.iter().position(|active| ep.has_lane(active.lane.ep)) else {
            break;
        };
        let active = all.remove(at);
        drop(all);
        if let Some(active) = active {
            end_posting(active.req, Err(status));
        }
    }
    stop_retry_if_empty(worker);
}

/// Most entries of a list that `send_message` takes.
pub const MAX_ENTRIES: usize = 8;

/// Sends a whole message: `header`, followed by a buffer of at most `MAX_ENTRIES`. Returns `NO_RESOURCE` when the caller has to try
/// again. Completes as `begin` does.
pub fn send_message(req: Req, ep: &Ep, id: AmId, header: &[u8], data: &Data) -> Result<()> {
    let lane = ep.lane();
    let (Some(op), Some(..=MAX_ENTRIES)) = (lane.am_zcopy, data.entries()) else {
        return Err(Status::UNSUPPORTED);
    };
    let mut iov = [block(core::ptr::null_mut(), 0, core::ptr::null_mut()); MAX_ENTRIES];
    let mut count = 0;
    data.each_block(|at, len| {
        iov[count] = block(at, len, core::ptr::null_mut());
        count += 1;
    });
    init_completion(req);
    add_pending(req, 1);
    let length = header.len() as u32;
    tracepoint::send(id as u8, header.len() + data.len());
    // SAFETY: a live transport endpoint, which copies the header; the user's buffer and the request's completion
    // stay until `on_completion`.
    let code = unsafe {
        op(
            lane.ep,
            id as u8,
            header.as_ptr().cast(),
            length,
            iov.as_ptr(),
            count,
            0,
            req.completion(),
        )
    };
    if code != UCS_INPROGRESS {
        add_pending(req, -1);
    }
    if let Some(e) = Status::from_code(code) {
        return Err(e);
    }
    ep.sends_in_place();
    all_posted(req, TransportHold::ByTransport);
    Ok(())
}

/// Posts a put that is followed by a notification.
fn post_notified(
    req: Req,
    lane: Lane,
    transfer: Transfer,
    notification: &Notification,
) -> Result<()> {
    let iov = block(transfer.local, transfer.len, core::ptr::null_mut());
    add_pending(req, 1);
    // SAFETY: a live transport endpoint and a live key; the user's buffer and the request's completion stay until
    // `on_completion`.
    let put = unsafe {
        let put_notify = base_of((*lane.ep).iface).internal.ops.put_notify;
        Iov::from_c(&iov, 1).and_then(|iov| {
            put_notify(
                lane.ep,
                iov,
                Remote::new(transfer.remote, transfer.rkey),
                notification.id,
                &notification.body[..notification.len],
                Completion(req.completion()),
            )
        })
    };
    if put != Ok(Posted::InProgress) {
        add_pending(req, -1);
    }
    put.map(drop)
}

/// Most bytes of one operation of a transport.
pub fn most_at_once(attr: &uct_iface_attr, direction: Direction, memory: LocalMemory) -> usize {
    match (direction, memory) {
        (Direction::Put, LocalMemory::Copied) => attr.cap.put.max_bcopy,
        (Direction::Get, LocalMemory::Copied) => attr.cap.get.max_bcopy,
        (Direction::Put, _) => attr.cap.put.max_zcopy,
        (Direction::Get, _) => attr.cap.get.max_zcopy,
    }
}

/// A put of at most one buffer of the lane's transport, without a request: through that buffer, so that the user's memory
/// is free afterwards. A flush of the lane confirms it.
pub fn put_at_once(lane: Lane, block: &Transfer) -> Result<()> {
    let put = ops_of(lane).ep_put_bcopy.ok_or(Status::UNSUPPORTED)?;
    let arg = core::ptr::from_ref(block).cast_mut().cast();
    // SAFETY: a live transport endpoint; the user's buffer, whose length the caller has compared. The block outlives the
    // call, in which it is packed.
    let sent = unsafe { put(lane.ep, Some(pack_block), arg, block.remote, block.rkey) };
    Status::check_length(sent).map(drop)
}

/// Packs a block of the user's memory.
unsafe extern "C" fn pack_block(dest: *mut c_void, arg: *mut c_void) -> usize {
    // SAFETY: `put_at_once` passes a transfer, whose memory is readable; the transport has room for it.
    unsafe {
        let block = &*arg.cast::<Transfer>();
        copy(block.local, dest.cast(), block.len);
        block.len
    }
}

/// Unpacks what was read to the user's memory.
unsafe extern "C" fn unpack_to(local: *mut c_void, from: *const c_void, len: usize) {
    // SAFETY: the block of the get, writable until its completion.
    unsafe { copy(from.cast(), local.cast(), len) };
}

/// The functions of a lane's transport.
#[inline]
fn ops_of<'a>(lane: Lane) -> &'a uct_iface_ops {
    // SAFETY: a live transport endpoint, whose interface outlives it.
    unsafe { &(*(*lane.ep).iface).ops }
}

/// How device code reaches the memory of a key: see `InternalIface::device_access`.
pub fn device_access(
    lane: Lane,
    key: &RemoteKey,
    (address, length): (u64, usize),
    near: usize,
) -> Result<DeviceMapping> {
    let Access::Device(rkey) = key.access else {
        return Err(Status::UNSUPPORTED);
    };
    // SAFETY: a live transport endpoint of ours, and a key that was unpacked for its transport, which `key` keeps.
    unsafe {
        let remote = Remote::new(address, rkey);
        (base_of((*lane.ep).iface).internal.ops.device_access)(lane.ep, remote, length, near)
    }
}

/// A guarded get, which C's op table lacks.
///
/// # Safety
/// As the op `ep_get_zcopy`.
unsafe fn get_guarded(
    ep: uct_ep_h,
    iov: &uct_iov_t,
    remote: u64,
    rkey: uct_rkey_t,
    guard: EpochGuard,
    comp: *mut uct_completion_t,
) -> ucs_status_t {
    // SAFETY: an endpoint of this library with a live key, by the caller's promise.
    let posted = unsafe {
        let (get, remote) = (
            base_of((*ep).iface).internal.ops.get_guarded,
            Remote::new(remote, rkey),
        );
        Iov::from_c(iov, 1).and_then(|iov| get(ep, iov, remote, guard, Completion(comp)))
    };
    match posted {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::InProgress) => UCS_INPROGRESS,
        Err(e) => e.code(),
    }
}

/// One block of memory in the form of the transports.
fn block(at: *mut u8, length: usize, memh: uct_mem_h) -> uct_iov_t {
    uct_iov_t {
        buffer: at.cast(),
        length,
        memh,
        stride: 0,
        count: 1,
    }
}

/// Initializes the request's completion with one pending part, which `all_posted` removes, so that it completes once.
fn init_completion(req: Req) {
    req.with_completion(|comp| {
        *comp = uct_completion_t {
            func: Some(on_completion),
            count: 1,
            status: UCS_OK,
        };
    });
}

/// Everything was posted or is stalled. The transfer may be complete already.
fn all_posted(req: Req, held: TransportHold) {
    req.give_to_transport(held);
    // The rest is moved, and the end reported, in progress. Where another thread makes it and sleeps, no event of the
    // transport need wake it: all may be with the kernel already.
    req.worker().wakeup.work_came();
    end_posting(req, Ok(()));
}

/// Removes the pending part that stood for the posting itself.
fn end_posting(req: Req, end: Result<()>) {
    record_error(req, end);
    add_pending(req, -1);
    if req.with_completion(|comp| comp.count == 0) {
        complete(req);
    }
}

/// Keeps an error for the completion.
fn record_error(req: Req, end: Result<()>) {
    if let Err(e) = end {
        req.with_completion(|comp| comp.status = e.code());
    }
}

fn add_pending(req: Req, by: c_int) {
    req.with_completion(|comp| comp.count += by);
}

/// A transport has completed the last part.
unsafe extern "C" fn on_completion(comp: *mut uct_completion_t) {
    // SAFETY: the completion of a request that is alive until this call reports it.
    complete(unsafe { Req::of_completion(comp) });
}

/// All parts have completed.
fn complete(req: Req) {
    let status = req.with_completion(|comp| comp.status);
    req.take_from_transport();
    let result = Status::from_code(status).map_or(Ok(()), Err);
    Op::on_transfers_done(req, result);
}
