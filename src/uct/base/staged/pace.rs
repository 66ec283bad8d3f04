//! How long windows are, and how many of them are copied at a time: by what the transport and the device need for them.
//!
//! The device's rate is an estimate until it was seen to be the slower one. That of the transport is measured at each
//! window of the message.
#![forbid(unsafe_code)]

use super::WINDOW;
use crate::sys::clock;
use crate::uct::base::memory_copier::CopyCost;

/// Bytes of the shortest window, and of the first: the transport begins when that has been copied.
pub const SHORTEST: usize = 64 << 10;

/// Most windows that are copied at a time.
pub const DEEPEST: usize = 3;

/// What to copy next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Bytes of a window.
    pub window: usize,
    /// Windows that are copied at a time.
    pub depth: usize,
}

/// The plan for a device and a transport of these rates; `None` while the transport's is not known.
fn plan(overhead: f64, copying: f64, transport: Option<f64>) -> Plan {
    if let Some(transport) = transport
        && transport < copying
    {
        // From this length on, a copy takes less than the transport. Twice as much leaves room for late ones.
        let hidden = 2.0 * overhead / (1.0 / transport - 1.0 / copying);
        if hidden <= WINDOW as f64 {
            return Plan {
                window: (hidden as usize).max(SHORTEST).next_power_of_two(),
                depth: 1,
            };
        }
    }
    // The device is the slower one. It is never idle with so many copies in its queue that starting one takes less than
    // the others.
    let starting = (overhead * copying / WINDOW as f64).ceil();
    Plan {
        window: WINDOW,
        depth: (starting as usize).saturating_add(1).min(DEEPEST),
    }
}

/// The measurements of a message.
#[derive(Default)]
pub struct Pace {
    /// Bytes a second of the transport; `None` before the first window.
    transport: Option<f64>,
    /// When the transport began with its window.
    began: Option<u64>,
    /// When the window before had been waited for, if it had to be.
    waited: Option<u64>,
    /// Bytes of the longest window so far.
    longest: usize,
}

impl Pace {
    /// The plan for the next window, which is at most twice as long as those before: the first is short, and by the time
    /// of the long ones their rates are known.
    pub fn plan(&self, cost: &CopyCost) -> Plan {
        let mut plan = plan(cost.overhead, cost.bandwidth(), self.transport);
        plan.window = plan.window.min((2 * self.longest).max(SHORTEST));
        plan
    }

    /// A window was copied, or is being copied.
    pub fn add(&mut self, bytes: usize) {
        self.longest = self.longest.max(bytes);
    }

    /// The transport begins with a window.
    pub fn begin(&mut self) {
        self.began = Some(clock::monotonic_ns());
    }

    /// The transport has had the window, of so many bytes.
    pub fn end(&mut self, bytes: usize) {
        self.end_at(bytes, clock::monotonic_ns());
    }

    fn end_at(&mut self, bytes: usize, now: u64) {
        if let Some(rate) = self.began.take().and_then(|began| rate(bytes, began, now)) {
            // The newest counts half: a transport gets slow when its peer does.
            self.transport = Some(self.transport.map_or(rate, |known| (known + rate) / 2.0));
        }
    }

    /// The copy of a window had to be waited for, or not.
    pub fn copied(&mut self, bytes: usize, had_to_wait: bool, cost: &CopyCost) {
        self.copied_at(bytes, had_to_wait, cost, clock::monotonic_ns());
    }

    fn copied_at(&mut self, bytes: usize, had_to_wait: bool, cost: &CopyCost, now: u64) {
        let before = self.waited.take();
        if had_to_wait {
            // Between the ends of two copies that were waited for, the device did nothing else.
            if let Some(rate) = before.and_then(|before| rate(bytes, before, now)) {
                cost.learn(rate);
            }
            self.waited = Some(now);
        }
    }
}

/// Bytes a second.
fn rate(bytes: usize, from: u64, to: u64) -> Option<f64> {
    let ns = to.saturating_sub(from);
    (ns > 0 && bytes > 0).then(|| bytes as f64 * 1e9 / ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: f64 = 1e9;

    #[test]
    fn slow_transports_get_short_windows_and_fast_ones_deep_queues() {
        let of = |transport| plan(8e-6, 11.0 * GB, transport);
        assert_eq!(
            of(Some(1.0 * GB)),
            Plan {
                window: SHORTEST,
                depth: 1
            }
        );
        // A copy of this length takes less than the transport does.
        let near = of(Some(6.0 * GB));
        assert_eq!(near.depth, 1);
        assert!(near.window > SHORTEST && near.window <= WINDOW);
        let (copy, wire) = (
            8e-6 + near.window as f64 / (11.0 * GB),
            near.window as f64 / (6.0 * GB),
        );
        assert!(copy < wire, "{copy} {wire}");
        let deep = Plan {
            window: WINDOW,
            depth: 2,
        };
        assert_eq!(of(Some(9.0 * GB)), deep);
        assert_eq!(of(Some(40.0 * GB)), deep);
        assert_eq!(of(None), deep);
        // A device that starts slowly and copies fast needs more of them.
        assert_eq!(plan(20e-6, 50.0 * GB, None).depth, DEEPEST);
        assert_eq!(plan(1.0, 50.0 * GB, Some(51.0 * GB)).depth, DEEPEST);
    }

    #[test]
    fn windows_grow_while_little_is_known() {
        let cost = CopyCost::new(8e-6, 11.0 * GB);
        let mut pace = Pace::default();
        let mut next = || {
            let window = pace.plan(&cost).window;
            pace.add(window);
            window
        };
        let lengths: Vec<usize> = (0..5).map(|_| next()).collect();
        assert_eq!(
            lengths,
            [SHORTEST, 2 * SHORTEST, 4 * SHORTEST, WINDOW, WINDOW]
        );
    }

    #[test]
    fn the_transport_is_measured_by_its_windows() {
        let cost = CopyCost::new(8e-6, 11.0 * GB);
        let mut pace = Pace::default();
        pace.add(WINDOW);
        assert_eq!(pace.plan(&cost).window, WINDOW);
        // 1 MB in 1 ms, and again.
        for _ in 0..2 {
            pace.began = Some(5_000);
            pace.end_at(1_000_000, 1_005_000);
            assert_eq!(pace.transport, Some(GB));
        }
        assert_eq!(pace.plan(&cost).window, SHORTEST);
        // What did not begin, and what took no time, tells nothing.
        pace.end_at(1000, 2_000_000);
        pace.began = Some(7);
        pace.end_at(1000, 7);
        assert_eq!(pace.transport, Some(GB));
    }

    #[test]
    fn the_device_is_measured_when_two_windows_were_waited_for() {
        let cost = CopyCost::new(8e-6, 8.0 * GB);
        let mut pace = Pace::default();
        pace.copied_at(1000, true, &cost, 1_000);
        pace.copied_at(1000, false, &cost, 2_000);
        pace.copied_at(1000, true, &cost, 3_000);
        assert_eq!(cost.bandwidth(), 8.0 * GB, "no two in a row");
        for i in 1..100u64 {
            // 4000 bytes in 1 us.
            pace.copied_at(4000, true, &cost, 3_000 + i * 1000);
        }
        assert!((cost.bandwidth() / GB - 4.0).abs() < 0.01);
    }
}
