//! Sending on streams.

use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::proto::op::Kind;
use crate::ucp::proto::plan::Announce;
use crate::ucp::proto::send;
use crate::ucp::request::{Info, Param, Posted, immediate};
use crate::ucs::Result;
use crate::wire::header::{AmId, StreamHdr};

/// Sends a few bytes if they can leave at once.
#[inline]
pub fn try_now(ep: &Ep, bytes: &[u8]) -> Option<Result<()>> {
    if !ep.is_introduced() {
        return None;
    }
    let header = [ep.worker().uuid, ep.id.get()];
    send::try_short_pair(ep, AmId::Stream, header, bytes)
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
