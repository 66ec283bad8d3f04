/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_SYS_STUBS_H
#define FERRUCX_UCS_SYS_STUBS_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** Does nothing. */
void ucs_empty_function(void);

/** Answers UCS_OK. */
ucs_status_t ucs_empty_function_return_success(void);

/** Stands where no call may happen: ends the process. */
int ucs_empty_function_do_assert(void);

END_C_DECLS

#endif
