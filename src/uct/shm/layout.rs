//! The layout of an interface's segment: constants ("facts"), doorbells, a bit for each lane that rang, the table of lanes, the
//! lanes.
//!
//! The owner writes the facts once, before anybody can know the address; a process that attaches copies them once and
//! uses them only after `check`. A lane's state word passes between the owner and senders: free → taken by a sender →
//! ready → closing → free again by the owner.

use super::ring::Shape;
use crate::ucs::sync::{AtomicU32, AtomicU64, Ordering, fence, word32, word64};
use crate::ucs::{Result, Status};

const MAGIC: u64 = u64::from_le_bytes(*b"ferrushm");
const VERSION: u32 = 8;
/// The facts lie before this, each bell on lines of its own behind it.
const DOORBELL_AT: usize = 256;
const ARMED_AT: usize = 384;
const CLOSED_AT: usize = 512;
const RUNG_AT: usize = 640;
const TABLE_AT: usize = 1024;
const PAGE: usize = 4096;

/// Segments of the longest message of a wide lane. Measured with the processors far from each other: 64 KiB in pieces took 5.0 us with
/// 1, 3.9 with 2 or 4, and 4.2 with 8; 1 MiB 57, 43, 39 and 39.
const WIDE_SEGMENTS: u32 = 4;
/// Lanes with an arena so many times as long as a wide one's: one or two senders write lines that the receiver's cache has let go of.
const LONG_LANES: u32 = 2;
const LONG_TIMES: u32 = 4;
/// Lanes with room for streams, and for long messages whose receiver does not run at the moment: of 16 processes on two processors
/// some waited for theirs with a quarter of that room (MPI_Allreduce of 256 KiB).
const WIDE_LANES: u32 = 14;
/// Then those with a quarter of that room, and later senders get narrow ones, so that many peers stay cheap: an interface must fit into
/// 36 MiB of address space.
const MIDDLE_LANES: u32 = 16;
/// Wide lanes, and no middle ones, where lanes are so long that the address space is better used for more senders.
const FEW_WIDE_LANES: u32 = 6;
/// No interface has more senders at a time.
pub const MAX_LANES: u32 = 512;
/// Address space that one interface's segment may take.
const MAX_BYTES: usize = 1 << 30;
/// Long, wide, middle and narrow lanes.
const CLASSES: usize = 4;
/// A bit for each lane.
const RUNG_WORDS: usize = MAX_LANES as usize / u64::BITS as usize;

/// The constant part of an interface's segment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    magic: u64,
    version: u32,
    pub pid: u32,
    pub start_time: u64,
    pub len: u64,
    pub classes: [ClassWords; CLASSES],
    /// Whether the owner issues barriers for other processes when it requests the doorbell.
    pub barriers: u32,
}

const _: () = assert!(size_of::<Facts>() <= DOORBELL_AT);
const _: () = assert!(RUNG_AT + RUNG_WORDS * size_of::<u64>() <= TABLE_AT);

/// A `Class` as it stands in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ClassWords {
    lanes: u32,
    slots: u32,
    slot: u32,
    segment: u32,
    cells: u32,
    lead: u32,
}

impl From<Class> for ClassWords {
    fn from(Class { lanes, shape }: Class) -> ClassWords {
        ClassWords {
            lanes,
            slots: shape.slots,
            slot: shape.slot,
            segment: shape.segment,
            cells: shape.cells,
            lead: shape.lead,
        }
    }
}

impl From<ClassWords> for Class {
    fn from(words: ClassWords) -> Class {
        Class {
            lanes: words.lanes,
            shape: Shape {
                slots: words.slots,
                slot: words.slot,
                segment: words.segment,
                cells: words.cells,
                lead: words.lead,
            },
        }
    }
}

/// So many lanes of one shape, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    lanes: u32,
    shape: Shape,
}

impl Class {
    fn bytes(self) -> usize {
        self.lanes as usize * self.shape.bytes()
    }
}

/// Offsets and sizes of the lanes: those of each class, the widest first, as senders take the first that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    classes: [Class; CLASSES],
}

