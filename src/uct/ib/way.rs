//! Ways to peers' queue pairs for datagrams: one address handle for all on a port.
#![forbid(unsafe_code)]

use super::config::PathSettings;
use super::md::Domain;
use super::port::Port;
use super::wire::{DEVICE_LEN, DeviceAddr};
use crate::sys::verbs::AddressHandle;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// How a peer's queue pair is reached.
#[derive(Clone)]
pub struct Way {
    pub handle: Rc<AddressHandle>,
    pub queue_pair: u32,
}

/// The address handles in use.
#[derive(Default)]
pub struct Ways(HashMap<[u8; DEVICE_LEN], Weak<AddressHandle>>);

impl Ways {
    /// The handle for a peer's port, from one of ours. `peers`: about how many use one.
    pub fn to(
        &mut self,
        domain: &Domain,
        (port, path): (&Port, &PathSettings),
        device: &DeviceAddr,
        peers: usize,
    ) -> Result<Rc<AddressHandle>> {
        let key = device.encode();
        if let Some(handle) = self.0.get(&key).and_then(Weak::upgrade) {
            return Ok(handle);
        }
        let address = port.route(device, path);
        let handle = AddressHandle::new(&domain.device, &address).map_err(|e| {
            ucs_diag!("{}: an address handle cannot be made: {e}", domain.name);
            Status::from(e)
        })?;
        let handle = Rc::new(handle);
        if self.0.len() >= 2 * peers + 16 {
            self.0.retain(|_, way| way.strong_count() > 0);
        }
        self.0.insert(key, Rc::downgrade(&handle));
        Ok(handle)
    }
}
