//! A peer that says anything: every kind of message cut, mixed up and repeated, with keys it was told and keys
//! it invents, over each transport. Nothing outside a posted buffer is written, no callback gets more
//! than there is, and afterwards honest messages go through.

use super::*;
use crate::ucs::async_ctx::{AsyncContext, Mode};
use crate::ucs::config::Config;
use crate::ucs::test_rng::TestRng;
use crate::uct::base::md::MdHandle;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::registry::COMPONENTS;
use std::time::{Duration, Instant};

/// What an interface was told.
#[derive(Default)]
struct Heard {
    /// Messages of the library's own ids, as they came.
    raw: RefCell<Vec<(u8, Vec<u8>)>>,
    unexpected: Cell<usize>,
    /// Set where the messages are to be handled as well.
    engine: Cell<*const Engine>,
}

fn entry(bytes: &[u8]) -> uct_iov_t {
    uct_iov_t {
        buffer: bytes.as_ptr().cast_mut().cast(),
        length: bytes.len(),
        memh: core::ptr::null_mut(),
        stride: 0,
        count: 1,
    }
}

const GUARD: usize = 64;
const FILL: u8 = 0xee;

/// A posted receive with a fence of known bytes around its buffer. The context comes first.
#[repr(C)]
struct Post {
    ctx: uct_tag_context_t,
    memory: Vec<u8>,
    capacity: usize,
    ended: Cell<Option<(i8, usize)>>,
    /// The buffer when the receive ended: nobody writes there afterwards.
    at_end: RefCell<Vec<u8>>,
}

unsafe extern "C" fn consumed(_ctx: *mut uct_tag_context_t) {}

unsafe extern "C" fn completed(
    ctx: *mut uct_tag_context_t,
    _tag: u64,
    _imm: u64,
    len: usize,
    inline_data: *mut c_void,
    status: i8,
) {
    // SAFETY: the context stands at the start of a live `Post`.
    let post = unsafe { &*ctx.cast::<Post>() };
    assert!(inline_data.is_null());
    assert!(
        status != UCS_OK || len <= post.capacity,
        "{len} bytes into {}",
        post.capacity
    );
    post.end(status, len);
}

unsafe extern "C" fn asked(
    ctx: *mut uct_tag_context_t,
    _tag: u64,
    header: *const c_void,
    len: u32,
    status: i8,
    _flags: u32,
) {
    let byte = |at| {
        // SAFETY: the header is readable for its length.
        u64::from(unsafe { header.cast::<u8>().add(at).read() })
    };
    let sum: u64 = (0..len as usize).map(byte).sum();
    std::hint::black_box(sum);
    // SAFETY: as in `completed`.
    unsafe { &*ctx.cast::<Post>() }.end(status, 0);
}

impl Post {
    fn new(capacity: usize) -> Box<Post> {
        Box::new(Post {
            ctx: uct_tag_context_t {
                tag_consumed_cb: Some(consumed),
                completed_cb: Some(completed),
                rndv_cb: Some(asked),
                // SAFETY: all-zero is a value of the bytes.
                ..unsafe { core::mem::zeroed() }
            },
            memory: vec![FILL; capacity + 2 * GUARD],
            capacity,
            ended: Cell::new(None),
            at_end: RefCell::default(),
        })
    }

    fn iov(&self) -> uct_iov_t {
        entry(&self.memory[GUARD..GUARD + self.capacity])
    }

    fn now(&self) -> Vec<u8> {
        // Read anew: the library writes there behind a pointer.
        let at = self.memory.as_ptr();
        let byte = |i| {
            // SAFETY: inside the vector.
            unsafe { at.add(i).read_volatile() }
        };
        (0..self.memory.len()).map(byte).collect()
    }

    fn end(&self, status: i8, len: usize) {
        assert!(
            self.ended.replace(Some((status, len))).is_none(),
            "told twice"
        );
        *self.at_end.borrow_mut() = self.now();
    }

