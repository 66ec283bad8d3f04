//! Handles of components, memory domains, memory and remote keys as C sees them.

use super::memory_copier::MemoryCopier;
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::api::{
    Alloc, Component, Device, Dmabuf, KeyObject, Md, MdAttr, MemoryInfo, PackedKey, Transport,
    UnpackedKey,
};
use crate::{ucs_debug, ucs_diag};
use core::ffi::c_void;
use core::ptr::NonNull;
use std::any::Any;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The object of `uct_component_h`.
pub struct ComponentHandle {
    pub component: &'static dyn Component,
}

/// The object of `uct_md_h`.
pub struct MdHandle {
    pub component: &'static ComponentHandle,
    pub name: String,
    pub md: Box<dyn DynMd>,
}

impl ComponentHandle {
    /// The names of the domains that can be opened here. If there are none, the reason is logged.
    pub fn domains(&self) -> Vec<&'static str> {
        self.component.md_resources().unwrap_or_else(|why| {
            ucs_diag!("{}: {why}", self.component.name());
            Vec::new()
        })
    }

    pub fn as_c(&'static self) -> uct_component_h {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// The handle behind C's pointer, `None` for null.
    ///
    /// # Safety
    /// `h` must be null or come from `as_c`.
    pub unsafe fn from_c(h: uct_component_h) -> Option<&'static ComponentHandle> {
        // SAFETY: `as_c` gave out only references to statics.
        unsafe { h.cast::<ComponentHandle>().as_ref() }
    }
}

impl MdHandle {
    /// The devices of a transport in this domain. If there are none, the reason is logged.
    pub fn devices(&self, transport: &dyn Transport) -> Vec<Device> {
        transport.devices(self.md.as_ref()).unwrap_or_else(|why| {
            ucs_diag!("{}: {why}", transport.name());
            Vec::new()
        })
    }

    /// Tells the domain of memory. `flags`: `UCT_MD_MEM_*`.
    pub fn register(&self, address: *mut c_void, length: usize, flags: u32) -> Result<Registered> {
        Ok(self.registered(self.md.mem_reg(address, length, flags)?))
    }

    /// As `register`, of memory that a dmabuf holds too.
    pub fn register_dmabuf(
        &self,
        address: *mut c_void,
        length: usize,
        flags: u32,
        dmabuf: Dmabuf,
    ) -> Result<Registered> {
        let memh = self.md.mem_reg_dmabuf(address, length, flags, dmabuf)?;
        Ok(self.registered(memh))
    }

    fn registered(&self, memh: uct_mem_h) -> Registered {
        Registered {
            md: NonNull::from(self),
            memh,
        }
    }

    /// # Safety
    /// `h` must be null or an open memory domain.
    pub unsafe fn from_c<'a>(h: uct_md_h) -> Option<&'a MdHandle> {
        // SAFETY: `uct_md_open` gave out a leaked box, alive until `uct_md_close`.
        unsafe { h.cast::<MdHandle>().as_ref() }
    }
}

/// Memory that a domain knows until this is released. The domain is closed after that (C contract of `uct_md_close`; UCP's
/// domains go with the context, after its regions and requests).
pub struct Registered {
    md: NonNull<MdHandle>,
    memh: uct_mem_h,
}

// SAFETY: all threads may use a domain and its handles.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    pub fn memh(&self) -> uct_mem_h {
        self.memh
    }

    pub fn release(self) -> Result<()> {
        // SAFETY: open, see above.
        let md = unsafe { self.md.as_ref() };
        // SAFETY: a registration of this domain, released once, as this takes itself.
        let result = unsafe { md.md.mem_dereg(self.memh) };
        result.inspect_err(|e| ucs_debug!("{}: ending a registration: {e}", md.name))
    }
}

