//! The `ud_verbs` interface: its queues, its attributes, its events.
#![forbid(unsafe_code)]

use super::config::Settings;
use super::conn::Owner;
use super::engine::{Dropped, Engine, Parts, Shared};
use super::ep::UdEp;
use super::receiver::{Chain, FRONT, Received, Receiver};
use super::sender::{QKEY, Sender};
use super::wire::{ConnId, EP_LEN, HEADER_LEN, IFACE_LEN, decode_iface, encode_iface};
use crate::c::*;
use crate::sys::epoll::Epoll;
use crate::sys::eventfd::EventFd;
use crate::sys::lock::{Mutex, MutexGuard};
use crate::sys::verbs::{Caps, CompletionQueue, DatagramPair};
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::config::Config;
use crate::ucs::{Events, Failure, Result, Status};
use crate::uct::api::{Completion, Iface, Pack, Posted, WaitingRequest};
use crate::uct::base::copy::{Payload, SHORT};
use crate::uct::base::desc::DescPool;
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::pending::PendingQueue;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::ib::identity;
use crate::uct::ib::md::Domain;
use crate::uct::ib::ops::MAX_SGES;
use crate::uct::ib::port::Port;
use crate::uct::ib::wire::DEVICE_LEN;
use crate::uct::internal::InternalIface;
use crate::{ucs_debug, ucs_diag};
use core::cell::{Cell, OnceCell};
use core::ffi::c_int;
use std::os::fd::RawFd;
use std::sync::Arc;

pub const NAME: &str = "ud_verbs";

pub type Face = IfaceBox<UdIface>;

/// About so many bytes are registered at a time for buffers.
const CHUNK: usize = 256 << 10;
/// How often completions are looked for at most, when an interface closes.
const MOST_POLLS: u32 = 10_000;

pub struct UdIface {
    pub shared: Arc<Shared>,
    /// Messages that wait for their handlers, other than those that a poll has in its hands.
    pub batch: Cell<Vec<Received>>,
    /// Receive buffers whose messages were handled.
    pub used: Cell<Chain>,
    /// Receive buffers, and copies of packets that are sent.
    pub buffers: DescPool,
    pub copies: DescPool,
    pub pending: PendingQueue,
    /// Polling, so that handlers that poll do not overtake.
    pub polling: Cell<bool>,
    /// The connection whose message is being handled.
    pub receiving: Cell<ConnId>,
    timer: Cell<Option<HandlerId>>,
    events: OnceCell<Epoll>,
    /// Facts that do not change.
    pub limits: MessageLimits,
    pub port: Port,
    pub settings: Settings,
    queue_pair: u32,
}

/// What fits into a datagram.
#[derive(Clone, Copy, Debug)]
pub struct MessageLimits {
    /// Bytes of a copied message.
    pub bcopy: usize,
    /// Bytes of a short message, and of one that may be of a run.
    pub short: usize,
    pub run: usize,
    /// Entries of a gather list.
    pub sges: usize,
}

