//! The `rc_verbs` interface: its queues, its connections, its attributes.
#![forbid(unsafe_code)]

use super::chain::{Chain, DATA};
use super::conn::{Conn, Depth, State};
use super::connector::Connector;
use super::credits::{Credits, Limits};
use super::datagrams;
use super::ep::RcEp;
use super::own::{self, OwnReceives};
use super::poll::BATCH;
use super::rx::Rx;
use super::wire::{IFACE_LEN, decode_iface};
use super::work::{WithCopy, WorkPool};
use crate::c::verbs::*;
use crate::c::*;
use crate::sys::epoll::Epoll;
use crate::sys::eventfd::EventFd;
use crate::sys::random::random_bytes;
use crate::sys::verbs::{Caps, CompletionQueue, Completions, QueuePair, ReceiveQueue, Receives};
use crate::ucs::config::{AUTO, Config};
use crate::ucs::keyed_hash::HashKey;
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::{Events, Failure, Result, Status};
use crate::ucs_error;
use crate::uct::api::{
    AtomicOp, AtomicWord, Completion, Iface, OldValue, Pack, Posted, Remote, Unpack, WaitingRequest,
};
use crate::uct::base::copy::Payload;
use crate::uct::base::desc::DescPool;
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::pending::PendingQueue;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::ib::config::Settings;
use crate::uct::ib::events::{Faults, Parts};
use crate::uct::ib::identity;
use crate::uct::ib::md::Domain;
use crate::uct::ib::ops::{MAX_SGES, Request};
use crate::uct::ib::port::Port;
use crate::uct::ib::wire::{DEVICE_LEN, DeviceAddr, EP_LEN, HEADER_LEN};
use crate::uct::internal::{EpochGuard, InternalIface};
use core::cell::{Cell, OnceCell, RefCell};
use core::ffi::c_int;
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;

pub const NAME: &str = "rc_verbs";

pub type Face = IfaceBox<RcIface>;

/// About so many bytes are registered at a time for buffers.
const CHUNK: usize = 256 << 10;
/// Room before the payload of a copied message for its header, so that the payload is aligned.
pub const COPY_OFFSET: usize = 8;

pub struct RcIface {
    /// Short requests. Queue pairs go after it, and before the queues and the buffers.
    pub(super) chain: Chain,
    /// Of all other requests.
    pub(super) request: Request,
    pub(super) connector: OnceCell<Connector>,
    pub(super) conns: RefCell<Vec<Slot>>,
    free_slots: RefCell<Vec<u32>>,
    pub(super) by_pair: RefCell<HashMap<u32, Rc<Conn>, HashKey>>,
    pub queue: Rc<CompletionQueue>,
    /// The receive queue of all queue pairs; `None`: each has its own.
    shared: Option<Rc<Receives>>,
    pub rx: Rx,
    /// What has to be done as requests are complete, with the buffers of copied sends and of what is read.
    pub(super) works: WorkPool,
    /// Where words come to that nobody asked for, and its key.
    scrap: OnceCell<(*const u8, u32)>,
    pub domain: Arc<Domain>,
    pub port: Port,
    pub settings: Settings,
    /// What each queue pair of the device gets.
    pub caps: Caps,
    /// Most bytes of a short message.
    pub max_short: usize,
    /// Most bytes of a request that may be chained.
    pub max_chained: usize,
    reads: u8,
    pub(super) partition: u16,
    window: Option<Limits>,
    /// How many requests of all endpoints together may still be posted. Below 0: requests that end transfers are always
    /// posted.
    pub sends_left: Cell<i32>,
    /// With no more than so many left every request asks for a completion.
    pub sends_reserve: i32,
    pub pending: PendingQueue,
    /// Completions that were taken off and are not handled yet.
    pub(super) held: RefCell<VecDeque<ibv_wc>>,
    /// Connections that owe a grant and could not send it.
    pub(super) grants: RefCell<VecDeque<Rc<Conn>>>,
    /// The receive buffers of each queue pair, where none are shared, and connections with such, some of which could not be had.
    pub(super) own: RefCell<HashMap<u32, Rc<OwnReceives>>>,
    pub(super) starved: RefCell<Vec<Rc<Conn>>>,
    /// The connection whose request was last seen to be complete, or null.
    pub(super) last_sender: Cell<*const Conn>,
    /// The next poll has to look for what no completion tells of.
    pub(super) attention: Arc<AtomicBool>,
    /// What has failed, as the device's events tell.
    pub(super) faults: Arc<Faults>,
    /// The completion of the message that is being handled, or null.
    pub(super) receiving: Cell<*const ibv_wc>,
    /// The failure of the device was told.
    pub(super) failure_told: Cell<bool>,
    events: OnceCell<Epoll>,
}

