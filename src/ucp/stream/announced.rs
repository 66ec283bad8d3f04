//! Bytes of a stream that still stand at their sender, which announced them because this process can map them.
//!
//! A receive copies any part of them straight into its buffer. What no receive takes until the next progress is
//! copied to a buffer here, so that a sender never waits for a receive to be posted. Where a copy turns out not to
//! be possible the sender is asked for all of them, as for an announced message of another kind.

use super::Chunk;
use super::recv::serve;
use crate::ucp::buffers::zeroed;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Pin};
use crate::ucp::proto::fetched;
use crate::ucp::proto::op::StreamRecvOp;
use crate::ucp::proto::rndv::{self, Announced, Copied};
use crate::ucp::unexpected;
use crate::ucp::worker::Worker;
use crate::ucs::callbackq::Repeat;
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_diag};
use core::cell::{Cell, RefCell};
use core::ffi::{c_uint, c_void};

/// Where the bytes of a chunk are that are not here.
#[derive(Clone, Copy)]
pub enum Elsewhere {
    /// At their sender, mapped here.
    Mapped(Announced),
    /// On their way, since they were asked for: so many bytes, by a number of the worker's.
    AskedFor { total: usize, number: u64 },
}

impl Elsewhere {
    pub fn total(&self) -> usize {
        match self {
            Elsewhere::Mapped(message) => message.total,
            Elsewhere::AskedFor { total, .. } => *total,
        }
    }
}

/// Whether the bytes of a chunk are on their way.
pub(super) fn is_asked_for(chunk: Option<&Chunk>) -> bool {
    let elsewhere = chunk.and_then(|c| c.elsewhere.as_deref());
    matches!(elsewhere, Some(Elsewhere::AskedFor { .. }))
}

/// The endpoints of a worker whose inboxes the next progress looks after, by their ids.
#[derive(Default)]
pub struct Unattended {
    eps: RefCell<Vec<u64>>,
    /// Progress was told.
    told: Cell<bool>,
}

impl Unattended {
    pub fn is_empty(&self) -> bool {
        self.eps.borrow().is_empty()
    }
}

/// Has the next progress look after an endpoint's inbox.
fn attend_later(ep: &Ep) {
    let (worker, id) = (ep.worker(), ep.id.get());
    let unattended = &worker.stream.unattended;
    let mut eps = unattended.eps.borrow_mut();
    if eps.last() != Some(&id) {
        eps.push(id);
    }
    if !unattended.told.get() {
        let arg = core::ptr::from_ref(worker).cast_mut().cast();
        // SAFETY: the worker's thread; the queue goes with the worker.
        let told = unsafe { worker.queue().add(attend, arg, Repeat::Once) };
        unattended.told.set(told.is_ok());
    }
}

/// What progress does: nobody waits for a sender's bytes, so they are copied here.
unsafe extern "C" fn attend(worker: *mut c_void) -> c_uint {
    // SAFETY: registered with the worker, which lives as long as its progress.
    let worker = unsafe { &*worker.cast::<Worker>() };
    let unattended = &worker.stream.unattended;
    unattended.told.set(false);
    let eps = unattended.eps.take();
    for id in &eps {
        let Some(ep) = worker.ep(*id) else {
            continue;
        };
        let _pin = Pin::new(ep);
        if ep.stream.torn.get() {
            if !ep.is_given_up() {
                // Its worker lives on, and may wait on another endpoint for what was under way here.
                ep.peer_left(Status::CONNECTION_RESET);
            }
            continue;
        }
        serve(ep);
        fetch_all(ep);
        serve(ep);
        worker.stream.list(ep);
    }
    eps.len() as c_uint
}

/// Bytes were announced: they count as unexpected when they are brought here. `None` when what was said of them cannot be.
pub fn arrived(worker: &Worker, message: Announced) -> Option<()> {
    let (uuid, id, _) = message.sender;
    if uuid == worker.uuid {
        return None;
    }
    let open = worker.open_ep_of_peer(uuid, id);
    let Some(ep) = open.filter(|ep| !ep.stream.torn.get()) else {
        ucs_debug!(
            "{} bytes for a stream that is closed; dropped",
            message.total
        );
        rndv::acknowledge(worker, message.sender, Ok(()));
        return Some(());
    };
    let inbox = &ep.stream;
    let available = inbox.available.get().checked_add(message.total)?;
    if message.total == 0 {
        rndv::acknowledge(worker, message.sender, Ok(()));
        return Some(());
    }
    let _pin = Pin::new(ep);
    inbox.available.set(available);
    inbox.elsewhere.set(inbox.elsewhere.get() + 1);
    inbox.spill_inline();
    inbox.chunks.borrow_mut().push_back(Chunk {
        bytes: Vec::new().into(),
        at: 0,
        elsewhere: Some(Box::new(Elsewhere::Mapped(message))),
    });
    serve(ep);
    if inbox.elsewhere.get() > 0 {
        attend_later(ep);
    }
    worker.stream.list(ep);
    Some(())
}

fn is_mapped(chunk: &mut Chunk) -> bool {
    matches!(chunk.elsewhere.as_deref(), Some(Elsewhere::Mapped(_)))
}

