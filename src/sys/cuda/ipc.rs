//! Memory of other processes, by the driver's handles.
//!
//! Memory of cuMemAlloc() has a handle of its own kind. What was created and mapped in steps, and what is of a pool, has
//! those that it was made for: bytes ("fabric handle"), or a descriptor.

use super::driver::{Context, Driver, DriverError, call};
use super::memory::Allocation;
use crate::c::cuda::*;
use core::ffi::{c_int, c_uint, c_void};
use core::ptr::null_mut;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes that mean something to the driver alone.
pub type HandleBytes = [u8; CU_IPC_HANDLE_SIZE as usize];

/// The name of an allocation or of a pool, with `F` for a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shareable<F> {
    Fabric(HandleBytes),
    File(F),
}

/// By which another process opens memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpcHandle<F> {
    /// Of cuMemAlloc().
    Allocated(HandleBytes),
    /// Created and mapped in steps.
    Mapped(Shareable<F>),
    /// A pool, and the pointer into it.
    Pooled(Shareable<F>, HandleBytes),
}

impl<F> Shareable<F> {
    fn with<G, E>(self, f: impl FnOnce(F) -> Result<G, E>) -> Result<Shareable<G>, E> {
        Ok(match self {
            Shareable::Fabric(bytes) => Shareable::Fabric(bytes),
            Shareable::File(file) => Shareable::File(f(file)?),
        })
    }

    fn as_ref(&self) -> Shareable<&F> {
        match self {
            Shareable::Fabric(bytes) => Shareable::Fabric(*bytes),
            Shareable::File(file) => Shareable::File(file),
        }
    }
}

impl<F> IpcHandle<F> {
    /// The same with what `f` makes of the descriptor.
    pub fn with<G, E>(self, f: impl FnOnce(F) -> Result<G, E>) -> Result<IpcHandle<G>, E> {
        Ok(match self {
            IpcHandle::Allocated(bytes) => IpcHandle::Allocated(bytes),
            IpcHandle::Mapped(of) => IpcHandle::Mapped(of.with(f)?),
            IpcHandle::Pooled(of, pointer) => IpcHandle::Pooled(of.with(f)?, pointer),
        })
    }

    pub fn as_ref(&self) -> IpcHandle<&F> {
        match self {
            IpcHandle::Allocated(bytes) => IpcHandle::Allocated(*bytes),
            IpcHandle::Mapped(of) => IpcHandle::Mapped(of.as_ref()),
            IpcHandle::Pooled(of, pointer) => IpcHandle::Pooled(of.as_ref(), *pointer),
        }
    }
}

impl Shareable<OwnedFd> {
    /// As functions of the driver take it, with its kind. The bytes are only read, and live as long as this.
    fn raw(&self) -> (*mut c_void, CUmemAllocationHandleType) {
        match self {
            Shareable::Fabric(bytes) => {
                (bytes.as_ptr().cast_mut().cast(), CU_MEM_HANDLE_TYPE_FABRIC)
            }
            Shareable::File(file) => (
                core::ptr::without_provenance_mut(file.as_raw_fd() as usize),
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            ),
        }
    }
}

