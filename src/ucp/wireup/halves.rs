//! `Halves`: which endpoint of a worker is the other half of which at a peer, and which has none yet. A peer's
//! endpoint is named by its worker and its id there; both workers number the endpoints between them alike.

use super::introduce::WayBack;
use core::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A peer's endpoint: its worker, and its id there.
pub type Name = (u64, u64);

/// Endpoints by the peer's worker, the number between both, and the id here.
type Numbered = BTreeSet<(u64, u32, u64)>;

#[derive(Default)]
pub struct Halves {
    paired: RefCell<BTreeMap<Name, u64>>,
    /// What was found last: messages of one peer come in a row. An id that is over finds no endpoint, so this never
    /// has to be taken back.
    last: Cell<(u64, u64, u64)>,
    /// Peers' endpoints whose other half was closed here: how to answer them.
    left: RefCell<Left>,
    /// How many endpoints to each peer the application has made.
    counts: RefCell<HashMap<u64, u32>>,
    /// The application's, whose other half nobody has named.
    waiting: RefCell<Numbered>,
    /// Made because a peer's endpoint introduced itself, not yet taken by the application.
    hidden: RefCell<Numbered>,
    /// How many of those there are for each peer.
    hidden_of: RefCell<HashMap<u64, usize>>,
}

/// Most endpoints that one peer's introductions make before the application takes them: each costs some KB.
pub const MOST_HIDDEN_OF_ONE: usize = 4096;
/// The same of all peers together.
pub const MOST_HIDDEN: usize = 1 << 18;

/// Most of them that are remembered, of peers that never say that they are closed too.
const MOST_LEFT: usize = 1 << 14;

/// With the number of each, which goes up: the oldest is forgotten first.
#[derive(Default)]
struct Left {
    by_name: HashMap<Name, (u64, WayBack)>,
    by_age: BTreeMap<u64, Name>,
    next: u64,
}

impl Left {
    fn insert(&mut self, name: Name, back: WayBack) {
        self.remove(name);
        if self.by_age.len() >= MOST_LEFT
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.by_name.remove(&oldest);
        }
        self.by_age.insert(self.next, name);
        self.by_name.insert(name, (self.next, back));
        self.next += 1;
    }

    fn remove(&mut self, name: Name) -> Option<WayBack> {
        let (age, back) = self.by_name.remove(&name)?;
        self.by_age.remove(&age);
        Some(back)
    }
}

impl Halves {
    /// The id of the other half of a peer's endpoint, if it is the one named last.
    #[inline(always)]
    pub fn last(&self, name: Name) -> Option<u64> {
        let (uuid, ep, id) = self.last.get();
        (ep == name.1 && uuid == name.0).then_some(id)
    }

    /// The id of the other half of a peer's endpoint.
    #[inline]
    pub fn of(&self, name: Name) -> Option<u64> {
        let id = *self.paired.borrow().get(&name)?;
        self.last.set((name.0, name.1, id));
        Some(id)
    }

    pub fn is_paired(&self, name: Name) -> bool {
        self.paired.borrow().contains_key(&name)
    }

    pub fn pair(&self, name: Name, id: u64) {
        self.paired.borrow_mut().insert(name, id);
    }

    /// How many endpoints to this peer the application has made.
    pub fn count(&self, uuid: u64) -> u32 {
        self.counts.borrow().get(&uuid).copied().unwrap_or(0)
    }

    /// The application has made the one with this number.
    pub fn counted(&self, uuid: u64, serial: u32) {
        let mut counts = self.counts.borrow_mut();
        let next = counts.entry(uuid).or_insert(0);
        *next = (*next).max(serial.wrapping_add(1));
    }

    /// Whether no endpoint here leads to this peer, nor one of the application ever did.
    pub fn is_stranger(&self, uuid: u64) -> bool {
        let of_peer = (uuid, 0)..=(uuid, u64::MAX);
        !self.counts.borrow().contains_key(&uuid)
            && self.paired.borrow().range(of_peer).next().is_none()
    }

    /// An endpoint of the application waits for its other half.
    pub fn wait(&self, uuid: u64, serial: u32, id: u64) {
        self.waiting.borrow_mut().insert((uuid, serial, id));
    }

    /// The id of the endpoint with that number that waits for its other half and suits, which waits no more.
    pub fn take_waiting(&self, uuid: u64, serial: u32, suits: impl Fn(u64) -> bool) -> Option<u64> {
        let numbers = (uuid, serial, 0)..=(uuid, serial, u64::MAX);
        take(&self.waiting, numbers, suits)
    }

    /// An endpoint that the application does not know of was made.
    pub fn hide(&self, uuid: u64, serial: u32, id: u64) {
        if self.hidden.borrow_mut().insert((uuid, serial, id)) {
            *self.hidden_of.borrow_mut().entry(uuid).or_insert(0) += 1;
        }
    }

    /// Whether one more may be made for this peer.
    pub fn may_hide(&self, uuid: u64) -> bool {
        let of_peer = self.hidden_of.borrow().get(&uuid).copied().unwrap_or(0);
        of_peer < MOST_HIDDEN_OF_ONE && self.hidden.borrow().len() < MOST_HIDDEN
    }

