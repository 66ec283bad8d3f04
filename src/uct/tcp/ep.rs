//! The `tcp` endpoint: one user of the connection to its peer's interface. It checks the arguments and leaves the rest
//! to the connection.

use super::backpressure::Reading;
use super::conn::Conn;
use super::iface::{Face, TcpIface};
use super::link;
use super::ops::max_header;
use super::post::{GATHERED_COPY, Put, PutPayload, UpstreamHeader};
use super::txq::Owner;
use super::upstream;
use super::wire::{DeviceAddr, Frame, IFACE_ADDR_LEN, IfaceAddr};
use crate::c::*;
use crate::sys::socket::{IoVec, block, with_scope};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::{Completion, Pack, Posted, Remote, WaitingRequest};
use crate::uct::base::copy::{Payload, copy};
use crate::uct::base::iface::EpBox;
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress};
use crate::uct::base::pending::PendingGroup;
use core::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

pub struct TcpEp {
    conn: OnceCell<Rc<Conn>>,
    /// Instead of `conn`: the connection of a lane to an endpoint of upstream's, in whose place another may come.
    lane: RefCell<Option<Rc<Conn>>>,
    pending: Rc<PendingGroup>,
    /// Its index in the connection's list; `NOWHERE` once a failure was reported to it.
    pub place: Cell<usize>,
}

pub const NOWHERE: usize = usize::MAX;

/// A device address of a user, as long as its first byte says.
pub fn read_device(given: Option<GivenAddress<'_>>) -> Result<DeviceAddr> {
    let [first] = given
        .and_then(|given| given.bytes())
        .ok_or(Status::INVALID_PARAM)?;
    let len = DeviceAddr::len_from(first);
    let bytes = given.zip(len).and_then(|(given, len)| given.first(len));
    bytes
        .and_then(DeviceAddr::decode)
        .ok_or(Status::INVALID_ADDR)
}

/// An interface or endpoint address of a user.
pub fn read_iface(given: Option<GivenAddress<'_>>) -> Result<IfaceAddr> {
    let bytes = given
        .and_then(|given| given.bytes::<IFACE_ADDR_LEN>())
        .ok_or(Status::INVALID_PARAM)?;
    IfaceAddr::decode(&bytes).ok_or(Status::INVALID_ADDR)
}

fn owner(ep: &EpBox<TcpIface>) -> Owner {
    core::ptr::from_ref(ep).cast()
}

impl TcpEp {
    pub fn create(face: &Face, params: &EpParams) -> Result<TcpEp> {
        let ep = TcpEp {
            conn: OnceCell::new(),
            lane: RefCell::default(),
            pending: PendingGroup::new(),
            place: Cell::new(NOWHERE),
        };
        if params.iface.is_none() && params.device.is_none() {
            return Ok(ep);
        }
        let (device, iface) = (read_device(params.device)?, read_iface(params.iface)?);
        // The cell is empty: this sets it.
        let _ = ep.conn.set(conn_to(face, &device, &iface)?);
        Ok(ep)
    }

    pub fn created(ep: &EpBox<TcpIface>) {
        if let Some(conn) = ep.conn.get() {
            ep.place.set(conn.attach(ep));
        }
    }

    pub fn connect(
        ep: &EpBox<TcpIface>,
        device: Option<GivenAddress<'_>>,
        addr: GivenAddress<'_>,
    ) -> Result<()> {
        if ep.conn.get().is_some() {
            ucs_error!("tcp: the endpoint is connected already");
            return Err(Status::ALREADY_EXISTS);
        }
        let (device, iface) = (read_device(device)?, read_iface(Some(addr))?);
        let conn = conn_to(ep.face(), &device, &iface)?;
        // The cell is empty: this sets it.
        let _ = ep.conn.set(conn);
        TcpEp::created(ep);
        Ok(())
    }

    /// The connection of a new endpoint.
    pub fn join(ep: &EpBox<TcpIface>, conn: Rc<Conn>) {
        // The cell is empty: this sets it.
        let _ = ep.conn.set(conn);
        TcpEp::created(ep);
    }

    /// A new endpoint of a lane.
    pub fn on_lane(face: &Face, conn: &Rc<Conn>) -> Result<uct_ep_h> {
        let join = |ep: &EpBox<TcpIface>| {
            ep.lane.replace(Some(Rc::clone(conn)));
            ep.place.set(conn.attach(ep));
        };
        EpBox::create_unconnected(face, join).map(|(ep, ())| ep)
    }

