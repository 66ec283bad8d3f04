//! `Pairing`: which local endpoint belongs to which remote endpoint. Both workers number the endpoints between them in
//! the order of creation; endpoints with the same number are a pair.
#![forbid(unsafe_code)]

use crate::ucs::keyed_hash::HashKey;
use crate::wire::address::Address;
use crate::wire::id::EpName;
use core::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

/// The address by which a remote endpoint is answered after its local endpoint was closed.
pub struct ReturnPath {
    pub address: Rc<Address>,
    pub serial: u32,
    /// One endpoint of the pair asked for error handling.
    pub peer_handles_errors: bool,
    /// The endpoints of the pair use failover.
    pub failover: bool,
}

/// Endpoints by the peer's worker, their number, and the local id.
type Numbered = BTreeSet<(u64, u32, u64)>;

#[derive(Default)]
pub struct Pairing {
    paired: RefCell<HashMap<EpName, u64, HashKey>>,
    /// How many of them each peer has.
    paired_of: RefCell<HashMap<u64, usize, HashKey>>,
    /// The last result of `local_id`, as consecutive messages often have one sender. The id of a destroyed endpoint
    /// finds nothing, so this needs no invalidation.
    last: Cell<(EpName, u64)>,
    /// Return paths to remote endpoints whose local endpoint was closed.
    return_paths: RefCell<ReturnPaths>,
    /// How many endpoints to each peer the application has made.
    counts: RefCell<HashMap<u64, u32, HashKey>>,
    /// Endpoints of the application whose remote endpoint is not known.
    unpaired: RefCell<Numbered>,
    /// Implicit endpoints.
    implicit: RefCell<Numbered>,
    /// The number of implicit endpoints to each peer.
    implicit_of: RefCell<HashMap<u64, usize, HashKey>>,
}

/// Most implicit endpoints to one peer: each costs some KB.
pub const IMPLICIT_MAX_PER_PEER: usize = 4096;
/// Most implicit endpoints of a worker.
pub const IMPLICIT_MAX: usize = 1 << 18;

/// Most return paths that a worker keeps: a peer may never report the end of an endpoint.
const RETURN_PATHS_MAX: usize = 1 << 14;
/// So many entries of removed ones are not looked for.
const REMOVED_KEPT: usize = 64;

/// Return paths, each with an ascending number: the oldest is dropped first.
#[derive(Default)]
struct ReturnPaths {
    by_remote: HashMap<EpName, (u64, ReturnPath), HashKey>,
    /// In the order of their numbers. The entries of paths that were removed stay until they are the oldest, or more than
    /// all others.
    by_age: VecDeque<(u64, EpName)>,
    next: u64,
}

impl ReturnPaths {
    fn insert(&mut self, remote: EpName, path: ReturnPath) {
        self.remove(remote);
        while self.by_remote.len() >= RETURN_PATHS_MAX
            && let Some((number, oldest)) = self.by_age.pop_front()
        {
            if self.is_kept(number, oldest) {
                self.by_remote.remove(&oldest);
            }
        }
        self.by_age.push_back((self.next, remote));
        self.by_remote.insert(remote, (self.next, path));
        self.next += 1;
    }

    fn remove(&mut self, remote: EpName) -> Option<ReturnPath> {
        if self.by_remote.is_empty() {
            return None;
        }
        let (_, path) = self.by_remote.remove(&remote)?;
        if self.by_age.len() > 2 * self.by_remote.len() + REMOVED_KEPT {
            let mut by_age = core::mem::take(&mut self.by_age);
            by_age.retain(|(number, remote)| self.is_kept(*number, *remote));
            self.by_age = by_age;
        }
        Some(path)
    }

    fn is_kept(&self, number: u64, remote: EpName) -> bool {
        let kept = self.by_remote.get(&remote);
        kept.is_some_and(|(of, _)| *of == number)
    }
}

impl Pairing {
    /// The local endpoint of `remote`, if it was the last result of `local_id`.
    #[inline(always)]
    pub fn last(&self, remote: EpName) -> Option<u64> {
        let (last, id) = self.last.get();
        (last.id == remote.id && last.uuid == remote.uuid).then_some(id)
    }

    /// The local endpoint of a remote endpoint.
    #[inline]
    pub fn local_id(&self, remote: EpName) -> Option<u64> {
        let id = *self.paired.borrow().get(&remote)?;
        self.last.set((remote, id));
        Some(id)
    }

    pub fn is_paired(&self, remote: EpName) -> bool {
        self.paired.borrow().contains_key(&remote)
    }

    pub fn pair(&self, remote: EpName, id: u64) {
        if self.paired.borrow_mut().insert(remote, id).is_none() {
            count_one(&self.paired_of, remote.uuid);
        }
    }

