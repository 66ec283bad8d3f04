//! The network between the simulated processes: what is under way, when it arrives, and what breaks.
//!
//! A node is an open interface, a link is one transport endpoint of it. What is sent on a link arrives in
//! order, after a delay; between links there is no order. A link may refuse to send for a while. A broken
//! link loses what is under way from some point on, and tells its endpoint later. Nothing here calls
//! anybody while it is borrowed.

use crate::test_rng::TestRng;
use crate::transport::SimIface;
use crate::world::world;
use core::cell::{Cell, RefCell};
use ferrucx::sys::{process, vm_rw};
use ferrucx::ucs::{Result, Status};
use ferrucx::uct::api::{Completion, Posted};
use ferrucx::uct::base::iface::{EpBox, IfaceBox};
use ferrucx::uct::base::pending::{PendingGroup, PendingQueue};
use ferrucx::uct::internal::{EpochGuard, UpstreamEvent, UpstreamMessage};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// What a node is for: messages, or copies between memories only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Messages,
    Copies,
}

/// What the transports of one process can do.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub max_short: Option<usize>,
    pub max_bcopy: usize,
    /// Active messages without a copy: most bytes, if there are any.
    pub max_zcopy: Option<usize>,
    /// There is a transport for copies.
    pub copies: bool,
    pub max_copy: usize,
    /// Memory of peers is mapped.
    pub mapped: bool,
    /// Number of network devices; 0: the transports share memory.
    pub devices: usize,
    /// The fastest of them, which messages go by.
    pub fastest: usize,
}

/// How a network treats what is sent.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Most steps a message takes.
    pub delay: usize,
    /// Most messages under way on a link.
    pub window: usize,
    /// Percent of sends that are refused though there is room.
    pub refuse: usize,
    /// Most messages a progress hands over.
    pub budget: usize,
}

/// A promise of the network that a test breaks, to see that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mischief {
    None,
    /// Two messages of a link change places.
    Swap,
    /// A message is lost.
    Lose,
    /// A message comes twice.
    Double,
    /// A byte changes on the way.
    Damage,
    /// A sender that waits is never called.
    Forget,
}

#[derive(Clone)]
struct Packet {
    due: u64,
    number: u64,
    content: Content,
}

/// What a packet has: a put, an active message, or a put and the message that tells of it.
#[derive(Clone)]
pub struct Content {
    pub put: Option<Put>,
    /// Id and body.
    pub message: Option<(u8, Vec<u8>)>,
    /// The message is one of upstream's.
    pub is_upstream: bool,
}

/// Bytes for memory that was registered with a key.
#[derive(Clone)]
pub struct Put {
    pub key: u64,
    pub at: u64,
    pub bytes: Vec<u8>,
}

pub struct Node {
    pub number: u64,
    pub process: usize,
    pub role: Role,
    /// Which of the process's devices it is on.
    pub device: usize,
    pub shape: Shape,
    /// The node whose message is being handled.
    pub sender: Cell<Option<u64>>,
    pub face: Cell<*const IfaceBox<SimIface>>,
    open: Cell<bool>,
    pub pending: PendingQueue,
    /// Operations that end later: when, what is to be done, whom to tell.
    later: RefCell<Vec<Later>>,
}

struct Later {
    due: u64,
    link: u64,
    copy: Option<Copy>,
    comp: Completion,
    status: Result<()>,
}

/// A copy between memories.
#[derive(Clone, Copy)]
pub struct Copy {
    pub from: *const u8,
    pub to: *mut u8,
    pub len: usize,
    pub guard: Option<EpochGuard>,
}

impl Copy {
    fn run(self) -> Result<()> {
        // SAFETY: buffers of the simulated processes live as long as the run.
        unsafe { core::ptr::copy(self.from, self.to, self.len) };
        let Some(guard) = self.guard else {
            return Ok(());
        };
        // The word belongs to a worker, which may be gone.
        match vm_rw::read_word(process::pid(), guard.at) {
            Ok(word) if word == guard.value => Ok(()),
            _ => Err(Status::CANCELED),
        }
    }
}

