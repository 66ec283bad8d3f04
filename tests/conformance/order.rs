//! Order, back-pressure, pending requests and flush.

use crate::endpoint::{Comp, Ep};
use crate::pair::{Pair, connect_eps};
use crate::side::{Options, PATIENCE, Side, Tl, pattern};
use ferrucx::c::*;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Instant;

pub fn messages_of_an_endpoint_stay_in_order(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap;
    let short = cap.flags & UCT_IFACE_FLAG_AM_SHORT != 0;
    let bcopy = cap.flags & UCT_IFACE_FLAG_AM_BCOPY != 0;
    let zcopy = cap.flags & UCT_IFACE_FLAG_AM_ZCOPY != 0;
    if !short && !bcopy {
        assert!(!zcopy, "no transport has zcopy alone");
        return;
    }
    let local = zcopy.then(|| pair.a().memory(4096));
    const COUNT: u64 = 6000;
    for seq in 0..COUNT {
        let kind = seq % 7;
        if short && kind < 4 || !bcopy {
            assert_eq!(pair.insist(|| pair.ep.am_short(0, seq, b"tail")), 0);
        } else if let Some(local) = local.as_ref().filter(|_| kind == 6 && cap.am.max_hdr >= 8) {
            let list = [uct_iov_t {
                buffer: local.address() as *mut c_void,
                length: 1000,
                memh: local.memh(),
                stride: 0,
                count: 1,
            }];
            let op = |comp| pair.ep.am_zcopy(0, &seq.to_ne_bytes(), &list, comp);
            assert_eq!(pair.complete(op), UCS_OK);
        } else {
            let mut data = seq.to_ne_bytes().to_vec();
            data.resize(
                8 + (seq as usize * 37) % (cap.am.max_bcopy.min(4000) - 8),
                1,
            );
            let sent = pair.insist(|| pair.ep.am_bcopy(0, &data));
            assert_eq!(sent, data.len() as isize);
        }
        // The receiver lags behind: rings and sockets fill up and wrap.
        if seq % 400 == 399 {
            pair.until(|| pair.b().inbox.messages.borrow().len() as u64 > seq);
        }
    }
    let got: Vec<u64> = pair
        .take(COUNT as usize)
        .iter()
        .map(|m| u64::from_ne_bytes(m.data[..8].try_into().unwrap()))
        .collect();
    assert_eq!(got, (0..COUNT).collect::<Vec<_>>());
}

/// A pending request that sends its number.
#[repr(C)]
pub struct Request {
    pub base: uct_pending_req_t,
    ep: uct_ep_h,
    which: usize,
    seq: usize,
    log: *const RefCell<Vec<(usize, usize)>>,
}

unsafe extern "C" fn serve(request: *mut uct_pending_req_t) -> i8 {
    let r = unsafe { &*request.cast::<Request>() };
    let ep = std::mem::ManuallyDrop::new(Ep(r.ep));
    let mut data = vec![0u8; 64];
    data[0] = r.which as u8;
    data[1..9].copy_from_slice(&r.seq.to_ne_bytes());
    let sent = ep.am_bcopy(7, &data);
    if sent == 64 {
        unsafe { &*r.log }.borrow_mut().push((r.which, r.seq));
        UCS_OK
    } else {
        sent as i8
    }
}

/// Sends until the transport has had enough; false when it never has.
fn fill(pair: &Pair, ep: &Ep, data: &[u8]) -> bool {
    let first = pair.insist(|| ep.am_bcopy(1, data));
    assert_eq!(first, data.len() as isize);
    for _ in 0..20_000 {
        match ep.am_bcopy(1, data) {
            n if n == data.len() as isize => {}
            n => {
                assert_eq!(n, UCS_ERR_NO_RESOURCE as isize);
                return true;
            }
        }
    }
    false
}

pub fn request(
    ep: &Ep,
    which: usize,
    seq: usize,
    log: &RefCell<Vec<(usize, usize)>>,
) -> Box<Request> {
    Box::new(Request {
        base: uct_pending_req_t {
            func: Some(serve),
            r#priv: [0; 40],
        },
        ep: ep.0,
        which,
        seq,
        log,
    })
}

