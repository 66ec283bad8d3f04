/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_CONFIG_INI_H
#define FERRUCX_UCS_CONFIG_INI_H

#include <ucs/sys/compiler_def.h>
#include <stdio.h>

BEGIN_C_DECLS

/* Reading of files with `[section]` lines and `name = value` or `name: value` lines. Upstream's header is that of the
 * inih library; these are its functions, as it is built there, and the settings which it was built with. */

#ifndef INI_HANDLER_LINENO
#  define INI_HANDLER_LINENO 0
#endif
#ifndef INI_ALLOW_MULTILINE
#  define INI_ALLOW_MULTILINE 1
#endif
#ifndef INI_ALLOW_BOM
#  define INI_ALLOW_BOM 1
#endif
#ifndef INI_START_COMMENT_PREFIXES
#  define INI_START_COMMENT_PREFIXES ";#"
#endif
#ifndef INI_ALLOW_INLINE_COMMENTS
#  define INI_ALLOW_INLINE_COMMENTS 1
#endif
#ifndef INI_INLINE_COMMENT_PREFIXES
#  define INI_INLINE_COMMENT_PREFIXES ";"
#endif
#ifndef INI_USE_STACK
#  define INI_USE_STACK 1
#endif
#ifndef INI_MAX_LINE
#  define INI_MAX_LINE 200
#endif
#ifndef INI_ALLOW_REALLOC
#  define INI_ALLOW_REALLOC 0
#endif
#ifndef INI_INITIAL_ALLOC
#  define INI_INITIAL_ALLOC 200
#endif
#ifndef INI_STOP_ON_FIRST_ERROR
#  define INI_STOP_ON_FIRST_ERROR 0
#endif
#ifndef INI_CALL_HANDLER_ON_NEW_SECTION
#  define INI_CALL_HANDLER_ON_NEW_SECTION 0
#endif
#ifndef INI_ALLOW_NO_VALUE
#  define INI_ALLOW_NO_VALUE 0
#endif
#ifndef INI_CUSTOM_ALLOCATOR
#  define INI_CUSTOM_ALLOCATOR 0
#endif

/**
 * Is handed each name and value, and the section that they stand in; 0 is an error in that line.
 *
 * @param[in] user As it was given to the parser.
 * @param[in] section Section, NUL-terminated; empty before the first one.
 * @param[in] name Name, NUL-terminated.
 * @param[in] value Value, NUL-terminated.
 * @return Nonzero, or 0 for an error in the line.
 */
typedef int (*ini_handler)(void *user,
                           const char *section,
                           const char *name,
                           const char *value);

/**
 * Reads a line, as fgets does.
 *
 * @param[out] str Gets the line with its NUL.
 * @param[in] num Bytes of `str`.
 * @param[in] stream As it was given to the parser.
 * @return `str`, or NULL at the end.
 */
typedef char *(*ini_reader)(char *str, int num, void *stream);

END_C_DECLS

#endif
