//! Where values come from: the process environment first, `ucx.conf` below it.
//!
//! Called by `Config::read`, and for the tables of clients, which take one look at the environment for a whole table.
//! Names are complete here (`UCX_TLS`, `MPI_UCX_TLS`).

use super::file;
use crate::sys::fork::ForkLocked;
use crate::ucs::log;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// The environment at one moment, and the files.
pub struct Source {
    environment: Vec<(String, OsString)>,
    files: Arc<BTreeMap<String, String>>,
}

/// What the files say; none until they are read.
static FILES: ForkLocked<Option<Arc<BTreeMap<String, String>>>> = ForkLocked::new(None);

/// Names of the environment's variables that were read.
static USED: ForkLocked<BTreeSet<String>> = ForkLocked::new(BTreeSet::new());

fn files() -> Arc<BTreeMap<String, String>> {
    if let Some(files) = FILES.with(|files| files.clone()) {
        return files;
    }
    // Without the lock: what is said of a file goes to log handlers of the client, which may ask for options.
    let read = Arc::new(file::read_all());
    FILES.with(|files| files.get_or_insert(read).clone())
}

/// Reads one file more. What it says counts over what others said, or else only where they say nothing.
pub fn add_file(path: &Path, over_others: bool) {
    log::start();
    let mut variables = BTreeMap::new();
    file::read_one(path, &mut variables);
    let mut all = (*files()).clone();
    for (name, text) in variables {
        if over_others {
            all.insert(name, text);
        } else {
            all.entry(name).or_insert(text);
        }
    }
    let all = Some(Arc::new(all));
    // What it replaces is dropped without the lock.
    drop(FILES.with(|files| core::mem::replace(files, all)));
}

/// Forgets the files; they are read again when they are needed.
pub fn forget_files() {
    drop(FILES.with(Option::take));
}

/// Whether a variable of the environment was read under this name.
pub fn was_used(name: &str) -> bool {
    USED.with(|used| used.contains(name))
}

impl Source {
    pub fn now() -> Source {
        // The log's own options come first: what is said of a file would else have them read while it is.
        log::start();
        let environment =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Source {
            environment: environment.collect(),
            files: files(),
        }
    }

    /// Made of given texts.
    #[cfg(test)]
    pub fn of(environment: &[(&str, &str)], files: &[(&str, &str)]) -> Source {
        let environment = environment.iter();
        let files = files.iter();
        Source {
            environment: environment
                .map(|(name, text)| (name.to_string(), text.into()))
                .collect(),
            files: Arc::new(
                files
                    .map(|(name, text)| (name.to_string(), text.to_string()))
                    .collect(),
            ),
        }
    }

    /// The text of `name`: of the environment, else of a file.
    pub fn lookup(&self, name: &str) -> Option<String> {
        if let Some((_, text)) = self.environment.iter().find(|(known, _)| known == name) {
            USED.with(|used| used.insert(name.to_owned()));
            return Some(text.to_string_lossy().into_owned());
        }
        self.files.get(name).cloned()
    }

    /// The names with a text that contain `part`.
    pub fn names_with(&self, part: &str) -> Vec<&str> {
        let environment = self.environment.iter().map(|(name, _)| name);
        environment
            .chain(self.files.keys())
            .map(String::as_str)
            .filter(|name| name.contains(part))
            .collect()
    }

    /// Whether there is a text for `name`.
    pub fn has(&self, name: &str) -> bool {
        self.environment.iter().any(|(known, _)| known == name) || self.files.contains_key(name)
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
