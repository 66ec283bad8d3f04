//! The private data of a connection by socket address, as upstream's two sides tell them each other.
//!
//! Endpoint (8), then error handling mode in the low five bits of a byte and the form in the others. In form 1 (its bits
//! are 0) two bytes follow: what the address is of, here of the connection's device, and the number of a device, which is
//! not used. Behind them, an address without uuid and without addresses of devices, with a lane at least: who reads it
//! knows the device by the connection. Where upstream has UCX_CM_USE_ALL_DEVICES=y (as by default, from 1.14 on), its
//! transports have an index, else none. The data do not say so: the reading that ends with them is the right one.

use super::address::{Address, Entry, Lane, Offer, Place, put_devices};
use crate::wire::Reader;

/// The number of the lane for messages of our endpoints. 0 is upstream's lane of the connection manager.
pub const MESSAGES: u8 = 1;
/// Of the second byte in form 1: the address of the connection's own device, without that device.
const OF_CONNECTION: u8 = 2;
const FORM_SHIFT: u32 = 5;
const MODE: u8 = (1 << FORM_SHIFT) - 1;
const NO_FLAGS: u8 = 0;

/// What one side tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Private {
    pub ep: u64,
    pub err_mode: u8,
    /// It has the second form.
    pub second: bool,
    /// Transports have an index: a wire-up of all devices follows the connection.
    pub has_index: bool,
    /// What the application calls its worker, or 0.
    pub client_id: u64,
    /// Number and address of the lane for messages.
    pub lane: u8,
    pub address: Vec<u8>,
    /// Its interface takes puts without a key; as read, not written.
    pub takes_puts: bool,
}

impl Private {
    /// The lane is the first one of the transport whose name's sum is `transport`, with addresses of these lengths.
    pub fn decode(bytes: &[u8], transport: u16, iface: usize, endpoint: usize) -> Option<Private> {
        let mut r = Reader::new(bytes);
        let (ep, head) = (r.u64()?, r.u8()?);
        let second = match head >> FORM_SHIFT {
            0 => {
                r.bytes(2)?;
                false
            }
            1 => true,
            _ => return None,
        };
        let fits = |entry: &Entry<'_>| {
            let lanes = || entry.lanes();
            entry.transport != transport
                || entry.iface.len() == iface && lanes().all(|lane| lane.address.len() == endpoint)
        };
        let read = |index| {
            let place = Place::Connection { index };
            let (address, entries) = Address::with_entries(r.rest(), place)?;
            let lane = entries
                .iter()
                .filter(|entry| entry.transport == transport)
                .find_map(|entry| Some((entry.lanes().next()?, entry.takes_puts)))?;
            let all_fit = entries.iter().all(fits);
            all_fit.then_some((index, address, lane))
        };
        let (has_index, address, (lane, takes_puts)) = read(true).or_else(|| read(false))?;
        Some(Private {
            ep,
            err_mode: head & MODE,
            second,
            has_index,
            client_id: address.client_id,
            lane: lane.number,
            address: lane.address.to_vec(),
            takes_puts,
        })
    }

    /// As bytes. The lane goes by the transport that `offer` tells of.
    pub fn encode(&self, offer: &Offer) -> Vec<u8> {
        let mut out = self.ep.to_le_bytes().to_vec();
        let form = u8::from(self.second);
        out.push(self.err_mode & MODE | form << FORM_SHIFT);
        if !self.second {
            out.extend_from_slice(&[OF_CONNECTION, 0]);
        }
        out.push(NO_FLAGS);
        put_lane_in(offer, &self.address, self.lane, self.has_index, &mut out);
        out
    }
}

/// Appends a lane as the last device of the private data of a side that is not known to be upstream's.
pub fn put_lane(offer: &Offer, address: &[u8], number: u8, out: &mut Vec<u8>) {
    put_lane_in(offer, address, number, true, out);
}

fn put_lane_in(offer: &Offer, address: &[u8], number: u8, index: bool, out: &mut Vec<u8>) {
    let lane = Lane { address, number };
    let place = Place::Connection { index };
    put_devices(core::slice::from_ref(offer), place, &[lane], out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;
    use crate::wire::upstream::address::{PUTS, tests::offer};

    const TCP: u16 = 0x19cf;

    fn private(second: bool, has_index: bool) -> Private {
        Private {
            ep: 0x0102_0304_0506_0708,
            err_mode: 1,
            second,
            has_index,
            client_id: 0,
            lane: 1,
            address: b"\x82\xe6\x11\x22\x33\x44\x55\x66\x77\x88".to_vec(),
            takes_puts: false,
        }
    }

    fn read(bytes: &[u8]) -> Option<Private> {
        Private::decode(bytes, TCP, 2, 10)
    }

    #[test]
    fn bytes_of_each_form_come_back() {
        let head = b"\x08\x07\x06\x05\x04\x03\x02\x01";
        for (second, begin) in [
            (false, &b"\x01\x02\0\0\0\x80\xcf\x19"[..]),
            (true, b"\x21\0\0\x80\xcf\x19"),
        ] {
            for (has_index, index) in [(true, &b"\xc3"[..]), (false, b"")] {
                let private = private(second, has_index);
                let bytes = private.encode(&offer());
                let end = [index, b"\xc2\x82\xe6\x0a", &private.address, b"\x81"].concat();
                assert!(bytes.starts_with(&[head, begin].concat()));
                assert!(bytes.ends_with(&end) && bytes.len() == 8 + begin.len() + 16 + end.len());
                let putting = Offer {
                    flags: offer().flags | PUTS,
                    ..offer()
                };
                let takes_puts = read(&private.encode(&putting)).map(|private| private.takes_puts);
                assert_eq!(takes_puts, Some(true));
                assert_eq!(read(&bytes), Some(private));
                for n in 0..bytes.len() {
                    assert_eq!(read(&bytes[..n]), None);
                }
                assert_eq!(read(&[&bytes[..], b"\0"].concat()), None);
            }
        }
    }

    #[test]
    fn what_is_no_private_data_is_refused() {
        let private = private(false, true);
        let bytes = private.encode(&offer());
        // Another transport, and an unknown form.
        assert_eq!(Private::decode(&bytes, TCP + 1, 2, 10), None);
        assert_eq!(Private::decode(&bytes, TCP, 2, 9), None);
        let mut other = bytes.clone();
        other[8] = 0x41;
        assert_eq!(read(&other), None);
        // No lane.
        let mut none = private.ep.to_le_bytes().to_vec();
        none.extend_from_slice(&[1, OF_CONNECTION, 0, NO_FLAGS, 0xff]);
        assert_eq!(read(&none), None);
    }

    #[test]
    fn noise_is_read_to_its_end_at_most() {
        let rng = TestRng::new(5);
        for _ in 0..if cfg!(miri) { 100 } else { 50_000 } {
            let flip = rng.next();
            let mut bytes = private(flip & 1 == 0, flip & 2 == 0).encode(&offer());
            for _ in 0..=rng.next() % 6 {
                let at = rng.next() as usize % bytes.len();
                bytes[at] = rng.next() as u8;
            }
            bytes.truncate(rng.next() as usize % (bytes.len() + 1));
            let _ = read(&bytes);
        }
    }
}
