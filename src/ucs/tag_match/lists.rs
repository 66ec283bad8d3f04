//! Lists that are linked by index, a slab of entries, and hash tables of lists that grow with what is in them.
//!
//! Peers choose the tags, so the hash uses two random words: a peer that does not know them cannot choose tags that
//! collide.

use std::hash::{BuildHasher, RandomState};

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
    generation: u32,
    prev: u32,
    next: u32,
    pub value: Option<T>,
}

pub struct Slab<T> {
    pub entries: Vec<SlabEntry<T>>,
    free: u32,
    pub live: usize,
    /// The generation of new entries: above those of all entries whose memory was given back.
    first_generation: u32,
}

/// A slab that is full grows by this share of its length, at least by so many entries: where a million messages wait,
/// places for another million would be too many.
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
            first_generation: 0,
        }
    }

    pub fn insert(&mut self, tag: u64, value: T) -> u32 {
        self.live += 1;
        if self.free != NIL {
            let i = self.free;
            let e = &mut self.entries[i as usize];
            self.free = e.next;
            e.tag = tag;
            e.value = Some(value);
            return i;
        }
        self.append(tag, value)
    }

    #[cold]
    fn append(&mut self, tag: u64, value: T) -> u32 {
        let len = self.entries.len();
        if len == self.entries.capacity() {
            self.entries.reserve_exact((len / GROWTH).max(LEAST_GROWTH));
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

    pub fn tag(&self, i: u32) -> u64 {
        self.entries[i as usize].tag
    }

    pub fn value(&self, i: u32) -> Option<&T> {
        self.entries[i as usize].value.as_ref()
    }

    pub fn release(&mut self, i: u32) -> Option<T> {
        let free = self.free;
        let e = &mut self.entries[i as usize];
        let value = e.value.take();
        e.generation = e.generation.wrapping_add(1);
        e.next = free;
        self.free = i;
        self.live -= 1;
        if self.live == 0 && self.entries.len() > ROOM_KEPT {
            self.give_back();
        }
        value
    }

    #[cold]
    fn give_back(&mut self) {
        let last = self.entries.iter().map(|e| e.generation).max();
        self.first_generation = last.unwrap_or(0).wrapping_add(1);
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
    #[inline]
    fn links(&mut self, i: u32) -> (&mut u32, &mut u32) {
        let e = &mut self.entries[i as usize];
        (&mut e.prev, &mut e.next)
    }

    #[inline]
    fn next(&self, i: u32) -> u32 {
        self.entries[i as usize].next
    }
}

/// Two random words of the hash.
#[derive(Clone, Copy)]
struct Hasher {
    mix: u64,
    factor: u64,
}

impl Hasher {
    fn random() -> Hasher {
        let random = RandomState::new();
        Hasher {
            mix: random.hash_one(1),
            factor: random.hash_one(2) | 1,
        }
    }

    /// Both halves of the product, folded: each bit of the key moves bits all over it. Keys at equal distances, which programs
    /// like, would often be so in the lower bits as well: the golden ratio spreads them in the upper ones.
    #[inline(always)]
    fn hash(self, key: u64) -> u64 {
        let product = u128::from(key ^ self.mix) * u128::from(self.factor);
        ((product >> 64) as u64 ^ product as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Lists of entries by the hash of their keys, about as many lists as entries. Those of one key keep their order.
pub struct Buckets {
    lists: Vec<List>,
    hasher: Hasher,
    len: usize,
    /// How many lists there are at first; a power of two, 2 at least.
    first: usize,
    /// Bits of a hash that do not say which list.
    shift: u32,
}

/// Entries for each list before there are more lists.
const LOAD: usize = 2;

impl Buckets {
    pub const fn new(first: usize) -> Buckets {
        Buckets {
            lists: Vec::new(),
            hasher: Hasher { mix: 0, factor: 0 },
            len: 0,
            first,
            shift: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        (self.hasher.hash(key) >> self.shift) as usize
    }

    /// The first of those that may be of `key`.
    #[inline(always)]
    pub fn head(&self, key: u64) -> u32 {
        self.lists.get(self.place(key)).map_or(NIL, |l| l.head)
    }

    /// Appends an entry to the others of its key.
    #[inline]
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

    #[inline]
    pub fn remove<L: Linked>(&mut self, all: &mut L, i: u32, key: u64) {
        self.len -= 1;
        let place = self.place(key);
        all.unlink(&mut self.lists[place], i);
        if self.len == 0 && self.lists.len() > ROOM_KEPT {
            self.lists = Vec::new();
        }
    }

    #[cold]
    fn grow<L: Linked>(&mut self, all: &mut L, key_of: impl Fn(&L, u32) -> u64) {
        if self.lists.is_empty() {
            self.hasher = Hasher::random();
        }
        let more = vec![EMPTY; (self.lists.len() * 2).max(self.first)];
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
