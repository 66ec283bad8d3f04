//! Work requests as libibverbs has them.

use crate::c::uct_iov_t;
use crate::c::verbs::*;
use crate::sys::verbs::Region;
use crate::ucs::{Result, Status};
use crate::uct::base::desc::{OwnedDesc, ReleaseWord};
use crate::uct::base::iov::Iov;
use crate::uct::base::md::MemoryHandle;
use crate::uct::ib::wire::HEADER_LEN;
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};

/// A request with these entries; `to` is what its kind needs.
#[inline]
fn request(opcode: u32, list: &mut [ibv_sge], flags: u32, to: ibv_send_wr_to) -> ibv_send_wr {
    ibv_send_wr {
        wr_id: 0,
        next: null_mut(),
        sg_list: list.as_mut_ptr(),
        num_sge: list.len() as i32,
        opcode,
        send_flags: flags,
        imm_data: 0,
        wr: to,
        qp_type: 0,
        bind_mw: [0; 6],
    }
}

fn remote(address: u64, rkey: u32) -> ibv_send_wr_to {
    ibv_send_wr_to {
        rdma: ibv_send_wr_rdma {
            remote_addr: address,
            rkey,
        },
    }
}

/// A message.
#[inline]
pub fn send(list: &mut [ibv_sge], flags: u32) -> ibv_send_wr {
    request(IBV_WR_SEND, list, flags, remote(0, 0))
}

#[inline]
pub fn write(list: &mut [ibv_sge], address: u64, rkey: u32, flags: u32) -> ibv_send_wr {
    request(IBV_WR_RDMA_WRITE, list, flags, remote(address, rkey))
}

/// An entry of a list. `len` is at most the device's message size, which has 32 bits.
#[inline]
pub fn entry(at: *const u8, len: usize, key: u32) -> ibv_sge {
    ibv_sge {
        addr: at as u64,
        length: len as u32,
        lkey: key,
    }
}

/// Most entries of a gather list, whatever the device has.
pub const MAX_SGES: usize = 16;

/// The entries of a request's list, on the stack.
pub struct List {
    entries: [MaybeUninit<ibv_sge>; MAX_SGES],
    count: usize,
}

