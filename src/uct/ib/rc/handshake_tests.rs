//! Handshakes over a network that loses, doubles and delays datagrams, by seed.
#![forbid(unsafe_code)]

use super::handshake::{Action, Handshake, Pace, answer_to_unknown};
use super::wire::Kind;
use crate::ucs::test_rng::TestRng;
use std::collections::HashMap;

const PACE: Pace = Pace {
    timeout: 2000,
    silence: 250,
    backoff: 2.0,
};

/// What the network does, in percent.
#[derive(Clone, Copy)]
struct Weather {
    lost: usize,
    doubled: usize,
    /// Most ticks on the way.
    late: usize,
}

/// An interface; connections by who asked (true: we) and the nonce.
#[derive(Default)]
struct Host {
    links: HashMap<(bool, u64), Handshake>,
    /// How many queue pairs were connected, by connection.
    connects: HashMap<(bool, u64), u32>,
    failed: Vec<u64>,
    probed: u32,
}

struct Net {
    hosts: [Host; 2],
    /// Arrival, receiver, whether its sender asked for the connection, nonce.
    way: Vec<(u32, usize, bool, u64, Kind)>,
    rng: TestRng,
    weather: Weather,
    now: u32,
    /// Who waits asks whether the other lives.
    asks: bool,
    /// Makes no progress.
    busy: [bool; 2],
    /// Answers nothing at all.
    silent: [bool; 2],
}

impl Net {
    fn new(seed: u64, weather: Weather) -> Net {
        Net {
            hosts: Default::default(),
            way: Vec::new(),
            rng: TestRng::new(seed),
            weather,
            now: u32::MAX - 50,
            asks: false,
            busy: [false; 2],
            silent: [false; 2],
        }
    }

    fn send(&mut self, from: usize, (asked, nonce): (bool, u64), kind: Kind) {
        if self.rng.chance(self.weather.lost) {
            return;
        }
        let copies = 1 + usize::from(self.rng.chance(self.weather.doubled));
        for _ in 0..copies {
            let late = self.rng.below(self.weather.late + 1) as u32;
            let at = self.now.wrapping_add(1 + late);
            self.way.push((at, 1 - from, asked, nonce, kind));
        }
    }

    /// Of two hosts of which one waits.
    fn waiting(seed: u64, weather: Weather) -> Net {
        let mut net = Net::new(seed, weather);
        (net.asks, net.busy[1]) = (true, true);
        net.request(0, 7);
        net
    }

    fn request(&mut self, from: usize, nonce: u64) {
        let link = Handshake::of_endpoint(self.now, PACE);
        self.hosts[from].links.insert((true, nonce), link);
        self.send(from, (true, nonce), Kind::Request);
    }

    fn act(&mut self, at: usize, key: (bool, u64), action: Action) {
        match action {
            Action::Nothing | Action::Accept => {}
            Action::Send(kind) => {
                self.send(at, key, kind);
                if kind == Kind::Request && self.asks {
                    let link = self.hosts[at].links.get_mut(&key).unwrap();
                    link.note_asked(self.now);
                    self.send(at, key, Kind::Ask);
                }
            }
            Action::Connect => {
                *self.hosts[at].connects.entry(key).or_default() += 1;
                self.send(at, key, Kind::Confirm);
            }
            Action::Probe => {
                self.hosts[at].probed += 1;
                // The acknowledgement of a queue pair that is connected.
                if !self.hosts[1 - at].connects.contains_key(&(true, key.1)) {
                    self.hosts[at].links.remove(&key);
                }
            }
            Action::GiveUp | Action::Closed | Action::Reset => {
                self.hosts[at].links.remove(&key);
                if key.0 {
                    self.hosts[at].failed.push(key.1);
                }
            }
        }
    }

