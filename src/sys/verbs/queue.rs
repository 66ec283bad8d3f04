//! Completion queues with their channel, shared receive queues and reliable-connected queue pairs.

use super::device::{Device, check, errno};
use crate::c::verbs::*;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};
use std::any::Any;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::rc::Rc;
use std::sync::Arc;

/// Wakes whoever waits for completions.
struct Channel {
    channel: NonNull<ibv_comp_channel>,
    device: Arc<Device>,
}

impl Channel {
    fn new(device: &Arc<Device>) -> io::Result<Channel> {
        // SAFETY: an open context.
        let channel = unsafe { (device.table.ibv_create_comp_channel)(device.context()) };
        let channel = Channel {
            channel: NonNull::new(channel).ok_or_else(errno)?,
            device: Arc::clone(device),
        };
        crate::sys::file::set_nonblocking(channel.fd())?;
        Ok(channel)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel's own descriptor, open as long as the channel.
        unsafe { BorrowedFd::borrow_raw(self.channel.as_ref().fd) }
    }

    fn raw_fd(&self) -> RawFd {
        self.fd().as_raw_fd()
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if !self.device.is_ours() {
            return;
        }
        // SAFETY: made in `new`, destroyed once, after the queue that owned it.
        unsafe { (self.device.table.ibv_destroy_comp_channel)(self.channel.as_ptr()) };
    }
}

/// The driver's functions that are called for each message.
type PollQueue = unsafe extern "C" fn(*mut ibv_cq, c_int, *mut ibv_wc) -> c_int;
type PostSend = unsafe extern "C" fn(*mut ibv_qp, *mut ibv_send_wr, *mut *mut ibv_send_wr) -> c_int;

/// Room for completions that are taken off at a time.
pub struct Completions<const N: usize>([MaybeUninit<ibv_wc>; N]);

impl<const N: usize> Completions<N> {
    #[allow(clippy::new_without_default)]
    #[inline(always)]
    pub const fn new() -> Completions<N> {
        Completions([const { MaybeUninit::uninit() }; N])
    }
}

/// A completion queue with a channel of its own.
pub struct CompletionQueue {
    queue: NonNull<ibv_cq>,
    poll: PollQueue,
    channel: Channel,
    device: Arc<Device>,
}

impl CompletionQueue {
    /// A queue with room for at least `length` completions.
    pub fn new(device: &Arc<Device>, length: usize) -> io::Result<Rc<CompletionQueue>> {
        CompletionQueue::make(device, length).map(Rc::new)
    }

    pub(super) fn make(device: &Arc<Device>, length: usize) -> io::Result<CompletionQueue> {
        let poll = device.ops().poll_cq.ok_or(io::ErrorKind::Unsupported)?;
        let channel = Channel::new(device)?;
        let length = c_int::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: an open context and its channel; vector 0 is there on every device.
        let queue = unsafe {
            let chan = channel.channel.as_ptr();
            (device.table.ibv_create_cq)(device.context(), length, null_mut(), chan, 0)
        };
        Ok(CompletionQueue {
            queue: NonNull::new(queue).ok_or_else(errno)?,
            poll,
            channel,
            device: Arc::clone(device),
        })
    }

    /// What events call it.
    pub fn id(&self) -> usize {
        self.queue.as_ptr() as usize
    }

    pub fn event_fd(&self) -> RawFd {
        self.channel.raw_fd()
    }

    /// Takes as many completions off as there is room for in `into`.
    #[inline(always)]
    pub fn poll<'a, const N: usize>(
        &self,
        into: &'a mut Completions<N>,
    ) -> io::Result<&'a [ibv_wc]> {
        let room = into.0.as_mut_ptr().cast::<ibv_wc>();
        // SAFETY: a live queue and room for so many.
        let n = unsafe { (self.poll)(self.queue.as_ptr(), N as c_int, room) };
        let count = usize::try_from(n).map_err(|_| errno())?;
        // SAFETY: the driver has written so many, and no more than there is room for.
        Ok(unsafe { core::slice::from_raw_parts(room, count) })
    }

    /// Asks for one event on the channel at the next completion.
    pub fn request_event(&self) -> io::Result<()> {
        let Some(request) = self.device.ops().req_notify_cq else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        // SAFETY: a live queue.
        check(unsafe { request(self.queue.as_ptr(), 0) })
    }

    /// Takes the events of the channel; whether there was one.
    pub fn take_events(&self) -> bool {
        let mut count = 0;
        loop {
            let (mut queue, mut context) = (null_mut(), null_mut());
            let channel = self.channel.channel.as_ptr();
            // SAFETY: a live channel, whose descriptor does not block, and writable results.
            if unsafe { (self.device.table.ibv_get_cq_event)(channel, &mut queue, &mut context) }
                != 0
            {
                break;
            }
            count += 1;
        }
        if count > 0 {
            // SAFETY: all events of the channel are of its one queue.
            unsafe { (self.device.table.ibv_ack_cq_events)(self.queue.as_ptr(), count) };
        }
        count > 0
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        if !self.device.is_ours() {
            return;
        }
        // SAFETY: made in `new`, destroyed once; queue pairs that used it owned it and are gone.
        unsafe { (self.device.table.ibv_destroy_cq)(self.queue.as_ptr()) };
    }
}

