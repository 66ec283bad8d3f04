//! What is particular to RDMA transports: addresses of endpoints, peers that are gone.

use crate::datagrams::{UD, setting};
use crate::endpoint::{Comp, Ep};
use crate::order::request;
use crate::pair::{Pair, connect_eps, connect_to_ep, ep_address};
use crate::side::{Options, PATIENCE, Security, Side, Tl, pattern, torture, watched};
use crate::test_rng::TestRng;
use ferrucx::abi::uct::{ep, iface, md};
use ferrucx::c::verbs::*;
use ferrucx::c::*;
use ferrucx::sys::verbs::{
    Access, Caps, CompletionQueue, Completions, Device, QueuePair, Receives, Region, Route,
};
use ferrucx::ucs::topo;
use ferrucx::uct::ib::wire::{DeviceAddr, EpAddr, Link};
use std::cell::RefCell;
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;

pub const RC: Tl = Tl {
    component: "ib",
    transport: "rc_verbs",
    device: "fake0:1",
    security: Security::Off,
};

pub fn with_failures() -> Options {
    Options {
        failures: true,
        ..Options::default()
    }
}

#[test]
fn damaged_addresses_are_refused() {
    watched(|| {
        let (a, b) = (
            Side::open(&RC, Options::default()),
            Side::open(&RC, Options::default()),
        );
        let (x, y) = (a.new_ep(), b.new_ep());
        let (device, addr) = (b.address().0, ep_address(&b, &y));
        let connect = |device: &[u8], addr: &[u8]| unsafe {
            ep::uct_ep_connect_to_ep(x.0, device.as_ptr().cast(), addr.as_ptr().cast())
        };
        let rng = TestRng::new(77);
        for _ in 0..500 {
            let bad = |n: usize| -> Vec<u8> { (0..n).map(|_| rng.below(256) as u8).collect() };
            let (other_device, other) = (bad(device.len()), bad(addr.len()));
            assert!(connect(&other_device, &addr) < 0);
            assert!(connect(&device, &other) < 0);
        }
        assert!(
            x.am_short(1, 0, &[]) == UCS_ERR_NO_RESOURCE,
            "not connected"
        );
        assert_eq!(connect(&device, &addr), UCS_OK);
        assert_eq!(connect(&device, &addr), UCS_ERR_ALREADY_EXISTS);
        connect_to_ep(&y, &a.address().0, &ep_address(&a, &x));
        assert_eq!(x.am_short(1, 0, &[]), UCS_OK);
    });
}

/// Everything that is under way to a peer that goes ends with an error, and the user is told once.
#[test]
fn a_peer_that_goes_ends_what_is_under_way() {
    watched(|| {
        let a = Side::open(&RC, with_failures());
        let b = Side::open(&RC, with_failures());
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        let (local, memory) = (a.memory(4096), b.memory(4096));
        let key = a.key(&memory.packed);
        assert_eq!(x.am_bcopy(1, b"hello"), 5);
        until(&[&a, &b], || !b.inbox.messages.borrow().is_empty());
        drop(y);
        let comps = [Comp::new(1), Comp::new(1), Comp::new(1)];
        let list = [uct_iov_t {
            buffer: local.address() as *mut _,
            length: 100,
            memh: local.memh(),
            stride: 0,
            count: 1,
        }];
        let (remote, rkey) = (memory.address(), key.rkey());
        let posted = [
            x.am_zcopy(1, b"head", &list, comps[0].ptr()),
            x.put_zcopy(&list, remote, rkey, comps[1].ptr()),
            x.get_zcopy(&list, remote, rkey, comps[2].ptr()),
        ];
        assert_eq!(posted, [UCS_INPROGRESS; 3]);
        until(&[&a, &b], || !a.failures.0.borrow().is_empty());
        for comp in &comps {
            assert_eq!((comp.calls(), comp.status()), (1, UCS_ERR_ENDPOINT_TIMEOUT));
        }
        for _ in 0..100 {
            a.progress();
        }
        let failures = a.failures.0.borrow();
        assert_eq!(failures.len(), 1);
        assert_eq!(
            (failures[0].0, failures[0].1),
            (x.0, UCS_ERR_ENDPOINT_TIMEOUT)
        );
        assert_eq!(x.am_bcopy(1, b"late"), UCS_ERR_ENDPOINT_TIMEOUT as isize);
        let flushed = x.flush(UCT_FLUSH_FLAG_LOCAL, null_mut());
        assert_eq!(flushed, UCS_ERR_ENDPOINT_TIMEOUT);
        let cancelled = x.flush(UCT_FLUSH_FLAG_CANCEL, null_mut());
        assert_eq!(cancelled, UCS_OK, "nothing is under way any more");
    });
}