pub struct Link {
    pub number: u64,
    pub from: Rc<Node>,
    pub to: Rc<Node>,
    pub group: Rc<PendingGroup>,
    ep: Cell<*const EpBox<SimIface>>,
    queue: RefCell<VecDeque<Packet>>,
    sent: Cell<u64>,
    arrived: Cell<u64>,
    blocked_until: Cell<u64>,
    broken: Cell<bool>,
    /// What is sent is lost, and nobody is told.
    silent: Cell<bool>,
    /// When the endpoint learns that the link is broken.
    fails_at: Cell<Option<u64>>,
    /// It has carried messages of upstream's, whose receiver learns of its end.
    has_upstream: Cell<bool>,
    /// Nothing more is sent.
    has_ended: Cell<bool>,
    flushes: RefCell<Vec<(u64, Completion)>>,
}

pub struct Network {
    pub rng: Rc<TestRng>,
    pub weather: Weather,
    pub mischief: Cell<Mischief>,
    pub now: Cell<u64>,
    /// A send was refused since `busy_with` was asked last.
    refused: Cell<bool>,
    /// Whose interfaces are being opened.
    pub opening: Cell<(usize, Shape)>,
    /// The node that an endpoint of upstream's dialect is being made to.
    pub dialled: Cell<Option<u64>>,
    nodes: RefCell<Vec<Rc<Node>>>,
    links: RefCell<Vec<Rc<Link>>>,
    next_link: Cell<u64>,
    dead: RefCell<Vec<bool>>,
    /// The device, if there is one, by which new links are silent.
    pub silent: Cell<Option<usize>>,
    /// Memory that peers may write to, by key: address and length.
    keys: RefCell<BTreeMap<u64, (u64, usize)>>,
    next_key: Cell<u64>,
    /// What decides which registrations fail, of a hundred so many, and how many have.
    registrations: TestRng,
    refuse_registrations: usize,
    pub refused_registrations: Cell<usize>,
    /// Puts and messages by other devices than the fastest, which only rails use.
    pub puts_by_rails: Cell<usize>,
    pub messages_by_rails: Cell<usize>,
}

thread_local! {
    static NETWORK: RefCell<Option<Rc<Network>>> = const { RefCell::new(None) };
}

/// The network of the run that this thread is in.
pub fn network() -> Rc<Network> {
    NETWORK.with_borrow(|n| n.clone().expect("a simulation is running"))
}

impl Network {
    /// Makes the network of this thread's next run.
    pub fn begin(
        rng: Rc<TestRng>,
        registrations: TestRng,
        weather: Weather,
        processes: usize,
        shape: Shape,
    ) -> Rc<Network> {
        let refuse_registrations = registrations.pick(&[0, 0, 0, 10, 50, 100]);
        let made = Rc::new(Network {
            rng,
            registrations,
            refuse_registrations,
            refused_registrations: Cell::new(0),
            weather,
            mischief: Cell::new(Mischief::None),
            now: Cell::new(0),
            refused: Cell::new(false),
            opening: Cell::new((0, shape)),
            dialled: Cell::new(None),
            nodes: RefCell::new(Vec::new()),
            links: RefCell::new(Vec::new()),
            next_link: Cell::new(1),
            dead: RefCell::new(vec![false; processes]),
            silent: Cell::new(None),
            keys: RefCell::default(),
            next_key: Cell::new(1),
            puts_by_rails: Cell::new(0),
            messages_by_rails: Cell::new(0),
        });
        NETWORK.with_borrow_mut(|n| *n = Some(Rc::clone(&made)));
        made
    }

    pub fn is_dead(&self, process: usize) -> bool {
        self.dead.borrow()[process]
    }

    /// A node for the process whose worker is being made.
    pub fn open(&self, role: Role, device: usize) -> Rc<Node> {
        let (process, shape) = self.opening.get();
        let mut nodes = self.nodes.borrow_mut();
        let node = Rc::new(Node {
            number: nodes.len() as u64 + 1,
            process,
            role,
            device,
            shape,
            sender: Cell::new(None),
            face: Cell::new(core::ptr::null()),
            open: Cell::new(true),
            pending: PendingQueue::new(),
            later: RefCell::new(Vec::new()),
        });
        nodes.push(Rc::clone(&node));
        node
    }

