//! `Driver`: the loaded driver, its errors, its devices, and contexts that are made current for a while. The context that
//! the program made current is so again afterwards.

use super::table::Table;
use crate::c::cuda::*;
use crate::sys::host_memory::HostMemory;
use core::ffi::{CStr, c_int, c_void};
use core::fmt;
use core::marker::PhantomData;
use core::ptr::{NonNull, null_mut};
use once_cell::race::OnceBool;
use std::io;
use std::path::Path;

/// The driver. All threads may call it.
#[derive(Clone, Copy)]
pub struct Driver {
    pub(super) table: &'static Table,
    /// Memory that it is not asked about.
    pub(super) host: Option<&'static HostMemory>,
}

/// A call that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DriverError {
    pub call: &'static str,
    pub code: CUresult,
}

impl DriverError {
    /// The driver's words for it. Asked for when they are printed: most errors are not.
    fn text(&self) -> Option<&'static str> {
        let table = Table::get().ok()?;
        let mut text = core::ptr::null();
        // SAFETY: a writable result.
        let known = unsafe { (table.cuGetErrorString)(self.code, &mut text) };
        if known != CUDA_SUCCESS || text.is_null() {
            return None;
        }
        // SAFETY: the driver's texts are constants of a library that stays loaded.
        unsafe { CStr::from_ptr(text) }.to_str().ok()
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text().unwrap_or("unknown");
        write!(f, "{}: {text} ({})", self.call, self.code)
    }
}

/// Calls a function of the table. Who writes it vouches for the arguments.
macro_rules! call {
    (unsafe $driver:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let driver: $crate::sys::cuda::Driver = $driver;
        // SAFETY: by the promise of who wrote the call.
        let code = unsafe { (driver.table.$function)($($argument),*) };
        driver.check(stringify!($function), code)
    }};
}
pub(super) use call;

/// Whether the kernel has what the driver is for: a look that costs microseconds, where loading costs milliseconds. It is
/// made once, for all components and contexts of the process.
pub fn has_devices() -> bool {
    static HAS: OnceBool = OnceBool::new();
    HAS.get_or_init(|| {
        // The second is that of Windows' subsystem for Linux.
        let mut nodes = ["/dev/nvidiactl", "/dev/dxg"].iter();
        nodes.any(|node| Path::new(node).exists())
    })
}

impl Driver {
    /// Loads the library, once.
    pub fn load() -> io::Result<Driver> {
        let table = Table::get()?;
        Ok(Driver {
            table,
            host: Some(HostMemory::of_process()),
        })
    }

    /// The driver, asked about each address.
    pub fn asked_always(self) -> Driver {
        Driver { host: None, ..self }
    }

    /// The release of CUDA that it is of: thousands and tens, 12040 for 12.4.
    pub fn version(self) -> Result<u32, DriverError> {
        let mut version = 0;
        // A writable result.
        call!(unsafe self, cuDriverGetVersion(&mut version))?;
        Ok(u32::try_from(version).unwrap_or(0))
    }

    pub(super) fn check(self, call: &'static str, code: CUresult) -> Result<(), DriverError> {
        if code == CUDA_SUCCESS {
            return Ok(());
        }
        Err(DriverError { call, code })
    }

    pub(super) fn attribute(
        self,
        device: CUdevice,
        which: CUdevice_attribute,
    ) -> Result<c_int, DriverError> {
        let mut value = 0;
        call!(unsafe self, cuDeviceGetAttribute(&mut value, which, device))?;
        Ok(value)
    }

    /// The generation of a device: the major number of its compute capability, 9 for Hopper.
    pub fn capability(self, ordinal: c_int) -> Result<c_int, DriverError> {
        self.attribute(
            self.device(ordinal)?,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        )
    }

    /// Whether a device gives out dmabuf descriptors of its memory.
    pub fn has_dmabufs(self, ordinal: c_int) -> Result<bool, DriverError> {
        let device = self.device(ordinal)?;
        self.attribute(device, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)
            .map(|has| has != 0)
    }

