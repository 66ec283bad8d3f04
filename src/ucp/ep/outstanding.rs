//! The requests of an endpoint that wait for its peer. Adding, removing and the tests for a kind take constant time.
#![forbid(unsafe_code)]

use crate::ucp::op::Op;
use crate::ucp::request::Req;
use core::cell::{Cell, RefCell};

#[derive(Default)]
pub struct Outstanding {
    /// Each request stores its index here.
    all: RefCell<Vec<(Req, OutstandingKind)>>,
    /// The number of memory accesses, and of requests that hold up flushes.
    accesses: Cell<usize>,
    holding: Cell<usize>,
}

/// The properties of a request that are counted. They do not change while it waits.
#[derive(Clone, Copy, PartialEq, Debug)]
struct OutstandingKind {
    access: bool,
    holds: bool,
}

impl OutstandingKind {
    fn of(req: Req) -> OutstandingKind {
        req.with_op(|op| OutstandingKind {
            access: op.is_memory_access(),
            holds: op.holds_flushes(),
        })
    }
}

impl Outstanding {
    pub fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }

    /// Whether a memory access is outstanding.
    pub fn has_accesses(&self) -> bool {
        self.accesses.get() > 0
    }

    /// Whether a request holds up flushes.
    pub fn holds_flushes(&self) -> bool {
        self.holding.get() > 0
    }

    /// Whether a request other than a flush holds up flushes.
    pub fn has_unflushed(&self) -> bool {
        let all = self.all.borrow();
        all.iter()
            .any(|(req, kind)| kind.holds && !req.with_op(|op| matches!(op, Op::Flush(_))))
    }

    pub fn add(&self, req: Req) {
        let mut all = self.all.borrow_mut();
        req.outstanding_index.set(all.len() as u32);
        let kind = OutstandingKind::of(req);
        all.push((req, kind));
        self.count(kind, 1);
    }

    /// Removes a request, if it is here.
    pub fn remove(&self, req: Req) {
        let mut all = self.all.borrow_mut();
        // The index of a request that is not here belongs to another, or to none.
        let at = req.outstanding_index.get() as usize;
        if all.get(at).is_some_and(|(there, _)| *there == req) {
            self.remove_at(&mut all, at);
        }
    }

    /// Removes the last request that `is_wanted`, which must not call back.
    pub fn take_last(&self, is_wanted: impl Fn(Req) -> bool) -> Option<Req> {
        let mut all = self.all.borrow_mut();
        let wanted = |(r, _): &(Req, OutstandingKind)| is_wanted(*r);
        let at = all.iter().rposition(wanted)?;
        Some(self.remove_at(&mut all, at))
    }

    /// Removes all requests that `is_wanted`, in order. `is_wanted` must not call back.
    pub fn take_all(&self, is_wanted: impl Fn(Req) -> bool) -> Vec<Req> {
        let mut all = self.all.borrow_mut();
        let taken = all
            .extract_if(.., |(r, _)| is_wanted(*r))
            .map(|(req, kind)| {
                self.count(kind, -1);
                req
            })
            .collect();
        for (index, (req, _)) in all.iter().enumerate() {
            req.outstanding_index.set(index as u32);
        }
        taken
    }

    fn remove_at(&self, all: &mut Vec<(Req, OutstandingKind)>, at: usize) -> Req {
        let (req, kind) = all.swap_remove(at);
        debug_assert_eq!(kind, OutstandingKind::of(req));
        if let Some((moved, _)) = all.get(at) {
            moved.outstanding_index.set(at as u32);
        }
        self.count(kind, -1);
        req
    }

    fn count(&self, kind: OutstandingKind, by: isize) {
        for (is, number) in [(kind.access, &self.accesses), (kind.holds, &self.holding)] {
            if is {
                number.set(number.get().wrapping_add_signed(by));
            }
        }
    }
}
