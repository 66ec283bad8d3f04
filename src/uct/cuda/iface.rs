//! The interface and the endpoint of `cuda_copy`: puts and gets between the host's and devices' memory of this process.
//!
//! Short ones end with the call. Others are a copy on a stream and an event behind it, which progress asks; they complete
//! in the order in which they were posted.

use super::config;
use super::copier::{Copier, Range};
use crate::c::*;
use crate::sys::cuda::Copying;
use crate::sys::eventfd::EventFd;
use crate::sys::fork::PerProcess;
use crate::sys::random::random_u64;
use crate::ucs::config::{Config, var};
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Iface, Posted};
use crate::uct::base::copy::copy;
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::memory_copier::MemoryCopier;
use crate::uct::base::params::{EpParams, IfaceParams};
use crate::uct::base::pending::{PendingGroup, PendingQueue};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::InternalIface;
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::cell::{Cell, OnceCell, RefCell};
use core::ffi::c_int;
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;

pub const NAME: &str = "cuda_copy";

/// Bytes of an interface address.
const ADDR_LEN: usize = 8;
/// Seconds until a copy begins: upstream's, by which programs choose.
pub const LATENCY: f64 = 8e-6;

/// Tells this process from every other: all interfaces of it reach each other.
static PROCESS: PerProcess<Option<u64>> = PerProcess::new(|| random_u64().ok());

/// What is completed in turn.
enum Waiting {
    Copy(Copying, Completion),
    Flush(Completion),
}

pub struct CudaIface {
    copier: Arc<Copier>,
    address: u64,
    waiting: RefCell<VecDeque<Waiting>>,
    pending: PendingQueue,
    /// Signalled by the driver; there once somebody has asked for it.
    event: OnceCell<Arc<EventFd>>,
    /// The event is armed, and no progress was made since.
    armed: Cell<bool>,
    bandwidth: f64,
    max_poll: u32,
    max_events: usize,
}

pub struct CudaEp {
    pending: Rc<PendingGroup>,
}

type Face = IfaceBox<CudaIface>;

