//! `ucs/vfs/base/vfs_obj.h` and `vfs_cb.h`. No daemon shows the tree (`UCX_VFS_ENABLE`), and the library's own objects are
//! not in it.

use crate::abi::args::non_null;
use crate::abi::jump::{hidden_name, jump};
use crate::abi::ucs::text_of;
use crate::c::prelude::*;
use crate::ucs::compat::vfs::{self, File, Pointer};
use crate::ucs::config::units;
use crate::ucs::status::code_of;
use crate::ucs::string_buffer;
use std::ffi::CString;

unsafe extern "C" {
    fn ferrucx_vfs_obj_add_dir();
    fn ferrucx_vfs_obj_add_ro_file();
    fn ferrucx_vfs_obj_add_rw_file();
    fn ferrucx_vfs_obj_add_sym_link();
}

/// Shows an object as a directory: `(void *parent_obj, void *obj, const char *rel_path, ...)`.
/// UCS_ERR_ALREADY_EXISTS when it is shown there, UCS_ERR_INVALID_PARAM when the parent is not shown, UCS_ERR_NO_MEMORY
/// when it is shown elsewhere. `ucs/vfs/base/vfs_obj.h`.
///
/// # Safety
/// Format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_obj_add_dir() {
    jump!(ferrucx_vfs_obj_add_dir);
}

/// Adds a file below an object: `(void *obj, ucs_vfs_file_read_cb_t read_cb, void *arg_ptr, uint64_t arg_u64, const char
/// *rel_path, ...)`. Errors as for `ucs_vfs_obj_add_dir`. `ucs/vfs/base/vfs_obj.h`.
///
/// # Safety
/// `read_cb` may be called with the arguments until the object is removed; format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_obj_add_ro_file() {
    jump!(ferrucx_vfs_obj_add_ro_file);
}

/// The same for a file that can be written: `(void *obj, ucs_vfs_file_read_cb_t read_cb, ucs_vfs_file_write_cb_t write_cb,
/// void *arg_ptr, uint64_t arg_u64, const char *rel_path, ...)`. `ucs/vfs/base/vfs_obj.h`.
///
/// # Safety
/// As for `ucs_vfs_obj_add_ro_file`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_obj_add_rw_file() {
    jump!(ferrucx_vfs_obj_add_rw_file);
}

/// Adds a link to an object's directory: `(void *obj, void *target_obj, const char *rel_path, ...)`. Errors as for
/// `ucs_vfs_obj_add_dir`. `ucs/vfs/base/vfs_obj.h`.
///
/// # Safety
/// Format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_obj_add_sym_link() {
    jump!(ferrucx_vfs_obj_add_sym_link);
}

/// The C part's way back, with the formatted name.
///
/// # Safety
/// `name` is a C string.
unsafe extern "C" fn add_dir(
    parent: *mut c_void,
    object: *mut c_void,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    let added = vfs::add_directory(Pointer(parent), Pointer(object), &name);
    code_of(&added).into()
}

/// # Safety
/// As for `add_dir`; the functions are the client's.
unsafe extern "C" fn add_file(
    object: *mut c_void,
    read: ucs_vfs_file_read_cb_t,
    write: ucs_vfs_file_write_cb_t,
    arg: *mut c_void,
    number: u64,
    name: *const c_char,
) -> c_int {
    let Some(read) = read else {
        crate::ucs_error!("a file of an object: argument `read_cb` is NULL");
        return UCS_ERR_INVALID_PARAM.into();
    };
    let file = File {
        object: Pointer(object),
        read,
        write,
        arg: Pointer(arg),
        number,
    };
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    code_of(&vfs::add_file(file, &name)).into()
}

/// # Safety
/// As for `add_dir`.
unsafe extern "C" fn add_link(
    object: *mut c_void,
    target: *mut c_void,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    code_of(&vfs::add_link(Pointer(object), Pointer(target), &name)).into()
}

hidden_name!("ferrucx_vfs_add_dir", add_dir);
hidden_name!("ferrucx_vfs_add_file", add_file);
hidden_name!("ferrucx_vfs_add_link", add_link);

/// Removes an object, all below it, and links to what goes. `ucs/vfs/base/vfs_obj.h`.
///
/// - `obj` (in): Address of the object.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_vfs_obj_remove(obj: *mut c_void) {
    vfs::remove(Pointer(obj));
}

/// Has `refresh_cb` called, once, before somebody looks at an object's directory. `ucs/vfs/base/vfs_obj.h`.
///
/// - `obj` (in): Address of the object.
/// - `refresh_cb` (in): Brings the object's nodes up to date.
///
/// # Safety
/// `refresh_cb` may be called with the object until it is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_obj_set_dirty(obj: *mut c_void, refresh_cb: ucs_vfs_refresh_cb_t) {
    vfs::set_dirty(Pointer(obj), refresh_cb);
}

