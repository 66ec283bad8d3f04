//! Datagrams of the connection queue pair of `rc_verbs`, and the interface address: fixed lengths, little-endian.
//!
//! Anybody on the network can send a datagram to a queue pair: decoders check every field and answer `None` for what no
//! peer of this release writes.
#![forbid(unsafe_code)]

use crate::uct::ib::wire::{
    DEVICE_LEN, DeviceAddr, EP_LEN, EpAddr, NUMBER_LIMIT, PAIR_LEN, decode_pair, encode_pair,
    pair_check,
};

/// The first byte of addresses and datagrams: changes with their formats.
const FORMAT: u8 = 0xc2;

/// Bytes of an interface address.
pub const IFACE_LEN: usize = PAIR_LEN;
/// Bytes of a datagram.
pub const MESSAGE_LEN: usize = 56;

/// Where the parts of a datagram begin.
const NONCE_AT: usize = 8;
const EP_AT: usize = 16;
const DEVICE_AT: usize = EP_AT + EP_LEN;
const PAD_AT: usize = DEVICE_AT + DEVICE_LEN;

/// An interface address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfaceAddr {
    /// The connection queue pair.
    pub queue_pair: u32,
    /// The one that answers whether the process lives; 0: none.
    pub liveness: u32,
}

impl IfaceAddr {
    /// The second number stands where the format of one has zeros.
    pub fn encode(&self) -> [u8; IFACE_LEN] {
        let mut out = encode_pair(FORMAT, self.queue_pair);
        let [low, middle, high, _] = self.liveness.to_le_bytes();
        out[1] ^= pair_check(self.liveness) ^ pair_check(0);
        (out[2], out[3], out[7]) = (low, middle, high);
        out
    }

    pub fn decode(bytes: &[u8; IFACE_LEN]) -> Option<IfaceAddr> {
        let mut one = *bytes;
        let [low, middle, high] = [2, 3, 7].map(|at| core::mem::take(&mut one[at]));
        let liveness = u32::from_le_bytes([low, middle, high, 0]);
        one[1] ^= pair_check(liveness) ^ pair_check(0);
        let queue_pair = decode_pair(FORMAT, &one)?;
        Some(IfaceAddr {
            queue_pair,
            liveness,
        })
    }
}

/// An address without the second number.
pub fn encode_iface(queue_pair: u32) -> [u8; IFACE_LEN] {
    let liveness = 0;
    IfaceAddr {
        queue_pair,
        liveness,
    }
    .encode()
}

/// The connection queue pair of an address.
pub fn decode_iface(bytes: &[u8; IFACE_LEN]) -> Option<u32> {
    IfaceAddr::decode(bytes).map(|address| address.queue_pair)
}

/// What a datagram is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An endpoint asks for a connection.
    Request,
    /// The interface has made a queue pair for it.
    Reply,
    /// The endpoint is connected to that.
    Confirm,
    /// The sender's end of the connection is gone.
    Close,
    /// It has failed.
    Reset,
    /// Who waits for a reply asks whether the peer's process lives.
    Ask,
    /// It does.
    Alive,
}

impl Kind {
    const ALL: [Kind; 7] = [
        Kind::Request,
        Kind::Reply,
        Kind::Confirm,
        Kind::Close,
        Kind::Reset,
        Kind::Ask,
        Kind::Alive,
    ];

    fn code(self) -> u8 {
        match self {
            Kind::Request => 1,
            Kind::Reply => 2,
            Kind::Confirm => 3,
            Kind::Close => 4,
            Kind::Reset => 5,
            Kind::Ask => 6,
            Kind::Alive => 7,
        }
    }
}

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub kind: Kind,
    /// The receiver's queue pair of the connection; 0 while it is not known: in a request, or a question.
    pub to: u32,
    /// Chosen by who asked; tells this connection from others of the same queue pairs.
    pub nonce: u64,
    /// The sender's queue pair of the connection.
    pub from: EpAddr,
    /// The sender's port, with the largest packet that it wants.
    pub device: DeviceAddr,
}

