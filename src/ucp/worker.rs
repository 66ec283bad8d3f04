//! A worker: its interfaces, its endpoints, everything that is received, and progress.
//!
//! One thread at a time uses a worker (in MULTI mode `abi` takes its lock). User callbacks re-enter:
//! every borrow of the state below ends before one is called.

use super::after_fork;
use super::am::AmState;
use super::buffers::Buffers;
use super::context::{Context, unique_id};
use super::ep::loopback::Loopback;
use super::ep::{End, Ep, MadeBy};
use super::handlers;
use super::idle;
use super::interner::Interner;
use super::keepalive::Keepalive;
use super::proto::reassembly::Reassemblies;
use super::proto::rndv_tuner::RndvTuner;
use super::proto::zcopy::StalledTransfers;
use super::regions::View;
use super::request::{Request, RequestPool};
use super::spin::Spin;
use super::stream::StreamState;
use super::tag::TagState;
use super::unexpected::Unexpected;
use super::wakeup::Wakeup;
use super::wireup::cm::Cm;
use super::wireup::describe::EpConfig;
use super::wireup::message;
use super::wireup::pairing::Pairing;
use super::wireup::select::Route;
use super::wireup::unproven::Unproven;
use crate::c::*;
use crate::sys::cpu;
use crate::ucp::config::TABLE;
use crate::ucp::proto::plan::Rules;
use crate::ucp::proto::revocation::RevocationEpoch;
use crate::ucs::callbackq::CallbackQueue;
use crate::ucs::config::var;
use crate::ucs::nonces::Nonces;
use crate::ucs::slots::Slots;
use crate::ucs::sync::biased_lock::BiasedLock;
use crate::ucs::{Result, Status};
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::base_of;
use crate::wire::address::{Address, AddressEntry};
use crate::{ucs_debug, ucs_error, ucs_warn};
use core::cell::{Cell, OnceCell, RefCell};
use core::ffi::c_void;
use core::ptr::NonNull;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The parameters of `ucp_worker_create`.
pub struct WorkerParams {
    pub thread_mode: ucs_thread_mode_t,
    /// Processors that the worker's memory should be near to.
    pub cpu_mask: Option<cpu::Mask>,
    /// `UCP_WAKEUP_*` that the application waits for.
    pub events: u32,
    pub user_data: *mut c_void,
    pub event_fd: Option<i32>,
    pub flags: u64,
    pub name: String,
    pub am_alignment: usize,
    pub client_id: u64,
}

/// An open interface.
pub struct OpenIface {
    pub handle: uct_iface_h,
    /// Index into the context's resources.
    pub resource: usize,
    /// The transport's number in addresses.
    pub number: u8,
    pub attr: uct_iface_attr,
    pub device_address: Vec<u8>,
    pub address: Vec<u8>,
    /// Whether each progress polls it, see `idle`.
    pub polled: Cell<bool>,
}

pub struct Worker {
    context: *const Context,
    pub params: WorkerParams,
    pub uuid: u64,
    /// This process is a forked child of the worker's process, and has logged it.
    pub inherited: Cell<bool>,
    pub refused_process: Cell<bool>,
    uct: uct_worker_h,
    pub ifaces: Vec<OpenIface>,
    /// Looks at those that are not polled.
    pub rounds: idle::Rounds,
    /// State of callers that spin on progress.
    pub spin: Spin,
    /// The lock of MULTI mode; recursive.
    pub lock: BiasedLock,
    pub eps: RefCell<Slots<*const Ep>>,
    /// Draining endpoints.
    pub draining: RefCell<BTreeSet<*const Ep>>,
    /// The endpoints by those of the transports that they have.
    pub by_lane: RefCell<HashMap<uct_ep_h, *const Ep>>,
    /// Which local endpoint belongs to which remote endpoint.
    pub pairing: Pairing,
    /// How the last peer was connected to.
    pub route: RefCell<Option<Route>>,
    /// Configurations of endpoints that were logged, by number.
    pub ep_configs: Interner<EpConfig>,
    pub rules: Rules,
    /// The endpoint configurations that `UCX_PROTO_INFO` has printed: interfaces for messages and single copies, and
    /// whether they are loopback.
    pub described: Interner<(usize, Option<usize>, bool)>,
    pub tag: TagState,
    pub am: AmState,
    pub stream: StreamState,
    pub reassemblies: Reassemblies,
    pub buffers: Buffers,
    pub unexpected: Unexpected,
    pub wakeup: Wakeup,
    pub keepalive: Keepalive,
    pub unproven: Unproven,
    /// Connections by socket address; made when first needed.
    pub cm: OnceCell<Cm>,
    /// Listeners, by their addresses.
    pub listeners: RefCell<BTreeSet<usize>>,
    pub requests: RequestPool,
    messages: RefCell<MessageNumbers>,
    /// Number of copies by the kernel in flight.
    pub kernel_copies: Cell<usize>,
    /// Copies that wait for a transport's room.
    pub stalled_transfers: StalledTransfers,
    /// Measured throughput of rendezvous schemes.
    pub rndv_tuner: Rc<RndvTuner>,
    pub loopback: Loopback,
    /// Tells receivers whether the memory of an RTS is still valid.
    pub revocation: RevocationEpoch,
    /// The regions that peers on this host can map.
    pub mappable: View,
}

