//! Options that hold one value for each of several keys. A text has `key:value` for some keys, and a value without a
//! key for all others.

use super::layout::Parser;
use crate::c::{ucs_config_key_field_t, ucs_config_key_value_param_t};
use crate::ucs::Result;
use crate::ucs_error;
use core::ffi::{CStr, c_void};
use std::ffi::CString;

/// One key.
struct Key {
    name: String,
    doc: String,
    offset: usize,
}

/// How the values are handled, and the keys.
///
/// # Safety
/// `arg` leads to a `ucs_config_key_value_param_t`, here and below.
unsafe fn description(arg: *const c_void) -> (Parser, Vec<Key>) {
    // SAFETY: the parser is its first member.
    let parser = unsafe { Parser::new_at(arg) };
    // SAFETY: the caller's promise.
    let mut at = unsafe { (*arg.cast::<ucs_config_key_value_param_t>()).keys };
    let mut keys = Vec::new();
    loop {
        // SAFETY: a key, or the one without a name at the end.
        let key: ucs_config_key_field_t = unsafe { at.read() };
        if key.name.is_null() {
            return (parser, keys);
        }
        let text = |text: *const core::ffi::c_char| {
            if text.is_null() {
                return String::new();
            }
            // SAFETY: a string of the client's.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        };
        keys.push(Key {
            name: text(key.name),
            doc: text(key.doc),
            offset: key.offset,
        });
        at = at.wrapping_add(1);
    }
}

/// The text for each key, in their order; none when a key is unknown or has no value.
fn assign<'t>(keys: &[Key], text: &'t str) -> Option<Vec<&'t str>> {
    let mut found: Vec<Option<&str>> = vec![None; keys.len()];
    let mut rest = None;
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let Some((key, value)) = part.split_once(':') else {
            rest = Some(part);
            continue;
        };
        let Some(at) = keys.iter().position(|known| known.name == key) else {
            ucs_error!("'{key}' is not one of the keys [{}]", names(keys));
            return None;
        };
        found[at] = Some(value);
    }
    let mut all = Vec::new();
    for (key, value) in keys.iter().zip(found) {
        let Some(value) = value.or(rest) else {
            ucs_error!("there is no value for the key '{}'", key.name);
            return None;
        };
        all.push(value);
    }
    Some(all)
}

fn names(keys: &[Key]) -> String {
    let names: Vec<_> = keys.iter().map(|key| key.name.as_str()).collect();
    names.join(",")
}

/// # Safety
/// `dest` is the place that the offsets of the keys count from.
pub unsafe fn read(text: &CStr, dest: *mut c_void, arg: *const c_void) -> bool {
    // SAFETY: the caller's promise.
    let (parser, keys) = unsafe { description(arg) };
    let Some(texts) = text.to_str().ok().and_then(|text| assign(&keys, text)) else {
        return false;
    };
    for (i, (key, text)) in keys.iter().zip(texts).enumerate() {
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: the place of a value.
        if !unsafe { parser.read(&text, dest.wrapping_byte_add(key.offset)) } {
            for done in &keys[..i] {
                // SAFETY: a value that was read.
                unsafe { parser.release(dest.wrapping_byte_add(done.offset)) };
            }
            return false;
        }
    }
    true
}

/// # Safety
/// `src` has a value for each key.
pub unsafe fn write(src: *const c_void, arg: *const c_void) -> String {
    // SAFETY: the caller's promise.
    let (parser, keys) = unsafe { description(arg) };
    let texts: Vec<_> = keys
        .iter()
        .map(|key| {
            // SAFETY: a value.
            let value = unsafe { parser.write(src.wrapping_byte_add(key.offset)) };
            format!("{}:{value}", key.name)
        })
        .collect();
    texts.join(",")
}

/// # Safety
/// `src` has a value for each key, `dest` a place.
pub unsafe fn copy(src: *const c_void, dest: *mut c_void, arg: *const c_void) -> Result<()> {
    // SAFETY: the caller's promise.
    let (parser, keys) = unsafe { description(arg) };
    for key in keys {
        let (from, to) = (
            src.wrapping_byte_add(key.offset),
            dest.wrapping_byte_add(key.offset),
        );
        // SAFETY: a value and its place.
        unsafe { parser.copy(from, to) }?;
    }
    Ok(())
}

/// # Safety
/// `value` has a value for each key, given up.
pub unsafe fn release(value: *mut c_void, arg: *const c_void) {
    // SAFETY: the caller's promise.
    let (parser, keys) = unsafe { description(arg) };
    for key in keys {
        // SAFETY: a value.
        unsafe { parser.release(value.wrapping_byte_add(key.offset)) };
    }
}

/// # Safety
/// As for `description`.
pub unsafe fn help(arg: *const c_void) -> String {
    // SAFETY: the caller's promise.
    let (parser, keys) = unsafe { description(arg) };
    // SAFETY: as above.
    let of = unsafe { parser.help() };
    format!(
        "comma-separated list of value or key:value pairs, where key is one of [{}] and value is: {of}. A value without a key is the default.",
        names(&keys)
    )
}

/// A line for each key.
///
/// # Safety
/// As for `description`.
pub unsafe fn doc(arg: *const c_void) -> String {
    // SAFETY: the caller's promise.
    let (_, keys) = unsafe { description(arg) };
    keys.iter()
        .map(|key| format!(" {:<10}- {}\n", key.name, key.doc))
        .collect()
}
