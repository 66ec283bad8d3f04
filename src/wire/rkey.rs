//! Remote keys and exported memory handles: which memory, and by which ways it can be reached.
//!
//! Owner's worker-independent context id (8), region id (8), how many bytes the address (low half) and the length (high half)
//! have (1), these, memory type and uses (1), count (1), then a key for each memory domain: component (1), domain (1), length
//! (1), the domain's key. In messages between processes of ours a blob's head stands before it; what applications exchange is
//! `envelope`'s.
//!
//! Programs have room for what upstream's keys need: libfabric keeps 64 bytes for one. So a key is no longer than it must be.

use super::blob::{self, BlobError, HEAD};
use super::{Reader, Writer, envelope};
use smallvec::SmallVec;

/// A memory domain's key for the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MdKey<'a> {
    /// The component's number: that of its first transport in worker addresses.
    pub component: u8,
    /// The domain, as the worker addresses of the same context name it: a component may have one for each device.
    pub domain: u8,
    pub key: &'a [u8],
}

/// The memory domains' keys for a region, as they travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MdKeyList<'a>(&'a [u8]);

impl<'a> MdKeyList<'a> {
    pub fn iter(self) -> impl Iterator<Item = MdKey<'a>> {
        let mut r = Reader::new(self.0);
        core::iter::from_fn(move || take_key(&mut r))
    }

    /// Whether there is more than one.
    pub fn has_several(self) -> bool {
        self.0
            .get(KEY_HEAD - 1)
            .is_some_and(|len| self.0.len() > KEY_HEAD + usize::from(*len))
    }

    /// The key of one of the owner's memory domains.
    pub fn of(self, component: u8, domain: u8) -> Option<&'a [u8]> {
        let is_it = |k: &MdKey<'_>| (k.component, k.domain) == (component, domain);
        self.iter().find(is_it).map(|k| k.key)
    }
}

/// The same, to be put together. Most regions have one of a few bytes.
#[derive(Clone, Debug, Default)]
pub struct MdKeys(SmallVec<[u8; 16]>);

impl MdKeys {
    pub fn list(&self) -> MdKeyList<'_> {
        MdKeyList(&self.0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps those that `is_wanted`.
    pub fn retain(&mut self, is_wanted: impl Fn(&MdKey<'_>) -> bool) {
        let mut kept = MdKeys::default();
        for key in self.list().iter().filter(is_wanted) {
            kept.add(key);
        }
        *self = kept;
    }

    /// A key has at most 255 bytes.
    pub fn add(&mut self, key: MdKey<'_>) {
        // One that is short, as most are, is put together first.
        let mut short = [0; KEY_HEAD + 16];
        if let Some(joined) = short.get_mut(..KEY_HEAD + key.key.len()) {
            let mut w = Writer::new(joined);
            w.bytes(&key.head());
            w.bytes(key.key);
            return self.0.extend_from_slice(joined);
        }
        self.0.reserve(KEY_HEAD + key.key.len());
        self.0.extend_from_slice(&key.head());
        self.0.extend_from_slice(key.key);
    }
}

impl From<MdKey<'_>> for MdKeys {
    fn from(key: MdKey<'_>) -> MdKeys {
        let mut keys = MdKeys::default();
        keys.add(key);
        keys
    }
}

/// Bytes before a domain's key.
const KEY_HEAD: usize = 3;

impl MdKey<'_> {
    /// A key has at most 255 bytes.
    fn head(&self) -> [u8; KEY_HEAD] {
        [self.component, self.domain, self.key.len() as u8]
    }
}

fn take_key<'a>(r: &mut Reader<'a>) -> Option<MdKey<'a>> {
    let (component, domain, len) = (r.u8()?, r.u8()?, r.u8()?);
    Some(MdKey {
        component,
        domain,
        key: r.bytes(len.into())?,
    })
}

