//! Profiles that clients record, `ucs/profile/profile_defs.h`, and the files that `ucx_read_profile` reads.
//!
//! A thread's part of a profile is its own; its lock is contended only while a file is written. Places in the code are
//! numbered from 1 in the order in which they are first passed. A child of fork() inherits the places, and begins with
//! nothing recorded.

use crate::sys::fork::{ForkLocked, Stamp};
use crate::sys::lock::Mutex;
use crate::sys::{machine, process};
use crate::ucs::{Result, Status, config, log, time};
use crate::ucs_warn;
use core::cell::RefCell;
use core::ffi::c_char;
use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::c::{
    UCS_PROFILE_MODE_ACCUM, UCS_PROFILE_MODE_LOG, UCS_PROFILE_TYPE_LAST,
    UCS_PROFILE_TYPE_SCOPE_BEGIN, UCS_PROFILE_TYPE_SCOPE_END, ucs_profile_block_header_t,
    ucs_profile_header, ucs_profile_loc_id_t, ucs_profile_location, ucs_profile_record,
    ucs_profile_thread_header, ucs_profile_thread_location,
};

/// The version of the files.
const VERSION: u32 = 3;
/// Deepest nesting of scopes whose times are added up.
const DEEPEST: usize = 64;
/// A place that is not to be recorded.
pub const DISABLED: ucs_profile_loc_id_t = 0;
const HEADER: usize = size_of::<ucs_profile_header>();

/// Where an event happens.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    pub kind: u32,
    pub name: String,
    pub file: String,
    pub line: i32,
    pub function: String,
}

/// What one thread recorded.
struct Thread {
    tid: u32,
    start: u64,
    end: Option<u64>,
    /// Ticks and passes, by place.
    sums: Vec<(u64, u64)>,
    /// When the scopes began that it is in.
    scopes: Vec<u64>,
    records: VecDeque<ucs_profile_record>,
}

impl Thread {
    fn new() -> Thread {
        Thread {
            tid: process::tid(),
            start: time::now(),
            end: None,
            sums: Vec::new(),
            scopes: Vec::new(),
            records: VecDeque::new(),
        }
    }

    fn reset(&mut self) {
        self.sums.clear();
        self.records.clear();
    }

    fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.records.is_empty()
    }

    /// Adds one pass to a place, and the time of a scope that ends there.
    fn add_up(&mut self, now: u64, place: usize, kind: u32) {
        let took = match kind {
            UCS_PROFILE_TYPE_SCOPE_BEGIN => {
                if self.scopes.len() < DEEPEST {
                    self.scopes.push(now);
                }
                0
            }
            UCS_PROFILE_TYPE_SCOPE_END => {
                self.scopes.pop().map_or(0, |began| now.wrapping_sub(began))
            }
            _ => 0,
        };
        if self.sums.len() <= place {
            self.sums.resize(place + 1, (0, 0));
        }
        self.sums[place].0 += took;
        self.sums[place].1 += 1;
    }
}

#[derive(Default)]
struct Shared {
    places: Vec<Place>,
    threads: Vec<(Stamp, Arc<Mutex<Thread>>)>,
}

/// A profile.
pub struct Profile {
    /// Tells profiles apart, also those at the same address one after the other.
    id: u64,
    modes: u32,
    file: String,
    /// Records that are kept of each thread, the latest ones.
    most_records: usize,
    shared: ForkLocked<Shared>,
    /// How many places there are.
    places: AtomicUsize,
}

/// This thread's parts of profiles. When it ends, they say so.
#[derive(Default)]
struct Parts(Vec<(u64, Stamp, Arc<Mutex<Thread>>)>);

impl Drop for Parts {
    fn drop(&mut self) {
        for (_, _, thread) in &self.0 {
            thread.lock().end = Some(time::now());
        }
    }
}

thread_local! {
    static PARTS: RefCell<Parts> = RefCell::default();
}

