//! What is particular to ud_verbs: peers that are gone or compute, strangers, many endpoints.

use crate::endpoint::{Comp, Ep};
use crate::pair::{connect_eps, connect_to_ep, ep_address};
use crate::side::{Options, PATIENCE, Security, Side, Tl, torture, watched};
use crate::test_rng::TestRng;
use crate::verbs::{until, with_failures};
use ferrucx::abi::uct::iface;
use ferrucx::c::verbs::*;
use ferrucx::c::*;
use ferrucx::sys::verbs::{
    Access, AddressHandle, Caps, CompletionQueue, Completions, DatagramPair, Device, Region,
};
use ferrucx::uct::ib::ud::wire::{ACK, CLOSE, ConnId, EMPTY, EpAddr, Header, REPLY, REQUEST};
use ferrucx::uct::ib::wire::{DeviceAddr, Link};
use std::ffi::CStr;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

pub const UD: Tl = Tl {
    component: "ib",
    transport: "ud_verbs",
    device: "fake0:1",
    security: Security::Off,
};

/// The key of ud_verbs' datagrams.
const KEY: u32 = 0x7564_6672;

fn two_sides(options: fn() -> Options) -> (Side, Side) {
    (Side::open(&UD, options()), Side::open(&UD, options()))
}

#[test]
fn damaged_addresses_are_refused() {
    watched(|| {
        let (a, b) = two_sides(Options::default);
        let (x, y) = (a.new_ep(), b.new_ep());
        let (device, addr) = (b.address().0, ep_address(&b, &y));
        let connect = |device: &[u8], addr: &[u8]| unsafe {
            ferrucx::abi::uct::ep::uct_ep_connect_to_ep(
                x.0,
                device.as_ptr().cast(),
                addr.as_ptr().cast(),
            )
        };
        let rng = TestRng::new(78);
        for _ in 0..500 {
            let bad = |n: usize| -> Vec<u8> { (0..n).map(|_| rng.below(256) as u8).collect() };
            assert!(connect(&bad(device.len()), &addr) < 0);
            assert!(connect(&device, &bad(addr.len())) < 0);
        }
        assert_eq!(x.am_short(1, 0, &[]), UCS_ERR_NO_RESOURCE, "not connected");
        assert_eq!(connect(&device, &addr), UCS_OK);
        assert_eq!(connect(&device, &addr), UCS_ERR_ALREADY_EXISTS);
        connect_to_ep(&y, &a.address().0, &ep_address(&a, &x));
        until(&[&a, &b], || x.am_short(1, 0, &[]) == UCS_OK);
    });
}

/// An endpoint that is closed tells its peer; everything under way there ends, and the user is told once.
#[test]
fn a_peer_that_closes_ends_what_is_under_way() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        until(&[&a, &b], || x.am_bcopy(1, b"hello") == 5);
        until(&[&a, &b], || !b.inbox.messages.borrow().is_empty());
        let local = a.memory(4096);
        let list = [uct_iov_t {
            buffer: local.address() as *mut _,
            length: 100,
            memh: local.memh(),
            stride: 0,
            count: 1,
        }];
        let comps = [Comp::new(1), Comp::new(1)];
        drop(y);
        let posted = x.am_zcopy(1, b"head", &list, comps[0].ptr());
        assert_eq!(posted, UCS_INPROGRESS);
        assert_eq!(
            x.flush(UCT_FLUSH_FLAG_LOCAL, comps[1].ptr()),
            UCS_INPROGRESS
        );
        until(&[&a, &b], || !a.failures.0.borrow().is_empty());
        for comp in &comps {
            assert_eq!((comp.calls(), comp.status()), (1, UCS_ERR_CONNECTION_RESET));
        }
        for _ in 0..100 {
            a.progress();
        }
        assert_eq!(a.failures.0.borrow().len(), 1);
        assert_eq!(x.am_bcopy(1, b"late"), UCS_ERR_CONNECTION_RESET as isize);
        let flushed = x.flush(UCT_FLUSH_FLAG_LOCAL, null_mut());
        assert_eq!(flushed, UCS_ERR_CONNECTION_RESET);
        assert_eq!(x.flush(UCT_FLUSH_FLAG_CANCEL, null_mut()), UCS_OK);
    });
}

