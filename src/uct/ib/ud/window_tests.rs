//! The windows of both sides over a network that loses, doubles, delays and exchanges packets, by seed and with a clock of
//! its own.
#![forbid(unsafe_code)]

use super::window::{Arrival, Expiry, Limits, MAX_HELD, Malformed, ReceiveWindow, SendWindow};
use crate::ucs::test_rng::TestRng;

const LIMITS: Limits = Limits {
    window: 256,
    timeout: 3000,
    backoff: 2.0,
};

/// A packet of the simulation: data with its PSN, or an acknowledgement.
#[derive(Clone, Copy)]
enum Wire {
    Data { psn: u16, item: u32, ask: bool },
    Ack { expected: u16, held: u64 },
}

/// What of 1000 packets happens.
#[derive(Clone, Copy)]
struct Weather {
    drop: usize,
    double: usize,
    late: usize,
}

struct Network<'a> {
    rng: &'a TestRng,
    weather: Weather,
    /// Packets with the tick in which they arrive.
    flying: Vec<(u32, Wire)>,
}

impl Network<'_> {
    fn send(&mut self, now: u32, packet: Wire) {
        let chance = |of_1000| self.rng.below(1000) < of_1000;
        if chance(self.weather.drop) {
            return;
        }
        let delay = |late: bool| {
            if late {
                1 + self.rng.below(20) as u32
            } else {
                1
            }
        };
        let at = now.wrapping_add(delay(chance(self.weather.late)));
        self.flying.push((at, packet));
        if chance(self.weather.double) {
            self.flying.push((now.wrapping_add(delay(true)), packet));
        }
    }

    fn arriving(&mut self, now: u32) -> Vec<Wire> {
        let (here, later) = self.flying.iter().partition(|(at, _)| *at == now);
        self.flying = later;
        let here: Vec<(u32, Wire)> = here;
        here.into_iter().map(|(_, packet)| packet).collect()
    }
}

/// Sends `count` numbers; answers the ticks it took and the number of transmissions.
fn run(seed: u64, weather: Weather, count: u32) -> (u32, u32) {
    let rng = &TestRng::new(seed);
    let mut network = Network {
        rng,
        weather,
        flying: Vec::new(),
    };
    let first = rng.below(1 << 16) as u16;
    let mut tx = SendWindow::new(first);
    let mut rx = ReceiveWindow::new(first);
    let start = rng.below(usize::MAX) as u32;
    let (mut sent, mut released, mut delivered) = (0, 0, 0);
    // Some packets have to be released.
    let every = [None, Some(1), Some(3), Some(100)][rng.below(4)];
    let is_special = |item: u32| every.is_some_and(|n| item.is_multiple_of(n));
    let (mut specials, mut next_release) = (0, 0);
    let (mut transmissions, mut ack_due, mut at_once) = (0, false, false);
    for tick in 0..200_000u32 {
        let now = start.wrapping_add(tick);
        for packet in network.arriving(now) {
            match packet {
                Wire::Data { psn, item, ask } => {
                    let in_order = rx.is_next(psn);
                    let may_hold = rng.below(10) > 0;
                    let arrival = rx.accept(psn, item, may_hold, |item| {
                        assert_eq!(item, delivered, "seed {seed}: delivered in order, once");
                        delivered += 1;
                    });
                    assert!(arrival == Arrival::Delivered || !in_order);
                    at_once |= ask || !in_order;
                    ack_due = true;
                }
                Wire::Ack { expected, held } => {
                    let before = tx.oldest();
                    let ok = tx.acknowledge(now, &LIMITS, (expected, held), |item: &mut u32| {
                        assert!(*item >= next_release, "seed {seed}: in order, once");
                        assert!(*item < delivered, "seed {seed}: released before it arrived");
                        specials += u32::from(is_special(*item));
                        next_release = *item + 1;
                    });
                    assert_eq!(ok, Ok(()), "seed {seed}");
                    released += u32::from(tx.oldest().wrapping_sub(before));
                    assert!(released <= delivered, "seed {seed}");
                    let due = every.map_or(0, |n| released.div_ceil(n));
                    assert_eq!(specials, due, "seed {seed}: each is released");
                }
            }
        }
        // The receiver's timer comes every few ticks of this clock.
        if ack_due && (at_once || tick % 2 == 0) {
            let (expected, held) = rx.state();
            network.send(now, Wire::Ack { expected, held });
            (ack_due, at_once) = (false, false);
        }
        assert_ne!(tx.expire(now, &LIMITS), Expiry::Dead, "seed {seed}");
        while let Some((psn, &mut item)) = tx.next_lost() {
            transmissions += 1;
            network.send(
                now,
                Wire::Data {
                    psn,
                    item,
                    ask: true,
                },
            );
        }
        while sent < count && tx.has_room(&LIMITS) {
            let (psn, ask) = (tx.next_psn(), tx.shall_ask(&LIMITS));
            let special = is_special(sent);
            let fill = |place: &mut u32| (!special).then(|| *place = sent);
            if tx.push_run(&now, fill).is_some() {
                assert!(!ask, "seed {seed}: a packet of a run asks for nothing");
            } else {
                *tx.place() = sent;
                tx.push(now, ask, special);
                tx.start_run(&LIMITS);
            }
            transmissions += 1;
            network.send(
                now,
                Wire::Data {
                    psn,
                    item: sent,
                    ask,
                },
            );
            sent += 1;
        }
        let mut in_run = false;
        let refuse = |_: &mut u32| -> Option<()> {
            in_run = true;
            None
        };
        assert!(tx.push_run(&now, refuse).is_none());
        assert!(!in_run || tx.has_room(&LIMITS), "seed {seed}");
        if released == count {
            assert!(tx.is_empty() && delivered == count);
            return (tick, transmissions);
        }
    }
    panic!("seed {seed}: {released} of {count} came through");
}