/// Whether nothing is ever in the way: then a request cannot be queued.
fn always_free(pair: &Pair, data: &[u8]) -> bool {
    let log = RefCell::new(Vec::new());
    if pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) && fill(pair, &pair.ep, data) {
        return false;
    }
    let mut r = request(&pair.ep, 0, 0, &log);
    assert_eq!(unsafe { pair.ep.pending_add(&mut r.base) }, UCS_ERR_BUSY);
    assert!(log.borrow().is_empty());
    true
}

pub fn pending_requests_are_served_in_turn(tl: &Tl) {
    let pair = Pair::new(tl);
    let data = pattern(pair.a().attr.cap.am.max_bcopy.min(4096), 5);
    if always_free(&pair, &data) {
        return;
    }
    let more: Vec<Ep> = if pair.connected_by_ep() {
        Vec::new()
    } else {
        (0..2)
            .map(|_| pair.a().connect(&pair.b().address()))
            .collect()
    };
    let eps: Vec<&Ep> = std::iter::once(&pair.ep).chain(&more).collect();
    // Every endpoint gets through once before the receiver stops, so that all are connected.
    for ep in &eps {
        assert_eq!(pair.insist(|| ep.am_bcopy(2, b"hello")), 5);
    }
    for ep in &eps {
        assert!(fill(&pair, ep, &data));
    }
    let log = RefCell::new(Vec::new());
    let mut requests = Vec::new();
    const EACH: usize = 20;
    for seq in 0..EACH {
        for (which, ep) in eps.iter().enumerate() {
            let mut r = request(ep, which, seq, &log);
            assert_eq!(unsafe { ep.pending_add(&mut r.base) }, UCS_OK);
            requests.push(r);
        }
    }
    // Whoever sends now goes behind those who wait.
    assert_eq!(eps[0].am_bcopy(3, b"late"), UCS_ERR_NO_RESOURCE as isize);
    pair.until(|| log.borrow().len() == EACH * eps.len());
    let log = log.borrow();
    for which in 0..eps.len() {
        let own: Vec<usize> = log.iter().filter(|x| x.0 == which).map(|x| x.1).collect();
        assert_eq!(
            own,
            (0..EACH).collect::<Vec<_>>(),
            "order of endpoint {which}"
        );
    }
    if !["tcp", "rc_verbs", "ud_verbs"].contains(&tl.transport) {
        // Endpoints that share one queue to the peer are served in turn; tcp's own sockets open up
        // in the order in which the kernel has room, RDMA transports' own windows in the order of the acknowledgements and grants.
        let mut counts = vec![0usize; eps.len()];
        for (which, _) in log.iter() {
            counts[*which] += 1;
            let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
            assert!(spread <= 2, "one endpoint starves: {counts:?}");
        }
    }
    let count = EACH * eps.len();
    let arrived = || {
        let all = pair.b().inbox.messages.borrow();
        all.iter().filter(|m| m.id == 7).count()
    };
    pair.until(|| arrived() == count);
}

unsafe extern "C" fn collect(request: *mut uct_pending_req_t, arg: *mut c_void) {
    let r = unsafe { &*request.cast::<Request>() };
    unsafe { &mut *arg.cast::<Vec<usize>>() }.push(r.seq);
}

pub fn pending_requests_are_purged(tl: &Tl) {
    let pair = Pair::new(tl);
    let data = pattern(pair.a().attr.cap.am.max_bcopy.min(4096), 5);
    if always_free(&pair, &data) {
        // An empty queue is purged quietly, with and without a callback.
        pair.ep.pending_purge_all();
        pair.ep.pending_purge(None, null_mut());
        return;
    }
    let log = RefCell::new(Vec::new());
    let mut requests: Vec<Box<Request>> =
        (0..5).map(|seq| request(&pair.ep, 0, seq, &log)).collect();
    for r in &mut requests {
        assert_eq!(unsafe { pair.ep.pending_add(&mut r.base) }, UCS_OK);
    }
    let mut purged: Vec<usize> = Vec::new();
    pair.ep
        .pending_purge(Some(collect), std::ptr::from_mut(&mut purged).cast());
    assert_eq!(purged, [0, 1, 2, 3, 4]);
    drop(requests);
    let sent = pair.insist(|| pair.ep.am_bcopy(9, b"after"));
    assert_eq!(sent, 5);
    pair.until(|| {
        let all = pair.b().inbox.messages.borrow();
        all.iter().any(|m| m.id == 9)
    });
    assert!(log.borrow().is_empty(), "a purged request is not served");
}

