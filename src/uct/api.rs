//! The contract of a transport: the traits `Component`, `Md`, `Transport` and `Iface`.
//!
//! `Component`, `Md` and `Transport` are used at set-up and are plain trait objects. `Iface` is the data path:
//! `table.rs` turns an implementation into C's op table, one monomorphic shim for each operation, so that a C caller
//! pays one indirect call and nothing else. Every operation has a default that returns "unsupported"; a transport
//! declares its capabilities in `query`.

use crate::c::*;
use crate::sys::mem::whole_pages;
use crate::ucs::config::{Config, Table};
use crate::ucs::status::code_of;
use crate::ucs::{Failure, Result, Status};
use crate::uct::base::copy::{Payload, Room};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::md::{DynMd, MemoryHandle};
use crate::uct::base::memory_copier::MemoryCopier;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cm::Manager;
use crate::uct::local::ProcessName;
use core::ffi::{c_int, c_void};
use smallvec::SmallVec;
use std::net::SocketAddr;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;

/// How a posted operation went on: done, or to be reported through its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    Done,
    InProgress,
}

/// An interface's attributes before it is asked for them.
pub const UNQUERIED: uct_iface_attr = {
    // SAFETY: integers, floats and a plain C address struct: zero is a value of each.
    unsafe { core::mem::zeroed() }
};

/// The length, or the status in its place.
#[inline]
pub fn length(r: Result<usize>) -> isize {
    match r {
        Ok(n) => n as isize,
        Err(e) => e.code() as isize,
    }
}

/// A packing callback of the user: writes at most the transport's limit, and returns the length.
#[derive(Clone, Copy)]
pub struct Pack {
    pub cb: unsafe extern "C" fn(*mut c_void, *mut c_void) -> usize,
    pub arg: *mut c_void,
}

impl Pack {
    /// Lets the user write at `dest`.
    ///
    /// # Safety
    /// `dest` must have room for what the interface's attributes promise.
    #[inline]
    pub unsafe fn pack_into(self, dest: *mut u8) -> usize {
        // SAFETY: the user's callback and argument as handed over for this call.
        unsafe { (self.cb)(dest.cast(), self.arg) }
    }
}

/// An unpacking callback of the user.
#[derive(Clone, Copy)]
pub struct Unpack {
    pub cb: unsafe extern "C" fn(*mut c_void, *const c_void, usize),
    pub arg: *mut c_void,
}

impl Unpack {
    /// Hands `len` bytes at `src` to the user.
    ///
    /// # Safety
    /// `src` must be readable for `len` bytes.
    #[inline]
    pub unsafe fn unpack_from(self, src: *const u8, len: usize) {
        // SAFETY: the user's callback and argument as handed over for this call.
        unsafe { (self.cb)(self.arg, src.cast(), len) }
    }
}

/// A user's completion, possibly none.
#[derive(Clone, Copy)]
pub struct Completion(pub *mut uct_completion_t);

impl Completion {
    /// No one waits.
    pub const NONE: Completion = Completion(core::ptr::null_mut());

    pub fn is_none(self) -> bool {
        self.0.is_null()
    }

    /// Counts one operation down; the last one calls the user. The first error sticks.
    #[inline]
    pub fn complete(self, status: Result<()>) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: the user keeps the completion alive until its count is zero, and gave it to one
        // worker only; a raw place is used because the callback may free or reuse it.
        let count = unsafe {
            if let Err(e) = status
                && (*self.0).status == UCS_OK
            {
                (*self.0).status = e.code();
            }
            (*self.0).count = (*self.0).count.wrapping_sub(1);
            (*self.0).count
        };
        if count == 0 {
            // SAFETY: as above; nothing of the completion is touched after the call.
            if let Some(func) = unsafe { (*self.0).func } {
                // SAFETY: the user's callback, called once, with its own completion.
                unsafe { func(self.0) };
            }
        }
    }
}

/// Memory of a peer that an operation accesses.
#[derive(Clone, Copy)]
pub struct Remote {
    address: u64,
    key: uct_rkey_t,
}

