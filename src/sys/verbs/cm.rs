//! Connections by socket address between RDMA devices: `librdmacm.so.1`, its identifiers and their events.
//!
//! Queue pairs have no part in it but for a number that tells connections apart, which `PairNumber` keeps.

use super::device::{Device, check, errno};
use super::queue::{Caps, CompletionQueue, RawPair};
use super::table::{has_devices, verbs_functions};
use crate::c::verbs::*;
use crate::sys::fork::Stamp;
use crate::sys::socket::read_sockaddr;
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::{NonNull, null_mut};
use libc::sockaddr;
use once_cell::race::OnceBox;
use socket2::SockAddr;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

verbs_functions! {
    /// All functions are in every release from rdma-core 28 on.
    // SAFETY: the types are those of the library's header, in every release.
    unsafe "librdmacm.so.1":
    rdma_create_event_channel: fn() -> *mut rdma_event_channel,
    rdma_destroy_event_channel: fn(*mut rdma_event_channel),
    rdma_create_id: fn(*mut rdma_event_channel, *mut *mut rdma_cm_id, *mut c_void, c_uint) -> c_int,
    rdma_destroy_id: fn(*mut rdma_cm_id) -> c_int,
    rdma_set_option: fn(*mut rdma_cm_id, c_int, c_int, *mut c_void, usize) -> c_int,
    rdma_bind_addr: fn(*mut rdma_cm_id, *mut sockaddr) -> c_int,
    rdma_listen: fn(*mut rdma_cm_id, c_int) -> c_int,
    rdma_resolve_addr: fn(*mut rdma_cm_id, *mut sockaddr, *mut sockaddr, c_int) -> c_int,
    rdma_resolve_route: fn(*mut rdma_cm_id, c_int) -> c_int,
    rdma_connect: fn(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int,
    rdma_accept: fn(*mut rdma_cm_id, *mut rdma_conn_param) -> c_int,
    rdma_reject: fn(*mut rdma_cm_id, *const c_void, u8) -> c_int,
    rdma_establish: fn(*mut rdma_cm_id) -> c_int,
    rdma_disconnect: fn(*mut rdma_cm_id) -> c_int,
    rdma_get_cm_event: fn(*mut rdma_event_channel, *mut *mut rdma_cm_event) -> c_int,
    rdma_ack_cm_event: fn(*mut rdma_cm_event) -> c_int,
    rdma_event_str: fn(c_uint) -> *const c_char,
}

/// The functions. `NotFound` where the kernel has no device.
fn table() -> io::Result<&'static Table> {
    static TABLE: OnceBox<Table> = OnceBox::new();
    if let Some(table) = TABLE.get() {
        return Ok(table);
    }
    if !has_devices() {
        return Err(io::ErrorKind::NotFound.into());
    }
    TABLE.get_or_try_init(|| Ok(Box::new(Table::load()?)))
}

/// Where the events of identifiers come.
pub struct CmChannel {
    table: &'static Table,
    channel: NonNull<rdma_event_channel>,
    made_by: Stamp,
}

// SAFETY: librdmacm allows calls on one channel and its identifiers from several threads.
unsafe impl Send for CmChannel {}
// SAFETY: as above.
unsafe impl Sync for CmChannel {}

impl CmChannel {
    pub fn open() -> io::Result<Arc<CmChannel>> {
        let table = table()?;
        // SAFETY: no arguments.
        let channel = unsafe { (table.rdma_create_event_channel)() };
        let channel = CmChannel {
            table,
            channel: NonNull::new(channel).ok_or_else(errno)?,
            made_by: Stamp::now(),
        };
        crate::sys::file::set_nonblocking(channel.fd())?;
        Ok(Arc::new(channel))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel's own descriptor, open as long as the channel.
        unsafe { BorrowedFd::borrow_raw(self.channel.as_ref().fd) }
    }

    /// Readable while there are events.
    pub fn raw_fd(&self) -> RawFd {
        self.fd().as_raw_fd()
    }