impl Driver {
    /// The handle of an allocation; that with a descriptor lacks it. `None`: it has none, as managed memory, and what was not
    /// made to be shared.
    pub fn export(self, of: &Allocation) -> Result<Option<IpcHandle<()>>, DriverError> {
        let address = of.base as CUdeviceptr;
        if of.managed {
            return Ok(None);
        }
        if let Some(context) = of.context {
            let _entered = self.enter(context)?;
            let mut handle = CUipcMemHandle {
                reserved: [0; CU_IPC_HANDLE_SIZE as usize],
            };
            // A writable result; the driver checks the address.
            call!(unsafe self, cuIpcGetMemHandle(&mut handle, address))?;
            return Ok(Some(IpcHandle::Allocated(handle.reserved)));
        }
        let (types, pool) = self.made_for(address)?;
        let fabric = types & u64::from(CU_MEM_HANDLE_TYPE_FABRIC) != 0;
        let file = types & u64::from(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
        let mut bytes: HandleBytes = [0; CU_IPC_HANDLE_SIZE as usize];
        let to = bytes.as_mut_ptr().cast();
        let exported = fabric.then(|| self.share((of, pool), CU_MEM_HANDLE_TYPE_FABRIC, to));
        let shared = match exported {
            Some(Ok(())) => Shareable::Fabric(bytes),
            _ if file => Shareable::File(()),
            Some(Err(e)) => return Err(e),
            None => return Ok(None),
        };
        if !of.pooled {
            return Ok(Some(IpcHandle::Mapped(shared)));
        }
        if matches!(shared, Shareable::File(())) {
            // Until the pool has been exported, the driver exports no pointer of it.
            drop(self.descriptor((of, pool))?);
        }
        let mut pointer = CUmemPoolPtrExportData {
            reserved: [0; CU_IPC_HANDLE_SIZE as usize],
        };
        // A writable result; the driver checks the address.
        call!(unsafe self, cuMemPoolExportPointer(&mut pointer, address))?;
        Ok(Some(IpcHandle::Pooled(shared, pointer.reserved)))
    }

    /// The descriptor of an allocation, or of its pool; `None` if it is there no more. The memory stays taken as long as the
    /// descriptor is open, also when its owner has freed it.
    pub fn open_descriptor(self, of: &Allocation) -> Result<Option<OwnedFd>, DriverError> {
        if self.allocation_of(of.base)? != Some(*of) {
            return Ok(None);
        }
        let (_, pool) = self.made_for(of.base as CUdeviceptr)?;
        self.descriptor((of, pool)).map(Some)
    }

    /// A new descriptor of an allocation, or of its pool.
    fn descriptor(self, of: (&Allocation, CUmemoryPool)) -> Result<OwnedFd, DriverError> {
        let mut file: c_int = -1;
        let to: *mut c_void = (&raw mut file).cast();
        self.share(of, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, to)?;
        // SAFETY: the driver has opened it for the caller.
        Ok(unsafe { OwnedFd::from_raw_fd(file) })
    }

    /// The kinds of handles that memory may have, as a mask, and its pool.
    fn made_for(self, address: CUdeviceptr) -> Result<(u64, CUmemoryPool), DriverError> {
        let (mut types, mut pool): (u64, CUmemoryPool) = (0, null_mut());
        let mut attributes = [
            CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
            CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
        ];
        let mut values: [*mut c_void; 2] = [(&raw mut types).cast(), (&raw mut pool).cast()];
        // Each value has room for its attribute; what the driver does not know it sets to zero.
        call!(unsafe self,
            cuPointerGetAttributes(
                attributes.len() as c_uint,
                attributes.as_mut_ptr(),
                values.as_mut_ptr(),
                address,
            )
        )?;
        Ok((types, pool))
    }

    /// Writes the handle of an allocation, or of its pool, to where there is room for one of this kind.
    fn share(
        self,
        (of, pool): (&Allocation, CUmemoryPool),
        kind: CUmemAllocationHandleType,
        to: *mut c_void,
    ) -> Result<(), DriverError> {
        if of.pooled {
            // Room by the caller's choice; the driver knows the pool.
            return call!(unsafe self, cuMemPoolExportToShareableHandle(to, pool, kind, 0));
        }
        let (mut allocation, at) = (0, core::ptr::with_exposed_provenance_mut(of.base));
        // A writable result; the driver checks the address.
        call!(unsafe self, cuMemRetainAllocationHandle(&mut allocation, at))?;
        // Room by the caller's choice; an allocation that is held.
        let shared = call!(unsafe self, cuMemExportToShareableHandle(to, allocation, kind, 0));
        // Held above, once.
        let released = call!(unsafe self, cuMemRelease(allocation));
        shared.and(released)
    }

    /// Maps memory of another process for copies in a context. The handle may be anything: the driver checks it. `length`:
    /// bytes of memory that was mapped in steps, which the driver checks too.
    pub fn import(
        self,
        handle: &IpcHandle<OwnedFd>,
        length: usize,
        context: Context,
    ) -> Result<Imported, DriverError> {
        let _entered = self.enter(context)?;
        let mut imported = Imported {
            driver: self,
            context,
            address: 0,
            length: 0,
            way: Way::Opened,
        };
        let mut address = 0;
        match handle {
            IpcHandle::Allocated(bytes) => {
                let handle = CUipcMemHandle { reserved: *bytes };
                // A writable result.
                call!(unsafe self,
                    cuIpcOpenMemHandle_v2(&mut address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
                )?;
            }
            IpcHandle::Mapped(shared) => {
                address = self.map(shared, length)?;
                (imported.way, imported.length) = (Way::Mapped, length);
            }
            IpcHandle::Pooled(shared, pointer) => {
                let ((handle, kind), mut pool) = (shared.raw(), null_mut());
                // A writable result, and a handle of the kind.
                call!(unsafe self,
                    cuMemPoolImportFromShareableHandle(&mut pool, handle, kind, 0)
                )?;
                imported.way = Way::Pooled(Pool(pool));
                let access = self.access()?;
                // Of this pool, one place.
                call!(unsafe self, cuMemPoolSetAccess(pool, &access, 1))?;
                let mut pointer = CUmemPoolPtrExportData { reserved: *pointer };
                // A writable result.
                call!(unsafe self, cuMemPoolImportPointer(&mut address, pool, &mut pointer))?;
            }
        }
        imported.address = address as usize;
        match imported.way {
            Way::Mapped => self.allow(address, length)?,
            Way::Opened | Way::Pooled(_) => {
                let length = &mut imported.length;
                // A writable result.
                call!(unsafe self, cuMemGetAddressRange_v2(null_mut(), length, address))?;
            }
        }
        Ok(imported)
    }

    /// Maps an allocation of another process at an address of its own.
    fn map(self, shared: &Shareable<OwnedFd>, length: usize) -> Result<CUdeviceptr, DriverError> {
        let ((handle, kind), mut allocation) = (shared.raw(), 0);
        // A writable result, and a handle of the kind.
        call!(unsafe self, cuMemImportFromShareableHandle(&mut allocation, handle, kind))?;
        self.map_allocation(allocation, length)
    }

    /// Maps an allocation that is held at an address of its own. It is held no longer; what is mapped stays.
    pub(super) fn map_allocation(
        self,
        allocation: CUmemGenericAllocationHandle,
        length: usize,
    ) -> Result<CUdeviceptr, DriverError> {
        let mut address = 0;
        // A writable result.
        let reserved = call!(unsafe self, cuMemAddressReserve(&mut address, length, 0, 0, 0));
        let mapped = reserved.and_then(|()| {
            // What was reserved just now; the driver compares the length with that of the allocation.
            let mapped = call!(unsafe self, cuMemMap(address, length, 0, allocation, 0));
            if mapped.is_err() {
                // Reserved above.
                let _ = call!(unsafe self, cuMemAddressFree(address, length));
            }
            mapped
        });
        // Held by the caller, once.
        let _ = call!(unsafe self, cuMemRelease(allocation));
        mapped.map(|()| address)
    }

    /// Ends what `map_allocation` began.
    pub(super) fn unmap(self, address: CUdeviceptr, length: usize) -> Result<(), DriverError> {
        // Mapped there, by the caller's word.
        let unmapped = call!(unsafe self, cuMemUnmap(address, length));
        // Nothing is mapped there any more.
        unmapped.and(call!(unsafe self, cuMemAddressFree(address, length)))
    }

    /// Gives the device of the context that is current access to what was mapped.
    pub(super) fn allow(self, address: CUdeviceptr, length: usize) -> Result<(), DriverError> {
        let access = self.access()?;
        // What was mapped, one place.
        call!(unsafe self, cuMemSetAccess(address, length, &access, 1))
    }

    /// Access for the device of the context that is current.
    fn access(self) -> Result<CUmemAccessDesc, DriverError> {
        let mut access = CUmemAccessDesc {
            location: CUmemLocation {
                kind: CU_MEM_LOCATION_TYPE_DEVICE,
                id: 0,
            },
            flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // A writable result.
        call!(unsafe self, cuCtxGetDevice(&mut access.location.id))?;
        Ok(access)
    }
}

/// Memory of another process that is mapped here, until this is dropped.
pub struct Imported {
    driver: Driver,
    pub context: Context,
    pub address: usize,
    pub length: usize,
    way: Way,
}

/// How it was mapped.
#[derive(Clone, Copy)]
enum Way {
    Opened,
    Mapped,
    Pooled(Pool),
}

/// An imported pool.
#[derive(Clone, Copy)]
struct Pool(CUmemoryPool);

// SAFETY: a name for the driver, which all threads may use.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Drop for Imported {
    fn drop(&mut self) {
        // With a context that was destroyed, all its mappings have ended.
        let Ok(_entered) = self.driver.enter(self.context) else {
            return;
        };
        let (driver, address, length) = (self.driver, self.address as CUdeviceptr, self.length);
        // All of `import`, once. That fails only where nothing is left to end.
        match self.way {
            Way::Opened if address != 0 => {
                let _ = call!(unsafe driver, cuIpcCloseMemHandle(address));
            }
            Way::Mapped if address != 0 => {
                let _ = driver.unmap(address, length);
            }
            Way::Pooled(pool) => {
                if address != 0 {
                    let _ = call!(unsafe driver, cuMemFree_v2(address));
                }
                // Nothing of it is left.
                let _ = call!(unsafe driver, cuMemPoolDestroy(pool.0));
            }
            Way::Opened | Way::Mapped => {}
        }
    }
}
