//! Seeded programs of several processes on a simulated network, which test the protocol engine.
//!
//! Each process is a context with a worker inside this test, whose transports are simulated: `network`
//! delays, reorders between endpoints, refuses, breaks and kills; `transport` implements UCT's traits on it.
//! `program` draws what happens and calls the C functions: `calls` makes the calls, `life` makes and ends processes and
//! endpoints. `world` records every operation and checks: each operation ends once, messages arrive once and
//! in order, data are there after a flush, no callback comes after a close, nothing waits for ever, no
//! request leaks.
//!
//! `SIM_SEEDS=100000` runs more seeds, `SIM_FIRST=n` begins elsewhere, `SIM_SEED=n` runs one and prints
//! its trace, with the library's log if `UCX_LOG_LEVEL=trace`. `SIM_UPSTREAM_SEEDS` and `SIM_UPSTREAM_SEED` are for processes that
//! take each other for upstream's.

#[path = "../../src/ucs/test_rng.rs"]
#[allow(dead_code)] // for other tests
mod test_rng;

mod buffer;
mod calls;
mod life;
mod network;
mod program;
mod transport;
mod world;

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Range;
use ferrucx::c::*;
use ferrucx::ucs::log;
use ferrucx::uct::registry;
use network::Mischief;
use program::Plot;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Seeds of an ordinary test run.
const SEEDS: u64 = 5_000;
const UPSTREAM_SEEDS: u64 = 2_000;
/// Faults that one run of the test lists.
const SHOWN: usize = 50;

thread_local! {
    /// The seed that this thread runs, and the variable that has it run again, for the message of a panic.
    static SEED: Cell<Option<(&'static str, u64)>> = const { Cell::new(None) };
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
    )
}

unsafe extern "C" {
    fn vsnprintf(to: *mut c_char, size: usize, format: *const c_char, args: *mut c_void) -> c_int;
}

/// The library's log goes to the trace of the thread's run.
unsafe extern "C" fn to_trace(
    _file: *const c_char,
    _line: u32,
    _function: *const c_char,
    level: ucs_log_level_t,
    _component: *const ucs_log_component_config_t,
    format: *const c_char,
    args: *mut c_void,
) -> ucs_log_func_rc_t {
    if let Some(w) = world::current() {
        let mut text = [0; 1024];
        // SAFETY: the log passes a format with its arguments; the text is cut at the end of the array.
        let text = unsafe {
            vsnprintf(text.as_mut_ptr(), text.len(), format, args);
            CStr::from_ptr(text.as_ptr())
        };
        world::note!(w, "log {level}: {}", text.to_string_lossy());
    }
    UCS_LOG_FUNC_RC_STOP
}

/// Runs one seed on this thread.
fn one(seed: u64, plot: Plot, mischief: Mischief, traced: bool) -> program::Outcome {
    SEED.set(Some((variable(plot), seed)));
    let outcome = program::run(seed, plot, mischief, traced);
    SEED.set(None);
    outcome
}

/// The environment's variable that has one seed of a plot run again.
fn variable(plot: Plot) -> &'static str {
    match plot {
        Plot::Upstream => "SIM_UPSTREAM_SEED",
        _ => "SIM_SEED",
    }
}

/// Once a process: the simulated transports take the place of the library's, the trace that of the log.
fn set_up() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        registry::replace(&transport::COMPONENTS);
        assert!(log::push_handler(to_trace));
        name_the_seed_in_panics();
    });
}

/// A panic says which seed it is of: in a callback it ends the whole process.
fn name_the_seed_in_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let Some((variable, seed)) = SEED.get() {
            eprintln!("seed {seed} panics; {variable}={seed} runs it again");
        }
        before(info);
    }));
}

/// What many runs did.
#[derive(Default)]
struct Totals {
    ended: AtomicU64,
    by_rails: [AtomicU64; 2],
    refused_registrations: AtomicU64,
    link_losses: AtomicU64,
}

