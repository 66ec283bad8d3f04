//! The text of a message: `[seconds] [host:pid:thread] file:line UCX LEVEL message`.
//!
//! The columns are UCX's, so that tools for its logs read ours. A message of several lines becomes several log lines,
//! without empty ones.
#![forbid(unsafe_code)]

use crate::sys::{clock, machine, process};
use crate::ucs::config::global::LOG_LEVELS;
use core::fmt::Write;
use once_cell::race::OnceBox;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};

/// Spaces for one step of indentation.
const INDENT_WIDTH: usize = 2;
const MAX_INDENT: i32 = 64;

thread_local! {
    static INDENT: Cell<i32> = const { Cell::new(0) };
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
    static NAME: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Bytes that a thread's name may have.
const MAX_NAME: usize = 30;

/// Has messages of this thread name it so, in the place of its number; an empty name has the number again.
pub fn set_thread_name(name: &str) {
    let name = cut(name, MAX_NAME).to_owned();
    let _ = NAME.try_with(|known| known.replace(name));
}

/// Name of this thread, or its number.
fn thread() -> String {
    let name = NAME.try_with(|name| name.borrow().clone());
    match name {
        Ok(name) if !name.is_empty() => name,
        _ => thread_number().to_string(),
    }
}

/// Threads are numbered in the order of their first message.
fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // A thread that is ending has no cell left; it gets a new number.
    let known = THREAD.try_with(Cell::get).ok().flatten();
    known.unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let _ = THREAD.try_with(|thread| thread.set(Some(number)));
        number
    })
}

/// Moves the messages of this thread to the right, or back with a negative number.
pub fn change_indent(by: i32) {
    let _ = INDENT.try_with(|indent| {
        indent.set(indent.get().saturating_add(by).clamp(0, MAX_INDENT));
    });
}

/// Steps that messages of this thread are moved to the right.
pub fn indent() -> i32 {
    INDENT.try_with(Cell::get).unwrap_or(0)
}

/// The first `longest` bytes of `text`, or a little less so as not to split a character.
pub fn cut(text: &str, longest: usize) -> &str {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

fn level_name(level: u32) -> &'static str {
    match level {
        super::PRINT => "PRINT",
        _ => LOG_LEVELS.get(level as usize).copied().unwrap_or("?"),
    }
}

/// The file without its folders; with one of them where the name alone says nothing.
fn shown_name(file: &str) -> &str {
    let parts = if file.ends_with("/mod.rs") { 2 } else { 1 };
    let slash = file.rmatch_indices('/').nth(parts - 1);
    let start = slash.map_or(0, |(at, _)| at + 1);
    file.get(start..).unwrap_or(file)
}

/// The start of a line: time and thread.
fn stamp() -> String {
    static HOST: OnceBox<String> = OnceBox::new();
    let host = HOST.get_or_init(|| Box::new(machine::short_host_name()));
    let now = clock::wall_us();
    format!(
        "[{}.{:06}] [{host}:{:<5}:{}]",
        now / 1_000_000,
        now % 1_000_000,
        process::pid(),
        thread(),
    )
}

/// A message that ends a program: after it comes no more.
pub fn last(message: &str) -> String {
    let host = machine::short_host_name();
    format!(
        "[{host}:{:<5}:{}:{}] {message}\n",
        process::pid(),
        thread(),
        process::tid()
    )
}

/// Lines of a table: without the place that wrote them.
pub fn plain(text: &str) -> String {
    let stamp = stamp();
    text.lines()
        .map(|line| format!("{stamp} {line}\n"))
        .collect()
}

pub fn format(level: u32, file: &str, line: u32, component: &str, message: &str) -> String {
    let name = shown_name(file);
    let head = format!(
        "{} {name:>17}:{line:<4} {component:<4} {:<5} {:indent$}",
        stamp(),
        level_name(level),
        "",
        indent = INDENT_WIDTH * indent().unsigned_abs() as usize,
    );
    let mut text = String::with_capacity(head.len() + message.len() + 1);
    let mut lines = message.lines().filter(|line| !line.is_empty()).peekable();
    if lines.peek().is_none() {
        let _ = writeln!(text, "{head}");
    }
    for line in lines {
        let _ = writeln!(text, "{head}{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_origin(text: &str) -> String {
        let lines = text.lines().map(|line| {
            let after = line.splitn(3, "] ").nth(2).unwrap_or("");
            format!("{after}\n")
        });
        lines.collect()
    }

    #[test]
    fn columns_are_those_of_upstream() {
        for (level, file, line, component, message, expected) in [
            (
                1,
                "/a/b/file.c",
                12,
                "UCX",
                "hello",
                "           file.c:12   UCX  ERROR hello\n",
            ),
            (
                2,
                "parser.c",
                1558,
                "MYCOMP",
                "x",
                "         parser.c:1558 MYCOMP WARN  x\n",
            ),
            (
                5,
                "x.c",
                1,
                "UCX",
                "a\n\nb",
                "              x.c:1    UCX  DEBUG a\n              x.c:1    UCX  DEBUG b\n",
            ),
            (
                13,
                "x.c",
                123456,
                "UCX",
                "p",
                "              x.c:123456 UCX  PRINT p\n",
            ),
            (
                4,
                "a_name_longer_than_the_column.c",
                1,
                "UCX",
                "",
                "a_name_longer_than_the_column.c:1    UCX  INFO  \n",
            ),
        ] {
            let text = format(level, file, line, component, message);
            assert!(text.starts_with('['));
            assert_eq!(without_origin(&text), expected);
        }
    }

    #[test]
    fn files_are_shown_by_what_tells_them_apart() {
        for (file, shown) in [
            ("/a/b/file.c", "file.c"),
            ("src/uct/tcp/mod.rs", "tcp/mod.rs"),
            ("src/mod.rs", "src/mod.rs"),
            ("/mod.rs", "/mod.rs"),
            ("mod.rs", "mod.rs"),
            ("x/", ""),
        ] {
            assert_eq!(shown_name(file), shown);
        }
    }

    #[test]
    fn indentation_is_of_the_thread_and_never_negative() {
        change_indent(-3);
        assert_eq!(indent(), 0);
        change_indent(2);
        assert!(format(2, "x.c", 1, "UCX", "m").ends_with("WARN      m\n"));
        std::thread::spawn(|| assert_eq!(indent(), 0))
            .join()
            .unwrap();
        change_indent(-2);
    }

    #[test]
    fn a_name_stands_in_the_place_of_the_threads_number() {
        set_thread_name("worker of a program with a long name");
        assert!(stamp().ends_with(":worker of a program with a lon]"));
        assert!(std::thread::spawn(stamp).join().unwrap().ends_with(']'));
        set_thread_name("");
        assert!(!stamp().contains("worker"));
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("abc", 0), "");
    }
}
