//! Other UCX libraries of the machine, and those that a process has mapped.
#![forbid(unsafe_code)]

use super::{Line, State};
use std::collections::BTreeSet;
use std::fs::{canonicalize, read, read_dir, read_to_string};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const CACHE: &str = "/etc/ld.so.cache";
/// Only our library has this name among its symbols.
const OURS: &[u8] = b"ferrucx_print_build\0";

/// `used` is the file that programs get.
pub fn examine(used: &str) -> Vec<Line> {
    let used = canonicalize(used).unwrap_or_else(|_| used.into());
    let mut lines = vec![Line::new(State::Good, "in use", described(&used))];
    for path in found() {
        if path != used {
            lines.push(Line::new(State::Note, "another copy", described(&path)));
        }
    }
    lines
}

fn described(path: &Path) -> String {
    format!("{}: {}", path.display(), kind(path))
}

fn kind(path: &Path) -> &'static str {
    match read(path) {
        Ok(file) if file.windows(OURS.len()).any(|part| part == OURS) => "ferrucx",
        Ok(_) => "not ferrucx",
        Err(_) => "cannot be read",
    }
}

/// The files of libucp where loaders and Python look.
fn found() -> BTreeSet<PathBuf> {
    let mut folders: Vec<PathBuf> = cached();
    folders.extend(std::env::split_paths(
        &std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default(),
    ));
    folders.extend(wheels());
    let files = folders
        .iter()
        .flat_map(|folder| read_dir(folder).into_iter().flatten().flatten());
    let files = files.filter(|file| file.file_name().to_string_lossy().starts_with("libucp.so"));
    // The names of one file count once.
    files
        .filter_map(|file| canonicalize(file.path()).ok())
        .collect()
}

/// The folders of the loader's cache that have the library: its strings are file names with a zero behind each.
fn cached() -> Vec<PathBuf> {
    let cache = read(CACHE).unwrap_or_default();
    let names = cache.split(|byte| *byte == 0);
    let names = names.filter_map(|name| std::str::from_utf8(name).ok());
    let paths = names.filter(|name| name.contains("/libucp.so"));
    let folders = paths.filter_map(|path| Path::new(path).parent());
    folders.map(Path::to_path_buf).collect()
}

/// `libucx/lib` in the packages of each Python of the system, of the user and of the virtual environment.
fn wheels() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/lib"));
    let environment =
        std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("lib"));
    let roots = [
        Some("/usr/lib".into()),
        Some("/usr/local/lib".into()),
        home,
        environment,
    ];
    let pythons = roots
        .into_iter()
        .flatten()
        .flat_map(|root| read_dir(root).into_iter().flatten().flatten());
    let pythons =
        pythons.filter(|folder| folder.file_name().to_string_lossy().starts_with("python3"));
    let packages = pythons
        .flat_map(|python| ["site-packages", "dist-packages"].map(|name| python.path().join(name)));
    packages.map(|folder| folder.join("libucx/lib")).collect()
}

/// The UCX libraries that a process has mapped.
pub fn of_process(pid: u32) -> Vec<Line> {
    let subject = format!("process {pid}");
    let maps = match read_to_string(format!("/proc/{pid}/maps")) {
        Ok(maps) => maps,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return vec![Line::new(State::Bad, subject, "there is no such process")];
        }
        Err(e) => {
            return vec![Line::new(
                State::Bad,
                subject,
                format!("its memory map cannot be read: {e}"),
            )];
        }
    };
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let is_ucx = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        ["libucp", "libuct", "libucs", "libucm"]
            .iter()
            .any(|one| name.starts_with(one))
    };
    let paths: BTreeSet<&str> = paths.filter(is_ucx).collect();
    if paths.is_empty() {
        return vec![Line::new(State::Note, subject, "has no UCX library mapped")];
    }
    let lines = paths.into_iter().map(|path| {
        let text = match path.strip_suffix(" (deleted)") {
            Some(path) => format!("{path}: replaced or removed since the process began"),
            None => described(Path::new(path)),
        };
        Line::new(State::Good, subject.clone(), text)
    });
    lines.collect()
}
