//! A sender that writes random bytes over everything it shares, while the receiver polls: what is
//! handed over stays within our own memory, and other senders are not harmed.

use super::ends::{SHAPE, attach, inbox};
use super::ring::good;
use crate::ucs::test_rng::TestRng;
use crate::uct::shm::segment::Attached;
use crate::uct::shm::wire::SegmentKind;

/// `FERRUCX_LONG=1` asks for the long form.
fn corruptions() -> u64 {
    if std::env::var_os("FERRUCX_LONG").is_some() {
        1_000_000
    } else {
        10_000
    }
}

#[test]
fn nothing_outside_is_touched_whatever_a_sender_writes() {
    let inbox = inbox(SegmentKind::Posix);
    let mut peer = attach(&inbox);
    let shared = Attached::get(inbox.key()).unwrap();
    let longest = peer.sender().unwrap().longest();
    assert!(longest > SHAPE.segment as usize);
    let (first, last) = inbox.lane_range(0);
    let own = inbox.base() as usize;
    let random = TestRng::new(0x5eed);
    let (mut seen, mut keeps) = (0u64, 0u64);
    let mut kept = None;
    for round in 0..corruptions() {
        for _ in 0..=random.below(4) {
            // Anywhere in front of the second lane, the slot that is polled next more often.
            let next = inbox.next_number(0);
            let slot = (next % u64::from(SHAPE.slots)) as usize * SHAPE.slot as usize;
            let at = match random.below(4) {
                0 => random.below(last - 8) & !7,
                1 => first + (random.below(256) & !7),
                _ => first + 256 + slot,
            };
            let value = match random.below(3) {
                0 => random.next(),
                // The number that the receiver waits for, with anything else around it.
                1 => random.next() << 32 | next & 0xffff_ffff,
                _ => (random.below(2048) as u64) << 32 | random.next() << 56 | next & 0xffff_ffff,
            };
            let place = shared.base().wrapping_add(at).cast::<u64>();
            // SAFETY: inside the shared mapping and aligned; a hostile process would do the same.
            unsafe { place.write_volatile(value) };
        }
        if inbox.bell_rang() {
            inbox.look();
        }
        inbox.poll(16, |polled| {
            seen += 1;
            let message = good(polled);
            let start = message.data as usize;
            assert!(start >= own + first && start + message.len <= own + last);
            assert!(message.len <= longest && message.id < 128);
            // SAFETY: just checked against our own mapping.
            let sum = (0..message.len)
                .map(|at| u64::from(unsafe { message.data.add(at).read_volatile() }))
                .sum::<u64>();
            std::hint::black_box(sum);
            if random.below(4) == 0 && inbox.keep(message.data.addr(), message.len) {
                assert!(kept.replace(message.data.addr()).is_none());
                keeps += 1;
            }
            true
        });
        if random.below(8) == 0
            && let Some(address) = kept.take()
        {
            inbox.release(address);
        }
        // The sender's side believes the shared words no more than the receiver does.
        if let Some(sender) = peer.sender() {
            let _ = sender.send_packed(1, |place| {
                let at = place as usize - shared.base() as usize;
                assert!(at >= first && at + longest <= last);
                random.below(longest + 1)
            });
            let _ = sender.send_inline(1, 8, |place| {
                let at = place as usize - shared.base() as usize;
                assert!(at >= first && at + 8 <= last);
            });
        }
        if round % 512 == 0 {
            drop(peer);
            peer = attach_or_wait(&inbox);
        }
    }
    assert!(seen > corruptions() / 100, "only {seen} messages were seen");
    assert!(keeps > corruptions() / 1000, "only {keeps} were kept");
}

/// The scribbler may have taken all lanes, or damaged the facts: then those of a new interface.
fn attach_or_wait(inbox: &crate::uct::shm::inbox::Inbox) -> crate::uct::shm::outbox::Peer {
    inbox.rewrite_facts();
    attach(inbox)
}
