//! The ledger of a run: processes, their endpoints, every operation, every message, and what must hold.
//!
//! An operation ends once: by what its call returns, or by its callback, or, without one, by the status of
//! its request. Whatever breaks a rule is the run's fault; the first one is kept. Callbacks come in while
//! the program calls the library: nothing is borrowed across a call.

use crate::buffer::{self, Buffer};
use crate::network::Network;
use crate::test_rng::TestRng;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use ferrucx::abi::ucp::request::{ucp_request_check_status, ucp_request_free};
use ferrucx::c::*;
use std::collections::HashMap;
use std::rc::Rc;

/// A simulated process: a context with one worker.
pub struct Process {
    pub index: usize,
    pub context: ucp_context_h,
    pub worker: ucp_worker_h,
    pub address: Vec<u8>,
    /// Exported memory: constant bytes, then slots for writes, then words for atomics.
    pub region: Box<[u64]>,
    pub memh: ucp_mem_h,
    pub key: Vec<u8>,
    /// Buffers that peers can map; none where they can map nothing.
    pub mapped: Option<RefCell<Vec<ucp_mem_h>>>,
    /// The next free slot and the next free word of the region.
    pub next_slot: Cell<usize>,
    pub next_word: Cell<usize>,
    /// Operands of the shared counter that were surely or maybe added.
    pub kept: RefCell<Vec<Kept>>,
    pub gone: Cell<bool>,
}

/// Data of an active message that its handler kept.
pub struct Kept {
    pub at: *mut c_void,
    pub message: Rc<Message>,
    pub rndv: bool,
}

/// Parts of a region, in bytes.
pub const CONSTANT: usize = 8 << 10;
pub const SLOTS: usize = 48 << 10;
pub const WORDS: usize = 4 << 10;

impl Process {
    pub fn base(&self) -> *mut u8 {
        self.region.as_ptr().cast_mut().cast()
    }