    /// The number of endpoints to this peer that the application has made.
    pub fn count(&self, uuid: u64) -> u32 {
        self.counts.borrow().get(&uuid).copied().unwrap_or(0)
    }

    /// The application has made the endpoint with this number.
    pub fn count_made(&self, uuid: u64, serial: u32) {
        let mut counts = self.counts.borrow_mut();
        let next = counts.entry(uuid).or_insert(0);
        *next = (*next).max(serial.wrapping_add(1));
    }

    /// Whether no endpoint to this peer is paired, and the application never made one.
    pub fn is_unauthenticated(&self, uuid: u64) -> bool {
        !self.counts.borrow().contains_key(&uuid) && !self.paired_of.borrow().contains_key(&uuid)
    }

    /// Adds an endpoint of the application whose remote endpoint is not known.
    pub fn add_unpaired(&self, uuid: u64, serial: u32, id: u64) {
        self.unpaired.borrow_mut().insert((uuid, serial, id));
    }

    /// Removes and returns an unpaired endpoint with that number that `is_suitable`.
    pub fn take_unpaired(
        &self,
        uuid: u64,
        serial: u32,
        is_suitable: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let numbers = (uuid, serial, 0)..=(uuid, serial, u64::MAX);
        take(&self.unpaired, numbers, is_suitable)
    }

    /// Adds an implicit endpoint.
    pub fn add_implicit(&self, uuid: u64, serial: u32, id: u64) {
        if self.implicit.borrow_mut().insert((uuid, serial, id)) {
            count_one(&self.implicit_of, uuid);
        }
    }

    /// Whether one more implicit endpoint may be made for this peer.
    pub fn may_add_implicit(&self, uuid: u64) -> bool {
        let of_peer = self.implicit_of.borrow().get(&uuid).copied().unwrap_or(0);
        of_peer < IMPLICIT_MAX_PER_PEER && self.implicit.borrow().len() < IMPLICIT_MAX
    }

    /// Removes and returns the implicit endpoint to that peer with the lowest number that `is_suitable`.
    pub fn take_implicit(&self, uuid: u64, is_suitable: impl Fn(u64) -> bool) -> Option<u64> {
        let of_peer = (uuid, 0, 0)..=(uuid, u32::MAX, u64::MAX);
        let taken = take(&self.implicit, of_peer, is_suitable)?;
        one_less(&self.implicit_of, uuid);
        Some(taken)
    }

    /// Removes an endpoint. Returns `remote` if it was paired with it.
    pub fn remove(
        &self,
        uuid: u64,
        serial: u32,
        id: u64,
        remote: Option<EpName>,
    ) -> Option<EpName> {
        forget(&self.unpaired, (uuid, serial, id));
        if forget(&self.implicit, (uuid, serial, id)) {
            one_less(&self.implicit_of, uuid);
        }
        let remote = remote?;
        match self.paired.borrow_mut().entry(remote) {
            Entry::Occupied(paired) if *paired.get() == id => paired.remove(),
            _ => return None,
        };
        one_less(&self.paired_of, remote.uuid);
        Some(remote)
    }

    /// Keeps the return path to a remote endpoint whose local endpoint was closed.
    pub fn keep_return_path(&self, remote: EpName, path: ReturnPath) {
        self.return_paths.borrow_mut().insert(remote, path);
    }

    /// Removes the return path to a remote endpoint.
    pub fn take_return_path(&self, remote: EpName) -> Option<ReturnPath> {
        self.return_paths.borrow_mut().remove(remote)
    }
}

/// Counts one more of a peer.
fn count_one(counts: &RefCell<HashMap<u64, usize, HashKey>>, uuid: u64) {
    *counts.borrow_mut().entry(uuid).or_insert(0) += 1;
}

fn one_less(counts: &RefCell<HashMap<u64, usize, HashKey>>, uuid: u64) {
    let mut counts = counts.borrow_mut();
    if let Some(count) = counts.get_mut(&uuid) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&uuid);
        }
    }
}

/// Removes an element. Returns whether it was there; most endpoints are in none of these.
#[inline]
fn forget(all: &RefCell<Numbered>, element: (u64, u32, u64)) -> bool {
    let mut all = all.borrow_mut();
    !all.is_empty() && all.remove(&element)
}