/// What the node at a path is. UCS_ERR_NO_ELEM without one. `ucs/vfs/base/vfs_obj.h`.
///
/// - `path` (in): Path, NUL-terminated.
/// - `info` (out): What the node is.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when there is none.
///
/// # Safety
/// `path` is null or a C string, `info` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_path_get_info(
    path: *const c_char,
    info: *mut ucs_vfs_path_info_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; path, info);
    // SAFETY: the caller's string.
    let path = unsafe { text_of(path) };
    match vfs::info(&path) {
        Ok(found) => {
            let found = ucs_vfs_path_info_t {
                size: found.size,
                mode: found.mode,
            };
            // SAFETY: checked above; the caller vouches for it.
            unsafe { info.write(found) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// Appends a file's text. UCS_ERR_NO_ELEM for what is no file. `ucs/vfs/base/vfs_obj.h`.
///
/// - `path` (in): Path, NUL-terminated.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when there is none.
///
/// # Safety
/// `path` is null or a C string, `strb` null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_path_read_file(
    path: *const c_char,
    strb: *mut ucs_string_buffer_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; path, strb);
    // SAFETY: the caller's string.
    let path = unsafe { text_of(path) };
    // SAFETY: the caller's buffer.
    code_of(&unsafe { vfs::read(&path, strb) })
}

/// Writes a text to a file; answers what its function does, or UCS_ERR_NO_ELEM where there is none.
/// `ucs/vfs/base/vfs_obj.h`.
///
/// - `path` (in): Path, NUL-terminated.
/// - `buffer` (in): The text.
/// - `size` (in): Its bytes.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when there is none; the error of the file's function.
///
/// # Safety
/// `path` is null or a C string, `buffer` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_path_write_file(
    path: *const c_char,
    buffer: *const c_char,
    size: usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; path, buffer);
    // SAFETY: the caller's string.
    let path = unsafe { text_of(path) };
    // SAFETY: the caller's text.
    unsafe { vfs::write(&path, buffer, size) }.unwrap_or_else(|status| status.code())
}

/// Calls `dir_cb` with the name of each child of a directory. UCS_ERR_NO_ELEM for what is none.
/// `ucs/vfs/base/vfs_obj.h`.
///
/// - `path` (in): Path, NUL-terminated.
/// - `dir_cb` (in): Gets each name.
/// - `arg` (in): Its last argument.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when there is none.
///
/// # Safety
/// `path` is null or a C string, `dir_cb` may be called with `arg`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_path_list_dir(
    path: *const c_char,
    dir_cb: ucs_vfs_list_dir_cb_t,
    arg: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; path);
    let Some(dir_cb) = dir_cb else {
        crate::abi::args::missing(crate::abi::args::function!(), "dir_cb");
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's string.
    let path = unsafe { text_of(path) };
    let names = match vfs::list(&path) {
        Ok(names) => names,
        Err(status) => return status.code(),
    };
    for name in names {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the caller's function.
        unsafe { dir_cb(name.as_ptr(), arg) };
    }
    UCS_OK
}

/// Appends the text of a link, the way from its directory to the target. UCS_ERR_NO_ELEM for what is none.
/// `ucs/vfs/base/vfs_obj.h`.
///
/// - `path` (in): Path, NUL-terminated.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM when there is none.
///
/// # Safety
/// `path` is null or a C string, `strb` null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_path_get_link(
    path: *const c_char,
    strb: *mut ucs_string_buffer_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; path, strb);
    // SAFETY: the caller's string.
    let path = unsafe { text_of(path) };
    let appended = vfs::link(&path).and_then(|way| {
        // SAFETY: the caller's buffer.
        unsafe { string_buffer::append(&mut *strb, way.as_bytes()) }
    });
    code_of(&appended)
}

/// Appends a line.
///
/// # Safety
/// `strb` is null or a live buffer.
unsafe fn put_line(strb: *mut ucs_string_buffer_t, text: &str) {
    non_null!(; strb);
    // Fixed storage takes what fits.
    // SAFETY: the caller's buffer.
    let _ = unsafe { string_buffer::append(&mut *strb, format!("{text}\n").as_bytes()) };
}

/// An address as C prints it.
fn address(pointer: *const c_void) -> String {
    if pointer.is_null() {
        "(nil)".to_owned()
    } else {
        format!("{pointer:p}")
    }
}

/// Reads a file that shows the object's address. `ucs/vfs/base/vfs_cb.h`.
///
/// - `obj` (in): Address of the object.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `arg_ptr` (in): As it was given with the file.
/// - `arg_u64` (in): As it was given with the file.
///
/// # Safety
/// `strb` is null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_show_memory_address(
    obj: *mut c_void,
    strb: *mut ucs_string_buffer_t,
    _arg_ptr: *mut c_void,
    _arg_u64: u64,
) {
    // SAFETY: the caller's buffer.
    unsafe { put_line(strb, &address(obj)) };
}