    pub fn constant_id(&self) -> u64 {
        0xc0_0000 + self.index as u64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndState {
    Open,
    Closing,
    Closed,
}

/// An endpoint of a program.
pub struct End {
    pub number: usize,
    pub process: usize,
    pub peer: usize,
    pub handle: Cell<ucp_ep_h>,
    pub state: Cell<EndState>,
    /// Its error handler was called.
    pub failed: Cell<bool>,
    /// It was closed by force.
    pub forced: Cell<bool>,
    /// It has an error handler.
    pub watched: bool,
    pub failover: bool,
    /// Calls on it that have not returned.
    pub calls: Cell<u32>,
    pub next_tag: Cell<u64>,
    pub key: Cell<ucp_rkey_h>,
    /// Writes and atomics whose effect a flush must show, as they were posted.
    pub writes: RefCell<Vec<Rc<Op>>>,
    pub stream_out: Cell<usize>,
    /// Stream bytes that came, in the order of the receives.
    pub stream_in: RefCell<Vec<u8>>,
}

/// A message with a name: a tagged one or an active one.
pub struct Message {
    /// The tag, or the key in the header.
    pub id: u64,
    pub from: usize,
    pub to: usize,
    pub end: usize,
    pub len: usize,
    pub arrived: Cell<u32>,
    /// How its send ended.
    pub sent: Cell<Option<ucs_status_t>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Calling,
    Waiting,
    Ended(ucs_status_t),
}

/// What an operation is, with what its end is checked against.
pub enum What {
    TagSend(Rc<Message>),
    TagRecv {
        tag: u64,
        mask: u64,
        got: RefCell<Option<Rc<Message>>>,
    },
    AmSend {
        message: Rc<Message>,
        header: RefCell<Vec<u8>>,
    },
    AmFetch(Rc<Message>),
    StreamSend,
    StreamRecv {
        wait_all: bool,
    },
    Put {
        at: usize,
    },
    Get {
        at: usize,
    },
    /// A word of its own, and what must stand there afterwards and before.
    Atomic {
        at: usize,
        after: u64,
        before: u64,
        size: usize,
    },
    /// One more on the shared counter.
    Count,
    /// Endpoints with the number of their writes at the time.
    Flush(Vec<(Rc<End>, usize)>),
    Close {
        force: bool,
        writes: usize,
    },
}

pub struct Op {
    pub number: usize,
    pub process: usize,
    pub end: Option<Rc<End>>,
    pub what: What,
    pub buffer: Buffer,
    pub stage: Cell<Stage>,
    pub called: Cell<u32>,
    pub request: Cell<*mut c_void>,
    pub freed: Cell<bool>,
    pub cancelled: Cell<bool>,
    /// Has a callback.
    pub calls_back: bool,
    pub no_immediate: bool,
    /// Memory of the program's for the request.
    pub own_request: Option<RefCell<Vec<u128>>>,
    /// What a count answered.
    pub answered: Cell<Option<u64>>,
    /// Of a receive that has ended: its memory must stay as it is.
    pub sum: Cell<Option<u64>>,
    /// Where a call tells tag and bytes of an immediate end.
    pub info: core::cell::UnsafeCell<ucp_tag_recv_info_t>,
    pub length: core::cell::UnsafeCell<usize>,
}

pub struct World {
    pub net: Rc<Network>,
    pub rng: Rc<TestRng>,
    pub processes: RefCell<Vec<Rc<Process>>>,
    pub ends: RefCell<Vec<Rc<End>>>,
    pub ops: RefCell<Vec<Rc<Op>>>,
    pub messages: RefCell<HashMap<u64, Rc<Message>>>,
    pub datatype: ucp_datatype_t,
    fault: RefCell<Option<String>>,
    /// What happened, when somebody wants to read it.
    trace: Option<RefCell<Vec<String>>>,
    /// Callbacks act on their own only so deep.
    pub depth: Cell<u32>,
    /// Endpoints use failover: some, or all.
    pub failover: Cell<Option<bool>>,
    /// Processes take each other for upstream's; whether their endpoints have error handling, which has to be the same at
    /// both ends.
    pub upstream: Cell<Option<bool>>,
    pub link_losses: Cell<usize>,
    /// Callbacks do nothing of their own any more.
    pub calm_down: Cell<bool>,
    /// Something was broken or closed by force: what is not delivered may be lost.
    pub disturbed: Cell<bool>,
    pub ended: Cell<usize>,
    /// Receives that took a message and did not say which.
    pub nameless: Cell<usize>,
}

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// The run that this thread is in, if it is in one.
pub fn current() -> Option<Rc<World>> {
    WORLD.with_borrow(Clone::clone)
}

/// The run that this thread is in.
pub fn world() -> Rc<World> {
    WORLD.with_borrow(|w| w.clone().expect("a simulation is running"))
}

/// Writes to the trace, if somebody wants to read it.
macro_rules! note {
    ($w:expr, $($arg:tt)*) => { if $w.is_traced() { $w.write(format!($($arg)*)) } };
}
pub(super) use note;

impl World {
    pub fn begin(net: Rc<Network>, rng: Rc<TestRng>, traced: bool) -> Rc<World> {
        let made = Rc::new(World {
            net,
            rng,
            processes: RefCell::new(Vec::new()),
            ends: RefCell::new(Vec::new()),
            ops: RefCell::new(Vec::new()),
            messages: RefCell::new(HashMap::new()),
            datatype: buffer::create_generic(),
            fault: RefCell::new(None),
            trace: traced.then(|| RefCell::new(Vec::new())),
            depth: Cell::new(0),
            failover: Cell::new(None),
            upstream: Cell::new(None),
            link_losses: Cell::new(0),
            calm_down: Cell::new(false),
            disturbed: Cell::new(false),
            ended: Cell::new(0),
            nameless: Cell::new(0),
        });
        WORLD.with_borrow_mut(|w| *w = Some(Rc::clone(&made)));
        made
    }

    pub fn end_of_run() {
        WORLD.with_borrow_mut(|w| *w = None);
    }

    pub fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    pub fn write(&self, line: String) {
        if let Some(trace) = &self.trace {
            trace
                .borrow_mut()
                .push(format!("{:>6} {line}", self.net.now.get()));
        }
    }

    pub fn take_trace(&self) -> String {
        self.trace
            .as_ref()
            .map_or(String::new(), |t| t.borrow().join("\n"))
    }

    /// Something is wrong; the first time counts.
    pub fn fault(&self, what: impl Into<String>) {
        let what = what.into();
        note!(self, "FAULT: {what}");
        self.fault.borrow_mut().get_or_insert(what);
    }

    pub fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fault(what());
        }
    }

