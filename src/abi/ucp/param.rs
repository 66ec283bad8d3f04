//! Reading `ucp_request_param_t` and answering with C's status pointers.
//!
//! Clients of older releases pass a shorter struct: a member is read only behind its bit.

use crate::c::*;
use crate::ucp::dt::{Data, Side, plain_bytes};
use crate::ucp::ep::Ep;
use crate::ucp::feature::Feature;
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::table::{self, Verb};
use crate::ucp::request::{Callback, Info, Param, Posted, type_of};
use crate::ucp::worker::Worker;
use crate::ucp::worker_core::Core;
use crate::ucs::sync::biased_lock::Guard;
use crate::ucs::{Result, Status};
use crate::uct::base::params::masked;
use core::ffi::c_void;
use core::ptr::NonNull;

masked! {
    RequestArgs of ucp_request_param_t, op_attr_mask {
        flags: u32, UCP_OP_ATTR_FIELD_FLAGS;
        reply_buffer: *mut c_void, UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        datatype: ucp_datatype_t, UCP_OP_ATTR_FIELD_DATATYPE;
        request: *mut c_void, UCP_OP_ATTR_FIELD_REQUEST;
        memory_type: ucs_memory_type_t, UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        memh: ucp_mem_h, UCP_OP_ATTR_FIELD_MEMH;
        user_data: *mut c_void, UCP_OP_ATTR_FIELD_USER_DATA;
        remote_datatype: ucp_datatype_t, UCP_OP_ATTR_FIELD_REMOTE_DATATYPE;
        remote: *const c_void, UCP_OP_ATTR_FIELD_REMOTE;
        recv_info: ucp_request_param_t_recv_info, UCP_OP_ATTR_FIELD_RECV_INFO;
        remote_count: usize, UCP_OP_ATTR_FIELD_REMOTE_COUNT;
    }
}

/// What a call returns that lacks an argument.
pub const NULL_PTR: ucs_status_ptr_t = UCS_ERR_INVALID_PARAM as isize as ucs_status_ptr_t;

/// Which callback of the union an operation reads.
#[derive(Clone, Copy)]
pub enum Which {
    Send,
    TagRecv,
    /// Streams and active-message data.
    Recv,
}

/// Reads what every operation shares.
///
/// # Safety
/// `p` must point to a struct of any release, valid where its mask says so.
#[inline]
pub unsafe fn read(p: *const ucp_request_param_t, which: Which) -> Param {
    // SAFETY: by the caller's promise.
    let args = unsafe { RequestArgs::new(p) };
    let mut param = Param {
        mask: args.mask() as u32,
        // SAFETY: as promised by the caller.
        callback: unsafe { callback_of(p, which) },
        datatype: args.datatype().unwrap_or(Param::PLAIN.datatype),
        ..Param::PLAIN
    };
    const RARE: u32 = UCP_OP_ATTR_FIELD_FLAGS
        | UCP_OP_ATTR_FIELD_REQUEST
        | UCP_OP_ATTR_FIELD_MEMORY_TYPE
        | UCP_OP_ATTR_FIELD_MEMH;
    if param.mask & RARE != 0 {
        param.flags = args.flags().unwrap_or(0);
        param.request = NonNull::new(args.request().unwrap_or(core::ptr::null_mut()));
        param.memory_type = args.memory_type().unwrap_or(UCS_MEMORY_TYPE_HOST);
        param.memh = args.memh().unwrap_or(core::ptr::null_mut()).cast();
    }
    param
}

/// Bytes of the caller's, copied to memory of the host; `None` for those that are there.
///
/// # Safety
/// `at` must be readable for `length` bytes, by processors or by a device.
pub unsafe fn in_host(worker: &Core, at: *const c_void, length: usize) -> Result<Option<Vec<u8>>> {
    let kind = type_of(worker, at)?;
    let Some(copier) = worker.context().device_memory.copier(kind) else {
        return Ok(None);
    };
    let mut bytes = vec![0; length];
    // SAFETY: by the caller's promise.
    unsafe { copier.copy(bytes.as_mut_ptr(), at.cast(), length) }?;
    Ok(Some(bytes))
}

