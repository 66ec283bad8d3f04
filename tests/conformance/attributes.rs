//! What `query` says must be what works: flags, limits, and UNSUPPORTED for all the rest.

use crate::endpoint::{Bytes, Comp, iov};
use crate::pair::Pair;
use crate::side::{Options, Side, Tl};
use ferrucx::abi::uct::{iface, md, rkey};
use ferrucx::c::*;
use std::ptr::{null, null_mut};

pub fn are_consistent(tl: &Tl) {
    let side = Side::open(tl, Options::default());
    let a = &side.attr;
    let has = |flag: u64| a.cap.flags & flag != 0;
    let am = &a.cap.am;
    assert_eq!(has(UCT_IFACE_FLAG_AM_SHORT), am.max_short > 0);
    assert_eq!(has(UCT_IFACE_FLAG_AM_BCOPY), am.max_bcopy > 0);
    assert_eq!(has(UCT_IFACE_FLAG_AM_ZCOPY), am.max_zcopy > 0);
    if has(UCT_IFACE_FLAG_AM_SHORT) {
        assert!(am.max_short >= 8, "a short message has a header of 8 bytes");
    }
    if has(UCT_IFACE_FLAG_AM_ZCOPY) {
        assert!(am.max_iov >= 1 && am.min_zcopy <= am.max_zcopy);
    }
    let put = &a.cap.put;
    assert_eq!(has(UCT_IFACE_FLAG_PUT_SHORT), put.max_short > 0);
    assert_eq!(has(UCT_IFACE_FLAG_PUT_BCOPY), put.max_bcopy > 0);
    assert_eq!(has(UCT_IFACE_FLAG_PUT_ZCOPY), put.max_zcopy > 0);
    if has(UCT_IFACE_FLAG_PUT_ZCOPY) {
        assert!(put.max_iov >= 1 && put.min_zcopy <= put.max_zcopy);
    }
    let get = &a.cap.get;
    assert_eq!(has(UCT_IFACE_FLAG_GET_SHORT), get.max_short > 0);
    assert_eq!(has(UCT_IFACE_FLAG_GET_BCOPY), get.max_bcopy > 0);
    assert_eq!(has(UCT_IFACE_FLAG_GET_ZCOPY), get.max_zcopy > 0);
    if has(UCT_IFACE_FLAG_GET_ZCOPY) {
        assert!(get.max_iov >= 1 && get.min_zcopy <= get.max_zcopy);
    }
    for (flag, align, mtu) in [
        (UCT_IFACE_FLAG_PUT_ZCOPY, put.opt_zcopy_align, put.align_mtu),
        (UCT_IFACE_FLAG_GET_ZCOPY, get.opt_zcopy_align, get.align_mtu),
        (UCT_IFACE_FLAG_AM_ZCOPY, am.opt_zcopy_align, am.align_mtu),
    ] {
        if has(flag) {
            assert!(align.is_power_of_two());
            assert!(mtu == 0 || mtu.is_power_of_two(), "0: no unit is better");
        }
    }
    let atomics = a.cap.atomic32.op_flags
        | a.cap.atomic32.fop_flags
        | a.cap.atomic64.op_flags
        | a.cap.atomic64.fop_flags;
    assert_eq!(
        has(UCT_IFACE_FLAG_ATOMIC_CPU | UCT_IFACE_FLAG_ATOMIC_DEVICE),
        atomics != 0
    );
    let connects = UCT_IFACE_FLAG_CONNECT_TO_IFACE
        | UCT_IFACE_FLAG_CONNECT_TO_EP
        | UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR;
    assert!(has(connects));
    assert!(!has(UCT_IFACE_FLAG_CONNECT_TO_IFACE) || a.iface_addr_len > 0);
    assert!(!has(UCT_IFACE_FLAG_CONNECT_TO_EP) || a.ep_addr_len > 0);
    let receives = has(UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_AM_ZCOPY);
    if receives {
        assert!(
            has(UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_CB_ASYNC),
            "it says from where handlers are called"
        );
    }
    assert!(a.bandwidth.shared + a.bandwidth.dedicated > 0.0);
    assert!(a.overhead >= 0.0 && a.latency.c >= 0.0);
    assert!(a.dev_num_paths >= 1 && a.max_num_eps >= 1);
    // Asking twice gives the same.
    let mut again: uct_iface_attr_t = unsafe { std::mem::zeroed() };
    assert_eq!(
        unsafe { iface::uct_iface_query(side.iface, &mut again) },
        UCS_OK
    );
    assert_eq!(again.cap.flags, a.cap.flags);
    assert_eq!(again.iface_addr_len, a.iface_addr_len);
    assert_eq!(again.device_addr_len, a.device_addr_len);
}

