//! Counters that are always there: what endpoints have sent and by which protocol, and what a worker has received, stored
//! and waited for.
//!
//! Only the thread that uses the worker changes them, so a load and a store do, which are one instruction of the processor.
//! Other threads may read them at any time (`ucp/inspect/`). A short message costs one instruction, at its sender: its
//! bytes and its reception, which may take no more than sixteen, are not counted. So does a put or a get of a few bytes of
//! mapped memory. All else is counted where a request, a copy or a system call is paid for anyhow, messages and bytes.
#![forbid(unsafe_code)]

use crate::ucs::json::Object;
use crate::ucs::sync::{AtomicU64, Ordering};
use std::collections::BTreeMap;

/// A number that one thread changes and others may read.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    #[inline(always)]
    pub fn add(&self, n: u64) {
        // Relaxed: it guards nothing else. Not `fetch_add`, whose lock prefix costs as much as a short send.
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before.wrapping_add(n), Ordering::Relaxed);
    }

    /// The last `add` has come to nothing.
    #[cold]
    pub fn take_back(&self, n: u64) {
        self.add(n.wrapping_neg());
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Messages or accesses, and their bytes.
#[derive(Default)]
pub struct Tally {
    pub count: Counter,
    pub bytes: Counter,
}

impl Tally {
    /// The last `add` has come to nothing.
    #[cold]
    pub fn take_back(&self, bytes: usize) {
        self.count.take_back(1);
        self.bytes.take_back(bytes as u64);
    }

    #[inline(always)]
    pub fn add(&self, bytes: usize) {
        self.count.add(1);
        self.bytes.add(bytes as u64);
    }

    fn absorb(&self, other: &Tally) {
        self.count.add(other.count.get());
        self.bytes.add(other.bytes.get());
    }
}

/// A counter in reports, by its name within a group; that of no group is empty.
#[derive(Clone, Copy)]
struct Entry<'a> {
    group: &'static str,
    name: &'static str,
    count: &'a Counter,
    bytes: Option<&'a Counter>,
}

