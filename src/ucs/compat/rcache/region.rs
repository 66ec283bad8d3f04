//! Regions in the client's memory layout, and what a client says of a cache.
//!
//! 1.17 put the alignment into a region, before its other members, and took it out of the parameters. A cache keeps to
//! the layout of the client that made it.

use crate::c::{
    ucs_rcache_ops, ucs_rcache_params, ucs_rcache_region, ucs_rcache_region_t, ucs_rcache_t,
    ucs_status_t,
};
use crate::sys::heap;
use core::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};

const REGISTERED: u8 = 1 << 0;
const IN_TABLE: u8 = 1 << 1;
const IDLE: u8 = 1 << 0;
/// Bytes by which members behind the alignment lie lower before 1.17.
const OLD_SHIFT: usize = size_of::<usize>();

type Register = unsafe extern "C" fn(
    *mut c_void,
    *mut ucs_rcache_t,
    *mut c_void,
    *mut ucs_rcache_region_t,
    u16,
) -> ucs_status_t;
type Deregister = unsafe extern "C" fn(*mut c_void, *mut ucs_rcache_t, *mut ucs_rcache_region_t);
type Merge =
    unsafe extern "C" fn(*mut c_void, *mut ucs_rcache_t, *mut c_void, *mut ucs_rcache_region_t);
type Dump = unsafe extern "C" fn(
    *mut c_void,
    *mut ucs_rcache_t,
    *mut ucs_rcache_region_t,
    *mut c_char,
    usize,
);

/// The client's functions.
#[derive(Clone, Copy)]
pub struct Operations {
    pub mem_reg: Option<Register>,
    pub mem_dereg: Option<Deregister>,
    pub merge: Option<Merge>,
    pub dump_region: Option<Dump>,
}

/// How a cache is made.
#[derive(Clone, Copy)]
pub struct Params {
    pub region_size: usize,
    pub events: u32,
    pub event_priority: c_int,
    pub ops: Operations,
    pub context: *mut c_void,
    pub max_regions: usize,
    pub max_size: usize,
    pub max_unreleased: usize,
    /// An event is settled before the call that makes it goes on.
    pub synchronous: bool,
    pub purge_on_fork: bool,
    /// The client was compiled before 1.17.
    pub old: bool,
    /// The alignment that such a client states for all ranges.
    pub alignment: usize,
}

/// Priority of the handler of memory events where a client says nothing.
const DEFAULT_PRIORITY: c_int = 1000;
const FLAG_PURGE_ON_FORK: c_int = 1 << 1;
const FLAG_SYNC_EVENTS: c_int = 1 << 2;

/// Parameters without events and without limits.
pub fn defaults() -> ucs_rcache_params {
    ucs_rcache_params {
        region_struct_size: size_of::<ucs_rcache_region>(),
        ucm_events: 0,
        ucm_event_priority: DEFAULT_PRIORITY,
        ops: core::ptr::null(),
        context: core::ptr::null_mut(),
        flags: 0,
        max_regions: c_ulong::MAX,
        max_size: usize::MAX,
        max_unreleased: usize::MAX,
    }
}

/// The parameters before 1.17.
#[repr(C)]
#[derive(Clone, Copy)]
struct OldParams {
    region_struct_size: usize,
    alignment: usize,
    max_alignment: usize,
    ucm_events: c_int,
    ucm_event_priority: c_int,
    ops: *const OldOps,
    context: *mut c_void,
    flags: c_int,
    max_regions: usize,
    max_size: usize,
    max_unreleased: usize,
}
const _: () = assert!(size_of::<OldParams>() == 80);

/// The functions before 1.18.
#[repr(C)]
#[derive(Clone, Copy)]
struct OldOps {
    mem_reg: Option<Register>,
    mem_dereg: Option<Deregister>,
    dump_region: Option<Dump>,
}

impl Params {
    /// What a client of any release says. The third word is a power of two before 1.17, and a pointer since.
    ///
    /// # Safety
    /// `params` leads to the parameters of one release, whose functions stay.
    pub unsafe fn read(params: *const ucs_rcache_params) -> Params {
        // SAFETY: both layouts have a third word.
        let third = unsafe { params.cast::<usize>().add(2).read() };
        if third.is_power_of_two() {
            // SAFETY: the caller's promise.
            let old = unsafe { params.cast::<OldParams>().read() };
            // SAFETY: as above.
            let ops = unsafe { old.ops.read() };
            return Params {
                region_size: old.region_struct_size,
                events: old.ucm_events as u32,
                event_priority: old.ucm_event_priority,
                ops: Operations {
                    mem_reg: ops.mem_reg,
                    mem_dereg: ops.mem_dereg,
                    merge: None,
                    dump_region: ops.dump_region,
                },
                context: old.context,
                max_regions: old.max_regions,
                max_size: old.max_size,
                max_unreleased: old.max_unreleased,
                synchronous: old.flags & FLAG_SYNC_EVENTS != 0,
                purge_on_fork: old.flags & FLAG_PURGE_ON_FORK != 0,
                old: true,
                alignment: old.alignment,
            };
        }
        // SAFETY: the caller's promise.
        let new = unsafe { params.read() };
        // SAFETY: as above.
        let ops: ucs_rcache_ops = unsafe { new.ops.read() };
        Params {
            region_size: new.region_struct_size,
            events: new.ucm_events as u32,
            event_priority: new.ucm_event_priority,
            ops: Operations {
                mem_reg: ops.mem_reg,
                mem_dereg: ops.mem_dereg,
                merge: ops.merge,
                dump_region: ops.dump_region,
            },
            context: new.context,
            max_regions: new.max_regions as usize,
            max_size: new.max_size,
            max_unreleased: new.max_unreleased,
            synchronous: new.flags & FLAG_SYNC_EVENTS != 0,
            purge_on_fork: new.flags & FLAG_PURGE_ON_FORK != 0,
            old: false,
            alignment: 0,
        }
    }

