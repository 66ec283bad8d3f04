//! Two ways for an announced message that stands in memory of another process of this host: the kernel copies it
//! (cma), or its sender sends it in pieces through shared memory, where both sides copy at the same time. Which one
//! takes less differs severalfold between machines, and with what the sender does meanwhile: so both are timed, and
//! the one that was faster lately is taken, for messages of about that length.
//!
//! What is timed is a busy stretch: from the first transfer to the end of the last that overlaps with it, all of which
//! go the same way.

use crate::sys::clock;
use core::cell::Cell;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The receiver lets a transport read it.
    Read,
    Pieces,
}

/// Classes of lengths, by powers of two; the last has all that are longer.
const CLASSES: usize = 25;
/// Transfers after which a stretch counts as over, whether more are under way or not.
const LONGEST: u32 = 64;
/// Pieces need the sender's attention: they are taken when they need at most this part of the time.
const WORTH: f32 = 0.8;
/// Stretches until the slower way is tried again: at first, and at most.
const SOON: u32 = 16;
const LATE: u32 = 1024;

#[derive(Clone, Copy, Default)]
struct Class {
    /// Cycles a byte that each way took lately; 0 when it was not tried.
    read: f32,
    pieces: f32,
    /// Stretches until the other way is tried, and how many it was the last time.
    until: u32,
    pause: u32,
}

impl Class {
    fn better(&self) -> Way {
        if self.pieces < self.read * WORTH {
            Way::Pieces
        } else {
            Way::Read
        }
    }

    fn choose(&mut self) -> Way {
        if self.read == 0.0 {
            return Way::Read;
        }
        if self.pieces == 0.0 {
            return Way::Pieces;
        }
        if self.until > 0 {
            self.until -= 1;
            return self.better();
        }
        self.pause = (self.pause * 2).clamp(SOON, LATE);
        self.until = self.pause;
        match self.better() {
            Way::Read => Way::Pieces,
            Way::Pieces => Way::Read,
        }
    }

    fn note(&mut self, way: Way, cycles: f32) {
        let before = self.better();
        let known = match way {
            Way::Read => &mut self.read,
            Way::Pieces => &mut self.pieces,
        };
        // Slow at once is believed less than fast at once: something else may have had the processor.
        *known = match *known {
            0.0 => cycles,
            old if cycles < old => (old + cycles) / 2.0,
            old => old + (cycles - old) / 4.0,
        };
        if self.better() != before {
            (self.pause, self.until) = (SOON, SOON);
        }
    }
}

#[derive(Clone, Copy)]
struct Stretch {
    way: Way,
    class: usize,
    /// Messages of another length have come along: its time says nothing.
    mixed: bool,
    began: u64,
    transfers: u32,
    /// That have arrived.
    bytes: usize,
}

/// What is known of both ways.
pub struct Scales {
    classes: [Cell<Class>; CLASSES],
    now: Cell<Stretch>,
    under_way: Cell<u32>,
}

impl Default for Scales {
    fn default() -> Scales {
        Scales {
            classes: core::array::from_fn(|_| Cell::default()),
            now: Cell::new(Stretch {
                way: Way::Read,
                class: 0,
                mixed: true,
                began: 0,
                transfers: 0,
                bytes: 0,
            }),
            under_way: Cell::new(0),
        }
    }
}

/// A transfer under way; it is over when this is dropped.
pub struct Transfer {
    scales: Rc<Scales>,
    bytes: usize,
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.scales.end(self.bytes);
    }
}

/// Begins a transfer of `bytes`: the way it should go, and what to keep meanwhile.
pub fn begin(scales: &Rc<Scales>, bytes: usize) -> (Way, Box<Transfer>) {
    let way = scales.start(bytes);
    let scales = Rc::clone(scales);
    (way, Box::new(Transfer { scales, bytes }))
}

