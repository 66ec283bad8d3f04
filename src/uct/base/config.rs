//! Rows that every transport has; a transport's table names `IFACE` as its parent and may restate a
//! row to give it another default.
#![forbid(unsafe_code)]

use crate::ucs::config::{Kind, Row, Table};

/// Names of `UCX_*ALLOC`, by `UCT_ALLOC_METHOD_*`.
pub const ALLOC_METHODS: &[&str] = &["thp", "md", "heap", "mmap", "huge"];

pub static IFACE: Table = Table {
    name: "transport interface",
    prefix: "",
    parent: None,
    rows: &[
        Row {
            name: "MAX_SHORT",
            default: "",
            doc: "The segment size of the transport stands in its place.",
            kind: Kind::Deprecated,
        },
        Row {
            name: "MAX_BCOPY",
            default: "",
            doc: "The segment size of the transport stands in its place.",
            kind: Kind::Deprecated,
        },
        Row {
            name: "ALLOC",
            default: "huge,thp,md,mmap,heap",
            doc: "In which order memory allocation methods are tried.",
            kind: Kind::Array(&Kind::Enum(ALLOC_METHODS)),
        },
        Row {
            name: "FAILURE",
            default: "diag",
            doc: "Log level of transport failures.",
            kind: Kind::Enum(crate::ucs::log::LEVEL_NAMES),
        },
        Row {
            name: "MAX_NUM_EPS",
            default: "inf",
            doc: "Most endpoints an interface is expected to create.",
            kind: Kind::ULong,
        },
    ],
};

/// The configuration of every shared-memory transport.
pub static SM: Table = Table {
    name: "shared memory transport",
    prefix: "SM_",
    parent: Some(&IFACE),
    rows: &[Row {
        name: "BW",
        default: "15360MBs",
        doc: "Bytes a second that this transport is believed to carry.",
        kind: Kind::Bandwidth,
    }],
};
