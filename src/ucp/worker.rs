//! A worker: its core, and beside it the state of each floor.
//!
//! This is the roof of `src/ucp`: it puts the parts together, installs the message handlers on the interfaces, and takes
//! everything down again. No floor below names it; each finds its own state from the core (`FloorState`).
//!
//! One thread at a time uses a worker (in MULTI mode `abi` takes its lock). User callbacks re-enter:
//! every borrow of the state below ends before one is called.

use super::after_fork;
use super::am::AmState;
use super::config::TABLE;
use super::context::Context;
use super::ep::keepalive::{self, Keepalive};
use super::ep::table::{Endpoints, EpHooks};
use super::ep::{End, Ep, EpRef, MadeBy};
use super::failover::{self, FailoverState};
use super::feature::Feature;
use super::handlers;
use super::idle;
use super::inspect::Inspection;
use super::progress_thread::ProgressThread;
use super::proto::{ProtoState, device_copies, postponed, table, zcopy};
use super::request::pool::RequestPool;
use super::request::{Req, Request};
use super::rma::flush;
use super::stream::{self, StreamState};
use super::tag::TagState;
use super::wireup::{WireupState, close, cm, describe, message, select};
use super::worker_core::{Core, FloorState, Hooks, OpenIface, WorkerParams, bandwidth};
use crate::c::*;
use crate::sys::cpu;
use crate::ucs::config::{Others, var};
use crate::ucs::{Failure, Result, Status};
use crate::uct::api;
use crate::uct::base::params::{IfaceParams, PAYLOAD_ALIGN};
use crate::uct::internal::base_of;
use crate::{ucs_diag, ucs_error, ucs_warn};
use core::cell::Cell;
use core::ffi::c_void;
use core::mem::offset_of;
use core::ops::Deref;

#[repr(C)]
pub struct Worker {
    core: Core,
    pub requests: RequestPool,
    pub endpoints: Endpoints,
    pub keepalive: Keepalive,
    pub proto: ProtoState,
    pub tag: TagState,
    pub am: AmState,
    pub stream: StreamState,
    pub wireup: WireupState,
    pub failover: FailoverState,
    pub inspection: Inspection,
    /// Ends before anything else of the worker does.
    progress_thread: Option<ProgressThread>,
}

/// Each floor's state in `Worker` is found from its core.
macro_rules! floor_states {
    ($($member:ident: $state:ty,)*) => {
        // SAFETY: a core is shared only as the first member of a boxed worker, whose address `Worker::create` exposes.
        $(unsafe impl FloorState for $state {
            const OFFSET: usize = offset_of!(Worker, $member);
        })*
        const _: () = assert!(offset_of!(Worker, core) == 0);
    };
}

floor_states! {
    requests: RequestPool,
    endpoints: Endpoints,
    keepalive: Keepalive,
    proto: ProtoState,
    tag: TagState,
    am: AmState,
    stream: StreamState,
    wireup: WireupState,
    failover: FailoverState,
    inspection: Inspection,
}

impl Deref for Worker {
    type Target = Core;

    #[inline(always)]
    fn deref(&self) -> &Core {
        &self.core
    }
}

const HOOKS: Hooks = Hooks {
    awaits_messages: |core| {
        core.am().has_handlers()
            || core.context().regions.any()
            || core
                .endpoints()
                .eps
                .borrow()
                .iter()
                .any(|ep| ep.has_queue())
    },
    on_pause: |core, paused| core.tag().set_paused(paused),
    progress_postponed: postponed::progress,
    // Stalled transfers, copies by devices, and remote stream chunks.
    wants_progress: |core| {
        !core.proto().stalled_transfers.is_empty()
            || !core.proto().device_copies.is_empty()
            || !core.proto().part_copies.is_empty()
            || !core.endpoints().copy_waits.is_empty()
            || core.stream().wants_progress()
    },
    disown_requests: |core| core.requests().each(Request::disown),
};

