//! Posted receives and eager messages: matching, fragments, what nobody waits for, cancelling.
//!
//! A context's private bytes say where it is: posted, getting fragments, getting the data of a
//! rendezvous, or about to be called for the last time. Cancelling looks there. A message whose receive
//! is cancelled while its fragments come is not lost: it is matched anew, with what has arrived.

use super::Engine;
use super::blocks::Blocks;
use super::jobs::Later;
use super::wire;
use crate::c::*;
use crate::ucs::tag_match::EntryId;
use crate::ucs::{Result, Status};
use crate::uct::base::iov::Iov;
use crate::{ucs_error, ucs_warn};
use core::cell::Cell;
use core::ffi::c_void;

/// Fragmented messages under way that no receive has matched.
const MAX_ARRIVING: usize = 1 << 16;

/// A posted receive.
pub struct Receive {
    pub ctx: *mut uct_tag_context_t,
    pub tag: u64,
    pub mask: u64,
    pub blocks: Blocks,
    pub capacity: usize,
}

/// Tag, immediate, whole length and what has come of a fragmented message.
#[derive(Clone, Copy)]
pub struct Message {
    tag: u64,
    imm: u64,
    total: usize,
    got: usize,
}

/// Where the fragments of a message go.
pub enum FragmentTarget {
    Receive(Receive),
    /// To the user's callback, with the user's word for this message.
    Callback(*mut c_void),
    /// Here, until the message is matched anew.
    Kept(Vec<u8>),
    /// Nowhere: it was too long for its receive.
    Dropped,
}

pub struct Arriving {
    message: Message,
    place: FragmentTarget,
}

/// The private bytes of a context.
#[repr(C)]
#[derive(Clone, Copy)]
struct Mark {
    engine: *const Engine,
    state: u64,
    value: u64,
}

const _: () = assert!(size_of::<Mark>() <= UCT_TAG_PRIV_LEN);

/// States of a context. Numbers that memory holds by chance are none of them.
const IDLE: u64 = 0x7461_675f_6964_6c65;
const POSTED: u64 = IDLE + 1;
const ARRIVING: u64 = IDLE + 2;
pub const FETCHING: u64 = IDLE + 3;
/// The value is the address of a `Cell<bool>`: the user took the context back.
const CALLING: u64 = IDLE + 4;
const ENDING: u64 = IDLE + 5;