    pub fn first_fault(&self) -> Option<String> {
        self.fault.borrow().clone()
    }

    pub fn process(&self, index: usize) -> Rc<Process> {
        Rc::clone(&self.processes.borrow()[index])
    }

    pub fn is_alive(&self, index: usize) -> bool {
        !self.net.is_dead(index) && !self.process(index).gone.get()
    }

    /// A message gets its name.
    pub fn message(
        &self,
        id: u64,
        end: Option<&End>,
        from: usize,
        to: usize,
        len: usize,
    ) -> Rc<Message> {
        let made = Rc::new(Message {
            id,
            from,
            to,
            end: end.map_or(usize::MAX, |e| e.number),
            len,
            arrived: Cell::new(0),
            sent: Cell::new(None),
        });
        self.messages.borrow_mut().insert(id, Rc::clone(&made));
        made
    }

    /// A message is here, in whole or by name.
    pub fn arrival(&self, id: u64, len: usize, process: usize) -> Option<Rc<Message>> {
        let found = self.messages.borrow().get(&id).cloned();
        let Some(m) = found else {
            self.fault(format!("a message {id:#x} came that nobody sent"));
            return None;
        };
        self.check(m.to == process, || {
            format!("message {id:#x} came to process {process}")
        });
        self.check(m.len == len, || {
            format!("message {id:#x} of {} bytes came with {len}", m.len)
        });
        m.arrived.set(m.arrived.get() + 1);
        self.check(m.arrived.get() == 1, || {
            format!("message {id:#x} came twice")
        });
        Some(m)
    }

    /// Operations that are not at their end.
    pub fn waiting(&self) -> Vec<Rc<Op>> {
        let ops = self.ops.borrow();
        ops.iter()
            .filter(|op| op.stage.get() == Stage::Waiting)
            .cloned()
            .collect()
    }
}

impl Op {
    pub fn is_ended(&self) -> bool {
        matches!(self.stage.get(), Stage::Ended(_))
    }

    pub fn name(&self) -> String {
        let what = match &self.what {
            What::TagSend(m) => format!("tag send {:#x}", m.id),
            What::TagRecv { tag, mask, .. } => format!("tag receive {tag:#x}/{mask:#x}"),
            What::AmSend { message, .. } => format!("am send {:#x}", message.id),
            What::AmFetch(m) => format!("am fetch {:#x}", m.id),
            What::StreamSend => "stream send".into(),
            What::StreamRecv { wait_all } => format!("stream receive (all {wait_all})"),
            What::Put { at } => format!("put at {at}"),
            What::Get { at } => format!("get at {at}"),
            What::Atomic { at, .. } => format!("atomic at {at}"),
            What::Count => "count".into(),
            What::Flush(of) => format!("flush of {} endpoints", of.len()),
            What::Close { force, .. } => format!("close (force {force})"),
        };
        let end = self
            .end
            .as_ref()
            .map_or(String::new(), |e| format!(" on end {}", e.number));
        format!(
            "#{} {what}, {} bytes {:?}, by process {}{end}",
            self.number, self.buffer.len, self.buffer.layout, self.process
        )
    }

    /// Whether it may end after its endpoint: a message waits for its match even then, unless the close
    /// was by force.
    pub fn may_outlive(&self, end: &End) -> bool {
        !end.forced.get() && matches!(self.what, What::TagSend(_) | What::AmSend { .. })
    }

    fn is_receive(&self) -> bool {
        matches!(
            self.what,
            What::TagRecv { .. } | What::AmFetch(_) | What::StreamRecv { .. } | What::Get { .. }
        )
    }

