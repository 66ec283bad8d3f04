//! `EventService`: work that descriptors start, on one thread of the process for all such services.
//!
//! The thread waits in epoll. It starts with the first user of the first service and has ended when the last user of
//! the last one is removed. A child of fork() does not have its parent's; it starts its own. It is not the async thread,
//! whose handlers are the user's and may wait. Used by `uct/local`, `uct/base/death_watch` and `uct/tcp/upstream`: most
//! processes need the first two, and a second thread would add to what the first endpoint costs.
#![forbid(unsafe_code)]

use super::service::{Service, WhileUsed};
use crate::sys::epoll::{EVENT_ROOM, Epoll};
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs_diag;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

/// What a service does on the thread. It must not wait, and must take no lock that is held while a user is added or
/// removed.
pub trait Handler: Send + Sync {
    /// The descriptor that was added with `word` is ready, or was until a moment ago.
    fn on_ready(&self, descriptors: &Descriptors, word: u64);

    /// Runs after `on_ready` of all services. Returns the milliseconds after which it has to run again.
    fn after_events(&self, _descriptors: &Descriptors) -> Option<i32> {
        None
    }
}

/// The descriptors that the thread waits for on behalf of one service. A closed descriptor need not be deleted.
pub struct Descriptors {
    thread: Arc<Shared>,
    service: u16,
}

/// An event's word: so many bits of the service's word, then the service's number.
const WORD_BITS: u32 = 48;

impl Descriptors {
    /// Has `on_ready` called with `word`, of at most 48 bits, as long as `fd` can be read.
    pub fn add(&self, fd: RawFd, word: u64) -> io::Result<()> {
        debug_assert!(word >> WORD_BITS == 0);
        let word = u64::from(self.service) << WORD_BITS | word;
        self.thread.epoll.add(fd, libc::EPOLLIN as u32, word)
    }

    pub fn delete(&self, fd: RawFd) -> io::Result<()> {
        self.thread.epoll.delete(fd)
    }

    /// Has `after_events` called soon.
    pub fn wake(&self) {
        self.thread.wake.signal();
    }
}

struct Shared {
    epoll: Epoll,
    wake: EventFd,
    services: Mutex<Services>,
    /// The thread shall end.
    end: AtomicBool,
}

#[derive(Default)]
struct Services {
    /// The last number that was given.
    last: u16,
    /// Those with a place on the thread, also before they have a handler.
    numbers: Vec<u16>,
    handlers: Vec<(u16, Arc<dyn Handler>, Arc<Descriptors>)>,
}

impl Services {
    /// A number that no service has; 0 is the thread's own.
    fn number(&mut self) -> u16 {
        loop {
            self.last = self.last.wrapping_add(1);
            if self.last != 0 && !self.numbers.contains(&self.last) {
                self.numbers.push(self.last);
                return self.last;
            }
        }
    }
}

static THREAD: Service<Shared> = Service::new();

/// The number of what wakes the thread itself.
const WAKE: u64 = 0;

/// A service's place on the thread, which ends with the last place.
struct Place {
    descriptors: Arc<Descriptors>,
}

impl Place {
    fn take() -> io::Result<Place> {
        THREAD.join("ucx_events", Shared::new, run, |thread, _| {
            let mut services = thread.services.lock();
            Place {
                descriptors: Arc::new(Descriptors {
                    thread: Arc::clone(thread),
                    service: services.number(),
                }),
            }
        })
    }

    fn serve(&self, handler: Arc<dyn Handler>) {
        let descriptors = Arc::clone(&self.descriptors);
        let mut services = descriptors.thread.services.lock();
        let entry = (descriptors.service, handler, Arc::clone(&descriptors));
        services.handlers.push(entry);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let leaves = |thread: &Arc<Shared>| {
            let mut services = thread.services.lock();
            let number = self.descriptors.service;
            services.handlers.retain(|(service, ..)| *service != number);
            services.numbers.retain(|live| *live != number);
            services.numbers.is_empty()
        };
        THREAD.remove_user(leaves, |thread, _| {
            // Release: pairs with the Acquire in `run`.
            thread.end.store(true, Ordering::Release);
            thread.wake.signal();
        });
    }
}

impl Shared {
    fn new() -> io::Result<Shared> {
        let shared = Shared {
            epoll: Epoll::new()?,
            wake: EventFd::new()?,
            services: Mutex::default(),
            end: AtomicBool::new(false),
        };
        let wake = shared.wake.raw();
        shared.epoll.add(wake, libc::EPOLLIN as u32, WAKE)?;
        Ok(shared)
    }
}

