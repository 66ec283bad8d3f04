//! Libraries that are loaded when somebody needs what they are for, and the tables of their functions.
//!
//! A library that stands in a table is no dependency of ours: where it is missing, only what needs it is. It stays loaded.

use core::ffi::{CStr, c_void};
use std::io;

/// The table of a library's functions: a struct with a member for each, named like it. One without a function that is not
/// `optional` cannot be made. Who writes it vouches for the functions' types.
macro_rules! functions {
    ($(#[$meta:meta])* unsafe $library:literal: $($member:ident: fn($($a:ty),*) $(-> $r:ty)?,)*
        $(; optional $($late:ident: fn($($la:ty),*) $(-> $lr:ty)?,)*)?) => {
        $(#[$meta])*
        #[allow(non_snake_case, reason = "members have the names of C functions")]
        pub struct Table {
            $(pub $member: unsafe extern "C" fn($($a),*) $(-> $r)?,)*
            $($(pub $late: Option<unsafe extern "C" fn($($la),*) $(-> $lr)?>,)*)?
        }

        impl Table {
            fn load() -> std::io::Result<Table> {
                const NAME: &str = concat!($library, "\0");
                let library = $crate::sys::library::Library::load(NAME)?;
                Ok(Table {
                    $($member: {
                        let name = concat!(stringify!($member), "\0");
                        let at = library.symbol(name).ok_or_else(|| {
                            std::io::Error::other(concat!($library, " has no ", stringify!($member)))
                        })?;
                        // SAFETY: by the promise of who wrote the table.
                        unsafe {
                            core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($a),*) $(-> $r)?>(at)
                        }
                    },)*
                    $($($late: library.symbol(concat!(stringify!($late), "\0")).map(|at| {
                        // SAFETY: as above.
                        unsafe {
                            core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($la),*) $(-> $lr)?>(at)
                        }
                    }),)*)?
                })
            }
        }
    };
}
pub(super) use functions;

/// A loaded library.
pub struct Library(*mut c_void);

impl Library {
    /// `name` ends in a zero byte.
    pub fn load(name: &'static str) -> io::Result<Library> {
        // SAFETY: a C string; constructors of the libraries that stand in tables touch nothing of the program's.
        let handle =
            unsafe { libc::dlopen(name.as_ptr().cast(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(io::Error::other(last_error(name)));
        }
        Ok(Library(handle))
    }

    /// The default version of a function; `name` ends in a zero byte.
    pub fn symbol(&self, name: &'static str) -> Option<*mut c_void> {
        // SAFETY: an open library and a C string.
        let at = unsafe { libc::dlsym(self.0, name.as_ptr().cast()) };
        (!at.is_null()).then_some(at)
    }
}

fn last_error(name: &str) -> String {
    // SAFETY: no arguments.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return format!("{} cannot be loaded", name.trim_end_matches('\0'));
    }
    // SAFETY: a C string, valid until the next such call of this thread.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}