    fn check(&self) {
        let now = self.now();
        let (front, rest) = now.split_at(GUARD);
        let fence = front.iter().chain(&rest[self.capacity..]);
        assert!(
            fence.copied().all(|b| b == FILL),
            "written outside the buffer"
        );
        if self.ended.get().is_some() {
            assert_eq!(now, *self.at_end.borrow(), "written after the end");
        }
    }
}

unsafe extern "C" fn unexpected(
    arg: *mut c_void,
    data: *mut c_void,
    len: usize,
    _flags: u32,
    _tag: u64,
    _imm: u64,
    _word: *mut *mut c_void,
) -> i8 {
    // SAFETY: the interface's `Heard`, and as many bytes as it says.
    let heard = unsafe { &*arg.cast::<Heard>() };
    heard.unexpected.set(heard.unexpected.get() + 1);
    // SAFETY: a descriptor of `len` bytes is ours to write.
    unsafe { data.cast::<u8>().write_bytes(0x11, len) };
    UCS_OK
}

unsafe extern "C" fn unexpected_rndv(
    arg: *mut c_void,
    _flags: u32,
    _tag: u64,
    header: *const c_void,
    len: u32,
    _address: u64,
    _data_len: usize,
    _rkey: *const c_void,
) -> i8 {
    // SAFETY: as above.
    let heard = unsafe { &*arg.cast::<Heard>() };
    heard.unexpected.set(heard.unexpected.get() + 1);
    // SAFETY: the header stands in a descriptor.
    unsafe {
        header
            .cast::<u8>()
            .cast_mut()
            .write_bytes(0x22, len as usize)
    };
    UCS_OK
}

/// Notes a message, and hands it to the engine where there is one to hand it to.
unsafe fn overhear(arg: *const c_void, id: u8, data: *const u8, len: usize) {
    // SAFETY: set together with a live `Heard`.
    let heard = unsafe { &*arg.cast::<Heard>() };
    if len <= 512 && heard.raw.borrow().len() < 4096 {
        let byte = |at| {
            // SAFETY: readable for `len` bytes.
            unsafe { data.add(at).read() }
        };
        let bytes = (0..len).map(byte).collect();
        heard.raw.borrow_mut().push((id, bytes));
    }
    let engine = heard.engine.get();
    if !engine.is_null() {
        // SAFETY: the engine of the same interface.
        unsafe { Engine::on_message(engine.cast(), id, data, len) };
    }
}

/// An interface with tag matching on a worker of its own.
struct Face {
    h: uct_iface_h,
    worker: uct_worker_h,
    md: uct_md_h,
    context: Box<usize>,
    heard: Box<Heard>,
}

impl Face {
    fn open(name: &str, device: &str) -> Face {
        let component = COMPONENTS
            .iter()
            .find(|c| c.component.name() == name)
            .unwrap();
        let config = Config::read(component.component.md_config(), None).unwrap();
        let domain = component.domains()[0];
        let md = Box::into_raw(Box::new(MdHandle {
            component,
            name: domain.to_owned(),
            md: component.component.md_open(domain, &config).unwrap(),
        }));
        let mut context = Box::new(AsyncContext::new(Mode::ThreadSpinlock).into_raw());
        let worker = WorkerHandle::create(core::ptr::from_mut(&mut *context).cast());
        let heard = Box::<Heard>::default();
        let arg = core::ptr::from_ref(&*heard).cast_mut().cast();
        let params = IfaceParams {
            tag: Some(TagParams {
                eager_cb: Some(unexpected),
                eager_arg: arg,
                rndv_cb: Some(unexpected_rndv),
                rndv_arg: arg,
            }),
            ..IfaceParams::default()
        };
        let transport = component.component.transports()[0];
        let config = Config::read(transport.config(), None).unwrap();
        // SAFETY: just made.
        let (domain, on) = unsafe { (&*md, WorkerHandle::from_c(worker).unwrap()) };
        let h = transport
            .open(domain.md.as_ref(), on, device, params, &config)
            .unwrap();
        let face = Face {
            h,
            worker,
            md: md.cast(),
            context,
            heard,
        };
        face.engine().base().attach(face.md, Vec::new());
        // SAFETY: an open interface.
        unsafe { (face.ops().iface_progress_enable.unwrap())(h, u32::MAX) };
        face
    }

