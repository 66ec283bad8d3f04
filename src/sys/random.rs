//! Random numbers from the kernel, for ids and keys that others must not guess.

use std::io;

/// A random number.
pub fn random_u64() -> io::Result<u64> {
    random_bytes().map(u64::from_ne_bytes)
}

/// Random bytes.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0u8; N];
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        // SAFETY: the pointer and the length describe `rest`, writable for the whole call.
        let n = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        if n < 0 {
            let e = io::Error::last_os_error();
            if e.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(e);
        }
        filled += n as usize;
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
