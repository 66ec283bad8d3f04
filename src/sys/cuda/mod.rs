//! NVIDIA's driver, `libcuda.so.1`, which is loaded the first time that somebody needs it.
//!
//! `table` loads the library, `driver` has its errors and what the process asks of it, `memory` asks about addresses,
//! allocates and pins, `copy` copies, `ipc` opens memory of other processes. The driver is not initialised (`cuInit`) for a
//! program that has not done so, unless device memory is allocated for it here, or it accesses that of another process: until
//! then all its memory is the host's.

mod copy;
mod driver;
mod ipc;
mod memory;
mod table;

pub use copy::{Copying, Streams, Way};
pub use driver::{Context, Driver, DriverError, has_devices};
pub use ipc::{HandleBytes, Imported, IpcHandle, Shareable};
pub use memory::{Allocate, Allocation, Block};
