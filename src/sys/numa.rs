//! Memory nodes and processors as sysfs describes them.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

const NODES: &str = "/sys/devices/system/node";
const CPUS: &str = "/sys/devices/system/cpu";

/// Distances of a node from all, itself included, in the units of the system: 10 for its own memory.
pub fn distances(node: u32) -> Option<Vec<u32>> {
    let row = fs::read_to_string(format!("{NODES}/node{node}/distance")).ok()?;
    row.split_whitespace().map(|d| d.parse().ok()).collect()
}

/// The processors of a node.
pub fn cpus_of(node: u32) -> Option<Vec<usize>> {
    let list = fs::read_to_string(format!("{NODES}/node{node}/cpulist")).ok()?;
    Some(numbers(&list).collect())
}

/// The node of a processor.
pub fn node_of_cpu(cpu: u32) -> Option<u32> {
    let entries = fs::read_dir(format!("{CPUS}/cpu{cpu}")).ok()?;
    let names = entries.flatten().map(|entry| entry.file_name());
    names
        .filter_map(|name| name.to_str()?.strip_prefix("node")?.parse().ok())
        .next()
}

/// The node of a device's folder in sysfs.
pub fn node_of_device(folder: &Path) -> Option<u32> {
    let text = fs::read_to_string(folder.join("numa_node")).ok()?;
    text.trim().parse().ok()
}

/// One more than the highest number of a node that may be there; 1 where there is but one.
pub fn nodes() -> u32 {
    count(&format!("{NODES}/possible"))
}

/// One more than the highest number of a processor that may be there.
pub fn cpus() -> u32 {
    count(&format!("{CPUS}/possible"))
}

fn count(file: &str) -> u32 {
    let list = fs::read_to_string(file).unwrap_or_default();
    numbers(&list).max().map_or(1, |last| last as u32 + 1)
}

/// The numbers of a sysfs list such as `0-3,8`.
fn numbers(list: &str) -> impl Iterator<Item = usize> + '_ {
    list.trim().split(',').flat_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse(), last.parse::<usize>()) {
            (Ok(first), Ok(last)) => first..last.saturating_add(1),
            _ => 0..0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysfs_lists() {
        assert_eq!(numbers("0-2,8\n").collect::<Vec<_>>(), [0, 1, 2, 8]);
        assert_eq!(numbers("\n").count(), 0);
    }

    #[test]
    fn there_is_a_node_and_a_processor() {
        assert!(nodes() >= 1 && cpus() >= 1);
    }
}
