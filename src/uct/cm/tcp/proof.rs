//! With a secret: the hand-shake of `auth` before a client's HELLO, and messages in records behind it.
#![forbid(unsafe_code)]

use super::conn::{Conn, Role, State};
use super::manager::Oddity;
use super::wire::{self, Kind, Why};
use crate::sys::socket::Socket;
use crate::ucs::Status;
use crate::ucs_error;
use crate::uct::auth::{self, Auth, Initiator, MAX_PAYLOAD, MAX_RECORD, Purpose, Session};
use std::io;
use std::sync::Arc;

/// How far the other side has proven that it knows the secret.
pub(super) enum Proof {
    /// Not yet; or there is no secret.
    None,
    /// Client: the opening is out.
    Opened(Initiator),
    /// There are keys: messages go in records.
    Keys(Box<Session>),
}

impl Proof {
    pub fn has_keys(&self) -> bool {
        matches!(self, Proof::Keys(_))
    }

    /// Whether a part of a record is here.
    pub fn has_part(&self) -> bool {
        matches!(self, Proof::Keys(session) if session.opener.has_bytes())
    }

    /// The bytes that carry a message.
    pub fn pack(&mut self, message: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let Proof::Keys(session) = self else {
            out.extend_from_slice(message);
            return Ok(());
        };
        let sealer = &mut session.sealer;
        for part in message.chunks(MAX_PAYLOAD) {
            let sealed = sealer.seal(part);
            sealed.map_err(|broken| io::Error::other(broken.to_string()))?;
        }
        out.extend_from_slice(sealer.pending());
        let n = sealer.pending().len();
        sealer.sent(n);
        Ok(())
    }
}

/// Appends what the next record carries to `input`; how many bytes, 0 at the end of the stream. `InvalidData` for a
/// forged one.
pub(super) fn receive(
    socket: &Socket,
    session: &mut Session,
    input: &mut Vec<u8>,
) -> io::Result<usize> {
    let opener = &mut session.opener;
    loop {
        if opener.is_ready() {
            let at = input.len();
            input.resize(at + MAX_RECORD, 0);
            let opened = opener.open(&mut input[at..]);
            input.truncate(at + opened.ok().flatten().unwrap_or(0));
            return match opened {
                Ok(n) => Ok(n.unwrap_or(0)),
                Err(_) => Err(io::ErrorKind::InvalidData.into()),
            };
        }
        match socket.recv(opener.room())? {
            0 => return Ok(0),
            n => opener.received(n),
        }
    }
}

impl State {
    /// Client: begins the hand-shake; the hello waits for its end.
    pub fn open(&mut self, auth: &Auth) {
        let begun = Initiator::begin(&auth.secret, Purpose::Manager, auth.encrypt);
        let sent = begun.map(|(initiator, opening)| {
            self.send(&wire::encode(Kind::Opening, &opening));
            self.proof = Proof::Opened(initiator);
        });
        if let Err(e) = sent {
            ucs_error!("no hand-shake with {}: {e}", self.peer);
            if let Some(socket) = &self.socket {
                socket.shutdown();
            }
        }
    }
}

impl Conn {
    /// Server: a client begins the hand-shake. False when it ends with that.
    pub fn on_opening(&self, state: &mut State, opening: &[u8]) -> bool {
        let peer = state.peer;
        let Some(auth) = &self.shared.settings.auth else {
            self.unproven(
                state,
                format_args!(
                    "{peer} asks for a secret, and UCX_TCP_AUTH_FILE is not set here: rejected"
                ),
            );
            return false;
        };
        let answered = opening
            .first_chunk()
            .map(|opening| auth::answer(&auth.secret, Purpose::Manager, auth.encrypt, opening));
        let Some(Ok(answered)) = answered else {
            self.unproven(
                state,
                format_args!("{peer} has another secret than that of UCX_TCP_AUTH_FILE: rejected"),
            );
            return false;
        };
        state.send(&wire::encode(Kind::Answer, &answered.answer));
        state.proof = Proof::Keys(Box::new(answered.session));
        true
    }

    /// Server: a client says hello without proof.
    pub fn on_plain_hello(&self, state: &mut State) {
        let peer = state.peer;
        self.unproven(
            state,
            format_args!(
                "{peer} does not prove that it has the secret of UCX_TCP_AUTH_FILE: rejected"
            ),
        );
    }

    fn unproven(&self, state: &mut State, text: core::fmt::Arguments<'_>) {
        if self.shared.first(Oddity::Secret) {
            ucs_error!("{text} (not logged again)");
        }
        state.send(&wire::encode(Kind::Reject(Why::Secret), &[]));
        // Unread bytes would make the close take the answer back.
        self.swallow(state);
    }

    /// Client: the server answers the opening. False when it has no proof.
    pub fn on_answer(self: &Arc<Conn>, state: &mut State, answer: &[u8]) -> bool {
        let proof = core::mem::replace(&mut state.proof, Proof::None);
        let (Proof::Opened(initiator), Some(answer)) = (proof, answer.first_chunk()) else {
            return false;
        };
        let Ok(session) = initiator.finish(answer) else {
            ucs_error!(
                "the server at {} does not prove that it has the secret of UCX_TCP_AUTH_FILE",
                state.peer
            );
            state.fail_client(self, Status::REJECTED);
            return true;
        };
        state.proof = Proof::Keys(Box::new(session));
        if let Role::Client(client) = &mut state.role
            && let Some(hello) = client.hello.take()
        {
            state.send(&hello);
        }
        true
    }
}
