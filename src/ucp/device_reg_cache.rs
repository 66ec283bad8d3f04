//! Registrations of memory of devices that are kept for the next transfer of the same memory.
//!
//! Nothing tells when such memory is freed. So each is kept with the number of the memory's allocation, which does not come
//! again, and serves nobody who finds another number at the address. As a device's memory stays taken while it is registered,
//! some that are kept are looked at whenever one is asked for, and end if their memory was freed.
#![forbid(unsafe_code)]

use crate::c::uct_mem_h;
use crate::sys::lock::Mutex;
use crate::ucs::Result;
use crate::uct::base::md::Registered;
use core::ops::Range;
use std::collections::VecDeque;
use std::sync::Arc;

/// Most that are kept: each takes room in the tables of its device.
const MOST: usize = 256;
/// Of those that are kept, so many are looked at before a new registration, which takes far longer than that.
const LOOKED_AT: usize = 8;
/// One of those that are kept is looked at once in so many times that one serves.
const TURNS: u32 = 8;

/// What a transfer needs.
#[derive(Clone)]
pub struct Wanted {
    /// Index into `Context::mds`.
    pub domain: usize,
    /// The number of the allocation.
    pub id: u64,
    /// An address of the allocation.
    pub address: usize,
    pub range: Range<usize>,
    /// `UCT_MD_MEM_ACCESS_*`
    pub access: u32,
}

/// A registration that ends when it is dropped.
pub struct Held(Option<Registered>);

impl Held {
    pub fn new(registered: Registered) -> Held {
        Held(Some(registered))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(registered) = self.0.take() {
            // The error was logged.
            let _ = registered.release();
        }
    }
}

/// A kept registration, which is dropped when nobody has it.
pub struct Kept<R = Held> {
    of: Wanted,
    registered: R,
}

impl Kept {
    /// The domain, and its handle.
    pub fn handle(&self) -> (usize, uct_mem_h) {
        let memh = self.registered.0.as_ref().map(Registered::memh);
        (self.of.domain, memh.unwrap_or(core::ptr::null_mut()))
    }
}

impl<R> Kept<R> {
    fn serves(&self, wanted: &Wanted) -> bool {
        let (of, range) = (&self.of, &wanted.range);
        (of.domain, of.id) == (wanted.domain, wanted.id)
            && of.range.start <= range.start
            && range.end <= of.range.end
            && of.access & wanted.access == wanted.access
    }

    fn overlaps(&self, range: &Range<usize>) -> bool {
        self.of.range.start < range.end && range.start < self.of.range.end
    }

    /// Whether its memory is still there.
    fn is_current(&self, id_at: impl Fn(usize) -> Option<u64>) -> bool {
        id_at(self.of.address) == Some(self.of.id)
    }
}

/// The registrations of a context.
pub struct DeviceRegCache<R = Held> {
    most: usize,
    kept: Mutex<AllKept<R>>,
}

struct AllKept<R> {
    /// That which served or was looked at last is the last.
    all: VecDeque<Arc<Kept<R>>>,
    turn: u32,
}

impl<R> DeviceRegCache<R> {
    /// Keeps at most so many.
    pub fn new(most: usize) -> DeviceRegCache<R> {
        DeviceRegCache {
            most: most.min(MOST),
            kept: Mutex::new(AllKept {
                all: VecDeque::new(),
                turn: 0,
            }),
        }
    }

    /// Whether any is kept.
    pub fn keeps(&self) -> bool {
        self.most > 0
    }

    /// One that is kept, or a new one that `register` makes. `id_at` tells the number of the allocation at an address.
    pub fn get(
        &self,
        wanted: Wanted,
        id_at: impl Fn(usize) -> Option<u64>,
        register: impl Fn(&Wanted) -> Result<R>,
    ) -> Result<Arc<Kept<R>>> {
        let mut kept = self.kept.lock();
        if let Some(found) = kept.find(&wanted) {
            kept.turn = kept.turn.wrapping_add(1);
            if kept.turn.is_multiple_of(TURNS) {
                kept.end_freed(1, &id_at);
            }
            return Ok(found);
        }
        kept.end_freed(LOOKED_AT, &id_at);
        let is_at = |other: &Arc<Kept<R>>| other.overlaps(&wanted.range);
        kept.all
            .retain(|other| !is_at(other) || other.is_current(&id_at));
        let registered = match register(&wanted) {
            Ok(registered) => registered,
            Err(_) if !kept.all.is_empty() => {
                // Perhaps what is kept takes what is needed.
                kept.all.clear();
                register(&wanted)?
            }
            Err(e) => return Err(e),
        };
        let made = Arc::new(Kept {
            of: wanted,
            registered,
        });
        if kept.all.len() >= self.most {
            kept.all.pop_front();
        }
        kept.all.push_back(Arc::clone(&made));
        Ok(made)
    }
}

impl<R> AllKept<R> {
    /// The newest that serves, which then is the last.
    fn find(&mut self, wanted: &Wanted) -> Option<Arc<Kept<R>>> {
        let at = self.all.iter().rposition(|kept| kept.serves(wanted))?;
        let found = match at + 1 == self.all.len() {
            true => Arc::clone(&self.all[at]),
            false => {
                let found = self.all.remove(at)?;
                self.all.push_back(Arc::clone(&found));
                found
            }
        };
        Some(found)
    }

