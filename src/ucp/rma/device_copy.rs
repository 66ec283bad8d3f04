//! Accesses of a peer's device memory: a transport has a device copy between it and whatever memory is at this end, and no
//! processor takes part. What is in several blocks goes by messages, and a few bytes that are put from memory of the host.
//!
//! The copies take no help of the peer, so fences wait for them, as for those by the kernel.
#![forbid(unsafe_code)]

use crate::c::uct_rkey_t;
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::op::{GetOp, Op, PutOp};
use crate::ucp::proto::device_access;
use crate::ucp::proto::zcopy::{self, Direction, Transfer};
use crate::ucp::reg::LocalMemory;
use crate::ucp::request::{Param, Posted, Request, must_be_immediate, reached, settle};
use crate::ucp::rkey::RemoteKey;
use crate::ucs::Result;

/// Posts an access. `None` where it has to go by messages.
pub fn access(
    ep: &Ep,
    param: &Param,
    data: &Data,
    (address, key, rkey): (u64, &RemoteKey, uct_rkey_t),
    direction: Direction,
) -> Option<Result<Posted>> {
    let (local, kind) = data.block()?;
    let lane = device_access::lane(ep, data, key.info.mem_type.into(), direction)?;
    if must_be_immediate(param).is_err() {
        return None;
    }
    let worker = ep.worker();
    let transfer = Transfer {
        guard: None,
        local,
        memory: LocalMemory::Device,
        len: data.len(),
        remote: address,
        rkey,
    };
    // The caller keeps its description of the buffer for the messages.
    let data = reached(worker.context(), Data::contig(local, transfer.len), kind);
    let op = match direction {
        Direction::Put => Op::Put(PutOp::new(ep, data, key, address)),
        Direction::Get => Op::Get(GetOp::new(ep, data, key, address)),
    };
    let req = match Request::create(worker, param, op) {
        Ok(req) => req,
        Err(e) => return Some(Err(e)),
    };
    ep.add_outstanding(req);
    let begun = match direction {
        Direction::Put => zcopy::put(req, lane, transfer),
        Direction::Get => zcopy::get(req, lane, transfer),
    };
    match begun {
        Ok(()) => Some(settle(req, param)),
        Err(_) => {
            ep.remove_outstanding(req);
            req.abolish();
            None
        }
    }
}
