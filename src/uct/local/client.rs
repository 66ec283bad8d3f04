//! The client: one connection for each request, with the timeout `PATIENCE`.

use super::server::{abstract_address, door_name, is_own, own_export, probe_word};
use super::wire::{ANSWER_LEN, Answer, ProcessName, Question, Request, Verdict};
use super::{Export, ProcessId, means_one_user};
use crate::sys::eventfd::EventFd;
use crate::sys::is_shortage;
use crate::sys::local_socket::{self, Credentials, peer_credentials};
use crate::sys::lock::Mutex;
use crate::sys::machine::effective_user;
use crate::sys::process as own;
use crate::ucs::fork::PerProcess;
use crate::ucs_debug;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The timeout of a request, for a process that is stopped, or whose machine is very busy,
const PATIENCE: Duration = Duration::from_secs(3);
/// and for one that did not reply the last time: peers choose the names in requests.
const BRIEF_PATIENCE: Duration = Duration::from_millis(5);
/// Time until the next request to it.
pub const SILENCE: Duration = Duration::from_millis(500);
/// After this time, it gets the full timeout again.
const FORGET_SILENCE: Duration = Duration::from_secs(60);
/// Attempts within the timeout if the process drops the request.
const ATTEMPTS: u32 = 32;

/// Why a process refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No process listens under that name.
    Gone,
    OtherUser,
    /// The kernel does not let us at its socket, which another network namespace has; the errno.
    Forbidden(i32),
    /// It does not reply.
    Silent,
    /// It could not be asked, for a reason that says nothing about it; the errno, if there is one.
    NotAsked(Option<i32>),
    /// It has no such thing.
    Denied,
    /// Its reply cannot be used.
    Unusable,
}

impl Refusal {
    /// Whether another request may end otherwise.
    pub fn is_temporary(self) -> bool {
        matches!(self, Refusal::Silent | Refusal::NotAsked(_))
    }

    /// Whether the process may live all the same.
    pub fn may_live(self) -> bool {
        self.is_temporary() || matches!(self, Refusal::OtherUser | Refusal::Forbidden(_))
    }
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let error = |errno: &i32| io::Error::from_raw_os_error(*errno);
        f.write_str(match self {
            Refusal::Gone => "the process has ended, or has closed its worker",
            Refusal::OtherUser => "the process belongs to another user",
            Refusal::Forbidden(errno) => {
                return write!(
                    f,
                    "its socket is in another network namespace: {}",
                    error(errno)
                );
            }
            Refusal::Silent => "the process does not answer: is it stopped?",
            Refusal::NotAsked(Some(errno)) => {
                return write!(f, "the process could not be asked: {}", error(errno));
            }
            Refusal::NotAsked(None) => "the process could not be asked",
            Refusal::Denied => "the process does not know of it",
            Refusal::Unusable => "what the process gave cannot be used",
        })
    }
}

/// Facts about a process from the kernel and its own reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// From the kernel; 0 if it has no pid in this namespace.
    pub pid: u32,
    /// A word of its memory: where, and what stands there.
    pub probe: u64,
    pub word: u64,
}

pub struct Reply {
    pub answer: Answer,
    pub fds: Vec<OwnedFd>,
    pub known: Known,
}

/// A segment of another process, or of this one.
pub enum Segment {
    Theirs {
        /// The memory file; `None` of a System V segment.
        file: Option<OwnedFd>,
        sysv: Option<i32>,
        len: u64,
        pid: u32,
        /// What wakes its owner, if it is an interface's.
        wake: Option<EventFd>,
    },
    Own(Arc<Export>),
}

/// Processes that did not reply lately or could not be asked, with the time of the last request and how it ended.
static SILENT: PerProcess<Mutex<HashMap<ProcessId, (Instant, Refusal)>>> =
    PerProcess::new(Mutex::default);
/// Processes that replied, by their ids.
static KNOWN: PerProcess<Mutex<HashMap<ProcessId, Known>>> = PerProcess::new(Mutex::default);
/// Most cached processes; beyond it, the cache is cleared.
const MOST_KNOWN: usize = 4096;

