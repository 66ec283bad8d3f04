//! Byte formats of upstream UCX (OpenUCX 1.12 and later): worker addresses, messages, and keys as far as they can be
//! recognised.
//!
//! Upstream's blobs have no length and no checksum: what can be read to its end is one. Slices in, `Option` out.

pub mod address;
pub mod key;
pub mod message;
pub mod private;

pub use address::Address;

use super::envelope::EnvelopeKind;
use std::net::SocketAddr;
use std::sync::Arc;

/// A release of upstream as far as its blobs tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// This minor version of 1.
    Minor(u8),
    /// It does not say, as releases before 1.16 and keys of all releases.
    Unknown,
}

impl Release {
    /// From the four bits that an address has: the minor version, less 16.
    fn from_bits(bits: u8) -> Release {
        Release::Minor(16 + (bits & 15))
    }
}

/// What an address tells of the process that has made it.
pub struct Process {
    pub release: Release,
    /// Where its interfaces listen: their connections say so too.
    pub interfaces: Arc<[SocketAddr]>,
}

impl core::fmt::Display for Release {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Release::Minor(minor) => write!(f, "upstream UCX 1.{minor}"),
            Release::Unknown => f.write_str("upstream UCX"),
        }
    }
}

/// Whether upstream made the blob that `bytes` begin with, and which release.
pub fn recognise(kind: EnvelopeKind, bytes: &[u8]) -> Option<Release> {
    match kind {
        EnvelopeKind::Address => Address::decode(bytes).map(|a| a.release),
        EnvelopeKind::Key => key::is_key(bytes).then_some(Release::Unknown),
        EnvelopeKind::Handle => key::is_handle(bytes).then_some(Release::Unknown),
    }
}
