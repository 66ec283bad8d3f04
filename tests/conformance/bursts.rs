//! Short requests of a busy endpoint of rc_verbs, which wait to be posted together.

use crate::datagrams::UD;
use crate::endpoint::{Comp, Ep};
use crate::pair::connect_eps;
use crate::side::{Options, Side, Tl, watched};
use crate::verbs::{RC, until, with_failures};
use ferrucx::c::*;
use std::ffi::c_void;
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

/// What a pack callback writes, and what it does when half of that is written.
struct Packing<'a> {
    data: &'a [u8],
    midway: &'a mut dyn FnMut(),
    /// What it answers.
    len: usize,
}

unsafe extern "C" fn pack_in_two(dest: *mut c_void, arg: *mut c_void) -> usize {
    let packing = unsafe { &mut *arg.cast::<Packing<'_>>() };
    let (to, half) = (dest.cast::<u8>(), packing.data.len() / 2);
    let write = |from: usize, until: usize| {
        let part = &packing.data[from..until];
        unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), to.add(from), part.len()) };
    };
    write(0, half);
    (packing.midway)();
    write(half, packing.data.len());
    packing.len
}

/// Sends what is packed while `midway` does something else; answers `len`, or what went wrong.
fn send_packing(ep: &Ep, data: &[u8], len: usize, midway: &mut dyn FnMut()) -> isize {
    let mut packing = Packing { data, midway, len };
    let arg = std::ptr::from_mut(&mut packing).cast();
    unsafe { (ep.ops().ep_am_bcopy.unwrap())(ep.0, 4, Some(pack_in_two), arg, 0) }
}

/// Bytes that tell where they belong.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + seed * 31) as u8).collect()
}

/// The user sends in the midst of packing: by the same endpoint and by another, few messages and more than are chained,
/// after none and after some that wait. Each message arrives as it was packed, and those of an endpoint in order.
fn a_pack_callback_sends(tl: &Tl) {
    let open = || Side::open(tl, Options::default());
    let (a, b) = (open(), open());
    let (x, y, x2, y2) = (a.new_ep(), b.new_ep(), a.new_ep(), b.new_ep());
    connect_eps(&a, &x, &b, &y);
    connect_eps(&a, &x2, &b, &y2);
    let most = a.attr.cap.am.max_bcopy;
    let mut seed = 0;
    let arrived = |ids: &[u8]| -> Vec<Vec<u8>> {
        let messages = b.inbox.messages.borrow();
        let of_ids = messages.iter().filter(|m| ids.contains(&m.id));
        of_ids.map(|m| m.data.to_vec()).collect()
    };
    for before in [0, 2, 4, 15, 17] {
        for len in [110, 0, 1, 8, 111, 300, most] {
            for kind in 0..8 {
                seed += 1;
                b.inbox.messages.borrow_mut().clear();
                let mut expected = Vec::new();
                for i in 0..before {
                    let data = pattern(8, seed + i);
                    until(&[&a, &b], || x.am_bcopy(3, &data) == 8);
                    expected.push(data);
                }
                let (inner, long) = (pattern(9, seed + 100), pattern(250, seed + 101));
                let mut of_others = Vec::new();
                let mut midway = || match kind {
                    0 => {
                        assert_eq!(x.am_bcopy(3, &inner), 9);
                        expected.push(inner.clone());
                    }
                    1 => {
                        for i in 0..20 {
                            let data = pattern(8, seed + i);
                            let word = u64::from_ne_bytes(*data.first_chunk().unwrap());
                            assert_eq!(x.am_short(3, word, &[]), UCS_OK);
                            expected.push(data);
                        }
                    }
                    2 => {
                        for _ in 0..20 {
                            assert_eq!(x2.am_bcopy(5, &inner), 9);
                            of_others.push(inner.clone());
                        }
                    }
                    3 => {
                        a.progress();
                        for _ in 0..20 {
                            assert_eq!(x.am_bcopy(3, &inner), 9);
                            expected.push(inner.clone());
                        }
                    }
                    4 => {
                        assert_eq!(x.am_bcopy(3, &long), 250);
                        expected.push(long.clone());
                        a.progress();
                    }
                    5 => {
                        let mut innermost = || {
                            assert_eq!(x.am_bcopy(3, &long), 250);
                            expected.push(long.clone());
                        };
                        assert_eq!(send_packing(&x, &inner, 9, &mut innermost), 9);
                        expected.push(inner.clone());
                    }
                    6 => {
                        x.flush(UCT_FLUSH_FLAG_LOCAL, null_mut());
                        assert_eq!(x2.am_bcopy(5, &long), 250);
                        of_others.push(long.clone());
                        assert_eq!(x.am_bcopy(3, &inner), 9);
                        expected.push(inner.clone());
                    }
                    _ => {
                        a.progress();
                    }
                };
                let data = pattern(len, seed + 200);
                assert_eq!(send_packing(&x, &data, len, &mut midway), len as isize);
                expected.push(data);
                for i in 0..18 {
                    let data = pattern(8, seed + 300 + i);
                    until(&[&a, &b], || x.am_bcopy(3, &data) == 8);
                    expected.push(data);
                }
                let all = expected.len() + of_others.len();
                until(&[&a, &b], || b.inbox.messages.borrow().len() == all);
                let what = format!("{before} before, {len} bytes, kind {kind}");
                assert!(arrived(&[3, 4]) == expected, "{what}");
                assert!(arrived(&[5]) == of_others, "{what}");
            }
        }
    }
}

#[test]
fn a_pack_callback_sends_by_rc() {
    watched(|| a_pack_callback_sends(&RC));
}

/// One of no bytes is a message. One that says more than there is room for is a status, whether or not it would have waited, and
/// changes no other.
fn a_pack_callback_says_too_much(tl: &Tl) {
    let open = || Side::open(tl, Options::default());
    let (a, b) = (open(), open());
    let (x, y) = (a.new_ep(), b.new_ep());
    connect_eps(&a, &x, &b, &y);
    let most = a.attr.cap.am.max_bcopy;
    for before in [0, 2, 5, 15] {
        b.inbox.messages.borrow_mut().clear();
        let mut expected = Vec::new();
        for i in 0..before + 20 {
            let data = pattern(8, i);
            if i == before {
                for len in [most + 1, 2 * most, isize::MAX as usize, usize::MAX] {
                    let refused = send_packing(&x, &data, len, &mut || {});
                    assert_eq!(refused, UCS_ERR_INVALID_PARAM as isize, "{len}");
                }
                assert_eq!(send_packing(&x, &[], 0, &mut || {}), 0);
                expected.push(Vec::new());
            }
            until(&[&a, &b], || x.am_bcopy(3, &data) == 8);
            expected.push(data);
        }
        until(&[&a, &b], || {
            b.inbox.messages.borrow().len() == expected.len()
        });
        let messages = b.inbox.messages.borrow();
        assert!(
            messages
                .iter()
                .map(|m| &m.data[..])
                .eq(expected.iter().map(|e| &e[..]))
        );
    }
}

#[test]
fn a_pack_callback_says_too_much_to_rc() {
    watched(|| a_pack_callback_says_too_much(&RC));
}

#[test]
fn a_pack_callback_says_too_much_to_ud() {
    watched(|| a_pack_callback_says_too_much(&UD));
}
