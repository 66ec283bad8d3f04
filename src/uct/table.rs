//! From a transport's `Iface` to C's `uct_iface_ops_t`: one generic shim an operation.
//!
//! The only place where C's endpoint and interface pointers become references. A shim checks what
//! every transport would have to check (null callbacks and buffers, gather lists), calls the implementation,
//! and turns its `Result` into C's codes. The implementation inlines into the shim.

use crate::c::*;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::uct::api::{
    AtomicOp, AtomicWord, Completion, Iface, OldValue, Pack, Posted, Remote, UNQUERIED, Unpack,
    WaitingRequest, length,
};
use crate::uct::base::am::AM_IDS;
use crate::uct::base::copy::{Payload, Room};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress};
use crate::uct::tag;
use core::ffi::{c_int, c_uint, c_void};

/// The op table of transport `I`: every entry is set.
pub fn ops<I: Iface>() -> uct_iface_ops {
    uct_iface_ops {
        ep_put_short: Some(put_short::<I>),
        ep_put_bcopy: Some(put_bcopy::<I>),
        ep_put_zcopy: Some(put_zcopy::<I>),
        ep_get_short: Some(get_short::<I>),
        ep_get_bcopy: Some(get_bcopy::<I>),
        ep_get_zcopy: Some(get_zcopy::<I>),
        ep_am_short: Some(am_short::<I>),
        ep_am_short_iov: Some(am_short_iov::<I>),
        ep_am_bcopy: Some(am_bcopy::<I>),
        ep_am_zcopy: Some(am_zcopy::<I>),
        ep_atomic_cswap64: Some(cswap::<I, u64>),
        ep_atomic_cswap32: Some(cswap::<I, u32>),
        ep_atomic32_post: Some(atomic_post::<I, u32>),
        ep_atomic64_post: Some(atomic_post::<I, u64>),
        ep_atomic32_fetch: Some(atomic_fetch::<I, u32>),
        ep_atomic64_fetch: Some(atomic_fetch::<I, u64>),
        ep_tag_eager_short: Some(tag_eager_short::<I>),
        ep_tag_eager_bcopy: Some(tag_eager_bcopy::<I>),
        ep_tag_eager_zcopy: Some(tag_eager_zcopy::<I>),
        ep_tag_rndv_zcopy: Some(tag_rndv_zcopy::<I>),
        ep_tag_rndv_cancel: Some(tag_rndv_cancel::<I>),
        ep_tag_rndv_request: Some(tag_rndv_request::<I>),
        iface_tag_recv_zcopy: Some(tag_recv_zcopy::<I>),
        iface_tag_recv_cancel: Some(tag_recv_cancel::<I>),
        ep_pending_add: Some(pending_add::<I>),
        ep_pending_purge: Some(pending_purge::<I>),
        ep_flush: Some(ep_flush::<I>),
        ep_fence: Some(ep_fence::<I>),
        ep_check: Some(ep_check::<I>),
        ep_create: Some(ep_create::<I>),
        ep_connect: Some(ep_connect),
        ep_disconnect: Some(ep_disconnect),
        cm_ep_conn_notify: Some(conn_notify),
        ep_destroy: Some(ep_destroy::<I>),
        ep_get_address: Some(ep_get_address::<I>),
        ep_connect_to_ep: Some(ep_connect_to_ep::<I>),
        iface_accept: Some(iface_accept),
        iface_reject: Some(iface_accept),
        iface_flush: Some(iface_flush::<I>),
        iface_fence: Some(iface_fence::<I>),
        iface_progress_enable: Some(progress_enable::<I>),
        iface_progress_disable: Some(progress_disable::<I>),
        iface_progress: Some(iface_progress::<I>),
        iface_event_fd_get: Some(event_fd_get::<I>),
        iface_event_arm: Some(event_arm::<I>),
        iface_close: Some(iface_close::<I>),
        iface_query: Some(iface_query::<I>),
        iface_get_device_address: Some(get_device_address::<I>),
        iface_get_address: Some(get_address::<I>),
        iface_is_reachable: Some(is_reachable::<I>),
    }
}

