//! Messages of upstream's processes.
#![forbid(unsafe_code)]

use crate::ucp::handlers::{begin_message, on_fragment};
use crate::ucp::proto::reassembly::MessageId;
use crate::ucp::proto::rndv;
use crate::ucp::worker_core::Core;
use crate::ucp::{am, rma, stream, tag, wireup};
use crate::ucs::{Result, Status};
use crate::uct::internal::{UpstreamEvent, UpstreamMessage};
use crate::wire::Reader;
use crate::wire::header::{AckHdr, DataHdr, Header, RtrHdr};
use crate::wire::id::{EpName, RequestId, RequestName};
use crate::wire::upstream::message::{
    AM, AM_FIRST, AM_MIDDLE, AM_WITH_REPLY, ATP, ATS, Ack, Am, AmFirst, AmMiddle, COMPLETION, DATA,
    Data, EAGER, EAGER_FIRST, EAGER_MIDDLE, Eager, EagerFirst, EagerMiddle, PUT, REPLY_LEN, RTR,
    RTS, Rtr, Rts, STREAM, SYNC, SYNC_ACK, SYNC_FIRST, Stream, Sync, SyncFirst, WIREUP,
};
use crate::{ucs_debug, ucs_error};

/// Something has come of upstream UCX. An error ends the connection, but for `NO_RESOURCE`: the message comes again.
pub fn on_event(worker: &Core, event: &UpstreamEvent<'_>) -> Result<()> {
    match event {
        UpstreamEvent::Message(
            message @ UpstreamMessage {
                id: PUT..=COMPLETION,
                ..
            },
        ) => {
            let connection = message.connection;
            return rma::upstream::on_message(worker, message.id, message.body, connection);
        }
        UpstreamEvent::Message(message) => {
            if on_message(worker, message).is_none() {
                ucs_error!(
                    "a message {} of upstream UCX, of {} bytes, is malformed; dropped",
                    message.id,
                    message.body.len()
                );
            }
        }
        UpstreamEvent::Opened { key } => wireup::upstream::on_lane_open(worker, *key),
        UpstreamEvent::Acknowledged { key } => wireup::upstream::on_lane_acknowledged(worker, *key),
        UpstreamEvent::Closed { connection, key } => {
            if let Some(key) = key {
                wireup::upstream::on_lane_closed(worker, *key);
            }
            for sender in [*connection, !*connection] {
                for message in worker.proto().reassemblies.take_of(sender) {
                    tag::recv::sender_gone(worker, &message, Status::CONNECTION_RESET);
                }
            }
        }
    }
    Ok(())
}

fn on_message(worker: &Core, message: &UpstreamMessage<'_>) -> Option<()> {
    match message.id {
        WIREUP => super::wireup::on_wireup(worker, message)?,
        EAGER => {
            let (h, body) = Eager::split(message.body)?;
            tag::recv::on_message(worker, h.tag, body, None);
        }
        EAGER_FIRST => {
            let (h, body) = EagerFirst::split(message.body)?;
            on_first(worker, message, (h.tag, h.total, h.message), body, None)?;
        }
        SYNC => {
            let (h, body) = Sync::split(message.body)?;
            let sync = sender(worker, h.ep).map(|ep| request(ep, h.request));
            tag::recv::on_message(worker, h.tag, body, sync);
        }
        SYNC_FIRST => {
            let (h, body) = SyncFirst::split(message.body)?;
            let sync = sender(worker, h.ep).map(|ep| request(ep, h.request));
            on_first(worker, message, (h.tag, h.total, h.message), body, sync)?;
        }
        SYNC_ACK | ATS => {
            let (h, _) = Ack::split(message.body)?;
            rndv::sender::on_send_ack(worker, &ack(h.request, h.status));
        }
        ATP => {
            let (h, rest) = Ack::split(message.body)?;
            let length = match rest {
                [] => None,
                _ => Some(Reader::new(rest).u64()?),
            };
            match h.status {
                0 => rndv::receiver::on_part_put(worker, RequestId(h.request), length),
                _ => rndv::receiver::on_data_failed(worker, &ack(h.request, h.status)),
            }
        }
        RTS => on_rts(worker, message.body)?,
        RTR => on_rtr(worker, message.body)?,
        DATA => {
            let (h, body) = Data::split(message.body)?;
            let receiver = RequestId(h.receiver);
            let offset = h.offset;
            rndv::receiver::on_data(worker, &DataHdr { receiver, offset }, body);
        }
        AM => {
            let (am, data, header, _) = Am::parts(message.body, 0)?;
            am::recv::on_parts(worker, am.id, None, header, data);
        }
        AM_WITH_REPLY => {
            let (am, data, header, mut end) = Am::parts(message.body, REPLY_LEN)?;
            if let Some(peer) = sender(worker, end.u64()?) {
                am::recv::on_parts(worker, am.id, Some(peer), header, data);
            }
        }
        AM_FIRST => on_am_first(worker, message)?,
        AM_MIDDLE => {
            let (h, data) = AmMiddle::split(message.body)?;
            on_fragment(worker, am_id(message, h.message), h.offset, data)?;
        }
        STREAM => {
            let (h, data) = Stream::split(message.body)?;
            if let Some(peer) = sender(worker, h.ep) {
                stream::recv::deliver(worker, peer, data);
            }
        }
        EAGER_MIDDLE => {
            let (h, body) = EagerMiddle::split(message.body)?;
            on_fragment(worker, (message.connection, h.message), h.offset, body)?;
        }
        id => ucs_error!("a message {id} of upstream UCX is dropped: it has no meaning here"),
    }
    Some(())
}

