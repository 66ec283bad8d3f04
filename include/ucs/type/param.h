/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_TYPE_PARAM_H
#define FERRUCX_UCS_TYPE_PARAM_H

#include <ucs/sys/compiler_def.h>
#include <ucs/sys/preprocessor.h>

/** Member `_name` of a structure with a field mask when bit `_prefix`_`_flag` is set in the mask, else `_default`. */
#define UCS_PARAM_VALUE(_prefix, _params, _name, _flag, _default) \
    ((UCS_PP_TOKENPASTE3(_prefix, _, _flag) & (_params)->field_mask) ? (_params)->_name : (_default))

#endif
