//! A context, workers and an endpoint of UCP, made to be described.

use super::{Library, Result, stream};
use crate::c::*;
use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::mem::zeroed;
use std::net::SocketAddr;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// A peer in the same process answers at once.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Context<'l> {
    library: &'l Library,
    handle: ucp_context_h,
}

pub struct Worker<'c> {
    library: &'c Library,
    handle: ucp_worker_h,
}

pub struct Endpoint<'w> {
    worker: &'w Worker<'w>,
    handle: ucp_ep_h,
}

/// Accepts one client after the other on a port that the kernel chooses.
pub struct Listener<'w> {
    worker: &'w Worker<'w>,
    handle: ucp_listener_h,
    /// The client that was not accepted yet.
    client: Box<Cell<ucp_conn_request_h>>,
}

/// What a context is made with.
pub struct ContextParams<'a> {
    pub features: u64,
    pub endpoints: Option<usize>,
    pub endpoints_of_host: Option<usize>,
    /// Variables that count over the environment, without the prefix.
    pub variables: &'a [(&'a str, &'a str)],
}

impl<'l> Context<'l> {
    pub fn new(library: &'l Library, params: &ContextParams) -> Result<Context<'l>> {
        let f = &library.functions;
        let mut config = null_mut();
        // SAFETY: a handle to write to.
        let status = unsafe { (f.ucp_config_read)(null(), null(), &mut config) };
        library.check("ucp_config_read", status)?;
        let modified = params.variables.iter().try_for_each(|(name, value)| {
            let (name, value) = (
                CString::new(*name).unwrap_or_default(),
                CString::new(*value).unwrap_or_default(),
            );
            // SAFETY: the configuration of above, strings that live.
            let status = unsafe { (f.ucp_config_modify)(config, name.as_ptr(), value.as_ptr()) };
            library.check("ucp_config_modify", status)
        });
        // SAFETY: all zeros are a value of every member; only those that the mask names are read.
        let mut given: ucp_params_t = unsafe { zeroed() };
        given.field_mask = u64::from(UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME);
        given.features = params.features;
        given.name = c"ucx_info".as_ptr();
        if let Some(count) = params.endpoints {
            given.field_mask |= u64::from(UCP_PARAM_FIELD_ESTIMATED_NUM_EPS);
            given.estimated_num_eps = count;
        }
        if let Some(count) = params.endpoints_of_host {
            given.field_mask |= u64::from(UCP_PARAM_FIELD_ESTIMATED_NUM_PPN);
            given.estimated_num_ppn = count;
        }
        let mut handle = null_mut();
        let made = modified.and_then(|()| {
            // SAFETY: live parameters and configuration, a handle to write to.
            let status = unsafe { (f.ucp_init_version)(1, 22, &given, config, &mut handle) };
            library.check("ucp_init", status)
        });
        // SAFETY: read above, used by nobody any more.
        unsafe { (f.ucp_config_release)(config) };
        made.map(|()| Context { library, handle })
    }

    pub fn describe(&self) -> String {
        // SAFETY: live, and the stream is open during the call.
        stream::captured(|stream| unsafe {
            (self.library.functions.ucp_context_print_info)(self.handle, stream)
        })
    }

    /// How `size` (as `4k` or `1m,host`) is allocated.
    pub fn describe_memory(&self, size: &str) -> String {
        let size = CString::new(size).unwrap_or_default();
        // SAFETY: live, a string, and the stream is open during the call.
        stream::captured(|stream| unsafe {
            (self.library.functions.ucp_mem_print_info)(size.as_ptr(), self.handle, stream)
        })
    }

    pub fn worker(&self) -> Result<Worker<'_>> {
        // SAFETY: all zeros are a value of every member; only those that the mask names are read.
        let mut params: ucp_worker_params_t = unsafe { zeroed() };
        params.field_mask = u64::from(UCP_WORKER_PARAM_FIELD_THREAD_MODE);
        params.thread_mode = UCS_THREAD_MODE_SINGLE;
        let mut handle = null_mut();
        // SAFETY: live context and parameters, a handle to write to.
        let status = unsafe {
            (self.library.functions.ucp_worker_create)(self.handle, &params, &mut handle)
        };
        self.library.check("ucp_worker_create", status)?;
        Ok(Worker {
            library: self.library,
            handle,
        })
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: live; workers borrow it and are destroyed before.
        unsafe { (self.library.functions.ucp_cleanup)(self.handle) };
    }
}

