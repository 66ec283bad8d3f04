//! The variables of `cuda_ipc` and of its memory domain.
#![forbid(unsafe_code)]

use crate::ucs::config::{Kind, Row, Table};
use crate::uct::base::config as shared;

pub static MD: Table = Table {
    name: "cuda_ipc memory domain configuration",
    prefix: "CUDA_IPC_",
    parent: None,
    rows: &[
        Row::without_effect(
            "ENABLE_MNNVL",
            "try",
            &Kind::Ternary,
            "Whether memory of other nodes of an NVLink fabric is reached.",
            "only processes of one host are reached",
        ),
        Row {
            name: "CACHE_MAX_REGIONS",
            default: "inf",
            doc: "Most allocations of other processes that stay mapped for the next access.",
            kind: Kind::ULong,
        },
        Row {
            name: "CACHE_MAX_SIZE",
            default: "inf",
            doc: "Most bytes of them.",
            kind: Kind::MemUnits,
        },
    ],
};

pub static IFACE: Table = Table {
    name: "cuda_ipc transport configuration",
    prefix: "CUDA_IPC_",
    parent: Some(&shared::IFACE),
    rows: &[
        Row {
            name: "MAX_POLL",
            default: "16",
            doc: "Most copies that complete in one call of progress.",
            kind: Kind::UInt,
        },
        Row {
            name: "MAX_STREAMS",
            default: "128",
            doc: "Most streams of a context; copies from and to one process go by one of them.",
            kind: Kind::UInt,
        },
        Row {
            name: "CACHE",
            default: "y",
            doc: "Whether memory of other processes stays mapped for the next access.",
            kind: Kind::Bool,
        },
        Row {
            name: "ENABLE_GET_ZCOPY",
            default: "auto",
            doc: "Whether there are gets; auto: yes.",
            kind: Kind::OnOffAuto,
        },
        Row {
            name: "MAX_EVENTS",
            default: "inf",
            doc: "Most copies under way on an interface.",
            kind: Kind::UInt,
        },
        Row {
            name: "BW",
            default: "auto",
            doc: "Bytes a second that this transport is believed to carry; auto: those of PCI Express.",
            kind: Kind::Bandwidth,
        },
        Row::without_effect(
            "LAT",
            "1.8us",
            &Kind::Time,
            "Seconds until a copy begins.",
            "nothing is chosen by it",
        ),
        Row::without_effect(
            "OVERHEAD",
            "4.0us",
            &Kind::Time,
            "Seconds of the processor to start a copy.",
            "nothing is chosen by it",
        ),
    ],
};
