//! `Fenced`: whether an endpoint's worker was fenced, and which atomics its context lacks. It is one byte, so that an atomic
//! makes one comparison.
#![forbid(unsafe_code)]

use crate::ucp::feature::Feature;
use crate::ucp::worker_core::Core;
use core::cell::Cell;

const FENCED: u8 = 1;
/// Puts before the fence may still be on their way by the message lane, which keeps later accesses behind them.
const IN_ORDER: u8 = 2;
/// And the sizes of atomics that are refused, in bytes.
const SIZES: [u8; 2] = [4, 8];

pub struct Fenced(Cell<u8>);

impl Fenced {
    pub fn new(worker: &Core) -> Fenced {
        let refused = SIZES
            .into_iter()
            .filter(|size| worker.lacks(Feature::of_atomic(*size)));
        Fenced(Cell::new(refused.fold(0, |all, size| all | size)))
    }

    #[inline(always)]
    pub fn get(&self) -> bool {
        self.0.get() & FENCED != 0
    }

    pub fn set(&self, fenced: bool) {
        self.0.set(self.0.get() & !FENCED | u8::from(fenced));
    }

    /// Whether a fence still counts.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.0.get() & (FENCED | IN_ORDER) != 0
    }

    /// Whether accesses go by the message lane alone.
    pub fn is_in_order(&self) -> bool {
        self.0.get() & IN_ORDER != 0
    }

    pub fn set_in_order(&self, in_order: bool) {
        let others = self.0.get() & !IN_ORDER;
        self.0
            .set(if in_order { others | IN_ORDER } else { others });
    }

    /// Whether an atomic of 4 or 8 bytes takes no shortcut.
    #[inline(always)]
    pub fn holds(&self, size: usize) -> bool {
        self.0.get() & (FENCED | size as u8) != 0
    }
}