/// Describes the data of a message in `data`, which is empty. The message is counted in the table that `of` names where the configuration wants that.
///
/// # Safety
/// As `Param::data`.
#[inline]
pub unsafe fn message(
    ep: &Ep,
    param: &mut Param,
    buffer: *const c_void,
    count: usize,
    feature: Feature,
    data: &mut Data,
    of: impl FnOnce(&Param) -> (Verb, RndvPolicy),
) -> Result<()> {
    let count_message = |param: &Param, data: &Data| {
        let (verb, policy) = of(param);
        table::count_message(ep, verb, data, policy);
    };
    // SAFETY: by the caller's promise.
    unsafe {
        param.data(
            ep.worker(),
            buffer.cast_mut(),
            count,
            (Side::Send, feature),
            data,
            count_message,
        )
    }
}

/// The bytes of a contiguous buffer, where nothing else in the parameters matters to a message that
/// leaves at once.
///
/// # Safety
/// As `read`.
#[inline]
pub unsafe fn plain_length(
    p: *const ucp_request_param_t,
    buffer: *const c_void,
    count: usize,
) -> Option<usize> {
    // SAFETY: every release has the mask.
    let mask = unsafe { (*p).op_attr_mask };
    let matters =
        UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    if mask & matters != 0 {
        return None;
    }
    // SAFETY: as promised by the caller.
    unsafe { contiguous_length(p, buffer, count) }
}

/// The bytes of a contiguous buffer, where nothing in the parameters but `callback_of` matters to a tagged receive that waits.
///
/// # Safety
/// As `read`.
#[inline(always)]
pub unsafe fn plain_receive(
    p: *const ucp_request_param_t,
    buffer: *const c_void,
    count: usize,
) -> Option<usize> {
    const MATTERS: u32 = UCP_OP_ATTR_FIELD_REQUEST
        | UCP_OP_ATTR_FIELD_MEMH
        | UCP_OP_ATTR_FIELD_MEMORY_TYPE
        | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    // SAFETY: every release has the mask; the others are read behind their bits.
    unsafe {
        if (*p).op_attr_mask & MATTERS != 0 {
            return None;
        }
        contiguous_length(p, buffer, count)
    }
}

/// The completion callback of an operation.
///
/// # Safety
/// As `read`.
#[inline]
pub unsafe fn callback_of(p: *const ucp_request_param_t, which: Which) -> Callback {
    // SAFETY: every release has the mask; the callback is read behind its bit.
    unsafe {
        if (*p).op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK == 0 {
            return Callback::None;
        }
        callback(p, which)
    }
}

/// The callback that is there.
///
/// # Safety
/// As `read`; the callback's bit must be set.
#[inline]
unsafe fn callback(p: *const ucp_request_param_t, which: Which) -> Callback {
    // SAFETY: every release has the mask.
    let args = unsafe { RequestArgs::new(p) };
    let user_data = args.user_data().unwrap_or(core::ptr::null_mut());
    // SAFETY: the bit is set; every member of the union is a function pointer or null.
    unsafe {
        match which {
            Which::Send => (*p)
                .cb
                .send
                .map_or(Callback::None, |f| Callback::Send(f, user_data)),
            Which::TagRecv => (*p)
                .cb
                .recv
                .map_or(Callback::None, |f| Callback::TagRecv(f, user_data)),
            Which::Recv => (*p)
                .cb
                .recv_stream
                .map_or(Callback::None, |f| Callback::Recv(f, user_data)),
        }
    }
}

/// The bytes of a contiguous buffer; `None` for others, and for one that cannot be.
///
/// # Safety
/// As `read`.
#[inline(always)]
unsafe fn contiguous_length(
    p: *const ucp_request_param_t,
    buffer: *const c_void,
    count: usize,
) -> Option<usize> {
    // SAFETY: every release has the mask; the datatype is read behind its bit.
    let len = unsafe {
        if (*p).op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE == 0 {
            count
        } else {
            plain_bytes((*p).datatype, count)?
        }
    };
    (!buffer.is_null() || len == 0).then_some(len)
}

