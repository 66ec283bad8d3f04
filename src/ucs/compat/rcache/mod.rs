//! Registration caches of clients, `ucs/memory/rcache.h`.
//!
//! A cache keeps ranges of memory that the client's function has registered. Ranges in the table never overlap: one that
//! would takes the others in. A region that is in the table counts itself as a user. One that leaves the table ends when
//! its last user gives it back.
//!
//! **Unmappings.** A cache may keep an idle region, one without users, only while it is told of unmappings: memory that
//! was unmapped and mapped again would else be found under its old registration. The events that a client asks for come
//! when the program delivers them (`ucm::hooks`); where it does not, an idle region ends at once, and only regions in use
//! are shared. UCP's caches hear of unmappings in another way, too (`ucs::unmapped`).
//!
//! **Events** may come from inside the C library's allocator, so their handler takes no lock that others hold while they
//! allocate, and allocates nothing: it notes the range (`pending`), and the next call of the cache settles it.
//!
//! **Locks.** One lock for each cache, which is held while the client registers memory: nobody else registers the same
//! range meanwhile. It may be taken again by the thread that has it. No borrow of the table is held across a callback.

mod pending;
mod region;

use crate::c::{UCS_OK, ucm_event_t, ucs_rcache};
use crate::sys::fork::{self, ForkLocked};
use crate::sys::lock::{Mutex, ReentrantMutex, ReentrantMutexGuard};
use crate::sys::process;
use crate::ucm::{events, hooks};
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::unmapped::Listener;
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_diag, ucs_error, ucs_warn};
use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Range;
use pending::Pending;
pub use region::{Operations, Params, Region, defaults};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};
use std::thread::{JoinHandle, Thread};

/// The smallest alignment of a range.
const MIN_ALIGNMENT: usize = 16;
/// The registration is one of more than was asked for, and may fail quietly.
const HIDE_ERRORS: u16 = 1 << 0;
/// Longest description of a region.
const TEXT_MAX: usize = 256;

/// Told that an invalidated region has ended.
pub type Completion = (unsafe extern "C" fn(*mut c_void), *mut c_void);

/// What the lock guards.
#[derive(Default)]
struct State {
    /// Regions by their first byte.
    table: BTreeMap<usize, Region>,
    /// Bytes of them all.
    bytes: usize,
    /// Those without users, the longest idle first, by a number that each gets when it becomes idle.
    idle: BTreeMap<u64, Region>,
    last_idle: u64,
    /// Who wants to know of the end of a region, by its address.
    completions: HashMap<usize, Vec<Completion>>,
    /// Regions that exist, in the table or not.
    live: usize,
}

/// A cache. It stays at its place: memory events know its address.
pub struct Cache {
    name: String,
    params: Params,
    state: ReentrantMutex<RefCell<State>>,
    pending: Pending,
    /// Settles what is pending when it is too much.
    helper: Option<Helper>,
}

// SAFETY: regions belong to the cache; its lock guards them, and the client promises that its functions and its
// context may be used by any thread.
unsafe impl Send for Cache {}
// SAFETY: as above.
unsafe impl Sync for Cache {}

/// Caches that end their regions before a fork.
static PURGED_ON_FORK: ForkLocked<Vec<Weak<Cache>>> = ForkLocked::new(Vec::new());

impl Cache {
    /// Makes a cache.
    ///
    /// # Safety
    /// The client's functions keep what the header says, until `destroy`.
    pub unsafe fn create(params: Params, name: &str) -> Result<Arc<Cache>> {
        if params.region_size < params.least_size() {
            ucs_error!(
                "registration cache {name}: a region has at least {} bytes, not {}",
                params.least_size(),
                params.region_size
            );
            return Err(Status::INVALID_PARAM);
        }
        let cache = Arc::new_cyclic(|weak: &Weak<Cache>| Cache {
            name: name.to_owned(),
            params,
            state: ReentrantMutex::default(),
            pending: Pending::default(),
            helper: Helper::start(params.max_unreleased, weak.clone()),
        });
        if params.events != 0 {
            let address = Arc::as_ptr(&cache).cast_mut().cast();
            // SAFETY: `destroy` takes the handler back before the cache ends.
            let added =
                unsafe { events::add(params.events, params.event_priority, unmapped, address) };
            if added.is_err() {
                ucs_error!(
                    "registration cache {name}: it cannot be made inside a handler of memory events"
                );
                return Err(Status::BUSY);
            }
            if !cache.keeps_idle() {
                ucs_diag!(
                    "registration cache {name}: memory that is unmapped is not seen, so a registration ends when \
                     its last user gives it back (ucm_set_external_event tells of a program that delivers events)"
                );
            }
        }
        if params.purge_on_fork {
            fork::call_before(purge_all);
            PURGED_ON_FORK.with(|all| all.push(Arc::downgrade(&cache)));
        }
        Ok(cache)
    }

