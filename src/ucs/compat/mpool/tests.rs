//! Pools under random calls, with every layout of chunks and each way to fail.

use super::*;
use crate::c::{UCS_ERR_NO_MEMORY, UCS_OK, ucs_status_t};
use crate::ucs::test_rng::TestRng;
use core::cell::RefCell;
use std::collections::BTreeSet;

/// What the functions below saw, in this thread's test.
#[derive(Default)]
struct Seen {
    chunks: BTreeSet<usize>,
    initialised: BTreeSet<usize>,
    no_memory: bool,
    described: usize,
}

thread_local! {
    static SEEN: RefCell<Seen> = RefCell::default();
}

unsafe extern "C" fn chunk_alloc(
    _mp: *mut ucs_mpool_t,
    size_p: *mut usize,
    chunk_p: *mut *mut c_void,
) -> ucs_status_t {
    if SEEN.with_borrow(|seen| seen.no_memory) {
        return UCS_ERR_NO_MEMORY;
    }
    // SAFETY: the pool's argument.
    let chunk = heap_chunk(unsafe { *size_p }).unwrap();
    SEEN.with_borrow_mut(|seen| seen.chunks.insert(chunk.addr()));
    // SAFETY: as above.
    unsafe { chunk_p.write(chunk) };
    UCS_OK
}

unsafe extern "C" fn chunk_release(_mp: *mut ucs_mpool_t, chunk: *mut c_void) {
    assert!(SEEN.with_borrow_mut(|seen| seen.chunks.remove(&chunk.addr())));
    // SAFETY: `chunk_alloc` made it.
    unsafe { heap::free(chunk) };
}

unsafe extern "C" fn obj_init(_mp: *mut ucs_mpool_t, object: *mut c_void, chunk: *mut c_void) {
    SEEN.with_borrow_mut(|seen| {
        assert!(seen.chunks.contains(&chunk.addr()));
        assert!(seen.initialised.insert(object.addr()));
    });
}

unsafe extern "C" fn obj_cleanup(_mp: *mut ucs_mpool_t, object: *mut c_void) {
    assert!(SEEN.with_borrow_mut(|seen| seen.initialised.remove(&object.addr())));
}

unsafe extern "C" fn obj_str(
    _mp: *mut ucs_mpool_t,
    object: *mut c_void,
    buffer: *mut ucs_string_buffer_t,
) {
    SEEN.with_borrow_mut(|seen| {
        assert!(seen.initialised.contains(&object.addr()));
        seen.described += 1;
    });
    // SAFETY: the pool's buffer.
    unsafe { string_buffer::append(&mut *buffer, b"an object") }.unwrap();
}

static OPS: ucs_mpool_ops = ucs_mpool_ops {
    chunk_alloc: Some(chunk_alloc),
    chunk_release: Some(chunk_release),
    obj_init: Some(obj_init),
    obj_cleanup: Some(obj_cleanup),
    obj_str: Some(obj_str),
};

fn params(elem_size: usize, alignment: usize, align_offset: usize) -> ucs_mpool_params {
    ucs_mpool_params {
        elem_size,
        alignment,
        align_offset,
        ops: &OPS,
        name: c"test".as_ptr(),
        ..defaults()
    }
}

const NONE: ucs_mpool_t = ucs_mpool_t {
    freelist: null_mut(),
    data: null_mut(),
};

#[test]
fn objects_are_aligned_apart_and_as_many_as_allowed() {
    for seed in 1..200 {
        let rng = TestRng::new(seed);
        SEEN.take();
        let size = 1 + rng.below(200);
        let alignment = 1usize << rng.below(9);
        let offset = rng.below(size + 1);
        let per_chunk = 1 + rng.below(20) as c_uint;
        let most = per_chunk + rng.below(50) as c_uint;
        let made = ucs_mpool_params {
            elems_per_chunk: per_chunk,
            max_elems: most,
            grow_factor: 1.0 + rng.below(4) as f64 / 2.0,
            max_chunk_size: CHUNK + alignment + (size + HEAD + alignment) * (1 + rng.below(9)),
            ..params(size, alignment, offset)
        };
        let mut pool = NONE;
        let mp = &raw mut pool;
        // SAFETY: a pool of this test, here and below.
        unsafe { init(&made, mp) }.unwrap();
        // The oracle: the set of ranges in use.
        let mut held: Vec<*mut c_void> = Vec::new();
        for _ in 0..400 {
            if rng.below(3) > 0 {
                // SAFETY: as above.
                let object = unsafe { get(mp) };
                if object.is_null() {
                    assert_eq!(held.len(), most as usize, "seed {seed}");
                    // SAFETY: as above.
                    assert!(unsafe { is_empty(mp) });
                    continue;
                }
                assert_eq!((object.addr() + offset) % alignment, 0, "seed {seed}");
                for other in &held {
                    assert!(
                        object.addr().abs_diff(other.addr()) >= size + HEAD,
                        "seed {seed}"
                    );
                }
                // SAFETY: the object's bytes.
                unsafe { object.cast::<u8>().write_bytes(0xa5, size) };
                held.push(object);
            } else if !held.is_empty() {
                let object = held.swap_remove(rng.below(held.len()));
                // SAFETY: it came from the pool.
                unsafe { put(object) };
                assert_eq!(
                    // SAFETY: as above.
                    unsafe { get(mp) },
                    object,
                    "the last one back is the first one out"
                );
                // SAFETY: as above.
                unsafe { put(object) };
            }
        }
        for object in held.drain(..) {
            // SAFETY: it came from the pool.
            unsafe { put(object) };
        }
        // SAFETY: the pool's end.
        unsafe { cleanup(mp, true) };
        SEEN.with_borrow(|seen| {
            assert!(
                seen.chunks.is_empty() && seen.initialised.is_empty(),
                "seed {seed}"
            );
            assert_eq!(seen.described, 0);
        });
    }
}

