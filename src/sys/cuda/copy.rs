//! Copies from and to device memory, on streams of our own.
//!
//! A stream of the program's, or the default stream, would have a copy wait for what the program has queued there. Copies
//! of one stream are made in turn, those of several at the same time: who copies says by which (`Way`).

use super::driver::{Context, Driver, DriverError, Entered, call};
use super::memory::Allocation;
use crate::c::cuda::*;
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Tells the streams of a context apart.
pub type Way = u32;

/// Streams of the contexts that copies were made for.
pub struct Streams {
    driver: Driver,
    known: Mutex<Vec<Arc<Queue>>>,
    /// Primary contexts, retained for memory of pools, which belongs to no context.
    primary: Mutex<Vec<(c_int, Context)>>,
}

/// A stream of a context, and events for the ends of copies on it that are not in use: to make one for each copy takes as
/// long as to start the copy.
struct Queue {
    driver: Driver,
    context: Context,
    way: Way,
    /// The context's number: a stream of a context that is gone is gone too, and its handle may crash the driver.
    id: u64,
    stream: Stream,
    free: Mutex<Vec<Event>>,
    /// It may be of another context.
    is_lost: AtomicBool,
}

/// A stream; the driver allows threads to share it.
#[derive(Clone, Copy)]
struct Stream(CUstream);

// SAFETY: a name for the driver, which all threads may use.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// An event that nobody waits for.
struct Event(CUevent);

// SAFETY: as for a stream.
unsafe impl Send for Event {}

impl Queue {
    /// A stream of the context, which is current.
    fn open(driver: Driver, context: Context, way: Way, id: u64) -> Result<Queue, DriverError> {
        let mut stream = null_mut();
        call!(unsafe driver,
            cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING)
        )?;
        Ok(Queue {
            driver,
            context,
            way,
            id,
            stream: Stream(stream),
            free: Mutex::new(Vec::new()),
            is_lost: AtomicBool::new(false),
        })
    }

    /// An event, while the context is current.
    fn event(&self) -> Result<Event, DriverError> {
        if let Some(event) = self.free.lock().pop() {
            return Ok(event);
        }
        let mut event = null_mut();
        call!(unsafe self.driver,
            cuEventCreate(&mut event, CU_EVENT_DISABLE_TIMING)
        )?;
        Ok(Event(event))
    }

    /// Queues a copy.
    fn post(&self, to: usize, from: usize, length: usize) -> Result<(), DriverError> {
        let (to, from) = (to as CUdeviceptr, from as CUdeviceptr);
        // Ranges by the promise of `copy` and `start`; the driver checks those of its own.
        call!(unsafe self.driver, cuMemcpyAsync(to, from, length, self.stream.0))
    }

    /// Whether the stream is still there. The context is current as long as the answer lives.
    fn entered(&self) -> Option<Entered> {
        let is_lost = self.is_lost.load(Ordering::Relaxed);
        let entered = (!is_lost).then(|| self.driver.enter(self.context).ok())??;
        (self.driver.current_context_id() == self.id).then_some(entered)
    }

    /// Waits for all copies, after an error that does not tell that a copy has ended: its memory may be used again afterwards.
    #[cold]
    fn wait(&self) {
        if let Some(_entered) = self.entered() {
            // Of `open`. With an error of the device's all has ended.
            let _ = call!(unsafe self.driver, cuStreamSynchronize(self.stream.0));
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Of a context that was destroyed, with all that is in it, nothing is left to destroy.
        if let Some(_entered) = self.entered() {
            for event in self.free.get_mut().drain(..) {
                // Of `event`, once.
                let _ = call!(unsafe self.driver, cuEventDestroy_v2(event.0));
            }
            // Of `open`, once.
            let _ = call!(unsafe self.driver, cuStreamDestroy_v2(self.stream.0));
        }
    }
}

impl Streams {
    pub fn new(driver: Driver) -> Streams {
        Streams {
            driver,
            known: Mutex::new(Vec::new()),
            primary: Mutex::new(Vec::new()),
        }
    }

    /// Copies `length` bytes, one end of which is in an allocation. Ends with the call.
    ///
    /// # Safety
    /// Both ranges valid, `to` for writing.
    pub unsafe fn copy(
        &self,
        to: usize,
        from: usize,
        length: usize,
        (of, way): (&Allocation, Way),
    ) -> Result<(), DriverError> {
        self.on_queue(self.context_of(of)?, way, |queue| {
            queue.post(to, from, length)?;
            // A stream of the current context.
            call!(unsafe self.driver, cuStreamSynchronize(queue.stream.0))
        })
    }

