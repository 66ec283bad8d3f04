//! `CallbackQueue`: the callbacks of a worker's progress.
//!
//! It is the head of every C-visible worker, because clients walk it inline: an array of
//! {callback, argument} that ends at a null callback, with a stride of 24 bytes up to UCX 1.15 and
//! of 16 since. So only the first element is ever used and zeros follow it; loops of every release
//! call it once and stop. While exactly one callback is registered that element is the callback
//! itself, so progress costs one indirect call; otherwise it is a dispatcher over all of them.
//!
//! Threads: `add`, `remove`, `remove_if` and `dispatch` belong to whoever owns the worker at the
//! time; the `*_safe` pair may be called by anyone. A foreign thread must not change the argument
//! word while the owner may be between reading callback and argument, so it replaces the callback
//! only, by a dispatcher that knows its queue without an argument: one of a fixed set, see
//! `Trampoline`. A queue that gets none of these keeps a dispatcher in the slot for ever.

use crate::sys::lock::Mutex;
use crate::ucs::callback_slot::{Requested, Slot};
use crate::ucs::{Result, Status};
use core::cell::UnsafeCell;
use core::ffi::{c_uint, c_void};
use core::marker::PhantomPinned;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A progress function; returns how many things it did.
pub type Callback = unsafe extern "C" fn(*mut c_void) -> c_uint;

/// Names one registration; never reused while it lives, rarely soon after.
pub type CallbackId = i32;

/// Bytes that inline loops of any release may read: the size of `struct uct_worker` up to 1.15.
const HEAD_WORDS: usize = 264 / 8;

/// Ids carry 16 bits of slot and 15 of generation.
const MAX_CALLBACKS: usize = 1 << 16;

/// How many queues of a process can have the one-call fast path at a time.
const TRAMPOLINES: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// Called on every progress until removed.
    Always,
    /// Called once, on the next progress, and forgotten before it runs.
    Once,
}

#[derive(Clone, Copy)]
struct QueuedCallback {
    cb: Callback,
    arg: *mut c_void,
    id: CallbackId,
    repeat: Repeat,
    live: bool,
}

enum Request {
    Add(QueuedCallback),
    Remove(CallbackId),
}

/// Everything that foreign threads may touch.
#[derive(Default)]
struct Shared {
    ids: Ids,
    requests: Vec<Request>,
}

/// Everything that only the owner touches.
struct Owned {
    entries: Vec<QueuedCallback>,
    /// Nested `dispatch` calls under way; entries move only at zero.
    depth: u32,
    dead: usize,
}

#[repr(C)]
pub struct CallbackQueue {
    /// What inline loops read.
    slot: Slot,
    zeros: [usize; HEAD_WORDS - 2],
    /// Whether `shared.requests` has something.
    requested: Requested,
    /// Index into `TRAMPOLINE_OWNERS`, plus one; zero is "none".
    trampoline: AtomicUsize,
    owned: UnsafeCell<Owned>,
    shared: Mutex<Shared>,
    _pin: PhantomPinned,
}

#[cfg(not(all(test, loom)))]
const _: () = {
    assert!(core::mem::offset_of!(CallbackQueue, slot) == 0);
    assert!(size_of::<Slot>() == 16);
    assert!(core::mem::offset_of!(CallbackQueue, requested) >= 264);
};

// SAFETY: the queue may be handed to another owner; callbacks and arguments are plain words whose
// use by the owner is what the callers of `add` promise.
unsafe impl Send for CallbackQueue {}
// SAFETY: `owned` is reached only by the functions that demand ownership (`add`, `remove`,
// `remove_if`, `dispatch`, unsafe or documented so); all else is atomic or behind the mutex.
unsafe impl Sync for CallbackQueue {}

impl Default for CallbackQueue {
    fn default() -> CallbackQueue {
        CallbackQueue::new()
    }
}