impl Profile {
    /// A profile with a bit for each mode, written to `file`, which may have `%p` and the like in it.
    pub fn new(modes: u32, file: &str, max_file_size: usize) -> Result<Profile> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let known = 1 << UCS_PROFILE_MODE_ACCUM | 1 << UCS_PROFILE_MODE_LOG;
        if modes & !known != 0 {
            return Err(Status::INVALID_PARAM);
        }
        Ok(Profile {
            // Relaxed: only that no two are equal counts.
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            modes,
            file: file.to_owned(),
            most_records: (max_file_size / size_of::<ucs_profile_record>()).max(1),
            shared: ForkLocked::new(Shared::default()),
            places: AtomicUsize::new(0),
        })
    }

    /// Number of a place, a new one for a new place; `DISABLED` where nothing is recorded, or there are too many.
    pub fn place(&self, place: &Place) -> ucs_profile_loc_id_t {
        if self.modes == 0 || place.kind >= UCS_PROFILE_TYPE_LAST {
            return DISABLED;
        }
        let new = place.clone();
        let at = self.shared.with(|shared| {
            let known = shared.places.iter().position(|known| *known == new);
            known.unwrap_or_else(|| {
                shared.places.push(new);
                self.places.store(shared.places.len(), Ordering::Release);
                shared.places.len() - 1
            })
        });
        ucs_profile_loc_id_t::try_from(at + 1).unwrap_or(DISABLED)
    }

    /// Whether `place` has given out this number.
    pub fn knows(&self, id: ucs_profile_loc_id_t) -> bool {
        usize::try_from(id).is_ok_and(|id| id > 0 && id <= self.places.load(Ordering::Acquire))
    }

    /// This thread's part.
    fn part(&self) -> Option<Arc<Mutex<Thread>>> {
        let found = PARTS.try_with(|parts| {
            let now = Stamp::now();
            let mut parts = parts.borrow_mut();
            let mut all = parts.0.iter();
            if let Some((_, _, part)) = all.find(|(id, made, _)| *id == self.id && *made == now) {
                return part.clone();
            }
            // Parts of profiles that have ended are this thread's alone; those of a parent are nobody's.
            parts
                .0
                .retain(|(_, made, part)| *made == now && Arc::strong_count(part) > 1);
            let part = Arc::new(Mutex::new(Thread::new()));
            parts.0.push((self.id, now, part.clone()));
            self.shared
                .with(|shared| shared.threads.push((now, part.clone())));
            part
        });
        found.ok()
    }

    /// Records an event at a place whose number `place` gave out.
    pub fn record(&self, id: ucs_profile_loc_id_t, kind: u32, param32: u32, param64: u64) {
        let Some(place) = usize::try_from(id).ok().and_then(|id| id.checked_sub(1)) else {
            return;
        };
        let Some(part) = self.part() else { return };
        let mut thread = part.lock();
        let now = time::now();
        if self.modes & 1 << UCS_PROFILE_MODE_ACCUM != 0 {
            thread.add_up(now, place, kind);
        }
        if self.modes & 1 << UCS_PROFILE_MODE_LOG != 0 {
            if thread.records.len() == self.most_records {
                thread.records.pop_front();
            }
            thread.records.push_back(ucs_profile_record {
                timestamp: now,
                param64,
                param32,
                location: place as u32,
            });
        }
    }

    /// Whether this process has recorded something.
    pub fn is_used(&self) -> bool {
        self.shared
            .with(|shared| shared.threads.iter().any(|(made, _)| made.is_current()))
    }

    /// Writes the file and forgets what was recorded.
    pub fn dump(&self) {
        if self.modes == 0 {
            return;
        }
        let bytes = self.take();
        let name = log::fill_name(&self.file);
        if name.is_empty() {
            ucs_warn!("the profile is lost: it has no file name");
            return;
        }
        if let Err(e) = write_new(&name, &bytes) {
            ucs_warn!("cannot write the profile to '{name}': {e}");
        }
    }

    /// The bytes of the file; threads begin anew, and those that ended are gone.
    fn take(&self) -> Vec<u8> {
        let (known, parts) = self
            .shared
            .with(|shared| (shared.places.clone(), shared.threads.clone()));
        let locations: Vec<u8> = known.iter().flat_map(location).collect();
        let mut threads = Vec::new();
        let mut gone = Vec::new();
        for (made, part) in &parts {
            // Of a parent's thread: it may have been in the middle of a change.
            if !made.is_current() {
                continue;
            }
            let mut thread = part.lock();
            if !thread.is_empty() {
                put_thread(&thread, known.len(), &mut threads);
            }
            thread.reset();
            if thread.end.is_some() {
                gone.push(part.clone());
            }
        }
        self.shared.with(|shared| {
            shared
                .threads
                .retain(|(_, part)| !gone.iter().any(|ended| Arc::ptr_eq(ended, part)))
        });
        let environment = config::used_variables(" ");
        let env_vars = block(HEADER, environment.len());
        let places = block(HEADER + environment.len(), locations.len());
        let parts = block(HEADER + environment.len() + locations.len(), threads.len());
        let header = ucs_profile_header {
            version: VERSION,
            feature_flags: 0,
            ucs_path: field(&own_path()),
            cmdline: field(&command_line()),
            hostname: field(&machine::short_host_name()),
            pid: process::pid(),
            mode: self.modes,
            env_vars,
            locations: places,
            threads: parts,
            one_second: time::ticks_per_sec() as u64,
        };
        let mut file = bytes_of(&header).to_vec();
        file.extend(environment.as_bytes());
        file.extend(locations);
        file.extend(threads);
        file
    }
}

