//! The state of an operation inside its request, and what the engine asks of it.
//!
//! The engine is the send queue and the transports' completions. It knows a request
//! and calls the functions of `Op`, which call those of the operation's own type (`Operation`). Each type implements them
//! in the file that the operation lives in.

use crate::c::{UCS_MEMORY_TYPE_HOST, ucs_memory_type_t, uct_rkey_t};
use crate::ucp::ahead::Ahead;
use crate::ucp::atomic::Atomic;
use crate::ucp::dt::Data;
use crate::ucp::ep::{DevicePart, Ep, EpRef, Task, TaskStep};
use crate::ucp::mem::Window;
use crate::ucp::plan::RndvPolicy;
use crate::ucp::reg::{LocalMemory, Registration};
use crate::ucp::request::Req;
use crate::ucp::rkey::RemoteKey;
use crate::ucp::rndv_state::{ReceiverState, SenderState};
use crate::ucp::rndv_tuner::TimedTransfer;
use crate::ucp::staging;
use crate::ucs::tag_match::EntryId;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::Payload;
use crate::uct::base::memory_copier::MemoryCopier;
use crate::uct::internal::{DeviceMapping, EpochGuard};
use crate::wire::Writer;
use crate::wire::header::{AmHdr, AmId, AmReplyHdr, Header, StreamHdr, TagHdr, TagSyncHdr};
use crate::wire::id::RequestName;
use std::rc::Rc;
use std::sync::Arc;

/// What the engine asks of an operation. The functions get the request and borrow the state in it themselves: most of
/// them end in a completion, which replaces it.
pub trait Operation {
    /// Whether a flush waits for it while it is outstanding.
    fn holds_flushes(&self) -> bool {
        false
    }

    /// Whether it accesses memory of the peer, or fences such accesses.
    fn is_memory_access(&self) -> bool {
        false
    }

    /// Joins the send queue behind others: begins what takes time and sends nothing.
    fn on_queued(_ep: &Ep, _req: Req) {}

    /// Is at the head of the send queue: sends what the transport has room for. `NO_RESOURCE` when it has none.
    fn step(_ep: &Ep, _req: Req) -> Result<TaskStep> {
        Ok(TaskStep::Done)
    }

    /// All transfers that a transport performed for it have completed.
    fn on_transfers_done(_req: Req, _result: Result<()>) {}

    /// Whether the peer may write to its buffer, and that cannot be revoked.
    fn is_written_by_peer(&self) -> bool {
        false
    }

    /// Its endpoint ends and is removed from the tables: moves it to another endpoint to the same peer. Returns false
    /// when there is none.
    fn move_to_another_ep(_req: Req) -> bool {
        false
    }

    /// A flush that waits for outstanding requests: completes it if none holds it up any more, and returns whether it
    /// has completed.
    fn try_finish(_ep: &Ep, _req: Req) -> bool {
        false
    }

    /// The message that tells the peer that the rest of a queued operation will not come.
    fn abort_message(_uuid: u64, _req: Req) -> Option<Task> {
        None
    }

    /// Its endpoint ends: completes with `status`.
    fn abort(req: Req, status: Status) {
        req.complete(Err(status));
    }
}

/// No operation, or a receive that the engine does not know yet.
pub struct NoOperation;

impl Operation for NoOperation {}

/// The state of an operation.
#[derive(Default)]
pub enum Op {
    #[default]
    None,
    Send(SendOp),
    /// A receive by tag that stands in the line of `TagState`.
    TagPostedFifo,
    /// An endpoint is closed, and the other side of its connection has still to disconnect.
    Disconnect,
    /// A receive by tag that no message has matched.
    TagWait(TagWaitOp),
    TagRecv(TagRecvOp),
    /// Receives the data of a rendezvous message without a posted receive.
    DataRecv(DataRecvOp),
    StreamRecv(StreamRecvOp),
    Flush(FlushOp),
    Put(PutOp),
    Get(GetOp),
    Amo(AmoOp),
    Composite(CompositeOp),
}

