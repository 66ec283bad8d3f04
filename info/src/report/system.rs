//! `-s`: the processor, its clock, and the machine.
#![forbid(unsafe_code)]

use super::Report;
use crate::library::system::ticks;
use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::json;
use std::time::{Duration, Instant};

/// How long the counter is compared with the system's clock.
const MEASURED: Duration = Duration::from_millis(100);

pub fn report(library: &Library, _options: &Options) -> Result<Report> {
    let rate = library.clock_rate();
    let accuracy = accuracy(rate);
    let (vendor, model, product) = (library.cpu_vendor(), library.cpu_model(), library.product());
    let clock = format!(
        "# Timer frequency: {:.3} MHz\n# Timer accuracy: {:.3} %\n",
        rate / 1e6,
        accuracy * 100.0
    );
    Ok(Report {
        name: "system",
        text: format!(
            "{clock}# CPU vendor: {vendor}\n# CPU model: {model}\n# Product name: {product}\n"
        ),
        json: json!({
            "timer_hz": rate,
            "timer_accuracy": accuracy,
            "cpu_vendor": vendor,
            "cpu_model": model,
            "product": product,
        }),
    })
}

/// The counter's rate as the system's clock sees it, over the one that the library assumes, or the other way round.
fn accuracy(rate: f64) -> f64 {
    let (started, first) = (Instant::now(), ticks());
    while started.elapsed() < MEASURED {}
    let measured = (ticks() - first) as f64 / started.elapsed().as_secs_f64();
    (measured / rate).min(rate / measured)
}
