//! `Keys`: the memory of a domain that peers may write to, by key.
//!
//! A put from a peer names a key and a range; only ranges that were registered for remote puts and exported are
//! written. A key is a slot and a random nonce, so that a stale or guessed one finds nothing. A range stays registered
//! while it is copied to: after `remove` has returned, no byte of it is accessed.
//!
//! Upstream's interfaces show no key. What they may write is named by address: of ranges that the application has
//! exported, and, by the interfaces of one peer, of the range of a transfer. What such a transfer leaves unwritten when
//! it is given up is remembered for a while: that peer is not at fault, and its data are dropped.
#![forbid(unsafe_code)]

use crate::sys::lock::Mutex;
use crate::ucs::shared_slots::SharedSlots;
use crate::ucs::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::ucs::{Result, Status};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

/// Bit of a nonce.
const ONE_TRANSFER: u32 = 1 << 31;
/// Most ranges of transfers that were given up.
const MOST_ENDED: usize = 256;

struct Range {
    base: u64,
    len: u64,
    /// Registered for remote puts.
    writable: bool,
    exported: AtomicBool,
    /// It is among those that are named by address, or belongs there once there are some.
    named: AtomicBool,
}

/// Where the interfaces listen that may write to a range of a transfer.
pub type Writers = Arc<[SocketAddr]>;

/// A range that is named by address.
struct NamedRange {
    base: u64,
    len: u64,
    /// Of a transfer: who may write, and how many bytes are still to come.
    transfer: Option<(Writers, u64)>,
}

impl NamedRange {
    /// Whether an interface may write there.
    fn allows(&self, address: u64, len: u64, by: Option<SocketAddr>) -> bool {
        let offset = address.checked_sub(self.base);
        let end = offset.and_then(|offset| offset.checked_add(len));
        let writes = |(writers, _): &(Writers, u64)| by.is_some_and(|by| writers.contains(&by));
        end.is_some_and(|end| end <= self.len) && self.transfer.as_ref().is_none_or(writes)
    }

    /// Bytes that a transfer still waits for.
    fn left(&self) -> u64 {
        self.transfer.as_ref().map_or(0, |(_, left)| *left)
    }

    /// Counts bytes that are written.
    fn count(&mut self, len: u64) {
        if let Some((_, left)) = &mut self.transfer {
            *left = left.saturating_sub(len);
        }
    }
}

#[derive(Default)]
struct NamedRanges {
    /// By start and key; they may overlap.
    all: BTreeMap<(u64, u64), NamedRange>,
    /// None is longer.
    longest: u64,
    /// Those of transfers that were given up.
    ended: VecDeque<NamedRange>,
    /// Whether `all` has those of the application too: they are put there when an interface of upstream's first writes.
    is_whole: bool,
}

impl NamedRanges {
    fn add(&mut self, key: u64, range: &Range, transfer: Option<(Writers, u64)>) {
        self.longest = self.longest.max(range.len);
        let named = NamedRange {
            base: range.base,
            len: range.len,
            transfer,
        };
        self.all.insert((range.base, key), named);
    }
}

/// What a range is that was named by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// It may be written with this key.
    Open(u64),
    /// It was to be written, and is not any more.
    Ended,
}

/// The registrations of one memory domain.
#[derive(Default)]
pub struct Keys {
    ranges: SharedSlots<Range>,
    /// Of those, for one transfer.
    transfers: AtomicUsize,
    named: Mutex<NamedRanges>,
}

impl Keys {
    pub fn new() -> Keys {
        Keys::default()
    }

    /// Registers `len` bytes at `base`, possibly for one transfer only. Returns the key, never 0.
    pub fn add(&self, base: u64, len: u64, writable: bool, one_transfer: bool) -> Result<u64> {
        base.checked_add(len).ok_or(Status::INVALID_PARAM)?;
        let mark = |nonce| match one_transfer {
            true => nonce | ONE_TRANSFER,
            // Not 0.
            false => nonce & !ONE_TRANSFER | 1,
        };
        let range = Range {
            base,
            len,
            writable,
            exported: AtomicBool::new(false),
            named: AtomicBool::new(false),
        };
        self.transfers
            .fetch_add(one_transfer.into(), Ordering::Relaxed);
        Ok(self.ranges.insert_as(mark, range))
    }

