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
    /// The next window was asked for before it was copied.
    is_late: bool,
    pace: Pace,
}

/// What a fetch does whose bytes are still being copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Late {
    Waits,
    Returns,
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
        let is_there = self.fetch_how(of, offset, most, Late::Waits)?;
        debug_assert!(is_there);
        Ok(())
    }

    /// As `fetch`, but may only start a copy, of which the next call asks whether it has ended. Returns whether the bytes are there.
    pub fn begin_fetch(&mut self, of: &Blocks, offset: usize, most: usize) -> Result<bool> {
        self.fetch_how(of, offset, most, Late::Returns)
    }

    fn fetch_how(&mut self, of: &Blocks, offset: usize, most: usize, late: Late) -> Result<bool> {
        let wanted = most.min(of.length.saturating_sub(offset));
        let held = self.window.from(offset).map(<[u8]>::len);
        if held.is_some_and(|held| held >= wanted) {
            return Ok(true);
        }
        // Who jumps about would wait for what is read ahead.
        let goes_on = held.is_some();
        if goes_on {
            self.pace.end(self.window.length);
        }
        if !self.is_ahead(offset, wanted) {
            self.ahead.clear();
            if late == Late::Waits || !self.start(of, offset, wanted)? {
                self.read(of, offset, wanted)?;
            }
        }
        if let Some(next) = self.ahead.front()
            && late == Late::Returns
            && !next.in_flight.is_done()
        {
            self.is_late = true;
            if goes_on {
                self.read_ahead(of, wanted)?;
            }
            return Ok(false);
        }
        self.take_ahead(of, offset)?;
        if goes_on {
            self.read_ahead(of, wanted)?;
            self.pace.begin();
        }
        Ok(true)
    }

    /// Whether the window that was read ahead has the bytes, with what is left of the current one.
    fn is_ahead(&self, offset: usize, wanted: usize) -> bool {
        let rest = self.window.from(offset).map_or(0, <[u8]>::len);
        let has_them = |ahead: &Ahead| {
            rest <= REST && offset + rest == ahead.offset && rest + ahead.length >= wanted
        };
        self.ahead.front().is_some_and(has_them)
    }

    /// Makes the window that was read ahead the current one, with what is left of that.
    fn take_ahead(&mut self, of: &Blocks, offset: usize) -> Result<()> {
        let Some(ahead) = self.ahead.pop_front() else {
            return Ok(());
        };
        let had_to_wait = core::mem::take(&mut self.is_late) || !ahead.in_flight.is_done();
        let mut bytes = ahead.in_flight.wait()?;
        let cost = of.cost(Direction::ToHost);
        self.pace.copied(ahead.length, had_to_wait, cost);
        let rest = self.window.from(offset).unwrap_or_default();
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
        Ok(())
    }

    /// Starts to read the bytes from `offset` on as the next window. Returns whether there is memory for that.
    fn start(&mut self, of: &Blocks, offset: usize, wanted: usize) -> Result<bool> {
        let length = self.next_length(of, offset, wanted);
        if length > WINDOW {
            return Ok(false);
        }
        let before = Window {
            offset,
            ..Window::default()
        };
        self.spare = Some(core::mem::replace(&mut self.window, before).bytes);
        let Some(buffer) = self.staging_buffer(of, offset) else {
            return Ok(false);
        };
        self.start_ahead(of, buffer, offset, length)?;
        Ok(true)
    }

    /// The bytes of a window that begins at `offset` and does not follow another.
    fn next_length(&self, of: &Blocks, offset: usize, wanted: usize) -> usize {
        let most = match of.length > WINDOW {
            true => self.pace.plan(of.cost(Direction::ToHost)).window,
            false => WINDOW,
        };
        wanted.max(window_length(of, offset, wanted, most))
    }

    fn start_ahead(
        &mut self,
        of: &Blocks,
        buffer: HostBuffer,
        offset: usize,
        length: usize,
    ) -> Result<()> {
        let in_flight = of.start_out(offset, buffer, REST..REST + length)?;
        self.pace.add(length);
        self.ahead.push_back(Ahead {
            in_flight,
            offset,
            length,
        });
        Ok(())
    }

    /// Makes the bytes from `offset` on the current window.
    fn read(&mut self, of: &Blocks, offset: usize, wanted: usize) -> Result<()> {
        let length = self.next_length(of, offset, wanted);
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
        if !self.window.bytes.is_pooled() && self.ahead.is_empty() {
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
            self.start_ahead(of, buffer, offset, length)?;
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
