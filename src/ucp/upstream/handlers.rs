//! Messages of upstream's processes.
#![forbid(unsafe_code)]

use super::wireup;
use crate::ucp::handlers::{begin_message, on_fragment};
use crate::ucp::proto::reassembly::MessageId;
use crate::ucp::worker_core::Core;
use crate::ucp::{am, stream, tag};
use crate::ucs::Status;
use crate::uct::internal::{UpstreamEvent, UpstreamMessage};
use crate::wire::id::EpName;
use crate::wire::upstream::message::{
    AM, AM_FIRST, AM_MIDDLE, AM_WITH_REPLY, Am, AmFirst, AmMiddle, EAGER, EAGER_FIRST,
    EAGER_MIDDLE, Eager, EagerFirst, EagerMiddle, REPLY_LEN, STREAM, Stream, WIREUP,
};
use crate::{ucs_debug, ucs_error};

/// Something has come of upstream UCX.
pub fn on_event(worker: &Core, event: &UpstreamEvent<'_>) {
    match event {
        UpstreamEvent::Message(message) => {
            if on_message(worker, message).is_none() {
                ucs_error!(
                    "a message {} of upstream UCX, of {} bytes, is malformed; dropped",
                    message.id,
                    message.body.len()
                );
            }
        }
        UpstreamEvent::Closed(connection) => {
            for sender in [*connection, !*connection] {
                for message in worker.proto().reassemblies.take_of(sender) {
                    tag::recv::sender_gone(worker, &message, Status::CONNECTION_RESET);
                }
            }
        }
    }
}

fn on_message(worker: &Core, message: &UpstreamMessage<'_>) -> Option<()> {
    match message.id {
        WIREUP => wireup::on_wireup(worker, message)?,
        EAGER => {
            let (h, body) = Eager::split(message.body)?;
            tag::recv::on_message(worker, h.tag, body, None);
        }
        EAGER_FIRST => on_first(worker, message)?,
        AM => {
            let (am, data, header, _) = Am::split(message.body, 0)?;
            am::recv::on_parts(worker, am.id, None, header, data);
        }
        AM_WITH_REPLY => {
            let (am, data, header, mut end) = Am::split(message.body, REPLY_LEN)?;
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
        id => ucs_error!(
            "a message {id} of upstream UCX is dropped: only messages that do not wait for their receive are \
             understood; UCX_RNDV_THRESH=inf in its process sends longer ones so too"
        ),
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
    let (am, data, header, end) = Am::split(message.body, AmFirst::LEN)?;
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
    let reassembly = am::recv::first_part(total, am.id, reply, header);
    begin_message(worker, id, reassembly, data)
}

/// The first fragment of a tagged message.
fn on_first(worker: &Core, message: &UpstreamMessage<'_>) -> Option<()> {
    let (h, body) = EagerFirst::split(message.body)?;
    let total = usize::try_from(h.total).ok()?;
    let id = (message.connection, h.message);
    if worker.proto().reassemblies.is_known(id) {
        return None;
    }
    let reassembly = tag::recv::on_first_fragment(worker, id, h.tag, total, None);
    begin_message(worker, id, reassembly, body)
}
