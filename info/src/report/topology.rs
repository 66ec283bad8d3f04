//! `-T`: devices of the system, the bandwidth between each two, and the latency from each to memory.
#![forbid(unsafe_code)]

use super::Report;
use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::{Value, json};

pub fn report(library: &Library, _options: &Options) -> Result<Report> {
    // Devices are known once somebody asked for those of each domain.
    for component in library.components()? {
        for domain in &component.domains {
            if let Ok(md) = component.open(domain) {
                md.resources()?;
            }
        }
    }
    let devices = library.system_devices();
    let mut between = vec![header("MB/s", &devices)];
    let mut memory = vec![header("device", &devices), vec!["nsec".to_owned()]];
    let mut json = Vec::<Value>::new();
    for (one, name) in (0_u8..).zip(&devices) {
        let mut row = vec![name.clone()];
        let mut to = Vec::new();
        for (other, other_name) in (0_u8..).zip(&devices) {
            let distance = library.distance(one, other)?;
            row.push(match one == other {
                true => "-".to_owned(),
                false => format!("{:.1}", distance.bandwidth / 1048576.0),
            });
            to.push(json!({
                "device": other_name,
                "bytes_per_second": finite(distance.bandwidth),
                "seconds": distance.latency,
            }));
        }
        between.push(row);
        let latency = library.distance_to_memory(one).latency;
        memory[1].push(format!("{:.0}", latency * 1e9));
        json.push(json!({ "device": name, "distances": to, "memory_seconds": latency }));
    }
    let text = format!(
        "#\n# System topology\n#\n{}#\n# NUMA memory latency\n#\n{}# Memory latency is calculated according to the CPU affinity\n",
        table(&between),
        table(&memory)
    );
    Ok(Report {
        name: "topology",
        text,
        json: json.into(),
    })
}

/// JSON has no infinity.
fn finite(number: f64) -> Value {
    number.is_finite().then_some(number).into()
}

fn header(corner: &str, devices: &[String]) -> Vec<String> {
    let mut row = vec![corner.to_owned()];
    row.extend(devices.iter().cloned());
    row
}

/// Rows of cells with lines around them.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    let line = format!("# +{}+\n", dashes.join("+"));
    let mut text = line.clone();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!(" {cell:>width$} "))
            .collect();
        text += &format!("# |{}|\n{line}", cells.join("|"));
    }
    text
}