impl Layout {
    /// A layout for lanes of `shape`, with as many of them as the address space allows. All but narrow ones also take messages of a few
    /// segments, as fewer of them, so that long ones come in fewer pieces.
    pub fn new(shape: Shape) -> Layout {
        let segments = WIDE_SEGMENTS.min(Shape::MAX_SEGMENT / shape.segment).max(1);
        let wide = Shape {
            segment: segments * shape.segment,
            cells: (shape.cells / segments).max(Shape::MIN_CELLS),
            ..shape
        };
        let long = Shape {
            cells: (LONG_TIMES * wide.cells).min(Shape::MAX_CELLS),
            ..wide
        };
        let slots = shape.slots.div_ceil(4).next_power_of_two().max(2);
        let middle = Shape {
            slots,
            cells: (wide.cells / 4).max(Shape::MIN_CELLS),
            ..wide
        };
        let narrow = Shape {
            slots,
            cells: Shape::MIN_CELLS,
            ..shape
        };
        let classes = |wide_lanes, middle_lanes| {
            let class = |lanes, shape| Class { lanes, shape };
            let first = [
                class(LONG_LANES, long),
                class(wide_lanes, wide),
                class(middle_lanes, middle),
            ];
            let bytes: usize = first.iter().map(|class| class.bytes()).sum();
            let room = MAX_BYTES.saturating_sub(bytes) / narrow.bytes();
            let most = MAX_LANES - LONG_LANES - wide_lanes - middle_lanes;
            let lanes = u32::try_from(room).map_or(most, |room| room.min(most));
            let [long, wide, middle] = first;
            Layout {
                classes: [long, wide, middle, class(lanes, narrow)],
            }
        };
        let layout = classes(WIDE_LANES, MIDDLE_LANES);
        if layout.lanes() < MAX_LANES {
            return classes(FEW_WIDE_LANES, 0);
        }
        layout
    }

    /// The number of lanes.
    pub fn lanes(&self) -> u32 {
        self.classes.iter().map(|class| class.lanes).sum()
    }

    pub fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.classes.iter().map(|class| class.shape)
    }

    /// Bytes of facts, doorbells and table, which are reserved at creation.
    pub fn head_bytes(&self) -> usize {
        (TABLE_AT + self.lanes() as usize * size_of::<u64>()).next_multiple_of(PAGE)
    }

    /// Offset and shape of a lane below `lanes`.
    pub fn lane(&self, lane: u32) -> Option<(usize, Shape)> {
        let (mut lane, mut at) = (lane, self.head_bytes());
        for class in &self.classes {
            if lane < class.lanes {
                return Some((at + lane as usize * class.shape.bytes(), class.shape));
            }
            lane -= class.lanes;
            at += class.bytes();
        }
        None
    }

    /// The lane that has the byte at `offset`.
    pub fn lane_of(&self, offset: usize) -> Option<u32> {
        let mut offset = offset.checked_sub(self.head_bytes())?;
        let mut before = 0;
        for class in &self.classes {
            if offset < class.bytes() {
                return Some(before + (offset / class.shape.bytes()) as u32);
            }
            offset -= class.bytes();
            before += class.lanes;
        }
        None
    }

    pub fn bytes(&self) -> usize {
        self.head_bytes()
            + self
                .classes
                .iter()
                .map(|class| class.bytes())
                .sum::<usize>()
    }

    /// The facts of a segment of this layout.
    pub fn facts(&self, pid: u32, start_time: u64, barriers: bool) -> Facts {
        Facts {
            magic: MAGIC,
            version: VERSION,
            pid,
            start_time,
            len: self.bytes() as u64,
            classes: self.classes.map(ClassWords::from),
            barriers: barriers.into(),
        }
    }
}

impl Facts {
    /// The layout, if these are facts of our format and the lanes lie in `mapped` bytes.
    pub fn check(&self, mapped: usize) -> Result<Layout> {
        if self.magic != MAGIC || self.version != VERSION {
            crate::ucs_diag!("shared memory of another format: version {}", self.version);
            return Err(Status::UNREACHABLE);
        }
        let layout = Layout {
            classes: self.classes.map(Class::from),
        };
        // The sums cannot overflow once the numbers of each class are small.
        let small = |class: &Class| class.shape.is_sane() && class.lanes <= MAX_LANES;
        let sane = layout.classes.iter().all(small)
            && (1..=MAX_LANES).contains(&layout.lanes())
            && layout.bytes() <= mapped;
        if sane {
            Ok(layout)
        } else {
            Err(Status::INVALID_ADDR)
        }
    }
}

/// The changing words at the front of a segment.
#[derive(Clone, Copy)]
pub struct Bells {
    base: *mut u8,
}

// SAFETY: the words are only used as atomics.
unsafe impl Send for Bells {}
// SAFETY: as above.
unsafe impl Sync for Bells {}

