//! Active messages: payloads arrive whole whatever their size, limits hold, handlers may do as they like,
//! descriptors stay until they are released.

use crate::endpoint::iov;
use crate::pair::Pair;
use crate::side::{Msg, Options, Side, Tl, pattern};
use ferrucx::abi::uct::iface;
use ferrucx::c::*;
use ferrucx::uct::internal::InternalRef;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

const SIZES: [usize; 9] = [0, 1, 7, 8, 9, 63, 64, 100, 1000];

/// The sizes of interest up to `max`, with `max` and its neighbour.
fn sizes(max: usize) -> Vec<usize> {
    let mut all: Vec<usize> = SIZES.into_iter().filter(|&n| n < max).collect();
    all.extend([max.saturating_sub(1), max]);
    all
}

fn unsupported(pair: &Pair, flag: u64) -> bool {
    if pair.a().can(flag) {
        return false;
    }
    // `attributes` asserts that such an operation answers UNSUPPORTED; here the handler cannot be
    // reached, so nothing may have arrived.
    assert!(pair.b().inbox.messages.borrow().is_empty());
    true
}

pub fn short_keeps_payloads(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_SHORT) {
        return;
    }
    for (i, n) in sizes(pair.a().attr.cap.am.max_short - 8)
        .into_iter()
        .enumerate()
    {
        let (id, data) = (i as u8 % 32, pattern(n, i as u64));
        let header = 0x0123_4567_89ab_cdef ^ i as u64;
        assert_eq!(
            pair.insist(|| pair.ep.am_short(id, header, &data)),
            0,
            "{n}"
        );
        let got = pair.take(1);
        assert_eq!(got[0].id, id);
        assert_eq!(got[0].data[..8], header.to_ne_bytes(), "header of {n}");
        assert_eq!(got[0].data[8..], data, "payload of {n}");
    }
}

/// UCP's short messages may be longer than those that the interface tells of.
pub fn short_inside_keeps_payloads(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_SHORT) {
        return;
    }
    let internal = unsafe { InternalRef::of(pair.a().iface) };
    let told = pair.a().attr.cap.am.max_short;
    let longest = internal.longest_short().unwrap_or(told);
    assert!(longest >= told);
    let send = internal.base.internal.ops.am_short;
    for n in (0..=longest - 8).rev() {
        let (header, data) = (n as u64 ^ 0x0123_4567_89ab_cdef, pattern(n, n as u64));
        let code = pair.insist(|| unsafe { send(pair.ep.0, 3, header, data.as_ptr(), n) });
        assert_eq!(code, 0, "{n}");
        let got = pair.take(1);
        assert_eq!(got[0].data[..8], header.to_ne_bytes(), "header of {n}");
        assert_eq!(got[0].data[8..], data, "payload of {n}");
    }
}

pub fn short_iov_keeps_payloads(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_SHORT) {
        return;
    }
    let max = pair.a().attr.cap.am.max_short;
    for n in sizes(max) {
        let data = pattern(n, n as u64);
        for parts in 1..=pair.a().attr.cap.am.max_iov.min(3) {
            let step = n.div_ceil(parts).max(1);
            let mut list: Vec<uct_iov_t> = data.chunks(step).map(|c| iov(c, null_mut())).collect();
            if list.is_empty() {
                list.push(iov(&[], null_mut()));
            }
            assert_eq!(pair.insist(|| pair.ep.am_short_iov(5, &list)), 0, "{n}");
            assert_eq!(pair.take(1)[0].data, data);
        }
    }
    let whole = pattern(max + 1, 1);
    let over = pair.insist(|| pair.ep.am_short_iov(5, &[iov(&whole, null_mut())]));
    assert_eq!(over, UCS_ERR_INVALID_PARAM as isize);
    // Lengths that overflow their sum.
    let mut huge = [iov(&whole[..8], null_mut()), iov(&whole[..8], null_mut())];
    huge[0].length = usize::MAX;
    let over = pair.insist(|| pair.ep.am_short_iov(5, &huge));
    assert_eq!(over, UCS_ERR_INVALID_PARAM as isize);
}

