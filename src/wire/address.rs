//! Worker addresses: the identity of a worker and the addresses of its interfaces.
//!
//! The list of interfaces: count (1), then for each interface: transport (1), memory domain (1), length of the device
//! address (1), of the interface address (1), both addresses. What an interface has in common with the one before it is not repeated: a bit
//! of the device address's length says that it is the same, one of the other's that it ends with the same 16 bytes, as interfaces that share
//! memory do, which end with the name of their process. In messages between processes of this library, a blob header and the worker's
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
/// Of a length: bytes of the entry before are not repeated.
const AS_BEFORE: u8 = 0x80;
/// Most bytes of a device's or an interface's address.
const MAX_LEN: usize = (AS_BEFORE - 1) as usize;
/// So many bytes at the end of an interface's address may be those of the entry before.
const COMMON: usize = 16;

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
        let fits = |e: &&AddressEntry| e.device.len().max(e.iface.len()) <= MAX_LEN;
        let entries = self.entries.iter().filter(fits).take(MAX_ENTRIES);
        let count = out.len();
        out.push(0);
        let mut before: Option<&AddressEntry> = None;
        for e in entries {
            let (mut device, mut iface) = (&e.device[..], &e.iface[..]);
            let mut lengths = [device.len() as u8, iface.len() as u8];
            if before.is_some_and(|before| before.device == device) {
                device = &[];
                lengths[0] = AS_BEFORE;
            }
            if let (Some(before), Some((start, end))) = (before, iface.split_last_chunk::<COMMON>())
                && before.iface.ends_with(end)
            {
                iface = start;
                lengths[1] |= AS_BEFORE;
            }
            out.extend_from_slice(&[e.transport, e.domain]);
            out.extend_from_slice(&lengths);
            out.extend_from_slice(device);
            out.extend_from_slice(iface);
            out[count] += 1;
            before = Some(e);
        }
    }
}

fn take_entries(list: &[u8], known: fn(u8) -> bool) -> Option<Vec<AddressEntry>> {
    let mut r = Reader::new(list);
    let count = r.u8()?;
    let mut entries = Vec::with_capacity(usize::from(count));
    let (mut device, mut iface): (&[u8], Vec<u8>) = (&[], Vec::new());
    for n in 0..count {
        let (transport, domain) = (r.u8()?, r.u8()?);
        let lengths = [r.u8()?, r.u8()?];
        let [same_device, same_end] = lengths.map(|len| len & AS_BEFORE != 0);
        let [device_len, iface_len] = lengths.map(|len| usize::from(len & !AS_BEFORE));
        if n == 0 && (same_device || same_end) || same_device && device_len != 0 {
            return None;
        }
        if !same_device {
            device = r.bytes(device_len)?;
        }
        if same_end {
            let end = *iface.last_chunk::<COMMON>()?;
            iface = r.bytes(iface_len.checked_sub(COMMON)?)?.to_vec();
            iface.extend_from_slice(&end);
        } else {
            iface = r.bytes(iface_len)?.to_vec();
        }
        if known(transport) {
            entries.push(AddressEntry {
                transport,
                domain,
                device: device.to_vec(),
                iface: iface.clone(),
            });
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
                iface: vec![6; 100],
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

    fn entry(transport: u8, device: &[u8], iface: &[u8]) -> AddressEntry {
        AddressEntry {
            transport,
            domain: 1,
            device: device.to_vec(),
            iface: iface.to_vec(),
        }
    }

    #[test]
    fn what_an_entry_has_in_common_with_the_one_before_is_not_repeated() {
        let process: Vec<u8> = (10..10 + COMMON as u8).collect();
        let iface = |start: &[u8]| [start, &process[..]].concat();
        let address = Address {
            uuid: 1,
            entries: vec![
                entry(1, &[1; 8], &iface(&[2, 3])),
                entry(2, &[1; 8], &iface(&[])),
                // Its own number is unknown to the reader.
                entry(77, &[1; 8], &iface(&[4])),
                entry(3, &[1; 8], &process[1..]),
                entry(4, &[9; 8], &iface(&[5])),
            ],
        };
        let blob = address.pack();
        let bytes = [
            &[5, 1, 1, 8, 18, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3][..],
            &process,
            &[2, 1, 0x80, 0x90],
            &[77, 1, 0x80, 0x91, 4],
            &[3, 1, 0x80, 15],
            &process[1..],
            &[4, 1, 8, 17, 9, 9, 9, 9, 9, 9, 9, 9, 5],
            &process,
        ];
        assert_eq!(blob[HEAD + 8..], bytes.concat());
        let mut read = address.clone();
        read.entries.remove(2);
        assert_eq!(unpack(&blob), Ok(read.clone()));
        assert_eq!(from_envelope(&address.to_envelope(&[])), Ok(read));
    }

    #[test]
    fn what_is_in_common_with_nothing_is_refused() {
        // A first entry has none before it, 15 bytes are no end, and a device has no bytes of its own then.
        let alone = [[1, 0, 0, 0x80, 0], [1, 0, 0, 0, 0x90]];
        let short = [[1, 0, 0, 15], [1, 0, 0, 0x90]];
        let after_short = [&[2][..], &short[0], &[7; 15], &short[1], &[7; 16]].concat();
        let less = [&[2, 1, 0, 0, 16][..], &[7; 16], &[1, 0, 0, 0x8f]].concat();
        let both = [&[2, 1, 0, 1, 0, 5, 1, 0, 0x81, 0][..], &[5]].concat();
        for list in [&alone[0][..], &alone[1], &after_short, &less, &both] {
            assert_eq!(take_entries(list, known), None, "{list:?}");
        }
    }

    #[test]
    fn addresses_that_are_too_long_are_left_out() {
        let fits = entry(1, &[1; MAX_LEN], &[2; MAX_LEN]);
        let mut address = Address {
            uuid: 1,
            entries: vec![
                entry(1, &[1; MAX_LEN + 1], &[]),
                fits.clone(),
                entry(1, &[], &[2; 256]),
            ],
        };
        let blob = address.pack();
        address.entries = vec![fits];
        assert_eq!(unpack(&blob), Ok(address));
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
