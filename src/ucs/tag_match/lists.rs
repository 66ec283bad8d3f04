//! Lists that are linked by index, a slab of entries, and hash tables of lists that grow with what is in them.
//!
//! Peers choose the tags, so the hash has a random key.

use crate::ucs::keyed_hash::HashKey;

/// An index that is none.
pub const NIL: u32 = u32::MAX;

/// First and last entry of a list.
#[derive(Clone, Copy)]
pub struct List {
    pub head: u32,
    pub tail: u32,
}

pub const EMPTY: List = List {
    head: NIL,
    tail: NIL,
};

/// Entries with links to the previous and the next one.
pub trait Linked {
    /// The entries before and behind one.
    fn links(&mut self, i: u32) -> (&mut u32, &mut u32);
    fn next(&self, i: u32) -> u32;

    #[inline(always)]
    fn push_back(&mut self, list: &mut List, i: u32) {
        let (prev, next) = self.links(i);
        *prev = list.tail;
        *next = NIL;
        match list.tail {
            NIL => list.head = i,
            tail => *self.links(tail).1 = i,
        }
        list.tail = i;
    }

    #[inline(always)]
    fn unlink(&mut self, list: &mut List, i: u32) {
        let (prev, next) = {
            let (prev, next) = self.links(i);
            (*prev, *next)
        };
        match prev {
            NIL => list.head = next,
            p => *self.links(p).1 = next,
        }
        match next {
            NIL => list.tail = prev,
            n => *self.links(n).0 = prev,
        }
    }
}

/// There can be very many of those: each word counts.
pub struct SlabEntry<T> {
    pub tag: u64,
    pub generation: u32,
    prev: u32,
    pub next: u32,
    pub value: Option<T>,
}

pub struct Slab<T> {
    pub entries: Vec<SlabEntry<T>>,
    free: u32,
    pub live: usize,
    /// The last generation of all.
    last_generation: u32,
    /// The generation of new entries: above those of all entries whose memory was given back.
    first_generation: u32,
}

/// A slab that is full doubles, at least by `LEAST_GROWTH` entries, up to so many bytes. From there on it grows by a share of
/// its length, and the kernel moves it without a copy: where a million messages wait, places for another million would be
/// too many.
const DOUBLED: usize = 128 << 10;
const GROWTH: usize = 8;
const LEAST_GROWTH: usize = 32;
/// An empty slab or table with more entries gives its memory back.
const ROOM_KEPT: usize = 1024;

impl<T> Slab<T> {
    pub const fn new() -> Slab<T> {
        Slab {
            entries: Vec::new(),
            free: NIL,
            live: 0,
            last_generation: 0,
            first_generation: 0,
        }
    }

    #[inline(always)]
    pub fn insert(&mut self, tag: u64, value: T) -> u32 {
        self.live += 1;
        let i = self.free;
        // `NIL` is behind all entries.
        if let Some(e) = self.entries.get_mut(i as usize) {
            self.free = e.next;
            e.tag = tag;
            e.value = Some(value);
            return i;
        }
        let len = self.entries.len();
        if len == self.entries.capacity() {
            self.extend();
        }
        self.entries.push(SlabEntry {
            tag,
            generation: self.first_generation,
            prev: NIL,
            next: NIL,
            value: Some(value),
        });
        len as u32
    }

    #[cold]
    fn extend(&mut self) {
        let len = self.entries.len();
        let more = match len * size_of::<SlabEntry<T>>() < DOUBLED {
            true => len.max(LEAST_GROWTH),
            false => len / GROWTH,
        };
        self.entries.reserve_exact(more);
    }

    pub fn tag(&self, i: u32) -> u64 {
        self.entries[i as usize].tag
    }

    pub fn value(&self, i: u32) -> Option<&T> {
        self.entries[i as usize].value.as_ref()
    }

    /// Frees an entry.
    #[inline]
    pub fn release(&mut self, i: u32) -> Option<T> {
        self.release_by(i, Option::take)
    }

    /// As `release`, with the value in its place, from which `take` removes it.
    #[inline(always)]
    pub fn release_by<R>(&mut self, i: u32, take: impl FnOnce(&mut Option<T>) -> R) -> R {
        let free = self.free;
        let e = &mut self.entries[i as usize];
        let taken = take(&mut e.value);
        e.generation = e.generation.wrapping_add(1);
        self.last_generation = self.last_generation.max(e.generation);
        e.next = free;
        self.free = i;
        self.live -= 1;
        if self.live == 0 && self.entries.len() > ROOM_KEPT {
            self.give_back();
        }
        taken
    }

