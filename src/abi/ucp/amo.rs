//! Atomics: the exported functions of `ucp.h` and its companions.

use super::ep::{ep, wait};
use super::param::{self, NULL_PTR, RequestArgs, Which, enter, error, status_ptr};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::atomic::{Atomic, AtomicOperation, Reply};
use crate::ucp::dt::{Data, Side};
use crate::ucp::feature::Feature;
use crate::ucp::proto::table::{self, Verb};
use crate::ucp::request::{Param, Posted, not_counted, type_of};
use crate::ucp::rkey::RemoteKey;
use crate::ucp::rma::post;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::AtomicOp;
use crate::uct::base::copy::Room;

/// Posts an atomic.
///
/// # Safety
/// Handles live; the reply as `Atomic` says.
unsafe fn run(
    h: ucp_ep_h,
    atomic: &Atomic,
    address: u64,
    rkey: ucp_rkey_h,
    param: &Param,
) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let (ep, key) = unsafe { (ep(h), &*rkey.cast::<RemoteKey>()) };
    let _guard = enter(ep.worker());
    if !matches!(atomic.size, 4 | 8) {
        ucs_error!(
            "an atomic of {} bytes: only 4 and 8 are supported",
            atomic.size
        );
        return Err(Status::INVALID_PARAM);
    }
    let feature = Feature::of_atomic(atomic.size);
    let told;
    let mut atomic = atomic;
    if ep.worker().examines(feature) {
        ep.worker().require(feature)?;
        let kind = type_of(ep.worker(), atomic.reply.as_ptr().cast())?;
        told = Atomic {
            reply: atomic.reply.of_type(kind),
            ..*atomic
        };
        atomic = &told;
        let verb = match post::is_mapped(ep, key) {
            true => Verb::AtomicMapped,
            false => Verb::Atomic,
        };
        table::count_atomic(ep, verb, atomic.size.into());
    }
    let posted = post::atomic(ep, param, atomic, address, key)?;
    if matches!(posted, Posted::Done) {
        done(ep.worker());
    }
    Ok(posted)
}

/// After an atomic that was done at once: who makes these only makes progress by them.
#[inline(always)]
fn done(worker: &Core) {
    if worker.spin.note_access() {
        progress(worker);
    }
}

#[cold]
fn progress(worker: &Core) {
    worker.progress();
}

/// Runs an atomic and waits.
///
/// # Safety
/// As `run`.
unsafe fn blocking(h: ucp_ep_h, atomic: &Atomic, address: u64, rkey: ucp_rkey_h) -> ucs_status_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let w = ep(h).worker();
        wait(w, run(h, atomic, address, rkey, &Param::PLAIN))
    }
}

const fn simple(op: AtomicOp, size: u8, value: u64, reply: Reply) -> Atomic {
    Atomic {
        op: AtomicOperation::Simple(op),
        size,
        value,
        swap: 0,
        reply,
    }
}

/// An operation's size that fits a byte, or one that is refused.
fn size_of_operand(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(0)
}

