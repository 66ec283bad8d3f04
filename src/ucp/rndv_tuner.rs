//! Chooses the rendezvous scheme for a message in memory of another process of this host. Either the kernel copies it
//! (get over cma), or its sender sends it in fragments through shared memory, where both sides copy at the same time.
//! The faster scheme differs between machines by factors, and depends on the load of the sender. So the tuner
//! measures both and takes the one that was faster recently, per class of message lengths.
//!
//! A sample is a busy period: from the first transfer to the end of the last that overlaps with it. All its transfers
//! use one scheme.
#![forbid(unsafe_code)]

use crate::sys::clock;
use core::cell::Cell;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The receiver gets the data by a transport.
    Get,
    Fragments,
}

/// Classes of lengths, by powers of two; the last is open-ended.
const SIZE_CLASSES: usize = 25;
/// Transfers after which a sample ends, even if others are in flight.
const MAX_SAMPLE_TRANSFERS: u32 = 64;
/// Fragments take processor time of the sender: they are chosen if they need at most this part of the time of a get.
const FRAGMENTS_MIN_GAIN: f32 = 0.8;
/// Transfers before the first fragments: who sends a few messages pays for no probe. The simulation sends few.
const FIRST_PROBE: u32 = if cfg!(test) { 0 } else { 16 };
/// Transfers between two probes of the slower scheme, for each transfer of the last probe: at first, and at most. As many times more
/// as the probe was slower, up to a limit: what probes cost is a sixteenth of the time at first, and less and less.
const MIN_PROBE_INTERVAL: u32 = 16;
const MAX_PROBE_INTERVAL: u32 = 1024;
const MAX_PROBE_COST: f32 = 16.0;

#[derive(Clone, Copy, Default)]
struct SizeClass {
    /// Recent cycles a byte of each scheme; 0 before the first sample.
    get: f32,
    fragments: f32,
    /// Transfers until the next probe of the slower scheme, and the current interval of probes.
    until_probe: u32,
    probe_interval: u32,
}

impl SizeClass {
    fn best(&self) -> Scheme {
        if self.fragments != 0.0 && self.fragments < self.get * FRAGMENTS_MIN_GAIN {
            Scheme::Fragments
        } else {
            Scheme::Get
        }
    }

    fn choose(&mut self) -> Scheme {
        if self.get == 0.0 {
            return Scheme::Get;
        }
        if self.until_probe > 0 {
            return self.best();
        }
        // Until this probe ends.
        self.until_probe = MIN_PROBE_INTERVAL;
        match self.best() {
            Scheme::Get => Scheme::Fragments,
            Scheme::Fragments => Scheme::Get,
        }
    }

    /// Takes in a sample: cycles a byte, and its transfers.
    fn update(&mut self, scheme: Scheme, cycles: f32, transfers: u32) {
        let before = self.best();
        let (known, other) = match scheme {
            Scheme::Get => (&mut self.get, self.fragments),
            Scheme::Fragments => (&mut self.fragments, self.get),
        };
        let is_first = *known == 0.0;
        // A slow sample counts for less than a fast one: another process may have had the processor.
        *known = match *known {
            old if is_first || cycles < old => cycles,
            old => old + (cycles - old) / 4.0,
        };
        if is_first {
            self.until_probe = match scheme {
                Scheme::Get => FIRST_PROBE,
                // It may have been their first use of the memory: the scheme that seems slower is probed at once.
                Scheme::Fragments => 0,
            };
            return;
        }
        if self.best() != before {
            self.probe_interval = MIN_PROBE_INTERVAL;
            self.until_probe = MIN_PROBE_INTERVAL;
        } else if scheme != before {
            self.probe_interval =
                (self.probe_interval * 2).clamp(MIN_PROBE_INTERVAL, MAX_PROBE_INTERVAL);
            let cost = (cycles / other).clamp(1.0, MAX_PROBE_COST);
            self.until_probe = self.probe_interval * (transfers as f32 * cost) as u32;
        }
    }
}