const CALM: Weather = Weather {
    drop: 0,
    double: 0,
    late: 0,
};

#[test]
fn everything_arrives_once_and_in_order_whatever_the_network_does() {
    for seed in 0..300 {
        let rng = TestRng::new(seed);
        let weather = Weather {
            drop: rng.below(300),
            double: rng.below(300),
            late: rng.below(500),
        };
        run(seed, weather, 2000);
    }
}

#[test]
fn nothing_is_sent_twice_without_losses() {
    for seed in 0..20 {
        let (ticks, transmissions) = run(seed, CALM, 100_000);
        assert_eq!(transmissions, 100_000);
        // The window has grown: with the first one alone it would take 9000 ticks.
        assert!(ticks < 3000, "{ticks}");
    }
}

#[test]
fn losses_cost_little_more_than_what_was_lost() {
    for seed in 0..20 {
        let weather = Weather { drop: 20, ..CALM };
        let (_, transmissions) = run(seed, weather, 20_000);
        assert!(transmissions < 21_500, "seed {seed}: {transmissions}");
    }
}

#[test]
fn a_silent_peer_is_dead_after_the_timeout_and_gets_few_packets() {
    let mut tx = SendWindow::new(0);
    for i in 0..30 {
        *tx.place() = i;
        tx.push(10, false, false);
    }
    let (mut again, mut died) = (0, None);
    for now in 10..5000 {
        match tx.expire(now, &LIMITS) {
            Expiry::Dead => {
                died = Some(now);
                break;
            }
            Expiry::Nothing | Expiry::Resend => {
                while tx.next_lost().is_some() {
                    again += 1;
                }
            }
        }
    }
    assert_eq!(died, Some(10 + 3001));
    assert!((10..100).contains(&again), "{again}");
    let mut given_up = Vec::new();
    tx.take_all(|i| given_up.push(*i));
    assert_eq!(given_up, (0..30).collect::<Vec<_>>());
    assert!(tx.is_empty() && tx.next_lost().is_none());
}

