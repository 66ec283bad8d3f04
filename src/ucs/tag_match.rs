//! Tag matching: who waits for which tag, and which messages wait for whom.
//!
//! `Posted` holds receives in the order in which they were posted, `Arrived` messages in the order
//! in which they came. Both answer with the oldest match. Entries with a full mask are found by
//! hash; wildcards stand in a list of their own, so that they cost nothing where there are none.
//! Entries live in a slab and are linked by index: no allocation when warm. A receive that is posted
//! where there is no other, which is what a ping-pong does, needs no list. UCT's and UCP's tag
//! matching are both built on it.

/// An index that is none.
const NIL: u32 = u32::MAX;

/// Buckets of the hash tables; a power of two.
const BUCKETS: usize = 1024;

/// Names an entry; stays valid until the entry is taken or removed, and never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryId {
    index: u32,
    generation: u32,
}

impl EntryId {
    /// The id as one word, for places that keep words.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// Back from `to_bits`.
    pub fn from_bits(bits: u64) -> EntryId {
        EntryId {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }
}

/// There can be very many of those: each word counts.
struct Entry<T> {
    tag: u64,
    generation: u32,
    /// Links of the hash bucket or the wildcard list.
    prev: u32,
    next: u32,
    value: Option<T>,
}

struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: u32,
    live: usize,
}

/// What a posted receive has in its entry.
struct Waits<T> {
    mask: u64,
    /// Order among all of them.
    seq: u64,
    value: T,
}

/// What a message that came has in its entry.
struct Came<T> {
    /// Links of the list of all.
    prev: u32,
    next: u32,
    value: T,
}

/// A slab that is full grows by this share of its length, at least by so many entries: where a million messages wait,
/// places for another million would be too many.
const GROWTH: usize = 8;
const LEAST_GROWTH: usize = 32;

/// First and last entry of a list.
#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

const EMPTY: List = List {
    head: NIL,
    tail: NIL,
};

