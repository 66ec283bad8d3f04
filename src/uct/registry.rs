//! The components of this library: the one line a new transport adds.

use crate::ucs::config::Table;
use crate::uct::api::Component;
use crate::uct::base::md::ComponentHandle;
use crate::uct::{cma, ib, loopback, shm, tcp};
use once_cell::race::OnceRef;

const fn handle(component: &'static dyn Component) -> ComponentHandle {
    ComponentHandle { component }
}

/// In the order in which `uct_query_components` lists them.
pub static COMPONENTS: [ComponentHandle; 6] = [
    handle(&loopback::SelfComponent),
    handle(&tcp::TcpComponent),
    handle(&shm::SysvComponent),
    handle(&shm::PosixComponent),
    handle(&cma::CmaComponent),
    handle(&ib::IbComponent),
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

/// Replaces all components, before the first use of the library: `tests/simulation` runs UCP on simulated ones.
/// Only the first call has an effect.
pub fn replace(others: &'static &'static [ComponentHandle]) {
    let _ = REPLACED.set(others);
}