/// A queue pair of a peer that is not this library.
struct Stranger {
    pair: QueuePair,
    /// What it sends from.
    region: Region,
    memory: Box<[u8]>,
    queue: Rc<CompletionQueue>,
}

impl Stranger {
    /// Connected to an endpoint of ours, which is connected to it.
    fn new(side: &Side, ep: &Ep) -> Stranger {
        let device = Device::open("fake0").unwrap();
        let queue = CompletionQueue::new(&device, 1000).unwrap();
        let caps = Caps {
            send_queue: 100,
            send_sges: 1,
            inline: 0,
        };
        let pair = QueuePair::new(&device, &queue, &Rc::new(Receives::Own(0, None)), caps).unwrap();
        pair.initialize(1, 0).unwrap();
        let own_device = side.address().0;
        let address = DeviceAddr::decode(own_device[..].try_into().unwrap()).unwrap();
        let theirs = EpAddr::decode(ep_address(side, ep)[..].try_into().unwrap()).unwrap();
        let ethernet = address.link != Link::InfiniBand;
        const PSN: u32 = 77;
        // SAFETY: plain integers.
        let mut way: ibv_ah_attr = unsafe { std::mem::zeroed() };
        way.dlid = address.lid;
        way.is_global = ethernet.into();
        way.grh.dgid.raw = address.gid;
        way.grh.hop_limit = 1;
        way.port_num = 1;
        way.grh.sgid_index = u8::from(ethernet);
        pair.connect(&Route {
            peer: theirs.queue_pair,
            mtu: address.mtu.into(),
            receive_psn: theirs.psn,
            send_psn: PSN,
            address: way,
            answered_reads: 1,
            asked_reads: 1,
            timeout: 14,
            retries: 3,
            rnr_retries: 7,
            rnr_timer: 1,
        })
        .unwrap();
        let us = EpAddr {
            queue_pair: pair.number(),
            psn: PSN,
            segment: 1 << 20,
            reads: 1,
        };
        connect_to_ep(ep, &own_device, &us.encode());
        let memory = vec![0; 1 << 16].into_boxed_slice();
        let at = memory.as_ptr() as usize;
        let region = device
            .register(at, memory.len(), Access::default())
            .unwrap();
        Stranger {
            pair,
            region,
            memory,
            queue,
        }
    }

    /// Sends these bytes; the status of the completion.
    fn send(&mut self, side: &Side, bytes: &[u8]) -> u32 {
        self.post(bytes);
        self.wait(side)
    }

    fn post(&mut self, bytes: &[u8]) {
        self.memory[..bytes.len()].copy_from_slice(bytes);
        let mut list = [ibv_sge {
            addr: self.memory.as_ptr() as u64,
            length: bytes.len() as u32,
            lkey: self.region.local_key(),
        }];
        // SAFETY: plain integers and null pointers.
        let mut request: ibv_send_wr = unsafe { std::mem::zeroed() };
        request.sg_list = list.as_mut_ptr();
        request.num_sge = 1;
        request.opcode = IBV_WR_SEND;
        request.send_flags = IBV_SEND_SIGNALED;
        // SAFETY: the memory lives until the completion, which is waited for.
        unsafe { self.pair.post(&mut request) }.unwrap();
    }

    /// The status of the next completion.
    fn wait(&mut self, side: &Side) -> u32 {
        let (mut done, mut status) = (Completions::<1>::new(), None);
        until(&[side], || {
            let came = self.queue.poll(&mut done).unwrap();
            status = came.first().map(|completion| completion.status);
            status.is_some()
        });
        status.unwrap()
    }
}