/// No queue pair of ours: 0 is the subnet manager's.
pub(super) const NO_PAIR: u32 = 0;

/// A place for a connection; the generation tells it from others that were there before.
pub(super) struct Slot {
    pub(super) generation: u32,
    pub(super) conn: Option<Rc<Conn>>,
}

// The id of a request that is sent: from bit 0 on a 1, the slot of its connection with the generation, and whether it has
// no number, which then is 0. The number stands above: it counts on and wraps.
pub(super) const SLOT_SHIFT: u32 = 1;
pub(super) const SLOT_BITS: u32 = 22;
pub(super) const GENERATION_SHIFT: u32 = SLOT_SHIFT + SLOT_BITS;
const GENERATION_BITS: u32 = 24;
pub(super) const GENERATIONS: u32 = 1 << GENERATION_BITS;
/// Of a request that waited with others.
pub(super) const UNNUMBERED: u64 = 1 << (GENERATION_SHIFT + GENERATION_BITS);
pub(super) const NUMBER_SHIFT: u32 = 48;
const _: () = assert!(UNNUMBERED < NEXT_ID);
/// The ids of two requests of a connection, one after the other, differ by so much.
pub(super) const NEXT_ID: u64 = 1 << NUMBER_SHIFT;
/// What the ids of all requests of a connection have in common.
pub(super) const TAG: u64 = UNNUMBERED - 1;