impl Bells {
    /// # Safety
    /// `base` must be a mapped segment of a checked layout, for as long as the bells are used.
    pub unsafe fn new(base: *mut u8) -> Bells {
        Bells { base }
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: aligned, inside the head of the segment, only used as an atomic.
        unsafe { word32(self.base.wrapping_add(at)) }
    }

    /// Counts calls for the owner's attention.
    #[inline]
    pub fn doorbell(&self) -> &AtomicU32 {
        self.word(DOORBELL_AT)
    }

    /// Whether the owner sleeps and wants to be woken.
    fn armed(&self) -> &AtomicU32 {
        self.word(ARMED_AT)
    }

    fn rung(&self, word: usize) -> &AtomicU64 {
        let at = RUNG_AT + word % RUNG_WORDS * size_of::<u64>();
        // SAFETY: aligned, inside the head of the segment, only used as an atomic.
        unsafe { word64(self.base.wrapping_add(at)) }
    }

    /// The owner has to look at a lane when it next looks at any.
    pub fn mark(&self, lane: u32) {
        let bit = 1 << (lane % u64::BITS);
        // Release: pairs with the Acquire in `take_rung`; the lane's state comes before.
        self.rung((lane / u64::BITS) as usize)
            .fetch_or(bit, Ordering::Release);
    }

    /// Has the owner look at a lane, in its next progress.
    pub fn call(&self, lane: u32) {
        self.mark(lane);
        // SeqCst: pairs with Inbox::look.
        self.doorbell().fetch_add(1, Ordering::SeqCst);
    }

    /// The lanes to look at, each once for any number of calls. Senders may name lanes that there are not.
    pub fn take_rung(&self) -> impl Iterator<Item = u32> {
        let take = |word: usize| match self.rung(word).load(Ordering::Relaxed) {
            0 => 0,
            // Acquire: pairs with the Release in `mark`.
            _ => self.rung(word).swap(0, Ordering::Acquire),
        };
        (0..RUNG_WORDS).flat_map(move |word| {
            let mut bits = take(word);
            core::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
                (bit < u64::BITS).then_some(word as u32 * u64::BITS + bit)
            })
        })
    }

    /// The sender of a lane calls the owner. If it returns true, the sender must wake the owner.
    pub fn ring(&self, lane: u32) -> bool {
        self.call(lane);
        // SeqCst: pairs with the barrier between `set_armed` and the owner's look at the doorbell:
        // one of the two sees the other.
        fence(Ordering::SeqCst);
        self.armed().swap(0, Ordering::SeqCst) != 0
    }

    /// The owner is about to sleep: a barrier and a last poll follow.
    pub fn set_armed(&self) {
        self.armed().store(1, Ordering::SeqCst);
    }

    /// The owner is awake.
    pub fn set_awake(&self) {
        // Relaxed: a poke too many does no harm.
        self.armed().store(0, Ordering::Relaxed);
    }

    /// Whether the owner closed its interface.
    pub fn closed(&self) -> &AtomicU32 {
        self.word(CLOSED_AT)
    }

    /// State of a lane below the layout's `lanes`.
    pub fn lane(&self, lane: u32) -> &AtomicU64 {
        debug_assert!(lane < MAX_LANES);
        let at = TABLE_AT + lane as usize * size_of::<u64>();
        // SAFETY: aligned, inside the head of the segment, only used as an atomic.
        unsafe { word64(self.base.wrapping_add(at)) }
    }
}

/// A lane's state word: phase, generation, and the sender's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneState(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    Free = 0,
    Taken = 1,
    Ready = 2,
    Closing = 3,
}

impl LaneState {
    pub fn new(phase: Phase, generation: u32, pid: u32) -> LaneState {
        LaneState(phase as u64 | u64::from(generation & 0xff_ffff) << 8 | u64::from(pid) << 32)
    }

    /// `None` for a number that is no phase.
    pub fn phase(self) -> Option<Phase> {
        Some(match self.0 as u8 {
            0 => Phase::Free,
            1 => Phase::Taken,
            2 => Phase::Ready,
            3 => Phase::Closing,
            _ => return None,
        })
    }

    pub fn generation(self) -> u32 {
        (self.0 >> 8) as u32 & 0xff_ffff
    }