impl<'a> Entry<'a> {
    fn single(group: &'static str, name: &'static str, count: &'a Counter) -> Entry<'a> {
        Entry {
            group,
            name,
            count,
            bytes: None,
        }
    }

    fn tally(group: &'static str, (name, tally): (&'static str, &'a Tally)) -> Entry<'a> {
        Entry {
            group,
            name,
            count: &tally.count,
            bytes: Some(&tally.bytes),
        }
    }

    fn is_used(&self) -> bool {
        self.count.get() > 0
    }

    /// Group and name.
    fn path(&self, between: &str) -> String {
        match self.group {
            "" => self.name.to_owned(),
            group => format!("{group}{between}{}", self.name),
        }
    }

    fn line(&self) -> String {
        let bytes = self.bytes.map(|bytes| format!(" ({} bytes)", bytes.get()));
        let (path, count) = (self.path(" "), self.count.get());
        format!("{path}: {count}{}", bytes.unwrap_or_default())
    }
}

/// Lines for people, of those that are not zero.
fn lines(entries: &[Entry<'_>]) -> Vec<String> {
    let used = entries.iter().filter(|entry| entry.is_used());
    used.map(Entry::line).collect()
}

/// The JSON of a group: an object for each member that is not zero.
fn group_json(entries: &[Entry<'_>]) -> String {
    let mut object = Object::new();
    for entry in entries.iter().filter(|entry| entry.is_used()) {
        let mut pair = Object::new();
        pair.number("count", entry.count.get());
        if let Some(bytes) = entry.bytes {
            pair.number("bytes", bytes.get());
        }
        object.json(entry.name, &pair.end());
    }
    object.end()
}

/// A list of tallies with a name for each.
macro_rules! tallies {
    ($(#[$doc:meta])* $list:ident { $($(#[$of:meta])* $name:ident,)* }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub struct $list {
            $($(#[$of])* pub $name: Tally,)*
        }

        impl $list {
            /// All, by their names.
            fn all(&self) -> [(&'static str, &Tally); [$(stringify!($name)),*].len()] {
                [$((stringify!($name), &self.$name),)*]
            }
        }
    };
}

tallies! {
    /// What an endpoint has sent by other than short messages, by protocol. Of a rendezvous the length counts once,
    /// however the data go.
    Long {
        eager,
        zero_copy,
        fragments,
        rendezvous,
        put,
        get,
        atomic,
    }
}

tallies! {
    /// How the data of rendezvous messages came.
    Fetched {
        /// Copied from memory of the sender that is mapped.
        mapped,
        /// Read by the transport.
        get,
        /// The sender was asked to put them.
        put,
        /// The sender was asked for fragments.
        fragments,
    }
}

/// What an endpoint has sent.
#[derive(Default)]
pub struct Sent {
    /// Messages by the short-send route.
    pub short: Counter,
    /// Puts of mapped memory that are copied without a call.
    pub short_put: Counter,
    /// Gets, likewise.
    pub short_get: Counter,
    pub long: Long,
}

/// Of a worker.
#[derive(Default)]
pub struct Counters {
    /// Messages that transports handed over, those of the protocols among them, but short ones not.
    pub received_long: Counter,
    /// Messages, and pieces of streams, that came before a receive.
    pub unexpected: Tally,
    pub fetched: Fetched,
    /// Times that an endpoint waited until the transport had room.
    pub waits_for_room: Counter,
    /// Attempts that the transport took back for want of room; they are made again.
    pub retries: Counter,
    /// Copies by the kernel.
    pub kernel_copies: Counter,
    /// What endpoints sent that are destroyed.
    ended: Sent,
}

impl Counters {
    /// An endpoint is destroyed.
    pub fn end(&self, sent: &Sent) {
        self.ended.absorb(sent);
    }

    /// What all endpoints have sent: those that are destroyed, and these.
    pub fn sent<'a>(&self, endpoints: impl Iterator<Item = &'a Sent>) -> Sent {
        let sum = Sent::default();
        sum.absorb(&self.ended);
        endpoints.for_each(|sent| sum.absorb(sent));
        sum
    }

    /// All, with the sum of what the endpoints sent, and the wake-ups: the one list for every report.
    fn entries<'a>(&'a self, sent: &'a Sent, wake_ups: &'a Counter) -> Vec<Entry<'a>> {
        let mut entries = sent.entries();
        let fetched = self.fetched.all().into_iter();
        entries.extend(fetched.map(|of| Entry::tally("fetched", of)));
        entries.push(Entry::tally("", ("unexpected", &self.unexpected)));
        let singles = [
            ("received_long", &self.received_long),
            ("waits_for_room", &self.waits_for_room),
            ("retries", &self.retries),
            ("kernel_copies", &self.kernel_copies),
            ("wake_ups", wake_ups),
        ];
        entries.extend(singles.map(|(name, counter)| Entry::single("", name, counter)));
        entries
    }

    /// An object for each group, a number for each other counter.
    pub fn to_json(&self, sent: &Sent, wake_ups: &Counter) -> String {
        let mut object = Object::new();
        let entries = self.entries(sent, wake_ups);
        for group in entries.chunk_by(|a, b| a.group == b.group) {
            if let [first, ..] = group
                && !first.group.is_empty()
            {
                object.json(first.group, &group_json(group));
                continue;
            }
            for (name, value) in group.iter().flat_map(numbers) {
                object.number(&name, value);
            }
        }
        object.end()
    }

    /// All by name, such as `sent_eager` and `sent_eager_bytes`.
    pub fn totals(&self, sent: &Sent, wake_ups: &Counter) -> BTreeMap<String, u64> {
        let entries = self.entries(sent, wake_ups);
        entries.iter().flat_map(numbers).collect()
    }

    /// Lines for people, of those that are not zero.
    pub fn lines(&self, sent: &Sent, wake_ups: &Counter) -> Vec<String> {
        lines(&self.entries(sent, wake_ups))
    }
}

/// A counter's number, and that of its bytes, each by a name of its own.
fn numbers(entry: &Entry<'_>) -> impl Iterator<Item = (String, u64)> + use<> {
    let name = entry.path("_");
    let bytes = entry
        .bytes
        .map(|bytes| (format!("{name}_bytes"), bytes.get()));
    core::iter::once((name, entry.count.get())).chain(bytes)
}

impl Sent {
    /// A short message that was counted is not sent: the transport has no room.
    #[cold]
    #[inline(never)]
    pub fn take_back_short(&self) {
        self.short.take_back(1);
    }

    fn absorb(&self, other: &Sent) {
        for ((_, own), (_, theirs)) in self.singles().into_iter().zip(other.singles()) {
            own.add(theirs.get());
        }
        for ((_, own), (_, theirs)) in self.long.all().into_iter().zip(other.long.all()) {
            own.absorb(theirs);
        }
    }

    /// Those without bytes, by their names.
    fn singles(&self) -> [(&'static str, &Counter); 3] {
        [
            ("short", &self.short),
            ("short_put", &self.short_put),
            ("short_get", &self.short_get),
        ]
    }

    /// All, the one list for every report.
    fn entries(&self) -> Vec<Entry<'_>> {
        let short = self.singles().into_iter();
        let short = short.map(|(name, count)| Entry::single("sent", name, count));
        let long = self.long.all().into_iter();
        let long = long.map(|of| Entry::tally("sent", of));
        short.chain(long).collect()
    }

    pub fn lines(&self) -> Vec<String> {
        lines(&self.entries())
    }

    pub fn to_json(&self) -> String {
        group_json(&self.entries())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destroyed_endpoints_stay_in_the_sum() {
        let (worker, first, second) = (Counters::default(), Sent::default(), Sent::default());
        first.short.add(1);
        first.short.add(1);
        second.long.rendezvous.add(1 << 20);
        worker.end(&first);
        let sum = worker.sent([&second].into_iter());
        assert_eq!(
            (sum.short.get(), sum.long.rendezvous.bytes.get()),
            (2, 1 << 20)
        );
        assert_eq!(
            sum.lines(),
            ["sent short: 2", "sent rendezvous: 1 (1048576 bytes)"]
        );
        let json = worker.to_json(&sum, &Counter::default());
        assert!(
            json.starts_with(r#"{"sent":{"short":{"count":2},"rendezvous":{"count":1,"bytes":1048576}},"fetched":{},"#),
            "{json}"
        );
        let totals = worker.totals(&sum, &Counter::default());
        let [short, bytes] = ["sent_short", "sent_rendezvous_bytes"].map(|name| totals[name]);
        assert_eq!((short, bytes), (2, 1 << 20));
        assert!(!totals.contains_key("sent_short_bytes") && totals["unexpected_bytes"] == 0);
    }
}
