//! What client and server tell each other over a connection manager with little room.
//!
//! Version (1), mode of error handling (1), endpoint (8), worker (8), client's id (8), memory domain (1), all little
//! endian; then the interfaces on one device of it: transport (1), the short form of the device's address with the first of
//! them, the short form of the interface's address. So a device with two transports takes the 54 bytes that there are.
#![forbid(unsafe_code)]

use super::Reader;

const VERSION: u8 = 1;

/// A greeting, with addresses in their short forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortGreeting {
    pub err_mode: u8,
    pub ep: u64,
    pub uuid: u64,
    pub client_id: u64,
    pub domain: u8,
    pub device: Vec<u8>,
    /// The transport of each interface and its own address.
    pub ifaces: Vec<(u8, Vec<u8>)>,
}

impl ShortGreeting {
    /// As many of the interfaces as there is room for.
    pub fn encode(&self, room: usize) -> Vec<u8> {
        let mut out = vec![VERSION, self.err_mode];
        for word in [self.ep, self.uuid, self.client_id] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.push(self.domain);
        for (i, (transport, iface)) in self.ifaces.iter().enumerate() {
            let device = if i == 0 { &self.device[..] } else { &[] };
            let entry = [&[*transport], device, iface].concat();
            if out.len() + entry.len() > room {
                break;
            }
            out.extend_from_slice(&entry);
        }
        out
    }

    /// `lengths` are those of a transport's short forms. `None` for what no peer of this version writes.
    pub fn decode(
        bytes: &[u8],
        lengths: impl Fn(u8) -> Option<(usize, usize)>,
    ) -> Option<ShortGreeting> {
        let mut r = Reader::new(bytes);
        if r.u8()? != VERSION {
            return None;
        }
        let mut greeting = ShortGreeting {
            err_mode: r.u8()?,
            ep: r.u64()?,
            uuid: r.u64()?,
            client_id: r.u64()?,
            domain: r.u8()?,
            device: Vec::new(),
            ifaces: Vec::new(),
        };
        let mut rest = Reader::new(r.rest());
        while let Some(transport) = rest.u8() {
            let (device, iface) = lengths(transport)?;
            if greeting.ifaces.is_empty() {
                greeting.device = rest.bytes(device)?.to_vec();
            }
            let iface = rest.bytes(iface)?.to_vec();
            greeting.ifaces.push((transport, iface));
        }
        (!greeting.ifaces.is_empty()).then_some(greeting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(transport: u8) -> Option<(usize, usize)> {
        matches!(transport, 5 | 6).then_some((19, 3))
    }

    fn sample() -> ShortGreeting {
        ShortGreeting {
            err_mode: 1,
            ep: 0x1122_3344_5566_7788,
            uuid: 0x99aa_bbcc_ddee_ff00,
            client_id: 7,
            domain: 2,
            device: (1..20).collect(),
            ifaces: vec![(6, vec![1, 2, 3]), (5, vec![4, 5, 6])],
        }
    }

    #[test]
    fn two_transports_of_a_device_take_54_bytes() {
        let bytes = sample().encode(54);
        assert_eq!(bytes.len(), 54);
        assert_eq!(ShortGreeting::decode(&bytes, lengths), Some(sample()));
        let mut one = sample();
        one.ifaces.pop();
        let bytes = sample().encode(53);
        assert_eq!(bytes.len(), 50);
        assert_eq!(ShortGreeting::decode(&bytes, lengths), Some(one));
    }

    #[test]
    fn what_is_refused() {
        let bytes = sample().encode(54);
        let read = |bytes: &[u8]| ShortGreeting::decode(bytes, lengths);
        for len in 0..bytes.len() {
            // The second interface may be missing.
            assert_eq!(read(&bytes[..len]).is_some(), len == 50, "{len}");
        }
        for (at, value) in [(0, 2), (27, 77), (50, 0)] {
            let mut bad = bytes.clone();
            bad[at] = value;
            assert_eq!(read(&bad), None, "{at}");
        }
    }
}
