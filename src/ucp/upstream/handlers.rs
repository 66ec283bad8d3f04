//! Messages of upstream's processes.
#![forbid(unsafe_code)]

use super::wireup;
use crate::ucp::handlers::{begin_message, on_fragment};
use crate::ucp::tag;
use crate::ucp::worker_core::Core;
use crate::ucs::Status;
use crate::ucs_error;
use crate::uct::internal::{UpstreamEvent, UpstreamMessage};
use crate::wire::upstream::message::{
    EAGER, EAGER_FIRST, EAGER_MIDDLE, Eager, EagerFirst, EagerMiddle, WIREUP,
};

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
            for message in worker.proto().reassemblies.take_of(*connection) {
                tag::recv::sender_gone(worker, &message, Status::CONNECTION_RESET);
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
        EAGER_MIDDLE => {
            let (h, body) = EagerMiddle::split(message.body)?;
            on_fragment(worker, (message.connection, h.message), h.offset, body)?;
        }
        id => ucs_error!(
            "a message {id} of upstream UCX is dropped: only tagged messages that do not wait for their receive are \
             understood; UCX_RNDV_THRESH=inf in its process sends longer ones so too"
        ),
    }
    Some(())
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
