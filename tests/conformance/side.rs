//! One end of a conversation: a worker with an interface on it, its inbox, its memory and keys. Handles are
//! made here and closed on drop, so that every call of a test is on live handles.

use crate::endpoint::Ep;
use crate::test_rng::TestRng;
use ferrucx::abi::uct::{component, config, ep, iface, md, mem, rkey, worker};
use ferrucx::c::*;
use ferrucx::ucs::async_ctx::{AsyncContext, Mode};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// A transport under test.
pub struct Tl {
    pub component: &'static str,
    pub transport: &'static str,
    pub device: &'static str,
    /// With a shared secret (tcp).
    pub security: Security,
}

/// What the variables `UCX_TCP_AUTH_FILE` and `UCX_TCP_ENCRYPT` say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    Off,
    Proof,
    Encryption,
}

/// The device of the other end of pairs, where it is not the same.
pub const FAR: &str = "FERRUCX_CONFORMANCE_FAR";

impl Tl {
    /// What the other end of a pair uses.
    pub fn far(&self) -> Tl {
        let device = match std::env::var(FAR) {
            Ok(name) => name.leak(),
            Err(_) => self.device,
        };
        Tl { device, ..*self }
    }

    /// As another process is told of it.
    pub fn words(&self) -> String {
        let Tl {
            component,
            transport,
            device,
            security,
        } = self;
        format!("{component} {transport} {device} {security:?}")
    }
}

impl Security {
    /// Of the last of `Tl::words`.
    pub fn of(word: &str) -> Security {
        let all = [Security::Off, Security::Proof, Security::Encryption];
        let found = all.into_iter().find(|s| format!("{s:?}") == word);
        found.expect("a security")
    }

    /// Makes the configuration of a memory domain say so.
    fn apply(self, config: *mut c_void) {
        if self == Security::Off {
            return;
        }
        let encrypt = if self == Security::Encryption {
            "y"
        } else {
            "n"
        };
        let path = secret_file();
        for (name, value) in [("AUTH_FILE", path), ("ENCRYPT", encrypt)] {
            let (name, value) = (c(name), c(value));
            let set = unsafe { config::uct_config_modify(config, name.as_ptr(), value.as_ptr()) };
            ok(set, "modify the configuration");
        }
    }
}

/// A file with a secret, the same for all processes of a test run.
fn secret_file() -> &'static str {
    use std::os::unix::fs::OpenOptionsExt;
    static MADE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    MADE.get_or_init(|| {
        let path = format!("{}/conformance-secret", env!("CARGO_TARGET_TMPDIR"));
        // Complete before it has its name: another process may read it meanwhile.
        let mine = format!("{path}-{}", std::process::id());
        let content = "the secret of the conformance suite";
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let written = options
            .open(&mine)
            .and_then(|mut file| std::io::Write::write_all(&mut file, content.as_bytes()))
            .and_then(|()| std::fs::rename(&mine, &path));
        written.expect("write the secret");
        path
    })
}

/// How long anything may take before it counts as hung.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A number of a row of tests/torture, TORTURE_COUNT or TORTURE_SEED; without one, what the suite takes.
pub fn torture(name: &str, otherwise: usize) -> usize {
    let set = std::env::var(name).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Runs a test; ends the process when it hangs, since a thread cannot be stopped.
pub fn watched(test: impl FnOnce()) {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    std::thread::spawn(move || {
        let longer = Duration::from_millis(2 * torture("TORTURE_COUNT", 0) as u64);
        if wait.recv_timeout(PATIENCE * 6 + longer)
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            eprintln!("{name} hangs");
            std::process::abort();
        }
    });
    test();
    drop(done);
}

/// One received active message.
pub struct Msg {
    pub id: u8,
    pub data: Vec<u8>,
    /// Where the payload stood.
    pub at: *mut u8,
    /// What `uct_iface_release_desc` takes, when the message was kept.
    pub kept: Option<*mut c_void>,
}

/// What the handlers of an interface saw.
#[derive(Default)]
pub struct Inbox {
    pub messages: RefCell<Vec<Msg>>,
    /// Keep descriptors that may be kept.
    pub keep: Cell<bool>,
    headroom: Cell<usize>,
}

struct Slot {
    inbox: *const Inbox,
    id: u8,
}

