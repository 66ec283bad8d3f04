//! Filling the structure of a client from defaults, files and the environment, and access to it by name.

use super::layout::{Field, fields};
use crate::c::ucs_config_field_t;
use crate::ucs::config::env::Source;
use crate::ucs::config::{self, PREFIX, global, matches_pattern, var};
use crate::ucs::fork::ForkLocked;
use crate::ucs::{Result, Status};
use crate::{ucs_error, ucs_warn};
use core::ffi::{CStr, c_void};
use std::collections::BTreeSet;
use std::ffi::CString;

type Table = *const ucs_config_field_t;
type Options = *mut c_void;

/// Reads a text into an option's member, which holds nothing.
///
/// # Safety
/// `opts` is the client's structure for the table, here and below.
unsafe fn read(field: &Field, opts: Options, text: &CStr, shown_name: &str) -> Result<()> {
    // SAFETY: the caller's structure.
    if unsafe { field.parser.read(text, field.member(opts)) } {
        return Ok(());
    }
    ucs_error!(
        "invalid value '{}' for {shown_name}, expected: {}",
        text.to_string_lossy(),
        // SAFETY: a parser of a live table.
        unsafe { field.parser.help() }
    );
    Err(Status::INVALID_PARAM)
}

/// Reads a text into an option's member, in the place of what it holds. On an error it holds that still.
///
/// # Safety
/// As for `read`.
unsafe fn replace(field: &Field, opts: Options, text: &CStr, shown_name: &str) -> Result<()> {
    let member = field.member(opts);
    // SAFETY: the caller's structure.
    let before = unsafe { field.parser.write(member) };
    // SAFETY: as above.
    unsafe { field.parser.release(member) };
    // SAFETY: as above; the member holds nothing now.
    let done = unsafe { read(field, opts, text, shown_name) };
    if done.is_err() {
        let before = CString::new(before).unwrap_or_default();
        // SAFETY: as above.
        unsafe { field.parser.read(&before, member) };
    }
    done
}

/// Fills a structure with the defaults of its table.
///
/// # Safety
/// `table` is a client's table, `opts` a structure for it that holds nothing.
pub unsafe fn set_defaults(opts: Options, table: Table) -> Result<()> {
    // SAFETY: the caller's table.
    let all = unsafe { fields(table) };
    for (i, field) in all.iter().enumerate() {
        let Some(default) = field.default().filter(|_| field.has_value()) else {
            continue;
        };
        // SAFETY: the caller's structure.
        if let Err(status) = unsafe { read(field, opts, default, &field.name()) } {
            // SAFETY: what was filled so far.
            unsafe { release_fields(opts, &all[..i]) };
            return Err(status);
        }
    }
    Ok(())
}

/// Fills the structure of a table within another. The text has defaults that differ: `NAME=value;NAME=value`.
///
/// # Safety
/// As for `set_defaults`.
pub unsafe fn read_table(text: &CStr, opts: Options, table: Table) -> bool {
    // SAFETY: the caller's promise.
    if unsafe { set_defaults(opts, table) }.is_err() {
        return false;
    }
    let text = text.to_string_lossy();
    for pair in text
        .split(';')
        .map(str::trim)
        .filter(|pair| !pair.is_empty())
    {
        let done = pair.split_once('=').ok_or(Status::INVALID_PARAM);
        // SAFETY: a filled structure.
        let done = done.and_then(|(name, value)| unsafe { set(opts, table, None, name, value) });
        if let Err(status) = done {
            ucs_error!("'{pair}' is not an option of the table: {status}");
            // SAFETY: as above.
            unsafe { release(opts, table) };
            return false;
        }
    }
    true
}

/// Frees what a structure owns.
///
/// # Safety
/// `opts` is a filled structure of the table, given up.
pub unsafe fn release(opts: Options, table: Table) {
    // SAFETY: the caller's promise.
    unsafe { release_fields(opts, &fields(table)) };
}

/// # Safety
/// These members are filled, and given up.
unsafe fn release_fields(opts: Options, all: &[Field]) {
    for field in all.iter().filter(|field| field.has_value()) {
        // SAFETY: the caller's promise.
        unsafe { field.parser.release(field.member(opts)) };
    }
}

