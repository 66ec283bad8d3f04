//! The program of a run: a few processes that act by chance while the network delivers, then settle, take
//! what has come, close, and end. What is checked at which point stands here.

use crate::network::{Mischief, Network, Shape, Weather};
use crate::test_rng::TestRng;
use crate::world::*;
use crate::{calls, life};
use core::ptr::{null, null_mut};
use ferrucx::abi::ucp::config::{ucp_config_modify, ucp_config_read, ucp_config_release};
use ferrucx::c::*;
use std::ffi::CString;
use std::rc::Rc;

/// How a run goes wrong on purpose.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    force_close: bool,
    resets: bool,
    kills: bool,
    /// The device that fails, or may fail several times: all endpoints use failover, and nothing is lost.
    link: Option<usize>,
}

/// Rounds after which a run that does not become quiet hangs.
const PATIENCE: usize = 20_000;
/// Rounds without an event before a run counts as quiet.
const STILL: usize = 3;

/// How a run went.
pub struct Outcome {
    pub fault: Option<String>,
    pub trace: String,
    /// Operations that came to their end.
    pub ended: usize,
    /// Puts and messages on rails.
    pub by_rails: [usize; 2],
    /// Registrations that failed.
    pub refused_registrations: usize,
    /// Losses of links that failover had to hide.
    pub link_losses: usize,
}

/// What happens in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plot {
    /// Anything.
    Any,
    /// An endpoint fails while messages come from its peer by another one, which uses failover.
    FailureBesideFailover,
    /// Processes that take each other for upstream's. It has no word for the end of an endpoint by worker address, other than the
    /// end of its connection: so all are closed at the end, and where connections break, two processes have one.
    Upstream,
}

/// Runs one seed.
pub fn run(seed: u64, plot: Plot, mischief: Mischief, traced: bool) -> Outcome {
    let rng = Rc::new(TestRng::new(seed));
    let weather = Weather {
        delay: rng.pick(&[0, 3, 20]),
        window: rng.pick(&[1, 4, 64]),
        refuse: rng.pick(&[0, 5, 30]),
        budget: rng.pick(&[1, 4, 16]),
    };
    let trouble = match rng.below(10) {
        0..=4 => Trouble {
            force_close: false,
            resets: false,
            kills: false,
            link: None,
        },
        5 => Trouble {
            force_close: true,
            resets: false,
            kills: false,
            link: None,
        },
        6 => Trouble {
            force_close: false,
            resets: true,
            kills: false,
            link: None,
        },
        7 | 8 => Trouble {
            force_close: false,
            resets: false,
            kills: true,
            link: None,
        },
        _ => Trouble {
            force_close: true,
            resets: true,
            kills: true,
            link: None,
        },
    };
    let count = rng.between(2, 4);
    let is_any = plot == Plot::Any;
    let over_network = rng.chance(40) || !is_any;
    let failover = is_any && over_network && rng.chance(40) || plot == Plot::FailureBesideFailover;
    let trouble = match is_any && failover && rng.chance(70) {
        true => Trouble {
            force_close: false,
            resets: false,
            kills: false,
            link: Some(rng.below(2)),
        },
        false => trouble,
    };
    let shape = |rng: &TestRng| {
        let devices = match failover {
            true => rng.between(2, 3),
            false if plot == Plot::Upstream && trouble.resets => 1,
            false if over_network => rng.between(1, 3),
            false => 0,
        };
        let fastest = match devices {
            0 | 1 => 0,
            _ => rng.below(devices),
        };
        Shape {
            devices,
            fastest,
            ..shape(rng, over_network)
        }
    };
    let first = shape(&rng);
    let net = Network::begin(Rc::clone(&rng), TestRng::new(!seed), weather, count, first);
    let w = World::begin(Rc::clone(&net), Rc::clone(&rng), traced);
    note!(
        w,
        "seed {seed}: {count} processes, {weather:?}, {trouble:?}"
    );
    w.failover.set(failover.then_some(trouble.link.is_some()));
    if plot == Plot::Upstream {
        w.upstream.set(Some(rng.chance(80)));
    }
    let config = configure(&w);
    let alike = rng.chance(50);
    for index in 0..count {
        let shape = if alike { first } else { shape(&rng) };
        note!(w, "process {index}: {shape:?}");
        let made = life::spawn(&w, index, shape, config);
        w.processes.borrow_mut().push(made);
    }
    net.mischief.set(mischief);
    match plot {
        Plot::Any | Plot::Upstream => live(&w, trouble),
        Plot::FailureBesideFailover => fail_beside_failover(&w),
    }
    settle(&w, "the program");
    take_everything(&w);
    check_waiting(&w);
    if w.first_fault().is_none() {
        // Whatever breaks, an endpoint with failover loses nothing as long as it works.
        check_losses(&w, |m| life::works_with_failover(&w, m));
    }
    close_everything(&w, trouble);
    check_over(&w);
    for p in w.processes.borrow().iter() {
        life::end_process(&w, p);
    }
    check_end(&w, trouble);
    // SAFETY: read by `configure`; nobody uses it any more.
    unsafe { ucp_config_release(config) };
    crate::buffer::destroy_generic(w.datatype);
    World::end_of_run();
    let outcome = Outcome {
        fault: w.first_fault(),
        trace: w.take_trace(),
        ended: w.ended.get(),
        by_rails: [net.puts_by_rails.get(), net.messages_by_rails.get()],
        refused_registrations: net.refused_registrations.get(),
        link_losses: w.link_losses.get(),
    };
    dissolve(&w);
    outcome
}

