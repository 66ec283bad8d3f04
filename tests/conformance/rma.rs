//! Remote memory: put, get and atomics against an oracle in plain memory.

use crate::endpoint::{Bytes, Comp, iov};
use crate::pair::Pair;
use crate::side::{Memory, Options, Tl, pattern};
use crate::test_rng::TestRng;
use ferrucx::c::*;
use std::ffi::c_void;
use std::ptr::null_mut;

const PUTS: u64 = UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY | UCT_IFACE_FLAG_PUT_ZCOPY;

fn entries(local: &Memory, len: usize, parts: usize) -> Vec<uct_iov_t> {
    let step = len.div_ceil(parts).max(1);
    (0..len)
        .step_by(step)
        .map(|at| uct_iov_t {
            buffer: (local.address() + at as u64) as *mut c_void,
            length: step.min(len - at),
            memh: local.memh(),
            stride: 0,
            count: 1,
        })
        .collect()
}

/// Makes what was put visible at the peer.
fn settle(pair: &Pair) {
    let status = pair.complete(|comp| pair.ep.flush(UCT_FLUSH_FLAG_LOCAL, comp));
    assert_eq!(status, UCS_OK, "flush");
}

pub fn put_and_get_match_an_oracle(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap;
    if cap.flags & PUTS == 0 {
        assert_eq!(cap.put.max_short + cap.put.max_bcopy + cap.put.max_zcopy, 0);
        return;
    }
    const LEN: usize = 1 << 17;
    let memory = pair.b().memory(LEN);
    let local = pair.a().memory(LEN);
    let key = pair.a().key(&memory.packed);
    let mut oracle = vec![0u8; LEN];
    let rng = TestRng::new(0x1234_5678);
    let special = [0, 1, 7, 8, 63, 64, 65, 100, 4095, 4096, 65536];
    for round in 0..300u64 {
        let wanted = special[rng.below(special.len())];
        let at = rng.below(LEN - wanted);
        let data = pattern(wanted, round);
        let remote = memory.address() + at as u64;
        let kind = [
            UCT_IFACE_FLAG_PUT_SHORT,
            UCT_IFACE_FLAG_PUT_BCOPY,
            UCT_IFACE_FLAG_PUT_ZCOPY,
        ][rng.below(3)];
        if cap.flags & kind == 0 {
            continue;
        }
        let done = match kind {
            UCT_IFACE_FLAG_PUT_SHORT => {
                let data = &data[..wanted.min(cap.put.max_short)];
                let got = pair.insist(|| pair.ep.put_short(data, remote, key.rkey()));
                assert_eq!(got, 0, "put_short of {}", data.len());
                data.len()
            }
            UCT_IFACE_FLAG_PUT_BCOPY => {
                let data = &data[..wanted.min(cap.put.max_bcopy)];
                let got = pair.insist(|| pair.ep.put_bcopy(data, remote, key.rkey()));
                assert_eq!(got, data.len() as isize);
                data.len()
            }
            _ => {
                let n = wanted.clamp(cap.put.min_zcopy, cap.put.max_zcopy);
                local.fill(&data[..n]);
                let list = entries(&local, n, 1 + rng.below(cap.put.max_iov.min(16)));
                let status =
                    pair.complete(|comp| pair.ep.put_zcopy(&list, remote, key.rkey(), comp));
                assert_eq!(status, UCS_OK, "put_zcopy of {n}");
                n
            }
        };
        oracle[at..at + done].copy_from_slice(&data[..done]);
        if round % 16 == 0 {
            settle(&pair);
            pair.until(|| memory.bytes() == oracle);
        }
    }
    settle(&pair);
    pair.until(|| memory.bytes() == oracle);
    gets(&pair, &memory, &local, key.rkey(), &oracle);
}