/// Copies a structure with all it owns.
///
/// # Safety
/// `from` is a filled structure of the table, `to` one that holds nothing.
pub unsafe fn copy(from: Options, to: Options, table: Table) -> Result<()> {
    // SAFETY: the caller's table.
    let all = unsafe { fields(table) };
    for (i, field) in all
        .iter()
        .enumerate()
        .filter(|(_, field)| field.has_value())
    {
        // SAFETY: the caller's structures.
        let done = unsafe { field.parser.copy(field.member(from), field.member(to)) };
        if let Err(status) = done {
            // SAFETY: what was copied so far.
            unsafe { release_fields(to, &all[..i]) };
            return Err(status);
        }
    }
    Ok(())
}

/// Gets an option, the structure that it is in, the prefixes that its names may have, and the options of its table.
pub type Visit<'v> = dyn FnMut(&Field, Options, &[String], &[Field]) + 'v;

/// Walks the options and those of tables within, and calls `visit` with each. The most general
/// prefix is the last one.
///
/// # Safety
/// `opts` is a structure of the table, or null if `visit` does not look into it.
pub unsafe fn walk(opts: Options, table: Table, prefix: &str, visit: &mut Visit<'_>) {
    let mut prefixes = vec![prefix.to_owned()];
    // SAFETY: the caller's promise.
    unsafe { walk_below(opts, table, &mut prefixes, visit) };
}

/// # Safety
/// As for `walk`.
unsafe fn walk_below(
    opts: Options,
    table: Table,
    prefixes: &mut Vec<String>,
    visit: &mut Visit<'_>,
) {
    // SAFETY: the caller's table.
    let all = unsafe { fields(table) };
    for field in &all {
        if !field.parser.is_table() {
            visit(field, opts, prefixes, &all);
            continue;
        }
        prefixes.push(field.name().into_owned());
        // SAFETY: the structure within the caller's.
        unsafe { walk_below(field.member(opts), field.table(), prefixes, visit) };
        prefixes.pop();
    }
}

/// The prefixes to look for, in the order in which later ones count more: `A_UCC_` is `UCC_`, then `A_UCC_`.
pub fn bases(env_prefix: &str) -> Result<Vec<String>> {
    if matches!(env_prefix, "" | "_") {
        ucs_error!("'{env_prefix}' is not a prefix of variables");
        return Err(Status::INVALID_PARAM);
    }
    let body = env_prefix.strip_suffix('_').unwrap_or("");
    let last = body.rsplit_once('_').filter(|(_, last)| !last.is_empty());
    let mut all: Vec<_> = last
        .map(|(_, last)| format!("{last}_"))
        .into_iter()
        .collect();
    all.push(env_prefix.to_owned());
    Ok(all)
}

/// Warns, once for each variable, that it has no effect.
fn warn_deprecated(name: &str) {
    static TOLD: ForkLocked<BTreeSet<String>> = ForkLocked::new(BTreeSet::new());
    let warns = global::current().bool(var!(global::TABLE, "WARN_UNUSED_ENV_VARS"));
    if TOLD.with(|told| told.insert(name.to_owned())) && warns {
        ucs_warn!("{name} is deprecated and has no effect");
    }
}

/// Fills a structure: defaults, then what files and the environment say. With `lenient`, a value that cannot be read is
/// reported, and the default stays.
///
/// # Safety
/// As for `set_defaults`.
pub unsafe fn fill(
    opts: Options,
    table: Table,
    table_prefix: &str,
    env_prefix: &str,
    lenient: bool,
) -> Result<()> {
    let bases = bases(env_prefix)?;
    // SAFETY: the caller's promise.
    unsafe { set_defaults(opts, table) }?;
    let source = Source::now();
    let mut result = Ok(());
    let mut visit = |field: &Field, opts: Options, prefixes: &[String], _: &[Field]| {
        for base in &bases {
            for prefix in prefixes.iter().rev() {
                let name = format!("{base}{prefix}{}", field.name());
                let Some(text) = source.lookup(&name) else {
                    continue;
                };
                if field.is_deprecated() {
                    warn_deprecated(&name);
                    continue;
                }
                let text = CString::new(text).unwrap_or_default();
                // SAFETY: the caller's structure, which is filled.
                if let Err(status) = unsafe { replace(field, opts, &text, &name) }
                    && !lenient
                {
                    result = Err(status);
                }
            }
        }
    };
    // SAFETY: as above.
    unsafe { walk(opts, table, table_prefix, &mut visit) };
    if result.is_err() {
        // SAFETY: as above.
        unsafe { release(opts, table) };
    }
    result
}

