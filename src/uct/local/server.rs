//! The server: the sockets of the channel, what answers on them, and the segments that other processes may request.
//!
//! It runs on the thread of `ucs/event_loop`. The cost of a client is limited: a request has a fixed size, a connection
//! without a whole request is kept until there are more than `MAX_INCOMPLETE`, and a client of another user is rejected at
//! once.

use super::own_listener::OwnListener;
use super::wire::{Answer, ProcessName, Question, REQUEST_LEN, Request, Verdict};
use super::{ProcessId, means_one_user, ticket};
use crate::sys::eventfd::EventFd;
use crate::sys::local_socket::{self, peer_credentials};
use crate::sys::lock::Mutex;
use crate::sys::machine::effective_user;
use crate::sys::{is_shortage, membarrier, process, random};
use crate::ucs::event_loop::{Descriptors, EventService, Handler};
use crate::ucs::fork::PerProcess;
use crate::ucs::sync::{AtomicUsize, Ordering};
use crate::ucs::{Failure, Result, Status};
use crate::ucs_debug;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections whose request is incomplete; the oldest is closed when there are more.
const MAX_INCOMPLETE: usize = 64;
/// Pause of accepting when descriptors ran out.
const PAUSE_MS: i32 = 100;
/// How long a socket's address may stay taken after it was closed, and between two tries.
const REBIND: Duration = Duration::from_secs(1);
const REBIND_STEP: Duration = Duration::from_micros(200);
/// Where the socket for other network namespaces is bound, for the moment until it is opened: the first that works.
const DOOR_DIRS: [&str; 2] = ["/dev/shm", "/tmp"];

/// A segment that other processes may request.
pub struct Export {
    /// Its memory file; `None` of a System V segment.
    pub file: Option<OwnedFd>,
    /// In place of a file that is kept: opens one for each process that asks.
    pub open: Option<Open>,
    pub sysv: Option<i32>,
    pub len: u64,
    /// Of an interface: readable once somebody wakes its owner.
    pub wake: Option<EventFd>,
}

/// Called by the thread of the server.
pub type Open = Box<dyn Fn() -> Option<OwnedFd> + Send + Sync>;

#[derive(Default)]
struct Exports {
    last: u32,
    by_serial: HashMap<u32, Arc<Export>>,
}

static EXPORTS: PerProcess<Mutex<Exports>> = PerProcess::new(Mutex::default);

/// An export that others find by its serial number; taken back when dropped.
pub struct Shared {
    pub serial: u32,
    pub export: Arc<Export>,
    owner: ProcessId,
}

impl Shared {
    pub fn new(export: Export) -> Result<Shared> {
        let export = Arc::new(export);
        let mut exports = EXPORTS.get().lock();
        let mut serial = exports.last;
        loop {
            serial = serial.wrapping_add(1);
            if serial != 0 && !exports.by_serial.contains_key(&serial) {
                break;
            }
        }
        exports.last = serial;
        exports.by_serial.insert(serial, Arc::clone(&export));
        Ok(Shared {
            serial,
            export,
            owner: own_id()?,
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A child of fork() has exports of its own.
        if is_own(self.owner) {
            EXPORTS.get().lock().by_serial.remove(&self.serial);
        }
    }
}

/// An export of this very process.
pub fn own_export(serial: u32) -> Option<Arc<Export>> {
    EXPORTS.get().lock().by_serial.get(&serial).cloned()
}

static OWN_ID: PerProcess<Option<ProcessId>> = PerProcess::new(|| random::random_u64().ok());

pub fn own_id() -> Result<ProcessId> {
    OWN_ID.get().ok_or(Status::IO_ERROR)
}

pub fn is_own(id: ProcessId) -> bool {
    *OWN_ID.get() == Some(id)
}

/// A word of this process that others may have the kernel read, as a proof that they can.
pub fn probe_word() -> &'static u64 {
    static WORD: PerProcess<u64> = PerProcess::new(|| random::random_u64().unwrap_or(0x5ca1_ab1e));
    WORD.get()
}

/// The address of a process's socket that those of its network namespace use.
pub fn abstract_address(id: ProcessId) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("ucx-{id:016x}"))
}

/// The file that the socket for other network namespaces is bound to before it is removed.
pub fn door_name(id: ProcessId) -> String {
    format!(".ucx-{id:016x}")
}

/// A socket without a name that others connect to by `/proc/PID/fd/N`: whatever network namespace they are in. It was
/// bound to a path for a moment; what keeps the path's object is `place`.
struct Door {
    listener: OwnListener,
    place: OwnedFd,
}

