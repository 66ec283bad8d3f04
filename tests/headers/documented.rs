//! The comments of the public headers name everything: each parameter and the result of a function, each member of a
//! structure, each value of an enumeration. `tests/headers/undocumented.txt` lists the headers that lack some of it and
//! how much they lack; the numbers only shrink, and a header that is not listed stays complete.

use super::{include, root};
use std::collections::BTreeMap;

const LIST: &str = "tests/headers/undocumented.txt";

/// Something that a comment is for.
struct Item {
    comment: String,
    text: String,
}

#[test]
fn headers_describe_everything_that_they_declare() {
    let (headers, _) = include();
    let listed = listed();
    let mut report = String::new();
    for (path, text) in headers {
        let missing = missing(text);
        let allowed = listed.get(path.as_str()).copied().unwrap_or(0);
        if missing.len() > allowed {
            report += &format!("{path} lacks {}, {allowed} are allowed:\n", missing.len());
            for name in &missing {
                report += &format!("    {name}\n");
            }
        } else if missing.len() < allowed {
            report += &format!("{path} lacks {} only: say so in {LIST}\n", missing.len());
        }
    }
    for path in listed.keys().filter(|path| !headers.contains_key(**path)) {
        report += &format!("{LIST}: no header {path}\n");
    }
    assert!(report.is_empty(), "{report}");
}

/// Headers with the number of things that they do not describe yet.
fn listed() -> BTreeMap<&'static str, usize> {
    let text = std::fs::read_to_string(root().join(LIST)).expect("list");
    let text: &'static str = text.leak();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (path, count) = line.split_once(' ').expect("header and number");
            (path, count.parse().expect("number"))
        })
        .collect()
}

/// What a header declares without a word on it.
fn missing(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for item in items(text, ';') {
        describe(&item, &mut out);
    }
    out
}

fn describe(item: &Item, out: &mut Vec<String>) {
    let head = item.text.split('{').next().unwrap_or_default();
    let kind = head
        .trim_start_matches("typedef ")
        .split_whitespace()
        .next();
    let has_body = item.text.contains('{');
    match kind {
        Some("struct" | "union" | "enum") if has_body && !head.contains('(') => {
            let ending = if kind == Some("enum") { ',' } else { ';' };
            members(item, head.trim(), ending, out);
        }
        _ => parameters(item, out),
    }
}

fn members(item: &Item, name: &str, ending: char, out: &mut Vec<String>) {
    let (Some(open), Some(close)) = (item.text.find('{'), item.text.rfind('}')) else {
        return;
    };
    for member in items(&item.text[open + 1..close], ending) {
        if member.comment.is_empty() {
            out.push(format!("{name}: {}", member.text));
        }
        if member.text.contains('{') {
            members(&member, name, ';', out);
        }
    }
}

/// Of a function, or of a type of functions: each parameter, and the result.
fn parameters(item: &Item, out: &mut Vec<String>) {
    let signature = signature(&item.text);
    let Some((result, name, list)) = signature else {
        return;
    };
    if item.comment.is_empty() {
        out.push(format!("{name}: not a word"));
    }
    for parameter in list {
        let described = ["in", "out", "in,out"].iter().any(|direction| {
            let start = format!("@param[{direction}] {parameter} ");
            item.comment.contains(&start)
        });
        if !described {
            out.push(format!("{name}: parameter {parameter}"));
        }
    }
    if result.rsplit(' ').next() != Some("void") && !item.comment.contains("@return ") {
        out.push(format!("{name}: result"));
    }
}

/// Result, name and parameters of a declaration; `None` if it declares no function.
fn signature(text: &str) -> Option<(String, String, Vec<String>)> {
    let text = text.split('{').next().unwrap_or_default().trim();
    // Attributes may follow the parameters.
    let text = text.split(" UCS_F_PRINTF(").next().unwrap_or_default();
    let close = text.trim_end().strip_suffix(')')?.len();
    let mut depth = 0usize;
    let open = text[..=close].rfind(|c| {
        depth += usize::from(c == ')');
        depth -= usize::from(c == '(');
        depth == 0
    })?;
    let (before, list) = (text[..open].trim(), &text[open + 1..close]);
    let before = before.trim_end_matches(')');
    let at = before.rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
    let (result, name) = (before[..at].trim_end_matches("(*"), &before[at..]);
    let result: Vec<_> = result
        .split_whitespace()
        .filter(|word| {
            !is_macro(word) && !matches!(*word, "typedef" | "static" | "inline" | "extern")
        })
        .collect();
    if result.is_empty() || name.is_empty() || is_macro(name) {
        return None;
    }
    let names = split(list, ',')
        .iter()
        .filter_map(|p| parameter_name(p))
        .collect();
    Some((result.join(" "), name.to_owned(), names))
}

