//! Sizes as text: `8K`, `1M`, `inf`, `auto`.
#![forbid(unsafe_code)]

use crate::ucs::{Result, Status};

pub const INF: usize = usize::MAX;
pub const AUTO: usize = usize::MAX - 1;

const SUFFIXES: &[u8] = b"KMGTPE";

/// Suffixes that are read; what is written may have more.
const READ_SUFFIXES: usize = 4;

/// The shortest exact form: the largest unit that divides the value.
pub fn format(value: usize) -> String {
    match value {
        INF => return "inf".into(),
        AUTO => return "auto".into(),
        _ => {}
    }
    let (mut value, mut unit) = (value, None);
    for suffix in SUFFIXES {
        if value == 0 || !value.is_multiple_of(1024) {
            break;
        }
        value /= 1024;
        unit = Some(*suffix as char);
    }
    match unit {
        Some(unit) => format!("{value}{unit}"),
        None => value.to_string(),
    }
}

/// Reads `inf`, `auto`, or digits and one of `b k m g t` in any case, perhaps followed by a `b`.
/// `INVALID_PARAM` for anything else and for what does not fit.
pub fn parse(text: &str) -> Result<usize> {
    if text.eq_ignore_ascii_case("inf") {
        return Ok(INF);
    }
    if text.eq_ignore_ascii_case("auto") {
        return Ok(AUTO);
    }
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let value: usize = digits.parse().map_err(|_| Status::INVALID_PARAM)?;
    let scale = scale_of(suffix)?;
    let value = value.checked_mul(scale).ok_or(Status::INVALID_PARAM)?;
    // As strtoul: -1 is the largest value, which is "inf".
    Ok(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

fn scale_of(suffix: &str) -> Result<usize> {
    let upper = suffix.to_ascii_uppercase();
    let mut letters = upper.bytes();
    let scale = match letters.next() {
        None | Some(b'B') => return Ok(1),
        Some(letter) => {
            let units = SUFFIXES[..READ_SUFFIXES].iter();
            let power = units.clone().position(|s| *s == letter);
            1 << (10 * (power.ok_or(Status::INVALID_PARAM)? + 1))
        }
    };
    match letters.next() {
        None | Some(b'B') => Ok(scale),
        Some(_) => Err(Status::INVALID_PARAM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for shift in 0..64 {
            for value in [
                1usize << shift,
                (1usize << shift) + 1,
                1536usize << (shift / 2),
            ] {
                let text = format(value);
                if !text.ends_with(['P', 'E']) {
                    assert_eq!(parse(&text), Ok(value), "{text}");
                }
            }
        }
        assert_eq!(format(1536 << 30), "1536G");
        assert_eq!(format(1025), "1025");
        assert_eq!(format(1 << 60), "1E");
    }

    #[test]
    fn bad_text_is_refused() {
        for text in [
            "", "k", "1.5g", "3x", "1p", "0x10", "5 ", "1kk", "1g ", "infinity",
        ] {
            assert_eq!(parse(text), Err(Status::INVALID_PARAM), "{text}");
        }
        assert_eq!(parse("99999999999999g"), Err(Status::INVALID_PARAM));
        for (text, value) in [
            ("7B", 7),
            ("1Kb", 1024),
            (" 5", 5),
            ("1t", 1 << 40),
            ("-1", INF),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
    }
}
