//! Remote memory access: the exported functions of `ucp.h` and its companions.

use super::ep::{ep, wait};
use super::param::{self, NULL_PTR, RequestArgs, Which, enter, status_ptr};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::dt::{Data, Side};
use crate::ucp::ep::Ep;
use crate::ucp::feature::Feature;
use crate::ucp::mem::Region;
use crate::ucp::proto::zcopy::Direction;
use crate::ucp::request::{Param, Posted};
use crate::ucp::rkey::RemoteKey;
use crate::ucp::rma::list::{self, Element};
use crate::ucp::rma::post;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::copy::{Payload, Room};

/// What an access names besides its parameters.
struct Target {
    ep: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    address: u64,
    rkey: ucp_rkey_h,
}

impl Target {
    fn new(
        ep: ucp_ep_h,
        buffer: *const c_void,
        count: usize,
        address: u64,
        rkey: ucp_rkey_h,
    ) -> Target {
        Target {
            ep,
            buffer: buffer.cast_mut(),
            count,
            address,
            rkey,
        }
    }
}

/// Does an access to mapped memory, where the parameters ask for nothing besides.
///
/// # Safety
/// Handles live; the buffer as the datatype says; `param` as `param::read`.
#[inline(always)]
unsafe fn now(direction: Direction, t: &Target, param: *const ucp_request_param_t) -> bool {
    // SAFETY: by the caller's promise.
    unsafe {
        let Some(len) = param::plain_length(param, t.buffer, t.count) else {
            return false;
        };
        let (ep, key) = (ep(t.ep), &*t.rkey.cast::<RemoteKey>());
        if ep.worker().takes_general_paths(Feature::Rma) {
            return now_locked(direction, t, len);
        }
        access_mapped(ep, key, direction, t, len)
    }
}

/// As `now`, in a worker whose operations take the general paths.
///
/// # Safety
/// As `now`; the buffer has `len` bytes.
#[cold]
unsafe fn now_locked(direction: Direction, t: &Target, len: usize) -> bool {
    // SAFETY: by the caller's promise.
    unsafe {
        let (ep, key) = (ep(t.ep), &*t.rkey.cast::<RemoteKey>());
        let _guard = enter(ep.worker());
        !ep.worker().examines(Feature::Rma) && access_mapped(ep, key, direction, t, len)
    }
}

/// The copy of `now`.
///
/// # Safety
/// The buffer has `len` bytes, of a get writable.
#[inline(always)]
unsafe fn access_mapped(
    ep: &Ep,
    key: &RemoteKey,
    direction: Direction,
    t: &Target,
    len: usize,
) -> bool {
    match direction {
        Direction::Put => {
            // SAFETY: by the caller's promise.
            let from = unsafe { Payload::new(t.buffer.cast(), len) };
            post::put_mapped(ep, from, t.address, key)
        }
        Direction::Get => {
            // SAFETY: by the caller's promise.
            let to = unsafe { Room::new(t.buffer.cast(), len) };
            post::get_mapped(ep, to, t.address, key)
        }
    }
}

/// Posts an access.
///
/// # Safety
/// Handles live; the buffer as the datatype says.
unsafe fn access(direction: Direction, t: &Target, mut param: Param) -> Result<Posted> {
    // SAFETY: by the caller's promise.
    let (ep, key) = unsafe { (ep(t.ep), &*t.rkey.cast::<RemoteKey>()) };
    let _guard = enter(ep.worker());
    let side = if direction == Direction::Put {
        Side::Send
    } else {
        Side::Receive
    };
    let mut data = Data::empty();
    // SAFETY: as above.
    unsafe {
        param.data(
            ep.worker(),
            t.buffer,
            t.count,
            (side, Feature::Rma),
            &mut data,
            |_, data| {
                post::count_protocol(ep, direction, key, data);
            },
        )
    }?;
    match direction {
        Direction::Put => post::put(ep, &param, data, t.address, key),
        Direction::Get => post::get(ep, &param, data, t.address, key),
    }
}

/// Accesses and waits.
///
/// # Safety
/// As `access`.
unsafe fn blocking(direction: Direction, t: &Target) -> ucs_status_t {
    // SAFETY: by the caller's promise.
    unsafe {
        let w = ep(t.ep).worker();
        wait(w, access(direction, t, Param::PLAIN))
    }
}

/// Accesses without a request: only a flush tells the end.
///
/// # Safety
/// As `access`.
unsafe fn implicit(direction: Direction, t: &Target) -> ucs_status_t {
    // SAFETY: by the caller's promise. The lock spans giving the request back.
    let _guard = enter(unsafe { ep(t.ep) }.worker());
    // SAFETY: as above.
    match unsafe { access(direction, t, Param::PLAIN) } {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::Request(req)) => {
            // Given back at its end.
            req.release();
            UCS_INPROGRESS
        }
        Err(e) => e.code(),
    }
}

