//! The header of every worker address and remote key of this library: length, magic, version and two checksums.
//!
//! C passes such a blob without a length, so the header has it: length (2), magic (1), version (1), checksum of the
//! header (2), checksum of all other bytes (2). Between processes of this library the header comes first. In the form
//! that applications exchange, bytes that upstream can parse precede it (`envelope`).

use super::envelope::EnvelopeKind;
use super::{Reader, Writer, upstream};

/// Bytes of the head.
pub const HEAD: usize = 8;
const MAGIC: u8 = 0xfc;
const VERSION: u8 = 7;

/// Sixteen bytes at a time.
const SUM: crc::Crc<u16, crc::Table<16>> =
    crc::Crc::<u16, crc::Table<16>>::new(&crc::CRC_16_IBM_3740);

/// A sum that tells damaged or foreign bytes from ours, not an attacker's: every run of up to 16 wrong bits is
/// noticed, others but once in 65536.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = SUM.digest();
    for part in parts {
        sum.update(part);
    }
    sum.finalize()
}

/// The magic byte, with a sum of the length in it: the length is used before anything else is read.
fn magic(len: u16) -> u8 {
    let [low, high] = len.to_le_bytes();
    MAGIC ^ low ^ high.rotate_left(3)
}

/// A second sum of length and version, which flipped bits of the head do not meet by chance. It is looked at several times
/// for each blob, so it is put together of what each byte adds.
fn head_sum(len: u16) -> u16 {
    const fn sum(low: u8, high: u8) -> u16 {
        SUM.checksum(&[low, high, VERSION])
    }
    /// What each value of the low or high byte adds to the sum of length 0.
    const fn adds(is_high: bool) -> [u16; 256] {
        let mut all = [0; 256];
        let mut byte = 0;
        while byte < all.len() {
            let [low, high] = if is_high { [0, byte] } else { [byte, 0] };
            all[byte] = NONE ^ sum(low as u8, high as u8);
            byte += 1;
        }
        all
    }
    const NONE: u16 = sum(0, 0);
    const LOW: [u16; 256] = adds(false);
    const HIGH: [u16; 256] = adds(true);
    let [low, high] = len.to_le_bytes();
    NONE ^ LOW[usize::from(low)] ^ HIGH[usize::from(high)]
}

/// Writes the head at `blob[at..]`, when all else is written.
pub fn seal(blob: &mut [u8], at: usize) {
    let len = blob.len() as u16;
    let sum = checksum(&[&blob[..at], &blob[at + HEAD..]]);
    let mut w = Writer::new(&mut blob[at..]);
    w.u16(len);
    w.u8(magic(len));
    w.u8(VERSION);
    w.u16(head_sum(len));
    w.u16(sum);
}

/// Why a blob was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobError {
    /// Neither of this library nor of upstream UCX.
    Foreign,
    /// Of this library, but of another kind.
    Other(EnvelopeKind),
    /// Of upstream UCX.
    Upstream(upstream::Release),
    /// Of this library, in a version this build does not speak.
    Version(u8),
    /// Damaged: the length or the checksum is wrong.
    Damaged,
}

impl core::fmt::Display for BlobError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            BlobError::Foreign => f.write_str(
                "it was not made by this library; both sides must run the same implementation",
            ),
            BlobError::Other(EnvelopeKind::Address) => f.write_str("it is the address of a worker"),
            BlobError::Other(EnvelopeKind::Key) => {
                f.write_str("it is a remote key, packed without UCP_MEMH_PACK_FLAG_EXPORT")
            }
            BlobError::Other(EnvelopeKind::Handle) => f.write_str(
                "it is an exported memory handle, packed with UCP_MEMH_PACK_FLAG_EXPORT",
            ),
            BlobError::Upstream(release) => write!(
                f,
                "it was made by {release}, and this library talks only to processes that run it too; \
                 start both sides with the same library"
            ),
            BlobError::Version(v) => write!(
                f,
                "it has format version {v}, this build speaks {VERSION}; upgrade the older side"
            ),
            BlobError::Damaged => f.write_str("it is damaged: length or checksum are wrong"),
        }
    }
}

/// The length of the whole blob that this head claims; `Foreign` unless it is of this library.
pub fn claimed_len(head: &[u8; HEAD]) -> Result<usize, BlobError> {
    let mut r = Reader::new(head);
    let (Some(len), Some(found), Some(version), Some(sum)) = (r.u16(), r.u8(), r.u8(), r.u16())
    else {
        return Err(BlobError::Damaged);
    };
    if found != magic(len) {
        return Err(BlobError::Foreign);
    }
    if version != VERSION {
        return Err(BlobError::Version(version));
    }
    if sum != head_sum(len) || usize::from(len) < HEAD {
        return Err(BlobError::Damaged);
    }
    Ok(len.into())
}

/// Checks length and sums of a blob whose head stands at `at`: the bytes before the head, and behind it.
pub fn open(blob: &[u8], at: usize) -> Result<(&[u8], &[u8]), BlobError> {
    let (before, rest) = blob.split_at_checked(at).ok_or(BlobError::Damaged)?;
    let (head, body) = rest.split_first_chunk::<HEAD>().ok_or(BlobError::Damaged)?;
    if claimed_len(head)? != blob.len() {
        return Err(BlobError::Damaged);
    }
    if checksum(&[before, body]).to_le_bytes() != head[6..] {
        return Err(BlobError::Damaged);
    }
    Ok((before, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_a_head_is_that_of_its_bytes() {
        for len in (0..=u16::MAX).step_by(if cfg!(miri) { 251 } else { 1 }) {
            let [low, high] = len.to_le_bytes();
            assert_eq!(head_sum(len), checksum(&[&[low, high, VERSION]]));
        }
    }
}
