//! The lives of simulated processes and their endpoints: made, failed, closed, ended.

use crate::buffer::{Layout, pattern};
use crate::calls::{AM_IDS, Wish, on_am, record, run, send_cb};
use crate::network::{Shape, network};
use crate::world::*;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::ptr::null_mut;
use ferrucx::abi::ucp::am::*;
use ferrucx::abi::ucp::context::{ucp_cleanup, ucp_init_version};
use ferrucx::abi::ucp::ep::*;
use ferrucx::abi::ucp::mem::*;
use ferrucx::abi::ucp::worker::*;
use ferrucx::c::*;
use ferrucx::ucp::request::Req;
use ferrucx::ucp::worker::Worker;
use ferrucx::wire::upstream::Release;
use ferrucx::wire::upstream::address::{Place, put_devices};
use ferrucx::wire::upstream::key::for_tcp_puts;
use std::rc::Rc;

/// The time of the simulation, in nanoseconds: a step is a millisecond.
fn clock() -> u64 {
    network().now.get() * 1_000_000
}

/// Makes a process: context, memory, worker, handlers.
pub fn spawn(w: &World, index: usize, shape: Shape, config: *mut ucp_config_t) -> Rc<Process> {
    network().opening.set((index, shape));
    let features = UCP_FEATURE_TAG
        | UCP_FEATURE_RMA
        | UCP_FEATURE_AMO32
        | UCP_FEATURE_AMO64
        | UCP_FEATURE_STREAM
        | UCP_FEATURE_AM;
    let params = ucp_params_t {
        field_mask: u64::from(UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE),
        features: u64::from(features),
        request_size: w.rng.pick(&[0, 24, 64]),
        // SAFETY: numbers and pointers: zero is a value of each.
        ..unsafe { core::mem::zeroed() }
    };
    let mut context = null_mut();
    let mut worker = null_mut();
    // SAFETY: parameters as masked, out parameters of ours.
    unsafe {
        assert_eq!(
            ucp_init_version(1, 22, &params, config, &mut context),
            UCS_OK
        );
        let params = ucp_worker_params_t {
            field_mask: u64::from(UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT),
            am_alignment: w.rng.pick(&[1, 1, 64]),
            ..core::mem::zeroed()
        };
        assert_eq!(ucp_worker_create(context, &params, &mut worker), UCS_OK);
        (*worker.cast::<Worker>()).failover.set_clock(clock);
    }
    let region = vec![0u64; (CONSTANT + SLOTS + WORDS) / 8].into_boxed_slice();
    let (memh, mut key) = export(context, &region);
    // SAFETY: a live worker, out parameters of ours; the address has this length.
    let address = unsafe {
        let (mut at, mut len) = (null_mut(), 0);
        assert_eq!(ucp_worker_get_address(worker, &mut at, &mut len), UCS_OK);
        let bytes = core::slice::from_raw_parts(at.cast::<u8>(), len).to_vec();
        ucp_worker_release_address(worker, at);
        bytes
    };
    let address = match w.upstream.get() {
        Some(_) => {
            key = for_tcp_puts(Release::Unknown).to_vec();
            // SAFETY: a live worker.
            upstream_address(w, unsafe { &*worker.cast::<Worker>() })
        }
        None => address,
    };
    let process = Rc::new(Process {
        index,
        context,
        worker,
        address,
        region,
        memh,
        key,
        mapped: shape.mapped.then(RefCell::default),
        next_slot: Cell::new(CONSTANT),
        // The first word is the shared counter.
        next_word: Cell::new(CONSTANT + SLOTS + 8),
        kept: RefCell::new(Vec::new()),
        gone: Cell::new(false),
    });
    for i in 0..CONSTANT {
        // SAFETY: inside the region.
        unsafe {
            process
                .base()
                .add(i)
                .write(pattern(process.constant_id(), i))
        };
    }
    for (i, id) in AM_IDS.into_iter().enumerate() {
        let param = ucp_am_handler_param_t {
            field_mask: u64::from(
                UCP_AM_HANDLER_PARAM_FIELD_ID
                    | UCP_AM_HANDLER_PARAM_FIELD_FLAGS
                    | UCP_AM_HANDLER_PARAM_FIELD_CB
                    | UCP_AM_HANDLER_PARAM_FIELD_ARG,
            ),
            id,
            flags: if i == 0 {
                UCP_AM_FLAG_PERSISTENT_DATA
            } else {
                UCP_AM_FLAG_WHOLE_MSG
            },
            cb: Some(on_am),
            arg: Rc::as_ptr(&process).cast_mut().cast(),
        };
        assert_eq!(
            // SAFETY: a live worker; the process is in the ledger until the run ends.
            unsafe { ucp_worker_set_am_recv_handler(worker, &param) },
            UCS_OK
        );
    }
    process
}