fn gets(pair: &Pair, memory: &Memory, local: &Memory, rkey: uct_rkey_t, oracle: &[u8]) {
    let cap = pair.a().attr.cap;
    let special = [0, 1, 7, 8, 63, 64, 100, 4096, 65536];
    let rng = TestRng::new(99);
    for n in special {
        let at = rng.below(oracle.len() - n);
        let remote = memory.address() + at as u64;
        if cap.flags & UCT_IFACE_FLAG_GET_SHORT != 0 && n <= cap.get.max_short {
            let mut got = vec![0u8; n];
            let status = pair.insist(|| pair.ep.get_short(&mut got, remote, rkey));
            assert_eq!(status, 0);
            assert_eq!(got, oracle[at..at + n]);
        }
        if cap.flags & UCT_IFACE_FLAG_GET_BCOPY != 0 && n <= cap.get.max_bcopy {
            let mut got = vec![0u8; n];
            let mut arg = Bytes {
                data: got.as_mut_ptr(),
                len: usize::MAX,
            };
            let status = pair.complete(|comp| pair.ep.get_bcopy(&mut arg, n, remote, rkey, comp));
            assert_eq!(status, UCS_OK);
            assert_eq!(arg.len, n);
            assert_eq!(got, oracle[at..at + n]);
        }
        if cap.flags & UCT_IFACE_FLAG_GET_ZCOPY != 0 && n >= cap.get.min_zcopy {
            local.fill(&vec![0xcc; n + 8]);
            for parts in [1, cap.get.max_iov.min(3), cap.get.max_iov] {
                let list = entries(local, n, parts);
                let status = pair.complete(|comp| pair.ep.get_zcopy(&list, remote, rkey, comp));
                assert_eq!(status, UCS_OK, "get_zcopy of {n} in {parts}");
                let got = local.bytes();
                assert_eq!(got[..n], oracle[at..at + n]);
                assert!(got[n..n + 8].iter().all(|&b| b == 0xcc), "no byte too many");
            }
        }
    }
}

pub fn memory_limits_hold(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap;
    let memory = pair.b().memory(4096);
    let key = pair.a().key(&memory.packed);
    let bad = UCS_ERR_INVALID_PARAM;
    let data = [1u8; 64];
    let put = |list: &[uct_iov_t]| {
        pair.insist(|| {
            pair.ep
                .put_zcopy(list, memory.address(), key.rkey(), null_mut())
        }) as i8
    };
    let get = |list: &[uct_iov_t]| {
        pair.insist(|| {
            pair.ep
                .get_zcopy(list, memory.address(), key.rkey(), null_mut())
        }) as i8
    };
    let mut holes = [iov(&data, null_mut())];
    holes[0].buffer = null_mut();
    let mut huge = [iov(&data, null_mut()), iov(&data, null_mut())];
    huge[0].length = usize::MAX - 8;
    if cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY != 0 {
        assert_eq!(
            put(&vec![iov(&data[..1], null_mut()); cap.put.max_iov + 1]),
            bad
        );
        assert_eq!(put(&holes), bad, "a block without an address");
        assert_eq!(put(&huge), bad, "lengths that overflow");
    }
    if cap.flags & UCT_IFACE_FLAG_GET_ZCOPY != 0 {
        assert_eq!(
            get(&vec![iov(&data[..1], null_mut()); cap.get.max_iov + 1]),
            bad
        );
        assert_eq!(get(&holes), bad, "a block without an address");
        assert_eq!(get(&huge), bad, "lengths that overflow");
    }
    if cap.flags & UCT_IFACE_FLAG_PUT_SHORT != 0 && cap.put.max_short < 1 << 20 {
        let over = vec![0u8; cap.put.max_short + 1];
        let got = pair.insist(|| pair.ep.put_short(&over, memory.address(), key.rkey()));
        assert_eq!(got, bad as isize);
    }
    if cap.flags & UCT_IFACE_FLAG_PUT_BCOPY != 0 {
        let op = pair.a().ops().ep_put_bcopy.unwrap();
        let got = unsafe { op(pair.ep.0, None, null_mut(), memory.address(), key.rkey()) };
        assert_eq!(got, bad as isize, "no pack callback");
    }
    if cap.flags & UCT_IFACE_FLAG_GET_BCOPY != 0 {
        let op = pair.a().ops().ep_get_bcopy.unwrap();
        let (remote, rkey) = (memory.address(), key.rkey());
        let got = unsafe { op(pair.ep.0, None, null_mut(), 8, remote, rkey, null_mut()) };
        assert_eq!(got, bad, "no unpack callback");
    }
    for _ in 0..100 {
        pair.progress();
    }
    assert!(
        memory.bytes().iter().all(|&b| b == 0),
        "nothing was written"
    );
}

