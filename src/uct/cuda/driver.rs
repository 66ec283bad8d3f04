//! Whether there is a driver: where UCX_CUDA_DRIVER allows it, and the kernel has NVIDIA's devices.
#![forbid(unsafe_code)]

use crate::sys::cuda::{Driver, DriverError, has_devices};
use crate::ucs::Status;
use crate::ucs::config::{Ternary, global, var};
use crate::uct::api::Unusable;

/// Whether to load the driver.
pub fn is_wanted() -> bool {
    match global::current().ternary(var!(global::TABLE, "CUDA_DRIVER")) {
        Ternary::No => false,
        Ternary::Yes => true,
        Ternary::Try | Ternary::Auto => has_devices(),
    }
}

/// The driver where it is wanted; or why it is not, or cannot be used.
pub fn available() -> Result<Driver, Unusable> {
    if is_wanted() {
        return get();
    }
    Err(Unusable(if has_devices() {
        "UCX_CUDA_DRIVER=n leaves NVIDIA's driver out".to_owned()
    } else {
        "the kernel has no device of NVIDIA's (no /dev/nvidiactl)".to_owned()
    }))
}

/// The first release of CUDA whose drivers know all attributes that are asked for.
const OLDEST: u32 = 11_030;

/// The driver, loaded; or why there is none.
pub fn get() -> Result<Driver, Unusable> {
    let unusable = |why: &dyn core::fmt::Display| {
        Unusable(format!(
            "NVIDIA's driver is not used: {why}; UCX_CUDA_DRIVER=n does without it"
        ))
    };
    let driver = Driver::load().map_err(|e| unusable(&e))?;
    match driver.version() {
        Ok(version) if version < OLDEST => Err(unusable(&format!(
            "it is of CUDA {}.{}, and 11.3 is needed",
            version / 1000,
            version / 10 % 100
        ))),
        Ok(_) => match global::current().ternary(var!(global::TABLE, "MEMTYPE_CACHE")) {
            Ternary::No => Ok(driver.asked_always()),
            _ => Ok(driver),
        },
        Err(e) => Err(unusable(&e)),
    }
}

impl From<DriverError> for Status {
    fn from(e: DriverError) -> Status {
        use crate::c::cuda::*;
        match e.code {
            CUDA_ERROR_INVALID_VALUE => Status::INVALID_ADDR,
            CUDA_ERROR_OUT_OF_MEMORY => Status::NO_MEMORY,
            CUDA_ERROR_NOT_INITIALIZED | CUDA_ERROR_INVALID_CONTEXT => Status::NO_DEVICE,
            _ => Status::IO_ERROR,
        }
    }
}
