//! Memory of other processes that is mapped here, for the next access.
//!
//! No peer tells when it frees memory. But an allocation that took the place of another one has a number of its own, so
//! what a key of it finds in that place is unmapped.
#![forbid(unsafe_code)]

use super::wire::Key;
use crate::sys::cuda::{Context, Driver, DriverError, Imported, IpcHandle};
use crate::sys::lock::Mutex;
use crate::ucs_debug;
use crate::uct::local::ProcessName;
use std::collections::HashMap;
use std::sync::Arc;

pub struct Cache {
    driver: Driver,
    /// Most allocations that are kept, and most bytes of them.
    regions: usize,
    bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: HashMap<Place, Entry>,
    bytes: usize,
    /// Endpoints by the process that they lead to.
    endpoints: HashMap<ProcessName, usize>,
    /// Counts uses.
    clock: u64,
}

/// An allocation takes one place at its owner, and is mapped once in each context.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    owner: ProcessName,
    base: u64,
    context: Context,
}

struct Entry {
    id: u64,
    handle: IpcHandle,
    memory: Arc<Imported>,
    used: u64,
}

impl Cache {
    pub fn new(driver: Driver, regions: usize, bytes: usize) -> Cache {
        Cache {
            driver,
            regions,
            bytes,
            state: Mutex::default(),
        }
    }

    /// The memory of a key, mapped in a context; kept for the next time if `keeps`.
    pub fn get(
        &self,
        key: &Key,
        context: Context,
        keeps: bool,
    ) -> Result<Arc<Imported>, DriverError> {
        let place = Place {
            owner: key.owner,
            base: key.base,
            context,
        };
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        if let Some(entry) = state.kept.get_mut(&place) {
            if entry.id == key.id && entry.handle == key.handle {
                entry.used = now;
                return Ok(Arc::clone(&entry.memory));
            }
            ucs_debug!(
                "cuda_ipc: another allocation took the place of that at {:#x}",
                key.base
            );
            state.remove(&place);
        }
        let memory = Arc::new(self.driver.import(&key.handle, context)?);
        if keeps {
            let entry = Entry {
                id: key.id,
                handle: key.handle,
                memory: Arc::clone(&memory),
                used: now,
            };
            state.bytes += memory.length;
            state.kept.insert(place, entry);
            while state.kept.len() > self.regions || state.bytes > self.bytes {
                state.remove_oldest();
            }
        }
        Ok(memory)
    }

    /// Keeps the memory of a key no longer: it could not be used.
    pub fn forget(&self, key: &Key, context: Context) {
        self.state.lock().remove(&Place {
            owner: key.owner,
            base: key.base,
            context,
        });
    }

    /// An endpoint leads to a process.
    pub fn add_endpoint(&self, to: ProcessName) {
        *self.state.lock().endpoints.entry(to).or_default() += 1;
    }

    /// And does no more. With the last one, nothing of the process is kept: it may have ended.
    pub fn remove_endpoint(&self, to: ProcessName) {
        let mut state = self.state.lock();
        let Some(count) = state.endpoints.get_mut(&to) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            state.endpoints.remove(&to);
            let places: Vec<Place> = state.kept.keys().copied().collect();
            for place in places.iter().filter(|place| place.owner == to) {
                state.remove(place);
            }
        }
    }
}

impl State {
    fn remove(&mut self, place: &Place) {
        if let Some(entry) = self.kept.remove(place) {
            self.bytes -= entry.memory.length;
        }
    }

    /// Looks at all: only a cache with a limit does that, and no more often than it maps memory.
    fn remove_oldest(&mut self) {
        let oldest = self.kept.iter().min_by_key(|(_, entry)| entry.used);
        if let Some(place) = oldest.map(|(place, _)| *place) {
            self.remove(&place);
        }
    }
}
