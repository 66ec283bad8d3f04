//! C's arguments: null checks with one log line, C lists, fixed-size names, text to C's streams.

use crate::c::prelude::*;
use crate::sys::stdio;
use crate::ucs::Status;
use libc::FILE;

/// Answers `$code` with one log line when any of the pointers is null.
macro_rules! non_null {
    (; $($p:ident),+) => {
        $(if $p.is_null() {
            $crate::abi::args::missing($crate::abi::args::function!(), stringify!($p));
            return;
        })+
    };
    ($code:expr; $($p:ident),+) => {
        $(if $p.is_null() {
            $crate::abi::args::missing($crate::abi::args::function!(), stringify!($p));
            return $code;
        })+
    };
}
pub(crate) use non_null;

/// Says that an argument of a function is missing. Out of line: what it needs would cost the calls that lack nothing.
#[cold]
#[inline(never)]
pub fn missing(function: Function, argument: &str) {
    // Not limited: it speaks for every function, and the program is trusted.
    crate::ucs_log!(Error, "{}: argument `{argument}` is NULL", function.name());
}

/// A function, by a path of the compiler's to something inside it.
#[derive(Clone, Copy)]
pub struct Function(pub &'static str);

impl Function {
    /// Its name alone.
    pub fn name(self) -> &'static str {
        let path = self.0.trim_end_matches("::here");
        path.rsplit("::").next().unwrap_or(path)
    }
}

/// The function this stands in.
macro_rules! function {
    () => {{
        fn here() {}
        fn path_of<T>(_: T) -> &'static str {
            core::any::type_name::<T>()
        }
        $crate::abi::args::Function(path_of(here))
    }};
}
pub(crate) use function;

/// Writes `name` as a C string into a fixed field, cut to fit.
pub fn put_name<const N: usize>(field: &mut [c_char; N], name: &str) {
    *field = [0; N];
    for (to, from) in field.iter_mut().take(N - 1).zip(name.bytes()) {
        *to = from as c_char;
    }
}

/// Writes `text` to a stream; one that does not take it is logged.
///
/// # Safety
/// `stream` must be open for writing.
pub unsafe fn print(stream: *mut FILE, text: &str) {
    // SAFETY: by the caller's promise.
    if let Err(e) = unsafe { stdio::write_stream(stream, text.as_bytes()) } {
        crate::ucs_warn!("cannot print: {e}");
    }
}

/// A C array of `items` that the caller frees with `free_list`; null for an empty one.
fn list<T: Copy>(items: &[T]) -> Result<*mut T, Status> {
    if items.is_empty() {
        return Ok(core::ptr::null_mut());
    }
    let p = crate::sys::mem::heap_alloc(size_of_val(items), align_of::<T>())
        .map_err(|e| Status::from_io(&e))?
        .cast::<T>();
    // SAFETY: fresh memory of this size.
    unsafe { core::ptr::copy_nonoverlapping(items.as_ptr(), p, items.len()) };
    Ok(p)
}

/// Hands out such an array and its length; on an error nothing is written.
///
/// # Safety
/// Both out parameters must be writable.
pub unsafe fn put_list<T: Copy>(
    items: &[T],
    list_p: *mut *mut T,
    count_p: *mut c_uint,
) -> ucs_status_t {
    match list(items) {
        Ok(p) => {
            // SAFETY: by the caller's promise.
            unsafe { list_p.write(p) };
            // SAFETY: by the caller's promise.
            unsafe { count_p.write(items.len() as c_uint) };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Frees what `put_list` gave.
///
/// # Safety
/// `p` must be null or come from `put_list`, once.
pub unsafe fn free_list<T>(p: *mut T) {
    // SAFETY: by the caller's promise.
    unsafe { crate::sys::mem::heap_free(p.cast()) };
}
