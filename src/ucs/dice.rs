//! Numbers for random tests, the same on every run and machine (xorshift).

pub struct Dice(pub u64);

impl Dice {
    /// 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn number(&mut self, below: u64) -> u64 {
        self.roll() % below
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.roll() >> 16) as usize % limit
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.roll() >> 24) as u8).collect()
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
