//! Floor 4: UCP byte formats: everything of UCP that crosses a process border.
//!
//! Little endian, no padding, versioned where it travels outside a connection (addresses, remote
//! keys). Decoders take a slice and answer `None` for anything that does not fit: no byte of a peer
//! can make them read beyond the slice. Ids that come back to their owner are a slot and a nonce.
#![forbid(unsafe_code)]

pub mod address;
pub mod header;
pub mod rkey;

/// Takes fields off a slice.
#[derive(Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// The next `n` bytes.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|b| b[0])
    }

    #[inline]
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// What is left.
    #[inline]
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Puts fields into a slice that has room for them.
pub struct Writer<'a> {
    buf: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    pub fn new(buf: &'a mut [u8]) -> Writer<'a> {
        Writer { buf, at: 0 }
    }

    /// Appends `bytes`; the formats state how much room that takes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.buf[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline]
    pub fn u8(&mut self, v: u8) {
        self.bytes(&[v]);
    }

    #[inline]
    pub fn u16(&mut self, v: u16) {
        self.bytes(&v.to_le_bytes());
    }

    #[inline]
    pub fn u32(&mut self, v: u32) {
        self.bytes(&v.to_le_bytes());
    }

    #[inline]
    pub fn u64(&mut self, v: u64) {
        self.bytes(&v.to_le_bytes());
    }

    /// Bytes written so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.at
    }

    pub fn is_empty(&self) -> bool {
        self.at == 0
    }
}

const CRC: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_IBM_3740);

/// A sum that tells damaged or foreign bytes from ours, not an attacker's: every run of up to 16 wrong bits is
/// noticed, others but once in 65536.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = CRC.digest();
    for part in parts {
        sum.update(part);
    }
    sum.finalize()
}

/// What every blob that C passes without a length begins with: its length, our mark, version.
pub const BLOB_HEAD: usize = 8;
const BLOB_MARK: u8 = 0xfc;
const BLOB_VERSION: u8 = 3;

/// Our mark, with a sum of the length in it: the length is used before anything else is read.
fn mark(len: u16) -> u8 {
    let [low, high] = len.to_le_bytes();
    BLOB_MARK ^ low ^ high.rotate_left(3)
}

/// A second sum of length and version, which flipped bits of the head do not meet by chance.
fn head_sum(len: u16) -> u16 {
    let [low, high] = len.to_le_bytes();
    checksum(&[&[low, high, BLOB_VERSION]])
}

/// Closes a blob: writes the head in front of the body at `buf[BLOB_HEAD..]`.
pub fn seal(buf: &mut [u8]) {
    let len = buf.len() as u16;
    let sum = checksum(&[&buf[BLOB_HEAD..]]);
    let mut w = Writer::new(buf);
    w.u16(len);
    w.u8(mark(len));
    w.u8(BLOB_VERSION);
    w.u16(head_sum(len));
    w.u16(sum);
}

/// Why a blob was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobError {
    /// Not of this library: another implementation's, or garbage.
    Foreign,
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
            BlobError::Version(v) => write!(
                f,
                "it has format version {v}, this build speaks {BLOB_VERSION}; upgrade the older side"
            ),
            BlobError::Damaged => f.write_str("it is damaged: length or checksum are wrong"),
        }
    }
}

/// The length a blob claims, from its first `BLOB_HEAD` bytes; `Foreign` unless it is marked ours.
pub fn blob_len(head: &[u8; BLOB_HEAD]) -> Result<usize, BlobError> {
    let len = u16::from_le_bytes([head[0], head[1]]);
    if head[2] != mark(len) {
        return Err(BlobError::Foreign);
    }
    if head[3] != BLOB_VERSION {
        return Err(BlobError::Version(head[3]));
    }
    let sum = u16::from_le_bytes([head[4], head[5]]);
    let matches = sum == head_sum(len);
    let len = usize::from(len);
    if !matches || len < BLOB_HEAD {
        return Err(BlobError::Damaged);
    }
    Ok(len)
}

/// The body of a blob, checked.
fn open(blob: &[u8]) -> Result<&[u8], BlobError> {
    let head = blob.first_chunk::<BLOB_HEAD>().ok_or(BlobError::Damaged)?;
    if blob_len(head)? != blob.len() {
        return Err(BlobError::Damaged);
    }
    let sum = u16::from_le_bytes([head[6], head[7]]);
    let body = &blob[BLOB_HEAD..];
    if checksum(&[body]) != sum {
        return Err(BlobError::Damaged);
    }
    Ok(body)
}
