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
