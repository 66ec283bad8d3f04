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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    InFlight,
    /// The receiver holds it.
    Held,
    /// To be sent again.
    Lost,
}

/// A place for a packet. Between two packets it is as new, but for what `item` keeps.
#[derive(Default)]
struct Entry<T> {
    item: T,
    /// Number of the last transmission of this packet, among all of the connection.
    order: u32,
    fate: Fate,
    /// It was not always in flight, or has to be released.
    is_odd: bool,
}

/// Places of a window that is used.
const FIRST_PLACES: usize = 4;

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

/// Packets on their way to a peer. Those that are sent once, arrive in order and need no release are gone with a few
/// numbers: nothing is done for each.
pub struct SendWindow<T> {
    /// The packet with PSN `i` is at `i` modulo their number, a power of two; or there are none.
    places: Box<[Entry<T>]>,
    /// PSN of the oldest packet that is not acknowledged, and of the next new one.
    oldest: u16,
    next: u16,
    /// Packets before this PSN need no look at the window and ask for nothing.
    run_end: u16,
    held: u16,
    lost: u16,
    odd: u16,
    window: u16,
    /// Below it the window grows fast.
    threshold: u16,
    /// Packets that were acknowledged since the window grew last.
    growth: u16,
    /// The PSN behind the last packet that asked for an acknowledgement.
    asked: u16,
    /// The next PSN when the window was told last that a while has passed.
    rested: u16,
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

impl<T: Default> SendWindow<T> {
    /// A window whose first packet has this PSN.
    pub fn new(first: u16) -> SendWindow<T> {
        SendWindow {
            places: Box::default(),
            oldest: first,
            next: first,
            run_end: first,
            held: 0,
            lost: 0,
            odd: 0,
            window: FIRST_WINDOW,
            threshold: FIRST_THRESHOLD,
            growth: 0,
            asked: first,
            rested: first,
            order: 0,
            arrived: 0,
            narrowed: 0,
            timeout: FIRST_TIMEOUT,
            expires: 0,
            heard: 0,
        }
    }

    #[inline]
    fn len(&self) -> u16 {
        self.next.wrapping_sub(self.oldest)
    }

    #[inline]
    fn in_flight(&self) -> u16 {
        self.len() - self.lost - self.held
    }

    #[inline]
    fn unasked(&self) -> u16 {
        self.next.wrapping_sub(self.asked)
    }

    /// Whether a new packet may be sent now.
    #[inline]
    pub fn has_room(&self, limits: &Limits) -> bool {
        self.lost == 0 && self.in_flight() < self.window && self.len() < limits.window
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.oldest == self.next
    }

    /// The PSN of the next new packet.
    #[inline]
    pub fn next_psn(&self) -> u16 {
        self.next
    }

    /// The PSN of the oldest packet that is not acknowledged; that of the next one if there is none.
    #[inline]
    pub fn oldest(&self) -> u16 {
        self.oldest
    }

    /// Whether the next new packet shall ask for an acknowledgement: a few times a window, and when the window is full.
    #[inline]
    pub fn shall_ask(&self, limits: &Limits) -> bool {
        let window = self.window.min(limits.window);
        self.unasked() + 1 >= window.div_ceil(4) || self.in_flight() + 1 >= window
    }

    /// Whether the newest packet has asked for an acknowledgement.
    pub fn has_asked(&self) -> bool {
        self.unasked() == 0
    }

    /// The peer was asked for an acknowledgement of all packets so far.
    pub fn note_asked(&mut self) {
        self.asked = self.next;
    }

    /// Where a packet is.
    #[inline(always)]
    fn place_of(&self, psn: u16) -> usize {
        usize::from(psn) & self.places.len().wrapping_sub(1)
    }

    #[inline(always)]
    fn entry(&mut self, psn: u16) -> Option<&mut Entry<T>> {
        let at = self.place_of(psn);
        self.places.get_mut(at)
    }

    /// The place of the next packet, with what `item` has kept of the last one there.
    pub fn place(&mut self) -> &mut T {
        if usize::from(self.len()) == self.places.len() {
            self.set_places((2 * self.places.len()).max(FIRST_PLACES), |_| {});
        }
        let at = self.place_of(self.next);
        &mut self.places[at].item
    }

    /// Makes places for `count` packets, no fewer than are under way. What the others have kept is handed to `each`.
    #[cold]
    fn set_places(&mut self, count: usize, each: impl FnMut(T)) {
        let mut places: Box<[Entry<T>]> = (0..count).map(|_| Entry::default()).collect();
        let mut psn = self.oldest;
        while psn != self.next {
            let at = self.place_of(psn);
            places[usize::from(psn) & (count - 1)] = core::mem::take(&mut self.places[at]);
            psn = psn.wrapping_add(1);
        }
        let former = core::mem::replace(&mut self.places, places);
        former.into_iter().map(|entry| entry.item).for_each(each);
        self.stop_run();
    }

