/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_PIECEWISE_FUNC_H
#define FERRUCX_UCS_DATASTRUCT_PIECEWISE_FUNC_H

#include <ucs/datastruct/linear_func.h>
#include <ucs/datastruct/list.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

typedef struct ucs_piecewise_func_t ucs_piecewise_func_t;
typedef struct ucs_piecewise_segment_t ucs_piecewise_segment_t;

/** A function of whole numbers that is linear in parts. */
struct ucs_piecewise_func_t {
    /** The parts; there is at least one. */
    ucs_list_link_t head;
};

/** A part of a function: linear from the end of the part before, or 0, up to `end`. */
struct ucs_piecewise_segment_t {
    /** The function. */
    ucs_linear_func_t func;
    /** The last argument that belongs to it. */
    size_t end;
    /** Link of the list. */
    ucs_list_link_t list;
};

/**
 * Makes the function that is 0 everywhere.
 *
 * @param[in,out] pw_func The function.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_piecewise_func_init(ucs_piecewise_func_t *pw_func);

/**
 * Frees the parts of a function.
 *
 * @param[in,out] pw_func The function.
 */
void ucs_piecewise_func_cleanup(ucs_piecewise_func_t *pw_func);

/**
 * The value at `x`.
 *
 * @param[in] pw_func The function.
 * @param[in] x Argument.
 * @return The value.
 */
double ucs_piecewise_func_apply(const ucs_piecewise_func_t *pw_func, size_t x);

/**
 * Adds a linear function between `start` and `end`, both included.
 *
 * @param[in,out] pw_func The function.
 * @param[in] start First argument of the range.
 * @param[in] end Last argument of the range.
 * @param[in] range_func Function to add.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a range that is none; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_piecewise_func_add_range(ucs_piecewise_func_t *pw_func,
                                          size_t start,
                                          size_t end,
                                          ucs_linear_func_t range_func);

/**
 * Adds another function.
 *
 * @param[in,out] dst_pw_func Function to change.
 * @param[in] src_pw_func Function to add.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_piecewise_func_add_inplace(ucs_piecewise_func_t *dst_pw_func,
                                            ucs_piecewise_func_t *src_pw_func);

/** Walks the segments, lowest first. */
#define ucs_piecewise_func_seg_foreach(_pw_func, _seg) \
    ucs_list_for_each(_seg, &(_pw_func)->head, list)

END_C_DECLS

#endif
