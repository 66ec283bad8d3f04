//! Byte formats of upstream's tcp: the frames of a connection, and addresses.
//!
//! Who connects sends eight bytes of greeting. A frame is an id (1), the length of the body (4) and the body. Ids below
//! 32 are active messages; 32 is of the connection, 33 a put, 34 its acknowledgement, 35 tests the connection. Its body is
//! address (8), length (8) and number (4), its data stand behind the frame; without data it is a flush. A connection is requested with: event (4), flags (1), number or key (8), and the
//! socket address where the sender listens, as the kernel has it: family (2), port (2, big endian), an IPv4 address (4)
//! and zeros (8), or a flow (4), an IPv6 address (16) and a scope (4). The flag says that it is a key: of the endpoint that
//! the connection is for, which is not acknowledged.
//!
//! A side that wants to send on a connection which the other one has opened requests that there, without the greeting.
//! When both open a connection with the same number, one is closed; the acceptance of the other requests the same.
//!
//! An interface's address is its port (big endian), an endpoint's that and a key (8). A device's is flags (1), family (1),
//! and its IP address. That of a loopback device says instead where it is: a number made of the host's boot id, with the
//! highest bit set (8), and that of the network namespace (8, in 1.22 4).
#![forbid(unsafe_code)]

use crate::wire::{Reader, Writer};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

pub const GREETING: u64 = super::super::wire::UPSTREAM_GREETING;
const GREETING_LEN: usize = 8;
/// Bytes before each body.
pub const HEADER_LEN: usize = 5;
/// Ids of active messages are below this.
const AM_IDS: u8 = 32;
const CONNECTION: u8 = 32;
const PUT: u8 = 33;
/// Bytes of the body of a put, before its data.
const PUT_LEN: usize = 20;
const PUT_ACK: u8 = 34;
const KEEPALIVE: u8 = 35;

const REQUEST: u32 = 1;
const ACK: u32 = 2;
const ACK_AND_REQUEST: u32 = 3;
const FIN: u32 = 4;

const INET: u16 = 2;
const INET6: u16 = 10;
/// Of a device's address: it is a loopback device, of which the address says more than an IP address.
const LOOPBACK: u8 = 1;

/// The sum of the transport's name in worker addresses.
pub const TRANSPORT: u16 = 0x19cf;
/// Priority 1, and what every interface of upstream's can do: messages, puts of data in place, waiting senders, connecting
/// to interfaces, and events.
pub const ABILITIES: u32 = 0x0023_1301;

/// A frame. The body of an active message stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    Am {
        id: u8,
        len: usize,
    },
    /// A connection was accepted.
    Ack,
    /// The same, and who accepts sends messages by it too.
    AckAndRequest,
    /// Who has accepted the connection wants to send messages by it too.
    Request(Opening),
    /// Nothing follows.
    Fin,
    /// A put of no bytes, which is to be acknowledged.
    Flush {
        number: u32,
    },
    /// A put of data, at least one byte, which follow. It is to be acknowledged when they are written.
    Put {
        address: u64,
        len: u64,
        number: u32,
    },
    FlushAck {
        number: u32,
    },
    Keepalive,
}

impl core::fmt::Display for Frame {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Frame::Am { len, .. } => return write!(f, "an active message of {len} bytes"),
            Frame::Ack | Frame::AckAndRequest => "the acceptance of a connection",
            Frame::Request(_) => "a request to send",
            Frame::Fin => "the announcement that nothing follows",
            Frame::Flush { .. } => "a flush",
            Frame::Put { address, len, .. } => {
                return write!(f, "a put of {len} bytes at {address:#x}");
            }
            Frame::FlushAck { .. } => "the acknowledgement of a flush",
            Frame::Keepalive => "a test of the connection",
        })
    }
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Kind(u8),
    Length {
        id: u8,
        len: u32,
    },
    Event(u32),
    /// A request to connect that cannot be read.
    Request,
}

impl core::fmt::Display for Bad {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Bad::Kind(id) => write!(f, "a frame of unknown kind {id}"),
            Bad::Length { id, len } => write!(
                f,
                "a frame of kind {id} with {len} bytes: UCX_TCP_RX_SEG_SIZE of the receiver limits them"
            ),
            Bad::Event(event) => write!(f, "a connection event {event}, which is invalid now"),
            Bad::Request => f.write_str("a connection request that cannot be read"),
        }
    }
}

