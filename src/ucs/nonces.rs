//! `Nonces`: 32-bit numbers that a peer cannot guess, also not from earlier ones: a keyed hash of a counter.
//!
//! Ids that are sent to peers contain a nonce, so that an id is a capability: it cannot be guessed. The key is random
//! and never leaves the process.
#![forbid(unsafe_code)]

use std::hash::{BuildHasher, RandomState};

#[derive(Default)]
pub struct Nonces {
    key: RandomState,
    count: u64,
    /// The half of the last hash that was not drawn yet; 0 for none.
    next: u32,
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
            let hash = self.key.hash_one(self.count);
            self.next = (hash >> 32) as u32;
            let nonce = hash as u32;
            if nonce != 0 {
                return nonce;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

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
