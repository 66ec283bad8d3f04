/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_TIME_TIME_DEF_H
#define FERRUCX_UCS_TIME_TIME_DEF_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Time, in units of the clock that the library counts with. */
typedef unsigned long ucs_time_t;

END_C_DECLS

#endif
