//! The simulated transports: one for messages, one for copies between memories.
//!
//! What they can do is the shape of the process that opens them.

use crate::network::{Content, Copy, Link, Network, Node, Put, Role, network};
use core::ffi::c_void;
use ferrucx::c::*;
use ferrucx::ucs::config::{Config, Table};
use ferrucx::ucs::{Failure, Result, Status};
use ferrucx::uct::api::*;
use ferrucx::uct::base::copy::Payload;
use ferrucx::uct::base::iface::{EpBox, IfaceBox};
use ferrucx::uct::base::iov::Iov;
use ferrucx::uct::base::md::{ComponentHandle, DynMd, MemoryNumber};
use ferrucx::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use ferrucx::uct::base::worker::WorkerHandle;
use ferrucx::uct::internal::{EpochGuard, InternalIface, UpstreamWay};
use ferrucx::uct::local::{self, ProcessName};
use ferrucx::wire::upstream::address::{Entry, Offer};
use std::rc::Rc;

/// What a context of a simulated process is made on.
pub static COMPONENTS: &[ComponentHandle] = &[
    ComponentHandle {
        component: &SimComponent(Role::Messages),
    },
    ComponentHandle {
        component: &SimComponent(Role::Copies),
    },
];

static CONFIG: Table = Table {
    name: "simulated transport",
    prefix: "SIM_",
    parent: None,
    rows: &[],
};

struct SimComponent(Role);
struct SimMd {
    mapped: bool,
    /// Peers write by keys.
    keyed: bool,
}
struct SimTransport(Role);

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Messages => "messages",
            Role::Copies => "copies",
        }
    }
}

/// Bytes of a packed key: the length of the region's address.
const KEY: usize = 8;

impl Component for SimComponent {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn flags(&self) -> u64 {
        match (self.0, network().opening.get().1.mapped) {
            (Role::Messages, true) => u64::from(UCT_COMPONENT_FLAG_RKEY_PTR),
            _ => 0,
        }
    }
    fn md_config(&self) -> &'static Table {
        &CONFIG
    }
    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        let shape = network().opening.get().1;
        if self.0 == Role::Messages || shape.copies {
            Ok(vec![self.0.name()])
        } else {
            Err(Unusable("not in the shape of this process".to_owned()))
        }
    }
    fn md_open(&self, _name: &str, _config: &Config) -> Result<Box<dyn DynMd>> {
        let shape = network().opening.get().1;
        let messages = self.0 == Role::Messages;
        Ok(Box::new(SimMd {
            mapped: messages && shape.mapped,
            keyed: messages && shape.devices > 0,
        }))
    }
    fn transports(&self) -> &'static [&'static dyn Transport] {
        match self.0 {
            Role::Messages => &[&SimTransport(Role::Messages)],
            Role::Copies => &[&SimTransport(Role::Copies)],
        }
    }
    fn key_len(&self) -> usize {
        KEY
    }
    fn rkey_unpack(&self, packed: &[u8]) -> Result<UnpackedKey> {
        let key = packed.first_chunk().ok_or(Status::INVALID_PARAM)?;
        Ok(UnpackedKey::Word(u64::from_le_bytes(*key) as uct_rkey_t))
    }
    fn rkey_ptr(&self, _rkey: uct_rkey_t, remote: u64) -> Result<*mut c_void> {
        Ok(remote as *mut c_void)
    }
}

impl Md for SimMd {
    /// The number of a registration, or the address of mapped memory.
    type Memory = MemoryNumber;

