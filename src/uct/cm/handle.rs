//! The C objects around a manager, a listener and an endpoint, and the owner that calls C.
//!
//! An endpoint begins with a pointer to the manager's op table, as inline code of clients reads it;
//! a listener begins with its manager. Each function blocks the async context around all it does, so
//! that callbacks come before or after, never within, and may destroy the object.

use super::refuse;
use super::{Disconnect, Endpoint, Listener, Manager, Owner, Remote, Request, RequestId, Visitor};
use crate::c::*;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status, sockaddr};
use crate::uct::base::params::EpArgs;
use crate::uct::base::params::masked;
use crate::{ucs_debug, ucs_error};
use core::ffi::{c_char, c_uint, c_void};
use std::sync::Arc;
use std::sync::OnceLock;

masked! {
    ConnectArgs of uct_ep_connect_params, field_mask {
        private_data: *const c_void, UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA;
        private_data_length: usize, UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH;
    }
}

masked! {
    ListenerArgs of uct_listener_params, field_mask {
        conn_request_cb: uct_cm_listener_conn_request_callback_t, UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB;
        backlog: core::ffi::c_int, UCT_LISTENER_PARAM_FIELD_BACKLOG;
        user_data: *mut c_void, UCT_LISTENER_PARAM_FIELD_USER_DATA;
    }
}

/// The object of `uct_cm_h`.
#[repr(C)]
pub struct CmHandle {
    /// The interface that endpoints point to.
    iface: uct_iface,
    pub manager: Box<dyn Manager>,
}

#[repr(C)]
struct EpHandle {
    c: uct_ep,
    endpoint: OnceLock<Box<dyn Endpoint>>,
}

#[repr(C)]
struct ListenerHandle {
    c: uct_listener,
    listener: OnceLock<Box<dyn Listener>>,
}

impl CmHandle {
    pub fn create(manager: Box<dyn Manager>) -> uct_cm_h {
        let ops = uct_iface_ops {
            ep_connect: Some(connect),
            ep_disconnect: Some(disconnect),
            cm_ep_conn_notify: Some(notify),
            ep_destroy: Some(destroy),
            ep_flush: Some(flush),
            ..refuse::ops()
        };
        Box::into_raw(Box::new(CmHandle {
            iface: uct_iface { ops },
            manager,
        }))
        .cast()
    }

    /// # Safety
    /// `h` must be null or an open manager.
    pub unsafe fn from_c<'a>(h: uct_cm_h) -> Option<&'a CmHandle> {
        // SAFETY: `create` gave out this box; only shared references to it are made.
        unsafe { h.cast::<CmHandle>().as_ref() }
    }

    /// # Safety
    /// `h` must be an open manager without listeners and endpoints; it is gone afterwards.
    pub unsafe fn close(h: uct_cm_h) {
        // SAFETY: made by `create`, closed once.
        drop(unsafe { Box::from_raw(h.cast::<CmHandle>()) });
    }