fn connect(name: ProcessName, patience: Duration) -> io::Result<UnixStream> {
    let first = abstract_address(name.id).and_then(|a| local_socket::connect(&a, patience));
    first.or_else(|e| match name.door {
        0 => Err(e),
        _ if e.kind() == io::ErrorKind::WouldBlock => Err(e),
        door => {
            let place = format!("/proc/{}/fd/{door}", name.pid);
            // Process and descriptor are the peer's word: nothing is connected to but such a socket.
            let file = std::fs::read_link(&place)?;
            if !is_channel(&file, name.id) {
                return Err(io::ErrorKind::NotFound.into());
            }
            SocketAddr::from_pathname(place).and_then(|a| local_socket::connect(&a, patience))
        }
    })
}

/// Whether a descriptor leads to the removed socket file of the process with this id.
fn is_channel(file: &Path, id: ProcessId) -> bool {
    let removed = format!("{} (deleted)", door_name(id));
    file.file_name()
        .is_some_and(|name| name == removed.as_str())
}

/// Whether the process dropped the connection before it replied, as it does with the oldest of too many.
fn is_dropped(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

/// One connection, one request, one reply; `None` for a malformed reply.
fn exchange(
    name: ProcessName,
    question: Question,
    patience: Duration,
) -> io::Result<Option<(Credentials, Answer, Vec<OwnedFd>)>> {
    let stream = connect(name, patience)?;
    let owner = peer_credentials(stream.as_fd())?;
    if owner.uid != effective_user() || !means_one_user(owner.uid) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let request = Request {
        to: name.id,
        question,
    };
    // A new socket has room for a request. One that was rejected before has its reply already.
    let sent = local_socket::send(stream.as_fd(), &request.encode(), &[]);
    if sent.is_err() {
        stream.set_nonblocking(true)?;
    }
    let mut bytes = [0; ANSWER_LEN];
    let (n, fds) = match (sent, local_socket::recv(stream.as_fd(), &mut bytes)) {
        (_, Ok(answer)) => answer,
        (Err(e), _) | (_, Err(e)) => return Err(e),
    };
    match n {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        ANSWER_LEN => Ok(Answer::decode(&bytes).map(|answer| (owner, answer, fds))),
        _ => Ok(None),
    }
}

/// Asks another process.
pub fn ask(name: ProcessName, question: Question) -> Result<Reply, Refusal> {
    let last = SILENT.get().lock().get(&name.id).copied();
    let patience = match last.map(|(asked, why)| (asked.elapsed(), why)) {
        Some((elapsed, why)) if elapsed < SILENCE => return Err(why),
        Some((elapsed, _)) if elapsed < FORGET_SILENCE => BRIEF_PATIENCE,
        _ => PATIENCE,
    };
    let failed = |e: io::Error| {
        ucs_debug!("process {} cannot be asked: {e}", name.pid);
        let why = match e.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Refusal::Silent,
            io::ErrorKind::PermissionDenied => e
                .raw_os_error()
                .map_or(Refusal::OtherUser, Refusal::Forbidden),
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Refusal::Gone,
            _ if is_dropped(&e) => Refusal::Gone,
            _ => Refusal::NotAsked(e.raw_os_error()),
        };
        if why == Refusal::Silent || is_shortage(&e) {
            let mut silent = SILENT.get().lock();
            silent.retain(|_, (asked, _)| asked.elapsed() < FORGET_SILENCE);
            silent.insert(name.id, (Instant::now(), why));
        }
        why
    };
    let begun = Instant::now();
    let mut attempts = 1;
    let (owner, answer, fds) = loop {
        match exchange(name, question, patience) {
            Ok(Some(reply)) => break reply,
            Ok(None) => return Err(Refusal::Unusable),
            // One that was waited for as long as that is silent.
            Err(e)
                if begun.elapsed() < patience
                    && (e.kind() == io::ErrorKind::WouldBlock
                        || attempts < ATTEMPTS && (is_dropped(&e) || is_shortage(&e))) =>
            {
                attempts += 1;
            }
            Err(e) => return Err(failed(e)),
        }
    };
    if last.is_some() {
        SILENT.get().lock().remove(&name.id);
    }
    if answer.verdict == Verdict::OtherUser {
        return Err(Refusal::OtherUser);
    }
    let known = Known {
        pid: owner.pid,
        probe: answer.probe,
        word: answer.word,
    };
    Ok(Reply { answer, fds, known })
}

