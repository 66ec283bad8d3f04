//! The other process: this test binary, run again, doing what lines on its input say.
//!
//! Each line is a command, each answer a line that begins with `@`. Between commands the peer polls its
//! worker. It ends with its input, so it never outlives the test.

use crate::endpoint::Ep;
use crate::pair::{Pair, connect_eps, connect_to_ep, ep_address};
use crate::side::{Memory, Options, PATIENCE, Security, Side, Tl, pattern};
use ferrucx::c::{UCS_OK, UCT_IFACE_FLAG_CONNECT_TO_IFACE};
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const ROLE: &str = "FERRUCX_CONFORMANCE_PEER";

pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|b| format!("{b:02x}"))
        .chain(["-".to_owned()])
        .collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    let text = text.trim_end_matches('-');
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

pub fn hash(bytes: &[u8]) -> u64 {
    let mut h = DefaultHasher::new();
    h.write(bytes);
    h.finish()
}

/// The parent's view of the other process.
pub struct Peer {
    child: Child,
    answers: Receiver<String>,
}

impl Peer {
    pub fn start() -> Peer {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "peer::other_process", "--ignored", "--nocapture"])
            .env(ROLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("run this binary again");
        let out = BufReader::new(child.stdout.take().unwrap());
        let (to, answers) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix('@')
                    && to.send(answer.to_owned()).is_err()
                {
                    break;
                }
            }
        });
        Peer { child, answers }
    }

    pub fn tell(&mut self, command: &str) {
        let pipe = self.child.stdin.as_mut().unwrap();
        writeln!(pipe, "{command}")
            .and_then(|()| pipe.flush())
            .expect("the peer lives");
    }

    /// Waits for an answer, polling meanwhile.
    pub fn answer(&mut self, poll: &mut dyn FnMut()) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE * 2;
        loop {
            match self.answers.recv_timeout(Duration::from_micros(50)) {
                Ok(line) => return line.split(' ').map(str::to_owned).collect(),
                Err(RecvTimeoutError::Timeout) => poll(),
                Err(e) => panic!("the peer is gone: {e}"),
            }
            assert!(Instant::now() < deadline, "the peer does not answer");
        }
    }

    pub fn ask(&mut self, command: &str, poll: &mut dyn FnMut()) -> Vec<String> {
        self.tell(command);
        self.answer(poll)
    }

    /// Opens an interface over there; answers its addresses.
    pub fn open(&mut self, tl: &Tl) -> (Vec<u8>, Vec<u8>) {
        let command = format!("open {}", tl.far().words());
        let got = self.ask(&command, &mut || {});
        (unhex(&got[0]), unhex(&got[1]))
    }

    /// An endpoint of ours to the interface that is open over there, and one there to ours where it needs one.
    pub fn connect(&mut self, side: &Side, address: &(Vec<u8>, Vec<u8>)) -> Ep {
        if side.can(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
            return side.connect(address);
        }
        let mut poll = || {
            side.progress();
        };
        let theirs = unhex(&self.ask("endpoint", &mut poll)[0]);
        let ep = side.new_ep();
        connect_to_ep(&ep, &address.0, &theirs);
        let (device, own) = (side.address().0, ep_address(side, &ep));
        self.ask(&format!("join {} {}", hex(&device), hex(&own)), &mut poll);
        ep
    }

    /// Has it connect to an interface of ours; the answer is our endpoint where it needs one.
    pub fn connect_back(&mut self, side: &Side, address: &(Vec<u8>, Vec<u8>)) -> Option<Ep> {
        if !side.can(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
            return Some(self.connect(side, address));
        }
        let (device, face) = side.address();
        let command = format!("connect {} {}", hex(&device), hex(&face));
        self.ask(&command, &mut || {
            side.progress();
        });
        None
    }

    /// Ends it at once; answers when it was gone.
    pub fn kill(&mut self) -> Instant {
        let before = Instant::now();
        self.child.kill().unwrap();
        before
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                let _ = self.child.kill();
            }
            std::thread::yield_now();
        }
    }
}

#[derive(Default)]
struct Stage {
    memory: Option<Memory>,
    ep: Option<Ep>,
    side: Option<Side>,
}

fn say(answer: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n@{answer}")
        .and_then(|()| out.flush())
        .unwrap();
}

#[test]
#[ignore = "the second process of other tests, not a test"]
fn other_process() {
    assert!(std::env::var_os(ROLE).is_some(), "run by the tests only");
    let mut stage = Stage::default();
    let mut input = Vec::new();
    let mut stdin = std::io::stdin().lock();
    loop {
        if let Some(side) = &stage.side {
            side.progress();
        }
        let mut p = libc::pollfd {
            fd: 0,
            events: libc::POLLIN,
            revents: 0,
        };
        let wait = if stage.side.is_some() { 0 } else { -1 };
        if unsafe { libc::poll(&mut p, 1, wait) } == 1 {
            let mut byte = [0u8; 1];
            if stdin.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            input.push(byte[0]);
            // `Stdin` reads ahead: take whole lines while it has them.
            while byte[0] != b'\n' && stdin.read(&mut byte).unwrap_or(0) == 1 {
                input.push(byte[0]);
            }
            let line = String::from_utf8(std::mem::take(&mut input)).unwrap();
            let words: Vec<&str> = line.split_whitespace().collect();
            obey(&mut stage, &words);
        } else {
            std::thread::yield_now();
        }
    }
}

