//! The two ends of an interface in one process: lanes, their owners, bells.

use super::ring::good;
use crate::sys::mem::page_size;
use crate::sys::poll;
use crate::ucs::Status;
use crate::ucs::config::Ternary;
use crate::uct::shm::inbox::Inbox;
use crate::uct::shm::layout::MAX_LANES;
use crate::uct::shm::outbox::{Peer, attached};
use crate::uct::shm::ring::Shape;
use crate::uct::shm::segment::{Attached, Segment, Source};
use crate::uct::shm::wire::SegmentKind;
use std::os::fd::AsRawFd;

pub const SHAPE: Shape = Shape {
    slots: 16,
    slot: 128,
    segment: 1024,
    cells: 4,
    lead: 56,
};

pub fn source(kind: SegmentKind) -> Source {
    Source {
        kind,
        huge: Ternary::No,
    }
}

pub fn inbox(kind: SegmentKind) -> Inbox {
    Inbox::open(&source(kind), SHAPE, 0.5, Ternary::No).unwrap()
}

pub fn attach(inbox: &Inbox) -> Peer {
    Peer::attach(inbox.key()).unwrap()
}

fn send(peer: &Peer, value: u64) -> bool {
    let sender = peer.sender().unwrap();
    // SAFETY: a slot holds eight bytes, aligned.
    let sent = sender.send_inline(3, 8, |at| unsafe { at.cast::<u64>().write(value) });
    if sent.is_ok() && sender.must_tell() {
        peer.ring_bell(sender);
    }
    sent.is_ok()
}

fn receive(inbox: &Inbox) -> Vec<u64> {
    let mut got = Vec::new();
    if inbox.bell_rang() {
        inbox.look();
    }
    inbox.poll(1000, |message| {
        let message = good(message);
        assert_eq!((message.id, message.len), (3, 8));
        // SAFETY: eight bytes, aligned as slots are.
        got.push(unsafe { message.data.cast::<u64>().read() });
        true
    });
    got
}

/// What has been sent, by as many rounds as that takes.
fn receive_all(inbox: &Inbox) -> Vec<u64> {
    let rounds = core::iter::repeat_with(|| receive(inbox));
    rounds.take_while(|got| !got.is_empty()).flatten().collect()
}

fn arm(inbox: &Inbox, busy: impl FnOnce() -> bool) -> crate::ucs::Result<()> {
    inbox.wake().event().unwrap().clear();
    inbox.arm(busy)
}

fn is_awake(inbox: &Inbox) -> bool {
    let mut fds = [poll::PollFd {
        fd: inbox.wake().event().unwrap().raw(),
        events: 1,
        revents: 0,
    }];
    poll::poll(&mut fds, 0).unwrap() == 1
}

#[test]
fn every_kind_of_segment_carries_messages_and_leaves_nothing_behind() {
    for kind in [SegmentKind::Posix, SegmentKind::Sysv] {
        let inbox = inbox(kind);
        let key = inbox.key();
        assert!(attached(key).is_ok());
        let (a, b) = (attach(&inbox), attach(&inbox));
        for value in 0..16 {
            assert!(send(&a, value), "{kind:?}");
        }
        assert!(!send(&a, 16), "{kind:?}: the ring is bounded");
        assert!(send(&b, 100), "{kind:?}: senders do not share room");
        let mut got = receive_all(&inbox);
        got.sort_unstable();
        let mut expected: Vec<u64> = (0..16).collect();
        expected.push(100);
        assert_eq!(got, expected, "{kind:?}");
        assert!(send(&a, 16));
        drop(inbox);
        // What is attached stays usable; it cannot be found any more.
        assert!(a.sender().is_some());
        drop((a, b));
        assert!(attached(key).is_err(), "{kind:?}");
    }
}

#[test]
fn a_round_has_messages_of_one_sender() {
    let inbox = inbox(SegmentKind::Posix);
    let peers: Vec<Peer> = (0..3).map(|_| attach(&inbox)).collect();
    // Senders that are new, busy, and silent.
    for rounds_before in [0, 0, 1, 50] {
        for _ in 0..rounds_before {
            assert_eq!(receive(&inbox), [0; 0]);
        }
        for value in 0..6 {
            assert!(send(&peers[value as usize % 3], value));
        }
        let mut senders = Vec::new();
        let mut got = 0;
        while got < 6 {
            let round = receive(&inbox);
            assert!(round.iter().all(|value| value % 3 == round[0] % 3));
            got += round.len();
            senders.push(round[0] % 3);
        }
        senders.truncate(3);
        senders.sort_unstable();
        assert_eq!(senders, [0, 1, 2], "each has its turn");
    }
}

