//! Atomic operations on a word of 4 or 8 bytes, as users post them and as they are applied.

use super::context::Context;
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::api::{AtomicOp, AtomicWord};
use crate::uct::base::staged::copy_by;

/// An atomic operation as the user posts it.
#[derive(Clone, Copy)]
pub struct Atomic {
    pub op: AtomicOperation,
    /// 4 or 8.
    pub size: u8,
    /// The operand; for a compare-and-swap the value to compare with.
    pub value: u64,
    /// For a compare-and-swap the new value.
    pub swap: u64,
    pub reply: Reply,
}

/// The user's buffer of the old value, if there is one.
#[derive(Clone, Copy)]
pub struct Reply {
    at: *mut u8,
    /// The type of its memory.
    kind: ucs_memory_type_t,
}

impl Reply {
    /// The old value is not wanted.
    pub const NONE: Reply = Reply {
        at: core::ptr::null_mut(),
        kind: UCS_MEMORY_TYPE_HOST,
    };

    /// In memory of the host.
    ///
    /// # Safety
    /// `at` must be null, or writable for the operation's size until it has completed.
    pub const unsafe fn new(at: *mut u8) -> Reply {
        Reply {
            at,
            kind: UCS_MEMORY_TYPE_HOST,
        }
    }

    /// The same buffer, in memory of a type.
    pub fn of_type(self, kind: ucs_memory_type_t) -> Reply {
        Reply { kind, ..self }
    }

    pub fn is_none(self) -> bool {
        self.at.is_null()
    }

    /// Its address; null for none.
    pub fn as_ptr(self) -> *mut u8 {
        self.at
    }

    /// Writes an old value of `size` bytes, which is 4 or 8.
    pub fn put(self, context: &Context, size: u8, old: u64) -> Result<()> {
        if self.is_none() {
            return Ok(());
        }
        let (bytes, size) = (old.to_le_bytes(), usize::from(size.min(8)));
        let copier = context.device_memory.copier(self.kind).map(|c| &**c);
        // SAFETY: by the promise made to `new`.
        unsafe { copy_by(copier, bytes.as_ptr(), self.at, size) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOperation {
    Simple(AtomicOp),
    CompareSwap,
}

impl AtomicOperation {
    /// By C's number of it.
    #[inline(always)]
    pub fn of(opcode: ucp_atomic_op_t) -> Option<AtomicOperation> {
        Some(match opcode {
            UCP_ATOMIC_OP_ADD => AtomicOperation::Simple(AtomicOp::Add),
            UCP_ATOMIC_OP_AND => AtomicOperation::Simple(AtomicOp::And),
            UCP_ATOMIC_OP_OR => AtomicOperation::Simple(AtomicOp::Or),
            UCP_ATOMIC_OP_XOR => AtomicOperation::Simple(AtomicOp::Xor),
            UCP_ATOMIC_OP_SWAP => AtomicOperation::Simple(AtomicOp::Swap),
            UCP_ATOMIC_OP_CSWAP => AtomicOperation::CompareSwap,
            _ => return None,
        })
    }

    /// Whether the operation is of use only with the old value.
    #[inline(always)]
    pub fn needs_reply(self) -> bool {
        matches!(
            self,
            AtomicOperation::Simple(AtomicOp::Swap) | AtomicOperation::CompareSwap
        )
    }

    /// As numbers of the wire.
    pub fn number(self) -> u8 {
        match self {
            AtomicOperation::Simple(AtomicOp::Add) => 0,
            AtomicOperation::Simple(AtomicOp::And) => 1,
            AtomicOperation::Simple(AtomicOp::Or) => 2,
            AtomicOperation::Simple(AtomicOp::Xor) => 3,
            AtomicOperation::Simple(AtomicOp::Swap) => 4,
            AtomicOperation::CompareSwap => 5,
        }
    }

    pub fn from_number(n: u8) -> Option<AtomicOperation> {
        Some(match n {
            0..=4 => AtomicOperation::Simple(AtomicOp::from_c(n.into())?),
            5 => AtomicOperation::CompareSwap,
            _ => return None,
        })
    }
}

/// Applies an operation to a word of 4 or 8 bytes. Returns the old value.
///
/// # Safety
/// `at` must be mapped and writable; alignment is checked.
pub unsafe fn apply(
    at: *mut u8,
    op: AtomicOperation,
    size: u8,
    value: u64,
    swap: u64,
) -> Result<u64> {
    if !(at as usize).is_multiple_of(size.into()) {
        crate::ucs_error!("an atomic of {size} bytes at {at:p} is not aligned");
        return Err(Status::INVALID_ADDR);
    }
    // SAFETY: by the caller's promise, aligned as checked.
    unsafe {
        match (size, op) {
            (4, AtomicOperation::Simple(op)) => Ok(u32::fetch(at.cast(), op, value as u32).into()),
            (4, AtomicOperation::CompareSwap) => {
                Ok(u32::cswap(at.cast(), value as u32, swap as u32).into())
            }
            (8, AtomicOperation::Simple(op)) => Ok(u64::fetch(at.cast(), op, value)),
            (8, AtomicOperation::CompareSwap) => Ok(u64::cswap(at.cast(), value, swap)),
            _ => Err(Status::INVALID_PARAM),
        }
    }
}
