//! The interface whose endpoints send by a `Carrier`.

use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Iface, Pack, Posted, WaitingRequest};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::pending::{PendingGroup, PendingQueue};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::InternalIface;
use core::cell::{Cell, RefCell};
use std::rc::Rc;

/// What carries the messages of an endpoint. None of these functions may call the user of the endpoint.
pub trait Carrier {
    /// Whether `send` takes a message.
    fn has_room(&self) -> bool;

    /// Takes a message.
    fn send(&self, id: u8, message: Vec<u8>) -> Result<()>;

    /// Completes `comp` when all that was taken before has arrived, if it has not yet.
    fn flush(&self, comp: Completion) -> Result<Posted>;

    /// Checks that the peer lives.
    fn check(&self);

    /// The endpoint is destroyed. What was taken still goes out.
    fn closed(&self);
}

struct OverlayIface {
    max_bcopy: usize,
    pending: PendingQueue,
    /// Of the endpoint that is being made.
    carrier: RefCell<Option<Rc<dyn Carrier>>>,
    /// Where messages are packed.
    scratch: RefCell<Vec<u8>>,
}

struct OverlayEp {
    carrier: Rc<dyn Carrier>,
    group: Rc<PendingGroup>,
    at: Rc<At>,
}

/// Where an endpoint is; null when it is destroyed.
type At = Cell<*const EpBox<OverlayIface>>;

/// An open interface. Its endpoints are destroyed before it goes.
pub struct Overlay(uct_iface_h);

/// An endpoint as its carrier knows it.
pub struct Endpoint(Rc<At>);

impl Overlay {
    /// Opens one whose messages have at most `max_bcopy` bytes.
    pub fn open(worker: &WorkerHandle, params: IfaceParams, max_bcopy: usize) -> Overlay {
        let tl = OverlayIface {
            max_bcopy,
            pending: PendingQueue::new(),
            carrier: RefCell::new(None),
            scratch: RefCell::new(Vec::new()),
        };
        Overlay(IfaceBox::open("overlay", "", worker, params, tl))
    }

    fn face(&self) -> &IfaceBox<OverlayIface> {
        // SAFETY: opened above, closed when this goes.
        unsafe { IfaceBox::from_c(self.0) }
    }

    pub fn max_bcopy(&self) -> usize {
        self.face().tl.max_bcopy
    }

    /// The function that sends by its endpoints.
    pub fn am_bcopy(&self) -> uct_ep_am_bcopy_func_t {
        // SAFETY: as in `face`.
        unsafe { (*self.0).ops.ep_am_bcopy }
    }

    /// Makes an endpoint.
    pub fn connect(&self, carrier: Rc<dyn Carrier>) -> Result<(uct_ep_h, Endpoint)> {
        self.face().tl.carrier.replace(Some(carrier));
        EpBox::create_unconnected(self.face(), |ep| Endpoint(Rc::clone(&ep.tl.at)))
    }

    /// Carriers have room again: calls who waits for it.
    pub fn dispatch(&self) {
        self.face().tl.pending.dispatch();
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        // SAFETY: opened by `open`, closed once.
        unsafe { IfaceBox::<OverlayIface>::close(self.0) };
    }
}

impl Endpoint {
    /// Reports that the peer cannot be reached any more, unless the endpoint is destroyed. Calls its user.
    pub fn fail(&self, status: Status) {
        let at = self.0.get();
        if !at.is_null() {
            // SAFETY: set to null before the endpoint goes.
            let ep = unsafe { &*at };
            ep.tl.group.suspend();
            ep.fail(status);
        }
    }
}

impl Iface for OverlayIface {
    type Ep = OverlayEp;
    /// Who carries the messages polls.
    const POLLS: bool = false;

    fn query(face: &IfaceBox<Self>, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_AM_BCOPY
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_CB_SYNC
            | UCT_IFACE_FLAG_EP_CHECK
            | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
        attr.cap.am.max_bcopy = face.tl.max_bcopy;
    }

    /// It has no address.
    fn is_reachable(
        _face: &IfaceBox<Self>,
        _device: Option<GivenAddress<'_>>,
        _iface: Option<GivenAddress<'_>>,
    ) -> bool {
        false
    }

    fn ep_create(face: &IfaceBox<Self>, _params: &EpParams) -> Result<OverlayEp> {
        Ok(OverlayEp {
            carrier: face.tl.carrier.take().ok_or(Status::INVALID_PARAM)?,
            group: PendingGroup::new(),
            at: Rc::new(Cell::new(core::ptr::null())),
        })
    }

    fn ep_created(ep: &EpBox<Self>) {
        ep.tl.at.set(ep);
    }

    fn ep_closing(ep: &EpBox<Self>) {
        ep.tl.at.set(core::ptr::null());
        ep.tl.group.close();
        ep.tl.carrier.closed();
    }

