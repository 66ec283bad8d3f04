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
    /// Accesses without a request that the peer confirms each, which are counted in both.
    unconfirmed: Cell<usize>,
}

/// The properties of a request that are counted. They do not change while it waits.
#[derive(Clone, Copy, PartialEq, Debug)]
struct OutstandingKind {
    access: bool,
    holds: bool,
}

impl OutstandingKind {
    const MESSAGE: OutstandingKind = OutstandingKind {
        access: false,
        holds: false,
    };

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

    pub fn len(&self) -> usize {
        self.all.borrow().len()
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

    const CONFIRMED: OutstandingKind = OutstandingKind {
        access: true,
        holds: true,
    };

    /// An access without a request is on its way.
    pub fn add_unconfirmed(&self) {
        self.unconfirmed.set(self.unconfirmed.get() + 1);
        self.count(Self::CONFIRMED, 1);
    }

    /// The peer has confirmed one. Returns false if there is none.
    pub fn confirm(&self) -> bool {
        let Some(left) = self.unconfirmed.get().checked_sub(1) else {
            return false;
        };
        self.unconfirmed.set(left);
        self.count(Self::CONFIRMED, -1);
        true
    }

    pub fn add(&self, req: Req) {
        let kind = OutstandingKind::of(req);
        self.push(req, kind);
        self.count(kind, 1);
    }

    /// Adds a message, which is neither an access nor holds up flushes.
    #[inline]
    pub fn add_message(&self, req: Req) {
        self.push(req, OutstandingKind::MESSAGE);
    }

    #[inline]
    fn push(&self, req: Req, kind: OutstandingKind) {
        debug_assert_eq!(kind, OutstandingKind::of(req));
        let mut all = self.all.borrow_mut();
        req.outstanding_index.set(all.len() as u32);
        all.push((req, kind));
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

    /// The last one takes the place of the one at `at`. Its parts are moved one by one: it may just have been added.
    fn remove_at(&self, all: &mut Vec<(Req, OutstandingKind)>, at: usize) -> Req {
        let (req, kind) = all[at];
        debug_assert_eq!(kind, OutstandingKind::of(req));
        if let Some((last, its_kind)) = all.pop()
            && let Some(place) = all.get_mut(at)
        {
            last.outstanding_index.set(at as u32);
            *place = (last, its_kind);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_without_a_request_hold_up_flushes_until_each_is_confirmed() {
        let outstanding = Outstanding::default();
        assert!(!outstanding.confirm());
        outstanding.add_unconfirmed();
        outstanding.add_unconfirmed();
        for _ in 0..2 {
            assert!(outstanding.holds_flushes() && outstanding.has_accesses());
            assert!(outstanding.is_empty() && outstanding.confirm());
        }
        assert!(!outstanding.holds_flushes() && !outstanding.has_accesses());
        assert!(!outstanding.confirm());
    }
}
