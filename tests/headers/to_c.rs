//! The C side: runs cbindgen over a prepared module and sets the result into the template.

use super::manifest::Header;
use super::rust_items::{PACKED, Sources, TAG};
use std::path::Path;

const NOTICE: &str = "/** @file\n * Written from the Rust sources by `make headers`: change those, not this file.\n */";

/// The text of one header.
pub fn header(header: &Header, sources: &Sources, root: &Path, scratch: &Path) -> String {
    let template_path = root.join("cbindgen/inline").join(&header.path);
    let template = std::fs::read_to_string(&template_path)
        .unwrap_or_else(|error| panic!("{}: {error}", template_path.display()));
    let module = sources.module(&header.types, &header.functions, &template);
    let items = if module.text.is_empty() {
        String::new()
    } else {
        run(header, module, root, scratch)
    };
    let guard = guard(&header.path);
    let body = template.replace("@ITEMS@", items.trim());
    let body = body.trim();
    squeeze(&format!(
        "{NOTICE}\n#ifndef {guard}\n#define {guard}\n\n{body}\n\n#endif\n"
    ))
}

fn guard(path: &str) -> String {
    let name: String = path
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    format!("FERRUCX_{name}")
}

fn run(header: &Header, module: super::rust_items::Module, root: &Path, scratch: &Path) -> String {
    let source = scratch
        .join(header.path.replace('/', "__"))
        .with_extension("rs");
    std::fs::write(&source, &module.text).expect("module for cbindgen");
    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen/cbindgen.toml")).expect("cbindgen.toml");
    config.export.include = module.names;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(&source)
        .generate()
        .unwrap_or_else(|error| panic!("{}: {error}", header.path));
    let mut text = Vec::new();
    bindings.write(&mut text);
    arrange(&short_comments(&polish(
        &String::from_utf8(text).expect("UTF-8"),
    )))
}

/// Puts a comment of one sentence on one line.
fn short_comments(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        if let [open, text, close, ..] = &lines[at..]
            && open.trim() == "/**"
            && close.trim() == "*/"
            && let Some(text) = text.trim().strip_prefix("* ")
        {
            let indent = open.len() - open.trim_start().len();
            out += &format!("{:indent$}/** {text} */\n", "");
            at += 3;
        } else {
            out += lines[at];
            out.push('\n');
            at += 1;
        }
    }
    out
}

/// Puts items into an order that C can read where types name each other: values, then names of structures,
/// then all that may use them.
fn arrange(text: &str) -> String {
    let (mut values, mut tags, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks(text) {
        let head = block
            .lines()
            .find(|line| !is_comment(line))
            .unwrap_or_default()
            .to_owned();
        let words: Vec<_> = head.split_whitespace().collect();
        match words.as_slice() {
            ["#define", ..] | ["enum", _, "{"] => values.push(block),
            ["typedef", "enum", tag, _] => {
                let head = format!("enum {tag} {{");
                match values
                    .iter()
                    .position(|value| value.lines().any(|line| line == head))
                {
                    Some(at) => values.insert(at + 1, block),
                    None => tags.push(block),
                }
            }
            ["struct" | "union", _] | ["typedef", "struct" | "union", _, _] => tags.push(block),
            _ => rest.push(block),
        }
    }
    let mut out = String::new();
    let mut after = "";
    for block in values.iter().chain(&tags).chain(&rest) {
        let short = ["#define", "struct", "typedef struct", "typedef enum"]
            .into_iter()
            .find(|start| block.starts_with(start) && !block.contains('\n'))
            .unwrap_or("");
        if short.is_empty() || short != after {
            out.push('\n');
        }
        out += block;
        out.push('\n');
        after = short;
    }
    out
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("/*") || line.starts_with('*')
}

/// Items with their comments: what stands between blank lines, braces closed.
fn blocks(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut block = String::new();
    let mut depth = 0usize;
    for line in text.lines() {
        if !is_comment(line) {
            depth += line.matches('{').count();
            depth -= line.matches('}').count();
        }
        if line.trim().is_empty() {
            if depth == 0 && !block.is_empty() {
                out.push(std::mem::take(&mut block));
            }
            continue;
        }
        if !block.is_empty() {
            block.push('\n');
        }
        block += line;
    }
    if !block.is_empty() {
        out.push(block);
    }
    out
}

/// Resolves the marks of `rust_items`, and says sizes and bits the way C programmers read them.
fn polish(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut packed = false;
    for line in text.lines() {
        let mut line = line.to_owned();
        packed |= line.starts_with("enum ") && line.contains(PACKED) && line.ends_with('{');
        if packed && line == "};" {
            line = "} UCS_S_PACKED;".to_owned();
            packed = false;
        }
        for kind in ["struct", "union", "enum"] {
            line = line.replace(&format!("{kind}__"), &format!("{kind} "));
        }
        line = line.replace(PACKED, "").replace(TAG, "");
        line = words(&line, |word| match word {
            "super_" => Some("super"),
            "self_" => Some("self"),
            _ => None,
        });
        if line.ends_with("[0];") {
            // ISO C++ has no arrays without elements.
            let member = line.trim_start();
            line = format!(
                "{}__extension__ {member}",
                &line[..line.len() - member.len()]
            );
        }
        out += &bits(&line);
        out.push('\n');
    }
    out
}

/// Replaces whole identifiers.
fn words(line: &str, replacement: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        let (before, word) = rest.split_at(start);
        let end = word
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        out += before;
        out += replacement(word).unwrap_or(word);
        rest = after;
    }
    out + rest
}

/// `(1 << 7)` as `UCS_BIT(7)`: an `int` has too few bits for some of them.
fn bits(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("(1 << ") {
        let (before, shift) = rest.split_at(start);
        let Some(end) = shift.find(')') else { break };
        out += before;
        out += &format!("UCS_BIT({})", &shift["(1 << ".len()..end]);
        rest = &shift[end + 1..];
    }
    out + rest
}

/// At most one blank line in a row, none with trailing space.
fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.lines().map(str::trim_end) {
        if !(blank && line.is_empty()) {
            out += line;
            out.push('\n');
        }
        blank = line.is_empty();
    }
    out
}
