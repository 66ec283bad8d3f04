//! `Loan`: bytes, or other elements, of a queue that a second thread may use while the queue's owner does not. `Sleep`:
//! the sleep of that thread, which the owner ends when it lends.
//!
//! The owner uses its queue without lock or fence. It sets `inside` and reads `taken`; the thread sets `taken`, has the
//! kernel run a barrier on every thread of the process (`sync::barrier`), and reads `inside`. So at least one of them sees
//! the other: an owner that sees `taken` waits, a thread that sees `inside` retries later. The sleep works the same way:
//! either the owner sees that the thread sleeps, or the thread sees what was lent.

use crate::ucs::sync::{
    AtomicBool, AtomicPtr, AtomicUsize, Ordering, barrier, compiler_barrier, pause,
};
use core::ops::Range;

/// One per queue. A queue of which nothing was lent yet, or nothing since `take_back`, may be used at once.
pub struct Loan {
    /// The owner uses the queue: nothing below may be read.
    inside: AtomicBool,
    /// The thread uses what is lent: the owner has to wait.
    taken: AtomicBool,
    /// The bytes that are lent, if it is bytes.
    start: AtomicPtr<u8>,
    /// How many bytes or elements are lent. Only the owner changes it.
    len: AtomicUsize,
    /// How many of them the thread has used since the owner's last `take_back`.
    used: AtomicUsize,
}

impl Default for Loan {
    fn default() -> Loan {
        Loan {
            inside: AtomicBool::new(false),
            taken: AtomicBool::new(false),
            start: AtomicPtr::new(core::ptr::null_mut()),
            len: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
        }
    }
}

impl Loan {
    /// Of the owner: lends `bytes` until the next `take_back`; none ends the loan.
    ///
    /// # Safety
    /// `bytes` must stay readable and unchanged until `take_back` has returned.
    #[inline]
    pub unsafe fn lend(&self, bytes: &[u8]) {
        self.start
            .store(bytes.as_ptr().cast_mut(), Ordering::Relaxed);
        self.lend_count(bytes.len());
    }

    /// Of the owner: lends so many elements until the next `take_back`; none ends the loan.
    #[inline]
    pub fn lend_count(&self, count: usize) {
        self.extend(count);
        self.inside.store(false, Ordering::Release);
    }

    /// Of the owner, while elements are lent: lends others behind them, so that they are `count`. Nothing has to be taken
    /// back for it.
    #[inline(always)]
    pub fn extend(&self, count: usize) {
        // Release: pairs with the Acquire in `use_range`, also where the owner was never inside.
        self.len.store(count, Ordering::Release);
    }

    /// Of the owner: how many are lent, what the thread has used of them included.
    #[inline(always)]
    pub fn lent(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Of the owner, if anything is lent: it may use the queue again when this returns. Returns how much the thread has
    /// used. Does not wait for a thread that `exists` says has gone, as in a child of fork().
    #[inline]
    pub fn take_back(&self, exists: impl Fn() -> bool) -> usize {
        loop {
            // Relaxed: the thread's barrier orders this store before the load.
            self.inside.store(true, Ordering::Relaxed);
            compiler_barrier();
            // Acquire: pairs with the Release in `use_range`, so that `used` is seen.
            if !self.taken.load(Ordering::Acquire) || !self.wait(&exists) {
                break;
            }
        }
        let used = self.used.load(Ordering::Relaxed);
        if used != 0 {
            self.used.store(0, Ordering::Relaxed);
        }
        used
    }

    /// Waits until the thread has finished. Returns false if it does not exist.
    #[cold]
    fn wait(&self, exists: impl Fn() -> bool) -> bool {
        self.inside.store(false, Ordering::Release);
        let mut looks = 0;
        // Acquire: as in `take_back`.
        while self.taken.load(Ordering::Acquire) {
            if !exists() {
                return false;
            }
            pause(looks);
            looks += 1;
        }
        true
    }

    /// Whether anything is lent that is not used. Of the thread: a hint, as the owner may be at work.
    pub fn is_lent(&self) -> bool {
        self.len.load(Ordering::Relaxed) > self.used.load(Ordering::Relaxed)
    }

    /// Of the thread: calls `f` with the numbers of the elements that it has not used, unless the owner uses its queue;
    /// `f` returns how many of them, from the first on, are not needed any more. Returns that number.
    pub fn use_range(&self, f: impl FnOnce(Range<usize>) -> usize) -> usize {
        self.taken.store(true, Ordering::Relaxed);
        barrier();
        let mut newly = 0;
        // Acquire: pairs with the Release in `lend_count`.
        if !self.inside.load(Ordering::Acquire) {
            // Acquire: as above, where the owner lends for the first time and was never inside, and in `extend`.
            let len = self.len.load(Ordering::Acquire);
            let used = self.used.load(Ordering::Relaxed);
            if len > used {
                newly = f(used..len).min(len - used);
                self.used.store(used + newly, Ordering::Relaxed);
            }
        }
        // Release: pairs with the Acquire in `take_back`.
        self.taken.store(false, Ordering::Release);
        newly
    }

    /// As `use_range`, of bytes.
    pub fn use_bytes(&self, f: impl FnOnce(&[u8]) -> usize) -> usize {
        self.use_range(|range| {
            // The number of the elements was read before, which orders.
            let start = self.start.load(Ordering::Relaxed);
            // SAFETY: the owner has lent these bytes, and does not take them back before `taken` is false.
            f(
                unsafe {
                    core::slice::from_raw_parts(start.wrapping_add(range.start), range.len())
                },
            )
        })
    }
}

/// Whether the thread sleeps.
pub struct Sleep {
    asleep: AtomicBool,
}

impl Default for Sleep {
    fn default() -> Sleep {
        Sleep {
            asleep: AtomicBool::new(false),
        }
    }
}

impl Sleep {
    /// Of the thread: whether it may sleep until an owner wakes it, as `has_work` still finds nothing.
    pub fn begin(&self, has_work: impl FnOnce() -> bool) -> bool {
        self.asleep.store(true, Ordering::Relaxed);
        barrier();
        let sleeps = !has_work();
        if !sleeps {
            self.end();
        }
        sleeps
    }

