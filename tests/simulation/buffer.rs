//! Memory that a simulated program hands to the library, in any layout, with guards around every part.
//!
//! A buffer lives as long as the run, so that the library may read or write it too late without harm to
//! the test, and the run notices: what is sent is spoilt when the send has ended, what was received must
//! stay as it was.

use crate::test_rng::TestRng;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use ferrucx::abi::ucp::dt::{ucp_dt_create_generic, ucp_dt_destroy};
use ferrucx::c::*;

const GUARD: usize = 4;
const GUARD_BYTE: u8 = 0xc3;
const SPOILT: u8 = 0xee;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Contig,
    Iov,
    Generic,
}

pub struct Buffer {
    pub len: usize,
    pub layout: Layout,
    memory: UnsafeCell<Vec<u8>>,
    /// The parts, as C describes them.
    parts: Vec<ucp_dt_iov_t>,
    /// States of the generic datatype that were started, and those that are not finished.
    pub started: Cell<u32>,
    pub unfinished: Cell<u32>,
    generic: ucp_datatype_t,
}

/// The byte at `at` of message `id`.
pub fn pattern(id: u64, at: usize) -> u8 {
    let a = (id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    (a ^ at.wrapping_mul(31) ^ at >> 8) as u8
}

impl Buffer {
    pub fn new(rng: &TestRng, len: usize, layout: Layout, generic: ucp_datatype_t) -> Buffer {
        let mut lengths = Vec::new();
        match layout {
            Layout::Iov => {
                let mut left = len;
                for _ in 0..rng.below(5) {
                    let n = rng.below(left + 1);
                    lengths.push(n);
                    left -= n;
                }
                lengths.push(left);
            }
            _ => lengths.push(len),
        }
        let mut memory = vec![GUARD_BYTE; len + GUARD * (lengths.len() + 1)];
        let base = memory.as_mut_ptr();
        let mut at = GUARD;
        let mut parts = Vec::new();
        for length in lengths {
            parts.push(ucp_dt_iov_t {
                buffer: base.wrapping_add(at).cast(),
                length,
            });
            at += length + GUARD;
        }
        let made = Buffer {
            len,
            layout,
            memory: UnsafeCell::new(memory),
            parts,
            started: Cell::new(0),
            unfinished: Cell::new(0),
            generic,
        };
        made.spoil();
        made
    }

    /// Buffer, count and datatype of a call. The buffer must have its final address.
    pub fn argument(&self) -> (*mut c_void, usize, ucp_datatype_t) {
        match self.layout {
            Layout::Contig => (self.parts[0].buffer, self.len, 1 << UCP_DATATYPE_SHIFT),
            Layout::Iov => (
                self.parts.as_ptr().cast_mut().cast(),
                self.parts.len(),
                u64::from(UCP_DATATYPE_IOV),
            ),
            Layout::Generic => (
                core::ptr::from_ref(self).cast_mut().cast(),
                self.len,
                self.generic,
            ),
        }
    }

    fn each_byte(&self, mut f: impl FnMut(usize, *mut u8)) {
        let mut at = 0;
        for part in &self.parts {
            for i in 0..part.length {
                f(at + i, part.buffer.cast::<u8>().wrapping_add(i));
            }
            at += part.length;
        }
    }

    pub fn fill(&self, id: u64, from: usize) {
        self.fill_with(|i| pattern(id, from + i));
    }

    pub fn fill_with(&self, byte: impl Fn(usize) -> u8) {
        // SAFETY: inside this buffer's memory, of one thread.
        self.each_byte(|i, p| unsafe { p.write(byte(i)) });
    }

    /// What a program does with memory it got back.
    pub fn spoil(&self) {
        // SAFETY: inside this buffer's memory, of one thread.
        self.each_byte(|_, p| unsafe { p.write(SPOILT) });
    }

    /// The first `len` bytes.
    pub fn bytes(&self, len: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(len);
        self.each_byte(|i, p| {
            if i < len {
                // SAFETY: inside this buffer's memory, of one thread.
                out.push(unsafe { p.read() });
            }
        });
        out
    }

    /// Where the first bytes differ from those of message `id`, if they do.
    pub fn differs(&self, id: u64, from: usize, len: usize) -> Option<usize> {
        let mut found = None;
        self.each_byte(|i, p| {
            // SAFETY: inside this buffer's memory, of one thread.
            if i < len && found.is_none() && unsafe { p.read() } != pattern(id, from + i) {
                found = Some(i);
            }
        });
        found
    }

    /// A sum over everything, to see that nothing changes.
    pub fn sum(&self) -> u64 {
        // SAFETY: of one thread; no reference is kept.
        let memory = unsafe { &*self.memory.get() };
        memory.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
            (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    pub fn guards_hold(&self) -> bool {
        // SAFETY: of one thread; no reference is kept.
        let memory = unsafe { &*self.memory.get() };
        let mut at = 0;
        for part in &self.parts {
            if memory[at..at + GUARD] != [GUARD_BYTE; GUARD] {
                return false;
            }
            at += GUARD + part.length;
        }
        memory[at..] == [GUARD_BYTE; GUARD]
    }
}

/// The generic datatype of the simulated programs: its buffer is a `Buffer`.
pub fn create_generic() -> ucp_datatype_t {
    let ops = ucp_generic_dt_ops_t {
        start_pack: Some(start_pack),
        start_unpack: Some(start_unpack),
        packed_size: Some(packed_size),
        pack: Some(pack),
        unpack: Some(unpack),
        finish: Some(finish),
    };
    let mut made = 0;
    assert_eq!(
        // SAFETY: all functions are there; an out parameter of ours.
        unsafe { ucp_dt_create_generic(&ops, core::ptr::null_mut(), &mut made) },
        UCS_OK
    );
    made
}

pub fn destroy_generic(datatype: ucp_datatype_t) {
    // SAFETY: made by `create_generic`, no operation is under way.
    unsafe { ucp_dt_destroy(datatype) };
}

/// The buffer behind a state.
///
/// # Safety
/// `state` must be of `start`.
unsafe fn of<'a>(state: *const c_void) -> &'a Buffer {
    // SAFETY: buffers live as long as the run.
    unsafe { &*state.cast::<Buffer>() }
}

fn start(buffer: *const c_void) -> *mut c_void {
    // SAFETY: `argument` gave out this pointer.
    let b = unsafe { of(buffer) };
    b.started.set(b.started.get() + 1);
    b.unfinished.set(b.unfinished.get() + 1);
    buffer.cast_mut()
}

unsafe extern "C" fn start_pack(_c: *mut c_void, buffer: *const c_void, _n: usize) -> *mut c_void {
    start(buffer)
}

unsafe extern "C" fn start_unpack(_c: *mut c_void, buffer: *mut c_void, _n: usize) -> *mut c_void {
    start(buffer)
}

unsafe extern "C" fn packed_size(state: *mut c_void) -> usize {
    // SAFETY: a state of ours.
    unsafe { of(state) }.len
}

unsafe extern "C" fn pack(state: *mut c_void, offset: usize, to: *mut c_void, max: usize) -> usize {
    // SAFETY: a state of ours.
    let b = unsafe { of(state) };
    let n = max.min(b.len - offset.min(b.len));
    if b.unfinished.get() == 0 {
        crate::world::world().fault("a generic datatype packs after its end");
    }
    let from = b.parts[0].buffer.cast::<u8>().wrapping_add(offset);
    // SAFETY: `n` bytes of this buffer, room for `max`.
    unsafe { core::ptr::copy_nonoverlapping(from, to.cast(), n) };
    n
}

unsafe extern "C" fn unpack(
    state: *mut c_void,
    offset: usize,
    from: *const c_void,
    len: usize,
) -> ucs_status_t {
    // SAFETY: a state of ours.
    let b = unsafe { of(state) };
    if b.unfinished.get() == 0 {
        crate::world::world().fault("a generic datatype unpacks after its end");
    }
    if offset + len > b.len {
        return UCS_ERR_MESSAGE_TRUNCATED;
    }
    let to = b.parts[0].buffer.cast::<u8>().wrapping_add(offset);
    // SAFETY: `len` bytes of this buffer, readable bytes.
    unsafe { core::ptr::copy_nonoverlapping(from.cast(), to, len) };
    UCS_OK
}

unsafe extern "C" fn finish(state: *mut c_void) {
    // SAFETY: a state of ours.
    let b = unsafe { of(state) };
    if b.unfinished.get() == 0 {
        crate::world::world().fault("a generic datatype is finished twice");
        return;
    }
    b.unfinished.set(b.unfinished.get() - 1);
}