const EP_HOOKS: EpHooks = EpHooks {
    make_reply_ep: |core, path, remote| {
        message::create_reply_ep(core, path, remote, MadeBy::ReturnPath)
    },
    open_lane: select::open_lane,
    open_rails: select::open_rails,
    flush_rails: flush::rails,
    on_connected: |ep| {
        if !ep.is_reply_only() {
            describe::log_config(ep);
            table::describe(ep);
        }
    },
    watch: keepalive::watch,
    on_ready: |ep| keepalive::on_connected(ep.worker(), ep.id.get()),
    abort_transfers: |ep, status| {
        zcopy::abort_stalled(ep, status);
        device_copies::end_of(ep);
    },
    abort_postponed: postponed::abort,
    end_stream: stream::recv::end,
    forget_stream: |ep| ep.worker().stream().forget(ep),
    tell_failure: |ep, notice| {
        failover::on_failure(ep);
        if let Some(notice) = notice {
            close::send_by_another_lane(ep, notice);
        }
    },
    awaits_disconnect: cm::awaits_disconnect,
    on_destroyed: cm::unlink,
};

impl Worker {
    pub fn create(context: &Context, params: WorkerParams) -> Result<Box<Worker>> {
        let requests = RequestPool::new(context.params.request_size)?;
        let config = &context.config;
        let mut worker = Box::new(Worker {
            core: Core::new(context, params, &HOOKS)?,
            requests,
            endpoints: Endpoints::new(&EP_HOOKS),
            keepalive: Keepalive::new(config),
            proto: ProtoState::new(config),
            tag: TagState::new(),
            am: AmState::new(),
            stream: StreamState::new(),
            wireup: WireupState::default(),
            failover: FailoverState::new(config, handlers::deliver),
            inspection: Inspection::default(),
            progress_thread: None,
        });
        core::ptr::from_mut(worker.as_mut()).expose_provenance();
        if worker.is_inspected || worker.lacks(Feature::Tag) {
            worker.tag.close_fifo();
        }
        // Memory is taken near the processor that touches it first.
        let _near = worker.params.cpu_mask.as_ref().map(cpu::Near::to);
        worker.open_ifaces(context)?;
        describe::print_interfaces(&worker);
        idle::update(&worker);
        let wakes = context.params.features & u64::from(UCP_FEATURE_WAKEUP) != 0;
        if wakes && worker.params.event_fd.is_some() {
            super::wakeup::set(&worker)?;
        }
        after_fork::register(&worker);
        // `Drop` ends the inspection before anything else.
        let remote = worker.remote();
        worker.inspection.begin(remote, worker.is_inspected);
        if let Some(handover) = worker.wakeup.thread().cloned() {
            worker.progress_thread = Some(ProgressThread::start(&worker, handover)?);
        }
        Ok(worker)
    }

    fn open_ifaces(&mut self, context: &Context) -> Result<()> {
        let arg: *mut c_void = core::ptr::from_mut(self).cast();
        let tables = context.config.others();
        for (index, resource) in context.resources.iter().enumerate() {
            match self.open_iface(context, &tables, index, arg) {
                Ok(iface) => self.core.ifaces.push(iface),
                Err(e) => {
                    let why = format!("{} cannot be opened: {e}", resource.device.name);
                    self.core.unopened.push((index, why));
                }
            }
        }
        let transport = |resource: &usize| context.resources[*resource].transport.name();
        if self.ifaces.is_empty() {
            ucs_error!("no interface could be opened");
            for (resource, why) in &self.unopened {
                ucs_error!("  {}/{why}", transport(resource));
            }
            return Err(Status::NO_DEVICE);
        }
        for (resource, why) in &self.unopened {
            ucs_warn!("{}/{why}", transport(resource));
        }
        if context.config.bool(var!(TABLE, "SINGLE_NET_DEVICE")) {
            self.keep_one_network_device(context);
        }
        Ok(())
    }