/// The remote endpoint of an endpoint that a message is for.
fn sender(worker: &Core, id: u64) -> Option<EpName> {
    let peer = worker.ep(id).and_then(|ep| ep.upstream_peer());
    if peer.is_none() {
        ucs_debug!("a message of upstream UCX is for an endpoint that is closed; dropped");
    }
    peer
}

/// Active messages have numbers of their own.
fn am_id(message: &UpstreamMessage<'_>, number: u64) -> MessageId {
    (!message.connection, number)
}

/// The first fragment of an active message.
fn on_am_first(worker: &Core, message: &UpstreamMessage<'_>) -> Option<()> {
    let (am, data, header, end) = Am::parts(message.body, AmFirst::LEN)?;
    let first = AmFirst::decode(end)?;
    let total = usize::try_from(first.total).ok()?;
    let id = am_id(message, first.message);
    if worker.proto().reassemblies.is_known(id) {
        return None;
    }
    let reply = match am.flags & Am::REPLY {
        0 => None,
        // The other fragments are dropped like those of no message.
        _ => match sender(worker, first.ep) {
            None => return Some(()),
            peer => peer,
        },
    };
    let headers = am::recv::headers(am.id, reply, header);
    let reassembly = am::recv::on_first_fragment(total, &headers);
    begin_message(worker, id, reassembly, data)
}

/// The first fragment of a tagged message, which `sync` waits for.
fn on_first(
    worker: &Core,
    from: &UpstreamMessage<'_>,
    (tag, total, number): (u64, u64, u64),
    body: &[u8],
    sync: Option<RequestName>,
) -> Option<()> {
    let total = usize::try_from(total).ok()?;
    let id = (from.connection, number);
    if worker.proto().reassemblies.is_known(id) {
        return None;
    }
    let reassembly = tag::recv::on_first_fragment(worker, id, tag, total, sync);
    begin_message(worker, id, reassembly, body)
}

/// A message that waits at its sender. Its data are asked for, whatever way to read them it offers.
fn on_rts(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, rest) = Rts::split(message)?;
    let total = usize::try_from(h.size).ok()?;
    let Some(peer) = sender(worker, h.ep) else {
        return Some(());
    };
    let what = crate::ucp::rts::Rts {
        sender: request(peer, h.request),
        total,
        address: 0,
        region: 0,
        list: None,
        guard: None,
        epoch_region: 0,
    };
    match h.kind {
        Rts::TAG => tag::recv::on_rts(worker, h.header, &what),
        Rts::AM => {
            let am = Am::of_word(h.header);
            // A key may stand before it.
            let header = rest.len().checked_sub(am.header as usize)?;
            let reply = (am.flags & Am::REPLY != 0).then_some(peer);
            let headers = am::recv::headers(am.id, reply, &rest[header..]);
            am::recv::on_rts(worker, &headers, &what)?;
        }
        _ => return None,
    }
    Some(())
}

/// A receiver asks for the data of a message that waits here, or for a put.
fn on_rtr(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, key) = Rtr::split(message)?;
    if h.offset != 0 {
        ucs_error!(
            "a process of upstream UCX asks for {} bytes of a message from byte {} on; only whole messages are sent so",
            h.size,
            h.offset
        );
        let status = Status::UNSUPPORTED.code() as u8;
        rndv::sender::on_send_ack(worker, &ack(h.sender, status));
        return Some(());
    }
    let request = RequestId(h.sender);
    // Releases before 1.16 give no length where the receive's buffer is registered memory: they want all.
    let whole = || rndv::sender::length_of(worker, request);
    let rtr = RtrHdr {
        request,
        receiver: RequestId(h.receiver),
        length: if h.size == 0 { whole() } else { h.size },
        address: h.address,
        // Upstream has no answer that the send is over.
        ep: EpName::default(),
    };
    rndv::sender::on_rtr(worker, &rtr, key);
    Some(())
}

/// The name of a request of a remote endpoint.
fn request(ep: EpName, id: u64) -> RequestName {
    let id = RequestId(id);
    RequestName { ep, id }
}

/// An answer to a request of ours.
fn ack(request: u64, status: u8) -> AckHdr {
    let request = RequestId(request);
    AckHdr { request, status }
}
