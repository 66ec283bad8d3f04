//! `Device`: an open device with its protection domain, its ports, its asynchronous events and registered memory.

use super::table::{Table, table};
use crate::c::verbs::*;
use crate::sys::fork::Stamp;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::offset_of;
use core::ptr::{NonNull, null_mut};
use std::ffi::CString;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;

/// An open device. Threads may share it: libibverbs locks what needs locks.
pub struct Device {
    pub(super) table: &'static Table,
    context: NonNull<ibv_context>,
    domain: NonNull<ibv_pd>,
    #[cfg(feature = "rdma-sys")]
    ops: ibv_context_ops,
    made_by: Stamp,
}

// SAFETY: libibverbs allows calls on one context and its objects from several threads.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

type AdviseMemory = unsafe extern "C" fn(*mut ibv_pd, u32, u32, *mut ibv_sge, u32) -> c_int;

/// A port's attributes and link layer.
pub type Port = ibv_port_attr;

/// What a registration allows, besides reads by the own device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub local_write: bool,
    pub remote_read: bool,
    pub remote_write: bool,
    pub remote_atomic: bool,
    /// Pages are fetched when the device needs them, and not pinned.
    pub on_demand: bool,
}

impl Access {
    /// Remote writes and atomics need local ones, says the specification.
    fn writes_here(self) -> bool {
        self.local_write || self.remote_write || self.remote_atomic
    }

    /// `IBV_ACCESS_*`.
    fn flags(self) -> c_int {
        let flag = |on, flag| if on { flag } else { 0 };
        flag(self.writes_here(), IBV_ACCESS_LOCAL_WRITE)
            | flag(self.remote_read, IBV_ACCESS_REMOTE_READ)
            | flag(self.remote_write, IBV_ACCESS_REMOTE_WRITE)
            | flag(self.remote_atomic, IBV_ACCESS_REMOTE_ATOMIC)
            | flag(self.on_demand, IBV_ACCESS_ON_DEMAND)
    }
}

/// An asynchronous event of a device.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    /// `IBV_EVENT_*`.
    pub kind: u32,
    pub source: Source,
    pub text: String,
}

/// What an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Device,
    Port(u32),
    /// A queue pair, with the `id` of the queue of its receives' completions.
    Pair {
        number: u32,
        completions: usize,
    },
    /// Queues, by their `id`.
    Completions(usize),
    Receives(usize),
}

impl Source {
    /// Reads an event that was taken and not acknowledged.
    fn of(event: &ibv_async_event) -> Source {
        let element = event.element;
        match event.event_type {
            IBV_EVENT_QP_FATAL
            | IBV_EVENT_QP_REQ_ERR
            | IBV_EVENT_QP_ACCESS_ERR
            | IBV_EVENT_COMM_EST
            | IBV_EVENT_SQ_DRAINED
            | IBV_EVENT_PATH_MIG
            | IBV_EVENT_PATH_MIG_ERR
            | IBV_EVENT_QP_LAST_WQE_REACHED => {
                // SAFETY: an event of a queue pair, which is destroyed only once its events are acknowledged.
                match unsafe { element.cast::<ibv_qp>().as_ref() } {
                    Some(pair) => Source::Pair {
                        number: pair.qp_num,
                        completions: pair.recv_cq as usize,
                    },
                    None => Source::Device,
                }
            }
            IBV_EVENT_CQ_ERR => Source::Completions(element as usize),
            IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => Source::Receives(element as usize),
            IBV_EVENT_PORT_ACTIVE
            | IBV_EVENT_PORT_ERR
            | IBV_EVENT_LID_CHANGE
            | IBV_EVENT_PKEY_CHANGE
            | IBV_EVENT_SM_CHANGE
            | IBV_EVENT_CLIENT_REREGISTER
            | IBV_EVENT_GID_CHANGE => Source::Port(element as usize as u32),
            _ => Source::Device,
        }
    }
}

/// The library's error for a call that answered null.
pub(super) fn errno() -> io::Error {
    io::Error::last_os_error()
}

/// The error of a call that answers an errno.
pub(super) fn check(code: c_int) -> io::Result<()> {
    match code {
        0 => Ok(()),
        -1 => Err(errno()),
        code => Err(io::Error::from_raw_os_error(code.abs())),
    }
}

