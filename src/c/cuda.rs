//! The types and constants of NVIDIA's driver, `libcuda.so.1`, that this library uses.
//!
//! The driver's handles are opaque. `tests/cuda_layout.rs` compares `CUDA_CONSTANTS` with NVIDIA's `cuda.h`.

use core::ffi::{c_int, c_uint, c_void};

pub type CUresult = c_int;
pub type CUdevice = c_int;
pub type CUdeviceptr = u64;
pub type CUcontext = *mut c_void;
pub type CUstream = *mut c_void;
pub type CUevent = *mut c_void;
pub type CUstreamCallback = unsafe extern "C" fn(CUstream, CUresult, *mut c_void);

/// The name of an allocation for other processes: bytes that mean something to the driver alone.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUipcMemHandle {
    pub reserved: [u8; CU_IPC_HANDLE_SIZE as usize],
}

/// The name of a pointer into a pool, of the same sort.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemPoolPtrExportData {
    pub reserved: [u8; CU_IPC_HANDLE_SIZE as usize],
}

pub type CUmemGenericAllocationHandle = u64;
pub type CUmemoryPool = *mut c_void;
pub type CUmemAllocationHandleType = c_uint;
pub type CUmemRangeHandleType = c_uint;
pub type CUmemAllocationGranularity_flags = c_uint;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemLocation {
    /// `CU_MEM_LOCATION_TYPE_*`
    pub kind: c_uint,
    pub id: c_int,
}

/// What memory is to be created.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAllocationProp {
    /// `CU_MEM_ALLOCATION_TYPE_*`
    pub kind: c_uint,
    /// By which handles others may open it.
    pub handle_types: CUmemAllocationHandleType,
    pub location: CUmemLocation,
    pub windows: *mut c_void,
    pub compression: u8,
    pub for_rdma: u8,
    pub usage: u16,
    pub reserved: [u8; 4],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    /// `CU_MEM_ACCESS_FLAGS_*`
    pub flags: c_uint,
}

pub type CUpointer_attribute = c_uint;
pub type CUdevice_attribute = c_uint;

constants! { CUDA_CONSTANTS:
    CUDA_SUCCESS: CUresult = 0,
    CUDA_ERROR_INVALID_VALUE: CUresult = 1,
    CUDA_ERROR_OUT_OF_MEMORY: CUresult = 2,
    CUDA_ERROR_NOT_INITIALIZED: CUresult = 3,
    CUDA_ERROR_INVALID_CONTEXT: CUresult = 201,
    CUDA_ERROR_NOT_READY: CUresult = 600,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: CUresult = 712,
    CUDA_ERROR_NOT_SUPPORTED: CUresult = 801,
    CU_IPC_HANDLE_SIZE: c_uint = 64,
    CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS: c_uint = 1,
    CU_MEMORYTYPE_HOST: c_uint = 1,
    CU_POINTER_ATTRIBUTE_CONTEXT: CUpointer_attribute = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE: CUpointer_attribute = 2,
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: CUpointer_attribute = 6,
    CU_POINTER_ATTRIBUTE_BUFFER_ID: CUpointer_attribute = 7,
    CU_POINTER_ATTRIBUTE_IS_MANAGED: CUpointer_attribute = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: CUpointer_attribute = 9,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: CUpointer_attribute = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE: CUpointer_attribute = 12,
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: CUpointer_attribute = 14,
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: CUpointer_attribute = 17,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: CUdevice_attribute = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: CUdevice_attribute = 34,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: CUdevice_attribute = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: CUdevice_attribute = 75,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: CUdevice_attribute = 110,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED: CUdevice_attribute = 124,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED: CUdevice_attribute = 128,
    CU_CTX_SYNC_MEMOPS: c_uint = 0x80,
    CU_STREAM_NON_BLOCKING: c_uint = 1,
    CU_EVENT_DISABLE_TIMING: c_uint = 2,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR: CUmemAllocationHandleType = 1,
    CU_MEM_HANDLE_TYPE_FABRIC: CUmemAllocationHandleType = 8,
    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD: CUmemRangeHandleType = 1,
    CU_MEM_ALLOCATION_TYPE_PINNED: c_uint = 1,
    CU_MEM_ALLOC_GRANULARITY_MINIMUM: CUmemAllocationGranularity_flags = 0,
    CU_MEM_LOCATION_TYPE_DEVICE: c_uint = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE: c_uint = 3,
    CU_MEM_ATTACH_GLOBAL: c_uint = 1,
    CU_MEMHOSTREGISTER_PORTABLE: c_uint = 1,
}
