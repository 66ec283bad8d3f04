//! Parts of a transfer, each with the lane that it goes by.
#![forbid(unsafe_code)]

use super::lanes::Lane;
use crate::c::uct_rkey_t;
use crate::ucp::reg::LocalMemory;
use crate::ucs::{Result, Status};
use crate::uct::internal::EpochGuard;
use core::ops::Range;

/// A part of a transfer, and the lane that it goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub lane: Lane,
    pub range: Range<usize>,
}

/// A part that an RDMA device moves, by the registration and the keys of its memory domain.
#[derive(Clone, Debug)]
pub struct DevicePart {
    pub part: Part,
    pub memory: LocalMemory,
    pub rkey: uct_rkey_t,
    pub guard: Option<EpochGuard>,
}

/// The bytes of a message that are still to be sent in fragments, by the lanes that share them.
pub struct Rest(Vec<Part>);

impl Rest {
    /// `parts` begin with that of the message lane.
    pub fn new(parts: Vec<Part>) -> Rest {
        Rest(parts)
    }

    /// The first `sent` bytes were sent, by the message lane: the others have that much more of what is left.
    pub fn skip(&mut self, sent: usize) {
        for part in &mut self.0 {
            part.range.start = sent.clamp(part.range.start, part.range.end);
        }
    }

    pub fn message_lane(&self) -> Lane {
        self.0[0].lane
    }

    /// The first byte that the message lane has still to send.
    pub fn offset(&self) -> usize {
        self.0[0].range.start
    }

    /// Whether several lanes share it.
    pub fn is_split(&self) -> bool {
        self.0.len() > 1
    }

    /// Sends all of it: `send` sends the first bytes of a range by a lane and returns their number. The message lane
    /// helps the others when its own part is sent. `NO_RESOURCE` when no lane has room.
    pub fn send(
        &mut self,
        mut send: impl FnMut(Lane, Range<usize>) -> Result<usize>,
    ) -> Result<()> {
        let mut full = vec![false; self.0.len()];
        loop {
            self.fill_rails(&mut full, &mut send)?;
            let Some(at) = self.0.iter().position(|part| !part.range.is_empty()) else {
                return Ok(());
            };
            match send(self.0[0].lane, self.0[at].range.clone()) {
                Ok(sent) => self.0[at].range.start += sent,
                Err(Status::NO_RESOURCE) => break,
                Err(e) => return Err(e),
            }
        }
        while self.fill_rails(&mut full, &mut send)? {}
        match self.0.iter().all(|part| part.range.is_empty()) {
            true => Ok(()),
            false => Err(Status::NO_RESOURCE),
        }
    }

    /// Sends a fragment by each rail that is not `full`. Returns whether there was one.
    fn fill_rails(
        &mut self,
        full: &mut [bool],
        send: &mut impl FnMut(Lane, Range<usize>) -> Result<usize>,
    ) -> Result<bool> {
        let mut any = false;
        for (part, full) in self.0.iter_mut().zip(full).skip(1) {
            if *full || part.range.is_empty() {
                continue;
            }
            match send(part.lane, part.range.clone()) {
                Ok(sent) => part.range.start += sent,
                Err(Status::NO_RESOURCE) => *full = true,
                Err(e) => return Err(e),
            }
            any |= !*full;
        }
        Ok(any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucp::ep::lanes::Lanes;
    use crate::ucs::test_rng::TestRng;

    /// Lanes of several capacities: each byte is sent once, and nothing is left while the first lane has room.
    #[test]
    fn the_rest_of_a_message_goes_by_all_lanes() {
        let rng = TestRng::new(2);
        for _ in 0..2000 {
            let count = 1 + rng.below(3);
            let len = 1 + rng.below(5000);
            let lanes = Lanes::default();
            let each = len.div_ceil(count);
            let part = |n: usize| Part {
                lane: lanes.add(core::ptr::without_provenance_mut(8 * n + 8), n, 0),
                range: (n * each).min(len)..((n + 1) * each).min(len),
            };
            let mut rest = Rest::new((0..count).map(part).collect());
            let mut seen = vec![0u8; len];
            let before = rng.below(len);
            rest.skip(before);
            seen[..before].fill(1);
            let mut steps = 0;
            loop {
                let mut room: Vec<usize> = (0..count).map(|_| rng.below(4)).collect();
                let sent = rest.send(|lane, range| {
                    let room = &mut room[lane.iface];
                    *room = room.checked_sub(1).ok_or(Status::NO_RESOURCE)?;
                    let n = range.len().min(1 + rng.below(300));
                    for byte in &mut seen[range.start..range.start + n] {
                        *byte += 1;
                    }
                    Ok(n)
                });
                match sent {
                    Ok(()) => break,
                    Err(e) => assert_eq!((e, room[0]), (Status::NO_RESOURCE, 0)),
                }
                steps += 1;
                assert!(steps < 100_000);
            }
            assert!(seen.iter().all(|times| *times == 1));
        }
    }
}
