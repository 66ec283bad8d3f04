//! Active-message dispatch: the table of handlers of an interface.
//!
//! A handler may replace handlers, also its own, while it runs: the entry is copied first. Ids from `AM_IDS` on belong
//! to the library (tag matching): users can neither send nor handle them, and they are tested after the user's ids, so
//! that they cost users nothing.

use crate::c::*;
use crate::ucs::{Result, Status, log};
use crate::ucs_warn;
use crate::uct::base::copy::Payload;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::NonNull;

/// Ids of users are below this.
pub const AM_IDS: usize = UCT_AM_ID_MAX;

/// A handler of the library's own ids: argument, id, bytes, length.
pub type Internal = unsafe fn(*const c_void, u8, *const u8, usize);

/// A handler of messages as first word and rest: argument, word, rest. Returns whether more is wanted at once: a transport
/// that can leave messages with their sender does so until the next progress if not.
pub type ShortHandler = unsafe fn(*mut c_void, u64, Payload<'_>) -> bool;

/// Whether a handler may keep a message after it has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    No,
    /// A copy of it.
    Copy,
    /// The message itself, by `InternalIface::keep`.
    InPlace,
}

/// A handler of messages that it may keep: argument, bytes, how.
pub type KeepHandler = unsafe fn(*mut c_void, &[u8], Keep);

/// Direct placement of the bytes of a long message after a head of `head` bytes. The bytes that are not placed come as
/// a shorter message with the same head.
pub struct Placing {
    pub head: usize,
    pub place: PlaceFn,
    pub placed: PlacedFn,
}

/// Returns the buffer for the next bytes of a message, at least one byte long: argument, the message's head, number of
/// bytes left. `None` if the rest has to come as a message. Valid until anything else is called.
pub type PlaceFn = unsafe fn(*mut c_void, &[u8], usize) -> Option<(NonNull<u8>, usize)>;

/// Bytes were placed: argument, the message's head, their number, whether they are the last.
pub type PlacedFn = unsafe fn(*mut c_void, &[u8], usize, bool);

#[derive(Clone, Copy)]
struct AmSlot {
    cb: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, u32) -> ucs_status_t,
    arg: *mut c_void,
    /// Does the same as `cb`, for messages of a word and fewer than `short_end` bytes.
    short: ShortHandler,
    short_end: usize,
    placing: Option<&'static Placing>,
}

/// The handlers of one interface, by id.
pub struct AmTable {
    handlers: [Cell<AmSlot>; AM_IDS],
    /// Each does the same as the `cb` of its id. Apart: a longer `AmSlot` costs every message an instruction.
    keeping: [Cell<Option<KeepHandler>>; AM_IDS],
    tracer: Cell<(uct_am_tracer_t, *mut c_void)>,
    internal: Cell<Option<(Internal, *const c_void)>>,
}

/// A message without handler: dropped.
unsafe extern "C" fn unhandled(
    arg: *mut c_void,
    _data: *mut c_void,
    len: usize,
    _flags: u32,
) -> ucs_status_t {
    ucs_warn!(
        "active message id {} of {} bytes dropped: no handler is set for it",
        arg as usize,
        len
    );
    UCS_OK
}

/// The short handler of a slot without one, which no message is short enough for.
unsafe fn unhandled_short(_arg: *mut c_void, _word: u64, _rest: Payload<'_>) -> bool {
    true
}

fn none(id: usize) -> AmSlot {
    AmSlot {
        cb: unhandled,
        arg: id as *mut c_void,
        short: unhandled_short,
        short_end: 0,
        placing: None,
    }
}

/// Whether received messages are logged.
fn shows_data() -> bool {
    log::level() >= log::Level::TraceData as u32
}

impl AmTable {
    #[allow(clippy::new_without_default)]
    pub fn new() -> AmTable {
        AmTable {
            handlers: core::array::from_fn(|id| Cell::new(none(id))),
            keeping: core::array::from_fn(|_| Cell::new(None)),
            tracer: Cell::new((None, core::ptr::null_mut())),
            internal: Cell::new(None),
        }
    }

