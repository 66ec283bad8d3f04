//! The interface and the endpoint of `cuda_ipc`: copies on streams between memory of this process and device memory of
//! another one on this host, or of this one.
//!
//! That a process is on this host and of this user the kernel confirms, over the local channel. Whether the driver maps its
//! memory (same devices in sight, peer access) only the attempt tells, with the first access.

use super::cache::NotMapped;
use super::config;
use super::md::{NAME, Shared};
use super::wire::{self, ADDRESS_LEN, Key};
use crate::c::*;
use crate::sys::cuda::{Context, Copying, DriverError, Imported, Way};
use crate::ucs::config::{Config, OnOff, var};
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Iface, Posted, Remote, WaitingRequest};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::node;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::pending::PendingGroup;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cuda::copies::Copies;
use crate::uct::cuda::iface::single;
use crate::uct::internal::{DeviceMapping, InternalIface};
use crate::uct::local::{self, ProcessName};
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::any::Any;
use core::ffi::c_int;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;

/// Seconds until a copy begins, and of the processor for it: upstream's, by which programs choose.
const LATENCY: f64 = 1e-6;
const OVERHEAD: f64 = 7e-6;
/// Bytes a second between two devices of a generation, as upstream has them: over NVLink, or over PCI Express where no
/// generation is known.
fn bandwidth_of(capability: Option<c_int>) -> f64 {
    let megabytes = match capability {
        Some(6) => 80_000.0,
        Some(7) => 250_000.0,
        Some(8) => 300_000.0,
        Some(9) => 400_000.0,
        Some(10) => 800_000.0,
        _ => 6911.0,
    };
    megabytes * 1024.0 * 1024.0
}

pub struct CudaIpcIface {
    shared: Arc<Shared>,
    copies: Copies,
    bandwidth: f64,
    gets: bool,
    keeps: bool,
    /// Most streams of a context.
    streams: u64,
}

pub struct CudaIpcEp {
    peer: ProcessName,
    pending: Rc<PendingGroup>,
}

type Face = IfaceBox<CudaIpcIface>;

/// A put or a get.
#[derive(Clone, Copy)]
struct Transfer {
    local: usize,
    length: usize,
    remote: u64,
    is_put: bool,
}

impl CudaIpcIface {
    pub fn open(
        shared: &Arc<Shared>,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> uct_iface_h {
        let told = config.bandwidth(var!(config::IFACE, "BW"));
        let tl = CudaIpcIface {
            shared: Arc::clone(shared),
            copies: Copies::new(
                NAME,
                config.uint(var!(config::IFACE, "MAX_POLL")),
                config.uint(var!(config::IFACE, "MAX_EVENTS")),
            ),
            // `auto` is negative.
            bandwidth: if told > 0.0 {
                told
            } else {
                let device = shared.driver.current_device().unwrap_or(0);
                bandwidth_of(shared.driver.capability(device).ok())
            },
            gets: config.on_off(var!(config::IFACE, "ENABLE_GET_ZCOPY")) != OnOff::Off,
            keeps: config.bool(var!(config::IFACE, "CACHE")),
            streams: u64::from(config.uint(var!(config::IFACE, "MAX_STREAMS"))).max(1),
        };
        IfaceBox::open(NAME, device, worker, params, tl)
    }

    /// The context for a copy: that of the local memory, or, where that is the host's, of this process's memory at the
    /// other end, or one that is in use.
    fn context(&self, local: usize, far: Option<usize>) -> Result<Context> {
        let failed = |e: DriverError| {
            ucs_error!("{NAME}: no context for a copy: {e}");
            Status::from(e)
        };
        let shared = &self.shared;
        for address in [Some(local), far].into_iter().flatten() {
            if let Some(of) = shared.driver.allocation_of(address).map_err(failed)? {
                return shared.streams.context_of(&of).map_err(failed);
            }
        }
        shared
            .streams
            .used_context()
            .map_err(failed)?
            .ok_or_else(|| {
                ucs_debug!("{NAME}: this process has no context of a device in use");
                Status::NO_DEVICE
            })
    }

    /// The memory of a key, mapped in a context, of which it has to have so many bytes.
    fn map(&self, key: &Key, context: Context, end: usize) -> Result<Arc<Imported>> {
        let cache = &self.shared.cache;
        let memory = cache.get(key, context, self.keeps).map_err(|why| {
            match why {
                // It was told.
                NotMapped::Known => {}
                why => ucs_diag!(
                    "{NAME}: memory of process {} cannot be mapped: {why}; both processes need the same devices in sight",
                    key.owner.pid
                ),
            }
            Status::UNREACHABLE
        })?;
        if memory.length < end {
            ucs_error!(
                "{NAME}: a key of process {} claims {end} bytes of an allocation of {}",
                key.owner.pid,
                memory.length
            );
            cache.forget(key, context);
            return Err(Status::INVALID_ADDR);
        }
        Ok(memory)
    }

    /// Starts a copy.
    ///
    /// # Safety
    /// The local memory must be valid until the copy ends.
    unsafe fn start(
        &self,
        of: Transfer,
        key: &Key,
        offset: usize,
    ) -> Result<(Copying, Option<Arc<Imported>>)> {
        let is_own = key.owner == self.shared.membership.name;
        let far = is_own.then_some(of.remote as usize);
        let failed = |e: DriverError| {
            ucs_error!("{NAME}: a copy of {} bytes: {e}", of.length);
            Status::from(e)
        };
        let context = self.context(of.local, far)?;
        let (far, memory) = match far {
            Some(far) => (far, None),
            None => {
                let memory = self.map(key, context, offset + of.length)?;
                (memory.address + offset, Some(memory))
            }
        };
        let (to, from) = match of.is_put {
            true => (far, of.local),
            false => (of.local, far),
        };
        // Copies from and to different processes need not wait for each other.
        let way = (key.owner.id % self.streams) as Way;
        // SAFETY: the local range by the caller's promise; the other one is mapped, or the driver refuses it.
        let copying = unsafe { (self.shared.streams).start(to, from, of.length, (context, way)) };
        match copying {
            Ok(copying) => Ok((copying, memory)),
            Err(e) => {
                self.shared.cache.forget(key, context);
                Err(failed(e))
            }
        }
    }
}

impl CudaIpcEp {
    /// # Safety
    /// The local memory must be valid until the completion.
    unsafe fn post(
        ep: &EpBox<CudaIpcIface>,
        of: Transfer,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        let key = CudaIpcEp::key(ep, &remote, of.length)?;
        if of.length == 0 {
            return Ok(Posted::Done);
        }
        let face = ep.face();
        face.copies.check_room()?;
        let offset = key.offset(of.remote);
        // SAFETY: by the caller's promise.
        let (copying, memory) = unsafe { face.start(of, key, offset) }?;
        face.copies.add(&ep.pending, copying, memory, comp)
    }

