//! An endpoint with the calls that inline client code makes, and what these calls take: completions that count,
//! entries of lists, packing callbacks.

use ferrucx::abi::uct::ep;
use ferrucx::c::*;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// What a completion points to.
#[repr(C)]
struct Counted {
    base: uct_completion_t,
    calls: Cell<u32>,
}

/// A completion that counts its calls. Behind a plain pointer, since the library changes it meanwhile.
pub struct Comp(*mut Counted);

unsafe extern "C" fn completed(comp: *mut uct_completion_t) {
    let comp = unsafe { &*comp.cast::<Counted>() };
    comp.calls.set(comp.calls.get() + 1);
}

impl Comp {
    pub fn new(count: i32) -> Comp {
        Comp(Box::into_raw(Box::new(Counted {
            base: uct_completion_t {
                func: Some(completed),
                count,
                status: UCS_OK,
            },
            calls: Cell::new(0),
        })))
    }

    pub fn ptr(&self) -> *mut uct_completion_t {
        self.0.cast()
    }

    /// How often it was called.
    pub fn calls(&self) -> u32 {
        unsafe { (*self.0).calls.get() }
    }

    /// How many operations it still waits for.
    pub fn count(&self) -> i32 {
        unsafe { (*self.0).base.count }
    }

    pub fn status(&self) -> i8 {
        unsafe { (*self.0).base.status }
    }
}

impl Drop for Comp {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// A list entry over a slice.
pub fn iov(bytes: &[u8], memh: uct_mem_h) -> uct_iov_t {
    uct_iov_t {
        buffer: bytes.as_ptr().cast_mut().cast(),
        length: bytes.len(),
        memh,
        stride: 0,
        count: 1,
    }
}

/// What the pack callback writes and the unpack callback reads.
pub struct Bytes {
    pub data: *mut u8,
    pub len: usize,
}

pub unsafe extern "C" fn pack(dest: *mut c_void, arg: *mut c_void) -> usize {
    let b = unsafe { &*arg.cast::<Bytes>() };
    unsafe { std::ptr::copy_nonoverlapping(b.data, dest.cast(), b.len) };
    b.len
}

pub unsafe extern "C" fn unpack(arg: *mut c_void, data: *const c_void, len: usize) {
    let b = unsafe { &mut *arg.cast::<Bytes>() };
    unsafe { std::ptr::copy_nonoverlapping(data.cast(), b.data, len) };
    b.len = len;
}

/// An endpoint; its methods are the inline calls, answering C's codes.
pub struct Ep(pub uct_ep_h);

impl Ep {
    pub fn ops(&self) -> &uct_iface_ops {
        unsafe { &(*(*self.0).iface).ops }
    }

    pub fn am_short(&self, id: u8, header: u64, payload: &[u8]) -> i8 {
        let (p, n) = (payload.as_ptr().cast(), payload.len() as u32);
        unsafe { (self.ops().ep_am_short.unwrap())(self.0, id, header, p, n) }
    }

    pub fn am_short_iov(&self, id: u8, list: &[uct_iov_t]) -> i8 {
        unsafe { (self.ops().ep_am_short_iov.unwrap())(self.0, id, list.as_ptr(), list.len()) }
    }

    pub fn am_bcopy(&self, id: u8, payload: &[u8]) -> isize {
        let mut arg = Bytes {
            data: payload.as_ptr().cast_mut(),
            len: payload.len(),
        };
        let arg = std::ptr::from_mut(&mut arg).cast();
        unsafe { (self.ops().ep_am_bcopy.unwrap())(self.0, id, Some(pack), arg, 0) }
    }

    pub fn am_zcopy(
        &self,
        id: u8,
        header: &[u8],
        list: &[uct_iov_t],
        comp: *mut uct_completion_t,
    ) -> i8 {
        let (h, n) = (header.as_ptr().cast(), header.len() as u32);
        unsafe {
            (self.ops().ep_am_zcopy.unwrap())(self.0, id, h, n, list.as_ptr(), list.len(), 0, comp)
        }
    }

    pub fn put_short(&self, src: &[u8], remote: u64, rkey: uct_rkey_t) -> i8 {
        let (p, n) = (src.as_ptr().cast(), src.len() as u32);
        unsafe { (self.ops().ep_put_short.unwrap())(self.0, p, n, remote, rkey) }
    }

    pub fn put_bcopy(&self, src: &[u8], remote: u64, rkey: uct_rkey_t) -> isize {
        let mut arg = Bytes {
            data: src.as_ptr().cast_mut(),
            len: src.len(),
        };
        let arg = std::ptr::from_mut(&mut arg).cast();
        unsafe { (self.ops().ep_put_bcopy.unwrap())(self.0, Some(pack), arg, remote, rkey) }
    }

