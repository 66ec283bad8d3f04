//! The proof of a shared secret: Noise `NNpsk0` of two messages, and the first record of whoever connects.
//!
//! 1. The opening: a fresh public key, and under the secret what is asked for.
//! 2. The answer: another fresh public key, and under both keys and the secret what was agreed. Now whoever connects
//!    knows that the other side has the secret and is alive.
//! 3. The first record under the keys that follow from all this. Now the side that answered knows the same: an opening
//!    alone may be a recorded one.
//!
//! Secrets, roles and purposes that differ give keys that differ, so that such messages, also one's own that
//! somebody sends back, are refused like any forged ones. The keys are gone with the connection: who learns the secret
//! later cannot read what was recorded.

use super::records::{self, Opener, Sealer};
use super::secret::Secret;
use snow::params::NoiseParams;
use snow::{Builder, HandshakeState};

const PATTERN: &str = "Noise_NNpsk0_25519_AESGCM_SHA256";
const KEY_LEN: usize = 32;
const TAG_LEN: usize = 16;
/// Whether encryption is asked for.
const REQUEST_LEN: usize = 1;
/// Whether what follows is encrypted.
const VERDICT_LEN: usize = 1;

pub const OPENING_LEN: usize = KEY_LEN + REQUEST_LEN + TAG_LEN;
pub const ANSWER_LEN: usize = KEY_LEN + VERDICT_LEN + TAG_LEN;

/// What a connection is for. Both ends have to mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Frames between two interfaces of tcp.
    Data,
    /// Messages between two connection managers.
    Manager,
}

impl Purpose {
    fn prologue(self) -> &'static [u8] {
        match self {
            Purpose::Data => b"ferrucx tcp data 1",
            Purpose::Manager => b"ferrucx tcp connection manager 1",
        }
    }
}

/// Why a message of the hand-shake is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It was not made with this secret, for this role and purpose, in this conversation.
    Proof,
    /// It says what this version does not know.
    Unknown,
}

/// The keys of a connection whose other side has the secret.
pub struct Session {
    /// All that follows goes in records; else only the first message of each side does.
    pub encrypted: bool,
    pub sealer: Sealer,
    pub opener: Opener,
}

/// The side that connects, between its opening and the answer.
pub struct Initiator {
    noise: Box<HandshakeState>,
    encrypt: bool,
}

impl Initiator {
    /// Begins a hand-shake. An error when the system gives no random numbers.
    pub fn begin(
        secret: &Secret,
        purpose: Purpose,
        encrypt: bool,
    ) -> std::io::Result<(Initiator, [u8; OPENING_LEN])> {
        let built = builder(secret, purpose).and_then(Builder::build_initiator);
        let mut noise = Box::new(built.map_err(std::io::Error::other)?);
        let mut opening = [0; OPENING_LEN];
        let written = noise.write_message(&[u8::from(encrypt)], &mut opening);
        written.map_err(std::io::Error::other)?;
        Ok((Initiator { noise, encrypt }, opening))
    }

    /// Takes the answer.
    pub fn finish(mut self, answer: &[u8; ANSWER_LEN]) -> Result<Session, Refused> {
        let mut verdict = [0; VERDICT_LEN];
        let read = self.noise.read_message(answer, &mut verdict);
        if read != Ok(VERDICT_LEN) {
            return Err(Refused::Proof);
        }
        let encrypted = match verdict {
            [0] => false,
            [1] => true,
            _ => return Err(Refused::Unknown),
        };
        if self.encrypt && !encrypted {
            return Err(Refused::Unknown);
        }
        session(*self.noise, encrypted)
    }
}

/// What an opening leads to. The other side is proven with the first record that the session opens.
pub struct Answered {
    pub session: Session,
    pub answer: [u8; ANSWER_LEN],
}

/// Answers an opening; `encrypt` when this side asks for encryption.
pub fn answer(
    secret: &Secret,
    purpose: Purpose,
    encrypt: bool,
    opening: &[u8; OPENING_LEN],
) -> Result<Answered, Refused> {
    let built = builder(secret, purpose).and_then(Builder::build_responder);
    let mut noise = built.map_err(|_| Refused::Unknown)?;
    let mut request = [0; REQUEST_LEN];
    let read = noise.read_message(opening, &mut request);
    if read != Ok(REQUEST_LEN) {
        return Err(Refused::Proof);
    }
    let encrypted = match request {
        [0] => encrypt,
        [1] => true,
        _ => return Err(Refused::Unknown),
    };
    let mut answer = [0; ANSWER_LEN];
    let written = noise.write_message(&[u8::from(encrypted)], &mut answer);
    written.map_err(|_| Refused::Unknown)?;
    Ok(Answered {
        session: session(noise, encrypted)?,
        answer,
    })
}

fn builder(secret: &Secret, purpose: Purpose) -> Result<Builder<'_>, snow::Error> {
    let params: NoiseParams = PATTERN.parse()?;
    Builder::new(params)
        .prologue(purpose.prologue())?
        .psk(0, secret.bytes())
}

