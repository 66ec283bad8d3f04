//! Endpoints: the exported functions of `ucp.h` and its companions.

use super::blob::{blob, foreign};
use super::param::{self, NULL_PTR, Which, enter, error, own, status_ptr};
use super::worker::progress;
use crate::abi::args::{self, non_null, put_name};
use crate::c::prelude::*;
use crate::ucp::ep::{End, Ep, EpParams, EpRef};
use crate::ucp::request::{Info, Param, Posted, ended, settle};
use crate::ucp::rma::flush;
use crate::ucp::upstream;
use crate::ucp::wireup::cm;
use crate::ucp::wireup::listener::{self, ConnRequest};
use crate::ucp::worker_core::Core;
use crate::ucs::sockaddr as addr;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::params::masked;
use crate::uct::base::params::text;
use crate::uct::registry;
use crate::wire::address::Address;
use crate::wire::blob::BlobError;
use crate::wire::envelope::EnvelopeKind;

masked! {
    EpArgs of ucp_ep_params, field_mask {
        sockaddr: ucs_sock_addr_t, UCP_EP_PARAM_FIELD_SOCK_ADDR;
        local_sockaddr: ucs_sock_addr_t, UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR;
        err_handler: ucp_err_handler_t, UCP_EP_PARAM_FIELD_ERR_HANDLER;
        user_data: *mut c_void, UCP_EP_PARAM_FIELD_USER_DATA;
        err_mode: ucp_err_handling_mode_t, UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
        flags: c_uint, UCP_EP_PARAM_FIELD_FLAGS;
        address: *const ucp_address_t, UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        name: *const c_char, UCP_EP_PARAM_FIELD_NAME;
        conn_request: ucp_conn_request_h, UCP_EP_PARAM_FIELD_CONN_REQUEST;
    }
}

/// The endpoint behind a handle.
///
/// # Safety
/// `h` must be a live endpoint.
#[inline]
pub(super) unsafe fn ep<'a>(h: ucp_ep_h) -> &'a Ep {
    // SAFETY: by the caller's promise.
    unsafe { &*h.cast::<Ep>() }
}

/// Progresses until an operation is over: the blocking calls. Other threads have their turns
/// meanwhile, so the caller holds no lock.
pub(super) fn wait(w: &Core, posted: Result<Posted>) -> ucs_status_t {
    match posted {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::Request(req)) => {
            while !req.is_done() {
                progress(w);
            }
            let status = req.status();
            let _guard = enter(w);
            req.release();
            status
        }
        Err(e) => e.code(),
    }
}

