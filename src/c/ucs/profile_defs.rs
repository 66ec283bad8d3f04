//! `ucs/profile/profile_defs.h`: types and constants. A file is the header, and blocks whose place it tells.

use crate::c::prelude::*;

/// Times are added up for each place. A mode is a mask of bits with these numbers.
pub const UCS_PROFILE_MODE_ACCUM: c_uint = 0;
/// Each event is recorded.
pub const UCS_PROFILE_MODE_LOG: c_uint = 1;
pub const UCS_PROFILE_MODE_LAST: c_uint = 2;

c_enum! {
    /// Kinds of events.
    pub enum ucs_profile_type_t: c_uint {
        /// A place was passed.
        UCS_PROFILE_TYPE_SAMPLE = 0,
        /// A piece of code begins.
        UCS_PROFILE_TYPE_SCOPE_BEGIN = 1,
        /// It ends.
        UCS_PROFILE_TYPE_SCOPE_END = 2,
        /// A request begins.
        UCS_PROFILE_TYPE_REQUEST_NEW = 3,
        /// It makes progress.
        UCS_PROFILE_TYPE_REQUEST_EVENT = 4,
        /// It ends.
        UCS_PROFILE_TYPE_REQUEST_FREE = 5,
        /// Number of kinds.
        UCS_PROFILE_TYPE_LAST = 6,
    }
}

/// Where a block of a file is.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub struct ucs_profile_block_header_t {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Its bytes.
    pub size: u64,
}
const _: () = assert!(size_of::<ucs_profile_block_header_t>() == 16);

/// The head of a file.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub struct ucs_profile_header {
    /// UCS_PROFILE_FILE_VERSION.
    pub version: u32,
    /// Reserved.
    pub feature_flags: u32,
    /// The library's file.
    pub ucs_path: [c_char; 1024],
    /// Command line of the program.
    pub cmdline: [c_char; 1024],
    /// Name of the host.
    pub hostname: [c_char; 64],
    /// Number of the process.
    pub pid: u32,
    /// Bits of the modes.
    pub mode: u32,
    /// Text: the UCX variables of the environment.
    pub env_vars: ucs_profile_block_header_t,
    /// Places.
    pub locations: ucs_profile_block_header_t,
    /// For each thread: its header, its sums for all places, its records.
    pub threads: ucs_profile_block_header_t,
    /// Ticks of the clock in a second.
    pub one_second: u64,
}
const _: () = {
    assert!(size_of::<ucs_profile_header>() == 2184);
    assert!(offset_of!(ucs_profile_header, pid) == 2120);
    assert!(offset_of!(ucs_profile_header, env_vars) == 2128);
    assert!(offset_of!(ucs_profile_header, locations) == 2144);
    assert!(offset_of!(ucs_profile_header, threads) == 2160);
    assert!(offset_of!(ucs_profile_header, one_second) == 2176);
};

pub type ucs_profile_header_t = ucs_profile_header;

/// A place in the code.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub struct ucs_profile_location {
    /// Source file.
    pub file: [c_char; 64],
    /// Function.
    pub function: [c_char; 64],
    /// Name of the place.
    pub name: [c_char; 32],
    /// Line in the file.
    pub line: c_int,
    /// A `ucs_profile_type_t`.
    pub r#type: u8,
}
const _: () = assert!(size_of::<ucs_profile_location>() == 165);

pub type ucs_profile_location_t = ucs_profile_location;

/// A thread.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub struct ucs_profile_thread_header {
    /// Number of the thread.
    pub tid: u32,
    /// Ticks when it began to record.
    pub start_time: u64,
    /// Ticks when it ended.
    pub end_time: u64,
    /// Number of its records.
    pub num_records: u64,
}
const _: () = assert!(size_of::<ucs_profile_thread_header>() == 28);

pub type ucs_profile_thread_header_t = ucs_profile_thread_header;

/// What a thread did at a place.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub struct ucs_profile_thread_location {
    /// Ticks since the place before it.
    pub total_time: u64,
    /// How often.
    pub count: usize,
}
const _: () = assert!(size_of::<ucs_profile_thread_location>() == 16);

pub type ucs_profile_thread_location_t = ucs_profile_thread_location;

/// An event.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub struct ucs_profile_record {
    /// Ticks of the event.
    pub timestamp: u64,
    /// Number that was given with the event.
    pub param64: u64,
    /// Number that was given with the event.
    pub param32: u32,
    /// Number of the place.
    pub location: u32,
}
const _: () = assert!(size_of::<ucs_profile_record>() == 24);

pub type ucs_profile_record_t = ucs_profile_record;

opaque! {
    /// A profile.
    pub struct ucs_profile_context
}

pub type ucs_profile_context_t = ucs_profile_context;

/// Number of a place.
pub type ucs_profile_loc_id_t = c_short;
