//! `dump PID` and `top PID`: what a running process does, as it tells itself on its socket (`UCX_INFO_SOCKET=y`).
#![forbid(unsafe_code)]

mod dump;
mod socket;
mod top;

use serde_json::Value;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct DumpArguments {
    /// The process, of this user
    pid: u32,
    /// Print the process's own JSON object
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub struct TopArguments {
    /// The process, of this user
    pid: u32,
    /// Seconds between two lines
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    interval: f64,
    /// End after so many lines of each worker
    #[arg(long, value_name = "COUNT")]
    count: Option<u64>,
}

pub fn dump(arguments: &DumpArguments) -> ExitCode {
    ended(
        socket::ask(arguments.pid).map(|report| match arguments.json {
            true => println!("{report}"),
            false => print!("{}", dump::described(&report)),
        }),
    )
}

pub fn top(arguments: &TopArguments) -> ExitCode {
    ended(top::run(arguments))
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("ferrucx-info: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The members of a list; none of what is no list.
fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

/// A text; of a process it is printed without control characters.
fn printable(value: &Value) -> String {
    let text = value.as_str().unwrap_or("?");
    text.chars().filter(|c| !c.is_control()).collect()
}
