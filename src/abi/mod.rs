//! Floor 7: the exported C functions. Each reads C, calls one function of a lower floor, writes C.

pub(crate) mod args;
mod jump;
pub mod ucm;
pub mod ucp;
pub mod ucs;
pub mod uct;
