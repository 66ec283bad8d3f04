//! What `ucs/*.h` offers to clients and the library does not use itself (but for registration caches): containers in the
//! layout that the inline code of clients knows, tables of options, profiles.
//!
//! The objects belong to C: a client allocates them, and its callbacks may call back into them. So functions take
//! raw pointers, hold no reference across a callback, and trust what the headers say that a client guarantees.

pub mod array;
pub mod callbackq;
pub mod class;
pub mod config;
pub mod memtype_cache;
pub mod mpool;
pub mod mpool_set;
pub mod pgtable;
pub mod piecewise_func;
pub mod profile;
pub mod rcache;
pub mod strided_alloc;
pub mod text;
pub mod vfs;
