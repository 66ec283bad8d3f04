//! Values of plain types, in the syntax of `ucs::config`, and strings.

use crate::c::{
    UCS_AUTO, UCS_CONFIG_AUTO, UCS_CONFIG_OFF, UCS_CONFIG_ON, UCS_NO, UCS_TRY, UCS_YES,
    ucs_config_bw_spec_t, ucs_range_spec_t,
};
use crate::sys::heap;
use crate::ucs::config::{AUTO, INF, Kind, OnOff, Ternary, Value};
use crate::ucs::time;
use crate::ucs::{Result, Status};
use core::ffi::{CStr, c_char, c_void};

/// "auto" of hexadecimal numbers.
const HEX_AUTO: u32 = 0xfffe;

/// A member of C that holds a value of one kind.
pub trait Member: Copy {
    /// What a text means; none when it is not of this kind.
    fn parse(kind: Kind, text: &str) -> Option<Self>;
    /// The value as text.
    fn print(self, kind: Kind) -> String;
}

impl Member for i32 {
    fn parse(kind: Kind, text: &str) -> Option<i32> {
        Some(match kind.parse(text)? {
            Value::Int(number) => number,
            Value::Bool(on) => i32::from(on),
            Value::UInt(number) => i32::try_from(number).ok()?,
            Value::Ternary(word) => {
                (match word {
                    Ternary::No => UCS_NO,
                    Ternary::Yes => UCS_YES,
                    Ternary::Try => UCS_TRY,
                    Ternary::Auto => UCS_AUTO,
                }) as i32
            }
            Value::OnOff(word) => {
                (match word {
                    OnOff::Off => UCS_CONFIG_OFF,
                    OnOff::On => UCS_CONFIG_ON,
                    OnOff::Auto => UCS_CONFIG_AUTO,
                }) as i32
            }
            _ => return None,
        })
    }

    fn print(self, kind: Kind) -> String {
        let value = match kind {
            Kind::Bool => Value::Bool(self != 0),
            Kind::Ternary | Kind::TernaryAuto => Value::Ternary(match self as u32 {
                UCS_NO => Ternary::No,
                UCS_TRY => Ternary::Try,
                UCS_AUTO => Ternary::Auto,
                _ => Ternary::Yes,
            }),
            Kind::OnOffAuto => Value::OnOff(match self as u32 {
                UCS_CONFIG_OFF => OnOff::Off,
                UCS_CONFIG_AUTO => OnOff::Auto,
                _ => OnOff::On,
            }),
            Kind::Signal => Value::UInt(self as u32),
            _ => Value::Int(self),
        };
        kind.print(&value)
    }
}

impl Member for u32 {
    fn parse(kind: Kind, text: &str) -> Option<u32> {
        match kind.parse(text)? {
            Value::UInt(number) => Some(number),
            Value::Size(AUTO) => Some(HEX_AUTO),
            Value::Size(number) => u32::try_from(number).ok(),
            _ => None,
        }
    }

    fn print(self, kind: Kind) -> String {
        let value = match kind {
            Kind::Hex if self == HEX_AUTO => Value::Size(AUTO),
            Kind::Hex => Value::Size(self as usize),
            _ => Value::UInt(self),
        };
        kind.print(&value)
    }
}

impl Member for usize {
    fn parse(kind: Kind, text: &str) -> Option<usize> {
        match kind.parse(text)? {
            Value::Size(number) => Some(number),
            _ => None,
        }
    }

    fn print(self, kind: Kind) -> String {
        kind.print(&Value::Size(self))
    }
}

impl Member for f64 {
    fn parse(kind: Kind, text: &str) -> Option<f64> {
        match kind.parse(text)? {
            Value::Float(number) => Some(number),
            _ => None,
        }
    }

    fn print(self, kind: Kind) -> String {
        kind.print(&Value::Float(self))
    }
}

impl Member for ucs_range_spec_t {
    fn parse(kind: Kind, text: &str) -> Option<ucs_range_spec_t> {
        match kind.parse(text)? {
            Value::Range(first, last) => Some(ucs_range_spec_t { first, last }),
            _ => None,
        }
    }

    fn print(self, kind: Kind) -> String {
        kind.print(&Value::Range(self.first, self.last))
    }
}

/// Reads a text into a member.
///
/// # Safety
/// `dest` is a place for it.
pub unsafe fn read<M: Member>(kind: Kind, text: &CStr, dest: *mut c_void) -> bool {
    let value = text.to_str().ok().and_then(|text| M::parse(kind, text));
    let Some(value) = value else { return false };
    // SAFETY: the caller's place.
    unsafe { dest.cast::<M>().write(value) };
    true
}

