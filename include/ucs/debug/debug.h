/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DEBUG_DEBUG_H
#define FERRUCX_UCS_DEBUG_DEBUG_H

#include <ucs/sys/compiler_def.h>
#include <stddef.h>

BEGIN_C_DECLS

/** In a program that is built with the address sanitizer: ends it when the range is not its own. Else nothing. */
#ifdef __SANITIZE_ADDRESS__
#  define UCS_ASAN_ADDRESS_IS_VALID(_ptr, _size) \
      ucs_debug_asan_validate_address(#_ptr, (void*)(_ptr), (_size))
#else
#  define UCS_ASAN_ADDRESS_IS_VALID(_ptr, _size)
#endif

/**
 * Gives a signal back to the handler of before. This library handles no signals: there is nothing to give back.
 *
 *
 * @param[in] signum Number of the signal.
 */
void ucs_debug_disable_signal(int signum);

/**
 * Stops where the address sanitizer says that memory is not valid.
 *
 * @param[in] ptr_name Name for the message, NUL-terminated.
 * @param[in] address Start.
 * @param[in] size Bytes.
 */
void ucs_debug_asan_validate_address(const char *ptr_name, void *address, size_t size);

END_C_DECLS

#endif
