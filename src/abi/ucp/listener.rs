//! Listeners and connection requests: the exported functions of `ucp.h` and its companions.

use super::param::{self, enter};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::ep::EpRef;
use crate::ucp::wireup::listener::{self, Arrival, ConnRequest, UcpListener};
use crate::ucs::sockaddr as addr;
use crate::ucs::status::code_of;
use crate::ucs_error;
use crate::uct::base::params::masked;
use std::rc::Rc;

masked! {
    ListenerArgs of ucp_listener_params, field_mask {
        sockaddr: ucs_sock_addr_t, UCP_LISTENER_PARAM_FIELD_SOCK_ADDR;
        conn_handler: ucp_listener_conn_handler_t, UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
        accept_handler: ucp_listener_accept_handler_t, UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER;
    }
}

/// Binds a socket and accepts clients while the worker progresses. `ucp_listener_destroy` frees it.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `params` (in): Socket address and one handler; read during the call only.
/// - `listener_p` (out): The listener; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM without an address or not exactly one handler.
///   UCS_ERR_BUSY: the address is in use. UCS_ERR_UNSUPPORTED in a child of fork().
///
/// `ucp/api/ucp.h`, group `listener`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_create(
    worker: ucp_worker_h,
    params: *const ucp_listener_params_t,
    listener_p: *mut ucp_listener_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, params, listener_p);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    if let Err(e) = w.check_process() {
        return e.code();
    }
    let _guard = enter(w);
    // SAFETY: the struct has had this size in every release; members are read behind their bits.
    let args = unsafe { ListenerArgs::new(params) };
    let Some(address) = args.sockaddr() else {
        ucs_error!("ucp_listener_create: no socket address is given");
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's address.
    let at = match unsafe { addr::read(address.addr) } {
        Ok(a) => a,
        Err(e) => {
            ucs_error!("ucp_listener_create: the socket address is not usable: {e}");
            return e.code();
        }
    };
    let conn = args.conn_handler().unwrap_or(ucp_listener_conn_handler {
        cb: None,
        arg: core::ptr::null_mut(),
    });
    let accept = args
        .accept_handler()
        .unwrap_or(ucp_listener_accept_handler {
            cb: None,
            arg: core::ptr::null_mut(),
        });
    let arrival = match (conn.cb, accept.cb) {
        (Some(cb), None) => Arrival::Request(Rc::new(move |request: ConnRequest| {
            let handle = Box::into_raw(Box::new(request)).cast();
            // SAFETY: the user's callback with its argument; the request is the user's from here.
            unsafe { cb(handle, conn.arg) };
        })),
        (None, Some(cb)) => Arrival::Endpoint(Rc::new(move |ep: EpRef| {
            // SAFETY: the user's callback with its argument; the endpoint is the user's from here.
            unsafe { cb(ep.as_ptr().cast(), accept.arg) };
        })),
        _ => {
            ucs_error!(
                "ucp_listener_create: exactly one of conn_handler and accept_handler is needed"
            );
            return UCS_ERR_INVALID_PARAM;
        }
    };
    match UcpListener::open(w, at, arrival) {
        Ok(l) => {
            // SAFETY: the caller's out parameter.
            unsafe { *listener_p = Box::into_raw(l).cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Closes a listener. Endpoints made through it stay. In a child of fork() it does nothing.
///
/// - `listener` (in): Listener of `ucp_listener_create`; not to be used afterwards.
///
/// `ucp/api/ucp.h`, group `listener`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_destroy(listener: ucp_listener_h) {
    non_null!(; listener);
    // SAFETY: boxed by `ucp_listener_create`; its worker outlives it.
    unsafe {
        let w: *const crate::ucp::worker_core::Core = (*listener.cast::<UcpListener>()).worker();
        // A child of fork() may tidy up: there is nothing to do.
        if (*w).inherited.get() {
            return;
        }
        let _guard = enter(&*w);
        drop(Box::from_raw(listener.cast::<UcpListener>()));
    }
}

/// Tells about a listener.
///
/// - `listener` (in): Listener of `ucp_listener_create`, not destroyed yet.
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `ucp/api/ucp.h`, group `listener`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_query(
    listener: ucp_listener_h,
    attr: *mut ucp_listener_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; listener, attr);
    // SAFETY: a live listener and the caller's struct, written as masked.
    unsafe {
        if (*attr).field_mask & u64::from(UCP_LISTENER_ATTR_FIELD_SOCKADDR) != 0 {
            match (*listener.cast::<UcpListener>()).address() {
                Ok(at) => addr::write((&raw mut (*attr).sockaddr).cast(), &at),
                Err(e) => return e.code(),
            }
        }
    }
    UCS_OK
}

/// Tells about a waiting client.
///
/// - `conn_request` (in): Request that the listener's handler got, not answered yet.
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `ucp/api/ucp.h`, group `listener`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_conn_request_query(
    conn_request: ucp_conn_request_h,
    attr: *mut ucp_conn_request_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; conn_request, attr);
    // SAFETY: a live request and the caller's struct, written as masked.
    unsafe {
        let request = &*conn_request.cast::<ConnRequest>();
        let mask = (*attr).field_mask;
        if mask & u64::from(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR) != 0 {
            addr::write((&raw mut (*attr).client_address).cast(), &request.client);
        }
        if mask & u64::from(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID) != 0 {
            (*attr).client_id = request.client_id();
        }
    }
    UCS_OK
}

/// Refuses a waiting client, who gets UCS_ERR_REJECTED.
///
/// - `listener` (in): Listener whose handler got the request.
/// - `conn_request` (in): The request; used up by the call.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; the error when the client is
///   gone.
///
/// `ucp/api/ucp.h`, group `listener`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_listener_reject(
    listener: ucp_listener_h,
    conn_request: ucp_conn_request_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; listener, conn_request);
    // SAFETY: a live listener; the request is used up.
    unsafe {
        let w = (*listener.cast::<UcpListener>()).worker();
        if let Err(e) = w.check_process() {
            return e.code();
        }
        let _guard = enter(w);
        let request = Box::from_raw(conn_request.cast::<ConnRequest>());
        code_of(&listener::reject(&request))
    }
}
