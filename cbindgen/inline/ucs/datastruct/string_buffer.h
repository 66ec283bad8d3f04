#include <ucs/datastruct/array.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

BEGIN_C_DECLS

/** A string that grows: an array of characters without the final NUL. */
UCS_ARRAY_DECLARE_TYPE(ucs_string_buffer_t, size_t, char);

@ITEMS@

/** An empty string that grows on the heap. */
#define UCS_STRING_BUFFER_INITIALIZER UCS_ARRAY_DYNAMIC_INITIALIZER
/** Defines a string that lives in `_capacity` bytes of the caller and is cut off there. */
#define UCS_STRING_BUFFER_FIXED(_var, _buffer, _capacity) \
    ucs_string_buffer_t _var = UCS_ARRAY_FIXED_INITIALIZER((_buffer), (_capacity))
/** The same over an array. */
#define UCS_STRING_BUFFER_STATIC(_var, _buffer) \
    UCS_STRING_BUFFER_FIXED(_var, _buffer, ucs_static_array_size(_buffer))
/** The same over `_capacity` bytes of the stack. */
#define UCS_STRING_BUFFER_ONSTACK(_var, _capacity) \
    UCS_STRING_BUFFER_FIXED(_var, (char*)__builtin_alloca(_capacity), _capacity)

/** Appends the elements of an array, each formatted, with a separator between them. */
#define ucs_string_buffer_append_array(_strb, _sep, _fmt, _array, _count) \
    do { \
        size_t ucs_at; \
        for (ucs_at = 0; ucs_at < (size_t)(_count); ++ucs_at) { \
            ucs_string_buffer_appendf((_strb), "%s" _fmt, (ucs_at == 0) ? "" : (_sep), \
                                      (_array)[ucs_at]); \
        } \
    } while (0)

/** A loop over the tokens of a text, which end at characters of `_delim`. */
#define ucs_string_buffer_for_each_token(_tok, _strb, _delim) \
    for ((_tok) = ucs_string_buffer_next_token((_strb), NULL, (_delim)); (_tok) != NULL; \
         (_tok) = ucs_string_buffer_next_token((_strb), (_tok), (_delim)))

/**
 * Appends formatted text; `fmt` is as of printf.
 *
 * @param[in,out] strb The buffer.
 * @param[in] fmt As of printf(3).
 */
void ucs_string_buffer_appendf(ucs_string_buffer_t *strb, const char *fmt, ...) UCS_F_PRINTF(2, 3);
/**
 * The same for a `va_list`.
 *
 * @param[in,out] strb The buffer.
 * @param[in] fmt As of printf(3).
 * @param[in] ap Its arguments.
 */
void ucs_string_buffer_vappendf(ucs_string_buffer_t *strb, const char *fmt, va_list ap);
/**
 * Writes the text to a stream, each line behind `line_prefix`.
 *
 * @param[in] strb The buffer.
 * @param[in] line_prefix Text before each line, NUL-terminated.
 * @param[in] stream Open for writing.
 */
void ucs_string_buffer_dump(const ucs_string_buffer_t *strb, const char *line_prefix, FILE *stream);

END_C_DECLS
