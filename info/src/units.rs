//! Numbers as UCX's tools print them.
#![forbid(unsafe_code)]

/// Bytes with the largest suffix that leaves nothing over, as upstream's `memunits`.
pub fn bytes(value: u64) -> String {
    const SUFFIXES: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    if value == u64::MAX {
        return "inf".to_owned();
    }
    let mut value = value;
    let mut suffix = 0;
    while value >= 1024 && value.is_multiple_of(1024) {
        value /= 1024;
        suffix += 1;
    }
    format!("{value}{}", SUFFIXES[suffix])
}

/// The other way round; suffixes of both cases, with or without a `b`.
pub fn parse_bytes(text: &str) -> Option<u64> {
    if text == "inf" {
        return Some(u64::MAX);
    }
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let suffix = text[digits.len()..].to_ascii_lowercase();
    let exponent = match suffix.trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << exponent)
}

/// An upper limit, of which the largest number means that there is none.
pub fn limit(max: u64) -> String {
    match max {
        u64::MAX => "unlimited".to_owned(),
        max => format!("<= {}", bytes(max)),
    }
}

/// Both limits of a length.
pub fn range(min: u64, max: u64) -> String {
    match (min, max) {
        (0, max) => limit(max),
        (min, u64::MAX) => format!(">= {}", bytes(min)),
        (min, max) => format!("{}..{}", bytes(min), bytes(max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_units_get_a_suffix() {
        let cases = [
            (0, "0"),
            (8037, "8037"),
            (8192, "8K"),
            (1 << 20, "1M"),
            (u64::MAX, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(bytes(value), text);
        }
        let texts = [
            ("1m", 1 << 20),
            ("64KB", 65536),
            ("7", 7),
            ("inf", u64::MAX),
        ];
        for (text, value) in texts {
            assert_eq!(parse_bytes(text), Some(value), "{text}");
        }
        for text in ["", "m", "1x", "-1", "99999999999t"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
        assert_eq!(range(0, 100), "<= 100");
        assert_eq!(range(1024, u64::MAX), ">= 1K");
        assert_eq!(limit(u64::MAX), "unlimited");
    }
}
