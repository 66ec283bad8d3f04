//! What the two sides of a connection tell each other as its private data.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::ep::Ep;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::registry;
use crate::wire::Reader;
use crate::wire::address::Address;
use crate::wire::envelope::Private;
use crate::wire::id::{EpId, EpName};
use crate::wire::upstream::address::Offer;

/// The last mode of error handling.
pub(super) const MODES: u8 = UCP_ERR_HANDLING_MODE_FAILOVER as u8;

/// What each side tells the other: its endpoint and its address.
pub(super) struct Greeting {
    ep: u64,
    pub client_id: u64,
    /// The client's wish, which holds for both endpoints.
    pub err_mode: ucp_err_handling_mode_t,
    /// The server's ticket, see `claims`. A client does not know the server's worker yet: its ticket comes with its
    /// last message.
    pub ticket: u64,
    pub address: Address,
}

impl Greeting {
    /// As private data, with what a server of upstream's reads of them.
    pub fn of(
        worker: &Core,
        ep: &Ep,
        client_id: u64,
        ticket: u64,
        for_upstream: Option<&(Offer, Vec<u8>)>,
    ) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend_from_slice(&client_id.to_le_bytes());
        body.extend_from_slice(&ticket.to_le_bytes());
        body.extend_from_slice(&worker.address(false).pack());
        let private = Private {
            ep: ep.id.get(),
            // Checked when the endpoint was made.
            err_mode: ep.params.get().err_mode as u8,
            body,
        };
        private.wrap(for_upstream.map(|(offer, address)| (offer, address.as_slice())))
    }

    /// The endpoint of the other side.
    pub fn ep_name(&self) -> EpName {
        EpName {
            uuid: self.address.uuid,
            id: EpId(self.ep),
        }
    }

    pub fn read(private: &[u8]) -> Result<Greeting> {
        let read = Private::unwrap(private).and_then(|p| {
            let mut r = Reader::new(&p.body);
            let (client_id, ticket) = (r.u64()?, r.u64()?);
            let address = Address::unpack(r.rest(), registry::is_known);
            (p.err_mode <= MODES).then_some((p.ep, p.err_mode, client_id, ticket, address))
        });
        let Some((ep, err_mode, client_id, ticket, address)) = read else {
            ucs_error!(
                "the other side of a connection told {} bytes that are not ours",
                private.len()
            );
            return Err(Status::INVALID_ADDR);
        };
        match address {
            Ok(address) => Ok(Greeting {
                ep,
                client_id,
                err_mode: err_mode.into(),
                ticket,
                address,
            }),
            Err(e) => {
                ucs_error!("the other side's worker address is not usable: {e}");
                Err(Status::INVALID_ADDR)
            }
        }
    }
}