/// Adds to 4 bytes of the peer. May return before it happens there; the peer sees it after a
/// flush.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `add` (in): What to add.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_add32(
    ep: ucp_ep_h,
    add: u32,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let atomic = simple(AtomicOp::Add, 4, add.into(), Reply::NONE);
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Adds to 4 bytes of the peer and waits for what was there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `add` (in): What to add.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `result` (out): Gets the word that was there.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_fadd32(
    ep: ucp_ep_h,
    add: u32,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    result: *mut u32,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey, result);
    // SAFETY: by the caller's promise.
    let reply = unsafe { Reply::new(result.cast()) };
    let atomic = simple(AtomicOp::Add, 4, add.into(), reply);
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Exchanges 4 bytes of the peer and waits for what was there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `swap` (in): New word.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `result` (out): Gets the word that was there.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_swap32(
    ep: ucp_ep_h,
    swap: u32,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    result: *mut u32,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey, result);
    // SAFETY: by the caller's promise.
    let reply = unsafe { Reply::new(result.cast()) };
    let atomic = simple(AtomicOp::Swap, 4, swap.into(), reply);
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Exchanges 4 bytes of the peer if they equal `compare`, and waits for what was there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `compare` (in): Word that has to be there.
/// - `swap` (in): New word.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `result` (out): Gets the word that was there: `compare` if the exchange took place.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_cswap32(
    ep: ucp_ep_h,
    compare: u32,
    swap: u32,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    result: *mut u32,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey, result);
    let atomic = Atomic {
        op: AtomicOperation::CompareSwap,
        size: 4,
        value: compare.into(),
        swap: swap.into(),
        // SAFETY: by the caller's promise.
        reply: unsafe { Reply::new(result.cast()) },
    };
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Adds to 8 bytes of the peer. May return before it happens there; the peer sees it after a
/// flush.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `add` (in): What to add.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_add64(
    ep: ucp_ep_h,
    add: u64,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let atomic = simple(AtomicOp::Add, 8, add, Reply::NONE);
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Adds to 8 bytes of the peer and waits for what was there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `add` (in): What to add.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `result` (out): Gets the word that was there.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_fadd64(
    ep: ucp_ep_h,
    add: u64,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    result: *mut u64,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey, result);
    // SAFETY: by the caller's promise.
    let reply = unsafe { Reply::new(result.cast()) };
    let atomic = simple(AtomicOp::Add, 8, add, reply);
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Exchanges 8 bytes of the peer and waits for what was there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `swap` (in): New word.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `result` (out): Gets the word that was there.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_swap64(
    ep: ucp_ep_h,
    swap: u64,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    result: *mut u64,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey, result);
    // SAFETY: by the caller's promise.
    let reply = unsafe { Reply::new(result.cast()) };
    let atomic = simple(AtomicOp::Swap, 8, swap, reply);
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Exchanges 8 bytes of the peer if they equal `compare`, and waits for what was there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `compare` (in): Word that has to be there.
/// - `swap` (in): New word.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `result` (out): Gets the word that was there: `compare` if the exchange took place.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_cswap64(
    ep: ucp_ep_h,
    compare: u64,
    swap: u64,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    result: *mut u64,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey, result);
    let atomic = Atomic {
        op: AtomicOperation::CompareSwap,
        size: 8,
        value: compare,
        swap,
        // SAFETY: by the caller's promise.
        reply: unsafe { Reply::new(result.cast()) },
    };
    // SAFETY: the caller's arguments.
    unsafe { blocking(ep, &atomic, remote_addr, rkey) }
}

