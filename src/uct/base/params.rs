//! Parameter structs of C, whose members are there only where a mask says so: clients of older releases pass shorter ones.
//!
//! `masked!` makes the reader of a struct from a table of its members, one a line with its bit. Whoever makes a reader
//! answers for the struct; reading is safe, and gives `None` for a member that is not there.

use crate::c::*;
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_error};
use core::ffi::{CStr, c_void};
use core::marker::PhantomData;

/// `masked! { Reader of c_struct, mask_member { member: Type, BIT; } }`.
macro_rules! masked {
    ($(#[$doc:meta])* $reader:ident of $c:ident, $mask:ident { $($member:ident: $type:ty, $bit:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $reader {
            at: *const $c,
            mask: u64,
        }

        impl $reader {
            /// # Safety
            /// `at` must point to such a struct of any release, valid where its mask says so, while the reader is used.
            #[inline(always)]
            pub unsafe fn new(at: *const $c) -> $reader {
                // SAFETY: every release has the mask.
                let mask = u64::from(unsafe { (*at).$mask });
                $reader { at, mask }
            }

            #[inline(always)]
            pub fn mask(self) -> u64 {
                self.mask
            }

            $(
                #[inline(always)]
                pub fn $member(self) -> Option<$type> {
                    (self.mask & $bit as u64 != 0).then(|| {
                        // SAFETY: the struct has the member, by the promise made to `new`.
                        unsafe { (&raw const (*self.at).$member).read() }
                    })
                }
            )*
        }
    };
}
pub(crate) use masked;

masked! {
    EpArgs of uct_ep_params, field_mask {
        cm: uct_cm_h, UCT_EP_PARAM_FIELD_CM;
        iface: uct_iface_h, UCT_EP_PARAM_FIELD_IFACE;
        dev_addr: *const uct_device_addr_t, UCT_EP_PARAM_FIELD_DEV_ADDR;
        dev_addr_length: usize, UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH;
        iface_addr: *const uct_iface_addr_t, UCT_EP_PARAM_FIELD_IFACE_ADDR;
        iface_addr_length: usize, UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH;
        sockaddr_cb_flags: u32, UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS;
        sockaddr: *const ucs_sock_addr_t, UCT_EP_PARAM_FIELD_SOCKADDR;
        local_sockaddr: *const ucs_sock_addr_t, UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR;
        conn_request: uct_conn_request_h, UCT_EP_PARAM_FIELD_CONN_REQUEST;
        private_data: *const c_void, UCT_EP_PARAM_FIELD_PRIV_DATA;
        private_data_length: usize, UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH;
        user_data: *mut c_void, UCT_EP_PARAM_FIELD_USER_DATA;
        sockaddr_pack_cb: uct_cm_ep_priv_data_pack_callback_t, UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB;
        cm_resolve_cb: uct_cm_ep_resolve_callback_t, UCT_EP_PARAM_FIELD_CM_RESOLVE_CB;
        sockaddr_cb_client: uct_cm_ep_client_connect_callback_t, UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT;
        sockaddr_cb_server: uct_cm_ep_server_conn_notify_callback_t, UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER;
        disconnect_cb: uct_ep_disconnect_cb_t, UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB;
    }
}

masked! {
    IfaceArgs of uct_iface_params, field_mask {
        open_mode: u64, UCT_IFACE_PARAM_FIELD_OPEN_MODE;
        eager_cb: uct_tag_unexp_eager_cb_t, UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB;
        eager_arg: *mut c_void, UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG;
        rndv_cb: uct_tag_unexp_rndv_cb_t, UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB;
        rndv_arg: *mut c_void, UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG;
        async_event_cb: uct_async_event_cb_t, UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB;
        async_event_arg: *mut c_void, UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG;
        rx_headroom: usize, UCT_IFACE_PARAM_FIELD_RX_HEADROOM;
        err_handler: uct_error_handler_t, UCT_IFACE_PARAM_FIELD_ERR_HANDLER;
        err_handler_arg: *mut c_void, UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG;
        am_alignment: usize, UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT;
        am_align_offset: usize, UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET;
    }
}

/// The alignment that is best for payloads: a copy between whole lines is a tenth to a third faster, and what vectors read stays in one.
pub const PAYLOAD_ALIGN: usize = 64;