    fn arrive(&mut self, at: usize, by_sender: bool, nonce: u64, kind: Kind) {
        let key = (!by_sender, nonce);
        if self.silent[at] {
            return;
        }
        if kind == Kind::Ask {
            self.send(at, key, Kind::Alive);
            return;
        }
        if self.busy[at] {
            return;
        }
        let known = self.hosts[at].links.get_mut(&key);
        if let Some(link) = known {
            let action = link.on_message(kind);
            self.act(at, key, action);
        } else if kind == Kind::Request {
            *self.hosts[at].connects.entry(key).or_default() += 1;
            let link = Handshake::of_interface(self.now);
            self.hosts[at].links.insert(key, link);
            self.send(at, key, Kind::Reply);
        } else if let Some(answer) = answer_to_unknown(kind) {
            self.send(at, key, answer);
        }
    }

    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.now = self.now.wrapping_add(1);
            let now = self.now;
            let (come, way) = self.way.drain(..).partition(|&(at, ..)| at == now);
            self.way = way;
            let come: Vec<_> = come;
            for (_, at, asked, nonce, kind) in come {
                self.arrive(at, asked, nonce, kind);
            }
            for at in 0..2 {
                if self.busy[at] || self.silent[at] {
                    continue;
                }
                let mut keys: Vec<_> = self.hosts[at].links.keys().copied().collect();
                keys.sort_unstable();
                for key in keys {
                    let link = self.hosts[at].links.get_mut(&key).unwrap();
                    let due = link.due();
                    let action = link.tick(now, PACE);
                    let was_due = due.is_some_and(|due| now.wrapping_sub(due) as i32 >= 0);
                    // `due` may be later than the limit, but nothing is sent before it.
                    assert!(was_due || !matches!(action, Action::Send(_)));
                    self.act(at, key, action);
                }
            }
        }
    }
}

const WEATHERS: [Weather; 4] = [
    Weather {
        lost: 0,
        doubled: 0,
        late: 0,
    },
    Weather {
        lost: 30,
        doubled: 0,
        late: 0,
    },
    Weather {
        lost: 0,
        doubled: 50,
        late: 40,
    },
    Weather {
        lost: 40,
        doubled: 30,
        late: 60,
    },
];

#[test]
fn both_sides_connect_at_once_in_any_weather() {
    for weather in WEATHERS {
        for seed in 0..50 {
            let mut net = Net::new(seed, weather);
            for nonce in 0..5 {
                net.request(0, nonce);
                net.request(1, 100 + nonce);
            }
            // Who never got a confirmation has asked through the connection by now.
            net.run(2 * PACE.timeout);
            for (at, host) in net.hosts.iter().enumerate() {
                assert_eq!(host.links.len(), 10, "seed {seed}, host {at}");
                assert!(host.links.values().all(|link| !link.waits()));
                assert!(host.connects.values().all(|&count| count == 1));
                assert_eq!((host.connects.len(), host.failed.len()), (10, 0));
            }
        }
    }
}

#[test]
fn without_a_peer_it_is_given_up() {
    let deaf = Weather {
        lost: 100,
        ..WEATHERS[0]
    };
    let mut net = Net::new(1, deaf);
    net.request(0, 7);
    net.run(PACE.timeout);
    assert!(net.hosts[0].failed.is_empty());
    net.run(1);
    assert_eq!(net.hosts[0].failed, [7]);
    assert!(net.hosts[0].links.is_empty());
}

/// What passes at most until the last question has had its time.
const SOON: u32 = PACE.silence + PACE.silence / 2;

#[test]
fn a_peer_that_dies_before_it_answers_is_given_up_soon() {
    let mut net = Net::waiting(1, WEATHERS[0]);
    net.silent[1] = true;
    net.run(PACE.silence);
    assert!(net.hosts[0].failed.is_empty());
    net.run(SOON - PACE.silence);
    assert_eq!(net.hosts[0].failed, [7]);
}

#[test]
fn a_peer_that_lives_has_the_whole_time() {
    let lossy = Weather {
        lost: 10,
        ..WEATHERS[2]
    };
    for weather in [WEATHERS[0], lossy] {
        for seed in 0..50 {
            let mut net = Net::waiting(seed, weather);
            net.run(PACE.timeout);
            assert!(net.hosts[0].failed.is_empty(), "seed {seed}");
            net.run(SOON);
            assert_eq!(net.hosts[0].failed, [7], "seed {seed}");
        }
        for seed in 0..50 {
            let mut net = Net::waiting(seed, weather);
            net.run(PACE.timeout / 2);
            net.busy[1] = false;
            net.run(SOON);
            assert!(net.hosts[0].failed.is_empty(), "seed {seed}");
            assert!(!net.hosts[0].links[&(true, 7)].waits(), "seed {seed}");
        }
    }
}

