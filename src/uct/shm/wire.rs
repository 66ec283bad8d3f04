//! Byte formats of the shared-memory transports: interface addresses and packed memory keys.
//!
//! Both name a segment of a process; a packed key adds where its owner sees it. Version, kind and checksum are
//! checked before anything is believed. Nothing here touches memory of others.
#![forbid(unsafe_code)]

use crate::ucs::{Result, Status};
use crate::uct::local::{NAME_LEN, ProcessName};
use crate::wire::{Reader, checksum};

/// What a segment is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SegmentKind {
    /// A memory file.
    Posix = 1,
    /// A System V segment.
    Sysv = 2,
}

impl SegmentKind {
    fn from_byte(byte: u8) -> Option<SegmentKind> {
        [SegmentKind::Posix, SegmentKind::Sysv]
            .into_iter()
            .find(|k| *k as u8 == byte)
    }
}

/// Names one segment on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentKey {
    pub kind: SegmentKind,
    /// Of the owner's segments.
    pub serial: u32,
    pub owner: ProcessName,
}

const VERSION: u8 = 3;
/// Bytes of an encoded `SegmentKey`: an interface address.
pub const KEY_LEN: usize = 8 + NAME_LEN;
/// Bytes of an encoded `MemKey`: a packed remote key.
pub const MEM_KEY_LEN: usize = KEY_LEN + 16;

/// Memory that its owner allocated as a segment of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemKey {
    pub segment: SegmentKey,
    /// Where the owner has it mapped.
    pub base: u64,
    pub len: u64,
}

/// Of everything but the two bytes of the sum itself.
fn sum(bytes: &[u8]) -> u16 {
    checksum(&[&bytes[..2], &bytes[4..]])
}

fn seal(out: &mut [u8]) {
    let sum = sum(out).to_le_bytes();
    out[2..4].copy_from_slice(&sum);
}

fn put_key(key: &SegmentKey, out: &mut [u8]) {
    out[0] = VERSION;
    out[1] = key.kind as u8;
    out[4..8].copy_from_slice(&key.serial.to_le_bytes());
    out[8..KEY_LEN].copy_from_slice(&key.owner.encode());
}

fn get_key(bytes: &[u8]) -> Result<SegmentKey> {
    let claimed = u16::from_le_bytes([bytes[2], bytes[3]]);
    if bytes[0] != VERSION || claimed != sum(bytes) {
        return Err(Status::INVALID_ADDR);
    }
    let mut fields = Reader::new(&bytes[4..]);
    let serial = fields.u32().ok_or(Status::INVALID_ADDR)?;
    Ok(SegmentKey {
        kind: SegmentKind::from_byte(bytes[1]).ok_or(Status::INVALID_ADDR)?,
        serial,
        owner: ProcessName::decode(fields.rest()).ok_or(Status::INVALID_ADDR)?,
    })
}

impl core::fmt::Display for SegmentKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let transport = match self.kind {
            SegmentKind::Posix => "posix",
            SegmentKind::Sysv => "sysv",
        };
        let (serial, owner) = (self.serial, self.owner.pid);
        write!(f, "{transport} segment {serial} of process {owner}")
    }
}

impl SegmentKey {
    pub fn encode(&self) -> [u8; KEY_LEN] {
        let mut out = [0; KEY_LEN];
        put_key(self, &mut out);
        seal(&mut out);
        out
    }

    /// `INVALID_ADDR` for another version or damaged bytes.
    pub fn decode(bytes: &[u8; KEY_LEN]) -> Result<SegmentKey> {
        get_key(bytes)
    }
}

impl MemKey {
    pub fn encode(&self) -> [u8; MEM_KEY_LEN] {
        let mut out = [0; MEM_KEY_LEN];
        put_key(&self.segment, &mut out);
        out[KEY_LEN..KEY_LEN + 8].copy_from_slice(&self.base.to_le_bytes());
        out[KEY_LEN + 8..].copy_from_slice(&self.len.to_le_bytes());
        seal(&mut out);
        out
    }

    /// `INVALID_ADDR` for another version, damaged bytes, or a range that is none.
    pub fn decode(bytes: &[u8; MEM_KEY_LEN]) -> Result<MemKey> {
        let mut range = Reader::new(&bytes[KEY_LEN..]);
        let key = MemKey {
            segment: get_key(bytes)?,
            base: range.u64().ok_or(Status::INVALID_ADDR)?,
            len: range.u64().ok_or(Status::INVALID_ADDR)?,
        };
        let fits = key.base.checked_add(key.len).is_some();
        if key.len == 0 || key.len > isize::MAX as u64 || !fits {
            return Err(Status::INVALID_ADDR);
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: SegmentKey = SegmentKey {
        kind: SegmentKind::Sysv,
        serial: 0x0102_0304,
        owner: ProcessName {
            id: 0x1112_1314_1516_1718,
            pid: 77,
            door: 5,
        },
    };

    #[test]
    fn addresses_keep_their_bytes() {
        let bytes = KEY.encode();
        assert_eq!(bytes[..2], [VERSION, 2]);
        assert_eq!(bytes[4..8], [4, 3, 2, 1]);
        assert_eq!(bytes[8..], KEY.owner.encode());
        assert_eq!(SegmentKey::decode(&bytes), Ok(KEY));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mem = MemKey {
            segment: KEY,
            base: 0x7f00_0000_0000,
            len: 4096,
        };
        let good = mem.encode();
        assert_eq!(MemKey::decode(&good), Ok(mem));
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(MemKey::decode(&bad), Err(Status::INVALID_ADDR), "bit {bit}");
        }
    }

    #[test]
    fn ranges_that_wrap_are_refused() {
        for (base, len) in [(u64::MAX, 2), (0, 0), (0, u64::MAX)] {
            let key = MemKey {
                segment: KEY,
                base,
                len,
            };
            assert!(MemKey::decode(&key.encode()).is_err());
        }
    }
}
