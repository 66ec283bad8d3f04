//! Endpoints to processes of upstream UCX, and what these send.
//!
//! They are connected by worker address, over transports that both have (tcp). Messages of upstream's come with the
//! connection that they came by: it names the sender, who has no identity otherwise. What they carry goes to the same
//! functions as ours. `proto/upstream` writes messages.
#![forbid(unsafe_code)]

mod connect;
mod handlers;
mod wireup;

pub use connect::connect;
pub use handlers::on_event;
