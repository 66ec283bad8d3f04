//! `IfaceBox` and `EpBox`: the objects of `uct_iface_h` and `uct_ep_h`.
//!
//! Both begin with the C struct that inline client code reads, followed by the common part of all transports, followed
//! by the transport's own part. They are boxed once and never move.

use crate::c::*;
use crate::ucs::callbackq::Repeat;
use crate::ucs::{Result, Status};
use crate::uct::api::{Iface, Md};
use crate::uct::base::am::AmTable;
use crate::uct::base::desc::DescPool;
use crate::uct::base::md::DynMd;
use crate::uct::base::params::{EpParams, IfaceParams};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::internal::{Internal, InternalIface};
use crate::uct::table;
use crate::uct::tag;
use crate::{ucs_diag, ucs_error};
use core::cell::{Cell, OnceCell, RefCell};
use core::ops::Deref;
use core::ptr::NonNull;

/// The part of an interface that is the same in every transport.
pub struct IfaceBase {
    pub am: AmTable,
    pub params: IfaceParams,
    /// The transport's and the device's name, for logs and attributes.
    pub transport: &'static str,
    pub device: String,
    worker: *const WorkerHandle,
    /// The memory domain and the order of allocation methods, for `uct_iface_mem_alloc`.
    md: Cell<uct_md_h>,
    alloc_methods: RefCell<Vec<u32>>,
    /// What UCP uses of it beyond C's op table.
    pub internal: Internal,
    /// Tag matching, if the interface was opened for it.
    pub tag: OnceCell<Box<tag::Engine>>,
    /// `UCT_PROGRESS_*` that are on.
    progress: Cell<u32>,
    progress_id: Cell<Option<crate::ucs::callbackq::CallbackId>>,
}

/// An open interface of transport `I`.
#[repr(C)]
pub struct IfaceBox<I: Iface> {
    c: uct_iface,
    pub base: IfaceBase,
    pub tl: I,
}

/// An endpoint of transport `I`.
#[repr(C)]
pub struct EpBox<I: Iface> {
    c: uct_ep,
    face: *const IfaceBox<I>,
    /// The error handler was called; it is called once.
    failed: Cell<bool>,
    /// Tag matching's own: the user does not know it, nor hears of its failure.
    hidden: bool,
    pub tl: I::Ep,
}

impl IfaceBase {
    /// The worker this interface was opened on.
    pub fn worker(&self) -> &WorkerHandle {
        // SAFETY: a worker outlives its interfaces (C contract of uct_worker_destroy).
        unsafe { &*self.worker }
    }

    /// Notes the memory domain and the allocation methods, right after opening.
    pub fn attach(&self, md: uct_md_h, alloc_methods: Vec<u32>) {
        self.md.set(md);
        *self.alloc_methods.borrow_mut() = alloc_methods;
    }

    pub fn md(&self) -> uct_md_h {
        self.md.get()
    }

    pub fn alloc_methods(&self) -> Vec<u32> {
        self.alloc_methods.borrow().clone()
    }

    /// A pool of receive descriptors of `capacity` bytes with the headroom and alignment of the interface's parameters.
    pub fn desc_pool(params: &IfaceParams, capacity: usize) -> DescPool {
        DescPool::new(
            capacity,
            params.rx_headroom,
            params.am_alignment,
            params.am_align_offset,
        )
    }
}

impl<I: Iface> IfaceBox<I> {
    /// Boxes an interface for C.
    pub fn open(
        transport: &'static str,
        device: &str,
        worker: &WorkerHandle,
        params: IfaceParams,
        tl: I,
    ) -> uct_iface_h
    where
        I: InternalIface,
    {
        let mut face = Box::new(IfaceBox {
            c: uct_iface {
                ops: table::ops::<I>(),
            },
            base: IfaceBase {
                am: AmTable::new(),
                params,
                transport,
                device: device.to_owned(),
                worker,
                md: Cell::new(core::ptr::null_mut()),
                alloc_methods: RefCell::new(Vec::new()),
                internal: Internal::new::<I>(),
                tag: OnceCell::new(),
                progress: Cell::new(0),
                progress_id: Cell::new(None),
            },
            tl,
        });
        if let Some(params) = face.base.params.tag
            && let Some(engine) = tag::Engine::open(&face, params)
        {
            // The cell is empty: this sets it.
            let _ = face.base.tag.set(engine);
            face.c.ops = table::tagged_ops::<I>();
        }
        Box::into_raw(face).cast()
    }