    /// Sets the handler of the library's own ids.
    pub fn set_internal(&self, to: Option<(Internal, *const c_void)>) {
        self.internal.set(to);
    }

    /// Sets or (with `None`) clears the handler of `id`.
    pub fn set(&self, id: u8, cb: uct_am_callback_t, arg: *mut c_void) -> Result<()> {
        let slot = self
            .handlers
            .get(id as usize)
            .ok_or(Status::INVALID_PARAM)?;
        slot.set(match cb {
            Some(cb) => AmSlot {
                cb,
                arg,
                ..none(id as usize)
            },
            None => none(id as usize),
        });
        if let Some(keeping) = self.keeping.get(id as usize) {
            keeping.set(None);
        }
        Ok(())
    }

    /// Sets `short` for messages of `id` with a word and a rest of at most `short_max` bytes. It has to do the same as
    /// the handler that was just set. Not while received messages are logged, which `invoke` does.
    pub fn set_short(&self, id: u8, short: ShortHandler, short_max: usize) {
        self.amend(id, |handler| AmSlot {
            short,
            // Not so many that the length of a message without a word were fewer.
            short_end: short_max.min(isize::MAX as usize) + 1,
            ..handler
        });
    }

    /// Lowers the longest rest that comes to the short handler of `id` to `short_max` bytes.
    pub fn shorten(&self, id: u8, short_max: usize) {
        self.amend(id, |handler| AmSlot {
            short_end: handler.short_end.min(short_max + 1),
            ..handler
        });
    }

    /// Sets `placing` for long messages of `id`, with the argument that was just set. Not while received messages are
    /// logged.
    pub fn set_placing(&self, id: u8, placing: &'static Placing) {
        let placing = Some(placing);
        self.amend(id, |handler| AmSlot { placing, ..handler });
    }

    /// Sets `keeping` for messages of `id` that are not passed by parts. It has to do the same as the handler that was
    /// just set. Not while received messages are logged, which `invoke` does.
    pub fn set_keeping(&self, id: u8, keeping: KeepHandler) {
        if let Some(slot) = self.keeping.get(id as usize).filter(|_| !shows_data()) {
            slot.set(Some(keeping));
        }
    }

    /// The handler for messages of `id` that it may keep, with its argument.
    pub fn keeping(&self, id: u8) -> Option<(KeepHandler, *mut c_void)> {
        let keeping = self.keeping.get(id as usize)?.get()?;
        Some((keeping, self.handlers.get(id as usize)?.get().arg))
    }

    fn amend(&self, id: u8, with: impl FnOnce(AmSlot) -> AmSlot) {
        if let Some(slot) = self.handlers.get(id as usize).filter(|_| !shows_data()) {
            slot.set(with(slot.get()));
        }
    }

    /// The placing of long messages of `id`, with its argument.
    pub fn placing(&self, id: u8) -> Option<(&'static Placing, *mut c_void)> {
        let handler = self.handlers.get(id as usize)?.get();
        handler.placing.map(|placing| (placing, handler.arg))
    }

    /// The short handler for a message of `id` with a word and a rest of `len` bytes, with its argument; `None` if
    /// `invoke` has to be called.
    #[inline(always)]
    pub fn short(&self, id: u8, len: usize) -> Option<(ShortHandler, *mut c_void)> {
        let handler = self.handlers.get(id as usize)?.get();
        (len < handler.short_end).then_some((handler.short, handler.arg))
    }

