//! What C and UCP call on an interface of `tcp`.
#![forbid(unsafe_code)]

use super::conn::Phase;
use super::ep::TcpEp;
use super::iface::{Face, TcpIface};
use super::upstream::{self, frames};
use super::wire::{IFACE_ADDR_LEN, IfaceAddr, PUT_LEN};
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::{Completion, Iface, Pack, Posted, Remote, WaitingRequest};
use crate::uct::base::copy::Payload;
use crate::uct::base::iface::EpBox;
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress};
use crate::uct::internal::{InternalIface, UpstreamLanes, UpstreamWay};
use crate::wire::upstream::address::{Entry, Offer};
use core::ffi::c_int;
use std::os::fd::RawFd;

/// Seconds of processor time that a send costs: a system call through the network stack.
const OVERHEAD: f64 = 2e-6;

impl Iface for TcpIface {
    type Ep = TcpEp;

    fn query(face: &Face, attr: &mut uct_iface_attr) {
        let s = &face.settings;
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_CONNECT_TO_EP
            | UCT_IFACE_FLAG_AM_SHORT
            | UCT_IFACE_FLAG_AM_BCOPY
            | UCT_IFACE_FLAG_AM_ZCOPY
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_CB_SYNC
            | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE
            | UCT_IFACE_FLAG_EP_CHECK
            | UCT_IFACE_FLAG_EP_KEEPALIVE
            | UCT_IFACE_FLAG_INTER_NODE;
        attr.cap.event_flags =
            UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
        attr.cap.am.max_short = s.max_copy;
        attr.cap.am.max_bcopy = s.max_copy;
        attr.cap.am.max_zcopy = s.max_zcopy;
        attr.cap.am.opt_zcopy_align = 1;
        attr.cap.am.max_hdr = max_header(face);
        attr.cap.am.max_iov = s.max_iov;
        if s.put {
            attr.cap.flags |= UCT_IFACE_FLAG_PUT_ZCOPY;
            attr.cap.put.max_zcopy = usize::MAX - PUT_LEN;
            attr.cap.put.opt_zcopy_align = 1;
            attr.cap.put.max_iov = s.max_iov;
        }
        attr.device_addr_len = face.device_addr().encode().1;
        attr.iface_addr_len = IFACE_ADDR_LEN;
        attr.ep_addr_len = IFACE_ADDR_LEN;
        attr.latency = ucs_linear_func_t {
            c: face.estimate.latency,
            m: 0.0,
        };
        attr.bandwidth.shared = face.estimate.bandwidth;
        attr.overhead = OVERHEAD;
        attr.priority = face.priority;
        attr.max_num_eps = s.max_eps;
    }

    #[inline]
    fn progress(face: &Face) -> u32 {
        super::poll::progress::<true>(face)
    }

    fn progress_sends(face: &Face) -> u32 {
        super::poll::progress::<false>(face)
    }

    fn device_address(face: &Face) -> Result<Vec<u8>> {
        let (bytes, len) = face.device_addr().encode();
        Ok(bytes[..len].to_vec())
    }

    fn iface_address(face: &Face) -> Result<Vec<u8>> {
        Ok(face.iface_addr().encode().to_vec())
    }

    fn is_reachable(
        face: &Face,
        device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        let device = super::ep::read_device(device);
        let iface = iface.is_none() || super::ep::read_iface(iface).is_ok();
        iface && device.is_ok_and(|d| face.reaches(&d))
    }

    fn ep_create(face: &Face, params: &EpParams) -> Result<TcpEp> {
        TcpEp::create(face, params)
    }

    fn ep_created(ep: &EpBox<Self>) {
        TcpEp::created(ep);
    }

    fn ep_closing(ep: &EpBox<Self>) {
        TcpEp::closing(ep);
    }

    fn closing(face: &Face) {
        super::link::close_all(face);
    }

    fn ep_address(ep: &EpBox<Self>) -> Result<Vec<u8>> {
        Self::iface_address(ep.face())
    }

    fn connect_to_ep(
        ep: &EpBox<Self>,
        device: Option<GivenAddress<'_>>,
        addr: GivenAddress<'_>,
    ) -> Result<()> {
        TcpEp::connect(ep, device, addr)
    }

    #[inline(always)]
    fn am_short(ep: &EpBox<Self>, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        ep.am_short(ep.face(), id, header, payload)
    }

    fn am_short_iov(ep: &EpBox<Self>, id: u8, iov: Iov<'_>) -> Result<()> {
        ep.am_short_iov(ep.face(), id, iov)
    }

    #[inline(always)]
    fn am_bcopy(ep: &EpBox<Self>, id: u8, pack: Pack, _flags: u32) -> Result<usize> {
        ep.am_bcopy(ep.face(), id, pack)
    }

    fn am_zcopy(
        ep: &EpBox<Self>,
        id: u8,
        header: &[u8],
        iov: Iov<'_>,
        _flags: u32,
        comp: Completion,
    ) -> Result<Posted> {
        TcpEp::am_zcopy(ep, id, header, iov, comp)
    }

    fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        TcpEp::put_zcopy(ep, iov, remote, None, comp)
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        ep.pending_add(ep.face(), req)
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        ep.pending_purge(each);
    }

    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        TcpEp::flush(ep, flags, comp)
    }

    /// One stream keeps the order of everything on it.
    fn fence(ep: &EpBox<Self>, _flags: u32) -> Result<()> {
        ep.status()
    }

    fn check(ep: &EpBox<Self>, _flags: u32, _comp: Completion) -> Result<Posted> {
        ep.check(ep.face())
    }

    fn iface_flush(face: &Face, _flags: u32, comp: Completion) -> Result<Posted> {
        if !comp.is_none() {
            return Err(Status::UNSUPPORTED);
        }
        let conns: Vec<_> = face.by_peer.borrow().values().cloned().collect();
        let mut all = Posted::Done;
        for conn in conns {
            if matches!(conn.phase.get(), Phase::Broken(_)) {
                continue;
            }
            let one = conn.post_flush(face, false, core::ptr::null(), Completion::NONE);
            if one == Ok(Posted::InProgress) {
                all = Posted::InProgress;
            }
        }
        Ok(all)
    }

    /// Sends gathered frames, and the next frames at once: a peer mostly waits for the frame after a fence.
    fn iface_fence(face: &Face, _flags: u32) -> Result<()> {
        for conn in face.take_dirty() {
            conn.flush(face);
        }
        for conn in face.by_peer.borrow().values() {
            conn.expect_urgent_frames();
        }
        Ok(())
    }

    fn event_fd(face: &Face) -> Result<RawFd> {
        let set = face.events.set();
        Ok(set.inspect_err(|e| ucs_error!("tcp: epoll: {e}"))?.raw())
    }

    fn event_arm(face: &Face, _events: c_int) -> Result<()> {
        super::poll::arm(face)
    }
}

impl InternalIface for TcpIface {
    fn event_came(face: &Face) {
        super::poll::event_came(face);
    }

    fn arm_watched(face: &Face, _events: c_int) -> Result<()> {
        super::poll::arm_watched(face)
    }

    fn put_notify(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        id: u8,
        told: &[u8],
        comp: Completion,
    ) -> Result<Posted> {
        TcpEp::put_zcopy(ep, iov, remote, Some((id, told)), comp)
    }

    fn peer_identity(_face: &Face, _device: &[u8], iface: &[u8]) -> Option<u64> {
        let peer = iface.first_chunk().and_then(IfaceAddr::decode)?;
        Some(peer.id)
    }

    fn sender_identity(face: &Face) -> Option<u64> {
        face.receiving.get().then(|| face.sender.get())
    }

    fn is_connected(face: &Face, identity: u64) -> bool {
        let peers = face.by_peer.borrow();
        peers.get(&identity).is_some_and(|conn| conn.is_open())
    }

    fn reject_sender(face: &Face) -> bool {
        let conn = Self::sender_identity(face)
            .and_then(|sender| face.by_peer.borrow().get(&sender).cloned());
        let Some(conn) = conn.filter(|conn| conn.is_open()) else {
            return false;
        };
        super::link::abort(face, &conn, Status::EXCEEDS_LIMIT);
        true
    }

    fn replies_queued(ep: &EpBox<Self>, change: isize) -> bool {
        ep.replies_queued(ep.face(), change)
    }

    fn upstream_offer(face: &Face) -> Option<Offer> {
        offer(face).filter(|_| upstream::link::is_welcome(face))
    }

    fn upstream_reject(face: &Face, connection: u64) {
        upstream::link::reject(face, connection);
    }

    fn upstream_acknowledge_flushes(face: &Face) {
        upstream::link::acknowledge_flushes(face);
    }

    fn upstream_reach(face: &Face, entry: &Entry<'_>) -> Option<UpstreamWay> {
        let is_tcp = entry.transport == frames::TRANSPORT;
        upstream::link::reach(face, entry.device, entry.iface, entry.latency).filter(|_| is_tcp)
    }

    fn upstream_connect(face: &Face, entry: &Entry<'_>) -> Result<uct_ep_h> {
        let conn = upstream::link::connect(face, entry.device, entry.iface)?;
        EpBox::create_unconnected(face, |ep| TcpEp::join(ep, conn)).map(|(ep, ())| ep)
    }

    fn upstream_lanes(face: &Face) -> Option<&dyn UpstreamLanes> {
        upstream::link::is_welcome(face).then_some(face)
    }

    fn upstream_send(ep: &EpBox<Self>, id: u8, pack: Pack) -> Result<usize> {
        ep.upstream_send(ep.face(), id, pack)
    }
}

/// What upstream is told of the interface.
pub fn offer(face: &TcpIface) -> Option<Offer> {
    Some(Offer {
        transport: frames::TRANSPORT,
        device: upstream::link::device(face)?,
        iface: frames::iface(face.port),
        overhead: OVERHEAD as f32,
        bandwidth: face.estimate.bandwidth as f32,
        latency: face.estimate.latency as f32,
        flags: frames::ABILITIES,
    })
}

/// The longest user header of a zero-copy message: it is copied, so it shares the bound of copied
/// messages.
pub fn max_header(face: &TcpIface) -> usize {
    face.settings.max_copy.saturating_sub(MAX_HEADER_SLACK)
}

/// Room of a copied message beyond the longest header.
const MAX_HEADER_SLACK: usize = 155;