impl Remote {
    /// # Safety
    /// `key` must be 0, `UCT_INVALID_RKEY`, or a key of the endpoint's component that lives until the operation has ended. Of a
    /// component whose keys have no range, `address` must be in memory of the peer.
    #[inline(always)]
    pub unsafe fn new(address: u64, key: uct_rkey_t) -> Remote {
        Remote { address, key }
    }

    #[inline(always)]
    pub fn address(self) -> u64 {
        self.address
    }

    #[inline(always)]
    pub fn key(self) -> uct_rkey_t {
        self.key
    }
}

/// Where the old value of an atomic goes, of any alignment.
#[derive(Clone, Copy)]
pub struct OldValue<W>(*mut W);

impl<W> OldValue<W> {
    /// # Safety
    /// `at` must be writable until the operation has ended.
    #[inline(always)]
    pub unsafe fn new(at: *mut W) -> OldValue<W> {
        OldValue(at)
    }

    #[inline(always)]
    pub fn put(self, value: W) {
        // SAFETY: by the promise of `new`.
        unsafe { self.0.write_unaligned(value) };
    }

    #[inline(always)]
    pub fn as_ptr(self) -> *mut W {
        self.0
    }
}

/// A send of the user's that waits for room.
#[derive(Clone, Copy)]
pub struct WaitingRequest(*mut uct_pending_req_t);

impl WaitingRequest {
    /// # Safety
    /// `request` must stay alive until its function has sent it or it is purged.
    pub unsafe fn new(request: *mut uct_pending_req_t) -> WaitingRequest {
        WaitingRequest(request)
    }

    pub fn as_ptr(self) -> *mut uct_pending_req_t {
        self.0
    }

    /// Calls its function, which may free it.
    pub fn call(self) -> ucs_status_t {
        // SAFETY: alive, by the promise of `new`.
        match unsafe { (*self.0).func } {
            // SAFETY: the user's function with its own request.
            Some(func) => unsafe { func(self.0) },
            None => UCS_OK,
        }
    }
}

/// The operations of UCX's atomics, by their C numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    Add,
    And,
    Or,
    Xor,
    Swap,
}

impl AtomicOp {
    /// From C's `uct_atomic_op_t`; `None` for compare-and-swap and for unknown values.
    #[inline]
    pub fn from_c(op: u32) -> Option<AtomicOp> {
        Some(match op {
            UCT_ATOMIC_OP_ADD => AtomicOp::Add,
            UCT_ATOMIC_OP_AND => AtomicOp::And,
            UCT_ATOMIC_OP_OR => AtomicOp::Or,
            UCT_ATOMIC_OP_XOR => AtomicOp::Xor,
            UCT_ATOMIC_OP_SWAP => AtomicOp::Swap,
            _ => return None,
        })
    }
}

/// The two widths of UCX's atomics.
pub trait AtomicWord: Copy + 'static {
    /// Applies `op` atomically to the word at `at`. Returns the old value.
    ///
    /// # Safety
    /// `at` must be mapped, writable and aligned to the word's size.
    unsafe fn fetch(at: *mut Self, op: AtomicOp, value: Self) -> Self;
    /// Compare and swap. Returns the old value.
    ///
    /// # Safety
    /// As `fetch`.
    unsafe fn cswap(at: *mut Self, compare: Self, swap: Self) -> Self;
    /// The word, if it has 64 bits.
    fn as_u64(self) -> Option<u64>;
}

macro_rules! atomic_word {
    ($t:ty, $a:ty) => {
        impl AtomicWord for $t {
            #[inline]
            unsafe fn fetch(at: *mut $t, op: AtomicOp, value: $t) -> $t {
                use core::sync::atomic::Ordering::AcqRel;
                // SAFETY: mapped and aligned by the caller's promise; only used as an atomic.
                let a = unsafe { <$a>::from_ptr(at) };
                match op {
                    AtomicOp::Add => a.fetch_add(value, AcqRel),
                    AtomicOp::And => a.fetch_and(value, AcqRel),
                    AtomicOp::Or => a.fetch_or(value, AcqRel),
                    AtomicOp::Xor => a.fetch_xor(value, AcqRel),
                    AtomicOp::Swap => a.swap(value, AcqRel),
                }
            }

            #[inline]
            unsafe fn cswap(at: *mut $t, compare: $t, swap: $t) -> $t {
                use core::sync::atomic::Ordering::{AcqRel, Acquire};
                // SAFETY: mapped and aligned by the caller's promise; only used as an atomic.
                let a = unsafe { <$a>::from_ptr(at) };
                match a.compare_exchange(compare, swap, AcqRel, Acquire) {
                    Ok(old) | Err(old) => old,
                }
            }

            #[inline]
            fn as_u64(self) -> Option<u64> {
                (size_of::<$t>() == size_of::<u64>()).then_some(self.into())
            }
        }
    };
}
atomic_word!(u32, core::sync::atomic::AtomicU32);
atomic_word!(u64, core::sync::atomic::AtomicU64);

