//! `Nonces`: 32-bit numbers that a peer cannot guess, also not from earlier ones: a keyed hash of a counter.
//!
//! Ids that are sent to peers contain a nonce, so that an id is a capability: it cannot be guessed. The key is random
//! and never leaves the process.
#![forbid(unsafe_code)]

use std::hash::{BuildHasher, RandomState};

pub struct Nonces {
    key: [u64; 2],
    count: u64,
    /// The half of the last hash that was not drawn yet; 0 for none.
    next: u32,
}

impl Default for Nonces {
    fn default() -> Nonces {
        let random = RandomState::new();
        Nonces {
            key: [random.hash_one(1), random.hash_one(2)],
            count: 0,
            next: 0,
        }
    }
}

impl Nonces {
    /// The next one, never 0.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        match core::mem::take(&mut self.next) {
            0 => self.draw_two(),
            nonce => nonce,
        }
    }

    /// Each hash makes two.
    #[inline(never)]
    fn draw_two(&mut self) -> u32 {
        loop {
            self.count += 1;
            let hash = siphash(self.key, self.count);
            self.next = (hash >> 32) as u32;
            let nonce = hash as u32;
            if nonce != 0 {
                return nonce;
            }
        }
    }
}

/// SipHash-1-3 of one word. The standard library's takes words of any length, and twice as long.
#[inline(always)]
fn siphash([k0, k1]: [u64; 2], word: u64) -> u64 {
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    // The word, and how many bytes there were.
    for part in [word, (size_of::<u64>() as u64) << 56] {
        v[3] ^= part;
        sip_round(&mut v);
        v[0] ^= part;
    }
    v[2] ^= 0xff;
    (0..3).for_each(|_| sip_round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

#[inline(always)]
fn sip_round(v: &mut [u64; 4]) {
    let [a, b, c, d] = *v;
    let (a, c) = (a.wrapping_add(b), c.wrapping_add(d));
    let (b, d) = (b.rotate_left(13) ^ a, d.rotate_left(16) ^ c);
    let a = a.rotate_left(32);
    let (c, a) = (c.wrapping_add(b), a.wrapping_add(d));
    let (b, d) = (b.rotate_left(17) ^ c, d.rotate_left(21) ^ a);
    *v = [a, b, c.rotate_left(32), d];
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::{DefaultHasher, Hasher};

    #[test]
    fn the_hash_is_that_of_the_standard_library() {
        for word in [0, 1, 0xff, 1 << 63, u64::MAX, 0x0123_4567_89ab_cdef] {
            // Its key is 0.
            let mut expected = DefaultHasher::new();
            expected.write_u64(word);
            assert_eq!(siphash([0, 0], word), expected.finish());
        }
    }

    #[test]
    fn none_is_drawn_twice_in_a_row_of_a_few() {
        let mut nonces = Nonces::default();
        let drawn: HashSet<u32> = (0..1000).map(|_| nonces.draw()).collect();
        assert!(drawn.len() > 990 && !drawn.contains(&0));
    }

    #[test]
    fn two_sources_have_nothing_in_common() {
        let draw = |mut n: Nonces| (0..64).map(|_| n.draw()).collect::<HashSet<u32>>();
        let (a, b) = (draw(Nonces::default()), draw(Nonces::default()));
        assert!(a.len() > 60 && !a.contains(&0));
        assert!(a.intersection(&b).count() < 2);
    }
}