/// The thread.
fn run(shared: &Shared) {
    let mut events = [EVENT_ROOM; 16];
    let mut limit = -1;
    // Acquire: pairs with the Release in `Place::drop`.
    while !shared.end.load(Ordering::Acquire) {
        let ready = match shared.epoll.wait(&mut events, limit) {
            Ok(ready) => ready,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return ucs_diag!("the library's thread for events ends: {e}"),
        };
        // Handlers run without the lock: they may end up in a callback that adds a user to a service.
        let handlers = shared.services.lock().handlers.clone();
        for word in ready.iter().map(|event| event.u64) {
            if word == WAKE {
                shared.wake.clear();
                continue;
            }
            let number = (word >> WORD_BITS) as u16;
            let found = handlers.iter().find(|(service, ..)| *service == number);
            if let Some((_, handler, descriptors)) = found {
                handler.on_ready(descriptors, word & ((1 << WORD_BITS) - 1));
            }
        }
        limit = handlers
            .iter()
            .filter_map(|(_, handler, descriptors)| handler.after_events(descriptors))
            .min()
            .unwrap_or(-1);
    }
}

/// A service, whose state `T` its users and the thread share.
pub struct EventService<T: Handler + 'static>(WhileUsed<Running<T>>);

struct Running<T> {
    state: Arc<T>,
    place: Place,
}

impl<T: Handler> EventService<T> {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> EventService<T> {
        EventService(WhileUsed::new())
    }

    /// Adds a user; the first has the state made.
    pub fn join<U>(
        &self,
        make: impl FnOnce(&Descriptors) -> io::Result<T>,
        add: impl FnOnce(&T, &Descriptors) -> U,
    ) -> io::Result<U> {
        let start = || {
            let place = Place::take()?;
            let state = Arc::new(make(&place.descriptors)?);
            place.serve(Arc::clone(&state) as Arc<dyn Handler>);
            Ok(Running { state, place })
        };
        self.0.join(start, |r| add(&r.state, &r.place.descriptors))
    }

    /// `remove` removes a user and returns whether it was the last; then the service ends. See `WhileUsed::remove_user`.
    pub fn remove_user(&self, remove: impl FnOnce(&T) -> bool) {
        self.0.remove_user(|r| remove(&r.state), drop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Sender, channel};

    struct Told {
        users: AtomicUsize,
        ready: EventFd,
        tell: Mutex<Sender<(u64, std::thread::ThreadId)>>,
    }

    impl Handler for Told {
        fn on_ready(&self, _: &Descriptors, word: u64) {
            self.ready.clear();
            let thread = std::thread::current().id();
            self.tell.lock().send((word, thread)).unwrap();
        }
    }

    #[test]
    fn two_services_share_the_thread_and_hear_of_their_own_descriptors_only() {
        static A: EventService<Told> = EventService::new();
        static B: EventService<Told> = EventService::new();
        let join = |service: &EventService<Told>, word| {
            let (tell, told) = channel();
            let make = |descriptors: &Descriptors| {
                let ready = EventFd::new()?;
                descriptors.add(ready.raw(), word)?;
                Ok(Told {
                    users: AtomicUsize::new(0),
                    ready,
                    tell: Mutex::new(tell),
                })
            };
            let add = |state: &Told, _: &Descriptors| {
                state.users.fetch_add(1, Ordering::SeqCst);
                state.ready.signal();
            };
            service.join(make, add).unwrap();
            told
        };
        let leave = |service: &EventService<Told>| {
            service.remove_user(|state| state.users.fetch_sub(1, Ordering::SeqCst) == 1);
        };
        for _ in 0..2 {
            let (a, b) = (join(&A, 7), join(&B, 8));
            let ((seven, thread), (eight, other)) = (a.recv().unwrap(), b.recv().unwrap());
            assert_eq!((seven, eight, thread), (7, 8, other));
            // One that joins again finds the service; what it made is not needed.
            assert!(join(&A, 9).recv().is_err());
            assert_eq!(a.recv().unwrap().0, 7);
            leave(&A);
            leave(&A);
            assert!(a.recv().is_err(), "the state is gone");
            leave(&B);
            assert!(b.recv().is_err());
        }
        A.remove_user(|_| unreachable!());
    }

    /// What a handler frees may hold the last user.
    #[test]
    fn the_thread_may_remove_the_last_user() {
        static SERVICE: EventService<Leaves> = EventService::new();
        struct Leaves {
            ready: EventFd,
            tell: Mutex<Sender<()>>,
        }
        impl Handler for Leaves {
            fn on_ready(&self, _: &Descriptors, _: u64) {
                SERVICE.remove_user(|_| true);
                self.tell.lock().send(()).unwrap();
            }
        }
        for _ in 0..2 {
            let (tell, told) = channel();
            let make = |descriptors: &Descriptors| {
                let ready = EventFd::new()?;
                descriptors.add(ready.raw(), 1)?;
                Ok(Leaves {
                    ready,
                    tell: Mutex::new(tell),
                })
            };
            SERVICE.join(make, |state, _| state.ready.signal()).unwrap();
            told.recv().unwrap();
            assert!(told.recv().is_err(), "the state is gone");
        }
    }

    #[test]
    fn what_cannot_be_made_is_told_and_leaves_no_place() {
        static SERVICE: EventService<Told> = EventService::new();
        let refused = |_: &Descriptors| Err(io::ErrorKind::OutOfMemory.into());
        assert!(SERVICE.join(refused, |_, _| ()).is_err());
        assert!(SERVICE.join(refused, |_, _| ()).is_err());
    }
}
