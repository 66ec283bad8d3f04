//! Polling: completions become deliveries and ends of operations, grants leave, pending requests are served.

use super::conn::{Conn, Signal, State};
use super::datagrams;
use super::iface::{
    Face, GENERATION_SHIFT, GENERATIONS, NO_PAIR, RcIface, SLOT_BITS, SLOT_SHIFT, Slot, TAG,
};
use super::own::is_own;
use super::work::Done;
use crate::c::verbs::*;
use crate::sys::verbs::Completions;
use crate::ucs::sync::Ordering;
use crate::ucs::{Status, log};
use crate::uct::ib::events::Fault;
use crate::uct::ib::wire::{GRANT_ONLY, Header};
use crate::{ucs_diag, ucs_error};
use core::ptr::null;
use core::slice::Iter;
use std::rc::Rc;

/// Completions that are taken off at a time.
pub const BATCH: usize = 64;
/// How often a progress takes so many off: as many as an endpoint may have under way by default, so that one that waits for
/// room gets all of it at once.
const BATCHES: usize = 4;

/// The connection whose work request has this number.
#[inline]
fn find(conns: &[Slot], wr_id: u64) -> Option<&Rc<Conn>> {
    let slot = (wr_id >> SLOT_SHIFT) as usize & ((1 << SLOT_BITS) - 1);
    let slot = conns.get(slot)?;
    let same = slot.generation == (wr_id >> GENERATION_SHIFT) as u32 % GENERATIONS;
    slot.conn.as_ref().filter(|_| same)
}

/// What a progress has to do beside polling, in `Chain::due`.
pub(super) mod due {
    /// One is under way: handlers that poll must not overtake.
    pub const POLLING: u8 = 1;
    /// There may be something in `held` or in `grants`.
    pub const MORE: u8 = 2;
    /// Requests wait in the chain.
    pub const WAITING: u8 = 4;
    /// A message is being packed in a slot of the chain, which was closed meanwhile.
    pub const PACKING: u8 = 8;
}

impl RcIface {
    /// The queue pair whose message is being handled.
    pub(super) fn receiving(&self) -> u32 {
        // SAFETY: it is null, or in the batch that is being handled.
        match unsafe { self.receiving.get().as_ref() } {
            Some(completion) => completion.qp_num,
            None => NO_PAIR,
        }
    }

    /// Takes all completions off, so that those of queue pairs that are gone take no room.
    pub fn clear_queue(&self) {
        let mut room = Completions::<BATCH>::new();
        while let Ok(batch @ [_, ..]) = self.queue.poll(&mut room) {
            self.hold(batch);
        }
    }

    /// Keeps completions for the next progress.
    #[cold]
    pub fn hold(&self, completions: &[ibv_wc]) {
        self.held.borrow_mut().extend(completions);
        self.note_more();
    }

    /// There is something in `held` or in `grants`.
    fn note_more(&self) {
        self.chain.due.set(self.chain.due.get() | due::MORE);
    }

    fn conn_of(&self, wr_id: u64) -> Option<Rc<Conn>> {
        find(&self.conns.borrow(), wr_id).map(Rc::clone)
    }

    /// What a message for this queue pair said of credits.
    #[cold]
    pub fn heard_credits(face: &Face, pair: u32, said: u8) {
        let conn = face.by_pair.borrow().get(&pair).map(Rc::clone);
        let Some(conn) = conn else {
            return;
        };
        // The next message has something to say.
        face.chain.close(face);
        if conn.credits.heard(said) {
            face.grants.borrow_mut().push_back(conn);
            face.note_more();
        }
    }

    /// Sends the grants that peers asked for at once.
    #[cold]
    fn send_grants(face: &Face) {
        let waiting = face.grants.borrow().len();
        for _ in 0..waiting {
            let Some(conn) = face.grants.borrow_mut().pop_front() else {
                return;
            };
            if !conn.credits.owes() {
                continue;
            }
            if let Err(Status::NO_RESOURCE) = conn.ready(face) {
                face.grants.borrow_mut().push_back(conn);
                continue;
            }
            if conn.state() != State::Connected {
                continue;
            }
            let header = Header {
                id: GRANT_ONLY,
                credits: conn.credits.grant(),
            }
            .encode();
            if let Err(status) = conn.post_inline(face, &header, Signal::Sometimes) {
                RcIface::fail(face, &conn, status);
            }
        }
    }

