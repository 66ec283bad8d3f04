//! How much of its arena a sender uses.
//!
//! The first part, at first. Twice as much each time that there is no room there, as the receiver lags behind, so that a lane takes
//! memory as its receiver needs it. And twice as much at the end of a lap, until the laps suit the receiver's cache (`Lap`), so that
//! a few messages reserve little.
#![forbid(unsafe_code)]

use super::ring::Shape;
use crate::ucs_debug;
use core::cell::{Cell, RefCell};
use std::io;

/// Reserves the memory of a lane from the first place of its arena up to the second. Returns whether it did.
pub type Extend = Box<dyn Fn(usize, usize) -> bool>;

/// Tells how much of an arena to use before its first lines are written again.
pub type Lap = Box<dyn Fn() -> usize>;

/// Extends the arena of a lane at `at` of its segment by `reserve`, which gets an offset there and a length.
pub fn extend_by(
    at: usize,
    shape: Shape,
    reserve: impl Fn(usize, usize) -> io::Result<bool> + 'static,
) -> Extend {
    Box::new(move |from, to| {
        let (from, to) = (shape.bytes_to(from), shape.bytes_to(to));
        reserve(at + from, to - from).unwrap_or_else(|e| {
            ucs_debug!("no memory for more of a ring: {e}");
            false
        })
    })
}

/// Of the arena of one lane.
pub struct Growth {
    /// The arena is used up to here, and has its memory up to `reserved`.
    reach: Cell<usize>,
    reserved: Cell<usize>,
    /// What the receiver has lagged by.
    lag: Cell<usize>,
    /// The bytes sent in all when it last lagged.
    lagged_at: Cell<u64>,
    by: RefCell<Option<(Extend, Lap)>>,
    /// There was no memory for more: the part in use serves, more slowly.
    is_over: Cell<bool>,
}

impl Growth {
    /// All memory is there, and used.
    pub fn none(shape: Shape) -> Growth {
        let whole = shape.arena().len();
        Growth {
            reach: Cell::new(whole),
            reserved: Cell::new(whole),
            lag: Cell::new(0),
            lagged_at: Cell::new(0),
            by: RefCell::new(None),
            is_over: Cell::new(false),
        }
    }

    /// Only the memory of the first part is there so far.
    pub fn begin_short(&self, shape: Shape, extend: Extend, lap: Lap) {
        let first = shape.first_reach();
        self.reach.set(first);
        self.reserved.set(first);
        self.by.replace(Some((extend, lap)));
    }

    /// Up to where the arena is used.
    #[inline(always)]
    pub fn reach(&self) -> usize {
        self.reach.get()
    }

    /// There is no room after `sent` bytes in all. Uses twice as much; where that gives no room, because the sender has not come to
    /// the end of the present part, it is not done again before more was sent. Returns whether it was done.
    pub fn lagged(&self, shape: Shape, sent: u64) -> bool {
        if self.lagged_at.replace(sent) == sent {
            return false;
        }
        let more = shape.arena().next_reach(self.reach.get());
        self.lag.set(more);
        self.use_up_to(shape, more);
        true
    }

    /// A lap begins: uses as much as the receiver has lagged by, or as suits its cache.
    #[cold]
    pub fn begin_lap(&self, shape: Shape) {
        let lap = self.by.borrow().as_ref().map(|(_, lap)| lap());
        if let Some(lap) = lap {
            let least = self.lag.get().max(shape.first_reach());
            self.use_up_to(shape, lap.max(least));
        }
    }

    /// Uses the arena up to `wanted`, as far as its memory is there, of which there is one step more each time: the receiver expects
    /// it in these steps.
    fn use_up_to(&self, shape: Shape, wanted: usize) {
        let reserved = self.reserved.get();
        if wanted > reserved
            && !self.is_over.get()
            && let Some((extend, _)) = &*self.by.borrow()
        {
            let more = shape.arena().next_reach(reserved);
            if more > reserved && extend(reserved, more) {
                self.reserved.set(more);
            } else {
                self.is_over.set(true);
            }
        }
        self.reach.set(wanted.min(self.reserved.get()));
    }
}
