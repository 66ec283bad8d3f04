//! Packed keys and exported memory handles of upstream.
//!
//! A key is a map of memory domains (8), memory type (1), then for each domain in the map a length (1) and that
//! many bytes. A handle is a length (1), flags (2) and as many further bytes as the length says. Both are all zeros where
//! they are of no memory; such are not recognised here, as memory that nobody wrote looks the same.

use super::Release;
use crate::wire::Reader;

/// Types of memory that upstream knows by 1.22, and some to come.
const MEMORY_TYPES: u8 = 16;
/// Of a handle's flags: it is one.
const EXPORTED: u16 = 1;

/// Whether a key can be read at the beginning of `bytes`.
pub fn is_key(bytes: &[u8]) -> bool {
    let domains = Reader::new(bytes).u64();
    domains.is_some_and(|domains| domains != 0) && key(bytes).is_some()
}

/// A key of memory that messages reach, which need no domain's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    pub memory: u8,
    pub bytes: &'a [u8],
}

/// The key at the beginning of `bytes`, which are a key: those of no domain are not told from other zeros.
pub fn key(bytes: &[u8]) -> Option<Key<'_>> {
    let mut r = Reader::new(bytes);
    let (domains, memory) = (r.u64()?, r.u8()?);
    for _ in 0..domains.count_ones() {
        let len = r.u8()?;
        r.bytes(len.into())?;
    }
    let bytes = &bytes[..bytes.len() - r.rest().len()];
    (memory < MEMORY_TYPES).then_some(Key { memory, bytes })
}

/// The first release whose tcp has no key.
const KEYLESS: u8 = 19;

/// The key by which a sender of a release puts the data of a rendezvous by its tcp: that has none, or, before 1.19, one
/// without bytes. Others would not take it.
pub fn for_tcp_puts(of: Release) -> &'static [u8] {
    match of {
        Release::Minor(KEYLESS..) => &[0; 9],
        // The domain of our devices, memory of the host, and the length of its key.
        _ => &[1 << super::address::DOMAIN, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    }
}

/// Whether a handle can be read at the beginning of `bytes`.
pub fn is_handle(bytes: &[u8]) -> bool {
    let mut r = Reader::new(bytes);
    let (Some(len @ 3..), Some(flags)) = (r.u8(), r.u16()) else {
        return false;
    };
    flags & EXPORTED != 0 && r.bytes(usize::from(len) - 3).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_releases_are_recognised() {
        // 1.13.1, 1.16.0: domains 0, 1, 2 and 4; 1.22.0: domains 0 and 2.
        let keys: [&[u8]; 2] = [
            b"\x17\0\0\0\0\0\0\0\0\0\0\x0c\x22\0\x75\x13\0\xf0\xb7\x0a\x2d\x7f\0\0\0",
            b"\x05\0\0\0\0\0\0\0\0\0\x0c\x38\x80\x27\x1b\0\x30\x2e\xe0\x88\x7f\0\0\xff",
        ];
        for key in keys {
            assert!(is_key(key));
            let end = if key.ends_with(&[0xff]) {
                key.len() - 1
            } else {
                key.len()
            };
            for n in 0..end {
                assert!(!is_key(&key[..n]), "{n} of {end}");
            }
        }
        assert!(!is_key(b"\x01\0\0\0\0\0\0\0\x80\0"));
        assert!(!is_key(&[0; 64]));
        let none = key(&[0; 64]).unwrap();
        assert_eq!((none.memory, none.bytes), (0, &[0; 9][..]));
        assert_eq!(key(&[0; 8]), None);
        let two = b"\x05\0\0\0\0\0\0\0\x02\x01a\x02bc\xffrest";
        let memory = key(two).unwrap();
        assert_eq!((memory.memory, memory.bytes), (2, &two[..14]));
    }

    #[test]
    fn bytes_of_keys_for_puts() {
        // Those of 1.18.1 and 1.22.0 in an RTR.
        let old = b"\x01\0\0\0\0\0\0\0\0\0";
        assert_eq!(for_tcp_puts(Release::Minor(18)), old);
        assert_eq!(for_tcp_puts(Release::Unknown), old);
        assert_eq!(for_tcp_puts(Release::Minor(19)), &[0; 9]);
        assert_eq!(key(old).map(|key| key.bytes), Some(&old[..]));
    }

    #[test]
    fn handles_are_recognised() {
        assert!(!is_handle(&[0; 64]));
        let mut handle = [0; 44];
        handle[..2].copy_from_slice(&[44, 1]);
        assert!(is_handle(&handle));
        assert!(!is_handle(&handle[..43]));
        handle[1] = 0;
        assert!(!is_handle(&handle));
    }
}
