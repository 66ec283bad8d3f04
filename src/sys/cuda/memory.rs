//! What the driver knows of an address, and memory of its own.

use super::driver::{Context, Driver, DriverError, Entered, call};
use crate::c::cuda::*;
use core::ffi::{c_int, c_uint};
use core::ops::Range;
use core::ptr::NonNull;
use std::os::fd::{FromRawFd, OwnedFd};

/// An allocation of the driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// Where it begins, as the process sees it, and its bytes.
    pub base: usize,
    pub length: usize,
    /// Its number, which no other allocation of the process has had.
    pub id: u64,
    /// The ordinal number of its device.
    pub device: c_int,
    /// The context that it was made in; memory of pools is of none.
    pub context: Option<Context>,
    /// Processors may access it too: the driver moves it.
    pub managed: bool,
    /// It is of a memory pool, as cudaMallocAsync() allocates.
    pub pooled: bool,
}

impl Allocation {
    /// Whether it was created and mapped by cuMemCreate() and cuMemMap(): it is of no context, and each step is an
    /// allocation of its own.
    pub fn is_mapped_in_steps(&self) -> bool {
        self.context.is_none() && !self.pooled && !self.managed
    }
}

/// Whether the driver moves managed memory or not, allocated memory is of one of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allocate {
    Device,
    Managed,
    /// Of a device, such as other nodes of an NVLink fabric may open: whole steps of the driver's.
    Fabric,
}

impl Driver {
    /// The allocation that holds an address; `None` for memory of the host. At most one call of the driver, but for memory that
    /// was mapped in steps.
    pub fn allocation_of(self, address: usize) -> Result<Option<Allocation>, DriverError> {
        if self.host.is_some_and(|host| host.has(address)) {
            return Ok(None);
        }
        let mut attributes = [
            CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            CU_POINTER_ATTRIBUTE_IS_MANAGED,
            CU_POINTER_ATTRIBUTE_BUFFER_ID,
            CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
            CU_POINTER_ATTRIBUTE_RANGE_SIZE,
            CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
            CU_POINTER_ATTRIBUTE_CONTEXT,
        ];
        // The driver writes four or eight bytes, little-endian, also of what its header calls a boolean.
        let mut values = [0_u64; 8];
        let mut places = values.each_mut().map(|value| (&raw mut *value).cast());
        // Each value has room for its attribute; what the driver does not know it sets to zero.
        let asked = call!(unsafe self,
            cuPointerGetAttributes(
                attributes.len() as c_uint,
                attributes.as_mut_ptr(),
                places.as_mut_ptr(),
                address as CUdeviceptr,
            )
        );
        match asked {
            // Nobody can have allocated anything.
            Err(e) if e.code == CUDA_ERROR_NOT_INITIALIZED => return Ok(None),
            other => other?,
        }
        let [kind, managed, id, device, base, length, pool, context] = values;
        let (kind, managed) = (kind as c_uint, managed != 0);
        // Managed memory has the type of the place where it is.
        if kind == 0 || (kind == CU_MEMORYTYPE_HOST && !managed) {
            return Ok(None);
        }
        let mut found = Allocation {
            base: base as usize,
            length: length as usize,
            id,
            device: device as c_int,
            context: NonNull::new(core::ptr::with_exposed_provenance_mut(context as usize))
                .map(Context),
            managed,
            pooled: pool != 0,
        };
        if found.is_mapped_in_steps() {
            // The attributes are of the whole range that was reserved for the steps.
            (found.base, found.length) = self.range_at(address, found.device)?;
        }
        Ok(Some(found))
    }

    /// Where the mapping that holds an address begins, and its bytes.
    fn range_at(self, address: usize, device: c_int) -> Result<(usize, usize), DriverError> {
        self.in_some_context(device, || {
            let (mut base, mut length) = (0, 0);
            // Writable results.
            call!(unsafe self,
                cuMemGetAddressRange_v2(&mut base, &mut length, address as CUdeviceptr)
            )?;
            Ok((base as usize, length))
        })
    }

    /// Calls `f`, in a device's primary context where this thread has none.
    fn in_some_context<R>(
        self,
        device: c_int,
        f: impl FnOnce() -> Result<R, DriverError>,
    ) -> Result<R, DriverError> {
        if self.current_context()?.is_some() {
            return f();
        }
        let (context, device) = self.retain_primary_context(device)?;
        let result = self.enter(context).and_then(|_entered| f());
        let _ = self.release(device);
        result
    }

