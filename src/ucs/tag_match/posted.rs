//! Receives that wait for messages.

use super::lists::{Buckets, NIL, Slab, looked_at};
use super::{EntryId, Oldest, found, id};

/// Posted receives: a tag, a mask of the bits that are compared, and the owner's value.
pub struct Posted<T> {
    oldest: Oldest<T>,
    slab: Slab<Waits<T>>,
    seq: u64,
    /// Never more than one empty one for each that is not.
    groups: Vec<Group>,
}

/// The receives with one mask: programs use few masks, and a message looks into each group once.
struct Group {
    mask: u64,
    buckets: Buckets,
}

/// Lists of a group at first.
const EXACT_LISTS: usize = 1024;
const WILD_LISTS: usize = 64;

/// Entry of a posted receive.
struct Waits<T> {
    mask: u64,
    /// Order among all of them.
    seq: u64,
    value: T,
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
            groups: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.slab.live + usize::from(self.oldest.entry.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.slab.live == 0 && self.oldest.entry.is_none()
    }

    /// Posts a receive after all others.
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
        let group = self.group(mask);
        let buckets = &mut self.groups[group].buckets;
        buckets.push(&mut self.slab, i, tag & mask, Slab::tag);
        id(&self.slab, i)
    }

    /// The place of a mask's group, which is made where there is none.
    #[inline]
    fn group(&mut self, mask: u64) -> usize {
        self.known_group(mask)
            .unwrap_or_else(|| self.new_group(mask))
    }

    #[inline]
    fn known_group(&self, mask: u64) -> Option<usize> {
        // Most programs use one mask.
        match self.groups.first() {
            Some(first) if first.mask == mask => Some(0),
            _ => self.groups.iter().position(|g| g.mask == mask),
        }
    }

    #[cold]
    fn new_group(&mut self, mask: u64) -> usize {
        let first = if mask == u64::MAX {
            EXACT_LISTS
        } else {
            WILD_LISTS
        };
        let fresh = Group {
            mask,
            buckets: Buckets::new(first),
        };
        let empty = self.groups.iter().filter(|g| g.buckets.is_empty()).count();
        if empty > self.groups.len() / 2
            && let Some(at) = self.groups.iter().position(|g| g.buckets.is_empty())
        {
            self.groups[at] = fresh;
            return at;
        }
        self.groups.push(fresh);
        self.groups.len() - 1
    }

    /// The oldest receive of the slab that matches a message of `tag`, and the place of its group.
    #[inline]
    fn find(&self, tag: u64) -> (u32, usize) {
        // Most programs use one mask.
        if let [only] = self.groups.as_slice() {
            return (self.first_of(only, tag), 0);
        }
        let (mut oldest, mut oldest_seq) = ((NIL, 0), u64::MAX);
        for (place, group) in self.groups.iter().enumerate() {
            let i = self.first_of(group, tag);
            let seq = match self.slab.entries.get(i as usize) {
                Some(e) => e.value.as_ref().map_or(u64::MAX, |w| w.seq),
                None => continue,
            };
            if seq < oldest_seq {
                (oldest, oldest_seq) = ((i, place), seq);
            }
        }
        oldest
    }

    /// The oldest receive of a group that matches a message of `tag`.
    #[inline(always)]
    fn first_of(&self, group: &Group, tag: u64) -> u32 {
        let key = tag & group.mask;
        let mut i = group.buckets.head(group.buckets.place(key));
        while let Some(e) = self.slab.entries.get(i as usize) {
            looked_at();
            if e.tag == key {
                return i;
            }
            i = e.next;
        }
        NIL
    }

    /// Removes the oldest receive of all, if it matches a message of `tag`, as it mostly does.
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
            (NIL, _) => None,
            (i, group) => self.drop_entry(i, group),
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
            (NIL, _) => None,
            (i, _) => Some((id(&self.slab, i), &self.slab.value(i)?.value)),
        }
    }

    /// Takes one receive back; `None` when it is matched already.
    pub fn remove(&mut self, id: EntryId) -> Option<T> {
        if id.index == NIL {
            return self.oldest.take_by(id).map(|lone| lone.value);
        }
        self.drop_by_mask(found(&self.slab, id)?)
    }

    #[inline(never)]
    fn drop_by_mask(&mut self, i: u32) -> Option<T> {
        let mask = self.slab.value(i)?.mask;
        let group = self.known_group(mask)?;
        self.drop_entry(i, group)
    }

    #[inline(always)]
    fn drop_entry(&mut self, i: u32, group: usize) -> Option<T> {
        let key = self.slab.tag(i);
        let buckets = &mut self.groups[group].buckets;
        let place = buckets.place(key);
        buckets.remove(&mut self.slab, i, place);
        self.slab.release_by(i, |w| w.take().map(|w| w.value))
    }

    /// Takes every receive, the oldest first, the others in the order of the slab.
    pub fn drain(&mut self) -> Vec<T> {
        let oldest = self.oldest.take().map(|lone| lone.value);
        let live: Vec<u32> = (0..self.slab.entries.len() as u32)
            .filter(|&i| self.slab.entries[i as usize].value.is_some())
            .collect();
        let behind = live.into_iter().filter_map(|i| self.drop_by_mask(i));
        oldest.into_iter().chain(behind).collect()
    }
}
