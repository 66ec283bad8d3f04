//! A lane against a queue, step by step and with two threads.

use crate::ucs::test_rng::TestRng;
use crate::uct::shm::ring::{self, Full, Packed, Polled, Receiver, Sender, Shape};
use core::cell::{Cell, RefCell};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

const SMALL: Shape = Shape {
    slots: 8,
    slot: 128,
    segment: 1000,
    cells: 4,
    lead: 0,
};

/// With an arena of which a part is used at first.
const LONG: Shape = Shape {
    slots: 64,
    cells: 16,
    lead: 24,
    ..SMALL
};

/// Memory for one lane.
pub struct Memory(*mut u8, Layout);

impl Memory {
    pub fn new(shape: Shape) -> Memory {
        let layout = Layout::from_size_align(shape.bytes(), 4096).unwrap();
        // SAFETY: the layout is not empty.
        let base = unsafe { alloc_zeroed(layout) };
        // SAFETY: fresh memory of the lane's size.
        unsafe { ring::reset(base, shape) };
        Memory(base, layout)
    }

    #[cfg(loom)]
    pub fn base(&self) -> *mut u8 {
        self.0
    }

    pub fn ends(&self, shape: Shape, batch: f64) -> (Sender, Receiver) {
        self.ends_of(shape, batch, true)
    }

    pub fn ends_of(&self, shape: Shape, batch: f64, always_fences: bool) -> (Sender, Receiver) {
        // SAFETY: a lane in its first state; the tests use one sender and one receiver, and drop
        // the memory last.
        unsafe {
            (
                Sender::new(self.0, shape, always_fences),
                Receiver::new(self.0, shape, batch),
            )
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.0, self.1) };
    }
}

fn byte(number: u64, at: usize) -> u8 {
    (number as usize * 31 + at * 7) as u8
}

fn write(number: u64, len: usize, place: *mut u8) {
    for at in 0..len {
        // SAFETY: the ring gives a place of at least `len` bytes.
        unsafe { place.add(at).write(byte(number, at)) };
    }
}

fn check(number: u64, message: &ring::Message) {
    for at in 0..message.len {
        // SAFETY: the ring promises `len` readable bytes.
        let got = unsafe { message.data.add(at).read() };
        assert_eq!(got, byte(number, at), "message {number} at {at}");
    }
}

/// What a correct sender's message was polled as.
pub fn good(polled: Polled) -> ring::Message {
    match polled {
        Polled::InSlot(message) | Polled::Elsewhere(message, _) => message,
        Polled::Bad => panic!("a good message was called bad"),
    }
}

fn send(sender: &Sender, number: u64, len: usize, packed: bool) -> Result<(), Full> {
    let id = (number % 32) as u8;
    if packed {
        let sent = sender.send_packed(id, |place| {
            write(number, len, place);
            len
        })?;
        assert_eq!(sent, Packed::Sent(len));
        Ok(())
    } else {
        sender.send_inline(id, len, |place| write(number, len, place))
    }
}

/// What an arena is asked for.
type Asked = Rc<RefCell<Vec<(usize, usize)>>>;

/// Makes an arena begin short, for more of which there is memory so many times.
fn begin_short(sender: &Sender, times: usize, lap: &Rc<Cell<usize>>) -> Asked {
    let (asked, times, lap) = (Asked::default(), Cell::new(times), Rc::clone(lap));
    let note = Rc::clone(&asked);
    let extend = move |from, to| {
        note.borrow_mut().push((from, to));
        let left = times.get();
        times.set(left.saturating_sub(1));
        left > 0
    };
    sender.begin_short(Box::new(extend), Box::new(move || lap.get()));
    asked
}

/// Takes all that has come.
fn receive_all(receiver: &Receiver) {
    while receiver.poll(1, |polled| {
        let message = good(polled);
        check(u64::from(message.id), &message);
        true
    }) > 0
    {}
}

