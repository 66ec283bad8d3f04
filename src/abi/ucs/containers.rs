//! `ucs/type/class.h` and small ones of `ucs/datastruct/`: `array.h`, `strided_alloc.h`, `piecewise_func.h`.

use crate::abi::args::non_null;
use crate::abi::ucs::text_of;
use crate::c::prelude::*;
use crate::sys::heap;
use crate::ucs::compat::{array, class, piecewise_func, strided_alloc};
use crate::ucs::status::code_of;
use core::ptr::null_mut;

/// A class as an object that C may refer to.
#[repr(transparent)]
pub struct ClassObject(ucs_class_t);

// SAFETY: nothing writes it; its pointers lead to constants and functions.
unsafe impl Sync for ClassObject {}

type Variadic = unsafe extern "C" fn(*mut c_void, ...) -> ucs_status_t;
type Constructor = unsafe extern "C" fn(*mut c_void, *mut ucs_class_t, *mut c_int) -> ucs_status_t;

/// The class above all others. `ucs/type/class.h`.
#[unsafe(no_mangle)]
pub static void_class: ClassObject = ClassObject(ucs_class_t {
    name: c"void".as_ptr(),
    size: 0,
    superclass: null_mut(),
    // SAFETY: both types are function pointers, and a call passes fixed arguments alike to both.
    init: Some(unsafe { core::mem::transmute::<Constructor, Variadic>(void_init) }),
    cleanup: Some(void_cleanup),
});

/// The constructor of the class above all others, which does nothing. `ucs/type/class.h`.
///
/// - `self` (in): The object.
/// - `myclass` (in): Not read.
/// - `init_count` (in,out): Not read.
/// - returns: UCS_OK.
///
/// # Safety
/// None is needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn void_init(
    _self_: *mut c_void,
    _myclass: *mut ucs_class_t,
    _init_count: *mut c_int,
) -> ucs_status_t {
    UCS_OK
}

/// Its destructor. `ucs/type/class.h`.
///
/// - `self` (in): The object.
///
/// # Safety
/// None is needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn void_cleanup(_self_: *mut c_void) {}

/// Calls the destructors of a class and of those above it, all of them for -1, else the `limit` highest, counted with
/// the one above all others. `ucs/type/class.h`.
///
/// - `cls` (in): The class.
/// - `obj` (in): The object.
/// - `limit` (in): Number of destructors, or -1 for all.
///
/// # Safety
/// `obj` is an object of the class.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_class_call_cleanup_chain(
    cls: *mut ucs_class_t,
    obj: *mut c_void,
    limit: c_int,
) {
    non_null!(; cls);
    // SAFETY: the caller's promise.
    unsafe { class::cleanup_chain(cls, obj, limit) };
}

/// Memory for an object; NULL when there is none. `ucs/type/class.h`.
///
/// - `cls` (in): The class.
/// - returns: The memory, or NULL.
///
/// # Safety
/// `cls` is a class.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_class_malloc(cls: *mut ucs_class_t) -> *mut c_void {
    non_null!(null_mut(); cls);
    // SAFETY: the caller's promise.
    heap::malloc(unsafe { (*cls).size })
}

/// Frees such memory. `ucs/type/class.h`.
///
/// - `obj` (in): The memory.
///
/// # Safety
/// `obj` is null or came from `ucs_class_malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_class_free(obj: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { heap::free(obj) };
}

/// Logs an error where a constructor's status and its object contradict each other. `ucs/type/class.h`.
///
/// - `status` (in): Status of the constructor.
/// - `obj` (in): The object, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_class_check_new_func_result(status: ucs_status_t, obj: *mut c_void) {
    if (status == UCS_OK) == obj.is_null() {
        crate::ucs_error!("a constructor answered status {status} with the object {obj:p}");
    }
}

/// A call of a release before 1.17 passes (buffer_p, capacity_p, min_capacity, value_size, array_name, value_name):
/// the name is an address, where the size of a value stands since.
const LARGEST_VALUE: usize = 1 << 16;

