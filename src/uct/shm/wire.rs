//! Byte formats of the shared-memory transports: interface addresses and packed memory keys.
//!
//! Both name a segment; a packed key adds where its owner sees it. Version, kind and checksum are
//! checked before anything is believed. Nothing here touches memory of others.
#![forbid(unsafe_code)]

use crate::ucs::{Result, Status};
use crate::wire::checksum;

/// How a segment is found by other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A memory file, by `/proc/<pid>/fd/<handle>`.
    ProcLink = 1,
    /// A file in `UCX_POSIX_DIR`, its name made of pid and handle.
    Named = 2,
    /// A System V segment; the handle is its id.
    Sysv = 3,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Kind> {
        [Kind::ProcLink, Kind::Named, Kind::Sysv]
            .into_iter()
            .find(|k| *k as u8 == byte)
    }
}

/// Names one segment on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentKey {
    pub kind: Kind,
    pub pid: u32,
    pub handle: u32,
    /// Low half of the file's inode number or the maker's process id: handles are reused.
    pub stamp: u32,
}

const VERSION: u8 = 2;
/// Bytes of an encoded `SegmentKey`: an interface address.
pub const KEY_LEN: usize = 16;
/// Bytes of an encoded `MemKey`: a packed remote key.
pub const MEM_KEY_LEN: usize = 32;

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
    out[4..8].copy_from_slice(&key.pid.to_le_bytes());
    out[8..12].copy_from_slice(&key.handle.to_le_bytes());
    out[12..16].copy_from_slice(&key.stamp.to_le_bytes());
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0u8; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

fn get_key(bytes: &[u8]) -> Result<SegmentKey> {
    let claimed = u16::from_le_bytes([bytes[2], bytes[3]]);
    if bytes[0] != VERSION || claimed != sum(bytes) {
        return Err(Status::INVALID_ADDR);
    }
    Ok(SegmentKey {
        kind: Kind::from_byte(bytes[1]).ok_or(Status::INVALID_ADDR)?,
        pid: word(bytes, 4),
        handle: word(bytes, 8),
        stamp: word(bytes, 12),
    })
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
        out[16..24].copy_from_slice(&self.base.to_le_bytes());
        out[24..32].copy_from_slice(&self.len.to_le_bytes());
        seal(&mut out);
        out
    }

    /// `INVALID_ADDR` for another version, damaged bytes, or a range that is none.
    pub fn decode(bytes: &[u8; MEM_KEY_LEN]) -> Result<MemKey> {
        let key = MemKey {
            segment: get_key(bytes)?,
            base: long(bytes, 16),
            len: long(bytes, 24),
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
        kind: Kind::Sysv,
        pid: 0x0102_0304,
        handle: 0xa0b0_c0d0,
        stamp: 77,
    };

    #[test]
    fn addresses_keep_their_bytes() {
        let bytes = KEY.encode();
        assert_eq!(
            bytes,
            [
                VERSION, 3, bytes[2], bytes[3], 4, 3, 2, 1, 0xd0, 0xc0, 0xb0, 0xa0, 77, 0, 0, 0
            ]
        );
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
