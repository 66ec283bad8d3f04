//! Byte formats of tcp: the frames of a connection and the three addresses. Ours, version 3. A connection begins with
//! a greeting (`hello`).
//!
//! A frame is a header of eight bytes (kind, three zero bytes, length of the body) and a body. Kinds below 32 are
//! active messages with that id; a put's data follow its frame. Numbers are little endian. Nothing here allocates or
//! panics, and no input is trusted: a decoder returns `None` when bytes are missing and `Bad` when they can never
//! become a frame.
#![forbid(unsafe_code)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Says that the other end speaks ours: "fxtc".
pub const MAGIC: u32 = u32::from_le_bytes(*b"fxtc");
/// Changes when a frame or an address changes its meaning.
pub const VERSION: u16 = 3;

/// The first bytes of a connection of upstream UCX, in place of a greeting.
pub const UPSTREAM_GREETING: u64 = 0xcafe_babe_1234_5678;

/// Bytes before each body.
pub const HEADER_LEN: usize = 8;
/// Bytes of a put's frame, without the data that follow.
pub const PUT_LEN: usize = HEADER_LEN + 24;
/// Most bytes of the body of a frame that is no active message.
const MAX_CONTROL: usize = 24;
/// Active message ids are below this.
const AM_KINDS: u8 = 64;

/// The greeting, which is no frame of a connection that stands.
pub const HELLO: u8 = 0x40;
const WELCOME: u8 = 0x41;
const DEFER: u8 = 0x42;
pub const REJECT: u8 = 0x43;
const BYE: u8 = 0x44;
const PING: u8 = 0x45;
const FLUSH: u8 = 0x46;
const FLUSH_ACK: u8 = 0x47;
const PUT: u8 = 0x48;
const PUT_ACK: u8 = 0x49;
const PUT_REFUSED: u8 = 0x4a;
/// Two messages before the greeting, where a secret is set; no frames either.
pub const OPENING: u8 = 0x4b;
pub const ANSWER: u8 = 0x4c;

/// Reasons of a rejected connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The last connection attempt that the accepting interface began.
    pub attempt: u64,
    pub max_am: u32,
}

/// Why a hello is turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Version,
    /// No interface with that id listens here.
    Unknown,
    /// A limit of the connecting side exceeds what the other accepts.
    Limit,
    /// The two do not have the same secret.
    Secret,
    Other(u8),
}

/// One frame. An active message's body, and a put's data, stay where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    Am {
        id: u8,
        len: usize,
    },
    Welcome(Welcome),
    /// "I am connecting to you already: wait for that."
    Defer,
    Reject(Reason),
    /// "Nothing follows."
    Bye,
    /// Tests the connection; has no reply.
    Ping,
    /// "Tell me when all before this is done."
    Flush {
        seq: u64,
    },
    FlushAck {
        seq: u64,
    },
    Put {
        key: u64,
        address: u64,
        len: u64,
    },
    /// How many puts are done since the connection began. Those by a key for one transfer are not counted.
    PutAck {
        count: u64,
    },
    /// The put of this number (from 1) was not done and will not be.
    PutRefused {
        number: u64,
    },
}

impl core::fmt::Display for Frame {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Frame::Am { len, .. } => return write!(f, "an active message of {len} bytes"),
            Frame::Welcome(_) => "a welcome",
            Frame::Defer => "a request to wait for its connection",
            Frame::Reject(_) => "a rejection",
            Frame::Bye => "the announcement that nothing follows",
            Frame::Ping => "a test of the connection",
            Frame::Flush { .. } => "a flush",
            Frame::FlushAck { .. } => "the acknowledgement of a flush",
            Frame::Put { len, .. } => return write!(f, "a put of {len} bytes"),
            Frame::PutAck { .. } => "the acknowledgement of puts",
            Frame::PutRefused { .. } => "the refusal of a put",
        })
    }
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Kind(u8),
    /// A reserved byte is set.
    Reserved,
    /// The body is longer than allowed, or not as long as the kind demands.
    Length {
        kind: u8,
        len: u32,
    },
    Magic,
    /// The peer is upstream UCX.
    Upstream,
    Version(u16),
}