impl RcIface {
    pub fn open(
        domain: &Arc<Domain>,
        port: Port,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let settings = Settings::read(config)?;
        let limits = &domain.limits;
        let most = |n: c_int| u32::try_from(n).unwrap_or(0);
        let is_shared = limits.max_srq > 0;
        let receive_queue = match is_shared {
            true => settings.receive_queue.min(most(limits.max_srq_wr)),
            // Endpoints, and as many connections that peers have made.
            false => {
                let conns = u32::try_from(settings.max_eps).unwrap_or(u32::MAX);
                let rest = most(limits.max_cqe)
                    .saturating_sub(2 * settings.sends + datagrams::COMPLETIONS);
                conns.saturating_mul(2 * own::BUFFERS).min(rest)
            }
        };
        // Requests of endpoints that were closed may still have completions: twice the number has room.
        let room = receive_queue + 2 * settings.sends + datagrams::COMPLETIONS;
        if room > most(limits.max_cqe) {
            let cause = format!(
                "a completion queue of {room} entries is more than the device has ({}): lower \
                 UCX_RC_VERBS_RX_QUEUE_LEN or UCX_RC_VERBS_TX_CQ_LEN",
                limits.max_cqe
            );
            return Err(Failure::new(Status::INVALID_PARAM, cause));
        }
        let queue = CompletionQueue::new(&domain.device, room as usize)
            .map_err(|e| cannot("completion queue", e))?;
        let receive = match is_shared {
            true => Some(
                ReceiveQueue::new(&domain.device, receive_queue)
                    .map_err(|e| cannot("shared receive queue", e))?,
            ),
            false => None,
        };
        let wanted = Caps {
            // One more, for the end of all transfers.
            send_queue: settings.send_queue + 1,
            send_sges: settings.sges.min(most(limits.max_sge)),
            inline: settings.inline,
        };
        // What the device gives is known only from a queue pair.
        let shared = receive
            .clone()
            .map(|queue| Rc::new(Receives::Shared(queue)));
        let own = || Rc::new(Receives::Own(1, None));
        let receives = shared.clone().unwrap_or_else(own);
        let probe = QueuePair::new(&domain.device, &queue, &receives, wanted)
            .map_err(|e| cannot("queue pair", e))?;
        let caps = Caps {
            send_sges: probe.caps().send_sges.min(MAX_SGES as u32),
            ..probe.caps()
        };
        drop(probe);
        let minimum = HEADER_LEN + size_of::<u64>();
        if (caps.inline as usize) < minimum || caps.send_sges < 2 {
            let cause = format!(
                "{device} has too little inline data: {} bytes, gather lists of {}",
                caps.inline, caps.send_sges
            );
            return Err(Failure::new(Status::UNSUPPORTED, cause));
        }
        let register = |domain: &Arc<Domain>| {
            let domain = Arc::clone(domain);
            Box::new(move |at, len| domain.register_own(at, len))
        };
        let buffers = DescPool::registered(
            settings.segment,
            params.rx_headroom,
            (params.am_alignment, params.am_align_offset),
            CHUNK,
            register(domain),
        );
        let copies = DescPool::registered(
            WorkPool::LEAD + settings.segment + COPY_OFFSET,
            0,
            (1, 0),
            CHUNK,
            register(domain),
        );
        let device_reads = limits.max_qp_rd_atom.clamp(0, 255) as u8;
        let attention = Arc::<AtomicBool>::default();
        let parts = Parts {
            port: port.number,
            completions: queue.id(),
            receives: receive.as_ref().map(|queue| queue.id()),
        };
        let faults = domain.watch.listen(parts, &attention);
        let tl = RcIface {
            chain: Chain::new(settings.batch as usize, Arc::clone(&attention)),
            request: Request::new(),
            connector: OnceCell::new(),
            conns: RefCell::new(Vec::new()),
            free_slots: RefCell::new(Vec::new()),
            by_pair: RefCell::default(),
            shared,
            rx: Rx::new(receive, buffers, settings.segment, receive_queue),
            queue,
            works: WorkPool::new(copies),
            scrap: OnceCell::new(),
            partition: port.partition_index(&domain.device, settings.path.partition)?,
            domain: Arc::clone(domain),
            port,
            caps,
            max_chained: (caps.inline as usize).min(settings.segment).min(DATA),
            max_short: (caps.inline as usize).min(settings.segment) - HEADER_LEN,
            reads: settings.reads.map_or(device_reads, |n| n.min(device_reads)),
            window: settings.window.map(|window| {
                let most = if is_shared { u32::MAX } else { own::WINDOW };
                Limits::new(window.min(most), settings.soft, settings.hard)
            }),
            own: RefCell::default(),
            starved: RefCell::default(),
            sends_left: Cell::new(settings.sends as i32),
            sends_reserve: settings.sends as i32 / 4,
            settings,
            pending: PendingQueue::new(),
            held: RefCell::new(VecDeque::new()),
            grants: RefCell::new(VecDeque::new()),
            last_sender: Cell::new(core::ptr::null()),
            attention,
            faults,
            receiving: Cell::new(core::ptr::null()),
            failure_told: Cell::new(false),
            events: OnceCell::new(),
        };
        Ok(IfaceBox::open(NAME, device, worker, params, tl))
    }

    /// Most bytes of a message: its segment without the header.
    pub fn max_bcopy(&self) -> usize {
        self.settings.segment - HEADER_LEN
    }

    pub fn max_get(&self) -> usize {
        match self.settings.max_get {
            AUTO => self.port.max_message,
            bytes => bytes.min(self.port.max_message),
        }
    }

    /// Reads and atomics under way that a queue pair asks and answers.
    pub fn reads(&self) -> u8 {
        self.reads
    }