fn name(word: &str) -> &'static str {
    Box::leak(word.to_owned().into_boxed_str())
}

fn tl(words: &[&str]) -> Tl {
    Tl {
        component: name(words[0]),
        transport: name(words[1]),
        device: name(words[2]),
        security: Security::of(words[3]),
    }
}

fn obey(stage: &mut Stage, words: &[&str]) {
    let number = |i: usize| words[i].parse::<usize>().unwrap();
    match words[0] {
        "open" => {
            let side = Side::open(&tl(&words[1..]), Options::default());
            let (device, face) = side.address();
            stage.side = Some(side);
            say(&format!("{} {}", hex(&device), hex(&face)));
        }
        "connect" => {
            let side = stage.side.as_ref().unwrap();
            stage.ep = Some(side.connect(&(unhex(words[1]), unhex(words[2]))));
            say("connected");
        }
        "endpoint" => {
            let side = stage.side.as_ref().unwrap();
            let ep = side.new_ep();
            say(&hex(&ep_address(side, &ep)));
            stage.ep = Some(ep);
        }
        "join" => {
            let ep = stage.ep.as_ref().unwrap();
            connect_to_ep(ep, &unhex(words[1]), &unhex(words[2]));
            say("joined");
        }
        "memory" => {
            let memory = stage.side.as_ref().unwrap().memory(number(1));
            let (address, packed) = (memory.address(), hex(&memory.packed));
            memory.fill(&pattern(memory.len, 1));
            stage.memory = Some(memory);
            say(&format!("{address} {packed}"));
        }
        "hash" => say(&hash(&stage.memory.as_ref().unwrap().bytes()).to_string()),
        "received" => {
            let side = stage.side.as_ref().unwrap();
            let deadline = Instant::now() + PATIENCE;
            while side.inbox.messages.borrow().len() < number(1) && Instant::now() < deadline {
                side.progress();
            }
            let all = side.inbox.messages.borrow();
            let hashes: Vec<String> = all.iter().map(|m| hash(&m.data).to_string()).collect();
            say(&hashes.join(" "));
        }
        "send" => {
            let (side, ep) = (stage.side.as_ref().unwrap(), stage.ep.as_ref().unwrap());
            let deadline = Instant::now() + PATIENCE;
            for i in 0..number(1) {
                let data = pattern(number(2), i as u64);
                while ep.am_bcopy(4, &data) < 0 && Instant::now() < deadline {
                    side.progress();
                }
            }
            while ep.flush(0, std::ptr::null_mut()) != UCS_OK && Instant::now() < deadline {
                side.progress();
            }
            say("sent");
        }
        "churn" => say(&churn(&tl(&words[1..]))),
        other => panic!("unknown command {other}"),
    }
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps")
        .unwrap()
        .lines()
        .count()
}

/// Opens and closes endpoints and interfaces; answers descriptors and mappings before and after.
fn churn(tl: &Tl) -> String {
    let round = |eps: usize| {
        let pair = Pair::new(tl);
        let address = pair.b().address();
        let face = pair.a().can(UCT_IFACE_FLAG_CONNECT_TO_IFACE);
        for _ in 0..eps {
            if face {
                drop(pair.a().connect(&address));
            } else if pair.connected_by_ep() {
                let (x, y) = (pair.a().new_ep(), pair.b().new_ep());
                connect_eps(pair.a(), &x, pair.b(), &y);
            }
            pair.progress();
        }
        if pair.a().can(ferrucx::c::UCT_IFACE_FLAG_AM_BCOPY) {
            assert_eq!(pair.insist(|| pair.ep.am_bcopy(1, b"alive")), 5);
            pair.take(1);
        }
        pair
    };
    // The first rounds make what stays for ever: threads, pools, arenas of the allocator.
    for _ in 0..3 {
        drop(round(10));
    }
    let pair = round(10);
    let (fds, maps) = (open_files(), mappings());
    drop(pair);
    let pair = round(1000);
    let (fds_ep, maps_ep) = (open_files(), mappings());
    drop(pair);
    for _ in 0..30 {
        drop(round(1));
    }
    let pair = round(10);
    let (fds_face, maps_face) = (open_files(), mappings());
    drop(pair);
    format!("{fds} {maps} {fds_ep} {maps_ep} {fds_face} {maps_face}")
}
