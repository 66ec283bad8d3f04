//! `Keys`: the memory of a domain that peers may write to, by key.
//!
//! A put from a peer names a key and a range; only ranges that were registered for remote puts and exported are
//! written. A key is a slot and a random nonce, so that a stale or guessed one finds nothing. A range stays registered
//! while it is copied to: after `remove` has returned, no byte of it is accessed.
#![forbid(unsafe_code)]

use crate::ucs::shared_slots::SharedSlots;
use crate::ucs::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::ucs::{Result, Status};

/// Bit of a nonce.
const ONE_TRANSFER: u32 = 1 << 31;

struct Range {
    base: u64,
    len: u64,
    /// Registered for remote puts.
    writable: bool,
    exported: AtomicBool,
}

/// The registrations of one memory domain.
#[derive(Default)]
pub struct Keys {
    ranges: SharedSlots<Range>,
    /// Of those, for one transfer.
    transfers: AtomicUsize,
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
        };
        self.transfers
            .fetch_add(one_transfer.into(), Ordering::Relaxed);
        Ok(self.ranges.insert_as(mark, range))
    }

    /// Removes a registration. `INVALID_PARAM` when there is none of this key.
    pub fn remove(&self, key: u64) -> Result<()> {
        self.ranges.remove(key).ok_or(Status::INVALID_PARAM)?;
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
