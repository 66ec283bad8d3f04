//! The bytes around addresses and keys that applications exchange. Upstream UCX can parse them: it finds nothing that it
//! could use, and returns "unreachable".
//!
//! * A worker address is one of upstream's version 1: version and flags (1), worker uuid (8), then devices. Ours has
//!   devices without transports, which upstream skips: a mark (1), a length of at most 31 (1) and that many
//!   bytes. Their bytes together are our head and body. Where upstream's processes may be peers, the devices that
//!   those can use follow.
//! * A remote key: a map of memory domains (8), memory type (1), then for each domain in the map a length (1) and a key,
//!   and the number of a system device (1), 255 for none. Ours is the key of domain 63, which no transport has.
//! * An exported memory handle: length (1) and flags (2), a map of memory domains (8), which is empty, and what upstream
//!   reads only with a domain.
//! * The private data of a connection by socket address: endpoint (8), error handling mode (1), format of the address
//!   (1), device (1), then a worker address without uuid. Ours has our body as in a worker address; a client that
//!   may meet a server of upstream's adds a lane that this can use.
//!
//! Our checksum is of all these bytes. Each was tried with upstream 1.13.1 to 1.22.0 (`tests/interop`).

use super::blob::{self, BlobError, HEAD, claimed_len};
use super::upstream::address::{DOMAIN, Offer, Place};
use super::{Reader, upstream};

/// Version 1 with a uuid, and without.
const WITH_UUID: u8 = 0x20;
const WITHOUT_UUID: u8 = 0;
/// A device without transports, of a memory domain that nobody has.
const EMPTY_DEVICE: u8 = 0x80 | 31;
/// Of the length of a device: it is the last one.
const LAST: u8 = 0x80;
/// Most bytes of a device.
const DEVICE_MAX: usize = 31;
const KEY_DOMAINS: u64 = 1 << 63;
const HOST_MEMORY: u8 = 0;
const NO_SYSTEM_DEVICE: u8 = 0xff;
/// Most bytes of a domain's key.
const KEY_MAX: usize = 255;
/// Length of upstream's own part, which covers that of ours that it would read.
const HANDLE_LEN: u8 = 44;
const HANDLE_EXPORTED: u16 = 1;
/// The address of the connection's own device, without that device.
const OF_CONNECTION: u8 = 2;

/// What is in an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeKind {
    Address,
    Key,
    Handle,
}

impl EnvelopeKind {
    /// Where our head stands.
    const fn head_at(self) -> usize {
        match self {
            EnvelopeKind::Address => 11,
            EnvelopeKind::Key => 10,
            EnvelopeKind::Handle => 11,
        }
    }
}

/// So many bytes of a blob of that kind show whether it claims to be ours.
pub fn needed(kind: EnvelopeKind) -> usize {
    kind.head_at() + HEAD
}

/// What the first bytes of a blob say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Every blob with this beginning has at least so many bytes, whichever library made it; more of them are needed.
    Need(usize),
    /// It claims to be ours, and to have this many bytes.
    Ours(usize),
    Not(BlobError),
}

/// Looks at the first bytes of a blob whose length is not known.
#[inline]
pub fn look(kind: EnvelopeKind, start: &[u8]) -> Look {
    let looked = match kind {
        EnvelopeKind::Address => look_at_address(start),
        EnvelopeKind::Key => look_at_key(start),
        EnvelopeKind::Handle => look_at_handle(start),
    };
    match looked.and_then(|()| look_at_head(start, kind.head_at())) {
        Ok(len) => Look::Ours(len),
        Err(look) => look,
    }
}

fn look_at_address(start: &[u8]) -> Result<(), Look> {
    expect(start, 1, |b| b[0] == WITH_UUID)?;
    expect(start, 10, |b| b[9] == EMPTY_DEVICE)?;
    expect(start, 11, |b| {
        usize::from(b[10] & !LAST).wrapping_sub(HEAD) <= DEVICE_MAX - HEAD
    })
}

