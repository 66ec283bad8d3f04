//! The cma interface: its attributes and address, the transfers under way, and the news of peers' ends.

use super::config;
use super::ep::CmaEp;
use super::peer;
use super::queue::{MAX_IOV, Queue};
use super::wire;
use crate::c::*;
use crate::sys::lock::Mutex;
use crate::sys::vm_rw::CopyDirection;
use crate::ucs::config::{Config, var};
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::{Failure, Result, Status};
use crate::ucs_debug;
use crate::uct::api::{Completion, Iface, Posted, Remote, WaitingRequest};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::node;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::pending::PendingQueue;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::{EpochGuard, InternalIface};
use crate::uct::local::{Membership, ProcessName};
use core::cell::RefCell;
use core::ffi::{c_int, c_void};
use std::sync::Arc;

pub const NAME: &str = "cma";

/// Seconds of a call into the kernel with two processes' page tables, and until the first byte moves:
/// the order of magnitude of current machines, as the bandwidth row; only ratios matter to users.
const OVERHEAD: f64 = 1e-6;
const LATENCY: f64 = 80e-9;

pub struct CmaIface {
    membership: Membership,
    pub segment: usize,
    quota: u32,
    pub max_iov: usize,
    pub max_transfers: usize,
    bandwidth: f64,
    pub queue: Queue,
    pub pending: PendingQueue,
    /// Endpoints that are open.
    eps: RefCell<Vec<uct_ep_h>>,
    pub alarm: Arc<Alarm>,
}

/// How the thread that watches peers reaches the interface's owner.
pub struct Alarm {
    /// Some endpoint's peer has ended, and progress has not looked yet.
    rung: AtomicBool,
    /// The user's event callback; `None` from the closing on.
    call: Mutex<Option<EventCall>>,
}

struct EventCall {
    cb: unsafe extern "C" fn(*mut c_void, u32),
    arg: *mut c_void,
}

// SAFETY: the user gave callback and argument to be called from any thread.
unsafe impl Send for EventCall {}

impl Alarm {
    /// Called by the thread that watches peers.
    pub fn ring(alarm: &Alarm) {
        // Release: pairs with the Acquire in `Iface::progress`.
        alarm.rung.store(true, Ordering::Release);
        if let Some(call) = &*alarm.call.lock() {
            // SAFETY: the interface is open: closing takes the call away under the lock.
            unsafe { (call.cb)(call.arg, 0) };
        }
    }
}

impl CmaIface {
    pub fn open(
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        debug_assert!(core::ptr::eq(config.table, &config::IFACE));
        let (max_iov, segment) = (
            config.ulong(var!(config::IFACE, "MAX_IOV")),
            config.memunits(var!(config::IFACE, "SEG_SIZE")),
        );
        if max_iov == 0 || segment == 0 {
            return Err(Failure::new(
                Status::INVALID_PARAM,
                "UCX_CMA_MAX_IOV and UCX_CMA_SEG_SIZE must be above 0",
            ));
        }
        let call = params
            .async_event
            .and_then(|(cb, arg)| cb.map(|cb| EventCall { cb, arg }));
        let tl = CmaIface {
            membership: peer::open()?,
            segment,
            // A quota of 0 would never finish anything.
            quota: config.uint(var!(config::IFACE, "TX_QUOTA")).max(1),
            max_iov: max_iov.min(MAX_IOV),
            // Negative: no limit. At least one, or nothing could be sent.
            max_transfers: usize::try_from(config.int(var!(config::IFACE, "TX_MAX_BUFS")))
                .map_or(usize::MAX, |n| n.max(1)),
            bandwidth: config.bandwidth(var!(config::IFACE, "BW")),
            queue: Queue::default(),
            pending: PendingQueue::new(),
            eps: RefCell::new(Vec::new()),
            alarm: Arc::new(Alarm {
                rung: AtomicBool::new(false),
                call: Mutex::new(call),
            }),
        };
        Ok(IfaceBox::open(NAME, device, worker, params, tl))
    }

    /// Breaks off the endpoints whose peer has ended, what was under way with them included.
    #[cold]
    fn look_for_dead(face: &IfaceBox<Self>) {
        let open: Vec<uct_ep_h> = face.eps.borrow().clone();
        for h in open {
            // A completion may have destroyed an endpoint meanwhile.
            if !face.eps.borrow().contains(&h) {
                continue;
            }
            // SAFETY: open, by the list.
            let ep = unsafe { EpBox::<CmaIface>::from_c(h) };
            if ep.is_dead() && ep.queue.broken().is_none() {
                ucs_debug!("cma: the peer of endpoint {h:p} has ended");
                let queue = std::rc::Rc::clone(&ep.queue);
                face.queue.abort(&queue, Status::CONNECTION_RESET);
                face.queue.drain(&queue, Err(Status::CONNECTION_RESET));
            }
        }
    }
}

impl Iface for CmaIface {
    type Ep = CmaEp;

