//! `PendingAcks`: puts and flushes of a connection that the peer has not acknowledged, and the completions that wait for
//! sent bytes, puts and flushes.
#![forbid(unsafe_code)]

use super::txq::Owner;
use crate::ucs::deque::pop_front_if;
use crate::uct::api::Completion;
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Most unacknowledged puts.
const MAX_PUTS: usize = 1024;

/// Puts and flushes are numbered from 1 on.
#[derive(Default)]
pub struct PendingAcks {
    /// Number of puts posted, and acknowledged.
    puts: Cell<u64>,
    puts_acked: Cell<u64>,
    put_comps: RefCell<VecDeque<(u64, Owner, Completion)>>,
    flushes: Cell<u64>,
    flushes_acked: Cell<u64>,
    /// Bytes that were queued before the last flush.
    flushed_at: Cell<u64>,
    waiters: RefCell<VecDeque<Waiter>>,
}

struct Waiter {
    owner: Owner,
    comp: Completion,
    /// Complete when so many bytes are sent, puts acknowledged and flushes acknowledged.
    sent: u64,
    puts: u64,
    flushes: u64,
}

impl PendingAcks {
    /// Whether one more put may be posted.
    pub fn takes_put(&self) -> bool {
        self.put_comps.borrow().len() < MAX_PUTS
    }

    /// A put was queued; `comp` completes when it is acknowledged.
    pub fn put(&self, owner: Owner, comp: Completion) {
        let number = self.puts.get() + 1;
        self.puts.set(number);
        self.put_comps.borrow_mut().push_back((number, owner, comp));
    }

    /// Whether the put of this number is not acknowledged.
    pub fn is_put_open(&self, number: u64) -> bool {
        number > self.puts_acked.get() && number <= self.puts.get()
    }

    pub fn are_puts_done(&self) -> bool {
        self.puts_acked.get() == self.puts.get()
    }

    /// The peer has acknowledged `count` puts: calls `done` for each. Returns false for an invalid number.
    pub fn on_put_ack(&self, count: u64, mut done: impl FnMut(Owner, Completion)) -> bool {
        if count > self.puts.get() || count < self.puts_acked.get() {
            return false;
        }
        self.puts_acked.set(count);
        let mut comps = self.put_comps.borrow_mut();
        while let Some((_, owner, comp)) = pop_front_if(&mut comps, |(number, ..)| *number <= count)
        {
            if !comp.is_none() {
                done(owner, comp);
            }
        }
        true
    }

    /// Whether the last flush was queued after `queued` bytes, and nothing since.
    pub fn has_flush_at(&self, queued: u64) -> bool {
        self.flushed_at.get() == queued
    }

    pub fn are_flushes_acked(&self) -> bool {
        self.flushes_acked.get() == self.flushes.get()
    }

    /// The number of the last flush.
    pub fn last_flush(&self) -> u64 {
        self.flushes.get()
    }

    /// The number of one more flush.
    pub fn next_flush(&self) -> u64 {
        self.flushes.set(self.flushes.get() + 1);
        self.flushes.get()
    }

    /// The last flush counts for the `queued` bytes up to now.
    pub fn flush_covers(&self, queued: u64) {
        self.flushed_at.set(queued);
    }

    /// The number of the posted flush whose low half is `low`: the last such.
    pub fn whole_flush_number(&self, low: u32) -> u64 {
        let last = self.flushes.get();
        last.wrapping_sub((last as u32).wrapping_sub(low).into())
    }

    /// The peer has acknowledged flush `seq`. Returns false for an invalid number.
    pub fn on_flush_ack(&self, seq: u64) -> bool {
        if seq > self.flushes.get() || seq < self.flushes_acked.get() {
            return false;
        }
        self.flushes_acked.set(seq);
        true
    }

    /// `comp` completes when the first `sent` bytes and all puts are done, and with `remote` all flushes.
    pub fn wait(&self, owner: Owner, comp: Completion, sent: u64, remote: bool) {
        self.waiters.borrow_mut().push_back(Waiter {
            owner,
            comp,
            sent,
            puts: self.puts.get(),
            flushes: if remote { self.flushes.get() } else { 0 },
        });
    }

    pub fn has_waiters(&self) -> bool {
        !self.waiters.borrow().is_empty()
    }

    /// `sent` bytes were sent: calls `done` for the completions that wait for nothing else.
    pub fn complete_waiters(&self, sent: u64, mut done: impl FnMut(Owner, Completion)) {
        let (puts, flushes) = (self.puts_acked.get(), self.flushes_acked.get());
        let is_over = |w: &Waiter| w.sent <= sent && w.puts <= puts && w.flushes <= flushes;
        let mut waiters = self.waiters.borrow_mut();
        while let Some(w) = pop_front_if(&mut waiters, is_over) {
            done(w.owner, w.comp);
        }
    }

