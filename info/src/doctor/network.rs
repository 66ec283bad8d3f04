//! Network interfaces: up or down, with which speed; and the RDMA devices.
#![forbid(unsafe_code)]

use super::{Line, State, host, probe};
use crate::library::system::{self, Interface};
use std::fs::{read_dir, read_to_string};
use std::path::Path;

const UP: u32 = libc::IFF_UP as u32;
const LOOPBACK: u32 = libc::IFF_LOOPBACK as u32;
/// The other end is there.
const RUNNING: u32 = libc::IFF_RUNNING as u32;
/// In megabits a second; what is slower is seldom the interface that was meant for this.
const SLOW: i64 = 1000;

fn word(folder: &Path, name: &str) -> Option<String> {
    let text = read_to_string(folder.join(name)).ok()?;
    Some(text.trim().to_owned())
}

/// The devices of tcp and RDMA transports that are not the loopback interface, as `UCX_NET_DEVICES` takes them.
pub fn devices_to_other_hosts() -> Option<String> {
    let answer = probe::ask(&["-d"], &[]);
    let domains = answer.json["devices"]["memory_domains"]
        .as_array()
        .into_iter()
        .flatten();
    let transports =
        domains.flat_map(|domain| domain["transports"].as_array().into_iter().flatten());
    let network = transports.filter(|one| one["type"] == "network");
    let mut names: Vec<&str> = network.filter_map(|one| one["device"].as_str()).collect();
    let interfaces = system::interfaces();
    let is_loopback = |name: &str| {
        interfaces
            .iter()
            .any(|one| one.name == name && one.flags & LOOPBACK != 0)
    };
    names.retain(|name| !is_loopback(name));
    names.dedup();
    (!names.is_empty()).then(|| names.join(","))
}

pub fn examine() -> Vec<Line> {
    let mut lines: Vec<Line> = system::interfaces().iter().map(interface).collect();
    let entries = read_dir("/sys/class/infiniband").into_iter().flatten();
    for device in entries.flatten() {
        let name = device.file_name().to_string_lossy().into_owned();
        let ports = read_dir(device.path().join("ports")).into_iter().flatten();
        for port in ports.flatten() {
            let state = word(&port.path(), "state").unwrap_or_default();
            let rate = word(&port.path(), "rate").unwrap_or_default();
            let subject = format!("{name} port {}", port.file_name().to_string_lossy());
            let good = if state.contains("ACTIVE") {
                State::Good
            } else {
                State::Note
            };
            lines.push(Line::new(good, subject, format!("{state}, {rate}")));
        }
    }
    if let Some(why) = host::no_rdma() {
        lines.push(Line::new(State::Note, "RDMA", why));
    }
    lines
}

fn interface(of: &Interface) -> Line {
    let name = of.name.as_str();
    if of.flags & UP == 0 {
        return Line::new(State::Note, name, "down").with(format!("ip link set {name} up"));
    }
    if of.flags & LOOPBACK != 0 {
        return Line::new(State::Good, name, "up, reaches this host only");
    }
    if of.flags & RUNNING == 0 {
        return Line::new(
            State::Note,
            name,
            "up, without a carrier: no cable, or the other end is down",
        );
    }
    match speed(of).filter(|speed| *speed > 0) {
        Some(speed) if speed < SLOW => {
            Line::new(State::Note, name, format!("up, slow: {speed} Mb/s"))
        }
        Some(speed) => Line::new(State::Good, name, format!("up, {speed} Mb/s")),
        None => Line::new(State::Good, name, "up, it tells no speed"),
    }
}

/// In megabits a second. The folder may be of another network namespace, with interfaces of the same names.
fn speed(of: &Interface) -> Option<i64> {
    let folder = Path::new("/sys/class/net").join(&of.name);
    let is_same = word(&folder, "ifindex")? == of.index.to_string();
    is_same.then(|| word(&folder, "speed")?.parse().ok())?
}