/// Every operation whose flag is absent answers UNSUPPORTED to arguments that would be right.
pub fn what_is_not_advertised_is_unsupported(tl: &Tl) {
    let pair = Pair::new(tl);
    let (a, ep) = (pair.a(), &pair.ep);
    let memory = pair.b().memory(256);
    let key = a.key(&memory.packed);
    let (remote, rkey) = (memory.address(), key.rkey());
    let local = a.memory(64);
    let data = [7u8; 16];
    let list = [uct_iov_t {
        buffer: local.address() as *mut _,
        length: 16,
        memh: local.memh(),
        stride: 0,
        count: 1,
    }];
    let cap = a.attr.cap;
    let no = UCS_ERR_UNSUPPORTED;
    let check = |flag: u64, what: &str, op: &mut dyn FnMut() -> isize| {
        if cap.flags & flag == 0 {
            assert_eq!(op(), no as isize, "{what}");
        }
    };
    check(UCT_IFACE_FLAG_AM_SHORT, "am_short", &mut || {
        ep.am_short(1, 0, &data).into()
    });
    check(UCT_IFACE_FLAG_AM_SHORT, "am_short_iov", &mut || {
        ep.am_short_iov(1, &[iov(&data, null_mut())]).into()
    });
    check(UCT_IFACE_FLAG_AM_BCOPY, "am_bcopy", &mut || {
        ep.am_bcopy(1, &data)
    });
    check(UCT_IFACE_FLAG_AM_ZCOPY, "am_zcopy", &mut || {
        ep.am_zcopy(1, &[], &list, null_mut()).into()
    });
    check(UCT_IFACE_FLAG_PUT_SHORT, "put_short", &mut || {
        ep.put_short(&data, remote, rkey).into()
    });
    check(UCT_IFACE_FLAG_PUT_BCOPY, "put_bcopy", &mut || {
        ep.put_bcopy(&data, remote, rkey)
    });
    check(UCT_IFACE_FLAG_PUT_ZCOPY, "put_zcopy", &mut || {
        ep.put_zcopy(&list, remote, rkey, null_mut()).into()
    });
    check(UCT_IFACE_FLAG_GET_SHORT, "get_short", &mut || {
        ep.get_short(&mut [0; 8], remote, rkey).into()
    });
    let mut room = [0u8; 16];
    check(UCT_IFACE_FLAG_GET_BCOPY, "get_bcopy", &mut || {
        let mut arg = Bytes {
            data: room.as_mut_ptr(),
            len: 0,
        };
        ep.get_bcopy(&mut arg, 16, remote, rkey, null_mut()).into()
    });
    check(UCT_IFACE_FLAG_GET_ZCOPY, "get_zcopy", &mut || {
        ep.get_zcopy(&list, remote, rkey, null_mut()).into()
    });
    for op in UCT_ATOMIC_OP_ADD..UCT_ATOMIC_OP_LAST {
        let bit = 1u64 << op;
        if cap.atomic32.op_flags & bit == 0 && op != UCT_ATOMIC_OP_CSWAP {
            assert_eq!(ep.post32(op, 1, remote, rkey), no, "post32 {op}");
        }
        if cap.atomic64.op_flags & bit == 0 && op != UCT_ATOMIC_OP_CSWAP {
            assert_eq!(ep.post64(op, 1, remote, rkey), no, "post64 {op}");
        }
        let fetches = op != UCT_ATOMIC_OP_CSWAP;
        if fetches && cap.atomic32.fop_flags & bit == 0 {
            let got = ep.fetch32(op, 1, &mut 0, remote, rkey, null_mut());
            assert_eq!(got, no, "fetch32 {op}");
        }
        if fetches && cap.atomic64.fop_flags & bit == 0 {
            let got = ep.fetch64(op, 1, &mut 0, remote, rkey, null_mut());
            assert_eq!(got, no, "fetch64 {op}");
        }
    }
    if cap.atomic32.fop_flags & (1 << UCT_ATOMIC_OP_CSWAP) == 0 {
        let got = ep.cswap32((0, 1), &mut 0, remote, rkey, null_mut());
        assert_eq!(got, no, "cswap32");
    }
    if cap.atomic64.fop_flags & (1 << UCT_ATOMIC_OP_CSWAP) == 0 {
        let got = ep.cswap64((0, 1), &mut 0, remote, rkey, null_mut());
        assert_eq!(got, no, "cswap64");
    }
    check(UCT_IFACE_FLAG_EP_CHECK, "ep_check", &mut || {
        ep.check(null_mut()).into()
    });
    if cap.event_flags & UCT_IFACE_FLAG_EVENT_FD == 0 {
        let mut fd = -1;
        let got = unsafe { iface::uct_iface_event_fd_get(a.iface, &mut fd) };
        assert_eq!(got, no, "event_fd_get");
    }
    tags_are_unsupported(&pair);
    assert!(pair.b().inbox.messages.borrow().is_empty());
    assert!(memory.bytes().iter().all(|&b| b == 0));
}

