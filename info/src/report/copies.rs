//! `-M`: bytes a second of copies within memory, by length.
#![forbid(unsafe_code)]

use super::Report;
use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

const LONGEST: usize = 256 << 20;
const SHORTEST: usize = 4096;
/// Each length is copied again until this much time has gone.
const MEASURED: Duration = Duration::from_millis(20);

pub fn report(_library: &Library, _options: &Options) -> Result<Report> {
    let source = vec![1_u8; LONGEST];
    let mut target = vec![2_u8; LONGEST];
    let mut text = String::from("# Memcpy bandwidth:\n");
    let mut json = Vec::<Value>::new();
    let mut length = SHORTEST;
    while length <= LONGEST {
        let started = Instant::now();
        let mut copied = 0;
        while copied == 0 || started.elapsed() < MEASURED {
            target[..length].copy_from_slice(std::hint::black_box(&source[..length]));
            std::hint::black_box(&mut target);
            copied += length;
        }
        let bandwidth = copied as f64 / started.elapsed().as_secs_f64();
        let _ = writeln!(
            text,
            "#     {length:10} bytes: {:.3} MB/s",
            bandwidth / 1048576.0
        );
        json.push(json!({ "bytes": length, "bytes_per_second": bandwidth }));
        length *= 2;
    }
    Ok(Report {
        name: "copies",
        text,
        json: json.into(),
    })
}
