//! The log line for each new endpoint configuration: the transports and their use.
//!
//! In upstream's form: `  NAME SCOPE cfg#N tag(transport/device ...)  rma(...)`. An access that goes by
//! messages stands as `rma_am` and `amo_am`. At level debug one line more for each transport that is not used says why.
#![forbid(unsafe_code)]

use super::select;
use crate::c::*;
use crate::ucp::config::TABLE;
use crate::ucp::ep::{Capability, Ep};
use crate::ucp::worker_core::{Core, bandwidth};
use crate::ucs::config::{OnOff, var};
use crate::ucs::log::{self, Level};
use crate::ucs_info;
use crate::wire::address::Address;

/// An endpoint configuration of a worker: interface for messages, for single copies, for copies by devices, and the peer's
/// scope.
pub type EpConfig = (usize, Option<usize>, Option<usize>, &'static str);

/// What `UCX_PRINT_TRANSPORT_TABLES` says.
fn tables_wanted(w: &Core) -> OnOff {
    let config = &w.context().config;
    config.on_off(var!(TABLE, "PRINT_TRANSPORT_TABLES"))
}

/// Prints the interfaces of a new worker where that is asked for.
pub fn print_interfaces(w: &Core) {
    if tables_wanted(w) != OnOff::On {
        return;
    }
    let context = w.context();
    let rows = w.ifaces.iter().map(|iface| {
        let r = &context.resources[iface.resource];
        let name = format!("{}/{}", r.transport.name(), r.device.name);
        let bandwidth = bandwidth(&iface.attr, context.processes_here) / 1e6;
        let latency = iface.attr.latency.c * 1e6;
        format!("{name:<24} {bandwidth:>10.0} MB/s {latency:>8.2} us\n")
    });
    let table: String = rows.collect();
    log::print(&format!("{}: transports/devices\n{table}", w.params.name));
}

/// Logs the configuration of an endpoint that was just connected, if it is the first of its kind.
pub fn log_config(ep: &Ep) {
    let w = ep.worker();
    let wanted = tables_wanted(w);
    let shown = match wanted {
        OnOff::On => true,
        OnOff::Off => false,
        OnOff::Auto => log::enabled(Level::Info),
    };
    let Some(address) = ep.address().filter(|_| shown) else {
        return;
    };
    let lane = ep.lane().iface;
    let iface_for = |capability| select::iface_for(w, address, capability);
    let config = (
        lane,
        iface_for(Capability::SingleCopy),
        iface_for(Capability::DeviceCopy),
        scope(w, lane, address),
    );
    let (number, is_new) = w.wireup().ep_configs.number(config);
    if is_new {
        let line = line(w, config, number);
        if wanted == OnOff::On {
            log::print(&line);
        } else {
            ucs_info!("  {line}");
        }
        if log::enabled(Level::Debug) {
            let beside = config.1.into_iter().chain(config.2);
            let used: Vec<usize> = beside.chain([lane]).collect();
            select::explain_unused(w, address, &used);
        }
    }
}

/// The peer's scope.
fn scope(w: &Core, iface: usize, address: &Address) -> &'static str {
    let context = w.context();
    let device = &context.resources[w.ifaces[iface].resource].device;
    if address.uuid == w.uuid {
        "self"
    } else if device.reaches_other_hosts() {
        "inter-node"
    } else {
        "intra-node"
    }
}

fn line(w: &Core, (lane, copies, devices, scope): EpConfig, number: usize) -> String {
    let context = w.context();
    let name = |i: usize| {
        let r = &context.resources[w.ifaces[i].resource];
        format!("{}/{}", r.transport.name(), r.device.name)
    };
    let messages = name(lane);
    let named = |i: Option<usize>| i.map_or(String::new(), |i| format!(" {}", name(i)));
    let devices = named(devices);
    let second = named(copies) + &devices;
    let cap = &w.ifaces[lane].attr.cap;
    // Memory is accessed directly if the transport for messages maps it.
    let mapped = cap.flags & UCT_IFACE_FLAG_PUT_SHORT != 0;
    let atomics = cap.flags & UCT_IFACE_FLAG_ATOMIC_CPU != 0;
    let rma = match (mapped, copies) {
        (true, _) => format!("rma({messages}{second})"),
        (false, Some(i)) => format!("rma({}{devices})", name(i)),
        (false, None) => format!("rma_am({messages}{devices})"),
    };
    let amo = if atomics { "amo" } else { "amo_am" };
    let parts = [
        (UCP_FEATURE_TAG, format!("tag({messages}{second})")),
        (UCP_FEATURE_RMA, rma),
        (
            UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
            format!("{amo}({messages})"),
        ),
        (UCP_FEATURE_AM, format!("am({messages}{second})")),
        (UCP_FEATURE_STREAM, format!("stream({messages})")),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(feature, _)| context.params.features & u64::from(*feature) != 0)
        .map(|(_, text)| text)
        .collect();
    format!(
        "{} {scope} cfg#{number} {}",
        context.params.name,
        parts.join("  ")
    )
}