/// Bytes that no peer of ours sends harm at most the endpoint that they come to.
#[test]
fn strangers_harm_their_own_endpoint_alone() {
    watched(|| {
        let a = Side::open(&RC, with_failures());
        let b = Side::open(&RC, with_failures());
        let (x, y, z) = (a.new_ep(), b.new_ep(), a.new_ep());
        connect_eps(&a, &x, &b, &y);
        let mut stranger = Stranger::new(&a, &z);
        let rng = TestRng::new(torture("TORTURE_SEED", 5) as u64);
        // No header, half a header, ids that nobody has, claims of credits, grants that nobody asked for.
        let mut bad: Vec<Vec<u8>> = vec![
            vec![],
            vec![1],
            vec![32, 0],
            vec![0xfe, 0xff],
            vec![0xff, 0],
        ];
        bad.extend((0..torture("TORTURE_COUNT", 300)).map(|i| {
            let len = i % 40;
            let mut bytes: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            if let Some(id) = bytes.first_mut() {
                *id |= 32;
            }
            bytes
        }));
        for bytes in &bad {
            assert_eq!(stranger.send(&a, bytes), IBV_WC_SUCCESS, "{bytes:x?}");
        }
        for _ in 0..100 {
            a.progress();
        }
        assert!(a.inbox.messages.borrow().is_empty());
        assert!(a.failures.0.borrow().is_empty());
        // A message longer than a receive buffer ends the connection.
        let long = vec![1; 1 << 15];
        assert_ne!(stranger.send(&a, &long), IBV_WC_SUCCESS);
        until(&[&a], || a.failures.0.borrow().len() == 1);
        assert_eq!(a.failures.0.borrow()[0].0, z.0);
        assert_eq!(x.am_bcopy(3, b"still here"), 10);
        assert_eq!(y.am_bcopy(3, b"here too"), 8);
        until(&[&a, &b], || {
            let all = [&a, &b].map(|side| side.inbox.messages.borrow().len());
            all == [1, 1]
        });
        assert_eq!(a.failures.0.borrow().len(), 1);
    });
}

/// A peer that sends without credits is held up by the device at most: others go on.
#[test]
fn strangers_that_send_more_than_their_credits() {
    watched(|| {
        let a = Side::open(&RC, with_failures());
        let b = Side::open(&RC, with_failures());
        let (x, y, z) = (a.new_ep(), b.new_ep(), a.new_ep());
        connect_eps(&a, &x, &b, &y);
        let mut stranger = Stranger::new(&a, &z);
        const AT_ONCE: usize = 90;
        // A window has 512 messages.
        for round in 0..40u64 {
            for _ in 0..AT_ONCE {
                stranger.post(&[1, 0, 7, 7]);
            }
            until(&[&a, &b], || y.am_short(2, round, &[]) == UCS_OK);
            for _ in 0..AT_ONCE {
                assert_eq!(stranger.wait(&a), IBV_WC_SUCCESS);
            }
            until(&[&a, &b], || x.am_short(2, round, &[]) == UCS_OK);
        }
        let came = |side: &Side, id| {
            let messages = side.inbox.messages.borrow();
            messages.iter().filter(|m| m.id == id).count()
        };
        until(&[&a, &b], || came(&a, 2) == 40 && came(&b, 2) == 40);
        assert_eq!(came(&a, 1), 40 * AT_ONCE);
        let failures = a.failures.0.borrow();
        assert!(failures.iter().all(|failure| failure.0 == z.0));
        assert!(b.failures.0.borrow().is_empty());
    });
}

/// More requests than an interface may have under way, from many endpoints at once: all go out, none is lost.
#[test]
fn many_endpoints_share_what_an_interface_may_have_under_way() {
    watched(|| {
        let a = Side::open(&RC, Options::default());
        let b = Side::open(&RC, Options::default());
        let eps: Vec<(Ep, Ep)> = (0..200).map(|_| (a.new_ep(), b.new_ep())).collect();
        for (x, y) in &eps {
            connect_eps(&a, x, &b, y);
        }
        let memory = b.memory(8 * eps.len());
        let key = a.key(&memory.packed);
        const ROUNDS: u64 = 100;
        for round in 1..=ROUNDS {
            for (i, (x, _)) in eps.iter().enumerate() {
                let remote = memory.address() + 8 * i as u64;
                let data = (round << 32 | i as u64).to_ne_bytes();
                until(&[&a], || x.put_short(&data, remote, key.rkey()) == UCS_OK);
            }
        }
        let flush = a.ops().iface_flush.unwrap();
        until(&[&a], || unsafe { flush(a.iface, 0, null_mut()) } == UCS_OK);
        for (i, word) in memory.bytes().chunks(8).enumerate() {
            assert_eq!(word, (ROUNDS << 32 | i as u64).to_ne_bytes());
        }
    });
}

