//! The options that belong to no component: log, errors, memory tracking, profiling, topology.
//!
//! `log` reads the first table when it starts; other parts of the library read what concerns them.
//! What we do without (signal handlers, plug-ins, the virtual file
//! system) is accepted, checked and printed, and has no effect.

use super::{Config, Kind, Row, Table};
use crate::sys::fork::ForkLocked;
use crate::ucs::{Result, log};
use once_cell::race::OnceBox;
use std::sync::Arc;

/// Names of the levels, by value.
pub const LOG_LEVELS: &[&str] = &[
    "FATAL", "ERROR", "WARN", "DIAG", "INFO", "DEBUG", "TRACE", "REQ", "DATA", "ASYNC", "FUNC",
    "POLL",
];

const HANDLE_ERRORS: &[&str] = &["bt", "freeze", "debug", "none"];
/// In the order of `ucs_stats_formats_t`.
const STATS_FORMATS: &[&str] = &["full", "agg", "summary"];
const PROFILE_MODES: &[&str] = &["accum", "log"];
const DISTANCES: &[(&str, &str)] = &[
    ("phb", "over a PCIe host bridge, usually the processor"),
    ("node", "between the host bridges of one NUMA node"),
    ("sys", "between NUMA nodes"),
];

/// Options that clients may change while the library runs.
pub static TABLE: Table = Table {
    name: "UCS global configuration",
    prefix: "",
    parent: None,
    rows: &[
        Row::new(
            "LOG_LEVEL",
            "WARN",
            Kind::Enum(LOG_LEVELS),
            "Which messages are written: those of this level and the more severe ones.",
        ),
        Row::new(
            "LOG_FILE_FILTER",
            "*",
            Kind::Str,
            "Only messages from source files whose whole path matches this pattern, see glob(7).",
        ),
        Row::new(
            "LOG_BUFFER",
            "1K",
            Kind::MemUnits,
            "Longest message; the rest is cut off.",
        ),
        Row::new(
            "LOG_DATA_SIZE",
            "0",
            Kind::PlainULong,
            "How many bytes of a payload are shown at level DATA.",
        ),
        Row::new(
            "LOG_PRINT_ENABLE",
            "n",
            Kind::Bool,
            "Write the messages of ucs_print().",
        ),
        Row::new(
            "HANDLE_ERRORS",
            "none",
            Kind::Bitmap(HANDLE_ERRORS),
            "What upstream does in its signal handlers. This library installs none: no effect.",
        ),
        Row::new(
            "ERROR_MAIL_TO",
            "",
            Kind::Str,
            "Belongs to HANDLE_ERRORS: no effect.",
        ),
        Row::new(
            "ERROR_MAIL_FOOTER",
            "",
            Kind::Str,
            "Belongs to HANDLE_ERRORS: no effect.",
        ),
        Row::new(
            "GDB_COMMAND",
            "gdb -quiet",
            Kind::Str,
            "Belongs to HANDLE_ERRORS: no effect.",
        ),
        Row::new(
            "DEBUG_SIGNO",
            "HUP",
            Kind::Signal,
            "Belongs to HANDLE_ERRORS: no effect.",
        ),
        Row::new(
            "LOG_LEVEL_TRIGGER",
            "FATAL",
            Kind::Enum(LOG_LEVELS),
            "Belongs to HANDLE_ERRORS: no effect.",
        ),
        Row::new(
            "WARN_UNUSED_ENV_VARS",
            "y",
            Kind::Bool,
            "Warn about UCX_ variables of the environment that no release of UCX knows.",
        ),
        Row::new(
            "MEMTYPE_CACHE",
            "try",
            Kind::Ternary,
            "Remember what belongs to allocations of device memory. Whether an address is device memory is always asked.",
        ),
        Row::new(
            "CUDA_DRIVER",
            "try",
            Kind::Ternary,
            "Whether NVIDIA's driver is loaded; try: where the kernel has NVIDIA's devices. Not a variable of upstream.",
        ),
        Row::new(
            "ASYNC_MAX_EVENTS",
            "1024",
            Kind::Deprecated,
            "There is no such limit.",
        ),
        Row::without_effect(
            "ASYNC_SIGNO",
            "ALRM",
            &Kind::Signal,
            "Signal of asynchronous progress in signal mode.",
            "there is no signal mode: asynchronous progress runs on a thread",
        ),
        Row::without_effect(
            "MEMTRACK_LIMIT",
            "inf",
            &Kind::MemUnits,
            "Most memory that the tracker lets the library take.",
            "allocations are not tracked",
        ),
        Row::without_effect(
            "RCACHE_CHECK_PFN",
            "0",
            &Kind::UInt,
            "How many page frames of a cached registration are compared on use.",
            "cached registrations are not compared with page frames",
        ),
        Row::new(
            "MODULE_DIR",
            "",
            Kind::Str,
            "Folder of plug-ins of programs, such as ucx_perftest's for memory of devices; transports are built in.",
        ),
        Row::without_effect(
            "MODULE_LOG_LEVEL",
            "DEBUG",
            &Kind::Enum(LOG_LEVELS),
            "Log level of loading plug-ins.",
            "it is DEBUG",
        ),
        Row::new(
            "MODULES",
            "all",
            Kind::AllowList,
            "Names of the plug-ins of programs that are loaded, as patterns, see glob(7).",
        ),
        Row::without_effect(
            "PLUGIN_PATH",
            "",
            &Kind::ColonArray,
            "Folders of plug-ins.",
            "all transports are built in",
        ),
        Row::without_effect(
            "TOPO_PRIO",
            "sysfs,default",
            &Kind::StrArray,
            "Where distances between devices come from, the first that answers counts.",
            "distances come from sysfs alone",
        ),
        Row::without_effect(
            "DISTANCE_LAT",
            "phb:300ns,node:300ns,sys:500ns",
            &Kind::KeyValue(DISTANCES, &Kind::PlainTime),
            "Latency between devices",
            "distances come from sysfs alone",
        ),
        Row::without_effect(
            "DISTANCE_BW",
            "auto",
            &Kind::KeyValue(DISTANCES, &Kind::Bandwidth),
            "Bandwidth between devices",
            "distances come from sysfs alone",
        ),
    ],
};