/// What operation `op` makes of `old`.
fn apply(op: u32, old: u64, value: u64) -> u64 {
    match op {
        UCT_ATOMIC_OP_ADD => old.wrapping_add(value),
        UCT_ATOMIC_OP_AND => old & value,
        UCT_ATOMIC_OP_OR => old | value,
        UCT_ATOMIC_OP_XOR => old ^ value,
        _ => value,
    }
}

pub fn atomics_match_an_oracle(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap;
    let memory = pair.b().memory(64);
    let key = pair.a().key(&memory.packed);
    let rkey = key.rkey();
    let mut words = [0u64; 8];
    let rng = TestRng::new(4711);
    let mut done = 0;
    for round in 0..2000u64 {
        let at = rng.below(8);
        let remote = memory.address() + 8 * at as u64;
        let value = u64::from_ne_bytes(pattern(8, round).try_into().unwrap());
        let op = rng.below(UCT_ATOMIC_OP_LAST as usize) as u32;
        let bit = 1u64 << op;
        let old = words[at];
        let low = |old: u64, new: u32| (old & !0xffff_ffff) | u64::from(new);
        match rng.below(4) {
            0 if cap.atomic64.op_flags & bit != 0 => {
                assert_eq!(pair.insist(|| pair.ep.post64(op, value, remote, rkey)), 0);
                words[at] = apply(op, old, value);
            }
            1 if cap.atomic32.op_flags & bit != 0 => {
                let got = pair.insist(|| pair.ep.post32(op, value as u32, remote, rkey));
                assert_eq!(got, 0);
                words[at] = low(old, apply(op, old, value) as u32);
            }
            2 if cap.atomic64.fop_flags & bit != 0 => {
                let mut result = !old;
                // Half of the swaps compare equal.
                let compare = if round % 2 == 0 { old } else { value };
                let status = pair.complete(|comp| match op {
                    UCT_ATOMIC_OP_CSWAP => {
                        pair.ep
                            .cswap64((compare, value), &mut result, remote, rkey, comp)
                    }
                    _ => pair.ep.fetch64(op, value, &mut result, remote, rkey, comp),
                });
                assert_eq!((status, result), (UCS_OK, old), "fetch64 {op}");
                if op != UCT_ATOMIC_OP_CSWAP || compare == old {
                    words[at] = apply(op, old, value);
                }
            }
            3 if cap.atomic32.fop_flags & bit != 0 => {
                let (old32, value32) = (old as u32, value as u32);
                let mut result = !old32;
                let compare = if round % 2 == 0 { old32 } else { value32 };
                let status = pair.complete(|comp| match op {
                    UCT_ATOMIC_OP_CSWAP => {
                        pair.ep
                            .cswap32((compare, value32), &mut result, remote, rkey, comp)
                    }
                    _ => pair
                        .ep
                        .fetch32(op, value32, &mut result, remote, rkey, comp),
                });
                assert_eq!((status, result), (UCS_OK, old32), "fetch32 {op}");
                if op != UCT_ATOMIC_OP_CSWAP || compare == old32 {
                    words[at] = low(old, apply(op, old32.into(), value32.into()) as u32);
                }
            }
            _ => continue,
        }
        done += 1;
    }
    settle(&pair);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    assert_eq!(memory.bytes(), bytes);
    let atomics = cap.atomic64.op_flags | cap.atomic64.fop_flags;
    assert_eq!(done > 0, atomics != 0, "every advertised atomic was tried");
}