    /// The operation has ended; `tag` and `length` are what a receive says besides.
    pub fn end(self: &Rc<Op>, status: ucs_status_t, tag: u64, length: usize) {
        let w = world();
        note!(
            w,
            "ends {}: {status} tag {tag:#x} length {length}",
            self.name()
        );
        if self.is_ended() {
            w.fault(format!("{} ended twice", self.name()));
            return;
        }
        self.stage.set(Stage::Ended(status));
        w.ended.set(w.ended.get() + 1);
        if w.net.is_dead(self.process) {
            return;
        }
        w.check(self.buffer.guards_hold(), || {
            format!("{}: written beyond its buffer", self.name())
        });
        w.check(self.buffer.unfinished.get() == 0, || {
            format!("{}: ended before its datatype was finished", self.name())
        });
        if let Some(end) = &self.end {
            w.check(
                end.state.get() != EndState::Closed || self.may_outlive(end),
                || format!("{} ended after its endpoint was closed", self.name()),
            );
        }
        if status == UCS_OK || status == UCS_ERR_MESSAGE_TRUNCATED {
            self.check_success(&w, status, tag, length);
        } else {
            self.check_failure(&w, status, length);
        }
        if self.is_receive() {
            let left_open = status == UCS_ERR_CONNECTION_RESET && self.may_be_written_late(&w, tag);
            self.sum.set((!left_open).then(|| self.buffer.sum()));
        } else {
            self.buffer.spoil();
            if let What::AmSend { header, .. } = &self.what {
                header.borrow_mut().fill(0xee);
            }
        }
        if let (What::Close { .. }, Some(end)) = (&self.what, &self.end) {
            crate::life::closed(&w, end);
        }
    }

    /// Whether a receive whose connection broke was of an endpoint without error handling: its peer may have
    /// been let at the buffer, and has not heard yet.
    fn may_be_written_late(&self, w: &World, tag: u64) -> bool {
        let message = match &self.what {
            What::TagRecv { .. } => w.messages.borrow().get(&tag).cloned(),
            What::AmFetch(m) => Some(Rc::clone(m)),
            _ => None,
        };
        // Answers by the endpoint of a handler are of no end.
        message.is_some_and(|m| w.ends.borrow().get(m.end).is_some_and(|end| !end.watched))
    }

    fn check_success(&self, w: &World, status: ucs_status_t, tag: u64, length: usize) {
        match &self.what {
            What::TagSend(m) | What::AmSend { message: m, .. } => m.sent.set(Some(status)),
            What::TagRecv {
                tag: wanted,
                mask,
                got,
            } => {
                w.check((tag ^ wanted) & mask == 0, || {
                    format!("{} got a message of tag {tag:#x}", self.name())
                });
                let Some(m) = w.arrival(tag, length, self.process) else {
                    return;
                };
                self.check_data(w, &m, status);
                *got.borrow_mut() = Some(m);
            }
            What::AmFetch(m) => {
                w.check(status != UCS_OK || length == m.len, || {
                    format!("{} says {length} bytes", self.name())
                });
                self.check_data(w, m, status);
            }
            What::StreamRecv { wait_all } => {
                w.check(
                    status == UCS_OK && length > 0 && length <= self.buffer.len,
                    || format!("{} says {length} bytes, status {status}", self.name()),
                );
                w.check(!wait_all || length == self.buffer.len, || {
                    format!("{} has only {length} bytes", self.name())
                });
                self.take_stream(w, length);
            }
            What::Get { at } => {
                let id = self.peer(w).constant_id();
                w.check(
                    self.buffer.differs(id, *at, self.buffer.len).is_none(),
                    || format!("{} read wrong bytes", self.name()),
                );
            }
            What::Atomic { before, size, .. } => {
                let got = self.reply();
                let mask = if *size == 4 {
                    u64::from(u32::MAX)
                } else {
                    u64::MAX
                };
                w.check(self.buffer.len == 0 || got & mask == before & mask, || {
                    format!("{} answered {got:#x}, not {before:#x}", self.name())
                });
            }
            What::Flush(of) => {
                for (end, count) in of {
                    // A worker's flush does not tell of endpoints that failed meanwhile, nor one of an endpoint without
                    // error handling of a peer that has died.
                    let told = self.end.is_some() && end.watched || !w.disturbed.get();
                    if told && end.state.get() != EndState::Closed {
                        self.check_writes(w, end, *count);
                    }
                }
            }
            What::Close { force, writes } => {
                // One that has failed closes with success too, and shows nothing.
                if let (false, Some(end)) = (force, &self.end)
                    && !end.failed.get()
                    && (end.watched || !w.disturbed.get())
                {
                    self.check_writes(w, end, *writes);
                }
            }
            What::Count => self
                .answered
                .set((self.buffer.len == 8).then(|| self.reply())),
            What::StreamSend | What::Put { .. } => {}
        }
    }

