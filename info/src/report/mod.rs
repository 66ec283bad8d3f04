//! The reports of the letters, in upstream's order: each is collected as JSON's value or printed as upstream's text.
#![forbid(unsafe_code)]

mod build;
mod config;
mod copies;
mod devices;
mod system;
mod topology;
mod types;
mod ucp;
mod version;

use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::{Map, Value};

/// One thing that was asked for.
struct Report {
    /// Its member of the JSON object.
    name: &'static str,
    text: String,
    json: Value,
}

pub fn print(library: &Library, options: &Options) -> std::result::Result<(), String> {
    let mut json = Map::new();
    if options.json {
        json.extend(version::identity(library));
    }
    type Maker = fn(&Library, &Options) -> Result<Report>;
    let config = options.config || options.decorated || options.hidden || options.comment_defaults;
    let makers: [(bool, Maker); 9] = [
        (options.version, version::report),
        (options.build, build::report),
        (options.types, types::report),
        (options.devices, devices::report),
        (options.system, system::report),
        (options.topology, topology::report),
        (options.copies, copies::report),
        (config, config::report),
        (options.asks_for_ucp(), ucp::report),
    ];
    for (_, make) in makers.iter().filter(|(asked, _)| *asked) {
        let report = make(library, options).map_err(|e| e.to_string())?;
        if options.json {
            json.insert(report.name.to_owned(), report.json);
        } else {
            print!("{}", report.text);
        }
    }
    if options.json {
        println!("{:#}", Value::Object(json));
    }
    Ok(())
}