/// A child of fork() that closes what it has from its parent does not close what its parent has.
#[test]
fn a_child_that_closes_leaves_its_parent_alone() {
    watched(|| {
        let a = Side::open(&RC, with_failures());
        let b = Side::open(&RC, with_failures());
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        let memory = b.memory(4096);
        let key = a.key(&memory.packed);
        match unsafe { libc::fork() } {
            0 => {
                drop((x, y, key, memory));
                unsafe { libc::_exit(0) };
            }
            child => {
                let mut status = -1;
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0);
            }
        }
        assert_eq!(x.put_short(&[7; 8], memory.address(), key.rkey()), UCS_OK);
        assert_eq!(x.am_bcopy(1, b"hello"), 5);
        until(&[&a, &b], || !b.inbox.messages.borrow().is_empty());
        assert_eq!(memory.bytes()[..8], [7; 8]);
        assert!(a.failures.0.borrow().is_empty());
    });
}

/// An interface begins with few receive buffers, and has more once messages come faster than they are handled.
#[test]
fn receive_buffers_grow_with_the_traffic() {
    watched(|| {
        let a = Side::open(&RC, Options::default());
        let b = Side::open(&RC, Options::default());
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        const BURST: usize = 200;
        // Sends without a receive buffer are not complete before the receiver polls.
        let burst_fits = || {
            for _ in 0..BURST {
                until(&[&a], || x.am_short(1, 0, &[]) == UCS_OK);
            }
            let done = (0..1000).any(|_| {
                a.progress();
                x.flush(UCT_FLUSH_FLAG_LOCAL, null_mut()) == UCS_OK
            });
            until(&[&a, &b], || b.inbox.messages.borrow().len() == BURST);
            b.inbox.messages.borrow_mut().clear();
            done
        };
        assert!(!burst_fits(), "so many buffers from the start");
        for _ in 0..10_000 {
            until(&[&a, &b], || x.am_short(1, 0, &[]) == UCS_OK);
        }
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 10_000);
        b.inbox.messages.borrow_mut().clear();
        assert!(burst_fits(), "no more buffers than at the start");
    });
}

/// The device fails (`FAKE_VERBS=fatal=100`): all endpoints fail, what is under way ends, and the interface can be closed.
#[test]
#[ignore = "needs a device that fails: run by tests/verbs"]
fn a_device_that_fails_fails_all_endpoints() {
    watched(|| {
        let a = Side::open(&RC, with_failures());
        let b = Side::open(&RC, with_failures());
        let eps: Vec<(Ep, Ep)> = (0..3).map(|_| (a.new_ep(), b.new_ep())).collect();
        for (x, y) in &eps {
            connect_eps(&a, x, &b, y);
        }
        let mut fd = -1;
        let got = unsafe { iface::uct_iface_event_fd_get(a.iface, &mut fd) };
        assert_eq!(got, UCS_OK);
        for _ in 0..100 {
            assert_eq!(eps[0].0.am_short(1, 0, &[]), UCS_OK);
        }
        // The async thread hears of it and wakes who waits.
        let mut p = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        assert_eq!(unsafe { libc::poll(&mut p, 1, 5000) }, 1);
        until(&[&a, &b], || {
            a.failures.0.borrow().len() == 3 && b.failures.0.borrow().len() == 3
        });
        for (x, _) in &eps {
            assert!(x.am_short(1, 0, &[]) < 0);
        }
    });
}

/// Three endpoints of one side, each connected to one of another; the first side is armed to sleep.
fn three_pairs() -> (Side, Side, Vec<(Ep, Ep)>) {
    let a = Side::open(&RC, with_failures());
    let b = Side::open(&RC, with_failures());
    let eps: Vec<(Ep, Ep)> = (0..3).map(|_| (a.new_ep(), b.new_ep())).collect();
    for (x, y) in &eps {
        connect_eps(&a, x, &b, y);
    }
    (a, b, eps)
}

