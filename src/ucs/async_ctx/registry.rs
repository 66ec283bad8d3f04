//! The process's handlers by id, by context and by the time they are due, and the thread that serves them.
//!
//! A child of fork() makes tables of its own.
#![forbid(unsafe_code)]

use super::handler::{AsyncHandler, Source, now_ns};
use super::thread::{FIRST_TOKEN, Loop, Running};
use super::{AsyncContext, Callback, HandlerId, Inner, Mode};
use crate::sys::lock::{Mutex, MutexGuard};
use crate::sys::poll::{PollFd, poll as poll_fds};
use crate::ucs::fork::PerProcess;
use crate::ucs::sync::Ordering;
use crate::ucs::{Events, Result, Status};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Timers are numbered from here, descriptors below.
pub const FIRST_TIMER_ID: HandlerId = 1_000_000;
const TIMER_IDS: HandlerId = 1_000_000;

/// Where a context stands in memory; `None` for the handlers that have none.
type ContextKey = Option<usize>;

/// The handlers of a context.
struct OfContext {
    ctx: Option<Arc<Inner>>,
    /// By when they are due.
    timers: BTreeSet<(u64, HandlerId)>,
    fds: BTreeSet<HandlerId>,
}

struct Tables {
    by_id: HashMap<HandlerId, Arc<AsyncHandler>>,
    by_token: HashMap<u64, Arc<AsyncHandler>>,
    by_context: HashMap<ContextKey, OfContext>,
    /// Timers that need the thread, by when they are due.
    watched_timers: BTreeSet<(u64, HandlerId)>,
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
        by_context: HashMap::new(),
        watched_timers: BTreeSet::new(),
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
    tables.insert(&handler);
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
        let handler = tables.take(id).ok_or(Status::NO_ELEM)?;
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
    let now = now_ns();
    let (mut due, mut with_fd) = (Vec::new(), Vec::new());
    {
        let mut tables = tables();
        match ctx {
            Some(ctx) => tables.take_ready(context_key(Some(&ctx.0)), now, &mut due, &mut with_fd),
            None => {
                for key in tables.by_context.keys().copied().collect::<Vec<_>>() {
                    tables.take_ready(key, now, &mut due, &mut with_fd);
                }
            }
        }
    }
    let mut count = due.iter().filter(|h| h.deliver(Events::empty())).count();
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
    let mut due = Vec::new();
    {
        let mut tables = tables();
        while let Some(handler) = tables.due_by(tables.watched_timers.first(), now) {
            tables.move_on(&handler, now);
            due.push(handler);
        }
        watcher.arm_timer(tables.earliest());
    }
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
        self.watched_timers.first().map(|&(due_ns, _)| due_ns)
    }

    fn insert(&mut self, handler: &Arc<AsyncHandler>) {
        self.by_id.insert(handler.id, handler.clone());
        self.by_token.insert(handler.token, handler.clone());
        self.insert_due(handler);
    }

    fn take(&mut self, id: HandlerId) -> Option<Arc<AsyncHandler>> {
        let handler = self.by_id.remove(&id)?;
        self.by_token.remove(&handler.token);
        self.remove_due(&handler);
        let key = context_key(handler.ctx.as_ref());
        if let Some(own) = self.by_context.get(&key)
            && own.timers.is_empty()
            && own.fds.is_empty()
        {
            self.by_context.remove(&key);
        }
        Some(handler)
    }

    /// Files a handler under its context, and a timer by when it is due.
    fn insert_due(&mut self, handler: &AsyncHandler) {
        let own = self
            .by_context
            .entry(context_key(handler.ctx.as_ref()))
            .or_insert_with(|| OfContext {
                ctx: handler.ctx.clone(),
                timers: BTreeSet::new(),
                fds: BTreeSet::new(),
            });
        let Some(due_ns) = handler.due_ns() else {
            own.fds.insert(handler.id);
            return;
        };
        own.timers.insert((due_ns, handler.id));
        if handler.watched_by.is_some() {
            self.watched_timers.insert((due_ns, handler.id));
        }
    }

    /// Undoes `insert_due`; an empty context stays.
    fn remove_due(&mut self, handler: &AsyncHandler) {
        let own = self.by_context.get_mut(&context_key(handler.ctx.as_ref()));
        let Some(due_ns) = handler.due_ns() else {
            own.map(|own| own.fds.remove(&handler.id));
            return;
        };
        own.map(|own| own.timers.remove(&(due_ns, handler.id)));
        self.watched_timers.remove(&(due_ns, handler.id));
    }

    fn move_on(&mut self, handler: &AsyncHandler, now_ns: u64) {
        self.remove_due(handler);
        handler.move_on(now_ns);
        self.insert_due(handler);
    }

    /// The timer, if it is due at `now_ns`.
    fn due_by(&self, first: Option<&(u64, HandlerId)>, now_ns: u64) -> Option<Arc<AsyncHandler>> {
        let &(due_ns, id) = first?;
        if due_ns > now_ns {
            return None;
        }
        self.by_id.get(&id).cloned()
    }

    /// Moves on the timers of a context that are due, and gives them and its descriptors; nothing of one that is blocked.
    fn take_ready(
        &mut self,
        key: ContextKey,
        now_ns: u64,
        due: &mut Vec<Arc<AsyncHandler>>,
        with_fd: &mut Vec<Arc<AsyncHandler>>,
    ) {
        while let Some(own) = self.by_context.get(&key) {
            if own.ctx.as_ref().is_some_and(|ctx| ctx.is_blocked()) {
                return;
            }
            let Some(handler) = self.due_by(own.timers.first(), now_ns) else {
                with_fd.extend(own.fds.iter().filter_map(|id| self.by_id.get(id).cloned()));
                return;
            };
            self.move_on(&handler, now_ns);
            due.push(handler);
        }
    }
}

fn context_key(ctx: Option<&Arc<Inner>>) -> ContextKey {
    ctx.map(|ctx| Arc::as_ptr(ctx) as usize)
}
