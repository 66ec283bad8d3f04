//! A lane and the bells under loom: every order in which the words of two threads can be seen.
//! Run by `RUSTFLAGS="--cfg loom" cargo test --lib shm::tests::model`.

use super::ring::{Memory, good};
use crate::ucs::sync::{Ordering, fence, word64};
use crate::uct::shm::layout::Bells;
use crate::uct::shm::ring::{Receiver, Sender, Shape, UNASKED};
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;

const TINY: Shape = Shape {
    slots: 2,
    slot: 64,
    segment: 64,
    cells: 4,
    lead: 0,
};

struct End<T>(T);
// SAFETY: each end is used by the one thread it is moved to.
unsafe impl<T> Send for End<T> {}

fn send(sender: &Sender, value: u64) {
    let fill = |place| {
        // SAFETY: a word of the model; a payload whose order only the header word keeps.
        unsafe { word64(place) }.store(value, Ordering::Relaxed);
    };
    while sender.send_inline(1, 8, fill).is_err() {
        thread::yield_now();
    }
}

fn receive(receiver: &Receiver) -> Option<u64> {
    let mut value = None;
    receiver.poll(1, |polled| {
        // SAFETY: as in `send`.
        value = Some(unsafe { word64(good(polled).data) }.load(Ordering::Relaxed));
        true
    });
    value
}

#[test]
fn payloads_are_seen_with_their_headers_and_not_overwritten() {
    loom::model(|| {
        let memory = Memory::new(TINY);
        let (sender, receiver) = memory.ends(TINY, 0.0);
        let sender = End(sender);
        let thread = thread::spawn(move || {
            let sender = sender;
            (1..=3).for_each(|value| send(&sender.0, value));
        });
        for expected in 1..=3 {
            loop {
                match receive(&receiver) {
                    Some(value) => {
                        assert_eq!(value, expected);
                        break;
                    }
                    None => thread::yield_now(),
                }
            }
        }
        thread.join().unwrap();
    });
}

/// Sends a message that stands in the arena.
fn send_long(sender: &Sender, value: u64) {
    let pack = |place| {
        // SAFETY: as in `send`.
        unsafe { word64(place) }.store(value, Ordering::Relaxed);
        TINY.segment as usize
    };
    while sender.send_packed(1, pack).is_err() {
        thread::yield_now();
    }
}

#[test]
fn a_kept_message_is_not_overwritten_until_it_is_released() {
    loom::model(|| {
        // More slots than messages: only the arena makes the sender look where the receiver is.
        let shape = Shape { slots: 4, ..TINY };
        let memory = Memory::new(shape);
        let (sender, receiver) = memory.ends(shape, 0.0);
        let sender = End(sender);
        // The third stands where the first did, unless that is kept.
        let thread = thread::spawn(move || {
            let sender = sender;
            (1..=3).for_each(|value| send_long(&sender.0, value));
        });
        let mut kept = None;
        for expected in 1..=3 {
            let mut data = None;
            while data.is_none() {
                receiver.poll(1, |polled| {
                    let message = good(polled);
                    if expected == 1 {
                        assert!(receiver.keep(message.data.addr(), message.len));
                        kept = Some(message.data);
                    }
                    // SAFETY: as in `send`.
                    let value = unsafe { word64(message.data) }.load(Ordering::Relaxed);
                    assert_eq!(value, expected);
                    data = Some(message.data);
                    true
                });
                // SAFETY: as in `send`.
                let first = kept.map(|kept| unsafe { word64(kept) }.load(Ordering::Relaxed));
                assert!(
                    first.is_none_or(|first| first == 1),
                    "overwritten: {first:?}"
                );
                thread::yield_now();
            }
        }
        assert!(kept.is_some_and(|kept| receiver.release(kept.addr())));
        thread.join().unwrap();
    });
}

/// A sender sends while the owner is about to sleep; `before` brings the two to where they are. Returns whether the owner had
/// asked for fences.
fn sleeps(always_fences: bool, before: impl Fn(&Sender, &Receiver)) -> bool {
    let memory = Memory::new(TINY);
    let head = Memory::new(TINY);
    let (sender, receiver) = memory.ends_of(TINY, 0.0, always_fences);
    // SAFETY: the model's words.
    let bells = unsafe { Bells::new(head.base()) };
    let seen = bells.doorbell().load(Ordering::Relaxed);
    bells.set_awake();
    // As a lane whose sender was answered before.
    sender.take_question();
    before(&sender, &receiver);
    let poked = Arc::new(AtomicBool::new(false));
    let (poke, sender) = (Arc::clone(&poked), End((sender, bells)));
    let thread = thread::spawn(move || {
        let (sender, bells) = &{ sender }.0;
        send(sender, 7);
        if sender.must_tell() && sender.take_question() && bells.ring(0) {
            poke.store(true, Ordering::Release);
        }
    });
    // What Inbox::arm does.
    bells.set_armed();
    let fences = receiver.ask_to_sleep(!always_fences);
    fence(Ordering::SeqCst);
    let busy = receiver.is_ready() || bells.doorbell().load(Ordering::Relaxed) != seen;
    thread.join().unwrap();
    assert!(
        busy || poked.load(Ordering::Acquire) || !(fences || always_fences),
        "nobody woke the owner"
    );
    assert_eq!(receive(&receiver), Some(7));
    fences
}

/// The owner has slept before, and the sender knows.
fn slept_before(sender: &Sender, receiver: &Receiver) {
    assert!(!receiver.ask_to_sleep(true));
    assert!(sender.take_question() && sender.fences());
}

#[test]
fn who_sleeps_is_poked() {
    loom::model(|| {
        sleeps(true, |_, _| {});
    });
}

#[test]
fn who_sleeps_again_is_poked_without_a_barrier() {
    loom::model(|| {
        assert!(sleeps(false, slept_before));
    });
}

#[test]
fn a_sender_that_has_not_looked_since_the_barrier_fences_too() {
    loom::model(|| {
        let fences = sleeps(false, |sender, receiver| {
            slept_before(sender, receiver);
            sender.forget_fences();
        });
        assert!(fences);
    });
}

/// One that stops to fence has told before: the owner issues a barrier, or is answered.
#[test]
fn a_sender_may_stop_to_fence_while_its_receiver_goes_to_sleep() {
    loom::model(|| {
        sleeps(false, |sender, receiver| {
            slept_before(sender, receiver);
            sender.note_unasked(UNASKED - 1);
        });
    });
}
