//! Keys of a peer's memory, made usable for an endpoint.
#![forbid(unsafe_code)]

use super::{Capability, Ep, Lane};
use crate::c::{UCS_MEMORY_TYPE_HOST, UCT_INVALID_RKEY, ucs_memory_type_t, uct_rkey_t};
use crate::ucp::rkey::{Access, KeyCache, Mapping, RemoteKey};
use crate::wire::checksum;
use crate::wire::rkey::{MdKeyList, PARTS, READ, Rkey, WRITE};
use crate::wire::upstream::key::{Key, key};
use core::cell::RefCell;
use std::rc::Rc;

/// Upstream's tcp puts by the address alone.
const NO_KEY: uct_rkey_t = UCT_INVALID_RKEY;

impl Ep {
    /// Makes a key of the peer usable here.
    pub fn unpack_key(&self, info: Rkey, keys: MdKeyList<'_>) -> RemoteKey {
        let context = self.worker().context();
        let is_host = u32::from(info.mem_type) == UCS_MEMORY_TYPE_HOST;
        if is_host && info.context == context.id {
            let access = match context.regions.locate_own(&info) {
                Some(here) => Access::Direct((here as isize).wrapping_sub(info.address as isize)),
                None => Access::Messages,
            };
            return RemoteKey::new(info, access, None);
        }
        let is_peers = |owner| owner == self.peer_process();
        if is_host && let Some((mapping, _)) = Mapping::find(context, (&info, keys), is_peers) {
            return RemoteKey::new(info, Access::Direct(mapping.delta), Some(mapping));
        }
        let mut lanes = self.access_lanes(info.mem_type.into());
        let by_lane = lanes.find_map(|(capability, lane)| match capability {
            Capability::SingleCopy => Some(RemoteKey::new(info, Access::SingleCopy, None)),
            Capability::PutByKey => self.key_by_lane(lane, (info, keys), Access::Written),
            Capability::DeviceCopy => self.key_by_lane(lane, (info, keys), Access::Device),
            Capability::Rdma => self.rdma_key(lane, (info, keys)),
        });
        by_lane.unwrap_or_else(|| RemoteKey::new(info, Access::Messages, None))
    }

    /// The lanes that may access memory of the peer's, of a type `UCS_MEMORY_TYPE_*` or in `PARTS`, the best one first.
    /// The first that has a key of the memory does; where none has, messages do.
    pub fn access_lanes(
        &self,
        memory: ucs_memory_type_t,
    ) -> impl Iterator<Item = (Capability, Lane)> {
        // The processors, and what reaches their memory, do not reach a device's.
        let order: &[Capability] = match memory {
            UCS_MEMORY_TYPE_HOST => &[
                Capability::SingleCopy,
                Capability::PutByKey,
                Capability::Rdma,
            ],
            _ => &[Capability::DeviceCopy, Capability::Rdma],
        };
        order.iter().filter_map(move |capability| {
            let lane = match capability {
                Capability::DeviceCopy if memory != u32::from(PARTS) => self.device_lane(memory),
                _ => self.lane_with(*capability),
            };
            Some((*capability, lane?))
        })
    }

    /// The message lane, if its RDMA device accesses memory of a type in this process, `UCS_MEMORY_TYPE_*`.
    pub fn rdma_lane(&self, kind: ucs_memory_type_t) -> Option<Lane> {
        let lane = self.lane_with(Capability::Rdma)?;
        let w = self.worker();
        let reaches = kind == UCS_MEMORY_TYPE_HOST
            || w.context()
                .reaches_device_memory(w.domain_of(lane.iface), kind);
        reaches.then_some(lane)
    }

    /// The key of memory that a lane accesses with a key of its domain.
    fn key_by_lane(
        &self,
        lane: Lane,
        (info, keys): (Rkey, MdKeyList<'_>),
        access: fn(uct_rkey_t) -> Access,
    ) -> Option<RemoteKey> {
        let key = self.key_of_lane(lane, keys)?;
        Some(RemoteKey::new(info, access(key.rkey()), Some(key)))
    }

    /// As `key_by_lane`, of the RDMA device of the message lane, with the keys of rails.
    fn rdma_key(&self, lane: Lane, (info, keys): (Rkey, MdKeyList<'_>)) -> Option<RemoteKey> {
        let key = self.key_by_lane(lane, (info, keys), Access::Rdma)?;
        if !keys.has_several() {
            return Some(key);
        }
        let worker = self.worker();
        let domain = worker.domain_of(lane.iface);
        Some(key.with_domains(Mapping::of_domains(worker.context(), domain, keys)))
    }

    /// A key of upstream's: it tells no range, so that its owner checks accesses.
    pub fn unpack_upstream_key(&self, key: Key<'_>) -> RemoteKey {
        let info = Rkey {
            context: 0,
            // In comparisons it stands for the memory.
            region: checksum(&[key.bytes]).into(),
            address: 0,
            length: u64::MAX,
            mem_type: key.memory,
            uses: READ | WRITE,
        };
        let is_host = u32::from(key.memory) == UCS_MEMORY_TYPE_HOST;
        let access = match is_host && self.upstream_puts.get() {
            true => Access::Written(NO_KEY),
            false => Access::Messages,
        };
        RemoteKey::new(info, access, None)
    }

    /// The key by which a lane reaches the memory, if there is one.
    fn key_of_lane(&self, lane: Lane, keys: MdKeyList<'_>) -> Option<Mapping> {
        let w = self.worker();
        let domain = w.domain_of(lane.iface);
        Mapping::of_domain(w.context(), domain, self.domain_of_peer(lane)?, keys)
    }

    /// The peer's memory domain to which a lane leads.
    fn domain_of_peer(&self, lane: Lane) -> Option<u8> {
        Some(self.address_for_rails()?.entries.get(lane.entry)?.domain)
    }

    /// The key by which a rail reaches memory of the peer's that has the keys of several domains.
    pub fn rail_key(&self, lane: Lane, key: &RemoteKey) -> Option<uct_rkey_t> {
        key.of_domain(self.domain_of_peer(lane)?)
    }

    /// Keys of the peer's memory that RTS messages came with.
    pub fn keys(&self) -> &RefCell<KeyCache> {
        self.keys.get_or_init(Box::default)
    }

    /// The key that the peer sent as `blob`, unpacked now or before. Memory of this process is used only if it was mapped
    /// here.
    pub fn key_of_blob(&self, blob: &[u8]) -> Option<Rc<RemoteKey>> {
        if self.is_upstream() {
            return Some(Rc::new(self.unpack_upstream_key(key(blob)?)));
        }
        if let Some(key) = self.keys().borrow().of_blob(blob) {
            return Some(key);
        }
        let (info, keys) = Rkey::unpack(blob).ok()?;
        if let Some(key) = self.keys().borrow().of_device(blob, &info) {
            return Some(key);
        }
        let context = self.worker().context();
        if info.context == context.id {
            context.regions.locate_own(&info)?;
        }
        let key = Rc::new(self.unpack_key(info, keys));
        self.keys().borrow_mut().keep(blob, &key);
        Some(key)
    }
}
