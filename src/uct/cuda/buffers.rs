//! Staging buffers: memory of the host that the driver has pinned, kept for the next message.
#![forbid(unsafe_code)]

use crate::sys::cuda::{Allocation, Context, Streams};
use crate::sys::lock::Mutex;
use crate::ucs::{Result, Status};
use crate::ucs_debug;
use crate::uct::base::memory_copier::{BufferPool, HostBuffer, MessageLength, STAGING_BUFFER};
use std::sync::Arc;

/// Buffers that are kept, those of four long messages at a time; and most that short messages have made.
const KEPT: usize = 16;

/// The pool of a memory domain.
pub struct Buffers {
    streams: Arc<Streams>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    free: Vec<Vec<u8>>,
    /// Buffers that are in use.
    lent: usize,
    /// Where all pinned buffers begin, and the contexts that they are pinned in.
    pinned: Vec<(usize, Context)>,
}

impl Buffers {
    pub fn new(streams: &Arc<Streams>) -> Buffers {
        Buffers {
            streams: Arc::clone(streams),
            state: Mutex::default(),
        }
    }

    /// A buffer for copies from or to an allocation. One that cannot be pinned does too, and is slower.
    /// `NO_MEMORY` for a short message while as many are in use as are kept.
    pub fn take(self: &Arc<Self>, of: &Allocation, length: MessageLength) -> Result<HostBuffer> {
        let kept = {
            let mut state = self.state.lock();
            if length == MessageLength::Short && state.lent >= KEPT {
                return Err(Status::NO_MEMORY);
            }
            state.lent += 1;
            state.free.pop()
        };
        let made = match kept {
            Some(bytes) => Ok(bytes),
            None => self.make(of),
        };
        let bytes = made.inspect_err(|_| self.state.lock().lent -= 1)?;
        Ok(HostBuffer::new(bytes, Some(self.clone())))
    }

    fn make(&self, of: &Allocation) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(STAGING_BUFFER)
            .map_err(|_| Status::NO_MEMORY)?;
        bytes.resize(STAGING_BUFFER, 0);
        let at = bytes.as_ptr().expose_provenance();
        match self.streams.pin(at, bytes.len(), of) {
            Ok(Some(context)) => self.state.lock().pinned.push((at, context)),
            Ok(None) => {}
            Err(e) => ucs_debug!("a staging buffer is not pinned: {e}"),
        }
        Ok(bytes)
    }

    fn unpin(&self, bytes: &[u8], state: &mut State) {
        let at = bytes.as_ptr().addr();
        let of_bytes = state.pinned.iter().position(|(pinned, _)| *pinned == at);
        if let Some(index) = of_bytes {
            let (at, context) = state.pinned.swap_remove(index);
            // With a context that was destroyed, all its pinning has ended.
            let _ = self.streams.unpin(at, context);
        }
    }
}

impl BufferPool for Buffers {
    fn put(&self, bytes: Vec<u8>) {
        let mut state = self.state.lock();
        state.lent -= 1;
        if state.free.len() < KEPT {
            state.free.push(bytes);
        } else {
            self.unpin(&bytes, &mut state);
        }
    }

    fn is_exhausted(&self) -> bool {
        self.state.lock().lent >= KEPT
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        let mut state = core::mem::take(self.state.get_mut());
        for bytes in core::mem::take(&mut state.free) {
            self.unpin(&bytes, &mut state);
        }
    }
}