    fn as_c(&self) -> uct_cm_h {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// Creates a listener; `*out` is written before the first client is shown.
    ///
    /// # Safety
    /// `saddr` readable for its family, the masked members of `params` valid, `out` writable.
    pub unsafe fn listen(
        &self,
        saddr: *const libc::sockaddr,
        socklen: libc::socklen_t,
        params: *const uct_listener_params_t,
        out: *mut uct_listener_h,
    ) -> Result<()> {
        // SAFETY: every release has the mask.
        let args = unsafe { ListenerArgs::new(params) };
        let cb = args.conn_request_cb().flatten();
        let Some(cb) = cb else {
            ucs_error!("uct_listener_create: conn_request_cb is missing");
            return Err(Status::INVALID_PARAM);
        };
        // SAFETY: the caller's address.
        let at = unsafe { sockaddr::read(saddr) }?;
        if (socklen as usize) < sockaddr::size_of_addr(&at) {
            ucs_error!("uct_listener_create: an address of {socklen} bytes is too short");
            return Err(Status::INVALID_PARAM);
        }
        let backlog = args.backlog();
        let handle = Box::into_raw(Box::new(ListenerHandle {
            c: uct_listener { cm: self.as_c() },
            listener: OnceLock::new(),
        }));
        let visitor = CVisitor {
            handle: handle.cast(),
            cb,
            arg: args.user_data().unwrap_or(core::ptr::null_mut()),
        };
        let _blocked = self.manager.block();
        match self.manager.listen(at, backlog, Arc::new(visitor)) {
            Ok(listener) => {
                // SAFETY: made above and not given out yet; the caller's out parameter.
                unsafe {
                    let _ = (*handle).listener.set(listener);
                    *out = handle.cast();
                }
                Ok(())
            }
            Err(e) => {
                // SAFETY: made above and not given out.
                drop(unsafe { Box::from_raw(handle) });
                Err(e)
            }
        }
    }

    /// Creates a client's or a server's endpoint; `*out` is written before the first callback.
    ///
    /// # Safety
    /// The masked members of `p` valid, `out` writable.
    pub unsafe fn ep_create(&self, p: *const uct_ep_params_t, out: *mut uct_ep_h) -> Result<()> {
        // SAFETY: every release has the mask.
        let args = unsafe { EpArgs::new(p) };
        let flags = args.sockaddr_cb_flags().unwrap_or(0);
        if args.sockaddr().is_none() && args.conn_request().is_none() {
            ucs_error!("uct_ep_create: neither sockaddr nor conn_request is given");
            return Err(Status::INVALID_PARAM);
        }
        if flags & UCT_CB_FLAG_ASYNC == 0 {
            ucs_error!("uct_ep_create: callbacks of a connection manager need UCT_CB_FLAG_ASYNC");
            return Err(Status::UNSUPPORTED);
        }
        let handle = Box::into_raw(Box::new(EpHandle {
            c: uct_ep {
                iface: core::ptr::from_ref(&self.iface).cast_mut(),
            },
            endpoint: OnceLock::new(),
        }));
        let owner = Arc::new(COwner::read(args, handle.cast()));
        let _blocked = self.manager.block();
        // SAFETY: the caller's struct.
        let made = unsafe {
            match args.sockaddr() {
                Some(to) => self.connect(to, args.local_sockaddr(), owner),
                None => self.accept(args, owner),
            }
        };
        match made {
            Ok(endpoint) => {
                // SAFETY: made above and not given out yet; the caller's out parameter.
                unsafe {
                    let _ = (*handle).endpoint.set(endpoint);
                    *out = handle.cast();
                }
                Ok(())
            }
            Err(e) => {
                // SAFETY: made above and not given out.
                drop(unsafe { Box::from_raw(handle) });
                Err(e)
            }
        }
    }

    /// # Safety
    /// Each address must be null or readable.
    unsafe fn connect(
        &self,
        to: *const ucs_sock_addr_t,
        from: Option<*const ucs_sock_addr_t>,
        owner: Arc<COwner>,
    ) -> Result<Box<dyn Endpoint>> {
        let at = |addr: *const ucs_sock_addr_t| {
            if addr.is_null() {
                ucs_error!("uct_ep_create: a socket address is NULL");
                return Err(Status::INVALID_PARAM);
            }
            // SAFETY: by the caller's promise.
            unsafe { sockaddr::read((*addr).addr) }
        };
        let to = at(to)?;
        let from = from.filter(|p| !p.is_null()).map(at).transpose()?;
        if from.is_some_and(|from| from.is_ipv4() != to.is_ipv4()) {
            ucs_error!("uct_ep_create: the local address is of another family than the server's");
            return Err(Status::INVALID_PARAM);
        }
        self.manager.connect(to, from, owner)
    }

    /// # Safety
    /// The private data must be readable.
    unsafe fn accept(&self, args: EpArgs, owner: Arc<COwner>) -> Result<Box<dyn Endpoint>> {
        let request = args.conn_request().unwrap_or(core::ptr::null_mut());
        let data = args.private_data().unwrap_or(core::ptr::null());
        let len = args.private_data_length().unwrap_or(0);
        // SAFETY: the caller's private data.
        let private = unsafe { bytes(data, len) }?;
        self.manager
            .accept(RequestId(request as usize), owner, private)
    }
}

/// Private data of the user.
///
/// # Safety
/// `data` must be readable for `len` bytes.
unsafe fn bytes<'a>(data: *const c_void, len: usize) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        ucs_error!("private data of {len} bytes are NULL");
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(data.cast(), len) })
}

/// Runs `body` on an endpoint with callbacks kept out. They come when the context is unblocked,
/// where nothing of the endpoint is in use any more.
///
/// # Safety
/// `ep` must be a live endpoint of a manager.
unsafe fn on_ep(ep: uct_ep_h, body: impl FnOnce(&dyn Endpoint) -> ucs_status_t) -> ucs_status_t {
    // SAFETY: `ep_create` gave out this box; only shared references to it are made.
    let Some(endpoint) = (unsafe { (*ep.cast::<EpHandle>()).endpoint.get() }) else {
        return UCS_ERR_NOT_CONNECTED;
    };
    let ctx = endpoint.context();
    let blocked = ctx.block();
    let status = body(endpoint.as_ref());
    drop(blocked);
    status
}

