//! The header word of a slot: the message's number, its length and id, and whether it stands in the arena.
#![forbid(unsafe_code)]

use super::ring::WORD;

/// Stored last: a header with the number that comes next says that its message is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head(pub u64);

impl Head {
    const LEN_AT: u32 = 32;
    const LEN_MASK: u64 = 0x7f_ffff;
    const ID_AT: u32 = 56;
    const ID_MASK: u64 = 0x7f;
    const IN_ARENA: u64 = 1 << 63;
    /// In the arena, with room behind it (`Arena::used`).
    const APART: u64 = 1 << 55;

    #[inline]
    pub fn new(number: u64, id: u8, len: usize) -> Head {
        debug_assert!(len as u64 <= Head::LEN_MASK && u64::from(id) <= Head::ID_MASK);
        Head(u64::from(number as u32) | (len as u64) << Head::LEN_AT | u64::from(id) << Head::ID_AT)
    }

    /// Of a message in the arena.
    #[inline]
    pub fn elsewhere(self, apart: bool) -> Head {
        Head(self.0 | Head::IN_ARENA | if apart { Head::APART } else { 0 })
    }

    #[inline]
    pub fn is_apart(self) -> bool {
        self.0 & Head::APART != 0
    }

    /// Whether the slot holds message `number`.
    #[inline]
    pub fn is(self, number: u64) -> bool {
        self.0 as u32 == number as u32
    }

    #[inline]
    pub fn len(self) -> usize {
        (self.0 >> Head::LEN_AT & Head::LEN_MASK) as usize
    }

    #[inline]
    pub fn id(self) -> u8 {
        (self.0 >> Head::ID_AT & Head::ID_MASK) as u8
    }

    #[inline]
    pub fn in_arena(self) -> bool {
        self.0 & Head::IN_ARENA != 0
    }

    /// The length of a message that stands in its slot, beyond its first word. Of one that is shorter, and of one in
    /// the arena, this is more than any slot holds.
    #[inline]
    pub fn rest_in_slot(self) -> u32 {
        const ARENA: u32 = (Head::IN_ARENA >> Head::LEN_AT) as u32;
        let len = (self.0 >> Head::LEN_AT) as u32 & (ARENA | Head::LEN_MASK as u32);
        len.wrapping_sub(WORD as u32)
    }

    /// The id, where `rest_in_slot` fits a slot.
    #[inline]
    pub fn id_in_slot(self) -> u8 {
        (self.0 >> Head::ID_AT) as u8
    }
}