/// An interface that is closed tells those who send to it.
#[test]
fn an_interface_that_closes_fails_endpoints_to_it() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
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

/// A peer that is not there (`UCX_UD_TIMEOUT=1s`): the endpoint fails, connected or not; the process goes on.
#[test]
#[ignore = "needs a short timeout: run by tests/verbs"]
fn silent_peers_fail_their_endpoints_alone() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
        let good = a.connect(&b.address());
        let (x, y) = (a.new_ep(), b.new_ep());
        let mut nowhere = ep_address(&b, &y);
        let last = nowhere.len() - 4;
        // A connection that is not there.
        nowhere[last] ^= 0x55;
        connect_to_ep(&x, &b.address().0, &nowhere);
        let gone = Side::open(&UD, Options::default());
        let address = gone.address();
        drop(gone);
        let z = a.connect(&address);
        assert_eq!(x.am_bcopy(1, b"nobody"), 6);
        let start = Instant::now();
        until(&[&a, &b], || a.failures.0.borrow().len() == 2);
        assert!(start.elapsed() > Duration::from_millis(900));
        let mut failed: Vec<_> = a.failures.0.borrow().iter().map(|f| (f.0, f.1)).collect();
        let mut expected = vec![
            (x.0, UCS_ERR_ENDPOINT_TIMEOUT),
            (z.0, UCS_ERR_ENDPOINT_TIMEOUT),
        ];
        failed.sort();
        expected.sort();
        assert_eq!(failed, expected);
        until(&[&a, &b], || good.am_bcopy(1, b"still here") == 10);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 1);
    });
}

/// A peer that makes no progress for longer than the timeout (`UCX_UD_TIMEOUT=1s`) is alive, and gets all that was sent
/// when it goes on; more than it can keep is not lost either.
#[test]
#[ignore = "needs a short timeout: run by tests/verbs"]
fn a_peer_that_computes_is_alive() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
        let x = a.connect(&b.address());
        let end = Instant::now() + Duration::from_millis(2500);
        let mut sent = 0u64;
        // Between two calls of progress of b.
        while Instant::now() < end {
            if x.am_short(1, sent, &[]) == UCS_OK {
                sent += 1;
            }
            a.progress();
        }
        assert!(a.failures.0.borrow().is_empty());
        assert!(sent > 40, "{sent}");
        until(&[&a, &b], || b.inbox.messages.borrow().len() as u64 == sent);
        for (i, message) in b.inbox.messages.borrow().iter().enumerate() {
            assert_eq!(message.data, (i as u64).to_ne_bytes());
        }
    });
}

/// The receiver sleeps and the sender does nothing more: the async threads see to a message that was lost.
#[test]
fn a_message_arrives_without_progress_of_its_sender() {
    watched(|| {
        let (a, b) = two_sides(Options::default);
        let x = a.connect(&b.address());
        until(&[&a, &b], || x.am_short(1, 0, &[]) == UCS_OK);
        const COUNT: u64 = 50;
        for i in 1..COUNT {
            until(&[&a], || x.am_short(1, i, &[]) == UCS_OK);
        }
        until(&[&b], || b.inbox.messages.borrow().len() as u64 == COUNT);
    });
}

/// Ten thousand endpoints of one interface, all of which send.
#[test]
fn ten_thousand_endpoints() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
        const COUNT: usize = 10_000;
        let address = b.address();
        let eps: Vec<Ep> = (0..COUNT)
            .map(|i| {
                if i % 50 == 0 {
                    a.progress();
                    b.progress();
                }
                a.connect(&address)
            })
            .collect();
        let deadline = Instant::now() + PATIENCE * 4;
        for (i, ep) in eps.iter().enumerate() {
            while ep.am_short(1, i as u64, &[]) != UCS_OK {
                a.progress();
                b.progress();
                assert!(Instant::now() < deadline, "endpoint {i}");
            }
        }
        while b.inbox.messages.borrow().len() < COUNT {
            a.progress();
            b.progress();
            assert!(Instant::now() < deadline);
        }
        let mut seen = vec![false; COUNT];
        for message in b.inbox.messages.borrow().iter() {
            let i = u64::from_ne_bytes(message.data[..].try_into().unwrap());
            assert!(!std::mem::replace(&mut seen[i as usize], true), "{i} twice");
        }
        assert!(a.failures.0.borrow().is_empty());
    });
}

