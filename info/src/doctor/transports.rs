//! Each transport: usable with these devices, or the library's reason why not.
#![forbid(unsafe_code)]

use super::probe::{self, Library};
use super::{Line, State};
use crate::doctor::host;
use serde_json::Value;

#[derive(Default)]
pub struct Examined {
    pub lines: Vec<Line>,
    /// Everything that the library logged meanwhile.
    pub logs: Vec<String>,
}

pub fn examine(library: &Library) -> Examined {
    let mut examined = Examined::default();
    for transport in &library.transports {
        let answer = probe::ask(&["-d", "-t", transport], &[]);
        examined
            .lines
            .push(judge(transport, &answer.json, &answer.log));
        examined.logs.extend(answer.log);
    }
    examined
}

fn judge(transport: &str, json: &Value, log: &[String]) -> Line {
    let domains = json["devices"]["memory_domains"].as_array();
    let found = domains.into_iter().flatten();
    let found = found.flat_map(|domain| domain["transports"].as_array().into_iter().flatten());
    let found: Vec<&Value> = found.collect();
    let (failed, usable): (Vec<&Value>, Vec<&Value>) =
        found.into_iter().partition(|one| !one["error"].is_null());
    let devices = usable.iter().filter_map(|one| one["device"].as_str());
    let devices: Vec<&str> = devices.collect();
    if !devices.is_empty() {
        return Line::new(State::Good, transport, devices.join(", "));
    }
    let complaints: Vec<&str> = log
        .iter()
        .filter_map(|line| probe::complaint(line))
        .collect();
    let own = format!("{transport}: ");
    let left_out = log
        .iter()
        .find_map(|line| Some(line.split_once(&own)?.1.to_owned()));
    let why = match (&complaints[..], left_out) {
        ([], Some(reason)) => reason,
        ([], None) => failed.first().map_or_else(
            || host::no_rdma().unwrap_or_else(|| "the library says no reason".to_owned()),
            |one| one["error"].as_str().unwrap_or_default().to_owned(),
        ),
        (complaints, _) => complaints.join("; "),
    };
    let remedy = host::remedy(&why, log);
    let why = match host::cause(&why, log) {
        Some(cause) => format!("{cause} ({why})"),
        None => why,
    };
    let line = Line::new(State::Bad, transport, why);
    match remedy {
        Some(remedy) => line.with(remedy),
        None => line,
    }
}
