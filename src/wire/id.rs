//! Identifiers in messages. Their owner gives them out; for everybody else they are opaque numbers that come back.
#![forbid(unsafe_code)]

/// An endpoint at its worker: slot and generation (`ucs::slots`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpId(pub u64);

impl EpId {
    /// No endpoint.
    pub const NONE: EpId = EpId(0);
}

/// A request at its worker that a peer answers: slot and generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestId(pub u64);

impl RequestId {
    /// No request.
    pub const NONE: RequestId = RequestId(0);
}

/// The name of an endpoint among all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpName {
    /// Its worker.
    pub uuid: u64,
    pub id: EpId,
}

/// The name of a request among all workers, with an endpoint that leads to its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestName {
    pub ep: EpName,
    pub id: RequestId,
}