impl Door {
    fn open(id: ProcessId) -> Option<Door> {
        DOOR_DIRS.iter().find_map(|dir| {
            let path = Path::new(dir).join(door_name(id));
            let listener = OwnListener::new(|| UnixListener::bind(&path)).ok()?;
            let place = crate::sys::file::open_place(&path);
            let removed = std::fs::remove_file(&path);
            listener.set_nonblocking(true).ok()?;
            removed.ok()?;
            let place = place.ok()?;
            Some(Door { listener, place })
        })
    }
}

/// Binds the process's address. A child that is being started has a copy of the socket that was bound to it before,
/// until it runs its program.
fn bind(address: &SocketAddr) -> io::Result<OwnListener> {
    let begun = Instant::now();
    loop {
        match OwnListener::new(|| UnixListener::bind_addr(address)) {
            Err(e) if e.kind() == io::ErrorKind::AddrInUse && begun.elapsed() < REBIND => {
                std::thread::sleep(REBIND_STEP);
            }
            made => return made,
        }
    }
}

struct Channel {
    name: ProcessName,
    /// Who is served: the user whose rights this process had when the channel was opened.
    user: u32,
    listener: OwnListener,
    door: Option<Door>,
    members: AtomicUsize,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    incomplete: BTreeMap<u64, Connection>,
    /// The number of the last one that was kept.
    last: u64,
    accepting: Accepting,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Accepting {
    #[default]
    Yes,
    /// Descriptors ran out just now.
    RanOut,
    Paused,
}

/// A connection whose request is incomplete.
struct Connection {
    stream: UnixStream,
    bytes: [u8; REQUEST_LEN],
    len: usize,
}

static CHANNEL: EventService<Channel> = EventService::new();

/// What the thread waits for: the two listeners, and connections from this number on.
const LISTENER: u64 = 0;
const DOOR: u64 = 1;
const FIRST_CONNECTION: u64 = 2;

/// A user of the server, which is there from the first to the last one.
pub struct Membership {
    pub name: ProcessName,
}

/// Opens the channel, if it is not open yet.
pub fn join() -> core::result::Result<Membership, Failure> {
    let id = own_id()?;
    // Shared memory and shared workers want both. Once the thread runs, the kernel takes milliseconds for each.
    membarrier::register();
    membarrier::register_own();
    let joins = |channel: &Channel, _: &Descriptors| {
        // Relaxed: changed under the lock of the service only.
        channel.members.fetch_add(1, Ordering::Relaxed);
        channel.name
    };
    let name = CHANNEL
        .join(|descriptors| Channel::open(id, descriptors), joins)
        .map_err(|e| Failure::of("the socket for processes of this host", &e))?;
    Ok(Membership { name })
}

impl Drop for Membership {
    fn drop(&mut self) {
        if !is_own(self.name.id) {
            return;
        }
        CHANNEL.remove_user(|channel| channel.members.fetch_sub(1, Ordering::Relaxed) == 1);
    }
}

impl Channel {
    fn open(id: ProcessId, descriptors: &Descriptors) -> io::Result<Channel> {
        // The first message is not to wait for these.
        let user = effective_user();
        means_one_user(user);
        probe_word();
        let listener = bind(&abstract_address(id)?)?;
        listener.set_nonblocking(true)?;
        let door = Door::open(id);
        let pid = process::pid();
        let name = ProcessName {
            id,
            pid: if door.is_some() { pid } else { 0 },
            door: door
                .as_ref()
                .map_or(0, |d| d.place.as_raw_fd().cast_unsigned()),
        };
        let channel = Channel {
            name,
            user,
            listener,
            door,
            members: AtomicUsize::new(0),
            connections: Mutex::default(),
        };
        channel.listen(descriptors)?;
        Ok(channel)
    }

    fn listen(&self, descriptors: &Descriptors) -> io::Result<()> {
        descriptors.add(self.listener.as_raw_fd(), LISTENER)?;
        match &self.door {
            Some(door) => descriptors.add(door.listener.as_raw_fd(), DOOR),
            None => Ok(()),
        }
    }

    fn stop_listening(&self, descriptors: &Descriptors) {
        let door = self.door.iter().map(|d| d.listener.as_raw_fd());
        for fd in [self.listener.as_raw_fd()].into_iter().chain(door) {
            // One that is not in the set need not be taken out.
            let _ = descriptors.delete(fd);
        }
    }
}

impl Handler for Channel {
    fn on_ready(&self, descriptors: &Descriptors, word: u64) {
        let mut connections = self.connections.lock();
        let listener = match word {
            LISTENER => Some(&self.listener),
            DOOR => self.door.as_ref().map(|door| &door.listener),
            _ => None,
        };
        match (listener, connections.incomplete.remove(&word)) {
            (Some(listener), _) => self.accept(listener, &mut connections, descriptors),
            (None, Some(connection)) => {
                if let Some(connection) = self.receive(connection) {
                    connections.incomplete.insert(word, connection);
                }
            }
            // It was closed for another one.
            (None, None) => {}
        }
    }

