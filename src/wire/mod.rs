//! Floor 4: UCP byte formats: everything of UCP that crosses a process border.
//!
//! Little endian, no padding, versioned where it travels outside a connection (addresses, remote
//! keys: `blob`). What applications exchange themselves has an outside that upstream UCX can read
//! (`envelope`), and what upstream makes is recognised (`upstream`). Decoders take a slice and answer
//! `None` for anything that does not fit: no byte of a peer can make them read beyond the slice. Ids
//! that come back to their owner are a slot and a nonce.
#![forbid(unsafe_code)]

pub mod address;
pub mod blob;
pub mod envelope;
pub mod greeting;
pub mod header;
pub mod id;
pub mod rkey;
pub mod upstream;

pub use blob::checksum;

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
