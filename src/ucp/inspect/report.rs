//! A worker's report, made on its thread, in no callback of the user's: nothing is borrowed, and nothing is changed.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::sys::clock;
use crate::ucp::ep::{Ep, EpRef, Task};
use crate::ucp::op::Op;
use crate::ucp::request::Req;
use crate::ucp::worker_core::{Core, OpenIface};
use crate::ucs::json::{Object, text};
use std::collections::HashSet;

/// Endpoints, and requests, of a worker that are told one by one.
const MOST_ENDPOINTS: usize = 256;
const MOST_REQUESTS: usize = 64;
const NS_PER_MS: u64 = 1_000_000;
/// Queued tasks of an endpoint that are told one by one.
const MOST_TASKS: usize = 4;

pub fn worker(core: &Core) -> String {
    let endpoints: Vec<EpRef> = {
        let eps = core.endpoints().eps.borrow();
        eps.ids()
            .into_iter()
            .filter_map(|id| eps.get(id).copied())
            .collect()
    };
    let draining = core.endpoints().draining.borrow().len();
    let mut object = Object::new();
    object.text("name", &core.params.name);
    object.text("uuid", &format!("{:#x}", core.uuid));
    object.flag("makes_progress", true);
    object.text(
        "threads",
        match core.params.thread_mode {
            UCS_THREAD_MODE_MULTI => "multi",
            UCS_THREAD_MODE_SERIALIZED => "serialized",
            _ => "single",
        },
    );
    let ifaces: Vec<_> = core
        .ifaces
        .iter()
        .map(|iface| interface(core, iface))
        .collect();
    object.list("interfaces", &ifaces);
    let unopened: Vec<_> = core.unopened.iter().map(|(_, why)| text(why)).collect();
    object.list("not_opened", &unopened);
    object.json("counters", &core.counters_json());
    object.number("unexpected_bytes_held", core.unexpected.bytes_held() as u64);
    object.flag("receiving_is_paused", core.unexpected.is_paused());
    object.number("endpoints_count", endpoints.len() as u64);
    object.number("endpoints_draining", draining as u64);
    let told: Vec<_> = endpoints
        .iter()
        .take(MOST_ENDPOINTS)
        .map(|ep| endpoint(ep))
        .collect();
    object.list("endpoints", &told);
    let (done, mut pending): (Vec<_>, Vec<_>) = core
        .requests()
        .out()
        .into_iter()
        .partition(|req| req.is_done());
    // One that the application got by `ucp_request_alloc` and passed to a call is in both lists.
    let others: HashSet<_> = pending.iter().copied().collect();
    let foreign = core.requests().foreign().into_iter();
    pending.extend(foreign.filter(|req| !others.contains(req)));
    // The oldest first. All have a time, as the worker is one that notes it.
    pending.sort_by_key(|req| core.requests().began(*req));
    object.number("requests_pending", pending.len() as u64);
    object.number("requests_not_freed", done.len() as u64);
    let told: Vec<_> = pending
        .into_iter()
        .take(MOST_REQUESTS)
        .map(request)
        .collect();
    object.list("requests", &told);
    object.end()
}

fn interface(core: &Core, iface: &OpenIface) -> String {
    let resource = &core.context().resources[iface.resource];
    let mut object = Object::new();
    object.text("transport", resource.transport.name());
    object.text("device", &resource.device.name);
    object.flag("polled", iface.polled.get());
    object.end()
}

fn endpoint(ep: &Ep) -> String {
    let mut object = Object::new();
    object.text("name", &ep.name());
    object.text("peer", &format!("{:#x}", ep.remote_uuid.get()));
    object.text("state", &ep.state_text());
    let lanes = ep.lanes().map(|lane| text(&ep.name_of(lane.iface)));
    object.list("lanes", &lanes.collect::<Vec<_>>());
    object.json("sent", &ep.sent.to_json());
    let rails = ep.rail_parts().map(|(lane, parts)| {
        let mut rail = Object::new();
        rail.text("lane", &ep.name_of(lane.iface));
        rail.number("parts", parts.count.get());
        rail.number("bytes", parts.bytes.get());
        rail.end()
    });
    object.list("rails", &rails.collect::<Vec<_>>());
    let queue = ep.send_queue.with_tasks(|count, tasks| {
        let told: Vec<_> = tasks
            .take(MOST_TASKS)
            .map(|task| text(&task_text(task)))
            .collect();
        (count, told)
    });
    object.number("queued", queue.0 as u64);
    object.list("queue", &queue.1);
    if let Some(why) = ep.queue_waits_for() {
        object.text("queue_waits_for", why);
    }
    object.number("outstanding", ep.outstanding.len() as u64);
    object.end()
}

fn task_text(task: &Task) -> String {
    match task {
        Task::Request(req) => req.describe(),
        Task::Control(control) => control.id.to_string(),
        Task::Upstream(_) => "a message of the protocols of upstream UCX".to_owned(),
        Task::Serve(get) => format!("the reply to a get of {} bytes by the peer", get.length),
    }
}

fn request(req: Req) -> String {
    let mut object = Object::new();
    object.text("request", &req.describe());
    object.text("waits_for", req.waits_for());
    if let Some(began) = req.worker().requests().began(req) {
        let age = clock::monotonic_ns().saturating_sub(began);
        object.number("age_ms", age / NS_PER_MS);
    }
    if let Some(ep) = req.with_op(|op| endpoint_of(op)) {
        object.text("endpoint", &ep.name());
    }
    object.end()
}

/// The endpoint that an operation goes by.
fn endpoint_of(op: &Op) -> Option<EpRef> {
    match op {
        Op::Send(send) => Some(send.ep),
        Op::Put(put) => Some(put.ep),
        Op::Get(get) => Some(get.ep),
        Op::Amo(amo) => Some(amo.ep),
        Op::Flush(flush) => Some(flush.ep),
        Op::StreamRecv(receive) => Some(receive.ep),
        Op::TagRecv(receive) => receive.arriving.ep,
        Op::DataRecv(receive) => receive.arriving.ep,
        Op::None | Op::TagPostedFifo | Op::Disconnect | Op::TagWait(_) | Op::Composite(_) => None,
    }
}
