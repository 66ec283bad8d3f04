//! Posting accesses: the way is the key's, decided when it was unpacked.
//!
//! Mapped memory is read and written before the call returns, whatever other transports are there.

use super::software;
use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::mem::{Access, RemoteKey};
use crate::ucp::request::{Info, Param, Posted, immediate};
use crate::ucs::{Result, Status};
use crate::uct::api::{AtomicOp, AtomicWord};
use crate::wire::rkey::{READ, WRITE};

/// The way of an access: the key's, except behind a fence that messages have not passed yet. Then
/// it goes by messages too, which keep their order.
#[inline]
fn way_of(ep: &Ep, key: &RemoteKey) -> Access {
    if ep.fenced.get() {
        Access::Messages
    } else {
        key.access
    }
}

/// Writes the buffer to remote memory.
pub fn put(ep: &Ep, param: &Param, data: Data, address: u64, key: &RemoteKey) -> Result<Posted> {
    ep.usable()?;
    key.check(address, data.len(), WRITE)?;
    match way_of(ep, key) {
        Access::Direct(_) => {
            let to = key.pointer(address)?;
            // SAFETY: mapped remote memory, inside the key's range.
            unsafe { data.pack(0, to, data.len()) };
            drop(data);
            immediate(ep.worker(), param, Info::default())
        }
        Access::SingleCopy if copy(ep, &data, address, Way::Put) => {
            drop(data);
            immediate(ep.worker(), param, Info::default())
        }
        _ => software::put(ep, param, data, address, key),
    }
}

/// Reads remote memory into the buffer.
pub fn get(ep: &Ep, param: &Param, data: Data, address: u64, key: &RemoteKey) -> Result<Posted> {
    ep.usable()?;
    key.check(address, data.len(), READ)?;
    match way_of(ep, key) {
        Access::Direct(_) => {
            let from = key.pointer(address)?;
            // SAFETY: mapped remote memory, inside the key's range.
            unsafe { data.unpack(0, from, data.len()) }?;
            drop(data);
            immediate(ep.worker(), param, Info::default())
        }
        Access::SingleCopy if copy(ep, &data, address, Way::Get) => {
            drop(data);
            immediate(ep.worker(), param, Info::default())
        }
        _ => software::get(ep, param, data, address, key),
    }
}

#[derive(Clone, Copy)]
enum Way {
    Put,
    Get,
}

/// Copies a contiguous buffer by the kernel; `false` when that is not possible here.
fn copy(ep: &Ep, data: &Data, address: u64, way: Way) -> bool {
    let (Some(ptr), Some((bulk, iface))) = (
        data.contiguous(),
        ep.bulk(crate::ucp::wireup::select::bulk_lane),
    ) else {
        return false;
    };
    let cap = &ep.worker().ifaces[iface].attr.cap;
    // SAFETY: a live transport endpoint.
    let ops = unsafe { &(*(*bulk).iface).ops };
    let (op, limit) = match way {
        Way::Put => (ops.ep_put_zcopy, cap.put.max_zcopy),
        Way::Get => (ops.ep_get_zcopy, cap.get.max_zcopy),
    };
    let Some(op) = op else { return false };
    let mut done = 0;
    while done < data.len() {
        let length = (data.len() - done).min(limit);
        let iov = uct_iov_t {
            buffer: ptr.wrapping_add(done).cast(),
            length,
            memh: core::ptr::null_mut(),
            stride: 0,
            count: 1,
        };
        // SAFETY: the user's buffer, remote memory inside the key's range.
        let code = unsafe {
            op(
                bulk,
                &iov,
                1,
                address + done as u64,
                0,
                core::ptr::null_mut(),
            )
        };
        if code != UCS_OK {
            return false;
        }
        done += length;
    }
    true
}

/// An atomic operation as the user posts it.
#[derive(Clone, Copy)]
pub struct Atomic {
    pub op: Operation,
    /// 4 or 8.
    pub size: u8,
    /// The operand; for a compare-and-swap the value to compare with.
    pub value: u64,
    /// For a compare-and-swap the new value.
    pub swap: u64,
    /// Where the old value goes; null when it is not wanted.
    pub reply: *mut u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Simple(AtomicOp),
    CompareSwap,
}

impl Operation {
    /// As numbers of the wire.
    pub fn number(self) -> u8 {
        match self {
            Operation::Simple(AtomicOp::Add) => 0,
            Operation::Simple(AtomicOp::And) => 1,
            Operation::Simple(AtomicOp::Or) => 2,
            Operation::Simple(AtomicOp::Xor) => 3,
            Operation::Simple(AtomicOp::Swap) => 4,
            Operation::CompareSwap => 5,
        }
    }

    pub fn from_number(n: u8) -> Option<Operation> {
        Some(match n {
            0..=4 => Operation::Simple(AtomicOp::from_c(n.into())?),
            5 => Operation::CompareSwap,
            _ => return None,
        })
    }
}

/// Applies an operation to a word of 4 or 8 bytes; answers what stood there.
///
/// # Safety
/// `at` must be mapped and writable; alignment is checked.
pub unsafe fn apply(at: *mut u8, op: Operation, size: u8, value: u64, swap: u64) -> Result<u64> {
    if !(at as usize).is_multiple_of(size.into()) {
        crate::ucs_error!("an atomic of {size} bytes at {at:p} is not aligned");
        return Err(Status::INVALID_ADDR);
    }
    // SAFETY: by the caller's promise, aligned as checked.
    unsafe {
        match (size, op) {
            (4, Operation::Simple(op)) => Ok(u32::fetch(at.cast(), op, value as u32).into()),
            (4, Operation::CompareSwap) => {
                Ok(u32::cswap(at.cast(), value as u32, swap as u32).into())
            }
            (8, Operation::Simple(op)) => Ok(u64::fetch(at.cast(), op, value)),
            (8, Operation::CompareSwap) => Ok(u64::cswap(at.cast(), value, swap)),
            _ => Err(Status::INVALID_PARAM),
        }
    }
}

/// Writes an old value of `size` bytes.
///
/// # Safety
/// `at` must be null or writable for `size` bytes.
pub unsafe fn put_reply(at: *mut u8, size: u8, old: u64) {
    if !at.is_null() {
        let bytes = old.to_ne_bytes();
        // SAFETY: by the caller's promise; on little-endian machines the low bytes come first.
        unsafe {
            if size == 4 {
                at.cast::<u32>().write_unaligned(old as u32);
            } else {
                core::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
            }
        }
    }
}

/// Posts an atomic operation.
pub fn atomic(
    ep: &Ep,
    param: &Param,
    atomic: &Atomic,
    address: u64,
    key: &RemoteKey,
) -> Result<Posted> {
    ep.usable()?;
    key.check(address, atomic.size.into(), WRITE)?;
    if !address.is_multiple_of(atomic.size.into()) {
        crate::ucs_error!(
            "an atomic of {} bytes at remote address {address:#x} is not aligned",
            atomic.size
        );
        return Err(Status::INVALID_PARAM);
    }
    if let Access::Direct(_) = way_of(ep, key) {
        let at = key.pointer(address)?;
        // SAFETY: mapped remote memory, inside the key's range.
        let old = unsafe { apply(at, atomic.op, atomic.size, atomic.value, atomic.swap) }?;
        // SAFETY: the user's reply buffer.
        unsafe { put_reply(atomic.reply, atomic.size, old) };
        return immediate(ep.worker(), param, Info::default());
    }
    software::atomic(ep, param, atomic, address, key)
}