fn mark_at(ctx: *mut uct_tag_context_t) -> *mut Mark {
    // SAFETY: the address only; contexts we are given are the user's and alive.
    unsafe { core::ptr::addr_of_mut!((*ctx).r#priv).cast() }
}

impl Engine {
    pub(super) fn mark(&self, ctx: *mut uct_tag_context_t, state: u64, value: u64) {
        let mark = Mark {
            engine: self,
            state,
            value,
        };
        // SAFETY: the private bytes of a context in our hands; any alignment.
        unsafe { mark_at(ctx).write_unaligned(mark) };
    }

    pub(super) fn mark_ending(&self, ctx: *mut uct_tag_context_t) {
        self.mark(ctx, ENDING, 0);
    }

    /// Posts a receive.
    ///
    /// # Safety
    /// `ctx` and the buffers must stay alive until the receive ends.
    pub(super) unsafe fn post(
        &self,
        tag: u64,
        mask: u64,
        iov: Iov<'_>,
        ctx: *mut uct_tag_context_t,
    ) -> Result<()> {
        let capacity = iov.total()?;
        if iov.entries().len() > super::MAX_IOV {
            return Err(Status::INVALID_PARAM);
        }
        if self.outstanding.get() >= super::MAX_POSTED {
            return Err(Status::EXCEEDS_LIMIT);
        }
        self.outstanding.set(self.outstanding.get() + 1);
        self.queue(Receive {
            ctx,
            tag,
            mask,
            blocks: Blocks::of(iov),
            capacity,
        });
        Ok(())
    }

    /// Puts a receive behind all others.
    pub(super) fn queue(&self, receive: Receive) {
        let ctx = receive.ctx;
        let (tag, mask) = (receive.tag, receive.mask);
        let id = self.posted.borrow_mut().post(tag, mask, receive);
        self.mark(ctx, POSTED, id.to_bits());
    }

    fn release(&self, ctx: *mut uct_tag_context_t) {
        self.outstanding.set(self.outstanding.get() - 1);
        self.mark(ctx, IDLE, 0);
    }

    /// The last call of a context.
    pub(super) fn finish(
        &self,
        ctx: *mut uct_tag_context_t,
        tag: u64,
        imm: u64,
        len: usize,
        status: Result<()>,
    ) {
        self.release(ctx);
        let code = status.map_or_else(Status::code, |()| UCS_OK);
        // SAFETY: a context of the user that is alive until this call.
        if let Some(cb) = unsafe { (*ctx).completed_cb } {
            // SAFETY: the user's callback with its context; nothing of it is touched afterwards.
            unsafe { cb(ctx, tag, imm, len, core::ptr::null_mut(), code) };
        }
    }

    /// Tells that a context is matched. `false` when the user took it back meanwhile: then it is not
    /// ours any more.
    pub(super) fn consume(&self, ctx: *mut uct_tag_context_t) -> bool {
        // SAFETY: a context in our hands.
        let Some(cb) = (unsafe { (*ctx).tag_consumed_cb }) else {
            return true;
        };
        let taken = Cell::new(false);
        self.mark(ctx, CALLING, core::ptr::from_ref(&taken) as u64);
        // SAFETY: the user's callback with its context.
        unsafe { cb(ctx) };
        !taken.get()
    }

    /// Matches and finishes.
    pub(super) fn end_matched(
        &self,
        ctx: *mut uct_tag_context_t,
        tag: u64,
        imm: u64,
        len: usize,
        status: Result<()>,
    ) {
        if self.consume(ctx) {
            self.finish(ctx, tag, imm, len, status);
        }
    }

    /// A whole message.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    pub(super) unsafe fn eager(&self, tag: u64, imm: u64, data: *const u8, len: usize) {
        let matched = self.posted.borrow_mut().take(tag);
        let Some(receive) = matched else {
            // SAFETY: by the caller's promise.
            unsafe { self.unexpected(tag, imm, data, len, (true, false), core::ptr::null_mut()) };
            return;
        };
        let status = if len > receive.capacity {
            Err(Status::MESSAGE_TRUNCATED)
        } else {
            // SAFETY: by the caller's promise; the user's buffers, alive until completion.
            unsafe { receive.blocks.write(0, data, len) };
            Ok(())
        };
        self.end_matched(receive.ctx, tag, imm, len, status);
    }

    /// Gives data that no receive waits for to the user, in descriptors the user may keep. `ends` says whether
    /// they are the first and whether more of the message follow; the answer is the user's word for
    /// the message.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    unsafe fn unexpected(
        &self,
        tag: u64,
        imm: u64,
        data: *const u8,
        len: usize,
        (first, more): (bool, bool),
        mut word: *mut c_void,
    ) -> *mut c_void {
        let Some(cb) = self.params.eager_cb else {
            ucs_warn!(
                "tagged message {tag:#x} of {len} bytes dropped: no receive matches, and the interface \
                 has no callback for unexpected messages"
            );
            return word;
        };
        let mut at = 0;
        loop {
            let n = (len - at).min(self.descs.capacity());
            let desc = self.descs.get();
            // SAFETY: `n` readable bytes, and a descriptor holds as many.
            unsafe { core::ptr::copy_nonoverlapping(data.wrapping_add(at), desc.payload(), n) };
            let mut flags = UCT_CB_PARAM_FLAG_DESC;
            if first && at == 0 {
                flags |= UCT_CB_PARAM_FLAG_FIRST;
            }
            at += n;
            if more || at < len {
                flags |= UCT_CB_PARAM_FLAG_MORE;
            }
            // SAFETY: the user's callback with its argument; a descriptor of `n` bytes.
            let kept = unsafe {
                cb(
                    self.params.eager_arg,
                    desc.payload().cast(),
                    n,
                    flags,
                    tag,
                    imm,
                    &mut word,
                )
            };
            if kept == UCS_INPROGRESS {
                desc.keep();
            }
            if at == len {
                return word;
            }
        }
    }

    /// The first fragment of a message.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    pub(super) unsafe fn first(
        &self,
        key: u64,
        tag: u64,
        imm: u64,
        total: usize,
        data: *const u8,
        len: usize,
    ) -> Option<()> {
        if len >= total || len == 0 || self.arriving.borrow().contains_key(&key) {
            return None;
        }
        let message = Message {
            tag,
            imm,
            total,
            got: len,
        };
        // SAFETY: by the caller's promise.
        unsafe { self.begin(key, message, data) };
        Some(())
    }

    /// Matches a fragmented message whose first `message.got` bytes are at `data`.
    ///
    /// # Safety
    /// `data` must be readable for so many bytes.
    unsafe fn begin(&self, key: u64, message: Message, data: *const u8) {
        let Message {
            tag,
            imm,
            total,
            got,
        } = message;
        let matched = self.posted.borrow_mut().take(tag);
        let place = match matched {
            Some(receive) if total > receive.capacity => {
                self.keep(key, message, FragmentTarget::Dropped);
                return self.end_matched(
                    receive.ctx,
                    tag,
                    imm,
                    total,
                    Err(Status::MESSAGE_TRUNCATED),
                );
            }
            Some(receive) => {
                // SAFETY: by the caller's promise; the user's buffers, alive until completion.
                unsafe { receive.blocks.write(0, data, got) };
                let ctx = receive.ctx;
                self.mark(ctx, ARRIVING, key);
                self.keep(key, message, FragmentTarget::Receive(receive));
                // SAFETY: a context in our hands; its mark stands, so that it can be cancelled meanwhile.
                if let Some(cb) = unsafe { (*ctx).tag_consumed_cb } {
                    // SAFETY: the user's callback with its context.
                    unsafe { cb(ctx) };
                }
                return;
            }
            None if self.arriving.borrow().len() >= MAX_ARRIVING => {
                ucs_error!(
                    "tagged message {tag:#x} dropped: {MAX_ARRIVING} fragmented messages are under way \
                     already"
                );
                return;
            }
            None => {
                let none = core::ptr::null_mut();
                // SAFETY: by the caller's promise.
                FragmentTarget::Callback(unsafe {
                    self.unexpected(tag, imm, data, got, (true, true), none)
                })
            }
        };
        self.keep(key, message, place);
    }

    fn keep(&self, key: u64, message: Message, place: FragmentTarget) {
        let arriving = Arriving { message, place };
        self.arriving.borrow_mut().insert(key, arriving);
    }

    /// A further fragment. Fragments come in order: a transport keeps the order of an endpoint.
    ///
    /// # Safety
    /// `data` must be readable for `len` bytes.
    pub(super) unsafe fn next(
        &self,
        key: u64,
        offset: u64,
        data: *const u8,
        len: usize,
    ) -> Option<()> {
        let Arriving { message, place } = self.arriving.borrow_mut().remove(&key)?;
        let Message {
            tag,
            imm,
            total,
            got,
        } = message;
        if offset != got as u64 || len == 0 || len > total - got {
            self.keep(key, message, place);
            return None;
        }
        let message = Message {
            got: got + len,
            ..message
        };
        let last = message.got == total;
        let place = match place {
            FragmentTarget::Receive(receive) => {
                // SAFETY: by the caller's promise; the user's buffers, alive until completion.
                unsafe { receive.blocks.write(got, data, len) };
                if last {
                    self.finish(receive.ctx, tag, imm, total, Ok(()));
                    return Some(());
                }
                FragmentTarget::Receive(receive)
            }
            FragmentTarget::Callback(word) => {
                // SAFETY: by the caller's promise.
                let word = unsafe { self.unexpected(tag, imm, data, len, (false, !last), word) };
                if last {
                    return Some(());
                }
                FragmentTarget::Callback(word)
            }
            FragmentTarget::Kept(mut bytes) => {
                let at = bytes.len();
                bytes.resize(at + len, 0);
                // SAFETY: just made as long, and readable.
                unsafe { core::ptr::copy_nonoverlapping(data, bytes[at..].as_mut_ptr(), len) };
                // The last fragment is no end: whoever matches it ends it.
                FragmentTarget::Kept(bytes)
            }
            FragmentTarget::Dropped if last => return Some(()),
            FragmentTarget::Dropped => FragmentTarget::Dropped,
        };
        self.keep(key, message, place);
        Some(())
    }

    /// Matches a message anew whose receive was cancelled.
    pub(super) fn match_again(&self, key: u64) {
        let Some(Arriving { message, place }) = self.arriving.borrow_mut().remove(&key) else {
            return;
        };
        let FragmentTarget::Kept(bytes) = place else {
            return self.keep(key, message, place);
        };
        if message.got == message.total {
            // SAFETY: the bytes of the whole message.
            unsafe { self.eager(message.tag, message.imm, bytes.as_ptr(), bytes.len()) };
        } else {
            // SAFETY: the bytes that have come.
            unsafe { self.begin(key, message, bytes.as_ptr()) };
        }
    }

    /// A rendezvous that users do themselves.
    pub(super) fn requested(&self, tag: u64, header: &[u8]) {
        let matched = self.posted.borrow_mut().take(tag);
        let Some(receive) = matched else {
            return self.unexpected_rndv(tag, header, 0, 0, None);
        };
        let ctx = receive.ctx;
        if !self.consume(ctx) {
            return;
        }
        self.release(ctx);
        // SAFETY: a context of the user that is alive until this call.
        if let Some(cb) = unsafe { (*ctx).rndv_cb } {
            let (at, len) = (header.as_ptr().cast(), header.len() as u32);
            // SAFETY: the user's callback with its context; the header stands in a buffer of ours.
            unsafe { cb(ctx, tag, at, len, UCS_OK, UCT_TAG_RECV_CB_INLINE_DATA) };
        } else {
            ucs_warn!("a rendezvous request of tag {tag:#x} met a receive without rndv_cb");
        }
    }

    /// Tells the user of a rendezvous that no receive waits for. `rkey` is `None` where there is no key.
    pub(super) fn unexpected_rndv(
        &self,
        tag: u64,
        header: &[u8],
        address: u64,
        len: usize,
        rkey: Option<&[u8]>,
    ) {
        let Some(cb) = self.params.rndv_cb else {
            ucs_warn!(
                "rendezvous of tag {tag:#x} dropped: no receive matches, and the interface has no \
                 callback for unexpected ones"
            );
            return;
        };
        let key = rkey.unwrap_or_default();
        let desc = self.descs.get();
        if header.len() + key.len() > self.descs.capacity() {
            return;
        }
        let at = desc.payload();
        let key_at = at.wrapping_add(header.len());
        // SAFETY: the descriptor has room for both, as just checked.
        unsafe { core::ptr::copy_nonoverlapping(header.as_ptr(), at, header.len()) };
        // SAFETY: as above.
        unsafe { core::ptr::copy_nonoverlapping(key.as_ptr(), key_at, key.len()) };
        let key_at = match rkey {
            Some(_) => key_at.cast_const().cast(),
            None => core::ptr::null(),
        };
        // SAFETY: the user's callback with its argument; header and key stand in the descriptor.
        let kept = unsafe {
            cb(
                self.params.rndv_arg,
                UCT_CB_PARAM_FLAG_DESC,
                tag,
                at.cast(),
                header.len() as u32,
                address,
                len,
                key_at,
            )
        };
        if kept == UCS_INPROGRESS {
            desc.keep();
        }
    }

    /// Takes a receive back. Without `force` its callback is called from progress.
    ///
    /// # Safety
    /// `ctx` must be a context that was posted, and alive.
    pub(super) unsafe fn cancel(&self, ctx: *mut uct_tag_context_t, force: bool) -> Result<()> {
        // SAFETY: the private bytes of the user's context; any alignment, any value.
        let mark = unsafe { mark_at(ctx).read_unaligned() };
        let mine = mark.engine == core::ptr::from_ref(self);
        match mark.state {
            POSTED if mine => {
                let id = EntryId::from_bits(mark.value);
                let receive = self.posted.borrow_mut().remove(id);
                let receive = receive.ok_or(Status::INVALID_PARAM)?;
                self.cancelled(ctx, receive.tag, force);
            }
            ARRIVING if mine => {
                let taken = self.arriving.borrow_mut().remove(&mark.value);
                let Some(Arriving {
                    message,
                    place: FragmentTarget::Receive(receive),
                }) = taken
                else {
                    return Err(Status::INVALID_PARAM);
                };
                let mut bytes = vec![0; message.got];
                // SAFETY: the user's buffers hold what has come, and `bytes` has room for it.
                unsafe { receive.blocks.read(0, message.got, bytes.as_mut_ptr()) };
                self.keep(mark.value, message, FragmentTarget::Kept(bytes));
                self.add_later(Later::Again(mark.value));
                self.cancelled(ctx, message.tag, force);
            }
            FETCHING if mine => {
                let waits_for_answer = match self.fetching.borrow().get(&mark.value) {
                    Some(f) => f.is_taken,
                    None => return Err(Status::INVALID_PARAM),
                };
                if waits_for_answer && !force {
                    // The data are here already; the answer ends it in a moment.
                    return Ok(());
                }
                let Some(f) = self.fetching.borrow_mut().remove(&mark.value) else {
                    return Err(Status::INVALID_PARAM);
                };
                if !f.is_taken {
                    self.claim(wire::WANT, f.offer, 0, f.back);
                    self.add_later(Later::OfferAgain(f.body));
                }
                self.cancelled(ctx, f.tag, force);
            }
            CALLING if mine => {
                if force {
                    // SAFETY: `consume` is on the stack below us, waiting for the user's callback.
                    unsafe { &*(mark.value as *const Cell<bool>) }.set(true);
                    self.release(ctx);
                }
            }
            ENDING if mine => {
                if force {
                    self.later
                        .borrow_mut()
                        .retain(|later| !matches!(later, Later::Finish(c, ..) if *c == ctx));
                    self.release(ctx);
                }
            }
            _ => {
                ucs_error!("uct_iface_tag_recv_cancel: the context is not posted here");
                return Err(Status::INVALID_PARAM);
            }
        }
        Ok(())
    }

    fn cancelled(&self, ctx: *mut uct_tag_context_t, tag: u64, force: bool) {
        if force {
            return self.release(ctx);
        }
        self.mark_ending(ctx);
        self.add_later(Later::Finish(ctx, tag, 0, 0, Err(Status::CANCELED)));
    }
}
