//! `ucs/profile/profile_defs.h`.
//!
//! A profile of C is a boxed `Profile`. The default one is made by the first event that is recorded without a profile,
//! since nothing runs when the library is loaded, and written when the process exits.

use crate::abi::args::non_null;
use crate::abi::ucs::names::Names;
use crate::abi::ucs::text_of;
use crate::c::prelude::*;
use crate::sys::{machine, process};
use crate::ucs::compat::profile::{DISABLED, Place, Profile};
use crate::ucs::config::{global, var};
use crate::ucs_warn;
use once_cell::race::OnceBox;
use std::sync::atomic::{AtomicI16, AtomicPtr, Ordering};

/// Names of the modes, by value, then NULL. `ucs/profile/profile_defs.h`.
#[unsafe(no_mangle)]
pub static ucs_profile_mode_names: Names<3> =
    Names([c"accum".as_ptr(), c"log".as_ptr(), core::ptr::null()]);

/// The profile of the environment; null until something is recorded. `ucs/profile/profile_defs.h`.
#[unsafe(no_mangle)]
pub static ucs_profile_default_ctx: AtomicPtr<ucs_profile_context_t> =
    AtomicPtr::new(core::ptr::null_mut());

/// What `UCX_PROFILE_MODE` asks for; none without.
fn default_profile() -> Option<&'static Profile> {
    let profile = DEFAULT.get_or_init(|| Box::new(from_options())).as_ref()?;
    let handle = core::ptr::from_ref(profile).cast_mut().cast();
    if ucs_profile_default_ctx.swap(handle, Ordering::AcqRel) != handle {
        process::at_exit(write_default);
    }
    Some(profile)
}

static DEFAULT: OnceBox<Option<Profile>> = OnceBox::new();

fn from_options() -> Option<Profile> {
    let fixed = global::fixed();
    let modes = fixed.bitmap(var!(global::READ_ONLY, "PROFILE_MODE")) as u32;
    let size = fixed.memunits(var!(global::READ_ONLY, "PROFILE_LOG_SIZE"));
    if modes != 0 && machine::secure_execution() {
        ucs_warn!(
            "UCX_PROFILE_MODE: a process with raised privileges writes no file that a variable names"
        );
        return None;
    }
    let profile = Profile::new(
        modes,
        fixed.str(var!(global::READ_ONLY, "PROFILE_FILE")),
        size,
    );
    profile.ok().filter(|_| modes != 0)
}

extern "C" fn write_default() {
    if let Some(Some(profile)) = DEFAULT.get()
        && profile.is_used()
    {
        profile.dump();
    }
}

/// # Safety
/// `ctx` is null or a live profile.
unsafe fn of<'p>(ctx: *mut ucs_profile_context_t) -> Option<&'p Profile> {
    // SAFETY: the caller's promise.
    unsafe { ctx.cast::<Profile>().as_ref() }
}

