//! `ProgressThread`: makes progress for a worker while the program does not (`UCX_PROGRESS_THREAD`). Peers of a program
//! that computes are answered: their accesses to its memory, and transfers in which it takes part.
//!
//! While the program polls, the thread only looks from time to time whether it still does. Otherwise the thread sleeps on
//! the worker's events, as a program does after `ucp_worker_arm`, until the program polls again. It uses the worker under
//! the lock of MULTI mode, which such a worker has.

use super::sleepers::EventFd;
use super::wakeup::{self, Wakeup};
use super::worker_core::Core;
use crate::sys::process::spawn_without_signals;
use crate::ucs::Result;
use crate::ucs::sync::{AtomicBool, AtomicU32, Ordering};
use crate::ucs_error;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Milliseconds between two looks at a program that polls.
const LOOK_MS: i32 = 1;
/// Most rounds of progress before others get the lock.
const MAX_ROUNDS: u32 = 64;

/// What the thread and the program tell each other.
pub struct Handover {
    /// Wakes the thread.
    event: EventFd,
    /// Calls of progress by the program.
    polls: AtomicU32,
    /// Threads of the program that sleep in `ucp_worker_wait`.
    waiting: AtomicU32,
    ends: AtomicBool,
}

impl Handover {
    pub fn new() -> Result<Handover> {
        Ok(Handover {
            event: EventFd::new()?,
            polls: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            ends: AtomicBool::new(false),
        })
    }

    pub fn wake(&self) {
        self.event.signal();
    }

    pub fn clear(&self) -> bool {
        self.event.clear()
    }

    pub fn fd(&self) -> RawFd {
        self.event.raw()
    }

    /// The program calls progress. With the lock held, so a plain increment does.
    #[inline]
    pub fn note_poll(&self) {
        let polls = self.polls.load(Ordering::Relaxed).wrapping_add(1);
        self.polls.store(polls, Ordering::Relaxed);
    }

    /// The program waits for events itself as long as the result lives.
    pub fn waits(&self) -> Waits<'_> {
        // Relaxed: a thread that has not seen it makes progress beside the one that waits, which both may do.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waits(self)
    }

    fn polls(&self) -> u32 {
        // Relaxed: a hint, whose latest value the next look sees.
        self.polls.load(Ordering::Relaxed)
    }
}

pub struct Waits<'a>(&'a Handover);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.wake();
    }
}

