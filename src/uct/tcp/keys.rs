//! `Keys`: the memory of a domain that peers may write to, by key.
//!
//! A put from a peer names a key and a range; only what was registered for remote puts and exported
//! is ever written. A key is a slot and a random nonce, so that an old or a guessed one finds nothing.
//! Copying happens under the lock: once `remove` is back, no byte of the range is touched.

use crate::sys::random;
use crate::ucs::{Result, Status};
use parking_lot::Mutex;

/// Low bits of a key that name the slot; the rest is the nonce.
const SLOT_BITS: u32 = 24;
const MAX_SLOTS: usize = 1 << SLOT_BITS;

#[derive(Clone, Copy)]
struct Range {
    key: u64,
    base: u64,
    len: u64,
    /// Registered for remote puts.
    writable: bool,
    exported: bool,
}

#[derive(Default)]
struct Slots {
    ranges: Vec<Option<Range>>,
    free: Vec<usize>,
}

/// The registrations of one memory domain.
#[derive(Default)]
pub struct Keys {
    slots: Mutex<Slots>,
}

impl Keys {
    pub fn new() -> Keys {
        Keys::default()
    }

    /// Registers `len` bytes at `base`; the answer is the key, never 0.
    pub fn add(&self, base: u64, len: u64, writable: bool) -> Result<u64> {
        base.checked_add(len).ok_or(Status::INVALID_PARAM)?;
        let nonce = random::random_u64()? << SLOT_BITS | 1 << SLOT_BITS;
        let mut slots = self.slots.lock();
        let slot = match slots.free.pop() {
            Some(slot) => slot,
            None if slots.ranges.len() < MAX_SLOTS => {
                slots.ranges.push(None);
                slots.ranges.len() - 1
            }
            None => {
                crate::ucs_error!("tcp: more than {MAX_SLOTS} memory registrations of one domain");
                return Err(Status::EXCEEDS_LIMIT);
            }
        };
        let key = nonce | slot as u64;
        slots.ranges[slot] = Some(Range {
            key,
            base,
            len,
            writable,
            exported: false,
        });
        Ok(key)
    }

    /// Forgets a registration. `INVALID_PARAM` when there is none of this key.
    pub fn remove(&self, key: u64) -> Result<()> {
        let mut slots = self.slots.lock();
        slots.find(key)?;
        let slot = slot_of(key);
        slots.ranges[slot] = None;
        slots.free.push(slot);
        Ok(())
    }

    /// From now on peers that show the key may write to the range.
    pub fn export(&self, key: u64) -> Result<()> {
        self.slots
            .lock()
            .find(key)
            .map(|range| range.exported = true)
    }

    /// Runs `write` if a peer may write `len` bytes at `address` with `key`; the range stays
    /// registered meanwhile. `write` must not register memory.
    pub fn with_range<R>(
        &self,
        key: u64,
        address: u64,
        len: u64,
        write: impl FnOnce(*mut u8) -> R,
    ) -> Result<R> {
        let mut slots = self.slots.lock();
        let range = *slots.find(key)?;
        let offset = address.checked_sub(range.base);
        let end = offset.and_then(|o| o.checked_add(len));
        if !range.writable || !range.exported || end.is_none_or(|end| end > range.len) {
            return Err(Status::INVALID_ADDR);
        }
        Ok(write(address as *mut u8))
    }
}

impl Slots {
    fn find(&mut self, key: u64) -> Result<&mut Range> {
        match self.ranges.get_mut(slot_of(key)) {
            Some(Some(range)) if range.key == key => Ok(range),
            _ => Err(Status::INVALID_PARAM),
        }
    }
}

fn slot_of(key: u64) -> usize {
    key as usize & (MAX_SLOTS - 1)
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
        let a = keys.add(1000, 100, true).unwrap();
        let b = keys.add(2000, 100, false).unwrap();
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
        assert!(!may(&keys, a ^ (1 << 30), 1000, 1), "wrong nonce");
        assert!(!may(&keys, u64::MAX, 1000, 1) && !may(&keys, 0, 1000, 1));
    }

    #[test]
    fn a_reused_slot_does_not_answer_to_the_old_key() {
        let keys = Keys::new();
        let a = keys.add(1000, 10, true).unwrap();
        keys.export(a).unwrap();
        keys.remove(a).unwrap();
        assert_eq!(keys.remove(a), Err(Status::INVALID_PARAM));
        let b = keys.add(1000, 10, true).unwrap();
        keys.export(b).unwrap();
        assert_eq!(slot_of(a), slot_of(b));
        assert!(!may(&keys, a, 1000, 1) && may(&keys, b, 1000, 1));
        assert_eq!(keys.add(u64::MAX, 2, true), Err(Status::INVALID_PARAM));
    }
}