/// Connects to a worker, to a server, or to a waiting client. Returns before the connection stands:
/// operations wait for it. `ucp_ep_close_nbx` ends it.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `params` (in): To whom and how; read during the call only. A `conn_request` in it is used up,
///   also on an error.
/// - `ep_p` (out): The endpoint; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM without a peer. UCS_ERR_INVALID_ADDR for an address
///   that is none. UCS_ERR_UNREACHABLE when no transport reaches it. UCS_ERR_UNSUPPORTED in a child
///   of fork(). That the peer does not answer is told later, to the error handler.
///
/// `ucp/api/ucp.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_create(
    worker: ucp_worker_h,
    params: *const ucp_ep_params_t,
    ep_p: *mut ucp_ep_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, params, ep_p);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    if let Err(e) = w.check_process() {
        return e.code();
    }
    let _guard = enter(w);
    // SAFETY: every release has the mask; members are read behind their bits.
    let args = unsafe { EpArgs::new(params) };
    let handler = args.err_handler().unwrap_or(ucp_err_handler {
        cb: None,
        arg: core::ptr::null_mut(),
    });
    let parsed = EpParams {
        err_mode: args.err_mode().unwrap_or(UCP_ERR_HANDLING_MODE_NONE),
        err_cb: handler.cb,
        // As documented: the endpoint's user data is the handler's argument when it is given.
        err_arg: args.user_data().unwrap_or(handler.arg),
        user_data: args.user_data().unwrap_or(core::ptr::null_mut()),
        flags: args.flags().unwrap_or(0),
    };
    let address = args.address().unwrap_or(core::ptr::null());
    let name = args.name().unwrap_or(core::ptr::null());
    if parsed.err_mode > UCP_ERR_HANDLING_MODE_FAILOVER {
        ucs_error!(
            "ucp_ep_create: error handling mode {} is unknown",
            parsed.err_mode
        );
        return UCS_ERR_INVALID_PARAM;
    }
    let request = args.conn_request().unwrap_or(core::ptr::null_mut());
    let made = if !request.is_null() {
        // SAFETY: a request of a listener of this worker, used up here.
        let request = unsafe { Box::from_raw(request.cast::<ConnRequest>()) };
        listener::accept(w, *request, parsed)
    } else if parsed.flags & UCP_EP_PARAMS_FLAGS_CLIENT_SERVER != 0 {
        // SAFETY: the caller's struct.
        unsafe { client(w, args, parsed) }
    } else if address.is_null() {
        ucs_error!(
            "ucp_ep_create: neither a remote address nor a connection request nor a server's socket address is given"
        );
        return UCS_ERR_INVALID_PARAM;
    } else {
        // SAFETY: the caller's address.
        unsafe { by_address(w, address.cast(), parsed) }
    };
    match made {
        Ok(ep) => {
            // SAFETY: null or the caller's string.
            if let Ok(name) = unsafe { text(name) } {
                ep.given_name.get_or_init(|| name.to_owned());
            }
            // SAFETY: the caller's out parameter.
            unsafe { *ep_p = ep.as_ptr().cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// The endpoint to the owner of a worker address.
///
/// # Safety
/// The first byte at `address` is readable. Nobody writes to the blob meanwhile.
unsafe fn by_address(w: &Core, address: *const u8, params: EpParams) -> Result<EpRef> {
    // SAFETY: the caller's address.
    let bytes = unsafe { blob(EnvelopeKind::Address, address) };
    match bytes.and_then(|bytes| Address::from_envelope(&bytes, registry::is_known)) {
        Ok(a) => crate::ucp::wireup::connect(w, a, params),
        Err(BlobError::Upstream(_)) if w.context().takes_upstream() => {
            upstream::connect(w, &foreign(EnvelopeKind::Address, address), params)
        }
        Err(e) => {
            let (status, remedy) = match e {
                BlobError::Upstream(_) => (
                    Status::UNREACHABLE,
                    ", or this one without UCX_UPSTREAM_PEERS=n",
                ),
                _ => (Status::INVALID_ADDR, ""),
            };
            ucs_error!("ucp_ep_create: the remote address is not usable: {e}{remedy}");
            Err(status)
        }
    }
}

/// A client's endpoint to a server's socket address.
///
/// # Safety
/// The addresses must be readable.
unsafe fn client(w: &Core, args: EpArgs, parsed: EpParams) -> Result<EpRef> {
    let Some(to) = args.sockaddr() else {
        ucs_error!("ucp_ep_create: a client needs the server's socket address");
        return Err(Status::INVALID_PARAM);
    };
    // SAFETY: by the caller's promise.
    let to = unsafe { addr::read(to.addr) };
    let from = args.local_sockaddr().map(|from| {
        // SAFETY: by the caller's promise.
        unsafe { addr::read(from.addr) }
    });
    let from = from.transpose();
    match (to, from) {
        (Ok(to), Ok(from)) => cm::connect(w, to, from, parsed),
        (Err(e), _) | (_, Err(e)) => {
            ucs_error!("ucp_ep_create: a socket address is not usable: {e}");
            Err(e)
        }
    }
}
/// Closes an endpoint.
///
/// # Safety
/// `h` live; gone when the operation is over.
unsafe fn close(h: ucp_ep_h, force: bool, param: &Param) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let ep = unsafe { ep(h) };
    let w: *const Core = ep.worker();
    // SAFETY: the worker outlives its endpoints.
    let _guard = enter(unsafe { &*w });
    ep.worker().check_process()?;
    if force && !ep.handles_errors() && ep.is_of_application() {
        ucs_error!("an endpoint without error handling cannot be closed by force");
        return Err(Status::INVALID_PARAM);
    }
    let failure = ep.usable();
    if !force && failure.is_ok() {
        return flush::close(ep, param);
    }
    // A failed endpoint closes whatever is asked for; who asked for a flush learns that it was none.
    let result = if force {
        Ok(())
    } else {
        ep.flush_result(failure)
    };
    let waits = force.then(|| cm::awaits_acknowledgement(ep, param));
    ep.destroy(Status::CANCELED, End::Forced);
    if let Some(request) = waits.flatten() {
        return settle(request, param);
    }
    // SAFETY: the worker outlives its endpoints.
    ended(unsafe { &*w }, param, Info::default(), result)
}

/// Closes an endpoint, after a flush or, with UCP_EP_CLOSE_FLAG_FORCE, at once. Its error handler
/// is not called any more.
///
/// - `ep` (in): Endpoint; not to be used afterwards, also while a request goes on.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_close_nbx(
    ep: ucp_ep_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, param);
    // SAFETY: the caller's arguments.
    unsafe {
        let param = param::read(param, Which::Send);
        status_ptr(close(
            ep,
            param.flags & UCP_EP_CLOSE_FLAG_FORCE != 0,
            &param,
        ))
    }
}

