//! Other processes: whether one lives, its start time, and a descriptor that reports its end.
#![forbid(unsafe_code)]

use crate::sys::file::read_kernel_text;
use crate::sys::fork::PerProcess;
use crate::sys::safe_calls;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// A descriptor that becomes readable when the process ends. `ESRCH` when there is none, `ENOSYS`
/// before Linux 5.3.
pub fn open(pid: u32) -> io::Result<OwnedFd> {
    // Close-on-exec by itself.
    safe_calls::pidfd_open(pid)
}

/// Whether the process behind the descriptor has ended.
pub fn ended(fd: &OwnedFd) -> bool {
    let mut fds = [super::poll::PollFd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }];
    matches!(super::poll::poll(&mut fds, 0), Ok(n) if n > 0)
}

/// When the process was started, in ticks since boot; tells a process from a later one of the same
/// number. `None` when there is no such process or it has ended and waits for its parent.
pub fn start_time(pid: u32) -> Option<u64> {
    // That of the first thread: qemu-user makes up /proc/PID/stat for the process itself, with another time of start.
    let stat = read_kernel_text(format!("/proc/{pid}/task/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may hold anything.
    let after_name = stat.get(stat.rfind(')')? + 1..)?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    const STATE: usize = 3;
    const START_TIME: usize = 22;
    fields.nth(START_TIME - STATE - 1)?.parse().ok()
}

/// When this process started.
pub fn own_start_time() -> Option<u64> {
    static START: PerProcess<Option<u64>> = PerProcess::new(|| start_time(super::process::pid()));
    *START.get()
}

/// Whether the process that started at `start_time` still runs.
pub fn alive(pid: u32, start: u64) -> bool {
    start_time(pid) == Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_seen_alive_and_then_ended() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = child.id();
        let start = start_time(pid).unwrap();
        let fd = open(pid).unwrap();
        assert!(alive(pid, start) && !alive(pid, start + 1) && !ended(&fd));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!alive(pid, start) && ended(&fd));
        assert_eq!(open(pid).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }
}