/// A peer that acknowledges, but takes nothing, is alive.
#[test]
fn a_peer_that_answers_is_alive() {
    let mut tx = SendWindow::new(7);
    tx.place();
    tx.push(0, true, true);
    for now in 0..20_000 {
        assert_ne!(tx.expire(now, &LIMITS), Expiry::Dead);
        while tx.next_lost().is_some() {}
        if now % 1000 == 0 {
            assert_eq!(
                tx.acknowledge(now, &LIMITS, (7, 0), |()| panic!(
                    "nothing was acknowledged"
                )),
                Ok(())
            );
        }
    }
    assert!(!tx.is_empty());
}

#[test]
fn a_window_keeps_its_places_until_it_rests() {
    let mut tx = SendWindow::<Option<u16>>::new(65_000);
    for round in 0..100u16 {
        for _ in 0..20 {
            // The places are used in turn, and there are no more than a power of two.
            let kept = tx.place();
            assert!(round < 2 || kept.is_some());
            *kept = Some(round);
            tx.push(0, false, false);
        }
        let none = |_: &mut _| panic!("none has to be released");
        let expected = tx.next_psn();
        assert_eq!(tx.acknowledge(0, &LIMITS, (expected, 0), none), Ok(()));
        assert!(tx.is_empty());
    }
    // Many were sent: they stay.
    let mut kept = 0;
    let mut count = |place: Option<u16>| kept += usize::from(place.is_some());
    assert!(!tx.rest(&mut count));
    // With few half of the places go, without any all.
    for left in [16, 8] {
        *tx.place() = Some(left);
        tx.push(0, false, false);
        assert!(!tx.rest(&mut count));
    }
    let mut given_up = Vec::new();
    tx.take_all(|place| given_up.push(*place));
    assert_eq!(given_up, [Some(16), Some(8)]);
    assert!(tx.rest(&mut count));
    assert_eq!(kept, 33);
    assert_eq!(*tx.place(), None);
}

#[test]
fn claims_that_cannot_be_true_change_nothing() {
    let mut tx = SendWindow::new(65_530);
    for i in 0..10u32 {
        *tx.place() = i;
        tx.push(0, false, true);
    }
    let none = |_: &mut u32| panic!("nothing was acknowledged");
    // Beyond the last packet; held packets that were never sent.
    for (expected, held) in [(5u16, 0), (100, 0), (65_530, 1 << 9), (4, 1), (3, u64::MAX)] {
        let claim = (expected, held);
        assert_eq!(
            tx.acknowledge(1, &LIMITS, claim, none),
            Err(Malformed),
            "{claim:?}"
        );
    }
    // Older than what is known: no claim at all.
    assert_eq!(tx.acknowledge(1, &LIMITS, (65_500, 0), none), Ok(()));
    let rng = TestRng::new(9);
    let mut released = 0;
    for _ in 0..10_000 {
        let claim = (rng.below(1 << 16) as u16, rng.below(usize::MAX) as u64);
        let _ = tx.acknowledge(1, &LIMITS, claim, |i| {
            assert_eq!(*i, released);
            released += 1;
        });
        while tx.next_lost().is_some() {}
    }
    assert!(released <= 10);
}

#[test]
fn a_receiver_holds_a_bounded_number_of_packets() {
    let mut rx = ReceiveWindow::new(65_000);
    let deliver = |_| panic!("the first packet is missing");
    for ahead in 1..1000u16 {
        let arrival = rx.accept(65_000u16.wrapping_add(ahead), ahead, true, deliver);
        if ahead <= MAX_HELD {
            assert_eq!(arrival, Arrival::Held);
        } else {
            assert_eq!(arrival, Arrival::Refused(ahead));
        }
    }
    assert_eq!(rx.state(), (65_000, u64::MAX));
    assert_eq!(rx.accept(65_003, 3, true, deliver), Arrival::Duplicate(3));
    assert_eq!(rx.accept(64_999, 9, true, deliver), Arrival::Duplicate(9));
    let mut got = Vec::new();
    assert_eq!(
        rx.accept(65_000, 0, true, |i| got.push(i)),
        Arrival::Delivered
    );
    assert_eq!(got, (0..=MAX_HELD).collect::<Vec<_>>());
    assert_eq!(rx.state(), (65_065, 0));
    assert_eq!(rx.take_all().count(), 0);
}
