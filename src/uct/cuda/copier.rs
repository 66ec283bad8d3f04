//! Copies between any two places, at least one of which is memory of a device.

use super::buffers::Buffers;
use super::config::Bandwidths;
use super::iface::LATENCY;
use super::md::NAME;

use crate::sys::cuda::{Allocation, Block, Context, Copying, Driver, DriverError, Streams, Way};
use crate::ucs::{Result, Status};
use crate::uct::base::copy::copy;
use crate::uct::base::memory_copier::{
    CopyCost, DeviceBlock, Direction, HostBuffer, MemoryCopier, MessageLength, PINNED_FROM,
    PendingCopy, Pinned,
};
use crate::{ucs_debug, ucs_diag, ucs_error};
use std::sync::Arc;

/// The streams of a context: what is copied within a call does not wait for what was only started, nor the copies of one
/// direction for those of the other.
const AT_ONCE: Way = 0;
const POSTED: Way = 1;
const TO_HOST: Way = 2;
const TO_DEVICE: Way = 3;

/// The driver with the streams of a memory domain.
pub struct Copier {
    driver: Driver,
    streams: Arc<Streams>,
    buffers: Arc<Buffers>,
    to_host: CopyCost,
    to_device: CopyCost,
}

/// Where bytes go, where they come from, and how many.
#[derive(Clone, Copy)]
pub struct Range {
    pub to: *mut u8,
    pub from: *const u8,
    pub length: usize,
}

impl Copier {
    pub fn new(driver: Driver, estimated: Bandwidths) -> Copier {
        let streams = Arc::new(Streams::new(driver));
        Copier {
            driver,
            to_host: CopyCost::new(LATENCY, estimated.to_host),
            to_device: CopyCost::new(LATENCY, estimated.to_device),
            buffers: Arc::new(Buffers::new(&streams)),
            streams,
        }
    }

    /// The allocation at one of both ends, and the stream for that direction; `None` where both are the host's.
    fn allocation(
        &self,
        range: Range,
    ) -> core::result::Result<Option<(Allocation, Way)>, DriverError> {
        if let Some(found) = self.driver.allocation_of(range.to.addr())? {
            return Ok(Some((found, TO_DEVICE)));
        }
        let found = self.driver.allocation_of(range.from.addr())?;
        Ok(found.map(|found| (found, TO_HOST)))
    }

    /// Copies, ends with the call. Returns false, and copies nothing, where no end is in memory of a device.
    ///
    /// # Safety
    /// Both ranges must be valid, `to` for writing.
    unsafe fn copy_if_device(&self, range: Range) -> Result<bool> {
        let copied = self.allocation(range).and_then(|found| {
            let Some((of, way)) = found else {
                return Ok(false);
            };
            let pinned = match way {
                // SAFETY: by the caller's promise.
                TO_DEVICE => unsafe { self.pinned_copy(range, &of) }?,
                _ => None,
            };
            let from = pinned.as_ref().map_or(range.from, |bytes| bytes.as_ptr());
            let (to, from) = (range.to.expose_provenance(), from.expose_provenance());
            // SAFETY: by the caller's promise; the pinned bytes stay until the copy has ended.
            unsafe { self.streams.copy(to, from, range.length, (&of, AT_ONCE)) }.map(|()| true)
        });
        copied.map_err(|e| failed(range, e))
    }

    /// Few bytes of the host, in memory that is pinned; `None` where they are many, or a device's, or all such memory is in use.
    ///
    /// From other memory few bytes seem to be copied by the queue of the device's commands, which waits for a time slice where another
    /// process uses the device, too: 8 bytes took 142 us on an H200, 64 KiB from pinned memory 18.
    ///
    /// # Safety
    /// The bytes must be valid.
    unsafe fn pinned_copy(
        &self,
        range: Range,
        to: &Allocation,
    ) -> core::result::Result<Option<HostBuffer>, DriverError> {
        if range.length > PINNED_FROM || self.driver.allocation_of(range.from.addr())?.is_some() {
            return Ok(None);
        }
        let Ok(mut buffer) = self.buffers.take(to, MessageLength::Short) else {
            return Ok(None);
        };
        // SAFETY: memory of the host, valid by the caller's promise, and not the buffer's.
        buffer.write(0, unsafe {
            core::slice::from_raw_parts(range.from, range.length)
        });
        Ok(Some(buffer))
    }

    /// Pins memory of the host. Returns the context that it is pinned in; `None` where this process uses no context, or somebody
    /// has pinned it before.
    pub fn pin(
        &self,
        address: usize,
        length: usize,
    ) -> core::result::Result<Option<Context>, DriverError> {
        match self.streams.used_context()? {
            Some(context) => self.streams.pin_in(context, address, length),
            None => Ok(None),
        }
    }

    /// Ends what `pin` began.
    pub fn unpin(&self, address: usize, context: Context) -> core::result::Result<(), DriverError> {
        self.streams.unpin(address, context)
    }

    /// As `copy_if_device`, but only starts. Such copies end in turn.
    ///
    /// # Safety
    /// Both ranges must be valid until the copy is done, `to` for writing.
    pub unsafe fn start(&self, range: Range) -> Result<Option<Copying>> {
        // SAFETY: by the caller's promise.
        unsafe { self.start_by(range, |_| POSTED) }
    }