pub fn flush_completes(tl: &Tl) {
    let pair = Pair::new(tl);
    let iface_flush = pair.a().ops().iface_flush.unwrap();
    for _ in 0..3 {
        let status = pair.complete(|comp| pair.ep.flush(UCT_FLUSH_FLAG_LOCAL, comp));
        assert_eq!(status, UCS_OK);
        let status = pair.complete(|comp| pair.ep.flush(UCT_FLUSH_FLAG_REMOTE, comp));
        assert!([UCS_OK, UCS_ERR_UNSUPPORTED].contains(&status), "{status}");
        // Without a completion it is asked again until done.
        let deadline = Instant::now() + PATIENCE;
        while pair.insist(|| pair.ep.flush(UCT_FLUSH_FLAG_LOCAL, null_mut())) != 0 {
            pair.progress();
            assert!(Instant::now() < deadline);
        }
        while pair.insist(|| unsafe { iface_flush(pair.a().iface, 0, null_mut()) }) != 0 {
            pair.progress();
            assert!(Instant::now() < deadline);
        }
        assert_eq!(pair.ep.fence(), UCS_OK);
        let fence = pair.a().ops().iface_fence.unwrap();
        assert_eq!(unsafe { fence(pair.a().iface, 0) }, UCS_OK);
        if pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) {
            assert_eq!(pair.insist(|| pair.ep.am_bcopy(1, b"between")), 7);
            assert_eq!(pair.take(1)[0].data, b"between");
        }
    }
    let status = pair.complete(|comp| pair.ep.flush(UCT_FLUSH_FLAG_CANCEL, comp));
    assert!([UCS_OK, UCS_ERR_CANCELED].contains(&status), "{status}");
}

/// After a flush all that was sent before has left, and arrives.
pub fn flush_waits_for_what_was_sent(tl: &Tl) {
    let pair = Pair::new(tl);
    if !pair.a().can(UCT_IFACE_FLAG_AM_BCOPY) {
        assert_eq!(pair.a().attr.cap.am.max_bcopy, 0);
        return;
    }
    let data = pattern(pair.a().attr.cap.am.max_bcopy.min(4096), 1);
    for round in 1..=20 {
        for _ in 0..round {
            let sent = pair.insist(|| pair.ep.am_bcopy(1, &data));
            assert_eq!(sent, data.len() as isize);
        }
        let comp = Comp::new(2);
        let ptr = comp.ptr();
        let status = pair.insist(|| pair.ep.flush(UCT_FLUSH_FLAG_LOCAL, ptr)) as i8;
        if status == UCS_INPROGRESS {
            pair.until(|| comp.count() == 1);
            assert_eq!(comp.calls(), 0, "a count of 2 is not done after one");
        } else {
            assert_eq!(status, UCS_OK);
            assert_eq!(
                comp.count(),
                2,
                "done at once: the completion is not touched"
            );
        }
        assert_eq!(pair.take(round).len(), round);
    }
}

/// Endpoints that are made without an address and then shown to each other.
pub fn endpoints_connect_to_each_other(tl: &Tl) {
    let sides = [
        Side::open(tl, Options::default()),
        Side::open(&tl.far(), Options::default()),
    ];
    let [a, b] = &sides;
    if !a.can(UCT_IFACE_FLAG_CONNECT_TO_EP) {
        assert!(a.try_connect(std::ptr::null(), std::ptr::null()).is_err());
        return;
    }
    for round in 0..20u64 {
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(a, &x, b, &y);
        let deadline = Instant::now() + PATIENCE;
        for (from, ep, to) in [(a, &x, b), (b, &y, a)] {
            for seq in 0..100u64 {
                let data = (round * 1000 + seq).to_ne_bytes();
                while ep.am_bcopy(2, &data) != 8 {
                    a.progress();
                    b.progress();
                    assert!(Instant::now() < deadline, "not connected");
                }
            }
            while to.inbox.messages.borrow().len() < 100 {
                from.progress();
                to.progress();
                assert!(Instant::now() < deadline, "nothing arrives");
            }
            let all = std::mem::take(&mut *to.inbox.messages.borrow_mut());
            for (seq, m) in all.iter().enumerate() {
                assert_eq!(m.data, (round * 1000 + seq as u64).to_ne_bytes());
            }
        }
    }
}
