//! The process's handlers by id, and the thread that serves them.
//!
//! A child of fork() makes tables of its own.
#![forbid(unsafe_code)]

use super::handler::{AsyncHandler, Source, now_ns};
use super::thread::{FIRST_TOKEN, Loop, Running};
use super::{AsyncContext, Callback, HandlerId, Mode};
use crate::sys::lock::{Mutex, MutexGuard};
use crate::sys::poll::{PollFd, poll as poll_fds};
use crate::ucs::fork::PerProcess;
use crate::ucs::sync::Ordering;
use crate::ucs::{Events, Result, Status};
use std::collections::HashMap;
use std::sync::Arc;

/// Timers are numbered from here, descriptors below.
pub const FIRST_TIMER_ID: HandlerId = 1_000_000;
const TIMER_IDS: HandlerId = 1_000_000;

struct Tables {
    by_id: HashMap<HandlerId, Arc<AsyncHandler>>,
    by_token: HashMap<u64, Arc<AsyncHandler>>,
    next_token: u64,
    next_timer: HandlerId,
    running: Option<Running>,
    /// Threads that were stopped and not waited for.
    ending: Vec<Running>,
    /// Handlers that need the thread.
    watched: usize,
}

static TABLES: PerProcess<Mutex<Tables>> = PerProcess::new(|| {
    Mutex::new(Tables {
        by_id: HashMap::new(),
        by_token: HashMap::new(),
        next_token: FIRST_TOKEN,
        next_timer: 0,
        running: None,
        ending: Vec::new(),
        watched: 0,
    })
});

fn tables() -> MutexGuard<'static, Tables> {
    TABLES.get().lock()
}