/// Copies up to `count` bytes of the first chunk, which stands at its sender, into a receive's buffer;
/// answers how many. The sender is asked for them where that cannot be.
pub fn draw(ep: &Ep, op: &mut StreamRecvOp, count: usize) -> usize {
    let inbox = &ep.stream;
    // Off the queue: the datatype may be the user's functions.
    let front = inbox.chunks.borrow_mut().pop_front_if(is_mapped);
    let Some(mut chunk) = front else {
        return 0;
    };
    let Some(Elsewhere::Mapped(message)) = chunk.elsewhere.as_deref().copied() else {
        return 0;
    };
    let n = chunk.len().min(count);
    let part = chunk.at..chunk.at + n;
    if op.error.is_none() {
        match rndv::copy_part(ep, &message, part, &op.data, op.received) {
            Copied::Ended(result) => op.error = result.err(),
            Copied::InDoubt | Copied::NotPossible => {
                inbox.chunks.borrow_mut().push_front(chunk);
                ask(ep, 0, &message);
                return 0;
            }
        }
    }
    op.received += n;
    chunk.at += n;
    inbox.available.set(inbox.available.get() - n);
    if chunk.len() > 0 {
        inbox.chunks.borrow_mut().push_front(chunk);
    } else {
        inbox.elsewhere.set(inbox.elsewhere.get() - 1);
        rndv::acknowledge(ep.worker(), message.sender, Ok(()));
    }
    n
}

/// Brings all bytes here; whether all are.
pub fn fetch_all(ep: &Ep) -> bool {
    let inbox = &ep.stream;
    let mut at = 0;
    while inbox.elsewhere.get() > 0 && at < inbox.chunks.borrow().len() {
        fetch(ep, at);
        at += 1;
    }
    inbox.elsewhere.get() == 0
}

/// Brings the first bytes here.
pub fn fetch_first(ep: &Ep) {
    if ep.stream.elsewhere.get() > 0 {
        fetch(ep, 0);
    }
}

/// Copies what is left of a chunk here, or asks for it.
fn fetch(ep: &Ep, index: usize) {
    let inbox = &ep.stream;
    let (message, at) = match inbox.chunks.borrow().get(index) {
        Some(chunk) => match chunk.elsewhere.as_deref() {
            Some(Elsewhere::Mapped(message)) => (*message, chunk.at),
            _ => return,
        },
        None => return,
    };
    let here = zeroed(message.total - at).filter(|bytes| {
        let to = Data::contig(bytes.as_ptr().cast_mut(), bytes.len());
        let copied = rndv::copy_part(ep, &message, at..message.total, &to, 0);
        matches!(copied, Copied::Ended(Ok(())))
    });
    let Some(bytes) = here else {
        ask(ep, index, &message);
        return;
    };
    unexpected::add(ep.worker(), bytes.len());
    inbox.chunks.borrow_mut()[index] = Chunk::here(bytes.into());
    inbox.elsewhere.set(inbox.elsewhere.get() - 1);
    rndv::acknowledge(ep.worker(), message.sender, Ok(()));
}

/// Asks the sender for all bytes of a chunk, those too that were taken.
fn ask(ep: &Ep, index: usize, message: &Announced) {
    let (worker, id, number) = (ep.worker(), ep.id.get(), ep.worker().next_message());
    ucs_debug!(
        "{} bytes of a stream cannot be copied out of their sender's memory; asked for",
        message.total
    );
    if let Some(chunk) = ep.stream.chunks.borrow_mut().get_mut(index) {
        let total = message.total;
        chunk.elsewhere = Some(Box::new(Elsewhere::AskedFor { total, number }));
    }
    fetched::begin(worker, message, move |worker, result| {
        if let Some(ep) = worker.ep(id) {
            came(ep, number, result);
        }
    });
}

/// Bytes that were asked for are here, or will never be. Somebody may be in the middle of a receive: progress
/// goes on.
fn came(ep: &Ep, number: u64, result: Result<Vec<u8>>) {
    let inbox = &ep.stream;
    let index = inbox.chunks.borrow().iter().position(|chunk| {
        matches!(chunk.elsewhere.as_deref(), Some(Elsewhere::AskedFor { number: n, .. }) if *n == number)
    });
    let Some(index) = index else {
        return;
    };
    match result {
        Ok(bytes) => {
            let chunk = &mut inbox.chunks.borrow_mut()[index];
            unexpected::add(ep.worker(), chunk.len());
            chunk.bytes = bytes.into();
            chunk.elsewhere = None;
            inbox.elsewhere.set(inbox.elsewhere.get() - 1);
        }
        Err(e) => {
            ucs_diag!(
                "the sender of a stream took back what it had announced ({e}): the stream ends there"
            );
            cut(ep, index);
        }
    }
    attend_later(ep);
}

/// Nobody receives any more: what is not here is dropped, with what stands behind it.
pub fn drop_all(ep: &Ep) {
    if ep.stream.elsewhere.get() > 0 {
        let first = ep
            .stream
            .chunks
            .borrow()
            .iter()
            .position(|c| c.elsewhere.is_some());
        cut(ep, first.unwrap_or(0));
    }
}

/// Drops the chunks from an index on; their senders are done.
fn cut(ep: &Ep, from: usize) {
    let inbox = &ep.stream;
    inbox.torn.set(true);
    let gone: Vec<Chunk> = inbox.chunks.borrow_mut().drain(from..).collect();
    for chunk in gone {
        inbox.available.set(inbox.available.get() - chunk.len());
        let Some(elsewhere) = chunk.elsewhere else {
            unexpected::sub(ep.worker(), chunk.len());
            continue;
        };
        inbox.elsewhere.set(inbox.elsewhere.get() - 1);
        if let Elsewhere::Mapped(message) = *elsewhere {
            rndv::acknowledge(ep.worker(), message.sender, Ok(()));
        }
    }
}