    pub fn node(&self, number: u64) -> Option<Rc<Node>> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.nodes.borrow().get(at).cloned()
    }

    /// Registers memory; returns its key, or nothing where the device has no room for it.
    pub fn register(&self, at: u64, len: usize) -> Option<u64> {
        if self.registrations.chance(self.refuse_registrations) {
            self.refused_registrations
                .set(self.refused_registrations.get() + 1);
            return None;
        }
        let key = self.next_key.get();
        self.next_key.set(key + 1);
        self.keys.borrow_mut().insert(key, (at, len));
        Some(key)
    }

    pub fn deregister(&self, key: u64) {
        assert!(self.keys.borrow_mut().remove(&key).is_some());
    }

    /// Writes a put that has arrived, unless the memory was deregistered since.
    fn write(&self, put: &Put) {
        let keys = self.keys.borrow();
        let Some((at, len)) = keys.get(&put.key) else {
            return;
        };
        let inside = put.at >= *at && put.at + put.bytes.len() as u64 <= at + *len as u64;
        assert!(inside, "a put outside the range of its key");
        // SAFETY: registered memory, inside the range.
        unsafe {
            core::ptr::copy_nonoverlapping(put.bytes.as_ptr(), put.at as *mut u8, put.bytes.len())
        };
    }

    /// Whether there is a connection between a node and another that is not broken, as far as the node has noticed. Its own
    /// takes time; one by which something has come from the other is there.
    pub fn is_linked(&self, from: &Node, to: u64) -> bool {
        let links = self.links.borrow();
        let mut own = links.iter().filter(|l| l.leads(from.number, to));
        let is_made = own.any(|l| !l.broken.get()) && self.rng.chance(40);
        let mut theirs = links.iter().filter(|l| l.leads(to, from.number));
        let has_come = theirs.any(|l| !l.broken.get() && l.arrived.get() > 0);
        is_made || has_come && !links.iter().any(|l| l.is_breaking_between(from.number, to))
    }

    /// The interface closes: whoever is linked to it learns it.
    pub fn close(&self, node: &Node) {
        node.open.set(false);
        for link in self.links.borrow().iter() {
            let ends = link.from.number == node.number;
            link.has_ended.set(link.has_ended.get() || ends);
        }
        self.break_links(|l| l.to.number == node.number);
    }

    pub fn link(&self, from: &Rc<Node>, to: Rc<Node>) -> Rc<Link> {
        let number = self.next_link.get();
        self.next_link.set(number + 1);
        // Links between two nodes share a connection: one that is broken serves no new link until both
        // have noticed.
        let is_shared = |l: &Rc<Link>| l.is_breaking_between(from.number, to.number);
        let shared = self.links.borrow().iter().any(is_shared);
        let gone = shared || !to.open.get() || self.is_dead(to.process);
        let link = Rc::new(Link {
            number,
            from: Rc::clone(from),
            to,
            group: PendingGroup::new(),
            ep: Cell::new(core::ptr::null()),
            queue: RefCell::new(VecDeque::new()),
            sent: Cell::new(0),
            arrived: Cell::new(0),
            blocked_until: Cell::new(0),
            broken: Cell::new(gone),
            silent: Cell::new(false),
            fails_at: Cell::new(gone.then(|| self.soon())),
            has_upstream: Cell::new(false),
            has_ended: Cell::new(false),
            flushes: RefCell::new(Vec::new()),
        });
        if self.silent.get().is_some_and(|device| link.is_by(device)) {
            link.fall_silent(self);
        }
        self.links.borrow_mut().push(Rc::clone(&link));
        link
    }

    /// A device loses what is sent by it from now on, and what is under way. Some links learn it later.
    pub fn fall_silent(&self, device: usize) {
        self.silent.set(Some(device));
        for link in self.links.borrow().iter().filter(|l| l.is_by(device)) {
            link.fall_silent(self);
        }
    }

    /// Some time from now.
    fn soon(&self) -> u64 {
        self.now.get() + 1 + self.rng.below(self.weather.delay * 2 + 1) as u64
    }

    fn break_links(&self, which: impl Fn(&Link) -> bool) {
        for link in self.links.borrow().iter().filter(|l| which(l)) {
            let kept = self.rng.below(link.queue.borrow().len() + 1);
            link.queue.borrow_mut().truncate(kept);
            link.has_ended.set(true);
            if !link.broken.replace(true) && !link.ep.get().is_null() {
                link.fails_at.set(Some(self.soon()));
            }
        }
    }

    /// The connections between two processes break, or those by one device; new ones may be made. Nobody copies from one
    /// to the other before both have learned of it: copies by kernels are over when a connection breaks, or never begin.
    pub fn reset(&self, a: usize, b: usize, device: Option<usize>) {
        // Both directions: they are one connection.
        let by_device = |l: &Link| device.is_none_or(|device| l.is_by(device));
        self.break_links(|l| l.is_between(a, b) && by_device(l));
        for link in self.links.borrow().iter().filter(|l| l.is_between(a, b)) {
            for later in link.from.later.borrow_mut().iter_mut() {
                if later.link == link.number && later.copy.take().is_some() {
                    later.status = Err(Status::CONNECTION_RESET);
                }
            }
        }
    }

    /// Whether one of two processes has not learned yet that their connections broke.
    fn is_breaking(&self, a: usize, b: usize) -> bool {
        let links = self.links.borrow();
        links
            .iter()
            .any(|l| l.fails_at.get().is_some() && l.is_between(a, b))
    }

    /// A process dies: what it sent may still arrive, in part.
    pub fn kill(&self, process: usize) {
        self.dead.borrow_mut()[process] = true;
        self.break_links(|l| l.from.process == process || l.to.process == process);
        for link in self.links.borrow().iter() {
            if link.to.process == process {
                link.queue.borrow_mut().clear();
            }
        }
    }

    /// What will still happen by itself, if anything. Whoever was refused tries again: copies do so in
    /// each progress and are in no queue here.
    pub fn busy_with(&self) -> Option<&'static str> {
        if self.refused.replace(false) {
            return Some("sends that were refused");
        }
        let alive = |n: &Node| n.open.get() && !self.is_dead(n.process);
        for l in self.links.borrow().iter() {
            if l.silent.get() && l.fails_at.get().is_none() {
                continue;
            }
            if alive(&l.to) && !l.queue.borrow().is_empty() {
                return Some("messages");
            }
            if alive(&l.from) && l.fails_at.get().is_some() {
                return Some("failures to tell");
            }
            if alive(&l.from) && !l.flushes.borrow().is_empty() {
                return Some("flushes");
            }
            if alive(&l.from) && !l.broken.get() && !l.group.is_empty() {
                return Some("senders that wait");
            }
        }
        let nodes = self.nodes.borrow();
        let later = nodes
            .iter()
            .any(|n| alive(n) && !n.later.borrow().is_empty());
        later.then_some("completions")
    }

    /// Moves what is due at a node; returns how many events it was.
    pub fn progress(&self, node: &Rc<Node>) -> u32 {
        if self.is_dead(node.process) {
            return 0;
        }
        // A call of the library that progresses until something has ended sees time go on.
        self.now.set(self.now.get() + 1);
        self.finish_later(node)
            + self.tell_failures(node)
            + self.hand_over(node)
            + self.tell_ends(node)
            + self.call_waiting(node)
    }

    fn finish_later(&self, node: &Node) -> u32 {
        let mut count = 0;
        loop {
            let due = {
                let mut all = node.later.borrow_mut();
                let at = all.iter().position(|l| l.due <= self.now.get());
                at.map(|i| all.remove(i))
            };
            let Some(due) = due else { break };
            let status = match (due.copy, due.status) {
                (Some(copy), Ok(())) => copy.run(),
                (_, status) => status,
            };
            due.comp.complete(status);
            count += 1;
        }
        let links = self.links_of(|l| l.from.number == node.number);
        for link in links {
            while !link.has_operations() {
                let done = {
                    let mut all = link.flushes.borrow_mut();
                    let at = all.iter().position(|(n, _)| *n <= link.arrived.get());
                    at.map(|i| all.remove(i).1)
                };
                let Some(comp) = done else { break };
                comp.complete(Ok(()));
                count += 1;
            }
        }
        count
    }

    fn links_of(&self, which: impl Fn(&Link) -> bool) -> Vec<Rc<Link>> {
        self.links
            .borrow()
            .iter()
            .filter(|l| which(l))
            .cloned()
            .collect()
    }

    /// At most one endpoint a progress learns that its link is broken.
    fn tell_failures(&self, node: &Node) -> u32 {
        let now = self.now.get();
        let due = self.links_of(|l| {
            l.from.number == node.number && l.fails_at.get().is_some_and(|at| at <= now)
        });
        let Some(link) = due.first() else { return 0 };
        link.fails_at.set(None);
        link.group.suspend();
        let first = self.rng.chance(50);
        if first {
            self.end_operations(link, Status::CONNECTION_RESET);
        }
        let ep = link.ep.get();
        if !ep.is_null() {
            // SAFETY: the link forgets its endpoint when that is destroyed.
            unsafe { &*ep }.fail(Status::CONNECTION_RESET);
        }
        self.end_operations(link, Status::CONNECTION_RESET);
        1
    }

    /// Completes everything of a link that is under way, with an error.
    fn end_operations(&self, link: &Link, status: Status) {
        loop {
            let next = link.flushes.borrow_mut().pop().map(|(_, comp)| comp);
            let next = next.or_else(|| {
                let mut all = link.from.later.borrow_mut();
                let at = all.iter().position(|l| l.link == link.number);
                at.map(|i| all.remove(i).comp)
            });
            match next {
                Some(comp) => comp.complete(Err(status)),
                None => return,
            }
        }
    }

    fn hand_over(&self, node: &Node) -> u32 {
        let mut count = 0;
        for _ in 0..self.rng.between(1, self.weather.budget) {
            let now = self.now.get();
            let ready = self.links_of(|l| {
                l.to.number == node.number && l.queue.borrow().front().is_some_and(|p| p.due <= now)
            });
            if ready.is_empty() || !node.open.get() {
                break;
            }
            let link = &ready[self.rng.below(ready.len())];
            let Some(packet) = self.take_packet(link) else {
                break;
            };
            link.arrived.set(packet.number);
            count += 1;
            if let Some(put) = &packet.content.put {
                self.write(put);
            }
            let Some((id, bytes)) = packet.content.message else {
                continue;
            };
            // Off any alignment: a transport promises none.
            let skew = self.rng.below(8);
            let mut memory = vec![0u8; skew];
            memory.extend_from_slice(&bytes);
            // SAFETY: open, so alive.
            let face = unsafe { &*node.face.get() };
            let len = bytes.len();
            if packet.content.is_upstream {
                let message = UpstreamMessage {
                    id,
                    body: &memory[skew..],
                    connection: link.number,
                    device: Some(&[link.from.device as u8]),
                    key: None,
                };
                let taken = face
                    .base
                    .internal
                    .upstream(&UpstreamEvent::Message(message));
                if let Err(e) = taken {
                    world().fault(format!("message {id} of upstream's is refused: {e}"));
                }
                continue;
            }
            let before = node.sender.replace(Some(link.from.number));
            // SAFETY: `len` readable bytes for the time of the call.
            unsafe {
                face.base
                    .am
                    .invoke(id, memory.as_mut_ptr().wrapping_add(skew), len, 0)
            };
            node.sender.set(before);
        }
        count
    }

    /// A link that upstream's messages came by has ended, with all of them handed over.
    fn tell_ends(&self, node: &Node) -> u32 {
        let ended = self.links_of(|l| {
            let is_over = l.has_ended.get() && l.queue.borrow().is_empty();
            l.to.number == node.number && is_over && l.has_upstream.take()
        });
        for link in &ended {
            if node.open.get() {
                let closed = UpstreamEvent::Closed {
                    connection: link.number,
                    key: None,
                };
                // SAFETY: open, so alive.
                let face = unsafe { &*node.face.get() };
                assert_eq!(face.base.internal.upstream(&closed), Ok(()));
            }
        }
        ended.len() as u32
    }

    fn take_packet(&self, link: &Link) -> Option<Packet> {
        let mut queue = link.queue.borrow_mut();
        let strike = self.mischief.get() != Mischief::None && self.rng.chance(3);
        match self.mischief.get() {
            Mischief::Swap if strike && queue.len() > 1 => queue.swap(0, 1),
            Mischief::Lose if strike => drop(queue.pop_front()),
            Mischief::Double if strike => {
                let again = queue.front()?.clone();
                queue.push_front(again);
            }
            Mischief::Damage if strike => {
                let first = queue.front_mut().map(|p| &mut p.content);
                let bytes = first.and_then(|c| match (&mut c.put, &mut c.message) {
                    (Some(put), _) => Some(&mut put.bytes),
                    (None, message) => message.as_mut().map(|(_, bytes)| bytes),
                });
                if let Some(last) = bytes.and_then(|bytes| bytes.last_mut()) {
                    *last ^= 1;
                }
            }
            _ => {}
        }
        queue.pop_front()
    }

    fn call_waiting(&self, node: &Node) -> u32 {
        let now = self.now.get();
        let any = self.links_of(|l| {
            let waits = l.from.number == node.number && !l.group.is_empty();
            // A buffer that nobody empties never has room.
            waits && l.blocked_until.get() <= now && (!l.silent.get() || l.broken.get())
        });
        if any.is_empty() || self.mischief.get() == Mischief::Forget {
            return 0;
        }
        node.pending.dispatch()
    }
}

