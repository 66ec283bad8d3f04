//! `Pair`: two sides connected, or one connected to itself for `self`, and how a test waits for what it asked of
//! them. Endpoints are dropped before the interfaces they stand on.

use crate::endpoint::{Comp, Ep};
use crate::side::{Msg, Options, PATIENCE, Side, Tl, ok};
use ferrucx::abi::uct::ep;
use ferrucx::c::*;
use std::time::Instant;

/// Two connected sides; `self` has one, connected to itself.
pub struct Pair {
    // Endpoints are dropped before the interfaces they stand on.
    pub ep: Ep,
    back: Option<Ep>,
    sides: Vec<Side>,
}

impl Pair {
    pub fn new(tl: &Tl) -> Pair {
        Pair::with(tl, Options::default())
    }

    /// Both sides are opened with these options.
    pub fn with(tl: &Tl, options: Options) -> Pair {
        let mut sides = vec![Side::open(tl, options)];
        if tl.transport != "self" {
            sides.push(Side::open(&tl.far(), options));
        }
        let (a, b) = (&sides[0], &sides[sides.len() - 1]);
        let (ep, back) = if a.can(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
            (a.connect(&b.address()), None)
        } else {
            let (x, y) = (a.new_ep(), b.new_ep());
            connect_eps(a, &x, b, &y);
            (x, Some(y))
        };
        Pair { ep, back, sides }
    }

    /// The sender.
    pub fn a(&self) -> &Side {
        &self.sides[0]
    }

    /// The receiver.
    pub fn b(&self) -> &Side {
        &self.sides[self.sides.len() - 1]
    }

    pub fn connected_by_ep(&self) -> bool {
        self.back.is_some()
    }

    pub fn progress(&self) -> u32 {
        self.sides.iter().map(Side::progress).sum()
    }

    /// Polls both sides until `done`.
    #[track_caller]
    pub fn until(&self, mut done: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done() {
            self.progress();
            assert!(Instant::now() < deadline, "nothing comes of waiting");
        }
    }

    /// Repeats an operation while it answers NO_RESOURCE.
    #[track_caller]
    pub fn insist<T: Into<isize> + Copy>(&self, mut op: impl FnMut() -> T) -> isize {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let r: isize = op().into();
            if r != UCS_ERR_NO_RESOURCE as isize {
                return r;
            }
            self.progress();
            assert!(Instant::now() < deadline, "no resource for ever");
        }
    }

    /// Posts an operation with a completion and waits for it; answers its status.
    #[track_caller]
    pub fn complete(&self, mut op: impl FnMut(*mut uct_completion_t) -> i8) -> i8 {
        let comp = Comp::new(1);
        let comp_ptr = comp.ptr();
        match self.insist(|| op(comp_ptr)) as i8 {
            UCS_INPROGRESS => {
                self.until(|| comp.calls() > 0);
                assert_eq!(comp.calls(), 1);
                comp.status()
            }
            other => {
                assert_eq!(
                    comp.calls(),
                    0,
                    "completion of an operation not in progress"
                );
                other
            }
        }
    }

    /// Waits for `n` messages at the receiver and takes them.
    #[track_caller]
    pub fn take(&self, n: usize) -> Vec<Msg> {
        self.until(|| self.b().inbox.messages.borrow().len() >= n);
        self.b().inbox.messages.borrow_mut().drain(..).collect()
    }
}

/// The address of an endpoint.
pub fn ep_address(side: &Side, ep: &Ep) -> Vec<u8> {
    const GUARD: usize = 16;
    let mut addr = vec![0xa5u8; side.attr.ep_addr_len + GUARD];
    let got = unsafe { ep::uct_ep_get_address(ep.0, addr.as_mut_ptr().cast()) };
    ok(got, "endpoint address");
    let guard = addr.split_off(side.attr.ep_addr_len);
    assert!(guard.iter().all(|&b| b == 0xa5), "no byte too many");
    addr
}

/// Connects an endpoint to one with these addresses.
pub fn connect_to_ep(ep: &Ep, device: &[u8], addr: &[u8]) {
    let to =
        unsafe { ep::uct_ep_connect_to_ep(ep.0, device.as_ptr().cast(), addr.as_ptr().cast()) };
    ok(to, "connect to endpoint");
}

/// Connects two endpoints to each other.
pub fn connect_eps(a: &Side, x: &Ep, b: &Side, y: &Ep) {
    connect_to_ep(x, &b.address().0, &ep_address(b, y));
    connect_to_ep(y, &a.address().0, &ep_address(a, x));
}