    #[cold]
    fn give_back(&mut self) {
        self.first_generation = self.last_generation.wrapping_add(1);
        self.entries = Vec::new();
        self.free = NIL;
    }

    pub fn generation(&self, i: u32) -> u32 {
        self.entries[i as usize].generation
    }

    /// Whether the entry at an index is there, and of this generation.
    pub fn is_live(&self, i: u32, generation: u32) -> bool {
        let entry = self.entries.get(i as usize);
        entry.is_some_and(|e| e.generation == generation && e.value.is_some())
    }
}

impl<T> Linked for Slab<T> {
    #[inline(always)]
    fn links(&mut self, i: u32) -> (&mut u32, &mut u32) {
        let e = &mut self.entries[i as usize];
        (&mut e.prev, &mut e.next)
    }

    #[inline]
    fn next(&self, i: u32) -> u32 {
        self.entries[i as usize].next
    }
}

/// Lists of entries by the hash of their keys, about as many lists as entries. Those of one key keep their order.
pub struct Buckets {
    lists: Vec<List>,
    hasher: HashKey,
    len: usize,
    /// How many lists there are at first; a power of two, 2 at least.
    first: usize,
    /// Bits of a hash that do not say which list.
    shift: u32,
}

/// Entries for each list before there are more lists, and how many times more: a step that is long moves an entry seldom.
const LOAD: usize = 2;
const STEP: usize = 8;

impl Buckets {
    pub const fn new(first: usize) -> Buckets {
        Buckets {
            lists: Vec::new(),
            hasher: HashKey::NONE,
            len: 0,
            first,
            shift: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the list of a key, for the functions below.
    #[inline(always)]
    pub fn place(&self, key: u64) -> usize {
        (self.hasher.hash(key) >> self.shift) as usize
    }

    /// The first of those that may be of the key.
    #[inline(always)]
    pub fn head(&self, place: usize) -> u32 {
        self.lists.get(place).map_or(NIL, |l| l.head)
    }

    /// Appends an entry to the others of its key.
    #[inline(always)]
    pub fn push<L: Linked>(
        &mut self,
        all: &mut L,
        i: u32,
        key: u64,
        key_of: impl Fn(&L, u32) -> u64,
    ) {
        if self.len >= self.lists.len() * LOAD {
            self.grow(all, key_of);
        }
        self.len += 1;
        let place = self.place(key);
        all.push_back(&mut self.lists[place], i);
    }

    #[inline(always)]
    pub fn remove<L: Linked>(&mut self, all: &mut L, i: u32, place: usize) {
        self.len -= 1;
        all.unlink(&mut self.lists[place], i);
        if self.len == 0 && self.lists.len() > ROOM_KEPT {
            self.give_back();
        }
    }

    #[cold]
    fn give_back(&mut self) {
        self.lists = Vec::new();
    }

    #[cold]
    fn grow<L: Linked>(&mut self, all: &mut L, key_of: impl Fn(&L, u32) -> u64) {
        if self.lists.is_empty() {
            self.hasher = HashKey::random();
        }
        let more = vec![EMPTY; (self.lists.len() * STEP).max(self.first)];
        self.shift = u64::BITS - more.len().ilog2();
        for list in core::mem::replace(&mut self.lists, more) {
            let mut i = list.head;
            while i != NIL {
                let next = all.next(i);
                let place = self.place(key_of(all, i));
                all.push_back(&mut self.lists[place], i);
                i = next;
            }
        }
    }
}

/// Counts how many entries are looked at, in tests.
#[inline(always)]
pub fn looked_at() {
    #[cfg(test)]
    LOOKS.set(LOOKS.get() + 1);
}

#[cfg(test)]
thread_local! {
    pub static LOOKS: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_slab_gives_its_memory_back_and_revives_no_entry() {
        let mut slab = Slab::new();
        let mut earlier = Vec::new();
        for round in 0..3 {
            let entries: Vec<_> = (0..ROOM_KEPT + 1)
                .map(|n| slab.insert(n as u64, n))
                .collect();
            for i in entries {
                assert!(
                    earlier.iter().all(|(old, of)| !slab.is_live(*old, *of)),
                    "{round}"
                );
                if i % 100 == 0 {
                    earlier.push((i, slab.generation(i)));
                }
                slab.release(i);
            }
            assert_eq!((slab.live, slab.entries.capacity()), (0, 0));
        }
    }
}