/// A queue pair of somebody who is not this library.
pub struct Stranger {
    pair: DatagramPair,
    handle: AddressHandle,
    queue: Rc<CompletionQueue>,
    region: Region,
    memory: Box<[u8]>,
    key: u32,
    _device: Arc<Device>,
}

impl Stranger {
    /// `key`: of the datagrams that the interface takes.
    pub fn new(side: &Side, key: u32) -> Stranger {
        let device = Device::open("fake0").unwrap();
        let queue = CompletionQueue::new(&device, 1000).unwrap();
        let caps = Caps {
            send_queue: 100,
            send_sges: 1,
            inline: 0,
        };
        let pair = DatagramPair::new(&device, &queue, caps, 1).unwrap();
        pair.start(1, 0, key).unwrap();
        let address = DeviceAddr::decode(side.address().0[..].try_into().unwrap()).unwrap();
        let ethernet = address.link != Link::InfiniBand;
        // SAFETY: plain integers.
        let mut way: ibv_ah_attr = unsafe { std::mem::zeroed() };
        way.dlid = address.lid;
        way.is_global = ethernet.into();
        way.grh.dgid.raw = address.gid;
        way.grh.hop_limit = 1;
        way.port_num = 1;
        // The interface's own address, which is the best of the port's: RoCE v2 with IPv4.
        way.grh.sgid_index = if ethernet { 3 } else { 0 };
        let memory = vec![0; 4096].into_boxed_slice();
        let region = device
            .register(memory.as_ptr() as usize, memory.len(), Access::default())
            .unwrap();
        Stranger {
            handle: AddressHandle::new(&device, &way).unwrap(),
            pair,
            queue,
            region,
            memory,
            key,
            _device: device,
        }
    }

    pub fn send(&mut self, to: u32, bytes: &[u8]) {
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
        request.wr.ud = ibv_send_wr_ud {
            ah: self.handle.raw(),
            remote_qpn: to,
            remote_qkey: self.key,
        };
        // SAFETY: the memory lives until the completion, which is waited for.
        unsafe { self.pair.post(&mut request) }.unwrap();
        let mut done = Completions::<1>::new();
        while self.queue.poll(&mut done).unwrap().is_empty() {}
    }
}

pub fn queue_pair_of(side: &Side) -> u32 {
    let [a, b, c] = side.address().1[4..7].try_into().unwrap();
    u32::from_le_bytes([a, b, c, 0])
}

/// Random datagrams, and right ones of the wrong queue pair, change nothing.
#[test]
fn datagrams_of_strangers_are_dropped() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
        let (x, y) = (a.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        until(&[&a, &b], || x.am_bcopy(1, b"first") == 5);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 1);
        let mut stranger = Stranger::new(&b, KEY);
        let to = queue_pair_of(&b);
        let rng = TestRng::new(torture("TORTURE_SEED", 6) as u64);
        let theirs = ep_address(&b, &y);
        let id = &theirs[8..11];
        for i in 0..torture("TORTURE_COUNT", 20_000) {
            let len = rng.below(80);
            let mut bytes: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            if len >= 4 && i % 2 == 0 {
                // For a connection that is there; every kind of datagram.
                bytes[0] = [0, 1, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd][rng.below(8)];
                bytes[1..4].copy_from_slice(id);
            }
            stranger.send(to, &bytes);
            if i % 50 == 0 {
                b.progress();
                a.progress();
            }
        }
        until(&[&a, &b], || x.am_bcopy(1, b"second") == 6);
        until(&[&a, &b], || y.am_bcopy(1, b"back") == 4);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 2);
        until(&[&a, &b], || a.inbox.messages.borrow().len() == 1);
        assert!(a.failures.0.borrow().is_empty() && b.failures.0.borrow().is_empty());
    });
}