impl core::fmt::Display for Bad {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Bad::Kind(k) => write!(f, "a frame of unknown kind {k:#x}"),
            Bad::Reserved => write!(f, "a frame with reserved bits set"),
            Bad::Length { kind, len } => {
                write!(
                    f,
                    "a frame of kind {kind:#x} with {len} bytes, which cannot be"
                )
            }
            Bad::Magic => write!(f, "a greeting of another protocol"),
            Bad::Upstream => write!(f, "a greeting of upstream UCX"),
            Bad::Version(v) => write!(f, "protocol version {v}, where {VERSION} is spoken here"),
        }
    }
}

/// The frame at the front of `bytes`, and its length; of an active message only the header needs to
/// be there. `max_am` bounds the body of an active message.
#[inline]
pub fn decode(bytes: &[u8], max_am: usize) -> Result<Option<(Frame, usize)>, Bad> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_LEN>() else {
        return Ok(None);
    };
    let [kind, a, b, c, l0, l1, l2, l3] = *header;
    let len = u32::from_le_bytes([l0, l1, l2, l3]);
    if a | b | c != 0 {
        return Err(Bad::Reserved);
    }
    if kind < AM_KINDS {
        if len as usize > max_am {
            return Err(Bad::Length { kind, len });
        }
        let len = len as usize;
        return Ok(Some((Frame::Am { id: kind, len }, HEADER_LEN + len)));
    }
    control(kind, len, rest)
}

#[cold]
fn control(kind: u8, len: u32, rest: &[u8]) -> Result<Option<(Frame, usize)>, Bad> {
    let wanted = match kind {
        WELCOME => 20,
        DEFER | BYE | PING => 0,
        REJECT => 1,
        FLUSH | FLUSH_ACK | PUT_ACK | PUT_REFUSED => 8,
        PUT => 24,
        _ => return Err(Bad::Kind(kind)),
    };
    if len as usize != wanted {
        return Err(Bad::Length { kind, len });
    }
    let Some(body) = rest.get(..wanted) else {
        return Ok(None);
    };
    let mut at = Cursor(body);
    let frame = match kind {
        WELCOME => {
            greeting(&mut at)?;
            if at.u16() != 0 {
                return Err(Bad::Reserved);
            }
            Frame::Welcome(Welcome {
                attempt: at.u64(),
                max_am: at.u32(),
            })
        }
        DEFER => Frame::Defer,
        REJECT => Frame::Reject(match at.u8() {
            0 => Reason::Version,
            1 => Reason::Unknown,
            2 => Reason::Limit,
            3 => Reason::Secret,
            n => Reason::Other(n),
        }),
        BYE => Frame::Bye,
        PING => Frame::Ping,
        FLUSH => Frame::Flush { seq: at.u64() },
        FLUSH_ACK => Frame::FlushAck { seq: at.u64() },
        PUT_ACK => Frame::PutAck { count: at.u64() },
        PUT_REFUSED => Frame::PutRefused { number: at.u64() },
        _ => Frame::Put {
            key: at.u64(),
            address: at.u64(),
            len: at.u64(),
        },
    };
    Ok(Some((frame, HEADER_LEN + wanted)))
}

fn greeting(at: &mut Cursor<'_>) -> Result<(), Bad> {
    if at.u32() != MAGIC {
        return Err(Bad::Magic);
    }
    match at.u16() {
        VERSION => Ok(()),
        other => Err(Bad::Version(other)),
    }
}

/// Takes numbers off the front; what is missing reads as zero (lengths are checked before).
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.0 = rest;
                *head
            }
            None => [0; N],
        }
    }
    fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }
    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

/// The header of an active message of `len` bytes.
#[inline]
pub fn am_header(id: u8, len: usize) -> [u8; HEADER_LEN] {
    (u64::from(id) | (len as u64) << 32).to_le_bytes()
}

