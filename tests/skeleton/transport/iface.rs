//! The data path of the skeleton: buffered active messages, delivered by the receiver's progress.

use super::NAME;
use core::cell::{Cell, RefCell};
use ferrucx::c::*;
use ferrucx::ucs::{Result, Status};
use ferrucx::uct::api::{Iface, Pack};
use ferrucx::uct::base::iface::{EpBox, IfaceBox};
use ferrucx::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use ferrucx::uct::base::worker::WorkerHandle;
use ferrucx::uct::internal::InternalIface;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Most bytes of a message.
const MAX_MESSAGE: usize = 1024;
/// Bytes of an interface address: its number in this thread.
const ADDRESS: usize = 8;

type Queue = Rc<RefCell<VecDeque<(u8, Vec<u8>)>>>;

thread_local! {
    static OPEN: RefCell<HashMap<u64, Queue>> = RefCell::default();
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

pub struct SkeletonIface {
    number: u64,
    queue: Queue,
}

pub struct SkeletonEp(Queue);

pub fn open(worker: &WorkerHandle, device: &str, params: IfaceParams) -> uct_iface_h {
    let (number, queue) = (NEXT.replace(NEXT.get() + 1), Queue::default());
    OPEN.with_borrow_mut(|open| open.insert(number, Rc::clone(&queue)));
    IfaceBox::open(
        NAME,
        device,
        worker,
        params,
        SkeletonIface { number, queue },
    )
}

/// The queue of the interface with this address.
///
/// # Safety
/// `address` must be readable for `ADDRESS` bytes.
fn queue_at(address: GivenAddress<'_>) -> Option<Queue> {
    let number = u64::from_le_bytes(address.bytes()?);
    OPEN.with_borrow(|open| open.get(&number).cloned())
}

impl Iface for SkeletonIface {
    type Ep = SkeletonEp;

    fn query(_face: &IfaceBox<Self>, attr: &mut uct_iface_attr) {
        attr.iface_addr_len = ADDRESS;
        attr.cap.flags =
            UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_CB_SYNC;
        attr.cap.am.max_bcopy = MAX_MESSAGE;
        attr.cap.am.max_iov = 1;
        attr.bandwidth.dedicated = 1e9;
    }

    fn iface_address(face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        Ok(face.number.to_le_bytes().to_vec())
    }

    fn is_reachable(
        _face: &IfaceBox<Self>,
        _device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        iface.is_none_or(|iface| queue_at(iface).is_some())
    }

    fn ep_create(_face: &IfaceBox<Self>, params: &EpParams) -> Result<SkeletonEp> {
        let queue = params.iface.and_then(queue_at);
        queue.map(SkeletonEp).ok_or(Status::UNREACHABLE)
    }

    fn closing(face: &IfaceBox<Self>) {
        OPEN.with_borrow_mut(|open| open.remove(&face.number));
    }

    fn am_bcopy(ep: &EpBox<Self>, id: u8, pack: Pack, _flags: u32) -> Result<usize> {
        let mut bytes = vec![0; MAX_MESSAGE];
        // SAFETY: room for `max_bcopy` bytes.
        let len = unsafe { pack.pack_into(bytes.as_mut_ptr()) };
        bytes.truncate(len);
        ep.tl.0.borrow_mut().push_back((id, bytes));
        Ok(len)
    }

    fn progress(face: &IfaceBox<Self>) -> u32 {
        let Some((id, mut bytes)) = face.queue.borrow_mut().pop_front() else {
            return 0;
        };
        // SAFETY: the message's bytes; without the DESC flag the handler keeps nothing.
        unsafe { face.base.am.invoke(id, bytes.as_mut_ptr(), bytes.len(), 0) };
        1
    }
}

impl InternalIface for SkeletonIface {}
