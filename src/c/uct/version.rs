//! `uct/api/version.h`: types and constants.

use crate::c::prelude::*;

/// Version of the library.
pub const UCT_VERNO_MAJOR: c_uint = 1;
/// Version of the library.
pub const UCT_VERNO_MINOR: c_uint = 22;
/// Version of the library.
pub const UCT_VERNO_PATCH: c_uint = 0;
/// Where the minor number stands in a version.
pub const UCT_MINOR_BIT: c_uint = 16;
/// Where the major number stands in a version.
pub const UCT_MAJOR_BIT: c_uint = 24;
/// Version of this interface as one number.
pub const UCT_API: c_ulong = 18219008;
