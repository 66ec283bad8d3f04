//! `Param`: what the parameters of all operations have in common, and the buffer that they describe.

use super::Callback;
use crate::c::*;
use crate::ucp::context::Context;
use crate::ucp::dt::{self, Data, Side};
use crate::ucp::feature::Feature;
use crate::ucp::mem::Region;
use crate::ucp::plan::RndvPolicy;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use core::ffi::c_void;
use core::ptr::NonNull;

/// The parts of `ucp_request_param_t` that every operation shares.
#[derive(Clone, Copy)]
pub struct Param {
    /// `UCP_OP_ATTR_*` as given.
    pub mask: u32,
    /// The operation's own flags, 0 when not given.
    pub flags: u32,
    pub callback: Callback,
    pub datatype: ucp_datatype_t,
    /// The user's memory for the request: the pointer after `Request::SIZE` bytes.
    pub request: Option<NonNull<c_void>>,
    /// The memory type of the buffer, valid if `mask` has it.
    pub memory_type: ucs_memory_type_t,
    /// The handle of the buffer's memory; null when not given.
    pub memh: *const Region,
}

impl Param {
    /// The parameters of a call without attributes.
    pub const PLAIN: Param = Param {
        mask: 0,
        flags: 0,
        callback: Callback::None,
        datatype: 1 << UCP_DATATYPE_SHIFT,
        request: None,
        memory_type: UCS_MEMORY_TYPE_HOST,
        memh: core::ptr::null(),
    };

    /// Describes the buffer of an operation of a feature in `data`, which is empty. Where operations are examined, these get the configuration's flags, and
    /// `count_operation` is called.
    ///
    /// # Safety
    /// The buffer must be what the datatype says, until the operation completes, and the memory
    /// handle alive.
    #[inline]
    pub unsafe fn data(
        &mut self,
        worker: &Core,
        buffer: *mut c_void,
        count: usize,
        (side, feature): (Side, Feature),
        data: &mut Data,
        count_operation: impl FnOnce(&Param, &Data),
    ) -> Result<()> {
        let is_plain = self.memh.is_null()
            && self.mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE == 0
            && !worker.examines(feature);
        // SAFETY: by the caller's promise.
        unsafe {
            if is_plain {
                return data.describe(buffer, count, self.datatype, side);
            }
            worker.require(feature)?;
            self.mask |= worker.extra_flags;
            *data = self.described(worker, buffer, count, side)?;
            count_operation(self, data);
            Ok(())
        }
    }

    /// The same, where the memory's type or handle matters.
    ///
    /// # Safety
    /// As `data`.
    #[cold]
    unsafe fn described(
        &self,
        worker: &Core,
        buffer: *mut c_void,
        count: usize,
        side: Side,
    ) -> Result<Data> {
        let context = worker.context();
        let mut kind = match self.mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE {
            0 => None,
            // As upstream's, a hint says that it is the host's or that it is to be found out.
            _ => context
                .memory_type_of(self.memory_type)?
                .filter(|&kind| kind == UCS_MEMORY_TYPE_HOST),
        };
        let mut at = buffer;
        // SAFETY: null or alive, by the caller's promise.
        if let Some(region) = unsafe { self.memh.as_ref() } {
            match dt::contiguous_bytes(self.datatype, count) {
                Some(bytes) => {
                    let bytes = bytes?;
                    at = region.locate(buffer, bytes)?;
                    if region.contains(buffer as u64, bytes) {
                        kind = Some(region.kind);
                    }
                }
                // The entries of a list may be in different memory: the handle does not apply to them.
                None if !region.is_imported() => {}
                None => {
                    crate::ucs_error!("a buffer in imported memory has to be contiguous");
                    return Err(Status::INVALID_PARAM);
                }
            }
        }
        let mut data = Data::empty();
        // SAFETY: by the caller's promise.
        unsafe { data.describe(at, count, self.datatype, side) }?;
        let kind = match kind {
            Some(kind) => kind,
            None => memory_type(context, &data)?,
        };
        Ok(reached(context, data, kind))
    }

    /// The handle by which a domain knows the buffer, if the call has one of its memory.
    pub fn memory_handle(
        &self,
        domain: usize,
        (buffer, bytes): (*mut u8, usize),
    ) -> Option<uct_mem_h> {
        self.memory()?.handle(domain, buffer, bytes)
    }

    /// The memory whose handle the call has.
    fn memory(&self) -> Option<&Region> {
        // SAFETY: null, or alive until the operation completes, as the caller of the C function promises.
        unsafe { self.memh.as_ref() }
    }

    /// The node of the buffer's memory, if the call has a handle of it that knows.
    pub fn memory_node(&self, (buffer, bytes): (*mut u8, usize)) -> Option<u32> {
        self.memory()?.node(buffer, bytes)
    }

    /// When a message of this call is sent by rendezvous, unless something else decides.
    pub fn rndv_policy(&self) -> RndvPolicy {
        if self.mask & UCP_OP_ATTR_FLAG_FAST_CMPL != 0 {
            RndvPolicy::LongOnly
        } else {
            RndvPolicy::ByLength
        }
    }
}

/// `NO_RESOURCE` if the user allows no request: then an operation that cannot complete at once is not started.
pub fn must_be_immediate(param: &Param) -> Result<()> {
    if param.mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL != 0 {
        Err(Status::NO_RESOURCE)
    } else {
        Ok(())
    }
}

/// For operations that are not counted.
pub fn not_counted(_: &Param, _: &Data) {}

/// A buffer in memory of a type, so that its bytes are reached.
pub fn reached(context: &Context, data: Data, kind: ucs_memory_type_t) -> Data {
    match context.device_memory.copier(kind) {
        Some(copier) => data.staged(copier, kind),
        None => data,
    }
}

/// Bytes of the user's, whose memory's type is found out.
pub fn bytes(worker: &Core, at: *mut u8, length: usize) -> Result<Data> {
    let data = Data::contig(at, length);
    let kind = memory_type(worker.context(), &data)?;
    Ok(reached(worker.context(), data, kind))
}

/// The type of the memory of a few bytes of the caller's, which no hint tells.
pub fn type_of(worker: &Core, at: *const c_void) -> Result<ucs_memory_type_t> {
    if !worker.tells_memory() || at.is_null() {
        return Ok(UCS_MEMORY_TYPE_HOST);
    }
    worker.context().memory_type(at, 1)
}

/// The first type of a buffer's memory that is not the host's.
fn memory_type(context: &Context, data: &Data) -> Result<ucs_memory_type_t> {
    if !context.device_memory.is_there() {
        return Ok(UCS_MEMORY_TYPE_HOST);
    }
    let found = data.find_block(|at, length| match context.memory_type(at.cast(), length) {
        Ok(UCS_MEMORY_TYPE_HOST) => None,
        other => Some(other),
    });
    found.unwrap_or(Ok(UCS_MEMORY_TYPE_HOST))
}
