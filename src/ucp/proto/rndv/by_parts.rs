//! Long messages from memory of devices to a peer that maps memory of this process: a device copies part after part to an area
//! of the endpoint, and the receiver copies each from there, a device of its own without a processor.
//!
//! Where devices copy between both processes, messages from memory that the driver does not open to other processes, such as
//! managed memory, go the same way by an area in memory of a device. No processor accesses their bytes, so no page moves.
//!
//! The RTS has the key of the area and no address. A receiver whose process, or whose device, maps the area asks for parts by an RTR with `WANTED` in the
//! place of a key; one that does not asks for fragments, as older versions do. A part of the area is used again when the
//! receiver has copied it. One message of an endpoint has its turn to start copies; what finds no room goes by fragments.
//!
//! Nothing is taken back from a receiver: a message whose RTR has come ends early only if its endpoint does, whose areas
//! nothing else uses then.
#![forbid(unsafe_code)]

use super::mapped;
use super::receiver::{complete_after, ep_of_sender, with_arriving};
use super::sender;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Pin, Task, TaskStep};
use crate::ucp::op::{Arriving, BufferAccess, Op, SendOp, Stage};
use crate::ucp::proto::{control, zcopy};
use crate::ucp::request::Req;
use crate::ucp::rkey::{MappedBytes, RemoteKey};
use crate::ucp::rndv_state::{ReceiverState, SenderEvent, SenderState};
use crate::ucp::rts::Rts;
use crate::ucp::staging::{Area, LONGEST, ReceiveParts, SendParts, Staged};
use crate::ucp::worker_core::{Core, RepeatedCall};
use crate::ucs::{Result, Status};
use crate::uct::base::memory_copier::PendingCopy;
use crate::uct::internal::DeviceBytes;
use crate::uct::local;
use crate::wire::Writer;
use crate::wire::header::{AmId, Header, PartHdr, PartTakenHdr};
use crate::wire::id::{RequestId, RequestName};
use crate::wire::rkey::{PARTS, READ};
use crate::{ucs_debug, ucs_error};
use core::cell::RefCell;
use core::ffi::c_uint;
use std::collections::VecDeque;
use std::rc::Rc;

/// What an RTR has in the place of a key, without an address.
pub const WANTED: &[u8] = &[1];

/// Parts of an endpoint's messages that are under way, so that devices at both ends always have one
/// to copy. Half an area: shorter messages have the rest.
const MOST: usize = 8;

/// What a message that goes by parts needs at its sender, of which the RTS has the key. `None` where it does not.
pub fn offer(ep: &Ep, data: &Data) -> Option<Box<SendParts>> {
    let area = if mapped::goes_by_parts(ep, data) {
        ep.device_transfers().sends.area(ep.worker().context())?
    } else if mapped::goes_by_device_parts(ep, data) {
        let area = ep
            .device_transfers()
            .device_area
            .get_or_init(|| area_on_device(ep, data));
        Rc::clone(area.as_ref()?)
    } else {
        return None;
    };
    Some(Box::new(SendParts::new(
        area,
        &ep.device_transfers().part_turns,
    )))
}

/// Memory on the device of the data, of a type that devices of the peer read, which is another process.
fn area_on_device(ep: &Ep, data: &Data) -> Option<Rc<Area>> {
    let worker = ep.worker();
    if ep.peer_process().is_none_or(local::is_own) {
        return None;
    }
    let context = worker.context();
    let domain = worker.domain_of(mapped::lane_for_device_parts(ep)?.iface);
    let types = context.mds[domain].md.attr().access_mem_types;
    let (near, _) = data.device_block()?;
    let area = Area::on_device(context, domain, (near, types.trailing_zeros()))?;
    Some(Rc::new(area))
}

/// Whether parts of the message are under way.
pub fn is_sending(send: &SendOp) -> bool {
    send.memory.as_ref().is_some_and(|of| of.parts.is_some())
}