impl UdIface {
    pub fn open(
        domain: &Arc<Domain>,
        port: Port,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let settings = Settings::read(config)?;
        let device_limits = &domain.limits;
        let most = |n: c_int| u32::try_from(n).unwrap_or(0);
        let receives = settings.receive_queue.min(most(device_limits.max_qp_wr));
        let room = receives + settings.send_queue;
        if room > most(device_limits.max_cqe) {
            let cause = format!(
                "a completion queue of {room} entries is more than the device has ({}): lower \
                 UCX_UD_VERBS_RX_QUEUE_LEN or UCX_UD_VERBS_TX_QUEUE_LEN",
                device_limits.max_cqe
            );
            return Err(Failure::new(Status::INVALID_PARAM, cause));
        }
        let queue = CompletionQueue::new(&domain.device, room as usize)
            .map_err(|e| cannot("completion queue", e))?;
        let wanted = Caps {
            send_queue: settings.send_queue,
            send_sges: settings.sges.min(most(device_limits.max_sge)),
            inline: settings.inline,
        };
        let pair = DatagramPair::new(&domain.device, &queue, wanted, receives)
            .map_err(|e| cannot("queue pair", e))?;
        let caps = Caps {
            send_sges: pair.caps().send_sges.min(MAX_SGES as u32),
            ..pair.caps()
        };
        if caps.inline < settings.inline || caps.send_sges < 2 {
            let cause = format!(
                "{device} has too little inline data: {} bytes, gather lists of {}",
                caps.inline, caps.send_sges
            );
            return Err(Failure::new(Status::UNSUPPORTED, cause));
        }
        let partition = port.partition_index(&domain.device, settings.path.partition)?;
        pair.start(port.number, partition, QKEY)
            .map_err(|e| cannot("queue pair", e))?;
        let mtu = 128usize << port.mtu(&port.address, &settings.path);
        let datagram = settings.segment.min(mtu);
        let short = (caps.inline as usize).min(datagram) - HEADER_LEN;
        let limits = MessageLimits {
            bcopy: datagram - HEADER_LEN,
            short,
            run: short.min(SHORT),
            sges: caps.send_sges as usize,
        };
        let register = |domain: &Arc<Domain>| {
            let domain = Arc::clone(domain);
            Box::new(move |at, len| domain.register_own(at, len))
        };
        let buffers = DescPool::registered_after(
            limits.bcopy,
            params.rx_headroom,
            FRONT,
            (params.am_alignment, params.am_align_offset),
            CHUNK,
            register(domain),
        );
        let copies = DescPool::registered(datagram, 0, (1, 0), CHUNK, register(domain));
        let queue_pair = pair.number();
        let mut engine = Engine::new(Parts {
            sender: Sender::new(pair, caps, settings.send_queue),
            queue,
            receiver: Receiver::new(datagram, settings.first_receives, receives),
            domain: Arc::clone(domain),
            port: port.clone(),
            settings: settings.clone(),
            wake: EventFd::new()?,
        });
        let mut used = Chain::default();
        let user = Some((&buffers, &mut used));
        engine.receiver.refill(&engine.sender.pair, user);
        let shared = Arc::new(Shared(Mutex::new(engine)));
        let weak = Arc::downgrade(&shared);
        let callback = Box::new(move |_, _| super::timer::tick(&weak));
        let timer = async_ctx::add_timer(Mode::ThreadMutex, settings.tick, callback, None)?;
        let tl = UdIface {
            shared,
            batch: Cell::default(),
            used: Cell::new(used),
            buffers,
            copies,
            pending: PendingQueue::new(),
            polling: Cell::new(false),
            receiving: Cell::new(ConnId::NONE),
            timer: Cell::new(Some(timer)),
            events: OnceCell::new(),
            limits,
            port,
            settings,
            queue_pair,
        };
        Ok(IfaceBox::open(NAME, device, worker, params, tl))
    }

    #[inline]
    pub fn engine(&self) -> MutexGuard<'_, Engine> {
        self.shared.0.lock()
    }

    pub fn queue_pair(&self) -> u32 {
        self.queue_pair
    }

    fn event_set(face: &Face) -> Result<&Epoll> {
        if let Some(events) = face.events.get() {
            return Ok(events);
        }
        let all = Epoll::new()?;
        let bits = Events::READ.to_epoll();
        let engine = face.engine();
        all.add(engine.queue.event_fd(), bits, 0)?;
        all.add(engine.wake.raw(), bits, 0)?;
        drop(engine);
        Ok(face.events.get_or_init(|| all))
    }

    /// Whether anything is not acknowledged; peers are asked for acknowledgements.
    fn flush_all(face: &Face) -> bool {
        let mut engine = face.engine();
        let active = engine.active.clone();
        let mut busy = false;
        for id in active {
            busy |= engine.flush(id, Completion::NONE);
        }
        busy
    }
}