    fn one_less_hidden(&self, uuid: u64) {
        let mut counts = self.hidden_of.borrow_mut();
        if let Some(count) = counts.get_mut(&uuid) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&uuid);
            }
        }
    }

    /// The id of the hidden endpoint to that peer with the lowest number that suits, which is hidden no more.
    pub fn take_hidden(&self, uuid: u64, suits: impl Fn(u64) -> bool) -> Option<u64> {
        let of_peer = (uuid, 0, 0)..=(uuid, u32::MAX, u64::MAX);
        let taken = take(&self.hidden, of_peer, suits)?;
        self.one_less_hidden(uuid);
        Some(taken)
    }

    /// An endpoint is over; gives the peer's endpoint that it answered, if `name` is what it was paired with.
    pub fn remove(&self, uuid: u64, serial: u32, id: u64, name: Option<Name>) -> Option<Name> {
        self.waiting.borrow_mut().remove(&(uuid, serial, id));
        if self.hidden.borrow_mut().remove(&(uuid, serial, id)) {
            self.one_less_hidden(uuid);
        }
        let mut paired = self.paired.borrow_mut();
        let name = name.filter(|name| paired.get(name) == Some(&id))?;
        paired.remove(&name);
        Some(name)
    }

    /// The peer's endpoint lives on after its half here.
    pub fn leave(&self, name: Name, back: WayBack) {
        self.left.borrow_mut().insert(name, back);
    }

    /// How to answer a peer's endpoint whose half here was closed: once.
    pub fn take_back(&self, name: Name) -> Option<WayBack> {
        self.left.borrow_mut().remove(name)
    }
}

/// Removes the first in the range that suits. `suits` is asked while nothing is borrowed for change.
fn take(
    all: &RefCell<Numbered>,
    range: impl std::ops::RangeBounds<(u64, u32, u64)>,
    suits: impl Fn(u64) -> bool,
) -> Option<u64> {
    let found = all
        .borrow()
        .range(range)
        .copied()
        .find(|(_, _, id)| suits(*id))?;
    all.borrow_mut().remove(&found);
    Some(found.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::address::Address;
    use std::rc::Rc;

    #[test]
    fn a_half_is_found_by_its_name_until_it_is_removed() {
        let halves = Halves::default();
        halves.pair((7, 1), 11);
        assert_eq!((halves.of((7, 1)), halves.of((7, 2))), (Some(11), None));
        assert_eq!((halves.last((7, 1)), halves.last((8, 1))), (Some(11), None));
        // Another has taken the name since.
        assert_eq!(halves.remove(7, 0, 12, Some((7, 1))), None);
        assert!(halves.is_paired((7, 1)) && !halves.is_stranger(7));
        assert_eq!(halves.remove(7, 0, 11, Some((7, 1))), Some((7, 1)));
        assert!(!halves.is_paired((7, 1)) && halves.is_stranger(7));
    }

    #[test]
    fn the_lowest_hidden_that_suits_is_taken_once() {
        let halves = Halves::default();
        for (uuid, serial, id) in [(6, 0, 1), (7, 3, 2), (7, 1, 4), (7, 2, 3), (8, 0, 5)] {
            halves.hide(uuid, serial, id);
        }
        assert_eq!(halves.take_hidden(7, |id| id != 4), Some(3));
        assert_eq!(halves.take_hidden(7, |id| id != 4), Some(2));
        assert_eq!(halves.take_hidden(7, |id| id != 4), None);
        assert_eq!(halves.take_hidden(7, |_| true), Some(4));
    }

    #[test]
    fn one_peer_may_hide_so_many_and_no_more_until_some_are_gone() {
        let halves = Halves::default();
        for id in 0..MOST_HIDDEN_OF_ONE as u64 {
            assert!(halves.may_hide(7));
            halves.hide(7, id as u32, id);
        }
        assert!(!halves.may_hide(7) && halves.may_hide(8));
        halves.remove(7, 3, 3, None);
        assert!(halves.may_hide(7));
        halves.hide(7, 3, 3);
        assert!(halves.take_hidden(7, |_| true).is_some() && halves.may_hide(7));
    }

    #[test]
    fn the_oldest_way_back_is_forgotten_when_there_are_too_many() {
        let halves = Halves::default();
        let back = || WayBack {
            address: Rc::new(Address {
                uuid: 7,
                entries: Vec::new(),
            }),
            serial: 0,
            expects_errors: false,
        };
        for ep in 0..MOST_LEFT as u64 + 2 {
            halves.leave((7, ep), back());
            halves.leave((7, 1), back());
        }
        assert!(halves.take_back((7, 0)).is_none() && halves.take_back((7, 2)).is_none());
        assert!(halves.take_back((7, 1)).is_some() && halves.take_back((7, 1)).is_none());
        assert!(halves.take_back((7, 3)).is_some());
        assert_eq!(halves.left.borrow().by_age.len(), MOST_LEFT - 2);
    }

    #[test]
    fn who_waits_is_found_by_number_and_counts_go_up() {
        let halves = Halves::default();
        halves.wait(7, 0, 1);
        halves.wait(7, 1, 2);
        assert_eq!(halves.take_waiting(7, 1, |_| true), Some(2));
        assert_eq!(halves.take_waiting(7, 1, |_| true), None);
        halves.remove(7, 0, 1, None);
        assert_eq!(halves.take_waiting(7, 0, |_| true), None);
        halves.counted(7, 4);
        halves.counted(7, 2);
        assert_eq!((halves.count(7), halves.count(8)), (5, 0));
        assert!(!halves.is_stranger(7) && halves.is_stranger(8));
    }
}
