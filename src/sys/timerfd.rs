//! `TimerFd`: an absolute CLOCK_MONOTONIC deadline as a descriptor.

use super::retry;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const NS: u64 = 1_000_000_000;

#[derive(Debug)]
pub struct TimerFd {
    fd: OwnedFd,
}

impl TimerFd {
    pub fn new() -> io::Result<TimerFd> {
        // SAFETY: takes no pointer; the result is checked before it is owned.
        let fd = unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_CLOEXEC | libc::TFD_NONBLOCK,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: timerfd_create just made this descriptor and nobody else holds it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
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
        // SAFETY: `spec` lives through the call; the old value is not asked for.
        let rc = unsafe {
            libc::timerfd_settime(
                self.raw(),
                libc::TFD_TIMER_ABSTIME,
                &spec,
                core::ptr::null_mut(),
            )
        };
        match rc {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Makes the descriptor unreadable until the next deadline.
    pub fn clear(&self) {
        let mut count = [0u8; 8];
        // One that was not due has nothing to read.
        let _ = retry(|| {
            // SAFETY: eight writable bytes of a local, as a timerfd asks for.
            unsafe { libc::read(self.raw(), count.as_mut_ptr().cast(), count.len()) }
        });
    }
}
