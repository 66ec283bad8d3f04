//! Reliable delivery over datagrams: the windows of a sender and of a receiver. They get packets and the time as
//! arguments and do no I/O.
//!
//! Each packet has a sequence number (PSN) of 16 bits. An acknowledgement names the PSN that the receiver expects next,
//! and the packets behind it that it holds already (selective acknowledgement). A packet counts as lost once packets
//! that were sent at least `REORDERING` transmissions later have arrived, or when nothing was acknowledged for the
//! retransmission timeout. The number of packets in flight is limited by a congestion window: slow start, then linear
//! growth; half of it after a loss, the minimum after a timeout.
//!
//! Times are ticks of a timer, which count on and wrap.
#![forbid(unsafe_code)]

use crate::uct::ib::retry::longer;
use std::collections::VecDeque;

/// The congestion window never gets smaller.
pub const MIN_WINDOW: u16 = 2;
const FIRST_WINDOW: u16 = 32;
/// The window grows slowly from here on: as many packets as a receiver has buffers for at first.
const FIRST_THRESHOLD: u16 = 128;
/// So many transmissions the network may exchange in order before it counts as a loss.
const REORDERING: u32 = 3;
/// Packets behind the expected one that a receiver holds. The bits of a selective acknowledgement.
pub const MAX_HELD: u16 = 64;
/// Ticks that the peer has for an acknowledgement: its own timer sends delayed ones.
const FIRST_TIMEOUT: u32 = 4;

/// The limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most packets that are not acknowledged.
    pub window: u16,
    /// Ticks without a word of the peer after which it counts as gone.
    pub timeout: u32,
    /// Each further retransmission timeout is longer by this factor.
    pub backoff: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    /// The receiver holds it.
    Held,
    /// To be sent again.
    Lost,
}

struct Entry<T> {
    item: T,
    /// Number of the last transmission of this packet, among all of the connection.
    order: u32,
    fate: Fate,
}

/// An acknowledgement that no receiver sends.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

/// What a timer found.
#[derive(Debug, PartialEq, Eq)]
pub enum Expiry {
    Nothing,
    /// Packets have to be sent again: `SendWindow::next_lost`.
    Resend,
    /// The peer has been silent for too long.
    Dead,
}

/// Packets on their way to a peer.
pub struct SendWindow<T> {
    /// From the oldest that is not acknowledged to the newest.
    entries: VecDeque<Entry<T>>,
    /// PSN of the next new packet.
    next: u16,
    in_flight: u16,
    lost: u16,
    window: u16,
    /// Below it the window grows fast.
    threshold: u16,
    /// Packets that were acknowledged since the window grew last.
    growth: u16,
    /// Packets since the last that asked for an acknowledgement.
    unasked: u16,
    /// Transmissions so far.
    order: u32,
    /// The last transmission that is known to have arrived.
    arrived: u32,
    /// Losses of transmissions up to this one have narrowed the window already.
    narrowed: u32,
    /// The retransmission timeout, and when it ends.
    timeout: u32,
    expires: u32,
    /// When the peer was heard last, or the oldest packet was sent.
    heard: u32,
}

