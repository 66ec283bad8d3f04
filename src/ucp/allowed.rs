//! The transports and devices that `UCX_TLS` and the device lists allow, and warnings about unknown names in them.
//!
//! Used by contexts when they enumerate transports.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::config::TABLE;
use crate::ucs::config::{AllowList, Allowed, Config, Var, nearest, var};
use crate::ucs_warn;
use crate::uct::api::{Device, Transport};

/// A transport of this machine on one of its devices.
pub type Here = (&'static dyn Transport, Device);

/// The device lists: variable, device type, and name in messages.
const DEVICE_LISTS: [(Var<Allowed>, uct_device_type_t, &str); 4] = [
    (var!(TABLE, "NET_DEVICES"), UCT_DEVICE_TYPE_NET, "network"),
    (
        var!(TABLE, "SHM_DEVICES"),
        UCT_DEVICE_TYPE_SHM,
        "intra-node",
    ),
    (
        var!(TABLE, "ACC_DEVICES"),
        UCT_DEVICE_TYPE_ACC,
        "accelerator",
    ),
    (
        var!(TABLE, "SELF_DEVICES"),
        UCT_DEVICE_TYPE_SELF,
        "loopback",
    ),
];

/// Whether an item of `UCX_TLS` matches a transport: its name, one of its groups, or `all`. A backslash quotes the name,
/// and `:aux` after it restricts the transport to wire-up, which each of ours can do.
fn means(item: &str, transport: &dyn Transport, config: &Config) -> bool {
    let name = item.split(':').next().unwrap_or(item);
    match name.strip_prefix('\\') {
        Some(exact) => exact == transport.name(),
        None if name == "all" => !transport.is_only_by_name(config),
        None => name == transport.name() || transport.groups().contains(&name),
    }
}

/// Whether `UCX_TLS` allows a transport.
pub fn transport(config: &Config, transport: &dyn Transport) -> bool {
    let any = |items: &[String]| {
        items
            .iter()
            .any(|item| means(item.trim(), transport, config))
    };
    match config.allow_list(var!(TABLE, "TLS")) {
        AllowList::All => !transport.is_only_by_name(config),
        AllowList::Only(items) => any(items),
        AllowList::AllBut(items) => !any(items) && !transport.is_only_by_name(config),
    }
}

/// Whether the log tells why a transport is not used: not of one that `UCX_TLS` would have to name.
pub fn is_offered(config: &Config, of: &dyn Transport) -> bool {
    !of.is_only_by_name(config) || transport(config, of)
}

/// Whether the list for devices of its kind allows a device.
pub fn device(config: &Config, device: &Device) -> bool {
    DEVICE_LISTS
        .iter()
        .filter(|(_, kind, _)| *kind == device.kind)
        .all(|(row, _, _)| config.allow_list(*row).allows(&device.name))
}

/// The variable, without prefix, with the list for devices of this kind.
pub fn device_list(kind: uct_device_type_t) -> &'static str {
    let mut lists = DEVICE_LISTS.iter();
    lists
        .find(|(_, of, _)| *of == kind)
        .map_or(DEVICE_LISTS[0].0, |(row, _, _)| *row)
        .name()
}

/// Whether each name in the lists is a transport in `here`, or a device of one.
pub fn are_known(config: &Config, here: &[Here]) -> bool {
    let transports = match config.allow_list(var!(TABLE, "TLS")) {
        AllowList::Only(items) => unknown_transports(config, items, here).is_empty(),
        _ => true,
    };
    transports
        && DEVICE_LISTS
            .iter()
            .all(|(row, kind, _)| match config.allow_list(*row) {
                AllowList::Only(items) => unknown_devices(items, *kind, here).is_empty(),
                _ => true,
            })
}

fn unknown_transports<'a>(config: &Config, items: &'a [String], here: &[Here]) -> Vec<&'a str> {
    let items = items.iter().map(|item| item.trim());
    items
        .filter(|item| !here.iter().any(|(t, _)| means(item, *t, config)))
        .collect()
}