    /// A dmabuf descriptor of whole pages of an allocation; `None` where the driver or the device has none for any memory.
    pub fn dmabuf(
        self,
        of: &Allocation,
        pages: Range<usize>,
    ) -> Result<Option<OwnedFd>, DriverError> {
        let Some(get) = self.table.cuMemGetHandleForAddressRange else {
            return Ok(None);
        };
        if !self.has_dmabufs(of.device)? {
            return Ok(None);
        }
        self.in_some_context(of.device, || {
            let mut file: c_int = -1;
            let to = (&raw mut file).cast();
            let kind = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
            // SAFETY: room for a descriptor; the driver checks the range.
            let got = unsafe { get(to, pages.start as CUdeviceptr, pages.len(), kind, 0) };
            self.check("cuMemGetHandleForAddressRange", got)?;
            // SAFETY: the driver has opened it for the caller.
            Ok(Some(unsafe { OwnedFd::from_raw_fd(file) }))
        })
    }

    /// Has synchronous copies of the program wait until the bytes are in their place, in the allocation that holds the
    /// address. Copies that return earlier would be overtaken by those on streams of ours.
    pub fn synchronize_copies_to(self, address: usize) -> Result<(), DriverError> {
        let on: c_uint = 1;
        // A value of the attribute's type.
        call!(unsafe self,
            cuPointerSetAttribute(
                (&raw const on).cast(),
                CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                address as CUdeviceptr,
            )
        )
    }

    /// The same for all memory, in the current context: memory that is mapped in steps has no such attribute. False where
    /// there is no context, or the driver cannot do that.
    pub fn synchronize_all_copies(self) -> Result<bool, DriverError> {
        let (get, set) = (self.table.cuCtxGetFlags, self.table.cuCtxSetFlags);
        let (Some(get), Some(set), Some(_)) = (get, set, self.current_context()?) else {
            return Ok(false);
        };
        let mut flags: c_uint = 0;
        // SAFETY: a writable result.
        self.check("cuCtxGetFlags", unsafe { get(&mut flags) })?;
        if flags & CU_CTX_SYNC_MEMOPS == 0 {
            // SAFETY: flags of the context, and one that all contexts may have.
            self.check("cuCtxSetFlags", unsafe { set(flags | CU_CTX_SYNC_MEMOPS) })?;
        }
        Ok(true)
    }

    /// Allocates in the current context, or in the primary one of a device. Where neither is given, in a primary context that is in
    /// use, else in that of the first device, if `primary` allows to bring one to life; else the driver says that there is none.
    pub fn allocate(
        self,
        kind: Allocate,
        length: usize,
        device: Option<c_int>,
        primary: bool,
    ) -> Result<Block, DriverError> {
        let current = match device {
            Some(_) => None,
            None => self.current_context()?,
        };
        let is_used = |ordinal: &c_int| self.uses_primary_context(*ordinal) == Ok(true);
        let used = match device {
            _ if current.is_some() => None,
            Some(device) => Some(device).filter(|device| primary || is_used(device)),
            None => self.ordinals().find(is_used).or(primary.then_some(0)),
        };
        let (context, retained) = match used {
            Some(device) => {
                let (context, device) = self.retain_primary_context(device)?;
                (Some(context), Some(device))
            }
            None => {
                if device.is_some() {
                    self.check("cuDevicePrimaryCtxGetState", CUDA_ERROR_INVALID_CONTEXT)?;
                }
                (current, None)
            }
        };
        let mut block = Block {
            driver: self,
            address: 0,
            length,
            is_mapped: false,
            context,
            retained,
        };
        let allocated = block.enter().and_then(|_entered| {
            let at = &mut block.address;
            match kind {
                // A writable result.
                Allocate::Device => call!(unsafe self, cuMemAlloc_v2(at, length)),
                // As above.
                Allocate::Managed => {
                    call!(unsafe self, cuMemAllocManaged(at, length, CU_MEM_ATTACH_GLOBAL))
                }
                Allocate::Fabric => {
                    (block.address, block.length) = self.create_for_fabric(length)?;
                    block.is_mapped = true;
                    Ok(())
                }
            }
        });
        match allocated {
            Ok(()) => Ok(block),
            Err(e) => {
                // What matters is why there is no memory.
                let _ = block.release();
                Err(e)
            }
        }
    }

