//! Limits of the user and settings of the kernel, in so far as transports depend on them.
#![forbid(unsafe_code)]

use super::{Line, State};
use crate::library::system;
use std::fs::read_to_string;
use std::path::Path;

const EMFILE: &str = "Too many open files";
const MORE_FILES: &str = "ulimit -n (or LimitNOFILE= of the service)";
const SCOPE_ONE: &str = "sysctl kernel.yama.ptrace_scope=1";
pub const INTERFACE_UP: &str = "ip link set NAME up, with an address";
const SHMMAX: &str = "/proc/sys/kernel/shmmax";
const PTRACE_SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";
/// The number that the kernel gives its first user namespace (PROC_USER_INIT_INO).
const FIRST_USER_NAMESPACE: &str = "user:[4026531837]";

fn number(path: &str) -> Option<u64> {
    read_to_string(path).ok()?.trim().parse().ok()
}

/// A line of /proc/self/status.
fn status(name: &str) -> Option<String> {
    let text = read_to_string("/proc/self/status").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.map(|value| value.trim().to_owned())
}

/// Whether system calls of this process pass a filter.
fn is_filtered() -> bool {
    status("Seccomp").is_some_and(|mode| mode == "2")
}

/// Why there are no RDMA transports, if that is so.
pub fn no_rdma() -> Option<String> {
    let devices = std::fs::read_dir("/sys/class/infiniband").map_or(0, Iterator::count);
    if devices > 0 {
        return None;
    }
    let module = Path::new("/sys/module/ib_uverbs").exists();
    Some(match module {
        true => "no RDMA device (/sys/class/infiniband is empty)".to_owned(),
        false => "no RDMA device, and the kernel's module ib_uverbs is not loaded".to_owned(),
    })
}

/// How many bytes of System V memory the library asked for, of its log line.
fn system_v_request(why: &str) -> Option<u64> {
    let text = why.split_once("cannot reserve ")?.1;
    let (bytes, rest) = text.split_once(" bytes")?;
    let bytes = bytes.parse().ok()?;
    rest.starts_with(" of System V").then_some(bytes)
}

/// What is behind the reason of the library, where the system tells more than the failed call.
pub fn cause(why: &str, log: &[String]) -> Option<String> {
    if out_of_descriptors(log) {
        let (soft, _) = system::limit(system::Limit::OpenFiles)?;
        return Some(format!("only {soft} files may be open"));
    }
    if let Some(wanted) = system_v_request(why)
        && let Some(max) = number(SHMMAX).filter(|max| *max < wanted)
    {
        return Some(format!(
            "kernel.shmmax is {max}, an interface takes {wanted}"
        ));
    }
    if why.contains("process_vm_") && is_filtered() {
        return Some("a seccomp filter refuses reading of other processes' memory".to_owned());
    }
    None
}

/// What to change.
pub fn remedy(why: &str, log: &[String]) -> Option<String> {
    if out_of_descriptors(log) {
        return Some(MORE_FILES.to_owned());
    }
    if let Some(wanted) = system_v_request(why) {
        return Some(format!(
            "sysctl kernel.shmmax={wanted} or more, or UCX_TLS without sysv"
        ));
    }
    if why.contains("ptrace_scope") {
        return Some(SCOPE_ONE.to_owned());
    }
    if why.contains("process_vm_") && is_filtered() {
        return Some(
            "allow process_vm_readv and process_vm_writev in the container's seccomp profile, or give it CAP_SYS_PTRACE".to_owned(),
        );
    }
    if why.contains("no network interface is up") {
        return Some(INTERFACE_UP.to_owned());
    }
    why.contains("ib_uverbs")
        .then(|| "modprobe ib_uverbs, where there is a device".to_owned())
}

fn out_of_descriptors(log: &[String]) -> bool {
    log.iter().any(|line| line.contains(EMFILE))
}

fn shown(limit: u64) -> String {
    match limit {
        // The kernel's greatest shmmax is a little less than the greatest number.
        limit if limit > u64::MAX / 2 => "unlimited".to_owned(),
        limit => crate::units::bytes(limit),
    }
}

