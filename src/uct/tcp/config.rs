//! The variables of tcp and its memory domain, and the values an interface works with.
#![forbid(unsafe_code)]

use super::device::{Family, Selection};
use crate::sys::socket::{Keepalive, Options};
use crate::ucs::config::{
    AUTO, Bytes, Config, Count, Kind, Row, Seconds, Table, Ternary, Var, var,
};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::auth;
use crate::uct::base::config as shared;
use std::time::Duration;

pub static MD: Table = Table {
    name: "TCP memory domain configuration",
    prefix: "TCP_",
    parent: None,
    rows: &[
        Row::new(
            "AF_PRIO",
            "inet,inet6",
            Kind::StrArray,
            "Address families to use for interfaces that have several, best first.",
        ),
        Row::new(
            "BRIDGE_ENABLE",
            "n",
            Kind::Bool,
            "Offer bridge interfaces too.",
        ),
        auth::FILE_ROW,
        auth::ENCRYPT_ROW,
    ],
};

pub static IFACE: Table = Table {
    name: "tcp transport configuration",
    prefix: "TCP_",
    parent: Some(&shared::IFACE),
    rows: &[
        Row::inherited("MAX_NUM_EPS", "256"),
        Row::new(
            "TX_SEG_SIZE",
            "8K",
            Kind::MemUnits,
            "Most bytes of one copied active message, headers included.",
        ),
        Row::new(
            "RX_SEG_SIZE",
            "64K",
            Kind::MemUnits,
            "Most bytes of one active message sent without copying, headers included.",
        ),
        Row::new(
            "MAX_IOV",
            "6",
            Kind::ULong,
            "Most entries of a gather list.",
        ),
        Row::new(
            "SENDV_THRESH",
            "2K",
            Kind::MemUnits,
            "From this size on, zero-copy messages are sent from where they are.",
        ),
        Row::new(
            "PREFER_DEFAULT",
            "y",
            Kind::Bool,
            "Give the interface of the default route a higher priority.",
        ),
        Row::new("PUT_ENABLE", "y", Kind::Bool, "Offer put zcopy."),
        Row::without_effect(
            "CONN_NB",
            "n",
            &Kind::Bool,
            "Connect without blocking.",
            "connecting never blocks",
        ),
        Row::new(
            "MAX_POLL",
            "16",
            Kind::UInt,
            "Most sockets served by one progress call.",
        ),
        Row::new(
            "MAX_CONN_RETRIES",
            "25",
            Kind::UInt,
            "How often a connection is tried again.",
        ),
        Row::new(
            "NODELAY",
            "y",
            Kind::Bool,
            "Switch off the kernel's own gathering of small packets.",
        ),
        Row::new("SNDBUF", "auto", Kind::MemUnits, "Socket send buffer."),
        Row::new("RCVBUF", "auto", Kind::MemUnits, "Socket receive buffer."),
        Row::new(
            "SYN_CNT",
            "auto",
            Kind::ULong,
            "How often the kernel repeats a connection request.",
        ),
        Row::new(
            "USER_TIMEOUT",
            "auto",
            Kind::Time,
            "How long sent data may stay unacknowledged before the peer counts as gone.",
        ),
        Row::new(
            "TX_MAX_BUFS",
            "-1",
            Kind::Int,
            "Most send buffers of an interface; -1 for no limit.",
        ),
        Row::without_effect(
            "TX_BUFS_GROW",
            "8",
            &Kind::UInt,
            "How many send buffers are allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "TX_MAX_CHUNK_SIZE",
            "128M",
            &Kind::MemUnits,
            "Most bytes of send buffers allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "TX_GROW_FACTOR",
            "1.0",
            &Kind::Double,
            "Growth of the number of send buffers allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "RX_MAX_BUFS",
            "-1",
            &Kind::Int,
            "Most receive buffers of an interface; -1 for no limit.",
            "a connection has one receive buffer",
        ),
        Row::without_effect(
            "RX_BUFS_GROW",
            "8",
            &Kind::UInt,
            "How many receive buffers are allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "RX_MAX_CHUNK_SIZE",
            "128M",
            &Kind::MemUnits,
            "Most bytes of receive buffers allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "RX_GROW_FACTOR",
            "1.0",
            &Kind::Double,
            "Growth of the number of receive buffers allocated at a time.",
            "each is allocated alone",
        ),
        Row::new(
            "PORT_RANGE",
            "0",
            Kind::RangeSpec,
            "Ports to listen on; 0 for any.",
        ),
        Row::new(
            "MAX_BW",
            "2200MBs",
            Kind::Bandwidth,
            "Upper bound of the bandwidth that an interface states.",
        ),
        Row::new(
            "KEEPIDLE",
            "10s",
            Kind::Time,
            "How long a connection is idle before it is probed; inf for never.",
        ),
        Row::new(
            "KEEPCNT",
            "auto",
            Kind::ULong,
            "How many probes fail before the peer counts as gone.",
        ),
        Row::new("KEEPINTVL", "2s", Kind::Time, "Time between probes."),
        Row::new(
            "EP_BIND_SRC_ADDR",
            "try",
            Kind::Ternary,
            "Connect from the interface's own address.",
        ),
    ],
};