/// Arms a side, sends the one message after which the device reports its event, sleeps until it is heard of, and makes one
/// progress.
fn sleep_over_event(a: &Side, from: &Ep) {
    let mut fd = -1;
    let got = unsafe { iface::uct_iface_event_fd_get(a.iface, &mut fd) };
    assert_eq!(got, UCS_OK);
    let all = UCT_EVENT_SEND_COMP | UCT_EVENT_RECV;
    until(
        &[a],
        || unsafe { iface::uct_iface_event_arm(a.iface, all) } == UCS_OK,
    );
    assert_eq!(from.am_short(1, 0, &[]), UCS_OK);
    let mut p = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    assert_eq!(unsafe { libc::poll(&mut p, 1, 5000) }, 1);
    a.progress();
    // What woke is done with.
    until(
        &[a],
        || unsafe { iface::uct_iface_event_arm(a.iface, all) } == UCS_OK,
    );
    assert_eq!(unsafe { libc::poll(&mut p, 1, 0) }, 0);
}

/// The port goes down (`FAKE_VERBS=event=10,at=1`): endpoints fail that send nothing, of one who sleeps and of one who
/// polls. Packets still pass, so it is the event that fails them. What is connected later works.
#[test]
#[ignore = "needs a device with events: run by tests/verbs"]
fn a_port_that_goes_down_fails_the_endpoints_that_there_are() {
    watched(|| {
        let (a, b, eps) = three_pairs();
        sleep_over_event(&a, &eps[0].0);
        let timed_out = |side: &Side| {
            let failures = side.failures.0.borrow();
            assert!(failures.iter().all(|f| f.1 == UCS_ERR_ENDPOINT_TIMEOUT));
            failures.len()
        };
        assert_eq!(timed_out(&a), 3);
        until(&[&b], || timed_out(&b) == 3);
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        until(&[&a, &b], || x.am_short(2, 0, &[]) == UCS_OK);
        until(&[&a, &b], || {
            b.inbox.messages.borrow().iter().any(|m| m.id == 2)
        });
        assert_eq!((timed_out(&a), timed_out(&b)), (3, 3));
    });
}

/// A queue pair has a fatal error (`FAKE_VERBS=event=1,at=1`, 2 and 3 too): its endpoint fails, and no other.
#[test]
#[ignore = "needs a device with events: run by tests/verbs"]
fn an_event_of_a_queue_pair_fails_its_endpoint_alone() {
    watched(|| {
        let (a, b, eps) = three_pairs();
        sleep_over_event(&a, &eps[0].0);
        let failures: Vec<_> = a.failures.0.borrow().iter().map(|f| (f.0, f.1)).collect();
        assert_eq!(failures, [(eps[0].0.0, UCS_ERR_CONNECTION_RESET)]);
        assert!(eps[0].0.am_short(1, 0, &[]) < 0);
        for (x, _) in &eps[1..] {
            assert_eq!(x.am_short(2, 0, &[]), UCS_OK);
        }
        until(&[&a, &b], || {
            b.inbox
                .messages
                .borrow()
                .iter()
                .filter(|m| m.id == 2)
                .count()
                == 2
        });
        assert_eq!(a.failures.0.borrow().len(), 1);
    });
}

/// A queue of an interface fails (`FAKE_VERBS=event=0,at=1`, 14 too): its endpoints fail, and none of another interface.
#[test]
#[ignore = "needs a device with events: run by tests/verbs"]
fn an_event_of_a_queue_fails_its_interface_alone() {
    watched(|| {
        let (a, _b, eps) = three_pairs();
        let (c, d) = (
            Side::open(&RC, with_failures()),
            Side::open(&RC, with_failures()),
        );
        let (z, w) = (c.new_ep(), d.new_ep());
        connect_eps(&c, &z, &d, &w);
        sleep_over_event(&a, &eps[0].0);
        assert_eq!(a.failures.0.borrow().len(), 3);
        until(&[&c, &d], || z.am_short(2, 0, &[]) == UCS_OK);
        until(&[&c, &d], || d.inbox.messages.borrow().len() == 1);
        assert!(c.failures.0.borrow().is_empty() && d.failures.0.borrow().is_empty());
    });
}