pub fn misaligned_atomics_are_refused(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap;
    let memory = pair.b().memory(64);
    let key = pair.a().key(&memory.packed);
    let refused = |s: i8| {
        assert!(
            [
                UCS_ERR_INVALID_ADDR,
                UCS_ERR_INVALID_PARAM,
                UCS_ERR_UNSUPPORTED
            ]
            .contains(&s),
            "{s}"
        );
    };
    let remote = memory.address() + 1;
    let rkey = key.rkey();
    refused(pair.ep.post64(UCT_ATOMIC_OP_ADD, 1, remote, rkey));
    refused(pair.ep.post32(UCT_ATOMIC_OP_ADD, 1, remote, rkey));
    refused(
        pair.ep
            .fetch64(UCT_ATOMIC_OP_ADD, 1, &mut 0, remote, rkey, null_mut()),
    );
    refused(pair.ep.cswap32((0, 1), &mut 0, remote, rkey, null_mut()));
    refused(
        pair.ep
            .post64(UCT_ATOMIC_OP_LAST + 7, 1, memory.address(), rkey),
    );
    if cap.atomic64.fop_flags != 0 {
        let op = pair.a().ops().ep_atomic64_fetch.unwrap();
        let got = unsafe {
            op(
                pair.ep.0,
                UCT_ATOMIC_OP_ADD,
                1,
                null_mut(),
                memory.address(),
                rkey,
                null_mut(),
            )
        };
        assert_eq!(got, UCS_ERR_INVALID_PARAM, "no place for the result");
    }
    assert!(memory.bytes().iter().all(|&b| b == 0));
}

pub fn rkey_ptr_reaches_the_memory(tl: &Tl) {
    let pair = Pair::new(tl);
    let memory = pair.b().memory(8192);
    let mut key = pair.a().key(&memory.packed);
    let at = key.ptr(memory.address() + 100);
    if pair.a().md_attr.cap.flags & u64::from(UCT_MD_FLAG_RKEY_PTR) == 0 {
        assert_eq!(at, Err(UCS_ERR_UNSUPPORTED));
        return;
    }
    let at = at.expect("mapped");
    unsafe { at.write(0x42) };
    assert_eq!(memory.bytes()[100], 0x42);
    memory.fill(&[9; 200]);
    assert_eq!(unsafe { at.read() }, 9);
}

/// Whether keys say something: `self` has keys of no bytes, which open the process's own memory.
fn has_keys(pair: &Pair) -> bool {
    let attr = &pair.a().md_attr;
    attr.cap.flags & u64::from(UCT_MD_FLAG_NEED_RKEY) != 0 && attr.rkey_packed_size > 0
}

/// A key opens what it was packed for, and no byte beside it.
pub fn ranges_of_keys_hold(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap;
    let memory = pair.b().memory(4096);
    let key = pair.a().key(&memory.packed);
    if !has_keys(&pair) {
        // Without keys an address is all there is; nothing knows its range.
        assert_eq!(memory.packed.len(), 0);
        return;
    }
    if device_checks(&pair) {
        return ranges_that_a_device_checks(tl);
    }
    let whole = memory.whole();
    let (begin, end) = (memory.address(), memory.address() + whole as u64);
    let rkey = key.rkey();
    let wrong = [
        begin - 1,
        begin - 64,
        begin - (1 << 20),
        end - 63,
        end,
        end + (1 << 20),
        0,
        u64::MAX,
        u64::MAX - 63,
    ];
    let refused = |s: isize, what: &str, at: u64| {
        assert!(
            s < 0 && s != UCS_ERR_NO_RESOURCE as isize,
            "{what} at {at:#x} of {begin:#x}..{end:#x}: {s}"
        );
    };
    let data = [0xddu8; 64];
    for at in wrong {
        if cap.flags & UCT_IFACE_FLAG_PUT_SHORT != 0 {
            refused(
                pair.insist(|| pair.ep.put_short(&data, at, rkey)),
                "put_short",
                at,
            );
        }
        if cap.flags & UCT_IFACE_FLAG_GET_BCOPY != 0 {
            let mut room = [0u8; 64];
            let mut arg = Bytes {
                data: room.as_mut_ptr(),
                len: 0,
            };
            let got = pair.insist(|| pair.ep.get_bcopy(&mut arg, 64, at, rkey, null_mut()));
            refused(got, "get_bcopy", at);
        }
        if cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY != 0 {
            let list = [iov(&data, null_mut())];
            let got = pair.complete(|comp| pair.ep.put_zcopy(&list, at, rkey, comp));
            refused(got.into(), "put_zcopy", at);
        }
        let word = at & !7;
        if cap.atomic64.op_flags != 0 && !(begin..end).contains(&word) {
            let got = pair.ep.post64(UCT_ATOMIC_OP_ADD, 1, word, rkey);
            refused(got.into(), "post64", word);
        }
    }
    // Lengths that carry a good address past the end.
    if cap.flags & UCT_IFACE_FLAG_GET_BCOPY != 0 {
        for len in [whole + 1, usize::MAX, usize::MAX / 2] {
            let mut arg = Bytes {
                data: null_mut(),
                len: 0,
            };
            let got = pair.insist(|| pair.ep.get_bcopy(&mut arg, len, begin, rkey, null_mut()));
            refused(got, "get_bcopy", begin);
        }
    }
    // The edges themselves are inside.
    if cap.flags & UCT_IFACE_FLAG_PUT_SHORT != 0 {
        for at in [begin, end - 64] {
            assert_eq!(pair.insist(|| pair.ep.put_short(&[0; 64], at, rkey)), 0);
        }
    }
    assert!(memory.bytes().iter().all(|&b| b == 0));
}

