//! The send queue of an endpoint, and the short-send route past it.
//!
//! A short message may bypass the queue if nothing holds it back: the peer is known, the endpoint has not failed, the
//! transport has room, and the queue is empty. All conditions are combined in one number, the longest payload that a short
//! message may have now, so that sending one makes one comparison. Where the operations of a feature take the general paths,
//! its callers without the worker's lock never get the route.

use super::Task;
use crate::c::*;
use crate::ucp::counters::Sent;
use crate::ucp::feature::Feature;
use crate::ucp::op::Op;
use crate::ucs::front_queue::FrontQueue;
use crate::ucs::tracepoint;
use crate::uct::base::copy::{SHORT, copy_short};
use crate::uct::internal::Short;
use crate::wire::header::AmId;
use core::cell::{Cell, RefCell};
use core::mem::MaybeUninit;

/// The transport function that sends short messages, and its endpoint.
#[derive(Clone, Copy)]
pub struct ShortRoute {
    pub send: Short,
    pub ep: uct_ep_h,
}

impl ShortRoute {
    /// Sends a message: `header` and `len` bytes of payload, counted in `sent`. Returns the transport's status; after
    /// an error the caller has `sent` take the message back.
    ///
    /// # Safety
    /// The send queue must have just returned this route for `len` bytes; `payload` readable for so many.
    #[inline(always)]
    pub unsafe fn send(
        self,
        sent: &Sent,
        id: AmId,
        header: u64,
        payload: *const u8,
        len: usize,
    ) -> ucs_status_t {
        tracepoint::send(id as u8, size_of::<u64>() + len);
        // Before the call, over which nothing has to be kept in registers so.
        sent.short.add(1);
        // SAFETY: a live transport endpoint, a length that it takes; the payload by the caller's promise. Headers are
        // little endian, as the formats are.
        unsafe { (self.send)(self.ep, id as u8, header.to_le(), payload, len) }
    }

    /// As `send`, with a second word of header in front of the payload. `NO_RESOURCE` when that is too long. Takes back a
    /// message that is not sent.
    ///
    /// # Safety
    /// As `send`; the route must be for a word more than `len`.
    #[inline(always)]
    pub unsafe fn send_pair(
        self,
        sent: &Sent,
        id: AmId,
        header: [u64; 2],
        payload: *const u8,
        len: usize,
    ) -> ucs_status_t {
        const WORD: usize = size_of::<u64>();
        let mut bytes = [MaybeUninit::<u64>::uninit(); 1 + SHORT / WORD];
        if len > SHORT {
            return UCS_ERR_NO_RESOURCE;
        }
        bytes[0].write(header[1].to_le());
        let at = bytes.as_mut_ptr();
        // SAFETY: there is room, as checked; the route is for a word and `len` bytes, which were just written.
        unsafe {
            copy_short(payload, at.add(1).cast(), len);
            let code = self.send(sent, id, header[0], at.cast(), WORD + len);
            if code != UCS_OK {
                sent.take_back_short();
            }
            code
        }
    }
}

/// The route of an endpoint whose peer is not known; never returned.
const NO_ROUTE: ShortRoute = {
    unsafe fn refuse(_: uct_ep_h, _: u8, _: u64, _: *const u8, _: usize) -> ucs_status_t {
        UCS_ERR_NO_RESOURCE
    }
    ShortRoute {
        send: refuse,
        ep: core::ptr::null_mut(),
    }
};

/// An empty queue with a larger capacity is freed.
const KEPT_CAPACITY: usize = 256;

/// The longest payload of a short message plus one; 0 while the route is closed.
#[derive(Clone, Copy, Default)]
struct Limits {
    locked: usize,
    /// For callers without the lock: 0 unless operations of the feature may take shortcuts.
    tag: usize,
    am: usize,
    stream: usize,
}

impl Limits {
    #[inline(always)]
    fn unlocked(self, feature: Feature) -> usize {
        match feature {
            Feature::Tag => self.tag,
            Feature::Am => self.am,
            Feature::Stream => self.stream,
            Feature::Rma | Feature::Atomic32 | Feature::Atomic64 => 0,
        }
    }
}

