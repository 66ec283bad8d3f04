//! `ucs/vfs/base/vfs_obj.h`: types and constants.

use crate::c::prelude::*;

/// What a node is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_vfs_path_info_t {
    /// Bytes of a file, or children of a directory.
    pub size: usize,
    /// S_IFREG, S_IFDIR or S_IFLNK, with rights.
    pub mode: c_int,
}
const _: () = {
    assert!(size_of::<ucs_vfs_path_info_t>() == 16);
    assert!(offset_of!(ucs_vfs_path_info_t, mode) == 8);
};

/// Appends the text of a file.
///
/// - `obj` (in): Address of the object.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `arg_ptr` (in): As it was given with the file.
/// - `arg_u64` (in): As it was given with the file.
pub type ucs_vfs_file_read_cb_t = Option<
    unsafe extern "C" fn(
        obj: *mut c_void,
        strb: *mut ucs_string_buffer_t,
        arg_ptr: *mut c_void,
        arg_u64: u64,
    ),
>;

/// Takes the text that is written to a file.
///
/// - `obj` (in): Address of the object.
/// - `buffer` (in): The text.
/// - `size` (in): Its bytes.
/// - `arg_ptr` (in): As it was given with the file.
/// - `arg_u64` (in): As it was given with the file.
/// - returns: UCS_OK, or an error for a text that does not fit.
pub type ucs_vfs_file_write_cb_t = Option<
    unsafe extern "C" fn(
        obj: *mut c_void,
        buffer: *const c_char,
        size: usize,
        arg_ptr: *mut c_void,
        arg_u64: u64,
    ) -> ucs_status_t,
>;

/// Brings the nodes of an object up to date.
///
/// - `obj` (in): Address of the object.
pub type ucs_vfs_refresh_cb_t = Option<unsafe extern "C" fn(obj: *mut c_void)>;

/// Is handed the name of each child of a directory.
///
/// - `name` (in): Name of the child, NUL-terminated.
/// - `arg` (in): As it was given to `ucs_vfs_path_list_dir`.
pub type ucs_vfs_list_dir_cb_t =
    Option<unsafe extern "C" fn(name: *const c_char, arg: *mut c_void)>;
