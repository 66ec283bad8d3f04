//! Headers of upstream's messages between workers. Each is the id of an active message; ids of endpoints and requests are
//! what their owner gave out.
//!
//! | id | header | followed by |
//! |---|---|---|
//! | 1 | type (1), error handling mode (1), number (2), endpoint of the sender (8), of the receiver (8) | an address |
//! | 2 | tag (8) | the message |
//! | 3 | tag (8), length of the whole (8), number of the message (8) | its first bytes |
//! | 4 | number of the message (8), offset (8) | its bytes from there on |
//! | 6 | tag (8), endpoint of the receiver (8), request of the sender (8) | a synchronous message |
//! | 7 | as 3, endpoint of the receiver (8), request of the sender (8) | its first bytes; the others come as 4 |
//! | 8 | request of the sender (8), status (1): a synchronous message is matched | |
//! | 9 | tag or header of an active message (8), endpoint of the receiver (8), request of the sender (8), address (8), length (8), kind (1) | a key, user's header |
//! | 10 | request of the sender (8), status (1): the receiver of a rendezvous is done | |
//! | 11 | request of the sender (8), of the receiver (8), address (8), length (8), offset (8) | a key |
//! | 12 | request of the receiver (8), offset (8) | bytes of the data from there on |
//! | 15 | endpoint of the receiver (8) | bytes of its stream |
//! | 16 | request of the receiver (8), status (1): data are put where an RTR said | length (8), of all such messages that of the whole; without it that is the only one |
//! | 17 | address (8), endpoint of the receiver (8), memory type (4) | bytes to be written |
//! | 18 | address (8), length (8), endpoint of the receiver (8), request of the sender (8), memory type (4) | |
//! | 19 | request of the receiver (8), offset (8) | bytes that were read |
//! | 20 | address (8), endpoint of the receiver (8), request of the sender or 0 (8), size (1), operation (1) | operand, and what a compare-and-swap writes, of that size |
//! | 21 | request of the receiver (8) | the value before |
//! | 22 | endpoint of the receiver (8): one put, or one atomic operation without request, is done | |
//! | 23 | id (2), flags (2), length of the user's header (4) | data, user's header |
//! | 26 | as 23 | the same, endpoint of the receiver (8), for a reply by it |
//! | 24 | as 23 | the first bytes of the data, user's header, number of the message (8), endpoint of the receiver (8), length of all data (8) |
//! | 25 | offset (8) | bytes of the data from there on, number of the message (8), endpoint of the receiver (8) |

use crate::wire::header::{Header, header};
use crate::wire::{Reader, Writer};

pub const WIREUP: u8 = 1;
pub const EAGER: u8 = 2;
pub const EAGER_FIRST: u8 = 3;
pub const EAGER_MIDDLE: u8 = 4;
pub const SYNC: u8 = 6;
pub const SYNC_FIRST: u8 = 7;
pub const SYNC_ACK: u8 = 8;
pub const RTS: u8 = 9;
pub const ATS: u8 = 10;
pub const RTR: u8 = 11;
pub const DATA: u8 = 12;
pub const STREAM: u8 = 15;
pub const ATP: u8 = 16;
pub const PUT: u8 = 17;
pub const GET: u8 = 18;
pub const GET_REPLY: u8 = 19;
pub const ATOMIC: u8 = 20;
pub const ATOMIC_REPLY: u8 = 21;
pub const COMPLETION: u8 = 22;
pub const AM: u8 = 23;
pub const AM_FIRST: u8 = 24;
pub const AM_MIDDLE: u8 = 25;
pub const AM_WITH_REPLY: u8 = 26;

/// What a wire-up message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireupKind {
    /// By a lane of a connection by socket address: the server asks for the client's lanes.
    PreRequest,
    /// A worker that was connected to by its address gets to know an endpoint.
    Request,
    /// The answer: the receiver's endpoint.
    Reply,
    /// The client has the lanes of a reply.
    Ack,
    /// Asks whether an endpoint is there.
    Check,
    /// An endpoint is not there any more.
    Removed,
    /// Of nobody that these formats know.
    Other(u8),
}

/// The kinds, in the order of their numbers.
const KINDS: [WireupKind; 6] = [
    WireupKind::PreRequest,
    WireupKind::Request,
    WireupKind::Reply,
    WireupKind::Ack,
    WireupKind::Check,
    WireupKind::Removed,
];