impl Totals {
    fn add(&self, outcome: &program::Outcome) {
        // Relaxed: sums alone.
        self.ended
            .fetch_add(outcome.ended as u64, Ordering::Relaxed);
        for (sum, count) in self.by_rails.iter().zip(outcome.by_rails) {
            sum.fetch_add(count as u64, Ordering::Relaxed);
        }
        self.refused_registrations
            .fetch_add(outcome.refused_registrations as u64, Ordering::Relaxed);
        self.link_losses
            .fetch_add(outcome.link_losses as u64, Ordering::Relaxed);
    }
}

/// Runs many seeds, on all processors; a fault is a panic. Where the plot's variable asks for one seed, runs that one, and returns
/// nothing.
fn keep_the_promises(plot: Plot, seeds: Range<u64>) -> Option<Totals> {
    set_up();
    let variable = variable(plot);
    if let Some(seed) = number(variable) {
        let outcome = one(seed, plot, Mischief::None, true);
        println!("{}", outcome.trace);
        assert_eq!(outcome.fault, None, "seed {seed}");
        return None;
    }
    let next = AtomicU64::new(seeds.start);
    let totals = Totals::default();
    let faults: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    // Relaxed: only uniqueness matters.
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let outcome = one(seed, plot, Mischief::None, false);
                    totals.add(&outcome);
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
        println!("{}", one(*seed, plot, Mischief::None, true).trace);
        panic!(
            "{} seeds fail; seed {seed}: {fault}; {variable}={seed} runs it again",
            faults.len()
        );
    }
    Some(totals)
}

#[test]
fn seeds_keep_the_promises() {
    let first = number("SIM_FIRST").unwrap_or(0);
    let count = number("SIM_SEEDS").unwrap_or(SEEDS);
    let Some(totals) = keep_the_promises(Plot::Any, first..first + count) else {
        return;
    };
    let [puts, messages] = totals.by_rails.map(AtomicU64::into_inner);
    let (ended, losses) = (totals.ended.into_inner(), totals.link_losses.into_inner());
    let refused = totals.refused_registrations.into_inner();
    println!(
        "{count} seeds, {ended} operations, {puts} puts and {messages} messages by rails, {refused} registrations failed, {losses} lost links with failover"
    );
    assert!(puts > 0 && messages > 0, "no run has split a transfer");
    assert!(refused > 0, "no registration has failed");
    assert!(losses > 0, "no run has lost a link");
}

/// An endpoint that fails takes no messages with it that come from its peer by another one.
#[test]
fn seeds_with_a_failure_beside_failover_lose_no_message() {
    set_up();
    for seed in 0..500 {
        let outcome = one(seed, Plot::FailureBesideFailover, Mischief::None, true);
        if let Some(fault) = outcome.fault {
            println!("{}", outcome.trace);
            panic!("seed {seed}: {fault}");
        }
    }
}

/// Between processes that take each other for upstream's, too.
#[test]
fn seeds_in_the_dialect_of_upstream_keep_the_promises() {
    let count = number("SIM_UPSTREAM_SEEDS").unwrap_or(UPSTREAM_SEEDS);
    if let Some(totals) = keep_the_promises(Plot::Upstream, 0..count) {
        println!("{} operations", totals.ended.into_inner());
    }
}

/// The ledger is no decoration: a network that breaks one promise is noticed soon.
#[test]
fn a_network_that_cheats_is_noticed() {
    set_up();
    for mischief in [
        Mischief::Swap,
        Mischief::Lose,
        Mischief::Double,
        Mischief::Damage,
        Mischief::Forget,
    ] {
        for plot in [Plot::Any, Plot::Upstream] {
            let is_noticed = |seed: &u64| one(*seed, plot, mischief, false).fault.is_some();
            let noticed = (0..200).find(is_noticed);
            assert!(noticed.is_some(), "{mischief:?} goes unnoticed in {plot:?}");
        }
    }
}
