//! `-d`: memory domains, the transports of each on its devices with what they can do, and connection managers.
#![forbid(unsafe_code)]

use super::Report;
use crate::c::*;
use crate::library::{Component, Iface, Library, Md, Resource, Result, Uct};
use crate::options::Options;
use crate::units::{limit, range};
use serde_json::{Map, Value, json};
use std::fmt::Write;

const MEMORY_TYPES: [&str; UCS_MEMORY_TYPE_LAST as usize] = [
    "host",
    "cuda",
    "cuda-managed",
    "rocm",
    "rocm-managed",
    "rdma",
    "ze-host",
    "ze-device",
    "ze-managed",
    "gaudi",
];

/// Lines of text with a member of a JSON object each.
#[derive(Default)]
struct Facts {
    text: String,
    json: Map<String, Value>,
}

impl Facts {
    /// `name` ends in column `column`; without its spaces it is the member's name.
    fn add(&mut self, column: usize, name: &str, shown: impl AsRef<str>, value: impl Into<Value>) {
        let _ = writeln!(self.text, "#{name:>column$}: {}", shown.as_ref());
        let key = name.trim().to_lowercase().replace(' ', "_");
        self.json.insert(key, value.into());
    }
}

pub fn report(library: &Library, options: &Options) -> Result<Report> {
    let uct = Uct::new(library)?;
    let (mut text, mut domains, mut managers) = (String::new(), Vec::new(), Vec::new());
    for component in library.components()? {
        for domain in &component.domains {
            let described = domain_facts(library, &uct, &component, domain, options);
            if let Some(facts) = described {
                text += &facts.text;
                domains.push(Value::Object(facts.json));
            }
        }
        if component.flags & u64::from(UCT_COMPONENT_FLAG_CM) != 0 {
            let facts = manager_facts(&uct, &component);
            text += &facts.text;
            managers.push(Value::Object(facts.json));
        }
    }
    Ok(Report {
        name: "devices",
        text,
        json: json!({ "memory_domains": domains, "connection_managers": managers }),
    })
}

fn manager_facts(uct: &Uct, component: &Component) -> Facts {
    let mut facts = Facts::default();
    facts.json.insert("name".to_owned(), json!(component.name));
    let _ = writeln!(facts.text, "#\n# Connection manager: {}", component.name);
    match uct.open_cm(component).and_then(|cm| cm.max_private_data()) {
        Ok(max) => facts.add(19, "max_conn_priv", format!("{max} bytes"), max),
        Err(e) => failed(&mut facts, "connection manager", &e.to_string()),
    }
    facts
}

fn failed(facts: &mut Facts, what: &str, why: &str) {
    let _ = writeln!(facts.text, "#   < failed to open {what}: {why} >");
    facts.json.insert("error".to_owned(), json!(why));
}

/// None if the domain has nothing of the one transport that is asked for.
fn domain_facts(
    library: &Library,
    uct: &Uct,
    component: &Component,
    name: &str,
    options: &Options,
) -> Option<Facts> {
    let mut facts = Facts::default();
    facts.json.insert("name".to_owned(), json!(name));
    let _ = writeln!(facts.text, "#\n# Memory domain: {name}");
    facts.add(14, "Component", &component.name, component.name.clone());
    let asked = |resource: &Resource| {
        let wanted = options.transport.as_ref();
        wanted.is_none_or(|wanted| *wanted == resource.transport)
    };
    let md = match component.open(name) {
        Ok(md) => md,
        Err(e) => {
            failed(&mut facts, "memory domain", &e.to_string());
            return options.transport.is_none().then_some(facts);
        }
    };
    let resources = match md.resources() {
        Ok(resources) => resources,
        Err(e) => {
            failed(&mut facts, "memory domain", &e.to_string());
            return Some(facts);
        }
    };
    let resources: Vec<_> = resources.into_iter().filter(asked).collect();
    if resources.is_empty() && options.transport.is_some() {
        return None;
    }
    match md.attributes() {
        Ok(attr) => memory_facts(&mut facts, component, &attr),
        Err(e) => failed(&mut facts, "memory domain", &e.to_string()),
    }
    facts.text += "#\n";
    if resources.is_empty() {
        facts.text += "#   < no supported devices found >\n";
    }
    let mut transports = Vec::new();
    for resource in &resources {
        let described = transport_facts(library, uct, &md, resource);
        facts.text += &described.text;
        transports.push(Value::Object(described.json));
    }
    facts
        .json
        .insert("transports".to_owned(), transports.into());
    Some(facts)
}

