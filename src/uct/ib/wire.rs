//! Addresses, remote keys and message headers as they travel: fixed lengths, little-endian.
//!
//! A peer's bytes are claims: decoders check every field and answer `None` for what no peer of this release writes.
#![forbid(unsafe_code)]

/// The first byte of both addresses: changes with their formats.
const FORMAT: u8 = 0xb1;
/// Queue-pair and packet sequence numbers have 24 bits.
pub const NUMBER_LIMIT: u32 = 1 << 24;

/// Bytes of a device address.
pub const DEVICE_LEN: usize = 22;
/// Bytes of a device address in the short form, and of the number of a queue pair.
pub const SHORT_DEVICE_LEN: usize = 19;
pub const SHORT_PAIR_LEN: usize = 3;
/// Bytes of an endpoint address.
pub const EP_LEN: usize = 16;
/// Bytes of a packed remote key.
pub const KEY_LEN: usize = 8;
/// Bytes before the payload of an active message.
pub const HEADER_LEN: usize = 2;

/// What packets travel in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    InfiniBand,
    RoceV1,
    RoceV2,
}

impl core::fmt::Display for Link {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Link::InfiniBand => "InfiniBand",
            Link::RoceV1 => "RoCE v1",
            Link::RoceV2 => "RoCE v2",
        })
    }
}

impl Link {
    fn code(self) -> u8 {
        match self {
            Link::InfiniBand => 1,
            Link::RoceV1 => 2,
            Link::RoceV2 => 3,
        }
    }

    fn from_code(code: u8) -> Option<Link> {
        [Link::InfiniBand, Link::RoceV1, Link::RoceV2]
            .into_iter()
            .find(|link| link.code() == code)
    }
}

/// The port behind a device address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceAddr {
    pub link: Link,
    /// `IBV_MTU_*`: the largest packet of the port.
    pub mtu: u8,
    /// On InfiniBand.
    pub lid: u16,
    pub gid: [u8; 16],
}

impl DeviceAddr {
    pub fn encode(&self) -> [u8; DEVICE_LEN] {
        let mut out = [0; DEVICE_LEN];
        out[0] = FORMAT;
        out[1] = self.link.code();
        out[2] = self.mtu;
        out[4..6].copy_from_slice(&self.lid.to_le_bytes());
        out[6..].copy_from_slice(&self.gid);
        out
    }

    pub fn decode(bytes: &[u8; DEVICE_LEN]) -> Option<DeviceAddr> {
        let [FORMAT, link, mtu @ 1..=5, 0, low, high, gid @ ..] = bytes else {
            return None;
        };
        let address = DeviceAddr {
            link: Link::from_code(*link)?,
            mtu: *mtu,
            lid: u16::from_le_bytes([*low, *high]),
            gid: *gid,
        };
        let has_lid = address.lid != 0;
        (has_lid == (address.link == Link::InfiniBand) && address.gid != [0; 16]).then_some(address)
    }

    /// In fewer bytes: link and packet in one, and no format.
    pub fn shorten(&self) -> [u8; SHORT_DEVICE_LEN] {
        let mut out = [0; SHORT_DEVICE_LEN];
        out[0] = self.link.code() << 4 | self.mtu;
        out[1..3].copy_from_slice(&self.lid.to_le_bytes());
        out[3..].copy_from_slice(&self.gid);
        out
    }

    pub fn lengthen(bytes: &[u8; SHORT_DEVICE_LEN]) -> Option<DeviceAddr> {
        let mut long = [0; DEVICE_LEN];
        long[..3].copy_from_slice(&[FORMAT, bytes[0] >> 4, bytes[0] & 15]);
        long[4..].copy_from_slice(&bytes[1..]);
        DeviceAddr::decode(&long)
    }

    /// An IPv4 address, in the form that GIDs have them.
    pub fn is_ipv4(gid: &[u8; 16]) -> bool {
        gid[..10] == [0; 10] && gid[10..12] == [0xff; 2]
    }
}

/// A queue pair of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpAddr {
    pub queue_pair: u32,
    /// The sequence number of its first packet.
    pub psn: u32,
    /// Most bytes of a message that its receive buffers hold, the header included.
    pub segment: u32,
    /// Reads and atomics that it answers at a time.
    pub reads: u8,
}