    fn query(face: &IfaceBox<Self>, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_PUT_ZCOPY
            | UCT_IFACE_FLAG_GET_ZCOPY
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE
            | UCT_IFACE_FLAG_EP_CHECK;
        attr.cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP
            | UCT_IFACE_FLAG_EVENT_RECV
            | UCT_IFACE_FLAG_EVENT_ASYNC_CB;
        attr.cap.put.max_zcopy = usize::MAX;
        attr.cap.put.opt_zcopy_align = 1;
        attr.cap.put.align_mtu = 1;
        attr.cap.put.max_iov = face.max_iov;
        attr.cap.get.max_zcopy = usize::MAX;
        attr.cap.get.opt_zcopy_align = 1;
        attr.cap.get.align_mtu = 1;
        attr.cap.get.max_iov = face.max_iov;
        attr.cap.am.opt_zcopy_align = 1;
        attr.cap.am.align_mtu = 1;
        attr.device_addr_len = node::LEN;
        attr.iface_addr_len = wire::LEN;
        attr.bandwidth.dedicated = face.bandwidth;
        attr.latency = ucs_linear_func_t { c: LATENCY, m: 0.0 };
        attr.overhead = OVERHEAD;
    }

    #[inline]
    fn progress(face: &IfaceBox<Self>) -> u32 {
        let mut events = 0;
        // Acquire: pairs with the Release in `Alarm::ring`. Taken back before the look, so that a ring
        // meanwhile is looked at next time.
        if face.alarm.rung.load(Ordering::Relaxed) && face.alarm.rung.swap(false, Ordering::Acquire)
        {
            Self::look_for_dead(face);
        }
        while events < face.quota && face.queue.step(face.segment) {
            events += 1;
        }
        while let Some((h, why)) = face.queue.next_failed() {
            // SAFETY: the endpoint is open: closing takes its handle off the queue.
            unsafe { EpBox::<CmaIface>::from_c(h) }.fail(why);
            events += 1;
        }
        if !face.pending.is_empty() && face.queue.transfers() < face.max_transfers {
            events += face.pending.dispatch();
        }
        events
    }

    fn device_address(_face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        Ok(node::packed().to_vec())
    }

    fn iface_address(face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        Ok(wire::encode(face.membership.name).to_vec())
    }

    fn is_reachable(
        _face: &IfaceBox<Self>,
        device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        read_addresses(device, iface).is_ok_and(|a| peer::reach(a).is_ok())
    }

    fn ep_create(face: &IfaceBox<Self>, params: &EpParams) -> Result<CmaEp> {
        CmaEp::create(face, params)
    }

    fn ep_created(ep: &EpBox<Self>) {
        ep.queue.handle.set(ep.as_c());
        ep.face().eps.borrow_mut().push(ep.as_c());
    }

    fn ep_closing(ep: &EpBox<Self>) {
        let face = ep.face();
        face.eps.borrow_mut().retain(|&other| other != ep.as_c());
        ep.pending.close();
        face.queue.close(&ep.queue);
    }

    fn closing(face: &IfaceBox<Self>) {
        // From here on the user's event callback is not called, and is not running.
        *face.alarm.call.lock() = None;
    }

    #[inline]
    fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        ep.post(
            ep.face(),
            CopyDirection::Write,
            iov,
            remote.address(),
            None,
            comp,
        )
    }

    #[inline]
    fn get_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        ep.post(
            ep.face(),
            CopyDirection::Read,
            iov,
            remote.address(),
            None,
            comp,
        )
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        let face = ep.face();
        if face.queue.transfers() < face.max_transfers && ep.pending.is_empty() {
            return Err(Status::BUSY);
        }
        face.pending.add(&ep.pending, req);
        Ok(())
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        ep.pending.purge(each);
    }

    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        let queue = &ep.face().queue;
        if flags & UCT_FLUSH_FLAG_CANCEL != 0 {
            queue.drain(&std::rc::Rc::clone(&ep.queue), Err(Status::CANCELED));
            return Ok(Posted::Done);
        }
        if let Some(why) = ep.queue.broken() {
            return Err(why);
        }
        if ep.queue.is_empty() {
            return Ok(Posted::Done);
        }
        if !comp.is_none() {
            queue.flush(&ep.queue, comp);
        }
        Ok(Posted::InProgress)
    }

    fn iface_flush(face: &IfaceBox<Self>, _flags: u32, comp: Completion) -> Result<Posted> {
        if face.queue.is_empty() {
            return Ok(Posted::Done);
        }
        if !comp.is_none() {
            face.queue.flush_all(comp);
        }
        Ok(Posted::InProgress)
    }

    fn check(ep: &EpBox<Self>, _flags: u32, _comp: Completion) -> Result<Posted> {
        ep.check(ep.face())
    }

    fn event_arm(face: &IfaceBox<Self>, _events: c_int) -> Result<()> {
        if face.queue.is_empty() {
            Ok(())
        } else {
            Err(Status::BUSY)
        }
    }
}

impl InternalIface for CmaIface {
    fn get_guarded(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        guard: EpochGuard,
        comp: Completion,
    ) -> Result<Posted> {
        ep.post(
            ep.face(),
            CopyDirection::Read,
            iov,
            remote.address(),
            Some(guard),
            comp,
        )
    }
}

/// The peer's address, if it is of this host and of our format; `INVALID_PARAM` if one of both is missing or too short.
pub fn read_addresses(
    device: Option<GivenAddress<'_>>,
    iface: Option<GivenAddress<'_>>,
) -> Result<ProcessName> {
    let device = device.and_then(|device| device.bytes());
    let iface = iface.and_then(|iface| iface.bytes::<{ wire::LEN }>());
    let (device, iface) = device.zip(iface).ok_or(Status::INVALID_PARAM)?;
    if !node::is_ours(device) {
        ucs_debug!("cma: the peer is on another host or in other namespaces");
        return Err(Status::UNREACHABLE);
    }
    wire::decode(&iface).ok_or(Status::INVALID_ADDR)
}
