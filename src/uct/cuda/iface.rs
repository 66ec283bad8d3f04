//! The interface and the endpoint of `cuda_copy`: puts and gets between the host's and devices' memory of this process.
//!
//! Short ones end with the call. Others are copies on a stream (`copies`).

use super::config;
use super::copier::{Copier, Range};
use super::copies::Copies;
use crate::c::*;
use crate::sys::fork::PerProcess;
use crate::sys::random::random_u64;
use crate::ucs::config::{Config, var};
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Iface, Posted, Remote, WaitingRequest};
use crate::uct::base::copy::{Payload, Room, copy};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::memory_copier::MemoryCopier;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::pending::PendingGroup;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::InternalIface;
use crate::{ucs_diag, ucs_error};
use core::ffi::c_int;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;

pub const NAME: &str = "cuda_copy";

/// Bytes of an interface address.
const ADDR_LEN: usize = 8;
/// Seconds until a copy begins: upstream's, by which programs choose.
pub const LATENCY: f64 = 8e-6;

/// Tells this process from every other: all interfaces of it reach each other.
static PROCESS: PerProcess<Option<u64>> = PerProcess::new(|| random_u64().ok());

pub struct CudaIface {
    copier: Arc<Copier>,
    address: u64,
    copies: Copies,
    bandwidth: f64,
}

pub struct CudaEp {
    pending: Rc<PendingGroup>,
}

type Face = IfaceBox<CudaIface>;

impl CudaIface {
    pub fn open(
        copier: &Arc<Copier>,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> Result<uct_iface_h> {
        let tl = CudaIface {
            copier: Arc::clone(copier),
            address: PROCESS.get().ok_or(Status::IO_ERROR)?,
            copies: Copies::new(
                NAME,
                config.uint(var!(config::IFACE, "MAX_POLL")),
                config.uint(var!(config::IFACE, "MAX_EVENTS")),
            ),
            bandwidth: config::bandwidths(config)?.told,
        };
        Ok(IfaceBox::open(NAME, device, worker, params, tl))
    }

    /// Starts a copy of an endpoint.
    ///
    /// # Safety
    /// Both ranges must be valid until the copy ends.
    unsafe fn post(&self, of: &Rc<PendingGroup>, range: Range, comp: Completion) -> Result<Posted> {
        if range.length == 0 {
            return Ok(Posted::Done);
        }
        self.copies.check_room()?;
        // SAFETY: by the caller's promise.
        match unsafe { self.copier.start(range) }? {
            Some(copying) => self.copies.add(of, copying, None, comp),
            None => {
                // SAFETY: by the caller's promise.
                unsafe { copy(range.from, range.to, range.length) };
                Ok(Posted::Done)
            }
        }
    }
}

/// The one entry of a list.
pub fn single(iov: &Iov<'_>) -> Result<(*mut u8, usize)> {
    if iov.entries().len() > 1 {
        ucs_error!(
            "a list of {} entries for the memory of devices; one is supported",
            iov.entries().len()
        );
        return Err(Status::INVALID_PARAM);
    }
    let length = iov.total()?;
    let entry = iov.entries().first();
    Ok((
        entry.map_or(core::ptr::null_mut(), |e| e.buffer.cast()),
        length,
    ))
}

impl Iface for CudaIface {
    type Ep = CudaEp;

    fn query(face: &Face, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_PUT_SHORT
            | UCT_IFACE_FLAG_PUT_ZCOPY
            | UCT_IFACE_FLAG_GET_SHORT
            | UCT_IFACE_FLAG_GET_ZCOPY;
        attr.cap.event_flags =
            UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
        attr.cap.put.max_short = u32::MAX as usize;
        attr.cap.put.max_zcopy = usize::MAX;
        attr.cap.put.opt_zcopy_align = 1;
        attr.cap.put.align_mtu = 1;
        attr.cap.put.max_iov = 1;
        attr.cap.get.max_short = u32::MAX as usize;
        attr.cap.get.max_zcopy = usize::MAX;
        attr.cap.get.opt_zcopy_align = 1;
        attr.cap.get.align_mtu = 1;
        attr.cap.get.max_iov = 1;
        // As upstream, which sends no messages either.
        attr.cap.am.max_iov = 1;
        attr.iface_addr_len = ADDR_LEN;
        attr.bandwidth.shared = face.bandwidth;
        attr.latency = ucs_linear_func_t { c: LATENCY, m: 0.0 };
    }

    fn progress(face: &Face) -> u32 {
        face.copies.progress()
    }

    fn iface_address(face: &Face) -> Result<Vec<u8>> {
        Ok(face.address.to_le_bytes().to_vec())
    }

    fn is_reachable(
        face: &Face,
        _device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        iface.and_then(read_address) == Some(face.address)
    }

    fn ep_create(face: &Face, params: &EpParams) -> Result<CudaEp> {
        let address = params.iface.and_then(read_address);
        if address.ok_or(Status::INVALID_PARAM)? != face.address {
            ucs_diag!("{NAME}: the address is another process's; only the own memory is reachable");
            return Err(Status::UNREACHABLE);
        }
        Ok(CudaEp {
            pending: PendingGroup::new(),
        })
    }

    fn ep_closing(ep: &EpBox<Self>) {
        ep.face().copies.close(&ep.pending);
    }

    fn put_short(ep: &EpBox<Self>, from: Payload<'_>, remote: Remote) -> Result<()> {
        let to = remote.address() as *mut u8;
        // SAFETY: the user's memory.
        unsafe { (ep.face().copier).copy(to, from.as_ptr(), from.len()) }
    }

    fn get_short(ep: &EpBox<Self>, to: Room<'_>, remote: Remote) -> Result<()> {
        let from = remote.address() as *const u8;
        // SAFETY: the user's memory.
        unsafe { (ep.face().copier).copy(to.as_mut_ptr(), from, to.len()) }
    }

    fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        let (from, length) = single(&iov)?;
        let range = Range {
            to: remote.address() as *mut u8,
            from,
            length,
        };
        // SAFETY: the user keeps the buffer until the completion.
        unsafe { ep.face().post(&ep.pending, range, comp) }
    }

    fn get_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        let (to, length) = single(&iov)?;
        let range = Range {
            to,
            from: remote.address() as *const u8,
            length,
        };
        // SAFETY: the user keeps the buffer until the completion.
        unsafe { ep.face().post(&ep.pending, range, comp) }
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

impl InternalIface for CudaIface {}

/// `None` if it is too short.
fn read_address(given: GivenAddress<'_>) -> Option<u64> {
    given.bytes().map(u64::from_le_bytes)
}
