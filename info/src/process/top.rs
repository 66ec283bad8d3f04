//! What each worker of a process does per second, as lines: the differences of its counters.
#![forbid(unsafe_code)]

use super::{TopArguments, list, printable, socket};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Sums of a worker's counters.
#[derive(Clone, Copy, Default)]
struct Sums {
    messages: u64,
    bytes: u64,
    unexpected: u64,
    waits: u64,
    wake_ups: u64,
}

impl Sums {
    fn of(counters: &Value) -> Sums {
        let number = |name: &str| counters[name].as_u64().unwrap_or(0);
        let sent = || counters["sent"].as_object().into_iter().flatten();
        let total = |name: &str| sent().filter_map(|(_, tally)| tally[name].as_u64()).sum();
        Sums {
            messages: total("count"),
            bytes: total("bytes"),
            unexpected: number("unexpected"),
            waits: number("waits_for_room"),
            wake_ups: number("wake_ups"),
        }
    }

    fn line(self, before: Sums, seconds: f64) -> String {
        let rate = |now: u64, then: u64| (now.saturating_sub(then)) as f64 / seconds;
        format!(
            "{:>12.0} {:>12.1} {:>12.0} {:>12.0} {:>12.0}",
            rate(self.messages, before.messages),
            rate(self.bytes, before.bytes) / 1e6,
            rate(self.unexpected, before.unexpected),
            rate(self.waits, before.waits),
            rate(self.wake_ups, before.wake_ups),
        )
    }
}

pub fn run(arguments: &TopArguments) -> Result<(), String> {
    let interval = Duration::try_from_secs_f64(arguments.interval.max(0.05))
        .map_err(|e| format!("--interval {}: {e}", arguments.interval))?;
    let mut before: BTreeMap<String, Sums> = BTreeMap::new();
    let mut asked = Instant::now();
    let mut left = arguments.count;
    println!(
        "{:>12} {:>12} {:>12} {:>12} {:>12}  worker",
        "sends/s", "MB/s", "unexpected/s", "waits/s", "wake-ups/s"
    );
    loop {
        let report = socket::ask(arguments.pid)?;
        let seconds = asked.elapsed().as_secs_f64();
        let first = before.is_empty();
        asked = Instant::now();
        for worker in list(&report, "workers") {
            let (name, sums) = (printable(&worker["name"]), Sums::of(&worker["counters"]));
            let idle = match worker["makes_progress"].as_bool() {
                Some(false) => ", makes no progress",
                _ => "",
            };
            let key = format!("{name} {}", worker["uuid"]);
            let then = before.insert(key, sums);
            if let Some(then) = then {
                println!("{}  {name}{idle}", sums.line(then, seconds));
            }
        }
        let _ = stdout().flush();
        if !first && let Some(left) = &mut left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return Ok(());
            }
        }
        sleep(interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rates_are_differences_by_time() {
        let then = Sums::of(
            &json!({"sent": {"short": {"count": 10}, "eager": {"count": 5, "bytes": 1000}}}),
        );
        let now = Sums::of(&json!({
            "sent": {"short": {"count": 110}, "eager": {"count": 5, "bytes": 4001000}}, "waits_for_room": 4,
        }));
        let line = now.line(then, 2.0);
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words, ["50", "2.0", "0", "2", "0"]);
    }
}
