#include <ucs/arch/bitops.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

#define UCS_KBYTE    (1ull << 10)
#define UCS_MBYTE    (1ull << 20)
#define UCS_GBYTE    (1ull << 30)
#define UCS_TBYTE    (1ull << 40)
#define UCS_PBYTE    (1ull << 50)
#define UCS_INFINITY INFINITY

/** The smaller of two values. */
#define ucs_min(_a, _b) \
    __extension__ ({ \
        ucs_typeof(_a) ucs_min_a = (_a); \
        ucs_typeof(_b) ucs_min_b = (_b); \
        (ucs_min_b > ucs_min_a) ? ucs_min_a : ucs_min_b; \
    })
/** The larger of two values. */
#define ucs_max(_a, _b) \
    __extension__ ({ \
        ucs_typeof(_a) ucs_max_a = (_a); \
        ucs_typeof(_b) ucs_max_b = (_b); \
        (ucs_max_b < ucs_max_a) ? ucs_max_a : ucs_max_b; \
    })

#define ucs_is_pow2_or_zero(_n)  (((_n) & ((_n) - 1)) == 0)
#define ucs_is_pow2(_n)          (((_n) > 0) && ucs_is_pow2_or_zero(_n))
/** -1, 0 or 1. */
#define ucs_signum(_n)           (((_n) > 0) - ((_n) < 0))
/** Quotient of two whole numbers, rounded up. */
#define ucs_div_round_up(_n, _d) (((_n) - 1 + (_d)) / (_d))
/** `_newflag` when `_oldflag` is set in a value, else 0. Flags are single bits. */
#define ucs_convert_flag(_value, _oldflag, _newflag) (((_value) & (_oldflag)) ? (_newflag) : 0)

/* Up to nine masks, joined. */
#define UCS_MATH_JOIN(_1, _2, _3, _4, _5, _6, _7, _8, _9, ...) \
    ((_1) | (_2) | (_3) | (_4) | (_5) | (_6) | (_7) | (_8) | (_9))
/** The bits of up to nine masks that a value has. */
#define ucs_test_flags(_value, ...) \
    ((_value) & UCS_MATH_JOIN(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0))
/** Nonzero when all bits of a mask are set. */
#define ucs_test_all_flags(_value, _mask) (((_mask) & (_value)) == (_mask))

/** Compares numbers that wrap around, such as sequence numbers: they are less than half the range apart. */
#define UCS_CIRCULAR_COMPARE(_a, _op, _b, _signed_type) ((_signed_type)((_a) - (_b)) _op 0)
#define UCS_CIRCULAR_COMPARE8(_a, _op, _b)              UCS_CIRCULAR_COMPARE(_a, _op, _b, int8_t)
#define UCS_CIRCULAR_COMPARE16(_a, _op, _b)             UCS_CIRCULAR_COMPARE(_a, _op, _b, int16_t)
#define UCS_CIRCULAR_COMPARE32(_a, _op, _b)             UCS_CIRCULAR_COMPARE(_a, _op, _b, int32_t)
#define UCS_CIRCULAR_COMPARE64(_a, _op, _b)             UCS_CIRCULAR_COMPARE(_a, _op, _b, int64_t)

/**
 * Number of the lowest set bit at or above `from`, 64 when there is none.
 *
 * @param[in] map The bits.
 * @param[in] from Number of the first one that counts.
 * @return Number of the bit, or 64.
 */
static inline int ucs_math_next_bit(uint64_t map, int from)
{
    const uint64_t above = (from < 64) ? (map >> from) : 0;
    return (above != 0) ? (from + __builtin_ctzll(above)) : 64;
}

/** Walks the numbers of the bits that are set. */
#define ucs_for_each_bit(_index, _map) \
    for ((_index) = ucs_math_next_bit((_map), 0); (_index) < 64; \
         (_index) = ucs_math_next_bit((_map), (_index) + 1))

/** Walks all values whose bits are a part of `_mask`, 0 first; `_submask` must be able to exceed the mask. */
#define ucs_for_each_submask(_submask, _mask) \
    for ((_submask) = 0; (_submask) <= (_mask); \
         (_submask) = ((_submask) == (_mask)) ? ((_mask) + 1) : (((_submask) - (_mask)) & (_mask)))

/**
 * Logarithm to base 2.
 *
 * @param[in] x Number above 0.
 * @return The logarithm.
 */
static inline double ucs_log2(double x)
{
    return log2(x);
}

/**
 * A number rounded to a whole one; `max` where it is larger, or not a number; 0 where it is negative.
 *
 * @param[in] value The number.
 * @param[in] max Upper limit.
 * @return The whole number.
 */
static inline size_t ucs_double_to_sizet(double value, size_t max)
{
    if (!(value < (double)max)) {
        return max;
    }
    return (value > 0) ? (size_t)(value + 0.5) : 0;
}

/**
 * How far apart two numbers may be and still count as equal: a millionth of their sum.
 *
 * @param[in] val1 A number.
 * @param[in] val2 Another one.
 * @return The distance.
 */
static inline double ucs_fp_compare_thresh(double val1, double val2)
{
    return (fabs(val1) + fabs(val2)) * 1e-6;
}

/**
 * -1, 0 or 1: the order of two numbers, where nearly equal ones count as equal.
 *
 * @param[in] val1 A number.
 * @param[in] val2 Another one.
 * @return -1, 0 or 1.
 */
static inline int ucs_fp_compare(double val1, double val2)
{
    if (fabs(val1 - val2) <= ucs_fp_compare_thresh(val1, val2)) {
        return 0;
    }
    return (val1 > val2) ? 1 : -1;
}

@ITEMS@

END_C_DECLS
