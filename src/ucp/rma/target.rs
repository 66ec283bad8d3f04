//! Memory access by messages: the owner's side. Only ranges that were exported are touched.

use crate::ucp::worker::Worker;

/// A write.
pub fn put(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}

/// A read.
pub fn get(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}

/// An atomic.
pub fn amo(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}

/// Asks for word when everything before it is done.
pub fn fence(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}