impl Link {
    /// The endpoint has its final address.
    pub fn attach(&self, ep: *const EpBox<SimIface>) {
        self.ep.set(ep);
    }

    /// The endpoint goes: what it sent still arrives, what is under way is cancelled.
    pub fn detach(&self, net: &Network) {
        self.ep.set(core::ptr::null());
        self.fails_at.set(None);
        self.group.close();
        self.cancel(net);
    }

    /// Whether it leads from one of these nodes to the other.
    fn leads(&self, from: u64, to: u64) -> bool {
        (self.from.number, self.to.number) == (from, to)
    }

    /// Whether it is between these nodes and broken, and its endpoint has not learned of it, or who gets upstream's messages
    /// by it.
    fn is_breaking_between(&self, a: u64, b: u64) -> bool {
        let is_ending = self.broken.get() && self.has_upstream.get();
        (self.leads(a, b) || self.leads(b, a)) && (self.fails_at.get().is_some() || is_ending)
    }

    /// Whether it leads to another process, from or to a device.
    fn is_by(&self, device: usize) -> bool {
        let begins_or_ends = self.from.device == device || self.to.device == device;
        begins_or_ends && self.from.process != self.to.process
    }

    fn fall_silent(&self, net: &Network) {
        self.queue.borrow_mut().clear();
        if !self.broken.get() && !self.silent.replace(true) && net.rng.chance(50) {
            self.broken.set(true);
            self.fails_at
                .set(Some(net.now.get() + net.rng.below(3_000) as u64));
        }
    }