pub struct SendQueue {
    limits: Cell<Limits>,
    route: Cell<ShortRoute>,
    /// `limits` of the open route.
    clear_limits: Cell<Limits>,
    /// Whether callers of tags, active messages and streams need no lock.
    unlocked: [bool; 3],
    queue: RefCell<FrontQueue<Task>>,
    /// Queued replies to requests of the peer.
    replies: Cell<usize>,
    /// Why the queue is not sent: bits of `BLOCKED`, `HELD` and `COPYING`.
    waits: Cell<u8>,
}

/// The transport calls when it has room, or a task is being sent.
const BLOCKED: u8 = 1;
/// After a fence: accesses on other lanes have to end first.
const HELD: u8 = 2;
/// A device copies what is to be sent next.
const COPYING: u8 = 4;

impl SendQueue {
    /// The queue of an endpoint whose peer is not known. `takes_shortcuts`: whether the operations of a feature do.
    pub fn new(takes_shortcuts: impl FnMut(Feature) -> bool) -> SendQueue {
        SendQueue {
            limits: Cell::default(),
            route: Cell::new(NO_ROUTE),
            clear_limits: Cell::default(),
            unlocked: [Feature::Tag, Feature::Am, Feature::Stream].map(takes_shortcuts),
            queue: RefCell::new(FrontQueue::new()),
            replies: Cell::new(0),
            waits: Cell::new(BLOCKED),
        }
    }

    /// Sets the route of short messages of up to `max` bytes of payload.
    pub fn set_short_route(&self, route: ShortRoute, max: usize) {
        self.route.set(route);
        let limit = max.saturating_add(1);
        let [tag, am, stream] = self.unlocked.map(|is| if is { limit } else { 0 });
        self.clear_limits.set(Limits {
            locked: limit,
            tag,
            am,
            stream,
        });
        self.refresh();
    }

    /// The route of a short message with `len` bytes of payload, if it may be sent now.
    #[inline(always)]
    pub fn short_route(&self, len: usize) -> Option<ShortRoute> {
        (len < self.limits.get().locked).then(|| self.route.get())
    }

    /// As `short_route`, for a caller of a feature without the worker's lock.
    #[inline(always)]
    pub fn short_route_unlocked(&self, len: usize, feature: Feature) -> Option<ShortRoute> {
        (len < self.limits.get().unlocked(feature)).then(|| self.route.get())
    }

    /// The route of a short message with `len` bytes of payload that is being sent from the queue.
    #[inline]
    pub fn short_route_in_turn(&self, len: usize) -> Option<ShortRoute> {
        (len < self.clear_limits.get().locked).then(|| self.route.get())
    }

    /// Whether a message may be sent now without overtaking a queued one.
    #[inline]
    pub fn is_clear(&self) -> bool {
        !self.is_blocked() && self.queue.borrow().is_empty()
    }