/// Options that count only at the start of the process.
pub static READ_ONLY: Table = Table {
    name: "UCS global (runtime read-only) configuration",
    prefix: "",
    parent: None,
    rows: &[
        Row::new(
            "LOG_FILE",
            "",
            Kind::Str,
            "Where messages go: a file, `stdout` or `stderr` (when empty). In the name, %p is the \
             process id,\n%h the host, %t the time, %u the user, %i the user id, %e the program, \
             %c the first processor.",
        ),
        Row::new(
            "LOG_FILE_SIZE",
            "inf",
            Kind::MemUnits,
            "Size at which the log file is rotated.",
        ),
        Row::new(
            "LOG_FILE_ROTATE",
            "0",
            Kind::UInt,
            "How many old log files are kept, as NAME.1, NAME.2 and so on.",
        ),
        Row::new(
            "ERROR_SIGNALS",
            "ILL,SEGV,BUS,FPE",
            Kind::Array(&Kind::Signal),
            "Belongs to HANDLE_ERRORS: no effect.",
        ),
        Row::without_effect(
            "VFS_ENABLE",
            "y",
            &Kind::Bool,
            "Show the objects of the library to the ucx_vfs daemon.",
            "there is no such daemon here",
        ),
        Row::without_effect(
            "VFS_SOCK_PATH",
            "/run/user/%i/ucx/vfs.sock",
            &Kind::Str,
            "Socket of the ucx_vfs daemon.",
            "there is no such daemon here",
        ),
        Row::without_effect(
            "VFS_THREAD_AFFINITY",
            "n",
            &Kind::Bool,
            "Whether the thread for the ucx_vfs daemon stays on the processors of its maker.",
            "there is no such daemon here",
        ),
        Row::without_effect(
            "MEMTRACK_DEST",
            "",
            &Kind::Str,
            "Where the memory tracker reports.",
            "allocations are not tracked",
        ),
        Row::new(
            "STATS_DEST",
            "",
            Kind::Str,
            "Where the counters of workers are written: stdout, stderr or file:NAME, where %h stands for the host, %p for the process.",
        ),
        Row::new(
            "STATS_TRIGGER",
            "exit",
            Kind::Str,
            "When they are written: exit, signal:NUMBER or timer:TIME.",
        ),
        Row::new(
            "STATS_FILTER",
            "*",
            Kind::StrArray,
            "Patterns of the counters that are written.",
        ),
        Row::new(
            "STATS_FORMAT",
            "full",
            Kind::Enum(STATS_FORMATS),
            "full: each worker, as JSON; agg: their sum, as JSON; summary: the sum in a line of text.",
        ),
        Row::new(
            "PROFILE_MODE",
            "",
            Kind::Bitmap(PROFILE_MODES),
            "What is recorded where a client profiles its code with ucs/profile. The library's own code is not profiled.",
        ),
        Row::new(
            "PROFILE_FILE",
            "ucx_%h_%p.prof",
            Kind::Str,
            "File of a profile; %h stands for the host, %p for the process.",
        ),
        Row::new(
            "PROFILE_LOG_SIZE",
            "4M",
            Kind::MemUnits,
            "Most bytes of a thread's records in a profile: the latest ones are kept.",
        ),
        Row::without_effect(
            "RCACHE_STAT_MIN",
            "4K",
            &Kind::MemUnits,
            "Smallest size class of the registration cache's statistics.",
            "registration caches keep no statistics by size",
        ),
        Row::without_effect(
            "RCACHE_STAT_MAX",
            "1M",
            &Kind::MemUnits,
            "Largest size class of the registration cache's statistics.",
            "registration caches keep no statistics by size",
        ),
        Row::new(
            "BUILTIN_MEMCPY_MIN",
            "auto",
            Kind::MemUnits,
            "From this size on, copies use the processor's string instructions.",
        ),
        Row::new(
            "BUILTIN_MEMCPY_MAX",
            "auto",
            Kind::MemUnits,
            "Up to this size, copies use the processor's string instructions.",
        ),
        Row::without_effect(
            "NT_BUFFER_TRANSFER_MIN",
            "auto",
            &Kind::MemUnits,
            "From this size on, copies go past the caches.",
            "copies go through the caches",
        ),
    ],
};