/// A cost of so much for each call and so much for each unit, in nanoseconds.
fn cost(cost: &ucs_linear_func_t) -> String {
    let constant = format!("{:.0}", cost.c * 1e9);
    match cost.m * 1e9 {
        growth if growth.abs() > f64::EPSILON => format!("{constant} + {growth:.3} * N nsec"),
        _ => format!("{constant} nsec"),
    }
}

fn memory_facts(facts: &mut Facts, component: &Component, attr: &uct_md_attr_v2_t) {
    let has = |flag: u32| attr.flags & u64::from(flag) != 0;
    if has(UCT_MD_FLAG_ALLOC) {
        facts.add(21, "allocate", limit(attr.max_alloc), attr.max_alloc);
    }
    if has(UCT_MD_FLAG_REG) {
        let dmabuf = if attr.dmabuf_mem_types != 0 {
            ", dmabuf"
        } else {
            ""
        };
        let max = limit(attr.max_reg as u64);
        let shown = format!("{max}{dmabuf}, cost: {}", cost(&attr.reg_cost));
        let value = json!({ "max": attr.max_reg, "seconds": attr.reg_cost.c, "seconds_a_byte": attr.reg_cost.m });
        facts.add(21, "register", shown, value);
    }
    if has(UCT_MD_FLAG_NEED_RKEY) {
        let size = attr.rkey_packed_size;
        facts.add(21, "remote key", format!("{size} bytes"), size);
    }
    let rkey_ptr = component.flags & u64::from(UCT_COMPONENT_FLAG_RKEY_PTR) != 0;
    let statements = [
        (
            has(UCT_MD_FLAG_NEED_MEMH),
            "local memory handle is required for zcopy",
        ),
        (rkey_ptr, "rkey_ptr is supported"),
        (
            has(UCT_MD_FLAG_INVALIDATE),
            "memory invalidation is supported",
        ),
    ];
    let held = statements.iter().filter(|(holds, _)| *holds);
    let held: Vec<&str> = held.map(|(_, statement)| *statement).collect();
    for statement in &held {
        let _ = writeln!(facts.text, "#           {statement}");
    }
    facts.json.insert("statements".to_owned(), json!(held));
    if attr.reg_alignment > 1 {
        let _ = writeln!(
            facts.text,
            "#            alignment: {:x}",
            attr.reg_alignment
        );
        facts
            .json
            .insert("alignment".to_owned(), json!(attr.reg_alignment));
    }
    let mut shown = Vec::new();
    let mut json = Map::new();
    for (number, name) in MEMORY_TYPES.iter().enumerate() {
        let kinds = [
            (attr.access_mem_types, "access"),
            (attr.alloc_mem_types, "alloc"),
            (attr.reg_nonblock_mem_types, "reg_nonblock"),
            (attr.reg_mem_types, "reg"),
            (attr.cache_mem_types, "cache"),
            (attr.detect_mem_types, "detect"),
            (attr.dmabuf_mem_types, "dmabuf"),
        ];
        let of_type = kinds.iter().filter(|(types, _)| types >> number & 1 != 0);
        let of_type: Vec<&str> = of_type.map(|(_, kind)| *kind).collect();
        // What can only be accessed is not worth a word, as in upstream's text.
        if of_type.iter().any(|kind| *kind != "access") {
            shown.push(format!("{name} ({})", of_type.join(",")));
            json.insert((*name).to_owned(), json!(of_type));
        }
    }
    facts.add(21, "memory types", shown.join(", "), json);
}

