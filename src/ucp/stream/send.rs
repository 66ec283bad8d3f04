//! Sending on streams.

use crate::c::{UCS_ERR_NO_RESOURCE, ucs_status_t};
use crate::ucp::buffers::WHOLE_MAX;
use crate::ucp::composite::CompositeRequest;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, ShortRoute};
use crate::ucp::op::{MessageKind, Stage};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::send;
use crate::ucp::request::{Info, Param, Posted, immediate, must_be_immediate};
use crate::ucp::stream::recv;
use crate::ucs::Result;
use crate::uct::base::copy::Payload;
use crate::wire::header::{AmId, StreamHdr};

/// Sends a few bytes as a short message. `NO_RESOURCE` when another protocol is needed.
///
/// # Safety
/// `route` must have just been returned by the endpoint's send queue for the bytes and a word; `bytes` readable for `len`.
#[inline(always)]
pub unsafe fn send_short(ep: &Ep, route: ShortRoute, bytes: *const u8, len: usize) -> ucs_status_t {
    if len == 0 || !ep.is_wireup_sent() {
        return UCS_ERR_NO_RESOURCE;
    }
    let header = [ep.worker().uuid, ep.id.get()];
    // SAFETY: by the caller's promise.
    unsafe { route.send_pair(&ep.sent, AmId::Stream, header, bytes, len) }
}

/// Sends bytes that nothing holds back as one message. Returns `None` when another protocol is needed.
#[inline]
pub fn try_whole(ep: &Ep, bytes: Payload<'_>) -> Option<Result<()>> {
    if !ep.is_wireup_sent() || bytes.is_empty() {
        return None;
    }
    let (name, len) = (ep.name_for_peers(), bytes.len());
    // In one part: between two, a callback could send others.
    if len <= WHOLE_MAX && ep.is_loopback() && ep.delivers_at_once() {
        ep.send_queue.short_route(0)?;
        // Before the bytes go: their receiver may close the endpoint.
        ep.sent.long.eager.add(len);
        recv::deliver(ep.worker(), name, bytes.bytes());
        return Some(Ok(()));
    }
    send::try_whole(ep, AmId::Stream, [name.uuid, name.id.0], bytes)
}

/// Sends bytes. Rendezvous is used only if the peer can map the buffer: it may then copy any part at any time.
pub fn post(ep: &Ep, param: &Param, mut data: Data) -> Result<Posted> {
    if data.is_empty() {
        ep.usable()?;
        drop(data);
        return immediate(ep.worker(), param, Info::default());
    }
    if let Data::Contig { ptr, len } = data
        // SAFETY: data of a call are readable as long as it lasts.
        && let Some(sent) = try_whole(ep, unsafe { Payload::new(ptr, len) })
    {
        sent?;
        return immediate(ep.worker(), param, Info::default());
    }
    let hdr = StreamHdr {
        ep: ep.name_for_peers(),
    };
    let policy = rndv_policy(param);
    let kind = MessageKind::Stream { hdr };
    match in_place(ep, &kind, &data, policy) {
        Some((at, most)) => parts(ep, param, &kind, (at, data.len()), most),
        None => send::start(ep, param, &mut data, kind, policy),
    }
}

/// When bytes with these attributes are sent by rendezvous.
pub fn rndv_policy(param: &Param) -> RndvPolicy {
    match param.rndv_policy() {
        RndvPolicy::ByLength => RndvPolicy::Mapped,
        _ => RndvPolicy::Never,
    }
}

/// For bytes that would be sent in fragments but could be sent as several zero-copy messages: their address, and the
/// length of such a message.
fn in_place(
    ep: &Ep,
    kind: &MessageKind,
    data: &Data,
    policy: RndvPolicy,
) -> Option<(*mut u8, usize)> {
    let at = data.contiguous()?;
    if !ep.is_connected() {
        return None;
    }
    let lane = ep.lane();
    let most = lane.max_zcopy.checked_sub(kind.header_len())?;
    let longer = data.len() > most && most >= lane.max_bcopy;
    let in_fragments = || matches!(send::plan(ep, kind, data, policy), Stage::Fragments { .. });
    (longer && in_fragments()).then_some((at, most))
}

/// Sends bytes as messages of at most `most`.
fn parts(
    ep: &Ep,
    param: &Param,
    kind: &MessageKind,
    (at, len): (*mut u8, usize),
    most: usize,
) -> Result<Posted> {
    ep.usable()?;
    must_be_immediate(param)?;
    let all = CompositeRequest::begin(ep.worker(), param)?;
    let carrier = ep.carrier();
    for from in (0..len).step_by(most) {
        if let Some(iface) = carrier {
            // The last full-length message uncorks, as the rest may be too short to be sent at once.
            iface.internal.corked.set(from + 2 * most <= len);
        }
        let mut part = Data::contig(at.wrapping_add(from), most.min(len - from));
        all.post_part(|each| send::start(ep, each, &mut part, kind.clone(), RndvPolicy::Never));
    }
    all.finish_posting(param)
}
