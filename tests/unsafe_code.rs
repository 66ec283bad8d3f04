//! Files with unsafe code are listed, all others have the compiler forbid it, the unsafe blocks of `ucp` become fewer, and
//! atomics are those of `ucs::sync`, apart from listed exceptions. The rules are checked on the text, so that a breach names its file; the other tests show that
//! each rule can fail.

#[path = "source_text/code.rs"]
mod code;
mod source_text;

use code::{is_test, without_comments};
use source_text::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files with unsafe code, one a line. The list may only get shorter: new code that needs unsafe code goes where it
/// stands already.
const WITH_UNSAFE: &str = include_str!("unsafe_files.txt");

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Whether there is unsafe code in a file, as the lint `unsafe_code` means it: the keyword, apart from types of C
/// functions. The attribute of an exported function counts.
fn has_unsafe(text: &str) -> bool {
    let code = without_comments(text);
    let mut words = code.match_indices("unsafe");
    words.any(|(at, word)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '"';
        let is_type = after.starts_with(" extern \"C\" fn(");
        !before.ends_with(in_name) && !after.starts_with(in_name) && !is_type
    })
}

/// The file of the module in which the module in `file` stands.
fn parent(file: &Path, is_source: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut folder = file.parent()?.to_path_buf();
    if file.file_name()? == "mod.rs" && !folder.pop() {
        return None;
    }
    if folder.as_os_str().is_empty() {
        return (file != Path::new("lib.rs")).then(|| PathBuf::from("lib.rs"));
    }
    let candidates = [folder.join("mod.rs"), folder.with_extension("rs")];
    candidates
        .into_iter()
        .find(|candidate| is_source(candidate))
}

/// The files in which the compiler would not refuse unsafe code although there is none: neither they nor a module
/// around them has the attribute, and no module inside needs its absence.
fn without_forbid(sources: &BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let around = |file: &Path| {
        let up = |file: &PathBuf| parent(file, |path| sources.contains_key(path));
        std::iter::successors(Some(file.to_path_buf()), up)
    };
    let with_unsafe = sources.iter().filter(|(_, text)| has_unsafe(text));
    let open: BTreeSet<PathBuf> = with_unsafe.flat_map(|(file, _)| around(file)).collect();
    let covered = |file: &Path| around(file).any(|module| sources[&module].contains(FORBID));
    let files = sources.keys();
    let files = files.filter(|file| !open.contains(*file) && !covered(file));
    files.cloned().collect()
}

#[test]
fn unsafe_code_is_in_listed_files() {
    let listed: BTreeSet<PathBuf> = WITH_UNSAFE.lines().map(PathBuf::from).collect();
    let sources = sources();
    let with_unsafe = sources.iter().filter(|(_, text)| has_unsafe(text));
    let found: BTreeSet<PathBuf> = with_unsafe.map(|(file, _)| file.clone()).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(
        new.is_empty(),
        "these files had no unsafe code before: {new:?}"
    );
    let clean: Vec<_> = listed.difference(&found).collect();
    assert!(
        clean.is_empty(),
        "no unsafe code is left in {clean:?}: remove them from tests/unsafe_files.txt"
    );
}

/// Unsafe blocks in `src/ucp`, tests included. The number may only get smaller.
const UCP_BLOCKS: usize = 187;

/// Unsafe blocks in a file.
fn unsafe_blocks(text: &str) -> usize {
    without_comments(text).matches("unsafe {").count()
}

#[test]
fn ucp_has_no_more_unsafe_blocks() {
    let sources = sources().into_iter();
    let ucp = sources.filter(|(file, _)| file.starts_with("ucp"));
    let blocks: usize = ucp.map(|(_, text)| unsafe_blocks(&text)).sum();
    assert!(
        blocks <= UCP_BLOCKS,
        "src/ucp has {blocks} unsafe blocks, {UCP_BLOCKS} are allowed"
    );
    assert!(
        blocks == UCP_BLOCKS,
        "src/ucp has {blocks} unsafe blocks: lower UCP_BLOCKS"
    );
}

#[test]
fn unsafe_blocks_are_counted() {
    let text = "// unsafe { no }\nunsafe fn f() { unsafe { g() } }\nlet x = unsafe { *y };\nunsafe impl Send for X {}";
    assert_eq!(unsafe_blocks(text), 2);
}

#[test]
fn all_other_files_forbid_unsafe_code() {
    let missing = without_forbid(&sources().into_iter().collect());
    assert!(
        missing.is_empty(),
        "these files need {FORBID} below their first comment: {missing:?}"
    );
}