#[inline]
fn bucket(tag: u64) -> usize {
    // Multiplicative hashing: consecutive tags spread, the top bits are the best.
    (tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize & (BUCKETS - 1)
}

impl<T> Slab<T> {
    const fn new() -> Slab<T> {
        Slab {
            entries: Vec::new(),
            free: NIL,
            live: 0,
        }
    }

    fn insert(&mut self, tag: u64, value: T) -> u32 {
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
        self.entries.push(Entry {
            tag,
            generation: 0,
            prev: NIL,
            next: NIL,
            value: Some(value),
        });
        len as u32
    }

    fn value(&self, i: u32) -> Option<&T> {
        self.entries[i as usize].value.as_ref()
    }

    fn release(&mut self, i: u32) -> Option<T> {
        let free = self.free;
        let e = &mut self.entries[i as usize];
        let value = e.value.take();
        e.generation = e.generation.wrapping_add(1);
        e.next = free;
        self.free = i;
        self.live -= 1;
        value
    }

    fn id(&self, i: u32) -> EntryId {
        EntryId {
            index: i,
            generation: self.entries[i as usize].generation,
        }
    }

    /// The index behind an id that is still valid.
    fn find(&self, id: EntryId) -> Option<u32> {
        let e = self.entries.get(id.index as usize)?;
        (e.generation == id.generation && e.value.is_some()).then_some(id.index)
    }

    fn push_back(&mut self, list: &mut List, i: u32) {
        let e = &mut self.entries[i as usize];
        e.prev = list.tail;
        e.next = NIL;
        if list.tail == NIL {
            list.head = i;
        } else {
            self.entries[list.tail as usize].next = i;
        }
        list.tail = i;
    }

    fn unlink(&mut self, list: &mut List, i: u32) {
        let (prev, next) = {
            let e = &self.entries[i as usize];
            (e.prev, e.next)
        };
        match prev {
            NIL => list.head = next,
            p => self.entries[p as usize].next = next,
        }
        match next {
            NIL => list.tail = prev,
            n => self.entries[n as usize].prev = prev,
        }
    }
}

/// An entry that came where there was no other: it is older than everything in the slab. `NIL` is its
/// index.
struct Oldest<T> {
    entry: Option<Lone<T>>,
    /// How many there were before.
    generation: u32,
}

struct Lone<T> {
    tag: u64,
    mask: u64,
    value: T,
}

impl<T> Oldest<T> {
    const fn new() -> Oldest<T> {
        Oldest {
            entry: None,
            generation: 0,
        }
    }

    fn id(&self) -> EntryId {
        EntryId {
            index: NIL,
            generation: self.generation,
        }
    }

    #[inline(always)]
    fn put(&mut self, tag: u64, mask: u64, value: T) -> EntryId {
        self.generation = self.generation.wrapping_add(1);
        self.entry = Some(Lone { tag, mask, value });
        self.id()
    }

    #[inline]
    fn take(&mut self) -> Option<Lone<T>> {
        self.entry.take()
    }

    #[inline]
    fn forget(&mut self) {
        self.entry = None;
    }

    /// The entry, where `id` is its.
    fn take_by(&mut self, id: EntryId) -> Option<Lone<T>> {
        (self.generation == id.generation)
            .then(|| self.take())
            .flatten()
    }
}

/// Posted receives: a tag, a mask of the bits that count, and what the owner keeps.
pub struct Posted<T> {
    oldest: Oldest<T>,
    slab: Slab<Waits<T>>,
    seq: u64,
    exact: Vec<List>,
    wild: List,
}

impl<T> Default for Posted<T> {
    fn default() -> Posted<T> {
        Posted::new()
    }
}

impl<T> Posted<T> {
    pub fn new() -> Posted<T> {
        Posted {
            oldest: Oldest::new(),
            slab: Slab::new(),
            seq: 0,
            exact: Vec::new(),
            wild: EMPTY,
        }
    }

    pub fn len(&self) -> usize {
        self.slab.live + usize::from(self.oldest.entry.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.slab.live == 0 && self.oldest.entry.is_none()
    }

    /// Posts a receive behind all others.
    #[inline(always)]
    pub fn post(&mut self, tag: u64, mask: u64, value: T) -> EntryId {
        if !self.is_empty() {
            return self.post_behind(tag, mask, value);
        }
        self.oldest.put(tag & mask, mask, value)
    }

    #[inline(never)]
    fn post_behind(&mut self, tag: u64, mask: u64, value: T) -> EntryId {
        self.seq += 1;
        let seq = self.seq;
        let i = self.slab.insert(tag & mask, Waits { mask, seq, value });
        if mask == u64::MAX {
            if self.exact.is_empty() {
                self.exact = vec![EMPTY; BUCKETS];
            }
            self.slab.push_back(&mut self.exact[bucket(tag)], i);
        } else {
            self.slab.push_back(&mut self.wild, i);
        }
        self.slab.id(i)
    }

    /// The oldest receive of the slab that matches a message of `tag`.
    #[inline]
    fn find(&self, tag: u64) -> u32 {
        let mut exact = match self.exact.get(bucket(tag)) {
            Some(list) => list.head,
            None => NIL,
        };
        while exact != NIL {
            let e = &self.slab.entries[exact as usize];
            if e.tag == tag {
                break;
            }
            exact = e.next;
        }
        if self.wild.head == NIL {
            return exact;
        }
        let mut wild = self.wild.head;
        while wild != NIL {
            let e = &self.slab.entries[wild as usize];
            if e.value.as_ref().is_some_and(|w| e.tag == tag & w.mask) {
                break;
            }
            wild = e.next;
        }
        match (exact, wild) {
            (e, NIL) => e,
            (NIL, w) => w,
            (e, w) => {
                let seq = |i| self.slab.value(i).map(|w| w.seq);
                if seq(e) < seq(w) { e } else { w }
            }
        }
    }

    /// Takes the oldest receive of all, if it matches a message of `tag`: what most messages find.
    #[inline(always)]
    fn take_oldest(&mut self, tag: u64) -> Option<T> {
        match &self.oldest.entry {
            Some(lone) if lone.tag == tag & lone.mask => self.oldest.take().map(|lone| lone.value),
            _ => None,
        }
    }

    /// Takes the oldest receive that matches a message of `tag`.
    #[inline]
    pub fn take(&mut self, tag: u64) -> Option<T> {
        if let Some(oldest) = self.take_oldest(tag) {
            return Some(oldest);
        }
        if self.slab.live == 0 {
            return None;
        }
        match self.find(tag) {
            NIL => None,
            i => self.drop_entry(i),
        }
    }

    /// Looks at the oldest receive that matches a message of `tag`.
    pub fn peek(&self, tag: u64) -> Option<(EntryId, &T)> {
        if let Some(lone) = &self.oldest.entry
            && lone.tag == tag & lone.mask
        {
            return Some((self.oldest.id(), &lone.value));
        }
        match self.find(tag) {
            NIL => None,
            i => Some((self.slab.id(i), &self.slab.value(i)?.value)),
        }
    }

    /// Takes one receive back; `None` when it is matched already.
    pub fn remove(&mut self, id: EntryId) -> Option<T> {
        if id.index == NIL {
            return self.oldest.take_by(id).map(|lone| lone.value);
        }
        let i = self.slab.find(id)?;
        self.drop_entry(i)
    }

    fn drop_entry(&mut self, i: u32) -> Option<T> {
        let tag = self.slab.entries[i as usize].tag;
        if self.slab.value(i)?.mask == u64::MAX {
            self.slab.unlink(&mut self.exact[bucket(tag)], i);
        } else {
            self.slab.unlink(&mut self.wild, i);
        }
        self.slab.release(i).map(|w| w.value)
    }

    /// Takes every receive, the oldest first, the others in the order of the slab.
    pub fn drain(&mut self) -> Vec<T> {
        let oldest = self.oldest.take().map(|lone| lone.value);
        let live: Vec<u32> = (0..self.slab.entries.len() as u32)
            .filter(|&i| self.slab.entries[i as usize].value.is_some())
            .collect();
        let behind = live.into_iter().filter_map(|i| self.drop_entry(i));
        oldest.into_iter().chain(behind).collect()
    }
}

/// Messages that no receive matched when they came.
pub struct Arrived<T> {
    oldest: Oldest<T>,
    slab: Slab<Came<T>>,
    by_tag: Vec<List>,
    all: List,
}

impl<T> Default for Arrived<T> {
    fn default() -> Arrived<T> {
        Arrived::new()
    }
}

impl<T> Arrived<T> {
    pub fn new() -> Arrived<T> {
        Arrived {
            oldest: Oldest::new(),
            slab: Slab::new(),
            by_tag: Vec::new(),
            all: EMPTY,
        }
    }

    pub fn len(&self) -> usize {
        self.slab.live + usize::from(self.oldest.entry.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.slab.live == 0 && self.oldest.entry.is_none()
    }

    /// Adds a message behind all others.
    #[inline(always)]
    pub fn push(&mut self, tag: u64, value: T) -> EntryId {
        if self.is_empty() {
            return self.oldest.put(tag, u64::MAX, value);
        }
        self.push_behind(tag, value)
    }

    /// The same, of what `make` makes, which is shown to `fill` in its place: each way makes its own, so that what is
    /// written in words is not moved in pairs, which would wait for the writes.
    #[inline(always)]
    pub fn push_filled(
        &mut self,
        tag: u64,
        make: impl Fn() -> T,
        fill: impl Fn(&mut T),
    ) -> EntryId {
        if self.is_empty() {
            let id = self.oldest.put(tag, u64::MAX, make());
            if let Some(lone) = &mut self.oldest.entry {
                fill(&mut lone.value);
            }
            return id;
        }
        self.push_filled_behind(tag, make, fill)
    }

    #[inline(never)]
    fn push_filled_behind(
        &mut self,
        tag: u64,
        make: impl Fn() -> T,
        fill: impl Fn(&mut T),
    ) -> EntryId {
        let id = self.push_behind(tag, make());
        if let Some(value) = self.get_mut(id) {
            fill(value);
        }
        id
    }

    fn push_behind(&mut self, tag: u64, value: T) -> EntryId {
        let (prev, next) = (self.all.tail, NIL);
        let i = self.slab.insert(tag, Came { prev, next, value });
        if self.by_tag.is_empty() {
            self.by_tag = vec![EMPTY; BUCKETS];
        }
        self.slab.push_back(&mut self.by_tag[bucket(tag)], i);
        match self.came(prev) {
            None => self.all.head = i,
            Some(before) => before.next = i,
        }
        self.all.tail = i;
        self.slab.id(i)
    }

    /// The entry at an index that may be none.
    fn came(&mut self, i: u32) -> Option<&mut Came<T>> {
        self.slab.entries.get_mut(i as usize)?.value.as_mut()
    }

    fn find(&self, tag: u64, mask: u64) -> u32 {
        if self.slab.live == 0 {
            return NIL;
        }
        let mut i = if mask == u64::MAX {
            self.by_tag[bucket(tag)].head
        } else {
            self.all.head
        };
        while i != NIL {
            let e = &self.slab.entries[i as usize];
            if (e.tag ^ tag) & mask == 0 {
                return i;
            }
            i = match &e.value {
                Some(came) if mask != u64::MAX => came.next,
                _ => e.next,
            };
        }
        NIL
    }

    /// Looks at the oldest message that a receive of `tag` and `mask` matches: its id, its own tag
    /// and what the owner keeps.
    #[inline(always)]
    pub fn peek(&self, tag: u64, mask: u64) -> Option<(EntryId, u64, &T)> {
        if let Some(lone) = &self.oldest.entry
            && (lone.tag ^ tag) & mask == 0
        {
            return Some((self.oldest.id(), lone.tag, &lone.value));
        }
        self.peek_behind(tag, mask)
    }

    #[inline(never)]
    fn peek_behind(&self, tag: u64, mask: u64) -> Option<(EntryId, u64, &T)> {
        match self.find(tag, mask) {
            NIL => None,
            i => {
                let tag = self.slab.entries[i as usize].tag;
                Some((self.slab.id(i), tag, &self.slab.value(i)?.value))
            }
        }
    }

    /// Takes the oldest message that a receive of `tag` and `mask` matches, with its own tag.
    #[inline]
    pub fn take(&mut self, tag: u64, mask: u64) -> Option<(u64, T)> {
        let (id, ..) = self.peek(tag, mask)?;
        self.remove(id)
    }

    /// Shows `taker` the oldest message that a receive of `tag` and `mask` matches, by its own tag and
    /// what the owner keeps. Where it takes it, the message goes, from its place; one that `holds` nothing is not dropped.
    #[inline(always)]
    pub fn consume<R>(
        &mut self,
        tag: u64,
        mask: u64,
        taker: impl FnOnce(u64, &T) -> Option<R>,
        holds: impl FnOnce(&T) -> bool,
    ) -> Option<R> {
        let (id, own, value) = self.peek(tag, mask)?;
        let taken = taker(own, value)?;
        if id.index == NIL {
            if holds(value) {
                self.oldest.forget();
            } else {
                core::mem::forget(self.oldest.take());
            }
        } else {
            drop(self.drop_entry(id.index));
        }
        Some(taken)
    }

    /// What the owner keeps of one message.
    pub fn get_mut(&mut self, id: EntryId) -> Option<&mut T> {
        if id.index == NIL {
            let lone = self.oldest.entry.as_mut()?;
            return (self.oldest.generation == id.generation).then_some(&mut lone.value);
        }
        let i = self.slab.find(id)?;
        self.came(i).map(|came| &mut came.value)
    }

    /// Takes one message.
    #[inline]
    pub fn remove(&mut self, id: EntryId) -> Option<(u64, T)> {
        if id.index == NIL {
            return self.oldest.take_by(id).map(|lone| (lone.tag, lone.value));
        }
        let i = self.slab.find(id)?;
        self.drop_entry(i)
    }

    fn drop_entry(&mut self, i: u32) -> Option<(u64, T)> {
        let tag = self.slab.entries[i as usize].tag;
        let &Came { prev, next, .. } = self.slab.value(i)?;
        match self.came(prev) {
            None => self.all.head = next,
            Some(before) => before.next = next,
        }
        match self.came(next) {
            None => self.all.tail = prev,
            Some(after) => after.prev = prev,
        }
        self.slab.unlink(&mut self.by_tag[bucket(tag)], i);
        Some((tag, self.slab.release(i)?.value))
    }

    /// Takes every message, oldest first.
    pub fn drain(&mut self) -> Vec<(u64, T)> {
        let mut out = Vec::with_capacity(self.len());
        out.extend(self.oldest.take().map(|lone| (lone.tag, lone.value)));
        while self.all.head != NIL {
            match self.drop_entry(self.all.head) {
                Some(m) => out.push(m),
                None => break,
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::dice::Dice;

    const MASKS: [u64; 4] = [u64::MAX, 0, 0xff, !0xff];

    #[test]
    fn posted_equals_a_linear_scan() {
        for seed in 1..(if cfg!(miri) { 3 } else { 200u64 }) {
            let mut r = Dice(0x1234_5678_9abc_def1_u64.wrapping_mul(seed));
            let mut real = Posted::new();
            let mut model: Vec<(u64, u64, u32, EntryId)> = Vec::new();
            for n in 0..400u32 {
                match r.number(4) {
                    0 | 1 => {
                        let (tag, mask) =
                            (r.number(5) << 8 | r.number(3), MASKS[r.number(4) as usize]);
                        let id = real.post(tag, mask, n);
                        model.push((tag, mask, n, id));
                    }
                    2 => {
                        let tag = r.number(5) << 8 | r.number(3);
                        let at = model.iter().position(|(t, m, ..)| (t ^ tag) & m == 0);
                        let want = at.map(|i| model.remove(i).2);
                        assert_eq!(real.peek(tag).map(|(_, v)| *v), want);
                        assert_eq!(real.take(tag), want);
                    }
                    _ if !model.is_empty() => {
                        let i = r.number(model.len() as u64) as usize;
                        let (.., v, id) = model.remove(i);
                        assert_eq!(real.remove(id), Some(v));
                        assert_eq!(real.remove(id), None, "an id names one entry only");
                    }
                    _ => {}
                }
                assert_eq!(real.len(), model.len());
            }
        }
    }

    #[test]
    fn arrived_equals_a_linear_scan() {
        for seed in 1..(if cfg!(miri) { 3 } else { 200u64 }) {
            let mut r = Dice(0x9876_5432_1abc_def1_u64.wrapping_mul(seed));
            let mut real = Arrived::new();
            let mut model: Vec<(u64, u32, EntryId)> = Vec::new();
            for n in 0..400u32 {
                match r.number(4) {
                    way @ (0 | 1) => {
                        let tag = r.number(5) << 8 | r.number(3);
                        let id = match way {
                            0 => real.push(tag, n),
                            _ => real.push_filled(tag, || u32::MAX, |value| *value = n),
                        };
                        model.push((tag, n, id));
                    }
                    2 => {
                        let (tag, mask) =
                            (r.number(5) << 8 | r.number(3), MASKS[r.number(4) as usize]);
                        let at = model.iter().position(|(t, ..)| (t ^ tag) & mask == 0);
                        let want = at.map(|i| {
                            let (t, v, _) = model.remove(i);
                            (t, v)
                        });
                        assert_eq!(real.peek(tag, mask).map(|(_, t, v)| (t, *v)), want);
                        assert_eq!(real.consume(tag, mask, |_, _| None::<()>, |_| true), None);
                        let taken = match r.number(2) {
                            0 => real.take(tag, mask),
                            _ => real.consume(tag, mask, |t, v| Some((t, *v)), |_| false),
                        };
                        assert_eq!(taken, want);
                    }
                    _ if !model.is_empty() => {
                        let i = r.number(model.len() as u64) as usize;
                        let (t, v, id) = model.remove(i);
                        assert_eq!(real.remove(id), Some((t, v)));
                        assert_eq!(real.remove(id), None);
                    }
                    _ => {}
                }
            }
            let left: Vec<(u64, u32)> = model.iter().map(|(t, v, _)| (*t, *v)).collect();
            assert_eq!(real.drain(), left);
        }
    }
}
