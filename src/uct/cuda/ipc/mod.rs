//! The transport `cuda_ipc`: puts and gets between device memory of processes of one host, by the driver's handles.
//!
//! A key of `md` names its owner and has the driver's handle of an allocation (`wire`). Who uses it, on an endpoint to the
//! owner, has the driver map the allocation; `cache` keeps it mapped until the owner has another one in its place. `iface` is the
//! transport.

mod cache;
mod config;
mod iface;
mod md;
mod wire;

pub use md::CudaIpcComponent;
