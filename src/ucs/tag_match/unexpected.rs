//! Unexpected messages: messages that wait for receives.

use super::lists::{Buckets, EMPTY, Linked, List, NIL, Slab, looked_at};
use super::{EntryId, Oldest, found, id};
use core::cell::RefCell;
use std::collections::VecDeque;

/// A receive with a mask that compares so many messages in vain makes a table for its mask.
const LONG_WALK: usize = if cfg!(test) { 8 } else { 256 };
/// Masks that have a table at a time, until no message waits.
const MOST_MASKS: usize = 4;

/// Messages that no receive matched when they came.
pub struct UnexpectedMessages<T> {
    oldest: Oldest<T>,
    slab: Slab<UnexpectedEntry<T>>,
    by_tag: Buckets,
    all: List,
    /// For masks by which messages were looked for deep in the list.
    by_mask: RefCell<VecDeque<ByMask>>,
}

/// Lists of the table of tags at first.
const LISTS: usize = 1024;

/// Entry of a message.
struct UnexpectedEntry<T> {
    /// Links of the list of all.
    prev: u32,
    next: u32,
    value: T,
}

impl<T> Default for UnexpectedMessages<T> {
    fn default() -> UnexpectedMessages<T> {
        UnexpectedMessages::new()
    }
}

impl<T> UnexpectedMessages<T> {
    pub fn new() -> UnexpectedMessages<T> {
        UnexpectedMessages {
            oldest: Oldest::new(),
            slab: Slab::new(),
            by_tag: Buckets::new(LISTS),
            all: EMPTY,
            by_mask: RefCell::new(VecDeque::new()),
        }
    }

    pub fn len(&self) -> usize {
        self.slab.live + usize::from(self.oldest.entry.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.slab.live == 0 && self.oldest.entry.is_none()
    }

    /// Appends a message.
    #[inline(always)]
    pub fn push(&mut self, tag: u64, value: T) -> EntryId {
        if self.is_empty() {
            return self.oldest.put(tag, u64::MAX, value);
        }
        self.push_behind(tag, value)
    }

    /// As `push`, with a value of `make`, which `fill` completes in place: a move by wide loads after narrow stores
    /// would stall.
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
        let i = self.link(tag, make());
        if let Some(came) = self.came(i) {
            fill(&mut came.value);
        }
        id(&self.slab, i)
    }

    fn push_behind(&mut self, tag: u64, value: T) -> EntryId {
        let i = self.link(tag, value);
        id(&self.slab, i)
    }

    /// Appends a message to all lists.
    #[inline(always)]
    fn link(&mut self, tag: u64, value: T) -> u32 {
        let (prev, next) = (self.all.tail, NIL);
        let i = self.slab.insert(tag, UnexpectedEntry { prev, next, value });
        self.by_tag.push(&mut self.slab, i, tag, Slab::tag);
        let by_mask = self.by_mask.get_mut();
        if !by_mask.is_empty() {
            by_mask.iter_mut().for_each(|index| index.add(i, tag));
        }
        match self.came(prev) {
            None => self.all.head = i,
            Some(before) => before.next = i,
        }
        self.all.tail = i;
        i
    }

    /// The entry at an index that may be none.
    fn came(&mut self, i: u32) -> Option<&mut UnexpectedEntry<T>> {
        self.slab.entries.get_mut(i as usize)?.value.as_mut()
    }

    #[inline(always)]
    fn find(&self, tag: u64, mask: u64) -> u32 {
        if mask != u64::MAX {
            return self.find_by(tag & mask, mask);
        }
        let mut i = self.by_tag.head(self.by_tag.place(tag));
        // `NIL` is behind all entries.
        while let Some(e) = self.slab.entries.get(i as usize).filter(|e| e.tag != tag) {
            looked_at();
            i = e.next;
        }
        i
    }

    /// The oldest message whose tag has `key` in the bits of `mask`.
    fn find_by(&self, key: u64, mask: u64) -> u32 {
        let mut all = self.by_mask.borrow_mut();
        if let Some(at) = all.iter().position(|index| index.mask == mask) {
            // The one that was used last stands first.
            all.swap(0, at);
            return all[0].find(key);
        }
        let mut i = self.all.head;
        for _ in 0..LONG_WALK {
            looked_at();
            match self.slab.entries.get(i as usize) {
                None => return NIL,
                Some(e) if e.tag & mask == key => return i,
                Some(e) => i = e.value.as_ref().map_or(NIL, |came| came.next),
            }
        }
        let index = ByMask::of(mask, self);
        let found = index.find(key);
        all.truncate(MOST_MASKS - 1);
        all.push_front(index);
        found
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
        let index = self.find(tag, mask);
        let e = self.slab.entries.get(index as usize)?;
        let generation = e.generation;
        let id = EntryId { index, generation };
        Some((id, e.tag, &e.value.as_ref()?.value))
    }

    /// Takes the oldest message that a receive of `tag` and `mask` matches, with its own tag.
    #[inline]
    pub fn take(&mut self, tag: u64, mask: u64) -> Option<(u64, T)> {
        let (id, ..) = self.peek(tag, mask)?;
        self.remove(id)
    }

