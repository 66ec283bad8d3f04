//! What the parts of the message paths cost by themselves, on one core: the ring of shared memory, tag matching, the
//! request pool, the headers of messages and frames. `make bench-micro`.

use divan::{Bencher, black_box};
use ferrucx::ucs::mpool::{Mpool, Params};
use ferrucx::ucs::tag_match::{Posted, UnexpectedMessages};
use ferrucx::uct::shm::ring::{Polled, Receiver, Sender, Shape, reset};
use ferrucx::uct::tcp::wire;
use ferrucx::wire::Writer;
use ferrucx::wire::header::{Header, TagSyncHdr};
use ferrucx::wire::id::{EpId, EpName, RequestId, RequestName};
use std::alloc::{Layout, alloc_zeroed};

fn main() {
    divan::main();
}

/// The lane of an interface as it is configured.
const SHAPE: Shape = Shape {
    slots: 256,
    slot: 128,
    segment: 8256,
    cells: 16,
    lead: 0,
};

/// Both ends of a lane, whose memory stays for the rest of the process.
fn lane() -> (Sender, Receiver) {
    let layout = Layout::from_size_align(SHAPE.bytes(), 4096).expect("a size that fits");
    // SAFETY: the layout is not empty.
    let base = unsafe { alloc_zeroed(layout) };
    assert!(!base.is_null());
    // SAFETY: fresh memory of the lane's size, with one sender and one receiver, never freed.
    unsafe {
        reset(base, SHAPE);
        (
            Sender::new(base, SHAPE, false),
            Receiver::new(base, SHAPE, 0.5),
        )
    }
}

fn len_of(polled: Polled) -> usize {
    match polled {
        Polled::InSlot(message) | Polled::Elsewhere(message, _) => message.len,
        Polled::Bad => 0,
    }
}

/// So many messages of eight bytes into the ring and out of it.
#[divan::bench(args = [1, 16, 128])]
fn ring_words(bencher: Bencher, count: u64) {
    let (sender, receiver) = lane();
    bencher.bench_local(|| {
        for i in 0..count {
            // SAFETY: a slot has room for a word.
            let fill = |at: *mut u8| unsafe { at.cast::<u64>().write(i) };
            assert!(sender.send_inline(1, 8, fill).is_ok());
        }
        let mut bytes = 0;
        let polled = receiver.poll(count, |polled| {
            bytes += len_of(polled);
            true
        });
        assert_eq!(polled, count);
        bytes
    });
}

/// A look at a ring in which there is nothing.
#[divan::bench]
fn ring_empty(bencher: Bencher) {
    let (_sender, receiver) = lane();
    bencher.bench_local(|| receiver.poll(16, |_| true));
}

/// So many bytes through the arena.
#[divan::bench(args = [256, 1024, 8192])]
fn ring_arena(bencher: Bencher, len: usize) {
    let (sender, receiver) = lane();
    let source = vec![7u8; len];
    bencher.bench_local(|| {
        let sent = sender.send_packed(1, |at| {
            // SAFETY: the arena has room for a segment, which is longer.
            unsafe { core::ptr::copy_nonoverlapping(source.as_ptr(), at, len) };
            len
        });
        assert!(sent.is_ok());
        receiver.poll(1, |polled| {
            black_box(len_of(polled));
            true
        })
    });
}

/// Receives that wait, each with a tag of its own, and a message for each.
#[divan::bench(args = [1, 32, 1024])]
fn matching_expected(bencher: Bencher, count: u64) {
    let mut posted = Posted::new();
    bencher.bench_local(|| {
        for tag in 0..count {
            posted.post(tag, u64::MAX, tag);
        }
        (0..count).filter_map(|tag| posted.take(tag)).sum::<u64>()
    });
}

/// Messages that wait, each with a tag of its own, and a receive for each.
#[divan::bench(args = [1, 32, 1024])]
fn matching_unexpected(bencher: Bencher, count: u64) {
    let mut unexpected = UnexpectedMessages::new();
    bencher.bench_local(|| {
        for tag in 0..count {
            unexpected.push(tag, tag);
        }
        (0..count)
            .filter_map(|tag| unexpected.take(tag, u64::MAX))
            .map(|(_, value)| value)
            .sum::<u64>()
    });
}

/// Objects of a request's size out of a pool and back.
#[divan::bench]
fn pool(bencher: Bencher) {
    let params = Params {
        name: "micro",
        size: ferrucx::ucp::request::Request::SIZE,
        align: 16,
        align_offset: 0,
        first_chunk: 32,
        max_chunk: 1024,
        max_objects: usize::MAX,
    };
    let mut pool = Mpool::new(params, None).expect("a pool");
    bencher.bench_local(|| {
        let object = pool.get().expect("an object");
        // SAFETY: of this pool, in use.
        unsafe { pool.put(object) };
    });
}

/// A header of a message into bytes and back.
#[divan::bench]
fn header(bencher: Bencher) {
    let hdr = TagSyncHdr {
        tag: 1,
        sender: RequestName {
            ep: EpName {
                uuid: 2,
                id: EpId(3),
            },
            id: RequestId(4),
        },
    };
    let mut bytes = [0u8; TagSyncHdr::LEN];
    bencher.bench_local(|| {
        black_box(hdr).encode(&mut Writer::new(&mut bytes));
        TagSyncHdr::split(black_box(&bytes)).map(|(back, _)| back.sender)
    });
}

/// The frame of an active message over tcp: its header made, and read again.
#[divan::bench]
fn frame(bencher: Bencher) {
    bencher.bench_local(|| {
        let header = wire::am_header(black_box(3), black_box(64));
        wire::decode(black_box(&header), 8192).map(|found| found.map(|(_, len)| len))
    });
}
