//! The `self` interface: its attributes, its address, and how a sent message is handled at once.

use super::config;
use super::ep::SelfEp;
use crate::c::*;
use crate::sys::random::random_u64;
use crate::ucs::config::{Config, var};
use crate::ucs::status::code_of;
use crate::ucs::{Failure, Result, Status};
use crate::uct::api::{
    AtomicOp, AtomicWord, Completion, Iface, OldValue, Pack, Posted, Remote, Unpack,
};
use crate::uct::base::copy::{Payload, copy};
use crate::uct::base::desc::DescPool;
use crate::uct::base::iface::{EpBox, IfaceBase, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::load_store;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::InternalIface;
use core::ffi::c_int;
use core::hint::black_box;
use once_cell::race::OnceBox;
use std::time::Instant;

pub const NAME: &str = "self";

/// Bytes of an interface address.
pub const ADDR_LEN: usize = 8;

/// Largest active message, whatever `UCX_SELF_SEG_SIZE` says: each descriptor has so many bytes.
const MAX_SEG: usize = 1 << 30;

pub struct SelfIface {
    /// Tells this interface from every other anywhere. Random: process ids repeat in containers, and a
    /// process may have loaded this library twice.
    pub address: u64,
    pub seg_size: usize,
    descs: DescPool,
}

impl SelfIface {
    pub fn open(
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let seg_size = config.memunits(var!(config::IFACE, "SEG_SIZE"));
        if seg_size > MAX_SEG || seg_size < size_of::<u64>() {
            return Err(Failure::new(
                Status::INVALID_PARAM,
                "UCX_SELF_SEG_SIZE must be between 8 bytes and 1 GiB",
            ));
        }
        let tl = SelfIface {
            address: random_u64()?,
            seg_size,
            descs: IfaceBase::desc_pool(&params, seg_size),
        };
        Ok(IfaceBox::open(NAME, device, worker, params, tl))
    }

    /// A short message to a handler that may keep it.
    #[inline(never)]
    fn am_short_kept(
        ep: &EpBox<SelfIface>,
        id: u8,
        header: u64,
        payload: Payload<'_>,
    ) -> ucs_status_t {
        code_of(&ep.am_short(ep.face(), id, header, payload))
    }

    /// Fills a descriptor by `fill`, which returns the length, and calls the handler with it.
    #[inline(always)]
    pub fn deliver(
        face: &IfaceBox<SelfIface>,
        id: u8,
        fill: impl FnOnce(*mut u8) -> usize,
    ) -> usize {
        let desc = face.descs.get();
        let at = desc.payload();
        let len = fill(at);
        // SAFETY: the descriptor holds `len` bytes.
        let kept = unsafe { (face.base.am).invoke(id, at, len, UCT_CB_PARAM_FLAG_DESC) };
        if kept == UCS_INPROGRESS {
            desc.keep();
        }
        len
    }
}

impl Iface for SelfIface {
    type Ep = SelfEp;
    const FETCHES_AT_ONCE: bool = true;
    /// Messages are delivered when the call returns.
    const POLLS: bool = false;

    fn query(face: &IfaceBox<Self>, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_AM_SHORT
            | UCT_IFACE_FLAG_AM_BCOPY
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_CB_SYNC
            | UCT_IFACE_FLAG_EP_CHECK;
        attr.cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV;
        load_store::describe(attr);
        attr.cap.am.max_short = face.seg_size;
        attr.cap.am.max_bcopy = face.seg_size;
        attr.cap.am.max_iov = MAX_SHORT_IOV;
        attr.iface_addr_len = ADDR_LEN;
        attr.latency = ucs_linear_func_t { c: 0.0, m: 0.0 };
        attr.bandwidth.dedicated = copy_bandwidth();
        attr.overhead = SELF_OVERHEAD;
    }

    fn iface_address(face: &IfaceBox<Self>) -> Result<Vec<u8>> {
        Ok(face.address.to_le_bytes().to_vec())
    }

    fn is_reachable(
        face: &IfaceBox<Self>,
        _device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        iface.and_then(read_address) == Some(face.address)
    }

    fn ep_create(face: &IfaceBox<Self>, params: &EpParams) -> Result<SelfEp> {
        SelfEp::create(face, params)
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

    #[inline]
    fn put_short(_ep: &EpBox<Self>, from: Payload<'_>, remote: Remote) -> Result<()> {
        // SAFETY: both buffers are the user's, in this process; they may overlap.
        unsafe { copy(from.as_ptr(), remote.address() as *mut u8, from.len()) };
        Ok(())
    }

    fn put_bcopy(_ep: &EpBox<Self>, pack: Pack, remote: Remote) -> Result<usize> {
        // SAFETY: the user packs straight into its own memory.
        Ok(unsafe { pack.pack_into(remote.address() as *mut u8) })
    }

    fn get_bcopy(
        _ep: &EpBox<Self>,
        unpack: Unpack,
        len: usize,
        remote: Remote,
        _comp: Completion,
    ) -> Result<Posted> {
        // SAFETY: the user unpacks straight from its own memory.
        unsafe { unpack.unpack_from(remote.address() as *const u8, len) };
        Ok(Posted::Done)
    }

    #[inline]
    fn atomic_post<W: AtomicWord>(
        _ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        remote: Remote,
    ) -> Result<()> {
        let at = word_at::<W>(remote.address())?;
        // SAFETY: the user's memory, aligned as checked.
        unsafe { W::fetch(at, op, value) };
        Ok(())
    }

    #[inline(always)]
    fn atomic_fetch<W: AtomicWord>(
        _ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        old: OldValue<W>,
        remote: Remote,
        _comp: Completion,
    ) -> Result<Posted> {
        let at = word_at::<W>(remote.address())?;
        // SAFETY: the user's memory, aligned as checked.
        old.put(unsafe { W::fetch(at, op, value) });
        Ok(Posted::Done)
    }

    #[inline]
    fn atomic_cswap<W: AtomicWord>(
        _ep: &EpBox<Self>,
        compare: W,
        swap: W,
        old: OldValue<W>,
        remote: Remote,
        _comp: Completion,
    ) -> Result<Posted> {
        let at = word_at::<W>(remote.address())?;
        // SAFETY: the user's memory, aligned as checked.
        old.put(unsafe { W::cswap(at, compare, swap) });
        Ok(Posted::Done)
    }

    fn check(_ep: &EpBox<Self>, _flags: u32, _comp: Completion) -> Result<Posted> {
        Ok(Posted::Done)
    }

    /// Always armed: every event has happened before the call that caused it returned.
    fn event_arm(_face: &IfaceBox<Self>, _events: c_int) -> Result<()> {
        Ok(())
    }
}

impl InternalIface for SelfIface {
    /// Passed in place if the handler only reads it.
    #[inline(always)]
    fn am_short_inside(
        ep: &EpBox<Self>,
        id: u8,
        header: u64,
        payload: Payload<'_>,
    ) -> ucs_status_t {
        let Some((handler, arg)) = ep.face().base.am.short(id, payload.len()) else {
            return SelfIface::am_short_kept(ep, id, header, payload);
        };
        // SAFETY: the handler with its argument, as set.
        unsafe { handler(arg, header, payload) };
        UCS_OK
    }
}

/// Most entries of a short gather list.
pub const MAX_SHORT_IOV: usize = 16;

/// Seconds that a send of eight bytes takes besides the copy: as measured, on the machine of
/// docs/results/PERFORMANCE.md.
const SELF_OVERHEAD: f64 = 10e-9;

/// Bytes a second of a copy within a core's caches, measured at first use.
fn copy_bandwidth() -> f64 {
    /// Fits the first two caches of current processors, source and destination together.
    const LEN: usize = 16 << 10;
    const LINE: usize = 64;
    const ROUNDS: usize = 4;
    static MEASURED: OnceBox<f64> = OnceBox::new();
    *MEASURED.get_or_init(|| {
        // Whole lines, and a multiple of pages apart: two buffers of the allocator often stand so that the copy takes twice as long.
        let mut both = vec![1u8; 2 * LEN + LINE];
        let start = both.as_ptr().align_offset(LINE);
        let (from, to) = both[start..][..2 * LEN].split_at_mut(LEN);
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            to.copy_from_slice(black_box(from));
            black_box(&mut *to);
            best = best.min(start.elapsed().as_secs_f64());
        }
        // A clock too coarse for one copy must not make it infinitely fast.
        Box::new(LEN as f64 / best.max(1e-8))
    })
}

/// A remote address as a word of this process.
fn word_at<W>(remote: u64) -> Result<*mut W> {
    let at = remote as *mut W;
    if at.is_null() || !at.is_aligned() {
        return Err(Status::INVALID_ADDR);
    }
    Ok(at)
}

/// An interface address as it was packed; `None` if it is too short.
pub fn read_address(given: GivenAddress<'_>) -> Option<u64> {
    given.bytes().map(u64::from_le_bytes)
}
