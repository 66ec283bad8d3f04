//! Paths, dumps and names for `ucs/sys/string.h` and `ucs/datastruct/string_buffer.h`.
#![forbid(unsafe_code)]

use crate::ucs::memunits;

/// A colon stands between so many bytes of a dump.
const GROUP: usize = 4;
/// Characters of a name that its number has.
const ID_CHARS: usize = 7;

/// Bytes as digits, with a new line after `per_line` bytes: as many whole bytes as fit into `room` with a terminator.
pub fn hex(data: &[u8], per_line: usize, room: usize) -> String {
    let mut text = String::new();
    for (i, byte) in data.iter().enumerate() {
        let before = match i {
            0 => "",
            _ if per_line != 0 && i.is_multiple_of(per_line) => "\n",
            _ if i.is_multiple_of(GROUP) => ":",
            _ => "",
        };
        for part in [before, &format!("{byte:02x}")] {
            if text.len() + 2 >= room {
                return text;
            }
            text += part;
        }
    }
    text
}

/// The numbers of the bits that are set, with `separator` between them.
pub fn bits(mask: u64, separator: &str) -> String {
    let set: Vec<_> = (0..64)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(|bit| bit.to_string())
        .collect();
    set.join(separator)
}

/// The numbers of the bits that are set among the first `count`, plus `first`; neighbours as `from-to`. As many whole
/// numbers and ranges as fit into `room` with a terminator.
pub fn bit_ranges(bytes: &[u8], count: usize, first: u32, room: usize) -> String {
    let is_set = |bit: usize| {
        bytes
            .get(bit / 8)
            .is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    };
    let number = |bit: usize| first as usize + bit;
    let mut text = String::new();
    let mut bit = 0;
    while bit < count {
        if !is_set(bit) {
            bit += 1;
            continue;
        }
        let end = (bit..count).find(|bit| !is_set(*bit)).unwrap_or(count);
        let comma = if text.is_empty() { "" } else { "," };
        let part = match end - bit {
            1 => format!("{comma}{}", number(bit)),
            _ => format!("{comma}{}-{}", number(bit), number(end - 1)),
        };
        if text.len() + part.len() >= room {
            break;
        }
        text += &part;
        bit = end;
    }
    text
}

/// Two sizes as a range, one where they are the same.
pub fn memunits_range(from: usize, to: usize) -> String {
    if from == to {
        return memunits::format(from);
    }
    format!("{}..{}", memunits::format(from), memunits::format(to))
}

/// What the suffix of a size multiplies by; 0 for other letters.
pub fn quantity(suffix: u8) -> usize {
    match suffix {
        b'B' => 1,
        b'K' => 1 << 10,
        b'M' => 1 << 20,
        b'G' => 1 << 30,
        b'T' => 1 << 40,
        _ => 0,
    }
}

/// The first characters as a number, the first one lowest.
pub fn id(text: &[u8]) -> u64 {
    let first = text.iter().take(ID_CHARS).rev();
    first.fold(0, |id, byte| id << 8 | u64::from(*byte))
}

/// Bytes that both have at their beginning.
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Bytes of the longest path that both are, or are below.
pub fn common_parent(a: &[u8], b: &[u8]) -> usize {
    let same = common_prefix(a, b);
    let ends_at = |path: &[u8], at| path.get(at).is_none_or(|byte| *byte == b'/');
    (0..=same)
        .rev()
        .find(|at| ends_at(a, *at) && ends_at(b, *at))
        .unwrap_or(0)
}

/// Steps from one path up to the common parent and down to the other.
pub fn distance(a: &[u8], b: &[u8]) -> usize {
    let parent = common_parent(a, b);
    let steps = |path: &[u8]| path[parent..].iter().filter(|byte| **byte == b'/').count();
    steps(a) + steps(b)
}

/// What stays of a path without its last part, as dirname(1).
pub fn parent(path: &[u8]) -> &[u8] {
    let slashes = path.iter().take_while(|byte| **byte == b'/').count();
    // Two slashes may be another root than one or three.
    let root = if slashes == 2 { 2 } else { 1 };
    let Some(end) = without_slashes(path) else {
        return if path.is_empty() { b"." } else { &path[..root] };
    };
    let Some(slash) = path[..end].iter().rposition(|byte| *byte == b'/') else {
        return b".";
    };
    match without_slashes(&path[..slash]) {
        Some(end) => &path[..end],
        None => &path[..root],
    }
}

/// Bytes before the slashes at the end; none where there is nothing else.
fn without_slashes(path: &[u8]) -> Option<usize> {
    let last = path.iter().rposition(|byte| *byte != b'/');
    last.map(|last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_shown_as_ranges() {
        let show = |bytes: &[u8], count, first| bit_ranges(bytes, count, first, 512);
        assert_eq!(show(&[0x5, 0x81, 0xff], 20, 10), "10,12,18,25-29");
        assert_eq!(show(&[0x3, 0x3, 0x3], 17, 0), "0-1,8-9,16");
        assert_eq!(show(&[0xe0, 0x7], 16, 0), "5-10");
        assert_eq!(show(&[0xff; 8], 64, 0), "0-63");
        assert_eq!(show(&[0xff], 0, 0), "");
        assert_eq!(bit_ranges(&[0x55; 512], 4096, 0, 8), "0,2,4,6");
    }

    #[test]
    fn parents_are_those_of_the_c_library() {
        for (path, expected) in [
            ("/a/b/c", "/a/b"),
            ("a", "."),
            ("/a", "/"),
            ("a/b", "a"),
            ("/", "/"),
            ("", "."),
            ("/a/b/", "/a"),
            ("a//b", "a"),
            ("a/", "."),
            ("/a//", "/"),
            ("//", "//"),
            ("//a", "//"),
            ("///", "/"),
        ] {
            assert_eq!(parent(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }

    #[test]
    fn paths_are_compared_by_parts() {
        for (a, b, len, steps) in [
            ("/a/b/c", "/a/b/d", 4, 2),
            ("/a/b", "/a/b/c", 4, 1),
            ("/a/bc", "/a/bd", 2, 2),
            ("", "", 0, 0),
            ("/", "/a", 0, 2),
            ("/ab/c", "/abc/d", 0, 4),
            ("/a/b//c", "/a/b/d", 4, 3),
        ] {
            let (x, y) = (a.as_bytes(), b.as_bytes());
            assert_eq!(
                (common_parent(x, y), distance(x, y)),
                (len, steps),
                "{a} {b}"
            );
            assert_eq!(
                (common_parent(y, x), distance(y, x)),
                (len, steps),
                "{b} {a}"
            );
        }
    }

    #[test]
    fn dumps() {
        let all = |per_line| hex(b"abcdefghi", per_line, usize::MAX);
        assert_eq!(hex(b"abcde", 9, 10), "61626364");
        assert_eq!(hex(b"abcde", 9, 11), "61626364:");
        assert_eq!(all(6), "61626364:6566\n6768:69");
        assert_eq!(all(3), "616263\n64:6566\n6768:69");
        assert_eq!(all(0), "61626364:65666768:69");
        assert_eq!(bits(1 << 63 | 5, ", "), "0, 2, 63");
        assert_eq!(id(b"abcdefgh"), 0x67_6665_6463_6261);
        assert_eq!(memunits_range(1024, usize::MAX), "1K..inf");
    }
}
