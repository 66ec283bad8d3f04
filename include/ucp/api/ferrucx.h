/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCP_API_FERRUCX_H
#define FERRUCX_UCP_API_FERRUCX_H

#include <stdio.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/**
 * Prints which library this is and how it was built: lines `name=value`, of which `name=ferrucx`,
 * `version` and `commit` (the commit of its sources, or `unknown`) are always there. No other
 * library of UCX has this function.
 *
 * @param[in] stream Where the lines go; open for writing.
 *
 * @ingroup ucp_context
 */
void ferrucx_print_build(FILE *stream);

END_C_DECLS

#endif
