//! With a secret: the handshake of `auth` on a connection, before any other byte is interpreted.
//!
//! The connecting side sends an opening and gets a reply; then its greeting and the reply to that are sent in one record
//! each. Before there are keys either side may reject the other in a plain frame, so that both can log the reason. No byte
//! beyond the expected message is read: other code reads what follows, as it is or in records.
#![forbid(unsafe_code)]

use super::accept::{self, UnauthPeer};
use super::conn::{Conn, Phase};
use super::hello::{HELLO_LEN, Received};
use super::iface::{Face, Once, TcpIface};
use super::wire::{
    self, ANSWER, Bad, Frame, HEADER_LEN, HELLO, MAGIC, OPENING, REJECT, Reason, UPSTREAM_GREETING,
    VERSION,
};
use super::{link, rx};
use crate::sys::socket;
use crate::ucs::Status;
use crate::ucs_error;
use crate::uct::auth::{self, Answered, Auth, Initiator, Purpose, Session};
use crate::wire::{Reader, Writer};
use core::cell::RefCell;
use std::io;
use std::rc::Rc;

/// Magic, version and two bytes of zero.
const MARK_LEN: usize = 8;
const OPENING_BODY: usize = MARK_LEN + auth::OPENING_LEN;
const OPENING_MESSAGE: usize = HEADER_LEN + OPENING_BODY;
const ANSWER_MESSAGE: usize = HEADER_LEN + auth::ANSWER_LEN;
const REJECT_MESSAGE: usize = HEADER_LEN + 1;
/// The record of a greeting, without its length.
const HELLO_RECORD: usize = HELLO_LEN + auth::TAG;
/// The most that is read from an unauthenticated peer.
pub const FIRST_LEN: usize = auth::PREFIX + HELLO_RECORD;
/// The longest frame that replies to a greeting.
const MAX_REPLY: usize = 32;

/// Header of a message before there are keys: kind and length of the body. A kind that nobody has stands for a header
/// with reserved bits.
fn header(bytes: &[u8]) -> Option<(u8, usize)> {
    let word = Reader::new(bytes).u64()?;
    let kind = if word & 0xffff_ff00 == 0 {
        word as u8
    } else {
        u8::MAX
    };
    Some((kind, (word >> 32) as usize))
}

fn head_of(kind: u8, body: usize) -> [u8; HEADER_LEN] {
    wire::am_header(kind, body)
}

/// The handshake of a connection that this side makes.
pub struct Proof {
    due: Due,
    bytes: [u8; ANSWER_MESSAGE],
    len: usize,
}

/// What it waits for.
enum Due {
    /// The answer to the opening.
    Answer(Initiator),
    /// The reply to the greeting.
    Reply(Session),
}

enum Step {
    /// More bytes have to come.
    Wait(Box<Proof>),
    /// There may be more.
    More(Box<Proof>),
    /// The reply to the greeting.
    Replied(Frame, Session),
}

