//! The components of this library: the one line a new transport adds.
#![forbid(unsafe_code)]

use crate::ucs::config::Table;
use crate::uct::api::{Component, Transport};
use crate::uct::base::md::ComponentHandle;
use crate::uct::{cma, cuda, ib, loopback, shm, tcp};
use once_cell::race::OnceRef;

/// The handle of a component, which the table consists of.
pub const fn handle(component: &'static dyn Component) -> ComponentHandle {
    ComponentHandle { component }
}

/// In the order in which `uct_query_components` lists them.
pub static COMPONENTS: [ComponentHandle; 9] = [
    handle(&loopback::SelfComponent),
    handle(&tcp::TcpComponent),
    handle(&shm::SysvComponent),
    handle(&shm::PosixComponent),
    handle(&cuda::CudaComponent),
    handle(&cuda::CudaIpcComponent),
    handle(&cma::CmaComponent),
    handle(&ib::IbComponent),
    handle(&ib::RdmaCmComponent),
];

/// The tables of options of all components and transports, in the order in which they are printed.
pub fn tables() -> Vec<&'static Table> {
    let mut tables = Vec::new();
    for handle in &COMPONENTS {
        let component = handle.component;
        tables.push(component.md_config());
        tables.extend(component.cm_config());
        tables.extend(
            component
                .transports()
                .iter()
                .map(|transport| transport.config()),
        );
    }
    // A component without memory domains has no variables of them.
    tables.retain(|table| table.parent.is_some() || !table.rows.is_empty());
    tables
}

/// Components that a test has put in place of the library's.
static REPLACED: OnceRef<'static, &'static [ComponentHandle]> = OnceRef::new();

/// All components.
pub fn components() -> &'static [ComponentHandle] {
    match REPLACED.get() {
        Some(others) => others,
        None => &COMPONENTS,
    }
}

/// Replaces all components, before the first use of the library: `tests/simulation` and `tests/skeleton` run UCP on transports of
/// their own.
/// Only the first call has an effect.
pub fn replace(others: &'static &'static [ComponentHandle]) {
    let _ = REPLACED.set(others);
}

/// The transports of a component that UCP connects by, with their numbers in worker addresses.
pub fn numbered_of(
    component: &dyn Component,
) -> impl Iterator<Item = (u8, &'static dyn Transport)> + use<> {
    let transports = component.transports().iter();
    transports.filter_map(|transport| Some((transport.wire_number()?, *transport)))
}

/// Those of all components, in the order of the numbers.
pub fn numbered() -> Vec<(u8, &'static dyn Transport)> {
    let all = components().iter();
    let mut numbered: Vec<_> = all.flat_map(|c| numbered_of(c.component)).collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered
}

/// Whether a number in a worker address is of a transport of this build.
pub fn is_known(number: u8) -> bool {
    let mut all = components().iter().flat_map(|c| numbered_of(c.component));
    all.any(|(of, _)| of == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes of other builds read these numbers.
    #[test]
    fn numbers_in_addresses_do_not_change() {
        let numbers: Vec<_> = numbered()
            .into_iter()
            .map(|(number, transport)| (number, transport.name()))
            .collect();
        let expected = [
            (0, "self"),
            (1, "posix"),
            (2, "sysv"),
            (3, "cma"),
            (4, "tcp"),
            (5, "ud_verbs"),
            (6, "rc_verbs"),
            (7, "cuda_ipc"),
        ];
        assert_eq!(numbers, expected);
        for (number, name) in expected {
            assert!(is_known(number), "{name}");
        }
        assert!(!is_known(8));
    }

    /// A remote key names the component by the number of a transport.
    #[test]
    fn key_numbers_are_unique() {
        let mut numbers: Vec<u8> = COMPONENTS
            .iter()
            .filter_map(|c| c.component.key_number())
            .collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
