//! Memory, remote keys: the exported functions of `ucp.h` and its companions.

use super::blob::{blob, foreign, hand_out, take_back};
use super::ep::ep;
use super::param::own;
use crate::abi::args::{self, non_null};
use crate::c::prelude::*;
use crate::ucp::context::Context;
use crate::ucp::mem::{MapParams, Purpose, Region};
use crate::ucp::rkey::RemoteKey;
use crate::ucs::Status;
use crate::ucs::fork;
use crate::ucs::mpool::PoolBox;
use crate::ucs::status::code_of;
use crate::ucs_error;
use crate::uct::base::params::masked;
use crate::uct::base::params::text;
use crate::wire::blob::BlobError;
use crate::wire::envelope::EnvelopeKind;
use crate::wire::rkey::{MdKeyList, Rkey};
use crate::wire::upstream;
use std::borrow::Cow;

masked! {
    PackArgs of ucp_memh_pack_params, field_mask {
        flags: u64, UCP_MEMH_PACK_PARAM_FIELD_FLAGS;
    }
}

masked! {
    MapArgs of ucp_mem_map_params, field_mask {
        exported_memh_buffer: *const c_void, UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER;
        memory_type: ucs_memory_type_t, UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
        flags: c_uint, UCP_MEM_MAP_PARAM_FIELD_FLAGS;
        address: *mut c_void, UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
        length: usize, UCP_MEM_MAP_PARAM_FIELD_LENGTH;
        prot: c_uint, UCP_MEM_MAP_PARAM_FIELD_PROT;
    }
}

const ALL_RIGHTS: u32 = UCP_MEM_MAP_PROT_LOCAL_READ
    | UCP_MEM_MAP_PROT_LOCAL_WRITE
    | UCP_MEM_MAP_PROT_REMOTE_READ
    | UCP_MEM_MAP_PROT_REMOTE_WRITE;

const ALL_FLAGS: u32 = UCP_MEM_MAP_NONBLOCK
    | UCP_MEM_MAP_ALLOCATE
    | UCP_MEM_MAP_FIXED
    | UCP_MEM_MAP_SYMMETRIC_RKEY
    | UCP_MEM_MAP_LOCK;

/// The context behind a handle.
///
/// # Safety
/// `h` must be a live context.
unsafe fn context<'a>(h: ucp_context_h) -> &'a Context {
    // SAFETY: by the caller's promise.
    unsafe { &*h.cast::<Context>() }
}

/// Gives a packed key or handle to C.
///
/// # Safety
/// The out parameters must be writable.
unsafe fn give(packed: Vec<u8>, buffer_p: *mut *mut c_void, size_p: *mut usize) {
    let (at, len) = hand_out(packed);
    // SAFETY: by the caller's promise.
    unsafe {
        *size_p = len;
        *buffer_p = at.cast();
    }
}

/// Frees a packed key or handle.
///
/// # Safety
/// `buffer` must be of `give`, once.
unsafe fn release(buffer: *mut c_void, what: &str) {
    // SAFETY: by the caller's promise.
    if let Err(e) = unsafe { take_back(&[EnvelopeKind::Key, EnvelopeKind::Handle], buffer.cast()) }
    {
        ucs_error!("{what}: not a buffer of this library: {e}");
    }
}

/// What the caller's packed key or handle says, of which these are the bytes.
fn unpack<'a>(
    kind: EnvelopeKind,
    bytes: &'a Result<Cow<'_, [u8]>, BlobError>,
) -> Result<(Rkey, MdKeyList<'a>), BlobError> {
    match bytes {
        Ok(bytes) => Rkey::from_envelope(kind, bytes),
        Err(e) => Err(*e),
    }
}

/// What a call returns to a packed key or handle that it cannot use.
fn refusal(e: BlobError) -> Status {
    match e {
        BlobError::Upstream(_) => Status::UNREACHABLE,
        _ => Status::INVALID_PARAM,
    }
}