    pub fn pid(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The same lane in another phase.
    pub fn to(self, phase: Phase) -> LaneState {
        LaneState::new(phase, self.generation(), self.pid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uct::shm::iface::CELLS;

    const SHAPE: Shape = Shape {
        slots: 256,
        slot: 192,
        segment: 8256,
        cells: CELLS,
        lead: 56,
    };

    /// The default: how far the messages reach that the lane of each number of senders holds, and the address space of all.
    #[test]
    fn the_first_lanes_have_most_room_and_all_fit_into_little_address_space() {
        let layout = Layout::new(SHAPE);
        let room = |lane| {
            let (_, shape) = layout.lane(lane).unwrap();
            (shape.slots, shape.segment, shape.segment * shape.cells)
        };
        assert!((0..2).all(|lane| room(lane) == (256, 4 * 8256, 256 * 8256)));
        assert!((2..16).all(|lane| room(lane) == (256, 4 * 8256, 64 * 8256)));
        assert!((16..32).all(|lane| room(lane) == (64, 4 * 8256, 16 * 8256)));
        assert!((32..MAX_LANES).all(|lane| room(lane) == (64, 8256, 4 * 8256)));
        assert!(layout.bytes() < 36 << 20, "{}", layout.bytes());
    }

    #[test]
    fn lanes_do_not_overlap() {
        let layout = Layout::new(SHAPE);
        assert_eq!(layout.lanes(), MAX_LANES);
        assert!(layout.head_bytes() <= 8192);
        let mut end = layout.head_bytes();
        for lane in 0..layout.lanes() {
            let (at, shape) = layout.lane(lane).unwrap();
            assert_eq!(at, end);
            assert_eq!(layout.lane_of(end), Some(lane));
            end += shape.bytes();
            assert_eq!(layout.lane_of(end - 1), Some(lane));
        }
        assert_eq!(layout.lane(layout.lanes()), None);
        assert_eq!(layout.lane_of(end), None);
        assert_eq!(layout.lane_of(layout.head_bytes() - 1), None);
        assert_eq!(layout.bytes(), end);
    }

    #[test]
    fn each_lane_that_was_called_for_is_told_once() {
        let mut head = vec![0u64; TABLE_AT / size_of::<u64>()];
        // SAFETY: the words in front of the table, which outlive the bells.
        let bells = unsafe { Bells::new(head.as_mut_ptr().cast()) };
        let rung = || bells.take_rung().collect::<Vec<_>>();
        assert_eq!(rung(), []);
        let lanes = [0, 1, 63, 64, 200, MAX_LANES - 1];
        for lane in lanes.into_iter().chain([200]) {
            bells.call(lane);
        }
        assert_eq!(rung(), lanes);
        assert_eq!(rung(), []);
        assert_eq!(bells.doorbell().load(Ordering::Relaxed), 7);
    }

    #[test]
    fn largest_sizes_stay_within_the_address_space() {
        let layout = Layout::new(Shape {
            slots: Shape::MAX_SLOTS,
            slot: Shape::MAX_SLOT,
            segment: Shape::MAX_SEGMENT,
            cells: 16,
            ..SHAPE
        });
        assert!(layout.lanes() >= LONG_LANES + FEW_WIDE_LANES);
        assert!(layout.shapes().all(Shape::is_sane));
    }

    #[test]
    fn long_messages_leave_address_space_for_many_senders() {
        let layout = Layout::new(Shape {
            segment: Shape::MAX_SEGMENT,
            ..SHAPE
        });
        assert!(layout.lanes() > 128, "{}", layout.lanes());
        assert!(layout.bytes() <= MAX_BYTES + layout.head_bytes());
    }

    #[test]
    fn facts_of_others_are_checked() {
        let layout = Layout::new(SHAPE);
        let good = layout.facts(1, 2, true);
        assert_eq!(good.check(layout.bytes()), Ok(layout));
        assert!(good.check(layout.bytes() - 1).is_err());
        let wrong: [fn(&mut Facts); 10] = [
            |f| f.magic ^= 1,
            |f| f.version += 1,
            |f| f.classes[0].lanes = u32::MAX,
            |f| {
                f.classes[1].lanes =
                    MAX_LANES + 1 - f.classes[0].lanes - f.classes[2].lanes - f.classes[3].lanes
            },
            |f| f.classes.iter_mut().for_each(|class| class.lanes = 0),
            |f| f.classes[0].slots = 3,
            |f| f.classes[3].segment = u32::MAX,
            |f| f.classes[1].cells = 0,
            |f| f.classes[2].lead = 64,
            |f| f.classes[2].lead = 4,
        ];
        for change in wrong {
            let mut bad = good;
            change(&mut bad);
            assert!(bad.check(layout.bytes()).is_err(), "{bad:?}");
        }
    }
}