/// A process that is stopped answers nothing; for a while that is no death.
#[test]
fn a_peer_that_stands_still_for_a_while_is_not_given_up() {
    for start in (0..200).step_by(7) {
        let mut net = Net::waiting(start.into(), WEATHERS[0]);
        net.run(start);
        net.silent[1] = true;
        net.run(PACE.silence - 2 * SPAN);
        net.silent[1] = false;
        net.run(PACE.silence);
        assert!(net.hosts[0].failed.is_empty(), "stopped after {start}");
    }
}

/// The longest time between two questions.
const SPAN: u32 = PACE.silence / 8;

/// An endpoint whose user looks seldom hears what came meanwhile before it judges.
#[test]
fn who_looks_seldom_gives_up_nobody_that_lives() {
    for pause in [SPAN, PACE.silence / 2, 2 * PACE.silence] {
        let mut net = Net::waiting(3, WEATHERS[0]);
        while net.now.wrapping_add(51) < PACE.timeout - pause {
            net.silent[0] = true;
            let answers: Vec<_> = net.way.drain(..).collect();
            net.run(pause);
            net.silent[0] = false;
            // What has come is with the device.
            for (_, at, asked, nonce, kind) in answers {
                net.arrive(at, asked, nonce, kind);
            }
            net.run(1);
        }
        assert!(net.hosts[0].failed.is_empty(), "{pause}");
    }
}

/// An interface whose peer never confirms asks through the connection; without an answer its end goes.
#[test]
fn an_end_without_a_peer_does_not_stay() {
    for connected in [false, true] {
        let mut net = Net::new(1, WEATHERS[0]);
        net.arrive(1, true, 3, Kind::Request);
        net.way.clear();
        net.weather.lost = 100;
        if connected {
            net.hosts[0].connects.insert((true, 3), 1);
        }
        net.run(PACE.timeout + 1);
        assert_eq!(net.hosts[1].probed, 1);
        assert_eq!(net.hosts[1].links.len(), usize::from(connected));
    }
}

/// A request that arrives after its endpoint is gone, or after both ends are, leaves nothing behind.
#[test]
fn late_datagrams_leave_nothing_behind() {
    for kinds in [
        &[Kind::Request][..],
        &[Kind::Reply],
        &[Kind::Confirm],
        &[Kind::Close, Kind::Request, Kind::Confirm],
    ] {
        let mut net = Net::new(2, WEATHERS[0]);
        for kind in kinds {
            let by_sender = *kind != Kind::Reply;
            net.arrive(1, by_sender, 9, *kind);
        }
        net.run(100);
        assert!(
            net.hosts.iter().all(|host| host.links.is_empty()),
            "{kinds:?}"
        );
        assert!(net.way.is_empty(), "{kinds:?}: nobody answers for ever");
    }
}

#[test]
fn a_close_ends_the_other_end() {
    for seed in 0..20 {
        let mut net = Net::new(seed, WEATHERS[2]);
        net.request(0, 1);
        net.run(200);
        net.hosts[0].links.remove(&(true, 1)).unwrap();
        net.send(0, (true, 1), Kind::Close);
        net.run(200);
        assert!(net.hosts[1].links.is_empty());
    }
}

#[test]
fn a_peer_is_accepted_once_by_its_confirmation_alone() {
    let mut confirmed = Handshake::of_interface(0);
    assert_eq!(confirmed.on_message(Kind::Confirm), Action::Accept);
    assert_eq!(confirmed.on_message(Kind::Confirm), Action::Nothing);
    // Asked through the connection, since no confirmation came.
    let mut silent = Handshake::of_interface(0);
    let mut now = 0;
    while silent.tick(now, PACE) != Action::Probe {
        now += 1;
    }
    assert_eq!(silent.on_message(Kind::Confirm), Action::Nothing);
}
