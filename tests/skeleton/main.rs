//! UCP over the skeleton: nothing but its folder and the line in `COMPONENTS` makes it known.

mod transport;

use core::ptr::{null, null_mut};
use ferrucx::abi::ucp::config::{ucp_config_modify, ucp_config_read, ucp_config_release};
use ferrucx::abi::ucp::context::{ucp_cleanup, ucp_init_version};
use ferrucx::abi::ucp::ep::{ucp_ep_close_nbx, ucp_ep_create};
use ferrucx::abi::ucp::request::{ucp_request_check_status, ucp_request_free};
use ferrucx::abi::ucp::tag::{ucp_tag_recv_nbx, ucp_tag_send_nbx};
use ferrucx::abi::ucp::worker::*;
use ferrucx::c::*;
use ferrucx::uct::base::md::ComponentHandle;
use ferrucx::uct::registry;
use std::ffi::CStr;
use transport::SkeletonComponent;

static COMPONENTS: &[ComponentHandle] = &[registry::handle(&SkeletonComponent)];

/// A context with a worker, and an endpoint once it is connected.
struct Side {
    context: ucp_context_h,
    worker: ucp_worker_h,
    ep: ucp_ep_h,
}

/// Rounds of progress after which a request that does not complete hangs.
const ROUNDS: usize = 100_000;

fn init(tls: &CStr) -> (ucs_status_t, ucp_context_h) {
    let params = ucp_params_t {
        field_mask: u64::from(UCP_PARAM_FIELD_FEATURES),
        features: u64::from(UCP_FEATURE_TAG),
        // SAFETY: numbers and pointers: zero is a value of each.
        ..unsafe { core::mem::zeroed() }
    };
    let (mut config, mut context) = (null_mut(), null_mut());
    // SAFETY: out parameters of ours, C strings, parameters as masked.
    let status = unsafe {
        assert_eq!(ucp_config_read(null(), null(), &mut config), UCS_OK);
        let set = ucp_config_modify(config, c"TLS".as_ptr(), tls.as_ptr());
        assert_eq!(set, UCS_OK);
        let status = ucp_init_version(1, 22, &params, config, &mut context);
        ucp_config_release(config);
        status
    };
    (status, context)
}

impl Side {
    fn open() -> Side {
        let (status, context) = init(c"bones");
        assert_eq!(status, UCS_OK);
        let mut worker = null_mut();
        // SAFETY: a live context, all-zero parameters, an out parameter of ours.
        unsafe {
            let params: ucp_worker_params_t = core::mem::zeroed();
            assert_eq!(ucp_worker_create(context, &params, &mut worker), UCS_OK);
        }
        Side {
            context,
            worker,
            ep: null_mut(),
        }
    }

    fn connect(&mut self, to: &Side) {
        // SAFETY: live workers, out parameters of ours, parameters as masked.
        unsafe {
            let (mut address, mut len) = (null_mut(), 0);
            let got = ucp_worker_get_address(to.worker, &mut address, &mut len);
            assert_eq!(got, UCS_OK);
            let params = ucp_ep_params_t {
                field_mask: u64::from(UCP_EP_PARAM_FIELD_REMOTE_ADDRESS),
                address,
                ..core::mem::zeroed()
            };
            let made = ucp_ep_create(self.worker, &params, &mut self.ep);
            assert_eq!(made, UCS_OK);
            ucp_worker_release_address(to.worker, address);
        }
    }

    fn close(self) {
        // SAFETY: live handles, in the order of their making.
        unsafe {
            ucp_worker_destroy(self.worker);
            ucp_cleanup(self.context);
        }
    }
}

/// Progresses both sides until the request is complete, and frees it.
fn wait(sides: [&Side; 2], request: ucs_status_ptr_t) {
    if request.is_null() {
        return;
    }
    let code = request as isize;
    assert!(!(-100..0).contains(&code), "status {code}");
    for _ in 0..ROUNDS {
        // SAFETY: a live request; live workers.
        match unsafe { ucp_request_check_status(request) } {
            UCS_INPROGRESS => {}
            status => {
                assert_eq!(status, UCS_OK);
                // SAFETY: complete, freed once.
                return unsafe { ucp_request_free(request) };
            }
        }
        for side in sides {
            // SAFETY: a live worker.
            unsafe { ucp_worker_progress(side.worker) };
        }
    }
    panic!("a request never completes");
}

#[test]
fn tag_messages_run_over_a_folder_and_one_line() {
    registry::replace(&COMPONENTS);
    let (mut a, mut b) = (Side::open(), Side::open());
    a.connect(&b);
    b.connect(&a);
    // SAFETY: all-zero is a value of it.
    let param: ucp_request_param_t = unsafe { core::mem::zeroed() };
    for size in [0, 8, 500, 5_000, 1 << 20] {
        for (from, to) in [(&a, &b), (&b, &a)] {
            let sent: Vec<u8> = (0..size).map(|i| (i * 7 + size) as u8).collect();
            let mut received = vec![0u8; size];
            // SAFETY: live handles; both buffers outlive the requests.
            let (recv, send) = unsafe {
                (
                    ucp_tag_recv_nbx(
                        to.worker,
                        received.as_mut_ptr().cast(),
                        size,
                        5,
                        u64::MAX,
                        &param,
                    ),
                    ucp_tag_send_nbx(from.ep, sent.as_ptr().cast(), size, 5, &param),
                )
            };
            wait([&a, &b], send);
            wait([&a, &b], recv);
            assert!(received == sent, "{size} bytes");
        }
    }
    // SAFETY: live endpoints, which are gone afterwards.
    let closing = unsafe { [a.ep, b.ep].map(|ep| ucp_ep_close_nbx(ep, &param)) };
    for request in closing {
        wait([&a, &b], request);
    }
    a.close();
    b.close();
}

#[test]
fn a_context_without_it_has_no_transport() {
    registry::replace(&COMPONENTS);
    let (status, _) = init(c"^bones");
    assert_eq!(status, UCS_ERR_NO_DEVICE);
}