/// Evaluates an expression with the state of the operation, or `$none` without one.
macro_rules! with_state {
    ($op:expr, $none:expr, |$state:ident| $value:expr) => {
        match $op {
            Op::None | Op::TagPostedFifo | Op::Disconnect => $none,
            Op::Send($state) => $value,
            Op::TagWait($state) => $value,
            Op::TagRecv($state) => $value,
            Op::DataRecv($state) => $value,
            Op::StreamRecv($state) => $value,
            Op::Flush($state) => $value,
            Op::Put($state) => $value,
            Op::Get($state) => $value,
            Op::Amo($state) => $value,
            Op::Composite($state) => $value,
        }
    };
}

/// Calls a function of the type of a request's operation.
macro_rules! of_type {
    ($req:expr, $function:ident($($argument:expr),*)) => {
        // SAFETY: the only borrow; it ends before the call.
        match unsafe { $req.op() } {
            Op::None | Op::TagPostedFifo | Op::Disconnect => NoOperation::$function($($argument),*),
            Op::Send(_) => SendOp::$function($($argument),*),
            Op::TagWait(_) => TagWaitOp::$function($($argument),*),
            Op::TagRecv(_) => TagRecvOp::$function($($argument),*),
            Op::DataRecv(_) => DataRecvOp::$function($($argument),*),
            Op::StreamRecv(_) => StreamRecvOp::$function($($argument),*),
            Op::Flush(_) => FlushOp::$function($($argument),*),
            Op::Put(_) => PutOp::$function($($argument),*),
            Op::Get(_) => GetOp::$function($($argument),*),
            Op::Amo(_) => AmoOp::$function($($argument),*),
            Op::Composite(_) => CompositeOp::$function($($argument),*),
        }
    };
}

impl Op {
    /// Whether dropping it does nothing: it has no datatype to finish and no memory of its own.
    #[inline]
    pub fn holds_nothing(&self) -> bool {
        let plain = |data: &Data| !matches!(data, Data::Opaque { .. });
        match self {
            Op::None | Op::TagPostedFifo | Op::Disconnect => true,
            Op::TagWait(r) => plain(&r.data),
            Op::TagRecv(r) => plain(&r.data) && r.arriving.holds_nothing(),
            Op::DataRecv(r) => plain(&r.data) && r.arriving.holds_nothing(),
            Op::StreamRecv(r) => plain(&r.data),
            Op::Send(s) => {
                plain(&s.data)
                    && s.memory.is_none()
                    && !matches!(
                        s.kind,
                        MessageKind::Am {
                            header: UserHeader::Ours(_),
                            ..
                        }
                    )
            }
            _ => false,
        }
    }

    /// The type of its buffer's memory, `UCS_MEMORY_TYPE_*`; the host's where it has none, or none any more.
    pub fn memory_type(&self) -> ucs_memory_type_t {
        let data = match self {
            Op::Send(op) => &op.data,
            Op::TagWait(op) => &op.data,
            Op::TagRecv(op) => &op.data,
            Op::DataRecv(op) => &op.data,
            Op::StreamRecv(op) => &op.data,
            Op::Put(op) => &op.data,
            Op::Get(op) => &op.data,
            Op::None
            | Op::TagPostedFifo
            | Op::Disconnect
            | Op::Flush(_)
            | Op::Amo(_)
            | Op::Composite(_) => {
                return UCS_MEMORY_TYPE_HOST;
            }
        };
        data.memory_type()
    }

    /// Whether a receiver may be copying its data.
    pub fn has_sent_rts(&self) -> bool {
        matches!(
            self,
            Op::Send(SendOp {
                stage: Stage::Rndv(SenderState::RtsSent),
                ..
            })
        )
    }

    /// See `Operation::holds_flushes`.
    pub fn holds_flushes(&self) -> bool {
        with_state!(self, false, |op| op.holds_flushes())
    }

    /// See `Operation::is_memory_access`.
    pub fn is_memory_access(&self) -> bool {
        with_state!(self, false, |op| op.is_memory_access())
    }

    /// Whether it is the flush of a close.
    pub fn is_close(&self) -> bool {
        matches!(self, Op::Flush(op) if op.close)
    }

    /// See `Operation::is_written_by_peer`.
    pub fn is_written_by_peer(&self) -> bool {
        with_state!(self, false, |op| op.is_written_by_peer())
    }