/// Bytes of all headers of ours that can stand in front of a user's.
pub const MAX_HEADERS: usize = 128;

impl Worker {
    pub fn create(context: &Context, params: WorkerParams) -> Result<Box<Worker>> {
        let mut worker = Box::new(Worker {
            context,
            uuid: unique_id(),
            inherited: Cell::new(false),
            refused_process: Cell::new(false),
            uct: WorkerHandle::create(core::ptr::null_mut()),
            ifaces: Vec::new(),
            rounds: idle::Rounds::default(),
            spin: Spin::default(),
            lock: BiasedLock::default(),
            eps: RefCell::new(Slots::new()),
            draining: RefCell::new(BTreeSet::new()),
            by_lane: RefCell::new(HashMap::new()),
            pairing: Pairing::default(),
            route: RefCell::new(None),
            ep_configs: Interner::default(),
            rules: Rules::read(&context.config),
            described: Interner::default(),
            tag: TagState::new(),
            am: AmState::new(),
            stream: StreamState::new(),
            reassemblies: Reassemblies::default(),
            buffers: Buffers::new(&context.config.sizes(var!(TABLE, "RX_MPOOL_SIZES"))),
            unexpected: Unexpected::new(&context.config),
            wakeup: Wakeup::new(context.params.features)?,
            keepalive: Keepalive::new(&context.config),
            unproven: Unproven::default(),
            cm: OnceCell::new(),
            listeners: RefCell::new(BTreeSet::new()),
            requests: RequestPool::new(context.params.request_size)?,
            messages: RefCell::new(MessageNumbers::default()),
            kernel_copies: Cell::new(0),
            stalled_transfers: StalledTransfers::default(),
            rndv_tuner: Rc::default(),
            loopback: Loopback::default(),
            revocation: RevocationEpoch::default(),
            mappable: View::default(),
            params,
        });
        // Memory is taken near the processor that touches it first.
        let _near = worker.params.cpu_mask.as_ref().map(cpu::Near::to);
        let arg: *mut c_void = core::ptr::from_mut(worker.as_mut()).cast();
        for (index, resource) in context.resources.iter().enumerate() {
            match worker.open_iface(context, index, arg) {
                Ok(iface) => worker.ifaces.push(iface),
                Err(e) => ucs_debug!(
                    "interface {}/{} cannot be opened: {e}",
                    resource.transport.name(),
                    resource.device.name
                ),
            }
        }
        if worker.ifaces.is_empty() {
            ucs_error!("no interface could be opened; UCX_LOG_LEVEL=debug says why for each");
            return Err(Status::NO_DEVICE);
        }
        idle::start(&worker);
        let wakes = context.params.features & u64::from(UCP_FEATURE_WAKEUP) != 0;
        if wakes && worker.params.event_fd.is_some() {
            super::wakeup::set(&worker)?;
        }
        after_fork::register(&worker);
        Ok(worker)
    }