    /// The port's address.
    pub fn device_addr(&self) -> DeviceAddr {
        self.port.address
    }

    /// The connection queue pair, which is made when it is first needed.
    pub fn connector(face: &Face) -> Result<&Connector> {
        if let Some(connector) = face.connector.get() {
            return Ok(connector);
        }
        let connector = Connector::new(face)?;
        if let Some(events) = face.events.get() {
            events.add(connector.wake_fd(), Events::READ.to_epoll(), 0)?;
        }
        Ok(face.connector.get_or_init(|| connector))
    }

    /// A queue pair, ready to be connected.
    pub fn new_conn(&self, is_passive: bool) -> Result<Rc<Conn>> {
        match self.shared {
            Some(_) => self.rx.start(),
            None => self.check_room(is_passive)?,
        }
        let wanted = if is_passive {
            PASSIVE
        } else {
            Caps {
                send_queue: self.settings.send_queue,
                ..self.caps
            }
        };
        // One more, for the end of all transfers.
        let with_end = Caps {
            send_queue: wanted.send_queue + 1,
            ..wanted
        };
        let (receives, own) = match &self.shared {
            Some(shared) => (Rc::clone(shared), None),
            None => {
                let own = Rc::new(OwnReceives::new());
                let kept = Some(Rc::clone(&own) as _);
                (Rc::new(Receives::Own(own::BUFFERS, kept)), Some(own))
            }
        };
        let pair = QueuePair::new(&self.domain.device, &self.queue, &receives, with_end);
        let failed = |e| {
            let why = cannot("queue pair", e);
            ucs_error!("rc_verbs: {}: {why}", self.domain.name);
            why.status
        };
        let pair = pair.map_err(failed)?;
        pair.initialize(self.port.number, self.partition)
            .map_err(failed)?;
        let [a, b, c] = random_bytes::<3>()?;
        let psn = u32::from_le_bytes([a, b, c, 0]);
        let slot = self.free_slots.borrow_mut().pop();
        let mut conns = self.conns.borrow_mut();
        let slot = slot.unwrap_or_else(|| {
            conns.push(Slot {
                generation: 0,
                conn: None,
            });
            conns.len() as u32 - 1
        });
        if slot >= datagrams::NO_SLOT {
            ucs_error!(
                "rc_verbs: an interface has at most {} endpoints",
                datagrams::NO_SLOT
            );
            return Err(Status::EXCEEDS_LIMIT);
        }
        let place = &mut conns[slot as usize];
        place.generation = (place.generation + 1) % GENERATIONS;
        let tag =
            1 | u64::from(slot) << SLOT_SHIFT | u64::from(place.generation) << GENERATION_SHIFT;
        let depth = Depth {
            queue: wanted.send_queue as u16,
            moderation: self.settings.moderation.min(wanted.send_queue / 2) as u16,
        };
        let credits = Credits::new(self.window);
        let conn = Rc::new(Conn::new(pair, (psn, tag), depth, credits, is_passive));
        if let Some(own) = own {
            self.start_own(&conn, own)?;
        }
        place.conn = Some(Rc::clone(&conn));
        self.by_pair
            .borrow_mut()
            .insert(conn.pair.number(), Rc::clone(&conn));
        Ok(conn)
    }

    /// Whether the completion queue has room for the receives of one more connection, each of which has its own. Peers get
    /// no more than half of it.
    fn check_room(&self, is_passive: bool) -> Result<()> {
        let conns = self.by_pair.borrow().len();
        let share = if is_passive { 2 } else { 1 };
        if (conns + 1) * share * own::BUFFERS as usize <= self.rx.limit() as usize {
            return Ok(());
        }
        ucs_error!(
            "rc_verbs: {}: the device has no shared receive queues, and the completion queue room for {conns} connections: \
             UCX_RC_VERBS_MAX_NUM_EPS may be raised, as far as the device has entries ({})",
            self.domain.name,
            self.domain.limits.max_cqe
        );
        Err(Status::EXCEEDS_LIMIT)
    }

