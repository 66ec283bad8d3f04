//! The socket of an inspected process, and the thread that answers on it.
//!
//! `$XDG_RUNTIME_DIR/ferrucx/PID.sock`, of mode 0600 in a folder of mode 0700. Who connects is of this user by the kernel's
//! word, gets one JSON object, and is not waited for longer than `PATIENCE`; others are hung up on. One is served at a time.
#![forbid(unsafe_code)]

use super::answer;
use crate::sys::eventfd::EventFd;
use crate::sys::local_socket::{is_one_user, peer_credentials};
use crate::sys::lock::Mutex;
use crate::sys::machine::effective_user;
use crate::sys::poll::{PollFd, poll};
use crate::sys::{clock, machine, process};
use crate::ucp::worker_core::Remote;
use crate::ucs::json::Object;
use crate::ucs::service::Service;
use crate::ucs::sync::{AtomicBool, Ordering};
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a worker has for its report, and a client to read it.
const PATIENCE: Duration = Duration::from_secs(1);

struct Shared {
    path: PathBuf,
    listener: UnixListener,
    /// The thread ends.
    end: EventFd,
    /// A worker has made its report.
    reported: Arc<EventFd>,
    workers: Mutex<Vec<Arc<Entry>>>,
}

/// A worker that is reported.
struct Entry {
    worker: Remote,
    /// Its progress has been asked for a report, and has not made it yet.
    asked: AtomicBool,
    report: Mutex<Option<String>>,
    reported: Arc<EventFd>,
}

static SERVER: Service<Shared> = Service::new();

/// A worker's place at the server.
pub struct Membership {
    entry: Arc<Entry>,
}

/// Reports a worker; opens the socket for the first one.
pub fn join(worker: Remote) -> io::Result<Membership> {
    let add = |shared: &Arc<Shared>, _: &std::thread::Thread| {
        let entry = Arc::new(Entry {
            worker,
            asked: AtomicBool::new(false),
            report: Mutex::new(None),
            reported: Arc::clone(&shared.reported),
        });
        shared.workers.lock().push(Arc::clone(&entry));
        Membership { entry }
    };
    SERVER.join("ucx_info", Shared::open, run, add)
}

impl Membership {
    /// The worker's report, on its thread.
    pub fn answer(&self, report: String) {
        *self.entry.report.lock() = Some(report);
        // Release: pairs with the Acquire in `ask`: who sees that none is asked for finds this one.
        self.entry.asked.store(false, Ordering::Release);
        self.entry.reported.signal();
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let remove = |shared: &Arc<Shared>| {
            let mut workers = shared.workers.lock();
            workers.retain(|entry| !Arc::ptr_eq(entry, &self.entry));
            workers.is_empty()
        };
        SERVER.remove_user(remove, |shared, _| shared.end.signal());
    }
}

/// The folder of sockets: made here, and of nobody else.
fn folder() -> io::Result<PathBuf> {
    let Some(runtime) = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty()) else {
        return Err(io::Error::other(
            "XDG_RUNTIME_DIR, the folder for the socket, is not set",
        ));
    };
    let folder = Path::new(&runtime).join("ferrucx");
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
            return Err(io::Error::other(format!("{}: {e}", folder.display())));
        }
        _ => {}
    }
    let facts = fs::symlink_metadata(&folder)?;
    if !facts.is_dir() || facts.uid() != effective_user() || facts.mode() & 0o077 != 0 {
        let why = format!(
            "{} is not a folder of this user alone (chmod 700)",
            folder.display()
        );
        return Err(io::Error::other(why));
    }
    Ok(folder)
}

impl Shared {
    fn open() -> io::Result<Shared> {
        let path = folder()?.join(format!("{}.sock", process::pid()));
        // Of a process that had this number before.
        let _ = fs::remove_file(&path);
        let named = |e| io::Error::other(format!("{}: {e}", path.display()));
        let listener = UnixListener::bind(&path).map_err(named)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Shared {
            listener,
            end: EventFd::new()?,
            reported: Arc::new(EventFd::new()?),
            workers: Mutex::default(),
            path,
        })
    }

    /// Waits until `fd` is ready for `events`, at most until `deadline`. False when the time is over or the thread ends.
    fn wait(&self, fd: RawFd, events: i16, deadline: Option<Instant>) -> bool {
        let of = |fd, events| PollFd {
            fd,
            events,
            revents: 0,
        };
        let mut fds = [of(fd, events), of(self.end.raw(), libc::POLLIN)];
        loop {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            let ms = left.map_or(-1, |left| left.as_millis() as i32);
            match poll(&mut fds, ms) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Ok(n) => return n > 0 && fds[1].revents == 0,
                Err(_) => return false,
            }
        }
    }

    /// Serves one client.
    fn serve(&self, mut client: UnixStream) -> io::Result<()> {
        let peer = peer_credentials(client.as_fd())?;
        if peer.uid != effective_user() || !is_one_user(peer.uid) {
            return Ok(());
        }
        client.set_nonblocking(true)?;
        let text = self.report();
        let (mut rest, deadline) = (text.as_bytes(), Instant::now() + PATIENCE);
        while !rest.is_empty() {
            match client.write(rest) {
                Ok(n) => rest = rest.get(n..).unwrap_or_default(),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(client.as_raw_fd(), libc::POLLOUT, Some(deadline)) {
                        break;
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Has each worker make its report, and joins them.
    fn report(&self) -> String {
        let workers = self.workers.lock();
        for entry in workers.iter() {
            entry.report.lock().take();
            // One that was asked before and made no progress since needs no second call.
            if !entry.asked.swap(true, Ordering::Acquire) {
                entry.worker.call_in_progress(answer);
            }
        }
        let entries = workers.clone();
        drop(workers);
        let deadline = Instant::now() + PATIENCE;
        while entries.iter().any(|entry| entry.report.lock().is_none()) {
            if !self.wait(self.reported.raw(), libc::POLLIN, Some(deadline)) {
                break;
            }
            self.reported.clear();
        }
        // Workers that were destroyed meanwhile are left out; those that are here stay while the list is locked.
        let workers = self.workers.lock();
        let reports: Vec<String> = workers.iter().map(|entry| entry.text()).collect();
        drop(workers);
        let mut object = Object::new();
        object.number("pid", process::pid().into());
        object.text("host", &machine::short_host_name());
        object.number("time_us", clock::wall_us());
        object.text("library", machine::own_identity());
        object.list("workers", &reports);
        object.end()
    }
}

impl Entry {
    /// The report, or what is known of a worker that has made none.
    fn text(&self) -> String {
        if let Some(report) = self.report.lock().take() {
            return report;
        }
        let mut object = Object::new();
        object.text("name", self.worker.name());
        object.text("uuid", &format!("{:#x}", self.worker.uuid()));
        object.flag("makes_progress", false);
        object.json("counters", &self.worker.counters());
        object.end()
    }
}

fn run(shared: &Shared) {
    while shared.wait(shared.listener.as_raw_fd(), libc::POLLIN, None) {
        if let Ok((client, _)) = shared.listener.accept() {
            // What goes wrong with a client is its own affair.
            let _ = shared.serve(client);
        }
    }
    let _ = fs::remove_file(&shared.path);
}
