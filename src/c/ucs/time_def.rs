//! `ucs/time/time_def.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_time_t = c_ulong;