pub struct ProgressThread {
    handover: Arc<Handover>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressThread {
    /// Of a worker that does not move, and drops this before any of its parts goes.
    pub fn start(worker: &Core, handover: Arc<Handover>) -> Result<ProgressThread> {
        let fds = wakeup::thread_descriptors(worker, &handover)?;
        let address = core::ptr::from_ref(worker).expose_provenance();
        let shared = Arc::clone(&handover);
        let thread = spawn_without_signals("ucx_progress", move || {
            // SAFETY: the worker lives until this thread has been joined. What is not atomic is used with its lock held.
            let worker = unsafe { &*core::ptr::with_exposed_provenance::<Core>(address) };
            let own = [shared.fd()];
            let pause = |pause| {
                let (fds, timeout_ms) = match pause {
                    Pause::Event => (&fds[..], -1),
                    Pause::Own => (&own[..], -1),
                    Pause::Look => (&own[..], LOOK_MS),
                    Pause::Yield => return std::thread::yield_now(),
                };
                // It fails for no descriptor that is open, and looking again does no harm.
                let _ = wakeup::sleep(fds, timeout_ms);
            };
            run(&shared, |seen| make_progress(worker, &shared, seen), pause);
        })
        .inspect_err(|e| ucs_error!("UCX_PROGRESS_THREAD: no thread: {e}"))?;
        Ok(ProgressThread {
            handover,
            thread: Some(thread),
        })
    }
}

impl Drop for ProgressThread {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `run`.
        self.handover.ends.store(true, Ordering::Release);
        self.handover.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    /// Sleeps until something comes, for which the worker's events are armed.
    Event,
    /// Sleeps until it is woken: the program waits for events itself.
    Own,
    /// Looks again soon: the program polls, or messages wait until the program takes others.
    Look,
    /// There is more to do, or the program polls again.
    Yield,
}

fn run(handover: &Handover, mut progress: impl FnMut(u32) -> Pause, pause: impl Fn(Pause)) {
    let mut seen = handover.polls();
    while !handover.ends.load(Ordering::Acquire) {
        let polls = handover.polls();
        if handover.waiting.load(Ordering::Relaxed) > 0 {
            // It wakes this thread when it does not wait any more.
            pause(Pause::Own);
            handover.clear();
        } else if polls != seen {
            seen = polls;
            pause(Pause::Look);
        } else {
            pause(progress(seen));
        }
    }
}

/// Makes progress until there is nothing to do, and arms the worker's events.
fn make_progress(worker: &Core, handover: &Handover, seen: u32) -> Pause {
    let _guard = worker.lock.lock();
    let arm = || match wakeup::arm_thread(worker, handover) {
        _ if worker.unexpected.is_paused() => Pause::Look,
        Ok(()) => Pause::Event,
        Err(_) => Pause::Yield,
    };
    rounds(&worker.wakeup, handover, seen, || worker.progress(), arm)
}

/// Rounds of progress, with the worker's lock held. Each disarms the interfaces. If they are not armed again, a program that sleeps is
/// woken: while it waits this thread sleeps on its own event only, and a message would wake neither.
fn rounds(
    wakeup: &Wakeup,
    handover: &Handover,
    seen: u32,
    mut progress: impl FnMut() -> u32,
    arm: impl FnOnce() -> Pause,
) -> Pause {
    for _ in 0..MAX_ROUNDS {
        if handover.polls() != seen {
            return Pause::Yield;
        }
        if progress() == 0 {
            let pause = arm();
            if pause == Pause::Yield {
                wakeup.work_came();
            }
            return pause;
        }
        wakeup.thread_worked();
    }
    Pause::Yield
}

/// Every order of events. `tests/loom` runs it.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::c::UCP_FEATURE_WAKEUP;
    use core::cell::Cell;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    /// A worker with one interface, which progress disarms. One message comes to it.
    struct Model {
        lock: Mutex<()>,
        wakeup: Wakeup,
        /// With the lock held, as the rings have their own models.
        came: Cell<bool>,
        iface_armed: Cell<bool>,
        handled: Cell<bool>,
        /// The interface's descriptor.
        iface_readable: AtomicBool,
    }

    // SAFETY: the cells and the wake-up are used with the lock held.
    unsafe impl Send for Model {}
    // SAFETY: as above.
    unsafe impl Sync for Model {}

    impl Model {
        fn new() -> Arc<Model> {
            Arc::new(Model {
                lock: Mutex::new(()),
                wakeup: Wakeup::new(u64::from(UCP_FEATURE_WAKEUP), true).unwrap(),
                came: Cell::new(false),
                iface_armed: Cell::new(false),
                handled: Cell::new(false),
                iface_readable: AtomicBool::new(false),
            })
        }

        fn locked<R>(&self, body: impl FnOnce() -> R) -> R {
            let _guard = self.lock.lock().unwrap();
            body()
        }

        fn handover(&self) -> &Handover {
            self.wakeup.thread().unwrap()
        }

        fn signal(&self) -> &EventFd {
            self.wakeup.signal().unwrap()
        }

        fn is_readable(&self) -> bool {
            self.iface_readable.load(Ordering::Acquire)
        }

        fn progress(&self) -> u32 {
            self.iface_armed.set(false);
            self.iface_readable.store(false, Ordering::Release);
            let came = self.came.replace(false);
            if came {
                self.handled.set(true);
            }
            u32::from(came)
        }

        fn message(&self) {
            let readable = self.locked(|| {
                self.came.set(true);
                let readable = self.iface_armed.replace(false);
                if readable {
                    self.iface_readable.store(true, Ordering::Release);
                }
                readable
            });
            if readable {
                self.handover().event.other_is_readable();
                self.signal().other_is_readable();
            }
        }

        fn poll(&self) {
            self.locked(|| {
                self.wakeup.note_poll();
                self.progress();
            });
        }