    /// Whether it leads from one of two processes to the other.
    fn is_between(&self, a: usize, b: usize) -> bool {
        let ends = (self.from.process, self.to.process);
        ends == (a, b) || ends == (b, a)
    }

    /// Ends what is under way.
    pub fn cancel(&self, net: &Network) {
        net.end_operations(self, Status::CANCELED);
    }

    fn has_room(&self, net: &Network) -> bool {
        self.blocked_until.get() <= net.now.get() && self.queue.borrow().len() < net.weather.window
    }

    /// Whether something may be sent now. `Ok(false)`: it is lost.
    pub fn admit(&self, net: &Network) -> Result<bool> {
        if net.is_dead(self.from.process) {
            return Ok(false);
        }
        if self.silent.get() && self.fails_at.get().is_some() | !self.broken.get() {
            // Into a buffer, which may be full.
            let is_full = self.number.is_multiple_of(2);
            return if is_full {
                Err(Status::NO_RESOURCE)
            } else {
                Ok(false)
            };
        }
        if self.broken.get() {
            return if net.rng.chance(50) || self.fails_at.get().is_none() {
                Err(Status::CONNECTION_RESET)
            } else {
                Ok(false)
            };
        }
        if !self.has_room(net) {
            net.refused.set(true);
            return Err(Status::NO_RESOURCE);
        }
        if net.rng.chance(net.weather.refuse) {
            self.blocked_until
                .set(net.now.get() + 1 + net.rng.below(6) as u64);
            net.refused.set(true);
            return Err(Status::NO_RESOURCE);
        }
        Ok(true)
    }