    /// See `Operation::move_to_another_ep`.
    pub fn move_to_another_ep(req: Req) -> bool {
        of_type!(req, move_to_another_ep(req))
    }

    /// See `Operation::try_finish`.
    pub fn try_finish(ep: &Ep, req: Req) -> bool {
        of_type!(req, try_finish(ep, req))
    }

    /// See `Operation::on_queued`.
    pub fn on_queued(ep: &Ep, req: Req) {
        of_type!(req, on_queued(ep, req))
    }

    /// See `Operation::step`.
    pub fn step(ep: &Ep, req: Req) -> Result<TaskStep> {
        of_type!(req, step(ep, req))
    }

    /// See `Operation::on_transfers_done`.
    pub fn on_transfers_done(req: Req, result: Result<()>) {
        of_type!(req, on_transfers_done(req, result))
    }

    /// See `Operation::abort_message`.
    pub fn abort_message(uuid: u64, req: Req) -> Option<Task> {
        of_type!(req, abort_message(uuid, req))
    }

    /// See `Operation::abort`.
    pub fn abort(req: Req, status: Status) {
        of_type!(req, abort(req, status))
    }
}

/// A message being sent.
pub struct SendOp {
    pub ep: EpRef,
    pub data: Data,
    pub kind: MessageKind,
    pub stage: Stage,
    /// What a rendezvous over a device holds beside the data.
    pub memory: Option<Box<RndvMemory>>,
}

/// The keys and registrations of a message that a device transfers.
#[derive(Default)]
pub struct RndvMemory {
    /// The receiver's buffer, in the state `Put`.
    pub target: Option<Rc<RemoteKey>>,
    /// The data, which the receiver may read.
    pub offered: Option<Window>,
    /// The data, registered for a put.
    pub registration: Option<Registration>,
    /// A copy of the data in memory that the receiver maps.
    pub staged: Option<staging::Staged>,
    /// The data go to such memory part by part, if the receiver agrees.
    pub parts: Option<Box<staging::SendParts>>,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Posted before the peer was known: the protocol is chosen when the transport is known.
    Unplanned { policy: RndvPolicy },
    /// As one message, to be tried.
    Whole,
    /// As one message and without a copy, to be tried; or in the transport's hands.
    WholeInPlace,
    /// In fragments: the message's number and the bytes that are out.
    Fragments { message: u64, offset: usize },
    /// By rendezvous.
    Rndv(SenderState),
    /// Everything was sent; waiting for the acknowledgement.
    AwaitAck,
}

impl core::fmt::Display for Stage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Stage::Unplanned { .. } => "the transport to the peer is not known yet",
            Stage::Whole => "the transport has no room yet",
            Stage::WholeInPlace => "the transport sends it in place, or has no room yet",
            Stage::Fragments { offset, .. } => {
                return write!(f, "{offset} bytes are sent as fragments");
            }
            Stage::Rndv(state) => return write!(f, "rendezvous: {state}"),
            Stage::AwaitAck => "sent, the acknowledgement is to come",
        })
    }
}

/// The kind of a message, with its header.
#[derive(Clone, Debug)]
pub enum MessageKind {
    Tag {
        tag: u64,
    },
    /// `request` is set when the header is made: it names the sender's request.
    TagSync {
        tag: u64,
    },
    Am {
        hdr: AmHdr,
        reply: Option<AmReplyHdr>,
        header: UserHeader,
    },
    Stream {
        hdr: StreamHdr,
    },
}

/// The header a user gave for an active message.
#[derive(Clone, Debug)]
pub enum UserHeader {
    /// The user's memory, which stays as it is until the operation ends; with `copy` only until the
    /// call returns, after which `MessageKind::outlive_call` has replaced it.
    Theirs {
        bytes: Payload<'static>,
        copy: bool,
    },
    Ours(Box<[u8]>),
}

impl UserHeader {
    pub fn bytes(&self) -> &[u8] {
        match self {
            UserHeader::Theirs { bytes, .. } => bytes.bytes(),
            UserHeader::Ours(bytes) => bytes,
        }
    }

    fn len(&self) -> usize {
        match self {
            UserHeader::Theirs { bytes, .. } => bytes.len(),
            UserHeader::Ours(bytes) => bytes.len(),
        }
    }
}

