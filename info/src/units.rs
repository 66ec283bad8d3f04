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
        assert_eq!(range(0, 100), "<= 100");
        assert_eq!(range(1024, u64::MAX), ">= 1K");
        assert_eq!(limit(u64::MAX), "unlimited");
    }
}