/// Whether `a` comes after `b`, on counters that wrap.
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl<T> SendWindow<T> {
    /// A window whose first packet has this PSN.
    pub fn new(first: u16) -> SendWindow<T> {
        SendWindow {
            entries: VecDeque::new(),
            next: first,
            in_flight: 0,
            lost: 0,
            window: FIRST_WINDOW,
            threshold: FIRST_THRESHOLD,
            growth: 0,
            unasked: 0,
            order: 0,
            arrived: 0,
            narrowed: 0,
            timeout: FIRST_TIMEOUT,
            expires: 0,
            heard: 0,
        }
    }

    /// Whether a new packet may be sent now.
    #[inline]
    pub fn has_room(&self, limits: &Limits) -> bool {
        self.lost == 0
            && self.in_flight < self.window
            && self.entries.len() < usize::from(limits.window)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The PSN of the next new packet.
    #[inline]
    pub fn next_psn(&self) -> u16 {
        self.next
    }

    /// The PSN of the oldest packet that is not acknowledged; that of the next one if there is none.
    #[inline]
    pub fn oldest(&self) -> u16 {
        self.next.wrapping_sub(self.entries.len() as u16)
    }

    /// Whether the next new packet shall ask for an acknowledgement: a few times a window, and when the window is full.
    #[inline]
    pub fn shall_ask(&self, limits: &Limits) -> bool {
        let window = self.window.min(limits.window);
        self.unasked + 1 >= window.div_ceil(4) || self.in_flight + 1 >= window
    }

    /// Whether the newest packet has asked for an acknowledgement.
    pub fn has_asked(&self) -> bool {
        self.unasked == 0
    }

    /// The peer was asked for an acknowledgement of all packets so far.
    pub fn note_asked(&mut self) {
        self.unasked = 0;
    }

    /// A new packet was sent, with `next_psn`; `asked`: it asks for an acknowledgement.
    #[inline]
    pub fn push(&mut self, now: u32, item: T, asked: bool) {
        if self.entries.is_empty() {
            self.heard = now;
            self.expires = now.wrapping_add(self.timeout);
        }
        self.order = self.order.wrapping_add(1);
        self.entries.push_back(Entry {
            item,
            order: self.order,
            fate: Fate::InFlight,
        });
        self.next = self.next.wrapping_add(1);
        self.in_flight += 1;
        self.unasked = if asked { 0 } else { self.unasked + 1 };
    }

    /// The peer, which expects the packet `expected` next, was heard. Whether that is nothing new, and nothing has to be sent
    /// again.
    #[inline(always)]
    pub fn hears_nothing_new(&mut self, now: u32, expected: u16) -> bool {
        let is_known = expected == self.oldest() && self.lost == 0;
        if is_known {
            self.heard = now;
        }
        is_known
    }

    /// The peer expects the packet `expected` next and holds those of `held`: bit `i` is PSN `expected + 1 + i`. Packets
    /// that arrived for good are handed to `release`, in order.
    pub fn acknowledge(
        &mut self,
        now: u32,
        limits: &Limits,
        (expected, held): (u16, u64),
        mut release: impl FnMut(T),
    ) -> Result<(), Malformed> {
        let count = expected.wrapping_sub(self.oldest());
        if usize::from(count) > self.entries.len() {
            // Older than what is known, or of packets that were never sent.
            let age = self.oldest().wrapping_sub(expected);
            if age >= 1 << 15 {
                return Err(Malformed);
            }
            self.heard = now;
            return Ok(());
        }
        let behind = self.entries.len() - usize::from(count);
        if held != 0 && (u64::BITS - held.leading_zeros()) as usize >= behind.max(1) {
            return Err(Malformed);
        }
        self.heard = now;
        let mut arrived = 0;
        for _ in 0..count {
            let Some(entry) = self.entries.pop_front() else {
                break;
            };
            arrived += self.leaves(entry.fate, entry.order);
            release(entry.item);
        }
        let mut rest = held;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let Some(entry) = self.entries.get_mut(1 + bit as usize) else {
                break;
            };
            let (fate, order) = (entry.fate, entry.order);
            entry.fate = Fate::Held;
            arrived += self.leaves(fate, order);
        }
        if arrived > 0 {
            self.timeout = FIRST_TIMEOUT;
            self.expires = now.wrapping_add(self.timeout);
            self.grow(arrived, limits);
        }
        if held != 0 {
            self.find_losses(held);
        }
        Ok(())
    }

    /// A packet has arrived: counts it off. 1, or 0 if that was known.
    #[inline]
    fn leaves(&mut self, fate: Fate, order: u32) -> u16 {
        match fate {
            Fate::InFlight => self.in_flight -= 1,
            Fate::Lost => self.lost -= 1,
            Fate::Held => return 0,
        }
        if is_after(order, self.arrived) {
            self.arrived = order;
        }
        1
    }

    #[inline]
    fn grow(&mut self, arrived: u16, limits: &Limits) {
        if self.window >= limits.window {
            return;
        }
        if self.window < self.threshold {
            self.window = self.window.saturating_add(arrived).min(limits.window);
            return;
        }
        self.growth = self.growth.saturating_add(arrived);
        if self.growth >= self.window {
            self.growth = 0;
            self.window += 1;
        }
    }

    /// Packets that were overtaken are lost.
    #[cold]
    fn find_losses(&mut self, held: u64) {
        let until = (u64::BITS - held.leading_zeros()) as usize + 1;
        let mut found = false;
        for entry in self.entries.iter_mut().take(until) {
            let overtaken = self.arrived.wrapping_sub(entry.order) as i32;
            if entry.fate == Fate::InFlight && overtaken >= REORDERING as i32 {
                entry.fate = Fate::Lost;
                self.in_flight -= 1;
                self.lost += 1;
                found |= is_after(entry.order, self.narrowed);
            }
        }
        if found {
            self.narrow();
            self.window = self.threshold;
        }
    }

    fn narrow(&mut self) {
        self.threshold = (self.window / 2).max(MIN_WINDOW);
        self.narrowed = self.order;
        self.growth = 0;
    }

    /// Takes a packet that has to be sent again, with its PSN; it counts as sent. `None`: there is none, or no room.
    pub fn next_lost(&mut self) -> Option<(u16, &mut T)> {
        if self.lost == 0 || self.in_flight >= self.window {
            return None;
        }
        let first = self.oldest();
        let at = self.entries.iter().position(|e| e.fate == Fate::Lost)?;
        self.lost -= 1;
        self.in_flight += 1;
        self.order = self.order.wrapping_add(1);
        let entry = self.entries.get_mut(at)?;
        entry.fate = Fate::InFlight;
        entry.order = self.order;
        Some((first.wrapping_add(at as u16), &mut entry.item))
    }

    /// Whether packets have to be sent again.
    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Looks at the time.
    pub fn expire(&mut self, now: u32, limits: &Limits) -> Expiry {
        if self.entries.is_empty() {
            return Expiry::Nothing;
        }
        if now.wrapping_sub(self.heard) > limits.timeout && !is_after(self.heard, now) {
            return Expiry::Dead;
        }
        if is_after(self.expires, now) {
            return Expiry::Nothing;
        }
        self.narrow();
        self.window = MIN_WINDOW;
        self.timeout = longer(self.timeout, limits.backoff);
        self.expires = now.wrapping_add(self.timeout);
        for entry in &mut self.entries {
            if entry.fate == Fate::InFlight {
                entry.fate = Fate::Lost;
                self.in_flight -= 1;
                self.lost += 1;
            }
        }
        Expiry::Resend
    }

    /// Nothing is under way and nothing will be for a while: the memory of the entries is freed.
    pub fn rest(&mut self) {
        if self.entries.is_empty() {
            self.entries = VecDeque::new();
        }
    }

    /// Gives all packets up, in order.
    pub fn take_all(&mut self) -> impl Iterator<Item = T> {
        (self.in_flight, self.lost) = (0, 0);
        core::mem::take(&mut self.entries)
            .into_iter()
            .map(|entry| entry.item)
    }
}

