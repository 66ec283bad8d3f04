//! Where values come from: the process environment first, `ucx.conf` below it.
//!
//! Called by `Config::read`. Remembers which variables were used, for the line at INFO that lists
//! them. Names are complete here (`UCX_TLS`, `MPI_UCX_TLS`).

use super::file;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

static USED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

fn used_names() -> MutexGuard<'static, BTreeMap<String, String>> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The text of `name` and whether it came from a file: environment, else `ucx.conf`.
pub fn lookup(name: &str) -> Option<String> {
    if let Some(value) = std::env::var_os(name) {
        let value = value.to_string_lossy().into_owned();
        used_names().insert(name.to_owned(), value.clone());
        return Some(value);
    }
    static FILES: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    FILES.get_or_init(file::read_all).get(name).cloned()
}

/// Every variable of the environment that a table has used so far, with its text.
pub fn used() -> Vec<(String, String)> {
    used_names()
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Every variable of the environment whose name begins with `prefix`, in the order of the names.
pub fn with_prefix(prefix: &str) -> Vec<String> {
    let mut names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort_unstable();
    names
}
