//! `ucp/api/ucp_version.h`: types and constants.

use crate::c::prelude::*;

pub const UCP_VERSION_MAJOR_SHIFT: c_uint = 24;
pub const UCP_VERSION_MINOR_SHIFT: c_uint = 16;
pub const UCP_API_MAJOR: c_uint = 1;
pub const UCP_API_MINOR: c_uint = 22;
pub const UCP_API_VERSION: c_ulong = 18219008;