/// The op table of an interface with tag matching. Only operations that wait for the engine differ, so that an
/// interface without it pays nothing.
pub fn tagged_ops<I: Iface>() -> uct_iface_ops {
    uct_iface_ops {
        ep_flush: Some(tagged_ep_flush::<I>),
        iface_flush: Some(tagged_iface_flush::<I>),
        iface_progress: Some(tagged_progress::<I>),
        iface_event_arm: Some(tagged_event_arm::<I>),
        ..ops::<I>()
    }
}

#[inline]
fn posted(r: Result<Posted>) -> ucs_status_t {
    match r {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::InProgress) => UCS_INPROGRESS,
        Err(e) => e.code(),
    }
}

#[inline]
pub fn pack(cb: uct_pack_callback_t, arg: *mut c_void) -> Result<Pack> {
    cb.map(|cb| Pack { cb, arg }).ok_or(Status::INVALID_PARAM)
}

/// Whether the arguments have a length but no address.
#[inline]
fn missing(p: *const c_void, len: usize) -> bool {
    len > 0 && p.is_null()
}

/// A message without an address of its payload, which is right without payload alone. Out of line, so that others pay
/// nothing for it.
#[cold]
#[inline(never)]
fn am_without_address<I: Iface>(ep: &EpBox<I>, id: u8, header: u64, len: usize) -> ucs_status_t {
    if foreign(id) || len > 0 {
        return UCS_ERR_INVALID_PARAM;
    }
    code_of(&I::am_short(ep, id, header, Payload::from(&[][..])))
}

/// As `am_without_address`, a put.
#[cold]
#[inline(never)]
fn put_without_address<I: Iface>(ep: &EpBox<I>, len: usize, remote: Remote) -> ucs_status_t {
    if len > 0 {
        return UCS_ERR_INVALID_PARAM;
    }
    code_of(&I::put_short(ep, Payload::from(&[][..]), remote))
}

/// Whether the id is not for users.
#[inline]
fn foreign(id: u8) -> bool {
    id as usize >= AM_IDS
}

/// The answer where the id is not for users, or no function packs.
#[cold]
#[inline(never)]
fn no_message() -> isize {
    UCS_ERR_INVALID_PARAM as isize
}

/// The status of a flush while fragments of tagged messages wait for room.
#[cold]
fn still_sending(comp: *mut uct_completion_t) -> ucs_status_t {
    if comp.is_null() {
        UCS_INPROGRESS
    } else {
        UCS_ERR_NO_RESOURCE
    }
}

/// A header of the user as a slice.
///
/// # Safety
/// `p` must be readable for `len` bytes.
#[inline]
unsafe fn bytes<'a>(p: *const c_void, len: c_uint) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    if p.is_null() {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(p.cast(), len as usize) })
}