/// Changes a word of the peer without an answer; a flush completes it.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `opcode` (in): Operation.
/// - `value` (in): Operand.
/// - `op_size` (in): Bytes of the word: 4 or 8.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until a flush has ended.
/// - returns: UCS_OK: posted. UCS_ERR_INVALID_PARAM for another size or operation, or another
///   error.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_post(
    ep: ucp_ep_h,
    opcode: ucp_atomic_post_op_t,
    value: u64,
    op_size: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let op = match opcode {
        UCP_ATOMIC_POST_OP_ADD => AtomicOp::Add,
        UCP_ATOMIC_POST_OP_AND => AtomicOp::And,
        UCP_ATOMIC_POST_OP_OR => AtomicOp::Or,
        UCP_ATOMIC_POST_OP_XOR => AtomicOp::Xor,
        _ => {
            ucs_error!("ucp_atomic_post: operation {opcode} is unknown");
            return UCS_ERR_INVALID_PARAM;
        }
    };
    let atomic = simple(op, size_of_operand(op_size), value, Reply::NONE);
    // SAFETY: the caller's endpoint. The lock spans giving the request back.
    let _guard = enter(unsafe { self::ep(ep) }.worker());
    // SAFETY: the caller's arguments.
    match unsafe { run(ep, &atomic, remote_addr, rkey, &Param::PLAIN) } {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::Request(req)) => {
            // Given back at its end: only a flush tells it.
            req.release();
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// A word of 4 or 8 bytes in the user's memory.
///
/// # Safety
/// `at` must be readable for `size` bytes.
unsafe fn word(worker: &Core, at: *const c_void, size: u8) -> Result<u64> {
    // SAFETY: by the caller's promise.
    let copy = unsafe { param::in_host(worker, at, size.into()) }?;
    let at = copy.as_ref().map_or(at, |copy| copy.as_ptr().cast());
    // SAFETY: by the caller's promise, or of the copy; any alignment.
    Ok(unsafe {
        if size == 4 {
            at.cast::<u32>().read_unaligned().into()
        } else {
            at.cast::<u64>().read_unaligned()
        }
    })
}

/// Changes a word of the peer and tells what was there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `opcode` (in): Operation.
/// - `value` (in): Operand; of a compare and swap the word that has to be there.
/// - `result` (in,out): Gets the word that was there; belongs to the library until the operation
///   ends. Of a compare and swap it holds the new word before.
/// - `op_size` (in): Bytes of the word: 4 or 8.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_fetch_nb(
    ep: ucp_ep_h,
    opcode: ucp_atomic_fetch_op_t,
    value: u64,
    result: *mut c_void,
    op_size: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, result, rkey);
    let size = size_of_operand(op_size);
    if !matches!(size, 4 | 8) {
        ucs_error!("ucp_atomic_fetch_nb: {op_size} bytes: only 4 and 8 are supported");
        return error(Status::INVALID_PARAM);
    }
    // SAFETY: by the caller's promise.
    let reply = unsafe { Reply::new(result.cast()) };
    let mut atomic = simple(AtomicOp::Add, size, value, reply);
    atomic.op = match opcode {
        UCP_ATOMIC_FETCH_OP_FADD => AtomicOperation::Simple(AtomicOp::Add),
        UCP_ATOMIC_FETCH_OP_SWAP => AtomicOperation::Simple(AtomicOp::Swap),
        UCP_ATOMIC_FETCH_OP_FAND => AtomicOperation::Simple(AtomicOp::And),
        UCP_ATOMIC_FETCH_OP_FOR => AtomicOperation::Simple(AtomicOp::Or),
        UCP_ATOMIC_FETCH_OP_FXOR => AtomicOperation::Simple(AtomicOp::Xor),
        UCP_ATOMIC_FETCH_OP_CSWAP => {
            // The new value comes where the old one goes.
            // SAFETY: the caller's word.
            atomic.swap = match unsafe { word(self::ep(ep).worker(), result, size) } {
                Ok(swap) => swap,
                Err(e) => return error(e),
            };
            AtomicOperation::CompareSwap
        }
        _ => {
            ucs_error!("ucp_atomic_fetch_nb: operation {opcode} is unknown");
            return error(Status::INVALID_PARAM);
        }
    };
    let param = param::old_send(Param::PLAIN.datatype, cb);
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { run(ep, &atomic, remote_addr, rkey, &param) })
}

/// Changes a word of the peer. With a `reply_buffer` in the parameters, which swaps need, what was
/// there comes back.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `opcode` (in): Operation.
/// - `buffer` (in): Operand; of a compare and swap the word that has to be there, and
///   `reply_buffer` holds the new one. Read during the call.
/// - `count` (in): 1; the datatype must be `ucp_dt_make_contig` of 4 or 8.
/// - `remote_addr` (in): Address of the word in the peer's memory, aligned to its size, inside what
///   `rkey` covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `amo`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_op_nbx(
    ep: ucp_ep_h,
    opcode: ucp_atomic_op_t,
    buffer: *const c_void,
    count: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, buffer, rkey, param);
    // SAFETY: the caller's arguments.
    unsafe {
        if mapped(ep, opcode, buffer, count, remote_addr, rkey, param) {
            return core::ptr::null_mut();
        }
        any(ep, opcode, buffer, count, remote_addr, rkey, param)
    }
}