impl EpAddr {
    pub fn encode(&self) -> [u8; EP_LEN] {
        let mut out = [0; EP_LEN];
        out[0] = FORMAT;
        out[1] = self.reads;
        out[4..8].copy_from_slice(&self.queue_pair.to_le_bytes());
        out[8..12].copy_from_slice(&self.psn.to_le_bytes());
        out[12..].copy_from_slice(&self.segment.to_le_bytes());
        out
    }

    pub fn decode(bytes: &[u8; EP_LEN]) -> Option<EpAddr> {
        let [FORMAT, reads, 0, 0, rest @ ..] = bytes else {
            return None;
        };
        let word = |i: usize| {
            let bytes = rest[4 * i..].first_chunk::<4>();
            bytes.map(|bytes| u32::from_le_bytes(*bytes))
        };
        let address = EpAddr {
            queue_pair: word(0)?,
            psn: word(1)?,
            segment: word(2)?,
            reads: *reads,
        };
        (address.queue_pair < NUMBER_LIMIT && address.psn < NUMBER_LIMIT).then_some(address)
    }
}

/// A packed key is the device's number and a check of it: what is no key is refused when it is unpacked, where the
/// device would refuse it by ending the connection.
pub fn encode_key(key: u32) -> [u8; KEY_LEN] {
    (u64::from(key) | u64::from(check_of(key)) << 32).to_le_bytes()
}

pub fn decode_key(bytes: [u8; KEY_LEN]) -> Option<u32> {
    let word = u64::from_le_bytes(bytes);
    let (key, check) = (word as u32, (word >> 32) as u32);
    (check == check_of(key)).then_some(key)
}

/// The finishing steps of a mixer: near keys have far checks, and key 0 has one that is not 0.
fn check_of(key: u32) -> u32 {
    let mut h = key ^ 0x6962_6b79;
    h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// Bytes of an interface address: its queue pair for datagrams.
pub const PAIR_LEN: usize = 8;

/// `format` tells transports apart.
pub fn encode_pair(format: u8, queue_pair: u32) -> [u8; PAIR_LEN] {
    let mut out = [0; PAIR_LEN];
    out[0] = format;
    out[1] = pair_check(queue_pair);
    out[4..].copy_from_slice(&queue_pair.to_le_bytes());
    out
}

pub fn decode_pair(format: u8, bytes: &[u8; PAIR_LEN]) -> Option<u32> {
    let [is, check, 0, 0, pair @ ..] = bytes else {
        return None;
    };
    let pair = u32::from_le_bytes(*pair);
    let right = *is == format && pair < NUMBER_LIMIT && *check == pair_check(pair);
    right.then_some(pair)
}

/// Not a secret: addresses of other kinds have it by chance only.
pub fn pair_check(queue_pair: u32) -> u8 {
    queue_pair
        .to_le_bytes()
        .iter()
        .fold(0x5a, |sum: u8, &byte| sum.rotate_left(3) ^ byte)
}

/// The short form of both addresses of an interface, of which `decode` reads the own one.
pub fn shorten(
    device: &[u8],
    iface: &[u8],
    decode: fn(&[u8; PAIR_LEN]) -> Option<u32>,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let device = DeviceAddr::decode(device.try_into().ok()?)?;
    let pair = decode(iface.try_into().ok()?)?.to_le_bytes();
    Some((device.shorten().to_vec(), pair[..SHORT_PAIR_LEN].to_vec()))
}

/// Both addresses of which that is the short form.
pub fn lengthen(
    device: &[u8],
    pair: &[u8],
    encode: fn(u32) -> [u8; PAIR_LEN],
) -> Option<(Vec<u8>, Vec<u8>)> {
    let device = DeviceAddr::lengthen(device.try_into().ok()?)?;
    let [low, middle, high] = pair.try_into().ok()?;
    let pair = u32::from_le_bytes([low, middle, high, 0]);
    Some((device.encode().to_vec(), encode(pair).to_vec()))
}

/// The header of an active message: its id, and what it says of credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub id: u8,
    pub credits: u8,
}

