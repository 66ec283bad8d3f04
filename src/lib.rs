//! ferrucx: the C ABI of OpenUCX (libucp, libuct, libucs, libucm) in Rust.
//!
//! The crate is eight floors; a folder names only folders below it (`tests/layering.rs` checks it):
//!
//! | floor | holds |
//! |---|---|
//! | 7 `abi` | the exported C functions: read C, call one function of a lower floor, write C |
//! | 6 `ucp` | messaging: contexts, workers, endpoints, the protocol engine |
//! | 5 `uct` | transports: self, posix, sysv, cma, tcp |
//! | 4 `wire` | UCP byte formats |
//! | 3 `ucs` | support: status, configuration, log, async contexts, pools, `sync` |
//! | 2 `ucm` | memory events |
//! | 1 `sys` | every libc and OS call |
//! | 0 `c` | `repr(C)` types and constants, no functions |
#![allow(non_camel_case_types, non_upper_case_globals)]

pub mod abi;
pub mod c;
pub mod sys;
pub mod ucm;
pub mod ucp;
pub mod ucs;
pub mod uct;
pub mod wire;