    /// The endpoint is destroyed: incomplete operations are cancelled.
    pub fn closing(ep: &EpBox<TcpIface>) {
        ep.pending.close();
        let lane = ep.lane.take();
        let Some(conn) = ep.conn.get().or(lane.as_ref()) else {
            return;
        };
        let place = ep.place.replace(NOWHERE);
        if place != NOWHERE
            && let Some(moved) = conn.detach(place)
        {
            moved.place.set(place);
        }
        TcpEp::cancel(ep, conn);
        upstream::rx::yield_to_responder(ep.face(), conn);
        if let Some(lane) = lane {
            upstream::lane::end(ep.face(), &lane);
        }
    }

    /// Cancels operations in flight; the connection copies what it has still to send of them.
    fn cancel(ep: &EpBox<TcpIface>, conn: &Conn) {
        let (face, owner) = (ep.face(), owner(ep));
        conn.cancel(owner, |comp| {
            face.add_done(owner, comp, Err(Status::CANCELED))
        });
        face.complete_done_of(owner);
    }

    /// The connection, if it can be used.
    #[inline]
    fn conn(&self) -> Result<&Rc<Conn>> {
        self.conn.get().ok_or(Status::NOT_CONNECTED)
    }

    /// Runs `f` with the connection, whichever it has.
    fn with_any<R>(&self, f: impl FnOnce(&Rc<Conn>) -> Result<R>) -> Result<R> {
        if let Some(conn) = self.conn.get() {
            return f(conn);
        }
        let lane = self.lane.borrow().clone();
        f(&lane.ok_or(Status::NOT_CONNECTED)?)
    }

    /// The number of queued replies to the peer has changed. Returns whether nothing more is read of the peer.
    pub fn replies_queued(&self, face: &TcpIface, change: isize) -> bool {
        let is_off = self.with_any(|conn| {
            conn.replies_queued(face, change);
            Ok(conn.is_open() && conn.rx.replies.reading(&face.replies) == Reading::Off)
        });
        // An endpoint without connection has no replies.
        is_off.unwrap_or(false)
    }

    pub fn status(&self) -> Result<()> {
        self.with_any(|conn| conn.check())
    }

    #[inline(always)]
    pub fn am_short(&self, face: &Face, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        const HEADER: usize = size_of::<u64>();
        let len = payload.len();
        if len > face.settings.max_copy - HEADER {
            return Err(Status::INVALID_PARAM);
        }
        self.conn()?.post_am(face, id, HEADER + len, |at| {
            // SAFETY: there is room for header and payload, any alignment.
            unsafe { at.cast::<u64>().write_unaligned(header) };
            // SAFETY: room and source as above.
            unsafe { copy(payload.as_ptr(), at.add(HEADER), len) };
            HEADER + len
        })?;
        Ok(())
    }

    pub fn am_short_iov(&self, face: &Face, id: u8, iov: Iov<'_>) -> Result<()> {
        let total = iov.total()?;
        if iov.entries().len() > face.settings.max_iov || total > face.settings.max_copy {
            return Err(Status::INVALID_PARAM);
        }
        // SAFETY: there is room for the total.
        let fill = |at| unsafe { iov.gather(at) };
        self.conn()?.post_am(face, id, total, fill)?;
        Ok(())
    }

    #[inline(always)]
    pub fn am_bcopy(&self, face: &Face, id: u8, pack: Pack) -> Result<usize> {
        // SAFETY: there is room for `max_bcopy` bytes.
        let fill = |at| unsafe { pack.pack_into(at) };
        self.conn()?.post_am(face, id, face.settings.max_copy, fill)
    }

    /// As `am_bcopy`, to an interface of upstream's.
    pub fn upstream_send(&self, face: &Face, id: u8, pack: Pack) -> Result<usize> {
        // SAFETY: there is room for `max_bcopy` bytes.
        let fill = |at| unsafe { pack.pack_into(at) };
        self.with_any(|conn| {
            if let Some(upstream) = &conn.upstream {
                conn.tx
                    .lock()
                    .push(|out| upstream::rx::take_over(upstream, out));
            }
            conn.post_framed::<UpstreamHeader>(face, id, face.settings.max_copy, fill)
        })
    }

    pub fn am_zcopy(
        ep: &EpBox<TcpIface>,
        id: u8,
        header: &[u8],
        iov: Iov<'_>,
        comp: Completion,
    ) -> Result<Posted> {
        let (face, s) = (ep.face(), &ep.face().settings);
        let payload = iov.total()?;
        let total = payload.checked_add(header.len());
        if header.len() > max_header(face)
            || iov.entries().len() > s.max_iov
            || total.is_none_or(|n| n > s.max_zcopy)
        {
            return Err(Status::INVALID_PARAM);
        }
        let conn = ep.conn()?;
        if payload < s.gather_below || (payload <= GATHERED_COPY && conn.is_busy()) {
            conn.post_am(face, id, header.len() + payload, |at| {
                // SAFETY: there is room for header and payload.
                unsafe { core::ptr::copy_nonoverlapping(header.as_ptr(), at, header.len()) };
                // SAFETY: as above.
                header.len() + unsafe { iov.gather(at.add(header.len())) }
            })?;
            return Ok(Posted::Done);
        }
        conn.post_am_in_place(face, id, header, blocks(iov), owner(ep), comp)
    }

