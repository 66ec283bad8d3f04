//! `MessageLane`: the lane for messages, and how one transport message is sent by it.

use super::lanes::Lane;
use super::pack_buffer::PackBuffer;
use crate::c::*;
use crate::ucp::plan::Thresholds;
use crate::ucs::{Result, Status, tracepoint};
use crate::uct::base::copy::Room;
use crate::uct::internal::{Short, base_of};
use crate::wire::header::AmId;
use core::ffi::c_void;

/// The lane for messages and its limits, which the send path reads without a look into the array of lanes.
#[derive(Clone, Copy)]
pub struct MessageLane {
    pub ep: uct_ep_h,
    pub iface: usize,
    /// Which entry of the peer's address it leads to.
    pub entry: usize,
    /// The longest payload of a short message after eight bytes of header.
    pub max_short: usize,
    /// The longest buffered message, and the longest that is a piece of one.
    pub max_bcopy: usize,
    pub max_piece: usize,
    /// The longest zero-copy message, its longest header, and most entries of a list; 0 if not supported.
    pub max_zcopy: usize,
    pub max_zcopy_header: usize,
    pub max_zcopy_entries: usize,
    pub thresholds: Thresholds,
    /// `None` if the transport has no short messages, or they cannot hold a header.
    pub am_short: Option<Short>,
    pub am_bcopy: uct_ep_am_bcopy_func_t,
    pub am_zcopy: uct_ep_am_zcopy_func_t,
}

/// The lane of an endpoint whose peer is not known.
pub const NO_LANE: MessageLane = MessageLane {
    ep: core::ptr::null_mut(),
    iface: 0,
    entry: 0,
    max_short: 0,
    max_bcopy: 0,
    max_piece: 0,
    max_zcopy: 0,
    max_zcopy_header: 0,
    max_zcopy_entries: 0,
    thresholds: Thresholds::NONE,
    am_short: None,
    am_bcopy: None,
    am_zcopy: None,
};

/// Most bytes that are assembled on the stack for a short message: transports' short messages have up to three cache
/// lines.
const MAX_TOGETHER: usize = 192;

impl MessageLane {
    /// Sends one transport message of `len` bytes, headers included, that `fill` writes. A short one
    /// leaves as such: it then stands in the transport's queue itself and not in a buffer beside it.
    #[inline]
    pub fn packed<F: FnMut(&mut PackBuffer<'_>)>(
        &self,
        id: AmId,
        len: usize,
        mut fill: F,
    ) -> Result<usize> {
        const HEADER: usize = size_of::<u64>();
        let room = self.max_short.min(MAX_TOGETHER - HEADER);
        if let Some(send) = self.am_short
            && (HEADER..=HEADER + room).contains(&len)
        {
            let mut words = [[0u8; HEADER]; MAX_TOGETHER / HEADER];
            let mut buffer = PackBuffer::new(words.as_flattened_mut().into());
            fill(&mut buffer);
            let n = buffer.filled();
            let [first, rest @ ..] = &words;
            let first = u64::from_ne_bytes(*first);
            tracepoint::send(id as u8, n);
            let rest = rest.as_ptr().cast();
            // SAFETY: a live transport endpoint; the bytes are ours.
            let code = unsafe { send(self.ep, id as u8, first, rest, n - HEADER) };
            return Status::from_code(code).map_or(Ok(n), Err);
        }
        bcopy(
            self.ep,
            (self.am_bcopy, self.max_piece),
            id as u8,
            &mut fill,
        )
    }

    /// Sends one transport message, which `fill` writes; returns its length.
    pub fn bcopy<F: FnMut(&mut PackBuffer<'_>)>(&self, id: AmId, fill: F) -> Result<usize> {
        self.bcopy_as(id as u8, fill)
    }

    /// The same of a message of the peer's dialect.
    pub fn bcopy_as<F: FnMut(&mut PackBuffer<'_>)>(&self, id: u8, mut fill: F) -> Result<usize> {
        bcopy(self.ep, (self.am_bcopy, self.max_piece), id, &mut fill)
    }

    /// Sends a control message.
    pub fn control(&self, id: AmId, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.max_bcopy {
            return Err(Status::EXCEEDS_LIMIT);
        }
        self.packed(id, bytes.len(), |buffer| buffer.bytes(bytes.into()))
            .map(drop)
    }

    /// The same of a message of the peer's dialect.
    pub fn control_as(&self, id: u8, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.max_bcopy {
            return Err(Status::EXCEEDS_LIMIT);
        }
        self.bcopy_as(id, |buffer| buffer.bytes(bytes.into()))
            .map(drop)
    }
}

impl Lane {
    /// Whether its transport endpoint is connected; `None` where the connections of the interface tell that.
    pub fn is_connected(&self) -> Option<bool> {
        // SAFETY: a live transport endpoint of ours.
        unsafe { (base_of((*self.ep).iface).internal.ops.is_ep_connected)(self.ep) }
    }

    /// As `MessageLane::bcopy`, by any lane, of at most `room` bytes.
    pub fn bcopy<F: FnMut(&mut PackBuffer<'_>)>(
        &self,
        id: AmId,
        room: usize,
        mut fill: F,
    ) -> Result<usize> {
        // SAFETY: a live transport endpoint.
        let am_bcopy = unsafe { (*(*self.ep).iface).ops.ep_am_bcopy };
        bcopy(self.ep, (am_bcopy, room), id as u8, &mut fill)
    }
}

/// Sends one transport message by a live transport endpoint with its operation, which has at least so much room. `fill` stays where
/// it is: what was just written word by word and is copied by more than a word waits for all stores before it, those of the last
/// message among them, into lines that its receiver has.
#[inline]
fn bcopy<F: FnMut(&mut PackBuffer<'_>)>(
    ep: uct_ep_h,
    (am_bcopy, room): (uct_ep_am_bcopy_func_t, usize),
    id: u8,
    fill: &mut F,
) -> Result<usize> {
    unsafe extern "C" fn shim<F: FnMut(&mut PackBuffer<'_>)>(
        dest: *mut c_void,
        arg: *mut c_void,
    ) -> usize {
        // SAFETY: `arg` is that of the call below, which is still under way.
        let (fill, room) = unsafe { &mut *arg.cast::<(&mut F, usize)>() };
        // SAFETY: the transport's buffer is as long as its interface or endpoint says.
        let mut buffer = PackBuffer::new(unsafe { Room::new(dest.cast(), *room) });
        fill(&mut buffer);
        buffer.filled()
    }
    let Some(send) = am_bcopy else {
        return Err(Status::UNSUPPORTED);
    };
    let mut arg = (fill, room);
    let arg = core::ptr::from_mut(&mut arg).cast();
    // SAFETY: a live transport endpoint; the closure outlives the call.
    let n = unsafe { send(ep, id, Some(shim::<F>), arg, 0) };
    let sent = Status::check_length(n)?;
    tracepoint::send(id, sent);
    Ok(sent)
}
