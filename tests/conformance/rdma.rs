//! The conformance suite on RDMA transports, and what is theirs alone. It needs a device, so `cargo test` leaves it out:
//! `tests/verbs` runs it on the stand-in of `tests/fake_verbs`, but for the tests with a second process, since queue pairs
//! of the stand-in talk within one process; `tests/rdma` runs it on soft-RoCE.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is a C call under test on handles that `side.rs` keeps alive"
)]

#[macro_use]
mod suite;

mod am;
mod attributes;
mod bursts;
mod connect;
mod datagrams;
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
mod verbs;

use side::{Security, Tl};

suite!(rc_verbs, "ib", "rc_verbs", "fake0:1", Off);
suite!(ud_verbs, "ib", "ud_verbs", "fake0:1", Off);