    /// This connection goes.
    pub fn forget(face: &Face, conn: &Rc<Conn>) {
        let is_it = |other: &Rc<Conn>| Rc::ptr_eq(other, conn);
        face.by_pair.borrow_mut().remove(&conn.pair.number());
        face.faults.forget(conn.pair.number());
        face.grants.borrow_mut().retain(|other| !is_it(other));
        face.starved.borrow_mut().retain(|other| !is_it(other));
        face.own.borrow_mut().remove(&conn.pair.number());
        face.last_sender.set(core::ptr::null());
        let mut conns = face.conns.borrow_mut();
        let at = conns
            .iter()
            .position(|slot| slot.conn.as_ref().is_some_and(is_it));
        if let Some(at) = at {
            conns[at].conn = None;
            face.free_slots.borrow_mut().push(at as u32);
        }
    }

    /// A copy. `NO_RESOURCE`: later.
    #[inline(always)]
    pub fn copy(face: &Face) -> Result<WithCopy<'_>> {
        match face.works.copy_now() {
            Some(copy) => Ok(copy),
            None => RcIface::more_copies(face),
        }
    }

    #[cold]
    #[inline(never)]
    fn more_copies(face: &Face) -> Result<WithCopy<'_>> {
        let more = face.works.grow_copies();
        if more.is_err() {
            // Those in use come back with completions, which not every request asks for. One without room for another
            // request has one coming.
            let _ = RcIface::flush_all(face);
        }
        more
    }

    /// A buffer for words that nobody asked for: its address and key.
    pub fn scrap(face: &Face) -> Result<(*const u8, u32)> {
        if let Some(scrap) = face.scrap.get() {
            return Ok(*scrap);
        }
        let copy = RcIface::copy(face)?;
        let scrap = (copy.at().cast_const(), copy.key());
        copy.keep();
        Ok(*face.scrap.get_or_init(|| scrap))
    }

    /// The event descriptor: completions, handshakes, or a failure.
    fn event_set(face: &Face) -> Result<&Epoll> {
        if let Some(events) = face.events.get() {
            return Ok(events);
        }
        let all = Epoll::new()?;
        let failure = Arc::new(EventFd::new()?);
        let bits = Events::READ.to_epoll();
        all.add(face.queue.event_fd(), bits, 0)?;
        all.add(failure.raw(), bits, 0)?;
        if let Some(connector) = face.connector.get() {
            all.add(connector.wake_fd(), bits, 0)?;
        }
        face.faults.wake_by(&failure);
        Ok(face.events.get_or_init(|| all))
    }

    /// Whether anything is under way; each endpoint with something gets a request whose completion says when not.
    fn flush_all(face: &Face) -> Result<bool> {
        let all: Vec<Rc<Conn>> = face.by_pair.borrow().values().map(Rc::clone).collect();
        let mut busy = false;
        let mut refused = None;
        for conn in all {
            if conn.state() == State::Connected && !conn.is_passive {
                match conn.flush(face, Completion::NONE) {
                    Ok(under_way) => busy |= under_way,
                    Err(status) => refused = Some(status),
                }
            }
        }
        match refused {
            Some(status) => Err(status),
            None => Ok(busy),
        }
    }
}

fn cannot(what: &str, e: std::io::Error) -> Failure {
    Failure::of(&format!("a {what} cannot be made"), &e)
}

/// Address and key of a peer's memory, as the device takes them.
fn target(remote: Remote) -> (u64, u32) {
    (remote.address(), remote.key() as u32)
}

impl Iface for RcIface {
    type Ep = RcEp;