/// Makes memory known to the library, allocates it, or attaches to memory that another process
/// exported. `ucp_mem_unmap` frees the handle, and the memory if it was allocated.
///
/// - `context_h` (in): Context of `ucp_init`, not cleaned up yet.
/// - `params` (in): Which memory; read during the call only.
/// - `memh_p` (out): The memory handle; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM without memory or for flags that exclude each other.
///   UCS_ERR_NO_MEMORY, also where nothing allocates memory of the type. UCS_ERR_UNSUPPORTED for existing memory of
///   a device that is not here, or in a child of fork().
///   UCS_ERR_UNREACHABLE for exported memory that cannot be attached to.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_map(
    context_h: ucp_context_h,
    params: *const ucp_mem_map_params_t,
    memh_p: *mut ucp_mem_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; context_h, params, memh_p);
    // SAFETY: a live context.
    if let Err(e) = fork::check(unsafe { context(context_h) }.made_by, "a context") {
        return e.code();
    }
    // SAFETY: every release has the mask; members are read behind their bits.
    let args = unsafe { MapArgs::new(params) };
    let exported = args.exported_memh_buffer().unwrap_or(core::ptr::null());
    let flags = args.flags().unwrap_or(0);
    if flags & !ALL_FLAGS != 0 {
        ucs_error!("ucp_mem_map: flags {:#x} are unknown", flags & !ALL_FLAGS);
        return UCS_ERR_INVALID_PARAM;
    }
    // SAFETY: a live context.
    let context = unsafe { context(context_h) };
    let address = args.address().unwrap_or(core::ptr::null_mut());
    let length = args.length().unwrap_or(0);
    let is_new = flags & UCP_MEM_MAP_ALLOCATE != 0 || !exported.is_null() || length == 0;
    let given = args
        .memory_type()
        .map(|given| context.memory_type_of(given));
    let kind = match given.transpose().map(Option::flatten) {
        // No memory is the host's.
        Ok(Some(_)) if length == 0 => Ok(UCS_MEMORY_TYPE_HOST),
        Ok(Some(kind)) => Ok(kind),
        // As upstream: there is none of such memory.
        Err(Status::UNSUPPORTED) if flags & UCP_MEM_MAP_ALLOCATE != 0 => Err(Status::NO_MEMORY),
        Ok(None) if is_new => Ok(UCS_MEMORY_TYPE_HOST),
        Ok(None) => context.memory_type(address, length),
        Err(e) => Err(e),
    };
    let kind = match kind {
        Ok(kind) => kind,
        Err(e) => return e.code(),
    };
    let parsed = MapParams {
        address,
        length,
        flags,
        kind,
        prot: args.prot().unwrap_or(ALL_RIGHTS),
        purpose: Purpose::Application,
    };
    let mapped = if !exported.is_null() {
        if flags & (UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED) != 0 {
            ucs_error!("ucp_mem_map: memory is either allocated or imported, not both");
            return UCS_ERR_INVALID_PARAM;
        }
        // SAFETY: the caller's buffer.
        let bytes = unsafe { blob(EnvelopeKind::Handle, exported.cast()) };
        match unpack(EnvelopeKind::Handle, &bytes) {
            Ok((info, keys)) => Region::import(context, &info, keys),
            Err(e) => {
                ucs_error!("ucp_mem_map: the exported memory handle is not usable: {e}");
                Err(refusal(e))
            }
        }
    } else if args.length().is_none() {
        ucs_error!("ucp_mem_map: neither a length nor an exported memory handle is given");
        Err(Status::INVALID_PARAM)
    } else {
        Region::map(context, &parsed)
    };
    match mapped {
        Ok(region) => {
            // SAFETY: the caller's out parameter.
            unsafe { *memh_p = region.into_raw().cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Frees a memory handle, and the memory if `ucp_mem_map` allocated it. No operation may use it any
/// more, here or at a peer.
///
/// - `context_h` (in): Context of `ucp_init`, not cleaned up yet.
/// - `memh` (in): Handle of `ucp_mem_map`; not to be used afterwards.
/// - returns: UCS_OK, or the error of giving the memory back; UCS_ERR_UNSUPPORTED in a child of
///   fork().
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_unmap(context_h: ucp_context_h, memh: ucp_mem_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; context_h, memh);
    // SAFETY: of `ucp_mem_map`; a live context.
    unsafe {
        if let Err(e) = fork::check(context(context_h).made_by, "a context") {
            return e.code();
        }
        let region = PoolBox::from_raw(memh.cast::<Region>());
        code_of(&Region::unmap(region))
    }
}

/// Tells about mapped memory.
///
/// - `memh` (in): Handle of `ucp_mem_map`, not unmapped yet.
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_query(memh: ucp_mem_h, attr: *mut ucp_mem_attr_t) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; memh, attr);
    // SAFETY: a live region and the caller's struct, written as masked.
    unsafe {
        let region = &*memh.cast::<Region>();
        let mask = (*attr).field_mask;
        let has = |bit: u32| mask & u64::from(bit) != 0;
        if has(UCP_MEM_ATTR_FIELD_ADDRESS) {
            (*attr).address = region.address;
        }
        if has(UCP_MEM_ATTR_FIELD_LENGTH) {
            (*attr).length = region.length;
        }
        if has(UCP_MEM_ATTR_FIELD_MEM_TYPE) {
            (*attr).mem_type = region.kind;
        }
    }
    UCS_OK
}

