//! Tests of the shared-memory transports below the C API: rings against an oracle, the two ends of
//! an interface, and senders that damage what they share.

mod ends;
#[cfg(loom)]
mod model;
mod ring;
mod scribble;

/// A small generator of numbers, the same for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit
    }
}