/// What `TABLE` says now; none until it is read.
static CHANGING: ForkLocked<Option<Arc<Config>>> = ForkLocked::new(None);

/// The values of `TABLE`. A text that cannot be parsed is reported, and the default stands in its place.
pub fn current() -> Arc<Config> {
    // Reading them starts the log, which asks for them: not from in there.
    log::start();
    if let Some(options) = CHANGING.with(|options| options.clone()) {
        return options;
    }
    let read = Arc::new(Config::read_lenient(&TABLE));
    CHANGING.with(|options| options.get_or_insert(read).clone())
}

/// The values of `READ_ONLY`, the same for the life of the process.
pub fn fixed() -> &'static Config {
    static FIXED: OnceBox<Config> = OnceBox::new();
    log::start();
    FIXED.get_or_init(|| Box::new(Config::read_lenient(&READ_ONLY)))
}

/// The text of an option of either table. `NO_ELEM`: none has this name.
pub fn text(name: &str) -> Result<String> {
    current().get_text(name).or_else(|_| fixed().get_text(name))
}

/// Whether an option counts only at the start of the process.
pub fn is_read_only(name: &str) -> bool {
    fixed().get_text(name).is_ok()
}

/// Checks a text for an option that counts only at the start of the process, which it does not change. Errors as for
/// `set`.
pub fn check_read_only(name: &str, text: &str) -> Result<()> {
    Config::clone(fixed()).set(name, text)
}

/// Changes an option, for all that run. `NO_ELEM`: none that may change has this name; `INVALID_PARAM`: the text does
/// not fit.
pub fn set(name: &str, text: &str) -> Result<()> {
    loop {
        let before = current();
        let mut changed = Config::clone(&before);
        changed.set(name, text)?;
        let changed = Arc::new(changed);
        // Another thread may have changed another option meanwhile.
        let replaced = CHANGING.with(|options| match options {
            Some(known) if Arc::ptr_eq(known, &before) => options.replace(changed),
            _ => None,
        });
        if replaced.is_some() {
            log::take_over_options();
            return Ok(());
        }
    }
}
