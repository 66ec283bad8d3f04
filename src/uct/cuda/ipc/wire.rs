//! The interface address and the packed key.
//!
//! Address: version (1), check (4), name of the process (16). Key: version (1), check (4), name of the owner (16), kind of the
//! handle (1), serial number of a descriptor (4), the driver's bytes (64), those of a pointer into a pool (64), number of the
//! allocation (8), its address (8) and bytes (8) at the owner, address (8) and length (8) of what the owner registered.
//! Little-endian, packed. The check is a sum of what follows it. A descriptor is fetched by its number over the local channel.
#![forbid(unsafe_code)]

use crate::sys::crc32c::crc32c;
use crate::sys::cuda::{HandleBytes, IpcHandle, Shareable};
use crate::uct::local::{NAME_LEN, ProcessName};
use crate::wire::{Reader, Writer};

/// Bytes of an address and of a key.
pub const ADDRESS_LEN: usize = HEAD + NAME_LEN;
pub const KEY_LEN: usize = HEAD + NAME_LEN + 1 + 4 + 2 * size_of::<HandleBytes>() + 5 * 8;

const HEAD: usize = 1 + 4;
const ADDRESS: u8 = 0xd1;
const KEY: u8 = 0xd3;

/// Kinds of handles.
const ALLOCATED: u8 = 0;
const MAPPED: u8 = 1;
const POOLED: u8 = 2;
/// Beside the last two: a descriptor in place of bytes.
const FILE: u8 = 0x10;

/// Bytes that no device has.
const MOST: u64 = 1 << 44;

/// A handle with the number of its descriptor.
pub type Handle = IpcHandle<u32>;

/// A key, unpacked: the owner's claims, which the driver checks when the memory is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub owner: ProcessName,
    pub handle: Handle,
    /// Of the allocation; no other one of the owner has it.
    pub id: u64,
    /// Where the allocation begins at the owner, and its bytes.
    pub base: u64,
    pub extent: u64,
    /// What the owner registered of it.
    pub address: u64,
    pub length: u64,
}

impl Key {
    pub fn encode(&self) -> [u8; KEY_LEN] {
        seal(KEY, |w| {
            w.bytes(&self.owner.encode());
            encode_handle(&self.handle, w);
            for number in [self.id, self.base, self.extent, self.address, self.length] {
                w.u64(number);
            }
        })
    }