/// With `UCX_IB_ASYNC_EVENTS=n` nothing is heard of a port that goes down.
#[test]
#[ignore = "needs a device with events: run by tests/verbs"]
fn without_events_endpoints_live_on() {
    watched(|| {
        let (a, b, eps) = three_pairs();
        for (x, _) in &eps {
            assert_eq!(x.am_short(1, 0, &[]), UCS_OK);
        }
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 3);
        assert!(a.failures.0.borrow().is_empty() && b.failures.0.borrow().is_empty());
    });
}

/// A port whose interface has no route to the peer's address reaches it only in another mode.
#[test]
#[ignore = "needs a network interface: run by tests/verbs"]
fn peers_without_a_route_are_not_reached() {
    watched(|| {
        let a = Side::open(&RC, Options::default());
        let (device, face) = a.address();
        let mode = std::env::var("UCX_IB_ROCE_REACHABILITY_MODE");
        assert_eq!(a.reaches(&device, &face), mode.is_ok());
    });
}

/// Memory is registered without pinning where that is asked for and the device can (`FAKE_VERBS=odp=1`), and its pages are
/// fetched on advice, or at once with `UCX_IB_ODP_PREFETCH=y`.
#[test]
#[ignore = "counts what the process pins: run alone by tests/verbs"]
fn memory_that_is_not_pinned_is_fetched_on_advice() {
    let a = Side::open(&RC, Options::default());
    let count = |name| setting(name).load(Ordering::Relaxed);
    let types = std::env::var("UCX_IB_ODP_MEM_TYPES");
    let on_demand = count(c"odp") == 1 && types.as_deref() != Ok("");
    let ahead = on_demand && std::env::var("UCX_IB_ODP_PREFETCH").is_ok();
    // SAFETY: plain integers.
    let mut attr: uct_md_attr_v2_t = unsafe { std::mem::zeroed() };
    attr.field_mask = u64::from(UCT_MD_ATTR_FIELD_FLAGS | UCT_MD_ATTR_FIELD_REG_NONBLOCK_MEM_TYPES);
    // SAFETY: an open domain and a writable struct.
    assert_eq!(unsafe { md::uct_md_query_v2(a.md, &mut attr) }, UCS_OK);
    assert_eq!(attr.flags & u64::from(UCT_MD_FLAG_ADVISE) != 0, on_demand);
    assert_eq!(attr.reg_nonblock_mem_types, u64::from(on_demand));
    let mut buffer = vec![0u8; 8192];
    let at: *mut u8 = buffer.as_mut_ptr();
    let writable = UCT_MD_MEM_ACCESS_LOCAL_READ | UCT_MD_MEM_ACCESS_LOCAL_WRITE;
    for access in [writable, UCT_MD_MEM_ACCESS_LOCAL_READ] {
        let before = [c"pinned", c"advised", c"wanted"].map(count);
        let mut memh = null_mut();
        let flags = access | UCT_MD_MEM_FLAG_NONBLOCK;
        // SAFETY: live memory and a writable handle.
        let status = unsafe { md::uct_md_mem_reg(a.md, at.cast(), 8192, flags, &mut memh) };
        assert_eq!(status, UCS_OK);
        let advise = |offset: usize, length: usize, advice| {
            let part = at.wrapping_add(offset).cast();
            // SAFETY: a registered region; the range is checked.
            unsafe { md::uct_md_mem_advise(a.md, memh, part, length, advice) }
        };
        assert_eq!(advise(4096, 4096, UCT_MADV_WILLNEED), UCS_OK);
        assert_eq!(advise(0, 8192, UCT_MADV_NORMAL), UCS_OK);
        assert_eq!(advise(4096, 4097, UCT_MADV_WILLNEED), UCS_ERR_INVALID_PARAM);
        assert_eq!(advise(0, 1, 77), UCS_ERR_INVALID_PARAM);
        let after = [c"pinned", c"advised", c"wanted"].map(count);
        let pinned = if on_demand { 0 } else { 8192 };
        let fetched = i64::from(on_demand) * 4096 + i64::from(ahead) * 8192;
        let calls = i64::from(on_demand) + i64::from(ahead);
        let wanted = if access == writable { calls } else { 0 };
        let change = [
            after[0] - before[0],
            after[1] - before[1],
            after[2] - before[2],
        ];
        assert_eq!(change, [pinned, fetched, wanted]);
        // SAFETY: registered above.
        assert_eq!(unsafe { md::uct_md_mem_dereg(a.md, memh) }, UCS_OK);
    }
}