/// The parameters of `uct_iface_open`.
///
/// Members that no transport of ours needs are not read, as upstream's same transports do not read
/// them: the CPU mask and the statistics root, the keepalive interval (tcp has its own variables,
/// the death of a local process is told by the kernel), the features (all are offered), and the
/// flags of the error handler (it is called from progress only, which every flag allows).
#[derive(Clone, Copy)]
pub struct IfaceParams {
    pub rx_headroom: usize,
    pub err_handler: uct_error_handler_t,
    pub err_handler_arg: *mut c_void,
    /// Set when the interface shall match tags: the callbacks for unexpected messages.
    pub tag: Option<TagParams>,
    pub async_event: Option<(uct_async_event_cb_t, *mut c_void)>,
    pub am_alignment: usize,
    pub am_align_offset: usize,
}

/// Callbacks for messages that no posted tag matches.
#[derive(Clone, Copy)]
pub struct TagParams {
    pub eager_cb: uct_tag_unexp_eager_cb_t,
    pub eager_arg: *mut c_void,
    pub rndv_cb: uct_tag_unexp_rndv_cb_t,
    pub rndv_arg: *mut c_void,
}

impl Default for IfaceParams {
    fn default() -> IfaceParams {
        IfaceParams {
            rx_headroom: 0,
            err_handler: None,
            err_handler_arg: core::ptr::null_mut(),
            tag: None,
            async_event: None,
            am_alignment: 1,
            am_align_offset: 0,
        }
    }
}

/// How an interface is to be opened.
pub enum OpenMode<'a> {
    Device { transport: &'a str, device: &'a str },
    Sockaddr,
    Stub,
}

/// A C string as text; `INVALID_PARAM` for null and for what is not UTF-8.
///
/// # Safety
/// A non-null `s` must be a C string that outlives the answer.
pub unsafe fn text<'a>(s: *const core::ffi::c_char) -> Result<&'a str> {
    if s.is_null() {
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(s) }
        .to_str()
        .map_err(|_| Status::INVALID_PARAM)
}

/// Reads `uct_iface_params_t`.
///
/// # Safety
/// `p` must point to a struct of any release from 1.11 on, valid where its mask says so.
pub unsafe fn iface_params<'a>(p: *const uct_iface_params) -> Result<(OpenMode<'a>, IfaceParams)> {
    // SAFETY: every release has the mask.
    let args = unsafe { IfaceArgs::new(p) };
    let open_mode = args.open_mode().unwrap_or(0);
    let mode = if open_mode & UCT_IFACE_OPEN_MODE_DEVICE as u64 != 0 {
        // The mode alone says that the member is there: ucx_perftest of 1.13 leaves the device bit out.
        // SAFETY: the caller chose the mode, and every release has the member.
        let device = unsafe { core::ptr::addr_of!((*p).mode.device).read() };
        OpenMode::Device {
            // SAFETY: C strings of the caller, used during the call.
            transport: unsafe { text(device.tl_name) }?,
            // SAFETY: as above.
            device: unsafe { text(device.dev_name) }?,
        }
    } else if open_mode
        & (UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER | UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT) as u64
        != 0
    {
        OpenMode::Sockaddr
    } else if open_mode & UCT_IFACE_OPEN_MODE_STUB as u64 != 0 {
        OpenMode::Stub
    } else {
        ucs_error!(
            "uct_iface_open: no open mode is given (field_mask {:#x})",
            args.mask()
        );
        return Err(Status::INVALID_PARAM);
    };
    let tm = (UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB | UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB) as u64;
    let tag = (args.mask() & tm != 0).then(|| TagParams {
        eager_cb: args.eager_cb().flatten(),
        eager_arg: args.eager_arg().unwrap_or(core::ptr::null_mut()),
        rndv_cb: args.rndv_cb().flatten(),
        rndv_arg: args.rndv_arg().unwrap_or(core::ptr::null_mut()),
    });
    let async_event = args
        .async_event_cb()
        .map(|cb| (cb, args.async_event_arg().unwrap_or(core::ptr::null_mut())));
    let params = IfaceParams {
        rx_headroom: args.rx_headroom().unwrap_or(0),
        err_handler: args.err_handler().flatten(),
        err_handler_arg: args.err_handler_arg().unwrap_or(core::ptr::null_mut()),
        tag,
        async_event,
        am_alignment: args.am_alignment().unwrap_or(1).max(1),
        am_align_offset: args.am_align_offset().unwrap_or(0),
    };
    if !params.am_alignment.is_power_of_two() || params.am_align_offset >= params.am_alignment {
        ucs_error!(
            "uct_iface_open: am_alignment {} is no power of two, or am_align_offset {} is not below it",
            params.am_alignment,
            params.am_align_offset
        );
        return Err(Status::INVALID_PARAM);
    }
    const HEADROOM_LIMIT: usize = 1 << 20;
    if params.rx_headroom > HEADROOM_LIMIT || params.am_alignment > HEADROOM_LIMIT {
        ucs_error!("uct_iface_open: rx_headroom and am_alignment are limited to 1 MiB");
        return Err(Status::INVALID_PARAM);
    }
    Ok((mode, params))
}

