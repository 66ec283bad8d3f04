//! Memory of other processes that is mapped here, for the next access.
//!
//! No peer tells when it frees memory. But an allocation that took the place of another one has a number of its own, so
//! what a key of it finds in that place is unmapped.
#![forbid(unsafe_code)]

use super::wire::{Handle, Key};
use crate::c::cuda::CUDA_ERROR_OUT_OF_MEMORY;
use crate::sys::cuda::{Context, Driver, DriverError, Imported};
use crate::sys::lock::Mutex;
use crate::ucs_debug;
use crate::uct::local::{self, ProcessName, Refusal, Segment};
use core::fmt;
use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
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
    /// What could not be mapped, the newest first, and how often.
    refused: VecDeque<((Place, u64, Handle), u32)>,
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
    handle: Handle,
    memory: Arc<Imported>,
    used: u64,
}

/// Why memory is not mapped.
pub enum NotMapped {
    Driver(DriverError),
    /// Its owner does not give the descriptor.
    Owner(Refusal),
    /// As before.
    Known,
}

impl fmt::Display for NotMapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMapped::Driver(e) => e.fmt(f),
            NotMapped::Owner(why) => write!(f, "its descriptor: {why}"),
            NotMapped::Known => f.write_str("it could not be mapped before"),
        }
    }
}

impl NotMapped {
    /// Whether another attempt would end so, too.
    fn lasts(&self) -> bool {
        match self {
            NotMapped::Driver(e) => e.code != CUDA_ERROR_OUT_OF_MEMORY,
            NotMapped::Owner(why) => !why.is_temporary(),
            NotMapped::Known => false,
        }
    }
}

/// Allocations that could not be mapped, as far as that is remembered, and attempts for each.
const MOST_REFUSED: usize = 64;
const ATTEMPTS: u32 = 3;

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
    ) -> Result<Arc<Imported>, NotMapped> {
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
        let wanted = (place, key.id, key.handle);
        let at = state.refused.iter().position(|(of, _)| *of == wanted);
        if at.is_some_and(|at| state.refused[at].1 >= ATTEMPTS) {
            return Err(NotMapped::Known);
        }
        let memory = self.map(key, context).inspect_err(|why| match at {
            _ if !why.lasts() => {}
            Some(at) => state.refused[at].1 += 1,
            None => {
                state.refused.truncate(MOST_REFUSED - 1);
                state.refused.push_front((wanted, 1));
            }
        })?;
        let memory = Arc::new(memory);
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

    fn map(&self, key: &Key, context: Context) -> Result<Imported, NotMapped> {
        let handle = key.handle.with(|serial| descriptor(key.owner, serial));
        let handle = handle.map_err(NotMapped::Owner)?;
        let length = key.extent as usize;
        let mapped = self.driver.import(&handle, length, context);
        mapped.map_err(NotMapped::Driver)
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
            state.refused.retain(|((place, _, _), _)| place.owner != to);
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

/// A descriptor of another process, by its number. The driver tells what it is of.
fn descriptor(owner: ProcessName, serial: u32) -> Result<OwnedFd, Refusal> {
    match local::segment(owner, serial)? {
        Segment::Theirs {
            file: Some(file), ..
        } => Ok(file),
        Segment::Theirs { .. } | Segment::Own(_) => Err(Refusal::Unusable),
    }
}
