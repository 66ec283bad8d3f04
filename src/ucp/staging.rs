//! Memory of an endpoint that its peer maps, for messages from memory that processors cannot access: a device copies a
//! message there, and the peer copies it from there, to memory of a device of its own without a processor. And such memory for
//! messages to a device, which the peer copies there, or puts by a transport. And memory of a device that devices of the peer
//! read, for messages from memory that the driver does not open to other processes.
#![forbid(unsafe_code)]

use super::context::Context;
use super::dt::Data;
use super::mem::{DeviceWindow, DeviceWindowPart, Window, WindowPart};
use super::rkey::RemoteKey;
use crate::c::{UCP_MEM_MAP_PROT_REMOTE_READ, UCP_MEM_MAP_PROT_REMOTE_WRITE, ucs_memory_type_t};
use crate::ucs::Result;
use crate::uct::base::memory_copier::{PINNED_FROM, PendingCopy};
use crate::uct::internal::DeviceMapping;
use crate::wire::id::RequestId;
use crate::wire::rkey::{PARTS, Rkey};
use core::cell::{Cell, OnceCell, RefCell};
use core::iter;
use core::ops::Range;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of an area, which is pinned as a whole at both ends.
const AREA: usize = 8 << 20;
/// Most areas of an endpoint.
const MOST: usize = 4;
/// Parts begin at multiples of this.
const STEP: usize = 4096;

/// From this length on devices copy faster from and to pinned memory.
pub const SHORTEST: usize = PINNED_FROM;
/// Of longer messages the transport sends what has been copied while the device copies the rest.
pub const LONGEST: usize = 1 << 20;
/// Longer ones that the peer copies take parts of so many bytes, in turns.
const PART: usize = 512 << 10;

/// Bytes of an area in memory of a device, of which an endpoint has one.
const AREA_ON_DEVICE: usize = 16 << 20;
/// The parts there: devices copy so fast among each other that the driver's calls for a part take longer than a short one.
const PART_ON_DEVICE: usize = 2 << 20;

/// The areas of an endpoint for one direction, made when they are needed.
pub struct Staging {
    /// What the peer may do, `UCP_MEM_MAP_PROT_REMOTE_*`.
    prot: u32,
    areas: RefCell<Vec<Rc<Area>>>,
    /// There is no memory that peers map.
    is_refused: Cell<bool>,
}

/// What an endpoint needs for messages from and to memory of devices.
pub struct DeviceTransfers {
    /// Memory that the peer maps, for messages from memory of devices.
    pub sends: Staging,
    /// The same for messages to memory of devices.
    pub receives: Staging,
    /// Memory of a device that devices of the peer read, once it was needed; `None` inside where there is none.
    pub device_area: OnceCell<Option<Rc<Area>>>,
    /// The request whose staged fragments were sent last.
    pub staged_send: Cell<RequestId>,
    /// Of messages whose data go by parts of `sends` or `device_area`.
    pub part_turns: PartTurns,
}

impl Default for DeviceTransfers {
    fn default() -> DeviceTransfers {
        DeviceTransfers {
            sends: Staging::for_sends(),
            receives: Staging::for_receives(),
            device_area: OnceCell::new(),
            staged_send: Cell::default(),
            part_turns: PartTurns::default(),
        }
    }
}

/// Memory that the peer maps as a whole.
pub struct Area {
    memory: Memory,
    key: Arc<[u8]>,
    /// In order; no two touch.
    free: RefCell<Vec<Range<usize>>>,
    /// Its memory cannot be copied to any more, as when its context is gone.
    is_lost: Cell<bool>,
}

enum Memory {
    Host(Rc<Window>),
    Device(Rc<DeviceWindow>),
}

/// A part of an area, given back when it is dropped.
pub struct Part {
    area: Rc<Area>,
    range: Range<usize>,
}

impl Staging {
    fn new(prot: u32) -> Staging {
        Staging {
            prot,
            areas: RefCell::default(),
            is_refused: Cell::new(false),
        }
    }

    /// For messages that the peer reads.
    pub fn for_sends() -> Staging {
        Staging::new(UCP_MEM_MAP_PROT_REMOTE_READ)
    }