#[derive(Clone, Copy)]
struct Sample {
    scheme: Scheme,
    class: usize,
    /// Transfers of another length class took part: the sample is discarded.
    mixed: bool,
    began: u64,
    transfers: u32,
    /// Bytes of completed transfers.
    bytes: usize,
}

/// The measurements of a worker.
pub struct RndvTuner {
    classes: [Cell<SizeClass>; SIZE_CLASSES],
    current: Cell<Sample>,
    in_flight: Cell<u32>,
}

impl Default for RndvTuner {
    fn default() -> RndvTuner {
        RndvTuner {
            classes: core::array::from_fn(|_| Cell::default()),
            current: Cell::new(Sample {
                scheme: Scheme::Get,
                class: 0,
                mixed: true,
                began: 0,
                transfers: 0,
                bytes: 0,
            }),
            in_flight: Cell::new(0),
        }
    }
}

/// A transfer in flight; dropping it ends the measurement.
pub struct TimedTransfer {
    tuner: Rc<RndvTuner>,
    bytes: usize,
}

impl Drop for TimedTransfer {
    fn drop(&mut self) {
        self.tuner.end(self.bytes);
    }
}

/// Starts a transfer of `bytes`. The caller keeps the timed transfer until the data have arrived.
pub fn begin(tuner: &Rc<RndvTuner>, bytes: usize) -> (Scheme, Box<TimedTransfer>) {
    let scheme = tuner.start(bytes);
    let tuner = Rc::clone(tuner);
    (scheme, Box::new(TimedTransfer { tuner, bytes }))
}

impl RndvTuner {
    fn start(&self, bytes: usize) -> Scheme {
        let class = (bytes.max(1).ilog2() as usize).min(SIZE_CLASSES - 1);
        let mut sample = self.current.get();
        let idle = self.in_flight.get() == 0;
        if idle || sample.transfers >= MAX_SAMPLE_TRANSFERS {
            if !idle {
                self.record(&sample);
            }
            sample = Sample {
                scheme: self.with_class(class, SizeClass::choose),
                class,
                mixed: false,
                began: cycles(),
                transfers: 0,
                bytes: 0,
            };
        }
        self.with_class(class, |class| {
            class.until_probe = class.until_probe.saturating_sub(1)
        });
        sample.mixed |= sample.class != class;
        sample.transfers += 1;
        self.current.set(sample);
        self.in_flight.set(self.in_flight.get() + 1);
        sample.scheme
    }

    fn end(&self, bytes: usize) {
        let left = self.in_flight.get().saturating_sub(1);
        self.in_flight.set(left);
        let mut sample = self.current.get();
        sample.bytes += bytes;
        self.current.set(sample);
        if left == 0 {
            self.record(&sample);
        }
    }

    /// A sample is complete.
    fn record(&self, sample: &Sample) {
        if sample.mixed || sample.bytes == 0 {
            return;
        }
        let took = cycles().wrapping_sub(sample.began).max(1);
        let each = took as f32 / sample.bytes as f32;
        self.with_class(sample.class, |class| {
            class.update(sample.scheme, each, sample.transfers)
        });
    }

    fn with_class<R>(&self, class: usize, f: impl FnOnce(&mut SizeClass) -> R) -> R {
        let mut value = self.classes[class].get();
        let result = f(&mut value);
        self.classes[class].set(value);
        result
    }
}

