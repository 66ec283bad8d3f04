//! The component `cuda_cpy`: memory of NVIDIA's devices, and the transport `cuda_copy` on it.
//!
//! `driver` says whether there is one, `known` tells memory types apart, `copier` copies, `buffers` are its staging buffers, `md` is the memory domain and
//! `iface` the transport, whose copies under way are `copies`. `ipc` is the transport between processes.

mod buffers;
mod config;
mod copier;
mod copies;
mod driver;
mod iface;
mod ipc;
mod known;
mod md;

pub use ipc::CudaIpcComponent;
pub use md::CudaComponent;