    /// For messages that the peer writes, or the kernel.
    pub fn for_receives() -> Staging {
        Staging::new(UCP_MEM_MAP_PROT_REMOTE_WRITE)
    }

    /// Whether a message of this length may find room.
    pub fn serves(&self, length: usize) -> bool {
        (SHORTEST..=LONGEST).contains(&length) && !self.is_refused.get()
    }

    /// Room for so many bytes, which the peer maps or writes by the keys of the domain `writer`, always the same; `None` where there is
    /// none.
    pub fn take(&self, context: &Context, length: usize, writer: Option<usize>) -> Option<Part> {
        if !self.serves(length) {
            return None;
        }
        let mut areas = self.areas.borrow_mut();
        let found = areas.iter().find_map(|area| area.take(length));
        if found.is_some() || areas.len() == MOST {
            return found;
        }
        self.open(&mut areas, context, writer)?.take(length)
    }

    /// An area, of which longer messages take part after part. `None` where there is none.
    pub fn area(&self, context: &Context) -> Option<Rc<Area>> {
        let mut areas = self.areas.borrow_mut();
        if let Some(area) = areas.first() {
            return Some(Rc::clone(area));
        }
        if self.is_refused.get() {
            return None;
        }
        self.open(&mut areas, context, None)
    }

    fn open(
        &self,
        areas: &mut Vec<Rc<Area>>,
        context: &Context,
        writer: Option<usize>,
    ) -> Option<Rc<Area>> {
        let Some(area) = Area::open(context, self.prot, writer) else {
            // Some areas do as well.
            self.is_refused.set(areas.is_empty());
            return None;
        };
        let area = Rc::new(area);
        areas.push(Rc::clone(&area));
        Some(area)
    }
}

impl Area {
    fn open(context: &Context, prot: u32, writer: Option<usize>) -> Option<Area> {
        let window = Window::for_copies(context, AREA, prot, writer).ok()?;
        let key = window.key.as_slice().into();
        Some(Area::of(Memory::Host(Rc::new(window)), key, AREA))
    }

    /// Memory on the device of `near`, of a type that the domain opens to other processes. `None` where there is none.
    pub fn on_device(
        context: &Context,
        domain: usize,
        near: (*mut u8, ucs_memory_type_t),
    ) -> Option<Area> {
        let window = DeviceWindow::new(context, domain, AREA_ON_DEVICE, near).ok()?;
        let (info, keys) = Rkey::unpack(window.key()).ok()?;
        let info = Rkey {
            mem_type: PARTS,
            ..info
        };
        let key = info.pack(keys).as_slice().into();
        Some(Area::of(
            Memory::Device(Rc::new(window)),
            key,
            AREA_ON_DEVICE,
        ))
    }

    fn of(memory: Memory, key: Arc<[u8]>, length: usize) -> Area {
        Area {
            memory,
            key,
            free: RefCell::new(iter::once(0..length).collect()),
            is_lost: Cell::new(false),
        }
    }

    /// Whether messages may still go by it.
    pub fn is_usable(&self) -> bool {
        !self.is_lost.get()
    }

    /// A device did not begin to copy there. Whether messages go another way from now on: the data may be as well as before where
    /// memory of a device is not.
    pub fn gives_up(&self) -> bool {
        let is_of_device = matches!(self.memory, Memory::Device(_));
        self.is_lost.set(is_of_device);
        is_of_device
    }

    /// Bytes of a part of a long message.
    pub fn part_length(&self) -> usize {
        match self.memory {
            Memory::Host(_) => PART,
            Memory::Device(_) => PART_ON_DEVICE,
        }
    }

    /// The key by which the peer maps it.
    pub fn key(&self) -> Arc<[u8]> {
        Arc::clone(&self.key)
    }

    /// Room for so many bytes.
    pub fn take(self: &Rc<Area>, length: usize) -> Option<Part> {
        let start = take(&mut self.free.borrow_mut(), length.next_multiple_of(STEP))?;
        Some(Part {
            area: Rc::clone(self),
            range: start..start + length,
        })
    }
}

