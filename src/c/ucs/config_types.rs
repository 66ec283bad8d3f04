//! `ucs/config/types.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    pub enum ucs_log_level_t: c_uint {
        UCS_LOG_LEVEL_FATAL = 0,
        UCS_LOG_LEVEL_ERROR = 1,
        UCS_LOG_LEVEL_WARN = 2,
        UCS_LOG_LEVEL_DIAG = 3,
        UCS_LOG_LEVEL_INFO = 4,
        UCS_LOG_LEVEL_DEBUG = 5,
        UCS_LOG_LEVEL_TRACE = 6,
        UCS_LOG_LEVEL_TRACE_REQ = 7,
        UCS_LOG_LEVEL_TRACE_DATA = 8,
        UCS_LOG_LEVEL_TRACE_ASYNC = 9,
        UCS_LOG_LEVEL_TRACE_FUNC = 10,
        UCS_LOG_LEVEL_TRACE_POLL = 11,
        UCS_LOG_LEVEL_LAST = 12,
        UCS_LOG_LEVEL_PRINT = 13,
    }
}

c_enum! {
    pub enum ucs_async_mode_t: c_uint {
        UCS_ASYNC_MODE_SIGNAL = 0,
        UCS_ASYNC_MODE_THREAD = 1,
        UCS_ASYNC_MODE_THREAD_SPINLOCK = 1,
        UCS_ASYNC_MODE_THREAD_MUTEX = 2,
        UCS_ASYNC_MODE_POLL = 3,
        UCS_ASYNC_MODE_LAST = 4,
    }
}

c_enum! {
    pub enum ucs_ternary_auto_value: c_uint {
        UCS_NO = 0,
        UCS_YES = 1,
        UCS_TRY = 2,
        UCS_AUTO = 3,
        UCS_TERNARY_LAST = 4,
    }
}

pub type ucs_ternary_auto_value_t = ucs_ternary_auto_value;

c_enum! {
    pub enum ucs_on_off_auto_value: c_uint {
        UCS_CONFIG_OFF = 0,
        UCS_CONFIG_ON = 1,
        UCS_CONFIG_AUTO = 2,
        UCS_CONFIG_ON_OFF_LAST = 3,
    }
}

pub type ucs_on_off_auto_value_t = ucs_on_off_auto_value;

c_enum! {
    pub enum ucs_handle_error_t: c_uint {
        UCS_HANDLE_ERROR_BACKTRACE = 0,
        UCS_HANDLE_ERROR_FREEZE = 1,
        UCS_HANDLE_ERROR_DEBUG = 2,
        UCS_HANDLE_ERROR_NONE = 3,
        UCS_HANDLE_ERROR_LAST = 4,
    }
}

c_enum! {
    pub enum ucs_config_print_flags_t: c_uint {
        UCS_CONFIG_PRINT_CONFIG = 1 << 0,
        UCS_CONFIG_PRINT_HEADER = 1 << 1,
        UCS_CONFIG_PRINT_DOC = 1 << 2,
        UCS_CONFIG_PRINT_HIDDEN = 1 << 3,
        UCS_CONFIG_PRINT_COMMENT_DEFAULT = 1 << 4,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_names_array_t {
    pub names: *mut *mut c_char,
    pub count: c_uint,
    pub truncated: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_config_names_array_t>() == 16);
    assert!(offset_of!(ucs_config_names_array_t, names) == 0);
    assert!(offset_of!(ucs_config_names_array_t, count) == 8);
    assert!(offset_of!(ucs_config_names_array_t, truncated) == 12);
};

c_enum! {
    pub enum ucs_config_allow_list_mode_t: c_uint {
        UCS_CONFIG_ALLOW_LIST_ALLOW_ALL = 0,
        UCS_CONFIG_ALLOW_LIST_ALLOW = 1,
        UCS_CONFIG_ALLOW_LIST_NEGATE = 2,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_config_allow_list_t {
    pub array: ucs_config_names_array_t,
    pub mode: ucs_config_allow_list_mode_t,
}
const _: () = {
    assert!(size_of::<ucs_config_allow_list_t>() == 24);
    assert!(offset_of!(ucs_config_allow_list_t, array) == 0);
    assert!(offset_of!(ucs_config_allow_list_t, mode) == 16);
};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_sock_addr {
    pub addr: *const sockaddr,
    pub addrlen: socklen_t,
}
const _: () = {
    assert!(size_of::<ucs_sock_addr>() == 16);
    assert!(offset_of!(ucs_sock_addr, addr) == 0);
    assert!(offset_of!(ucs_sock_addr, addrlen) == 8);
};

pub type ucs_sock_addr_t = ucs_sock_addr;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_log_component_config {
    pub log_level: ucs_log_level_t,
    pub name: [c_char; 16],
    pub file_filter: *const c_char,
}
const _: () = {
    assert!(size_of::<ucs_log_component_config>() == 32);
    assert!(offset_of!(ucs_log_component_config, log_level) == 0);
    assert!(offset_of!(ucs_log_component_config, name) == 4);
    assert!(offset_of!(ucs_log_component_config, file_filter) == 24);
};

pub type ucs_log_component_config_t = ucs_log_component_config;
