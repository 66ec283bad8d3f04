//! Numbers with units: bytes, seconds, bytes a second, and counts with `inf` and `auto`.
//!
//! Called by `value` only. Parsers take the whole text or nothing: what is left over is an error,
//! never ignored. The printed forms are UCX's, so that `ucx_info -c` output can be compared.

use super::{AUTO, AUTO_F64, INF};
use crate::ucs::memunits;

/// Shortest form first: a value is scaled up while it is at least this many of the smaller unit.
const BANDWIDTH_STEP: f64 = 50.0 * 1024.0;

/// Removes `inf` and `auto` in any case.
fn special(text: &str) -> Option<usize> {
    if text.eq_ignore_ascii_case("inf") {
        Some(INF)
    } else if text.eq_ignore_ascii_case("auto") {
        Some(AUTO)
    } else {
        None
    }
}

/// Splits after the digits of an optionally signed number, fraction and exponent included.
fn split_number(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let digits_from = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits_from(usize::from(matches!(bytes.first(), Some(b'+' | b'-'))));
    if bytes.get(end) == Some(&b'.') {
        end = digits_from(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = end + 1 + sign;
        let stop = digits_from(exponent);
        if stop > exponent {
            end = stop;
        }
    }
    text.split_at(end)
}

/// Bytes: a whole number with an optional `b`, `k[b]`, `m[b]`, `g[b]`, `t[b]`; `-1` and `-2` are
/// the numeric forms of `inf` and `auto`. What does not fit is refused.
pub fn parse_memory(text: &str) -> Option<usize> {
    match text.trim() {
        "-1" => Some(INF),
        "-2" => Some(AUTO),
        negative if negative.starts_with('-') => None,
        text => memunits::parse(text).ok(),
    }
}

/// `8K`, `1M`: the largest unit that divides the value.
pub fn print_memory(value: usize) -> String {
    memunits::format(value)
}

/// A count, or `inf`, or `auto`.
pub fn parse_count(text: &str) -> Option<usize> {
    let text = text.trim();
    special(text).or_else(|| match text {
        "-1" => Some(INF),
        "-2" => Some(AUTO),
        _ => text.parse().ok(),
    })
}

pub fn print_count(value: usize) -> String {
    match value {
        INF => "inf".into(),
        AUTO => "auto".into(),
        _ => value.to_string(),
    }
}

/// Seconds: a number and one of `s`, `m`, `ms`, `us`, `ns`; no unit means seconds. `inf` and, where
/// `auto_allowed`, `auto`. Negative times are refused.
pub fn parse_time(text: &str, auto_allowed: bool) -> Option<f64> {
    let text = text.trim();
    match special(text) {
        Some(INF) => return Some(f64::INFINITY),
        Some(_) => return auto_allowed.then_some(AUTO_F64),
        None => {}
    }
    let (number, unit) = split_number(text);
    let number: f64 = number.parse().ok()?;
    let value = number
        * match unit {
            "" | "s" => 1.0,
            "m" => 60.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
    (value >= 0.0).then_some(value)
}

/// Microseconds with two digits, as UCX prints every time.
pub fn print_time(seconds: f64) -> String {
    if seconds == f64::INFINITY {
        "inf".into()
    } else if seconds == AUTO_F64 {
        "auto".into()
    } else {
        format!("{:.2}us", seconds * 1e6)
    }
}

/// Bytes a second: a number, an optional `K`, `M`, `G` or `T` (powers of 1024), `B` (bytes) or `b`
/// (bits), and optionally `s`, `ps` or `/s`; or `auto`.
pub fn parse_bandwidth(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("auto") {
        return Some(AUTO_F64);
    }
    let (number, unit) = split_number(text);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let mut rest = unit.chars();
    let mut letter = rest.next()?;
    let scale = match letter {
        'K' => 1024f64,
        'M' => 1024f64.powi(2),
        'G' => 1024f64.powi(3),
        'T' => 1024f64.powi(4),
        _ => 1.0,
    };
    if scale != 1.0 {
        letter = rest.next()?;
    }
    let bytes = match letter {
        'B' => 1.0,
        'b' => 1.0 / 8.0,
        _ => return None,
    };
    if !matches!(rest.as_str(), "" | "s" | "ps" | "/s") {
        return None;
    }
    let value = number * scale * bytes;
    (value >= 0.0).then_some(value)
}

pub fn print_bandwidth(value: f64) -> String {
    if value == AUTO_F64 {
        return "auto".into();
    }
    let mut value = value;
    let mut unit = "";
    for next in ["K", "M", "G", "T", "P"] {
        if value < BANDWIDTH_STEP {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{value:.2}{unit}Bps")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_texts() {
        for (text, value) in [
            ("1", Some(1)),
            ("1k", Some(1024)),
            ("1KB", Some(1024)),
            ("1kB", Some(1024)),
            ("100b", Some(100)),
            ("1B", Some(1)),
            ("16T", Some(16 << 40)),
            ("+5", Some(5)),
            (" 1", Some(1)),
            ("inf", Some(INF)),
            ("Inf", Some(INF)),
            ("AUTO", Some(AUTO)),
            ("-1", Some(INF)),
            ("-2", Some(AUTO)),
            ("00k", Some(0)),
            ("99999999999999999999", None),
            ("20000000T", None),
            ("1.5k", None),
            ("1p", None),
            ("1e3", None),
            ("1 k", None),
            ("1kk", None),
            ("0x10", None),
            ("", None),
            ("infx", None),
            ("-3", None),
        ] {
            assert_eq!(parse_memory(text), value, "{text}");
        }
        for (value, text) in [
            (0, "0"),
            (1, "1"),
            (1536, "1536"),
            (1024, "1K"),
            (1047552, "1023K"),
            (1 << 20, "1M"),
            (1025 << 10, "1025K"),
            (1 << 60, "1E"),
            (INF, "inf"),
            (AUTO, "auto"),
        ] {
            assert_eq!(print_memory(value), text);
        }
    }

    #[test]
    fn memory_survives_printing() {
        let mut value = 0x9e37_79b9usize;
        for round in 0..4000 {
            value = value.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let shorter = (value >> (round % 60)) & !((1 << (round % 30)) - 1);
            if shorter <= isize::MAX as usize && shorter < 1 << 50 {
                assert_eq!(parse_memory(&print_memory(shorter)), Some(shorter));
            }
        }
    }

    #[test]
    fn time_texts() {
        for (text, value) in [
            ("1", Some(1.0)),
            ("1s", Some(1.0)),
            ("1m", Some(60.0)),
            ("1ms", Some(1e-3)),
            (".5s", Some(0.5)),
            ("1e3us", Some(1e-3)),
            (" 1s", Some(1.0)),
            ("INF", Some(f64::INFINITY)),
            ("auto", Some(AUTO_F64)),
            ("1h", None),
            ("1x", None),
            ("1 s", None),
            ("1min", None),
            ("-1s", None),
            ("nan", None),
            ("", None),
        ] {
            match (parse_time(text, true), value) {
                (Some(got), Some(want)) if got == want => {}
                (Some(got), Some(want)) => assert!((got - want).abs() < want * 1e-12, "{text}"),
                (got, want) => assert_eq!(got, want, "{text}"),
            }
        }
        assert_eq!(parse_time("auto", false), None);
        assert_eq!(print_time(1.5e-6), "1.50us");
        assert_eq!(print_time(20.0), "20000000.00us");
        assert_eq!(print_time(f64::INFINITY), "inf");
        assert_eq!(print_time(AUTO_F64), "auto");
    }

    #[test]
    fn bandwidth_texts() {
        for (text, value) in [
            ("1MBps", Some(1048576.0)),
            ("1MBs", Some(1048576.0)),
            ("1Mb/s", Some(131072.0)),
            ("1.5GBs", Some(1610612736.0)),
            ("1TBps", Some(1024f64.powi(4))),
            ("1MB", Some(1048576.0)),
            ("1bps", Some(0.125)),
            ("0MBs", Some(0.0)),
            ("1 GBs", Some(1073741824.0)),
            ("AUTO", Some(AUTO_F64)),
            ("10gbps", None),
            ("1GBx", None),
            ("1GBpss", None),
            ("1", None),
            ("1M", None),
            ("inf", None),
            ("-1MBs", None),
            ("", None),
        ] {
            assert_eq!(parse_bandwidth(text), value, "{text}");
        }
        for (value, text) in [
            (0.5, "0.50Bps"),
            (50000.0, "50000.00Bps"),
            (51200.0, "50.00KBps"),
            (1e8, "95.37MBps"),
            (53687091200.0, "50.00GBps"),
            (1e18, "888.18PBps"),
            (15360.0 * 1048576.0, "15360.00MBps"),
            (AUTO_F64, "auto"),
        ] {
            assert_eq!(print_bandwidth(value), text);
        }
    }
}
