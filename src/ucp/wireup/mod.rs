//! Connecting endpoints: which transport carries what, and what two workers tell each other.

pub mod close;
pub mod introduce;
pub mod select;
