//! The `tcp` memory domain: registration gives the key that a peer must show to write.
#![forbid(unsafe_code)]

use super::config;
use super::device::Selection;
use super::iface::{self, TcpIface};
use super::keys::{Keys, Writers};
use super::wire::DeviceAddr;
use crate::c::*;
use crate::sys::net::{self, loopback_domain};
use crate::ucs::config::{Config, Table};
use crate::ucs::{Failure, Result, Status};
use crate::uct::api::{Component, Device, Md, MdAttr, PackedKey, Transport, UnpackedKey, Unusable};
use crate::uct::auth::Auth;
use crate::uct::base::iface::md_as;
use crate::uct::base::md::{DynMd, MemoryNumber};
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cm::tcp::TcpManager;
use crate::uct::cm::{self, Manager};
use crate::uct::internal::MEM_ONE_TRANSFER;
use std::net::IpAddr;
use std::sync::Arc;

pub struct TcpComponent;

pub struct TcpMd {
    selection: Selection,
    pub keys: Arc<Keys>,
    auth: Option<Arc<Auth>>,
}

struct TcpTransport;

const HOST: u64 = 1 << UCS_MEMORY_TYPE_HOST;
/// Bytes of a packed key.
const RKEY_LEN: usize = 8;

impl Component for TcpComponent {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn flags(&self) -> u64 {
        u64::from(UCT_COMPONENT_FLAG_CM)
    }

    fn cm_config(&self) -> Option<&'static Table> {
        Some(&cm::tcp::TABLE)
    }

    fn cm_open(&self, worker: &WorkerHandle, config: &Config) -> Result<Box<dyn Manager>> {
        Ok(Box::new(TcpManager::open(worker, config, encode_device)?))
    }

    fn md_config(&self) -> &'static Table {
        &config::MD
    }

    fn md_resources(&self) -> core::result::Result<Vec<&'static str>, Unusable> {
        Ok(vec!["tcp"])
    }

    fn md_open(&self, _name: &str, config: &Config) -> Result<Box<dyn DynMd>> {
        Ok(Box::new(TcpMd {
            selection: config::selection(config)?,
            keys: Arc::new(Keys::new()),
            auth: Auth::read(config)?,
        }))
    }

    fn transports(&self) -> &'static [&'static dyn Transport] {
        &[&TcpTransport]
    }

    fn key_len(&self) -> usize {
        RKEY_LEN
    }

    fn rkey_unpack(&self, packed: &[u8]) -> Result<UnpackedKey> {
        let bytes = packed.first_chunk().ok_or(Status::INVALID_PARAM)?;
        Ok(UnpackedKey::Word(u64::from_le_bytes(*bytes) as uct_rkey_t))
    }
}

/// The device address of whoever is reached at `ip` through such an interface.
fn encode_device(ip: IpAddr, prefix: u8, loopback: bool) -> Vec<u8> {
    let (bytes, len) = DeviceAddr {
        ip,
        prefix,
        domain: loopback.then(loopback_domain),
    }
    .encode();
    bytes[..len].to_vec()
}

impl Md for TcpMd {
    type Memory = MemoryNumber;

    fn attr(&self) -> MdAttr {
        MdAttr {
            flags: (UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY) as u64,
            max_reg: usize::MAX,
            reg_mem_types: HOST,
            reg_nonblock_mem_types: HOST,
            cache_mem_types: HOST,
            access_mem_types: HOST,
            ..MdAttr::PLAIN
        }
    }

    fn mem_reg(
        &self,
        address: *mut core::ffi::c_void,
        length: usize,
        flags: u32,
    ) -> Result<MemoryNumber> {
        let writable = flags & UCT_MD_MEM_ACCESS_REMOTE_PUT != 0;
        let one_transfer = flags & MEM_ONE_TRANSFER != 0;
        let (base, len) = (address as u64, length as u64);
        let key = self.keys.add(base, len, writable, one_transfer)?;
        Ok(MemoryNumber(key as usize))
    }

    fn mem_dereg(&self, memory: MemoryNumber) -> Result<()> {
        self.keys.remove(memory.0 as u64)
    }

    fn mkey_pack(&self, memory: &MemoryNumber) -> Result<PackedKey> {
        let key = memory.0 as u64;
        self.keys.export(key)?;
        Ok(PackedKey::from_slice(&key.to_le_bytes()))
    }