/// The send, whose receiver has asked for parts, is at the head of the send queue.
pub fn step(ep: &Ep, req: Req, send: &mut SendOp, to: (RequestId, usize)) -> Result<TaskStep> {
    set_queued(send, true);
    let stepped = match has_turn(ep, req, send) {
        true => step_in_turn(ep, req, send, to),
        false => Ok(TaskStep::Done),
    };
    match stepped {
        Ok(TaskStep::Done) => set_queued(send, false),
        Ok(TaskStep::More) | Err(Status::NO_RESOURCE) => {}
        Err(_) => end_turn(ep, req),
    }
    stepped
}

fn set_queued(send: &mut SendOp, is_queued: bool) {
    if let Some(memory) = &mut send.memory
        && let Some(parts) = &mut memory.parts
    {
        parts.is_queued = is_queued;
    }
}

/// Whether the message may start copies, or has started all.
fn has_turn(ep: &Ep, req: Req, send: &mut SendOp) -> bool {
    let length = send.data.len();
    let parts = send.memory.as_mut().and_then(|of| of.parts.as_mut());
    let Some(parts) = parts.filter(|parts| parts.begun < length) else {
        return true;
    };
    let mut all = ep.device_transfers().part_turns.messages.borrow_mut();
    if !core::mem::replace(&mut parts.is_in_line, true) {
        all.push_back(req.id());
    }
    while let Some(first) = all.front() {
        if *first == req.id() {
            return true;
        }
        if is_of_ep(ep, *first) {
            return false;
        }
        all.pop_front();
    }
    true
}

/// Whether a request of the endpoint still goes by parts.
fn is_of_ep(ep: &Ep, id: RequestId) -> bool {
    let is_it = |op: &mut Op| match op {
        Op::Send(send) => core::ptr::eq(&raw const *send.ep, ep) && is_sending(send),
        _ => false,
    };
    let req = ep.worker().requests().named(id);
    req.is_some_and(|req| req.with_op(is_it))
}

/// The message has started all its copies, or ends: the next has its turn.
fn end_turn(ep: &Ep, req: Req) {
    let mut all = ep.device_transfers().part_turns.messages.borrow_mut();
    if all.front() == Some(&req.id()) {
        all.pop_front();
    }
    drop(all);
    wake_first(ep);
}

/// Has the message go on whose turn it is.
fn wake_first(ep: &Ep) {
    let first = {
        let mut all = ep.device_transfers().part_turns.messages.borrow_mut();
        while all.front().is_some_and(|first| !is_of_ep(ep, *first)) {
            all.pop_front();
        }
        all.front().copied()
    };
    let first = first.and_then(|id| ep.worker().requests().named(id));
    if let Some(first) = first {
        wake(first);
    }
}

/// Puts a message into the send queue, unless it is there.
fn wake(req: Req) {
    let ep = req.with_op(|op| {
        let Op::Send(send) = op else { return None };
        let parts = send.memory.as_mut()?.parts.as_mut()?;
        let is_queued = core::mem::replace(&mut parts.is_queued, true);
        (!is_queued).then_some(send.ep)
    });
    if let Some(ep) = ep {
        ep.post(Task::Request(req));
    }
}

fn step_in_turn(
    ep: &Ep,
    req: Req,
    send: &mut SendOp,
    (receiver, length): (RequestId, usize),
) -> Result<TaskStep> {
    let Some(memory) = &mut send.memory else {
        return Ok(TaskStep::Done);
    };
    let Some(parts) = &mut memory.parts else {
        return Ok(TaskStep::Done);
    };
    while parts.begun < length && parts.held_by_all() < MOST && parts.area.is_usable() {
        let bytes = parts.area.part_length().min(length - parts.begun);
        let Some(part) = parts.area.take(bytes) else {
            break;
        };
        let Some(copy) = part.start_copy(&send.data, parts.begun) else {
            break;
        };
        let copy = match copy {
            Err(_) if parts.area.gives_up() => break,
            copy => copy?,
        };
        let staged = Staged::new(copy, part);
        parts.begin(staged);
        if parts.begun == length {
            end_turn(ep, req);
        }
    }
    let mut sent = false;
    while let Some((offset, staged)) = parts.copying.front_mut() {
        let Some(part) = staged.ready()? else { break };
        let header = PartHdr {
            sender: ep.name_request(req),
            receiver,
            offset: *offset as u64,
            length: part.length() as u64,
            address: part.address(),
        };
        let mut bytes = [0; PartHdr::LEN];
        header.encode(&mut Writer::new(&mut bytes));
        ep.lane().control(AmId::Part, &bytes)?;
        sent = true;
        let told = parts.copying.pop_front();
        parts
            .told
            .extend(told.map(|(offset, staged)| (offset, staged.into_part())));
    }
    match (parts.copying.is_empty(), parts.told.is_empty()) {
        (true, true) if parts.begun == length => {
            memory.parts = None;
            sender::advance(send, SenderEvent::DataOut { offset: length });
            ep.complete_outstanding(req, Ok(()));
            Ok(TaskStep::Done)
        }
        // Goes on when the receiver has taken one of another message.
        (true, true) if parts.held_by_all() > 0 => Ok(TaskStep::Done),
        (true, true) => {
            ucs_debug!("no room for a part of a message; fragments instead");
            let offset = parts.begun;
            memory.parts = None;
            end_turn(ep, req);
            sender::advance(send, SenderEvent::DataOut { offset });
            Ok(TaskStep::More)
        }
        // Goes on when the receiver has taken one.
        (true, false) => Ok(TaskStep::Done),
        (false, _) if sent => Ok(TaskStep::More),
        (false, _) => {
            ep.wait_for_copy();
            Err(Status::NO_RESOURCE)
        }
    }
}

