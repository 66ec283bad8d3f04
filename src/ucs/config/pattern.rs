//! File name patterns, as glob(7) has them.
//!
//! Called for the names that `Config::set` takes and for the source files that the log shows.

/// Whether `text` is of the form `pattern`: `*` is any text, `?` any character, `[abc]`, `[a-z]`
/// and `[!a]` one of a set. Linear but for the last `*`.
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(&byte) = text.get(t) {
        let step = match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => match set_matches(&pattern[p..], byte) {
                Some((true, length)) => Some(length),
                Some((false, _)) => None,
                None => (byte == b'[').then_some(1),
            },
            Some(&expected) if expected == byte => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(length), _) => {
                p += length;
                t += 1;
            }
            (None, Some((after, from))) => {
                p = after;
                t = from + 1;
                star = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern
        .get(p..)
        .is_none_or(|rest| rest.iter().all(|b| *b == b'*'))
}

/// Whether `byte` is in the set that begins `pattern`, and how long the set is; `None` when there
/// is no closing bracket.
fn set_matches(pattern: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let begin = if negated { 2 } else { 1 };
    let end = begin + 1 + pattern.get(begin + 1..)?.iter().position(|b| *b == b']')?;
    let set = pattern.get(begin..end)?;
    let mut found = false;
    let mut at = 0;
    while let Some(&low) = set.get(at) {
        match (set.get(at + 1), set.get(at + 2)) {
            (Some(b'-'), Some(&high)) => {
                found |= (low..=high).contains(&byte);
                at += 3;
            }
            _ => {
                found |= low == byte;
                at += 1;
            }
        }
    }
    Some((found != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*_BW", "SM_BW", true),
            ("*_BW", "SM_BWX", false),
            ("a*b*c", "a-b-b-c", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[a", "[a", true),
            ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }
}