#[test]
fn lanes_are_used_again_and_keep_the_last_messages_of_who_left() {
    let inbox = inbox(SegmentKind::Posix);
    for round in 0..2000 {
        let peer = attach(&inbox);
        assert!(send(&peer, round));
        drop(peer);
        assert_eq!(receive(&inbox), [round]);
        assert_eq!(receive(&inbox), [0u64; 0]);
    }
}

#[test]
fn more_senders_than_lanes_wait_for_a_lane() {
    let inbox = inbox(SegmentKind::Posix);
    let mut peers: Vec<Peer> = (0..MAX_LANES).map(|_| attach(&inbox)).collect();
    let late = attach(&inbox);
    assert!(late.sender().is_none());
    assert_eq!(late.claim(), Err(Status::NO_RESOURCE));
    for (value, peer) in peers.iter().enumerate() {
        assert!(send(peer, value as u64));
    }
    let mut got = receive_all(&inbox);
    got.sort_unstable();
    assert_eq!(got, (0..u64::from(MAX_LANES)).collect::<Vec<_>>());
    peers.pop();
    receive(&inbox);
    receive(&inbox);
    assert_eq!(late.claim(), Ok(()));
    assert!(send(&late, 7));
    assert_eq!(receive(&inbox), [7]);
}

/// Sends a message that stands in the arena.
fn send_long(peer: &Peer, value: u64) {
    let pack = |at: *mut u8| {
        // SAFETY: a place in the arena has room for a message of the largest size, aligned.
        unsafe { at.cast::<u64>().write(value) };
        SHAPE.segment as usize
    };
    let sender = peer.sender().unwrap();
    assert!(sender.send_packed(3, pack).is_ok());
    if sender.must_tell() {
        peer.ring_bell(sender);
    }
}

/// Sends as many messages of the largest size as find room; `fill` writes each. Returns their number.
fn send_all(peer: &Peer, fill: impl Fn(*mut u8, usize)) -> usize {
    let sender = peer.sender().unwrap();
    let send = || {
        let pack = |at: *mut u8| {
            fill(at, sender.longest());
            sender.longest()
        };
        let sent = sender.send_packed(3, pack).is_ok();
        if sent && sender.must_tell() {
            peer.ring_bell(sender);
        }
        sent
    };
    core::iter::repeat_with(send)
        .take_while(|&sent| sent)
        .count()
}

#[test]
fn a_lane_has_memory_for_as_much_as_its_receiver_lags() {
    let shape = Shape { cells: 64, ..SHAPE };
    let open = || Inbox::open(&source(SegmentKind::Posix), shape, 0.5, Ternary::No).unwrap();
    let write = |at: *mut u8, len| {
        // SAFETY: a place in the arena has room for a message of the largest size.
        unsafe { at.write_bytes(7, len) };
    };
    let receive_all = |inbox: &Inbox| {
        if inbox.bell_rang() {
            inbox.look();
        }
        let mut got = 0;
        while inbox.poll(1, |message| {
            assert_eq!(good(message).len, 4 * SHAPE.segment as usize);
            true
        }) > 0
        {
            got += 1;
        }
        got
    };

    let inbox = open();
    let before = inbox.reserved_bytes();
    let peer = attach(&inbox);
    // The first lane begins with a page.
    let (from, to) = inbox.lane_range(0);
    let whole = (to - from).next_multiple_of(page_size());
    assert_eq!(receive_all(&inbox), 0);
    let first = inbox.reserved_bytes() - before;
    let attached = Attached::get(inbox.key()).unwrap();
    if !attached.try_reserve(0, 1).unwrap() {
        // The kernel has no way to reserve more of it later.
        assert_eq!(first, whole);
        return;
    }
    assert!(first < whole / 3, "{first} of {whole}");
    let mut rounds = 0;
    while inbox.reserved_bytes() - before < whole {
        let sent = send_all(&peer, write);
        assert_eq!(receive_all(&inbox), sent);
        rounds += 1;
        assert!(rounds < 30, "{sent} messages fit into a lane");
    }

    // A receiver that keeps up: the only sender uses all of it in turn.
    let inbox = open();
    let before = inbox.reserved_bytes();
    let peer = attach(&inbox);
    for _ in 0..1000 {
        send_long(&peer, 1);
        let mut got = 0;
        while got == 0 {
            if inbox.bell_rang() {
                inbox.look();
            }
            got = inbox.poll(1, |_| true);
        }
    }
    assert_eq!(inbox.reserved_bytes() - before, whole);

    // A sender that reserves nothing: the receiver does it before it looks.
    let inbox = open();
    let before = inbox.reserved_bytes();
    let peer = attach(&inbox);
    peer.sender()
        .unwrap()
        .begin_short(Box::new(|_, _| true), Box::new(|| 0));
    let sent = send_all(&peer, |_, _| {});
    assert!(sent >= 12, "{sent}");
    assert_eq!(inbox.reserved_bytes() - before, first);
    assert_eq!(receive_all(&inbox), sent);
    assert!(inbox.reserved_bytes() - before > first);
}

