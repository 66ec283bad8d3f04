//! The socket of a process that lets itself be asked, and why there is none.
#![forbid(unsafe_code)]

use serde_json::Value;
use std::fs::{read, read_to_string};
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A process that is stopped answers nothing.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of the longest report.
const MOST: u64 = 64 << 20;

/// The report of a process.
pub fn ask(pid: u32) -> Result<Value, String> {
    let path = place(pid)?;
    let stream = UnixStream::connect(&path).map_err(|e| refused(pid, &path, &e))?;
    let set = stream.set_read_timeout(Some(PATIENCE));
    set.map_err(|e| format!("{}: {e}", path.display()))?;
    let mut bytes = Vec::new();
    stream
        .take(MOST)
        .read_to_end(&mut bytes)
        .map_err(|e| match e.kind() {
            ErrorKind::WouldBlock => format!("process {pid} does not answer: is it stopped?"),
            _ => format!("process {pid}: {e}"),
        })?;
    match serde_json::from_slice(&bytes) {
        Ok(report) => Ok(report),
        Err(_) if bytes.is_empty() => {
            Err(format!("process {pid} hung up: it belongs to another user"))
        }
        Err(e) => Err(format!("what process {pid} says cannot be read: {e}")),
    }
}

/// Where the socket is, as the process itself names it: by its environment, and its number in its own namespace.
fn place(pid: u32) -> Result<PathBuf, String> {
    let of = |file: &str| format!("/proc/{pid}/{file}");
    let environment = read(of("environ")).map_err(|e| match e.kind() {
        ErrorKind::NotFound => format!("there is no process {pid}"),
        ErrorKind::PermissionDenied => format!("process {pid} belongs to another user"),
        _ => format!("process {pid}: {e}"),
    })?;
    let folder = environment.split(|byte| *byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(b"XDG_RUNTIME_DIR=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    });
    // A program may have set it itself: then this user's own is as good a guess.
    let folder = folder.or_else(|| std::env::var("XDG_RUNTIME_DIR").ok());
    let Some(folder) = folder else {
        return Err(how_to(pid));
    };
    let status = read_to_string(of("status")).unwrap_or_default();
    let own = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let own = own.and_then(|numbers| numbers.split_whitespace().last());
    let number = own.map_or_else(|| pid.to_string(), str::to_owned);
    let folder = folder.trim_start_matches('/');
    Ok(Path::new(&of("root"))
        .join(folder)
        .join("ferrucx")
        .join(format!("{number}.sock")))
}

fn refused(pid: u32, path: &Path, e: &std::io::Error) -> String {
    match e.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => how_to(pid),
        ErrorKind::PermissionDenied => format!("process {pid} belongs to another user"),
        _ => format!("{}: {e}", path.display()),
    }
}

fn how_to(pid: u32) -> String {
    let maps = read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    if !maps.contains("/libucp") && !maps.contains("/libferrucx") {
        return format!("process {pid} has no UCX library mapped");
    }
    format!(
        "process {pid} does not let itself be asked: start it with UCX_INFO_SOCKET=y and XDG_RUNTIME_DIR set; then it answers \
         as long as it has a worker (ferrucx only: see `ferrucx-info doctor --pid {pid}`)"
    )
}
