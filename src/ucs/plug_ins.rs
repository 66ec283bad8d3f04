//! Plug-ins of programs: libraries `libFRAMEWORK_NAME.so.0` that a program of UCX's has the library load, as `ucx_perftest` those
//! that know memory of devices. This library has none of its own.
#![forbid(unsafe_code)]

use crate::sys::{file, library, machine};
use crate::ucs::config::{AllowList, global, var};
use crate::ucs_debug;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where plug-ins are looked for, the first place counts: beside this library, in `UCX_MODULE_DIR`, and where the program that
/// runs was installed with plug-ins of its own. Who calls a program with more rights than the own ones chooses no folder.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(library) = machine::own_path() {
        folders.extend(library.parent().map(|folder| folder.join("ucx")));
    }
    if machine::secure_execution() {
        return folders;
    }
    match global::current().str(var!(global::TABLE, "MODULE_DIR")) {
        "" => {
            let program = std::env::current_exe().ok();
            let prefix = program.as_deref().and_then(|p| p.parent()?.parent());
            folders.extend(prefix.map(|prefix| prefix.join("lib/ucx")));
        }
        named => folders.push(PathBuf::from(named)),
    }
    folders
}

/// The name of a plug-in by that of its file, and whether the file has the name that is loaded at best.
fn name_in<'a>(file: &'a str, framework: &str) -> Option<(&'a str, bool)> {
    let rest = file.strip_prefix("lib")?.strip_prefix(framework)?;
    let (name, ending) = rest.strip_prefix('_')?.split_once('.')?;
    // What is behind another `_` belongs to a framework with a longer name.
    let is_plain = !name.is_empty() && !name.contains('_');
    match ending {
        "so.0" if is_plain => Some((name, true)),
        "so" if is_plain => Some((name, false)),
        _ => None,
    }
}

fn is_allowed(name: &str) -> bool {
    let options = global::current();
    let matches = |patterns: &[String]| patterns.iter().any(|p| file::matches_pattern(p, name));
    match options.allow_list(var!(global::TABLE, "MODULES")) {
        AllowList::All => true,
        AllowList::Only(patterns) => matches(patterns),
        AllowList::AllBut(patterns) => !matches(patterns),
    }
}

/// The plug-ins of a framework in a folder.
fn find(folder: &Path, framework: &str, found: &mut BTreeMap<String, PathBuf>) {
    let mut here = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let Some((name, is_best)) = file.to_str().and_then(|file| name_in(file, framework)) else {
            continue;
        };
        if is_best || !here.contains_key(name) {
            here.insert(name.to_owned(), entry.path());
        }
    }
    for (name, path) in here {
        found.entry(name).or_insert(path);
    }
}

/// Whether a framework is a layer of upstream's own, whose plug-ins fit upstream's libraries only.
fn is_layer(framework: &str) -> bool {
    ["ucm", "uct"]
        .iter()
        .any(|layer| framework.starts_with(layer))
}

/// Loads the plug-ins of a framework, for good; with `global` other libraries find their symbols. What cannot be loaded is told in
/// the log, at level DEBUG.
pub fn load(framework: &str, global: bool) {
    if is_layer(framework) {
        return;
    }
    let mut found = BTreeMap::new();
    for folder in folders() {
        find(&folder, framework, &mut found);
    }
    for (name, path) in found {
        if !is_allowed(&name) {
            ucs_debug!("plug-in {name} is left out: UCX_MODULES does not allow it");
            continue;
        }
        match library::load_plug_in(&path, global) {
            Ok(()) => ucs_debug!("loaded {}", path.display()),
            Err(e) => ucs_debug!("a plug-in cannot be loaded: {e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names() {
        let name = |file| name_in(file, "ucx_perftest");
        assert_eq!(name("libucx_perftest_cuda.so.0"), Some(("cuda", true)));
        assert_eq!(name("libucx_perftest_cuda.so"), Some(("cuda", false)));
        for other in [
            "libucx_perftest_cuda.so.0.0.0",
            "libucx_perftest_.so",
            "libucx_perftest_a_b.so",
            "libucx_perftest.so",
            "libuct_cuda.so.0",
            "libucx_perftest_cuda.la",
            "ucx_perftest_cuda.so",
        ] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn layers_have_none() {
        assert!(is_layer("uct") && is_layer("uct_ib") && is_layer("ucm"));
        assert!(!is_layer("ucx_perftest"));
    }

    #[test]
    fn the_first_folder_counts() {
        let folder = std::env::temp_dir().join(format!("plug_ins-{}", std::process::id()));
        let mut found = BTreeMap::new();
        for (part, files) in [
            ("a", ["libf_x.so", "libf_x.so.0"]),
            ("b", ["libf_x.so.0", "libf_y.so"]),
        ] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
            for file in files {
                std::fs::write(folder.join(part).join(file), "").unwrap();
            }
            find(&folder.join(part), "f", &mut found);
        }
        let expected = [("x", "a/libf_x.so.0"), ("y", "b/libf_y.so")];
        let expected = expected.map(|(name, path)| (name.to_owned(), folder.join(path)));
        assert_eq!(found, BTreeMap::from(expected));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
