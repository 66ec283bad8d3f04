//! `RequestPool`: the requests of a worker.
//!
//! Requests are allocated in blocks, each as large as all before it, and kept in a list of free ones, so that a warm worker
//! allocates nothing. Large blocks are new pages of the kernel, which are zeros without being written, and take no memory
//! before their requests are used. The user's part of a request is initialised once, when it is first free, and cleaned up
//! when the pool ends. A request that
//! a peer answers has an id, which is stale once the request has completed.

use super::{Req, Request};
use crate::sys::clock;
use crate::ucp::worker_core::{Core, FloorState};
use crate::ucs::slots::Slots;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::wire::id::RequestId;
use core::alloc::Layout;
use core::cell::{Cell, RefCell};
use core::ops::Range;
use core::ptr::NonNull;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Requests become free so many at a time.
const BATCH: usize = 32;
/// A block of more than one batch has at most so many bytes.
const MAX_BLOCK: usize = 4 << 20;
/// The limit of the application's `request_size`.
const MAX_USER_SIZE: usize = 1 << 20;

pub struct RequestPool {
    /// The head of the list of free requests.
    free: Cell<Option<Req>>,
    blocks: RefCell<Vec<Block>>,
    /// Of one batch.
    batch: Layout,
    /// Requests that the application passes to calls as its own.
    lent: RefCell<BTreeSet<Req>>,
    /// Requests that peers answer.
    named: RefCell<Slots<Req>>,
    /// When the operations began for which requests were taken last, where that is noted.
    times: RefCell<HashMap<Req, u64>>,
    /// Likewise of requests in the application's memory, which are here while they are in progress.
    foreign_times: RefCell<HashMap<Req, u64>>,
}

/// Memory for requests.
struct Block {
    at: NonNull<u8>,
    layout: Layout,
    /// How many requests there are in it.
    used: usize,
}

impl RequestPool {
    /// Of requests with `user_size` bytes for the application.
    pub fn new(user_size: usize) -> Result<RequestPool> {
        if user_size > MAX_USER_SIZE {
            ucs_error!("request_size {user_size} is over the limit of {MAX_USER_SIZE} bytes");
            return Err(Status::INVALID_PARAM);
        }
        let each = (Request::SIZE + user_size).next_multiple_of(align_of::<Request>());
        let batch = Layout::from_size_align(each * BATCH, align_of::<Request>())
            .map_err(|_| Status::INVALID_PARAM)?;
        Ok(RequestPool {
            free: Cell::new(None),
            blocks: RefCell::new(Vec::new()),
            batch,
            lent: RefCell::new(BTreeSet::new()),
            named: RefCell::new(Slots::new()),
            times: RefCell::new(HashMap::new()),
            foreign_times: RefCell::new(HashMap::new()),
        })
    }

    /// Takes a free request.
    #[inline(always)]
    pub fn take(&self) -> Option<Req> {
        let req = self.free.get()?;
        self.free.set(req.next.get());
        Some(req)
    }

    /// As `take`, from a new batch, of which `prepare` gets each request, in zeroed memory.
    #[cold]
    pub fn grow(&self, prepare: impl Fn(NonNull<Request>)) -> Result<Req> {
        let (at, place) = self.new_batch()?;
        for req in self.requests_of(at, place..place + BATCH) {
            prepare(req.as_ptr());
            self.give(req);
        }
        self.take().ok_or(Status::NO_MEMORY)
    }

    /// Memory for a batch: the block, and the place of the first request in it.
    fn new_batch(&self) -> Result<(NonNull<u8>, usize)> {
        let mut blocks = self.blocks.borrow_mut();
        let bytes = self.batch.size();
        let is_room = |block: &&mut Block| block.used * bytes < block.layout.size() * BATCH;
        if let Some(block) = blocks.last_mut().filter(is_room) {
            let place = block.used;
            block.used += BATCH;
            return Ok((block.at, place));
        }
        let all: usize = blocks.iter().map(|block| block.layout.size()).sum();
        let size = all.min(MAX_BLOCK / bytes * bytes).max(bytes);
        let layout = Layout::from_size_align(size, self.batch.align());
        let layout = layout.map_err(|_| Status::NO_MEMORY)?;
        // SAFETY: the layout is not empty.
        let at = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        let at = at.ok_or(Status::NO_MEMORY)?;
        let used = BATCH;
        blocks.push(Block { at, layout, used });
        Ok((at, 0))
    }