pub fn bcopy_keeps_payloads(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_BCOPY) {
        return;
    }
    for (i, n) in sizes(pair.a().attr.cap.am.max_bcopy)
        .into_iter()
        .enumerate()
    {
        let data = pattern(n, n as u64);
        let sent = pair.insist(|| pair.ep.am_bcopy(i as u8, &data));
        assert_eq!(sent, n as isize);
        let got = pair.take(1);
        assert_eq!(got[0].id, i as u8);
        assert_eq!(got[0].data, data, "{n}");
    }
}

pub fn zcopy_keeps_payloads(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_ZCOPY) {
        return;
    }
    let cap = pair.a().attr.cap.am;
    let local = pair.a().memory(cap.max_zcopy.min(1 << 20));
    for n in sizes(local.len).into_iter().filter(|&n| n >= cap.min_zcopy) {
        let data = pattern(n, n as u64);
        local.fill(&data);
        let two = cap.max_iov.min(2);
        for (h, parts) in [
            (0, 1),
            (cap.max_hdr.min(8), two),
            (cap.max_hdr, cap.max_iov),
        ] {
            if h + n > cap.max_zcopy {
                continue;
            }
            let header = pattern(h, 77);
            let step = n.div_ceil(parts).max(1);
            let list: Vec<uct_iov_t> = (0..n)
                .step_by(step)
                .map(|at| uct_iov_t {
                    buffer: (local.address() + at as u64) as *mut c_void,
                    length: step.min(n - at),
                    memh: local.memh(),
                    stride: 0,
                    count: 1,
                })
                .collect();
            let status = pair.complete(|comp| pair.ep.am_zcopy(9, &header, &list, comp));
            assert_eq!(status, UCS_OK, "{n} bytes, header {h}");
            let got = pair.take(1);
            assert_eq!(got[0].data[..h], header);
            assert_eq!(got[0].data[h..], data, "{n}");
        }
    }
}

pub fn message_limits_hold(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap.am;
    let bad = UCS_ERR_INVALID_PARAM as isize;
    if pair.a().can(UCT_IFACE_FLAG_AM_SHORT) {
        let over = vec![0u8; cap.max_short - 7];
        assert_eq!(pair.insist(|| pair.ep.am_short(1, 0, &over)), bad);
        assert_eq!(pair.insist(|| pair.ep.am_short(32, 0, &[])), bad);
        assert_eq!(pair.insist(|| pair.ep.am_short(255, 0, &[])), bad);
        let none = [iov(&[], null_mut())];
        assert_eq!(pair.insist(|| pair.ep.am_short_iov(32, &none)), bad);
    }
    if pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) {
        assert_eq!(pair.insist(|| pair.ep.am_bcopy(32, &[])), bad);
        let null =
            unsafe { (pair.a().ops().ep_am_bcopy.unwrap())(pair.ep.0, 1, None, null_mut(), 0) };
        assert_eq!(null, bad, "no pack callback");
    }
    if pair.a().can(UCT_IFACE_FLAG_AM_ZCOPY) {
        let local = pair.a().memory(cap.max_zcopy.min(1 << 20) + 1);
        let entry = |n| uct_iov_t {
            buffer: local.address() as *mut c_void,
            length: n,
            memh: local.memh(),
            stride: 0,
            count: 1,
        };
        let z = |id, header: &[u8], list: &[uct_iov_t]| {
            pair.insist(|| pair.ep.am_zcopy(id, header, list, null_mut()))
        };
        assert_eq!(z(32, &[], &[entry(8)]), bad);
        assert_eq!(z(1, &vec![0; cap.max_hdr + 1], &[entry(8)]), bad);
        assert_eq!(z(1, &[], &vec![entry(1); cap.max_iov + 1]), bad);
        if cap.max_zcopy < local.len {
            assert_eq!(z(1, &[], &[entry(cap.max_zcopy + 1)]), bad);
        }
    }
    let set = |id, flags| unsafe {
        iface::uct_iface_set_am_handler(pair.a().iface, id, Side::RECORD, null_mut(), flags)
    };
    if pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) {
        assert_eq!(set(32, 0), UCS_ERR_INVALID_PARAM);
        assert_eq!(set(255, 0), UCS_ERR_INVALID_PARAM);
        assert_eq!(set(0, 0x8000_0000), UCS_ERR_INVALID_PARAM);
        pair.a().record_all();
    }
    // Nothing of all that was sent.
    for _ in 0..100 {
        pair.progress();
    }
    assert!(pair.b().inbox.messages.borrow().is_empty());
}