/// Words in capitals are macros, which become attributes or functions.
fn is_macro(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

fn parameter_name(text: &str) -> Option<String> {
    let text = text.trim();
    if matches!(text, "" | "void" | "...") {
        return None;
    }
    // A pointer to a function has its name inside, an array has its size behind.
    let text = match text.find("(*") {
        Some(at) => text[at + 2..].split(')').next().unwrap_or_default(),
        None => text.split('[').next().unwrap_or_default().trim_end(),
    };
    let at = text.rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1);
    Some(text[at..].to_owned())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Splits where no bracket is open.
fn split(text: &str, at: char) -> Vec<String> {
    let mut depth = 0usize;
    let mut parts = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == at && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().expect("a part").push(c);
        }
    }
    parts
}

/// What stands between endings, each with the comment before it. A body ends an item of its own.
fn items(text: &str, ending: char) -> Vec<Item> {
    let mut out = Vec::new();
    let (mut comment, mut item) = (String::new(), String::new());
    let mut depth = 0usize;
    let mut rest = without_preprocessor(text);
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
            if depth == 0 && item.trim().is_empty() {
                comment = comment_text(&rest[..end]);
            } else {
                item += &rest[..end];
            }
            rest = rest.split_off(end);
            continue;
        }
        rest.remove(0);
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_body = c == '}' && depth == 0 && signature(&item).is_some();
        if depth == 0 && c == ending || is_body {
            push(&mut out, &mut comment, &mut item);
        } else {
            item.push(c);
        }
    }
    push(&mut out, &mut comment, &mut item);
    out
}

fn push(out: &mut Vec<Item>, comment: &mut String, item: &mut String) {
    let text = std::mem::take(item).trim().to_owned();
    let comment = std::mem::take(comment);
    if !text.is_empty() {
        out.push(Item { comment, text });
    }
}

/// The words of a comment in one line; of one for Doxygen only.
fn comment_text(text: &str) -> String {
    let Some(text) = text.strip_prefix("/**") else {
        return String::new();
    };
    let words = text.trim_end_matches("*/").split_whitespace();
    let words: Vec<_> = words.filter(|word| *word != "*").collect();
    words.join(" ")
}

/// Without lines for the preprocessor and the macros that stand alone on a line.
fn without_preprocessor(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut goes_on = false;
    for line in text.lines() {
        let is_macro = goes_on || line.trim_start().starts_with('#');
        goes_on = is_macro && line.ends_with('\\');
        if !is_macro && !matches!(line, "BEGIN_C_DECLS" | "END_C_DECLS") {
            out += line;
            out.push('\n');
        }
    }
    out
}

#[test]
fn what_lacks_a_description_is_found() {
    let text = "
        /** Adds.
         * @param[in] a first
         */
        static UCS_F_ALWAYS_INLINE int add(int a, const int *b) { return a + *b; }
        /** @param[in] cb called */
        void call(void (*cb)(int x), int list[]);
        /** Of things. */
        enum things {
            /** One. */
            ONE = 1 << 0,
            TWO = 1 << 1,
        };
        struct pair {
            /** First. */
            int a;
            union {
                /** Second. */
                int b;
                int c;
            } u;
        };
        /** @param[in] request it
         * @return nothing much */
        typedef int (*callback_t)(void *request, int status);
        ";
    assert_eq!(
        missing(text),
        [
            "add: parameter b",
            "add: result",
            "call: parameter list",
            "enum things: TWO = 1 << 1",
            "struct pair: union {\n                /** Second. */\n                int b;\n                int c;\n            } u",
            "struct pair: int c",
            "callback_t: parameter status",
        ]
    );
}
