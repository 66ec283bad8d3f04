//! Values made of names: one of them, some of them as bits, arrays of values, and lists of what is allowed.

use super::layout;
use super::values::{read, write};
use crate::c::{
    UCS_CONFIG_ALLOW_LIST_ALLOW, UCS_CONFIG_ALLOW_LIST_ALLOW_ALL, UCS_CONFIG_ALLOW_LIST_NEGATE,
    ucs_config_allow_list_t, ucs_config_names_array_t,
};
use crate::sys::heap;
use crate::ucs::config::{AllowList, Kind, Value};
use crate::ucs::{Result, Status};
use core::ffi::{CStr, c_char, c_uint, c_void};
use std::ffi::CString;

/// Most elements of an array.
const ARRAY_MAX: usize = 128;
/// The word that allows everything.
const ALL: &str = "all";

/// The names that a client's array lists, up to its NULL.
///
/// # Safety
/// `arg` is null or such an array, which stays.
unsafe fn names<'n>(arg: *const c_void) -> impl Iterator<Item = &'n CStr> {
    let mut at: *const *const c_char = arg.cast();
    core::iter::from_fn(move || {
        if at.is_null() {
            return None;
        }
        // SAFETY: the caller's array, before its end.
        let name = unsafe { at.read() };
        if name.is_null() {
            return None;
        }
        at = at.wrapping_add(1);
        // SAFETY: the caller's string.
        Some(unsafe { CStr::from_ptr(name) })
    })
}

/// Which name a text is, in any case.
///
/// # Safety
/// As for `names`.
unsafe fn index_of(text: &[u8], arg: *const c_void) -> Option<u32> {
    // SAFETY: the caller's promise.
    let at = unsafe { names(arg) }.position(|name| name.to_bytes().eq_ignore_ascii_case(text));
    at.and_then(|at| u32::try_from(at).ok())
}

/// # Safety
/// As for `names`.
unsafe fn joined(arg: *const c_void, separator: &str) -> String {
    // SAFETY: the caller's promise.
    let all: Vec<_> = unsafe { names(arg) }.map(CStr::to_string_lossy).collect();
    all.join(separator)
}

/// The number of a name.
///
/// # Safety
/// `dest` is a place for an unsigned number; `arg` lists the names, here and below.
pub unsafe fn read_enum(text: &CStr, dest: *mut c_void, arg: *const c_void) -> bool {
    // SAFETY: the caller's names.
    let Some(index) = (unsafe { index_of(text.to_bytes(), arg) }) else {
        return false;
    };
    // SAFETY: the caller's place.
    unsafe { dest.cast::<u32>().write(index) };
    true
}