    /// Of the thread: it does not sleep any more.
    pub fn end(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Of an owner that has lent bytes: whether it has to wake the thread. Only one owner has to.
    #[inline]
    pub fn must_wake(&self) -> bool {
        // The thread's barrier orders the owner's stores before this load.
        compiler_barrier();
        self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_used_from_the_first_on_while_they_are_lent() {
        let (loan, bytes) = (Loan::default(), [1u8, 2, 3]);
        assert_eq!(loan.use_bytes(|_| unreachable!()), 0);
        // SAFETY: they are never changed.
        unsafe { loan.lend(&bytes) };
        assert!(loan.is_lent());
        assert_eq!(loan.use_bytes(|lent| lent.len() - 1), 2);
        let rest = |lent: &[u8]| {
            assert_eq!(lent, [3]);
            0
        };
        assert_eq!(loan.use_bytes(rest), 0);
        assert_eq!(loan.take_back(|| true), 2);
        assert_eq!(loan.use_bytes(|_| unreachable!()), 0);
        // SAFETY: as above.
        unsafe { loan.lend(&[]) };
        assert!(!loan.is_lent());
        assert_eq!(loan.use_bytes(|_| unreachable!()), 0);
        assert_eq!(loan.take_back(|| true), 0);
    }

    /// The owner lends more while the thread may be at work.
    #[test]
    fn a_loan_is_extended() {
        let loan = Loan::default();
        loan.lend_count(2);
        assert_eq!(loan.use_range(|range| range.len()), 2);
        assert!(!loan.is_lent());
        loan.extend(5);
        assert!(loan.is_lent() && loan.lent() == 5);
        let next = |range: Range<usize>| {
            assert_eq!(range, 2..5);
            1
        };
        assert_eq!(loan.use_range(next), 1);
        assert_eq!(loan.take_back(|| true), 3);
    }

    /// In a child of fork() whose parent's thread was using the bytes.
    #[test]
    fn an_owner_does_not_wait_for_a_thread_that_has_gone() {
        let loan = Loan::default();
        loan.taken.store(true, Ordering::Relaxed);
        assert_eq!(loan.take_back(|| false), 0);
    }

    #[test]
    fn a_sleeping_thread_is_woken_once() {
        let sleep = Sleep::default();
        assert!(!sleep.must_wake());
        assert!(!sleep.begin(|| true));
        assert!(!sleep.must_wake());
        assert!(sleep.begin(|| false));
        assert!(sleep.must_wake() && !sleep.must_wake());
    }

    /// An owner that appends numbers to its queue, and a thread that takes them: each arrives once, in order.
    #[test]
    fn each_byte_is_used_once() {
        const LAST: usize = 300;
        assert!(crate::ucs::sync::can_barrier());
        let (loan, done) = (Loan::default(), AtomicBool::new(false));
        let got = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let mut got = Vec::new();
                while !done.load(Ordering::Acquire) {
                    loan.use_bytes(|bytes| {
                        let n = bytes.len().min(3);
                        got.extend_from_slice(&bytes[..n]);
                        n
                    });
                    // The owner gets its turn.
                    std::thread::yield_now();
                }
                got
            });
            let (mut queue, mut queued, mut used) = (Vec::new(), 0, 0);
            while used < LAST {
                let n = loan.take_back(|| true);
                queue.drain(..n);
                used += n;
                if queued < LAST && queue.len() < 50 {
                    queue.push(queued as u8);
                    queued += 1;
                }
                // SAFETY: the queue is not touched before `take_back`.
                unsafe { loan.lend(&queue) };
                if queued % 64 == 0 {
                    std::thread::yield_now();
                }
            }
            done.store(true, Ordering::Release);
            thread.join().unwrap()
        });
        assert_eq!(got.len(), LAST);
        assert!(got.iter().enumerate().all(|(i, byte)| *byte == i as u8));
    }
}