impl CudaIface {
    pub fn open(
        copier: &Arc<Copier>,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> Result<uct_iface_h> {
        let tl = CudaIface {
            copier: Arc::clone(copier),
            address: PROCESS.get().ok_or(Status::IO_ERROR)?,
            waiting: RefCell::default(),
            pending: PendingQueue::new(),
            event: OnceCell::new(),
            armed: Cell::new(false),
            bandwidth: config::bandwidths(config)?.told,
            // One at least, or nothing would ever end.
            max_poll: config.uint(var!(config::IFACE, "MAX_POLL")).max(1),
            max_events: config.uint(var!(config::IFACE, "MAX_EVENTS")).max(1) as usize,
        };
        Ok(IfaceBox::open(NAME, device, worker, params, tl))
    }

    fn has_room(&self) -> bool {
        self.waiting.borrow().len() < self.max_events
    }

    /// Starts a copy.
    ///
    /// # Safety
    /// Both ranges must be valid until the copy ends.
    unsafe fn post(&self, range: Range, comp: Completion) -> Result<Posted> {
        if range.length == 0 {
            return Ok(Posted::Done);
        }
        if !self.has_room() {
            return Err(Status::NO_RESOURCE);
        }
        // SAFETY: by the caller's promise.
        match unsafe { self.copier.start(range) }? {
            Some(copying) => {
                if self.armed.get() {
                    self.signal_when_done(&copying)?;
                }
                let waiting = Waiting::Copy(copying, comp);
                self.waiting.borrow_mut().push_back(waiting);
                Ok(Posted::InProgress)
            }
            None => {
                // SAFETY: by the caller's promise.
                unsafe { copy(range.from, range.to, range.length) };
                Ok(Posted::Done)
            }
        }
    }

    fn event(&self) -> Result<&Arc<EventFd>> {
        if let Some(event) = self.event.get() {
            return Ok(event);
        }
        let event = EventFd::new().map_err(|e| {
            ucs_error!("{NAME}: no event descriptor: {e}");
            Status::IO_ERROR
        })?;
        Ok(self.event.get_or_init(|| Arc::new(event)))
    }

    /// Has the event descriptor signalled when a copy has ended. Where the driver does not, progress tells why.
    fn signal_when_done(&self, copying: &Copying) -> Result<()> {
        let event = self.event()?;
        if let Err(e) = copying.signal_when_done(event) {
            ucs_debug!("{NAME}: no event for the end of a copy: {e}");
            event.signal();
        }
        Ok(())
    }

    /// The next completion whose turn it is, with its result.
    fn next_done(&self) -> Option<(Completion, Result<()>)> {
        let mut waiting = self.waiting.borrow_mut();
        let result = match waiting.front()? {
            Waiting::Copy(copying, _) => match copying.is_done() {
                Ok(false) => return None,
                Ok(true) => Ok(()),
                Err(e) => {
                    ucs_error!("{NAME}: a copy failed: {e}");
                    Err(e.into())
                }
            },
            Waiting::Flush(_) => Ok(()),
        };
        match waiting.pop_front()? {
            Waiting::Copy(_, comp) | Waiting::Flush(comp) => Some((comp, result)),
        }
    }

    fn flush_all(&self, comp: Completion) -> Result<Posted> {
        if self.waiting.borrow().is_empty() {
            return Ok(Posted::Done);
        }
        if !comp.is_none() {
            self.waiting.borrow_mut().push_back(Waiting::Flush(comp));
        }
        Ok(Posted::InProgress)
    }
}

/// The one entry of a list.
fn single(iov: &Iov<'_>) -> Result<(*mut u8, usize)> {
    if iov.entries().len() > 1 {
        ucs_error!(
            "{NAME}: a list of {} entries; one is supported",
            iov.entries().len()
        );
        return Err(Status::INVALID_PARAM);
    }
    let length = iov.total()?;
    let entry = iov.entries().first();
    Ok((
        entry.map_or(core::ptr::null_mut(), |e| e.buffer.cast()),
        length,
    ))
}

impl Iface for CudaIface {
    type Ep = CudaEp;

    fn query(face: &Face, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_PUT_SHORT
            | UCT_IFACE_FLAG_PUT_ZCOPY
            | UCT_IFACE_FLAG_GET_SHORT
            | UCT_IFACE_FLAG_GET_ZCOPY;
        attr.cap.event_flags =
            UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
        attr.cap.put.max_short = u32::MAX as usize;
        attr.cap.put.max_zcopy = usize::MAX;
        attr.cap.put.opt_zcopy_align = 1;
        attr.cap.put.align_mtu = 1;
        attr.cap.put.max_iov = 1;
        attr.cap.get.max_short = u32::MAX as usize;
        attr.cap.get.max_zcopy = usize::MAX;
        attr.cap.get.opt_zcopy_align = 1;
        attr.cap.get.align_mtu = 1;
        attr.cap.get.max_iov = 1;
        attr.iface_addr_len = ADDR_LEN;
        attr.bandwidth.shared = face.bandwidth;
        attr.latency = ucs_linear_func_t { c: LATENCY, m: 0.0 };
    }

    fn progress(face: &Face) -> u32 {
        let mut events = 0;
        face.armed.set(false);
        while events < face.max_poll
            && let Some((comp, result)) = face.next_done()
        {
            comp.complete(result);
            events += 1;
        }
        if !face.pending.is_empty() && face.has_room() {
            events += face.pending.dispatch();
        }
        events
    }

    unsafe fn iface_address(face: &Face, out: *mut u8) -> Result<()> {
        let bytes = face.address.to_le_bytes();
        // SAFETY: room for `iface_addr_len` bytes, any alignment.
        unsafe { out.cast::<[u8; ADDR_LEN]>().write(bytes) };
        Ok(())
    }

