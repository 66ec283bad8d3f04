//! What UCP asks of tcp's connections with interfaces of upstream's (`uct::internal`), in the shape of the suite: two
//! interfaces of ours that take each other for upstream's, and one with a peer whose bytes are written here. The rule which
//! side connects goes by their addresses, so each test runs with either of the two in either place.

use crate::endpoint::{Bytes, Comp, Ep, pack};
use crate::side::{self, Options, PATIENCE, Security, Side, Tl, pattern};
use ferrucx::c::*;
use ferrucx::ucs::{Result, Status};
use ferrucx::uct::internal::{InternalRef, UpstreamEvent, UpstreamLanes};
use ferrucx::wire::upstream::address::{Address, Offer, Place, for_wireup};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ptr::null_mut;
use std::time::Instant;

const LO: Tl = Tl {
    component: "tcp",
    transport: "tcp",
    device: "lo",
    security: Security::Off,
};
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const GREETING: u64 = 0xcafe_babe_1234_5678;
/// Frames.
const CONNECTION: u8 = 32;
const PUT: u8 = 33;
const PUT_ACK: u8 = 34;
const KEEPALIVE: u8 = 35;
/// Events of a connection.
const REQUEST: u32 = 1;
const ACK: u32 = 2;
const ACK_AND_REQUEST: u32 = 3;

/// A message that came.
struct Came {
    id: u8,
    body: Vec<u8>,
    connection: u64,
    key: Option<u64>,
}

/// What came of upstream's interfaces.
#[derive(Default)]
struct Heard {
    messages: RefCell<Vec<Came>>,
    /// Connections that have ended, with the keys of their lanes.
    closed: RefCell<Vec<(u64, Option<u64>)>>,
    opened: RefCell<Vec<u64>>,
    acknowledged: RefCell<Vec<u64>>,
    /// How many of the next messages are to come again.
    busy: Cell<usize>,
    /// The message that is refused.
    refused: Cell<Option<u8>>,
}

unsafe fn hear(arg: *mut c_void, event: &UpstreamEvent<'_>) -> Result<()> {
    let heard = unsafe { &*arg.cast::<Heard>() };
    match event {
        UpstreamEvent::Message(message) if heard.refused.get() == Some(message.id) => {
            return Err(Status::INVALID_PARAM);
        }
        UpstreamEvent::Message(_) if heard.busy.get() > 0 => {
            heard.busy.set(heard.busy.get() - 1);
            return Err(Status::NO_RESOURCE);
        }
        UpstreamEvent::Message(message) => heard.messages.borrow_mut().push(Came {
            id: message.id,
            body: message.body.to_vec(),
            connection: message.connection,
            key: message.key,
        }),
        UpstreamEvent::Opened { key } => heard.opened.borrow_mut().push(*key),
        UpstreamEvent::Closed { connection, key } => {
            heard.closed.borrow_mut().push((*connection, *key));
        }
        UpstreamEvent::Acknowledged { key } => heard.acknowledged.borrow_mut().push(*key),
    }
    Ok(())
}

/// An interface that upstream's may talk to.
struct Party {
    // Closed before what it tells of what comes.
    side: Side,
    heard: Box<Heard>,
}

impl Party {
    fn open() -> Party {
        let options = Options {
            failures: true,
            ..Options::default()
        };
        let side = Side::open(&LO, options);
        let heard = Box::<Heard>::default();
        let arg = std::ptr::from_ref::<Heard>(&heard).cast_mut().cast();
        let party = Party { side, heard };
        party
            .internal()
            .base
            .internal
            .on_upstream
            .set(Some((hear, arg)));
        party
    }