    /// As `start`, by the stream that `way` makes of that of the direction.
    ///
    /// # Safety
    /// As for `start`.
    unsafe fn start_by(&self, range: Range, way: fn(Way) -> Way) -> Result<Option<Copying>> {
        let started = self.allocation(range).and_then(|found| {
            let Some((of, direction)) = found else {
                return Ok(None);
            };
            let (to, from) = (range.to.expose_provenance(), range.from.expose_provenance());
            let by = (self.streams.context_of(&of)?, way(direction));
            // SAFETY: by the caller's promise.
            unsafe { self.streams.start(to, from, range.length, by) }.map(Some)
        });
        started.map_err(|e| failed(range, e))
    }
}

impl MemoryCopier for Copier {
    unsafe fn copy(&self, to: *mut u8, from: *const u8, length: usize) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        let range = Range { to, from, length };
        // SAFETY: by the caller's promise.
        unsafe {
            if !self.copy_if_device(range)? {
                copy(from, to, length);
            }
        }
        Ok(())
    }

    unsafe fn start(
        &self,
        to: *mut u8,
        from: *const u8,
        length: usize,
    ) -> Result<Box<dyn PendingCopy>> {
        let range = Range { to, from, length };
        // SAFETY: by the caller's promise.
        let copying = unsafe { self.start_by(range, |direction| direction) }?;
        if copying.is_none() {
            // SAFETY: as above.
            unsafe { copy(from, to, length) };
        }
        Ok(Box::new(Pending { copying, range }))
    }

    fn staging_buffer(&self, near: *const u8, length: MessageLength) -> Result<HostBuffer> {
        match self.driver.allocation_of(near.addr()) {
            Ok(Some(of)) => self.buffers.take(&of, length),
            Ok(None) => Err(Status::NO_MEMORY),
            Err(e) => Err(e.into()),
        }
    }

    fn pin(&self, (at, length): (*mut u8, usize)) -> Option<Box<dyn Pinned>> {
        let address = at.expose_provenance();
        match Copier::pin(self, address, length) {
            Ok(context) => Some(Box::new(HostPin {
                streams: Arc::clone(&self.streams),
                address,
                context: context?,
            })),
            Err(e) => {
                ucs_debug!("{NAME}: {length} bytes of a peer's stay unpinned: {e}");
                None
            }
        }
    }

    fn allocate(&self, length: usize, near: *const u8) -> Result<Box<dyn DeviceBlock>> {
        let allocated = (|| {
            let context = match self.driver.allocation_of(near.addr())? {
                Some(of) => self.streams.context_of(&of)?,
                None => self.streams.any_context()?,
            };
            let block = self.driver.allocate_in(context, length)?;
            Ok((block, context))
        })();
        let (block, context) = allocated.map_err(|e: DriverError| {
            ucs_diag!("{NAME}: {length} bytes of device memory: {e}");
            Status::from(e)
        })?;
        Ok(Box::new(Allocated {
            address: block.address(),
            block: Some(block),
            length,
            context,
            streams: Arc::clone(&self.streams),
        }))
    }

    fn cost(&self, direction: Direction) -> &CopyCost {
        match direction {
            Direction::ToHost => &self.to_host,
            Direction::ToDevice => &self.to_device,
        }
    }
}

/// Memory of the host that was pinned.
struct HostPin {
    streams: Arc<Streams>,
    address: usize,
    context: Context,
}

impl Pinned for HostPin {}

impl Drop for HostPin {
    fn drop(&mut self) {
        // With a context that was destroyed, all its pinning has ended.
        let _ = self.streams.unpin(self.address, self.context);
    }
}

/// A copy that was started; one of memory of the host is done.
struct Pending {
    copying: Option<Copying>,
    range: Range,
}

impl PendingCopy for Pending {
    fn is_done(&self) -> bool {
        // Of one that has failed, `wait` tells.
        let copying = self.copying.as_ref();
        copying.is_none_or(|copying| copying.is_done().unwrap_or(true))
    }

    fn wait(self: Box<Self>) -> Result<()> {
        let waited = self.copying.as_ref().map_or(Ok(()), Copying::wait);
        waited.map_err(|e| failed(self.range, e))
    }
}

/// Memory for device code.
struct Allocated {
    address: usize,
    length: usize,
    /// Given back when this is dropped.
    block: Option<Block>,
    context: Context,
    /// They retain the context where it is a primary one.
    streams: Arc<Streams>,
}

impl DeviceBlock for Allocated {
    fn address(&self) -> usize {
        self.address
    }

    fn length(&self) -> usize {
        self.length
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.length {
            return Err(Status::INVALID_PARAM);
        }
        let (to, from) = (self.address, bytes.as_ptr().expose_provenance());
        // SAFETY: so many bytes were allocated, and this waits for the end.
        let copying =
            unsafe { (self.streams).start(to, from, bytes.len(), (self.context, AT_ONCE)) };
        copying.and_then(|copying| copying.wait()).map_err(|e| {
            ucs_error!(
                "{NAME}: filling {} bytes of device memory: {e}",
                bytes.len()
            );
            Status::from(e)
        })
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        let freed = self.block.take().map_or(Ok(()), Block::free);
        if let Err(e) = freed {
            ucs_diag!("{NAME}: freeing device memory: {e}");
        }
    }
}

#[cold]
fn failed(range: Range, e: DriverError) -> Status {
    ucs_error!(
        "{NAME}: copying {} bytes from {:p} to {:p}: {e}",
        range.length,
        range.from,
        range.to
    );
    e.into()
}