/// Bit 0 of a capacity says in those releases that the storage must not grow.
fn even(capacity: usize) -> usize {
    capacity.next_multiple_of(2)
}

/// Moves an array to more room; part of the macros of this header. `ucs/datastruct/array.h`.
///
/// - `buffer_p` (in,out): The storage.
/// - `capacity_p` (in,out): Elements that fit.
/// - `min_capacity` (in): Elements that shall fit.
/// - `max_capacity` (in): Elements that may fit at most.
/// - `value_size` (in): Bytes of an element.
/// - `old_buffer_p` (out): Gets the storage of before, which the caller frees; NULL: it is freed.
/// - `array_name` (in): Name for messages, NUL-terminated.
/// - returns: UCS_OK; UCS_ERR_NO_MEMORY; UCS_ERR_EXCEEDS_LIMIT.
///
/// # Safety
/// `*buffer_p` is null or the array's storage on the heap, `*capacity_p` its capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_array_grow(
    buffer_p: *mut *mut c_void,
    capacity_p: *mut usize,
    min_capacity: usize,
    max_capacity: usize,
    value_size: usize,
    old_buffer_p: *mut *mut c_void,
    array_name: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; buffer_p, capacity_p);
    let old_form = value_size > LARGEST_VALUE;
    let (max, size, keep, name) = if old_form {
        let name = core::ptr::with_exposed_provenance(value_size);
        (usize::MAX / 2, max_capacity, false, name)
    } else {
        (
            max_capacity,
            value_size,
            !old_buffer_p.is_null(),
            array_name,
        )
    };
    let wanted = if old_form {
        even(min_capacity)
    } else {
        min_capacity
    };
    // SAFETY: the caller's promise.
    let old = unsafe { buffer_p.read() };
    // SAFETY: as above.
    let capacity = unsafe { capacity_p.read() };
    // SAFETY: as above; the name is a string of the macro's.
    let grown = unsafe { array::grow(old, (capacity, wanted, max), size, keep, &text_of(name)) };
    let (buffer, capacity) = match grown {
        Ok(grown) => grown,
        Err(status) => return status.code(),
    };
    // SAFETY: the caller's promise.
    unsafe { buffer_p.write(buffer) };
    // SAFETY: as above.
    unsafe { capacity_p.write(if old_form { even(capacity) } else { capacity }) };
    if keep {
        // SAFETY: as above.
        unsafe { old_buffer_p.write(old) };
    }
    UCS_OK
}

/// Frees the storage of an array. `ucs/datastruct/array.h`.
///
/// - `buffer` (in): The storage; NULL does nothing.
///
/// # Safety
/// `buffer` is null or storage on the heap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_array_buffer_free(buffer: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { heap::free(buffer) };
}

/// Makes an allocator of objects of `stride_count` parts with `elem_size` bytes each. `ucs/datastruct/strided_alloc.h`.
///
/// - `sa` (in,out): The allocator.
/// - `elem_size` (in): Bytes of a part.
/// - `stride_count` (in): Parts of an object.
///
/// # Safety
/// `sa` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strided_alloc_init(
    sa: *mut ucs_strided_alloc_t,
    elem_size: usize,
    stride_count: c_uint,
) {
    non_null!(; sa);
    // SAFETY: the caller's promise.
    unsafe { strided_alloc::init(sa, elem_size, stride_count) };
}

/// Ends an allocator and frees its memory. `ucs/datastruct/strided_alloc.h`.
///
/// - `sa` (in,out): The allocator.
///
/// # Safety
/// `sa` is a live allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strided_alloc_cleanup(sa: *mut ucs_strided_alloc_t) {
    non_null!(; sa);
    // SAFETY: the caller's promise.
    unsafe { strided_alloc::cleanup(sa) };
}

