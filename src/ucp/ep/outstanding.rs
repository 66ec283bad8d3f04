//! The requests of an endpoint that wait for its peer. Adding, removing and the tests for a kind take constant time.

use crate::ucp::op::Op;
use crate::ucp::request::Request;
use core::cell::{Cell, RefCell};
use core::ptr::NonNull;

#[derive(Default)]
pub struct Outstanding {
    /// Each request stores its index here.
    all: RefCell<Vec<(NonNull<Request>, OutstandingKind)>>,
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
    fn of(req: &Request) -> OutstandingKind {
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
        all.iter().any(|(req, kind)| {
            // SAFETY: alive while they are here.
            kind.holds && !unsafe { req.as_ref() }.with_op(|op| matches!(op, Op::Flush(_)))
        })
    }

    /// `req` must stay alive until it is removed.
    pub fn add(&self, req: NonNull<Request>) {
        let mut all = self.all.borrow_mut();
        // SAFETY: alive, by the caller's promise.
        let r = unsafe { req.as_ref() };
        r.outstanding_index.set(all.len() as u32);
        let kind = OutstandingKind::of(r);
        all.push((req, kind));
        self.count(kind, 1);
    }

    /// Removes a request, if it is here.
    pub fn remove(&self, req: NonNull<Request>) {
        let mut all = self.all.borrow_mut();
        // SAFETY: the caller has the request. The index of a request that is not here belongs to another, or to none.
        let at = unsafe { req.as_ref() }.outstanding_index.get() as usize;
        if all.get(at).is_some_and(|(there, _)| *there == req) {
            self.remove_at(&mut all, at);
        }
    }

    /// Removes the last request that `is_wanted`, which must not call back.
    pub fn take_last(&self, is_wanted: impl Fn(&Request) -> bool) -> Option<NonNull<Request>> {
        let mut all = self.all.borrow_mut();
        // SAFETY: alive while they are here.
        let wanted =
            |(r, _): &(NonNull<Request>, OutstandingKind)| is_wanted(unsafe { r.as_ref() });
        let at = all.iter().rposition(wanted)?;
        Some(self.remove_at(&mut all, at))
    }

    /// Removes all requests that `is_wanted`, in order. `is_wanted` must not call back.
    pub fn take_all(&self, is_wanted: impl Fn(&Request) -> bool) -> Vec<NonNull<Request>> {
        let mut all = self.all.borrow_mut();
        let taken = all
            // SAFETY: alive while they are here.
            .extract_if(.., |(r, _)| is_wanted(unsafe { r.as_ref() }))
            .map(|(req, kind)| {
                self.count(kind, -1);
                req
            })
            .collect();
        for (index, (req, _)) in all.iter().enumerate() {
            // SAFETY: as above.
            unsafe { req.as_ref() }.outstanding_index.set(index as u32);
        }
        taken
    }

    fn remove_at(
        &self,
        all: &mut Vec<(NonNull<Request>, OutstandingKind)>,
        at: usize,
    ) -> NonNull<Request> {
        let (req, kind) = all.swap_remove(at);
        // SAFETY: alive while it is here.
        debug_assert_eq!(kind, OutstandingKind::of(unsafe { req.as_ref() }));
        if let Some((moved, _)) = all.get(at) {
            // SAFETY: as above.
            unsafe { moved.as_ref() }.outstanding_index.set(at as u32);
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
