//! The interface address: which process, as the local channel knows it.
//!
//! `version, check, name`, little-endian, packed. The check byte tells an address of ours from other bytes.
#![forbid(unsafe_code)]

use crate::uct::local::{NAME_LEN, ProcessName};

/// Bytes of an address.
pub const LEN: usize = 2 + NAME_LEN;
/// Tells cma's addresses of this layout from everything else.
const VERSION: u8 = 0xc2;

fn check(bytes: &[u8]) -> u8 {
    let hash = bytes.iter().fold(0x811c_9dc5u32, |h, &b| {
        (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
    });
    (hash >> 24) as u8
}

pub fn encode(owner: ProcessName) -> [u8; LEN] {
    let mut out = [0; LEN];
    out[2..].copy_from_slice(&owner.encode());
    out[0] = VERSION;
    out[1] = check(&out[2..]);
    out
}

/// `None` for bytes that are no address of ours.
pub fn decode(bytes: &[u8; LEN]) -> Option<ProcessName> {
    let (head, rest) = bytes.split_first_chunk::<2>()?;
    if *head != [VERSION, check(rest)] {
        return None;
    }
    ProcessName::decode(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: ProcessName = ProcessName {
        id: 0x1112_1314_1516_1718,
        pid: 0x0102_0304,
        door: 0x2122_2324,
    };

    #[test]
    fn addresses_come_back_and_keep_their_layout() {
        let bytes = encode(SOME);
        assert_eq!(decode(&bytes), Some(SOME));
        assert_eq!(bytes[0], 0xc2);
        assert_eq!(bytes[2], 0x18);
        assert_eq!(bytes[17], 0x21);
    }

    #[test]
    fn other_bytes_are_no_address() {
        assert_eq!(decode(&[0; LEN]), None);
        assert_eq!(decode(&[0xff; LEN]), None);
        let mut known = 0;
        for bit in 0..LEN * 8 {
            let mut bytes = encode(SOME);
            bytes[bit / 8] ^= 1 << (bit % 8);
            known += usize::from(decode(&bytes).is_some());
        }
        assert_eq!(known, 0);
    }
}
