//! Worker addresses of upstream, version 1 and 2.
//!
//! Version 1 begins with version (low half of a byte) and flags (high half); version 2 with version (low half),
//! release (high half) and a byte of flags. Then, by flags: uuid (8), client id (8), name (length, bytes). Then the
//! devices, or 0xff for none. A device is a memory domain (1), length and flags (1), number of paths (1, by flag),
//! system device (1, by flag), the address, and its transports, unless the domain says that there are none. A
//! transport is a sum of its name (2), attributes (16, in version 2: 8), in wire-up messages an index (1), length and
//! flags (1), the address, and, by flag, addresses of endpoints: length (1), address, lane (1).
//!
//! What this library makes has version 1 and tells no release.

use super::Release;
use crate::wire::Reader;

/// Flags of the whole address.
const NAME: u8 = 1;
const UUID: u8 = 2;
const CLIENT_ID: u8 = 4;
const KNOWN: u8 = 15;
const NO_DEVICES: u8 = 0xff;
/// Of a memory domain: the device has no transports.
const EMPTY: u8 = 0x80;
/// Of lengths of devices and transports, and of lanes.
const LAST: u8 = 0x80;
/// Of the length of a device.
const PATHS: u8 = 0x40;
const SYSTEM_DEVICE: u8 = 0x20;
/// Of the length of a transport.
const ENDPOINTS: u8 = 0x40;
/// Bytes of a transport's attributes in version 1. They end with what it can do; this: zero-copy puts.
const ATTRIBUTES: usize = 16;
pub(super) const PUTS: u32 = 0x1000;
/// Most bytes of a device's and a transport's address in version 1.
const DEVICE_MAX: usize = 0x1f;
const TRANSPORT_MAX: usize = 0x3f;
/// The memory domain of each device of ours.
pub const DOMAIN: u8 = 0;
/// The index of each transport of ours. Releases that expect none take it for the length of an interface address that
/// has three bytes, is the last, and is followed by addresses of endpoints: they read the length behind it as the first
/// of the three, and get to the same end.
const INDEX: u8 = 0xc3;

/// Where an address stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The application passes it on.
    Blob,
    /// Behind the header of a wire-up message: transports have an index.
    Wireup,
    /// In the private data of a connection by socket address: without uuid and, of devices, without address; transports
    /// have an index or none.
    Connection { index: bool },
}

impl Place {
    fn has_index(self) -> bool {
        matches!(self, Place::Wireup | Place::Connection { index: true })
    }
}

/// A transport of a worker, and the device it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The sum of the transport's name.
    pub transport: u16,
    pub device: &'a [u8],
    pub iface: &'a [u8],
    /// Its interface takes puts without a key. Known in version 1.
    pub takes_puts: bool,
    /// What its owner says that a message takes, in nanoseconds; 0 in version 2.
    pub latency: u32,
    /// The addresses of endpoints, as they stand there.
    endpoints: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The lanes of an endpoint that go by this transport.
    pub fn lanes(&self) -> impl Iterator<Item = Lane<'a>> + use<'a> {
        let mut r = Reader::new(self.endpoints);
        core::iter::from_fn(move || {
            let len = r.u8()?;
            let address = r.bytes(len.into())?;
            let number = r.u8()? & !LAST;
            Some(Lane { address, number })
        })
    }
}

/// A lane of an endpoint: the address of the transport's endpoint, and its number at the endpoint that the message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane<'a> {
    pub address: &'a [u8],
    pub number: u8,
}

/// Most lanes of an endpoint.
pub const MAX_LANES: usize = 64;

/// A transport of ours that upstream can use.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub transport: u16,
    pub device: Vec<u8>,
    pub iface: Vec<u8>,
    /// Seconds of processor time a message, bytes a second, and seconds.
    pub overhead: f32,
    pub bandwidth: f32,
    pub latency: f32,
    /// Priority (8 bits), then what the transport can do.
    pub flags: u32,
}

