//! The byte format of the connection manager: ours, version 2, in the form of upstream UCX's.
//!
//! A message is a header of sixteen bytes, little endian, and a body of private data: length of the body (8), status
//! (1), and seven bytes that upstream does not look at: ours are magic (4), version, kind and detail. A client sends
//! HELLO, the server answers ACCEPT or REJECT, the client sends NOTIFY, with a few bytes of private data; the end of
//! the stream is the goodbye of either side. With a secret OPENING and ANSWER go before HELLO, and from there on all messages
//! go in the records of `auth`. Magic, version and REJECT keep their places in every version, so that a
//! peer of another one gets an answer.
//!
//! So each side finds out at once when the other is upstream's: a client's seven bytes are none of ours, and a server
//! sends back those that it got. A side that takes such peers goes on in their form: the client's private data, the
//! server's, and a message without a body from the client; a status other than 0 refuses.
#![forbid(unsafe_code)]

use crate::ucs::Status;
use crate::uct::auth;

const MAGIC: [u8; 4] = *b"fxcm";
/// The bytes that upstream does not look at.
pub type Spare = [u8; 7];
pub const VERSION: u8 = 2;
pub const HEADER_LEN: usize = 16;
/// Most private data of a NOTIFY.
pub const MAX_NOTIFY: usize = 16;
/// What upstream's clients send as private data has at least and at most so many bytes.
const UPSTREAM_BODY: core::ops::RangeInclusive<u64> = 9..=1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Hello,
    /// A client's HELLO that came back refused, or its OPENING that is none any more: from upstream's server.
    Returned,
    Accept,
    Reject(Why),
    Notify,
    /// With a secret: the two messages of the hand-shake before a HELLO. All that follows goes in records.
    Opening,
    Answer,
}

/// Why a client is turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The application said no.
    Declined,
    /// The server speaks another version.
    Version,
    /// More private data than the server takes.
    TooLong,
    /// The two do not have the same secret.
    Secret,
    /// It has asked by another manager as well.
    Elsewhere,
    Other(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub kind: Kind,
    /// Bytes of the body.
    pub len: usize,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Magic,
    /// The header of an upstream client's message.
    Upstream,
    Version(u8),
    Kind(u8),
    /// The body is longer than this side takes, or a body stands where none belongs.
    Length(u64),
    /// An encrypted record was not made by the other side for this place.
    Record,
}

impl core::fmt::Display for Bad {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Bad::Magic => f.write_str("it begins otherwise"),
            Bad::Upstream => f.write_str("it is a message of upstream UCX"),
            Bad::Version(version) => write!(f, "it is of version {version}"),
            Bad::Kind(kind) => write!(f, "its kind is {kind}"),
            Bad::Length(len) => write!(f, "its length is {len}"),
            Bad::Record => f.write_str("its encryption is wrong"),
        }
    }
}

pub fn encode(kind: Kind, body: &[u8]) -> Vec<u8> {
    // As the byte that upstream reads, too.
    let refused = Status::REJECTED.code() as u8;
    let (status, kind, detail) = match kind {
        Kind::Hello => (0, 1, 0),
        Kind::Returned => (refused, 1, 0),
        Kind::Accept => (0, 2, 0),
        Kind::Reject(why) => (
            refused,
            3,
            match why {
                Why::Declined => 0,
                Why::Version => 1,
                Why::TooLong => 2,
                Why::Secret => 3,
                Why::Elsewhere => 4,
                Why::Other(n) => n,
            },
        ),
        Kind::Notify => (0, 4, 0),
        Kind::Opening => (0, 5, 0),
        Kind::Answer => (0, 6, 0),
    };
    let mut out = Vec::with_capacity(HEADER_LEN + body.len());
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    out.push(status);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, kind, detail]);
    out.extend_from_slice(body);
    out
}

/// A message to a peer of upstream's.
pub fn encode_upstream(spare: Spare, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_LEN + body.len());
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    out.push(0);
    out.extend_from_slice(&spare);
    out.extend_from_slice(body);
    out
}