    /// A child of fork() shares the kernel's objects with its parent, and must leave them alone.
    fn is_ours(&self) -> bool {
        self.made_by.is_current()
    }

    /// Takes one event; `None` when there is none. A connection request's identifier gets the key that `key` makes.
    pub fn take(self: &Arc<CmChannel>, key: impl FnOnce() -> usize) -> io::Result<Option<CmEvent>> {
        if !self.is_ours() {
            return Ok(None);
        }
        let mut event = null_mut();
        // SAFETY: a live channel, whose descriptor does not block, and a writable result.
        if unsafe { (self.table.rdma_get_cm_event)(self.channel.as_ptr(), &mut event) } != 0 {
            let e = errno();
            return match e.kind() {
                io::ErrorKind::WouldBlock => Ok(None),
                _ => Err(e),
            };
        }
        // SAFETY: the library's event, valid until it is acknowledged.
        let of = unsafe { &*event };
        let carries = matches!(
            of.event,
            RDMA_CM_EVENT_CONNECT_REQUEST
                | RDMA_CM_EVENT_CONNECT_RESPONSE
                | RDMA_CM_EVENT_ESTABLISHED
                | RDMA_CM_EVENT_REJECTED
        );
        let data = of.param.private_data.cast::<u8>();
        let private = if carries && !data.is_null() {
            // SAFETY: the event of a connection has so many bytes there.
            unsafe { core::slice::from_raw_parts(data, of.param.private_data_len.into()) }.to_vec()
        } else {
            Vec::new()
        };
        let is_request = of.event == RDMA_CM_EVENT_CONNECT_REQUEST;
        let whose = if is_request { of.listen_id } else { of.id };
        let taken = CmEvent {
            // SAFETY: events name live identifiers; the member is the user's.
            key: unsafe { (*whose).context } as usize,
            kind: of.event,
            status: of.status,
            private,
            request: NonNull::new(of.id).filter(|_| is_request).map(|id| {
                let key = key();
                // SAFETY: a new identifier, which nobody else knows.
                unsafe { (*id.as_ptr()).context = key as *mut c_void };
                CmId {
                    id,
                    key,
                    channel: Arc::clone(self),
                }
            }),
        };
        // SAFETY: an event that was just taken is acknowledged once.
        unsafe { (self.table.rdma_ack_cm_event)(event) };
        Ok(Some(taken))
    }

    /// What an event is called.
    pub fn text(&self, kind: u32) -> String {
        // SAFETY: any number; the answer is a C string of the library's.
        let text = unsafe { core::ffi::CStr::from_ptr((self.table.rdma_event_str)(kind)) };
        text.to_string_lossy().into_owned()
    }
}

impl Drop for CmChannel {
    fn drop(&mut self) {
        if self.is_ours() {
            // SAFETY: made in `open`, destroyed once; identifiers own it and are gone.
            unsafe { (self.table.rdma_destroy_event_channel)(self.channel.as_ptr()) };
        }
    }
}

/// An event, acknowledged already.
pub struct CmEvent {
    /// Of the identifier that it is of; of a connection request, of the listener.
    pub key: usize,
    /// `RDMA_CM_EVENT_*`.
    pub kind: u32,
    /// An errno, negative; of a rejection, its reason.
    pub status: i32,
    /// With what the network adds behind it.
    pub private: Vec<u8>,
    /// The connection that is asked for.
    pub request: Option<CmId>,
}

/// A connection, or a listener.
pub struct CmId {
    id: NonNull<rdma_cm_id>,
    key: usize,
    channel: Arc<CmChannel>,
}

// SAFETY: librdmacm allows calls on an identifier from any thread.
unsafe impl Send for CmId {}

/// Where the ends of a connection are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CmPath {
    pub device: String,
    pub port: u8,
    /// The peer's port.
    pub gid: [u8; 16],
    /// On InfiniBand.
    pub lid: u16,
}