    /// Removes a registration. `INVALID_PARAM` when there is none of this key.
    pub fn remove(&self, key: u64) -> Result<()> {
        let range = self.ranges.remove(key).ok_or(Status::INVALID_PARAM)?;
        if range.named.load(Ordering::Relaxed) {
            self.forget_name(key, range.base);
        }
        if Keys::is_for_one_transfer(key) {
            self.transfers.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether a transfer to registered memory has still to come.
    pub fn expects_transfers(&self) -> bool {
        // Relaxed: a hint.
        self.transfers.load(Ordering::Relaxed) > 0
    }

    /// From now on peers that show the key may write to the range.
    pub fn export(&self, key: u64) -> Result<()> {
        self.ranges
            // Relaxed: peers learn the key after this.
            .with(key, |range| range.exported.store(true, Ordering::Relaxed))
            .ok_or(Status::INVALID_PARAM)
    }

    /// From now on interfaces of upstream's may write to an exported range by its address: all of them, or if it is of a
    /// transfer these. `INVALID_PARAM` for a key of none, or of one that peers may not write.
    pub fn name(&self, key: u64, writers: Option<Writers>) -> Result<()> {
        let one_transfer = Keys::is_for_one_transfer(key);
        if one_transfer != writers.is_some() {
            return Err(Status::INVALID_PARAM);
        }
        // Before the range's lock, as where those of the application are put in.
        let mut named = self.named.lock();
        let done = self.ranges.with(key, |range| {
            if !range.writable || !range.exported.load(Ordering::Relaxed) {
                return false;
            }
            range.named.store(true, Ordering::Relaxed);
            if one_transfer || named.is_whole {
                named.add(key, range, writers.map(|writers| (writers, range.len)));
            }
            true
        });
        match done {
            Some(true) => Ok(()),
            _ => Err(Status::INVALID_PARAM),
        }
    }

    /// The range that upstream's interface which listens there names, if it may write to it.
    pub fn named_at(&self, address: u64, len: u64, by: Option<SocketAddr>) -> Option<Named> {
        let mut ranges = self.named.lock();
        if !ranges.is_whole {
            ranges.is_whole = true;
            self.ranges.for_each(|key, range| {
                if !Keys::is_for_one_transfer(key) && range.named.load(Ordering::Relaxed) {
                    ranges.add(key, range, None);
                }
            });
        }
        let earliest = address.saturating_sub(ranges.longest);
        let near = ranges.all.range_mut((earliest, 0)..=(address, u64::MAX));
        let open = near.rev().find(|(_, range)| range.allows(address, len, by));
        if let Some(((_, key), range)) = open {
            // Transfers may overlap: which one has which bytes is not known.
            range.count(len);
            return Some(Named::Open(*key));
        }
        let mut ended = ranges.ended.iter_mut();
        let range = ended.find(|range| range.allows(address, len, by) && len <= range.left())?;
        range.count(len);
        Some(Named::Ended)
    }

    fn forget_name(&self, key: u64, base: u64) {
        let mut ranges = self.named.lock();
        let removed = ranges.all.remove(&(base, key));
        if ranges.all.is_empty() {
            ranges.longest = 0;
        }
        if let Some(range) = removed
            && range.left() > 0
        {
            if ranges.ended.len() == MOST_ENDED {
                ranges.ended.pop_front();
            }
            ranges.ended.push_back(range);
        }
    }

    /// Whether a key is, or was, for one transfer. The key itself has that bit: nothing else is kept of an old one.
    pub fn is_for_one_transfer(key: u64) -> bool {
        (key >> 32) as u32 & ONE_TRANSFER != 0
    }

    /// Runs `write` if a peer may write `len` bytes at `address` with `key`; the range stays
    /// registered meanwhile. `write` must not unregister memory. `INVALID_PARAM` when the key is not, or no
    /// longer, one; `INVALID_ADDR` when it does not cover that.
    pub fn with_range<R>(
        &self,
        key: u64,
        address: u64,
        len: u64,
        write: impl FnOnce(*mut u8) -> R,
    ) -> Result<R> {
        let done = self.ranges.with(key, |range| {
            let offset = address.checked_sub(range.base)?;
            let end = offset.checked_add(len)?;
            let may = range.writable && range.exported.load(Ordering::Relaxed);
            (may && end <= range.len).then(|| write(address as *mut u8))
        });
        match done {
            Some(Some(written)) => Ok(written),
            Some(None) => Err(Status::INVALID_ADDR),
            None => Err(Status::INVALID_PARAM),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(keys: &Keys, key: u64, address: u64, len: u64) -> bool {
        keys.with_range(key, address, len, |p| assert_eq!(p as u64, address))
            .is_ok()
    }

    #[test]
    fn only_exported_writable_ranges_are_written() {
        let keys = Keys::new();
        let a = keys.add(1000, 100, true, false).unwrap();
        let b = keys.add(2000, 100, false, false).unwrap();
        assert!(!may(&keys, a, 1000, 1), "not exported yet");
        keys.export(a).unwrap();
        keys.export(b).unwrap();
        assert!(may(&keys, a, 1000, 100) && may(&keys, a, 1099, 1) && may(&keys, a, 1100, 0));
        for (address, len) in [
            (999, 1),
            (1000, 101),
            (1100, 1),
            (1050, u64::MAX),
            (0, 0),
            (u64::MAX, 2),
        ] {
            assert!(!may(&keys, a, address, len), "{address} {len}");
        }
        assert!(!may(&keys, b, 2000, 1), "not registered for remote puts");
        assert!(!may(&keys, a ^ (1 << 40), 1000, 1), "wrong nonce");
        assert!(!may(&keys, u64::MAX, 1000, 1) && !may(&keys, 0, 1000, 1));
    }

    #[test]
    fn a_reused_slot_does_not_accept_the_old_key() {
        let keys = Keys::new();
        let a = keys.add(1000, 10, true, false).unwrap();
        keys.export(a).unwrap();
        keys.remove(a).unwrap();
        assert_eq!(keys.remove(a), Err(Status::INVALID_PARAM));
        let b = keys.add(1000, 10, true, false).unwrap();
        keys.export(b).unwrap();
        assert_eq!(a as u32, b as u32, "the same slot");
        assert!(!may(&keys, a, 1000, 1) && may(&keys, b, 1000, 1));
        assert_eq!(
            keys.add(u64::MAX, 2, true, false),
            Err(Status::INVALID_PARAM)
        );
    }

    #[test]
    fn ranges_are_named_by_address_only_where_that_is_allowed() {
        let keys = Keys::new();
        let (one, other) = (
            SocketAddr::from(([10, 0, 0, 1], 7)),
            SocketAddr::from(([10, 0, 0, 1], 8)),
        );
        let at = |address, len, by| keys.named_at(address, len, Some(by));
        let exported = keys.add(1000, 100, true, false).unwrap();
        assert_eq!(
            keys.name(exported, None),
            Err(Status::INVALID_PARAM),
            "not exported yet"
        );
        keys.export(exported).unwrap();
        assert_eq!(at(1000, 1, one), None, "exported by key");
        keys.name(exported, None).unwrap();
        keys.name(exported, None).unwrap();
        // Some before the first question, some after it, some before and gone.
        let early = Keys::new();
        let [kept, gone] = [5000, 6000].map(|base| early.add(base, 10, true, false).unwrap());
        for key in [kept, gone] {
            early.export(key).unwrap();
            early.name(key, None).unwrap();
        }
        early.remove(gone).unwrap();
        assert_eq!(early.named_at(5009, 1, None), Some(Named::Open(kept)));
        assert_eq!(early.named_at(6000, 1, None), None);
        early.remove(kept).unwrap();
        assert_eq!(early.named_at(5009, 1, None), None);
        assert!(early.named.lock().all.is_empty());
        for by in [one, other] {
            for _ in 0..2 {
                assert_eq!(at(1000, 100, by), Some(Named::Open(exported)));
            }
        }
        for (address, len) in [
            (999, 1),
            (1000, 101),
            (1100, 1),
            (1050, u64::MAX),
            (u64::MAX, 2),
            (0, 1),
        ] {
            assert_eq!(at(address, len, one), None, "{address} {len}");
        }
        let read_only = keys.add(3000, 100, false, false).unwrap();
        keys.export(read_only).unwrap();
        assert_eq!(keys.name(read_only, None), Err(Status::INVALID_PARAM));
        // A transfer, for one peer.
        let transfer = keys.add(2000, 100, true, true).unwrap();
        keys.export(transfer).unwrap();
        assert_eq!(keys.name(transfer, None), Err(Status::INVALID_PARAM));
        assert_eq!(
            keys.name(exported, Some([one].into())),
            Err(Status::INVALID_PARAM)
        );
        keys.name(transfer, Some([one].into())).unwrap();
        assert_eq!(
            (at(2000, 1, other), keys.named_at(2000, 1, None)),
            (None, None)
        );
        assert_eq!(at(2040, 60, one), Some(Named::Open(transfer)));
        assert_eq!(at(2000, 39, one), Some(Named::Open(transfer)));
        // One byte is left when it is given up.
        keys.remove(transfer).unwrap();
        assert_eq!((at(2000, 2, one), at(2000, 1, other)), (None, None));
        assert_eq!(at(2039, 1, one), Some(Named::Ended));
        assert_eq!(at(2039, 1, one), None);
        keys.remove(exported).unwrap();
        assert_eq!(at(1000, 1, one), None);
    }

    #[test]
    fn a_transfer_that_is_done_leaves_nothing_and_few_are_remembered() {
        let keys = Keys::new();
        let by = SocketAddr::from(([10, 0, 0, 1], 7));
        let open = |base| {
            let key = keys.add(base, 10, true, true).unwrap();
            keys.export(key).unwrap();
            keys.name(key, Some([by].into())).unwrap();
            key
        };
        let done = open(1000);
        assert_eq!(keys.named_at(1000, 10, Some(by)), Some(Named::Open(done)));
        keys.remove(done).unwrap();
        assert_eq!(keys.named_at(1000, 10, Some(by)), None);
        for n in 0..=MOST_ENDED as u64 {
            keys.remove(open(1000 * n)).unwrap();
        }
        assert_eq!(keys.named_at(0, 10, Some(by)), None, "the oldest");
        assert_eq!(keys.named_at(1000, 10, Some(by)), Some(Named::Ended));
        assert_eq!(keys.named.lock().all.len(), 0);
    }

    #[test]
    fn a_key_says_whether_it_is_for_one_transfer() {
        let keys = Keys::new();
        for one_transfer in [false, true] {
            for _ in 0..100 {
                let key = keys.add(1000, 10, true, one_transfer).unwrap();
                assert_eq!(Keys::is_for_one_transfer(key), one_transfer);
                assert_eq!(keys.expects_transfers(), one_transfer);
                keys.remove(key).unwrap();
                assert!(!keys.expects_transfers());
            }
        }
    }
}