    /// Passes a message that stands in a descriptor to the handler of its id: to the short handler if that is for it, else,
    /// after `restore`, to the other. `false`: the user keeps the descriptor. Unless it `LOGS`, received messages are not
    /// logged, which the caller has looked at.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes, and stand in a descriptor after `restore`.
    #[inline(always)]
    pub unsafe fn invoke_desc<const LOGS: bool>(
        &self,
        id: u8,
        data: *mut u8,
        len: usize,
        restore: impl FnOnce(),
    ) -> bool {
        let Some(slot) = self.handlers.get(id as usize) else {
            restore();
            // SAFETY: as promised by the caller.
            return unsafe { self.internal(id, data, len) } != UCS_INPROGRESS;
        };
        let h = slot.get();
        // Of a message that has no word this is more than any limit.
        let rest = len.wrapping_sub(size_of::<u64>());
        if rest < h.short_end {
            // SAFETY: by the caller's promise.
            let word = unsafe { data.cast::<u64>().read_unaligned() };
            // SAFETY: by the caller's promise, behind the word.
            let rest = unsafe { Payload::new(data.wrapping_add(size_of::<u64>()), rest) };
            // SAFETY: the handler with its argument, as set.
            unsafe { (h.short)(h.arg, word, rest) };
            return true;
        }
        restore();
        if LOGS && log::enabled(log::Level::TraceData) {
            // SAFETY: as promised by the caller.
            unsafe { self.log(UCT_AM_TRACE_TYPE_RECV, id, data, len) };
        }
        let flags = UCT_CB_PARAM_FLAG_DESC;
        // SAFETY: the user's handler with its argument, as set.
        unsafe { (h.cb)(h.arg, data.cast(), len, flags) != UCS_INPROGRESS }
    }

    pub fn set_tracer(&self, tracer: uct_am_tracer_t, arg: *mut c_void) {
        self.tracer.set((tracer, arg));
    }

    /// Lets the user's tracer describe a message; empty without one.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    pub unsafe fn trace(
        &self,
        kind: uct_am_trace_type_t,
        id: u8,
        data: *const u8,
        len: usize,
    ) -> String {
        let (Some(tracer), arg) = self.tracer.get() else {
            return String::new();
        };
        let mut text = [0u8; 1024];
        // SAFETY: the user's tracer with its argument; it writes a C string of at most `max` bytes.
        unsafe {
            tracer(
                arg,
                kind,
                id,
                data.cast(),
                len,
                text.as_mut_ptr().cast(),
                text.len(),
            )
        };
        let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..end]).into_owned()
    }

    /// Calls the handler of `id`. `flags` are `UCT_CB_PARAM_FLAG_*`. Returns the handler's status: with the DESC flag,
    /// INPROGRESS means that the user keeps the descriptor.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes; with DESC it must stand in a descriptor.
    #[inline]
    pub unsafe fn invoke(&self, id: u8, data: *mut u8, len: usize, flags: u32) -> ucs_status_t {
        let Some(slot) = self.handlers.get(id as usize) else {
            // SAFETY: as promised by the caller.
            return unsafe { self.internal(id, data, len) };
        };
        let h = slot.get();
        if crate::ucs::log::enabled(crate::ucs::log::Level::TraceData) {
            // SAFETY: as promised by the caller.
            unsafe { self.log(UCT_AM_TRACE_TYPE_RECV, id, data, len) };
        }
        // SAFETY: the user's handler with its argument, as set.
        unsafe { (h.cb)(h.arg, data.cast(), len, flags) }
    }

    /// A message with an id that is none of the user's.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    #[inline(never)]
    unsafe fn internal(&self, id: u8, data: *const u8, len: usize) -> ucs_status_t {
        match self.internal.get() {
            // SAFETY: set together with its argument by who owns it.
            Some((to, arg)) => unsafe { to(arg, id, data, len) },
            None => ucs_warn!(
                "active message dropped: id {id} from the peer is out of range, or a tagged message \
                 for an interface that was opened without callbacks for unexpected ones"
            ),
        }
        UCS_OK
    }

    /// Logs one message at TRACE_DATA.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    #[cold]
    pub unsafe fn log(&self, kind: uct_am_trace_type_t, id: u8, data: *const u8, len: usize) {
        // SAFETY: as promised by the caller.
        let text = unsafe { self.trace(kind, id, data, len) };
        let way = if kind == UCT_AM_TRACE_TYPE_SEND {
            "TX"
        } else {
            "RX"
        };
        crate::ucs_log!(TraceData, "{way}: am_id {id} len {len} {text}");
    }
}
