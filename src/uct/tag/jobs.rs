//! What the engine does not do at once: messages that wait for room, and callbacks that belong into
//! progress. As long as there is any, the worker calls the engine; else it does not know it.

use super::blocks::Blocks;
use super::rndv::Offered;
use super::{Engine, wire};
use crate::c::*;
use crate::ucs::callbackq::Repeat;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Pack, Posted};
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::ffi::{c_uint, c_void};
use std::collections::VecDeque;
use std::rc::Rc;

/// Messages sent to one endpoint in one round.
const PER_ROUND: usize = 64;

/// Answers that wait for one endpoint. Honest peers need two for each posted receive; one that asks and
/// never reads costs no more memory than this.
const MAX_WAITING: usize = 1 << 14;

/// The rest of a fragmented message.
pub struct Fragments {
    pub key: u64,
    pub blocks: Blocks,
    pub total: usize,
    pub at: usize,
    pub comp: Completion,
}

/// Something to send to an endpoint.
pub enum Job {
    Say {
        id: u8,
        bytes: Vec<u8>,
    },
    Fragments(Fragments),
    /// The data of the offer with this key, as far as they are wanted.
    Data(u64),
}

/// Something to do in the next progress.
pub enum Later {
    /// What was sent through this endpoint is done.
    Complete(uct_ep_h, Completion, Result<()>),
    /// The end of a receive: context, tag, immediate, length.
    Finish(*mut uct_tag_context_t, u64, u64, usize, Result<()>),
    /// A fragmented message whose receive was cancelled is matched again.
    Again(u64),
    /// The same with a rendezvous.
    OfferAgain(Vec<u8>),
    /// An endpoint of our own goes.
    Drop(usize),
}

impl Engine {
    /// Sends one message that `fill` writes.
    pub(super) fn send<F: FnMut(*mut u8) -> usize>(
        &self,
        ep: uct_ep_h,
        id: u8,
        mut fill: F,
    ) -> Result<usize> {
        unsafe extern "C" fn call<F: FnMut(*mut u8) -> usize>(
            dest: *mut c_void,
            arg: *mut c_void,
        ) -> usize {
            // SAFETY: the closure below, alive during the call.
            let fill = unsafe { &mut *arg.cast::<F>() };
            fill(dest.cast())
        }
        let pack = Pack {
            cb: call::<F>,
            arg: core::ptr::from_mut(&mut fill).cast(),
        };
        self.am_bcopy(ep, id, pack, 0)
    }

    fn send_bytes(&self, ep: uct_ep_h, id: u8, bytes: &[u8]) -> Result<()> {
        self.send(ep, id, |dest| {
            // SAFETY: what we say is shorter than the transport's limit, which was checked at open.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), dest, bytes.len()) };
            bytes.len()
        })?;
        Ok(())
    }

    /// Sends `bytes` now, or as soon as there is room.
    pub(super) fn send_control(&self, ep: uct_ep_h, id: u8, bytes: Vec<u8>) {
        let waiting = self.jobs.borrow().get(&(ep as usize)).map(VecDeque::len);
        match waiting {
            None => (),
            Some(waiting) if waiting >= MAX_WAITING => {
                ucs_debug!("tag matching: a peer does not read its answers; one is dropped");
                return;
            }
            Some(_) => return self.add_job(ep, Job::Say { id, bytes }),
        }
        match self.send_bytes(ep, id, &bytes) {
            Ok(()) => (),
            Err(Status::NO_RESOURCE) => self.add_job(ep, Job::Say { id, bytes }),
            Err(e) => ucs_diag!("tag matching: an answer could not be sent: {e}"),
        }
    }

    pub(super) fn say_number(&self, ep: uct_ep_h, id: u8, number: u64) {
        self.send_control(ep, id, number.to_le_bytes().to_vec());
    }

    /// Sends a message longer than the transport's: the first fragment now, the others as there is room.
    pub(super) fn send_fragments(
        &self,
        ep: uct_ep_h,
        tag: u64,
        imm: u64,
        blocks: Blocks,
        total: usize,
        comp: Completion,
    ) -> Result<Posted> {
        let key = self.keys.next();
        let head: [u8; wire::FIRST_HEAD] = wire::numbers([key, tag, imm, total as u64]);
        let n = (self.limits.bcopy - wire::FIRST_HEAD).min(total);
        self.send(ep, wire::FIRST, |dest| {
            // SAFETY: there is room for the numbers and `n` bytes.
            unsafe { dest.cast::<[u8; wire::FIRST_HEAD]>().write(head) };
            // SAFETY: as above; the buffers are the user's until completion.
            unsafe { blocks.read(0, n, dest.add(wire::FIRST_HEAD)) };
            wire::FIRST_HEAD + n
        })?;
        let mut rest = Fragments {
            key,
            blocks,
            total,
            at: n,
            comp,
        };
        if !self.waits(ep) {
            match self.push_fragments(ep, &mut rest) {
                Ok(true) => return Ok(Posted::Done),
                Ok(false) => (),
                Err(e) => return Err(e),
            }
        }
        self.add_job(ep, Job::Fragments(rest));
        Ok(Posted::InProgress)
    }