#[inline]
fn look_at_key(start: &[u8]) -> Result<(), Look> {
    // One that is there as far as it is looked at needs no further look at its length.
    const AT: usize = EnvelopeKind::Key.head_at();
    if let Some((before, _)) = start.split_first_chunk::<AT>() {
        let [domains @ .., kind, len] = before;
        let fits = *domains == KEY_DOMAINS.to_le_bytes() && *kind == HOST_MEMORY;
        return match fits && usize::from(*len) >= HEAD {
            true => Ok(()),
            false => Err(Look::Not(BlobError::Foreign)),
        };
    }
    expect(start, 9, |b| {
        b[..8] == KEY_DOMAINS.to_le_bytes() && b[8] == HOST_MEMORY
    })?;
    expect(start, 10, |b| usize::from(b[9]) >= HEAD)
}

fn look_at_handle(start: &[u8]) -> Result<(), Look> {
    expect(start, 3, |b| {
        b[0] == HANDLE_LEN && b[1..3] == HANDLE_EXPORTED.to_le_bytes()
    })?;
    expect(start, 11, |b| b[3..11] == [0; 8])
}

/// Whether so many bytes of a blob can be ours.
#[inline(always)]
fn expect(start: &[u8], need: usize, fits: impl FnOnce(&[u8]) -> bool) -> Result<(), Look> {
    match start.get(..need) {
        None => Err(Look::Need(need)),
        Some(bytes) if fits(bytes) => Ok(()),
        Some(_) => Err(Look::Not(BlobError::Foreign)),
    }
}

/// The length that our head at `at` states.
#[inline(always)]
fn look_at_head(start: &[u8], at: usize) -> Result<usize, Look> {
    let Some(head) = start.get(at..).and_then(|rest| rest.first_chunk()) else {
        return Err(Look::Need(at + HEAD));
    };
    match claimed_len(head) {
        Ok(len) if len >= at + HEAD => Ok(len),
        Ok(_) => Err(Look::Not(BlobError::Damaged)),
        Err(e) => Err(Look::Not(e)),
    }
}

/// Whether our head stands in its place, whatever is around it.
pub fn has_head(kind: EnvelopeKind, bytes: &[u8]) -> bool {
    let head = bytes
        .get(kind.head_at()..)
        .and_then(|rest| rest.first_chunk());
    head.is_some_and(|head| claimed_len(head).is_ok())
}

/// A worker address with our `body`, and what upstream can use.
pub fn wrap_address(uuid: u64, body: &[u8], offers: &[Offer]) -> Vec<u8> {
    let mut out = vec![WITH_UUID];
    out.extend_from_slice(&uuid.to_le_bytes());
    put_devices(&[&[0; HEAD], body].concat(), offers.is_empty(), &mut out);
    upstream::address::put_devices(offers, Place::Blob, &[], &mut out);
    blob::seal(&mut out, EnvelopeKind::Address.head_at());
    out
}

/// The uuid and our body of a worker address.
pub fn unwrap_address(blob: &[u8]) -> Result<(u64, Vec<u8>), BlobError> {
    let (before, _) = open(EnvelopeKind::Address, blob)?;
    let mut r = Reader::new(before);
    let uuid = r.u8().and_then(|_| r.u64()).ok_or(BlobError::Damaged)?;
    let devices = blob.get(9..).and_then(take_devices);
    let (devices, _) = devices.ok_or(BlobError::Damaged)?;
    Ok((
        uuid,
        devices.get(HEAD..).ok_or(BlobError::Damaged)?.to_vec(),
    ))
}

/// Room for our body in a key.
pub const KEY_ROOM: usize = KEY_MAX - HEAD;

/// A remote key with our body, which `put` appends, of at most `KEY_ROOM` bytes, `len` of them as a rule.
pub fn wrap_key(len: usize, put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let at = EnvelopeKind::Key.head_at();
    let mut out = Vec::with_capacity(at + HEAD + len + 1);
    out.extend_from_slice(&KEY_DOMAINS.to_le_bytes());
    out.extend_from_slice(&[HOST_MEMORY, 0]);
    out.extend_from_slice(&[0; HEAD]);
    put(&mut out);
    out[at - 1] = (out.len() - at) as u8;
    out.push(NO_SYSTEM_DEVICE);
    blob::seal(&mut out, at);
    out
}

