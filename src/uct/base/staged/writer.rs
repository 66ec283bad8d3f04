//! Writing: received bytes are gathered in a window; the device copies the one before into the buffer meanwhile.
#![forbid(unsafe_code)]

use super::{Blocks, InFlight, WINDOW};
use crate::ucs::{Result, Status};
use crate::uct::base::memory_copier::HostBuffer;

#[derive(Default)]
pub struct Writer {
    offset: usize,
    /// Bytes that were gathered, for `offset`.
    length: usize,
    bytes: HostBuffer,
    /// The window before, whose copies may be in flight.
    behind: Option<InFlight>,
}

impl Writer {
    /// Takes bytes for `offset`. They are in the buffer after `finish`.
    pub fn write(&mut self, of: &Blocks, offset: usize, bytes: &[u8]) -> Result<()> {
        let follows = offset == self.offset + self.length;
        if self.length > 0 && (!follows || self.length + bytes.len() > WINDOW) {
            self.empty(of)?;
        }
        let is_last = offset + bytes.len() == of.length;
        if self.length == 0 {
            if bytes.len() >= WINDOW || is_last {
                return of.copy_in(offset, bytes);
            }
            if self.bytes.is_empty() {
                self.bytes = window(of, offset)?;
            }
            self.offset = offset;
        }
        self.bytes.write(self.length, bytes);
        self.length += bytes.len();
        Ok(())
    }

    /// Has the window copied into the buffer, while another one is filled if it was full. It is given up if that fails.
    fn empty(&mut self, of: &Blocks) -> Result<()> {
        let length = core::mem::take(&mut self.length);
        let next = match (
            length >= WINDOW / 2 && self.bytes.is_pooled(),
            self.behind.take(),
        ) {
            (false, behind) => {
                self.behind = behind;
                None
            }
            (true, Some(behind)) => Some(behind.wait()?),
            (true, None) => of.staging_buffer(self.offset),
        };
        let Some(next) = next else {
            return of.copy_in(self.offset, &self.bytes[..length]);
        };
        let bytes = core::mem::replace(&mut self.bytes, next);
        self.behind = Some(of.start_in(self.offset, bytes, length)?);
        Ok(())
    }

    /// Has all bytes in the buffer, and gives all memory back.
    pub fn finish(&mut self, of: &Blocks) -> Result<()> {
        let Writer {
            offset,
            length,
            bytes,
            behind,
        } = core::mem::take(self);
        let behind = behind.map_or(Ok(()), |behind| behind.wait().map(drop));
        let gathered = match length {
            0 => Ok(()),
            _ => of.copy_in(offset, &bytes[..length]),
        };
        behind.and(gathered)
    }
}

/// Memory with room for a window of the bytes from `offset` on.
fn window(of: &Blocks, offset: usize) -> Result<HostBuffer> {
    if of.length > WINDOW
        && let Some(buffer) = of.staging_buffer(offset)
    {
        return Ok(buffer);
    }
    let room = WINDOW.min(of.length.saturating_sub(offset));
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(room)
        .map_err(|_| Status::NO_MEMORY)?;
    Ok(HostBuffer::new(bytes, None))
}