    fn admit_upstream(&self, key: &[u8], writers: Option<Writers>) -> Result<()> {
        let key = key.first_chunk().ok_or(Status::INVALID_PARAM)?;
        self.keys.name(u64::from_le_bytes(*key), writers)
    }
}

impl Transport for TcpTransport {
    fn name(&self) -> &'static str {
        iface::NAME
    }

    fn wire_number(&self) -> Option<u8> {
        Some(4)
    }

    fn config(&self) -> &'static Table {
        &config::IFACE
    }

    fn devices(&self, md: &dyn DynMd) -> core::result::Result<Vec<Device>, Unusable> {
        let md = md_as::<TcpMd>(md).map_err(|e| Unusable(e.to_string()))?;
        md.selection.devices()
    }

    /// Its length depends on the address family.
    fn fits_device_address(&self, device: &[u8], _own_len: usize) -> bool {
        let len = device
            .first()
            .and_then(|first| DeviceAddr::len_from(*first));
        len == Some(device.len())
    }

    fn is_same_network(&self, own: &[u8], peer: &[u8]) -> bool {
        let both = DeviceAddr::decode(own).zip(DeviceAddr::decode(peer));
        both.is_some_and(|(own, peer)| own.is_same_subnet(&peer))
    }

    /// What is sent to an address of this host goes through its loopback, whatever device has it.
    fn has_rails(&self, device: &[u8]) -> bool {
        let is_own = |ip| net::addresses().is_ok_and(|own| own.iter().any(|a| a.ip == ip));
        DeviceAddr::decode(device).is_some_and(|peer| peer.domain.is_none() && !is_own(peer.ip))
    }

    fn open(
        &self,
        md: &dyn DynMd,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let md = md_as::<TcpMd>(md)?;
        let survey = md.selection.survey();
        let Some(address) = survey.addresses.iter().find(|a| a.name == device) else {
            let cause = format!("interface {device} is not up any more");
            return Err(Failure::new(Status::NO_DEVICE, cause));
        };
        let (keys, auth) = (Arc::clone(&md.keys), md.auth.clone());
        TcpIface::open(worker, address, &survey, keys, auth, params, config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(ip: &str, prefix: u8) -> Vec<u8> {
        encode_device(ip.parse().unwrap(), prefix, false)
    }

    #[test]
    fn networks_are_told_apart_by_the_prefix() {
        let same =
            |a, b, prefix| TcpTransport.is_same_network(&device(a, prefix), &device(b, prefix));
        assert!(same("192.0.2.1", "192.0.2.200", 24));
        assert!(!same("192.0.2.1", "192.0.3.1", 24) && same("192.0.2.1", "192.0.3.1", 23));
        assert!(same("192.0.2.1", "198.51.100.1", 0));
        assert!(!same("192.0.2.1", "192.0.2.2", 32) && same("192.0.2.1", "192.0.2.1", 32));
        assert!(same("2001:db8::1", "2001:db8::2", 64) && same("2001:db8::1", "::2", 0));
        assert!(!same("2001:db8::1", "2001:db8::2", 128));
        assert!(!same("192.0.2.1", "2001:db8::2", 0));
        assert!(!TcpTransport.is_same_network(&[], &device("192.0.2.1", 24)));
    }

    #[test]
    fn addresses_of_this_host_have_no_rails() {
        let loopback = encode_device("127.0.0.1".parse().unwrap(), 8, true);
        assert!(!TcpTransport.has_rails(&loopback));
        for own in net::addresses().unwrap() {
            assert!(!TcpTransport.has_rails(&encode_device(own.ip, own.prefix, false)));
        }
        assert!(TcpTransport.has_rails(&device("192.0.2.1", 24)));
        assert!(!TcpTransport.has_rails(&[7; 3]));
    }

    /// The address is read as far as its first byte says.
    #[test]
    fn a_device_address_with_another_length_does_not_fit() {
        for ip in ["127.0.0.1", "::1"] {
            for loopback in [false, true] {
                let whole = encode_device(ip.parse().unwrap(), 8, loopback);
                let len = whole.len();
                assert!(TcpTransport.fits_device_address(&whole, 0));
                for cut in 0..len {
                    assert!(!TcpTransport.fits_device_address(&whole[..cut], len));
                }
                let longer = [&whole[..], &[0]].concat();
                assert!(!TcpTransport.fits_device_address(&longer, len));
            }
        }
    }
}
