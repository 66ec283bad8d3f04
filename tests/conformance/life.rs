//! Birth and death: progress on and off, addresses, many endpoints, a peer that is killed.

use crate::pair::{Pair, connect_eps};
use crate::peer::{Peer, hash, unhex};
use crate::side::{Options, PATIENCE, Security, Side, Tl, pattern};
use crate::test_rng::TestRng;
use ferrucx::abi::uct::{ep, iface};
use ferrucx::c::*;
use ferrucx::uct::internal::InternalRef;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

const AM: u64 = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY;

pub fn progress_is_switched(tl: &Tl) {
    let pair = Pair::new(tl);
    if !pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) {
        pair.a().progress_disable();
        pair.a().progress_enable();
        assert_eq!(pair.progress(), 0);
        return;
    }
    assert_eq!(pair.insist(|| pair.ep.am_bcopy(1, b"first")), 5);
    pair.take(1);
    pair.b().progress_enable();
    pair.b().progress_disable();
    assert_eq!(pair.insist(|| pair.ep.am_bcopy(1, b"second")), 6);
    for _ in 0..1000 {
        pair.progress();
    }
    let at_once = pair.b().inbox.messages.borrow().len();
    // A message to oneself needs no progress; every other waits.
    assert_eq!(at_once, usize::from(tl.transport == "self"));
    pair.b().progress_enable();
    assert_eq!(pair.take(1)[0].data, b"second");
    pair.b().progress_disable();
    pair.b().progress_disable();
    pair.b().progress_enable();
    assert_eq!(pair.insist(|| pair.ep.am_bcopy(1, b"third")), 5);
    assert_eq!(pair.take(1)[0].data, b"third");
}

pub fn check_of_a_living_peer_is_quiet(tl: &Tl) {
    let options = Options {
        failures: true,
        ..Options::default()
    };
    let pair = Pair::with(tl, options);
    if !pair.a().can(UCT_IFACE_FLAG_EP_CHECK) {
        assert_eq!(pair.ep.check(null_mut()), UCS_ERR_UNSUPPORTED);
        return;
    }
    for _ in 0..20 {
        let status = pair.complete(|comp| pair.ep.check(comp));
        assert_eq!(status, UCS_OK);
        pair.progress();
    }
    assert!(pair.a().failures.0.borrow().is_empty());
}

pub fn addresses_work_at_any_alignment(tl: &Tl) {
    let pair = Pair::new(tl);
    if !pair.a().can(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        assert!(pair.connected_by_ep());
        return;
    }
    let (device, face) = pair.b().address();
    for skew in 1..8 {
        // Exactly as long as promised, so that a tool sees reads past the end.
        let shift = |bytes: &[u8]| {
            let mut v = vec![0u8; skew];
            v.extend_from_slice(bytes);
            v
        };
        let (d, f) = (shift(&device), shift(&face));
        assert!(pair.a().reaches(&d[skew..], &f[skew..]), "offset {skew}");
        let ep = pair.a().try_connect(d[skew..].as_ptr(), f[skew..].as_ptr());
        let ep = crate::endpoint::Ep(ep.expect("connect"));
        if pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) {
            assert_eq!(pair.insist(|| ep.am_bcopy(1, b"odd")), 3);
            assert_eq!(pair.take(1)[0].data, b"odd");
        }
    }
}

