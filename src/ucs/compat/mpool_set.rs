//! Pools for objects of several sizes, `ucs/datastruct/mpool_set.h`.
//!
//! Entry `31 - n` of the map leads to the smallest pool for objects of up to `1 << n` bytes: inline code of clients
//! counts leading zeros.

use crate::c::{ucs_mpool_ops, ucs_mpool_params, ucs_mpool_set, ucs_mpool_t};
use crate::sys::heap;
use crate::ucs::compat::mpool;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use core::ffi::{c_char, c_uint, c_void};
use core::ptr::null_mut;

/// The largest object.
const MAX_SIZE: usize = 1 << 30;
/// The bit for a largest size that is no power of two.
const ODD_SIZE: u32 = 1 << 31;

/// How a set is made.
pub struct Params<'s> {
    /// Powers of two.
    pub sizes: &'s [usize],
    /// The largest object; larger sizes are left out.
    pub max_size: usize,
    /// Bytes for the client.
    pub priv_size: usize,
    /// Bytes that each object has beside its size.
    pub priv_elem_size: usize,
    pub align_offset: usize,
    pub alignment: usize,
    pub elems_per_chunk: c_uint,
    /// Of each pool.
    pub max_elems: c_uint,
    pub ops: *const ucs_mpool_ops,
    pub name: *const c_char,
}

/// The sizes of a set: its bitmap and what its bits stand for, smallest first.
fn plan(sizes: &[usize], max_size: usize) -> Result<(u32, Vec<usize>)> {
    if sizes.is_empty() || max_size == 0 || max_size > MAX_SIZE {
        ucs_error!(
            "memory pool set: {} sizes up to {max_size} bytes are not possible",
            sizes.len()
        );
        return Err(Status::INVALID_PARAM);
    }
    if let Some(odd) = sizes.iter().find(|size| !size.is_power_of_two()) {
        ucs_error!("memory pool set: {odd} is not a power of two");
        return Err(Status::INVALID_PARAM);
    }
    let mut bitmap = sizes
        .iter()
        .filter(|size| **size <= max_size)
        .fold(0u32, |bitmap, size| bitmap | 1 << size.trailing_zeros());
    let mut wanted: Vec<usize> = (0..31)
        .filter(|bit| bitmap & 1 << bit != 0)
        .map(|bit| 1 << bit)
        .collect();
    if wanted.last() != Some(&max_size) {
        bitmap |= ODD_SIZE;
        wanted.push(max_size);
    }
    Ok((bitmap, wanted))
}

/// What `data` of a set points to; behind it stand the pools and the client's bytes.
#[repr(C, align(16))]
struct Head {
    pools: usize,
}

/// # Safety
/// `set` was made by `init` and lives.
unsafe fn pools(set: &ucs_mpool_set) -> (*mut ucs_mpool_t, usize) {
    let head: *mut Head = set.data.cast();
    // SAFETY: `init` wrote it.
    let count = unsafe { (*head).pools };
    (head.wrapping_add(1).cast(), count)
}

/// Makes a set without memory for objects.
///
/// # Safety
/// As for `mpool::init`.
pub unsafe fn init(params: &Params<'_>) -> Result<ucs_mpool_set> {
    let (bitmap, sizes) = plan(params.sizes, params.max_size)?;
    let before_private = size_of::<Head>() + sizes.len() * size_of::<ucs_mpool_t>();
    let len = before_private
        .checked_add(params.priv_size)
        .ok_or(Status::INVALID_PARAM)?;
    let data = heap::calloc(1, len);
    if data.is_null() {
        return Err(Status::NO_MEMORY);
    }
    let head = Head { pools: sizes.len() };
    // SAFETY: the start of the fresh block.
    unsafe { data.cast::<Head>().write(head) };
    let mut set = ucs_mpool_set {
        bitmap,
        map: [null_mut(); 32],
        data,
    };
    // SAFETY: just made.
    let (first, _) = unsafe { pools(&set) };
    for (i, size) in sizes.iter().enumerate() {
        let one = ucs_mpool_params {
            elem_size: size.saturating_add(params.priv_elem_size),
            align_offset: params.align_offset,
            alignment: params.alignment,
            elems_per_chunk: params.elems_per_chunk,
            max_elems: params.max_elems,
            ops: params.ops,
            name: params.name,
            ..mpool::defaults()
        };
        // SAFETY: a place in the block; the caller's functions and name.
        if let Err(status) = unsafe { mpool::init(&one, first.wrapping_add(i)) } {
            for made in 0..i {
                // SAFETY: made above.
                unsafe { mpool::cleanup(first.wrapping_add(made), false) };
            }
            // SAFETY: our block.
            unsafe { heap::free(data) };
            return Err(status);
        }
    }
    let largest = bitmap & ODD_SIZE != 0;
    for power in 0..32u32 {
        let fits = sizes.iter().position(|size| *size as u64 >= 1 << power);
        let pool = fits.or(largest.then_some(sizes.len() - 1));
        set.map[31 - power as usize] = pool.map_or(null_mut(), |i| first.wrapping_add(i));
    }
    Ok(set)
}

