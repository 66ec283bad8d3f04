//! Writing: received bytes are gathered in a window; the device copies those before into the buffer meanwhile.
#![forbid(unsafe_code)]

use super::pace::{Pace, Plan};
use super::{Blocks, InFlight, PINNED_FROM, WINDOW};
use crate::ucs::{Result, Status};
use crate::uct::base::memory_copier::{Direction, HostBuffer, PendingCopy};
use std::collections::VecDeque;

/// Bytes of the longest message whose receiver waits for no copy, as long as there are staging buffers.
const NEVER_LATE: usize = 2 * WINDOW;

#[derive(Default)]
pub struct Writer {
    offset: usize,
    /// Bytes that were gathered, for `offset`.
    length: usize,
    /// Most that are gathered.
    room: usize,
    bytes: HostBuffer,
    /// The windows before, whose copies may be in flight, with their lengths.
    behind: VecDeque<(InFlight, usize)>,
    pace: Pace,
}

impl Writer {
    /// Takes bytes for `offset`. They are in the buffer after `finish`.
    pub fn write(&mut self, of: &Blocks, mut offset: usize, bytes: &[u8]) -> Result<()> {
        let piece = match of.length > NEVER_LATE {
            true => bytes.len().max(1),
            false => WINDOW,
        };
        for piece in bytes.chunks(piece) {
            self.write_piece(of, offset, piece)?;
            offset += piece.len();
        }
        Ok(())
    }

    /// As `write`, of at most a window where no copy is to be waited for.
    fn write_piece(&mut self, of: &Blocks, offset: usize, bytes: &[u8]) -> Result<()> {
        let follows = offset == self.offset + self.length;
        if self.length > 0 && (!follows || self.length + bytes.len() > self.room) {
            self.empty(of)?;
        }
        let is_last = offset + bytes.len() == of.length;
        if self.length == 0 {
            if self.bytes.is_empty() {
                self.bytes = of.staging_buffer(offset).unwrap_or_default();
            }
            // Nothing is copied twice in vain.
            let waits = of.length > NEVER_LATE || !self.bytes.is_pooled();
            if bytes.len() >= WINDOW && waits || is_last && !self.bytes.is_pooled() {
                return of.copy_in(offset, bytes);
            }
            if self.bytes.is_empty() {
                self.bytes = unpinned(of, offset)?;
            }
            self.room = match self.bytes.is_pooled() {
                true => self.pace.plan(of.cost(Direction::ToDevice)).window,
                false => WINDOW,
            };
            self.pace.begin();
            self.offset = offset;
        }
        self.bytes.write(self.length, bytes);
        self.length += bytes.len();
        Ok(())
    }

    /// Has the window copied into the buffer, while another one is filled if it was full. It is given up if that fails.
    fn empty(&mut self, of: &Blocks) -> Result<()> {
        let length = core::mem::take(&mut self.length);
        let was_full = length >= self.room / 2;
        let next = match was_full && self.bytes.is_pooled() {
            true => self.next_buffer(of, length)?,
            false => None,
        };
        let Some(next) = next else {
            return of.copy_in(self.offset, &self.bytes[..length]);
        };
        let bytes = core::mem::replace(&mut self.bytes, next);
        let in_flight = of.start_in(self.offset, bytes, length)?;
        self.behind.push_back((in_flight, length));
        Ok(())
    }

    /// The buffer for the next window after one of `length` bytes: of the oldest copy where that has ended, or where no
    /// more are to be in flight.
    fn next_buffer(&mut self, of: &Blocks, length: usize) -> Result<Option<HostBuffer>> {
        self.pace.end(length);
        self.pace.add(length);
        let cost = of.cost(Direction::ToDevice);
        let Plan { depth, .. } = self.pace.plan(cost);
        if let Some((oldest, _)) = self.behind.front() {
            let is_done = oldest.is_done();
            // All of a message of this length may be behind.
            let is_deep = of.length > NEVER_LATE || self.bytes.is_the_last();
            if (is_done || is_deep && self.behind.len() >= depth)
                && let Some((oldest, length)) = self.behind.pop_front()
            {
                let buffer = oldest.wait()?;
                self.pace.copied(length, !is_done, cost);
                return Ok(Some(buffer));
            }
        }
        Ok(of.staging_buffer(self.offset))
    }

    /// Starts to copy what is left. `None` where nothing is any more.
    pub fn start_finish(&mut self, of: &Blocks) -> Result<Option<Box<dyn PendingCopy>>> {
        // What is only started keeps its buffers from other messages.
        if self.bytes.is_the_last() {
            return self.finish(of).map(|()| None);
        }
        let (behind, last) = self.take_apart();
        let boxed = |(copy, _): (InFlight, usize)| -> Box<dyn PendingCopy> { Box::new(copy) };
        let mut copies: Vec<_> = behind.into_iter().map(boxed).collect();
        // The copy of a few bytes takes less than to hold a buffer for it.
        let pays = |last: &Last| last.length >= PINNED_FROM || !copies.is_empty();
        match last {
            Some(last) if last.bytes.is_pooled() && pays(&last) => {
                copies.push(Box::new(of.start_in(
                    last.offset,
                    last.bytes,
                    last.length,
                )?));
            }
            Some(last) => last.copy(of)?,
            None => {}
        }
        let all = InFlight { copies, buffer: () };
        Ok((!all.copies.is_empty()).then(|| -> Box<dyn PendingCopy> { Box::new(all) }))
    }

    /// Has all bytes in the buffer, and gives all memory back.
    pub fn finish(&mut self, of: &Blocks) -> Result<()> {
        let (behind, last) = self.take_apart();
        let wait = |all: Result<()>, (copy, _): (InFlight, usize)| all.and(copy.wait().map(drop));
        let behind = behind.into_iter().fold(Ok(()), wait);
        let gathered = last.map_or(Ok(()), |last| last.copy(of));
        behind.and(gathered)
    }

    /// Begins anew. Returns the windows behind, and the one that was being filled.
    fn take_apart(&mut self) -> (VecDeque<(InFlight, usize)>, Option<Last>) {
        let Writer {
            offset,
            length,
            bytes,
            behind,
            ..
        } = core::mem::take(self);
        let last = Last {
            offset,
            length,
            bytes,
        };
        (behind, (length > 0).then_some(last))
    }
}

/// The bytes that were gathered last.
struct Last {
    offset: usize,
    length: usize,
    bytes: HostBuffer,
}

impl Last {
    fn copy(&self, of: &Blocks) -> Result<()> {
        of.copy_in(self.offset, &self.bytes[..self.length])
    }
}

/// Memory that is not pinned, with room for a window of the bytes from `offset` on.
fn unpinned(of: &Blocks, offset: usize) -> Result<HostBuffer> {
    let room = WINDOW.min(of.length.saturating_sub(offset));
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(room)
        .map_err(|_| Status::NO_MEMORY)?;
    Ok(HostBuffer::new(bytes, None))
}