/// Reads a file that shows a variable: `arg_ptr` is its address, or the text itself, `arg_u64` its
/// `ucs_vfs_primitive_type_t`. `ucs/vfs/base/vfs_cb.h`.
///
/// - `obj` (in): Address of the object.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `arg_ptr` (in): As it was given with the file.
/// - `arg_u64` (in): As it was given with the file.
///
/// # Safety
/// `strb` is null or a live buffer, `arg_ptr` null or a variable of this type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_show_primitive(
    _obj: *mut c_void,
    strb: *mut ucs_string_buffer_t,
    arg_ptr: *mut c_void,
    arg_u64: u64,
) {
    non_null!(; arg_ptr);
    let flags = UCS_VFS_TYPE_FLAG_UNSIGNED | UCS_VFS_TYPE_FLAG_HEX;
    let kind = arg_u64 as ucs_vfs_primitive_type_t;
    let number: i64 = match kind & !flags {
        UCS_VFS_TYPE_POINTER => {
            // SAFETY: the caller's variable, here and below.
            let pointer = unsafe { arg_ptr.cast::<*const c_void>().read() };
            // SAFETY: the caller's buffer, here and below.
            return unsafe { put_line(strb, &address(pointer)) };
        }
        UCS_VFS_TYPE_STRING => {
            // SAFETY: the caller's string.
            let text = unsafe { text_of(arg_ptr.cast()) };
            // SAFETY: as above.
            return unsafe { put_line(strb, &text) };
        }
        // SAFETY: as above.
        UCS_VFS_TYPE_CHAR => unsafe { arg_ptr.cast::<i8>().read() }.into(),
        // SAFETY: as above.
        UCS_VFS_TYPE_SHORT => unsafe { arg_ptr.cast::<i16>().read() }.into(),
        // SAFETY: as above.
        UCS_VFS_TYPE_INT => unsafe { arg_ptr.cast::<i32>().read() }.into(),
        // SAFETY: as above.
        UCS_VFS_TYPE_LONG => unsafe { arg_ptr.cast::<i64>().read() },
        _ => return crate::ucs_error!("{arg_u64:#x} is no type of a variable to be shown"),
    };
    let unsigned = match kind & !flags {
        UCS_VFS_TYPE_CHAR => u64::from(number as u8),
        UCS_VFS_TYPE_SHORT => u64::from(number as u16),
        UCS_VFS_TYPE_INT => u64::from(number as u32),
        _ => number as u64,
    };
    let text = if kind & UCS_VFS_TYPE_FLAG_HEX != 0 {
        format!("{unsigned:#x}")
    } else if kind & UCS_VFS_TYPE_FLAG_UNSIGNED != 0 {
        unsigned.to_string()
    } else {
        number.to_string()
    };
    // SAFETY: as above.
    unsafe { put_line(strb, &text) };
}

/// Reads a file that shows the number at `arg_ptr`, or `auto`, or `inf`. `ucs/vfs/base/vfs_cb.h`.
///
/// - `obj` (in): Address of the object.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `arg_ptr` (in): As it was given with the file.
/// - `arg_u64` (in): As it was given with the file.
///
/// # Safety
/// `strb` is null or a live buffer, `arg_ptr` null or a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_show_ulunits(
    _obj: *mut c_void,
    strb: *mut ucs_string_buffer_t,
    arg_ptr: *mut c_void,
    _arg_u64: u64,
) {
    non_null!(; arg_ptr);
    // SAFETY: the caller's variable.
    let value = unsafe { arg_ptr.cast::<usize>().read() };
    // SAFETY: the caller's buffer.
    unsafe { put_line(strb, &units::print_count(value)) };
}

/// Reads a file that shows the bytes at `arg_ptr`, as `4K` or so, or `auto`, or `inf`. `ucs/vfs/base/vfs_cb.h`.
///
/// - `obj` (in): Address of the object.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `arg_ptr` (in): As it was given with the file.
/// - `arg_u64` (in): As it was given with the file.
///
/// # Safety
/// `strb` is null or a live buffer, `arg_ptr` null or a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vfs_show_memunits(
    _obj: *mut c_void,
    strb: *mut ucs_string_buffer_t,
    arg_ptr: *mut c_void,
    _arg_u64: u64,
) {
    non_null!(; arg_ptr);
    // SAFETY: the caller's variable.
    let value = unsafe { arg_ptr.cast::<usize>().read() };
    // SAFETY: the caller's buffer.
    unsafe { put_line(strb, &units::print_memory(value)) };
}
