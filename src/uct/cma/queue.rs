//! Transfers that do not end within the call: cut into segments, in order on each endpoint, in turn over
//! the endpoints of an interface.
//!
//! An `EpQueue` is in the ring exactly when it has tasks. A task is off its queue while it runs, and
//! completions are called last, so that they may post, flush, or destroy the endpoint.

use crate::c::uct_ep_h;
use crate::sys::vm_rw::{self, Way};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::Completion;
use crate::uct::base::iov::Iov;
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
        let none = libc::iovec {
            iov_base: core::ptr::null_mut(),
            iov_len: 0,
        };
        let mut batch = Batch {
            list: [none; MAX_IOV],
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
    unsafe fn transfer(&self, pid: u32, way: Way, remote: u64) -> io::Result<usize> {
        let list = self.list.get(..self.count).unwrap_or(&[]);
        // SAFETY: the user keeps the blocks for this transfer until it is complete.
        unsafe { vm_rw::transfer(pid, way, list, remote, self.bytes) }
    }
}

/// One put or get, or what is left of it.
pub struct Transfer {
    pid: u32,
    way: Way,
    blocks: VecDeque<Block>,
    remote: u64,
    left: usize,
    comp: Completion,
}

/// What a first attempt left.
pub enum Posting {
    Done,
    Rest(Transfer),
}

impl Transfer {
    /// Moves the first segment of a user's list of `total` bytes.
    #[inline]
    pub fn begin(
        pid: u32,
        way: Way,
        iov: Iov<'_>,
        total: usize,
        remote: u64,
        segment: usize,
        comp: Completion,
    ) -> io::Result<Posting> {
        let batch = Batch::fill(iov.blocks(), segment);
        // SAFETY: the user's blocks, given for this call.
        let done = unsafe { batch.transfer(pid, way, remote) }?;
        if done == total {
            return Ok(Posting::Done);
        }
        let mut rest = Transfer::whole(pid, way, iov, total, remote, comp);
        rest.advance(done);
        Ok(Posting::Rest(rest))
    }

    /// A transfer of which nothing has gone yet.
    #[cold]
    pub fn whole(
        pid: u32,
        way: Way,
        iov: Iov<'_>,
        total: usize,
        remote: u64,
        comp: Completion,
    ) -> Transfer {
        Transfer {
            pid,
            way,
            blocks: iov.blocks().collect(),
            remote,
            left: total,
            comp,
        }
    }

    /// Takes `done` bytes off the front.
    fn advance(&mut self, done: usize) {
        self.left -= done;
        self.remote = self.remote.wrapping_add(done as u64);
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

    /// Moves one segment; answers whether that was the last.
    fn step(&mut self, segment: usize) -> io::Result<bool> {
        let batch = Batch::fill(self.blocks.iter().copied(), segment);
        // SAFETY: the user keeps the blocks until the completion is called.
        let done = unsafe { batch.transfer(self.pid, self.way, self.remote) }?;
        self.advance(done);
        Ok(self.left == 0)
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
    /// Whether nothing is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.borrow().is_empty()
    }

    /// Transfers under way.
    #[inline]
    pub fn transfers(&self) -> usize {
        self.transfers.get()
    }

    #[cold]
    pub fn add(&self, ep: &Rc<EpQueue>, transfer: Transfer) {
        self.transfers.set(self.transfers.get() + 1);
        self.push(ep, Task::Transfer(transfer));
    }

    /// Completes `comp` when what is on the endpoint's queue now is done.
    pub fn flush(&self, ep: &Rc<EpQueue>, comp: Completion) {
        self.push(ep, Task::Flush(comp));
    }

    /// Completes `comp` when what is on all queues now is done.
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

    /// Runs one segment of the endpoint whose turn it is; answers whether there was one.
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
                Err(e) => {
                    self.transfers.set(self.transfers.get() - 1);
                    let status = self.fail(&ep, transfer.pid, transfer.way, transfer.remote, &e);
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

    /// The kernel refused a transfer: the endpoint is broken from here on, its user is told by the next
    /// progress. Answers the status of the transfer.
    #[cold]
    pub fn fail(&self, ep: &Rc<EpQueue>, pid: u32, way: Way, remote: u64, e: &io::Error) -> Status {
        let verb = match way {
            Way::Read => "reading",
            Way::Write => "writing",
        };
        ucs_diag!("cma: {verb} memory of process {pid} at {remote:#x}: {e}");
        self.break_off(ep, Status::CONNECTION_RESET);
        Status::IO_ERROR
    }

    /// Nothing can be posted on `ep` any more; its user is told by the next progress. Its tasks stay
    /// until `drain`.
    pub fn break_off(&self, ep: &Rc<EpQueue>, why: Status) {
        if ep.broken.replace(Some(why)).is_none() {
            self.failed.borrow_mut().push(Rc::clone(ep));
        }
    }

    /// Takes everything off the endpoint's queue and completes it with `result`.
    pub fn drain(&self, ep: &Rc<EpQueue>, result: Result<()>) {
        for task in self.take_all(ep) {
            task.complete(result);
        }
    }

    /// Takes everything off the queue of an endpoint that goes: what was not flushed is not completed.
    pub fn close(&self, ep: &Rc<EpQueue>) {
        ep.handle.set(core::ptr::null_mut());
        let mut dropped = 0;
        for task in self.take_all(ep) {
            match task {
                Task::FaceFlush(_) => task.complete(Ok(())),
                Task::Transfer(_) | Task::Flush(_) => dropped += 1,
            }
        }
        if dropped > 0 {
            ucs_diag!("cma: endpoint destroyed with {dropped} operations under way: flush first");
        }
    }

    fn take_all(&self, ep: &Rc<EpQueue>) -> VecDeque<Task> {
        if ep.scheduled.replace(false) {
            self.ring
                .borrow_mut()
                .retain(|other| !Rc::ptr_eq(other, ep));
        }
        let tasks = ep.tasks.take();
        let transfers = tasks.iter().filter(|t| matches!(t, Task::Transfer(_)));
        self.transfers.set(self.transfers.get() - transfers.count());
        tasks
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
    use crate::c::uct_iov_t;
    use crate::uct::api::Completion;

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
        let me = std::process::id();
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
            match Transfer::begin(me, Way::Write, iov, 200, remote, segment, none).unwrap() {
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
        let me = std::process::id();
        let queue = Queue::default();
        let eps = [EpQueue::new(), EpQueue::new()];
        let mut from = [1u8; 8];
        let list = [entry(&mut from, 1, 0)];
        // SAFETY: the list's buffer outlives the test.
        let iov = unsafe { Iov::from_c(list.as_ptr(), 1) }.unwrap();
        let to = [0u8; 8];
        let good = Transfer::whole(me, Way::Write, iov, 8, to.as_ptr() as u64, Completion::NONE);
        let bad = Transfer::whole(me, Way::Write, iov, 8, 8, Completion::NONE);
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
}