    fn ops(&self) -> &uct_iface_ops {
        // SAFETY: an open interface.
        unsafe { &(*self.h).ops }
    }

    fn engine(&self) -> &Engine {
        // SAFETY: an open interface, opened with the parameters.
        unsafe { base_of(self.h) }.tag.get().expect("tag matching")
    }

    fn listen(&self, also_handle: bool) {
        if also_handle {
            self.heard.engine.set(self.engine());
        }
        let arg = core::ptr::from_ref(&*self.heard).cast();
        self.engine().base().am.set_internal(Some((overhear, arg)));
    }

    fn progress(&self) {
        // SAFETY: a live worker.
        unsafe { WorkerHandle::from_c(self.worker) }
            .unwrap()
            .progress();
    }

    fn connect(&self, to: &Face) -> uct_ep_h {
        let own = to.engine().own_addresses();
        let params = EpParams {
            device: Some(GivenAddress::of(own.device)),
            iface: Some(GivenAddress::of(own.iface)),
        };
        self.engine().connect(&params).unwrap()
    }

    fn post(&self, tag: u64, mask: u64, post: &Post) -> i8 {
        let ctx = core::ptr::from_ref(&post.ctx).cast_mut();
        // SAFETY: the post outlives the interface.
        unsafe {
            (self.ops().iface_tag_recv_zcopy.unwrap())(self.h, tag, mask, &post.iov(), 1, ctx)
        }
    }

    /// Takes a receive back that has not ended.
    fn cancel(&self, post: &Post, force: bool) {
        if post.ended.get().is_some() {
            return;
        }
        let ctx = core::ptr::from_ref(&post.ctx).cast_mut();
        let cancel = self.ops().iface_tag_recv_cancel.unwrap();
        // SAFETY: posted and not ended.
        assert_eq!(unsafe { cancel(self.h, ctx, i32::from(force)) }, UCS_OK);
        if force {
            post.end(UCS_ERR_CANCELED, 0);
        }
    }
}

impl Drop for Face {
    fn drop(&mut self) {
        // SAFETY: open, closed once; then its worker and domain.
        unsafe {
            (self.ops().iface_close.unwrap())(self.h);
            WorkerHandle::destroy(self.worker);
            drop(Box::from_raw(self.md.cast::<MdHandle>()));
            drop(AsyncContext::from_raw(*self.context));
        }
    }
}

/// A number that a field could hold: small, huge, told to us, or anything.
fn value(random: &TestRng, known: &[u64]) -> u64 {
    match random.below(8) {
        0 => 0,
        1 => random.next() % 16,
        2 => u64::MAX - random.next() % 16,
        3 => 1 << random.below(64),
        4 => random.next(),
        _ if known.is_empty() => random.next() % 8192,
        _ => random.pick(known),
    }
}

