//! Posting accesses: the way is the key's, decided when it was unpacked.
//!
//! Mapped memory is read and written before the call returns, whatever other transports are there.

use super::software;
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::mem::{Access, RemoteKey};
use crate::ucp::proto::copy::{self, Started, Way};
use crate::ucp::proto::op::{CopyOp, Op};
use crate::ucp::request::{Info, Param, Posted, Request, immediate, must_be_immediate, settle};
use crate::ucp::worker::Worker;
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
        Access::SingleCopy => match single_copy(ep, param, &data, address, Way::Put) {
            Some(posted) => posted,
            None => software::put(ep, param, data, address, key),
        },
        Access::Messages => software::put(ep, param, data, address, key),
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
        Access::SingleCopy => match single_copy(ep, param, &data, address, Way::Get) {
            Some(posted) => posted,
            None => software::get(ep, param, data, address, key),
        },
        Access::Messages => software::get(ep, param, data, address, key),
    }
}

/// Lets the kernel copy a contiguous buffer; `None` when that is not possible here.
fn single_copy(
    ep: &Ep,
    param: &Param,
    data: &Data,
    address: u64,
    way: Way,
) -> Option<Result<Posted>> {
    // A long copy ends later, so who wants no request is not served.
    must_be_immediate(param).ok()?;
    match copy::start(ep, way, data.contiguous()?, data.len(), address, copied) {
        Started::Impossible => None,
        Started::Done => Some(immediate(ep.worker(), param, Info::default())),
        Started::UnderWay(copying) => {
            let made = Request::create(ep.worker(), param, Op::Copy(CopyOp { ep }));
            Some(made.and_then(|at| {
                // SAFETY: just made.
                let req = unsafe { at.as_ref() };
                copy::belongs_to(copying, req);
                ep.wait_for_peer(req);
                settle(at, param)
            }))
        }
    }
}

/// A copy that went on after its call is over.
fn copied(_: &Worker, req: &Request, result: Result<()>) {
    // SAFETY: the only borrow.
    if let Op::Copy(copy) = unsafe { req.op() } {
        // SAFETY: an endpoint outlives its requests.
        unsafe { (*copy.ep).answer(req, result) };
    }
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
