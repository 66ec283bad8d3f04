//! Which `ucx.conf` files were read, and whence each variable has a value that is not its default.
//!
//! The library says what each variable is and whether that is the default; who set it is looked up by its name.
#![forbid(unsafe_code)]

use super::{Line, State, probe};
use crate::library::system;
use std::fs::read_to_string;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub fn examine(library: &str) -> Vec<Line> {
    let answer = probe::ask(&["-c", "-C"], &[]);
    let files = files(library);
    let mut lines = Vec::new();
    match files.is_empty() {
        true => lines.push(Line::new(State::Good, "files", "no ucx.conf was found")),
        false => lines.push(Line::new(
            State::Good,
            "files",
            format!("{}; later ones win", files.join(", ")),
        )),
    }
    let known = answer.json["variables"].as_array().into_iter().flatten();
    for variable in known {
        let (Some(name), Some(value)) = (variable["name"].as_str(), variable["value"].as_str())
        else {
            continue;
        };
        // Set for the probe alone.
        if name == "UCX_LOG_LEVEL" && std::env::var_os(name).is_none() {
            continue;
        }
        if let Some(line) = origin(name, value, &files, variable["default"] == true) {
            lines.push(line);
        }
    }
    lines.extend(
        answer
            .log
            .iter()
            .filter_map(|line| probe::complaint(line))
            .map(|text| Line::new(State::Note, "log", text)),
    );
    lines
}

/// Those that exist of the places that docs/CONFIGURATION.md names, in the order in which later ones win.
fn files(library: &str) -> Vec<String> {
    let prefix = Path::new(library).parent().and_then(Path::parent);
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from)
    };
    let folders = [
        Some("/etc/ucx".into()),
        prefix.map(|prefix| prefix.join("etc/ucx")),
        folder("HOME"),
        folder("UCX_CONFIG_DIR"),
        Some(".".into()),
    ];
    let files = folders
        .into_iter()
        .flatten()
        .map(|folder| folder.join("ucx.conf"));
    let files = files.filter(|file| file.is_file() && (!file.starts_with(".") || is_own(file)));
    files.map(|file| file.display().to_string()).collect()
}

/// A file that somebody left in the current directory is not read.
fn is_own(file: &Path) -> bool {
    let owner = file.metadata().map(|about| about.uid());
    owner.is_ok_and(|owner| owner == system::effective_user())
}

/// Whence a variable has its value; nothing if that is the default and nobody set it.
fn origin(name: &str, value: &str, files: &[String], is_default: bool) -> Option<Line> {
    let line = |whence: &str| {
        Some(Line::new(
            State::Good,
            name,
            format!("{value}, of {whence}"),
        ))
    };
    if std::env::var_os(name).is_some() {
        return line("the environment");
    }
    let sets = |file: &&String| {
        let text = read_to_string(file).unwrap_or_default();
        let mut names = text
            .lines()
            .filter_map(|line| line.split_once('=').map(|(name, _)| name.trim()));
        names.any(|one| one == name)
    };
    if let Some(file) = files.iter().rev().find(sets) {
        return line(file);
    }
    match is_default {
        false => line("a more general name, which the environment or a file sets"),
        true => None,
    }
}
