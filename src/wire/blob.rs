//! The header of every worker address and remote key of this library: length, magic, version and checksum.
//!
//! C passes such a blob without a length, so the header has it: length (2), magic (1), version (1), CRC-32C of all other
//! bytes (4). Between processes of this library the header comes first. In the form that applications exchange, bytes
//! that upstream can parse precede it (`envelope`).

use super::envelope::EnvelopeKind;
use super::{Writer, upstream};
use crate::sys::crc32c::crc32c;

/// Bytes of the head.
pub const HEAD: usize = 8;
/// Where the checksum stands in it, at its end.
const SUM_AT: usize = HEAD - size_of::<u32>();
const MAGIC: u8 = 0xfc;
const VERSION: u8 = 9;

/// Of what is short and seldom; sixteen bytes at a time.
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

/// Of all bytes but the sum, which stands at `at`; `None` if there is no room for one. It tells damaged or foreign bytes from
/// ours, not an attacker's: every run of up to 32 wrong bits is noticed, others but once in 2^32.
fn whole_sum(blob: &[u8], at: usize) -> Option<u32> {
    let (before, rest) = blob.split_at_checked(at)?;
    Some(crc32c(&[before, rest.get(size_of::<u32>()..)?]))
}

/// Writes the head at `blob[at..]`, when all else is written.
pub fn seal(blob: &mut [u8], at: usize) {
    let len = blob.len() as u16;
    let mut w = Writer::new(&mut blob[at..]);
    w.u16(len);
    w.u8(magic(len));
    w.u8(VERSION);
    if let Some(sum) = whole_sum(blob, at + SUM_AT) {
        Writer::new(&mut blob[at + SUM_AT..]).u32(sum);
    }
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
    let [low, high, found, version, ..] = *head;
    let len = u16::from_le_bytes([low, high]);
    if found != magic(len) {
        return Err(BlobError::Foreign);
    }
    if version != VERSION {
        return Err(BlobError::Version(version));
    }
    if usize::from(len) < HEAD {
        return Err(BlobError::Damaged);
    }
    Ok(len.into())
}

/// A blob with its head in front, as its head says, and what follows it: nothing if it is none.
pub fn split_first(bytes: &[u8]) -> (&[u8], &[u8]) {
    let length = bytes.first_chunk().and_then(|head| claimed_len(head).ok());
    length
        .and_then(|length| bytes.split_at_checked(length))
        .unwrap_or((bytes, &[]))
}

/// Checks length and sum of a blob whose head stands at `at`: the bytes before the head, and behind it.
pub fn open(blob: &[u8], at: usize) -> Result<(&[u8], &[u8]), BlobError> {
    let (before, rest) = blob.split_at_checked(at).ok_or(BlobError::Damaged)?;
    let (head, body) = rest.split_first_chunk::<HEAD>().ok_or(BlobError::Damaged)?;
    let [.., s0, s1, s2, s3] = *head;
    let sum = u32::from_le_bytes([s0, s1, s2, s3]);
    if claimed_len(head)? != blob.len() || whole_sum(blob, at + SUM_AT) != Some(sum) {
        return Err(BlobError::Damaged);
    }
    Ok((before, body))
}
