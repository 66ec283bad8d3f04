//! Tells who keeps something of memory (a registration) when that memory is unmapped, dropped or moved, by whatever call.
//!
//! A thread of the process reads the events of watched memory. The one that unmaps waits for that, so this thread waits for
//! nobody who might allocate: it holds one lock, under which others only exchange pointers, and listeners note the range.
//! There is one watch for the process, which is never closed: a child of fork() would keep it open, and then the
//! parent's next unmapping would wait for a reader that is gone. So the library stays loaded from then on.
#![forbid(unsafe_code)]

use crate::sys::lock::Mutex;
use crate::sys::process;
use crate::sys::uffd::MemoryWatch;
use crate::ucs::fork::PerProcess;
use crate::ucs_debug;
use core::ops::Range;
use std::sync::{Arc, OnceLock};

/// Who wants to know.
pub trait Listener: Send + Sync {
    /// The range may be other memory now. Allocates nothing, and takes no lock that somebody holds who allocates.
    fn unmapped(&self, range: Range<usize>);
}

type Listeners = Vec<Arc<dyn Listener>>;

/// What events are read from.
trait Source {
    /// As `MemoryWatch::read`.
    fn read(&self, each: &mut dyn FnMut(Range<usize>));

    /// As `MemoryWatch::is_quiet`.
    fn is_quiet(&self) -> bool;
}

impl Source for MemoryWatch {
    fn read(&self, each: &mut dyn FnMut(Range<usize>)) {
        MemoryWatch::read(self, each);
    }

    fn is_quiet(&self) -> bool {
        MemoryWatch::is_quiet(self)
    }
}

pub struct Unmappings(Watch<MemoryWatch>);

struct Watch<S> {
    memory: S,
    /// Held while events are read and told.
    told: Mutex<Listeners>,
    /// The same listeners, for changes.
    all: Mutex<Listeners>,
}

static WATCH: PerProcess<OnceLock<Option<Arc<Unmappings>>>> = PerProcess::new(OnceLock::new);

impl Unmappings {
    /// The watch of the process. `None` where the kernel has none or does not allow it.
    pub fn of_process() -> Option<&'static Unmappings> {
        WATCH.get().get_or_init(Unmappings::start).as_deref()
    }

    fn start() -> Option<Arc<Unmappings>> {
        let started = MemoryWatch::new().and_then(|memory| {
            let watch = Arc::new(Unmappings(Watch::new(memory)));
            let reader = Arc::clone(&watch);
            process::stay_loaded();
            process::spawn_without_signals("unmapped", move || reader.run())?;
            Ok(watch)
        });
        started
            .inspect_err(|e| ucs_debug!("memory cannot be watched for unmapping: {e}"))
            .ok()
    }

    fn run(&self) {
        loop {
            // An interrupted wait is a look too many.
            let _ = self.0.memory.wait();
            self.0.tell();
        }
    }

    pub fn add(&self, listener: Arc<dyn Listener>) {
        self.0.change(|all| all.push(listener));
    }

    pub fn remove(&self, listener: &Arc<dyn Listener>) {
        self.0
            .change(|all| all.retain(|other| !Arc::ptr_eq(other, listener)));
    }

    /// Listeners hear of this range from now on. `false` if it cannot be watched.
    pub fn watch(&self, range: Range<usize>) -> bool {
        let added = self.0.memory.add(range);
        added
            .inspect_err(|e| ucs_debug!("memory that cannot be watched for unmapping: {e}"))
            .is_ok()
    }

    /// Whether listeners know of all that was unmapped before this call. Not while an unmapping is under way.
    pub fn is_told(&self) -> bool {
        self.0.is_told()
    }
}

impl<S: Source> Watch<S> {
    fn new(memory: S) -> Watch<S> {
        Watch {
            memory,
            told: Mutex::default(),
            all: Mutex::default(),
        }
    }

    /// Reads and tells the events that are there. The source is quiet as soon as they are read, so the lock is taken before:
    /// who has asked whether it is quiet waits for it.
    fn tell(&self) {
        let listeners = self.told.lock();
        self.memory.read(&mut |range| {
            for listener in listeners.iter() {
                listener.unmapped(range.clone());
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Listeners)) {
        let mut all = self.all.lock();
        change(&mut all);
        let mut list = all.clone();
        // What was there is freed without the lock.
        core::mem::swap(&mut *self.told.lock(), &mut list);
    }

    fn is_told(&self) -> bool {
        if !self.memory.is_quiet() {
            return false;
        }
        // What was read is told.
        drop(self.told.lock());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::sync::{AtomicBool, Ordering};
    use core::time::Duration;
    use std::sync::Barrier;
    use std::sync::mpsc::Receiver;

    #[derive(Default)]
    struct Seen(Mutex<Option<Range<usize>>>);

    impl Listener for Seen {
        fn unmapped(&self, range: Range<usize>) {
            let mut seen = self.0.lock();
            let all = seen.clone().unwrap_or(range.clone());
            *seen = Some(all.start.min(range.start)..all.end.max(range.end));
        }
    }

    /// An event whose reader stands still behind it: until another thread has asked, or for a while.
    struct Slow {
        is_quiet: AtomicBool,
        read: Barrier,
        answered: Mutex<Receiver<()>>,
    }

    impl Source for Slow {
        fn read(&self, each: &mut dyn FnMut(Range<usize>)) {
            self.is_quiet.store(true, Ordering::SeqCst);
            self.read.wait();
            let _ = self.answered.lock().recv_timeout(STILL);
            each(0..1);
        }

        fn is_quiet(&self) -> bool {
            self.is_quiet.load(Ordering::SeqCst)
        }
    }

    const STILL: Duration = Duration::from_millis(300);

    /// Events that are read and not told yet: nobody is told that all is told.
    #[test]
    fn who_asks_waits_for_events_that_are_being_told() {
        let (answer, answered) = std::sync::mpsc::channel();
        let watch = Arc::new(Watch::new(Slow {
            is_quiet: AtomicBool::new(false),
            read: Barrier::new(2),
            answered: Mutex::new(answered),
        }));
        let seen = Arc::new(Seen::default());
        let listener: Arc<dyn Listener> = seen.clone();
        watch.change(|all| all.push(listener));
        assert!(!watch.is_told());
        let (asking, seen_by_asker) = (Arc::clone(&watch), Arc::clone(&seen));
        let asker = std::thread::spawn(move || {
            asking.memory.read.wait();
            let is_told = asking.is_told();
            let knows = seen_by_asker.0.lock().is_some();
            let _ = answer.send(());
            (is_told, knows)
        });
        watch.tell();
        assert_eq!(asker.join().unwrap(), (true, true));
    }

    /// Long enough to be a mapping of its own, which the C library unmaps when it is freed.
    const LENGTH: usize = 64 << 20;

    #[test]
    fn memory_that_the_allocator_unmaps_is_told_before_the_call_returns() {
        let Some(watch) = Unmappings::of_process() else {
            eprintln!("the kernel lets nobody watch memory here");
            return;
        };
        let seen = Arc::new(Seen::default());
        let listener: Arc<dyn Listener> = seen.clone();
        watch.add(Arc::clone(&listener));
        let memory = vec![1u8; LENGTH];
        let at = memory.as_ptr().addr();
        assert!(watch.watch(at..at + LENGTH));
        assert!(seen.0.lock().is_none());
        drop(memory);
        while !watch.is_told() {
            std::thread::yield_now();
        }
        let range = seen.0.lock().clone().unwrap();
        assert!(
            range.start <= at && range.end >= at + LENGTH,
            "{range:x?} of {at:x}"
        );
        watch.remove(&listener);
    }
}
