//! What is particular to rc_verbs' endpoints that are connected to interfaces: handshakes, their ends, strangers.

use crate::datagrams::{Stranger, queue_pair_of};
use crate::endpoint::Ep;
use crate::side::{Options, Side, torture, watched};
use crate::test_rng::TestRng;
use crate::verbs::{RC, until, with_failures};
use ferrucx::abi::uct::iface;
use ferrucx::c::*;
use ferrucx::uct::ib::rc::wire::{Kind, Message};
use ferrucx::uct::ib::wire::{DeviceAddr, EpAddr};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// The key of rc_verbs' datagrams.
const KEY: u32 = 0x7263_6672;

fn two_sides() -> (Side, Side) {
    (
        Side::open(&RC, with_failures()),
        Side::open(&RC, with_failures()),
    )
}

/// The address of an interface that is closed.
fn gone() -> (Vec<u8>, Vec<u8>) {
    Side::open(&RC, Options::default()).address()
}

/// An interface that is closed tells those who send to it.
#[test]
fn an_interface_that_closes_fails_endpoints_to_it() {
    watched(|| {
        let (a, b) = two_sides();
        let x = a.connect(&b.address());
        until(&[&a, &b], || x.am_bcopy(1, b"hello") == 5);
        until(&[&a, &b], || !b.inbox.messages.borrow().is_empty());
        drop(b);
        until(&[&a], || !a.failures.0.borrow().is_empty());
        let failures = a.failures.0.borrow();
        assert_eq!(
            (failures[0].0, failures[0].1),
            (x.0, UCS_ERR_CONNECTION_RESET)
        );
    });
}

/// Many endpoints of both sides, connected in the same moment, and of an interface to itself.
#[test]
fn both_sides_connect_at_once() {
    watched(|| {
        let (a, b) = two_sides();
        const COUNT: usize = 20;
        let to = [a.address(), b.address()];
        let mut eps: Vec<(Ep, u64)> = Vec::new();
        for i in 0..COUNT as u64 {
            eps.push((a.connect(&to[1]), i));
            eps.push((b.connect(&to[0]), i));
            eps.push((a.connect(&to[0]), COUNT as u64 + i));
        }
        for (ep, value) in &eps {
            until(&[&a, &b], || ep.am_short(1, *value, &[]) == UCS_OK);
        }
        for (side, count) in [(&a, 2 * COUNT), (&b, COUNT)] {
            until(&[&a, &b], || side.inbox.messages.borrow().len() == count);
            let messages = side.inbox.messages.borrow();
            let number = |m: &crate::side::Msg| u64::from_ne_bytes(m.data[..8].try_into().unwrap());
            let mut seen: Vec<u64> = messages.iter().map(number).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..count as u64));
        }
        assert!(a.failures.0.borrow().is_empty() && b.failures.0.borrow().is_empty());
    });
}

/// More endpoints after each other than an interface may have passive connections: these go with their peers', and what
/// was sent and flushed before is delivered.
#[test]
fn passive_connections_go_with_their_peers() {
    watched(|| {
        let (a, b) = two_sides();
        let address = b.address();
        const COUNT: usize = 2500;
        for i in 0..COUNT {
            let x = a.connect(&address);
            until(&[&a, &b], || x.am_short(1, i as u64, &[]) == UCS_OK);
            until(&[&a], || {
                x.flush(UCT_FLUSH_FLAG_LOCAL, null_mut()) == UCS_OK
            });
        }
        until(&[&a, &b], || b.inbox.messages.borrow().len() == COUNT);
        assert!(a.failures.0.borrow().is_empty() && b.failures.0.borrow().is_empty());
    });
}

/// Who sleeps until its event descriptor is readable gets connected, whatever is lost.
#[test]
fn who_sleeps_is_connected() {
    watched(|| {
        let (a, b) = two_sides();
        let mut fd = -1;
        let got = unsafe { iface::uct_iface_event_fd_get(a.iface, &mut fd) };
        assert_eq!(got, UCS_OK);
        let eps: Vec<Ep> = (0..20).map(|_| a.connect(&b.address())).collect();
        for x in &eps {
            until(&[&b], || {
                let arm = unsafe { iface::uct_iface_event_arm(a.iface, UCT_EVENT_RECV) };
                let mut p = libc::pollfd {
                    fd,
                    events: libc::POLLIN,
                    revents: 0,
                };
                if arm != UCS_OK || unsafe { libc::poll(&mut p, 1, 1) } == 1 {
                    a.progress();
                }
                x.am_short(1, 0, &[]) == UCS_OK
            });
        }
    });
}

/// Addresses that are none.
#[test]
fn damaged_interface_addresses_are_refused() {
    watched(|| {
        let (a, b) = two_sides();
        let (device, face) = b.address();
        let rng = TestRng::new(79);
        for _ in 0..500 {
            let bad = |n: usize| -> Vec<u8> { (0..n).map(|_| rng.below(256) as u8).collect() };
            let (other_device, other) = (bad(device.len()), bad(face.len()));
            assert!(a.try_connect(other_device.as_ptr(), face.as_ptr()).is_err());
            assert!(a.try_connect(device.as_ptr(), other.as_ptr()).is_err());
        }
        let x = a.connect(&(device, face));
        until(&[&a, &b], || x.am_short(1, 0, &[]) == UCS_OK);
    });
}

