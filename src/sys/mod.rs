//! Floor 1: every libc and OS call, as safe wrappers that answer `io::Result`.

pub mod clock;
pub mod cpu;
pub mod crc32c;
pub mod cuda;
pub mod epoll;
pub mod eventfd;
pub mod file;
pub mod fork;
pub mod heap;
pub mod host_memory;
pub mod library;
pub mod local_socket;
pub mod lock;
pub mod machine;
pub mod mapping;
pub mod mem;
pub mod membarrier;
pub mod net;
pub mod numa;
pub mod pidfd;
pub mod poll;
pub mod process;
pub mod random;
pub mod raw_socket;
mod safe_calls;
pub mod shm;
pub mod socket;
pub mod stdio;
pub mod thread;
pub mod timerfd;
pub mod uffd;
pub mod verbs;
pub mod vm_calls;
pub mod vm_rw;

/// Whether this process or machine ran out of descriptors or memory: the error says nothing of a peer.
pub fn is_shortage(e: &std::io::Error) -> bool {
    matches!(
        e.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS)
    )
}
