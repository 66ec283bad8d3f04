//! Worker addresses: who a worker is and where its interfaces are.
//!
//! Blob head, worker uuid (8), client flags (1), count (1), then an entry an interface: transport
//! (1), length of the device address (1), of the interface address (1), both addresses.

use super::{BLOB_HEAD, BlobError, Reader, Writer, open, seal};

/// Transports as numbers of the format; new ones are added at the end.
pub const TRANSPORTS: [&str; 5] = ["self", "posix", "sysv", "cma", "tcp"];

/// One interface of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index into `TRANSPORTS`.
    pub transport: u8,
    pub device: Vec<u8>,
    pub iface: Vec<u8>,
}

/// A worker address, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub uuid: u64,
    pub entries: Vec<Entry>,
}

impl Address {
    /// The blob.
    pub fn pack(&self) -> Vec<u8> {
        let len = BLOB_HEAD
            + 9
            + self
                .entries
                .iter()
                .map(|e| 3 + e.device.len() + e.iface.len())
                .sum::<usize>();
        let mut buf = vec![0; len];
        let mut w = Writer::new(&mut buf[BLOB_HEAD..]);
        w.u64(self.uuid);
        w.u8(self.entries.len() as u8);
        for e in &self.entries {
            w.u8(e.transport);
            w.u8(e.device.len() as u8);
            w.u8(e.iface.len() as u8);
            w.bytes(&e.device);
            w.bytes(&e.iface);
        }
        seal(&mut buf);
        buf
    }

    /// Reads a blob. Entries of transports this build does not know are left out.
    pub fn unpack(blob: &[u8]) -> Result<Address, BlobError> {
        let mut r = Reader::new(open(blob)?);
        let parsed = (|| {
            let uuid = r.u64()?;
            let count = r.u8()?;
            let mut entries = Vec::with_capacity(usize::from(count));
            for _ in 0..count {
                let transport = r.u8()?;
                let (device, iface) = (r.u8()?, r.u8()?);
                let entry = Entry {
                    transport,
                    device: r.bytes(device.into())?.to_vec(),
                    iface: r.bytes(iface.into())?.to_vec(),
                };
                if usize::from(transport) < TRANSPORTS.len() {
                    entries.push(entry);
                }
            }
            Some(Address { uuid, entries })
        })();
        parsed.ok_or(BlobError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Address {
        Address {
            uuid: 0x1122_3344_5566_7788,
            entries: vec![
                Entry {
                    transport: 0,
                    device: vec![],
                    iface: vec![1; 8],
                },
                Entry {
                    transport: 4,
                    device: vec![2; 14],
                    iface: vec![3, 4],
                },
            ],
        }
    }

    #[test]
    fn comes_back_and_refuses_every_flipped_bit() {
        let blob = sample().pack();
        assert_eq!(Address::unpack(&blob), Ok(sample()));
        for i in 0..blob.len() * 8 {
            let mut bad = blob.clone();
            bad[i / 8] ^= 1 << (i % 8);
            assert!(Address::unpack(&bad).is_err(), "bit {i}");
        }
        for n in 0..blob.len() {
            assert!(Address::unpack(&blob[..n]).is_err(), "cut at {n}");
        }
    }

    #[test]
    fn a_false_count_inside_a_true_checksum_is_refused() {
        let mut blob = sample().pack();
        blob[BLOB_HEAD + 8] = 200;
        seal(&mut blob);
        assert_eq!(Address::unpack(&blob), Err(BlobError::Damaged));
    }
}
