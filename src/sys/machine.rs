//! The process and its machine: release and path of the library, effective user, CPU and board.
//!
//! Called by the configuration (sections of `ucx.conf`, path of the installation) and by the log. Values are read when they
//! are needed; nothing is read when the library is loaded.

use crate::sys::file::read_kernel_text;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Our own version, by SemVer: of what this library is, not of the API that it implements.
const RELEASE: &str = "0.1.0";

/// The commit that this was built from. scripts/stage says it for releases only: other builds would be made anew after each.
pub const COMMIT: &str = match option_env!("FERRUCX_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// Release, API level and commit, as the log and the note say them.
const IDENTITY: [&str; 6] = [
    "ferrucx ",
    RELEASE,
    " (UCX API ",
    env!("CARGO_PKG_VERSION"),
    "), commit ",
    COMMIT,
];

const IDENTITY_LEN: usize = {
    let (mut len, mut part) = (0, 0);
    while part < IDENTITY.len() {
        len += IDENTITY[part].len();
        part += 1;
    }
    len
};

/// An ELF note, by which the file tells what it is without being loaded.
#[repr(C, align(4))]
struct Note {
    name_len: u32,
    text_len: u32,
    kind: u32,
    name: [u8; 8],
    text: [u8; IDENTITY_LEN],
}

// SAFETY: the section has the layout of a note, and nobody else writes into it.
#[unsafe(link_section = ".note.ferrucx")]
#[used]
static NOTE: Note = Note {
    name_len: 8,
    text_len: IDENTITY_LEN as u32,
    kind: 1,
    name: *b"ferrucx\0",
    text: {
        let mut text = [0; IDENTITY_LEN];
        let (mut at, mut part) = (0, 0);
        while part < IDENTITY.len() {
            let (_, rest) = text.split_at_mut(at);
            let (place, _) = rest.split_at_mut(IDENTITY[part].len());
            place.copy_from_slice(IDENTITY[part].as_bytes());
            at += IDENTITY[part].len();
            part += 1;
        }
        text
    },
};

/// Release, API level and commit of this library.
pub fn own_identity() -> &'static str {
    core::str::from_utf8(&NOTE.text).unwrap_or(RELEASE)
}

