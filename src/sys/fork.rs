//! Static state of the process, and fork().
//!
//! A child of fork() has one thread and a copy of its parent's memory. A lock that another thread of the parent held
//! stays locked, a value that another thread was changing stays inconsistent, and a result that another thread was
//! computing never comes. So every static that is more than a word is one of these, which `tests/fork_safety.rs` checks:
//!
//! | type | for | a child |
//! |---|---|---|
//! | `PerProcess` | tables, locks and threads of this process | makes its own at its first use |
//! | `ForkLocked` | values that a child has to have as well | inherits them whole: fork() waits for a thread that changes one |
//! | `once_cell::race` | values that never change once they are computed | inherits them, or computes them again |
//!
//! None of them lets a child wait for a thread that it does not have. The locks are those of `lock.rs`, which keep
//! nothing outside of themselves.

use super::lock::{FutexMutex, RawMutex};
use super::process;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Which process made an object, among this one and those it descends from by fork().
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp(u32);

impl Stamp {
    /// The stamp of this process.
    #[inline]
    pub fn now() -> Stamp {
        Stamp(generation())
    }

    /// Never 0.
    pub fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub fn is_current(self) -> bool {
        self.0 == generation()
    }
}

/// A word that fork() turns to zero in the child; null until it is made.
static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut());
/// Stands in the place of the word where the kernel has no such memory; always zero.
static NO_WORD: AtomicU32 = AtomicU32::new(0);
/// The highest number given to this process or one that it descends from.
static LAST: AtomicU32 = AtomicU32::new(0);

/// The number of this process among its ancestors, by one load where the kernel supports MADV_WIPEONFORK; its pid
/// elsewhere. A pid alone may come again in a descendant.
#[inline]
fn generation() -> u32 {
    let word = WORD.load(Ordering::Acquire); // pairs with the Release in next_generation
    if !word.is_null() {
        // SAFETY: what was published is never unmapped.
        let known = unsafe { &*word }.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
    }
    next_generation(word)
}

#[cold]
fn next_generation(mut word: *mut AtomicU32) -> u32 {
    if word.is_null() {
        let fresh = wiped_on_fork().unwrap_or((&raw const NO_WORD).cast_mut());
        // Release: pairs with the Acquire in generation. Losing the race leaks one page, once.
        let published = WORD.compare_exchange(word, fresh, Ordering::Release, Ordering::Acquire);
        word = published.map_or_else(|other| other, |_| fresh);
    }
    if core::ptr::eq(word, &raw const NO_WORD) {
        return process::pid();
    }
    // Relaxed: the number guards nothing.
    let number = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
    // SAFETY: what was published is never unmapped.
    let word = unsafe { &*word };
    match word.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => number,
        Err(other) => other,
    }
}

fn wiped_on_fork() -> Option<*mut AtomicU32> {
    const LEN: usize = 4096;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing else.
    let page = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            LEN,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return None;
    }
    // qemu-user (seen with 7.2) says yes to every advice and follows none: who takes one that does not exist is not believed.
    const NO_ADVICE: i32 = -1;
    // SAFETY: the range is the mapping made above.
    let takes_any = unsafe { libc::madvise(page, LEN, NO_ADVICE) } == 0;
    // SAFETY: as above.
    if takes_any || unsafe { libc::madvise(page, LEN, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: as above; nobody has seen the pointer.
        unsafe { libc::munmap(page, LEN) };
        return None;
    }
    Some(page.cast())
}

/// A static that every process makes for itself, at its first use. A child of fork() never touches its parent's.
pub struct PerProcess<T: 'static> {
    current: AtomicPtr<Made<T>>,
    make: fn() -> T,
}

struct Made<T> {
    by: Stamp,
    value: T,
    /// The parent's, so that leak checkers see it reachable.
    _inherited: *mut Made<T>,
}

impl<T: Send + Sync> PerProcess<T> {
    /// `make` may run on several threads at once; one of the values stays.
    pub const fn new(make: fn() -> T) -> PerProcess<T> {
        PerProcess {
            current: AtomicPtr::new(core::ptr::null_mut()),
            make,
        }
    }

