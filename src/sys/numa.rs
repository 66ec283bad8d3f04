//! Memory nodes and processors as sysfs describes them.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

const NODES: &str = "/sys/devices/system/node";
const CPUS: &str = "/sys/devices/system/cpu";

/// The nodes that are online, the node itself included, and its distance from each, in the units of the system: 10 for its own
/// memory.
pub fn distances(node: u32) -> Option<Vec<(u32, u32)>> {
    let online = fs::read_to_string(format!("{NODES}/online")).ok()?;
    let row = fs::read_to_string(format!("{NODES}/node{node}/distance")).ok()?;
    row_of_nodes(&online, &row)
}

/// How far two nodes are apart, in these units.
pub fn distance(from: u32, to: u32) -> Option<u32> {
    let row = distances(from)?;
    let found = row.into_iter().find(|(node, _)| *node == to);
    found.map(|(_, distance)| distance)
}

/// The kernel lists a distance for each node that is online, whose numbers may have gaps.
fn row_of_nodes(online: &str, row: &str) -> Option<Vec<(u32, u32)>> {
    let nodes = numbers(online).map(|node| node as u32);
    let distances = row.split_whitespace().map(|d| d.parse().ok());
    nodes
        .zip(distances)
        .map(|(node, d)| Some((node, d?)))
        .collect()
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
    fn distances_are_of_the_nodes_that_are_online() {
        let row = row_of_nodes("0,2-3\n", "10 20 30\n");
        assert_eq!(row, Some(vec![(0, 10), (2, 20), (3, 30)]));
        assert_eq!(row_of_nodes("0-1\n", "10 far\n"), None);
    }

    #[test]
    fn there_is_a_node_and_a_processor() {
        assert!(nodes() >= 1 && cpus() >= 1);
    }
}