/// What `uct_ep_create` was given for an interface. The path index is not used, since every device of ours has one path
/// (`dev_num_paths`), nor the user data, which only the callbacks of a connection manager get.
#[derive(Clone, Copy)]
pub struct EpParams<'a> {
    /// `None`: the endpoint is connected by `uct_ep_connect_to_ep`.
    pub device: Option<GivenAddress<'a>>,
    pub iface: Option<GivenAddress<'a>>,
}

/// An address as C gives it: a place, and its length where that is told. Else it is as long as the format that a transport
/// reads it by.
#[derive(Clone, Copy)]
pub struct GivenAddress<'a> {
    at: *const u8,
    len: Option<usize>,
    lifetime: PhantomData<&'a [u8]>,
}

impl<'a> GivenAddress<'a> {
    /// `None` for null.
    ///
    /// # Safety
    /// A non-null `at` must be readable for `len` bytes; without a length, for an address of the interface's format.
    pub unsafe fn new(at: *const u8, len: Option<usize>) -> Option<GivenAddress<'a>> {
        let lifetime = PhantomData;
        (!at.is_null()).then_some(GivenAddress { at, len, lifetime })
    }

    pub fn of(bytes: &'a [u8]) -> GivenAddress<'a> {
        GivenAddress {
            at: bytes.as_ptr(),
            len: Some(bytes.len()),
            lifetime: PhantomData,
        }
    }

    /// Its first bytes, of which a format has to have as many; `None` if it is shorter. Of any alignment.
    pub fn bytes<const N: usize>(self) -> Option<[u8; N]> {
        if self.len.is_some_and(|len| len < N) {
            return None;
        }
        // SAFETY: readable for so many, by the promise made to `new`.
        Some(unsafe { self.at.cast::<[u8; N]>().read() })
    }

    /// The same, for a length that is in no constant.
    pub fn first(self, len: usize) -> Option<&'a [u8]> {
        if self.len.is_some_and(|given| given < len) {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { core::slice::from_raw_parts(self.at, len) })
    }
}

impl EpParams<'_> {
    /// Without an address.
    pub const UNCONNECTED: EpParams<'static> = EpParams {
        device: None,
        iface: None,
    };

    /// Reads `uct_ep_params_t` for an endpoint of an interface.
    ///
    /// # Safety
    /// As `iface_params`.
    pub unsafe fn read<'a>(p: *const uct_ep_params) -> EpParams<'a> {
        // SAFETY: every release has the mask.
        let args = unsafe { EpArgs::new(p) };
        let device = args.dev_addr().unwrap_or(core::ptr::null());
        let iface = args.iface_addr().unwrap_or(core::ptr::null());
        let params = EpParams {
            // SAFETY: an address of the interface's format, or of the length that is told.
            device: unsafe { GivenAddress::new(device.cast(), args.dev_addr_length()) },
            // SAFETY: as above.
            iface: unsafe { GivenAddress::new(iface.cast(), args.iface_addr_length()) },
        };
        if params.device.is_some() != params.iface.is_some() {
            ucs_debug!("uct_ep_create: one of device and interface address is missing");
        }
        params
    }
}
