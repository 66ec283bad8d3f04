//! Queues of callbacks that clients own, `ucs/datastruct/callbackq.h`.
//!
//! A client's object begins with the array that inline code of every release walks, in steps of 16 or of 24 bytes: only
//! its first element is used, a dispatcher, with zeroes behind it. What it dispatches is a queue of the library's own.

use crate::c::{ucs_callbackq, ucs_callbackq_elem};
use crate::sys::lock::Mutex;
use crate::ucs::callbackq::{Callback, CallbackId, CallbackQueue, Repeat};
use crate::ucs::{Result, Status};
use core::ffi::{c_int, c_uint, c_void};
use std::collections::HashMap;
use std::sync::Arc;

/// Chooses callbacks.
pub type Predicate = unsafe extern "C" fn(*const ucs_callbackq_elem, *mut c_void) -> c_int;

/// What stands behind a client's object.
pub struct Queue {
    queue: CallbackQueue,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// What `remove_safe` answers.
    arguments: HashMap<CallbackId, Word>,
    /// Those that are called once, in the order in which they were added.
    once: Vec<Arc<Once>>,
}

/// A client's pointer, which it may use on any thread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(*mut c_void);

// SAFETY: the library hands it back and looks at nothing behind it.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

struct Once {
    key: Word,
    cb: Callback,
    arg: Word,
    /// Whoever takes it off the list calls it, or has removed it.
    list: Arc<Mutex<Shared>>,
}

impl Queue {
    /// Makes a client's object a queue.
    ///
    /// # Safety
    /// `object` is writable and stays where it is until `cleanup`.
    pub unsafe fn init(object: *mut ucs_callbackq) {
        let queue = Box::into_raw(Box::new(Queue {
            queue: CallbackQueue::new(),
            shared: Arc::default(),
        }));
        // SAFETY: zeroes are an empty array.
        let mut new: ucs_callbackq = unsafe { core::mem::zeroed() };
        new.fast_elems[0] = ucs_callbackq_elem {
            cb: Some(dispatch),
            arg: queue.cast(),
        };
        new.r#priv = queue.cast();
        // SAFETY: the caller's promise.
        unsafe { object.write(new) };
    }

    /// Ends a client's queue; what is in it is not called any more.
    ///
    /// # Safety
    /// `object` is of `init`, and nobody uses it.
    pub unsafe fn cleanup(object: *mut ucs_callbackq) {
        // SAFETY: the caller's promise.
        let object = unsafe { &mut *object };
        object.fast_elems[0].cb = None;
        let queue: *mut Queue =
            core::mem::replace(&mut object.r#priv, core::ptr::null_mut()).cast();
        // SAFETY: `init` boxed it.
        let queue = unsafe { Box::from_raw(queue) };
        let once = core::mem::take(&mut queue.shared.lock().once);
        let forget = |cb, arg: *mut c_void| {
            if core::ptr::fn_addr_eq(cb, call_once as Callback) {
                // SAFETY: its share of the entry.
                drop(unsafe { Arc::from_raw(arg.cast::<Once>()) });
            }
            true
        };
        // SAFETY: nobody else uses the queue.
        unsafe { queue.queue.remove_if(forget) };
        drop(once);
    }

    /// The queue behind a client's object.
    ///
    /// # Safety
    /// `object` is of `init`.
    pub unsafe fn of<'a>(object: *mut ucs_callbackq) -> &'a Queue {
        // SAFETY: the caller's promise.
        unsafe { &*(*object).r#priv.cast::<Queue>() }
    }

    /// Adds a callback; with `anywhere`, from any thread.
    ///
    /// # Safety
    /// Without `anywhere`, as for `CallbackQueue::add`.
    pub unsafe fn add(&self, cb: Callback, arg: *mut c_void, anywhere: bool) -> Result<CallbackId> {
        // The lock is held across both, so that nobody looks for an argument that is not there yet.
        let mut shared = self.shared.lock();
        let id = if anywhere {
            // SAFETY: the caller's callback.
            unsafe { self.queue.add_safe(cb, arg, Repeat::Always) }?
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.queue.add(cb, arg, Repeat::Always) }?
        };
        shared.arguments.insert(id, Word(arg));
        Ok(id)
    }

    /// Removes a callback and gives its argument back; with `anywhere`, from any thread, soon.
    ///
    /// # Safety
    /// Without `anywhere`, as for `CallbackQueue::remove`.
    pub unsafe fn remove(&self, id: CallbackId, anywhere: bool) -> Result<*mut c_void> {
        let mut shared = self.shared.lock();
        let Word(arg) = shared.arguments.remove(&id).ok_or(Status::NO_ELEM)?;
        if anywhere {
            self.queue.remove_safe(id)?;
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.queue.remove(id) }?;
        }
        Ok(arg)
    }

