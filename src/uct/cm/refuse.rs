//! The op table of endpoints without data path: every entry is set, and returns "unsupported".
#![forbid(unsafe_code)]

use crate::c::*;
use core::ffi::c_void;

/// The return value of an unsupported operation.
trait Answer {
    const NO: Self;
}

impl Answer for ucs_status_t {
    const NO: ucs_status_t = UCS_ERR_UNSUPPORTED;
}

impl Answer for isize {
    const NO: isize = UCS_ERR_UNSUPPORTED as isize;
}

impl Answer for ucs_status_ptr_t {
    const NO: ucs_status_ptr_t = UCS_ERR_UNSUPPORTED as isize as *mut c_void;
}

/// Not reachable.
impl Answer for i32 {
    const NO: i32 = 0;
}

/// Nothing was progressed.
impl Answer for u32 {
    const NO: u32 = 0;
}

impl Answer for () {
    const NO: () = ();
}

/// An unsupported operation of any signature.
trait Refuse {
    const OP: Self;
}

macro_rules! refuse {
    ($($arg:ident),+) => {
        impl<R: Answer, $($arg),+> Refuse for Option<unsafe extern "C" fn($($arg),+) -> R> {
            const OP: Self = {
                extern "C" fn op<R: Answer, $($arg),+>($(_: $arg),+) -> R {
                    R::NO
                }
                Some(op::<R, $($arg),+>)
            };
        }
    };
}

refuse!(A);
refuse!(A, B);
refuse!(A, B, C);
refuse!(A, B, C, D);
refuse!(A, B, C, D, E);
refuse!(A, B, C, D, E, F);
refuse!(A, B, C, D, E, F, G);
refuse!(A, B, C, D, E, F, G, H);

/// A table that refuses everything.
pub fn ops() -> uct_iface_ops {
    uct_iface_ops {
        ep_put_short: Refuse::OP,
        ep_put_bcopy: Refuse::OP,
        ep_put_zcopy: Refuse::OP,
        ep_get_short: Refuse::OP,
        ep_get_bcopy: Refuse::OP,
        ep_get_zcopy: Refuse::OP,
        ep_am_short: Refuse::OP,
        ep_am_short_iov: Refuse::OP,
        ep_am_bcopy: Refuse::OP,
        ep_am_zcopy: Refuse::OP,
        ep_atomic_cswap64: Refuse::OP,
        ep_atomic_cswap32: Refuse::OP,
        ep_atomic32_post: Refuse::OP,
        ep_atomic64_post: Refuse::OP,
        ep_atomic32_fetch: Refuse::OP,
        ep_atomic64_fetch: Refuse::OP,
        ep_tag_eager_short: Refuse::OP,
        ep_tag_eager_bcopy: Refuse::OP,
        ep_tag_eager_zcopy: Refuse::OP,
        ep_tag_rndv_zcopy: Refuse::OP,
        ep_tag_rndv_cancel: Refuse::OP,
        ep_tag_rndv_request: Refuse::OP,
        iface_tag_recv_zcopy: Refuse::OP,
        iface_tag_recv_cancel: Refuse::OP,
        ep_pending_add: Refuse::OP,
        ep_pending_purge: Refuse::OP,
        ep_flush: Refuse::OP,
        ep_fence: Refuse::OP,
        ep_check: Refuse::OP,
        ep_create: Refuse::OP,
        ep_connect: Refuse::OP,
        ep_disconnect: Refuse::OP,
        cm_ep_conn_notify: Refuse::OP,
        ep_destroy: Refuse::OP,
        ep_get_address: Refuse::OP,
        ep_connect_to_ep: Refuse::OP,
        iface_accept: Refuse::OP,
        iface_reject: Refuse::OP,
        iface_flush: Refuse::OP,
        iface_fence: Refuse::OP,
        iface_progress_enable: Refuse::OP,
        iface_progress_disable: Refuse::OP,
        iface_progress: Refuse::OP,
        iface_event_fd_get: Refuse::OP,
        iface_event_arm: Refuse::OP,
        iface_close: Refuse::OP,
        iface_query: Refuse::OP,
        iface_get_device_address: Refuse::OP,
        iface_get_address: Refuse::OP,
        iface_is_reachable: Refuse::OP,
    }
}