/// A remote key, unpacked, without the keys of memory domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Peers may read the memory.
pub const READ: u8 = 1;
/// Peers may write it.
pub const WRITE: u8 = 2;
/// It is a handle for processes of the same machine, not a key for accesses.
pub const EXPORTED: u8 = 4;

/// Stands in the place of the memory type in the key of device memory that messages go by, part by part. It is no type, so a
/// receiver that does not know such parts, as older ones, has no use for the key.
pub const PARTS: u8 = 31;

/// Most bytes before the domains' keys, the last of which is their number.
const FIXED: usize = 35;
/// Where the uses begin in the byte of the memory type.
const USES_SHIFT: u32 = 5;
/// Bytes that keys of this library rarely exceed.
const USUAL: usize = 120;

impl Rkey {
    /// The blob for messages between processes of ours.
    pub fn pack(&self, keys: MdKeyList<'_>) -> Vec<u8> {
        let mut buf = Vec::with_capacity(HEAD + USUAL);
        buf.extend_from_slice(&[0; HEAD]);
        self.put(keys, &mut buf, usize::from(u16::MAX) - HEAD);
        blob::seal(&mut buf, 0);
        buf
    }

    /// Reads such a blob.
    pub fn unpack(blob: &[u8]) -> Result<(Rkey, MdKeyList<'_>), BlobError> {
        let (_, body) = blob::open(blob, 0)?;
        Rkey::take(body).ok_or(BlobError::Damaged)
    }

    /// The blob for applications: a handle if `uses` says so, else a key.
    pub fn to_envelope(&self, keys: MdKeyList<'_>) -> Vec<u8> {
        let len = self.len_with(keys, envelope::KEY_ROOM);
        let put = |out: &mut Vec<u8>| self.put(keys, out, envelope::KEY_ROOM);
        if self.uses & EXPORTED != 0 {
            envelope::wrap_handle(len, put)
        } else {
            envelope::wrap_key(len, put)
        }
    }

    /// The bytes that `put` appends, or a few more.
    fn len_with(&self, keys: MdKeyList<'_>, room: usize) -> usize {
        let numbers = significant_bytes(self.address) + significant_bytes(self.length);
        (FIXED - 16 + numbers + keys.0.len()).min(room)
    }

    /// Reads such a blob of that kind.
    pub fn from_envelope(
        kind: envelope::EnvelopeKind,
        blob: &[u8],
    ) -> Result<(Rkey, MdKeyList<'_>), BlobError> {
        let body = match kind {
            envelope::EnvelopeKind::Handle => envelope::unwrap_handle(blob)?,
            _ => envelope::unwrap_key(blob)?,
        };
        let is_handle = kind == envelope::EnvelopeKind::Handle;
        Rkey::take(body)
            .filter(|(key, _)| (key.uses & EXPORTED != 0) == is_handle)
            .ok_or(BlobError::Damaged)
    }

    /// Appends at most `room` bytes: the domains' keys as far as they fit.
    fn put(&self, keys: MdKeyList<'_>, out: &mut Vec<u8>, room: usize) {
        let end = out.len() + room;
        let mut fixed = [0; FIXED];
        let mut w = Writer::new(&mut fixed);
        w.u64(self.context);
        w.u64(self.region);
        let sizes = [self.address, self.length].map(significant_bytes);
        w.u8(sizes[0] as u8 | (sizes[1] as u8) << 4);
        // Whole words, of which the next one covers the zeros: no copy of a length that is not known.
        let mut at = w.len();
        for (number, size) in [self.address, self.length].into_iter().zip(sizes) {
            Writer::new(&mut fixed[at..]).u64(number);
            at += size;
        }
        let mut w = Writer::new(&mut fixed[at..]);
        w.u8(self.mem_type | self.uses << USES_SHIFT);
        w.u8(0);
        let len = at + w.len();
        out.extend_from_slice(&fixed[..len]);
        let count = out.len() - 1;
        for key in keys.iter() {
            if out.len() + KEY_HEAD + key.key.len() > end || out[count] == u8::MAX {
                break;
            }
            out[count] += 1;
            out.extend_from_slice(&key.head());
            out.extend_from_slice(key.key);
        }
    }

