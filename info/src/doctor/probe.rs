//! A run of this tool in a process of its own, with its JSON and what the library logged: what fails there fails there alone.
#![forbid(unsafe_code)]

use serde_json::Value;
use std::process::Command;

pub struct Answer {
    /// Null if it failed.
    pub json: Value,
    /// Texts of log lines with their levels, and of errors.
    pub log: Vec<String>,
}

/// Runs the tool with these words, at a log level that gives the reasons of what is left out.
pub fn ask(words: &[&str], variables: &[(&str, &str)]) -> Answer {
    let mut command = match std::env::current_exe() {
        Ok(path) => Command::new(path),
        Err(e) => return failed(format!("the tool's own file is unknown: {e}")),
    };
    command.arg("--json").args(words);
    command.env("UCX_LOG_LEVEL", "diag");
    command.env_remove("UCX_LOG_FILE");
    command.envs(variables.iter().copied());
    let output = match command.output() {
        Ok(output) => output,
        Err(e) => return failed(format!("a process for the test cannot be started: {e}")),
    };
    let log = String::from_utf8_lossy(&output.stderr);
    let log = log.lines().map(said).collect();
    let json = match output.status.success() {
        true => serde_json::from_slice(&output.stdout).unwrap_or_default(),
        false => Value::Null,
    };
    Answer { json, log }
}

fn failed(why: String) -> Answer {
    Answer {
        json: Value::Null,
        log: vec![why],
    }
}

/// A log line from its level on.
fn said(line: &str) -> String {
    let text = line.split_once(" UCX ").map_or(line, |(_, text)| text);
    text.trim().trim_start_matches("ferrucx-info: ").to_owned()
}

/// The text of a log line at ERROR or WARN.
pub fn complaint(line: &str) -> Option<&str> {
    let text = line
        .strip_prefix("ERROR")
        .or_else(|| line.strip_prefix("WARN"))?;
    Some(text.trim())
}

/// What library programs get.
pub struct Library {
    pub name: String,
    pub path: String,
    pub identity: Value,
    /// Those that it was built with; of upstream's those it has usually.
    pub transports: Vec<String>,
}

impl Library {
    pub fn told(&self) -> String {
        let word = |key: &str| self.identity[key].as_str().unwrap_or("unknown").to_owned();
        format!(
            "{}, commit {}, {}",
            word("version"),
            word("commit"),
            self.path
        )
    }
}

/// What it says of itself, or why there is none.
pub fn library() -> Result<Library, Vec<String>> {
    let answer = ask(&["-b"], &[]);
    let mut json = answer.json;
    let Value::Object(members) = &mut json else {
        return Err(answer.log);
    };
    let build = members.remove("build").unwrap_or_default();
    let transports = build["TRANSPORTS"]
        .as_str()
        .unwrap_or("self,posix,sysv,cma,tcp");
    let word = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
    Ok(Library {
        name: word("name"),
        path: word("path"),
        transports: transports.split(',').map(str::to_owned).collect(),
        identity: json,
    })
}