/// Takes an object: the address of its first part, or NULL. `ucs/datastruct/strided_alloc.h`.
///
/// - `sa` (in,out): The allocator.
/// - `alloc_name` (in): Name for statistics of memory.
/// - returns: Address of the first part, or NULL.
///
/// # Safety
/// `sa` is a live allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strided_alloc_get(
    sa: *mut ucs_strided_alloc_t,
    _alloc_name: *const c_char,
) -> *mut c_void {
    non_null!(null_mut(); sa);
    // SAFETY: the caller's promise.
    unsafe { strided_alloc::get(sa) }
}

/// Gives an object back. `ucs/datastruct/strided_alloc.h`.
///
/// - `sa` (in,out): The allocator.
/// - `base` (in): Address of the first part.
///
/// # Safety
/// `base` came from this allocator and was not given back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strided_alloc_put(sa: *mut ucs_strided_alloc_t, base: *mut c_void) {
    non_null!(; sa, base);
    // SAFETY: the caller's promise.
    unsafe { strided_alloc::put(sa, base) };
}

/// Objects in use. `ucs/datastruct/strided_alloc.h`.
///
/// - `sa` (in,out): The allocator.
/// - returns: Their number.
///
/// # Safety
/// `sa` is a live allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strided_alloc_inuse_count(sa: *mut ucs_strided_alloc_t) -> c_uint {
    non_null!(0; sa);
    // SAFETY: the caller's promise.
    unsafe { (*sa).inuse_count }
}

/// Makes the function that is 0 everywhere. `ucs/datastruct/piecewise_func.h`.
///
/// - `pw_func` (in,out): The function.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `pw_func` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_piecewise_func_init(
    pw_func: *mut ucs_piecewise_func_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; pw_func);
    // SAFETY: the caller's promise.
    code_of(&unsafe { piecewise_func::init(pw_func) })
}

/// Frees the parts of a function. `ucs/datastruct/piecewise_func.h`.
///
/// - `pw_func` (in,out): The function.
///
/// # Safety
/// `pw_func` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_piecewise_func_cleanup(pw_func: *mut ucs_piecewise_func_t) {
    non_null!(; pw_func);
    // SAFETY: the caller's promise.
    unsafe { piecewise_func::cleanup(pw_func) };
}

/// The value at `x`. `ucs/datastruct/piecewise_func.h`.
///
/// - `pw_func` (in): The function.
/// - `x` (in): Argument.
/// - returns: The value.
///
/// # Safety
/// `pw_func` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_piecewise_func_apply(
    pw_func: *const ucs_piecewise_func_t,
    x: usize,
) -> f64 {
    non_null!(0.0; pw_func);
    // SAFETY: the caller's promise.
    unsafe { piecewise_func::apply(pw_func, x) }
}

/// Adds a linear function between `start` and `end`, both included. `ucs/datastruct/piecewise_func.h`.
///
/// - `pw_func` (in,out): The function.
/// - `start` (in): First argument of the range.
/// - `end` (in): Last argument of the range.
/// - `range_func` (in): Function to add.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for a range that is none; UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `pw_func` was initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_piecewise_func_add_range(
    pw_func: *mut ucs_piecewise_func_t,
    start: usize,
    end: usize,
    range_func: ucs_linear_func_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; pw_func);
    // SAFETY: the caller's promise.
    code_of(&unsafe { piecewise_func::add_range(pw_func, start, end, range_func) })
}

/// Adds another function. `ucs/datastruct/piecewise_func.h`.
///
/// - `dst_pw_func` (in,out): Function to change.
/// - `src_pw_func` (in): Function to add.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// Both were initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_piecewise_func_add_inplace(
    dst_pw_func: *mut ucs_piecewise_func_t,
    src_pw_func: *mut ucs_piecewise_func_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; dst_pw_func, src_pw_func);
    // SAFETY: the caller's promise.
    code_of(&unsafe { piecewise_func::add(dst_pw_func, src_pw_func) })
}