    /// Shows `taker` the oldest message that a receive of `tag` and `mask` matches, by its own tag and
    /// what the owner keeps. Where it takes it, the message goes, from its place: `empty` leaves nothing in it to drop.
    /// Returns `None` if there is no such message, else what `taker` says.
    #[inline(always)]
    pub fn consume<R>(
        &mut self,
        tag: u64,
        mask: u64,
        taker: impl FnOnce(u64, &T) -> Option<R>,
        empty: impl FnOnce(&mut T),
    ) -> Option<Option<R>> {
        let (i, own, value) = match &self.oldest.entry {
            Some(lone) if (lone.tag ^ tag) & mask == 0 => (NIL, lone.tag, &lone.value),
            _ if self.slab.live == 0 => return None,
            _ => {
                let i = self.find(tag, mask);
                let e = self.slab.entries.get(i as usize)?;
                (i, e.tag, &e.value.as_ref()?.value)
            }
        };
        let Some(taken) = taker(own, value) else {
            return Some(None);
        };
        if i != NIL {
            self.unlink(i);
            self.slab.release_by(i, |entry| {
                if let Some(came) = entry {
                    empty(&mut came.value);
                }
                core::mem::forget(entry.take());
            });
        } else if let Some(lone) = &mut self.oldest.entry {
            empty(&mut lone.value);
            core::mem::forget(self.oldest.take());
        }
        Some(Some(taken))
    }

    /// What the owner keeps of one message.
    pub fn get_mut(&mut self, id: EntryId) -> Option<&mut T> {
        if id.index == NIL {
            let lone = self.oldest.entry.as_mut()?;
            return (self.oldest.generation == id.generation).then_some(&mut lone.value);
        }
        let i = found(&self.slab, id)?;
        self.came(i).map(|came| &mut came.value)
    }

    /// Takes one message.
    #[inline]
    pub fn remove(&mut self, id: EntryId) -> Option<(u64, T)> {
        if id.index == NIL {
            return self.oldest.take_by(id).map(|lone| (lone.tag, lone.value));
        }
        let i = found(&self.slab, id)?;
        self.drop_entry(i)
    }

    fn drop_entry(&mut self, i: u32) -> Option<(u64, T)> {
        let tag = self.slab.tag(i);
        self.unlink(i);
        Some((tag, self.slab.release(i)?.value))
    }

    /// Takes a message out of all lists.
    #[inline(always)]
    fn unlink(&mut self, i: u32) {
        let tag = self.slab.tag(i);
        let Some(&UnexpectedEntry { prev, next, .. }) = self.slab.value(i) else {
            return;
        };
        match self.came(prev) {
            None => self.all.head = next,
            Some(before) => before.next = next,
        }
        match self.came(next) {
            None => self.all.tail = prev,
            Some(after) => after.prev = prev,
        }
        let place = self.by_tag.place(tag);
        self.by_tag.remove(&mut self.slab, i, place);
        let by_mask = self.by_mask.get_mut();
        if !by_mask.is_empty() {
            by_mask.iter_mut().for_each(|index| index.remove(i, tag));
            if self.slab.live == 1 {
                by_mask.clear();
            }
        }
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

/// The messages by those bits of their tags that a mask has.
struct ByMask {
    mask: u64,
    buckets: Buckets,
    links: Links,
}

/// Links and key by the index of the message.
#[derive(Default)]
struct Links(Vec<(u32, u32, u64)>);

impl Links {
    fn key(&self, i: u32) -> u64 {
        self.0[i as usize].2
    }
}

impl Linked for Links {
    fn links(&mut self, i: u32) -> (&mut u32, &mut u32) {
        let (prev, next, _) = &mut self.0[i as usize];
        (prev, next)
    }

    fn next(&self, i: u32) -> u32 {
        self.0[i as usize].1
    }
}

impl ByMask {
    fn of<T>(mask: u64, messages: &UnexpectedMessages<T>) -> ByMask {
        let mut index = ByMask {
            mask,
            buckets: Buckets::new(LISTS),
            links: Links::default(),
        };
        let mut i = messages.all.head;
        while let Some(e) = messages.slab.entries.get(i as usize) {
            index.add(i, e.tag);
            i = e.value.as_ref().map_or(NIL, |came| came.next);
        }
        index
    }

    fn add(&mut self, i: u32, tag: u64) {
        let key = tag & self.mask;
        if self.links.0.len() <= i as usize {
            self.links.0.resize(i as usize + 1, (NIL, NIL, 0));
        }
        self.links.0[i as usize].2 = key;
        self.buckets.push(&mut self.links, i, key, Links::key);
    }

    fn remove(&mut self, i: u32, tag: u64) {
        let place = self.buckets.place(tag & self.mask);
        self.buckets.remove(&mut self.links, i, place);
    }

    fn find(&self, key: u64) -> u32 {
        let mut i = self.buckets.head(self.buckets.place(key));
        while i != NIL && self.links.key(i) != key {
            looked_at();
            i = self.links.next(i);
        }
        i
    }
}
