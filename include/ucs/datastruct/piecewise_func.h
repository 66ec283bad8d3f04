/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_DATASTRUCT_PIECEWISE_FUNC_H
#define FERRUCX_UCS_DATASTRUCT_PIECEWISE_FUNC_H

#include <ucs/datastruct/linear_func.h>
#include <ucs/datastruct/list.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

typedef struct ucs_piecewise_segment_t ucs_piecewise_segment_t;
typedef struct ucs_piecewise_func_t ucs_piecewise_func_t;

/** A part of a function: linear from the end of the part before, or 0, up to `end`. */
struct ucs_piecewise_segment_t {
    ucs_linear_func_t func;
    /** The last argument that belongs to it. */
    size_t end;
    ucs_list_link_t list;
};

/** A function of whole numbers that is linear in parts. */
struct ucs_piecewise_func_t {
    /** The parts; there is at least one. */
    ucs_list_link_t head;
};

/** Walks the segments, lowest first. */
#define ucs_piecewise_func_seg_foreach(_pw_func, _seg) \
    ucs_list_for_each(_seg, &(_pw_func)->head, list)

END_C_DECLS

#endif