fn session(noise: HandshakeState, encrypted: bool) -> Result<Session, Refused> {
    let keys = noise.into_transport_mode().map_err(|_| Refused::Unknown)?;
    let (sealer, opener) = records::pair(keys);
    Ok(Session {
        encrypted,
        sealer,
        opener,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    fn secret(n: u8) -> Secret {
        Secret::of(&[n; 32]).unwrap()
    }

    fn begin(n: u8) -> (Initiator, [u8; OPENING_LEN]) {
        Initiator::begin(&secret(n), Purpose::Data, false).unwrap()
    }

    /// Both ends of a connection; the first connected.
    pub fn sessions(encrypt: bool) -> (Session, Session) {
        let (one, opening) = Initiator::begin(&secret(1), Purpose::Data, encrypt).unwrap();
        let other = answer(&secret(1), Purpose::Data, false, &opening).unwrap();
        (one.finish(&other.answer).ok().unwrap(), other.session)
    }

    fn agrees(one: &mut Session, other: &mut Session) -> bool {
        one.sealer.seal(b"first").unwrap();
        let record = one.sealer.pending().to_vec();
        let mut out = [0; 64];
        let got = other
            .opener
            .open_alone(&record[records::PREFIX..], &mut out);
        got == Ok(5) && &out[..5] == b"first"
    }

    #[test]
    fn who_knows_the_secret_is_known() {
        for (wish, wanted) in [(false, false), (true, false), (false, true), (true, true)] {
            let (one, opening) = Initiator::begin(&secret(1), Purpose::Data, wish).unwrap();
            let mut other = answer(&secret(1), Purpose::Data, wanted, &opening).unwrap();
            let mut one = one.finish(&other.answer).ok().unwrap();
            assert_eq!(
                (one.encrypted, other.session.encrypted),
                (wish || wanted, wish || wanted)
            );
            assert!(agrees(&mut one, &mut other.session));
            assert!(agrees(&mut other.session, &mut one));
        }
    }

    #[test]
    fn another_secret_or_purpose_is_refused_by_both_sides() {
        let (one, opening) = begin(1);
        let refused = |n, purpose| answer(&secret(n), purpose, false, &opening).err();
        assert_eq!(refused(2, Purpose::Data), Some(Refused::Proof));
        assert_eq!(refused(1, Purpose::Manager), Some(Refused::Proof));
        // Whoever answers without the secret has the opening, and no more.
        let (_, other) = begin(2);
        let forged = answer(&secret(2), Purpose::Data, false, &other).unwrap();
        assert_eq!(one.finish(&forged.answer).err(), Some(Refused::Proof));
    }

    #[test]
    fn ones_own_messages_sent_back_are_refused() {
        let (one, opening) = begin(1);
        let mut back = [0; ANSWER_LEN];
        back.copy_from_slice(&opening[..ANSWER_LEN]);
        assert_eq!(one.finish(&back).err(), Some(Refused::Proof));
        let (one, opening) = begin(1);
        let mut other = answer(&secret(1), Purpose::Data, false, &opening).unwrap();
        let mut one = one.finish(&other.answer).ok().unwrap();
        // Each side's records open at the other side only.
        assert!(agrees(&mut one, &mut other.session));
        one.sealer.seal(b"mine").unwrap();
        let mine = one.sealer.pending().to_vec();
        let last = mine.len() - 4 - TAG_LEN;
        let got = one.opener.open_alone(&mine[last..], &mut [0; 64]);
        assert_eq!(got, Err(records::Broken::Forged));
    }

    #[test]
    fn a_recorded_opening_leads_nowhere() {
        let (one, opening) = begin(1);
        let mut first = answer(&secret(1), Purpose::Data, false, &opening).unwrap();
        let mut again = answer(&secret(1), Purpose::Data, false, &opening).unwrap();
        assert_ne!(first.answer, again.answer);
        let mut one = one.finish(&first.answer).ok().unwrap();
        assert!(
            !agrees(&mut one, &mut again.session),
            "the record of another conversation"
        );
        let (mut one, mut other) = sessions(true);
        assert!(agrees(&mut one, &mut other) && !agrees(&mut one, &mut first.session));
    }

    #[test]
    fn a_recorded_answer_is_refused() {
        let (one, opening) = begin(1);
        let recorded = answer(&secret(1), Purpose::Data, false, &opening)
            .unwrap()
            .answer;
        assert!(one.finish(&recorded).is_ok());
        let (next, _) = begin(1);
        assert_eq!(next.finish(&recorded).err(), Some(Refused::Proof));
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let (_, good) = begin(1);
        for at in 0..OPENING_LEN * 8 {
            let mut bad = good;
            bad[at / 8] ^= 1 << (at % 8);
            let got = answer(&secret(1), Purpose::Data, false, &bad);
            assert_eq!(got.err(), Some(Refused::Proof), "opening, bit {at}");
        }
        for at in 0..ANSWER_LEN * 8 {
            let (one, opening) = begin(1);
            let mut bad = answer(&secret(1), Purpose::Data, false, &opening)
                .unwrap()
                .answer;
            bad[at / 8] ^= 1 << (at % 8);
            // The highest bit of a public key does not count in its arithmetic, but is hashed.
            assert_eq!(
                one.finish(&bad).err(),
                Some(Refused::Proof),
                "answer, bit {at}"
            );
        }
    }

    #[test]
    fn random_messages_are_refused() {
        let rng = TestRng::new(0x1234_5678_9abc_def1);
        for _ in 0..200 {
            let mut opening = [0; OPENING_LEN];
            opening.copy_from_slice(&rng.bytes(OPENING_LEN));
            assert!(answer(&secret(1), Purpose::Data, true, &opening).is_err());
            let mut other = [0; ANSWER_LEN];
            other.copy_from_slice(&rng.bytes(ANSWER_LEN));
            assert!(begin(1).0.finish(&other).is_err());
        }
    }
}