/// One message of the hostile peer.
fn speech(
    random: &TestRng,
    known: &[u64],
    heard: &[(u8, Vec<u8>)],
    from: &wire::Addresses<'_>,
) -> (u8, Vec<u8>) {
    let id = wire::SHORT + random.below(14) as u8;
    let mut body = match id {
        _ if random.below(4) == 0 && !heard.is_empty() => {
            let (_, bytes) = &heard[random.below(heard.len())];
            bytes.clone()
        }
        wire::OFFER => {
            let mut reach = [0; wire::REACH];
            match random.below(3) {
                0 => reach = cma_address(),
                1 => reach.copy_from_slice(&random.bytes(wire::REACH)),
                _ => (),
            }
            let sizes = [0, 8, random.below(300)];
            let (header, rkey) = (random.pick(&sizes), random.pick(&sizes));
            let mut iface = from.iface.to_vec();
            if random.below(8) == 0 && !iface.is_empty() {
                let at = random.below(iface.len());
                iface[at] ^= 1 << random.below(8);
            }
            let offer = wire::Offer {
                key: value(random, known),
                tag: random.next() % 4,
                engine: value(random, known),
                address: value(random, known),
                len: value(random, &[0, 1, 100, 5000]),
                live: value(random, known),
                reach: &reach,
                header: &random.bytes(header),
                rkey: &random.bytes(rkey),
                from: wire::Addresses {
                    device: from.device,
                    iface: &iface,
                },
            };
            offer.encode().unwrap()
        }
        wire::WANT | wire::TAKEN => {
            let claim = wire::Claim {
                offer: value(random, known),
                receive: value(random, known),
                from: *from,
            };
            claim.encode().unwrap()
        }
        _ => {
            let first = if id <= wire::EAGER {
                random.next() % 4
            } else {
                value(random, known)
            };
            let mut body = first.to_le_bytes().to_vec();
            for _ in 0..3 {
                let next = match random.below(3) {
                    0 => value(random, known),
                    1 => random.next() % 4,
                    _ => random.next() % 9000,
                };
                body.extend(next.to_le_bytes());
            }
            let len = random.pick(&[0, 1, 40, 1000]);
            body.extend(random.bytes(len));
            body
        }
    };
    match random.below(6) {
        0 => body.truncate(random.below(body.len() + 1)),
        1 if !body.is_empty() => {
            let at = random.below(body.len().min(56));
            body[at] = random.next() as u8;
        }
        _ => (),
    }
    (id, body)
}

fn cma_address() -> [u8; wire::REACH] {
    crate::uct::cma::wire::encode(crate::uct::cma::peer::open().unwrap().name)
}

/// Numbers of the messages that were heard: keys, names of engines, addresses.
fn numbers_of(heard: &[(u8, Vec<u8>)]) -> Vec<u64> {
    let words = |bytes: &Vec<u8>| -> Vec<u64> {
        bytes
            .chunks_exact(8)
            .take(6)
            .map(|w| u64::from_le_bytes(w.try_into().unwrap()))
            .collect()
    };
    heard
        .iter()
        .rev()
        .take(32)
        .flat_map(|(_, bytes)| words(bytes))
        .collect()
}

/// `FERRUCX_LONG=1` asks for the long form.
fn rounds(short: usize) -> usize {
    if std::env::var_os("FERRUCX_LONG").is_some() {
        short * 50
    } else {
        short
    }
}

fn hostile(component: &str, device: &str, rounds: usize) {
    let victim = Face::open(component, device);
    // `self` reaches only itself: there the hostile messages are its own.
    let other = (component != "self").then(|| Face::open(component, device));
    let attacker = other.as_ref().unwrap_or(&victim);
    attacker.listen(other.is_none());
    let (attack, back) = (attacker.connect(&victim), victim.connect(attacker));
    let random = TestRng::new(0x5eed_7a67);
    let mut posts: Vec<Box<Post>> = Vec::new();
    let mut offers: Vec<*mut c_void> = Vec::new();
    let data = random.bytes(6000);
    let iov = entry(&data);
    let progress = || {
        victim.progress();
        if let Some(other) = &other {
            other.progress();
        }
    };
    for round in 0..rounds {
        match random.below(8) {
            0 if posts.len() < 200 => {
                let capacity = random.pick(&[0, 1, 64, 1000, 8192]);
                let post = Post::new(capacity);
                let mask = random.pick(&[0, 1, u64::MAX, u64::MAX]);
                assert_eq!(victim.post(random.next() % 4, mask, &post), UCS_OK);
                posts.push(post);
            }
            1 if !posts.is_empty() => {
                let post = &posts[random.below(posts.len())];
                victim.cancel(post, random.below(2) == 0);
            }
            2 => {
                // SAFETY: the data outlive both interfaces; nobody waits for the completion.
                let iov = unsafe { Iov::from_c(&iov, 1) }.unwrap();
                if let Ok(op) =
                    victim
                        .engine()
                        .offer(back, random.next() % 4, b"header", iov, Completion::NONE)
                {
                    offers.push(op);
                }
            }
            3 if !offers.is_empty() => {
                // It may be over, as far as the peer said.
                let op = offers.swap_remove(random.below(offers.len()));
                let _ = victim.engine().withdraw(op as u64);
            }
            _ => {
                let heard = attacker.heard.raw.borrow().clone();
                let (id, body) = speech(
                    &random,
                    &numbers_of(&heard),
                    &heard,
                    &attacker.engine().own_addresses(),
                );
                let limit = attacker.engine().limits.bcopy;
                let sent = attacker.engine().send(attack, id, |dest| {
                    let n = body.len().min(limit);
                    // SAFETY: there is room for the limit.
                    unsafe { core::ptr::copy_nonoverlapping(body.as_ptr(), dest, n) };
                    n
                });
                assert!(matches!(sent, Ok(_) | Err(Status::NO_RESOURCE)), "{sent:?}");
            }
        }
        if random.below(4) == 0 {
            progress();
        }
        if round % 256 == 0 {
            posts.iter().for_each(|post| post.check());
            // What ended is checked to the end of the round, and makes room for others.
            posts.retain(|post| post.ended.get().is_none());
            attacker.heard.raw.borrow_mut().truncate(256);
        }
    }
    // A receive of the hostile time would get what comes first.
    posts.iter().for_each(|post| victim.cancel(post, true));
    honest(&victim, attacker, attack, &progress);
    posts.iter().for_each(|post| post.check());
    assert!(victim.heard.unexpected.get() > 0);
    // SAFETY: live endpoints, for the last time; then nothing writes to the buffers any more.
    unsafe {
        (attacker.engine().ways.disconnect)(attack);
        (victim.engine().ways.disconnect)(back);
    }
    drop(other);
    drop(victim);
    posts.iter().for_each(|post| post.check());
}

