//! The variables of the cma transport and of its memory domain.
#![forbid(unsafe_code)]

use crate::ucs::config::{Kind, Row, Table};
use crate::uct::base::config as shared;

/// What every transport that copies through the kernel has.
pub static SCOPY: Table = Table {
    name: "single-copy transport",
    prefix: "SCOPY_",
    parent: Some(&shared::SM),
    rows: &[
        Row {
            name: "MAX_IOV",
            default: "16",
            doc: "Most entries of the list of one put or get; above 16 means 16.",
            kind: Kind::PlainULong,
        },
        Row {
            name: "SEG_SIZE",
            default: "512k",
            doc: "Bytes copied in one go. Longer transfers are cut, and take turns.",
            kind: Kind::MemUnits,
        },
        Row {
            name: "TX_QUOTA",
            default: "1",
            doc: "Segments copied in one call of progress.",
            kind: Kind::UInt,
        },
        Row {
            name: "TX_MAX_BUFS",
            default: "-1",
            doc: "Most transfers under way on an interface; -1 for no limit.",
            kind: Kind::Int,
        },
        Row::without_effect(
            "TX_BUFS_GROW",
            "8",
            &Kind::UInt,
            "How many transfers are allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "TX_MAX_CHUNK_SIZE",
            "128m",
            &Kind::MemUnits,
            "Most bytes of transfers allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "TX_GROW_FACTOR",
            "1.0",
            &Kind::Double,
            "Growth of the number of transfers allocated at a time.",
            "each is allocated alone",
        ),
    ],
};

pub static IFACE: Table = Table {
    name: "cma transport configuration",
    prefix: "CMA_",
    parent: Some(&SCOPY),
    rows: &[
        Row::inherited("ALLOC", "huge,thp,mmap,heap"),
        Row::inherited("BW", "11145MBs"),
    ],
};

pub static MD: Table = Table {
    name: "CMA memory domain configuration",
    prefix: "CMA_",
    parent: None,
    rows: &[Row {
        name: "MEMORY_INVALIDATE",
        default: "n",
        doc: "Announce that memory can be invalidated. There are no registrations to invalidate: a \
              peer that knows an address reaches it until it is unmapped.",
        kind: Kind::Bool,
    }],
};