/// Writes from a list to a list.
///
/// # Safety
/// Handles live; `local` and the remote list as described.
unsafe fn put_list(
    h: ucp_ep_h,
    local: *const ucp_dt_local_sgl_t,
    count: usize,
    param: *const ucp_request_param_t,
    mut parsed: Param,
) -> Result<Posted> {
    // SAFETY: every release has the mask.
    let args = unsafe { RequestArgs::new(param) };
    let datatype = args.remote_datatype().unwrap_or(0);
    let remote: *const ucp_dt_remote_sgl_t = args.remote().unwrap_or(core::ptr::null()).cast();
    let remote_count = args.remote_count().unwrap_or(count);
    if datatype != UCP_DATATYPE_SGL.into() || remote.is_null() || remote_count != count {
        ucs_error!(
            "ucp_put_nbx: a list of {count} needs a remote list of as many in ucp_request_param_t: remote_datatype, remote, remote_count"
        );
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: by the caller's promise.
    unsafe {
        let ep = ep(h);
        let _guard = enter(ep.worker());
        if ep.worker().examines(Feature::Rma) {
            ep.worker().require(Feature::Rma)?;
            parsed.mask |= ep.worker().extra_flags;
        }
        let elements = match count {
            0 => Vec::new(),
            _ => {
                check_lists(&*local, &*remote)?;
                (0..count).map(|i| element(&*local, &*remote, i)).collect()
            }
        };
        list::put(ep, &parsed, &elements)
    }
}

/// Whether the members of lists that a put needs are there.
fn check_lists(local: &ucp_dt_local_sgl_t, remote: &ucp_dt_remote_sgl_t) -> Result<()> {
    const LOCAL: u64 = (UCP_DT_LOCAL_SGL_FIELD_BUFFERS | UCP_DT_LOCAL_SGL_FIELD_LENGTHS) as u64;
    const PATTERN: u64 = (UCP_DT_LOCAL_SGL_FIELD_COUNTS | UCP_DT_LOCAL_SGL_FIELD_STRIDES) as u64;
    const REMOTE: u64 = (UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS
        | UCP_DT_REMOTE_SGL_FIELD_LENGTHS
        | UCP_DT_REMOTE_SGL_FIELD_RKEYS) as u64;
    let (here, there) = (local.field_mask, remote.field_mask);
    if here & LOCAL != LOCAL || there & REMOTE != REMOTE {
        ucs_error!(
            "a list needs buffers and lengths here, addresses, lengths and keys at the peer: fields {here:#x} and {there:#x} are set"
        );
        return Err(Status::INVALID_PARAM);
    }
    if !matches!(here & PATTERN, 0 | PATTERN) {
        ucs_error!("a list has counts and strides, or neither");
        return Err(Status::INVALID_PARAM);
    }
    let null = local.buffers.is_null()
        || local.lengths.is_null()
        || remote.remote_addrs.is_null()
        || remote.lengths.is_null()
        || remote.rkeys.is_null()
        || has(local, UCP_DT_LOCAL_SGL_FIELD_MEMHS) && local.memhs.is_null()
        || has(local, UCP_DT_LOCAL_SGL_FIELD_COUNTS)
            && (local.counts.is_null() || local.strides.is_null());
    if null {
        ucs_error!("an array of a list is NULL");
        return Err(Status::INVALID_PARAM);
    }
    Ok(())
}

fn has(local: &ucp_dt_local_sgl_t, bit: u32) -> bool {
    local.field_mask & u64::from(bit) != 0
}

/// Element `i` of lists.
///
/// # Safety
/// `check_lists` was passed, the arrays are longer than `i`, and the handles and keys are alive.
unsafe fn element<'a>(
    local: &ucp_dt_local_sgl_t,
    remote: &ucp_dt_remote_sgl_t,
    i: usize,
) -> Element<'a> {
    // SAFETY: by the caller's promise.
    unsafe {
        let (blocks, stride) = match has(local, UCP_DT_LOCAL_SGL_FIELD_COUNTS) {
            true => (*local.counts.add(i), *local.strides.add(i)),
            false => (1, 0),
        };
        let region = match has(local, UCP_DT_LOCAL_SGL_FIELD_MEMHS) {
            true => (*local.memhs.add(i)).cast::<Region>().as_ref(),
            false => None,
        };
        Element {
            buffer: *local.buffers.add(i),
            length: *local.lengths.add(i),
            blocks,
            stride,
            region,
            address: *remote.remote_addrs.add(i),
            remote_length: *remote.lengths.add(i),
            key: (*remote.rkeys.add(i)).cast::<RemoteKey>().as_ref(),
        }
    }
}

