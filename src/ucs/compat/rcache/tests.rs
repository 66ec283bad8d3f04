//! A cache against a plain model, by random calls.

use super::*;
use crate::c::{
    UCS_ERR_IO_ERROR, UCS_INPROGRESS, ucs_rcache_region, ucs_rcache_region_t, ucs_rcache_t,
    ucs_status_t,
};
use crate::ucs::test_rng::TestRng;
use std::collections::BTreeSet;

const PAGE: usize = 4096;
const PAGES: usize = 40;

/// A region with the client's part.
#[repr(C)]
struct Mine {
    base: ucs_rcache_region,
    id: usize,
}

/// What the client's functions saw.
#[derive(Default)]
struct World {
    registered: usize,
    ended: BTreeSet<usize>,
    merged: usize,
    /// Each registration of so many fails.
    fails_every: usize,
    tries: usize,
    last_flags: u16,
    completed: usize,
}

type Shared = RefCell<World>;

unsafe extern "C" fn mem_reg(
    context: *mut c_void,
    _cache: *mut ucs_rcache_t,
    _arg: *mut c_void,
    region: *mut ucs_rcache_region_t,
    flags: u16,
) -> ucs_status_t {
    // SAFETY: the tests' context.
    let mut world = unsafe { &*context.cast::<Shared>() }.borrow_mut();
    world.tries += 1;
    world.last_flags = flags;
    if world.fails_every != 0 && world.tries.is_multiple_of(world.fails_every) {
        return UCS_ERR_IO_ERROR;
    }
    world.registered += 1;
    // SAFETY: the cache allocates as much as the tests ask for.
    unsafe { (*region.cast::<Mine>()).id = world.registered };
    UCS_OK
}

unsafe extern "C" fn mem_dereg(
    context: *mut c_void,
    _cache: *mut ucs_rcache_t,
    region: *mut ucs_rcache_region_t,
) {
    // SAFETY: as above.
    let mut world = unsafe { &*context.cast::<Shared>() }.borrow_mut();
    // SAFETY: as above.
    let id = unsafe { (*region.cast::<Mine>()).id };
    // SAFETY: as above.
    assert_eq!(unsafe { (*region).refcount }, 0);
    assert!(world.ended.insert(id), "{id} ends twice");
}

unsafe extern "C" fn merge(
    context: *mut c_void,
    _cache: *mut ucs_rcache_t,
    _arg: *mut c_void,
    _region: *mut ucs_rcache_region_t,
) {
    // SAFETY: as above.
    unsafe { &*context.cast::<Shared>() }.borrow_mut().merged += 1;
}

unsafe extern "C" fn completed(context: *mut c_void) {
    // SAFETY: as above.
    unsafe { &*context.cast::<Shared>() }.borrow_mut().completed += 1;
}

fn params(world: &Shared) -> Params {
    Params {
        region_size: size_of::<Mine>(),
        events: 0,
        event_priority: 0,
        ops: Operations {
            mem_reg: Some(mem_reg),
            mem_dereg: Some(mem_dereg),
            merge: Some(merge),
            dump_region: None,
        },
        context: core::ptr::from_ref(world).cast_mut().cast(),
        max_regions: usize::MAX,
        max_size: usize::MAX,
        max_unreleased: usize::MAX,
        synchronous: false,
        purge_on_fork: false,
        old: false,
        alignment: 0,
    }
}

fn cache(params: Params) -> Arc<Cache> {
    // SAFETY: functions and context of these tests.
    unsafe { Cache::create(params, "test") }.unwrap()
}

fn get(cache: &Cache, start: usize, len: usize, prot: c_int) -> Result<Region> {
    // SAFETY: the functions look at no argument.
    unsafe { cache.get(start, len, 1, prot, core::ptr::null_mut()) }
}

fn id(region: Region) -> usize {
    // SAFETY: a live region of these tests.
    unsafe { (*region.raw().cast::<Mine>()).id }
}

/// A registration as the model has it.
#[derive(Clone, Debug)]
struct Known {
    start: usize,
    end: usize,
    prot: c_int,
    users: usize,
    in_table: bool,
}

fn overlapping(known: &BTreeMap<usize, Known>, start: usize, end: usize) -> Vec<usize> {
    let all = known.iter();
    all.filter(|(_, k)| k.in_table && k.start < end && k.end > start)
        .map(|(id, _)| *id)
        .collect()
}

fn leave(known: &mut BTreeMap<usize, Known>, ids: &[usize]) {
    for id in ids {
        known.get_mut(id).unwrap().in_table = false;
    }
    known.retain(|_, k| k.in_table || k.users > 0);
}

