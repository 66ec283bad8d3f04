//! RDMA devices through `libibverbs.so.1`, which is loaded the first time that somebody asks for devices, and only
//! where the kernel has any.
//!
//! `table` loads the library, `device` opens devices, `queue` has completion queues, shared receive queues and connected
//! queue pairs, `datagram` has queue pairs for datagrams. Objects own what they were made from, so that everything is destroyed in the right order.

mod datagram;
mod device;
mod queue;
mod table;

pub use datagram::{AddressHandle, DatagramPair};
pub use device::{Access, Device, Event, Port, Region, device_names, prepare_fork};
pub use queue::{Caps, CompletionQueue, QueuePair, ReceiveQueue, Route};
pub use table::has_devices;