#[test]
fn a_file_that_does_not_forbid_unsafe_code_is_found() {
    let (forbids, needs) = ("#![forbid(unsafe_code)]\n", "unsafe fn f() {}\n");
    let sources = [
        ("lib.rs", ""),
        ("ucs/mod.rs", ""),
        ("ucs/clock.rs", ""),
        ("ucs/mpool.rs", needs),
        ("ucs/log/mod.rs", forbids),
        ("ucs/log/line.rs", ""),
        ("ucs/table.rs", forbids),
        ("ucs/table/tests.rs", ""),
        ("ucp/mod.rs", ""),
        ("ucp/ep.rs", ""),
        ("ucp/ep/end.rs", needs),
        ("ucp/ep/state.rs", ""),
    ];
    let sources = sources.map(|(file, text)| (PathBuf::from(file), text.to_owned()));
    let missing = without_forbid(&sources.into());
    assert_eq!(
        missing,
        ["ucp/ep/state.rs", "ucs/clock.rs"].map(PathBuf::from)
    );
}

#[test]
fn unsafe_code_is_found() {
    for text in [
        "fn f() { unsafe { g() } }",
        "unsafe impl Send for X {}",
        "unsafe extern \"C\" fn f() {}",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn f() {}",
    ] {
        assert!(has_unsafe(text), "{text}");
    }
    for text in [
        "// unsafe code is elsewhere",
        "#![forbid(unsafe_code)]",
        "type F = unsafe extern \"C\" fn(*mut u8);",
    ] {
        assert!(!has_unsafe(text), "{text}");
    }
}

/// Files that take atomics from core and not from `ucs::sync`, where loom models take the place of them.
const CORE_ATOMICS: [(&str, &str); 24] = [
    ("ucs/callbackq.rs", A_STATIC),
    ("ucs/log/limit.rs", A_STATIC),
    ("ucs/log/handlers.rs", A_STATIC),
    ("ucs/log/mod.rs", A_STATIC),
    ("ucs/log/line.rs", A_STATIC),
    ("ucs/config/known.rs", A_STATIC),
    ("ucs/compat/profile.rs", A_STATIC),
    ("ucp/context.rs", A_STATIC),
    ("ucp/inspect/statistics.rs", A_STATIC),
    ("uct/cm/mod.rs", A_STATIC),
    ("uct/base/copy.rs", A_STATIC),
    ("uct/base/death_watch.rs", A_STATIC),
    ("uct/tcp/hello.rs", A_STATIC),
    ("abi/ucm.rs", A_STATIC),
    ("abi/ucs/profile.rs", A_STATIC),
    ("abi/ucs/opts.rs", A_STATIC),
    ("abi/ucs/arch.rs", A_STATIC),
    ("abi/ucs/memtype_cache.rs", A_STATIC),
    ("ucp/request.rs", IN_A_WORD),
    ("ucs/compat/rcache/region.rs", IN_FOREIGN_MEMORY),
    ("uct/api.rs", IN_FOREIGN_MEMORY),
    ("uct/tag/rndv.rs", IN_FOREIGN_MEMORY),
    ("abi/ucp/device.rs", IN_FOREIGN_MEMORY),
    ("ucs/sync/mod.rs", "the door itself"),
];
const A_STATIC: &str = "a static, and loom's atomics have no constant value";
const IN_A_WORD: &str =
    "a byte that is read with its neighbours at once, and loom's atomics are larger";
const IN_FOREIGN_MEMORY: &str =
    "a word in a struct of C or in memory of peers, and loom's atomics are larger";

/// Whether a file names core's atomics outside its tests.
fn names_core_atomics(text: &str) -> bool {
    let code = without_comments(text);
    // Some are left out of loom's models too, so their attribute differs.
    let product = code.find("\nmod tests {").map_or(&*code, |at| &code[..at]);
    ["core::sync::atomic", "std::sync::atomic"]
        .iter()
        .any(|path| product.contains(path))
}

#[test]
fn atomics_are_those_of_ucs_sync() {
    // `sys` and `ucm` are below `ucs`.
    let is_below = |file: &Path| file.starts_with("sys") || file.starts_with("ucm");
    let sources = sources().into_iter();
    let files = sources
        .filter(|(file, text)| !is_test(file) && !is_below(file) && names_core_atomics(text));
    let found: BTreeSet<PathBuf> = files.map(|(file, _)| file).collect();
    let listed = CORE_ATOMICS.iter().map(|(file, _)| PathBuf::from(file));
    let listed: BTreeSet<PathBuf> = listed.collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "use the atomics of ucs::sync in {new:?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "take {gone:?} off CORE_ATOMICS");
}

#[test]
fn core_atomics_are_found() {
    assert!(names_core_atomics(
        "use core::sync::atomic::AtomicU32;\n#[cfg(test)]\nmod tests {\n}"
    ));
    assert!(names_core_atomics(
        "fn f() { std::sync::atomic::fence(SeqCst) }"
    ));
    assert!(!names_core_atomics(
        "use crate::ucs::sync::AtomicU32;\n#[cfg(test)]\nmod tests {\n    use core::sync::atomic;\n}"
    ));
}