fn transport_facts(library: &Library, uct: &Uct, md: &Md, resource: &Resource) -> Facts {
    let mut facts = Facts::default();
    facts.add(
        15,
        "Transport",
        &resource.transport,
        resource.transport.clone(),
    );
    facts.add(15, "Device", &resource.device, resource.device.clone());
    let kind = match resource.device_type {
        UCT_DEVICE_TYPE_NET => "network",
        UCT_DEVICE_TYPE_SHM => "intra-node",
        UCT_DEVICE_TYPE_ACC => "accelerator",
        UCT_DEVICE_TYPE_SELF => "loopback",
        _ => "unknown",
    };
    facts.add(15, "Type", kind, kind);
    match resource.system_device {
        UCS_SYS_DEVICE_ID_UNKNOWN => facts.add(15, "System device", "<unknown>", Value::Null),
        device => {
            let name = library.system_device(device);
            facts.add(15, "System device", format!("{name} ({device})"), name);
        }
    }
    let opened = uct.open_iface(md, resource);
    match opened.as_ref().map(Iface::attributes) {
        Ok(Ok(attr)) => {
            facts.text += "#\n#      capabilities:\n";
            capabilities(&mut facts, &attr);
        }
        Ok(Err(e)) => failed(&mut facts, "interface", &e.to_string()),
        Err(e) => failed(&mut facts, "interface", &e.to_string()),
    }
    facts.text += "#\n";
    facts
}

fn bound(min: usize, max: usize) -> Value {
    json!({ "min": min, "max": max })
}

/// The limits of one kind of operation.
struct Limits {
    short: usize,
    bcopy: usize,
    zcopy: (usize, usize),
    iov: usize,
    align: usize,
    mtu: usize,
}

/// Of a member of `uct_iface_attr_cap`: those have the same names and types of their own.
macro_rules! limits {
    ($cap:expr) => {
        Limits {
            short: $cap.max_short,
            bcopy: $cap.max_bcopy,
            zcopy: ($cap.min_zcopy, $cap.max_zcopy),
            iov: $cap.max_iov,
            align: $cap.opt_zcopy_align,
            mtu: $cap.align_mtu,
        }
    };
}

/// An operation by its forms, of which the interface `has` some: short, bcopy, zcopy.
fn operation(facts: &mut Facts, name: &str, has: [bool; 3], limits: &Limits) {
    let size = |facts: &mut Facts, has: bool, what: &str, max: usize| {
        if has {
            facts.add(21, &format!("{name}_{what}"), limit(max as u64), max);
        }
    };
    let [short, bcopy, zcopy] = has;
    size(facts, short, "short", limits.short);
    size(facts, bcopy, "bcopy", limits.bcopy);
    if zcopy {
        let ((min, max), iov) = (limits.zcopy, limits.iov);
        let shown = format!("{}, up to {iov} iov", range(min as u64, max as u64));
        let mut value = bound(min, max);
        value["iov"] = json!(iov);
        facts.add(21, &format!("{name}_zcopy"), shown, value);
    }
    size(facts, zcopy, "opt_zcopy_align", limits.align);
    size(facts, zcopy, "align_mtu", limits.mtu);
}