impl<'c> Worker<'c> {
    pub fn describe(&self) -> String {
        // SAFETY: live, and the stream is open during the call.
        stream::captured(|stream| unsafe {
            (self.library.functions.ucp_worker_print_info)(self.handle, stream)
        })
    }

    pub fn progress(&self) {
        // SAFETY: live, used by this thread alone.
        unsafe { (self.library.functions.ucp_worker_progress)(self.handle) };
    }

    fn create(&self, params: &ucp_ep_params_t) -> Result<Endpoint<'_>> {
        let mut handle = null_mut();
        // SAFETY: live worker and parameters, a handle to write to.
        let status =
            unsafe { (self.library.functions.ucp_ep_create)(self.handle, params, &mut handle) };
        self.library.check("ucp_ep_create", status)?;
        Ok(Endpoint {
            worker: self,
            handle,
        })
    }

    fn params(&self, error_handling: bool) -> ucp_ep_params_t {
        // SAFETY: all zeros are a value of every member; only those that the mask names are read.
        let mut params: ucp_ep_params_t = unsafe { zeroed() };
        params.field_mask = u64::from(UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE);
        params.err_mode = match error_handling {
            true => UCP_ERR_HANDLING_MODE_PEER,
            false => UCP_ERR_HANDLING_MODE_NONE,
        };
        params
    }

    /// To another worker, by its address.
    pub fn connect(&self, peer: &Worker, error_handling: bool) -> Result<Endpoint<'_>> {
        let f = &self.library.functions;
        // SAFETY: all zeros are a value of every member.
        let mut attr: ucp_worker_attr_t = unsafe { zeroed() };
        attr.field_mask = u64::from(UCP_WORKER_ATTR_FIELD_ADDRESS);
        // SAFETY: a live worker, a structure to write to.
        let status = unsafe { (f.ucp_worker_query)(peer.handle, &mut attr) };
        self.library.check("ucp_worker_query", status)?;
        let mut params = self.params(error_handling);
        params.field_mask |= u64::from(UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
        params.address = attr.address;
        let endpoint = self.create(&params);
        // SAFETY: the address of above; the endpoint has what it needs of it.
        unsafe { (f.ucp_worker_release_address)(peer.handle, attr.address) };
        endpoint
    }

    /// To a listener.
    pub fn connect_to(&self, address: &SocketAddr, error_handling: bool) -> Result<Endpoint<'_>> {
        let address = socket2::SockAddr::from(*address);
        let mut params = self.params(error_handling);
        params.field_mask |= u64::from(UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS);
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        params.sockaddr = in_c(&address);
        self.create(&params)
    }

    pub fn listen(&self, address: &SocketAddr) -> Result<Listener<'_>> {
        let address = socket2::SockAddr::from(*address);
        let client = Box::new(Cell::new(null_mut()));
        // SAFETY: all zeros are a value of every member; only those that the mask names are read.
        let mut params: ucp_listener_params_t = unsafe { zeroed() };
        params.field_mask =
            u64::from(UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER);
        params.sockaddr = in_c(&address);
        params.conn_handler = ucp_listener_conn_handler {
            cb: Some(remember),
            arg: std::ptr::from_ref(&*client).cast_mut().cast(),
        };
        let mut handle = null_mut();
        // SAFETY: live worker and parameters, a handle to write to.
        let status = unsafe {
            (self.library.functions.ucp_listener_create)(self.handle, &params, &mut handle)
        };
        self.library.check("ucp_listener_create", status)?;
        Ok(Listener {
            worker: self,
            handle,
            client,
        })
    }
}

fn in_c(address: &socket2::SockAddr) -> ucs_sock_addr_t {
    ucs_sock_addr_t {
        addr: address.as_ptr().cast(),
        addrlen: address.len(),
    }
}

/// Called in progress with a new client.
unsafe extern "C" fn remember(request: ucp_conn_request_h, client: *mut c_void) {
    // SAFETY: the cell of the listener, which is destroyed before it.
    unsafe { &*client.cast::<Cell<ucp_conn_request_h>>() }.set(request);
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // SAFETY: live; listeners and endpoints borrow it and are gone.
        unsafe { (self.library.functions.ucp_worker_destroy)(self.handle) };
    }
}

