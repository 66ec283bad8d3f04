//! `FlushResponder`: acknowledges flushes of upstream's peers when the owner of a connection makes no progress.
//!
//! A process of upstream's that closes an endpoint waits until its flush is acknowledged. A program here that has closed
//! its own endpoints may wait for the others by other means and make no more progress, as MPICH does in `MPI_Finalize`.
//! From then on the thread of `ucs/event_loop` acknowledges flushes that the owner has not read for a moment. It looks at
//! what the kernel has received and takes nothing out of it: the owner handles all frames when it comes, and
//! `is_acknowledged` says which flushes have had their answer. The answer promises no more than the owner's would: messages
//! before the flush have come. A flush behind a put of data waits for the owner, which writes them.
#![forbid(unsafe_code)]

use super::frames::{self, Frame};
use crate::sys::clock::monotonic_ns;
use crate::sys::lock::Mutex;
use crate::sys::socket;
use crate::ucs::event_loop::{Descriptors, EventService, Handler};
use crate::ucs::fork::Stamp;
use crate::ucs_diag;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

/// The owner gets so long to read what has come.
const GRACE_MS: u64 = 10;
/// The longest time between two looks at bytes that nobody reads.
const MAX_PAUSE_MS: u64 = 320;
/// Bytes that are looked at first, and most; a flush behind those waits for the owner. The kernel keeps 32 MiB of a
/// connection at most, unless it is told otherwise.
const FIRST_PEEKED: usize = 256 << 10;
const MOST_PEEKED: usize = 64 << 20;
const NS_PER_MS: u64 = 1_000_000;

/// What the owner of a connection and the thread share.
struct Shared(Mutex<State>);

struct State {
    /// The socket; -1 once the owner closes it.
    fd: RawFd,
    /// Largest body of an active message.
    max_am: usize,
    /// The owner is not receiving: it has handled what it has read, and sent what it had to.
    is_unattended: bool,
    /// The last flush that the thread has acknowledged.
    acknowledged: Option<u32>,
    /// Bytes of an acknowledgement that the kernel had no room for.
    unsent: Vec<u8>,
}

/// The owner's part.
pub struct FlushResponder {
    shared: Arc<Shared>,
    made_by: Stamp,
}

impl FlushResponder {
    /// Flushes that come by this socket are acknowledged as long as this lives. The frames of the stream have been handled
    /// up to what the kernel has, unless the owner is receiving.
    pub fn new(fd: RawFd, max_am: usize, is_unattended: bool) -> Option<FlushResponder> {
        let shared = Arc::new(Shared(Mutex::new(State {
            fd,
            max_am,
            is_unattended,
            acknowledged: None,
            unsent: Vec::new(),
        })));
        let add = |all: &Connections, descriptors: &Descriptors| {
            all.add(descriptors, Arc::clone(&shared))
        };
        CONNECTIONS
            .join(|_| Ok(Connections::default()), add)
            .inspect_err(|e| {
                ucs_diag!("tcp: flushes are acknowledged in progress only, there is no thread: {e}")
            })
            .ok()?;
        Some(FlushResponder {
            shared,
            made_by: Stamp::now(),
        })
    }

    /// The owner begins to receive. Returns bytes that it has to send before any of its own.
    pub fn enter(&self) -> Vec<u8> {
        self.with(|state| {
            state.is_unattended = false;
            core::mem::take(&mut state.unsent)
        })
        .unwrap_or_default()
    }

    /// The owner has received. `is_done`: it has handled what it has read, and sent what it had to.
    pub fn exit(&self, is_done: bool) {
        self.with(|state| state.is_unattended = is_done);
    }

    /// Whether a flush has been acknowledged already.
    pub fn is_acknowledged(&self, number: u32) -> bool {
        let last = self.with(|state| state.acknowledged).flatten();
        // Numbers wrap around.
        last.is_some_and(|last| last.wrapping_sub(number) as i32 >= 0)
    }