/// Receives one message and keeps it, if it can be.
fn receive_and_keep(inbox: &Inbox) -> Option<*const u8> {
    if inbox.bell_rang() {
        inbox.look();
    }
    let mut kept = None;
    let count = inbox.poll(1, |message| {
        let message = good(message);
        let (data, len) = (message.data.cast_const(), message.len);
        kept = inbox.keep(data.addr(), len).then_some(data);
        true
    });
    assert_eq!(count, 1);
    kept
}

#[test]
fn the_lane_of_a_kept_message_is_freed_when_it_is_released() {
    let inbox = inbox(SegmentKind::Posix);
    let first = attach(&inbox);
    send_long(&first, 7);
    let kept = receive_and_keep(&inbox).unwrap();
    drop(first);
    receive(&inbox);
    receive(&inbox);
    let _others: Vec<Peer> = (1..MAX_LANES).map(|_| attach(&inbox)).collect();
    let late = attach(&inbox);
    assert_eq!(late.claim(), Err(Status::NO_RESOURCE));
    // SAFETY: kept, aligned.
    assert_eq!(unsafe { kept.cast::<u64>().read() }, 7);
    inbox.release(kept.addr());
    receive(&inbox);
    receive(&inbox);
    assert_eq!(late.claim(), Ok(()));
}

#[test]
fn of_most_lanes_no_message_is_kept() {
    let inbox = inbox(SegmentKind::Posix);
    let peers: Vec<Peer> = (0..MAX_LANES / 2).map(|_| attach(&inbox)).collect();
    let kept: Vec<*const u8> = peers
        .iter()
        .filter_map(|peer| {
            send_long(peer, 1);
            receive_and_keep(&inbox)
        })
        .collect();
    assert_eq!(kept.len(), MAX_LANES as usize / 4);
    assert!(!inbox.can_keep());
    inbox.release(kept[0].addr());
    inbox.release(kept[0].addr());
    assert!(inbox.can_keep());
    send_long(&peers[0], 2);
    assert!(receive_and_keep(&inbox).is_some());
    assert!(!inbox.can_keep());
}

#[test]
fn idle_lanes_cool_down_and_are_still_heard() {
    let inbox = inbox(SegmentKind::Posix);
    let peers: Vec<Peer> = (0..40).map(|_| attach(&inbox)).collect();
    for (value, peer) in peers.iter().enumerate() {
        assert!(send(peer, value as u64));
    }
    assert_eq!(receive_all(&inbox).len(), peers.len());
    for _ in 0..10_000 {
        assert_eq!(receive(&inbox).len(), 0);
    }
    assert_eq!(inbox.hot_lanes(), 8);
    for round in 0..3 {
        for (value, peer) in peers.iter().enumerate().rev() {
            assert!(send(peer, value as u64));
            // A cold sender rings, so that the next round hears it.
            assert_eq!(receive(&inbox), [value as u64], "round {round}");
        }
    }
}

