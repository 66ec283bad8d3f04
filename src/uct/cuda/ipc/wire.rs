//! The interface address and the packed key.
//!
//! Address: version (1), check (4), name of the process (16). Key: version (1), check (4), name of the owner (16), the
//! driver's handle (64), number of the allocation (8), its address at the owner (8), address (8) and length (8) of what the
//! owner registered. Little-endian, packed. The check is a hash of what follows it.
#![forbid(unsafe_code)]

use crate::sys::cuda::IpcHandle;
use crate::uct::local::{NAME_LEN, ProcessName};
use crate::wire::{Reader, Writer};

/// Bytes of an address and of a key.
pub const ADDRESS_LEN: usize = HEAD + NAME_LEN;
pub const KEY_LEN: usize = HEAD + NAME_LEN + size_of::<IpcHandle>() + 4 * 8;

const HEAD: usize = 1 + 4;
const ADDRESS: u8 = 0xd1;
const KEY: u8 = 0xd2;

/// A key, unpacked: the owner's claims, which the driver checks when the memory is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub owner: ProcessName,
    pub handle: IpcHandle,
    /// Of the allocation; no other one of the owner has it.
    pub id: u64,
    /// Where the allocation begins at the owner.
    pub base: u64,
    /// What the owner registered of it.
    pub address: u64,
    pub length: u64,
}

impl Key {
    pub fn encode(&self) -> [u8; KEY_LEN] {
        seal(KEY, |w| {
            w.bytes(&self.owner.encode());
            w.bytes(&self.handle);
            for number in [self.id, self.base, self.address, self.length] {
                w.u64(number);
            }
        })
    }

    /// `None` for bytes that are no key of ours.
    pub fn decode(bytes: &[u8; KEY_LEN]) -> Option<Key> {
        let mut r = open(KEY, bytes)?;
        let key = Key {
            owner: ProcessName::decode(r.bytes(NAME_LEN)?)?,
            handle: r.bytes(size_of::<IpcHandle>())?.try_into().ok()?,
            id: r.u64()?,
            base: r.u64()?,
            address: r.u64()?,
            length: r.u64()?,
        };
        let is_sane = key.base <= key.address && key.address.checked_add(key.length).is_some();
        is_sane.then_some(key)
    }

    /// Whether `length` bytes at the owner's address `remote` are the key's.
    pub fn covers(&self, remote: u64, length: usize) -> bool {
        let from = remote.checked_sub(self.address);
        let to = from.and_then(|from| from.checked_add(length as u64));
        to.is_some_and(|to| to <= self.length)
    }

    /// Where what the key covers at the owner's address `remote` begins in the allocation.
    pub fn offset(&self, remote: u64) -> usize {
        (remote - self.base) as usize
    }

    /// The bytes of the allocation up to the end of what was registered.
    pub fn end(&self) -> usize {
        self.offset(self.address + self.length)
    }
}

pub fn encode_address(name: ProcessName) -> [u8; ADDRESS_LEN] {
    seal(ADDRESS, |w| w.bytes(&name.encode()))
}

/// `None` for bytes that are no address of ours.
pub fn decode_address(bytes: &[u8; ADDRESS_LEN]) -> Option<ProcessName> {
    ProcessName::decode(open(ADDRESS, bytes)?.bytes(NAME_LEN)?)
}

fn check(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn seal<const N: usize>(version: u8, body: impl FnOnce(&mut Writer<'_>)) -> [u8; N] {
    let mut out = [0; N];
    body(&mut Writer::new(&mut out[HEAD..]));
    let check = check(&out[HEAD..]);
    out[0] = version;
    out[1..HEAD].copy_from_slice(&check.to_le_bytes());
    out
}

fn open(version: u8, bytes: &[u8]) -> Option<Reader<'_>> {
    let (head, body) = bytes.split_first_chunk::<HEAD>()?;
    let is_ours = head[0] == version && head[1..] == check(body).to_le_bytes();
    is_ours.then(|| Reader::new(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: ProcessName = ProcessName {
        id: 0x1112_1314_1516_1718,
        pid: 0x0102_0304,
        door: 0x2122_2324,
    };

    fn key() -> Key {
        Key {
            owner: NAME,
            handle: [0xa5; 64],
            id: 7,
            base: 0x1000,
            address: 0x1800,
            length: 0x400,
        }
    }

    #[test]
    fn keys_and_addresses_come_back_and_keep_their_layout() {
        let (key, address) = (key(), encode_address(NAME));
        let bytes = key.encode();
        assert_eq!(Key::decode(&bytes), Some(key));
        assert_eq!(decode_address(&address), Some(NAME));
        assert_eq!((bytes[0], address[0]), (0xd2, 0xd1));
        assert_eq!(bytes[5..21], NAME.encode());
        assert_eq!(bytes[21..85], [0xa5; 64]);
        assert_eq!(bytes[85..93], 7u64.to_le_bytes());
        assert_eq!(bytes[93..101], 0x1000u64.to_le_bytes());
        assert_eq!((KEY_LEN, ADDRESS_LEN), (117, 21));
    }

    #[test]
    fn every_wrong_byte_is_refused() {
        let (mut bytes, mut address) = (key().encode(), encode_address(NAME));
        for flips in 1..=u8::MAX {
            for i in 0..KEY_LEN {
                bytes[i] ^= flips;
                assert_eq!(Key::decode(&bytes), None, "byte {i}");
                bytes[i] ^= flips;
            }
            for i in 0..ADDRESS_LEN {
                address[i] ^= flips;
                assert_eq!(decode_address(&address), None, "byte {i}");
                address[i] ^= flips;
            }
        }
        let sealed = |key: Key| Key::decode(&key.encode());
        assert_eq!(
            sealed(Key {
                base: 0x1801,
                ..key()
            }),
            None
        );
        assert_eq!(
            sealed(Key {
                length: u64::MAX,
                ..key()
            }),
            None
        );
    }

    #[test]
    fn ranges_are_those_that_were_registered() {
        let key = key();
        assert!(key.covers(0x1800, 0x400) && key.covers(0x1bff, 1));
        assert_eq!((key.offset(0x1800), key.end()), (0x800, 0xc00));
        for (remote, length) in [
            (0x17ff, 1),
            (0x1800, 0x401),
            (0x1c00, 1),
            (u64::MAX, 2),
            (0, 0),
        ] {
            assert!(!key.covers(remote, length), "{remote:#x} {length}");
        }
    }
}