/// `logs` is what the library said while transports were opened.
pub fn examine(logs: &[String]) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some((soft, hard)) = system::limit(system::Limit::OpenFiles) {
        let text = format!(
            "{soft} may be open (ulimit -n), the user may raise it to {hard}; a peer over tcp takes one"
        );
        lines.push(match out_of_descriptors(logs) {
            true => Line::new(
                State::Bad,
                "open files",
                format!("too few for a context and its interfaces: {text}"),
            )
            .with(MORE_FILES),
            false => Line::new(State::Good, "open files", text),
        });
    }
    lines.push(locked_memory());
    if let Some(max) = number(SHMMAX) {
        let all = number("/proc/sys/kernel/shmall").unwrap_or(0);
        let segments = number("/proc/sys/kernel/shmmni").unwrap_or(0);
        let text = format!(
            "segments of {} (shmmax), {segments} of them (shmmni), pages in all: {} (shmall)",
            shown(max),
            shown(all)
        );
        lines.push(Line::new(State::Good, "System V memory", text));
    }
    lines.push(shared_memory_folder());
    lines.push(match number(PTRACE_SCOPE) {
        None => Line::new(
            State::Good,
            "ptrace_scope",
            "the kernel has no Yama: processes of one user reach each other's memory",
        ),
        Some(0) => Line::new(
            State::Good,
            "ptrace_scope",
            "0: processes of one user reach each other's memory",
        ),
        Some(1) => Line::new(
            State::Good,
            "ptrace_scope",
            "1: processes that use the library allow it to others themselves",
        ),
        Some(scope) => Line::new(
            State::Bad,
            "ptrace_scope",
            format!("{scope}: cma takes CAP_SYS_PTRACE, or nothing allows it (3)"),
        )
        .with(SCOPE_ONE),
    });
    lines.push(match is_filtered() {
        true => Line::new(
            State::Note,
            "seccomp",
            "system calls of this process pass a filter, as in containers",
        ),
        false => Line::new(State::Good, "seccomp", "no filter"),
    });
    let namespace = std::fs::read_link("/proc/self/ns/user").unwrap_or_default();
    lines.push(match namespace.to_str() == Some(FIRST_USER_NAMESPACE) {
        true => Line::new(State::Good, "user namespace", "the first one"),
        false => Line::new(
            State::Note,
            "user namespace",
            "one of its own: cma reaches processes of the same namespace only",
        ),
    });
    lines.push(match system::has_membarrier() {
        true => Line::new(State::Good, "membarrier", "there"),
        false => Line::new(
            State::Note,
            "membarrier",
            "the system call is missing or refused: workers take dearer barriers",
        ),
    });
    lines
}

fn locked_memory() -> Line {
    let subject = "locked memory";
    let Some((soft, hard)) = system::limit(system::Limit::LockedMemory) else {
        return Line::new(State::Note, subject, "the limit cannot be read");
    };
    let text = format!(
        "{} may be locked (ulimit -l), the user may raise it to {}",
        shown(soft),
        shown(hard)
    );
    match no_rdma() {
        Some(_) => Line::new(
            State::Good,
            subject,
            format!("{text}; only RDMA transports lock memory, and there is no device"),
        ),
        None if soft == u64::MAX => Line::new(State::Good, subject, text),
        None => Line::new(
            State::Note,
            subject,
            format!("{text}; RDMA transports lock what they register"),
        )
        .with("ulimit -l unlimited (or LimitMEMLOCK=infinity of the service)"),
    }
}

/// Memory of posix is memory without a file, so that a small folder does no harm.
fn shared_memory_folder() -> Line {
    let subject = "/dev/shm";
    match system::folder_size(subject) {
        Ok((size, free)) => {
            let text = format!("{} of {} free", shown(free), shown(size));
            Line::new(
                State::Good,
                subject,
                format!(
                    "{text}; not used by ferrucx, whose posix memory has no file; upstream's is there"
                ),
            )
        }
        Err(e) => Line::new(
            State::Note,
            subject,
            format!("{e}; not used by ferrucx, upstream's posix needs it"),
        ),
    }
}
