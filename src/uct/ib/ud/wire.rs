//! Datagrams and addresses of `ud_verbs`: fixed lengths, little-endian.
//!
//! A datagram begins with a header: what it is (the id of an active message, or one of the numbers below), the
//! connection of the receiver, the sequence number (PSN) and the PSN that the sender expects next. Anybody on the network
//! can send a datagram to a queue pair: decoders check every field and answer `None` for what no peer of this release
//! writes.
#![forbid(unsafe_code)]

use crate::uct::ib::wire::{
    DEVICE_LEN, DeviceAddr, NUMBER_LIMIT, PAIR_LEN, decode_pair, encode_pair, pair_check,
};

/// The first byte of addresses and handshakes: changes with their formats.
const FORMAT: u8 = 0xd1;

/// Bytes of an interface address.
pub const IFACE_LEN: usize = PAIR_LEN;
/// Bytes of an endpoint address.
pub const EP_LEN: usize = 12;
/// Bytes before the payload of a datagram.
pub const HEADER_LEN: usize = 8;
/// An acknowledgement without data; its payload are the held packets, 8 bytes.
pub const ACK: u8 = 0xf8;
/// A connection request.
pub const REQUEST: u8 = 0xf9;
/// The reply to it.
pub const REPLY: u8 = 0xfa;
/// The sender has closed its endpoint.
pub const CLOSE: u8 = 0xfb;
/// A packet without a message, which is acknowledged as those with one.
pub const EMPTY: u8 = 0xfc;
/// Numbers from this one on carry no active message.
pub const FIRST_CONTROL: u8 = ACK;

/// Bytes of the payloads.
pub const ACK_LEN: usize = 8;
pub const REQUEST_LEN: usize = 20 + DEVICE_LEN;
pub const REPLY_LEN: usize = 16;

/// Names a connection of an interface: its place, and bits that tell it from others that were there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId(u32);

impl ConnId {
    const SLOT_BITS: u32 = 20;
    const BITS: u32 = 23;
    /// No connection.
    pub const NONE: ConnId = ConnId((1 << ConnId::BITS) - 1);
    /// Places for connections.
    pub const SLOTS: usize = (1 << ConnId::SLOT_BITS) - 1;

    /// Some bits of the generation count.
    pub fn new(slot: usize, generation: u32) -> ConnId {
        let mask = (1 << (ConnId::BITS - ConnId::SLOT_BITS)) - 1;
        ConnId(slot as u32 | (generation & mask) << ConnId::SLOT_BITS)
    }

    #[inline]
    pub fn slot(self) -> usize {
        (self.0 & ((1 << ConnId::SLOT_BITS) - 1)) as usize
    }

    /// `None` is not a connection.
    fn from_word(word: u32) -> Option<ConnId> {
        (word >> ConnId::BITS == 0).then_some(ConnId(word))
    }
}

/// What a datagram begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The id of an active message, or what else it is.
    pub id: u8,
    /// The receiver's connection.
    pub to: ConnId,
    /// The sender wants an acknowledgement at once.
    pub ask: bool,
    pub psn: u16,
    /// The PSN that the sender of this expects next.
    pub ack: u16,
}

impl Header {
    const ASK: u32 = 1 << ConnId::BITS;

    #[inline]
    pub fn encode(self) -> [u8; HEADER_LEN] {
        let to = self.to.0 | if self.ask { Header::ASK } else { 0 };
        let word = u64::from(self.id)
            | u64::from(to) << 8
            | u64::from(self.psn) << 32
            | u64::from(self.ack) << 48;
        word.to_le_bytes()
    }

    /// Every eight bytes are a header.
    #[inline]
    pub fn decode(bytes: [u8; HEADER_LEN]) -> Header {
        Header::of_word(u64::from_le_bytes(bytes))
    }

    /// The header of these eight bytes.
    #[inline(always)]
    pub fn of_word(word: u64) -> Header {
        let to = (word >> 8) as u32 & (Header::ASK | (Header::ASK - 1));
        Header {
            id: word as u8,
            to: ConnId(to & (Header::ASK - 1)),
            ask: to & Header::ASK != 0,
            psn: (word >> 32) as u16,
            ack: (word >> 48) as u16,
        }
    }
}

/// What the header of the next packet of a connection has, where that packet says nothing new: the receiver's connection and
/// both PSNs. The PSN stands in the upper bits, so that it counts on and wraps.
#[derive(Clone, Copy)]
pub struct Next(u64);

