/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_SYS_COMPILER_DEF_H
#define FERRUCX_UCS_SYS_COMPILER_DEF_H

/* What the other headers need of the compiler: GCC and Clang, C11 and C++17. */

#include <stddef.h>
#include <stdint.h>

/* Other projects use these names too, for the same. */
#undef BEGIN_C_DECLS
#undef END_C_DECLS
#ifdef __cplusplus
#  define BEGIN_C_DECLS extern "C" {
#  define END_C_DECLS   }
#else
#  define BEGIN_C_DECLS
#  define END_C_DECLS
#endif

/** Largest object, in bytes, that a macro of these headers puts on the stack. */
#define UCS_ALLOCA_MAX_SIZE 1200

/* Attributes of types. */
#define UCS_S_MAY_ALIAS __attribute__((may_alias))
#define UCS_S_PACKED    __attribute__((packed))

/* Attributes of functions. */
#define UCS_F_PURE                __attribute__((pure))
#define UCS_F_NORETURN            __attribute__((noreturn))
#define UCS_F_NOINLINE            __attribute__((noinline))
#define UCS_F_ALWAYS_INLINE       inline __attribute__((always_inline))
#define UCS_F_CTOR                __attribute__((constructor))
#define UCS_F_DTOR                __attribute__((destructor))
#define UCS_F_MAYBE_UNUSED        __attribute__((unused))
#define UCS_F_NON_NULL            __attribute__((nonnull))
#define UCS_F_PRINTF(_fmt, _args) __attribute__((format(printf, _fmt, _args)))
#if defined(__SANITIZE_ADDRESS__)
#  define UCS_F_NO_SANITIZE_ADDRESS __attribute__((no_sanitize_address))
#else
#  define UCS_F_NO_SANITIZE_ADDRESS
#endif

/* Attributes and initial values of variables. */
#define UCS_V_UNUSED           __attribute__((unused))
#define UCS_V_ALIGNED(_bytes)  __attribute__((aligned(_bytes)))
#define UCS_V_INITIALIZED(_v)  ((_v) = (ucs_typeof(_v))0)
#define UCS_EMPTY_STATEMENT    {}

/** Fails to compile when a constant condition is false; a statement. */
#define UCS_STATIC_ASSERT(_cond) \
    do { \
        enum { ucs_static_assert_holds = 1 / !!(_cond) }; \
        (void)ucs_static_assert_holds; \
    } while (0);

/** A 64-bit value with bit `i` set. */
#define UCS_BIT(i) (1ul << (i))
/** A 64-bit value whose lowest `_n` bits are set; all of them from 64 on. */
#define UCS_MASK(_n) (((_n) < 64) ? (UCS_BIT((_n) & 63) - 1) : ~0ul)
/** 1 when bit `_i` of `_value` is set, else 0. */
#define UCS_BIT_GET(_value, _i) (((_value) & UCS_BIT(_i)) != 0)

/** The address `_offset` bytes after `_ptr`. */
#define UCS_PTR_BYTE_OFFSET(_ptr, _offset) \
    ((void*)((uintptr_t)(_ptr) + (uintptr_t)(intptr_t)(_offset)))
/** The address just past an object of type `_type` at `_ptr`. */
#define UCS_PTR_TYPE_OFFSET(_ptr, _type) UCS_PTR_BYTE_OFFSET(_ptr, sizeof(ucs_typeof(_type)))
/** Bytes from `_start` to `_end`, negative when `_end` is the lower one. */
#define UCS_PTR_BYTE_DIFF(_start, _end) ((ptrdiff_t)((intptr_t)(_end) - (intptr_t)(_start)))

#define ucs_typeof(_type)              __typeof__(_type)
#define ucs_offsetof(_type, _member)   ((unsigned long)offsetof(_type, _member))
#define ucs_field_type(_type, _field)  ucs_typeof(((_type*)NULL)->_field)
#define ucs_field_sizeof(_type, _field) sizeof(((_type*)NULL)->_field)
#define ucs_static_array_size(_array)  (sizeof(_array) / sizeof(*(_array)))
#define ucs_is_unsigned_type(_type)    ((_type)0 < (_type)-1)
#define ucs_const_cast(_type, _ptr)    ((_type)(uintptr_t)(_ptr))
#define ucs_same_type(_type1, _type2)  __builtin_types_compatible_p(_type1, _type2)

/** The object of type `_type` whose member `_member` is at `_ptr`. */
#define ucs_container_of(_ptr, _type, _member) \
    ((_type*)UCS_PTR_BYTE_OFFSET(_ptr, -(ptrdiff_t)offsetof(_type, _member)))
/** The object of type `_type` whose first member, `super`, is at `_ptr`. */
#define ucs_derived_of(_ptr, _type) ucs_container_of(_ptr, _type, super)

/* Hints. */
#define ucs_likely(_cond)         __builtin_expect((_cond), 1)
#define ucs_unlikely(_cond)       __builtin_expect((_cond), 0)
#define ucs_is_constant(_expr)    __builtin_constant_p(_expr)
#define ucs_compiler_fence()      __asm__ __volatile__("" : : : "memory")
#define ucs_read_prefetch(_p)     __builtin_prefetch((_p), 0, 3)
#define ucs_write_prefetch(_p)    __builtin_prefetch((_p), 1, 3)
#define ucs_nt_read_prefetch(_p)  __builtin_prefetch((_p), 0, 0)
#define ucs_nt_write_prefetch(_p) __builtin_prefetch((_p), 1, 0)

/* A function body that runs when the object with it is loaded or unloaded. */
#define UCS_DEF_JOIN_(_a, _b) _a##_b
#define UCS_DEF_JOIN(_a, _b)  UCS_DEF_JOIN_(_a, _b)
#define UCS_STATIC_INIT       static void UCS_F_CTOR UCS_DEF_JOIN(ucs_at_load_, __COUNTER__)(void)
#define UCS_STATIC_CLEANUP    static void UCS_F_DTOR UCS_DEF_JOIN(ucs_at_unload_, __COUNTER__)(void)

/** Walks the `_length` elements of an array. */
#define ucs_carray_for_each(_elem, _array, _length) \
    for ((_elem) = (_array); (_elem) != &(_array)[_length]; ++(_elem))

/** Exchanges two objects of one type; a statement. */
#define ucs_swap(_a, _b) \
    do { \
        ucs_typeof(*(_a)) ucs_swap_old = *(_a); \
        *(_a) = *(_b); \
        *(_b) = ucs_swap_old; \
    } while (0)

#endif