impl Scales {
    fn start(&self, bytes: usize) -> Way {
        let class = (bytes.max(1).ilog2() as usize).min(CLASSES - 1);
        let mut now = self.now.get();
        let idle = self.under_way.get() == 0;
        if idle || now.transfers >= LONGEST {
            if !idle {
                self.weigh(&now);
            }
            now = Stretch {
                way: self.with_class(class, Class::choose),
                class,
                mixed: false,
                began: cycles(),
                transfers: 0,
                bytes: 0,
            };
        }
        now.mixed |= now.class != class;
        now.transfers += 1;
        self.now.set(now);
        self.under_way.set(self.under_way.get() + 1);
        now.way
    }

    fn end(&self, bytes: usize) {
        let left = self.under_way.get().saturating_sub(1);
        self.under_way.set(left);
        let mut now = self.now.get();
        now.bytes += bytes;
        self.now.set(now);
        if left == 0 {
            self.weigh(&now);
        }
    }

    /// A stretch is over.
    fn weigh(&self, stretch: &Stretch) {
        if stretch.mixed || stretch.bytes == 0 {
            return;
        }
        let took = cycles().wrapping_sub(stretch.began).max(1);
        let each = took as f32 / stretch.bytes as f32;
        self.with_class(stretch.class, |class| class.note(stretch.way, each));
    }

    fn with_class<R>(&self, class: usize, f: impl FnOnce(&mut Class) -> R) -> R {
        let mut value = self.classes[class].get();
        let result = f(&mut value);
        self.classes[class].set(value);
        result
    }
}

/// The simulation has no time: there both ways are as fast, and each is taken now and then.
fn cycles() -> u64 {
    if cfg!(test) { 0 } else { clock::cycles() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses `n` times with these costs; how often pieces were chosen.
    fn pieces_of(class: &mut Class, n: usize, read: f32, pieces: f32) -> usize {
        let mut count = 0;
        for _ in 0..n {
            let way = class.choose();
            count += usize::from(way == Way::Pieces);
            class.note(way, if way == Way::Read { read } else { pieces });
        }
        count
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_tried_seldom() {
        let mut class = Class::default();
        assert!(pieces_of(&mut class, 1000, 3.0, 1.0) > 950);
        let mut class = Class::default();
        let tries = pieces_of(&mut class, 10_000, 1.0, 3.0);
        assert!((3..30).contains(&tries), "{tries}");
        // What hardly gains is not worth the sender's attention.
        let mut class = Class::default();
        assert!(pieces_of(&mut class, 1000, 1.0, 0.9) < 50);
    }

    #[test]
    fn what_has_changed_is_noticed() {
        let mut class = Class::default();
        pieces_of(&mut class, 1000, 3.0, 1.0);
        assert!(pieces_of(&mut class, 100, 3.0, 1000.0) < 20);
        pieces_of(&mut class, 20_000, 3.0, 1.0);
        assert!(pieces_of(&mut class, 100, 3.0, 1.0) > 90);
    }

    #[test]
    fn a_stretch_goes_one_way_and_ends_with_its_last_transfer() {
        let scales = Rc::new(Scales::default());
        let (first, a) = begin(&scales, 5000);
        assert_eq!(first, Way::Read);
        let (second, b) = begin(&scales, 6000);
        assert_eq!(second, Way::Read);
        drop(a);
        assert_eq!(scales.classes[12].get().read, 0.0);
        drop(b);
        assert!(scales.classes[12].get().read > 0.0);
        let (third, _c) = begin(&scales, 5000);
        assert_eq!(third, Way::Pieces);
        let (_, _d) = begin(&scales, 50_000);
        assert!(scales.now.get().mixed);
    }

    #[test]
    fn a_stretch_that_never_pauses_ends_too() {
        let scales = Rc::new(Scales::default());
        let (_, mut last) = begin(&scales, 5000);
        for _ in 0..LONGEST {
            let (_, next) = begin(&scales, 5000);
            last = next;
        }
        assert!(scales.classes[12].get().read > 0.0);
        drop(last);
    }
}
