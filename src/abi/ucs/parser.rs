//! The functions of `ucs/config/parser.h` that work on whole tables of a client's.
//!
//! Three of them took other arguments in older releases. What a client passes tells which it means.

use crate::abi::args::non_null;
use crate::abi::jump::jump;
use crate::abi::ucs::config::{self, style_of};
use crate::abi::ucs::text_of;
use crate::c::prelude::*;
use crate::sys::{machine, stdio};
use crate::ucs::compat::config::{layout, lists, print, table};
use crate::ucs::config::{env, matches_pattern, print as own_print, used_variables};
use crate::ucs::status::code_of;
use crate::ucs::string_buffer;
use crate::ucs_warn;
use core::mem::offset_of;
use std::path::Path;

/// Fills a structure with the defaults of its table. `ucs/config/parser.h`.
///
/// - `opts` (out): Structure that the table of options describes.
/// - `fields` (in): Table of options, ended by an entry without a name.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when a default cannot be read.
///
/// # Safety
/// `opts` is a structure for the table, which holds nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_set_default_values(
    opts: *mut c_void,
    fields: *mut ucs_config_field_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; opts, fields);
    // SAFETY: the caller's promise.
    code_of(&unsafe { table::set_defaults(opts, fields) })
}

/// Fills a structure: defaults, then what files and the environment say. `ucs/config/parser.h`.
///
/// # Safety
/// `opts` is a structure for the table of the entry, which holds nothing.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_fill_opts() {
    jump!(fill_of_any_release);
}

/// Up to 1.14, the arguments are (opts, fields, env_prefix, table_prefix, ignore_errors).
///
/// # Safety
/// As for `ucs_config_parser_fill_opts`. Only a call of the old form passes the last argument.
unsafe extern "C" fn fill_of_any_release(
    opts: *mut c_void,
    entry_or_fields: *mut c_void,
    env_prefix: *const c_char,
    prefix_or_flag: usize,
    flag: c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; opts, entry_or_fields, env_prefix);
    // SAFETY: the caller's string.
    let env_prefix = unsafe { text_of(env_prefix) };
    // SAFETY: either structure has these words.
    let old =
        prefix_or_flag > c_int::MAX as usize || unsafe { layout::begins_table(entry_or_fields) };
    if old {
        let prefix: *const c_char = core::ptr::with_exposed_provenance(prefix_or_flag);
        // SAFETY: the caller's string.
        let prefix = unsafe { text_of(prefix) };
        let fields = entry_or_fields.cast();
        // SAFETY: the caller's promise.
        return code_of(&unsafe { table::fill(opts, fields, &prefix, &env_prefix, flag != 0) });
    }
    let entry: *mut ucs_config_global_list_entry_t = entry_or_fields.cast();
    // SAFETY: the caller's entry; its flags, which are newer, are not looked at.
    let head = unsafe { entry.cast::<EntryHead>().read() };
    // SAFETY: the caller's string.
    let prefix = unsafe { text_of(head.prefix) };
    let lenient = prefix_or_flag as c_int != 0;
    // SAFETY: the caller's promise.
    let done = unsafe { table::fill(opts, head.table, &prefix, &env_prefix, lenient) };
    if done.is_ok() {
        // SAFETY: a caller of this form has an entry with flags.
        unsafe { (*entry).flags |= UCS_CONFIG_TABLE_FLAG_LOADED as u8 };
    }
    code_of(&done)
}

/// The members of an entry that every release has.
#[repr(C)]
#[derive(Clone, Copy)]
struct EntryHead {
    name: *const c_char,
    prefix: *const c_char,
    table: *mut ucs_config_field_t,
    size: usize,
    list: ucs_list_link_t,
}
const _: () = {
    assert!(offset_of!(EntryHead, table) == offset_of!(ucs_config_global_list_entry_t, table));
    assert!(offset_of!(EntryHead, list) == offset_of!(ucs_config_global_list_entry_t, list));
};

