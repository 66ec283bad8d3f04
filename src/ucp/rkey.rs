//! Remote keys: the memory of peers, and how it is reached.
//!
//! Whether memory can be mapped or accessed by a transport depends on the endpoint as well: `ep::keys` unpacks keys.

use super::context::Context;
use crate::c::*;
use crate::ucs::fork::PerProcess;
use crate::ucs::mpool::{Pool, Pooled};
use crate::ucs::{Result, Status};
use crate::uct::base::copy::{Payload, Room};
use crate::uct::base::md::RkeyHandle;
use crate::uct::base::memory_copier::{KeptBytes, KeptRoom, MemoryCopier, Pinned};
use crate::uct::local::ProcessId;
use crate::wire::rkey::{MdKey, MdKeyList, READ, Rkey, WRITE};
use crate::{ucs_debug, ucs_error};
use core::cell::OnceCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// A cache of the keys of RTS messages, with their mappings.
///
/// Keys of device memory map nothing, and each message has one of its own. So many more of them are kept, until the
/// messages are received.
#[derive(Default)]
pub struct KeyCache {
    keys: VecDeque<Kept>,
    /// Those of device memory, by region.
    of_devices: HashMap<u64, Kept>,
    /// Their regions, the oldest first.
    regions: VecDeque<u64>,
}

/// A key with its blob.
type Kept = (Vec<u8>, Rc<RemoteKey>);

impl KeyCache {
    /// Keys that one endpoint keeps, at most.
    const MOST: usize = 16;

    /// Keys of device memory that one endpoint keeps, at most: some hundred bytes each.
    const MOST_OF_DEVICES: usize = 1024;

    /// The key of one of the peer's regions, if it is still kept.
    pub fn of_region(&self, region: u64) -> Option<Rc<RemoteKey>> {
        let found = self.keys.iter().find(|(_, key)| key.info.region == region);
        let (_, key) = found.or_else(|| self.of_devices.get(&region))?;
        Some(Rc::clone(key))
    }

    /// The key of a blob, if it is still kept and not of device memory.
    pub fn of_blob(&self, blob: &[u8]) -> Option<Rc<RemoteKey>> {
        let (_, key) = self.keys.iter().find(|(b, _)| b == blob)?;
        Some(Rc::clone(key))
    }

    /// The key of a blob of device memory, if it is still kept.
    pub fn of_device(&self, blob: &[u8], info: &Rkey) -> Option<Rc<RemoteKey>> {
        let kept = self.of_devices.get(&info.region);
        let (_, key) = kept.filter(|(b, _)| b == blob)?;
        Some(Rc::clone(key))
    }

    /// Keeps the key of a blob, instead of the oldest if there are too many.
    pub fn keep(&mut self, blob: &[u8], key: &Rc<RemoteKey>) {
        let kept = (blob.to_vec(), Rc::clone(key));
        if !key.is_of_device() {
            if self.keys.len() == Self::MOST {
                self.keys.pop_front();
            }
            self.keys.push_back(kept);
            return;
        }
        let region = key.info.region;
        if self.of_devices.insert(region, kept).is_none() {
            self.regions.push_back(region);
        }
        if self.regions.len() > Self::MOST_OF_DEVICES
            && let Some(oldest) = self.regions.pop_front()
        {
            self.of_devices.remove(&oldest);
        }
    }
}

/// How a peer's memory is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Mapped here: local minus remote address.
    Direct(isize),
    /// By the kernel, with the lane for single copies.
    SingleCopy,
    /// Written with this key by the lane for puts; read by messages.
    Written(uct_rkey_t),
    /// By the RDMA device of the message lane, with this key.
    Rdma(uct_rkey_t),
    /// By devices, from and to memory of theirs, with this key; else by messages.
    Device(uct_rkey_t),
    /// By messages to its owner.
    Messages,
}

/// The memory domain whose component maps a key's memory into this process, if open.
pub fn shareable(context: &Context, key: &MdKey<'_>) -> Option<usize> {
    let i = context
        .mds
        .iter()
        .position(|md| md.component.component.key_number() == Some(key.component))?;
    let md = &context.mds[i];
    let maps = md.component.component.flags() & u64::from(UCT_COMPONENT_FLAG_RKEY_PTR) != 0;
    (maps && key.key.len() == md.component.component.key_len()).then_some(i)
}

/// Another process's memory, mapped here by a component; unmapped when dropped.
pub struct Mapping {
    key: RkeyHandle,
    /// Local minus remote address.
    pub delta: isize,
}