/// The text of a member.
///
/// # Safety
/// `src` is one.
pub unsafe fn write<M: Member>(kind: Kind, src: *const c_void) -> String {
    // SAFETY: the caller's value.
    unsafe { src.cast::<M>().read() }.print(kind)
}

/// Copies a plain member.
///
/// # Safety
/// `src` is one, `dest` a place for it.
pub unsafe fn copy<M: Copy>(src: *const c_void, dest: *mut c_void) -> Result<()> {
    // SAFETY: the caller's value.
    let value = unsafe { src.cast::<M>().read() };
    // SAFETY: the caller's place.
    unsafe { dest.cast::<M>().write(value) };
    Ok(())
}

/// A mask of as many low bits as the text says.
///
/// # Safety
/// `dest` is a place for an unsigned number.
pub unsafe fn read_bitmask(text: &CStr, dest: *mut c_void) -> bool {
    let bits = text
        .to_str()
        .ok()
        .and_then(|text| u32::parse(Kind::UInt, text));
    let Some(bits) = bits else { return false };
    let mask = 1u32.checked_shl(bits).map_or(u32::MAX, |above| above - 1);
    // SAFETY: the caller's place.
    unsafe { dest.cast::<u32>().write(mask) };
    true
}

/// How many bits a mask has.
///
/// # Safety
/// `src` is an unsigned number.
pub unsafe fn write_bitmask(src: *const c_void) -> String {
    // SAFETY: the caller's value.
    unsafe { src.cast::<u32>().read() }.count_ones().to_string()
}

/// A time in ticks of the processor's counter.
///
/// # Safety
/// `dest` is a place for 64 bits.
pub unsafe fn read_ticks(text: &CStr, dest: *mut c_void) -> bool {
    let seconds = text
        .to_str()
        .ok()
        .and_then(|text| f64::parse(Kind::Time, text));
    let ticks = match seconds {
        None => return false,
        Some(f64::INFINITY) => INF,
        Some(seconds) if seconds < 0.0 => AUTO,
        Some(seconds) => (seconds * time::ticks_per_sec()).round() as usize,
    };
    // SAFETY: the caller's place.
    unsafe { dest.cast::<usize>().write(ticks) };
    true
}

/// The text of such a time.
///
/// # Safety
/// `src` is 64 bits.
pub unsafe fn write_ticks(src: *const c_void) -> String {
    // SAFETY: the caller's value.
    let seconds = match unsafe { src.cast::<usize>().read() } {
        INF => f64::INFINITY,
        AUTO => crate::ucs::config::AUTO_F64,
        ticks => ticks as f64 / time::ticks_per_sec(),
    };
    seconds.print(Kind::Time)
}

/// A copy of a text on the C heap; null without memory.
pub fn to_heap(text: &[u8]) -> *mut c_char {
    let copy: *mut c_char = heap::malloc(text.len() + 1).cast();
    if copy.is_null() {
        return copy;
    }
    // SAFETY: a fresh block of that size.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr().cast(), copy, text.len()) };
    // SAFETY: its last byte.
    unsafe { copy.add(text.len()).write(0) };
    copy
}

/// Reads a string: a copy of the text.
///
/// # Safety
/// `dest` is a place for a pointer.
pub unsafe fn read_string(text: &CStr, dest: *mut c_void) -> bool {
    let copy = to_heap(text.to_bytes());
    // SAFETY: the caller's place.
    unsafe { dest.cast::<*mut c_char>().write(copy) };
    !copy.is_null()
}