/// A receive queue that queue pairs share.
pub struct ReceiveQueue {
    queue: NonNull<ibv_srq>,
    device: Arc<Device>,
}

impl ReceiveQueue {
    /// Room for `length` receives of one buffer each.
    pub fn new(device: &Arc<Device>, length: u32) -> io::Result<Rc<ReceiveQueue>> {
        let mut init = ibv_srq_init_attr {
            srq_context: null_mut(),
            attr: ibv_srq_attr {
                max_wr: length,
                max_sge: 1,
                srq_limit: 0,
            },
        };
        // SAFETY: an open domain and an initialized struct.
        let queue = unsafe { (device.table.ibv_create_srq)(device.domain(), &mut init) };
        Ok(Rc::new(ReceiveQueue {
            queue: NonNull::new(queue).ok_or_else(errno)?,
            device: Arc::clone(device),
        }))
    }

    /// What events call it.
    pub fn id(&self) -> usize {
        self.queue.as_ptr() as usize
    }

    /// Posts a chain of receives.
    ///
    /// # Safety
    /// `first` must begin a chain of initialized requests. Their buffers must be registered, and nobody else's until they
    /// complete or the queue is gone.
    pub unsafe fn post(&self, first: *mut ibv_recv_wr) -> io::Result<()> {
        let Some(post) = self.device.ops().post_srq_recv else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let mut bad = null_mut();
        // SAFETY: a live queue; the chain and its buffers by the caller's promise.
        check(unsafe { post(self.queue.as_ptr(), first, &mut bad) })
    }
}

impl Drop for ReceiveQueue {
    fn drop(&mut self) {
        if !self.device.is_ours() {
            return;
        }
        // SAFETY: made in `new`, destroyed once; queue pairs that used it owned it and are gone.
        unsafe { (self.device.table.ibv_destroy_srq)(self.queue.as_ptr()) };
    }
}

/// What a queue pair is asked for, and what it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    pub send_queue: u32,
    pub send_sges: u32,
    pub inline: u32,
}

/// Where a queue pair connects to, and how.
pub struct Route {
    pub peer: u32,
    /// `IBV_MTU_*`.
    pub mtu: u32,
    /// The packet sequence number of the peer's first packet, and of ours.
    pub receive_psn: u32,
    pub send_psn: u32,
    pub address: ibv_ah_attr,
    /// Reads and atomics under way: that we answer, and that we ask.
    pub answered_reads: u8,
    pub asked_reads: u8,
    /// Exponents and counts as the specification has them.
    pub timeout: u8,
    pub retries: u8,
    pub rnr_retries: u8,
    pub rnr_timer: u8,
}

/// A queue pair of any kind. Whoever owns it also owns its queues, and drops them after it.
pub(super) struct RawPair {
    pair: NonNull<ibv_qp>,
    post: PostSend,
    caps: Caps,
    pub(super) device: Arc<Device>,
}

/// Why the driver has refused a request.
#[cold]
pub fn refusal(code: c_int) -> io::Error {
    check(code)
        .err()
        .unwrap_or_else(|| io::ErrorKind::Other.into())
}

