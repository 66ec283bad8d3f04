//! `uct.h`, interfaces: what is not inline.

use crate::abi::args::non_null;
use crate::c::*;
use crate::ucs::config::{Config, var};
use crate::ucs::status::code_of;
use crate::ucs_error;
use crate::uct::api::UNQUERIED;
use crate::uct::base::am::AM_IDS;
use crate::uct::base::config::IFACE;
use crate::uct::base::iface::base_of;
use crate::uct::base::md::MdHandle;
use crate::uct::base::params::{OpenMode, iface_params};
use crate::uct::base::worker::WorkerHandle;
use core::ffi::{c_int, c_uint, c_void};

/// Opens an interface of the transport and device that are named. Progress is off until
/// `uct_iface_progress_enable`. `uct_iface_close` closes it.
///
/// - `md` (in): Memory domain of `uct_md_open`, not closed yet.
/// - `worker` (in): Worker of `uct_worker_create`, not destroyed yet.
/// - `params` (in): Transport, device and handlers; read during the call only.
/// - `config` (in): Configuration of `uct_md_iface_config_read` for the same transport; stays the
///   caller's.
/// - `iface_p` (out): The interface; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM when an argument is NULL or the configuration is of
///   another transport. UCS_ERR_NO_DEVICE when the domain has no such transport or device, and for
///   the old modes by socket address. Or the error of the transport.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// Handles live; the masked members of `params` valid; `config` of `uct_md_iface_config_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_open(
    md: uct_md_h,
    worker: uct_worker_h,
    params: *const uct_iface_params_t,
    config: *const uct_iface_config_t,
    iface_p: *mut uct_iface_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; md, worker, params, config, iface_p);
    let md_handle = md;
    // SAFETY: live handles.
    let handles = unsafe { (MdHandle::from_c(md), WorkerHandle::from_c(worker)) };
    let (Some(md), Some(worker)) = handles else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's struct.
    let (mode, params) = match unsafe { iface_params(params) } {
        Ok(p) => p,
        Err(e) => return e.code(),
    };
    let OpenMode::Device { transport, device } = mode else {
        ucs_error!(
            "uct_iface_open: only the DEVICE mode is supported; socket addresses go by a connection manager"
        );
        return UCS_ERR_NO_DEVICE;
    };
    let tls = md.component.component.transports();
    let Some(tl) = tls.iter().find(|t| t.name() == transport) else {
        ucs_error!("memory domain {} has no transport {transport}", md.name);
        return UCS_ERR_NO_DEVICE;
    };
    if !md.devices(*tl).iter().any(|d| d.name == device) {
        ucs_error!("transport {transport} has no device {device}");
        return UCS_ERR_NO_DEVICE;
    }
    // SAFETY: a configuration handle.
    let config = unsafe { &*config.cast::<Config>() };
    if !core::ptr::eq(config.table, tl.config()) {
        ucs_error!(
            "uct_iface_open: the configuration was read for another transport than {transport}"
        );
        return UCS_ERR_INVALID_PARAM;
    }
    match tl.open(md.md.as_ref(), worker, device, params, config) {
        Ok(iface) => {
            // SAFETY: just opened.
            unsafe { base_of(iface) }.attach(md_handle, alloc_methods(config));
            // SAFETY: the caller's out parameter.
            unsafe { *iface_p = iface };
            UCS_OK
        }
        Err(e) => {
            ucs_error!("{transport}/{device} cannot be opened: {e}");
            e.status.code()
        }
    }
}

/// The allocation methods a configuration lists, in the order to try them.
fn alloc_methods(config: &Config) -> Vec<u32> {
    config
        .enum_list(var!(IFACE, "ALLOC"))
        .into_iter()
        .map(|method| method as u32)
        .collect()
}

/// Calls op `$op` of an interface's table.
macro_rules! op {
    ($h:expr, $op:ident, $($a:expr),*) => {
        // SAFETY: an open interface; every op of our tables is set.
        match unsafe { (*$h).ops.$op } {
            // SAFETY: the interface's own op with the caller's arguments.
            Some(f) => unsafe { f($($a),*) },
            None => UCS_ERR_UNSUPPORTED as _,
        }
    };
}
pub(super) use op;

/// Closes an interface without endpoints.
///
/// - `iface` (in): Interface without endpoints; not to be used afterwards. NULL does nothing.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` must be null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_close(iface: uct_iface_h) {
    if iface.is_null() {
        return;
    }
    // SAFETY: an open interface.
    if let Some(close) = unsafe { (*iface).ops.iface_close } {
        // SAFETY: its own op, for the last time.
        unsafe { close(iface) };
    }
}

/// Fills the attributes of an interface, all of the struct.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `iface_attr` (out): The attributes, all members.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open, `iface_attr` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_query(
    iface: uct_iface_h,
    iface_attr: *mut uct_iface_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface, iface_attr);
    op!(iface, iface_query, iface, iface_attr)
}

/// Writes the device's address, for peers.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `addr` (out): Room for `device_addr_len` bytes of the attributes; may be NULL when that is 0.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open, `addr` of that size (it may be null when the size is 0).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_get_device_address(
    iface: uct_iface_h,
    addr: *mut uct_device_addr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface);
    op!(iface, iface_get_device_address, iface, addr)
}