/// Maps memory for a moment and prints how.
///
/// - `mem_spec` (in): Bytes to map as text, such as "64k"; NUL-terminated.
/// - `context_h` (in): Context of `ucp_init`, not cleaned up yet.
/// - `stream` (in): Open for writing.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_print_info(
    mem_spec: *const c_char,
    context_h: ucp_context_h,
    stream: *mut FILE,
) {
    non_null!(; mem_spec, context_h, stream);
    // SAFETY: the caller's string, a live context and the caller's stream.
    unsafe {
        let Ok(spec) = text(mem_spec) else { return };
        args::print(stream, &context(context_h).describe_memory(spec));
    }
}

/// Tells how mapped memory will be used.
///
/// - `context_h` (in): Context of `ucp_init`, not cleaned up yet.
/// - `memh` (in): Handle of `ucp_mem_map`, not unmapped yet.
/// - `params` (in): Address, bytes and advice; all must be set. Read during the call only.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for memory outside the handle or an unknown advice; the
///   error of the system.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_advise(
    context_h: ucp_context_h,
    memh: ucp_mem_h,
    params: *mut ucp_mem_advise_params_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; context_h, memh, params);
    const ALL: u64 = (UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS
        | UCP_MEM_ADVISE_PARAM_FIELD_LENGTH
        | UCP_MEM_ADVISE_PARAM_FIELD_ADVICE) as u64;
    // SAFETY: a live region and the caller's struct, complete as checked.
    unsafe {
        if (*params).field_mask & ALL != ALL {
            ucs_error!("ucp_mem_advise: address, length and advice must be given");
            return UCS_ERR_INVALID_PARAM;
        }
        let region = &*memh.cast::<Region>();
        let (address, length) = ((*params).address as u64, (*params).length);
        code_of(&region.advise(address, length, (*params).advice))
    }
}

/// Packs access to mapped memory, to be sent as `size_p` bytes to peers, which turn it into a key
/// by `ucp_ep_rkey_unpack`. `ucp_rkey_buffer_release` frees the buffer.
///
/// - `context_h` (in): Context of `ucp_init`, not cleaned up yet.
/// - `memh` (in): Handle of `ucp_mem_map`, not unmapped yet; it has to stay as long as peers use
///   the key.
/// - `rkey_buffer_p` (out): The packed key.
/// - `size_p` (out): Its bytes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED in a
///   child of fork().
///
/// `ucp/api/ucp_compat.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_pack(
    context_h: ucp_context_h,
    memh: ucp_mem_h,
    rkey_buffer_p: *mut *mut c_void,
    size_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; context_h, memh, rkey_buffer_p, size_p);
    // SAFETY: a live region and context, the caller's out parameters.
    unsafe {
        if let Err(e) = fork::check(context(context_h).made_by, "a context") {
            return e.code();
        }
        let packed = (*memh.cast::<Region>()).pack_for_application(context(context_h));
        give(packed, rkey_buffer_p, size_p);
    }
    UCS_OK
}

