//! Copies from and to device memory, on streams of our own.
//!
//! A stream of the program's, or the default stream, would have a copy wait for what the program has queued there. Each
//! context that owns memory gets one stream.

use super::driver::{Context, Driver, DriverError, call};
use super::memory::Allocation;
use crate::c::cuda::*;
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::sync::Arc;

/// Streams of the contexts that copies were made for.
pub struct Streams {
    driver: Driver,
    known: Mutex<Vec<Known>>,
    /// Primary contexts, retained for memory of pools, which belongs to no context.
    primary: Mutex<Vec<(c_int, Context)>>,
}

/// The stream of a context.
struct Known {
    context: Context,
    /// The context's number: a stream of a context that is gone is gone too, and its handle may crash the driver.
    id: u64,
    stream: Stream,
}

/// A stream; the driver allows threads to share it.
#[derive(Clone, Copy)]
struct Stream(CUstream);

// SAFETY: a name for the driver, which all threads may use.
unsafe impl Send for Stream {}

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
        of: &Allocation,
    ) -> Result<(), DriverError> {
        self.on_stream(self.context_of(of)?, |stream| {
            self.post(to, from, length, stream)?;
            // A stream of the current context.
            call!(unsafe self.driver, cuStreamSynchronize(stream.0))
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
        context: Context,
    ) -> Result<Copying, DriverError> {
        self.on_stream(context, |stream| {
            let mut event = null_mut();
            call!(unsafe self.driver,
                cuEventCreate(&mut event, CU_EVENT_DISABLE_TIMING)
            )?;
            let copying = Copying {
                driver: self.driver,
                event,
                context,
                stream,
            };
            self.post(to, from, length, stream)?;
            // An event and a stream of the current context.
            call!(unsafe self.driver, cuEventRecord(event, stream.0))?;
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

    /// Queues a copy.
    fn post(
        &self,
        to: usize,
        from: usize,
        length: usize,
        stream: Stream,
    ) -> Result<(), DriverError> {
        let (to, from) = (to as CUdeviceptr, from as CUdeviceptr);
        // Ranges by the promise of `copy` and `start`; the driver checks those of its own.
        call!(unsafe self.driver, cuMemcpyAsync(to, from, length, stream.0))
    }

    /// Calls `f` with the stream of a context, which is current meanwhile.
    fn on_stream<R>(
        &self,
        context: Context,
        f: impl FnOnce(Stream) -> Result<R, DriverError>,
    ) -> Result<R, DriverError> {
        let _entered = self.driver.enter(context)?;
        let result = f(self.stream_of(context)?);
        if result.is_err() {
            // The stream may be of another context, which was destroyed before this one got its name.
            self.known.lock().retain(|known| known.context != context);
        }
        result
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
        let mut ordinal = 0;
        // Behind the last device there is an error.
        while let Ok(is_used) = self.driver.uses_primary_context(ordinal) {
            if is_used {
                return self.primary_context(ordinal).map(Some);
            }
            ordinal += 1;
        }
        Ok(None)
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

    /// The stream of the context, which is current.
    fn stream_of(&self, context: Context) -> Result<Stream, DriverError> {
        let id = self.driver.current_context_id();
        let mut all = self.known.lock();
        if let Some(at) = all.iter().position(|known| known.context == context) {
            if all[at].id == id {
                return Ok(all[at].stream);
            }
            all.swap_remove(at);
        }
        let mut stream = null_mut();
        call!(unsafe self.driver,
            cuStreamCreate(&mut stream, CU_STREAM_NON_BLOCKING)
        )?;
        let stream = Stream(stream);
        all.push(Known {
            context,
            id,
            stream,
        });
        Ok(stream)
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        for known in self.known.get_mut().drain(..) {
            // Of a context that was destroyed, with all that is in it, nothing is left to destroy.
            if let Ok(_entered) = self.driver.enter(known.context)
                && self.driver.current_context_id() == known.id
            {
                // Of `stream_of`, once.
                let _ = call!(unsafe self.driver, cuStreamDestroy_v2(known.stream.0));
            }
        }
        for (device, _) in self.primary.get_mut().drain(..) {
            let _ = self.driver.release(device);
        }
    }
}

/// A copy that was started; dropping it waits for its end.
pub struct Copying {
    driver: Driver,
    event: CUevent,
    context: Context,
    stream: Stream,
}

impl Copying {
    /// Whether it is done.
    pub fn is_done(&self) -> Result<bool, DriverError> {
        // The event lives as long as this.
        match call!(unsafe self.driver, cuEventQuery(self.event)) {
            Err(e) if e.code == CUDA_ERROR_NOT_READY => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Has a descriptor signalled when all copies of its stream have ended that were started until now, or have failed.
    pub fn signal_when_done(&self, done: &Arc<EventFd>) -> Result<(), DriverError> {
        let _entered = self.driver.enter(self.context)?;
        let done = Arc::into_raw(Arc::clone(done)).cast_mut();
        // A stream of the current context; a function that takes the argument back, once.
        let asked = call!(unsafe self.driver,
            cuStreamAddCallback(self.stream.0, signal, done.cast(), 0)
        );
        if asked.is_err() {
            // SAFETY: of `into_raw` above; nobody else has it.
            drop(unsafe { Arc::from_raw(done) });
        }
        asked
    }

    /// Ends when it has ended.
    pub fn wait(&self) -> Result<(), DriverError> {
        // As above.
        call!(unsafe self.driver, cuEventSynchronize(self.event))
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
        let waited = call!(unsafe self.driver, cuEventSynchronize(self.event));
        // What failed has ended as well.
        let _ = waited.and(call!(unsafe self.driver, cuEventDestroy_v2(self.event)));
    }
}