    /// As `copy`, but only starts, in a context.
    ///
    /// # Safety
    /// Both ranges valid until the copy is done, `to` for writing.
    pub unsafe fn start(
        &self,
        to: usize,
        from: usize,
        length: usize,
        (context, way): (Context, Way),
    ) -> Result<Copying, DriverError> {
        self.on_queue(context, way, |queue| {
            let copying = Copying {
                event: queue.event().ok(),
                queue: Arc::clone(queue),
                ended: Cell::new(Some(Ok(()))),
            };
            queue.post(to, from, length)?;
            match copying.record() {
                true => copying.ended.set(None),
                // It is under way, and no event tells of its end. As above.
                false => call!(unsafe self.driver, cuStreamSynchronize(queue.stream.0))?,
            }
            Ok(copying)
        })
    }

    /// Pins memory of the host for copies from and to an allocation. Returns the context that it is pinned in; `None`
    /// where somebody has pinned it before.
    pub fn pin(
        &self,
        address: usize,
        length: usize,
        of: &Allocation,
    ) -> Result<Option<Context>, DriverError> {
        self.pin_in(self.context_of(of)?, address, length)
    }

    /// The same for copies in a context.
    pub fn pin_in(
        &self,
        context: Context,
        address: usize,
        length: usize,
    ) -> Result<Option<Context>, DriverError> {
        let _entered = self.driver.enter(context)?;
        let pinned = self.driver.pin(address, length)?;
        Ok(pinned.then_some(context))
    }

    /// Ends what `pin` began.
    pub fn unpin(&self, address: usize, context: Context) -> Result<(), DriverError> {
        let _entered = self.driver.enter(context)?;
        self.driver.unpin(address)
    }

    /// Calls `f` with a stream of a context, which is current meanwhile.
    fn on_queue<R>(
        &self,
        context: Context,
        way: Way,
        f: impl FnOnce(&Arc<Queue>) -> Result<R, DriverError>,
    ) -> Result<R, DriverError> {
        let _entered = self.driver.enter(context)?;
        let result = f(&self.queue_of(context, way)?);
        if result.is_err() {
            // The stream may be of another context, which was destroyed before this one got its name.
            self.forget(context);
        }
        result
    }

    /// Uses the streams of a context no longer, and leaves them to whoever they are of.
    fn forget(&self, context: Context) {
        let is_of_it = |queue: &mut Arc<Queue>| queue.context == context;
        for queue in self.known.lock().extract_if(.., is_of_it) {
            queue.is_lost.store(true, Ordering::Relaxed);
        }
    }

    /// The context in which memory is copied.
    pub fn context_of(&self, of: &Allocation) -> Result<Context, DriverError> {
        match of.context {
            Some(context) => Ok(context),
            None => self.primary_context(of.device),
        }
    }

    /// The context of this thread, else the first device's primary one: in which memory of the host is copied.
    pub fn any_context(&self) -> Result<Context, DriverError> {
        match self.driver.current_context()? {
            Some(context) => Ok(context),
            None => self.primary_context(0),
        }
    }

    /// The context of this thread, else a primary one that is in use. `None` where there is none: to make one takes time and
    /// memory of a device, which is not for the sake of a copy of the host's memory.
    pub fn used_context(&self) -> Result<Option<Context>, DriverError> {
        if let Some(context) = self.driver.current_context()? {
            return Ok(Some(context));
        }
        let is_used = |ordinal: &c_int| self.driver.uses_primary_context(*ordinal) == Ok(true);
        let used = self.driver.ordinals().find(is_used);
        used.map(|ordinal| self.primary_context(ordinal))
            .transpose()
    }

    fn primary_context(&self, device: c_int) -> Result<Context, DriverError> {
        let mut all = self.primary.lock();
        if let Some((_, context)) = all.iter().find(|(of, _)| *of == device) {
            return Ok(*context);
        }
        let (context, _) = self.driver.retain_primary_context(device)?;
        all.push((device, context));
        Ok(context)
    }