/// Makes a profile. `profile_mode` has a bit for each mode; without any nothing is recorded. UCS_ERR_INVALID_PARAM for
/// others. `ucs/profile/profile_defs.h`.
///
/// - `profile_mode` (in): A bit for each mode; 0 records nothing.
/// - `file_name` (in): Name of the file, NUL-terminated.
/// - `max_file_size` (in): Upper limit of the records, bytes.
/// - `ctx_p` (out): The profile.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for other modes.
///
/// # Safety
/// `file_name` is a C string, `ctx_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_profile_init(
    profile_mode: c_uint,
    file_name: *const c_char,
    max_file_size: usize,
    ctx_p: *mut *mut ucs_profile_context_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; file_name, ctx_p);
    // SAFETY: the caller's string.
    let file = unsafe { text_of(file_name) };
    match Profile::new(profile_mode, &file, max_file_size) {
        Ok(profile) => {
            let ctx = Box::into_raw(Box::new(profile)).cast();
            // SAFETY: checked above; the caller vouches for it.
            unsafe { ctx_p.write(ctx) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// Writes a profile and ends it. `ucs/profile/profile_defs.h`.
///
/// - `ctx` (in): The profile; not to be used afterwards.
///
/// # Safety
/// `ctx` is null or a live profile that nobody records in any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_profile_cleanup(ctx: *mut ucs_profile_context_t) {
    // SAFETY: the caller's promise.
    unsafe { ucs_profile_dump(ctx) };
    if !ctx.is_null() && ctx != ucs_profile_default_ctx.load(Ordering::Acquire) {
        // SAFETY: `ucs_profile_init` boxed it.
        drop(unsafe { Box::from_raw(ctx.cast::<Profile>()) });
    }
}

/// Writes a profile and begins it anew. `ucs/profile/profile_defs.h`.
///
/// - `ctx` (in,out): The profile.
///
/// # Safety
/// `ctx` is null or a live profile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_profile_dump(ctx: *mut ucs_profile_context_t) {
    // SAFETY: the caller's promise.
    if let Some(profile) = unsafe { of(ctx) } {
        profile.dump();
    }
}

/// Records an event. The macros call it; `loc_id_p` keeps the number of the place, for NULL the profile is the default
/// one. `ucs/profile/profile_defs.h`.
///
/// - `ctx` (in): The profile.
/// - `type` (in): Kind of event.
/// - `name` (in): Name of the place, NUL-terminated.
/// - `param32` (in): Number to record.
/// - `param64` (in): Number to record.
/// - `file` (in): Source file, NUL-terminated.
/// - `line` (in): Line in it.
/// - `function` (in): Function, NUL-terminated.
/// - `loc_id_p` (in,out): Keeps the number of the place.
///
/// # Safety
/// `ctx` is null or a live profile, the texts are C strings, `loc_id_p` is a variable of the place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_profile_record(
    ctx: *mut ucs_profile_context_t,
    r#type: ucs_profile_type_t,
    name: *const c_char,
    param32: u32,
    param64: u64,
    file: *const c_char,
    line: c_int,
    function: *const c_char,
    loc_id_p: *mut ucs_profile_loc_id_t,
) {
    non_null!(; loc_id_p);
    // SAFETY: the caller's variable, which several threads may use at once.
    let id_of_place = unsafe { AtomicI16::from_ptr(loc_id_p) };
    // SAFETY: the caller's promise.
    let profile = unsafe { of(ctx) }.or_else(default_profile);
    let Some(profile) = profile else {
        id_of_place.store(DISABLED, Ordering::Relaxed);
        return;
    };
    let mut id = id_of_place.load(Ordering::Relaxed);
    if !profile.knows(id) {
        let place = Place {
            kind: r#type,
            // SAFETY: the caller's strings, here and below.
            name: unsafe { text_of(name) }.into_owned(),
            // SAFETY: as above.
            file: unsafe { text_of(file) }.into_owned(),
            line,
            // SAFETY: as above.
            function: unsafe { text_of(function) }.into_owned(),
        };
        id = profile.place(&place);
        id_of_place.store(id, Ordering::Relaxed);
    }
    profile.record(id, r#type, param32, param64);
}

/// How many threads a profile file has, from the sizes of its parts. `ucs/profile/profile_defs.h`.
///
/// - `total_num_records` (in): Records of all threads.
/// - `header` (in): Head of the file.
/// - returns: Their number.
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
    let size = |bytes: usize| bytes as u64;
    let records = size(total_num_records).saturating_mul(size(size_of::<ucs_profile_record_t>()));
    let places = locations / size(size_of::<ucs_profile_location_t>());
    let sums = places.saturating_mul(size(size_of::<ucs_profile_thread_location_t>()));
    let per_thread = sums.saturating_add(size(size_of::<ucs_profile_thread_header_t>()));
    (threads.saturating_sub(records) / per_thread) as c_uint
}