    fn query(face: &Face, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_CONNECT_TO_EP
            | UCT_IFACE_FLAG_AM_SHORT
            | UCT_IFACE_FLAG_AM_BCOPY
            | UCT_IFACE_FLAG_AM_ZCOPY
            | UCT_IFACE_FLAG_PUT_SHORT
            | UCT_IFACE_FLAG_PUT_BCOPY
            | UCT_IFACE_FLAG_PUT_ZCOPY
            | UCT_IFACE_FLAG_GET_BCOPY
            | UCT_IFACE_FLAG_GET_ZCOPY
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_CB_SYNC
            | UCT_IFACE_FLAG_EP_CHECK
            | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE
            | UCT_IFACE_FLAG_INTER_NODE;
        attr.cap.event_flags =
            UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
        let mtu = 128usize << face.port.address.mtu;
        let sges = face.caps.send_sges as usize;
        let am = &mut attr.cap.am;
        am.max_short = face.max_short;
        am.max_bcopy = face.max_bcopy();
        am.max_zcopy = face.max_bcopy();
        am.max_hdr = face.settings.max_header;
        am.max_iov = sges - 1;
        (am.opt_zcopy_align, am.align_mtu) = (OPTIMAL_ALIGN, mtu);
        let put = &mut attr.cap.put;
        put.max_short = face.caps.inline as usize;
        put.max_bcopy = face.settings.segment;
        put.max_zcopy = face.port.max_message;
        put.max_iov = sges;
        (put.opt_zcopy_align, put.align_mtu) = (OPTIMAL_ALIGN, mtu);
        let get = &mut attr.cap.get;
        get.max_bcopy = face.settings.segment;
        get.min_zcopy = 1;
        get.max_zcopy = face.max_get();
        get.max_iov = sges;
        (get.opt_zcopy_align, get.align_mtu) = (OPTIMAL_ALIGN, mtu);
        if face.domain.has_atomics() {
            attr.cap.flags |= UCT_IFACE_FLAG_ATOMIC_DEVICE;
            attr.cap.atomic64.op_flags = 1 << UCT_ATOMIC_OP_ADD;
            attr.cap.atomic64.fop_flags = 1 << UCT_ATOMIC_OP_ADD | 1 << UCT_ATOMIC_OP_CSWAP;
        }
        attr.device_addr_len = DEVICE_LEN;
        attr.iface_addr_len = IFACE_LEN;
        attr.ep_addr_len = EP_LEN;
        attr.max_num_eps = face.settings.max_eps;
        attr.latency = ucs_linear_func_t {
            c: face.port.latency(),
            m: 0.0,
        };
        attr.bandwidth.shared = face.port.bandwidth();
        attr.overhead = OVERHEAD;
    }

    #[inline]
    fn progress(face: &Face) -> u32 {
        RcIface::poll::<true>(face)
    }

    fn progress_sends(face: &Face) -> u32 {
        RcIface::poll::<false>(face)
    }

    fn device_address(face: &Face) -> Result<Vec<u8>> {
        Ok(face.device_addr().encode().to_vec())
    }

    fn iface_address(face: &Face) -> Result<Vec<u8>> {
        Ok(RcIface::connector(face)?.address().encode().to_vec())
    }

    fn is_reachable(
        face: &Face,
        device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        let path = &face.settings.path;
        face.port.is_reachable((device, iface), path, decode_iface)
    }

    fn ep_create(face: &Face, params: &EpParams) -> Result<RcEp> {
        RcEp::create(face, params)
    }

    fn ep_created(ep: &EpBox<Self>) {
        ep.conn.attach(ep);
    }

    fn ep_closing(ep: &EpBox<Self>) {
        RcEp::closing(ep);
    }

    fn ep_address(ep: &EpBox<Self>) -> Result<Vec<u8>> {
        Ok(ep.face().ep_addr(&ep.conn).encode().to_vec())
    }

    fn connect_to_ep(
        ep: &EpBox<Self>,
        device: Option<GivenAddress<'_>>,
        addr: GivenAddress<'_>,
    ) -> Result<()> {
        RcEp::connect(ep, device, addr)
    }

    #[inline(always)]
    fn am_short(ep: &EpBox<Self>, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        RcEp::am_short(ep, id, header, payload)
    }