    /// The packet in `place` was sent, with `next_psn`. `asked`: it asks for an acknowledgement; `release`: it has to be
    /// released when it has arrived.
    pub fn push(&mut self, now: u32, asked: bool, release: bool) {
        if self.is_empty() {
            self.start_timer(now);
        }
        self.order = self.order.wrapping_add(1);
        let order = self.order;
        if let Some(entry) = self.entry(self.next) {
            entry.order = order;
            entry.is_odd = release;
        }
        self.odd += u16::from(release);
        self.next = self.next.wrapping_add(1);
        if asked {
            self.asked = self.next;
        }
    }

    /// Finds out how many of the next packets need no look at the window: see `push_run`.
    pub fn start_run(&mut self, limits: &Limits) {
        self.stop_run();
        if self.lost != 0 {
            return;
        }
        let window = self.window.min(limits.window);
        let places = self.places.len() - usize::from(self.len());
        let silent = window.div_ceil(4).saturating_sub(self.unasked() + 1);
        let room = window.saturating_sub(self.in_flight() + 1);
        let most = limits.window.saturating_sub(self.len());
        let run = silent.min(room).min(most).min(places as u16);
        self.run_end = self.next.wrapping_add(run);
    }

    /// The next packet needs a look at the window.
    #[inline]
    pub fn stop_run(&mut self) {
        self.run_end = self.next;
    }

    /// As `place` and `push`, of a packet that needs no look at the window, asks for nothing and needs no release. `None`: it
    /// is not one of a run, or `of_kept` has no use for what the place has kept.
    #[inline(always)]
    pub fn push_run<U>(
        &mut self,
        now: &u32,
        of_kept: impl FnOnce(&mut T) -> Option<U>,
    ) -> Option<U> {
        let psn = self.next;
        if psn == self.run_end {
            return None;
        }
        let at = self.place_of(psn);
        let entry = self.places.get_mut(at)?;
        let kept = of_kept(&mut entry.item)?;
        self.order = self.order.wrapping_add(1);
        entry.order = self.order;
        if psn == self.oldest {
            self.start_timer(*now);
        }
        self.next = psn.wrapping_add(1);
        Some(kept)
    }

    /// The packet of `push_run` was not sent. No other is one of a run before `start_run`.
    #[cold]
    pub fn take_back_run(&mut self) {
        self.next = self.next.wrapping_sub(1);
        self.stop_run();
    }

    /// The first packet is sent after none was under way.
    fn start_timer(&mut self, now: u32) {
        self.heard = now;
        self.expires = now.wrapping_add(self.timeout);
    }

    /// The peer was heard.
    pub fn hears(&mut self, now: u32) {
        self.heard = now;
    }

