//! Polling: takes completions off. The user's progress also hands messages to their handlers, tells of what has ended and
//! serves pending requests.

use super::conn::State;
use super::engine::Engine;
use super::iface::{Face, UdIface};
use super::incoming::endpoint_of;
use super::receiver::{Chain, Received};
use super::wire::ConnId;
use crate::c::verbs::*;
use crate::sys::verbs::Completions;
use crate::ucs::{Status, log};
use core::slice::Iter;

/// Completions that are taken off at a time.
const BATCH: usize = 16;

impl Engine {
    /// Handles one batch of completions. How many.
    #[inline(never)]
    pub fn poll(&mut self) -> usize {
        self.take_batch()
    }

    /// As `poll`, for the user's progress.
    #[inline(always)]
    fn take_batch(&mut self) -> usize {
        let mut room = Completions::<BATCH>::new();
        let batch = match self.queue.poll(&mut room) {
            Ok(batch) => batch,
            Err(e) => {
                self.stop(&format!("its completion queue cannot be polled: {e}"));
                &[]
            }
        };
        self.receiver.note_taken(batch.len());
        for completion in batch {
            self.handle(completion);
        }
        if !self.acks.is_empty() {
            self.send_acks();
        }
        batch.len()
    }

    #[inline(always)]
    fn handle(&mut self, completion: &ibv_wc) {
        let id = completion.wr_id;
        if completion.status != IBV_WC_SUCCESS {
            self.handle_failed(completion);
        } else if id & 1 == 0 {
            // SAFETY: of a receive.
            match unsafe { self.receiver.take(completion) } {
                Some((received, word)) => self.receive(received, word, completion),
                None => self.dropped.malformed += 1,
            }
        } else {
            self.receiver.note_not_taken();
            self.sent((id >> 1) as u32);
        }
    }

    #[cold]
    fn handle_failed(&mut self, completion: &ibv_wc) {
        if completion.wr_id & 1 == 0 {
            // SAFETY: of a receive.
            let received = unsafe { self.receiver.take(completion) };
            if let Some((received, _)) = received {
                self.receiver.give_back(received);
            }
        } else {
            self.receiver.note_not_taken();
        }
        if self.broken {
            return;
        }
        let text = self.domain.device.status_text(completion.status);
        self.stop(&format!("its queue pair has stopped: {text}"));
    }
}

impl UdIface {
    #[inline]
    pub fn poll(face: &Face, receives: bool) -> u32 {
        if face.polling.replace(true) {
            return 0;
        }
        let mut batch = face.batch.take();
        let (taken, told) = {
            let mut guard = face.shared.0.lock();
            let engine = &mut *guard;
            engine.polled = true;
            engine.round = engine.round.wrapping_add(1);
            if engine.woken {
                engine.woken = false;
                engine.wake.clear();
            }
            let taken = engine.take_batch();
            engine
                .receiver
                .note_poll(receives && taken == BATCH, taken as u32);
            if engine.receiver.is_low() {
                let mut used = face.used.take();
                let user = Some((&face.buffers, &mut used));
                engine.receiver.refill(&engine.sender.pair, user);
                face.used.set(used);
            }
            if receives && batch.is_empty() {
                core::mem::swap(&mut batch, &mut engine.ready);
            }
            (
                taken as u32,
                !(engine.sender.done.is_empty()
                    && engine.failed.is_empty()
                    && engine.arrived.is_empty()),
            )
        };
        let mut count = taken;
        if receives {
            face.base.internal.recv_paused.set(false);
            let mut used = face.used.take();
            let left = if log::enabled(log::Level::TraceData) {
                UdIface::deliver::<true>(face, batch.iter(), &mut used)
            } else {
                UdIface::deliver::<false>(face, batch.iter(), &mut used)
            };
            let delivered = batch.len() - left;
            if left == 0 {
                batch.clear();
            } else {
                batch.drain(..delivered);
            }
            count += delivered as u32;
            face.receiving.set(ConnId::NONE);
            face.used.set(used);
        }
        face.batch.set(batch);
        if told {
            UdIface::tell(face);
        }
        if !face.pending.is_empty() {
            count += face.pending.dispatch();
        }
        face.polling.set(false);
        count
    }

    /// Hands messages to their handlers, until one asks for a pause, and their buffers to `used` unless the user keeps them.
    /// How many are left.
    #[inline(never)]
    fn deliver<const LOGS: bool>(
        face: &Face,
        mut batch: Iter<'_, Received>,
        used: &mut Chain,
    ) -> usize {
        // A copy can be kept in registers.
        let mut chain = core::mem::take(used);
        for received in batch.by_ref() {
            let receive = received.receive();
            face.receiving.set(received.to);
            let (at, len) = (receive.payload(), usize::from(received.len));
            // SAFETY: it has a buffer.
            let restore = || unsafe { receive.restore_word() };
            // SAFETY: the device has written so many bytes there, in a descriptor.
            if unsafe { (face.base.am).invoke_desc::<LOGS>(received.id, at, len, restore) } {
                chain.add_from(receive, at);
            } else {
                UdIface::give_away(face, received);
            }
            if face.base.internal.recv_paused.get() {
                break;
            }
        }
        *used = chain;
        batch.len()
    }

    /// The user keeps the buffer of this packet.
    #[inline(never)]
    fn give_away(face: &Face, received: &Received) {
        if let Some(desc) = received.receive().take() {
            desc.keep();
        }
        face.engine().receiver.without_buffer(received);
    }

    /// Tells the user of peers that have connected, operations that have ended and endpoints that have failed.
    pub fn tell(face: &Face) {
        let (due, failed, arrived) = {
            let mut engine = face.shared.0.lock();
            let due = engine.sender.done.len();
            let failed = core::mem::take(&mut engine.failed);
            (due, failed, core::mem::take(&mut engine.arrived))
        };
        for peer in arrived {
            face.base.internal.peer_connected(peer);
        }
        // One at a time: each may close its endpoint, which tells the others before it goes.
        for _ in 0..due {
            let next = face.shared.0.lock().sender.done.pop_front();
            let Some((comp, result)) = next else { break };
            comp.complete(result);
        }
        for id in failed {
            UdIface::tell_failure(face, id);
        }
    }

    fn tell_failure(face: &Face, id: ConnId) {
        let found = {
            let mut engine = face.shared.0.lock();
            engine.conns.get(id).and_then(|conn| match conn.state {
                State::Failed(status) => Some((endpoint_of(conn), status)),
                _ => None,
            })
        };
        let Some((ep, status)): Option<(_, Status)> = found else {
            return;
        };
        if let Some(ep) = ep {
            if face.base.params.err_handler.is_some() {
                // Requests wait for the purge of a user who is told; others are served, so that their sends answer the error.
                ep.pending.suspend();
            }
            match status {
                // It has said so.
                Status::CONNECTION_RESET => ep.end(status),
                _ => ep.fail(status),
            }
        }
    }
}
