//! `doctor`: what works here for this user with these limits, what does not, for what reason, and what to set.
//!
//! Whether something works is found by using the library in processes of their own (`probe`), whose log has the library's own
//! reasons. Beside it stands what the system says: limits, kernel settings, interfaces, other copies of the library.
#![forbid(unsafe_code)]

mod copies;
mod host;
mod network;
mod peers;
mod probe;
mod transports;
mod variables;

use serde_json::{Value, json};
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Arguments {
    /// A process: which UCX libraries it has mapped
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Only how a message of this many bytes goes (as 1m or 64k) is told of endpoints
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    size: Option<u64>,
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum State {
    Good,
    /// Worth knowing; nothing that is used here fails by it.
    Note,
    Bad,
}

pub struct Line {
    pub state: State,
    pub subject: String,
    pub text: String,
    pub details: Vec<String>,
    /// What changes it.
    pub remedy: Option<String>,
}

impl Line {
    pub fn new(state: State, subject: impl Into<String>, text: impl Into<String>) -> Line {
        Line {
            state,
            subject: subject.into(),
            text: text.into(),
            details: Vec::new(),
            remedy: None,
        }
    }

    pub fn with(mut self, remedy: impl Into<String>) -> Line {
        self.remedy = Some(remedy.into());
        self
    }
}

pub struct Section {
    pub title: &'static str,
    pub lines: Vec<Line>,
}

/// A number of bytes with a suffix of UCX's.
fn parse_bytes(text: &str) -> Result<u64, String> {
    crate::units::parse_bytes(text).ok_or_else(|| format!("'{text}' is no number of bytes"))
}

/// 0: peers in this process, on this host and on other hosts can be reached.
pub fn run(arguments: &Arguments) -> ExitCode {
    let library = match probe::library() {
        Ok(library) => library,
        Err(log) => {
            let why = log.join("\n");
            if arguments.json {
                println!("{:#}", json!({ "usable": false, "error": why }));
            } else {
                println!("no   library: {why}");
            }
            return ExitCode::FAILURE;
        }
    };
    let transports = transports::examine(&library);
    let peers = peers::examine(arguments.size);
    let usable = peers.lines.iter().all(|peer| peer.state != State::Bad);
    let limits = host::examine(&[transports.logs, peers.logs].concat());
    let mut sections = vec![
        Section {
            title: "library",
            lines: vec![Line::new(State::Good, library.name.clone(), library.told())],
        },
        Section {
            title: "transports",
            lines: transports.lines,
        },
        Section {
            title: "endpoints",
            lines: peers.lines,
        },
        Section {
            title: "limits",
            lines: limits,
        },
        Section {
            title: "interfaces",
            lines: network::examine(),
        },
        Section {
            title: "variables",
            lines: variables::examine(&library.path),
        },
        Section {
            title: "libraries",
            lines: copies::examine(&library.path),
        },
    ];
    if let Some(pid) = arguments.pid {
        sections.push(Section {
            title: "process",
            lines: copies::of_process(pid),
        });
    }
    if arguments.json {
        println!("{:#}", in_json(&library.identity, usable, &sections));
    } else {
        print!("{}", in_text(&sections));
        println!("\n{}", if usable { "usable" } else { "not usable" });
    }
    match usable {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Good => "ok",
        State::Note => "note",
        State::Bad => "no",
    }
}

fn in_text(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        text += &format!("{}\n", section.title);
        for line in &section.lines {
            text += &format!("  {:4} {}: {}\n", word(line.state), line.subject, line.text);
            for detail in &line.details {
                text += &format!("       {detail}\n");
            }
            if let Some(remedy) = &line.remedy {
                text += &format!("       set: {remedy}\n");
            }
        }
    }
    text
}

fn in_json(identity: &Value, usable: bool, sections: &[Section]) -> Value {
    let mut json = identity.clone();
    json["usable"] = json!(usable);
    for section in sections {
        let lines = section.lines.iter();
        let lines = lines.map(|line| {
            json!({
                "state": word(line.state),
                "subject": line.subject,
                "text": line.text,
                "details": line.details,
                "set": line.remedy,
            })
        });
        json[section.title] = lines.collect();
    }
    json
}
