//! The cma endpoint: puts and gets at one process, checked here, done by the kernel.
#![forbid(unsafe_code)]

use super::iface::{Alarm, CmaIface, read_addresses};
use super::peer;
use super::queue::{EpQueue, Failure, Posting, Target, Transfer};
use crate::sys::vm_rw::CopyDirection;
use crate::sys::{pidfd, process};
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Posted};
use crate::uct::base::death_watch::{self, Watch};
use crate::uct::base::iface::IfaceBox;
use crate::uct::base::iov::Iov;
use crate::uct::base::params::EpParams;
use crate::uct::base::pending::PendingGroup;
use crate::uct::internal::EpochGuard;
use crate::{ucs_diag, ucs_error};
use std::rc::Rc;
use std::sync::Arc;

type Face = IfaceBox<CmaIface>;

pub struct CmaEp {
    pid: u32,
    /// When the process was started, if that can be told.
    start: Option<u64>,
    pub queue: Rc<EpQueue>,
    pub pending: Rc<PendingGroup>,
    /// Set by the watch when the peer's process has ended.
    dead: Arc<AtomicBool>,
    /// `None` for our own process, and when nobody wants to know.
    _watch: Option<Watch>,
}

impl CmaEp {
    /// `UNREACHABLE` when the peer's memory cannot be reached, `INVALID_ADDR` for bytes that are no
    /// address of cma.
    pub fn create(face: &Face, params: &EpParams) -> Result<CmaEp> {
        let peer = read_addresses(params.device, params.iface).inspect_err(|e| {
            if *e == Status::INVALID_PARAM {
                ucs_error!("cma: an endpoint needs the peer's device and interface address");
            }
        })?;
        let pid = peer::reach(peer)?;
        // The number alone may be a later process's by and by. Without /proc nobody can tell.
        let start = pidfd::start_time(pid);
        if start.is_none() && pidfd::start_time(process::pid()).is_some() {
            ucs_diag!("cma: process {} has just ended", pid);
            return Err(Status::UNREACHABLE);
        }
        let dead = Arc::new(AtomicBool::new(false));
        let wanted = face.base.params.err_handler.is_some() && pid != process::pid();
        let watch = match start {
            Some(start) if wanted => Some(Self::watch(face, pid, start, &dead)?),
            _ => None,
        };
        Ok(CmaEp {
            pid,
            start,
            queue: EpQueue::new(),
            pending: PendingGroup::new(),
            dead,
            _watch: watch,
        })
    }

    fn watch(face: &Face, pid: u32, start: u64, dead: &Arc<AtomicBool>) -> Result<Watch> {
        let (dead, alarm) = (Arc::clone(dead), Arc::clone(&face.alarm));
        let told = move || {
            // Release: pairs with the Acquire in `is_dead`.
            dead.store(true, Ordering::Release);
            Alarm::ring(&alarm);
        };
        death_watch::watch(pid, start, Box::new(told))
    }

    /// Whether the watch has seen the peer end.
    pub fn is_dead(&self) -> bool {
        // Acquire: pairs with the Release of the watch.
        self.dead.load(Ordering::Acquire)
    }

    /// Starts a put or get of a checked list; `guard` is of gets only.
    #[inline]
    pub fn post(
        &self,
        face: &Face,
        way: CopyDirection,
        iov: Iov<'_>,
        remote: u64,
        guard: Option<EpochGuard>,
        comp: Completion,
    ) -> Result<Posted> {
        if iov.entries().len() > face.max_iov {
            return Err(Status::INVALID_PARAM);
        }
        let total = iov.total()?;
        // A sum that wraps would come back to low addresses.
        if remote.checked_add(total as u64).is_none() {
            return Err(Status::INVALID_PARAM);
        }
        if let Some(why) = self.queue.broken() {
            return Err(why);
        }
        if total == 0 {
            return Ok(Posted::Done);
        }
        if face.queue.transfers() >= face.max_transfers {
            return Err(Status::NO_RESOURCE);
        }
        let target = Target {
            pid: self.pid,
            way,
            remote,
            total,
            guard,
        };
        if !self.queue.is_empty() {
            // Behind what is under way already, so that a fence has nothing to do.
            face.queue
                .add(&self.queue, Transfer::whole(target, iov, comp));
            return Ok(Posted::InProgress);
        }
        match Transfer::begin(target, iov, face.segment, comp) {
            Ok(Posting::Done) => Ok(Posted::Done),
            Ok(Posting::Rest(rest)) => {
                face.queue.add(&self.queue, rest);
                Ok(Posted::InProgress)
            }
            Err(Failure::TakenBack) => Err(Status::CANCELED),
            Err(Failure::Refused(e)) => Err(face.queue.fail(&self.queue, &target, &e)),
        }
    }

    /// Looks whether the peer lives; a failure is told by the next progress.
    pub fn check(&self, face: &Face) -> Result<Posted> {
        if let Some(why) = self.queue.broken() {
            return Err(why);
        }
        if pidfd::start_time(self.pid) != self.start {
            ucs_diag!("cma: process {} has ended", self.pid);
            face.queue.abort(&self.queue, Status::CONNECTION_RESET);
        }
        Ok(Posted::Done)
    }
}