    fn open_iface(&self, context: &Context, index: usize, arg: *mut c_void) -> Result<OpenIface> {
        let resource = &context.resources[index];
        let md = context.mds[resource.md].md.as_ref();
        let config = context.config.read_other(resource.transport.config())?;
        let params = IfaceParams {
            err_handler: Some(super::ep::transport_failed),
            err_handler_arg: arg,
            ..IfaceParams::default()
        };
        let handle =
            resource
                .transport
                .open(md, self.uct(), &resource.device.name, params, &config)?;
        let mut iface = OpenIface {
            handle,
            resource: index,
            number: resource.number,
            attr: UNQUERIED,
            device_address: Vec::new(),
            address: Vec::new(),
            polled: Cell::new(false),
        };
        // SAFETY: just opened; every op of our tables is set, buffers have the queried lengths.
        unsafe {
            let ops = &(*handle).ops;
            if let Some(query) = ops.iface_query {
                query(handle, &mut iface.attr);
            }
            if md.attr().flags & u64::from(UCT_MD_FLAG_NEED_MEMH) != 0 {
                // User memory is not registered for messages: those are copied.
                iface.attr.cap.flags &= !UCT_IFACE_FLAG_AM_ZCOPY;
                iface.attr.cap.am.max_zcopy = 0;
            }
            iface.device_address = vec![0; iface.attr.device_addr_len];
            iface.address = vec![0; iface.attr.iface_addr_len];
            if let Some(f) = ops.iface_get_device_address {
                f(handle, iface.device_address.as_mut_ptr().cast());
            }
            if iface.attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE != 0
                && let Some(f) = ops.iface_get_address
            {
                f(handle, iface.address.as_mut_ptr().cast());
            }
            handlers::install(base_of(handle), arg)?;
        }
        Ok(iface)
    }

    #[inline]
    pub fn context(&self) -> &Context {
        // SAFETY: a context outlives its workers (C contract of ucp_cleanup).
        unsafe { &*self.context }
    }

    fn uct(&self) -> &WorkerHandle {
        // SAFETY: made in `create`, destroyed with this worker.
        unsafe { &*self.uct.cast::<WorkerHandle>() }
    }

    /// Whether several threads use it, which take its lock.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        self.params.thread_mode == UCS_THREAD_MODE_MULTI
    }

    /// The callbacks of progress.
    pub fn queue(&self) -> &CallbackQueue {
        self.uct().queue()
    }

    /// Polls everything once.
    #[inline]
    pub fn progress(&self) -> u32 {
        if self.rounds.are_due() {
            return self.progress_all();
        }
        self.uct().progress()
    }

    /// The same with those that are idle.
    #[cold]
    #[inline(never)]
    fn progress_all(&self) -> u32 {
        idle::round(self) + self.uct().progress()
    }

    /// This worker's address; `net_only` leaves out transports that reach this host only.
    pub fn address(&self, net_only: bool) -> Address {
        let resources = &self.context().resources;
        Address {
            uuid: self.uuid,
            entries: self
                .ifaces
                .iter()
                .filter(|i| !net_only || resources[i.resource].device.kind == UCT_DEVICE_TYPE_NET)
                .filter(|i| i.device_address.len() < 256 && i.address.len() < 256)
                .map(|i| AddressEntry {
                    transport: i.number,
                    device: i.device_address.clone(),
                    iface: i.address.clone(),
                })
                .collect(),
        }
    }

    /// The local endpoint of a remote endpoint. If it was closed, makes a reply-only endpoint
    /// over the return path.
    #[inline]
    pub fn ep_of_peer(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        self.paired(uuid, ep).or_else(|| self.return_to(uuid, ep))
    }

    /// The local endpoint of a remote endpoint, unless it was closed.
    #[inline]
    pub fn open_ep_of_peer(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        self.paired(uuid, ep).filter(|ep| !ep.is_reply_only())
    }

    /// The local endpoint of a remote endpoint, if it was the last one looked up.
    #[inline(always)]
    pub fn last_named(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        self.ep(self.pairing.last((uuid, ep))?)
    }

    /// The local endpoint of a remote endpoint that is paired.
    #[inline]
    pub fn paired(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        if let Some(found) = self.last_named(uuid, ep) {
            return Some(found);
        }
        self.ep(self.pairing.local_id((uuid, ep))?)
    }

    /// Makes a reply-only endpoint over the return path of a remote endpoint.
    #[cold]
    fn return_to(&self, uuid: u64, ep: u64) -> Option<&Ep> {
        let path = self.pairing.take_return_path((uuid, ep))?;
        self.ep(message::create_reply_ep(
            self,
            path,
            ep,
            MadeBy::ReturnPath,
        )?)
    }

    /// The endpoint with this local id.
    #[inline]
    pub fn ep(&self, id: u64) -> Option<&Ep> {
        // SAFETY: nobody changes the table before the pointer is read.
        let eps = unsafe { self.eps.try_borrow_unguarded() }.ok()?;
        // SAFETY: an endpoint leaves the table before it is freed.
        Some(unsafe { &**eps.get(id)? })
    }

    /// Most bytes of a user's header in an active message.
    pub fn max_am_header(&self) -> usize {
        let least = self
            .ifaces
            .iter()
            .filter(|i| i.attr.cap.flags & UCT_IFACE_FLAG_AM_BCOPY != 0)
            .map(|i| i.attr.cap.am.max_bcopy)
            .min()
            .unwrap_or(0);
        // A first fragment has all headers in front of the user's.
        least.saturating_sub(MAX_HEADERS)
    }

    /// An unused number for a fragmented message. Only its receiver learns it, so nobody else can add fragments.
    pub fn next_message(&self) -> u64 {
        self.messages.borrow_mut().next()
    }

    /// Allocates a request; the user's part is initialised once.
    #[inline]
    pub fn take_request(&self) -> Result<NonNull<Request>> {
        match self.requests.take() {
            Some(req) => Ok(req),
            None => self.requests.grow(|at| {
                // SAFETY: zeroed by the pool.
                unsafe { Request::prepare(at, self) };
                if let Some(init) = self.context().params.request_init {
                    // SAFETY: the user's function on its part of a fresh request.
                    unsafe { init(Request::user(at)) };
                }
            }),
        }
    }
}

