//! What the two sides of a connection tell each other as its private data.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::config::TABLE;
use crate::ucp::ep::Ep;
use crate::ucp::worker_core::Core;
use crate::ucs::config::var;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::cm::Manager;
use crate::uct::registry;
use crate::wire::Reader;
use crate::wire::address::{Address, AddressEntry};
use crate::wire::envelope::Private;
use crate::wire::greeting::ShortGreeting;
use crate::wire::id::{EpId, EpName};
use crate::wire::upstream::address::Offer;

/// The last mode of error handling.
pub(super) const MODES: u8 = UCP_ERR_HANDLING_MODE_FAILOVER as u8;

/// Whether endpoints go by other devices than their connections.
fn uses_all_devices(worker: &Core) -> bool {
    let config = &worker.context().config;
    config.bool(var!(TABLE, "CM_USE_ALL_DEVICES"))
}

/// In the place of a client's ticket: it asks by another manager as well.
pub(super) const ASKS_TWICE: u64 = 1;

/// Leaves of the other side's address what is reached by the device of the connection, where no other is to be used.
pub(super) fn limit_to_device(worker: &Core, device: &str, address: &mut Address) {
    if !uses_all_devices(worker) {
        let own = worker.address_by(|of| of.name == device).entries;
        let is_reached = |entry: &AddressEntry| own.iter().any(|o| o.transport == entry.transport);
        address.entries.retain(is_reached);
    }
}

/// What each side tells the other: its endpoint and its address.
pub(super) struct Greeting {
    ep: u64,
    pub client_id: u64,
    /// The client's wish, which holds for both endpoints.
    pub err_mode: ucp_err_handling_mode_t,
    /// The server's ticket, see `claims`. A client does not know the server's worker yet: its ticket comes with its
    /// last message; it may say `ASKS_TWICE`.
    pub ticket: u64,
    pub address: Address,
}

impl Greeting {
    /// As private data of a connection by a device, with what a server of upstream's reads of them.
    pub fn of(
        worker: &Core,
        ep: &Ep,
        (client_id, ticket): (u64, u64),
        device: &str,
        for_upstream: Option<&(Offer, Vec<u8>)>,
    ) -> Result<Vec<u8>> {
        let address = match uses_all_devices(worker) {
            true => worker.address(false),
            false => worker.address_by(|of| of.name == device),
        };
        if address.entries.is_empty() {
            ucs_error!(
                "a connection is by {device}, which UCX_TLS and UCX_NET_DEVICES leave out, and UCX_CM_USE_ALL_DEVICES=n \
                 all others"
            );
            return Err(Status::UNREACHABLE);
        }
        let mut body = Vec::new();
        body.extend_from_slice(&client_id.to_le_bytes());
        body.extend_from_slice(&ticket.to_le_bytes());
        body.extend_from_slice(&address.pack());
        let private = Private {
            ep: ep.id.get(),
            // Checked when the endpoint was made.
            err_mode: ep.params.get().err_mode as u8,
            body,
        };
        Ok(private.wrap(for_upstream.map(|(offer, address)| (offer, address.as_slice()))))
    }

    /// As private data of a connection by a device, where a manager has room for no more: the addresses of the worker's
    /// interfaces on that device, in their short form. `None` where it has none.
    pub fn of_device(
        worker: &Core,
        ep: &Ep,
        client_id: u64,
        device: &str,
        room: usize,
    ) -> Option<Vec<u8>> {
        let resources = &worker.context().resources;
        let mut found: Option<ShortGreeting> = None;
        for iface in &worker.ifaces {
            let resource = &resources[iface.resource];
            if resource.device.name != device {
                continue;
            }
            let short = resource
                .transport
                .shorten(&iface.device_address, &iface.address);
            let (Some((of_device, of_iface)), Ok(domain)) = (short, u8::try_from(resource.md))
            else {
                continue;
            };
            let greeting = found.get_or_insert_with(|| ShortGreeting {
                // Checked when the endpoint was made.
                err_mode: ep.params.get().err_mode as u8,
                ep: ep.id.get(),
                uuid: worker.uuid,
                client_id,
                domain,
                device: of_device.clone(),
                ifaces: Vec::new(),
            });
            if greeting.domain == domain && greeting.device == of_device {
                greeting.ifaces.push((iface.number, of_iface));
            }
        }
        found.map(|greeting| greeting.encode(room))
    }

    /// Reads private data of a connection by this manager.
    pub fn by(manager: &dyn Manager, private: &[u8]) -> Result<Greeting> {
        match manager.of_devices() {
            Some(_) => Greeting::read_of_device(private),
            None => Greeting::read(private),
        }
    }

    fn read_of_device(private: &[u8]) -> Result<Greeting> {
        let transports = registry::numbered();
        let transport = |number| {
            let mut all = transports.iter();
            all.find(|(of, _)| *of == number).map(|(_, found)| *found)
        };
        let read = ShortGreeting::decode(private, |number| transport(number)?.short_lengths());
        let read = read.filter(|short| short.err_mode <= MODES);
        let entries = read.as_ref().and_then(|short| {
            let entry = |(number, iface): &(u8, Vec<u8>)| {
                let (device, iface) = transport(*number)?.lengthen(&short.device, iface)?;
                Some(AddressEntry {
                    transport: *number,
                    domain: short.domain,
                    device,
                    iface,
                })
            };
            short.ifaces.iter().map(entry).collect::<Option<Vec<_>>>()
        });
        let (Some(short), Some(entries)) = (read, entries) else {
            ucs_error!(
                "the other side of a connection between devices told {} bytes that are not ours",
                private.len()
            );
            return Err(Status::INVALID_ADDR);
        };
        Ok(Greeting {
            ep: short.ep,
            client_id: short.client_id,
            err_mode: short.err_mode.into(),
            // Shared memory of the two processes has no part in it.
            ticket: 0,
            address: Address {
                uuid: short.uuid,
                entries,
            },
        })
    }

    /// The endpoint of the other side.
    pub fn ep_name(&self) -> EpName {
        EpName {
            uuid: self.address.uuid,
            id: EpId(self.ep),
        }
    }

    fn read(private: &[u8]) -> Result<Greeting> {
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