/// A device a transport can open.
#[derive(Clone, Debug)]
pub struct Device {
    pub name: String,
    pub kind: uct_device_type_t,
    pub sys_device: ucs_sys_device_t,
}

impl Device {
    /// Whether processes of other hosts can be reached by it.
    pub fn reaches_other_hosts(&self) -> bool {
        self.kind == UCT_DEVICE_TYPE_NET && self.name != "lo"
    }
}

/// Why a component or a transport cannot be used on this machine: the call that failed with the kernel's error, or the
/// setting that forbids it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable(pub String);

impl core::fmt::Display for Unusable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A memory domain's properties; the C structs of both generations are filled from it.
#[derive(Clone, Debug)]
pub struct MdAttr {
    /// `UCT_MD_FLAG_*`.
    pub flags: u64,
    pub max_alloc: u64,
    pub max_reg: usize,
    /// Masks of memory types, bit = `UCS_MEMORY_TYPE_*`.
    pub reg_mem_types: u64,
    pub reg_nonblock_mem_types: u64,
    pub cache_mem_types: u64,
    pub detect_mem_types: u64,
    pub alloc_mem_types: u64,
    pub access_mem_types: u64,
    pub gva_mem_types: u64,
    /// Those that `dmabuf` may give descriptors of.
    pub dmabuf_mem_types: u64,
    /// Seconds to register: constant and per byte.
    pub reg_cost: (f64, f64),
}

impl MdAttr {
    /// Host memory that needs neither registration nor a remote key.
    pub const PLAIN: MdAttr = MdAttr {
        flags: 0,
        max_alloc: 0,
        max_reg: 0,
        reg_mem_types: 0,
        reg_nonblock_mem_types: 0,
        cache_mem_types: 0,
        detect_mem_types: 0,
        alloc_mem_types: 0,
        access_mem_types: 0,
        gva_mem_types: 0,
        dmabuf_mem_types: 0,
        reg_cost: (0.0, 0.0),
    };
}

impl MdAttr {
    /// Whether the domain allocates memory of this type.
    pub fn allocates(&self, kind: ucs_memory_type_t) -> bool {
        self.alloc_mem_types & 1u64.unbounded_shl(kind) != 0
    }
}

/// Parameters and result of an allocation.
pub struct Alloc<'a> {
    /// In: the wanted address or null. Out: the address.
    pub address: *mut c_void,
    /// In: the minimum size. Out: the real size.
    pub length: usize,
    /// `UCT_MD_MEM_FLAG_*`, `UCT_MD_MEM_ACCESS_*`.
    pub flags: u32,
    /// `UCS_MEMORY_TYPE_*`; a domain is asked only for those of its attributes.
    pub kind: ucs_memory_type_t,
    /// On which device: `UCS_SYS_DEVICE_ID_UNKNOWN` for any.
    pub device: ucs_sys_device_t,
    pub name: &'a str,
}

/// What a domain tells of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryInfo {
    /// `UCS_MEMORY_TYPE_*`
    pub kind: ucs_memory_type_t,
    pub device: ucs_sys_device_t,
    /// The allocation that holds it, or the memory that was asked about.
    pub base: usize,
    pub length: usize,
    /// Whether processors access it too.
    pub host_access: bool,
    /// A number of the allocation that does not come again when it is freed; 0 where there is none for all of the memory.
    pub id: u64,
}