#[test]
fn random_calls_do_what_a_model_says() {
    let rng = TestRng::new(26);
    for round in 0..30 {
        let world = Shared::default();
        let cache = cache(params(&world));
        let mut known: BTreeMap<usize, Known> = BTreeMap::new();
        let mut held: Vec<Region> = Vec::new();
        let mut completions = (0, BTreeSet::new());
        for _ in 0..400 {
            let (first, count) = (rng.below(PAGES) + 1, rng.below(6) + 1);
            let (start, end) = (first * PAGE, (first + count) * PAGE);
            match rng.below(10) {
                0..4 => {
                    let prot = rng.below(3) as c_int + 1;
                    let before = overlapping(&known, start, end);
                    let region = get(&cache, start + 5, end - start - 9, prot).unwrap();
                    // Start and end are aligned to 16 bytes.
                    let hit = before.iter().find(|id| {
                        let k = &known[id];
                        k.start <= start && k.end >= end && k.prot & prot == prot
                    });
                    if let Some(hit) = hit {
                        assert_eq!(id(region), *hit);
                        known.get_mut(hit).unwrap().users += 1;
                    } else {
                        let (mut start, mut end, mut prot, mut gone) =
                            (start, end, prot, Vec::new());
                        loop {
                            let more = overlapping(&known, start, end);
                            if more.is_empty() {
                                break;
                            }
                            for id in &more {
                                let k = &known[id];
                                (start, end) = (start.min(k.start), end.max(k.end));
                                prot |= k.prot;
                            }
                            leave(&mut known, &more);
                            gone.extend(more);
                        }
                        assert_eq!((region.start(), region.end()), (start, end));
                        assert_eq!(region.prot(), prot);
                        assert_eq!(world.borrow().last_flags, u16::from(!gone.is_empty()));
                        let new = Known {
                            start,
                            end,
                            prot,
                            users: 1,
                            in_table: true,
                        };
                        assert!(known.insert(id(region), new).is_none());
                    }
                    held.push(region);
                }
                4..8 if !held.is_empty() => {
                    let region = held.swap_remove(rng.below(held.len()));
                    known.get_mut(&id(region)).unwrap().users -= 1;
                    cache.put(region);
                    leave(&mut known, &[]);
                }
                8 if !held.is_empty() => {
                    let region = held[rng.below(held.len())];
                    let context = core::ptr::from_ref(&world).cast_mut().cast();
                    cache.invalidate_used(region, Some((completed, context)));
                    leave(&mut known, &[id(region)]);
                    completions.0 += 1;
                    completions.1.insert(id(region));
                }
                9 => {
                    cache.pending.note(start, end);
                    // Settled by the next call.
                    let lock = cache.state.lock();
                    cache.settle(&lock);
                    let stale = overlapping(&known, start, end);
                    leave(&mut known, &stale);
                }
                _ => {}
            }
            let world = world.borrow();
            let alive = (1..=world.registered).filter(|id| !world.ended.contains(id));
            assert_eq!(
                alive.collect::<Vec<_>>(),
                known.keys().copied().collect::<Vec<_>>()
            );
        }
        for region in held.drain(..) {
            cache.put(region);
        }
        assert_eq!(world.borrow().completed, completions.0, "round {round}");
        Cache::destroy(cache);
        let world = world.borrow();
        assert_eq!(world.ended.len(), world.registered);
    }
}

#[test]
fn a_failed_merge_is_tried_again_alone() {
    let world = Shared::default();
    let cache = cache(params(&world));
    let first = get(&cache, PAGE, PAGE, 1).unwrap();
    world.borrow_mut().fails_every = 2;
    let alone = get(&cache, PAGE + 512, PAGE, 1).unwrap();
    assert_eq!((alone.start(), alone.end()), (PAGE + 512, 2 * PAGE + 512));
    assert_eq!((world.borrow().last_flags, world.borrow().merged), (0, 1));
    world.borrow_mut().fails_every = 1;
    let failed = get(&cache, 9 * PAGE, PAGE, 1);
    assert_eq!(failed.map(id), Err(Status::IO_ERROR));
    for region in [first, alone] {
        cache.put(region);
    }
    Cache::destroy(cache);
    assert_eq!(world.borrow().ended.len(), 2);
}

#[test]
fn the_longest_idle_ends_first() {
    let world = Shared::default();
    let cache = cache(Params {
        max_regions: 2,
        max_size: 10 * PAGE,
        ..params(&world)
    });
    let regions: Vec<_> = (1..=3)
        .map(|i| get(&cache, i * 8 * PAGE, PAGE, 1).unwrap())
        .collect();
    cache.put(regions[1]);
    cache.put(regions[0]);
    // One too many: the second was given back first.
    let fourth = get(&cache, 64 * PAGE, PAGE, 1).unwrap();
    assert_eq!(world.borrow().ended, BTreeSet::from([1, 2]));
    cache.put(fourth);
    cache.put(regions[2]);
    let large = get(&cache, 80 * PAGE, 10 * PAGE, 1).unwrap();
    assert_eq!(world.borrow().ended, BTreeSet::from([1, 2, 3, 4]));
    cache.put(large);
    Cache::destroy(cache);
}

#[test]
fn no_range_is_refused() {
    let world = Shared::default();
    let cache = cache(params(&world));
    for (start, len) in [(PAGE, 0), (usize::MAX - 5, 100), (usize::MAX - 5, 3)] {
        assert_eq!(
            get(&cache, start, len, 1).map(id),
            Err(Status::INVALID_PARAM)
        );
    }
    let small = Params {
        region_size: size_of::<ucs_rcache_region>() - 1,
        ..params(&world)
    };
    // SAFETY: as in `cache`.
    assert!(unsafe { Cache::create(small, "small") }.is_err());
    Cache::destroy(cache);
}

#[test]
fn old_clients_have_their_layout() {
    let world = Shared::default();
    let old = Params {
        old: true,
        alignment: PAGE,
        ops: Operations {
            merge: None,
            ..params(&world).ops
        },
        ..params(&world)
    };
    assert_eq!(old.least_size(), size_of::<ucs_rcache_region>() - 8);
    let region = Region::new(&old, (PAGE, 2 * PAGE), 3, PAGE).unwrap();
    region.set_status(UCS_INPROGRESS);
    // SAFETY: memory of the region, which is larger; refcount, status and prot lie 8 bytes lower.
    let at = |offset| unsafe { region.raw().cast::<u8>().add(offset - 8).read() };
    assert_eq!(at(core::mem::offset_of!(ucs_rcache_region, refcount)), 1);
    assert_eq!(at(core::mem::offset_of!(ucs_rcache_region, status)), 1);
    assert_eq!(at(core::mem::offset_of!(ucs_rcache_region, prot)), 3);
    // SAFETY: nobody else has it.
    unsafe { region.free() };
}