/// An interface that is not there (`UCX_RC_CONNECT_TIMEOUT=1s`): the endpoint fails, and it alone.
#[test]
#[ignore = "needs a short timeout: run by tests/verbs"]
fn an_interface_that_does_not_answer_fails_the_endpoint() {
    watched(|| {
        let (a, b) = two_sides();
        let (x, y) = (a.connect(&gone()), a.connect(&b.address()));
        assert_eq!(x.am_short(1, 0, &[]), UCS_ERR_NO_RESOURCE);
        until(&[&a, &b], || a.failures.0.borrow().len() == 1);
        assert_eq!(
            (a.failures.0.borrow()[0].0, a.failures.0.borrow()[0].1),
            (x.0, UCS_ERR_ENDPOINT_TIMEOUT)
        );
        assert_eq!(x.am_short(1, 0, &[]), UCS_ERR_ENDPOINT_TIMEOUT);
        until(&[&a, &b], || y.am_short(1, 0, &[]) == UCS_OK);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 1);
    });
}

/// Who is gone before it has answered is told of within ten seconds; who lives and makes no progress has its time.
#[test]
#[ignore = "takes seconds: run by tests/verbs"]
fn a_peer_that_is_gone_is_told_of_before_one_that_computes() {
    watched(|| {
        let (a, b) = two_sides();
        let (x, y) = (a.connect(&gone()), a.connect(&b.address()));
        let (start, alone) = (Instant::now(), [&a]);
        until(&alone, || !a.failures.0.borrow().is_empty());
        let told = start.elapsed();
        assert!(
            (Duration::from_secs(5)..Duration::from_secs(10)).contains(&told),
            "{told:?}"
        );
        until(&alone, || start.elapsed() > 2 * told);
        let failures: Vec<_> = a.failures.0.borrow().iter().map(|f| (f.0, f.1)).collect();
        assert_eq!(failures, [(x.0, UCS_ERR_ENDPOINT_TIMEOUT)]);
        until(&[&a, &b], || y.am_short(1, 0, &[]) == UCS_OK);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 1);
    });
}

/// A datagram as a stranger at the interface's own port would write it.
fn forged(side: &Side, kind: Kind, to: u32, from: u32, nonce: u64) -> Message {
    Message {
        kind,
        to,
        nonce,
        from: EpAddr {
            queue_pair: from,
            psn: 7,
            segment: 1 << 20,
            reads: 1,
        },
        device: DeviceAddr::decode(side.address().0[..].try_into().unwrap()).unwrap(),
    }
}

/// Random datagrams, and well-formed ones without the right nonce, change nothing.
#[test]
fn datagrams_of_strangers_change_nothing() {
    watched(|| {
        let (a, b) = two_sides();
        let (x, y) = (a.connect(&b.address()), b.connect(&a.address()));
        until(&[&a, &b], || x.am_bcopy(1, b"first") == 5);
        until(&[&a, &b], || y.am_bcopy(1, b"first") == 5);
        let mut stranger = Stranger::new(&b, KEY);
        let to = queue_pair_of(&b);
        let rng = TestRng::new(torture("TORTURE_SEED", 8) as u64);
        // The queue pairs of the connections are among these.
        let around = to as usize;
        for i in 0..torture("TORTURE_COUNT", 20_000) {
            let kind = [Kind::Reply, Kind::Confirm, Kind::Close, Kind::Reset][rng.below(4)];
            let pair = || rng.between(around.saturating_sub(8).max(1), around + 8) as u32;
            let mut bytes = forged(&b, kind, pair(), pair(), rng.next())
                .encode()
                .to_vec();
            match i % 4 {
                0 => bytes = rng.bytes(rng.below(100)),
                1 => bytes[rng.below(56)] ^= 1 << rng.below(8),
                2 => bytes.truncate(rng.below(56)),
                _ => {}
            }
            stranger.send(to, &bytes);
            if i % 20 == 0 {
                b.progress();
                a.progress();
            }
        }
        until(&[&a, &b], || x.am_bcopy(1, b"second") == 6);
        until(&[&a, &b], || y.am_bcopy(1, b"second") == 6);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 2);
        until(&[&a, &b], || a.inbox.messages.borrow().len() == 2);
        assert!(a.failures.0.borrow().is_empty() && b.failures.0.borrow().is_empty());
    });
}

/// Connection requests of one stranger that never confirms do not keep others out, and cost a bounded number of queue
/// pairs: the stand-in has 4064.
#[test]
fn requests_of_strangers_do_not_keep_others_out() {
    watched(|| {
        let (a, b) = two_sides();
        let mut stranger = Stranger::new(&b, KEY);
        let to = queue_pair_of(&b);
        for i in 0..6000 {
            stranger.send(
                to,
                &forged(&b, Kind::Request, 0, 1 << 20 | i, i.into()).encode(),
            );
            if i % 20 == 0 {
                b.progress();
            }
        }
        // As many again as b may have.
        let others: Vec<Ep> = (0..1000).map(|_| a.new_ep()).collect();
        let x = a.connect(&b.address());
        until(&[&a, &b], || x.am_bcopy(1, b"hello") == 5);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 1);
        drop(others);
    });
}
