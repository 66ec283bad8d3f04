//! An interface with a limit of one transfer: what does not fit waits its turn, whoever is cancelled is told.

use super::config;
use super::iface::CmaIface;
use crate::c::*;
use crate::sys::vm_rw::CopyDirection;
use crate::ucs::Status;
use crate::ucs::config::Config;
use crate::uct::api::{Completion, Iface, Posted, WaitingRequest};
use crate::uct::base::iface::{EpBox, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::worker::WorkerHandle;
use core::cell::Cell;
use core::ptr::null_mut;

const LEN: usize = 3 << 20;

thread_local! {
    static SERVED: Cell<u32> = const { Cell::new(0) };
    static CALLED: Cell<i8> = const { Cell::new(1) };
}

unsafe extern "C" fn serve(_: *mut uct_pending_req_t) -> ucs_status_t {
    SERVED.set(SERVED.get() + 1);
    UCS_OK
}

unsafe extern "C" fn called(comp: *mut uct_completion_t) {
    // SAFETY: the test's own completion.
    CALLED.set(unsafe { (*comp).status });
}

#[test]
fn one_transfer_at_a_time() {
    let worker = WorkerHandle::create(null_mut());
    // SAFETY: just made.
    let handle = unsafe { WorkerHandle::from_c(worker) }.unwrap();
    let mut config = Config::read(&config::IFACE, None).unwrap();
    config.set("TX_MAX_BUFS", "1").unwrap();
    let h = CmaIface::open(handle, "memory", IfaceParams::default(), &config).unwrap();
    // SAFETY: just opened.
    let face = unsafe { IfaceBox::<CmaIface>::from_c(h) };
    let device = CmaIface::device_address(face).unwrap();
    let address = CmaIface::iface_address(face).unwrap();
    let params = EpParams {
        device: Some(GivenAddress::of(&device)),
        iface: Some(GivenAddress::of(&address)),
    };
    let ep_h = EpBox::create(face, &params).unwrap();
    // SAFETY: just made.
    let ep = unsafe { EpBox::<CmaIface>::from_c(ep_h) };

    let (from, to) = (vec![7u8; LEN], vec![0u8; LEN]);
    let entry = [uct_iov_t {
        buffer: from.as_ptr().cast_mut().cast(),
        length: LEN,
        memh: null_mut(),
        stride: 0,
        count: 1,
    }];
    // SAFETY: the list and its buffer outlive the transfers.
    let iov = unsafe { Iov::from_c(entry.as_ptr(), 1) }.unwrap();
    let mut comp = uct_completion_t {
        func: Some(called),
        count: 1,
        status: UCS_OK,
    };
    let comp_ptr = &raw mut comp;
    let put = |c| ep.post(face, CopyDirection::Write, iov, to.as_ptr() as u64, None, c);
    let mut request = uct_pending_req_t {
        func: Some(serve),
        r#priv: [0; 40],
    };
    let request = &raw mut request;
    // SAFETY: the request lives to the end of the test.
    let wait = || unsafe { CmaIface::pending_add(ep, WaitingRequest::new(request), 0) };

    assert_eq!(wait(), Err(Status::BUSY), "there is room");
    assert_eq!(put(Completion(comp_ptr)), Ok(Posted::InProgress));
    assert_eq!(CmaIface::event_arm(face, 0), Err(Status::BUSY));
    assert_eq!(put(Completion::NONE), Err(Status::NO_RESOURCE));
    assert_eq!(wait(), Ok(()));
    let mut polls = 0;
    while SERVED.get() == 0 {
        CmaIface::progress(face);
        polls += 1;
        assert!(polls < 1000, "the request is never served");
    }
    assert_eq!(
        CALLED.get(),
        UCS_OK,
        "served when the transfer was complete"
    );
    assert!(
        polls >= 5,
        "3 MiB go in segments of 512 KiB, the first within the call"
    );
    // SAFETY: readable; written by the kernel behind the compiler's back.
    let now = unsafe { core::slice::from_raw_parts(core::hint::black_box(to.as_ptr()), LEN) };
    assert_eq!(now, from);

    // SAFETY: the test's own completion, not in use.
    unsafe { (*comp_ptr).count = 1 };
    assert_eq!(put(Completion(comp_ptr)), Ok(Posted::InProgress));
    let cancel = CmaIface::flush(ep, UCT_FLUSH_FLAG_CANCEL, Completion::NONE);
    assert_eq!(cancel, Ok(Posted::Done));
    assert_eq!(CALLED.get(), Status::CANCELED.code());
    assert_eq!(CmaIface::event_arm(face, 0), Ok(()));

    // SAFETY: each is gone once, endpoints before interfaces before workers.
    unsafe {
        EpBox::<CmaIface>::destroy(ep_h);
        IfaceBox::<CmaIface>::close(h);
        WorkerHandle::destroy(worker);
    }
}
