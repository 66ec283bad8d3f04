//! Pending requests: sends that wait for room, called in turn.
//!
//! Each endpoint has a `PendingGroup`; the interface has a `PendingQueue` that serves the groups
//! round robin, one request a turn, so that no endpoint starves another. Requests are the user's
//! memory and are only pointed to. A request is off the queue while its function runs, so the
//! function may free it, queue it again, queue others, or purge.

use crate::c::*;
use crate::ucs::front_queue::FrontQueue;
use crate::uct::api::WaitingRequest;
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// The requests of one endpoint, in order.
pub struct PendingGroup {
    requests: RefCell<FrontQueue<WaitingRequest>>,
    /// In the interface's queue.
    queued: Cell<bool>,
    closed: Cell<bool>,
    /// The endpoint has failed: its requests wait for a purge.
    suspended: Cell<bool>,
}

impl PendingGroup {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Rc<PendingGroup> {
        Rc::new(PendingGroup {
            requests: RefCell::new(FrontQueue::new()),
            queued: Cell::new(false),
            closed: Cell::new(false),
            suspended: Cell::new(false),
        })
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.requests.borrow().is_empty()
    }

    /// Takes every request off and hands it to `each`.
    pub fn purge(&self, each: &mut dyn FnMut(WaitingRequest)) {
        loop {
            let next = self.requests.borrow_mut().pop_front();
            match next {
                Some(r) => each(r),
                None => break,
            }
        }
    }

    /// The endpoint has failed: no request is served any more, all wait to be purged.
    pub fn suspend(&self) {
        self.suspended.set(true);
    }

    /// The endpoint is gone: a request whose function still runs is not queued again.
    pub fn close(&self) {
        self.closed.set(true);
    }
}

/// The groups of one interface that have requests.
#[derive(Default)]
pub struct PendingQueue {
    groups: RefCell<VecDeque<Rc<PendingGroup>>>,
    /// Their number: each progress looks at it.
    count: Cell<usize>,
}

impl PendingQueue {
    pub fn new() -> PendingQueue {
        PendingQueue::default()
    }

    /// Whether there are no requests.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// Queues `request` in `group`.
    pub fn add(&self, group: &Rc<PendingGroup>, request: WaitingRequest) {
        group.requests.borrow_mut().push_back(request);
        self.schedule(group);
    }

    fn schedule(&self, group: &Rc<PendingGroup>) {
        if !group.queued.replace(true) {
            self.groups.borrow_mut().push_back(Rc::clone(group));
            self.count.set(self.count.get() + 1);
        }
    }

    fn next(&self) -> Option<Rc<PendingGroup>> {
        let group = self.groups.borrow_mut().pop_front()?;
        self.count.set(self.count.get() - 1);
        Some(group)
    }

    /// Calls the groups in turn, one request each, until all are empty or a whole round made no progress. Returns the
    /// number of completed requests.
    pub fn dispatch(&self) -> u32 {
        let mut done = 0;
        let mut stuck = 0;
        loop {
            let round = self.count.get();
            if stuck >= round {
                return done;
            }
            let Some(group) = self.next() else {
                return done;
            };
            group.queued.set(false);
            if group.suspended.get() {
                continue;
            }
            let next = group.requests.borrow_mut().pop_front();
            let Some(request) = next else { continue };
            // It is off the queue from here on.
            let status = request.call();
            if status == UCS_OK {
                done += 1;
                stuck = 0;
            } else if !group.closed.get() {
                group.requests.borrow_mut().push_front(request);
                stuck = if status == UCS_INPROGRESS {
                    0
                } else {
                    stuck + 1
                };
            }
            if !group.is_empty() && !group.suspended.get() {
                self.schedule(&group);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static LOG: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
        static CREDIT: Cell<usize> = const { Cell::new(0) };
    }

    /// A request that knows its endpoint and number, in the private bytes.
    #[repr(C)]
    struct Req {
        base: uct_pending_req_t,
        ep: usize,
        seq: usize,
    }

    unsafe extern "C" fn send(r: *mut uct_pending_req_t) -> ucs_status_t {
        if CREDIT.get() == 0 {
            return UCS_ERR_NO_RESOURCE;
        }
        CREDIT.set(CREDIT.get() - 1);
        // SAFETY: the test's own request.
        let r = unsafe { &*r.cast::<Req>() };
        LOG.with_borrow_mut(|l| l.push((r.ep, r.seq)));
        UCS_OK
    }

    /// Memory of a request that queues point to: a box that is moved would be its only pointer.
    struct Owned(*mut Req);

    impl Owned {
        fn waiting(&self) -> WaitingRequest {
            // SAFETY: the tests keep it until their queue is empty or gone.
            unsafe { WaitingRequest::new(self.0.cast()) }
        }
    }

    impl Drop for Owned {
        fn drop(&mut self) {
            // SAFETY: of a box, given up once.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }

    fn req(ep: usize, seq: usize) -> Owned {
        Owned(Box::into_raw(Box::new(Req {
            base: uct_pending_req_t {
                func: Some(send),
                r#priv: [0; 40],
            },
            ep,
            seq,
        })))
    }

    #[test]
    fn endpoints_are_served_in_turn_and_in_order() {
        let q = PendingQueue::new();
        let groups = [
            PendingGroup::new(),
            PendingGroup::new(),
            PendingGroup::new(),
        ];
        let mut keep = Vec::new();
        for seq in 0..4 {
            for (ep, g) in groups.iter().enumerate() {
                let r = req(ep, seq);
                q.add(g, r.waiting());
                keep.push(r);
            }
        }
        CREDIT.set(5);
        assert_eq!(q.dispatch(), 5);
        CREDIT.set(100);
        assert_eq!(q.dispatch(), 7);
        let log = LOG.take();
        for (i, (ep, seq)) in log.iter().enumerate() {
            assert_eq!((*ep, *seq), (i % 3, i / 3), "{log:?}");
        }
        assert!(q.is_empty());
    }

    #[test]
    fn purge_takes_all_of_one_endpoint() {
        let q = PendingQueue::new();
        let (a, b) = (PendingGroup::new(), PendingGroup::new());
        let (x, y, z) = (req(0, 0), req(0, 1), req(1, 0));
        q.add(&a, x.waiting());
        q.add(&a, y.waiting());
        q.add(&b, z.waiting());
        let mut n = 0;
        a.purge(&mut |_| n += 1);
        assert_eq!(n, 2);
        CREDIT.set(10);
        assert_eq!(q.dispatch(), 1);
        assert_eq!(LOG.take(), [(1, 0)]);
    }
}