#[test]
fn an_object_that_was_not_given_back_is_described() {
    SEEN.take();
    let mut pool = NONE;
    let mp = &raw mut pool;
    let made = ucs_mpool_params {
        elems_per_chunk: 4,
        priv_size: 40,
        ..params(100, 64, 0)
    };
    // SAFETY: a pool of this test, here and below.
    unsafe { init(&made, mp) }.unwrap();
    // SAFETY: the client's part of the pool.
    unsafe { private(mp).cast::<u8>().write_bytes(1, 40) };
    // SAFETY: as above.
    assert_eq!(unsafe { CStr::from_ptr(name(mp)) }, c"test");
    // SAFETY: as above.
    assert!(!unsafe { get(mp) }.is_null());
    // SAFETY: as above.
    unsafe { cleanup(mp, true) };
    SEEN.with_borrow(|seen| assert_eq!((seen.described, seen.chunks.len()), (1, 0)));
}

#[test]
fn without_memory_there_is_no_object_and_later_there_is() {
    SEEN.take();
    let mut pool = NONE;
    let mp = &raw mut pool;
    // SAFETY: a pool of this test, here and below.
    unsafe { init(&params(8, 1, 0), mp) }.unwrap();
    SEEN.with_borrow_mut(|seen| seen.no_memory = true);
    // SAFETY: as above.
    assert!(unsafe { get(mp) }.is_null());
    SEEN.with_borrow_mut(|seen| seen.no_memory = false);
    // SAFETY: as above.
    let object = unsafe { get(mp) };
    assert!(!object.is_null());
    // SAFETY: as above.
    unsafe { put(object) };
    // SAFETY: as above.
    unsafe { cleanup(mp, true) };
}

#[test]
fn what_cannot_be_a_pool_is_refused() {
    let wrong = [
        params(0, 1, 0),
        params(8, 3, 0),
        params(8, 0, 0),
        params(8, 8, 9),
        params(usize::MAX, 8, 0),
        ucs_mpool_params {
            elems_per_chunk: 0,
            ..params(8, 8, 0)
        },
        ucs_mpool_params {
            max_elems: 0,
            ..params(8, 8, 0)
        },
        ucs_mpool_params {
            grow_factor: 0.5,
            ..params(8, 8, 0)
        },
        ucs_mpool_params {
            grow_factor: f64::NAN,
            ..params(8, 8, 0)
        },
        ucs_mpool_params {
            max_chunk_size: 8,
            ..params(8, 8, 0)
        },
        ucs_mpool_params {
            priv_size: usize::MAX,
            ..params(8, 8, 0)
        },
        ucs_mpool_params {
            ops: core::ptr::null(),
            ..params(8, 8, 0)
        },
    ];
    for params in &wrong {
        let mut pool = NONE;
        assert_eq!(
            // SAFETY: a pool of this test.
            unsafe { init(params, &raw mut pool) },
            Err(Status::INVALID_PARAM)
        );
    }
}

#[test]
fn chunks_of_pages_can_be_written_and_freed() {
    for alloc in [map_chunk, huge_chunk] {
        let (chunk, len) = alloc(10_000).unwrap();
        assert!(len >= 10_000 && chunk.addr().is_multiple_of(16));
        // SAFETY: its bytes.
        unsafe { chunk.cast::<u8>().write_bytes(7, len) };
        // SAFETY: given up.
        unsafe { unmap_chunk(chunk) };
        assert_eq!(alloc(usize::MAX).unwrap_err(), Status::NO_MEMORY);
    }
}