impl Next {
    /// No packet of a connection is this one.
    pub const NONE: Next = Next(u64::MAX);
    /// Bits that stand above the PSN in a header.
    const ABOVE: u32 = 16;
    /// What all packets have of their own: an id, and whether they ask.
    const OWN: u64 = (0xff | (Header::ASK as u64) << 8) << Next::ABOVE;

    pub fn new(to: ConnId, psn: u16, ack: u16) -> Next {
        let header = Header {
            id: 0,
            to,
            ask: false,
            psn,
            ack,
        };
        Next(u64::from_le_bytes(header.encode()).rotate_left(Next::ABOVE))
    }

    /// Whether the header of these eight bytes is that.
    #[inline(always)]
    pub fn is(self, word: u64) -> bool {
        (word.rotate_left(Next::ABOVE) ^ self.0) & !Next::OWN == 0
    }

    /// That of the packet behind it.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.0 = self.0.wrapping_add(1 << 48);
    }
}

/// The 32-bit word `i` of `bytes`, if it is there.
fn word(bytes: &[u8], i: usize) -> Option<u32> {
    let bytes = bytes.get(4 * i..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

/// The held packets of an acknowledgement.
pub fn decode_ack(payload: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(payload.try_into().ok()?))
}

/// An interface address: its queue pair.
pub fn encode_iface(queue_pair: u32) -> [u8; IFACE_LEN] {
    encode_pair(FORMAT, queue_pair)
}

pub fn decode_iface(bytes: &[u8; IFACE_LEN]) -> Option<u32> {
    decode_pair(FORMAT, bytes)
}

/// An endpoint address: its queue pair and connection, and the PSN of its first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpAddr {
    pub queue_pair: u32,
    pub id: ConnId,
    pub psn: u16,
}

impl EpAddr {
    pub fn encode(&self) -> [u8; EP_LEN] {
        let mut out = [0; EP_LEN];
        out[0] = FORMAT;
        out[1] = pair_check(self.queue_pair);
        out[2..4].copy_from_slice(&self.psn.to_le_bytes());
        out[4..8].copy_from_slice(&self.queue_pair.to_le_bytes());
        out[8..].copy_from_slice(&self.id.0.to_le_bytes());
        out
    }

    pub fn decode(bytes: &[u8; EP_LEN]) -> Option<EpAddr> {
        let [FORMAT, check, low, high, rest @ ..] = bytes else {
            return None;
        };
        let queue_pair = word(rest, 0)?;
        let id = ConnId::from_word(word(rest, 1)?)?;
        let right = queue_pair < NUMBER_LIMIT && *check == pair_check(queue_pair);
        (right && id != ConnId::NONE).then_some(EpAddr {
            queue_pair,
            id,
            psn: u16::from_le_bytes([*low, *high]),
        })
    }
}

/// A connection request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Tells this connection from others of the same queue pair.
    pub nonce: u64,
    /// The sender's connection.
    pub from: ConnId,
    /// The PSN of its first packet.
    pub psn: u16,
    /// Where the reply goes.
    pub device: DeviceAddr,
}

impl Request {
    pub fn encode(&self) -> [u8; REQUEST_LEN] {
        let mut out = [0; REQUEST_LEN];
        out[0] = FORMAT;
        out[2..4].copy_from_slice(&self.psn.to_le_bytes());
        out[4..8].copy_from_slice(&self.from.0.to_le_bytes());
        out[8..16].copy_from_slice(&self.nonce.to_le_bytes());
        out[20..].copy_from_slice(&self.device.encode());
        out
    }

    pub fn decode(payload: &[u8]) -> Option<Request> {
        let payload: &[u8; REQUEST_LEN] = payload.try_into().ok()?;
        let [FORMAT, 0, low, high, rest @ ..] = payload else {
            return None;
        };
        let from = ConnId::from_word(word(rest, 0)?)?;
        let nonce = u64::from(word(rest, 1)?) | u64::from(word(rest, 2)?) << 32;
        let device = DeviceAddr::decode(payload.last_chunk()?)?;
        (from != ConnId::NONE && word(rest, 3)? == 0).then_some(Request {
            nonce,
            from,
            psn: u16::from_le_bytes([*low, *high]),
            device,
        })
    }
}

/// The reply to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Of the request.
    pub nonce: u64,
    /// The connection of the sender of the reply; `None`: it has no room for one.
    pub from: Option<ConnId>,
}

