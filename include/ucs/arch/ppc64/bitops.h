/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_ARCH_PPC64_BITOPS_H
#define FERRUCX_UCS_ARCH_PPC64_BITOPS_H

#include <ucs/sys/compiler_def.h>
#include <stdint.h>

/* The compiler knows the processor's instruction for each of these. None of them is for 0. */

/**
 * Number of the lowest set bit.
 *
 * @param[in] n A word that is not 0.
 * @return The number, from 0.
 */
static UCS_F_ALWAYS_INLINE unsigned ucs_ffs32(uint32_t n)
{
    return __builtin_ctz(n);
}

/**
 * Number of the lowest set bit.
 *
 * @param[in] n A word that is not 0.
 * @return The number, from 0.
 */
static UCS_F_ALWAYS_INLINE unsigned ucs_ffs64(uint64_t n)
{
    return __builtin_ctzll(n);
}

/**
 * Number of the highest set bit.
 *
 * @param[in] n A word that is not 0.
 * @return The number, from 0.
 */
static UCS_F_ALWAYS_INLINE unsigned __ucs_ilog2_u32(uint32_t n)
{
    return 31 ^ __builtin_clz(n);
}

/**
 * Number of the highest set bit.
 *
 * @param[in] n A word that is not 0.
 * @return The number, from 0.
 */
static UCS_F_ALWAYS_INLINE unsigned __ucs_ilog2_u64(uint64_t n)
{
    return 63 ^ __builtin_clzll(n);
}

#endif
