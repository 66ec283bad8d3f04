//! The user's progress: polls, hands messages to their handlers, tells of what has ended, serves pending requests.

use super::conn::State;
use super::iface::{Face, UdIface};
use super::incoming::{BATCH, endpoint_of};
use super::receiver::Received;
use super::wire::ConnId;
use crate::ucs::Status;
use crate::uct::base::desc::OwnedDesc;

impl UdIface {
    #[inline]
    pub fn poll(face: &Face, receives: bool) -> u32 {
        if face.polling.replace(true) {
            return 0;
        }
        let (taken, told) = {
            let mut guard = face.shared.0.lock();
            let engine = &mut *guard;
            engine.polled = true;
            engine.round = engine.round.wrapping_add(1);
            if engine.woken {
                engine.woken = false;
                engine.wake.clear();
            }
            let taken = engine.poll();
            engine
                .receiver
                .note_poll(receives && taken == BATCH, taken as u32);
            engine.receiver.give_back_all(&mut face.used.borrow_mut());
            if engine.receiver.is_low() {
                engine
                    .receiver
                    .refill(&engine.sender.pair, Some(&face.buffers));
            }
            if receives {
                let mut batch = face.batch.borrow_mut();
                if batch.is_empty() {
                    core::mem::swap(&mut *batch, &mut engine.ready);
                }
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
            let mut batch = face.batch.take();
            let mut used = face.used.take();
            while let Some(received) = batch.pop_front() {
                UdIface::deliver(face, received, &mut used);
                count += 1;
                if face.base.internal.recv_paused.get() {
                    break;
                }
            }
            face.receiving.set(ConnId::NONE);
            face.batch.replace(batch);
            face.used.replace(used);
        }
        if told {
            UdIface::tell(face);
        }
        if !face.pending.is_empty() {
            count += face.pending.dispatch();
        }
        face.polling.set(false);
        count
    }

    /// Hands a message to its handler, and its buffer to `used` unless the user keeps it.
    #[inline(always)]
    fn deliver(face: &Face, received: Received, used: &mut Vec<OwnedDesc>) {
        let Received { desc, to, len, id } = received;
        face.receiving.set(to);
        let restore = || desc.restore();
        // SAFETY: the device has written so many bytes there, in a descriptor.
        if unsafe { (face.base.am).invoke_desc(id, desc.payload(), len as usize, restore) } {
            used.push(desc);
        } else {
            desc.keep();
        }
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
            ep.fail(status);
        }
    }
}