impl<'w> Listener<'w> {
    /// The address with the port that was chosen.
    pub fn address(&self) -> Result<SocketAddr> {
        let library = self.worker.library;
        // SAFETY: all zeros are a value of every member.
        let mut attr: ucp_listener_attr_t = unsafe { zeroed() };
        attr.field_mask = u64::from(UCP_LISTENER_ATTR_FIELD_SOCKADDR);
        // SAFETY: a live listener, a structure to write to.
        let status = unsafe { (library.functions.ucp_listener_query)(self.handle, &mut attr) };
        library.check("ucp_listener_query", status)?;
        let fill = |storage: *mut socket2::SockAddrStorage, length: *mut libc::socklen_t| {
            // SAFETY: the room of any address, at its start.
            unsafe {
                storage
                    .cast::<libc::sockaddr_storage>()
                    .write(attr.sockaddr)
            };
            // SAFETY: a number to write to.
            unsafe { length.write(size_of::<libc::sockaddr_storage>() as libc::socklen_t) };
            Ok(())
        };
        // SAFETY: filled with an address that the library has written.
        let filled = unsafe { socket2::SockAddr::try_init(fill) };
        let address = filled.ok().and_then(|((), address)| address.as_socket());
        address.ok_or(super::Failed {
            call: "ucp_listener_query",
            why: "no address of the internet".to_owned(),
        })
    }

    /// The endpoint to the client that has come since the last call.
    pub fn accept(&self, error_handling: bool) -> Option<Result<Endpoint<'w>>> {
        let client = self.client.replace(null_mut());
        if client.is_null() {
            return None;
        }
        let mut params = self.worker.params(error_handling);
        params.field_mask |= u64::from(UCP_EP_PARAM_FIELD_CONN_REQUEST);
        params.conn_request = client;
        Some(self.worker.create(&params))
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        // SAFETY: live.
        unsafe { (self.worker.library.functions.ucp_listener_destroy)(self.handle) };
    }
}

impl Endpoint<'_> {
    pub fn describe(&self) -> String {
        // SAFETY: live, and the stream is open during the call.
        stream::captured(|stream| unsafe {
            (self.worker.library.functions.ucp_ep_print_info)(self.handle, stream)
        })
    }

    /// Waits until what was sent is at the peer, whose worker `step` progresses.
    pub fn flush(&self, step: &mut dyn FnMut()) -> Result<()> {
        // SAFETY: all zeros: no member is read.
        let params: ucp_request_param_t = unsafe { zeroed() };
        // SAFETY: a live endpoint and parameters.
        let request =
            unsafe { (self.worker.library.functions.ucp_ep_flush_nbx)(self.handle, &params) };
        self.wait("ucp_ep_flush_nbx", request, step)
    }

    /// Closes it and waits for that.
    pub fn close(self, step: &mut dyn FnMut()) -> Result<()> {
        // SAFETY: all zeros: no member is read.
        let params: ucp_request_param_t = unsafe { zeroed() };
        // SAFETY: a live endpoint, given up, and parameters.
        let request =
            unsafe { (self.worker.library.functions.ucp_ep_close_nbx)(self.handle, &params) };
        self.wait("ucp_ep_close_nbx", request, step)
    }

    fn wait(&self, call: &'static str, request: *mut c_void, step: &mut dyn FnMut()) -> Result<()> {
        let library = self.worker.library;
        let f = &library.functions;
        // The last numbers are statuses, as in UCS_PTR_IS_ERR.
        if request.is_null() {
            return Ok(());
        }
        if request.addr() as isize >= isize::from(UCS_ERR_LAST) && (request.addr() as isize) < 0 {
            return library.check(call, request.addr() as ucs_status_t);
        }
        let until = Instant::now() + PATIENCE;
        let status = loop {
            // SAFETY: the request is freed below only.
            match unsafe { (f.ucp_request_check_status)(request) } {
                UCS_INPROGRESS if Instant::now() > until => break UCS_ERR_TIMED_OUT,
                UCS_INPROGRESS => step(),
                status => break status,
            }
            self.worker.progress();
        };
        // SAFETY: a request of the library, not used any more.
        unsafe { (f.ucp_request_free)(request) };
        library.check(call, status)
    }
}
