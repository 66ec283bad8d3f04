/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_ARCH_GENERIC_ATOMIC_H
#define FERRUCX_UCS_ARCH_GENERIC_ATOMIC_H

#include <stdint.h>

/* The compiler knows the processor's instructions. The macros define one function each, for words of `wordsize` bits. */

#define UCS_DEFINE_ATOMIC_ADD(wordsize, suffix) \
    static inline void ucs_atomic_add##wordsize(volatile uint##wordsize##_t *ptr, \
                                                uint##wordsize##_t value) \
    { \
        (void)__atomic_fetch_add(ptr, value, __ATOMIC_SEQ_CST); \
    }

#define UCS_DEFINE_ATOMIC_FADD(wordsize, suffix) \
    static inline uint##wordsize##_t ucs_atomic_fadd##wordsize(volatile uint##wordsize##_t *ptr, \
                                                               uint##wordsize##_t value) \
    { \
        return __atomic_fetch_add(ptr, value, __ATOMIC_SEQ_CST); \
    }

#define UCS_DEFINE_ATOMIC_SWAP(wordsize, suffix) \
    static inline uint##wordsize##_t ucs_atomic_swap##wordsize(volatile uint##wordsize##_t *ptr, \
                                                               uint##wordsize##_t value) \
    { \
        return __atomic_exchange_n(ptr, value, __ATOMIC_SEQ_CST); \
    }

#define UCS_DEFINE_ATOMIC_CSWAP(wordsize, suffix) \
    static inline uint##wordsize##_t ucs_atomic_cswap##wordsize(volatile uint##wordsize##_t *ptr, \
                                                                uint##wordsize##_t compare, \
                                                                uint##wordsize##_t swap) \
    { \
        (void)__atomic_compare_exchange_n(ptr, &compare, swap, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return compare; \
    }

#define UCS_DEFINE_ATOMIC_BOOL_CSWAP(wordsize, suffix) \
    static inline uint##wordsize##_t ucs_atomic_bool_cswap##wordsize(volatile uint##wordsize##_t *ptr, \
                                                                     uint##wordsize##_t compare, \
                                                                     uint##wordsize##_t swap) \
    { \
        return __atomic_compare_exchange_n(ptr, &compare, swap, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }

#endif
