//! `-v`: which library is installed, of which version and commit, and where.
#![forbid(unsafe_code)]

use super::Report;
use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The headers that the tool was compiled with.
const API: &str = env!("CARGO_PKG_VERSION");

/// What every JSON object begins with: whose answers these are.
pub fn identity(library: &Library) -> Map<String, Value> {
    let build = library.build();
    let members = [
        (
            "name",
            json!(build.as_ref().map_or("ucx", |build| &build.name)),
        ),
        ("version", json!(library.version())),
        ("commit", json!(build.as_ref().map(|build| &build.commit))),
        ("path", json!(library.path())),
        ("api", json!(API)),
    ];
    let members = members.into_iter();
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

pub fn report(library: &Library, _options: &Options) -> Result<Report> {
    let mut text = String::new();
    let _ = writeln!(text, "# Library version: {}", library.version());
    let _ = writeln!(text, "# Library path: {}", library.path());
    let _ = writeln!(text, "# API headers version: {API}");
    match library.build() {
        Some(build) => {
            let _ = writeln!(text, "# Git branch '', revision {}", build.commit);
            let _ = writeln!(text, "# Configured with: {}", settings(&build.settings));
            let _ = writeln!(text, "# Implementation: {}", build.name);
        }
        None => {
            text += "# Git branch '', revision unknown\n# Configured with: unknown\n";
        }
    }
    Ok(Report {
        name: "library",
        text,
        json: Value::Object(identity(library)),
    })
}

fn settings(settings: &[(String, String)]) -> String {
    let words = settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    words.collect::<Vec<_>>().join(" ")
}
