//! The memory of a context that peers can name, for all of its workers at once: by the ids that keys and
//! messages carry, and, of memory that peers can map, by address. Nothing on a data path waits for another
//! entry's owner: entries have locks of their own, and workers keep a copy of the list of addresses.
//!
//! An entry in use keeps its memory mapped: `remove` waits for it. So no user function is called meanwhile.
#![forbid(unsafe_code)]

use crate::c::{UCS_MEMORY_TYPE_HOST, ucs_memory_type_t};
use crate::sys::lock::Mutex;
use crate::sys::mapping::Mappings;
use crate::ucs::shared_slots::SharedSlots;
use crate::ucs::sync::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use crate::ucs_diag;
use crate::wire::rkey::{READ, Rkey, WRITE};
use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The part of a region that peers may access.
#[derive(Clone, Copy)]
pub struct Exported {
    /// Its address for peers.
    pub address: u64,
    pub length: usize,
    /// Local minus named address.
    pub delta: isize,
    /// `READ`, `WRITE`: the rights that its owner gives.
    pub rights: u8,
    /// Mapped by the application: its protection is looked up when a key is made, as that takes the kernel a while.
    pub foreign: bool,
    /// The library's own, which the application does not know.
    pub internal: bool,
    /// `UCS_MEMORY_TYPE_*`
    pub kind: ucs_memory_type_t,
}

/// Whether the second range lies in the first.
pub fn within(start: u64, room: usize, address: u64, length: usize) -> bool {
    let end = address.checked_add(length as u64);
    address >= start && end.is_some_and(|end| end <= start + room as u64)
}

/// A region that peers on this host can map.
#[derive(Clone)]
struct Mappable {
    id: u64,
    start: u64,
    length: usize,
    rights: u8,
    key: Arc<[u8]>,
}

struct RegionEntry {
    exported: Exported,
    /// Those of the owner's rights that the mapping is known to allow.
    granted: AtomicU8,
    /// In which lists of regions by address it is, or belongs once there is one.
    listed: AtomicU8,
}

/// Of `RegionEntry::listed`: peers can map it.
const MAPPABLE: u8 = 1;
/// Peers may name it by address alone.
const PUBLISHED: u8 = 2;

impl RegionEntry {
    /// Those of the owner's rights that the mapping allows: a peer's access that it forbids would be a signal to this
    /// process.
    #[cold]
    fn look_up(&self, mappings: &Mappings) -> u8 {
        let exported = &self.exported;
        let start = (exported.address as usize).wrapping_add_signed(exported.delta);
        let mapping = mappings.protection(start, exported.length);
        let mut allowed = 0;
        if mapping.read {
            allowed |= READ;
        }
        if mapping.write {
            allowed |= WRITE;
        }
        allowed & exported.rights
    }
}

#[derive(Default)]
pub struct Regions {
    by_id: SharedSlots<RegionEntry>,
    /// Of the application.
    live: AtomicUsize,
    /// By their addresses; regions that the library allocates do not overlap.
    mappable: Mutex<BTreeMap<u64, Mappable>>,
    /// Changes of `mappable`.
    version: AtomicU64,
    /// Those that peers may name by address alone, from the first question for one on: only processes of upstream's ask.
    published: Mutex<Option<Published>>,
    mappings: Mappings,
}

/// Regions by address. They may overlap.
#[derive(Default)]
struct Published {
    /// Length and rights, by start and id.
    regions: BTreeMap<(u64, u64), (usize, u8)>,
    /// No region is longer.
    longest: usize,
}

impl Published {
    fn add(&mut self, id: u64, entry: &RegionEntry) {
        let (region, rights) = (&entry.exported, entry.granted.load(Ordering::Relaxed));
        self.longest = self.longest.max(region.length);
        self.regions
            .insert((region.address, id), (region.length, rights));
    }
}

impl Regions {
    /// Makes a region known; returns its id, never 0.
    pub fn insert(&self, region: Exported) -> u64 {
        if !region.internal {
            self.live.fetch_add(1, Ordering::Relaxed);
        }
        self.by_id.insert(RegionEntry {
            exported: region,
            granted: AtomicU8::new(if region.foreign { 0 } else { region.rights }),
            listed: AtomicU8::new(0),
        })
    }

