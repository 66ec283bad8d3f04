//! `Slots` for several threads: entries named by slot and nonce, looked up without a lock of the whole table. Each
//! entry has a reader-writer lock on a cache line of its own, which only its removal takes exclusively: an entry stays
//! valid while it is used. Chunks of slots never move.
#![forbid(unsafe_code)]

use super::nonces::Nonces;
use crate::sys::lock::{Mutex, RwLock};
use std::sync::OnceLock;

/// Slots in the first chunk; each further one has twice as many as the one before.
const FIRST: usize = 64;
/// Enough for 2^32 slots.
const CHUNKS: usize = 27;

#[repr(align(64))]
struct Slot<T>(RwLock<NoncedValue<T>>);

struct NoncedValue<T> {
    /// Of the value, or of the last one.
    nonce: u32,
    value: Option<T>,
}

struct Free {
    indices: Vec<u32>,
    /// Slots that were ever used.
    used: u32,
    nonces: Nonces,
}

/// Values by id. Ids are never 0.
pub struct SharedSlots<T> {
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    free: Mutex<Free>,
}

impl<T> Default for SharedSlots<T> {
    fn default() -> SharedSlots<T> {
        SharedSlots::new()
    }
}

impl<T> SharedSlots<T> {
    pub fn new() -> SharedSlots<T> {
        SharedSlots {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free {
                indices: Vec::new(),
                used: 0,
                nonces: Nonces::default(),
            }),
        }
    }

    pub fn insert(&self, value: T) -> u64 {
        self.insert_as(|nonce| nonce, value)
    }

    /// As `insert`, with a nonce that `mark` has marked, which must not return 0.
    pub fn insert_as(&self, mark: impl Fn(u32) -> u32, value: T) -> u64 {
        let (index, nonce) = {
            let mut free = self.free.lock();
            let index = free.indices.pop().unwrap_or_else(|| {
                free.used += 1;
                free.used - 1
            });
            (index, mark(free.nonces.draw()))
        };
        let (chunk, at) = place(index);
        let chunk = self.chunks[chunk].get_or_init(|| {
            let fresh = || {
                Slot(RwLock::new(NoncedValue {
                    nonce: 0,
                    value: None,
                }))
            };
            (0..FIRST << chunk).map(|_| fresh()).collect()
        });
        let mut entry = chunk[at].0.write();
        entry.nonce = nonce;
        entry.value = Some(value);
        id(entry.nonce, index)
    }

    /// Calls `f` with the entry; `None` for a stale or invalid id. The entry is locked while `f` runs, so `f` must not
    /// remove it, nor use another one.
    #[inline]
    pub fn with<R>(&self, id: u64, f: impl FnOnce(&T) -> R) -> Option<R> {
        let entry = self.slot(id)?.0.read();
        if u64::from(entry.nonce) != id >> 32 {
            return None;
        }
        entry.value.as_ref().map(f)
    }

    /// Calls `f` with the id of each entry and the entry, one after the other. The entry is locked as for `with`.
    pub fn for_each(&self, mut f: impl FnMut(u64, &T)) {
        let used = self.free.lock().used;
        for index in 0..used {
            let Some(slot) = self.slot(index.into()) else {
                continue;
            };
            let entry = slot.0.read();
            if let Some(value) = &entry.value {
                f(id(entry.nonce, index), value);
            }
        }
    }

    /// Removes an entry, once it is not in use any more.
    pub fn remove(&self, id: u64) -> Option<T> {
        let mut entry = self.slot(id)?.0.write();
        if u64::from(entry.nonce) != id >> 32 {
            return None;
        }
        let value = entry.value.take()?;
        drop(entry);
        self.free.lock().indices.push(id as u32);
        Some(value)
    }

    #[inline]
    fn slot(&self, id: u64) -> Option<&Slot<T>> {
        let (chunk, at) = place(id as u32);
        self.chunks.get(chunk)?.get()?.get(at)
    }
}

fn id(nonce: u32, index: u32) -> u64 {
    u64::from(nonce) << 32 | u64::from(index)
}

/// Chunk of an index, and the place in it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST;
    let chunk = (shifted / FIRST).ilog2() as usize;
    (chunk, shifted - (FIRST << chunk))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for index in 0..5000 {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(place(u32::MAX).0, CHUNKS - 1);
    }

    #[test]
    fn only_the_id_of_a_living_entry_finds_it() {
        let slots = SharedSlots::new();
        let ids: Vec<u64> = (0..1000).map(|i| slots.insert(i)).collect();
        for (i, &id) in ids.iter().enumerate() {
            assert_ne!(id, 0);
            assert_eq!(slots.with(id, |v| *v), Some(i));
            assert_eq!(slots.with(id + (1 << 32), |v| *v), None);
        }
        assert_eq!(slots.with(0, |v| *v), None);
        assert_eq!(slots.with(u64::MAX, |v| *v), None);
        assert_eq!(slots.remove(ids[7]), Some(7));
        assert_eq!(slots.remove(ids[7]), None);
        assert_eq!(slots.with(ids[7], |v| *v), None);
        let again = slots.insert(5000);
        assert_eq!(again as u32, ids[7] as u32);
        assert_eq!(slots.with(ids[7], |v| *v), None);
        assert_eq!(slots.with(again, |v| *v), Some(5000));
        let marked = slots.insert_as(|nonce| nonce | 1 << 31, 1);
        assert_ne!(marked & 1 << 63, 0);
        assert_eq!(slots.with(marked, |v| *v), Some(1));
        slots.remove(ids[8]);
        let mut all = Vec::new();
        slots.for_each(|id, v| all.push((id, *v)));
        all.sort_by_key(|(_, v)| *v);
        let rest = ids.iter().zip(0..).filter(|(_, i)| ![7, 8].contains(i));
        let rest = rest.map(|(&id, i)| (id, i)).chain([(again, 5000)]);
        let mut expected: Vec<(u64, usize)> = rest.chain([(marked, 1)]).collect();
        expected.sort_by_key(|(_, v)| *v);
        assert_eq!(all, expected);
    }

    /// An entry is one word that its owner clears right after the removal.
    #[test]
    fn an_entry_stays_while_it_is_looked_at() {
        let slots = SharedSlots::new();
        let named = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let look = || {
            while !stop.load(Ordering::Relaxed) {
                let id = named.load(Ordering::Acquire);
                slots.with(id, |word: &Arc<AtomicU64>| {
                    for _ in 0..20 {
                        assert_eq!(word.load(Ordering::Relaxed), 1);
                    }
                });
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(look);
            scope.spawn(look);
            for _ in 0..2000 {
                let id = slots.insert(Arc::new(AtomicU64::new(1)));
                named.store(id, Ordering::Release);
                let word = slots.remove(id).unwrap();
                word.store(0, Ordering::Relaxed);
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}