    fn am_short_iov(ep: &EpBox<Self>, id: u8, iov: Iov<'_>) -> Result<()> {
        RcEp::am_short_iov(ep, id, iov)
    }

    #[inline(always)]
    fn am_bcopy_code(ep: &EpBox<Self>, id: u8, pack: Pack, _flags: u32) -> isize {
        RcEp::am_bcopy(ep, id, pack)
    }

    fn am_zcopy(
        ep: &EpBox<Self>,
        id: u8,
        header: &[u8],
        iov: Iov<'_>,
        _flags: u32,
        comp: Completion,
    ) -> Result<Posted> {
        RcEp::am_zcopy(ep, id, header, iov, comp)
    }

    #[inline(always)]
    fn put_short(ep: &EpBox<Self>, from: Payload<'_>, remote: Remote) -> Result<()> {
        RcEp::put_short(ep, from, target(remote))
    }

    fn put_bcopy(ep: &EpBox<Self>, pack: Pack, remote: Remote) -> Result<usize> {
        RcEp::put_bcopy(ep, pack, remote.address(), remote.key() as u32)
    }

    #[inline(always)]
    fn put_zcopy_now(
        ep: &EpBox<Self>,
        block: &uct_iov_t,
        remote: Remote,
        comp: Completion,
    ) -> Option<ucs_status_t> {
        RcEp::put_zcopy_now(ep, block, target(remote), comp)
    }

    #[inline(always)]
    fn get_bcopy_now(
        ep: &EpBox<Self>,
        unpack: Unpack,
        len: usize,
        remote: Remote,
        comp: Completion,
    ) -> Option<ucs_status_t> {
        RcEp::get_bcopy_now(ep, unpack, len, target(remote), comp)
    }

    #[inline(always)]
    fn fetch_add_now<W: AtomicWord>(
        ep: &EpBox<Self>,
        value: W,
        old: OldValue<W>,
        remote: Remote,
        comp: Completion,
    ) -> Option<ucs_status_t> {
        let value = value.as_u64()?;
        RcEp::fetch_add_now(ep, value, old.as_ptr().cast(), target(remote), comp)
    }

    fn put_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        RcEp::put_zcopy(ep, iov, remote.address(), remote.key() as u32, comp)
    }

    fn get_bcopy(
        ep: &EpBox<Self>,
        unpack: Unpack,
        len: usize,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        RcEp::get_bcopy(ep, unpack, len, remote.address(), remote.key() as u32, comp)
    }

    fn get_zcopy(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        RcEp::get_zcopy(ep, iov, remote.address(), remote.key() as u32, comp)
    }

    fn atomic_post<W: AtomicWord>(
        ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        remote: Remote,
    ) -> Result<()> {
        let (AtomicOp::Add, Some(value)) = (op, value.as_u64()) else {
            return Err(Status::UNSUPPORTED);
        };
        RcEp::add(ep, value, remote.address(), remote.key() as u32)
    }

    fn atomic_fetch<W: AtomicWord>(
        ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        old: OldValue<W>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        let (AtomicOp::Add, Some(value)) = (op, value.as_u64()) else {
            return Err(Status::UNSUPPORTED);
        };
        RcEp::fetch(ep, value, None, old.as_ptr().cast(), target(remote), comp)
    }

    fn atomic_cswap<W: AtomicWord>(
        ep: &EpBox<Self>,
        compare: W,
        swap: W,
        old: OldValue<W>,
        remote: Remote,
        comp: Completion,
    ) -> Result<Posted> {
        let (Some(compare), swap @ Some(_)) = (compare.as_u64(), swap.as_u64()) else {
            return Err(Status::UNSUPPORTED);
        };
        RcEp::fetch(ep, compare, swap, old.as_ptr().cast(), target(remote), comp)
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        RcEp::pending_add(ep, req)
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        ep.conn.pending.purge(each);
    }

    fn flush(ep: &EpBox<Self>, flags: u32, comp: Completion) -> Result<Posted> {
        RcEp::flush(ep, flags, comp)
    }

    fn fence(ep: &EpBox<Self>, _flags: u32) -> Result<()> {
        ep.conn.fence(ep.face());
        Ok(())
    }

    fn check(ep: &EpBox<Self>, _flags: u32, comp: Completion) -> Result<Posted> {
        RcEp::check(ep, comp)
    }

    fn iface_flush(face: &Face, _flags: u32, comp: Completion) -> Result<Posted> {
        if !comp.is_none() {
            return Err(Status::UNSUPPORTED);
        }
        Ok(match RcIface::flush_all(face)? {
            true => Posted::InProgress,
            false => Posted::Done,
        })
    }

    fn iface_fence(face: &Face, _flags: u32) -> Result<()> {
        let conns = face.by_pair.borrow();
        conns.values().for_each(|conn| conn.fence(face));
        Ok(())
    }

    fn event_fd(face: &Face) -> Result<RawFd> {
        RcIface::event_set(face).map(Epoll::raw)
    }

    /// Asks for an event, then looks once more: what came in between is handled by the next progress.
    fn event_arm(face: &Face, _events: c_int) -> Result<()> {
        face.chain.flush(face);
        if face.queue.take_events()
            || !face.held.borrow().is_empty()
            || face.attention.load(Ordering::Relaxed)
        {
            return Err(Status::BUSY);
        }
        face.queue.request_event()?;
        match face.queue.poll(&mut Completions::<BATCH>::new())? {
            [] => Ok(()),
            came => {
                face.hold(came);
                Err(Status::BUSY)
            }
        }
    }
}

