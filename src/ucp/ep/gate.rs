//! The gate of an endpoint: the queue of what waits, and whether a short message may leave past it.
//!
//! Everything that can hold a message back passes through here: a peer that is not known yet, a failure, the
//! transport's want of room, messages that wait. What they leave is kept as one number, the room a short message has now,
//! so that sending one asks one question. A worker that several threads use has its lock taken first; who
//! has not taken it sees a gate that is never open.

use super::Task;
use crate::c::*;
use crate::ucp::proto::op::Op;
use crate::ucs::Status;
use crate::uct::internal::Short;
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// How short messages go out.
#[derive(Clone, Copy)]
pub struct Way {
    pub send: Short,
    pub ep: uct_ep_h,
}

/// Of an endpoint whose peer is not known: its gate is closed.
const NOWHERE: Way = {
    unsafe fn refuse(_: uct_ep_h, _: u8, _: u64, _: *const u8, _: usize) -> ucs_status_t {
        UCS_ERR_NO_RESOURCE
    }
    Way {
        send: refuse,
        ep: core::ptr::null_mut(),
    }
};

/// An empty queue with room for more tasks gives its memory back.
const KEPT_CAPACITY: usize = 256;

pub struct Gate {
    /// Payload bytes that a short message may have now, and one more; 0 while none may leave.
    room: Cell<usize>,
    way: Cell<Way>,
    /// `room` of the open gate.
    most: Cell<usize>,
    /// The same for who has no lock: written only where one thread uses the worker.
    room_alone: Cell<usize>,
    shared: bool,
    queue: RefCell<VecDeque<Task>>,
    /// Tasks in the queue that answer the peer.
    answers: Cell<usize>,
    /// The transport will call when it has room, or a task is being sent.
    waiting: Cell<bool>,
    failed: Cell<Option<Status>>,
}

impl Gate {
    /// Of an endpoint whose peer is not known, of a worker that is `shared` by several threads or not.
    pub fn new(shared: bool) -> Gate {
        Gate {
            room: Cell::new(0),
            way: Cell::new(NOWHERE),
            most: Cell::new(0),
            room_alone: Cell::new(0),
            shared,
            queue: RefCell::new(VecDeque::new()),
            answers: Cell::new(0),
            waiting: Cell::new(true),
            failed: Cell::new(None),
        }
    }

    /// From now on short messages of up to `max` bytes of payload go this way.
    pub fn lead(&self, way: Way, max: usize) {
        self.way.set(way);
        self.most.set(max.saturating_add(1));
        self.refresh();
    }

    /// The way of a short message with `len` bytes of payload, if it may leave now.
    #[inline(always)]
    pub fn open_for(&self, len: usize) -> Option<Way> {
        (len < self.room.get()).then(|| self.way.get())
    }

    /// The same for who has not taken the worker's lock.
    #[inline(always)]
    pub fn open_alone_for(&self, len: usize) -> Option<Way> {
        (len < self.room_alone.get()).then(|| self.way.get())
    }

    /// Whether a message may go out now without overtaking one that waits.
    #[inline]
    pub fn is_clear(&self) -> bool {
        !self.waiting.get() && self.failed.get().is_none() && self.queue.borrow().is_empty()
    }

    /// Something that decides has changed.
    #[inline]
    fn refresh(&self) {
        let room = if self.is_clear() { self.most.get() } else { 0 };
        self.room.set(room);
        if !self.shared {
            self.room_alone.set(room);
        }
    }

    pub fn is_waiting(&self) -> bool {
        self.waiting.get()
    }

    pub fn set_waiting(&self, waiting: bool) {
        self.waiting.set(waiting);
        self.refresh();
    }

    /// Why nothing can be sent any more.
    #[inline]
    pub fn failure(&self) -> Option<Status> {
        self.failed.get()
    }

    pub fn fail(&self, status: Status) {
        self.failed.set(Some(status));
        self.refresh();
    }

    pub fn has_queue(&self) -> bool {
        !self.queue.borrow().is_empty()
    }

    /// Whether something of the application's waits other than flushes.
    pub fn has_unsent(&self) -> bool {
        let unsent = |task: &Task| match task {
            // SAFETY: a queued request is alive; the borrow ends within the line.
            Task::Request(req) => !matches!(unsafe { req.as_ref().op() }, Op::Flush(_)),
            _ => false,
        };
        self.queue.borrow().iter().any(unsent)
    }

    /// How many answers to the peer wait.
    pub fn answers(&self) -> usize {
        self.answers.get()
    }

    fn count(&self, task: &Task) {
        if !task.is_of_application() {
            self.answers.set(self.answers.get() + 1);
        }
    }

    pub fn push_back(&self, task: Task) {
        self.count(&task);
        self.queue.borrow_mut().push_back(task);
        self.refresh();
    }

    pub fn push_front(&self, task: Task) {
        self.count(&task);
        self.queue.borrow_mut().push_front(task);
        self.refresh();
    }

    pub fn pop_front(&self) -> Option<Task> {
        let mut queue = self.queue.borrow_mut();
        let task = queue.pop_front();
        if queue.is_empty() && queue.capacity() > KEPT_CAPACITY {
            *queue = VecDeque::new();
        }
        drop(queue);
        if task.as_ref().is_some_and(|task| !task.is_of_application()) {
            self.answers.set(self.answers.get() - 1);
        }
        self.refresh();
        task
    }

    /// Puts others in the place of all that waits.
    pub fn replace_queue(&self, tasks: VecDeque<Task>) -> VecDeque<Task> {
        self.answers.set(0);
        tasks.iter().for_each(|task| self.count(task));
        let before = self.queue.replace(tasks);
        self.refresh();
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucp::ep::Control;
    use crate::wire::header::AmId;

    fn word() -> Task {
        Task::Control(Box::new(Control {
            id: AmId::Close,
            bytes: Vec::new(),
        }))
    }

    fn led(shared: bool) -> Gate {
        let gate = Gate::new(shared);
        gate.lead(NOWHERE, 8);
        gate.set_waiting(false);
        gate
    }

    #[test]
    fn a_gate_is_open_while_nothing_holds_a_message_back() {
        let gate = Gate::new(false);
        gate.set_waiting(false);
        assert!(gate.open_for(0).is_none(), "nobody leads anywhere");
        let gate = led(false);
        let open = |len| {
            let both = [
                gate.open_for(len).is_some(),
                gate.open_alone_for(len).is_some(),
            ];
            assert_eq!(both[0], both[1]);
            both[0]
        };
        assert!(open(0) && open(8) && !open(9));
        gate.push_back(word());
        assert!(!open(0));
        gate.set_waiting(true);
        assert!(gate.pop_front().is_some());
        assert!(!open(0), "the transport has no room");
        gate.set_waiting(false);
        assert!(open(8));
        gate.push_front(word());
        assert!(!open(8));
        assert_eq!(gate.replace_queue(VecDeque::new()).len(), 1);
        assert!(open(8) && gate.pop_front().is_none() && open(8));
        gate.fail(Status::CANCELED);
        assert!(!open(0));
    }

    #[test]
    fn who_has_no_lock_never_finds_the_gate_of_a_shared_worker_open() {
        let gate = led(true);
        assert!(gate.open_for(8).is_some());
        assert!(gate.open_alone_for(0).is_none());
    }
}