/// Every order of events. `tests/loom` runs it.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    static BYTES: [u8; 4] = [0; 4];

    /// loom tells when two threads use the queue at once, or one does not see what the other did with it.
    struct Queue(Loan, UnsafeCell<usize>);
    // SAFETY: as above.
    unsafe impl Send for Queue {}
    // SAFETY: as above.
    unsafe impl Sync for Queue {}

    impl Queue {
        fn touch(&self) {
            // SAFETY: loom checks.
            self.1.with_mut(|uses| unsafe { *uses += 1 });
        }

        fn lend(&self, bytes: &'static [u8]) {
            // SAFETY: they are never changed.
            unsafe { self.0.lend(bytes) };
        }
    }

    #[test]
    fn a_queue_has_one_user_at_a_time_and_no_byte_is_used_twice() {
        loom::model(|| {
            let queue = Arc::new(Queue(Loan::default(), UnsafeCell::new(0)));
            let other = queue.clone();
            let thread = thread::spawn(move || {
                let mut used = 0;
                for _ in 0..2 {
                    used += other.0.use_bytes(|bytes| {
                        other.touch();
                        bytes.len().min(1)
                    });
                }
                used
            });
            // The first loan, of an owner that was never inside.
            queue.touch();
            queue.lend(&BYTES[..2]);
            let first = queue.0.take_back(|| true);
            queue.touch();
            queue.lend(&BYTES[..2 - first]);
            let second = queue.0.take_back(|| true);
            queue.touch();
            queue.lend(&[]);
            // Nothing is lent: the queue may be used without `take_back`.
            queue.touch();
            let used = thread.join().unwrap();
            assert_eq!(first + second, used);
        });
    }

    /// Elements of a queue of two, the second of which the owner makes while the first is lent.
    #[test]
    fn an_element_that_is_lent_later_is_whole() {
        struct Elements(Loan, [UnsafeCell<u8>; 2]);
        // SAFETY: loom checks.
        unsafe impl Send for Elements {}
        // SAFETY: as above.
        unsafe impl Sync for Elements {}
        let make = |elements: &Elements, i: usize| {
            // SAFETY: as above.
            elements.1[i].with_mut(|place| unsafe { *place = 1 });
        };
        loom::model(move || {
            let cells = [UnsafeCell::new(0), UnsafeCell::new(0)];
            let elements = Arc::new(Elements(Loan::default(), cells));
            let other = elements.clone();
            let thread = thread::spawn(move || {
                let mut used = 0;
                for _ in 0..2 {
                    used += other.0.use_range(|range| {
                        for i in range.clone() {
                            // SAFETY: as above.
                            other.1[i].with(|place| assert_eq!(unsafe { *place }, 1));
                        }
                        range.len()
                    });
                }
                used
            });
            make(&elements, 0);
            elements.0.lend_count(1);
            make(&elements, 1);
            elements.0.extend(2);
            let used = elements.0.take_back(|| true);
            // What the thread has left is the owner's.
            (used..2).for_each(|i| make(&elements, i));
            elements.0.lend_count(0);
            assert_eq!(thread.join().unwrap(), used);
        });
    }

    #[test]
    fn a_thread_that_sleeps_is_woken_for_what_was_lent() {
        loom::model(|| {
            let shared = Arc::new((Loan::default(), Sleep::default()));
            let other = shared.clone();
            let thread = thread::spawn(move || {
                let (loan, sleep) = &*other;
                sleep.begin(|| loan.is_lent())
            });
            let (loan, sleep) = &*shared;
            // SAFETY: they are never changed.
            unsafe { loan.lend(&BYTES) };
            let woke = sleep.must_wake();
            let slept = thread.join().unwrap();
            assert!(!slept || woke);
        });
    }
}
