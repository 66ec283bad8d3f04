//! Bad input: every call answers a status, and nothing happens.

use crate::pair::Pair;
use crate::side::{Options, Side, Tl};
use ferrucx::abi::uct::{component, config, ep, iface, md, mem, rkey, worker};
use ferrucx::c::*;
use std::ptr::{null, null_mut};

pub fn nulls_and_wrong_values_get_statuses(tl: &Tl) {
    let bad = UCS_ERR_INVALID_PARAM;
    let side = Side::open(tl, Options::default());
    let mut iface_h = null_mut();
    let mut ep_h = null_mut();
    let mut cfg: *mut uct_iface_config_t = null_mut();
    let tl_name = std::ffi::CString::new(tl.transport).unwrap();
    unsafe {
        assert_eq!(component::uct_query_components(null_mut(), null_mut()), bad);
        assert_eq!(
            component::uct_component_query(side.component, null_mut()),
            bad
        );
        assert_eq!(
            config::uct_md_config_read(side.component, null(), null(), null_mut()),
            bad
        );
        assert_eq!(
            md::uct_md_open(side.component, null(), null(), null_mut()),
            bad
        );
        assert_eq!(md::uct_md_query(side.md, null_mut()), bad);
        assert_eq!(md::uct_md_query(null_mut(), null_mut()), bad);
        assert_eq!(
            md::uct_md_query_tl_resources(side.md, null_mut(), null_mut()),
            bad
        );
        assert_eq!(worker::uct_worker_create(null_mut(), 0, null_mut()), bad);
        assert_eq!(rkey::uct_md_mkey_pack(side.md, null_mut(), null_mut()), bad);
        assert_eq!(
            rkey::uct_rkey_unpack(side.component, null(), null_mut()),
            bad
        );
        assert_eq!(
            mem::uct_iface_mem_alloc(side.iface, 8, 0, null(), null_mut()),
            bad
        );
        let mut m: uct_allocated_memory_t = std::mem::zeroed();
        assert_eq!(
            mem::uct_iface_mem_alloc(side.iface, 0, 992, null(), &mut m),
            bad
        );
        let read =
            config::uct_md_iface_config_read(side.md, tl_name.as_ptr(), null(), null(), &mut cfg);
        assert_eq!(read, UCS_OK);
        assert_eq!(
            config::uct_config_modify(cfg.cast(), c"NO_SUCH_VARIABLE".as_ptr(), c"1".as_ptr()),
            UCS_ERR_NO_ELEM
        );
        assert_eq!(config::uct_config_modify(cfg.cast(), null(), null()), bad);
        let mut params: uct_iface_params_t = std::mem::zeroed();
        let mut open = |p: &uct_iface_params_t| {
            iface::uct_iface_open(side.md, side.worker, p, cfg, &mut iface_h)
        };
        assert_eq!(open(&params), bad, "no open mode");
        params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE.into();
        params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE.into();
        assert_eq!(open(&params), bad, "no device");
        params.field_mask |= u64::from(UCT_IFACE_PARAM_FIELD_DEVICE);
        params.mode.device = uct_iface_params_mode_device {
            tl_name: null(),
            dev_name: null(),
        };
        assert_eq!(open(&params), bad, "null names");
        params.mode.device = uct_iface_params_mode_device {
            tl_name: tl_name.as_ptr(),
            dev_name: c"no such device".as_ptr(),
        };
        assert_eq!(open(&params), UCS_ERR_NO_DEVICE);
        params.mode.device.tl_name = c"no such tl".as_ptr();
        assert_eq!(open(&params), UCS_ERR_NO_DEVICE);
        assert!(iface_h.is_null());
        config::uct_config_release(cfg.cast());

        assert_eq!(iface::uct_iface_query(side.iface, null_mut()), bad);
        assert_eq!(iface::uct_iface_get_address(side.iface, null_mut()), bad);
        if side.attr.device_addr_len > 0 {
            assert_eq!(
                iface::uct_iface_get_device_address(side.iface, null_mut()),
                bad
            );
        }
        assert_eq!(iface::uct_iface_is_reachable(side.iface, null(), null()), 0);
        assert_eq!(
            iface::uct_iface_set_am_handler(null_mut(), 0, None, null_mut(), 0),
            bad
        );
        let mut ep_params: uct_ep_params_t = std::mem::zeroed();
        assert_eq!(
            ep::uct_ep_create(&ep_params, &mut ep_h),
            bad,
            "no interface"
        );
        assert_eq!(ep::uct_ep_create(null(), &mut ep_h), bad);
        ep_params.field_mask = UCT_EP_PARAM_FIELD_IFACE.into();
        ep_params.iface = side.iface;
        assert_eq!(ep::uct_ep_create(&ep_params, null_mut()), bad);
        if !side.can(UCT_IFACE_FLAG_CONNECT_TO_EP) {
            assert_eq!(ep::uct_ep_create(&ep_params, &mut ep_h), bad, "no address");
        }
        assert!(ep_h.is_null());
        assert_eq!(ep::uct_ep_check(null_mut(), 0, null_mut()), bad);
        // These take NULL.
        ep::uct_ep_destroy(null_mut());
        iface::uct_iface_close(null_mut());
        md::uct_md_close(null_mut());
        worker::uct_worker_destroy(null_mut());
        config::uct_config_release(null_mut());
    }
    operations(tl);
}

