//! `ferrucx-info`, also installed as `ucx_info`: what the installed UCX libraries are and what they can do here.
//!
//! The tool opens `libucp.so.0` as any program does and asks it by its C interface, so that what it says is true of the
//! library that programs get. Of the library's sources it shares the C types (`src/c`) alone, whose sizes both assert.
//! A report is collected first and printed then, as upstream's text or as JSON.

/// The types of the C interface, as `include/` is generated from them.
#[allow(
    dead_code,
    non_camel_case_types,
    unused_imports,
    unused_macros,
    clippy::all
)]
#[path = "../../src/c/mod.rs"]
mod c;
mod doctor;
mod library;
mod options;
mod process;
mod report;
mod units;

use clap::{CommandFactory, Parser};
use library::Library;
use options::{Command, Options};
use std::process::ExitCode;

/// The exit status of a wrong command line, as clap's own.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // A reader that goes away, as `head` does, is no failure of ours.
    library::end_with_the_reader();
    let options = Options::parse();
    match &options.command {
        Some(Command::Doctor(arguments)) => return doctor::run(arguments),
        Some(Command::Dump(arguments)) => return process::dump(arguments),
        Some(Command::Top(arguments)) => return process::top(arguments),
        None => {}
    }
    let nothing_asked = !options.asks_for_something();
    if nothing_asked || options.features_are_missing() {
        if !nothing_asked {
            eprintln!("-p, -w, -e and -m need features: -u with at least one of a, r, t, m");
        }
        print!("{}", Options::command().render_help());
        return ExitCode::from(USAGE);
    }
    match Library::open().and_then(|library| report::print(&library, &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("ferrucx-info: {why}");
            ExitCode::FAILURE
        }
    }
}
