//! Descriptions of contexts, workers, endpoints and requests, in the form that tools and Open MPI parse.
#![forbid(unsafe_code)]

use super::after_fork;
use super::context::Context;
use super::ep::{Capability, Ep};
use super::mem::{MapParams, Purpose, Region};
use super::op::{Arriving, MessageKind, Op, Stage};
use super::proto::table;
use super::request::Request;
use super::rndv_state::{ReceiverState, SenderState};
use super::worker_core::Core;
use crate::c::*;
use crate::sys::machine::COMMIT;
use crate::sys::mem::page_size;
use crate::ucs::Status;
use crate::ucs::config::units::{parse_memory, print_memory};
use crate::uct::registry::{COMPONENTS, numbered};
use std::fmt::Write;

/// What library this is and how it was built, a line `name=value` for each fact.
pub fn describe_build() -> String {
    let transports = numbered();
    let transports: Vec<_> = transports.iter().map(|(_, t)| t.name()).collect();
    let profile = match cfg!(debug_assertions) {
        true => "debug",
        false => "release",
    };
    format!(
        "name=ferrucx\nversion={}\ncommit={}\nprofile={profile}\narchitecture={}\nenable_mt=1\nenable_params_check=1\n\
         transports={}\n",
        env!("CARGO_PKG_VERSION"),
        COMMIT,
        std::env::consts::ARCH,
        transports.join(",")
    )
}

impl Context {
    /// Components, memory domains, and a line for each transport on a device.
    pub fn describe(&self) -> String {
        let mut s = String::from("#\n# UCP context\n#\n");
        let components: Vec<_> = COMPONENTS
            .iter()
            .filter(|c| c.component.is_available())
            .map(|c| c.component.name())
            .collect();
        for (i, name) in components.iter().enumerate() {
            let _ = writeln!(s, "#     component {i:<2} :  {name}");
        }
        s.push_str("#\n");
        for (i, md) in self.mds.iter().enumerate() {
            let component = components
                .iter()
                .position(|c| *c == md.component.component.name())
                .unwrap_or(0);
            let _ = writeln!(
                s,
                "#            md {i:<2} :  component {component:<2} {} ",
                md.name
            );
        }
        s.push_str("#\n");
        for (i, r) in self.resources.iter().enumerate() {
            let _ = writeln!(
                s,
                "#      resource {i:<2} :  md {:<2} dev {:<2} flags -- {}/{}",
                r.md,
                r.device_index,
                r.transport.name(),
                r.device.name
            );
        }
        s.push_str("#\n");
        s
    }
}

impl Context {
    /// Allocates `spec` bytes (`1m`, `4k`), describes how, and frees them.
    pub fn describe_memory(&self, spec: &str) -> String {
        // A size, which may be followed by names of memory types.
        let size = spec.split(',').next().unwrap_or(spec);
        let length = match parse_memory(size) {
            Some(0) => return "<Memory size must be greater than 0>\n".to_owned(),
            Some(length) => length,
            None => return "<Failed to convert a memunits string>\n".to_owned(),
        };
        let mut s = String::from("#\n# UCP memory allocation\n#\n");
        let params = MapParams {
            address: core::ptr::null_mut(),
            length,
            flags: UCP_MEM_MAP_ALLOCATE,
            prot: UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE,
            kind: UCS_MEMORY_TYPE_HOST,
            purpose: Purpose::Application,
        };
        match Region::map(self, &params) {
            Ok(region) => {
                let _ = writeln!(
                    s,
                    "#  allocated {} at address {:p} with {}, pagesize: {}",
                    print_memory(length),
                    region.address,
                    region.method(self),
                    print_memory(page_size())
                );
                let domains = region.domains(self);
                let names: String = domains.iter().map(|d| format!("{d} ")).collect();
                let _ = writeln!(s, "#  registered on: {names}");
                let _ = writeln!(
                    s,
                    "#\n#  rkey size: {}",
                    region.pack_for_application(self).len()
                );
                if let Err(e) = Region::unmap(region) {
                    let _ = writeln!(s, "#  not released: {e}");
                }
            }
            Err(e) => {
                let _ = writeln!(s, "#  cannot be allocated: {e}");
            }
        }
        s
    }
}

impl Core {
    pub fn describe(&self) -> String {
        let mut s = format!(
            "#\n# UCP worker '{}'\n#\n#                 address: {} bytes\n",
            self.params.name,
            self.packed_address(false).len()
        );
        let atomics = UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
        if self.context().params.features & u64::from(atomics) != 0 {
            let names: Vec<String> = self
                .ifaces
                .iter()
                .filter(|i| i.attr.cap.flags & UCT_IFACE_FLAG_ATOMIC_CPU != 0)
                .map(|i| {
                    let r = &self.context().resources[i.resource];
                    format!("{}:{}/{}", i.resource, r.transport.name(), r.device.name)
                })
                .collect();
            let _ = writeln!(s, "#                 atomics: {}", names.join(", "));
        }
        let sent = after_fork::sent_by(self);
        for line in self.counters.lines(&sent, &self.wakeup.wake_ups) {
            let _ = writeln!(s, "#                 {line}");
        }
        s.push_str("#\n");
        s
    }
}