    /// Domain, bus and device number of a device's PCI function, by its ordinal number in this process.
    pub fn pci_address(self, ordinal: c_int) -> Result<(u16, u8, u8), DriverError> {
        let device = self.device(ordinal)?;
        let number = |which| self.attribute(device, which);
        Ok((
            number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)? as u16,
            number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)? as u8,
            number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)? as u8,
        ))
    }

    /// Bytes of a device's memory.
    pub fn memory_size(self, ordinal: c_int) -> Result<usize, DriverError> {
        let (device, mut size) = (self.device(ordinal)?, 0);
        call!(unsafe self, cuDeviceTotalMem_v2(&mut size, device))?;
        Ok(size)
    }

    fn device(self, ordinal: c_int) -> Result<CUdevice, DriverError> {
        let mut device = 0;
        call!(unsafe self, cuDeviceGet(&mut device, ordinal))?;
        Ok(device)
    }

    /// The ordinal number of the current context's device, if there is a context.
    pub fn current_device(self) -> Option<c_int> {
        let mut device = 0;
        // A writable result.
        call!(unsafe self, cuCtxGetDevice(&mut device)).ok()?;
        Some(device)
    }

    /// The number of the context that is current, which no other context of the process has had; 0 where the driver has none. The
    /// handle of a context may come again, as that of a primary context always does.
    pub(super) fn current_context_id(self) -> u64 {
        let mut id = 0;
        if let Some(get) = self.table.cuCtxGetId {
            // SAFETY: null is the current context; a writable result. Where that fails, 0 stays.
            unsafe { get(null_mut(), &mut id) };
        }
        id
    }

    /// The context that is current on this thread.
    pub(super) fn current_context(self) -> Result<Option<Context>, DriverError> {
        let mut current = null_mut();
        match call!(unsafe self, cuCtxGetCurrent(&mut current)) {
            Err(e) if e.code == CUDA_ERROR_NOT_INITIALIZED => Ok(None),
            other => other.map(|()| NonNull::new(current).map(Context)),
        }
    }

    /// The primary context of a device, which `release` gives back. Initialises the driver.
    pub(super) fn retain_primary_context(
        self,
        ordinal: c_int,
    ) -> Result<(Context, CUdevice), DriverError> {
        call!(unsafe self, cuInit(0))?;
        let (device, mut context) = (self.device(ordinal)?, null_mut());
        call!(unsafe self, cuDevicePrimaryCtxRetain(&mut context, device))?;
        let context = NonNull::new(context).map(Context);
        let missing = || DriverError {
            call: "cuDevicePrimaryCtxRetain",
            code: CUDA_ERROR_INVALID_CONTEXT,
        };
        Ok((context.ok_or_else(missing)?, device))
    }

    /// The ordinal numbers of all devices.
    pub(super) fn ordinals(self) -> impl Iterator<Item = c_int> {
        // Behind the last device there is an error.
        (0..).take_while(move |ordinal| self.device(*ordinal).is_ok())
    }

    /// Whether somebody in this process uses a device's primary context.
    pub(super) fn uses_primary_context(self, ordinal: c_int) -> Result<bool, DriverError> {
        let (device, mut flags, mut active) = (self.device(ordinal)?, 0, 0);
        // Writable results.
        call!(unsafe self, cuDevicePrimaryCtxGetState(device, &mut flags, &mut active))?;
        Ok(active != 0)
    }

    pub(super) fn release(self, device: CUdevice) -> Result<(), DriverError> {
        call!(unsafe self, cuDevicePrimaryCtxRelease_v2(device))
    }

    /// Makes a context current, until the result is dropped; mostly it is already.
    pub(super) fn enter(self, context: Context) -> Result<Entered, DriverError> {
        let is_current = self.current_context()? == Some(context);
        if !is_current {
            call!(unsafe self, cuCtxPushCurrent_v2(context.0.as_ptr()))?;
        }
        Ok(Entered {
            driver: self,
            is_pushed: !is_current,
            _of_this_thread: PhantomData,
        })
    }
}

/// A context of the driver. It may have been destroyed by its owner, which calls with it tell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Context(pub(super) NonNull<c_void>);

// SAFETY: a name for the driver, which all threads may use.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// A context is current on this thread: the program's, or in front of it.
pub(super) struct Entered {
    driver: Driver,
    is_pushed: bool,
    _of_this_thread: PhantomData<*mut ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if !self.is_pushed {
            return;
        }
        let mut gone = null_mut();
        // Fails only where the driver is gone, and then there is nothing to restore.
        let _ = call!(unsafe self.driver, cuCtxPopCurrent_v2(&mut gone));
    }
}