impl CallbackQueue {
    pub fn new() -> CallbackQueue {
        CallbackQueue {
            slot: Slot::empty(),
            zeros: [0; HEAD_WORDS - 2],
            requested: Requested::no(),
            trampoline: AtomicUsize::new(0),
            owned: UnsafeCell::new(Owned {
                entries: Vec::new(),
                depth: 0,
                dead: 0,
            }),
            shared: Mutex::new(Shared {
                ids: Ids {
                    generations: Vec::new(),
                    free: Vec::new(),
                },
                requests: Vec::new(),
            }),
            _pin: PhantomPinned,
        }
    }

    /// The inline loop of C clients: calls every registered callback once.
    ///
    /// # Safety
    /// Only the owner's thread; may nest inside a callback of this queue.
    #[inline]
    pub unsafe fn dispatch(&self) -> u32 {
        let cb = self.slot.cb();
        if cb == 0 {
            return 0;
        }
        let arg = self.slot.arg();
        // SAFETY: the slot's callback word is zero or was written from a `Callback`.
        let cb = unsafe { core::mem::transmute::<usize, Callback>(cb) };
        // SAFETY: callback and argument were registered together, by a caller that promised their
        // validity until removal; a foreign thread replaces only the callback, by one that ignores
        // its argument.
        unsafe { cb(arg) }
    }

    /// From now on `cb(arg)` is all that is called, in a child of fork() whose parent owns the queue.
    pub fn replace(&self, cb: Callback, arg: *mut c_void) {
        self.slot.set(cb as usize, arg);
    }

    /// Registers a callback.
    ///
    /// # Safety
    /// Only the owner's thread. `cb(arg)` must be callable until the callback is removed, and the
    /// queue must stay at its address from now on.
    pub unsafe fn add(&self, cb: Callback, arg: *mut c_void, repeat: Repeat) -> Result<CallbackId> {
        self.claim_trampoline();
        let mut shared = self.shared.lock();
        let id = shared.ids.take()?;
        self.owned().entries.push(QueuedCallback {
            cb,
            arg,
            id,
            repeat,
            live: true,
        });
        self.refresh(&shared);
        Ok(id)
    }

    /// Removes a callback, also from inside it or another one; it is not called again. Gives its
    /// argument back.
    ///
    /// # Safety
    /// Only the owner's thread.
    pub unsafe fn remove(&self, id: CallbackId) -> Result<*mut c_void> {
        let mut shared = self.shared.lock();
        self.apply(&mut shared);
        let arg = self.drop_entry(&mut shared, id).ok_or(Status::NO_ELEM)?;
        self.refresh(&shared);
        Ok(arg)
    }

    /// Removes every callback for which `which(cb, arg)` holds. `which` must not use the queue.
    ///
    /// # Safety
    /// Only the owner's thread.
    pub unsafe fn remove_if(&self, mut which: impl FnMut(Callback, *mut c_void) -> bool) {
        let mut shared = self.shared.lock();
        self.apply(&mut shared);
        for i in 0..self.owned().entries.len() {
            let Some(entry) = self.entry(i).filter(|e| e.live) else {
                continue;
            };
            if which(entry.cb, entry.arg) {
                self.drop_entry(&mut shared, entry.id);
            }
        }
        self.refresh(&shared);
    }

    /// As `add`, from any thread; takes effect at the owner's next dispatch.
    ///
    /// # Safety
    /// `cb(arg)` must be callable on the owner's thread until removed, and the queue must stay at
    /// its address from now on.
    pub unsafe fn add_safe(
        &self,
        cb: Callback,
        arg: *mut c_void,
        repeat: Repeat,
    ) -> Result<CallbackId> {
        self.claim_trampoline();
        let mut shared = self.shared.lock();
        let id = shared.ids.take()?;
        let entry = QueuedCallback {
            cb,
            arg,
            id,
            repeat,
            live: true,
        };
        self.request(&mut shared, Request::Add(entry));
        Ok(id)
    }