#[test]
fn an_armed_inbox_is_woken_by_each_first_message() {
    let inbox = inbox(SegmentKind::Sysv);
    assert_eq!(arm(&inbox, || false), Ok(()));
    assert!(!is_awake(&inbox));
    // A sender that comes while the owner sleeps.
    let peer = attach(&inbox);
    assert!(!is_awake(&inbox));
    assert!(send(&peer, 1));
    assert!(is_awake(&inbox));
    inbox.disarm();
    assert_eq!(arm(&inbox, || false), Err(Status::BUSY));
    assert_eq!(receive(&inbox), [1]);
    assert_eq!(arm(&inbox, || true), Err(Status::BUSY));
    for value in 0..50 {
        assert_eq!(arm(&inbox, || false), Ok(()));
        assert!(!is_awake(&inbox));
        assert!(send(&peer, value));
        assert!(is_awake(&inbox));
        assert!(send(&peer, value));
        inbox.disarm();
        assert_eq!(receive(&inbox), [value, value]);
    }
}

#[test]
fn no_wake_up_is_lost_between_threads() {
    const COUNT: u64 = 20_000;
    let inbox = inbox(SegmentKind::Posix);
    let key = inbox.key();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let peer = Peer::attach(key).unwrap();
            let sender = peer.sender().unwrap();
            let random = crate::ucs::test_rng::TestRng::new(11);
            for value in 0..COUNT {
                loop {
                    // SAFETY: a slot holds eight bytes, aligned.
                    let sent =
                        sender.send_inline(3, 8, |at| unsafe { at.cast::<u64>().write(value) });
                    if sent.is_ok() {
                        break;
                    }
                    std::thread::yield_now();
                }
                if sender.must_tell() {
                    peer.ring_bell(sender);
                }
                for _ in 0..random.below(300) {
                    core::hint::spin_loop();
                }
            }
        });
        let mut next = 0;
        while next < COUNT {
            for value in receive(&inbox) {
                assert_eq!(value, next);
                next += 1;
            }
            if next < COUNT && arm(&inbox, || false).is_ok() {
                let mut fds = [poll::PollFd {
                    fd: inbox.wake().event().unwrap().raw(),
                    events: 1,
                    revents: 0,
                }];
                let ready = poll::poll(&mut fds, 10_000).unwrap();
                assert_eq!(ready, 1, "message {next} did not wake its receiver");
                inbox.disarm();
            }
        }
    });
}

#[test]
fn attachments_are_shared_and_checked() {
    for kind in [SegmentKind::Posix, SegmentKind::Sysv] {
        let source = source(kind);
        let segment = Segment::make(&source, 100, Ternary::No, 0).unwrap();
        segment.reserve(0, segment.len()).unwrap();
        let key = segment.key();
        let a = Attached::get(key).unwrap();
        let b = Attached::get(key).unwrap();
        assert_eq!(a.base(), b.base());
        assert!(a.base() != segment.base() && a.len() >= 100);
        // SAFETY: both mappings are of this test's segment.
        unsafe {
            segment.base().write(42);
            assert_eq!(a.base().read_volatile(), 42);
        }
        let reused = crate::uct::shm::wire::SegmentKey {
            serial: key.serial ^ 0x8000,
            ..key
        };
        assert!(Attached::get(reused).is_err());
        // Not the front of an interface's segment.
        assert!(attached(key).is_err());
    }
}

#[test]
fn a_length_that_cannot_be_is_an_error() {
    for kind in [SegmentKind::Posix, SegmentKind::Sysv] {
        let source = super::ends::source(kind);
        let huge = Segment::make(&source, isize::MAX as usize, Ternary::No, 0);
        assert_eq!(
            huge.err().map(|e| e.status),
            Some(Status::NO_MEMORY),
            "{kind:?}"
        );
    }
}

#[test]
fn segments_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let segment = Segment::make(&source(SegmentKind::Posix), 1, Ternary::No, 0).unwrap();
    let fd = segment.export().file.as_ref().unwrap().as_raw_fd();
    let path = format!("/proc/self/fd/{fd}");
    let mode = std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let segment = Segment::make(&source(SegmentKind::Sysv), 1, Ternary::No, 0).unwrap();
    let id = segment.export().sysv.unwrap().to_string();
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let line = table
        .lines()
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
        .find(|columns| columns.get(1) == Some(&id.as_str()))
        .unwrap();
    let mode = u32::from_str_radix(line[2], 8).unwrap();
    const REMOVED_WITH_LAST_USER: u32 = 0o1000;
    assert_eq!(mode, 0o600 | REMOVED_WITH_LAST_USER);
}