    fn attr(&self) -> MdAttr {
        let host = 1 << UCS_MEMORY_TYPE_HOST;
        if self.keyed {
            return MdAttr {
                flags: u64::from(UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY),
                max_reg: usize::MAX,
                reg_mem_types: host,
                access_mem_types: host,
                ..MdAttr::PLAIN
            };
        }
        if !self.mapped {
            return MdAttr {
                access_mem_types: host,
                ..MdAttr::PLAIN
            };
        }
        MdAttr {
            flags: u64::from(
                UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY | UCT_MD_FLAG_RKEY_PTR,
            ),
            max_alloc: u64::MAX,
            max_reg: usize::MAX,
            reg_mem_types: host,
            access_mem_types: host,
            ..MdAttr::PLAIN
        }
    }
    /// Memory that the program has is what it asks for: peers can map all of it.
    fn mem_alloc(&self, alloc: &mut Alloc<'_>) -> Result<MemoryNumber> {
        match alloc.address.is_null() {
            true => Err(Status::NO_MEMORY),
            false => Ok(MemoryNumber(alloc.address as usize)),
        }
    }
    fn mem_free(&self, _memory: MemoryNumber) -> Result<()> {
        Ok(())
    }
    fn mem_reg(&self, address: *mut c_void, length: usize, _flags: u32) -> Result<MemoryNumber> {
        if !self.keyed {
            return Ok(MemoryNumber(address as usize));
        }
        let key = network().register(address as u64, length);
        Ok(MemoryNumber(key.ok_or(Status::NO_MEMORY)? as usize))
    }
    fn mem_dereg(&self, memory: MemoryNumber) -> Result<()> {
        if self.keyed {
            network().deregister(memory.0 as u64);
        }
        Ok(())
    }
    fn mkey_pack(&self, memory: &MemoryNumber) -> Result<PackedKey> {
        Ok(PackedKey::from_slice(&(memory.0 as u64).to_le_bytes()))
    }
}

impl Transport for SimTransport {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn wire_number(&self) -> Option<u8> {
        Some(match self.0 {
            Role::Messages => 1,
            Role::Copies => 2,
        })
    }
    fn shares_memory(&self) -> bool {
        self.0 == Role::Messages && network().opening.get().1.devices == 0
    }
    fn is_same_network(&self, own: &[u8], peer: &[u8]) -> bool {
        own == peer
    }
    fn has_rails(&self, device: &[u8]) -> bool {
        !device.is_empty()
    }
    fn config(&self) -> &'static Table {
        &CONFIG
    }
    fn devices(&self, _md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        let device = |name: String, kind| Device {
            name,
            kind,
            sys_device: UCS_SYS_DEVICE_ID_UNKNOWN,
        };
        Ok(match network().opening.get().1.devices {
            0 => vec![device("memory".to_owned(), UCT_DEVICE_TYPE_SHM)],
            count => (0..count)
                .map(|n| device(n.to_string(), UCT_DEVICE_TYPE_NET))
                .collect(),
        })
    }
    fn address_owner(&self, _iface: &[u8]) -> Option<ProcessName> {
        // All simulated processes are in this one.
        Some(ProcessName {
            id: local::own_id().ok()?,
            pid: 0,
            door: 0,
        })
    }
    fn open(
        &self,
        _md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        _config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let node = network().open(self.0, device.parse().unwrap_or(0));
        let tl = SimIface(Rc::clone(&node));
        let handle = IfaceBox::open(self.0.name(), device, worker, params, tl);
        node.face.set(handle.cast_const().cast());
        Ok(handle)
    }
}

pub struct SimIface(Rc<Node>);

pub struct SimEp(Rc<Link>);

/// The transport's name in addresses of upstream's, and what it can do there: all but puts.
const UPSTREAM: u16 = 0x19cf;
const MESSAGES_ONLY: u32 = 0x23_0301;

/// Bytes of an interface address: the node's number.
const ADDRESS: usize = 8;

/// Bytes beyond a message's limit, to see that nothing is written there.
const GUARD: usize = 16;
const GUARD_BYTE: u8 = 0xa7;

impl SimEp {
    /// Sends what `fill` writes into room for `limit` bytes.
    fn post(&self, id: u8, limit: usize, fill: impl FnOnce(*mut u8) -> usize) -> Result<usize> {
        self.post_as(false, id, limit, fill)
    }

