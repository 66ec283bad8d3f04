//! Where values come from: the process environment first, `ucx.conf` below it.
//!
//! Called by `Config::read`, which takes one look at the environment for a whole table. Names are
//! complete here (`UCX_TLS`, `MPI_UCX_TLS`).

use super::{PREFIX, file};
use crate::ucs::log;
use once_cell::race::OnceBox;
use std::collections::BTreeMap;

/// The environment at one moment, and the files.
pub struct Source {
    environment: Vec<(String, String)>,
    files: &'static BTreeMap<String, String>,
}

impl Source {
    pub fn now() -> Source {
        static FILES: OnceBox<BTreeMap<String, String>> = OnceBox::new();
        // The log's own options come first: what is said of a file would else have them read while it is.
        log::start();
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            let name = name
                .into_string()
                .ok()
                .filter(|name| name.contains(PREFIX))?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        Source {
            environment: environment.collect(),
            files: FILES.get_or_init(|| Box::new(file::read_all())),
        }
    }

    /// Made of given texts.
    #[cfg(test)]
    pub fn of(environment: &[(&str, &str)], files: &[(&str, &str)]) -> Source {
        let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs
                .iter()
                .map(|(name, text)| (name.to_string(), text.to_string()))
                .collect()
        };
        let files = Box::leak(Box::new(own(files).into_iter().collect()));
        Source {
            environment: own(environment),
            files,
        }
    }

    /// The text of `name`: of the environment, else of a file.
    pub fn lookup(&self, name: &str) -> Option<String> {
        if let Some((_, text)) = self.environment.iter().find(|(known, _)| known == name) {
            return Some(text.clone());
        }
        self.files.get(name).cloned()
    }
}

/// Every variable of the environment whose name begins with `prefix`, in the order of the names.
pub fn with_prefix(prefix: &str) -> Vec<(String, String)> {
    let mut variables: Vec<_> = std::env::vars_os()
        .filter_map(|(name, text)| {
            let name = name
                .into_string()
                .ok()
                .filter(|name| name.starts_with(prefix))?;
            Some((name, text.to_string_lossy().into_owned()))
        })
        .collect();
    variables.sort_unstable();
    variables
}