    /// A put, and id and body of the active message that follows it.
    pub fn put_zcopy(
        ep: &EpBox<TcpIface>,
        iov: Iov<'_>,
        remote: Remote,
        notify: Option<(u8, &[u8])>,
        comp: Completion,
    ) -> Result<Posted> {
        let (face, s) = (ep.face(), &ep.face().settings);
        let total = iov.total()?;
        if !s.put {
            return Err(Status::UNSUPPORTED);
        }
        if iov.entries().len() > s.max_iov {
            return Err(Status::INVALID_PARAM);
        }
        let conn = ep.conn()?;
        if total == 0 && notify.is_none() {
            return ep.status().map(|()| Posted::Done);
        }
        let put = Put {
            key: remote.key() as u64,
            address: remote.address(),
            len: total as u64,
            notify,
        };
        if total < s.gather_below || (total <= GATHERED_COPY && conn.is_busy()) {
            let mut copy = |out: &mut Vec<u8>| {
                out.reserve(total);
                let at = out.len();
                // SAFETY: `total` bytes behind `at` are reserved.
                let n = unsafe { iov.gather(out.as_mut_ptr().add(at)) };
                // SAFETY: just written.
                unsafe { out.set_len(at + n) };
            };
            return conn.post_put(face, put, PutPayload::Copied(&mut copy), owner(ep), comp);
        }
        let payload = PutPayload::InPlace(blocks(iov));
        conn.post_put(face, put, payload, owner(ep), comp)
    }

    pub fn pending_add(&self, face: &Face, req: WaitingRequest) -> Result<()> {
        self.with_any(|conn| {
            conn.check()?;
            if conn.has_room() && self.pending.is_empty() {
                return Err(Status::BUSY);
            }
            conn.pending.add(&self.pending, req);
            conn.offer_room(face);
            Ok(())
        })
    }

    pub fn pending_purge(&self, each: &mut dyn FnMut(WaitingRequest)) {
        self.pending.purge(each);
    }

    pub fn flush(ep: &EpBox<TcpIface>, flags: u32, comp: Completion) -> Result<Posted> {
        let face = ep.face();
        ep.with_any(|conn| {
            if flags & UCT_FLUSH_FLAG_CANCEL != 0 {
                TcpEp::cancel(ep, conn);
                return Ok(Posted::Done);
            }
            let remote = flags & UCT_FLUSH_FLAG_REMOTE != 0;
            conn.post_flush(face, remote, owner(ep), comp)
        })
    }

    /// Makes the kernel check the peer: sent bytes must be acknowledged.
    pub fn check(&self, face: &Face) -> Result<Posted> {
        self.with_any(|conn| {
            conn.check()?;
            // Once a round for all endpoints that share the connection.
            let asked = conn.socket.pinged_at.replace(face.tick()) == face.tick();
            if !asked && conn.is_open() && !conn.is_blocked() {
                conn.post_control(face, &Frame::Ping);
                upstream::rx::yield_to_responder(face, conn);
            }
            link::check_silence(face, conn);
            Ok(Posted::Done)
        })
    }
}

/// The endpoints of a lane go on by another connection.
pub fn move_endpoints(old: &Conn, new: &Rc<Conn>) {
    while let Some(ep) = old.pop_ep() {
        ep.lane.replace(Some(Rc::clone(new)));
        ep.place.set(new.attach(&ep));
        let mut waiting = Vec::new();
        ep.pending.purge(&mut |req| waiting.push(req));
        for req in waiting {
            new.pending.add(&ep.pending, req);
        }
    }
}

/// The user's buffers as the kernel takes them.
fn blocks(iov: Iov<'_>) -> Vec<IoVec> {
    iov.blocks().map(|(p, n)| block(p, n)).collect()
}

/// The connection to the interface at these addresses, started if there is none.
fn conn_to(face: &Face, device: &DeviceAddr, iface: &IfaceAddr) -> Result<Rc<Conn>> {
    if !face.reaches(device) {
        ucs_error!(
            "tcp: {} cannot be reached from {} ({}): another address family, host or namespace",
            device.ip,
            face.address.name,
            face.address.ip
        );
        return Err(Status::UNREACHABLE);
    }
    let remote = with_scope(device.ip, iface.port, face.address.scope);
    link::connect(face, iface.id, remote)
}