/// Writes the interface's address, for peers.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `addr` (out): Room for `iface_addr_len` bytes of the attributes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open, `addr` of that size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_get_address(
    iface: uct_iface_h,
    addr: *mut uct_iface_addr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface, addr);
    op!(iface, iface_get_address, iface, addr)
}

/// Tells whether an interface of a peer can be reached. Its addresses are checked for what they
/// hold.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `dev_addr` (in): Device address of the peer, as its `uct_iface_get_device_address` wrote it.
/// - `iface_addr` (in): Interface address of the peer; NULL asks for the device alone.
/// - returns: 1 or 0.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open; addresses of this transport's format, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_is_reachable(
    iface: uct_iface_h,
    dev_addr: *const uct_device_addr_t,
    iface_addr: *const uct_iface_addr_t,
) -> c_int {
    non_null!(0; iface);
    // SAFETY: an open interface.
    match unsafe { (*iface).ops.iface_is_reachable } {
        // SAFETY: its own op with the caller's arguments.
        Some(f) => unsafe { f(iface, dev_addr, iface_addr) },
        None => 0,
    }
}

/// Gives the descriptor that becomes readable on events: for poll(), never to be read or closed.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `fd_p` (out): The descriptor; it belongs to the interface.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED for a
///   transport without one.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open, `fd_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_event_fd_get(
    iface: uct_iface_h,
    fd_p: *mut c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface, fd_p);
    op!(iface, iface_event_fd_get, iface, fd_p)
}

/// Makes the descriptor report the next event.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `events` (in): Bits of `uct_iface_event_types`.
/// - returns: UCS_OK: the next event makes the descriptor readable. UCS_ERR_BUSY: there is
///   something to progress first. UCS_ERR_UNSUPPORTED for a transport without a descriptor.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_event_arm(iface: uct_iface_h, events: c_uint) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface);
    op!(iface, iface_event_arm, iface, events)
}

/// Sets the handler of active messages, or removes it. It is called in progress only.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `id` (in): Number of the message, below UCT_AM_ID_MAX.
/// - `cb` (in): The handler; NULL removes it.
/// - `arg` (in): Its first argument.
/// - `flags` (in): 0 or UCT_CB_FLAG_ASYNC, a permission that is not used.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another number or flag, or an interface without
///   active messages.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open; `cb` and `arg` valid until replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_set_am_handler(
    iface: uct_iface_h,
    id: u8,
    cb: uct_am_callback_t,
    arg: *mut c_void,
    flags: u32,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface);
    if id as usize >= AM_IDS {
        ucs_error!("active message id {id} is out of range: ids are below {AM_IDS}");
        return UCS_ERR_INVALID_PARAM;
    }
    let known = UCT_CB_FLAG_ASYNC | UCT_CB_FLAG_RESERVED;
    if flags & !known != 0 {
        ucs_error!("uct_iface_set_am_handler: flags {flags:#x} are unknown");
        return UCS_ERR_INVALID_PARAM;
    }
    if cb.is_some() && flags & UCT_CB_FLAG_ASYNC == 0 && !calls_from_progress(iface) {
        ucs_error!("uct_iface_set_am_handler: the interface has no active messages");
        return UCS_ERR_INVALID_PARAM;
    }
    // SAFETY: an open interface of ours.
    code_of(&unsafe { base_of(iface) }.am.set(id, cb, arg))
}

/// Whether the interface states `UCT_IFACE_FLAG_CB_SYNC`, without which upstream refuses handlers.
fn calls_from_progress(iface: uct_iface_h) -> bool {
    let mut attr = UNQUERIED;
    let queried = op!(iface, iface_query, iface, &mut attr);
    queried == UCS_OK && attr.cap.flags & UCT_IFACE_FLAG_CB_SYNC != 0
}

/// Sets the function that describes active messages in the log, or removes it.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `tracer` (in): The function; NULL removes it.
/// - `arg` (in): Its first argument.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when `iface` is NULL.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open; `tracer` and `arg` valid until replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_set_am_tracer(
    iface: uct_iface_h,
    tracer: uct_am_tracer_t,
    arg: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface);
    // SAFETY: an open interface of ours.
    unsafe { base_of(iface) }.am.set_tracer(tracer, arg);
    UCS_OK
}

/// Accepts a request on an interface by socket address, of which there are none.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `conn_request` (in): Not read.
/// - returns: UCS_ERR_UNSUPPORTED.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_accept(
    iface: uct_iface_h,
    conn_request: uct_conn_request_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface);
    op!(iface, iface_accept, iface, conn_request)
}

/// Rejects a request on an interface by socket address, of which there are none.
///
/// - `iface` (in): Interface of `uct_iface_open`, not closed yet.
/// - `conn_request` (in): Not read.
/// - returns: UCS_ERR_UNSUPPORTED.
///
/// `uct/api/uct.h`, group `iface`.
///
/// # Safety
/// `iface` open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_iface_reject(
    iface: uct_iface_h,
    conn_request: uct_conn_request_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; iface);
    op!(iface, iface_reject, iface, conn_request)
}