/// Appends devices, at least one, of which the last is the last of its address; `lanes` are of each of them.
pub fn put_devices(offers: &[Offer], place: Place, lanes: &[Lane<'_>], out: &mut Vec<u8>) {
    for (n, offer) in offers.iter().enumerate() {
        let last = if n + 1 == offers.len() { LAST } else { 0 };
        let device = match place {
            Place::Connection { .. } => &[][..],
            _ => &offer.device[..offer.device.len().min(DEVICE_MAX)],
        };
        let iface = &offer.iface[..offer.iface.len().min(TRANSPORT_MAX)];
        out.extend_from_slice(&[DOMAIN, device.len() as u8 | last]);
        out.extend_from_slice(device);
        out.extend_from_slice(&offer.transport.to_le_bytes());
        for figure in [offer.overhead, offer.bandwidth, offer.latency] {
            out.extend_from_slice(&figure.to_le_bytes());
        }
        out.extend_from_slice(&offer.flags.to_le_bytes());
        if place.has_index() {
            out.push(INDEX);
        }
        let follows = if lanes.is_empty() { 0 } else { ENDPOINTS };
        out.push(iface.len() as u8 | LAST | follows);
        out.extend_from_slice(iface);
        for (n, lane) in lanes.iter().enumerate() {
            let last = if n + 1 == lanes.len() { LAST } else { 0 };
            out.push(lane.address.len() as u8);
            out.extend_from_slice(lane.address);
            out.push(lane.number | last);
        }
    }
}

/// The address of a worker for a wire-up message, with the lanes of an endpoint.
pub fn for_wireup(uuid: u64, offers: &[Offer], lanes: &[Lane<'_>]) -> Vec<u8> {
    let mut out = vec![UUID << 4];
    out.extend_from_slice(&uuid.to_le_bytes());
    match offers {
        [] => out.push(NO_DEVICES),
        _ => put_devices(offers, Place::Wireup, lanes, &mut out),
    }
    out
}

/// A worker's address, as far as it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub release: Release,
    /// 0 in the private data of a connection.
    pub uuid: u64,
    /// What the application calls its worker, if the address tells.
    pub client_id: u64,
}

impl Address {
    /// The address that `bytes` begin with. `None` for one with bytes that only this library puts there: it is a damaged one of
    /// its own.
    pub fn decode(bytes: &[u8]) -> Option<Address> {
        let (address, without_transports) =
            Address::read(&mut Reader::new(bytes), Place::Blob, |_| ())?;
        (!without_transports).then_some(address)
    }

    /// The address that `bytes` begin with, and its transports.
    pub fn with_entries(bytes: &[u8], place: Place) -> Option<(Address, Vec<Entry<'_>>)> {
        let mut entries = Vec::new();
        let mut r = Reader::new(bytes);
        let (address, _) = Address::read(&mut r, place, |entry| entries.push(entry))?;
        // Private data end with the address: what is read otherwise was misread.
        let is_whole = !matches!(place, Place::Connection { .. }) || r.rest().is_empty();
        is_whole.then_some((address, entries))
    }

    /// Reads an address; calls `each` for its transports. Also returns whether a device has an address and no transports.
    fn read<'a>(
        r: &mut Reader<'a>,
        place: Place,
        mut each: impl FnMut(Entry<'a>),
    ) -> Option<(Address, bool)> {
        let head = r.u8()?;
        let (second, flags, mut release) = match head & 15 {
            0 => (false, head >> 4, Release::Unknown),
            1 => (true, r.u8()?, Release::from_bits(head >> 4)),
            _ => return None,
        };
        // Releases before 1.16 have nothing where later ones have theirs.
        if second && release == Release::from_bits(0) {
            release = Release::Unknown;
        }
        let has_uuid = flags & UUID != 0;
        let needs_uuid = !matches!(place, Place::Connection { .. });
        if needs_uuid && !has_uuid || flags & !KNOWN != 0 {
            return None;
        }
        let uuid = if has_uuid { r.u64()? } else { 0 };
        let client_id = match flags & CLIENT_ID {
            0 => 0,
            _ => r.u64()?,
        };
        if flags & NAME != 0 {
            let len = r.u8()?;
            r.bytes(len.into())?;
        }
        let mut without_transports = false;
        if *r.rest().first()? == NO_DEVICES {
            r.u8()?;
        } else {
            loop {
                let device = Device::decode(r, (second, place), &mut each)?;
                without_transports |= device.domain & EMPTY != 0 && device.len > 0;
                if device.last {
                    if let (false, Some(bits)) = (second, device.release()) {
                        release = Release::from_bits(bits);
                    }
                    break;
                }
            }
        }
        let address = Address {
            release,
            uuid,
            client_id,
        };
        Some((address, without_transports))
    }
}

/// What is read of a device.
struct Device {
    domain: u8,
    len: usize,
    last: bool,
}

impl Device {
    /// Reads a device; calls `each` for its transports. `form` is whether it is of version 2, and where it stands.
    fn decode<'a>(
        r: &mut Reader<'a>,
        form: (bool, Place),
        each: &mut impl FnMut(Entry<'a>),
    ) -> Option<Device> {
        let (second, _) = form;
        let domain = r.u8()?;
        if second && domain & !EMPTY == !EMPTY {
            r.u8()?;
        }
        let bits = r.u8()?;
        let len = long(r, bits & 0x1f, 0x1f, second)?;
        for flag in [PATHS, SYSTEM_DEVICE] {
            if bits & flag != 0 {
                r.u8()?;
            }
        }
        let device = r.bytes(len)?;
        let mut more = domain & EMPTY == 0;
        while more {
            let entry;
            (entry, more) = read_transport(r, device, form)?;
            each(entry);
        }
        let last = bits & LAST != 0;
        Some(Device { domain, len, last })
    }

    /// Of the last device of an address: its release's bits, if it is there for them.
    fn release(&self) -> Option<u8> {
        (self.domain & EMPTY != 0 && self.len == 0).then_some(self.domain)
    }
}

/// A transport on a device, and whether another follows.
fn read_transport<'a>(
    r: &mut Reader<'a>,
    device: &'a [u8],
    (second, place): (bool, Place),
) -> Option<(Entry<'a>, bool)> {
    let transport = r.u16()?;
    let attributes = r.bytes(if second { 8 } else { ATTRIBUTES })?;
    let abilities = attributes.last_chunk().copied().map(u32::from_le_bytes);
    let takes_puts = !second && abilities.is_some_and(|bits| bits & PUTS != 0);
    let latency = match attributes {
        [_, _, _, _, _, _, _, _, a, b, c, d, ..] if !second => f32::from_le_bytes([*a, *b, *c, *d]),
        _ => 0.0,
    };
    if place.has_index() {
        r.u8()?;
    }
    let bits = r.u8()?;
    let len = long(r, bits & 0x3f, 0x3f, second)?;
    let iface = r.bytes(len)?;
    let endpoints = r.rest();
    let mut more = bits & ENDPOINTS != 0;
    while more {
        let len = r.u8()?;
        r.bytes(len.into())?;
        more = r.u8()? & LAST == 0;
    }
    let entry = Entry {
        transport,
        device,
        iface,
        takes_puts,
        latency: (latency * 1e9) as u32,
        endpoints: &endpoints[..endpoints.len() - r.rest().len()],
    };
    Some((entry, bits & LAST == 0))
}