    pub fn send(&self, net: &Network, content: Content) {
        let number = self.sent.get() + 1;
        self.sent.set(number);
        if self.from.device != self.from.shape.fastest {
            let count = match content.put {
                Some(_) => &net.puts_by_rails,
                None => &net.messages_by_rails,
            };
            count.set(count.get() + 1);
        }
        self.has_upstream
            .set(self.has_upstream.get() || content.is_upstream);
        let due = net.now.get() + net.rng.below(net.weather.delay + 1) as u64;
        self.queue.borrow_mut().push_back(Packet {
            due,
            number,
            content,
        });
    }

    /// Puts bytes into the peer's memory; `comp` completes when they are there.
    pub fn put(&self, net: &Network, put: Put, comp: Completion) -> Result<Posted> {
        let mut number = u64::MAX;
        if self.admit(net)? {
            let content = Content {
                put: Some(put),
                message: None,
                is_upstream: false,
            };
            self.send(net, content);
            number = self.sent.get();
        }
        if comp.is_none() {
            return Ok(Posted::Done);
        }
        self.flushes.borrow_mut().push((number, comp));
        Ok(Posted::InProgress)
    }

    /// Puts bytes into the peer's memory and a message behind them. `comp` completes when the source is free.
    pub fn put_notify(&self, net: &Network, content: Content, comp: Completion) -> Result<Posted> {
        if self.admit(net)? {
            self.send(net, content);
        }
        if comp.is_none() || net.rng.chance(50) {
            return Ok(Posted::Done);
        }
        self.end_later(net, None, comp);
        Ok(Posted::InProgress)
    }

