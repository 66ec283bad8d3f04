//! Parameter structs of C, read by their masks.
//!
//! Clients of older releases pass shorter structs, so a member is read only when its bit is set.

use crate::c::*;
use crate::ucs::{Result, Status};
use crate::{ucs_debug, ucs_error};
use core::ffi::{CStr, c_void};

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

/// Reads a member behind its bit.
macro_rules! masked {
    ($p:expr, $mask:expr, $bit:expr, $member:ident, $default:expr) => {
        if $mask & $bit as u64 != 0 {
            // SAFETY: the caller set the bit, so its struct has the member.
            unsafe { core::ptr::addr_of!((*$p).$member).read() }
        } else {
            $default
        }
    };
}
pub(crate) use masked;

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
    let mask = unsafe { (*p).field_mask };
    let open_mode = masked!(p, mask, UCT_IFACE_PARAM_FIELD_OPEN_MODE, open_mode, 0);
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
        ucs_error!("uct_iface_open: no open mode is given (field_mask {mask:#x})");
        return Err(Status::INVALID_PARAM);
    };
    let tm = (UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB | UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB) as u64;
    let tag = (mask & tm != 0).then(|| TagParams {
        eager_cb: masked!(
            p,
            mask,
            UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB,
            eager_cb,
            None
        ),
        eager_arg: masked!(
            p,
            mask,
            UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG,
            eager_arg,
            core::ptr::null_mut()
        ),
        rndv_cb: masked!(p, mask, UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB, rndv_cb, None),
        rndv_arg: masked!(
            p,
            mask,
            UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG,
            rndv_arg,
            core::ptr::null_mut()
        ),
    });
    let async_event = (mask & UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB as u64 != 0).then(|| {
        (
            masked!(
                p,
                mask,
                UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB,
                async_event_cb,
                None
            ),
            masked!(
                p,
                mask,
                UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG,
                async_event_arg,
                core::ptr::null_mut()
            ),
        )
    });
    let params = IfaceParams {
        rx_headroom: masked!(p, mask, UCT_IFACE_PARAM_FIELD_RX_HEADROOM, rx_headroom, 0),
        err_handler: masked!(
            p,
            mask,
            UCT_IFACE_PARAM_FIELD_ERR_HANDLER,
            err_handler,
            None
        ),
        err_handler_arg: masked!(
            p,
            mask,
            UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG,
            err_handler_arg,
            core::ptr::null_mut()
        ),
        tag,
        async_event,
        am_alignment: masked!(p, mask, UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT, am_alignment, 1).max(1),
        am_align_offset: masked!(
            p,
            mask,
            UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET,
            am_align_offset,
            0
        ),
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

/// What `uct_ep_create` was given for an interface. The user data of an interface's endpoint come
/// back nowhere, and no transport has several paths (`dev_num_paths` is 1), so neither is read. The path index is not used, since every device
/// of ours has one path (`dev_num_paths`), nor the user data, which only the callbacks of a
/// connection manager get.
#[derive(Clone, Copy)]
pub struct EpParams {
    /// Null when not given: then the endpoint is connected by `uct_ep_connect_to_ep`.
    pub device_addr: *const u8,
    pub device_addr_len: Option<usize>,
    pub iface_addr: *const u8,
    pub iface_addr_len: Option<usize>,
}

impl EpParams {
    /// Reads `uct_ep_params_t` for an endpoint of an interface.
    ///
    /// # Safety
    /// As `iface_params`.
    pub unsafe fn read(p: *const uct_ep_params) -> Result<EpParams> {
        // SAFETY: every release has the mask.
        let mask = unsafe { (*p).field_mask };
        let lens = |bit: u32| mask & bit as u64 != 0;
        let params = EpParams {
            device_addr: masked!(
                p,
                mask,
                UCT_EP_PARAM_FIELD_DEV_ADDR,
                dev_addr,
                core::ptr::null()
            )
            .cast(),
            device_addr_len: lens(UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH).then(|| {
                masked!(
                    p,
                    mask,
                    UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH,
                    dev_addr_length,
                    0
                )
            }),
            iface_addr: masked!(
                p,
                mask,
                UCT_EP_PARAM_FIELD_IFACE_ADDR,
                iface_addr,
                core::ptr::null()
            )
            .cast(),
            iface_addr_len: lens(UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH).then(|| {
                masked!(
                    p,
                    mask,
                    UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH,
                    iface_addr_length,
                    0
                )
            }),
        };
        if params.device_addr.is_null() != params.iface_addr.is_null() {
            ucs_debug!("uct_ep_create: one of device and interface address is missing");
        }
        Ok(params)
    }
}