    /// Removes the entries of `owner`; calls `each` for their completions.
    pub fn cancel(&self, owner: Owner, mut each: impl FnMut(Completion)) {
        for (_, o, comp) in self.put_comps.borrow_mut().iter_mut() {
            if *o == owner {
                each(core::mem::replace(comp, Completion::NONE));
                *o = core::ptr::null();
            }
        }
        self.waiters.borrow_mut().retain(|w| {
            let others = w.owner != owner;
            if !others {
                each(w.comp);
            }
            others
        });
    }

    /// Removes all entries after a failure; calls `each` for their completions.
    pub fn clear(&self, mut each: impl FnMut(Owner, Completion)) {
        for (_, owner, comp) in self.put_comps.borrow_mut().drain(..) {
            each(owner, comp);
        }
        for w in self.waiters.borrow_mut().drain(..) {
            each(w.owner, w.comp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_half_of_a_number_names_the_last_such_flush() {
        let acks = PendingAcks::default();
        acks.flushes.set((1 << 32) + 5);
        assert_eq!(acks.whole_flush_number(5), (1 << 32) + 5);
        assert_eq!(acks.whole_flush_number(0), 1 << 32);
        assert_eq!(acks.whole_flush_number(u32::MAX), u32::MAX.into());
        assert_eq!(acks.whole_flush_number(6), 6);
    }

    /// Fake completions and owners, never dereferenced.
    fn comp(n: usize) -> Completion {
        Completion(core::ptr::without_provenance_mut(n))
    }

    fn owner(n: usize) -> Owner {
        core::ptr::without_provenance(n)
    }

    #[test]
    fn numbers_that_the_peer_cannot_mean_are_refused() {
        let pending_acks = PendingAcks::default();
        for n in 1..=3 {
            pending_acks.put(owner(1), comp(n));
            assert_eq!(pending_acks.next_flush(), n as u64);
        }
        let mut completed = Vec::new();
        let mut ack = |n| pending_acks.on_put_ack(n, |_, c| completed.push(c.0.addr()));
        assert!(ack(2) && ack(2) && !ack(1) && !ack(4) && ack(3));
        assert_eq!(completed, [1, 2, 3]);
        assert!(
            pending_acks.are_puts_done()
                && !pending_acks.is_put_open(3)
                && !pending_acks.is_put_open(4)
        );
        assert!(pending_acks.on_flush_ack(2) && !pending_acks.on_flush_ack(1));
        assert!(!pending_acks.on_flush_ack(4) && !pending_acks.are_flushes_acked());
        assert!(pending_acks.on_flush_ack(3) && pending_acks.are_flushes_acked());
    }

    #[test]
    fn waiters_complete_in_order_when_bytes_puts_and_flushes_are_done() {
        let pending_acks = PendingAcks::default();
        let complete = |sent| {
            let mut completed = Vec::new();
            pending_acks.complete_waiters(sent, |_, c| completed.push(c.0.addr()));
            completed
        };
        pending_acks.wait(owner(1), comp(1), 10, false);
        pending_acks.put(owner(1), Completion::NONE);
        let flush = pending_acks.next_flush();
        pending_acks.wait(owner(2), comp(2), 20, true);
        pending_acks.wait(owner(1), comp(3), 20, false);
        assert_eq!(complete(9), []);
        assert_eq!(complete(20), [1]);
        assert!(pending_acks.on_put_ack(1, |_, _| panic!("it has no completion")));
        assert_eq!(complete(20), []);
        assert!(pending_acks.on_flush_ack(flush));
        assert_eq!(complete(20), [2, 3]);
        assert!(!pending_acks.has_waiters());
    }

    #[test]
    fn operations_of_a_cancelled_owner_do_not_complete() {
        let pending_acks = PendingAcks::default();
        for n in 1..=2 {
            pending_acks.put(owner(n), comp(n));
            pending_acks.wait(owner(n), comp(10 + n), 0, false);
        }
        let mut taken = Vec::new();
        pending_acks.cancel(owner(1), |c| taken.push(c.0.addr()));
        assert_eq!(taken, [1, 11]);
        let mut completed = Vec::new();
        assert!(pending_acks.on_put_ack(2, |_, c| completed.push(c.0.addr())));
        pending_acks.complete_waiters(0, |_, c| completed.push(c.0.addr()));
        assert_eq!(completed, [2, 12]);
    }
}