    /// Whether a sender has to wait; the transport may find room in the moment it is asked.
    pub fn must_wait(&self, net: &Network) -> bool {
        if self.silent.get() && !self.broken.get() {
            return true;
        }
        if self.broken.get() {
            return self.fails_at.get().is_some();
        }
        if self.queue.borrow().len() < net.weather.window && net.rng.chance(20) {
            self.blocked_until.set(0);
        }
        !self.has_room(net)
    }

    /// Flushes: done, or told through `comp` when all that was sent has arrived.
    pub fn flush(&self, net: &Network, remote: bool, comp: Completion) -> Result<Posted> {
        let has_rails = self.from.shape.devices > 0;
        if !has_rails && !self.broken.get() && !self.has_room(net) && net.rng.chance(50) {
            return Err(Status::NO_RESOURCE);
        }
        if self.broken.get() && (self.fails_at.get().is_none() || net.rng.chance(50)) {
            return Err(Status::CONNECTION_RESET);
        }
        let arrived = !remote || self.queue.borrow().is_empty();
        if !self.broken.get() && arrived && !self.has_operations() && net.rng.chance(50) {
            // Local completion: nothing of the sender's memory is needed any more.
            return Ok(Posted::Done);
        }
        if !comp.is_none() {
            self.flushes.borrow_mut().push((self.sent.get(), comp));
        }
        Ok(Posted::InProgress)
    }

    /// Copies between memories, now or later.
    pub fn copy(&self, net: &Network, copy: Copy, comp: Completion) -> Result<Posted> {
        if !self.admit(net)? || net.is_breaking(self.from.process, self.to.process) {
            return Err(Status::CONNECTION_RESET);
        }
        if comp.is_none() || net.rng.chance(50) {
            return copy.run().map(|()| Posted::Done);
        }
        self.end_later(net, Some(copy), comp);
        Ok(Posted::InProgress)
    }

    /// Whether something is under way whose completion comes later: a flush waits for it.
    fn has_operations(&self) -> bool {
        let later = self.from.later.borrow();
        later.iter().any(|l| l.link == self.number)
    }

    /// A completion comes later.
    pub fn end_later(&self, net: &Network, copy: Option<Copy>, comp: Completion) {
        let due = net.soon();
        self.from.later.borrow_mut().push(Later {
            due,
            link: self.number,
            copy,
            comp,
            status: Ok(()),
        });
    }
}
