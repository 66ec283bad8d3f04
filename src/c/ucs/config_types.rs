//! `ucs/config/types.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// Levels of messages.
    pub enum ucs_log_level_t: c_uint {
        /// The process ends.
        UCS_LOG_LEVEL_FATAL = 0,
        /// A failure.
        UCS_LOG_LEVEL_ERROR = 1,
        /// Something to look at.
        UCS_LOG_LEVEL_WARN = 2,
        /// What a user may ask for when something is odd.
        UCS_LOG_LEVEL_DIAG = 3,
        /// What happens, roughly.
        UCS_LOG_LEVEL_INFO = 4,
        /// What happens, closely.
        UCS_LOG_LEVEL_DEBUG = 5,
        /// Each step.
        UCS_LOG_LEVEL_TRACE = 6,
        /// Requests.
        UCS_LOG_LEVEL_TRACE_REQ = 7,
        /// Messages.
        UCS_LOG_LEVEL_TRACE_DATA = 8,
        /// Asynchronous events.
        UCS_LOG_LEVEL_TRACE_ASYNC = 9,
        /// Calls.
        UCS_LOG_LEVEL_TRACE_FUNC = 10,
        /// Polls.
        UCS_LOG_LEVEL_TRACE_POLL = 11,
        /// Number of levels.
        UCS_LOG_LEVEL_LAST = 12,
        /// Output, not a message.
        UCS_LOG_LEVEL_PRINT = 13,
    }
}

c_enum! {
    /// How asynchronous events are delivered.
    pub enum ucs_async_mode_t: c_uint {
        /// By a signal.
        UCS_ASYNC_MODE_SIGNAL = 0,
        /// By a thread.
        UCS_ASYNC_MODE_THREAD = 1,
        /// By a thread; the context is locked by spinning.
        UCS_ASYNC_MODE_THREAD_SPINLOCK = 1,
        /// By a thread; the context is locked by a mutex.
        UCS_ASYNC_MODE_THREAD_MUTEX = 2,
        /// When the owner asks.
        UCS_ASYNC_MODE_POLL = 3,
        /// Number of modes.
        UCS_ASYNC_MODE_LAST = 4,
    }
}

c_enum! {
    /// An option that can be left to the library.
    pub enum ucs_ternary_auto_value: c_uint {
        /// No.
        UCS_NO = 0,
        /// Yes, or fail.
        UCS_YES = 1,
        /// Yes, if it can be.
        UCS_TRY = 2,
        /// As the library thinks best.
        UCS_AUTO = 3,
        /// Number of values.
        UCS_TERNARY_LAST = 4,
    }
}

pub type ucs_ternary_auto_value_t = ucs_ternary_auto_value;

c_enum! {
    /// A switch that can be left to the library.
    pub enum ucs_on_off_auto_value: c_uint {
        /// Off.
        UCS_CONFIG_OFF = 0,
        /// On.
        UCS_CONFIG_ON = 1,
        /// As the library thinks best.
        UCS_CONFIG_AUTO = 2,
        /// Number of values.
        UCS_CONFIG_ON_OFF_LAST = 3,
    }
}

pub type ucs_on_off_auto_value_t = ucs_on_off_auto_value;

c_enum! {
    /// What to do at a fatal error.
    pub enum ucs_handle_error_t: c_uint {
        /// Print the stack.
        UCS_HANDLE_ERROR_BACKTRACE = 0,
        /// Wait for a debugger.
        UCS_HANDLE_ERROR_FREEZE = 1,
        /// Start a debugger.
        UCS_HANDLE_ERROR_DEBUG = 2,
        /// Nothing.
        UCS_HANDLE_ERROR_NONE = 3,
        /// Number of ways.
        UCS_HANDLE_ERROR_LAST = 4,
    }
}

c_enum! {
    /// What to print of a configuration.
    pub enum ucs_config_print_flags_t: c_uint {
        /// Values.
        UCS_CONFIG_PRINT_CONFIG = 1 << 0,
        /// A title.
        UCS_CONFIG_PRINT_HEADER = 1 << 1,
        /// What each option means.
        UCS_CONFIG_PRINT_DOC = 1 << 2,
        /// Hidden options too.
        UCS_CONFIG_PRINT_HIDDEN = 1 << 3,
        /// Values that are the default, as comments.
        UCS_CONFIG_PRINT_COMMENT_DEFAULT = 1 << 4,
    }
}

/// A list of names.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_names_array_t {
    /// The names.
    pub names: *mut *mut c_char,
    /// Number of names.
    pub count: c_uint,
    /// Nonzero: there were more.
    pub truncated: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_config_names_array_t>() == 16);
    assert!(offset_of!(ucs_config_names_array_t, names) == 0);
    assert!(offset_of!(ucs_config_names_array_t, count) == 8);
    assert!(offset_of!(ucs_config_names_array_t, truncated) == 12);
};

c_enum! {
    /// What a list of names means.
    pub enum ucs_config_allow_list_mode_t: c_uint {
        /// All are allowed.
        UCS_CONFIG_ALLOW_LIST_ALLOW_ALL = 0,
        /// The names are allowed.
        UCS_CONFIG_ALLOW_LIST_ALLOW = 1,
        /// All but the names are allowed.
        UCS_CONFIG_ALLOW_LIST_NEGATE = 2,
    }
}

/// A list of names, and what it means.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_allow_list_t {
    /// The names.
    pub array: ucs_config_names_array_t,
    /// What they mean.
    pub mode: ucs_config_allow_list_mode_t,
}
const _: () = {
    assert!(size_of::<ucs_config_allow_list_t>() == 24);
    assert!(offset_of!(ucs_config_allow_list_t, array) == 0);
    assert!(offset_of!(ucs_config_allow_list_t, mode) == 16);
};

/// A socket address with its size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sock_addr {
    /// The address.
    pub addr: *const sockaddr,
    /// Bytes of it.
    pub addrlen: socklen_t,
}
const _: () = {
    assert!(size_of::<ucs_sock_addr>() == 16);
    assert!(offset_of!(ucs_sock_addr, addr) == 0);
    assert!(offset_of!(ucs_sock_addr, addrlen) == 8);
};

pub type ucs_sock_addr_t = ucs_sock_addr;

/// How a component logs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_log_component_config {
    /// Messages up to this level.
    pub log_level: ucs_log_level_t,
    /// Name before each message, NUL-terminated.
    pub name: [c_char; 16],
    /// Pattern of the source files whose messages are wanted.
    pub file_filter: *const c_char,
}
const _: () = {
    assert!(size_of::<ucs_log_component_config>() == 32);
    assert!(offset_of!(ucs_log_component_config, log_level) == 0);
    assert!(offset_of!(ucs_log_component_config, name) == 4);
    assert!(offset_of!(ucs_log_component_config, file_filter) == 24);
};

pub type ucs_log_component_config_t = ucs_log_component_config;