/// Copies a structure with all it owns. `ucs/config/parser.h`.
///
/// - `src` (in): The structure.
/// - `dst` (out): Place for the copy.
/// - `fields` (in): Table of options, ended by an entry without a name.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `src` is a filled structure of the table, `dst` one that holds nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_clone_opts(
    src: *const c_void,
    dst: *mut c_void,
    fields: *mut ucs_config_field_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; src, dst, fields);
    // SAFETY: the caller's promise; the source is only read.
    code_of(&unsafe { table::copy(src.cast_mut(), dst, fields) })
}

/// Frees what a structure owns. `ucs/config/parser.h`.
///
/// - `opts` (in,out): The structure; what it owns is not to be used afterwards.
/// - `fields` (in): Table of options, ended by an entry without a name.
///
/// # Safety
/// `opts` is a filled structure of the table, given up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_release_opts(
    opts: *mut c_void,
    fields: *mut ucs_config_field_t,
) {
    non_null!(; opts, fields);
    // SAFETY: the caller's promise.
    unsafe { table::release(opts, fields) };
}

/// Writes the text of an option. `ucs/config/parser.h`.
///
/// - `opts` (in): Structure that the table of options describes.
/// - `fields` (in): Table of options, ended by an entry without a name.
/// - `name` (in): Name of an option, NUL-terminated.
/// - `value` (out): Gets the text with its NUL, cut to fit.
/// - `max` (in): Bytes of `value`.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when there is none of this name.
///
/// # Safety
/// `opts` is a filled structure of the table; `value` has `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_get_value(
    opts: *mut c_void,
    fields: *mut ucs_config_field_t,
    name: *const c_char,
    value: *mut c_char,
    max: usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; opts, fields, name, value);
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    // SAFETY: the caller's promise.
    match unsafe { table::get(opts, fields, &name) } {
        Some(text) => {
            // SAFETY: the caller's buffer.
            unsafe { crate::abi::ucs::put_text(value, max, &text) };
            UCS_OK
        }
        None => UCS_ERR_NO_ELEM,
    }
}

/// Changes an option by its name. `ucs/config/parser.h`.
///
/// # Safety
/// `opts` is a filled structure of the table.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_set_value() {
    jump!(set_of_any_release);
}

/// Up to 1.16, the arguments are (opts, fields, name, value); tables of these releases have another layout.
///
/// # Safety
/// As for `ucs_config_parser_set_value`. Only a call of the new form passes the last argument.
unsafe extern "C" fn set_of_any_release(
    opts: *mut c_void,
    fields: *mut ucs_config_field_t,
    prefix_or_name: *const c_char,
    name_or_value: *const c_char,
    value: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; opts, fields, name_or_value);
    // SAFETY: the caller's table.
    let (prefix, name, value) = if unsafe { layout::is_old(fields) } {
        (core::ptr::null(), prefix_or_name, name_or_value)
    } else {
        (prefix_or_name, name_or_value, value)
    };
    non_null!(UCS_ERR_INVALID_PARAM; name, value);
    // SAFETY: the caller's strings, here and below.
    let prefix = (!prefix.is_null()).then(|| unsafe { text_of(prefix) });
    // SAFETY: as above.
    let name = unsafe { text_of(name) };
    // SAFETY: as above.
    let value = unsafe { text_of(value) };
    // SAFETY: the caller's promise.
    code_of(&unsafe { table::set(opts, fields, prefix.as_deref(), &name, &value) })
}

