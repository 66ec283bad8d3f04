//! What tag matching says over active messages: ids and layouts.
//!
//! All numbers are little-endian, nothing is aligned. A tag or a key of eight bytes comes first, so that it
//! can travel as the header of a short message. Decoders answer `None` for what is too short; what the
//! numbers mean is checked by who acts on them.
#![forbid(unsafe_code)]

use crate::uct::base::am::AM_IDS;

const FIRST_ID: u8 = AM_IDS as u8;

/// `tag, data`: a whole message without immediate data.
pub const SHORT: u8 = FIRST_ID;
/// `tag, imm, data`: a whole message.
pub const EAGER: u8 = FIRST_ID + 1;
/// `key, tag, imm, total, data`: the first fragment of a message.
pub const FIRST: u8 = FIRST_ID + 2;
/// `key, offset, data`: a further fragment.
pub const NEXT: u8 = FIRST_ID + 3;
/// An [`Offer`]: data that are to be fetched.
pub const OFFER: u8 = FIRST_ID + 4;
/// `tag, header`: a rendezvous that the users do themselves.
pub const REQUEST: u8 = FIRST_ID + 5;
/// A [`Claim`]: the data of an offer are wanted in fragments; nowhere (0) for no longer.
pub const WANT: u8 = FIRST_ID + 6;
/// `receive, offset, data`: a fragment of what is wanted.
pub const FRAGMENT: u8 = FIRST_ID + 7;
/// `offer, status`: an offer is over, its memory is the sender's again.
pub const OVER: u8 = FIRST_ID + 8;
/// `receive`: the offer that was wanted or taken is no more.
pub const GONE: u8 = FIRST_ID + 9;
/// A [`Claim`]: the data were taken out of mapped memory; was the offer still good?
pub const TAKEN: u8 = FIRST_ID + 10;
/// `receive`: it was.
pub const GOOD: u8 = FIRST_ID + 11;

/// Bytes before the data of [`EAGER`].
pub const EAGER_HEAD: usize = 16;
/// Bytes before the data of [`FIRST`].
pub const FIRST_HEAD: usize = 32;
/// Bytes before the data of [`NEXT`] and [`FRAGMENT`].
pub const NEXT_HEAD: usize = 16;
/// Bytes of an offer without header, key and addresses.
pub const OFFER_HEAD: usize = 48 + REACH + 6;
/// Bytes that say how the sender's memory may be reached.
pub const REACH: usize = crate::uct::cma::wire::LEN;

/// The next eight bytes as a number, and the rest.
pub fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*head), rest))
}

fn take(bytes: &[u8], len: usize) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(len)
}

/// Numbers as bytes.
pub fn numbers<const N: usize, const B: usize>(values: [u64; N]) -> [u8; B] {
    const { assert!(B == N * 8) };
    let mut out = [0; B];
    for (place, value) in out.chunks_exact_mut(8).zip(values) {
        place.copy_from_slice(&value.to_le_bytes());
    }
    out
}

/// Where an interface is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses<'a> {
    pub device: &'a [u8],
    pub iface: &'a [u8],
}

/// A rendezvous: data in the sender's memory and how they may be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer<'a> {
    /// The sender's name for it.
    pub key: u64,
    pub tag: u64,
    /// The sender's interface.
    pub engine: u64,
    pub address: u64,
    pub len: u64,
    /// Where `key` stands in the sender's memory as long as the offer is good.
    pub live: u64,
    /// The sender's process, as the cma transport describes one; zeros for none.
    pub reach: &'a [u8; REACH],
    pub header: &'a [u8],
    /// The packed key of the memory, if it has one.
    pub rkey: &'a [u8],
    pub from: Addresses<'a>,
}

