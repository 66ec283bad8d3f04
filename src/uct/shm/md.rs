//! The components posix and sysv: memory domains whose allocations are segments of their own.
#![forbid(unsafe_code)]

use super::config;
use super::iface::ShmIface;
use super::outbox::attached;
use super::rkey::RemoteKey;
use super::segment::{Attached, Segment, Source};
use super::wire::{MEM_KEY_LEN, MemKey, SegmentKey, SegmentKind};
use crate::c::*;
use crate::sys::{is_shortage, mem, shm};
use crate::ucs::config::{Config, Table, Ternary, var};
use crate::ucs::{Failure, Result, Status};
use crate::ucs_error;
use crate::uct::api::{
    Alloc, Component, Device, Md, MdAttr, PackedKey, Transport, UnpackedKey, Unusable,
};
use crate::uct::base::iface::md_as;
use crate::uct::base::md::{DynMd, MemoryHandle};
use crate::uct::base::node;
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::local::{self, ProcessName};
use core::ffi::c_void;

pub struct PosixComponent;
pub struct SysvComponent;

/// The transport of either component.
struct ShmTransport {
    name: &'static str,
    wire_number: u8,
    config: &'static Table,
}

const POSIX: ShmTransport = ShmTransport {
    name: "posix",
    wire_number: 1,
    config: &config::POSIX,
};
const SYSV: ShmTransport = ShmTransport {
    name: "sysv",
    wire_number: 2,
    config: &config::SYSV,
};

struct ShmMd {
    source: Source,
}

const HOST: u64 = 1 << UCS_MEMORY_TYPE_HOST;

/// Maps the memory of a packed key, which must be of this kind.
fn unpack(packed: &[u8], kind: SegmentKind) -> Result<UnpackedKey> {
    let bytes = packed.first_chunk().ok_or(Status::INVALID_PARAM)?;
    let key = MemKey::decode(bytes).inspect_err(|_| {
        ucs_error!("a remote key is damaged or of another library: it is not unpacked");
    })?;
    Ok(UnpackedKey::Object(Box::new(RemoteKey::map(&key, kind)?)))
}

/// Whose memory a packed key names, for both components.
fn key_owner(packed: &[u8]) -> Option<ProcessName> {
    let key = MemKey::decode(packed.first_chunk()?).ok()?;
    Some(key.segment.owner)
}

impl Component for PosixComponent {
    fn name(&self) -> &'static str {
        POSIX.name
    }

    fn flags(&self) -> u64 {
        UCT_COMPONENT_FLAG_RKEY_PTR as u64
    }

    fn md_config(&self) -> &'static Table {
        &config::POSIX_MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        match shm::try_memory_file() {
            Ok(()) => Ok(vec![POSIX.name]),
            Err(e) if is_shortage(&e) => Err(Unusable(format!("memfd_create: {e}"))),
            Err(e) => Err(Unusable(format!(
                "this kernel or a security filter has no memory files: memfd_create: {e}"
            ))),
        }
    }

    fn md_open(&self, _name: &str, config: &Config) -> Result<Box<dyn DynMd>> {
        let huge = config.ternary(var!(config::MM_MD, "HUGETLB_MODE"));
        let kind = SegmentKind::Posix;
        Ok(Box::new(ShmMd {
            source: Source { kind, huge },
        }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&POSIX]
    }

    fn key_owner(&self, packed: &[u8]) -> Option<ProcessName> {
        key_owner(packed)
    }

    fn key_len(&self) -> usize {
        MEM_KEY_LEN
    }

    fn rkey_unpack(&self, packed: &[u8]) -> Result<UnpackedKey> {
        unpack(packed, SegmentKind::Posix)
    }
}

impl Component for SysvComponent {
    fn name(&self) -> &'static str {
        SYSV.name
    }

    fn flags(&self) -> u64 {
        UCT_COMPONENT_FLAG_RKEY_PTR as u64
    }

    fn md_config(&self) -> &'static Table {
        &config::SYSV_MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        match shm::make_sysv(mem::page_size(), false, 0) {
            Ok(_) => Ok(vec![SYSV.name]),
            Err(e) => Err(Unusable(format!(
                "no System V shared memory: {e}; raise kernel.shmmni and kernel.shmmax"
            ))),
        }
    }

    fn md_open(&self, _name: &str, config: &Config) -> Result<Box<dyn DynMd>> {
        Ok(Box::new(ShmMd {
            source: Source {
                kind: SegmentKind::Sysv,
                huge: config.ternary(var!(config::MM_MD, "HUGETLB_MODE")),
            },
        }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&SYSV]
    }

    fn key_owner(&self, packed: &[u8]) -> Option<ProcessName> {
        key_owner(packed)
    }

    fn key_len(&self) -> usize {
        MEM_KEY_LEN
    }

    fn rkey_unpack(&self, packed: &[u8]) -> Result<UnpackedKey> {
        unpack(packed, SegmentKind::Sysv)
    }
}

