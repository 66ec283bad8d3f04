//! `UCX_STATS_DEST`: the counters of the process's workers, written when it exits, on a signal or from time to time.
//!
//! A report is one line. Workers that are destroyed stay in it as a sum. Only live workers are named, so that a process
//! that makes and destroys workers for ever keeps little.
#![forbid(unsafe_code)]

use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::sys::{clock, file, machine, process};
use crate::ucp::timer::Timer;
use crate::ucp::worker_core::Remote;
use crate::ucs::Events;
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::config::{Kind, Value, global, matches_pattern, units, var};
use crate::ucs::fork::PerProcess;
use crate::ucs::json::Object;
use crate::ucs::log::fill_name;
use crate::{ucs_error, ucs_warn};
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// Counters by name.
type Totals = BTreeMap<String, u64>;

#[derive(Clone, Debug, PartialEq)]
enum Destination {
    StandardOutput,
    StandardError,
    /// Appended to.
    File(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Trigger {
    /// Only who looks with `ferrucx-info` sees them.
    Never,
    Exit,
    Signal(i32),
    Every(Duration),
}

/// Values of `UCX_STATS_FORMAT`, in the order of `ucs_stats_formats_t`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    /// JSON: each worker.
    Full,
    /// JSON: their sum.
    Sum,
    /// The sum as text.
    Text,
}

#[derive(Clone, Debug, PartialEq)]
struct Settings {
    destination: Destination,
    trigger: Trigger,
    filter: Vec<String>,
    format: Format,
}

/// What makes a report while there are workers.
enum Armed {
    Timer(#[expect(dead_code, reason = "rings until it is dropped")] Timer),
    Signal {
        fd: Arc<EventFd>,
        handler: HandlerId,
    },
}

impl Drop for Armed {
    fn drop(&mut self) {
        if let Armed::Signal { fd, handler } = self {
            process::stop_notifying(fd.raw());
            // It may be gone already.
            let _ = async_ctx::remove(*handler, false);
        }
    }
}

#[derive(Default)]
struct Process {
    workers: Vec<Arc<Remote>>,
    destroyed: Totals,
    destroyed_workers: u64,
    armed: Option<Armed>,
}

static PROCESS: PerProcess<Mutex<Process>> = PerProcess::new(|| Mutex::new(Process::default()));
static REPORTS_AT_EXIT: AtomicBool = AtomicBool::new(false);

/// A worker's place among those that are counted.
pub struct Counted(Arc<Remote>);

/// Counts a worker, where `UCX_STATS_DEST` asks for that. Its mistakes are logged, and nothing is written.
pub fn join(worker: Remote) -> Option<Counted> {
    let settings = settings()?;
    let worker = Arc::new(worker);
    let mut process = PROCESS.get().lock();
    process.workers.push(Arc::clone(&worker));
    match settings.trigger {
        Trigger::Never => {}
        Trigger::Exit => {
            if !REPORTS_AT_EXIT.swap(true, Ordering::Relaxed) {
                process::at_exit(at_exit);
            }
        }
        Trigger::Every(_) | Trigger::Signal(_) if process.armed.is_some() => {}
        Trigger::Every(interval) => match Timer::start(interval, report) {
            Ok(timer) => process.armed = Some(Armed::Timer(timer)),
            Err(e) => ucs_warn!("UCX_STATS_TRIGGER: no timer can be started: {e}"),
        },
        Trigger::Signal(number) => match on_signal(number) {
            Ok(armed) => process.armed = Some(armed),
            Err(e) => ucs_warn!("UCX_STATS_TRIGGER: signal {number} cannot be waited for: {e}"),
        },
    }
    Some(Counted(worker))
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut process = PROCESS.get().lock();
        let before = process.workers.len();
        process
            .workers
            .retain(|worker| !Arc::ptr_eq(worker, &self.0));
        // A child of fork() has none of its parent's.
        if process.workers.len() == before {
            return;
        }
        add(&mut process.destroyed, self.0.totals());
        process.destroyed_workers += 1;
        let armed = if process.workers.is_empty() {
            process.armed.take()
        } else {
            None
        };
        // A report under way takes the lock, and is waited for.
        drop(process);
        drop(armed);
    }
}

fn on_signal(number: i32) -> io::Result<Armed> {
    let fd = Arc::new(EventFd::new()?);
    let (raw, inside) = (fd.raw(), Arc::clone(&fd));
    let ring = Box::new(move |_, _| {
        if inside.clear() {
            report();
        }
    });
    let handler = async_ctx::add_fd(Mode::ThreadMutex, raw, Events::READ, ring, None)
        .map_err(|e| io::Error::other(e.to_string()))?;
    process::notify_on_signal(number, raw)?;
    Ok(Armed::Signal { fd, handler })
}

extern "C" fn at_exit() {
    report();
}

fn add(to: &mut Totals, from: Totals) {
    for (name, value) in from {
        *to.entry(name).or_default() += value;
    }
}

/// What the variables ask for; `None` if nothing.
fn settings() -> Option<Settings> {
    let options = global::fixed();
    let text = options.str(var!(global::READ_ONLY, "STATS_DEST"));
    if text.is_empty() {
        return None;
    }
    let Some(destination) = destination(text) else {
        ucs_error!(
            "UCX_STATS_DEST={text}: use stdout, stderr or file:NAME (%p stands for the process, %h for the host)"
        );
        return None;
    };
    let text = options.str(var!(global::READ_ONLY, "STATS_TRIGGER"));
    let Some(trigger) = trigger(text) else {
        ucs_error!(
            "UCX_STATS_TRIGGER={text}: use exit, signal:NUMBER, timer:TIME (timer:10s), or nothing"
        );
        return None;
    };
    Some(Settings {
        destination,
        trigger,
        filter: options
            .list(var!(global::READ_ONLY, "STATS_FILTER"))
            .to_vec(),
        format: match options.enum_index(var!(global::READ_ONLY, "STATS_FORMAT")) {
            0 => Format::Full,
            1 => Format::Sum,
            _ => Format::Text,
        },
    })
}

fn destination(text: &str) -> Option<Destination> {
    match text {
        "stdout" => Some(Destination::StandardOutput),
        "stderr" => Some(Destination::StandardError),
        _ => {
            let name = text.strip_prefix("file:")?;
            // Upstream writes a format of its own there, which only its parser reads.
            let is_text = !name.is_empty() && !name.ends_with(":bin");
            is_text.then(|| Destination::File(name.to_owned()))
        }
    }
}

fn trigger(text: &str) -> Option<Trigger> {
    match text {
        "" => return Some(Trigger::Never),
        "exit" => return Some(Trigger::Exit),
        _ => {}
    }
    let (kind, value) = text.split_once(':')?;
    match kind {
        "signal" => match Kind::Signal.parse(value)? {
            Value::UInt(number @ 1..) => Some(Trigger::Signal(number as i32)),
            _ => None,
        },
        "timer" => {
            let interval = Duration::try_from_secs_f64(units::parse_time(value, false)?).ok()?;
            (!interval.is_zero()).then_some(Trigger::Every(interval))
        }
        _ => None,
    }
}

/// Writes a report. A process without workers, such as a child of fork(), has none.
fn report() {
    let Some(settings) = settings() else {
        return;
    };
    let process = PROCESS.get().lock();
    if process.workers.is_empty() && process.destroyed_workers == 0 {
        return;
    }
    let line = text(&settings, &process) + "\n";
    drop(process);
    if let Err(e) = write(&settings.destination, &line) {
        ucs_warn!("UCX_STATS_DEST: {e}");
    }
}

fn write(destination: &Destination, line: &str) -> io::Result<()> {
    match destination {
        Destination::StandardOutput => io::stdout().write_all(line.as_bytes()),
        Destination::StandardError => io::stderr().write_all(line.as_bytes()),
        Destination::File(name) => {
            let name = fill_name(name);
            let file =
                file::open_named_by_variable(OpenOptions::new().append(true).create(true), &name);
            file.and_then(|mut file| file.write_all(line.as_bytes()))
                .map_err(|e| io::Error::other(format!("{name}: {e}")))
        }
    }
}

fn text(settings: &Settings, process: &Process) -> String {
    let is_wanted = |name: &String| {
        settings
            .filter
            .iter()
            .any(|pattern| matches_pattern(pattern, name))
    };
    let json = |totals: &Totals| {
        let mut object = Object::new();
        for (name, value) in totals.iter().filter(|(name, _)| is_wanted(name)) {
            object.number(name, *value);
        }
        object.end()
    };
    let sum = || {
        let mut sum = process.destroyed.clone();
        process
            .workers
            .iter()
            .for_each(|worker| add(&mut sum, worker.totals()));
        sum
    };
    let host = machine::short_host_name();
    if settings.format == Format::Text {
        let sum = sum();
        let counters = sum
            .iter()
            .filter(|(name, value)| **value > 0 && is_wanted(name));
        let words: Vec<_> = counters
            .map(|(name, value)| format!("{name}:{value}"))
            .collect();
        return format!("{host}:{} {}", process::pid(), words.join(" "));
    }
    let mut object = Object::new();
    object.text("host", &host);
    object.number("pid", process::pid().into());
    object.number("time_us", clock::wall_us());
    object.text("library", machine::own_identity());
    if settings.format == Format::Sum {
        object.json("counters", &json(&sum()));
        return object.end();
    }
    let workers = process.workers.iter().map(|worker| {
        let mut object = Object::new();
        object.text("name", worker.name());
        object.text("uuid", &format!("{:#x}", worker.uuid()));
        object.json("counters", &json(&worker.totals()));
        object.end()
    });
    object.list("workers", &workers.collect::<Vec<_>>());
    object.number("destroyed_workers", process.destroyed_workers);
    object.json("destroyed", &json(&process.destroyed));
    object.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_and_triggers_are_those_of_upstream_that_a_person_can_read() {
        assert_eq!(destination("stdout"), Some(Destination::StandardOutput));
        assert_eq!(destination("stderr"), Some(Destination::StandardError));
        assert_eq!(
            destination("file:a:b"),
            Some(Destination::File("a:b".to_owned()))
        );
        for wrong in ["file:", "file:x:bin", "udp:127.0.0.1", "x"] {
            assert_eq!(destination(wrong), None, "{wrong}");
        }
        assert_eq!(trigger(""), Some(Trigger::Never));
        assert_eq!(trigger("exit"), Some(Trigger::Exit));
        assert_eq!(trigger("signal:SIGUSR1"), Some(Trigger::Signal(10)));
        assert_eq!(trigger("signal:12"), Some(Trigger::Signal(12)));
        assert_eq!(
            trigger("timer:250ms"),
            Some(Trigger::Every(Duration::from_millis(250)))
        );
        for wrong in [
            "timer:0",
            "timer:inf",
            "timer:x",
            "signal:0",
            "signal:SIGX",
            "exit:1",
            "later",
        ] {
            assert_eq!(trigger(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_report_has_the_destroyed_workers_sum_and_what_the_filter_selects() {
        let process = Process {
            destroyed: [("sent_short", 3), ("sent_eager", 0), ("retries", 1)]
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            destroyed_workers: 2,
            ..Process::default()
        };
        let settings = |format, filter: &str| Settings {
            destination: Destination::StandardError,
            trigger: Trigger::Exit,
            filter: vec![filter.to_owned()],
            format,
        };
        let full = text(&settings(Format::Full, "sent_*"), &process);
        assert!(
            full.ends_with(
                r#""workers":[],"destroyed_workers":2,"destroyed":{"sent_eager":0,"sent_short":3}}"#
            ),
            "{full}"
        );
        let sum = text(&settings(Format::Sum, "*"), &process);
        assert!(
            sum.ends_with(r#""counters":{"retries":1,"sent_eager":0,"sent_short":3}}"#),
            "{sum}"
        );
        let line = text(&settings(Format::Text, "*"), &process);
        assert!(line.ends_with(" retries:1 sent_short:3"), "{line}");
    }
}