    /// Bytes that a region has without the client's part.
    pub fn least_size(&self) -> usize {
        size_of::<ucs_rcache_region>() - if self.old { OLD_SHIFT } else { 0 }
    }
}

/// A region: memory of the library, with the client's part behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    at: *mut ucs_rcache_region,
    old: bool,
}

impl Region {
    /// A region with one user, in the table.
    pub fn new(
        params: &Params,
        (start, end): (usize, usize),
        prot: c_int,
        alignment: usize,
    ) -> Option<Region> {
        let at: *mut ucs_rcache_region = heap::calloc(1, params.region_size).cast();
        if at.is_null() {
            return None;
        }
        let region = Region {
            at,
            old: params.old,
        };
        // SAFETY: members of a new region, here and below.
        unsafe { (*at).super_.start = start as _ };
        // SAFETY: as above.
        unsafe { (*at).super_.end = end as _ };
        if !params.old {
            // SAFETY: as above; older regions have none.
            unsafe { (*at).alignment = alignment };
        }
        region.set(offset_of!(ucs_rcache_region, refcount), 1u32);
        region.set(offset_of!(ucs_rcache_region, prot), prot as u8);
        region.set(offset_of!(ucs_rcache_region, flags), IN_TABLE);
        Some(region)
    }

    /// The region at an address that C has.
    ///
    /// # Safety
    /// It is a live region of a cache of that layout.
    pub unsafe fn of(at: *mut ucs_rcache_region, old: bool) -> Region {
        Region { at, old }
    }

    /// Frees its memory.
    ///
    /// # Safety
    /// Nobody has it.
    pub unsafe fn free(self) {
        // SAFETY: `new` allocated it.
        unsafe { heap::free(self.at.cast()) };
    }

    pub fn raw(self) -> *mut ucs_rcache_region {
        self.at
    }

    fn member<T>(self, offset: usize) -> *mut T {
        let shift = if self.old { OLD_SHIFT } else { 0 };
        self.at.wrapping_byte_add(offset - shift).cast()
    }

    fn set<T>(self, offset: usize, value: T) {
        // SAFETY: a member behind the alignment; the lock of the cache guards it.
        unsafe { self.member::<T>(offset).write(value) };
    }

    fn get<T: Copy>(self, offset: usize) -> T {
        // SAFETY: as above.
        unsafe { self.member::<T>(offset).read() }
    }

    pub fn start(self) -> usize {
        // SAFETY: a live region.
        unsafe { (*self.at).super_.start as usize }
    }

    pub fn end(self) -> usize {
        // SAFETY: a live region.
        unsafe { (*self.at).super_.end as usize }
    }

    pub fn prot(self) -> c_int {
        c_int::from(self.get::<u8>(offset_of!(ucs_rcache_region, prot)))
    }

    fn users(&self) -> &AtomicU32 {
        let count = self.member::<c_uint>(offset_of!(ucs_rcache_region, refcount));
        // SAFETY: a live region; clients look at the count, and only the library changes it.
        unsafe { AtomicU32::from_ptr(count) }
    }

    /// One user more.
    pub fn acquire(self) {
        self.users().fetch_add(1, Ordering::Relaxed);
    }

    /// One user less; how many are left.
    pub fn release(self) -> u32 {
        self.users().fetch_sub(1, Ordering::AcqRel) - 1
    }

    pub fn set_status(self, code: ucs_status_t) {
        self.set(offset_of!(ucs_rcache_region, status), code);
    }

    /// It is registered, and the table counts as a user of it.
    pub fn registered(self) {
        let flags: u8 = self.get(offset_of!(ucs_rcache_region, flags));
        self.set(offset_of!(ucs_rcache_region, flags), flags | REGISTERED);
        self.acquire();
    }

    pub fn left_table(self) {
        let flags: u8 = self.get(offset_of!(ucs_rcache_region, flags));
        self.set(offset_of!(ucs_rcache_region, flags), flags & !IN_TABLE);
    }

    pub fn is_in_table(self) -> bool {
        self.get::<u8>(offset_of!(ucs_rcache_region, flags)) & IN_TABLE != 0
    }

    /// Its number among the idle ones.
    pub fn idle(self) -> Option<u64> {
        let flags: u8 = self.get(offset_of!(ucs_rcache_region, lru_flags));
        (flags & IDLE != 0).then(|| self.get(offset_of!(ucs_rcache_region, r#priv)))
    }

    pub fn set_idle(self, number: Option<u64>) {
        self.set(
            offset_of!(ucs_rcache_region, lru_flags),
            if number.is_some() { IDLE } else { 0 },
        );
        self.set(offset_of!(ucs_rcache_region, r#priv), number.unwrap_or(0));
    }
}