/// A length; in version 2 one that fills its bits stands in the next byte.
fn long(r: &mut Reader<'_>, len: u8, full: u8, second: bool) -> Option<usize> {
    let len = if second && len == full { r.u8()? } else { len };
    Some(len.into())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    fn bytes(hex: &str) -> Vec<u8> {
        let hex: Vec<u8> = hex.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        hex.chunks(2)
            .map(|two| u8::from_str_radix(core::str::from_utf8(two).unwrap(), 16).unwrap())
            .collect()
    }

    /// What `ucp_worker_get_address` gave of releases, with UCX_TLS=tcp, and version 2 with all transports.
    const PACKED: [(&str, u64, Release); 5] = [
        (
            "20702208d829af4cf520920102b614e8451e2575edf9ffffef00000000cf1917b75138539e3e4bd7e037370113230082\
             86dd",
            0xf54c_af29_d808_2270,
            Release::Unknown,
        ),
        (
            "2036414a37c918569d20120102b614e8451e2575edf9ffffef00000000cf1917b75138539e3e4bd7e037370113230082\
             b58f8080",
            0x9d56_18c9_374a_4136,
            Release::Minor(16),
        ),
        (
            "2090b48a63c2a33c1a000e0102b614e8451e2575edf9ffffefcf1917b75138539e3e4bd7e037370113230082e6bd8680",
            0x1a3c_a3c2_638a_b490,
            Release::Minor(22),
        ),
        (
            "0102044435aabaf5e19a000063754426000080001b0388ab3bb39677cc608d01060002c0000202cf190c015a0080008b\
             0082ce1701120102b614e8451e2575edf9ffffef00000000cf190c015a0180008b008298510208b614e8451e25756d8d\
             5344e5430081009b03882800271b000000000308b614e8451e25756da7d344e5430081009b0388e4640080030000c004\
             88b614e8451e25756d478bfb5543000000990084e4640000",
            0x9ae1_f5ba_aa35_4404,
            Release::Unknown,
        ),
        (
            "61024de6fc4d3b01044c000063754426000080001b03881f790568a32e4be801060002c0000202cf190c015a0080008b\
             00829ea7010e0102b614e8451e2575edf9ffffefcf190c015a0180008b0082d3630208b614e8451e25756d8d5344e543\
             0081009b03883c80271b000000000308b614e8451e25756da7d344e5430081009b038825650080030000c00488b614e8\
             451e25756d478bfb554300000099008425650000",
            0x4c04_013b_4dfc_e64d,
            Release::Minor(22),
        ),
    ];

    #[test]
    fn addresses_of_releases_are_recognised_and_no_part_of_them() {
        for (hex, uuid, release) in PACKED {
            let blob = bytes(hex);
            let whole = Some(Address {
                release,
                uuid,
                client_id: 0,
            });
            assert_eq!(Address::decode(&blob), whole);
            // What stands behind an address is somebody else's.
            assert_eq!(Address::decode(&[&blob[..], &[7; 40]].concat()), whole);
            for n in 0..blob.len() {
                assert_eq!(Address::decode(&blob[..n]), None, "{n} of {}", blob.len());
            }
        }
    }

    /// A device of tcp.
    pub fn offer() -> Offer {
        Offer {
            transport: 0x19cf,
            device: vec![0, 2, 10, 77, 0, 2],
            iface: vec![0x82, 0xe6],
            overhead: 50e-6,
            bandwidth: 1.25e9,
            latency: 30e-6,
            flags: 0x0023_0301,
        }
    }

    #[test]
    fn bytes_of_our_devices_and_what_is_read_of_them() {
        let device = "0006 0002 0a4d0002 cf19 17b75138 f902954e 82a8fb37 01032300";
        let offers = [offer(), offer()];
        let mut out = Vec::new();
        put_devices(&offers, Place::Blob, &[], &mut out);
        let last = device.replacen("0006", "0086", 1);
        assert_eq!(out, bytes(&format!("{device} 82 82e6 {last} 82 82e6")));

        let uuid = 0x0807_0605_0403_0201;
        let wireup = for_wireup(uuid, &offers[..1], &[]);
        assert_eq!(
            wireup,
            bytes(&format!("20 0102030405060708 {last} c3 82 82e6"))
        );
        let entry = Entry {
            transport: 0x19cf,
            device: &[0, 2, 10, 77, 0, 2],
            iface: &[0x82, 0xe6],
            takes_puts: false,
            latency: 30_000,
            endpoints: &[],
        };
        let address = Address {
            release: Release::Unknown,
            uuid,
            client_id: 0,
        };
        let read = Address::with_entries(&wireup, Place::Wireup);
        assert_eq!(read, Some((address, vec![entry])));
        for n in 0..wireup.len() {
            assert_eq!(Address::with_entries(&wireup[..n], Place::Wireup), None);
        }
        let nothing = for_wireup(uuid, &[], &[]);
        assert_eq!(nothing, bytes("20 0102030405060708 ff"));
        assert_eq!(
            Address::with_entries(&nothing, Place::Wireup),
            Some((address, vec![]))
        );
    }

    #[test]
    fn transports_of_releases_are_found() {
        for (n, ports) in [(0, vec![0x86dd]), (1, vec![0xb58f]), (2, vec![0xe6bd])] {
            let blob = bytes(PACKED[n].0);
            let (_, entries) = Address::with_entries(&blob, Place::Blob).unwrap();
            let tcp = entries.iter().filter(|entry| entry.transport == 0x19cf);
            let found: Vec<(u16, bool)> = tcp
                .map(|entry| {
                    (
                        u16::from_be_bytes(entry.iface.try_into().unwrap()),
                        entry.takes_puts,
                    )
                })
                .collect();
            // Unless UCX_TCP_PUT_ENABLE=n.
            let expected: Vec<(u16, bool)> = ports.into_iter().map(|port| (port, true)).collect();
            assert_eq!(found, expected);
        }
        let version_2 = bytes(PACKED[3].0);
        let (_, entries) = Address::with_entries(&version_2, Place::Blob).unwrap();
        assert!(entries.iter().all(|entry| !entry.takes_puts));
    }

    #[test]
    fn flags_and_lengths_of_each_kind() {
        let uuid = "0807060504030201";
        for (hex, release) in [
            // Nothing but the uuid; a name; active messages only.
            (format!("20{uuid}ff"), Release::Unknown),
            (format!("30{uuid}03616263ff"), Release::Unknown),
            (format!("a0{uuid}ff"), Release::Unknown),
            // Version 2: a domain beyond 126, and lengths of more than 31 and 63.
            (
                format!(
                    "4102{uuid}7f909f21{}cf19{}bf40{}",
                    "11".repeat(33),
                    "22".repeat(8),
                    "33".repeat(64)
                ),
                Release::Minor(20),
            ),
            // Paths, system device, and two endpoint addresses.
            (
                format!(
                    "20{uuid}00e20203aabbcf19{}c101 02aabb01 02ccdd82",
                    "22".repeat(16)
                ),
                Release::Unknown,
            ),
        ] {
            let blob = bytes(&hex);
            let uuid = 0x0102_0304_0506_0708;
            assert_eq!(
                Address::decode(&blob),
                Some(Address {
                    release,
                    uuid,
                    client_id: 0
                }),
                "{hex}"
            );
            assert_eq!(Address::decode(&blob[..blob.len() - 1]), None, "{hex}");
        }
        // No uuid, an unknown flag, an unknown version.
        for hex in [
            format!("00{uuid}ff"),
            format!("0112{uuid}ff"),
            format!("22{uuid}ff"),
        ] {
            assert_eq!(Address::decode(&bytes(&hex)), None, "{hex}");
        }
    }

    #[test]
    fn client_ids_and_lanes_are_read() {
        let uuid = 0x0102_0304_0506_0708;
        let named = bytes("7008070605040302010a0b000000000000036162 63ff");
        let read = Address::decode(&named).unwrap();
        assert_eq!((read.uuid, read.client_id), (uuid, 0x0b0a));

        let lanes =
            [(&[1, 2, 3][..], 5), (&[4], 0)].map(|(address, number)| Lane { address, number });
        let wireup = for_wireup(uuid, &[offer()], &lanes);
        assert!(wireup.ends_with(&bytes("c3 c2 82e6 03 010203 05 01 04 80")));
        let (_, entries) = Address::with_entries(&wireup, Place::Wireup).unwrap();
        assert_eq!(entries[0].lanes().collect::<Vec<_>>(), lanes);
        for n in 0..wireup.len() {
            assert_eq!(Address::with_entries(&wireup[..n], Place::Wireup), None);
        }
    }

    #[test]
    fn noise_is_read_to_its_end_at_most() {
        let rng = TestRng::new(11);
        for _ in 0..if cfg!(miri) { 100 } else { 100_000 } {
            let mut blob = bytes(PACKED[rng.next() as usize % PACKED.len()].0);
            for _ in 0..=rng.next() % 8 {
                let at = rng.next() as usize % blob.len();
                blob[at] = rng.next() as u8;
            }
            blob.truncate(rng.next() as usize % (blob.len() + 1));
            let _ = Address::decode(&blob);
        }
    }
}