/// 1 when a table has an option of this name, behind `prefix`, else 0. `ucs/config/parser.h`.
///
/// - `fields` (in): Table of options, ended by an entry without a name.
/// - `prefix` (in): Prefix of the table, NUL-terminated; NULL for none.
/// - `name` (in): Name of an option, NUL-terminated.
/// - returns: 1 or 0.
///
/// # Safety
/// `fields` is a table; the texts are C strings, `prefix` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_has_field(
    fields: *const ucs_config_field_t,
    prefix: *const c_char,
    name: *const c_char,
) -> c_int {
    non_null!(0; fields, name);
    // SAFETY: the caller's strings.
    let prefix = (!prefix.is_null()).then(|| unsafe { text_of(prefix) });
    // SAFETY: as above.
    let name = unsafe { text_of(name) };
    // SAFETY: the caller's table.
    c_int::from(unsafe { table::has(fields, prefix.as_deref(), &name) })
}

/// 1 when a table of the library or of `ucs_config_global_list` has an option of this name, else 0.
/// `ucs/config/parser.h`.
///
/// - `name` (in): Name of an option, NUL-terminated.
/// - returns: 1 or 0.
///
/// # Safety
/// `name` is a C string; the list has whole entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_global_list_has_field(name: *const c_char) -> c_int {
    non_null!(0; name);
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    let own = config::all_tables()
        .into_iter()
        .any(|table| table.has(&name));
    // SAFETY: the list's entries are the clients'.
    let registered = unsafe { entries(config::global_list()) };
    let in_list = registered.into_iter().any(|entry| {
        // SAFETY: strings and tables of live entries.
        let prefix = unsafe { text_of(entry.prefix) };
        // SAFETY: as above.
        unsafe { table::has(entry.table, Some(&prefix), &name) }
    });
    c_int::from(own || in_list)
}

/// The entries of a list.
///
/// # Safety
/// `list` is the head of a list of entries.
unsafe fn entries(list: *mut ucs_list_link_t) -> Vec<EntryHead> {
    let mut all = Vec::new();
    // SAFETY: the caller's list.
    let mut link = unsafe { (*list).next };
    while link != list {
        let entry = link.wrapping_byte_sub(offset_of!(EntryHead, list));
        // SAFETY: an entry of the list, whose first members every release has.
        all.push(unsafe { entry.cast::<EntryHead>().read() });
        // SAFETY: a link of the list.
        link = unsafe { (*link).next };
    }
    all
}

/// Prints the options of a structure. `table_prefix`, `title` and `filter` may be NULL; `filter` selects names that
/// contain it. `ucs/config/parser.h`.
///
/// Releases before 1.19 do not pass a filter, and what is in its place is not a pointer; so it counts only when it
/// points at an argument of the program.
///
/// - `stream` (in): Open for writing.
/// - `title` (in): Line before the options, NUL-terminated; NULL for none.
/// - `opts` (in): Structure that the table of options describes.
/// - `fields` (in): Table of options, ended by an entry without a name.
/// - `table_prefix` (in): Prefix of the table, NUL-terminated; NULL for none.
/// - `prefix` (in): Prefix of the variables, NUL-terminated.
/// - `flags` (in): What to print.
/// - `filter` (in): Part of the names to print, NUL-terminated; NULL for all.
///
/// # Safety
/// `stream` is an open C stream, `opts` a filled structure of the table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_print_opts(
    stream: *mut FILE,
    title: *const c_char,
    opts: *const c_void,
    fields: *mut ucs_config_field_t,
    table_prefix: *const c_char,
    prefix: *const c_char,
    flags: ucs_config_print_flags_t,
    filter: *const c_char,
) {
    non_null!(; stream, opts, fields, prefix);
    // SAFETY: the caller's strings, here and below.
    let title = unsafe { text_of(title) };
    // SAFETY: as above.
    let table_prefix = unsafe { text_of(table_prefix) };
    // SAFETY: as above.
    let prefix = unsafe { text_of(prefix) };
    let filter = machine::program_argument(filter.addr());
    let mut text = String::new();
    // SAFETY: the caller's structure, which is only read.
    unsafe {
        print::print(
            opts.cast_mut(),
            fields,
            Some(&title),
            (&table_prefix, &prefix),
            style_of(flags),
            filter.as_deref(),
            &mut text,
        )
    };
    // SAFETY: the caller's stream.
    if let Err(e) = unsafe { stdio::write_stream(stream, text.as_bytes()) } {
        ucs_warn!("cannot print options: {e}");
    }
}

