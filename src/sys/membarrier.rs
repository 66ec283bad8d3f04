//! membarrier(2): a full fence on every thread of the processes that registered, paid by the caller.
//!
//! With it the frequent side of a store-load handshake needs no fence of its own. Both sides must
//! know that the other takes part: the rare side calls `barrier`, the frequent side `register`.
#![forbid(unsafe_code)]

use super::safe_calls::membarrier as call;
use once_cell::race::OnceBool;

const GLOBAL_EXPEDITED: i32 = 1 << 1;
const REGISTER_GLOBAL_EXPEDITED: i32 = 1 << 2;
const PRIVATE_EXPEDITED: i32 = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;

/// Whether this kernel has the barrier.
pub fn available() -> bool {
    static HAS: OnceBool = OnceBool::new();
    HAS.get_or_init(|| {
        let commands = call(0);
        let wanted = i64::from(GLOBAL_EXPEDITED | REGISTER_GLOBAL_EXPEDITED);
        commands > 0 && commands & wanted == wanted
    })
}

/// Lets barriers of any process reach the threads of this one. False where that is impossible: then
/// the caller needs fences of its own.
pub fn register() -> bool {
    static DONE: OnceBool = OnceBool::new();
    DONE.get_or_init(|| available() && call(REGISTER_GLOBAL_EXPEDITED) == 0)
}

/// A full fence here and on every running thread of registered processes.
pub fn barrier() -> bool {
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    available() && call(GLOBAL_EXPEDITED) == 0
}

/// Whether `barrier_own` reaches the threads of this process, which it does in children of fork() too.
pub fn register_own() -> bool {
    static DONE: OnceBool = OnceBool::new();
    DONE.get_or_init(|| call(REGISTER_PRIVATE_EXPEDITED) == 0)
}

/// A full fence here and on every running thread of this process.
pub fn barrier_own() -> bool {
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    call(PRIVATE_EXPEDITED) == 0
}
