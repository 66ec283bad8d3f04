//! What contexts, workers, endpoints and requests say about themselves, in the form that tools and
//! Open MPI read.

use super::context::Context;
use super::ep::Ep;
use super::mem::{MapParams, Region};
use super::proto::op::{Kind, Op};
use super::request::Request;
use super::wireup::select;
use super::worker::Worker;
use crate::c::*;
use crate::sys::mem::page_size;
use crate::ucs::Status;
use crate::ucs::config::units::{parse_memory, print_memory};
use std::fmt::Write;

impl Context {
    /// Components, memory domains, and a line for each transport on a device.
    pub fn describe(&self) -> String {
        let mut s = String::from("#\n# UCP context\n#\n");
        let mut components: Vec<&str> = Vec::new();
        for md in &self.mds {
            if !components.contains(&md.component.component.name()) {
                components.push(md.component.component.name());
            }
        }
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
    /// Allocates `spec` bytes (`1m`, `4k`), tells how, and frees them.
    pub fn describe_memory(&self, spec: &str) -> String {
        let mut s = String::from("#\n# UCP memory allocation\n#\n");
        let Some(length) = parse_memory(spec) else {
            let _ = writeln!(s, "#  {spec} is no size\n#");
            return s;
        };
        let params = MapParams {
            address: core::ptr::null_mut(),
            length,
            flags: UCP_MEM_MAP_ALLOCATE,
            prot: UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE,
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
                let _ = writeln!(s, "#  registered on: {}", region.domains(self).join(" "));
                let _ = writeln!(s, "#\n#  rkey size: {}", region.pack(self).len());
                if let Err(e) = region.unmap(self) {
                    let _ = writeln!(s, "#  not released: {e}");
                }
            }
            Err(e) => {
                let _ = writeln!(s, "#  cannot be allocated: {e}");
            }
        }
        s.push_str("#\n");
        s
    }
}

impl Worker {
    pub fn describe(&self) -> String {
        format!(
            "#\n# UCP worker '{}'\n#\n#                 address: {} bytes\n#\n",
            self.params.name,
            self.address(false).pack().len()
        )
    }
}

impl Ep {
    pub fn describe(&self) -> String {
        let mut s = String::from("#\n# UCP endpoint \n#\n#               peer: <no debug data>\n");
        let w = self.worker();
        let lanes = [
            Some((self.lane().iface, "am")),
            self.bulk(select::bulk_lane).map(|(_, i)| (i, "rma_bw#0")),
        ];
        for (n, (iface, role)) in lanes.into_iter().flatten().enumerate() {
            let r = &w.context().resources[w.ifaces[iface].resource];
            let _ = writeln!(
                s,
                "#                 lane[{n}]: {:2}:{}/{}.0 md[{}]  -> {role}",
                w.ifaces[iface].resource,
                r.transport.name(),
                r.device.name,
                r.md
            );
        }
        s.push_str("#\n");
        s
    }
}

impl Request {
    /// One line on what the request is in the middle of.
    pub fn describe(&self) -> String {
        if self.is_done() {
            let status = Status::from_code(self.status())
                .map_or("complete".to_owned(), |e| format!("complete: {e}"));
            return status;
        }
        // SAFETY: the only borrow; nothing is called while it lives.
        match unsafe { self.op() } {
            Op::Send(s) => {
                let kind = match &s.kind {
                    Kind::Tag { tag } => format!("tag send {tag:#x}"),
                    Kind::TagSync { tag } => format!("synchronous tag send {tag:#x}"),
                    Kind::Am { hdr, .. } => format!("active message {}", hdr.id),
                    Kind::Stream { .. } => "stream send".to_owned(),
                };
                format!("{kind} of {} bytes: {:?}", s.data.len(), s.stage)
            }
            Op::TagRecv(r) => format!(
                "tag receive of {} bytes: {}",
                r.data.len(),
                if r.entry.is_some() {
                    "posted"
                } else {
                    "matched"
                }
            ),
            Op::DataRecv(r) => format!("data receive of {} bytes", r.data.len()),
            Op::StreamRecv(r) => format!("stream receive of {} bytes", r.data.len()),
            Op::Flush(_) => "flush".to_owned(),
            Op::Get(g) => format!("get of {} bytes", g.data.len()),
            Op::Put(p) => format!("put of {} bytes", p.data.len()),
            Op::GetServe(g) => format!("answer of {} bytes", g.data.len()),
            Op::Amo(a) => format!("atomic of {} bytes", a.atomic.size),
            Op::None => "none".to_owned(),
        }
    }
}
