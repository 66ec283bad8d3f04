//! Worker addresses: the identity of a worker and the addresses of its interfaces.
//!
//! The list of interfaces: count (1), then for each interface: transport (1), memory domain (1), length of the device
//! address (1), of the interface address (1), both addresses. In messages between processes of this library, a blob header and the worker's
//! uuid (8) precede it; applications exchange the form of `envelope`.

use super::blob::{self, BlobError, HEAD};
use super::upstream::address::Offer;
use super::{Reader, envelope};

/// One interface of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressEntry {
    /// The transport's number.
    pub transport: u8,
    /// Its memory domain: the keys of that domain name it too.
    pub domain: u8,
    pub device: Vec<u8>,
    pub iface: Vec<u8>,
}

/// A worker address, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub uuid: u64,
    pub entries: Vec<AddressEntry>,
}

/// Most interfaces of an address: the number has one byte.
const MAX_ENTRIES: usize = u8::MAX as usize;

impl Address {
    /// The blob for messages between processes of ours.
    pub fn pack(&self) -> Vec<u8> {
        let mut buf = vec![0; HEAD];
        buf.extend_from_slice(&self.uuid.to_le_bytes());
        self.put_entries(&mut buf);
        blob::seal(&mut buf, 0);
        buf
    }

    /// Reads such a blob. Entries of transports that are not `known` are left out.
    pub fn unpack(blob: &[u8], known: fn(u8) -> bool) -> Result<Address, BlobError> {
        let (_, body) = blob::open(blob, 0)?;
        let mut r = Reader::new(body);
        let uuid = r.u64().ok_or(BlobError::Damaged)?;
        let entries = take_entries(r.rest(), known).ok_or(BlobError::Damaged)?;
        Ok(Address { uuid, entries })
    }

    /// The blob for applications, with what upstream can use.
    pub fn to_envelope(&self, offers: &[Offer]) -> Vec<u8> {
        let mut body = Vec::new();
        self.put_entries(&mut body);
        envelope::wrap_address(self.uuid, &body, offers)
    }

    /// Reads such a blob, as `unpack`.
    pub fn from_envelope(blob: &[u8], known: fn(u8) -> bool) -> Result<Address, BlobError> {
        let (uuid, body) = envelope::unwrap_address(blob)?;
        let entries = take_entries(&body, known).ok_or(BlobError::Damaged)?;
        Ok(Address { uuid, entries })
    }

    fn put_entries(&self, out: &mut Vec<u8>) {
        let entries = &self.entries[..self.entries.len().min(MAX_ENTRIES)];
        out.push(entries.len() as u8);
        for e in entries {
            let (device, iface) = (e.device.len() as u8, e.iface.len() as u8);
            out.extend_from_slice(&[e.transport, e.domain, device, iface]);
            out.extend_from_slice(&e.device);
            out.extend_from_slice(&e.iface);
        }
    }
}

fn take_entries(list: &[u8], known: fn(u8) -> bool) -> Option<Vec<AddressEntry>> {
    let mut r = Reader::new(list);
    let count = r.u8()?;
    let mut entries = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let (transport, domain) = (r.u8()?, r.u8()?);
        let (device, iface) = (r.u8()?, r.u8()?);
        let entry = AddressEntry {
            transport,
            domain,
            device: r.bytes(device.into())?.to_vec(),
            iface: r.bytes(iface.into())?.to_vec(),
        };
        if known(transport) {
            entries.push(entry);
        }
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Address {
        Address {
            uuid: 0x1122_3344_5566_7788,
            entries: vec![
                AddressEntry {
                    transport: 0,
                    domain: 0,
                    device: vec![],
                    iface: vec![1; 8],
                },
                AddressEntry {
                    transport: 4,
                    domain: 3,
                    device: vec![2; 14],
                    iface: vec![3, 4],
                },
            ],
        }
    }

    /// All numbers but one.
    fn known(number: u8) -> bool {
        number != 77
    }

    fn unpack(blob: &[u8]) -> Result<Address, BlobError> {
        Address::unpack(blob, known)
    }

    fn from_envelope(blob: &[u8]) -> Result<Address, BlobError> {
        Address::from_envelope(blob, known)
    }

    type Form = (Vec<u8>, fn(&[u8]) -> Result<Address, BlobError>, usize);

    /// Both forms: the blob, how it is read, and where its head stands.
    fn forms() -> [Form; 2] {
        [
            (sample().pack(), unpack, 0),
            (sample().to_envelope(&[]), from_envelope, 11),
        ]
    }

    #[test]
    fn comes_back_and_refuses_every_flipped_bit() {
        for (blob, unpack, _) in forms() {
            assert_eq!(unpack(&blob), Ok(sample()));
            for i in 0..blob.len() * 8 {
                let mut bad = blob.clone();
                bad[i / 8] ^= 1 << (i % 8);
                assert!(unpack(&bad).is_err(), "bit {i}");
            }
            for n in 0..blob.len() {
                assert!(unpack(&blob[..n]).is_err(), "cut at {n}");
            }
        }
    }

    #[test]
    fn entries_of_unknown_transports_are_left_out() {
        let mut address = sample();
        address.entries.insert(
            1,
            AddressEntry {
                transport: 77,
                domain: 1,
                device: vec![5; 3],
                iface: vec![6; 200],
            },
        );
        assert_eq!(unpack(&address.pack()), Ok(sample()));
        assert_eq!(from_envelope(&address.to_envelope(&[])), Ok(sample()));
    }

    #[test]
    fn a_false_count_inside_a_true_checksum_is_refused() {
        for (mut blob, unpack, at) in forms() {
            let count = HEAD + if at == 0 { 8 } else { at };
            assert_eq!(blob[count], 2);
            blob[count] = 200;
            blob::seal(&mut blob, at);
            assert_eq!(unpack(&blob), Err(BlobError::Damaged));
        }
    }

    #[test]
    fn more_interfaces_than_can_be_counted_are_left_out() {
        let entry = |n: u8| AddressEntry {
            transport: 4,
            domain: n,
            device: vec![n; 6],
            iface: vec![n; 11],
        };
        let address = Address {
            uuid: 1,
            entries: (0..=255).chain(0..=255).map(entry).collect(),
        };
        let some = from_envelope(&address.to_envelope(&[])).unwrap();
        assert_eq!(some.entries, address.entries[..255]);
        assert_eq!(unpack(&address.pack()), Ok(some));
    }
}