enum Failure {
    /// The other side turns this one down, before there are keys.
    Rejected(Reason),
    /// It does not have the secret, or is none of ours.
    Unproven(&'static str),
    Io(io::Error),
}

/// The kernel has connected: sends the opening.
pub fn begin(face: &TcpIface, conn: &Conn, auth: &Auth) -> io::Result<()> {
    let (initiator, noise) = Initiator::begin(&auth.secret, Purpose::Data, auth.encrypt)?;
    let mut out = [0; OPENING_MESSAGE];
    let mut w = Writer::new(&mut out);
    w.bytes(&head_of(OPENING, OPENING_BODY));
    w.u32(MAGIC);
    w.u16(VERSION);
    w.u16(0);
    w.bytes(&noise);
    send_all(conn, &out)?;
    conn.socket.security.proof.set(Some(Box::new(Proof {
        due: Due::Answer(initiator),
        bytes: [0; ANSWER_MESSAGE],
        len: 0,
    })));
    conn.phase.set(Phase::Proving);
    face.poll_soon();
    Ok(())
}

/// A new socket has room for a message of the handshake.
fn send_all(conn: &Conn, bytes: &[u8]) -> io::Result<()> {
    match conn.socket.with(|s| s.send(bytes)) {
        Some(Ok(n)) if n == bytes.len() => Ok(()),
        Some(Err(e)) => Err(e),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Bytes were received in the phase `Proving`. Returns the number of events.
pub fn receive(face: &TcpIface, conn: &Rc<Conn>) -> u32 {
    while let Some(proof) = conn.socket.security.proof.take() {
        match proof.step(face, conn) {
            Ok(Step::More(proof)) => conn.socket.security.proof.set(Some(proof)),
            Ok(Step::Wait(proof)) => {
                conn.socket.security.proof.set(Some(proof));
                break;
            }
            Ok(Step::Replied(frame, session)) => {
                conn.phase.set(Phase::Greeting);
                if session.encrypted {
                    conn.seal(session);
                }
                if !rx::control(face, conn, frame) {
                    give_up(face, conn, "its reply to a greeting is invalid now");
                }
                return 1;
            }
            Err(Failure::Rejected(reason)) => link::on_reject(face, conn, reason),
            Err(Failure::Unproven(why)) => give_up(face, conn, why),
            Err(Failure::Io(e)) => link::retry(face, conn, &e),
        }
    }
    0
}

fn give_up(face: &TcpIface, conn: &Rc<Conn>, why: &str) {
    if face.first(Once::Secret) {
        let to = conn
            .remote
            .get()
            .map_or_else(String::new, |r| r.to_string());
        ucs_error!("tcp: {to} does not prove that it has the secret of UCX_TCP_AUTH_FILE: {why}");
    }
    link::abort(face, conn, Status::UNREACHABLE);
}

impl Proof {
    /// Reads up to the end of the expected message, and handles it if it is complete.
    fn step(mut self: Box<Proof>, face: &TcpIface, conn: &Conn) -> Result<Step, Failure> {
        let wanted = self.wanted()?;
        if self.len < wanted {
            return match socket::recv(conn.fd(), &mut self.bytes[self.len..wanted]) {
                Ok(0) => Err(Failure::Io(io::ErrorKind::ConnectionReset.into())),
                Ok(n) => {
                    self.len += n;
                    Ok(Step::More(self))
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(Step::Wait(self)),
                Err(e) => Err(Failure::Io(e)),
            };
        }
        let message = &self.bytes[..wanted];
        match self.due {
            Due::Answer(initiator) => {
                let session = on_reply_to_opening(initiator, message)?;
                send_greeting(face, conn, session)
            }
            Due::Reply(mut session) => {
                let mut out = [0; MAX_REPLY];
                let record = &message[auth::PREFIX..];
                let reply = session.opener.open_alone(record, &mut out);
                match reply.map(|n| wire::decode(&out[..n], 0).map(|frame| (frame, n))) {
                    Ok(Ok((Some((frame, len)), n))) if len == n => {
                        Ok(Step::Replied(frame, session))
                    }
                    _ => Err(Failure::Unproven(
                        "its reply to a greeting is not made with it",
                    )),
                }
            }
        }
    }

    /// Length of the expected message, as far as its received bytes tell.
    fn wanted(&self) -> Result<usize, Failure> {
        let here = &self.bytes[..self.len];
        match &self.due {
            Due::Answer(_) => match header(here) {
                None => Ok(HEADER_LEN),
                Some((ANSWER, auth::ANSWER_LEN)) => Ok(ANSWER_MESSAGE),
                Some((REJECT, 1)) => Ok(REJECT_MESSAGE),
                Some(_) => Err(Failure::Unproven("its reply is no part of a handshake")),
            },
            Due::Reply(_) => match Reader::new(here).u16().map(usize::from) {
                None => Ok(auth::PREFIX),
                Some(n) if n <= MAX_REPLY + auth::TAG => Ok(auth::PREFIX + n),
                Some(_) => Err(Failure::Unproven("its reply to a greeting is too long")),
            },
        }
    }
}

/// The first message of the accepting side.
fn on_reply_to_opening(initiator: Initiator, message: &[u8]) -> Result<Session, Failure> {
    if let Some((noise, ANSWER)) = message.last_chunk().zip(message.first().copied()) {
        let session = initiator.finish(noise);
        return session.map_err(|_| Failure::Unproven("its reply is not made with it"));
    }
    match wire::decode(message, 0) {
        Ok(Some((Frame::Reject(reason @ (Reason::Secret | Reason::Version)), _))) => {
            Err(Failure::Rejected(reason))
        }
        _ => Err(Failure::Unproven("it rejects the connection without proof")),
    }
}

/// The other side has proven itself: sends the greeting.
fn send_greeting(face: &TcpIface, conn: &Conn, mut session: Session) -> Result<Step, Failure> {
    let sealed = session.sealer.seal(&link::hello(face, conn));
    sealed.map_err(|broken| Failure::Io(io::Error::other(broken.to_string())))?;
    let record = session.sealer.pending();
    send_all(conn, record).map_err(Failure::Io)?;
    let sent = record.len();
    session.sealer.sent(sent);
    Ok(Step::More(Box::new(Proof {
        due: Due::Reply(session),
        bytes: [0; ANSWER_MESSAGE],
        len: 0,
    })))
}

/// What an unauthenticated peer has sent so far.
enum Input {
    /// The expected message has so many bytes.
    Due(usize),
    /// A greeting without proof.
    Plain,
    Bad(Bad),
}

fn classify(unauth_peer: &UnauthPeer) -> Input {
    let here = &unauth_peer.bytes[..unauth_peer.len];
    if unauth_peer.session.is_some() {
        return match Reader::new(here).u16().map(usize::from) {
            None => Input::Due(auth::PREFIX),
            Some(HELLO_RECORD) => Input::Due(FIRST_LEN),
            Some(len) => Input::Bad(Bad::Length {
                kind: HELLO,
                len: len as u32,
            }),
        };
    }
    if here.starts_with(&UPSTREAM_GREETING.to_le_bytes()) {
        return Input::Bad(Bad::Upstream);
    }
    match header(here) {
        None => Input::Due(HEADER_LEN),
        // All of it is read, since closing a socket with unread bytes discards the reply.
        Some((HELLO, _)) if here.len() < HELLO_LEN => Input::Due(HELLO_LEN),
        Some((HELLO, _)) => Input::Plain,
        Some((OPENING, OPENING_BODY)) => Input::Due(OPENING_MESSAGE),
        Some((kind, len)) if kind == OPENING => Input::Bad(Bad::Length {
            kind,
            len: len as u32,
        }),
        Some((kind, _)) => Input::Bad(Bad::Kind(kind)),
    }
}

/// With a secret: reads the bytes of an unauthenticated peer, up to its greeting.
pub fn read_greeting(face: &Face, auth: &Auth, token: u64, unauth_peer: &Rc<RefCell<UnauthPeer>>) {
    loop {
        let mut s = unauth_peer.borrow_mut();
        let from = s.from;
        let due = match classify(&s) {
            Input::Due(due) => due,
            Input::Plain => {
                drop(s);
                unproven(face, unauth_peer, "it does not use the secret");
                break;
            }
            Input::Bad(Bad::Upstream) => {
                accept::upstream_peer(face, from);
                break;
            }
            Input::Bad(bad) => {
                accept::garbage(face, from, format_args!("it began with {bad}"));
                break;
            }
        };
        let UnauthPeer {
            socket: Some(socket),
            bytes,
            len,
            session,
            ..
        } = &mut *s
        else {
            return;
        };
        if *len < due {
            match socket.recv(&mut bytes[*len..due]) {
                Ok(n) if n > 0 => *len += n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                _ => break,
            }
            continue;
        }
        *len = 0;
        let Some(session) = session else {
            let mut opening = [0; OPENING_MESSAGE];
            opening.copy_from_slice(&bytes[..OPENING_MESSAGE]);
            drop(s);
            if !on_opening(face, auth, unauth_peer, &opening) {
                break;
            }
            continue;
        };
        let mut hello = [0; HELLO_LEN];
        let opened = session
            .opener
            .open_alone(&bytes[auth::PREFIX..FIRST_LEN], &mut hello);
        drop(s);
        match opened.map(|n| Received::decode(&hello[..n])) {
            Ok(Ok(Some(received))) => accept::on_hello(face, unauth_peer, &received),
            // The opening was replayed, or there is a man in the middle.
            Err(broken) => accept::garbage(face, from, broken),
            Ok(_) => accept::garbage(face, from, "a greeting that is none"),
        }
        break;
    }
    accept::forget_unauth_peer(face, token);
}

/// Replies to an opening. Returns whether the handshake goes on.
fn on_opening(
    face: &TcpIface,
    auth: &Auth,
    unauth_peer: &Rc<RefCell<UnauthPeer>>,
    opening: &[u8; OPENING_MESSAGE],
) -> bool {
    let mut r = Reader::new(&opening[HEADER_LEN..]);
    let mark = r.u32().zip(r.u16()).zip(r.u16());
    if mark != Some(((MAGIC, VERSION), 0)) {
        let from = unauth_peer.borrow().from;
        accept::send_frame(unauth_peer, &Frame::Reject(Reason::Version));
        accept::garbage(face, from, "it opens with another version of the protocol");
        return false;
    }
    let Some(noise) = opening.last_chunk() else {
        return false;
    };
    face.greetings.set(face.greetings.get() + 1);
    let Ok(Answered { session, answer }) =
        auth::answer(&auth.secret, Purpose::Data, auth.encrypt, noise)
    else {
        unproven(face, unauth_peer, "it has another secret");
        return false;
    };
    let mut out = [0; ANSWER_MESSAGE];
    let mut w = Writer::new(&mut out);
    w.bytes(&head_of(ANSWER, auth::ANSWER_LEN));
    w.bytes(&answer);
    let mut s = unauth_peer.borrow_mut();
    s.session = Some(Box::new(session));
    let sent = s.socket.as_ref().map(|socket| socket.send(&out));
    matches!(sent, Some(Ok(ANSWER_MESSAGE)))
}

/// Rejects a peer that does not prove that it knows the secret.
fn unproven(face: &TcpIface, unauth_peer: &Rc<RefCell<UnauthPeer>>, why: &str) {
    if face.first(Once::Secret) {
        let from = unauth_peer.borrow().from;
        ucs_error!(
            "tcp: dropped a connection from {from}: it does not prove that it has the secret of UCX_TCP_AUTH_FILE: {why}"
        );
    }
    accept::send_frame(unauth_peer, &Frame::Reject(Reason::Secret));
}

/// Without a secret: rejects a peer that opens a handshake.
pub fn no_secret(face: &TcpIface, unauth_peer: &Rc<RefCell<UnauthPeer>>) {
    if face.first(Once::Secret) {
        let from = unauth_peer.borrow().from;
        ucs_error!(
            "tcp: dropped a connection from {from}: it asks for a secret, and UCX_TCP_AUTH_FILE is not set here"
        );
    }
    accept::send_frame(unauth_peer, &Frame::Reject(Reason::Secret));
}
