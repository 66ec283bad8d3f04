//! Tests of the shared-memory transports below the C API: rings against an oracle, the two ends of
//! an interface, and senders that damage what they share.

mod ends;
#[cfg(loom)]
mod model;
mod ring;
mod scribble;