impl Reply {
    pub fn encode(&self) -> [u8; REPLY_LEN] {
        let mut out = [0; REPLY_LEN];
        out[0] = FORMAT;
        let from = self.from.unwrap_or(ConnId::NONE);
        out[4..8].copy_from_slice(&from.0.to_le_bytes());
        out[8..].copy_from_slice(&self.nonce.to_le_bytes());
        out
    }

    pub fn decode(payload: &[u8]) -> Option<Reply> {
        let payload: &[u8; REPLY_LEN] = payload.try_into().ok()?;
        let [FORMAT, 0, 0, 0, rest @ ..] = payload else {
            return None;
        };
        let from = ConnId::from_word(word(rest, 0)?)?;
        Some(Reply {
            nonce: u64::from(word(rest, 1)?) | u64::from(word(rest, 2)?) << 32,
            from: (from != ConnId::NONE).then_some(from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;
    use crate::uct::ib::wire::Link;

    fn device() -> DeviceAddr {
        DeviceAddr {
            link: Link::RoceV2,
            mtu: 3,
            lid: 0,
            gid: [7; 16],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (slot, generation, ask) in [(0, 0, false), (5, 9, true), (ConnId::SLOTS - 1, 7, true)] {
            let header = Header {
                id: 31,
                to: ConnId::new(slot, generation),
                ask,
                psn: 0xfedc,
                ack: 0x1234,
            };
            assert_eq!(Header::decode(header.encode()), header);
            assert_eq!(header.to.slot(), slot);
            let ep = EpAddr {
                queue_pair: 0xabcdef,
                id: header.to,
                psn: 77,
            };
            assert_eq!(EpAddr::decode(&ep.encode()), Some(ep));
            let request = Request {
                nonce: 0x1122_3344_5566_7788,
                from: header.to,
                psn: 99,
                device: device(),
            };
            assert_eq!(Request::decode(&request.encode()), Some(request));
            for from in [None, Some(header.to)] {
                let reply = Reply { nonce: 5, from };
                assert_eq!(Reply::decode(&reply.encode()), Some(reply));
            }
        }
        assert_eq!(decode_iface(&encode_iface(0xabcdef)), Some(0xabcdef));
    }

    /// A packet is the next one if its connection and both PSNs are as expected, whatever it carries and whether it asks.
    #[test]
    fn the_next_packet_is_told_by_its_header() {
        let (to, ack) = (ConnId::new(5, 2), 0x8001);
        let word = |id, to, ask, psn, ack| {
            let header = Header {
                id,
                to,
                ask,
                psn,
                ack,
            };
            u64::from_le_bytes(header.encode())
        };
        let mut next = Next::new(to, 0xffff, ack);
        for psn in [0xffff, 0, 1] {
            for (id, ask) in [(0, false), (31, true), (0xff, true)] {
                assert!(next.is(word(id, to, ask, psn, ack)));
                assert!(!Next::NONE.is(word(id, to, ask, psn, ack)));
            }
            assert!(!next.is(word(3, to, false, psn.wrapping_add(1), ack)));
            assert!(!next.is(word(3, to, false, psn, ack + 1)));
            assert!(!next.is(word(3, ConnId::new(5, 3), false, psn, ack)));
            assert!(!next.is(word(3, ConnId::new(4, 2), false, psn, ack)));
            next.advance();
        }
    }

    #[test]
    fn what_no_peer_writes_is_refused() {
        let rng = TestRng::new(3);
        for len in 0..64 {
            for fill in [0, 0xff] {
                let bytes = vec![fill; len];
                assert_eq!(Request::decode(&bytes), None);
                assert_eq!(Reply::decode(&bytes), None);
            }
            let noise: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            assert_eq!(decode_ack(&noise).is_some(), len == ACK_LEN);
        }
        let request = Request {
            nonce: 1,
            from: ConnId::new(1, 0),
            psn: 1,
            device: device(),
        };
        let good = request.encode();
        for at in [0, 1, 7, 16, 20, 22] {
            let mut bad = good;
            bad[at] ^= 0xff;
            assert_eq!(Request::decode(&bad), None, "byte {at}");
        }
        assert_eq!(Request::decode(&good[1..]), None);
        for pair in [0, 1, 0xffff_ffff] {
            let mut bad = encode_iface(pair);
            bad[1] ^= 1;
            assert_eq!(decode_iface(&bad), None);
        }
        assert_eq!(decode_iface(&[0; IFACE_LEN]), None);
        assert_eq!(EpAddr::decode(&[0; EP_LEN]), None);
    }
}