    /// As `remove`, from any thread; the callback may still run until the owner's next dispatch.
    pub fn remove_safe(&self, id: CallbackId) -> Result<()> {
        let mut shared = self.shared.lock();
        if !shared.ids.is_live(id) {
            return Err(Status::NO_ELEM);
        }
        self.request(&mut shared, Request::Remove(id));
        Ok(())
    }

    /// Whether nothing is registered, requests included.
    ///
    /// # Safety
    /// Only the owner's thread.
    pub unsafe fn is_empty(&self) -> bool {
        let shared = self.shared.lock();
        shared.requests.is_empty() && self.live() == 0
    }

    fn request(&self, shared: &mut Shared, request: Request) {
        shared.requests.push(request);
        self.requested.mark();
        // Only the callback word: the owner may have read the old one and not yet the argument.
        self.slot.set_cb(self.takeover() as *const () as usize);
    }

    /// The dispatcher's body. Holds no borrow while a callback runs.
    fn run(&self) -> u32 {
        if self.requested.is_marked() {
            let mut shared = self.shared.lock();
            self.apply(&mut shared);
            self.refresh(&shared);
        }
        self.owned().depth += 1;
        let mut count = 0u32;
        // Callbacks added from now on wait for the next progress.
        for i in 0..self.owned().entries.len() {
            let Some(entry) = self.entry(i).filter(|e| e.live) else {
                continue;
            };
            if entry.repeat == Repeat::Once {
                self.drop_entry(&mut self.shared.lock(), entry.id);
            }
            // SAFETY: live entries were registered by a caller that promised `cb(arg)` until their
            // removal, and this is the owner's thread.
            count = count.wrapping_add(unsafe { (entry.cb)(entry.arg) });
        }
        let owned = self.owned();
        owned.depth -= 1;
        if owned.depth == 0 && owned.dead > 0 {
            owned.entries.retain(|e| e.live);
            owned.dead = 0;
            self.refresh(&self.shared.lock());
        }
        count
    }

    fn apply(&self, shared: &mut Shared) {
        for request in core::mem::take(&mut shared.requests) {
            match request {
                Request::Add(entry) => self.owned().entries.push(entry),
                Request::Remove(id) => {
                    self.drop_entry(shared, id);
                }
            }
        }
        self.requested.clear();
    }

    fn drop_entry(&self, shared: &mut Shared, id: CallbackId) -> Option<*mut c_void> {
        let owned = self.owned();
        let at = owned.entries.iter().position(|e| e.live && e.id == id)?;
        let arg = owned.entries[at].arg;
        shared.ids.give_back(id);
        if owned.depth == 0 {
            owned.entries.remove(at);
        } else {
            owned.entries[at].live = false;
            owned.dead += 1;
        }
        Some(arg)
    }

    /// Writes the slot for the registered callbacks. The mutex excludes a foreign `request`.
    fn refresh(&self, shared: &Shared) {
        let this = (self as *const CallbackQueue).cast_mut().cast();
        let may_be_direct = self.trampoline.load(Ordering::Relaxed) != 0;
        let mut live = self.owned().entries.iter().filter(|e| e.live);
        let (first, second) = (live.next().copied(), live.next());
        let (cb, arg) = match (first, second) {
            _ if !shared.requests.is_empty() || !may_be_direct => (self.takeover(), this),
            (None, _) => {
                self.slot.set_cb(0);
                return;
            }
            (Some(only), None) if only.repeat == Repeat::Always => (only.cb, only.arg),
            _ => (self.takeover(), this),
        };
        self.slot.set(cb as *const () as usize, arg);
    }

    fn takeover(&self) -> Callback {
        match self.trampoline.load(Ordering::Relaxed) {
            0 => dispatch_by_argument,
            n => TRAMPOLINE_CODE[n - 1],
        }
    }