/// What the handler below shares with its test.
struct Switch {
    iface: uct_iface_h,
    calls: Cell<u32>,
    next_arg: *mut c_void,
}

unsafe extern "C" fn replaces_itself(arg: *mut c_void, _: *mut c_void, _: usize, _: u32) -> i8 {
    let s = unsafe { &*arg.cast::<Switch>() };
    s.calls.set(s.calls.get() + 1);
    unsafe { iface::uct_iface_set_am_handler(s.iface, 3, Side::RECORD, s.next_arg, 0) }
}

unsafe extern "C" fn clears_itself(arg: *mut c_void, _: *mut c_void, _: usize, _: u32) -> i8 {
    let s = unsafe { &*arg.cast::<Switch>() };
    s.calls.set(s.calls.get() + 1);
    unsafe { iface::uct_iface_set_am_handler(s.iface, 4, None, null_mut(), 0) }
}

pub fn handlers_change_at_any_time(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_BCOPY) {
        return;
    }
    let b = pair.b();
    let switch = Switch {
        iface: b.iface,
        calls: Cell::new(0),
        next_arg: b.record_arg(3),
    };
    let arg = std::ptr::from_ref(&switch).cast_mut().cast();
    let set = |id, cb| {
        let got = unsafe { iface::uct_iface_set_am_handler(b.iface, id, cb, arg, 0) };
        assert_eq!(got, UCS_OK);
    };
    set(3, Some(replaces_itself));
    set(4, Some(clears_itself));
    for _ in 0..3 {
        assert_eq!(pair.insist(|| pair.ep.am_bcopy(3, b"x")), 1);
        assert_eq!(pair.insist(|| pair.ep.am_bcopy(4, b"y")), 1);
    }
    // A last message of another id shows that all before it were handled.
    assert_eq!(pair.insist(|| pair.ep.am_bcopy(31, b"end")), 3);
    pair.until(|| b.inbox.messages.borrow().iter().any(|m| m.id == 31));
    let ids: Vec<u8> = b.inbox.messages.borrow().iter().map(|m| m.id).collect();
    assert_eq!(
        ids,
        [3, 3, 31],
        "the first of id 3 switched, id 4 is silent after its first"
    );
    assert_eq!(switch.calls.get(), 2);
}

pub fn descriptors_stay_until_released(tl: &Tl) {
    for (headroom, alignment) in [
        (0, None),
        (1, None),
        (24, None),
        (64, None),
        (40, Some((64, 0))),
        (0, Some((256, 8))),
    ] {
        let options = Options {
            headroom,
            alignment,
            ..Options::default()
        };
        let pair = Pair::with(tl, options);
        if unsupported(&pair, UCT_IFACE_FLAG_AM_BCOPY) {
            return;
        }
        let b = pair.b();
        b.inbox.keep.set(true);
        let len = 200.min(pair.a().attr.cap.am.max_bcopy);
        for i in 0..40u64 {
            let data = pattern(len, i);
            assert_eq!(pair.insist(|| pair.ep.am_bcopy(2, &data)), len as isize);
            pair.until(|| b.inbox.messages.borrow().len() > i as usize);
        }
        let check = |m: &Msg| {
            let Some(desc) = m.kept else { return };
            // The user owns headroom and payload until the release: write one, read the other.
            unsafe { desc.cast::<u8>().write_bytes(0xee, headroom) };
            let now = unsafe { std::slice::from_raw_parts(m.at, m.data.len()) };
            assert_eq!(now, m.data, "headroom {headroom}");
            if let Some((align, offset)) = alignment {
                assert_eq!((m.at as usize + offset) % align, 0, "{align} {offset}");
            }
        };
        b.inbox.messages.borrow().iter().for_each(check);
        // Half of them back, in another order; then more traffic must not touch the rest.
        b.release_kept((0..40).rev().filter(|i| i % 3 != 0));
        b.inbox.keep.set(false);
        for i in 0..300u64 {
            let data = pattern(len, 1000 + i);
            assert_eq!(pair.insist(|| pair.ep.am_bcopy(2, &data)), len as isize);
            pair.progress();
        }
        pair.until(|| b.inbox.messages.borrow().len() == 340);
        let messages = b.inbox.messages.borrow();
        messages.iter().for_each(check);
        for (i, m) in messages[40..].iter().enumerate() {
            assert_eq!(m.data, pattern(len, 1000 + i as u64));
        }
    }
}

