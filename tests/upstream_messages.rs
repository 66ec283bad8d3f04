//! What a worker does with messages in upstream's format, written here byte by byte: UCP's part, without a connection.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is a C call under test on handles that `World` keeps alive"
)]

use ferrucx::abi::ucp::{context, ep, mem, request, tag, worker};
use ferrucx::c::*;
use ferrucx::ucp::ep::Ep;
use ferrucx::ucp::upstream::on_event;
use ferrucx::ucs::{Result, Status};
use ferrucx::uct::internal::{UpstreamEvent, UpstreamMessage};
use ferrucx::wire::id::{EpId, EpName};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

const WIREUP: u8 = 1;
const EAGER: u8 = 2;
const FIRST: u8 = 3;
const MIDDLE: u8 = 4;
const SYNC: u8 = 6;
const SYNC_FIRST: u8 = 7;
const SYNC_ACK: u8 = 8;
const RTS: u8 = 9;
const ATS: u8 = 10;
const RTR: u8 = 11;
const DATA: u8 = 12;
const STREAM: u8 = 15;
const ATP: u8 = 16;
const PUT: u8 = 17;
const GET: u8 = 18;
const GET_REPLY: u8 = 19;
const ATOMIC: u8 = 20;
const ATOMIC_REPLY: u8 = 21;
const COMPLETION: u8 = 22;
const AM: u8 = 23;
const AM_FIRST: u8 = 24;
const AM_MIDDLE: u8 = 25;
const AM_REPLY: u8 = 26;
/// Messages other than those about memory, and the lengths of their headers.
const HEADERS: [(u8, usize); 17] = [
    (WIREUP, 20),
    (EAGER, 8),
    (FIRST, 24),
    (MIDDLE, 16),
    (SYNC, 24),
    (SYNC_FIRST, 40),
    (SYNC_ACK, 9),
    (RTS, 41),
    (ATS, 9),
    (RTR, 40),
    (DATA, 16),
    (STREAM, 8),
    (ATP, 9),
    (AM, 8),
    (AM_FIRST, 32),
    (AM_MIDDLE, 24),
    (AM_REPLY, 16),
];
/// The same of those about memory.
const ACCESSES: [(u8, usize); 6] = [
    (PUT, 20),
    (GET, 36),
    (GET_REPLY, 16),
    (ATOMIC, 26),
    (ATOMIC_REPLY, 8),
    (COMPLETION, 8),
];
const UUID: u64 = 7;
/// Bytes of the memory of `World`.
const LEN: usize = 512;
const UNTOUCHED: u8 = 0xa5;

/// A worker that upstream's processes may talk to, an endpoint to one, and memory of which a key was packed.
struct World {
    context: ucp_context_h,
    worker: ucp_worker_h,
    ep: ucp_ep_h,
    memory: Box<[u8; LEN]>,
    handle: ucp_mem_h,
    /// One at a time: settings are of the process.
    _turn: MutexGuard<'static, ()>,
}

fn ok(status: i8) {
    assert_eq!(status, UCS_OK);
}

impl World {
    fn new() -> World {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = Box::new([UNTOUCHED; LEN]);
        unsafe {
            for (name, value) in [("UCX_TLS", "self"), ("UCX_LOG_LEVEL", "fatal")] {
                std::env::set_var(name, value);
            }
            let mut params: ucp_params_t = std::mem::zeroed();
            params.field_mask = UCP_PARAM_FIELD_FEATURES.into();
            params.features = u64::from(
                UCP_FEATURE_TAG
                    | UCP_FEATURE_AM
                    | UCP_FEATURE_STREAM
                    | UCP_FEATURE_RMA
                    | UCP_FEATURE_AMO32
                    | UCP_FEATURE_AMO64,
            );
            let mut context = null_mut();
            ok(context::ucp_init_version(
                1,
                22,
                &params,
                null(),
                &mut context,
            ));
            let mut worker = null_mut();
            ok(worker::ucp_worker_create(
                context,
                &std::mem::zeroed(),
                &mut worker,
            ));
            let (mut own, mut length) = (null_mut(), 0);
            ok(worker::ucp_worker_get_address(
                worker,
                &mut own,
                &mut length,
            ));
            let mut params: ucp_ep_params_t = std::mem::zeroed();
            params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS.into();
            params.address = own;
            let mut ep = null_mut();
            ok(ep::ucp_ep_create(worker, &params, &mut ep));
            worker::ucp_worker_release_address(worker, own);
            let handle = map(context, &mut memory[..]);
            publish(context, handle);
            let world = World {
                context,
                worker,
                ep,
                memory,
                handle,
                _turn: turn,
            };
            world.ep().set_upstream();
            let (uuid, id) = (UUID, EpId(9));
            world.ep().named_by_upstream(EpName { uuid, id });
            world
        }
    }