/// The system devices of the transports' devices of a domain.
fn system_devices(side: &Side) -> Vec<ucs_sys_device_t> {
    let (mut list, mut count) = (null_mut(), 0);
    // SAFETY: an open domain and writable results; the list is released after its last use.
    unsafe {
        let status = md::uct_md_query_tl_resources(side.md, &mut list, &mut count);
        assert_eq!(status, UCS_OK);
        let devices = (0..count as usize).map(|i| (*list.add(i)).sys_device);
        let devices = devices.collect();
        md::uct_release_tl_resource_list(list);
        devices
    }
}

/// A device on PCI (`FAKE_PCI=1`: one lane of 5 GT/s) is a system device with its name, and its link bounds the bandwidth. A
/// network interface there is the same one.
#[test]
fn a_device_on_pci_is_a_system_device() {
    let tcp = Tl {
        component: "tcp",
        transport: "tcp",
        device: "lo",
        ..RC
    };
    let mut interfaces = system_devices(&Side::open(&tcp, Options::default()));
    interfaces.retain(|device| *device != UCS_SYS_DEVICE_ID_UNKNOWN);
    let a = Side::open(&RC, Options::default());
    let devices = system_devices(&a);
    assert!(!devices.is_empty());
    let is_on_pci = std::env::var_os("FAKE_PCI").is_some();
    for &device in &devices {
        let found = topo::look(device, |d| {
            let name = d.name().to_str().unwrap().to_owned();
            (name, d.bus_id().to_string(), d.numa_node())
        });
        let wanted = ("fake0".to_owned(), "0000:aa:01.0".to_owned(), Some(0));
        assert_eq!(found, is_on_pci.then_some(wanted));
    }
    if is_on_pci {
        assert_eq!(interfaces, devices[..1], "the interface");
    }
    let bandwidth = a.attr.bandwidth.shared;
    match is_on_pci {
        true => assert_eq!(bandwidth, 5e9 / 8.0 * 0.8),
        false => assert!(bandwidth > 5e9 / 8.0),
    }
}

/// A registration that fails (`FAKE_VERBS=fail_reg=1`) is a status, and the next works.
#[test]
#[ignore = "needs a device that fails: run by tests/verbs"]
fn a_registration_that_fails_is_a_status() {
    watched(|| {
        let a = Side::open(&RC, Options::default());
        let buffer = vec![0u8; 4096];
        let register = || {
            let mut memh = null_mut();
            let at = buffer.as_ptr().cast_mut().cast();
            let all = UCT_MD_MEM_ACCESS_ALL;
            match unsafe { md::uct_md_mem_reg(a.md, at, 4096, all, &mut memh) } {
                UCS_OK => unsafe { md::uct_md_mem_dereg(a.md, memh) },
                e => e,
            }
        };
        assert_eq!([register(), register()], [UCS_ERR_NO_MEMORY, UCS_OK]);
    });
}

