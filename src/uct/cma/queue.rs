//! Transfers that do not end within the call: cut into segments, in order on each endpoint, in turn over
//! the endpoints of an interface.
//!
//! An `EpQueue` is in the ring exactly when it has tasks. A task is off its queue while it runs, and
//! completions are called last, so that they may post, flush, or destroy the endpoint.

use crate::c::uct_ep_h;
use crate::sys::vm_rw::{self, CopyDirection, range};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::Completion;
use crate::uct::base::iov::Iov;
use crate::uct::internal::EpochGuard;
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

/// Most blocks given to the kernel at once, and most entries of a user's list.
pub const MAX_IOV: usize = 16;

type Block = (*mut u8, usize);

/// Blocks as the kernel takes them.
struct Batch {
    list: [libc::iovec; MAX_IOV],
    count: usize,
    bytes: usize,
}

impl Batch {
    /// The first of `blocks`, up to `limit` bytes and as many blocks as fit.
    #[inline]
    fn fill(blocks: impl Iterator<Item = Block>, limit: usize) -> Batch {
        let mut batch = Batch {
            list: [range(0, 0); MAX_IOV],
            count: 0,
            bytes: 0,
        };
        for ((at, len), slot) in blocks.zip(batch.list.iter_mut()) {
            let len = len.min(limit - batch.bytes);
            if len == 0 {
                break;
            }
            *slot = libc::iovec {
                iov_base: at.cast(),
                iov_len: len,
            };
            batch.count += 1;
            batch.bytes += len;
        }
        batch
    }

    /// Moves the batch; answers how much of it went.
    ///
    /// # Safety
    /// The blocks must be what a user gave for a transfer that is not complete.
    #[inline]
    unsafe fn transfer(&self, pid: u32, way: CopyDirection, remote: u64) -> io::Result<usize> {
        let list = self.list.get(..self.count).unwrap_or(&[]);
        // SAFETY: the user keeps the blocks for this transfer until it is complete.
        unsafe { vm_rw::transfer(pid, way, list, &[range(remote, self.bytes)]) }
    }

    /// Reads the last batch of a guarded get and then, within the same call into the kernel, the
    /// guard's word. `CANCELED` when that is not what it was, or is not there.
    ///
    /// # Safety
    /// As `transfer`.
    unsafe fn read_guarded(&self, pid: u32, remote: u64, guard: EpochGuard) -> Moved<usize> {
        const WORD: usize = size_of::<u64>();
        let mut word = !guard.value;
        let mut list = [range(0, 0); MAX_IOV + 1];
        let (blocks, rest) = list.split_at_mut(self.count);
        blocks.copy_from_slice(&self.list[..self.count]);
        rest[0] = range((&raw mut word) as u64, WORD);
        let ranges = [range(remote, self.bytes), range(guard.at, WORD)];
        let list = list.get(..=self.count).unwrap_or(&[]);
        // SAFETY: as `transfer`, and a word of ours.
        let n = unsafe { vm_rw::transfer(pid, CopyDirection::Read, list, &ranges) }?;
        if n < self.bytes {
            return Ok(n);
        }
        // The kernel has written it behind the compiler's back.
        // SAFETY: a readable local.
        if unsafe { (&raw const word).read_volatile() } == guard.value {
            Ok(self.bytes)
        } else {
            Err(Failure::TakenBack)
        }
    }
}

/// Why a transfer did not go.
#[derive(Debug)]
pub enum Failure {
    /// The kernel refused.
    Refused(io::Error),
    /// The peer's memory is not what it was to be. That breaks nothing else.
    TakenBack,
}

type Moved<T> = core::result::Result<T, Failure>;

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        Failure::Refused(e)
    }
}

/// The remote side of a put or get.
#[derive(Clone, Copy)]
pub struct Target {
    pub pid: u32,
    pub way: CopyDirection,
    pub remote: u64,
    pub total: usize,
    pub guard: Option<EpochGuard>,
}