unsafe extern "C" fn record(arg: *mut c_void, data: *mut c_void, len: usize, flags: u32) -> i8 {
    let slot = unsafe { &*arg.cast::<Slot>() };
    let inbox = unsafe { &*slot.inbox };
    let copy = if len == 0 {
        Vec::new()
    } else {
        unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }.to_vec()
    };
    let keep = inbox.keep.get() && flags & UCT_CB_PARAM_FLAG_DESC != 0;
    inbox.messages.borrow_mut().push(Msg {
        id: slot.id,
        data: copy,
        at: data.cast(),
        kept: keep.then(|| data.wrapping_byte_sub(inbox.headroom.get())),
    });
    if keep { UCS_INPROGRESS } else { UCS_OK }
}

/// What the inline `uct_iface_release_desc` does.
pub fn release_desc(desc: *mut c_void) {
    unsafe {
        let release = desc.cast::<*mut uct_recv_desc_t>().sub(1).read_unaligned();
        ((*release).cb.unwrap())(release, desc);
    }
}

/// What an interface is opened with.
#[derive(Clone, Copy, Default)]
pub struct Options {
    pub headroom: usize,
    /// Alignment and offset.
    pub alignment: Option<(usize, usize)>,
    pub failures: bool,
}

/// Failures the error handler saw.
#[derive(Default)]
pub struct Failures(pub RefCell<Vec<(uct_ep_h, i8, Instant)>>);

unsafe extern "C" fn failed(arg: *mut c_void, ep: uct_ep_h, status: i8) -> i8 {
    let failures = unsafe { &*arg.cast::<Failures>() };
    failures.0.borrow_mut().push((ep, status, Instant::now()));
    UCS_OK
}

/// A worker, a memory domain and an interface.
pub struct Side {
    pub component: uct_component_h,
    pub md: uct_md_h,
    pub md_attr: uct_md_attr_t,
    pub worker: uct_worker_h,
    pub iface: uct_iface_h,
    pub attr: uct_iface_attr_t,
    pub inbox: Box<Inbox>,
    pub failures: Box<Failures>,
    slots: Vec<Slot>,
    context: Box<[usize; 64]>,
}

fn c(s: &str) -> CString {
    CString::new(s).unwrap()
}

pub fn ok(status: i8, what: &str) {
    assert_eq!(status, UCS_OK, "{what}");
}

pub fn find_component(name: &str) -> uct_component_h {
    let (mut list, mut count) = (null_mut(), 0);
    unsafe {
        ok(
            component::uct_query_components(&mut list, &mut count),
            "query components",
        );
        let mut found = null_mut();
        for i in 0..count as usize {
            let mut attr: uct_component_attr = std::mem::zeroed();
            attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME.into();
            let h = *list.add(i);
            ok(
                component::uct_component_query(h, &mut attr),
                "query component",
            );
            if std::ffi::CStr::from_ptr(attr.name.as_ptr()).to_str() == Ok(name) {
                found = h;
            }
        }
        component::uct_release_component_list(list);
        assert!(!found.is_null(), "no component {name}");
        found
    }
}