fn shape(rng: &TestRng, over_network: bool) -> Shape {
    Shape {
        devices: 0,
        fastest: 0,
        max_short: rng.pick(&[None, Some(8), Some(40), Some(200)]),
        max_bcopy: rng.pick(&[256, 300, 1_000, 8_000]),
        max_zcopy: rng.pick(&[None, Some(600), Some(8_000)]),
        copies: !over_network && rng.chance(40),
        max_copy: rng.pick(&[100, 4_000, 1 << 20]),
        mapped: !over_network && rng.chance(25),
    }
}

/// The configuration of a run.
fn configure(w: &World) -> *mut ucp_config_t {
    let mut config = null_mut();
    let values: [(&str, &[&str]); 6] = [
        ("RNDV_THRESH", &["auto", "0", "1", "200", "3000", "inf"]),
        ("MAX_EAGER_RAILS", &["1", "2", "3"]),
        ("MAX_RNDV_RAILS", &["1", "2", "3"]),
        ("MIN_RNDV_CHUNK_SIZE", &["1", "100", "2000"]),
        ("MAX_RMA_RAILS", &["1", "2", "3"]),
        ("MIN_RMA_CHUNK_SIZE", &["1", "100", "2000"]),
    ];
    // SAFETY: an out parameter of ours.
    let read = unsafe { ucp_config_read(null(), null(), &mut config) };
    assert_eq!(read, UCS_OK);
    let drawn = values.map(|(name, choice)| (name, w.rng.pick(choice)));
    for (name, value) in drawn {
        note!(w, "UCX_{name}={value}");
        let [name, value] = [name, value].map(|s| CString::new(s).expect("no zero in it"));
        // SAFETY: a configuration that was just read, C strings.
        let set = unsafe { ucp_config_modify(config, name.as_ptr(), value.as_ptr()) };
        assert_eq!(set, UCS_OK);
    }
    config
}

/// The part in which things happen.
fn live(w: &World, trouble: Trouble) {
    let steps = w.rng.pick(&[40, 120, 300]);
    for _ in 0..steps {
        if w.first_fault().is_some() {
            return;
        }
        w.net.now.set(w.net.now.get() + 1);
        if w.rng.chance(1) || w.rng.chance(1) {
            disturb(w, trouble);
        }
        let p = w.process(w.rng.below(w.processes.borrow().len()));
        if !w.is_alive(p.index) {
            continue;
        }
        if w.rng.chance(50) {
            life::progress(w, &p);
            poll(w);
        } else {
            act(w, p.index, trouble.force_close);
        }
    }
}