/// The action when a socket cannot be bound to the interface's own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindSource {
    No,
    Try,
    Must,
}

/// The values of an interface, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Most bytes of the body of a copied active message, and of one sent in place.
    pub max_copy: usize,
    pub max_zcopy: usize,
    pub max_iov: usize,
    /// Zero-copy messages below this are copied.
    pub gather_below: usize,
    pub prefer_default: bool,
    pub put: bool,
    pub max_poll: usize,
    pub max_retries: u32,
    pub options: Options,
    pub ports: (u16, u16),
    /// Bytes a second.
    pub max_bandwidth: f64,
    pub bind_source: BindSource,
    pub max_eps: usize,
    /// Silence of a host that was asked for an answer, after which it counts as gone.
    pub max_silence: Option<Duration>,
}

/// Bounds of what the variables may say, so that buffers stay bounded.
const MIN_SEG: usize = 256;
const MAX_SEG: usize = 16 << 20;
/// A message in place may be as much longer than `UCX_TCP_RX_SEG_SIZE`: one of 64 KiB goes whole, with its header.
const HEADER: usize = 64;
/// The longest active message of any interface.
pub const MAX_AM: usize = MAX_SEG + HEADER;
/// The kernel gathers at most 1024 blocks; a list must also fit a stack array.
const MAX_IOV: usize = 64;

impl Settings {
    pub fn read(config: &Config) -> Result<Settings> {
        let seg = |var: Var<Bytes>| {
            let n = config.memunits(var);
            if (MIN_SEG..=MAX_SEG).contains(&n) {
                return Ok(n);
            }
            ucs_error!(
                "UCX_TCP_{} must be between {MIN_SEG} bytes and 16 MiB",
                var.name()
            );
            Err(Status::INVALID_PARAM)
        };
        let max_copy = seg(var!(IFACE, "TX_SEG_SIZE"))?;
        let max_iov = config.ulong(var!(IFACE, "MAX_IOV"));
        if !(1..=MAX_IOV).contains(&max_iov) {
            ucs_error!("UCX_TCP_MAX_IOV must be between 1 and {MAX_IOV}");
            return Err(Status::INVALID_PARAM);
        }
        let (first, last) = config.range(var!(IFACE, "PORT_RANGE"));
        let (Ok(first), Ok(last)) = (u16::try_from(first), u16::try_from(last)) else {
            ucs_error!("UCX_TCP_PORT_RANGE: ports are below 65536");
            return Err(Status::INVALID_PARAM);
        };
        Ok(Settings {
            max_copy,
            max_zcopy: (seg(var!(IFACE, "RX_SEG_SIZE"))? + HEADER).max(max_copy),
            max_iov,
            gather_below: config.memunits(var!(IFACE, "SENDV_THRESH")),
            prefer_default: config.bool(var!(IFACE, "PREFER_DEFAULT")),
            put: config.bool(var!(IFACE, "PUT_ENABLE")),
            max_poll: (config.uint(var!(IFACE, "MAX_POLL")) as usize).clamp(1, 256),
            max_retries: config.uint(var!(IFACE, "MAX_CONN_RETRIES")),
            options: options(config),
            ports: (first, last),
            max_bandwidth: match config.bandwidth(var!(IFACE, "MAX_BW")) {
                n if n > 0.0 => n,
                _ => f64::INFINITY,
            },
            bind_source: match config.ternary(var!(IFACE, "EP_BIND_SRC_ADDR")) {
                Ternary::Yes => BindSource::Must,
                Ternary::No => BindSource::No,
                Ternary::Try | Ternary::Auto => BindSource::Try,
            },
            max_eps: config.ulong(var!(IFACE, "MAX_NUM_EPS")),
            max_silence: max_silence(config),
        })
    }
}

