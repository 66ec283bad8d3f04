//! The greeting of a connecting interface: its identity, proven by a signature.
//!
//! A process has a key pair. The id of an interface, which is part of its address, is a digest of the public key and of
//! the interface's number. A connecting interface sends both and signs the greeting, so that a process that merely knows an address cannot
//! connect in the name of its owner. The signature covers the id of the receiving interface: the receiver cannot use it
//! elsewhere.
#![forbid(unsafe_code)]

use super::wire::{Bad, HEADER_LEN, HELLO, MAGIC, UPSTREAM_GREETING, VERSION};
use crate::sys::random::random_bytes;
use crate::ucs::fork::PerProcess;
use crate::wire::{Reader, Writer};
use core::sync::atomic::{AtomicU32, Ordering};
use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use once_cell::race::OnceBox;
use sha2::{Digest, Sha512};
use std::io;

/// The purpose of a connection.
pub const PURPOSE_DATA: u8 = 0;

const KEY_LEN: usize = 32;
const SIGNATURE_LEN: usize = 64;
/// The signed bytes: everything before the signature.
const SIGNED_LEN: usize = 32 + KEY_LEN;
const BODY_LEN: usize = SIGNED_LEN + SIGNATURE_LEN;
/// Bytes of a whole greeting, which an unauthenticated peer may send.
pub const HELLO_LEN: usize = HEADER_LEN + BODY_LEN;

/// The identity of an interface.
pub struct Identity {
    key: &'static SigningKey,
    /// Among the interfaces of the process.
    number: u32,
    pub id: u64,
}

/// The key pair of this process, made with its first interface.
static KEY: PerProcess<OnceBox<SigningKey>> = PerProcess::new(OnceBox::new);

impl Identity {
    /// A new one of this process.
    pub fn new() -> io::Result<Identity> {
        // Relaxed: only uniqueness matters.
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let make = || random_bytes().map(|secret| Box::new(SigningKey::from_bytes(&secret)));
        Ok(Identity::with(KEY.get().get_or_try_init(make)?, number))
    }

    fn with(key: &'static SigningKey, number: u32) -> Identity {
        let id = id_of(key.verifying_key().as_bytes(), number);
        Identity { key, number, id }
    }

    /// A whole greeting of this interface.
    pub fn greet(&self, hello: &Hello) -> [u8; HELLO_LEN] {
        let mut out = [0; HELLO_LEN];
        let mut w = Writer::new(&mut out);
        w.u64(u64::from(HELLO) | (BODY_LEN as u64) << 32);
        w.u32(MAGIC);
        w.u16(VERSION);
        w.u8(hello.purpose);
        w.u8(0);
        w.u64(hello.to);
        w.u64(hello.attempt);
        w.u32(hello.max_am);
        w.u32(self.number);
        w.bytes(self.key.verifying_key().as_bytes());
        let (signed, signature) = out[HEADER_LEN..].split_at_mut(SIGNED_LEN);
        signature.copy_from_slice(&self.key.sign(signed).to_bytes());
        out
    }
}

/// The id of the interface with this number of the process with this public key; never 0.
fn id_of(key: &[u8; KEY_LEN], number: u32) -> u64 {
    let digest = Sha512::new()
        .chain_update(key)
        .chain_update(number.to_le_bytes())
        .finalize();
    let first = digest.first_chunk().copied().unwrap_or_default();
    u64::from_le_bytes(first).max(1)
}

/// The contents of a greeting besides the sender's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub purpose: u8,
    /// The interface that is meant.
    pub to: u64,
    /// Counts connection attempts of the sender; later ones are larger.
    pub attempt: u64,
    /// The largest active message that the sender will send, header included.
    pub max_am: u32,
}

/// A received greeting: its sender is a claim until `is_signed`.
pub struct Received {
    pub hello: Hello,
    pub from: u64,
    bytes: [u8; HELLO_LEN],
}