/// What became of a packet that arrived.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival<T> {
    /// It was delivered, maybe with held ones behind it.
    Delivered,
    /// It came before others that are missing.
    Held,
    /// It was there before.
    Duplicate(T),
    /// It is too far ahead, or there is no room to hold it.
    Refused(T),
}

/// Packets from a peer.
pub struct ReceiveWindow<T> {
    /// PSN of the next packet to deliver.
    expected: u16,
    /// Bit `i`: PSN `expected + 1 + i` is held.
    bits: u64,
    /// Packets behind the expected one; empty most of the time.
    held: VecDeque<Option<T>>,
}

impl<T> ReceiveWindow<T> {
    pub fn new(first: u16) -> ReceiveWindow<T> {
        ReceiveWindow {
            expected: first,
            bits: 0,
            held: VecDeque::new(),
        }
    }

    /// What an acknowledgement says: the expected PSN and the held ones.
    #[inline]
    pub fn state(&self) -> (u16, u64) {
        (self.expected, self.bits)
    }

    /// Whether `psn` is the next to be delivered and none is held.
    #[inline]
    pub fn is_next(&self, psn: u16) -> bool {
        psn == self.expected && self.bits == 0
    }

    /// The packet of `is_next` is delivered.
    #[inline]
    pub fn advance(&mut self) {
        self.expected = self.expected.wrapping_add(1);
    }

    /// A packet arrived; those that can be delivered now are handed to `deliver`, in order. `may_hold`: there is room for
    /// one more that has to wait.
    pub fn accept(
        &mut self,
        psn: u16,
        item: T,
        may_hold: bool,
        mut deliver: impl FnMut(T),
    ) -> Arrival<T> {
        let ahead = psn.wrapping_sub(self.expected);
        if ahead == 0 {
            deliver(item);
            self.advance();
            while self.bits & 1 != 0 {
                // The place of the packet that is expected now is in front.
                if let Some(Some(item)) = self.held.pop_front() {
                    deliver(item);
                }
                self.bits >>= 1;
                self.advance();
            }
            if self.bits == 0 {
                self.held = VecDeque::new();
            } else {
                self.held.pop_front();
                self.bits >>= 1;
            }
            return Arrival::Delivered;
        }
        if ahead >= 1 << 15 {
            return Arrival::Duplicate(item);
        }
        if ahead > MAX_HELD || !may_hold {
            return Arrival::Refused(item);
        }
        let at = usize::from(ahead - 1);
        if self.bits >> at & 1 != 0 {
            return Arrival::Duplicate(item);
        }
        while self.held.len() <= at {
            self.held.push_back(None);
        }
        self.held[at] = Some(item);
        self.bits |= 1 << at;
        Arrival::Held
    }

    /// Gives the held packets up.
    pub fn take_all(&mut self) -> impl Iterator<Item = T> {
        self.bits = 0;
        core::mem::take(&mut self.held).into_iter().flatten()
    }
}
