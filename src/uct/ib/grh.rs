//! What a device writes before a datagram: a global routing header, or an IPv4 header in the second half. It tells where
//! the datagram comes from and for whom it is.
#![forbid(unsafe_code)]

use super::wire::{DeviceAddr, Link};
use crate::c::verbs::{IBV_WC_GRH, ibv_wc};

/// Its bytes.
pub const GRH_LEN: usize = 40;

/// The global addresses of a datagram: its source and destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub from: [u8; 16],
    pub to: [u8; 16],
}

/// Byte 0 of a receive buffer before it is posted: no version of IP.
pub const NO_VERSION: u8 = 0xff;

/// Reads what the device wrote before a datagram. An IPv4 header stands in the second half; the version of the first half
/// tells it from an IPv6 header or the like of InfiniBand.
pub fn decode_route(bytes: &[u8; GRH_LEN]) -> Option<Route> {
    if bytes[0] >> 4 == 6 {
        return Some(Route {
            from: *bytes[8..].first_chunk()?,
            to: *bytes[24..].first_chunk()?,
        });
    }
    let v4 = bytes.last_chunk::<20>()?;
    if v4[0] >> 4 != 4 {
        return None;
    }
    let mapped = |at: usize| {
        let mut gid = [0; 16];
        gid[10..12].fill(0xff);
        gid[12..].copy_from_slice(v4.get(at..at + 4)?);
        Some(gid)
    };
    Some(Route {
        from: mapped(12)?,
        to: mapped(16)?,
    })
}

/// Whether a datagram is for this port's address. Only Ethernet ports deliver others.
pub fn is_for(port: &DeviceAddr, header: &[u8; GRH_LEN]) -> bool {
    port.link == Link::InfiniBand || decode_route(header).is_some_and(|route| route.to == port.gid)
}

/// Whether a datagram was sent by the port that it names, so that nobody can direct replies at others.
pub fn is_from(port: &DeviceAddr, header: &[u8; GRH_LEN], completion: &ibv_wc) -> bool {
    if completion.wc_flags & IBV_WC_GRH != 0 {
        decode_route(header).is_some_and(|route| route.from == port.gid)
    } else {
        port.lid == completion.slid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_told_by_their_version() {
        let mut v6 = [0; GRH_LEN];
        v6[0] = 0x60;
        v6[8..24].fill(1);
        v6[24..].fill(2);
        let route = Route {
            from: [1; 16],
            to: [2; 16],
        };
        assert_eq!(decode_route(&v6), Some(route));
        let mut v4 = [0; GRH_LEN];
        v4[20] = 0x45;
        v4[32..36].copy_from_slice(&[192, 0, 2, 1]);
        v4[36..].copy_from_slice(&[192, 0, 2, 2]);
        for first in [0, NO_VERSION] {
            v4[0] = first;
            let route = decode_route(&v4).unwrap();
            assert_eq!(route.from[10..], [0xff, 0xff, 192, 0, 2, 1]);
            assert_eq!(route.to[10..], [0xff, 0xff, 192, 0, 2, 2]);
        }
        v4[20] = 0;
        assert_eq!(decode_route(&v4), None);
    }
}
