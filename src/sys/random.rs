//! Random numbers from the kernel, for ids and keys that others must not guess.
#![forbid(unsafe_code)]

use super::safe_calls;
use std::io;

/// A random number.
pub fn random_u64() -> io::Result<u64> {
    random_bytes().map(u64::from_ne_bytes)
}

/// Random bytes.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0u8; N];
    let mut filled = 0;
    while filled < N {
        filled += safe_calls::getrandom(&mut bytes[filled..])?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_differ() {
        assert_ne!(super::random_u64().unwrap(), super::random_u64().unwrap());
    }
}
