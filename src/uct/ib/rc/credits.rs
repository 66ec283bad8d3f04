//! Flow control: how many messages of an endpoint the peer may still have to handle.
//!
//! Each message takes a credit. When few are left the sender asks for a grant, which the receiver sends with its next
//! message, or, when very few are left, at once and alone. A grant renews the whole window: it counts messages that the
//! peer has received, so at most two windows are on their way.
#![forbid(unsafe_code)]

use crate::uct::ib::wire::{ASK, ASK_NOW, GRANT};
use core::cell::Cell;

/// The window and when to ask, in messages.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    window: u32,
    soft: u32,
    hard: u32,
}

impl Limits {
    /// `soft` and `hard` are parts of the window.
    pub fn new(window: u32, soft: f64, hard: f64) -> Limits {
        let part = |part: f64| ((f64::from(window) * part) as u32).min(window - 1);
        Limits {
            window,
            soft: part(soft),
            hard: part(hard),
        }
    }
}

/// The credits of one endpoint.
pub struct Credits {
    limits: Option<Limits>,
    left: Cell<u32>,
    /// The message that leaves so many has something to say.
    next_ask: Cell<u32>,
    /// The peer has asked for a grant.
    owed: Cell<bool>,
}

impl Credits {
    /// Without limits messages need no credits; what the peer asks for is granted all the same.
    pub fn new(limits: Option<Limits>) -> Credits {
        Credits {
            limits,
            left: Cell::new(limits.map_or(u32::MAX, |limits| limits.window)),
            next_ask: Cell::new(limits.map_or(0, |limits| limits.next_ask(limits.window))),
            owed: Cell::new(false),
        }
    }

    /// Whether a message may be sent.
    #[inline]
    pub fn any(&self) -> bool {
        self.left.get() > 0
    }

    /// Takes a credit, of which there is one; answers what the message has to say.
    #[inline]
    pub fn take(&self) -> u8 {
        let left = self.left.get() - 1;
        self.left.set(left);
        if left == self.next_ask.get() || self.owed.get() {
            self.says(left)
        } else {
            0
        }
    }

    /// Whether a message may be sent, and has nothing to say.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        let left = self.left.get();
        left != 0 && left - 1 != self.next_ask.get() && !self.owed.get()
    }

    /// How many messages have nothing to say, before the next that has.
    pub fn quiet(&self) -> u32 {
        let (left, next) = (self.left.get(), self.next_ask.get());
        if self.owed.get() {
            0
        } else if next < left {
            left - next - 1
        } else {
            left
        }
    }

    /// As `take`, for a message that has nothing to say.
    #[inline]
    pub fn take_quiet(&self) {
        self.left.set(self.left.get() - 1);
    }

    #[cold]
    fn says(&self, left: u32) -> u8 {
        let mut says = 0;
        match &self.limits {
            Some(limits) => {
                says |= limits.asks(left);
                self.next_ask.set(limits.next_ask(left));
            }
            None if left == 0 => self.left.set(u32::MAX),
            None => {}
        }
        if self.owed.get() {
            says |= self.grant();
        }
        says
    }

    /// A grant goes out.
    pub fn grant(&self) -> u8 {
        self.owed.set(false);
        GRANT
    }

    /// Whether the peer waits for a grant.
    pub fn owes(&self) -> bool {
        self.owed.get()
    }

    /// What a message of the peer said; whether a grant has to leave at once.
    pub fn heard(&self, said: u8) -> bool {
        if said & GRANT != 0
            && let Some(limits) = &self.limits
        {
            self.left.set(limits.window);
            self.next_ask.set(limits.next_ask(limits.window));
        }
        if said & (ASK | ASK_NOW) != 0 {
            self.owed.set(true);
        }
        said & ASK_NOW != 0
    }
}

impl Limits {
    /// With how many left, fewer than now, a message asks next; a number that nobody has if none does.
    fn next_ask(&self, left: u32) -> u32 {
        let before = |at: &u32| *at < left;
        let next = [self.soft, self.hard].into_iter().filter(before).max();
        next.unwrap_or(u32::MAX)
    }

    fn asks(&self, left: u32) -> u8 {
        let soft = if left == self.soft { ASK } else { 0 };
        let hard = if left == self.hard { ASK_NOW } else { 0 };
        soft | hard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two endpoints that talk: the sender never stops for longer than one answer, whatever the window.
    #[test]
    fn a_stream_in_one_direction_goes_on() {
        for window in [2, 3, 8, 512] {
            for (soft, hard) in [(0.5, 0.25), (0.0, 0.0), (0.99, 0.99), (0.25, 0.5)] {
                let limits = Some(Limits::new(window, soft, hard));
                let (a, b) = (Credits::new(limits), Credits::new(limits));
                let mut unhandled = Vec::new();
                let mut most = 0;
                for _ in 0..10_000 {
                    if a.any() {
                        unhandled.push(a.take());
                        most = most.max(unhandled.len());
                        continue;
                    }
                    // The receiver handles all that has come.
                    let at_once = unhandled.drain(..).filter(|said| b.heard(*said)).count();
                    assert!(at_once > 0, "window {window}: nobody asked for a grant");
                    a.heard(b.grant());
                    assert!(a.any() && !b.owes());
                }
                assert!(most <= window as usize);
            }
        }
    }

    #[test]
    fn grants_ride_on_messages() {
        let limits = Some(Limits::new(8, 0.5, 0.25));
        let (a, b) = (Credits::new(limits), Credits::new(limits));
        let said: Vec<u8> = (0..4).map(|_| a.take()).collect();
        assert_eq!(said, [0, 0, 0, ASK]);
        assert!(!b.heard(ASK));
        assert!(b.owes());
        assert_eq!(b.take() & GRANT, GRANT);
        assert_eq!(b.take() & GRANT, 0, "once");
    }

    #[test]
    fn without_flow_control_nothing_is_asked() {
        let credits = Credits::new(None);
        for _ in 0..1000 {
            assert!(credits.any());
            assert_eq!(credits.take(), 0);
        }
        assert!(credits.heard(ASK_NOW), "the peer may have it");
        assert_eq!(credits.take(), GRANT);
    }
}