/// # Safety
/// `src` is a string of C, or null.
pub unsafe fn write_string(src: *const c_void) -> String {
    // SAFETY: the caller's value.
    let text = unsafe { src.cast::<*const c_char>().read() };
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// # Safety
/// `src` is a string of C, or null; `dest` a place for a pointer.
pub unsafe fn copy_string(src: *const c_void, dest: *mut c_void) -> Result<()> {
    // SAFETY: the caller's value.
    let text = unsafe { src.cast::<*const c_char>().read() };
    if text.is_null() {
        // SAFETY: the caller's place.
        unsafe { dest.cast::<*mut c_char>().write(core::ptr::null_mut()) };
        return Ok(());
    }
    // SAFETY: the caller's string and place.
    if unsafe { read_string(CStr::from_ptr(text), dest) } {
        Ok(())
    } else {
        Err(Status::NO_MEMORY)
    }
}

/// # Safety
/// `value` is a string on the C heap, or null, given up.
pub unsafe fn release_string(value: *mut c_void) {
    // SAFETY: the caller's value.
    let text = unsafe { value.cast::<*mut c_char>().read() };
    // SAFETY: as above.
    unsafe { heap::free(text.cast()) };
}

/// A device and its bandwidth.
///
/// # Safety
/// `dest` is a place for both.
pub unsafe fn read_bandwidth_of(text: &CStr, dest: *mut c_void) -> bool {
    let parts = text.to_str().ok().and_then(|text| text.split_once(':'));
    let Some((device, bandwidth)) = parts else {
        return false;
    };
    let Some(bw) = f64::parse(Kind::Bandwidth, bandwidth) else {
        return false;
    };
    let name = to_heap(device.as_bytes());
    if name.is_null() {
        return false;
    }
    // SAFETY: the caller's place.
    unsafe {
        dest.cast::<ucs_config_bw_spec_t>()
            .write(ucs_config_bw_spec_t { name, bw })
    };
    true
}

/// # Safety
/// `src` is a device and its bandwidth.
pub unsafe fn write_bandwidth_of(src: *const c_void) -> String {
    // SAFETY: the caller's value.
    let spec = unsafe { src.cast::<ucs_config_bw_spec_t>().read() };
    // SAFETY: the name is its first member.
    let device = unsafe { write_string(src) };
    format!("{device}:{}", spec.bw.print(Kind::Bandwidth))
}

/// # Safety
/// `src` is a device and its bandwidth, `dest` a place for both.
pub unsafe fn copy_bandwidth_of(src: *const c_void, dest: *mut c_void) -> Result<()> {
    // SAFETY: the caller's value and place.
    unsafe { copy::<ucs_config_bw_spec_t>(src, dest) }?;
    // SAFETY: the name is the first member.
    unsafe { copy_string(src, dest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    /// Text, and how it is printed again; none when it is refused.
    fn round<M: Member>(kind: Kind, text: &str) -> Option<String> {
        let text = CString::new(text).unwrap();
        let mut place = core::mem::MaybeUninit::<M>::uninit();
        // SAFETY: a place of this test.
        let read = unsafe { read::<M>(kind, &text, place.as_mut_ptr().cast()) };
        // SAFETY: filled above.
        read.then(|| unsafe { write::<M>(kind, place.as_ptr().cast()) })
    }

    #[test]
    fn values_are_printed_as_they_are_read() {
        let printed = |text: &str| Some(text.to_owned());
        assert_eq!(round::<i32>(Kind::Int, " -0x1f "), printed("-31"));
        assert_eq!(round::<i32>(Kind::Int, "5x"), None);
        assert_eq!(round::<i32>(Kind::Bool, "Yes"), printed("y"));
        assert_eq!(round::<i32>(Kind::Ternary, "try"), printed("try"));
        assert_eq!(round::<i32>(Kind::Ternary, "auto"), None);
        assert_eq!(round::<i32>(Kind::OnOffAuto, "auto"), printed("auto"));
        assert_eq!(round::<i32>(Kind::Signal, "SIGTERM"), printed("TERM"));
        assert_eq!(round::<u32>(Kind::UInt, "inf"), printed("inf"));
        assert_eq!(round::<u32>(Kind::Hex, "0x1F"), printed("0x1f"));
        assert_eq!(round::<u32>(Kind::Hex, "auto"), printed("auto"));
        assert_eq!(round::<u32>(Kind::Hex, "0x100000000"), None);
        assert_eq!(round::<usize>(Kind::MemUnits, "2048"), printed("2K"));
        assert_eq!(round::<f64>(Kind::PlainTime, "1.5ms"), printed("1500.00us"));
        assert_eq!(
            round::<f64>(Kind::Bandwidth, "10Gbps"),
            printed("1280.00MBps")
        );
        assert_eq!(
            round::<ucs_range_spec_t>(Kind::RangeSpec, "3-7"),
            printed("3-7")
        );
        assert_eq!(round::<ucs_range_spec_t>(Kind::RangeSpec, "7-3"), None);
    }

    #[test]
    fn masks_and_ticks_have_their_ends() {
        let masks = [("0", 0), ("5", 31), ("32", u32::MAX), ("100", u32::MAX)];
        for (text, mask) in masks {
            let (text, mut place) = (CString::new(text).unwrap(), 7u32);
            // SAFETY: a place of this test.
            assert!(unsafe { read_bitmask(&text, (&raw mut place).cast()) });
            assert_eq!(place, mask);
        }
        for (text, printed) in [("inf", "inf"), ("auto", "auto"), ("2ms", "2000.00us")] {
            let (text, mut place) = (CString::new(text).unwrap(), 0usize);
            // SAFETY: a place of this test.
            assert!(unsafe { read_ticks(&text, (&raw mut place).cast()) });
            // SAFETY: filled above.
            assert_eq!(unsafe { write_ticks((&raw const place).cast()) }, printed);
        }
    }
}
