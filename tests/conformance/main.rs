//! The conformance suite: what every UCT transport must do, asked through the C functions and the op
//! tables that clients call. Generic over component, transport and device.
//!
//! A new transport adds one `suite!` line. Both ends live in one process, except where a peer must die or
//! where resources are counted: then this binary runs itself as the peer (`peer.rs`). A test that a
//! transport cannot take part in (no active messages, no events) asserts that the calls answer
//! UNSUPPORTED instead, so that no combination passes by doing nothing.
//!
//! `upstream.rs` asks the same of tcp's connections with upstream's interfaces, which UCP alone uses.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is a C call under test on handles that `side.rs` keeps alive"
)]

#[macro_use]
mod suite;

mod am;
mod attributes;
mod endpoint;
mod events;
mod input;
mod life;
mod many;
mod order;
mod pair;
mod peer;
mod rma;
mod side;
#[allow(dead_code, reason = "each crate uses a part of it")]
#[path = "../../src/ucs/test_rng.rs"]
mod test_rng;
mod upstream;

use side::{Security, Tl};

suite!(self_memory, "self", "self", "memory", Off);
suite!(sysv_memory, "sysv", "sysv", "memory", Off);
suite!(posix_memory, "posix", "posix", "memory", Off);
suite!(tcp_lo, "tcp", "tcp", "lo", Off);
suite!(tcp_proof, "tcp", "tcp", "lo", Proof);
suite!(tcp_encrypted, "tcp", "tcp", "lo", Encryption);
suite!(cma_memory, "cma", "cma", "memory", Off);
