//! Copies between any two places, at least one of which is memory of a device.

use super::md::NAME;
use crate::sys::cuda::{Allocation, Copying, Driver, DriverError, Streams};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::MemoryCopier;
use crate::uct::base::copy::copy;

/// The driver with the streams of a memory domain.
pub struct Copier {
    driver: Driver,
    streams: Streams,
}

/// Where bytes go, where they come from, and how many.
#[derive(Clone, Copy)]
pub struct Range {
    pub to: *mut u8,
    pub from: *const u8,
    pub length: usize,
}

impl Copier {
    pub fn new(driver: Driver) -> Copier {
        Copier {
            driver,
            streams: Streams::new(driver),
        }
    }

    /// The allocation at one of both ends; `None` where both are the host's.
    fn allocation(&self, range: Range) -> core::result::Result<Option<Allocation>, DriverError> {
        match self.driver.allocation_of(range.to.addr())? {
            Some(found) => Ok(Some(found)),
            None => self.driver.allocation_of(range.from.addr()),
        }
    }

    /// Copies, ends with the call. Returns false, and copies nothing, where no end is in memory of a device.
    ///
    /// # Safety
    /// Both ranges must be valid, `to` for writing.
    unsafe fn copy_if_device(&self, range: Range) -> Result<bool> {
        let copied = self.allocation(range).and_then(|found| {
            let Some(of) = found else { return Ok(false) };
            let (to, from) = (range.to.expose_provenance(), range.from.expose_provenance());
            // SAFETY: by the caller's promise.
            unsafe { self.streams.copy(to, from, range.length, &of) }.map(|()| true)
        });
        copied.map_err(|e| failed(range, e))
    }

    /// As `copy_if_device`, but only starts.
    ///
    /// # Safety
    /// Both ranges must be valid until the copy is done, `to` for writing.
    pub unsafe fn start(&self, range: Range) -> Result<Option<Copying>> {
        let started = self.allocation(range).and_then(|found| {
            let Some(of) = found else { return Ok(None) };
            let (to, from) = (range.to.expose_provenance(), range.from.expose_provenance());
            // SAFETY: by the caller's promise.
            unsafe { self.streams.start(to, from, range.length, &of) }.map(Some)
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