impl Message {
    pub fn encode(&self) -> [u8; MESSAGE_LEN] {
        let mut out = [0; MESSAGE_LEN];
        out[0] = FORMAT;
        out[1] = self.kind.code();
        out[4..NONCE_AT].copy_from_slice(&self.to.to_le_bytes());
        out[NONCE_AT..EP_AT].copy_from_slice(&self.nonce.to_le_bytes());
        out[EP_AT..DEVICE_AT].copy_from_slice(&self.from.encode());
        out[DEVICE_AT..PAD_AT].copy_from_slice(&self.device.encode());
        out
    }

    pub fn decode(bytes: &[u8; MESSAGE_LEN]) -> Option<Message> {
        let [FORMAT, code, 0, 0, ..] = bytes else {
            return None;
        };
        let kind = Kind::ALL.into_iter().find(|kind| kind.code() == *code)?;
        let to = u32::from_le_bytes(*bytes[4..].first_chunk()?);
        let is_first = matches!(kind, Kind::Request | Kind::Ask);
        let padded = bytes[PAD_AT..].iter().all(|byte| *byte == 0);
        if to >= NUMBER_LIMIT || (to == 0) != is_first || !padded {
            return None;
        }
        Some(Message {
            kind,
            to,
            nonce: u64::from_le_bytes(*bytes[NONCE_AT..].first_chunk()?),
            from: EpAddr::decode(bytes[EP_AT..].first_chunk()?)?,
            device: DeviceAddr::decode(bytes[DEVICE_AT..].first_chunk()?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uct::ib::wire::Link;

    fn message(kind: Kind) -> Message {
        Message {
            kind,
            to: match kind {
                Kind::Request | Kind::Ask => 0,
                _ => 0xabcdef,
            },
            nonce: 0x1122_3344_5566_7788,
            from: EpAddr {
                queue_pair: 0x123456,
                psn: 0xfedcba,
                segment: 8256,
                reads: 16,
            },
            device: DeviceAddr {
                link: Link::RoceV2,
                mtu: 3,
                lid: 0,
                gid: [7; 16],
            },
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for kind in Kind::ALL {
            let message = message(kind);
            assert_eq!(Message::decode(&message.encode()), Some(message));
        }
        assert_eq!(decode_iface(&encode_iface(0xabcdef)), Some(0xabcdef));
        for liveness in [0, 1, 0x123456, NUMBER_LIMIT - 1] {
            let queue_pair = 0xfedcba;
            let address = IfaceAddr {
                queue_pair,
                liveness,
            };
            let bytes = address.encode();
            assert_eq!(IfaceAddr::decode(&bytes), Some(address));
            assert_eq!(decode_iface(&bytes), Some(queue_pair));
            for at in 0..IFACE_LEN {
                let mut bad = bytes;
                bad[at] ^= 1;
                assert_eq!(IfaceAddr::decode(&bad), None, "byte {at}");
            }
        }
    }

    #[test]
    fn what_no_peer_writes_is_refused() {
        for fill in [0, 0xff] {
            assert_eq!(Message::decode(&[fill; MESSAGE_LEN]), None);
            assert_eq!(decode_iface(&[fill; IFACE_LEN]), None);
        }
        let good = message(Kind::Reply).encode();
        // The format, the kind, padding, the top bytes of queue pairs and PSNs, the device's format and link.
        for at in [0, 1, 2, 3, 7, 16, 23, 27, 32, 33, 54, 55] {
            let mut bad = good;
            bad[at] ^= 0xff;
            assert_eq!(Message::decode(&bad), None, "byte {at}");
        }
        let mut without = message(Kind::Reply);
        without.to = 0;
        assert_eq!(Message::decode(&without.encode()), None);
        let mut with = message(Kind::Request);
        with.to = 1;
        assert_eq!(Message::decode(&with.encode()), None);
    }

    /// Addresses of the two transports are not taken for each other's.
    #[test]
    fn an_address_of_the_other_transport_is_refused() {
        use crate::uct::ib::ud::wire as datagrams;
        assert_eq!(decode_iface(&datagrams::encode_iface(5)), None);
        assert_eq!(datagrams::decode_iface(&encode_iface(5)), None);
    }
}
