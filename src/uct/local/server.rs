//! The server: the sockets of the channel, its thread, and the segments that other processes may request.
//!
//! The cost of a client is limited: a request has a fixed size, a connection without request is kept until more than
//! `MOST_ASKERS` wait, and a client of another user is rejected at once.
#![forbid(unsafe_code)]

use super::own_listener::OwnListener;
use super::wire::{Answer, ProcessName, Question, REQUEST_LEN, Request, Verdict};
use super::{ProcessId, means_one_user, ticket};
use crate::sys::epoll::{Epoll, Event, NO_EVENT};
use crate::sys::eventfd::EventFd;
use crate::sys::local_socket::{self, peer_credentials};
use crate::sys::lock::Mutex;
use crate::sys::machine::effective_user;
use crate::sys::{is_shortage, membarrier, process, random};
use crate::ucs::fork::PerProcess;
use crate::ucs::service::Service;
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_diag};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections that wait for their request; the oldest goes when there are more.
const MOST_ASKERS: usize = 64;
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
    pub sysv: Option<i32>,
    pub len: u64,
    /// Of an interface: readable once somebody wakes its owner.
    pub wake: Option<EventFd>,
}

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
    epoll: Epoll,
    wake: EventFd,
    listener: OwnListener,
    door: Option<Door>,
    members: AtomicUsize,
    end: AtomicBool,
}

static CHANNEL: Service<Channel> = Service::new();

const WAKE: u64 = 0;
const LISTENER: u64 = 1;
const DOOR: u64 = 2;
const FIRST_ASKER: u64 = 3;

/// A user of the server. The thread starts with the first one and ends with the last.
pub struct Membership {
    pub name: ProcessName,
}

/// Opens the channel, if it is not open yet.
pub fn join() -> Result<Membership> {
    let id = own_id()?;
    let joins = |channel: &Arc<Channel>, _: &std::thread::Thread| {
        // Relaxed: changed under the lock of the service only.
        channel.members.fetch_add(1, Ordering::Relaxed);
        channel.name
    };
    let name = CHANNEL
        .join("ucx_local", || Channel::open(id), serve, joins)
        .inspect_err(|e| ucs_diag!("processes of this host cannot ask for memory: {e}"))?;
    Ok(Membership { name })
}

impl Drop for Membership {
    fn drop(&mut self) {
        if !is_own(self.name.id) {
            return;
        }
        CHANNEL.remove_user(
            |channel| channel.members.fetch_sub(1, Ordering::Relaxed) == 1,
            |channel, _| {
                // Release: pairs with the Acquire in `serve`.
                channel.end.store(true, Ordering::Release);
                channel.wake.signal();
            },
        );
    }
}

impl Channel {
    fn open(id: ProcessId) -> io::Result<Channel> {
        // Shared memory and shared workers want both. With a second thread the kernel takes milliseconds for each.
        membarrier::register();
        membarrier::register_own();
        // The first message is not to wait for this.
        means_one_user(effective_user());
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
            epoll: Epoll::new()?,
            wake: EventFd::new()?,
            listener,
            door,
            members: AtomicUsize::new(0),
            end: AtomicBool::new(false),
        };
        channel
            .epoll
            .add(channel.wake.raw(), libc::EPOLLIN as u32, WAKE)?;
        channel.listen()?;
        Ok(channel)
    }

    fn listen(&self) -> io::Result<()> {
        let add = |fd, word| self.epoll.add(fd, libc::EPOLLIN as u32, word);
        add(self.listener.as_raw_fd(), LISTENER)?;
        match &self.door {
            Some(door) => add(door.listener.as_raw_fd(), DOOR),
            None => Ok(()),
        }
    }

    fn stop_listening(&self) {
        let door = self.door.iter().map(|d| d.listener.as_raw_fd());
        for fd in [self.listener.as_raw_fd()].into_iter().chain(door) {
            // One that is not in the set need not be taken out.
            let _ = self.epoll.delete(fd);
        }
    }
}

/// A connection whose request is not whole yet.
struct Asker {
    stream: UnixStream,
    bytes: [u8; REQUEST_LEN],
    len: usize,
}