/// # Safety
/// `src` is an unsigned number.
pub unsafe fn write_enum(src: *const c_void, arg: *const c_void) -> String {
    // SAFETY: the caller's value.
    let index = unsafe { src.cast::<u32>().read() };
    // SAFETY: the caller's names.
    let name = unsafe { names(arg) }.nth(index as usize);
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// # Safety
/// `arg` lists the names.
pub unsafe fn help_enum(arg: *const c_void) -> String {
    // SAFETY: the caller's names.
    format!("[{}]", unsafe { joined(arg, "|") })
}

/// A number, or a name, counted down from the largest number.
///
/// # Safety
/// As for `read_enum`.
pub unsafe fn read_uint_enum(text: &CStr, dest: *mut c_void, arg: *const c_void) -> bool {
    // SAFETY: the caller's names.
    match unsafe { index_of(text.to_bytes(), arg) } {
        Some(index) => {
            // SAFETY: the caller's place.
            unsafe { dest.cast::<u32>().write(u32::MAX - index) };
            true
        }
        // SAFETY: the caller's place.
        None => unsafe { read::<u32>(Kind::UInt, text, dest) },
    }
}

/// # Safety
/// As for `write_enum`.
pub unsafe fn write_uint_enum(src: *const c_void, arg: *const c_void) -> String {
    // SAFETY: the caller's value.
    let number = unsafe { src.cast::<u32>().read() };
    // SAFETY: the caller's names.
    match unsafe { names(arg) }.nth((u32::MAX - number) as usize) {
        Some(name) => name.to_string_lossy().into_owned(),
        // SAFETY: the caller's value.
        None => unsafe { write::<u32>(Kind::UInt, src) },
    }
}

/// # Safety
/// `arg` lists the names.
pub unsafe fn help_uint_enum(arg: *const c_void) -> String {
    // SAFETY: the caller's names.
    format!("a numerical value, or:{}", unsafe { help_enum(arg) })
}

/// The bits of names. `narrow` places have 4 bytes, others 8.
///
/// # Safety
/// `dest` is such a place; `arg` lists the names.
pub unsafe fn read_bitmap(
    text: &CStr,
    dest: *mut c_void,
    arg: *const c_void,
    narrow: bool,
) -> bool {
    let mut mask = 0u64;
    let parts = text
        .to_bytes()
        .split(|c| *c == b',')
        .map(<[u8]>::trim_ascii);
    for part in parts.filter(|part| !part.is_empty()) {
        // SAFETY: the caller's names.
        let index = unsafe { index_of(part, arg) };
        match index.and_then(|index| 1u64.checked_shl(index)) {
            Some(bit) if !narrow || bit <= u64::from(u32::MAX) => mask |= bit,
            _ => return false,
        }
    }
    if narrow {
        // SAFETY: the caller's place.
        unsafe { dest.cast::<u32>().write(mask as u32) };
    } else {
        // SAFETY: as above; only its alignment is not known.
        unsafe { dest.cast::<u64>().write_unaligned(mask) };
    }
    true
}

/// # Safety
/// `src` is such a mask.
pub unsafe fn write_bitmap(src: *const c_void, arg: *const c_void, narrow: bool) -> String {
    let mask = if narrow {
        // SAFETY: the caller's value.
        u64::from(unsafe { src.cast::<u32>().read() })
    } else {
        // SAFETY: as above.
        unsafe { src.cast::<u64>().read_unaligned() }
    };
    // SAFETY: the caller's names.
    let all = unsafe { names(arg) }.zip(0u32..64);
    let set = all.filter(|(_, bit)| mask >> bit & 1 == 1);
    set.map(|(name, _)| name.to_string_lossy())
        .collect::<Vec<_>>()
        .join(",")
}

/// # Safety
/// `arg` lists the names.
pub unsafe fn help_bitmap(arg: *const c_void) -> String {
    // SAFETY: the caller's names.
    format!("comma-separated list of: {}", unsafe { help_enum(arg) })
}

/// An array as C has it, of elements of any type.
type Array = ucs_config_names_array_t;

/// The parts of a text; the one behind a last separator is none.
fn parts(text: &[u8], separator: u8) -> Vec<&[u8]> {
    let mut parts: Vec<_> = text.split(|c| *c == separator).collect();
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    parts
}

/// Elements of an array type from texts. On an error nothing is left behind.
///
/// # Safety
/// `arg` is an array type, here and below.
unsafe fn make(texts: &[&[u8]], arg: *const c_void) -> Option<Array> {
    // SAFETY: the caller's type.
    let (elem_size, parser) = unsafe { layout::array_type(arg) };
    let count = texts.len().min(ARRAY_MAX);
    let mut array = Array {
        names: core::ptr::null_mut(),
        count: 0,
        truncated: c_uint::from(count < texts.len()),
    };
    if count == 0 {
        return Some(array);
    }
    let storage = heap::calloc(count, elem_size);
    array.names = storage.cast();
    if storage.is_null() {
        return None;
    }
    for text in &texts[..count] {
        let element = storage.wrapping_byte_add(array.count as usize * elem_size);
        let text = CString::new(*text).unwrap_or_default();
        // SAFETY: the next element.
        if !unsafe { parser.read(&text, element) } {
            // SAFETY: an array of this type.
            unsafe { release(&array, arg) };
            return None;
        }
        array.count += 1;
    }
    Some(array)
}

/// Frees elements and storage.
///
/// # Safety
/// `array` is an array of the type, given up.
unsafe fn release(array: &Array, arg: *const c_void) {
    // SAFETY: the caller's type.
    let (elem_size, parser) = unsafe { layout::array_type(arg) };
    let storage: *mut c_void = array.names.cast();
    for i in 0..array.count as usize {
        // SAFETY: an element.
        unsafe { parser.release(storage.wrapping_byte_add(i * elem_size)) };
    }
    // SAFETY: the caller's storage on the C heap.
    unsafe { heap::free(storage) };
}

/// # Safety
/// `array` is an array of the type.
unsafe fn print(array: &Array, arg: *const c_void, separator: &str) -> String {
    // SAFETY: the caller's type.
    let (elem_size, parser) = unsafe { layout::array_type(arg) };
    let storage: *const c_void = array.names.cast();
    let element = |i: usize| storage.wrapping_byte_add(i * elem_size);
    let texts: Vec<_> = (0..array.count as usize)
        // SAFETY: an element.
        .map(|i| unsafe { parser.write(element(i)) })
        .collect();
    texts.join(separator)
}

/// # Safety
/// `from` is an array of the type.
unsafe fn copied(from: &Array, arg: *const c_void) -> Result<Array> {
    // SAFETY: the caller's type.
    let (elem_size, parser) = unsafe { layout::array_type(arg) };
    let mut array = Array {
        names: core::ptr::null_mut(),
        count: 0,
        truncated: from.truncated,
    };
    if from.count == 0 {
        return Ok(array);
    }
    let storage = heap::calloc(from.count as usize, elem_size);
    array.names = storage.cast();
    if storage.is_null() {
        return Err(Status::NO_MEMORY);
    }
    let source: *const c_void = from.names.cast();
    while array.count < from.count {
        let at = array.count as usize * elem_size;
        // SAFETY: an element and the place for its copy.
        let done =
            unsafe { parser.copy(source.wrapping_byte_add(at), storage.wrapping_byte_add(at)) };
        if let Err(status) = done {
            // SAFETY: what was copied so far.
            unsafe { release(&array, arg) };
            return Err(status);
        }
        array.count += 1;
    }
    Ok(array)
}

/// An array of values with separators between.
///
/// # Safety
/// `dest` is a place for an array.
pub unsafe fn read_array(
    text: &CStr,
    dest: *mut c_void,
    arg: *const c_void,
    separator: u8,
) -> bool {
    // SAFETY: the caller's type.
    let Some(array) = (unsafe { make(&parts(text.to_bytes(), separator), arg) }) else {
        return false;
    };
    // SAFETY: the caller's place.
    unsafe { dest.cast::<Array>().write(array) };
    true
}

/// # Safety
/// `src` is an array.
pub unsafe fn write_array(src: *const c_void, arg: *const c_void, separator: &str) -> String {
    // SAFETY: the caller's value and type.
    unsafe { print(&*src.cast::<Array>(), arg, separator) }
}

/// # Safety
/// `src` is an array, `dest` a place for one.
pub unsafe fn copy_array(src: *const c_void, dest: *mut c_void, arg: *const c_void) -> Result<()> {
    // SAFETY: the caller's value and type.
    let array = unsafe { copied(&*src.cast::<Array>(), arg) }?;
    // SAFETY: the caller's place.
    unsafe { dest.cast::<Array>().write(array) };
    Ok(())
}

/// # Safety
/// `value` is an array, given up.
pub unsafe fn release_array(value: *mut c_void, arg: *const c_void) {
    // SAFETY: the caller's value and type.
    unsafe { release(&*value.cast::<Array>(), arg) };
}

/// # Safety
/// `arg` is an array type.
pub unsafe fn help_array(arg: *const c_void, between: &str) -> String {
    // SAFETY: the caller's type.
    let (_, parser) = unsafe { layout::array_type(arg) };
    // SAFETY: as above.
    format!("{between}-separated list of: {}", unsafe { parser.help() })
}

/// A list of what is allowed, or behind `^` of what is not; with `ranges`, `x[1-3]` stands for three names.
///
/// # Safety
/// `dest` is a place for one.
pub unsafe fn read_allow_list(
    text: &CStr,
    dest: *mut c_void,
    arg: *const c_void,
    ranges: bool,
) -> bool {
    let Ok(text) = text.to_str() else {
        return false;
    };
    let (mode, listed) = match text.strip_prefix('^') {
        Some(rest) => (UCS_CONFIG_ALLOW_LIST_NEGATE, rest),
        None => (UCS_CONFIG_ALLOW_LIST_ALLOW, text),
    };
    let mut names: Vec<String> = Vec::new();
    for part in parts(listed.as_bytes(), b',') {
        let part = String::from_utf8_lossy(part);
        match Kind::AllowRanges.parse(&part) {
            Some(Value::Allow(AllowList::Only(several))) if ranges && part.contains('[') => {
                names.extend(several);
            }
            None if ranges && part.contains('[') => return false,
            _ => names.push(part.into_owned()),
        }
    }
    let (mode, names) = if names == [ALL] {
        (UCS_CONFIG_ALLOW_LIST_ALLOW_ALL, Vec::new())
    } else {
        (mode, names)
    };
    let texts: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    // SAFETY: the caller's type.
    let Some(array) = (unsafe { make(&texts, arg) }) else {
        return false;
    };
    // SAFETY: the caller's place.
    unsafe {
        dest.cast::<ucs_config_allow_list_t>()
            .write(ucs_config_allow_list_t { array, mode })
    };
    true
}

/// # Safety
/// `src` is such a list.
pub unsafe fn write_allow_list(src: *const c_void, arg: *const c_void) -> String {
    // SAFETY: the caller's value.
    let list = unsafe { &*src.cast::<ucs_config_allow_list_t>() };
    // SAFETY: its array.
    let names = unsafe { print(&list.array, arg, ",") };
    match list.mode {
        UCS_CONFIG_ALLOW_LIST_ALLOW_ALL => ALL.to_owned(),
        UCS_CONFIG_ALLOW_LIST_NEGATE => format!("^{names}"),
        _ => names,
    }
}

/// # Safety
/// `src` is such a list, `dest` a place for one.
pub unsafe fn copy_allow_list(
    src: *const c_void,
    dest: *mut c_void,
    arg: *const c_void,
) -> Result<()> {
    // SAFETY: the caller's value.
    let list = unsafe { &*src.cast::<ucs_config_allow_list_t>() };
    // SAFETY: its array.
    let array = unsafe { copied(&list.array, arg) }?;
    let copy = ucs_config_allow_list_t {
        array,
        mode: list.mode,
    };
    // SAFETY: the caller's place.
    unsafe { dest.cast::<ucs_config_allow_list_t>().write(copy) };
    Ok(())
}

/// # Safety
/// `value` is such a list, given up.
pub unsafe fn release_allow_list(value: *mut c_void, arg: *const c_void) {
    // SAFETY: the caller's value.
    let list = unsafe { &*value.cast::<ucs_config_allow_list_t>() };
    // SAFETY: its array.
    unsafe { release(&list.array, arg) };
}

/// # Safety
/// `arg` is an array type.
pub unsafe fn help_allow_list(arg: *const c_void, ranges: bool) -> String {
    // SAFETY: the caller's type.
    let (_, parser) = unsafe { layout::array_type(arg) };
    let ranges = if ranges {
        " use format \"prefix[start-end]suffix\" for ranges,"
    } else {
        ""
    };
    // SAFETY: as above.
    let of = unsafe { parser.help() };
    format!(
        "comma-separated list (prepend '^' for negation,{ranges} or set to \"all\" for including all items) of: {of}"
    )
}

/// Whether a list names nothing.
pub fn is_empty(list: &ucs_config_allow_list_t) -> bool {
    list.mode == UCS_CONFIG_ALLOW_LIST_ALLOW && list.array.count == 0
}

/// The strings of an array.
///
/// # Safety
/// `array` is an array of strings.
pub unsafe fn strings(array: &Array) -> Vec<String> {
    (0..array.count as usize)
        .map(|i| {
            // SAFETY: an element.
            let name = unsafe { array.names.add(i).read() };
            // SAFETY: as above.
            unsafe { CStr::from_ptr(name) }
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}
