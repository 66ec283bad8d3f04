//! The protocol engine: the same steps for every kind of message.
//!
//! `send`: eager and rendezvous sends. `reassembly`: fragmented messages. `rndv`: rendezvous data; `fetched`: rendezvous
//! into buffers of the library; `own`: messages of a worker to itself, which need none; `revocation`: the epoch that tells whether rendezvous buffers are still valid. `rails`:
//! transfers that are split over several lanes. `zcopy`: transfers that a transport performs between the memory of two processes. `device_access`: how accesses of devices'
//! memory go; `device_copies`: copies by devices from memory that is mapped here. `control`: control messages. `table` prints
//! the thresholds. `postponed`: operations that go on with the next progress. `upstream`: messages in upstream's format.

pub mod control;
pub mod device_access;
pub mod device_copies;
pub mod fetched;
pub mod own;
pub mod postponed;
pub mod rails;
pub mod reassembly;
pub mod revocation;
pub mod rndv;
pub mod send;
pub mod table;
pub mod upstream;
pub mod zcopy;

use crate::ucp::ep::Rest;
use crate::ucp::interner::Interner;
use crate::ucp::plan::Rules;
use crate::ucp::regions::View;
use crate::ucp::rndv_tuner::RndvTuner;
use crate::ucp::worker_core::{Core, FloorState};
use crate::ucs::config::Config;
use core::cell::RefCell;
use device_copies::DeviceCopies;
use postponed::Postponed;
use rails::RailRules;
use reassembly::Reassemblies;
use revocation::RevocationEpoch;
use std::collections::HashMap;
use std::rc::Rc;
use table::UsedProtocols;
use zcopy::StalledTransfers;

/// What the engine keeps for a worker.
pub struct ProtoState {
    pub rules: Rules,
    pub rails: RailRules,
    /// The endpoint configurations that `UCX_PROTO_INFO` has printed: interfaces for messages and single copies, and
    /// whether they are loopback.
    pub described: Interner<(usize, Option<usize>, bool)>,
    /// Counts operations by their protocols, if `UCX_PROTO_INFO` asks for that.
    pub used: Option<UsedProtocols>,
    pub reassemblies: Reassemblies,
    pub postponed: Postponed,
    /// The rests of fragmented messages that several lanes share, by message.
    pub rests: RefCell<HashMap<u64, Rest>>,
    /// Copies that wait for a transport's room.
    pub stalled_transfers: StalledTransfers,
    /// Copies by devices that are under way.
    pub device_copies: DeviceCopies,
    /// Receives by parts that devices copy.
    pub part_copies: rndv::by_parts::PartCopies,
    /// Measured throughput of rendezvous schemes.
    pub rndv_tuner: Rc<RndvTuner>,
    /// Tells receivers whether the memory of an RTS is still valid.
    pub revocation: RevocationEpoch,
    /// The regions that peers on this host can map.
    pub mappable: View,
}

impl ProtoState {
    pub fn new(config: &Config) -> ProtoState {
        ProtoState {
            rules: Rules::read(config),
            rails: RailRules::read(config),
            described: Interner::default(),
            used: UsedProtocols::wanted(config),
            reassemblies: Reassemblies::default(),
            postponed: Postponed::default(),
            rests: RefCell::default(),
            stalled_transfers: StalledTransfers::default(),
            device_copies: DeviceCopies::default(),
            part_copies: rndv::by_parts::PartCopies::default(),
            rndv_tuner: Rc::default(),
            revocation: RevocationEpoch::default(),
            mappable: View::default(),
        }
    }
}

impl ProtoState {
    /// Whether several lanes share what is left of a message.
    #[inline]
    pub fn is_shared(&self, message: u64) -> bool {
        let rests = self.rests.borrow();
        !rests.is_empty() && rests.contains_key(&message)
    }
}

impl Core {
    #[inline(always)]
    pub fn proto(&self) -> &ProtoState {
        ProtoState::of(self)
    }
}