fn operations(tl: &Tl) {
    let pair = Pair::new(tl);
    let bad = UCS_ERR_INVALID_PARAM;
    let (ops, h) = (pair.a().ops(), pair.ep.0);
    let can = |flag| pair.a().can(flag);
    unsafe {
        assert_eq!((ops.ep_pending_add.unwrap())(h, null_mut(), 0), bad);
        if can(UCT_IFACE_FLAG_AM_SHORT) {
            assert_eq!((ops.ep_am_short_iov.unwrap())(h, 1, null(), 3), bad);
            assert_eq!((ops.ep_am_short.unwrap())(h, 1, 0, null(), 8), bad);
        }
        if can(UCT_IFACE_FLAG_AM_ZCOPY) {
            let z = ops.ep_am_zcopy.unwrap();
            assert_eq!(z(h, 1, null(), 8, null(), 0, 0, null_mut()), bad);
            assert_eq!(z(h, 1, null(), 0, null(), 2, 0, null_mut()), bad);
        }
        if can(UCT_IFACE_FLAG_PUT_ZCOPY) {
            let z = ops.ep_put_zcopy.unwrap();
            assert_eq!(z(h, null(), 2, 0, 0, null_mut()), bad);
        }
        if can(UCT_IFACE_FLAG_GET_ZCOPY) {
            let z = ops.ep_get_zcopy.unwrap();
            assert_eq!(z(h, null(), 2, 0, 0, null_mut()), bad);
        }
        if can(UCT_IFACE_FLAG_PUT_SHORT) {
            let remote = pair.b().memory(64);
            let key = pair.a().key(&remote.packed);
            let put = ops.ep_put_short.unwrap();
            assert_eq!(put(h, null(), 8, remote.address(), key.rkey()), bad);
        }
        let connect = ep::uct_ep_connect_to_ep(h, null(), null());
        assert_eq!(connect, bad);
        if !can(UCT_IFACE_FLAG_CONNECT_TO_EP) {
            let mut room = [0u8; 256];
            let got = ep::uct_ep_get_address(h, room.as_mut_ptr().cast());
            assert_eq!(got, UCS_ERR_UNSUPPORTED);
        }
        assert_eq!(ep::uct_cm_client_ep_conn_notify(h), UCS_ERR_UNSUPPORTED);
        assert_eq!(ep::uct_ep_disconnect(h, 0), UCS_ERR_UNSUPPORTED);
    }
}
