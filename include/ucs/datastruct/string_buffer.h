/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_STRING_BUFFER_H
#define FERRUCX_UCS_DATASTRUCT_STRING_BUFFER_H

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

/**
 * Maps one character of a string.
 *
 * @param[in] ch The character.
 * @return The character in its place; 0 for none.
 */
typedef char (*ucs_string_buffer_translate_cb_t)(char ch);

/**
 * Makes an empty buffer that grows.
 *
 * @param[in,out] strb The buffer.
 */
void ucs_string_buffer_init(ucs_string_buffer_t *strb);

/**
 * Makes an empty buffer over the caller's storage, which does not grow.
 *
 * @param[in,out] strb The buffer.
 * @param[in] buffer Storage, alive as long as `strb`.
 * @param[in] capacity Its bytes.
 */
void ucs_string_buffer_init_fixed(ucs_string_buffer_t *strb,
                                  char *buffer,
                                  size_t capacity);

/**
 * Frees the text, unless the storage is the client's.
 *
 * @param[in,out] strb The buffer.
 */
void ucs_string_buffer_cleanup(ucs_string_buffer_t *strb);

/**
 * Empties a buffer and keeps its storage.
 *
 * @param[in,out] strb The buffer.
 */
void ucs_string_buffer_reset(ucs_string_buffer_t *strb);

/**
 * Characters of the text.
 *
 * @param[in,out] strb The buffer.
 * @return Number of characters.
 */
size_t ucs_string_buffer_length(ucs_string_buffer_t *strb);

/**
 * Appends bytes as hexadecimal digits, `per_line` on each line.
 *
 * @param[in,out] strb The buffer.
 * @param[in] data The bytes.
 * @param[in] size Their number.
 * @param[in] per_line Bytes on each line.
 */
void ucs_string_buffer_append_hex(ucs_string_buffer_t *strb,
                                  const void *data,
                                  size_t size,
                                  size_t per_line);

/**
 * Appends the names of the bits that are set, or their numbers where `flag_names` is NULL.
 *
 *
 * @param[in,out] strb The buffer.
 * @param[in] mask The bits.
 * @param[in] flag_names Name of each bit, ended by NULL; NULL for numbers.
 */
void ucs_string_buffer_append_flags(ucs_string_buffer_t *strb,
                                    uint64_t mask,
                                    const char **flag_names);

/**
 * Appends addresses and lengths.
 *
 * @param[in,out] strb The buffer.
 * @param[in] iov The blocks.
 * @param[in] iovcnt Their number.
 */
void ucs_string_buffer_append_iovec(ucs_string_buffer_t *strb,
                                    const struct iovec *iov,
                                    size_t iovcnt);

/**
 * Appends a socket address.
 *
 * @param[in,out] strb The buffer.
 * @param[in] sa The address.
 */
void ucs_string_buffer_append_saddr(ucs_string_buffer_t *strb,
                                    const struct sockaddr *sa);

/**
 * Removes the longest tail made of `charset`, or of white space for null.
 *
 *
 * @param[in,out] strb The buffer.
 * @param[in] charset Characters to remove, NUL-terminated; NULL for white space.
 */
void ucs_string_buffer_rtrim(ucs_string_buffer_t *strb, const char *charset);

/**
 * Cuts the text at the last character of `delim`, or of white space for NULL, which goes too.
 *
 *
 * @param[in,out] strb The buffer.
 * @param[in] delim Characters to cut at, NUL-terminated; NULL for white space.
 */
void ucs_string_buffer_rbrk(ucs_string_buffer_t *strb,
                            const char *delim);

/**
 * The text; never null.
 *
 * @param[in] strb The buffer.
 * @return The text, NUL-terminated; valid until the buffer changes.
 */
const char *ucs_string_buffer_cstr(const ucs_string_buffer_t *strb);

/**
 * Takes the text out, for `ucs_free`; the buffer is empty. NULL where it was empty. Of the caller's storage it is a
 * copy, and stays there too.
 *
 * @param[in,out] strb The buffer.
 * @return The text, or NULL.
 */
char *ucs_string_buffer_extract_mem(ucs_string_buffer_t *strb);

/**
 * The next part of the text between `delimiters`: the first one for `token` NULL, else the one behind `token`; NULL
 * behind the last. A zero takes the place of the delimiter.
 *
 * @param[in,out] strb The buffer.
 * @param[in] token The part before, or NULL for the first one.
 * @param[in] delimiters Characters between parts, NUL-terminated.
 * @return The next part, or NULL.
 */
char *ucs_string_buffer_next_token(ucs_string_buffer_t *strb,
                                   char *token,
                                   const char *delimiters);

/**
 * Appends a character so many times.
 *
 * @param[in,out] strb The buffer.
 * @param[in] c The character.
 * @param[in] count How often.
 */
void ucs_string_buffer_appendc(ucs_string_buffer_t *strb, int c, size_t count);

/**
 * Replaces each character by what `cb` answers; those for which it answers 0 go.
 *
 * @param[in,out] strb The buffer.
 * @param[in] cb Maps one character.
 */
void ucs_string_buffer_translate(ucs_string_buffer_t *strb,
                                 ucs_string_buffer_translate_cb_t cb);

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

#endif