/// Takes bytes from the first range that has so many; returns where they begin.
fn take(free: &mut Vec<Range<usize>>, length: usize) -> Option<usize> {
    let at = free.iter().position(|range| range.len() >= length)?;
    let start = free[at].start;
    free[at].start += length;
    if free[at].is_empty() {
        free.remove(at);
    }
    Some(start)
}

/// Gives a range back.
fn put(free: &mut Vec<Range<usize>>, mut range: Range<usize>) {
    let mut at = free.partition_point(|other| other.start < range.start);
    if free.get(at).is_some_and(|next| next.start == range.end) {
        range.end = free.remove(at).end;
    }
    if at > 0 && free[at - 1].end == range.start {
        at -= 1;
        range.start = free.remove(at).start;
    }
    free.insert(at, range);
}

impl Part {
    /// Its address for the peer.
    pub fn address(&self) -> u64 {
        let area = match &self.area.memory {
            Memory::Host(window) => window.address().addr(),
            Memory::Device(window) => window.memory().address(),
        };
        (area + self.range.start) as u64
    }

    /// The key of the area, of which the peer maps all.
    pub fn key(&self) -> Arc<[u8]> {
        self.area.key()
    }

    pub fn length(&self) -> usize {
        self.range.len()
    }

    /// Its memory, for the copy of the message, which ends before this is dropped. `None` where that is a device's.
    pub fn memory(&self) -> Option<WindowPart> {
        match &self.area.memory {
            Memory::Host(window) => WindowPart::of(window, self.range.clone()),
            Memory::Device(_) => None,
        }
    }

    /// Starts to copy the data from `offset` on there, as far as it goes. `None` where they are not of a device.
    pub fn start_copy(&self, data: &Data, offset: usize) -> Option<Result<Box<dyn PendingCopy>>> {
        let range = self.range.clone();
        match &self.area.memory {
            Memory::Host(window) => data.start_copy_out(offset, WindowPart::of(window, range)?),
            Memory::Device(window) => {
                data.start_copy_out(offset, DeviceWindowPart::of(window, range)?)
            }
        }
    }
}

/// A message that a device copies to such memory, or has copied.
pub struct Staged {
    /// Until its end is known. Dropped before the part, which is used again afterwards.
    copy: Option<Box<dyn PendingCopy>>,
    part: Part,
}

impl Staged {
    pub fn new(copy: Box<dyn PendingCopy>, part: Part) -> Staged {
        let copy = Some(copy);
        Staged { copy, part }
    }

    /// The memory with the message; `None` while it is being copied.
    pub fn ready(&mut self) -> Result<Option<&Part>> {
        if let Some(copy) = self.copy.take_if(|copy| copy.is_done()) {
            copy.wait()?;
        }
        Ok(self.copy.is_none().then_some(&self.part))
    }

    /// The memory, when the message has been copied.
    pub fn into_part(self) -> Part {
        self.part
    }
}

/// What the sender of a message that goes part by part has under way.
pub struct SendParts {
    pub area: Rc<Area>,
    /// Parts that a device copies to the area, and where they begin in the message.
    pub copying: VecDeque<(usize, Staged)>,
    /// Those that the receiver has been told of.
    pub told: Vec<(usize, Part)>,
    /// Bytes whose copies have been started, from the beginning on.
    pub begun: usize,
    /// It is in the send queue of the endpoint.
    pub is_queued: bool,
    /// It waits for its turn among the messages of the endpoint, or has it.
    pub is_in_line: bool,
    /// Parts that all messages of the endpoint hold.
    of_all: Rc<Cell<usize>>,
}

impl SendParts {
    pub fn new(area: Rc<Area>, turns: &PartTurns) -> SendParts {
        SendParts {
            area,
            copying: VecDeque::new(),
            told: Vec::new(),
            begun: 0,
            is_queued: false,
            is_in_line: false,
            of_all: Rc::clone(&turns.held),
        }
    }

    /// A device copies another part.
    pub fn begin(&mut self, copy: Staged) {
        let length = copy.part.length();
        self.copying.push_back((self.begun, copy));
        self.begun += length;
        self.of_all.set(self.of_all.get() + 1);
    }