    /// Claims one of the process's trampolines, if there is one left; tried once.
    fn claim_trampoline(&self) {
        let _one_at_a_time = self.shared.lock();
        if self.slot.cb() != 0 || self.trampoline.load(Ordering::Relaxed) != 0 {
            return;
        }
        let this = (self as *const CallbackQueue).cast_mut();
        for (i, owner) in TRAMPOLINE_OWNERS.iter().enumerate() {
            // Release: pairs with the Acquire load in dispatch_by_index.
            if owner
                .compare_exchange(
                    core::ptr::null_mut(),
                    this,
                    Ordering::Release,
                    Ordering::Relaxed,
                )
                .is_ok()
            {
                self.trampoline.store(i + 1, Ordering::Relaxed);
                return;
            }
        }
        // From here on the slot holds the dispatcher and our address, and never changes.
        self.slot
            .set(dispatch_by_argument as *const () as usize, this.cast());
    }

    fn live(&self) -> usize {
        let owned = self.owned();
        owned.entries.len() - owned.dead
    }

    fn entry(&self, i: usize) -> Option<QueuedCallback> {
        self.owned().entries.get(i).copied()
    }

    /// The owner's part. Callers use the reference up before anything else runs.
    #[expect(clippy::mut_from_ref)]
    fn owned(&self) -> &mut Owned {
        // SAFETY: reached only from functions that demand the owner's thread, and no reference is
        // kept across a callback or another call of this function.
        unsafe { &mut *self.owned.get() }
    }
}

impl Drop for CallbackQueue {
    fn drop(&mut self) {
        debug_assert!(self.zeros.iter().all(|&z| z == 0));
        let n = *self.trampoline.get_mut();
        if n != 0 {
            TRAMPOLINE_OWNERS[n - 1].store(core::ptr::null_mut(), Ordering::Release);
        }
    }
}

unsafe extern "C" fn dispatch_by_argument(arg: *mut c_void) -> c_uint {
    // SAFETY: only `refresh` and `claim_trampoline` install this function, with the queue's own
    // address, which `add` demands to be stable.
    unsafe { &*arg.cast::<CallbackQueue>() }.run()
}

/// The queue of trampoline N; null while it is free.
static TRAMPOLINE_OWNERS: [AtomicPtr<CallbackQueue>; TRAMPOLINES] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; TRAMPOLINES];

/// Trampoline N: a dispatcher that finds its queue without looking at its argument.
struct Trampoline<const N: usize>;

impl<const N: usize> Trampoline<N> {
    unsafe extern "C" fn call(_arg: *mut c_void) -> c_uint {
        // Acquire: pairs with the Release in claim_trampoline.
        let queue = TRAMPOLINE_OWNERS[N].load(Ordering::Acquire);
        if queue.is_null() {
            return 0;
        }
        // SAFETY: a queue gives its trampoline back when it is dropped, and only its own slot holds
        // the trampoline's code.
        unsafe { &*queue }.run()
    }
}

macro_rules! trampolines {
    ($($n:literal)*) => { [$(Trampoline::<$n>::call),*] };
}

static TRAMPOLINE_CODE: [Callback; TRAMPOLINES] = trampolines![
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
];

/// Hands out callback ids: a slot and how often it was used.
#[derive(Default)]
struct Ids {
    /// By slot; odd while the slot is taken.
    generations: Vec<u16>,
    free: Vec<u16>,
}