    fn take(body: &[u8]) -> Option<(Rkey, MdKeyList<'_>)> {
        let mut r = Reader::new(body);
        let (context, region, sizes) = (r.u64()?, r.u64()?, r.u8()?);
        let address = of_bytes(r.bytes(usize::from(sizes & 0xf))?)?;
        let length = of_bytes(r.bytes(usize::from(sizes >> 4))?)?;
        let (kind, count) = (r.u8()?, r.u8()?);
        let (mem_type, uses) = (kind & ((1 << USES_SHIFT) - 1), kind >> USES_SHIFT);
        let all = r.rest();
        for _ in 0..count {
            take_key(&mut r)?;
        }
        let keys = MdKeyList(&all[..all.len() - r.rest().len()]);
        let key = Rkey {
            context,
            region,
            address,
            length,
            mem_type,
            uses,
        };
        Some((key, keys))
    }
}

/// How many bytes of the number are not zeros at its end.
fn significant_bytes(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()).div_ceil(8) as usize
}

/// The number of these bytes, of which there are eight at most.
fn of_bytes(bytes: &[u8]) -> Option<u64> {
    let number = |n, byte: &u8| n << 8 | u64::from(*byte);
    (bytes.len() <= 8).then(|| bytes.iter().rev().fold(0, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    fn sample(rng: &TestRng, uses: u8) -> Rkey {
        Rkey {
            context: rng.next(),
            region: rng.next(),
            address: rng.next(),
            length: rng.next(),
            mem_type: 0,
            uses,
        }
    }

    fn sample_keys(rng: &TestRng) -> MdKeys {
        md_key(1, 2, &[rng.next() as u8; 24]).into()
    }

    fn md_key(component: u8, domain: u8, key: &[u8]) -> MdKey<'_> {
        MdKey {
            component,
            domain,
            key,
        }
    }

    type Unpack = fn(&[u8]) -> Result<(Rkey, MdKeyList<'_>), BlobError>;

    #[test]
    fn comes_back_and_refuses_every_wrong_byte() {
        let rng = TestRng::new(7);
        for _ in 0..16 {
            let key = sample(&rng, READ | WRITE);
            let handle = sample(&rng, READ | WRITE | EXPORTED);
            let keys = sample_keys(&rng);
            let keys = keys.list();
            let forms: [(Rkey, Vec<u8>, Unpack); 3] = [
                (key, key.pack(keys), Rkey::unpack),
                (key, key.to_envelope(keys), |b| {
                    Rkey::from_envelope(envelope::EnvelopeKind::Key, b)
                }),
                (handle, handle.to_envelope(keys), |b| {
                    Rkey::from_envelope(envelope::EnvelopeKind::Handle, b)
                }),
            ];
            for (key, mut blob, unpack) in forms {
                assert_eq!(unpack(&blob), Ok((key, keys)));
                for i in 0..blob.len() {
                    for flips in 1..=(if cfg!(miri) { 1 } else { u8::MAX }) {
                        blob[i] ^= flips;
                        assert!(unpack(&blob).is_err(), "byte {i} changed by {flips:#x}");
                        blob[i] ^= flips;
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_of_each_length_come_back() {
        let rng = TestRng::new(2);
        let mut key = sample(&rng, READ | WRITE | EXPORTED);
        let keys = sample_keys(&rng);
        let keys = keys.list();
        key.mem_type = 31;
        for bits in 0..=64 {
            key.address = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
            key.length = u64::MAX.checked_shr(bits).unwrap_or(0);
            assert_eq!(Rkey::unpack(&key.pack(keys)), Ok((key, keys)));
        }
        let mut body = Vec::new();
        key.put(keys, &mut body, 200);
        for sizes in 0..=u8::MAX {
            body[16] = sizes;
            let fits = sizes & 0xf <= 8 && sizes >> 4 <= 8;
            assert!(fits || Rkey::take(&body).is_none(), "{sizes:#x}");
        }
    }

    #[test]
    fn key_of_a_network_has_the_room_that_programs_keep() {
        let mut key = sample(&TestRng::new(4), READ | WRITE);
        key.address = 0x7fff_ffff_f000;
        key.length = 1 << 39;
        let keys = MdKeys::from(md_key(4, 0, &[0xff; 8]));
        assert!(key.to_envelope(keys.list()).len() <= 64);
    }

    #[test]
    fn domains_of_one_component_have_a_key_each() {
        let mut keys = MdKeys::default();
        for (component, domain) in [(6, 1), (6, 2), (4, 3)] {
            keys.add(md_key(component, domain, &[component, domain]));
        }
        let blob = sample(&TestRng::new(5), READ).pack(keys.list());
        let (_, keys) = Rkey::unpack(&blob).unwrap();
        for (component, domain) in [(6, 1), (6, 2), (4, 3)] {
            let found = keys.of(component, domain);
            assert_eq!(found, Some(&[component, domain][..]));
        }
        assert_eq!(keys.of(6, 3), None);
        assert_eq!(keys.of(4, 1), None);
    }

    #[test]
    fn keys_without_room_are_left_out() {
        let key = sample(&TestRng::new(3), READ);
        let mut keys = MdKeys::default();
        (0..12).for_each(|i| keys.add(md_key(6, i, &[i; 30])));
        let blob = key.to_envelope(keys.list());
        let (_, some) = Rkey::from_envelope(envelope::EnvelopeKind::Key, &blob).unwrap();
        assert!(some.iter().eq(keys.list().iter().take(6)));
        let packed = key.pack(keys.list());
        assert_eq!(Rkey::unpack(&packed), Ok((key, keys.list())));
        keys.retain(|k| k.domain % 5 == 1);
        assert!(keys.list().iter().map(|k| k.domain).eq([1, 6, 11]));
    }

    #[test]
    fn the_last_key_may_fill_the_room() {
        let key = sample(&TestRng::new(6), READ);
        let keys = MdKeys::from(md_key(1, 2, &[3; 4]));
        assert_eq!(keys.list().of(1, 2), Some(&[3; 4][..]));
        let put = |room| {
            let mut body = vec![7];
            key.put(keys.list(), &mut body, room);
            body.split_off(1)
        };
        let whole = put(1000);
        assert_eq!(put(whole.len()), whole);
        assert_eq!(put(whole.len() - 1).len(), whole.len() - KEY_HEAD - 4);
        // What follows is not of the key.
        assert_eq!(
            Rkey::take(&[&whole[..], &[9]].concat()),
            Some((key, keys.list()))
        );
    }

    #[test]
    fn a_blob_is_no_longer_than_its_length_can_say() {
        const LONGEST: usize = u16::MAX as usize;
        let key = sample(&TestRng::new(8), READ);
        let pack = |last: &[u8]| {
            let mut keys = MdKeys::default();
            (0..253).for_each(|i| keys.add(md_key(6, i, &[i; 255])));
            keys.add(md_key(6, 253, last));
            key.pack(keys.list())
        };
        let rest = LONGEST - pack(&[]).len();
        let longest = pack(&vec![1; rest]);
        assert_eq!(longest.len(), LONGEST);
        let (_, keys) = Rkey::unpack(&longest).unwrap();
        assert_eq!(keys.iter().count(), 254);
        let shorter = pack(&vec![1; rest + 1]);
        let (_, keys) = Rkey::unpack(&shorter).unwrap();
        assert_eq!(keys.iter().count(), 253);
    }
}
