//! Receive buffers of one connection, on a device without shared receive queues.
//!
//! Each connection has the same number of buffers, and its peer a window so small that they do not run out. A buffer
//! whose message was handled is posted again at once.
#![forbid(unsafe_code)]

use super::conn::Conn;
use super::iface::{Face, GENERATION_SHIFT, GENERATIONS, RcIface, SLOT_BITS, SLOT_SHIFT};
use super::rx;
use crate::c::verbs::{IBV_WC_SUCCESS, ibv_wc};
use crate::sys::verbs::QueuePair;
use crate::ucs::sync::Ordering;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::base::desc::OwnedDesc;
use crate::uct::ib::ops::Receive;
use core::cell::{Cell, RefCell};
use std::rc::Rc;

/// Buffers of a connection, and the window that they allow: twice so many messages may be on their way, and some that say
/// something of credits.
pub const BUFFERS: u32 = 128;
pub const WINDOW: u32 = (BUFFERS - 16) / 2;

// The id of a receive: bit 1 and the highest, the slot of its connection with the generation where requests that are sent
// have them, above one bit more, and above these its number.
const OWN: u64 = 2 | 1 << 63;
const SHIFT: u32 = 1;
const NUMBER_SHIFT: u32 = 48;
const _: () = assert!(SLOT_SHIFT == 1 && GENERATION_SHIFT == SLOT_SHIFT + SLOT_BITS);
const _: () =
    assert!(GENERATIONS.ilog2() + GENERATION_SHIFT + SHIFT <= NUMBER_SHIFT && BUFFERS <= 1 << 15);

/// The buffers of a connection.
pub struct OwnReceives {
    all: Box<[Receive]>,
    /// Those without a buffer.
    empty: RefCell<Vec<u16>>,
    /// What the ids of the connection's sends have in common: its slot and the generation.
    tag: Cell<u64>,
}

/// Whether a completion is of such a receive.
#[inline]
pub fn is_own(id: u64) -> bool {
    id & OWN == OWN
}

/// What the id of a send says of the connection which this receive is of.
fn tag_of(id: u64) -> u64 {
    1 | (id & !OWN & ((1 << NUMBER_SHIFT) - 1)) >> SHIFT
}

impl OwnReceives {
    pub fn new() -> OwnReceives {
        OwnReceives {
            all: (0..BUFFERS).map(|_| Receive::new()).collect(),
            empty: RefCell::new((0..BUFFERS as u16).collect()),
            tag: Cell::new(0),
        }
    }

    fn id(&self, number: u16) -> u64 {
        OWN | (self.tag.get() & !1) << SHIFT | u64::from(number) << NUMBER_SHIFT
    }

    fn posted(&self) -> usize {
        self.all.len() - self.empty.borrow().len()
    }

    /// Posts what has no buffer. `false`: not all got one.
    pub fn fill(
        &self,
        pair: &QueuePair,
        segment: usize,
        buffer: impl Fn() -> Result<OwnedDesc>,
    ) -> bool {
        loop {
            let Some(number) = self.empty.borrow().last().copied() else {
                return true;
            };
            let receive = &self.all[usize::from(number)];
            match buffer() {
                Ok(desc) => receive.set(desc, segment),
                Err(e) => {
                    ucs_diag!("rc_verbs: no more receive buffers: {e}");
                    return false;
                }
            }
            receive.set_id(self.id(number));
            self.empty.borrow_mut().pop();
            if !self.post(pair, number) {
                return false;
            }
        }
    }

    /// Posts a receive that has a buffer; `false`: the device refuses it.
    fn post(&self, pair: &QueuePair, number: u16) -> bool {
        let receive = &self.all[usize::from(number)];
        if !rx::post_one(pair, receive) {
            drop(receive.take());
            self.empty.borrow_mut().push(number);
            return false;
        }
        true
    }

    fn find(&self, id: u64) -> Option<(u16, &Receive)> {
        let number = (id & !OWN) >> NUMBER_SHIFT;
        let receive = self.all.get(number as usize)?;
        Some((number as u16, receive))
    }
}

impl RcIface {
    /// Posts the buffers of a new connection.
    pub(super) fn start_own(&self, conn: &Rc<Conn>, own: Rc<OwnReceives>) -> Result<()> {
        own.tag.set(conn.tag());
        if !self.fill(conn, &own) && own.posted() == 0 {
            return Err(Status::NO_MEMORY);
        }
        self.own.borrow_mut().insert(conn.pair.number(), own);
        Ok(())
    }

    fn own_of(&self, conn: &Conn) -> Option<Rc<OwnReceives>> {
        self.own.borrow().get(&conn.pair.number()).map(Rc::clone)
    }

    /// `false`: some have no buffer.
    fn fill(&self, conn: &Conn, own: &OwnReceives) -> bool {
        own.fill(&conn.pair, self.settings.segment, || self.rx.buffer())
    }

    /// Tries again for connections that lack buffers.
    #[cold]
    pub(super) fn fill_starved(face: &Face) {
        let starved = core::mem::take(&mut *face.starved.borrow_mut());
        for conn in starved {
            if let Some(own) = face.own_of(&conn)
                && !face.fill(&conn, &own)
            {
                face.starve(conn);
            }
        }
    }

    /// A receive of a connection's own is complete.
    #[cold]
    pub(super) fn receive_own(face: &Face, completion: &ibv_wc) {
        let conn = face.by_pair.borrow().get(&completion.qp_num).map(Rc::clone);
        // The number may be that of another queue pair by now.
        let tag = tag_of(completion.wr_id);
        let Some(conn) = conn.filter(|conn| conn.tag() == tag) else {
            return;
        };
        let Some(own) = face.own_of(&conn) else {
            return;
        };
        let Some((number, receive)) = own.find(completion.wr_id) else {
            return;
        };
        if completion.status != IBV_WC_SUCCESS {
            drop(receive.take());
            own.empty.borrow_mut().push(number);
            RcIface::receive_failed(face, &conn, completion);
            return;
        }
        let kept = !face.rx.deliver_one::<true>(face, receive, completion);
        face.receiving.set(core::ptr::null());
        if kept {
            if let Some(desc) = receive.take() {
                desc.keep();
            }
            own.empty.borrow_mut().push(number);
            if !face.fill(&conn, &own) {
                face.starve(conn);
            }
        } else if !own.post(&conn.pair, number) {
            face.starve(conn);
        }
    }

    fn starve(&self, conn: Rc<Conn>) {
        self.starved.borrow_mut().push(conn);
        self.attention.store(true, Ordering::Relaxed);
    }
}
