//! What copies memory that processors cannot access, and the memory of the host that it copies fastest.

use crate::ucs::sync::{AtomicU64, Ordering};
use crate::ucs::{Result, Status};
use core::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Copies between memory of the host and memory that processors cannot access, or within the latter. All threads may use it.
pub trait MemoryCopier: Send + Sync {
    /// Copies, ends with the call. What both ends are is found out by their addresses.
    ///
    /// # Safety
    /// Both ranges must be valid, `to` for writing.
    unsafe fn copy(&self, to: *mut u8, from: *const u8, length: usize) -> Result<()>;

    /// As `copy`, but only starts.
    ///
    /// # Safety
    /// Both ranges must be valid until the result is dropped or has been waited for, `to` for writing.
    unsafe fn start(
        &self,
        to: *mut u8,
        from: *const u8,
        length: usize,
    ) -> Result<Box<dyn PendingCopy>>;

    /// `STAGING_BUFFER` bytes of the host from and to which devices copy without a detour, for copies from or to `near`.
    /// `NO_MEMORY` where there is no such memory, and for a short message where all of the pool are in use: many of those may
    /// wait at a time.
    fn staging_buffer(&self, near: *const u8, of: MessageLength) -> Result<HostBuffer>;

    /// Has devices copy from and to memory of the host without a detour, until the result is dropped, before the memory
    /// goes. `None` where that cannot be.
    fn pin(&self, _memory: (*mut u8, usize)) -> Option<Box<dyn Pinned>> {
        None
    }

    /// Memory of the device that `near` is of, for code there or copies; where `near` is the host's or null, of that of the
    /// calling thread's context.
    fn allocate(&self, _length: usize, _near: *const u8) -> Result<Box<dyn DeviceBlock>> {
        Err(Status::UNSUPPORTED)
    }

    /// What such copies cost.
    fn cost(&self, direction: Direction) -> &CopyCost;
}

/// Whether a message needs staging buffers in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageLength {
    Short,
    Long,
}

/// Memory of the host that is pinned as long as this.
pub trait Pinned: Send + Sync {}

/// Which way bytes are copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    ToHost,
    ToDevice,
}

/// What copies cost, of all messages of a copier: an estimate that measurements correct.
pub struct CopyCost {
    /// Seconds until a copy begins.
    pub overhead: f64,
    /// Bytes a second: the bits of an `f64`.
    bandwidth: AtomicU64,
}

impl CopyCost {
    pub fn new(overhead: f64, bandwidth: f64) -> CopyCost {
        CopyCost {
            overhead,
            bandwidth: AtomicU64::new(bandwidth.to_bits()),
        }
    }

    /// Bytes a second.
    pub fn bandwidth(&self) -> f64 {
        // Relaxed: a number alone.
        f64::from_bits(self.bandwidth.load(Ordering::Relaxed))
    }

    /// Takes a measurement, which counts a quarter.
    pub fn learn(&self, bandwidth: f64) {
        let known = self.bandwidth();
        let learned = known + (bandwidth - known) / 4.0;
        // Relaxed, as above; of two threads' measurements one may get lost.
        self.bandwidth.store(learned.to_bits(), Ordering::Relaxed);
    }
}

/// Bytes from which on a message is worth a staging buffer: copies from and to pinned memory are faster.
pub const PINNED_FROM: usize = 16 << 10;

/// Bytes of a staging buffer: the longest window of a message, and the rest of the window before it.
pub const STAGING_BUFFER: usize = (512 + 64) << 10;

/// Where staging buffers return to.
pub trait BufferPool: Send + Sync {
    /// Takes back a buffer that nothing uses any more.
    fn put(&self, bytes: Vec<u8>);

    /// Whether as many buffers are in use as are kept.
    fn is_exhausted(&self) -> bool;
}

/// Memory of the host, from a pool or not.
#[derive(Default)]
pub struct HostBuffer {
    bytes: Vec<u8>,
    pool: Option<Arc<dyn BufferPool>>,
}

impl HostBuffer {
    pub fn new(bytes: Vec<u8>, pool: Option<Arc<dyn BufferPool>>) -> HostBuffer {
        HostBuffer { bytes, pool }
    }

    /// Writes bytes at `at`, which is at most the length. Memory that is not of a pool grows as far as that takes.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let (over, beyond) = bytes.split_at(bytes.len().min(self.bytes.len() - at));
        self.bytes[at..][..over.len()].copy_from_slice(over);
        self.bytes.extend_from_slice(beyond);
    }

    /// Whether it is a staging buffer, and as many of those are in use as are kept: to make another takes long.
    pub fn is_the_last(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.is_exhausted())
    }

    /// Whether it is a staging buffer.
    pub fn is_pooled(&self) -> bool {
        self.pool.is_some()
    }
}

impl Deref for HostBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for HostBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.put(core::mem::take(&mut self.bytes));
        }
    }
}

/// A copy that was started. Dropping it waits too.
pub trait PendingCopy {
    /// Whether it has ended, so that `wait` does not wait.
    fn is_done(&self) -> bool;

    /// Ends when the copy has ended.
    fn wait(self: Box<Self>) -> Result<()>;
}

/// Memory that a copy reads after the call that has started it. Processors may not reach it.
///
/// # Safety
/// `bytes` must always give the same memory, which stays as long as this, wherever this is moved.
pub unsafe trait KeptBytes: 'static {
    /// Where they are, and how many.
    fn bytes(&self) -> (*const u8, usize);
}

/// The same of memory that a copy writes.
///
/// # Safety
/// As for `KeptBytes`; nobody else of this process may use the memory.
pub unsafe trait KeptRoom: 'static {
    /// Where it is, and its bytes.
    fn room(&self) -> (*mut u8, usize);
}

/// Memory of a device that was allocated; freed when dropped. All threads may use it.
pub trait DeviceBlock: Send + Sync {
    fn address(&self) -> usize;

    fn length(&self) -> usize;

    /// Fills it from its start on. Ends when device code sees the bytes.
    fn write(&self, bytes: &[u8]) -> Result<()>;
}