impl Ep {
    pub fn describe(&self) -> String {
        let mut s = String::from("#\n# UCP endpoint \n#\n#               peer: <no debug data>\n");
        let w = self.worker();
        // Opened now, if they were not before.
        self.lane_with(Capability::SingleCopy);
        self.lane_with(Capability::DeviceCopy);
        // A connection through a listener is a lane of its own, the first.
        let manager = self.cm_connection.borrow().is_some();
        if manager {
            s.push_str("#                 lane[0]: cm tcp\n");
        }
        for (n, lane) in self.lanes().enumerate() {
            let role = match n.checked_sub(1) {
                None => "am".to_owned(),
                Some(bulk) => format!("rma_bw#{bulk}"),
            };
            let n = n + usize::from(manager);
            let i = &w.ifaces[lane.iface];
            let r = &w.context().resources[i.resource];
            let lane = format!("{}/{}.0 md[{}]", r.transport.name(), r.device.name, r.md);
            let _ = writeln!(
                s,
                "#                 lane[{n}]: {:2}:{lane:<30} -> md[{}]/{}/sysdev[255] seg {} {role}",
                i.resource,
                r.md,
                w.context().mds[r.md].component.component.name(),
                i.attr.cap.am.max_bcopy
            );
        }
        for line in self.sent.lines() {
            let _ = writeln!(s, "#                 {line}");
        }
        for (lane, parts) in self.rail_parts() {
            let (lane, count, bytes) = (
                self.name_of(lane.iface),
                parts.count.get(),
                parts.bytes.get(),
            );
            let _ = writeln!(
                s,
                "#                 parts by {lane}: {count} ({bytes} bytes)"
            );
        }
        s.push_str("#\n");
        s.push_str(&table::drawn(self));
        s
    }
}

impl Request {
    /// What has to happen before it goes on.
    pub fn waits_for(&self) -> &'static str {
        self.with_op(|op| match op {
            Op::Send(send) => match send.stage {
                Stage::Unplanned { .. } => "the transport to the peer",
                Stage::Whole | Stage::Fragments { .. } => "room in the transport",
                Stage::WholeInPlace => "the transport, which sends it in place",
                Stage::Rndv(SenderState::RtsSent) => "the peer to receive it (the RTS is sent)",
                Stage::Rndv(SenderState::Put { .. }) => "the put of the data",
                Stage::Rndv(_) => "room in the transport for the next part of a rendezvous",
                Stage::AwaitAck => "the peer to receive it (a synchronous send)",
            },
            Op::TagPostedFifo | Op::TagWait(_) => "a message with a tag that matches",
            Op::TagRecv(receive) => receive.arriving.waits_for(),
            Op::DataRecv(receive) => receive.arriving.waits_for(),
            Op::StreamRecv(_) => "bytes of the peer's stream",
            Op::Flush(_) => "operations before it",
            Op::Disconnect => "the peer to disconnect",
            Op::Get(_) | Op::Put(_) | Op::Amo(_) => "the peer, or the transport, to do the access",
            Op::Composite(_) => "its operations",
            Op::None => "nothing",
        })
    }

    /// One line about the state of the request.
    pub fn describe(&self) -> String {
        if self.is_done() {
            let status = Status::from_code(self.status())
                .map_or("complete".to_owned(), |e| format!("complete: {e}"));
            return status;
        }
        self.with_op(|op| match op {
            Op::Send(s) => {
                let kind = match &s.kind {
                    MessageKind::Tag { tag } => format!("tag send {tag:#x}"),
                    MessageKind::TagSync { tag } => format!("synchronous tag send {tag:#x}"),
                    MessageKind::Am { hdr, .. } => format!("active message {}", hdr.id),
                    MessageKind::Stream { .. } => "stream send".to_owned(),
                };
                format!("{kind} of {} bytes: {}", s.data.len(), s.stage)
            }
            Op::TagPostedFifo => {
                let room = self.worker().tag().fifo_capacity(self);
                format!("tag receive of {} bytes: posted", room.unwrap_or(0))
            }
            Op::TagWait(r) => format!("tag receive of {} bytes: posted", r.data.len()),
            Op::TagRecv(r) => format!("tag receive of {} bytes: matched", r.data.len()),
            Op::DataRecv(r) => format!("data receive of {} bytes", r.data.len()),
            Op::StreamRecv(r) => format!("stream receive of {} bytes", r.data.len()),
            Op::Flush(_) => "flush".to_owned(),
            Op::Disconnect => "close".to_owned(),
            Op::Get(g) => format!("get of {} bytes", g.data.len()),
            Op::Put(p) => format!("put of {} bytes", p.data.len()),
            Op::Composite(_) => "several operations".to_owned(),
            Op::Amo(a) => format!("atomic of {} bytes", a.atomic.size),
            Op::None => "none".to_owned(),
        })
    }
}

impl Arriving {
    /// See `Request::waits_for`.
    fn waits_for(&self) -> &'static str {
        match self.state {
            ReceiverState::Getting => "the transport or a device, which reads the sender's memory",
            ReceiverState::Copying => "a device, which copies the data",
            ReceiverState::AwaitPut => "the sender to put the data",
            ReceiverState::AwaitData => "the sender's fragments",
            ReceiverState::Matched | ReceiverState::Over => "the rest of the message",
        }
    }
}