    fn ep(&self) -> &Ep {
        unsafe { &*self.ep.cast::<Ep>() }
    }

    fn id(&self) -> u64 {
        self.ep().id.get()
    }

    /// A message comes.
    fn hear(&self, id: u8, body: &[u8]) -> Result<()> {
        let message = UpstreamMessage {
            id,
            body,
            connection: 5,
            device: None,
            key: None,
        };
        on_event(self.ep().worker(), &UpstreamEvent::Message(message))
    }

    fn at(&self, offset: usize) -> u64 {
        self.memory.as_ptr() as u64 + offset as u64
    }

    #[track_caller]
    fn is_untouched(&self) {
        let bytes = unsafe { std::ptr::read_volatile(&raw const *self.memory) };
        assert_eq!(bytes, [UNTOUCHED; LEN]);
    }

    fn receive<'a>(&'a self, tag: u64, into: &'a mut [u8]) -> Receive<'a> {
        let plain = unsafe { std::mem::zeroed() };
        let (to, length) = (into.as_mut_ptr().cast::<c_void>(), into.len());
        let request =
            unsafe { tag::ucp_tag_recv_nbx(self.worker, to, length, tag, u64::MAX, &plain) };
        assert!(request as isize > 0, "it waits");
        Receive {
            world: self,
            request,
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        unsafe {
            worker::ucp_worker_destroy(self.worker);
            ok(mem::ucp_mem_unmap(self.context, self.handle));
            context::ucp_cleanup(self.context);
        }
    }
}

fn map(context: ucp_context_h, memory: &mut [u8]) -> ucp_mem_h {
    let mut handle = null_mut();
    unsafe {
        let mut params: ucp_mem_map_params_t = std::mem::zeroed();
        params.field_mask =
            u64::from(UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH);
        params.address = memory.as_mut_ptr().cast();
        params.length = memory.len();
        ok(mem::ucp_mem_map(context, &params, &mut handle));
    }
    handle
}

/// The application packs a key, which peers may be given.
fn publish(context: ucp_context_h, handle: ucp_mem_h) {
    let (mut key, mut length) = (null_mut(), 0);
    unsafe {
        ok(mem::ucp_rkey_pack(context, handle, &mut key, &mut length));
        mem::ucp_rkey_buffer_release(key);
    }
}

/// A receive that is under way.
struct Receive<'a> {
    world: &'a World,
    request: *mut c_void,
}

impl Receive<'_> {
    fn status(&self) -> i8 {
        unsafe {
            worker::ucp_worker_progress(self.world.worker);
            request::ucp_request_check_status(self.request)
        }
    }
}

impl Drop for Receive<'_> {
    fn drop(&mut self) {
        unsafe {
            request::ucp_request_cancel(self.world.worker, self.request);
            worker::ucp_worker_progress(self.world.worker);
            request::ucp_request_free(self.request);
        }
    }
}

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn put(at: u64, ep: u64, data: &[u8]) -> Vec<u8> {
    [&words(&[at, ep])[..], &[0; 4], data].concat()
}

fn get(at: u64, length: u64, ep: u64) -> Vec<u8> {
    [&words(&[at, length, ep, 5])[..], &[0; 4]].concat()
}

fn atomic(at: u64, ep: u64, size: u8, operation: u8, operands: &[u8]) -> Vec<u8> {
    [&words(&[at, ep, 0])[..], &[size, operation], operands].concat()
}

#[test]
fn what_is_shorter_than_its_header_changes_nothing() {
    let world = World::new();
    let mut into = [UNTOUCHED; 64];
    let waits = world.receive(0x0101_0101_0101_0101, &mut into);
    for byte in [0, 1, 0xff] {
        for (id, header) in HEADERS {
            for length in 0..header {
                assert_eq!(
                    world.hear(id, &vec![byte; length]),
                    Ok(()),
                    "{id}, {length}"
                );
            }
        }
        for (id, header) in ACCESSES {
            for length in 0..header {
                let heard = world.hear(id, &vec![byte; length]);
                assert_eq!(heard, Err(Status::INVALID_PARAM), "{id}, {length}");
            }
        }
    }
    assert_eq!(waits.status(), UCS_INPROGRESS);
    drop(waits);
    assert_eq!(into, [UNTOUCHED; 64]);
    world.is_untouched();
}