/// An atomic on memory that is mapped here: what most are. Whether it was that.
///
/// # Safety
/// As `ucp_atomic_op_nbx`.
#[inline(always)]
unsafe fn mapped(
    h: ucp_ep_h,
    opcode: ucp_atomic_op_t,
    buffer: *const c_void,
    count: usize,
    address: u64,
    rkey: ucp_rkey_h,
    param: *const ucp_request_param_t,
) -> bool {
    // SAFETY: the caller's struct.
    let length = unsafe { param::plain_length(param, buffer, count) };
    // SAFETY: every release has the mask.
    let args = unsafe { RequestArgs::new(param) };
    let reply = args.reply_buffer().unwrap_or(core::ptr::null_mut());
    let Some(op) = AtomicOperation::of(opcode).filter(|op| !op.needs_reply() || !reply.is_null())
    else {
        return false;
    };
    // SAFETY: the caller's handles, operand and reply.
    unsafe {
        let (ep, key) = (ep(h), &*rkey.cast::<RemoteKey>());
        if ep.worker().atomics_take_general_paths() || count != 1 {
            return false;
        }
        let is_done = match length {
            Some(8) => {
                post::atomic_mapped::<u64>(ep, op, buffer.cast(), reply.cast(), address, key)
            }
            Some(4) => {
                post::atomic_mapped::<u32>(ep, op, buffer.cast(), reply.cast(), address, key)
            }
            _ => false,
        };
        if is_done {
            done(ep.worker());
        }
        is_done
    }
}

/// An atomic, whatever that takes.
///
/// # Safety
/// As `ucp_atomic_op_nbx`.
#[inline(never)]
unsafe fn any(
    ep: ucp_ep_h,
    opcode: ucp_atomic_op_t,
    buffer: *const c_void,
    count: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    // SAFETY: the caller's struct.
    let mut parsed = unsafe { param::read(param, Which::Send) };
    // SAFETY: as above.
    let args = unsafe { RequestArgs::new(param) };
    let reply = args.reply_buffer().unwrap_or(core::ptr::null_mut());
    let contig = parsed.datatype & u64::from(UCP_DATATYPE_CLASS_MASK) == 0;
    let size = size_of_operand((parsed.datatype >> UCP_DATATYPE_SHIFT) as usize);
    if !contig || !matches!(size, 4 | 8) || count != 1 {
        ucs_error!(
            "ucp_atomic_op_nbx: one contiguous element of 4 or 8 bytes is supported, not {count} of datatype {:#x}",
            parsed.datatype
        );
        return error(Status::INVALID_PARAM);
    }
    // SAFETY: a live endpoint.
    let worker = unsafe { self::ep(ep) }.worker();
    let (of, mut data) = ((Side::Send, Feature::of_atomic(size)), Data::empty());
    let at = buffer.cast_mut();
    // SAFETY: the caller's operand.
    let operand = unsafe { parsed.data(worker, at, count, of, &mut data, not_counted) };
    let value = operand.and_then(|()| {
        let mut value = [0; size_of::<u64>()];
        // SAFETY: there are 8 bytes, and 4 or 8 are asked for.
        let room = unsafe { Room::new(value.as_mut_ptr(), size.into()) };
        data.copy_out(room)?;
        Ok(u64::from_le_bytes(value))
    });
    let value = match value {
        Ok(value) => value,
        Err(e) => return error(e),
    };
    let Some(op) = AtomicOperation::of(opcode) else {
        ucs_error!("ucp_atomic_op_nbx: operation {opcode} is unknown");
        return error(Status::INVALID_PARAM);
    };
    if op.needs_reply() && reply.is_null() {
        ucs_error!("ucp_atomic_op_nbx: swaps need a reply buffer");
        return error(Status::INVALID_PARAM);
    }
    let swap = match op {
        // The new value comes where the old one goes.
        // SAFETY: the caller's word.
        AtomicOperation::CompareSwap => unsafe { word(worker, reply, size) },
        AtomicOperation::Simple(_) => Ok(0),
    };
    let swap = match swap {
        Ok(swap) => swap,
        Err(e) => return error(e),
    };
    let atomic = Atomic {
        op,
        size,
        value,
        swap,
        // SAFETY: by the caller's promise.
        reply: unsafe { Reply::new(reply.cast()) },
    };
    // SAFETY: the caller's arguments.
    status_ptr(unsafe { run(ep, &atomic, remote_addr, rkey, &parsed) })
}