/// Messages with a tag of their own arrive, whatever was said before.
fn honest(victim: &Face, attacker: &Face, ep: uct_ep_h, progress: &dyn Fn()) {
    const TAG: u64 = 0x600d_0000;
    // The peer behaves from here on: its engine answers.
    let engine: *const Engine = attacker.engine();
    attacker
        .engine()
        .base()
        .am
        .set_internal(Some((Engine::on_message, engine.cast())));
    let deadline = Instant::now() + Duration::from_secs(30);
    for len in [8usize, 1000, 200_000] {
        let data: Vec<u8> = (0..len).map(|at| at as u8).collect();
        let iov = entry(&data);
        for by_offer in [false, true] {
            let post = Post::new(len);
            assert_eq!(victim.post(TAG, u64::MAX, &post), UCS_OK);
            while post.ended.get().is_none() {
                let sent = if by_offer {
                    // SAFETY: the data live until the message is there.
                    let iov = unsafe { Iov::from_c(&iov, 1) }.unwrap();
                    let offer = attacker.engine().offer(ep, TAG, b"", iov, Completion::NONE);
                    offer.map_or_else(Status::code, |_| UCS_INPROGRESS)
                } else {
                    let send = attacker.ops().ep_tag_eager_zcopy.unwrap();
                    // SAFETY: as above, on a live endpoint.
                    unsafe { send(ep, TAG, 0, &iov, 1, 0, core::ptr::null_mut()) }
                };
                for _ in 0..100_000 {
                    progress();
                    if post.ended.get().is_some() {
                        break;
                    }
                }
                assert!(
                    [UCS_OK, UCS_INPROGRESS, UCS_ERR_NO_RESOURCE].contains(&sent),
                    "{sent}"
                );
                assert!(
                    Instant::now() < deadline,
                    "no honest message of {len} bytes arrives"
                );
            }
            assert_eq!(post.ended.get(), Some((UCS_OK, len)));
            assert_eq!(post.now()[GUARD..GUARD + len], data);
            post.check();
        }
    }
}

#[test]
fn a_hostile_peer_over_self() {
    hostile("self", "memory", rounds(20_000));
}

#[test]
fn a_hostile_peer_over_posix() {
    hostile("posix", "memory", rounds(20_000));
}

#[test]
fn a_hostile_peer_over_sysv() {
    hostile("sysv", "memory", rounds(20_000));
}

#[test]
fn a_hostile_peer_over_tcp() {
    hostile("tcp", "lo", rounds(10_000));
}
