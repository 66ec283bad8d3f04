//! Sending on streams.

use crate::c::{UCS_ERR_NO_RESOURCE, ucs_status_t};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Way};
use crate::ucp::proto::op::Kind;
use crate::ucp::proto::plan::Announce;
use crate::ucp::proto::send;
use crate::ucp::request::{Info, Param, Posted, immediate};
use crate::ucs::Result;
use crate::wire::header::{AmId, StreamHdr};

/// Sends a few bytes past an open gate; answers as C does. `NO_RESOURCE` when it takes more than that.
///
/// # Safety
/// `way` must be of the endpoint's gate for the bytes and a word, just now; `bytes` readable for `len`.
#[inline(always)]
pub unsafe fn leave(ep: &Ep, way: Way, bytes: *const u8, len: usize) -> ucs_status_t {
    if len == 0 || !ep.is_introduced() {
        return UCS_ERR_NO_RESOURCE;
    }
    let header = [ep.worker().uuid, ep.id.get()];
    // SAFETY: by the caller's promise.
    unsafe { send::leave_pair(way, AmId::Stream, header, bytes, len) }
}

/// Sends bytes. They are never announced: a stream has no message that could be fetched.
pub fn post(ep: &Ep, param: &Param, data: Data) -> Result<Posted> {
    if data.is_empty() {
        ep.usable()?;
        drop(data);
        return immediate(ep.worker(), param, Info::default());
    }
    let hdr = StreamHdr {
        uuid: ep.worker().uuid,
        ep: ep.id.get(),
    };
    send::start(ep, param, data, Kind::Stream { hdr }, Announce::Never)
}
