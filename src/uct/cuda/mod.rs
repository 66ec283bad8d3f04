//! The component `cuda_cpy`: memory of NVIDIA's devices, and the transport `cuda_copy` on it.
//!
//! `driver` says whether there is one, `known` tells memory types apart, `copier` copies, `buffers` are its staging buffers, `md` is the memory domain and
//! `iface` the transport.

mod buffers;
mod config;
mod copier;
mod driver;
mod iface;
mod known;
mod md;

pub use md::CudaComponent;
