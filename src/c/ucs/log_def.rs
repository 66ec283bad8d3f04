//! `ucs/debug/log_def.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    pub enum ucs_log_func_rc_t: c_uint {
        UCS_LOG_FUNC_RC_STOP = 0,
        UCS_LOG_FUNC_RC_CONTINUE = 1,
    }
}

pub type ucs_log_func_t = Option<
    unsafe extern "C" fn(
        file: *const c_char,
        line: c_uint,
        function: *const c_char,
        level: ucs_log_level_t,
        comp_conf: *const ucs_log_component_config_t,
        message: *const c_char,
        ap: va_list,
    ) -> ucs_log_func_rc_t,
>;
