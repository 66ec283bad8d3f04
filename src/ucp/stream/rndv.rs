//! Rendezvous of streams: data in the sender's memory, which this process can map.
//!
//! A receive copies any part of the data directly into its buffer. Data that no receive takes until the next progress are
//! copied to a buffer here, so that a sender never waits for a receive to be posted. If a copy fails, all data are
//! requested from the sender, as in a rendezvous of another kind.
#![forbid(unsafe_code)]

use super::recv::serve;
use crate::ucp::dt::Data;
use crate::ucp::ep::stream_inbox::{Chunk, ChunkBytes, Remote};
use crate::ucp::ep::{Ep, Pin};
use crate::ucp::feature::Feature;
use crate::ucp::op::StreamRecvOp;
use crate::ucp::proto::fetched;
use crate::ucp::proto::rndv::mapped::{self, Copied};
use crate::ucp::proto::rndv::receiver;
use crate::ucp::rts::Rts;
use crate::ucp::unexpected;
use crate::ucp::worker_core::{Core, RepeatedCall};
use crate::ucs::deque::pop_front_if;
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_diag};
use core::cell::RefCell;
use core::ffi::c_uint;

/// The ids of endpoints whose remote chunks the next progress copies.
#[derive(Default)]
pub struct ToFetch {
    eps: RefCell<Vec<u64>>,
    calls: RepeatedCall,
}

impl ToFetch {
    pub fn is_empty(&self) -> bool {
        self.eps.borrow().is_empty()
    }
}

/// Schedules `fetch_in_progress` for an endpoint.
fn fetch_later(ep: &Ep) {
    let (worker, id) = (ep.worker(), ep.id.get());
    let to_fetch = &worker.stream().to_fetch;
    let mut eps = to_fetch.eps.borrow_mut();
    if eps.last() != Some(&id) {
        eps.push(id);
    }
    to_fetch.calls.start(worker, fetch_in_progress);
}

/// Receives have taken all remote chunks of an endpoint. A call that is scheduled for them would copy what comes in the same
/// progress, for which a receive may be posted before the next one.
fn cancel_fetch(ep: &Ep) {
    let to_fetch = &ep.worker().stream().to_fetch;
    let mut eps = to_fetch.eps.borrow_mut();
    eps.pop_if(|id| *id == ep.id.get());
    if eps.is_empty() {
        to_fetch.calls.stop(ep.worker());
    }
}

/// Progress callback: copies remote chunks that no receive has taken.
extern "C" fn fetch_in_progress(worker: &Core) -> c_uint {
    let to_fetch = &worker.stream().to_fetch;
    to_fetch.calls.stop(worker);
    let eps = to_fetch.eps.take();
    for id in &eps {
        let Some(ep) = worker.ep(*id) else {
            continue;
        };
        let _pin = Pin::new(ep);
        if ep.stream.broken.get() {
            if !ep.is_closed() {
                // The peer's worker lives on, and another of its endpoints may wait for operations of this one.
                ep.on_peer_closed(Status::CONNECTION_RESET);
            }
            continue;
        }
        serve(ep);
        fetch_all(ep);
        serve(ep);
        worker.stream().list(ep);
    }
    eps.len() as c_uint
}

/// An RTS came. Its data count as unexpected once they are copied here. Returns `None` when the message is invalid.
pub fn on_rts(worker: &Core, message: Rts) -> Option<()> {
    let name = message.sender.ep;
    if name.uuid == worker.uuid {
        return None;
    }
    let open = worker.open_ep_of_peer(name);
    let Some(ep) = open.filter(|ep| !ep.stream.broken.get()) else {
        ucs_debug!(
            "{} bytes for a stream that is closed; dropped",
            message.total
        );
        receiver::send_ack(worker, message.sender, Ok(()));
        return Some(());
    };
    if worker.lacks(Feature::Stream) {
        worker.context().dropped(Feature::Stream);
        receiver::send_ack(worker, message.sender, Err(Status::INVALID_PARAM));
        return Some(());
    }
    let inbox = &ep.stream;
    let available = inbox.available.get().checked_add(message.total)?;
    if message.total == 0 {
        receiver::send_ack(worker, message.sender, Ok(()));
        return Some(());
    }
    let _pin = Pin::new(ep);
    inbox.available.set(available);
    inbox.remote.set(inbox.remote.get() + 1);
    inbox.spill_inline();
    inbox.chunks.borrow_mut().push_back(Chunk {
        remote: Some(Box::new(Remote::Mapped(message))),
        ..Chunk::here(Vec::new().into())
    });
    serve(ep);
    if inbox.remote.get() > 0 {
        fetch_later(ep);
    }
    worker.stream().list(ep);
    Some(())
}

fn is_mapped(chunk: &Chunk) -> bool {
    matches!(chunk.remote.as_deref(), Some(Remote::Mapped(_)))
}

