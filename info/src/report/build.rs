//! `-b`: the settings of the library's build, in the form of a C header as upstream's.
#![forbid(unsafe_code)]

use super::Report;
use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::{Map, json};

pub fn report(library: &Library, _options: &Options) -> Result<Report> {
    let version = library.version();
    let release = version
        .rsplit_once('.')
        .map_or(&*version, |(release, _)| release);
    let mut defined = vec![
        ("PACKAGE_NAME".to_owned(), json!("ucx")),
        ("PACKAGE_VERSION".to_owned(), json!(release)),
    ];
    if let Some(build) = library.build() {
        defined.push(("PACKAGE_IMPLEMENTATION".to_owned(), json!(build.name)));
        defined.push(("PACKAGE_COMMIT".to_owned(), json!(build.commit)));
        for (name, value) in build.settings {
            let number = value.parse::<u64>();
            let value = number.map_or_else(|_| json!(value), |number| json!(number));
            defined.push((name.to_uppercase(), value));
        }
    }
    let lines = defined.iter();
    Ok(Report {
        name: "build",
        text: lines
            .map(|(name, value)| format!("#define {name:<25} {value}\n"))
            .collect(),
        json: defined.into_iter().collect::<Map<_, _>>().into(),
    })
}