fn cannot(what: &str, e: std::io::Error) -> Failure {
    Failure::of(&format!("a {what} cannot be made"), &e)
}

impl Drop for UdIface {
    fn drop(&mut self) {
        // Without its timer nobody else has the engine.
        if let Some(id) = self.timer.take()
            && let Err(e) = async_ctx::remove(id, true)
        {
            ucs_diag!("ud_verbs: the timer of an interface: {e}");
        }
        let mut engine = self.shared.0.lock();
        if engine.dropped != Dropped::default() {
            ucs_debug!("ud_verbs: received and dropped: {}", engine.dropped);
        }
        let ids = engine.conns.ids();
        if ids.is_empty() || !engine.sender.pair.is_ours() {
            return;
        }
        for id in ids {
            engine.send_close(id);
        }
        // What is posted is lost with the queue pair.
        for _ in 0..MOST_POLLS {
            if engine.sender.is_idle() {
                break;
            }
            engine.poll();
        }
    }
}

impl InternalIface for UdIface {
    const IN_DESCRIPTORS: bool = true;

    fn keep(face: &Face, address: usize, _len: usize) -> bool {
        face.buffers.has_payload(address)
    }

    fn release(face: &Face, address: usize) {
        face.buffers.take_back(address);
    }

    fn peer_identity(_face: &Face, device: &[u8], iface: &[u8]) -> Option<u64> {
        identity::of(device, decode_iface(iface.try_into().ok()?)?)
    }

    fn sender_identity(face: &Face) -> Option<u64> {
        let mut engine = face.shared.0.lock();
        match &engine.conns.get(face.receiving.get())?.owner {
            Owner::Interface(key) => identity::of(&key.device, key.queue_pair),
            Owner::Endpoint(_) => None,
        }
    }

    fn reject_sender(face: &Face) -> bool {
        let (id, mut engine) = (face.receiving.get(), face.shared.0.lock());
        let is_passive = engine.conns.get(id).is_some_and(|conn| conn.is_passive());
        if is_passive {
            engine.send_close(id);
            engine.remove(id);
        }
        is_passive
    }

    fn is_connected(face: &Face, identity: u64) -> bool {
        face.shared.0.lock().connected.has(identity)
    }
}

impl Iface for UdIface {
    type Ep = UdEp;

    fn query(face: &Face, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_CONNECT_TO_EP
            | UCT_IFACE_FLAG_AM_SHORT
            | UCT_IFACE_FLAG_AM_BCOPY
            | UCT_IFACE_FLAG_AM_ZCOPY
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_CB_SYNC
            | UCT_IFACE_FLAG_EP_CHECK
            | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE
            | UCT_IFACE_FLAG_INTER_NODE;
        attr.cap.event_flags =
            UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
        let am = &mut attr.cap.am;
        am.max_short = face.limits.short;
        am.max_bcopy = face.limits.bcopy;
        am.max_zcopy = face.limits.bcopy;
        am.max_hdr = face.limits.short;
        am.max_iov = face.limits.sges - 1;
        am.opt_zcopy_align = OPTIMAL_ALIGN;
        am.align_mtu = 128usize << face.port.mtu(&face.port.address, &face.settings.path);
        attr.device_addr_len = DEVICE_LEN;
        attr.iface_addr_len = IFACE_LEN;
        attr.ep_addr_len = EP_LEN;
        attr.max_num_eps = face.settings.max_eps;
        attr.latency = ucs_linear_func_t {
            c: face.port.latency() + EXTRA_LATENCY,
            m: 0.0,
        };
        attr.bandwidth.shared = face.port.bandwidth();
        attr.overhead = OVERHEAD;
    }

    #[inline]
    fn progress(face: &Face) -> u32 {
        UdIface::poll(face, true)
    }

    fn progress_sends(face: &Face) -> u32 {
        UdIface::poll(face, false)
    }

