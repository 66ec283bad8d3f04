//! `UCX_PROTO_INFO`: the protocols of messages and accesses by length, as tables in the log or in files of
//! `UCX_PROTO_INFO_DIR`.
//!
//! A table is made by calling the functions that choose the protocol, at every length where their result can change, so
//! it shows what happens and not what was intended. Each kind of endpoint of a worker is described once, when its first
//! endpoint is connected.
#![forbid(unsafe_code)]

use super::send;
use crate::c::*;
use crate::sys::file;
use crate::ucp::config::TABLE;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep};
use crate::ucp::op::{MessageKind, Stage, UserHeader};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::rndv_state::SenderState;
use crate::ucs::config::units::print_memory;
use crate::ucs::config::{matches_pattern, var};
use crate::ucs::log;
use crate::ucs_error;
use crate::wire::header::{AmHdr, StreamHdr};
use crate::wire::id::EpName;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// A range of lengths ends at the next one's start.
struct Row {
    from: usize,
    way: String,
    by: String,
}

/// The tables that the configuration selects.
enum Wanted {
    Nothing,
    Everything,
    /// Tables whose title matches.
    Matching(String),
}

impl Wanted {
    fn read(text: &str) -> Wanted {
        match text.to_ascii_lowercase().as_str() {
            "" | "n" | "no" | "0" | "off" | "auto" => Wanted::Nothing,
            "y" | "yes" | "1" | "on" | "used" => Wanted::Everything,
            _ => Wanted::Matching(text.to_owned()),
        }
    }

    fn has(&self, title: &str) -> bool {
        match self {
            Wanted::Nothing => false,
            Wanted::Everything => true,
            Wanted::Matching(pattern) => matches_pattern(pattern, title),
        }
    }
}

/// Describes an endpoint that was just connected, if that is wanted and its kind is new.
pub fn describe(ep: &Ep) {
    let w = ep.worker();
    let config = &w.context().config;
    let wanted = Wanted::read(config.str(var!(TABLE, "PROTO_INFO")));
    if matches!(wanted, Wanted::Nothing) {
        return;
    }
    let copies = ep.lane_with(Capability::SingleCopy).map(|lane| lane.iface);
    let to_itself = ep.remote_uuid.get() == w.uuid;
    let kind = (ep.lane().iface, copies, to_itself);
    let Some(number) = w.proto().described.insert_if_new(kind) else {
        return;
    };
    let who = who(ep, number);
    let dir = config.str(var!(TABLE, "PROTO_INFO_DIR"));
    for (title, rows) in tables(ep) {
        if !wanted.has(&title) {
            continue;
        }
        let text = draw(&who, &title, &rows);
        log::print(&text);
        if !dir.is_empty() {
            let name: String = format!("{}_{who}_{title}.txt", std::process::id())
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() || ".-#".contains(c) {
                        c
                    } else {
                        '_'
                    }
                })
                .collect();
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true);
            let written = file::open_named_by_variable(&options, Path::new(dir).join(&name))
                .and_then(|mut file| file.write_all(text.as_bytes()));
            if let Err(e) = written {
                ucs_error!("UCX_PROTO_INFO_DIR={dir}: {name} cannot be written: {e}");
            }
        }
    }
}

/// All tables of an endpoint, drawn as comments, for `ucp_ep_print_info`.
pub fn drawn(ep: &Ep) -> String {
    let who = who(ep, 0);
    let mut s = String::new();
    for (title, rows) in tables(ep) {
        for line in draw(&who, &title, &rows).lines() {
            let _ = writeln!(s, "# {}", line.trim_start());
        }
    }
    s
}

/// Whose table it is.
fn who(ep: &Ep, number: usize) -> String {
    let w = ep.worker();
    let place = match (ep.remote_uuid.get() == w.uuid, ep.is_same_host()) {
        (true, _) => "self",
        (_, true) => "intra-node",
        _ => "inter-node",
    };
    format!("{} {place} cfg#{number}", w.context().params.name)
}