impl Mapping {
    /// Maps by the first key that can be, of memory whose owner `may`.
    pub fn find<'a>(
        context: &Context,
        (info, keys): (&Rkey, MdKeyList<'a>),
        may: impl Fn(Option<ProcessId>) -> bool,
    ) -> Option<(Mapping, MdKey<'a>)> {
        keys.iter().find_map(|k| {
            let domain = shareable(context, &k)?;
            let component = context.mds[domain].component.component;
            if !may(component.key_owner(k.key).map(|o| o.id)) {
                ucs_debug!(
                    "{}: a remote key names memory of another process than the peer's: not mapped",
                    component.name()
                );
                return None;
            }
            let key = RkeyHandle::unpack(component, k.key).ok()?;
            let here = |remote| key.pointer(remote).ok();
            let first = here(info.address)? as isize;
            // The key's memory may be shorter than the blob says.
            here(info.address.checked_add(info.length.saturating_sub(1))?)?;
            let delta = first.wrapping_sub(info.address as isize);
            Some((Mapping { key, delta }, k))
        })
    }
}

impl Mapped {
    fn new(mapping: Mapping) -> Arc<Mapped> {
        #[expect(
            clippy::arc_with_non_send_sync,
            reason = "keys are given back by any thread"
        )]
        Arc::new(Mapped {
            pinned: OnceCell::new(),
            _mapping: mapping,
        })
    }
}

impl Mapping {
    /// A transport's access by the key of the peer's memory domain `theirs`, with a domain of the same component here;
    /// nothing is mapped.
    pub fn of_domain(
        context: &Context,
        domain: usize,
        theirs: u8,
        keys: MdKeyList<'_>,
    ) -> Option<Mapping> {
        let md = &context.mds[domain];
        let component = md.component.component;
        let packed = keys.of(component.key_number()?, theirs)?;
        let key = RkeyHandle::unpack(component, packed).ok()?;
        Some(Mapping { key, delta: 0 })
    }

    /// The same by the keys of all domains of the peer's that are of that component.
    pub fn of_domains(context: &Context, domain: usize, keys: MdKeyList<'_>) -> DomainKeys {
        let number = context.mds[domain].component.component.key_number();
        let of_component = keys.iter().filter(|k| Some(k.component) == number);
        of_component
            .filter_map(|k| {
                let key = Mapping::of_domain(context, domain, k.domain, keys)?;
                Some((k.domain, key))
            })
            .collect()
    }

    /// The transport's key.
    pub fn rkey(&self) -> uct_rkey_t {
        self.key.rkey()
    }
}

/// The keys of a peer's domains for one memory, by the numbers of the domains.
type DomainKeys = Box<[(u8, Mapping)]>;

/// Memory that a key maps, shared with the copies by devices that use it.
struct Mapped {
    /// Devices copy from and to the memory without a detour, if they can. Dropped while it is mapped.
    pinned: OnceCell<Option<Box<dyn Pinned>>>,
    _mapping: Mapping,
}

/// Memory of another process that is mapped here, and stays so as long as this, though the key may go.
pub struct MappedBytes {
    /// Keeps it mapped.
    _mapped: Arc<Mapped>,
    at: *mut u8,
    length: usize,
}

impl MappedBytes {
    /// `None` where it is not mapped by the key, or the key does not permit `right`.
    pub fn of(key: &RemoteKey, address: u64, length: usize, right: u8) -> Option<MappedBytes> {
        let at = key.mapped(address, length, right)?;
        Some(MappedBytes {
            _mapped: Arc::clone(key.mapped.as_ref()?),
            at,
            length,
        })
    }
}

impl MappedBytes {
    pub fn payload(&self) -> Payload<'_> {
        // SAFETY: so many bytes are mapped there as long as this lives.
        unsafe { Payload::new(self.at, self.length) }
    }
}

// SAFETY: the memory is mapped there until the mapping is dropped.
unsafe impl KeptBytes for MappedBytes {
    fn bytes(&self) -> (*const u8, usize) {
        (self.at, self.length)
    }
}

// SAFETY: as above.
unsafe impl KeptRoom for MappedBytes {
    fn room(&self) -> (*mut u8, usize) {
        (self.at, self.length)
    }
}

/// A remote key: the object of `ucp_rkey_h`.
pub struct RemoteKey {
    pub info: Rkey,
    pub access: Access,
    /// Keeps the memory mapped.
    mapped: Option<Arc<Mapped>>,
    /// For the rails of an endpoint, where the peer has sent the keys of several domains.
    by_domain: DomainKeys,
}

