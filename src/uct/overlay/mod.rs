//! Endpoints whose messages are carried over the endpoints of other interfaces.
//!
//! `iface`: an interface with such endpoints. To its user it is one as any other; what its endpoints send goes to a
//! `Carrier`, which is code above UCT. `path`: an endpoint of another interface, by which a carrier sends. No component has
//! this interface: who needs it opens it.

pub mod iface;
pub mod path;

pub use iface::{Carrier, Endpoint, Overlay};
pub use path::Path;