impl Side {
    pub fn open(tl: &Tl, options: Options) -> Side {
        let component = find_component(tl.component);
        let mut context = Box::new([0usize; 64]);
        context[0] = AsyncContext::new(Mode::ThreadSpinlock).into_raw();
        let inbox = Box::<Inbox>::default();
        inbox.headroom.set(options.headroom);
        let failures = Box::<Failures>::default();
        let (mut md, mut worker, mut iface) = (null_mut(), null_mut(), null_mut());
        unsafe {
            let mut cfg = null_mut();
            ok(
                config::uct_md_config_read(component, null(), null(), &mut cfg),
                "md config",
            );
            tl.security.apply(cfg.cast());
            let mut names = uct_component_attr {
                field_mask: UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT.into(),
                ..std::mem::zeroed()
            };
            ok(
                component::uct_component_query(component, &mut names),
                "count",
            );
            assert!(
                names.md_resource_count > 0,
                "{} has no memory domain here",
                tl.component
            );
            let mut resources: Vec<uct_md_resource_desc_t> =
                vec![std::mem::zeroed(); names.md_resource_count as usize];
            names.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES.into();
            names.md_resources = resources.as_mut_ptr();
            ok(
                component::uct_component_query(component, &mut names),
                "names",
            );
            // A domain is named like its device, or there is one for all devices.
            let of_device = |resource: &&uct_md_resource_desc_t| {
                tl.device.split(':').next()
                    == CStr::from_ptr(resource.md_name.as_ptr()).to_str().ok()
            };
            let resource = resources.iter().find(of_device).unwrap_or(&resources[0]);
            let name = resource.md_name.as_ptr();
            ok(
                md::uct_md_open(component, name, cfg, &mut md),
                "open memory domain",
            );
            config::uct_config_release(cfg.cast());
            let mut md_attr = std::mem::zeroed();
            ok(md::uct_md_query(md, &mut md_attr), "query memory domain");
            ok(
                worker::uct_worker_create(
                    context.as_mut_ptr().cast(),
                    UCS_THREAD_MODE_SINGLE,
                    &mut worker,
                ),
                "worker",
            );
            let (tl_name, dev_name) = (c(tl.transport), c(tl.device));
            let mut cfg = null_mut();
            ok(
                config::uct_md_iface_config_read(md, tl_name.as_ptr(), null(), null(), &mut cfg),
                "interface config",
            );
            let mut params: uct_iface_params_t = std::mem::zeroed();
            params.field_mask = u64::from(UCT_IFACE_PARAM_FIELD_OPEN_MODE)
                | u64::from(UCT_IFACE_PARAM_FIELD_DEVICE)
                | u64::from(UCT_IFACE_PARAM_FIELD_RX_HEADROOM);
            params.open_mode = u64::from(UCT_IFACE_OPEN_MODE_DEVICE);
            params.mode.device = uct_iface_params_mode_device {
                tl_name: tl_name.as_ptr(),
                dev_name: dev_name.as_ptr(),
            };
            params.rx_headroom = options.headroom;
            if let Some((alignment, offset)) = options.alignment {
                params.field_mask |= u64::from(UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT)
                    | u64::from(UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET);
                params.am_alignment = alignment;
                params.am_align_offset = offset;
            }
            if options.failures {
                params.field_mask |= u64::from(UCT_IFACE_PARAM_FIELD_ERR_HANDLER)
                    | u64::from(UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG)
                    | u64::from(UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS);
                params.err_handler = Some(failed);
                params.err_handler_arg =
                    std::ptr::from_ref::<Failures>(&failures).cast_mut().cast();
            }
            ok(
                iface::uct_iface_open(md, worker, &params, cfg, &mut iface),
                "open interface",
            );
            config::uct_config_release(cfg.cast());
            let mut attr = std::mem::zeroed();
            ok(iface::uct_iface_query(iface, &mut attr), "query interface");
            let mut side = Side {
                component,
                md,
                md_attr,
                worker,
                iface,
                attr,
                inbox,
                failures,
                slots: Vec::new(),
                context,
            };
            let inbox: *const Inbox = &*side.inbox;
            side.slots = (0..UCT_AM_ID_MAX as u8)
                .map(|id| Slot { inbox, id })
                .collect();
            side.record_all();
            side.progress_enable();
            side
        }
    }

    /// Sets the recording handler for every id.
    pub fn record_all(&self) {
        if !self.can(UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_AM_ZCOPY) {
            return;
        }
        for (id, slot) in self.slots.iter().enumerate() {
            let arg = std::ptr::from_ref(slot).cast_mut().cast();
            let set = unsafe {
                iface::uct_iface_set_am_handler(self.iface, id as u8, Some(record), arg, 0)
            };
            ok(set, "set handler");
        }
    }

    /// The argument of the recording handler of `id`.
    pub fn record_arg(&self, id: u8) -> *mut c_void {
        std::ptr::from_ref(&self.slots[id as usize])
            .cast_mut()
            .cast()
    }

    pub const RECORD: uct_am_callback_t = Some(record);

    /// Whether any of `flags` is advertised.
    pub fn can(&self, flags: u64) -> bool {
        self.attr.cap.flags & flags != 0
    }

    pub fn ops(&self) -> &uct_iface_ops {
        unsafe { &(*self.iface).ops }
    }

