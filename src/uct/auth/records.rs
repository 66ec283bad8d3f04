//! An encrypted stream: `Sealer` makes records of what is sent, `Opener` gives back what they held.
//!
//! A record is its length in two bytes, little endian, and that many bytes: the sealed payload (AES-256-GCM) and its
//! tag. Its number in the stream, which is not sent, is the nonce: a record that is altered, repeated, left out or moved
//! does not open, and none opens after it. Every `NEXT_KEY` records a direction goes on with a key that is derived from
//! the last one. Where a stream was cut off its reader sees by what is said inside it.

use crate::sys::lock::Mutex;
use crate::ucs::fork::Stamp;
use snow::TransportState;
use std::sync::Arc;

/// Bytes in front of each record.
pub const PREFIX: usize = 2;
/// What sealing adds.
pub const TAG: usize = 16;
/// The longest record, without its length.
pub const MAX_RECORD: usize = 16 << 10;
/// Bytes that a record carries at most.
pub const MAX_PAYLOAD: usize = MAX_RECORD - TAG;
/// Records under one key: far below what AES-GCM may encrypt under one. Few in tests, which have to pass it.
const NEXT_KEY: u64 = if cfg!(test) { 64 } else { 1 << 20 };
/// Memory that a connection may keep for its next records.
const KEPT: usize = 4 << 10;

/// Why a stream cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A record is longer or shorter than any can be.
    Length(usize),
    /// A record was not made by the other side for this place.
    Forged,
    /// The record is longer than the room that it is given, or no number or no key is left for it. A child of fork()
    /// has none: its parent's records would have the same numbers.
    Exhausted,
}

impl core::fmt::Display for Broken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Broken::Length(n) => write!(f, "a record of {n} bytes, which cannot be"),
            Broken::Forged => write!(
                f,
                "a record that is forged, damaged, repeated or out of its place"
            ),
            Broken::Exhausted => write!(f, "no more records can be made or read"),
        }
    }
}

/// The keys of both directions. Who sends and who receives may be two threads.
type Keys = Arc<Mutex<TransportState>>;

/// The two directions of one side.
pub(super) fn pair(keys: TransportState) -> (Sealer, Opener) {
    let keys = Arc::new(Mutex::new(keys));
    let sealer = Sealer {
        keys: Arc::clone(&keys),
        count: 0,
        bytes: Vec::new(),
        start: 0,
        end: 0,
        carries: 0,
        made_by: Stamp::now(),
    };
    let opener = Opener {
        keys,
        count: 0,
        broken: None,
        bytes: Vec::new(),
        start: 0,
        end: 0,
    };
    (sealer, opener)
}

/// The sending direction: records that are made and not sent yet.
pub struct Sealer {
    keys: Keys,
    /// Records made.
    count: u64,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of payload in them.
    carries: usize,
    made_by: Stamp,
}

impl Sealer {
    /// Makes the next record, of at most `MAX_PAYLOAD` bytes and at least one.
    pub fn seal(&mut self, payload: &[u8]) -> Result<(), Broken> {
        if payload.is_empty() || payload.len() > MAX_PAYLOAD || !self.made_by.is_current() {
            return Err(Broken::Exhausted);
        }
        let sealed = payload.len() + TAG;
        let end = self.end + PREFIX + sealed;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let (prefix, record) = self.bytes[self.end..end].split_at_mut(PREFIX);
        prefix.copy_from_slice(&(sealed as u16).to_le_bytes());
        let mut keys = self.keys.lock();
        if keys.write_message(payload, record) != Ok(sealed) {
            return Err(Broken::Exhausted);
        }
        self.count += 1;
        if self.count.is_multiple_of(NEXT_KEY) {
            keys.rekey_outgoing();
        }
        self.end = end;
        self.carries += payload.len();
        Ok(())
    }

    /// What is to be sent.
    pub fn pending(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or(&[])
    }

    /// `n` more bytes are sent. When nothing is left: how many bytes of payload those and all before carried.
    pub fn sent(&mut self, n: usize) -> Option<usize> {
        self.start += n;
        if self.start < self.end {
            return None;
        }
        (self.start, self.end) = (0, 0);
        Some(core::mem::take(&mut self.carries))
    }

