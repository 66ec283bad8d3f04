//! Reading: the window that messages are made from, and the next ones, which the device copies meanwhile.
#![forbid(unsafe_code)]

use super::pace::{Pace, Plan};
use super::{Blocks, InFlight, REST, WINDOW};
use crate::ucs::Result;
use crate::uct::base::memory_copier::{Direction, HostBuffer};
use std::collections::VecDeque;

#[derive(Default)]
pub struct Reader {
    window: Window,
    /// They follow each other.
    ahead: VecDeque<Ahead>,
    /// A staging buffer that is not in use.
    spare: Option<HostBuffer>,
    pace: Pace,
}

/// `length` bytes of the buffer, from `offset` on.
#[derive(Default)]
struct Window {
    offset: usize,
    length: usize,
    /// Where they begin in `bytes`.
    start: usize,
    bytes: HostBuffer,
}

impl Window {
    fn end(&self) -> usize {
        self.offset + self.length
    }

    /// The bytes from `offset` on; `None` if it begins later or ends before.
    fn from(&self, offset: usize) -> Option<&[u8]> {
        let skipped = offset.checked_sub(self.offset)?;
        self.bytes[self.start..][..self.length].get(skipped..)
    }
}

/// A window after the current one, whose copies may be in flight. Its bytes stand in the staging buffer from `REST` on.
struct Ahead {
    in_flight: InFlight,
    offset: usize,
    length: usize,
}

impl Reader {
    /// Has the next `pack` find the bytes at `offset`, at most as many as given.
    pub fn fetch(&mut self, of: &Blocks, offset: usize, most: usize) -> Result<()> {
        let wanted = most.min(of.length.saturating_sub(offset));
        let held = self.window.from(offset).map(<[u8]>::len);
        if held.is_some_and(|held| held >= wanted) {
            return Ok(());
        }
        if held.is_some() {
            self.pace.end(self.window.length);
        }
        if !self.take_ahead(of, offset, wanted)? {
            self.ahead.clear();
            self.read(of, offset, wanted)?;
        }
        // Who jumps about would wait for what is read ahead.
        if held.is_some() {
            self.read_ahead(of, wanted)?;
            self.pace.begin();
        }
        Ok(())
    }

    /// Makes the window that was read ahead the current one, with what is left of that, if this has the bytes.
    fn take_ahead(&mut self, of: &Blocks, offset: usize, wanted: usize) -> Result<bool> {
        let has_them = |ahead: &Ahead| {
            let rest = ahead.offset.checked_sub(offset);
            rest.is_some_and(|rest| rest <= REST && rest + ahead.length >= wanted)
        };
        if !self.ahead.front().is_some_and(has_them) {
            return Ok(false);
        }
        let Some(ahead) = self.ahead.pop_front() else {
            return Ok(false);
        };
        let had_to_wait = !ahead.in_flight.is_done();
        let mut bytes = ahead.in_flight.wait()?;
        let cost = of.cost(Direction::ToHost);
        self.pace.copied(ahead.length, had_to_wait, cost);
        let rest = self.window.from(offset).unwrap_or_default();
        if offset + rest.len() != ahead.offset {
            return Ok(false);
        }
        let start = REST - rest.len();
        bytes[start..REST].copy_from_slice(rest);
        let window = Window {
            offset,
            length: rest.len() + ahead.length,
            start,
            bytes,
        };
        let before = core::mem::replace(&mut self.window, window);
        self.spare = Some(before.bytes);
        Ok(true)
    }

    /// Makes the bytes from `offset` on the current window.
    fn read(&mut self, of: &Blocks, offset: usize, wanted: usize) -> Result<()> {
        let is_long = of.length > WINDOW;
        let most = match is_long {
            true => self.pace.plan(of.cost(Direction::ToHost)).window,
            false => WINDOW,
        };
        let length = wanted.max(window_length(of, offset, wanted, most));
        self.window = Window::default();
        let staging = match length <= WINDOW {
            true => self.staging_buffer(of, offset),
            false => None,
        };
        let bytes = match staging {
            Some(mut bytes) => {
                of.read_into(offset, &mut bytes[..length])?;
                bytes
            }
            None => of.read(offset, length)?,
        };
        self.pace.add(length);
        self.window = Window {
            offset,
            length,
            start: 0,
            bytes,
        };
        Ok(())
    }

    /// Starts to read what follows, where there is more and memory for it.
    fn read_ahead(&mut self, of: &Blocks, fragment: usize) -> Result<()> {
        if !self.window.bytes.is_pooled() {
            return Ok(());
        }
        loop {
            let offset = match self.ahead.back() {
                Some(last) => last.offset + last.length,
                None => self.window.end(),
            };
            if offset >= of.length {
                return Ok(());
            }
            let Plan { window, depth } = self.pace.plan(of.cost(Direction::ToHost));
            if self.ahead.len() >= depth {
                return Ok(());
            }
            let length = window_length(of, offset, fragment, window);
            let Some(buffer) = self.staging_buffer(of, offset) else {
                return Ok(());
            };
            let in_flight = of.start_out(offset, buffer, REST..REST + length)?;
            self.pace.add(length);
            self.ahead.push_back(Ahead {
                in_flight,
                offset,
                length,
            });
        }
    }

    fn staging_buffer(&mut self, of: &Blocks, offset: usize) -> Option<HostBuffer> {
        let spare = self.spare.take().filter(HostBuffer::is_pooled);
        spare.or_else(|| of.staging_buffer(offset))
    }

    /// The bytes from `offset` on that `fetch` has brought.
    pub fn held(&self, offset: usize) -> &[u8] {
        self.window.from(offset).unwrap_or_default()
    }
}

/// The bytes of a window that begins at `offset`, `most` or one fragment: whole fragments, so that little is left over.
fn window_length(of: &Blocks, offset: usize, fragment: usize, most: usize) -> usize {
    let whole = match fragment {
        0 => most,
        _ if fragment <= most => most / fragment * fragment,
        _ => fragment.min(WINDOW),
    };
    whole.min(of.length.saturating_sub(offset))
}
