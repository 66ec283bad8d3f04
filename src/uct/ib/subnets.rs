//! Subnets: those of Ethernet ports that may be used, and that of InfiniBand ports.
#![forbid(unsafe_code)]

use super::config::RC_VERBS;
use crate::ucs::config::{AllowList, Config, var};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use std::net::{IpAddr, Ipv6Addr};

/// The subnets of Ethernet ports that are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subnets {
    /// Those of the list, or all others.
    listed: bool,
    /// As IPv6 addresses, with the bits that count.
    list: Vec<(Ipv6Addr, u32)>,
}

impl Subnets {
    pub const ALL: Subnets = Subnets {
        listed: false,
        list: Vec::new(),
    };

    pub fn read(config: &Config) -> Result<Subnets> {
        let allowed = config.allow_list(var!(RC_VERBS, "ROCE_SUBNETS"));
        let list: Option<_> = allowed
            .names()
            .iter()
            .map(|text| read_subnet(text))
            .collect();
        let Some(list) = list else {
            let all = allowed.names().join(",");
            ucs_error!("UCX_IB_ROCE_SUBNETS has what is no subnet, such as 192.0.2.0/24: {all}");
            return Err(Status::INVALID_PARAM);
        };
        let listed = matches!(allowed, AllowList::Only(_));
        Ok(Subnets { listed, list })
    }

    pub fn allows(&self, gid: &[u8; 16]) -> bool {
        let address = u128::from_be_bytes(*gid);
        let is_in = |(subnet, bits): &(Ipv6Addr, u32)| {
            let rest = 128 - bits;
            // All of 128 bits cannot be shifted out at once.
            (address ^ u128::from(*subnet))
                .checked_shr(rest)
                .unwrap_or(0)
                == 0
        };
        self.list.iter().any(is_in) == self.listed
    }
}

/// An address with the number of bits that count, or all of them.
fn read_subnet(text: &str) -> Option<(Ipv6Addr, u32)> {
    let (address, bits) = text.split_once('/').unzip();
    let (address, before) = match address.unwrap_or(text).parse().ok()? {
        IpAddr::V4(ip) => (ip.to_ipv6_mapped(), 96),
        IpAddr::V6(ip) => (ip, 0),
    };
    let bits = bits.map_or(Some(128), |bits| Some(before + bits.parse::<u32>().ok()?))?;
    (bits <= 128).then_some((address, bits))
}

/// The first half of the addresses of a subnet. `None`: any.
pub fn subnet_prefix(text: &str) -> Result<Option<[u8; 8]>> {
    if text.is_empty() {
        return Ok(None);
    }
    let whole = text.parse().or_else(|_| format!("{text}::").parse());
    match whole.map(|address: Ipv6Addr| address.octets()) {
        Ok([prefix @ .., 0, 0, 0, 0, 0, 0, 0, 0]) => Ok(Some(prefix)),
        _ => {
            ucs_error!("UCX_IB_SUBNET_PREFIX={text} is no prefix of a subnet, such as fe80:0:0:0");
            Err(Status::INVALID_PARAM)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_subnets_are_read() {
        let link_local = Some([0xfe, 0x80, 0, 0, 0, 0, 0, 0]);
        for text in ["fe80:0:0:0", "fe80:0000:0000:0000", "fe80::"] {
            assert_eq!(subnet_prefix(text), Ok(link_local), "{text}");
        }
        assert_eq!(subnet_prefix(""), Ok(None));
        for text in [
            "fe80:0:0:0:1",
            "fe80::1",
            "subnet",
            "192.168.0.0",
            "12345:0:0:0",
        ] {
            assert!(subnet_prefix(text).is_err(), "{text}");
        }
    }

    #[test]
    fn subnets_filter_addresses() {
        let gid = |text: &str| match text.parse().unwrap() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        let subnets = |listed, texts: &[&str]| Subnets {
            listed,
            list: texts
                .iter()
                .map(|text| read_subnet(text).unwrap())
                .collect(),
        };
        let own = subnets(true, &["192.0.2.0/25", "2001:db8::/32", "198.51.100.7"]);
        for (text, passes) in [
            ("192.0.2.1", true),
            ("192.0.2.129", false),
            ("2001:db8:1::1", true),
            ("2001:db9::1", false),
            ("198.51.100.7", true),
            ("198.51.100.6", false),
        ] {
            assert_eq!(own.allows(&gid(text)), passes, "{text}");
            let others = Subnets {
                listed: false,
                ..own.clone()
            };
            assert_eq!(others.allows(&gid(text)), !passes, "{text}");
            assert!(Subnets::ALL.allows(&gid(text)));
            assert!(subnets(true, &["::/0"]).allows(&gid(text)));
        }
        for text in [
            "",
            "192.0.2.0/33",
            "::/129",
            "192.0.2/24",
            "a/b",
            "192.0.2.0/",
        ] {
            assert_eq!(read_subnet(text), None, "{text}");
        }
    }
}