    /// The same in one of both dialects.
    fn post_as(
        &self,
        is_upstream: bool,
        id: u8,
        limit: usize,
        fill: impl FnOnce(*mut u8) -> usize,
    ) -> Result<usize> {
        let net = network();
        let goes = self.0.admit(&net)?;
        let mut bytes = vec![GUARD_BYTE; limit + GUARD];
        let len = fill(bytes.as_mut_ptr());
        assert!(len <= limit, "{len} bytes where {limit} are allowed");
        assert!(
            bytes[limit..].iter().all(|b| *b == GUARD_BYTE),
            "written beyond the {limit} bytes of a message"
        );
        bytes.truncate(len);
        if goes {
            let content = Content {
                put: None,
                message: Some((id, bytes)),
                is_upstream,
            };
            self.0.send(&net, content);
        }
        Ok(len)
    }

    /// The bytes of a put.
    fn gathered(iov: Iov<'_>, remote: Remote) -> Result<Put> {
        let mut bytes = vec![0; iov.total()?];
        // SAFETY: room for all blocks.
        unsafe { iov.gather(bytes.as_mut_ptr()) };
        Ok(Put {
            key: remote.key() as u64,
            at: remote.address(),
            bytes,
        })
    }

    fn one_copy(
        &self,
        iov: Iov<'_>,
        remote: u64,
        get: bool,
        guard: Option<EpochGuard>,
        comp: Completion,
    ) -> Result<Posted> {
        let net = network();
        let mut at = remote;
        let mut posted = Posted::Done;
        let blocks: Vec<(*mut u8, usize)> = iov.blocks().collect();
        if iov.total()? > self.0.from.shape.max_copy || blocks.len() > 1 {
            return Err(Status::INVALID_PARAM);
        }
        for (p, len) in blocks {
            let copy = if get {
                Copy {
                    from: at as *const u8,
                    to: p,
                    len,
                    guard,
                }
            } else {
                Copy {
                    from: p,
                    to: at as *mut u8,
                    len,
                    guard,
                }
            };
            posted = self.0.copy(&net, copy, comp)?;
            at += len as u64;
        }
        Ok(posted)
    }
}

fn of(ep: &EpBox<SimIface>) -> &SimEp {
    &ep.tl
}

impl Iface for SimIface {
    type Ep = SimEp;

    fn query(face: &IfaceBox<Self>, attr: &mut uct_iface_attr) {
        let shape = face.tl.0.shape;
        attr.iface_addr_len = ADDRESS;
        attr.device_addr_len = usize::from(shape.devices > 0);
        attr.bandwidth.dedicated = 1e10;
        attr.overhead = 1e-7;
        attr.latency = ucs_linear_func_t { c: 1e-6, m: 0.0 };
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_CB_SYNC
            | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
        match face.tl.0.role {
            Role::Messages => {
                attr.cap.flags |= UCT_IFACE_FLAG_AM_BCOPY;
                attr.cap.am.max_bcopy = shape.max_bcopy;
                attr.cap.am.max_iov = 1;
                if shape.devices > 0 {
                    let behind = face.tl.0.device + shape.devices - shape.fastest;
                    attr.bandwidth.dedicated /= 1.0 + (behind % shape.devices) as f64;
                    attr.cap.flags |= UCT_IFACE_FLAG_PUT_ZCOPY;
                    attr.cap.put.max_zcopy = shape.max_copy;
                    attr.cap.put.max_iov = 1;
                }
                if let Some(max) = shape.max_short {
                    attr.cap.flags |= UCT_IFACE_FLAG_AM_SHORT;
                    attr.cap.am.max_short = max;
                }
                if let Some(max) = shape.max_zcopy {
                    attr.cap.flags |= UCT_IFACE_FLAG_AM_ZCOPY;
                    attr.cap.am.max_zcopy = max;
                    attr.cap.am.max_hdr = shape.max_bcopy.min(max);
                }
            }
            Role::Copies => {
                attr.cap.flags |= UCT_IFACE_FLAG_GET_ZCOPY | UCT_IFACE_FLAG_PUT_ZCOPY;
                attr.cap.put.max_zcopy = shape.max_copy;
                attr.cap.put.max_iov = 1;
                attr.cap.get.max_zcopy = shape.max_copy;
                attr.cap.get.max_iov = 1;
            }
        }
    }

