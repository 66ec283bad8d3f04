//! The identity of a peer's interface: its port and its queue pair for datagrams, as one number.
//!
//! A connection request comes from that queue pair, whose address the device writes before the datagram, and the replies
//! go there: only who receives them gets connected. The number is made with a secret of this process, so that nobody can
//! look for another address with the same one.
#![forbid(unsafe_code)]

use super::wire::DeviceAddr;
use crate::ucs::fork::PerProcess;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

static SECRET: PerProcess<RandomState> = PerProcess::new(RandomState::new);

/// The identity of an interface. `None` if the device's address is malformed.
pub fn of(device: &[u8], queue_pair: u32) -> Option<u64> {
    let device = device.try_into().ok()?;
    let DeviceAddr { link, lid, gid, .. } = DeviceAddr::decode(device)?;
    Some(SECRET.get().hash_one((link, lid, gid, queue_pair)))
}

/// Who has connected to an interface, with the number of its connections.
#[derive(Default)]
pub struct Connected(HashMap<u64, u32>);

impl Connected {
    /// One more connection of this peer.
    pub fn add(&mut self, identity: u64) {
        *self.0.entry(identity).or_insert(0) += 1;
    }

    /// One connection less.
    pub fn remove(&mut self, identity: u64) {
        if let Some(count) = self.0.get_mut(&identity) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&identity);
            }
        }
    }

    pub fn has(&self, identity: u64) -> bool {
        self.0.contains_key(&identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uct::ib::wire::{DEVICE_LEN, Link};

    fn device(mtu: u8, last: u8) -> [u8; DEVICE_LEN] {
        let mut gid = [0; 16];
        (gid[0], gid[15]) = (0xfe, last);
        let link = Link::RoceV2;
        DeviceAddr {
            link,
            mtu,
            lid: 0,
            gid,
        }
        .encode()
    }

    #[test]
    fn an_identity_is_the_port_and_the_queue_pair() {
        let one = of(&device(3, 1), 5);
        assert!(one.is_some());
        // Requests name the largest packet that is wanted, addresses the largest of the port.
        assert_eq!(of(&device(1, 1), 5), one);
        assert_ne!(of(&device(3, 2), 5), one);
        assert_ne!(of(&device(3, 1), 6), one);
        assert_eq!(of(&device(3, 1)[1..], 5), None);
        assert_eq!(of(&[0; DEVICE_LEN], 5), None);
    }

    #[test]
    fn a_peer_is_connected_until_its_last_connection_ends() {
        let mut peers = Connected::default();
        peers.add(7);
        peers.add(7);
        peers.remove(7);
        assert!(peers.has(7) && !peers.has(8));
        peers.remove(7);
        peers.remove(7);
        assert!(!peers.has(7));
    }
}
