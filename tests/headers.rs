//! The public C headers: written from the Rust sources, and compiled.
//!
//! One header is one template in `cbindgen/inline/` (includes, macros and inline functions, by hand), the
//! types of one or more files of `src/c/`, and those functions of `src/abi/` that `cbindgen/headers.txt`
//! lists for it. `cbindgen` turns the Rust items into C; they take the place of the template's `@ITEMS@`.
//! `FERRUCX_WRITE_HEADERS=1` writes `include/`; otherwise a difference fails the test.

#[path = "headers/compile.rs"]
mod compile;
#[path = "headers/documented.rs"]
mod documented;
#[path = "headers/manifest.rs"]
mod manifest;
#[path = "headers/rust_items.rs"]
mod rust_items;
#[path = "headers/to_c.rs"]
mod to_c;

use manifest::Manifest;
use rust_items::Sources;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).expect("scratch directory");
    dir
}

/// Every header by its path below `include/`.
fn generate() -> BTreeMap<String, String> {
    let manifest = Manifest::read(&root());
    let sources = Sources::read(&root());
    let dir = scratch("headers");
    manifest
        .headers
        .iter()
        .map(|header| {
            (
                header.path.clone(),
                to_c::header(header, &sources, &root(), &dir),
            )
        })
        .collect()
}

/// Files that stand in `include/` now.
fn committed(dir: &Path, below: &Path, out: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("directory entry").path();
        if path.is_dir() {
            committed(&path, below, out);
        } else {
            let name = path
                .strip_prefix(below)
                .expect("below")
                .display()
                .to_string();
            out.insert(name, std::fs::read_to_string(&path).expect("header text"));
        }
    }
}

/// The headers that the sources say, and the directory that holds the committed ones, written first if asked.
fn include() -> &'static (BTreeMap<String, String>, PathBuf) {
    static ONCE: OnceLock<(BTreeMap<String, String>, PathBuf)> = OnceLock::new();
    ONCE.get_or_init(|| {
        let wanted = generate();
        let include = root().join("include");
        if std::env::var_os("FERRUCX_WRITE_HEADERS").is_some() {
            let mut old = BTreeMap::new();
            committed(&include, &include, &mut old);
            for path in old.keys().filter(|path| !wanted.contains_key(*path)) {
                std::fs::remove_file(include.join(path)).expect("remove a header of the past");
            }
            for (path, text) in &wanted {
                let file = include.join(path);
                std::fs::create_dir_all(file.parent().expect("parent")).expect("include directory");
                std::fs::write(&file, text).expect("write header");
            }
        }
        (wanted, include)
    })
}

#[test]
fn include_is_what_the_sources_say() {
    let (wanted, include) = include();
    let mut found = BTreeMap::new();
    committed(include, include, &mut found);
    let mut report = String::new();
    for (path, text) in wanted {
        match found.get(path) {
            None => report += &format!("{path}: missing\n"),
            Some(old) => {
                if let Some((line, (old, new))) = first_difference(old, text) {
                    report += &format!("{path}:{line}: has `{old}`, sources say `{new}`\n");
                }
            }
        }
    }
    for path in found.keys().filter(|path| !wanted.contains_key(*path)) {
        report += &format!("{path}: in include/ but not in cbindgen/headers.txt\n");
    }
    assert!(
        report.is_empty(),
        "run `make headers` and commit include/:\n{report}"
    );
}

fn first_difference<'t>(old: &'t str, new: &'t str) -> Option<(usize, (&'t str, &'t str))> {
    if old == new {
        return None;
    }
    let (mut old, mut new) = (old.lines(), new.lines());
    let mut line = 0;
    loop {
        line += 1;
        let pair = (old.next(), new.next());
        match pair {
            (None, None) => return Some((line, ("", ""))),
            (a, b) if a == b => {}
            (a, b) => return Some((line, (a.unwrap_or("<end>"), b.unwrap_or("<end>")))),
        }
    }
}

#[test]
fn every_function_of_the_api_headers_is_exported() {
    let manifest = Manifest::read(&root());
    let sources = Sources::read(&root());
    let missing: Vec<_> = manifest
        .headers
        .iter()
        .filter(|header| header.complete)
        .flat_map(|header| {
            header
                .functions
                .iter()
                .map(move |name| (&header.path, name))
        })
        .filter(|(_, name)| !sources.functions.contains_key(*name))
        .collect();
    assert!(missing.is_empty(), "not exported by src/abi: {missing:?}");
}