fn remember(id: ProcessId, known: Known) {
    let mut all = KNOWN.get().lock();
    if all.len() >= MOST_KNOWN {
        all.clear();
    }
    all.insert(id, known);
}

/// The facts about a process, requested once.
pub fn process(name: ProcessName) -> Result<Known, Refusal> {
    if is_own(name.id) {
        return Ok(Known {
            pid: own::pid(),
            probe: core::ptr::from_ref(probe_word()) as u64,
            word: *probe_word(),
        });
    }
    if let Some(known) = KNOWN.get().lock().get(&name.id) {
        return Ok(*known);
    }
    let reply = ask(name, Question::Process)?;
    if reply.answer.verdict != Verdict::Yes {
        return Err(Refusal::Denied);
    }
    remember(name.id, reply.known);
    Ok(reply.known)
}

/// Whether a process replies now, without the cache.
pub fn look(name: ProcessName) -> Result<(), Refusal> {
    match is_own(name.id) {
        true => Ok(()),
        false => ask(name, Question::Process).map(drop),
    }
}

/// A segment of a process.
pub fn segment(name: ProcessName, serial: u32) -> Result<Segment, Refusal> {
    if is_own(name.id) {
        return own_export(serial).map(Segment::Own).ok_or(Refusal::Denied);
    }
    let wanted = (name.id, serial);
    let fetched = FETCHED.get().lock().take_if(|(key, _)| *key == wanted);
    if let Some((_, segment)) = fetched {
        return Ok(segment);
    }
    let reply = ask(name, Question::Segment { serial })?;
    if reply.answer.verdict != Verdict::Yes {
        return Err(Refusal::Denied);
    }
    remember(name.id, reply.known);
    segment_of(reply)
}

/// The segment that came with a confirmed ticket, and its owner and serial number.
type Fetched = Option<((ProcessId, u32), Segment)>;

static FETCHED: PerProcess<Mutex<Fetched>> = PerProcess::new(Mutex::default);

/// A confirmed ticket. As long as it lives, `segment` needs no request for the segment that came with it.
pub struct Confirmed(());

impl Drop for Confirmed {
    fn drop(&mut self) {
        FETCHED.get().lock().take();
    }
}

/// Whether the named process gave `ticket` of its worker `from` to our worker `to`. Fetches its segment with this serial
/// number too; 0 for none.
pub fn confirm(
    owner: ProcessName,
    (from, to): (u64, u64),
    ticket: u64,
    serial: u32,
) -> Result<Confirmed, Refusal> {
    if is_own(owner.id) {
        return match ticket == super::ticket(from, to) {
            true => Ok(Confirmed(())),
            false => Err(Refusal::Denied),
        };
    }
    let question = Question::Ticket {
        from,
        to,
        ticket,
        serial,
    };
    let reply = ask(owner, question)?;
    if reply.answer.verdict != Verdict::Yes {
        return Err(Refusal::Denied);
    }
    remember(owner.id, reply.known);
    if (reply.answer.file || reply.answer.sysv.is_some())
        && let Ok(segment) = segment_of(reply)
    {
        *FETCHED.get().lock() = Some(((owner.id, serial), segment));
    }
    Ok(Confirmed(()))
}

fn segment_of(reply: Reply) -> Result<Segment, Refusal> {
    let answer = reply.answer;
    let mut fds = reply.fds.into_iter();
    let file = if answer.file { fds.next() } else { None };
    let wake = match (answer.wake, fds.next()) {
        (true, Some(fd)) => Some(EventFd::received(fd).map_err(|_| Refusal::Unusable)?),
        (true, None) => return Err(Refusal::Unusable),
        (false, _) => None,
    };
    Ok(Segment::Theirs {
        file,
        sysv: answer.sysv,
        len: answer.len,
        pid: reply.known.pid,
        wake,
    })
}