    /// Gives back the part that begins at `offset` of the message; `None` where the receiver was told of none such.
    pub fn give_back(&mut self, offset: u64) -> Option<()> {
        let is_it = |(at, _): &(usize, Part)| *at as u64 == offset;
        let at = self.told.iter().position(is_it)?;
        self.told.swap_remove(at);
        self.of_all.set(self.of_all.get() - 1);
        Some(())
    }

    /// Parts that all messages of the endpoint hold.
    pub fn held_by_all(&self) -> usize {
        self.of_all.get()
    }
}

impl Drop for SendParts {
    fn drop(&mut self) {
        let held = self.copying.len() + self.told.len();
        self.of_all.set(self.of_all.get() - held);
    }
}

/// Whose turn it is among the messages of an endpoint that go part by part.
#[derive(Default)]
pub struct PartTurns {
    /// The first one starts copies, the others wait.
    pub messages: RefCell<VecDeque<RequestId>>,
    held: Rc<Cell<usize>>,
}

/// A message that is received part by part.
pub struct ReceiveParts {
    /// Of the memory where the sender puts them.
    pub key: Rc<RemoteKey>,
    /// The same as this process's devices have it, where it is a device's.
    pub on_device: Option<DeviceMapping>,
    /// What a device copies from there, and where that begins in the message.
    pub copying: VecDeque<(u64, Box<dyn PendingCopy>)>,
}

impl Drop for Part {
    fn drop(&mut self) {
        let end = self.range.end.next_multiple_of(STEP);
        put(&mut self.area.free.borrow_mut(), self.range.start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    #[test]
    fn a_part_is_given_back_once_and_by_its_offset() {
        let window = Rc::new(Window::without_memory());
        let area = Area::of(Memory::Host(window), Arc::default(), 4 * PART);
        let area = Rc::new(area);
        let turns = PartTurns::default();
        let mut parts = SendParts::new(Rc::clone(&area), &turns);
        let mut others = SendParts::new(Rc::clone(&area), &turns);
        for at in 0..3 {
            let part = area.take(PART).unwrap();
            parts.begin(Staged { copy: None, part });
            let (_, staged) = parts.copying.pop_front().unwrap();
            parts.told.push((at * PART, staged.into_part()));
        }
        let part = area.take(PART).unwrap();
        others.begin(Staged { copy: None, part });
        assert!(area.take(1).is_none(), "the area is full");
        for wrong in [1, PART as u64 - 1, 3 * PART as u64, u64::MAX] {
            assert!(parts.give_back(wrong).is_none());
        }
        assert!(others.give_back(0).is_none(), "it is being copied");
        assert_eq!(parts.held_by_all(), 4);
        assert!(parts.give_back(PART as u64).is_some());
        assert!(parts.give_back(PART as u64).is_none(), "a second time");
        assert_eq!(others.held_by_all(), 3);
        assert!(area.take(PART).is_some() && area.take(PART + 1).is_none());
        drop(parts);
        assert_eq!(others.held_by_all(), 1);
        drop(others);
        assert!(area.take(4 * PART).is_some(), "all is given back");
        assert_eq!(turns.held.get(), 0);
    }

    #[test]
    fn ranges_never_overlap_and_join_again() {
        let mut free: Vec<Range<usize>> = iter::once(0..64).collect();
        let mut taken: Vec<Range<usize>> = Vec::new();
        let rng = TestRng::new(7);
        for _ in 0..10_000 {
            if rng.below(2) == 0 {
                let length = rng.between(1, 9);
                let Some(start) = take(&mut free, length) else {
                    assert!(free.iter().all(|range| range.len() < length));
                    continue;
                };
                let range = start..start + length;
                let overlaps =
                    |other: &Range<usize>| other.start < range.end && range.start < other.end;
                assert!(
                    range.end <= 64 && !taken.iter().any(overlaps),
                    "{range:?} {taken:?}"
                );
                taken.push(range);
            } else if !taken.is_empty() {
                let range = taken.swap_remove(rng.below(taken.len()));
                put(&mut free, range);
                assert!(
                    free.windows(2).all(|pair| pair[0].end < pair[1].start),
                    "{free:?}"
                );
            }
        }
        for range in taken {
            put(&mut free, range);
        }
        assert!(free.len() == 1 && free[0] == (0..64), "{free:?}");
    }
}