/// Calls `found` with each option that `name` means: its own name behind one of its prefixes, as the environment has
/// it, or a pattern of these with `*` and `?`. For options of tables within, `prefix` counts only when there is one.
///
/// # Safety
/// As for `walk`.
unsafe fn find(
    opts: Options,
    table: Table,
    prefix: Option<&str>,
    name: &str,
    found: &mut dyn FnMut(&Field, Options),
) {
    let mut visit = |field: &Field, opts: Options, prefixes: &[String], _: &[Field]| {
        let own = usize::from(prefix.is_none() && prefixes.len() > 1);
        let mut names = prefixes[own..]
            .iter()
            .map(|prefix| format!("{prefix}{}", field.name()));
        if !field.is_deprecated() && names.any(|known| matches_pattern(name, &known)) {
            found(field, opts);
        }
    };
    // SAFETY: the caller's promise.
    unsafe { walk(opts, table, prefix.unwrap_or(""), &mut visit) };
}

/// Changes every option that `name` means: `NO_ELEM` when there is none, `INVALID_PARAM` for a text that cannot be
/// read.
///
/// # Safety
/// `opts` is a filled structure of the table.
pub unsafe fn set(
    opts: Options,
    table: Table,
    prefix: Option<&str>,
    name: &str,
    value: &str,
) -> Result<()> {
    let value = CString::new(value).map_err(|_| Status::INVALID_PARAM)?;
    let mut result = Err(Status::NO_ELEM);
    let mut change = |field: &Field, opts: Options| {
        if !matches!(result, Err(Status::INVALID_PARAM)) {
            // SAFETY: the caller's structure.
            result = unsafe { replace(field, opts, &value, name) };
        }
    };
    // SAFETY: as above.
    unsafe { find(opts, table, prefix, name, &mut change) };
    result
}

/// The text of the first option whose name behind all its prefixes is `name`.
///
/// # Safety
/// `opts` is a filled structure of the table.
pub unsafe fn get(opts: Options, table: Table, name: &str) -> Option<String> {
    let mut text = None;
    let mut take = |field: &Field, opts: Options, prefixes: &[String], _: &[Field]| {
        let full = prefixes.concat() + &field.name();
        if text.is_none() && full == name && !field.is_deprecated() {
            // SAFETY: the caller's structure.
            text = Some(unsafe { field.parser.write(field.member(opts)) });
        }
    };
    // SAFETY: as above.
    unsafe { walk(opts, table, "", &mut take) };
    text
}

/// Whether `name` means an option.
///
/// # Safety
/// `table` is a client's table.
pub unsafe fn has(table: Table, prefix: Option<&str>, name: &str) -> bool {
    let mut has = false;
    // SAFETY: nothing looks into the structure.
    unsafe {
        find(core::ptr::null_mut(), table, prefix, name, &mut |_, _| {
            has = true
        })
    };
    has
}

/// Whether the environment, or a file, has a value for an option.
pub fn is_given(source: &Source, bases: &[String], prefixes: &[String], name: &str) -> bool {
    bases.iter().any(|base| {
        let mut names = prefixes
            .iter()
            .map(|prefix| format!("{base}{prefix}{name}"));
        names.any(|name| source.has(&name))
    })
}

/// Warns, once for each prefix, about variables with it that nobody has read.
pub fn warn_unused(env_prefix: &str) {
    if env_prefix == PREFIX {
        config::warn_unused();
    } else {
        config::warn_unused_with(env_prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_applications_come_last() {
        assert_eq!(bases("UCX_").unwrap(), ["UCX_"]);
        assert_eq!(bases("MPI_UCX_").unwrap(), ["UCX_", "MPI_UCX_"]);
        assert_eq!(bases("A_B_UCC_").unwrap(), ["UCC_", "A_B_UCC_"]);
        assert_eq!(bases("__").unwrap(), ["__"]);
        assert_eq!(bases("UCC").unwrap(), ["UCC"]);
        for wrong in ["", "_"] {
            assert!(bases(wrong).is_err());
        }
    }
}