struct Server<'a> {
    channel: &'a Channel,
    askers: BTreeMap<u64, Asker>,
    next: u64,
    /// Who is served: the user whose rights this process had when it began.
    user: u32,
}

/// The thread.
fn serve(channel: &Channel) {
    let mut server = Server {
        channel,
        askers: BTreeMap::new(),
        next: FIRST_ASKER,
        user: effective_user(),
    };
    let mut events: [Event; 16] = [NO_EVENT; 16];
    let mut paused = false;
    // Acquire: pairs with the Release in `Membership::drop`.
    while !channel.end.load(Ordering::Acquire) {
        let limit = if paused { PAUSE_MS } else { -1 };
        let ready: Vec<u64> = match channel.epoll.wait(&mut events, limit) {
            Ok(ready) => ready.iter().map(|e| e.u64).collect(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return ucs_diag!("the local channel ends: {e}"),
        };
        if paused && channel.listen().is_ok() {
            paused = false;
        }
        for word in ready {
            match word {
                WAKE => drop(channel.wake.clear()),
                LISTENER => paused |= !server.accept(&channel.listener),
                DOOR => {
                    if let Some(door) = &channel.door {
                        paused |= !server.accept(&door.listener);
                    }
                }
                asker => server.go_on(asker),
            }
        }
        if paused {
            channel.stop_listening();
        }
    }
}

impl Server<'_> {
    /// Takes one connection; `false` when descriptors ran out.
    fn accept(&mut self, listener: &UnixListener) -> bool {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(e) => return !is_shortage(&e),
        };
        let Ok(asker) = peer_credentials(stream.as_fd()) else {
            // Nothing is said of who it is: it asks again.
            return true;
        };
        let same_user = asker.uid == self.user && means_one_user(asker.uid);
        if !same_user {
            // It may not wait for this.
            let _ = local_socket::send(
                stream.as_fd(),
                &Answer::of(Verdict::OtherUser).encode(),
                &[],
            );
            return true;
        }
        if stream.set_nonblocking(true).is_err() {
            return true;
        }
        // The request has usually come already.
        let asker = self.hear(Asker {
            stream,
            bytes: [0; REQUEST_LEN],
            len: 0,
        });
        if let Some(asker) = asker {
            self.keep(asker);
        }
        true
    }

    /// Has a connection looked at when more of its request comes.
    fn keep(&mut self, asker: Asker) {
        let word = self.next;
        self.next += 1;
        let fd = asker.stream.as_raw_fd();
        let added = self.channel.epoll.add(fd, libc::EPOLLIN as u32, word);
        if added.is_err() {
            return;
        }
        if self.askers.len() >= MOST_ASKERS {
            self.askers.pop_first();
        }
        self.askers.insert(word, asker);
    }

    /// More of a request that was kept is here.
    fn go_on(&mut self, word: u64) {
        let asker = self.askers.remove(&word);
        if let Some(asker) = asker.and_then(|asker| self.hear(asker)) {
            self.askers.insert(word, asker);
        }
    }

    /// Reads what an asker sent and answers a whole request. The connection is given back when more is to come.
    fn hear(&self, mut asker: Asker) -> Option<Asker> {
        match asker.stream.read(&mut asker.bytes[asker.len..]) {
            Ok(n) if n > 0 => {
                asker.len += n;
                if asker.len < REQUEST_LEN {
                    return Some(asker);
                }
                let request = Request::decode(&asker.bytes)?;
                self.reply(&asker.stream, &request);
                None
            }
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Some(asker)
            }
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
            _ if request.to != self.channel.name.id => (None, None),
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
        if let Some(export) = &export {
            answer.file = export.file.is_some();
            answer.wake = export.wake.is_some();
            answer.sysv = export.sysv;
            answer.len = export.len;
        }
        let export = export.as_deref();
        let file = export.and_then(|e| e.file.as_ref()).map(AsFd::as_fd);
        let wake = export.and_then(|e| e.wake.as_ref()).map(AsFd::as_fd);
        let fds: Vec<_> = file.into_iter().chain(wake).collect();
        if let Err(e) = local_socket::send(stream.as_fd(), &answer.encode(), &fds) {
            ucs_debug!("a process of this host went before it was answered: {e}");
        }
    }
}