/// Our body of a remote key.
pub fn unwrap_key(blob: &[u8]) -> Result<&[u8], BlobError> {
    let (before, rest) = open(EnvelopeKind::Key, blob)?;
    match (before, rest) {
        ([.., len], [body @ .., NO_SYSTEM_DEVICE]) if usize::from(*len) == HEAD + body.len() => {
            Ok(body)
        }
        _ => Err(BlobError::Damaged),
    }
}

/// An exported memory handle with our body, as `wrap_key`.
pub fn wrap_handle(len: usize, put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let at = EnvelopeKind::Handle.head_at();
    // Upstream reads so many bytes without a look at them.
    let least = usize::from(HANDLE_LEN);
    let mut out = Vec::with_capacity((at + HEAD + len).max(least));
    out.push(HANDLE_LEN);
    out.extend_from_slice(&HANDLE_EXPORTED.to_le_bytes());
    out.extend_from_slice(&[0; 8 + HEAD]);
    put(&mut out);
    out.resize(out.len().max(least), 0);
    blob::seal(&mut out, at);
    out
}

/// Our body of an exported memory handle, perhaps with zeros behind it.
pub fn unwrap_handle(blob: &[u8]) -> Result<&[u8], BlobError> {
    open(EnvelopeKind::Handle, blob).map(|(_, body)| body)
}

/// The bytes before our head and behind it, checked.
fn open(kind: EnvelopeKind, blob: &[u8]) -> Result<(&[u8], &[u8]), BlobError> {
    match look(kind, blob) {
        Look::Ours(_) => blob::open(blob, kind.head_at()),
        Look::Need(_) => Err(BlobError::Damaged),
        Look::Not(e) => Err(e),
    }
}

/// What the two sides of a connection by socket address tell each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Private {
    pub ep: u64,
    /// Below 32.
    pub err_mode: u8,
    pub body: Vec<u8>,
}

impl Private {
    /// As bytes, with what upstream can use: a transport, and the address of its endpoint.
    pub fn wrap(&self, lane: Option<(&Offer, &[u8])>) -> Vec<u8> {
        let mut out = self.ep.to_le_bytes().to_vec();
        out.extend_from_slice(&[self.err_mode, OF_CONNECTION, 0, WITHOUT_UUID]);
        put_devices(&self.body, lane.is_none(), &mut out);
        if let Some((offer, address)) = lane {
            upstream::private::put_lane(offer, address, upstream::private::MESSAGES, &mut out);
        }
        out
    }

    /// `None` for what `wrap` did not make.
    pub fn unwrap(bytes: &[u8]) -> Option<Private> {
        let mut r = Reader::new(bytes);
        let (ep, err_mode) = (r.u64()?, r.u8()?);
        if r.bytes(3)? != [OF_CONNECTION, 0, WITHOUT_UUID] {
            return None;
        }
        Some(Private {
            ep,
            err_mode,
            body: take_devices(r.rest())?.0,
        })
    }
}

/// Appends `bytes` as devices without transports, at least one. `all`: no others follow.
fn put_devices(bytes: &[u8], all: bool, out: &mut Vec<u8>) {
    let mut rest = bytes;
    loop {
        let (device, more) = rest.split_at(rest.len().min(DEVICE_MAX));
        let last = if more.is_empty() && all { LAST } else { 0 };
        out.extend_from_slice(&[EMPTY_DEVICE, device.len() as u8 | last]);
        out.extend_from_slice(device);
        rest = more;
        if rest.is_empty() {
            return;
        }
    }
}