/// As long as the kernel needs to find an idle peer gone. `None` when keepalive is off.
fn max_silence(config: &Config) -> Option<Duration> {
    let time = |var: Var<Seconds>| Some(config.time(var)).filter(|t| *t > 0.0);
    let idle = time(var!(IFACE, "KEEPIDLE")).unwrap_or(DEFAULT_IDLE);
    let interval = time(var!(IFACE, "KEEPINTVL")).unwrap_or(DEFAULT_INTERVAL);
    let count = Some(config.ulong(var!(IFACE, "KEEPCNT"))).filter(|n| *n < AUTO);
    let total = idle + interval * count.unwrap_or(DEFAULT_COUNT) as f64;
    (total < 1e9).then(|| Duration::from_secs_f64(total))
}

/// The kernel's own values, for what is left to it.
const DEFAULT_IDLE: f64 = 7200.0;
const DEFAULT_INTERVAL: f64 = 75.0;
const DEFAULT_COUNT: usize = 9;

fn options(config: &Config) -> Options {
    let size = |var: Var<Bytes>| Some(config.memunits(var)).filter(|n| *n < AUTO);
    let count = |var: Var<Count>| {
        let n = config.ulong(var);
        (n < AUTO).then(|| u32::try_from(n).unwrap_or(u32::MAX))
    };
    let time = |var: Var<Seconds>| {
        let t = config.time(var);
        (t.is_finite() && t > 0.0).then(|| Duration::from_secs_f64(t.min(1e9)))
    };
    let idle = config.time(var!(IFACE, "KEEPIDLE"));
    Options {
        nodelay: config.bool(var!(IFACE, "NODELAY")),
        send_buffer: size(var!(IFACE, "SNDBUF")),
        receive_buffer: size(var!(IFACE, "RCVBUF")),
        syn_count: count(var!(IFACE, "SYN_CNT")),
        // No default: the kernel's clock also runs while a living peer does not read for a while,
        // and its connection must not be lost for that.
        user_timeout: time(var!(IFACE, "USER_TIMEOUT")),
        keepalive: (!idle.is_infinite()).then(|| Keepalive {
            idle: time(var!(IFACE, "KEEPIDLE")),
            interval: time(var!(IFACE, "KEEPINTVL")),
            count: count(var!(IFACE, "KEEPCNT")),
        }),
        unpaced: false,
    }
}

/// Which devices a memory domain offers.
pub fn selection(config: &Config) -> Result<Selection> {
    let mut families = Vec::new();
    for name in config.list(var!(MD, "AF_PRIO")) {
        families.push(match name.as_str() {
            "inet" => Family::V4,
            "inet6" => Family::V6,
            other => {
                ucs_error!("UCX_TCP_AF_PRIO: {other} is no address family; there are inet, inet6");
                return Err(Status::INVALID_PARAM);
            }
        });
    }
    Ok(Selection::new(
        families,
        config.bool(var!(MD, "BRIDGE_ENABLE")),
    ))
}