/// The receiver has copied a part.
pub fn on_taken(worker: &Core, hdr: &PartTakenHdr) {
    let Some(req) = worker.requests().named(hdr.request) else {
        ucs_debug!("a part was taken of a send that is over");
        return;
    };
    let ep = req.with_op(|op| {
        let Op::Send(send) = op else { return None };
        let is_sending = matches!(send.stage, Stage::Rndv(SenderState::Data { .. }));
        let memory = send.memory.as_mut().filter(|_| is_sending)?;
        memory.parts.as_mut()?.give_back(hdr.offset)?;
        Some(send.ep)
    });
    let Some(ep) = ep else {
        ucs_error!("the peer has taken a part that it was not told of; dropped");
        return;
    };
    let _pin = Pin::new(&ep);
    wake(req);
    wake_first(&ep);
}

/// The memory of the sender's from which a message comes in parts, if its RTS has the key of such memory, which is mapped here.
pub fn open(worker: &Core, ep: &Ep, message: &Rts) -> Option<BufferAccess> {
    if message.region == 0
        || message.address != 0
        || message.total <= LONGEST
        || !worker.proto().rules.maps
        || message.sender.ep.uuid == worker.uuid
    {
        return None;
    }
    let key = ep.keys().borrow().of_region(message.region)?;
    // That of this process is unmapped when its owner likes.
    if key.info.context == worker.context().id || key.is_of_device() {
        return None;
    }
    key.readable(key.info.address, usize::try_from(key.info.length).ok()?)?;
    Some(BufferAccess::Parts(ReceiveParts {
        key,
        on_device: None,
        copying: VecDeque::new(),
    }))
}

/// The same of memory of a device, from which a device copies to the buffer at `to`, on the device of that.
pub fn open_on_device(ep: &Ep, message: &Rts, to: *mut u8) -> Option<BufferAccess> {
    if message.region == 0 || message.address != 0 {
        return None;
    }
    let key = ep.keys().borrow().of_region(message.region)?;
    if key.info.mem_type != PARTS || key.info.uses & READ == 0 {
        return None;
    }
    let lane = mapped::lane_for_device_parts(ep)?;
    let all = (key.info.address, usize::try_from(key.info.length).ok()?);
    let mapping = zcopy::device_access(lane, &key, all, to.addr()).ok()?;
    // That of this process is freed when its owner likes.
    mapping.bytes(0, 0)?;
    Some(BufferAccess::Parts(ReceiveParts {
        key,
        on_device: Some(mapping),
        copying: VecDeque::new(),
    }))
}

/// What becomes of a part that has come.
enum Came {
    /// A device copies it.
    Copies,
    Taken,
}