/// The id of a message that only grants credits. No user has it.
pub const GRANT_ONLY: u8 = 0xff;
/// The receiver of this may send a whole window again.
pub const GRANT: u8 = 1;
/// The sender wants a grant with the next message to it.
pub const ASK: u8 = 2;
/// The sender wants a grant at once.
pub const ASK_NOW: u8 = 4;

impl Header {
    pub fn encode(self) -> [u8; HEADER_LEN] {
        [self.id, self.credits]
    }

    /// The id of a message that has nothing to say of credits, if it is below `ids`.
    #[inline(always)]
    pub fn plain_id(bytes: [u8; HEADER_LEN], ids: usize) -> Option<u8> {
        let word = u16::from_le_bytes(bytes);
        (usize::from(word) < ids).then_some(word as u8)
    }

    pub fn decode([id, credits]: [u8; HEADER_LEN]) -> Header {
        Header { id, credits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(link: Link, lid: u16) -> DeviceAddr {
        let mut gid = [0; 16];
        gid[0] = 0xfe;
        gid[15] = 9;
        DeviceAddr {
            link,
            mtu: 3,
            lid,
            gid,
        }
    }

    #[test]
    fn addresses_come_back() {
        for address in [
            device(Link::InfiniBand, 513),
            device(Link::RoceV1, 0),
            device(Link::RoceV2, 0),
        ] {
            assert_eq!(DeviceAddr::decode(&address.encode()), Some(address));
        }
        let ep = EpAddr {
            queue_pair: 0xabcdef,
            psn: 0x123456,
            segment: 8256,
            reads: 16,
        };
        assert_eq!(EpAddr::decode(&ep.encode()), Some(ep));
    }

    #[test]
    fn short_addresses_come_back() {
        let (encode, decode) = (
            crate::uct::ib::ud::wire::encode_iface,
            crate::uct::ib::ud::wire::decode_iface,
        );
        for address in [device(Link::InfiniBand, 513), device(Link::RoceV2, 0)] {
            let long = (address.encode().to_vec(), encode(0xabcdef).to_vec());
            let (device, iface) = shorten(&long.0, &long.1, decode).unwrap();
            assert_eq!(
                (device.len(), iface.len()),
                (SHORT_DEVICE_LEN, SHORT_PAIR_LEN)
            );
            assert_eq!(lengthen(&device, &iface, encode), Some(long.clone()));
            assert_eq!(lengthen(&device[1..], &iface, encode), None);
            assert_eq!(lengthen(&device, &iface[1..], encode), None);
            let mut bad = device.clone();
            bad[0] = 0x43;
            assert_eq!(lengthen(&bad, &iface, encode), None, "no such link");
            assert_eq!(shorten(&long.0, &long.0, decode), None);
        }
    }

    #[test]
    fn what_no_peer_writes_is_refused() {
        let good = device(Link::InfiniBand, 1).encode();
        for (at, value) in [
            (0, 0),
            (1, 0),
            (1, 4),
            (2, 0),
            (2, 6),
            (3, 1),
            (4, 0),
            (1, 2),
        ] {
            let mut bad = good;
            bad[at] = value;
            assert_eq!(DeviceAddr::decode(&bad), None, "byte {at} is {value}");
        }
        let mut bad = good;
        bad[6..].fill(0);
        assert_eq!(DeviceAddr::decode(&bad), None, "no GID");
        for bytes in [[0; EP_LEN], [0xff; EP_LEN]] {
            assert_eq!(EpAddr::decode(&bytes), None);
        }
        let ep = EpAddr {
            queue_pair: 1,
            psn: 1,
            segment: 1,
            reads: 1,
        };
        for at in [2, 3, 7, 11] {
            let mut bad = ep.encode();
            bad[at] = 1;
            assert_eq!(EpAddr::decode(&bad), None, "byte {at}");
        }
    }

    #[test]
    fn keys_with_one_wrong_bit_are_refused() {
        for key in [0, 1, 0x1234_5678, u32::MAX] {
            let packed = encode_key(key);
            assert_eq!(decode_key(packed), Some(key));
            for bit in 0..8 * KEY_LEN {
                let mut bad = packed;
                bad[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(decode_key(bad), None, "bit {bit} of {key:#x}");
            }
        }
        assert_eq!(decode_key([0; KEY_LEN]), None);
        assert_eq!(decode_key([0xff; KEY_LEN]), None);
    }
}