/// Replaces a file by a new one that only its owner reads.
fn write_new(name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(name)?.write_all(bytes)
}

fn block(offset: usize, size: usize) -> ucs_profile_block_header_t {
    ucs_profile_block_header_t {
        offset: offset as u64,
        size: size as u64,
    }
}

/// Structures of a profile file: numbers and characters without padding.
trait Plain: Copy {}
impl Plain for ucs_profile_header {}
impl Plain for ucs_profile_location {}
impl Plain for ucs_profile_thread_header {}
impl Plain for ucs_profile_thread_location {}
impl Plain for ucs_profile_record {}

fn bytes_of<T: Plain>(value: &T) -> &[u8] {
    let start: *const T = value;
    // SAFETY: every byte of a `Plain` value is initialised, and it lives as long as the answer.
    unsafe { core::slice::from_raw_parts(start.cast(), size_of::<T>()) }
}

/// A text in a field, cut to leave room for a NUL.
fn field<const N: usize>(text: &str) -> [c_char; N] {
    let mut field = [0; N];
    for (to, from) in field.iter_mut().take(N - 1).zip(text.bytes()) {
        *to = from as c_char;
    }
    field
}

fn location(place: &Place) -> Vec<u8> {
    let base = place.file.rsplit('/').next().unwrap_or_default();
    let location = ucs_profile_location {
        file: field(base),
        function: field(&place.function),
        name: field(&place.name),
        line: place.line,
        r#type: place.kind as u8,
    };
    bytes_of(&location).to_vec()
}

fn put_thread(thread: &Thread, places: usize, to: &mut Vec<u8>) {
    let header = ucs_profile_thread_header {
        tid: thread.tid,
        start_time: thread.start,
        end_time: thread.end.unwrap_or_else(time::now),
        num_records: thread.records.len() as u64,
    };
    to.extend(bytes_of(&header));
    for place in 0..places {
        let (total_time, count) = thread.sums.get(place).copied().unwrap_or_default();
        let sum = ucs_profile_thread_location {
            total_time,
            count: count as usize,
        };
        to.extend(bytes_of(&sum));
    }
    for record in &thread.records {
        to.extend(bytes_of(record));
    }
}

fn own_path() -> String {
    let path = machine::own_path();
    path.map_or_else(String::new, |path| path.display().to_string())
}