/// The address of a worker as upstream would write it, in some releases.
fn upstream_address(w: &World, worker: &Worker) -> Vec<u8> {
    /// Version 1, with a uuid.
    const HEAD: u8 = 0x20;
    /// In a device's second byte: it is the last one. Behind its name a transport has so many bytes of figures.
    const LAST: u8 = 0x80;
    const FIGURES: usize = 18;
    let mut out = vec![HEAD];
    out.extend_from_slice(&worker.uuid.to_le_bytes());
    let mut at = out.len();
    put_devices(&worker.upstream_offers(), Place::Blob, &[], &mut out);
    let release = w.rng.pick(&[None, Some(16), Some(22)]);
    if let Some(release) = release {
        while out[at + 1] & LAST == 0 {
            at += 2 + usize::from(out[at + 1] & 0x1f) + FIGURES;
            at += 1 + usize::from(out[at] & 0x3f);
        }
        out[at + 1] &= !LAST;
        out.extend_from_slice(&[LAST | (release % 16), LAST]);
    }
    out
}

/// Maps `length` bytes of memory.
pub fn map(context: ucp_context_h, address: *mut c_void, length: usize, flags: u32) -> ucp_mem_h {
    let params = ucp_mem_map_params_t {
        field_mask: u64::from(
            UCP_MEM_MAP_PARAM_FIELD_ADDRESS
                | UCP_MEM_MAP_PARAM_FIELD_LENGTH
                | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        ),
        address,
        length,
        flags,
        // SAFETY: numbers and pointers: zero is a value of each.
        ..unsafe { core::mem::zeroed() }
    };
    let mut memh = null_mut();
    // SAFETY: a live context, an out parameter of ours.
    assert_eq!(unsafe { ucp_mem_map(context, &params, &mut memh) }, UCS_OK);
    memh
}

/// Maps a region; the handle and the packed key.
fn export(context: ucp_context_h, region: &[u64]) -> (ucp_mem_h, Vec<u8>) {
    let at = region.as_ptr().cast_mut().cast();
    let memh = map(context, at, size_of_val(region), 0);
    let (mut packed, mut len) = (null_mut(), 0);
    // SAFETY: a live context, out parameters of ours; the key has this length.
    unsafe {
        assert_eq!(ucp_rkey_pack(context, memh, &mut packed, &mut len), UCS_OK);
        let key = core::slice::from_raw_parts(packed.cast::<u8>(), len).to_vec();
        ucp_rkey_buffer_release(packed);
        (memh, key)
    }
}

/// Ends a process in good order, or the remains of a dead one.
pub fn end_process(w: &World, p: &Process) {
    p.gone.set(true);
    let worker: *const Worker = p.worker.cast();
    if !w.net.is_dead(p.index) {
        // SAFETY: a live worker.
        let out = unsafe { (*worker).requests.out().len() };
        let waiting = w.waiting();
        let ours = |op: &&Rc<Op>| op.process == p.index && op.own_request.is_none();
        let stuck = waiting.iter().filter(ours).count();
        w.check(out == stuck, || {
            format!("process {}: {out} requests never came back", p.index)
        });
    }
    // SAFETY: nobody uses it any more; memory before its context.
    unsafe {
        ucp_worker_destroy(p.worker);
        let buffers = p.mapped.as_ref().map(RefCell::take).unwrap_or_default();
        for memh in buffers.into_iter().chain([p.memh]) {
            assert_eq!(ucp_mem_unmap(p.context, memh), UCS_OK);
        }
        ucp_cleanup(p.context);
    }
}