pub fn foreign_addresses_are_unreachable(tl: &Tl) {
    let pair = Pair::new(tl);
    let a = pair.a();
    let (device, face) = pair.b().address();
    assert!(a.reaches(&device, &face), "its own kind is reachable");
    let (dl, fl) = (device.len(), face.len());
    let rng = TestRng::new(31);
    let garbage = |n: usize, round: usize| -> Vec<u8> {
        match round {
            0 => vec![0; n],
            1 => vec![0xff; n],
            _ => (0..n).map(|_| rng.below(256) as u8).collect(),
        }
    };
    if !a.can(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        for round in 0..200 {
            assert!(!a.reaches(&garbage(dl, round), &face));
        }
        return;
    }
    for round in 0..200 {
        let (d, f) = (garbage(dl, round), garbage(fl, round));
        assert!(!a.reaches(&d, &f), "garbage {d:x?} {f:x?}");
        // An endpoint to nowhere is refused, or fails later; it takes nothing down.
        if let Ok(h) = a.try_connect(d.as_ptr(), f.as_ptr()) {
            let ep = crate::endpoint::Ep(h);
            if a.can(UCT_IFACE_FLAG_AM_BCOPY) {
                ep.am_bcopy(1, b"nobody");
            }
            pair.progress();
            ep.pending_purge_all();
        }
    }
    let others = [
        ("self", "self", "memory"),
        ("posix", "posix", "memory"),
        ("sysv", "sysv", "memory"),
        ("cma", "cma", "memory"),
        ("tcp", "tcp", "lo"),
    ];
    for (component, transport, dev) in others {
        if transport == tl.transport || !exists(component) {
            continue;
        }
        let other = Tl {
            component,
            transport,
            device: dev,
            security: Security::Off,
        };
        let (mut d, mut f) = Side::open(&other, Options::default()).address();
        d.resize(dl, 0);
        f.resize(fl, 0);
        if dl > 0 && d == device {
            // The same host has the same device address on transports of one kind.
            assert!(!a.reaches(&d, &f), "interface address of {transport}");
        }
        assert!(!a.reaches(&d, &f), "addresses of {transport}");
    }
}

fn exists(component: &str) -> bool {
    ferrucx::uct::registry::COMPONENTS
        .iter()
        .any(|c| c.component.name() == component && !c.domains().is_empty())
}

pub fn churn_leaves_nothing_behind(tl: &Tl) {
    // In a process of its own: other tests open and close files here.
    let mut peer = Peer::start();
    let command = format!("churn {}", tl.words());
    let got = peer.ask(&command, &mut || {});
    let n: Vec<usize> = got.iter().map(|w| w.parse().unwrap()).collect();
    let [fds, maps, fds_ep, maps_ep, fds_face, maps_face] = n[..] else {
        panic!("{got:?}")
    };
    // The allocator may have split or joined a few of its own mappings.
    const SLACK: usize = 8;
    assert!(
        fds_ep <= fds,
        "1000 endpoints: {fds} -> {fds_ep} descriptors"
    );
    assert!(
        maps_ep <= maps + SLACK,
        "1000 endpoints: {maps} -> {maps_ep} mappings"
    );
    assert!(
        fds_face <= fds,
        "30 interfaces: {fds} -> {fds_face} descriptors"
    );
    assert!(
        maps_face <= maps + SLACK,
        "30 interfaces: {maps} -> {maps_face} mappings"
    );
}

/// A side here connected to one in another process.
struct Apart {
    ep: crate::endpoint::Ep,
    side: Side,
    peer: Peer,
    /// Of the peer's interface.
    address: (Vec<u8>, Vec<u8>),
}

impl Apart {
    fn new(tl: &Tl) -> Apart {
        let mut peer = Peer::start();
        let options = Options {
            failures: true,
            ..Options::default()
        };
        let side = Side::open(tl, options);
        let address = peer.open(tl);
        assert!(
            side.reaches(&address.0, &address.1),
            "the other process is reachable"
        );
        let ep = peer.connect(&side, &address);
        Apart {
            ep,
            side,
            peer,
            address,
        }
    }

    /// Whether an active message of these bytes went out.
    fn send(&self, data: &[u8]) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.ep.am_bcopy(1, data) {
                n if n == data.len() as isize => return,
                n => assert_eq!(n, UCS_ERR_NO_RESOURCE as isize),
            }
            self.side.progress();
            assert!(Instant::now() < deadline);
        }
    }
}