/// Appends a frame that is no active message.
pub fn encode(frame: &Frame, out: &mut Vec<u8>) {
    let mut body = [0u8; MAX_CONTROL];
    let mut len = 0;
    let mut put = |bytes: &[u8]| {
        if let Some(place) = body.get_mut(len..len + bytes.len()) {
            place.copy_from_slice(bytes);
            len += bytes.len();
        }
    };
    let kind = match frame {
        Frame::Am { id, len } => {
            out.extend_from_slice(&am_header(*id, *len));
            return;
        }
        Frame::Welcome(w) => {
            put(&MAGIC.to_le_bytes());
            put(&VERSION.to_le_bytes());
            put(&[0; 2]);
            put(&w.attempt.to_le_bytes());
            put(&w.max_am.to_le_bytes());
            WELCOME
        }
        Frame::Defer => DEFER,
        Frame::Reject(reason) => {
            put(&[match reason {
                Reason::Version => 0,
                Reason::Unknown => 1,
                Reason::Limit => 2,
                Reason::Secret => 3,
                Reason::Other(n) => *n,
            }]);
            REJECT
        }
        Frame::Bye => BYE,
        Frame::Ping => PING,
        Frame::Flush { seq } => {
            put(&seq.to_le_bytes());
            FLUSH
        }
        Frame::FlushAck { seq } => {
            put(&seq.to_le_bytes());
            FLUSH_ACK
        }
        Frame::Put { key, address, len } => {
            put(&key.to_le_bytes());
            put(&address.to_le_bytes());
            put(&len.to_le_bytes());
            PUT
        }
        Frame::PutAck { count } => {
            put(&count.to_le_bytes());
            PUT_ACK
        }
        Frame::PutRefused { number } => {
            put(&number.to_le_bytes());
            PUT_REFUSED
        }
    };
    out.extend_from_slice(&am_header(kind, len));
    out.extend_from_slice(&body[..len]);
}

/// Where a device is: its address, its subnet, and, for loopback, on which host and namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceAddr {
    pub ip: IpAddr,
    pub prefix: u8,
    /// Set for the loopback interface.
    pub domain: Option<u64>,
}

const ADDR_VERSION: u8 = 1 << 4;
const ADDR_V6: u8 = 1;
const ADDR_LOOPBACK: u8 = 2;
/// Bytes of the longest device address.
pub const MAX_DEVICE_ADDR: usize = 26;

impl DeviceAddr {
    /// The length of the address whose first byte this is; `None` for another format.
    pub fn len_from(first: u8) -> Option<usize> {
        if first & !(ADDR_V6 | ADDR_LOOPBACK) != ADDR_VERSION {
            return None;
        }
        let ip = if first & ADDR_V6 != 0 { 16 } else { 4 };
        let domain = if first & ADDR_LOOPBACK != 0 { 8 } else { 0 };
        Some(2 + ip + domain)
    }

    pub fn encode(&self) -> ([u8; MAX_DEVICE_ADDR], usize) {
        let mut out = Vec::with_capacity(MAX_DEVICE_ADDR);
        let v6 = if self.ip.is_ipv6() { ADDR_V6 } else { 0 };
        let loopback = if self.domain.is_some() {
            ADDR_LOOPBACK
        } else {
            0
        };
        out.extend_from_slice(&[ADDR_VERSION | v6 | loopback, self.prefix]);
        match self.ip {
            IpAddr::V4(ip) => out.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => out.extend_from_slice(&ip.octets()),
        }
        if let Some(domain) = self.domain {
            out.extend_from_slice(&domain.to_le_bytes());
        }
        let mut bytes = [0; MAX_DEVICE_ADDR];
        let len = out.len().min(MAX_DEVICE_ADDR);
        bytes[..len].copy_from_slice(&out[..len]);
        (bytes, len)
    }

