#include <ucs/datastruct/linear_func.h>
#include <ucs/datastruct/list.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

@ITEMS@

/** Walks the segments, lowest first. */
#define ucs_piecewise_func_seg_foreach(_pw_func, _seg) \
    ucs_list_for_each(_seg, &(_pw_func)->head, list)

END_C_DECLS