    /// Closes the interfaces of all network devices but the one with the largest bandwidth. The loopback device, which
    /// reaches no other host, is kept only if it is the only one.
    fn keep_one_network_device(&mut self, context: &Context) {
        let processes = context.processes_here;
        let device = |iface: &OpenIface| &context.resources[iface.resource].device;
        let is_network = |iface: &&OpenIface| device(iface).kind == UCT_DEVICE_TYPE_NET;
        let best = self.ifaces.iter().filter(is_network).max_by(|a, b| {
            let by_reach = [a, b].map(|iface| device(iface).reaches_other_hosts());
            let bandwidths = [a, b].map(|iface| bandwidth(&iface.attr, processes));
            let by_bandwidth = bandwidths[0].total_cmp(&bandwidths[1]);
            by_reach[0].cmp(&by_reach[1]).then(by_bandwidth)
        });
        let kept = best.map(|iface| device(iface).name.as_str());
        self.core.ifaces.retain(|iface| {
            let keeps = !is_network(&iface) || Some(device(iface).name.as_str()) == kept;
            if !keeps {
                // SAFETY: just opened, so without endpoints; nobody finds it any more.
                unsafe { iface.close() };
            }
            keeps
        });
    }

    fn open_iface(
        &self,
        context: &Context,
        tables: &Others<'_>,
        index: usize,
        arg: *mut c_void,
    ) -> core::result::Result<OpenIface, Failure> {
        let resource = &context.resources[index];
        let md = context.mds[resource.md].md.as_ref();
        let config = tables.read(resource.transport.config())?;
        let params = IfaceParams {
            err_handler: Some(transport_failed),
            err_handler_arg: arg,
            // Payloads behind a header of one word, as most have: copies from and to users' memory are faster so.
            am_alignment: PAYLOAD_ALIGN,
            am_align_offset: size_of::<u64>(),
            ..IfaceParams::default()
        };
        let handle =
            resource
                .transport
                .open(md, self.uct(), &resource.device.name, params, &config)?;
        let attr = md.attr();
        let mut iface = OpenIface {
            handle,
            resource: index,
            number: resource.number,
            attr: api::UNQUERIED,
            needs_registration: attr.flags & u64::from(UCT_MD_FLAG_NEED_MEMH) != 0,
            reaches_devices_only: attr.access_mem_types != 0
                && attr.access_mem_types & 1 << UCS_MEMORY_TYPE_HOST == 0,
            device_address: Vec::new(),
            address: Vec::new(),
            polled: Cell::new(false),
            is_watched: Cell::new(false),
            has_event: Cell::new(false),
        };
        // SAFETY: just opened; every op of our tables is set, buffers have the queried lengths.
        unsafe {
            let ops = &(*handle).ops;
            if let Some(query) = ops.iface_query {
                query(handle, &mut iface.attr);
            }
            if iface.needs_registration {
                // Messages are copied, as registering their memory would take longer.
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
            handlers::install(base_of(handle), self)?;
            if context.takes_upstream() {
                handlers::install_upstream(base_of(handle), self);
            }
        }
        Ok(iface)
    }
}

/// Leaked requests that the log describes.
const DESCRIBED_LEAKS: usize = 5;

impl Worker {
    /// Some of the requests in use, which may leak, and what they do before they are ended.
    fn describe_requests(&self) -> Vec<(Req, String)> {
        let some = self.requests.out().into_iter().take(10 * DESCRIBED_LEAKS);
        some.map(|req| (req, req.describe())).collect()
    }

    /// Tells of endpoints that the application has not closed: at WARN of those whose operations come to nothing by that.
    fn report_open_endpoints(&self) {
        let eps = self.endpoints.eps.borrow();
        let open: Vec<_> = eps.iter().filter(|ep| ep.has_callbacks()).collect();
        let loses = |ep: &&EpRef| ep.send_queue.has_unsent() || !ep.has_no_outstanding();
        let losing: Vec<_> = open.iter().copied().filter(loses).collect();
        let (name, count) = (&self.params.name, open.len());
        if losing.is_empty() {
            if count > 0 {
                ucs_diag!("worker '{name}': {count} open endpoints are closed with it");
            }
            return;
        }
        ucs_warn!(
            "worker '{name}': {} of its {count} open endpoints have operations under way, which end here: call \
             ucp_ep_close_nbx() before ucp_worker_destroy()",
            losing.len()
        );
        for ep in losing.into_iter().take(DESCRIBED_LEAKS) {
            ucs_warn!("  endpoint {}", ep.name());
        }
    }