/// Prints the tables of a list with the values that the environment gives them; for `ucs_config_global_list` those of
/// the library first. `prefix` is `UCX_`, or `<application>_UCX_`, or the client's own. `ucs/config/parser.h`.
///
/// `filter` is as for `ucs_config_parser_print_opts`.
///
/// - `stream` (in): Open for writing.
/// - `prefix` (in): Prefix of the variables, such as `UCX_`, NUL-terminated.
/// - `flags` (in): What to print.
/// - `config_list` (in): List of tables.
/// - `filter` (in): Part of the names to print, NUL-terminated; NULL for all.
///
/// # Safety
/// `stream` must be an open C stream, `prefix` null or a C string, `config_list` null or a list of entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_print_all_opts(
    stream: *mut FILE,
    prefix: *const c_char,
    flags: ucs_config_print_flags_t,
    config_list: *mut ucs_list_link_t,
    filter: *const c_char,
) {
    non_null!(; stream);
    // SAFETY: the caller's string.
    let prefix = unsafe { text_of(prefix) };
    let base = if prefix.is_empty() {
        crate::ucs::config::PREFIX
    } else {
        &prefix
    };
    let filter = machine::program_argument(filter.addr());
    let style = style_of(flags);
    let mut text = String::new();
    own_print::preamble(style, &mut text);
    let own_too = config_list.is_null() || config_list == config::global_list();
    if own_too {
        config::print_own(base, style, filter.as_deref(), &mut text);
    }
    let list = if config_list.is_null() {
        config::global_list()
    } else {
        config_list
    };
    // SAFETY: the caller's list.
    for entry in unsafe { entries(list) } {
        // SAFETY: a live entry.
        unsafe { print_entry(&entry, base, style, filter.as_deref(), &mut text) };
    }
    // SAFETY: the caller's stream.
    if let Err(e) = unsafe { stdio::write_stream(stream, text.as_bytes()) } {
        ucs_warn!("cannot print the configuration: {e}");
    }
}

/// Prints one table, filled for that.
///
/// # Safety
/// `entry` is a live entry.
unsafe fn print_entry(
    entry: &EntryHead,
    base: &str,
    style: own_print::Style,
    filter: Option<&str>,
    text: &mut String,
) {
    // SAFETY: strings of a live entry.
    let (name, prefix) = unsafe { (text_of(entry.name), text_of(entry.prefix)) };
    let Some(room) = print::Structure::new(entry.size) else {
        return;
    };
    // SAFETY: a structure of the size that the client says.
    if unsafe { table::fill(room.at(), entry.table, &prefix, base, false) }.is_err() {
        ucs_warn!("the variables of '{name}' are not printed");
        return;
    }
    let title = format!("{name} configuration");
    // SAFETY: filled above.
    unsafe {
        print::print(
            room.at(),
            entry.table,
            Some(&title),
            (&prefix, base),
            style,
            filter,
            text,
        )
    };
    // SAFETY: as above, given up.
    unsafe { table::release(room.at(), entry.table) };
}

/// Warns once for each prefix of variables with it that nobody has read. `ucs/config/parser.h`.
///
/// - `env_prefix` (in): Prefix of the variables, such as `UCX_`, NUL-terminated.
///
/// # Safety
/// `env_prefix` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_print_env_vars_once(env_prefix: *const c_char) {
    non_null!(; env_prefix);
    // SAFETY: the caller's string.
    table::warn_unused(&unsafe { text_of(env_prefix) });
}