    /// Looks at so many, from those on that have not served for the longest time, and ends those whose memory was freed. The
    /// others go to the end, so that the next look is at others.
    fn end_freed(&mut self, count: usize, id_at: impl Fn(usize) -> Option<u64>) {
        for _ in 0..count.min(self.all.len()) {
            if let Some(oldest) = self.all.pop_front()
                && oldest.is_current(&id_at)
            {
                self.all.push_back(oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::{UCT_MD_MEM_ACCESS_LOCAL_READ, UCT_MD_MEM_ACCESS_REMOTE_GET};
    use crate::ucs::Status;
    use core::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use std::rc::Rc;

    /// One of so many that there are.
    struct Counted(Rc<Cell<usize>>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }

    /// A device's memory, and a cache of its registrations.
    struct World {
        cache: DeviceRegCache<Counted>,
        /// The number of the allocation at each address.
        ids: RefCell<BTreeMap<usize, u64>>,
        live: Rc<Cell<usize>>,
        made: Cell<usize>,
        /// Most registrations that the device takes.
        room: Cell<usize>,
    }

    const LENGTH: usize = 4096;

    impl World {
        fn new(most: usize) -> World {
            World {
                cache: DeviceRegCache::new(most),
                ids: RefCell::default(),
                live: Rc::default(),
                made: Cell::new(0),
                room: Cell::new(usize::MAX),
            }
        }

        fn allocate(&self, address: usize, id: u64) {
            self.ids.borrow_mut().insert(address, id);
        }

        fn get(&self, address: usize, access: u32) -> Result<Arc<Kept<Counted>>> {
            let wanted = Wanted {
                domain: 0,
                id: self.ids.borrow()[&address],
                address,
                range: address..address + LENGTH,
                access,
            };
            let id_at = |address: usize| self.ids.borrow().get(&address).copied();
            let register = |_: &Wanted| {
                if self.live.get() >= self.room.get() {
                    return Err(Status::NO_MEMORY);
                }
                self.live.set(self.live.get() + 1);
                self.made.set(self.made.get() + 1);
                Ok(Counted(Rc::clone(&self.live)))
            };
            self.cache.get(wanted, id_at, register)
        }

        /// Registrations that a transfer from an address made.
        fn made_for(&self, address: usize) -> usize {
            let before = self.made.get();
            self.get(address, UCT_MD_MEM_ACCESS_LOCAL_READ).unwrap();
            self.made.get() - before
        }
    }

    #[test]
    fn what_is_kept_serves_the_same_allocation_alone() {
        let world = World::new(10);
        world.allocate(LENGTH, 1);
        assert_eq!((world.made_for(LENGTH), world.made_for(LENGTH)), (1, 0));
        // Freed, and allocated anew at the same address.
        world.allocate(LENGTH, 2);
        assert_eq!((world.made_for(LENGTH), world.made_for(LENGTH)), (1, 0));
        assert_eq!(world.live.get(), 1);
        // More rights take another one.
        let more = UCT_MD_MEM_ACCESS_LOCAL_READ | UCT_MD_MEM_ACCESS_REMOTE_GET;
        world.get(LENGTH, more).unwrap();
        assert_eq!((world.made_for(LENGTH), world.live.get()), (0, 2));
    }

    #[test]
    fn who_has_one_keeps_it() {
        let world = World::new(2);
        for address in [1, 2, 3].map(|n| n * LENGTH) {
            world.allocate(address, address as u64);
        }
        let first = world.get(LENGTH, 0).unwrap();
        for address in [2, 3, 2, 3].map(|n| n * LENGTH) {
            world.get(address, 0).unwrap();
        }
        assert_eq!(
            world.live.get(),
            3,
            "the first is not among the two that are kept"
        );
        drop(first);
        assert_eq!(world.live.get(), 2);
        drop(world.get(2 * LENGTH, 0));
        assert_eq!(world.made.get(), 3);
    }

    #[test]
    fn registrations_of_freed_memory_end_while_others_serve() {
        const FREED: usize = 20;
        let world = World::new(100);
        for n in 1..=FREED + 1 {
            world.allocate(n * LENGTH, n as u64);
            world.get(n * LENGTH, 0).unwrap();
        }
        let last = (FREED + 1) * LENGTH;
        world.ids.borrow_mut().retain(|address, _| *address == last);
        for _ in 0..TURNS as usize * (FREED + 2) {
            assert_eq!(
                world.get(last, 0).map(|kept| kept.of.id),
                Ok(FREED as u64 + 1)
            );
        }
        assert_eq!((world.live.get(), world.made.get()), (1, FREED + 1));
    }

    #[test]
    fn what_is_kept_makes_room() {
        let world = World::new(100);
        world.room.set(5);
        for n in 1..=20 {
            world.allocate(n * LENGTH, n as u64);
            world.get(n * LENGTH, 0).unwrap();
            assert!(world.live.get() <= 5);
        }
        let taken: Vec<_> = (16..=20).map(|n| world.get(n * LENGTH, 0)).collect();
        assert!(taken.iter().all(Result::is_ok));
        assert_eq!(world.get(LENGTH, 0).err(), Some(Status::NO_MEMORY));
    }
}
