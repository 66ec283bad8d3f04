/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_SYS_UID_H
#define FERRUCX_UCS_SYS_UID_H

#include <ucs/sys/compiler_def.h>
#include <stdint.h>

BEGIN_C_DECLS

/**
 * A number that processes of this host have in common since it was started, and others have not.
 *
 * @return The number.
 */
uint64_t ucs_get_system_id(void);

END_C_DECLS

#endif