impl CmId {
    /// Its events have `key`.
    pub fn new(channel: &Arc<CmChannel>, key: usize) -> io::Result<CmId> {
        let mut id = null_mut();
        let (raw, context) = (channel.channel.as_ptr(), key as *mut c_void);
        // SAFETY: a live channel and a writable result.
        check(unsafe { (channel.table.rdma_create_id)(raw, &mut id, context, RDMA_PS_TCP) })?;
        Ok(CmId {
            id: NonNull::new(id).ok_or_else(errno)?,
            key,
            channel: Arc::clone(channel),
        })
    }

    pub fn key(&self) -> usize {
        self.key
    }

    fn table(&self) -> io::Result<&'static Table> {
        if !self.channel.is_ours() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        Ok(self.channel.table)
    }

    fn of(&self) -> &rdma_cm_id {
        // SAFETY: alive until dropped; the library changes it within calls only, which take turns.
        unsafe { self.id.as_ref() }
    }

    /// Lets it have an address whose last connections are not forgotten yet.
    pub fn reuse_address(&self) -> io::Result<()> {
        let mut on: c_int = 1;
        let (level, option) = (RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR);
        let (value, len) = ((&raw mut on).cast(), size_of::<c_int>());
        // SAFETY: a live identifier, and a value of the option's length.
        check(unsafe {
            (self.table()?.rdma_set_option)(self.id.as_ptr(), level, option, value, len)
        })
    }

    pub fn bind(&self, at: SocketAddr) -> io::Result<()> {
        let at = SockAddr::from(at);
        let at = at.as_ptr().cast_mut().cast();
        // SAFETY: a live identifier, and an address as long as its family says, which is only read.
        check(unsafe { (self.table()?.rdma_bind_addr)(self.id.as_ptr(), at) })
    }

    pub fn listen(&self, backlog: i32) -> io::Result<()> {
        // SAFETY: a live identifier.
        check(unsafe { (self.table()?.rdma_listen)(self.id.as_ptr(), backlog) })
    }

    /// Looks for the device by which `to` is reached, from `from` if given. An event tells the result.
    pub fn resolve_address(
        &self,
        from: Option<SocketAddr>,
        to: SocketAddr,
        timeout_ms: i32,
    ) -> io::Result<()> {
        let (from, to) = (from.map(SockAddr::from), SockAddr::from(to));
        let raw = |addr: &SockAddr| addr.as_ptr().cast_mut().cast();
        let (from, to) = (from.as_ref().map_or(null_mut(), raw), raw(&to));
        let id = self.id.as_ptr();
        // SAFETY: a live identifier, and addresses as long as their families say, which are only read.
        check(unsafe { (self.table()?.rdma_resolve_addr)(id, from, to, timeout_ms) })
    }

    /// Looks for the way to the peer. An event tells the result.
    pub fn resolve_route(&self, timeout_ms: i32) -> io::Result<()> {
        // SAFETY: a live identifier.
        check(unsafe { (self.table()?.rdma_resolve_route)(self.id.as_ptr(), timeout_ms) })
    }

    /// Asks for the connection, in the name of a queue pair of this number.
    pub fn connect(&self, number: u32, private: &[u8]) -> io::Result<()> {
        let mut param = parameters(number, private)?;
        // SAFETY: a live identifier and initialized parameters, whose private data are there.
        check(unsafe { (self.table()?.rdma_connect)(self.id.as_ptr(), &mut param) })
    }

    /// Agrees to a connection request.
    pub fn accept(&self, number: u32, private: &[u8]) -> io::Result<()> {
        let mut param = parameters(number, private)?;
        // SAFETY: as in `connect`.
        check(unsafe { (self.table()?.rdma_accept)(self.id.as_ptr(), &mut param) })
    }

    pub fn reject(&self, private: &[u8]) -> io::Result<()> {
        let len = u8::try_from(private.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a live identifier and so many readable bytes.
        check(unsafe {
            (self.table()?.rdma_reject)(self.id.as_ptr(), private.as_ptr().cast(), len)
        })
    }

    /// Tells the server that its answer has come.
    pub fn establish(&self) -> io::Result<()> {
        // SAFETY: a live identifier.
        check(unsafe { (self.table()?.rdma_establish)(self.id.as_ptr()) })
    }

    pub fn disconnect(&self) -> io::Result<()> {
        // SAFETY: a live identifier.
        check(unsafe { (self.table()?.rdma_disconnect)(self.id.as_ptr()) })
    }

    /// The local end, once it has one.
    pub fn local(&self) -> Option<SocketAddr> {
        // SAFETY: the library keeps a socket address there, or zeros.
        unsafe { read_sockaddr((&raw const self.of().route.addr.src_storage).cast()) }
    }

    /// The other end.
    pub fn peer(&self) -> Option<SocketAddr> {
        // SAFETY: as above.
        unsafe { read_sockaddr((&raw const self.of().route.addr.dst_storage).cast()) }
    }

    /// The ports of the connection, once it has a device.
    pub fn path(&self) -> Option<CmPath> {
        let of = self.of();
        // SAFETY: null, or the library's open device.
        let context = unsafe { of.verbs.as_ref() }?;
        // SAFETY: an open device's own struct.
        let device = unsafe { context.device.as_ref() }?;
        // SAFETY: null, or the library's first record of a path.
        let record = unsafe { of.route.path_rec.as_ref() };
        Some(CmPath {
            device: super::device::name_of(&device.name),
            port: of.port_num,
            gid: of.route.addr.addr.dgid.raw,
            lid: record
                .filter(|_| of.route.num_paths > 0)
                .map_or(0, |record| u16::from_be(record.dlid)),
        })
    }
}