/// Numbers of fragmented messages: a count, and a nonce.
#[derive(Default)]
struct MessageNumbers {
    count: u32,
    nonces: Nonces,
}

impl MessageNumbers {
    fn next(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        u64::from(self.nonces.draw()) << 32 | u64::from(self.count)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        after_fork::unregister(self);
        self.keepalive.stop();
        self.unproven.stop();
        // Destroying one may destroy others, and may make others, for replies.
        while !self.eps.borrow().is_empty() {
            let all = self.eps.borrow().ids();
            for id in all {
                let ep = self.eps.borrow().get(id).copied();
                if let Some(ep) = ep {
                    // SAFETY: in the table, so alive; destroyed once.
                    unsafe { Ep::destroy(ep, Status::CANCELED, End::WithWorker) };
                }
            }
        }
        Ep::abort_draining(self);
        self.tag.cancel_all();
        self.am.postponed.cancel_all();
        for message in self.reassemblies.take_all() {
            super::tag::recv::sender_gone(self, &message, Status::CANCELED);
        }
        // Nothing calls from the async thread any more after this.
        drop(self.cm.take());
        for iface in &self.ifaces {
            // SAFETY: an open interface without endpoints, closed once.
            unsafe {
                if let Some(close) = (*iface.handle).ops.iface_close {
                    close(iface.handle);
                }
            }
        }
        // SAFETY: nothing is open on it any more.
        unsafe { WorkerHandle::destroy(self.uct) };
        let out = self.requests.out();
        if out > 0 && self.params.flags & u64::from(UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK) == 0 {
            ucs_warn!(
                "worker '{}': {} requests were not freed; see ucp_request_free and UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK",
                self.params.name,
                out
            );
        }
        while let Some(req) = self.requests.take() {
            // SAFETY: the context outlives its workers.
            if let Some(cleanup) = unsafe { (*self.context).params.request_cleanup } {
                // SAFETY: the user's function on its part of a request in no one's hands.
                unsafe { cleanup(Request::user(req)) };
            }
        }
    }
}

/// Attributes before the query.
const UNQUERIED: uct_iface_attr = {
    // SAFETY: integers, floats and a plain C address struct: zero is a value of each.
    unsafe { core::mem::zeroed() }
};
