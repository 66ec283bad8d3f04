//! Tests of contexts. Nothing sleeps: threads wait for each other through channels, and a timeout
//! that only a hang reaches ends a wait.
#![forbid(unsafe_code)]

use super::*;
use crate::sys::eventfd::EventFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

const HANG: Duration = Duration::from_secs(20);

fn channel_of<T>() -> (Mutex<Sender<T>>, Receiver<T>) {
    let (tx, rx) = channel();
    (Mutex::new(tx), rx)
}

fn readable() -> Arc<EventFd> {
    let fd = Arc::new(EventFd::new().unwrap());
    fd.signal();
    fd
}

#[test]
fn the_thread_calls_a_handler_and_a_timer() {
    for mode in [Mode::ThreadSpinlock, Mode::ThreadMutex, Mode::Signal] {
        let ctx = AsyncContext::new(mode);
        let fd = readable();
        let (tx, rx) = channel_of();
        let source = fd.clone();
        let on_fd = move |id, events| {
            source.clear();
            tx.lock()
                .send((id, events, thread::current().id()))
                .unwrap();
        };
        let id = ctx.add_fd(fd.raw(), Events::READ, Box::new(on_fd)).unwrap();
        let (got, events, by) = rx.recv_timeout(HANG).unwrap();
        assert_eq!((got, events), (fd.raw(), Events::READ));
        assert_ne!(by, thread::current().id());
        let (tx, rx) = channel_of();
        let on_time = move |id, events| tx.lock().send((id, events)).unwrap();
        let timer = ctx
            .add_timer(Duration::from_micros(500), Box::new(on_time))
            .unwrap();
        assert!(timer >= FIRST_TIMER_ID);
        for _ in 0..3 {
            assert_eq!(rx.recv_timeout(HANG).unwrap(), (timer, Events::empty()));
        }
        ctx.remove(timer, true).unwrap();
        ctx.remove(id, true).unwrap();
        assert_eq!(ctx.remove(id, true), Err(Status::NO_ELEM));
        assert_eq!(ctx.handlers(), 0);
    }
}

#[test]
fn an_event_missed_while_blocked_comes_with_the_unblock() {
    let ctx = AsyncContext::new(Mode::ThreadMutex);
    let fd = readable();
    let (tx, rx) = channel_of();
    let source = fd.clone();
    let outer = ctx.block();
    let inner = ctx.block();
    let on_fd = move |_, _| {
        source.clear();
        tx.lock().send(thread::current().id()).unwrap();
    };
    let id = ctx.add_fd(fd.raw(), Events::READ, Box::new(on_fd)).unwrap();
    while !ctx.0.has_missed.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    drop(inner);
    assert!(rx.try_recv().is_err());
    drop(outer);
    rx.recv_timeout(HANG).unwrap();
    // The handler is armed again after a missed event.
    fd.signal();
    rx.recv_timeout(HANG).unwrap();
    ctx.remove(id, true).unwrap();
}

#[test]
fn handlers_remove_themselves_and_others() {
    let ctx = AsyncContext::new(Mode::ThreadSpinlock);
    let (first, other) = (readable(), Arc::new(EventFd::new().unwrap()));
    let (tx, rx) = channel_of();
    let inside = ctx.clone();
    let victim = ctx
        .add_fd(
            other.raw(),
            Events::READ,
            Box::new(|_, _| panic!("removed")),
        )
        .unwrap();
    let on_fd = move |id, _| {
        let answers = (inside.remove(victim, true), inside.remove(id, true));
        tx.lock().send(answers).unwrap();
    };
    ctx.add_fd(first.raw(), Events::READ, Box::new(on_fd))
        .unwrap();
    assert_eq!(rx.recv_timeout(HANG).unwrap(), (Ok(()), Ok(())));
    other.signal();
    assert_eq!(ctx.handlers(), 0);
    assert!(rx.recv_timeout(HANG).is_err(), "the callback lives on");
}

