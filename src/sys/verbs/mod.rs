//! RDMA devices through `libibverbs.so.1` and connections between them through `librdmacm.so.1`. Each is loaded the first
//! time that somebody needs it, and only where the kernel has a device.
//!
//! `table` loads the library, `device` opens devices, `queue` has completion queues, shared receive queues and connected
//! queue pairs, `datagram` has queue pairs for datagrams, `cm` has
//! connections by socket address. Objects own what they were made from, so that everything is destroyed in the right order.

mod cm;
mod datagram;
mod device;
mod queue;
mod table;

pub use cm::{CmChannel, CmEvent, CmId, CmPath, PairNumber, PairNumbers};
pub use datagram::{AddressHandle, DatagramPair};
pub use device::{Access, Device, Event, Port, Region, Source, device_names, prepare_fork};
pub use queue::{
    Caps, CompletionQueue, Completions, Poster, QueuePair, ReceiveQueue, Receives, Route, refusal,
};
pub use table::{has_devices, has_peer_memory, is_device};