/// The connections between two processes break while messages are coming in by an endpoint with failover. Another
/// endpoint to their sender, without failover and not paired with it, fails.
fn fail_beside_failover(w: &World) {
    let (here, peer) = (w.process(0), w.process(1));
    w.failover.set(None);
    life::connect(w, &here, &peer);
    w.failover.set(Some(true));
    // The first one is paired with the endpoint that fails, and fails with it.
    life::connect(w, &peer, &here);
    let safe = life::connect(w, &peer, &here);
    for _ in 0..5 {
        calls::tag_send(w, &peer, &safe);
    }
    for _ in 0..w.rng.below(100) {
        w.net.now.set(w.net.now.get() + 1);
        life::progress(w, &w.process(w.rng.below(2)));
    }
    reset(w, here.index, peer.index, None);
}

/// The connections between two processes break, and may take with them what goes by them.
fn reset(w: &World, a: usize, b: usize, device: Option<usize>) {
    note!(
        w,
        "the connections between {a} and {b} break, by device {device:?}"
    );
    w.disturbed.set(true);
    w.net.reset(a, b, device);
}

fn disturb(w: &World, trouble: Trouble) {
    let n = w.processes.borrow().len();
    let (a, b) = (w.rng.below(n), w.rng.below(n));
    if let Some(device) = trouble.link {
        if w.rng.chance(70) && a != b {
            note!(w, "device {device} breaks between {a} and {b}");
            w.net.reset(a, b, Some(device));
            w.link_losses.set(w.link_losses.get() + 1);
        } else if w.net.silent.get().is_none() {
            note!(w, "device {device} falls silent");
            w.net.fall_silent(device);
            w.link_losses.set(w.link_losses.get() + 1);
        }
    } else if trouble.kills && w.rng.chance(50) {
        // One process stays, to see how it takes it.
        if a != 0 && w.is_alive(a) {
            note!(w, "process {a} dies");
            w.disturbed.set(true);
            w.net.kill(a);
        }
    } else if trouble.resets && a != b {
        let by_device = w.upstream.get().is_none() && w.rng.chance(50);
        reset(w, a, b, by_device.then(|| w.rng.below(3)));
    }
}

/// A callback of the library lets the program act.
pub fn react(w: &World, process: usize) {
    if w.calm_down.get() || w.depth.get() >= 2 || !w.is_alive(process) || !w.rng.chance(30) {
        return;
    }
    w.depth.set(w.depth.get() + 1);
    act(w, process, false);
    w.depth.set(w.depth.get() - 1);
}

/// One call, of any kind.
fn act(w: &World, process: usize, force_close: bool) {
    let p = w.process(process);
    let ends = life::open_ends(w, process);
    if ends.is_empty() || ends.len() < 5 && w.rng.chance(8) {
        let peer = w.process(w.rng.below(w.processes.borrow().len()));
        // To itself a worker always speaks its own dialect.
        if w.upstream.get().is_some() && peer.index == process {
            return;
        }
        // A process does not know that another is dead.
        life::connect(w, &p, &peer);
        return;
    }
    let end = &ends[w.rng.below(ends.len())];
    match w.rng.below(100) {
        0..=21 => calls::tag_send(w, &p, end),
        22..=41 => calls::tag_recv(w, &p),
        42..=45 => drop(calls::probe(w, &p, w.rng.chance(70))),
        46..=48 => cancel_one(w, process),
        49..=59 => calls::am_send(w, &p, end.peer, end.handle.get(), Some(end)),
        60..=62 => drop(calls::use_kept(w, &p)),
        63..=67 => calls::stream_send(w, &p, end),
        68..=71 => calls::stream_recv(w, &p, end),
        72 => calls::stream_poll(w, &p),
        73..=77 => calls::put(w, &p, end),
        78..=81 => calls::get(w, &p, end),
        82..=86 => calls::atomic(w, &p, end),
        87..=90 => calls::flush(w, &p, Some(end)),
        91 => calls::flush(w, &p, None),
        92 => calls::fence(w, &p),
        93..=97 => free_some(w, process),
        _ if w.upstream.get().is_some() => {}
        _ => life::close(w, end, force_close && w.rng.chance(60)),
    }
}

