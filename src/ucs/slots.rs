//! A table whose entries are named by slot and nonce: the ids that travel to peers and come back. A stale or
//! guessed id finds nothing.
#![forbid(unsafe_code)]

use super::nonces::Nonces;

struct Slot<T> {
    /// Of the value, or of the last one.
    nonce: u32,
    /// Of a free slot: the one that was freed before it, or `NONE`.
    next: u32,
    value: Option<T>,
}

/// No slot has this index.
const NONE: u32 = u32::MAX;

/// Values by id. Ids are never 0.
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// The slot that was freed last, or `NONE`.
    free: u32,
    live: usize,
    nonces: Nonces,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots::new()
    }
}

impl<T> Slots<T> {
    pub fn new() -> Slots<T> {
        Slots {
            slots: Vec::new(),
            free: NONE,
            live: 0,
            nonces: Nonces::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.live
    }

    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    pub fn insert(&mut self, value: T) -> u64 {
        let index = match self.free {
            NONE => {
                self.slots.push(Slot {
                    nonce: 0,
                    next: NONE,
                    value: None,
                });
                (self.slots.len() - 1) as u32
            }
            freed => freed,
        };
        let slot = &mut self.slots[index as usize];
        self.free = slot.next;
        slot.nonce = self.nonces.draw();
        slot.value = Some(value);
        self.live += 1;
        u64::from(slot.nonce) << 32 | u64::from(index)
    }

    #[inline]
    pub fn get(&self, id: u64) -> Option<&T> {
        let slot = self.slots.get(id as u32 as usize)?;
        if u64::from(slot.nonce) == id >> 32 {
            slot.value.as_ref()
        } else {
            None
        }
    }

    pub fn remove(&mut self, id: u64) -> Option<T> {
        let index = id as u32;
        let slot = self.slots.get_mut(index as usize)?;
        if u64::from(slot.nonce) != id >> 32 {
            return None;
        }
        let value = slot.value.take()?;
        slot.next = core::mem::replace(&mut self.free, index);
        self.live -= 1;
        Some(value)
    }

    /// The ids of all entries.
    pub fn ids(&self) -> Vec<u64> {
        let live = self
            .slots
            .iter()
            .enumerate()
            .filter(|(_, s)| s.value.is_some());
        live.map(|(index, s)| u64::from(s.nonce) << 32 | index as u64)
            .collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|s| s.value.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_and_guessed_ids_find_nothing() {
        let mut s = Slots::new();
        let a = s.insert("a");
        assert_eq!(s.get(a), Some(&"a"));
        assert_eq!(s.remove(a), Some("a"));
        let b = s.insert("b");
        assert_ne!(a, b);
        assert_eq!(s.get(a), None);
        assert_eq!(s.remove(a), None);
        assert_eq!(s.get(b), Some(&"b"));
        assert_eq!(s.get(0), None);
        assert_eq!(s.get(u64::MAX), None);
        assert_eq!(s.len(), 1);
    }
}