#[test]
fn messages_of_the_arena_begin_so_far_behind_a_line() {
    for lead in [0, 8, 56] {
        let shape = Shape { lead, ..SMALL };
        let memory = Memory::new(shape);
        let (sender, receiver) = memory.ends(shape, 0.0);
        for number in 0..20 {
            let len = [200, 777, 1000][number % 3];
            send(&sender, number as u64, len, true).unwrap();
            let polled = receiver.poll(1, |polled| {
                let message = good(polled);
                check(number as u64, &message);
                assert_eq!(message.data.addr() % ring::LINE, lead as usize);
                true
            });
            assert_eq!(polled, 1);
        }
    }
}

#[test]
fn a_lane_is_a_bounded_queue() {
    for seed in 1..400 {
        let random = TestRng::new(seed);
        let batch = random.below(5) as f64 / 4.0;
        let shape = if seed % 2 == 0 { LONG } else { SMALL };
        let memory = Memory::new(shape);
        let (sender, receiver) = memory.ends(shape, batch);
        // Memory for more of the arena is there none, one or two times, and a lap is of any length.
        let lap = random.below(2 * LONG.segment as usize * LONG.cells as usize);
        begin_short(&sender, random.below(3), &Rc::new(Cell::new(lap)));
        let mut queue: VecDeque<(u64, usize)> = VecDeque::new();
        let mut number = 0;
        for _ in 0..2000 {
            if random.below(2) == 0 {
                let packed = random.below(2) == 0;
                let most = if packed { 1000 } else { SMALL.inline_max() };
                let len = random.below(most + 1);
                match send(&sender, number, len, packed) {
                    Ok(()) => {
                        queue.push_back((number, len));
                        number += 1;
                    }
                    Err(Full) => assert!(
                        !queue.is_empty(),
                        "seed {seed}: an empty lane takes a message of any size"
                    ),
                }
                assert!(queue.len() <= shape.slots as usize);
            } else {
                let most = 1 + random.below(3) as u64;
                let waits = queue.len() as u64;
                let polled = receiver.poll(most, |polled| {
                    let message = good(polled);
                    let (number, len) = queue.pop_front().unwrap();
                    assert_eq!((message.id, message.len), ((number % 32) as u8, len));
                    check(number, &message);
                    true
                });
                assert_eq!(polled, most.min(waits), "seed {seed}");
                assert_eq!(receiver.is_ready(), !queue.is_empty());
            }
        }
    }
}

#[test]
fn more_of_an_arena_is_used_while_its_receiver_lags() {
    let memory = Memory::new(LONG);
    let (sender, receiver) = memory.ends(LONG, 0.25);
    let asked = begin_short(&sender, usize::MAX, &Rc::default());
    // A receiver that keeps up needs no more than the least.
    for number in 0..100 {
        assert_eq!(send(&sender, number % 32, 1000, true), Ok(()));
        receive_all(&receiver);
    }
    assert!(asked.borrow().is_empty());
    // Each message takes 1280 bytes of 16384, some of which are behind those that were received. The part in use
    // may be at its beginning when the sender first has no room.
    let send_all = || {
        let sent = (0..32).take_while(|&number| send(&sender, number, 1000, true).is_ok());
        sent.count()
    };
    let sent = [(); 4].map(|()| {
        let sent = send_all();
        receive_all(&receiver);
        sent
    });
    assert!(sent[0] >= 2 && sent[3] >= 8, "{sent:?}");
    let least = LONG.first_reach();
    assert_eq!(
        *asked.borrow(),
        [(least, 2 * least), (2 * least, 4 * least)]
    );
}

#[test]
fn messages_stand_apart_unless_the_receiver_lags() {
    let memory = Memory::new(LONG);
    let (sender, receiver) = memory.ends(LONG, 0.25);
    // How far one message mostly stands behind the other, of so many that are received one by one.
    let step = |count: usize| {
        let mut places = Vec::new();
        for _ in 0..count {
            assert_eq!(send(&sender, 1, 200, true), Ok(()));
            receiver.poll(1, |polled| {
                places.push(good(polled).data.addr());
                true
            });
        }
        let mut steps: Vec<_> = places.windows(2).map(|p| p[1].wrapping_sub(p[0])).collect();
        steps.sort_unstable();
        steps[steps.len() / 2]
    };
    assert_eq!(step(200), 512);
    for _ in 0..4 {
        while send(&sender, 1, 200, true).is_ok() {}
        receive_all(&receiver);
    }
    assert_eq!(step(6), 256);
    assert_eq!(step(400), 512);
}

