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
}

impl Nonces {
    /// The next one, never 0.
    pub fn draw(&mut self) -> u32 {
        loop {
            self.count += 1;
            let nonce = self.key.hash_one(self.count) as u32;
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
    fn two_sources_have_nothing_in_common() {
        let draw = |mut n: Nonces| (0..64).map(|_| n.draw()).collect::<HashSet<u32>>();
        let (a, b) = (draw(Nonces::default()), draw(Nonces::default()));
        assert!(a.len() > 60 && !a.contains(&0));
        assert!(a.intersection(&b).count() < 2);
    }
}
