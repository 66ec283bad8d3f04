//! `WorkerHandle`: the object of `uct_worker_h`.
//!
//! It begins with the callback queue, since `uct_worker_progress` is inline in clients and walks
//! the first bytes (see `ucs::callbackq` for the layout that serves every release).

use crate::c::*;
use crate::ucs::async_ctx::{AsyncContext, Mode};
use crate::ucs::callbackq::CallbackQueue;
use core::ops::Deref;

#[repr(C)]
pub struct WorkerHandle {
    queue: CallbackQueue,
    async_context: *mut ucs_async_context_t,
}

impl WorkerHandle {
    /// A worker for C, boxed.
    pub fn create(async_context: *mut ucs_async_context_t) -> uct_worker_h {
        Box::into_raw(Box::new(WorkerHandle {
            queue: CallbackQueue::new(),
            async_context,
        }))
        .cast()
    }

    /// # Safety
    /// `h` must be null or a live worker.
    pub unsafe fn from_c<'a>(h: uct_worker_h) -> Option<&'a WorkerHandle> {
        // SAFETY: `create` gave out this box; only shared references to it are made.
        unsafe { h.cast::<WorkerHandle>().as_ref() }
    }

    /// # Safety
    /// `h` must be a live worker without interfaces; it is gone afterwards.
    pub unsafe fn destroy(h: uct_worker_h) {
        // SAFETY: made by `create`, destroyed once.
        drop(unsafe { Box::from_raw(h.cast::<WorkerHandle>()) });
    }

    #[inline]
    pub fn queue(&self) -> &CallbackQueue {
        &self.queue
    }

    /// The user's async context.
    pub fn async_context(&self) -> Option<AsyncContext> {
        // SAFETY: the user's async context outlives the worker (C contract of uct_worker_create).
        unsafe { AsyncContext::from_c(self.async_context) }
    }

    /// Polls everything once. Returns the number of events.
    #[inline]
    pub fn progress(&self) -> u32 {
        // SAFETY: a worker is used by one thread at a time (C contract of `uct_worker_create`).
        unsafe { self.queue.dispatch() }
    }
}

/// A worker of the library's own that only has an async context, its own too; both end when this is dropped.
pub struct AsyncWorker {
    handle: uct_worker_h,
    context: usize,
    /// `context` where the handle finds it.
    _word: Box<usize>,
}

impl AsyncWorker {
    pub fn new(mode: Mode) -> AsyncWorker {
        let context = AsyncContext::new(mode).into_raw();
        let word = Box::new(context);
        AsyncWorker {
            handle: WorkerHandle::create(core::ptr::from_ref(word.as_ref()).cast_mut().cast()),
            context,
            _word: word,
        }
    }
}

impl Deref for AsyncWorker {
    type Target = WorkerHandle;

    fn deref(&self) -> &WorkerHandle {
        // SAFETY: made by `create`, and lives until this is dropped.
        unsafe { &*self.handle.cast::<WorkerHandle>() }
    }
}

impl Drop for AsyncWorker {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and nobody borrows it any more.
        unsafe { WorkerHandle::destroy(self.handle) };
        // SAFETY: from `into_raw` in `new`, given back once.
        unsafe { AsyncContext::from_raw(self.context) }.end();
    }
}
