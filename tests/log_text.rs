//! The log speaks to users: no message has Rust's debug text, in which an enum stands as it is called in the sources.
//! The names of memory types, messages and states have a `Display` of their own.

mod source_text;

#[path = "source_text/code.rs"]
mod code;

use code::{is_test, without_comments};
use source_text::sources;

/// Macros whose text may reach a log line, a status text or a table.
const MACROS: [&str; 9] = [
    "ucs_error!",
    "ucs_warn!",
    "ucs_diag!",
    "ucs_info!",
    "ucs_debug!",
    "ucs_trace!",
    "format!",
    "write!",
    "writeln!",
];

/// Bytes from the macro's opening parenthesis to the one that closes it; parentheses in strings do not count.
fn call(text: &str) -> &str {
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '(' if !in_string => depth += 1,
            ')' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return &text[..at];
                }
            }
            _ => {}
        }
    }
    text
}

/// The calls of the macros that print debug text.
fn debug_texts(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let product = text
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or(&text);
    let calls = MACROS.iter().flat_map(|name| product.match_indices(name));
    calls
        .map(|(at, name)| format!("{name}{}", call(&product[at + name.len()..])))
        .filter(|call| call.contains(":?}") || call.contains(":#?}"))
        .collect()
}

#[test]
fn no_message_has_debug_text() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        let tests = file.to_string_lossy().ends_with("tests.rs");
        if !tests && !is_test(&file) {
            found.extend(
                debug_texts(&text)
                    .into_iter()
                    .map(|call| format!("{}: {call}", file.display())),
            );
        }
    }
    assert!(
        found.is_empty(),
        "debug text in messages:\n{}",
        found.join("\n")
    );
}

#[test]
fn debug_text_is_found() {
    for text in [
        "ucs_error!(\"a {id:?} message\");",
        "crate::ucs_debug!(\n    \"state {:?} (at {})\",\n    x, y);",
        "let s = format!(\"{:#?}\", list);",
    ] {
        assert_eq!(debug_texts(text).len(), 1, "{text}");
    }
    for text in [
        "ucs_error!(\"a {id} message\");",
        "assert!(ok, \"{id:?}\");",
        "// ucs_error!(\"{id:?}\");",
        "#[cfg(test)]\nmod tests {\n    fn f() { ucs_warn!(\"{:?}\", 1); }\n}",
    ] {
        assert!(debug_texts(text).is_empty(), "{text}");
    }
}
