//! Headers of upstream's messages between workers. Each is the id of an active message; ids of endpoints and requests are
//! what their owner gave out.
//!
//! | id | header | followed by |
//! |---|---|---|
//! | 1 | type (1), error handling mode (1), number (2), endpoint of the sender (8), of the receiver (8) | an address |
//! | 2 | tag (8) | the message |
//! | 3 | tag (8), length of the whole (8), number of the message (8) | its first bytes |
//! | 4 | number of the message (8), offset (8) | its bytes from there on |
//! | 15 | endpoint of the receiver (8) | bytes of its stream |
//! | 23 | id (2), flags (2), length of the user's header (4) | data, user's header |
//! | 26 | as 23 | the same, endpoint of the receiver (8), for a reply by it |
//! | 24 | as 23 | the first bytes of the data, user's header, number of the message (8), endpoint of the receiver (8), length of all data (8) |
//! | 25 | offset (8) | bytes of the data from there on, number of the message (8), endpoint of the receiver (8) |

use crate::wire::{Reader, Writer};

pub const WIREUP: u8 = 1;
pub const EAGER: u8 = 2;
pub const EAGER_FIRST: u8 = 3;
pub const EAGER_MIDDLE: u8 = 4;
pub const STREAM: u8 = 15;
pub const AM: u8 = 23;
pub const AM_FIRST: u8 = 24;
pub const AM_MIDDLE: u8 = 25;
pub const AM_WITH_REPLY: u8 = 26;

/// What a wire-up message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireupKind {
    /// A worker that was connected to by its address gets to know an endpoint.
    Request,
    /// The answer: the receiver's endpoint.
    Reply,
    /// Anything else: of connections by socket address, and notices that need no answer.
    Other(u8),
}

impl core::fmt::Display for WireupKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            WireupKind::Request => f.write_str("a wire-up request"),
            WireupKind::Reply => f.write_str("a wire-up reply"),
            WireupKind::Other(kind) => write!(f, "a wire-up message of kind {kind}"),
        }
    }
}

/// The header of a wire-up message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wireup {
    pub kind: WireupKind,
    pub error_mode: u8,
    /// How many endpoints the sender made to the receiver before.
    pub number: u16,
    pub sender: u64,
    /// 0 while it is not known.
    pub receiver: u64,
}

impl Wireup {
    pub const LEN: usize = 20;
    const REQUEST: u8 = 1;
    const REPLY: u8 = 2;

    pub fn encode(&self) -> [u8; Wireup::LEN] {
        let mut out = [0; Wireup::LEN];
        let mut w = Writer::new(&mut out);
        w.u8(match self.kind {
            WireupKind::Request => Self::REQUEST,
            WireupKind::Reply => Self::REPLY,
            WireupKind::Other(kind) => kind,
        });
        w.u8(self.error_mode);
        w.u16(self.number);
        w.u64(self.sender);
        w.u64(self.receiver);
        out
    }

    /// The header, and the address behind it.
    pub fn split(message: &[u8]) -> Option<(Wireup, &[u8])> {
        let mut r = Reader::new(message);
        let wireup = Wireup {
            kind: match r.u8()? {
                Self::REQUEST => WireupKind::Request,
                Self::REPLY => WireupKind::Reply,
                kind => WireupKind::Other(kind),
            },
            error_mode: r.u8()?,
            number: r.u16()?,
            sender: r.u64()?,
            receiver: r.u64()?,
        };
        Some((wireup, r.rest()))
    }
}

/// The header of a tagged message of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eager {
    pub tag: u64,
}

impl Eager {
    pub const LEN: usize = 8;

    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u64(self.tag);
    }

    pub fn split(message: &[u8]) -> Option<(Eager, &[u8])> {
        let mut r = Reader::new(message);
        let tag = r.u64()?;
        Some((Eager { tag }, r.rest()))
    }
}

/// The header of the first part of a tagged message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EagerFirst {
    pub tag: u64,
    pub total: u64,
    pub message: u64,
}