impl<'a> Offer<'a> {
    /// `None` when a part is too long for its length's field.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(OFFER_HEAD + self.header.len() + 128);
        for n in [
            self.key,
            self.tag,
            self.engine,
            self.address,
            self.len,
            self.live,
        ] {
            out.extend_from_slice(&n.to_le_bytes());
        }
        out.extend_from_slice(self.reach);
        out.extend_from_slice(&u16::try_from(self.header.len()).ok()?.to_le_bytes());
        out.extend_from_slice(&u16::try_from(self.rkey.len()).ok()?.to_le_bytes());
        out.push(u8::try_from(self.from.device.len()).ok()?);
        out.push(u8::try_from(self.from.iface.len()).ok()?);
        for part in [self.header, self.rkey, self.from.device, self.from.iface] {
            out.extend_from_slice(part);
        }
        Some(out)
    }

    pub fn decode(bytes: &'a [u8]) -> Option<Offer<'a>> {
        let (key, rest) = number(bytes)?;
        let (tag, rest) = number(rest)?;
        let (engine, rest) = number(rest)?;
        let (address, rest) = number(rest)?;
        let (len, rest) = number(rest)?;
        let (live, rest) = number(rest)?;
        let (reach, rest) = rest.split_first_chunk::<REACH>()?;
        let ([h0, h1, k0, k1, device, iface], rest) = rest.split_first_chunk::<6>()?;
        let (header, rest) = take(rest, u16::from_le_bytes([*h0, *h1]).into())?;
        let (rkey, rest) = take(rest, u16::from_le_bytes([*k0, *k1]).into())?;
        let (device, rest) = take(rest, (*device).into())?;
        let (iface, rest) = take(rest, (*iface).into())?;
        rest.is_empty().then_some(Offer {
            key,
            tag,
            engine,
            address,
            len,
            live,
            reach,
            header,
            rkey,
            from: Addresses { device, iface },
        })
    }
}

/// What a receiver says of an offer, with the place to answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    pub offer: u64,
    pub receive: u64,
    pub from: Addresses<'a>,
}

impl<'a> Claim<'a> {
    /// `None` when an address is too long for its length's field.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(96);
        out.extend_from_slice(&self.offer.to_le_bytes());
        out.extend_from_slice(&self.receive.to_le_bytes());
        out.push(u8::try_from(self.from.device.len()).ok()?);
        out.push(u8::try_from(self.from.iface.len()).ok()?);
        out.extend_from_slice(self.from.device);
        out.extend_from_slice(self.from.iface);
        Some(out)
    }

    pub fn decode(bytes: &'a [u8]) -> Option<Claim<'a>> {
        let (offer, rest) = number(bytes)?;
        let (receive, rest) = number(rest)?;
        let ([device, iface], rest) = rest.split_first_chunk::<2>()?;
        let (device, rest) = take(rest, (*device).into())?;
        let (iface, rest) = take(rest, (*iface).into())?;
        rest.is_empty().then_some(Claim {
            offer,
            receive,
            from: Addresses { device, iface },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH_BYTES: [u8; REACH] = [7; REACH];
    const OFFER: Offer<'_> = Offer {
        key: 1,
        tag: 2,
        engine: 3,
        address: 4,
        len: 5,
        live: 6,
        reach: &REACH_BYTES,
        header: b"header",
        rkey: b"rkey",
        from: Addresses {
            device: b"device",
            iface: b"interface",
        },
    };

    #[test]
    fn what_is_said_is_understood_and_nothing_shorter_or_longer() {
        let mut bytes = OFFER.encode().unwrap();
        assert_eq!(Offer::decode(&bytes), Some(OFFER));
        for n in 0..bytes.len() {
            assert_eq!(Offer::decode(&bytes[..n]), None, "{n}");
        }
        bytes.push(0);
        assert_eq!(Offer::decode(&bytes), None);
        let claim = Claim {
            offer: 9,
            receive: 8,
            from: OFFER.from,
        };
        let bytes = claim.encode().unwrap();
        assert_eq!(Claim::decode(&bytes), Some(claim));
        for n in 0..bytes.len() {
            assert_eq!(Claim::decode(&bytes[..n]), None, "{n}");
        }
        let long = Offer {
            header: &[0; 1 << 16],
            ..OFFER
        };
        assert_eq!(long.encode(), None);
    }

    #[test]
    fn numbers_come_back() {
        let bytes: [u8; 16] = numbers([5, u64::MAX]);
        let (a, rest) = number(&bytes).unwrap();
        assert_eq!((a, number(rest).unwrap().0), (5, u64::MAX));
        assert_eq!(number(&bytes[..7]), None);
    }
}