fn unknown_devices<'a>(
    items: &'a [String],
    kind: uct_device_type_t,
    here: &[Here],
) -> Vec<&'a str> {
    let is_here = |item: &str| here.iter().any(|(_, d)| d.kind == kind && d.name == item);
    items
        .iter()
        .map(String::as_str)
        .filter(|item| !is_here(item))
        .collect()
}

/// Warns about unknown names in the lists. `here`: every available transport with its device.
pub fn report(config: &Config, here: &[Here]) {
    if !config.bool(var!(TABLE, "WARN_INVALID_CONFIG")) {
        return;
    }
    if let AllowList::Only(items) = config.allow_list(var!(TABLE, "TLS")) {
        let unknown = unknown_transports(config, items, here);
        let mut names: Vec<&str> = here.iter().map(|(t, _)| t.name()).collect();
        names.extend(here.iter().flat_map(|(t, _)| t.groups()));
        names.sort_unstable();
        names.dedup();
        warn("transport", &unknown, &names, &names.join(", "));
    }
    for (row, kind, what) in DEVICE_LISTS {
        let AllowList::Only(items) = config.allow_list(row) else {
            continue;
        };
        let mut devices: Vec<(&str, &str)> = here
            .iter()
            .filter(|(_, d)| d.kind == kind)
            .map(|(t, d)| (d.name.as_str(), t.name()))
            .collect();
        devices.sort_unstable();
        let unknown = unknown_devices(items, kind, here);
        let names: Vec<&str> = devices.iter().map(|(d, _)| *d).collect();
        let texts: Vec<String> = devices.iter().map(|(d, t)| format!("'{d}'({t})")).collect();
        warn(
            &format!("{what} device"),
            &unknown,
            &names,
            &texts.join(", "),
        );
    }
}

fn warn(what: &str, unknown: &[&str], names: &[&str], offered: &str) {
    if unknown.is_empty() {
        return;
    }
    let (plural, verb) = if unknown.len() == 1 {
        ("", "is")
    } else {
        ("s", "are")
    };
    let quoted: Vec<String> = unknown.iter().map(|u| format!("'{u}'")).collect();
    let near: Vec<&str> = unknown
        .iter()
        .flat_map(|u| nearest(u, names.iter().copied()))
        .collect();
    let maybe = if near.is_empty() {
        String::new()
    } else {
        format!(" (maybe: {}?)", near.join(", "))
    };
    let offered = if offered.is_empty() {
        "none is here"
    } else {
        offered
    };
    ucs_warn!(
        "{what}{plural} {} {verb} not available{maybe}, please use one or more of: {offered}",
        quoted.join(","),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uct::registry::numbered;

    #[test]
    fn items_mean_what_they_mean_upstream() {
        let config = Config::read_lenient(&TABLE);
        for (item, transport, expected) in [
            ("all", "tcp", true),
            ("\\all", "tcp", false),
            ("sm", "cma", true),
            ("shm", "sysv", true),
            ("mm", "posix", true),
            ("mm", "cma", false),
            ("\\mm", "posix", false),
            ("\\posix", "posix", true),
            ("tcp:aux", "tcp", true),
            ("tcp", "self", false),
            ("ib", "tcp", false),
            ("ib", "ud_verbs", true),
            ("ud", "ud_verbs", true),
            ("ud_v:aux", "ud_verbs", true),
            ("\\ud", "ud_verbs", false),
            ("", "tcp", false),
        ] {
            let found = numbered().into_iter().find(|(_, t)| t.name() == transport);
            let (_, of_name) = found.unwrap();
            let means = means(item, of_name, &config);
            assert_eq!(means, expected, "{item} for {transport}");
        }
        for (_, transport) in numbered() {
            let by_name = transport.is_only_by_name(&config);
            assert_eq!(means("all", transport, &config), !by_name);
        }
    }
}