    /// Whether regions without users may stay.
    fn keeps_idle(&self) -> bool {
        hooks::undelivered(self.params.events) == 0
    }

    /// The region that has a range with these rights, for one more user: one of the table, or a new one.
    ///
    /// # Safety
    /// `arg` is what the client's functions expect.
    pub unsafe fn get(
        &self,
        address: usize,
        len: usize,
        alignment: usize,
        prot: c_int,
        arg: *mut c_void,
    ) -> Result<Region> {
        let alignment = alignment.max(MIN_ALIGNMENT);
        let end = address
            .checked_add(len)
            .and_then(|end| end.checked_next_multiple_of(alignment));
        let start = address - address % alignment;
        let Some(end) = end.filter(|end| len > 0 && alignment.is_power_of_two() && *end > start)
        else {
            ucs_diag!(
                "registration cache {}: {len} bytes at {address:#x}, aligned to {alignment}, are no range",
                self.name
            );
            return Err(Status::INVALID_PARAM);
        };
        let lock = self.state.lock();
        self.settle(&lock);
        if let Some(found) = lock.borrow_mut().find(start, end, prot) {
            return Ok(found);
        }
        // SAFETY: the caller's argument.
        let (whole, rights, merged) =
            unsafe { self.take_in(&lock, (start, end), prot, alignment, arg) };
        let flags = if merged { HIDE_ERRORS } else { 0 };
        // SAFETY: as above.
        let mut made = unsafe { self.register(&lock, whole, rights, alignment, arg, flags) };
        if made.is_err() && merged {
            // More than was asked for: perhaps that part is not registrable any more.
            // SAFETY: as above.
            made = unsafe { self.register(&lock, (start, end), prot, alignment, arg, 0) };
        }
        let made = made?;
        self.evict(&lock);
        Ok(made)
    }

    /// What `look` sees of the region that has a range, if there is one. It has a user meanwhile.
    pub fn look<R>(&self, range: Range<usize>, look: impl FnOnce(Region) -> R) -> Option<R> {
        let found = {
            let lock = self.state.lock();
            self.settle(&lock);
            lock.borrow_mut().find(range.start, range.end, 0)
        }?;
        let seen = look(found);
        self.put(found);
        Some(seen)
    }

    /// Takes all regions out that overlap a range, and answers the range and the rights that have them all, and
    /// whether there were any.
    ///
    /// # Safety
    /// As for `get`.
    unsafe fn take_in(
        &self,
        lock: &Lock<'_>,
        (mut start, mut end): (usize, usize),
        mut prot: c_int,
        alignment: usize,
        arg: *mut c_void,
    ) -> ((usize, usize), c_int, bool) {
        let mut merged = false;
        loop {
            let Some(other) = lock.borrow().overlapping(start, end) else {
                return ((start, end), prot, merged);
            };
            merged = true;
            prot |= other.prot();
            start = start.min(other.start() - other.start() % alignment);
            end = end.max(
                other
                    .end()
                    .checked_next_multiple_of(alignment)
                    .unwrap_or(end),
            );
            if let Some(merge) = self.params.ops.merge {
                // SAFETY: the client's function.
                unsafe { merge(self.params.context, self.handle(), arg, other.raw()) };
            }
            self.invalidate(lock, other);
        }
    }

    /// Makes a region with one user and enters it.
    ///
    /// # Safety
    /// As for `get`.
    unsafe fn register(
        &self,
        lock: &Lock<'_>,
        (start, end): (usize, usize),
        prot: c_int,
        alignment: usize,
        arg: *mut c_void,
        flags: u16,
    ) -> Result<Region> {
        let region =
            Region::new(&self.params, (start, end), prot, alignment).ok_or(Status::NO_MEMORY)?;
        lock.borrow_mut().live += 1;
        let code = match self.params.ops.mem_reg {
            // SAFETY: the client's function, and a region of the size that it asked for.
            Some(mem_reg) => unsafe {
                mem_reg(self.params.context, self.handle(), arg, region.raw(), flags)
            },
            None => UCS_OK,
        };
        region.set_status(code);
        if let Some(status) = Status::from_code(code) {
            ucs_debug!(
                "registration cache {}: [{start:#x}..{end:#x}]: {status}",
                self.name
            );
            lock.borrow_mut().live -= 1;
            // SAFETY: nobody else has it.
            unsafe { region.free() };
            return Err(status);
        }
        region.registered();
        lock.borrow_mut().enter(region);
        Ok(region)
    }