/// Writes to memory of the peer, and waits until the caller's memory is free. The peer sees it
/// after a flush.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data.
/// - `length` (in): Bytes.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put(
    ep: ucp_ep_h,
    buffer: *const c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let t = Target::new(ep, buffer, length, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    unsafe { blocking(Direction::Put, &t) }
}

/// Reads memory of the peer, and waits for it.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (out): Gets the data.
/// - `length` (in): Bytes.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - returns: UCS_OK, or an error.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let t = Target::new(ep, buffer, length, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    unsafe { blocking(Direction::Get, &t) }
}

/// Writes to memory of the peer, without a request.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the call returns UCS_OK or a later flush
///   ends.
/// - `length` (in): Bytes.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive as long as the buffer.
/// - returns: UCS_OK: the caller's memory is free. UCS_INPROGRESS: it is after a flush. Or an
///   error.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nbi(
    ep: ucp_ep_h,
    buffer: *const c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let t = Target::new(ep, buffer, length, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    unsafe { implicit(Direction::Put, &t) }
}

/// Reads memory of the peer, without a request.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (out): Gets the data; belongs to the library until the call returns UCS_OK or a later
///   flush ends.
/// - `length` (in): Bytes.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive as long as the buffer.
/// - returns: UCS_OK: the data is there. UCS_INPROGRESS: it is after a flush. Or an error.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nbi(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, rkey);
    let t = Target::new(ep, buffer, length, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    unsafe { implicit(Direction::Get, &t) }
}

/// Old form of `ucp_put_nbx`.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends.
/// - `length` (in): Bytes.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nb(
    ep: ucp_ep_h,
    buffer: *const c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, rkey);
    let t = Target::new(ep, buffer, length, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    status_ptr(unsafe {
        access(
            Direction::Put,
            &t,
            param::old_send(Param::PLAIN.datatype, cb),
        )
    })
}

/// Old form of `ucp_get_nbx`.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (out): Gets the data; belongs to the library until the operation ends.
/// - `length` (in): Bytes.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp_compat.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nb(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    length: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, rkey);
    let t = Target::new(ep, buffer, length, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    status_ptr(unsafe {
        access(
            Direction::Get,
            &t,
            param::old_send(Param::PLAIN.datatype, cb),
        )
    })
}

/// Writes to the peer's memory. Done when the caller's memory is free; the peer sees it after a
/// flush.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (in): Data; belongs to the library until the operation ends. With `ucp_dt_make_sgl` a
///   `ucp_dt_local_sgl_t`, read during the call.
/// - `count` (in): Elements of the datatype; bytes when none is set, entries of a list.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers. Not used for a list.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
///   Not used for a list, whose keys stand in the parameters' remote list.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nbx(
    ep: ucp_ep_h,
    buffer: *const c_void,
    count: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, param);
    let t = Target::new(ep, buffer, count, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    unsafe {
        if !rkey.is_null() && now(Direction::Put, &t, param) {
            return core::ptr::null_mut();
        }
        let parsed = param::read(param, Which::Send);
        if parsed.datatype == UCP_DATATYPE_SGL.into() {
            non_null!(NULL_PTR; buffer);
            return status_ptr(put_list(ep, buffer.cast(), count, param, parsed));
        }
        non_null!(NULL_PTR; rkey);
        status_ptr(access(Direction::Put, &t, parsed))
    }
}

/// Reads the peer's memory. Done when the data is there.
///
/// - `ep` (in): Endpoint of `ucp_ep_create`, not closed yet.
/// - `buffer` (out): Gets the data; belongs to the library until the operation ends.
/// - `count` (in): Elements of the datatype; bytes when none is set.
/// - `remote_addr` (in): Address in the peer's memory, as the peer sees it, inside what `rkey`
///   covers.
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack` of the same endpoint; alive until the operation ends.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
///
/// `ucp/api/ucp.h`, group `rma`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nbx(
    ep: ucp_ep_h,
    buffer: *mut c_void,
    count: usize,
    remote_addr: u64,
    rkey: ucp_rkey_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; ep, rkey, param);
    let t = Target::new(ep, buffer, count, remote_addr, rkey);
    // SAFETY: the caller's arguments.
    unsafe {
        if now(Direction::Get, &t, param) {
            return core::ptr::null_mut();
        }
        status_ptr(access(Direction::Get, &t, param::read(param, Which::Send)))
    }
}
