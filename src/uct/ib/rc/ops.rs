//! Work requests as libibverbs has them.

use crate::c::verbs::*;
use core::ptr::null_mut;

/// A request with these entries; `to` is what its kind needs.
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