fn cancel_one(w: &World, process: usize) {
    let receives: Vec<Rc<Op>> = w
        .waiting()
        .into_iter()
        .filter(|op| {
            op.process == process
                && matches!(op.what, What::TagRecv { .. } | What::StreamRecv { .. })
        })
        .collect();
    if !receives.is_empty() {
        let op = &receives[w.rng.below(receives.len())];
        calls::cancel(w, &w.process(process), op);
    }
}

fn free_some(w: &World, process: usize) {
    let ops = w.ops.borrow().clone();
    for op in ops {
        if op.process == process && op.is_ended() && w.rng.chance(50) {
            op.free();
        }
    }
}

/// Looks at operations that have no callback.
fn poll(w: &World) {
    for op in w.waiting() {
        if w.is_alive(op.process) {
            op.poll();
        }
    }
}

/// Lets everything come to rest.
fn settle(w: &World, after: &str) {
    w.calm_down.set(true);
    let mut still = 0;
    let mut last = "";
    for _ in 0..PATIENCE {
        if w.first_fault().is_some() {
            return;
        }
        w.net.now.set(w.net.now.get() + 1);
        let n = w.processes.borrow().len();
        let start = w.rng.below(n);
        let mut count = 0;
        for i in 0..n {
            count += life::progress(w, &w.process((start + i) % n));
        }
        let busy = w.net.busy_with().or((count > 0).then_some("events"));
        let processes = w.processes.borrow().clone();
        let waits = processes.iter().any(|p| life::waits_for_time(w, p));
        let busy = busy.or(waits.then_some("acknowledgements"));
        still = if busy.is_none() { still + 1 } else { 0 };
        last = busy.unwrap_or(last);
        if still >= STILL {
            poll(w);
            return;
        }
    }
    w.fault(format!("never quiet after {after}, because of {last}"));
}

/// Receives whatever has come and was not asked for.
fn take_everything(w: &World) {
    for _ in 0..PATIENCE {
        let mut found = false;
        let processes = w.processes.borrow().clone();
        for p in processes.iter().filter(|p| w.is_alive(p.index)) {
            while w.first_fault().is_none() && calls::probe(w, p, true) {
                found = true;
            }
            while w.first_fault().is_none() && calls::use_kept(w, p) {
                found = true;
            }
            for end in life::open_ends(w, p.index) {
                while w.first_fault().is_none() && calls::lend_stream(w, &end) {
                    found = true;
                }
            }
        }
        if !found || w.first_fault().is_some() {
            return;
        }
        settle(w, "taking what had come");
    }
    w.fault("messages never end");
}

/// What may wait when nothing is under way and everything was taken: receives, and what a receive has to
/// answer.
fn check_waiting(w: &World) {
    for op in w.waiting() {
        if !w.is_alive(op.process) {
            continue;
        }
        match &op.what {
            What::TagRecv { .. } | What::StreamRecv { .. } => {
                calls::cancel(w, &w.process(op.process), &op);
                w.check(op.is_ended() || life::lost_its_sender(w, &op), || {
                    format!("{} was matched and never ends", op.name())
                });
            }
            _ => w.fault(format!("{} never ends", op.name())),
        }
    }
    settle(w, "cancelling");
    take_everything(w);
}

fn close_everything(w: &World, trouble: Trouble) {
    let processes = w.processes.borrow().clone();
    for p in processes.iter().filter(|p| w.is_alive(p.index)) {
        for end in life::open_ends(w, p.index) {
            life::close(w, &end, trouble.force_close && w.rng.chance(30));
            if w.rng.chance(30) {
                life::progress(w, p);
            }
        }
    }
    settle(w, "closing");
}

/// Everything is closed: nothing waits, and every request can be given back.
fn check_over(w: &World) {
    for op in w.waiting() {
        if w.is_alive(op.process) && !life::lost_its_sender(w, &op) {
            w.fault(format!("{} is not over when all is closed", op.name()));
        }
    }
    let ops = w.ops.borrow().clone();
    for op in ops
        .iter()
        .filter(|op| w.is_alive(op.process) && op.is_ended())
    {
        op.free();
    }
    for p in w.processes.borrow().iter().filter(|p| w.is_alive(p.index)) {
        while w.first_fault().is_none() && calls::use_kept(w, p) {}
    }
}

