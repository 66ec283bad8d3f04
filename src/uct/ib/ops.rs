//! Work requests as libibverbs has them.

use crate::c::verbs::*;
use crate::sys::verbs::Region;
use crate::ucs::{Result, Status};
use crate::uct::base::iov::Iov;
use crate::uct::base::md::MemoryHandle;
use core::mem::MaybeUninit;
use core::ptr::null_mut;

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

#[inline]
pub fn read(list: &mut [ibv_sge], address: u64, rkey: u32) -> ibv_send_wr {
    request(IBV_WR_RDMA_READ, list, 0, remote(address, rkey))
}

/// A 64-bit addition, or with `swap` a swap of what equals `operand`. The word that was there comes to `list`.
pub fn atomic(
    list: &mut [ibv_sge],
    operand: u64,
    swap: Option<u64>,
    address: u64,
    rkey: u32,
) -> ibv_send_wr {
    let opcode = match swap {
        Some(_) => IBV_WR_ATOMIC_CMP_AND_SWP,
        None => IBV_WR_ATOMIC_FETCH_AND_ADD,
    };
    let to = ibv_send_wr_to {
        atomic: ibv_send_wr_atomic {
            remote_addr: address,
            compare_add: operand,
            swap: swap.unwrap_or(0),
            rkey,
        },
    };
    request(opcode, list, 0, to)
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

/// Room for a completion.
pub const NO_COMPLETION: ibv_wc = ibv_wc {
    wr_id: 0,
    status: 0,
    opcode: 0,
    vendor_err: 0,
    byte_len: 0,
    imm_data: 0,
    qp_num: 0,
    src_qp: 0,
    wc_flags: 0,
    pkey_index: 0,
    slid: 0,
    sl: 0,
    dlid_path_bits: 0,
};

/// Receive buffers that are posted at a time.
pub const RECEIVES: usize = 16;

/// Requests to receive into buffers, each with one entry.
pub struct ReceiveBatch {
    entries: [ibv_sge; RECEIVES],
    requests: [ibv_recv_wr; RECEIVES],
    len: usize,
}

impl ReceiveBatch {
    pub fn new() -> ReceiveBatch {
        const EMPTY: ibv_recv_wr = ibv_recv_wr {
            wr_id: 0,
            next: null_mut(),
            sg_list: null_mut(),
            num_sge: 1,
        };
        ReceiveBatch {
            entries: [entry(core::ptr::null(), 0, 0); RECEIVES],
            requests: [EMPTY; RECEIVES],
            len: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a request, if there is room.
    #[inline]
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

/// A request to receive into a buffer, which is posted again and again.
struct ReceiveRequest {
    entry: ibv_sge,
    request: ibv_recv_wr,
}

/// Requests to receive by the numbers of their buffers. They do not move.
pub struct ReceiveRequests(Vec<ReceiveRequest>);

impl ReceiveRequests {
    /// Requests for up to `limit` buffers.
    pub fn new(limit: usize) -> ReceiveRequests {
        ReceiveRequests(Vec::with_capacity(limit))
    }

    /// The buffer of this number, which is one that has a request or the next.
    pub fn set(&mut self, number: u32, wr_id: u64, buffer: ibv_sge) {
        let one = ReceiveRequest {
            entry: buffer,
            request: ibv_recv_wr {
                wr_id,
                next: null_mut(),
                sg_list: null_mut(),
                num_sge: 1,
            },
        };
        let (number, len) = (number as usize, self.0.len());
        if number == len && len < self.0.capacity() {
            self.0.push(one);
        } else if let Some(place) = self.0.get_mut(number) {
            *place = one;
        }
        if let Some(place) = self.0.get_mut(number) {
            place.request.sg_list = &mut place.entry;
        }
    }

    /// The requests of these buffers as a chain, until any is set.
    #[inline]
    pub fn chain(&mut self, numbers: impl DoubleEndedIterator<Item = u32>) -> *mut ibv_recv_wr {
        let mut first = null_mut();
        for number in numbers.rev() {
            if let Some(one) = self.0.get_mut(number as usize) {
                one.request.next = first;
                first = &mut one.request;
            }
        }
        first
    }
}
