//! `TimerFd`: an absolute CLOCK_MONOTONIC deadline as a descriptor.
#![forbid(unsafe_code)]

use super::safe_calls;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const NS: u64 = 1_000_000_000;

#[derive(Debug)]
pub struct TimerFd {
    fd: OwnedFd,
}

impl TimerFd {
    pub fn new() -> io::Result<TimerFd> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        let fd = safe_calls::timerfd(libc::CLOCK_MONOTONIC, flags)?;
        Ok(TimerFd { fd })
    }

    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Readable once `clock::monotonic_ns()` passes `deadline_ns`; `None` disarms. A deadline in
    /// the past fires at once.
    pub fn arm(&self, deadline_ns: Option<u64>) -> io::Result<()> {
        // An all-zero value would disarm, so a deadline of zero becomes one nanosecond.
        let ns = deadline_ns.map_or(0, |ns| ns.max(1));
        let zero = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let spec = libc::itimerspec {
            it_interval: zero,
            it_value: libc::timespec {
                tv_sec: (ns / NS) as _,
                tv_nsec: (ns % NS) as libc::c_long,
            },
        };
        safe_calls::timerfd_settime(self.raw(), libc::TFD_TIMER_ABSTIME, &spec)
    }

    /// Makes the descriptor unreadable until the next deadline.
    pub fn clear(&self) {
        // One that was not due has nothing to read.
        let _ = safe_calls::read(self.raw(), &mut [0; 8]);
    }
}