    /// Recomputes the limits after a change.
    #[inline]
    fn refresh(&self) {
        self.limits.set(match self.is_clear() {
            true => self.clear_limits.get(),
            false => Limits::default(),
        });
    }

    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.waits.get() != 0
    }

    pub fn is_held(&self) -> bool {
        self.waits.get() & HELD != 0
    }

    pub fn set_held(&self, held: bool) {
        self.set(HELD, held);
    }

    pub fn is_copying(&self) -> bool {
        self.waits.get() & COPYING != 0
    }

    pub fn set_copying(&self, copying: bool) {
        self.set(COPYING, copying);
    }

    /// Whether nothing is sent although the transport may have room.
    pub fn is_stopped(&self) -> bool {
        self.waits.get() & (HELD | COPYING) != 0
    }

    pub fn set_blocked(&self, blocked: bool) {
        self.set(BLOCKED, blocked);
    }

    #[inline]
    fn set(&self, bit: u8, on: bool) {
        let others = self.waits.get() & !bit;
        self.waits.set(if on { others | bit } else { others });
        self.refresh();
    }

    /// The endpoint has failed: no short message bypasses the queue any more. Does not look at the queue, which another thread
    /// may have been changing when this process was forked.
    pub fn close_short_route(&self) {
        self.clear_limits.take();
        self.limits.take();
    }

    pub fn has_queue(&self) -> bool {
        !self.queue.borrow().is_empty()
    }

    /// Lends the queued tasks, in order, with their number. `f` must not change the queue.
    pub fn with_tasks<R>(&self, f: impl FnOnce(usize, &mut dyn Iterator<Item = &Task>) -> R) -> R {
        let queue = self.queue.borrow();
        f(queue.len(), &mut queue.iter())
    }

    /// Whether requests of the application are queued, other than flushes.
    pub fn has_unsent(&self) -> bool {
        let unsent = |task: &Task| match task {
            Task::Request(req) => !req.with_op(|op| matches!(op, Op::Flush(_))),
            _ => false,
        };
        self.queue.borrow().iter().any(unsent)
    }

    /// The number of queued replies to the peer.
    pub fn replies(&self) -> usize {
        self.replies.get()
    }

    fn count_reply(&self, task: &Task) {
        if !task.is_of_application() {
            self.replies.set(self.replies.get() + 1);
        }
    }

    pub fn push_back(&self, task: Task) {
        self.count_reply(&task);
        self.queue.borrow_mut().push_back(task);
        self.refresh();
    }

    pub fn push_front(&self, task: Task) {
        self.count_reply(&task);
        self.queue.borrow_mut().push_front(task);
        self.refresh();
    }

    pub fn pop_front(&self) -> Option<Task> {
        let mut queue = self.queue.borrow_mut();
        let task = queue.pop_front();
        if queue.is_empty() && queue.capacity() > KEPT_CAPACITY {
            *queue = FrontQueue::new();
        }
        drop(queue);
        if task.as_ref().is_some_and(|task| !task.is_of_application()) {
            self.replies.set(self.replies.get() - 1);
        }
        self.refresh();
        task
    }

    /// Replaces all queued tasks, which it returns.
    pub fn replace_queue(&self, tasks: FrontQueue<Task>) -> FrontQueue<Task> {
        self.replies.set(0);
        tasks.iter().for_each(|task| self.count_reply(task));
        let before = self.queue.replace(tasks);
        self.refresh();
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::header::{AmId, CloseHdr};
    use crate::wire::id::EpName;

    fn control() -> Task {
        let header = CloseHdr {
            ep: EpName::default(),
            forced: 0,
        };
        Task::control(AmId::Close, &header, &[])
    }

    fn routed(takes_shortcuts: impl FnMut(Feature) -> bool) -> SendQueue {
        let queue = SendQueue::new(takes_shortcuts);
        queue.set_short_route(NO_ROUTE, 8);
        queue.set_blocked(false);
        queue
    }

    #[test]
    fn a_short_message_bypasses_an_empty_queue_only() {
        let queue = SendQueue::new(|_| true);
        queue.set_blocked(false);
        assert!(queue.short_route(0).is_none(), "no route was set");
        let queue = routed(|_| true);
        let has_route = |len| {
            let both = [
                queue.short_route(len).is_some(),
                queue.short_route_unlocked(len, Feature::Stream).is_some(),
            ];
            assert_eq!(both[0], both[1]);
            both[0]
        };
        assert!(has_route(0) && has_route(8) && !has_route(9));
        queue.push_back(control());
        assert!(!has_route(0));
        queue.set_blocked(true);
        assert!(queue.pop_front().is_some());
        assert!(!has_route(0), "the transport has no room");
        queue.set_blocked(false);
        assert!(has_route(8));
        queue.set_held(true);
        assert!(!has_route(0) && queue.is_blocked() && !queue.is_clear());
        queue.set_held(false);
        assert!(has_route(8));
        queue.set_copying(true);
        queue.set_held(true);
        queue.set_held(false);
        assert!(!has_route(0) && queue.is_stopped() && queue.is_copying() && !queue.is_held());
        queue.set_copying(false);
        assert!(has_route(8) && !queue.is_stopped());
        queue.push_front(control());
        assert!(!has_route(8));
        assert_eq!(queue.replace_queue(FrontQueue::new()).len(), 1);
        assert!(has_route(8) && queue.pop_front().is_none() && has_route(8));
        // In a child of a process that had a thread within a send.
        let being_changed = queue.queue.borrow_mut();
        queue.close_short_route();
        drop(being_changed);
        assert!(!has_route(0));
    }

    #[test]
    fn a_feature_without_shortcuts_has_no_unlocked_short_route() {
        let queue = routed(|feature| feature == Feature::Am);
        assert!(queue.short_route(8).is_some());
        let is_open = |feature| queue.short_route_unlocked(8, feature).is_some();
        assert!(Feature::ALL.map(is_open) == [false, true, false, false, false, false]);
        queue.set_held(true);
        assert!(queue.short_route_unlocked(0, Feature::Am).is_none());
    }
}
