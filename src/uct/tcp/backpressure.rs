//! Back-pressure against peers that request replies and do not read them.
//!
//! Gets, fences and atomics need replies. While a peer does not read, its replies wait in the queues of UCP, which
//! reports their number (`Iface::replies_queued`). Above a limit the connection is not read. Two sides that have
//! stopped reading each other would wait for ever, so a little is read now and then up to a second limit. Beyond that,
//! the connection of a peer that receives nothing for a long time is aborted.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// Most queued replies of one peer before reading it is paused. Each takes about a hundred bytes of memory.
pub const MAX_OF_ONE: usize = 16 << 10;
/// The same of all peers of an interface together. Above it, each may have `MIN_OF_ONE`.
pub const MAX_OF_ALL: usize = 1 << 20;
pub const MIN_OF_ONE: usize = 256;
/// Above so many times the limit nothing is read at all.
pub const HARD: usize = 4;
/// A peer beyond that which takes nothing for so long is given up, in nanoseconds.
pub const PATIENCE_NS: u64 = 60_000_000_000;

/// Whether a connection is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As usual.
    On,
    /// A little now and then.
    Slow,
    Off,
}

/// The number of all connections of an interface.
#[derive(Default)]
pub struct Total(Cell<usize>);

/// The number of one connection.
#[derive(Default)]
pub struct QueuedReplies {
    count: Cell<usize>,
    paused: Cell<bool>,
    /// Bytes sent to the peer at the last check, and since when.
    sent: Cell<u64>,
    since: Cell<u64>,
}

impl QueuedReplies {
    /// `change` more replies are queued. Returns whether reading was paused or resumed by it.
    pub fn changed(&self, total: &Total, change: isize) -> bool {
        self.count
            .set(self.count.get().saturating_add_signed(change));
        total.0.set(total.0.get().saturating_add_signed(change));
        let limit = limit(total);
        let count = self.count.get();
        // Well below the limit, not to change with every message.
        let paused = count > limit || self.paused.get() && count > limit / 2;
        self.paused.replace(paused) != paused
    }

    /// The connection has ended; its replies are subtracted when their endpoint drops them.
    pub fn resume(&self) {
        self.paused.set(false);
    }

    pub fn is_paused(&self) -> bool {
        self.paused.get()
    }

    pub fn reading(&self, total: &Total) -> Reading {
        match self.paused.get() {
            false => Reading::On,
            true if self.count.get() <= HARD * limit(total) => Reading::Slow,
            true => Reading::Off,
        }
    }

    /// Looked at from time to time while reading is off: whether the peer has taken nothing for too long. `sent` counts the
    /// bytes that it was ever sent.
    pub fn is_timed_out(&self, sent: u64, now: u64) -> bool {
        if self.sent.replace(sent) != sent || self.since.get() == 0 {
            self.since.set(now);
        }
        now - self.since.get() > PATIENCE_NS
    }
}

fn limit(total: &Total) -> usize {
    if total.0.get() > MAX_OF_ALL {
        MIN_OF_ONE
    } else {
        MAX_OF_ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_stops_above_the_limit_and_goes_on_well_below() {
        let (total, one) = (Total::default(), QueuedReplies::default());
        assert!(!one.changed(&total, MAX_OF_ONE as isize));
        assert_eq!(one.reading(&total), Reading::On);
        assert!(one.changed(&total, 1));
        assert_eq!(one.reading(&total), Reading::Slow);
        one.changed(&total, ((HARD - 1) * MAX_OF_ONE) as isize);
        assert_eq!(one.reading(&total), Reading::Off);
        assert!(!one.changed(&total, -(((HARD - 1) * MAX_OF_ONE + 1) as isize)));
        assert_eq!(one.reading(&total), Reading::Slow);
        assert!(one.changed(&total, -(MAX_OF_ONE as isize / 2)));
        assert_eq!(one.reading(&total), Reading::On);
    }

    #[test]
    fn many_peers_share_one_limit() {
        let total = Total::default();
        let each = MAX_OF_ONE as isize;
        let all: Vec<QueuedReplies> = (0..MAX_OF_ALL / MAX_OF_ONE + 10)
            .map(|_| QueuedReplies::default())
            .collect();
        let paused = all.iter().filter(|one| one.changed(&total, each)).count();
        assert_eq!(paused, 10);
        let late = QueuedReplies::default();
        assert!(!late.changed(&total, MIN_OF_ONE as isize));
        assert!(late.changed(&total, 1));
        for one in &all {
            one.changed(&total, -each);
        }
        assert_eq!(total.0.get(), MIN_OF_ONE + 1);
        assert!(late.changed(&total, 0));
    }

    #[test]
    fn a_peer_that_takes_a_byte_now_and_then_is_not_given_up() {
        let one = QueuedReplies::default();
        let mut now = 1;
        for sent in 0..5 {
            assert!(!one.is_timed_out(sent, now));
            now += PATIENCE_NS;
            assert!(!one.is_timed_out(sent, now));
            now += 1;
        }
        assert!(one.is_timed_out(4, now));
    }
}
