//! The only door to atomics and fences for lock-free structures: core's own.
//!
//! A structure that names its atomics through this door can be checked with a model of them.

pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence, fence};
