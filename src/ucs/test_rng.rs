//! `TestRng`: the random numbers of all tests, the same on every run and machine for one seed (splitmix64).
#![forbid(unsafe_code)]

use core::cell::Cell;

pub struct TestRng(Cell<u64>);

impl TestRng {
    pub fn new(seed: u64) -> TestRng {
        TestRng(Cell::new(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d,
        ))
    }

    /// 64 bits.
    pub fn next(&self) -> u64 {
        let n = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(n);
        let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ n >> 31
    }

    /// A number below `n`; 0 when `n` is 0.
    pub fn below(&self, n: usize) -> usize {
        (self.next() % (n.max(1) as u64)) as usize
    }

    pub fn between(&self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True with a probability of `percent` in a hundred.
    pub fn chance(&self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn bytes(&self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    pub fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
