//! Headers of UCP's messages, one active-message id each.
//!
//! A header states its encoded length (`LEN`); what follows it in the message is payload. Requests
//! and endpoints travel as the opaque ids their owner gave out (`id`).

use super::id::{EpId, EpName, RequestId, RequestName};
use super::{Reader, Writer};
use crate::c::UCP_ERR_HANDLING_MODE_FAILOVER;
use smallvec::SmallVec;

/// Active-message ids of UCP on every interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AmId {
    Wireup = 1,
    /// Eight bytes of tag, then the whole message.
    TagOnly,
    /// A whole message whose sender waits for a match.
    TagSync,
    /// First fragment of a longer message, of any kind.
    First,
    /// Any later fragment.
    Middle,
    /// Ready to send: describes a message in the memory of its sender.
    Rts,
    /// Ready to receive: asks the sender for the data.
    Rtr,
    /// A fragment of data that an `Rtr` asked for.
    Data,
    /// To a sender: its synchronous message is matched, or the receiver has the data of its rendezvous message, or cannot
    /// have them.
    SendAck,
    /// A whole user's active message.
    Am,
    Stream,
    Put,
    Get,
    GetReply,
    Amo,
    AmoReply,
    /// Asks to acknowledge all memory accesses before it.
    Fence,
    Close,
    /// Data that an `Rtr` asked for were put into the receiver's memory.
    PutDone,
    /// To a receiver: the data that an `Rtr` asked for will not come.
    DataFailed,
    /// The accesses before a `Fence` are done.
    FenceAck,
    /// The receiver of a `First` knows the message: its other fragments may come by any connection.
    FirstAck,
    /// A path of an endpoint in mode FAILOVER begins: whose it is. Or, on one that is there, asks for an acknowledgement.
    Join,
    /// A numbered message of such an endpoint.
    Sequenced,
    /// Numbered messages have come.
    SequencedAck,
    /// No more numbered messages follow.
    SequencedEnd,
    /// The sender's endpoint has failed: replies of it and its messages may be lost.
    EpFailed,
    /// A part of the data that an `Rtr` asked for stands in memory of the sender's that the receiver maps.
    Part,
    /// To a sender: a part has been copied from there.
    PartTaken,
}

impl core::fmt::Display for AmId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            AmId::Wireup => "a wire-up message",
            AmId::TagOnly => "a tagged message",
            AmId::TagSync => "a synchronous tagged message",
            AmId::First => "the first fragment of a message",
            AmId::Middle => "a fragment of a message",
            AmId::Rts => "an RTS of a rendezvous",
            AmId::Rtr => "an RTR of a rendezvous",
            AmId::Data => "a fragment of a rendezvous",
            AmId::SendAck => "an acknowledgement",
            AmId::Am => "an active message",
            AmId::Stream => "a stream message",
            AmId::Put => "a put",
            AmId::Get => "a get",
            AmId::GetReply => "the reply to a get",
            AmId::Amo => "an atomic operation",
            AmId::AmoReply => "the reply to an atomic operation",
            AmId::Fence => "a fence",
            AmId::Close => "a close message",
            AmId::PutDone => "the notice of a put",
            AmId::DataFailed => "the failure of a rendezvous",
            AmId::FenceAck => "the acknowledgement of a fence",
            AmId::FirstAck => "the acknowledgement of a first fragment",
            AmId::Join => "the beginning of a path",
            AmId::Sequenced => "a numbered message",
            AmId::SequencedAck => "the acknowledgement of numbered messages",
            AmId::SequencedEnd => "the end of numbered messages",
            AmId::EpFailed => "the failure of an endpoint",
            AmId::Part => "a part of a rendezvous in mapped memory",
            AmId::PartTaken => "the receipt of a part of a rendezvous",
        })
    }
}