/// The tables of an endpoint, by the features of its context.
fn tables(ep: &Ep) -> Vec<(String, Vec<Row>)> {
    let has = |feature: u32| ep.worker().context().params.features & u64::from(feature) != 0;
    let am = MessageKind::Am {
        hdr: AmHdr {
            header: 0,
            id: 0,
            flags: 0,
            unused: 0,
        },
        reply: None,
        header: UserHeader::Ours(Box::default()),
    };
    let stream = MessageKind::Stream {
        hdr: StreamHdr {
            ep: EpName::default(),
        },
    };
    let sends = [
        (
            UCP_FEATURE_TAG,
            "tagged message by ucp_tag_send*",
            MessageKind::Tag { tag: 0 },
            RndvPolicy::ByLength,
        ),
        (
            UCP_FEATURE_TAG,
            "tagged message by ucp_tag_send*(fast-completion)",
            MessageKind::Tag { tag: 0 },
            RndvPolicy::LongOnly,
        ),
        (
            UCP_FEATURE_TAG,
            "synchronous tagged message by ucp_tag_send_sync*",
            MessageKind::TagSync { tag: 0 },
            RndvPolicy::ByLength,
        ),
        (
            UCP_FEATURE_AM,
            "active message by ucp_am_send*",
            am,
            RndvPolicy::ByLength,
        ),
        (
            UCP_FEATURE_STREAM,
            "stream message by ucp_stream_send*",
            stream,
            RndvPolicy::Mapped,
        ),
    ];
    let mut all = Vec::new();
    for (feature, title, kind, policy) in sends {
        if has(feature) {
            all.push((
                format!("{title} from host memory"),
                message_rows(ep, &kind, policy),
            ));
        }
    }
    let (name, rules) = (ep.transport_name(), ep.worker().proto().rules);
    let mapped = ep.is_same_host() && rules.maps;
    if mapped
        && ep.remote_uuid.get() != ep.worker().uuid
        && has(UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM)
    {
        let from = ep.lane().thresholds.rndv_mapped;
        let way = "rendezvous copy from mapped remote memory";
        let title = "message from host memory of ucp_mem_map that the peer can map".to_owned();
        all.push((title, vec![row(from, way, &name)]));
    }
    if has(UCP_FEATURE_RMA) {
        let (put, get) = access_ways(ep);
        for (verb, way) in [
            ("write by ucp_put* from host memory to", put),
            ("read by ucp_get* into host memory from", get),
        ] {
            all.push((format!("remote memory {verb} host"), vec![way]));
            if ep.is_same_host() || ep.remote_uuid.get() == ep.worker().uuid {
                let title = format!("remote memory {verb} host memory that is mapped here");
                all.push((title, vec![row(0, "copy", &name)]));
            }
        }
    }
    if has(UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64) {
        let title = "atomic operation by ucp_atomic_op* on host".to_owned();
        all.push((title, vec![row(0, "software emulation", &name)]));
        if ep.is_same_host() || ep.remote_uuid.get() == ep.worker().uuid {
            let title = "atomic operation by ucp_atomic_op* on host memory that is mapped here";
            all.push((
                title.to_owned(),
                vec![row(0, "processor instruction", &name)],
            ));
        }
    }
    all
}

fn row(from: usize, way: &str, by: &str) -> Row {
    Row {
        from,
        way: way.to_owned(),
        by: by.to_owned(),
    }
}

/// The protocol of a contiguous message by length.
fn message_rows(ep: &Ep, kind: &MessageKind, policy: RndvPolicy) -> Vec<Row> {
    let lane = ep.lane();
    let t = &lane.thresholds;
    let head = kind.header_len();
    let after = |limit: usize| limit.saturating_add(1);
    let mut lengths = vec![
        0,
        1,
        after(lane.max_short),
        t.zcopy,
        t.rndv,
        t.rndv_fast,
        after(lane.max_bcopy.saturating_sub(head)),
        after(lane.max_zcopy.saturating_sub(head)),
    ];
    lengths.retain(|length| *length < usize::MAX - 1);
    lengths.sort_unstable();
    let mut rows: Vec<Row> = Vec::new();
    for from in lengths {
        let (way, by) = message_way(ep, kind, from, policy);
        if rows
            .last()
            .is_none_or(|last| (&last.way, &last.by) != (&way, &by))
        {
            rows.push(Row { from, way, by });
        }
    }
    rows
}

/// The protocol of one message, and its transport.
fn message_way(ep: &Ep, kind: &MessageKind, length: usize, policy: RndvPolicy) -> (String, String) {
    let lane = ep.lane();
    let name = ep.transport_name();
    if kind.word().is_some() && lane.am_short.is_some() && length <= lane.max_short {
        return ("eager short".to_owned(), name);
    }
    // Memory at null is in no region, so mapped memory gets a table of its own.
    let data = Data::contig(core::ptr::null_mut(), length);
    match send::plan(ep, kind, &data, policy) {
        Stage::Whole => ("eager copy-in copy-out".to_owned(), name),
        Stage::WholeInPlace => ("eager zero-copy copy-out".to_owned(), name),
        Stage::Rndv(SenderState::SendRts) => rndv_way(ep),
        _ => ("multi-frag eager copy-in copy-out".to_owned(), name),
    }
}