/// The frame at the front of `bytes`, and its length; of an active message only the header needs to be there. `max_am`
/// bounds its body.
pub fn decode(bytes: &[u8], max_am: usize) -> Result<Option<(Frame, usize)>, Bad> {
    let mut r = Reader::new(bytes);
    let (Some(id), Some(len)) = (r.u8(), r.u32()) else {
        return Ok(None);
    };
    let wanted = match id {
        0..AM_IDS if len as usize <= max_am => {
            let len = len as usize;
            return Ok(Some((Frame::Am { id, len }, HEADER_LEN + len)));
        }
        CONNECTION if REQUEST_LENS.contains(&len) => len,
        CONNECTION | PUT_ACK => 4,
        PUT => PUT_LEN as u32,
        KEEPALIVE => 0,
        0..AM_IDS => return Err(Bad::Length { id, len }),
        _ => return Err(Bad::Kind(id)),
    };
    if len != wanted {
        return Err(Bad::Length { id, len });
    }
    let Some(body) = r.bytes(wanted as usize) else {
        return Ok(None);
    };
    if id == CONNECTION && REQUEST_LENS.contains(&len) {
        let request = Frame::Request(Opening::read(body)?);
        return Ok(Some((request, HEADER_LEN + body.len())));
    }
    let mut body = Reader::new(body);
    let frame = match id {
        CONNECTION => match body.u32() {
            Some(ACK) => Frame::Ack,
            Some(ACK_AND_REQUEST) => Frame::AckAndRequest,
            Some(FIN) => Frame::Fin,
            event => return Err(Bad::Event(event.unwrap_or_default())),
        },
        PUT => {
            let [address, len] = [body.u64(), body.u64()].map(Option::unwrap_or_default);
            let number = body.u32().unwrap_or_default();
            match len {
                0 => Frame::Flush { number },
                _ => Frame::Put {
                    address,
                    len,
                    number,
                },
            }
        }
        PUT_ACK => Frame::FlushAck {
            number: body.u32().unwrap_or_default(),
        },
        _ => Frame::Keepalive,
    };
    Ok(Some((frame, HEADER_LEN + wanted as usize)))
}

/// The header of a frame.
pub fn header(id: u8, len: usize) -> [u8; HEADER_LEN] {
    let mut out = [0; HEADER_LEN];
    let mut w = Writer::new(&mut out);
    w.u8(id);
    w.u32(len as u32);
    out
}

/// The header of a put of `len` bytes, which follow.
pub fn put_header(address: u64, len: u64, number: u32) -> [u8; HEADER_LEN + PUT_LEN] {
    let mut out = [0; HEADER_LEN + PUT_LEN];
    let mut w = Writer::new(&mut out);
    w.u8(PUT);
    w.u32(PUT_LEN as u32);
    w.u64(address);
    w.u64(len);
    w.u32(number);
    out
}

/// Appends a frame that is no active message.
pub fn encode(frame: Frame, out: &mut Vec<u8>) {
    let mut put = |id, body: &[&[u8]]| {
        out.extend_from_slice(&header(id, body.iter().map(|part| part.len()).sum()));
        body.iter().for_each(|part| out.extend_from_slice(part));
    };
    match frame {
        Frame::Am { id, len } => out.extend_from_slice(&header(id, len)),
        Frame::Ack => put(CONNECTION, &[&ACK.to_le_bytes()]),
        Frame::AckAndRequest => put(CONNECTION, &[&ACK_AND_REQUEST.to_le_bytes()]),
        Frame::Request(opening) => put(CONNECTION, &[&opening.body()]),
        Frame::Fin => put(CONNECTION, &[&FIN.to_le_bytes()]),
        Frame::Flush { number } => out.extend_from_slice(&put_header(0, 0, number)),
        Frame::Put {
            address,
            len,
            number,
        } => out.extend_from_slice(&put_header(address, len, number)),
        Frame::FlushAck { number } => put(PUT_ACK, &[&number.to_le_bytes()]),
        Frame::Keepalive => put(KEEPALIVE, &[]),
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Messages of the interface that connects. The number tells connections between two interfaces apart.
    Interface { number: u64 },
    /// Messages between two endpoints, both ways: the one that has this key, and the one that connects.
    Endpoint { key: u64 },
}

/// Lengths of a request with an address of IPv4, and of IPv6.
const REQUEST_LENS: [u32; 2] = [29, 41];
/// Of a request's flags: it is for an endpoint.
const FOR_ENDPOINT: u8 = 1;

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    pub purpose: Purpose,
    /// Where the interface that connects listens.
    pub listener: SocketAddr,
}

