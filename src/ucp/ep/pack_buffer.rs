//! `PackBuffer`: a transport's buffer for one message, which is written from its start.
#![forbid(unsafe_code)]

use crate::ucp::dt::Data;
use crate::ucs::Result;
use crate::uct::base::copy::{Payload, Room};
use crate::wire::Writer;
use crate::wire::header::Header;

/// A buffer and the number of bytes that are written. Its user knows how much it holds: more is a panic.
pub struct PackBuffer<'a> {
    room: Room<'a>,
    len: usize,
}

impl<'a> PackBuffer<'a> {
    #[inline]
    pub fn new(room: Room<'a>) -> PackBuffer<'a> {
        PackBuffer { room, len: 0 }
    }

    /// Bytes written.
    #[inline]
    pub fn filled(&self) -> usize {
        self.len
    }

    #[inline]
    fn append(&mut self, len: usize) -> Room<'_> {
        let at = self.len;
        self.len += len;
        self.room.part(at, len)
    }

    /// Appends `len` bytes that `encode` writes.
    #[inline]
    pub fn fields(&mut self, len: usize, encode: impl FnOnce(&mut Writer<'_>)) {
        encode(&mut Writer::new(self.append(len).bytes()));
    }

    #[inline]
    pub fn header<H: Header>(&mut self, header: &H) {
        self.fields(H::LEN, |w| header.encode(w));
    }

    #[inline]
    pub fn bytes(&mut self, bytes: Payload<'_>) {
        self.append(bytes.len()).fill(bytes);
    }

    /// Appends bytes of a user's buffer from an offset on, at most as many as given.
    #[inline]
    pub fn data(&mut self, data: &Data, offset: usize, most: usize) {
        self.len += data.pack(offset, self.room.part(self.len, most));
    }

    /// Appends a header that says how `write` ended, and the `len` bytes that it has written, if it did not fail.
    #[inline]
    pub fn outcome<H: Header>(
        &mut self,
        len: usize,
        write: impl FnOnce(Room<'_>) -> Result<()>,
        header: impl FnOnce(&Result<()>) -> H,
    ) {
        let written = write(self.room.part(self.len + H::LEN, len));
        self.header(&header(&written));
        self.len += written.map_or(0, |()| len);
    }
}
