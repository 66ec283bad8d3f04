//! The variables of the connection manager over TCP, and the values it works with.
#![forbid(unsafe_code)]

use crate::sys::socket::Options;
use crate::ucs::config::{AUTO, Bytes, Config, Kind, Row, Table, Var, var};
use crate::ucs::{Result, Status, log};
use crate::uct::auth::Auth;
use crate::uct::cm::config::{COMMON, level};
use std::sync::Arc;
use std::time::Duration;

pub static TABLE: Table = Table {
    name: "TCP-SOCKCM connection manager configuration",
    prefix: "TCP_CM_",
    parent: Some(&COMMON),
    rows: &[
        Row {
            name: "PRIV_DATA_LEN",
            default: "2K",
            doc: "Private data that the application may send when connecting, besides 16 bytes that \
                  are always there.",
            kind: Kind::MemUnits,
        },
        Row {
            name: "SNDBUF",
            default: "auto",
            doc: "Socket send buffer.",
            kind: Kind::MemUnits,
        },
        Row {
            name: "RCVBUF",
            default: "auto",
            doc: "Socket receive buffer.",
            kind: Kind::MemUnits,
        },
        Row {
            name: "SYN_CNT",
            default: "auto",
            doc: "How often the kernel repeats a connection request.",
            kind: Kind::ULong,
        },
        Row {
            name: "USER_TIMEOUT",
            default: "auto",
            doc: "How long sent data may stay unacknowledged before the peer counts as gone.",
            kind: Kind::Time,
        },
    ],
};

/// What UCP needs besides the application's own private data.
const PRIVATE_BASE: usize = 16;
/// Bounds what an unauthenticated peer can make us keep.
const MAX_PRIVATE: usize = 1 << 20;

pub(super) struct Settings {
    pub failure_level: log::Level,
    pub reuse_address: bool,
    /// Most bytes of private data, sent or taken.
    pub max_private: usize,
    pub options: Options,
    /// Authentication of connections, if a secret is set.
    pub auth: Option<Arc<Auth>>,
}

impl Settings {
    pub fn read(config: &Config) -> Result<Settings> {
        let size = |var: Var<Bytes>| Some(config.memunits(var)).filter(|n| *n < AUTO);
        let private = config.memunits(var!(TABLE, "PRIV_DATA_LEN"));
        if private > MAX_PRIVATE {
            crate::ucs_error!("UCX_TCP_CM_PRIV_DATA_LEN must be at most 1 MiB");
            return Err(Status::INVALID_PARAM);
        }
        let syn = config.ulong(var!(TABLE, "SYN_CNT"));
        let timeout = config.time(var!(TABLE, "USER_TIMEOUT"));
        Ok(Settings {
            failure_level: level(config.enum_index(var!(TABLE, "FAILURE"))),
            reuse_address: config.bool(var!(TABLE, "REUSEADDR")),
            max_private: private + PRIVATE_BASE,
            options: Options {
                nodelay: true,
                send_buffer: size(var!(TABLE, "SNDBUF")),
                receive_buffer: size(var!(TABLE, "RCVBUF")),
                syn_count: (syn < AUTO).then(|| u32::try_from(syn).unwrap_or(u32::MAX)),
                user_timeout: (timeout.is_finite() && timeout > 0.0)
                    .then(|| Duration::from_secs_f64(timeout.min(1e9))),
                keepalive: None,
                unpaced: false,
            },
            auth: Auth::read(config)?,
        })
    }
}