    /// Sends as many fragments as there is room for; whether it was all.
    fn push_fragments(&self, ep: uct_ep_h, p: &mut Fragments) -> Result<bool> {
        for _ in 0..PER_ROUND {
            if p.at == p.total {
                return Ok(true);
            }
            match self.send_fragment(ep, wire::NEXT, p.key, &p.blocks, p.at, p.total) {
                Ok(n) => p.at += n,
                Err(Status::NO_RESOURCE) => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(p.at == p.total)
    }

    fn send_fragment(
        &self,
        ep: uct_ep_h,
        id: u8,
        key: u64,
        blocks: &Blocks,
        at: usize,
        total: usize,
    ) -> Result<usize> {
        let n = (self.limits.bcopy - wire::NEXT_HEAD).min(total - at);
        let head: [u8; wire::NEXT_HEAD] = wire::numbers([key, at as u64]);
        self.send(ep, id, |dest| {
            // SAFETY: there is room for the numbers and `n` bytes.
            unsafe { dest.cast::<[u8; wire::NEXT_HEAD]>().write(head) };
            // SAFETY: as above; the buffers are the user's until completion.
            unsafe { blocks.read(at, n, dest.add(wire::NEXT_HEAD)) };
            wire::NEXT_HEAD + n
        })?;
        Ok(n)
    }

    /// Sends as much of an offer as is wanted and there is room for; whether that was all.
    fn push_data(&self, ep: uct_ep_h, offer: &Rc<Offered>) -> Result<bool> {
        for _ in 0..PER_ROUND {
            let Some((receive, at)) = offer.wanted.get().filter(|(_, at)| *at < offer.total) else {
                offer.wanted.set(None);
                return Ok(true);
            };
            match self.send_fragment(ep, wire::FRAGMENT, receive, &offer.blocks, at, offer.total) {
                Ok(n) => offer.wanted.set(Some((receive, at + n))),
                Err(Status::NO_RESOURCE) => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(false)
    }

    /// Whether something waits to be sent to `ep`.
    pub(super) fn waits(&self, ep: uct_ep_h) -> bool {
        self.jobs.borrow().contains_key(&(ep as usize))
    }

    pub(super) fn add_job(&self, ep: uct_ep_h, job: Job) {
        self.jobs
            .borrow_mut()
            .entry(ep as usize)
            .or_default()
            .push_back(job);
        self.wake();
    }

    pub(super) fn add_later(&self, later: Later) {
        self.later.borrow_mut().push_back(later);
        self.wake();
    }

    /// Whether the next progress has something to do.
    pub fn has_work(&self) -> bool {
        self.pump.get().is_some()
    }

    /// Whether messages to `ep` (any for null) wait for room.
    pub fn is_sending(&self, ep: uct_ep_h) -> bool {
        if ep.is_null() {
            !self.jobs.borrow().is_empty()
        } else {
            self.waits(ep)
        }
    }

    /// From now on the worker's progress calls `pump`.
    fn wake(&self) {
        if self.pump.get().is_some() {
            return;
        }
        let arg = core::ptr::from_ref(self).cast_mut().cast();
        let queue = self.base().worker().queue();
        // SAFETY: on the worker's thread; the engine takes it off before it goes.
        match unsafe { queue.add(pump, arg, Repeat::Always) } {
            Ok(id) => self.pump.set(Some(id)),
            Err(e) => ucs_error!("tag matching: progress cannot be enabled: {e}"),
        }
    }

    /// The worker's progress no longer calls us.
    pub(super) fn rest(&self) {
        if let Some(id) = self.pump.take() {
            // SAFETY: on the worker's thread, an id of this queue.
            let removed = unsafe { self.base().worker().queue().remove(id) };
            debug_assert!(removed.is_ok());
        }
    }

    /// One round: what is due, then what waits for room.
    pub fn run(&self) -> u32 {
        if self.pumping.replace(true) {
            return 0;
        }
        let mut count = self.run_later();
        let eps: Vec<usize> = self.jobs.borrow().keys().copied().collect();
        for ep in eps {
            count += self.run_jobs(ep);
        }
        if self.later.borrow().is_empty() && self.jobs.borrow().is_empty() {
            self.rest();
        }
        self.pumping.set(false);
        count
    }

    pub(super) fn run_later(&self) -> u32 {
        let mut count = 0;
        let due = self.later.borrow().len();
        for _ in 0..due {
            let Some(next) = self.later.borrow_mut().pop_front() else {
                break;
            };
            count += 1;
            match next {
                Later::Complete(_, comp, status) => comp.complete(status),
                Later::Finish(ctx, tag, imm, len, status) => {
                    self.finish(ctx, tag, imm, len, status)
                }
                Later::Again(key) => self.match_again(key),
                Later::OfferAgain(body) => {
                    self.offered(body);
                }
                // SAFETY: an endpoint of our own that is in no list any more.
                Later::Drop(ep) => unsafe { (self.ways.disconnect)(ep as uct_ep_h) },
            }
        }
        count
    }

    fn run_jobs(&self, ep: usize) -> u32 {
        let mut count = 0;
        loop {
            // The entry stays while its last job is tried: what comes meanwhile queues up behind.
            let next = self.jobs.borrow_mut().get_mut(&ep).map(|q| q.pop_front());
            let job = match next {
                None => return count,
                Some(None) => {
                    self.jobs.borrow_mut().remove(&ep);
                    return count;
                }
                Some(Some(job)) => job,
            };
            match self.try_job(ep as uct_ep_h, job) {
                None => count += 1,
                Some(job) => {
                    let mut jobs = self.jobs.borrow_mut();
                    if let Some(queue) = jobs.get_mut(&ep) {
                        queue.push_front(job);
                    } else {
                        drop(jobs);
                        self.abandon(ep as uct_ep_h, job, Status::CANCELED);
                    }
                    return count;
                }
            }
        }
    }

    /// Sends what there is room for; the job comes back when that is not all.
    fn try_job(&self, ep: uct_ep_h, mut job: Job) -> Option<Job> {
        let result = match &mut job {
            Job::Say { id, bytes } => match self.send_bytes(ep, *id, bytes) {
                Ok(()) => Ok(true),
                Err(Status::NO_RESOURCE) => Ok(false),
                Err(e) => Err(e),
            },
            Job::Fragments(fragments) => self.push_fragments(ep, fragments),
            Job::Data(key) => {
                let offer = self.offers.borrow().get(key).cloned();
                match offer {
                    Some(offer) => self.push_data(ep, &offer),
                    None => Ok(true),
                }
            }
        };
        match result {
            Ok(false) => return Some(job),
            Ok(true) => {
                if let Job::Fragments(fragments) = job {
                    fragments.comp.complete(Ok(()));
                }
            }
            Err(e) => self.abandon(ep, job, e),
        }
        None
    }

    /// The job will not be done.
    fn abandon(&self, ep: uct_ep_h, job: Job, status: Status) {
        match job {
            Job::Say { .. } => ucs_diag!("tag matching: an answer could not be sent: {status}"),
            Job::Fragments(p) => self.add_later(Later::Complete(ep, p.comp, Err(status))),
            Job::Data(key) => {
                if let Some(comp) = self.close_offer(key) {
                    self.add_later(Later::Complete(ep, comp, Err(status)));
                }
            }
        }
    }

    /// An endpoint of the user's failed: what was sent through it will not arrive, which is told in progress.
    pub fn ep_failed(&self, ep: uct_ep_h, status: Status) {
        for comp in self.take_completions(ep) {
            self.add_later(Later::Complete(ep, comp, Err(status)));
        }
    }

    /// An endpoint of the user's is being destroyed: completions are told now, since the user's memory may
    /// go next.
    pub fn ep_closing(&self, ep: uct_ep_h) {
        let told: Vec<u64> = {
            let offers = self.offers.borrow();
            let mine = offers.values().filter(|o| o.ep == ep);
            mine.filter_map(|o| o.wanted.get())
                .map(|(r, _)| r)
                .collect()
        };
        for receive in told {
            // What does not get through is not needed: the peer has to live with our end anyway.
            let _ = self.send_bytes(ep, wire::GONE, &receive.to_le_bytes());
        }
        let mut due = Vec::new();
        self.later.borrow_mut().retain(|later| match later {
            Later::Complete(whose, comp, status) if *whose == ep => {
                due.push((*comp, *status));
                false
            }
            _ => true,
        });
        let cancelled = self.take_completions(ep).into_iter();
        due.extend(cancelled.map(|comp| (comp, Err(Status::CANCELED))));
        for (comp, status) in due {
            comp.complete(status);
        }
    }

    /// Takes everything that was to go through `ep` out of all lists.
    fn take_completions(&self, ep: uct_ep_h) -> Vec<Completion> {
        let mut comps = Vec::new();
        let jobs = self.jobs.borrow_mut().remove(&(ep as usize));
        for job in jobs.unwrap_or_default() {
            if let Job::Fragments(p) = job {
                comps.push(p.comp);
            }
        }
        let keys: Vec<u64> = {
            let offers = self.offers.borrow();
            let mine = offers.iter().filter(|(_, o)| o.ep == ep);
            mine.map(|(key, _)| *key).collect()
        };
        comps.extend(keys.into_iter().filter_map(|key| self.close_offer(key)));
        comps
    }
}

/// What the worker's queue calls.
unsafe extern "C" fn pump(arg: *mut c_void) -> c_uint {
    // SAFETY: registered by the engine with itself, removed before it goes.
    unsafe { &*arg.cast::<Engine>() }.run()
}