/// A part of the data stands in the sender's memory.
pub fn on_part(worker: &Core, hdr: &PartHdr) {
    let Some(req) = worker.requests().named(hdr.receiver) else {
        ucs_debug!("a part of a message for a receive that is over");
        return send_taken(worker, hdr.sender, hdr.offset);
    };
    let came = with_arriving(req, |data, state| {
        let (bytes, offset, is_first) = accept(state, hdr)?;
        if state.error.is_some() {
            return Some((Came::Taken, is_first));
        }
        match bytes.start_copy(worker, data, offset) {
            Ok(Some(copy)) => {
                if let Some(BufferAccess::Parts(parts)) = state.access.as_deref_mut() {
                    parts.copying.push_back((hdr.offset, copy));
                }
                return Some((Came::Copies, is_first));
            }
            Ok(None) => {}
            Err(e) => state.error = Some(e),
        }
        Some((Came::Taken, is_first))
    });
    match came.flatten() {
        Some((Came::Copies, true)) => worker.proto().part_copies.add(worker, hdr.receiver),
        Some((Came::Copies, false)) => {}
        Some((Came::Taken, _)) => {
            send_taken(worker, hdr.sender, hdr.offset);
            complete_if_all(worker, hdr.receiver);
        }
        None => ucs_error!("a part of a message was not asked for, or came before; dropped"),
    }
}

/// The bytes of a part, where they belong, and whether no other part is copied. `None`, and nothing changes, for one that is not of
/// the message that was asked for, was named before, or is not in its sender's memory.
fn accept(state: &mut Arriving, hdr: &PartHdr) -> Option<(PartBytes, usize, bool)> {
    let Some(BufferAccess::Parts(parts)) = state.access.as_deref() else {
        return None;
    };
    if hdr.length == 0 || state.sender != hdr.sender {
        return None;
    }
    let is_first = parts.copying.is_empty();
    let bytes = PartBytes::find(parts, hdr)?;
    let offset = state.place(hdr.offset, usize::try_from(hdr.length).ok()?)?;
    Some((bytes, offset, is_first))
}

/// The bytes of a part in the sender's memory.
enum PartBytes {
    Mapped(Rc<RemoteKey>, MappedBytes),
    OnDevice(DeviceBytes),
}

impl PartBytes {
    /// `None` where the memory has not all of them.
    fn find(parts: &ReceiveParts, hdr: &PartHdr) -> Option<PartBytes> {
        let length = usize::try_from(hdr.length).ok()?;
        if let Some(mapping) = &parts.on_device {
            let offset = hdr.address.checked_sub(parts.key.info.address)?;
            let bytes = mapping.bytes(usize::try_from(offset).ok()?, length)?;
            return Some(PartBytes::OnDevice(bytes));
        }
        let bytes = MappedBytes::of(&parts.key, hdr.address, length, READ)?;
        Some(PartBytes::Mapped(Rc::clone(&parts.key), bytes))
    }

    /// Copies them to `offset` of a buffer, where they fit. What a device copies is only started.
    fn start_copy(
        self,
        worker: &Core,
        data: &Data,
        offset: usize,
    ) -> Result<Option<Box<dyn PendingCopy>>> {
        match self {
            PartBytes::OnDevice(bytes) => {
                let copy = data.start_unpack(offset, bytes);
                copy.unwrap_or(Err(Status::UNSUPPORTED)).map(Some)
            }
            PartBytes::Mapped(key, bytes) => {
                let device_memory = &worker.context().device_memory;
                if let Some(copier) = device_memory.copier(data.memory_type()) {
                    key.pin(&**copier);
                    let copy = data.start_unpack(offset, bytes);
                    return copy.unwrap_or(Err(Status::UNSUPPORTED)).map(Some);
                }
                data.unpack(offset, bytes.payload()).map(|()| None)
            }
        }
    }
}

/// Tells the sender that a part has been copied.
fn send_taken(worker: &Core, sender: RequestName, offset: u64) {
    if let Some(ep) = ep_of_sender(worker, sender) {
        let taken = PartTakenHdr {
            request: sender.id,
            offset,
        };
        control::post(ep, AmId::PartTaken, &taken, &[]);
    }
}