    #[inline]
    pub fn get(&self) -> &'static T {
        // Acquire: pairs with the Release of `renewed`.
        let current = self.current.load(Ordering::Acquire);
        // SAFETY: what was published is never freed.
        match unsafe { current.as_ref() } {
            Some(made) if made.by.is_current() => &made.value,
            _ => self.renewed(),
        }
    }

    #[cold]
    fn renewed(&self) -> &'static T {
        loop {
            // Acquire: pairs with the Release below.
            let current = self.current.load(Ordering::Acquire);
            // SAFETY: what was published is never freed.
            if let Some(made) = unsafe { current.as_ref() }
                && made.by.is_current()
            {
                return &made.value;
            }
            let fresh = Box::into_raw(Box::new(Made {
                by: Stamp::now(),
                value: (self.make)(),
                _inherited: current,
            }));
            // Release: pairs with the Acquire above. A parent's value stays where it is.
            let published =
                self.current
                    .compare_exchange(current, fresh, Ordering::Release, Ordering::Relaxed);
            if published.is_err() {
                // SAFETY: made above and not published.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }
}

/// The one lock of all `ForkLocked`, which the forking thread holds while the process is copied.
static LOCK: FutexMutex = FutexMutex::INIT;
/// The thread that has it, 0 for none.
static HOLDER: AtomicU64 = AtomicU64::new(0);

/// A static value that no thread is changing while fork() copies it.
///
/// All of them share one lock: while one is looked at, nothing else of the library that needs it may be called, the log
/// included, nor anything that takes its time.
pub struct ForkLocked<T>(UnsafeCell<T>);

// SAFETY: the value is reached with the lock held only.
unsafe impl<T: Send> Sync for ForkLocked<T> {}

/// Gives the lock back, also when the closure unwinds in a test.
struct LockGuard;

impl LockGuard {
    fn lock() -> LockGuard {
        let me = super::thread::here();
        debug_assert_ne!(
            HOLDER.load(Ordering::Relaxed),
            me,
            "nested use of ForkLocked"
        );
        LOCK.lock();
        HOLDER.store(me, Ordering::Relaxed);
        LockGuard
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::Relaxed);
        // SAFETY: locked by `take`, or by `before_fork` on the thread that forked.
        unsafe { LOCK.unlock() };
    }
}

impl<T> ForkLocked<T> {
    pub const fn new(value: T) -> ForkLocked<T> {
        ForkLocked(UnsafeCell::new(value))
    }

    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        register();
        let _held = LockGuard::lock();
        // SAFETY: the lock is held, and `take` is not reached a second time on this thread.
        f(unsafe { &mut *self.0.get() })
    }
}

/// Functions to call, in the order of registration.
type Calls = [Option<fn()>; MOST_CALLS];
const MOST_CALLS: usize = 8;
/// Functions that the forking thread calls before the process is copied.
static BEFORE: ForkLocked<Calls> = ForkLocked::new([None; MOST_CALLS]);
/// Functions that a child calls first.
static IN_CHILD: ForkLocked<Calls> = ForkLocked::new([None; MOST_CALLS]);

/// Has every child of fork() call `f` before its fork() returns. Registered once, however often this is called.
pub fn call_in_child(f: fn()) {
    register_call(&IN_CHILD, f);
}

/// Has every thread that forks call `f` before, without the lock of `ForkLocked`. Registered once, however often this is
/// called.
pub fn call_before(f: fn()) {
    register_call(&BEFORE, f);
}

fn register_call(calls: &ForkLocked<Calls>, f: fn()) {
    calls.with(|all| {
        if all
            .iter()
            .flatten()
            .any(|known| core::ptr::fn_addr_eq(*known, f))
        {
            return;
        }
        match all.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(f),
            None => debug_assert!(false, "MOST_CALLS is too small"),
        }
    });
}

/// Whether the handlers below are registered.
static REGISTERED: AtomicBool = AtomicBool::new(false);
/// How often the handlers run in one fork(), less those that have run. Changed with the lock held.
static NESTED: AtomicU32 = AtomicU32::new(0);

/// Registers the handlers, before the lock is taken for the first time: nothing runs when the library is loaded. Threads that
/// come here together may each register them; the handlers bear that. A thread does not wait for another one here, which a
/// child would not have.
#[inline]
fn register() {
    // Acquire: pairs with the Release below; the handlers are in place.
    if !REGISTERED.load(Ordering::Acquire) {
        register_handlers();
    }
}

