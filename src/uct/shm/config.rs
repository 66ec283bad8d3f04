//! The variables of the posix and sysv transports and of their memory domains.
#![forbid(unsafe_code)]

use crate::ucs::config::{Kind, Row, Table};
use crate::uct::base::config as shared;

/// Keys of the overhead rows.
const OVERHEADS: &[(&str, &str)] = &[
    ("am_short", "short active messages"),
    ("am_bcopy", "buffered active messages"),
];

/// The configuration of both transports of this folder.
pub static MM: Table = Table {
    name: "memory mapped transport",
    prefix: "MM_",
    parent: Some(&shared::SM),
    rows: &[
        Row::inherited("ALLOC", "md,mmap,heap"),
        Row {
            name: "FIFO_SIZE",
            default: "256",
            doc: "Messages a sender may have on their way to one receiver; a power of two.",
            kind: Kind::UInt,
        },
        Row {
            name: "SEG_SIZE",
            default: "8256",
            doc: "Most bytes of one buffered active message.",
            kind: Kind::MemUnits,
        },
        Row {
            name: "FIFO_RELEASE_FACTOR",
            default: "0.5",
            doc: "After which share of the ring the receiver tells the sender that it has read on.",
            kind: Kind::Double,
        },
        Row::without_effect(
            "RX_MAX_BUFS",
            "-1",
            &Kind::Int,
            "Most buffers for kept messages; -1 for no limit.",
            "kept messages stand in private memory, without limit",
        ),
        Row::without_effect(
            "RX_BUFS_GROW",
            "512",
            &Kind::UInt,
            "How many buffers for kept messages are allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "RX_MAX_CHUNK_SIZE",
            "128M",
            &Kind::MemUnits,
            "Most bytes of buffers for kept messages allocated at a time.",
            "each is allocated alone",
        ),
        Row::without_effect(
            "RX_GROW_FACTOR",
            "2.0",
            &Kind::Double,
            "Growth of the number of buffers for kept messages allocated at a time.",
            "each is allocated alone",
        ),
        Row {
            name: "FIFO_HUGETLB",
            default: "n",
            doc: "Whether the rings stand in huge pages.",
            kind: Kind::Ternary,
        },
        Row {
            name: "FIFO_ELEM_SIZE",
            default: "128",
            doc: "Bytes of a ring's slot: a short message and its header.",
            kind: Kind::UInt,
        },
        Row {
            name: "FIFO_MAX_POLL",
            default: "16",
            doc: "Most messages of one sender that are handled in one call of progress.",
            kind: Kind::ULong,
        },
        Row::without_effect(
            "ERROR_HANDLING",
            "n",
            &Kind::Bool,
            "Whether the end of a peer is noticed and reported.",
            "it always is",
        ),
        Row {
            name: "SEND_OVERHEAD",
            default: "am_short:10ns,am_bcopy:10ns",
            doc: "Seconds a send is believed to cost the sender.",
            kind: Kind::KeyValue(OVERHEADS, &Kind::PlainTime),
        },
        Row::without_effect(
            "RECV_OVERHEAD",
            "am_short:10ns,am_bcopy:10ns",
            &Kind::KeyValue(OVERHEADS, &Kind::PlainTime),
            "Seconds a message is believed to cost the receiver.",
            "estimates count the sender's time",
        ),
    ],
};

pub static POSIX: Table = Table {
    name: "posix transport configuration",
    prefix: "POSIX_",
    parent: Some(&MM),
    rows: &[Row::inherited("RX_GROW_FACTOR", "1.0")],
};

pub static SYSV: Table = Table {
    name: "sysv transport configuration",
    prefix: "SYSV_",
    parent: Some(&MM),
    rows: &[],
};

pub static MM_MD: Table = Table {
    name: "memory mapped memory domain",
    prefix: "MM_",
    parent: None,
    rows: &[Row {
        name: "HUGETLB_MODE",
        default: "try",
        doc: "Whether memory is allocated from huge pages.",
        kind: Kind::Ternary,
    }],
};

pub static POSIX_MD: Table = Table {
    name: "posix memory domain configuration",
    prefix: "POSIX_",
    parent: Some(&MM_MD),
    rows: &[
        Row::without_effect(
            "DIR",
            "/dev/shm",
            &Kind::Str,
            "Folder of the files of shared memory.",
            "shared memory has no names in a file system",
        ),
        Row::without_effect(
            "SHM_MIN_SIZE",
            "16M",
            &Kind::MemUnits,
            "Room in the file system from which on shared memory is used.",
            "no room of a file system is used",
        ),
        Row::without_effect(
            "USE_PROC_LINK",
            "y",
            &Kind::Bool,
            "Whether peers open memory by /proc.",
            "peers get memory over a local socket from its owner",
        ),
    ],
};

pub static SYSV_MD: Table = Table {
    name: "sysv memory domain configuration",
    prefix: "SYSV_",
    parent: Some(&MM_MD),
    rows: &[],
};
