//! A folder of `src/` names only the floors below it, only floor 1 calls libc, and every file opens with
//! a description. The rules are checked on the text, so that a breach names its line; the last tests show
//! that each rule can fail.
//!
//! `src/ucp` has floors of its own (`UCP_FLOORS`). Imports that go up are listed in `UPWARD`, which only shrinks.

use std::fs;
use std::path::{Path, PathBuf};

const FLOORS: [&str; 8] = ["c", "sys", "ucm", "ucs", "wire", "uct", "ucp", "abi"];

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| *floor == name)
}

/// All Rust files under `folder`, as paths relative to it.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(folder).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    found
}

/// How many `super::` lead from the module in `file` to the crate root.
fn depth(file: &Path) -> usize {
    let parts = file.components().count();
    if file.file_name().is_some_and(|name| name == "mod.rs") {
        parts - 1
    } else {
        parts
    }
}

fn identifier(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    &text[..end]
}

/// The first segments of every path in `text` (which follows `crate::`): one, or those of a group `{a, b::{c}}`.
fn heads(text: &str) -> Vec<String> {
    let Some(group) = text.strip_prefix('{') else {
        return vec![identifier(text).to_owned()];
    };
    let (mut depth, mut names, mut at_head) = (0, Vec::new(), true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_head = true,
            c if at_head && !c.is_whitespace() => {
                names.push(identifier(&group[at..]).to_owned());
                at_head = false;
            }
            _ => {}
        }
    }
    names
}

/// The text with comments blanked out, line structure kept.
fn without_comments(text: &str) -> String {
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

/// Everything in `text`, the contents of `src/file`, that breaks a rule.
fn breaches(file: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut breach =
        |line: usize, what: String| found.push(format!("src/{}:{line}: {what}", file.display()));
    if !text.starts_with("//!") {
        breach(1, "does not open with //!".to_owned());
    }
    let mut parts = file.components();
    let folder = parts.next().unwrap().as_os_str().to_str().unwrap();
    if parts.next().is_none() {
        if folder != "lib.rs" {
            breach(1, "lies outside the floors".to_owned());
        }
        return found;
    }
    let Some(own) = floor(folder) else {
        breach(1, format!("{folder} is no floor"));
        return found;
    };

    let code = without_comments(text);
    let line_of = |at: usize| code[..at].matches('\n').count() + 1;
    let to_root = "super::".repeat(depth(file));
    for prefix in ["crate::", "ferrucx::", to_root.as_str()] {
        for (at, _) in code.match_indices(prefix) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            for name in heads(&code[at + prefix.len()..]) {
                if floor(&name).is_some_and(|other| other > own) {
                    breach(
                        line_of(at),
                        format!("{folder} is below {name} and may not name it"),
                    );
                }
            }
        }
    }
    // Tests may call libc as they like: fork, kill and pipes are what they are made of.
    let product = match code.find("#[cfg(test)]\nmod tests") {
        Some(at) => &code[..at],
        None => &code,
    };
    let is_test = file.file_name().is_some_and(|name| name == "tests.rs");
    if folder != "sys" && !is_test {
        for (at, _) in product.match_indices("libc::") {
            let rest = &product[at + "libc::".len()..];
            let name = identifier(rest);
            let is_function = name.starts_with(|c: char| c.is_ascii_lowercase());
            if is_function && rest[name.len()..].starts_with('(') {
                breach(line_of(at), format!("libc::{name} is called outside sys"));
            }
        }
    }
    found
}

#[test]
fn floors_hold() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let found: Vec<String> = rust_files(&source)
        .iter()
        .flat_map(|file| breaches(file, &fs::read_to_string(source.join(file)).unwrap()))
        .collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The floors of `src/ucp`, with the modules of each. A module that no floor names stands on the first.
const UCP_FLOORS: [(&str, &[&str]); 6] = [
    ("core", &[]),
    ("ep", &["ep"]),
    ("proto", &["proto"]),
    ("verbs", &["tag", "am", "stream", "rma"]),
    ("wireup", &["wireup"]),
    (
        "worker",
        &[
            "worker",
            "handlers",
            "keepalive",
            "after_fork",
            "idle",
            "info",
        ],
    ),
];

