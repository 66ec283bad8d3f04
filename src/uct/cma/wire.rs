//! The interface address: which process, and a word of it that shows it is that process.
//!
//! `version, check, pid: u32, probe: u64, word: u32`, little-endian, packed. The check byte
//! tells an address of ours from other bytes; what it names is believed only after the probe.
#![forbid(unsafe_code)]

/// Bytes of an address.
pub const LEN: usize = 18;
/// Tells cma's addresses of this layout from everything else.
const VERSION: u8 = 0xc1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub pid: u32,
    /// Where the word stands in the process.
    pub probe: u64,
    /// The lower half of what stands there: random, the same as long as the process lives.
    pub word: u32,
}

fn check(bytes: &[u8]) -> u8 {
    let hash = bytes.iter().fold(0x811c_9dc5u32, |h, &b| {
        (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
    });
    (hash >> 24) as u8
}

impl Address {
    pub fn encode(&self) -> [u8; LEN] {
        let mut out = [0; LEN];
        out[2..6].copy_from_slice(&self.pid.to_le_bytes());
        out[6..14].copy_from_slice(&self.probe.to_le_bytes());
        out[14..18].copy_from_slice(&self.word.to_le_bytes());
        out[0] = VERSION;
        out[1] = check(&out[2..]);
        out
    }

    /// `None` for bytes that are no address of ours.
    pub fn decode(bytes: &[u8; LEN]) -> Option<Address> {
        let (head, rest) = bytes.split_first_chunk::<2>()?;
        if *head != [VERSION, check(rest)] {
            return None;
        }
        let (pid, rest) = rest.split_first_chunk()?;
        let (probe, rest) = rest.split_first_chunk()?;
        let (word, _) = rest.split_first_chunk()?;
        let address = Address {
            pid: u32::from_le_bytes(*pid),
            probe: u64::from_le_bytes(*probe),
            word: u32::from_le_bytes(*word),
        };
        // Process ids are positive numbers of a signed word.
        (address.pid != 0 && i32::try_from(address.pid).is_ok()).then_some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Address = Address {
        pid: 0x0102_0304,
        probe: 0x1112_1314_1516_1718,
        word: 0x2122_2324,
    };

    #[test]
    fn addresses_come_back_and_keep_their_layout() {
        let bytes = SOME.encode();
        assert_eq!(Address::decode(&bytes), Some(SOME));
        assert_eq!(bytes[0], 0xc1);
        assert_eq!(bytes[2..6], [4, 3, 2, 1]);
        assert_eq!(bytes[17], 0x21);
    }

    #[test]
    fn other_bytes_are_no_address() {
        assert_eq!(Address::decode(&[0; LEN]), None);
        assert_eq!(Address::decode(&[0xff; LEN]), None);
        for bit in 0..LEN * 8 {
            let mut bytes = SOME.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Address::decode(&bytes), Some(SOME), "bit {bit}");
        }
        let nobody = Address { pid: 0, ..SOME };
        assert_eq!(Address::decode(&nobody.encode()), None);
        let negative = Address {
            pid: 1 << 31,
            ..SOME
        };
        assert_eq!(Address::decode(&negative.encode()), None);
    }
}
