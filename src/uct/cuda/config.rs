//! The variables of `cuda_copy` and of its memory domain.
#![forbid(unsafe_code)]

use crate::ucs::config::{Config, Kind, Row, Table, units, var};
use crate::ucs::{Result, Status};
use crate::ucs_error;
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
        Row {
            name: "DMABUF",
            default: "try",
            doc: "Whether there are dmabuf descriptors of device memory, by which RDMA devices register it; y: it is an error if \
                  the first device gives none.",
            kind: Kind::Ternary,
        },
        Row {
            name: "PREF_LOC",
            default: "cpu",
            doc: "Where managed memory is taken to be: at the processor, or at its device.",
            kind: Kind::Enum(PLACES),
        },
        Row {
            name: "ENABLE_FABRIC",
            default: "try",
            doc: "Whether device memory is allocated such that other nodes of an NVLink fabric may open it; try: where the driver has it.",
            kind: Kind::Ternary,
        },
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
        Row {
            name: "BW",
            default: "10000MBs,h2d:8300MBs,d2h:11660MBs,d2d:320GBs",
            doc: "Bytes a second between the memories of host (h) and device (d). The first estimate of what messages measure; \
                  what has no key is told of the transport.",
            kind: Kind::StrArray,
        },
    ],
};

/// Bytes a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bandwidths {
    /// That without a key.
    pub told: f64,
    pub to_device: f64,
    pub to_host: f64,
}

/// The value of `BW`. `INVALID_PARAM` for what is no such list.
pub fn bandwidths(iface: &Config) -> Result<Bandwidths> {
    let list = iface.list(var!(IFACE, "BW"));
    parse(list).ok_or_else(|| {
        ucs_error!(
            "UCX_CUDA_COPY_BW={} is no list of bandwidths: 10000MBs,h2d:8300MBs is one, with the keys h2d, d2h, d2d, h2h",
            list.join(",")
        );
        Status::INVALID_PARAM
    })
}

fn parse(list: &[String]) -> Option<Bandwidths> {
    let (mut told, mut to_device, mut to_host) = (None, None, None);
    for item in list {
        let (key, text) = item.split_once(':').unwrap_or(("", item));
        let rate = units::parse_bandwidth(text).filter(|rate| rate.is_finite() && *rate > 0.0)?;
        match key.trim() {
            "" => told = Some(rate),
            "h2d" => to_device = Some(rate),
            "d2h" => to_host = Some(rate),
            // No message goes these ways through memory of the host.
            "d2d" | "h2h" => {}
            _ => return None,
        }
    }
    let told = told.unwrap_or(BANDWIDTH);
    Some(Bandwidths {
        told,
        to_device: to_device.unwrap_or(told),
        to_host: to_host.unwrap_or(told),
    })
}

/// Bytes a second where the list has none: upstream's.
const BANDWIDTH: f64 = 10_000.0 * MB;
const MB: f64 = 1024.0 * 1024.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_have_keys_and_a_default() {
        let of = |text: &str| parse(&text.split(',').map(str::to_owned).collect::<Vec<_>>());
        let all = |told, to_device, to_host| {
            Some(Bandwidths {
                told: told * MB,
                to_device: to_device * MB,
                to_host: to_host * MB,
            })
        };
        let default = bandwidths(&Config::read_lenient(&IFACE)).ok();
        assert_eq!(default, all(10_000.0, 8300.0, 11_660.0));
        assert_eq!(of("5000MBs"), all(5000.0, 5000.0, 5000.0));
        assert_eq!(of("h2d:1MBs, d2h:2MBs"), all(10_000.0, 1.0, 2.0));
        assert_eq!(of("d2d:7MBs,3MBs"), all(3.0, 3.0, 3.0));
        for bad in [
            "x", "0MBs", "auto", "h2d", "h2d:", "x2y:5MBs", "-5MBs", "h2d:inf",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