    /// Warns of requests that the application has not freed; `before` is what some of them were.
    fn report_leaks(&self, before: &[(Req, String)]) {
        let out = self.requests.out();
        if out.is_empty() {
            return;
        }
        ucs_warn!(
            "worker '{}': {} requests were not freed; see ucp_request_free and UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK",
            self.params.name,
            out.len()
        );
        let left = before.iter().filter(|(req, _)| out.contains(req));
        for (req, what) in left.take(DESCRIBED_LEAKS) {
            ucs_warn!("  request {:p}: {what}", req.user());
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.inspection.end();
        drop(self.progress_thread.take());
        after_fork::unregister(self);
        let tells_leaks = self.params.flags & u64::from(UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK) == 0;
        let leaks = tells_leaks.then(|| self.describe_requests());
        self.report_open_endpoints();
        self.keepalive.stop();
        self.wireup.unproven.stop();
        // Destroying one may destroy others, and may make others, for replies.
        while !self.endpoints.eps.borrow().is_empty() {
            let all = self.endpoints.eps.borrow().ids();
            for id in all {
                let ep = self.endpoints.eps.borrow().get(id).copied();
                if let Some(ep) = ep {
                    ep.destroy(Status::CANCELED, End::WithWorker);
                }
            }
        }
        Ep::abort_draining(self);
        self.tag.cancel_all();
        self.proto.postponed.end_all();
        device_copies::end_all(self);
        for message in self.proto.reassemblies.take_all() {
            super::tag::recv::sender_gone(self, &message, Status::CANCELED);
        }
        self.failover.close();
        if let Some(used) = &self.proto.used {
            used.print(self);
        }
        if let Some(cm) = self.wireup.cm.get() {
            cm.closing.end_all();
        }
        // Nothing calls from the async thread any more after this.
        drop(self.wireup.cm.take());
        self.core.close();
        if let Some(leaks) = leaks {
            self.report_leaks(&leaks);
        }
        while let Some(req) = self.requests.take() {
            if let Some(cleanup) = self.context().params.request_cleanup {
                // SAFETY: the user's function on its part of a request in no one's hands.
                unsafe { cleanup(req.user()) };
            }
        }
    }
}

/// A transport endpoint failed: so does the endpoint on top of it.
///
/// # Safety
/// `arg` must be the worker that registered this.
unsafe extern "C" fn transport_failed(
    arg: *mut c_void,
    uct_ep: uct_ep_h,
    status: ucs_status_t,
) -> ucs_status_t {
    // SAFETY: registered by the worker with itself.
    let worker = unsafe { &*arg.cast::<Core>() };
    let status = Status::from_code(status).unwrap_or(Status::CONNECTION_RESET);
    let lane = worker.endpoints().by_lane.borrow().get(&uct_ep).copied();
    let Some(ep) = lane else {
        if failover::on_transport_failure(worker, uct_ep, status) {
            return UCS_OK;
        }
        ucs_error!("a transport endpoint that nobody uses failed: {status}");
        return UCS_OK;
    };
    match ep.on_rail_failure(uct_ep) {
        None => {}
        Some(false) => {
            ucs_diag!("{}: a rail is left out from now on: {status}", ep.name());
            return UCS_OK;
        }
        Some(true) => {
            ucs_diag!("{}: a rail has failed: {status}", ep.name());
            ep.on_used_rail_failed(status);
            return UCS_OK;
        }
    }
    let uuid = ep.remote_uuid.get();
    let is_draining = worker.endpoints().eps.borrow().get(ep.id.get()).is_none();
    // The connection manager's status is more precise.
    ep.fail(ep.connection_gone().unwrap_or(status));
    if !is_draining {
        close::end_unattended_messages(worker, uuid, status);
    }
    UCS_OK
}