impl core::fmt::Display for WireupKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            WireupKind::PreRequest => f.write_str("a wire-up pre-request"),
            WireupKind::Request => f.write_str("a wire-up request"),
            WireupKind::Reply => f.write_str("a wire-up reply"),
            WireupKind::Ack => f.write_str("a wire-up acknowledgement"),
            WireupKind::Check => f.write_str("a check of an endpoint"),
            WireupKind::Removed => f.write_str("the notice that an endpoint is gone"),
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

    pub fn encode(&self) -> [u8; Wireup::LEN] {
        let mut out = [0; Wireup::LEN];
        let mut w = Writer::new(&mut out);
        w.u8(match self.kind {
            WireupKind::PreRequest => 0,
            WireupKind::Request => 1,
            WireupKind::Reply => 2,
            WireupKind::Ack => 3,
            WireupKind::Check => 4,
            WireupKind::Removed => 5,
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
            kind: {
                let kind = r.u8()?;
                let known = KINDS.get(usize::from(kind)).copied();
                known.unwrap_or(WireupKind::Other(kind))
            },
            error_mode: r.u8()?,
            number: r.u16()?,
            sender: r.u64()?,
            receiver: r.u64()?,
        };
        Some((wireup, r.rest()))
    }
}

header! {
    /// The header of a tagged message of one part.
    Eager { tag: u64, }
}

header! {
    /// The header of the first part of a tagged message.
    EagerFirst { tag: u64, total: u64, message: u64, }
}

header! {
    /// The header of a later part, of a synchronous message too.
    EagerMiddle { message: u64, offset: u64, }
}

header! {
    /// The header of a synchronous message of one part.
    Sync {
        tag: u64,
        /// The receiver's endpoint.
        ep: u64,
        /// The sender's request.
        request: u64,
    }
}

header! {
    /// The header of the first part of a synchronous message.
    SyncFirst {
        tag: u64,
        total: u64,
        message: u64,
        /// As in `Sync`.
        ep: u64,
        request: u64,
    }
}

header! {
    /// Ready to send: the receiver then asks for the data.
    Rts {
        /// The tag, or the header of an active message (`Am`).
        header: u64,
        /// The receiver's endpoint.
        ep: u64,
        /// The sender's request.
        request: u64,
        /// Where the data are, for a receiver that reads them by the key that follows; else 0.
        address: u64,
        size: u64,
        kind: u8,
    }
}

impl Rts {
    /// Of `kind`.
    pub const TAG: u8 = 0;
    pub const AM: u8 = 1;
}

header! {
    /// To the sender of a synchronous message: it is matched. To that of a rendezvous: its receiver needs nothing
    /// more. To its receiver: data are put. Some releases add the number of bytes.
    Ack { request: u64, status: u8, }
}

header! {
    /// Asks for the data of a rendezvous.
    Rtr {
        /// The sender's request, and the receiver's.
        sender: u64,
        receiver: u64,
        /// Where a sender may put them by the key that follows; else 0.
        address: u64,
        size: u64,
        /// Of the message, where the data begin.
        offset: u64,
    }
}

header! {
    /// Data that an `Rtr` asked for.
    Data {
        receiver: u64,
        /// From where on in what was asked for.
        offset: u64,
    }
}

header! {
    /// The header of bytes of a stream.
    Stream {
        /// The receiver's endpoint.
        ep: u64,
    }
}

header! {
    /// Writes memory of the receiver.
    Put {
        address: u64,
        /// The receiver's endpoint.
        ep: u64,
        memory: u32,
    }
}

header! {
    /// Asks for memory of the receiver.
    Get {
        address: u64,
        length: u64,
        /// The receiver's endpoint.
        ep: u64,
        /// The sender's request.
        request: u64,
        memory: u32,
    }
}

header! {
    /// Memory that a `Get` asked for.
    GetReply { request: u64, offset: u64, }
}

header! {
    /// Changes a word of the receiver's memory.
    Atomic {
        address: u64,
        /// The receiver's endpoint.
        ep: u64,
        /// The sender's request, which gets the value before; else 0.
        request: u64,
        size: u8,
        operation: u8,
    }
}

header! {
    /// The value before an `Atomic` with a request.
    AtomicReply { request: u64, }
}

header! {
    /// A `Put`, or an `Atomic` without a request, is done.
    Completion {
        /// The receiver's endpoint.
        ep: u64,
    }
}

header! {
    /// The header of an active message.
    Am {
        id: u16,
        flags: u16,
        /// Bytes of the user's header.
        header: u32,
    }
}

