//! The components of this library: the one line a new transport adds.

use crate::uct::base::md::ComponentHandle;
use crate::uct::{loopback, shm};

/// In the order in which `uct_query_components` lists them.
pub static COMPONENTS: [ComponentHandle; 3] = [
    ComponentHandle {
        component: &loopback::SelfComponent,
    },
    ComponentHandle {
        component: &shm::SysvComponent,
    },
    ComponentHandle {
        component: &shm::PosixComponent,
    },
];