fn ucp_floor(module: &str) -> usize {
    UCP_FLOORS
        .iter()
        .position(|(_, modules)| modules.contains(&module))
        .unwrap_or(0)
}

/// The modules of higher floors of `src/ucp` that `text`, the contents of `src/ucp/file` without comments, names outside
/// its tests.
fn upward(file: &Path, code: &str) -> Vec<String> {
    let product = code
        .find("#[cfg(test)]\nmod tests")
        .map_or(code, |at| &code[..at]);
    let first = Path::new(file.iter().next().unwrap()).with_extension("");
    let own = ucp_floor(first.to_str().unwrap());
    let to_ucp = "super::".repeat(depth(file));
    let mut found = Vec::new();
    for prefix in ["crate::ucp::", to_ucp.as_str()] {
        for (at, _) in product.match_indices(prefix) {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            if !prefix.is_empty() && !product[..at].ends_with(inside) {
                found.extend(heads(&product[at + prefix.len()..]));
            }
        }
    }
    found.retain(|module| ucp_floor(module) > own);
    found.sort();
    found.dedup();
    found
}

/// Every file of `src/ucp` with the modules above it that it names. An entry goes when the import does; none is added.
const UPWARD: &[(&str, &[&str])] = &[
    ("am/postponed.rs", &["worker"]),
    ("am/recv.rs", &["worker"]),
    ("composite.rs", &["proto", "worker"]),
    (
        "ep/end.rs",
        &[
            "after_fork",
            "proto",
            "rma",
            "stream",
            "tag",
            "wireup",
            "worker",
        ],
    ),
    ("ep/loopback.rs", &["worker"]),
    ("ep/outstanding.rs", &["proto"]),
    ("ep/send_queue.rs", &["proto"]),
    (
        "ep.rs",
        &[
            "after_fork",
            "keepalive",
            "proto",
            "rma",
            "stream",
            "wireup",
            "worker",
        ],
    ),
    ("mem.rs", &["ep"]),
    ("proto/fetched.rs", &["worker"]),
    ("proto/op.rs", &["rma"]),
    ("proto/rndv.rs", &["worker"]),
    ("proto/zcopy.rs", &["worker"]),
    ("request.rs", &["proto", "worker"]),
    ("rma/flush.rs", &["worker"]),
    ("rma/software.rs", &["worker"]),
    ("rma/target.rs", &["worker"]),
    ("stream/mod.rs", &["worker"]),
    ("stream/recv.rs", &["worker"]),
    ("stream/rndv.rs", &["worker"]),
    ("tag/mod.rs", &["worker"]),
    ("tag/probe.rs", &["worker"]),
    ("tag/recv.rs", &["worker"]),
    ("timer.rs", &["worker"]),
    ("unexpected.rs", &["worker"]),
    ("wakeup.rs", &["worker"]),
    ("wireup/accepted.rs", &["worker"]),
    ("wireup/claims.rs", &["worker"]),
    ("wireup/close.rs", &["worker"]),
    ("wireup/cm.rs", &["worker"]),
    ("wireup/describe.rs", &["worker"]),
    ("wireup/message.rs", &["worker"]),
    ("wireup/mod.rs", &["worker"]),
    ("wireup/select.rs", &["idle", "worker"]),
    ("wireup/unproven.rs", &["worker"]),
];

