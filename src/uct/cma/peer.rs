//! Whether the kernel lets us at a peer's memory: asked by reading a word of it that the peer told over the local channel.
//!
//! Namespaces, users, Yama and seccomp all have a say, and differ from process to process, so nothing but the attempt
//! tells. Which process it is the kernel says, never an address. A refusal is said with its likely reason, and other
//! transports are used.
#![forbid(unsafe_code)]

use crate::sys::vm_rw;
use crate::ucs::{Failure, Result, Status};
use crate::uct::api::Unusable;
use crate::uct::local::{self, Membership, ProcessName};
use crate::{ucs_debug, ucs_diag};

/// Lets peers at the memory of this process, as far as the process itself can, and tells them where it is.
pub fn open() -> core::result::Result<Membership, Failure> {
    if vm_rw::ptrace_scope() == 1
        && let Err(e) = vm_rw::allow_any_tracer()
    {
        ucs_diag!("cma: peers may be refused, since kernel.yama.ptrace_scope is 1 and {e}");
    }
    local::join()
}

/// The number of a process whose memory is within reach; `UNREACHABLE`, with the reason in the log, when it is not.
pub fn reach(name: ProcessName) -> Result<u32> {
    let pid = try_reach(name).map_err(|why| {
        ucs_diag!("cma: {why}; other transports are used");
        Status::UNREACHABLE
    })?;
    ucs_debug!("cma: memory of process {pid} is within reach");
    Ok(pid)
}

/// As `reach`, with the reason instead of a log line.
pub fn try_reach(name: ProcessName) -> core::result::Result<u32, String> {
    let known = local::process(name)
        .map_err(|e| format!("a process of this host cannot be reached: {e}"))?;
    let pid = known.pid;
    if pid == 0 {
        return Err("a process in another pid namespace cannot be reached".to_owned());
    }
    match vm_rw::read_word(pid, known.probe) {
        Ok(word) if word == known.word => Ok(pid),
        Ok(_) => Err(format!("process {pid} is another one by now")),
        Err(e) if e.raw_os_error() == Some(libc::EPERM) => Err(format!(
            "memory of process {pid} cannot be read: {e}: {}",
            refusal()
        )),
        Err(e) => Err(format!("memory of process {pid} cannot be read: {e}")),
    }
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

/// An error if this machine lets no process access other processes' memory.
pub fn available() -> core::result::Result<(), Unusable> {
    // A security filter may refuse either of the two calls, for whatever process.
    vm_rw::try_on_ourselves().map_err(|e| {
        Unusable(format!(
            "process_vm_readv or process_vm_writev of this process itself failed: {e}"
        ))
    })?;
    match vm_rw::ptrace_scope() {
        0 | 1 => Ok(()),
        2 if vm_rw::may_trace() => Ok(()),
        2 => Err(Unusable(
            "kernel.yama.ptrace_scope is 2 and this process has no CAP_SYS_PTRACE".to_owned(),
        )),
        scope => Err(Unusable(format!("kernel.yama.ptrace_scope is {scope}"))),
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