    /// A child of fork() leaves its parent's alone: the lock may be held for ever there.
    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> Option<R> {
        (self.made_by.is_current()).then(|| f(&mut self.shared.0.lock()))
    }
}

impl Drop for FlushResponder {
    fn drop(&mut self) {
        self.with(|state| state.fd = -1);
        CONNECTIONS.remove_user(|all| all.remove(&self.shared));
    }
}

/// All connections of the process with a responder.
#[derive(Default)]
struct Connections(Mutex<List>);

static CONNECTIONS: EventService<Connections> = EventService::new();

#[derive(Default)]
struct List {
    last_word: u64,
    entries: Vec<Entry>,
}

struct Entry {
    shared: Arc<Shared>,
    word: u64,
    watch: Watch,
}

#[derive(Clone, Copy)]
enum Watch {
    /// The thread waits for bytes.
    Waits,
    /// There are some: it looks at them at this time, and if they stay so many milliseconds later again.
    Looks { at: u64, pause: u64 },
}

impl Connections {
    fn add(&self, descriptors: &Descriptors, shared: Arc<Shared>) {
        let mut list = self.0.lock();
        list.last_word += 1;
        let word = list.last_word;
        let watch = shared.0.lock().wait(descriptors, word);
        list.entries.push(Entry {
            shared,
            word,
            watch,
        });
        descriptors.wake();
    }

    /// Returns whether it was the last one.
    fn remove(&self, shared: &Arc<Shared>) -> bool {
        let mut list = self.0.lock();
        list.entries.retain(|e| !Arc::ptr_eq(&e.shared, shared));
        list.entries.is_empty()
    }
}

impl Handler for Connections {
    fn on_ready(&self, descriptors: &Descriptors, word: u64) {
        let mut list = self.0.lock();
        if let Some(entry) = list.entries.iter_mut().find(|e| e.word == word) {
            entry.shared.0.lock().stop_waiting(descriptors);
            entry.watch = Watch::looks_in(GRACE_MS);
        }
    }

    fn after_events(&self, descriptors: &Descriptors) -> Option<i32> {
        let mut list = self.0.lock();
        let now = monotonic_ns();
        let mut next: Option<u64> = None;
        for entry in &mut list.entries {
            if let Watch::Looks { at, pause } = entry.watch
                && at <= now
            {
                let mut state = entry.shared.0.lock();
                entry.watch = match state.look() {
                    Seen::Nothing => state.wait(descriptors, entry.word),
                    Seen::End => Watch::Waits,
                    Seen::Acknowledged => Watch::looks_in(GRACE_MS),
                    Seen::Unread => Watch::looks_in((2 * pause).min(MAX_PAUSE_MS)),
                };
            }
            if let Watch::Looks { at, .. } = entry.watch {
                next = Some(next.map_or(at, |next| next.min(at)));
            }
        }
        let left = next?.saturating_sub(now).div_ceil(NS_PER_MS);
        Some(left.min(MAX_PAUSE_MS) as i32)
    }
}

impl Watch {
    fn looks_in(pause: u64) -> Watch {
        Watch::Looks {
            at: monotonic_ns() + pause * NS_PER_MS,
            pause,
        }
    }
}

/// What a look at a connection has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    Acknowledged,
    /// Bytes without a flush that needs an answer now.
    Unread,
    /// The connection has ended, which is for the owner.
    End,
}

impl State {
    /// Has the thread wait for bytes.
    fn wait(&self, descriptors: &Descriptors, word: u64) -> Watch {
        if self.fd >= 0
            && let Err(e) = descriptors.add(self.fd, word)
        {
            ucs_diag!("tcp: a connection of upstream's is looked at from time to time: {e}");
            return Watch::looks_in(MAX_PAUSE_MS);
        }
        Watch::Waits
    }

    fn stop_waiting(&self, descriptors: &Descriptors) {
        if self.fd >= 0
            && let Err(e) = descriptors.delete(self.fd)
        {
            ucs_diag!("tcp: epoll: {e}");
        }
    }