fn check_end(w: &World, trouble: Trouble) {
    if w.first_fault().is_some() {
        return;
    }
    let ops = w.ops.borrow();
    for op in ops.iter().filter(|op| !w.net.is_dead(op.process)) {
        w.check(op.buffer.unfinished.get() == 0, || {
            format!("{}: its datatype was not finished", op.name())
        });
        w.check(op.buffer.guards_hold(), || {
            format!("{}: written beyond its buffer", op.name())
        });
        w.check(
            op.sum.get().is_none_or(|sum| sum == op.buffer.sum()),
            || format!("{}: its memory changed after its end", op.name()),
        );
        if op.called.get() == 0 && op.calls_back && op.stage.get() == Stage::Waiting {
            w.fault(format!("{} was never called back", op.name()));
        }
    }
    drop(ops);
    check_order(w);
    check_counters(w, trouble);
    if !w.disturbed.get() {
        check_losses(w, |_| true);
    }
}

/// A receive that took a later message of an endpoint than one posted behind it was there for the earlier
/// message too: if it would take that, it had to.
fn check_order(w: &World) {
    let ops = w.ops.borrow();
    let mut by_end: std::collections::BTreeMap<usize, Vec<(u64, u64, u64)>> = Default::default();
    for op in ops.iter() {
        if let What::TagRecv { tag, mask, got } = &op.what
            && let Some(m) = got.borrow().as_ref()
        {
            let earlier = by_end.entry(m.end).or_default();
            for (tag0, mask0, id0) in earlier.iter() {
                if (m.id ^ tag0) & mask0 == 0 && m.id >> 16 < id0 >> 16 {
                    w.fault(format!("message {:#x} was overtaken by {id0:#x}", m.id));
                }
            }
            earlier.push((*tag, *mask, m.id));
        }
    }
}

/// The shared counters hold as many as were counted, and no two of them the same.
fn check_counters(w: &World, trouble: Trouble) {
    let ops = w.ops.borrow();
    for p in w.processes.borrow().iter() {
        // SAFETY: inside the region, aligned.
        let value = unsafe { p.base().add(CONSTANT + SLOTS).cast::<u64>().read() };
        let counts: Vec<&Rc<Op>> = ops
            .iter()
            .filter(|op| {
                matches!(op.what, What::Count) && op.end.as_ref().is_some_and(|e| e.peer == p.index)
            })
            .collect();
        let sure = counts
            .iter()
            .filter(|op| op.stage.get() == Stage::Ended(UCS_OK))
            .count() as u64;
        let exact = !w.disturbed.get() && !trouble.kills;
        let fits = if exact {
            value == sure
        } else {
            value <= counts.len() as u64
        };
        w.check(fits, || {
            format!("process {} counted {value}, {sure} were sure", p.index)
        });
        let mut seen: Vec<u64> = counts
            .iter()
            .filter(|op| op.stage.get() == Stage::Ended(UCS_OK) && op.buffer.len == 8)
            .filter_map(|op| op.answered.get())
            .collect();
        seen.sort_unstable();
        w.check(seen.windows(2).all(|s| s[0] != s[1]), || {
            format!(
                "two adds on the counter of process {} answered the same",
                p.index
            )
        });
        w.check(seen.last().is_none_or(|last| *last < value), || {
            format!(
                "an add on the counter of process {} answered too much",
                p.index
            )
        });
    }
}

/// What was sent has arrived, unless something broke that these messages may be lost with.
fn check_losses(w: &World, is_safe: impl Fn(&Message) -> bool) {
    let lost: Vec<u64> = w
        .messages
        .borrow()
        .values()
        .filter(|m| m.sent.get() == Some(UCS_OK) && m.arrived.get() == 0 && is_safe(m))
        .map(|m| m.id)
        .collect();
    w.check(lost.len() <= w.nameless.get(), || {
        format!("messages {lost:x?} were lost")
    });
}

/// Takes the ledger's cycles apart.
fn dissolve(w: &World) {
    for end in w.ends.borrow().iter() {
        end.writes.borrow_mut().clear();
    }
    w.ops.borrow_mut().clear();
    w.ends.borrow_mut().clear();
    w.processes.borrow_mut().clear();
}