/// Whether a receive has taken a fragmented message whose sender broke off without a word. Nobody can
/// tell it: a receiver needs no endpoint to its sender. It ends with its worker.
pub fn lost_its_sender(w: &World, op: &Op) -> bool {
    let worker: *const Worker = w.process(op.process).worker.cast();
    let request = op.request.get();
    if request.is_null() || !w.disturbed.get() {
        return false;
    }
    // SAFETY: a request that is not free, of a live worker.
    unsafe {
        (*worker)
            .proto
            .reassemblies
            .has_target(Req::from_user(request.cast()))
    }
}

/// Whether the endpoint that sent a message uses failover and still works. One that a handler replied by is no `End`.
pub fn works_with_failover(w: &World, message: &Message) -> bool {
    let ends = w.ends.borrow();
    // A close by force cancels receives of messages of the remote endpoint.
    let cancels = |e: &Rc<End>| e.forced.get() && (e.process, e.peer) == (message.to, message.from);
    let refused = ends.iter().any(cancels);
    ends.get(message.end).is_some_and(|end| {
        let works = end.state.get() == EndState::Open && !end.failed.get();
        let alive = w.is_alive(message.from) && w.is_alive(message.to);
        end.failover && works && alive && !refused
    })
}

/// Whether something waits for the time to pass.
pub fn waits_for_time(w: &World, p: &Process) -> bool {
    // SAFETY: a live worker.
    w.is_alive(p.index) && unsafe { (*p.worker.cast::<Worker>()).failover.tick() }
}

/// Polls a process once.
pub fn progress(w: &World, p: &Process) -> u32 {
    if !w.is_alive(p.index) {
        return 0;
    }
    waits_for_time(w, p);
    if w.failover.get().is_some() {
        // By its interface's first message a process learns another path of its peer.
        // SAFETY: a live worker.
        unsafe { (&*p.worker.cast::<Worker>()).rounds.look_soon() };
    }
    // SAFETY: a live worker.
    unsafe { ucp_worker_progress(p.worker) }
}

/// Opens an endpoint from one process to another.
pub fn connect(w: &World, p: &Process, peer: &Process) -> Rc<End> {
    let failover = w.failover.get().is_some_and(|all| all || w.rng.chance(70));
    let watched = w.upstream.get();
    let watched = watched.unwrap_or_else(|| failover || w.rng.chance(80));
    let end = Rc::new(End {
        number: w.ends.borrow().len(),
        process: p.index,
        peer: peer.index,
        handle: Cell::new(null_mut()),
        state: Cell::new(EndState::Open),
        failed: Cell::new(false),
        forced: Cell::new(false),
        watched,
        failover,
        calls: Cell::new(1),
        next_tag: Cell::new(0),
        key: Cell::new(null_mut()),
        writes: RefCell::new(Vec::new()),
        stream_out: Cell::new(0),
        stream_in: RefCell::new(Vec::new()),
    });
    w.ends.borrow_mut().push(Rc::clone(&end));
    let mut mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_USER_DATA;
    if watched {
        mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    }
    let data: *mut c_void = Rc::as_ptr(&end).cast_mut().cast();
    let params = ucp_ep_params_t {
        field_mask: u64::from(mask),
        address: peer.address.as_ptr().cast_mut().cast(),
        err_mode: match failover {
            true => UCP_ERR_HANDLING_MODE_FAILOVER,
            false => UCP_ERR_HANDLING_MODE_PEER,
        },
        err_handler: ucp_err_handler {
            cb: Some(on_error),
            arg: data,
        },
        user_data: data,
        // SAFETY: numbers and pointers: zero is a value of each.
        ..unsafe { core::mem::zeroed() }
    };
    note!(
        w,
        "end {} from process {} to {}, error handling {watched}, failover {failover}",
        end.number,
        p.index,
        peer.index
    );
    let mut handle = null_mut();
    // SAFETY: a live worker, parameters as masked.
    let status = unsafe { ucp_ep_create(p.worker, &params, &mut handle) };
    end.handle.set(handle);
    end.calls.set(0);
    if status != UCS_OK {
        end.state.set(EndState::Closed);
        w.fault(format!("end {} cannot be made: {status}", end.number));
        return end;
    }
    let mut key = null_mut();
    // SAFETY: a live endpoint, a key of its peer.
    unsafe {
        assert_eq!(
            ucp_ep_rkey_unpack(handle, peer.key.as_ptr().cast(), &mut key),
            UCS_OK
        )
    };
    end.key.set(key);
    end
}