impl Ids {
    fn take(&mut self) -> Result<CallbackId> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.generations.len() < MAX_CALLBACKS => {
                self.generations.push(0);
                (self.generations.len() - 1) as u16
            }
            None => return Err(Status::EXCEEDS_LIMIT),
        };
        let generation = &mut self.generations[slot as usize];
        *generation = (*generation + 1) & 0x7fff;
        Ok((*generation as i32) << 16 | slot as i32)
    }

    fn is_live(&self, id: CallbackId) -> bool {
        let generation = (id >> 16) as u16;
        generation & 1 == 1 && self.generations.get(id as u16 as usize) == Some(&generation)
    }

    fn give_back(&mut self, id: CallbackId) {
        if self.is_live(id) {
            let generation = &mut self.generations[id as u16 as usize];
            *generation = (*generation + 1) & 0x7fff;
            self.free.push(id as u16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;
    use std::cell::RefCell;

    /// Held by the test that uses all trampolines up and by those that need one.
    static TRAMPOLINE_TESTS: Mutex<()> = Mutex::new(());

    /// What callbacks of a test write, and what they do to the queue.
    struct Bench {
        queue: Box<CallbackQueue>,
        calls: RefCell<Vec<u32>>,
        ids: RefCell<Vec<CallbackId>>,
    }

    struct Arg<'a> {
        bench: &'a Bench,
        name: u32,
        /// On a call, remove the callback with this index in `ids`.
        removes: Option<usize>,
        /// On a call, add this one.
        adds: Option<*mut c_void>,
    }

    unsafe extern "C" fn record(arg: *mut c_void) -> c_uint {
        // SAFETY: tests register `Arg`s that outlive the queue.
        let arg = unsafe { &*arg.cast::<Arg>() };
        arg.bench.calls.borrow_mut().push(arg.name);
        let id = arg.removes.map(|i| arg.bench.ids.borrow()[i]);
        if let Some(id) = id {
            // SAFETY: one thread.
            let _ = unsafe { arg.bench.queue.remove(id) };
        }
        if let Some(other) = arg.adds {
            arg.bench.add(other, Repeat::Once);
        }
        1
    }

    impl Bench {
        fn new() -> Bench {
            Bench {
                queue: Box::default(),
                calls: RefCell::default(),
                ids: RefCell::default(),
            }
        }

        fn arg(&self, name: u32) -> Box<Arg<'_>> {
            Box::new(Arg {
                bench: self,
                name,
                removes: None,
                adds: None,
            })
        }

        fn add(&self, arg: *mut c_void, repeat: Repeat) -> CallbackId {
            // SAFETY: one thread, boxed queue, boxed arguments that live to the test's end.
            let id = unsafe { self.queue.add(record, arg, repeat) }.unwrap();
            self.ids.borrow_mut().push(id);
            id
        }

        fn progress(&self) -> Vec<u32> {
            // SAFETY: one thread.
            let n = unsafe { self.queue.dispatch() };
            let calls = self.calls.take();
            assert_eq!(n as usize, calls.len());
            calls
        }
    }

    fn ptr(arg: &Arg) -> *mut c_void {
        (arg as *const Arg).cast_mut().cast()
    }

    /// The inline loop of a client whose elements are `stride` words apart.
    fn client_loop(queue: &CallbackQueue, stride: usize) -> u32 {
        let words = (queue as *const CallbackQueue).cast::<usize>();
        let (mut at, mut count) = (0, 0);
        loop {
            assert!(at + 1 < HEAD_WORDS);
            // SAFETY: inside the 264 bytes of the head, as asserted.
            let (cb, arg) = unsafe { (*words.add(at), *words.add(at + 1)) };
            if cb == 0 {
                return count;
            }
            // SAFETY: a non-null first word is a callback with its argument.
            count += unsafe { core::mem::transmute::<usize, Callback>(cb)(arg as *mut c_void) };
            at += stride;
        }
    }

    #[test]
    fn loops_of_all_releases_call_once() {
        let b = Bench::new();
        let (x, y) = (b.arg(1), b.arg(2));
        for stride in [2, 3] {
            assert_eq!(client_loop(&b.queue, stride), 0);
        }
        let id = b.add(ptr(&x), Repeat::Always);
        for stride in [2, 3] {
            assert_eq!(client_loop(&b.queue, stride), 1);
            assert_eq!(b.calls.take(), [1]);
        }
        b.add(ptr(&y), Repeat::Always);
        for stride in [2, 3] {
            assert_eq!(client_loop(&b.queue, stride), 2);
            assert_eq!(b.calls.take(), [1, 2]);
        }
        // SAFETY: one thread.
        assert_eq!(unsafe { b.queue.remove(id) }, Ok(ptr(&x)));
        assert_eq!(client_loop(&b.queue, 3), 1);
        assert_eq!(b.calls.take(), [2]);
        // SAFETY: one thread.
        assert_eq!(unsafe { b.queue.remove(id) }, Err(Status::NO_ELEM));
    }

    #[test]
    fn one_callback_is_called_without_a_dispatcher() {
        let _alone = TRAMPOLINE_TESTS.lock();
        let b = Bench::new();
        let x = b.arg(1);
        b.add(ptr(&x), Repeat::Always);
        assert_eq!(b.queue.slot.arg(), ptr(&x));
        assert_eq!(b.queue.slot.cb(), record as *const () as usize);
    }

    #[test]
    fn callbacks_remove_themselves_and_others() {
        let b = Bench::new();
        let (mut x, mut y, z) = (b.arg(1), b.arg(2), b.arg(3));
        x.removes = Some(0);
        y.removes = Some(2);
        for a in [&x, &y, &z] {
            b.add(ptr(a), Repeat::Always);
        }
        assert_eq!(b.progress(), [1, 2]);
        assert_eq!(b.progress(), [2]);
    }

    #[test]
    fn once_runs_once_and_may_add_itself_again() {
        let b = Bench::new();
        let mut x = b.arg(1);
        x.adds = Some(ptr(&x));
        b.add(ptr(&x), Repeat::Once);
        for _ in 0..3 {
            assert_eq!(b.progress(), [1]);
        }
        x.adds = None;
        assert_eq!(b.progress(), [1]);
        assert_eq!(b.progress(), []);
        assert_eq!(client_loop(&b.queue, 2), 0);
    }

    #[test]
    fn safe_requests_of_a_foreign_thread_reach_the_owner() {
        let _alone = TRAMPOLINE_TESTS.lock();
        let b = Bench::new();
        let (x, y) = (b.arg(1), b.arg(2));
        b.add(ptr(&x), Repeat::Always);
        let y_word = ptr(&y) as usize;
        let queue = &*b.queue;
        // SAFETY: the argument outlives the queue.
        let add = || unsafe { queue.add_safe(record, y_word as *mut c_void, Repeat::Always) };
        let id = std::thread::scope(|s| s.spawn(add).join().unwrap().unwrap());
        // The argument word stays: the owner may already have read the callback.
        assert_eq!(b.queue.slot.arg(), ptr(&x));
        assert_eq!(b.progress(), [1, 2]);
        std::thread::scope(|s| s.spawn(|| queue.remove_safe(id)).join().unwrap().unwrap());
        assert_eq!(b.progress(), [1]);
        assert_eq!(b.queue.remove_safe(id), Err(Status::NO_ELEM));
        assert_eq!(b.queue.slot.arg(), ptr(&x));
    }

    #[test]
    fn a_queue_without_a_trampoline_works() {
        let _alone = TRAMPOLINE_TESTS.lock();
        let all: Vec<Bench> = (0..TRAMPOLINES + 2).map(|_| Bench::new()).collect();
        for b in &all {
            let x = b.arg(1);
            let id = b.add(ptr(&x), Repeat::Always);
            assert_eq!(b.progress(), [1]);
            let y = b.arg(2);
            // SAFETY: arguments outlive their registration.
            let y_id = unsafe { b.queue.add_safe(record, ptr(&y), Repeat::Always) }.unwrap();
            assert_eq!(b.progress(), [1, 2]);
            // SAFETY: one thread.
            unsafe { b.queue.remove(id) }.unwrap();
            // SAFETY: one thread.
            unsafe { b.queue.remove(y_id) }.unwrap();
            assert_eq!(b.progress(), []);
        }
    }

    #[test]
    fn random_work_agrees_with_a_plain_list() {
        let b = Bench::new();
        let args: Vec<_> = (0..16).map(|i| b.arg(i)).collect();
        let mut model: Vec<(CallbackId, u32, Repeat)> = Vec::new();
        let rng = TestRng::new(7);
        for _ in 0..4000 {
            let r = (rng.next() >> 33) as usize;
            match r % 4 {
                0 if model.len() < 12 => {
                    let repeat = if r & 64 == 0 {
                        Repeat::Once
                    } else {
                        Repeat::Always
                    };
                    let name = (r >> 8) % args.len();
                    let id = b.add(ptr(&args[name]), repeat);
                    model.push((id, name as u32, repeat));
                }
                1 if !model.is_empty() => {
                    let (id, ..) = model.remove((r >> 8) % model.len());
                    // SAFETY: one thread.
                    unsafe { b.queue.remove(id) }.unwrap();
                }
                _ => {
                    let expect: Vec<u32> = model.iter().map(|m| m.1).collect();
                    assert_eq!(b.progress(), expect);
                    model.retain(|m| m.2 == Repeat::Always);
                }
            }
        }
    }

    unsafe extern "C" fn count_up(arg: *mut c_void) -> c_uint {
        // SAFETY: the test registers a counter that outlives the queue.
        unsafe { &*arg.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
        1
    }

    /// Foreign threads add and remove all the time while the owner changes between the direct slot,
    /// the dispatcher and nothing: every one-shot callback runs once, with its own argument.
    #[test]
    fn foreign_threads_never_tear_the_slot() {
        let _alone = TRAMPOLINE_TESTS.lock();
        const THREADS: usize = 3;
        const ROUNDS: usize = 3000;
        let queue = Box::new(CallbackQueue::new());
        let own = AtomicUsize::new(0);
        let counters: Vec<AtomicUsize> = (0..THREADS).map(|_| AtomicUsize::new(0)).collect();
        let running = AtomicUsize::new(THREADS);
        let word = |c: &AtomicUsize| (&raw const *c).cast_mut().cast::<c_void>();
        std::thread::scope(|s| {
            for counter in &counters {
                let (queue, running) = (&*queue, &running);
                s.spawn(move || {
                    let arg = (&raw const *counter).cast_mut().cast::<c_void>();
                    for _ in 0..ROUNDS {
                        // SAFETY: the counter outlives the queue.
                        unsafe { queue.add_safe(count_up, arg, Repeat::Once) }.unwrap();
                        // SAFETY: as above.
                        let id = unsafe { queue.add_safe(count_up, arg, Repeat::Always) };
                        queue.remove_safe(id.unwrap()).unwrap();
                    }
                    running.fetch_sub(1, Ordering::Release); // pairs with the Acquire below
                });
            }
            let mut calls = 0;
            while running.load(Ordering::Acquire) > 0 {
                // SAFETY: this thread owns the queue, and the counter outlives it.
                let id = unsafe { queue.add(count_up, word(&own), Repeat::Always) }.unwrap();
                // SAFETY: as above.
                calls += unsafe { queue.dispatch() } as usize;
                // SAFETY: as above.
                assert_eq!(unsafe { queue.remove(id) }, Ok(word(&own)));
                // SAFETY: as above.
                calls += unsafe { queue.dispatch() } as usize;
            }
            // SAFETY: as above.
            calls += unsafe { queue.dispatch() } as usize;
            let theirs: usize = counters.iter().map(|c| c.load(Ordering::Relaxed)).sum();
            assert_eq!(calls, theirs + own.load(Ordering::Relaxed));
        });
        for counter in &counters {
            assert!(counter.load(Ordering::Relaxed) >= ROUNDS);
        }
        // SAFETY: as above.
        assert!(unsafe { queue.is_empty() });
        assert_eq!(queue.slot.cb(), 0);
    }
}