/// Removes the first element of the range that `is_suitable`, which is called while `all` is borrowed for reading.
fn take(
    all: &RefCell<Numbered>,
    range: impl std::ops::RangeBounds<(u64, u32, u64)>,
    is_suitable: impl Fn(u64) -> bool,
) -> Option<u64> {
    let found = all
        .borrow()
        .range(range)
        .copied()
        .find(|(_, _, id)| is_suitable(*id))?;
    all.borrow_mut().remove(&found);
    Some(found.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::id::EpId;

    fn remote(uuid: u64, id: u64) -> EpName {
        let id = EpId(id);
        EpName { uuid, id }
    }

    #[test]
    fn a_pair_is_found_by_its_remote_endpoint_until_it_is_removed() {
        let pairing = Pairing::default();
        pairing.pair(remote(7, 1), 11);
        assert_eq!(
            (
                pairing.local_id(remote(7, 1)),
                pairing.local_id(remote(7, 2))
            ),
            (Some(11), None)
        );
        assert_eq!(
            (pairing.last(remote(7, 1)), pairing.last(remote(8, 1))),
            (Some(11), None)
        );
        // Another endpoint has been paired with it since.
        assert_eq!(pairing.remove(7, 0, 12, Some(remote(7, 1))), None);
        assert!(pairing.is_paired(remote(7, 1)) && !pairing.is_unauthenticated(7));
        assert_eq!(
            pairing.remove(7, 0, 11, Some(remote(7, 1))),
            Some(remote(7, 1))
        );
        assert!(!pairing.is_paired(remote(7, 1)) && pairing.is_unauthenticated(7));
    }

    #[test]
    fn the_suitable_implicit_endpoint_with_the_lowest_number_is_taken_once() {
        let pairing = Pairing::default();
        for (uuid, serial, id) in [(6, 0, 1), (7, 3, 2), (7, 1, 4), (7, 2, 3), (8, 0, 5)] {
            pairing.add_implicit(uuid, serial, id);
        }
        assert_eq!(pairing.take_implicit(7, |id| id != 4), Some(3));
        assert_eq!(pairing.take_implicit(7, |id| id != 4), Some(2));
        assert_eq!(pairing.take_implicit(7, |id| id != 4), None);
        assert_eq!(pairing.take_implicit(7, |_| true), Some(4));
    }

    #[test]
    fn implicit_endpoints_of_one_peer_are_limited() {
        let pairing = Pairing::default();
        for id in 0..IMPLICIT_MAX_PER_PEER as u64 {
            assert!(pairing.may_add_implicit(7));
            pairing.add_implicit(7, id as u32, id);
        }
        assert!(!pairing.may_add_implicit(7) && pairing.may_add_implicit(8));
        pairing.remove(7, 3, 3, None);
        assert!(pairing.may_add_implicit(7));
        pairing.add_implicit(7, 3, 3);
        assert!(pairing.take_implicit(7, |_| true).is_some() && pairing.may_add_implicit(7));
    }

    #[test]
    fn the_oldest_return_path_is_dropped_at_the_limit() {
        let pairing = Pairing::default();
        let path = || ReturnPath {
            address: Rc::new(Address {
                uuid: 7,
                entries: Vec::new(),
            }),
            serial: 0,
            peer_handles_errors: false,
            failover: false,
        };
        for ep in 0..RETURN_PATHS_MAX as u64 + 2 {
            pairing.keep_return_path(remote(7, ep), path());
            pairing.keep_return_path(remote(7, 1), path());
        }
        assert!(
            pairing.take_return_path(remote(7, 0)).is_none()
                && pairing.take_return_path(remote(7, 2)).is_none()
        );
        assert!(
            pairing.take_return_path(remote(7, 1)).is_some()
                && pairing.take_return_path(remote(7, 1)).is_none()
        );
        assert!(pairing.take_return_path(remote(7, 3)).is_some());
        let paths = pairing.return_paths.borrow();
        assert_eq!(paths.by_remote.len(), RETURN_PATHS_MAX - 2);
        assert!(paths.by_age.len() <= 2 * RETURN_PATHS_MAX + REMOVED_KEPT);
    }

    #[test]
    fn unpaired_endpoints_are_found_by_number_and_counts_grow() {
        let pairing = Pairing::default();
        pairing.add_unpaired(7, 0, 1);
        pairing.add_unpaired(7, 1, 2);
        assert_eq!(pairing.take_unpaired(7, 1, |_| true), Some(2));
        assert_eq!(pairing.take_unpaired(7, 1, |_| true), None);
        pairing.remove(7, 0, 1, None);
        assert_eq!(pairing.take_unpaired(7, 0, |_| true), None);
        pairing.count_made(7, 4);
        pairing.count_made(7, 2);
        assert_eq!((pairing.count(7), pairing.count(8)), (5, 0));
        assert!(!pairing.is_unauthenticated(7) && pairing.is_unauthenticated(8));
    }
}