fn tags_are_unsupported(pair: &Pair) {
    let ops = pair.a().ops();
    let (ep, face) = (pair.ep.0, pair.a().iface);
    let flags = pair.a().attr.cap.flags;
    let no = UCS_ERR_UNSUPPORTED;
    let data = [1u8; 8];
    let list = [iov(&data, null_mut())];
    let comp = Comp::new(1);
    let mut ctx: uct_tag_context_t = unsafe { std::mem::zeroed() };
    unsafe {
        if flags & UCT_IFACE_FLAG_TAG_EAGER_SHORT == 0 {
            let got = (ops.ep_tag_eager_short.unwrap())(ep, 1, data.as_ptr().cast(), 8);
            assert_eq!(got, no);
        }
        if flags & UCT_IFACE_FLAG_TAG_EAGER_BCOPY == 0 {
            let mut arg = Bytes {
                data: data.as_ptr().cast_mut(),
                len: 8,
            };
            let arg = std::ptr::from_mut(&mut arg).cast();
            let pack = Some(crate::endpoint::pack as unsafe extern "C" fn(_, _) -> usize);
            let got = (ops.ep_tag_eager_bcopy.unwrap())(ep, 1, 2, pack, arg, 0);
            assert_eq!(got, no as isize);
        }
        if flags & UCT_IFACE_FLAG_TAG_EAGER_ZCOPY == 0 {
            let got = (ops.ep_tag_eager_zcopy.unwrap())(ep, 1, 2, list.as_ptr(), 1, 0, comp.ptr());
            assert_eq!(got, no);
        }
        if flags & UCT_IFACE_FLAG_TAG_RNDV_ZCOPY == 0 {
            let got = (ops.ep_tag_rndv_zcopy.unwrap())(
                ep,
                1,
                data.as_ptr().cast(),
                8,
                list.as_ptr(),
                1,
                0,
                comp.ptr(),
            );
            assert_eq!(got as isize, no as isize);
            let got = (ops.ep_tag_rndv_request.unwrap())(ep, 1, data.as_ptr().cast(), 8, 0);
            assert_eq!(got, no);
            let got = (ops.ep_tag_rndv_cancel.unwrap())(ep, null_mut());
            assert_eq!(got, no);
        }
        let tags = UCT_IFACE_FLAG_TAG_EAGER_BCOPY | UCT_IFACE_FLAG_TAG_RNDV_ZCOPY;
        if flags & tags == 0 {
            let got = (ops.iface_tag_recv_zcopy.unwrap())(face, 1, !0, list.as_ptr(), 1, &mut ctx);
            assert_eq!(got, no);
            let got = (ops.iface_tag_recv_cancel.unwrap())(face, &mut ctx, 1);
            assert_eq!(got, no);
        }
    }
}