    /// Takes memory for records of `payload` bytes in all, where they are many.
    pub fn lend(&mut self, payload: usize, memory: impl FnOnce() -> Vec<u8>) {
        if payload > KEPT && self.end == 0 && self.bytes.len() <= KEPT {
            self.bytes = memory();
        }
    }

    /// Gives memory back that only many records need, when none waits.
    pub fn give_back(&mut self) -> Option<Vec<u8>> {
        let idle = self.end == 0 && self.bytes.len() > KEPT;
        idle.then(|| core::mem::take(&mut self.bytes))
    }
}

/// The receiving direction: what came and is not opened yet.
pub struct Opener {
    keys: Keys,
    count: u64,
    broken: Option<Broken>,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Opener {
    /// Opens a record that is whole, given without its length; how many bytes it carried.
    pub fn open_alone(&mut self, record: &[u8], out: &mut [u8]) -> Result<usize, Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        let opened = open(&self.keys, &mut self.count, record, out);
        self.broken = opened.err();
        opened
    }

    /// The record at the front, as far as it is here: its length and whether all of it is.
    fn front(&self) -> Result<Option<(usize, bool)>, Broken> {
        let here = self.bytes.get(self.start..self.end).unwrap_or(&[]);
        let Some((prefix, rest)) = here.split_first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let len = usize::from(u16::from_le_bytes(*prefix));
        if len <= TAG || len > MAX_RECORD {
            return Err(Broken::Length(len));
        }
        Ok(Some((len, rest.len() >= len)))
    }

    /// Whether `open` has something to say without more bytes: a whole record, or that the stream is broken.
    pub fn is_ready(&self) -> bool {
        self.broken.is_some() || matches!(self.front(), Ok(Some((_, true))) | Err(_))
    }

    /// Whether some bytes wait, of a record that is not whole perhaps.
    pub fn has_bytes(&self) -> bool {
        self.start < self.end
    }

    /// Opens the next record; how many bytes of `out` it filled. `None` when it is not here yet, or longer than `out`:
    /// `MAX_RECORD` bytes are enough for any.
    pub fn open(&mut self, out: &mut [u8]) -> Result<Option<usize>, Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        let len = match self.front() {
            Ok(Some((len, true))) if len <= out.len() => len,
            Ok(_) => return Ok(None),
            Err(broken) => {
                self.broken = Some(broken);
                return Err(broken);
            }
        };
        let from = self.start + PREFIX;
        let record = &self.bytes[from..from + len];
        match open(&self.keys, &mut self.count, record, out) {
            Ok(n) => {
                self.start = from + len;
                Ok(Some(n))
            }
            Err(broken) => {
                self.broken = Some(broken);
                Err(broken)
            }
        }
    }

    /// Where bytes of the stream are to be received: room for the rest of a record at least, for more where it is there.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let wanted = match self.front() {
            Ok(Some((len, _))) => PREFIX + len,
            _ => PREFIX,
        };
        if self.start + wanted.max(self.end - self.start + 1) > self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let wanted = wanted.max(self.end + 1);
            if wanted > self.bytes.len() {
                self.bytes.resize(wanted, 0);
            }
        }
        &mut self.bytes[self.end..]
    }

    /// `n` bytes were received there.
    pub fn received(&mut self, n: usize) {
        self.end = (self.end + n).min(self.bytes.len());
    }

    /// Takes memory to receive into, when it has none.
    pub fn lend(&mut self, memory: impl FnOnce() -> Vec<u8>) {
        if self.bytes.is_empty() {
            self.bytes = memory();
        }
    }

    /// Gives the memory back when nothing waits in it.
    pub fn give_back(&mut self) -> Option<Vec<u8>> {
        if self.start < self.end || self.bytes.is_empty() {
            return None;
        }
        (self.start, self.end) = (0, 0);
        Some(core::mem::take(&mut self.bytes))
    }
}