        /// As `ucp_worker_arm`; whether the program may sleep.
        fn arm(&self) -> bool {
            self.locked(|| {
                self.wakeup.look_at_signal(true);
                if self.wakeup.take_news() || self.came.get() {
                    return false;
                }
                self.iface_armed.set(true);
                self.wakeup.note_armed();
                true
            })
        }

        fn sleep(&self) {
            self.signal().wait_until_readable(|| self.is_readable());
        }

        fn thread_progress(&self, seen: u32) -> Pause {
            let handover = self.handover();
            let arm = || {
                if handover.clear() {
                    return Pause::Yield;
                }
                self.iface_armed.set(true);
                self.wakeup.note_thread_armed();
                Pause::Event
            };
            self.locked(|| rounds(&self.wakeup, handover, seen, || self.progress(), arm))
        }

        /// The progress thread; `progress` is `thread_progress` and what a test adds.
        fn run_thread(&self, progress: impl FnMut(u32) -> Pause) {
            let handover = self.handover();
            run(handover, progress, |pause| match pause {
                Pause::Event => handover.event.wait_until_readable(|| self.is_readable()),
                Pause::Own => handover.event.wait_until_readable(|| false),
                Pause::Look | Pause::Yield => thread::yield_now(),
            });
        }

        fn end_thread(&self) {
            self.handover().ends.store(true, Ordering::Release);
            self.handover().wake();
        }
    }

    fn in_all_orders(test: impl Fn(Arc<Model>) + Send + Sync + 'static) {
        check(loom::model::Builder::new(), test);
    }

    fn check(mut orders: loom::model::Builder, test: impl Fn(Arc<Model>) + Send + Sync + 'static) {
        orders.max_branches = 10_000;
        orders.check(move || test(Model::new()));
    }

    /// A message comes while the program polls once, and never again: the thread handles it, whenever it had armed.
    #[test]
    fn a_program_that_stops_polling_loses_no_message() {
        in_all_orders(|model| {
            let (peer, program) = (model.clone(), model.clone());
            let peer = thread::spawn(move || peer.message());
            let program = thread::spawn(move || program.poll());
            model.run_thread(|seen| {
                let pause = model.thread_progress(seen);
                if !model.locked(|| model.handled.get()) {
                    return pause;
                }
                model.handover().ends.store(true, Ordering::Release);
                Pause::Yield
            });
            peer.join().unwrap();
            program.join().unwrap();
        });
    }

    /// A program looks whether its message has come, and sleeps otherwise: whoever handles it, and whenever, it wakes up.
    fn a_program_that_sleeps(waits: impl Fn(&Model) + Copy + Send + Sync + 'static) {
        in_all_orders(move |model| sleeps_until_handled(model, waits));
    }

    fn sleeps_until_handled(model: Arc<Model>, waits: impl Fn(&Model)) {
        let (peer, progress_thread) = (model.clone(), model.clone());
        let peer = thread::spawn(move || peer.message());
        let progress_thread = thread::spawn(move || {
            progress_thread.run_thread(|seen| progress_thread.thread_progress(seen));
        });
        while !model.locked(|| model.handled.get()) {
            waits(&model);
        }
        model.end_thread();
        peer.join().unwrap();
        progress_thread.join().unwrap();
    }

    #[test]
    fn a_program_that_sleeps_on_the_descriptor_is_woken() {
        a_program_that_sleeps(|model| {
            if model.arm() {
                model.sleep();
            }
            model.poll();
        });
    }

    fn wait(model: &Model) {
        let waits = model.handover().waits();
        if model.arm() {
            model.sleep();
        }
        drop(waits);
        model.poll();
    }

    #[test]
    fn a_program_in_wait_is_woken() {
        a_program_that_sleeps(wait);
    }

    /// The thread does not arm, as the end of another wait has called it, and finds that the program waits.
    #[test]
    fn a_program_that_waits_again_is_woken() {
        let mut orders = loom::model::Builder::new();
        // With three it takes minutes.
        orders.preemption_bound = Some(2);
        check(orders, |model| {
            model.handover().wake();
            sleeps_until_handled(model, wait);
        });
    }
}