#[cold]
fn register_handlers() {
    // SAFETY: three functions without arguments; libc forgets them when this library is unloaded. Where there is no memory
    // for it a child may find the lock taken; there is nobody to tell.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
    // Release: pairs with the Acquire above.
    REGISTERED.store(true, Ordering::Release);
}

extern "C" fn before_fork() {
    if HOLDER.load(Ordering::Relaxed) != super::thread::here() {
        BEFORE.with(|all| *all).iter().flatten().for_each(|f| f());
        core::mem::forget(LockGuard::lock());
    }
    // Relaxed, as everywhere here: the lock orders it.
    NESTED.fetch_add(1, Ordering::Relaxed);
}

/// Whether the last of the handlers of this fork() runs, which gives the lock back.
fn is_last() -> bool {
    NESTED.fetch_sub(1, Ordering::Relaxed) == 1
}

extern "C" fn in_parent() {
    if is_last() {
        drop(LockGuard);
    }
}

extern "C" fn in_child() {
    if is_last() {
        drop(LockGuard);
        IN_CHILD.with(|all| *all).iter().flatten().for_each(|f| f());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a child's function says, as its exit status.
    fn in_a_child(f: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child calls `f` and ends.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            let status = i32::from(!f());
            // SAFETY: ends the child without running the test harness's exit handlers.
            unsafe { libc::_exit(status) };
        }
        let mut status = 0;
        // SAFETY: a writable local.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        status == 0
    }

    #[test]
    fn handlers_that_are_registered_twice_do_no_harm() {
        static COUNT: ForkLocked<u32> = ForkLocked::new(0);
        register_handlers();
        register_handlers();
        COUNT.with(|count| *count += 1);
        assert!(in_a_child(|| COUNT.with(|count| *count) == 1));
        COUNT.with(|count| assert_eq!(*count, 1));
    }

    #[test]
    fn a_stamp_is_of_one_process() {
        let stamp = Stamp::now();
        assert!(stamp.is_current());
        assert!(in_a_child(|| {
            let own = Stamp::now();
            !stamp.is_current()
                && own.is_current()
                && in_a_child(|| !stamp.is_current() && !own.is_current())
        }));
        assert!(stamp.is_current());
    }

    #[test]
    fn a_child_makes_its_own() {
        static MADE: PerProcess<AtomicU32> = PerProcess::new(|| AtomicU32::new(1));
        MADE.get().store(2, Ordering::Relaxed);
        assert!(in_a_child(|| MADE.get().load(Ordering::Relaxed) == 1));
        assert_eq!(MADE.get().load(Ordering::Relaxed), 2);
    }

    /// Two words that every change leaves equal, and threads that change them all the time.
    #[test]
    fn a_child_inherits_what_is_locked_whole_and_unlocked() {
        static PAIR: ForkLocked<(u64, u64)> = ForkLocked::new((0, 0));
        static STOP: AtomicU32 = AtomicU32::new(0);
        fn change() {
            PAIR.with(|pair| {
                pair.0 += 1;
                // Somebody waits for the lock while it is held.
                std::thread::yield_now();
                pair.1 += 1;
            });
        }
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while STOP.load(Ordering::Relaxed) == 0 {
                        change();
                    }
                });
            }
            for _ in 0..100 {
                assert!(in_a_child(|| {
                    change();
                    PAIR.with(|pair| pair.0 == pair.1)
                }));
            }
            STOP.store(1, Ordering::Relaxed);
        });
    }

    #[test]
    fn what_was_registered_is_called_before_a_fork() {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        static GUARDED: ForkLocked<u32> = ForkLocked::new(0);
        fn count() {
            GUARDED.with(|n| *n += 1);
            CALLS.fetch_add(1, Ordering::Relaxed);
        }
        call_before(count);
        call_before(count);
        let before = CALLS.load(Ordering::Relaxed);
        assert!(in_a_child(|| CALLS.load(Ordering::Relaxed) > 0));
        // Other tests fork as well.
        assert!(CALLS.load(Ordering::Relaxed) > before);
    }

    #[test]
    fn children_call_what_was_registered_once() {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        fn count() {
            CALLS.fetch_add(1, Ordering::Relaxed);
        }
        call_in_child(count);
        call_in_child(count);
        assert!(in_a_child(|| CALLS.load(Ordering::Relaxed) == 1));
        assert_eq!(CALLS.load(Ordering::Relaxed), 0);
    }
}
