#include <ucs/datastruct/queue_types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/math.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

/** Bytes from one part of an object to the next. */
#define UCS_STRIDED_ALLOC_STRIDE (UCS_KBYTE * 128)
/** Part `_wanted_idx` of an object whose part `_stride_idx` is at `_elem`. */
#define ucs_strided_elem_get(_elem, _stride_idx, _wanted_idx) \
    UCS_PTR_BYTE_OFFSET(_elem, ((ptrdiff_t)(_wanted_idx) - (ptrdiff_t)(_stride_idx)) * \
                                       (ptrdiff_t)UCS_STRIDED_ALLOC_STRIDE)

@ITEMS@

END_C_DECLS
