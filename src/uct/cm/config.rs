//! The variables of every connection manager.
#![forbid(unsafe_code)]

use crate::ucs::config::{Kind, Row, Table};
use crate::ucs::log;
use crate::uct::auth;

pub static COMMON: Table = Table {
    name: "connection manager",
    prefix: "CM_",
    parent: Some(&auth::TABLE),
    rows: &[
        Row {
            name: "FAILURE",
            default: "diag",
            doc: "Log level of network failures of a server; those of a client are errors.",
            kind: Kind::Enum(log::LEVEL_NAMES),
        },
        Row {
            name: "REUSEADDR",
            default: "n",
            doc: "Let a listener take an address whose last connections are not forgotten yet.",
            kind: Kind::Bool,
        },
    ],
};

/// The level that `FAILURE` names.
pub fn level(index: usize) -> log::Level {
    use log::Level::*;
    const ALL: [log::Level; 12] = [
        Fatal, Error, Warn, Diag, Info, Debug, Trace, TraceReq, TraceData, TraceAsync, TraceFunc,
        TracePoll,
    ];
    ALL.get(index).copied().unwrap_or(Diag)
}
