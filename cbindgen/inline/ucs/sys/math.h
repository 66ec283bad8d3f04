#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <math.h>

BEGIN_C_DECLS

#define UCS_KBYTE    (1ull << 10)
#define UCS_MBYTE    (1ull << 20)
#define UCS_GBYTE    (1ull << 30)
#define UCS_TBYTE    (1ull << 40)
#define UCS_PBYTE    (1ull << 50)
#define UCS_INFINITY INFINITY

/** The smaller of two values. */
#define ucs_min(_a, _b) \
    ({ \
        ucs_typeof(_a) ucs_min_a = (_a); \
        ucs_typeof(_b) ucs_min_b = (_b); \
        (ucs_min_b > ucs_min_a) ? ucs_min_a : ucs_min_b; \
    })
/** The larger of two values. */
#define ucs_max(_a, _b) \
    ({ \
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
/** Nonzero when all bits of a mask are set. */
#define ucs_test_all_flags(_value, _mask) ((~(_value) & (_mask)) == 0)

@ITEMS@

END_C_DECLS
