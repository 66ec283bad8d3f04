//! A folder of `src/` names only the floors below it, only floor 1 calls libc, and every file opens with
//! a description. A transport is named in its own folder and in the registry only. UCP uses UCT through listed
//! modules. The rules are checked on the text, so that a breach names its line; the
//! last tests show that each rule can fail.
//!
//! `src/ucp` has floors of its own (`UCP_FLOORS`), and no import goes up.

#[path = "source_text/code.rs"]
mod code;
mod source_text;

use code::{is_test, without_comments};
use source_text::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const FLOORS: [&str; 8] = ["c", "sys", "ucm", "ucs", "wire", "uct", "ucp", "abi"];

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| *floor == name)
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
    let found: Vec<String> = sources()
        .iter()
        .flat_map(|(file, text)| breaches(file, text))
        .collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The floors of `src/ucp`, with the modules of each. A module that no floor names stands on the first.
const UCP_FLOORS: [(&str, &[&str]); 6] = [
    ("core", &[]),
    ("ep", &["ep", "request", "op"]),
    ("proto", &["proto", "composite"]),
    ("verbs", &["tag", "am", "stream", "rma"]),
    ("wireup", &["wireup", "failover"]),
    (
        "worker",
        &["worker", "handlers", "info", "inspect", "upstream"],
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

/// The files of `src/ucp` below its root, as paths relative to it, without comments.
fn ucp_sources() -> Vec<(PathBuf, String)> {
    let in_ucp = |(file, text): (PathBuf, String)| {
        let file = file.strip_prefix("ucp").ok()?;
        (file != Path::new("mod.rs")).then(|| (file.to_path_buf(), without_comments(&text)))
    };
    sources().into_iter().filter_map(in_ucp).collect()
}

#[test]
fn the_floors_of_ucp_hold() {
    let breaches: Vec<String> = ucp_sources()
        .iter()
        .flat_map(|(file, code)| {
            let modules = upward(file, code);
            let file = file.display().to_string();
            modules.into_iter().map(move |module| {
                format!("src/ucp/{file} may not name {module}, which is above it")
            })
        })
        .collect();
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
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

/// The module that a file is, as the names that lead to it.
fn module_of(file: &Path) -> Vec<String> {
    let names = file.with_extension("");
    let mut names: Vec<String> = names
        .iter()
        .map(|name| name.to_str().unwrap().to_owned())
        .collect();
    names.pop_if(|last| last == "mod");
    names
}

/// The paths in `text`, which follows a `::`: one, or those of a group `{a, b::{c}}`.
fn paths(text: &str) -> Vec<Vec<String>> {
    if let Some(group) = text.strip_prefix('{') {
        let (mut depth, mut from, mut found) = (0, 0, Vec::new());
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    found.extend(paths(group[from..at].trim_start()));
                    from = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
        return found;
    }
    let name = identifier(text).to_owned();
    match text[name.len()..].strip_prefix("::") {
        Some(rest) if !name.is_empty() => paths(rest)
            .into_iter()
            .map(|path| [vec![name.clone()], path].concat())
            .collect(),
        _ => vec![vec![name]],
    }
}

/// The files of `src/ucp`, of which `all` are the modules, that `code`, the contents of one without comments, names outside
/// its tests.
fn imports(file: &Path, code: &str, all: &[(Vec<String>, PathBuf)]) -> BTreeSet<PathBuf> {
    let code = product(code);
    let own = module_of(file);
    let mut prefixes = vec![("crate::ucp::".to_owned(), Vec::new())];
    for up in 1..=own.len() {
        prefixes.push(("super::".repeat(up), own[..own.len() - up].to_vec()));
    }
    for (module, _) in all {
        if module.len() == own.len() + 1 && module.starts_with(&own) {
            prefixes.push((format!("{}::", module[own.len()]), module.clone()));
        }
    }
    let mut found = BTreeSet::new();
    for (prefix, base) in prefixes {
        for (at, _) in code.match_indices(&prefix) {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            if code[..at].ends_with(inside) || code[at + prefix.len()..].starts_with("super::") {
                continue;
            }
            for path in paths(&code[at + prefix.len()..]) {
                let path = [base.clone(), path].concat();
                let named = all.iter().filter(|(module, _)| path.starts_with(module));
                found.extend(
                    named
                        .max_by_key(|(module, _)| module.len())
                        .cloned()
                        .map(|m| m.1),
                );
            }
        }
    }
    found.remove(file);
    found
}

/// The files in each circle of imports in `src/ucp`: each names, by way of others, every other.
fn circles(files: &[(PathBuf, String)]) -> Vec<BTreeSet<PathBuf>> {
    let all: Vec<_> = files
        .iter()
        .map(|(file, _)| (module_of(file), file.clone()))
        .collect();
    let graph: BTreeMap<&PathBuf, BTreeSet<PathBuf>> = files
        .iter()
        .map(|(file, code)| (file, imports(file, code, &all)))
        .collect();
    let reached = |from: &PathBuf| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            open.extend(
                graph[&next]
                    .iter()
                    .filter(|file| seen.insert((*file).clone()))
                    .cloned(),
            );
        }
        seen
    };
    let reach: BTreeMap<&PathBuf, BTreeSet<PathBuf>> =
        graph.keys().map(|file| (*file, reached(file))).collect();
    let circle = |file: &PathBuf| -> BTreeSet<PathBuf> {
        let others = reach[file]
            .iter()
            .filter(|other| reach[other].contains(file));
        others.cloned().collect()
    };
    let circles: BTreeSet<_> = graph.keys().map(|file| circle(file)).collect();
    circles
        .into_iter()
        .filter(|circle| !circle.is_empty())
        .collect()
}

/// Most files in one circle of imports in `src/ucp`. It only shrinks.
const LARGEST_CIRCLE: usize = 8;

#[test]
fn circles_of_imports_in_ucp_are_small() {
    let circles = circles(&ucp_sources());
    let largest = circles.iter().max_by_key(|circle| circle.len()).unwrap();
    assert!(
        largest.len() == LARGEST_CIRCLE,
        "the largest circle has {} files, {LARGEST_CIRCLE} are listed: {largest:#?}",
        largest.len()
    );
}

#[test]
fn a_circle_of_imports_is_found() {
    let files = [
        (
            "a.rs",
            "mod b;\nuse crate::ucp::{d::e::{self, F}, g};\nfn f() { b::f() }",
        ),
        ("a/b.rs", "use super::super::g::G;"),
        ("d/mod.rs", "pub mod e;"),
        ("d/e.rs", "#[cfg(test)]\nmod tests { use crate::ucp::a; }"),
        ("g.rs", "fn g() { crate::ucp::a::b::f() }"),
        ("h.rs", "use super::a::b;\nuse super::d;"),
    ];
    let files = files.map(|(file, code)| (PathBuf::from(file), code.to_owned()));
    let expected = ["a/b.rs", "g.rs"].map(PathBuf::from);
    assert_eq!(circles(&files), [BTreeSet::from(expected)]);
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

/// The text without its unit tests, line structure kept.
fn product(code: &str) -> &str {
    match code.find("#[cfg(test)]\nmod tests") {
        Some(at) => &code[..at],
        None => code,
    }
}

/// The names of components and transports, the groups of `UCX_TLS`, and the folders of `src/uct` with a transport.
struct Transports {
    names: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl Transports {
    fn all() -> Transports {
        let mut names = BTreeSet::new();
        for handle in &ferrucx::uct::registry::COMPONENTS {
            names.insert(handle.component.name().to_owned());
            for transport in handle.component.transports() {
                names.insert(transport.name().to_owned());
                names.extend(transport.groups().iter().map(|group| (*group).to_owned()));
            }
        }
        let with_transport = sources().into_iter().filter_map(|(file, text)| {
            let folder = file.strip_prefix("uct").ok()?.parent()?;
            let first = folder.components().next()?.as_os_str().to_str()?;
            let has = text.contains("impl Transport for ");
            has.then(|| first.to_owned())
        });
        Transports {
            names,
            folders: with_transport.collect(),
        }
    }
}

/// Places outside a transport's folder that may name it: file, name, and why.
const MAY_NAME: [(&str, &str, &str); 8] = [
    ("ucs/memtype.rs", "cuda", "a memory type"),
    ("ucp/config.rs", "cuda", "a memory type"),
    (
        "ucp/config.rs",
        "cuda_cpy",
        "upstream's default of a variable that has no effect",
    ),
    (
        "sys/machine.rs",
        "self",
        "the folder of this process in /proc",
    ),
    (
        "ucp/proto/table/mod.rs",
        "self",
        "the scope of an endpoint to its own worker, as upstream prints it",
    ),
    ("ucp/wireup/describe.rs", "self", "the same scope"),
    (
        "uct/tag/rndv.rs",
        "cma",
        "a rendezvous reads the sender's memory as cma does",
    ),
    (
        "uct/tag/wire.rs",
        "cma",
        "the name of that memory's process",
    ),
];

/// Each place in `text`, the contents of `src/file`, that names a transport: line and name.
fn transports_named(file: &Path, text: &str, transports: &Transports) -> Vec<(usize, String)> {
    let own = |folder: &String| file.starts_with(Path::new("uct").join(folder));
    if is_test(file) || transports.folders.iter().any(own) || file == Path::new("uct/registry.rs") {
        return Vec::new();
    }
    let code = without_comments(text);
    let code = product(&code);
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        for name in line.split('"').skip(1).step_by(2) {
            if transports.names.contains(name) {
                found.push((number + 1, name.to_owned()));
            }
        }
    }
    for (at, _) in code.match_indices("uct::") {
        for name in heads(&code[at + "uct::".len()..]) {
            if transports.folders.contains(&name) {
                found.push((code[..at].matches('\n').count() + 1, name));
            }
        }
    }
    found
}

/// A new transport needs its folder, its `mod` line and its line in `uct/registry.rs`, and nothing else.
#[test]
fn a_transport_is_named_in_its_folder_and_the_registry_only() {
    let transports = Transports::all();
    assert!(transports.folders.len() >= 5, "{:?}", transports.folders);
    let (mut breaches, mut used) = (Vec::new(), BTreeSet::new());
    for (file, text) in sources() {
        for (line, name) in transports_named(&file, &text, &transports) {
            let exempt = MAY_NAME
                .iter()
                .position(|(of, what, _)| file == Path::new(of) && name == *what);
            match exempt {
                Some(index) => {
                    used.insert(index);
                }
                None => breaches.push(format!("src/{}:{line}: names {name}", file.display())),
            }
        }
    }
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
    for (index, (file, name, _)) in MAY_NAME.iter().enumerate() {
        assert!(
            used.contains(&index),
            "src/{file} does not name {name}: remove the line from MAY_NAME"
        );
    }
}

#[test]
fn a_transport_named_elsewhere_is_found() {
    let transports = Transports::all();
    let named = |file: &str, text: &str| transports_named(Path::new(file), text, &transports).len();
    let bad = [
        "let t = \"tcp\";",
        "(a, \"sm\") => 1,",
        "use crate::uct::shm::ring;",
        "use crate::{sys, uct::{api, ib::md}};",
    ];
    for text in bad {
        assert_eq!(named("ucp/context.rs", text), 1, "{text}");
        assert_eq!(named("uct/api.rs", text), 1, "{text}");
    }
    let good = [
        "// as \"tcp\" does",
        "let t = \"tcp: {why}\";",
        "use crate::uct::{api, registry};",
        "fn f() {}\n#[cfg(test)]\nmod tests { const T: &str = \"tcp\"; }",
    ];
    for text in good {
        assert_eq!(named("ucp/context.rs", text), 0, "{text}");
    }
    assert_eq!(named("uct/tcp/md.rs", bad[0]), 0);
}

/// The modules of UCT that UCP uses. `internal` is the contract with a transport beyond C's op table, `api` its types,
/// `cm` connection management, `local` the proof of being on this host; of `base`, tools that have no transport behind
/// them.
const UCT_FOR_UCP: [&str; 16] = [
    "api",
    "base::block",
    "base::config",
    "base::copy",
    "base::iov",
    "base::md",
    "base::mem",
    "base::memory_copier",
    "base::params",
    "base::staged",
    "base::worker",
    "cm",
    "internal",
    "local",
    "overlay",
    "registry",
];

/// The modules of UCT that `text` names, one level deep, two in `base`.
fn uct_modules(text: &str) -> Vec<String> {
    let code = without_comments(text);
    let code = product(&code);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("uct::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        // C's types have a module of the same name.
        if code[..at].ends_with("c::") {
            continue;
        }
        let rest = &code[at + "uct::".len()..];
        match rest.strip_prefix("base::") {
            Some(inner) => found.extend(heads(inner).iter().map(|head| format!("base::{head}"))),
            None => found.extend(heads(rest)),
        }
    }
    found
}

#[test]
fn ucp_uses_uct_through_listed_modules() {
    let (mut breaches, mut used) = (Vec::new(), BTreeSet::new());
    for (file, text) in sources() {
        if !file.starts_with("ucp") || is_test(&file) {
            continue;
        }
        for module in uct_modules(&text) {
            match UCT_FOR_UCP.contains(&module.as_str()) {
                true => _ = used.insert(module),
                false => breaches.push(format!("src/{}: uses uct::{module}", file.display())),
            }
        }
    }
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
    for module in UCT_FOR_UCP {
        assert!(
            used.contains(module),
            "UCP does not use uct::{module}: remove it from UCT_FOR_UCP"
        );
    }
}

#[test]
fn modules_of_uct_are_found() {
    let text = "use crate::uct::base::{am, iface::base_of};\nuse crate::uct::{self, shm::ring};\n\
        use crate::c::uct::x;\nfn f() { uct::table::ops() }";
    assert_eq!(
        uct_modules(text),
        ["base::am", "base::iface", "self", "shm", "table"]
    );
}
