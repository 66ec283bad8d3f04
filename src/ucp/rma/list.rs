//! Writes from a list of buffers to a list of remote places, each with a key of its own: one request
//! for all. Everything is checked before anything is written.

use super::post;
use crate::c::*;
use crate::ucp::composite::CompositeRequest;
use crate::ucp::ep::Ep;
use crate::ucp::mem::Region;
use crate::ucp::proto::zcopy::Direction;
use crate::ucp::request::{Info, Param, Posted, bytes, immediate, must_be_immediate};
use crate::ucp::rkey::{Access, RemoteKey};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::wire::rkey::WRITE;

/// Both sides of a write, as C gives them: `count` elements each.
#[derive(Clone, Copy)]
pub struct Lists {
    pub local: ucp_dt_local_sgl_t,
    pub remote: ucp_dt_remote_sgl_t,
    pub count: usize,
}

/// An element: local blocks of one length, which are contiguous at the peer.
struct Element<'a> {
    buffer: *mut u8,
    length: usize,
    blocks: usize,
    stride: usize,
    address: u64,
    key: &'a RemoteKey,
}

impl Lists {
    /// Whether the members that a put needs are valid.
    fn check(&self) -> Result<()> {
        const LOCAL: u64 = (UCP_DT_LOCAL_SGL_FIELD_BUFFERS | UCP_DT_LOCAL_SGL_FIELD_LENGTHS) as u64;
        const PATTERN: u64 =
            (UCP_DT_LOCAL_SGL_FIELD_COUNTS | UCP_DT_LOCAL_SGL_FIELD_STRIDES) as u64;
        const REMOTE: u64 = (UCP_DT_REMOTE_SGL_FIELD_REMOTE_ADDRS
            | UCP_DT_REMOTE_SGL_FIELD_LENGTHS
            | UCP_DT_REMOTE_SGL_FIELD_RKEYS) as u64;
        let (local, remote) = (self.local.field_mask, self.remote.field_mask);
        if local & LOCAL != LOCAL || remote & REMOTE != REMOTE {
            ucs_error!(
                "a list needs buffers and lengths here, addresses, lengths and keys at the peer: fields {local:#x} and {remote:#x} are set"
            );
            return Err(Status::INVALID_PARAM);
        }
        if !matches!(local & PATTERN, 0 | PATTERN) {
            ucs_error!("a list has counts and strides, or neither");
            return Err(Status::INVALID_PARAM);
        }
        let null = self.local.buffers.is_null()
            || self.local.lengths.is_null()
            || self.remote.remote_addrs.is_null()
            || self.remote.lengths.is_null()
            || self.remote.rkeys.is_null()
            || self.has(UCP_DT_LOCAL_SGL_FIELD_MEMHS) && self.local.memhs.is_null()
            || self.has(UCP_DT_LOCAL_SGL_FIELD_COUNTS)
                && (self.local.counts.is_null() || self.local.strides.is_null());
        if null {
            ucs_error!("an array of a list is NULL");
            return Err(Status::INVALID_PARAM);
        }
        Ok(())
    }

    fn has(&self, bit: u32) -> bool {
        self.local.field_mask & u64::from(bit) != 0
    }

    /// Reads and checks element `i`.
    ///
    /// # Safety
    /// `check` was passed, the arrays have `count` entries, and the handles and keys are alive.
    unsafe fn element<'a>(&self, i: usize) -> Result<Element<'a>> {
        // SAFETY: by the caller's promise.
        unsafe {
            let length = *self.local.lengths.add(i);
            let (blocks, stride) = if self.has(UCP_DT_LOCAL_SGL_FIELD_COUNTS) {
                (*self.local.counts.add(i), *self.local.strides.add(i))
            } else {
                (1, 0)
            };
            let total = length.checked_mul(blocks).ok_or(Status::INVALID_PARAM)?;
            let wanted = *self.remote.lengths.add(i);
            if total != wanted {
                ucs_error!("element {i} of a list has {total} bytes here and {wanted} at the peer");
                return Err(Status::INVALID_PARAM);
            }
            let mut buffer = *self.local.buffers.add(i);
            if buffer.is_null() && total > 0 {
                ucs_error!("element {i} of a list has {total} bytes at NULL");
                return Err(Status::INVALID_PARAM);
            }
            if self.has(UCP_DT_LOCAL_SGL_FIELD_MEMHS)
                && let Some(region) = (*self.local.memhs.add(i)).cast::<Region>().as_ref()
            {
                let span = match blocks.checked_sub(1) {
                    None => Some(0),
                    Some(more) => stride.checked_mul(more).and_then(|s| s.checked_add(length)),
                };
                buffer = region.locate(buffer, span.ok_or(Status::INVALID_PARAM)?)?;
            }
            let key = *self.remote.rkeys.add(i);
            let Some(key) = key.cast::<RemoteKey>().as_ref() else {
                ucs_error!("element {i} of a list has no remote key");
                return Err(Status::INVALID_PARAM);
            };
            let address = *self.remote.remote_addrs.add(i);
            key.check(address, total, WRITE)?;
            Ok(Element {
                buffer: buffer.cast(),
                length,
                blocks,
                stride,
                address,
                key,
            })
        }
    }
}

/// Writes every element.
///
/// # Safety
/// The arrays have `count` entries; buffers, handles and keys are alive until the operation ends.
pub unsafe fn put(ep: &Ep, param: &Param, lists: &Lists) -> Result<Posted> {
    ep.usable()?;
    if lists.count == 0 {
        return immediate(ep.worker(), param, Info::default());
    }
    lists.check()?;
    let elements = (0..lists.count)
        // SAFETY: by the caller's promise, and checked.
        .map(|i| unsafe { lists.element(i) })
        .collect::<Result<Vec<_>>>()?;
    let mapped = |e: &Element<'_>| matches!(e.key.access, Access::Direct(_));
    if ep.fenced.get() || !elements.iter().all(mapped) {
        must_be_immediate(param)?;
    }
    let all = CompositeRequest::begin(ep.worker(), param)?;
    for e in elements {
        for block in 0..e.blocks {
            let at = e.buffer.wrapping_add(block * e.stride);
            let data = bytes(ep.worker(), at, e.length);
            let address = e.address + (block * e.length) as u64;
            if ep.worker().examines_operations() {
                post::count_protocol(ep, Direction::Put, e.key, e.length);
            }
            all.post_part(|param| post::put(ep, param, data?, address, e.key));
        }
    }
    all.finish_posting(param)
}