    /// Creates memory of the current context's device and maps it; returns its address and its bytes.
    fn create_for_fabric(self, length: usize) -> Result<(CUdeviceptr, usize), DriverError> {
        let mut device = 0;
        // A writable result.
        call!(unsafe self, cuCtxGetDevice(&mut device))?;
        let has = |attribute| self.attribute(device, attribute).map(|has| has != 0);
        if !has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED)? {
            self.check("cuMemCreate", CUDA_ERROR_NOT_SUPPORTED)?;
        }
        let by_adapters = has(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)?;
        let wanted = CUmemAllocationProp {
            kind: CU_MEM_ALLOCATION_TYPE_PINNED,
            handle_types: CU_MEM_HANDLE_TYPE_FABRIC,
            location: CUmemLocation {
                kind: CU_MEM_LOCATION_TYPE_DEVICE,
                id: device,
            },
            windows: core::ptr::null_mut(),
            compression: 0,
            for_rdma: by_adapters.into(),
            usage: 0,
            reserved: [0; 4],
        };
        let (mut step, mut allocation) = (0, 0);
        // A writable result.
        call!(unsafe self,
            cuMemGetAllocationGranularity(&mut step, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM)
        )?;
        let whole = length.max(1).checked_next_multiple_of(step.max(1));
        // Which no device has.
        let whole = whole.unwrap_or(usize::MAX);
        // A writable result.
        call!(unsafe self, cuMemCreate(&mut allocation, whole, &wanted, 0))?;
        let address = self.map_allocation(allocation, whole)?;
        match self.allow(address, whole) {
            Ok(()) => Ok((address, whole)),
            Err(e) => {
                // What matters is why it cannot be used.
                let _ = self.unmap(address, whole);
                Err(e)
            }
        }
    }

    /// Allocates memory of a device in a context.
    pub fn allocate_in(self, context: Context, length: usize) -> Result<Block, DriverError> {
        let _entered = self.enter(context)?;
        let mut block = Block {
            driver: self,
            address: 0,
            length,
            is_mapped: false,
            context: Some(context),
            retained: None,
        };
        // A writable result.
        call!(unsafe self, cuMemAlloc_v2(&mut block.address, length))?;
        Ok(block)
    }

    /// Pins memory of the host, so that devices copy from and to it without a detour. Whether it did: memory that
    /// somebody else has pinned stays theirs.
    pub(super) fn pin(self, address: usize, length: usize) -> Result<bool, DriverError> {
        let address = core::ptr::with_exposed_provenance_mut(address);
        // Memory of the caller; the driver checks that it is mapped.
        let pinned = call!(unsafe self,
            cuMemHostRegister_v2(address, length, CU_MEMHOSTREGISTER_PORTABLE)
        );
        match pinned {
            Err(e) if e.code == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Ends what `pin` began.
    pub(super) fn unpin(self, address: usize) -> Result<(), DriverError> {
        let address = core::ptr::with_exposed_provenance_mut(address);
        // The driver checks that the address is pinned.
        call!(unsafe self, cuMemHostUnregister(address))
    }
}

/// Memory that was allocated here.
pub struct Block {
    driver: Driver,
    address: CUdeviceptr,
    length: usize,
    /// It was created and mapped in steps.
    is_mapped: bool,
    /// In which it was allocated; `None` where none was current.
    context: Option<Context>,
    /// The device whose primary context is kept for it.
    retained: Option<CUdevice>,
}

impl Block {
    pub fn address(&self) -> usize {
        self.address as usize
    }

    /// Its bytes: as many as were wanted, or more.
    pub fn length(&self) -> usize {
        self.length
    }

    fn enter(&self) -> Result<Option<Entered>, DriverError> {
        self.context.map(|c| self.driver.enter(c)).transpose()
    }

    fn release(&self) -> Result<(), DriverError> {
        self.retained.map_or(Ok(()), |d| self.driver.release(d))
    }

    /// Gives the memory back.
    pub fn free(self) -> Result<(), DriverError> {
        let freed = self.enter().and_then(|_entered| {
            if self.is_mapped {
                return self.driver.unmap(self.address, self.length);
            }
            // Of the driver, once: this owns it.
            call!(unsafe self.driver, cuMemFree_v2(self.address))
        });
        freed.and(self.release())
    }
}