    pub fn put_zcopy(
        &self,
        list: &[uct_iov_t],
        remote: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> i8 {
        unsafe {
            (self.ops().ep_put_zcopy.unwrap())(
                self.0,
                list.as_ptr(),
                list.len(),
                remote,
                rkey,
                comp,
            )
        }
    }

    pub fn get_short(&self, dst: &mut [u8], remote: u64, rkey: uct_rkey_t) -> i8 {
        let (p, n) = (dst.as_mut_ptr().cast(), dst.len() as u32);
        unsafe { (self.ops().ep_get_short.unwrap())(self.0, p, n, remote, rkey) }
    }

    /// `arg` receives the bytes and must live until completion.
    pub fn get_bcopy(
        &self,
        arg: &mut Bytes,
        len: usize,
        remote: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> i8 {
        let arg = std::ptr::from_mut(arg).cast();
        unsafe {
            (self.ops().ep_get_bcopy.unwrap())(self.0, Some(unpack), arg, len, remote, rkey, comp)
        }
    }

    pub fn get_zcopy(
        &self,
        list: &[uct_iov_t],
        remote: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> i8 {
        unsafe {
            (self.ops().ep_get_zcopy.unwrap())(
                self.0,
                list.as_ptr(),
                list.len(),
                remote,
                rkey,
                comp,
            )
        }
    }

    pub fn post64(&self, op: u32, value: u64, remote: u64, rkey: uct_rkey_t) -> i8 {
        unsafe { (self.ops().ep_atomic64_post.unwrap())(self.0, op, value, remote, rkey) }
    }

    pub fn post32(&self, op: u32, value: u32, remote: u64, rkey: uct_rkey_t) -> i8 {
        unsafe { (self.ops().ep_atomic32_post.unwrap())(self.0, op, value, remote, rkey) }
    }

    pub fn fetch64(
        &self,
        op: u32,
        value: u64,
        result: &mut u64,
        remote: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> i8 {
        unsafe {
            (self.ops().ep_atomic64_fetch.unwrap())(self.0, op, value, result, remote, rkey, comp)
        }
    }

    pub fn fetch32(
        &self,
        op: u32,
        value: u32,
        result: &mut u32,
        remote: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> i8 {
        unsafe {
            (self.ops().ep_atomic32_fetch.unwrap())(self.0, op, value, result, remote, rkey, comp)
        }
    }

    pub fn cswap64(
        &self,
        (compare, swap): (u64, u64),
        result: &mut u64,
        remote: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> i8 {
        unsafe {
            (self.ops().ep_atomic_cswap64.unwrap())(
                self.0, compare, swap, remote, rkey, result, comp,
            )
        }
    }

    pub fn cswap32(
        &self,
        (compare, swap): (u32, u32),
        result: &mut u32,
        remote: u64,
        rkey: uct_rkey_t,
        comp: *mut uct_completion_t,
    ) -> i8 {
        unsafe {
            (self.ops().ep_atomic_cswap32.unwrap())(
                self.0, compare, swap, remote, rkey, result, comp,
            )
        }
    }

    pub fn flush(&self, flags: u32, comp: *mut uct_completion_t) -> i8 {
        unsafe { (self.ops().ep_flush.unwrap())(self.0, flags, comp) }
    }

    pub fn fence(&self) -> i8 {
        unsafe { (self.ops().ep_fence.unwrap())(self.0, 0) }
    }

    pub fn check(&self, comp: *mut uct_completion_t) -> i8 {
        unsafe { ep::uct_ep_check(self.0, 0, comp) }
    }

    /// # Safety
    /// The request must live until served or purged.
    pub unsafe fn pending_add(&self, request: *mut uct_pending_req_t) -> i8 {
        unsafe { (self.ops().ep_pending_add.unwrap())(self.0, request, 0) }
    }

    pub fn pending_purge(&self, cb: uct_pending_purge_callback_t, arg: *mut c_void) {
        unsafe { (self.ops().ep_pending_purge.unwrap())(self.0, cb, arg) }
    }

    pub fn pending_purge_all(&self) {
        unsafe extern "C" fn drop_it(_: *mut uct_pending_req_t, _: *mut c_void) {}
        self.pending_purge(Some(drop_it), null_mut());
    }
}

impl Drop for Ep {
    fn drop(&mut self) {
        unsafe { ep::uct_ep_destroy(self.0) };
    }
}