    /// The key, if it is of the peer and has so many bytes at its owner's address.
    fn key<'a>(ep: &EpBox<CudaIpcIface>, remote: &'a Remote, length: usize) -> Result<&'a Key> {
        let key = core::ptr::with_exposed_provenance::<Key>(remote.key());
        let remote = remote.address();
        // SAFETY: null, or of `rkey_unpack` and live during the operation.
        let key = unsafe { key.as_ref() };
        let Some(key) = key.filter(|key| key.owner == ep.peer) else {
            ucs_error!("{NAME}: the remote key is not of the process that the endpoint leads to");
            return Err(Status::INVALID_PARAM);
        };
        if !key.covers(remote, length) {
            ucs_error!(
                "{NAME}: {length} bytes at {remote:#x} are not those of the remote key: {} at {:#x}",
                key.length,
                key.address
            );
            return Err(Status::INVALID_ADDR);
        }
        Ok(key)
    }
}

/// Addresses of an interface: its device's, its own.
type Addresses = ([u8; node::LEN], [u8; ADDRESS_LEN]);

/// What users give of them; `None` if one is missing or too short.
fn read(device: Option<GivenAddress<'_>>, iface: Option<GivenAddress<'_>>) -> Option<Addresses> {
    Some((device?.bytes()?, iface?.bytes()?))
}

/// The process that addresses of an interface lead to, if it is on this host and of this user.
fn reach((device, iface): Addresses) -> core::result::Result<ProcessName, String> {
    find_process(&device, wire::decode_address(&iface))
}

/// The process that a device and the name in an interface's address lead to, or why it cannot be reached.
pub fn find_process(
    device: &[u8],
    named: Option<ProcessName>,
) -> core::result::Result<ProcessName, String> {
    let name = node::owner(device, named)?;
    match local::process(name) {
        Ok(_) => Ok(name),
        Err(why) => Err(format!("process {} of this host: {why}", name.pid)),
    }
}

impl Iface for CudaIpcIface {
    type Ep = CudaIpcEp;

