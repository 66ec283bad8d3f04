/* The C-variadic part of the ABI: stable Rust cannot define such functions. */

/* ---- log ---------------------------------------------------------------------------------- */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef unsigned (*ferrucx_log_handler)(const char *file, unsigned line, const char *function,
                                        unsigned level, const void *component,
                                        const char *format, va_list args);

/* As many as src/ucs/log/handlers.rs keeps, and the default one. */
enum { FERRUCX_MAX_HANDLERS = 33, FERRUCX_HANDLER_STOP = 0 };

/* In Rust: the handlers, first to be called first; ends the process after one message. */
size_t ferrucx_log_handlers(ferrucx_log_handler *handlers, size_t room);
void ferrucx_log_die(const char *file, unsigned line, const char *function, const char *message)
        __attribute__((noreturn));

unsigned ferrucx_log_call(ferrucx_log_handler handler, const char *file, unsigned line,
                          const char *function, unsigned level, const void *component,
                          const char *format, ...)
{
    va_list args;
    unsigned answer;

    va_start(args, format);
    answer = handler(file, line, function, level, component, format, args);
    va_end(args);
    return answer;
}

/* ucs_log_dispatch */
void ferrucx_log_dispatch(const char *file, unsigned line, const char *function, unsigned level,
                          const void *component, const char *format, ...)
{
    ferrucx_log_handler handlers[FERRUCX_MAX_HANDLERS];
    size_t count = ferrucx_log_handlers(handlers, FERRUCX_MAX_HANDLERS);

    for (size_t i = 0; i < count; ++i) {
        va_list args;
        unsigned answer;

        va_start(args, format);
        answer = handlers[i](file, line, function, level, component, format, args);
        va_end(args);
        if (answer == FERRUCX_HANDLER_STOP) {
            return;
        }
    }
}

/* ucs_fatal_error_format */
void ferrucx_fatal_error_format(const char *file, unsigned line, const char *function,
                                const char *format, ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    ferrucx_log_die(file, line, function, message);
}

/* ---- text --------------------------------------------------------------------------------- */

#include <stdlib.h>
#include <string.h>

/* In Rust: room behind the text of a string buffer; a cell of a table. */
char *ferrucx_string_buffer_reserve(void *buffer, size_t extra, size_t *room);
void ferrucx_table_add_text(void *table, unsigned row, unsigned col_span, unsigned align,
                            const char *text);

/* ucs_snprintf_zero */
void ferrucx_snprintf_zero(char *buffer, size_t size, const char *format, ...)
{
    va_list args;

    memset(buffer, 0, size);
    va_start(args, format);
    vsnprintf(buffer, size, format, args);
    va_end(args);
}

/* ucs_snprintf_safe */
void ferrucx_snprintf_safe(char *buffer, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(buffer, size, format, args);
    va_end(args);
    if (size > 0) {
        buffer[size - 1] = '\0';
    }
}

/* ucs_string_buffer_appendf: the second word of a buffer is its length. */
void ferrucx_string_buffer_appendf(size_t *buffer, const char *format, ...)
{
    va_list args, again;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        size_t room;
        char *end = ferrucx_string_buffer_reserve(buffer, (size_t)length, &room);

        if (end != NULL) {
            vsnprintf(end, room, format, again);
            buffer[1] += (size_t)length < room ? (size_t)length : room - 1;
        }
    }
    va_end(again);
}

/* ucs_table_row_add_cell_fmt */
void ferrucx_table_row_add_cell_fmt(void *table, unsigned row, unsigned col_span, unsigned align,
                                    const char *format, ...)
{
    va_list args, again;
    char *text;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, again);
        ferrucx_table_add_text(table, row, col_span, align, text);
        free(text);
    }
    va_end(again);
}

/* ---- memory ------------------------------------------------------------------------------- */

#include <linux/mman.h>

/* In Rust. */
void *ferrucx_mremap(void *old_address, size_t old_size, size_t new_size, int flags,
                     void *new_address);

/* ucm_mremap */
void *ferrucx_ucm_mremap(void *old_address, size_t old_size, size_t new_size, int flags, ...)
{
    void *new_address = NULL;

    if (flags & MREMAP_FIXED) {
        va_list args;

        va_start(args, flags);
        new_address = va_arg(args, void *);
        va_end(args);
    }
    return ferrucx_mremap(old_address, old_size, new_size, flags, new_address);
}