/// Whether the peer's adapter checks ranges, which the sender hears of later: it ends the connection.
fn device_checks(pair: &Pair) -> bool {
    pair.a().can(UCT_IFACE_FLAG_ATOMIC_DEVICE)
}

fn ranges_that_a_device_checks(tl: &Tl) {
    let data = [0xddu8; 64];
    for kind in 0..4 {
        for wrong in 0..4 {
            let options = Options {
                failures: true,
                ..Options::default()
            };
            let pair = Pair::with(tl, options);
            let memory = pair.b().memory(4096);
            let local = pair.a().memory(64);
            let key = pair.a().key(&memory.packed);
            let (begin, end) = (memory.address(), memory.address() + memory.whole() as u64);
            let at = [begin - 64, end - 56, end, 0][wrong];
            let rkey = key.rkey();
            let list = entries(&local, 64, 1);
            let comp = Comp::new(1);
            let mut room = [0u8; 64];
            let mut arg = Bytes {
                data: room.as_mut_ptr(),
                len: 1000,
            };
            let posted = pair.insist(|| match kind {
                0 => pair.ep.put_short(&data, at, rkey),
                1 => pair.ep.put_zcopy(&list, at, rkey, comp.ptr()),
                2 => pair.ep.get_bcopy(&mut arg, 64, at, rkey, comp.ptr()),
                _ => pair.ep.post64(UCT_ATOMIC_OP_ADD, 1, at.max(end) & !7, rkey),
            }) as i8;
            assert!([UCS_OK, UCS_INPROGRESS].contains(&posted), "{posted}");
            let flushed = pair.complete(|comp| pair.ep.flush(UCT_FLUSH_FLAG_LOCAL, comp));
            assert_eq!(flushed, UCS_ERR_CONNECTION_RESET, "{kind} at {at:#x}");
            assert_eq!(comp.calls(), u32::from(posted == UCS_INPROGRESS));
            if posted == UCS_INPROGRESS {
                assert_eq!(comp.status(), UCS_ERR_CONNECTION_RESET);
            }
            assert_eq!(arg.len, 1000, "nothing is unpacked");
            assert_eq!(pair.a().failures.0.borrow().len(), 1, "told once");
            let got = pair.ep.put_short(&data, begin, rkey);
            assert_eq!(got, UCS_ERR_CONNECTION_RESET, "the endpoint has failed");
            assert!(memory.bytes().iter().all(|&b| b == 0));
        }
    }
    // The edges themselves are inside.
    let pair = Pair::new(tl);
    let memory = pair.b().memory(4096);
    let key = pair.a().key(&memory.packed);
    for at in [
        memory.address(),
        memory.address() + memory.whole() as u64 - 64,
    ] {
        assert_eq!(pair.insist(|| pair.ep.put_short(&data, at, key.rkey())), 0);
    }
    settle(&pair);
    assert_eq!(memory.bytes()[..64], data);
    // More than a copy holds is refused at once.
    for len in [
        usize::MAX,
        usize::MAX / 2,
        pair.a().attr.cap.get.max_bcopy + 1,
    ] {
        let mut arg = Bytes {
            data: null_mut(),
            len: 0,
        };
        let (remote, rkey) = (memory.address(), key.rkey());
        let got = pair.insist(|| pair.ep.get_bcopy(&mut arg, len, remote, rkey, null_mut()));
        assert_eq!(got, UCS_ERR_INVALID_PARAM as isize);
    }
}

