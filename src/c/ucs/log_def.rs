//! `ucs/debug/log_def.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// What a log handler returns.
    pub enum ucs_log_func_rc_t: c_uint {
        /// The message is handled.
        UCS_LOG_FUNC_RC_STOP = 0,
        /// The next handler is asked.
        UCS_LOG_FUNC_RC_CONTINUE = 1,
    }
}

/// Gets each message that is logged; `message` and `ap` as of vprintf.
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