impl EagerFirst {
    pub const LEN: usize = 24;

    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u64(self.tag);
        w.u64(self.total);
        w.u64(self.message);
    }

    pub fn split(message: &[u8]) -> Option<(EagerFirst, &[u8])> {
        let mut r = Reader::new(message);
        let first = EagerFirst {
            tag: r.u64()?,
            total: r.u64()?,
            message: r.u64()?,
        };
        Some((first, r.rest()))
    }
}

/// The header of a later part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EagerMiddle {
    pub message: u64,
    pub offset: u64,
}

impl EagerMiddle {
    pub const LEN: usize = 16;

    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u64(self.message);
        w.u64(self.offset);
    }

    pub fn split(message: &[u8]) -> Option<(EagerMiddle, &[u8])> {
        let mut r = Reader::new(message);
        let middle = EagerMiddle {
            message: r.u64()?,
            offset: r.u64()?,
        };
        Some((middle, r.rest()))
    }
}

/// The header of bytes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The receiver's endpoint.
    pub ep: u64,
}

impl Stream {
    pub const LEN: usize = 8;

    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u64(self.ep);
    }

    pub fn split(message: &[u8]) -> Option<(Stream, &[u8])> {
        let mut r = Reader::new(message);
        let ep = r.u64()?;
        Some((Stream { ep }, r.rest()))
    }
}

/// The header of an active message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Am {
    pub id: u16,
    pub flags: u16,
    /// Bytes of the user's header.
    pub header: u32,
}

impl Am {
    pub const LEN: usize = 8;
    /// Of `flags`: the handler gets an endpoint for a reply.
    pub const REPLY: u16 = 1;

    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u16(self.id);
        w.u16(self.flags);
        w.u32(self.header);
    }

    /// The header, the data, the user's header, and the last `end` bytes.
    pub fn split(message: &[u8], end: usize) -> Option<(Am, &[u8], &[u8], Reader<'_>)> {
        let (message, end) = message.split_at_checked(message.len().checked_sub(end)?)?;
        let mut r = Reader::new(message);
        let am = Am {
            id: r.u16()?,
            flags: r.u16()?,
            header: r.u32()?,
        };
        let data = r.rest().len().checked_sub(am.header as usize)?;
        let data = r.bytes(data)?;
        Some((am, data, r.rest(), Reader::new(end)))
    }
}

/// The receiver's endpoint, behind an active message with a reply.
pub const REPLY_LEN: usize = 8;

/// What stands behind the first part of an active message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmFirst {
    pub message: u64,
    pub ep: u64,
    pub total: u64,
}

impl AmFirst {
    pub const LEN: usize = 24;

    pub fn encode(&self) -> [u8; AmFirst::LEN] {
        let mut out = [0; AmFirst::LEN];
        let mut w = Writer::new(&mut out);
        w.u64(self.message);
        w.u64(self.ep);
        w.u64(self.total);
        out
    }

    pub fn decode(mut r: Reader<'_>) -> Option<AmFirst> {
        Some(AmFirst {
            message: r.u64()?,
            ep: r.u64()?,
            total: r.u64()?,
        })
    }
}

/// What stands before and behind the data of a later part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmMiddle {
    pub offset: u64,
    pub message: u64,
    pub ep: u64,
}

