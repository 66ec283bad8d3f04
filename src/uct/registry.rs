//! The components of this library: the one line a new transport adds.

use crate::ucs::config::Table;
use crate::uct::api::Component;
use crate::uct::base::md::ComponentHandle;
use crate::uct::{cma, ib, loopback, shm, tcp};

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

/// All components.
pub fn components() -> &'static [ComponentHandle] {
    #[cfg(test)]
    if let Some(others) = OTHERS.get() {
        return others;
    }
    &COMPONENTS
}

#[cfg(test)]
thread_local! {
    static OTHERS: core::cell::Cell<Option<&'static [ComponentHandle]>> =
        const { core::cell::Cell::new(None) };
}

/// Lets this thread see other components than the library's: simulated ones.
#[cfg(test)]
pub fn stand_in(others: Option<&'static [ComponentHandle]>) {
    OTHERS.set(others);
}