/// The file this library was loaded from, as the dynamic linker names it.
pub fn own_path() -> Option<PathBuf> {
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `found` is writable for the call; the address is that of a function of ours and only
    // compared, never called.
    let answer = unsafe { libc::dladdr(own_path as *const libc::c_void, found.as_mut_ptr()) };
    if answer == 0 {
        return None;
    }
    // SAFETY: all-zero bytes are a valid `Dl_info`, and `dladdr` has filled it.
    let found = unsafe { found.assume_init() };
    if found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: `dladdr` answers a NUL-terminated name that lives as long as the object is loaded; the
    // object is the one this code runs in.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// Whether a process above this one has this library loaded. What cannot be read counts as no.
pub fn ancestor_has_this_library() -> bool {
    /// Launchers and shells between two programs are few.
    const MAX_STEPS: usize = 16;
    let Some(library) = own_path().and_then(|path| path.canonicalize().ok()) else {
        return false;
    };
    let library = library.display().to_string();
    let mut above = parent_of("self");
    for _ in 0..MAX_STEPS {
        let Some(pid) = above.filter(|pid| *pid > 1) else {
            return false;
        };
        let maps = read_kernel_text(format!("/proc/{pid}/maps")).unwrap_or_default();
        if maps.lines().any(|line| line.ends_with(&library)) {
            return true;
        }
        above = parent_of(&pid.to_string());
    }
    false
}

/// The parent of a process, from the fields behind its name in parentheses.
fn parent_of(pid: &str) -> Option<u32> {
    let text = read_kernel_text(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// The text at `address`, when that lies in the program's arguments as the kernel laid them out;
/// for any other address nothing is read.
pub fn program_argument(address: usize) -> Option<String> {
    /// Places of `arg_start` and `arg_end` behind the name in parentheses, see proc(5).
    const ARG_START: usize = 45;
    let text = read_kernel_text("/proc/self/stat").ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(ARG_START);
    let start: usize = fields.next()?.parse().ok()?;
    let end: usize = fields.next()?.parse().ok()?;
    let offset = address.checked_sub(start)?;
    if address >= end {
        return None;
    }
    let arguments = std::fs::read("/proc/self/cmdline").ok()?;
    let rest = arguments.get(offset..)?;
    let length = rest.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(rest.get(..length)?).into_owned())
}

/// Whether the process has more rights than its caller (set-user-id and the like), so that the
/// caller's environment must not choose files.
pub fn secure_execution() -> bool {
    // SAFETY: `getauxval` reads a table of the process and takes no pointers.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The user whose rights this process has.
pub fn effective_user() -> u32 {
    // SAFETY: `geteuid` has no arguments and cannot fail.
    unsafe { libc::geteuid() }
}

/// The name of this host, up to the first dot; empty when the OS does not say.
pub fn short_host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is writable for the length given.
    let answer = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
    if answer != 0 {
        return String::new();
    }
    let end = name
        .iter()
        .position(|b| matches!(b, 0 | b'.'))
        .unwrap_or(name.len());
    String::from_utf8_lossy(name.get(..end).unwrap_or(&[])).into_owned()
}

/// The login name of the effective user, from the environment; its number when that is not set.
pub fn user_name() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(std::env::var_os);
    match name {
        Some(name) => name.to_string_lossy().into_owned(),
        None => effective_user().to_string(),
    }
}

/// The first processor this thread may run on.
pub fn first_cpu() -> usize {
    // SAFETY: an all-zero set is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: `set` is writable for the size given; 0 is the calling thread.
    let answer = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    if answer != 0 {
        return 0;
    }
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: the index is below the size of the set.
        .find(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .unwrap_or(0)
}

/// Local date and time, `2026-01-31-23-59-59`.
pub fn local_time_stamp(seconds: i64) -> String {
    // SAFETY: all-zero bytes are a valid `tm`.
    let mut tm: libc::tm = unsafe { core::mem::zeroed() };
    // SAFETY: reads a local, writes a local.
    unsafe { libc::localtime_r(&seconds, &mut tm) };
    format!(
        "{:04}-{:02}-{:02}-{:02}-{:02}-{:02}",
        i64::from(tm.tm_year) + 1900,
        tm.tm_mon + 1,
        tm.tm_mday,
        tm.tm_hour,
        tm.tm_min,
        tm.tm_sec
    )
}

/// CPU vendor and model by the names that `ucx.conf` uses; `None` for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    pub vendor: Option<&'static str>,
    pub model: Option<&'static str>,
}

pub fn cpu() -> Cpu {
    match read_kernel_text("/proc/cpuinfo") {
        Ok(text) => identify(&text),
        Err(_) => Cpu::default(),
    }
}

/// The board's product name, when the firmware tells.
pub fn product_name() -> Option<String> {
    let text = read_kernel_text("/sys/devices/virtual/dmi/id/product_name").ok()?;
    Some(text.trim().to_owned())
}

/// Reads the first processor of a `/proc/cpuinfo` text.
fn identify(text: &str) -> Cpu {
    let first = text.split("\n\n").next().unwrap_or("");
    let field = |wanted: &str| {
        first.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == wanted).then_some(value.trim())
        })
    };
    let number = |wanted: &str| field(wanted).and_then(|text| text.parse::<u32>().ok());
    let vendor = match field("vendor_id") {
        Some("GenuineIntel") => Some("Intel"),
        Some("AuthenticAMD") => Some("AMD"),
        Some("CentaurHauls" | "  Shanghai  " | "Shanghai") => Some("Zhaoxin"),
        _ => None,
    };
    let model = match (vendor, number("cpu family"), number("model")) {
        (Some("Intel"), Some(6), Some(model)) => match model {
            0x1a | 0x1e | 0x1f | 0x2e => Some("Nehalem"),
            0x25 | 0x2c | 0x2f => Some("Westmere"),
            0x2a | 0x2d => Some("SandyBridge"),
            0x3a | 0x3e => Some("IvyBridge"),
            0x3c | 0x3f | 0x45 | 0x46 => Some("Haswell"),
            0x3d | 0x47 | 0x4f | 0x56 => Some("Broadwell"),
            0x4e | 0x55 | 0x5e => Some("Skylake"),
            0x6a | 0x6c | 0x7e => Some("Icelake"),
            0xcf => Some("Emerald Rapids"),
            _ => None,
        },
        (Some("AMD"), Some(0x17), Some(0x00..=0x0f)) => Some("Naples"),
        (Some("AMD"), Some(0x17), Some(0x30..=0x3f)) => Some("Rome"),
        (Some("AMD"), Some(0x19), Some(0x00..=0x0f)) => Some("Milan"),
        (Some("AMD"), Some(0x19), Some(0x10..=0x1f)) => Some("Genoa"),
        (Some("AMD"), Some(0x1a), Some(0x00..=0x1f)) => Some("Turin"),
        (Some("Zhaoxin"), Some(6), Some(0x0f)) => Some("Zhangjiang"),
        (Some("Zhaoxin"), Some(7), Some(0x1b)) => Some("Wudaokou"),
        (Some("Zhaoxin"), Some(7), Some(0x3b)) => Some("Lujiazui"),
        _ => None,
    };
    Cpu { vendor, model }
}

/// Bytes of physical memory; the largest number when the system does not say.
pub fn memory_bytes() -> usize {
    // SAFETY: asks for numbers.
    let (pages, page) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    match (usize::try_from(pages), usize::try_from(page)) {
        (Ok(pages), Ok(page)) => pages.saturating_mul(page),
        _ => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_told_apart() {
        for (text, vendor, model) in [
            (
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n",
                Some("AMD"),
                Some("Milan"),
            ),
            (
                "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: X\n",
                Some("Intel"),
                Some("Skylake"),
            ),
            (
                "vendor_id\t: GenuineIntel\ncpu family\t: 15\nmodel\t: 85\n",
                Some("Intel"),
                None,
            ),
            ("", None, None),
        ] {
            assert_eq!(identify(text), Cpu { vendor, model });
        }
    }

    #[test]
    fn the_changelog_begins_with_this_release() {
        let changelog = include_str!("../../CHANGELOG.md");
        let first = changelog.lines().find(|line| line.starts_with("## "));
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!("## {RELEASE} (UCX API {version}");
        assert!(
            first.is_some_and(|line| line.starts_with(&expected)),
            "{first:?}"
        );
        let expected = format!("ferrucx {RELEASE} (UCX API {version}), commit ");
        assert!(own_identity().starts_with(&expected), "{}", own_identity());
    }

    #[test]
    fn the_process_knows_its_file() {
        let path = own_path().expect("the test binary is a file");
        assert!(path.file_name().is_some_and(|name| !name.is_empty()));
    }
}
