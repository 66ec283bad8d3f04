//! Names that C keeps pointers to: transports and devices, each made once and kept for ever.
#![forbid(unsafe_code)]

use crate::ucs::fork::ForkLocked;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

/// A C string of `name` that lives as long as the process. Transports and devices are few.
pub fn intern(name: &str) -> &'static CStr {
    static NAMES: ForkLocked<BTreeMap<String, &'static CStr>> = ForkLocked::new(BTreeMap::new());
    NAMES.with(|names| {
        if let Some(s) = names.get(name) {
            return *s;
        }
        let s: &'static CStr = match CString::new(name) {
            Ok(s) => Box::leak(s.into_boxed_c_str()),
            Err(_) => c"",
        };
        names.insert(name.to_owned(), s);
        s
    })
}