/// Frees a buffer of `ucp_rkey_pack`.
///
/// - `rkey_buffer` (in): Buffer of `ucp_rkey_pack`, once.
///
/// `ucp/api/ucp_compat.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_buffer_release(rkey_buffer: *mut c_void) {
    non_null!(; rkey_buffer);
    // SAFETY: of `ucp_rkey_pack`, once.
    unsafe { release(rkey_buffer, "ucp_rkey_buffer_release") };
}

/// Packs a memory handle: a remote key for peers, or with UCP_MEMH_PACK_FLAG_EXPORT a handle that
/// another process of this machine maps. `ucp_memh_buffer_release` frees the buffer.
///
/// - `memh` (in): Handle of `ucp_mem_map`, not unmapped yet; it has to stay as long as others use
///   what is packed.
/// - `params` (in): How to pack; not NULL, read during the call only.
/// - `buffer_p` (out): The packed bytes; written on success only.
/// - `buffer_size_p` (out): Their number.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM for unknown flags. UCS_ERR_UNSUPPORTED for memory that
///   other processes cannot map, without UCP_FEATURE_EXPORTED_MEMH, or in a child of fork().
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_memh_pack(
    memh: ucp_mem_h,
    params: *const ucp_memh_pack_params_t,
    buffer_p: *mut *mut c_void,
    buffer_size_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; memh, params, buffer_p, buffer_size_p);
    // SAFETY: every release has the mask; the flags are read behind their bit.
    let args = unsafe { PackArgs::new(params) };
    let flags = args.flags().unwrap_or(0);
    const EXPORT: u64 = UCP_MEMH_PACK_FLAG_EXPORT as u64;
    if flags & !EXPORT != 0 {
        ucs_error!("ucp_memh_pack: flags {:#x} are unknown", flags & !EXPORT);
        return UCS_ERR_INVALID_PARAM;
    }
    // SAFETY: a live region, the caller's out parameters.
    unsafe {
        let region = &*memh.cast::<Region>();
        if let Err(e) = fork::check(region.context().made_by, "a context") {
            return e.code();
        }
        let packed = if flags & EXPORT != 0 {
            region.export(region.context())
        } else {
            Ok(region.pack_for_application(region.context()))
        };
        match packed {
            Ok(packed) => {
                give(packed, buffer_p, buffer_size_p);
                UCS_OK
            }
            Err(e) => e.code(),
        }
    }
}

/// Frees a buffer of `ucp_memh_pack`.
///
/// - `buffer` (in): Buffer of `ucp_memh_pack`, once.
/// - `params` (in): Not used; may be NULL.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_memh_buffer_release(
    buffer: *mut c_void,
    _params: *const ucp_memh_buffer_release_params_t,
) {
    non_null!(; buffer);
    // SAFETY: of `ucp_memh_pack`, once.
    unsafe { release(buffer, "ucp_memh_buffer_release") };
}