fn capabilities(facts: &mut Facts, attr: &uct_iface_attr_t) {
    let cap = &attr.cap;
    let flags = cap.flags;
    let has = |flag: u64| flags & flag != 0;
    const MEGA: f64 = 1048576.0;
    let bandwidth = &attr.bandwidth;
    let shown = format!(
        "{:.2}/ppn + {:.2} MB/sec",
        bandwidth.shared / MEGA,
        bandwidth.dedicated / MEGA
    );
    let value = json!({ "shared": bandwidth.shared, "dedicated": bandwidth.dedicated });
    facts.add(21, "bandwidth", shown, value);
    let value = json!({ "seconds": attr.latency.c, "seconds_an_endpoint": attr.latency.m });
    facts.add(21, "latency", cost(&attr.latency), value);
    facts.add(
        21,
        "overhead",
        format!("{:.0} nsec", attr.overhead * 1e9),
        attr.overhead,
    );
    let has_all = |short: u64, bcopy: u64, zcopy: u64| [short, bcopy, zcopy].map(has);
    let put = has_all(
        UCT_IFACE_FLAG_PUT_SHORT,
        UCT_IFACE_FLAG_PUT_BCOPY,
        UCT_IFACE_FLAG_PUT_ZCOPY,
    );
    operation(facts, "put", put, &limits!(cap.put));
    let get = has_all(
        UCT_IFACE_FLAG_GET_SHORT,
        UCT_IFACE_FLAG_GET_BCOPY,
        UCT_IFACE_FLAG_GET_ZCOPY,
    );
    operation(facts, "get", get, &limits!(cap.get));
    let am = has_all(
        UCT_IFACE_FLAG_AM_SHORT,
        UCT_IFACE_FLAG_AM_BCOPY,
        UCT_IFACE_FLAG_AM_ZCOPY,
    );
    operation(facts, "am", am, &limits!(cap.am));
    if has(UCT_IFACE_FLAG_AM_ZCOPY) {
        facts.add(
            21,
            "am header",
            limit(cap.am.max_hdr as u64),
            cap.am.max_hdr,
        );
    }
    tag_capabilities(facts, attr);
    atomic_capabilities(facts, attr);
    let named = |names: &[(u64, &str)]| {
        let names = names.iter().filter(|(flag, _)| has(*flag));
        let names: Vec<String> = names.map(|(_, name)| (*name).to_owned()).collect();
        (
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            },
            names,
        )
    };
    let (shown, names) = named(&[
        (UCT_IFACE_FLAG_CONNECT_TO_EP, "to ep"),
        (UCT_IFACE_FLAG_CONNECT_TO_IFACE, "to iface"),
        (UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR, "to sockaddr"),
    ]);
    facts.add(21, "connection", shown, names);
    facts.add(
        21,
        "device priority",
        attr.priority.to_string(),
        attr.priority,
    );
    facts.add(
        21,
        "device num paths",
        attr.dev_num_paths.to_string(),
        attr.dev_num_paths,
    );
    // No number, as upstream's `inf`, is null.
    let eps = attr.max_num_eps;
    match eps {
        usize::MAX => facts.add(21, "max eps", "inf", Value::Null),
        eps => facts.add(21, "max eps", eps.to_string(), eps),
    }
    facts.add(
        21,
        "device address",
        format!("{} bytes", attr.device_addr_len),
        attr.device_addr_len,
    );
    if has(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        facts.add(
            21,
            "iface address",
            format!("{} bytes", attr.iface_addr_len),
            attr.iface_addr_len,
        );
    }
    if has(UCT_IFACE_FLAG_CONNECT_TO_EP) {
        facts.add(
            21,
            "ep address",
            format!("{} bytes", attr.ep_addr_len),
            attr.ep_addr_len,
        );
    }
    let (shown, names) = named(&[
        (UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF, "buffer (short)"),
        (UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF, "buffer (bcopy)"),
        (UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF, "buffer (zcopy)"),
        (UCT_IFACE_FLAG_ERRHANDLE_AM_ID, "active-message id"),
        (UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM, "remote access"),
        (UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN, "bcopy length"),
        (UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE, "peer failure"),
        (UCT_IFACE_FLAG_EP_CHECK, "ep_check"),
        (UCT_IFACE_FLAG_EP_KEEPALIVE, "keepalive"),
    ]);
    facts.add(21, "error handling", shown, names);
}