pub fn death_of_the_peer_is_reported_once(tl: &Tl) {
    let probe = Side::open(tl, Options::default());
    if !probe.can(UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE) {
        // Such a transport serves within a process, or says that it cannot tell.
        return;
    }
    // RDMA finds out when it has sent in vain for so long: UCX_RC_TIMEOUT and UCX_RC_RETRY_COUNT, UCX_UD_TIMEOUT.
    let asks = tl.component == "ib";
    let promise = Duration::from_millis(if asks { 10_000 } else { 100 });
    let mut took = Vec::new();
    // The machine may be busy just then: the best of three counts for the promise.
    for _ in 0..3 {
        let mut apart = Apart::new(tl);
        if apart.side.can(UCT_IFACE_FLAG_AM_BCOPY) {
            apart.send(b"hello");
            let Apart { side, peer, .. } = &mut apart;
            let got = peer.ask("received 1", &mut || {
                side.progress();
            });
            assert_eq!(got[0], hash(b"hello").to_string());
        }
        let killed = apart.peer.kill();
        let failures = &apart.side.failures.0;
        while failures.borrow().is_empty() {
            apart.side.progress();
            if asks {
                apart.ep.check(null_mut());
            }
            assert!(killed.elapsed() < PATIENCE, "the death is not noticed");
        }
        took.push(killed.elapsed());
        let (ep, status, _) = failures.borrow()[0];
        assert_eq!(ep, apart.ep.0);
        assert!(status < 0, "{status}");
        // Operations on the failed endpoint get statuses, and nobody is told again.
        let cap = apart.side.attr.cap.flags;
        if cap & UCT_IFACE_FLAG_AM_BCOPY != 0 {
            let got = apart.ep.am_bcopy(1, b"late");
            assert!(got < 0 && got != UCS_ERR_NO_RESOURCE as isize, "{got}");
        }
        if cap & UCT_IFACE_FLAG_PUT_ZCOPY != 0 {
            let data = [1u8; 8];
            let list = [crate::endpoint::iov(&data, null_mut())];
            let got = apart.ep.put_zcopy(&list, 4096, 0, null_mut());
            assert!(got < 0 && got != UCS_ERR_NO_RESOURCE, "{got}");
        }
        apart.ep.check(null_mut());
        let until = Instant::now() + Duration::from_millis(50);
        while Instant::now() < until {
            apart.side.progress();
        }
        assert_eq!(failures.borrow().len(), 1, "told once");
        let got = apart.ep.flush(UCT_FLUSH_FLAG_CANCEL, null_mut());
        assert_ne!(
            got, UCS_INPROGRESS,
            "nothing is under way on a failed endpoint"
        );
        apart.ep.pending_purge_all();
    }
    assert!(took.iter().min().unwrap() <= &promise, "{took:?}");
}

pub fn two_processes_talk(tl: &Tl) {
    if tl.transport == "self" {
        // Another process is another interface: out of reach.
        let mut peer = Peer::start();
        let address = peer.open(tl);
        let side = Side::open(tl, Options::default());
        assert!(!side.reaches(&address.0, &address.1));
        return;
    }
    // Dropped in reverse: the endpoint before its interface.
    let Apart {
        mut peer,
        side,
        ep,
        address,
    } = Apart::new(tl);
    let mut poll = || {
        side.progress();
    };
    if side.can(AM) {
        let max = side.attr.cap.am.max_bcopy.min(100_000);
        let sizes = [0, 1, 8, 100, 1000, max];
        let mut expected = Vec::new();
        for (i, n) in (0..200).map(|i| (i, sizes[i % sizes.len()])) {
            let data = pattern(n, i as u64);
            while ep.am_bcopy(2, &data) != n as isize {
                side.progress();
            }
            expected.push(hash(&data).to_string());
        }
        assert_eq!(peer.ask("received 200", &mut poll), expected);
        if side.can(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
            let back = peer.connect_back(&side, &address);
            assert!(back.is_none());
        }
        peer.ask("send 100 500", &mut poll);
        let deadline = Instant::now() + PATIENCE;
        while side.inbox.messages.borrow().len() < 100 {
            side.progress();
            assert!(Instant::now() < deadline);
        }
        for (i, m) in side.inbox.messages.borrow().iter().enumerate() {
            assert_eq!(m.data, pattern(500, i as u64));
        }
    }
    remote_memory(&side, &ep, &mut peer);
}