#[test]
fn laps_of_an_arena_get_as_long_as_suits_the_receiver() {
    let memory = Memory::new(LONG);
    let (sender, receiver) = memory.ends(LONG, 0.25);
    let lap = Rc::new(Cell::new(usize::MAX));
    let asked = begin_short(&sender, usize::MAX, &lap);
    let send_some = || {
        let mut places = HashSet::new();
        for number in 0..100 {
            assert_eq!(send(&sender, number % 32, 1000, true), Ok(()));
            receiver.poll(1, |polled| {
                places.insert(good(polled).data.addr());
                true
            });
        }
        places.len()
    };
    let least = LONG.first_reach();
    send_some();
    let all = [(least, 2 * least), (2 * least, 4 * least)];
    assert_eq!(*asked.borrow(), all);
    let long = send_some();
    lap.set(0);
    send_some();
    assert!(4 * send_some() <= long + 4, "of {long}");
    lap.set(usize::MAX);
    send_some();
    assert_eq!(send_some(), long);
    assert_eq!(*asked.borrow(), all, "reserved once");
}

#[test]
fn a_kept_message_stays_while_the_lane_goes_on() {
    for seed in 1..100 {
        let random = TestRng::new(seed);
        let batch = random.below(5) as f64 / 4.0;
        let memory = Memory::new(SMALL);
        let (sender, receiver) = memory.ends(SMALL, batch);
        let mut kept: Option<(u64, ring::Message)> = None;
        let (mut sent, mut received, mut keeps) = (0, 0, 0);
        while received < 2000 {
            // An empty lane takes a message of any size, also beside a kept one.
            send(&sender, sent, random.below(1001), true).unwrap();
            sent += 1;
            for _ in 0..random.below(4) {
                sent += u64::from(send(&sender, sent, random.below(1001), true).is_ok());
            }
            receiver.poll(u64::MAX, |polled| {
                let can_keep = matches!(polled, Polled::Elsewhere(_, true));
                let message = good(polled);
                let number = received;
                check(number, &message);
                received += 1;
                let wanted = random.below(3) == 0;
                if can_keep && wanted {
                    assert!(receiver.keep(message.data.addr(), message.len));
                    assert!(kept.replace((number, message)).is_none());
                    keeps += 1;
                } else if wanted {
                    assert!(!receiver.keep(message.data.addr(), message.len));
                }
                true
            });
            assert_eq!(received, sent);
            if let Some((number, message)) = kept {
                check(number, &message);
                assert!(receiver.keeps());
                if random.below(20) == 0 {
                    assert!(!receiver.release(message.data.addr() + 64));
                    assert!(receiver.release(message.data.addr()));
                    kept = None;
                }
            }
        }
        assert!(keeps > 30, "seed {seed}: {keeps} were kept");
    }
}

#[test]
fn a_sender_is_not_told_of_each_message_beside_a_kept_one_while_others_wait() {
    let memory = Memory::new(LONG);
    let (sender, receiver) = memory.ends(LONG, 1.0);
    let sends = || send(&sender, 1, 200, true).is_ok();
    while sends() {}
    receiver.poll(1, |polled| {
        let message = good(polled);
        receiver.keep(message.data.addr(), message.len)
    });
    assert!(receiver.keeps());
    receiver.poll(1, |_| true);
    assert!(!sends());
    receiver.poll(u64::MAX, |_| true);
    assert!(sends());
}

#[test]
fn numbers_may_wrap() {
    let memory = Memory::new(SMALL);
    let (sender, receiver) = memory.ends(SMALL, 0.5);
    // Only the low half of a number stands in a header.
    sender.start_at(u64::from(u32::MAX) - 20);
    receiver.start_at(u64::from(u32::MAX) - 20);
    for number in 0..100 {
        send(&sender, number, 64, false).unwrap();
        let polled = receiver.poll(1, |polled| {
            check(number, &good(polled));
            true
        });
        assert_eq!(polled, 1, "message {number} is missing");
    }
}