/// Old form of `ucp_ep_close_nbx`.
///
/// - `ep` (in): Endpoint; not to be used afterwards, also while a request goes on.
/// - `mode` (in): UCP_EP_CLOSE_MODE_FORCE or UCP_EP_CLOSE_MODE_FLUSH.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_close_nb(ep: ucp_ep_h, mode: c_uint) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep);
    if mode > UCP_EP_CLOSE_MODE_FLUSH {
        ucs_error!("ucp_ep_close_nb: mode {mode} is unknown");
        return error(Status::INVALID_PARAM);
    }
    // SAFETY: the caller's endpoint.
    status_ptr(unsafe { close(ep, mode == UCP_EP_CLOSE_MODE_FORCE, &Param::PLAIN) })
}

/// Old form of `ucp_ep_close_nbx`: flushes and closes.
///
/// - `ep` (in): Endpoint; not to be used afterwards, also while a request goes on.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_disconnect_nb(ep: ucp_ep_h) -> ucs_status_ptr_t {
    // SAFETY: the caller's endpoint.
    unsafe { ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH) }
}

/// Flushes and closes an endpoint, and waits. It makes progress, so callbacks are called meanwhile.
///
/// - `h` (in): Endpoint; not to be used afterwards.
///
/// `ucp/api/ucp_compat.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_destroy(h: ucp_ep_h) {
    non_null!(; h);
    // SAFETY: the caller's endpoint; its worker outlives it.
    unsafe {
        let w: *const Core = ep(h).worker();
        wait(&*w, close(h, false, &Param::PLAIN));
    }
}

/// Waits until all operations on an endpoint are complete at the peer. It makes progress, so
/// callbacks are called meanwhile.
///
/// - `h` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - returns: UCS_OK, or the error of the endpoint.
///
/// `ucp/api/ucp_compat.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_flush(h: ucp_ep_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; h);
    // SAFETY: the caller's endpoint.
    let ep = unsafe { ep(h) };
    let w = ep.worker();
    let posted = {
        let _guard = enter(w);
        flush::endpoint(ep, &Param::PLAIN)
    };
    wait(w, posted)
}

/// Changes an endpoint's error handler and user data.
///
/// - `h` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `params` (in): The members to change; the error handling mode has to stay. Read during the
///   call only.
/// - returns: NULL, or UCS_ERR_INVALID_PARAM or UCS_ERR_UNSUPPORTED (in a child of fork()) as a
///   pointer.
///
/// `ucp/api/ucp_compat.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_modify_nb(
    h: ucp_ep_h,
    params: *const ucp_ep_params_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; h, params);
    // SAFETY: the caller's endpoint and struct.
    unsafe {
        let ep = ep(h);
        let _guard = own!(ep.worker(), error(Status::UNSUPPORTED));
        let mask = (*params).field_mask;
        let mut now = ep.params.get();
        if mask & u64::from(UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE) != 0
            && (*params).err_mode != now.err_mode
        {
            ucs_error!("ucp_ep_modify_nb: the error handling mode cannot be changed");
            return error(Status::INVALID_PARAM);
        }
        if mask & u64::from(UCP_EP_PARAM_FIELD_ERR_HANDLER) != 0 {
            now.err_cb = (*params).err_handler.cb;
            now.err_arg = (*params).err_handler.arg;
        }
        if mask & u64::from(UCP_EP_PARAM_FIELD_USER_DATA) != 0 {
            now.user_data = (*params).user_data;
            now.err_arg = now.user_data;
        }
        ep.params.set(now);
    }
    core::ptr::null_mut()
}

/// Old form of `ucp_ep_flush_nbx`.
///
/// - `h` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `flags` (in): 0.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_flush_nb(
    h: ucp_ep_h,
    flags: c_uint,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; h);
    if flags != 0 {
        ucs_error!("ucp_ep_flush_nb: flags {flags:#x} are unknown");
        return error(Status::INVALID_PARAM);
    }
    // SAFETY: the caller's endpoint.
    let ep = unsafe { ep(h) };
    let _guard = enter(ep.worker());
    let param = param::old_send(Param::PLAIN.datatype, cb);
    status_ptr(flush::endpoint(ep, &param))
}

/// Completes all operations on an endpoint that were posted before, at the peer too.
///
/// - `h` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_flush_nbx(
    h: ucp_ep_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; h, param);
    // SAFETY: the caller's arguments.
    unsafe {
        let ep = ep(h);
        let _guard = enter(ep.worker());
        status_ptr(flush::endpoint(ep, &param::read(param, Which::Send)))
    }
}