    unsafe fn is_reachable(face: &Face, _device: *const u8, iface: *const u8) -> bool {
        // SAFETY: non-null addresses have our length; any alignment.
        !iface.is_null() && unsafe { read_address(iface) } == face.address
    }

    fn ep_create(face: &Face, params: &EpParams) -> Result<CudaEp> {
        if params.iface_addr.is_null() || params.iface_addr_len.is_some_and(|n| n < ADDR_LEN) {
            return Err(Status::INVALID_PARAM);
        }
        // SAFETY: an address of our length.
        if unsafe { read_address(params.iface_addr) } != face.address {
            ucs_diag!("{NAME}: the address is another process's; only the own memory is reachable");
            return Err(Status::UNREACHABLE);
        }
        Ok(CudaEp {
            pending: PendingGroup::new(),
        })
    }

    fn ep_closing(ep: &EpBox<Self>) {
        ep.pending.close();
    }

    unsafe fn put_short(
        ep: &EpBox<Self>,
        src: *const u8,
        len: usize,
        remote: u64,
        _rkey: uct_rkey_t,
    ) -> Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { ep.face().copier.copy(remote as *mut u8, src, len) }
    }

    unsafe fn get_short(
        ep: &EpBox<Self>,
        dst: *mut u8,
        len: usize,
        remote: u64,
        _rkey: uct_rkey_t,
    ) -> Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { ep.face().copier.copy(dst, remote as *const u8, len) }
    }

    unsafe fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: u64,
        _rkey: uct_rkey_t,
        comp: Completion,
    ) -> Result<Posted> {
        let (from, length) = single(&iov)?;
        let range = Range {
            to: remote as *mut u8,
            from,
            length,
        };
        // SAFETY: the user keeps the buffer until the completion.
        unsafe { ep.face().post(range, comp) }
    }

    unsafe fn get_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: u64,
        _rkey: uct_rkey_t,
        comp: Completion,
    ) -> Result<Posted> {
        let (to, length) = single(&iov)?;
        let range = Range {
            to,
            from: remote as *const u8,
            length,
        };
        // SAFETY: the user keeps the buffer until the completion.
        unsafe { ep.face().post(range, comp) }
    }

    unsafe fn pending_add(
        ep: &EpBox<Self>,
        req: *mut uct_pending_req_t,
        _flags: u32,
    ) -> Result<()> {
        let face = ep.face();
        if face.has_room() && ep.pending.is_empty() {
            return Err(Status::BUSY);
        }
        face.pending.add(&ep.pending, req);
        Ok(())
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(*mut uct_pending_req_t)) {
        ep.pending.purge(each);
    }

    /// Waits for the copies of all endpoints: they end in turn.
    fn flush(ep: &EpBox<Self>, _flags: u32, comp: Completion) -> Result<Posted> {
        ep.face().flush_all(comp)
    }

    fn iface_flush(face: &Face, _flags: u32, comp: Completion) -> Result<Posted> {
        face.flush_all(comp)
    }

    fn event_fd(face: &Face) -> Result<RawFd> {
        face.event().map(|event| event.raw())
    }

    /// The driver signals the end of the oldest copy; that of others matters only after it.
    fn event_arm(face: &Face, _events: c_int) -> Result<()> {
        face.event()?.clear();
        match face.waiting.borrow().front() {
            Some(Waiting::Copy(copying, _)) if !copying.is_done().unwrap_or(true) => {
                face.signal_when_done(copying)?;
            }
            Some(_) => return Err(Status::BUSY),
            None if !face.pending.is_empty() => return Err(Status::BUSY),
            None => {}
        }
        face.armed.set(true);
        Ok(())
    }
}

impl InternalIface for CudaIface {}

/// # Safety
/// `addr` must be readable for `ADDR_LEN` bytes.
unsafe fn read_address(addr: *const u8) -> u64 {
    // SAFETY: by the caller's promise; any alignment.
    u64::from_le_bytes(unsafe { addr.cast::<[u8; ADDR_LEN]>().read() })
}
