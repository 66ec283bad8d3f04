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
///
/// - `file` (in): Source file, NUL-terminated.
/// - `line` (in): Line in it.
/// - `function` (in): Function, NUL-terminated.
/// - `level` (in): Level of the message.
/// - `comp_conf` (in): Component that logs.
/// - `message` (in): As of printf(3).
/// - `ap` (in): Its arguments.
/// - returns: UCS_LOG_FUNC_RC_CONTINUE: the handler before gets the message too.
///   UCS_LOG_FUNC_RC_STOP: it does not.
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
