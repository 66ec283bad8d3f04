/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_ARCH_GLOBAL_OPTS_H
#define FERRUCX_UCS_ARCH_GLOBAL_OPTS_H

#include <ucs/config/parser.h>

#if defined(__x86_64__)
#  include <ucs/arch/x86_64/global_opts.h>
#elif defined(__aarch64__)
#  include <ucs/arch/aarch64/global_opts.h>
#elif defined(__powerpc64__)
#  include <ucs/arch/ppc64/global_opts.h>
#elif defined(__riscv)
#  include <ucs/arch/rv64/global_opts.h>
#else
#  error "ucs/arch/global_opts.h: this processor is not supported"
#endif

BEGIN_C_DECLS

/**
 * Prints for which sizes the library replaces memcpy: for none, so nothing.
 *
 *
 * @param[in] config Not read.
 */
void ucs_arch_print_memcpy_limits(ucs_arch_global_opts_t *config);

/** Options of this processor, as a table. */
extern ucs_config_field_t ucs_arch_global_opts_table[];

END_C_DECLS

#endif
