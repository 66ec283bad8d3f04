//! The handlers a client puts before the log's own.
//!
//! The newest is called first; one that answers `STOP` ends the message. The default handler lies
//! at the bottom until a client takes it away too. No lock is held while a handler runs: it may log
//! and may change the handlers.

use crate::c;
use crate::ucs::fork::ForkLocked;
use core::ffi::{CStr, c_char};
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};

/// A client's function.
pub type LogHandler = unsafe extern "C" fn(
    *const c_char,
    u32,
    *const c_char,
    c::ucs_log_level_t,
    *const c::ucs_log_component_config_t,
    *const c_char,
    c::prelude::va_list,
) -> c::ucs_log_func_rc_t;

/// Enough for any program; a push beyond it is refused.
pub const MAX_HANDLERS: usize = 32;

struct Stack {
    clients: Vec<LogHandler>,
    default: bool,
}

static STACK: ForkLocked<Stack> = ForkLocked::new(Stack {
    clients: Vec::new(),
    default: true,
});
/// Whether the stack is other than the default handler alone. Relaxed: the stack has its lock.
static CHANGED: AtomicBool = AtomicBool::new(false);

fn change<R>(f: impl FnOnce(&mut Stack) -> R) -> R {
    STACK.with(|stack| {
        let r = f(stack);
        let changed = !stack.default || !stack.clients.is_empty();
        CHANGED.store(changed, Ordering::Relaxed);
        r
    })
}

/// Puts `handler` before all others. Whether there was room.
pub fn push_handler(handler: LogHandler) -> bool {
    change(|stack| {
        let room = stack.clients.len() < MAX_HANDLERS;
        if room {
            stack.clients.push(handler);
        }
        room
    })
}

/// Takes the newest handler away, at last the default one.
pub fn pop_handler() {
    change(|stack| {
        if stack.clients.pop().is_none() {
            stack.default = false;
        }
    });
}

/// The clients' handlers, newest first, and whether the default one is below them.
pub fn handlers() -> (Vec<LogHandler>, bool) {
    STACK.with(|stack| (stack.clients.iter().rev().copied().collect(), stack.default))
}

unsafe extern "C" {
    /// Calls one handler with its variadic arguments; defined beside the C-variadic exports.
    fn ferrucx_log_call(
        handler: LogHandler,
        file: *const c_char,
        line: u32,
        function: *const c_char,
        level: u32,
        component: *const c::ucs_log_component_config_t,
        format: *const c_char,
        ...
    ) -> u32;
}

/// A message of the library itself, through all handlers.
pub fn dispatch(file: &str, line: u32, level: u32, message: &str) {
    if CHANGED.load(Ordering::Relaxed) {
        let (clients, default) = handlers();
        if !to_clients(&clients, file, line, level, message) || !default {
            return;
        }
    }
    super::emit(level, file, line, "UCX", None, message);
}

/// Whether the message goes on to the default handler.
fn to_clients(clients: &[LogHandler], file: &str, line: u32, level: u32, message: &str) -> bool {
    const FORMAT: &CStr = c"%s";
    let (Ok(file), Ok(message)) = (CString::new(file), CString::new(message.replace('\0', " ")))
    else {
        return true;
    };
    let mut component = c::ucs_log_component_config {
        log_level: super::level(),
        name: [0; 16],
        file_filter: c"*".as_ptr(),
    };
    for (to, from) in component.name.iter_mut().zip(*b"UCX") {
        *to = from as c_char;
    }
    clients.iter().all(|&handler| {
        // SAFETY: the handler is a function of the client's for exactly these arguments; the strings
        // and the component outlive the call, and "%s" takes the one argument that follows it.
        let answer = unsafe {
            ferrucx_log_call(
                handler,
                file.as_ptr(),
                line,
                c"".as_ptr(),
                level,
                &component,
                FORMAT.as_ptr(),
                message.as_ptr(),
            )
        };
        answer == c::UCS_LOG_FUNC_RC_CONTINUE
    })
}