    /// What has to be done as this request was sent, if nothing else has to be looked at.
    #[inline(always)]
    fn complete(face: &Face, id: u64) -> Option<Done> {
        // SAFETY: the interface has it until `forget`, and the user is not called before the last use.
        let conn = unsafe { face.last_sender.get().as_ref() }?;
        conn.complete(face, id)
    }

    /// A work request was sent, and all before it of its queue pair.
    fn sent(face: &Face, completion: &ibv_wc) {
        let id = completion.wr_id;
        // SAFETY: as above.
        let last = unsafe { face.last_sender.get().as_ref() };
        match last {
            Some(conn) if conn.tag() == id & TAG => {
                if conn.retire(face, id) && conn.has_work(id) {
                    RcIface::finish_all(face, id);
                }
            }
            _ => RcIface::sent_by_another(face, completion),
        }
    }

    /// As `sent`, of another connection than that of the completion before.
    #[inline(never)]
    fn sent_by_another(face: &Face, completion: &ibv_wc) {
        let id = completion.wr_id;
        match face.conn_of(id) {
            Some(conn) => {
                face.last_sender.set(Rc::as_ptr(&conn));
                drop(conn);
                match RcIface::complete(face, id) {
                    Some(work) => work.finish(face),
                    None => RcIface::sent(face, completion),
                }
            }
            None if datagrams::is_ours(id) => RcIface::sent_datagram(face, completion),
            None => {}
        }
    }

    /// Does what has to be done as requests up to this are complete.
    #[inline(never)]
    fn finish_all(face: &Face, id: u64) {
        let Some(conn) = face.conn_of(id) else {
            return;
        };
        while conn.has_work(id)
            && let Some(work) = conn.next_work()
        {
            work.finish(face);
        }
    }

    #[cold]
    fn handle_failed(face: &Face, completion: &ibv_wc) {
        let id = completion.wr_id;
        if id & 1 != 0 {
            if let Some(conn) = face.conn_of(id) {
                conn.complete_failed(face, id, completion.status);
                RcIface::note_failed(face, &conn);
            } else if datagrams::is_ours(id) {
                RcIface::sent_datagram(face, completion);
            }
            return;
        }
        if is_own(id) {
            RcIface::receive_own(face, completion);
            return;
        }
        if !face.rx.discard(id) {
            RcIface::receive_datagram(face, completion);
            return;
        }
        let conn = face.by_pair.borrow().get(&completion.qp_num).map(Rc::clone);
        if let Some(conn) = conn {
            RcIface::receive_failed(face, &conn, completion);
        }
    }

    /// A message for this connection could not be received.
    #[cold]
    pub(super) fn receive_failed(face: &Face, conn: &Rc<Conn>, completion: &ibv_wc) {
        if !matches!(conn.state(), State::New | State::Connected) {
            return;
        }
        ucs_diag!(
            "rc_verbs: a message for queue pair {} cannot be received: {}",
            completion.qp_num,
            face.domain.device.status_text(completion.status)
        );
        RcIface::fail(face, conn, Status::CONNECTION_RESET);
    }

    /// Handles completions that were just taken off, or keeps them: messages stay once a handler has asked for a pause.
    #[inline(always)]
    fn handle(face: &Face, completions: &[ibv_wc]) {
        let mut rest = completions.iter();
        while let Some(first) = rest.as_slice().first() {
            // Receives have even ids.
            if first.wr_id & 1 != 0
                && first.status == IBV_WC_SUCCESS
                && let Some(work) = RcIface::complete(face, first.wr_id)
            {
                rest.next();
                work.finish(face);
            } else {
                rest = RcIface::handle_other(face, rest);
            }
        }
    }