/// Where no more memory can be registered for copies (`set_limit(true)`), those in use are waited for.
fn requests_wait_for_copies(tl: &Tl, set_limit: impl Fn(bool)) {
    let pair = Pair::new(tl);
    let data = pattern(pair.a().attr.cap.am.max_bcopy, 5);
    let eps: Vec<Ep> = (0..8)
        .map(|_| pair.a().connect(&pair.b().address()))
        .collect();
    for ep in &eps {
        assert_eq!(pair.insist(|| ep.am_bcopy(1, &data)), data.len() as isize);
    }
    pair.until(|| pair.b().inbox.messages.borrow().len() == eps.len());
    set_limit(true);
    let mut sent = eps.len();
    for ep in &eps {
        loop {
            match ep.am_bcopy(1, &data) {
                n if n == data.len() as isize => sent += 1,
                n => {
                    assert_eq!(n, UCS_ERR_NO_RESOURCE as isize);
                    break;
                }
            }
        }
    }
    // A quarter of a megabyte of copies, and no windows' full.
    assert!((16..100).contains(&sent), "{sent}");
    let log = RefCell::new(Vec::new());
    let mut requests = Vec::new();
    for (which, ep) in eps.iter().enumerate() {
        let mut r = request(ep, which, 0, &log);
        assert_eq!(unsafe { ep.pending_add(&mut r.base) }, UCS_OK);
        requests.push(r);
    }
    pair.until(|| log.borrow().len() == eps.len());
    pair.until(|| pair.b().inbox.messages.borrow().len() == sent + eps.len());
    // More than there is room for at a time.
    for ep in eps.iter().cycle().take(200) {
        assert_eq!(pair.insist(|| ep.am_bcopy(1, &data)), data.len() as isize);
        sent += 1;
    }
    pair.until(|| pair.b().inbox.messages.borrow().len() == sent + eps.len());
    set_limit(false);
}

/// What the stand-in has pinned is the limit.
#[test]
#[ignore = "limits the memory of the whole process: run by tests/verbs"]
fn copies_are_waited_for_where_no_more_can_be_registered() {
    // Loads the stand-in.
    let _first = Side::open(&RC, Options::default());
    for tl in [&RC, &UD] {
        watched(|| {
            let pinned = pinned_now();
            requests_wait_for_copies(tl, |limited| {
                let most = if limited { pinned_now() } else { 0 };
                setting(c"max_pinned").store(most, Ordering::Relaxed);
            });
            assert!(setting(c"refused").load(Ordering::Relaxed) > 0);
            assert_eq!(pinned_now(), pinned);
        });
    }
}

fn pinned_now() -> i64 {
    setting(c"pinned").load(Ordering::Relaxed)
}

/// Receive buffers that cannot be registered at first (`FAKE_VERBS=fail_reg=1`) are posted later; a queue pair that cannot
/// be made (`fail_qp=2`) is a status of its endpoint.
#[test]
#[ignore = "needs a device that fails: run by tests/verbs"]
fn what_cannot_be_had_at_first_is_tried_again() {
    watched(|| {
        let a = Side::open(&RC, Options::default());
        assert_eq!(a.try_connect(null(), null()), Err(UCS_ERR_NO_MEMORY));
        let b = Side::open(&RC, Options::default());
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        for (from, to) in [(&x, &b), (&y, &a)] {
            until(&[&a, &b], || from.am_bcopy(1, b"hello") == 5);
            until(&[&a, &b], || to.inbox.messages.borrow().len() == 1);
        }
    });
}

/// A work request that fails (`FAKE_VERBS=send_err=40`) fails its endpoint alone.
#[test]
#[ignore = "needs a device that fails: run by tests/verbs"]
fn a_request_that_fails_fails_its_endpoint_alone() {
    watched(|| {
        let a = Side::open(&RC, with_failures());
        let b = Side::open(&RC, with_failures());
        let eps: Vec<(Ep, Ep)> = (0..2).map(|_| (a.new_ep(), b.new_ep())).collect();
        for (x, y) in &eps {
            connect_eps(&a, x, &b, y);
        }
        // The 40th: of those before some asked for no completion.
        for _ in 0..40 {
            assert_eq!(eps[0].0.am_short(1, 0, &[]), UCS_OK);
        }
        until(&[&a, &b], || !a.failures.0.borrow().is_empty());
        assert_eq!(a.failures.0.borrow()[0].0, eps[0].0.0);
        let last = || b.inbox.messages.borrow().iter().any(|m| m.id == 2);
        assert_eq!(eps[1].0.am_short(2, 0, &[]), UCS_OK);
        until(&[&a, &b], last);
        assert_eq!(
            b.inbox.messages.borrow().len(),
            40,
            "39 of the first, one of the second"
        );
        assert_eq!(a.failures.0.borrow().len(), 1);
    });
}

/// Polls these sides until `done`.
#[track_caller]
pub fn until(sides: &[&Side], mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        for side in sides {
            side.progress();
        }
        assert!(Instant::now() < deadline, "nothing comes of waiting");
    }
}