/// The simulation has no time: both schemes are equally fast there, and both get tested.
fn cycles() -> u64 {
    if cfg!(test) { 0 } else { clock::cycles() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses for `n` transfers, one after the other, with these costs; returns how often fragments were chosen.
    fn fragments_of(class: &mut SizeClass, n: usize, get: f32, fragments: f32) -> usize {
        let mut count = 0;
        for _ in 0..n {
            let scheme = class.choose();
            class.until_probe = class.until_probe.saturating_sub(1);
            count += usize::from(scheme == Scheme::Fragments);
            class.update(
                scheme,
                if scheme == Scheme::Get {
                    get
                } else {
                    fragments
                },
                1,
            );
        }
        count
    }

    #[test]
    fn the_faster_scheme_is_chosen_and_the_other_probed_seldom() {
        let mut class = SizeClass::default();
        assert!(fragments_of(&mut class, 1000, 3.0, 1.0) > 950);
        let mut class = SizeClass::default();
        let tries = fragments_of(&mut class, 10_000, 1.0, 3.0);
        assert!((3..30).contains(&tries), "{tries}");
        // A small gain is not worth the sender's processor time.
        let mut class = SizeClass::default();
        assert!(fragments_of(&mut class, 1000, 1.0, 0.9) < 50);
    }

    /// The first transfer of a process pays for pages that nobody has touched.
    #[test]
    fn a_slow_first_sample_decides_nothing() {
        for slow in [Scheme::Get, Scheme::Fragments] {
            let mut class = SizeClass::default();
            let mut gets = 0;
            for n in 0..30 {
                let scheme = class.choose();
                gets += usize::from(scheme == Scheme::Get);
                let cost = match scheme {
                    first if first == slow && n < 2 => 30.0,
                    Scheme::Get => 1.0,
                    Scheme::Fragments => 2.0,
                };
                class.update(scheme, cost, 1);
                class.until_probe = class.until_probe.saturating_sub(1);
            }
            assert!(gets > 25, "{gets} of 30 after a slow {slow:?}");
        }
    }

    /// Fragments overlap in each of their samples, as in an all-to-all; gets do not.
    #[test]
    fn probes_of_many_transfers_are_as_seldom() {
        const OVERLAPPING: u32 = 15;
        let tuner = Rc::new(RndvTuner::default());
        let mut class = SizeClass::default();
        class.update(Scheme::Get, 1.0, 1);
        class.update(Scheme::Fragments, 3.0, OVERLAPPING);
        tuner.classes[12].set(class);
        let (mut transfers, mut probing) = (0, 0);
        while transfers < 10_000 {
            let (scheme, first) = begin(&tuner, 5000);
            let overlapping = if scheme == Scheme::Fragments {
                OVERLAPPING
            } else {
                1
            };
            let others: Vec<_> = (1..overlapping).map(|_| begin(&tuner, 5000)).collect();
            transfers += overlapping;
            probing += if scheme == Scheme::Fragments {
                overlapping
            } else {
                0
            };
            drop(others);
            // Without a clock its measurement would be as good.
            tuner.current.set(Sample {
                mixed: true,
                ..tuner.current.get()
            });
            drop(first);
            tuner.with_class(12, |class| {
                let cost = if scheme == Scheme::Get { 1.0 } else { 3.0 };
                class.update(scheme, cost, overlapping);
            });
        }
        assert!((15..500).contains(&probing), "{probing} of {transfers}");
    }

    #[test]
    fn a_changed_cost_is_noticed() {
        let mut class = SizeClass::default();
        fragments_of(&mut class, 1000, 3.0, 1.0);
        assert!(fragments_of(&mut class, 100, 3.0, 1000.0) < 20);
        fragments_of(&mut class, 20_000, 3.0, 1.0);
        assert!(fragments_of(&mut class, 100, 3.0, 1.0) > 90);
    }

    #[test]
    fn a_sample_has_one_scheme_and_ends_with_its_last_transfer() {
        let tuner = Rc::new(RndvTuner::default());
        let (first, a) = begin(&tuner, 5000);
        assert_eq!(first, Scheme::Get);
        let (second, b) = begin(&tuner, 6000);
        assert_eq!(second, Scheme::Get);
        drop(a);
        assert_eq!(tuner.classes[12].get().get, 0.0);
        drop(b);
        assert!(tuner.classes[12].get().get > 0.0);
        let (third, _c) = begin(&tuner, 5000);
        assert_eq!(third, Scheme::Fragments);
        let (_, _d) = begin(&tuner, 50_000);
        assert!(tuner.current.get().mixed);
    }

    #[test]
    fn a_sample_without_a_pause_ends_too() {
        let tuner = Rc::new(RndvTuner::default());
        let (_, mut last) = begin(&tuner, 5000);
        for _ in 0..MAX_SAMPLE_TRANSFERS {
            let (_, next) = begin(&tuner, 5000);
            last = next;
        }
        assert!(tuner.classes[12].get().get > 0.0);
        drop(last);
    }
}
