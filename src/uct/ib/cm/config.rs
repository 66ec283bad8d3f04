//! The variables of the connection manager of RDMA devices, and the values it works with.
#![forbid(unsafe_code)]

use crate::ucs::config::{Config, Kind, Row, Table, var};
use crate::ucs::{Result, Status, log, sockaddr};
use crate::uct::auth::Auth;
use crate::uct::cm::config::{COMMON, level};
use crate::{ucs_debug, ucs_error};
use std::net::{IpAddr, SocketAddr};

pub static TABLE: Table = Table {
    name: "RDMA-CM connection manager configuration",
    prefix: "RDMA_CM_",
    parent: Some(&COMMON),
    rows: &[
        Row::new(
            "SOURCE_ADDRESS",
            "",
            Kind::Str,
            "The address that clients come from; empty for the one that the route to the server has.",
        ),
        Row::new(
            "TIMEOUT",
            "10s",
            Kind::Time,
            "How long a client looks for the server's device and for the way there.",
        ),
        Row::without_effect(
            "RESERVED_QPN",
            "try",
            &Kind::Ternary,
            "Whether connections have numbers of queue pairs that the device reserves for them.",
            "each connection has a queue pair of its own for its number",
        ),
    ],
};

/// It has no memory domains, and so no variables of them.
pub static MD: Table = Table {
    name: "RDMA-CM memory domain configuration",
    prefix: "RDMACM_",
    parent: None,
    rows: &[],
};

pub(super) struct Settings {
    pub failure_level: log::Level,
    pub reuse_address: bool,
    /// The clients' own end.
    pub source: Option<IpAddr>,
    pub timeout_ms: i32,
}

impl Settings {
    pub fn read(config: &Config) -> Result<Settings> {
        if Auth::read(config)?.is_some() {
            ucs_debug!(
                "rdmacm is not used: its connections cannot prove the secret of UCX_TCP_AUTH_FILE"
            );
            return Err(Status::UNSUPPORTED);
        }
        let source = config.str(var!(TABLE, "SOURCE_ADDRESS"));
        let source = match source {
            "" => None,
            text => Some(sockaddr::parse_ip(text).inspect_err(|_| {
                ucs_error!("UCX_RDMA_CM_SOURCE_ADDRESS={text} is no IP address");
            })?),
        };
        let timeout_ms = config.time(var!(TABLE, "TIMEOUT")) * 1e3;
        Ok(Settings {
            failure_level: level(config.enum_index(var!(TABLE, "FAILURE"))),
            reuse_address: config.bool(var!(TABLE, "REUSEADDR")),
            source,
            // As a cast bounds it, too.
            timeout_ms: timeout_ms.max(1.0) as i32,
        })
    }

    /// The end of a client that does not name one, to a server of that family.
    pub fn source_for(&self, to: SocketAddr) -> Option<SocketAddr> {
        let source = self.source.map(|ip| SocketAddr::new(ip, 0));
        source.filter(|source| source.is_ipv4() == to.is_ipv4())
    }
}