    pub fn progress_enable(&self) {
        unsafe {
            (self.ops().iface_progress_enable.unwrap())(
                self.iface,
                UCT_PROGRESS_SEND | UCT_PROGRESS_RECV,
            )
        }
    }

    pub fn progress_disable(&self) {
        unsafe {
            (self.ops().iface_progress_disable.unwrap())(
                self.iface,
                UCT_PROGRESS_SEND | UCT_PROGRESS_RECV,
            )
        }
    }

    /// What the inline `uct_worker_progress` does: the dispatcher stands at the worker's first bytes.
    pub fn progress(&self) -> u32 {
        unsafe { ferrucx::uct::base::worker::WorkerHandle::from_c(self.worker) }
            .unwrap()
            .progress()
    }

    /// Device and interface address.
    pub fn address(&self) -> (Vec<u8>, Vec<u8>) {
        // Guard bytes show writes past the promised length.
        const GUARD: usize = 16;
        let mut device = vec![0xa5; self.attr.device_addr_len + GUARD];
        let mut face = vec![0xa5; self.attr.iface_addr_len + GUARD];
        unsafe {
            ok(
                iface::uct_iface_get_device_address(self.iface, device.as_mut_ptr().cast()),
                "device address",
            );
            if self.can(UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
                ok(
                    iface::uct_iface_get_address(self.iface, face.as_mut_ptr().cast()),
                    "interface address",
                );
            }
        }
        assert!(
            device[self.attr.device_addr_len..]
                .iter()
                .all(|&b| b == 0xa5)
        );
        assert!(face[self.attr.iface_addr_len..].iter().all(|&b| b == 0xa5));
        device.truncate(self.attr.device_addr_len);
        face.truncate(self.attr.iface_addr_len);
        (device, face)
    }

    pub fn reaches(&self, device: &[u8], face: &[u8]) -> bool {
        unsafe {
            iface::uct_iface_is_reachable(self.iface, device.as_ptr().cast(), face.as_ptr().cast())
                != 0
        }
    }

    /// Creates an endpoint; null addresses are those of `connect_to_ep`.
    pub fn try_connect(&self, device: *const u8, face: *const u8) -> Result<uct_ep_h, i8> {
        let mut params: uct_ep_params_t = unsafe { std::mem::zeroed() };
        params.field_mask = UCT_EP_PARAM_FIELD_IFACE.into();
        params.iface = self.iface;
        if !face.is_null() {
            params.field_mask |=
                u64::from(UCT_EP_PARAM_FIELD_DEV_ADDR) | u64::from(UCT_EP_PARAM_FIELD_IFACE_ADDR);
            params.dev_addr = device.cast();
            params.iface_addr = face.cast();
        }
        let mut h = null_mut();
        match unsafe { ep::uct_ep_create(&params, &mut h) } {
            UCS_OK => Ok(h),
            e => Err(e),
        }
    }

    /// An endpoint to the interface with this address.
    pub fn connect(&self, (device, face): &(Vec<u8>, Vec<u8>)) -> Ep {
        let h = self
            .try_connect(device.as_ptr(), face.as_ptr())
            .expect("connect to interface");
        Ep(h)
    }

    /// An endpoint that is not connected yet.
    pub fn new_ep(&self) -> Ep {
        Ep(self.try_connect(null(), null()).expect("create"))
    }

    /// Memory that the peer may reach, filled with zeros.
    pub fn memory(&self, len: usize) -> Memory {
        let mut m: uct_allocated_memory_t = unsafe { std::mem::zeroed() };
        let flags = UCT_MD_MEM_ACCESS_ALL;
        let name = c"conformance".as_ptr();
        let allocated = match self.md_attr.cap.alloc_mem_types >> UCS_MEMORY_TYPE_CUDA_MANAGED & 1 {
            0 => unsafe { mem::uct_iface_mem_alloc(self.iface, len, flags, name, &mut m) },
            _ => self.managed(len, &mut m),
        };
        ok(allocated, "allocate memory");
        assert!(m.length >= len);
        unsafe { m.address.cast::<u8>().write_bytes(0, len) };
        let mut packed = vec![0u8; self.md_attr.rkey_packed_size];
        if self.md_attr.cap.flags & u64::from(UCT_MD_FLAG_NEED_RKEY) != 0 {
            ok(
                unsafe { rkey::uct_md_mkey_pack(self.md, m.memh, packed.as_mut_ptr().cast()) },
                "pack a key",
            );
        }
        Memory { m, len, packed }
    }

