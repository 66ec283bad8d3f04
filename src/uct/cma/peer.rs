//! Whether the kernel lets us at a peer's memory: asked by reading a word of it that the peer told over the local channel.
//!
//! Namespaces, users, Yama and seccomp all have a say, and differ from process to process, so nothing but the attempt
//! tells. Which process it is the kernel says, never an address. A refusal is said with its likely reason, and other
//! transports are used.

use crate::sys::vm_rw;
use crate::ucs::{Result, Status};
use crate::uct::local::{self, Membership, ProcessName};
use crate::{ucs_debug, ucs_diag};

/// Lets peers at the memory of this process, as far as the process itself can, and tells them where it is.
pub fn open() -> Result<Membership> {
    if vm_rw::ptrace_scope() == 1
        && let Err(e) = vm_rw::allow_any_tracer()
    {
        ucs_diag!("cma: peers may be refused, since kernel.yama.ptrace_scope is 1 and {e}");
    }
    local::join()
}

/// The number of a process whose memory is within reach; `UNREACHABLE`, with the reason in the log, when it is not.
pub fn reach(name: ProcessName) -> Result<u32> {
    let known = local::process(name).map_err(|e| {
        ucs_diag!("cma: a process of this host cannot be reached: {e}");
        Status::UNREACHABLE
    })?;
    let pid = known.pid;
    if pid == 0 {
        ucs_diag!("cma: a process in another pid namespace cannot be reached");
        return Err(Status::UNREACHABLE);
    }
    match vm_rw::read_word(pid, known.probe) {
        Ok(word) if word == known.word => {
            ucs_debug!("cma: memory of process {pid} is within reach");
            return Ok(pid);
        }
        Ok(_) => ucs_diag!("cma: process {pid} is another one by now"),
        Err(e) if e.raw_os_error() == Some(libc::EPERM) => {
            ucs_diag!(
                "cma: memory of process {pid} may not be reached ({}); other transports are used",
                refusal()
            );
        }
        Err(e) => ucs_diag!("cma: memory of process {pid} cannot be read: {e}"),
    }
    Err(Status::UNREACHABLE)
}

/// The likely reason of EPERM.
fn refusal() -> &'static str {
    match vm_rw::ptrace_scope() {
        0 => "another user, another user namespace, or a security filter",
        1 => "kernel.yama.ptrace_scope is 1 and the peer gave no permission, or another user",
        2 => "kernel.yama.ptrace_scope is 2: it takes CAP_SYS_PTRACE",
        _ => "kernel.yama.ptrace_scope forbids it",
    }
}

/// Whether this machine lets a process at other processes' memory at all.
pub fn available() -> bool {
    // A security filter may refuse either of the two calls, for whatever process.
    if let Err(e) = vm_rw::try_on_ourselves() {
        ucs_debug!("cma: not available, reaching our own memory failed: {e}");
        return false;
    }
    match vm_rw::ptrace_scope() {
        0 | 1 => true,
        2 if vm_rw::may_trace() => true,
        scope => {
            ucs_debug!("cma: not available, kernel.yama.ptrace_scope is {scope}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_within_reach_and_a_unauth_peer_is_not() {
        let me = open().unwrap();
        assert_eq!(reach(me.name), Ok(std::process::id()));
        let nobody = ProcessName {
            id: me.name.id ^ 1,
            ..me.name
        };
        assert_eq!(reach(nobody), Err(Status::UNREACHABLE));
    }
}