    /// Whether another address is of the same subnet.
    pub fn is_same_subnet(&self, other: &DeviceAddr) -> bool {
        let (a, b, bits) = match (self.ip, other.ip) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (u32::from(a).into(), u32::from(b).into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => (u128::from(a), u128::from(b), 128),
            _ => return false,
        };
        // Shifted by all of its bits, either is `None`.
        let host_bits = bits - u32::from(self.prefix).min(bits);
        a.checked_shr(host_bits) == b.checked_shr(host_bits)
    }

    /// `None` for another format or an address nobody can have.
    pub fn decode(bytes: &[u8]) -> Option<DeviceAddr> {
        let first = *bytes.first()?;
        let bytes = bytes.get(..DeviceAddr::len_from(first)?)?;
        let mut at = Cursor(&bytes[1..]);
        let prefix = at.u8();
        let ip = if first & ADDR_V6 != 0 {
            IpAddr::V6(Ipv6Addr::from(at.take::<16>()))
        } else {
            IpAddr::V4(Ipv4Addr::from(at.take::<4>()))
        };
        let bits = if ip.is_ipv6() { 128 } else { 32 };
        if prefix > bits || ip.is_unspecified() || ip.is_multicast() {
            return None;
        }
        let domain = (first & ADDR_LOOPBACK != 0).then(|| at.u64());
        Some(DeviceAddr { ip, prefix, domain })
    }
}

/// Which interface listens on a device: its port and its id. An endpoint's address is the same,
/// since all endpoints of two interfaces share one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfaceAddr {
    pub port: u16,
    pub id: u64,
}

/// Bytes of an interface's or an endpoint's address.
pub const IFACE_ADDR_LEN: usize = 11;

impl IfaceAddr {
    pub fn encode(&self) -> [u8; IFACE_ADDR_LEN] {
        let mut out = [0; IFACE_ADDR_LEN];
        out[0] = ADDR_VERSION;
        out[1..3].copy_from_slice(&self.port.to_le_bytes());
        out[3..].copy_from_slice(&self.id.to_le_bytes());
        out
    }