fn remote_memory(side: &Side, ep: &crate::endpoint::Ep, peer: &mut Peer) {
    const LEN: usize = 1 << 20;
    let cap = side.attr.cap.flags;
    let puts = UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY | UCT_IFACE_FLAG_PUT_ZCOPY;
    if cap & puts == 0 {
        return;
    }
    let mut poll = || {
        side.progress();
    };
    let got = peer.ask(&format!("memory {LEN}"), &mut poll);
    let (remote, packed) = (got[0].parse::<u64>().unwrap(), unhex(&got[1]));
    let key = side.key(&packed);
    let mut oracle = pattern(LEN, 1);
    let local = side.memory(LEN);
    let wait = |op: &mut dyn FnMut(*mut uct_completion_t) -> i8| {
        let comp = crate::endpoint::Comp::new(1);
        let ptr = comp.ptr();
        let deadline = Instant::now() + PATIENCE;
        loop {
            match op(ptr) {
                UCS_ERR_NO_RESOURCE => side.progress(),
                UCS_INPROGRESS => break,
                other => return other,
            };
            assert!(Instant::now() < deadline);
        }
        while comp.calls() == 0 {
            side.progress();
            assert!(Instant::now() < deadline);
        }
        comp.status()
    };
    let entry = |n: usize| uct_iov_t {
        buffer: local.address() as *mut c_void,
        length: n,
        memh: local.memh(),
        stride: 0,
        count: 1,
    };
    if cap & UCT_IFACE_FLAG_GET_ZCOPY != 0 {
        let list = [entry(LEN)];
        let status = wait(&mut |comp| ep.get_zcopy(&list, remote, key.rkey(), comp));
        assert_eq!(status, UCS_OK);
        assert_eq!(local.bytes(), oracle);
    }
    let data = pattern(LEN, 2);
    local.fill(&data);
    if cap & UCT_IFACE_FLAG_PUT_ZCOPY != 0 {
        let list = [entry(LEN / 2)];
        let status = wait(&mut |comp| ep.put_zcopy(&list, remote, key.rkey(), comp));
        assert_eq!(status, UCS_OK);
        oracle[..LEN / 2].copy_from_slice(&data[..LEN / 2]);
    }
    if cap & UCT_IFACE_FLAG_PUT_SHORT != 0 {
        let n = side.attr.cap.put.max_short.min(100);
        let at = (LEN - n) as u64;
        assert_eq!(ep.put_short(&data[..n], remote + at, key.rkey()), UCS_OK);
        oracle[LEN - n..].copy_from_slice(&data[..n]);
    }
    if side.attr.cap.atomic64.op_flags & 1 << UCT_ATOMIC_OP_ADD != 0 {
        let at = LEN as u64 / 2 + 64;
        let op = UCT_ATOMIC_OP_ADD;
        assert_eq!(ep.post64(op, 5, remote + at, key.rkey()), UCS_OK);
        let word = &mut oracle[at as usize..at as usize + 8];
        let sum = u64::from_ne_bytes((&*word).try_into().unwrap()).wrapping_add(5);
        word.copy_from_slice(&sum.to_ne_bytes());
    }
    let status = wait(&mut |comp| ep.flush(UCT_FLUSH_FLAG_LOCAL, comp));
    assert_eq!(status, UCS_OK);
    // What left may still be on its way: the peer's memory gets there.
    let deadline = Instant::now() + PATIENCE;
    let expected = hash(&oracle).to_string();
    while peer.ask("hash", &mut poll)[0] != expected {
        assert!(
            Instant::now() < deadline,
            "the peer's memory is not what was put"
        );
    }
}