impl Drop for CmId {
    fn drop(&mut self) {
        if let Ok(table) = self.table() {
            // SAFETY: made in `new` or by the library for us, destroyed once; all its events were acknowledged.
            unsafe { (table.rdma_destroy_id)(self.id.as_ptr()) };
        }
    }
}

/// What a connection needs that has no queue pair of its own: the other members are of queue pairs.
fn parameters(number: u32, private: &[u8]) -> io::Result<rdma_conn_param> {
    Ok(rdma_conn_param {
        private_data: private.as_ptr().cast(),
        private_data_len: u8::try_from(private.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        responder_resources: 1,
        initiator_depth: 1,
        flow_control: 0,
        retry_count: 7,
        rnr_retry_count: 7,
        srq: 0,
        qp_num: number,
    })
}

/// What queue pairs that only give numbers are made with.
pub struct PairNumbers {
    queue: CompletionQueue,
    device: Arc<Device>,
}

// SAFETY: libibverbs allows calls on a device's objects from several threads.
unsafe impl Send for PairNumbers {}
// SAFETY: as above.
unsafe impl Sync for PairNumbers {}

/// The number of a queue pair that does nothing else. Nobody else on the device has it while it is kept: the kernel
/// refuses a second connection in the name of one queue pair.
pub struct PairNumber {
    pair: RawPair,
    _numbers: Arc<PairNumbers>,
}

// SAFETY: as above.
unsafe impl Send for PairNumber {}

impl PairNumbers {
    pub fn of(device: &Arc<Device>) -> io::Result<Arc<PairNumbers>> {
        Ok(Arc::new(PairNumbers {
            queue: CompletionQueue::make(device, 1)?,
            device: Arc::clone(device),
        }))
    }

    pub fn reserve(self: &Arc<PairNumbers>) -> io::Result<PairNumber> {
        let least = Caps {
            send_queue: 1,
            send_sges: 1,
            inline: 0,
        };
        let pair = RawPair::new(&self.device, IBV_QPT_UD, &self.queue, None, 1, least)?;
        Ok(PairNumber {
            pair,
            _numbers: Arc::clone(self),
        })
    }
}

impl PairNumber {
    pub fn get(&self) -> u32 {
        self.pair.number()
    }
}