impl Pooled for RemoteKey {
    #[inline]
    fn pool() -> &'static Pool<RemoteKey> {
        static POOL: PerProcess<Pool<RemoteKey>> = PerProcess::new(Pool::default);
        POOL.get()
    }
}

impl RemoteKey {
    pub fn new(info: Rkey, access: Access, mapping: Option<Mapping>) -> RemoteKey {
        RemoteKey {
            info,
            access,
            mapped: mapping.map(Mapped::new),
            by_domain: DomainKeys::default(),
        }
    }

    /// With the keys of several domains of the peer's.
    pub fn with_domains(self, by_domain: DomainKeys) -> RemoteKey {
        RemoteKey { by_domain, ..self }
    }

    /// The key of a domain of the peer's, where it has sent several.
    pub fn of_domain(&self, theirs: u8) -> Option<uct_rkey_t> {
        let (_, key) = self
            .by_domain
            .iter()
            .find(|(domain, _)| *domain == theirs)?;
        Some(key.rkey())
    }

    /// Has the memory pinned for copies by devices, if it is mapped here; once.
    pub fn pin(&self, copier: &dyn MemoryCopier) {
        let Some(mapped) = &self.mapped else { return };
        mapped.pinned.get_or_init(|| {
            let length = usize::try_from(self.info.length).ok()?;
            let at = self.pointer(self.info.address).ok()?;
            copier.pin((at, length))
        });
    }

    /// `length` bytes at `address` for reading, if they are mapped here and the key permits that.
    #[inline]
    pub fn readable(&self, address: u64, length: usize) -> Option<Payload<'_>> {
        self.room(address, length, READ).map(Room::into_payload)
    }

    /// The same for writing.
    #[inline]
    pub fn writable(&self, address: u64, length: usize) -> Option<Room<'_>> {
        self.room(address, length, WRITE)
    }

    /// As `readable` or `writable`, by `right`.
    #[inline]
    fn room(&self, address: u64, length: usize, right: u8) -> Option<Room<'_>> {
        let at = self.mapped(address, length, right)?;
        // SAFETY: mapped as long as the key lives, as far as it goes, and for writing if the key permits that.
        Some(unsafe { Room::new(at, length) })
    }

    /// Where `length` bytes at `address` are mapped here, if the key permits `right`.
    #[inline]
    fn mapped(&self, address: u64, length: usize, right: u8) -> Option<*mut u8> {
        let at = self.pointer(address).ok()?;
        // An instruction less than the opposite condition with `then_some`.
        if self.info.uses & right != right || !self.covers(address, length) {
            return None;
        }
        Some(at)
    }

    /// Whether it is memory that processors cannot access.
    pub fn is_of_device(&self) -> bool {
        u32::from(self.info.mem_type) != UCS_MEMORY_TYPE_HOST
    }

    /// Whether the range is the key's.
    #[inline]
    fn covers(&self, address: u64, length: usize) -> bool {
        let offset = address.wrapping_sub(self.info.address);
        offset <= self.info.length && length as u64 <= self.info.length - offset
    }

    /// Whether the key allows an access that needs `right`; one log line when not.
    #[inline]
    pub fn check(&self, address: u64, length: usize, right: u8) -> Result<()> {
        if self.info.uses & right != right {
            ucs_error!(
                "remote access of {length} bytes at {address:#x} is forbidden by the memory's protection: see UCP_MEM_MAP_PARAM_FIELD_PROT of its owner"
            );
            return Err(Status::INVALID_ADDR);
        }
        if length == 0 || self.covers(address, length) {
            return Ok(());
        }
        ucs_error!(
            "remote access of {length} bytes at {address:#x} is outside the key's range of {} bytes at {:#x}",
            self.info.length,
            self.info.address
        );
        Err(Status::INVALID_PARAM)
    }

    /// An order among keys: the same for keys that mean the same memory by the same ways.
    pub fn order(&self, other: &RemoteKey) -> core::cmp::Ordering {
        let of = |k: &RemoteKey| (k.info.context, k.info.region, k.info.address, k.info.length);
        of(self).cmp(&of(other))
    }

    /// The local address of remote memory that is mapped here.
    #[inline]
    pub fn pointer(&self, address: u64) -> Result<*mut u8> {
        match self.access {
            Access::Direct(delta) => Ok((address as isize).wrapping_add(delta) as *mut u8),
            _ => Err(Status::UNREACHABLE),
        }
    }
}