impl MemoryInfo {
    /// Where the memory at an address begins in the dmabuf of what is told here, which begins with a page.
    pub fn dmabuf_offset(&self, address: usize) -> usize {
        address.wrapping_sub(whole_pages(self.base..self.base).start)
    }
}

/// Where memory begins in a dmabuf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dmabuf {
    pub file: RawFd,
    pub offset: usize,
}

/// An opened memory domain. Threads share it: a context and its domains are common to the workers of all threads.
pub trait Md: Send + Sync + 'static {
    /// What a memory handle stands for.
    type Memory: MemoryHandle;

    fn attr(&self) -> MdAttr;

    /// Tells the type of memory. `UNSUPPORTED` by a domain that tells none apart, `INVALID_ADDR` for memory of a type that it
    /// does not detect.
    fn mem_query(&self, address: *const c_void, length: usize) -> Result<MemoryInfo> {
        let _ = (address, length);
        Err(Status::UNSUPPORTED)
    }

    /// A dmabuf descriptor for memory that `mem_query` has told of, whole pages of it from `MemoryInfo::base` on; `None` where there
    /// is none.
    fn dmabuf(&self, told: &MemoryInfo, address: *const c_void) -> Option<OwnedFd> {
        let _ = (told, address);
        None
    }

    /// Copies memory of the types that `attr` says it detects.
    fn copier(&self) -> Option<Arc<dyn MemoryCopier>> {
        None
    }

    fn mem_alloc(&self, alloc: &mut Alloc<'_>) -> Result<Self::Memory> {
        let _ = alloc;
        Err(Status::UNSUPPORTED)
    }

    /// Frees memory of `mem_alloc`.
    fn mem_free(&self, memory: Self::Memory) -> Result<()> {
        let _ = memory;
        Err(Status::UNSUPPORTED)
    }

    /// `flags` are `UCT_MD_MEM_*`, and `internal::MEM_ONE_TRANSFER`.
    fn mem_reg(&self, address: *mut c_void, length: usize, flags: u32) -> Result<Self::Memory> {
        let _ = (address, length, flags);
        Err(Status::UNSUPPORTED)
    }

    /// As `mem_reg`, of memory that a dmabuf holds too. A domain that takes none has no use for it.
    fn mem_reg_dmabuf(
        &self,
        address: *mut c_void,
        length: usize,
        flags: u32,
        dmabuf: Dmabuf,
    ) -> Result<Self::Memory> {
        let _ = dmabuf;
        self.mem_reg(address, length, flags)
    }

    /// Ends a registration of `mem_reg` or `mem_reg_dmabuf`.
    fn mem_dereg(&self, memory: Self::Memory) -> Result<()> {
        let _ = memory;
        Err(Status::UNSUPPORTED)
    }

    fn mem_advise(
        &self,
        memory: &Self::Memory,
        address: *mut c_void,
        length: usize,
        advice: uct_mem_advice_t,
    ) -> Result<()> {
        let _ = (memory, address, length, advice);
        Err(Status::UNSUPPORTED)
    }

    /// The remote key of all of the memory, as long as the component's keys are.
    fn mkey_pack(&self, memory: &Self::Memory) -> Result<PackedKey> {
        let _ = memory;
        Err(Status::UNSUPPORTED)
    }

    /// Lets processes of upstream UCX write the memory of a key of this domain by its address: all of them, or if it is
    /// registered for one transfer those whose interfaces listen there.
    fn admit_upstream(&self, key: &[u8], writers: Option<Arc<[SocketAddr]>>) -> Result<()> {
        let _ = (key, writers);
        Err(Status::UNSUPPORTED)
    }
}

/// A remote key, as it travels. Most have a few bytes.
pub type PackedKey = SmallVec<[u8; 16]>;

/// A remote key, unpacked.
pub enum UnpackedKey {
    /// The word that operations get.
    Word(uct_rkey_t),
    /// They get its address.
    Object(Box<dyn KeyObject>),
}

/// What an unpacked key holds as long as it lives.
pub trait KeyObject: 'static {
    /// The local address of remote memory that is mapped.
    fn pointer(&self, remote: u64) -> Result<*mut c_void> {
        let _ = remote;
        Err(Status::UNSUPPORTED)
    }
}