fn open(keys: &Keys, count: &mut u64, record: &[u8], out: &mut [u8]) -> Result<usize, Broken> {
    // Sealing adds `TAG` bytes to at least one.
    let Some(len) = record.len().checked_sub(TAG).filter(|n| *n > 0) else {
        return Err(Broken::Length(record.len()));
    };
    if out.len() < len {
        return Err(Broken::Exhausted);
    }
    let mut keys = keys.lock();
    let n = keys.read_message(record, out).map_err(|e| match e {
        snow::Error::Decrypt => Broken::Forged,
        _ => Broken::Exhausted,
    })?;
    *count += 1;
    if count.is_multiple_of(NEXT_KEY) {
        keys.rekey_incoming();
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::super::handshake::tests::sessions;
    use super::*;
    use crate::ucs::test_rng::TestRng;

    fn directions() -> (Sealer, Opener) {
        let (one, other) = sessions(true);
        (one.sealer, other.opener)
    }

    /// The records of these payloads, one by one.
    fn records(sealer: &mut Sealer, payloads: &[&[u8]]) -> Vec<Vec<u8>> {
        let make = |payload: &&[u8]| {
            sealer.seal(payload).unwrap();
            let record = sealer.pending().to_vec();
            assert_eq!(sealer.sent(record.len()), Some(payload.len()));
            record
        };
        payloads.iter().map(make).collect()
    }

    fn feed(opener: &mut Opener, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = opener.room();
            let n = room.len().min(bytes.len());
            room[..n].copy_from_slice(&bytes[..n]);
            opener.received(n);
            bytes = &bytes[n..];
        }
    }

    /// All that opens.
    fn drain(opener: &mut Opener) -> (Vec<u8>, Option<Broken>) {
        let (mut all, mut out) = (Vec::new(), vec![0; MAX_RECORD]);
        loop {
            match opener.open(&mut out) {
                Ok(Some(n)) => all.extend_from_slice(&out[..n]),
                Ok(None) => return (all, None),
                Err(broken) => return (all, Some(broken)),
            }
        }
    }

    #[test]
    fn the_stream_comes_back_however_it_is_cut() {
        for seed in 1..=20 {
            let rng = TestRng::new(seed);
            let (mut sealer, mut opener) = directions();
            let (mut want, mut got, mut wire) = (Vec::new(), Vec::new(), Vec::new());
            let lent = rng.below(2) == 0;
            let mut carried = 0;
            for _ in 0..300 {
                match rng.below(4) {
                    0 => {
                        let most = rng.pick(&[10, 200, 3000, MAX_PAYLOAD]);
                        let n = 1 + rng.below(most);
                        let payload = rng.bytes(n);
                        sealer.seal(&payload).unwrap();
                        want.extend_from_slice(&payload);
                    }
                    1 => {
                        let n = rng.below(sealer.pending().len() + 1);
                        wire.extend_from_slice(&sealer.pending()[..n]);
                        if let Some(n) = sealer.sent(n) {
                            carried += n;
                            assert_eq!(carried, want.len());
                        }
                    }
                    2 => {
                        let n = rng.below(wire.len() + 1);
                        feed(&mut opener, &wire[..n]);
                        wire.drain(..n);
                    }
                    _ => {
                        let (more, broken) = drain(&mut opener);
                        got.extend_from_slice(&more);
                        assert_eq!((broken, opener.is_ready()), (None, false));
                        if opener.give_back().is_some() && lent {
                            opener.lend(|| vec![0; 40_000]);
                        }
                        if sealer.give_back().is_some() && lent {
                            sealer.lend(rng.below(10_000), || vec![0; 40_000]);
                        }
                    }
                }
            }
            wire.extend_from_slice(sealer.pending());
            feed(&mut opener, &wire);
            got.extend_from_slice(&drain(&mut opener).0);
            assert!(got == want && !opener.has_bytes(), "seed {seed}");
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let payload = [7; 40];
        for bit in 0..(PREFIX + 40 + TAG) * 8 {
            let (mut sealer, mut opener) = directions();
            let all = records(&mut sealer, &[&payload, b"next"]);
            let mut bad = all[0].clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            feed(&mut opener, &bad);
            let (got, first) = drain(&mut opener);
            // A longer record waits for its end, which comes with what follows.
            feed(&mut opener, &all[1]);
            feed(&mut opener, &[0; MAX_RECORD]);
            let (after, broken) = drain(&mut opener);
            assert!(got.is_empty() && after.is_empty(), "bit {bit}");
            assert!(first.or(broken).is_some() && broken.is_some(), "bit {bit}");
        }
    }

    #[test]
    fn repeated_skipped_and_exchanged_records_are_refused() {
        for order in [
            &[0, 0][..],
            &[1],
            &[0, 2],
            &[1, 0],
            &[0, 1, 0],
            &[0, 1, 1, 2],
        ] {
            let (mut sealer, mut opener) = directions();
            let all = records(&mut sealer, &[b"zero", b"one", b"two"]);
            let right = order
                .iter()
                .enumerate()
                .take_while(|(i, n)| i == *n)
                .count();
            for n in order {
                feed(&mut opener, &all[*n]);
            }
            let want: Vec<u8> = [&b"zero"[..], b"one", b"two"][..right].concat();
            assert_eq!(
                drain(&mut opener),
                (want, Some(Broken::Forged)),
                "{order:?}"
            );
            // Nothing opens any more, not even what would have been next.
            feed(&mut opener, &all[right]);
            assert_eq!(drain(&mut opener).0, []);
        }
    }

    #[test]
    fn a_part_of_a_record_is_nothing() {
        let (mut sealer, mut opener) = directions();
        let record = records(&mut sealer, &[&[5; 300]]).remove(0);
        for at in 0..record.len() {
            assert!(!opener.is_ready());
            assert_eq!(
                (drain(&mut opener), opener.has_bytes()),
                ((Vec::new(), None), at > 0)
            );
            feed(&mut opener, &record[at..=at]);
        }
        assert!(opener.is_ready());
        assert_eq!(
            opener.open(&mut [0; 300]),
            Ok(None),
            "room for the tag is asked for too"
        );
        assert_eq!(drain(&mut opener), (vec![5; 300], None));
    }

    #[test]
    fn lengths_that_cannot_be_are_refused_at_once() {
        for len in [0, 1, TAG, MAX_RECORD + 1, usize::from(u16::MAX)] {
            let (_, mut opener) = directions();
            feed(&mut opener, &(len as u16).to_le_bytes());
            assert!(opener.is_ready());
            assert_eq!(drain(&mut opener).1, Some(Broken::Length(len)));
            assert!(
                opener.room().len() < 2 * PREFIX,
                "no room for what is not taken"
            );
        }
        let (mut sealer, mut opener) = directions();
        for bad in [&[][..], &[0; MAX_PAYLOAD + 1]] {
            assert_eq!(sealer.seal(bad), Err(Broken::Exhausted));
        }
        assert!(sealer.pending().is_empty());
        assert_eq!(
            opener.open_alone(&[0; TAG], &mut [0; 64]),
            Err(Broken::Length(TAG))
        );
    }

    #[test]
    fn both_ends_change_keys_at_the_same_record() {
        let (mut sealer, mut opener) = directions();
        let (_, mut late) = directions();
        let payloads: Vec<Vec<u8>> = (0..5 * NEXT_KEY)
            .map(|n| n.to_le_bytes().to_vec())
            .collect();
        let each: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        feed(&mut opener, &records(&mut sealer, &each).concat());
        assert_eq!(drain(&mut opener), (payloads.concat(), None));
        // One that counts differently is lost with the first new key.
        let (mut sealer, other) = directions();
        late.keys = other.keys;
        late.count = 1;
        feed(&mut late, &records(&mut sealer, &each).concat());
        let (got, broken) = drain(&mut late);
        assert_eq!(
            (got.len() as u64, broken),
            ((NEXT_KEY - 1) * 8, Some(Broken::Forged))
        );
    }

    #[test]
    fn without_a_number_nothing_opens() {
        let (mut sealer, mut opener) = directions();
        opener.keys.lock().set_receiving_nonce(u64::MAX);
        feed(&mut opener, &records(&mut sealer, &[b"more"])[0]);
        assert_eq!(drain(&mut opener), (Vec::new(), Some(Broken::Exhausted)));
    }
}