/// Where an immediate end is described; null when not wanted.
///
/// # Safety
/// As `read`.
#[inline]
pub unsafe fn tag_info(p: *const ucp_request_param_t) -> *mut ucp_tag_recv_info_t {
    // SAFETY: every release has the mask.
    let args = unsafe { RequestArgs::new(p) };
    match args.recv_info() {
        // SAFETY: every member is a pointer.
        Some(info) => unsafe { info.tag_info },
        None => core::ptr::null_mut(),
    }
}

/// Where the bytes of an immediate end are told; null when not wanted.
///
/// # Safety
/// As `read`.
pub unsafe fn length(p: *const ucp_request_param_t) -> *mut usize {
    // SAFETY: every release has the mask.
    let args = unsafe { RequestArgs::new(p) };
    match args.recv_info() {
        // SAFETY: every member is a pointer.
        Some(info) => unsafe { info.length },
        None => core::ptr::null_mut(),
    }
}

/// Writes a tag receive's description where the user wants it.
///
/// # Safety
/// `at` must be null or writable.
pub unsafe fn put_tag_info(at: *mut ucp_tag_recv_info_t, info: Info) {
    if !at.is_null() {
        // SAFETY: by the caller's promise.
        unsafe {
            at.write(ucp_tag_recv_info_t {
                sender_tag: info.tag,
                length: info.length,
            });
        }
    }
}

/// A status as C's pointer.
pub fn error(e: Status) -> ucs_status_ptr_t {
    e.code() as isize as ucs_status_ptr_t
}

/// What was posted, as C's pointer.
#[inline]
pub fn status_ptr(r: Result<Posted>) -> ucs_status_ptr_t {
    match r {
        Ok(Posted::Done) => core::ptr::null_mut(),
        Ok(Posted::Request(req)) => req.user(),
        Err(e) => error(e),
    }
}

/// What was posted with a request of the user's: OK, INPROGRESS or an error.
pub fn status_code(r: Result<Posted>) -> ucs_status_t {
    match r {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::Request(_)) => UCS_INPROGRESS,
        Err(e) => e.code(),
    }
}

/// Parameters of an old call that takes a callback and always gives a request.
pub fn old(datatype: ucp_datatype_t, callback: Callback, always: bool) -> Param {
    Param {
        mask: if always {
            UCP_OP_ATTR_FLAG_NO_IMM_CMPL
        } else {
            0
        },
        callback,
        datatype,
        ..Param::PLAIN
    }
}

/// Parameters of an old call that sends something.
pub fn old_send(datatype: ucp_datatype_t, cb: ucp_send_callback_t) -> Param {
    let callback = cb.map_or(Callback::None, Callback::OldSend);
    old(datatype, callback, false)
}

/// Parameters of an old call with a request of the user's.
pub fn old_with_request(datatype: ucp_datatype_t, request: *mut c_void) -> Param {
    Param {
        request: NonNull::new(request),
        datatype,
        ..Param::PLAIN
    }
}

/// The worker behind a handle.
///
/// # Safety
/// `h` must be a live worker.
#[inline]
pub unsafe fn worker<'a>(h: ucp_worker_h) -> &'a Worker {
    // SAFETY: `ucp_worker_create` gave out a leaked box; only shared references are made.
    unsafe { &*h.cast::<Worker>() }
}

/// As `enter`; returns `$code` in a child of fork(), whose parent has the worker. Not for the paths of messages, which find
/// endpoints and receives closed there.
macro_rules! own {
    ($worker:expr $(, $code:expr)?) => {{
        let worker: &crate::ucp::worker_core::Core = $worker;
        if worker.check_process().is_err() {
            return $($code)?;
        }
        $crate::abi::ucp::param::enter(worker)
    }};
}
pub(super) use own;

/// Takes the worker's lock in MULTI mode; nothing otherwise.
#[inline]
pub fn enter(worker: &Core) -> Option<Guard<'_>> {
    worker.is_shared().then(|| worker.lock.lock())
}
