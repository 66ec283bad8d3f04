//! The process and its threads: ids, signal-free threads, CPU affinity.

use crate::sys::file::read_kernel_text;
use once_cell::race::OnceBox;
use std::io;
use std::thread::JoinHandle;

/// The process id, from the kernel.
pub fn pid() -> u32 {
    std::process::id()
}

/// The kernel's id of the calling thread.
pub fn tid() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { libc::gettid() as u32 }
}

/// Lets another thread have the processor. Allocates nothing.
pub fn yield_now() {
    // SAFETY: takes no argument; it does not fail on Linux.
    unsafe { libc::sched_yield() };
}

/// Closes a descriptor that a child of fork() has from its parent, whose owner's memory is dead there.
pub fn close_inherited(fd: i32) {
    // SAFETY: takes no pointer; nothing in the child uses the number.
    unsafe { libc::close(fd) };
}

/// Starts a thread on which no signal is delivered, so that the application's handlers run on the
/// application's threads only.
pub fn spawn_without_signals<F>(name: &str, body: F) -> io::Result<JoinHandle<()>>
where
    F: FnOnce() + Send + 'static,
{
    let old = block_all_signals();
    let thread = std::thread::Builder::new().name(name.into()).spawn(body);
    restore_signals(&old);
    thread
}

fn block_all_signals() -> libc::sigset_t {
    // SAFETY: sigset_t is plain integers; all zeros is a value of it.
    let mut all: libc::sigset_t = unsafe { core::mem::zeroed() };
    let mut old = all;
    // SAFETY: a writable local.
    unsafe { libc::sigfillset(&mut all) };
    // SAFETY: two locals, one read and one written.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old) };
    old
}

fn restore_signals(old: &libc::sigset_t) {
    // SAFETY: `old` is readable; the previous mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, core::ptr::null_mut()) };
}

/// The CPUs this process may run on.
pub fn affinity() -> io::Result<libc::cpu_set_t> {
    // SAFETY: cpu_set_t is plain integers; all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: the size is that of the writable local.
    match unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) } {
        0 => Ok(set),
        _ => Err(io::Error::last_os_error()),
    }
}

pub fn set_affinity(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the size is that of the readable set.
    match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets a client's `initialized` flag under its own mutex, once.
///
/// # Safety
/// Both belong to one live, initialised `ucs_init_once_t`.
pub unsafe fn set_once(lock: *mut libc::pthread_mutex_t, initialized: *mut i32) {
    // SAFETY: the caller vouches for the mutex.
    unsafe { libc::pthread_mutex_lock(lock) };
    // SAFETY: the flag is the mutex's, which this thread holds.
    unsafe { initialized.write(1) };
    // SAFETY: locked above.
    unsafe { libc::pthread_mutex_unlock(lock) };
}

/// Has a function called when the process exits normally, or this library is unloaded before.
pub fn at_exit(function: extern "C" fn()) {
    // SAFETY: any function is allowed; C's start-up code ties the call to the object that registers it.
    unsafe { libc::atexit(function) };
}

/// Ends the process with SIGABRT.
pub fn abort() -> ! {
    std::process::abort()
}

/// Whether `cpu` is in the set.
pub fn is_set(set: &libc::cpu_set_t, cpu: usize) -> bool {
    // SAFETY: the index is checked against the set's size first.
    cpu < size_of::<libc::cpu_set_t>() * 8 && unsafe { libc::CPU_ISSET(cpu, set) }
}

/// A text that changes with every boot of the kernel.
pub fn boot_id() -> Option<&'static str> {
    static ID: OnceBox<Option<String>> = OnceBox::new();
    let id = ID.get_or_init(|| Box::new(read_kernel_text("/proc/sys/kernel/random/boot_id").ok()));
    id.as_deref()
}

/// Names the namespace of a kind (`pid`, `ipc`, `user`) that this process lives in.
pub fn namespace(kind: &str) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
    Some(link.to_string_lossy().into_owned())
}