impl Opening {
    /// The greeting and the request behind it.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = GREETING.to_le_bytes().to_vec();
        encode(Frame::Request(*self), &mut out);
        out
    }

    fn body(&self) -> Vec<u8> {
        let mut body = REQUEST.to_le_bytes().to_vec();
        let (flags, number) = match self.purpose {
            Purpose::Interface { number } => (0, number),
            Purpose::Endpoint { key } => (FOR_ENDPOINT, key),
        };
        body.push(flags);
        body.extend_from_slice(&number.to_le_bytes());
        let port = self.listener.port().to_be_bytes();
        match self.listener {
            SocketAddr::V4(to) => {
                body.extend_from_slice(&INET.to_le_bytes());
                body.extend_from_slice(&port);
                body.extend_from_slice(&to.ip().octets());
                body.extend_from_slice(&[0; 8]);
            }
            SocketAddr::V6(to) => {
                body.extend_from_slice(&INET6.to_le_bytes());
                body.extend_from_slice(&port);
                body.extend_from_slice(&to.flowinfo().to_be_bytes());
                body.extend_from_slice(&to.ip().octets());
                body.extend_from_slice(&to.scope_id().to_le_bytes());
            }
        }
        body
    }

    /// The opening at the front of `bytes`, and its length; `None` while it is not whole.
    pub fn decode(bytes: &[u8]) -> Result<Option<(Opening, usize)>, Bad> {
        let mut r = Reader::new(bytes);
        let head = (|| Some((r.u64()?, r.u8()?, r.u32()?)))();
        let Some((greeting, id, len)) = head else {
            return Ok(None);
        };
        if greeting != GREETING || id != CONNECTION {
            return Err(Bad::Kind(id));
        }
        if !REQUEST_LENS.contains(&len) {
            return Err(Bad::Request);
        }
        let Some(body) = r.bytes(len as usize) else {
            return Ok(None);
        };
        let opening = Opening::read(body)?;
        Ok(Some((opening, GREETING_LEN + HEADER_LEN + len as usize)))
    }

    fn read(body: &[u8]) -> Result<Opening, Bad> {
        let mut r = Reader::new(body);
        match r.u32() {
            Some(REQUEST) => {}
            event => return Err(Bad::Event(event.unwrap_or_default())),
        }
        let flags = r.u8();
        let fields = (|| {
            let (number, family) = (r.u64()?, r.u16()?);
            let port = u16::from_be(r.u16()?);
            let ip = match family {
                INET => IpAddr::V4(ipv4(&mut r)?),
                INET6 => {
                    r.u32()?;
                    IpAddr::V6(ipv6(&mut r)?)
                }
                _ => return None,
            };
            Some((number, SocketAddr::new(ip, port)))
        })();
        match (flags, fields) {
            (Some(flags @ (0 | FOR_ENDPOINT)), Some((number, listener)))
                if listener.port() != 0 =>
            {
                let purpose = match flags {
                    0 => Purpose::Interface { number },
                    _ => Purpose::Endpoint { key: number },
                };
                Ok(Opening { purpose, listener })
            }
            _ => Err(Bad::Request),
        }
    }
}

fn ipv4(r: &mut Reader<'_>) -> Option<Ipv4Addr> {
    let octets: [u8; 4] = r.bytes(4)?.try_into().ok()?;
    Some(Ipv4Addr::from(octets))
}

fn ipv6(r: &mut Reader<'_>) -> Option<Ipv6Addr> {
    let octets: [u8; 16] = r.bytes(16)?.try_into().ok()?;
    Some(Ipv6Addr::from(octets))
}

/// Where a loopback device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    host: u64,
    namespace: u32,
}

/// Of the host's number: that of a namespace follows.
const HAS_NAMESPACE: u64 = 1 << 63;

impl Place {
    /// From the kernel's boot id and the number of the network namespace.
    pub fn new(boot_id: &str, namespace: u64) -> Option<Place> {
        let digits: String = boot_id.trim().split('-').collect();
        let all = u128::from_str_radix(&digits, 16).ok();
        let [a3, a2, a1, a0, b1, b0, c1, c0, d1, d0, e @ ..] =
            all.filter(|_| digits.len() == 32)?.to_be_bytes();
        // Four numbers, and six bytes.
        let low = u64::from_le_bytes([a0, a1, a2, a3, b0, b1, c0, c1]);
        let [e0, e1, e2, e3, e4, e5] = e;
        let high = u64::from_le_bytes([d0, d1, e0, e1, e2, e3, e4, e5]);
        Some(Place {
            host: (low ^ high) | HAS_NAMESPACE,
            namespace: namespace as u32,
        })
    }
}

/// The address of a device that is no loopback device.
pub fn device(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(ip) => [&[0, INET as u8][..], &ip.octets()].concat(),
        IpAddr::V6(ip) => [&[0, INET6 as u8][..], &ip.octets()].concat(),
    }
}

