//! The copies that an interface has under way. Each is an event behind it on a stream, which progress asks; they complete in
//! the order in which they were posted.
#![forbid(unsafe_code)]

use crate::c::UCT_FLUSH_FLAG_CANCEL;
use crate::sys::cuda::{Copying, Imported};
use crate::sys::eventfd::EventFd;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Posted, WaitingRequest};
use crate::uct::base::pending::{PendingGroup, PendingQueue};
use crate::{ucs_debug, ucs_error};
use core::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;

/// What is completed in turn.
struct Waiting {
    /// The endpoint's, by which it is told from others; `None` for the interface.
    of: Option<Rc<PendingGroup>>,
    /// `None` for a flush.
    copy: Option<Copy>,
    comp: Completion,
}

struct Copy {
    /// Dropped first, which waits for its end.
    copying: Copying,
    /// Another process's, mapped until then.
    _memory: Option<Arc<Imported>>,
}

pub struct Copies {
    /// The transport's, for the log.
    name: &'static str,
    waiting: RefCell<VecDeque<Waiting>>,
    pending: PendingQueue,
    /// Signalled by the driver; there once somebody has asked for it.
    event: OnceCell<Arc<EventFd>>,
    /// The event is armed, and no progress was made since.
    armed: Cell<bool>,
    max_poll: u32,
    max_events: usize,
}

impl Copies {
    /// At most `max_poll` complete in one call of progress, and `max_events` are under way.
    pub fn new(name: &'static str, max_poll: u32, max_events: u32) -> Copies {
        Copies {
            name,
            waiting: RefCell::default(),
            pending: PendingQueue::new(),
            event: OnceCell::new(),
            armed: Cell::new(false),
            // One at least, or nothing would ever end.
            max_poll: max_poll.max(1),
            max_events: max_events.max(1) as usize,
        }
    }

    /// `NO_RESOURCE` while no further copy may be started.
    pub fn check_room(&self) -> Result<()> {
        match self.has_room() {
            true => Ok(()),
            false => Err(Status::NO_RESOURCE),
        }
    }

    fn has_room(&self) -> bool {
        self.waiting.borrow().len() < self.max_events
    }

    /// An endpoint has started a copy, from or to another process's memory or not.
    pub fn add(
        &self,
        of: &Rc<PendingGroup>,
        copying: Copying,
        memory: Option<Arc<Imported>>,
        comp: Completion,
    ) -> Result<Posted> {
        if self.armed.get() {
            self.signal_when_done(&copying)?;
        }
        let waiting = Waiting {
            of: Some(Rc::clone(of)),
            copy: Some(Copy {
                copying,
                _memory: memory,
            }),
            comp,
        };
        self.waiting.borrow_mut().push_back(waiting);
        Ok(Posted::InProgress)
    }

    /// Completes what has ended. Returns the number of events.
    pub fn progress(&self) -> u32 {
        let mut events = 0;
        self.armed.set(false);
        while events < self.max_poll
            && let Some((comp, result)) = self.next_done()
        {
            comp.complete(result);
            events += 1;
        }
        if !self.pending.is_empty() && self.has_room() {
            events += self.pending.dispatch();
        }
        events
    }

    /// The next completion whose turn it is, with its result.
    fn next_done(&self) -> Option<(Completion, Result<()>)> {
        let mut waiting = self.waiting.borrow_mut();
        let result = match &waiting.front()?.copy {
            Some(copy) => match copy.copying.is_done() {
                Ok(false) => return None,
                Ok(true) => Ok(()),
                Err(e) => {
                    ucs_error!("{}: a copy failed: {e}", self.name);
                    Err(e.into())
                }
            },
            None => Ok(()),
        };
        Some((waiting.pop_front()?.comp, result))
    }

    /// An endpoint is closed: nothing of it is completed any more, and nobody uses its memory when this returns.
    pub fn close(&self, of: &Rc<PendingGroup>) {
        of.close();
        let is_its = |waiting: &Waiting| waiting.of.as_ref().is_some_and(|it| Rc::ptr_eq(it, of));
        self.waiting.borrow_mut().retain(|waiting| !is_its(waiting));
    }

    /// Ends the copies of an endpoint with `CANCELED`, each after the device is done with it: nothing stops it.
    fn cancel(&self, of: &Rc<PendingGroup>) {
        let is_its = |waiting: &Waiting| waiting.of.as_ref().is_some_and(|it| Rc::ptr_eq(it, of));
        let count = self.waiting.borrow().iter().filter(|w| is_its(w)).count();
        for _ in 0..count {
            // Each completion may close the endpoint, or post something.
            let mut waiting = self.waiting.borrow_mut();
            let next = waiting.iter().position(&is_its);
            let next = next.and_then(|at| waiting.remove(at));
            drop(waiting);
            let Some(Waiting { copy, comp, .. }) = next else {
                return;
            };
            drop(copy);
            comp.complete(Err(Status::CANCELED));
        }
    }

    /// The flush of an endpoint. The copies of all endpoints are waited for, as they end in turn; or those of this one are
    /// cancelled. The endpoint may be gone afterwards.
    pub fn flush_ep(&self, of: &Rc<PendingGroup>, flags: u32, comp: Completion) -> Result<Posted> {
        if flags & UCT_FLUSH_FLAG_CANCEL != 0 {
            self.cancel(&Rc::clone(of));
            return Ok(Posted::Done);
        }
        self.flush(Some(of), comp)
    }

    /// Completes `comp` after all that is under way: for an endpoint, or for the interface.
    pub fn flush(&self, of: Option<&Rc<PendingGroup>>, comp: Completion) -> Result<Posted> {
        if self.waiting.borrow().is_empty() {
            return Ok(Posted::Done);
        }
        if !comp.is_none() {
            self.waiting.borrow_mut().push_back(Waiting {
                of: of.map(Rc::clone),
                copy: None,
                comp,
            });
        }
        Ok(Posted::InProgress)
    }

    /// Queues a request until there is room; `BUSY` when there is.
    pub fn pending_add(&self, group: &Rc<PendingGroup>, req: WaitingRequest) -> Result<()> {
        if self.has_room() && group.is_empty() {
            return Err(Status::BUSY);
        }
        self.pending.add(group, req);
        Ok(())
    }

    pub fn event_fd(&self) -> Result<RawFd> {
        self.event().map(|event| event.raw())
    }

    fn event(&self) -> Result<&Arc<EventFd>> {
        if let Some(event) = self.event.get() {
            return Ok(event);
        }
        let event = EventFd::new().map_err(|e| {
            ucs_error!("{}: no event descriptor: {e}", self.name);
            Status::IO_ERROR
        })?;
        Ok(self.event.get_or_init(|| Arc::new(event)))
    }

    /// Has the event descriptor signalled when a copy has ended. Where the driver does not, progress tells why.
    fn signal_when_done(&self, copying: &Copying) -> Result<()> {
        let event = self.event()?;
        if let Err(e) = copying.signal_when_done(event) {
            ucs_debug!("{}: no event for the end of a copy: {e}", self.name);
            event.signal();
        }
        Ok(())
    }

    /// The driver signals the end of the oldest copy; that of others matters only after it.
    pub fn arm(&self) -> Result<()> {
        self.event()?.clear();
        match self.waiting.borrow().front().map(|first| &first.copy) {
            Some(Some(copy)) if !copy.copying.is_done().unwrap_or(true) => {
                self.signal_when_done(&copy.copying)?;
            }
            Some(_) => return Err(Status::BUSY),
            None if !self.pending.is_empty() => return Err(Status::BUSY),
            None => {}
        }
        self.armed.set(true);
        Ok(())
    }
}