    fn am_bcopy(ep: &EpBox<Self>, id: u8, pack: Pack, _flags: u32) -> Result<usize> {
        if !ep.tl.carrier.has_room() {
            return Err(Status::NO_RESOURCE);
        }
        // A pack function of the user's may send by another endpoint.
        let mut scratch = ep.face().tl.scratch.take();
        scratch.resize(ep.face().tl.max_bcopy, 0);
        // SAFETY: room for `max_bcopy` bytes.
        let len = unsafe { pack.pack_into(scratch.as_mut_ptr()) };
        let message = scratch.get(..len).map(<[u8]>::to_vec);
        ep.face().tl.scratch.replace(scratch);
        ep.tl
            .carrier
            .send(id, message.ok_or(Status::INVALID_PARAM)?)?;
        Ok(len)
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        if ep.tl.carrier.has_room() {
            return Err(Status::BUSY);
        }
        ep.face().tl.pending.add(&ep.tl.group, req);
        Ok(())
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        ep.tl.group.purge(each);
    }

    /// What was taken is copied: there is nothing to cancel.
    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        match flags & UCT_FLUSH_FLAG_CANCEL {
            0 => ep.tl.carrier.flush(comp),
            _ => Ok(Posted::Done),
        }
    }

    fn check(ep: &EpBox<Self>, _flags: u32, _comp: Completion) -> Result<Posted> {
        ep.tl.carrier.check();
        Ok(Posted::Done)
    }
}

impl InternalIface for OverlayIface {}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_void;

    #[derive(Default)]
    struct Recorder {
        full: Cell<bool>,
        sent: RefCell<Vec<(u8, Vec<u8>)>>,
        closed: Cell<bool>,
    }

    impl Carrier for Recorder {
        fn has_room(&self) -> bool {
            !self.full.get()
        }
        fn send(&self, id: u8, message: Vec<u8>) -> Result<()> {
            self.sent.borrow_mut().push((id, message));
            Ok(())
        }
        fn flush(&self, _comp: Completion) -> Result<Posted> {
            Ok(Posted::InProgress)
        }
        fn check(&self) {}
        fn closed(&self) {
            self.closed.set(true);
        }
    }

    unsafe extern "C" fn pack(to: *mut c_void, length: *mut c_void) -> usize {
        let length = length.addr();
        // SAFETY: room for `max_bcopy` bytes, as the tests' lengths are.
        unsafe { to.cast::<u8>().write_bytes(7, length) };
        length
    }

    thread_local! {
        static FAILED: Cell<ucs_status_t> = const { Cell::new(UCS_OK) };
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }

    unsafe extern "C" fn on_error(
        _arg: *mut c_void,
        _ep: uct_ep_h,
        status: ucs_status_t,
    ) -> ucs_status_t {
        FAILED.set(status);
        UCS_OK
    }

    unsafe extern "C" fn on_room(_req: *mut uct_pending_req_t) -> ucs_status_t {
        CALLS.set(CALLS.get() + 1);
        UCS_OK
    }

    #[test]
    fn messages_go_to_the_carrier_while_it_has_room() {
        let handle = WorkerHandle::create(core::ptr::null_mut());
        // SAFETY: just made, and destroyed last.
        let worker = unsafe { WorkerHandle::from_c(handle) }.unwrap();
        let params = IfaceParams {
            err_handler: Some(on_error),
            ..IfaceParams::default()
        };
        let overlay = Overlay::open(worker, params, 100);
        let carrier = Rc::new(Recorder::default());
        let (ep, endpoint) = overlay.connect(carrier.clone()).unwrap();
        let mut waiting = uct_pending_req_t {
            func: Some(on_room),
            r#priv: [0; UCT_PENDING_REQ_PRIV_LEN],
        };
        // SAFETY: a live endpoint; every op is set; `waiting` is off the queue when it goes.
        unsafe {
            let ops = &(*(*ep).iface).ops;
            let send = |length: usize| {
                let length = core::ptr::without_provenance_mut(length);
                ops.ep_am_bcopy.unwrap()(ep, 3, Some(pack), length, 0)
            };
            assert_eq!(send(100), 100);
            assert_eq!(*carrier.sent.borrow(), [(3, vec![7; 100])]);
            let wait = ops.ep_pending_add.unwrap();
            assert_eq!(wait(ep, &mut waiting, 0), UCS_ERR_BUSY);
            carrier.full.set(true);
            assert_eq!(send(1), UCS_ERR_NO_RESOURCE as isize);
            assert_eq!(wait(ep, &mut waiting, 0), UCS_OK);
            carrier.full.set(false);
            overlay.dispatch();
            assert_eq!((CALLS.get(), carrier.sent.borrow().len()), (1, 1));
            endpoint.fail(Status::CONNECTION_RESET);
            assert_eq!(FAILED.replace(UCS_OK), UCS_ERR_CONNECTION_RESET);
            ops.ep_destroy.unwrap()(ep);
            endpoint.fail(Status::CONNECTION_RESET);
            assert!(carrier.closed.get() && FAILED.get() == UCS_OK);
        }
        drop(overlay);
        // SAFETY: nothing is open on it.
        unsafe { WorkerHandle::destroy(handle) };
    }
}
