//! The layouts and constants of libibverbs and librdmacm that this library uses, in the order of its objects.
//!
//! Of a `whole` struct the program allocates the memory: its size is the library's size. Of a `prefix` struct
//! the library allocates the memory, or fills more than older releases did: only the offsets count, and what
//! follows the named members is not named. `tests/verbs_layout.rs` compares `ALL_LAYOUTS` and `ALL_CONSTANTS`
//! with the system's headers; with the feature `rdma-sys` the compiler compares them with the package of that name. A
//! member that has a place in a union there is written `member in union`.

/// A struct with its name, size and offsets for the test.
pub struct Layout {
    pub name: &'static str,
    /// `None`: the struct may be larger in C.
    pub size: Option<usize>,
    pub fields: &'static [(&'static str, usize)],
}

macro_rules! layouts {
    (@size whole $name:ident) => { Some(size_of::<$name>()) };
    (@size prefix $name:ident) => { None };
    (@fits whole $name:ident) => { size_of::<$name>() == size_of::<rdma_sys::$name>() };
    (@fits prefix $name:ident) => { size_of::<$name>() <= size_of::<rdma_sys::$name>() };
    ($all:ident: $(
        $(#[$m:meta])*
        $kind:ident struct $name:ident { $($(#[$fm:meta])* $field:ident $(in $union:ident)?: $t:ty,)* }
    )*) => {
        $(
            $(#[$m])*
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $($(#[$fm])* pub $field: $t,)* }
        )*
        /// The structs of this file.
        pub const $all: &[$crate::c::verbs::Layout] = &[$($crate::c::verbs::Layout {
            name: stringify!($name),
            size: layouts!(@size $kind $name),
            fields: &[$((stringify!($field), core::mem::offset_of!($name, $field)),)*],
        },)*];

        #[cfg(feature = "rdma-sys")]
        const _: () = {
            use core::mem::offset_of;
            $(
                assert!(layouts!(@fits $kind $name));
                $(assert!(offset_of!($name, $field) == offset_of!(rdma_sys::$name, $($union.)? $field));)*
                impl $crate::c::verbs::bindings::Counterpart for $name {
                    type Theirs = rdma_sys::$name;
                }
            )*
        };
    };
}

#[cfg(feature = "rdma-sys")]
pub mod bindings;
pub mod cm;
pub mod device;
pub mod queue;

pub use cm::*;
pub use device::*;
pub use queue::*;

/// The structs of all files.
pub const ALL_LAYOUTS: [&[Layout]; 3] = [DEVICE_LAYOUTS, QUEUE_LAYOUTS, CM_LAYOUTS];
/// The constants of all files.
pub const ALL_CONSTANTS: [&[(&str, u64)]; 3] = [DEVICE_CONSTANTS, QUEUE_CONSTANTS, CM_CONSTANTS];
