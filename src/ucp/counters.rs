//! Counters that are always there: what endpoints have sent and by which protocol, and what a worker has received, stored
//! and waited for.
//!
//! Only the thread that uses the worker changes them, so a load and a store do, which are one instruction of the processor.
//! Other threads may read them at any time (`ucp/inspect/`). A short message costs one instruction, at its sender: its
//! bytes and its reception, which may take no more than sixteen, are not counted. All else is counted where a request, a
//! copy or a system call is paid for anyhow, messages and bytes.
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

            /// Those that are not zero.
            pub fn used(&self) -> impl Iterator<Item = (&'static str, &Tally)> {
                let all = self.all().into_iter();
                all.filter(|(_, tally)| tally.count.get() > 0)
            }

            fn put_into(&self, object: &mut Object) {
                for (name, tally) in self.used() {
                    let mut pair = Object::new();
                    pair.number("count", tally.count.get());
                    pair.number("bytes", tally.bytes.get());
                    object.json(name, &pair.end());
                }
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

    fn single(&self) -> [(&'static str, &Counter); 4] {
        [
            ("received_long", &self.received_long),
            ("waits_for_room", &self.waits_for_room),
            ("retries", &self.retries),
            ("kernel_copies", &self.kernel_copies),
        ]
    }

    /// With the sum of what the endpoints sent, and the wake-ups.
    pub fn to_json(&self, sent: &Sent, wake_ups: &Counter) -> String {
        let mut object = Object::new();
        object.json("sent", &sent.to_json());
        let mut fetched = Object::new();
        self.fetched.put_into(&mut fetched);
        object.json("fetched", &fetched.end());
        for (name, counter) in self.single() {
            object.number(name, counter.get());
        }
        object.number("unexpected", self.unexpected.count.get());
        object.number("unexpected_bytes", self.unexpected.bytes.get());
        object.number("wake_ups", wake_ups.get());
        object.end()
    }

    /// All by name, such as `sent_eager` and `sent_eager_bytes`.
    pub fn totals(&self, sent: &Sent, wake_ups: &Counter) -> BTreeMap<String, u64> {
        let single = self.single().into_iter();
        let mut totals: BTreeMap<_, _> = single
            .chain([("sent_short", &sent.short), ("wake_ups", wake_ups)])
            .map(|(name, counter)| (name.to_owned(), counter.get()))
            .collect();
        let sent = sent
            .long
            .all()
            .map(|(name, tally)| (format!("sent_{name}"), tally));
        let fetched = self
            .fetched
            .all()
            .map(|(name, tally)| (format!("fetched_{name}"), tally));
        let unexpected = [("unexpected".to_owned(), &self.unexpected)];
        for (name, tally) in sent.into_iter().chain(fetched).chain(unexpected) {
            totals.insert(format!("{name}_bytes"), tally.bytes.get());
            totals.insert(name, tally.count.get());
        }
        totals
    }

    /// Lines for people, of those that are not zero.
    pub fn lines(&self, sent: &Sent, wake_ups: &Counter) -> Vec<String> {
        let mut lines = sent.lines();
        lines.extend(
            self.fetched
                .used()
                .map(|(name, tally)| line("fetched", name, tally)),
        );
        if self.unexpected.count.get() > 0 {
            lines.push(line("unexpected", "", &self.unexpected));
        }
        let single = self.single().into_iter().chain([("wake_ups", wake_ups)]);
        let used = single.filter(|(_, counter)| counter.get() > 0);
        lines.extend(used.map(|(name, counter)| format!("{name}: {}", counter.get())));
        lines
    }
}

impl Sent {
    /// A short message that was counted is not sent: the transport has no room.
    #[cold]
    #[inline(never)]
    pub fn take_back_short(&self) {
        self.short.take_back(1);
    }

    fn absorb(&self, other: &Sent) {
        self.short.add(other.short.get());
        for ((_, own), (_, theirs)) in self.long.all().into_iter().zip(other.long.all()) {
            own.absorb(theirs);
        }
    }

    pub fn lines(&self) -> Vec<String> {
        let short = Some(self.short.get()).filter(|n| *n > 0);
        let short = short.map(|n| format!("sent short: {n}"));
        let long = self
            .long
            .used()
            .map(|(name, tally)| line("sent", name, tally));
        short.into_iter().chain(long).collect()
    }

    pub fn to_json(&self) -> String {
        let mut short = Object::new();
        short.number("count", self.short.get());
        let mut object = Object::new();
        object.json("short", &short.end());
        self.long.put_into(&mut object);
        object.end()
    }
}

fn line(what: &str, name: &str, tally: &Tally) -> String {
    let space = if name.is_empty() { "" } else { " " };
    format!(
        "{what}{space}{name}: {} ({} bytes)",
        tally.count.get(),
        tally.bytes.get()
    )
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
            json.starts_with(r#"{"sent":{"short":{"count":2},"#),
            "{json}"
        );
    }
}