impl Target {
    /// Copies the first batch. Returns the number of bytes.
    ///
    /// # Safety
    /// As `Batch::transfer`.
    #[inline]
    unsafe fn transfer(&self, batch: &Batch) -> Moved<usize> {
        let Some(guard) = self.guard else {
            // SAFETY: by the caller's promise.
            return Ok(unsafe { batch.transfer(self.pid, self.way, self.remote) }?);
        };
        let done = if batch.bytes == self.total {
            // SAFETY: by the caller's promise.
            unsafe { batch.read_guarded(self.pid, self.remote, guard) }
        } else {
            // SAFETY: by the caller's promise.
            unsafe { batch.transfer(self.pid, self.way, self.remote) }.map_err(Failure::Refused)
        };
        match done {
            // Memory that was taken back may be gone altogether.
            Err(Failure::Refused(e)) if e.raw_os_error() == Some(libc::EFAULT) => {
                Err(Failure::TakenBack)
            }
            done => done,
        }
    }
}

/// A put or get, or the rest of it.
pub struct Transfer {
    target: Target,
    blocks: VecDeque<Block>,
    comp: Completion,
}

/// The result of posting.
pub enum Posting {
    Done,
    Rest(Transfer),
}

impl Transfer {
    /// Moves the first segment of a user's list of `total` bytes.
    #[inline]
    pub fn begin(target: Target, iov: Iov<'_>, segment: usize, comp: Completion) -> Moved<Posting> {
        let batch = Batch::fill(iov.blocks(), segment);
        // SAFETY: the user's blocks, given for this call.
        let done = unsafe { target.transfer(&batch) }?;
        if done == target.total {
            return Ok(Posting::Done);
        }
        let mut rest = Transfer::whole(target, iov, comp);
        rest.advance(done);
        Ok(Posting::Rest(rest))
    }

    /// A transfer of which nothing has gone yet.
    #[cold]
    pub fn whole(target: Target, iov: Iov<'_>, comp: Completion) -> Transfer {
        Transfer {
            target,
            blocks: iov.blocks().collect(),
            comp,
        }
    }

    /// Takes `done` bytes off the front.
    fn advance(&mut self, done: usize) {
        self.target.total -= done;
        self.target.remote = self.target.remote.wrapping_add(done as u64);
        let mut done = done;
        while let Some((at, len)) = self.blocks.front_mut() {
            if *len > done {
                *at = at.wrapping_add(done);
                *len -= done;
                break;
            }
            done -= *len;
            self.blocks.pop_front();
        }
    }

    /// Copies one segment. Returns whether it was the last.
    fn step(&mut self, segment: usize) -> Moved<bool> {
        let batch = Batch::fill(self.blocks.iter().copied(), segment);
        // SAFETY: the user keeps the blocks until the completion is called.
        let done = unsafe { self.target.transfer(&batch) }?;
        self.advance(done);
        Ok(self.target.total == 0)
    }
}

/// A flush of a whole interface: done when it was met on every queue.
pub struct FaceFlush {
    left: Cell<usize>,
    comp: Completion,
}

enum Task {
    Transfer(Transfer),
    Flush(Completion),
    FaceFlush(Rc<FaceFlush>),
}

impl Task {
    fn complete(self, result: Result<()>) {
        match self {
            Task::Transfer(t) => t.comp.complete(result),
            Task::Flush(comp) => comp.complete(result),
            Task::FaceFlush(flush) => {
                flush.left.set(flush.left.get() - 1);
                if flush.left.get() == 0 {
                    flush.comp.complete(Ok(()));
                }
            }
        }
    }
}

/// The tasks of one endpoint.
pub struct EpQueue {
    tasks: RefCell<VecDeque<Task>>,
    scheduled: Cell<bool>,
    /// Why nothing can be posted any more.
    broken: Cell<Option<Status>>,
    /// The endpoint; null before it is made and after it is gone.
    pub handle: Cell<uct_ep_h>,
}

