//! Writes from a list of buffers to a list of remote places, each with a key of its own: one request
//! for all. Everything is checked before anything is written.
#![forbid(unsafe_code)]

use super::post;
use crate::ucp::composite::CompositeRequest;
use crate::ucp::ep::Ep;
use crate::ucp::mem::Region;
use crate::ucp::proto::zcopy::Direction;
use crate::ucp::request::{Info, Param, Posted, bytes, immediate, must_be_immediate};
use crate::ucp::rkey::{Access, RemoteKey};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::wire::rkey::WRITE;
use core::ffi::c_void;

/// An element of the application's lists: blocks of one length, which are contiguous at the peer.
pub struct Element<'a> {
    pub buffer: *mut c_void,
    pub length: usize,
    pub blocks: usize,
    pub stride: usize,
    /// The local memory, if the application names it.
    pub region: Option<&'a Region>,
    pub address: u64,
    /// Bytes at the peer.
    pub remote_length: usize,
    pub key: Option<&'a RemoteKey>,
}

/// An element that was checked.
struct Put<'a> {
    buffer: *mut u8,
    address: u64,
    key: &'a RemoteKey,
    of: &'a Element<'a>,
}

impl Element<'_> {
    /// Checks it, the list's element `i`.
    fn check(&self, i: usize) -> Result<Put<'_>> {
        let total = (self.length.checked_mul(self.blocks)).ok_or(Status::INVALID_PARAM)?;
        let wanted = self.remote_length;
        if total != wanted {
            ucs_error!("element {i} of a list has {total} bytes here and {wanted} at the peer");
            return Err(Status::INVALID_PARAM);
        }
        if self.buffer.is_null() && total > 0 {
            ucs_error!("element {i} of a list has {total} bytes at NULL");
            return Err(Status::INVALID_PARAM);
        }
        let buffer = match self.region {
            Some(region) => {
                region.locate(self.buffer, self.span().ok_or(Status::INVALID_PARAM)?)?
            }
            None => self.buffer,
        };
        let Some(key) = self.key else {
            ucs_error!("element {i} of a list has no remote key");
            return Err(Status::INVALID_PARAM);
        };
        key.check(self.address, total, WRITE)?;
        Ok(Put {
            buffer: buffer.cast(),
            address: self.address,
            key,
            of: self,
        })
    }

    /// Bytes from the start of the first block to the end of the last.
    fn span(&self) -> Option<usize> {
        match self.blocks.checked_sub(1) {
            None => Some(0),
            Some(more) => self.stride.checked_mul(more)?.checked_add(self.length),
        }
    }
}

/// Writes every element.
pub fn put(ep: &Ep, param: &Param, elements: &[Element<'_>]) -> Result<Posted> {
    ep.usable()?;
    if elements.is_empty() {
        return immediate(ep.worker(), param, Info::default());
    }
    let checked = elements.iter().enumerate().map(|(i, e)| e.check(i));
    let puts = checked.collect::<Result<Vec<_>>>()?;
    let mapped = |put: &Put<'_>| matches!(put.key.access, Access::Direct(_));
    if ep.fenced.get() || !puts.iter().all(mapped) {
        must_be_immediate(param)?;
    }
    let all = CompositeRequest::begin(ep.worker(), param)?;
    for put in puts {
        let (stride, length) = (put.of.stride, put.of.length);
        for block in 0..put.of.blocks {
            let data = bytes(ep.worker(), put.buffer.wrapping_add(block * stride), length);
            let address = put.address + (block * length) as u64;
            if ep.worker().examines_operations()
                && let Ok(data) = &data
            {
                post::count_protocol(ep, Direction::Put, put.key, data);
            }
            all.post_part(|param| post::put(ep, param, data?, address, put.key));
        }
    }
    all.finish_posting(param)
}