    /// Ends idle regions, the longest idle first, until no limit is exceeded.
    fn evict(&self, lock: &Lock<'_>) {
        loop {
            let first = {
                let state = lock.borrow();
                let over = state.table.len() > self.params.max_regions
                    || state.bytes > self.params.max_size;
                if !over {
                    return;
                }
                state.idle.values().next().copied()
            };
            let Some(region) = first else { return };
            self.invalidate(lock, region);
        }
    }

    /// Takes a region out of the table; it ends if it has no users.
    fn invalidate(&self, lock: &Lock<'_>, region: Region) {
        let left = lock.borrow_mut().leave(region);
        if left && region.release() == 0 {
            self.end(lock, region);
        }
    }

    /// Ends a region that nobody has any more.
    fn end(&self, lock: &Lock<'_>, region: Region) {
        if let Some(mem_dereg) = self.params.ops.mem_dereg {
            // SAFETY: the client's function; the region was registered once.
            unsafe { mem_dereg(self.params.context, self.handle(), region.raw()) };
        }
        let completions = {
            let mut state = lock.borrow_mut();
            state.live -= 1;
            state
                .completions
                .remove(&region.raw().addr())
                .unwrap_or_default()
        };
        // SAFETY: nobody else has it.
        unsafe { region.free() };
        for (completion, arg) in completions {
            // SAFETY: the client's function and argument.
            unsafe { completion(arg) };
        }
    }

    /// Gives a region back.
    pub fn put(&self, region: Region) {
        let lock = self.state.lock();
        self.settle(&lock);
        match region.release() {
            0 => self.end(&lock, region),
            1 if region.is_in_table() && self.keeps_idle() => {
                lock.borrow_mut().becomes_idle(region)
            }
            1 if region.is_in_table() => self.invalidate(&lock, region),
            _ => {}
        }
    }

    /// Takes a region out of the table, which the caller uses and still has to give back; `completion` is called when it
    /// has ended.
    pub fn invalidate_used(&self, region: Region, completion: Option<Completion>) {
        let lock = self.state.lock();
        self.settle(&lock);
        if let Some(completion) = completion {
            let mut state = lock.borrow_mut();
            state
                .completions
                .entry(region.raw().addr())
                .or_default()
                .push(completion);
        }
        self.invalidate(&lock, region);
    }

    /// Takes out what memory events have made stale.
    fn settle(&self, lock: &Lock<'_>) {
        while let Some((start, end)) = self.pending.take() {
            loop {
                let Some(region) = lock.borrow().overlapping(start, end) else {
                    break;
                };
                self.invalidate(lock, region);
            }
        }
    }

    /// Ends all idle regions, and takes all others out of the table.
    pub fn purge(&self) {
        let lock = self.state.lock();
        loop {
            let Some(region) = lock.borrow().table.values().next().copied() else {
                return;
            };
            self.invalidate(&lock, region);
        }
    }

    /// Ends the cache.
    pub fn destroy(cache: Arc<Cache>) {
        let address: *mut c_void = Arc::as_ptr(&cache).cast_mut().cast();
        if cache.params.events != 0 {
            events::remove(cache.params.events, unmapped, address);
        }
        PURGED_ON_FORK
            .with(|all| all.retain(|known| !core::ptr::eq(known.as_ptr(), &raw const *cache)));
        if let Some(helper) = &cache.helper {
            helper.stop();
        }
        cache.purge();
        let left = cache.state.lock().borrow().live;
        if left > 0 {
            ucs_warn!(
                "registration cache {}: {left} regions are still in use",
                cache.name
            );
        }
    }

    /// The cache as C names it.
    fn handle(&self) -> *mut ucs_rcache {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// The client's description of a region.
    pub fn describe(&self, region: Region) -> String {
        let mut text = [0 as c_char; TEXT_MAX];
        if let Some(dump) = self.params.ops.dump_region {
            // SAFETY: the client's function, and room of ours.
            unsafe {
                dump(
                    self.params.context,
                    self.handle(),
                    region.raw(),
                    text.as_mut_ptr(),
                    TEXT_MAX,
                )
            };
        }
        text[TEXT_MAX - 1] = 0;
        // SAFETY: it ends with a NUL.
        unsafe { CStr::from_ptr(text.as_ptr()) }
            .to_string_lossy()
            .into_owned()
    }

    /// The alignment of all ranges, in a cache of a client that was compiled before 1.17.
    pub fn common_alignment(&self) -> Option<usize> {
        self.params.old.then_some(self.params.alignment)
    }

    /// Whether a client that was compiled before 1.17 made it.
    pub fn is_old(&self) -> bool {
        self.params.old
    }
}

type Lock<'c> = ReentrantMutexGuard<'c, RefCell<State>>;

impl State {
    /// A region that overlaps a range: the lowest one.
    fn overlapping(&self, start: usize, end: usize) -> Option<Region> {
        let below = self.table.range(..start).next_back();
        let reaching = below.filter(|(_, region)| region.end() > start);
        let (_, region) = reaching.or_else(|| self.table.range(start..end).next())?;
        Some(*region)
    }