/// The bytes of the devices that `put_devices` made, and what follows them.
fn take_devices(devices: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut r = Reader::new(devices);
    let mut out = Vec::with_capacity(devices.len());
    loop {
        let (mark, len) = (r.u8()?, r.u8()?);
        let n = usize::from(len & !LAST);
        if mark != EMPTY_DEVICE || n > DEVICE_MAX {
            return None;
        }
        out.extend_from_slice(r.bytes(n)?);
        match r.rest() {
            [] if len & LAST != 0 => return Some((out, &[])),
            _ if len & LAST != 0 => return None,
            [DOMAIN, ..] => return Some((out, r.rest())),
            _ => {}
        }
        // Only the last has fewer.
        if n < DEVICE_MAX {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes, in hexadecimal.
    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    fn key(body: &[u8]) -> Vec<u8> {
        wrap_key(body.len(), |out| out.extend_from_slice(body))
    }

    fn handle(body: &[u8]) -> Vec<u8> {
        wrap_handle(body.len(), |out| out.extend_from_slice(body))
    }

    #[test]
    fn bytes_of_version_9() {
        let body: Vec<u8> = (1..=30).collect();
        assert_eq!(
            hex(&wrap_address(0x1122_3344_5566_7788, &body, &[])),
            "208877665544332211\
             9f1f3300cf0962668d170102030405060708090a0b0c0d0e0f1011121314151617\
             9f8718191a1b1c1d1e"
        );
        assert_eq!(
            hex(&key(&body)),
            "00000000000000800026\
             3100cd094a4861a20102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
        );
        assert_eq!(
            hex(&handle(&body[..10])),
            "2c01000000000000000000\
             2c00d009bb2d6b9a0102030405060708090a000000000000000000000000000000"
        );
        let private = Private {
            ep: 7,
            err_mode: 1,
            body: vec![0xaa; 31],
        };
        assert_eq!(
            hex(&private.wrap(None)),
            format!("0700000000000000010200009f9f{}", "aa".repeat(31))
        );
    }

    fn offer() -> Offer {
        Offer {
            transport: 7,
            device: vec![1],
            iface: vec![2, 3],
            overhead: 0.0,
            bandwidth: 1.0,
            latency: 0.0,
            flags: 1,
        }
    }

    type Unwrap = fn(&[u8]) -> Option<Vec<u8>>;

    /// Each envelope around `body`, and how it is opened.
    fn all(body: &[u8]) -> [(EnvelopeKind, Vec<u8>, Unwrap); 3] {
        [
            (EnvelopeKind::Address, wrap_address(5, body, &[]), |b| {
                unwrap_address(b).ok().map(|(_, body)| body)
            }),
            (EnvelopeKind::Key, key(body), |b| {
                unwrap_key(b).ok().map(<[u8]>::to_vec)
            }),
            (EnvelopeKind::Handle, handle(body), |b| {
                unwrap_handle(b).ok().map(<[u8]>::to_vec)
            }),
        ]
    }

    #[test]
    fn bodies_of_each_length_come_back() {
        for n in [0, 1, 22, 23, 24, 53, 54, 55, 85, 100, KEY_ROOM] {
            let body: Vec<u8> = (0..n).map(|i| i as u8).collect();
            for (kind, blob, unwrap) in all(&body) {
                let got = unwrap(&blob).unwrap();
                assert_eq!(&got[..n], body, "{kind:?}");
                assert!(kind == EnvelopeKind::Handle || got.len() == n);
                let mut need = 1;
                while let Look::Need(more) = look(kind, &blob[..need]) {
                    assert!(more > need && more <= blob.len());
                    need = more;
                }
                assert_eq!(look(kind, &blob[..need]), Look::Ours(blob.len()));
            }
        }
    }

    /// A blob of another library is refused by its first bytes, before any is read that it need not have.
    #[test]
    fn the_first_bytes_tell_our_blobs() {
        let long = [DEVICE_MAX as u8 + 1, 0];
        // Where wrong bytes are noticed, by how many bytes, and the wrong bytes.
        let address = [(0, 1, [0, 0xff]), (9, 10, [0, 1]), (10, 11, long)];
        let mut key: Vec<_> = (0..9).map(|at| (at, 9, [0xff, 1])).collect();
        key.push((9, 10, [HEAD as u8 - 1, 0]));
        let mut handle: Vec<_> = (0..3).map(|at| (at, 3, [0xff, 2])).collect();
        handle.extend((3..11).map(|at| (at, 11, [0xff, 1])));
        for ((kind, blob, _), noticed) in all(&[7; 20]).iter().zip([&address[..], &key, &handle]) {
            for (at, need, wrong) in noticed {
                assert_eq!(look(*kind, &blob[..need - 1]), Look::Need(*need));
                for wrong in wrong {
                    let mut foreign = blob[..*need].to_vec();
                    foreign[*at] = *wrong;
                    let refused = Look::Not(BlobError::Foreign);
                    assert_eq!(
                        look(*kind, &foreign),
                        refused,
                        "{kind:?}, byte {at}: {wrong}"
                    );
                }
            }
        }
    }

    #[test]
    fn devices_for_upstream_stand_behind_ours() {
        let offer = |n: u8| Offer {
            transport: 0x19cf,
            device: vec![0, 2, 10, 77, n, 2],
            iface: vec![1, n],
            overhead: 1.0,
            bandwidth: 2.0,
            latency: 3.0,
            flags: 0x0023_0301,
        };
        for len in [0, 22, 23, 24, 54, 70] {
            let body = vec![0x5a; len];
            let blob = wrap_address(5, &body, &[offer(1), offer(2)]);
            assert_eq!(unwrap_address(&blob), Ok((5, body)));
            let (address, entries) = upstream::Address::with_entries(&blob, Place::Blob).unwrap();
            let ifaces: Vec<_> = entries.iter().map(|entry| entry.iface).collect();
            assert_eq!((address.uuid, ifaces), (5, vec![&[1, 1][..], &[1, 2]]));
            for i in 0..blob.len() * 8 {
                let mut bad = blob.clone();
                bad[i / 8] ^= 1 << (i % 8);
                assert!(unwrap_address(&bad).is_err(), "bit {i}");
                let is_upstream = upstream::Address::decode(&bad).is_some();
                assert!(
                    has_head(EnvelopeKind::Address, &bad) || !is_upstream,
                    "bit {i}"
                );
            }
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        for (kind, blob, unwrap) in all(&[0x5a; 70]) {
            for i in 0..blob.len() * 8 {
                let mut bad = blob.clone();
                bad[i / 8] ^= 1 << (i % 8);
                assert_eq!(unwrap(&bad), None, "{kind:?}, bit {i}");
                let (at, byte) = (kind.head_at(), i / 8);
                assert_eq!(has_head(kind, &bad), byte < at || byte > at + 3, "bit {i}");
            }
            for n in 0..blob.len() {
                assert_eq!(unwrap(&blob[..n]), None, "{kind:?}, {n} bytes");
            }
            let longer = [&blob[..], &[0]].concat();
            assert_eq!(unwrap(&longer), None, "{kind:?}");
        }
    }

    #[test]
    fn wrong_devices_inside_a_right_checksum_are_refused() {
        let at = EnvelopeKind::Address.head_at();
        let good = wrap_address(5, &[0x5a; 70], &[]);
        for (i, wrong) in [(10, 30), (10, 0x9f), (42, 0x1f), (43, 8), (43, 0x80)] {
            let mut bad = good.clone();
            bad[i] = wrong;
            blob::seal(&mut bad, at);
            assert!(unwrap_address(&bad).is_err(), "byte {i}");
        }
        let mut key = key(&[1; 40]);
        key[9] -= 1;
        blob::seal(&mut key, EnvelopeKind::Key.head_at());
        assert_eq!(unwrap_key(&key), Err(BlobError::Damaged));
    }

    #[test]
    fn private_data_come_back_and_others_are_none() {
        for n in [0, 1, 30, 31, 32, 62, 200] {
            let private = Private {
                ep: u64::MAX - 1,
                err_mode: 3,
                body: vec![n as u8; n],
            };
            let bytes = private.wrap(None);
            assert_eq!(Private::unwrap(&bytes), Some(private.clone()));
            for n in 0..bytes.len() {
                assert_eq!(Private::unwrap(&bytes[..n]), None);
            }
            let offer = offer();
            let with_lane = private.wrap(Some((&offer, b"endpoint")));
            assert!(with_lane.len() > bytes.len() && with_lane.ends_with(b"\x08endpoint\x81"));
            assert_eq!(Private::unwrap(&with_lane), Some(private));
        }
    }
}
