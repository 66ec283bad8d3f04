//! Data descriptors that handlers of active messages keep: received data, in memory of ours or where the transport has
//! them, and messages that wait at their sender. The user names all by the pointer that its handler got.
//!
//! While a handler runs, its message is the current one and can be taken by that pointer too. If the handler keeps it,
//! it goes into the table; any other pointer finds nothing.
#![forbid(unsafe_code)]

use crate::ucp::rts::Waiting;
use crate::ucp::worker_core::InPlace;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use std::collections::HashMap;

/// Bytes of a message, at an aligned place that does not move.
pub struct Buffer {
    memory: Vec<u8>,
    at: usize,
}

impl Buffer {
    /// A copy of `bytes` at a multiple of `align`, a power of two.
    pub fn copy(bytes: &[u8], align: usize) -> Buffer {
        Buffer::copy_into(Vec::new(), bytes, align)
    }

    /// The same in `memory`, as far as that is long enough.
    pub fn copy_into(mut memory: Vec<u8>, bytes: &[u8], align: usize) -> Buffer {
        memory.clear();
        memory.reserve(bytes.len() + align.max(1));
        let at = memory.as_ptr().align_offset(align.max(1));
        memory.resize(at, 0);
        memory.extend_from_slice(bytes);
        Buffer { memory, at }
    }

    /// Takes over `bytes`, moved only if they are not aligned.
    pub fn own(bytes: Vec<u8>, align: usize) -> Buffer {
        if is_aligned(bytes.as_ptr(), align) {
            Buffer {
                memory: bytes,
                at: 0,
            }
        } else {
            Buffer::copy(&bytes, align)
        }
    }

    /// Its memory, for another copy.
    pub fn into_memory(self) -> Vec<u8> {
        self.memory
    }

    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.at..]
    }
}

/// Whether `at` is a multiple of `align`, a power of two.
#[inline]
pub fn is_aligned(at: *const u8, align: usize) -> bool {
    debug_assert!(align.max(1).is_power_of_two());
    at.addr() & (align.max(1) - 1) == 0
}

/// The place of a message that waits at its sender.
#[derive(Default)]
pub struct Home(Cell<Option<Waiting>>);

/// A kept descriptor.
pub enum Kept {
    Data(Buffer),
    InPlace(InPlace),
    /// Boxed: its address is the user's pointer.
    Waiting(Box<Home>),
}

impl Kept {
    /// The pointer the user knows it by.
    fn handle(&self) -> usize {
        match self {
            Kept::Data(b) => b.bytes().as_ptr().addr(),
            Kept::InPlace(p) => p.bytes().as_ptr().addr(),
            Kept::Waiting(a) => core::ptr::from_ref(a.as_ref()).addr(),
        }
    }
}

/// The message of a handler that is running. Small: each message puts one here and takes it back.
struct Current {
    handle: usize,
    /// `None` once it is taken.
    what: Option<CurrentData>,
}

pub enum CurrentData {
    /// Readable until the handler returns.
    Bytes {
        ptr: *const u8,
        len: usize,
    },
    Waiting(Box<Home>),
}

/// The data that a pointer of the user names.
pub enum TakenData {
    /// Of the running handler.
    Current(CurrentData),
    Kept(Kept),
}

/// So many may stay in descriptors; of further ones there are copies.
const MOST_IN_PLACE: usize = 4096;

/// The kept data of a worker.
pub struct KeptData {
    table: RefCell<HashMap<usize, Kept>>,
    /// How many of them are where their transport has them.
    in_place: Cell<usize>,
    current: Cell<Option<Current>>,
    /// The memory of the last message at its sender that ended.
    spare: Cell<Option<Box<Home>>>,
}

impl KeptData {
    #[allow(clippy::new_without_default)]
    pub fn new() -> KeptData {
        KeptData {
            table: RefCell::new(HashMap::new()),
            in_place: Cell::new(0),
            current: Cell::new(None),
            spare: Cell::new(None),
        }
    }

    /// A place for a message at its sender, of which the user gets the address.
    pub fn home_of(&self, message: Waiting) -> Box<Home> {
        let home = self.spare.take().unwrap_or_default();
        home.0.set(Some(message));
        home
    }

    /// The user's pointer to such a message is used up. Returns the message, which is there.
    pub fn end_home(&self, home: Box<Home>) -> Option<Waiting> {
        let message = home.0.take();
        self.spare.set(Some(home));
        message
    }

    /// Calls a handler, whose message may be taken meanwhile; returns it if it was not.
    #[inline]
    pub fn during<R>(
        &self,
        handle: usize,
        what: CurrentData,
        call: impl FnOnce() -> R,
    ) -> (R, Option<CurrentData>) {
        let what = Some(what);
        let outer = self.current.replace(Some(Current { handle, what }));
        let result = call();
        let mine = self.current.replace(outer);
        (result, mine.and_then(|c| c.what))
    }

    /// Whether one more may stay in a descriptor: a device's receive buffers are pinned.
    pub fn may_keep_descriptor(&self) -> bool {
        self.in_place.get() < MOST_IN_PLACE
    }

    /// A handler keeps its message.
    pub fn keep(&self, kept: Kept) {
        if let Kept::InPlace(_) = kept {
            self.in_place.set(self.in_place.get() + 1);
        }
        self.table.borrow_mut().insert(kept.handle(), kept);
    }

    /// Removes the data that the user names; `None` for an unknown pointer.
    pub fn take(&self, handle: *const c_void) -> Option<TakenData> {
        let handle = handle.addr();
        let mut current = self.current.take();
        let asked = current.as_mut().filter(|c| c.handle == handle);
        let what = asked.and_then(|c| c.what.take());
        self.current.set(current);
        if let Some(what) = what {
            return Some(TakenData::Current(what));
        }
        let kept = self.table.borrow_mut().remove(&handle)?;
        if let Kept::InPlace(_) = kept {
            self.in_place.set(self.in_place.get() - 1);
        }
        Some(TakenData::Kept(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned() {
        for align in [0, 1, 2, 8, 64, 4096] {
            for len in [0, 1, 100] {
                let bytes: Vec<u8> = (0..len).collect();
                for b in [
                    Buffer::copy(&bytes, align),
                    Buffer::own(bytes.clone(), align),
                ] {
                    assert_eq!(b.bytes(), bytes);
                    assert!(is_aligned(b.bytes().as_ptr(), align));
                }
            }
        }
    }

    #[test]
    fn a_pointer_is_good_once() {
        let all = KeptData::new();
        let b = Buffer::copy(b"abc", 8);
        let at: *const c_void = b.bytes().as_ptr().cast();
        assert!(all.take(at).is_none());
        all.keep(Kept::Data(b));
        assert!(
            matches!(all.take(at), Some(TakenData::Kept(Kept::Data(b))) if b.bytes() == b"abc")
        );
        assert!(all.take(at).is_none());
    }

    #[test]
    fn the_message_of_a_running_handler_can_be_taken_once() {
        let all = KeptData::new();
        let what = || CurrentData::Bytes {
            ptr: core::ptr::null(),
            len: 0,
        };
        let at = 8 as *const c_void;
        let ((), left) = all.during(8, what(), || assert!(all.take(core::ptr::null()).is_none()));
        assert!(left.is_some());
        let ((), left) = all.during(8, what(), || {
            let ((), inner) = all.during(16, what(), || assert!(all.take(at).is_none()));
            assert!(inner.is_some());
            assert!(all.take(at).is_some());
            assert!(all.take(at).is_none());
        });
        assert!(left.is_none());
        assert!(all.take(at).is_none());
    }
}
