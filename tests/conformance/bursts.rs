//! Short requests of a busy endpoint of rc_verbs, which wait to be posted together.

use crate::endpoint::{Comp, Ep};
use crate::pair::connect_eps;
use crate::side::{Options, Side, watched};
use crate::verbs::{RC, until, with_failures};
use ferrucx::c::*;
use std::ptr::null_mut;

/// More than are posted at once, and than are posted together.
const BURST: u64 = 4 + 16 + 5;

/// The numbers that messages brought.
fn numbers(side: &Side) -> Vec<u64> {
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes[..8].try_into().unwrap());
    let messages = side.inbox.messages.borrow();
    messages.iter().map(|m| number(&m.data)).collect()
}

fn pair(options: fn() -> Options) -> (Side, Side, Ep, Ep) {
    let (a, b) = (Side::open(&RC, options()), Side::open(&RC, options()));
    let (x, y) = (a.new_ep(), b.new_ep());
    connect_eps(&a, &x, &b, &y);
    (a, b, x, y)
}

#[test]
fn a_burst_arrives_without_progress_of_its_sender() {
    watched(|| {
        let (a, b, x, _y) = pair(Options::default);
        for round in 0..3 {
            for i in 0..BURST {
                assert_eq!(x.am_short(1, round * BURST + i, &[]), UCS_OK);
            }
            let all = || b.inbox.messages.borrow().len() as u64 == (round + 1) * BURST;
            until(&[&b], all);
        }
        assert_eq!(numbers(&b), (0..3 * BURST).collect::<Vec<_>>());
        let comp = Comp::new(1);
        if x.flush(UCT_FLUSH_FLAG_LOCAL, comp.ptr()) == UCS_INPROGRESS {
            until(&[&a], || comp.calls() == 1);
        }
    });
}

/// Whatever is sent in between, also by another endpoint.
#[test]
fn a_burst_is_in_order_with_everything_else() {
    watched(|| {
        let (a, b, x, y) = pair(Options::default);
        let (x2, y2) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x2, &b, &y2);
        let memory = b.memory(64);
        let (key, remote) = (a.key(&memory.packed), memory.address());
        let mut next = 0;
        for kind in 0..40 {
            for _ in 0..7 {
                assert_eq!(x.am_short(1, next, &[kind; 5]), UCS_OK);
                next += 1;
            }
            match kind % 5 {
                0 => {
                    let sent = x.am_bcopy(1, &next.to_ne_bytes());
                    assert_eq!(sent, 8);
                    next += 1;
                }
                1 => {
                    // As long as there are, which may be too long to wait.
                    let rest = vec![kind; a.attr.cap.am.max_short - 8];
                    assert_eq!(x.am_short(1, next, &rest), UCS_OK);
                    next += 1;
                }
                2 => {
                    let put = x.put_short(&next.to_ne_bytes(), remote, key.rkey());
                    assert_eq!(put, UCS_OK);
                    // What was written before a message is there when the message is.
                    assert_eq!(x.am_short(1, next, &[]), UCS_OK);
                    next += 1;
                    until(&[&b], || b.inbox.messages.borrow().len() as u64 == next);
                    assert_eq!(memory.bytes()[..8], (next - 1).to_ne_bytes());
                }
                3 => {
                    x.flush(UCT_FLUSH_FLAG_LOCAL, null_mut());
                    a.progress();
                }
                _ => {
                    assert_eq!(x2.am_short(2, next, &[]), UCS_OK);
                    next += 1;
                }
            }
        }
        until(&[&a, &b], || b.inbox.messages.borrow().len() as u64 == next);
        // Of two endpoints no order is promised.
        let (mut all, mut first) = (Vec::new(), Vec::new());
        for message in b.inbox.messages.borrow().iter() {
            let number = u64::from_ne_bytes(message.data[..8].try_into().unwrap());
            all.push(number);
            if message.id == 1 {
                first.push(number);
            }
        }
        assert!(first.is_sorted());
        all.sort_unstable();
        assert_eq!(all, (0..next).collect::<Vec<_>>());
        drop((x, y));
    });
}

/// What waits is posted before the endpoint is gone.
#[test]
fn an_endpoint_is_closed_in_the_midst_of_a_burst() {
    watched(|| {
        for count in [1, 4, 5, BURST] {
            let (a, b, x, _y) = pair(Options::default);
            let (x2, y2) = (a.new_ep(), b.new_ep());
            connect_eps(&a, &x2, &b, &y2);
            for i in 0..count {
                assert_eq!(x.am_short(1, i, &[]), UCS_OK);
            }
            drop(x);
            assert_eq!(x2.am_short(2, 7, &[]), UCS_OK);
            let last = || b.inbox.messages.borrow().iter().any(|m| m.id == 2);
            until(&[&a, &b], last);
        }
    });
}

/// A request is refused when it is posted with others (`FAKE_VERBS=refuse=9`): by progress, or by the thread.
#[test]
#[ignore = "needs a device that fails: run by tests/verbs"]
fn a_burst_that_is_refused_fails_its_endpoint_alone() {
    watched(|| {
        let (a, b, x, _y) = pair(with_failures);
        let (x2, y2) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x2, &b, &y2);
        for i in 0..10 {
            assert_eq!(x.am_short(1, i, &[]), UCS_OK);
        }
        // The thread posts what waits: eight arrive.
        until(&[&b], || b.inbox.messages.borrow().len() == 8);
        until(&[&a, &b], || !a.failures.0.borrow().is_empty());
        {
            let failures = a.failures.0.borrow();
            assert_eq!((failures[0].0, failures[0].1), (x.0, UCS_ERR_IO_ERROR));
        }
        assert_eq!(x.am_short(1, 0, &[]), UCS_ERR_IO_ERROR);
        for i in 0..BURST {
            assert_eq!(x2.am_short(2, i, &[]), UCS_OK);
        }
        let arrived = || b.inbox.messages.borrow().len() as u64 == 8 + BURST;
        until(&[&a, &b], arrived);
        assert_eq!(a.failures.0.borrow().len(), 1);
    });
}

/// One that is refused alone (`FAKE_VERBS=refuse=2`) answers that; the others are sent, and a flush ends.
#[test]
#[ignore = "needs a device that fails: run by tests/verbs"]
fn a_short_request_that_is_refused_is_a_status() {
    watched(|| {
        let (a, b, x, _y) = pair(with_failures);
        let answers: Vec<i8> = (0..3).map(|i| x.am_short(1, i, &[])).collect();
        assert_eq!(answers, [UCS_OK, UCS_ERR_IO_ERROR, UCS_OK]);
        let comp = Comp::new(1);
        assert_eq!(x.flush(UCT_FLUSH_FLAG_LOCAL, comp.ptr()), UCS_INPROGRESS);
        until(&[&a, &b], || comp.calls() == 1);
        assert_eq!(comp.status(), UCS_OK);
        until(&[&b], || b.inbox.messages.borrow().len() == 2);
        assert_eq!(numbers(&b), [0, 2]);
        assert!(a.failures.0.borrow().is_empty());
    });
}
