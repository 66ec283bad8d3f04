//! `ucx.conf`: variables in files, below the environment.
//!
//! Read once, at the first lookup. The files, later ones over earlier ones: the system's, the one of
//! our own installation, `$HOME`, `$UCX_CONFIG_DIR`, and the current directory. What the user's
//! environment names is not read in a process with raised privileges, and the file in the current
//! directory only when it belongs to the effective user: a file somebody left in a shared directory
//! must not configure us.
//!
//! INI form: `NAME=value`, `#` comments, and `[sections]` whose conditions (`CPU vendor`, `CPU
//! model`, `Product name`) must all hold for their variables to count.

use crate::sys::machine;
use crate::{ucs_debug, ucs_warn};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "ucx.conf";
/// Nothing that a person wrote is longer.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// The variables of all files that exist.
pub fn read_all() -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for (path, own_only) in search_path() {
        read_file(&path, own_only, &mut variables);
    }
    variables
}

/// The places in order, and whether the file must belong to the effective user.
fn search_path() -> Vec<(PathBuf, bool)> {
    let mut places = vec![(Path::new("/etc/ucx").join(FILE_NAME), false)];
    // A relative path would lead to a file beside the current directory.
    let library = machine::own_path().filter(|path| path.is_absolute());
    if let Some(prefix) = library
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent)
    {
        places.push((prefix.join("etc/ucx").join(FILE_NAME), false));
    }
    if !machine::secure_execution() {
        for variable in ["HOME", "UCX_CONFIG_DIR"] {
            if let Some(folder) = std::env::var_os(variable).filter(|folder| !folder.is_empty()) {
                places.push((Path::new(&folder).join(FILE_NAME), false));
            }
        }
        places.push((Path::new(".").join(FILE_NAME), true));
    }
    places
}

/// Reads a file that a client names.
pub fn read_one(path: &Path, variables: &mut BTreeMap<String, String>) {
    read_file(path, false, variables);
}

fn read_file(path: &Path, own_only: bool, variables: &mut BTreeMap<String, String>) {
    use std::io::Read;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    // A pipe of this name must not stop us, hence non-blocking; the checks are on the open file.
    let opened = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path);
    let Ok(file) = opened else { return };
    let Ok(about) = file.metadata() else { return };
    if !about.is_file() {
        return;
    }
    if own_only && about.uid() != machine::effective_user() {
        ucs_debug!("{} belongs to another user, not read", path.display());
        return;
    }
    let mut text = Vec::new();
    if let Err(e) = file.take(MAX_FILE_SIZE).read_to_end(&mut text) {
        ucs_warn!("cannot read {}: {e}", path.display());
        return;
    }
    ucs_debug!("reading {}", path.display());
    parse(
        &String::from_utf8_lossy(&text),
        &path.display().to_string(),
        &holds,
        variables,
    );
}

/// Adds the variables of `text`; `holds` answers for the conditions of sections.
fn parse(
    text: &str,
    path: &str,
    holds: &dyn Fn(&str, &str) -> bool,
    variables: &mut BTreeMap<String, String>,
) {
    let mut active = true;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') {
            active = true;
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            ucs_warn!("{path}:{number}: '{line}' is not NAME=value, ignored");
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if is_condition(name) {
            active &= holds(name, value);
        } else if active {
            variables.insert(name.to_owned(), value.to_owned());
        }
    }
}

fn is_condition(name: &str) -> bool {
    matches!(name, "CPU vendor" | "CPU model" | "Product name")
}

/// Whether the machine is of that kind; conditions we do not know do not hold.
fn holds(condition: &str, wanted: &str) -> bool {
    let actual = match condition {
        "CPU vendor" => machine::cpu().vendor.map(str::to_owned),
        "CPU model" => machine::cpu().model.map(str::to_owned),
        "Product name" => machine::product_name(),
        _ => None,
    };
    actual.is_some_and(|actual| actual.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_count_when_their_conditions_hold() {
        let text = "UCX_A = 1\n# UCX_A=9\n\n[one]\nCPU vendor=V\nUCX_B=2\n\
                    [two]\nCPU vendor=V\nCPU model=other\nUCX_C=3\n[three]\nUCX_A=4\nnonsense\n\
                    [four]\nProduct name=P Q\n UCX_D= a=b \n";
        let mut variables = BTreeMap::new();
        let machine = |name: &str, value: &str| {
            matches!((name, value), ("CPU vendor", "V") | ("Product name", "P Q"))
        };
        parse(text, "test", &machine, &mut variables);
        let got: Vec<_> = variables.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(got, ["UCX_A=4", "UCX_B=2", "UCX_D=a=b"]);
    }
}