    /// `None` for another format.
    pub fn decode(bytes: &[u8; IFACE_ADDR_LEN]) -> Option<IfaceAddr> {
        let mut at = Cursor(bytes);
        let version = at.u8();
        let addr = IfaceAddr {
            port: at.u16(),
            id: at.u64(),
        };
        (version == ADDR_VERSION && addr.port != 0 && addr.id != 0).then_some(addr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    fn all() -> Vec<Frame> {
        vec![
            Frame::Welcome(Welcome {
                attempt: u64::MAX,
                max_am: 1,
            }),
            Frame::Defer,
            Frame::Reject(Reason::Version),
            Frame::Reject(Reason::Unknown),
            Frame::Reject(Reason::Limit),
            Frame::Reject(Reason::Secret),
            Frame::Reject(Reason::Other(9)),
            Frame::Bye,
            Frame::Ping,
            Frame::Flush { seq: 1 },
            Frame::FlushAck { seq: 1 },
            Frame::Put {
                key: 5,
                address: u64::MAX,
                len: 1 << 40,
            },
            Frame::PutAck { count: 7 },
            Frame::PutRefused { number: 8 },
            Frame::Am { id: 31, len: 100 },
        ]
    }

    #[test]
    fn every_frame_comes_back_and_no_part_of_it_is_one() {
        for frame in all() {
            let mut bytes = Vec::new();
            encode(&frame, &mut bytes);
            let body = if let Frame::Am { len, .. } = frame {
                len
            } else {
                0
            };
            assert_eq!(
                decode(&bytes, 100),
                Ok(Some((frame, bytes.len() + body))),
                "{frame:?}"
            );
            for n in 0..bytes.len() {
                assert_eq!(decode(&bytes[..n], 100), Ok(None), "{frame:?} cut at {n}");
            }
        }
    }

    #[test]
    fn an_invalid_frame_is_rejected_before_it_is_complete() {
        assert_eq!(
            decode(&am_header(3, 101), 100),
            Err(Bad::Length { kind: 3, len: 101 })
        );
        assert_eq!(decode(&am_header(127, 0), 100), Err(Bad::Kind(127)));
        assert_eq!(decode(&[0, 0, 1, 0, 0, 0, 0, 0], 100), Err(Bad::Reserved));
        assert_eq!(decode(&am_header(HELLO, 128), 100), Err(Bad::Kind(HELLO)));
        let mut welcome = Vec::new();
        encode(&all()[0], &mut welcome);
        let (mut other, mut later) = (welcome.clone(), welcome);
        other[8] ^= 1;
        later[12] = 4;
        assert_eq!(decode(&other, 100), Err(Bad::Magic));
        assert_eq!(decode(&later, 100), Err(Bad::Version(4)));
    }

    /// Mutated and random streams: no panic, no frame beyond the limit, always an end.
    #[test]
    fn mutated_streams_are_refused_or_understood() {
        let rng = TestRng::new(0x9e37_79b9_7f4a_7c15);
        let mut good = Vec::new();
        for frame in all() {
            encode(&frame, &mut good);
            if let Frame::Am { len, .. } = frame {
                good.resize(good.len() + len, 0x5a);
            }
        }
        let (mut frames, mut refused) = (0u64, 0u64);
        for round in 0..(if cfg!(miri) { 100 } else { 100_000 }) {
            let mut stream = if round % 4 == 0 {
                (0..rng.below(64)).map(|_| rng.next() as u8).collect()
            } else {
                good.clone()
            };
            for _ in 0..rng.below(4) {
                if stream.is_empty() {
                    break;
                }
                let at = rng.below(stream.len());
                match rng.below(3) {
                    0 => stream[at] ^= 1 << rng.below(8),
                    1 => stream.truncate(at),
                    _ => stream[at] = rng.next() as u8,
                }
            }
            let mut rest = &stream[..];
            loop {
                match decode(rest, 4096) {
                    Ok(Some((frame, len))) => {
                        assert!((HEADER_LEN..=HEADER_LEN + 4096).contains(&len), "{frame:?}");
                        frames += 1;
                        match rest.get(len..) {
                            Some(next) => rest = next,
                            None => break,
                        }
                    }
                    Ok(None) => break,
                    Err(_) => {
                        refused += 1;
                        break;
                    }
                }
            }
        }
        assert!(
            cfg!(miri) || frames > 100_000 && refused > 10_000,
            "{frames} {refused}"
        );
    }

    #[test]
    fn addresses_come_back_and_others_are_refused() {
        let v4 = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
        let v6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
        for (addr, len) in [
            (
                DeviceAddr {
                    ip: v4,
                    prefix: 24,
                    domain: None,
                },
                6,
            ),
            (
                DeviceAddr {
                    ip: v4,
                    prefix: 8,
                    domain: Some(77),
                },
                14,
            ),
            (
                DeviceAddr {
                    ip: v6,
                    prefix: 64,
                    domain: None,
                },
                18,
            ),
            (
                DeviceAddr {
                    ip: v6,
                    prefix: 128,
                    domain: Some(1),
                },
                MAX_DEVICE_ADDR,
            ),
        ] {
            let (bytes, n) = addr.encode();
            assert_eq!(n, len);
            assert_eq!(DeviceAddr::len_from(bytes[0]), Some(len));
            assert_eq!(DeviceAddr::decode(&bytes[..n]), Some(addr));
            assert_eq!(DeviceAddr::decode(&bytes[..n - 1]), None);
        }
        let (mut bytes, n) = DeviceAddr {
            ip: v4,
            prefix: 33,
            domain: None,
        }
        .encode();
        assert_eq!(DeviceAddr::decode(&bytes[..n]), None);
        bytes[0] = 0x20;
        assert_eq!(DeviceAddr::len_from(bytes[0]), None);
        let addr = IfaceAddr {
            port: 9,
            id: 1 << 63,
        };
        assert_eq!(IfaceAddr::decode(&addr.encode()), Some(addr));
        let mut other = addr.encode();
        other[0] = 0;
        assert_eq!(IfaceAddr::decode(&other), None);
    }
}
