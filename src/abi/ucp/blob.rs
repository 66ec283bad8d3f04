//! Worker addresses, remote keys and exported handles that C passes without a length.
//!
//! A blob of this library says how long it is. Any other pointer may lead anywhere: the kernel copies the bytes, which
//! reports where memory ends, and the copy is examined. The same is done with a blob of ours that crosses a page border,
//! because only its first byte has to be readable.

use crate::sys::vm_rw::{PAGE, copy_of_own};
use crate::wire::blob::BlobError;
use crate::wire::envelope::{EnvelopeKind, Look, has_head, look, needed};
use crate::wire::upstream;
use std::borrow::Cow;

/// Most bytes that are looked at of a blob that is not ours.
const FOREIGN_MAX: usize = 16 << 10;

/// A blob of which only the beginning is known.
#[derive(Clone, Copy)]
struct Given {
    at: *const u8,
    kind: EnvelopeKind,
}

impl Given {
    /// Whether so many bytes are on the page of the first one.
    fn is_on_page(self, n: usize) -> bool {
        n <= PAGE - self.at as usize % PAGE
    }

    /// Its first bytes: fewer than asked for where memory ends.
    ///
    /// # Safety
    /// The first byte is readable. Nobody writes to the bytes while the answer is in use.
    unsafe fn first<'a>(self, n: usize) -> Cow<'a, [u8]> {
        if self.is_on_page(n) {
            // SAFETY: on the page of a byte that is readable by the caller's promise.
            return Cow::Borrowed(unsafe { core::slice::from_raw_parts(self.at, n) });
        }
        self.copy(n)
    }

    fn copy<'a>(self, most: usize) -> Cow<'a, [u8]> {
        copy_of_own(self.at as usize, most).map_or_else(
            |e| {
                crate::ucs_error!("memory of this process cannot be looked at: {e}");
                Cow::default()
            },
            Cow::Owned,
        )
    }

    /// The length that it states.
    ///
    /// # Safety
    /// As of `first`.
    unsafe fn len(self) -> Result<usize, BlobError> {
        // Memory ends at a page. Where all that is looked at is on one, it is looked at once.
        let all = needed(self.kind);
        let mut n = match self.is_on_page(all) {
            true => all,
            false => 1,
        };
        loop {
            // SAFETY: by the caller's promise.
            let start = unsafe { self.first(n) };
            match look(self.kind, &start) {
                // Memory ends here.
                Look::Need(_) if start.len() < n => return Err(BlobError::Foreign),
                Look::Need(more) => n = more,
                Look::Ours(len) => return Ok(len),
                Look::Not(e) => return Err(e),
            }
        }
    }

    /// What it is, when it is not ours of this kind.
    fn recognise(self) -> BlobError {
        let bytes = self.copy(FOREIGN_MAX);
        for kind in [
            EnvelopeKind::Address,
            EnvelopeKind::Key,
            EnvelopeKind::Handle,
        ] {
            if kind != self.kind && matches!(look(kind, &bytes), Look::Ours(_)) {
                return BlobError::Other(kind);
            }
        }
        if has_head(self.kind, &bytes) {
            return BlobError::Damaged;
        }
        upstream::recognise(self.kind, &bytes).map_or(BlobError::Foreign, BlobError::Upstream)
    }
}

/// The bytes of a blob of ours, not checked further.
///
/// # Safety
/// The first byte at `at` is readable. Nobody writes to the blob while the answer is in use.
pub unsafe fn blob<'a>(kind: EnvelopeKind, at: *const u8) -> Result<Cow<'a, [u8]>, BlobError> {
    let given = Given { at, kind };
    // SAFETY: by the caller's promise.
    match unsafe { given.len() } {
        Ok(len) => {
            // SAFETY: by the caller's promise.
            let bytes = unsafe { given.first(len) };
            if bytes.len() == len {
                Ok(bytes)
            } else {
                Err(BlobError::Damaged)
            }
        }
        Err(BlobError::Foreign) => Err(given.recognise()),
        Err(e) => Err(e),
    }
}

/// The worker address of upstream's at `at`, if one is there.
pub fn upstream_address(at: *const u8) -> Option<upstream::Address> {
    upstream::Address::decode(&foreign(EnvelopeKind::Address, at))
}

/// The memory at `at`, of which something that is not ours is the beginning.
pub fn foreign<'a>(kind: EnvelopeKind, at: *const u8) -> Cow<'a, [u8]> {
    Given { at, kind }.copy(FOREIGN_MAX)
}

/// Gives a blob to C.
pub fn hand_out(blob: Vec<u8>) -> (*mut u8, usize) {
    let blob = blob.into_boxed_slice();
    let len = blob.len();
    (Box::into_raw(blob).cast(), len)
}

