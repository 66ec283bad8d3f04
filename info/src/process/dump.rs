//! A process's report as text.
#![forbid(unsafe_code)]

use super::{list, printable};
use serde_json::Value;
use std::fmt::Write;

pub fn text_of_counters(counters: &Value) -> String {
    let mut parts = Vec::new();
    for (kind, word) in [("sent", "sent"), ("fetched", "fetched")] {
        for (name, tally) in counters[kind].as_object().into_iter().flatten() {
            let count = tally["count"].as_u64().unwrap_or(0);
            let name = name.replace('_', " ");
            match tally["bytes"].as_u64() {
                _ if count == 0 => {}
                Some(bytes) => parts.push(format!("{word} {name} {count} ({bytes} bytes)")),
                None => parts.push(format!("{word} {name} {count}")),
            }
        }
    }
    for (name, value) in counters.as_object().into_iter().flatten() {
        if let Some(value) = value.as_u64().filter(|value| *value > 0) {
            parts.push(format!("{} {value}", name.replace('_', " ")));
        }
    }
    match parts.is_empty() {
        true => "nothing yet".to_owned(),
        false => parts.join(", "),
    }
}

pub fn described(report: &Value) -> String {
    let mut out = String::new();
    let (pid, host) = (&report["pid"], printable(&report["host"]));
    let _ = writeln!(
        out,
        "process {pid} on {host}, {}",
        printable(&report["library"])
    );
    for worker in list(report, "workers") {
        write_worker(&mut out, worker);
    }
    out
}

fn names(values: impl Iterator<Item = String>) -> String {
    let all: Vec<_> = values.collect();
    match all.is_empty() {
        true => "none".to_owned(),
        false => all.join(", "),
    }
}

fn write_worker(out: &mut String, worker: &Value) {
    let _ = writeln!(out, "worker '{}'", printable(&worker["name"]));
    let _ = writeln!(out, "  counters: {}", text_of_counters(&worker["counters"]));
    if worker["makes_progress"] == false {
        let _ = writeln!(
            out,
            "  makes no progress: for a second the program has not called ucp_worker_progress, or is in a callback of it. \
             Endpoints and requests are told by progress"
        );
        return;
    }
    let interfaces = list(worker, "interfaces");
    let interfaces =
        interfaces.map(|i| format!("{}/{}", printable(&i["transport"]), printable(&i["device"])));
    let _ = writeln!(out, "  interfaces: {}", names(interfaces));
    for why in list(worker, "not_opened") {
        let _ = writeln!(out, "  not opened: {}", printable(why));
    }
    if worker["unexpected_bytes_held"] != 0 {
        let paused = match worker["receiving_is_paused"].as_bool() {
            Some(true) => "; receiving is paused until some are taken (UCX_UNEXPECTED_MAX_SIZE)",
            _ => "",
        };
        let _ = writeln!(
            out,
            "  unexpected messages: {} bytes{paused}",
            worker["unexpected_bytes_held"]
        );
    }
    for endpoint in list(worker, "endpoints") {
        write_endpoint(out, endpoint);
    }
    write_rest(out, worker, "endpoints", "endpoints_count");
    let pending = &worker["requests_pending"];
    let _ = writeln!(
        out,
        "  requests: {pending} pending, {} complete and not freed",
        worker["requests_not_freed"]
    );
    for request in list(worker, "requests") {
        let by = match request["endpoint"].as_str() {
            Some(_) => format!(" by {}", printable(&request["endpoint"])),
            None => String::new(),
        };
        let (what, why) = (
            printable(&request["request"]),
            printable(&request["waits_for"]),
        );
        let since = match request["age_ms"].as_u64() {
            Some(age) => format!(", for {}.{:03} s", age / 1000, age % 1000),
            None => String::new(),
        };
        let _ = writeln!(out, "    {what}{by}\n      waits for {why}{since}");
    }
    write_rest(out, worker, "requests", "requests_pending");
}

/// Says how many are not told one by one.
fn write_rest(out: &mut String, worker: &Value, name: &str, count: &str) {
    let told = list(worker, name).count() as u64;
    let all = worker[count].as_u64().unwrap_or(told);
    if all > told {
        let _ = writeln!(out, "    and {} more {name}", all - told);
    }
}

fn write_endpoint(out: &mut String, endpoint: &Value) {
    let lanes = names(list(endpoint, "lanes").map(printable));
    let (name, state) = (printable(&endpoint["name"]), printable(&endpoint["state"]));
    let _ = writeln!(out, "  endpoint {name}: {state}; lanes: {lanes}");
    let sent = serde_json::json!({ "sent": endpoint["sent"] });
    let _ = writeln!(out, "    {}", text_of_counters(&sent));
    for rail in list(endpoint, "rails") {
        let (lane, parts, bytes) = (printable(&rail["lane"]), &rail["parts"], &rail["bytes"]);
        let _ = writeln!(out, "    parts by {lane}: {parts} ({bytes} bytes)");
    }
    if endpoint["queued"] != 0 || endpoint["outstanding"] != 0 {
        let why = match endpoint["queue_waits_for"].as_str() {
            Some(_) => format!(
                ", which wait for {}",
                printable(&endpoint["queue_waits_for"])
            ),
            None => String::new(),
        };
        let (queued, outstanding) = (&endpoint["queued"], &endpoint["outstanding"]);
        let _ = writeln!(
            out,
            "    {queued} queued{why}; {outstanding} wait for the peer"
        );
    }
    for task in list(endpoint, "queue") {
        let _ = writeln!(out, "      {}", printable(task));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_told_is_counted_and_control_characters_are_left_out() {
        let worker = json!({
            "name": "a\u{1b}[2Jb", "makes_progress": true, "counters": {"sent": {"short": {"count": 3}}, "retries": 0},
            "requests_pending": 3, "requests_not_freed": 1, "unexpected_bytes_held": 0,
            "requests": [{"request": "tag receive of 8 bytes: posted", "waits_for": "a message", "age_ms": 12034}],
        });
        let said = described(&json!({"pid": 7, "host": "h", "library": "l", "workers": [worker]}));
        assert!(
            said.contains("worker 'a[2Jb'\n  counters: sent short 3\n"),
            "{said}"
        );
        assert!(
            said.contains("waits for a message, for 12.034 s\n    and 2 more requests\n"),
            "{said}"
        );
    }

    #[test]
    fn rails_are_told_with_what_they_carried() {
        let endpoint = json!({"name": "e", "state": "open", "lanes": ["tcp/a0", "tcp/a1"], "queued": 0, "outstanding": 0,
                              "rails": [{"lane": "tcp/a1", "parts": 2, "bytes": 7}]});
        let worker = json!({"name": "w", "makes_progress": true, "endpoints": [endpoint], "unexpected_bytes_held": 0});
        let said = described(&json!({"pid": 7, "workers": [worker]}));
        assert!(
            said.contains("\n    parts by tcp/a1: 2 (7 bytes)\n"),
            "{said}"
        );
    }

    #[test]
    fn a_worker_without_progress_is_told_with_its_counters() {
        let worker = json!({"name": "w", "makes_progress": false, "counters": {}});
        let said = described(&json!({"pid": 7, "workers": [worker]}));
        assert!(
            said.contains("counters: nothing yet\n  makes no progress"),
            "{said}"
        );
    }
}