    /// The C handle.
    pub fn as_c(&self) -> uct_iface_h {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// The interface of C's handle.
    ///
    /// # Safety
    /// `h` must be an open interface of this transport.
    #[inline]
    pub unsafe fn from_c<'a>(h: uct_iface_h) -> &'a IfaceBox<I> {
        // SAFETY: `open` gave out this box; only shared references to it are made.
        unsafe { &*h.cast::<IfaceBox<I>>() }
    }

    /// Closes: progress off, the transport's own goodbye, memory back.
    ///
    /// # Safety
    /// `h` must be an open interface of this transport; it is gone afterwards.
    pub unsafe fn close(h: uct_iface_h) {
        // SAFETY: by the caller's promise.
        let face = unsafe { Self::from_c(h) };
        face.progress_disable(u32::MAX);
        if let Some(tag) = face.base.tag.get() {
            tag.close();
        }
        I::closing(face);
        // SAFETY: made by `Box::into_raw` in `open`, closed once.
        drop(unsafe { Box::from_raw(h.cast::<IfaceBox<I>>()) });
    }

    /// Turns progress on for `flags` (`UCT_PROGRESS_*`): the worker polls this interface.
    pub fn progress_enable(&self, flags: u32) {
        let kinds = flags & (UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
        self.set_progress(self.base.progress.get() | kinds);
    }

    /// Turns progress off for `flags`.
    pub fn progress_disable(&self, flags: u32) {
        self.set_progress(self.base.progress.get() & !flags);
    }

    fn set_progress(&self, now: u32) {
        let before = self.base.progress.replace(now);
        let kind = |flags: u32| (flags != 0, flags & UCT_PROGRESS_RECV != 0);
        if kind(before) == kind(now) {
            return;
        }
        let queue = self.base.worker().queue();
        if let Some(id) = self.base.progress_id.take() {
            // SAFETY: on the worker's thread.
            if let Err(e) = unsafe { queue.remove(id) } {
                ucs_error!("{}: progress cannot be disabled: {e}", self.base.transport);
            }
        }
        if now == 0 || !I::POLLS {
            return;
        }
        let shim = if now & UCT_PROGRESS_RECV != 0 {
            table::progress_shim::<I>
        } else {
            table::progress_sends_shim::<I>
        };
        // SAFETY: on the worker's thread, as every call on an interface; the shim's argument is this
        // box, which takes the callback off before it goes.
        let id = unsafe { queue.add(shim, self.as_c().cast(), Repeat::Always) };
        match id {
            Ok(id) => self.base.progress_id.set(Some(id)),
            Err(e) => ucs_error!("{}: progress cannot be enabled: {e}", self.base.transport),
        }
    }
}

impl<I: Iface> Deref for IfaceBox<I> {
    type Target = I;
    #[inline]
    fn deref(&self) -> &I {
        &self.tl
    }
}

impl<I: Iface> EpBox<I> {
    /// Creates an endpoint for C.
    pub fn create(face: &IfaceBox<I>, params: &EpParams) -> Result<uct_ep_h> {
        EpBox::make(face, params, false, |_| ()).map(|(ep, ())| ep)
    }

    /// Creates an endpoint for tag matching itself.
    pub fn create_hidden(face: &IfaceBox<I>, params: &EpParams) -> Result<uct_ep_h> {
        EpBox::make(face, params, true, |_| ()).map(|(ep, ())| ep)
    }

    /// Creates an endpoint without the addresses of a peer's, and calls `then` with it. Returns what that does, too.
    pub fn create_unconnected<R>(
        face: &IfaceBox<I>,
        then: impl FnOnce(&EpBox<I>) -> R,
    ) -> Result<(uct_ep_h, R)> {
        EpBox::make(face, &EpParams::UNCONNECTED, false, then)
    }

    fn make<R>(
        face: &IfaceBox<I>,
        params: &EpParams,
        hidden: bool,
        then: impl FnOnce(&EpBox<I>) -> R,
    ) -> Result<(uct_ep_h, R)> {
        let tl = I::ep_create(face, params)?;
        let ep = Box::into_raw(Box::new(EpBox {
            c: uct_ep { iface: face.as_c() },
            face,
            failed: Cell::new(false),
            hidden,
            tl,
        }));
        // SAFETY: just made, alive.
        let made = unsafe { &*ep };
        I::ep_created(made);
        Ok((ep.cast(), then(made)))
    }

    /// The C handle.
    pub fn as_c(&self) -> uct_ep_h {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// The endpoint of C's handle.
    ///
    /// # Safety
    /// `h` must be a live endpoint of this transport.
    #[inline]
    pub unsafe fn from_c<'a>(h: uct_ep_h) -> &'a EpBox<I> {
        // SAFETY: `create` gave out this box; only shared references to it are made.
        unsafe { &*h.cast::<EpBox<I>>() }
    }

    /// The endpoint's interface.
    #[inline]
    pub fn face(&self) -> &IfaceBox<I> {
        // SAFETY: an interface outlives its endpoints (C contract of uct_iface_close).
        unsafe { &*self.face }
    }

    /// Destroys it.
    ///
    /// # Safety
    /// `h` must be a live endpoint of this transport; it is gone afterwards.
    pub unsafe fn destroy(h: uct_ep_h) {
        // SAFETY: by the caller's promise.
        let ep = unsafe { Self::from_c(h) };
        if let Some(tag) = ep.face().base.tag.get() {
            tag.ep_closing(h);
        }
        I::ep_closing(ep);
        // SAFETY: made by `Box::into_raw` in `create`, destroyed once.
        drop(unsafe { Box::from_raw(h.cast::<EpBox<I>>()) });
    }

    /// Whether `fail` was called.
    pub fn is_failed(&self) -> bool {
        self.failed.get()
    }

    /// The peer has closed in order: as `fail`, but not logged without a handler.
    pub fn end(&self, status: Status) {
        if self.hidden || self.face().base.params.err_handler.is_some() {
            self.fail(status);
        } else if !self.failed.replace(true) {
            self.tell_tag(status);
        }
    }

    fn tell_tag(&self, status: Status) {
        match self.face().base.tag.get() {
            Some(tag) if self.hidden => tag.back_failed(self.as_c(), status),
            Some(tag) => tag.ep_failed(self.as_c(), status),
            None => (),
        }
    }

    /// Reports the failure of this endpoint to the user, once. The user may destroy the endpoint in
    /// the handler: nothing of it may be touched afterwards.
    pub fn fail(&self, status: Status) {
        if self.failed.replace(true) {
            return;
        }
        self.tell_tag(status);
        if self.hidden {
            return;
        }
        let params = &self.face().base.params;
        let name = self.face().base.transport;
        match params.err_handler {
            Some(handler) => {
                ucs_diag!("{name} endpoint failed: {status}");
                // SAFETY: the user's handler with its argument and its endpoint.
                unsafe { handler(params.err_handler_arg, self.as_c(), status.code()) };
            }
            None => ucs_error!("{name} endpoint failed, and no error handler is set: {status}"),
        }
    }
}

/// An endpoint in a list of its transport's: it takes itself off the list before it goes.
pub struct EpLink<I: Iface>(NonNull<EpBox<I>>);

impl<I: Iface> Clone for EpLink<I> {
    fn clone(&self) -> EpLink<I> {
        *self
    }
}

impl<I: Iface> Copy for EpLink<I> {}

impl<I: Iface> Deref for EpLink<I> {
    type Target = EpBox<I>;
    #[inline]
    fn deref(&self) -> &EpBox<I> {
        // SAFETY: alive, see above; only shared references to it are made.
        unsafe { self.0.as_ref() }
    }
}

impl<I: Iface> EpBox<I> {
    /// For a list, of which `Iface::ep_closing` takes it off.
    pub fn link(&self) -> EpLink<I> {
        EpLink(NonNull::from(self))
    }
}

impl<I: Iface> Deref for EpBox<I> {
    type Target = I::Ep;
    #[inline]
    fn deref(&self) -> &I::Ep {
        &self.tl
    }
}

/// Opens every interface the same way: used by transports that need their memory domain's type.
pub fn md_as<M: Md>(md: &dyn DynMd) -> Result<&M> {
    md.as_any().downcast_ref::<M>().ok_or(Status::INVALID_PARAM)
}

/// The shared part of any interface of ours: it stands right behind the C struct in every
/// `IfaceBox`, whatever the transport.
///
/// # Safety
/// `h` must be an open interface of this library.
pub unsafe fn base_of<'a>(h: uct_iface_h) -> &'a IfaceBase {
    #[repr(C)]
    struct Head {
        c: uct_iface,
        base: IfaceBase,
    }
    // SAFETY: `IfaceBox` is `repr(C)` and begins like `Head`.
    unsafe { &(*h.cast::<Head>()).base }
}
