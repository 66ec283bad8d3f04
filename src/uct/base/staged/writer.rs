//! Writing: received bytes are gathered in a window; the device copies those before into the buffer meanwhile.
#![forbid(unsafe_code)]

use super::pace::{Pace, Plan};
use super::{Blocks, InFlight, WINDOW};
use crate::ucs::{Result, Status};
use crate::uct::base::memory_copier::{Direction, HostBuffer};
use std::collections::VecDeque;

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
    pub fn write(&mut self, of: &Blocks, offset: usize, bytes: &[u8]) -> Result<()> {
        let follows = offset == self.offset + self.length;
        if self.length > 0 && (!follows || self.length + bytes.len() > self.room) {
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
            if (is_done || self.behind.len() >= depth)
                && let Some((oldest, length)) = self.behind.pop_front()
            {
                let buffer = oldest.wait()?;
                self.pace.copied(length, !is_done, cost);
                return Ok(Some(buffer));
            }
        }
        Ok(of.staging_buffer(self.offset))
    }

    /// Has all bytes in the buffer, and gives all memory back.
    pub fn finish(&mut self, of: &Blocks) -> Result<()> {
        let Writer {
            offset,
            length,
            bytes,
            behind,
            ..
        } = core::mem::take(self);
        let wait = |all: Result<()>, (copy, _): (InFlight, usize)| all.and(copy.wait().map(drop));
        let behind = behind.into_iter().fold(Ok(()), wait);
        let gathered = match length {
            0 => Ok(()),
            _ => of.copy_in(offset, &bytes[..length]),
        };
        behind.and(gathered)
    }
}

/// Memory with room for a window of the bytes from `offset` on.
fn window(of: &Blocks, offset: usize) -> Result<HostBuffer> {
    if let Some(buffer) = of.staging_buffer(offset) {
        return Ok(buffer);
    }
    let room = WINDOW.min(of.length.saturating_sub(offset));
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(room)
        .map_err(|_| Status::NO_MEMORY)?;
    Ok(HostBuffer::new(bytes, None))
}
