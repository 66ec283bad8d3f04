/* The C-variadic part of the ABI: stable Rust cannot define such functions. */

#define _GNU_SOURCE /* MREMAP_FIXED */

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

/* In Rust: the same with the formatted text. */
void ferrucx_log_print_last(const char *message);
void ferrucx_log_name_thread(const char *name);

/* ucs_log_fatal_error */
void ferrucx_log_fatal_error(const char *format, ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    ferrucx_log_print_last(message);
}

/* ucs_log_set_thread_name */
void ferrucx_log_set_thread_name(const char *format, ...)
{
    char name[128];
    va_list args;

    va_start(args, format);
    vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    ferrucx_log_name_thread(name);
}

/* ---- text --------------------------------------------------------------------------------- */

#include <limits.h>
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

/* ucs_vsnprintf_safe */
void ferrucx_vsnprintf_safe(char *buffer, size_t size, const char *format, va_list args)
{
    vsnprintf(buffer, size, format, args);
    if (size > 0) {
        buffer[size - 1] = '\0';
    }
}

/* ucs_string_buffer_vappendf: the second word of a buffer is its length. */
void ferrucx_string_buffer_vappendf(size_t *buffer, const char *format, va_list args)
{
    va_list first;
    int length;

    va_copy(first, args);
    length = vsnprintf(NULL, 0, format, first);
    va_end(first);
    if (length > 0) {
        size_t room;
        char *end = ferrucx_string_buffer_reserve(buffer, (size_t)length, &room);

        if (end != NULL) {
            vsnprintf(end, room, format, args);
            buffer[1] += (size_t)length < room ? (size_t)length : room - 1;
        }
    }
}

/* ucs_string_buffer_appendf */
void ferrucx_string_buffer_appendf(size_t *buffer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ferrucx_string_buffer_vappendf(buffer, format, args);
    va_end(args);
}

/* ucs_string_buffer_dump */
void ferrucx_string_buffer_dump(char *const *buffer, const char *line_prefix, FILE *stream)
{
    const char *line = ((const size_t *)buffer)[1] == 0 ? "" : buffer[0];

    while (*line != '\0') {
        size_t length = strcspn(line, "\n");

        length += line[length] == '\n';
        fprintf(stream, "%s%.*s", line_prefix, (int)length, line);
        line += length;
    }
}

/* A formatted text in memory of its own, or NULL. */
static char *ferrucx_formatted(const char *format, va_list args)
{
    va_list first;
    char *text;
    int length;

    va_copy(first, args);
    length = vsnprintf(NULL, 0, format, first);
    va_end(first);
    text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, args);
    }
    return text;
}

/* In Rust: adds a string to a set. */
int ferrucx_string_set_add(void *set, const char *text);

enum { FERRUCX_OK = 0, FERRUCX_NO_MEMORY = -4 };

/* ucs_string_set_addf */
signed char ferrucx_string_set_addf(void *set, const char *format, ...)
{
    signed char status = FERRUCX_NO_MEMORY;
    va_list args;
    char *text;

    va_start(args, format);
    text = ferrucx_formatted(format, args);
    va_end(args);
    if (text != NULL) {
        status = (signed char)ferrucx_string_set_add(set, text);
        free(text);
    }
    return status;
}

/* ucs_string_alloc_formatted_path */
signed char ferrucx_string_alloc_formatted_path(char **path, const char *name, const char *format, ...)
{
    va_list args;

    (void)name;
    *path = malloc(PATH_MAX);
    if (*path == NULL) {
        return FERRUCX_NO_MEMORY;
    }
    va_start(args, format);
    vsnprintf(*path, PATH_MAX, format, args);
    va_end(args);
    return FERRUCX_OK;
}

/* ucs_string_split */
char *ferrucx_string_split(char *text, const char *delimiters, int count, ...)
{
    va_list parts;

    va_start(parts, count);
    for (; count > 0; --count) {
        *va_arg(parts, char **) = text;
        if (text != NULL) {
            text = strpbrk(text, delimiters);
            if (text != NULL) {
                *text++ = '\0';
            }
        }
    }
    va_end(parts);
    return text;
}

/* ucs_table_row_add_cell_fmt */
void ferrucx_table_row_add_cell_fmt(void *table, unsigned row, unsigned col_span, unsigned align,
                                    const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = ferrucx_formatted(format, args);
    va_end(args);
    if (text != NULL) {
        ferrucx_table_add_text(table, row, col_span, align, text);
        free(text);
    }
}

/* ---- objects as files ---------------------------------------------------------------------- */

#include <stdint.h>

/* In Rust: the same with the formatted name. */
int ferrucx_vfs_add_dir(void *parent, void *object, const char *name);
int ferrucx_vfs_add_file(void *object, void (*read)(void), void (*write)(void), void *arg,
                         uint64_t number, const char *name);
int ferrucx_vfs_add_link(void *object, void *target, const char *name);

/* A variadic function that formats the name and ends with `call`, which has it as `name`. */
#define FERRUCX_VFS_ADD(function, call, ...)                 \
    signed char function(__VA_ARGS__, const char *format, ...) \
    {                                                        \
        signed char status = FERRUCX_NO_MEMORY;              \
        va_list args;                                        \
        char *name;                                          \
                                                             \
        va_start(args, format);                              \
        name = ferrucx_formatted(format, args);              \
        va_end(args);                                        \
        if (name != NULL) {                                  \
            status = (signed char)(call);                    \
            free(name);                                      \
        }                                                    \
        return status;                                       \
    }

/* ucs_vfs_obj_add_dir, _ro_file, _rw_file and _sym_link */
FERRUCX_VFS_ADD(ferrucx_vfs_obj_add_dir, ferrucx_vfs_add_dir(parent, object, name), void *parent, void *object)
FERRUCX_VFS_ADD(ferrucx_vfs_obj_add_ro_file, ferrucx_vfs_add_file(object, read, NULL, arg, number, name),
                void *object, void (*read)(void), void *arg, uint64_t number)
FERRUCX_VFS_ADD(ferrucx_vfs_obj_add_rw_file, ferrucx_vfs_add_file(object, read, write, arg, number, name),
                void *object, void (*read)(void), void (*write)(void), void *arg, uint64_t number)
FERRUCX_VFS_ADD(ferrucx_vfs_obj_add_sym_link, ferrucx_vfs_add_link(object, target, name), void *object, void *target)

/* ---- memory ------------------------------------------------------------------------------- */

#include <sys/mman.h>

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

/* ---- address sanitizer -------------------------------------------------------------------- */

/* There only in a program that is built with it. */
void *__asan_region_is_poisoned(void *start, size_t size) __attribute__((weak));

void *ferrucx_first_poisoned(void *start, size_t size)
{
    return (__asan_region_is_poisoned != NULL) ? __asan_region_is_poisoned(start, size) : NULL;
}