/// Endpoints and interfaces close while messages, pending requests and kept descriptors are about.
pub fn endpoints_close_with_work_under_way(tl: &Tl) {
    for round in 0..20 {
        let pair = Pair::new(tl);
        if !pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) {
            continue;
        }
        let extra: Vec<_> = if pair.connected_by_ep() {
            Vec::new()
        } else {
            (0..3)
                .map(|_| pair.a().connect(&pair.b().address()))
                .collect()
        };
        for ep in &extra {
            for _ in 0..round {
                ep.am_bcopy(1, &[1; 200]);
            }
        }
        drop(extra);
        for _ in 0..round {
            pair.progress();
        }
        let sent = pair.insist(|| pair.ep.am_bcopy(5, b"still here"));
        assert_eq!(sent, 10);
        pair.until(|| pair.b().inbox.messages.borrow().iter().any(|m| m.id == 5));
    }
}

/// Completions of one endpoint, one of which destroys it.
struct Closing {
    ep: Cell<uct_ep_h>,
    /// This many are called before the one that destroys the endpoint.
    before: u32,
    calls: Cell<u32>,
    after: Cell<u32>,
}

#[repr(C)]
struct ClosingComp {
    base: uct_completion_t,
    shared: *const Closing,
    calls: Cell<u32>,
}

unsafe extern "C" fn closes(comp: *mut uct_completion_t) {
    let comp = unsafe { &*comp.cast::<ClosingComp>() };
    comp.calls.set(comp.calls.get() + 1);
    let shared = unsafe { &*comp.shared };
    let before = shared.calls.replace(shared.calls.get() + 1);
    match shared.ep.get() {
        ep if ep.is_null() => shared.after.set(shared.after.get() + 1),
        ep if before == shared.before => {
            unsafe { ep::uct_ep_destroy(ep) };
            shared.ep.set(null_mut());
        }
        _ => {}
    }
}

/// A completion may destroy its endpoint: then none of the others is called any more, unless within that call.
pub fn no_completion_outlives_its_endpoint(tl: &Tl) {
    for (cancels, before) in [(false, 0), (false, 1), (false, 3), (true, 0), (true, 2)] {
        let pair = Pair::new(tl);
        let (a, b) = (pair.a(), pair.b());
        let cap = a.attr.cap;
        let (x, y) = match pair.connected_by_ep() {
            true => {
                let (x, y) = (a.new_ep(), b.new_ep());
                connect_eps(a, &x, b, &y);
                (x, Some(y))
            }
            false => (a.connect(&b.address()), None),
        };
        let shared = Closing {
            ep: Cell::new(x.0),
            before,
            calls: Cell::new(0),
            after: Cell::new(0),
        };
        let comps: Vec<Box<ClosingComp>> = (0..9)
            .map(|_| {
                Box::new(ClosingComp {
                    base: uct_completion_t {
                        func: Some(closes),
                        count: 1,
                        status: UCS_OK,
                    },
                    shared: &raw const shared,
                    calls: Cell::new(0),
                })
            })
            .collect();
        const LEN: usize = 1_000_001;
        let len = LEN.min(cap.put.max_zcopy).max(1);
        let (local, memory) = (a.memory(LEN), b.memory(LEN));
        let key = a.key(&memory.packed);
        let (remote, rkey) = (memory.address(), key.rkey());
        let whole = |length| uct_iov_t {
            buffer: local.address() as *mut c_void,
            length,
            memh: local.memh(),
            stride: 0,
            count: 1,
        };
        if cap.flags & UCT_IFACE_FLAG_AM_BCOPY != 0 {
            assert_eq!(pair.insist(|| x.am_bcopy(1, b"connected")), 9);
            pair.take(1);
        }
        let mut posted = 0;
        for (i, comp) in comps.iter().enumerate() {
            // The library changes it while it is shared.
            let comp = std::ptr::from_ref(&**comp).cast_mut().cast();
            let message = [whole(cap.am.max_zcopy.min(LEN))];
            let status = match i % 3 {
                0 if cap.flags & UCT_IFACE_FLAG_AM_ZCOPY != 0 => x.am_zcopy(1, &[], &message, comp),
                1 if cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY != 0 => {
                    x.put_zcopy(&[whole(len)], remote, rkey, comp)
                }
                _ => x.flush(UCT_FLUSH_FLAG_LOCAL, comp),
            };
            posted += u32::from(status == UCS_INPROGRESS);
        }
        let ep = x.0;
        std::mem::forget(x);
        if cancels {
            unsafe {
                ((*(*ep).iface).ops.ep_flush.unwrap())(ep, UCT_FLUSH_FLAG_CANCEL, null_mut())
            };
        }
        let ends = posted.min(before + 1);
        pair.until(|| shared.calls.get() >= ends);
        for _ in 0..100 {
            pair.progress();
        }
        assert_eq!(
            shared.after.get(),
            0,
            "{posted} under way, closed after {before}"
        );
        assert!(comps.iter().all(|comp| comp.calls.get() <= 1));
        if !shared.ep.get().is_null() {
            unsafe { ep::uct_ep_destroy(ep) };
        }
        drop(y);
    }
}

