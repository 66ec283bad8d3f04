//! The calls of a simulated program: each draws its parameters, enters the ledger, and calls the library
//! through its C functions, as a program does.

use crate::buffer::{Buffer, Layout, pattern};
use crate::life::{map, open_ends};
use crate::world::*;
use core::cell::{Cell, RefCell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::null_mut;
use ferrucx::abi::ucp::am::*;
use ferrucx::abi::ucp::amo::ucp_atomic_op_nbx;
use ferrucx::abi::ucp::ep::*;
use ferrucx::abi::ucp::request::ucp_request_cancel;
use ferrucx::abi::ucp::rma::{ucp_get_nbx, ucp_put_nbx};
use ferrucx::abi::ucp::stream::*;
use ferrucx::abi::ucp::tag::*;
use ferrucx::abi::ucp::worker::*;
use ferrucx::c::*;
use ferrucx::ucp::request::Request;
use std::rc::Rc;

/// Ids of the active messages: a handler that may keep its data, and one that may not.
pub(super) const AM_IDS: [u32; 2] = [3, 40];
/// Bytes in front of the keys in a header of an active message.
const AM_KEY: u64 = 1 << 63;
/// The low bits of a tag, which receives look at; the sender and a number stand above.
const CLASS: u64 = 0xff;
const CLASSES: usize = 3;

/// What a call is given besides its own arguments.
pub(super) struct Wish {
    pub(super) flags: u32,
    /// May ask for the end by callback only, or lend its own request.
    pub(super) plain: bool,
}

const NO_WISH: Wish = Wish {
    flags: 0,
    plain: false,
};

fn any_layout(w: &World) -> Layout {
    w.rng.pick(&[
        Layout::Contig,
        Layout::Contig,
        Layout::Contig,
        Layout::Iov,
        Layout::Generic,
    ])
}

/// Sizes that take every way: none, short, whole, in fragments, rndv.
fn any_size(w: &World) -> usize {
    match w.rng.below(10) {
        0 => 0,
        1..=4 => w.rng.between(1, 64),
        5 | 6 => w.rng.between(1, 600),
        7 | 8 => w.rng.between(1, 5_000),
        _ => w.rng.between(1, 20_000),
    }
}

/// Enters an operation into the ledger.
pub(super) fn record(
    w: &World,
    p: &Process,
    end: Option<&Rc<End>>,
    what: What,
    len: usize,
    layout: Layout,
) -> Rc<Op> {
    // The bytes of a stream are put together in the order in which its receives say that they end.
    let calls_back = w.rng.chance(80) || matches!(what, What::StreamRecv { .. });
    let own = w.rng.chance(15) && !matches!(what, What::Flush(_) | What::Close { .. });
    let op = Rc::new(Op {
        number: w.ops.borrow().len(),
        process: p.index,
        end: end.cloned(),
        what,
        buffer: Buffer::new(&w.rng, len, layout, w.datatype),
        stage: Cell::new(Stage::Calling),
        called: Cell::new(0),
        request: Cell::new(null_mut()),
        freed: Cell::new(false),
        cancelled: Cell::new(false),
        calls_back,
        no_immediate: w.rng.chance(15),
        own_request: own.then(|| RefCell::new(vec![0u128; Request::SIZE / 16 + 4])),
        answered: Cell::new(None),
        sum: Cell::new(None),
        info: UnsafeCell::new(ucp_tag_recv_info_t {
            sender_tag: 0,
            length: 0,
        }),
        length: UnsafeCell::new(0),
    });
    let sends = matches!(
        op.what,
        What::TagSend(_) | What::AmSend { .. } | What::StreamSend
    );
    if let Some(mapped) = &p.mapped
        && sends
        && len > 0
        && layout == Layout::Contig
        && w.rng.chance(60)
    {
        let (at, count, _) = op.buffer.argument();
        let memh = map(p.context, at, count, UCP_MEM_MAP_ALLOCATE);
        mapped.borrow_mut().push(memh);
    }
    w.ops.borrow_mut().push(Rc::clone(&op));
    op
}

/// Calls the library for an operation, and takes up what it answers.
pub(super) fn run(
    w: &World,
    op: &Rc<Op>,
    wish: Wish,
    callback: ucp_request_param_t_cb,
    call: impl FnOnce(&ucp_request_param_t, (*mut c_void, usize)) -> ucs_status_ptr_t,
) {
    let (buffer, count, datatype) = op.buffer.argument();
    let is_flush = matches!(op.what, What::Flush(_) | What::Close { .. });
    let is_tag_recv = matches!(op.what, What::TagRecv { .. });
    let is_am_fetch = matches!(op.what, What::AmFetch(_));
    let mut mask = UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    if op.calls_back {
        mask |= UCP_OP_ATTR_FIELD_CALLBACK;
    }
    if !is_flush {
        mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    }
    if is_tag_recv || is_am_fetch {
        mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
    }
    let no_immediate = op.no_immediate && !wish.plain;
    if no_immediate {
        mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    }
    let own = op.own_request.as_ref().map(|own| {
        let room = own.borrow().as_ptr().wrapping_add(Request::SIZE / 16);
        room.cast_mut().cast::<c_void>()
    });
    if own.is_some() {
        mask |= UCP_OP_ATTR_FIELD_REQUEST;
    }
    let atomic = matches!(op.what, What::Atomic { .. } | What::Count);
    let param = ucp_request_param_t {
        op_attr_mask: mask,
        flags: wish.flags,
        request: own.unwrap_or(null_mut()),
        cb: callback,
        datatype: if atomic { 0 } else { datatype },
        user_data: Rc::as_ptr(op).cast_mut().cast(),
        recv_info: if is_tag_recv {
            ucp_request_param_t_recv_info {
                tag_info: op.info.get(),
            }
        } else {
            ucp_request_param_t_recv_info {
                length: op.length.get(),
            }
        },
        // SAFETY: numbers and pointers: zero is a value of each.
        ..unsafe { core::mem::zeroed() }
    };
    note!(
        w,
        "calls {} (request of its own {}, no immediate end {no_immediate}, calls back {}, flags {})",
        op.name(),
        own.is_some(),
        op.calls_back,
        wish.flags
    );
    if let Some(end) = &op.end {
        end.calls.set(end.calls.get() + 1);
    }
    let answer = call(&param, (buffer, count));
    if let Some(end) = &op.end {
        end.calls.set(end.calls.get() - 1);
    }
    if w.net.is_dead(op.process) {
        return;
    }
    let code = answer as isize;
    if code == 0 {
        w.check(op.called.get() == 0, || {
            format!("{} was called back and ended at once", op.name())
        });
        w.check(!no_immediate, || {
            format!("{} ended at once against its wish", op.name())
        });
        // SAFETY: written by the call, of one thread.
        let (info, length) = unsafe { (*op.info.get(), *op.length.get()) };
        let length = if is_tag_recv { info.length } else { length };
        op.end(UCS_OK, info.sender_tag, length);
        op.reuse_own_request();
    } else if (-100..0).contains(&code) {
        w.check(op.called.get() == 0, || {
            format!("{} was called back and failed at once", op.name())
        });
        let status = code as ucs_status_t;
        if status == UCS_ERR_MESSAGE_TRUNCATED && is_tag_recv {
            // SAFETY: written by the call, if it was.
            let info = unsafe { *op.info.get() };
            note!(
                w,
                "truncated at once: {:#x} {}",
                info.sender_tag,
                info.length
            );
            truncated_at_once(w, op);
        } else {
            op.end(status, 0, 0);
        }
        op.reuse_own_request();
    } else {
        w.check(own.is_none_or(|own| own == answer), || {
            format!("{} answers another request than it was given", op.name())
        });
        if !op.is_ended() {
            op.request.set(answer);
            op.stage.set(Stage::Waiting);
            op.poll();
        } else if !op.freed.get() {
            op.request.set(answer);
            op.reuse_own_request();
            if w.rng.chance(50) {
                op.free();
            }
        }
    }
}

/// A receive that took a message too long for it, and does not say which: it ends, and the messages that
/// may have been it are counted as possible losses.
fn truncated_at_once(w: &World, op: &Rc<Op>) {
    op.stage.set(Stage::Ended(UCS_ERR_MESSAGE_TRUNCATED));
    w.ended.set(w.ended.get() + 1);
    op.sum.set(Some(op.buffer.sum()));
    w.check(op.buffer.guards_hold(), || {
        format!("{}: written beyond its buffer", op.name())
    });
    w.check(op.buffer.unfinished.get() == 0, || {
        format!("{}: ended before its datatype was finished", op.name())
    });
    w.nameless.set(w.nameless.get() + 1);
}

pub(super) fn send_cb() -> ucp_request_param_t_cb {
    ucp_request_param_t_cb {
        send: Some(on_send),
    }
}

fn recv_cb() -> ucp_request_param_t_cb {
    ucp_request_param_t_cb {
        recv_stream: Some(on_recv),
    }
}

/// The tag of the message `n` of an endpoint.
fn tag_of(end: usize, n: u64) -> u64 {
    let class = u64::from(pattern(end as u64 * 1000 + n, 5)) % CLASSES as u64;
    (end as u64) << 40 | n << 16 | class
}

pub fn tag_send(w: &World, p: &Process, end: &Rc<End>) {
    let len = any_size(w);
    let n = end.next_tag.get();
    end.next_tag.set(n + 1);
    let id = tag_of(end.number, n);
    let message = w.message(id, Some(end), p.index, end.peer, len);
    let op = record(w, p, Some(end), What::TagSend(message), len, any_layout(w));
    op.buffer.fill(id, 0);
    let sync = w.rng.chance(20);
    run(w, &op, NO_WISH, send_cb(), |param, (at, count)| {
        // SAFETY: a live endpoint, a buffer of the ledger.
        unsafe {
            if sync {
                ucp_tag_send_sync_nbx(end.handle.get(), at, count, id, param)
            } else {
                ucp_tag_send_nbx(end.handle.get(), at, count, id, param)
            }
        }
    });
}

pub fn tag_recv(w: &World, p: &Process) {
    let (tag, mask) = match w.rng.below(10) {
        0 | 1 => (0, 0),
        2 | 3 => {
            let ends: Vec<(usize, u64)> = w
                .ends
                .borrow()
                .iter()
                .filter(|e| e.peer == p.index)
                .map(|e| (e.number, e.next_tag.get()))
                .collect();
            if ends.is_empty() {
                return;
            }
            let (end, next) = w.rng.pick(&ends);
            (tag_of(end, next + w.rng.below(2) as u64), u64::MAX)
        }
        _ => (w.rng.below(CLASSES) as u64, CLASS),
    };
    let len = if w.rng.chance(85) {
        20_000
    } else {
        any_size(w)
    };
    post_tag_recv(w, p, tag, mask, len);
}

pub fn post_tag_recv(w: &World, p: &Process, tag: u64, mask: u64, len: usize) -> Rc<Op> {
    let what = What::TagRecv {
        tag,
        mask,
        got: RefCell::new(None),
    };
    let op = record(w, p, None, what, len, any_layout(w));
    let callback = ucp_request_param_t_cb {
        recv: Some(on_tag_recv),
    };
    run(w, &op, NO_WISH, callback, |param, (at, count)| {
        // SAFETY: a live worker, a buffer of the ledger.
        unsafe { ucp_tag_recv_nbx(p.worker, at, count, tag, mask, param) }
    });
    op
}

/// Looks for a message, and takes what it finds now and then; whether there was one.
pub fn probe(w: &World, p: &Process, remove: bool) -> bool {
    let (tag, mask) = if remove && w.calm_down.get() {
        (0, 0)
    } else {
        (w.rng.below(CLASSES) as u64, CLASS)
    };
    let mut info = ucp_tag_recv_info_t {
        sender_tag: 0,
        length: 0,
    };
    // SAFETY: a live worker, an out parameter of ours.
    let found = unsafe { ucp_tag_probe_nb(p.worker, tag, mask, remove.into(), &mut info) };
    if found.is_null() {
        return false;
    }
    let known = w.messages.borrow().get(&info.sender_tag).cloned();
    w.check(
        known.is_some_and(|m| m.len == info.length && m.arrived.get() == 0),
        || {
            format!(
                "a probe finds a message {:#x} of {} bytes",
                info.sender_tag, info.length
            )
        },
    );
    if !remove {
        return true;
    }
    let len = if w.rng.chance(90) {
        info.length
    } else {
        any_size(w)
    };
    let what = What::TagRecv {
        tag: info.sender_tag,
        mask: u64::MAX,
        got: RefCell::new(None),
    };
    let op = record(w, p, None, what, len, any_layout(w));
    let callback = ucp_request_param_t_cb {
        recv: Some(on_tag_recv),
    };
    run(w, &op, NO_WISH, callback, |param, (at, count)| {
        // SAFETY: a live worker, a message of a probe, a buffer of the ledger.
        unsafe { ucp_tag_msg_recv_nbx(p.worker, at, count, found, param) }
    });
    true
}

pub fn cancel(w: &World, p: &Process, op: &Rc<Op>) {
    note!(w, "cancels {}", op.name());
    op.cancelled.set(true);
    // SAFETY: a live request of this worker.
    unsafe { ucp_request_cancel(p.worker, op.request.get()) };
    op.poll();
}

/// Sends an active message on an endpoint of the program, or on one to reply by.
pub fn am_send(w: &World, p: &Process, peer: usize, ep: ucp_ep_h, end: Option<&Rc<End>>) {
    let len = any_size(w);
    let id = AM_KEY | w.messages.borrow().len() as u64;
    let mut header = id.to_le_bytes().to_vec();
    header.extend((0..w.rng.below(40)).map(|i| pattern(id, i)));
    let message = w.message(id, end.map(|e| &**e), p.index, peer, len);
    let what = What::AmSend {
        message,
        header: RefCell::new(header),
    };
    let op = record(w, p, end, what, len, any_layout(w));
    op.buffer.fill(id, 0);
    let mut flags = 0;
    if w.rng.chance(30) {
        flags |= UCP_AM_SEND_FLAG_REPLY;
    }
    match w.rng.below(4) {
        0 => flags |= UCP_AM_SEND_FLAG_EAGER,
        1 => flags |= UCP_AM_SEND_FLAG_RNDV,
        _ => {}
    }
    let copied = w.rng.chance(50);
    if copied {
        flags |= UCP_AM_SEND_FLAG_COPY_HEADER;
    }
    let am = w.rng.pick(&AM_IDS);
    let What::AmSend { header, .. } = &op.what else {
        return;
    };
    let (h, h_len) = {
        let header = header.borrow();
        (header.as_ptr(), header.len())
    };
    let wish = Wish {
        flags,
        plain: false,
    };
    run(w, &op, wish, send_cb(), |param, (at, count)| {
        // SAFETY: a live endpoint; header and buffer are the ledger's.
        unsafe { ucp_am_send_nbx(ep, am, h.cast(), h_len, at, count, param) }
    });
    if copied {
        header.borrow_mut().fill(0xdd);
    }
}

/// An active message has come.
pub(super) unsafe extern "C" fn on_am(
    process: *mut c_void,
    header: *const c_void,
    header_len: usize,
    data: *mut c_void,
    len: usize,
    param: *const ucp_am_recv_param_t,
) -> ucs_status_t {
    let w = world();
    // SAFETY: processes are in the ledger until the run ends.
    let p = w.process(unsafe { (*process.cast::<Process>()).index });
    if w.net.is_dead(p.index) {
        return UCS_OK;
    }
    // SAFETY: header and parameters are readable during the call.
    let (header, attr, reply) = unsafe {
        let header = core::slice::from_raw_parts(header.cast::<u8>(), header_len);
        (header, (*param).recv_attr, (*param).reply_ep)
    };
    let Some((key, rest)) = header.split_first_chunk::<8>() else {
        w.fault("an active message came without its header");
        return UCS_OK;
    };
    let id = u64::from_le_bytes(*key);
    w.check(
        rest.iter().enumerate().all(|(i, b)| *b == pattern(id, i)),
        || format!("the header of active message {id:#x} is wrong"),
    );
    let Some(message) = w.arrival(id, len, p.index) else {
        return UCS_OK;
    };
    let rndv = attr & u64::from(UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    let may_keep = rndv || attr & u64::from(UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    note!(
        w,
        "active message {id:#x} of {len} bytes, rndv {rndv}, may be kept {may_keep}"
    );
    if !rndv {
        check_am(&w, &message, data);
    }
    if !reply.is_null() && w.rng.chance(50) && !w.calm_down.get() {
        am_send(&w, &p, message.from, reply, None);
    }
    if may_keep {
        match w.rng.below(4) {
            0 => am_fetch(&w, &p, data, &message),
            1 => {}
            _ => {
                p.kept.borrow_mut().push(Kept {
                    at: data,
                    message,
                    rndv,
                });
                return UCS_INPROGRESS;
            }
        }
    }
    crate::program::react(&w, p.index);
    UCS_OK
}

fn check_am(w: &World, m: &Message, data: *const c_void) {
    if m.len == 0 {
        return;
    }
    // SAFETY: data of an active message is readable until it is given back.
    let bytes = unsafe { core::slice::from_raw_parts(data.cast::<u8>(), m.len) };
    if let Some(at) = (0..m.len).find(|i| bytes[*i] != pattern(m.id, *i)) {
        w.fault(format!(
            "active message {:#x} has a wrong byte at {at}",
            m.id
        ));
    }
}

/// Brings the data of an active message in.
pub fn am_fetch(w: &World, p: &Process, at: *mut c_void, message: &Rc<Message>) {
    let len = if w.rng.chance(85) {
        message.len
    } else {
        any_size(w)
    };
    let op = record(
        w,
        p,
        None,
        What::AmFetch(Rc::clone(message)),
        len,
        any_layout(w),
    );
    run(w, &op, NO_WISH, recv_cb(), |param, (to, count)| {
        // SAFETY: a live worker, data that its handler got, a buffer of the ledger.
        unsafe { ucp_am_recv_data_nbx(p.worker, at, to, count, param) }
    });
}

/// Fetches or gives back what a handler kept; whether there was something.
pub fn use_kept(w: &World, p: &Process) -> bool {
    let kept = {
        let mut all = p.kept.borrow_mut();
        let n = all.len();
        if n == 0 {
            return false;
        }
        all.swap_remove(w.rng.below(n))
    };
    if !kept.rndv {
        check_am(w, &kept.message, kept.at);
    }
    if kept.rndv && w.rng.chance(80) || w.rng.chance(20) {
        am_fetch(w, p, kept.at, &kept.message);
    } else {
        // SAFETY: a live worker, data that its handler kept.
        unsafe { ucp_am_data_release(p.worker, kept.at) };
    }
    true
}

pub fn stream_send(w: &World, p: &Process, end: &Rc<End>) {
    let from = end.stream_out.get();
    let len = any_size(w);
    end.stream_out.set(from + len);
    let op = record(w, p, Some(end), What::StreamSend, len, any_layout(w));
    op.buffer.fill_with(|i| stream_byte(end.number, from + i));
    run(w, &op, NO_WISH, send_cb(), |param, (at, count)| {
        // SAFETY: a live endpoint, a buffer of the ledger.
        unsafe { ucp_stream_send_nbx(end.handle.get(), at, count, param) }
    });
}

pub fn stream_recv(w: &World, p: &Process, end: &Rc<End>) {
    if w.rng.chance(25) {
        lend_stream(w, end);
        return;
    }
    let wait_all = w.rng.chance(30);
    let len = any_size(w).max(1);
    let op = record(
        w,
        p,
        Some(end),
        What::StreamRecv { wait_all },
        len,
        any_layout(w),
    );
    let flags = if wait_all {
        UCP_STREAM_RECV_FLAG_WAITALL
    } else {
        0
    };
    let wish = Wish {
        flags,
        plain: false,
    };
    let length = op.length.get();
    run(w, &op, wish, recv_cb(), |param, (at, count)| {
        // SAFETY: a live endpoint, a buffer of the ledger.
        unsafe { ucp_stream_recv_nbx(end.handle.get(), at, count, length, param) }
    });
}

/// Takes stream data without a copy; whether there was some.
pub fn lend_stream(w: &World, end: &Rc<End>) -> bool {
    let mut len = 0;
    // SAFETY: a live endpoint, an out parameter of ours.
    let at = unsafe { ucp_stream_recv_data_nb(end.handle.get(), &mut len) };
    let code = at as isize;
    if code == 0 || (-100..0).contains(&code) {
        return false;
    }
    // SAFETY: `len` bytes, until they are given back.
    end.take_stream(w, unsafe {
        core::slice::from_raw_parts(at.cast::<u8>(), len)
    });
    // SAFETY: of the call above.
    unsafe { ucp_stream_data_release(end.handle.get(), at) };
    true
}

/// Asks which endpoints have stream data.
pub fn stream_poll(w: &World, p: &Process) {
    // SAFETY: pointers and numbers: zero is a value of each.
    let mut list: [ucp_stream_poll_ep_t; 4] = unsafe { core::mem::zeroed() };
    // SAFETY: a live worker, an array of ours.
    let n = unsafe { ucp_stream_worker_poll(p.worker, list.as_mut_ptr(), list.len(), 0) };
    for found in &list[..usize::try_from(n).unwrap_or(0)] {
        let ends = w.ends.borrow();
        let end = ends
            .iter()
            .find(|e| Rc::as_ptr(e).cast_mut().cast() == found.user_data);
        w.check(
            end.is_some_and(|e| e.handle.get() == found.ep && e.state.get() == EndState::Open),
            || "a poll of streams names an endpoint that is not open".into(),
        );
    }
}

fn key_and_base(w: &World, end: &End) -> (ucp_rkey_h, u64) {
    (end.key.get(), w.process(end.peer).base() as u64)
}

pub fn put(w: &World, p: &Process, end: &Rc<End>) {
    let peer = w.process(end.peer);
    let len = w.rng.between(0, 3_000);
    let at = peer.next_slot.get();
    if at + len > CONSTANT + SLOTS {
        return;
    }
    peer.next_slot.set(at + len);
    let op = record(w, p, Some(end), What::Put { at }, len, any_layout(w));
    op.buffer.fill(op.number as u64, 0);
    let (key, base) = key_and_base(w, end);
    run(w, &op, NO_WISH, send_cb(), |param, (from, count)| {
        // SAFETY: a live endpoint and key, a buffer of the ledger.
        unsafe { ucp_put_nbx(end.handle.get(), from, count, base + at as u64, key, param) }
    });
    // Flushes order what was posted before their call: not what is being posted, in whose call they may
    // be posted by a callback.
    end.writes.borrow_mut().push(Rc::clone(&op));
}

pub fn get(w: &World, p: &Process, end: &Rc<End>) {
    let len = w.rng.between(0, 5_000);
    let at = w.rng.below(CONSTANT - len + 1);
    let op = record(w, p, Some(end), What::Get { at }, len, any_layout(w));
    let (key, base) = key_and_base(w, end);
    run(w, &op, NO_WISH, send_cb(), |param, (to, count)| {
        // SAFETY: a live endpoint and key, a buffer of the ledger.
        unsafe { ucp_get_nbx(end.handle.get(), to, count, base + at as u64, key, param) }
    });
}

/// An atomic on a word of its own, or one more on the counter that all share.
pub fn atomic(w: &World, p: &Process, end: &Rc<End>) {
    let peer = w.process(end.peer);
    let (key, base) = key_and_base(w, end);
    let count = w.rng.chance(30);
    let wants_reply = w.rng.chance(60);
    let size = w.rng.pick(&[4usize, 8]);
    let word = peer.next_word.get();
    if word + 8 > CONSTANT + SLOTS + WORDS {
        return;
    }
    peer.next_word.set(word + 8);
    let operand: u64 = 0x1234_5678_9abc_def1;
    let (at, code, value, after, size, reply) = if count {
        (CONSTANT + SLOTS, UCP_ATOMIC_OP_ADD, 1, 0, 8, wants_reply)
    } else {
        let start = if size == 4 {
            0x0f0f_3333
        } else {
            0x0f0f_3333_5555_aaaa_u64
        };
        // SAFETY: inside the peer's region, aligned; nobody knows of the word yet.
        unsafe { peer.base().add(word).cast::<u64>().write(start) };
        let cut = |v: u64| {
            if size == 4 {
                v & u64::from(u32::MAX)
            } else {
                v
            }
        };
        let value = cut(operand);
        let (code, after) = match w.rng.below(6) {
            0 => (UCP_ATOMIC_OP_ADD, cut(start.wrapping_add(value))),
            1 => (UCP_ATOMIC_OP_AND, start & value),
            2 => (UCP_ATOMIC_OP_OR, start | value),
            3 => (UCP_ATOMIC_OP_XOR, start ^ value),
            4 => (UCP_ATOMIC_OP_SWAP, value),
            _ => (UCP_ATOMIC_OP_CSWAP, value),
        };
        let swaps = code == UCP_ATOMIC_OP_SWAP || code == UCP_ATOMIC_OP_CSWAP;
        let expected = if code == UCP_ATOMIC_OP_CSWAP {
            start
        } else {
            value
        };
        (word, code, expected, after, size, wants_reply || swaps)
    };
    let what = if count {
        What::Count
    } else {
        let start = if size == 4 {
            0x0f0f_3333
        } else {
            0x0f0f_3333_5555_aaaa_u64
        };
        What::Atomic {
            at,
            after,
            before: start,
            size,
        }
    };
    let op = record(
        w,
        p,
        Some(end),
        what,
        if reply { size } else { 0 },
        Layout::Contig,
    );
    let to = op.buffer.argument().0;
    if reply && code == UCP_ATOMIC_OP_CSWAP {
        // The new value comes where the old one goes.
        op.buffer.fill_with(|i| after.to_le_bytes()[i]);
    }
    run(w, &op, NO_WISH, send_cb(), |param, _| {
        let mut param = *param;
        param.datatype = (size as u64) << UCP_DATATYPE_SHIFT;
        if reply {
            param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
            param.reply_buffer = to;
        }
        let handle = end.handle.get();
        let from: *const c_void = (&raw const value).cast();
        // SAFETY: a live endpoint and key, an operand of this call, a reply buffer of the ledger.
        unsafe { ucp_atomic_op_nbx(handle, code, from, 1, base + at as u64, key, &param) }
    });
    end.writes.borrow_mut().push(Rc::clone(&op));
}

/// Flushes one endpoint, or all of a process.
pub fn flush(w: &World, p: &Process, end: Option<&Rc<End>>) {
    let of: Vec<(Rc<End>, usize)> = match end {
        Some(e) => vec![(Rc::clone(e), e.writes.borrow().len())],
        None => open_ends(w, p.index)
            .into_iter()
            .map(|e| {
                let n = e.writes.borrow().len();
                (e, n)
            })
            .collect(),
    };
    let op = record(w, p, end, What::Flush(of), 0, Layout::Contig);
    run(w, &op, NO_WISH, send_cb(), |param, _| {
        // SAFETY: a live endpoint or worker.
        unsafe {
            match end {
                Some(e) => ucp_ep_flush_nbx(e.handle.get(), param),
                None => ucp_worker_flush_nbx(p.worker, param),
            }
        }
    });
}

pub fn fence(w: &World, p: &Process) {
    // SAFETY: a live worker.
    let status = unsafe { ucp_worker_fence(p.worker) };
    w.check(status == UCS_OK, || format!("a fence answers {status}"));
}