    fn internal(&self) -> InternalRef<'_> {
        unsafe { InternalRef::of(self.side.iface) }
    }

    fn lanes(&self) -> &dyn UpstreamLanes {
        self.internal().upstream_lanes().expect("tcp has lanes")
    }

    fn offer(&self) -> Offer {
        self.internal().upstream_offer().expect("an offer")
    }

    fn port(&self) -> u16 {
        u16::from_be_bytes(self.offer().iface.try_into().unwrap())
    }

    /// Whether there is no connection yet by which both sides can send.
    fn is_new(&self, to: &Offer) -> bool {
        let bytes = for_wireup(7, std::slice::from_ref(to), &[]);
        let (_, entries) = Address::with_entries(&bytes, Place::Wireup).unwrap();
        self.internal().upstream_reach(&entries[0]).unwrap().is_new
    }

    fn connect(&self, to: &Offer) -> Ep {
        let bytes = for_wireup(7, std::slice::from_ref(to), &[]);
        let (_, entries) = Address::with_entries(&bytes, Place::Wireup).unwrap();
        Ep(self
            .internal()
            .upstream_connect(&entries[0])
            .expect("connect"))
    }

    fn progress(&self) {
        self.side.progress();
    }

    #[track_caller]
    fn until(&self, done: impl FnMut() -> bool) {
        until(&[self], done);
    }

    fn count(&self) -> usize {
        self.heard.messages.borrow().len()
    }

    /// Waits for so many messages, and takes them.
    #[track_caller]
    fn bodies(&self, all: &[&Party], n: usize) -> Vec<(u8, Vec<u8>)> {
        until(all, || self.count() >= n);
        let came = self.heard.messages.take();
        came.into_iter().map(|m| (m.id, m.body)).collect()
    }

    /// How often endpoints were reported as failed.
    fn failures(&self) -> usize {
        self.side.failures.0.borrow().len()
    }
}

#[track_caller]
fn until(all: &[&Party], mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        all.iter().for_each(|party| party.progress());
        assert!(Instant::now() < deadline, "nothing comes of waiting");
    }
}

fn post(ep: &Ep, id: u8, body: &[u8]) -> isize {
    let mut arg = Bytes {
        data: body.as_ptr().cast_mut(),
        len: body.len(),
    };
    let arg = std::ptr::from_mut(&mut arg).cast();
    let iface = unsafe { InternalRef::of((*ep.0).iface) };
    unsafe { (iface.base.internal.ops.upstream_send.unwrap())(ep.0, id, Some(pack), arg, 0) }
}

/// Sends a message, which there is room for sooner or later.
#[track_caller]
fn send(all: &[&Party], ep: &Ep, id: u8, body: &[u8]) {
    until(all, || {
        let sent = post(ep, id, body);
        let is_sent = sent == body.len() as isize;
        assert!(is_sent || sent == UCS_ERR_NO_RESOURCE as isize, "{sent}");
        is_sent
    });
}

/// Two interfaces: the first one's address is the smaller one, or the greater one.
fn two(is_smaller: bool) -> (Party, Party) {
    let (a, b) = (Party::open(), Party::open());
    if (a.port() < b.port()) == is_smaller {
        (a, b)
    } else {
        (b, a)
    }
}

/// A peer in upstream's format on a socket.
struct Raw {
    socket: TcpStream,
    bytes: Vec<u8>,
}

fn frame(id: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![id];
    out.extend_from_slice(&(body.len() as u32).to_le_bytes());
    out.extend_from_slice(body);
    out
}

/// A request of the interface that listens at `listener`.
fn request(flags: u8, id: u64, listener: SocketAddr) -> Vec<u8> {
    let mut body = REQUEST.to_le_bytes().to_vec();
    body.push(flags);
    body.extend_from_slice(&id.to_le_bytes());
    body.extend_from_slice(&2u16.to_le_bytes());
    body.extend_from_slice(&listener.port().to_be_bytes());
    let SocketAddr::V4(v4) = listener else {
        panic!("of IPv4");
    };
    body.extend_from_slice(&v4.ip().octets());
    body.extend_from_slice(&[0; 8]);
    frame(CONNECTION, &body)
}

/// A put of no bytes, which is a flush.
fn flush(number: u32) -> Vec<u8> {
    frame(PUT, &[&[0; 16][..], &number.to_le_bytes()].concat())
}

impl Raw {
    fn new(socket: TcpStream) -> Raw {
        socket.set_nonblocking(true).unwrap();
        let bytes = Vec::new();
        Raw { socket, bytes }
    }