impl Am {
    /// Of `flags`: the handler gets an endpoint for a reply.
    pub const REPLY: u16 = 1;

    /// As a number, as an RTS has it.
    pub fn word(&self) -> u64 {
        u64::from(self.id) | u64::from(self.flags) << 16 | u64::from(self.header) << 32
    }

    pub fn of_word(word: u64) -> Am {
        Am {
            id: word as u16,
            flags: (word >> 16) as u16,
            header: (word >> 32) as u32,
        }
    }

    /// The header, the data, the user's header, and the last `end` bytes.
    pub fn parts(message: &[u8], end: usize) -> Option<(Am, &[u8], &[u8], Reader<'_>)> {
        let (message, end) = message.split_at_checked(message.len().checked_sub(end)?)?;
        let (am, rest) = Am::split(message)?;
        let (data, header) = rest.split_at_checked(rest.len().checked_sub(am.header as usize)?)?;
        Some((am, data, header, Reader::new(end)))
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
        for kind in KINDS.into_iter().chain([WireupKind::Other(6)]) {
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
        assert_eq!(head, am.word().to_le_bytes());
        assert_eq!(Am::of_word(am.word()), am);
        let first = AmFirst {
            message: 1,
            ep: 2,
            total: 3,
        };
        assert_eq!(first.encode()[..9], *b"\x01\0\0\0\0\0\0\0\x02");
        let whole = [&head[..], b"data", b"hdr", &first.encode()].concat();
        let (back, data, header, end) = Am::parts(&whole, AmFirst::LEN).unwrap();
        assert_eq!((back, data, header), (am, &b"data"[..], &b"hdr"[..]));
        assert_eq!(AmFirst::decode(end), Some(first));
        for n in 0..Am::LEN + 3 + AmFirst::LEN {
            assert!(Am::parts(&whole[..n], AmFirst::LEN).is_none(), "{n}");
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

    /// The bytes of a header, whose numbers are 1, 2, 3 and so on.
    fn check<H: Header + PartialEq + core::fmt::Debug>(header: H, widths: &[usize]) {
        let bytes = written(H::LEN, |w| header.encode(w));
        let number = |(n, width): (usize, &usize)| {
            let mut field = vec![0; *width];
            field[0] = n as u8 + 1;
            field
        };
        let fields = widths.iter().enumerate().flat_map(number);
        assert_eq!(bytes, fields.collect::<Vec<u8>>());
        no_part(&bytes, |part| H::split(part).is_some());
        let longer = [&bytes[..], b"rest"].concat();
        assert_eq!(H::split(&longer), Some((header, &b"rest"[..])));
    }

    #[test]
    fn bytes_of_accesses_of_memory() {
        let put = Put {
            address: 1,
            ep: 2,
            memory: 3,
        };
        check(put, &[8, 8, 4]);
        let get = Get {
            address: 1,
            length: 2,
            ep: 3,
            request: 4,
            memory: 5,
        };
        check(get, &[8, 8, 8, 8, 4]);
        let reply = GetReply {
            request: 1,
            offset: 2,
        };
        check(reply, &[8, 8]);
        let atomic = Atomic {
            address: 1,
            ep: 2,
            request: 3,
            size: 4,
            operation: 5,
        };
        check(atomic, &[8, 8, 8, 1, 1]);
        check(AtomicReply { request: 1 }, &[8]);
        check(Completion { ep: 1 }, &[8]);
    }

    #[test]
    fn bytes_of_synchronous_messages_and_rendezvous() {
        let sync = Sync {
            tag: 1,
            ep: 2,
            request: 3,
        };
        check(sync, &[8, 8, 8]);
        let first = SyncFirst {
            tag: 1,
            total: 2,
            message: 3,
            ep: 4,
            request: 5,
        };
        check(first, &[8; 5]);
        let rts = Rts {
            header: 1,
            ep: 2,
            request: 3,
            address: 4,
            size: 5,
            kind: 6,
        };
        check(rts, &[8, 8, 8, 8, 8, 1]);
        let ack = Ack {
            request: 1,
            status: 2,
        };
        check(ack, &[8, 1]);
        let rtr = Rtr {
            sender: 1,
            receiver: 2,
            address: 3,
            size: 4,
            offset: 5,
        };
        check(rtr, &[8; 5]);
        let data = Data {
            receiver: 1,
            offset: 2,
        };
        check(data, &[8, 8]);
    }
}