    /// Handles the messages at the beginning, or one completion of another kind. Returns the rest.
    #[inline(never)]
    fn handle_other<'a>(face: &Face, mut rest: Iter<'a, ibv_wc>) -> Iter<'a, ibv_wc> {
        let before = rest.as_slice().as_ptr();
        if log::enabled(log::Level::TraceData) {
            face.rx.deliver::<true>(face, &mut rest);
        } else {
            face.rx.deliver::<false>(face, &mut rest);
        }
        face.receiving.set(null());
        if rest.as_slice().as_ptr() == before
            && let Some(first) = rest.next()
        {
            RcIface::handle_one(face, first);
        }
        rest
    }

    /// Handles a completion that is not of a message which can be delivered.
    #[inline(never)]
    fn handle_one(face: &Face, completion: &ibv_wc) {
        let is_send = completion.wr_id & 1 != 0;
        if !is_send && face.base.internal.recv_paused.get() {
            face.hold(core::slice::from_ref(completion));
        } else if completion.status != IBV_WC_SUCCESS {
            RcIface::handle_failed(face, completion);
        } else if is_send {
            RcIface::sent(face, completion);
        } else if is_own(completion.wr_id) {
            RcIface::receive_own(face, completion);
        } else {
            RcIface::receive_datagram(face, completion);
            face.rx.top_up();
        }
    }

    /// Handles what was held back.
    #[cold]
    fn handle_held(face: &Face) -> u32 {
        let held = face.held.borrow().len();
        for _ in 0..held {
            let Some(completion) = face.held.borrow_mut().pop_front() else {
                break;
            };
            RcIface::handle(face, core::slice::from_ref(&completion));
        }
        held as u32
    }

    /// Handles the oldest completions. Returns their number.
    #[inline(always)]
    fn take_batch(face: &Face, room: &mut Completions<BATCH>) -> usize {
        let batch = match face.queue.poll(room) {
            Ok(batch) => batch,
            Err(e) => {
                RcIface::fail_all(face, "its completion queue cannot be polled", Some(e));
                &[]
            }
        };
        RcIface::handle(face, batch);
        batch.len()
    }

    /// Goes on after a full batch. Returns the number of completions.
    #[inline(never)]
    fn take_batches<const RECEIVES: bool>(face: &Face, room: &mut Completions<BATCH>) -> u32 {
        let mut count = 0;
        for _ in 1..BATCHES {
            if RECEIVES {
                face.rx.note_poll(true);
            }
            if face.base.internal.recv_paused.get() {
                break;
            }
            let taken = RcIface::take_batch(face, room);
            count += taken as u32;
            if taken < BATCH {
                face.rx.note_poll(false);
                break;
            }
        }
        count
    }

    /// Handles what has completed: not messages, unless it `RECEIVES`.
    #[inline]
    pub fn poll<const RECEIVES: bool>(face: &Face) -> u32 {
        if face.chain.due.get() != 0 {
            return RcIface::poll_due::<RECEIVES>(face);
        }
        RcIface::poll_queue::<RECEIVES>(face)
    }

    /// As `poll`, where something has to be done first.
    #[inline(never)]
    fn poll_due<const RECEIVES: bool>(face: &Face) -> u32 {
        if face.chain.due.get() & due::POLLING != 0 {
            return 0;
        }
        face.chain.flush(face);
        if face.chain.due.get() != 0 {
            return RcIface::poll_held::<RECEIVES>(face);
        }
        RcIface::poll_queue::<RECEIVES>(face)
    }

    /// As `poll`, where something may be kept. A pause that is asked for meanwhile holds for the queue too: what is kept goes
    /// before what is new.
    #[inline(never)]
    fn poll_held<const RECEIVES: bool>(face: &Face) -> u32 {
        face.chain
            .due
            .set(face.chain.due.get() | due::POLLING | due::MORE);
        face.base.internal.recv_paused.set(!RECEIVES);
        face.chain.begin_progress();
        let count = RcIface::handle_held(face);
        RcIface::take_queue::<RECEIVES>(face, count)
    }

    /// Handles what has completed, where nothing is kept.
    #[inline(always)]
    fn poll_queue<const RECEIVES: bool>(face: &Face) -> u32 {
        face.chain.due.set(face.chain.due.get() | due::POLLING);
        face.chain.begin_progress();
        face.base.internal.recv_paused.set(!RECEIVES);
        RcIface::take_queue::<RECEIVES>(face, 0)
    }

    /// Handles what has completed, beside `count` completions.
    #[inline(always)]
    fn take_queue<const RECEIVES: bool>(face: &Face, mut count: u32) -> u32 {
        let mut room = Completions::<BATCH>::new();
        let taken = RcIface::take_batch(face, &mut room);
        count += taken as u32;
        if taken == BATCH {
            count += RcIface::take_batches::<RECEIVES>(face, &mut room);
        } else if RECEIVES {
            face.rx.note_poll(false);
            if taken == 0 {
                // There may have been no memory for buffers.
                face.rx.top_up();
            }
        }
        // Acquire: what it was set for is seen then.
        if face.chain.due.get() != due::POLLING
            || face.attention.load(Ordering::Acquire)
            || !face.pending.is_empty()
        {
            return RcIface::end_poll(face, count);
        }
        face.chain.due.set(0);
        count
    }

    /// Does what is seldom there. Returns how many of `count` completions were handled, and how many pending requests.
    #[inline(never)]
    fn end_poll(face: &Face, mut count: u32) -> u32 {
        if face.chain.due.get() & due::MORE != 0 {
            RcIface::send_grants(face);
            let held = face.held.borrow().len();
            if held == 0 && face.grants.borrow().is_empty() {
                face.chain.due.set(face.chain.due.get() & !due::MORE);
            }
            // What was kept is not done.
            count = count.saturating_sub(held as u32);
        }
        if face.attention.load(Ordering::Acquire) {
            RcIface::attend(face);
        }
        if !face.pending.is_empty() {
            count += face.pending.dispatch();
        }
        // What handlers sent.
        face.chain.flush(face);
        face.chain.due.set(face.chain.due.get() & !due::POLLING);
        count
    }

    /// What no completion tells of: handshakes, events of the device, and endpoints that have lost requests which were refused
    /// when they had waited.
    #[cold]
    fn attend(face: &Face) {
        // What is set from now on is for the next poll.
        face.attention.store(false, Ordering::Relaxed);
        if let Some(connector) = face.connector.get() {
            RcIface::look(face, connector);
        }
        RcIface::fill_starved(face);
        for fault in face.faults.take() {
            match fault {
                Fault::Device => RcIface::fail_all(face, "the device has failed", None),
                Fault::Queue => RcIface::fail_all(face, "one of its queues has failed", None),
                Fault::Port => {
                    RcIface::fail_endpoints(face, "the port is down", Status::ENDPOINT_TIMEOUT);
                }
                Fault::Pair(number) => RcIface::fail_pair(face, number),
            }
        }
        while let Some(tag) = face.chain.next_refused() {
            if let Some(conn) = face.conn_of(tag) {
                RcIface::fail(face, &conn, Status::IO_ERROR);
            }
        }
    }

    /// No endpoint can be used any more.
    #[cold]
    fn fail_all(face: &Face, why: &str, e: Option<std::io::Error>) {
        if face.failure_told.replace(true) {
            return;
        }
        let e = e.map_or_else(String::new, |e| format!(": {e}"));
        RcIface::fail_endpoints(face, &format!("{why}{e}"), Status::IO_ERROR);
    }

    /// The endpoints that there are fail.
    #[cold]
    fn fail_endpoints(face: &Face, why: &str, status: Status) {
        ucs_error!(
            "rc_verbs: {}: {why}; its endpoints have failed",
            face.base.device
        );
        let all: Vec<Rc<Conn>> = face.by_pair.borrow().values().map(Rc::clone).collect();
        for conn in all {
            RcIface::fail(face, &conn, status);
        }
    }

    /// This queue pair has stopped.
    #[cold]
    fn fail_pair(face: &Face, number: u32) {
        let conn = face.by_pair.borrow().get(&number).map(Rc::clone);
        let connector = face.connector.get();
        match conn {
            Some(conn) => RcIface::fail(face, &conn, Status::CONNECTION_RESET),
            None if connector.is_some_and(|connector| connector.number() == number) => {
                RcIface::fail_all(face, "its connection queue pair has failed", None);
            }
            None => {}
        }
    }
}
