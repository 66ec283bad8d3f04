//! Options of a client as text, in the form that `ucs::config::print` has for the library's own.

use super::layout::Field;
use super::table::{bases, is_given, walk};
use crate::c::ucs_config_field_t;
use crate::sys::heap;
use crate::ucs::config::env::Source;
use crate::ucs::config::print::Style;
use crate::ucs::string_buffer;
use core::ffi::c_void;
use core::fmt::Write;

/// Appends the options of a structure. `table_prefix` is the table's, `base` stands before all names; of names, only
/// those that contain `filter` are shown.
///
/// # Safety
/// `opts` is a filled structure of the table.
pub unsafe fn print(
    opts: *mut c_void,
    table: *const ucs_config_field_t,
    title: Option<&str>,
    (table_prefix, base): (&str, &str),
    style: Style,
    filter: Option<&str>,
    out: &mut String,
) {
    if style.title {
        let _ = write!(out, "#\n# {}\n#\n\n", title.unwrap_or_default());
    }
    if !style.values {
        return;
    }
    let source = Source::now();
    let all_bases = bases(base).unwrap_or_default();
    let mut visit = |field: &Field, opts: *mut c_void, prefixes: &[String], all: &[Field]| {
        let name_under = |prefix: &str, field: &Field| format!("{base}{prefix}{}", field.name());
        let outermost = prefixes.first().map_or("", String::as_str);
        let name = name_under(outermost, field);
        let hidden = field.is_deprecated() || field.is_alias();
        if hidden && !style.hidden || filter.is_some_and(|filter| !name.contains(filter)) {
            return;
        }
        // A second name is described by the option at its offset.
        let target = all
            .iter()
            .find(|other| field.is_alias() && other.has_value() && other.offset == field.offset);
        if style.docs {
            let also = match target {
                Some(target) => format!("# alias of:  {}\n", name_under(outermost, target)),
                None if prefixes.len() > 1 => {
                    let mut general: Vec<_> = prefixes[1..]
                        .iter()
                        .map(|prefix| name_under(prefix, field))
                        .collect();
                    general.dedup();
                    format!("# inherits:  {}\n", general.join(", "))
                }
                None => String::new(),
            };
            // SAFETY: the caller's table.
            unsafe { describe(target.unwrap_or(field), &also, out) };
        }
        if field.is_deprecated() {
            let _ = writeln!(out, "{name} (deprecated)");
        } else {
            let comment =
                style.comment_defaults && !is_given(&source, &all_bases, prefixes, &field.name());
            // SAFETY: the caller's structure.
            let text = unsafe { field.parser.write(field.member(opts)) };
            let _ = writeln!(out, "{comment}{name}={text}");
        }
        if style.docs {
            out.push('\n');
        }
    };
    // SAFETY: the caller's structure.
    unsafe { walk(opts, table, table_prefix, &mut visit) };
}

/// The lines before an option. `also` tells of its other names.
///
/// # Safety
/// `field` is of a live table.
unsafe fn describe(field: &Field, also: &str, out: &mut String) {
    out.push_str("#\n");
    for line in field.doc().split('\n') {
        let _ = writeln!(out, "# {line}");
    }
    // SAFETY: the caller's table.
    let values = unsafe { doc_of(field) };
    if values.is_empty() {
        out.push_str("# \n");
    }
    for line in values.lines() {
        let _ = writeln!(out, "# {line}");
    }
    let syntax = if field.is_deprecated() {
        "N/A".to_owned()
    } else {
        // SAFETY: as above.
        unsafe { field.parser.help() }
    };
    let _ = write!(out, "#\n# syntax:    {syntax}\n{also}#\n");
}

/// What an option's type says of its values.
///
/// # Safety
/// `field` is of a live table.
unsafe fn doc_of(field: &Field) -> String {
    let Some(doc) = field.parser.doc else {
        return String::new();
    };
    let mut buffer = crate::c::ucs_string_buffer_t::EMPTY;
    // SAFETY: the client's function, and a buffer of ours.
    unsafe { doc(&mut buffer, field.parser.arg) };
    // SAFETY: a live buffer.
    let text = unsafe { string_buffer::text(&buffer) }
        .to_string_lossy()
        .into_owned();
    // SAFETY: as above.
    unsafe { string_buffer::cleanup(&mut buffer) };
    text
}

/// Room for a structure of so many bytes, all zero, for as long as it is printed.
pub struct Structure(*mut c_void);

impl Structure {
    /// None without memory.
    pub fn new(size: usize) -> Option<Structure> {
        let room = heap::calloc(1, size.max(1));
        (!room.is_null()).then_some(Structure(room))
    }

    /// Where it is.
    pub fn at(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Structure {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, given up.
        unsafe { heap::free(self.0) };
    }
}