unsafe extern "C" fn connect(ep: uct_ep_h, p: *const uct_ep_connect_params_t) -> ucs_status_t {
    // SAFETY: every release has the mask.
    let args = unsafe { ConnectArgs::new(p) };
    let data = args.private_data().unwrap_or(core::ptr::null());
    let len = args.private_data_length().unwrap_or(0);
    // SAFETY: the caller's private data.
    let private = match unsafe { bytes(data, len) } {
        Ok(p) => p,
        Err(e) => return e.code(),
    };
    // SAFETY: C called this through the table of a manager's endpoint.
    unsafe { on_ep(ep, |e| code_of(&e.connect(private))) }
}

unsafe extern "C" fn disconnect(ep: uct_ep_h, _flags: c_uint) -> ucs_status_t {
    // SAFETY: as in `connect`.
    unsafe {
        on_ep(ep, |e| match e.disconnect() {
            Ok(Disconnect::Done) => UCS_OK,
            Ok(Disconnect::InProgress) => UCS_INPROGRESS,
            Err(e) => e.code(),
        })
    }
}

unsafe extern "C" fn notify(ep: uct_ep_h) -> ucs_status_t {
    // SAFETY: as in `connect`.
    unsafe { on_ep(ep, |e| code_of(&e.notify(&[]))) }
}

/// What there is to send was given to the kernel already.
unsafe extern "C" fn flush(
    _ep: uct_ep_h,
    _flags: c_uint,
    _comp: *mut uct_completion_t,
) -> ucs_status_t {
    UCS_OK
}

unsafe extern "C" fn destroy(ep: uct_ep_h) {
    // SAFETY: C called this through the table of a manager's endpoint, for the last time.
    drop(unsafe { Box::from_raw(ep.cast::<EpHandle>()) });
}

/// The address of a listener.
///
/// # Safety
/// `h` must be a live listener.
pub unsafe fn listener_address(h: uct_listener_h) -> Result<std::net::SocketAddr> {
    // SAFETY: `listen` gave out this box; only shared references to it are made.
    let listener = unsafe { (*h.cast::<ListenerHandle>()).listener.get() };
    listener
        .map(|listener| listener.address())
        .ok_or(Status::INVALID_PARAM)
}

/// Rejects a request of a listener's manager.
///
/// # Safety
/// `h` must be a live listener.
pub unsafe fn listener_reject(h: uct_listener_h, request: uct_conn_request_h) -> Result<()> {
    // SAFETY: a listener begins with its manager, which outlives it.
    let cm = unsafe { CmHandle::from_c((*h).cm) }.ok_or(Status::INVALID_PARAM)?;
    cm.manager.reject(RequestId(request as usize))
}

/// # Safety
/// `h` must be a live listener; it is gone afterwards.
pub unsafe fn listener_destroy(h: uct_listener_h) {
    // SAFETY: made by `listen`, destroyed once.
    drop(unsafe { Box::from_raw(h.cast::<ListenerHandle>()) });
}

struct CVisitor {
    handle: uct_listener_h,
    cb: unsafe extern "C" fn(
        uct_listener_h,
        *mut c_void,
        *const uct_cm_listener_conn_request_args_t,
    ),
    arg: *mut c_void,
}

// SAFETY: the pointers are handed to the user's callback, which has to be thread safe by the C
// contract of connection managers; calls are serialised by the async context.
unsafe impl Send for CVisitor {}
// SAFETY: as above.
unsafe impl Sync for CVisitor {}

/// A device's name in a field of a C struct.
fn dev_name(name: &str) -> [c_char; UCT_DEVICE_NAME_MAX] {
    let mut field = [0; UCT_DEVICE_NAME_MAX];
    for (to, from) in field
        .iter_mut()
        .take(UCT_DEVICE_NAME_MAX - 1)
        .zip(name.bytes())
    {
        *to = from as c_char;
    }
    field
}

fn remote_data(remote: Option<Remote<'_>>) -> uct_cm_remote_data_t {
    let all = UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR
        | UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH
        | UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA
        | UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH;
    match remote {
        Some(r) => uct_cm_remote_data_t {
            field_mask: u64::from(all),
            dev_addr: r.device.as_ptr().cast(),
            dev_addr_length: r.device.len(),
            conn_priv_data: r.private.as_ptr().cast(),
            conn_priv_data_length: r.private.len(),
        },
        None => uct_cm_remote_data_t {
            field_mask: 0,
            dev_addr: core::ptr::null(),
            dev_addr_length: 0,
            conn_priv_data: core::ptr::null(),
            conn_priv_data_length: 0,
        },
    }
}