/// Appends the variables of the environment that were read, with a delimiter behind each. `ucs/config/parser.h`.
///
/// - `env_strb` (in,out): Gets the text behind what it holds.
/// - `delimiter` (in): Text between two, NUL-terminated.
///
/// # Safety
/// `env_strb` is a live buffer, `delimiter` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parser_get_env_vars(
    env_strb: *mut ucs_string_buffer_t,
    delimiter: *const c_char,
) {
    non_null!(; env_strb, delimiter);
    // SAFETY: the caller's string.
    let text = used_variables(&unsafe { text_of(delimiter) });
    // SAFETY: the caller's buffer. One that is full keeps what fits.
    let _ = unsafe { string_buffer::append(&mut *env_strb, text.as_bytes()) };
}

/// Reads a file of variables; with `override` it counts over others. `ucs/config/parser.h`.
///
/// - `dir_path` (in): Folder of the file, NUL-terminated.
/// - `file_name` (in): Name of the file, NUL-terminated.
/// - `override` (in): Nonzero: its values replace those of files that were read before.
///
/// # Safety
/// Both texts are C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_parse_config_file(
    dir_path: *const c_char,
    file_name: *const c_char,
    r#override: c_int,
) {
    non_null!(; dir_path, file_name);
    // SAFETY: the caller's strings.
    let (folder, name) = unsafe { (text_of(dir_path), text_of(file_name)) };
    env::add_file(&Path::new(&*folder).join(&*name), r#override != 0);
}

/// Reads the files of variables where that was not done yet. `ucs/config/parser.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_config_parse_config_files() {
    env::Source::now();
}

/// Forgets the files of variables. `ucs/config/parser.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_config_parser_cleanup() {
    env::forget_files();
}

/// What a size of a configuration means: `auto_size` for "auto", at most `max_size`. `ucs/config/parser.h`.
///
/// - `config_size` (in): The value of the option.
/// - `auto_size` (in): What "auto" means.
/// - `max_size` (in): Upper limit.
/// - returns: Bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_config_memunits_get(
    config_size: usize,
    auto_size: usize,
    max_size: usize,
) -> usize {
    if config_size == crate::ucs::config::AUTO {
        auto_size
    } else {
        config_size.min(max_size)
    }
}

/// Number of the first pattern that a text matches, -1 when there is none. `ucs/config/parser.h`.
///
/// - `config_names` (in): The patterns.
/// - `str` (in): The text, NUL-terminated.
/// - returns: Number of the pattern, or -1.
///
/// # Safety
/// `config_names` is an array of strings, `str` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_names_search(
    config_names: *const ucs_config_names_array_t,
    str: *const c_char,
) -> c_int {
    non_null!(-1; config_names, str);
    // SAFETY: the caller's string.
    let text = unsafe { text_of(str) };
    // SAFETY: the caller's array.
    let patterns = unsafe { lists::strings(&*config_names) };
    let at = patterns
        .iter()
        .position(|pattern| matches_pattern(pattern, &text));
    at.and_then(|at| c_int::try_from(at).ok()).unwrap_or(-1)
}

/// 1 when a list allows nothing, else 0. `ucs/config/parser.h`.
///
/// - `allow_list` (in): The list.
/// - returns: 1 or 0.
///
/// # Safety
/// `allow_list` is a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_is_allow_list_empty(
    allow_list: *const ucs_config_allow_list_t,
) -> c_int {
    non_null!(1; allow_list);
    // SAFETY: the caller's promise.
    c_int::from(lists::is_empty(unsafe { &*allow_list }))
}

/// 1 when none of several lists allows anything, else 0. `ucs/config/parser.h`.
///
/// - `allow_lists` (in): The lists.
/// - `count` (in): Their number.
/// - returns: 1 or 0.
///
/// # Safety
/// `allow_lists` has `count` lists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_are_all_allow_lists_empty(
    allow_lists: *const ucs_config_allow_list_t,
    count: usize,
) -> c_int {
    if count == 0 {
        return 1;
    }
    non_null!(1; allow_lists);
    // SAFETY: the caller's promise.
    let lists = unsafe { core::slice::from_raw_parts(allow_lists, count) };
    c_int::from(lists.iter().all(lists::is_empty))
}
