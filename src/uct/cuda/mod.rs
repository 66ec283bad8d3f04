//! The component `cuda_cpy`: memory of NVIDIA's devices, and the transport `cuda_copy` on it.
//!
//! `driver` says whether there is one, `known` tells memory types apart, `copier` copies, `md` is the memory domain and
//! `iface` the transport.

mod config;
mod copier;
mod driver;
mod iface;
mod known;
mod md;

pub use md::CudaComponent;
