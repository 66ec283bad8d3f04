//! How puts and gets go whose memory is a device's: asked by those that post them, and by the tables of protocols.
#![forbid(unsafe_code)]

use super::zcopy::Direction;
use crate::c::{UCS_MEMORY_TYPE_HOST, ucs_memory_type_t};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Lane};
use crate::ucp::staging;
use crate::uct::base::memory_copier::MemoryCopier;
use std::sync::Arc;

/// Fewer bytes of the host are put by a message, which has them when the call returns: a device takes microseconds to begin.
pub const FROM_HOST: usize = 8 << 10;

/// The lane whose devices copy between the data and memory of a type of the peer's. `None` where the access goes by messages.
pub fn lane(ep: &Ep, data: &Data, remote: ucs_memory_type_t, direction: Direction) -> Option<Lane> {
    let (_, kind) = data.block().filter(|_| !data.is_empty())?;
    if direction == Direction::Put && kind == UCS_MEMORY_TYPE_HOST && data.len() < FROM_HOST {
        return None;
    }
    ep.device_lane(remote)
}

/// What starts a copy between the data and the peer's memory that is mapped here. `None` where the copy is made within the call.
pub fn copier<'a>(ep: &'a Ep, data: &Data) -> Option<&'a Arc<dyn MemoryCopier>> {
    let device_memory = &ep.worker().context().device_memory;
    let is_long = data.len() >= staging::SHORTEST;
    device_memory.copier(data.memory_type()).filter(|_| is_long)
}