    fn query(face: &Face, attr: &mut uct_iface_attr) {
        attr.cap.flags =
            UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_PUT_ZCOPY;
        attr.cap.event_flags =
            UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
        attr.cap.put.max_zcopy = usize::MAX;
        attr.cap.put.opt_zcopy_align = 1;
        attr.cap.put.align_mtu = 1;
        attr.cap.put.max_iov = 1;
        if face.gets {
            attr.cap.flags |= UCT_IFACE_FLAG_GET_ZCOPY;
            attr.cap.get.max_zcopy = usize::MAX;
        }
        attr.cap.get.opt_zcopy_align = 1;
        attr.cap.get.align_mtu = 1;
        attr.cap.get.max_iov = 1;
        attr.device_addr_len = node::LEN;
        attr.iface_addr_len = ADDRESS_LEN;
        attr.bandwidth.shared = face.bandwidth;
        attr.latency = ucs_linear_func_t { c: LATENCY, m: 0.0 };
        attr.overhead = OVERHEAD;
    }

    fn progress(face: &Face) -> u32 {
        face.copies.progress()
    }

    fn device_address(_face: &Face) -> Result<Vec<u8>> {
        Ok(node::packed().to_vec())
    }

    fn iface_address(face: &Face) -> Result<Vec<u8>> {
        Ok(wire::encode_address(face.shared.membership.name).to_vec())
    }

    fn is_reachable(
        _face: &Face,
        device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        let Some(addresses) = read(device, iface) else {
            return false;
        };
        let reached = reach(addresses);
        if let Err(why) = &reached {
            ucs_diag!("{NAME}: {why}");
        }
        reached.is_ok()
    }

    fn ep_create(face: &Face, params: &EpParams) -> Result<CudaIpcEp> {
        let Some(addresses) = read(params.device, params.iface) else {
            ucs_error!("{NAME}: an endpoint needs the peer's device and interface address");
            return Err(Status::INVALID_PARAM);
        };
        let peer = reach(addresses).map_err(|why| {
            ucs_diag!("{NAME}: {why}");
            Status::UNREACHABLE
        })?;
        face.shared.cache.add_endpoint(peer);
        Ok(CudaIpcEp {
            peer,
            pending: PendingGroup::new(),
        })
    }

    fn ep_closing(ep: &EpBox<Self>) {
        ep.face().copies.close(&ep.pending);
        ep.face().shared.cache.remove_endpoint(ep.peer);
    }

    fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        let (local, length) = single(&iov)?;
        let of = Transfer {
            local: local.expose_provenance(),
            length,
            remote: remote.address(),
            is_put: true,
        };
        // SAFETY: the user keeps the buffer until the completion.
        unsafe { CudaIpcEp::post(ep, of, remote, comp) }
    }

    fn get_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        if !ep.face().gets {
            return Err(Status::UNSUPPORTED);
        }
        let (local, length) = single(&iov)?;
        let of = Transfer {
            local: local.expose_provenance(),
            length,
            remote: remote.address(),
            is_put: false,
        };
        // SAFETY: the user keeps the buffer until the completion.
        unsafe { CudaIpcEp::post(ep, of, remote, comp) }
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        ep.face().copies.pending_add(&ep.pending, req)
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        ep.pending.purge(each);
    }

    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        ep.face().copies.flush_ep(&ep.pending, flags, comp)
    }

    fn iface_flush(face: &Face, _flags: u32, comp: Completion) -> Result<Posted> {
        face.copies.flush(None, comp)
    }

    fn event_fd(face: &Face) -> Result<RawFd> {
        face.copies.event_fd()
    }

    fn event_arm(face: &Face, _events: c_int) -> Result<()> {
        face.copies.arm()
    }
}

impl InternalIface for CudaIpcIface {
    /// The memory stays mapped as long as the result, also when the cache keeps it no longer.
    fn device_access(
        ep: &EpBox<Self>,
        remote: Remote,
        length: usize,
        near: usize,
    ) -> Result<DeviceMapping> {
        let key = CudaIpcEp::key(ep, &remote, length)?;
        let (face, shared) = (ep.face(), &ep.face().shared);
        let (mapped, mapping): (usize, Option<Arc<dyn Any + Send + Sync>>) =
            if key.owner == shared.membership.name {
                (key.base as usize, None)
            } else {
                let context = face.context(near, None)?;
                // Device code checks no ranges.
                let memory = face.map(key, context, key.end())?;
                (memory.address, Some(memory))
            };
        let mapped_offset = (mapped as isize).wrapping_sub(key.base as isize);
        Ok(DeviceMapping {
            transport: UCT_DEVICE_TL_CUDA_IPC,
            element: mapped_offset.to_ne_bytes(),
            mapped: (
                (remote.address() as usize).wrapping_add_signed(mapped_offset),
                length,
            ),
            mapping,
        })
    }
}
