#include <ucs/sys/compiler_def.h>
#include <stdint.h>
#include <string.h>

BEGIN_C_DECLS

#if defined(__x86_64__)
#  include <ucs/arch/x86_64/bitops.h>
#elif defined(__aarch64__)
#  include <ucs/arch/aarch64/bitops.h>
#elif defined(__powerpc64__)
#  include <ucs/arch/ppc64/bitops.h>
#elif defined(__riscv)
#  include <ucs/arch/rv64/bitops.h>
#else
#  error "ucs/arch/bitops.h: this processor is not supported"
#endif

/** Number of the highest set bit; a constant when the argument is one. 0 for the constant 0. */
#define ucs_ilog2(_n) \
    ((unsigned)(__builtin_constant_p(_n) ? \
                        (((_n) < 1) ? 0 : (63 - __builtin_clzll((unsigned long long)(_n)))) : \
                        ((sizeof(_n) > 4) ? (int)__ucs_ilog2_u64((uint64_t)(_n)) : \
                                            (int)__ucs_ilog2_u32((uint32_t)(_n)))))
/** The same, and 0 for 0 in any case. */
#define ucs_ilog2_or0(_n) (((_n) != 0) ? ucs_ilog2(_n) : 0)

/** Number of bits that are set. */
#define ucs_popcount(_n) \
    ((sizeof(_n) > 4) ? __builtin_popcountll((uint64_t)(_n)) : __builtin_popcount((uint32_t)(_n)))
/** Number of the lowest set bit, 64 when there is none. */
#define ucs_ffs64_safe(_val) (((_val) == 0) ? 64 : ucs_ffs64(_val))
/** Zero bits below the lowest set bit of a number that has one. */
#define ucs_count_trailing_zero_bits(_n) \
    ((sizeof(_n) > 4) ? __builtin_ctzll((uint64_t)(_n)) : __builtin_ctz((uint32_t)(_n)))
/** Zero bits above the highest set bit; all bits of the type for 0. */
#define ucs_count_leading_zero_bits(_n) \
    (((_n) == 0) ? (int)(8 * sizeof(_n)) : \
     (sizeof(_n) > 4) ? __builtin_clzll((uint64_t)(_n)) : __builtin_clz((uint32_t)(_n)))

/**
 * How many bits of a mask below bit `bit_index` are set.
 *
 * @param[in] mask The bits.
 * @param[in] bit_index Number of a bit.
 * @return Number of bits.
 */
static inline unsigned ucs_bitmap2idx(uint64_t mask, unsigned bit_index)
{
    return __builtin_popcountll(mask & UCS_MASK(bit_index));
}

/**
 * Number of set bit `idx` of a mask, counted from 0; the last one where there are fewer, 0 where there is
 * none.
 *
 * @param[in] mask The bits.
 * @param[in] idx How many set bits come before.
 * @return Number of the bit.
 */
static inline unsigned ucs_idx2bitmap(uint64_t mask, int idx)
{
    unsigned at = 0;

    for (; (idx >= 0) && (mask != 0); --idx, mask &= mask - 1) {
        at = __builtin_ctzll(mask);
    }
    return at;
}

/**
 * Zero bits at the end of a string of bits, which starts at the high bit of its first byte. In a last byte
 * that is used in part, the unused bits count too, unless all used ones are zero; a string within one byte
 * has a one just below itself.
 *
 * @param[in] ptr The bits.
 * @param[in] bit_length Their number.
 * @return Number of bits.
 */
static inline unsigned ucs_count_ptr_trailing_zero_bits(const void *ptr, uint64_t bit_length)
{
    const uint8_t *bytes = (const uint8_t*)ptr;
    const unsigned rest  = bit_length % 8;
    uint64_t whole       = bit_length / 8;
    unsigned last;

    if (rest != 0) {
        last = bytes[whole] & (0xffu << (8 - rest)) & 0xff;
        if (whole == 0) {
            last |= 1u << rest;
        }
        if (last != 0) {
            return __builtin_ctz(last);
        }
    }
    while ((whole > 0) && (bytes[whole - 1] == 0)) {
        --whole;
    }
    return (whole == 0) ? bit_length : (bit_length - (whole * 8) + __builtin_ctz(bytes[whole - 1]));
}

/**
 * 1 when the first `bit_length` bits of two places are equal, each byte read from its high bit.
 *
 * @param[in] ptr1 The bits.
 * @param[in] ptr2 Other bits.
 * @param[in] bit_length Number of bits.
 * @return 1 or 0.
 */
static inline int ucs_bitwise_is_equal(const void *ptr1, const void *ptr2, uint64_t bit_length)
{
    const uint64_t whole = bit_length / 8;
    const unsigned rest  = bit_length % 8;
    unsigned differ;

    if (memcmp(ptr1, ptr2, whole) != 0) {
        return 0;
    }
    if (rest == 0) {
        return 1;
    }
    differ = ((const uint8_t*)ptr1)[whole] ^ ((const uint8_t*)ptr2)[whole];
    return (differ >> (8 - rest)) == 0;
}

END_C_DECLS