#[test]
fn who_takes_no_more_gets_the_next_message_later() {
    let memory = Memory::new(SMALL);
    let (sender, receiver) = memory.ends(SMALL, 0.5);
    send(&sender, 0, 400, true).unwrap();
    for number in 0..100 {
        send(&sender, number + 1, 400, true).unwrap();
        let polled = receiver.poll(9, |polled| {
            check(number, &good(polled));
            false
        });
        assert_eq!(polled, 1, "one of the two that wait is wanted");
    }
}

#[test]
fn a_longer_message_than_promised_is_not_sent() {
    let memory = Memory::new(SMALL);
    let (sender, receiver) = memory.ends(SMALL, 0.5);
    assert_eq!(sender.send_packed(1, |_| 1001), Ok(Packed::TooLong(1001)));
    assert_eq!(receiver.poll(1, |_| true), 0);
}

#[test]
fn a_stopped_sender_has_no_room() {
    let memory = Memory::new(SMALL);
    let (sender, receiver) = memory.ends(SMALL, 0.0);
    send(&sender, 0, 8, false).unwrap();
    sender.stop();
    assert_eq!(send(&sender, 1, 8, false), Err(Full));
    let polled = receiver.poll(1, |polled| {
        check(0, &good(polled));
        true
    });
    assert_eq!(polled, 1);
    assert!(!sender.has_room());
}

#[test]
fn two_threads_pass_everything_in_order() {
    const COUNT: u64 = 200_000;
    struct End<T>(T);
    // SAFETY: each end is used by the one thread it is moved to.
    unsafe impl<T> Send for End<T> {}
    let shape = Shape { slots: 64, ..SMALL };
    let memory = Memory::new(shape);
    let (sender, receiver) = memory.ends(shape, 0.5);
    let (sender, receiver) = (End(sender), End(receiver));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let sender = sender;
            let random = TestRng::new(7);
            for number in 0..COUNT {
                let packed = random.below(4) == 0;
                let len = if packed {
                    random.below(1001)
                } else {
                    random.below(121)
                };
                while send(&sender.0, number, len, packed).is_err() {
                    std::thread::yield_now();
                }
            }
        });
        let receiver = receiver;
        let mut number = 0;
        while number < COUNT {
            let polled = receiver.0.poll(16, |polled| {
                check(number, &good(polled));
                number += 1;
                true
            });
            if polled == 0 {
                std::thread::yield_now();
            }
        }
    });
}

/// Messages of two lines in slots and in the arena, once the receiver has lagged, of a lane with these sizes.
fn places_behind_a_lag(shape: Shape) -> (u64, u64) {
    let memory = Memory::new(shape);
    let (sender, receiver) = memory.ends(shape, 0.0);
    let len = shape.inline_max();
    let (in_slot, elsewhere) = (Cell::new(0), Cell::new(0));
    let take = |max| {
        receiver.poll(max, |polled| {
            let count = match polled {
                Polled::InSlot(_) => &in_slot,
                _ => &elsewhere,
            };
            count.set(count.get() + 1);
            check(u64::from(good(polled).id), &good(polled));
            true
        })
    };
    for number in 0..u64::from(shape.slots) {
        send(&sender, number, len, false).unwrap();
    }
    assert_eq!(send(&sender, 0, len, false), Err(Full));
    assert_eq!(take(u64::MAX), u64::from(shape.slots));
    for number in 0..3 {
        send(&sender, number, len, number == 1).unwrap();
    }
    assert_eq!(take(u64::MAX), 3);
    (in_slot.get(), elsewhere.get())
}

#[test]
fn messages_of_several_lines_stand_in_the_arena_while_the_receiver_lags() {
    let slots = u64::from(SMALL.slots);
    let lines = Shape { slot: 128, ..SMALL };
    assert_eq!(places_behind_a_lag(lines), (slots, 3));
    let line = Shape { slot: 64, ..SMALL };
    assert_eq!(places_behind_a_lag(line), (slots + 3, 0));
    let short_arena = Shape {
        segment: 120,
        ..lines
    };
    assert_eq!(places_behind_a_lag(short_arena), (slots + 3, 0));
}