    fn after_events(&self, descriptors: &Descriptors) -> Option<i32> {
        let accepting = &mut self.connections.lock().accepting;
        match *accepting {
            Accepting::Yes => return None,
            Accepting::RanOut => {
                self.stop_listening(descriptors);
                *accepting = Accepting::Paused;
            }
            Accepting::Paused if self.listen(descriptors).is_ok() => *accepting = Accepting::Yes,
            Accepting::Paused => {}
        }
        (*accepting == Accepting::Paused).then_some(PAUSE_MS)
    }
}

impl Channel {
    /// Takes one connection.
    fn accept(
        &self,
        listener: &UnixListener,
        connections: &mut Connections,
        descriptors: &Descriptors,
    ) {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(e) => {
                if is_shortage(&e) {
                    connections.accepting = Accepting::RanOut;
                }
                return;
            }
        };
        let Ok(client) = peer_credentials(stream.as_fd()) else {
            // Without an answer it asks again.
            return;
        };
        if client.uid != self.user || !means_one_user(client.uid) {
            // It may not wait for this.
            let answer = Answer::of(Verdict::OtherUser).encode();
            let _ = local_socket::send(stream.as_fd(), &answer, &[]);
            return;
        }
        // The request has usually come already.
        let received = self.receive(Connection {
            stream,
            bytes: [0; REQUEST_LEN],
            len: 0,
        });
        if let Some(connection) = received {
            connections.keep(connection, descriptors);
        }
    }

    /// Receives more of a request, and answers one that is complete. An incomplete one is given back.
    fn receive(&self, mut connection: Connection) -> Option<Connection> {
        let rest = &mut connection.bytes[connection.len..];
        match local_socket::recv_ready(connection.stream.as_fd(), rest) {
            Ok(n) if n > 0 => {
                connection.len += n;
                if connection.len < REQUEST_LEN {
                    return Some(connection);
                }
                let request = Request::decode(&connection.bytes)?;
                self.reply(&connection.stream, &request);
                None
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Some(connection),
            _ => None,
        }
    }

    fn reply(&self, stream: &UnixStream, request: &Request) {
        let of = |verdict| Answer {
            probe: core::ptr::from_ref(probe_word()) as u64,
            word: *probe_word(),
            ..Answer::of(verdict)
        };
        let (verdict, export) = match request.question {
            _ if request.to != self.name.id => (None, None),
            Question::Process => (Some(Verdict::Yes), None),
            Question::Segment { serial } => {
                let export = own_export(serial);
                let verdict = export.as_ref().map_or(Verdict::No, |_| Verdict::Yes);
                (Some(verdict), export)
            }
            Question::Ticket {
                from,
                to,
                ticket: shown,
                serial,
            } => match shown == ticket(from, to) {
                true => (Some(Verdict::Yes), own_export(serial)),
                false => (Some(Verdict::No), None),
            },
        };
        let mut answer = verdict.map_or(Answer::of(Verdict::No), of);
        let open = export.as_ref().and_then(|export| export.open.as_ref());
        let opened = open.and_then(|open| open());
        if let Some(export) = &export {
            answer.file = export.file.is_some() || opened.is_some();
            answer.wake = export.wake.is_some();
            answer.sysv = export.sysv;
            answer.len = export.len;
        }
        let export = export.as_deref();
        let kept = export.and_then(|export| export.file.as_ref());
        let file = kept.or(opened.as_ref()).map(AsFd::as_fd);
        let wake = export.and_then(|e| e.wake.as_ref()).map(AsFd::as_fd);
        let fds: Vec<_> = file.into_iter().chain(wake).collect();
        if let Err(e) = local_socket::send(stream.as_fd(), &answer.encode(), &fds) {
            ucs_debug!("a process of this host went before it was answered: {e}");
        }
    }
}

impl Connections {
    /// Keeps a connection until more of its request comes.
    fn keep(&mut self, connection: Connection, descriptors: &Descriptors) {
        let word = FIRST_CONNECTION.max(self.last + 1);
        self.last = word;
        let fd = connection.stream.as_raw_fd();
        if descriptors.add(fd, word).is_err() {
            return;
        }
        if self.incomplete.len() >= MAX_INCOMPLETE {
            self.incomplete.pop_first();
        }
        self.incomplete.insert(word, connection);
    }
}