    /// Frees a request.
    #[inline(always)]
    pub fn give(&self, req: Req) {
        req.next.set(self.free.get());
        self.free.set(Some(req));
    }

    /// Requests of a block.
    fn requests_of(&self, block: NonNull<u8>, places: Range<usize>) -> impl Iterator<Item = Req> {
        let each = self.batch.size() / BATCH;
        // SAFETY: inside the block, which lives as long as the pool; zeros, or a request that was used.
        places.map(move |i| unsafe { Req::new(block.add(i * each).cast()) })
    }

    /// The requests that are not free, found here, not noted with each request.
    pub fn out(&self) -> Vec<Req> {
        let mut free = HashSet::new();
        let mut at = self.free.get();
        while let Some(req) = at {
            free.insert(req);
            at = req.next.get();
        }
        let blocks = self.blocks.borrow();
        let all = blocks
            .iter()
            .flat_map(|block| self.requests_of(block.at, 0..block.used));
        all.filter(|req| !free.contains(req)).collect()
    }

    /// The operation of a request begins now; one that is `foreign` is in the application's memory.
    #[cold]
    pub fn note_time(&self, req: Req, foreign: bool) {
        let times = if foreign {
            &self.foreign_times
        } else {
            &self.times
        };
        times.borrow_mut().insert(req, clock::monotonic_ns());
    }

    /// The operation of a request in the application's memory ends, and the memory may go.
    #[cold]
    pub fn end_foreign(&self, req: Req) {
        self.foreign_times.borrow_mut().remove(&req);
    }

    /// The requests in progress in the application's memory, where times are noted.
    pub fn foreign(&self) -> Vec<Req> {
        self.foreign_times.borrow().keys().copied().collect()
    }

    /// When the operation of a request began, by `monotonic_ns`, if that was noted.
    pub fn began(&self, req: Req) -> Option<u64> {
        let foreign = self.foreign_times.borrow().get(&req).copied();
        foreign.or_else(|| self.times.borrow().get(&req).copied())
    }

    /// Calls `f` with every request, free or not.
    pub fn each(&self, f: impl Fn(&Request)) {
        for block in self.blocks.borrow().iter() {
            for req in self.requests_of(block.at, 0..block.used) {
                f(&req);
            }
        }
    }

    /// The application passes a request to calls as its own.
    pub fn lend(&self, req: Req) {
        self.lent.borrow_mut().insert(req);
    }

    /// The application frees a request that may be one of `lend`.
    pub fn give_lent(&self, req: Req) {
        let was_lent = self.lent.borrow_mut().remove(&req);
        if was_lent {
            self.give(req);
        }
    }

    /// Gives a request an id for peers.
    pub fn name(&self, req: Req) -> RequestId {
        RequestId(self.named.borrow_mut().insert(req))
    }

    /// The id is stale from now on.
    pub fn forget(&self, id: RequestId) {
        self.named.borrow_mut().remove(id.0);
    }

    /// The request with this id of a peer; `None` for a stale or invalid id. A request loses its id when it completes.
    pub fn named(&self, id: RequestId) -> Option<Req> {
        self.named.borrow().get(id.0).copied()
    }
}

impl Core {
    #[inline(always)]
    pub fn requests(&self) -> &RequestPool {
        RequestPool::of(self)
    }

    /// Allocates a request; the user's part is initialised once.
    #[inline]
    pub fn take_request(&self) -> Result<Req> {
        match self.requests().take() {
            Some(req) => Ok(req),
            None => self.requests().grow(|at| {
                // SAFETY: zeroed by the pool.
                unsafe { Request::prepare(at, self) };
                if let Some(init) = self.context().params.request_init {
                    // SAFETY: the user's function on its part of a fresh request.
                    unsafe { init(Request::user(at)) };
                }
            }),
        }
    }
}