    /// Acknowledges the last flush that the owner has left unread.
    fn look(&mut self) -> Seen {
        if self.fd < 0 {
            return Seen::Nothing;
        }
        if !self.is_unattended {
            return Seen::Unread;
        }
        if !self.unsent.is_empty() && !self.send_rest() {
            return Seen::Unread;
        }
        let bytes = match peek(self.fd, FIRST_PEEKED) {
            Ok(bytes) if bytes.is_empty() => return Seen::End,
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Seen::Nothing,
            Err(_) => return Seen::End,
        };
        let last = last_flush(&bytes, self.max_am);
        match last.filter(|last| self.acknowledged != Some(*last)) {
            Some(number) => {
                frames::encode(Frame::FlushAck { number }, &mut self.unsent);
                self.acknowledged = Some(number);
                self.send_rest();
                Seen::Acknowledged
            }
            None => Seen::Unread,
        }
    }

    /// Returns whether everything is sent.
    fn send_rest(&mut self) -> bool {
        // The owner gets the same error from its next send.
        let sent = socket::send(self.fd, &self.unsent).unwrap_or(0);
        self.unsent.drain(..sent);
        self.unsent.is_empty()
    }
}

/// What the kernel has received, as far as it is looked at; it is looked at in `first` bytes first.
fn peek(fd: RawFd, first: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; first];
    loop {
        let len = socket::peek(fd, &mut bytes)?;
        if len < bytes.len() || len >= MOST_PEEKED {
            bytes.truncate(len);
            return Ok(bytes);
        }
        bytes.resize(2 * len, 0);
    }
}

