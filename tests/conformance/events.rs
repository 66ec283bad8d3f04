//! The event descriptor: armed, it becomes readable for every message that comes afterwards.

use crate::endpoint::Ep;
use crate::pair::Pair;
use crate::side::Tl;
use ferrucx::abi::uct::iface;
use ferrucx::c::*;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const EVENTS: u32 = UCT_EVENT_RECV | UCT_EVENT_SEND_COMP;

fn descriptor(pair: &Pair) -> Option<i32> {
    let mut fd = -1;
    let b = pair.b();
    let got = unsafe { iface::uct_iface_event_fd_get(b.iface, &mut fd) };
    if b.attr.cap.event_flags & UCT_IFACE_FLAG_EVENT_FD == 0 {
        assert_eq!(got, UCS_ERR_UNSUPPORTED);
        // Without a descriptor arming works only where events are promised in another way.
        let armed = unsafe { iface::uct_iface_event_arm(b.iface, EVENTS) };
        let promised =
            b.attr.cap.event_flags & (UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_SEND_COMP);
        let expected = if promised != 0 {
            UCS_OK
        } else {
            UCS_ERR_UNSUPPORTED
        };
        assert_eq!(armed, expected);
        return None;
    }
    assert_eq!(got, UCS_OK);
    assert!(fd >= 0);
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    assert_ne!(flags & libc::FD_CLOEXEC, 0, "descriptors close on exec");
    Some(fd)
}

fn readable(fd: i32, ms: i32) -> bool {
    let mut p = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    unsafe { libc::poll(&mut p, 1, ms) == 1 }
}

/// Polls the receiver until it can be armed.
fn arm(pair: &Pair) {
    loop {
        match unsafe { iface::uct_iface_event_arm(pair.b().iface, EVENTS) } {
            UCS_OK => return,
            e => assert_eq!(e, UCS_ERR_BUSY),
        }
        pair.b().progress();
    }
}

/// Handles of the sending side for the thread that alone uses them.
struct Sender {
    ep: uct_ep_h,
    worker: uct_worker_h,
}
// SAFETY: one thread uses the handles while the test does not.
unsafe impl Send for Sender {}

pub fn descriptor_wakes_without_losses(tl: &Tl) {
    let pair = Pair::new(tl);
    let Some(fd) = descriptor(&pair) else { return };
    if !pair.a().can(UCT_IFACE_FLAG_AM_SHORT) {
        assert_eq!(pair.a().attr.cap.am.max_short, 0);
        return;
    }
    // Connected before it counts.
    assert_eq!(pair.insist(|| pair.ep.am_short(1, 0, &[])), 0);
    pair.take(1);
    const ROUNDS: u32 = 1500;
    let (allowed, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let sender = Sender {
        ep: pair.ep.0,
        worker: pair.a().worker,
    };
    std::thread::scope(|scope| {
        let (allowed, stop) = (&allowed, &stop);
        scope.spawn(move || {
            let sender = sender;
            let ep = ManuallyDrop::new(Ep(sender.ep));
            let worker = unsafe { ferrucx::uct::base::worker::WorkerHandle::from_c(sender.worker) };
            let mut sent = 0;
            // Acquire: pairs with the Release stores below.
            while !stop.load(Ordering::Acquire) {
                if sent < allowed.load(Ordering::Acquire) {
                    match ep.am_short(1, u64::from(sent), &[]) {
                        UCS_OK => sent += 1,
                        e => assert_eq!(e, UCS_ERR_NO_RESOURCE),
                    }
                }
                worker.unwrap().progress();
                std::thread::yield_now();
            }
        });
        for round in 0..ROUNDS {
            let before = round % 3 == 0;
            if before {
                // Release: pairs with the sender's Acquire.
                allowed.store(round + 1, Ordering::Release);
            }
            arm(&pair);
            if !before {
                allowed.store(round + 1, Ordering::Release);
            }
            // With `before` the message may have been handled while arming.
            let seen = || pair.b().inbox.messages.borrow().len() as u32 > round;
            if !seen() && !readable(fd, 5000) {
                stop.store(true, Ordering::Release);
                panic!("round {round}: the wake-up was lost");
            }
            let deadline = std::time::Instant::now() + crate::side::PATIENCE;
            while !seen() {
                pair.b().progress();
                if std::time::Instant::now() > deadline {
                    stop.store(true, Ordering::Release);
                    panic!("round {round}: woken, but no message");
                }
                if !seen() && pair.b().progress() == 0 {
                    // Woken early: arm again, wait again.
                    arm(&pair);
                    if !seen() {
                        readable(fd, 100);
                    }
                }
            }
        }
        stop.store(true, Ordering::Release);
    });
}

pub fn arm_is_busy_while_something_waits(tl: &Tl) {
    let pair = Pair::new(tl);
    let Some(fd) = descriptor(&pair) else { return };
    if !pair.a().can(UCT_IFACE_FLAG_AM_SHORT) {
        return;
    }
    assert_eq!(pair.insist(|| pair.ep.am_short(1, 0, &[])), 0);
    pair.take(1);
    for _ in 0..50 {
        arm(&pair);
        assert!(!readable(fd, 0), "nothing is there");
        while pair.ep.am_short(1, 0, &[]) == UCS_ERR_NO_RESOURCE {
            pair.a().progress();
        }
        pair.a().progress();
        assert!(readable(fd, 5000), "a message wakes");
        // Unread, the message stands in the way of sleeping: busy, or readable again at once.
        let armed = unsafe { iface::uct_iface_event_arm(pair.b().iface, EVENTS) };
        assert!(armed == UCS_ERR_BUSY || armed == UCS_OK && readable(fd, 5000));
        pair.take(1);
    }
}