/// The program and its arguments, a space behind each.
fn command_line() -> String {
    let line = fs::read("/proc/self/cmdline").unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::{UCS_PROFILE_TYPE_REQUEST_NEW, UCS_PROFILE_TYPE_SAMPLE};

    const ACCUM: u32 = 1 << UCS_PROFILE_MODE_ACCUM;
    const LOG: u32 = 1 << UCS_PROFILE_MODE_LOG;

    fn place(kind: u32, line: i32) -> Place {
        Place {
            kind,
            name: format!("place {line}"),
            file: "/somewhere/file.c".into(),
            line,
            function: "function".into(),
        }
    }

    fn number(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    /// For each thread of a file, its sums and how many records it has.
    fn threads(bytes: &[u8], places: usize) -> Vec<(Vec<(u64, u64)>, usize)> {
        let (mut at, len) = (number(bytes, 2160) as usize, number(bytes, 2168) as usize);
        assert_eq!(at + len, bytes.len());
        let mut all = Vec::new();
        while at < bytes.len() {
            let records = number(bytes, at + 20) as usize;
            at += 28;
            let sums =
                (0..places).map(|i| (number(bytes, at + 16 * i), number(bytes, at + 16 * i + 8)));
            all.push((sums.collect(), records));
            at += 16 * places + 24 * records;
        }
        all
    }

    #[test]
    fn passes_are_counted_and_scopes_are_timed() {
        let profile = Profile::new(ACCUM, "", 0).unwrap();
        let begin = profile.place(&place(UCS_PROFILE_TYPE_SCOPE_BEGIN, 1));
        let end = profile.place(&place(UCS_PROFILE_TYPE_SCOPE_END, 2));
        assert_eq!((begin, end), (1, 2));
        assert_eq!(profile.place(&place(UCS_PROFILE_TYPE_SCOPE_BEGIN, 1)), 1);
        for _ in 0..3 {
            profile.record(begin, UCS_PROFILE_TYPE_SCOPE_BEGIN, 0, 0);
            let until = time::now() + 1000;
            while time::now() < until {}
            profile.record(end, UCS_PROFILE_TYPE_SCOPE_END, 0, 0);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| profile.record(end, UCS_PROFILE_TYPE_SCOPE_END, 0, 0));
        });
        let file = profile.take();
        let all = threads(&file, 2);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].0[0], (0, 3));
        assert_eq!(all[0].0[1].1, 3);
        assert!(all[0].0[1].0 >= 3000, "{} ticks", all[0].0[1].0);
        assert_eq!(
            all[1].0,
            [(0, 0), (0, 1)],
            "an end without a beginning takes no time"
        );
        assert!(
            threads(&profile.take(), 2).is_empty(),
            "what was written is forgotten"
        );
    }

    #[test]
    fn the_latest_records_are_kept() {
        let size = size_of::<ucs_profile_record>();
        let profile = Profile::new(LOG, "", 3 * size).unwrap();
        let id = profile.place(&place(UCS_PROFILE_TYPE_SAMPLE, 1));
        for i in 0..10 {
            profile.record(id, UCS_PROFILE_TYPE_SAMPLE, i, u64::from(i) << 40);
        }
        let file = profile.take();
        assert_eq!(threads(&file, 1)[0].1, 3);
        let kept: Vec<u64> = (0..3)
            .map(|i| number(&file, file.len() - size * (3 - i) + 8) >> 40)
            .collect();
        assert_eq!(kept, [7, 8, 9]);
    }

    #[test]
    fn without_a_mode_nothing_is_recorded() {
        let profile = Profile::new(0, "", 0).unwrap();
        assert_eq!(profile.place(&place(UCS_PROFILE_TYPE_SAMPLE, 1)), DISABLED);
        profile.record(DISABLED, UCS_PROFILE_TYPE_SAMPLE, 0, 0);
        assert!(threads(&profile.take(), 0).is_empty());
        assert!(Profile::new(4, "", 0).is_err());
        let profile = Profile::new(LOG, "", 0).unwrap();
        assert_eq!(profile.place(&place(UCS_PROFILE_TYPE_LAST, 1)), DISABLED);
        assert_eq!(profile.place(&place(UCS_PROFILE_TYPE_REQUEST_NEW, 1)), 1);
        assert!(profile.knows(1) && !profile.knows(2) && !profile.knows(-1));
    }
}
