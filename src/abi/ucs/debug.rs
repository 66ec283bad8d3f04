//! Statistics, which are off, and what the reader of profile files asks.

use crate::abi::args::non_null;
use crate::c::prelude::*;

/// The root of the statistics tree: null, as statistics are off. `ucs/stats/stats_fwd.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_stats_get_root() -> *mut ucs_stats_node_t {
    core::ptr::null_mut()
}

/// Sizes in a profile file: one record, one location, a thread's head, a thread's location.
const RECORD: u64 = 24;
const LOCATION: u64 = 165;
const THREAD_HEADER: u64 = 28;
const THREAD_LOCATION: u64 = 16;

/// How many threads a profile file has, from the sizes of its parts.
/// `ucs/profile/profile_defs.h`.
///
/// # Safety
/// `header` is null or a profile file's head.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_profile_calc_num_threads(
    total_num_records: usize,
    header: *const ucs_profile_header_t,
) -> c_uint {
    non_null!(0; header);
    // SAFETY: checked above; the caller vouches for it. The struct is packed.
    let header = unsafe { header.read_unaligned() };
    let (locations, threads) = (header.locations.size, header.threads.size);
    let records = (total_num_records as u64).saturating_mul(RECORD);
    let per_thread = THREAD_HEADER + (locations / LOCATION).saturating_mul(THREAD_LOCATION);
    (threads.saturating_sub(records) / per_thread) as c_uint
}
