//! `uct/api/version.h`: types and constants.

use crate::c::prelude::*;

pub const UCT_VERNO_MAJOR: c_uint = 1;
pub const UCT_VERNO_MINOR: c_uint = 22;
pub const UCT_VERNO_PATCH: c_uint = 0;
pub const UCT_MINOR_BIT: c_uint = 16;
pub const UCT_MAJOR_BIT: c_uint = 24;
pub const UCT_API: c_ulong = 18219008;