/// A name in a struct of the library's.
pub(super) fn name_of(name: &[c_char; 64]) -> String {
    let bytes = name.iter().map(|&c| c as u8).take_while(|&b| b != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

/// The devices of this machine, freed when dropped.
struct List {
    table: &'static Table,
    devices: *mut *mut ibv_device,
    count: usize,
}

impl List {
    fn read() -> io::Result<Option<List>> {
        let Some(table) = table()? else {
            return Ok(None);
        };
        let mut count = 0;
        // SAFETY: a writable count.
        let devices = unsafe { (table.ibv_get_device_list)(&mut count) };
        if devices.is_null() {
            return Err(errno());
        }
        Ok(Some(List {
            table,
            devices,
            count: usize::try_from(count).unwrap_or(0),
        }))
    }

    fn iter(&self) -> impl Iterator<Item = &ibv_device> {
        (0..self.count).filter_map(|i| {
            // SAFETY: the list has `count` devices, alive until it is freed.
            unsafe { self.devices.add(i).read().as_ref() }
        })
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: a list of the library's, freed once.
        unsafe { (self.table.ibv_free_device_list)(self.devices) };
    }
}

/// The names of the InfiniBand and RoCE adapters whose nodes this process may open. `blocked` is told of each other
/// device, and why.
pub fn device_names(mut blocked: impl FnMut(&str, &str)) -> io::Result<Vec<String>> {
    let Some(list) = List::read()? else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for device in list.iter() {
        let name = name_of(&device.name);
        if (device.node_type, device.transport_type) != (IBV_NODE_CA, IBV_TRANSPORT_IB) {
            blocked(&name, "it is no InfiniBand or RoCE adapter");
            continue;
        }
        let node = format!("/dev/infiniband/{}", name_of(&device.dev_name));
        match may_open(&node) {
            Ok(()) => names.push(name),
            Err(e) => blocked(&name, &format!("{node}: {e}")),
        }
    }
    Ok(names)
}

fn may_open(node: &str) -> io::Result<()> {
    let path = CString::new(node)?;
    // SAFETY: a C string.
    match unsafe { libc::access(path.as_ptr(), libc::R_OK | libc::W_OK) } {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

/// Prepares the process for fork() while memory is registered, unless the kernel does that by itself. To be called
/// before anything is registered.
pub fn prepare_fork() -> io::Result<()> {
    let Some(table) = table()? else {
        return Ok(());
    };
    if let Some(asks) = table.ibv_is_fork_initialized {
        // SAFETY: no arguments.
        let state = unsafe { asks() };
        if state == IBV_FORK_UNNEEDED {
            return Ok(());
        }
    }
    // SAFETY: no arguments.
    check(unsafe { (table.ibv_fork_init)() })
}

impl Device {
    /// Opens the device of this name. `NotFound` when there is none.
    pub fn open(name: &str) -> io::Result<Arc<Device>> {
        let list = List::read()?.ok_or(io::ErrorKind::NotFound)?;
        let found = list.iter().find(|device| name_of(&device.name) == name);
        let found = core::ptr::from_ref(found.ok_or(io::ErrorKind::NotFound)?);
        let table = list.table;
        // SAFETY: a device of the list.
        let context = unsafe { (table.ibv_open_device)(found.cast_mut()) };
        let context = NonNull::new(context).ok_or_else(errno)?;
        // SAFETY: just opened.
        let domain = unsafe { (table.ibv_alloc_pd)(context.as_ptr()) };
        let Some(domain) = NonNull::new(domain) else {
            let e = errno();
            // SAFETY: opened above, nothing stands on it.
            unsafe { (table.ibv_close_device)(context.as_ptr()) };
            return Err(e);
        };
        let device = Device {
            table,
            context,
            domain,
            // SAFETY: as in `ops`.
            #[cfg(feature = "rdma-sys")]
            ops: inline::of(unsafe { &context.as_ref().ops }),
            made_by: Stamp::now(),
        };
        crate::sys::file::set_nonblocking(device.events_fd())?;
        Ok(Arc::new(device))
    }

    /// A child of fork() shares the kernel's objects with its parent, and must leave them alone.
    pub(super) fn is_ours(&self) -> bool {
        self.made_by.is_current()
    }

    pub(super) fn context(&self) -> *mut ibv_context {
        self.context.as_ptr()
    }

    pub(super) fn domain(&self) -> *mut ibv_pd {
        self.domain.as_ptr()
    }

    /// The driver's functions.
    #[cfg(feature = "rdma-sys")]
    pub(super) fn ops(&self) -> &ibv_context_ops {
        &self.ops
    }

    /// The driver's functions.
    #[cfg(not(feature = "rdma-sys"))]
    #[inline]
    pub(super) fn ops(&self) -> &ibv_context_ops {
        // SAFETY: an open context, whose table does not change.
        unsafe { &self.context.as_ref().ops }
    }

    pub fn attributes(&self) -> io::Result<ibv_device_attr> {
        // SAFETY: plain integers; all zeros is a value.
        let mut attr: ibv_device_attr = unsafe { core::mem::zeroed() };
        // SAFETY: an open context and a writable struct of the library's size.
        check(unsafe { (self.table.ibv_query_device)(self.context(), &mut attr) })?;
        Ok(attr)
    }

    /// The functions that newer releases of the library have beside `ops`.
    fn extended(&self) -> Option<NonNull<verbs_context_end>> {
        // SAFETY: an open context.
        let is_extended = unsafe { self.context.as_ref() }.abi_compat as usize == usize::MAX;
        // SAFETY: then it is the end of a struct that has these before it, or fewer: its size says so.
        is_extended.then(|| unsafe { self.context.cast::<verbs_context_end>().sub(1) })
    }

    /// Whether the member of `extended` at this offset is there.
    fn has(end: NonNull<verbs_context_end>, offset: usize) -> bool {
        let at = end
            .as_ptr()
            .wrapping_byte_add(offset_of!(verbs_context_end, sz));
        // SAFETY: the size is the first member of all.
        let size = unsafe { at.cast::<usize>().read() };
        size >= size_of::<verbs_context_end>() - offset + size_of::<ibv_context>()
    }

    /// Whether memory that is not pinned can be sent, read and written by queue pairs of both kinds.
    pub fn pages_on_demand(&self) -> bool {
        let query = self
            .extended()
            .filter(|end| Device::has(*end, offset_of!(verbs_context_end, query_device_ex)));
        // SAFETY: the member is there.
        let query =
            query.and_then(|end| unsafe { (&raw const (*end.as_ptr()).query_device_ex).read() });
        let Some(query) = query else {
            return false;
        };
        // SAFETY: plain integers; all zeros is a value.
        let mut attr: ibv_device_attr_ex = unsafe { core::mem::zeroed() };
        let len = size_of::<ibv_device_attr_ex>();
        // SAFETY: an open context, no input, and a writable struct of that length.
        if unsafe { query(self.context(), core::ptr::null(), &mut attr, len) } != 0 {
            return false;
        }
        let [connected, _, datagrams] = attr.odp_caps.per_transport_caps;
        let all = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
        attr.odp_caps.general_caps & IBV_ODP_SUPPORT != 0
            && connected & all == all
            && datagrams & IBV_ODP_SUPPORT_SEND != 0
    }

    /// Whether `Region::prefetch` may be used.
    pub fn takes_advice(&self) -> bool {
        self.advise().is_some()
    }

    fn advise(&self) -> Option<AdviseMemory> {
        let end = self
            .extended()
            .filter(|end| Device::has(*end, offset_of!(verbs_context_end, advise_mr)))?;
        // SAFETY: the member is there.
        unsafe { (&raw const (*end.as_ptr()).advise_mr).read() }
    }

    pub fn port(&self, port: u8) -> io::Result<Port> {
        // SAFETY: plain integers; all zeros is a value.
        let mut room: PortRoom = unsafe { core::mem::zeroed() };
        let at = (&raw mut room).cast();
        // SAFETY: an open context and a writable struct with room for more than the library's.
        check(unsafe { (self.table.ibv_query_port)(self.context(), port, at) })?;
        Ok(room.attr)
    }

    /// An entry of the port's table of global addresses; `None` for one that is empty.
    pub fn gid(&self, port: u8, index: i32) -> io::Result<Option<ibv_gid>> {
        let mut gid = ibv_gid::default();
        // SAFETY: an open context and a writable address.
        match unsafe { (self.table.ibv_query_gid)(self.context(), port, index, &mut gid) } {
            0 => Ok((gid.raw != [0; 16]).then_some(gid)),
            _ => Err(errno()),
        }
    }

    /// An entry of the port's table of partition keys, in the host's byte order.
    pub fn partition_key(&self, port: u8, index: i32) -> io::Result<u16> {
        let mut key = 0u16;
        // SAFETY: an open context and a writable key.
        match unsafe { (self.table.ibv_query_pkey)(self.context(), port, index, &mut key) } {
            0 => Ok(u16::from_be(key)),
            _ => Err(errno()),
        }
    }

    /// Whether the device can send to this address: an address handle is made and destroyed.
    pub fn accepts(&self, address: &ibv_ah_attr) -> bool {
        let mut address = *address;
        // SAFETY: an open domain and an initialized struct.
        let handle = unsafe { (self.table.ibv_create_ah)(self.domain(), &mut address) };
        if !handle.is_null() {
            // SAFETY: just made, used by nothing.
            unsafe { (self.table.ibv_destroy_ah)(handle) };
        }
        !handle.is_null()
    }

    fn events_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the context's own descriptor, open as long as the context.
        unsafe { BorrowedFd::borrow_raw(self.context.as_ref().async_fd) }
    }

    /// Readable while there are asynchronous events.
    pub fn raw_events_fd(&self) -> RawFd {
        use std::os::fd::AsRawFd;
        self.events_fd().as_raw_fd()
    }

    /// Takes one asynchronous event; `None` when there is none.
    pub fn take_event(&self) -> Option<Event> {
        let mut event = ibv_async_event {
            element: null_mut(),
            event_type: 0,
        };
        // SAFETY: an open context, whose descriptor does not block, and a writable event.
        if unsafe { (self.table.ibv_get_async_event)(self.context(), &mut event) } != 0 {
            return None;
        }
        let source = Source::of(&event);
        // SAFETY: an event that was just taken is acknowledged once.
        unsafe { (self.table.ibv_ack_async_event)(&mut event) };
        // SAFETY: any number; the answer is a C string of the library's.
        let text = unsafe {
            CStr::from_ptr((self.table.ibv_event_type_str)(ibv_event_type(
                event.event_type,
            )))
        };
        Some(Event {
            kind: event.event_type,
            source,
            text: text.to_string_lossy().into_owned(),
        })
    }

    /// What a status of a completion means.
    pub fn status_text(&self, status: u32) -> String {
        // SAFETY: any number; the answer is a C string of the library's.
        let text = unsafe { CStr::from_ptr((self.table.ibv_wc_status_str)(status)) };
        text.to_string_lossy().into_owned()
    }

    /// Registers `length` bytes at `address`.
    pub fn register(
        self: &Arc<Device>,
        address: usize,
        length: usize,
        access: Access,
    ) -> io::Result<Region> {
        let (at, flags) = (address as *mut c_void, access.flags());
        // SAFETY: an open domain; the kernel checks the range.
        let region = unsafe { (self.table.ibv_reg_mr)(self.domain(), at, length, flags) };
        self.registered(region, address, access)
    }

    /// Registers `length` bytes of a dmabuf from an offset on, under the addresses from `address` on.
    pub fn register_dmabuf(
        self: &Arc<Device>,
        (file, offset): (RawFd, usize),
        address: usize,
        length: usize,
        access: Access,
    ) -> io::Result<Region> {
        let none = || io::Error::from_raw_os_error(libc::EOPNOTSUPP);
        let register = self.table.ibv_reg_dmabuf_mr.ok_or_else(none)?;
        let (from, at, flags) = (offset as u64, address as u64, access.flags());
        // SAFETY: an open domain; the kernel checks the descriptor and the range.
        let region = unsafe { register(self.domain(), from, length, at, file, flags) };
        self.registered(region, address, access)
    }

    /// Whether dmabufs can be registered: the error for a descriptor that is none tells.
    pub fn takes_dmabufs(self: &Arc<Device>) -> bool {
        const NO_FILE: RawFd = -1;
        let page = crate::sys::mem::page_size();
        let tried = self.register_dmabuf((NO_FILE, 0), 0, page, Access::default());
        let missing = [Some(libc::EOPNOTSUPP), Some(libc::EPROTONOSUPPORT)];
        tried.map_or_else(|e| !missing.contains(&e.raw_os_error()), |_| true)
    }

    fn registered(
        self: &Arc<Device>,
        region: *mut ibv_mr,
        address: usize,
        access: Access,
    ) -> io::Result<Region> {
        let region = NonNull::new(region).ok_or_else(errno)?;
        Ok(Region {
            // SAFETY: just made; the library does not change it.
            local_key: unsafe { region.as_ref().lkey },
            region,
            address,
            on_demand: access.on_demand,
            writable: access.writes_here(),
            device: Arc::clone(self),
        })
    }
}

/// What is inline in the header, as the package `rdma-sys` has it.
#[cfg(feature = "rdma-sys")]
mod inline {
    use super::*;

    /// The driver's functions, which the package calls.
    pub fn of(driver: &ibv_context_ops) -> ibv_context_ops {
        ibv_context_ops {
            poll_cq: driver.poll_cq.and(Some(poll_cq)),
            req_notify_cq: driver.req_notify_cq.and(Some(req_notify_cq)),
            post_srq_recv: driver.post_srq_recv.and(Some(post_srq_recv)),
            post_send: driver.post_send.and(Some(post_send)),
            post_recv: driver.post_recv.and(Some(post_recv)),
            ..*driver
        }
    }

    unsafe extern "C" fn poll_cq(queue: *mut ibv_cq, room: c_int, into: *mut ibv_wc) -> c_int {
        // SAFETY: the caller's promise is the function's; `c::verbs` compares the types.
        unsafe { rdma_sys::ibv_poll_cq(queue.cast(), room, into.cast()) }
    }

    unsafe extern "C" fn req_notify_cq(queue: *mut ibv_cq, solicited: c_int) -> c_int {
        // SAFETY: as above.
        unsafe { rdma_sys::ibv_req_notify_cq(queue.cast(), solicited) }
    }

    unsafe extern "C" fn post_srq_recv(
        queue: *mut ibv_srq,
        first: *mut ibv_recv_wr,
        bad: *mut *mut ibv_recv_wr,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { rdma_sys::ibv_post_srq_recv(queue.cast(), first.cast(), bad.cast()) }
    }

    unsafe extern "C" fn post_send(
        pair: *mut ibv_qp,
        first: *mut ibv_send_wr,
        bad: *mut *mut ibv_send_wr,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { rdma_sys::ibv_post_send(pair.cast(), first.cast(), bad.cast()) }
    }

    unsafe extern "C" fn post_recv(
        pair: *mut ibv_qp,
        first: *mut ibv_recv_wr,
        bad: *mut *mut ibv_recv_wr,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { rdma_sys::ibv_post_recv(pair.cast(), first.cast(), bad.cast()) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if !self.is_ours() {
            return;
        }
        // SAFETY: all that stands on the domain owned this device, and is gone.
        unsafe { (self.table.ibv_dealloc_pd)(self.domain()) };
        // SAFETY: opened in `open`, closed once.
        unsafe { (self.table.ibv_close_device)(self.context()) };
    }
}

/// Registered memory; the registration ends when it is dropped.
pub struct Region {
    region: NonNull<ibv_mr>,
    local_key: u32,
    /// Of a dmabuf the library knows the offset only.
    address: usize,
    on_demand: bool,
    writable: bool,
    device: Arc<Device>,
}

// SAFETY: as `Device`.
unsafe impl Send for Region {}
// SAFETY: as `Device`.
unsafe impl Sync for Region {}

impl Region {
    /// What work requests of this process name it by.
    #[inline(always)]
    pub fn local_key(&self) -> u32 {
        self.local_key
    }

    /// Whether its pages are fetched when the device needs them.
    pub fn is_on_demand(&self) -> bool {
        self.on_demand
    }

    /// Whether it has this range.
    pub fn contains(&self, address: usize, length: usize) -> bool {
        // SAFETY: alive until dropped; the library does not change it.
        let region = unsafe { self.region.as_ref() };
        let offset = address.wrapping_sub(self.address);
        offset <= region.length && length <= region.length - offset
    }

    /// Fetches the pages of a range of it that are not there, for the device.
    pub fn prefetch(&self, address: usize, length: usize) -> io::Result<()> {
        // What one entry of the list can have, in whole pages.
        const MOST: usize = 1 << 30;
        let advise = self.device.advise().ok_or(io::ErrorKind::Unsupported)?;
        let advice = match self.writable {
            true => IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
            false => IBV_ADVISE_MR_ADVICE_PREFETCH,
        };
        for done in (0..length).step_by(MOST) {
            let mut part = ibv_sge {
                addr: (address + done) as u64,
                length: (length - done).min(MOST) as u32,
                lkey: self.local_key,
            };
            // SAFETY: an open domain and one entry; the kernel checks the range.
            check(unsafe { advise(self.device.domain(), advice, 0, &mut part, 1) })?;
        }
        Ok(())
    }

    /// What work requests of peers name it by.
    pub fn remote_key(&self) -> u32 {
        // SAFETY: alive until dropped; the library does not change it.
        unsafe { self.region.as_ref().rkey }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if !self.device.is_ours() {
            return;
        }
        // SAFETY: registered by the device, ended once.
        unsafe { (self.device.table.ibv_dereg_mr)(self.region.as_ptr()) };
    }
}
