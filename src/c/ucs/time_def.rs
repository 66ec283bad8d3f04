//! `ucs/time/time_def.h`: types and constants.

use crate::c::prelude::*;

/// Time, in units of the clock that the library counts with.
pub type ucs_time_t = c_ulong;