impl MessageKind {
    /// The id of a whole message of this kind, which also names the kind in fragments.
    pub fn id(&self) -> AmId {
        match self {
            MessageKind::Tag { .. } => AmId::TagOnly,
            MessageKind::TagSync { .. } => AmId::TagSync,
            MessageKind::Am { .. } => AmId::Am,
            MessageKind::Stream { .. } => AmId::Stream,
        }
    }

    /// The header as a word, if it has eight bytes, as short messages need.
    #[inline]
    pub fn word(&self) -> Option<u64> {
        match self {
            MessageKind::Tag { tag } => Some(*tag),
            MessageKind::Am {
                hdr, reply: None, ..
            } if hdr.header == 0 => Some(hdr.word()),
            _ => None,
        }
    }

    /// Bytes in front of the data.
    pub fn header_len(&self) -> usize {
        match self {
            MessageKind::Tag { .. } => TagHdr::LEN,
            MessageKind::TagSync { .. } => TagSyncHdr::LEN,
            MessageKind::Am { reply, header, .. } => {
                let reply = if reply.is_some() { AmReplyHdr::LEN } else { 0 };
                AmHdr::LEN + reply + header.len()
            }
            MessageKind::Stream { .. } => StreamHdr::LEN,
        }
    }

    /// Writes the header. `sync` names the request of a synchronous sender.
    pub fn encode(&self, w: &mut Writer<'_>, sync: RequestName) {
        match self {
            MessageKind::Tag { tag } => TagHdr { tag: *tag }.encode(w),
            MessageKind::TagSync { tag } => TagSyncHdr {
                tag: *tag,
                sender: sync,
            }
            .encode(w),
            MessageKind::Am { hdr, reply, header } => {
                hdr.encode(w);
                if let Some(reply) = reply {
                    reply.encode(w);
                }
                w.bytes(header.bytes());
            }
            MessageKind::Stream { hdr } => hdr.encode(w),
        }
    }

    /// Whether the receiver must know the sending endpoint before the message.
    pub fn names_sender(&self) -> bool {
        matches!(
            self,
            MessageKind::TagSync { .. }
                | MessageKind::Am { reply: Some(_), .. }
                | MessageKind::Stream { .. }
        )
    }

    /// The message is sent after the user's call has returned: copies headers that may change then.
    pub fn outlive_call(&mut self) {
        if let MessageKind::Am { header, .. } = self
            && let UserHeader::Theirs { copy: true, .. } = header
        {
            *header = UserHeader::Ours(header.bytes().into());
        }
    }

    /// The receiver has acknowledged the match.
    pub fn matched(&mut self) {
        if let MessageKind::TagSync { tag } = *self {
            *self = MessageKind::Tag { tag };
        }
    }

    /// Whether the send completes only when the receiver acknowledges the match.
    pub fn waits_for_match(&self) -> bool {
        matches!(self, MessageKind::TagSync { .. })
    }
}

/// A receive by tag in the list of those posted, by its entry; `None` once it is off the list.
pub struct TagWaitOp {
    pub data: Data,
    pub entry: Option<EntryId>,
}

/// A matched receive of a fragmented or rendezvous message.
pub struct TagRecvOp {
    pub data: Data,
    pub arriving: Arriving,
}

/// Data of a rendezvous message, wanted by other than a posted tag.
pub struct DataRecvOp {
    pub data: Data,
    pub arriving: Arriving,
}

/// Progress of a matched message.
#[derive(Default)]
pub struct Arriving {
    /// Bytes of the whole message, and received from its beginning on.
    pub total: usize,
    pub received: usize,
    /// What has come of the data behind those.
    pub ahead: Option<Box<Ahead>>,
    /// The first error of the user's unpacking or of a truncation; the rest is swallowed.
    pub error: Option<Status>,
    /// Of a rendezvous.
    pub sender: RequestName,
    /// The endpoint where the request is outstanding.
    pub ep: Option<EpRef>,
    /// The buffer belongs to the library and is freed with the request: the sender gets only access that can be
    /// revoked.
    pub own: bool,
    /// The sender's processors access its memory, as its RTS has told.
    pub is_of_host: bool,
    pub state: ReceiverState,
    /// How a device gets to the buffer.
    pub access: Option<Box<BufferAccess>>,
    /// It is timed.
    pub timed: Option<Box<TimedTransfer>>,
}

