//! The private data of connections between RDMA devices: how many bytes there are (1), 0 or the number of a status that
//! refuses (1), and the bytes. The network adds zeros behind them.
#![forbid(unsafe_code)]

use crate::ucs::Status;

/// What a connection request has room for, which is less than what answers have.
const ROOM: usize = 56;
const HEADER_LEN: usize = 2;
const ELSEWHERE: u8 = Status::BUSY.code() as u8;
/// Most bytes of private data.
pub const MAX_PRIVATE: usize = ROOM - HEADER_LEN;

/// What the other side sends with a request, an agreement or a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    Private(&'a [u8]),
    Refused,
    /// The client has asked by another manager before.
    Elsewhere,
}

/// At most `MAX_PRIVATE` bytes of private data.
pub fn encode(message: Message<'_>) -> Vec<u8> {
    match message {
        Message::Private(private) => {
            let private = &private[..private.len().min(MAX_PRIVATE)];
            [&[private.len() as u8, 0], private].concat()
        }
        // As the byte that upstream reads, too.
        Message::Refused => vec![0, Status::REJECTED.code() as u8],
        Message::Elsewhere => vec![0, ELSEWHERE],
    }
}

/// `None` for what no peer writes.
pub fn decode(bytes: &[u8]) -> Option<Message<'_>> {
    match bytes {
        [len, 0, rest @ ..] if usize::from(*len) <= MAX_PRIVATE => {
            rest.get(..(*len).into()).map(Message::Private)
        }
        [0, ELSEWHERE, ..] => Some(Message::Elsewhere),
        [0, status, ..] if *status != 0 => Some(Message::Refused),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_with_what_the_network_adds() {
        for len in 0..=MAX_PRIVATE {
            let private = vec![7; len];
            let mut bytes = encode(Message::Private(&private));
            assert_eq!(bytes.len(), HEADER_LEN + len);
            assert_eq!(decode(&bytes), Some(Message::Private(&private)));
            bytes.resize(196, 0);
            assert_eq!(decode(&bytes), Some(Message::Private(&private)));
        }
        assert_eq!(encode(Message::Private(&[1, 2])), [2, 0, 1, 2]);
        let mut refused = encode(Message::Refused);
        assert_eq!(refused, [0, 0xe9]);
        refused.resize(148, 0);
        assert_eq!(decode(&refused), Some(Message::Refused));
        let mut elsewhere = encode(Message::Elsewhere);
        elsewhere.resize(148, 0);
        assert_eq!(decode(&elsewhere), Some(Message::Elsewhere));
    }

    #[test]
    fn what_is_refused() {
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[0]), None);
        assert_eq!(decode(&[3, 0, 1, 2]), None);
        assert_eq!(decode(&[1, 0xe9, 1]), None);
        let mut long = [0; 100];
        long[0] = MAX_PRIVATE as u8 + 1;
        assert_eq!(decode(&long), None);
    }
}
