//! Variables of the environment that nobody knows, and the warning about them.
//!
//! `names.txt` holds, sorted and without `UCX_`, our own names and those of UCX 1.13 to 1.22 with all its
//! components: a variable for a transport that we do not have is no mistake. What is in none of
//! these is reported once for a job, by the first worker: not again in a child of a process that has
//! this library loaded and so has reported it, and only by the first process of a parallel job on
//! each node.

use super::{PREFIX, env, global};
use crate::sys::fork::ForkLocked;
use crate::sys::machine;
use crate::ucs::config::var;
use crate::{ucs_info, ucs_warn};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

const NAMES: &str = include_str!("names.txt");

/// Variables by which launchers number the processes of a job on one node.
const LOCAL_RANKS: [&str; 4] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "PMIX_LOCAL_RANK",
    "SLURM_LOCALID",
];

/// More suggestions than this help nobody.
const MAX_SUGGESTIONS: usize = 3;

fn names() -> impl Iterator<Item = &'static str> {
    NAMES.lines()
}

/// Warns once about variables nobody knows; at INFO lists the others.
pub fn warn_unused() {
    // Inherited by fork, so that a child does not repeat it. Relaxed: it guards nothing else.
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let variables = env::with_prefix(PREFIX);
    let (known, unknown): (Vec<_>, Vec<_>) = variables
        .iter()
        .partition(|(name, _)| is_known(name) || env::was_used(name));
    let warns = global::current().bool(var!(global::TABLE, "WARN_UNUSED_ENV_VARS"));
    if !unknown.is_empty() && warns && first_of_job() {
        let texts: Vec<_> = unknown
            .iter()
            .map(|(name, _)| with_suggestions(name))
            .collect();
        let plural = if texts.len() == 1 { "" } else { "s" };
        ucs_warn!(
            "unused environment variable{plural}: {}\n({PREFIX}WARN_UNUSED_ENV_VARS=n turns this warning off)",
            texts.join("; ")
        );
    }
    if !known.is_empty() {
        let texts: Vec<_> = known
            .iter()
            .map(|(name, text)| format!("{name}={text}"))
            .collect();
        let plural = if texts.len() == 1 { "" } else { "s" };
        ucs_info!("UCX_* env variable{plural}: {}", texts.join(" "));
    }
}

/// Warns, once for each prefix, about variables of a client's that nobody has read.
pub fn warn_unused_with(prefix: &str) {
    static DONE: ForkLocked<BTreeSet<String>> = ForkLocked::new(BTreeSet::new());
    if !DONE.with(|done| done.insert(prefix.to_owned())) {
        return;
    }
    let unknown: Vec<_> = env::with_prefix(prefix)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !env::was_used(name))
        .collect();
    let warns = global::current().bool(var!(global::TABLE, "WARN_UNUSED_ENV_VARS"));
    if !unknown.is_empty() && warns && first_of_job() {
        let plural = if unknown.len() == 1 { "" } else { "s" };
        ucs_warn!(
            "unused environment variable{plural}: {}\n({PREFIX}WARN_UNUSED_ENV_VARS=n turns this warning off)",
            unknown.join("; ")
        );
    }
}

/// The variables of the environment that were read, as `NAME=text`, with `delimiter` behind each.
pub fn used_variables(delimiter: &str) -> String {
    let variables = env::with_prefix(PREFIX).into_iter();
    variables
        .filter(|(name, _)| env::was_used(name))
        .map(|(name, text)| format!("{name}={text}{delimiter}"))
        .collect()
}

/// An unknown name and what may be meant.
fn with_suggestions(name: &str) -> String {
    match suggestions(name) {
        near if near.is_empty() => name.to_owned(),
        near => format!("{name} (maybe: {}?)", near.join(", ")),
    }
}

/// Whether some release of UCX has this variable.
pub fn is_known(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|rest| names().any(|known| known == rest))
}

/// How the names of upstream's components begin that are not ours.
const FOREIGN_COMPONENTS: [&str; 17] = [
    "RC_", "UD_", "DC_", "GGA_", "IB_", "SRD_", "CUDA_", "UGNI_", "ROCM_", "XPMEM_", "SCOPY_",
    "GDR_", "KNEM_", "ZE_", "GAUDI_", "RCACHE_", "EFA_",
];

/// Whether some release of UCX has this option, named without `UCX_`, in a component that we do not have.
pub fn is_of_foreign_component(name: &str) -> bool {
    FOREIGN_COMPONENTS
        .iter()
        .any(|start| name.starts_with(start))
        && names().any(|known| known == name)
}

/// Complete names that are a few letters away, the nearest first.
fn suggestions(name: &str) -> Vec<String> {
    let wanted = name
        .strip_prefix(PREFIX)
        .unwrap_or(name)
        .to_ascii_uppercase();
    nearest(&wanted, names())
        .into_iter()
        .map(|known| format!("{PREFIX}{known}"))
        .collect()
}

/// The names that are a few letters away from what was written, the nearest first.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = (wanted.len() / 4).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = names
        .filter(|known| known.len().abs_diff(wanted.len()) <= limit)
        .map(|known| (strsim::osa_distance(known, wanted), known))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    let nearest = near.first().map_or(0, |(distance, _)| *distance);
    near.into_iter()
        .take_while(|(distance, _)| *distance <= nearest + 1)
        .take(MAX_SUGGESTIONS)
        .map(|(_, known)| known)
        .collect()
}

/// Whether no process above or beside this one has reported already.
fn first_of_job() -> bool {
    let rank = LOCAL_RANKS.iter().find_map(|name| std::env::var(name).ok());
    let first_rank = rank.is_none_or(|rank| rank.trim().parse().unwrap_or(0u64) == 0);
    first_rank && !machine::ancestor_has_this_library()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_clean() {
        let all: Vec<_> = names().collect();
        assert!(all.len() > 1000);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(all.iter().all(|name| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        }));
    }

    #[test]
    fn unknown_names_come_with_near_ones() {
        for (name, expected) in [
            ("UCX_FOO_BAR", "UCX_FOO_BAR"),
            ("UCX_NET_DEVICE", "UCX_NET_DEVICE (maybe: UCX_NET_DEVICES?)"),
            ("UCX_TLSS", "UCX_TLSS (maybe: UCX_TLS?)"),
            ("UCX_TSL", "UCX_TSL (maybe: UCX_TLS?)"),
            ("UCX_tls", "UCX_tls (maybe: UCX_TLS?)"),
        ] {
            assert!(!is_known(name));
            assert_eq!(with_suggestions(name), expected);
        }
        assert!(is_of_foreign_component("IB_GID_INDEX") && !is_of_foreign_component("IB_NOTHING"));
        assert!(!is_of_foreign_component("TLS") && !is_of_foreign_component("LOG_FILE"));
        assert!(is_known("UCX_IB_GID_INDEX") && is_known("UCX_TLS") && !is_known("TLS"));
    }
}