impl InternalIface for RcIface {
    fn get_guarded(
        ep: &EpBox<Self>,
        iov: Iov<'_>,
        remote: Remote,
        guard: EpochGuard,
        comp: Completion,
    ) -> Result<Posted> {
        RcEp::get_guarded(ep, iov, remote.address(), remote.key() as u32, guard, comp)
    }

    fn peer_identity(_face: &Face, device: &[u8], iface: &[u8]) -> Option<u64> {
        identity::of(device, decode_iface(iface.try_into().ok()?)?)
    }

    fn sender_identity(face: &Face) -> Option<u64> {
        face.identity_behind(face.receiving())
    }

    const IN_DESCRIPTORS: bool = true;

    fn keep(face: &Face, address: usize, _len: usize) -> bool {
        face.rx.has(address)
    }

    fn release(face: &Face, address: usize) {
        face.rx.release(address);
    }

    fn reject_sender(face: &Face) -> bool {
        let pair = face.receiving();
        let conn = face.by_pair.borrow().get(&pair).map(Rc::clone);
        let is_open = |conn: &Rc<Conn>| matches!(conn.state(), State::New | State::Connected);
        let Some(conn) = conn.filter(|conn| conn.is_passive && is_open(conn)) else {
            return false;
        };
        RcIface::fail(face, &conn, Status::EXCEEDS_LIMIT);
        true
    }

    fn is_connected(face: &Face, identity: u64) -> bool {
        let connector = face.connector.get();
        connector.is_some_and(|connector| connector.connected.borrow().has(identity))
    }

    fn is_ep_connected(ep: &EpBox<Self>) -> Option<bool> {
        Some(ep.conn.state() == State::Connected)
    }
}

impl Drop for RcIface {
    fn drop(&mut self) {
        if let Some(connector) = self.connector.get() {
            connector.close(|link| self.close_message(link), &self.queue);
        }
    }
}

/// What queue pairs of passive connections get: they send grants of credits, and ask their peers whether they live.
const PASSIVE: Caps = Caps {
    send_queue: 8,
    send_sges: 1,
    inline: HEADER_LEN as u32,
};

/// Buffers on cache lines are read and written the fastest.
const OPTIMAL_ALIGN: usize = 512;
/// Seconds that the processor needs to post a request, as UCX states it for these transports; used to choose between
/// transports, so only ratios matter.
const OVERHEAD: f64 = 75e-9;
