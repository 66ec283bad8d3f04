//! The output of the log: stderr, stdout or a file that is rotated by size.
//!
//! A message is one write, and nobody waits for another: the descriptor of the file stays the same, a rotation puts
//! another file behind it. Who finds one under way writes on.
#![forbid(unsafe_code)]

use crate::sys::fork::Stamp;
use crate::sys::{clock, file, machine, process};
use crate::ucs::config::INF;
use crate::ucs::sync::{AtomicU32, AtomicU64, Ordering};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

pub enum Sink {
    Stderr,
    Stdout,
    File(LogFile),
}

pub struct LogFile {
    path: String,
    file: File,
    /// Bytes in it. Relaxed, as the next: neither guards memory.
    size: AtomicU64,
    /// The process of which a thread rotates it; 0 for none. One that a child inherits is not its own.
    rotating: AtomicU32,
    /// Size at which it is rotated; `INF` for never.
    limit: usize,
    /// Old files that are kept.
    kept: u32,
}

impl Sink {
    /// `name` as `UCX_LOG_FILE`. In a process with raised privileges no file is opened.
    pub fn open(name: &str, limit: usize, kept: u32) -> Sink {
        let path = match name {
            "" | "stderr" => return Sink::Stderr,
            "stdout" => return Sink::Stdout,
            name => fill_name(name.strip_prefix("file:").unwrap_or(name)),
        };
        if machine::secure_execution() {
            return Sink::Stderr;
        }
        match open_file(&path) {
            Ok(file) => {
                let size = file.metadata().map_or(0, |about| about.len());
                Sink::File(LogFile {
                    path,
                    file,
                    size: size.into(),
                    rotating: 0.into(),
                    limit,
                    kept,
                })
            }
            Err(e) => {
                crate::ucs_error!("cannot open log file {path}: {e}; the log goes to stderr");
                Sink::Stderr
            }
        }
    }

    /// Writes one message. Errors are ignored: there is nowhere to report them.
    pub fn write(&self, bytes: &[u8]) {
        let _ = match self {
            Sink::Stderr => file::write_all(file::STDERR, bytes),
            Sink::Stdout => file::write_all(file::STDOUT, bytes),
            Sink::File(log) => log.write(bytes),
        };
    }
}

impl LogFile {
    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let len = bytes.len() as u64;
        let over = |size: u64| {
            self.limit != INF && size > 0 && size.saturating_add(len) > self.limit as u64
        };
        if over(self.size.load(Ordering::Relaxed)) {
            let before = self.rotating.load(Ordering::Relaxed);
            let me = Stamp::now().number();
            let take = || {
                self.rotating
                    .compare_exchange(before, me, Ordering::Acquire, Ordering::Relaxed)
            };
            if before != me && take().is_ok() {
                // Another thread may have done it since. What fails leaves a file that is too long.
                if over(self.size.load(Ordering::Relaxed)) {
                    let _ = self.rotate();
                }
                self.rotating.store(0, Ordering::Release);
            }
        }
        self.size.fetch_add(len, Ordering::Relaxed);
        (&self.file).write_all(bytes)
    }

    /// `log` becomes `log.1`, `log.1` becomes `log.2`; the oldest is overwritten.
    fn rotate(&self) -> std::io::Result<()> {
        let name = |number: u32| match number {
            0 => self.path.clone(),
            number => format!("{}.{number}", self.path),
        };
        for number in (0..self.kept).rev() {
            match std::fs::rename(name(number), name(number + 1)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        if self.kept == 0 {
            self.file.set_len(0)?;
        } else {
            file::replace(self.file.as_fd(), open_file(&self.path)?.as_fd())?;
        }
        self.size.store(0, Ordering::Relaxed);
        Ok(())
    }
}

fn open_file(path: &str) -> std::io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o644)
        .open(path)
}

/// Replaces `%p` process, `%h` host, `%c` first processor, `%t` time, `%u` user, `%i` user id and
/// `%e` program in a file name; `%%` is a per cent sign.
pub fn fill_name(template: &str) -> String {
    let mut name = String::new();
    let mut rest = template.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            name.push(letter);
            continue;
        }
        match rest.next() {
            Some('p') => name += &process::pid().to_string(),
            Some('h') => name += &machine::short_host_name(),
            Some('c') => name += &format!("{:02}", machine::first_cpu()),
            Some('t') => name += &machine::local_time_stamp((clock::wall_us() / 1_000_000) as i64),
            Some('u') => name += &machine::user_name(),
            Some('i') => name += &machine::effective_user().to_string(),
            Some('e') => {
                let program = std::env::current_exe().ok();
                let base = program.as_deref().and_then(|path| path.file_name());
                name += &base.unwrap_or_default().to_string_lossy();
            }
            Some('%') => name.push('%'),
            Some(other) => {
                name.push('%');
                name.push(other);
            }
            None => name.push('%'),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this test's own, gone afterwards.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("ferrucx-{name}-{}", process::pid()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_rotate_by_size() {
        let folder = Folder::new("rotate");
        let path = folder.0.join("log-%p-%%");
        let sink = Sink::open(path.to_str().unwrap(), 10, 2);
        for text in ["first\n", "second\n", "third\n", "fourth\n"] {
            sink.write(text.as_bytes());
        }
        let real = folder.0.join(format!("log-{}-%", process::pid()));
        let read = |suffix: &str| {
            std::fs::read_to_string(format!("{}{suffix}", real.display())).unwrap_or_default()
        };
        assert_eq!(
            [read(""), read(".1"), read(".2"), read(".3")],
            ["fourth\n", "third\n", "second\n", ""]
        );
    }

    #[test]
    fn a_file_that_keeps_nothing_starts_again() {
        let folder = Folder::new("restart");
        let path = folder.0.join("log");
        let sink = Sink::open(&format!("file:{}", path.display()), 8, 0);
        for text in ["first\n", "second\n"] {
            sink.write(text.as_bytes());
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), "second\n");
    }

    #[test]
    fn names_are_filled() {
        assert_eq!(fill_name("a%pb"), format!("a{}b", process::pid()));
        assert_eq!(fill_name("%%%x%"), "%%x%");
        assert!(!fill_name("%h%e%t%u%c%i").contains('%'));
    }
}
