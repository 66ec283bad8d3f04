//! The variables of `cuda_copy` and of its memory domain.
#![forbid(unsafe_code)]

use crate::ucs::config::{Kind, Row, Table};
use crate::uct::base::config as shared;

/// Where managed memory is, by `PREF_LOC`.
pub const PLACES: &[&str] = &["cpu", "gpu"];
pub const GPU: usize = 1;

/// What memory of a pool is, by `ASYNC_MEM_TYPE`.
pub const POOL_TYPES: &[&str] = &["cuda", "cuda-managed"];
pub const MANAGED: usize = 1;

pub static MD: Table = Table {
    name: "cuda_copy memory domain configuration",
    prefix: "CUDA_COPY_",
    parent: None,
    rows: &[
        Row {
            name: "REG_WHOLE_ALLOC",
            default: "auto",
            doc: "Whether the whole allocation is told for a part of it; auto: up to MAX_REG_RATIO.",
            kind: Kind::OnOffAuto,
        },
        Row {
            name: "MAX_REG_RATIO",
            default: "0.1",
            doc: "With REG_WHOLE_ALLOC=auto, the largest allocation that is told whole, as a part of the device's memory.",
            kind: Kind::Double,
        },
        Row::without_effect(
            "DMABUF",
            "try",
            &Kind::Ternary,
            "Whether device memory is told to other devices by dmabuf descriptors.",
            "no other device reaches device memory here",
        ),
        Row {
            name: "PREF_LOC",
            default: "cpu",
            doc: "Where managed memory is taken to be: at the processor, or at its device.",
            kind: Kind::Enum(PLACES),
        },
        Row::without_effect(
            "ENABLE_FABRIC",
            "try",
            &Kind::Ternary,
            "Whether memory is allocated so that other nodes of an NVLink fabric reach it.",
            "memory is allocated by cuMemAlloc()",
        ),
        Row {
            name: "ASYNC_MEM_TYPE",
            default: "cuda-managed",
            doc: "The memory type of memory that cudaMallocAsync() allocated.",
            kind: Kind::Enum(POOL_TYPES),
        },
        Row {
            name: "RETAIN_PRIMARY_CTX",
            default: "n",
            doc: "Whether memory is allocated in the first device's primary context when the thread has no context.",
            kind: Kind::Bool,
        },
    ],
};

pub static IFACE: Table = Table {
    name: "cuda_copy transport configuration",
    prefix: "CUDA_COPY_",
    parent: Some(&shared::IFACE),
    rows: &[
        Row {
            name: "MAX_POLL",
            default: "16",
            doc: "Most copies that complete in one call of progress.",
            kind: Kind::UInt,
        },
        Row {
            name: "MAX_EVENTS",
            default: "inf",
            doc: "Most copies under way on an interface.",
            kind: Kind::UInt,
        },
        Row::without_effect(
            "BW",
            "10000MBs,h2d:8300MBs,d2h:11660MBs,d2d:320GBs",
            &Kind::StrArray,
            "Bytes a second between the memories of host and device.",
            "nothing is chosen by it: only this transport copies memory of devices",
        ),
    ],
};