    /// Makes known that peers can map a region by `key`.
    pub fn allow_mapping(&self, id: u64, region: &Exported, key: &[u8]) {
        // Relaxed: who removes the region knows what was done to it.
        self.by_id
            .with(id, |e| e.listed.fetch_or(MAPPABLE, Ordering::Relaxed));
        let entry = Mappable {
            id,
            start: region.address,
            length: region.length,
            rights: region.rights,
            key: key.into(),
        };
        let mut all = self.mappable.lock();
        all.insert(entry.start, entry);
        // Release: pairs with the Acquire in `View::key_of`; a thread that learns of the region sees this.
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Peers may name the region by address alone from now on, as a process of upstream's does that gets a key of it.
    pub fn publish(&self, id: u64) {
        // Before the entry's lock, as where the list is made.
        let mut published = self.published.lock();
        self.by_id.with(id, |entry| {
            entry.listed.fetch_or(PUBLISHED, Ordering::Relaxed);
            if let Some(list) = &mut *published {
                list.add(id, entry);
            }
        });
    }

    /// The id of a published region that contains a range and gives a right to it.
    pub fn published_at(&self, address: u64, length: usize, right: u8) -> Option<u64> {
        let mut published = self.published.lock();
        let list = published.get_or_insert_with(|| {
            let mut list = Published::default();
            self.by_id.for_each(|id, entry| {
                if entry.listed.load(Ordering::Relaxed) & PUBLISHED != 0 {
                    list.add(id, entry);
                }
            });
            list
        });
        let earliest = address.saturating_sub(list.longest as u64);
        let near = list.regions.range((earliest, 0)..=(address, u64::MAX));
        let holds = |((start, _), (room, rights)): &(&(u64, u64), &(usize, u8))| {
            within(*start, *room, address, length) && rights & right == right
        };
        near.rev().find(holds).map(|((_, id), _)| *id)
    }

    /// Forgets a region, when no thread has it in hand any more: its memory may go then.
    pub fn remove(&self, id: u64) {
        let Some(entry) = self.by_id.remove(id) else {
            return;
        };
        let region = entry.exported;
        if !region.internal {
            self.live.fetch_sub(1, Ordering::Relaxed);
        }
        let listed = entry.listed.into_inner();
        if listed & PUBLISHED != 0
            && let Some(list) = &mut *self.published.lock()
        {
            list.regions.remove(&(region.address, id));
            if list.regions.is_empty() {
                list.longest = 0;
            }
        }
        if listed & MAPPABLE == 0 {
            return;
        }
        let mut all = self.mappable.lock();
        // Others of the application's regions may begin at the same address.
        if all.get(&region.address).is_some_and(|r| r.id == id) {
            all.remove(&region.address);
            self.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether peers may access memory of the application.
    pub fn any(&self) -> bool {
        self.count() > 0
    }

    /// The regions of the application.
    pub fn count(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// As `with_any`, for memory of the host.
    pub fn with<R>(
        &self,
        id: u64,
        address: u64,
        length: usize,
        right: u8,
        f: impl FnOnce(*mut u8) -> R,
    ) -> Result<R, &'static str> {
        const NOT_HERE: &str = "it is memory of a device";
        let done = self.with_any(id, address, length, right, |at, kind| {
            (kind == UCS_MEMORY_TYPE_HOST).then(|| f(at))
        })?;
        done.ok_or(NOT_HERE)
    }

    /// Calls `f` with the local address of memory that a peer names and its type, if the peer has the right. The address is
    /// valid while `f` runs.
    #[inline]
    pub fn with_any<R>(
        &self,
        id: u64,
        address: u64,
        length: usize,
        right: u8,
        f: impl FnOnce(*mut u8, ucs_memory_type_t) -> R,
    ) -> Result<R, &'static str> {
        const OUTSIDE: &str = "that range is not exported";
        let done = self.by_id.with(id, |entry| {
            let r = &entry.exported;
            if !within(r.address, r.length, address, length) {
                return Err(OUTSIDE);
            }
            if entry.granted.load(Ordering::Relaxed) & right != right {
                return Err("its protection forbids it");
            }
            Ok(f((address as *mut u8).wrapping_offset(r.delta), r.kind))
        });
        done.unwrap_or(Err(OUTSIDE))
    }

    /// The rights of peers to a region from now on, as a key of it is about to be packed.
    pub fn grant(&self, id: u64) -> u8 {
        let granted = self.by_id.with(id, |entry| {
            let exported = &entry.exported;
            let known = entry.granted.load(Ordering::Relaxed);
            if !exported.foreign || known == exported.rights {
                return known;
            }
            let allowed = entry.look_up(&self.mappings);
            if allowed != exported.rights {
                ucs_diag!(
                    "{} bytes at {:#x} are not all mapped for {}: a key of them gives no right to that",
                    exported.length,
                    exported.address,
                    match allowed & READ {
                        0 => "reading and writing",
                        _ => "writing",
                    }
                );
            }
            // Relaxed: peers learn the key after this store.
            entry.granted.store(allowed, Ordering::Relaxed);
            allowed
        });
        granted.unwrap_or(0)
    }

    /// The address of the host's memory of a key of this context, if it is still exported and the key claims no more than was
    /// given.
    pub fn locate_own(&self, key: &Rkey) -> Option<*mut u8> {
        let length = usize::try_from(key.length).ok()?;
        let rights = key.uses & (READ | WRITE);
        let here = self.by_id.with(key.region, |entry| {
            let r = &entry.exported;
            let granted = entry.granted.load(Ordering::Relaxed);
            let given = within(r.address, r.length, key.address, length)
                && rights & !granted == 0
                && r.kind == UCS_MEMORY_TYPE_HOST;
            given.then(|| (key.address as *mut u8).wrapping_offset(r.delta))
        });
        here.flatten()
    }
}

/// A worker's copy of the list of mappable regions.
#[derive(Default)]
pub struct View {
    version: Cell<u64>,
    mappable: RefCell<Vec<Mappable>>,
}

impl View {
    /// The packed key of a region that contains `[address, address + length)`, and that peers on this host can map with
    /// `right`.
    pub fn key_of(
        &self,
        regions: &Regions,
        address: u64,
        length: usize,
        right: u8,
    ) -> Option<Arc<[u8]>> {
        // Acquire: pairs with the Release of the changes.
        if regions.version.load(Ordering::Acquire) != self.version.get() {
            self.renew(regions);
        }
        let all = self.mappable.borrow();
        let behind = all.partition_point(|r| r.start <= address);
        let region = all.get(behind.checked_sub(1)?)?;
        let holds = within(region.start, region.length, address, length);
        (holds && region.rights & right == right).then(|| Arc::clone(&region.key))
    }

    #[cold]
    fn renew(&self, regions: &Regions) {
        let all = regions.mappable.lock();
        // Under the lock no change is half done.
        self.version.set(regions.version.load(Ordering::Relaxed));
        *self.mappable.borrow_mut() = all.values().cloned().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(address: u64, length: usize, rights: u8, internal: bool) -> Exported {
        Exported {
            address,
            length,
            delta: 16,
            rights,
            foreign: false,
            internal,
            kind: UCS_MEMORY_TYPE_HOST,
        }
    }

    #[test]
    fn memory_of_the_application_is_reached_as_it_is_mapped() {
        static READ_ONLY: [u8; 64] = [7; 64];
        let regions = Regions::default();
        let start = READ_ONLY.as_ptr() as u64;
        let mapped = Exported {
            delta: 0,
            foreign: true,
            ..region(start, READ_ONLY.len(), READ | WRITE, false)
        };
        let id = regions.insert(mapped);
        let reach = |right| regions.with(id, start, 64, right, |at| at as u64);
        assert!(reach(READ).is_err(), "no key was given");
        assert_eq!(regions.grant(id), READ);
        assert_eq!(reach(READ), Ok(start));
        assert!(reach(WRITE).is_err() && reach(READ | WRITE).is_err());
    }

    #[test]
    fn published_regions_are_found_by_address_as_long_as_they_are_there() {
        let regions = Regions::default();
        let [outer, inner, other] = [
            (1000, 1000, READ),
            (1200, 10, READ | WRITE),
            (3000, 8, READ),
        ]
        .map(|(start, length, rights)| regions.insert(region(start, length, rights, false)));
        // Some before the first question, some after it, some before and gone.
        let gone = regions.insert(region(1000, 10, READ, false));
        regions.publish(gone);
        regions.remove(gone);
        regions.publish(outer);
        assert_eq!(regions.published_at(3000, 8, READ), None);
        for id in [inner, other] {
            regions.publish(id);
        }
        for (address, length, right, id) in [
            (1000, 1000, READ, Some(outer)),
            (1999, 1, READ, Some(outer)),
            (1999, 2, READ, None),
            (1000, 1, WRITE, None),
            (1205, 5, WRITE, Some(inner)),
            (1205, 6, WRITE, None),
            (1205, 6, READ, Some(outer)),
            (1205, usize::MAX, READ, None),
            (u64::MAX, 1, READ, None),
            (999, 1, READ, None),
            (3000, 8, READ, Some(other)),
            (2999, 8, READ, None),
        ] {
            let found = regions.published_at(address, length, right);
            assert_eq!(found, id, "{length} bytes at {address}");
        }
        regions.remove(outer);
        assert_eq!(regions.published_at(1000, 1, READ), None);
        assert_eq!(regions.published_at(1205, 5, WRITE), Some(inner));
        regions.remove(inner);
        regions.remove(other);
        assert_eq!(regions.published_at(3000, 8, READ), None);
        assert_eq!(regions.published.lock().as_ref().unwrap().longest, 0);
    }

    #[test]
    fn only_what_is_exported_is_given_and_only_while_it_is() {
        let regions = Regions::default();
        let id = regions.insert(region(1000, 100, READ, false));
        let own = regions.insert(region(5000, 8, READ, true));
        let at = |id, address, length, right| {
            regions
                .with(id, address, length, right, |p| p as usize)
                .ok()
        };
        assert_eq!(at(id, 1000, 100, READ), Some(1016));
        assert_eq!(at(id, 1099, 1, READ), Some(1115));
        assert_eq!(at(id, 1100, 0, READ), Some(1116));
        for (address, length) in [(999, 1), (1000, 101), (1100, 1), (1050, usize::MAX), (0, 0)] {
            assert_eq!(at(id, address, length, READ), None);
        }
        assert_eq!(at(id, 1000, 1, WRITE), None);
        assert_eq!(at(id, 1000, 1, READ | WRITE), None);
        assert_eq!(at(own, 5000, 8, READ), Some(5016));
        assert!(regions.any());
        regions.remove(id);
        regions.remove(id);
        assert_eq!(at(id, 1000, 1, READ), None);
        assert!(!regions.any());
    }

    #[test]
    fn a_key_of_this_context_reaches_what_was_given_and_no_more() {
        let regions = Regions::default();
        let id = regions.insert(region(1000, 100, READ, false));
        let key = Rkey {
            context: 1,
            region: id,
            address: 1000,
            length: 100,
            mem_type: 0,
            uses: READ,
        };
        assert!(regions.locate_own(&key).is_some());
        let forged = [
            Rkey { length: 101, ..key },
            Rkey {
                length: 1 << 46,
                ..key
            },
            Rkey {
                length: u64::MAX,
                ..key
            },
            Rkey {
                address: 999,
                ..key
            },
            Rkey {
                uses: READ | WRITE,
                ..key
            },
            Rkey {
                region: id ^ 1 << 40,
                ..key
            },
        ];
        assert!(forged.iter().all(|key| regions.locate_own(key).is_none()));
        regions.remove(id);
        assert!(regions.locate_own(&key).is_none());
    }

    #[test]
    fn views_follow_the_changes() {
        let (regions, view) = (Regions::default(), View::default());
        let key = |address, length, right| view.key_of(&regions, address, length, right);
        let ids: Vec<u64> = [(3000, b"c"), (1000, b"a"), (2000, b"b")]
            .into_iter()
            .map(|(start, key)| {
                let made = region(start, 1000, READ, false);
                let id = regions.insert(made);
                regions.allow_mapping(id, &made, key);
                id
            })
            .collect();
        let again = regions.insert(region(1000, 10, READ, false));
        regions.remove(again);
        assert_eq!(key(999, 1, READ), None);
        assert_eq!(key(1000, 1000, READ).as_deref(), Some(&b"a"[..]));
        assert_eq!(key(2999, 1, READ).as_deref(), Some(&b"b"[..]));
        assert_eq!(key(2999, 2, READ), None);
        assert_eq!(key(3999, 1, WRITE), None);
        assert_eq!(key(4000, 1, READ), None);
        regions.remove(ids[2]);
        assert_eq!(key(2999, 1, READ), None);
        assert_eq!(key(3000, 1, READ).as_deref(), Some(&b"c"[..]));
    }
}