pub(super) fn add(
    mode: Mode,
    source: Source,
    events: Events,
    callback: Callback,
    ctx: Option<&AsyncContext>,
) -> Result<HandlerId> {
    let mut tables = tables();
    let id = match source {
        Source::Fd(fd) => tables.free_fd(fd)?,
        Source::Timer { .. } => tables.free_timer()?,
    };
    let watched_by = match mode {
        Mode::Poll => None,
        _ => Some(tables.watcher()?),
    };
    let token = tables.next_token;
    tables.next_token += 1;
    let handler = Arc::new(AsyncHandler::new(
        (id, token),
        source,
        events,
        callback,
        ctx.map(|ctx| ctx.0.clone()),
        watched_by,
    ));
    tables.by_id.insert(id, handler.clone());
    tables.by_token.insert(token, handler.clone());
    if let Some(ctx) = ctx {
        ctx.0.handlers.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(watcher) = &handler.watched_by {
        tables.watched += 1;
        let armed = match handler.fd() {
            Some(fd) => watcher.watch(fd, events, token),
            None => {
                watcher.arm_timer(tables.earliest());
                Ok(())
            }
        };
        if let Err(status) = armed {
            drop(tables);
            remove(id, false)?;
            return Err(status);
        }
    }
    Ok(id)
}

/// Removes a handler of any context, also from inside its own callback. No callback starts after
/// this returns; with `sync`, one that runs on another thread has ended as well.
pub fn remove(id: HandlerId, sync: bool) -> Result<()> {
    let (handler, to_stop) = {
        let mut tables = tables();
        let handler = tables.by_id.remove(&id).ok_or(Status::NO_ELEM)?;
        tables.by_token.remove(&handler.token);
        if let Some(watcher) = &handler.watched_by {
            match handler.fd() {
                Some(fd) => watcher.unwatch(fd),
                None => watcher.arm_timer(tables.earliest()),
            }
            tables.watched -= 1;
        }
        if let Some(ctx) = &handler.ctx {
            ctx.handlers.fetch_sub(1, Ordering::Relaxed);
        }
        let last = handler.watched_by.is_some() && tables.watched == 0;
        (handler, if last { tables.running.take() } else { None })
    };
    handler.retire(sync);
    if let Some(running) = to_stop
        && let Some(ending) = running.stop(sync)
    {
        let mut tables = tables();
        tables.ending.retain(|thread| !thread.is_over());
        tables.ending.push(ending);
    }
    Ok(())
}

/// Waits for threads that had to be stopped without, but for the calling one.
pub(super) fn wait_for_ending() {
    let all = core::mem::take(&mut tables().ending);
    let (this, others): (Vec<_>, Vec<_>) = all.into_iter().partition(Running::is_this_thread);
    tables().ending.extend(this);
    others.into_iter().for_each(Running::wait);
}

/// Changes what a descriptor's handler waits for.
pub fn modify(id: HandlerId, events: Events) -> Result<()> {
    if id >= FIRST_TIMER_ID {
        crate::ucs_error!("async handler {id} is a timer: only descriptors have events");
        return Err(Status::INVALID_PARAM);
    }
    let tables = tables();
    let handler = tables.by_id.get(&id).ok_or(Status::NO_ELEM)?;
    handler.set_events(events);
    match (&handler.watched_by, handler.fd()) {
        (Some(watcher), Some(fd)) => watcher.change(fd, events, handler.token),
        _ => Ok(()),
    }
}

/// Delivers what is ready of `ctx`'s handlers, or of all. How many callbacks ran.
pub(super) fn poll(ctx: Option<&AsyncContext>) -> usize {
    let mut handlers: Vec<Arc<AsyncHandler>> = {
        let tables = tables();
        let of_ctx = |h: &&Arc<AsyncHandler>| match (ctx, &h.ctx) {
            (None, _) => true,
            (Some(want), Some(have)) => Arc::ptr_eq(&want.0, have),
            (Some(_), None) => false,
        };
        tables.by_id.values().filter(of_ctx).cloned().collect()
    };
    handlers.retain(|h| !h.is_blocked());
    let now = now_ns();
    let timers = handlers.iter().filter(|h| h.take_due(now));
    let mut count = timers.filter(|h| h.deliver(Events::empty())).count();
    let with_fd: Vec<&Arc<AsyncHandler>> = handlers.iter().filter(|h| h.fd().is_some()).collect();
    let mut fds: Vec<PollFd> = with_fd.iter().map(|h| poll_fd(h)).collect();
    if fds.is_empty() || poll_fds(&mut fds, 0).is_err() {
        return count;
    }
    for (handler, fd) in with_fd.iter().zip(&fds) {
        if fd.revents != 0 && fd.revents & libc::POLLNVAL == 0 {
            let events = Events::from_epoll(fd.revents as u32);
            count += usize::from(handler.deliver(events));
        }
    }
    count
}

fn poll_fd(handler: &AsyncHandler) -> PollFd {
    // poll and epoll use the same bits for what `Events` has, the edge aside.
    let events = handler.events() - Events::EDGE;
    PollFd {
        fd: handler.fd().unwrap_or(-1),
        events: events.to_epoll() as i16,
        revents: 0,
    }
}

/// On the async thread: a watched descriptor has events.
pub(super) fn run_fd(token: u64, events: Events) {
    let handler = tables().by_token.get(&token).cloned();
    if let Some(handler) = handler {
        handler.deliver(events);
    }
}

/// On the async thread: the deadline passed.
pub(super) fn run_timers(watcher: &Loop) {
    let now = now_ns();
    let due: Vec<Arc<AsyncHandler>> = {
        let tables = tables();
        let all = tables.by_id.values();
        let due = all.filter(|h| h.watched_by.is_some() && h.take_due(now));
        let due = due.cloned().collect();
        watcher.arm_timer(tables.earliest());
        due
    };
    for handler in due {
        handler.deliver(Events::empty());
    }
}

impl Tables {
    fn free_fd(&self, fd: i32) -> Result<HandlerId> {
        if fd < 0 {
            crate::ucs_error!("cannot handle async events of descriptor {fd}");
            return Err(Status::INVALID_PARAM);
        }
        if fd >= FIRST_TIMER_ID {
            crate::ucs_error!(
                "descriptor {fd} is too large for an async handler: the limit is {FIRST_TIMER_ID}"
            );
            return Err(Status::EXCEEDS_LIMIT);
        }
        if self.by_id.contains_key(&fd) {
            crate::ucs_error!("descriptor {fd} has an async handler: remove it first");
            return Err(Status::ALREADY_EXISTS);
        }
        Ok(fd)
    }

    fn free_timer(&mut self) -> Result<HandlerId> {
        for _ in 0..TIMER_IDS {
            let id = FIRST_TIMER_ID + self.next_timer;
            self.next_timer = (self.next_timer + 1) % TIMER_IDS;
            if !self.by_id.contains_key(&id) {
                return Ok(id);
            }
        }
        crate::ucs_error!("there are {TIMER_IDS} async timers: no number is left");
        Err(Status::ALREADY_EXISTS)
    }

    fn watcher(&mut self) -> Result<Arc<Loop>> {
        if self.running.is_none() {
            self.running = Some(Running::start()?);
        }
        match &self.running {
            Some(running) => Ok(running.watcher.clone()),
            None => Err(Status::IO_ERROR),
        }
    }

    fn earliest(&self) -> Option<u64> {
        let watched = self.by_id.values().filter(|h| h.watched_by.is_some());
        watched.filter_map(|h| h.due_ns()).min()
    }
}