/// More kept descriptors than any ring has slots: the transport must go on.
pub fn kept_descriptors_outlive_the_flow(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_BCOPY) {
        return;
    }
    let b = pair.b();
    b.inbox.keep.set(true);
    const COUNT: usize = 2000;
    for i in 0..COUNT {
        let data = (i as u64).to_le_bytes();
        assert_eq!(pair.insist(|| pair.ep.am_bcopy(1, &data)), 8);
        pair.progress();
    }
    pair.until(|| b.inbox.messages.borrow().len() == COUNT);
    for (i, m) in b.inbox.messages.borrow().iter().enumerate() {
        assert_eq!(m.data, (i as u64).to_le_bytes());
        if m.kept.is_some() {
            assert_eq!(
                unsafe { m.at.cast::<[u8; 8]>().read() },
                (i as u64).to_le_bytes()
            );
        }
    }
    let odd = (0..COUNT).filter(|i| i % 2 == 1);
    b.release_kept(odd.chain((0..COUNT).filter(|i| i % 2 == 0)));
    b.inbox.keep.set(false);
    assert_eq!(pair.insist(|| pair.ep.am_bcopy(1, b"after")), 5);
    pair.until(|| b.inbox.messages.borrow().len() == COUNT + 1);
}

struct Echo {
    ep: uct_ep_h,
    left: Cell<u32>,
    refused: Cell<u32>,
}

unsafe extern "C" fn sends_again(arg: *mut c_void, _: *mut c_void, _: usize, _: u32) -> i8 {
    let echo = unsafe { &*arg.cast::<Echo>() };
    if echo.left.get() > 0 {
        echo.left.set(echo.left.get() - 1);
        let ops = unsafe { &(*(*echo.ep).iface).ops };
        let mut bytes = crate::endpoint::Bytes {
            data: c"ping".as_ptr().cast_mut().cast(),
            len: 4,
        };
        let arg = std::ptr::from_mut(&mut bytes).cast();
        let sent =
            unsafe { (ops.ep_am_bcopy.unwrap())(echo.ep, 6, Some(crate::endpoint::pack), arg, 0) };
        if sent != 4 {
            echo.refused.set(echo.refused.get() + 1);
        }
    }
    UCS_OK
}

/// A handler sends on the endpoint whose message it handles: no borrow may be held across it.
pub fn handlers_may_send(tl: &Tl) {
    let pair = Pair::new(tl);
    if unsupported(&pair, UCT_IFACE_FLAG_AM_BCOPY) {
        return;
    }
    let echo = Echo {
        ep: pair.ep.0,
        left: Cell::new(50),
        refused: Cell::new(0),
    };
    let arg = std::ptr::from_ref(&echo).cast_mut().cast();
    let set =
        unsafe { iface::uct_iface_set_am_handler(pair.b().iface, 6, Some(sends_again), arg, 0) };
    assert_eq!(set, UCS_OK);
    assert_eq!(pair.insist(|| pair.ep.am_bcopy(6, b"ping")), 4);
    pair.until(|| echo.left.get() == 0);
    assert_eq!(echo.refused.get(), 0);
}
