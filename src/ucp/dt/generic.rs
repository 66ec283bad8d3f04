//! Buffers that only functions read and write: of generic datatypes, which the user packs and unpacks with a state for each
//! operation, and those in memory that processors cannot access.

use super::Side;
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::{Payload, Room};
use crate::uct::base::staged::Staged;
use core::ffi::c_void;

/// A generic datatype of `ucp_dt_create_generic`; the handle is its address plus the class in the low bits.
#[repr(align(8))]
pub struct GenericType {
    ops: ucp_generic_dt_ops_t,
    context: *mut c_void,
}

/// One operation's state of a generic datatype; finished when dropped.
pub struct Generic {
    ops: *const GenericType,
    state: *mut c_void,
}

const CLASS: u64 = UCP_DATATYPE_GENERIC as u64;

impl GenericType {
    /// Makes a datatype; `INVALID_PARAM` when an op is missing.
    pub fn create(ops: ucp_generic_dt_ops_t, context: *mut c_void) -> Result<ucp_datatype_t> {
        if ops.start_pack.is_none()
            || ops.start_unpack.is_none()
            || ops.packed_size.is_none()
            || ops.pack.is_none()
            || ops.unpack.is_none()
            || ops.finish.is_none()
        {
            crate::ucs_error!("a generic datatype needs all six functions");
            return Err(Status::INVALID_PARAM);
        }
        let ty = Box::into_raw(Box::new(GenericType { ops, context }));
        Ok(ty as u64 | CLASS)
    }

    /// Destroys a datatype.
    ///
    /// # Safety
    /// `dt` must be generic, of `create`, with no operation under way.
    pub unsafe fn destroy(dt: ucp_datatype_t) {
        // SAFETY: by the caller's promise.
        drop(unsafe { Box::from_raw((dt & !CLASS) as *mut GenericType) });
    }
}

/// Whether `dt` is generic.
pub fn is_generic(dt: ucp_datatype_t) -> bool {
    dt & u64::from(UCP_DATATYPE_CLASS_MASK) == CLASS && dt != CLASS
}

/// Calls one of the user's functions; `create` checked that it exists.
macro_rules! call {
    ($s:expr, $f:ident($($a:expr),*), $none:expr) => {
        // SAFETY: the datatype outlives the operation; the user's function with its state.
        unsafe { match (*$s.ops).ops.$f { Some(f) => f($($a),*), None => $none } }
    };
}

impl Generic {
    /// Begins an operation.
    ///
    /// # Safety
    /// `dt` must be of `GenericType::create` and alive.
    pub unsafe fn start(
        dt: ucp_datatype_t,
        buffer: *mut c_void,
        count: usize,
        side: Side,
    ) -> Result<Generic> {
        if !is_generic(dt) {
            return Err(Status::INVALID_PARAM);
        }
        let ops = (dt & !CLASS) as *const GenericType;
        let mut g = Generic {
            ops,
            state: core::ptr::null_mut(),
        };
        // SAFETY: by the caller's promise.
        let context = unsafe { (*ops).context };
        g.state = match side {
            Side::Send => call!(g, start_pack(context, buffer, count), g.state),
            Side::Receive => call!(g, start_unpack(context, buffer, count), g.state),
        };
        Ok(g)
    }

    pub fn packed_size(&self) -> usize {
        call!(self, packed_size(self.state), 0)
    }

    pub fn pack(&self, offset: usize, room: &mut Room<'_>) -> usize {
        let (dest, most) = (room.as_mut_ptr().cast(), room.len());
        call!(self, pack(self.state, offset, dest, most), 0).min(most)
    }

    pub fn unpack(&self, offset: usize, from: Payload<'_>) -> Result<()> {
        let (src, len) = (from.as_ptr().cast(), from.len());
        let code = call!(
            self,
            unpack(self.state, offset, src, len),
            UCS_ERR_INVALID_PARAM
        );
        match Status::from_code(code) {
            None => Ok(()),
            Some(e) => Err(e),
        }
    }
}

impl Drop for Generic {
    fn drop(&mut self) {
        call!(self, finish(self.state), ());
    }
}

/// A buffer that only functions read and write.
pub enum Opaque {
    Generic(Generic),
    Staged(Box<Staged>),
}

impl Opaque {
    /// Has the next `pack` find up to `most` bytes at `offset`.
    pub fn fetch(&self, offset: usize, most: usize) -> Result<()> {
        match self {
            Opaque::Generic(_) => Ok(()),
            Opaque::Staged(staged) => staged.fetch(offset, most),
        }
    }

    /// Copies bytes from `offset` on to fill `room`, as far as there are; returns how many.
    pub fn pack(&self, offset: usize, room: &mut Room<'_>) -> usize {
        match self {
            Opaque::Generic(generic) => generic.pack(offset, room),
            Opaque::Staged(staged) => staged.pack(offset, room),
        }
    }

    /// Copies the first bytes to fill `room`.
    pub fn copy_out(&self, room: &mut Room<'_>) -> Result<()> {
        match self {
            Opaque::Generic(generic) => {
                generic.pack(0, room);
                Ok(())
            }
            Opaque::Staged(staged) => staged.copy_out(room),
        }
    }

    /// What was unpacked is in the buffer.
    pub fn finish(&self) -> Result<()> {
        match self {
            Opaque::Generic(_) => Ok(()),
            Opaque::Staged(staged) => staged.finish(),
        }
    }

    /// Copies bytes to `offset`.
    pub fn unpack(&self, offset: usize, from: Payload<'_>) -> Result<()> {
        match self {
            Opaque::Generic(generic) => generic.unpack(offset, from),
            Opaque::Staged(staged) => staged.unpack(offset, from.bytes()),
        }
    }
}
