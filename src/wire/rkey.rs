//! Remote keys and exported memory handles: which memory, and by which ways it can be reached.
//!
//! Blob head, owner's worker-independent context id (8), region id (8), address (8), length (8),
//! memory type (1), uses (1), count (1), then a key a way: transport (1), length (1), the domain's
//! key.

use super::{BLOB_HEAD, BlobError, Reader, Writer, open, seal};

/// A memory domain's key for the region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MdKey {
    /// Index into `address::TRANSPORTS`: the component of that name.
    pub component: u8,
    pub key: Vec<u8>,
}

/// A remote key, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rkey {
    /// Which context of which process owns the memory.
    pub context: u64,
    /// Slot and nonce of the region at its owner.
    pub region: u64,
    pub address: u64,
    pub length: u64,
    pub mem_type: u8,
    /// What the owner allows: bits of `READ`, `WRITE` and `EXPORTED`.
    pub uses: u8,
    pub keys: Vec<MdKey>,
}

/// Peers may read the memory.
pub const READ: u8 = 1;
/// Peers may write it.
pub const WRITE: u8 = 2;
/// It is a handle for processes of the same machine, not a key for accesses.
pub const EXPORTED: u8 = 4;

impl Rkey {
    /// The blob.
    pub fn pack(&self) -> Vec<u8> {
        let len = BLOB_HEAD + 35 + self.keys.iter().map(|k| 2 + k.key.len()).sum::<usize>();
        let mut buf = vec![0; len];
        let mut w = Writer::new(&mut buf[BLOB_HEAD..]);
        w.u64(self.context);
        w.u64(self.region);
        w.u64(self.address);
        w.u64(self.length);
        w.u8(self.mem_type);
        w.u8(self.uses);
        w.u8(self.keys.len() as u8);
        for k in &self.keys {
            w.u8(k.component);
            w.u8(k.key.len() as u8);
            w.bytes(&k.key);
        }
        seal(&mut buf);
        buf
    }

    /// Reads a blob.
    pub fn unpack(blob: &[u8]) -> Result<Rkey, BlobError> {
        let mut r = Reader::new(open(blob)?);
        let parsed = (|| {
            let (context, region, address, length) = (r.u64()?, r.u64()?, r.u64()?, r.u64()?);
            let (mem_type, uses, count) = (r.u8()?, r.u8()?, r.u8()?);
            let mut keys = Vec::with_capacity(usize::from(count));
            for _ in 0..count {
                let component = r.u8()?;
                let n = r.u8()?;
                keys.push(MdKey {
                    component,
                    key: r.bytes(n.into())?.to_vec(),
                });
            }
            Some(Rkey {
                context,
                region,
                address,
                length,
                mem_type,
                uses,
                keys,
            })
        })();
        parsed.ok_or(BlobError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::dice::Dice;

    #[test]
    fn comes_back_and_refuses_every_wrong_byte() {
        let mut dice = Dice(7);
        for _ in 0..16 {
            let key = Rkey {
                context: dice.roll(),
                region: dice.roll(),
                address: dice.roll(),
                length: dice.roll(),
                mem_type: 0,
                uses: READ | WRITE,
                keys: vec![MdKey {
                    component: 1,
                    key: vec![dice.roll() as u8; 24],
                }],
            };
            let mut blob = key.pack();
            assert_eq!(Rkey::unpack(&blob), Ok(key));
            for i in 0..blob.len() {
                for flips in 1..=(if cfg!(miri) { 1 } else { u8::MAX }) {
                    blob[i] ^= flips;
                    assert!(
                        Rkey::unpack(&blob).is_err(),
                        "byte {i} changed by {flips:#x}"
                    );
                    blob[i] ^= flips;
                }
            }
        }
    }
}