/// A message header with a fixed length.
pub trait Header: Sized {
    const LEN: usize;
    fn encode(&self, w: &mut Writer<'_>);
    fn decode(r: &mut Reader<'_>) -> Option<Self>;

    /// Splits a message into its header and what follows.
    #[inline]
    fn split(message: &[u8]) -> Option<(Self, &[u8])> {
        let mut r = Reader::new(message);
        let h = Self::decode(&mut r)?;
        Some((h, r.rest()))
    }
}

/// A member of a header.
pub(super) trait Field: Sized {
    const LEN: usize;
    fn encode(self, w: &mut Writer<'_>);
    fn decode(r: &mut Reader<'_>) -> Option<Self>;
}

macro_rules! number_field {
    ($($t:ident)*) => {$(
        impl Field for $t {
            const LEN: usize = size_of::<$t>();

            #[inline]
            fn encode(self, w: &mut Writer<'_>) {
                w.$t(self);
            }

            #[inline]
            fn decode(r: &mut Reader<'_>) -> Option<$t> {
                r.$t()
            }
        }
    )*};
}

number_field! { u8 u16 u32 u64 }

/// A field that consists of others.
macro_rules! compound_field {
    ($name:ident { $($f:tt: $t:ty),* }) => {
        impl Field for $name {
            const LEN: usize = 0 $(+ <$t as Field>::LEN)*;

            #[inline]
            fn encode(self, w: &mut Writer<'_>) {
                $(self.$f.encode(w);)*
            }

            #[inline]
            fn decode(r: &mut Reader<'_>) -> Option<$name> {
                Some($name { $($f: <$t>::decode(r)?,)* })
            }
        }
    };
}

compound_field! { EpId { 0: u64 } }
compound_field! { RequestId { 0: u64 } }
compound_field! { EpName { uuid: u64, id: EpId } }
compound_field! { RequestName { ep: EpName, id: RequestId } }

impl RequestName {
    pub const LEN: usize = <RequestName as Field>::LEN;

    /// The name alone.
    #[inline]
    pub fn to_bytes(self) -> [u8; RequestName::LEN] {
        let mut bytes = [0; RequestName::LEN];
        self.write(&mut bytes);
        bytes
    }

    /// Writes `to_bytes` to as many bytes.
    #[inline(always)]
    pub fn write(self, to: &mut [u8]) {
        self.encode(&mut Writer::new(to));
    }

    /// Back from `to_bytes`.
    #[inline]
    pub fn from_bytes(bytes: &[u8; RequestName::LEN]) -> Option<RequestName> {
        RequestName::decode(&mut Reader::new(bytes))
    }
}

macro_rules! header {
    ($(#[$m:meta])* $name:ident { $($(#[$fm:meta])* $f:ident: $t:ty,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$fm])* pub $f: $t,)*
        }

        impl $crate::wire::header::Header for $name {
            const LEN: usize = 0 $(+ <$t as $crate::wire::header::Field>::LEN)*;

            #[inline]
            fn encode(&self, w: &mut $crate::wire::Writer<'_>) {
                $($crate::wire::header::Field::encode(self.$f, w);)*
            }

            #[inline]
            fn decode(r: &mut $crate::wire::Reader<'_>) -> Option<$name> {
                Some($name { $($f: <$t as $crate::wire::header::Field>::decode(r)?,)* })
            }
        }
    };
}

pub(super) use header;

header! {
    /// Before anything else on an endpoint: who sends, followed by the sender's worker address.
    WireupHdr {
        /// The sender's endpoint.
        ep: EpName,
        /// How many endpoints this worker made to the receiver before.
        serial: u32,
        /// The sender's mode of error handling.
        err_mode: u8,
        /// What the sender's process confirms, if the address has entries of this host.
        ticket: u64,
    }
}

impl WireupHdr {
    /// Whether the sender's application asked for error handling.
    pub fn handles_errors(&self) -> bool {
        self.err_mode != 0
    }

    /// Whether the sender's messages are numbered, and those back are to be.
    pub fn uses_failover(&self) -> bool {
        u32::from(self.err_mode) == UCP_ERR_HANDLING_MODE_FAILOVER
    }
}

header! {
    TagHdr { tag: u64, }
}

header! {
    /// Tag, who to acknowledge the match to.
    TagSyncHdr { tag: u64, sender: RequestName, }
}

impl TagSyncHdr {
    /// As `split`, of a message whose first word is known.
    #[inline]
    pub fn split_rest(tag: u64, rest: &[u8]) -> Option<(TagSyncHdr, &[u8])> {
        let mut r = Reader::new(rest);
        let sender = Field::decode(&mut r)?;
        Some((TagSyncHdr { tag, sender }, r.rest()))
    }
}

header! {
    /// The kind-specific header (`AmId` of `kind`) follows, then the first bytes of the message.
    FirstHdr {
        /// The sender's worker and its number for this message.
        uuid: u64,
        message: u64,
        /// Bytes of the whole message.
        total: u64,
        /// The sender's endpoint, and its request if it waits for a `FirstAck`.
        ep: EpId,
        request: RequestId,
        kind: u8,
    }
}

header! {
    FirstAckHdr { request: RequestId, }
}

header! {
    /// A later fragment. With offset `CUT`, the word that no more fragments come.
    MiddleHdr { uuid: u64, message: u64, offset: u64, }
}

/// Value of `MiddleHdr::offset`: the sender aborted the message.
pub const CUT: u64 = u64::MAX;

header! {
    /// Followed by `key` bytes of a remote key for the data, `epoch_key` bytes of a remote key for the epoch word,
    /// and the kind-specific header. Behind the key of a list's memory, within the `key` bytes, stand its extents. Older versions
    /// refuse such a key, and ask for the data.
    RtsHdr {
        sender: RequestName,
        /// Bytes of the whole message.
        total: u64,
        /// Where a contiguous message stands at the sender; 0 when it is not contiguous.
        address: u64,
        /// Address of the sender's revocation epoch, and its value when this RTS was made; 0 when the buffer is never
        /// revoked.
        epoch_at: u64,
        epoch: u64,
        key: u16,
        epoch_key: u16,
        kind: u8,
    }
}

header! {
    /// Bytes of a message that follow each other at its sender.
    Extent { address: u64, length: u64, }
}

/// Extents that an RTS names, at most.
pub const MOST_EXTENTS: usize = 16;

/// Reads the extents of a message of `total` bytes. `None` where they are none, or of another one.
pub fn take_extents(mut bytes: &[u8], total: u64) -> Option<Extents> {
    let mut extents = Extents::new();
    let mut left = total;
    while left > 0 && extents.len() < MOST_EXTENTS {
        let (extent, rest) = Extent::split(bytes)?;
        left = left.checked_sub(extent.length)?;
        extents.push(extent);
        bytes = rest;
    }
    (left == 0 && bytes.is_empty() && !extents.is_empty()).then_some(extents)
}

/// Most lists have few.
pub type Extents = SmallVec<[Extent; 4]>;

header! {
    RtrHdr {
        /// The sender's request and the receiver's.
        request: RequestId,
        receiver: RequestId,
        /// Bytes wanted.
        length: u64,
        /// Where they are to be written, with the remote key that follows, if any; 0 when they are to
        /// be sent.
        address: u64,
        /// The receiver's endpoint: whom to tell that the send is over.
        ep: EpName,
    }
}

header! {
    DataHdr { receiver: RequestId, offset: u64, }
}

header! {
    /// `length` bytes of the data, from `offset` on, stand at `address`, in the memory whose key the RTS had.
    PartHdr {
        sender: RequestName,
        receiver: RequestId,
        offset: u64,
        length: u64,
        address: u64,
    }
}

header! {
    PartTakenHdr { request: RequestId, offset: u64, }
}

header! {
    AckHdr { request: RequestId, status: u8, }
}

impl AckHdr {
    /// As `TagSyncHdr::split_rest`.
    #[inline]
    pub fn split_rest(request: u64, rest: &[u8]) -> Option<(AckHdr, &[u8])> {
        let mut r = Reader::new(rest);
        let status = Field::decode(&mut r)?;
        let request = RequestId(request);
        Some((AckHdr { request, status }, r.rest()))
    }
}

header! {
    /// `length` bytes of the receiver's request were put. The puts of one request may go by several connections.
    PutDoneHdr { receiver: RequestId, length: u64, }
}

header! {
    /// A user's active message. Behind it stand an `AmReplyHdr` if `flags` has `AM_REPLY`, the
    /// user's header of `header` bytes, and the data.
    AmHdr {
        header: u32,
        id: u16,
        flags: u8,
        /// 0: keeps the whole at eight bytes, what a short message has room for.
        unused: u8,
    }
}

impl AmHdr {
    /// The encoded header as one number.
    #[inline]
    pub fn word(&self) -> u64 {
        u64::from(self.header) | u64::from(self.id) << 32 | u64::from(self.flags) << 48
    }

    /// The id of a header that says nothing else, by its word.
    #[inline]
    pub fn plain_id(word: u64) -> Option<u16> {
        let id = (word >> 32) as u16;
        (word == u64::from(id) << 32).then_some(id)
    }
}

/// Of `AmHdr::flags`: the handler gets an endpoint for a reply.
pub const AM_REPLY: u8 = 1;

header! {
    AmReplyHdr { ep: EpName, }
}

header! {
    StreamHdr { ep: EpName, }
}

header! {
    /// Writes the bytes that follow.
    PutHdr { ep: EpName, region: u64, address: u64, }
}

header! {
    GetHdr { ep: EpName, region: u64, address: u64, length: u64, request: RequestId, }
}

header! {
    /// Bytes of a `Get` follow.
    GetReplyHdr { request: RequestId, offset: u64, status: u8, }
}

header! {
    AmoHdr {
        ep: EpName,
        region: u64,
        address: u64,
        value: u64,
        compare: u64,
        /// `NONE` when no result is wanted.
        request: RequestId,
        op: u8,
        size: u8,
    }
}

header! {
    AmoReplyHdr { request: RequestId, value: u64, status: u8, }
}

header! {
    FenceHdr { sender: RequestName, }
}

header! {
    /// The sender's endpoint is closed.
    CloseHdr {
        ep: EpName,
        /// 1: by force; what was under way is lost.
        forced: u8,
    }
}

header! {
    EpFailedHdr {
        /// The endpoint that has failed.
        ep: EpName,
        /// The receiver's endpoint; `NONE` if its id is not known.
        peer: EpId,
    }
}

header! {
    /// First message on a path, followed by the sender's worker address.
    JoinHdr {
        ep: EpName,
        /// A random number of the sender's: who does not send it is somebody else.
        token: u64,
        /// The sender's number for this path.
        path: u32,
        /// Ascending: an acknowledgement tells which was the last one.
        probe: u32,
        /// The oldest message that is not acknowledged.
        oldest: u64,
        /// As in a `WireupHdr`.
        ticket: u64,
    }
}

header! {
    /// Followed by the message.
    SequencedHdr {
        ep: EpName,
        /// As in the `Join`; so below.
        token: u64,
        /// The messages of an endpoint are numbered from 0.
        number: u64,
        /// The path that it came by, by which it is acknowledged.
        path: u32,
        /// Which message it is (`AmId`).
        id: u8,
    }
}

header! {
    SequencedAckHdr {
        /// The sender's endpoint.
        ep: EpName,
        token: u64,
        /// All messages before this one have been handled.
        next: u64,
        path: u32,
        /// Of the last `Join`.
        probe: u32,
        /// 1: messages are not received any more, and the sender's endpoint fails.
        reset: u8,
    }
}

header! {
    SequencedEndHdr {
        ep: EpName,
        token: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_an_am_header_is_its_encoding() {
        let h = AmHdr {
            header: 0x0403_0201,
            id: 0x0605,
            flags: 7,
            unused: 0,
        };
        let mut buf = [0u8; AmHdr::LEN];
        h.encode(&mut Writer::new(&mut buf));
        assert_eq!(buf, h.word().to_le_bytes());
        assert_eq!(AmHdr::plain_id(h.word()), None);
        let plain = AmHdr {
            header: 0,
            flags: 0,
            ..h
        };
        assert_eq!(AmHdr::plain_id(plain.word()), Some(0x0605));
    }

    #[test]
    fn headers_come_back_and_short_ones_are_refused() {
        let h = RtsHdr {
            sender: RequestName {
                ep: EpName {
                    uuid: 1,
                    id: EpId(2),
                },
                id: RequestId(3),
            },
            total: u64::MAX,
            address: 5,
            epoch_at: 6,
            epoch: 7,
            key: 8,
            epoch_key: 9,
            kind: 10,
        };
        let mut buf = [0u8; RtsHdr::LEN + 3];
        let mut w = Writer::new(&mut buf);
        h.encode(&mut w);
        assert_eq!(w.len(), RtsHdr::LEN);
        let (back, rest) = RtsHdr::split(&buf).unwrap();
        assert_eq!((back, rest.len()), (h, 3));
        for n in 0..RtsHdr::LEN {
            assert!(RtsHdr::split(&buf[..n]).is_none());
        }
    }

    #[test]
    fn extents_make_up_the_message_or_are_refused() {
        let written = |extents: &[(u64, u64)]| {
            let mut bytes = vec![0; extents.len() * Extent::LEN];
            let mut w = Writer::new(&mut bytes);
            for &(address, length) in extents {
                Extent { address, length }.encode(&mut w);
            }
            bytes
        };
        let read = |extents: &[(u64, u64)], total| {
            let taken = take_extents(&written(extents), total)?;
            Some(
                taken
                    .iter()
                    .map(|e| (e.address, e.length))
                    .collect::<Vec<_>>(),
            )
        };
        let two = [(64, 3), (u64::MAX, 5)];
        assert_eq!(read(&two, 8), Some(two.to_vec()));
        assert_eq!(read(&two, 7), None);
        assert_eq!(read(&two, 9), None);
        assert_eq!(read(&two, 3), None);
        assert_eq!(read(&two, 0), None);
        assert_eq!(read(&[], 0), None);
        // A sum that wraps.
        assert_eq!(read(&[(0, u64::MAX), (0, 9)], 8), None);
        assert_eq!(read(&[(0, u64::MAX), (0, 1)], u64::MAX), None);
        let most = [(1, 1); MOST_EXTENTS];
        assert_eq!(read(&most, 16), Some(most.to_vec()));
        assert_eq!(read(&[(1, 1); MOST_EXTENTS + 1], 17), None);
        assert_eq!(read(&[(1, 0); MOST_EXTENTS + 1], 0), None);
        let bytes = written(&two);
        for n in 0..bytes.len() {
            assert_eq!(take_extents(&bytes[..n], 8), None);
        }
        assert_eq!(take_extents(&[bytes, vec![0]].concat(), 8), None);
    }

    #[test]
    fn a_header_is_also_read_from_its_first_word_and_the_rest() {
        let sender = RequestName {
            ep: EpName {
                uuid: 1,
                id: EpId(2),
            },
            id: RequestId(3),
        };
        let sync = TagSyncHdr { tag: 7, sender };
        let mut bytes = [5; TagSyncHdr::LEN + 2];
        sync.encode(&mut Writer::new(&mut bytes));
        let whole = TagSyncHdr::split(&bytes);
        assert_eq!(TagSyncHdr::split_rest(7, &bytes[8..]), whole);
        assert_eq!(whole, Some((sync, &[5, 5][..])));
        assert!(TagSyncHdr::split_rest(7, &bytes[8..TagSyncHdr::LEN - 1]).is_none());
        let ack = AckHdr {
            request: RequestId(9),
            status: 4,
        };
        assert_eq!(AckHdr::split_rest(9, &[4]), Some((ack, &[][..])));
        assert!(AckHdr::split_rest(9, &[]).is_none());
    }
}
