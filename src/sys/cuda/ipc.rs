//! Memory of other processes, by the driver's handles.

use super::driver::{Context, Driver, DriverError, call};
use super::memory::Allocation;
use crate::c::cuda::*;
use core::ptr::null_mut;

/// By which another process opens an allocation.
pub type IpcHandle = [u8; CU_IPC_HANDLE_SIZE as usize];

impl Driver {
    /// The handle of an allocation. Managed memory has none, and that of pools and virtual memory has other ones.
    pub fn export(self, of: &Allocation) -> Result<IpcHandle, DriverError> {
        let _entered = of.context.map(|context| self.enter(context)).transpose()?;
        let mut handle = CUipcMemHandle {
            reserved: [0; CU_IPC_HANDLE_SIZE as usize],
        };
        // A writable result; the driver checks the address.
        call!(unsafe self, cuIpcGetMemHandle(&mut handle, of.base as CUdeviceptr))?;
        Ok(handle.reserved)
    }

    /// Maps the allocation of another process for copies in a context. The bytes may be anything: the driver checks them.
    pub fn import(self, handle: &IpcHandle, context: Context) -> Result<Imported, DriverError> {
        let _entered = self.enter(context)?;
        let (handle, mut address) = (CUipcMemHandle { reserved: *handle }, 0);
        // A writable result.
        call!(unsafe self,
            cuIpcOpenMemHandle_v2(&mut address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        )?;
        let mut imported = Imported {
            driver: self,
            context,
            address: address as usize,
            length: 0,
        };
        let length = &mut imported.length;
        // As above.
        call!(unsafe self, cuMemGetAddressRange_v2(null_mut(), length, address))?;
        Ok(imported)
    }
}

/// Memory of another process that is mapped here, until this is dropped.
pub struct Imported {
    driver: Driver,
    pub context: Context,
    pub address: usize,
    pub length: usize,
}

impl Drop for Imported {
    fn drop(&mut self) {
        // With a context that was destroyed, all its mappings have ended.
        if let Ok(_entered) = self.driver.enter(self.context) {
            // Of `import`, once.
            let _ = call!(unsafe self.driver, cuIpcCloseMemHandle(self.address as CUdeviceptr));
        }
    }
}
