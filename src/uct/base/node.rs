//! `node`: eight bytes that tell where shared memory and process ids mean the same: the device
//! address of the transports within a host.

use crate::c::{UCS_SYS_DEVICE_ID_UNKNOWN, UCT_DEVICE_TYPE_SHM};
use crate::uct::api::Device;
use crate::uct::local::ProcessName;
use once_cell::race::OnceBox;

/// Bytes of a device address.
pub const LEN: usize = 8;

/// Equal in two processes that run on the same boot of the same kernel and see the same processes
/// and the same System V segments.
pub fn id() -> u64 {
    static ID: OnceBox<u64> = OnceBox::new();
    *ID.get_or_init(|| {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut mix = |text: &str| {
            for byte in text.bytes().chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        };
        match crate::sys::process::boot_id() {
            Some(boot) => mix(boot),
            None => mix(&crate::sys::machine::short_host_name()),
        }
        for namespace in ["ipc", "pid", "user"] {
            mix(&crate::sys::process::namespace(namespace).unwrap_or_default());
        }
        Box::new(hash)
    })
}

/// Writes our device address.
///
/// # Safety
/// `out` must have room for `LEN` bytes.
pub unsafe fn write(out: *mut u8) {
    // SAFETY: by the caller's promise; any alignment.
    unsafe { out.cast::<[u8; LEN]>().write(id().to_le_bytes()) };
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
pub fn owner(device: &[u8], owner: Option<ProcessName>) -> Result<ProcessName, &'static str> {
    if device != id().to_le_bytes() {
        return Err("the peer is on another host or in another namespace");
    }
    owner.ok_or("its address is malformed")
}

/// A device address as it was packed.
///
/// # Safety
/// `addr` must be readable for `LEN` bytes.
pub unsafe fn read(addr: *const u8) -> u64 {
    // SAFETY: by the caller's promise; any alignment.
    u64::from_le_bytes(unsafe { addr.cast::<[u8; LEN]>().read() })
}