/// Frees what `hand_out` gave, of one of the kinds. `Foreign` if it is nothing of this library.
///
/// # Safety
/// `at` is of `hand_out`, once, or readable memory of something else.
pub unsafe fn take_back(kinds: &[EnvelopeKind], at: *mut u8) -> Result<(), BlobError> {
    let mut why = BlobError::Foreign;
    for &kind in kinds {
        // SAFETY: by the caller's promise.
        match unsafe { Given { at, kind }.len() } {
            Ok(len) => {
                let blob = core::ptr::slice_from_raw_parts_mut(at, len);
                // SAFETY: boxed by `hand_out`, with the length that it states.
                drop(unsafe { Box::from_raw(blob) });
                return Ok(());
            }
            Err(BlobError::Foreign) => {}
            Err(e) => why = e,
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::address::{Address, AddressEntry};
    use crate::wire::rkey::{EXPORTED, MdKeyList, READ, Rkey, WRITE};

    fn address() -> Address {
        Address {
            uuid: 7,
            entries: (0..20)
                .map(|i| AddressEntry {
                    transport: 4,
                    domain: i,
                    device: vec![i; 6],
                    iface: vec![i; 11],
                })
                .collect(),
        }
    }

    fn key(uses: u8) -> Vec<u8> {
        Rkey {
            context: 1,
            region: 2,
            address: 3,
            length: 4,
            mem_type: 0,
            uses,
        }
        .to_envelope(MdKeyList::default())
    }

    #[test]
    fn blobs_are_read_wherever_pages_end_in_them() {
        let all = [
            (EnvelopeKind::Address, address().to_envelope(&[])),
            (EnvelopeKind::Key, key(READ)),
            (EnvelopeKind::Handle, key(READ | WRITE | EXPORTED)),
        ];
        let mut memory = vec![0xa5; 3 * PAGE];
        let page = memory.as_ptr() as usize % PAGE;
        for (kind, good) in all {
            for before in 1..=good.len() {
                let at = 2 * PAGE - page - before;
                memory[at..at + good.len()].copy_from_slice(&good);
                // SAFETY: in the vector.
                let got = unsafe { blob(kind, memory[at..].as_ptr()) };
                assert_eq!(got.as_deref(), Ok(&good[..]), "{kind:?}, {before}");
            }
        }
    }

    #[test]
    fn what_is_not_ours_is_named() {
        let say = |kind, bytes: &[u8]| {
            // SAFETY: a slice.
            unsafe { blob(kind, bytes.as_ptr()) }.err()
        };
        let (address, key, handle) = (address().to_envelope(&[]), key(READ), key(READ | EXPORTED));
        for (kind, bytes, other) in [
            (EnvelopeKind::Address, &key, EnvelopeKind::Key),
            (EnvelopeKind::Address, &handle, EnvelopeKind::Handle),
            (EnvelopeKind::Key, &address, EnvelopeKind::Address),
            (EnvelopeKind::Key, &handle, EnvelopeKind::Handle),
            (EnvelopeKind::Handle, &address, EnvelopeKind::Address),
            (EnvelopeKind::Handle, &key, EnvelopeKind::Key),
        ] {
            assert_eq!(say(kind, bytes), Some(BlobError::Other(other)));
        }
        let mut damaged = address.clone();
        damaged[0] = 0x21;
        assert_eq!(
            say(EnvelopeKind::Address, &damaged),
            Some(BlobError::Damaged)
        );
        let upstream = Some(BlobError::Upstream(upstream::Release::Unknown));
        assert_eq!(say(EnvelopeKind::Address, b"\x20abcdefgh\xff"), upstream);
        assert_eq!(
            say(EnvelopeKind::Key, b"\x01\0\0\0\0\0\0\0\0\0\xff"),
            upstream
        );
        assert_eq!(
            upstream_address(b"\x20abcdefgh\xff".as_ptr()).map(|a| a.uuid),
            Some(0x6867_6665_6463_6261)
        );
        for kind in [
            EnvelopeKind::Address,
            EnvelopeKind::Key,
            EnvelopeKind::Handle,
        ] {
            assert_eq!(say(kind, &[0; 64]), Some(BlobError::Foreign));
        }
    }

    #[test]
    fn what_was_handed_out_is_taken_back() {
        for (kinds, blob) in [
            (&[EnvelopeKind::Address][..], address().to_envelope(&[])),
            (&[EnvelopeKind::Key, EnvelopeKind::Handle], key(READ)),
            (
                &[EnvelopeKind::Key, EnvelopeKind::Handle],
                key(READ | EXPORTED),
            ),
        ] {
            let (at, len) = hand_out(blob.clone());
            assert_eq!(len, blob.len());
            // SAFETY: just handed out.
            assert_eq!(unsafe { take_back(kinds, at) }, Ok(()));
        }
        let mut zeros = [0; 64];
        // SAFETY: a local.
        let status = unsafe {
            take_back(
                &[EnvelopeKind::Key, EnvelopeKind::Handle],
                zeros.as_mut_ptr(),
            )
        };
        assert_eq!(status, Err(BlobError::Foreign));
    }
}
