/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_TYPE_THREAD_MODE_H
#define FERRUCX_UCS_TYPE_THREAD_MODE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Which threads call into an object. */
enum ucs_thread_mode_t {
    /** One: always the same. */
    UCS_THREAD_MODE_SINGLE = 0,
    /** Any, but one at a time. */
    UCS_THREAD_MODE_SERIALIZED = 1,
    /** Any, at any time. */
    UCS_THREAD_MODE_MULTI = 2,
    /** Number of modes. */
    UCS_THREAD_MODE_LAST = 3,
};

typedef enum ucs_thread_mode_t ucs_thread_mode_t;

/** Names of the thread modes, by value; NULL after the last. */
extern const char *ucs_thread_mode_names[];

END_C_DECLS

#endif
