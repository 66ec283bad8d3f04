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
    left: RefCell<HashMap<Name, WayBack>>,
    /// How many endpoints to each peer the application has made.
    counts: RefCell<HashMap<u64, u32>>,
    /// The application's, whose other half nobody has named.
    waiting: RefCell<Numbered>,
    /// Made because a peer's endpoint introduced itself, not yet taken by the application.
    hidden: RefCell<Numbered>,
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
        self.hidden.borrow_mut().insert((uuid, serial, id));
    }

    /// The id of the hidden endpoint to that peer with the lowest number that suits, which is hidden no more.
    pub fn take_hidden(&self, uuid: u64, suits: impl Fn(u64) -> bool) -> Option<u64> {
        take(
            &self.hidden,
            (uuid, 0, 0)..=(uuid, u32::MAX, u64::MAX),
            suits,
        )
    }

    /// An endpoint is over; gives the peer's endpoint that it answered, if `name` is what it was paired with.
    pub fn remove(&self, uuid: u64, serial: u32, id: u64, name: Option<Name>) -> Option<Name> {
        self.waiting.borrow_mut().remove(&(uuid, serial, id));
        self.hidden.borrow_mut().remove(&(uuid, serial, id));
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
        self.left.borrow_mut().remove(&name)
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