    /// Has a callback called once, from any thread.
    ///
    /// # Safety
    /// `cb` may be called with `arg` until it was, or is removed.
    pub unsafe fn add_once(&self, key: *mut c_void, cb: Callback, arg: *mut c_void) -> Result<()> {
        let once = Arc::new(Once {
            key: Word(key),
            cb,
            arg: Word(arg),
            list: self.shared.clone(),
        });
        self.shared.lock().once.push(once.clone());
        let raw = Arc::into_raw(once);
        // SAFETY: `call_once` gets its share of the entry.
        let added = unsafe {
            self.queue
                .add_safe(call_once, raw.cast_mut().cast(), Repeat::Once)
        };
        if let Err(status) = added {
            // SAFETY: the share that nobody got.
            let once = unsafe { Arc::from_raw(raw) };
            take(&once);
            return Err(status);
        }
        Ok(())
    }

    /// Removes those of a key that `predicate` chooses, in order.
    ///
    /// # Safety
    /// `predicate` may be called with `arg`.
    pub unsafe fn remove_once(&self, key: *mut c_void, predicate: Predicate, arg: *mut c_void) {
        let all = self.shared.lock().once.clone();
        for once in all.iter().filter(|once| once.key == Word(key)) {
            let element = ucs_callbackq_elem {
                cb: Some(once.cb),
                arg: once.arg.0,
            };
            // SAFETY: the caller's function.
            if unsafe { predicate(&raw const element, arg) } != 0 {
                take(once);
            }
        }
    }
}

/// Takes an entry off its list; whether it was there.
fn take(once: &Arc<Once>) -> bool {
    let mut shared = once.list.lock();
    let Some(at) = shared
        .once
        .iter()
        .position(|other| Arc::ptr_eq(other, once))
    else {
        return false;
    };
    shared.once.remove(at);
    true
}

unsafe extern "C" fn call_once(arg: *mut c_void) -> c_uint {
    // SAFETY: the share that `add_once` gave.
    let once = unsafe { Arc::from_raw(arg.cast::<Once>()) };
    if !take(&once) {
        return 0;
    }
    // SAFETY: the caller of `add_once` promised it.
    unsafe { (once.cb)(once.arg.0) }
}

unsafe extern "C" fn dispatch(queue: *mut c_void) -> c_uint {
    // SAFETY: `init` put it beside this function; the client dispatches on one thread.
    unsafe { (*queue.cast::<Queue>()).queue.dispatch() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    thread_local! {
        static CALLED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    }

    unsafe extern "C" fn note(arg: *mut c_void) -> c_uint {
        CALLED.with_borrow_mut(|called| called.push(arg.addr()));
        1
    }

    unsafe extern "C" fn is(element: *const ucs_callbackq_elem, arg: *mut c_void) -> c_int {
        // SAFETY: the element of `remove_once`.
        c_int::from(unsafe { (*element).arg } == arg)
    }

    fn word(value: usize) -> *mut c_void {
        core::ptr::without_provenance_mut(value)
    }

    /// As inline code of clients, with the step of a release.
    fn progress(object: *mut ucs_callbackq, step: usize) -> Vec<usize> {
        let mut at = object.cast::<ucs_callbackq_elem>();
        loop {
            // SAFETY: elements up to the first empty one.
            let element = unsafe { at.read() };
            let Some(cb) = element.cb else { break };
            // SAFETY: as above.
            unsafe { cb(element.arg) };
            at = at.wrapping_byte_add(step);
        }
        CALLED.take()
    }

    #[test]
    fn clients_of_all_releases_walk_it() {
        // The object was 264 bytes up to 1.15; what lies behind ours stays the client's.
        let mut room = [0usize; 264 / 8];
        let object: *mut ucs_callbackq = room.as_mut_ptr().cast();
        // SAFETY: room of this test, here and below.
        unsafe { Queue::init(object) };
        // SAFETY: as above.
        let queue = unsafe { Queue::of(object) };
        let add = |value, anywhere| {
            // SAFETY: one thread; any argument will do.
            unsafe { queue.add(note, word(value), anywhere) }.unwrap()
        };
        // SAFETY: one thread.
        let remove = |id, anywhere| unsafe { queue.remove(id, anywhere) };
        for step in [16, 24] {
            assert_eq!(progress(object, step), []);
            let first = add(1, false);
            let second = add(2, true);
            assert_eq!(progress(object, step), [1, 2]);
            assert_eq!(remove(second, true), Ok(word(2)));
            assert_eq!(remove(second, true), Err(Status::NO_ELEM));
            assert_eq!(progress(object, step), [1]);
            assert_eq!(remove(first, false), Ok(word(1)));
            assert_eq!(progress(object, step), []);
        }
        for value in [5, 6, 7] {
            // SAFETY: as above.
            unsafe { queue.add_once(word(value % 2), note, word(value)) }.unwrap();
        }
        // SAFETY: as above.
        unsafe { queue.remove_once(word(1), is, word(5)) };
        // SAFETY: as above. Another key.
        unsafe { queue.remove_once(word(1), is, word(6)) };
        assert_eq!(progress(object, 16), [6, 7]);
        assert_eq!(progress(object, 16), []);
        // SAFETY: as above.
        unsafe { queue.add_once(word(1), note, word(8)) }.unwrap();
        // SAFETY: as above.
        unsafe { Queue::cleanup(object) };
        assert_eq!(progress(object, 16), []);
    }
}