/// The client's bytes.
///
/// # Safety
/// `set` was made by `init` and lives.
pub unsafe fn private(set: &ucs_mpool_set) -> *mut c_void {
    // SAFETY: the caller's promise.
    let (first, count) = unsafe { pools(set) };
    first.wrapping_add(count).cast()
}

/// What the set is called.
///
/// # Safety
/// `set` was made by `init` and lives.
pub unsafe fn name(set: &ucs_mpool_set) -> *const c_char {
    // SAFETY: the caller's promise.
    let (first, _) = unsafe { pools(set) };
    // SAFETY: there is at least one pool.
    unsafe { mpool::name(first) }
}

/// Ends all pools.
///
/// # Safety
/// `set` was made by `init` and lives; this ends it.
pub unsafe fn cleanup(set: &mut ucs_mpool_set, leak_check: bool) {
    // SAFETY: the caller's promise.
    let (first, count) = unsafe { pools(set) };
    for i in 0..count {
        // SAFETY: a pool of the set.
        unsafe { mpool::cleanup(first.wrapping_add(i), leak_check) };
    }
    // SAFETY: our block.
    unsafe { heap::free(set.data) };
    set.data = null_mut();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bitmap_names_the_sizes_and_the_odd_one() {
        let plan = |sizes: &[usize], max| plan(sizes, max);
        assert_eq!(plan(&[64, 512, 128], 512), Ok((0x2c0, vec![64, 128, 512])));
        assert_eq!(
            plan(&[64, 512, 128], 700),
            Ok((0x8000_02c0, vec![64, 128, 512, 700]))
        );
        assert_eq!(
            plan(&[64, 512, 128], 300),
            Ok((0x8000_00c0, vec![64, 128, 300]))
        );
        assert_eq!(plan(&[64, 64], 64), Ok((0x40, vec![64])));
        assert_eq!(plan(&[512], 100), Ok((ODD_SIZE, vec![100])));
        for (sizes, max) in [
            (&[][..], 700),
            (&[64][..], 0),
            (&[64][..], 1 << 31),
            (&[100][..], 128),
        ] {
            assert_eq!(plan(sizes, max), Err(Status::INVALID_PARAM));
        }
    }

    #[test]
    fn each_size_leads_to_the_smallest_pool_that_has_room() {
        static OPS: ucs_mpool_ops = ucs_mpool_ops {
            chunk_alloc: None,
            chunk_release: None,
            obj_init: None,
            obj_cleanup: None,
            obj_str: None,
        };
        for max_size in [512, 700, 512 << 3] {
            let params = Params {
                sizes: &[64, 512, 128],
                max_size,
                priv_size: 100,
                priv_elem_size: 16,
                align_offset: 0,
                alignment: 1,
                elems_per_chunk: 2,
                max_elems: mpool::UNLIMITED,
                ops: &OPS,
                name: c"set".as_ptr(),
            };
            // SAFETY: the functions and the name are static.
            let mut set = unsafe { init(&params) }.unwrap();
            // SAFETY: the set lives; these bytes are ours.
            unsafe { private(&set).cast::<u8>().write_bytes(1, 100) };
            for size in [1usize, 63, 64, 65, 128, 129, 512, 513, 700, 4096] {
                let power = size.next_power_of_two().trailing_zeros() as usize;
                let pool = set.map[31 - power];
                let oracle = [64, 128, 512, max_size]
                    .into_iter()
                    .find(|have| *have >= size);
                match oracle {
                    None => assert!(pool.is_null() || max_size < size),
                    Some(have) => {
                        // SAFETY: a pool of the set.
                        let data = unsafe { (*pool).data };
                        // SAFETY: as above.
                        let elem_size = unsafe { (*data).elem_size };
                        assert_eq!(elem_size, have + 16 + 8, "{size} of {max_size}");
                    }
                }
            }
            // SAFETY: the set's end.
            unsafe { cleanup(&mut set, true) };
        }
    }
}