    /// One user more of the region that has a range and rights.
    fn find(&mut self, start: usize, end: usize, prot: c_int) -> Option<Region> {
        let (_, region) = self.table.range(..=start).next_back()?;
        let region = *region;
        if region.end() < end || region.prot() & prot != prot {
            return None;
        }
        self.leaves_idle(region);
        region.acquire();
        Some(region)
    }

    fn enter(&mut self, region: Region) {
        self.table.insert(region.start(), region);
        self.bytes += region.end() - region.start();
    }

    /// Whether the region was in the table.
    fn leave(&mut self, region: Region) -> bool {
        if self.table.get(&region.start()) != Some(&region) {
            return false;
        }
        self.table.remove(&region.start());
        self.bytes -= region.end() - region.start();
        self.leaves_idle(region);
        region.left_table();
        true
    }

    fn becomes_idle(&mut self, region: Region) {
        self.last_idle += 1;
        region.set_idle(Some(self.last_idle));
        self.idle.insert(self.last_idle, region);
    }

    fn leaves_idle(&mut self, region: Region) {
        if let Some(number) = region.idle() {
            self.idle.remove(&number);
            region.set_idle(None);
        }
    }
}

/// The handler of memory events.
unsafe extern "C" fn unmapped(_kind: u32, event: *mut ucm_event_t, arg: *mut c_void) {
    // SAFETY: `create` registers the address of a cache, and `destroy` takes it back before it ends.
    let cache = unsafe { &*arg.cast::<Cache>() };
    // SAFETY: `vm_unmapped` and `mem_type`, whose events caches ask for, begin with the same range.
    let range = unsafe { (*event).vm_unmapped };
    let start = range.address.addr();
    let range = start..start.saturating_add(range.size);
    if cache.params.synchronous {
        cache.pending.note(range.start, range.end);
        let lock = cache.state.lock();
        cache.settle(&lock);
    } else {
        cache.unmapped(range);
    }
}

impl Listener for Cache {
    fn unmapped(&self, range: Range<usize>) {
        self.pending.note(range.start, range.end);
        if let Some(helper) = &self.helper {
            helper.wake_above(self.pending.bytes());
        }
    }
}

/// A thread that settles a cache when more bytes than allowed wait for it.
struct Helper {
    limit: usize,
    stop: Arc<AtomicBool>,
    thread: Thread,
    joins: Mutex<Option<JoinHandle<()>>>,
}

impl Helper {
    /// None where any number may wait.
    fn start(limit: usize, cache: Weak<Cache>) -> Option<Helper> {
        if limit == usize::MAX {
            return None;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let spawned = process::spawn_without_signals("rcache", move || {
            while !stopped.load(Ordering::Acquire) {
                if let Some(cache) = cache.upgrade() {
                    let lock = cache.state.lock();
                    cache.settle(&lock);
                }
                std::thread::park();
            }
        });
        match spawned {
            Ok(joins) => Some(Helper {
                limit,
                stop,
                thread: joins.thread().clone(),
                joins: Mutex::new(Some(joins)),
            }),
            Err(e) => {
                ucs_diag!("stale registrations end at the next use of a cache: {e}");
                None
            }
        }
    }

    /// Allocates nothing.
    fn wake_above(&self, bytes: usize) {
        if bytes > self.limit {
            self.thread.unpark();
        }
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.thread.unpark();
        if let Some(joins) = self.joins.lock().take()
            && joins.join().is_err()
        {
            ucs_diag!("a thread of a registration cache ended early");
        }
    }
}

/// Ends the regions of caches that ask for it, before a fork.
fn purge_all() {
    let all = PURGED_ON_FORK.with(|all| all.clone());
    all.iter()
        .filter_map(Weak::upgrade)
        .for_each(|cache| cache.purge());
}

#[cfg(test)]
mod tests;