/// Copies up to `count` bytes of the first chunk, if it is remote, into a receive's buffer. Returns the number of bytes.
/// If the copy fails, requests the data from the sender and returns 0.
pub fn copy_first(ep: &Ep, op: &mut StreamRecvOp, count: usize) -> usize {
    let inbox = &ep.stream;
    // Removed from the queue meanwhile: a generic datatype calls user functions.
    let front = pop_front_if(&mut inbox.chunks.borrow_mut(), is_mapped);
    let Some(mut chunk) = front else {
        return 0;
    };
    let Some(Remote::Mapped(message)) = chunk.remote.as_deref().cloned() else {
        return 0;
    };
    let n = chunk.left().min(count);
    let part = chunk.at..chunk.at + n;
    if op.error.is_none() {
        match mapped::copy_part(ep, &message, part, &op.data, op.received) {
            Copied::Ended(result) => op.error = result.err(),
            Copied::InDoubt | Copied::NotPossible => {
                inbox.chunks.borrow_mut().push_front(chunk);
                request_data(ep, 0, &message);
                return 0;
            }
        }
    }
    op.received += n;
    chunk.at += n;
    inbox.available.set(inbox.available.get() - n);
    if chunk.left() > 0 {
        inbox.chunks.borrow_mut().push_front(chunk);
    } else {
        inbox.remote.set(inbox.remote.get() - 1);
        // The call also ends the endpoint of a stream that is broken.
        if inbox.remote.get() == 0 && !inbox.broken.get() {
            cancel_fetch(ep);
        }
        receiver::send_ack(ep.worker(), message.sender, Ok(()));
    }
    n
}

/// Copies all remote chunks. Returns whether none is left.
pub fn fetch_all(ep: &Ep) -> bool {
    let inbox = &ep.stream;
    let mut at = 0;
    while inbox.remote.get() > 0 && at < inbox.chunks.borrow().len() {
        fetch(ep, at);
        at += 1;
    }
    inbox.remote.get() == 0
}

/// Copies the first chunk if it is remote.
pub fn fetch_first(ep: &Ep) {
    if ep.stream.remote.get() > 0 {
        fetch(ep, 0);
    }
}

/// Copies the rest of a chunk, or requests it.
fn fetch(ep: &Ep, index: usize) {
    let inbox = &ep.stream;
    let (message, at) = match inbox.chunks.borrow().get(index) {
        Some(chunk) => match chunk.remote.as_deref() {
            Some(Remote::Mapped(message)) => (message.clone(), chunk.at),
            _ => return,
        },
        None => return,
    };
    let here = ep.worker().buffers.room(message.total - at);
    let here = here.and_then(|mut bytes| {
        let to = Data::contig(bytes.as_mut_ptr(), bytes.len());
        let copied = mapped::copy_part(ep, &message, at..message.total, &to, 0);
        matches!(copied, Copied::Ended(Ok(()))).then_some(bytes)
    });
    let Some(bytes) = here else {
        request_data(ep, index, &message);
        return;
    };
    unexpected::add(ep.worker(), bytes.len());
    inbox.chunks.borrow_mut()[index] = Chunk::here(bytes);
    inbox.remote.set(inbox.remote.get() - 1);
    receiver::send_ack(ep.worker(), message.sender, Ok(()));
}

/// Requests all bytes of a chunk from the sender, also those already taken.
fn request_data(ep: &Ep, index: usize, message: &Rts) {
    let (worker, id, number) = (ep.worker(), ep.id.get(), ep.worker().next_message());
    ucs_debug!(
        "{} bytes of a stream cannot be copied from the sender's memory; requested from the sender",
        message.total
    );
    if let Some(chunk) = ep.stream.chunks.borrow_mut().get_mut(index) {
        let total = message.total;
        chunk.remote = Some(Box::new(Remote::Requested { total, number }));
    }
    fetched::begin(worker, message, move |worker, result| {
        if let Some(ep) = worker.ep(id) {
            on_fetched(ep, number, result);
        }
    });
}

/// Requested bytes have come, or the request failed. The caller may be inside a receive, so progress continues.
fn on_fetched(ep: &Ep, number: u64, result: Result<Vec<u8>>) {
    let inbox = &ep.stream;
    let index = inbox.chunks.borrow().iter().position(|chunk| {
        matches!(chunk.remote.as_deref(), Some(Remote::Requested { number: n, .. }) if *n == number)
    });
    let Some(index) = index else {
        return;
    };
    match result {
        Ok(bytes) => {
            let chunk = &mut inbox.chunks.borrow_mut()[index];
            unexpected::add(ep.worker(), chunk.left());
            chunk.bytes = ChunkBytes::Copied(bytes.into());
            chunk.remote = None;
            inbox.remote.set(inbox.remote.get() - 1);
        }
        Err(e) => {
            ucs_diag!(
                "the sender of a stream revoked data that it had offered ({e}): the stream ends there"
            );
            truncate(ep, index);
        }
    }
    fetch_later(ep);
}

/// The endpoint receives no more: drops the first remote chunk and all after it.
pub fn drop_all(ep: &Ep) {
    if ep.stream.remote.get() > 0 {
        let first = ep
            .stream
            .chunks
            .borrow()
            .iter()
            .position(|c| c.remote.is_some());
        truncate(ep, first.unwrap_or(0));
    }
}

/// Drops the chunks from an index on, and acknowledges their senders.
fn truncate(ep: &Ep, from: usize) {
    let inbox = &ep.stream;
    inbox.broken.set(true);
    let gone: Vec<Chunk> = inbox.chunks.borrow_mut().drain(from..).collect();
    for chunk in gone {
        inbox.available.set(inbox.available.get() - chunk.left());
        let Some(remote) = chunk.remote else {
            unexpected::sub(ep.worker(), chunk.left());
            continue;
        };
        inbox.remote.set(inbox.remote.get() - 1);
        if let Remote::Mapped(message) = *remote {
            receiver::send_ack(ep.worker(), message.sender, Ok(()));
        }
    }
}