/// Bytes that are no key are refused, or a key that opens no more than the true one.
pub fn damaged_keys_are_refused(tl: &Tl) {
    let pair = Pair::new(tl);
    if !has_keys(&pair) {
        assert_eq!(pair.a().md_attr.rkey_packed_size, 0);
        return;
    }
    let memory = pair.b().memory(4096);
    let rng = TestRng::new(8);
    for round in 0..400 {
        let mut packed = memory.packed.clone();
        match round {
            0 => packed.fill(0),
            1 => packed.fill(0xff),
            _ if round < 100 => packed.iter_mut().for_each(|b| *b = rng.below(256) as u8),
            _ => {
                let bit = rng.below(packed.len() * 8);
                packed[bit / 8] ^= 1 << (bit % 8);
            }
        }
        match pair.a().try_key(&packed) {
            Err(status) => assert!(status < 0),
            Ok(key) => {
                // Accepted: using it must still be safe.
                if pair.a().can(UCT_IFACE_FLAG_PUT_SHORT) {
                    pair.ep.put_short(&[0; 8], memory.address(), key.rkey());
                }
            }
        }
    }
    // The true key still works after all that.
    let key = pair.a().key(&memory.packed);
    if pair.a().can(UCT_IFACE_FLAG_PUT_SHORT) {
        let put = || pair.ep.put_short(&[7; 8], memory.address(), key.rkey());
        assert_eq!(pair.insist(put), 0);
        pair.until(|| memory.bytes()[..8] == [7; 8]);
    }
}

/// Transfers of many segments: two endpoints, flushes in between, one cancelled.
pub fn long_transfers_are_cut_and_flushed(tl: &Tl) {
    let pair = Pair::new(tl);
    let cap = pair.a().attr.cap;
    if cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY == 0 {
        assert_eq!(cap.put.max_zcopy, 0);
        return;
    }
    const LEN: usize = 3_000_001;
    let n = LEN.min(cap.put.max_zcopy);
    let memory = pair.b().memory(2 * n);
    let key = pair.a().key(&memory.packed);
    let local = pair.a().memory(n);
    let data = pattern(n, 3);
    local.fill(&data);
    let second = (!pair.connected_by_ep()).then(|| pair.a().connect(&pair.b().address()));
    let eps = [&pair.ep, second.as_ref().unwrap_or(&pair.ep)];
    let list = entries(&local, n, cap.put.max_iov.min(3));
    let comps = [Comp::new(1), Comp::new(1)];
    let mut posted = 0;
    for (i, ep) in eps.iter().enumerate() {
        let (comp, remote) = (comps[i].ptr(), memory.address() + (i * n) as u64);
        match pair.insist(|| ep.put_zcopy(&list, remote, key.rkey(), comp)) as i8 {
            UCS_INPROGRESS => posted += 1,
            s => assert_eq!(s, UCS_OK),
        }
    }
    let flushed = Comp::new(3);
    let flush = flushed.ptr();
    let mut waits = 0;
    for ep in eps {
        match pair.insist(|| ep.flush(UCT_FLUSH_FLAG_LOCAL, flush)) as i8 {
            UCS_INPROGRESS => waits += 1,
            s => assert_eq!(s, UCS_OK),
        }
    }
    pair.until(|| flushed.count() == 3 - waits);
    let done = comps.iter().filter(|c| c.calls() == 1).count();
    assert_eq!(done, posted, "a flush completes after what went before");
    assert!(comps.iter().all(|c| c.status() == UCS_OK));
    pair.until(|| memory.bytes()[..n] == data[..]);
    pair.until(|| memory.bytes()[n..2 * n] == data[..]);
    // What is cancelled is completed all the same.
    let comp = Comp::new(1);
    let ptr = comp.ptr();
    let put = pair.insist(|| pair.ep.put_zcopy(&list, memory.address(), key.rkey(), ptr)) as i8;
    let status = pair.complete(|c| pair.ep.flush(UCT_FLUSH_FLAG_CANCEL, c));
    assert!([UCS_OK, UCS_ERR_CANCELED].contains(&status));
    if put == UCS_INPROGRESS {
        pair.until(|| comp.calls() == 1);
        assert!([UCS_OK, UCS_ERR_CANCELED].contains(&comp.status()));
    }
}