/// A peer that has a connection and breaks its rules: sequence numbers from anywhere, acknowledgements of what was never
/// sent, lengths below a header, ids that nobody has. Its endpoint alone may fail.
#[test]
fn packets_of_strangers_with_a_connection_harm_their_own_endpoint_alone() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
        let (x, y, z) = (a.new_ep(), b.new_ep(), b.new_ep());
        connect_eps(&a, &x, &b, &y);
        let mut stranger = Stranger::new(&b, KEY);
        let to = queue_pair_of(&b);
        const PSN: u16 = 77;
        let us = EpAddr {
            queue_pair: stranger.pair.number(),
            id: ConnId::new(5, 0),
            psn: PSN,
        };
        connect_to_ep(&z, &b.address().0, &us.encode());
        let theirs = EpAddr::decode(ep_address(&b, &z)[..].try_into().unwrap()).unwrap();
        let rng = TestRng::new(torture("TORTURE_SEED", 9) as u64);
        let mut next = PSN;
        for i in 0..torture("TORTURE_COUNT", 20_000) {
            let id = match rng.below(4) {
                0 => rng.next() as u8,
                1 => [ACK, REQUEST, REPLY, EMPTY, CLOSE][rng.below(5 - usize::from(i < 5000))],
                _ => 1,
            };
            let right = rng.chance(50);
            let header = Header {
                id,
                to: theirs.id,
                ask: rng.chance(20),
                psn: if right { next } else { rng.next() as u16 },
                ack: theirs
                    .psn
                    .wrapping_add(rng.below(1 << rng.below(17)) as u16),
            };
            next = next.wrapping_add(u16::from(right));
            let mut bytes = [&header.encode()[..], &rng.bytes(rng.below(60))].concat();
            if rng.chance(10) {
                bytes.truncate(rng.below(8));
            }
            stranger.send(to, &bytes);
            if i % 20 == 0 {
                // It has something to be acknowledged, until it fails.
                z.am_short(1, i as u64, &[]);
                b.progress();
                a.progress();
            }
        }
        let came = |side: &Side, data: &[u8]| {
            let messages = side.inbox.messages.borrow();
            messages.iter().any(|m| m.data == data)
        };
        until(&[&a, &b], || x.am_bcopy(1, b"here still") == 10);
        until(&[&a, &b], || y.am_bcopy(1, b"here too, still") == 15);
        until(&[&a, &b], || {
            came(&b, b"here still") && came(&a, b"here too, still")
        });
        let failures = b.failures.0.borrow();
        assert!(failures.len() <= 1 && failures.iter().all(|failure| failure.0 == z.0));
        assert!(a.failures.0.borrow().is_empty());
    });
}

/// Connection requests of one stranger that never answers do not keep others out.
#[test]
fn requests_of_strangers_do_not_keep_others_out() {
    watched(|| {
        let (a, b) = two_sides(with_failures);
        let mut stranger = Stranger::new(&b, KEY);
        let to = queue_pair_of(&b);
        for i in 0..20_000u64 {
            // As `uct/ib/ud/wire.rs` has them.
            let mut bytes = vec![0xf9, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0xd1, 0, 7, 0];
            bytes.extend(1u32.to_le_bytes());
            bytes.extend(i.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(b.address().0);
            stranger.send(to, &bytes);
            if i % 100 == 0 {
                b.progress();
            }
        }
        let x = a.connect(&b.address());
        until(&[&a, &b], || x.am_bcopy(1, b"hello") == 5);
        until(&[&a, &b], || b.inbox.messages.borrow().len() == 1);
    });
}

/// The device fails (`FAKE_VERBS=fatal=100`), or the queue pair stops (`send_err=100`): all endpoints fail, what is under
/// way ends, and the process goes on.
#[test]
#[ignore = "needs a device that fails: run by tests/verbs"]
fn a_failure_fails_all_endpoints_of_the_interface() {
    watched(|| {
        let (a, b) = (
            Side::open(&UD, with_failures()),
            Side::open(&UD, Options::default()),
        );
        let eps: Vec<Ep> = (0..3).map(|_| a.connect(&b.address())).collect();
        let mut sent = 0;
        until(&[&a, &b], || {
            sent += i32::from(eps[0].am_short(1, 0, &[]) == UCS_OK);
            a.failures.0.borrow().len() == 3
        });
        for ep in &eps {
            assert_eq!(ep.am_short(1, 0, &[]), UCS_ERR_IO_ERROR);
        }
    });
}

/// A setting of the stand-in.
pub fn setting(name: &CStr) -> &'static AtomicI64 {
    let library = c"libibverbs.so.1".as_ptr();
    let find = unsafe {
        let library = libc::dlopen(library, libc::RTLD_NOW | libc::RTLD_NOLOAD);
        libc::dlsym(library, c"fake_verbs_setting".as_ptr())
    };
    assert!(!find.is_null(), "the library is not the stand-in");
    let find: extern "C" fn(*const libc::c_char) -> *const AtomicI64 =
        unsafe { std::mem::transmute(find) };
    unsafe { &*find(name.as_ptr()) }
}

