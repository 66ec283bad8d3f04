//! The byte format of the connection manager: ours, version 1.
//!
//! A message is a header of twelve bytes (magic, version, kind, detail, length of the body, little
//! endian) and a body of private data. A client sends HELLO, the server answers ACCEPT or REJECT,
//! the client sends NOTIFY, with a few bytes of private data; the end of the stream is the goodbye of either side.
//! Magic, version and REJECT keep their places in every version, so that a peer of another one gets an answer.
#![forbid(unsafe_code)]

const MAGIC: [u8; 4] = *b"fxcm";
pub const VERSION: u16 = 1;
pub const HEADER_LEN: usize = 12;
/// Most private data of a NOTIFY.
pub const MAX_NOTIFY: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Hello,
    Accept,
    Reject(Why),
    Notify,
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
    Version(u16),
    Kind(u8),
    /// The body is longer than this side takes, or a body stands where none belongs.
    Length(u32),
}

pub fn encode(kind: Kind, body: &[u8]) -> Vec<u8> {
    let (kind, detail) = match kind {
        Kind::Hello => (1, 0),
        Kind::Accept => (2, 0),
        Kind::Reject(why) => (
            3,
            match why {
                Why::Declined => 0,
                Why::Version => 1,
                Why::TooLong => 2,
                Why::Other(n) => n,
            },
        ),
        Kind::Notify => (4, 0),
    };
    let mut out = Vec::with_capacity(HEADER_LEN + body.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&[kind, detail]);
    out.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(body);
    out
}

/// Reads a header; `max_body` is the most private data that this side takes.
pub fn decode(bytes: &[u8; HEADER_LEN], max_body: usize) -> Result<Header, Bad> {
    let [m0, m1, m2, m3, v0, v1, kind, detail, l0, l1, l2, l3] = *bytes;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(Bad::Magic);
    }
    let version = u16::from_le_bytes([v0, v1]);
    let kind = match kind {
        3 => Kind::Reject(match detail {
            0 => Why::Declined,
            1 => Why::Version,
            2 => Why::TooLong,
            n => Why::Other(n),
        }),
        _ if version != VERSION => return Err(Bad::Version(version)),
        1 => Kind::Hello,
        2 => Kind::Accept,
        4 => Kind::Notify,
        n => return Err(Bad::Kind(n)),
    };
    let len = u32::from_le_bytes([l0, l1, l2, l3]);
    let max = match kind {
        Kind::Hello | Kind::Accept => max_body,
        Kind::Notify => MAX_NOTIFY,
        Kind::Reject(_) => 0,
    };
    match usize::try_from(len) {
        Ok(n) if n <= max => Ok(Header { kind, len: n }),
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
    fn bytes_of_version_1() {
        let hello = encode(Kind::Hello, b"ab");
        assert_eq!(hello, b"fxcm\x01\0\x01\0\x02\0\0\0ab");
        let all = [
            Kind::Hello,
            Kind::Accept,
            Kind::Reject(Why::Declined),
            Kind::Reject(Why::Version),
            Kind::Reject(Why::TooLong),
            Kind::Reject(Why::Other(77)),
            Kind::Notify,
        ];
        for kind in all {
            let bytes = encode(kind, &[]);
            assert_eq!(decode(&head(&bytes), 0), Ok(Header { kind, len: 0 }));
        }
    }

    #[test]
    fn what_is_refused() {
        let max = 8;
        let bytes = head(&encode(Kind::Hello, &[7; 8]));
        assert_eq!(decode(&bytes, max).unwrap().len, 8);
        assert_eq!(decode(&bytes, 7), Err(Bad::Length(8)));
        let mut far = bytes;
        far[8..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(decode(&far, usize::MAX >> 33), Err(Bad::Length(u32::MAX)));
        let mut notify = head(&encode(Kind::Notify, &[]));
        notify[8] = MAX_NOTIFY as u8;
        assert_eq!(decode(&notify, 0).unwrap().len, MAX_NOTIFY);
        notify[8] += 1;
        assert_eq!(decode(&notify, max), Err(Bad::Length(17)));
        let mut reject = head(&encode(Kind::Reject(Why::Declined), &[]));
        reject[8] = 1;
        assert_eq!(decode(&reject, max), Err(Bad::Length(1)));
        for at in 0..4 {
            let mut other = bytes;
            other[at] ^= 1;
            assert_eq!(decode(&other, max), Err(Bad::Magic));
        }
        let mut later = bytes;
        later[4] = 2;
        assert_eq!(decode(&later, max), Err(Bad::Version(2)));
        let mut reject = head(&encode(Kind::Reject(Why::Version), &[]));
        reject[4] = 9;
        assert_eq!(
            decode(&reject, max).unwrap().kind,
            Kind::Reject(Why::Version)
        );
        let mut kind = bytes;
        kind[6] = 0;
        assert_eq!(decode(&kind, max), Err(Bad::Kind(0)));
    }
}
