//! `UCX_PROTO_INFO`: the protocols of messages and accesses by length, as tables in the log or in files of
//! `UCX_PROTO_INFO_DIR`.
//!
//! A table is made by calling the functions that choose the protocol, at every length where their result can change, so
//! it shows what happens and not what was intended. Each kind of endpoint of a worker is described once, when its first
//! endpoint is connected. `rows`: the tables, `ways`: how one operation goes; `used`: the operations counted by them.
#![forbid(unsafe_code)]

mod rows;
mod used;
mod ways;

pub use rows::Verb;
pub use used::{UsedProtocols, count_access, count_atomic, count_message};

use crate::sys::file;
use crate::ucp::config::TABLE;
use crate::ucp::ep::{Capability, Ep};
use crate::ucp::protocol_info::ProtocolInfo;
use crate::ucs::config::units::print_memory;
use crate::ucs::config::{Config, var};
use crate::ucs::log;
use crate::ucs_error;
use rows::Table;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// A range of lengths ends at the next one's start.
struct Row {
    from: usize,
    way: String,
    by: String,
    /// The operations that took it, where they are counted.
    count: u64,
}

/// Describes an endpoint that was just connected, if that is wanted and its kind is new.
pub fn describe(ep: &Ep) {
    if let Some(used) = &ep.worker().proto().used {
        used.on_connected(ep);
        return;
    }
    let config = &ep.worker().context().config;
    let wanted = ProtocolInfo::of(config);
    if wanted == ProtocolInfo::Nothing {
        return;
    }
    let (number, is_new) = number(ep);
    if !is_new {
        return;
    }
    let who = who(ep, number);
    for table in rows::tables(ep) {
        if wanted.has(&table.title) {
            print(config, &who, &table, false);
        }
    }
}

/// The number of an endpoint's kind, and whether it is the first of that kind.
fn number(ep: &Ep) -> (usize, bool) {
    let w = ep.worker();
    let copies = ep.lane_with(Capability::SingleCopy).map(|lane| lane.iface);
    let to_itself = ep.remote_uuid.get() == w.uuid;
    let kind = (ep.lane().iface, copies, to_itself);
    w.proto().described.number(kind)
}

/// Prints a table to the log, and to a file of `UCX_PROTO_INFO_DIR`.
fn print(config: &Config, who: &str, table: &Table, counted: bool) {
    let text = draw(who, table, counted);
    log::print(&text);
    let dir = config.str(var!(TABLE, "PROTO_INFO_DIR"));
    if dir.is_empty() {
        return;
    }
    let name: String = format!("{}_{who}_{}.txt", std::process::id(), table.title)
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

/// All tables of an endpoint, drawn as comments, for `ucp_ep_print_info`.
pub fn drawn(ep: &Ep) -> String {
    let who = who(ep, 0);
    let mut s = String::new();
    for table in rows::tables(ep) {
        for line in draw(&who, &table, false).lines() {
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

/// A length as it stands in a range.
fn length(bytes: usize) -> String {
    if bytes >= 1024 && bytes.is_multiple_of(1024) {
        print_memory(bytes)
    } else {
        bytes.to_string()
    }
}

/// The table as text, with a column of counts if they are counted.
fn draw(who: &str, table: &Table, counted: bool) -> String {
    let (title, rows) = (&table.title, &table.rows);
    let ranges: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(i, r)| match rows.get(i + 1) {
            Some(next) if next.from == r.from + 1 => length(r.from),
            Some(next) => format!("{}..{}", length(r.from), next.from - 1),
            None => format!("{}..inf", length(r.from)),
        })
        .collect();
    let counts: Vec<String> = rows.iter().map(|r| r.count.to_string()).collect();
    let widest = |heading: &str, cells: &mut dyn Iterator<Item = usize>| {
        cells.max().unwrap_or(0).max(heading.len())
    };
    let count = widest("Count", &mut counts.iter().map(String::len));
    let range = widest("Range", &mut ranges.iter().map(String::len));
    let by = widest("Config", &mut rows.iter().map(|r| r.by.len()));
    let way = widest("Description", &mut rows.iter().map(|r| r.way.len()));
    let in_counts = |text: String| if counted { text } else { String::new() };
    let counts_width = if counted { count + 3 } else { 0 };
    // The titles stand across all columns.
    let across = counts_width + range + way + by + 6;
    let way = way + title.len().max(who.len()).saturating_sub(across);
    let across = counts_width + range + way + by + 6;
    let line = format!(
        "  +-{}{}-+-{}-+-{}-+\n",
        in_counts(format!("{}-+-", "-".repeat(count))),
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
        "  | {}{:^range$} | {:^way$} | {:^by$} |",
        in_counts(format!("{:^count$} | ", "Count")),
        "Range",
        "Description",
        "Config"
    );
    s.push_str(&line);
    for ((r, cell), n) in rows.iter().zip(&ranges).zip(&counts) {
        let n = in_counts(format!("{n:>count$} | "));
        let _ = writeln!(
            s,
            "  | {n}{cell:>range$} | {:<way$} | {:<by$} |",
            r.way, r.by
        );
    }
    s.push_str(&line);
    s
}

#[cfg(test)]
mod tests {
    use super::rows::Subject;
    use super::*;

    fn row(from: usize, way: &str, by: &str, count: u64) -> Row {
        Row {
            from,
            way: way.to_owned(),
            by: by.to_owned(),
            count,
        }
    }

    #[test]
    fn a_table_is_as_wide_as_its_titles() {
        let table = Table {
            subject: Subject::of_host(Verb::Tag),
            title: "a title that is wider than everything in all of the columns".to_owned(),
            rows: vec![
                row(0, "eager short", "posix/memory", 0),
                row(93, "x", "cma/memory", 1_234_567),
            ],
        };
        for counted in [false, true] {
            let text = draw("me", &table, counted);
            let widths: Vec<usize> = text.lines().map(str::len).collect();
            assert!(widths.iter().all(|w| *w == widths[0]), "{text}");
            assert!(text.contains("|   0..92 | eager short"), "{text}");
            assert!(text.contains("| 93..inf | x"), "{text}");
            assert_eq!(text.contains("|  Count  |"), counted, "{text}");
            assert_eq!(text.contains("| 1234567 | 93..inf |"), counted, "{text}");
        }
    }
}
