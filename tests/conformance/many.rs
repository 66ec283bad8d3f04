//! Many senders to one receiver: threads, and processes that are killed while they send.

use crate::pair::{connect_to_ep, ep_address};
use crate::peer::Peer;
use crate::side::{Options, PATIENCE, Side, Tl, pattern};
use ferrucx::c::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

/// Several threads, each with its own worker, interface and endpoint, send to one interface.
pub fn senders_share_a_receiver(tl: &Tl) {
    let receiver = Side::open(tl, Options::default());
    if tl.transport == "self" || !receiver.can(UCT_IFACE_FLAG_AM_BCOPY) {
        // Nobody else can send: `foreign_addresses` and `attributes` show it.
        return;
    }
    const SENDERS: usize = 4;
    const EACH: usize = 3000;
    let address = receiver.address();
    let by_iface = receiver.can(UCT_IFACE_FLAG_CONNECT_TO_IFACE);
    // Where endpoints are connected to each other: one here for each sender.
    let (to_us, asked) = channel::<(Vec<u8>, Vec<u8>, Sender<Vec<u8>>)>();
    let mut ours = Vec::new();
    let finished = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for who in 0..SENDERS {
            let (address, finished, to_us) = (&address, &finished, to_us.clone());
            scope.spawn(move || {
                let side = Side::open(tl, Options::default());
                let ep = if by_iface {
                    side.connect(address)
                } else {
                    let ep = side.new_ep();
                    let (back, answer) = channel();
                    let own = (side.address().0, ep_address(&side, &ep), back);
                    to_us.send(own).unwrap();
                    connect_to_ep(&ep, &address.0, &answer.recv().unwrap());
                    ep
                };
                let max = side.attr.cap.am.max_bcopy.min(700);
                let deadline = Instant::now() + PATIENCE * 2;
                for seq in 0..EACH {
                    let mut data = vec![who as u8];
                    data.extend_from_slice(&(seq as u64).to_le_bytes());
                    data.extend(pattern((seq * 7) % (max - 9), (who * EACH + seq) as u64));
                    while ep.am_bcopy(3, &data) != data.len() as isize {
                        side.progress();
                        std::thread::yield_now();
                        assert!(Instant::now() < deadline);
                    }
                }
                while ep.flush(UCT_FLUSH_FLAG_LOCAL, std::ptr::null_mut()) != UCS_OK {
                    side.progress();
                    assert!(Instant::now() < deadline);
                }
                // Relaxed: a counter, nothing is read by it.
                finished.fetch_add(1, Ordering::Relaxed);
                // Open until all has arrived, as closing may drop what is still on its way.
                while finished.load(Ordering::Relaxed) <= SENDERS {
                    side.progress();
                    std::thread::yield_now();
                }
            });
        }
        for _ in 0..if by_iface { 0 } else { SENDERS } {
            let (device, theirs, back) = asked.recv().unwrap();
            let ep = receiver.new_ep();
            connect_to_ep(&ep, &device, &theirs);
            back.send(ep_address(&receiver, &ep)).unwrap();
            ours.push(ep);
        }
        let deadline = Instant::now() + PATIENCE * 2;
        while receiver.inbox.messages.borrow().len() < SENDERS * EACH {
            receiver.progress();
            if Instant::now() > deadline {
                break;
            }
        }
        finished.fetch_add(SENDERS, Ordering::Relaxed);
    });
    let messages = receiver.inbox.messages.borrow();
    assert_eq!(messages.len(), SENDERS * EACH);
    let mut next = [0usize; SENDERS];
    for m in messages.iter() {
        let who = m.data[0] as usize;
        let seq = u64::from_le_bytes(m.data[1..9].try_into().unwrap()) as usize;
        assert_eq!(seq, next[who], "order of sender {who}");
        next[who] += 1;
        let rest = m.data.len() - 9;
        assert_eq!(m.data[9..], pattern(rest, (who * EACH + seq) as u64)[..]);
    }
}

/// Processes are killed in the middle of sending; the receiver goes on with the others.
pub fn senders_that_die_harm_no_one_else(tl: &Tl) {
    let receiver = Side::open(tl, Options::default());
    if tl.transport == "self" || !receiver.can(UCT_IFACE_FLAG_AM_BCOPY) {
        return;
    }
    let mut poll = || {
        receiver.progress();
    };
    let mut honest = Peer::start();
    let address = honest.open(tl);
    let _back = honest.connect_back(&receiver, &address);
    for round in 0..8 {
        let mut victim = Peer::start();
        let address = victim.open(tl);
        let _back = victim.connect_back(&receiver, &address);
        victim.tell("send 1000000 300");
        let before = receiver.inbox.messages.borrow().len();
        let deadline = Instant::now() + PATIENCE;
        while receiver.inbox.messages.borrow().len() < before + 20 + 300 * round {
            receiver.progress();
            assert!(Instant::now() < deadline, "the victim does not send");
        }
        victim.kill();
        drop(victim);
        honest.ask("send 50 400", &mut poll);
        let deadline = Instant::now() + PATIENCE;
        let count = || {
            let all = receiver.inbox.messages.borrow();
            all.iter().filter(|m| m.data.len() == 400).count()
        };
        while count() < 50 * (round + 1) {
            receiver.progress();
            assert!(
                Instant::now() < deadline,
                "round {round}: an honest sender is stuck"
            );
        }
    }
    // Whatever came, came whole.
    let known: Vec<Vec<u8>> = (0..50).map(|seed| pattern(400, seed)).collect();
    for m in receiver.inbox.messages.borrow().iter() {
        match m.data.len() {
            400 => assert!(known.contains(&m.data)),
            n => assert_eq!(n, 300),
        }
    }
}