impl Received {
    /// The greeting at the front of `bytes`; `None` while it is not whole.
    pub fn decode(bytes: &[u8]) -> Result<Option<Received>, Bad> {
        let mut r = Reader::new(bytes);
        let Some(header) = r.u64() else {
            return Ok(None);
        };
        if header == UPSTREAM_GREETING {
            return Err(Bad::Upstream);
        }
        let (kind, len) = (header as u8, (header >> 32) as u32);
        if kind != HELLO {
            return Err(Bad::Kind(kind));
        }
        if header & 0xffff_ff00 != 0 {
            return Err(Bad::Reserved);
        }
        // Other versions have other lengths.
        let Some((magic, version)) = r.u32().zip(r.u16()) else {
            return Ok(None);
        };
        if magic != MAGIC {
            return Err(Bad::Magic);
        }
        if version != VERSION {
            return Err(Bad::Version(version));
        }
        if len as usize != BODY_LEN {
            return Err(Bad::Length { kind, len });
        }
        let Some(bytes) = bytes.first_chunk::<HELLO_LEN>() else {
            return Ok(None);
        };
        let mut rest = || {
            let (purpose, zero) = (r.u8()?, r.u8()?);
            let hello = Hello {
                purpose,
                to: r.u64()?,
                attempt: r.u64()?,
                max_am: r.u32()?,
            };
            Some((hello, zero, r.u32()?, r.bytes(KEY_LEN)?))
        };
        let Some((hello, 0, number, key)) = rest() else {
            return Err(Bad::Reserved);
        };
        let Some(key) = key.first_chunk() else {
            return Err(Bad::Reserved);
        };
        Ok(Some(Received {
            hello,
            from: id_of(key, number),
            bytes: *bytes,
        }))
    }

    /// Whether the owner of the id sent it. Takes some ten microseconds.
    pub fn is_signed(&self) -> bool {
        let (signed, signature) = self.bytes[HEADER_LEN..].split_at(SIGNED_LEN);
        let key = signed.last_chunk().map(VerifyingKey::from_bytes);
        let (Some(Ok(key)), Ok(signature)) = (key, Signature::from_slice(signature)) else {
            return false;
        };
        // The strict form also refuses weak keys, which takes longer. Nobody but its maker has an id of such a key.
        key.verify(signed, &signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interface 5 of the process with a secret of such bytes.
    fn identity(secret: u8) -> Identity {
        Identity::with(
            Box::leak(Box::new(SigningKey::from_bytes(&[secret; 32]))),
            5,
        )
    }

    fn hello() -> Hello {
        Hello {
            purpose: PURPOSE_DATA,
            to: 2,
            attempt: 3,
            max_am: 65544,
        }
    }

    #[test]
    fn a_greeting_comes_back_signed_and_no_part_of_it_is_one() {
        let me = identity(7);
        let bytes = me.greet(&hello());
        for n in 0..bytes.len() {
            assert!(matches!(Received::decode(&bytes[..n]), Ok(None)), "{n}");
        }
        let got = Received::decode(&bytes).ok().flatten().unwrap();
        assert_eq!((got.hello, got.from), (hello(), me.id));
        assert!(got.is_signed());
        assert_ne!(me.id, identity(8).id);
        // Another interface of the process.
        assert_ne!(me.id, Identity::with(me.key, 6).id);
    }

    /// The bytes before the signature, which must not change within this version.
    #[test]
    fn the_greeting_of_version_3() {
        let bytes = identity(7).greet(&hello());
        let hex: String = bytes[..40].iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(
            hex,
            "4000000080000000667874630300000002000000000000000300000000000000\
             0800010005000000"
        );
    }

    #[test]
    fn a_greeting_in_the_name_of_another_is_detected() {
        let (me, other) = (identity(7), identity(8));
        let mine = me.greet(&hello());
        // Another's key before my signature, and the reverse.
        let mut forged = mine;
        let key = HEADER_LEN + SIGNED_LEN - KEY_LEN;
        forged[key..key + KEY_LEN].copy_from_slice(other.key.verifying_key().as_bytes());
        let got = Received::decode(&forged).ok().flatten().unwrap();
        assert_eq!(got.from, other.id);
        assert!(!got.is_signed());
        for at in HEADER_LEN..HELLO_LEN {
            for bit in 0..8 {
                let mut bytes = mine;
                bytes[at] ^= 1 << bit;
                if let Ok(Some(got)) = Received::decode(&bytes) {
                    assert!(!got.is_signed(), "byte {at}, bit {bit}");
                }
                if cfg!(miri) {
                    break;
                }
            }
        }
    }

    #[test]
    fn an_invalid_greeting_is_rejected_before_it_is_complete() {
        let good = identity(7).greet(&hello());
        let bad = |at: usize, value| {
            let mut bytes = good;
            bytes[at] = value;
            Received::decode(&bytes).err()
        };
        assert_eq!(bad(0, 0x41), Some(Bad::Kind(0x41)));
        let upstream = Received::decode(&UPSTREAM_GREETING.to_le_bytes());
        assert_eq!(upstream.err(), Some(Bad::Upstream));
        assert_eq!(bad(2, 1), Some(Bad::Reserved));
        assert_eq!(bad(8, 0), Some(Bad::Magic));
        assert_eq!(bad(12, 1), Some(Bad::Version(1)));
        let len = Bad::Length {
            kind: 0x40,
            len: 40,
        };
        assert_eq!(bad(4, 40), Some(len));
        assert_eq!(bad(15, 1), Some(Bad::Reserved));
    }
}