    fn check_failure(&self, w: &World, status: ucs_status_t, length: usize) {
        match &self.what {
            What::TagSend(m) | What::AmSend { message: m, .. } => m.sent.set(Some(status)),
            // What it has already is the program's.
            What::StreamRecv { .. } => self.take_stream(w, length),
            _ => {}
        }
        let asked = self.cancelled.get() && status == UCS_ERR_CANCELED;
        let closed = self
            .end
            .as_ref()
            .is_some_and(|e| e.state.get() != EndState::Open)
            && matches!(self.what, What::StreamRecv { .. });
        let gone = w.process(self.process).gone.get();
        w.check(w.disturbed.get() || asked || closed || gone, || {
            format!("{} failed with {status} though nothing broke", self.name())
        });
    }

    fn check_data(&self, w: &World, m: &Message, status: ucs_status_t) {
        let fits = m.len <= self.buffer.len;
        w.check(fits == (status == UCS_OK), || {
            format!(
                "{} of a message of {} bytes says {status}",
                self.name(),
                m.len
            )
        });
        // Whose send has failed may have changed the bytes before they were fetched.
        let stands = m.sent.get().is_none_or(|s| s == UCS_OK);
        if fits
            && stands
            && let Some(at) = self.buffer.differs(m.id, 0, m.len)
        {
            w.fault(format!("{} has a wrong byte at {at}", self.name()));
        }
    }

    fn check_writes(&self, w: &World, end: &End, count: usize) {
        let writes: Vec<Rc<Op>> = end.writes.borrow().iter().take(count).cloned().collect();
        let base = w.process(end.peer).base();
        for op in writes {
            op.poll();
            if op.stage.get() != Stage::Ended(UCS_OK) {
                w.check(op.is_ended(), || {
                    format!("{} is over before {}", self.name(), op.name())
                });
                continue;
            }
            match op.what {
                What::Put { at } => {
                    for i in 0..op.buffer.len {
                        // SAFETY: inside the region.
                        let is = unsafe { base.add(at + i).read() };
                        if is != buffer::pattern(op.number as u64, i) {
                            w.fault(format!(
                                "{}: byte {i} of {} is not there",
                                self.name(),
                                op.name()
                            ));
                            return;
                        }
                    }
                }
                What::Atomic {
                    at, after, size, ..
                } => {
                    // SAFETY: inside the region, aligned.
                    let is = unsafe {
                        match size {
                            4 => u64::from(base.add(at).cast::<u32>().read()),
                            _ => base.add(at).cast::<u64>().read(),
                        }
                    };
                    w.check(is == after, || {
                        format!(
                            "{}: {} left {is:#x}, not {after:#x}",
                            self.name(),
                            op.name()
                        )
                    });
                }
                _ => {}
            }
        }
    }

    /// The value an atomic answered.
    pub fn reply(&self) -> u64 {
        let mut all = [0u8; 8];
        let bytes = self.buffer.bytes(8);
        all[..bytes.len()].copy_from_slice(&bytes);
        u64::from_le_bytes(all)
    }

    fn peer(&self, w: &World) -> Rc<Process> {
        w.process(self.end.as_ref().map_or(self.process, |e| e.peer))
    }

    fn take_stream(&self, w: &World, length: usize) {
        let Some(end) = &self.end else { return };
        end.take_stream(w, &self.buffer.bytes(length));
    }

    /// Gives the request back, if that is still to be done.
    pub fn free(&self) {
        let request = self.request.get();
        if request.is_null() || self.own_request.is_some() || self.freed.replace(true) {
            return;
        }
        // SAFETY: a request of the library's, given back once.
        unsafe { ucp_request_free(request) };
    }

    /// Writes over the program's own memory of a request: the library is done with it.
    pub fn reuse_own_request(&self) {
        if let Some(own) = &self.own_request {
            own.borrow_mut().fill(u128::MAX / 3);
        }
    }