/// Reads a header of a peer that is upstream's, of which a message of the kind `due` may come. Also returns the bytes that
/// upstream does not look at.
pub fn decode_upstream(
    bytes: &[u8; HEADER_LEN],
    due: Kind,
    max_body: usize,
) -> Result<(Header, Spare), Bad> {
    let [l0, l1, l2, l3, l4, l5, l6, l7, status, spare @ ..] = *bytes;
    let len = u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
    let kind = if status == 0 { due } else { Kind::Returned };
    let max = match kind {
        Kind::Notify | Kind::Returned => MAX_NOTIFY,
        _ => max_body,
    };
    match usize::try_from(len) {
        Ok(n) if n <= max => Ok((Header { kind, len: n }, spare)),
        _ => Err(Bad::Length(len)),
    }
}

/// Reads a header; `max_body` is the most private data that this side takes.
pub fn decode(bytes: &[u8; HEADER_LEN], max_body: usize) -> Result<Header, Bad> {
    let [
        l0,
        l1,
        l2,
        l3,
        l4,
        l5,
        l6,
        l7,
        status,
        m0,
        m1,
        m2,
        m3,
        version,
        kind,
        detail,
    ] = *bytes;
    let len = u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
    if [m0, m1, m2, m3] != MAGIC {
        let upstream = status == 0 && UPSTREAM_BODY.contains(&len);
        return Err(if upstream { Bad::Upstream } else { Bad::Magic });
    }
    let kind = match kind {
        3 => Kind::Reject(match detail {
            0 => Why::Declined,
            1 => Why::Version,
            2 => Why::TooLong,
            3 => Why::Secret,
            4 => Why::Elsewhere,
            n => Why::Other(n),
        }),
        _ if version != VERSION => return Err(Bad::Version(version)),
        1 if status == 0 => Kind::Hello,
        5 if status == 0 && len == auth::OPENING_LEN as u64 => Kind::Opening,
        1 | 5 => Kind::Returned,
        2 => Kind::Accept,
        4 => Kind::Notify,
        6 => Kind::Answer,
        n => return Err(Bad::Kind(n)),
    };
    let (min, max) = match kind {
        Kind::Hello | Kind::Returned | Kind::Accept => (0, max_body),
        Kind::Notify => (0, MAX_NOTIFY),
        Kind::Reject(_) => (0, 0),
        Kind::Opening => (auth::OPENING_LEN, auth::OPENING_LEN),
        Kind::Answer => (auth::ANSWER_LEN, auth::ANSWER_LEN),
    };
    match usize::try_from(len) {
        Ok(n) if (min..=max).contains(&n) => Ok(Header { kind, len: n }),
        _ => Err(Bad::Length(len)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: &[u8]) -> [u8; HEADER_LEN] {
        bytes[..HEADER_LEN].try_into().unwrap()
    }

    #[test]
    fn bytes_of_version_2() {
        let hello = encode(Kind::Hello, b"ab");
        assert_eq!(hello, b"\x02\0\0\0\0\0\0\0\0fxcm\x02\x01\0ab");
        let reject = encode(Kind::Reject(Why::TooLong), &[]);
        assert_eq!(reject, b"\0\0\0\0\0\0\0\0\xe9fxcm\x02\x03\x02");
        let all = [
            Kind::Hello,
            Kind::Returned,
            Kind::Accept,
            Kind::Reject(Why::Declined),
            Kind::Reject(Why::Version),
            Kind::Reject(Why::TooLong),
            Kind::Reject(Why::Secret),
            Kind::Reject(Why::Elsewhere),
            Kind::Reject(Why::Other(77)),
            Kind::Notify,
        ];
        for kind in all {
            let bytes = encode(kind, &[]);
            assert_eq!(decode(&head(&bytes), 0), Ok(Header { kind, len: 0 }));
        }
        for (kind, len) in [
            (Kind::Opening, auth::OPENING_LEN),
            (Kind::Answer, auth::ANSWER_LEN),
        ] {
            let of = |n| decode(&head(&encode(kind, &vec![0; n])), 1 << 20);
            assert_eq!(of(len), Ok(Header { kind, len }));
            for other in [0, len - 1, len + 1] {
                let returned = Header {
                    kind: Kind::Returned,
                    len: other,
                };
                assert_eq!(
                    of(other),
                    match kind {
                        Kind::Opening => Ok(returned),
                        _ => Err(Bad::Length(other as u64)),
                    }
                );
            }
        }
    }

    #[test]
    fn messages_of_upstream_are_told() {
        let mut client = [0; HEADER_LEN];
        client[0] = 70;
        assert_eq!(decode(&client, 2048), Err(Bad::Upstream));
        client[9..].copy_from_slice(&[0x5a; 7]);
        assert_eq!(decode(&client, 2048), Err(Bad::Upstream));
        client[8] = 1;
        assert_eq!(decode(&client, 2048), Err(Bad::Magic));
        client[8] = 0;
        client[0] = 8;
        assert_eq!(decode(&client, 2048), Err(Bad::Magic));
        client[4] = 1;
        assert_eq!(decode(&client, 2048), Err(Bad::Magic));
        // A server of upstream's refuses with the seven bytes of the client.
        let mut answer = head(&encode(Kind::Hello, &[]));
        answer[8] = 0xe9;
        let returned = Header {
            kind: Kind::Returned,
            len: 0,
        };
        assert_eq!(decode(&answer, 2048), Ok(returned));
    }

    #[test]
    fn messages_to_and_of_upstream() {
        let spare = *b"1234567";
        let bytes = encode_upstream(spare, b"ab");
        assert_eq!(bytes, b"\x02\0\0\0\0\0\0\0\x001234567ab");
        let read = |bytes: &[u8], due| decode_upstream(&head(bytes), due, 8);
        for kind in [Kind::Hello, Kind::Accept, Kind::Notify] {
            assert_eq!(read(&bytes, kind), Ok((Header { kind, len: 2 }, spare)));
        }
        let long = encode_upstream(spare, &[0; 9]);
        assert_eq!(read(&long, Kind::Hello), Err(Bad::Length(9)));
        assert!(decode_upstream(&head(&long), Kind::Accept, 9).is_ok());
        let notify = encode_upstream(spare, &[0; MAX_NOTIFY + 1]);
        assert_eq!(
            decode_upstream(&head(&notify), Kind::Notify, 99),
            Err(Bad::Length(17))
        );
        let mut refused = encode_upstream(spare, &[]);
        refused[8] = 0xe9;
        let kind = Kind::Returned;
        assert_eq!(
            read(&refused, Kind::Accept),
            Ok((Header { kind, len: 0 }, spare))
        );
    }

    #[test]
    fn what_is_refused() {
        let max = 8;
        let bytes = head(&encode(Kind::Hello, &[7; 8]));
        assert_eq!(decode(&bytes, max).unwrap().len, 8);
        assert_eq!(decode(&bytes, 7), Err(Bad::Length(8)));
        let mut far = bytes;
        far[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(decode(&far, usize::MAX >> 1), Err(Bad::Length(u64::MAX)));
        let mut notify = head(&encode(Kind::Notify, &[]));
        notify[0] = MAX_NOTIFY as u8;
        assert_eq!(decode(&notify, 0).unwrap().len, MAX_NOTIFY);
        notify[0] += 1;
        assert_eq!(decode(&notify, max), Err(Bad::Length(17)));
        let mut reject = head(&encode(Kind::Reject(Why::Declined), &[]));
        reject[0] = 1;
        assert_eq!(decode(&reject, max), Err(Bad::Length(1)));
        for at in 9..13 {
            let mut other = bytes;
            other[at] ^= 1;
            assert_eq!(decode(&other, max), Err(Bad::Magic));
        }
        let mut later = bytes;
        later[13] = 3;
        assert_eq!(decode(&later, max), Err(Bad::Version(3)));
        let mut reject = head(&encode(Kind::Reject(Why::Version), &[]));
        reject[13] = 9;
        assert_eq!(
            decode(&reject, max).unwrap().kind,
            Kind::Reject(Why::Version)
        );
        let mut kind = bytes;
        kind[14] = 0;
        assert_eq!(decode(&kind, max), Err(Bad::Kind(0)));
    }
}