#[test]
fn only_ranges_that_were_exported_are_reached() {
    let world = World::new();
    let ep = world.id();
    let len = LEN as u64;
    let (start, end) = (world.at(0), world.at(LEN));
    let mut unpublished = [UNTOUCHED; 64];
    let secret = map(world.context, &mut unpublished);
    let unmapped = [UNTOUCHED; 64];
    let bad: [(u64, u64); 11] = [
        (start - 8, 8),
        (start - 1, 8),
        (start - 1, len + 2),
        (start, len + 1),
        (end - 1, 2),
        (end, 8),
        (0, 8),
        (u64::MAX - 3, 8),
        (u64::MAX, 1),
        (unpublished.as_ptr() as u64, 8),
        (unmapped.as_ptr() as u64, 8),
    ];
    for (at, length) in bad {
        let data = vec![0xee; length as usize];
        let refused = Err(Status::INVALID_ADDR);
        assert_eq!(world.hear(PUT, &put(at, ep, &data)), refused, "{at:#x}");
        assert_eq!(world.hear(GET, &get(at, length, ep)), refused, "{at:#x}");
        if at != start {
            let add = atomic(at, ep, 8, 0, &[1; 8]);
            assert!(world.hear(ATOMIC, &add).is_err(), "{at:#x}");
        }
    }
    for length in [len + 1, 1 << 62, u64::MAX] {
        assert!(world.hear(GET, &get(start, length, ep)).is_err());
    }
    world.is_untouched();
    // What was exported, to its last byte and no further.
    assert_eq!(world.hear(PUT, &put(end - 3, ep, b"abc")), Ok(()));
    assert_eq!(world.hear(PUT, &put(start, ep, b"xyz")), Ok(()));
    assert_eq!(
        world.hear(ATOMIC, &atomic(start + 8, ep, 4, 4, &[9; 4])),
        Ok(())
    );
    let mut wanted = [UNTOUCHED; LEN];
    wanted[..3].copy_from_slice(b"xyz");
    wanted[8..12].copy_from_slice(&[9; 4]);
    wanted[LEN - 3..].copy_from_slice(b"abc");
    assert_eq!(
        unsafe { std::ptr::read_volatile(&raw const *world.memory) },
        wanted
    );
    // The moment a key is packed, and until the memory is given back.
    let at = unpublished.as_ptr() as u64;
    publish(world.context, secret);
    assert_eq!(world.hear(PUT, &put(at, ep, b"now")), Ok(()));
    ok(unsafe { mem::ucp_mem_unmap(world.context, secret) });
    assert_eq!(
        world.hear(PUT, &put(at, ep, b"too late")),
        Err(Status::INVALID_ADDR)
    );
    let now = unsafe { std::ptr::read_volatile(&raw const unpublished) };
    assert_eq!((&now[..3], &now[3..]), (&b"now"[..], &[UNTOUCHED; 61][..]));
    assert_eq!(
        unsafe { std::ptr::read_volatile(&raw const unmapped) },
        [UNTOUCHED; 64]
    );
}

#[test]
fn atomics_that_are_none_are_refused() {
    let world = World::new();
    let (ep, at) = (world.id(), world.at(8));
    for size in 0..=255 {
        for operation in 0..=255 {
            let operands = if operation == 5 { 2 } else { 1 } * usize::from(size);
            if [4, 8].contains(&size) && operation <= 5 {
                // Each byte less than its operands.
                for length in 0..operands {
                    let body = atomic(at, ep, size, operation, &vec![1; length]);
                    assert!(
                        world.hear(ATOMIC, &body).is_err(),
                        "{size}, {operation}, {length}"
                    );
                }
                let odd = atomic(at + 1, ep, size, operation, &vec![1; operands]);
                assert!(world.hear(ATOMIC, &odd).is_err(), "{size}, {operation}");
            } else {
                let body = atomic(at, ep, size, operation, &[1; 512]);
                assert!(world.hear(ATOMIC, &body).is_err(), "{size}, {operation}");
            }
        }
    }
    world.is_untouched();
}

