//! Places in a lane's arena, the memory of messages that are longer than a slot.
//!
//! The sender uses the arena as a ring of bytes and writes into each slot where its message stands. A message that its
//! handler keeps stays where it is; its bytes are a range that the sender goes around, told by a word of the lane.
//! Neither copy nor a stopped lane is the price, as long as one message of a lane is kept at a time.
#![forbid(unsafe_code)]

use super::ring::LINE;

/// Bytes after a message that stay empty, if messages may be a few times as long, while the receiver waits for each: its prefetcher
/// reads them, and the next message would have to fetch them back. The latency of 1 KiB was up to a third longer without them. Where
/// messages wait for the receiver, what it reads ahead is the next one: a list of 4 times 128 bytes takes 94 ns, and 135 with them
/// (`ucx_perftest -t tag_bw`, 2026-11-28, Intel Xeon).
const READ_AHEAD: usize = 1024 + LINE;

/// Length and unit of an arena, multiples of `LINE`.
#[derive(Clone, Copy)]
pub struct Arena {
    len: usize,
    /// Room that a message of any size needs.
    stride: usize,
}

/// Bytes that the sender must not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptRange {
    at: usize,
    end: usize,
}

impl KeptRange {
    /// Behind every arena.
    pub const NONE: KeptRange = KeptRange {
        at: usize::MAX,
        end: usize::MAX,
    };

    /// The lines of a message of `len` bytes at `at`.
    pub fn of(at: usize, len: usize) -> KeptRange {
        KeptRange {
            at,
            end: (at + len).next_multiple_of(LINE),
        }
    }

    pub fn starts_at(self, at: usize) -> bool {
        self.at == at
    }

    /// As the word that both sides share.
    pub fn to_word(self) -> u64 {
        if self == KeptRange::NONE {
            0
        } else {
            (self.at / LINE) as u64 | ((self.end / LINE) as u64) << 32
        }
    }
}

impl Arena {
    /// An arena for `cells` messages of `segment` bytes.
    pub fn new(segment: usize, cells: usize) -> Arena {
        let stride = segment.next_multiple_of(LINE);
        Arena {
            len: stride * cells,
            stride,
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Bytes that a message of `len` at `at` uses, with those after it that stay empty if it stands `apart`.
    #[inline]
    pub fn used(&self, at: usize, len: usize, apart: bool) -> usize {
        let empty = if apart {
            READ_AHEAD.min(self.stride / 4)
        } else {
            0
        };
        (len + empty).next_multiple_of(LINE).min(self.len - at)
    }

    /// The place of a message of any size that ends before `reach`, when the arena is used up to `at`, and the bytes that are skipped
    /// before it. `None` if what is kept leaves no such place, which no correct receiver does.
    #[inline(always)]
    pub fn place(&self, kept: KeptRange, at: usize, reach: usize) -> Option<(usize, usize)> {
        if at + self.stride <= kept.at.min(reach) {
            return Some((at, 0));
        }
        self.next_place(kept, at, reach)
    }

    #[inline(never)]
    fn next_place(&self, kept: KeptRange, at: usize, reach: usize) -> Option<(usize, usize)> {
        let fits = |from: usize| {
            let end = from + self.stride;
            end <= reach && (end <= kept.at || from >= kept.end)
        };
        // Where room may begin, as distances from the arena's start in this lap and the next.
        let behind = if kept == KeptRange::NONE { 0 } else { kept.end };
        [at, behind, self.len, self.len + behind]
            .into_iter()
            .find(|&from| {
                from >= at
                    && fits(if from < self.len {
                        from
                    } else {
                        from - self.len
                    })
            })
            .map(|from| (from % self.len, from - at))
    }

    /// Bytes from `from` on to `to`, around the end if need be.
    #[inline]
    pub fn skipped(&self, from: usize, to: usize) -> usize {
        if to >= from {
            to - from
        } else {
            to + self.len - from
        }
    }

    /// Whether a message of `len` bytes can stand at `at`, where a peer says that it does.
    #[inline]
    pub fn holds(&self, at: usize, len: usize) -> bool {
        self.holds_below(self.len, at, len)
    }

    /// Whether it does, and ends before `reach`.
    #[inline]
    pub fn holds_below(&self, reach: usize, at: usize, len: usize) -> bool {
        debug_assert!(reach <= self.len);
        at.is_multiple_of(LINE) && at < reach && len <= reach - at
    }

    /// Up to where the arena is used next: twice as far.
    pub fn next_reach(&self, reach: usize) -> usize {
        (2 * reach).min(self.len)
    }

    /// The range that a peer's word names; `NONE` if it names no range of this arena.
    pub fn kept_of_word(&self, word: u64) -> KeptRange {
        let (at, end) = (word as u32 as usize * LINE, (word >> 32) as usize * LINE);
        if at < end && end <= self.len {
            KeptRange { at, end }
        } else {
            KeptRange::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arena() -> Arena {
        Arena::new(1000, 4)
    }

    /// The shortest arena, and the first part of a longer one.
    #[test]
    fn the_shortest_arena_has_room_beside_any_kept_message() {
        let reach = arena().len;
        for arena in [arena(), Arena::new(1000, 16)] {
            for kept_at in (0..=reach - arena.stride).step_by(LINE) {
                for len in [1, 500, 1000] {
                    let kept = KeptRange::of(kept_at, len);
                    assert_eq!(arena.kept_of_word(kept.to_word()), kept);
                    for at in (0..=reach).step_by(LINE) {
                        let (place, skip) = arena.place(kept, at, reach).unwrap();
                        assert_eq!(skip, arena.skipped(at, place));
                        assert!(skip + arena.stride <= arena.len, "{kept:?} {at}");
                        assert!(arena.holds(place, arena.stride));
                        assert!(place + arena.stride <= reach);
                        assert!(place + arena.stride <= kept.at || place >= kept.end);
                    }
                }
            }
        }
    }

    #[test]
    fn without_a_kept_message_only_a_short_tail_is_skipped() {
        let arena = arena();
        for at in (0..=arena.len).step_by(LINE) {
            let expected = if arena.len - at < arena.stride {
                (0, arena.len - at)
            } else {
                (at, 0)
            };
            assert_eq!(arena.place(KeptRange::NONE, at, arena.len), Some(expected));
        }
    }

    #[test]
    fn words_of_a_hostile_peer_name_ranges_of_the_arena_or_none() {
        let arena = arena();
        assert_eq!(arena.kept_of_word(0), KeptRange::NONE);
        assert_eq!(arena.kept_of_word(u64::MAX), KeptRange::NONE);
        assert_eq!(arena.kept_of_word(7 | 3 << 32), KeptRange::NONE);
        let all = arena.kept_of_word((arena.len / LINE) as u64 * (1 << 32));
        assert_eq!((all.at, all.end), (0, arena.len));
        for at in (0..=arena.len).step_by(LINE) {
            assert_eq!(arena.place(all, at, arena.len), None);
        }
    }
}
