//! `Acks`: the acknowledgements of a connection in both directions: those that the peer owes (`PendingAcks`), and those
//! that it is owed.
#![forbid(unsafe_code)]

use super::pending_acks::PendingAcks;
use super::wire::Frame;
use core::cell::Cell;

#[derive(Default)]
pub struct Acks {
    pub pending: PendingAcks,
    pub owed: OwedAcks,
}

/// One frame acknowledges all puts, or all flushes, up to a number.
#[derive(Default)]
pub struct OwedAcks {
    puts_done: Cell<u64>,
    put: Cell<bool>,
    flush: Cell<Option<u64>>,
    refusal: Cell<Option<u64>>,
}

impl OwedAcks {
    /// A put was written.
    pub fn put_done(&self) {
        self.puts_done.set(self.puts_done.get() + 1);
        self.put.set(true);
    }

    /// The put after those that were written is refused. The peer gets the number of the first such put.
    pub fn put_refused(&self) {
        if self.refusal.get().is_none() {
            self.refusal.set(Some(self.puts_done.get() + 1));
        }
    }

    /// The peer has sent flush `seq`.
    pub fn flush_received(&self, seq: u64) {
        self.flush.set(Some(seq));
    }

    #[inline]
    pub fn owes_put(&self) -> bool {
        self.put.get()
    }

    /// Calls `send` for each frame that is owed, after which none is.
    pub fn take(&self, mut send: impl FnMut(&Frame)) {
        if let Some(number) = self.refusal.take() {
            send(&Frame::PutRefused { number });
        }
        if self.put.take() {
            let count = self.puts_done.get();
            send(&Frame::PutAck { count });
        }
        if let Some(seq) = self.flush.take() {
            send(&Frame::FlushAck { seq });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(owed: &OwedAcks) -> Vec<String> {
        let mut frames = Vec::new();
        owed.take(|frame| frames.push(format!("{frame:?}")));
        frames
    }

    #[test]
    fn one_frame_acknowledges_all_and_is_sent_once() {
        let owed = OwedAcks::default();
        assert!(taken(&owed).is_empty() && !owed.owes_put());
        owed.put_done();
        owed.put_done();
        owed.flush_received(1);
        owed.flush_received(2);
        assert!(owed.owes_put());
        assert_eq!(taken(&owed), ["PutAck { count: 2 }", "FlushAck { seq: 2 }"]);
        assert!(taken(&owed).is_empty() && !owed.owes_put());
        owed.put_done();
        assert_eq!(taken(&owed), ["PutAck { count: 3 }"]);
    }

    #[test]
    fn the_first_refused_put_is_named_before_the_acknowledgement() {
        let owed = OwedAcks::default();
        owed.put_done();
        owed.put_refused();
        owed.put_done();
        owed.put_refused();
        assert_eq!(
            taken(&owed),
            ["PutRefused { number: 2 }", "PutAck { count: 2 }"]
        );
    }
}
