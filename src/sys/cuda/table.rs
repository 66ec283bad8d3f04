//! The functions of `libcuda.so.1`.

use crate::c::cuda::*;
use crate::sys::library::functions;
use core::ffi::{c_char, c_int, c_uint, c_void};

functions! {
    /// All functions are in every driver since CUDA 11.3; what newer drivers can is asked by attributes.
    // SAFETY: the types are those of the library's header, in every release.
    unsafe "libcuda.so.1":
    cuInit: fn(c_uint) -> CUresult,
    cuDriverGetVersion: fn(*mut c_int) -> CUresult,
    cuGetErrorString: fn(CUresult, *mut *const c_char) -> CUresult,
    cuDeviceGet: fn(*mut CUdevice, c_int) -> CUresult,
    cuDeviceGetAttribute: fn(*mut c_int, CUdevice_attribute, CUdevice) -> CUresult,
    cuDeviceTotalMem_v2: fn(*mut usize, CUdevice) -> CUresult,
    cuDevicePrimaryCtxRetain: fn(*mut CUcontext, CUdevice) -> CUresult,
    cuDevicePrimaryCtxRelease_v2: fn(CUdevice) -> CUresult,
    cuDevicePrimaryCtxGetState: fn(CUdevice, *mut c_uint, *mut c_int) -> CUresult,
    cuCtxGetCurrent: fn(*mut CUcontext) -> CUresult,
    cuCtxPushCurrent_v2: fn(CUcontext) -> CUresult,
    cuCtxPopCurrent_v2: fn(*mut CUcontext) -> CUresult,
    cuPointerGetAttributes: fn(c_uint, *mut CUpointer_attribute, *mut *mut c_void, CUdeviceptr) -> CUresult,
    cuPointerSetAttribute: fn(*const c_void, CUpointer_attribute, CUdeviceptr) -> CUresult,
    cuMemAlloc_v2: fn(*mut CUdeviceptr, usize) -> CUresult,
    cuMemAllocManaged: fn(*mut CUdeviceptr, usize, c_uint) -> CUresult,
    cuMemFree_v2: fn(CUdeviceptr) -> CUresult,
    cuMemcpyAsync: fn(CUdeviceptr, CUdeviceptr, usize, CUstream) -> CUresult,
    cuStreamCreate: fn(*mut CUstream, c_uint) -> CUresult,
    cuStreamDestroy_v2: fn(CUstream) -> CUresult,
    cuStreamAddCallback: fn(CUstream, CUstreamCallback, *mut c_void, c_uint) -> CUresult,
    cuStreamSynchronize: fn(CUstream) -> CUresult,
    cuEventCreate: fn(*mut CUevent, c_uint) -> CUresult,
    cuEventDestroy_v2: fn(CUevent) -> CUresult,
    cuEventQuery: fn(CUevent) -> CUresult,
    cuEventRecord: fn(CUevent, CUstream) -> CUresult,
    cuEventSynchronize: fn(CUevent) -> CUresult,
    cuMemHostRegister_v2: fn(*mut c_void, usize, c_uint) -> CUresult,
    cuMemHostUnregister: fn(*mut c_void) -> CUresult,
    cuMemGetAddressRange_v2: fn(*mut CUdeviceptr, *mut usize, CUdeviceptr) -> CUresult,
    cuIpcGetMemHandle: fn(*mut CUipcMemHandle, CUdeviceptr) -> CUresult,
    cuIpcOpenMemHandle_v2: fn(*mut CUdeviceptr, CUipcMemHandle, c_uint) -> CUresult,
    cuIpcCloseMemHandle: fn(CUdeviceptr) -> CUresult,
    cuCtxGetDevice: fn(*mut CUdevice) -> CUresult,
    cuMemRetainAllocationHandle: fn(*mut CUmemGenericAllocationHandle, *mut c_void) -> CUresult,
    cuMemExportToShareableHandle: fn(*mut c_void, CUmemGenericAllocationHandle, CUmemAllocationHandleType, u64) -> CUresult,
    cuMemImportFromShareableHandle: fn(*mut CUmemGenericAllocationHandle, *mut c_void, CUmemAllocationHandleType) -> CUresult,
    cuMemGetAllocationGranularity: fn(*mut usize, *const CUmemAllocationProp, CUmemAllocationGranularity_flags) -> CUresult,
    cuMemCreate: fn(*mut CUmemGenericAllocationHandle, usize, *const CUmemAllocationProp, u64) -> CUresult,
    cuMemRelease: fn(CUmemGenericAllocationHandle) -> CUresult,
    cuMemAddressReserve: fn(*mut CUdeviceptr, usize, usize, CUdeviceptr, u64) -> CUresult,
    cuMemAddressFree: fn(CUdeviceptr, usize) -> CUresult,
    cuMemMap: fn(CUdeviceptr, usize, usize, CUmemGenericAllocationHandle, u64) -> CUresult,
    cuMemUnmap: fn(CUdeviceptr, usize) -> CUresult,
    cuMemSetAccess: fn(CUdeviceptr, usize, *const CUmemAccessDesc, usize) -> CUresult,
    cuMemPoolExportToShareableHandle: fn(*mut c_void, CUmemoryPool, CUmemAllocationHandleType, u64) -> CUresult,
    cuMemPoolImportFromShareableHandle: fn(*mut CUmemoryPool, *mut c_void, CUmemAllocationHandleType, u64) -> CUresult,
    cuMemPoolExportPointer: fn(*mut CUmemPoolPtrExportData, CUdeviceptr) -> CUresult,
    cuMemPoolImportPointer: fn(*mut CUdeviceptr, CUmemoryPool, *mut CUmemPoolPtrExportData) -> CUresult,
    cuMemPoolSetAccess: fn(CUmemoryPool, *const CUmemAccessDesc, usize) -> CUresult,
    cuMemPoolDestroy: fn(CUmemoryPool) -> CUresult,
    ; optional
    // Since CUDA 11.7.
    cuMemGetHandleForAddressRange: fn(*mut c_void, CUdeviceptr, usize, CUmemRangeHandleType, u64) -> CUresult,
    // Since CUDA 12.0.
    cuCtxGetId: fn(CUcontext, *mut u64) -> CUresult,
    // Since CUDA 12.1.
    cuCtxGetFlags: fn(*mut c_uint) -> CUresult,
    cuCtxSetFlags: fn(c_uint) -> CUresult,
}

impl Table {
    /// The functions, loaded at the first call.
    pub fn get() -> std::io::Result<&'static Table> {
        static TABLE: once_cell::race::OnceBox<Table> = once_cell::race::OnceBox::new();
        TABLE.get_or_try_init(|| Ok(Box::new(Table::load()?)))
    }
}