/// Turns a packed key of the endpoint's peer into access. The packed bytes are not needed
/// afterwards. `ucp_rkey_destroy` frees the key.
///
/// - `h` (in): Endpoint to the memory's owner, not closed yet.
/// - `rkey_buffer` (in): Bytes of `ucp_rkey_pack` or `ucp_memh_pack` at the peer.
/// - `rkey_p` (out): The key; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM for bytes that are no key. UCS_ERR_UNREACHABLE for a
///   key of another library. UCS_ERR_UNSUPPORTED in a child of fork().
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_rkey_unpack(
    h: ucp_ep_h,
    rkey_buffer: *const c_void,
    rkey_p: *mut ucp_rkey_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; h, rkey_buffer, rkey_p);
    // SAFETY: a live endpoint, the caller's key.
    let (ep, bytes) = unsafe { (ep(h), blob(EnvelopeKind::Key, rkey_buffer.cast())) };
    let _guard = own!(ep.worker(), UCS_ERR_UNSUPPORTED);
    match unpack(EnvelopeKind::Key, &bytes) {
        Ok(_) if ep.is_upstream() => {
            ucs_error!(
                "ucp_ep_rkey_unpack: the key was made by this library, the peer runs upstream UCX"
            );
            UCS_ERR_UNREACHABLE
        }
        Err(_) if ep.is_upstream() => {
            let bytes = foreign(EnvelopeKind::Key, rkey_buffer.cast());
            let Some(key) = upstream::key::key(&bytes) else {
                ucs_error!("ucp_ep_rkey_unpack: the remote key is none of upstream UCX");
                return UCS_ERR_INVALID_PARAM;
            };
            // SAFETY: the caller's out parameter.
            unsafe { *rkey_p = PoolBox::new(ep.unpack_upstream_key(key)).into_raw().cast() };
            UCS_OK
        }
        Ok((info, keys)) => {
            let key = PoolBox::new(ep.unpack_key(info, keys));
            // SAFETY: the caller's out parameter.
            unsafe { *rkey_p = key.into_raw().cast() };
            UCS_OK
        }
        Err(e) => {
            ucs_error!("ucp_ep_rkey_unpack: the remote key is not usable: {e}");
            refusal(e).code()
        }
    }
}

/// Gives a pointer to the peer's memory where it is mapped in this process. It is valid as long as
/// the key.
///
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack`, not destroyed yet.
/// - `raddr` (in): Address in the peer's memory, as the peer sees it.
/// - `addr_p` (out): The pointer; written on success only.
/// - returns: UCS_OK. UCS_ERR_UNREACHABLE when the memory is not mapped here. UCS_ERR_INVALID_PARAM
///   for an address outside the key.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_ptr(
    rkey: ucp_rkey_h,
    raddr: u64,
    addr_p: *mut *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; rkey, addr_p);
    // SAFETY: a live key.
    let key = unsafe { &*rkey.cast::<RemoteKey>() };
    match key.check(raddr, 1, 0).and_then(|()| key.pointer(raddr)) {
        Ok(p) => {
            // SAFETY: the caller's out parameter.
            unsafe { *addr_p = p.cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Orders two remote keys. Equal keys can stand for each other.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `rkey1` (in): Key of `ucp_ep_rkey_unpack`, not destroyed yet.
/// - `rkey2` (in): Another one.
/// - `params` (in): Its `field_mask` must be 0.
/// - `result` (out): Negative, 0 or positive.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or the mask is not 0.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_compare(
    worker: ucp_worker_h,
    rkey1: ucp_rkey_h,
    rkey2: ucp_rkey_h,
    params: *const ucp_rkey_compare_params_t,
    result: *mut c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, rkey1, rkey2, params, result);
    // SAFETY: live keys, the caller's struct and out parameter.
    unsafe {
        if (*params).field_mask != 0 {
            ucs_error!(
                "ucp_rkey_compare: fields {:#x} are unknown",
                (*params).field_mask
            );
            return UCS_ERR_INVALID_PARAM;
        }
        let (a, b) = (&*rkey1.cast::<RemoteKey>(), &*rkey2.cast::<RemoteKey>());
        *result = a.order(b) as c_int;
    }
    UCS_OK
}

/// Frees a remote key.
///
/// - `rkey` (in): Key of `ucp_ep_rkey_unpack`, once; no operation may use it any more.
///
/// `ucp/api/ucp.h`, group `mem`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_destroy(rkey: ucp_rkey_h) {
    non_null!(; rkey);
    // SAFETY: of `ucp_ep_rkey_unpack`.
    drop(unsafe { PoolBox::from_raw(rkey.cast::<RemoteKey>()) });
}
