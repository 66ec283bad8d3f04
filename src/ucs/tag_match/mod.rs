//! Tag matching: posted receives and unexpected messages.
//!
//! `Posted` holds receives in the order posted, `UnexpectedMessages` messages in the order of arrival. Both return the
//! oldest match in constant time: receives are hashed by tag, one table per mask; messages are hashed by tag, and also by
//! the bits of a mask once receives with that mask search deep in the list.
//! Entries live in a slab and are linked by index: no allocation when warm. A single receive, as in a ping-pong, needs no
//! list. UCT's and UCP's tag matching are both built on it.
#![forbid(unsafe_code)]

mod lists;
mod posted;
mod unexpected;

use lists::{NIL, Slab};
pub use posted::Posted;
pub use unexpected::UnexpectedMessages;

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

/// The id of an entry of a slab.
fn id<T>(slab: &Slab<T>, i: u32) -> EntryId {
    EntryId {
        index: i,
        generation: slab.generation(i),
    }
}

/// The index of a valid id.
fn found<T>(slab: &Slab<T>, id: EntryId) -> Option<u32> {
    slab.is_live(id.index, id.generation).then_some(id.index)
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

    /// The entry, where `id` is its.
    fn take_by(&mut self, id: EntryId) -> Option<Lone<T>> {
        (self.generation == id.generation)
            .then(|| self.take())
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    const MASKS: [u64; 4] = [u64::MAX, 0, 0xff, !0xff];

    fn draw_tag(rng: &TestRng) -> u64 {
        (rng.below(5) << 8 | rng.below(3)) as u64
    }

    #[test]
    fn posted_equals_a_linear_scan() {
        for seed in 1..(if cfg!(miri) { 3 } else { 200u64 }) {
            let rng = TestRng::new(0x1234_5678_9abc_def1_u64.wrapping_mul(seed));
            let mut real = Posted::new();
            let mut model: Vec<(u64, u64, u32, EntryId)> = Vec::new();
            for n in 0..400u32 {
                match rng.below(4) {
                    0 | 1 => {
                        let (tag, mask) = (draw_tag(&rng), rng.pick(&MASKS));
                        let id = real.post(tag, mask, n);
                        model.push((tag, mask, n, id));
                    }
                    2 => {
                        let tag = draw_tag(&rng);
                        let at = model.iter().position(|(t, m, ..)| (t ^ tag) & m == 0);
                        let want = at.map(|i| model.remove(i).2);
                        assert_eq!(real.peek(tag).map(|(_, v)| *v), want);
                        assert_eq!(real.take(tag), want);
                    }
                    _ if !model.is_empty() => {
                        let i = rng.below(model.len());
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
            let rng = TestRng::new(0x9876_5432_1abc_def1_u64.wrapping_mul(seed));
            let mut real = UnexpectedMessages::new();
            let mut model: Vec<(u64, u32, EntryId)> = Vec::new();
            for n in 0..400u32 {
                match rng.below(4) {
                    way @ (0 | 1) => {
                        let tag = draw_tag(&rng);
                        let id = match way {
                            0 => real.push(tag, n),
                            _ => real.push_filled(tag, || u32::MAX, |value| *value = n),
                        };
                        model.push((tag, n, id));
                    }
                    2 => {
                        let (tag, mask) = (draw_tag(&rng), rng.pick(&MASKS));
                        let at = model.iter().position(|(t, ..)| (t ^ tag) & mask == 0);
                        let want = at.map(|i| {
                            let (t, v, _) = model.remove(i);
                            (t, v)
                        });
                        assert_eq!(real.peek(tag, mask).map(|(_, t, v)| (t, *v)), want);
                        let left = real.consume(tag, mask, |_, _| None::<()>, |_| unreachable!());
                        assert_eq!(left, want.map(|_| None));
                        let taken = match rng.below(2) {
                            0 => real.take(tag, mask),
                            _ => real
                                .consume(tag, mask, |t, v| Some((t, *v)), |_| ())
                                .flatten(),
                        };
                        assert_eq!(taken, want);
                    }
                    _ if !model.is_empty() => {
                        let i = rng.below(model.len());
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

    /// So many entries at a time; how many each operation looks at must not depend on it.
    const MANY: u64 = if cfg!(miri) { 200 } else { 20_000 };

    /// Entries that `f` looked at, for each of `MANY`.
    fn looks(f: impl FnOnce()) -> f64 {
        lists::LOOKS.set(0);
        f();
        lists::LOOKS.get() as f64 / MANY as f64
    }

    /// Tags that programs use, and one that meets in one bucket by a hash that a peer knows.
    fn series() -> [fn(u64) -> u64; 5] {
        [
            |n| n,
            |n| n << 32,
            |n| n << 52,
            |n| n * 1024,
            |n| n.wrapping_mul(0xf1de_83e1_9937_733d),
        ]
    }

    #[test]
    fn receives_are_found_at_once_among_many() {
        for tag in series() {
            for mask in [u64::MAX, 0xffff_ffff_0000_0000, !3] {
                let mut posted = Posted::new();
                let cost = looks(|| {
                    for n in 0..MANY {
                        posted.post(tag(n) & mask, mask, n);
                    }
                    for n in (0..MANY).rev() {
                        assert!(posted.take(tag(n)).is_some());
                    }
                });
                assert!(posted.is_empty());
                assert!(cost < 4.0, "{cost} looks for each, mask {mask:x}");
            }
        }
    }

    #[test]
    fn receives_with_other_masks_cost_one_look_each() {
        let mut posted = Posted::new();
        for n in 0..MANY {
            posted.post((n + 1) << 32, !0xffff_ffff, n);
            posted.post(n + 1, 0xffff_ffff, n);
        }
        let cost = looks(|| {
            for n in 0..MANY {
                posted.post(0xff_ffff, u64::MAX, n);
                assert_eq!(posted.take(0xff_ffff), Some(n));
            }
        });
        assert!(cost < 10.0, "{cost} looks for each");
    }

    #[test]
    fn messages_are_found_at_once_among_many() {
        for tag in series() {
            for mask in [u64::MAX, 0xffff_ffff_0000_0000, !3, 0] {
                let mut unexpected = UnexpectedMessages::new();
                let cost = looks(|| {
                    for n in 0..MANY {
                        unexpected.push(tag(n), n);
                    }
                    for n in (0..MANY).rev() {
                        assert!(unexpected.peek(tag(n), mask).is_some());
                        assert!(unexpected.take(tag(n), mask).is_some());
                    }
                });
                assert!(unexpected.is_empty());
                assert!(cost < 8.0, "{cost} looks for each, mask {mask:x}");
            }
        }
    }

    #[test]
    fn tables_of_masks_go_with_the_messages() {
        let mut unexpected = UnexpectedMessages::new();
        for round in 0..3 {
            for n in 0..100u64 {
                unexpected.push(n << 8 | round, n);
            }
            // More masks than there are tables for, one behind the other.
            for n in (0..100).rev() {
                let mask = !(0xff >> (n % 6));
                assert_eq!(
                    unexpected.take(n << 8, mask | 0xff00),
                    Some((n << 8 | round, n))
                );
            }
            assert!(unexpected.is_empty());
        }
    }
}
