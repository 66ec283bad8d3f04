//! The components of this library: the one line a new transport adds.

use crate::uct::api::Component;
use crate::uct::base::md::ComponentHandle;
use crate::uct::{cma, loopback, shm, tcp};

const fn handle(component: &'static dyn Component) -> ComponentHandle {
    ComponentHandle { component }
}

/// In the order in which `uct_query_components` lists them.
pub static COMPONENTS: [ComponentHandle; 5] = [
    handle(&loopback::SelfComponent),
    handle(&tcp::TcpComponent),
    handle(&shm::SysvComponent),
    handle(&shm::PosixComponent),
    handle(&cma::CmaComponent),
];
