#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <math.h>

BEGIN_C_DECLS

@ITEMS@

/** The function that is 0 everywhere. */
#define UCS_LINEAR_FUNC_ZERO ucs_linear_func_make(0, 0)

/**
 * The function `c + m * x`.
 *
 * @param[in] c Constant part.
 * @param[in] m Factor.
 * @return The function.
 */
static inline ucs_linear_func_t ucs_linear_func_make(double c, double m)
{
    ucs_linear_func_t func;
    func.c = c;
    func.m = m;
    return func;
}

/**
 * Value at `x`.
 *
 * @param[in] f A function.
 * @param[in] x Argument.
 * @return The value.
 */
static inline double ucs_linear_func_apply(ucs_linear_func_t f, double x)
{
    return f.m * x + f.c;
}

/**
 * Sum of two functions.
 *
 * @param[in] func1 A function.
 * @param[in] func2 Another one.
 * @return The function.
 */
static inline ucs_linear_func_t ucs_linear_func_add(ucs_linear_func_t func1, ucs_linear_func_t func2)
{
    func1.c += func2.c;
    func1.m += func2.m;
    return func1;
}

/**
 * Sum of three functions.
 *
 * @param[in] func1 A function.
 * @param[in] func2 Another one.
 * @param[in] func3 A third one.
 * @return The function.
 */
static inline ucs_linear_func_t
ucs_linear_func_add3(ucs_linear_func_t func1, ucs_linear_func_t func2, ucs_linear_func_t func3)
{
    return ucs_linear_func_add(func1, ucs_linear_func_add(func2, func3));
}

/**
 * First function less the second.
 *
 * @param[in] func1 A function.
 * @param[in] func2 Another one.
 * @return The function.
 */
static inline ucs_linear_func_t ucs_linear_func_sub(ucs_linear_func_t func1, ucs_linear_func_t func2)
{
    func1.c -= func2.c;
    func1.m -= func2.m;
    return func1;
}

/**
 * Adds `func2` to `func1`.
 *
 * @param[in,out] func1 Function to change.
 * @param[in] func2 Another one.
 */
static inline void ucs_linear_func_add_inplace(ucs_linear_func_t *func1, ucs_linear_func_t func2)
{
    *func1 = ucs_linear_func_add(*func1, func2);
}

/**
 * The function `outer(inner(x))`.
 *
 * @param[in] outer A function.
 * @param[in] inner Another one.
 * @return The function.
 */
static inline ucs_linear_func_t ucs_linear_func_compose(ucs_linear_func_t outer, ucs_linear_func_t inner)
{
    return ucs_linear_func_make(ucs_linear_func_apply(outer, inner.c), outer.m * inner.m);
}

/**
 * Adds to `func` the constant that `baseline_func` has at `baseline_x`.
 *
 * @param[in,out] func Function to change.
 * @param[in] baseline_func Function whose value is added.
 * @param[in] baseline_x Argument of that function.
 */
static inline void ucs_linear_func_add_value_at(ucs_linear_func_t *func,
                                                ucs_linear_func_t baseline_func, double baseline_x)
{
    func->c += ucs_linear_func_apply(baseline_func, baseline_x);
}

/**
 * Finds where two functions have the same value. UCS_ERR_INVALID_PARAM when they run in parallel, or so
 * nearly that the place is not a finite number.
 *
 * @param[in] func1 A function.
 * @param[in] func2 Another one.
 * @param[out] x_intersect The place.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when there is no such place.
 */
static inline ucs_status_t
ucs_linear_func_intersect(ucs_linear_func_t func1, ucs_linear_func_t func2, double *x_intersect)
{
    const ucs_linear_func_t gap = ucs_linear_func_sub(func2, func1);
    const double x              = -gap.c / gap.m;
    if (!isfinite(x)) {
        return UCS_ERR_INVALID_PARAM;
    }
    *x_intersect = x;
    return UCS_OK;
}

/**
 * 1 when both coefficients are less than `epsilon` away from 0, else 0.
 *
 * @param[in] func A function.
 * @param[in] epsilon Upper limit of what counts as nothing.
 * @return 1 or 0.
 */
static inline int ucs_linear_func_is_zero(ucs_linear_func_t func, double epsilon)
{
    return (fabs(func.m) < epsilon) && (fabs(func.c) < epsilon);
}

/**
 * 1 when both coefficients differ by less than `epsilon`, else 0.
 *
 * @param[in] func1 A function.
 * @param[in] func2 Another one.
 * @param[in] epsilon Upper limit of what counts as nothing.
 * @return 1 or 0.
 */
static inline int
ucs_linear_func_is_equal(ucs_linear_func_t func1, ucs_linear_func_t func2, double epsilon)
{
    return ucs_linear_func_is_zero(ucs_linear_func_sub(func1, func2), epsilon);
}

END_C_DECLS