#[test]
fn names_that_nobody_was_given_lead_nowhere() {
    let world = World::new();
    let mut into = [UNTOUCHED; 8];
    let waits = world.receive(1, &mut into);
    let add = |ep| {
        let mut body = 7u16.to_le_bytes().to_vec();
        body.extend_from_slice(&[1, 0, 0, 0, 0, 0]);
        body.extend_from_slice(&words(&[ep]));
        body
    };
    for bit in 0..64 {
        let other = world.id() ^ 1 << bit;
        let bodies = [
            (RTS, [&words(&[1, other, 5, 0, 8])[..], &[0]].concat()),
            (STREAM, [&words(&[other])[..], b"x"].concat()),
            (AM_REPLY, add(other)),
            (COMPLETION, words(&[other])),
            (GET, get(world.at(0), 8, other)),
        ];
        for (id, body) in bodies {
            assert_eq!(world.hear(id, &body), Ok(()), "{id}, bit {bit}");
        }
    }
    for request in [0, 1, 1 << 32, world.id(), u64::MAX] {
        for id in [SYNC_ACK, ATS, ATP] {
            let body = [&words(&[request])[..], &[0]].concat();
            assert_eq!(world.hear(id, &body), Ok(()), "{id}, {request:#x}");
        }
        let data = [&words(&[request, 0])[..], b"12345678"].concat();
        assert_eq!(world.hear(DATA, &data), Ok(()));
        assert_eq!(world.hear(RTR, &words(&[request, 5, 0, 8, 0])), Ok(()));
        let _ = world.hear(GET_REPLY, &data);
        let _ = world.hear(ATOMIC_REPLY, &words(&[request, 1]));
    }
    for _ in 0..3 {
        assert_eq!(world.hear(COMPLETION, &words(&[world.id()])), Ok(()));
    }
    assert_eq!(waits.status(), UCS_INPROGRESS);
    drop(waits);
    assert_eq!(into, [UNTOUCHED; 8]);
    world.is_untouched();
}

/// All orders of `n` numbers.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, n - 1);
            longer
        })
    };
    orders(n - 1).into_iter().flat_map(insert).collect()
}

#[test]
fn fragments_come_in_any_order_and_overlapping_ones_change_nothing() {
    let world = World::new();
    let data: Vec<u8> = (0..100).collect();
    let parts = [(20, 40), (40, 41), (41, 80), (80, 100)];
    for (n, order) in orders(parts.len()).into_iter().enumerate() {
        let number = 900 + n as u64;
        let mut into = [UNTOUCHED; 104];
        let waits = world.receive(3, &mut into);
        let fragment = |offset: u64, bytes: &[u8]| {
            let body = [&words(&[number, offset])[..], bytes].concat();
            world.hear(MIDDLE, &body).unwrap();
        };
        let first = [&words(&[3, 100, number])[..], &data[..20]].concat();
        world.hear(FIRST, &first).unwrap();
        for at in order {
            let (begin, end) = parts[at];
            // Before it: what overlaps with the first one, is beyond the end, or begins the message again.
            fragment(19, &[0; 2]);
            fragment(0, &[0; 20]);
            fragment(99, &[0; 2]);
            fragment(100, &[0; 1]);
            fragment(u64::MAX, &[0; 8]);
            world.hear(FIRST, &words(&[3, 50, number])).unwrap();
            assert_eq!(waits.status(), UCS_INPROGRESS);
            fragment(begin as u64, &data[begin..end]);
            // And once more, with other bytes.
            fragment(begin as u64, &vec![0; end - begin]);
        }
        assert_eq!(waits.status(), UCS_OK);
        fragment(20, &[0; 20]);
        drop(waits);
        assert_eq!(
            (&into[..100], &into[100..]),
            (&data[..], &[UNTOUCHED; 4][..])
        );
    }
}

#[test]
fn memory_grows_with_the_bytes_that_come_alone() {
    let world = World::new();
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
    };
    let before = resident();
    for number in 0..200 {
        world.hear(FIRST, &words(&[4, 1 << 40, number])).unwrap();
        let head = [&[7, 0, 0, 0, 0, 0, 0, 0][..], &words(&[number, 0, 1 << 40])].concat();
        world.hear(AM_FIRST, &head).unwrap();
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 8 << 20, "{grown} bytes for 400 beginnings");
    let closed = UpstreamEvent::Closed {
        connection: 5,
        key: None,
    };
    on_event(world.ep().worker(), &closed).unwrap();
}