impl EpQueue {
    pub fn new() -> Rc<EpQueue> {
        Rc::new(EpQueue {
            tasks: RefCell::new(VecDeque::new()),
            scheduled: Cell::new(false),
            broken: Cell::new(None),
            handle: Cell::new(core::ptr::null_mut()),
        })
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tasks.borrow().is_empty()
    }

    #[inline]
    pub fn broken(&self) -> Option<Status> {
        self.broken.get()
    }
}

/// The queues of one interface.
#[derive(Default)]
pub struct Queue {
    ring: RefCell<VecDeque<Rc<EpQueue>>>,
    transfers: Cell<usize>,
    /// Endpoints whose user is to be told that they failed.
    failed: RefCell<Vec<Rc<EpQueue>>>,
}

impl Queue {
    /// Whether there are no transfers in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.borrow().is_empty()
    }

    /// Transfers in flight.
    #[inline]
    pub fn transfers(&self) -> usize {
        self.transfers.get()
    }

    #[cold]
    pub fn add(&self, ep: &Rc<EpQueue>, transfer: Transfer) {
        self.transfers.set(self.transfers.get() + 1);
        self.push(ep, Task::Transfer(transfer));
    }

    /// Completes `comp` when all transfers now in the endpoint's queue are done.
    pub fn flush(&self, ep: &Rc<EpQueue>, comp: Completion) {
        self.push(ep, Task::Flush(comp));
    }

    /// Completes `comp` when all transfers now in any queue are done.
    pub fn flush_all(&self, comp: Completion) {
        let eps: Vec<Rc<EpQueue>> = self.ring.borrow().iter().cloned().collect();
        let flush = Rc::new(FaceFlush {
            left: Cell::new(eps.len()),
            comp,
        });
        for ep in eps {
            self.push(&ep, Task::FaceFlush(Rc::clone(&flush)));
        }
    }

    fn push(&self, ep: &Rc<EpQueue>, task: Task) {
        ep.tasks.borrow_mut().push_back(task);
        self.schedule(ep);
    }

    fn schedule(&self, ep: &Rc<EpQueue>) {
        if !ep.is_empty() && !ep.scheduled.replace(true) {
            self.ring.borrow_mut().push_back(Rc::clone(ep));
        }
    }

    /// Copies one segment of the next endpoint. Returns whether there was one.
    pub fn step(&self, segment: usize) -> bool {
        let Some(ep) = self.ring.borrow_mut().pop_front() else {
            return false;
        };
        ep.scheduled.set(false);
        let task = ep.tasks.borrow_mut().pop_front();
        match task {
            Some(Task::Transfer(mut transfer)) => match transfer.step(segment) {
                Ok(false) => {
                    ep.tasks.borrow_mut().push_front(Task::Transfer(transfer));
                    self.schedule(&ep);
                }
                Ok(true) => {
                    self.transfers.set(self.transfers.get() - 1);
                    self.schedule(&ep);
                    transfer.comp.complete(Ok(()));
                }
                Err(Failure::TakenBack) => {
                    self.transfers.set(self.transfers.get() - 1);
                    self.schedule(&ep);
                    transfer.comp.complete(Err(Status::CANCELED));
                }
                Err(Failure::Refused(e)) => {
                    self.transfers.set(self.transfers.get() - 1);
                    let status = self.fail(&ep, &transfer.target, &e);
                    transfer.comp.complete(Err(status));
                    self.drain(&ep, Err(status));
                }
            },
            Some(task) => {
                self.schedule(&ep);
                task.complete(Ok(()));
            }
            None => {}
        }
        true
    }

    /// The kernel refused a transfer: the endpoint has failed, which the next progress reports. Returns the status of
    /// the transfer.
    #[cold]
    pub fn fail(&self, ep: &Rc<EpQueue>, target: &Target, e: &io::Error) -> Status {
        let Target { pid, remote, .. } = *target;
        let verb = match target.way {
            CopyDirection::Read => "reading",
            CopyDirection::Write => "writing",
        };
        ucs_diag!("cma: {verb} memory of process {pid} at {remote:#x}: {e}");
        self.abort(ep, Status::CONNECTION_RESET);
        Status::IO_ERROR
    }

    /// Fails an endpoint, which the next progress reports. Its tasks stay until `drain`.
    pub fn abort(&self, ep: &Rc<EpQueue>, why: Status) {
        if ep.broken.replace(Some(why)).is_none() {
            self.failed.borrow_mut().push(Rc::clone(ep));
        }
    }

    /// Takes everything off the endpoint's queue and completes it with `result`, one at a time: each completion may close
    /// the endpoint, which takes the others off.
    pub fn drain(&self, ep: &Rc<EpQueue>, result: Result<()>) {
        self.unschedule(ep);
        let count = ep.tasks.borrow().len();
        for _ in 0..count {
            let Some(task) = self.take(ep) else { return };
            task.complete(result);
        }
    }

    /// Clears the queue of an endpoint that is destroyed: operations that were not flushed do not complete.
    pub fn close(&self, ep: &Rc<EpQueue>) {
        ep.handle.set(core::ptr::null_mut());
        self.unschedule(ep);
        let mut dropped = 0;
        while let Some(task) = self.take(ep) {
            match task {
                Task::FaceFlush(_) => task.complete(Ok(())),
                Task::Transfer(_) | Task::Flush(_) => dropped += 1,
            }
        }
        if dropped > 0 {
            ucs_diag!("cma: endpoint destroyed with {dropped} operations under way: flush first");
        }
    }

    fn unschedule(&self, ep: &Rc<EpQueue>) {
        if ep.scheduled.replace(false) {
            self.ring
                .borrow_mut()
                .retain(|other| !Rc::ptr_eq(other, ep));
        }
    }

    /// Takes the first task off the endpoint's queue.
    fn take(&self, ep: &EpQueue) -> Option<Task> {
        let task = ep.tasks.borrow_mut().pop_front()?;
        if matches!(task, Task::Transfer(_)) {
            self.transfers.set(self.transfers.get() - 1);
        }
        Some(task)
    }

    /// An endpoint whose user has not been told yet that it failed.
    #[inline]
    pub fn next_failed(&self) -> Option<(uct_ep_h, Status)> {
        if self.failed.borrow().is_empty() {
            return None;
        }
        self.pop_failed()
    }

    #[cold]
    fn pop_failed(&self) -> Option<(uct_ep_h, Status)> {
        loop {
            let ep = self.failed.borrow_mut().pop()?;
            let handle = ep.handle.get();
            if let Some(why) = ep.broken.get()
                && !handle.is_null()
            {
                return Some((handle, why));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::{uct_completion_t, uct_iov_t};
    use crate::uct::api::Completion;

    fn write_to(remote: u64, total: usize) -> Target {
        Target {
            pid: std::process::id(),
            way: CopyDirection::Write,
            remote,
            total,
            guard: None,
        }
    }

    fn entry(bytes: &mut [u8], count: u32, stride: usize) -> uct_iov_t {
        uct_iov_t {
            buffer: bytes.as_mut_ptr().cast(),
            length: bytes.len() / count as usize,
            memh: core::ptr::null_mut(),
            stride,
            count,
        }
    }

    /// Whatever the segment size and the cut of the list, the bytes arrive in order.
    #[test]
    fn segments_make_the_whole() {
        for segment in [1, 2, 3, 7, 64, 1000] {
            let mut from: Vec<u8> = (0..200u8).collect();
            let mut to = vec![0u8; 200];
            let (a, b) = from.split_at_mut(120);
            // Forty blocks of three, more than go to the kernel at once, then one of eighty.
            let list = [entry(a, 40, 3), entry(b, 1, 0)];
            // SAFETY: the list's buffers outlive the loop.
            let iov = unsafe { Iov::from_c(list.as_ptr(), 2) }.unwrap();
            let remote = to.as_mut_ptr() as u64;
            let none = Completion::NONE;
            let queue = Queue::default();
            let ep = EpQueue::new();
            match Transfer::begin(write_to(remote, 200), iov, segment, none).unwrap() {
                Posting::Done => {}
                Posting::Rest(rest) => queue.add(&ep, rest),
            }
            while queue.step(segment) {}
            assert!(queue.is_empty() && queue.transfers() == 0);
            // SAFETY: readable; written by the kernel behind the compiler's back.
            let now =
                unsafe { core::slice::from_raw_parts(core::hint::black_box(to.as_ptr()), 200) };
            assert_eq!(now, from, "segment {segment}");
        }
    }

    #[test]
    fn endpoints_take_turns_and_a_bad_address_breaks_only_its_own() {
        let queue = Queue::default();
        let eps = [EpQueue::new(), EpQueue::new()];
        let mut from = [1u8; 8];
        let list = [entry(&mut from, 1, 0)];
        // SAFETY: the list's buffer outlives the test.
        let iov = unsafe { Iov::from_c(list.as_ptr(), 1) }.unwrap();
        let to = [0u8; 8];
        let good = Transfer::whole(write_to(to.as_ptr() as u64, 8), iov, Completion::NONE);
        let bad = Transfer::whole(write_to(8, 8), iov, Completion::NONE);
        queue.add(&eps[0], good);
        queue.add(&eps[1], bad);
        assert!(queue.step(4) && queue.step(4));
        assert_eq!(eps[1].broken(), Some(Status::CONNECTION_RESET));
        assert_eq!(eps[0].broken(), None);
        assert!(queue.step(4));
        assert!(!queue.step(4));
        assert_eq!(queue.transfers(), 0);
        assert!(queue.next_failed().is_none(), "no handle, nobody to tell");
    }

    /// However the get is cut, the word is asked for with the last bytes; a get whose word has changed or is
    /// gone, or whose data are gone, is canceled and breaks nothing.
    #[test]
    fn a_guarded_get_is_as_good_as_its_word() {
        let from: Vec<u8> = (0..200u8).collect();
        let word = 7u64;
        let at = &raw const word as u64;
        let mut to = vec![0u8; 200];
        let list = [entry(&mut to, 40, 5)];
        // SAFETY: the list's buffers outlive the test.
        let iov = unsafe { Iov::from_c(list.as_ptr(), 1) }.unwrap();
        let data = from.as_ptr() as u64;
        for segment in [3, 64, 1000] {
            for (remote, guard, good) in [
                (
                    data,
                    EpochGuard {
                        at,
                        value: 7,
                        rkey: 0,
                    },
                    true,
                ),
                (
                    data,
                    EpochGuard {
                        at,
                        value: 8,
                        rkey: 0,
                    },
                    false,
                ),
                (
                    data,
                    EpochGuard {
                        at: 8,
                        value: 7,
                        rkey: 0,
                    },
                    false,
                ),
                (
                    8,
                    EpochGuard {
                        at,
                        value: 7,
                        rkey: 0,
                    },
                    false,
                ),
            ] {
                let target = Target {
                    way: CopyDirection::Read,
                    guard: Some(guard),
                    ..write_to(remote, 200)
                };
                let queue = Queue::default();
                let ep = EpQueue::new();
                let mut comp = uct_completion_t {
                    func: None,
                    count: 1,
                    status: 0,
                };
                let told = Completion(&raw mut comp);
                let end = match Transfer::begin(target, iov, segment, told) {
                    Ok(Posting::Done) => Ok(()),
                    Ok(Posting::Rest(rest)) => {
                        queue.add(&ep, rest);
                        while queue.step(segment) {}
                        // SAFETY: the test's own completion.
                        Status::from_code(unsafe { (*told.0).status }).map_or(Ok(()), Err)
                    }
                    Err(Failure::TakenBack) => Err(Status::CANCELED),
                    Err(Failure::Refused(e)) => panic!("{e}"),
                };
                let wanted = if good { Ok(()) } else { Err(Status::CANCELED) };
                assert_eq!(end, wanted, "segment {segment}, {guard:?}");
                assert_eq!((ep.broken(), queue.transfers()), (None, 0));
            }
        }
    }
}
