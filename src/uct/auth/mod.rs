//! Optional security of connections over tcp: both sides prove that they know a shared secret before anything else
//! is understood, and where either asks for it all that follows is encrypted.
//!
//! | file | holds |
//! |---|---|
//! | `config` | the variables, and what they say |
//! | `secret` | the secret and the file that it is read from |
//! | `handshake` | the proof: Noise `NNpsk0`, by the crate `snow` |
//! | `records` | the encrypted stream: `Sealer` and `Opener` |
//!
//! Nothing here reads or writes a socket. `tcp` (data) and `cm` (the connection manager) carry the bytes.
#![forbid(unsafe_code)]

mod config;
mod handshake;
mod records;
mod secret;

pub use config::{Auth, ENCRYPT_ROW, FILE_ROW, TABLE};
pub use handshake::{
    ANSWER_LEN, Answered, Initiator, OPENING_LEN, Purpose, Refused, Session, answer,
};
pub use records::{Broken, MAX_PAYLOAD, MAX_RECORD, Opener, PREFIX, Sealer, TAG};
pub use secret::Secret;
