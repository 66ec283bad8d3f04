//! `Path`: an endpoint of an interface, by which a carrier sends messages.

use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::internal::InternalRef;
use core::cell::Cell;
use core::ffi::c_void;

/// The pending request of a path, and what it is for.
#[repr(C)]
struct Waiting {
    req: uct_pending_req_t,
    /// The transport has it.
    queued: Cell<bool>,
    /// Called when there is room. Returns whether it does not wait any more.
    on_room: Box<dyn Fn() -> bool>,
}

/// It ends before its interface is closed, and not within `on_room`.
pub struct Path {
    ep: uct_ep_h,
    waiting: *mut Waiting,
}

impl Path {
    /// Connects to a peer's interface by one of this process's.
    pub fn open(
        iface: InternalRef<'_>,
        device: &[u8],
        address: &[u8],
        on_room: Box<dyn Fn() -> bool>,
    ) -> Result<Path> {
        let waiting = Box::new(Waiting {
            req: uct_pending_req_t {
                func: Some(has_room),
                r#priv: [0; UCT_PENDING_REQ_PRIV_LEN],
            },
            queued: Cell::new(false),
            on_room,
        });
        Ok(Path {
            ep: iface.connect(device, address)?,
            waiting: Box::into_raw(waiting),
        })
    }

    /// The endpoint, to compare it with the one that a failure is reported of.
    pub fn handle(&self) -> uct_ep_h {
        self.ep
    }

    fn ops(&self) -> &uct_iface_ops {
        // SAFETY: a live endpoint of an open interface.
        unsafe { &(*(*self.ep).iface).ops }
    }

    fn waiting(&self) -> &Waiting {
        // SAFETY: boxed in `open`, freed in `drop`; only shared references to it are made.
        unsafe { &*self.waiting }
    }

    /// Sends a message, which consists of parts. The interface has messages of that length.
    pub fn send(&self, id: u8, parts: &[&[u8]]) -> Result<()> {
        unsafe extern "C" fn gather(to: *mut c_void, parts: *mut c_void) -> usize {
            // SAFETY: `parts` is what the call below has passed, which is still under way.
            let parts = unsafe { *parts.cast::<&[&[u8]]>() };
            let mut len = 0;
            for part in parts {
                // SAFETY: there is room for the message, as its sender has promised.
                unsafe {
                    let to = to.cast::<u8>().add(len);
                    core::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
                }
                len += part.len();
            }
            len
        }
        let Some(send) = self.ops().ep_am_bcopy else {
            return Err(Status::UNSUPPORTED);
        };
        let mut parts = parts;
        let arg = core::ptr::from_mut(&mut parts).cast();
        // SAFETY: a live endpoint; `parts` outlives the call.
        let sent = unsafe { send(self.ep, id, Some(gather), arg, 0) };
        Status::check_length(sent).map(drop)
    }

    /// Has `on_room` called when there is room. Returns false if there is room already. Within `on_room`, which then
    /// returns false, it is called again.
    pub fn wait_for_room(&self) -> bool {
        if self.waiting().queued.get() {
            return true;
        }
        let Some(add) = self.ops().ep_pending_add else {
            return false;
        };
        // SAFETY: a live endpoint; the request lives until it is purged in `drop`.
        let queued = unsafe { add(self.ep, self.waiting.cast(), 0) } == UCS_OK;
        self.waiting().queued.set(queued);
        queued
    }

    /// Has the transport check that the peer lives. It reports its death from progress.
    pub fn check(&self) {
        if let Some(check) = self.ops().ep_check {
            // SAFETY: a live endpoint.
            unsafe { check(self.ep, 0, core::ptr::null_mut()) };
        }
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        unsafe extern "C" fn forget(_req: *mut uct_pending_req_t, _arg: *mut c_void) {}
        let ops = self.ops();
        let (purge, destroy) = (ops.ep_pending_purge, ops.ep_destroy);
        // SAFETY: a live endpoint, destroyed once; the transport has the request no more when it is freed.
        unsafe {
            if let Some(purge) = purge {
                purge(self.ep, Some(forget), core::ptr::null_mut());
            }
            if let Some(destroy) = destroy {
                destroy(self.ep);
            }
            drop(Box::from_raw(self.waiting));
        }
    }
}

/// The transport has room.
unsafe extern "C" fn has_room(req: *mut uct_pending_req_t) -> ucs_status_t {
    // SAFETY: the request of a live path, off the transport's queue.
    let waiting = unsafe { &*req.cast::<Waiting>() };
    let done = (waiting.on_room)();
    waiting.queued.set(!done);
    match done {
        true => UCS_OK,
        false => UCS_ERR_NO_RESOURCE,
    }
}