impl MemoryHandle for Segment {}

impl Md for ShmMd {
    type Memory = Segment;

    fn attr(&self) -> MdAttr {
        MdAttr {
            flags: u64::from(
                UCT_MD_FLAG_ALLOC
                    | UCT_MD_FLAG_FIXED
                    | UCT_MD_FLAG_RKEY_PTR
                    | UCT_MD_FLAG_NEED_RKEY,
            ),
            max_alloc: isize::MAX as u64,
            alloc_mem_types: HOST,
            access_mem_types: HOST,
            cache_mem_types: HOST,
            ..MdAttr::PLAIN
        }
    }

    fn mem_alloc(&self, alloc: &mut Alloc<'_>) -> Result<Segment> {
        let fixed = alloc.flags & UCT_MD_MEM_FLAG_FIXED != 0;
        let address = if fixed { alloc.address as usize } else { 0 };
        let huge = match self.source.huge {
            // A page as large as the memory wanted would waste most of it.
            Ternary::Try | Ternary::Auto if alloc.length < HUGE_FROM || fixed => Ternary::No,
            other => other,
        };
        let segment = Segment::make(&self.source, alloc.length, huge, address).map_err(|why| {
            ucs_error!("{why}");
            why.status
        })?;
        segment.reserve(0, segment.len())?;
        alloc.address = segment.base().cast();
        alloc.length = segment.len();
        Ok(segment)
    }

    /// It goes with the segment.
    fn mem_free(&self, _memory: Segment) -> Result<()> {
        Ok(())
    }

    fn mem_advise(
        &self,
        segment: &Segment,
        address: *mut c_void,
        length: usize,
        advice: uct_mem_advice_t,
    ) -> Result<()> {
        let offset = (address as usize).wrapping_sub(segment.base() as usize);
        if offset > segment.len() || length > segment.len() - offset {
            return Err(Status::INVALID_PARAM);
        }
        let advice = match advice {
            UCT_MADV_NORMAL => mem::ADVISE_NORMAL,
            UCT_MADV_WILLNEED => mem::ADVISE_WILLNEED,
            _ => return Err(Status::INVALID_PARAM),
        };
        let start = address as usize & !(mem::page_size() - 1);
        mem::advise(start, address as usize + length - start, advice)?;
        Ok(())
    }

    fn mkey_pack(&self, segment: &Segment) -> Result<PackedKey> {
        let key = MemKey {
            segment: segment.key(),
            base: segment.base() as u64,
            len: segment.len() as u64,
        };
        Ok(PackedKey::from_slice(&key.encode()))
    }
}

/// Memory of this size is tried in huge pages.
const HUGE_FROM: usize = 2 << 20;

impl Transport for ShmTransport {
    fn name(&self) -> &'static str {
        self.name
    }

    fn wire_number(&self) -> Option<u8> {
        Some(self.wire_number)
    }

    fn groups(&self) -> &'static [&'static str] {
        &["mm", "sm", "shm"]
    }

    fn shares_memory(&self) -> bool {
        true
    }

    fn config(&self) -> &'static Table {
        self.config
    }

    fn devices(&self, _md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        Ok(vec![node::device()])
    }

    fn unreachable(&self, device: &[u8], iface: &[u8]) -> String {
        let key = iface.first_chunk().and_then(|i| SegmentKey::decode(i).ok());
        let owner = match node::owner(device, key.map(|key| key.owner)) {
            Ok(owner) => owner,
            Err(why) => return why,
        };
        match (local::look(owner), key.map(Attached::try_get)) {
            (Err(refusal), _) => refusal.to_string(),
            (_, Some(Err(why))) => format!("its memory cannot be attached: {why}"),
            _ => match key.ok_or(Status::INVALID_ADDR).and_then(attached) {
                Err(e) => format!("its memory cannot be used: {e}"),
                Ok(_) => "its memory can be attached now".to_owned(),
            },
        }
    }

    fn address_owner(&self, iface: &[u8]) -> Option<ProcessName> {
        let key = SegmentKey::decode(iface.first_chunk()?).ok()?;
        Some(key.owner)
    }

    fn address_segment(&self, iface: &[u8]) -> u32 {
        let key = iface.first_chunk().map(SegmentKey::decode);
        key.and_then(core::result::Result::ok)
            .map_or(0, |key| key.serial)
    }

    fn open(
        &self,
        md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let md = md_as::<ShmMd>(md)?;
        ShmIface::open(self.name, &md.source, worker, device, params, config)
    }
}