/// How the data of a rendezvous message move. The receiver decides it, by the same rules as far as
/// its configuration is the same.
fn rndv_way(ep: &Ep) -> (String, String) {
    let rules = ep.worker().proto().rules;
    let copies = ep.lane_with(Capability::SingleCopy);
    let device = ep.lane_with(Capability::Rdma);
    let reads = copies.or(device);
    let writes = copies.or(ep.lane_with(Capability::PutByKey)).or(device);
    let (how, by) = if ep.remote_uuid.get() == ep.worker().uuid && rules.maps {
        ("copy from mapped remote memory", ep.transport_name())
    } else if let Some(lane) = reads.filter(|_| rules.reads) {
        ("zero-copy read from remote", ep.name_of(lane.iface))
    } else if let Some(lane) = writes.filter(|_| rules.writes) {
        ("zero-copy write to remote", ep.name_of(lane.iface))
    } else {
        ("fragmented copy-in copy-out", ep.transport_name())
    };
    (format!("(?) rendezvous {how}"), by)
}

/// How puts and gets of memory that is not mapped go.
fn access_ways(ep: &Ep) -> (Row, Row) {
    let emulated = || row(0, "software emulation", &ep.transport_name());
    let lane_with = |capability| ep.lane_with(capability);
    match (
        lane_with(Capability::SingleCopy),
        lane_with(Capability::PutByKey),
    ) {
        (Some(lane), _) => {
            let by = ep.name_of(lane.iface);
            (row(0, "zero-copy", &by), row(0, "zero-copy", &by))
        }
        (None, Some(lane)) => (row(0, "zero-copy", &ep.name_of(lane.iface)), emulated()),
        (None, None) => (emulated(), emulated()),
    }
}

/// A length as it stands in a range.
fn length(bytes: usize) -> String {
    if bytes >= 1024 && bytes.is_multiple_of(1024) {
        print_memory(bytes)
    } else {
        bytes.to_string()
    }
}

/// The table as text.
fn draw(who: &str, title: &str, rows: &[Row]) -> String {
    let ranges: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(i, r)| match rows.get(i + 1) {
            Some(next) if next.from == r.from + 1 => length(r.from),
            Some(next) => format!("{}..{}", length(r.from), next.from - 1),
            None => format!("{}..inf", length(r.from)),
        })
        .collect();
    let widest = |heading: &str, cells: &mut dyn Iterator<Item = usize>| {
        cells.max().unwrap_or(0).max(heading.len())
    };
    let range = widest("Range", &mut ranges.iter().map(String::len));
    let by = widest("Config", &mut rows.iter().map(|r| r.by.len()));
    let way = widest("Description", &mut rows.iter().map(|r| r.way.len()));
    // The titles stand across all columns.
    let across = range + way + by + 6;
    let way = way + title.len().max(who.len()).saturating_sub(across);
    let across = range + way + by + 6;
    let line = format!(
        "  +-{}-+-{}-+-{}-+\n",
        "-".repeat(range),
        "-".repeat(way),
        "-".repeat(by)
    );
    let mut s = line.clone();
    let _ = writeln!(s, "  | {who:<across$} |");
    let _ = writeln!(s, "  | {title:<across$} |");
    s.push_str(&line);
    let _ = writeln!(
        s,
        "  | {:^range$} | {:^way$} | {:^by$} |",
        "Range", "Description", "Config"
    );
    s.push_str(&line);
    for (r, cell) in rows.iter().zip(&ranges) {
        let _ = writeln!(s, "  | {cell:>range$} | {:<way$} | {:<by$} |", r.way, r.by);
    }
    s.push_str(&line);
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_wide_as_its_titles() {
        let rows = [
            row(0, "eager short", "posix/memory"),
            row(93, "x", "cma/memory"),
        ];
        let text = draw(
            "me",
            "a title that is wider than everything in all of the columns",
            &rows,
        );
        let widths: Vec<usize> = text.lines().map(str::len).collect();
        assert!(widths.iter().all(|w| *w == widths[0]), "{text}");
        assert!(text.contains("|   0..92 | eager short"), "{text}");
        assert!(text.contains("| 93..inf | x"), "{text}");
    }

    #[test]
    fn the_variable_selects_tables() {
        assert!(Wanted::read("Y").has("anything"));
        assert!(!Wanted::read("auto").has("anything"));
        let tag = Wanted::read("*tag_send*");
        assert!(tag.has("tagged message by ucp_tag_send* from host memory") && !tag.has("stream"));
    }
}