impl RawPair {
    /// Both of its directions complete on `completions`. Receive buffers are posted to `shared`, or without one to the
    /// pair, up to `receives`.
    pub(super) fn new(
        device: &Arc<Device>,
        kind: u32,
        completions: &CompletionQueue,
        shared: Option<&ReceiveQueue>,
        receives: u32,
        wanted: Caps,
    ) -> io::Result<RawPair> {
        let queue = completions.queue.as_ptr();
        let mut init = ibv_qp_init_attr {
            qp_context: null_mut(),
            send_cq: queue,
            recv_cq: queue,
            srq: shared.map_or(null_mut(), |shared| shared.queue.as_ptr()),
            cap: ibv_qp_cap {
                max_send_wr: wanted.send_queue,
                max_recv_wr: receives,
                max_send_sge: wanted.send_sges,
                max_recv_sge: 1,
                max_inline_data: wanted.inline,
            },
            qp_type: kind,
            sq_sig_all: 0,
        };
        let post = device.ops().post_send.ok_or(io::ErrorKind::Unsupported)?;
        // SAFETY: an open domain and an initialized struct of live queues.
        let pair = unsafe { (device.table.ibv_create_qp)(device.domain(), &mut init) };
        Ok(RawPair {
            pair: NonNull::new(pair).ok_or_else(errno)?,
            post,
            caps: Caps {
                send_queue: init.cap.max_send_wr,
                send_sges: init.cap.max_send_sge,
                inline: init.cap.max_inline_data,
            },
            device: Arc::clone(device),
        })
    }

    pub(super) fn raw(&self) -> *mut ibv_qp {
        self.pair.as_ptr()
    }

    /// What the device gave.
    pub(super) fn caps(&self) -> Caps {
        self.caps
    }

    pub(super) fn number(&self) -> u32 {
        // SAFETY: alive until dropped; the number does not change.
        unsafe { self.pair.as_ref().qp_num }
    }

    pub(super) fn modify(&self, attr: &mut ibv_qp_attr, mask: c_int) -> io::Result<()> {
        if !self.device.is_ours() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: a live queue pair and an initialized struct.
        check(unsafe { (self.device.table.ibv_modify_qp)(self.pair.as_ptr(), attr, mask) })
    }

    /// Posts a work request.
    ///
    /// # Safety
    /// Memory that it names must be readable (writable, for reads and atomics) until it completes; inline data during
    /// the call. What else it names must live until it completes.
    #[inline]
    pub(super) unsafe fn post(&self, request: &mut ibv_send_wr) -> io::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.try_post(request) }.map_err(refusal)
    }

    /// As `post`; the error is the driver's number, for `refusal`.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn try_post(&self, request: &mut ibv_send_wr) -> Result<(), c_int> {
        let mut bad = MaybeUninit::uninit();
        // SAFETY: a live queue pair, an initialized request; its memory by the caller's promise.
        match unsafe { (self.post)(self.pair.as_ptr(), request, bad.as_mut_ptr()) } {
            0 => Ok(()),
            code => Err(code),
        }
    }

    /// Posts a chain of receive buffers.
    ///
    /// # Safety
    /// `first` must begin a chain of initialized requests. Their buffers must be registered, and nobody else's until they
    /// complete or the queue pair is gone.
    pub(super) unsafe fn post_receives(&self, first: *mut ibv_recv_wr) -> io::Result<()> {
        let Some(post) = self.device.ops().post_recv else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let mut bad = null_mut();
        // SAFETY: a live queue pair; the chain and its buffers by the caller's promise.
        check(unsafe { post(self.pair.as_ptr(), first, &mut bad) })
    }
}

impl Drop for RawPair {
    fn drop(&mut self) {
        if !self.device.is_ours() {
            return;
        }
        // SAFETY: made in `new`, destroyed once.
        unsafe { (self.device.table.ibv_destroy_qp)(self.pair.as_ptr()) };
    }
}

/// Where the receive buffers of a queue pair are posted to.
pub enum Receives {
    /// A queue that others use too.
    Shared(Rc<ReceiveQueue>),
    /// The queue pair, up to so many. What owns the buffers is kept until the queue pair is gone.
    Own(u32, Option<Rc<dyn Any>>),
}

/// A reliable-connected queue pair.
pub struct QueuePair {
    pair: RawPair,
    _receives: Rc<Receives>,
    _completions: Rc<CompletionQueue>,
}

impl QueuePair {
    /// A queue pair on these queues, which are there as long as it is.
    pub fn new(
        device: &Arc<Device>,
        completions: &Rc<CompletionQueue>,
        receives: &Rc<Receives>,
        wanted: Caps,
    ) -> io::Result<QueuePair> {
        let (shared, own) = match &**receives {
            Receives::Shared(queue) => (Some(&**queue), 0),
            Receives::Own(room, _) => (None, *room),
        };
        Ok(QueuePair {
            pair: RawPair::new(device, IBV_QPT_RC, completions, shared, own, wanted)?,
            _receives: Rc::clone(receives),
            _completions: Rc::clone(completions),
        })
    }

    /// What the device gave.
    pub fn caps(&self) -> Caps {
        self.pair.caps()
    }

