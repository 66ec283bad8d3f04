//! Polling: completions become deliveries and ends of operations, grants leave, pending requests are served.

use super::conn::{Conn, Signal, State};
use super::connector::Connector;
use super::iface::{Face, GENERATION_SHIFT, NO_PAIR, RcIface, SLOT_BITS, SLOT_SHIFT, Slot};
use crate::c::verbs::*;
use crate::sys::verbs::Completions;
use crate::ucs::Status;
use crate::ucs::sync::Ordering;
use crate::uct::ib::wire::{GRANT_ONLY, Header};
use crate::{ucs_diag, ucs_error};
use core::cell::RefCell;
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
    let same = u64::from(slot.generation) == wr_id >> GENERATION_SHIFT;
    slot.conn.as_ref().filter(|_| same)
}

/// As `find`, without a guard.
///
/// # Safety
/// The connections may not change while the answer is used.
#[inline(always)]
unsafe fn find_unguarded(conns: &RefCell<Vec<Slot>>, wr_id: u64) -> Option<&Rc<Conn>> {
    // SAFETY: by the caller's promise.
    find(unsafe { conns.try_borrow_unguarded() }.ok()?, wr_id)
}

impl RcIface {
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
        self.has_more.set(true);
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
            face.has_more.set(true);
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
            if conn.state.get() != State::Connected {
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

    /// A work request was sent, and all before it of its queue pair.
    #[inline(always)]
    fn sent(face: &Face, completion: &ibv_wc) {
        let (id, number) = (completion.wr_id, (completion.wr_id >> 1) as u16);
        // SAFETY: no connection comes or goes before the user is called.
        let Some(conn) = (unsafe { find_unguarded(&face.conns, id) }) else {
            RcIface::sent_by_none(face, completion);
            return;
        };
        if !conn.retire(face, number) || !conn.has_work(number) {
            return;
        }
        if conn.has_more_work(number) {
            RcIface::finish_all(Rc::clone(conn), number);
            return;
        }
        // SAFETY: it has work.
        let work = unsafe { conn.take_work() };
        // The user is called, and may do anything.
        work.finish(Ok(()));
    }

    /// Does what has to be done as requests up to `number` are complete.
    #[inline(never)]
    fn finish_all(conn: Rc<Conn>, number: u16) {
        while conn.has_work(number)
            && let Some(work) = conn.next_work()
        {
            work.finish(Ok(()));
        }
    }

    /// A work request of no connection was sent.
    #[cold]
    fn sent_by_none(face: &Face, completion: &ibv_wc) {
        if Connector::is_ours(completion.wr_id) {
            RcIface::sent_datagram(face, completion);
        }
    }

    #[cold]
    fn handle_failed(face: &Face, completion: &ibv_wc) {
        let id = completion.wr_id;
        if id & 1 != 0 {
            if let Some(conn) = face.conn_of(id) {
                conn.complete_failed(face, (id >> 1) as u16, completion.status);
                RcIface::note_failed(face, &conn);
            } else if Connector::is_ours(id) {
                RcIface::sent_datagram(face, completion);
            }
            return;
        }
        if !face.rx.discard(id) {
            RcIface::receive_datagram(face, completion);
            return;
        }
        let conn = face.by_pair.borrow().get(&completion.qp_num).map(Rc::clone);
        if let Some(conn) = conn {
            ucs_diag!(
                "rc_verbs: a message for queue pair {} cannot be received: {}",
                completion.qp_num,
                face.domain.device.status_text(completion.status)
            );
            RcIface::fail(face, &conn, Status::CONNECTION_RESET);
        }
    }

    /// Handles a completion that was just taken off, or keeps it: messages stay once a handler has asked for a pause.
    #[inline(always)]
    fn handle_or_hold(face: &Face, completion: &ibv_wc) {
        let is_send = completion.wr_id & 1 != 0;
        if !is_send && face.base.internal.recv_paused.get() {
            face.hold(core::slice::from_ref(completion));
            return;
        }
        if completion.status != IBV_WC_SUCCESS {
            RcIface::handle_failed(face, completion);
        } else if is_send {
            RcIface::sent(face, completion);
        } else {
            face.rx.deliver(face, completion);
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
            RcIface::handle_or_hold(face, &completion);
        }
        held as u32
    }

    /// Handles the oldest completions. Returns their number.
    #[inline(always)]
    fn take_batch<const RECEIVES: bool>(face: &Face, room: &mut Completions<BATCH>) -> usize {
        let batch = match face.queue.poll(room) {
            Ok(batch) => batch,
            Err(e) => {
                RcIface::fail_all(face, "its completion queue cannot be polled", Some(e));
                &[]
            }
        };
        for completion in batch {
            RcIface::handle_or_hold(face, completion);
        }
        if RECEIVES {
            face.rx.top_up(batch.len() == BATCH);
        }
        batch.len()
    }

    /// Goes on after a full batch. Returns the number of completions.
    #[inline(never)]
    fn take_batches<const RECEIVES: bool>(face: &Face, room: &mut Completions<BATCH>) -> u32 {
        let mut count = 0;
        for _ in 1..BATCHES {
            if face.base.internal.recv_paused.get() {
                break;
            }
            let taken = RcIface::take_batch::<RECEIVES>(face, room);
            count += taken as u32;
            if taken < BATCH {
                break;
            }
        }
        count
    }

    /// Handles what has completed: not messages, unless it `RECEIVES`.
    #[inline]
    pub fn poll<const RECEIVES: bool>(face: &Face) -> u32 {
        if face.polling.replace(true) {
            return 0;
        }
        face.chain.begin_progress(face);
        let mut count = 0;
        face.base.internal.recv_paused.set(!RECEIVES);
        if face.has_more.get() {
            count += RcIface::handle_held(face);
        }
        let mut room = Completions::<BATCH>::new();
        let taken = RcIface::take_batch::<RECEIVES>(face, &mut room);
        count += taken as u32;
        if taken == BATCH {
            count += RcIface::take_batches::<RECEIVES>(face, &mut room);
        }
        face.receiving.set(NO_PAIR);
        if face.has_more.get() {
            RcIface::do_more(face);
            // What was kept is not done.
            count = count.saturating_sub(face.held.borrow().len() as u32);
        }
        // Acquire: what it was set for is seen then.
        if face.attention.load(Ordering::Acquire) {
            RcIface::attend(face);
        }
        if !face.pending.is_empty() {
            count += face.pending.dispatch();
        }
        // What handlers sent.
        face.chain.flush(face);
        face.polling.set(false);
        count
    }

    /// Grants that are owed.
    #[cold]
    fn do_more(face: &Face) {
        RcIface::send_grants(face);
        let has_grants = !face.grants.borrow().is_empty();
        face.has_more
            .set(has_grants || !face.held.borrow().is_empty());
    }

    /// What no completion tells of: handshakes, a device that has failed, and endpoints that have lost requests which were
    /// refused when they had waited.
    #[cold]
    fn attend(face: &Face) {
        // What is set from now on is for the next poll.
        face.attention.store(false, Ordering::Relaxed);
        if let Some(connector) = face.connector.get() {
            RcIface::look(face, connector);
        }
        if face.domain.watch.has_failed() {
            RcIface::fail_all(face, "the device has failed", None);
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
        ucs_error!(
            "rc_verbs: {}: {why}{e}; its endpoints have failed",
            face.base.device
        );
        let all: Vec<Rc<Conn>> = face.by_pair.borrow().values().map(Rc::clone).collect();
        for conn in all {
            RcIface::fail(face, &conn, Status::IO_ERROR);
        }
    }
}