/// A handler that turns the sender of a message away, when it is told to.
struct Rejector {
    iface: uct_iface_h,
    active: Cell<bool>,
    answers: RefCell<Vec<bool>>,
}

unsafe extern "C" fn rejects(arg: *mut c_void, _: *mut c_void, _: usize, _: u32) -> i8 {
    let r = unsafe { &*arg.cast::<Rejector>() };
    let answer = r.active.get() && unsafe { InternalRef::of(r.iface) }.reject_sender();
    r.answers.borrow_mut().push(answer);
    UCS_OK
}

/// Transports of a network close the connection of a peer whose messages are too many; its endpoint fails, and another
/// peer's does not.
pub fn a_sender_is_turned_away(tl: &Tl) {
    let receiver = Side::open(tl, Options::default());
    let needed = UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_AM_BCOPY;
    if tl.transport == "self" || receiver.attr.cap.flags & needed != needed {
        return;
    }
    let failures = UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE & receiver.attr.cap.flags != 0;
    let options = Options {
        failures,
        ..Options::default()
    };
    let senders = [Side::open(tl, options), Side::open(tl, options)];
    let eps = senders.each_ref().map(|s| s.connect(&receiver.address()));
    let rejector = Rejector {
        iface: receiver.iface,
        active: Cell::new(false),
        answers: RefCell::default(),
    };
    receiver.record_all();
    let arg = std::ptr::from_ref(&rejector).cast_mut().cast();
    let set = unsafe { iface::uct_iface_set_am_handler(receiver.iface, 5, Some(rejects), arg, 0) };
    assert_eq!(set, UCS_OK);
    let until = |what: &str, done: &mut dyn FnMut() -> bool| {
        let since = Instant::now();
        while !done() {
            for side in senders.iter().chain([&receiver]) {
                side.progress();
            }
            assert!(since.elapsed() < PATIENCE, "{what}");
        }
    };
    let sends = |i: usize, id: u8| {
        until("sent", &mut || eps[i].am_bcopy(id, b"x") == 1);
    };
    let answers = || rejector.answers.borrow().len();
    sends(0, 5);
    sends(1, 7);
    until("received", &mut || {
        answers() == 1 && receiver.inbox.messages.borrow().len() == 1
    });
    rejector.active.set(true);
    sends(0, 5);
    until("turned away", &mut || answers() == 2);
    rejector.active.set(false);
    let is_closed = rejector.answers.borrow()[1];
    assert_eq!(
        is_closed,
        matches!(tl.transport, "tcp" | "rc_verbs" | "ud_verbs")
    );
    if is_closed {
        until("failed", &mut || {
            // It may find out when it sends.
            eps[0].am_bcopy(5, b"x");
            !senders[0].failures.0.borrow().is_empty()
        });
    } else {
        sends(0, 5);
        until("received", &mut || answers() == 3);
        assert!(senders[0].failures.0.borrow().is_empty());
    }
    sends(1, 7);
    until("received", &mut || {
        receiver.inbox.messages.borrow().len() == 2
    });
    assert!(senders[1].failures.0.borrow().is_empty());
}
