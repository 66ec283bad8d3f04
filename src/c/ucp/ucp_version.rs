//! `ucp/api/ucp_version.h`: types and constants.

use crate::c::prelude::*;

/// Where the major number stands in a version.
pub const UCP_VERSION_MAJOR_SHIFT: c_uint = 24;
/// Where the minor number stands in a version.
pub const UCP_VERSION_MINOR_SHIFT: c_uint = 16;
/// Version of this interface.
pub const UCP_API_MAJOR: c_uint = 1;
/// Version of this interface.
pub const UCP_API_MINOR: c_uint = 22;
/// Version of this interface as one number.
pub const UCP_API_VERSION: c_ulong = 18219008;
