//! A hash of words that uses two random words: who does not know them cannot choose keys that collide. Peers choose tags and
//! names; SipHash, which the standard library's maps have, takes ten times as long for one word.
#![forbid(unsafe_code)]

use std::hash::{BuildHasher, Hasher, RandomState};

/// Two random words, of which `factor` is odd.
#[derive(Clone, Copy)]
pub struct HashKey {
    mix: u64,
    factor: u64,
}

impl HashKey {
    /// For places that have no keys yet: everything collides.
    pub const NONE: HashKey = HashKey { mix: 0, factor: 0 };

    pub fn random() -> HashKey {
        let random = RandomState::new();
        HashKey {
            mix: random.hash_one(1),
            factor: random.hash_one(2) | 1,
        }
    }

    /// Both halves of the product, folded: each bit of the word moves bits all over it.
    #[inline(always)]
    fn fold(self, word: u64) -> u64 {
        let product = u128::from(word ^ self.mix) * u128::from(self.factor);
        (product >> 64) as u64 ^ product as u64
    }

    /// Words at equal distances, which programs like, would often be so in the lower bits as well: the golden ratio spreads
    /// them in the upper ones.
    #[inline(always)]
    pub fn hash(self, word: u64) -> u64 {
        self.fold(word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Default for HashKey {
    fn default() -> HashKey {
        HashKey::random()
    }
}

impl BuildHasher for HashKey {
    type Hasher = KeyedHasher;

    #[inline]
    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher {
            key: *self,
            state: 0,
        }
    }
}

/// The hash of a sequence of words.
pub struct KeyedHasher {
    key: HashKey,
    state: u64,
}

impl Hasher for KeyedHasher {
    #[inline(always)]
    fn write_u64(&mut self, word: u64) {
        self.state = self.key.fold(self.state.rotate_left(23) ^ word);
    }

    #[inline(always)]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline(always)]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    /// Both the upper and the lower bits are good ones: maps use both.
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.state ^ self.key.hash(self.state).rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Keys of programs, in as many places as there are keys: a random function fills 63 of 100.
    #[test]
    fn keys_are_spread_over_the_lower_and_the_upper_bits() {
        const BITS: u32 = 12;
        let series: [fn(u64) -> [u64; 2]; 5] = [
            |n| [7, n],
            |n| [n, 7],
            |n| [n << 32, n],
            |n| [7, n << 52],
            |n| [n * 4096, 1 << 63],
        ];
        let key = HashKey::random();
        for (which, words) in series.iter().enumerate() {
            let hashes = (0..1 << BITS).map(|n| key.hash_one(words(n)));
            let hashes: Vec<u64> = hashes.collect();
            let lower: HashSet<u64> = hashes.iter().map(|h| h & ((1 << BITS) - 1)).collect();
            let upper: HashSet<u64> = hashes.iter().map(|h| h >> (64 - BITS)).collect();
            for places in [lower.len(), upper.len()] {
                assert!(
                    places > (1 << BITS) / 2,
                    "{places} places of series {which}"
                );
            }
        }
    }

    #[test]
    fn another_key_makes_other_hashes() {
        let (a, b) = (HashKey::random(), HashKey::random());
        assert!((0..64u64).all(|n| a.hash_one(n) != b.hash_one(n)));
        assert_ne!(a.hash_one([1u8, 2]), a.hash_one([1u8, 2, 0]));
        assert_eq!(a.hash_one("x"), a.clone().hash_one("x"));
    }
}
