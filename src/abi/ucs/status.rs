//! `ucs/type/status.h`.

use crate::c::prelude::*;
use crate::ucs::{Status, status};
use once_cell::race::OnceBox;
use std::ffi::CString;

/// The sentence for a status, also for values that no release knows. `ucs/type/status.h`.
///
/// - `status` (in): The status.
/// - returns: Text that is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_status_string(status: ucs_status_t) -> *const c_char {
    static TEXTS: OnceBox<Vec<CString>> = OnceBox::new();
    let texts = TEXTS.get_or_init(|| Box::new((i8::MIN..=i8::MAX).map(text).collect()));
    let at = (i16::from(status) - i16::from(i8::MIN)) as usize;
    texts[at].as_ptr()
}

fn text(code: ucs_status_t) -> CString {
    let known = matches!(code, UCS_OK | UCS_INPROGRESS) || Status::is_known(code);
    if !known {
        return CString::new(format!("Unknown error {code}")).unwrap_or_default();
    }
    CString::new(status::text_of(code)).unwrap_or_default()
}
