/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_ARCH_ATOMIC_H
#define FERRUCX_UCS_ARCH_ATOMIC_H

#include <stdint.h>

#if defined(__x86_64__)
#  include <ucs/arch/x86_64/atomic.h>
#elif defined(__aarch64__) || defined(__powerpc64__) || defined(__riscv)
#  include <ucs/arch/generic/atomic.h>
#else
#  error "ucs/arch/atomic.h: this processor is not supported"
#endif

/* Operations without, and with (the names that have an f), the value from before. */

#define UCS_DEFINE_ATOMIC_AND(_wordsize, _suffix) \
    static inline void ucs_atomic_and##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                 uint##_wordsize##_t value) \
    { \
        (void)__atomic_fetch_and(ptr, value, __ATOMIC_SEQ_CST); \
    }
#define UCS_DEFINE_ATOMIC_FAND(_wordsize, _suffix) \
    static inline uint##_wordsize##_t ucs_atomic_fand##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                                 uint##_wordsize##_t value) \
    { \
        return __atomic_fetch_and(ptr, value, __ATOMIC_SEQ_CST); \
    }

#define UCS_DEFINE_ATOMIC_OR(_wordsize, _suffix) \
    static inline void ucs_atomic_or##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                uint##_wordsize##_t value) \
    { \
        (void)__atomic_fetch_or(ptr, value, __ATOMIC_SEQ_CST); \
    }
#define UCS_DEFINE_ATOMIC_FOR(_wordsize, _suffix) \
    static inline uint##_wordsize##_t ucs_atomic_for##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                                uint##_wordsize##_t value) \
    { \
        return __atomic_fetch_or(ptr, value, __ATOMIC_SEQ_CST); \
    }

#define UCS_DEFINE_ATOMIC_XOR(_wordsize, _suffix) \
    static inline void ucs_atomic_xor##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                 uint##_wordsize##_t value) \
    { \
        (void)__atomic_fetch_xor(ptr, value, __ATOMIC_SEQ_CST); \
    }
#define UCS_DEFINE_ATOMIC_FXOR(_wordsize, _suffix) \
    static inline uint##_wordsize##_t ucs_atomic_fxor##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                                 uint##_wordsize##_t value) \
    { \
        return __atomic_fetch_xor(ptr, value, __ATOMIC_SEQ_CST); \
    }

#define UCS_DEFINE_ATOMIC_SUB(_wordsize, _suffix) \
    static inline void ucs_atomic_sub##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                 uint##_wordsize##_t value) \
    { \
        (void)__atomic_fetch_sub(ptr, value, __ATOMIC_SEQ_CST); \
    }
#define UCS_DEFINE_ATOMIC_FSUB(_wordsize, _suffix) \
    static inline uint##_wordsize##_t ucs_atomic_fsub##_wordsize(volatile uint##_wordsize##_t *ptr, \
                                                                 uint##_wordsize##_t value) \
    { \
        return __atomic_fetch_sub(ptr, value, __ATOMIC_SEQ_CST); \
    }

/* Every operation on one width. */
#define UCS_DEFINE_ATOMICS(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_ADD(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_FADD(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_SUB(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_FSUB(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_AND(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_FAND(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_OR(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_FOR(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_XOR(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_FXOR(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_SWAP(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_CSWAP(_wordsize, _suffix) \
    UCS_DEFINE_ATOMIC_BOOL_CSWAP(_wordsize, _suffix)

UCS_DEFINE_ATOMICS(8, b)
UCS_DEFINE_ATOMICS(16, w)
UCS_DEFINE_ATOMICS(32, l)
UCS_DEFINE_ATOMICS(64, q)

#endif