impl Drop for RequestPool {
    fn drop(&mut self) {
        for block in self.blocks.get_mut().drain(..) {
            // SAFETY: allocated in `new_batch` with this layout; the requests end with their pool.
            unsafe { std::alloc::dealloc(block.at.as_ptr(), block.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Fills a pool with one batch, and takes all of it.
    fn taken(pool: &RequestPool) -> Vec<Req> {
        let first = pool.grow(|_| ()).unwrap();
        let mut all = vec![first];
        all.extend(core::iter::from_fn(|| pool.take()));
        all
    }

    #[test]
    fn a_batch_has_distinct_requests_with_room_for_the_application() {
        let user = 40;
        let pool = RequestPool::new(user).unwrap();
        assert!(pool.take().is_none() && pool.out().is_empty());
        let all = taken(&pool);
        assert_eq!((all.len(), pool.out().len()), (BATCH, BATCH));
        let starts: BTreeSet<usize> = all.iter().map(|at| at.as_ptr().addr().get()).collect();
        assert_eq!(starts.len(), BATCH);
        for pair in starts.iter().zip(starts.iter().skip(1)) {
            assert!(pair.1 - pair.0 >= Request::SIZE + user);
        }
        assert!(starts.iter().all(|at| at % align_of::<Request>() == 0));
    }

    #[test]
    fn batches_of_large_blocks_become_requests_one_by_one() {
        let pool = RequestPool::new(0).unwrap();
        let mut all = BTreeSet::new();
        for batches in 1..=9 {
            all.extend(taken(&pool));
            assert_eq!(all.len(), batches * BATCH);
            assert_eq!(pool.out().len(), batches * BATCH);
        }
        // Of one batch, of one, of two, of four, of eight, of which one is used.
        assert_eq!(pool.blocks.borrow().len(), 5);
        let seen = Cell::new(0);
        pool.each(|_| seen.set(seen.get() + 1));
        assert_eq!(seen.get(), 9 * BATCH);
    }

    #[test]
    fn the_request_that_was_freed_last_is_taken_first() {
        let pool = RequestPool::new(0).unwrap();
        let all = taken(&pool);
        pool.give(all[3]);
        pool.give(all[5]);
        assert_eq!(pool.out().len(), BATCH - 2);
        assert_eq!((pool.take(), pool.take()), (Some(all[5]), Some(all[3])));
        assert!(pool.take().is_none());
    }

    #[test]
    fn every_request_is_prepared_once() {
        let pool = RequestPool::new(0).unwrap();
        let prepared = RefCell::new(Vec::new());
        pool.grow(|at| prepared.borrow_mut().push(at)).unwrap();
        let seen = RefCell::new(Vec::new());
        pool.each(|req| seen.borrow_mut().push(req.as_ptr()));
        assert_eq!(prepared, seen);
    }

    #[test]
    fn an_id_is_stale_once_it_is_forgotten() {
        let pool = RequestPool::new(0).unwrap();
        let all = taken(&pool);
        let id = pool.name(all[0]);
        assert_eq!(pool.named(id), Some(all[0]));
        pool.forget(id);
        let next = pool.name(all[1]);
        assert!(pool.named(id).is_none() && next != id);
        assert!(pool.named(RequestId::NONE).is_none());
    }

    #[test]
    fn only_a_lent_request_comes_back_and_once() {
        let pool = RequestPool::new(0).unwrap();
        let all = taken(&pool);
        pool.give_lent(all[0]);
        assert_eq!(pool.out().len(), BATCH);
        pool.lend(all[0]);
        pool.give_lent(all[0]);
        pool.give_lent(all[0]);
        assert_eq!(pool.out().len(), BATCH - 1);
    }

    #[test]
    fn a_part_of_the_application_beyond_the_limit_is_refused() {
        assert!(RequestPool::new(MAX_USER_SIZE).is_ok());
        let status = RequestPool::new(MAX_USER_SIZE + 1).err();
        assert_eq!(status, Some(Status::INVALID_PARAM));
    }
}