    /// `None` for bytes that are no key of ours.
    pub fn decode(bytes: &[u8; KEY_LEN]) -> Option<Key> {
        let mut r = open(KEY, bytes)?;
        let key = Key {
            owner: ProcessName::decode(r.bytes(NAME_LEN)?)?,
            handle: decode_handle(&mut r)?,
            id: r.u64()?,
            base: r.u64()?,
            extent: r.u64()?,
            address: r.u64()?,
            length: r.u64()?,
        };
        let before = key.address.checked_sub(key.base)?;
        let is_inside = before.checked_add(key.length)? <= key.extent && key.extent <= MOST;
        key.base.checked_add(key.extent)?;
        is_inside.then_some(key)
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

fn encode_handle(handle: &Handle, w: &mut Writer<'_>) {
    let of = |shared: &Shareable<u32>| match *shared {
        Shareable::Fabric(bytes) => (0, 0, bytes),
        Shareable::File(serial) => (FILE, serial, NOTHING),
    };
    let ((file, serial, bytes), kind, pointer) = match handle {
        IpcHandle::Allocated(bytes) => ((0, 0, *bytes), ALLOCATED, NOTHING),
        IpcHandle::Mapped(shared) => (of(shared), MAPPED, NOTHING),
        IpcHandle::Pooled(shared, pointer) => (of(shared), POOLED, *pointer),
    };
    w.u8(kind | file);
    w.u32(serial);
    w.bytes(&bytes);
    w.bytes(&pointer);
}

fn decode_handle(r: &mut Reader<'_>) -> Option<Handle> {
    let (kind, serial) = (r.u8()?, r.u32()?);
    let bytes: HandleBytes = r.bytes(size_of::<HandleBytes>())?.try_into().ok()?;
    let pointer: HandleBytes = r.bytes(size_of::<HandleBytes>())?.try_into().ok()?;
    let shared = match kind & FILE {
        0 => Shareable::Fabric(bytes),
        _ => Shareable::File(serial),
    };
    match kind & !FILE {
        ALLOCATED if kind == ALLOCATED => Some(IpcHandle::Allocated(bytes)),
        MAPPED => Some(IpcHandle::Mapped(shared)),
        POOLED => Some(IpcHandle::Pooled(shared, pointer)),
        _ => None,
    }
}

/// In place of bytes that a handle has not.
const NOTHING: HandleBytes = [0; size_of::<HandleBytes>()];

pub fn encode_address(name: ProcessName) -> [u8; ADDRESS_LEN] {
    seal(ADDRESS, |w| w.bytes(&name.encode()))
}

/// `None` for bytes that are no address of ours.
pub fn decode_address(bytes: &[u8; ADDRESS_LEN]) -> Option<ProcessName> {
    ProcessName::decode(open(ADDRESS, bytes)?.bytes(NAME_LEN)?)
}

fn seal<const N: usize>(version: u8, body: impl FnOnce(&mut Writer<'_>)) -> [u8; N] {
    let mut out = [0; N];
    body(&mut Writer::new(&mut out[HEAD..]));
    let check = crc32c(&[&out[HEAD..]]);
    out[0] = version;
    out[1..HEAD].copy_from_slice(&check.to_le_bytes());
    out
}

fn open(version: u8, bytes: &[u8]) -> Option<Reader<'_>> {
    let (head, body) = bytes.split_first_chunk::<HEAD>()?;
    let is_ours = head[0] == version && head[1..] == crc32c(&[body]).to_le_bytes();
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
            handle: IpcHandle::Allocated([0xa5; 64]),
            id: 7,
            base: 0x1000,
            extent: 0x2000,
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
        assert_eq!((bytes[0], address[0]), (0xd3, 0xd1));
        assert_eq!(bytes[5..21], NAME.encode());
        assert_eq!(bytes[21..26], [0; 5]);
        assert_eq!(bytes[26..90], [0xa5; 64]);
        assert_eq!(bytes[154..162], 7u64.to_le_bytes());
        assert_eq!(bytes[162..170], 0x1000u64.to_le_bytes());
        assert_eq!(bytes[170..178], 0x2000u64.to_le_bytes());
        assert_eq!((KEY_LEN, ADDRESS_LEN), (194, 21));
    }

    #[test]
    fn each_kind_of_handle_comes_back() {
        let kinds = [
            (0x00, IpcHandle::Allocated([1; 64])),
            (0x01, IpcHandle::Mapped(Shareable::Fabric([2; 64]))),
            (0x11, IpcHandle::Mapped(Shareable::File(3))),
            (0x02, IpcHandle::Pooled(Shareable::Fabric([4; 64]), [5; 64])),
            (0x12, IpcHandle::Pooled(Shareable::File(6), [7; 64])),
        ];
        for (kind, handle) in kinds {
            let bytes = Key { handle, ..key() }.encode();
            assert_eq!(bytes[21], kind);
            assert_eq!(Key::decode(&bytes).map(|key| key.handle), Some(handle));
        }
        for kind in (0..=u8::MAX).filter(|kind| !kinds.iter().any(|(known, _)| known == kind)) {
            let mut bytes = key().encode();
            bytes[21] = kind;
            let check = crc32c(&[&bytes[HEAD..]]);
            bytes[1..HEAD].copy_from_slice(&check.to_le_bytes());
            assert_eq!(Key::decode(&bytes), None, "kind {kind}");
        }
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
        type Change = fn(&mut Key);
        let changes: [Change; 6] = [
            |key| key.base = 0x1801,
            |key| key.length = u64::MAX,
            |key| key.length = 0x1801,
            |key| key.extent = 0xbff,
            |key| key.extent = u64::MAX - 1,
            |key| (key.base, key.address) = (u64::MAX - 0x1000, u64::MAX - 0x800),
        ];
        for (i, change) in changes.iter().enumerate() {
            let mut changed = key();
            change(&mut changed);
            assert_eq!(Key::decode(&changed.encode()), None, "change {i}");
        }
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