/// A value that C has as a `uct_mem_h`: by its address, in a box.
pub trait MemoryHandle: Sized + Send + Sync + 'static {
    fn into_c(self) -> uct_mem_h {
        Box::into_raw(Box::new(self)).cast()
    }

    /// Takes the value back; `INVALID_PARAM` for null.
    ///
    /// # Safety
    /// `h` must be null or of `into_c`, once.
    unsafe fn from_c(h: uct_mem_h) -> Result<Self> {
        if h.is_null() {
            return Err(Status::INVALID_PARAM);
        }
        // SAFETY: boxed by `into_c`, by the caller's promise.
        Ok(*unsafe { Box::from_raw(h.cast()) })
    }

    /// The value behind a handle; `INVALID_PARAM` for null.
    ///
    /// # Safety
    /// `h` must be null or of `into_c`, and not be taken back while the value is used.
    unsafe fn of_c(h: &uct_mem_h) -> Result<&Self> {
        // SAFETY: boxed by `into_c`, by the caller's promise.
        unsafe { h.cast::<Self>().as_ref() }.ok_or(Status::INVALID_PARAM)
    }
}

/// A handle that is a number and no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct MemoryNumber(pub usize);

impl MemoryHandle for MemoryNumber {
    fn into_c(self) -> uct_mem_h {
        self.0 as uct_mem_h
    }

    unsafe fn from_c(h: uct_mem_h) -> Result<MemoryNumber> {
        Ok(MemoryNumber(h as usize))
    }

    unsafe fn of_c(h: &uct_mem_h) -> Result<&MemoryNumber> {
        // SAFETY: a handle has the layout of a number.
        Ok(unsafe { &*core::ptr::from_ref(h).cast() })
    }
}

/// Any `Md`, with handles as C has them.
pub trait DynMd: Send + Sync + 'static {
    fn as_any(&self) -> &dyn Any;
    fn attr(&self) -> MdAttr;
    fn mem_query(&self, address: *const c_void, length: usize) -> Result<MemoryInfo>;
    /// `Md::dmabuf`.
    fn dmabuf(&self, told: &MemoryInfo, address: *const c_void) -> Option<OwnedFd>;
    fn copier(&self) -> Option<Arc<dyn MemoryCopier>>;
    fn mem_alloc(&self, alloc: &mut Alloc<'_>) -> Result<uct_mem_h>;

    /// # Safety
    /// `memh` must be null or come from this domain's `mem_alloc`, and be freed once.
    unsafe fn mem_free(&self, memh: uct_mem_h) -> Result<()>;

    fn mem_reg(&self, address: *mut c_void, length: usize, flags: u32) -> Result<uct_mem_h>;

    /// `Md::mem_reg_dmabuf`.
    fn mem_reg_dmabuf(
        &self,
        address: *mut c_void,
        length: usize,
        flags: u32,
        dmabuf: Dmabuf,
    ) -> Result<uct_mem_h>;

    /// # Safety
    /// `memh` must be null or come from this domain's `mem_reg` or `mem_reg_dmabuf`, and be released once.
    unsafe fn mem_dereg(&self, memh: uct_mem_h) -> Result<()>;

    /// # Safety
    /// `memh` must be null or a live handle of this domain.
    unsafe fn mem_advise(
        &self,
        memh: uct_mem_h,
        address: *mut c_void,
        length: usize,
        advice: uct_mem_advice_t,
    ) -> Result<()>;

    /// # Safety
    /// `memh` must be null or a live handle of this domain.
    unsafe fn mkey_pack(&self, memh: uct_mem_h) -> Result<PackedKey>;

    /// `Md::admit_upstream`.
    fn admit_upstream(&self, key: &[u8], writers: Option<Arc<[SocketAddr]>>) -> Result<()>;
}

impl<M: Md> DynMd for M {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn attr(&self) -> MdAttr {
        Md::attr(self)
    }

    fn mem_query(&self, address: *const c_void, length: usize) -> Result<MemoryInfo> {
        Md::mem_query(self, address, length)
    }

    fn dmabuf(&self, told: &MemoryInfo, address: *const c_void) -> Option<OwnedFd> {
        Md::dmabuf(self, told, address)
    }

    fn admit_upstream(&self, key: &[u8], writers: Option<Arc<[SocketAddr]>>) -> Result<()> {
        Md::admit_upstream(self, key, writers)
    }

    fn copier(&self) -> Option<Arc<dyn MemoryCopier>> {
        Md::copier(self)
    }