#[test]
fn the_floors_of_ucp_hold() {
    let ucp = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ucp");
    let mut found = Vec::new();
    let mut text = String::new();
    for file in rust_files(&ucp) {
        if file == Path::new("mod.rs") {
            continue;
        }
        let code = without_comments(&fs::read_to_string(ucp.join(&file)).unwrap());
        let modules = upward(&file, &code);
        if !modules.is_empty() {
            text += &format!("    (\"{}\", &{modules:?}),\n", file.display());
            found.push((file.display().to_string(), modules));
        }
    }
    let listed: Vec<(String, Vec<String>)> = UPWARD
        .iter()
        .map(|(file, modules)| {
            let modules = modules.iter().map(|module| (*module).to_owned());
            ((*file).to_owned(), modules.collect())
        })
        .collect();
    let new: Vec<String> = found
        .iter()
        .flat_map(|(file, modules)| modules.iter().map(move |module| (file, module)))
        .filter(|(file, module)| {
            let known = listed.iter().find(|(listed, _)| listed == *file);
            known.is_none_or(|(_, modules)| !modules.contains(*module))
        })
        .map(|(file, module)| format!("src/ucp/{file} may not name {module}, which is above it"))
        .collect();
    assert!(new.is_empty(), "\n{}", new.join("\n"));
    assert!(
        found == listed,
        "imports that went up are gone: take them off UPWARD, which is now\n{text}"
    );
}

#[test]
fn an_upward_import_in_ucp_is_found() {
    let cases: [(&str, &str, &[&str]); 6] = [
        (
            "ep/end.rs",
            "use crate::ucp::{proto::op, request};",
            &["proto"],
        ),
        (
            "ep.rs",
            "use super::worker::Worker;\nuse super::ep::state;",
            &["worker"],
        ),
        ("rma/flush.rs", "use super::super::wireup::cm;", &["wireup"]),
        ("tag/mod.rs", "use super::worker::Worker;", &["worker"]),
        (
            "rma/post.rs",
            "use crate::ucp::tag;\nuse super::flush;",
            &[],
        ),
        (
            "request.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::ucp::worker;\n}",
            &[],
        ),
    ];
    for (file, code, expected) in cases {
        assert_eq!(upward(Path::new(file), code), expected, "{file}: {code}");
    }
}

#[test]
fn all_floors_are_there() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for floor in FLOORS {
        assert!(source.join(floor).join("mod.rs").exists(), "{floor}");
    }
}

#[test]
fn a_name_from_above_is_found() {
    let bad = [
        ("uct/tcp/ep.rs", "//! x\nuse crate::ucp::Worker;\n"),
        ("ucs/log.rs", "//! x\nuse crate::{c::ucs, uct::Iface};\n"),
        (
            "ucs/log.rs",
            "//! x\nuse crate::{\n    c::{a, b},\n    wire,\n};\n",
        ),
        ("sys/mod.rs", "//! x\nfn f() { super::ucm::hook() }\n"),
        ("c/uct/tl.rs", "//! x\nuse super::super::super::sys;\n"),
        ("ucm/mod.rs", "//! x\nfn f() { unsafe { libc::mmap(p) } }\n"),
        ("ucm/mod.rs", "use std::fs;\n"),
        ("helpers/mod.rs", "//! x\n"),
        ("helpers.rs", "//! x\n"),
    ];
    for (file, text) in bad {
        assert_eq!(breaches(Path::new(file), text).len(), 1, "{file}: {text}");
    }
}

#[test]
fn what_is_allowed_passes() {
    let good = [
        (
            "abi/uct.rs",
            "//! x\nuse crate::{c::uct as t, ucs::Status, uct::Iface};\n",
        ),
        (
            "ucs/log.rs",
            "//! x\n// later crate::ucp\nuse crate::{c::{uct, ucp}, sys};\n",
        ),
        ("ucs/log.rs", "//! x\nlet a = \"a//b\"; use crate::sys;\n"),
        (
            "uct/tcp/ep.rs",
            "//! x\nuse super::super::base;\nlet n: libc::c_int = libc::EAGAIN;\n",
        ),
        (
            "ucm/mod.rs",
            "//! x\n#[cfg(test)]\nmod tests {\n    fn f() { libc::fork(); }\n}\n",
        ),
        ("sys/mem.rs", "//! x\nfn f() { libc::mmap(p) }\n"),
        ("lib.rs", "//! x\npub mod ucp;\n"),
    ];
    for (file, text) in good {
        assert_eq!(
            breaches(Path::new(file), text),
            Vec::<String>::new(),
            "{file}: {text}"
        );
    }
}