/// A family of transports with its kind of memory domain.
pub trait Component: Sync + 'static {
    fn name(&self) -> &'static str;
    /// Whether the kernel has what it is for; programs are not told of others.
    fn is_available(&self) -> bool {
        true
    }
    /// `UCT_COMPONENT_FLAG_*`.
    fn flags(&self) -> u64;
    fn md_config(&self) -> &'static Table;
    /// The variables of its connection manager, if it has one.
    fn cm_config(&self) -> Option<&'static Table> {
        None
    }
    /// Opens a connection manager on the worker; `UNSUPPORTED` when the component has none.
    fn cm_open(&self, worker: &WorkerHandle, config: &Config) -> Result<Box<dyn Manager>> {
        let _ = (worker, config);
        Err(Status::UNSUPPORTED)
    }
    /// The names of the domains that can be opened here, or why there are none.
    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable>;
    fn md_open(&self, name: &str, config: &Config) -> Result<Box<dyn DynMd>>;
    fn transports(&self) -> &'static [&'static dyn Transport];

    /// The number of its keys in packed remote keys; `None` if UCP packs no keys of it.
    fn key_number(&self) -> Option<u8> {
        self.transports().first()?.wire_number()
    }

    /// The process of this host whose memory a packed remote key names, if keys of this component name processes.
    fn key_owner(&self, packed: &[u8]) -> Option<ProcessName> {
        let _ = packed;
        None
    }

    /// Bytes of a packed remote key.
    fn key_len(&self) -> usize {
        0
    }

    /// Reads a packed remote key of this length.
    fn rkey_unpack(&self, packed: &[u8]) -> Result<UnpackedKey> {
        let _ = packed;
        Ok(UnpackedKey::Word(0))
    }

    /// The local address of remote memory that is mapped, by a key that is a word.
    fn rkey_ptr(&self, rkey: uct_rkey_t, remote: u64) -> Result<*mut c_void> {
        let _ = (rkey, remote);
        Err(Status::UNSUPPORTED)
    }
}