/// An endpoint has failed.
unsafe extern "C" fn on_error(end: *mut c_void, ep: ucp_ep_h, status: ucs_status_t) {
    let w = world();
    // SAFETY: ends are in the ledger until the run ends.
    let number = unsafe { (*end.cast::<End>()).number };
    let end = Rc::clone(&w.ends.borrow()[number]);
    note!(w, "end {} failed: {status}", end.number);
    if w.net.is_dead(end.process) {
        return;
    }
    w.check(!end.failed.replace(true), || {
        format!("end {} was told twice of its failure", end.number)
    });
    w.check(end.state.get() == EndState::Open, || {
        format!("end {} was told of a failure after its close", end.number)
    });
    w.check(end.calls.get() > 0 || ep == end.handle.get(), || {
        format!("end {} was told by another endpoint", end.number)
    });
    w.check(w.disturbed.get() || w.calm_down.get(), || {
        format!(
            "end {} failed with {status} though nothing broke",
            end.number
        )
    });
    if w.rng.chance(40) && end.calls.get() == 0 {
        close(&w, &end, true);
    }
}

/// Closes an endpoint, after a flush or by force.
pub fn close(w: &World, end: &Rc<End>, force: bool) {
    if end.state.get() != EndState::Open || end.calls.get() > 0 {
        return;
    }
    // Without error handling there is no force.
    let force = force && end.watched;
    end.forced.set(force);
    if force && !end.failed.get() {
        w.disturbed.set(true);
    }
    let p = w.process(end.process);
    // SAFETY: a key of this endpoint, destroyed before it.
    unsafe { ucp_rkey_destroy(end.key.get()) };
    end.state.set(EndState::Closing);
    let writes = end.writes.borrow().len();
    let op = record(
        w,
        &p,
        Some(end),
        What::Close { force, writes },
        0,
        Layout::Contig,
    );
    let flags = if force { UCP_EP_CLOSE_FLAG_FORCE } else { 0 };
    let wish = Wish { flags, plain: true };
    run(w, &op, wish, send_cb(), |param, _| {
        // SAFETY: a live endpoint, given up here.
        unsafe { ucp_ep_close_nbx(end.handle.get(), param) }
    });
}

/// An endpoint is closed: nothing on it may be under way.
pub fn closed(w: &World, end: &Rc<End>) {
    let ops = w.ops.borrow().clone();
    for op in ops {
        if op.end.as_ref().is_some_and(|e| e.number == end.number) {
            op.poll();
            w.check(
                op.stage.get() != Stage::Waiting || op.may_outlive(end),
                || {
                    format!(
                        "end {} is closed, but not at its end is {}",
                        end.number,
                        op.name()
                    )
                },
            );
        }
    }
    end.state.set(EndState::Closed);
}

/// The endpoints that a process may use.
pub fn open_ends(w: &World, process: usize) -> Vec<Rc<End>> {
    let ends = w.ends.borrow();
    let usable = |e: &&Rc<End>| {
        e.process == process && e.state.get() == EndState::Open && !e.handle.get().is_null()
    };
    ends.iter().filter(usable).cloned().collect()
}