    /// Memory of a device that this test may touch too.
    fn managed(&self, len: usize, m: &mut uct_allocated_memory_t) -> ucs_status_t {
        let params = uct_mem_alloc_params_t {
            field_mask: u64::from(
                UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE | UCT_MEM_ALLOC_PARAM_FIELD_MDS,
            ),
            mem_type: UCS_MEMORY_TYPE_CUDA_MANAGED,
            mds: uct_mem_alloc_params_t_mds {
                mds: &self.md,
                count: 1,
            },
            ..unsafe { std::mem::zeroed() }
        };
        unsafe { mem::uct_mem_alloc(len, &UCT_ALLOC_METHOD_MD, 1, &params, m) }
    }

    /// Unpacks the key of a peer's memory.
    pub fn key(&self, packed: &[u8]) -> Key {
        self.try_key(packed).expect("unpack a key")
    }

    pub fn try_key(&self, packed: &[u8]) -> Result<Key, i8> {
        let mut bundle = uct_rkey_bundle_t {
            rkey: UCT_INVALID_RKEY,
            handle: null_mut(),
            r#type: null_mut(),
        };
        // Odd alignment: a key travels inside other messages.
        let mut odd = vec![0u8; packed.len() + 9];
        let at = 1 + odd.as_ptr().align_offset(8);
        odd[at..at + packed.len()].copy_from_slice(packed);
        let at = unsafe { odd.as_ptr().add(at) }.cast();
        match unsafe { rkey::uct_rkey_unpack(self.component, at, &mut bundle) } {
            UCS_OK => Ok(Key {
                component: self.component,
                bundle,
            }),
            e => Err(e),
        }
    }

    /// Releases every descriptor the inbox kept, by `order` of their indices.
    pub fn release_kept(&self, order: impl Iterator<Item = usize>) {
        let kept: Vec<*mut c_void> = {
            let mut messages = self.inbox.messages.borrow_mut();
            order.filter_map(|i| messages[i].kept.take()).collect()
        };
        kept.into_iter().for_each(release_desc);
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let count = self.inbox.messages.borrow().len();
        self.release_kept(0..count);
        unsafe {
            iface::uct_iface_close(self.iface);
            worker::uct_worker_destroy(self.worker);
            md::uct_md_close(self.md);
            drop(AsyncContext::from_raw(self.context[0]));
        }
    }
}

/// Memory of `uct_iface_mem_alloc` and its packed key.
pub struct Memory {
    m: uct_allocated_memory_t,
    pub len: usize,
    pub packed: Vec<u8>,
}

impl Memory {
    pub fn address(&self) -> u64 {
        self.m.address as u64
    }

    /// Bytes that were really allocated.
    pub fn whole(&self) -> usize {
        self.m.length
    }

    pub fn memh(&self) -> uct_mem_h {
        self.m.memh
    }

    pub fn bytes(&self) -> Vec<u8> {
        (0..self.len)
            .map(|i| unsafe { self.m.address.cast::<u8>().add(i).read_volatile() })
            .collect()
    }

    pub fn fill(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.len);
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.m.address.cast(), bytes.len())
        };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Memory of either allocation is freed by its method.
        unsafe { mem::uct_iface_mem_free(&self.m) };
    }
}

/// An unpacked remote key.
pub struct Key {
    component: uct_component_h,
    pub bundle: uct_rkey_bundle_t,
}

impl Key {
    pub fn rkey(&self) -> uct_rkey_t {
        self.bundle.rkey
    }

    pub fn ptr(&mut self, remote: u64) -> Result<*mut u8, i8> {
        let mut p = null_mut();
        match unsafe { rkey::uct_rkey_ptr(self.component, &mut self.bundle, remote, &mut p) } {
            UCS_OK => Ok(p.cast()),
            e => Err(e),
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        ok(
            unsafe { rkey::uct_rkey_release(self.component, &self.bundle) },
            "release a key",
        );
    }
}

/// Bytes that differ by place and seed.
pub fn pattern(len: usize, seed: u64) -> Vec<u8> {
    TestRng::new(seed).bytes(len)
}
