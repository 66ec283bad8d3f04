//! Whether the kernel lets us at a peer's memory: asked by reading the word that its address names.
//!
//! Namespaces, users, Yama and seccomp all have a say, and differ from process to process, so nothing
//! but the attempt tells. A refusal is said with its likely reason, and other transports are used.

use super::wire::Address;
use crate::sys::{process, random, vm_rw};
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_diag};
use std::sync::OnceLock;

/// The word that peers read; it never moves and is the same in a forked child, whose process id is not.
fn word() -> Result<&'static u64> {
    static WORD: OnceLock<u64> = OnceLock::new();
    if WORD.get().is_none() {
        // Losing a race is harmless: the first word stays.
        let _ = WORD.set(random::random_u64()?);
    }
    WORD.get().ok_or(Status::IO_ERROR)
}

/// The address of this process. Peers may probe it from now on, so permission is given here.
pub fn own_address() -> Result<Address> {
    let pid = process::pid();
    if vm_rw::ptrace_scope() == 1
        && let Err(e) = vm_rw::allow_any_tracer()
    {
        ucs_diag!("cma: peers may be refused, since kernel.yama.ptrace_scope is 1 and {e}");
    }
    let word = word()?;
    Ok(Address {
        pid,
        probe: core::ptr::from_ref(word) as u64,
        word: *word as u32,
    })
}

/// Reads the peer's word; `UNREACHABLE`, with the reason in the log, when it cannot be read or is not
/// what the address says.
pub fn probe(address: &Address) -> Result<()> {
    let pid = address.pid;
    match vm_rw::read_word(pid, address.probe) {
        Ok(word) if word as u32 == address.word => {
            ucs_debug!("cma: memory of process {pid} is within reach");
            return Ok(());
        }
        Ok(_) => ucs_diag!("cma: process {pid} is another one than its address says"),
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
    fn this_process_is_within_reach_and_a_liar_is_not() {
        let me = own_address().unwrap();
        assert_eq!(probe(&me), Ok(()));
        let wrong = Address {
            word: me.word ^ 1,
            ..me
        };
        assert_eq!(probe(&wrong), Err(Status::UNREACHABLE));
        let nowhere = Address { probe: 8, ..me };
        assert_eq!(probe(&nowhere), Err(Status::UNREACHABLE));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let gone = Address {
            pid: child.id(),
            ..me
        };
        assert_eq!(probe(&gone), Err(Status::UNREACHABLE));
    }
}