    /// A stream of the context, which is current.
    fn queue_of(&self, context: Context, way: Way) -> Result<Arc<Queue>, DriverError> {
        let id = self.driver.current_context_id();
        let mut all = self.known.lock();
        let is_it = |queue: &Arc<Queue>| queue.context == context && queue.way == way;
        if let Some(at) = all.iter().position(is_it) {
            if all[at].id == id {
                return Ok(Arc::clone(&all[at]));
            }
            all.swap_remove(at);
        }
        let queue = Arc::new(Queue::open(self.driver, context, way, id)?);
        all.push(Arc::clone(&queue));
        Ok(queue)
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        // In the contexts that are released behind it.
        self.known.get_mut().clear();
        for (device, _) in self.primary.get_mut().drain(..) {
            let _ = self.driver.release(device);
        }
    }
}

/// A copy that was started; dropping it waits for its end.
pub struct Copying {
    queue: Arc<Queue>,
    /// Behind the copy; `None` where the driver made none.
    event: Option<Event>,
    /// How it ended; `None` as long as that is not known.
    ended: Cell<Option<Result<(), DriverError>>>,
}

impl Copying {
    /// Puts the event behind the copy, while the context is current. Returns false where the driver has refused.
    fn record(&self) -> bool {
        self.event.as_ref().is_some_and(|event| {
            // An event and a stream of the current context.
            let recorded =
                call!(unsafe self.queue.driver, cuEventRecord(event.0, self.queue.stream.0));
            recorded.is_ok()
        })
    }

    /// The event, as long as the end is not known.
    fn unended(&self) -> Result<Option<CUevent>, DriverError> {
        match (self.ended.get(), &self.event) {
            (Some(ended), _) => ended.map(|()| None),
            (None, event) => Ok(event.as_ref().map(|event| event.0)),
        }
    }

    /// Whether it is done.
    pub fn is_done(&self) -> Result<bool, DriverError> {
        let Some(event) = self.unended()? else {
            return Ok(true);
        };
        // SAFETY: the event lives as long as this.
        let code = unsafe { (self.queue.driver.table.cuEventQuery)(event) };
        // The usual answer is none that words are looked up for.
        if code == CUDA_ERROR_NOT_READY {
            return Ok(false);
        }
        let ended = self.queue.driver.check("cuEventQuery", code);
        if ended.is_err() {
            self.queue.wait();
        }
        self.ended.set(Some(ended));
        ended.map(|()| true)
    }

    /// Has a descriptor signalled when all copies of its stream have ended that were started until now, or have failed.
    pub fn signal_when_done(&self, done: &Arc<EventFd>) -> Result<(), DriverError> {
        let driver = self.queue.driver;
        let _entered = driver.enter(self.queue.context)?;
        let done = Arc::into_raw(Arc::clone(done)).cast_mut();
        // A stream of the current context; a function that takes the argument back, once.
        let asked = call!(unsafe driver,
            cuStreamAddCallback(self.queue.stream.0, signal, done.cast(), 0)
        );
        if asked.is_err() {
            // SAFETY: of `into_raw` above; nobody else has it.
            drop(unsafe { Arc::from_raw(done) });
        }
        asked
    }

    /// Ends when it has ended.
    pub fn wait(&self) -> Result<(), DriverError> {
        let Some(event) = self.unended()? else {
            return Ok(());
        };
        // The event lives as long as this.
        let ended = call!(unsafe self.queue.driver, cuEventSynchronize(event));
        if ended.is_err() {
            self.queue.wait();
        }
        self.ended.set(Some(ended));
        ended
    }
}

/// Called once by a thread of the driver, which may not be called from here.
unsafe extern "C" fn signal(_stream: CUstream, _result: CUresult, done: *mut c_void) {
    // SAFETY: of `into_raw` in `signal_when_done`, for this call.
    let done = unsafe { Arc::from_raw(done.cast::<EventFd>().cast_const()) };
    done.signal();
}

impl Drop for Copying {
    /// Waits until the memory is free again.
    fn drop(&mut self) {
        let waited = self.wait();
        let Some(event) = self.event.take() else {
            return;
        };
        // What failed has ended as well, and so perhaps has its context.
        if waited.is_ok() {
            self.queue.free.lock().push(event);
        } else {
            let _ = call!(unsafe self.queue.driver, cuEventDestroy_v2(event.0));
        }
    }
}