/// Of transports that match tags themselves.
fn tag_capabilities(facts: &mut Facts, attr: &uct_iface_attr_t) {
    let tag = &attr.cap.tag;
    let has = |flag: u64| attr.cap.flags & flag != 0;
    let with_iov = |max: usize, iov: usize| format!("{}, up to {iov} iov", limit(max as u64));
    if has(UCT_IFACE_FLAG_TAG_EAGER_SHORT) {
        let max = tag.eager.max_short;
        facts.add(21, "tag_eager_short", limit(max as u64), max);
    }
    if has(UCT_IFACE_FLAG_TAG_EAGER_BCOPY) {
        let max = tag.eager.max_bcopy;
        facts.add(21, "tag_eager_bcopy", limit(max as u64), max);
    }
    if has(UCT_IFACE_FLAG_TAG_EAGER_ZCOPY) {
        let eager = &tag.eager;
        facts.add(
            21,
            "tag_eager_zcopy",
            with_iov(eager.max_zcopy, eager.max_iov),
            eager.max_zcopy,
        );
    }
    if has(UCT_IFACE_FLAG_TAG_RNDV_ZCOPY) {
        let rndv = &tag.rndv;
        facts.add(
            21,
            "tag_rndv_zcopy",
            with_iov(rndv.max_zcopy, rndv.max_iov),
            rndv.max_zcopy,
        );
        facts.add(
            21,
            "rndv private header",
            limit(rndv.max_hdr as u64),
            rndv.max_hdr,
        );
    }
    let kinds = UCT_IFACE_FLAG_TAG_EAGER_SHORT
        | UCT_IFACE_FLAG_TAG_EAGER_BCOPY
        | UCT_IFACE_FLAG_TAG_EAGER_ZCOPY
        | UCT_IFACE_FLAG_TAG_RNDV_ZCOPY;
    if has(kinds) {
        let recv = &tag.recv;
        let shown = format!(
            "{}, up to {} iov",
            range(recv.min_recv as u64, recv.max_zcopy as u64),
            recv.max_iov
        );
        facts.add(21, "tag_recv", shown, bound(recv.min_recv, recv.max_zcopy));
        let max = recv.max_outstanding;
        facts.add(21, "tag_max_outstanding", limit(max as u64), max);
    }
}

fn atomic_capabilities(facts: &mut Facts, attr: &uct_iface_attr_t) {
    let cap = &attr.cap;
    if cap.flags & UCT_IFACE_FLAG_ATOMIC_DEVICE != 0 {
        facts.add(21, "domain", "device", "device");
    }
    if cap.flags & UCT_IFACE_FLAG_ATOMIC_CPU != 0 {
        facts.add(21, "domain", "cpu", "cpu");
    }
    let (posted, fetching) = (
        [cap.atomic32.op_flags, cap.atomic64.op_flags],
        [cap.atomic32.fop_flags, cap.atomic64.fop_flags],
    );
    let operations = [
        (posted, UCT_ATOMIC_OP_ADD, "add"),
        (posted, UCT_ATOMIC_OP_AND, "and"),
        (posted, UCT_ATOMIC_OP_OR, "or"),
        (posted, UCT_ATOMIC_OP_XOR, "xor"),
        (fetching, UCT_ATOMIC_OP_ADD, "fadd"),
        (fetching, UCT_ATOMIC_OP_AND, "fand"),
        (fetching, UCT_ATOMIC_OP_OR, "for"),
        (fetching, UCT_ATOMIC_OP_XOR, "fxor"),
        (fetching, UCT_ATOMIC_OP_SWAP, "swap"),
        (fetching, UCT_ATOMIC_OP_CSWAP, "cswap"),
    ];
    for (flags, operation, name) in operations {
        let widths: Vec<u32> = [32, 64]
            .into_iter()
            .zip(flags)
            .filter(|(_, flags)| flags >> operation & 1 != 0)
            .map(|(width, _)| width)
            .collect();
        if !widths.is_empty() {
            let shown: Vec<String> = widths.iter().map(u32::to_string).collect();
            facts.add(
                21,
                &format!("atomic_{name}"),
                format!("{} bit", shown.join(", ")),
                widths,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_that_grow_say_by_how_much() {
        assert_eq!(cost(&ucs_linear_func_t { c: 16e-6, m: 0.0 }), "16000 nsec");
        assert_eq!(
            cost(&ucs_linear_func_t { c: 6e-7, m: 1e-9 }),
            "600 + 1.000 * N nsec"
        );
    }
}
