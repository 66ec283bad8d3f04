//! Headers of UCP's messages, one active-message id each.
//!
//! A header states its encoded length (`LEN`); what follows it in the message is payload. Requests
//! and endpoints travel as the opaque 64-bit ids their owner gave out.

use super::{Reader, Writer};

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
    /// A request of the peer is done, with a status.
    Ack,
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

macro_rules! header {
    ($(#[$m:meta])* $name:ident { $($(#[$fm:meta])* $f:ident: $t:ident,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$fm])* pub $f: $t,)*
        }

        impl Header for $name {
            const LEN: usize = 0 $(+ size_of::<$t>())*;

            #[inline]
            fn encode(&self, w: &mut Writer<'_>) {
                $(w.$t(self.$f);)*
            }

            #[inline]
            fn decode(r: &mut Reader<'_>) -> Option<$name> {
                Some($name { $($f: r.$t()?,)* })
            }
        }
    };
}

header! {
    /// Before anything else on an endpoint: who sends, followed by the sender's worker address.
    WireupHdr {
        /// The sender's worker.
        uuid: u64,
        /// The sender's endpoint.
        ep: u64,
        /// How many endpoints this worker made to the receiver before.
        serial: u32,
        /// Whether the sender's application asked for error handling.
        handles_errors: u8,
        /// What the sender's process confirms, if the address has entries of this host.
        ticket: u64,
    }
}

header! {
    TagHdr { tag: u64, }
}

header! {
    /// Tag, who to acknowledge the match to.
    TagSyncHdr { tag: u64, uuid: u64, ep: u64, request: u64, }
}

header! {
    /// The kind-specific header (`AmId` of `kind`) follows, then the first bytes of the message.
    FirstHdr {
        /// The sender's worker and its number for this message.
        uuid: u64,
        message: u64,
        /// Bytes of the whole message.
        total: u64,
        kind: u8,
    }
}

header! {
    /// A later fragment. With offset `CUT`, the word that no more fragments come.
    MiddleHdr { uuid: u64, message: u64, offset: u64, }
}

/// Value of `MiddleHdr::offset`: the sender aborted the message.
pub const CUT: u64 = u64::MAX;

header! {
    /// Followed by `key` bytes of a remote key for the data, `epoch_key` bytes of a remote key for the epoch word,
    /// and the kind-specific header.
    RtsHdr {
        uuid: u64,
        ep: u64,
        /// The sender's request.
        request: u64,
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
    RtrHdr {
        /// The sender's request and the receiver's.
        request: u64,
        receiver: u64,
        /// Bytes wanted.
        length: u64,
        /// Where they are to be written, with the remote key that follows, if any; 0 when they are to
        /// be sent.
        address: u64,
        /// The receiver's worker and endpoint: whom to tell that the send is over.
        uuid: u64,
        ep: u64,
    }
}

header! {
    DataHdr { receiver: u64, offset: u64, }
}

header! {
    AckHdr { request: u64, status: u8, }
}

header! {
    /// `length` bytes of the receiver's request were put. The puts of one request may go by several connections.
    PutDoneHdr { receiver: u64, length: u64, }
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
    /// The sender's worker and endpoint.
    AmReplyHdr { uuid: u64, ep: u64, }
}

header! {
    StreamHdr { uuid: u64, ep: u64, }
}

header! {
    /// Writes the bytes that follow.
    PutHdr { uuid: u64, ep: u64, region: u64, address: u64, }
}

header! {
    GetHdr { uuid: u64, ep: u64, region: u64, address: u64, length: u64, request: u64, }
}

header! {
    /// Bytes of a `Get` follow.
    GetReplyHdr { request: u64, offset: u64, status: u8, }
}

header! {
    AmoHdr {
        uuid: u64,
        ep: u64,
        region: u64,
        address: u64,
        value: u64,
        compare: u64,
        /// 0 when no result is wanted.
        request: u64,
        op: u8,
        size: u8,
    }
}

header! {
    AmoReplyHdr { request: u64, value: u64, status: u8, }
}

header! {
    FenceHdr { uuid: u64, ep: u64, request: u64, }
}

header! {
    /// The sender's endpoint is closed.
    CloseHdr {
        uuid: u64,
        ep: u64,
        /// 1: by force; what was under way is lost.
        forced: u8,
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
            uuid: 1,
            ep: 2,
            request: 3,
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
}
