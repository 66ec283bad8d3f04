//! Active messages: handlers by 16-bit id.
//!
//! `send`: sends. `recv`: calls the handlers and fetches rendezvous data. `kept`: descriptors that handlers keep.

pub mod kept;
pub mod recv;
pub mod send;

use crate::c::*;
use crate::ucp::worker_core::{Core, FloorState};
use crate::ucs::{Result, Status};
use crate::wire::header::AmHdr;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use kept::KeptData;

type NewHandler = unsafe extern "C" fn(
    *mut c_void,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *const ucp_am_recv_param_t,
) -> ucs_status_t;
type OldHandler =
    unsafe extern "C" fn(*mut c_void, *mut c_void, usize, ucp_ep_h, u32) -> ucs_status_t;

/// A function of the new kind with its argument.
type PlainHandler = (NewHandler, *mut c_void);

/// The user's function, of the old kind or the new.
#[derive(Clone, Copy)]
pub enum Function {
    New(NewHandler),
    Old(OldHandler),
}

/// A handler with its argument.
#[derive(Clone, Copy)]
pub struct AmHandler {
    pub function: Function,
    pub arg: *mut c_void,
    /// It wants data that it can keep.
    pub persistent: bool,
}

/// The handlers of a worker, and the descriptors they keep.
pub struct AmState {
    /// By id; as long as the highest id in use.
    handlers: RefCell<Vec<Option<AmHandler>>>,
    pub kept: KeptData,
    /// Memory of the last copy that nobody kept.
    spare: Cell<Vec<u8>>,
}

impl Core {
    #[inline(always)]
    pub fn am(&self) -> &AmState {
        AmState::of(self)
    }
}

impl AmState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> AmState {
        AmState {
            handlers: RefCell::new(Vec::new()),
            kept: KeptData::new(),
            spare: Cell::new(Vec::new()),
        }
    }

    /// Sets the handler of `id`, or takes it away. `INVALID_PARAM` for an id beyond 16 bits.
    pub fn set(&self, id: u32, handler: Option<AmHandler>) -> Result<()> {
        let Ok(id) = u16::try_from(id) else {
            crate::ucs_error!("active message id {id} is over the limit of {}", u16::MAX);
            return Err(Status::INVALID_PARAM);
        };
        let mut all = self.handlers.borrow_mut();
        let at = usize::from(id);
        if all.len() <= at {
            all.resize(at + 1, None);
        }
        all[at] = handler;
        Ok(())
    }

    /// Whether the application takes active messages.
    pub fn has_handlers(&self) -> bool {
        self.handlers.borrow().iter().any(Option::is_some)
    }

    /// The handler for a message whose `AmHdr` is this word and contains only the id. One that needs persistent data only if
    /// the data can be kept.
    #[inline(always)]
    fn plain_handler(&self, word: u64, can_keep: bool) -> Option<PlainHandler> {
        let id = AmHdr::plain_id(word)?;
        let handlers = self.handlers.borrow();
        match handlers.get(usize::from(id))? {
            Some(AmHandler {
                function: Function::New(function),
                arg,
                persistent,
            }) if can_keep || !persistent => Some((*function, *arg)),
            _ => None,
        }
    }

    /// The handler of `id`.
    #[inline]
    fn handler(&self, id: u16) -> Option<AmHandler> {
        self.handlers
            .borrow()
            .get(usize::from(id))
            .copied()
            .flatten()
    }
}