    fn device_address(face: &Face) -> Result<Vec<u8>> {
        Ok(face.port.address.encode().to_vec())
    }

    fn iface_address(face: &Face) -> Result<Vec<u8>> {
        Ok(encode_iface(face.queue_pair).to_vec())
    }

    fn is_reachable(
        face: &Face,
        device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        let path = &face.settings.path;
        face.port.is_reachable((device, iface), path, decode_iface)
    }

    fn ep_create(face: &Face, params: &EpParams) -> Result<UdEp> {
        UdEp::create(face, params)
    }

    fn ep_created(ep: &EpBox<Self>) {
        ep.face().engine().attach(ep.id, Some(ep.link()));
    }

    fn ep_closing(ep: &EpBox<Self>) {
        UdEp::closing(ep);
    }

    fn ep_address(ep: &EpBox<Self>) -> Result<Vec<u8>> {
        Ok(UdEp::address(ep)?.encode().to_vec())
    }

    fn connect_to_ep(
        ep: &EpBox<Self>,
        device: Option<GivenAddress<'_>>,
        addr: GivenAddress<'_>,
    ) -> Result<()> {
        UdEp::connect(ep, device, addr)
    }

    #[inline(always)]
    fn am_short(ep: &EpBox<Self>, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        UdEp::am_short(ep, id, header, payload)
    }

    fn am_short_iov(ep: &EpBox<Self>, id: u8, iov: Iov<'_>) -> Result<()> {
        UdEp::am_short_iov(ep, id, iov)
    }

    #[inline(always)]
    fn am_bcopy(ep: &EpBox<Self>, id: u8, pack: Pack, _flags: u32) -> Result<usize> {
        UdEp::am_bcopy(ep, id, pack)
    }

    fn am_zcopy(
        ep: &EpBox<Self>,
        id: u8,
        header: &[u8],
        iov: Iov<'_>,
        _flags: u32,
        comp: Completion,
    ) -> Result<Posted> {
        UdEp::am_zcopy(ep, id, header, iov, comp)
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        UdEp::pending_add(ep, req)
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        ep.pending.purge(each);
    }

    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        UdEp::flush(ep, flags, comp)
    }

    fn check(ep: &EpBox<Self>, _flags: u32, comp: Completion) -> Result<Posted> {
        UdEp::check(ep, comp)
    }

    fn iface_flush(face: &Face, _flags: u32, comp: Completion) -> Result<Posted> {
        if !comp.is_none() {
            return Err(Status::UNSUPPORTED);
        }
        Ok(match UdIface::flush_all(face) {
            true => Posted::InProgress,
            false => Posted::Done,
        })
    }

    fn event_fd(face: &Face) -> Result<RawFd> {
        UdIface::event_set(face).map(Epoll::raw)
    }

    /// Asks for an event, then looks once more: what came in between is handled by the next progress.
    fn event_arm(face: &Face, _events: c_int) -> Result<()> {
        let mut engine = face.engine();
        let came = engine.queue.take_events();
        let waits = |engine: &Engine| {
            engine.woken
                || !engine.ready.is_empty()
                || !engine.failed.is_empty()
                || !engine.arrived.is_empty()
                || !engine.sender.done.is_empty()
        };
        let batch = face.batch.take();
        let paused = !batch.is_empty();
        face.batch.set(batch);
        if came || waits(&engine) || face.polling.get() || paused {
            return Err(Status::BUSY);
        }
        engine.queue.request_event()?;
        match engine.poll() {
            0 => Ok(()),
            _ => Err(Status::BUSY),
        }
    }
}

const OPTIMAL_ALIGN: usize = 512;
/// Seconds that the processor needs to post a request, and that acknowledgements add, as UCX states them for this
/// transport; used to choose between transports, so only ratios matter.
const OVERHEAD: f64 = 105e-9;
const EXTRA_LATENCY: f64 = 30e-9;
