//! Floor 8, of the tests alone: seeded programs of several processes on a simulated network.
//!
//! Each process is a context with a worker inside this test, whose transports are simulated: `network`
//! delays, reorders between endpoints, refuses, breaks and kills; `transport` is its face towards UCT.
//! `program` acts through the C functions: `calls` makes the calls, `life` makes and ends processes and
//! endpoints. `world` is the ledger with what must hold: every operation ends once, messages come once and
//! in order, data is there after a flush, nothing is called after a close, nothing waits for ever, no
//! request is lost. `skeleton` is apart from that: a complete small transport, as an example for a new one.
//!
//! `SIM_SEEDS=100000` runs more seeds, `SIM_FIRST=n` begins elsewhere, `SIM_SEED=n` runs one and prints
//! what happened.

mod buffer;
mod calls;
mod life;
mod network;
mod program;
mod skeleton;
mod transport;
mod world;

use crate::ucs::log;
use core::cell::Cell;
use network::Mischief;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Seeds of an ordinary test run.
const SEEDS: u64 = 5_000;
/// Faults that one run of the test lists.
const SHOWN: usize = 50;

thread_local! {
    /// The seed that this thread runs, for the message of a panic.
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
    )
}

/// What the library logs goes to the trace.
fn to_trace(level: log::Level, text: &str) {
    if let Some(w) = world::current() {
        world::note!(w, "log {level:?}: {text}");
    }
}

/// Runs one seed on this thread.
fn one(seed: u64, mischief: Mischief, traced: bool) -> program::Outcome {
    SEED.set(Some(seed));
    log::TAP.set(Some(to_trace));
    if !traced {
        // Not more than what is written: messages of a level that is off are not made.
        log::start();
    }
    let outcome = program::run(seed, mischief, traced);
    log::TAP.set(None);
    SEED.set(None);
    outcome
}

/// A panic says which seed it is of: in a callback it ends the whole process.
fn name_the_seed_in_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if let Some(seed) = SEED.get() {
                eprintln!("seed {seed} panics; SIM_SEED={seed} runs it again");
            }
            before(info);
        }));
    });
}

#[test]
fn seeds_keep_the_promises() {
    name_the_seed_in_panics();
    if let Some(seed) = number("SIM_SEED") {
        let outcome = one(seed, Mischief::None, true);
        println!("{}", outcome.trace);
        assert_eq!(outcome.fault, None, "seed {seed}");
        return;
    }
    let first = number("SIM_FIRST").unwrap_or(0);
    let end = first + number("SIM_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(first);
    let ended = AtomicU64::new(0);
    let faults: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    // Relaxed: only uniqueness matters.
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let outcome = one(seed, Mischief::None, false);
                    ended.fetch_add(outcome.ended as u64, Ordering::Relaxed);
                    if let Some(fault) = outcome.fault {
                        faults.lock().unwrap().push((seed, fault));
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().unwrap();
    faults.sort();
    for (seed, fault) in faults.iter().take(SHOWN) {
        eprintln!("seed {seed}: {fault}");
    }
    if let Some((seed, fault)) = faults.first() {
        println!("{}", one(*seed, Mischief::None, true).trace);
        panic!(
            "{} seeds fail; seed {seed}: {fault}; SIM_SEED={seed} runs it again",
            faults.len()
        );
    }
    println!("{} seeds, {} operations", end - first, ended.into_inner());
}

/// The ledger is no decoration: a network that breaks one promise is noticed soon.
#[test]
fn a_network_that_cheats_is_noticed() {
    name_the_seed_in_panics();
    for mischief in [
        Mischief::Swap,
        Mischief::Lose,
        Mischief::Double,
        Mischief::Damage,
        Mischief::Forget,
    ] {
        let noticed = (0..200).find(|seed| one(*seed, mischief, false).fault.is_some());
        assert!(noticed.is_some(), "{mischief:?} goes unnoticed");
    }
}