impl AmMiddle {
    pub const HEAD: usize = 8;
    pub const END: usize = 16;

    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u64(self.offset);
    }

    /// The bytes behind the data.
    pub fn end(&self) -> [u8; AmMiddle::END] {
        let mut out = [0; AmMiddle::END];
        let mut w = Writer::new(&mut out);
        w.u64(self.message);
        w.u64(self.ep);
        out
    }

    pub fn split(message: &[u8]) -> Option<(AmMiddle, &[u8])> {
        let mut r = Reader::new(message);
        let offset = r.u64()?;
        let data = r.bytes(r.rest().len().checked_sub(AmMiddle::END)?)?;
        let (message, ep) = (r.u64()?, r.u64()?);
        let middle = AmMiddle {
            offset,
            message,
            ep,
        };
        Some((middle, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(len: usize, encode: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = vec![0; len];
        let mut w = Writer::new(&mut out);
        encode(&mut w);
        assert_eq!(w.len(), len);
        out
    }

    fn no_part(bytes: &[u8], is_whole: impl Fn(&[u8]) -> bool) {
        for n in 0..bytes.len() {
            assert!(!is_whole(&bytes[..n]), "{n}");
        }
    }

    #[test]
    fn bytes_of_a_wireup_message() {
        let wireup = Wireup {
            kind: WireupKind::Request,
            error_mode: 1,
            number: 0x0302,
            sender: 0x0b0a_0908_0706_0504,
            receiver: 0,
        };
        let bytes = wireup.encode();
        assert_eq!(
            bytes,
            *b"\x01\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\0\0\0\0\0\0\0\0"
        );
        no_part(&bytes, |part| Wireup::split(part).is_some());
        for kind in [WireupKind::Reply, WireupKind::Other(5)] {
            let other = Wireup { kind, ..wireup };
            let bytes = [&other.encode()[..], b"address"].concat();
            assert_eq!(Wireup::split(&bytes), Some((other, &b"address"[..])));
        }
    }

    #[test]
    fn bytes_of_active_messages() {
        let am = Am {
            id: 0x0201,
            flags: Am::REPLY,
            header: 3,
        };
        let head = written(Am::LEN, |w| am.encode(w));
        assert_eq!(head, *b"\x01\x02\x01\0\x03\0\0\0");
        let first = AmFirst {
            message: 1,
            ep: 2,
            total: 3,
        };
        assert_eq!(first.encode()[..9], *b"\x01\0\0\0\0\0\0\0\x02");
        let whole = [&head[..], b"data", b"hdr", &first.encode()].concat();
        let (back, data, header, end) = Am::split(&whole, AmFirst::LEN).unwrap();
        assert_eq!((back, data, header), (am, &b"data"[..], &b"hdr"[..]));
        assert_eq!(AmFirst::decode(end), Some(first));
        for n in 0..Am::LEN + 3 + AmFirst::LEN {
            assert!(Am::split(&whole[..n], AmFirst::LEN).is_none(), "{n}");
        }

        let middle = AmMiddle {
            offset: 4,
            message: 5,
            ep: 6,
        };
        let mut whole = written(AmMiddle::HEAD, |w| middle.encode(w));
        whole.extend_from_slice(b"more");
        whole.extend_from_slice(&middle.end());
        assert_eq!(
            whole,
            *b"\x04\0\0\0\0\0\0\0more\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0"
        );
        assert_eq!(AmMiddle::split(&whole), Some((middle, &b"more"[..])));
        no_part(&whole[..24], |part| AmMiddle::split(part).is_some());

        let stream = Stream { ep: 7 };
        let bytes = written(Stream::LEN, |w| stream.encode(w));
        assert_eq!(bytes, *b"\x07\0\0\0\0\0\0\0");
        no_part(&bytes, |part| Stream::split(part).is_some());
        assert_eq!(Stream::split(&bytes), Some((stream, &[][..])));
    }

    #[test]
    fn bytes_of_tagged_messages() {
        let eager = Eager {
            tag: 0x0807_0605_0403_0201,
        };
        let bytes = written(Eager::LEN, |w| eager.encode(w));
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        no_part(&bytes, |part| Eager::split(part).is_some());
        assert_eq!(
            Eager::split(b"\x01\x02\x03\x04\x05\x06\x07\x08ab"),
            Some((eager, &b"ab"[..]))
        );

        let first = EagerFirst {
            tag: 1,
            total: 2,
            message: 3,
        };
        let bytes = written(EagerFirst::LEN, |w| first.encode(w));
        assert_eq!(
            bytes,
            *b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"
        );
        no_part(&bytes, |part| EagerFirst::split(part).is_some());
        assert_eq!(EagerFirst::split(&bytes), Some((first, &[][..])));

        let middle = EagerMiddle {
            message: 3,
            offset: 4,
        };
        let bytes = written(EagerMiddle::LEN, |w| middle.encode(w));
        assert_eq!(bytes, *b"\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0");
        no_part(&bytes, |part| EagerMiddle::split(part).is_some());
        assert_eq!(EagerMiddle::split(&bytes), Some((middle, &[][..])));
    }
}