    pub fn number(&self) -> u32 {
        self.pair.number()
    }

    /// Lets the peer read, write and use atomics, as its keys allow, once it is connected.
    pub fn initialize(&self, port: u8, pkey_index: u16) -> io::Result<()> {
        let mut attr = blank(IBV_QPS_INIT);
        attr.port_num = port;
        attr.pkey_index = pkey_index;
        attr.qp_access_flags =
            (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) as u32;
        let mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        self.pair.modify(&mut attr, mask)
    }

    /// Connects to a peer's queue pair.
    pub fn connect(&self, route: &Route) -> io::Result<()> {
        let mut attr = blank(IBV_QPS_RTR);
        attr.path_mtu = route.mtu;
        attr.dest_qp_num = route.peer;
        attr.rq_psn = route.receive_psn;
        attr.ah_attr = route.address;
        attr.max_dest_rd_atomic = route.answered_reads;
        attr.min_rnr_timer = route.rnr_timer;
        let mask = IBV_QP_STATE
            | IBV_QP_AV
            | IBV_QP_PATH_MTU
            | IBV_QP_DEST_QPN
            | IBV_QP_RQ_PSN
            | IBV_QP_MAX_DEST_RD_ATOMIC
            | IBV_QP_MIN_RNR_TIMER;
        self.pair.modify(&mut attr, mask)?;
        let mut attr = blank(IBV_QPS_RTS);
        attr.sq_psn = route.send_psn;
        attr.timeout = route.timeout;
        attr.retry_cnt = route.retries;
        attr.rnr_retry = route.rnr_retries;
        attr.max_rd_atomic = route.asked_reads;
        let mask = IBV_QP_STATE
            | IBV_QP_TIMEOUT
            | IBV_QP_RETRY_CNT
            | IBV_QP_RNR_RETRY
            | IBV_QP_SQ_PSN
            | IBV_QP_MAX_QP_RD_ATOMIC;
        self.pair.modify(&mut attr, mask)
    }

    /// Posts without the object.
    pub fn poster(&self) -> Poster {
        Poster {
            post: Some(self.pair.post),
            pair: self.pair.raw(),
        }
    }

    /// Posts a chain of receives to a queue pair with a queue of its own.
    ///
    /// # Safety
    /// As `RawPair::post_receives`.
    pub unsafe fn post_receives(&self, first: *mut ibv_recv_wr) -> io::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.pair.post_receives(first) }
    }

    /// Not in a child of fork(), which must leave it alone.
    pub fn is_ours(&self) -> bool {
        self.pair.device.is_ours()
    }

    /// Ends all transfers: each work request that is not done completes with an error.
    pub fn stop(&self) -> io::Result<()> {
        self.pair.modify(&mut blank(IBV_QPS_ERR), IBV_QP_STATE)
    }

    /// Posts a work request.
    ///
    /// # Safety
    /// Memory that it names must be readable (writable, for reads and atomics) until it completes; inline data during
    /// the call.
    #[inline]
    pub unsafe fn post(&self, request: &mut ibv_send_wr) -> io::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.pair.post(request) }
    }

    /// As `post`; the error is the driver's number, for `refusal`.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn try_post(&self, request: &mut ibv_send_wr) -> Result<(), c_int> {
        // SAFETY: by the caller's promise.
        unsafe { self.pair.try_post(request) }
    }
}

/// Posts to a queue pair whose owner keeps it.
#[derive(Clone, Copy)]
pub struct Poster {
    post: Option<PostSend>,
    pair: *mut ibv_qp,
}

impl Poster {
    /// Posts to nothing.
    pub const NONE: Poster = Poster {
        post: None,
        pair: null_mut(),
    };

    /// Posts a chain of work requests.
    ///
    /// # Safety
    /// The queue pair must not be gone, and none posts to it at the same time. `first` must begin a chain of initialized
    /// requests; their memory as for `QueuePair::post`.
    pub unsafe fn post(&self, first: *mut ibv_send_wr) -> io::Result<()> {
        let Some(post) = self.post else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let mut bad = null_mut();
        // SAFETY: by the caller's promise.
        check(unsafe { post(self.pair, first, &mut bad) })
    }
}

/// Attributes that say nothing but the state.
pub(super) fn blank(state: u32) -> ibv_qp_attr {
    // SAFETY: plain integers; all zeros is a value.
    let mut attr: ibv_qp_attr = unsafe { core::mem::zeroed() };
    attr.qp_state = state;
    attr
}