/// While an interface sleeps and nothing is under way the device reports an event: endpoints fail that send nothing. Returns
/// the sides.
fn fail_while_asleep(kind: u32) -> (Side, Side, Vec<Ep>) {
    let (a, b) = (
        Side::open(&UD, with_failures()),
        Side::open(&UD, Options::default()),
    );
    let eps: Vec<Ep> = (0..3).map(|_| a.connect(&b.address())).collect();
    for ep in &eps {
        until(&[&a, &b], || ep.am_short(1, 0, &[]) == UCS_OK);
        until(&[&a, &b], || ep.flush(0, null_mut()) == UCS_OK);
    }
    let mut fd = -1;
    let got = unsafe { iface::uct_iface_event_fd_get(a.iface, &mut fd) };
    assert_eq!(got, UCS_OK);
    let all = UCT_EVENT_SEND_COMP | UCT_EVENT_RECV;
    let arm = || unsafe { iface::uct_iface_event_arm(a.iface, all) } == UCS_OK;
    until(&[&a], arm);
    setting(c"event").store(i64::from(kind), Ordering::Relaxed);
    let sent = setting(c"sent").load(Ordering::Relaxed);
    setting(c"at").store(sent + 1, Ordering::Relaxed);
    assert_eq!(eps[0].am_short(1, 0, &[]), UCS_OK);
    while a.failures.0.borrow().is_empty() {
        let mut p = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        assert_eq!(unsafe { libc::poll(&mut p, 1, 5000) }, 1);
        until(&[&a], arm);
    }
    assert_eq!(a.failures.0.borrow().len(), 3);
    (a, b, eps)
}

/// The port goes down: endpoints fail. What is connected later works.
#[test]
#[ignore = "needs a device with events: run by tests/verbs"]
fn a_port_that_goes_down_fails_the_endpoints_that_there_are() {
    watched(|| {
        let (a, b, eps) = fail_while_asleep(IBV_EVENT_PORT_ERR);
        for ep in &eps {
            assert_eq!(ep.am_short(1, 0, &[]), UCS_ERR_ENDPOINT_TIMEOUT);
        }
        let x = a.connect(&b.address());
        until(&[&a, &b], || x.am_short(2, 0, &[]) == UCS_OK);
        until(&[&a, &b], || {
            b.inbox.messages.borrow().iter().any(|m| m.id == 2)
        });
        assert_eq!(a.failures.0.borrow().len(), 3);
    });
}

/// The queue pair, the completion queue or the device fails.
#[test]
#[ignore = "needs a device with events: run by tests/verbs"]
fn an_event_of_a_queue_fails_its_interface() {
    for kind in [IBV_EVENT_QP_FATAL, IBV_EVENT_CQ_ERR, IBV_EVENT_DEVICE_FATAL] {
        watched(move || {
            let (a, b, eps) = fail_while_asleep(kind);
            for ep in &eps {
                assert_eq!(ep.am_short(1, 0, &[]), UCS_ERR_IO_ERROR);
            }
            drop((eps, b, a));
        });
    }
}