    fn progress(face: &IfaceBox<Self>) -> u32 {
        network().progress(&Rc::clone(&face.tl.0))
    }

    fn iface_address(face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        Ok(face.tl.0.number.to_le_bytes().to_vec())
    }

    fn device_address(face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        let has_devices = face.tl.0.shape.devices > 0;
        Ok(has_devices
            .then_some(face.tl.0.device as u8)
            .into_iter()
            .collect())
    }

    fn is_reachable(
        _face: &IfaceBox<Self>,
        _device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        iface.is_some()
    }

    fn ep_create(face: &IfaceBox<Self>, params: &EpParams) -> Result<SimEp> {
        let net: Rc<Network> = network();
        let number = params.iface.and_then(|iface| iface.bytes());
        let number = number.map(u64::from_le_bytes).or(net.dialled.take());
        let number = number.ok_or(Status::INVALID_PARAM)?;
        let to = net.node(number).ok_or(Status::UNREACHABLE)?;
        Ok(SimEp(net.link(&face.tl.0, to)))
    }

    fn ep_created(ep: &EpBox<Self>) {
        of(ep).0.attach(ep);
    }

    fn ep_closing(ep: &EpBox<Self>) {
        of(ep).0.detach(&network());
    }

    fn closing(face: &IfaceBox<Self>) {
        network().close(&face.tl.0);
    }

    fn am_short(ep: &EpBox<Self>, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        let limit = of(ep).0.from.shape.max_short.ok_or(Status::UNSUPPORTED)?;
        let len = payload.len();
        assert!(
            len + 8 <= limit,
            "a short message of {len} bytes, limit {limit}"
        );
        of(ep)
            .post(id, limit, |to| {
                // SAFETY: `limit` bytes of room, a readable payload.
                unsafe {
                    to.cast::<[u8; 8]>().write(header.to_ne_bytes());
                    core::ptr::copy_nonoverlapping(payload.as_ptr(), to.add(8), len);
                }
                len + 8
            })
            .map(drop)
    }

    fn am_bcopy(ep: &EpBox<Self>, id: u8, pack: Pack, _flags: u32) -> Result<usize> {
        // SAFETY: room for `max_bcopy` bytes.
        of(ep).post(id, of(ep).0.from.shape.max_bcopy, |to| unsafe {
            pack.pack_into(to)
        })
    }

    fn am_zcopy(
        ep: &EpBox<Self>,
        id: u8,
        header: &[u8],
        iov: Iov<'_>,
        _flags: u32,
        comp: Completion,
    ) -> Result<Posted> {
        let limit = of(ep).0.from.shape.max_zcopy.ok_or(Status::UNSUPPORTED)?;
        assert!(header.len() + iov.total()? <= limit && iov.entries().len() <= 1);
        of(ep).post(id, limit, |to| {
            // SAFETY: `limit` bytes of room, as asserted.
            unsafe {
                core::ptr::copy_nonoverlapping(header.as_ptr(), to, header.len());
                header.len() + iov.gather(to.add(header.len()))
            }
        })?;
        let net = network();
        if comp.is_none() || net.rng.chance(50) {
            return Ok(Posted::Done);
        }
        of(ep).0.end_later(&net, None, comp);
        Ok(Posted::InProgress)
    }

    fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        if of(ep).0.from.role == Role::Messages {
            let put = SimEp::gathered(iov, remote)?;
            assert!(put.bytes.len() <= of(ep).0.from.shape.max_copy);
            return of(ep).0.put(&network(), put, comp);
        }
        of(ep).one_copy(iov, remote.address(), false, None, comp)
    }

    fn get_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        of(ep).one_copy(iov, remote.address(), true, None, comp)
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        let link = &of(ep).0;
        if !link.must_wait(&network()) {
            return Err(Status::BUSY);
        }
        link.from.pending.add(&link.group, req);
        Ok(())
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        of(ep).0.group.purge(each);
    }

    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        if flags & UCT_FLUSH_FLAG_CANCEL != 0 {
            of(ep).0.cancel(&network());
            return Ok(Posted::Done);
        }
        let remote = flags & UCT_FLUSH_FLAG_REMOTE != 0;
        of(ep).0.flush(&network(), remote, comp)
    }

    fn check(_ep: &EpBox<Self>, _flags: u32, _comp: Completion) -> Result<Posted> {
        Ok(Posted::Done)
    }
}

impl InternalIface for SimIface {
    fn put_notify(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        id: u8,
        told: &[u8],
        comp: Completion,
    ) -> Result<Posted> {
        let content = Content {
            put: Some(SimEp::gathered(iov, remote)?),
            message: Some((id, told.to_vec())),
            is_upstream: false,
        };
        of(ep).0.put_notify(&network(), content, comp)
    }

    fn peer_identity(face: &IfaceBox<Self>, _device: &[u8], address: &[u8]) -> Option<u64> {
        let number = u64::from_le_bytes(address.try_into().ok()?);
        (face.tl.0.shape.devices > 0).then_some(number)
    }

    fn sender_identity(face: &IfaceBox<Self>) -> Option<u64> {
        face.tl
            .0
            .sender
            .get()
            .filter(|_| face.tl.0.shape.devices > 0)
    }

    fn is_connected(face: &IfaceBox<Self>, identity: u64) -> bool {
        network().is_linked(&face.tl.0, identity)
    }

    fn upstream_offer(face: &IfaceBox<Self>) -> Option<Offer> {
        let node = &face.tl.0;
        let takes = node.shape.devices > 0 && face.base.internal.on_upstream.get().is_some();
        takes.then(|| Offer {
            transport: UPSTREAM,
            device: vec![node.device as u8],
            iface: node.number.to_le_bytes().to_vec(),
            overhead: 1e-7,
            bandwidth: 1e10,
            latency: 1e-6 * (1 + node.device) as f32,
            flags: MESSAGES_ONLY,
        })
    }

    fn upstream_reach(face: &IfaceBox<Self>, entry: &Entry<'_>) -> Option<UpstreamWay> {
        let reaches = entry.transport == UPSTREAM && face.tl.0.role == Role::Messages;
        reaches.then(|| UpstreamWay {
            is_new: false,
            is_far: entry.device != [face.tl.0.device as u8],
            latency: entry.latency,
        })
    }

    fn upstream_connect(face: &IfaceBox<Self>, entry: &Entry<'_>) -> Result<uct_ep_h> {
        let number = entry.iface.try_into().map(u64::from_le_bytes);
        network().dialled.set(number.ok());
        EpBox::create_unconnected(face, |_| ()).map(|(ep, ())| ep)
    }

    fn upstream_send(ep: &EpBox<Self>, id: u8, pack: Pack) -> Result<usize> {
        let fill = |to: *mut u8| {
            // SAFETY: room for `max_bcopy` bytes.
            unsafe { pack.pack_into(to) }
        };
        of(ep).post_as(true, id, of(ep).0.from.shape.max_bcopy, fill)
    }

    fn get_guarded(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        guard: EpochGuard,
        comp: Completion,
    ) -> Result<Posted> {
        of(ep).one_copy(iov, remote.address(), true, Some(guard), comp)
    }
}
