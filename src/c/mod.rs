//! Floor 0: the C types and constants of the public headers, `#[repr(C)]`, no functions.
//!
//! One module is one header; `verbs` holds those of libibverbs and `cuda` those of
//! NVIDIA's driver, which are not part of ours.
//! Sizes and offsets are asserted beside each struct, at API level 1.22.
//! `cbindgen` reads these files to write `include/`; `c_enum!` blocks become C enums there.
#![forbid(unsafe_code)]

/// A C enum: an integer alias and its constants, so that a value no release knows is not UB.
macro_rules! c_enum {
    ($(#[$m:meta])* pub enum $name:ident : $t:ty { $($(#[$vm:meta])* $v:ident = $e:expr,)* }) => {
        $(#[$m])*
        pub type $name = $t;
        $($(#[$vm])* pub const $v: $name = $e;)*
    };
}

/// A type whose layout C never sees.
macro_rules! opaque {
    ($(#[$m:meta])* pub struct $name:ident) => {
        $(#[$m])*
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    };
}

/// Constants of a library that is loaded, and a list of them for the test that compares them with its header.
macro_rules! constants {
    ($all:ident: $($name:ident: $t:ty = $value:expr,)*) => {
        $(pub const $name: $t = $value;)*
        /// The constants of this file: C name and value.
        pub const $all: &[(&str, u64)] = &[$((stringify!($name), $name as u64),)*];
    };
}

pub mod cuda;
pub mod ucm;
pub mod ucp;
pub mod ucs;
pub mod uct;
pub mod verbs;

pub(crate) mod prelude {
    pub use crate::c::*;
    pub use core::ffi::*;
    pub use core::mem::{offset_of, size_of};
    pub use libc::{
        FILE, iovec, off_t, pthread_mutex_t, pthread_spinlock_t, pthread_t, sockaddr,
        sockaddr_storage, socklen_t,
    };
    /// C's `va_list` as it is passed to a function: a pointer, which Rust only hands on.
    pub type va_list = *mut c_void;
}

pub use ucm::*;
pub use ucp::*;
pub use ucs::*;
pub use uct::*;