/// Completes a receive by parts when all have come and have been copied.
fn complete_if_all(worker: &Core, id: RequestId) {
    let Some(req) = worker.requests().named(id) else {
        return;
    };
    let end = with_arriving(req, |data, state| {
        let is_copying = match state.access.as_deref() {
            Some(BufferAccess::Parts(parts)) => !parts.copying.is_empty(),
            _ => true,
        };
        let is_all = state.state == ReceiverState::Over && state.received == state.total;
        (is_all && !is_copying).then(|| match state.error {
            Some(e) => Err(e),
            None => data.start_finish(),
        })
    });
    if let Some(Some(copy)) = end {
        complete_after(req, copy);
    }
}

/// The receives of a worker with parts that devices copy.
#[derive(Default)]
pub struct PartCopies {
    /// By their ids: they may end meanwhile, and wait for the copies then.
    receives: RefCell<VecDeque<RequestId>>,
    calls: RepeatedCall,
}

/// Receives that are looked at in one progress: copies end in order, unless they are of several devices.
const AT_ONCE: usize = 2;

impl PartCopies {
    pub fn is_empty(&self) -> bool {
        self.receives.borrow().is_empty()
    }

    fn add(&self, worker: &Core, id: RequestId) {
        self.receives.borrow_mut().push_back(id);
        self.calls.start(worker, poll);
        worker.wakeup.work_came();
    }
}

/// Progress: tells the senders of the parts that devices have copied.
extern "C" fn poll(worker: &Core) -> c_uint {
    let copies = &worker.proto().part_copies;
    let mut ended = 0;
    for _ in 0..AT_ONCE {
        let id = copies.receives.borrow_mut().pop_front();
        let Some(id) = id else { break };
        ended += end_copies(worker, id);
    }
    if copies.is_empty() {
        copies.calls.stop(worker);
    }
    ended
}