impl Arriving {
    fn holds_nothing(&self) -> bool {
        self.access.is_none() && self.timed.is_none() && self.ahead.is_none()
    }
}

/// The buffer of a receive, as a device gets to it.
pub enum BufferAccess {
    /// The sender may put into it.
    Window(Window),
    /// The sender's device may put into it, and nothing revokes that.
    Exposed(Window),
    /// It is registered for a read of the sender's memory.
    Registered(Registration),
    /// A device copies the sender's memory into it.
    Copied(DeviceRead),
    /// A device copies it from there, where the message is read or put before.
    Staged(staging::Part),
    /// It is copied there part by part, from the sender's memory.
    Parts(staging::ReceiveParts),
}

/// A copy of a message by a device.
pub struct DeviceRead {
    /// Of the sender's memory, in use until the copy ends.
    pub key: Rc<RemoteKey>,
    /// The epoch that the sender's memory is valid of.
    pub epoch: Option<ReadEpoch>,
}

/// The epoch of a copy, which is read when the copy has ended.
pub enum ReadEpoch {
    /// Its word is mapped here by this key.
    Mapped(Rc<RemoteKey>, EpochGuard),
    /// Its word is in memory of a device.
    OnDevice {
        word: DeviceMapping,
        copier: Arc<dyn MemoryCopier>,
        value: u64,
    },
}

/// A receive on a stream.
pub struct StreamRecvOp {
    pub ep: EpRef,
    pub data: Data,
    pub received: usize,
    /// Done only when the buffer is full.
    pub wait_all: bool,
    /// Bytes of one element: a receive ends on a whole one.
    pub unit: usize,
    /// The first error of the user's unpacking; the rest is swallowed.
    pub error: Option<Status>,
}

/// A flush.
pub struct FlushOp {
    pub ep: EpRef,
    /// The endpoint is destroyed at the end.
    pub close: bool,
    /// How the peer's fence ended.
    pub fenced: Option<Result<()>>,
}

/// A read of remote memory, by messages unless `device` is set.
pub struct GetOp {
    pub ep: EpRef,
    pub data: Data,
    pub received: usize,
    pub region: u64,
    pub address: u64,
    /// It is posted in parts, which nothing behind a fence may overtake.
    pub holds_fences: bool,
    pub device: Option<DeviceAccess>,
}

impl GetOp {
    pub fn new(ep: &Ep, data: Data, key: &RemoteKey, address: u64) -> GetOp {
        GetOp {
            ep: ep.to_ref(),
            data,
            received: 0,
            region: key.info.region,
            address,
            holds_fences: false,
            device: None,
        }
    }
}

impl PutOp {
    pub fn new(ep: &Ep, data: Data, key: &RemoteKey, address: u64) -> PutOp {
        PutOp {
            ep: ep.to_ref(),
            data,
            offset: 0,
            region: key.info.region,
            address,
            holds_fences: false,
            device: None,
        }
    }
}

/// An atomic on remote memory by messages.
pub struct AmoOp {
    pub ep: EpRef,
    pub atomic: Atomic,
    pub region: u64,
    pub address: u64,
}

/// A write of remote memory, by messages unless `device` is set.
pub struct PutOp {
    pub ep: EpRef,
    pub data: Data,
    pub offset: usize,
    pub region: u64,
    pub address: u64,
    /// It is posted in parts, which nothing behind a fence may overtake.
    pub holds_fences: bool,
    pub device: Option<DeviceAccess>,
}

/// An access by the device of the message lane, and those of rails.
pub struct DeviceAccess {
    pub rkey: uct_rkey_t,
    pub memory: LocalMemory,
    /// The local memory was registered for this access.
    pub registration: Option<Registration>,
    /// The parts of an access that rails share.
    pub parts: Option<Rc<[DevicePart]>>,
}

/// State of a composite request.
pub struct CompositeOp {
    /// Parts that have not completed.
    pub pending: usize,
    /// The first error.
    pub error: Option<Status>,
}