/// One transport of a component: lists its devices and opens interfaces on them.
///
/// What UCP has to know of a transport is answered here. What it costs stands in the attributes of its interfaces
/// (`Iface::query`).
pub trait Transport: Sync + 'static {
    fn name(&self) -> &'static str;

    /// Its number in worker addresses, which never changes. `None`: UCP does not connect by this transport.
    fn wire_number(&self) -> Option<u8> {
        None
    }

    /// Whether UCP copies by its domain what is in memory that processors cannot access.
    fn copies_memory(&self) -> bool {
        false
    }

    /// The names in `UCX_TLS` that stand for this transport and others, besides `all`.
    fn groups(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether UCP, which has `config`, uses it only where `UCX_TLS` names it or one of its groups, not for `all`.
    fn is_only_by_name(&self, _config: &Config) -> bool {
        false
    }

    /// Whether peers that use it access memory by the keys of its domain.
    fn uses_keys(&self) -> bool {
        true
    }

    /// Whether its messages go through memory that both processes map. A peer on this host that it does not reach has
    /// closed its worker or has ended.
    fn shares_memory(&self) -> bool {
        false
    }

    fn config(&self) -> &'static Table;

    /// Its devices in this domain, at least one, or why there are none.
    fn devices(&self, md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable>;

    /// Whether a peer's device address has a length of this transport's format, of which an own device address has
    /// `own_len` bytes.
    fn fits_device_address(&self, device: &[u8], own_len: usize) -> bool {
        device.len() == own_len
    }

    /// Whether an own and a peer's device address are of one network, so that no router stands between the devices.
    fn is_same_network(&self, own: &[u8], peer: &[u8]) -> bool {
        let _ = (own, peer);
        true
    }

    /// Whether lanes to several devices of the peer, this one among them, move more than one lane. Where rails carry
    /// messages, the flush of such a transport's endpoints always has room.
    fn has_rails(&self, device: &[u8]) -> bool {
        let _ = device;
        false
    }

    /// The addresses of an interface in fewer bytes, for connection managers with little room: that of its device, which
    /// interfaces on it share, and its own. `None`: there is no such form.
    fn shorten(&self, device: &[u8], iface: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let _ = (device, iface);
        None
    }

    /// The lengths of both.
    fn short_lengths(&self) -> Option<(usize, usize)> {
        None
    }

    /// The addresses of which these, of those lengths, are the short form. A peer's bytes are untrusted.
    fn lengthen(&self, device: &[u8], iface: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let _ = (device, iface);
        None
    }

    /// Why none of this process's interfaces reaches the peer's interface with this address. For log lines: may take
    /// time.
    fn unreachable(&self, device: &[u8], iface: &[u8]) -> String {
        let _ = (device, iface);
        "no interface of ours reaches one of the peer's: see UCX_NET_DEVICES".to_owned()
    }

    /// The process of this host that an interface address names, if addresses of this transport name processes.
    fn address_owner(&self, iface: &[u8]) -> Option<ProcessName> {
        let _ = iface;
        None
    }

    /// The serial number of the segment of its owner that an interface address names; 0 for none.
    fn address_segment(&self, iface: &[u8]) -> u32 {
        let _ = iface;
        0
    }

    /// Opens an interface on `device`, which owns itself until `iface_close`. Who calls it logs a failure.
    fn open(
        &self,
        md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure>;
}

/// The data path of a transport, without unsafe functions: what a caller promises of pointers and keys is in the types of
/// the arguments, which `table.rs` makes of C's. `face` is the interface with its shared part (`face.base`); `ep`
/// likewise. Callbacks re-enter: an implementation holds no borrow of its state across one.
///
/// The implementation checks lengths and ids of the C caller against the limits of its `query`; a violation returns
/// `INVALID_PARAM` and never writes out of bounds.
#[allow(unused_variables)]
pub trait Iface: Sized + 'static {
    type Ep: 'static;
    /// Whether the interface has to be polled.
    const POLLS: bool = true;
    /// Whether `get_bcopy`, and `atomic_fetch` of every word, complete within the call.
    const FETCHES_AT_ONCE: bool = false;

    /// Fills the attributes; the struct arrives zeroed.
    fn query(face: &IfaceBox<Self>, attr: &mut uct_iface_attr);
    /// Polls. Returns the number of events. An interface that needs no polling does not implement it.
    fn progress(_face: &IfaceBox<Self>) -> u32 {
        0
    }
    /// As `progress`, without receiving, for users that disabled it: sends what is queued, reports failures.
    fn progress_sends(face: &IfaceBox<Self>) -> u32 {
        Self::progress(face)
    }
    /// `device_addr_len` bytes.
    fn device_address(face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
    /// `iface_addr_len` bytes.
    fn iface_address(face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        Err(Status::UNSUPPORTED)
    }
    /// Whether the owner of these addresses, of which one at least is given, can be reached.
    fn is_reachable(
        face: &IfaceBox<Self>,
        device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool;

    fn ep_create(face: &IfaceBox<Self>, params: &EpParams) -> Result<Self::Ep>;
    /// The endpoint has its final address now.
    fn ep_created(ep: &EpBox<Self>) {}
    /// Before the endpoint is dropped. No completion of its operations is called after this returns: each was, or never
    /// is.
    fn ep_closing(ep: &EpBox<Self>) {}
    /// Before the interface is dropped; progress is already off.
    fn closing(face: &IfaceBox<Self>) {}
    /// `ep_addr_len` bytes.
    fn ep_address(ep: &EpBox<Self>) -> Result<Vec<u8>> {
        Err(Status::UNSUPPORTED)
    }
    /// Connects to the endpoint behind these addresses.
    fn connect_to_ep(
        ep: &EpBox<Self>,
        device: Option<GivenAddress<'_>>,
        addr: GivenAddress<'_>,
    ) -> Result<()> {
        Err(Status::UNSUPPORTED)
    }

    fn am_short(ep: &EpBox<Self>, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        Err(Status::UNSUPPORTED)
    }
    fn am_short_iov(ep: &EpBox<Self>, id: u8, iov: Iov<'_>) -> Result<()> {
        Err(Status::UNSUPPORTED)
    }
    fn am_bcopy(ep: &EpBox<Self>, id: u8, pack: Pack, flags: u32) -> Result<usize> {
        Err(Status::UNSUPPORTED)
    }
    fn am_zcopy(
        ep: &EpBox<Self>,
        id: u8,
        header: &[u8],
        iov: Iov<'_>,
        flags: u32,
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }
    fn put_short(ep: &EpBox<Self>, from: Payload<'_>, remote: Remote) -> Result<()> {
        Err(Status::UNSUPPORTED)
    }
    fn put_bcopy(ep: &EpBox<Self>, pack: Pack, remote: Remote) -> Result<usize> {
        Err(Status::UNSUPPORTED)
    }
    /// As `am_bcopy`, in the place of which it may be implemented: the answer to the user.
    #[inline(always)]
    fn am_bcopy_code(ep: &EpBox<Self>, id: u8, pack: Pack, flags: u32) -> isize {
        length(Self::am_bcopy(ep, id, pack, flags))
    }
    /// As `put_zcopy` of one block with a completion, where nothing stands in the way: the answer to the user. `None`:
    /// nothing was done, and `put_zcopy` has to be called.
    #[inline(always)]
    fn put_zcopy_now(
        ep: &EpBox<Self>,
        block: &uct_iov_t,
        remote: Remote,
        comp: Completion,
    ) -> Option<ucs_status_t> {
        None
    }
    /// As `put_zcopy_now`, for `get_bcopy`.
    #[inline(always)]
    fn get_bcopy_now(
        ep: &EpBox<Self>,
        unpack: Unpack,
        len: usize,
        remote: Remote,
        comp: Completion,
    ) -> Option<ucs_status_t> {
        Self::FETCHES_AT_ONCE
            .then(|| code_of(&Self::get_bcopy(ep, unpack, len, remote, comp).map(drop)))
    }
    /// As `put_zcopy_now`, for `atomic_fetch` of an addition.
    #[inline(always)]
    fn fetch_add_now<W: AtomicWord>(
        ep: &EpBox<Self>,
        value: W,
        old: OldValue<W>,
        remote: Remote,
        comp: Completion,
    ) -> Option<ucs_status_t> {
        Self::FETCHES_AT_ONCE.then(|| {
            let added = Self::atomic_fetch(ep, AtomicOp::Add, value, old, remote, comp);
            code_of(&added.map(drop))
        })
    }
    fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }
    fn get_short(ep: &EpBox<Self>, to: Room<'_>, remote: Remote) -> Result<()> {
        Err(Status::UNSUPPORTED)
    }
    fn get_bcopy(
        ep: &EpBox<Self>,
        unpack: Unpack,
        len: usize,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }
    fn get_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }
    fn atomic_post<W: AtomicWord>(
        ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        remote: Remote,
    ) -> Result<()> {
        Err(Status::UNSUPPORTED)
    }
    fn atomic_fetch<W: AtomicWord>(
        ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        old: OldValue<W>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }
    fn atomic_cswap<W: AtomicWord>(
        ep: &EpBox<Self>,
        compare: W,
        swap: W,
        old: OldValue<W>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }

    /// Queues `req` until the endpoint can send again; `BUSY` when it can already.
    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, flags: u32) -> Result<()> {
        Err(Status::BUSY)
    }
    /// Takes every queued request off and hands it to `each`.
    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {}
    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        Ok(Posted::Done)
    }
    fn fence(ep: &EpBox<Self>, flags: u32) -> Result<()> {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        Ok(())
    }
    /// Checks that the peer lives; a failure is reported through the error handler.
    fn check(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        Err(Status::UNSUPPORTED)
    }
    fn iface_flush(face: &IfaceBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        Ok(Posted::Done)
    }
    fn iface_fence(face: &IfaceBox<Self>, flags: u32) -> Result<()> {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        Ok(())
    }
    fn event_fd(face: &IfaceBox<Self>) -> Result<RawFd> {
        Err(Status::UNSUPPORTED)
    }
    /// `BUSY` when there is something to progress first.
    fn event_arm(face: &IfaceBox<Self>, events: c_int) -> Result<()> {
        Err(Status::UNSUPPORTED)
    }
}