impl List {
    pub fn new() -> List {
        List {
            entries: [MaybeUninit::uninit(); MAX_SGES],
            count: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// `INVALID_PARAM` when there is no room.
    pub fn push(&mut self, entry: ibv_sge) -> Result<()> {
        let place = self.entries.get_mut(self.count);
        place.ok_or(Status::INVALID_PARAM)?.write(entry);
        self.count += 1;
        Ok(())
    }

    /// Adds the user's blocks, at most `max` of them. `INVALID_PARAM` for more, and without a memory handle.
    pub fn push_iov(&mut self, iov: Iov<'_>, max: usize) -> Result<()> {
        let before = self.count;
        for e in iov.entries() {
            if e.length == 0 || e.count == 0 {
                continue;
            }
            if e.count as usize > max - (self.count - before) {
                return Err(Status::INVALID_PARAM);
            }
            // SAFETY: null or a live handle of the domain's.
            let key = unsafe { Region::of_c(&e.memh) }?.local_key();
            for i in 0..e.count as usize {
                let at = e.buffer.cast::<u8>();
                let at = at.wrapping_add(i.wrapping_mul(e.stride));
                self.push(entry(at, e.length, key))?;
            }
        }
        Ok(())
    }

    pub fn slice(&mut self) -> &mut [ibv_sge] {
        let entries = &mut self.entries[..self.count];
        // SAFETY: so many were written.
        unsafe { core::slice::from_raw_parts_mut(entries.as_mut_ptr().cast(), entries.len()) }
    }
}

/// A request that is made anew each time, with its list. It does not move.
pub struct Request(Box<UnsafeCell<Parts>>);

/// What it consists of.
pub struct Parts {
    request: ibv_send_wr,
    list: [ibv_sge; MAX_SGES],
}

impl Request {
    pub fn new() -> Request {
        let request = Request(Box::new(UnsafeCell::new(Parts {
            request: request(IBV_WR_SEND, &mut [], 0, remote(0, 0)),
            list: [entry(core::ptr::null(), 0, 0); MAX_SGES],
        })));
        // SAFETY: nobody else has it.
        let parts = unsafe { request.parts() };
        parts.request.sg_list = parts.list.as_mut_ptr();
        request
    }

    /// A request for a datagram of one block of inline data, for `Parts::aim` and `Parts::inline_data`.
    pub fn inline_datagram(qkey: u32) -> Request {
        let made = Request::new();
        // SAFETY: nobody else has it.
        let parts = unsafe { made.parts() };
        parts.one(entry(core::ptr::null(), 0, 0));
        let to = ibv_send_wr_ud {
            ah: null_mut(),
            remote_qpn: 0,
            remote_qkey: qkey,
        };
        // The completion of a failure shall be one of a send.
        parts.datagram(to, IBV_SEND_INLINE).wr_id = 1;
        made
    }

    /// The request, to be made and posted.
    ///
    /// # Safety
    /// Nobody else may use it meanwhile.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "by the caller's promise")]
    pub unsafe fn parts(&self) -> &mut Parts {
        // SAFETY: by the caller's promise.
        unsafe { &mut *self.0.get() }
    }
}

/// The key of the memory that these blocks are in.
#[inline(always)]
fn key_of(blocks: &uct_iov_t) -> Result<u32> {
    if blocks.buffer.is_null() {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: null or a live handle of the domain's.
    Ok(unsafe { Region::of_c(&blocks.memh) }?.local_key())
}

/// The key of the memory of one block of 1 to `max` bytes. `None` for any other block, and for one that cannot be used.
#[inline(always)]
pub fn key_of_one(block: &uct_iov_t, max: usize) -> Option<u32> {
    if block.count != 1 || block.length.wrapping_sub(1) >= max {
        return None;
    }
    key_of(block).ok()
}

/// The entries of blocks that stand apart.
fn fill(list: &mut [ibv_sge], blocks: &uct_iov_t, key: u32) {
    for (i, place) in list.iter_mut().enumerate() {
        let at = blocks.buffer.cast::<u8>();
        *place = entry(
            at.wrapping_add(i.wrapping_mul(blocks.stride)),
            blocks.length,
            key,
        );
    }
}

impl Parts {
    /// Its list has this one entry.
    #[inline(always)]
    pub fn one(&mut self, entry: ibv_sge) {
        self.list[0] = entry;
        self.request.num_sge = 1;
    }

    /// Its list has the user's blocks, at most `max`, behind the first entry if there is one. Their bytes. `INVALID_PARAM` for
    /// more, without a memory handle, and without an address.
    #[inline(always)]
    pub fn blocks(&mut self, first: Option<ibv_sge>, iov: Iov<'_>, max: usize) -> Result<usize> {
        let mut count = 0;
        if let Some(first) = first {
            self.list[0] = first;
            count = 1;
        }
        if let [e] = iov.entries()
            && e.count == 1
            && e.length != 0
            && max != 0
        {
            self.list[count] = entry(e.buffer.cast(), e.length, key_of(e)?);
            self.request.num_sge = count as i32 + 1;
            return Ok(e.length);
        }
        self.many_blocks(count, iov, max)
    }

    /// As `blocks`, behind `count` entries.
    #[inline(never)]
    fn many_blocks(&mut self, mut count: usize, iov: Iov<'_>, max: usize) -> Result<usize> {
        let total = iov.total()?;
        let most = (count + max).min(MAX_SGES);
        for e in iov.entries() {
            if e.length == 0 || e.count == 0 {
                continue;
            }
            let blocks = e.count as usize;
            if blocks > most - count {
                return Err(Status::INVALID_PARAM);
            }
            fill(&mut self.list[count..count + blocks], e, key_of(e)?);
            count += blocks;
        }
        self.request.num_sge = count as i32;
        Ok(total)
    }

    /// Its list has this entry, then `rest`. `INVALID_PARAM` for more than there is room for.
    pub fn all(&mut self, first: ibv_sge, rest: &[ibv_sge]) -> Result<()> {
        let count = rest.len() + 1;
        let room = self.list.get_mut(1..count).ok_or(Status::INVALID_PARAM)?;
        room.copy_from_slice(rest);
        self.list[0] = first;
        self.request.num_sge = count as i32;
        Ok(())
    }

    /// The first entry is this one.
    pub fn set_first(&mut self, entry: ibv_sge) {
        self.list[0] = entry;
    }

    #[inline(always)]
    fn finish(&mut self, opcode: u32, flags: u32) -> &mut ibv_send_wr {
        self.request.opcode = opcode;
        self.request.send_flags = flags;
        &mut self.request
    }

    /// A message.
    #[inline(always)]
    pub fn send(&mut self, flags: u32) -> &mut ibv_send_wr {
        self.finish(IBV_WR_SEND, flags)
    }

    #[inline(always)]
    pub fn write(&mut self, remote_addr: u64, rkey: u32, flags: u32) -> &mut ibv_send_wr {
        self.request.wr.rdma = ibv_send_wr_rdma { remote_addr, rkey };
        self.finish(IBV_WR_RDMA_WRITE, flags)
    }

    #[inline(always)]
    pub fn read(&mut self, remote_addr: u64, rkey: u32, flags: u32) -> &mut ibv_send_wr {
        self.request.wr.rdma = ibv_send_wr_rdma { remote_addr, rkey };
        self.finish(IBV_WR_RDMA_READ, flags)
    }

    /// The datagram of `inline_datagram` goes to another receiver.
    pub fn aim(&mut self, handle: *mut ibv_ah, queue_pair: u32) {
        self.request.wr.ud.ah = handle;
        self.request.wr.ud.remote_qpn = queue_pair;
    }

    /// The datagram of `inline_datagram` with other data.
    #[inline(always)]
    pub fn inline_data(&mut self, at: *const u8, len: usize) -> &mut ibv_send_wr {
        self.list[0].addr = at as u64;
        self.list[0].length = len as u32;
        &mut self.request
    }

    /// A datagram to a queue pair.
    #[inline(always)]
    pub fn datagram(&mut self, to: ibv_send_wr_ud, flags: u32) -> &mut ibv_send_wr {
        self.request.wr.ud = to;
        self.finish(IBV_WR_SEND, flags)
    }

    /// A 64-bit addition, or with `swap` a swap of what equals `operand`. The word that was there comes to the list.
    #[inline(always)]
    pub fn atomic(
        &mut self,
        (operand, swap): (u64, Option<u64>),
        (remote_addr, rkey): (u64, u32),
        flags: u32,
    ) -> &mut ibv_send_wr {
        self.request.wr.atomic = ibv_send_wr_atomic {
            remote_addr,
            compare_add: operand,
            swap: swap.unwrap_or(0),
            rkey,
        };
        let opcode = match swap {
            Some(_) => IBV_WR_ATOMIC_CMP_AND_SWP,
            None => IBV_WR_ATOMIC_FETCH_AND_ADD,
        };
        self.finish(opcode, flags)
    }
}

/// Receive buffers that are posted at a time.
pub const RECEIVES: usize = 16;

/// A request to receive into one buffer, which it does not have yet.
const NO_RECEIVE: ibv_recv_wr = ibv_recv_wr {
    wr_id: 0,
    next: null_mut(),
    sg_list: null_mut(),
    num_sge: 1,
};

/// Requests to receive into buffers, each with one entry.
pub struct ReceiveBatch {
    entries: [ibv_sge; RECEIVES],
    requests: [ibv_recv_wr; RECEIVES],
    len: usize,
}

impl ReceiveBatch {
    pub fn new() -> ReceiveBatch {
        ReceiveBatch {
            entries: [entry(core::ptr::null(), 0, 0); RECEIVES],
            requests: [NO_RECEIVE; RECEIVES],
            len: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a request, if there is room.
    #[inline(always)]
    pub fn push(&mut self, wr_id: u64, buffer: ibv_sge) {
        let at = self.len;
        if at < RECEIVES {
            self.entries[at] = buffer;
            self.requests[at].wr_id = wr_id;
            self.len = at + 1;
        }
    }

    /// The requests as a chain, for as long as the batch is neither changed nor moved.
    pub fn chain(&mut self) -> *mut ibv_recv_wr {
        let requests = self.requests.as_mut_ptr();
        let all = self.requests.iter_mut().zip(&mut self.entries);
        for (i, (request, entry)) in all.enumerate().take(self.len) {
            request.sg_list = entry;
            request.next = requests.wrapping_add(i + 1);
        }
        if let Some(last) = self.len.checked_sub(1) {
            self.requests[last].next = null_mut();
        }
        self.requests.as_mut_ptr()
    }

    /// The numbers of the requests.
    pub fn wr_ids(&self) -> impl Iterator<Item = u64> {
        self.requests[..self.len]
            .iter()
            .map(|request| request.wr_id)
    }
}

type Front = [MaybeUninit<u8>; HEADER_LEN];

/// A request to receive into a buffer, which is posted again and again. It does not move.
#[repr(C)]
pub struct Receive {
    request: Cell<ibv_recv_wr>,
    entry: Cell<ibv_sge>,
    desc: Cell<Option<OwnedDesc>>,
    payload: Cell<*mut u8>,
    /// The bytes right before the payload, which the header of a message overwrites: the last ones of what
    /// `uct_iface_release_desc` reads, or of nothing.
    front: Cell<Front>,
    /// That word, and where it stands.
    word: Cell<(*mut ReleaseWord, ReleaseWord)>,
}

impl Receive {
    /// Without a buffer.
    pub fn new() -> Receive {
        Receive {
            request: Cell::new(NO_RECEIVE),
            entry: Cell::new(entry(core::ptr::null(), 0, 0)),
            desc: Cell::new(None),
            payload: Cell::new(null_mut()),
            front: Cell::new([MaybeUninit::uninit(); HEADER_LEN]),
            word: Cell::new((null_mut(), NonNull::dangling())),
        }
    }

    /// Gives it a buffer: `len` bytes that begin with a message's header, right before the payload of `desc`. Its completion
    /// has its address.
    pub fn set(&self, desc: OwnedDesc, len: usize) {
        self.set_after(desc, HEADER_LEN, len);
    }

    /// As `set`, of bytes that begin `before` bytes before the payload: at least those of a message's header.
    pub fn set_after(&self, desc: OwnedDesc, before: usize, len: usize) {
        let payload = desc.payload();
        let at = payload.wrapping_sub(before);
        self.entry.set(entry(at, len, desc.key()));
        self.payload.set(payload);
        let front = payload.wrapping_sub(HEADER_LEN);
        // SAFETY: in the buffer, behind its own header.
        self.front.set(unsafe { front.cast::<Front>().read() });
        self.word.set(desc.release_word());
        self.desc.set(Some(desc));
        self.request.set(ibv_recv_wr {
            wr_id: core::ptr::from_ref(self).expose_provenance() as u64,
            sg_list: self.entry.as_ptr(),
            ..NO_RECEIVE
        });
    }

    /// Gives its completion another number than its address.
    pub fn set_id(&self, wr_id: u64) {
        self.request.set(ibv_recv_wr {
            wr_id,
            ..self.request.get()
        });
    }

    /// The request that has this address.
    ///
    /// # Safety
    /// It must be the `wr_id` of one that lives as long as the answer is used.
    #[inline(always)]
    pub unsafe fn of<'a>(wr_id: u64) -> &'a Receive {
        // SAFETY: by the caller's promise.
        unsafe { &*core::ptr::with_exposed_provenance(wr_id as usize) }
    }

    /// Where the payload is.
    #[inline(always)]
    pub fn payload(&self) -> *mut u8 {
        self.payload.get()
    }

    /// Writes again what the header of a message has overwritten, before `payload`.
    ///
    /// # Safety
    /// It must have a buffer, with its payload there.
    #[inline(always)]
    pub unsafe fn restore(&self, payload: *mut u8) {
        let at: *mut Front = payload.wrapping_sub(HEADER_LEN).cast();
        // SAFETY: in the buffer.
        unsafe { at.write(self.front.get()) };
    }

    /// Writes the word again that `uct_iface_release_desc` reads, which bytes before the payload may have overwritten.
    ///
    /// # Safety
    /// It must have a buffer.
    #[inline(always)]
    pub unsafe fn restore_word(&self) {
        let (at, word) = self.word.get();
        // SAFETY: in the buffer; unaligned when the headroom is odd.
        unsafe { at.write_unaligned(word) };
    }

    /// Takes the buffer away.
    pub fn take(&self) -> Option<OwnedDesc> {
        self.desc.take()
    }

    /// The chain of it and `rest`.
    #[inline(always)]
    pub fn before(&self, rest: *mut ibv_recv_wr) -> *mut ibv_recv_wr {
        let request = self.request.as_ptr();
        // SAFETY: a place of ours, of which there is no reference.
        unsafe { (*request).next = rest };
        request
    }

    /// Ends a chain with it: what came behind it.
    pub fn cut(&self) -> *mut ibv_recv_wr {
        let rest = self.request.get().next;
        self.before(null_mut());
        rest
    }

    /// The requests of a chain.
    ///
    /// # Safety
    /// The chain must be null or made by `before` of requests that live as long as the answer is used, and not change.
    pub unsafe fn all<'a>(mut chain: *mut ibv_recv_wr) -> impl Iterator<Item = &'a Receive> {
        core::iter::from_fn(move || {
            // SAFETY: by the caller's promise; each begins with its request.
            let first = unsafe { chain.cast::<Receive>().as_ref() }?;
            chain = first.request.get().next;
            Some(first)
        })
    }
}
