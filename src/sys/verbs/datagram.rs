//! Unreliable-datagram queue pairs and address handles.

use super::device::{Device, errno};
use super::queue::{Caps, CompletionQueue, RawPair, blank};
use crate::c::verbs::*;
use core::ffi::c_int;
use core::ptr::NonNull;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

/// A way to a port.
pub struct AddressHandle {
    handle: NonNull<ibv_ah>,
    device: Arc<Device>,
}

impl AddressHandle {
    pub fn new(device: &Arc<Device>, address: &ibv_ah_attr) -> io::Result<AddressHandle> {
        let mut address = *address;
        // SAFETY: an open domain and an initialized struct.
        let handle = unsafe { (device.table.ibv_create_ah)(device.domain(), &mut address) };
        Ok(AddressHandle {
            handle: NonNull::new(handle).ok_or_else(errno)?,
            device: Arc::clone(device),
        })
    }

    /// As work requests name it.
    #[inline]
    pub fn raw(&self) -> *mut ibv_ah {
        self.handle.as_ptr()
    }
}

impl Drop for AddressHandle {
    fn drop(&mut self) {
        if !self.device.is_ours() {
            return;
        }
        // SAFETY: made in `new`, destroyed once.
        unsafe { (self.device.table.ibv_destroy_ah)(self.handle.as_ptr()) };
    }
}

/// A queue pair for datagrams, with a receive queue of its own.
pub struct DatagramPair {
    pair: RawPair,
    _completions: Rc<CompletionQueue>,
}

impl DatagramPair {
    /// `wanted` are the send queue's limits, `receives` how many buffers may be posted.
    pub fn new(
        device: &Arc<Device>,
        completions: &Rc<CompletionQueue>,
        wanted: Caps,
        receives: u32,
    ) -> io::Result<DatagramPair> {
        Ok(DatagramPair {
            pair: RawPair::new(device, IBV_QPT_UD, completions, None, receives, wanted)?,
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

    /// Makes it send and receive. Datagrams with another `qkey` are dropped by the device.
    pub fn start(&self, port: u8, pkey_index: u16, qkey: u32) -> io::Result<()> {
        let mut attr = blank(IBV_QPS_INIT);
        attr.port_num = port;
        attr.pkey_index = pkey_index;
        attr.qkey = qkey;
        let mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
        self.pair.modify(&mut attr, mask)?;
        self.pair.modify(&mut blank(IBV_QPS_RTR), IBV_QP_STATE)?;
        self.pair
            .modify(&mut blank(IBV_QPS_RTS), IBV_QP_STATE | IBV_QP_SQ_PSN)
    }

    /// Not in a child of fork(), which must leave it alone.
    pub fn is_ours(&self) -> bool {
        self.pair.device.is_ours()
    }

    /// Posts a datagram.
    ///
    /// # Safety
    /// Memory that it names must be readable until it completes; inline data during the call. Its address handle must
    /// live until it completes.
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

    /// Posts a chain of receive buffers.
    ///
    /// # Safety
    /// As `RawPair::post_receives`.
    pub unsafe fn post_receives(&self, first: *mut ibv_recv_wr) -> io::Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.pair.post_receives(first) }
    }
}
