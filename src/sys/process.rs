//! The process and its threads: ids, signal-free threads.

use crate::sys::file::read_kernel_text;
use crate::sys::safe_calls;
use core::sync::atomic::{AtomicU64, Ordering};
use once_cell::race::OnceBox;
use std::io;
use std::os::fd::RawFd;
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
    let _ = safe_calls::close(fd);
}

/// Keeps this library loaded when the program closes it: a thread of it does not end. A program that it is linked into
/// stays in any case.
pub fn stay_loaded() {
    let mut here = libc::Dl_info {
        dli_fname: core::ptr::null(),
        dli_fbase: core::ptr::null_mut(),
        dli_sname: core::ptr::null(),
        dli_saddr: core::ptr::null_mut(),
    };
    // SAFETY: any address, and a writable struct.
    let known = unsafe { libc::dladdr(stay_loaded as *const core::ffi::c_void, &mut here) };
    if known != 0 && !here.dli_fname.is_null() {
        let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
        // SAFETY: the loader's own name of what is loaded; no code of it runs.
        unsafe { libc::dlopen(here.dli_fname, flags) };
    }
}

/// Starts a thread on which no signal is delivered, so that the application's handlers run on the
/// application's threads only. A panic on it ends the process in every build: the thread would be missed.
pub fn spawn_without_signals<F>(name: &str, body: F) -> io::Result<JoinHandle<()>>
where
    F: FnOnce() + Send + 'static,
{
    // No panic leaves a function of the C ABI.
    extern "C" fn run<F: FnOnce()>(body: Box<F>) {
        body()
    }
    let body = Box::new(body);
    let old = block_all_signals();
    let thread = std::thread::Builder::new()
        .name(name.into())
        .spawn(|| run(body));
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

/// Calls a function under a client's mutex, unless its flag says that it was called before, and sets the flag.
///
/// # Safety
/// Both belong to one live, initialised `ucs_init_once_t`.
pub unsafe fn once(lock: *mut libc::pthread_mutex_t, initialized: *mut i32, first: impl FnOnce()) {
    // SAFETY: the caller vouches for the mutex.
    unsafe { libc::pthread_mutex_lock(lock) };
    // SAFETY: the flag is the mutex's, which this thread holds.
    if unsafe { initialized.read() } == 0 {
        first();
        // SAFETY: as above.
        unsafe { initialized.write(1) };
    }
    // SAFETY: locked above.
    unsafe { libc::pthread_mutex_unlock(lock) };
}

/// Has a function called when the process exits normally, or this library is unloaded before.
pub fn at_exit(function: extern "C" fn()) {
    // SAFETY: any function is allowed; C's start-up code ties the call to the object that registers it.
    unsafe { libc::atexit(function) };
}

/// The process and the descriptor of `notify_on_signal`: pid in the upper half, descriptor plus one in the lower.
static NOTIFIED: AtomicU64 = AtomicU64::new(0);

fn notified(fd: RawFd) -> u64 {
    u64::from(pid()) << 32 | (fd as u64 + 1)
}

/// From now on a signal makes an event descriptor readable, in this process alone. The last call counts.
pub fn notify_on_signal(signal: i32, fd: RawFd) -> io::Result<()> {
    extern "C" fn on_signal(_: i32) {
        let to = NOTIFIED.load(Ordering::Relaxed);
        let fd = (to as u32).wrapping_sub(1) as RawFd;
        // A child of fork() has the handler too.
        if to != 0 && to == notified(fd) {
            // SAFETY: takes no argument; the thread's own.
            let errno = unsafe { libc::__errno_location() };
            // SAFETY: readable as long as the thread runs.
            let before = unsafe { errno.read() };
            // Nothing but a counter at its limit refuses.
            let _ = safe_calls::write(fd, &1u64.to_ne_bytes());
            // SAFETY: writable as long as the thread runs.
            unsafe { errno.write(before) };
        }
    }
    NOTIFIED.store(notified(fd), Ordering::Relaxed);
    // SAFETY: sigaction is plain integers and an optional function; all zeros is a value of it.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: a readable struct, whose handler does what a handler may; the old action is not asked for.
    match unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Signals do not notify this descriptor any more. The handler stays: without it most signals end the process.
pub fn stop_notifying(fd: RawFd) {
    let _ = NOTIFIED.compare_exchange(notified(fd), 0, Ordering::Relaxed, Ordering::Relaxed);
}

/// Ends the process with SIGABRT.
pub fn abort() -> ! {
    std::process::abort()
}

/// A text that changes with every boot of the kernel.
pub fn boot_id() -> Option<&'static str> {
    static ID: OnceBox<Option<String>> = OnceBox::new();
    let id = ID.get_or_init(|| Box::new(read_kernel_text("/proc/sys/kernel/random/boot_id").ok()));
    id.as_deref()
}

/// Names the namespace of a kind (`pid`, `ipc`, `user`, `net`) that this process lives in.
pub fn namespace(kind: &str) -> Option<String> {
    link_text(&format!("/proc/self/ns/{kind}"))
}

/// The same of another process, as far as the kernel lets us look.
pub fn namespace_of(pid: u32, kind: &str) -> Option<String> {
    link_text(&format!("/proc/{pid}/ns/{kind}"))
}

fn link_text(path: &str) -> Option<String> {
    let link = std::fs::read_link(path).ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// The processes that this one sees.
pub fn all() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.map(|entry| entry.file_name().to_string_lossy().parse());
    numbers.filter_map(Result::ok).collect()
}