    /// Connects as an interface of upstream's that listens at `listener`.
    fn connect(to: &Party, flags: u8, id: u64, listener: SocketAddr) -> Raw {
        let mut raw = Raw::new(TcpStream::connect((HOST, to.port())).unwrap());
        raw.write(&[&GREETING.to_le_bytes()[..], &request(flags, id, listener)].concat());
        raw
    }

    /// Accepts what `from` connects with, and reads its greeting.
    fn accept(from: &Party, listener: &TcpListener) -> Raw {
        listener.set_nonblocking(true).unwrap();
        let mut socket = None;
        from.until(|| {
            socket = listener.accept().ok();
            socket.is_some()
        });
        let mut raw = Raw::new(socket.unwrap().0);
        assert_eq!(raw.take(from, 8), GREETING.to_le_bytes());
        raw
    }

    fn write(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    /// The next bytes.
    #[track_caller]
    fn take(&mut self, from: &Party, n: usize) -> Vec<u8> {
        from.until(|| {
            let mut some = [0; 4096];
            match self.socket.read(&mut some) {
                Ok(0) => panic!("the connection has ended before {n} bytes"),
                Ok(got) => self.bytes.extend_from_slice(&some[..got]),
                Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
            }
            self.bytes.len() >= n
        });
        let rest = self.bytes.split_off(n);
        std::mem::replace(&mut self.bytes, rest)
    }

    /// The next frame.
    #[track_caller]
    fn next(&mut self, from: &Party) -> (u8, Vec<u8>) {
        let head = self.take(from, 5);
        let len = u32::from_le_bytes(head[1..].try_into().unwrap());
        (head[0], self.take(from, len as usize))
    }

    #[track_caller]
    fn expect(&mut self, from: &Party, id: u8, body: &[u8]) {
        assert_eq!(self.next(from), (id, body.to_vec()));
    }

    /// Reads the request of `from`'s interface for this connection.
    #[track_caller]
    fn is_asked(&mut self, from: &Party) {
        let asked = request(0, 0, SocketAddr::new(HOST, from.port()));
        assert_eq!(self.take(from, asked.len()), asked);
    }

    /// Waits for the end of the connection.
    #[track_caller]
    fn ends(&mut self, from: &Party) {
        from.until(|| match self.socket.read(&mut [0; 4096]) {
            Ok(n) => n == 0,
            Err(e) => e.kind() != ErrorKind::WouldBlock,
        });
    }
}

/// The interface of a peer of `with` that listens there.
fn offer_of(listener: &TcpListener, with: &Party) -> Offer {
    let iface = listener.local_addr().unwrap().port().to_be_bytes().to_vec();
    let device = with.offer().device;
    Offer {
        iface,
        device,
        ..with.offer()
    }
}

fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((HOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    (listener, at)
}

fn messages_keep_bytes_and_order(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let ep = a.connect(&b.offer());
    let most = a.side.attr.cap.am.max_bcopy;
    let lengths = [0, 1, 7, 8, 63, 64, 255, 256, 4095, most - 1, most];
    let sent: Vec<(u8, Vec<u8>)> = (0..320)
        .map(|n| {
            (
                (n % 32) as u8,
                pattern(lengths[n % lengths.len()], n as u64),
            )
        })
        .collect();
    for (id, body) in &sent {
        send(&all, &ep, *id, body);
    }
    assert!(
        b.bodies(&all, sent.len()) == sent,
        "other bytes, or another order"
    );
    assert_eq!(a.count() + a.failures() + b.failures(), 0);
}

fn both_sides_send_by_one_connection(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    assert!(b.is_new(&a.offer()));
    let ep = a.connect(&b.offer());
    send(&all, &ep, 2, b"asks");
    until(&all, || b.count() == 1);
    assert!(!b.is_new(&a.offer()), "it is there, from the other side");
    let back = b.connect(&a.offer());
    for n in 0..50u8 {
        send(&all, &back, 3, &[n]);
        send(&all, &ep, 4, &[n]);
    }
    until(&all, || a.count() == 50 && b.count() == 51);
    for party in all {
        let messages = party.heard.messages.borrow();
        let first = messages[0].connection;
        assert!(
            messages
                .iter()
                .all(|m| m.connection == first && m.key.is_none())
        );
    }
    let bodies = a.bodies(&all, 50);
    assert!((0..50u8).all(|n| bodies[usize::from(n)] == (3, vec![n])));
}

fn both_sides_connect_at_once(is_smaller: bool) {
    for _ in 0..20 {
        let (a, b) = two(is_smaller);
        let all = [&a, &b];
        let (to_b, to_a) = (a.connect(&b.offer()), b.connect(&a.offer()));
        for n in 0..20u8 {
            send(&all, &to_b, 5, &[n]);
            send(&all, &to_a, 6, &[n]);
        }
        for (party, id) in [(&b, 5), (&a, 6)] {
            let bodies = party.bodies(&all, 20);
            let wanted: Vec<_> = (0..20u8).map(|n| (id, vec![n])).collect();
            assert_eq!(bodies, wanted);
        }
        assert_eq!(a.failures() + b.failures(), 0);
    }
}

/// A pending request that sends one message.
#[repr(C)]
struct Pending {
    base: uct_pending_req_t,
    ep: uct_ep_h,
    number: u8,
}

unsafe extern "C" fn serve(pending: *mut uct_pending_req_t) -> i8 {
    let pending = unsafe { &*pending.cast::<Pending>() };
    let ep = std::mem::ManuallyDrop::new(Ep(pending.ep));
    match post(&ep, 9, &[pending.number]) {
        1 => UCS_OK,
        e => e as i8,
    }
}

fn pending_requests_are_served_in_turn(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let ep = a.connect(&b.offer());
    send(&all, &ep, 1, b"hello");
    until(&all, || b.count() == 1);
    let body = pattern(4096, 1);
    let mut sent = 1;
    let deadline = Instant::now() + PATIENCE;
    // The kernel takes more for a while.
    while post(&ep, 2, &body) == body.len() as isize {
        sent += 1;
        a.progress();
        assert!(Instant::now() < deadline, "nothing is ever in the way");
    }
    let mut requests: Vec<Box<Pending>> = (0..30)
        .map(|number| {
            Box::new(Pending {
                base: uct_pending_req_t {
                    func: Some(serve),
                    r#priv: [0; 40],
                },
                ep: ep.0,
                number,
            })
        })
        .collect();
    for r in &mut requests {
        assert_eq!(unsafe { ep.pending_add(&mut r.base) }, UCS_OK);
    }
    assert_eq!(post(&ep, 3, b"late"), UCS_ERR_NO_RESOURCE as isize);
    let bodies = b.bodies(&all, sent + requests.len());
    let served: Vec<_> = (0..30u8).map(|n| (9, vec![n])).collect();
    assert_eq!(bodies[sent..], served);
    send(&all, &ep, 3, b"late");
    assert_eq!(b.bodies(&all, 1), [(3, b"late".to_vec())]);
}

fn flush_ends_when_the_peer_has_everything(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let ep = a.connect(&b.offer());
    for round in 1..=3usize {
        for _ in 0..10 {
            send(&all, &ep, 2, &pattern(1000, 2));
        }
        let comp = Comp::new(1);
        assert_eq!(ep.flush(UCT_FLUSH_FLAG_REMOTE, comp.ptr()), UCS_INPROGRESS);
        // Only the peer can end it.
        for _ in 0..50 {
            a.progress();
        }
        assert_eq!(comp.calls(), 0);
        until(&all, || comp.calls() > 0);
        assert_eq!(
            (comp.calls(), comp.status(), b.count()),
            (1, UCS_OK, 10 * round)
        );
    }
}

fn messages_that_are_not_taken_come_again(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let ep = a.connect(&b.offer());
    b.heard.busy.set(7);
    for n in 0..10 {
        send(&all, &ep, 2, &[n]);
    }
    let wanted: Vec<_> = (0..10u8).map(|n| (2, vec![n])).collect();
    assert_eq!(b.bodies(&all, 10), wanted);
    assert_eq!(b.heard.busy.get(), 0);
}

fn a_refused_message_ends_the_connection(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let eps = [a.connect(&b.offer()), a.connect(&b.offer())];
    b.heard.refused.set(Some(30));
    send(&all, &eps[0], 2, b"good");
    send(&all, &eps[1], 30, b"bad");
    until(&all, || a.failures() == 2);
    for _ in 0..100 {
        all.iter().for_each(|party| party.progress());
    }
    // Each endpoint once, and no message is lost that came before.
    let told: Vec<uct_ep_h> = a.side.failures.0.borrow().iter().map(|f| f.0).collect();
    assert!(told.len() == 2 && eps.iter().all(|ep| told.contains(&ep.0)));
    assert_eq!(b.bodies(&all, 1), [(2, b"good".to_vec())]);
    assert_eq!(b.heard.closed.borrow().len(), 1);
    assert!(post(&eps[0], 2, b"late") < 0);
    // The next one is connected anew.
    b.heard.refused.set(None);
    drop(eps);
    let again = a.connect(&b.offer());
    send(&all, &again, 2, b"again");
    assert_eq!(b.bodies(&all, 1), [(2, b"again".to_vec())]);
    assert_eq!(a.failures(), 2);
}

fn lanes_carry_messages_both_ways(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let (ours, theirs) = (a.lanes().open(HOST).unwrap(), b.lanes().open(HOST).unwrap());
    let (at_a, at_b) = (
        a.lanes().describe(ours).unwrap(),
        b.lanes().describe(theirs).unwrap(),
    );
    // What is sent before the lane is open comes first.
    a.lanes().send(ours, 1, b"early").unwrap();
    b.lanes().send(theirs, 1, b"early").unwrap();
    b.lanes().meet(theirs, HOST, &at_a.1).unwrap();
    a.lanes().meet(ours, HOST, &at_b.1).unwrap();
    let (x, y) = (
        a.lanes().join(ours).unwrap(),
        b.lanes().join(theirs).unwrap(),
    );
    let (x, y) = (Ep(x), Ep(y));
    for n in 0..20u8 {
        send(&all, &x, 2, &[n]);
        send(&all, &y, 3, &[n]);
    }
    until(&all, || a.count() == 21 && b.count() == 21);
    for (party, key, id) in [(&a, ours, 3), (&b, theirs, 2)] {
        assert_eq!(*party.heard.opened.borrow(), [key]);
        assert!(
            party
                .heard
                .messages
                .borrow()
                .iter()
                .all(|m| m.key == Some(key))
        );
        let bodies = party.bodies(&all, 21);
        assert_eq!(bodies[0], (1, b"early".to_vec()));
        let wanted: Vec<_> = (0..20u8).map(|n| (id, vec![n])).collect();
        assert_eq!(bodies[1..], wanted);
        assert!(party.lanes().is_open(key));
    }
    // Both know it by one key.
    let (one, other) = (
        a.lanes().describe(ours).unwrap().1,
        b.lanes().describe(theirs).unwrap().1,
    );
    assert_eq!(one[2..], other[2..]);
    // A flush ends by the peer's answer here too.
    let comp = Comp::new(1);
    assert_eq!(x.flush(UCT_FLUSH_FLAG_REMOTE, comp.ptr()), UCS_INPROGRESS);
    until(&all, || comp.calls() == 1);
    assert_eq!(comp.status(), UCS_OK);
}

fn a_closed_lane_waits_for_the_answer(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let (ours, theirs) = (a.lanes().open(HOST).unwrap(), b.lanes().open(HOST).unwrap());
    let (at_a, at_b) = (
        a.lanes().describe(ours).unwrap(),
        b.lanes().describe(theirs).unwrap(),
    );
    b.lanes().meet(theirs, HOST, &at_a.1).unwrap();
    a.lanes().meet(ours, HOST, &at_b.1).unwrap();
    let x = Ep(a.lanes().join(ours).unwrap());
    let y = Ep(b.lanes().join(theirs).unwrap());
    send(&all, &x, 2, b"last");
    until(&all, || {
        a.lanes().is_open(ours) && b.lanes().is_open(theirs)
    });
    assert!(a.lanes().ask(ours));
    drop(x);
    assert!(!a.lanes().is_open(ours) && a.lanes().join(ours).is_err());
    for _ in 0..50 {
        a.progress();
    }
    assert!(
        a.heard.acknowledged.borrow().is_empty(),
        "the peer has not answered"
    );
    until(&all, || !a.heard.acknowledged.borrow().is_empty());
    assert_eq!(*a.heard.acknowledged.borrow(), [ours]);
    assert_eq!(b.bodies(&all, 1), [(2, b"last".to_vec())]);
    // Then it ends, which the peer's endpoint hears of once.
    until(&all, || !b.heard.closed.borrow().is_empty());
    until(&all, || b.failures() == 1);
    assert_eq!(b.heard.closed.borrow()[0].1, Some(theirs));
    assert!(b.side.failures.0.borrow()[0].0 == y.0);
    assert!(!a.lanes().ask(ours), "there is nobody to ask any more");
}

fn a_lane_leads_to_another_end(is_smaller: bool) {
    let (a, b) = two(is_smaller);
    let all = [&a, &b];
    let ours = a.lanes().open(HOST).unwrap();
    let ends = [b.lanes().open(HOST).unwrap(), b.lanes().open(HOST).unwrap()];
    let x = Ep(a.lanes().join(ours).unwrap());
    let at_a = a.lanes().describe(ours).unwrap().1;
    for (n, end) in ends.into_iter().enumerate() {
        let at_b = b.lanes().describe(end).unwrap().1;
        b.lanes().meet(end, HOST, &at_a).unwrap();
        a.lanes().meet(ours, HOST, &at_b).unwrap();
        let named = a.lanes().name_for(ours, HOST, &at_b).unwrap();
        assert_eq!(a.lanes().describe(ours).unwrap().1, named);
        until(&all, || b.lanes().is_open(end) && a.lanes().is_open(ours));
        send(&all, &x, 2, &[n as u8]);
        until(&all, || b.count() == 1);
        let came = b.heard.messages.take().remove(0);
        assert_eq!((came.body, came.key), (vec![n as u8], Some(end)));
    }
    assert_eq!(a.failures(), 0);
}

/// Each test with the first interface's address the smaller one, and the greater one.
macro_rules! both_ways {
    ($($test:ident,)*) => {
        mod smaller_first {
            $(#[test] fn $test() { super::side::watched(|| super::$test(true)); })*
        }
        mod greater_first {
            $(#[test] fn $test() { super::side::watched(|| super::$test(false)); })*
        }
    };
}

both_ways! {
    messages_keep_bytes_and_order,
    both_sides_send_by_one_connection,
    both_sides_connect_at_once,
    pending_requests_are_served_in_turn,
    flush_ends_when_the_peer_has_everything,
    messages_that_are_not_taken_come_again,
    a_refused_message_ends_the_connection,
    lanes_carry_messages_both_ways,
    a_closed_lane_waits_for_the_answer,
    a_lane_leads_to_another_end,
}

fn word(event: u32) -> [u8; 4] {
    event.to_le_bytes()
}

#[test]
fn what_is_sent_to_a_peer() {
    side::watched(|| {
        let a = Party::open();
        let (listener, _) = listening();
        let ep = a.connect(&offer_of(&listener, &a));
        let mut raw = Raw::accept(&a, &listener);
        raw.is_asked(&a);
        // Nothing before the answer.
        assert_eq!(post(&ep, 7, b"early"), UCS_ERR_NO_RESOURCE as isize);
        assert_eq!(
            raw.socket.read(&mut [0; 9]).unwrap_err().kind(),
            ErrorKind::WouldBlock
        );
        raw.write(&frame(CONNECTION, &word(ACK_AND_REQUEST)));
        send(&[&a], &ep, 7, b"in time");
        raw.expect(&a, 7, b"in time");
        assert_eq!(post(&ep, 8, b""), 0);
        raw.expect(&a, 8, b"");
        let comp = Comp::new(1);
        assert_eq!(ep.flush(UCT_FLUSH_FLAG_REMOTE, comp.ptr()), UCS_INPROGRESS);
        let (id, body) = raw.next(&a);
        assert_eq!((id, &body[..16], body.len()), (PUT, &[0; 16][..], 20));
        assert_eq!(comp.calls(), 0);
        raw.write(&frame(PUT_ACK, &body[16..]));
        a.until(|| comp.calls() == 1);
        assert_eq!(comp.status(), UCS_OK);
        // Is it alive?
        assert_eq!(ep.check(null_mut()), UCS_OK);
        raw.expect(&a, KEEPALIVE, b"");
        // It sends by the same connection, as it said.
        raw.write(&[frame(KEEPALIVE, b""), frame(5, b"back")].concat());
        a.until(|| a.count() == 1);
        drop(raw);
        a.until(|| a.failures() > 0);
        for _ in 0..100 {
            a.progress();
        }
        assert_eq!((a.failures(), a.heard.closed.borrow().len()), (1, 1));
    });
}

#[test]
fn what_a_peer_sends() {
    side::watched(|| {
        let a = Party::open();
        let (_listener, at) = listening();
        let mut raw = Raw::connect(&a, 0, 1 << 40, at);
        raw.expect(&a, CONNECTION, &word(ACK));
        // Byte by byte, and several frames at once.
        for byte in frame(3, b"in parts").chunks(1) {
            raw.write(byte);
            a.progress();
        }
        raw.write(
            &[
                frame(4, b""),
                flush(u32::MAX),
                frame(KEEPALIVE, b""),
                flush(0),
                frame(5, &[6; 65536 - 5]),
            ]
            .concat(),
        );
        // Of several that wait the last number is enough.
        while raw.next(&a) != (PUT_ACK, vec![0; 4]) {}
        let wanted = [
            (3, b"in parts".to_vec()),
            (4, Vec::new()),
            (5, vec![6; 65536 - 5]),
        ];
        assert!(a.bodies(&[&a], 3) == wanted, "other messages");
        // It says that it goes.
        raw.write(&frame(CONNECTION, &word(4)));
        a.until(|| a.heard.closed.borrow().len() == 1);
    });
}

#[test]
fn what_no_peer_may_send_ends_its_connection() {
    side::watched(|| {
        let a = Party::open();
        let (_listener, at) = listening();
        let put = |address: u64, len: u64| {
            let body = [address.to_le_bytes(), len.to_le_bytes()].concat();
            frame(PUT, &[&body[..], &[0; 4]].concat())
        };
        let memory = [0u8; 64];
        let cases: [(&str, Vec<u8>); 12] = [
            (
                "a message beyond the limit",
                [&[2], &(1u32 << 20).to_le_bytes()[..]].concat(),
            ),
            (
                "the longest length",
                [&[2], &u32::MAX.to_le_bytes()[..]].concat(),
            ),
            ("an unknown frame", frame(36, b"")),
            ("the last kind", frame(255, b"")),
            ("a put with a short header", frame(PUT, &[0; 19])),
            ("a put with a long header", frame(PUT, &[0; 21])),
            ("an answer to nothing", frame(PUT_ACK, &[9, 0, 0, 0])),
            ("a keepalive with bytes", frame(KEEPALIVE, &[0])),
            (
                "a put to memory that was not exported",
                [put(memory.as_ptr() as u64, 64), vec![7; 64]].concat(),
            ),
            ("a put across the end of all addresses", put(u64::MAX, 64)),
            ("an event that is none", frame(CONNECTION, &word(9))),
            ("an acceptance of nothing", frame(CONNECTION, &word(ACK))),
        ];
        for (n, (what, bytes)) in cases.iter().enumerate() {
            let mut raw = Raw::connect(&a, 0, (1 << 40) + n as u64, at);
            raw.expect(&a, CONNECTION, &word(ACK));
            raw.write(bytes);
            println!("{what}");
            raw.ends(&a);
        }
        assert_eq!(memory, [0; 64]);
        assert_eq!(a.count(), 0);
        // Others are served as before.
        let mut raw = Raw::connect(&a, 0, 1 << 41, at);
        raw.expect(&a, CONNECTION, &word(ACK));
        raw.write(&frame(2, b"fine"));
        assert_eq!(a.bodies(&[&a], 1), [(2, b"fine".to_vec())]);
    });
}

#[test]
fn a_lane_is_for_who_knows_its_key() {
    side::watched(|| {
        let a = Party::open();
        let (_listener, at) = listening();
        let key = a.lanes().open(HOST).unwrap();
        let mut wrong = Raw::connect(&a, 1, key ^ 1, at);
        wrong.ends(&a);
        assert!(!a.lanes().is_open(key));
        // No answer: both ends know.
        let mut right = Raw::connect(&a, 1, key, at);
        right.write(&frame(2, b"in"));
        a.until(|| a.count() == 1);
        assert_eq!(a.heard.messages.borrow()[0].key, Some(key));
        a.lanes().send(key, 3, b"out").unwrap();
        right.expect(&a, 3, b"out");
    });
}

#[test]
fn a_closed_lane_ends_without_an_answer_too() {
    side::watched(|| {
        let a = Party::open();
        let (_listener, at) = listening();
        let key = a.lanes().open(HOST).unwrap();
        let mut raw = Raw::connect(&a, 1, key, at);
        a.until(|| a.lanes().is_open(key));
        let ep = Ep(a.lanes().join(key).unwrap());
        assert!(a.lanes().ask(key));
        let start = Instant::now();
        drop(ep);
        let (id, body) = raw.next(&a);
        assert_eq!((id, body.len()), (PUT, 20));
        raw.ends(&a);
        let waited = start.elapsed().as_millis();
        assert!((900..4000).contains(&waited), "{waited} ms");
    });
}

#[test]
fn a_peer_that_connects_anew_is_answered_there() {
    side::watched(|| {
        let a = Party::open();
        let (listener, at) = listening();
        let mut old = Raw::connect(&a, 0, 0, at);
        old.expect(&a, CONNECTION, &word(ACK));
        old.write(&frame(2, b"old"));
        a.until(|| a.count() == 1);
        // Its host was switched off and on: nothing tells the end of the first connection.
        let mut new = Raw::connect(&a, 0, 0, at);
        new.expect(&a, CONNECTION, &word(ACK));
        new.write(&frame(2, b"new"));
        a.until(|| a.count() == 2);
        let ep = a.connect(&offer_of(&listener, &a));
        new.is_asked(&a);
        new.write(&frame(CONNECTION, &word(ACK)));
        send(&[&a], &ep, 4, b"answer");
        new.expect(&a, 4, b"answer");
        // Once more, while this side sends by the connection.
        let mut third = Raw::connect(&a, 0, 0, at);
        third.expect(&a, CONNECTION, &word(ACK));
        let next = a.connect(&offer_of(&listener, &a));
        third.is_asked(&a);
        third.write(&frame(CONNECTION, &word(ACK)));
        send(&[&a], &next, 5, b"answer");
        third.expect(&a, 5, b"answer");
        // What goes by the old one still does, until that ends.
        assert_eq!(post(&ep, 6, b"old"), 3);
        new.expect(&a, 6, b"old");
        drop(new);
        a.until(|| a.failures() == 1);
        assert!(a.side.failures.0.borrow()[0].0 == ep.0);
        assert_eq!(post(&next, 7, b"on"), 2);
        third.expect(&a, 7, b"on");
    });
}

#[test]
fn nobody_gets_what_is_for_another_host() {
    side::watched(|| {
        let a = Party::open();
        let (listener, at) = listening();
        let elsewhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2)), at.port());
        let mut raw = Raw::connect(&a, 0, 0, elsewhere);
        raw.expect(&a, CONNECTION, &word(ACK));
        let ep = a.connect(&offer_of(&listener, &a));
        let mut true_one = Raw::accept(&a, &listener);
        true_one.is_asked(&a);
        drop(ep);
    });
}

#[test]
fn without_a_listener_for_it_nothing_of_upstream_is_accepted() {
    side::watched(|| {
        let a = Party::open();
        let at = a.port();
        a.internal().base.internal.on_upstream.set(None);
        assert!(a.internal().upstream_lanes().is_none());
        assert!(a.internal().upstream_offer().is_none());
        let mut raw = Raw::new(TcpStream::connect((HOST, at)).unwrap());
        raw.write(&GREETING.to_le_bytes());
        raw.ends(&a);
    });
}