/// Tells the sender of the parts of a receive that have been copied; it stays in the list while there are others.
fn end_copies(worker: &Core, id: RequestId) -> c_uint {
    let mut ended = 0;
    loop {
        // It may end in a callback.
        let Some(req) = worker.requests().named(id) else {
            return ended;
        };
        let one = with_arriving(req, |_, state| {
            let Some(BufferAccess::Parts(parts)) = state.access.as_deref_mut() else {
                return None;
            };
            if !parts.copying.front()?.1.is_done() {
                return None;
            }
            let (offset, copy) = parts.copying.pop_front()?;
            let is_last = parts.copying.is_empty();
            state.error = state.error.or(copy.wait().err());
            Some((state.sender, offset, is_last))
        });
        let Some(Some((sender, offset, is_last))) = one else {
            break;
        };
        ended += 1;
        send_taken(worker, sender, offset);
        if is_last {
            complete_if_all(worker, id);
            return ended;
        }
    }
    let copies = &worker.proto().part_copies;
    copies.receives.borrow_mut().push_back(id);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::{UCT_DEVICE_TL_CUDA_IPC, uct_device_mem_elem};
    use crate::ucp::rkey::Access;
    use crate::ucs::test_rng::TestRng;
    use crate::uct::base::memory_copier::KeptBytes;
    use crate::uct::internal::DeviceMapping;
    use crate::wire::id::{EpId, EpName};
    use crate::wire::rkey::Rkey;
    use std::sync::Arc;

    const AREA: u64 = 0x7000_0000;
    const MAPPED: usize = 0x9000_0000;
    const LENGTH: usize = 1 << 20;
    const PART: u64 = 100 << 10;

    fn sender() -> RequestName {
        let id = EpId(4);
        let ep = EpName { uuid: 3, id };
        RequestName {
            ep,
            id: RequestId(5),
        }
    }

    /// A receive of three parts and a half that has asked for them.
    fn asked() -> Arriving {
        let info = Rkey {
            context: 1,
            region: 2,
            address: AREA,
            length: LENGTH as u64,
            mem_type: PARTS,
            uses: READ,
        };
        let mapping = DeviceMapping {
            transport: UCT_DEVICE_TL_CUDA_IPC,
            element: [0; size_of::<uct_device_mem_elem>()],
            mapped: (MAPPED, LENGTH),
            mapping: Some(Arc::new(())),
        };
        Arriving {
            total: (PART * 7 / 2) as usize,
            sender: sender(),
            state: ReceiverState::AwaitData,
            access: Some(Box::new(BufferAccess::Parts(ReceiveParts {
                key: Rc::new(RemoteKey::new(info, Access::Messages, None)),
                on_device: Some(mapping),
                copying: VecDeque::new(),
            }))),
            ..Arriving::default()
        }
    }

    fn part(offset: u64, length: u64) -> PartHdr {
        PartHdr {
            sender: sender(),
            receiver: RequestId(6),
            offset,
            length,
            address: AREA,
        }
    }

    #[test]
    fn parts_come_once_in_any_order_and_stand_where_they_are_said_to() {
        let mut state = asked();
        for (at, offset, length) in [
            (0, PART, PART),
            (4096, 0, PART),
            (9, 3 * PART, PART / 2),
            (LENGTH as u64 - PART, 2 * PART, PART),
        ] {
            assert_eq!(state.state, ReceiverState::AwaitData);
            let hdr = PartHdr {
                address: AREA + at,
                ..part(offset, length)
            };
            let (bytes, to, is_first) = accept(&mut state, &hdr).unwrap();
            assert!(to as u64 == offset && is_first);
            let PartBytes::OnDevice(bytes) = bytes else {
                panic!("not in memory of the device")
            };
            let (from, count) = bytes.bytes();
            assert_eq!(from.addr(), MAPPED + at as usize);
            assert_eq!(count as u64, length);
            assert!(accept(&mut state, &hdr).is_none(), "a second time");
        }
        assert_eq!(state.state, ReceiverState::Over);
        assert!(accept(&mut state, &part(0, PART)).is_none(), "it is over");
    }

    #[test]
    fn hostile_parts_change_nothing() {
        let mut state = asked();
        let total = state.total as u64;
        let ok = part(0, PART);
        let of_other_ep = RequestName {
            ep: EpName::default(),
            ..sender()
        };
        let of_other_send = RequestName {
            id: RequestId(7),
            ..sender()
        };
        for hdr in [
            part(0, 0),
            part(total, 0),
            part(0, total + 1),
            part(total, 1),
            part(total - 5, 6),
            part(u64::MAX, 1),
            part(u64::MAX - 5, 6),
            part(0, u64::MAX),
            part(1, u64::MAX),
            PartHdr {
                sender: of_other_ep,
                ..ok
            },
            PartHdr {
                sender: of_other_send,
                ..ok
            },
            PartHdr { address: 0, ..ok },
            PartHdr {
                address: AREA - 1,
                ..ok
            },
            PartHdr {
                address: AREA + LENGTH as u64 - PART + 1,
                ..ok
            },
            PartHdr {
                address: AREA + LENGTH as u64,
                ..ok
            },
            PartHdr {
                address: u64::MAX,
                ..ok
            },
            PartHdr {
                address: u64::MAX - PART + 1,
                ..ok
            },
        ] {
            assert!(accept(&mut state, &hdr).is_none(), "{hdr:?}");
        }
        let rng = TestRng::new(3);
        for _ in 0..10_000 {
            let hdr = PartHdr {
                address: rng.next() >> rng.below(64),
                ..part(rng.next() >> rng.below(64), rng.next() >> rng.below(64))
            };
            let is_inside = hdr.length > 0
                && hdr.offset <= total
                && hdr.length <= total - hdr.offset
                && (AREA..=AREA + LENGTH as u64).contains(&hdr.address)
                && hdr.length <= AREA + LENGTH as u64 - hdr.address;
            assert!(is_inside || accept(&mut state, &hdr).is_none(), "{hdr:?}");
        }
        assert!(state.received == 0 && state.ahead.is_none() && state.error.is_none());
        assert_eq!(state.state, ReceiverState::AwaitData);
        assert!(accept(&mut state, &ok).is_some());
    }

    #[test]
    fn only_who_has_asked_for_parts_takes_them() {
        let mut state = asked();
        state.access = None;
        assert!(accept(&mut state, &part(0, PART)).is_none());
        for other in [
            ReceiverState::Matched,
            ReceiverState::Getting,
            ReceiverState::Over,
            ReceiverState::Copying,
        ] {
            let mut state = Arriving {
                state: other,
                ..asked()
            };
            assert!(accept(&mut state, &part(0, PART)).is_none(), "{other}");
            assert_eq!((state.state, state.received), (other, 0));
        }
    }
}