/// A shim of an endpoint operation: C's `ep` becomes the transport's endpoint.
macro_rules! ep_shim {
    ($(#[$m:meta])* fn $name:ident<$($g:ident: $b:path),+>($ep:ident $(, $a:ident: $t:ty)*) -> $r:ty $body:block) => {
        $(#[$m])*
        unsafe extern "C" fn $name<$($g: $b),+>(h: uct_ep_h $(, $a: $t)*) -> $r {
            // SAFETY: C called this through the table of an endpoint of this transport.
            let $ep = unsafe { EpBox::<I>::from_c(h) };
            $body
        }
    };
}

/// A shim of an interface operation.
macro_rules! face_shim {
    ($(#[$m:meta])* fn $name:ident<$($g:ident: $b:path),+>($face:ident $(, $a:ident: $t:ty)*) -> $r:ty $body:block) => {
        $(#[$m])*
        unsafe extern "C" fn $name<$($g: $b),+>(h: uct_iface_h $(, $a: $t)*) -> $r {
            // SAFETY: C called this through the table of an interface of this transport.
            let $face = unsafe { IfaceBox::<I>::from_c(h) };
            $body
        }
    };
}

ep_shim! { fn am_short<I: Iface>(ep, id: u8, header: u64, payload: *const c_void, len: c_uint) -> ucs_status_t {
    if payload.is_null() || foreign(id) { return am_without_address(ep, id, header, len as usize) }
    // SAFETY: the user's payload, readable for `len`.
    let payload = unsafe { Payload::new(payload.cast(), len as usize) };
    code_of(&I::am_short(ep, id, header, payload))
}}

ep_shim! { fn am_short_iov<I: Iface>(ep, id: u8, iov: *const uct_iov_t, count: usize) -> ucs_status_t {
    if foreign(id) { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's list.
    let iov = unsafe { Iov::from_c(iov, count) };
    code_of(&iov.and_then(|iov| I::am_short_iov(ep, id, iov)))
}}

ep_shim! { fn am_bcopy<I: Iface>(ep, id: u8, cb: uct_pack_callback_t, arg: *mut c_void, flags: c_uint) -> isize {
    if foreign(id) { return no_message() }
    let Some(cb) = cb else { return no_message() };
    I::am_bcopy_code(ep, id, Pack { cb, arg }, flags)
}}

ep_shim! { fn am_zcopy<I: Iface>(ep, id: u8, header: *const c_void, header_len: c_uint, iov: *const uct_iov_t, count: usize, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t {
    if foreign(id) { return UCS_ERR_INVALID_PARAM }
    posted((|| {
        // SAFETY: the user's header and list.
        let (header, iov) = unsafe { (bytes(header, header_len)?, Iov::from_c(iov, count)?) };
        I::am_zcopy(ep, id, header, iov, flags, Completion(comp))
    })())
}}

ep_shim! { fn put_short<I: Iface>(ep, src: *const c_void, len: c_uint, remote: u64, rkey: uct_rkey_t) -> ucs_status_t {
    // SAFETY: the user's key.
    let remote = unsafe { Remote::new(remote, rkey) };
    if src.is_null() { return put_without_address(ep, len as usize, remote) }
    // SAFETY: the user's buffer.
    let from = unsafe { Payload::new(src.cast(), len as usize) };
    code_of(&I::put_short(ep, from, remote))
}}

ep_shim! { fn put_bcopy<I: Iface>(ep, cb: uct_pack_callback_t, arg: *mut c_void, remote: u64, rkey: uct_rkey_t) -> isize {
    // SAFETY: the user's key.
    let remote = unsafe { Remote::new(remote, rkey) };
    length(pack(cb, arg).and_then(|p| I::put_bcopy(ep, p, remote)))
}}

ep_shim! { fn put_zcopy<I: Iface>(ep, iov: *const uct_iov_t, count: usize, remote: u64, rkey: uct_rkey_t, comp: *mut uct_completion_t) -> ucs_status_t {
    // SAFETY: the user's key.
    let remote = unsafe { Remote::new(remote, rkey) };
    // SAFETY: the user's list has one entry.
    if count == 1 && let Some(block) = unsafe { iov.as_ref() }
        && let Some(answer) = I::put_zcopy_now(ep, block, remote, Completion(comp)) { return answer }
    put_zcopy_list(ep, iov, count, remote, Completion(comp))
}}

/// As `put_zcopy`, in any case.
#[inline(never)]
fn put_zcopy_list<I: Iface>(
    ep: &EpBox<I>,
    iov: *const uct_iov_t,
    count: usize,
    remote: Remote,
    comp: Completion,
) -> ucs_status_t {
    // SAFETY: the user's list.
    let iov = unsafe { Iov::from_c(iov, count) };
    posted(iov.and_then(|iov| I::put_zcopy(ep, iov, remote, comp)))
}

ep_shim! { fn get_short<I: Iface>(ep, dst: *mut c_void, len: c_uint, remote: u64, rkey: uct_rkey_t) -> ucs_status_t {
    if missing(dst, len as usize) { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's buffer and key.
    let (to, remote) = unsafe { (Room::new(dst.cast(), len as usize), Remote::new(remote, rkey)) };
    code_of(&I::get_short(ep, to, remote))
}}

ep_shim! { fn get_bcopy<I: Iface>(ep, cb: uct_unpack_callback_t, arg: *mut c_void, len: usize, remote: u64, rkey: uct_rkey_t, comp: *mut uct_completion_t) -> ucs_status_t {
    let Some(cb) = cb else { return UCS_ERR_INVALID_PARAM };
    // SAFETY: the user's key.
    let remote = unsafe { Remote::new(remote, rkey) };
    if let Some(answer) = I::get_bcopy_now(ep, Unpack { cb, arg }, len, remote, Completion(comp)) { return answer }
    get_bcopy_in_any_case(ep, Unpack { cb, arg }, len, remote, Completion(comp))
}}

#[inline(never)]
fn get_bcopy_in_any_case<I: Iface>(
    ep: &EpBox<I>,
    unpack: Unpack,
    len: usize,
    remote: Remote,
    comp: Completion,
) -> ucs_status_t {
    posted(I::get_bcopy(ep, unpack, len, remote, comp))
}

ep_shim! { fn get_zcopy<I: Iface>(ep, iov: *const uct_iov_t, count: usize, remote: u64, rkey: uct_rkey_t, comp: *mut uct_completion_t) -> ucs_status_t {
    // SAFETY: the user's list and key.
    let (iov, remote) = unsafe { (Iov::from_c(iov, count), Remote::new(remote, rkey)) };
    posted(iov.and_then(|iov| I::get_zcopy(ep, iov, remote, Completion(comp))))
}}

ep_shim! { fn cswap<I: Iface, W: AtomicWord>(ep, compare: W, swap: W, remote: u64, rkey: uct_rkey_t, result: *mut W, comp: *mut uct_completion_t) -> ucs_status_t {
    if result.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's result and key.
    let (old, remote) = unsafe { (OldValue::new(result), Remote::new(remote, rkey)) };
    posted(I::atomic_cswap(ep, compare, swap, old, remote, Completion(comp)))
}}

ep_shim! { fn atomic_post<I: Iface, W: AtomicWord>(ep, op: c_uint, value: W, remote: u64, rkey: uct_rkey_t) -> ucs_status_t {
    match AtomicOp::from_c(op) {
        // As upstream, there is no posted swap: it would be a fetch whose result nobody reads.
        None | Some(AtomicOp::Swap) => UCS_ERR_UNSUPPORTED,
        // SAFETY: the user's key.
        Some(op) => code_of(&I::atomic_post(ep, op, value, unsafe { Remote::new(remote, rkey) })),
    }
}}

ep_shim! { fn atomic_fetch<I: Iface, W: AtomicWord>(ep, op: c_uint, value: W, result: *mut W, remote: u64, rkey: uct_rkey_t, comp: *mut uct_completion_t) -> ucs_status_t {
    if result.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's result and key.
    let (old, remote) = unsafe { (OldValue::new(result), Remote::new(remote, rkey)) };
    if op == UCT_ATOMIC_OP_ADD
        && let Some(answer) = I::fetch_add_now(ep, value, old, remote, Completion(comp)) { return answer }
    fetch_in_any_case(ep, op, value, old, remote, Completion(comp))
}}

#[inline(never)]
fn fetch_in_any_case<I: Iface, W: AtomicWord>(
    ep: &EpBox<I>,
    op: c_uint,
    value: W,
    old: OldValue<W>,
    remote: Remote,
    comp: Completion,
) -> ucs_status_t {
    match AtomicOp::from_c(op) {
        None => UCS_ERR_UNSUPPORTED,
        Some(op) => posted(I::atomic_fetch(ep, op, value, old, remote, comp)),
    }
}

ep_shim! { fn tag_eager_short<I: Iface>(ep, tag: uct_tag_t, data: *const c_void, len: usize) -> ucs_status_t {
    if missing(data, len) { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's data, readable for `len`.
    code_of(&unsafe { tag::eager_short(ep, tag, data.cast(), len) })
}}

ep_shim! { fn tag_eager_bcopy<I: Iface>(ep, tag: uct_tag_t, imm: u64, cb: uct_pack_callback_t, arg: *mut c_void, flags: c_uint) -> isize {
    length(pack(cb, arg).and_then(|p| tag::eager_bcopy(ep, tag, imm, p, flags)))
}}

ep_shim! { fn tag_eager_zcopy<I: Iface>(ep, tag: uct_tag_t, imm: u64, iov: *const uct_iov_t, count: usize, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t {
    // SAFETY: the user's list.
    posted(unsafe { Iov::from_c(iov, count) }.and_then(|iov| tag::eager_zcopy(ep, tag, imm, iov, flags, Completion(comp))))
}}

ep_shim! { fn tag_rndv_zcopy<I: Iface>(ep, tag: uct_tag_t, header: *const c_void, header_len: c_uint, iov: *const uct_iov_t, count: usize, _flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_ptr_t {
    let op = (|| {
        // SAFETY: the user's header and list.
        let (header, iov) = unsafe { (bytes(header, header_len)?, Iov::from_c(iov, count)?) };
        tag::rndv_zcopy(ep, tag, header, iov, Completion(comp))
    })();
    match op {
        Ok(op) => op,
        Err(e) => e.code() as isize as ucs_status_ptr_t,
    }
}}

ep_shim! { fn tag_rndv_cancel<I: Iface>(ep, op: *mut c_void) -> ucs_status_t {
    code_of(&tag::rndv_cancel(ep, op))
}}

ep_shim! { fn tag_rndv_request<I: Iface>(ep, tag: uct_tag_t, header: *const c_void, header_len: c_uint, _flags: c_uint) -> ucs_status_t {
    // SAFETY: the user's header.
    code_of(&unsafe { bytes(header, header_len) }.and_then(|h| tag::rndv_request(ep, tag, h)))
}}

face_shim! { fn tag_recv_zcopy<I: Iface>(face, tag: uct_tag_t, mask: uct_tag_t, iov: *const uct_iov_t, count: usize, ctx: *mut uct_tag_context_t) -> ucs_status_t {
    if ctx.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's list and context.
    code_of(&unsafe { Iov::from_c(iov, count).and_then(|iov| tag::recv_zcopy(face, tag, mask, iov, ctx)) })
}}

face_shim! { fn tag_recv_cancel<I: Iface>(face, ctx: *mut uct_tag_context_t, force: c_int) -> ucs_status_t {
    if ctx.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's context.
    code_of(&unsafe { tag::recv_cancel(face, ctx, force != 0) })
}}

ep_shim! { fn pending_add<I: Iface>(ep, req: *mut uct_pending_req_t, flags: c_uint) -> ucs_status_t {
    if req.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's request.
    code_of(&I::pending_add(ep, unsafe { WaitingRequest::new(req) }, flags))
}}

ep_shim! { fn pending_purge<I: Iface>(ep, cb: uct_pending_purge_callback_t, arg: *mut c_void) -> () {
    I::pending_purge(ep, &mut |req| {
        if let Some(cb) = cb {
            // SAFETY: the user's callback with its request and argument.
            unsafe { cb(req.as_ptr(), arg) }
        }
    });
}}

ep_shim! { fn ep_flush<I: Iface>(ep, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t {
    posted(I::flush(ep, flags, Completion(comp)))
}}

ep_shim! { fn ep_fence<I: Iface>(ep, flags: c_uint) -> ucs_status_t {
    code_of(&I::fence(ep, flags))
}}

ep_shim! { fn ep_check<I: Iface>(ep, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t {
    posted(I::check(ep, flags, Completion(comp)))
}}

unsafe extern "C" fn ep_create<I: Iface>(
    params: *const uct_ep_params_t,
    ep_p: *mut uct_ep_h,
) -> ucs_status_t {
    // SAFETY: the caller read the interface from these params, so they are live and have it.
    let face = unsafe { IfaceBox::<I>::from_c((*params).iface) };
    // SAFETY: as above.
    let params = unsafe { EpParams::read(params) };
    match EpBox::create(face, &params) {
        Ok(ep) => {
            // SAFETY: the caller's out parameter, checked before.
            unsafe { *ep_p = ep };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

unsafe extern "C" fn ep_connect(
    _ep: uct_ep_h,
    _params: *const uct_ep_connect_params_t,
) -> ucs_status_t {
    UCS_ERR_UNSUPPORTED
}

unsafe extern "C" fn ep_disconnect(_ep: uct_ep_h, _flags: c_uint) -> ucs_status_t {
    UCS_ERR_UNSUPPORTED
}

unsafe extern "C" fn conn_notify(_ep: uct_ep_h) -> ucs_status_t {
    UCS_ERR_UNSUPPORTED
}

unsafe extern "C" fn iface_accept(
    _iface: uct_iface_h,
    _request: uct_conn_request_h,
) -> ucs_status_t {
    UCS_ERR_UNSUPPORTED
}

unsafe extern "C" fn ep_destroy<I: Iface>(h: uct_ep_h) {
    // SAFETY: C called this through the table of an endpoint of this transport, for the last time.
    unsafe { EpBox::<I>::destroy(h) };
}

ep_shim! { fn ep_get_address<I: Iface>(ep, addr: *mut uct_ep_addr_t) -> ucs_status_t {
    if addr.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's buffer of `ep_addr_len`.
    unsafe { put_address(I::ep_address(ep), addr.cast()) }
}}

ep_shim! { fn ep_connect_to_ep<I: Iface>(ep, dev: *const uct_device_addr_t, addr: *const uct_ep_addr_t) -> ucs_status_t {
    // SAFETY: addresses of this transport's format, as the user was given them.
    let (device, addr) = unsafe { (GivenAddress::new(dev.cast(), None), GivenAddress::new(addr.cast(), None)) };
    match addr {
        Some(addr) => code_of(&I::connect_to_ep(ep, device, addr)),
        None => UCS_ERR_INVALID_PARAM,
    }
}}

face_shim! { fn iface_flush<I: Iface>(face, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t {
    posted(I::iface_flush(face, flags, Completion(comp)))
}}

face_shim! { fn iface_fence<I: Iface>(face, flags: c_uint) -> ucs_status_t {
    code_of(&I::iface_fence(face, flags))
}}

face_shim! { fn progress_enable<I: Iface>(face, flags: c_uint) -> () {
    face.progress_enable(flags);
}}

face_shim! { fn progress_disable<I: Iface>(face, flags: c_uint) -> () {
    face.progress_disable(flags);
}}

face_shim! { fn iface_progress<I: Iface>(face) -> c_uint {
    I::progress(face)
}}

/// Callback of the worker's queue: progress of one interface.
///
/// # Safety
/// `arg` must be an open interface of this transport.
pub unsafe extern "C" fn progress_shim<I: Iface>(arg: *mut c_void) -> c_uint {
    // SAFETY: registered by the interface with itself, removed before it closes.
    I::progress(unsafe { IfaceBox::<I>::from_c(arg.cast()) })
}

/// Callback of the worker's queue: progress of an interface without receiving.
///
/// # Safety
/// As `progress_shim`.
pub unsafe extern "C" fn progress_sends_shim<I: Iface>(arg: *mut c_void) -> c_uint {
    // SAFETY: registered by the interface with itself, removed before it closes.
    I::progress_sends(unsafe { IfaceBox::<I>::from_c(arg.cast()) })
}

face_shim! { fn event_fd_get<I: Iface>(face, fd_p: *mut c_int) -> ucs_status_t {
    match I::event_fd(face) {
        Ok(fd) if !fd_p.is_null() => {
            // SAFETY: the user's out parameter.
            unsafe { *fd_p = fd };
            UCS_OK
        }
        Ok(_) => UCS_ERR_INVALID_PARAM,
        Err(e) => e.code(),
    }
}}

face_shim! { fn event_arm<I: Iface>(face, events: c_uint) -> ucs_status_t {
    code_of(&I::event_arm(face, events as c_int))
}}

unsafe extern "C" fn iface_close<I: Iface>(h: uct_iface_h) {
    // SAFETY: C called this through the table of an interface of this transport, for the last time.
    unsafe { IfaceBox::<I>::close(h) };
}

face_shim! { fn iface_query<I: Iface>(face, attr: *mut uct_iface_attr_t) -> ucs_status_t {
    if attr.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the struct has had this size in every release; all-zero is a value of it.
    let attr = unsafe {
        attr.write_bytes(0, 1);
        &mut *attr
    };
    attr.dev_num_paths = 1;
    attr.max_num_eps = usize::MAX;
    attr.ctl_device = UCS_SYS_DEVICE_ID_UNKNOWN;
    I::query(face, attr);
    tag::describe(attr);
    UCS_OK
}}

/// Whether the interface's tag matching, if it has one, is in this state.
fn engine_is<I: Iface>(face: &IfaceBox<I>, state: impl FnOnce(&tag::Engine) -> bool) -> bool {
    face.base.tag.get().is_some_and(|tag| state(tag))
}

ep_shim! { fn tagged_ep_flush<I: Iface>(ep, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t {
    if engine_is(ep.face(), |tag| tag.is_sending(ep.as_c())) { return still_sending(comp) }
    // SAFETY: as C called us.
    unsafe { ep_flush::<I>(ep.as_c(), flags, comp) }
}}

face_shim! { fn tagged_iface_flush<I: Iface>(face, flags: c_uint, comp: *mut uct_completion_t) -> ucs_status_t {
    if engine_is(face, |tag| tag.is_sending(core::ptr::null_mut())) { return still_sending(comp) }
    // SAFETY: as C called us.
    unsafe { iface_flush::<I>(face.as_c(), flags, comp) }
}}

face_shim! { fn tagged_progress<I: Iface>(face) -> c_uint {
    // SAFETY: as C called us.
    let count = unsafe { iface_progress::<I>(face.as_c()) };
    match face.base.tag.get() {
        // The worker does this by itself; here only the interface is polled.
        Some(tag) if tag.has_work() => count + tag.run(),
        _ => count,
    }
}}

face_shim! { fn tagged_event_arm<I: Iface>(face, events: c_uint) -> ucs_status_t {
    // Work of tag matching does not signal the descriptor.
    if engine_is(face, |tag| tag.has_work()) { return UCS_ERR_BUSY }
    // SAFETY: as C called us.
    unsafe { event_arm::<I>(face.as_c(), events) }
}}

face_shim! { fn get_device_address<I: Iface>(face, addr: *mut uct_device_addr_t) -> ucs_status_t {
    if addr.is_null() {
        // Clients pass null for an address without bytes.
        let mut attr = UNQUERIED;
        I::query(face, &mut attr);
        return if attr.device_addr_len == 0 { UCS_OK } else { UCS_ERR_INVALID_PARAM };
    }
    // SAFETY: the user's buffer of `device_addr_len`.
    unsafe { put_address(I::device_address(face), addr.cast()) }
}}

face_shim! { fn get_address<I: Iface>(face, addr: *mut uct_iface_addr_t) -> ucs_status_t {
    if addr.is_null() { return UCS_ERR_INVALID_PARAM }
    // SAFETY: the user's buffer of `iface_addr_len`.
    unsafe { put_address(I::iface_address(face), addr.cast()) }
}}

face_shim! { fn is_reachable<I: Iface>(face, dev: *const uct_device_addr_t, addr: *const uct_iface_addr_t) -> c_int {
    if dev.is_null() && addr.is_null() { return 0 }
    // SAFETY: addresses of this transport's format, or null.
    let (device, iface) = unsafe { (GivenAddress::new(dev.cast(), None), GivenAddress::new(addr.cast(), None)) };
    I::is_reachable(face, device, iface).into()
}}

/// Writes an address for the user.
///
/// # Safety
/// `out` must have room for it.
unsafe fn put_address(address: Result<Vec<u8>>, out: *mut u8) -> ucs_status_t {
    match address {
        Ok(bytes) => {
            // SAFETY: by the caller's promise.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()) };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}