/// The number of the last flush among the frames that `bytes` begin with.
fn last_flush(mut bytes: &[u8], max_am: usize) -> Option<u32> {
    let mut last = None;
    // The owner tells of an invalid frame.
    while let Ok(Some((frame, len))) = frames::decode(bytes, max_am) {
        match frame {
            Frame::Flush { number } => last = Some(number),
            Frame::Put { .. } => break,
            _ => {}
        }
        let Some(rest) = bytes.get(len..) else { break };
        bytes = rest;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    const MAX_AM: usize = 100;

    fn pair() -> (UnixStream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        theirs
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        (ours, theirs)
    }

    fn responder(ours: &UnixStream, is_unattended: bool) -> FlushResponder {
        FlushResponder::new(ours.as_raw_fd(), MAX_AM, is_unattended).unwrap()
    }

    fn bytes(all: &[Frame]) -> Vec<u8> {
        let mut out = Vec::new();
        for frame in all {
            frames::encode(*frame, &mut out);
            if let Frame::Am { len, .. } = frame {
                out.resize(out.len() + len, 7);
            }
        }
        out
    }

    /// The number in the acknowledgement that comes next.
    fn acknowledged(theirs: &mut UnixStream) -> u32 {
        let mut answer = bytes(&[Frame::FlushAck { number: 0 }]);
        theirs.read_exact(&mut answer).unwrap();
        match frames::decode(&answer, MAX_AM) {
            Ok(Some((Frame::FlushAck { number }, _))) => number,
            other => panic!("{other:?}"),
        }
    }

    fn has_answer(theirs: &mut UnixStream) -> bool {
        theirs.set_nonblocking(true).unwrap();
        let got = theirs.read(&mut [0; 1]).is_ok();
        theirs.set_nonblocking(false).unwrap();
        got
    }

    #[test]
    fn a_flush_behind_messages_is_acknowledged_and_nothing_is_taken() {
        let (mut ours, mut theirs) = pair();
        let responder = responder(&ours, true);
        let sent = bytes(&[
            Frame::Am { id: 2, len: 30 },
            Frame::Flush { number: u32::MAX },
            Frame::Keepalive,
            Frame::Flush { number: 0 },
        ]);
        theirs.write_all(&sent).unwrap();
        assert_eq!(acknowledged(&mut theirs), 0);
        assert!(responder.is_acknowledged(u32::MAX) && responder.is_acknowledged(0));
        assert!(!responder.is_acknowledged(1));
        theirs
            .write_all(&bytes(&[Frame::Flush { number: 1 }]))
            .unwrap();
        assert_eq!(acknowledged(&mut theirs), 1);
        let mut here = vec![0; sent.len()];
        ours.read_exact(&mut here).unwrap();
        assert_eq!(here, sent);
    }

    #[test]
    fn all_that_the_kernel_has_is_looked_at() {
        let (ours, mut theirs) = pair();
        let mut sent = bytes(&vec![Frame::Am { id: 2, len: MAX_AM }; 300]);
        sent.extend_from_slice(&bytes(&[Frame::Flush { number: 6 }]));
        theirs.write_all(&sent).unwrap();
        for first in [1, 100, sent.len() - 1, sent.len(), sent.len() + 1] {
            let seen = peek(ours.as_raw_fd(), first).unwrap();
            assert_eq!(seen, sent, "{first} bytes first");
            assert_eq!(last_flush(&seen, MAX_AM), Some(6));
        }
    }

    #[test]
    fn what_an_owner_at_work_reads_is_left_to_it() {
        let (mut ours, mut theirs) = pair();
        let (mut others, mut peer) = pair();
        let (responder, _other) = (responder(&ours, true), responder(&others, true));
        assert!(responder.enter().is_empty());
        let flush = bytes(&[Frame::Flush { number: 3 }]);
        theirs.write_all(&flush).unwrap();
        // The thread looks at both, at this connection first.
        peer.write_all(&flush).unwrap();
        assert_eq!(acknowledged(&mut peer), 3);
        assert!(!has_answer(&mut theirs));
        // It has read a part only.
        ours.read_exact(&mut [0; 5]).unwrap();
        responder.exit(false);
        peer.write_all(&bytes(&[Frame::Flush { number: 4 }]))
            .unwrap();
        assert_eq!(acknowledged(&mut peer), 4);
        assert!(!has_answer(&mut theirs) && !responder.is_acknowledged(3));
        // Now all of it.
        ours.read_exact(&mut vec![0; flush.len() - 5]).unwrap();
        responder.exit(true);
        theirs
            .write_all(&bytes(&[Frame::Flush { number: 4 }]))
            .unwrap();
        assert_eq!(acknowledged(&mut theirs), 4);
        drop(responder);
        others.read_exact(&mut vec![0; 2 * flush.len()]).unwrap();
        theirs.write_all(&flush).unwrap();
        peer.write_all(&bytes(&[Frame::Flush { number: 5 }]))
            .unwrap();
        assert_eq!(acknowledged(&mut peer), 5);
        assert!(
            !has_answer(&mut theirs),
            "the connection is not looked at any more"
        );
    }

    #[test]
    fn invalid_frames_and_parts_of_frames_are_not_answered() {
        let flush = |number| bytes(&[Frame::Flush { number }]);
        let long = bytes(&[Frame::Am {
            id: 2,
            len: MAX_AM + 1,
        }]);
        for invalid in [&[99, 0, 0, 0, 0][..], &long] {
            let all = [&flush(1)[..], invalid, &flush(2)].concat();
            assert_eq!(last_flush(&all, MAX_AM), Some(1), "{invalid:?}");
        }
        let two = [flush(1), flush(2)].concat();
        assert_eq!(last_flush(&two[..two.len() - 1], MAX_AM), Some(1));
        let part = bytes(&[Frame::Am { id: 2, len: 30 }]);
        assert_eq!(
            last_flush(&[flush(1), part[..9].to_vec()].concat(), MAX_AM),
            Some(1)
        );
        assert_eq!(last_flush(&[], MAX_AM), None);
        // What looks like a flush in the data of a put is none, and one behind them says that they are written.
        let put = Frame::Put {
            address: 4096,
            len: two.len() as u64,
            number: 8,
        };
        let all = [&flush(1)[..], &bytes(&[put]), &two, &flush(9)].concat();
        assert_eq!(last_flush(&all, MAX_AM), Some(1));
    }
}
