//! Attributes of transports that reach remote memory by loads and stores: puts and gets of any
//! length, atomics of both widths, no alignment to keep to. `self`, posix and sysv add what is theirs.
#![forbid(unsafe_code)]

use crate::c::*;

/// Fills in what such a transport can do with memory, and the flags for it.
pub fn describe(attr: &mut uct_iface_attr) {
    let cap = &mut attr.cap;
    cap.flags |= UCT_IFACE_FLAG_PUT_SHORT
        | UCT_IFACE_FLAG_PUT_BCOPY
        | UCT_IFACE_FLAG_GET_BCOPY
        | UCT_IFACE_FLAG_ATOMIC_CPU;
    cap.put.max_short = u32::MAX as usize;
    cap.put.max_bcopy = usize::MAX;
    cap.put.opt_zcopy_align = 1;
    cap.put.align_mtu = 1;
    cap.get.max_bcopy = usize::MAX;
    cap.get.opt_zcopy_align = 1;
    cap.get.align_mtu = 1;
    cap.am.opt_zcopy_align = 1;
    cap.am.align_mtu = 1;
    let posted = 1 << UCT_ATOMIC_OP_ADD
        | 1 << UCT_ATOMIC_OP_AND
        | 1 << UCT_ATOMIC_OP_OR
        | 1 << UCT_ATOMIC_OP_XOR;
    cap.atomic32.op_flags = posted;
    cap.atomic32.fop_flags = posted | 1 << UCT_ATOMIC_OP_SWAP | 1 << UCT_ATOMIC_OP_CSWAP;
    cap.atomic64 = cap.atomic32;
}
