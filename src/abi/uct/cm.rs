//! `uct.h`, connection managers and listeners. Endpoints of a manager are in `ep`.

use crate::abi::args::non_null;
use crate::c::*;
use crate::ucs::config::Config;
use crate::ucs::sockaddr as addr;
use crate::ucs::status::code_of;
use crate::uct::base::md::ComponentHandle;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cm::handle::{self, CmHandle};
use libc::{sockaddr, socklen_t};

/// Opens a connection manager. Its callbacks are called by the async context of the worker, perhaps
/// in another thread. `uct_cm_close` closes it.
///
/// - `component` (in): Component of `uct_query_components`.
/// - `worker` (in): Worker of `uct_worker_create`, not destroyed yet.
/// - `config` (in): Configuration of `uct_cm_config_read`; stays the caller's.
/// - `cm_p` (out): The connection manager; written on success only.
/// - returns: UCS_OK; UCS_ERR_UNSUPPORTED when the component has none; UCS_ERR_INVALID_PARAM when
///   an argument is NULL.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// Handles live, `config` from `uct_cm_config_read`, `cm_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_open(
    component: uct_component_h,
    worker: uct_worker_h,
    config: *const uct_cm_config_t,
    cm_p: *mut uct_cm_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; component, worker, config, cm_p);
    // SAFETY: live handles, and a configuration that `uct_cm_config_read` boxed.
    let (component, worker, config) = unsafe {
        let component = ComponentHandle::from_c(component);
        let worker = WorkerHandle::from_c(worker);
        (component, worker, &*config.cast::<Config>())
    };
    let (Some(component), Some(worker)) = (component, worker) else {
        return UCS_ERR_INVALID_PARAM;
    };
    match component.component.cm_open(worker, config) {
        Ok(manager) => {
            // SAFETY: the caller's out parameter.
            unsafe { *cm_p = CmHandle::create(manager) };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Closes a connection manager. Clients that still wait for an answer lose their connection.
///
/// - `cm` (in): Connection manager without listeners and endpoints; not to be used afterwards. NULL
///   does nothing.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `cm` must be null or an open manager.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_close(cm: uct_cm_h) {
    if !cm.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { CmHandle::close(cm) };
    }
}

/// Tells about a connection manager.
///
/// - `cm` (in): Connection manager of `uct_cm_open`, not closed yet.
/// - `cm_attr` (in,out): `field_mask` says which members are written.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `cm` open, the masked members of `cm_attr` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_cm_query(cm: uct_cm_h, cm_attr: *mut uct_cm_attr_t) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; cm, cm_attr);
    // SAFETY: an open manager.
    let Some(cm) = (unsafe { CmHandle::from_c(cm) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's struct, of this size in every release.
    let attr = unsafe { &mut *cm_attr };
    if attr.field_mask & u64::from(UCT_CM_ATTR_FIELD_MAX_CONN_PRIV) != 0 {
        attr.max_conn_priv = cm.manager.max_private();
    }
    UCS_OK
}

/// Listens at an address. Port 0 lets the kernel choose; `uct_listener_query` tells which.
///
/// - `cm` (in): Connection manager of `uct_cm_open`, not closed yet.
/// - `saddr` (in): Address, IPv4 or IPv6.
/// - `socklen` (in): Bytes of the address.
/// - `params` (in): Callback for clients, and backlog; read during the call only.
/// - `listener_p` (out): The listener; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM without a callback. UCS_ERR_BUSY when the address is
///   taken. UCS_ERR_IO_ERROR when it cannot be had.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `cm` open, `saddr` readable for `socklen`, the masked members of `params` valid, `listener_p`
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_create(
    cm: uct_cm_h,
    saddr: *const sockaddr,
    socklen: socklen_t,
    params: *const uct_listener_params_t,
    listener_p: *mut uct_listener_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; cm, saddr, params, listener_p);
    // SAFETY: an open manager.
    let Some(cm) = (unsafe { CmHandle::from_c(cm) }) else {
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's arguments.
    code_of(&unsafe { cm.listen(saddr, socklen, params, listener_p) })
}

/// Stops listening. Requests that were shown can still be answered.
///
/// - `listener` (in): Listener; not to be used afterwards. NULL does nothing.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `listener` must be null or a live listener.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_destroy(listener: uct_listener_h) {
    if !listener.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { handle::listener_destroy(listener) };
    }
}

/// Turns a client down, who is told UCS_ERR_REJECTED.
///
/// - `listener` (in): Listener of `uct_listener_create`, not destroyed yet.
/// - `conn_request` (in): Request that the listener's callback got, not answered yet.
/// - returns: UCS_OK. UCS_ERR_NOT_CONNECTED when the client went before. UCS_ERR_INVALID_PARAM when
///   there is no such request any more.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `listener` live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_reject(
    listener: uct_listener_h,
    conn_request: uct_conn_request_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; listener);
    // SAFETY: a live listener.
    code_of(&unsafe { handle::listener_reject(listener, conn_request) })
}

/// Tells about a listener.
///
/// - `listener` (in): Listener of `uct_listener_create`, not destroyed yet.
/// - `listener_attr` (in,out): `field_mask` says which members are written.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `uct/api/uct.h`, group `cm`.
///
/// # Safety
/// `listener` live, the masked members of `listener_attr` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_listener_query(
    listener: uct_listener_h,
    listener_attr: *mut uct_listener_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; listener, listener_attr);
    // SAFETY: the caller's struct, of this size in every release.
    let attr = unsafe { &mut *listener_attr };
    if attr.field_mask & u64::from(UCT_LISTENER_ATTR_FIELD_SOCKADDR) != 0 {
        // SAFETY: a live listener.
        match unsafe { handle::listener_address(listener) } {
            // SAFETY: the storage has room for any address.
            Ok(at) => unsafe { addr::write((&raw mut attr.sockaddr).cast(), &at) },
            Err(e) => return e.code(),
        }
    }
    UCS_OK
}