/// The address of a loopback device.
pub fn loopback_device(is_ipv4: bool, at: Place) -> Vec<u8> {
    let family = if is_ipv4 { INET } else { INET6 };
    let mut out = vec![LOOPBACK, family as u8];
    out.extend_from_slice(&at.host.to_le_bytes());
    out.extend_from_slice(&u64::from(at.namespace).to_le_bytes());
    out
}

/// What a device's address says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    Ip(IpAddr),
    Loopback { is_ipv4: bool, at: Place },
}

/// Reads a device's address; `None` of one that nobody can have.
pub fn read_device(bytes: &[u8]) -> Option<Device> {
    let mut r = Reader::new(bytes);
    let (flags, family) = (r.u8()?, u16::from(r.u8()?));
    if flags & LOOPBACK != 0 {
        let (host, namespace) = (r.u64()?, r.u32()?);
        let is_ipv4 = family == INET;
        let at = Place { host, namespace };
        let is_known = is_ipv4 || family == INET6;
        return is_known.then_some(Device::Loopback { is_ipv4, at });
    }
    let ip = match family {
        INET => IpAddr::V4(ipv4(&mut r)?),
        INET6 => IpAddr::V6(ipv6(&mut r)?),
        _ => return None,
    };
    (!ip.is_unspecified() && !ip.is_multicast()).then_some(Device::Ip(ip))
}

/// An interface's address.
pub fn iface(port: u16) -> Vec<u8> {
    port.to_be_bytes().to_vec()
}

/// An endpoint's address.
pub fn endpoint(port: u16, key: u64) -> Vec<u8> {
    [&port.to_be_bytes()[..], &key.to_le_bytes()].concat()
}

pub const IFACE_LEN: usize = 2;
pub const ENDPOINT_LEN: usize = 10;

/// Port and key in an endpoint's address.
pub fn endpoint_parts(bytes: &[u8]) -> Option<(u16, u64)> {
    let (port, key) = bytes.split_at_checked(IFACE_LEN)?;
    Some((iface_port(port)?, u64::from_le_bytes(key.try_into().ok()?)))
}

