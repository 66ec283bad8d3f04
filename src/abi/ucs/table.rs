//! `ucs/debug/table.h`, which is not installed: tables that `ucx_info` of 1.22 draws.

use super::text_of;
use crate::abi::args::non_null;
use crate::abi::jump::{hidden_name, jump};
use crate::c::prelude::*;
use crate::ucs::table::{Align, Table};

/// Makes a table of `config->n_cols` columns; every line begins with `row_prefix`.
///
/// # Safety
/// `table` is null or 48 writable bytes, `config` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_table_init(
    table: *mut ucs_table_t,
    config: *const ucs_table_config_t,
) {
    non_null!(; table, config);
    // SAFETY: checked above; the caller vouches for it.
    let config = unsafe { config.read() };
    // SAFETY: null or a C string.
    let prefix = unsafe { text_of(config.row_prefix) }.into_owned();
    let object = Table::new(config.n_cols as usize, prefix, config.equal_widths != 0);
    let new = ucs_table {
        config,
        object: Box::into_raw(Box::new(object)).cast(),
        unused: 0,
        status: UCS_OK,
    };
    // SAFETY: as above.
    unsafe { table.write(new) };
}

/// Frees a table.
///
/// # Safety
/// `table` is null or from `ucs_table_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_table_cleanup(table: *mut ucs_table_t) {
    non_null!(; table);
    // SAFETY: checked above; the caller vouches for it.
    let object = unsafe { core::mem::replace(&mut (*table).object, core::ptr::null_mut()) };
    if !object.is_null() {
        // SAFETY: `ucs_table_init` made it from a box.
        drop(unsafe { Box::from_raw(object.cast::<Table>()) });
    }
}

/// Draws a line under the last row.
///
/// # Safety
/// `table` is null or from `ucs_table_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_table_add_separator(table: *mut ucs_table_t) {
    // SAFETY: the caller's promise.
    if let Some(table) = unsafe { table_of(table) } {
        table.add_separator();
    }
}

/// Starts a row; `*row_p` names it to the functions that add cells.
///
/// # Safety
/// `table` is null or from `ucs_table_init`, `row_p` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_table_add_row(table: *mut ucs_table_t, row_p: *mut ucs_table_row_h) {
    non_null!(; row_p);
    // SAFETY: the caller's promise.
    if let Some(table) = unsafe { table_of(table) } {
        // SAFETY: checked above; the caller vouches for it.
        unsafe { row_p.write(table.add_row() as ucs_table_row_h) };
    }
}

/// Adds an empty cell over `col_span` columns.
///
/// # Safety
/// `table` is null or from `ucs_table_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_table_row_add_cell_empty(
    table: *mut ucs_table_t,
    row: ucs_table_row_h,
    col_span: c_uint,
) {
    // SAFETY: the caller's promise; an empty C string.
    unsafe { add_text(table, row, col_span, UCS_TABLE_ALIGN_LEFT, c"".as_ptr()) };
}

/// Prints the table to the standard output.
///
/// # Safety
/// `table` is null or from `ucs_table_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_table_print(table: *mut ucs_table_t) {
    // SAFETY: the caller's promise.
    if let Some(table) = unsafe { table_of(table) } {
        crate::sys::stdio::print(&table.render());
    }
}

unsafe extern "C" {
    fn ferrucx_table_row_add_cell_fmt(
        table: *mut ucs_table_t,
        row: ucs_table_row_h,
        col_span: c_uint,
        align: ucs_table_align_t,
        fmt: *const c_char,
        ...
    );
}

/// Adds a cell with formatted text: `(ucs_table_t *table, ucs_table_row_h row, unsigned col_span,
/// ucs_table_align_t align, const char *fmt, ...)`.
///
/// # Safety
/// `table` is null or from `ucs_table_init`; format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_table_row_add_cell_fmt() {
    jump!(ferrucx_table_row_add_cell_fmt);
}

/// The C part's way back with the formatted text.
unsafe extern "C" fn add_text(
    table: *mut ucs_table_t,
    row: ucs_table_row_h,
    col_span: c_uint,
    align: ucs_table_align_t,
    text: *const c_char,
) {
    let align = match align {
        UCS_TABLE_ALIGN_RIGHT => Align::Right,
        UCS_TABLE_ALIGN_CENTER => Align::Center,
        _ => Align::Left,
    };
    // SAFETY: the caller's promise.
    let Some(table) = (unsafe { table_of(table) }) else {
        return;
    };
    // SAFETY: the caller's promise.
    let text = unsafe { text_of(text) }.into_owned();
    if !table.add_cell(row as usize, col_span as usize, align, text) {
        crate::ucs_error!(
            "a cell over {col_span} columns does not fit into row {row} of the table"
        );
    }
}

unsafe fn table_of<'a>(table: *mut ucs_table_t) -> Option<&'a mut Table> {
    non_null!(None; table);
    // SAFETY: the caller vouches for a table, whose object is null or from `ucs_table_init`.
    unsafe { (*table).object.cast::<Table>().as_mut() }
}

hidden_name!("ferrucx_table_add_text", add_text);
