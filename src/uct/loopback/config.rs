//! The variables of the `self` transport and its memory domain.
#![forbid(unsafe_code)]

use crate::ucs::config::{Kind, Row, Table};
use crate::uct::base::config as shared;

pub static IFACE: Table = Table {
    name: "self transport configuration",
    prefix: "SELF_",
    parent: Some(&shared::IFACE),
    rows: &[Row {
        name: "SEG_SIZE",
        default: "8K",
        doc: "Most bytes of one buffered active message.",
        kind: Kind::MemUnits,
    }],
};

pub static MD: Table = Table {
    name: "Self memory domain configuration",
    prefix: "SELF_",
    parent: None,
    rows: &[Row {
        name: "NUM_DEVICES",
        default: "1",
        doc: "How many loopback devices there are.",
        kind: Kind::Int,
    }],
};