/// The port in an interface's address.
pub fn iface_port(bytes: &[u8]) -> Option<u16> {
    let port = u16::from_be_bytes(bytes.try_into().ok()?);
    (port != 0).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(frame: Frame) -> Vec<u8> {
        let mut out = Vec::new();
        encode(frame, &mut out);
        out
    }

    #[test]
    fn bytes_of_frames() {
        for (frame, bytes) in [
            (Frame::Ack, &b"\x20\x04\0\0\0\x02\0\0\0"[..]),
            (Frame::AckAndRequest, b"\x20\x04\0\0\0\x03\0\0\0"),
            (
                Frame::Request(Opening {
                    purpose: Purpose::Interface { number: 0 },
                    listener: "10.77.0.2:258".parse().unwrap(),
                }),
                b"\x20\x1d\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\
                  \x02\0\x01\x02\x0a\x4d\0\x02\0\0\0\0\0\0\0\0",
            ),
            (Frame::Fin, b"\x20\x04\0\0\0\x04\0\0\0"),
            (
                Frame::Flush { number: 7 },
                b"\x21\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0",
            ),
            (
                Frame::Put {
                    address: 0x7f7f_fb60_0000,
                    len: 0x8_3880,
                    number: 1,
                },
                b"\x21\x14\0\0\0\0\0\x60\xfb\x7f\x7f\0\0\x80\x38\x08\0\0\0\0\0\x01\0\0\0",
            ),
            (Frame::FlushAck { number: 7 }, b"\x22\x04\0\0\0\x07\0\0\0"),
            (Frame::Keepalive, b"\x23\0\0\0\0"),
        ] {
            assert_eq!(encoded(frame), bytes, "{frame:?}");
            assert_eq!(decode(bytes, 0), Ok(Some((frame, bytes.len()))));
            for n in 0..bytes.len() {
                assert_eq!(decode(&bytes[..n], 0), Ok(None), "{n} of {frame:?}");
            }
        }
        let am = Frame::Am { id: 31, len: 70 };
        assert_eq!(decode(&encoded(am), 70), Ok(Some((am, HEADER_LEN + 70))));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        assert_eq!(
            decode(&header(PUT, 21), 70),
            Err(Bad::Length { id: PUT, len: 21 })
        );
        assert_eq!(
            decode(&header(2, 71), 70),
            Err(Bad::Length { id: 2, len: 71 })
        );
        assert_eq!(decode(&header(36, 0), 70), Err(Bad::Kind(36)));
        assert_eq!(
            decode(&header(CONNECTION, 30), 70),
            Err(Bad::Length {
                id: CONNECTION,
                len: 30
            })
        );
        assert_eq!(decode(b"\x20\x04\0\0\0\x01\0\0\0", 0), Err(Bad::Event(1)));
    }

    #[test]
    fn bytes_of_an_opening() {
        let v4 = Opening {
            purpose: Purpose::Interface { number: 1 << 40 },
            listener: "10.77.0.2:258".parse().unwrap(),
        };
        let bytes = v4.encode();
        assert_eq!(
            bytes,
            *b"\x78\x56\x34\x12\xbe\xba\xfe\xca\x20\x1d\0\0\0\x01\0\0\0\0\0\0\0\0\0\x01\0\0\
               \x02\0\x01\x02\x0a\x4d\0\x02\0\0\0\0\0\0\0\0"
        );
        let v6 = Opening {
            purpose: Purpose::Endpoint { key: 3 },
            listener: "[fd00::7]:9".parse().unwrap(),
        };
        for opening in [v4, v6] {
            let bytes = opening.encode();
            let whole = Ok(Some((opening, bytes.len())));
            assert_eq!(Opening::decode(&bytes), whole);
            assert_eq!(Opening::decode(&[&bytes[..], b"more"].concat()), whole);
            for n in 0..bytes.len() {
                assert_eq!(Opening::decode(&bytes[..n]), Ok(None), "{n}");
            }
        }
        for (at, wrong, why) in [
            (17, 2, Bad::Request),
            (13, 9, Bad::Event(9)),
            (9, 30, Bad::Request),
            (8, 2, Bad::Kind(2)),
            (26, 3, Bad::Request),
        ] {
            let mut bad = bytes.clone();
            bad[at] = wrong;
            assert_eq!(Opening::decode(&bad), Err(why), "byte {at}");
        }
    }

    /// The kernel's boot id and network namespace where releases gave these.
    #[test]
    fn bytes_of_loopback_devices() {
        let at = Place::new("affcd369-dab2-4f7b-b57f-c27ed9aeac6c\n", 4_026_531_833).unwrap();
        let bytes = loopback_device(true, at);
        assert_eq!(
            bytes,
            *b"\x01\x02\x16\x66\x3e\xd1\x6b\x74\xd7\xa3\xf9\xff\xff\xef\0\0\0\0"
        );
        let is_ipv4 = true;
        for n in [18, 14] {
            assert_eq!(
                read_device(&bytes[..n]),
                Some(Device::Loopback { is_ipv4, at })
            );
        }
        assert_eq!(read_device(&bytes[..13]), None);
        assert_eq!(loopback_device(false, at)[1], 10);
        assert_eq!(read_device(&[&[1, 3], &bytes[2..]].concat()), None);
        for bad in ["", "affcd369", "affcd369-dab2-4f7b-b57f-c27ed9aeac6x"] {
            assert_eq!(Place::new(bad, 1), None);
        }
    }

    #[test]
    fn bytes_of_addresses() {
        let v4: IpAddr = "10.77.0.2".parse().unwrap();
        let v6: IpAddr = "fd00::7".parse().unwrap();
        assert_eq!(device(v4), [0, 2, 10, 77, 0, 2]);
        assert_eq!(device(v6)[..4], [0, 10, 0xfd, 0]);
        for ip in [v4, v6] {
            let bytes = device(ip);
            assert_eq!(read_device(&bytes), Some(Device::Ip(ip)));
            assert_eq!(read_device(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(read_device(&[0, 3, 10, 77, 0, 2]), None);
        assert_eq!(read_device(&[0, 2, 0, 0, 0, 0]), None);
        assert_eq!(iface(0x0102), [1, 2]);
        assert_eq!(iface_port(&[1, 2]), Some(0x0102));
        assert_eq!((iface_port(&[0, 0]), iface_port(&[1])), (None, None));
        let of_endpoint = endpoint(0x0102, 0x1122_3344_5566_7788);
        assert_eq!(of_endpoint, b"\x01\x02\x88\x77\x66\x55\x44\x33\x22\x11");
        let parts = Some((0x0102, 0x1122_3344_5566_7788));
        assert_eq!(endpoint_parts(&of_endpoint), parts);
        assert_eq!(endpoint_parts(&of_endpoint[..9]), None);
        assert_eq!(of_endpoint.len(), ENDPOINT_LEN);
        assert_eq!(iface(1).len(), IFACE_LEN);
    }
}
