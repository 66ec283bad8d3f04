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

pub struct Unmappings {
    memory: MemoryWatch,
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
            let watch = Arc::new(Unmappings {
                memory,
                told: Mutex::default(),
                all: Mutex::default(),
            });
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
            let _ = self.memory.wait();
            let listeners = self.told.lock();
            self.memory.read(|range| {
                for listener in listeners.iter() {
                    listener.unmapped(range.clone());
                }
            });
        }
    }

    pub fn add(&self, listener: Arc<dyn Listener>) {
        self.change(|all| all.push(listener));
    }

    pub fn remove(&self, listener: &Arc<dyn Listener>) {
        self.change(|all| all.retain(|other| !Arc::ptr_eq(other, listener)));
    }

    fn change(&self, change: impl FnOnce(&mut Listeners)) {
        let mut all = self.all.lock();
        change(&mut all);
        let mut list = all.clone();
        // What was there is freed without the lock.
        core::mem::swap(&mut *self.told.lock(), &mut list);
    }

    /// Listeners hear of this range from now on. `false` if it cannot be watched.
    pub fn watch(&self, range: Range<usize>) -> bool {
        let added = self.memory.add(range);
        added
            .inspect_err(|e| ucs_debug!("memory that cannot be watched for unmapping: {e}"))
            .is_ok()
    }

    /// Whether listeners know of all that was unmapped before this call. Not while an unmapping is under way.
    pub fn is_told(&self) -> bool {
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

    #[derive(Default)]
    struct Seen(Mutex<Option<Range<usize>>>);

    impl Listener for Seen {
        fn unmapped(&self, range: Range<usize>) {
            let mut seen = self.0.lock();
            let all = seen.clone().unwrap_or(range.clone());
            *seen = Some(all.start.min(range.start)..all.end.max(range.end));
        }
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
