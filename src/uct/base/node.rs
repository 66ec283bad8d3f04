//! `node`: eight bytes that tell where shared memory and process ids mean the same: the device
//! address of the transports within a host.
//!
//! The bytes are a hash, so of two that differ nothing is known. For a log line the processes of this host that have the
//! peer's hash are looked up in /proc: their namespaces tell which ones differ.
#![forbid(unsafe_code)]

use crate::c::{UCS_SYS_DEVICE_ID_UNKNOWN, UCT_DEVICE_TYPE_SHM};
use crate::sys::process;
use crate::uct::api::Device;
use crate::uct::local::ProcessName;
use once_cell::race::OnceBox;

/// Bytes of a device address.
pub const LEN: usize = 8;

/// The kinds of namespaces in which shared memory and process ids mean the same.
const KINDS: [&str; 3] = ["ipc", "pid", "user"];

/// Equal in two processes that run on the same boot of the same kernel and see the same processes
/// and the same System V segments.
pub fn id() -> u64 {
    static ID: OnceBox<u64> = OnceBox::new();
    *ID.get_or_init(|| Box::new(id_in(KINDS.map(process::namespace))))
}

/// The number of a process of this host in these namespaces.
fn id_in(namespaces: [Option<String>; KINDS.len()]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut mix = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    match process::boot_id() {
        Some(boot) => mix(boot),
        None => mix(&crate::sys::machine::short_host_name()),
    }
    for namespace in namespaces {
        mix(&namespace.unwrap_or_default());
    }
    hash
}

/// Why a device address is not ours. Reads /proc.
fn elsewhere(device: &[u8]) -> String {
    let is_theirs = |pid: &u32| {
        let namespaces = KINDS.map(|kind| process::namespace_of(*pid, kind));
        namespaces.iter().all(Option::is_some) && device == id_in(namespaces).to_le_bytes()
    };
    let theirs: Vec<u32> = process::all().into_iter().filter(is_theirs).collect();
    let differs = |kind: &str| {
        let own = process::namespace(kind);
        let mut others = theirs.iter().map(|pid| process::namespace_of(*pid, kind));
        others.all(|other| other.is_some() && other != own)
    };
    let kinds = ["ipc", "pid", "user", "net"].into_iter();
    let kinds: Vec<_> = kinds
        .filter(|kind| !theirs.is_empty() && differs(kind))
        .collect();
    match kinds.is_empty() {
        true => "the peer is on another host, or in another ipc, pid or user namespace".to_owned(),
        false => format!(
            "the peer is in another {} namespace",
            kinds.join(" and another ")
        ),
    }
}

/// Our device address.
pub fn packed() -> [u8; LEN] {
    id().to_le_bytes()
}

/// Whether a device address is that of a process in the same namespaces.
pub fn is_ours(address: [u8; LEN]) -> bool {
    u64::from_le_bytes(address) == id()
}

/// The name of the one device of transports within a host.
pub const DEVICE: &str = "memory";

/// The one device of such a transport.
pub fn device() -> Device {
    Device {
        name: DEVICE.to_owned(),
        kind: UCT_DEVICE_TYPE_SHM,
        sys_device: UCS_SYS_DEVICE_ID_UNKNOWN,
    }
}

/// The process that an address of a transport within a host names, if shared memory reaches it from here. Otherwise
/// the reason.
pub fn owner(device: &[u8], owner: Option<ProcessName>) -> Result<ProcessName, String> {
    if device != id().to_le_bytes() {
        return Err(elsewhere(device));
    }
    owner.ok_or_else(|| "its address is malformed".to_owned())
}
