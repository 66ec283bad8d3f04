/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_ALGORITHM_CRC_H
#define FERRUCX_UCS_ALGORITHM_CRC_H

#include <ucs/sys/compiler_def.h>
#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

END_C_DECLS

#endif
