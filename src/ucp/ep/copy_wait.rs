//! Send queues that wait for a device, which copies what is to be sent next. Messages stay in order, so those behind it wait
//! too. Progress tries again, by which the head of the queue asks whether its copy has ended.
#![forbid(unsafe_code)]

use super::{Ep, Pin};
use crate::ucp::dt::Data;
use crate::ucp::worker_core::{Core, RepeatedCall};
use crate::ucs::{Result, Status};
use core::cell::RefCell;
use core::ffi::c_uint;

/// The endpoints of a worker with such queues.
#[derive(Default)]
pub struct CopyWaits {
    /// By their ids: they may end meanwhile.
    eps: RefCell<Vec<u64>>,
    calls: RepeatedCall,
}

impl CopyWaits {
    pub fn is_empty(&self) -> bool {
        self.eps.borrow().is_empty()
    }
}

impl Ep {
    /// Has the next `pack` find up to `most` bytes at `offset`. `NO_RESOURCE` while a device copies them: nothing is sent before
    /// it has.
    #[inline]
    pub fn fetch(&self, data: &Data, offset: usize, most: usize) -> Result<()> {
        match data {
            Data::Opaque { .. } => self.fetch_opaque(data, offset, most),
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn fetch_opaque(&self, data: &Data, offset: usize, most: usize) -> Result<()> {
        // The queue of one that has failed is not sent again. A message to the worker itself waits for no other process.
        if !self.is_usable() || self.is_loopback() {
            return data.fetch(offset, most);
        }
        if data.begin_fetch(offset, most)? {
            return Ok(());
        }
        self.wait_for_copy();
        Err(Status::NO_RESOURCE)
    }

    /// Nothing is sent before a device has copied the head of the queue. Not for an endpoint that has failed.
    pub fn wait_for_copy(&self) {
        if self.send_queue.is_copying() {
            return;
        }
        self.send_queue.set_copying(true);
        let worker = self.worker();
        let waits = &worker.endpoints().copy_waits;
        waits.eps.borrow_mut().push(self.id.get());
        waits.calls.start(worker, retry);
        worker.wakeup.work_came();
    }
}

/// Progress: sends the queues, as far as devices have copied.
extern "C" fn retry(worker: &Core) -> c_uint {
    let waits = &worker.endpoints().copy_waits;
    let mut sent = 0;
    for id in waits.eps.take() {
        let ep = worker.endpoints().eps.borrow().get(id).copied();
        let Some(ep) = ep else { continue };
        let _pin = Pin::new(&ep);
        ep.send_queue.set_copying(false);
        if ep.is_usable() {
            ep.send_queued();
        }
        sent += c_uint::from(!ep.send_queue.is_copying());
    }
    if waits.is_empty() {
        waits.calls.stop(worker);
    }
    sent
}
