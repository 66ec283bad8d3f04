//! The conformance suite on `cuda_copy`, with memory that the driver copies and processors reach as well. It needs a
//! driver, so `cargo test` leaves it out: `tests/cuda` runs it on the stand-in of `tests/fake_cuda`, but for the tests
//! with a second process, whose memory the transport does not reach.
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

use side::{Security, Tl};

suite!(cuda_copy, "cuda_cpy", "cuda_copy", "cuda", Off);
suite!(cuda_ipc, "cuda_ipc", "cuda_ipc", "cuda", Off);