    /// The peer expects the packet `expected` next and holds those of `held`: bit `i` is PSN `expected + 1 + i`. Packets
    /// that arrived for good are handed to `release`, in order, those of which it was said.
    pub fn acknowledge(
        &mut self,
        now: u32,
        limits: &Limits,
        (expected, held): (u16, u64),
        release: impl FnMut(&mut T),
    ) -> Result<(), Malformed> {
        let count = expected.wrapping_sub(self.oldest);
        if count > self.len() {
            // Older than what is known, or of packets that were never sent.
            let age = self.oldest.wrapping_sub(expected);
            if age >= 1 << 15 {
                return Err(Malformed);
            }
            self.heard = now;
            return Ok(());
        }
        let behind = self.len() - count;
        if held != 0 && (u64::BITS - held.leading_zeros()) >= u32::from(behind.max(1)) {
            return Err(Malformed);
        }
        self.heard = now;
        let mut arrived = if self.odd == 0 {
            self.leave_in_order(count)
        } else {
            self.leave_each(count, release)
        };
        let mut rest = held;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            arrived += self.hold(expected.wrapping_add(1 + bit as u16));
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

    /// The oldest packets have arrived, and none is odd: their number.
    #[inline]
    fn leave_in_order(&mut self, count: u16) -> u16 {
        if count > 0 {
            self.oldest = self.oldest.wrapping_add(count);
            let last = self.oldest.wrapping_sub(1);
            let order = self.entry(last).map_or(0, |entry| entry.order);
            self.note_arrival(order);
        }
        count
    }

    /// The oldest packets have arrived. How many of them was not known before.
    #[inline(never)]
    fn leave_each(&mut self, count: u16, mut release: impl FnMut(&mut T)) -> u16 {
        let mut arrived = 0;
        for _ in 0..count {
            let oldest = self.oldest;
            let Some(entry) = self.entry(oldest) else {
                break;
            };
            let (fate, order) = (core::mem::take(&mut entry.fate), entry.order);
            let is_odd = core::mem::take(&mut entry.is_odd);
            if is_odd {
                release(&mut entry.item);
            }
            self.odd -= u16::from(is_odd);
            self.oldest = oldest.wrapping_add(1);
            match fate {
                Fate::InFlight => {}
                Fate::Lost => self.lost -= 1,
                Fate::Held => {
                    self.held -= 1;
                    continue;
                }
            }
            self.note_arrival(order);
            arrived += 1;
        }
        arrived
    }

    /// The receiver holds a packet: 1, or 0 if that was known.
    fn hold(&mut self, psn: u16) -> u16 {
        let Some(entry) = self.entry(psn) else {
            return 0;
        };
        let (fate, order) = (entry.fate, entry.order);
        entry.fate = Fate::Held;
        let was_odd = core::mem::replace(&mut entry.is_odd, true);
        match fate {
            Fate::Held => return 0,
            Fate::InFlight => {}
            Fate::Lost => self.lost -= 1,
        }
        self.held += 1;
        self.odd += u16::from(!was_odd);
        self.note_arrival(order);
        1
    }

    #[inline]
    fn note_arrival(&mut self, order: u32) {
        if is_after(order, self.arrived) {
            self.arrived = order;
        }
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

    /// Whether a packet in flight counts as lost if `is_lost` says so of its transmission.
    fn lose(&mut self, psn: u16, is_lost: impl FnOnce(u32) -> bool) -> bool {
        let Some(entry) = self.entry(psn) else {
            return false;
        };
        if entry.fate != Fate::InFlight || !is_lost(entry.order) {
            return false;
        }
        entry.fate = Fate::Lost;
        let was_odd = core::mem::replace(&mut entry.is_odd, true);
        self.lost += 1;
        self.odd += u16::from(!was_odd);
        true
    }

    /// Packets that were overtaken are lost.
    #[cold]
    fn find_losses(&mut self, held: u64) {
        let until = (u64::BITS - held.leading_zeros()) as u16 + 1;
        let (arrived, narrowed) = (self.arrived, self.narrowed);
        let mut found = false;
        for i in 0..until.min(self.len()) {
            let psn = self.oldest.wrapping_add(i);
            let mut is_new = false;
            let lost = self.lose(psn, |order| {
                is_new = is_after(order, narrowed);
                arrived.wrapping_sub(order) as i32 >= REORDERING as i32
            });
            found |= lost && is_new;
        }
        if found {
            self.narrow();
            self.window = self.threshold;
        }
        self.stop_run();
    }

    fn narrow(&mut self) {
        self.threshold = (self.window / 2).max(MIN_WINDOW);
        self.narrowed = self.order;
        self.growth = 0;
    }

    /// Takes a packet that has to be sent again, with its PSN; it counts as sent. `None`: there is none, or no room.
    pub fn next_lost(&mut self) -> Option<(u16, &mut T)> {
        if self.lost == 0 || self.in_flight() >= self.window {
            return None;
        }
        let mut psn = self.oldest;
        while self.entry(psn)?.fate != Fate::Lost {
            psn = psn.wrapping_add(1);
            if psn == self.next {
                return None;
            }
        }
        self.lost -= 1;
        self.order = self.order.wrapping_add(1);
        let order = self.order;
        let entry = self.entry(psn)?;
        entry.fate = Fate::InFlight;
        entry.order = order;
        Some((psn, &mut entry.item))
    }

    /// Whether packets have to be sent again.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Looks at the time.
    pub fn expire(&mut self, now: u32, limits: &Limits) -> Expiry {
        if self.is_empty() {
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
        let mut psn = self.oldest;
        while psn != self.next {
            self.lose(psn, |_| true);
            psn = psn.wrapping_add(1);
        }
        self.stop_run();
        Expiry::Resend
    }

    /// A while has passed. If few packets were sent in it half of the places are freed, if there were none and none is under way
    /// all of them; what they have kept is handed to `each`. Whether the window has none any more.
    pub fn rest(&mut self, each: impl FnMut(T)) -> bool {
        let (count, sent) = (self.places.len(), self.next.wrapping_sub(self.rested));
        self.rested = self.next;
        let used = usize::from(sent.max(self.len()));
        if used == 0 {
            self.free(each);
        } else if used < count / 4 {
            self.set_places(count / 2, each);
        }
        self.places.is_empty()
    }

    /// Frees the places if nothing is under way. What they have kept is handed to `each`.
    pub fn free(&mut self, each: impl FnMut(T)) {
        if self.is_empty() && !self.places.is_empty() {
            self.set_places(0, each);
        }
    }

    /// Gives all packets up, in order.
    pub fn take_all(&mut self, mut each: impl FnMut(&mut T)) {
        while !self.is_empty() {
            let oldest = self.oldest;
            if let Some(entry) = self.entry(oldest) {
                (entry.fate, entry.is_odd) = (Fate::InFlight, false);
                each(&mut entry.item);
            }
            self.oldest = oldest.wrapping_add(1);
        }
        (self.held, self.lost, self.odd) = (0, 0, 0);
        self.stop_run();
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