    fn mem_alloc(&self, alloc: &mut Alloc<'_>) -> Result<uct_mem_h> {
        Md::mem_alloc(self, alloc).map(M::Memory::into_c)
    }

    unsafe fn mem_free(&self, memh: uct_mem_h) -> Result<()> {
        // SAFETY: by the caller's promise.
        Md::mem_free(self, unsafe { M::Memory::from_c(memh) }?)
    }

    fn mem_reg(&self, address: *mut c_void, length: usize, flags: u32) -> Result<uct_mem_h> {
        Md::mem_reg(self, address, length, flags).map(M::Memory::into_c)
    }

    fn mem_reg_dmabuf(
        &self,
        address: *mut c_void,
        length: usize,
        flags: u32,
        dmabuf: Dmabuf,
    ) -> Result<uct_mem_h> {
        Md::mem_reg_dmabuf(self, address, length, flags, dmabuf).map(M::Memory::into_c)
    }

    unsafe fn mem_dereg(&self, memh: uct_mem_h) -> Result<()> {
        // SAFETY: by the caller's promise.
        Md::mem_dereg(self, unsafe { M::Memory::from_c(memh) }?)
    }

    unsafe fn mem_advise(
        &self,
        memh: uct_mem_h,
        address: *mut c_void,
        length: usize,
        advice: uct_mem_advice_t,
    ) -> Result<()> {
        // SAFETY: by the caller's promise.
        let memory = unsafe { M::Memory::of_c(&memh) }?;
        Md::mem_advise(self, memory, address, length, advice)
    }

    unsafe fn mkey_pack(&self, memh: uct_mem_h) -> Result<PackedKey> {
        // SAFETY: by the caller's promise.
        Md::mkey_pack(self, unsafe { M::Memory::of_c(&memh) }?)
    }
}

/// A remote key, unpacked. Its object is released when it is dropped.
pub struct RkeyHandle {
    component: &'static dyn Component,
    rkey: uct_rkey_t,
    /// In a box of its own, so that C has one word for it.
    object: Option<Box<Box<dyn KeyObject>>>,
}

impl RkeyHandle {
    /// Reads a packed key; `INVALID_PARAM` for one of another length than the component's.
    pub fn unpack(component: &'static dyn Component, packed: &[u8]) -> Result<RkeyHandle> {
        if packed.len() != component.key_len() {
            return Err(Status::INVALID_PARAM);
        }
        let (rkey, object) = match component.rkey_unpack(packed)? {
            UnpackedKey::Word(rkey) => (rkey, None),
            UnpackedKey::Object(object) => {
                let object = Box::new(object);
                let at: *const dyn KeyObject = &raw const **object;
                (at.cast::<()>().expose_provenance(), Some(object))
            }
        };
        Ok(RkeyHandle {
            component,
            rkey,
            object,
        })
    }

    /// What operations get.
    pub fn rkey(&self) -> uct_rkey_t {
        self.rkey
    }

    /// The local address of remote memory that is mapped.
    pub fn pointer(&self, remote: u64) -> Result<*mut c_void> {
        match &self.object {
            Some(object) => object.pointer(remote),
            None => self.component.rkey_ptr(self.rkey, remote),
        }
    }

    /// The members of `uct_rkey_bundle_t`, of which the second keeps the object.
    pub fn into_c(self) -> (uct_rkey_t, *mut c_void) {
        let object = self.object.map_or(core::ptr::null_mut(), Box::into_raw);
        (self.rkey, object.cast())
    }

    /// The key of such members.
    ///
    /// # Safety
    /// They must be of `into_c` of a key of this component, which is taken back once.
    pub unsafe fn from_c(
        component: &'static dyn Component,
        rkey: uct_rkey_t,
        handle: *mut c_void,
    ) -> RkeyHandle {
        let object = handle.cast::<Box<dyn KeyObject>>();
        RkeyHandle {
            component,
            rkey,
            // SAFETY: null or of `into_c`, by the caller's promise.
            object: (!object.is_null()).then(|| unsafe { Box::from_raw(object) }),
        }
    }
}
