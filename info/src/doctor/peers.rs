//! What an endpoint to a peer in this process, on this host and on another host consists of, and how messages of each length go.
//!
//! The peer is a worker of the same process whose context lacks what would not reach it elsewhere.
#![forbid(unsafe_code)]

use super::probe::{self, Answer};
use super::transports::Examined;
use super::{Line, State, host, network};
use crate::units::{bytes, parse_bytes};
use serde_json::Value;

/// The table of operations that is shown.
const OPERATION: &str = "tagged message by ucp_tag_send* from host memory";

pub fn examine(size: Option<u64>) -> Examined {
    let other_host = network::devices_to_other_hosts();
    let others: Vec<(&str, &str)> = match (&other_host, std::env::var_os("UCX_NET_DEVICES")) {
        // The user's choice of devices stands.
        (Some(devices), None) => vec![("UCX_NET_DEVICES", devices.as_str())],
        _ => Vec::new(),
    };
    let mut examined = Examined::default();
    examined.place("same process", "self", &[], size);
    examined.place("same host", "intra", &[], size);
    match other_host {
        Some(_) => examined.place("other host", "inter", &others, size),
        None => examined.lines.push(
            Line::new(
                State::Bad,
                "other host",
                "cannot be reached: no interface with an address is up, apart from the loopback",
            )
            .with(host::INTERFACE_UP),
        ),
    }
    examined
}

impl Examined {
    fn place(
        &mut self,
        subject: &str,
        letter: &str,
        variables: &[(&str, &str)],
        size: Option<u64>,
    ) {
        let answer = probe::ask(&["-e", "-u", "t", "-P", letter], variables);
        self.lines.push(judge(subject, &answer, size));
        self.logs.extend(answer.log);
    }
}

fn judge(subject: &str, answer: &Answer, size: Option<u64>) -> Line {
    let endpoint = &answer.json["ucp"]["endpoint"];
    if endpoint.is_null() {
        let complaints = answer.log.iter().filter_map(|line| probe::complaint(line));
        let complaints: Vec<String> = complaints.map(str::to_owned).collect();
        let first = complaints.first().or(answer.log.first());
        let why = first.map_or("no reason is known", String::as_str);
        let cause = host::cause(why, &answer.log).unwrap_or_else(|| why.to_owned());
        let mut line = Line::new(State::Bad, subject, format!("cannot be reached: {cause}"));
        line.remedy = host::remedy(why, &answer.log);
        line.details = complaints;
        return line;
    }
    let lanes = endpoint["lanes"].as_array().into_iter().flatten();
    let lanes: Vec<&str> = lanes
        .filter_map(|lane| lane.as_str().and_then(resource))
        .collect();
    let mut line = Line::new(State::Good, subject, lanes.join(" + "));
    line.details = ranges(endpoint, size);
    line
}

/// `tcp/eth0` of `1:tcp/eth0.0 md[1] -> …`.
fn resource(lane: &str) -> Option<&str> {
    let word = lane.split(' ').next()?;
    let (_, name) = word.split_once(':')?;
    Some(name.rsplit_once('.').map_or(name, |(name, _)| name))
}

/// How messages go, by their length: all ranges, or the one of a length.
fn ranges(endpoint: &Value, size: Option<u64>) -> Vec<String> {
    let tables = endpoint["protocols"].as_array().into_iter().flatten();
    let table = tables.filter(|table| {
        let operation = table["operation"].as_str();
        operation.is_some_and(|operation| operation.ends_with(OPERATION))
    });
    let rows = table.flat_map(|table| table["ranges"].as_array().into_iter().flatten());
    let rows = rows.filter_map(|row| {
        let word = |key: &str| row[key].as_str();
        let range = word("bytes")?;
        let (first, last) = range.split_once("..")?;
        let (first, last) = (parse_bytes(first)?, parse_bytes(last)?);
        // `(?)` says that the peer's answer may change it.
        let how = word("description")?.trim_start_matches("(?) ");
        let how = format!("{how} by {}", word("transports")?);
        match size {
            Some(size) if (first..=last).contains(&size) => {
                Some(format!("{} bytes: {how}", bytes(size)))
            }
            Some(_) => None,
            None => Some(format!("{range} bytes: {how}")),
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_length_is_in_one_range() {
        let endpoint = json!({ "protocols": [{ "operation": format!("x cfg#0 {OPERATION}"), "ranges": [
            { "bytes": "0..92", "description": "eager short", "transports": "sysv/memory" },
            { "bytes": "93..256K", "description": "(?) rendezvous", "transports": "cma/memory" },
        ] }] });
        assert_eq!(
            ranges(&endpoint, Some(93)),
            ["93 bytes: rendezvous by cma/memory"]
        );
        assert_eq!(ranges(&endpoint, None).len(), 2);
        assert_eq!(
            resource("1:tcp/eth0.100.0 md[1] -> x"),
            Some("tcp/eth0.100")
        );
    }
}