impl Visitor for CVisitor {
    fn request(&self, request: Request<'_>) {
        let data = remote_data(Some(request.remote));
        // SAFETY: plain bytes; all zeros is a value of it.
        let mut client: libc::sockaddr_storage = unsafe { core::mem::zeroed() };
        // SAFETY: the storage has room for any address.
        unsafe { sockaddr::write((&raw mut client).cast(), &request.client) };
        let all = UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME
            | UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST
            | UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA
            | UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR;
        let args = uct_cm_listener_conn_request_args_t {
            field_mask: u64::from(all),
            dev_name: dev_name(request.device),
            conn_request: request.id.0 as uct_conn_request_h,
            remote_data: &data,
            client_address: ucs_sock_addr_t {
                addr: (&raw const client).cast(),
                addrlen: sockaddr::size_of_addr(&request.client) as libc::socklen_t,
            },
        };
        // SAFETY: the user's callback with its listener and argument.
        unsafe { (self.cb)(self.handle, self.arg, &args) };
    }
}

/// An endpoint's user in C: callbacks, some of them missing, and their argument.
struct COwner {
    ep: uct_ep_h,
    arg: *mut c_void,
    pack: uct_cm_ep_priv_data_pack_callback_t,
    resolve: uct_cm_ep_resolve_callback_t,
    connect: uct_cm_ep_client_connect_callback_t,
    notify: uct_cm_ep_server_conn_notify_callback_t,
    disconnect: uct_ep_disconnect_cb_t,
}

// SAFETY: as for `CVisitor`.
unsafe impl Send for COwner {}
// SAFETY: as for `CVisitor`.
unsafe impl Sync for COwner {}

impl COwner {
    fn read(args: EpArgs, ep: uct_ep_h) -> COwner {
        COwner {
            ep,
            arg: args.user_data().unwrap_or(core::ptr::null_mut()),
            pack: args.sockaddr_pack_cb().flatten(),
            resolve: args.cm_resolve_cb().flatten(),
            connect: args.sockaddr_cb_client().flatten(),
            notify: args.sockaddr_cb_server().flatten(),
            disconnect: args.disconnect_cb().flatten(),
        }
    }
}

impl Owner for COwner {
    fn packs(&self) -> bool {
        self.pack.is_some()
    }

    fn pack(&self, device: &str, out: &mut [u8]) -> Result<usize> {
        let Some(cb) = self.pack else { return Ok(0) };
        let args = uct_cm_ep_priv_data_pack_args_t {
            field_mask: u64::from(UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME),
            dev_name: dev_name(device),
        };
        // SAFETY: the user's callback with its argument and room for `max_conn_priv` bytes.
        let n = unsafe { cb(self.arg, &args, out.as_mut_ptr().cast()) };
        Status::check_length(n).inspect_err(|_| ucs_debug!("private data were not packed: {n}"))
    }

    fn resolved(&self, device: &str, outcome: Result<()>) -> Result<()> {
        let Some(cb) = self.resolve else {
            return Ok(());
        };
        let all = UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME | UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS;
        let args = uct_cm_ep_resolve_args_t {
            field_mask: u64::from(all),
            dev_name: dev_name(device),
            status: code_of(&outcome),
        };
        // SAFETY: the user's callback with its argument.
        let answer = unsafe { cb(self.arg, &args) };
        Status::from_code(answer).map_or(Ok(()), Err)
    }

    fn connected(&self, answer: Result<Remote<'_>>) {
        let Some(cb) = self.connect else { return };
        let data = remote_data(answer.ok());
        let all = UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA
            | UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS;
        let args = uct_cm_ep_client_connect_args_t {
            field_mask: u64::from(all),
            remote_data: &data,
            status: code_of(&answer.map(drop)),
        };
        // SAFETY: the user's callback with its endpoint and argument.
        unsafe { cb(self.ep, self.arg, &args) };
    }

    fn notified(&self, outcome: Result<&[u8]>) {
        let Some(cb) = self.notify else { return };
        let args = uct_cm_ep_server_conn_notify_args_t {
            field_mask: u64::from(UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS),
            status: code_of(&outcome.map(drop)),
        };
        // SAFETY: the user's callback with its endpoint and argument.
        unsafe { cb(self.ep, self.arg, &args) };
    }

    fn disconnected(&self) {
        if let Some(cb) = self.disconnect {
            // SAFETY: the user's callback with its endpoint and argument.
            unsafe { cb(self.ep, self.arg) };
        }
    }
}
