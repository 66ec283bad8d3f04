//! The `self` endpoint: checks, then hands the message to its own interface.

use super::iface::{MAX_SHORT_IOV, SelfIface, read_address};
use crate::ucs::{Result, Status};
use crate::uct::api::Pack;
use crate::uct::base::copy::{Payload, copy};
use crate::uct::base::iface::IfaceBox;
use crate::uct::base::iov::Iov;
use crate::uct::base::params::EpParams;

pub struct SelfEp;

type Face = IfaceBox<SelfIface>;

impl SelfEp {
    /// `UNREACHABLE` when the address is another interface's.
    pub fn create(face: &Face, params: &EpParams) -> Result<SelfEp> {
        let address = params.iface.and_then(read_address);
        if address.ok_or(Status::INVALID_PARAM)? != face.address {
            crate::ucs_diag!(
                "self: the address belongs to another interface; only its own is reachable"
            );
            return Err(Status::UNREACHABLE);
        }
        Ok(SelfEp)
    }

    #[inline(always)]
    pub fn am_short(&self, face: &Face, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        // No segment is shorter than a header.
        if payload.len() > face.seg_size - size_of::<u64>() {
            return Err(Status::INVALID_PARAM);
        }
        SelfIface::deliver(face, id, |at| {
            // SAFETY: the descriptor has room for the header, any alignment.
            unsafe { at.cast::<u64>().write_unaligned(header) };
            // SAFETY: room and source were checked above.
            unsafe { copy(payload.as_ptr(), at.add(size_of::<u64>()), payload.len()) };
            payload.len() + size_of::<u64>()
        });
        Ok(())
    }

    pub fn am_short_iov(&self, face: &Face, id: u8, iov: Iov<'_>) -> Result<()> {
        if iov.entries().len() > MAX_SHORT_IOV || iov.total()? > face.seg_size {
            return Err(Status::INVALID_PARAM);
        }
        // SAFETY: the total fits.
        SelfIface::deliver(face, id, |at| unsafe { iov.gather(at) });
        Ok(())
    }

    #[inline(always)]
    pub fn am_bcopy(&self, face: &Face, id: u8, pack: Pack) -> Result<usize> {
        // SAFETY: a descriptor holds `max_bcopy` bytes.
        Ok(SelfIface::deliver(face, id, |at| unsafe {
            pack.pack_into(at)
        }))
    }
}
