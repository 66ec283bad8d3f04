//! What the tests on the text of a file leave out.

use std::path::Path;

/// The text with comments blanked out, line structure kept.
pub fn without_comments(text: &str) -> String {
    text.lines()
        .map(|line| {
            // `//` inside a string, as in an address, is not a comment: the quotes before it are odd.
            let comment = line
                .match_indices("//")
                .find(|(at, _)| line[..*at].matches('"').count().is_multiple_of(2));
            comment.map_or(line, |(at, _)| &line[..at])
        })
        .collect::<Vec<_>>()
        .join("\n")
}

pub fn is_test(file: &Path) -> bool {
    file.components()
        .any(|part| part.as_os_str() == "tests.rs" || part.as_os_str() == "tests")
}