    /// Looks whether an operation without a callback is over.
    pub fn poll(self: &Rc<Op>) {
        if self.calls_back || self.stage.get() != Stage::Waiting || self.freed.get() {
            return;
        }
        // SAFETY: a live request.
        let status = unsafe { ucp_request_check_status(self.request.get()) };
        if status != UCS_INPROGRESS {
            let (mut info, mut length) = (
                ucp_tag_recv_info_t {
                    sender_tag: 0,
                    length: 0,
                },
                0,
            );
            // SAFETY: a live request, out parameters of ours.
            unsafe {
                ferrucx::abi::ucp::tag::ucp_tag_recv_request_test(self.request.get(), &mut info);
                ferrucx::abi::ucp::stream::ucp_stream_recv_request_test(
                    self.request.get(),
                    &mut length,
                );
            }
            self.end(status, info.sender_tag, length);
            self.reuse_own_request();
            self.free();
        }
    }
}

/// The stream of end `n` begins with its number, then comes its pattern.
pub fn stream_byte(end: usize, at: usize) -> u8 {
    match at {
        0 => end as u8,
        1 => (end >> 8) as u8,
        _ => buffer::pattern(0x57_0000 + end as u64, at),
    }
}

impl End {
    /// Bytes came on the stream: all of one sender, in order, none left out.
    pub fn take_stream(&self, w: &World, bytes: &[u8]) {
        let mut all = self.stream_in.borrow_mut();
        let from = all.len();
        all.extend_from_slice(bytes);
        if all.len() < 2 {
            return;
        }
        let sender = usize::from(all[0]) | usize::from(all[1]) << 8;
        let known = w
            .ends
            .borrow()
            .get(sender)
            .is_some_and(|s| s.peer == self.process);
        w.check(known, || {
            format!("end {} got the stream of {sender}", self.number)
        });
        if let Some(i) = (from..all.len()).find(|i| all[*i] != stream_byte(sender, *i)) {
            w.fault(format!(
                "byte {i} of the stream from end {sender} to {} is wrong",
                self.number
            ));
        }
    }
}

/// The library says that an operation is over.
fn called(op: *mut c_void, request: *mut c_void, status: ucs_status_t, tag: u64, length: usize) {
    let w = world();
    // SAFETY: operations are in the ledger until the run ends; one more count for this call.
    let op = unsafe {
        Rc::increment_strong_count(op.cast_const().cast::<Op>());
        Rc::from_raw(op.cast_const().cast::<Op>())
    };
    op.called.set(op.called.get() + 1);
    w.check(op.called.get() == 1, || {
        format!("{} was called back twice", op.name())
    });
    let in_call = op.stage.get() == Stage::Calling;
    w.check(!in_call || op.no_immediate, || {
        format!("{} was called back in its call", op.name())
    });
    w.check(in_call || request == op.request.get(), || {
        format!("{} was called back with another request", op.name())
    });
    // SAFETY: a live request.
    let says = unsafe { ucp_request_check_status(request) };
    w.check(says == status, || {
        format!(
            "{}: its request says {says}, the callback {status}",
            op.name()
        )
    });
    op.request.set(request);
    op.end(status, tag, length);
    if w.net.is_dead(op.process) {
        return;
    }
    if !in_call {
        op.reuse_own_request();
        if w.rng.chance(50) {
            op.free();
        }
    }
    crate::program::react(&w, op.process);
}

pub unsafe extern "C" fn on_send(request: *mut c_void, status: ucs_status_t, op: *mut c_void) {
    called(op, request, status, 0, 0);
}

pub unsafe extern "C" fn on_tag_recv(
    request: *mut c_void,
    status: ucs_status_t,
    info: *const ucp_tag_recv_info_t,
    op: *mut c_void,
) {
    // SAFETY: readable during the call.
    let (tag, length) = unsafe { ((*info).sender_tag, (*info).length) };
    called(op, request, status, tag, length);
}

pub unsafe extern "C" fn on_recv(
    request: *mut c_void,
    status: ucs_status_t,
    length: usize,
    op: *mut c_void,
) {
    called(op, request, status, 0, length);
}