/// Prints the transports of an endpoint.
///
/// - `h` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `stream` (in): Open for writing.
///
/// `ucp/api/ucp.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_print_info(h: ucp_ep_h, stream: *mut FILE) {
    non_null!(; h, stream);
    // SAFETY: the caller's endpoint and stream.
    unsafe {
        let ep = ep(h);
        let _guard = own!(ep.worker());
        args::print(stream, &ep.describe());
    }
}

/// Estimates how long a message takes.
///
/// - `h` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `param` (in): Bytes of the message; the bit must be set.
/// - `attr` (in,out): `field_mask` must ask for the estimate; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or a bit is missing;
///   UCS_ERR_UNSUPPORTED in a child of fork().
///
/// `ucp/api/ucp.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_evaluate_perf(
    h: ucp_ep_h,
    param: *const ucp_ep_evaluate_perf_param_t,
    attr: *mut ucp_ep_evaluate_perf_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; h, param, attr);
    // SAFETY: the caller's endpoint and structs, used as masked.
    unsafe {
        let ep = ep(h);
        let _guard = own!(ep.worker(), UCS_ERR_UNSUPPORTED);
        if (*param).field_mask & u64::from(UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE) == 0 {
            ucs_error!("ucp_ep_evaluate_perf: no message size is given");
            return UCS_ERR_INVALID_PARAM;
        }
        if (*attr).field_mask & u64::from(UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME) == 0 {
            ucs_error!("ucp_ep_evaluate_perf: no attribute is asked for");
            return UCS_ERR_INVALID_PARAM;
        }
        (*attr).estimated_time = ep.estimate((*param).message_size);
    }
    UCS_OK
}

/// Tells about an endpoint.
///
/// - `h` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK. UCS_ERR_NOT_CONNECTED when a socket address is asked for and the endpoint has
///   none. UCS_ERR_UNSUPPORTED in a child of fork().
///
/// `ucp/api/ucp.h`, group `ep`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_query(h: ucp_ep_h, attr: *mut ucp_ep_attr_t) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; h, attr);
    // SAFETY: the caller's endpoint and struct, written as masked.
    unsafe {
        let ep = ep(h);
        let _guard = own!(ep.worker(), UCS_ERR_UNSUPPORTED);
        let mask = (*attr).field_mask;
        let has = |bit: u32| mask & u64::from(bit) != 0;
        if has(UCP_EP_ATTR_FIELD_NAME) {
            put_name(&mut (*attr).name, &ep.name());
        }
        if has(UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR) || has(UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR) {
            // Only endpoints between client and server have sockets.
            let link = ep.cm_connection.borrow();
            let Some(link) = link.as_ref() else {
                return UCS_ERR_NOT_CONNECTED;
            };
            if has(UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR) {
                addr::write((&raw mut (*attr).remote_sockaddr).cast(), &link.remote);
            }
            if has(UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR) {
                let Some(local) = link.local() else {
                    return UCS_ERR_NOT_CONNECTED;
                };
                addr::write((&raw mut (*attr).local_sockaddr).cast(), &local);
            }
        }
        if has(UCP_EP_ATTR_FIELD_TRANSPORTS) {
            transports(ep, &raw mut (*attr).transports);
        }
        if has(UCP_EP_ATTR_FIELD_USER_DATA) {
            (*attr).user_data = ep.params.get().user_data;
        }
    }
    UCS_OK
}

/// Lists an endpoint's transports in the client's array, whose entries may be shorter than ours.
///
/// # Safety
/// `list` must describe an array of the client's.
unsafe fn transports(ep: &Ep, list: *mut ucp_transports_t) {
    let lanes = ep.lane_names();
    // SAFETY: by the caller's promise.
    unsafe {
        let stride = (*list).entry_size;
        let room = (*list).num_entries as usize;
        for (i, (transport, device)) in lanes.iter().take(room).enumerate() {
            let at = (*list).entries.cast::<u8>().add(i * stride);
            let put = |offset: usize, name: &'static core::ffi::CStr| {
                if offset + size_of::<*const c_char>() <= stride {
                    at.add(offset)
                        .cast::<*const c_char>()
                        .write_unaligned(name.as_ptr());
                }
            };
            put(offset_of!(ucp_transport_entry_t, transport_name), transport);
            put(offset_of!(ucp_transport_entry_t, device_name), device);
        }
        (*list).num_entries = lanes.len().min(room) as c_uint;
    }
}