pub fn memory_domain_is_consistent(tl: &Tl) {
    let side = Side::open(tl, Options::default());
    let cap = side.md_attr.cap;
    let mut buffer = vec![0u8; 8192];
    let mut memh = null_mut();
    let all = UCT_MD_MEM_ACCESS_ALL;
    let got =
        unsafe { md::uct_md_mem_reg(side.md, buffer.as_mut_ptr().cast(), 8192, all, &mut memh) };
    if cap.flags & u64::from(UCT_MD_FLAG_REG) != 0 {
        assert_eq!(got, UCS_OK);
        assert_ne!(cap.reg_mem_types & 1 << UCS_MEMORY_TYPE_HOST, 0);
        let mut packed = vec![0u8; side.md_attr.rkey_packed_size + 1];
        let got = unsafe { rkey::uct_md_mkey_pack(side.md, memh, packed.as_mut_ptr().cast()) };
        if cap.flags & u64::from(UCT_MD_FLAG_NEED_RKEY) != 0 {
            assert_eq!(got, UCS_OK);
        }
        assert_eq!(packed[side.md_attr.rkey_packed_size], 0, "no byte too many");
        assert_eq!(unsafe { md::uct_md_mem_dereg(side.md, memh) }, UCS_OK);
        for (address, length, flags) in [
            (null_mut(), 8192, all),
            (buffer.as_mut_ptr(), 0, all),
            (buffer.as_mut_ptr(), 8192, 0),
        ] {
            let got =
                unsafe { md::uct_md_mem_reg(side.md, address.cast(), length, flags, &mut memh) };
            assert_eq!(
                got, UCS_ERR_INVALID_PARAM,
                "{address:p} {length} {flags:#x}"
            );
        }
    } else {
        assert_eq!(got, UCS_ERR_UNSUPPORTED);
    }
    let allocates = cap.flags & u64::from(UCT_MD_FLAG_ALLOC) != 0;
    assert_eq!(allocates, cap.max_alloc > 0);
    assert_eq!(allocates, cap.alloc_mem_types != 0);
    let methods = [UCT_ALLOC_METHOD_MD];
    let mds = [side.md];
    let params = uct_mem_alloc_params_t {
        field_mask: (UCT_MEM_ALLOC_PARAM_FIELD_MDS | UCT_MEM_ALLOC_PARAM_FIELD_FLAGS).into(),
        flags: all,
        mds: uct_mem_alloc_params_t_mds {
            mds: mds.as_ptr(),
            count: 1,
        },
        ..unsafe { std::mem::zeroed() }
    };
    let mut m: uct_allocated_memory_t = unsafe { std::mem::zeroed() };
    use ferrucx::abi::uct::mem::{uct_mem_alloc, uct_mem_free};
    let got = unsafe { uct_mem_alloc(100_000, methods.as_ptr(), 1, &params, &mut m) };
    if cap.alloc_mem_types & 1 << UCS_MEMORY_TYPE_HOST != 0 {
        assert_eq!(got, UCS_OK);
        assert_eq!(m.method, UCT_ALLOC_METHOD_MD);
        assert!(m.length >= 100_000);
        // Every byte is there.
        unsafe { m.address.cast::<u8>().write_bytes(0x5a, m.length) };
        assert_eq!(unsafe { uct_mem_free(&m) }, UCS_OK);
    } else {
        assert_eq!(got, UCS_ERR_NO_MEMORY);
    }
    let _ = null::<u8>();
}