#[test]
fn a_synchronous_removal_waits_for_the_callback() {
    let ctx = AsyncContext::new(Mode::ThreadMutex);
    let fd = readable();
    let (entered, has_entered) = channel_of();
    let (leave, may_leave) = channel_of();
    let may_leave = Mutex::new(may_leave);
    let done = Arc::new(AtomicBool::new(false));
    let is_done = done.clone();
    let source = fd.clone();
    let on_fd = move |_, _| {
        source.clear();
        entered.lock().send(()).unwrap();
        may_leave.lock().recv_timeout(HANG).unwrap();
        is_done.store(true, Ordering::Relaxed);
    };
    let id = ctx.add_fd(fd.raw(), Events::READ, Box::new(on_fd)).unwrap();
    has_entered.recv_timeout(HANG).unwrap();
    thread::scope(|s| {
        let remover = s.spawn(|| {
            ctx.remove(id, true).unwrap();
            assert!(done.load(Ordering::Relaxed));
        });
        leave.lock().send(()).unwrap();
        remover.join().unwrap();
    });
}

#[test]
fn poll_mode_runs_handlers_in_poll_only() {
    let ctx = AsyncContext::new(Mode::Poll);
    let fd = readable();
    let source = fd.clone();
    let (tx, rx) = channel_of();
    let on_fd = move |_, _| {
        source.clear();
        tx.lock().send(thread::current().id()).unwrap();
    };
    let id = ctx.add_fd(fd.raw(), Events::READ, Box::new(on_fd)).unwrap();
    let blocked = ctx.block();
    assert_eq!(ctx.poll(), 0);
    drop(blocked);
    assert_eq!(ctx.poll(), 1);
    assert_eq!(rx.try_recv().unwrap(), thread::current().id());
    assert_eq!(ctx.poll(), 0);
    ctx.remove(id, true).unwrap();
}

#[test]
fn polls_call_the_timers_of_their_context_that_are_due() {
    let (ctx, other) = (AsyncContext::new(Mode::Poll), AsyncContext::new(Mode::Poll));
    let nothing = || Box::new(|_, _| ()) as Callback;
    let always = Duration::from_nanos(1);
    let ids: Vec<HandlerId> = (0..3)
        .map(|_| ctx.add_timer(always, nothing()).unwrap())
        .collect();
    let late = ctx.add_timer(Duration::from_secs(3600), nothing()).unwrap();
    let of_other = other.add_timer(always, nothing()).unwrap();
    assert_eq!(ctx.poll(), 3);
    let blocked = ctx.block();
    assert_eq!(ctx.poll(), 0);
    assert_eq!(other.poll(), 1);
    drop(blocked);
    // They are due again, one interval later.
    assert_eq!(ctx.poll(), 3);
    ctx.remove(ids[1], true).unwrap();
    assert_eq!(ctx.poll(), 2);
    for id in [ids[0], ids[2], late, of_other] {
        ctx.remove(id, true).unwrap();
        assert_eq!(ctx.remove(id, true), Err(Status::NO_ELEM));
    }
    assert_eq!(ctx.poll() + other.poll(), 0);
}

#[test]
fn bad_registrations_are_answered() {
    let ctx = AsyncContext::new(Mode::ThreadMutex);
    let nothing = || Box::new(|_, _| ()) as Callback;
    let fd = EventFd::new().unwrap();
    let add = |fd| ctx.add_fd(fd, Events::READ, nothing());
    assert_eq!(add(fd.raw()), Ok(fd.raw()));
    assert_eq!(add(fd.raw()), Err(Status::ALREADY_EXISTS));
    assert_eq!(add(FIRST_TIMER_ID), Err(Status::EXCEEDS_LIMIT));
    assert_eq!(add(FIRST_TIMER_ID - 1), Err(Status::IO_ERROR));
    assert_eq!(add(-1), Err(Status::INVALID_PARAM));
    let zero = ctx.add_timer(Duration::ZERO, nothing());
    assert_eq!(zero, Err(Status::INVALID_PARAM));
    let mismatch = add_fd(Mode::Poll, fd.raw(), Events::READ, nothing(), Some(&ctx));
    assert_eq!(mismatch, Err(Status::INVALID_PARAM));
    assert_eq!(
        modify(FIRST_TIMER_ID, Events::READ),
        Err(Status::INVALID_PARAM)
    );
    assert_eq!(
        modify(FIRST_TIMER_ID - 1, Events::READ),
        Err(Status::NO_ELEM)
    );
    assert_eq!(modify(fd.raw(), Events::WRITE), Ok(()));
    assert_eq!(ctx.handlers(), 1);
    ctx.remove(fd.raw(), true).unwrap();
}
