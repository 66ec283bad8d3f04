/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_CALLBACKQ_COMPAT_H
#define FERRUCX_UCS_DATASTRUCT_CALLBACKQ_COMPAT_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Flags of the functions that add a callback to a worker. */
enum ucs_callbackq_flags {
    /** Called often: keep it among the few that are cheap to call. */
    UCS_CALLBACKQ_FLAG_FAST = UCS_BIT(0),
    /** Called once, then removed. */
    UCS_CALLBACKQ_FLAG_ONESHOT = UCS_BIT(1),
};

END_C_DECLS

#endif
